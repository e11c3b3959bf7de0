"""Questions and answers from files and back.

A *questions file* has one row per question::

    question,query,a1,a2,b1,b2,expected,system_a,system_b,fine_a1,fine_a2,fine_b1,fine_b2

``a1`` … are the documents of list a, best first, ``b1`` … those of list b; a shorter list leaves its last cells empty.
``expected`` holds the right answers of a trap, joined by ``|``, and is empty in other questions. Grades stand in
columns ``<scale>_<list><rank>`` for each scale that there are grades on (``fine_a1``, ``0..4_b2``); an empty one is
unknown.

An *answers file* has one row per answer::

    answer,question,participant,choice,first,seconds,heard,at,set_aside,comment

and then the columns of the questions file, repeated in each row, so that one file holds a whole study. ``choice`` is
``a``, ``b``, ``good`` or ``bad``; ``first`` says which list stood first (``a`` or ``b``); ``seconds`` is how long the
answer took and ``heard`` how many seconds of sound were played for it; ``at`` is a time in ISO 8601, UTC unless it says
otherwise; ``set_aside`` is why the answer does not count, empty where it does. Only ``question`` and ``choice`` are
needed; other missing columns are unknown. Campaigns export two more columns: ``least_seconds`` of sound that had to be
heard for the answer, and ``rules``, the campaign's rules of trust, the same in each row. An answer that is in the file
twice, same name and same row, counts once.

Files are tables of any kind that Adjudge reads (CSV, TSV, spreadsheets, Parquet, JSON records); data frames and records
of Python are read as well. The column of participants has any of the names of assessors (``worker_id``, ``rater``, …).

The file of the ISMIR 2012 user study (``answers.csv`` of the repository ismir2012-significance) is recognised by its
columns and read as its authors published it: 2,200 pairs of lists of five documents, Broad and Fine grades of each, and
the answer of one person per pair. Who answered what was not published. Times are taken as UTC, as the file does not
say.

Urbano et al., How significant is statistically significant? The case of audio music similarity and retrieval,
ISMIR 2012; data: repository ismir2012-significance, CC BY-SA 4.0.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from adjudge.arrays import Floats, Ints, Mask
from adjudge.errors import AdjudgeError, InputError, shown
from adjudge.formats.columns import naming_columns
from adjudge.formats.schema import Field, Records, Schema, Table, Tabular, Values, first_of_kind, origin
from adjudge.formats.source import SPACES, Source
from adjudge.io import compression_of, without_compression, write_whole
from adjudge.preferences.questions import (
    CHOICES,
    Combination,
    Question,
    Questions,
    joined,
    possible,
    thesis_combinations,
)
from adjudge.preferences.study import BAD, GOOD, A, B, Study
from adjudge.users.combinations import relevance_scale

if TYPE_CHECKING:
    from adjudge.preferences.trust import TrustRules


_DOCUMENT = re.compile(r"([ab])([1-9]\d*)")
_GRADE = re.compile(r"(.+)_([ab])([1-9]\d*)")
_PLAIN = ("question", "query", "expected", "system_a", "system_b")


def _open_field(name: str, values: Values = "text", **more: Any) -> Field:
    """A column that may be missing, with cells that may be empty."""
    return Field(name, values, full=False, holds=None, **more)


_ASKED = (
    *map(_open_field, ("expected", "system_a", "system_b")),
    _open_field(_DOCUMENT.pattern, pattern=True),
    _open_field(_GRADE.pattern, "number", pattern=True),
)
_QUESTIONS = Schema(
    (Field("question", needed=True), Field("query", needed=True), *_ASKED),
    unique=("question",),
    distinct=True,
    has_comments=False,
)
_ANSWERS = Schema(
    (
        Field("question", needed=True),
        Field("choice", "choice", needed=True, choices={name: i for i, name in enumerate(CHOICES)}),
        Field("answer", holds=None),
        replace(_open_field("participant"), holds="assessor"),
        Field("query"),
        _open_field("first", "choice", choices={"a": 0, "b": 1}),
        *(_open_field(name, "number", least=0) for name in ("seconds", "heard", "least_seconds")),
        *map(_open_field, ("at", "set_aside", "comment", "rules")),  # comments are read as they stand, spaces included
        *_ASKED,
    ),
    distinct=True,
    has_comments=False,
)
SET_ASIDE = "set aside"
"""The reason in a file of an answer that was set aside without one."""


def read_questions(path: Tabular, *, columns: Mapping[str, str] | str | None = None) -> Questions:
    r"""Read a questions file; errors name the line.

    ``columns`` maps what is needed to columns with other names: ``{"question": "item"}``.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "questions.csv"
    >>> _ = file.write_text("question,query,a1,a2,b1,b2,fine_a1,fine_a2,fine_b1,fine_b2\n1,q7,x,y,y,z,80,60,60,10\n")
    >>> questions = read_questions(file)
    >>> questions.effectiveness("CG@2", "fine").tolist()
    [[0.7, 0.35]]
    """
    with naming_columns(columns):
        records = _QUESTIONS.read(path)
    return _questions(records, np.arange(records.table.height))


def write_questions(questions: Questions, path: str | Path) -> None:
    """Write a questions file; it appears when it is complete."""
    _write_frame(question_columns(questions), path)


def read_answers(
    path: Tabular, questions: Questions | None = None, *, columns: Mapping[str, str] | str | None = None
) -> Study:
    """Read an answers file, or the file of the 2012 study.

    ``questions`` are needed where the file has no columns that describe them; where it has, they win over the file's.
    ``columns`` maps what is needed to columns with other names: ``{"assessor": "who", "choice": "vote"}``.
    """
    with naming_columns(columns):
        table = _ANSWERS.open(path)
        if {_CHOICE, "id", "query", "d1a", "d5b", "f1a", "b5b"} <= {name.lower() for name in table.names}:
            return _study_of_2012(_STUDY_OF_2012.read(table))
        records = _ANSWERS.read(table)
    kept = np.ones(table.height, dtype=np.bool_)
    if "answer" in records:  # of answers with one name the first; two that differ are refused
        kept = records["answer"].is_first_distinct().to_numpy()
        _refuse_different(table, "answer", records["answer"], kept, table.frame)
    asked, place = _asked(records, questions)
    who = records["participant"]
    people = tuple(who.drop_nulls().unique(maintain_order=True).to_list())
    places = who.replace_strict(list(people), list(range(len(people))), default=-1, return_dtype=pl.Int64)
    participant = places.fill_null(-1).to_numpy().astype(np.int64)
    aside = records["set_aside"]
    reasons = [""] * len(people)  # of each participant, the first that is given
    for row in np.flatnonzero(aside.is_not_null().to_numpy() & (participant >= 0))[::-1].tolist():
        reasons[participant[row]] = "" if aside[row] == SET_ASIDE else aside[row]
    column = table.place(_ANSWERS.field("comment"))
    comments = () if column is None else tuple(table.frame.to_series(column).cast(pl.String).fill_null("").to_list())
    least = None
    if "least_seconds" in records:
        values = records.numbers("least_seconds")
        known = np.flatnonzero(~np.isnan(values)).tolist()
        least = {asked.questions[place[row]].name: float(values[row]) for row in known}
    return Study(
        asked,
        place,
        records.codes("choice"),
        participant,
        people,
        records.codes("first"),  # a is 0, not swapped; b is 1
        records.numbers("seconds"),
        records.numbers("heard"),
        _times(records, "at", "2026-05-01T12:00:00Z", datetime.fromisoformat),
        aside.is_not_null().to_numpy(),
        tuple(reasons) if any(reasons) else (),
        comments if any(comments) else (),
        *origin(table),
        _rules(records),
        least,
    ).select(kept)


def _refuse_different(table: Table, kind: str, names: pl.Series, firsts: Mask, frame: pl.DataFrame) -> None:
    """Refuse rows of one name that differ from the first of that name."""
    if frame.n_unique() > int(firsts.sum()):
        differs = first_of_kind(frame) & ~firsts
        table.refuse(differs, lambda row: f"{kind} {shown(names[row])} differs from the one in an earlier row")


def write_answers(study: Study, path: str | Path) -> None:
    """Write a study as one file, questions included; it appears when it is complete.

    Answers are numbered from 1. A line break in a comment is written as one line feed.
    """
    _write_frame(answer_columns(study), path)


def _questions(records: Records, rows: Ints) -> Questions:
    """The questions that some rows describe, in their order."""
    names, queries = records["question"], records["query"]
    lists = [_documents(records, side, rows) for side in "ab"]
    expected, systems = records["expected"], [records[f"system_{side}"] for side in "ab"]
    made = []
    for i, row in enumerate(rows.tolist()):
        two = systems[0][row], systems[1][row]
        if (two[0] is None) != (two[1] is None):
            raise records.table.error("expected the systems of both lists or of neither", row)
        try:
            answers = frozenset(part.strip().lower() for part in (expected[row] or "").split("|") if part.strip())
            made.append(Question(names[row], queries[row], lists[0][i], lists[1][i], answers, two if two[0] else None))
        except AdjudgeError as error:
            raise records.table.error(str(error), row) from None
    longest = max((len(documents) for side in lists for documents in side), default=0)
    return Questions(tuple(made), _grades(records, rows, lists, longest))


def _documents(records: Records, side: str, rows: Ints) -> list[tuple[str, ...]]:
    """The documents of one list of each row; a gap in a list is refused."""
    ranks = sorted(
        int(match[2]) for name in records.columns if (match := _DOCUMENT.fullmatch(name)) and match[1] == side
    )
    if not ranks or ranks != list(range(1, len(ranks) + 1)):
        came = ", ".join(f"{side}{rank}" for rank in ranks) or "none"
        raise records.table.header_error(f"expected columns {side}1, {side}2, … for list {side}, got {came}")
    columns = [records[f"{side}{rank}"].gather(rows).to_list() for rank in ranks]
    found = []
    for i, cells in enumerate(zip(*columns, strict=True)):
        documents = tuple(cell for cell in cells if cell is not None)
        if None in cells[: len(documents)]:
            raise records.table.error(f"expected the documents of list {side} without a gap", int(rows[i]))
        found.append(documents)
    return found


def _grades(
    records: Records, rows: Ints, lists: Sequence[Sequence[tuple[str, ...]]], longest: int
) -> dict[str, Floats]:
    """Grades by scale: (questions, 2, ranks); refused where there is no document."""
    lengths = np.array([[len(documents) for documents in side] for side in lists]).T
    grades: dict[str, Floats] = {}
    for name in records.columns:
        if (match := _GRADE.fullmatch(name)) is None:
            continue
        try:
            scale = relevance_scale(match[1])
        except AdjudgeError as error:
            raise records.table.header_error(f"column {shown(name)}: {error}") from None
        values = records.numbers(name)[rows]
        side, rank = "ab".index(match[2]), int(match[3]) - 1
        beyond = ~np.isnan(values) & (lengths[:, side] <= rank)
        wrong = ~np.isnan(values) & ~scale.origin.contains(values)
        for bad, message in ((beyond, f"no grade in {name!r}, where the list has no document"),
                             (wrong, f"a grade on the scale {scale.origin} in {name!r}")):  # fmt: skip
            if bad.any():
                row = int(rows[np.flatnonzero(bad)[0]])
                raise records.table.error(f"expected {message}, got {records[name][row]:g}", row)
        if rank < longest:
            array = grades.setdefault(str(scale), np.full((len(rows), 2, longest), np.nan))
            array[:, side, rank] = values
    return grades


def _asked(records: Records, questions: Questions | None) -> tuple[Questions, Ints]:
    """The questions of an answers file, and the place among them of the question of each answer."""
    names, table = records["question"], records.table
    if questions is None:
        if "query" not in records:
            wanted = "columns that describe the questions (query, a1, …, b1, …), or a questions file"
            raise table.header_error(f"expected {wanted}")
        describing = [n for n in records.columns if n in _PLAIN or _DOCUMENT.fullmatch(n) or _GRADE.fullmatch(n)]
        frame = pl.DataFrame([records[name] for name in describing])
        firsts = names.is_first_distinct().to_numpy()
        _refuse_different(table, "question", names, firsts, frame)
        questions = _questions(records, np.flatnonzero(firsts))
    places = questions.places
    known = names.replace_strict(list(places), list(places.values()), default=-1, return_dtype=pl.Int64)
    place = known.to_numpy().astype(np.int64)
    table.refuse(place < 0, lambda row: f"expected a question of the questions file, got {shown(names[row])}")
    return questions, place


def _rules(records: Records) -> TrustRules | None:
    """The campaign's rules of trust; None where the file has none."""
    from adjudge.preferences.trust import TrustRules

    column, table = records["rules"], records.table
    rules = column.drop_nulls()
    if not len(rules):
        return None
    other = column.is_not_null() & (column != rules[0])
    table.refuse(other.to_numpy(), lambda row: f"expected the same rules in each row, got {shown(column[row])}")
    try:
        return TrustRules.parse(rules[0])
    except AdjudgeError as error:
        raise table.error(str(error), int(column.is_not_null().arg_max() or 0)) from None


