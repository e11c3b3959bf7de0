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

Files are tables of any kind that Adjudge reads (CSV, TSV, spreadsheets, Parquet, JSON records); data frames and records
of Python are read as well. Participants go by every name that assessors have (``worker_id``, ``rater``, …).

The file of the ISMIR 2012 user study (``answers.csv`` of the repository ismir2012-significance) is recognised by its
columns and read as its authors published it. One row an answer: 2,200 pairs of lists of five documents, Broad and Fine
grades of each, and what somebody said of the two services. Who answered what was not published. Times are taken as UTC:
the file does not say.

Urbano et al., How significant is statistically significant? The case of audio music similarity and retrieval,
ISMIR 2012; data: repository ismir2012-significance, CC BY-SA 4.0.

Several studies can be read as one: the same questions asked twice, or other questions of the same people.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from adjudge.arrays import Floats, Ints, Mask
from adjudge.errors import AdjudgeError, shown
from adjudge.formats.columns import naming_columns
from adjudge.formats.schema import Field, Records, Schema, Table, Tabular, Values, first_of_kind, origin
from adjudge.formats.source import BLANKS
from adjudge.io import compression_of, without_compression, write_whole
from adjudge.preferences.questions import CHOICES, Question, Questions, joined
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
    _open_field("expected"),
    _open_field("system_a"),
    _open_field("system_b"),
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
        _open_field("seconds", "number", least=0),
        _open_field("heard", "number", least=0),
        _open_field("at"),
        _open_field("set_aside"),
        _open_field("comment"),  # read as it stands, spaces included
        _open_field("rules"),
        _open_field("least_seconds", "number", least=0),
        *_ASKED,
    ),
    distinct=True,
    has_comments=False,
)
SET_ASIDE = "set aside"
"""What stands in a file for an answer that was set aside without a reason."""


def read_questions(path: Tabular, *, columns: Mapping[str, str] | str | None = None) -> Questions:
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
        records = _QUESTIONS.read(path)
    return _questions(records, np.arange(records.table.height))


def write_questions(questions: Questions, path: str | Path) -> None:
    """Write a questions file; it appears when it is complete."""
    write_frame(question_columns(questions), path)


def read_answers(
    path: Tabular, questions: Questions | None = None, *, columns: Mapping[str, str] | str | None = None
) -> Study:
    """Read an answers file, or the file of the 2012 study.

    ``questions`` are needed where the file has no columns that describe them; where it has, they win over the file's.
    ``columns`` says which column holds what where names do not: ``{"assessor": "who", "choice": "vote"}``.
    """
    with naming_columns(columns):
        table = _ANSWERS.open(path)
        if is_2012(table):
            return study_of_2012(_STUDY_OF_2012.read(table))
        records = _ANSWERS.read(table)
    rows = _without_repeats(records)
    asked, place = _asked(records, questions)
    participant, people = _people(records)
    aside = records["set_aside"]
    said = table.place(_ANSWERS.field("comment"))
    comments = () if said is None else tuple(table.frame.to_series(said).cast(pl.String).fill_null("").to_list())
    return Study(
        asked,
        place,
        records.codes("choice"),
        participant,
        people,
        records.codes("first"),  # a is 0, not swapped; b is 1
        records.numbers("seconds"),
        records.numbers("heard"),
        _times(records),
        aside.is_not_null().to_numpy(),
        _reasons(participant, aside, len(people)),
        comments if any(comments) else (),
        *origin(table),
        _rules(records),
        _least_seconds(records, asked, place),
    ).select(rows)


def write_answers(study: Study, path: str | Path) -> None:
    """Write a study as one file, questions included; it appears when it is complete.

    Answers are numbered from 1. A line break in a comment is written as one line feed.
    """
    write_frame(answer_columns(study), path)


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
    """The documents of one list of each row; a hole in a list is refused."""
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
        if frame.n_unique() > int(firsts.sum()):
            clash = first_of_kind(frame) & ~firsts
            table.refuse(clash, lambda row: f"question {shown(names[row])} is another one than in an earlier row")
        questions = _questions(records, np.flatnonzero(firsts))
    places = questions.places
    known = names.replace_strict(list(places), list(places.values()), default=-1, return_dtype=pl.Int64)
    place = known.to_numpy().astype(np.int64)
    table.refuse(place < 0, lambda row: f"expected a question of the questions file, got {shown(names[row])}")
    return questions, place


