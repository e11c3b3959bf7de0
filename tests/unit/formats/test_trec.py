"""TREC runs and qrels."""

from __future__ import annotations

import gzip

import polars as pl
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from adjudge.errors import AdjudgeWarning, InputError
from adjudge.formats.source import Source
from adjudge.formats.trec import Trec

GOOD = b"q1 Q0 d1 1 0.5 s\nq1 Q0 d2 2 0.25 s\n"
ROWS = [("s", "q1", "d1", 0.5), ("s", "q1", "d2", 0.25)]
names = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1).filter(lambda name: not name.startswith("#"))
numbers = st.floats(allow_nan=False, allow_infinity=False)


def read_run(data: bytes) -> list[tuple[object, ...]]:
    return Trec().read(Source("dir/run.txt", data), "runs").rows()


@pytest.mark.parametrize(
    "data",
    [
        GOOD,
        GOOD.replace(b" ", b"\t"),
        GOOD.replace(b" ", b"  \t "),
        GOOD.replace(b" ", b"\v"),
        GOOD.replace(b"\n", b"\r\n"),
        GOOD.replace(b"\n", b"\r"),
        GOOD.replace(b"\n", b" \n"),
        GOOD.replace(b"\n", b"\t\r\n"),
        GOOD.replace(b"q1", b"  q1"),
        GOOD.replace(b"\n", b"\n\n \n"),
        GOOD.rstrip(),
        b"\n\n" + GOOD,
        b"\xef\xbb\xbf" + GOOD,
        b"# a comment with  blanks\n" + GOOD + b"#another\n",
        GOOD.replace(b"\n", b"\n# in the middle\n"),
        gzip.compress(GOOD, mtime=0),
        zstandard.compress(GOOD),
    ],
)
def test_a_run_reads_the_same_however_it_is_laid_out(data: bytes) -> None:
    assert read_run(data) == ROWS


def test_identifiers_stay_text() -> None:
    assert read_run(b"007 Q0 1e5 1 1 02\n") == [("02", "007", "1e5", 1.0)]


def test_quotes_hashes_and_unicode_are_parts_of_names() -> None:
    assert read_run('q"1 Q0 d#é 1 1 s\u00a0x\n'.encode()) == [("s\u00a0x", 'q"1', "d#é", 1.0)]


def test_an_indented_line_that_begins_with_a_hash_is_data() -> None:
    assert read_run(b" #1 Q0 d 1 1 s\n") == [("s", "#1", "d", 1.0)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"q2 Q0 d 1 0.5", "expected 6 columns, got 5"),
        (b"q2 Q0 d  0.5 s", "expected 6 columns, got 5"),
        (b"q2  d 1 0.5 s", "expected 6 columns, got 5"),
        (b"q2\t\td\t1\t0.5\ts", "expected 6 columns, got 5"),
        (b"q2  Q0 d 1 0.5", "expected 6 columns, got 5"),
        (b" q2 Q0 d 1 0.5", "expected 6 columns, got 5"),
        (b"q2 Q0 d 1 0.5 ", "expected 6 columns, got 5"),
        (b"q2", "expected 6 columns, got 1"),
        (b"q2 Q0 d 1 high s", "expected a finite number as score, got 'high'"),
        (b"q2 Q0 d 1 NaN s", "expected a finite number as score, got 'NaN'"),
        (b"q2 Q0 d 1 inf s", "expected a finite number as score, got 'inf'"),
        (b"q2 Q0 d 1 1_0 s", "expected a finite number as score, got '1_0'"),
        (b"q2 Q0 d 1 1,5 s", "expected a finite number as score, got '1,5'"),
    ],
)
@pytest.mark.parametrize("before", [GOOD, b"# comment\n\n" + GOOD, GOOD.replace(b"\n", b"\r")])
@pytest.mark.parametrize("after", [b"", b"\n" + GOOD])
def test_a_wrong_line_is_named_with_its_number(line: bytes, message: str, before: bytes, after: bytes) -> None:
    number = before.count(b"\n") + before.count(b"\r") + 1
    with pytest.raises(InputError, match=f"^dir/run.txt:{number}: {message}$"):
        read_run(before + line + after)


@pytest.mark.parametrize(
    "data",
    [
        GOOD.replace(b"s\n", b"s extra columns\n"),
        GOOD.replace(b" ", b"\t").replace(b"s\n", b"s\textra\t7\r\n"),
        GOOD.replace(b"0.5 s", b"0.5 s  only in one line "),
    ],
)
def test_columns_after_the_tag_are_ignored_with_a_note(data: bytes) -> None:
    with pytest.warns(AdjudgeWarning, match=r"^dir/run.txt: what follows the tag is ignored, .* in [12] line"):
        assert read_run(data) == ROWS


def test_a_fifth_column_of_judgments_is_refused_as_in_trec_eval() -> None:
    with pytest.raises(InputError, match=r"^q:2: expected 4 columns, got 5$"):
        Trec().read(Source("q", b"q1 0 d1 1\nq1 0 d2 1 x\n"), "judgments")


def test_a_file_of_comments_only_is_refused() -> None:
    with pytest.raises(InputError, match=r"^dir/run.txt: expected data, got only comments$"):
        read_run(b"# nothing\n\n")


def test_an_empty_file_is_refused() -> None:
    with pytest.raises(InputError, match="got an empty file"):
        read_run(b"")