def _times(records: Records, column: str, example: str, parse: Callable[[str], datetime]) -> Floats:
    """Seconds since 1970, UTC unless a time says otherwise; NaN where there is none."""
    times = np.full(records.table.height, np.nan)
    for row, text in enumerate(records[column].to_list()):
        if text is None:
            continue
        try:
            moment = parse(text)
        except ValueError:
            wanted = f"a time such as {example} in {column!r}"
            raise records.table.error(f"expected {wanted}, got {shown(text)}", row) from None
        times[row] = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return times


_CHOICE = "what_service_gives_better_results"
_ANSWERS_OF_2012 = {
    "service a": A,
    "service b": B,
    "they are both equally good": GOOD,
    "they are both equally bad": BAD,
}
_RANKS = range(1, 6)
_SCALES = {"fine": "f", "broad": "b"}
_LAST = "x_last_judgment_at"
_STUDY_OF_2012 = Schema(
    (
        Field("id", needed=True, holds=None),
        Field("query", needed=True),
        Field(_CHOICE, "choice", needed=True, choices=_ANSWERS_OF_2012, holds=None),
        Field(_LAST, full=False, holds=None),
        *(Field(f"d{rank}{side}", needed=True, holds=None) for side in "ab" for rank in _RANKS),
        *(
            Field(f"{scale}{rank}{side}", "number", full=False, least=0, holds=None)
            for scale in _SCALES.values()
            for side in "ab"
            for rank in _RANKS
        ),
    ),
    unique=("id",),
)


