"""Identifiers that runs and judgments spell differently: said, and mended where there is only one way to do it.

A run none of whose documents is judged scores 0. Mostly the spelling is to blame: ``id:ns:product::sku-1`` in
one file, ``sku-1`` in the other. Then one side carries something more in all its identifiers: folders, an extension, a
prefix or a suffix. It is removed where exactly one such removal keeps the identifiers of that side distinct and makes
a tenth of the smaller side match; a note says so. Otherwise a warning shows identifiers of both sides.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import polars as pl

from adjudge.errors import shown, warn
from adjudge.model.collection import Table

_LEAST_SHARE = 0.1  # of the smaller side that must match before anything is removed
_TELLING = 20  # judged documents from which on it is strange that a run among others has none of them
_SAMPLE = 20  # rows that mostly suffice to see that a run matches: the top of a ranking
_FOLDERS = r"^.*[/\\]"
_EXTENSION = r"\.[A-Za-z0-9]{1,5}$"
_PLURALS = {"query": "queries", "document": "documents"}


def matched(judged: Sequence[Table], runs: Iterator[Table]) -> tuple[list[Table], Iterator[Table]]:
    """Judgments and runs whose queries and documents match where they can be made to.

    Judgments change by the first table of runs alone; what differs in a later one is removed from that one.
    """
    first = next(runs, None)
    if first is None:
        return list(judged), runs
    tables = list(judged)
    for column in _PLURALS:
        wanted = _unique(tables, column)
        if _has_match(first.frame[column], wanted):
            continue
        ids = first.frame[column].unique(maintain_order=True)
        if _removal(ids, wanted) is not None:
            continue
        removal = _removal(wanted, ids)
        if removal is None and column == "query":
            break  # runs for other queries say nothing of documents
        if removal is not None:
            _note(", ".join(table.source for table in judged), column, removal, "runs")
            tables = [replace(t, frame=t.frame.with_columns(removal(t.frame[column]))) for t in tables]
    return tables, _matched_runs(tables, chain([first], runs))


def _matched_runs(judged: Sequence[Table], runs: Iterator[Table]) -> Iterator[Table]:
    """The runs one by one; at the end, what is left without any judged document is said."""
    known = {column: _unique(judged, column) for column in _PLURALS}
    strangers: list[tuple[str, str]] = []
    n_tables = 0
    for table in runs:
        n_tables += 1
        for column, wanted in known.items():
            if _has_match(table.frame[column], wanted):
                continue
            ids = table.frame[column].unique(maintain_order=True)
            removal = _removal(ids, wanted)
            if removal is not None:
                _note(table.source, column, removal, "judgments")
                table = replace(table, frame=table.frame.with_columns(removal(table.frame[column])))  # noqa: PLW2901
            elif column == "query":
                break  # of which evaluating says more
            else:
                strangers.append((table.source, _some(ids)))
        yield table
        del table  # while the next one is waited for
    documents = known["document"]
    if strangers and (len(strangers) == n_tables or len(documents) >= _TELLING):
        sources = strangers[0][0] + (f" and {len(strangers) - 1} more" if len(strangers) > 1 else "")
        warn(
            f"{sources}: no document is judged. The runs have documents such as {strangers[0][1]}; "
            f"the judgments have {_some(documents)}.",
            stacklevel=4,
        )


@dataclass(frozen=True)
class _Removal:
    """Something to remove from all identifiers of one side, with an example of what that does."""

    what: str
    remove: Callable[[pl.Series], pl.Series]
    example: tuple[str, str]

    def __call__(self, column: pl.Series) -> pl.Series:
        return self.remove(column)


def _removal(ids: pl.Series, wanted: pl.Series) -> _Removal | None:
    """The only removal that makes ``ids`` match ``wanted`` and keeps them distinct; None for none or several."""
    found: list[tuple[_Removal, pl.Series]] = []
    for what, remove in _candidates(ids):
        stripped = remove(ids)
        if stripped.n_unique() < len(ids) or (stripped == "").any() or any(stripped.equals(s) for _, s in found):
            continue
        matches = stripped.is_in(wanted.implode())
        if matches.sum() >= max(1, _LEAST_SHARE * min(len(ids), len(wanted))):
            first = int(matches.arg_true()[0])
            found.append((_Removal(what, remove, (ids[first], stripped[first])), stripped))
    return found[0][0] if len(found) == 1 else None


def _candidates(ids: pl.Series) -> Iterator[tuple[str, Callable[[pl.Series], pl.Series]]]:
    """What identifiers may carry that others lack."""
    yield "folders", lambda column: column.str.replace(_FOLDERS, "")
    yield "extensions", lambda column: column.str.replace(_EXTENSION, "")
    yield "folders and extensions", lambda column: column.str.replace(_FOLDERS, "").str.replace(_EXTENSION, "")
    for prefix in _prefixes(ids):
        yield f"the prefix {shown(prefix)}", lambda column, p=prefix: column.str.strip_prefix(p)  # type: ignore[misc]
    for backwards in _prefixes(ids.str.reverse()):
        suffix = backwards[::-1]
        yield f"the suffix {shown(suffix)}", lambda column, s=suffix: column.str.strip_suffix(s)  # type: ignore[misc]


def _prefixes(ids: pl.Series) -> list[str]:
    """Beginnings that all identifiers share, up to a separator or to where a number begins.

    >>> _prefixes(pl.Series(["id:ns::sku-1", "id:ns::sku-2"])), _prefixes(pl.Series(["q301", "q302"]))
    (['id:', 'id:ns::', 'id:ns::sku-'], ['q'])
    """
    first, last = str(ids.min()), str(ids.max())
    common = first[: next((i for i, pair in enumerate(zip(first, last, strict=False)) if len({*pair}) > 1), len(first))]
    ends = [match.end() for match in re.finditer(r"[\W_]+|[^\W\d_]+(?=\d)", common)]
    if re.search(r"[^\W\d_]$", common) and ids.str.slice(len(common), 1).str.contains(r"^\d$").all():
        ends.append(len(common))
    return [common[:end] for end in ends]


def _has_match(ids: pl.Series, wanted: pl.Series) -> bool:
    """Whether any identifier is among the wanted ones, which are sorted; the first rows mostly tell."""
    for name in ids.head(_SAMPLE):
        place = bisect_left(wanted, name)
        if place < len(wanted) and wanted[place] == name:
            return True
    return bool(ids.is_in(wanted.implode()).any())


def _unique(tables: Sequence[Table], column: str) -> pl.Series:
    return pl.concat([table.frame[column] for table in tables]).unique().sort()


def _some(ids: pl.Series) -> str:
    return ", ".join(shown(name) for name in ids.head(2))


def _note(source: str, column: str, removal: _Removal, other: str) -> None:
    before, after = map(shown, removal.example)
    warn(
        f"{source}: {_PLURALS[column]} are read without {removal.what}, to match those of the {other}: "
        f"{before} is {after}.",
        stacklevel=5,
    )