def test_the_second_column_of_qrels_is_kept_even_when_it_never_changes() -> None:
    frame = Trec().read(Source("q", b"q1 0 d1 1\nq1 0 d2 2.5\n"), "judgments")
    assert frame.columns == ["query", "subtopic", "document", "grade"]
    assert frame["grade"].to_list() == [1.0, 2.5]


def test_sub_topics_are_kept() -> None:
    frame = Trec().read(Source("q", b"q1 1 d1 1\nq1 2 d1 0\n"), "judgments")
    assert frame["subtopic"].to_list() == ["1", "2"]


def test_a_hundred_thousand_lines_come_back() -> None:
    frame = pl.DataFrame(
        {
            "system": ["s"] * 100_000,
            "query": [f"q{i // 1000}" for i in range(100_000)],
            "document": [f"d{i}" for i in range(100_000)],
            "score": [1 / (i + 3) for i in range(100_000)],
        }
    )
    assert_frame_equal(Trec().read(Source("a", Trec().write(frame, "runs")), "runs"), frame)


def test_one_bad_line_among_many_is_found() -> None:
    data = b"q Q0 d 1 0.5 s\n" * 70_000 + b"q Q0 d 1 0.5\n" + b"q Q0 d 1 0.5 s\n" * 70_000
    with pytest.raises(InputError, match=r":70001: expected 6 columns, got 5$"):
        read_run(data)


@given(st.lists(st.tuples(names, names, numbers), min_size=1), names)
def test_runs_come_back_as_they_were_written(rows: list[tuple[str, str, float]], system: str) -> None:
    frame = pl.DataFrame([(system, *row) for row in rows], ["system", "query", "document", "score"], orient="row")
    assert_frame_equal(Trec().read(Source("a", Trec().write(frame, "runs")), "runs"), frame, check_exact=True)


@given(st.lists(st.tuples(names, names, numbers), min_size=1))
def test_judgments_come_back_as_they_were_written(rows: list[tuple[str, str, float]]) -> None:
    frame = pl.DataFrame(rows, ["query", "document", "grade"], orient="row")
    back = Trec().read(Source("a", Trec().write(frame, "judgments")), "judgments")
    assert_frame_equal(back.drop("subtopic"), frame, check_exact=True)


def test_sub_topics_come_back() -> None:
    frame = pl.DataFrame({"query": ["q", "q"], "subtopic": ["1", "2"], "document": ["d", "d"], "grade": [0.0, 1.0]})
    assert_frame_equal(Trec().read(Source("a", Trec().write(frame, "judgments")), "judgments"), frame)


def test_runs_without_scores_are_written_in_rank_order() -> None:
    frame = pl.DataFrame({"system": "s", "query": "q", "document": ["b", "a"], "rank": [2, 1]})
    assert Trec().write(frame, "runs") == b"q Q0 a 1 -1.0 s\nq Q0 b 2 -2.0 s\n"


def test_ranks_are_written_as_the_rows_stand() -> None:
    tied = [1.0, 1.0 + 1e-9, 0.5]  # in single precision the first two are equal, and the identifier decided
    frame = pl.DataFrame({"system": "s", "query": ["q", "q", "p"], "document": ["b", "a", "a"], "score": tied})
    ranks = [line.split()[3] for line in Trec().write(frame, "runs").decode().splitlines()]
    assert ranks == ["1", "2", "1"]


def test_assessors_are_not_lost_in_silence() -> None:
    frame = pl.DataFrame({"query": "q", "document": "d", "grade": [1.0, 2.0], "assessor": ["ann", "ben"]})
    with pytest.raises(InputError, match=r"^TREC qrels hold no assessors; combine them first: --combine mean$"):
        Trec().write(frame, "judgments")


def test_a_row_is_found_in_its_line() -> None:
    source = Source("a", b"# c\nq 0 a 1\n\nq 0 b 1\n")
    assert [Trec().line(source, "judgments", row) for row in range(3)] == [2, 4, None]


@pytest.mark.parametrize(("column", "value"), [("document", "a b"), ("system", "a\tb"), ("query", ""), ("query", "#1")])
def test_names_that_a_line_cannot_hold_are_not_written(column: str, value: str) -> None:
    row = {"system": "s", "query": "q", "document": "d", "score": 1.0} | {column: value}
    with pytest.raises(InputError, match=f"expected a {column} "):
        Trec().write(pl.DataFrame([row]), "runs")


@pytest.mark.parametrize(
    ("data", "kind", "answer"),
    [
        (GOOD, "runs", True),
        (b"q Q0 d 1 0.5 s\n", "runs", True),
        (b"q\t10\t20\t30\t40\t50\nr\t11\t21\t31\t41\t51\n", "runs", False),
        (b"q Q0 d 1 0.5 s more\n", "runs", True),
        (b"q 1 2 3 4 5 6\n", "runs", False),
        (b"q 0 d 1\n", "judgments", True),
        (b"q\t0\td\t1\n", "judgments", True),
        (b"q\tmy song\t1\n", "judgments", False),
        (b"query\tdocument\tgrade\tassessor\n", "judgments", False),
        (b"\0", "runs", False),
        (b"", "runs", False),
        (b"# only\n", "runs", False),
    ],
)
def test_the_format_is_told_from_the_first_lines(data: bytes, kind: str, answer: bool) -> None:
    assert Trec().sniff(Source("a", data), kind) is answer  # type: ignore[arg-type]
