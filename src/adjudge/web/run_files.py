"""Files with runs, read as everywhere in Adjudge, with what the reader has to say about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.checks import Names
from adjudge.errors import kept_warnings

if TYPE_CHECKING:
    from adjudge.model.collection import Collection


def read_runs(
    given: Any,
    *,
    metadata: Any = None,
    format_name: str | None = None,
    teams: Any = None,
    names: Names = "tag",
    artist_filter: bool | None = None,
    columns: str | None = None,
    progress: Any = None,
) -> tuple[Collection, list[str]]:
    """Runs in any format, and notes about them; with ``metadata`` rankings can be filtered by artist."""
    from adjudge.formats import read

    with kept_warnings() as notes:
        collection = read(
            given,
            metadata=metadata,
            format=format_name,
            teams=teams,
            names=names,
            artist_filter=artist_filter,
            columns=columns,
            progress=progress,
        )
    return collection, notes
