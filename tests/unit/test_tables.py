"""Tables of text keep every name and digit, whatever shows them."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.tables import Heading, Table, as_csv, as_json, as_markdown, fold
from adjudge.text import text_width

HOSTILE = [
    "a_b & 5 %",
    "<script>alert('x')</script>",
    'say "hi" | *b*',
    "x\ny",
    "\x1b[31mred",
    "音楽_検索",
    "{\\x}^~#$",
]


def a_table(n_columns: int = 3, names: list[str] = HOSTILE) -> Table:
    headings = [Heading("system", "left"), *(Heading(f"m{i}") for i in range(1, n_columns))]
    rows = [[name, *(f"{r}.{i}" for i in range(1, n_columns))] for r, name in enumerate(names)]
    return Table(headings, rows, "A title", ["A note."])


@given(st.integers(20, 200), st.integers(1, 30), st.lists(st.text(max_size=60), max_size=5))
def test_no_line_is_wider_than_asked_for_and_nothing_is_lost(width: int, n_columns: int, names: list[str]) -> None:
    text = a_table(n_columns, names).text(width)
    assert max(map(text_width, text.splitlines())) <= width
    for r in range(len(names)):
        for i in range(1, n_columns):
            assert re.search(rf"(?<![\d.]){r}\.{i}(?!\d)", text)


def test_every_part_of_a_wide_table_names_its_rows() -> None:
    text = a_table(20, ["kln", "zx"]).text(40)
    assert text.count("system") == text.count("kln") == text.count("zx") > 1


def test_text_holds_nothing_that_moves_the_cursor() -> None:
    assert all(line.isprintable() for line in a_table().text().splitlines())


def test_rows_that_are_not_shown_are_counted() -> None:
    short = a_table(names=[f"s{i}" for i in range(1200)]).first(10)
    assert len(short.rows) == 10
    assert "1,190" in short.text()
    assert a_table().first(10) == a_table()


def test_rows_and_columns_that_come_or_go_take_their_styles_along() -> None:
    table = replace(a_table(names=["kln", "zx"]), styles={(0, 1): "bold", (1, 2): "dim"})
    wider = table.insert(1, [(Heading("team"), ["A", "B"])])
    assert [row[1] for row in wider.rows] == ["A", "B"]
    assert wider.styles == {(0, 2): "bold", (1, 3): "dim"}
    assert wider.without(1) == table
    assert table.take([1]).styles == {(0, 2): "dim"}


class _Read(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_html_shows_names_as_they_are_and_says_what_headers_are_for() -> None:
    page = _Read()
    page.feed(a_table().html())
    assert {"table", "caption", "th", "td"} <= (tags := {tag for tag, _ in page.tags})
    assert not tags & {"script", "link", "img", "iframe"}
    assert all(name in page.texts for name in HOSTILE)
    scopes = [attributes.get("scope") for tag, attributes in page.tags if tag == "th"]
    assert scopes == ["col"] * 3 + ["row"] * len(HOSTILE)
    assert not re.search(r"url\(|https?:|#[0-9a-f]{3}", a_table().html()), "colours and files are those of the page"


def test_markdown_has_one_line_a_row_and_as_many_cells_as_columns() -> None:
    lines = [line for line in a_table().markdown().splitlines() if line.startswith("|")]
    assert len(lines) == 2 + len(HOSTILE)
    assert {len(re.split(r"(?<!\\)\|", line)) for line in lines} == {5}
    assert not any("<script" in line.replace("\\<", "") for line in lines)


def test_latex_has_one_line_a_row_and_escapes_what_is_special() -> None:
    text = a_table().latex(comment=["first\nsecond"], caption="50 %", label="tab:x")
    assert text.startswith("% first\n% second\n")
    body = text[text.index("\\midrule") : text.index("\\bottomrule")]
    assert body.count(r" \\") == len(HOSTILE)
    assert r"a\_b \& 5 \%" in body
    assert r"\caption{50~\%}" in text
    assert r"\label{tab:x}" in text
    assert text.count("\\begin") == text.count("\\end") == 2


@given(st.text(max_size=80), st.integers(2, 40))
def test_folded_text_fits(text: str, width: int) -> None:
    assert all(text_width(line) <= width for line in fold(text, width))


def test_numbers_that_are_not_finite_are_left_out_of_files() -> None:
    rows = [{"a": float("nan"), "b": 1.0}]
    assert as_csv(rows) == "a,b\n,1.0\n"
    assert re.sub(r"\s", "", as_json(rows)) == '[{"a":null,"b":1.0}]'
    assert as_markdown([{"a": "x|y"}]).splitlines()[-1] == "| x\\|y |"


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("n_key", [1, 2])
def test_every_cell_is_drawn_whole_at_any_width(width: int, n_key: int) -> None:
    from io import StringIO

    from rich.console import Console

    header = ["system", "team", *(f"measure{i}@10" for i in range(12))]
    rows = [[f"sys{r}", f"team{r}", *(f"0.{r}{i:02d} ± 0.0{i:02d}" for i in range(12))] for r in range(3)]
    buffer = StringIO()
    Console(file=buffer, width=width, highlight=False).print(
        Table(list(map(Heading, header)), rows, "A title", ["A note."], n_key)
    )
    text = buffer.getvalue()
    assert all(said in text for said in ("A title", "A note."))
    assert all(cell in text for cell in [*header, *(cell for row in rows for cell in row)])
    assert max(len(line.rstrip()) for line in text.splitlines()) <= width
    n_parts = text.count("system")
    assert all(text.count(row[0]) == n_parts for row in rows)
    assert text.count("team0") == (n_parts if n_key == 2 else 1)
