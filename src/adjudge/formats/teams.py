"""Which team made which system: a file of two columns."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

from adjudge.errors import shown
from adjudge.formats.columns import KNOWN, fold
from adjudge.formats.paths import STDIN, open_source
from adjudge.formats.source import Source

Inputs = list[tuple[str, str]]
"""Names and digests of the files that were read."""


def read_teams(teams: Mapping[str, str] | str | Path | None, inputs: Inputs) -> Mapping[str, str] | None:
    """Teams by system, as given or from a file of CSV or TSV; the file is noted in ``inputs`` with its digest.

    Columns are system and team, or what a header says.
    """
    if teams is None or isinstance(teams, Mapping):
        return teams
    source = open_source(STDIN if teams == "-" else Path(teams))
    inputs.append((source.name, source.sha256))
    source.uncommented()
    table: dict[str, str] = {}
    order, first = (0, 1), source.head(1)[0]
    separator = next((sign for sign in "\t,;" if sign in first), ",")
    for i, (number, line) in enumerate(source.lines()):
        fields = _fields(line, separator, source, number)
        if i == 0 and _is_header(fields):
            order = (1, 0) if fold(fields[0]) == "team" else (0, 1)
            continue
        system, team = fields[order[0]], fields[order[1]]
        if table.setdefault(system, team) != team:
            message = f"expected one team for the system {shown(system)}, got {shown(table[system])} and {shown(team)}"
            raise source.error(message, number)
    return table


def _fields(line: str, separator: str, source: Source, number: int) -> list[str]:
    """Split a line into two fields that may be quoted."""
    try:
        fields = [field.strip() for field in next(csv.reader([line], delimiter=separator, strict=True))]
    except csv.Error as error:
        raise source.error(f"expected fields with balanced quotes, got {shown(error)}", number) from None
    if len(fields) != 2:
        raise source.error(f"expected two columns, system and team, got {len(fields)}", number)
    if not all(fields):
        raise source.error("expected a system and its team, got nothing for one of them", number)
    return fields


def _is_header(fields: list[str]) -> bool:
    first, second = (fold(field) for field in fields)
    known = KNOWN["runs"]["system"]
    return (first in known and second == "team") or (first == "team" and second in known)
