"""Strata of queries that are documents themselves, as in music similarity: what the metadata say of the query."""

from __future__ import annotations

from collections.abc import Sequence

from adjudge.errors import AdjudgeError, shown
from adjudge.model.collection import Collection
from adjudge.model.metadata import Metadata


def strata_of(known: Collection | Metadata, column: str, queries: Sequence[str] | None = None) -> dict[str, str]:
    """The value of a column, such as the genre, for every query that is a document: query to stratum.

    Without ``queries`` they are the judged ones of the collection, or every document of the metadata. A query without
    a value is refused, since strata of some queries only would not balance anything.

    >>> from adjudge.embedded import demo
    >>> genres = strata_of(demo(queries=10), "genre")
    >>> len(genres), len(set(genres.values()))
    (10, 10)
    """
    metadata = known.metadata if isinstance(known, Collection) else known
    if metadata is None:
        raise AdjudgeError(f"strata by {shown(column)} need metadata of the documents that queries are, got none")
    codes, names = metadata.values(column)
    if queries is None:
        judgments = known.need_judgments() if isinstance(known, Collection) else None
        queries = tuple(metadata.documents if judgments is None else judgments.queries)
        queries = queries if judgments is None else queries[: judgments.n_queries]
    places = metadata.documents.find(list(queries))
    stratum = [-1 if place < 0 else int(codes[place]) for place in places.tolist()]
    missing = [query for query, code in zip(queries, stratum, strict=True) if code < 0]
    if missing:
        raise AdjudgeError(
            f"expected {shown(column)} in the metadata for every query, got none for {shown(missing[0])}"
            + (f" and {len(missing) - 1} others" if len(missing) > 1 else "")
        )
    return {query: names[code] for query, code in zip(queries, stratum, strict=True)}