def _study_of_2012(records: Records) -> Study:
    """The study: questions are named by their ``id``, list a is service A."""
    sides = [list(zip(*(records[f"d{rank}{side}"] for rank in _RANKS), strict=True)) for side in "ab"]
    made = []
    for row, (name, query, a, b) in enumerate(zip(records["id"], records["query"], *sides, strict=True)):
        try:
            made.append(Question(name, query, a, b))
        except AdjudgeError as error:
            raise records.table.error(str(error), row) from None
    grades = {
        scale: np.array([[records.numbers(f"{sign}{rank}{side}") for rank in _RANKS] for side in "ab"]).transpose(
            2, 0, 1
        )
        for scale, sign in _SCALES.items()
    }
    n = len(made)
    unknown, nobody = np.full(n, np.nan), np.full(n, -1, dtype=np.int64)
    at = _times(records, _LAST, "4/6/2012 22:22:41", _american_time)
    source, sha256 = origin(records.table)
    return Study(
        Questions(tuple(made), grades),
        np.arange(n, dtype=np.int64),
        records.codes(_CHOICE),
        nobody,
        (),
        nobody,
        unknown,
        unknown,
        at,
        np.zeros(n, dtype=np.bool_),
        source=source,
        sha256=sha256,
    )


def _american_time(text: str) -> datetime:
    return datetime.strptime(text, "%m/%d/%Y %H:%M:%S").replace(tzinfo=UTC)