def _people(records: Records) -> tuple[Ints, tuple[str, ...]]:
    """Who gave each answer, as a place among all of them in the order in which they came; -1 where unknown."""
    column = records["participant"]
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


def _rules(records: Records) -> TrustRules | None:
    """The campaign's rules of trust; None where the file has none."""
    from adjudge.preferences.trust import TrustRules

    column, table = records["rules"], records.table
    told = column.drop_nulls()
    if not len(told):
        return None
    other = column.is_not_null() & (column != told[0])
    table.refuse(other.to_numpy(), lambda row: f"expected the same rules in each row, got {shown(column[row])}")
    try:
        return TrustRules.parse(told[0])
    except AdjudgeError as error:
        raise table.error(str(error), int(column.is_not_null().arg_max() or 0)) from None


def _least_seconds(records: Records, asked: Questions, place: Ints) -> dict[str, float] | None:
    """Seconds of sound to be heard for an answer, by the name of the question; None where the file has none."""
    if "least_seconds" not in records:
        return None
    values = records.numbers("least_seconds")
    known = np.flatnonzero(~np.isnan(values))
    return {asked.questions[place[row]].name: float(values[row]) for row in known.tolist()}


def _times(records: Records) -> Floats:
    times = np.full(records.table.height, np.nan)
    for row, text in enumerate(records["at"].to_list()):
        if text is None:
            continue
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            wanted = "a time such as 2026-05-01T12:00:00Z"
            raise records.table.error(f"expected {wanted} in 'at', got {shown(text)}", row) from None
        times[row] = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return times


def _without_repeats(records: Records) -> Mask:
    """Which rows to keep: of answers with one name the first; two that differ are refused."""
    table = records.table
    if "answer" not in records:
        return np.ones(table.height, dtype=np.bool_)
    names = records["answer"]
    firsts = names.is_first_distinct().to_numpy()
    if not firsts.all():
        differs = first_of_kind(table.frame) & ~firsts
        table.refuse(differs, lambda row: f"answer {shown(names[row])} is another one than in an earlier row")
    return firsts


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


def is_2012(table: Table) -> bool:
    """Whether a table has the columns of that study."""
    return {_CHOICE, "id", "query", "d1a", "d5b", "f1a", "b5b"} <= {name.lower() for name in table.names}


def study_of_2012(records: Records) -> Study:
    """The study: questions are named by their ``id``, list a is service A."""
    table = records.table
    sides = [list(zip(*(records[f"d{rank}{side}"] for rank in _RANKS), strict=True)) for side in "ab"]
    made = []
    for row, (name, query, a, b) in enumerate(zip(records["id"], records["query"], *sides, strict=True)):
        try:
            made.append(Question(name, query, a, b))
        except AdjudgeError as error:
            raise table.error(str(error), row) from None
    n = len(made)
    unknown, nobody = np.full(n, np.nan), np.full(n, -1, dtype=np.int64)
    source, sha256 = origin(table)
    return Study(
        Questions(tuple(made), {scale: _grades_2012(records, sign) for scale, sign in _SCALES.items()}),
        np.arange(n, dtype=np.int64),
        records.codes(_CHOICE),
        nobody,
        (),
        nobody.copy(),
        unknown,
        unknown.copy(),
        _times_2012(records),
        np.zeros(n, dtype=np.bool_),
        source=source,
        sha256=sha256,
    )


def _grades_2012(records: Records, sign: str) -> Floats:
    columns = [[records.numbers(f"{sign}{rank}{side}") for rank in _RANKS] for side in "ab"]
    return np.moveaxis(np.array(columns), 2, 0)


