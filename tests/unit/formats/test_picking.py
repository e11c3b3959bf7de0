"""What is said of a file that no format recognises."""

from __future__ import annotations

import re

import pytest

from adjudge.errors import InputError
from adjudge.formats import Kind, Source, pick

RUN = "q1 Q0 d1 1 0.5 s\nq1 Q0 d2 2 0.4 s\n"
QRELS = "q1 0 d1 1\nq1 0 d2 0\n"


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("q1 Q0 d1 1 0.5\nq1 Q0 d2 2 0.4\n", "runs", ":1: expected 6 columns, got 5"),
        ("q1\tQ0\td1\t1\t0.5\nq2\tQ0\td2\t2\t0.4\n", "runs", ":1: expected 6 columns, got 5"),
        ("# c\nq1 Q0 d1 1 high s\n" + RUN, "runs", ":2: expected a finite number as score, got 'high'"),
        ("q1\tQ0\td1\t1\thigh\ts\n", "runs", ":1: expected a finite number as score, got 'high'"),
        ("q1 Q0 d1 1 0,5 s\n", "runs", ":1: expected a finite number as score, got '0,5'"),
        ("q1 d1 1\nq1 d2 0\n", "judgments", ":1: expected 4 columns, got 3"),
        ("q1 0 d1 high\n", "judgments", ":1: expected a finite number as grade, got 'high'"),
        ("q1\td1\thigh\n", "judgments", ":1: expected a finite number as grade, got 'high'"),
        ("q1,d1,high\n", "judgments", ":1: expected a finite number as grade, got 'high'"),
        ("q1,d1\n", "judgments", ":1: expected a header with known names, or 3 columns, got 2"),
        ("s,q1,d1,0.5,x,y\n", "runs", ":1: expected a header with known names, or 3 or 4 columns, got 6"),
        ("hello\n", "runs", ": expected runs in a known format (trec, "),
        ("hello world\n", "metadata", ": expected metadata in a known format (spreadsheet, tsv, "),
        ("q d1 d2 3 4 d5\nr d2 d1 4 3 d6\n", "runs", ": expected runs in a known format (trec, "),
        (RUN, "judgments", ": expected judgments, but this looks like a run; on the command line"),
        (QRELS, "runs", ": expected runs, but this looks like judgments; on the command line"),
        ("# only\n# comments\n", "runs", ": expected data, got only comments"),
        ("", "runs", ": expected data, got an empty file"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: str, kind: Kind, message: str) -> None:
    with pytest.raises(InputError, match=rf"\Adir/a\.txt{re.escape(message)}[^\n]*\Z"):
        pick(Source("dir/a.txt", text.encode()), kind)


def test_utf_16_is_recognised() -> None:
    assert pick(Source("a", RUN.encode("utf-16")), "runs").name == "trec"
