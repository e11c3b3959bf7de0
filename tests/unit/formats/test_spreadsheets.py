"""Tables as spreadsheets save them: every way in which people hand one over gives the same table."""

from __future__ import annotations

import datetime
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from odf.opendocument import OpenDocumentSpreadsheet
from odf.table import Table, TableCell, TableRow
from odf.text import P

import adjudge as aj
from adjudge.errors import AdjudgeError, InputError, kept_warnings
from adjudge.formats import Source, read_effectiveness, read_table
from adjudge.formats.reading import read_judgments
from adjudge.groundtruth import read_rankings
from adjudge.preferences.files import read_questions

Row = list[Any]
ROWS: list[Row] = [
    ["Query", "Doc ID", "Rating", "Worker ID"],
    ["Café au lait", 7, 0.5, "ann"],
    ["Café au lait", "d–2", 3, "bob"],  # a dash that Windows-1252 has and Latin-1 does not
    ["#1 hits", "a; b, c", 1.25, "ann"],
]
EXPECTED = [("Café au lait", "7", 0.5, "ann"), ("Café au lait", "d–2", 3.0, "bob"), ("#1 hits", "a; b, c", 1.25, "ann")]


def xlsx(rows: list[Row], *, others: dict[str, list[Row]] | None = None) -> bytes:
    book, data = openpyxl.Workbook(), io.BytesIO()
    sheets = {"Sheet1": rows, **(others or {})}
    book.remove(book.active)
    for name, cells in sheets.items():
        sheet = book.create_sheet(name)
        for row in cells:
            sheet.append(row)
    book.save(data)
    return data.getvalue()


def ods(rows: list[Row]) -> bytes:
    book, data, table = OpenDocumentSpreadsheet(), io.BytesIO(), Table(name="Sheet1")
    for row in rows:
        line = TableRow()
        for value in row:
            number = isinstance(value, int | float)
            cell = TableCell(valuetype="float", value=value) if number else TableCell(valuetype="string")
            cell.addElement(P(text=str(value)))
            line.addElement(cell)
        table.addElement(line)
    book.spreadsheet.addElement(table)
    book.save(data)
    return data.getvalue()


def text(separator: str, *, decimal: str = ".", end: str = "\r\n", rows: list[Row] = ROWS) -> str:
    """The table as spreadsheets write it: fields quoted where they hold the separator, a quote or a line end."""

    def cell(value: Any) -> str:
        plain = str(value).replace(".", decimal) if isinstance(value, float) else str(value)
        needs_quotes = any(sign in plain for sign in (separator, '"', "\n"))
        return '"' + plain.replace('"', '""') + '"' if needs_quotes or plain.startswith("#") else plain

    return "".join(separator.join(map(cell, row)) + end for row in rows)


