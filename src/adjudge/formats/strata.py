"""Which stratum a query belongs to, such as its genre: a file of two columns."""

from __future__ import annotations

from pathlib import Path

from adjudge.formats.columns import places_of
from adjudge.formats.paths import open_source
from adjudge.formats.two_columns import Order, read_two_columns


def read_strata(path: str | Path) -> dict[str, str]:
    """Strata by query from a file of CSV or TSV, with a header or without.

    Columns are query and stratum; a header that calls its second column a query is taken at its word.
    """
    return read_two_columns(open_source(Path(path)), "query", "stratum", _header)


def _header(fields: list[str]) -> Order | None:
    found = places_of(fields, "query", needed=True)
    return (found[0], 1 - found[0]) if found else None