def joined_studies(studies: Sequence[Study]) -> Study:
    """One study of all answers, in the order given.

    Questions of one name that are the same in two studies, grades included, are one question; a different one gets the
    name of its file before its own. Participants of one name are one person. The digest is that of all digests.

    >>> from adjudge.preferences.simulated import example_study
    >>> study = example_study(participants=3, per_participant=5)
    >>> joined_studies([study, study])
    Study(30 answers of 3 participants to 400 questions)
    """
    if not studies:
        raise AdjudgeError("expected one or more studies to join, got none")
    if len(studies) == 1:
        return studies[0]
    parts, places = _joined_questions(studies)
    people = tuple(dict.fromkeys(name for study in studies for name in study.participants))
    spots = {name: place for place, name in enumerate(people)}
    who = [
        np.array([*(spots[name] for name in study.participants), -1], dtype=np.int64)[study.participant]
        for study in studies
    ]
    reasons = dict.fromkeys(people, "")
    for study in studies:
        reasons |= {name: why for name, why in zip(study.participants, study.reasons, strict=False) if why}
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(study, name) for study in studies])
        for name in ("choice", "swapped", "seconds", "heard", "at", "set_aside")
    }
    comments = tuple(text for study in studies for text in study.comments or ("",) * len(study))
    return Study(
        joined(parts),
        np.concatenate([place[study.question] for place, study in zip(places, studies, strict=True)]),
        participant=np.concatenate(who),
        participants=people,
        **columns,
        reasons=tuple(reasons.values()) if any(reasons.values()) else (),
        comments=comments if any(study.comments for study in studies) else (),
        source=", ".join(study.source for study in studies),
        sha256=hashlib.sha256("".join(study.sha256 for study in studies).encode()).hexdigest(),
    )


