from __future__ import annotations

import re
from pathlib import Path

import pytest

from adjudge.errors import InputError
from adjudge.formats.reading import read_strata


@pytest.mark.parametrize(
    "text", ["q1,rock\nq2,jazz\n", "query,genre\r\nq1,rock\r\nq2,jazz\r\n", "genre\tqid\nrock\tq1\n\njazz\tq2"]
)
def test_strata_are_read_with_and_without_a_header(text: str, tmp_path: Path) -> None:
    path = tmp_path / "strata.csv"
    path.write_bytes(text.encode())
    assert read_strata(path) == {"q1": "rock", "q2": "jazz"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q1,rock\nq1,jazz\n", ":2: expected one stratum for the query 'q1', got 'rock' and 'jazz'"),
        ("q1\n", "or 2 columns, got 1"),
        ("q1,rock\nq2,\n", ":2: expected a stratum, got nothing"),
        ('q1,"rock\n', ":1: expected fields with balanced quotes"),
    ],
)
def test_strata_that_cannot_be_used_are_refused_with_their_line(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "strata.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=re.escape(message)):
        read_strata(path)
