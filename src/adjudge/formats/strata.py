"""Which stratum a query belongs to, such as its genre: a file of two columns."""

from __future__ import annotations

import csv
from pathlib import Path

from adjudge.errors import shown
from adjudge.formats.columns import KNOWN, fold
from adjudge.formats.paths import open_source
from adjudge.formats.source import Source


def read_strata(path: str | Path) -> dict[str, str]:
    """Strata by query from a file of CSV or TSV, with a header or without.

    Columns are query and stratum; a header that calls its second column a query is taken at its word.
    """
    source = open_source(Path(path))
    source.uncommented()
    table: dict[str, str] = {}
    order, first = (0, 1), source.head(1)[0]
    separator = next((sign for sign in "\t,;" if sign in first), ",")
    for i, (number, line) in enumerate(source.lines()):
        fields = _fields(line, separator, source, number)
        is_query = [fold(field) in KNOWN["runs"]["query"] for field in fields]
        if i == 0 and any(is_query):
            order = (0, 1) if is_query[0] else (1, 0)
            continue
        query, stratum = fields[order[0]], fields[order[1]]
        if table.setdefault(query, stratum) != stratum:
            message = (
                f"expected one stratum of the query {shown(query)}, got {shown(table[query])} and {shown(stratum)}"
            )
            raise source.error(message, number)
    return table


def _fields(line: str, separator: str, source: Source, number: int) -> list[str]:
    """Split a line into two fields that may be quoted."""
    try:
        fields = [field.strip() for field in next(csv.reader([line], delimiter=separator, strict=True))]
    except csv.Error as error:
        raise source.error(f"expected fields with balanced quotes, got {shown(error)}", number) from None
    if len(fields) != 2:
        raise source.error(f"expected two columns, query and stratum, got {len(fields)}", number)
    if not all(fields):
        raise source.error("expected a query and its stratum, got nothing for one of them", number)
    return fields
