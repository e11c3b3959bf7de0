"""What a baseline system is: distances between the documents of a library, a block of rows at a time.

Systems are registered functions that look at all documents once and give an object that computes distances from some
documents to all of them. So a full matrix is never needed: runs, neighbours and statistics take one block of rows after
another, in bounded memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from adjudge.arrays import Floats, Ints
from adjudge.registry import Registry

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class Sounds:
    """Documents with all that systems may look at; everything in the order of ``documents``.

    ``features`` are documents x numbers by name of the audio feature, ``tracks`` a table of text with a row a document
    (artist, genre, title, …; null where unknown), ``seed`` decides what is left to chance.
    """

    documents: tuple[str, ...]
    features: Mapping[str, Floats]
    tracks: pl.DataFrame
    seed: int = 0

    def __len__(self) -> int:
        return len(self.documents)


class Distances(Protocol):
    """Distances of a system: 0 or more, symmetric, smaller is more similar."""

    def rows(self, places: Ints) -> Floats:
        """Distances from the documents at these places to all documents, places x documents."""


Start = Callable[[Sounds], Distances]


@dataclass(frozen=True)
class Baseline:
    """A registered system: what it does in one sentence, the audio features it needs, and how it starts."""

    name: str
    about: str
    needs: tuple[str, ...]
    start: Start


BASELINES: Registry[Baseline] = Registry("baseline system")


def baseline(name: str, *, needs: tuple[str, ...] = ()) -> Callable[[Start], Start]:
    """Register a system under its name, with the first line of its docstring; the function comes back unchanged."""

    def register(start: Start) -> Start:
        BASELINES.add(name, Baseline(name, (start.__doc__ or "").partition("\n")[0], needs, start))
        return start

    return register
