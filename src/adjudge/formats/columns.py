"""What columns of tables hold and what people call them: one dictionary for every reader of tables.

Names are compared without case, spaces, dots, hyphens and underscores, and without the ``Input.`` and ``Answer.`` that
Mechanical Turk puts before them: ``Query-ID``, ``queryId`` and ``query_id`` are one. A name that often holds text
(``query``, ``document``, ``track`` …) gives way to an identifier beside it (``query_id``), and Terrier's internal
``docid`` to its ``docno``; any other two columns for the same thing are refused. Some names are taken only where a
table needs them and has no better one: ``id`` is the document, ``score`` the grade of judgments, ``user_id`` the query
of a table without queries (recommenders answer users) and the assessor of any other table.
:func:`naming_columns` says which column holds what where names do not.

Identifiers become text without surrounding spaces (7 and 7.0 become ``"7"``, ``"007"`` stays), scores and grades finite
floats, ranks integers. Distances become scores by changing their sign. An optional column that is empty altogether is
dropped. Where judgments have no grade but a ``group``, as partially ordered lists have, the last group of each query
becomes grade 1, the one before it 2.

Groups of partially ordered lists to grades and back: the last group of a query has grade 1, the one before it 2.

Only the order of such grades means anything. What a list does not hold has no grade, and what has a grade of 0 or less
is in no group.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Number

import polars as pl

from adjudge.errors import AdjudgeError, InputError, shown, unknown, warn
from adjudge.formats.base import Kind
from adjudge.formats.source import BLANKS, with_article


def graded(table: pl.DataFrame) -> pl.DataFrame:
    """Add ``grade`` to a column ``group`` (1 is the most similar); each assessor's groups count by themselves.

    >>> graded(pl.DataFrame({"query": "q", "document": ["A", "B", "C"], "group": [1, 1, 2]}))["grade"].to_list()
    [2.0, 2.0, 1.0]
    """
    keys = [name for name in ("query", "assessor", "subtopic") if name in table.columns]
    grade = pl.col("group").rank("dense", descending=True).over(keys).cast(pl.Float64)
    return table.with_columns(grade.alias("grade"), pl.col("group").cast(pl.Float64))


def grouped(frame: pl.DataFrame) -> pl.DataFrame:
    """Table ``query, group, document`` of judgments, group by group; documents graded 0 or less are left out, aloud.

    >>> frame = pl.DataFrame({"query": "q", "document": ["C", "A"], "grade": [1.0, 2.0]})
    >>> grouped(frame).rows()
    [('q', 1, 'A'), ('q', 2, 'C')]
    """
    for name, plural in (("assessor", "assessors"), ("subtopic", "sub-topics")):
        if name in frame.columns and frame[name].n_unique() > 1:
            raise InputError(f"Lists of groups hold no {plural}; combine them first: --combine mean")
    listed = frame.filter(pl.col("grade") > 0)
    if not listed.height:
        raise InputError("expected documents with grades above 0 to put into groups, got none")
    if listed.height < frame.height:
        n, lost = frame.height - listed.height, frame["query"].n_unique() - listed["query"].n_unique()
        gone = f"; nothing is left of {lost} {'query' if lost == 1 else 'queries'}" if lost else ""
        what = "1 document with a grade of 0 or less is" if n == 1 else f"{n:,} documents with grades of 0 or less are"
        warn(f"{what} in no group and left out{gone}.", stacklevel=3)
    group = pl.col("grade").rank("dense", descending=True).over("query").cast(pl.Int64)
    first = pl.col("row").min().over("query")
    table = listed.with_row_index("row").select("query", group.alias("group"), "document", first.alias("first"))
    return table.sort("first", "group", maintain_order=True).drop("first")


ErrorAt = Callable[[str, int | None], InputError]
"""Builds the error for a message and the row (from 0) it is about, if any."""


@dataclass(frozen=True)
class Column:
    """What a column holds, and its names, the surest first: a weaker name gives way to a surer one beside it.

    Beyond the first ``sure`` tiers, names stand for it only in a table that needs such a column and has no other.
    ``told`` is how the documentation tells names that are made by a rule.
    """

    holds: str
    names: tuple[tuple[str, ...], ...]
    sure: int = 9
    told: str = ""

    @cached_property
    def tiers(self) -> tuple[frozenset[str], ...]:
        """Folded names, the surest first."""
        return tuple(frozenset(map(fold, names)) for names in self.names)


_PEOPLE = ("assessor", "judge", "annotator", "rater", "worker", "participant", "expert", "evaluator", "labeler")
_THINGS = ("product", "movie", "song", "clip", "video", "image", "article", "book", "passage", "incipit", "candidate")
_OPTIONS = ("document", "doc", "item", "track", "incipit", "clip", "song", "candidate", "option")
_SIDES = {"a": ("a", "1", "left", "first"), "b": ("b", "2", "right", "second")}


def _ids(nouns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{noun}_id" for noun in nouns)


def _side(side: str) -> Column:
    signs = _SIDES[side]
    names = (*(f"{option}_{sign}" for option in _OPTIONS for sign in signs), side, *signs[2:])
    endings = ", ".join(f"_{sign}" for sign in signs)
    told = f"{', '.join(_OPTIONS)} with {endings}; {', '.join((side, *signs[2:]))}"
    return Column(f"the {signs[3]} document of a pair", (names,), told=told)


COLUMNS: dict[str, Column] = {
    "query": Column(
        "the query",
        (
            ("query_id", "qid", "topic_id"),
            ("query", "topic"),
            ("query_no", "topic_no", "search_id"),
            ("query_text", "search_query", "search_term", "search_phrase"),
            ("user_id",),
            ("user",),
        ),
        sure=2,
    ),
    "document": Column(
        "the document",
        (
            ("document_id", "doc_id", "docno", "did", "corpus_id", "item_id", "track_id"),
            ("document", "doc", "track", "item"),
            (*_ids(_THINGS), "pid", "sku", "asin"),
            ("id", *_THINGS, "melody"),
        ),
        sure=2,
    ),
    "system": Column(
        "the system that made a run",
        (
            ("system", "run", "run_id", "run_name", "tag", "method", "model"),
            ("system_id", "system_name", "run_tag"),
            ("name",),
        ),
        sure=2,
    ),
    "score": Column(
        "what a run gives a document; distances change their sign",
        (
            ("score", "sim", "similarity", "distance", "dist"),
            ("retrieval_score", "search_score", "@search.score", "rsv"),
        ),
    ),
    "rank": Column(
        "the place in a ranking, 1 is the best",
        (("rank",), ("ranking", "position", "place", "doc_rank", "doc_position")),
    ),
    "team": Column("the team that made a system", (("team",), ("team_id", "team_name"))),
    "grade": Column(
        "how relevant the document is",
        (
            ("grade", "relevance", "label", "rel", "relevance_score", "judgment", "judgement", "fine", "broad"),
            ("rating", "relevance_grade", "relevance_label", "relevance_rating"),
            ("score",),
        ),
        sure=2,
    ),
    "group": Column("the group in a partially ordered list, 1 is the most similar", (("group",),)),
    "assessor": Column(
        "who judged, ranked or answered",
        (_ids(_PEOPLE), _PEOPLE, ("user_id", "subject_id", "reviewer_id"), ("user",), ("subject", "reviewer")),
        sure=4,
    ),
    "subtopic": Column("the sub-topic of the query", (("subtopic", "subtopic_id", "iteration", "iter"),)),
    "measure": Column("the measure of effectiveness", (("measure", "metric"),)),
    "value": Column("effectiveness", (("value", "score", "effectiveness"),)),
    "lower": Column("the lower bound of effectiveness", (("lower",),)),
    "upper": Column("the upper bound of effectiveness", (("upper",),)),
    "error": Column("the error of effectiveness", (("error",),)),
    "judged": Column("the share of documents that are judged", (("judged",),)),
    "document_a": _side("a"),
    "document_b": _side("b"),
    "answer": Column(
        "which of two documents is more similar: a, b or same",
        (("answer", "choice", "preference", "preferred", "response", "radio"),),
    ),
    "question": Column("the question of a study", (("question",),)),
    "choice": Column("which of two lists was chosen: a, b, good or bad", (("choice",),)),
    "file": Column("the file of a recording", (("file", "path", "filename"),)),
}
"""What a column may hold, by the name that Adjudge gives it."""

TABLES: dict[Kind, dict[str, bool]] = {
    "runs": {"system": False, "query": True, "document": True, "score": False, "rank": False, "team": False},
    "judgments": {"query": True, "document": True, "grade": True, "assessor": False, "subtopic": False},
    "metadata": {"document": True},
}
"""Columns of each kind of table, in order, and whether it needs them."""

_DISTANCES = {"distance", "dist"}
_NUMBERS = {"score", "grade", "rank", "group"}
_DESCRIPTIONS = {"artist", "genre", "title", "album", "name", "style", "composer"}
_KNOWN_DESCRIPTIONS = {*_DESCRIPTIONS, "year", "label", "duration"}
_PREFIX = re.compile(r"^\s*(?:input|answer)\.", re.IGNORECASE)
_DECIMAL_COMMA = r"^([+-]?\d*),(\d+(?:[eE][+-]?\d+)?)$"


def fold(name: str) -> str:
    """Fold a name into the form in which names are compared.

    >>> fold(" Query-ID "), fold("queryId"), fold("Input.query_id")
    ('queryid', 'queryid', 'queryid')
    """
    return re.sub(r"[\s_.-]", "", _PREFIX.sub("", name)).casefold()


@dataclass
class _Naming:
    """What the user says that columns hold, which of it must be and was found, and the columns of the last table."""

    names: dict[str, str]
    needed: set[str]
    found: set[str] = field(default_factory=set)
    came: Sequence[str] = ()


_naming: ContextVar[_Naming | None] = ContextVar("adjudge_columns", default=None)


@contextmanager
def naming_columns(columns: Mapping[str, str] | str | None, *, is_strict: bool = True) -> Iterator[None]:
    """Read tables meanwhile with these names: ``{"query": "userId"}``, or ``query=userId,document=movieId``.

    A table that has such a column uses it for nothing else; a table without it is read by the usual names. A name that
    no table has is refused at the end, if ``is_strict``, or earlier by :func:`check_columns`. Inside another such
    block, the names of both hold.

    >>> with naming_columns("query=userId"):
    ...     places_of(["userId", "topic"], "query"), places_of(["userId", "topic"], "assessor")
    ([0], [])
    """
    if columns is None:
        yield
        return
    own, around = _parsed(columns) if isinstance(columns, str) else dict(columns), _naming.get()
    if strange := next((target for target in own if target not in COLUMNS), None):
        raise unknown("column", strange, COLUMNS)
    naming = _Naming(own if around is None else {**around.names, **own}, set(own) if is_strict else set())
    token = _naming.set(naming)
    try:
        yield
        check_columns()
    finally:
        _naming.reset(token)
        if around is not None:
            around.found |= naming.found


def check_columns() -> None:
    """Refuse names of :func:`naming_columns` that no table has so far; called once all tables are read."""
    naming = _naming.get()
    if naming is None:
        return
    for target in sorted(naming.needed - naming.found):
        came = f"the columns {listed(naming.came)}" if naming.came else "no table with names of columns"
        raise AdjudgeError(f"columns: expected {shown(naming.names[target])} for the {worded(target)}, got {came}")


def _parsed(text: str) -> dict[str, str]:
    """Names by what they hold, as people type them.

    >>> _parsed("query=Query, text,grade = rating")
    {'query': 'Query, text', 'grade': 'rating'}
    """
    names: dict[str, str] = {}
    for part in re.split(r",(?=\s*\w+\s*=)", text):
        target, equals, name = (piece.strip() for piece in part.partition("="))
        if not (target and equals and name) or target in names:
            raise AdjudgeError(f"columns: expected pairs such as query=userId,document=movieId, got {shown(text)}")
        names[target] = name
    return names


def listed(names: Sequence[str]) -> str:
    """The first names, for a message."""
    return ", ".join(map(shown, names[:8])) + (", …" if len(names) > 8 else "")


def places_of(names: Sequence[str], target: str, *, needed: bool = False) -> list[int]:
    """Which columns hold something by their names; a table that has it ``needed`` takes weaker names, too.

    >>> places_of(["Query Text", "qid", "_id"], "query"), places_of(["qid", "_id"], "document", needed=True)
    ([1], [1])
    """
    said = places_said(names)
    if target in said:
        return [said[target]]
    taken = {place for other, place in said.items() if not _is_apart(other, target)}
    folded = ["" if i in taken else fold(name) for i, name in enumerate(names)]
    for tier in COLUMNS[target].tiers[: None if needed else COLUMNS[target].sure]:
        if found := [i for i, name in enumerate(folded) if name in tier]:
            if any(folded[i] == "docno" for i in found):
                found = [i for i in found if folded[i] != "docid"]
            return found
    return []


def _is_apart(one: str, other: str) -> bool:
    """Whether two things are never in the same table, as scores of runs and grades of judgments."""
    tables = [{kind for kind, columns in TABLES.items() if target in columns} for target in (one, other)]
    return all(tables) and tables[0].isdisjoint(tables[1])


def places_said(names: Sequence[str]) -> dict[str, int]:
    """Which columns hold what, as far as :func:`naming_columns` says so."""
    naming = _naming.get()
    if naming is None:
        return {}
    naming.came, places = names, {}
    for target, name in naming.names.items():
        exact = [i for i, given in enumerate(names) if given.strip() == name]
        found = exact or [i for i, given in enumerate(names) if fold(given) == fold(name)]
        if found:
            places[target] = found[0]
    naming.found.update(places)
    return places


def place_of(names: Sequence[str], target: str, error: ErrorAt, *, needed: bool = False, first: str = "") -> int | None:
    """Which column holds something; several are refused, unless one has the name to take ``first``."""
    found = places_of(names, target, needed=needed)
    if len(found) > 1:
        found = [i for i in found if fold(names[i]) == first] or found
    if len(found) > 1:
        several = " and ".join(shown(names[i]) for i in found)
        raise error(f"expected one column for the {worded(target)}, got {several}{hint(target)}", None)
    return found[0] if found else None


def missing_column(names: Sequence[str], target: str) -> str:
    """What to say where a needed column is not there."""
    known = list(dict.fromkeys([target, *(name for tier in COLUMNS[target].names for name in tier)]))[:4]
    few = ", ".join(known)
    return f"expected a column for the {worded(target)} ({few}, …), got the columns {listed(names)}{hint(target)}"


def worded(target: str) -> str:
    """What messages call what a column holds."""
    return {"document_a": "first document", "document_b": "second document"}.get(target, target)


def hint(*targets: str, about: str = "say which it is") -> str:
    """What to do where columns have other names, or which name of :func:`naming_columns` is not there."""
    naming = _naming.get()
    wrong = [naming.names[target] for target in targets if naming is not None and target in naming.names]
    if wrong:
        return f"; there is no column {shown(wrong[0])}, which 'columns' names"
    return f"; {about}: --columns {','.join(f'{target}=NAME' for target in targets)} (in Python, columns=)"


def is_header(names: Sequence[str], kind: Kind) -> bool:
    """Whether a line of text holds names of columns: one for a query or a document is enough, or any two.

    >>> is_header(["qid", "clip", "value"], "judgments"), is_header(["q1", "d1", "2"], "judgments")
    (True, False)
    """
    if kind == "metadata":
        return not _DESCRIPTIONS.isdisjoint(map(fold, names)) or bool(places_of(names, "document", needed=True))
    if any(places_of(names, target) for target in ("query", "document")):
        return True
    return len({place for target in TABLES[kind] for place in places_of(names, target, needed=True)}) > 1


def canonical_frame(
    frame: pl.DataFrame,
    kind: Kind,
    *,
    name: str,
    error: ErrorAt,
    names: Sequence[str] | None = None,
    decimal_commas: bool = False,
) -> pl.DataFrame:
    """Make the plain table of a kind from any frame with recognisable columns.

    ``name`` is the system where no column says it, ``names`` replaces the frame's own column names (and may repeat).
    Unknown columns of runs and judgments are dropped; those of metadata are kept under their own names, as they are
    typed, but for descriptions such as artist and genre, which are text and in lower case (``Artist`` is ``artist``).
    """
    names = frame.columns if names is None else names
    if frame.height == 0:
        raise error("expected at least one row of data, got none", None)
    places = match_columns(names, kind, error)
    columns = [
        _typed(frame.to_series(place), names[place], target, error, decimal_commas) for target, place in places.items()
    ]
    if kind == "metadata":
        return pl.DataFrame([*columns, *_descriptions(frame, names, places["document"], error)])
    table = pl.DataFrame([column for column in columns if column is not None])
    if "group" in table.columns:
        table = graded(table)
    if kind == "runs" and "system" not in table.columns:
        table = table.select(pl.lit(name).alias("system"), pl.all())
    return table


def match_columns(names: Sequence[str], kind: Kind, error: ErrorAt) -> dict[str, int]:
    """Which column holds what: positions in ``names`` by canonical name, in canonical order."""
    places: dict[str, int] = {}
    for target, needed in TABLES[kind].items():
        first = "id" if kind == "metadata" else ""
        held, place = target, place_of(names, target, error, needed=needed, first=first)
        if place is None and target == "grade":
            held, place = "group", place_of(names, "group", error)
        taken = next((other for other, there in places.items() if there == place), None)
        if place is not None and taken is None:
            places[held] = place
        elif taken is not None and target in places_said(names):
            raise error(f"expected columns of their own for {taken} and {target}, got {shown(names[place or 0])}", None)
        elif needed:
            raise error(missing_column(names, target), None)
    if kind == "runs":
        _refuse_judgments(names, places, error)
    is_user = "query" in places and fold(names[places["query"]]) in ("user", "userid")
    if is_user and "query" not in places_said(names):
        taken = shown(names[places["query"]])
        note = f"no column is named for the query; {taken} is taken for it, as recommenders answer users."
        warn(str(error(note, None)), stacklevel=2)
    return places


def _refuse_judgments(names: Sequence[str], places: dict[str, int], error: ErrorAt) -> None:
    """Refuse a table with grades and nothing that only runs have: as a run it would be a system nobody built."""
    graded = places_of(names, "grade")
    if graded and not {"system", "score", "rank"} & set(places):
        name = shown(names[graded[0]])
        raise error(
            f"expected a run, got judgments: a column {name}, but no score, rank or system; where {name} holds scores: "
            f"--columns score={names[graded[0]]} (in Python, columns=)",
            None,
        )


def _typed(column: pl.Series, name: str, target: str, error: ErrorAt, decimal_commas: bool) -> pl.Series | None:
    """One column under its canonical name and type; an optional one without any value is None."""
    if target not in {"query", "document", "grade", "group"} and column.null_count() == len(column):
        return None
    if target not in _NUMBERS:
        return identifiers(column, target, error)
    values = _finite(with_points(column) if decimal_commas else column, target, error)
    if target in {"rank", "group"}:
        return _whole(values, error, least=1 if target == "group" else None)
    return pl.select(negated(pl.lit(values))).to_series().alias(target) if fold(name) in _DISTANCES else values


def identifiers(column: pl.Series, target: str, error: ErrorAt) -> pl.Series:
    """Make a column non-empty text without surrounding blanks; whole floats lose their ``.0``."""
    column = column.alias(target)
    if column.dtype.is_nested() or column.dtype == pl.Object:
        raise error(f"expected text as {target}, got a column of {column.dtype.base_type()}", None)
    if column.dtype.is_float():
        value = pl.col(target).fill_nan(None)
        whole = value.cast(pl.Int64, strict=False)
        text = pl.when(value == whole).then(whole.cast(pl.String)).otherwise(value.cast(pl.String))
        column = column.to_frame().select(text.alias(target)).to_series()
    try:
        column = column.cast(pl.String).str.strip_chars(BLANKS)
    except pl.exceptions.PolarsError:
        raise error(f"expected text as {target}, got a column of {column.dtype.base_type()}", None) from None
    empty = (column.is_null() | (column == "")).fill_null(True)
    if empty.any():
        raise error(f"expected {with_article(target)}, got nothing", empty.arg_true()[0])
    return column


def with_points(column: pl.Series) -> pl.Series:
    """Numbers as text with a point where they have a decimal comma; anything else as it is.

    >>> with_points(pl.Series(["0,5", " 12 ", "1.5", "1,5,2"])).to_list()
    ['0.5', '12', '1.5', '1,5,2']
    """
    if column.dtype != pl.String:
        return column
    return column.str.strip_chars(BLANKS).str.replace(_DECIMAL_COMMA, "$1.$2")


def _finite(column: pl.Series, target: str, error: ErrorAt) -> pl.Series:
    """Make a column finite floats."""
    given = column
    if column.dtype == pl.String:
        column = column.str.strip_chars(BLANKS).cast(pl.Float64, strict=False)
    elif column.dtype.is_numeric() or column.dtype == pl.Boolean:
        column = column.cast(pl.Float64)
    else:
        raise error(f"expected numbers as {target}, got a column of {column.dtype.base_type()}", None)
    good = column.is_finite().fill_null(False)
    if not good.all():
        row = (~good).arg_true()[0]
        came = "nothing" if given[row] in (None, "") else shown(given[row])
        raise error(f"expected a finite number as {target}, got {came}", row)
    return column.alias(target)


def _whole(values: pl.Series, error: ErrorAt, *, least: int | None) -> pl.Series:
    """Make ranks and groups integers."""
    good = (values == values.round()) & (values.abs() < 2**53)
    if least is not None:
        good &= values >= least
    if not good.all():
        row = (~good).arg_true()[0]
        wanted = "a whole number" if least is None else f"a whole number of {least} or more"
        raise error(f"expected {wanted} as {values.name}, got {values[row]:g}", row)
    return values.cast(pl.Int64)


def _descriptions(frame: pl.DataFrame, names: Sequence[str], document: int, error: ErrorAt) -> list[pl.Series]:
    """All other columns of metadata; those without a name are dropped."""
    others: dict[str, pl.Series] = {}
    for place, given in enumerate(name.strip() for name in names):
        name = fold(given) if fold(given) in _KNOWN_DESCRIPTIONS else given
        if place == document or not name:
            continue
        if name in others or name == "document":
            raise error(f"expected distinct names of columns, got {shown(name)} twice", None)
        column = frame.to_series(place).alias(name)
        is_text = fold(name) in _DESCRIPTIONS and not column.dtype.is_nested() and column.dtype != pl.Object
        others[name] = column.cast(pl.String) if is_text else column
    return list(others.values())


def negated(distance: pl.Expr) -> pl.Expr:
    """Turn distances into scores and back, without making a negative zero."""
    return pl.when(distance == 0).then(0.0).otherwise(-distance)


def column_of(name: str, values: Sequence[object]) -> pl.Series:
    """Make a column of Python values: of one type where they have one, else of floats or of text.

    >>> column_of("doc", [7, "a", None]).to_list()
    ['7', 'a', None]
    """
    try:
        try:
            return pl.Series(name, values)
        except (TypeError, OverflowError, pl.exceptions.PolarsError):
            if all(value is None or isinstance(value, Number) for value in values):
                numbers = [None if value is None else float(value) for value in values]  # type: ignore[arg-type]
                return pl.Series(name, numbers, dtype=pl.Float64)
            return pl.Series(name, [None if value is None else str(value) for value in values], dtype=pl.String)
    except (UnicodeEncodeError, OverflowError, RecursionError) as fault:
        raise InputError(f"expected values that can be stored as {name}, got {shown(fault)}") from None


def refuse(frame: pl.DataFrame, columns: Sequence[str], pattern: str, wanted: str) -> None:
    """Raise for the first identifier that a file could not hold and give back."""
    for name in columns:
        if name in frame.columns:
            bad = frame[name].str.contains(pattern).fill_null(False)
            if bad.any():
                raise InputError(f"expected {with_article(name)} {wanted}, got {shown(frame[name].filter(bad)[0])}")
