"""Sheets of Excel (``.xlsx``, ``.xlsb``, ``.xls``) and LibreOffice (``.ods``) as CSV, which all readers of tables read.

The first sheet that is visible and not empty is read; ``table.xlsx#Sheet2`` names another. Rows keep their numbers:
an empty one is a blank line. Whole numbers lose their ``.0`` (1.0 is ``1``), dates are written as ISO 8601, and text is
quoted, so that a cell that begins with ``#`` is no comment.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

from adjudge.errors import InputError, shown, warn
from adjudge.extras import need

SUFFIXES = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_ZIP, _OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def is_spreadsheet(data: bytes) -> bool:
    """Whether data are a workbook, or at least packed as one."""
    return data.startswith((_ZIP, _OLE))


def named_sheet(path: Path) -> tuple[Path, str | None]:
    """The file and the sheet that ``table.xlsx#Sheet2`` means; a file that is called so is that file.

    >>> named_sheet(Path("a/b.xlsx#May")), named_sheet(Path("a#b.txt"))
    ((PosixPath('a/b.xlsx'), 'May'), (PosixPath('a#b.txt'), None))
    """
    name, sign, sheet = str(path).partition("#")
    while sign and not name.lower().endswith(SUFFIXES):
        more, sign, sheet = sheet.partition("#")
        name = f"{name}#{more}"
    return (path, None) if not sign or path.exists() else (Path(name), sheet)


def sheet_rows(data: bytes, sheet: str | None, name: str) -> list[list[Any]]:
    """The cells of a sheet, row by row from the first; ``name`` is what messages call the file."""
    need("spreadsheets", f"{name}: spreadsheets need")
    import python_calamine as calamine

    try:
        book = calamine.load_workbook(io.BytesIO(data))
        about = [one for one in book.sheets_metadata if one.typ == calamine.SheetTypeEnum.WorkSheet]
        if sheet is not None:
            if sheet not in [one.name for one in about]:
                names = ", ".join(shown(one.name) for one in about)
                raise InputError(f"expected the sheet {shown(sheet)}, got {names}", source=name)
            return book.get_sheet_by_name(sheet).to_python(skip_empty_area=False)
        visible = [one.name for one in about if one.visible == calamine.SheetVisibleEnum.Visible]
        full = [one for one in visible if book.get_sheet_by_name(one).height]
        if len(full) > 1:
            others = ", ".join(f"'{name}#{one}'" for one in full[1:4]) + (", …" if len(full) > 4 else "")
            warn(f"{name}: of {len(full)} sheets, {shown(full[0])} is read; another is {others}.", stacklevel=6)
        return book.get_sheet_by_name(full[0]).to_python(skip_empty_area=False) if full else []
    except (calamine.CalamineError, OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        reason = "a password" if isinstance(error, calamine.PasswordError) else shown(error, 100)
        raise InputError(f"expected an intact spreadsheet, got {reason}", source=name) from None


def text_of_rows(rows: Sequence[Sequence[Any]]) -> tuple[bytes, list[int]]:
    """CSV of the columns that are not empty, and the line on which each row begins."""
    used = [i for row in rows for i, cell in enumerate(row) if cell not in ("", None)]
    first, end = (min(used), max(used) + 1) if used else (0, 0)
    text, starts, line = io.StringIO(), [], 1
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    for row in rows:
        cells = [_cell(cell) for cell in row[first:end]]
        starts.append(line)
        line += 1 + sum(cell.count("\n") for cell in cells if isinstance(cell, str))
        if any(cell not in ("", None) for cell in cells):
            writer.writerow(cells)
        else:
            text.write("\n")
    return text.getvalue().encode(), starts


def _cell(value: Any) -> str | int | float | None:
    """What stands in a cell: numbers as they are, anything else as text.

    >>> _cell(1.0), _cell(0.5), _cell(datetime(2026, 5, 1)), _cell(True), _cell("#1")
    (1, 0.5, '2026-05-01', 'TRUE', '#1')
    """
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, datetime) and value.time() == time.min:
        value = value.date()
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return str(value)
    if isinstance(value, str):
        return value.replace("\r\n", "\n").replace("\r", "\n") or None
    return value  # type: ignore[no-any-return]
