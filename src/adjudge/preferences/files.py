"""Questions and answers from files and back.

A *questions file* has one row a question::

    question,query,a1,a2,b1,b2,expected,system_a,system_b,fine_a1,fine_a2,fine_b1,fine_b2

``a1`` … are the documents of list a, best first, ``b1`` … those of list b; a shorter list leaves its last cells empty.
``expected`` holds the right answers of a trap, joined by ``|``, and is empty in other questions. Grades stand in
columns ``<scale>_<list><rank>`` for each scale that there are grades on (``fine_a1``, ``0..4_b2``); an empty one is
unknown.

An *answers file* has one row an answer::

    answer,question,participant,choice,first,seconds,heard,at,set_aside,comment

and then the columns of the questions file, repeated in each row, so that one file holds a whole study. ``choice`` is
``a``, ``b``, ``good`` or ``bad``; ``first`` says which list stood first (``a`` or ``b``); ``seconds`` is how long the
answer took and ``heard`` how many seconds of sound were played for it; ``at`` is a time in ISO 8601, UTC unless it says
otherwise; ``set_aside`` is why the answer does not count, empty where it does. Only ``question`` and ``choice`` are
needed; what else is missing is unknown. What a campaign exports has two columns more: ``least_seconds`` of sound that
had to be heard for the answer, and ``rules``, the campaign's rules of trust, the same in each row. An answer that is in
the file twice, same name and same row, counts once.

Files are text with commas, semicolons or tabs, plain or compressed, or spreadsheets. Participants go by every name
that assessors have (``worker_id``, ``rater``, …). The file of the ISMIR 2012 user study
(``answers.csv`` of the repository ismir2012-significance) is recognised by its columns and read as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.errors import AdjudgeError, shown
from adjudge.formats.columns import naming_columns
from adjudge.preferences.questions import CHOICES, Question, Questions
from adjudge.preferences.study import Study
from adjudge.users.combinations import relevance_scale

if TYPE_CHECKING:
    import polars as pl

    from adjudge.formats.text_table import TextTable
    from adjudge.preferences.trust import TrustRules

_DOCUMENT = re.compile(r"([ab])([1-9]\d*)")
_GRADE = re.compile(r"(.+)_([ab])([1-9]\d*)")
_PLAIN = ("question", "query", "expected", "system_a", "system_b")
SET_ASIDE = "set aside"
"""What stands in a file for an answer that was set aside without a reason."""


def read_questions(path: str | Path, *, columns: Mapping[str, str] | str | None = None) -> Questions:
    r"""Read a questions file; whatever cannot be used is refused with its line.

    ``columns`` says which column holds what where names do not: ``{"question": "item"}``.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "questions.csv"
    >>> _ = file.write_text("question,query,a1,a2,b1,b2,fine_a1,fine_a2,fine_b1,fine_b2\n1,q7,x,y,y,z,80,60,60,10\n")
    >>> questions = read_questions(file)
    >>> questions.effectiveness("CG@2", "fine").tolist()
    [[0.7, 0.35]]
    """
    with naming_columns(columns):
        table = _open(path)
    names = table.needed("question")
    twice = names.is_duplicated() & ~names.is_first_distinct()
    table.refuse(twice.to_numpy(), lambda row: f"expected each question once, got {shown(names[row])} again")
    return _questions(table, np.arange(table.height))


def write_questions(questions: Questions, path: str | Path) -> None:
    """Write a questions file; it appears when it is complete."""
    from adjudge.preferences.files_writing import question_columns, write_frame

    write_frame(question_columns(questions), path)


def read_answers(
    path: str | Path, questions: Questions | None = None, *, columns: Mapping[str, str] | str | None = None
) -> Study:
    """Read an answers file, or the file of the 2012 study.

    ``questions`` are needed where the file has no columns that describe them; where it has, they win over the file's.
    ``columns`` says which column holds what where names do not: ``{"assessor": "who", "choice": "vote"}``.
    """
    from adjudge.preferences.files_2012 import is_2012, study_of_2012

    with naming_columns(columns):
        table = _open(path)
    if is_2012(table):
        return study_of_2012(table)
    rows = _without_repeats(table)
    choice = table.one_of("choice", CHOICES)
    table.needed("choice")
    asked, place = _asked(table, questions)
    participant, people = _people(table)
    aside = table.text("set_aside")
    first = table.one_of("first", ("a", "b"))
    comments = () if "comment" not in table else tuple(table.columns["comment"].fill_null("").to_list())
    return Study(
        asked,
        place,
        choice,
        participant,
        people,
        first,  # a is 0, not swapped; b is 1
        table.numbers("seconds", least=0.0),
        table.numbers("heard", least=0.0),
        _times(table),
        aside.is_not_null().to_numpy(),
        _reasons(participant, aside, len(people)),
        comments if any(comments) else (),
        table.source.name,
        table.source.sha256,
        _rules(table),
        _least_seconds(table, asked, place),
    ).select(rows)


def write_answers(study: Study, path: str | Path) -> None:
    """Write a study as one file, questions included; it appears when it is complete.

    Answers are numbered from 1. A line break in a comment is written as one line feed.
    """
    from adjudge.preferences.files_writing import answer_columns, write_frame

    write_frame(answer_columns(study), path)


def _open(path: str | Path) -> TextTable:
    from adjudge.formats.source import Source
    from adjudge.formats.text_table import TextTable

    return TextTable.open(Source.open(Path(path)), {"assessor": "participant", "query": "query"})


def _questions(table: TextTable, rows: Ints) -> Questions:
    """The questions that some rows describe, in their order."""
    names, queries = table.needed("question"), table.needed("query")
    lists = [_documents(table, side, rows) for side in "ab"]
    expected, systems = table.text("expected"), [table.text(f"system_{side}") for side in "ab"]
    made = []
    for i, row in enumerate(rows.tolist()):
        two = systems[0][row], systems[1][row]
        if (two[0] is None) != (two[1] is None):
            raise table.error("expected the systems of both lists or of neither", row)
        try:
            answers = frozenset(part.strip().lower() for part in (expected[row] or "").split("|") if part.strip())
            made.append(Question(names[row], queries[row], lists[0][i], lists[1][i], answers, two if two[0] else None))
        except AdjudgeError as error:
            raise table.error(str(error), row) from None
    longest = max((len(documents) for side in lists for documents in side), default=0)
    return Questions(tuple(made), _grades(table, rows, lists, longest))


def _documents(table: TextTable, side: str, rows: Ints) -> list[tuple[str, ...]]:
    """The documents of one list of each row; a hole in a list is refused."""
    ranks = sorted(
        int(match[2]) for name in table.columns.columns if (match := _DOCUMENT.fullmatch(name)) and match[1] == side
    )
    if not ranks or ranks != list(range(1, len(ranks) + 1)):
        came = ", ".join(f"{side}{rank}" for rank in ranks) or "none"
        raise table.source.error(f"expected columns {side}1, {side}2, … for list {side}, got {came}", table.header_line)
    columns = [table.text(f"{side}{rank}").gather(rows).to_list() for rank in ranks]
    found = []
    for i, cells in enumerate(zip(*columns, strict=True)):
        documents = tuple(cell for cell in cells if cell is not None)
        if None in cells[: len(documents)]:
            raise table.error(f"expected the documents of list {side} without a gap", int(rows[i]))
        found.append(documents)
    return found


def _grades(
    table: TextTable, rows: Ints, lists: Sequence[Sequence[tuple[str, ...]]], longest: int
) -> dict[str, Floats]:
    """Grades by scale: (questions, 2, ranks); refused where there is no document."""
    lengths = np.array([[len(documents) for documents in side] for side in lists]).T
    grades: dict[str, Floats] = {}
    for name in table.columns.columns:
        if (match := _GRADE.fullmatch(name)) is None:
            continue
        try:
            scale = relevance_scale(match[1])
        except AdjudgeError as error:
            raise table.source.error(f"column {shown(name)}: {error}", table.header_line) from None
        values = table.numbers(name)[rows]
        side, rank = "ab".index(match[2]), int(match[3]) - 1
        beyond = ~np.isnan(values) & (lengths[:, side] <= rank)
        wrong = ~np.isnan(values) & ~scale.origin.contains(values)
        for bad, message in ((beyond, f"no grade in {name!r}, where the list has no document"),
                             (wrong, f"a grade on the scale {scale.origin} in {name!r}")):  # fmt: skip
            if bad.any():
                row = int(rows[np.flatnonzero(bad)[0]])
                raise table.error(f"expected {message}, got {shown(table.columns[name][row])}", row)
        if rank < longest:
            array = grades.setdefault(str(scale), np.full((len(rows), 2, longest), np.nan))
            array[:, side, rank] = values
    return grades


def _asked(table: TextTable, questions: Questions | None) -> tuple[Questions, Ints]:
    """The questions of an answers file, and the place among them of the question of each answer."""
    import polars as pl

    names = table.needed("question")
    if questions is None:
        if "query" not in table:
            raise table.source.error(
                "expected columns that describe the questions (query, a1, …, b1, …), or a questions file", 1
            )
        describing = [n for n in table.columns.columns if n in _PLAIN or _DOCUMENT.fullmatch(n) or _GRADE.fullmatch(n)]
        frame = table.columns.select(describing).with_columns(names)
        firsts = names.is_first_distinct().to_numpy()
        if frame.n_unique() > int(firsts.sum()):
            clash = _first_of_kind(frame) & ~firsts
            table.refuse(clash, lambda row: f"question {shown(names[row])} is another one than in an earlier row")
        questions = _questions(table, np.flatnonzero(firsts))
    places = questions.places
    known = names.replace_strict(list(places), list(places.values()), default=-1, return_dtype=pl.Int64)
    place = known.to_numpy().astype(np.int64)
    table.refuse(place < 0, lambda row: f"expected a question of the questions file, got {shown(names[row])}")
    return questions, place


def _people(table: TextTable) -> tuple[Ints, tuple[str, ...]]:
    """Who gave each answer, as a place among all of them in the order in which they came; -1 where unknown."""
    import polars as pl

    column = table.text("participant")
    people = tuple(column.drop_nulls().unique(maintain_order=True).to_list())
    places = column.replace_strict(list(people), list(range(len(people))), default=-1, return_dtype=pl.Int64)
    return places.fill_null(-1).to_numpy().astype(np.int64), people


def _reasons(participant: Ints, aside: pl.Series, n: int) -> tuple[str, ...]:
    """Why the answers of each participant are set aside: the first reason given, empty where none is."""
    reasons = [""] * n
    rows = np.flatnonzero(aside.is_not_null().to_numpy() & (participant >= 0))
    for row in rows[::-1].tolist():
        reasons[participant[row]] = "" if aside[row] == SET_ASIDE else aside[row]
    return tuple(reasons) if any(reasons) else ()


def _rules(table: TextTable) -> TrustRules | None:
    """The campaign's rules of trust; None where the file has none."""
    from adjudge.preferences.trust import TrustRules

    column = table.text("rules")
    told = column.drop_nulls()
    if not len(told):
        return None
    other = column.is_not_null() & (column != told[0])
    table.refuse(other.to_numpy(), lambda row: f"expected the same rules in each row, got {shown(column[row])}")
    try:
        return TrustRules.parse(told[0])
    except AdjudgeError as error:
        raise table.error(str(error), int(column.is_not_null().arg_max() or 0)) from None


