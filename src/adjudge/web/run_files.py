"""Files with runs, read as everywhere in Adjudge, with what the reader has to say about them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from adjudge.choices import Names
from adjudge.errors import AdjudgeWarning

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
    progress: Any = None,
) -> tuple[Collection, list[str]]:
    """Runs in any format, and notes about them; with ``metadata`` rankings can be filtered by artist."""
    from adjudge.formats import read

    notes: list[str] = []
    with noting(notes):
        collection = read(
            given,
            metadata=metadata,
            format=format_name,
            teams=teams,
            names=names,
            artist_filter=artist_filter,
            progress=progress,
        )
    return collection, notes


@contextmanager
def noting(notes: list[str]) -> Iterator[None]:
    """Collect what would be said as warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", AdjudgeWarning)
        yield
    notes.extend(str(warning.message) for warning in caught if issubclass(warning.category, AdjudgeWarning))
