"""Names that people give to columns, and the plain table that any frame with such columns becomes.

Names are compared without case, blanks, hyphens and underscores: ``Query-ID``, ``query_id`` and ``queryid`` are one.
A name that often holds text (``query``, ``document``, ``track`` …) gives way to an identifier beside it (``query_id``),
and Terrier's internal ``docid`` to its ``docno``; any other two columns for the same thing are refused.

Identifiers become text without surrounding blanks (7 and 7.0 become ``"7"``, ``"007"`` stays), scores and grades finite
floats, ranks integers. Distances become scores by changing their sign. An optional column that is empty altogether is
dropped. Where judgments have no grade but a ``group``, as partially ordered lists have, the last group of each query
becomes grade 1, the one before it 2.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from numbers import Number

import polars as pl

from adjudge.errors import InputError, shown
from adjudge.formats.base import Kind
from adjudge.formats.levels import graded
from adjudge.formats.text import BLANKS, with_article

ErrorAt = Callable[[str, int | None], InputError]
"""Builds the error for a message and the row (from 0) it is about, if any."""

_QUERY = ("query", "qid", "queryid", "topic", "topicid")
_DOCUMENT = ("document", "doc", "docid", "documentid", "docno", "corpusid", "did", "track", "trackid", "item", "itemid")
_RUNS = {
    "system": ("system", "run", "runid", "runname", "tag", "method", "model"),
    "query": _QUERY,
    "document": _DOCUMENT,
    "score": ("score", "sim", "similarity", "distance", "dist"),
    "rank": ("rank",),
    "team": ("team",),
}
_JUDGMENTS = {
    "query": _QUERY,
    "document": _DOCUMENT,
    "grade": ("grade", "relevance", "label", "rel", "relevancescore", "judgment", "judgement", "fine", "broad"),
    "assessor": ("assessor", "assessorid", "judge", "annotator", "user", "worker"),
    "subtopic": ("subtopic", "subtopicid", "iteration", "iter"),
}
_METADATA: dict[str, tuple[str, ...]] = {"document": (*_DOCUMENT, "id")}
KNOWN: dict[Kind, dict[str, tuple[str, ...]]] = {"runs": _RUNS, "judgments": _JUDGMENTS, "metadata": _METADATA}
"""Folded names of every column, by kind of table and canonical name."""

_NEEDED = {"runs": ("query", "document"), "judgments": ("query", "document", "grade"), "metadata": ("document",)}
_DISTANCES = {"distance", "dist"}
_NUMBERS = {"score", "grade", "rank", "group"}
_OFTEN_TEXT = {"query", "topic", "document", "doc", "track", "item", "id"}
_DESCRIPTIONS = {"artist", "genre", "title", "album", "name", "style", "composer"}
_KNOWN_DESCRIPTIONS = {*_DESCRIPTIONS, "year", "label", "duration"}


def fold(name: str) -> str:
    """Fold a name into the form in which names are compared.

    >>> fold(" Query-ID ")
    'queryid'
    """
    return re.sub(r"[\s_-]", "", name).casefold()


def is_header(names: Sequence[str], kind: Kind) -> bool:
    """Whether a line of text holds names of columns: one for a query or a document is enough, or any two.

    >>> is_header(["qid", "clip", "value"], "judgments"), is_header(["q1", "d1", "2"], "judgments")
    (True, False)
    """
    folded = [fold(name) for name in names]
    if kind == "metadata":
        return not _DESCRIPTIONS.union(_METADATA["document"]).isdisjoint(folded)
    if not {*_QUERY, *_DOCUMENT}.isdisjoint(folded):
        return True
    return sum(any(name in known for known in KNOWN[kind].values()) for name in folded) > 1


def canonical_frame(
    frame: pl.DataFrame, kind: Kind, *, name: str, error: ErrorAt, names: Sequence[str] | None = None
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
    columns = [_typed(frame.to_series(place), names[place], target, error) for target, place in places.items()]
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
    folded = [fold(name) for name in names]
    places: dict[str, int] = {}
    for target, known in KNOWN[kind].items():
        held, found = target, _named(folded, known)
        if not found and target == "grade":
            held, found = _without_grades(folded)
        found = sure_identifiers(found, folded)
        if len(found) > 1:
            several = " and ".join(shown(names[i]) for i in found)
            raise error(f"expected one column for the {held}, got {several}", None)
        if found:
            places[held] = found[0]
        elif target in _NEEDED[kind]:
            came = ", ".join(shown(name) for name in names[:8]) + (", …" if len(names) > 8 else "")
            raise error(f"expected a column for the {target} ({', '.join(known[:4])}, …), got the columns {came}", None)
    if kind == "runs":
        _refuse_judgments(names, folded, places, error)
    return places


def _refuse_judgments(names: Sequence[str], folded: list[str], places: dict[str, int], error: ErrorAt) -> None:
    """Refuse a table with grades and nothing that only runs have: as a run it would be a system nobody built."""
    graded = _named(folded, KNOWN["judgments"]["grade"])
    if graded and not {"system", "score", "rank"} & set(places):
        raise error(
            f"expected a run, got judgments: a column {shown(names[graded[0]])}, but no score, rank or system", None
        )


def _named(folded: Sequence[str], known: Sequence[str]) -> list[int]:
    return [i for i, name in enumerate(folded) if name in known]


def _without_grades(folded: Sequence[str]) -> tuple[str, list[int]]:
    """What holds grades where nothing is called so: BEIR's ``score``, or the groups of partially ordered lists."""
    scores = _named(folded, ("score",))
    return ("grade", scores) if scores else ("group", _named(folded, ("group",)))


def sure_identifiers(found: list[int], folded: list[str]) -> list[int]:
    """Of several columns for one thing, those that are surely identifiers."""
    if len(found) > 1:
        found = [i for i in found if folded[i] not in _OFTEN_TEXT] or found
    if any(folded[i] == "docno" for i in found):
        found = [i for i in found if folded[i] != "docid"]
    return found


def _typed(column: pl.Series, name: str, target: str, error: ErrorAt) -> pl.Series | None:
    """One column under its canonical name and type; an optional one without any value is None."""
    if target not in {"query", "document", "grade", "group"} and column.null_count() == len(column):
        return None
    if target not in _NUMBERS:
        return identifiers(column, target, error)
    values = _finite(column, target, error)
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