def _least_seconds(table: TextTable, asked: Questions, place: Ints) -> dict[str, float] | None:
    """Seconds of sound to be heard for an answer, by the name of the question; None where the file has none."""
    if "least_seconds" not in table:
        return None
    values = table.numbers("least_seconds", least=0.0)
    known = np.flatnonzero(~np.isnan(values))
    return {asked.questions[place[row]].name: float(values[row]) for row in known.tolist()}


def _times(table: TextTable) -> Floats:
    column = table.text("at")
    times = np.full(table.height, np.nan)
    if column.null_count() == table.height:
        return times
    for row, text in enumerate(column.to_list()):
        if text is None:
            continue
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            raise table.error(f"expected a time such as 2026-05-01T12:00:00Z in 'at', got {shown(text)}", row) from None
        times[row] = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return times


def _without_repeats(table: TextTable) -> Mask:
    """Which rows to keep: of answers with one name the first; two that differ are refused."""
    if "answer" not in table:
        return np.ones(table.height, dtype=np.bool_)
    names = table.needed("answer")
    firsts = names.is_first_distinct().to_numpy()
    if not firsts.all():
        differs = _first_of_kind(table.columns) & ~firsts
        table.refuse(differs, lambda row: f"answer {shown(names[row])} is another one than in an earlier row")
    return firsts


def _first_of_kind(frame: pl.DataFrame) -> Mask:
    """Which rows are not as any row above them."""
    import polars as pl

    return frame.select(pl.struct(pl.all()).is_first_distinct()).to_series().to_numpy()