WAYS: dict[str, bytes] = {
    "xlsx": xlsx(ROWS),
    "ods": ods(ROWS),
    "csv, UTF-8 with a byte-order mark": text(",").encode("utf-8-sig"),
    "csv, ANSI": text(",").encode("cp1252"),
    "csv with semicolons and decimal commas": text(";", decimal=",").encode(),
    "Unicode text": text("\t").encode("utf-16"),
    "csv of a Mac": text(",", end="\r").encode(),
    "sep= above the header": ("sep=;\r\n" + text(";")).encode(),
    "a title above the header": ("Judgments, May 2026;;;\r\n;;;\r\n" + text(";", decimal=",")).encode(),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_table_reads_the_same_however_a_spreadsheet_saves_it(way: str) -> None:
    with kept_warnings() as notes:
        frame, _ = read_table(Source("judgments", WAYS[way]), "judgments")
    assert frame.select("query", "document", "grade", "assessor").rows() == EXPECTED
    said = {
        "csv, ANSI": ["read as Windows-1252"],
        "a title above the header": ["below the title 'Judgments, May 2026'"],
    }
    assert all(part in note for part, note in zip(said.get(way, []), notes, strict=True))


WIDE: list[Row] = [["query", "bm25", "dense"], ["q1", 0.25, 0.5], ["q2", 1, 0.75]]
RANKED: list[Row] = [["query", "rater", "document", "rank"], ["q", "ann", "a", 1], ["q", "ann", "b", 2.5]]
ASKED: list[Row] = [["question", "query", "a1", "b1", "fine_a1", "fine_b1"], [1, "q", "x", "y", 80.5, 10]]
READERS: dict[str, tuple[list[Row], Callable[[Path], Any]]] = {
    "effectiveness": (WIDE, lambda path: read_effectiveness(path).values.tolist()),
    "rankings": (RANKED, lambda path: read_rankings(path, places="given").queries[0].ranks.tolist()),
    "questions": (ASKED, lambda path: read_questions(path).grades["fine"].tolist()),
}
FILES: dict[str, Callable[[list[Row]], bytes]] = {
    "t.xlsx": xlsx,
    "t.ods": ods,
    "semicolons.csv": lambda rows: text(";", decimal=",", rows=rows).encode(),
    "unicode.txt": lambda rows: text("\t", rows=rows).encode("utf-16"),
    "hint.csv": lambda rows: ("sep=;\r\n" + text(";", rows=rows)).encode(),
    "title.csv": lambda rows: ("A title,,,\r\n" + text(",", rows=rows)).encode(),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", FILES)
def test_every_reader_of_tables_reads_what_spreadsheets_save(name: str, reader: str, tmp_path: Path) -> None:
    rows, read = READERS[reader]
    plain, saved = tmp_path / "plain.csv", tmp_path / name
    plain.write_text(text(",", rows=rows))
    saved.write_bytes(FILES[name](rows))
    with kept_warnings():
        assert read(saved) == read(plain)


def test_an_error_names_the_row_of_the_sheet() -> None:
    rows: list[Row] = [["Judgments"], [], ["query", "document", "grade"], ["q", "a\nb\nc", 1], [], ["q", "d", "high"]]
    with (
        kept_warnings(),
        pytest.raises(InputError, match=r"^j\.xlsx:6: expected a finite number as grade, got 'high'$"),
    ):
        read_table(Source("j.xlsx", xlsx(rows)), "judgments")


def test_whole_numbers_are_names_without_a_point_and_dates_are_iso_wherever_the_table_begins() -> None:
    day, gap = datetime.date(2026, 5, 1), [None, None]
    rows: list[Row] = [[], [*gap, "id", "since", "no"], [*gap, 1.0, day, 0], [*gap, "001", day, 2.5]]
    frame, _ = read_table(Source("m.xlsx", xlsx(rows)), "metadata")
    assert frame.rows() == [("1", "2026-05-01", "0"), ("001", "2026-05-01", "2.5")]


def test_the_first_sheet_that_is_not_empty_is_read_and_others_can_be_named(tmp_path: Path) -> None:
    header = ["query", "document", "grade"]
    book = xlsx([], others={"May": [header, ["q", "d", 1]], "June": [header, ["q", "d", 2]]})
    (tmp_path / "j.xlsx").write_bytes(book)
    with kept_warnings() as notes:
        assert read_judgments(tmp_path / "j.xlsx").grade.tolist() == [1]
    book_name = str(tmp_path / "j.xlsx")
    assert notes == [f"{book_name}: has 2 sheets; 'May' is read. To read another: '{book_name}#June'."]
    assert read_judgments(f"{tmp_path}/j.xlsx#June").grade.tolist() == [2]
    with pytest.raises(InputError, match=r"j\.xlsx#July: expected the sheet 'July', got 'Sheet1', 'May', 'June'$"):
        read_judgments(f"{tmp_path}/j.xlsx#July")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"PK\x03\x04 broken", "expected an intact spreadsheet, got"),
        (xlsx([]), "expected data, got an empty spreadsheet"),
        (xlsx([["a", "b"], [1, 2]]), "expected a header with known names, or 3 columns, got 2"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_line(data: bytes, message: str) -> None:
    with pytest.raises(InputError, match=rf"\Aj\.xlsx:[^\n]*{message}[^\n]*\Z"):
        read_table(Source("j.xlsx", data), "judgments")


def test_without_the_extra_a_spreadsheet_is_refused_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(AdjudgeError, match=r"need python-calamine, .*pip install 'adjudge\[spreadsheets\]'$"):
        read_table(Source("j.xlsx", xlsx(ROWS)), "judgments")


def test_two_sheets_of_a_spreadsheet_are_two_runs(tmp_path: Path) -> None:
    header: Row = ["query", "document", "score"]
    book: dict[str, list[Row]] = {"bm25": [header, [1, "a", 2], [1, "b", 1]], "lm": [header, [1, "a", 1], [1, "b", 2]]}
    (tmp_path / "runs.xlsx").write_bytes(xlsx([], others=book))
    collection = aj.read([f"{tmp_path}/runs.xlsx#bm25", f"{tmp_path}/runs.xlsx#lm"], {"1": {"a": 1, "b": 0}})
    assert aj.evaluate(collection, "P@1").mean() == {"P@1": {"runs#bm25": 1.0, "runs#lm": 0.0}}
