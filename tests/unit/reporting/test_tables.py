"""Tables on a terminal lose nothing, however narrow it is."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from adjudge.reporting.tables import FittedTable, as_csv, as_json, as_markdown, printable


def _drawn(table: FittedTable, width: int) -> str:
    buffer = io.StringIO()
    Console(file=buffer, width=width, highlight=False).print(table)
    return buffer.getvalue()


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("n_key", [1, 2])
def test_every_cell_is_drawn_whole_at_any_width(width: int, n_key: int) -> None:
    header = ["system", "team", *(f"measure{i}@10" for i in range(12))]
    rows = [[f"sys{r}", f"team{r}", *(f"0.{r}{i:02d} ± 0.0{i:02d}" for i in range(12))] for r in range(3)]
    text = _drawn(FittedTable(header, rows, 2, n_key), width)
    for cell in [*header, *(cell for row in rows for cell in row)]:
        assert cell in text
    assert max(len(line.rstrip()) for line in text.splitlines()) <= width
    n_parts = text.count("system")
    assert all(text.count(row[0]) == n_parts for row in rows)
    assert text.count("team0") == (n_parts if n_key == 2 else 1)


def test_a_wide_terminal_gets_one_table() -> None:
    assert _drawn(FittedTable(["a", "b", "c"], [["1", "2", "3"]], 1), 100).count("a") == 1


def test_signs_that_would_move_the_cursor_are_not_printed() -> None:
    assert printable("a\x1b[31mb\n") == "a?[31mb?"
    text = _drawn(FittedTable(["x", "y"], [["\x1b[31mred", "1"]], 1), 80)
    assert "\x1b" not in text


def test_numbers_that_are_not_finite_are_left_out_of_files() -> None:
    rows = [{"a": float("nan"), "b": 1.0}]
    assert as_csv(rows) == "a,b\n,1.0\n"
    assert re.sub(r"\s", "", as_json(rows)) == '[{"a":null,"b":1.0}]'
    assert as_markdown([{"a": "x|y"}]).splitlines()[-1] == "| x\\|y |"