def _joined_questions(studies: Sequence[Study]) -> tuple[list[Questions], list[Ints]]:
    """The questions that each study adds, and the place in the whole of each of its own questions."""
    owners: dict[str, tuple[int, Questions, int]] = {}  # name -> place in the whole; the questions and place it is from
    parts, places = [], []
    for number, study in enumerate(studies):
        asked = study.questions
        new, place = {}, np.empty(len(asked), dtype=np.int64)
        for i, question in enumerate(asked.questions):
            name = question.name
            if name in owners and not _is_same(*owners[name][1:], asked, i):
                name = f"{Path(study.source).stem or number + 1}/{name}"
                while name in owners:
                    name += "'"
            if name not in owners:
                owners[name] = len(owners), asked, i
                new[i] = replace(question, name=name)
            place[i] = owners[name][0]
        parts.append(Questions(tuple(new.values()), asked.select(list(new)).grades))
        places.append(place)
    return parts, places


def _is_same(first: Questions, i: int, second: Questions, j: int) -> bool:
    """Whether two questions are the same, grades included."""
    k = min(first.n_ranks, second.n_ranks)
    return (
        first.questions[i] == second.questions[j]
        and set(first.grades) == set(second.grades)
        and all(
            np.array_equal(grades[i][:, :k], second.grades[scale][j][:, :k], equal_nan=True)
            for scale, grades in first.grades.items()
        )
    )


def check_name(path: str | Path) -> None:
    """Refuse a file name that promises something other than CSV."""
    if (suffix := without_compression(Path(path)).suffix.lower()) not in ("", ".csv"):
        raise AdjudgeError(f"{path}: expected a name that ends in .csv, or in .csv.gz and the like, got {suffix}")


def _write_frame(frame: pl.DataFrame, path: str | Path) -> None:
    """Write a table as CSV, compressed where the name says so; the file appears when it is complete."""
    target = Path(path)
    data = frame.write_csv(null_value="").encode()
    compression = compression_of(target)
    write_whole(target, data if compression is None else compression.pack(data))


def question_columns(questions: Questions) -> pl.DataFrame:
    """One row per question; columns of systems and of a scale only where there are any."""
    asked = questions.questions
    columns: dict[str, Any] = {
        "question": _names("question", [question.name for question in asked]),
        "query": _names("query", questions.queries),
    }
    cells = [(i, rank, f"{side}{rank + 1}") for i, side in enumerate("ab") for rank in range(questions.n_ranks)]
    for i, rank, name in cells:
        lists = [question.lists[i] for question in asked]
        documents = [listed[rank] if rank < len(listed) else None for listed in lists]
        columns[name] = _names("document", documents)
    expected = ["|".join(choice for choice in CHOICES if choice in question.expected) for question in asked]
    columns["expected"] = _text([text or None for text in expected])
    if any(question.systems for question in asked):
        for i, side in enumerate("ab"):
            systems = [question.systems and question.systems[i] for question in asked]
            columns[f"system_{side}"] = _names("system", systems)
    for scale, grades in questions.grades.items():
        columns |= {f"{scale}_{name}": _numbers(grades[:, i, rank]) for i, rank, name in cells}
    return pl.DataFrame(columns)


