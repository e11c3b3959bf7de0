"""Which team made which system: a file of two columns."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from adjudge.formats.columns import places_of
from adjudge.formats.paths import STDIN, open_source
from adjudge.formats.two_columns import Order, read_two_columns

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
    return read_two_columns(source, "system", "team", _header)


def _header(fields: list[str]) -> Order | None:
    system, team = places_of(fields, "system", needed=True), places_of(fields, "team")
    return (system[0], team[0]) if system and team else None