def _times_2012(records: Records) -> Floats:
    """Month, day and year, as in ``4/6/2012 22:22:41``; unknown where the column is missing."""
    times = np.full(records.table.height, np.nan)
    for row, text in enumerate(records[_LAST].to_list()):
        if text is None:
            continue
        try:
            times[row] = datetime.strptime(text, "%m/%d/%Y %H:%M:%S").replace(tzinfo=UTC).timestamp()
        except ValueError:
            wanted = "a time such as 4/6/2012 22:22:41"
            raise records.table.error(f"expected {wanted}, got {shown(text)}", row) from None
    return times


def joined_studies(studies: Sequence[Study]) -> Study:
    """One study of all answers, in the order given.

    A question of one name that is the same in two studies, grades included, is one question; another one gets the name
    of its file before its own. Participants of one name are one person. The digest is that of all digests.

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
    people = tuple(dict.fromkeys(name for one in studies for name in one.participants))
    spots = {name: place for place, name in enumerate(people)}
    who = [
        np.array([*(spots[name] for name in one.participants), -1], dtype=np.int64)[one.participant] for one in studies
    ]
    reasons = dict.fromkeys(people, "")
    for one in studies:
        reasons |= {name: why for name, why in zip(one.participants, one.reasons, strict=False) if why}

    columns: dict[str, Any] = {
        name: np.concatenate([getattr(one, name) for one in studies])
        for name in ("choice", "swapped", "seconds", "heard", "at", "set_aside")
    }
    said = any(one.comments for one in studies)
    return Study(
        joined(parts),
        np.concatenate([place[one.question] for place, one in zip(places, studies, strict=True)]),
        participant=np.concatenate(who),
        participants=people,
        **columns,
        reasons=tuple(reasons.values()) if any(reasons.values()) else (),
        comments=tuple(text for one in studies for text in one.comments or ("",) * len(one)) if said else (),
        source=", ".join(one.source for one in studies),
        sha256=hashlib.sha256("".join(one.sha256 for one in studies).encode()).hexdigest(),
    )


def _joined_questions(studies: Sequence[Study]) -> tuple[list[Questions], list[Ints]]:
    """The questions that each study adds, and where in the whole each of its own questions is."""
    known: dict[str, tuple[int, int]] = {}  # name -> place in the whole and in its study; the study by the place
    owners: list[tuple[Study, int]] = []
    parts, places = [], []
    for number, study in enumerate(studies):
        asked = study.questions
        new, place = [], np.empty(len(asked), dtype=np.int64)
        for i, one in enumerate(asked.questions):
            name = one.name
            if name in known and not _same(*owners[known[name][0]], study, i):
                name = f"{Path(study.source).stem or number + 1}/{name}"
                while name in known:
                    name += "'"
            if name not in known:
                known[name] = len(owners), i
                owners.append((study, i))
                new.append((i, replace(one, name=name)))
            place[i] = known[name][0]
        chosen = asked.select([i for i, _ in new])
        parts.append(Questions(tuple(one for _, one in new), chosen.grades))
        places.append(place)
    return parts, places


def _same(one: Study, i: int, other: Study, j: int) -> bool:
    """Whether two questions are the same, as far as both know."""
    first, second = one.questions, other.questions
    if first.questions[i] != second.questions[j]:
        return False
    shared = set(first.grades) & set(second.grades)
    k = min(first.n_ranks, second.n_ranks)
    return set(first.grades) == set(second.grades) and all(
        np.array_equal(first.grades[s][i][:, :k], second.grades[s][j][:, :k], equal_nan=True) for s in shared
    )


def check_name(path: str | Path) -> None:
    """Refuse a name that promises something else than CSV."""
    if (suffix := without_compression(Path(path)).suffix.lower()) not in ("", ".csv"):
        raise AdjudgeError(f"{path}: expected a name that ends in .csv, or in .csv.gz and the like, got {suffix}")


def write_frame(frame: pl.DataFrame, path: str | Path) -> None:
    """Write a table as CSV, compressed where the name says so; the file appears when it is complete."""
    target = Path(path)
    data = frame.write_csv(null_value="").encode()
    compression = compression_of(target)
    write_whole(target, data if compression is None else compression.pack(data))


def question_columns(questions: Questions) -> pl.DataFrame:
    """One row a question; columns of systems and of a scale only where there are any."""
    asked = questions.questions
    columns: dict[str, Any] = {
        "question": _names("question", [one.name for one in asked]),
        "query": _names("query", questions.queries),
    }
    for side in range(2):
        lists = [one.lists[side] for one in asked]
        for rank in range(questions.n_ranks):
            cells = [documents[rank] if rank < len(documents) else None for documents in lists]
            columns[f"{'ab'[side]}{rank + 1}"] = _names("document", cells)
    columns["expected"] = _text([_joined(one.expected) for one in asked])
    if any(one.systems for one in asked):
        for side in range(2):
            columns[f"system_{'ab'[side]}"] = _names("system", [one.systems and one.systems[side] for one in asked])
    for scale, grades in questions.grades.items():
        for side in range(2):
            for rank in range(questions.n_ranks):
                columns[f"{scale}_{'ab'[side]}{rank + 1}"] = _numbers(grades[:, side, rank])
    return pl.DataFrame(columns)


def answer_columns(study: Study) -> pl.DataFrame:
    """One row an answer, with the columns of its question."""
    questions = question_columns(study.questions)[study.question]
    reasons = [None if reason == "" else reason for reason in study.reasons] or [None] * len(study.participants)
    who = study.participant
    people = [*_names("participant", study.participants), None]  # -1 is nobody
    aside = [
        ((reasons[p] if p >= 0 else None) or SET_ASIDE) if is_aside else None
        for p, is_aside in zip(who.tolist(), study.set_aside.tolist(), strict=True)
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
            "set_aside": _text([None if why is None else _one_line(why) for why in aside]),
            "comment": _text([_plain(text) or None for text in study.comments] or [None] * len(study)),
        }
    )
    if study.least_seconds is not None:
        asked = [one.name for one in study.questions.questions]
        least = np.array([study.least_seconds.get(name, np.nan) for name in asked], dtype=np.float64)
        own = own.with_columns(least_seconds=_numbers(least[study.question]))
    if study.rules is not None:
        own = own.with_columns(rules=pl.lit(str(study.rules)))
    return own.hstack(questions.drop("question"))


def _joined(expected: frozenset[str]) -> str | None:
    return "|".join(choice for choice in CHOICES if choice in expected) or None


def _text(cells: Sequence[str | None]) -> pl.Series:
    return pl.Series(cells, dtype=pl.String)


def _numbers(values: Floats) -> pl.Series:
    """Numbers that are empty where unknown, whole where all are."""
    known = values[~np.isnan(values)]
    column = pl.Series(values).fill_nan(None)
    return column.cast(pl.Int64) if bool((known == np.round(known)).all()) else column


def _names(kind: str, cells: Sequence[str | None]) -> pl.Series:
    """Identifiers that a file gives back as they are; others are refused."""
    for cell in cells:
        if cell is not None and (not cell or cell.strip(BLANKS) != cell or not _plain(cell) == cell or "\n" in cell):
            raise AdjudgeError(f"Expected a {kind} that a file can hold, got {shown(cell)}")
    return _text(cells)


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")


def _one_line(text: str) -> str:
    return " ".join(_plain(text).split())


def _moments(at: Floats) -> list[str | None]:
    """Times as ISO 8601 in UTC, to the microsecond where they are not whole seconds."""
    known = ~np.isnan(at)
    micro = np.round(np.where(known, at, 0.0) * 1e6).astype(np.int64).astype("datetime64[us]")
    texts = np.datetime_as_string(micro)
    return [
        f"{text.removesuffix('.000000')}Z" if is_known else None for text, is_known in zip(texts, known, strict=True)
    ]
