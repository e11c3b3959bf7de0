"""Rankings from tables, long or wide, and from JSON; see :mod:`adjudge.groundtruth.files`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NoReturn

import numpy as np
import polars as pl

from adjudge.arrays import Codes, Floats, Ints
from adjudge.errors import AdjudgeError, shown
from adjudge.formats.columns import with_points
from adjudge.formats.text import BLANKS
from adjudge.groundtruth.files_table import ExpertTable, Nested, in_order
from adjudge.groundtruth.rankings import Places, RankedQuery, Rankings
from adjudge.model.coding import Vocabulary

if TYPE_CHECKING:
    from adjudge.formats.source import Source

UNRANKED = ("-", "–", "—", "unranked", "na", "n/a", "nan", "none", "null")
"""What says, beside nothing at all, that a document was left unranked; case does not count."""


def rankings_of_table(table: ExpertTable, places: Places) -> Rankings:
    """Rankings with a row a rank, or with a column an expert where no column holds ranks."""
    if "rank" in table or "expert" in table:
        expert, rank = table.needed("expert"), _ranks(table, table.needed_place("rank"))
        query, document = table.needed("query"), table.needed("document")
        row = np.arange(len(rank), dtype=np.int64)
    else:
        query, expert, document, rank, row = _melted(table)
    return _rankings(table, (query, expert, document), rank, row, places)


def _ranks(table: ExpertTable, place: int) -> Floats:
    """A column of ranks; NaN where a document was left unranked."""
    column = table.text(place)
    plain = with_points(column) if table.has_decimal_commas else column
    values = plain.cast(pl.Float64, strict=False)
    silent = column.is_null() | column.str.to_lowercase().is_in(UNRANKED).fill_null(False)
    bad = ~silent & ~((values > 0) & values.is_finite()).fill_null(False)
    name = table.names[place]
    table.refuse(
        bad.to_numpy(),
        lambda row: f"expected a rank of more than 0, or nothing, in {shown(name)}, got {shown(column[row])}",
    )
    ranks: Floats = np.where(silent.to_numpy(), np.nan, values.fill_null(np.nan).to_numpy())
    return ranks


def _melted(table: ExpertTable) -> tuple[pl.Series, pl.Series, pl.Series, Floats, Ints]:
    """The columns of experts under one another: query, expert, document, rank and the row that each came from."""
    query, document = table.needed("query"), table.needed("document")
    known = {table.place("query"), table.place("document")}
    places = [i for i in range(len(table.names)) if i not in known and not _is_surplus(table, i)]
    if not places:
        table.needed("expert")  # refused: neither ranks nor experts
    nameless = next((i for i in places if not table.names[i]), None)
    if nameless is not None:
        raise table.source.error(f"expected the name of an expert above column {nameless + 1}, got nothing")
    ranks = np.column_stack([_ranks(table, i) for i in places])
    n, m = ranks.shape
    rows = np.repeat(np.arange(n, dtype=np.int64), m)
    experts = pl.Series([table.names[i] for i in places]).gather(np.tile(np.arange(m), n))
    codes = Vocabulary().encode(query)
    asked = np.zeros((int(codes.max()) + 1, m), dtype=np.bool_)
    np.logical_or.at(asked, codes, np.isfinite(ranks))
    asked[asked.sum(axis=1) == 0] = True  # refused later, with a line
    keep = asked[codes].ravel()  # who ranked nothing for a query was not asked
    kept = np.flatnonzero(keep)
    return query.gather(rows[kept]), experts.gather(kept), document.gather(rows[kept]), ranks.ravel()[kept], rows[kept]


def _is_surplus(table: ExpertTable, place: int) -> bool:
    """Whether a column is one of the empty ones that spreadsheets append."""
    return not table.names[place] and table.text(place).null_count() == table.frame.height


def _rankings(
    table: ExpertTable, named: tuple[pl.Series, pl.Series, pl.Series], rank: Floats, row: Ints, places: Places
) -> Rankings:
    """Rankings of coded columns; ``row`` says where in the table each rank is."""
    words = [Vocabulary() for _ in named]
    query, expert, document = (vocabulary.encode(column) for vocabulary, column in zip(words, named, strict=True))
    _refuse_repeats(table, named, (query, expert, document), row)
    people, documents = np.array(list(words[1]), dtype=object), np.array(list(words[2]), dtype=object)
    order = np.argsort(query, kind="stable")
    bounds = np.searchsorted(query[order], np.arange(len(words[0]) + 1))
    queries = []
    for code, name in enumerate(words[0]):
        rows = order[bounds[code] : bounds[code + 1]]
        who, i = in_order(expert[rows])
        what, j = in_order(document[rows])
        ranks = np.full((len(who), len(what)), np.nan)
        ranks[i, j] = rank[rows]
        try:
            one = RankedQuery(name, tuple(documents[what]), tuple(people[who]), ranks)
        except AdjudgeError as error:
            raise table.error(str(error), int(row[rows[0]])) from (error if len(words[0]) > 1 else None)
        queries.append(one.counted() if places == "counted" else one)
    return Rankings(tuple(queries), places, table.source.name, table.source.sha256)


def _refuse_repeats(
    table: ExpertTable, named: tuple[pl.Series, ...], codes: tuple[Codes, Codes, Codes], row: Ints
) -> None:
    """Raise for the first rank of a document that the same expert ranked before for the same query."""
    cells = pl.DataFrame([pl.Series(str(i), one) for i, one in enumerate(codes)])
    again = np.flatnonzero(~cells.select(pl.struct(pl.all()).is_first_distinct()).to_series().to_numpy())
    if len(again):
        query, expert, document = (shown(column[int(again[0])]) for column in named)
        message = f"expected each document once from an expert, got {document} of query {query} again from {expert}"
        raise table.error(message, int(row[again[0]]))


def rankings_of_json(nested: Nested, places: Places) -> Rankings:
    """Rankings of ``{query: {expert: [[documents], …]}}`` or ``{query: {expert: {document: rank}}}``."""
    source = nested.source
    rows = list(_json_rows(source, nested.content))
    if not rows:
        raise source.error("expected at least one ranking, got none")
    try:
        return Rankings.from_rows(rows, places=places, source=source.name, sha256=source.sha256)
    except AdjudgeError as error:
        raise source.error(str(error)) from (error if len({row[0] for row in rows}) > 1 else None)


def _json_rows(source: Source, content: object) -> Iterator[tuple[str, str, str, float]]:
    if not isinstance(content, Mapping):
        _misfit(source, "{query: {expert: [[documents], …]}}", content)
    for query, experts in content.items():
        if not isinstance(experts, Mapping):
            _misfit(source, "{expert: [[documents], …]}", experts, query)
        for expert, given in experts.items():
            names = _json_name(source, query), _json_name(source, expert, query)
            if isinstance(given, Mapping):
                for document, rank in given.items():
                    name = _json_name(source, document, query, expert)
                    yield *names, name, _json_rank(source, rank, query, expert, document)
            elif isinstance(given, list):
                for place, group in enumerate(given, start=1):
                    if group == []:
                        _misfit(source, f"documents at place {place}", group, query, expert)
                    for document in group if isinstance(group, list) else [group]:
                        yield *names, _json_name(source, document, query, expert), float(place)
            else:
                _misfit(source, "documents in order", given, query, expert)


def _json_rank(source: Source, rank: object, *path: str) -> float:
    if rank is None or (isinstance(rank, str) and rank.strip(BLANKS).lower() in ("", *UNRANKED)):
        return float("nan")
    if isinstance(rank, bool) or not isinstance(rank, int | float) or not 0 < rank < float("inf"):
        _misfit(source, "a rank of more than 0, or null", rank, *path)
    return float(rank)


def _json_name(source: Source, value: object, *path: str) -> str:
    """A name; whole numbers are names, too."""
    text = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    if not text.strip(BLANKS):
        _misfit(source, "a name", value, *path)
    return text.strip(BLANKS)


def _misfit(source: Source, wanted: str, came: object, *path: str) -> NoReturn:
    where = " > ".join(path) + ": " if path else ""
    raise source.error(f"{where}expected {wanted}, got {shown(came)}")