def answer_columns(study: Study) -> pl.DataFrame:
    """One row per answer, with the columns of its question."""
    questions = question_columns(study.questions)[study.question]
    given = study.reasons or ("",) * len(study.participants)
    reasons = [*(" ".join(_plain(reason).split()) for reason in given), ""]  # in one line
    who = study.participant.tolist()
    people = [*_names("participant", study.participants), None]  # the last is the unknown one
    aside = [
        (reasons[p] or SET_ASIDE) if is_aside else None
        for p, is_aside in zip(who, study.set_aside.tolist(), strict=True)
    ]
    own = pl.DataFrame(
        {
            "answer": np.arange(1, len(study) + 1),
            "question": questions["question"],
            "participant": _text([people[p] for p in who]),
            "choice": _text([CHOICES[choice] for choice in study.choice.tolist()]),
            "first": _text([("a", "b", None)[swapped] for swapped in study.swapped.tolist()]),
            "seconds": _numbers(study.seconds),
            "heard": _numbers(study.heard),
            "at": _text(_moments(study.at)),
            "set_aside": _text(aside),
            "comment": _text([_plain(text) or None for text in study.comments] or [None] * len(study)),
        }
    )
    if study.least_seconds is not None:
        least = [study.least_seconds.get(question.name, np.nan) for question in study.questions.questions]
        own = own.with_columns(least_seconds=_numbers(np.array(least, dtype=np.float64)[study.question]))
    if study.rules is not None:
        own = own.with_columns(rules=pl.lit(str(study.rules)))
    return own.hstack(questions.drop("question"))


def _text(cells: Sequence[str | None]) -> pl.Series:
    return pl.Series(cells, dtype=pl.String)


def _numbers(values: Floats) -> pl.Series:
    """Numbers that are empty where unknown, whole where all are."""
    known = values[~np.isnan(values)]
    column = pl.Series(values).fill_nan(None)
    return column.cast(pl.Int64) if bool((known == np.round(known)).all()) else column


def _names(kind: str, cells: Sequence[str | None]) -> pl.Series:
    """Identifiers that a file gives back unchanged; others are refused."""
    for cell in cells:
        if cell is not None and (not cell or "\n" in cell or _plain(cell).strip(SPACES) != cell):
            raise AdjudgeError(f"Expected a {kind} that a file can hold, got {shown(cell)}")
    return _text(cells)


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")


def _moments(at: Floats) -> list[str | None]:
    """Times as ISO 8601 in UTC, to the microsecond where they are not whole seconds."""
    known = ~np.isnan(at)
    micro = np.round(np.where(known, at, 0.0) * 1e6).astype(np.int64).astype("datetime64[us]")
    texts = np.datetime_as_string(micro)
    return [
        f"{text.removesuffix('.000000')}Z" if is_known else None for text, is_known in zip(texts, known, strict=True)
    ]


THESIS = "thesis"
"""Stands for the combinations of the thesis."""


def named_combinations(
    texts: Iterable[str],
    scales: Sequence[str],
    k: int,
    *,
    tells: Callable[[Combination], bool] = lambda combination: True,
) -> tuple[Combination, ...]:
    """What values of ``--combinations`` mean: the thesis's, one, or those of a file."""
    found: list[Combination] = []
    for text in texts:
        if text.strip().lower() == THESIS:
            of_thesis = [combination for combination in possible(thesis_combinations(k), scales) if tells(combination)]
            if scales and not of_thesis:
                raise AdjudgeError(
                    f"the thesis has no combinations on {', '.join(scales)} that can be told apart here; "
                    "name the scale (--scale fine) or single ones, as 'CG@5 on fine'"
                )
            found += of_thesis
        else:
            found += _combinations_in(text) if is_combination_file(text) else [Combination.parse(text)]
    return tuple(dict.fromkeys(found))


def is_combination_file(text: str) -> bool:
    """Whether a value of ``--combinations`` is a file; what is neither that nor a combination is refused."""
    if os.path.isfile(text) or text.strip().lower() == THESIS:
        return text.strip().lower() != THESIS
    if " on " not in text:
        raise AdjudgeError(
            f"--combinations: expected MEASURE on SCALE, such as 'CG@5 on fine', {THESIS!r}, or a file with one per "
            f"line, got {shown(text)}"
        )
    return False


def _combinations_in(path: str) -> list[Combination]:
    """Combinations of a file, one per line; blank lines and what follows a # are passed over."""
    source = Source.open(Path(path))
    found = []
    for number, line in enumerate(source.text.decode("utf-8-sig", errors="replace").splitlines(), start=1):
        if text := line.partition("#")[0].strip():
            try:
                found.append(Combination.parse(text))
            except AdjudgeError as error:
                raise InputError(str(error), source=source.name, line=number) from None
    if not found:
        raise InputError("expected combinations such as 'CG@5 on fine', one per line, got none", source=source.name)
    return found
