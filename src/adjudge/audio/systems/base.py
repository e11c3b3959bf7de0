"""What a baseline system is: distances between the documents of a library, a block of rows at a time.

Systems are registered functions that look at all documents once and give an object that computes distances from some
documents to all of them. So a full matrix is never needed: runs, neighbours and statistics take one block of rows after
another, in bounded memory.

What is left to chance, decided by a seed and by names: the same whatever else is in a library, and in any order.

Who and what documents have in common: artist, album, genre, as they are written in tags.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats, Ints, Keys, Mask
from adjudge.registry import Registry

if TYPE_CHECKING:
    import polars as pl
    from scipy.sparse import csr_array


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


BASELINES: Registry[Baseline] = Registry("baseline system", "adjudge.audio.systems.*")


def baseline(name: str, *, needs: tuple[str, ...] = ()) -> Callable[[Start], Start]:
    """Register a system under its name, with the first line of its docstring; the function comes back unchanged."""

    def register(start: Start) -> Start:
        BASELINES.add(name, Baseline(name, (start.__doc__ or "").partition("\n")[0], needs, start))
        return start

    return register


def keys_of(names: Iterable[str], *, seed: int, about: str) -> Keys:
    """A number of 64 bits for each name, which depends on the seed and on what it is needed for.

    >>> keys_of(["a", "b"], seed=0, about="x")[0] == keys_of(["a"], seed=0, about="x")[0]
    np.True_
    """
    start = hashlib.blake2b(f"{seed}\0{about}\0".encode(), digest_size=8)
    found = []
    for name in names:
        one = start.copy()
        one.update(name.encode())
        found.append(int.from_bytes(one.digest(), "little"))
    return np.array(found, dtype=np.uint64)


def key_rows(keys: Keys, places: Ints) -> Keys:
    """A number for each pair, the same both ways: places x documents.

    The sum of two keys goes through the finaliser of SplitMix64 (Steele, Lea, Flood 2014, doi:10.1145/2660193.2660195).
    """
    mixed = keys[places, None] + keys
    mixed ^= mixed >> np.uint64(30)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed


NOBODY = frozenset({"", "unknown", "unknownartist", "various", "variousartists", "va", "v.a.", "<unknown>", "n/a"})
"""Artists that are none, without white space."""


def folded(text: str) -> str:
    """A name as it is compared: without white space, capitals and ways of writing the same sign.

    >>> folded("The  BEATLES") == folded("the beatles")
    True
    """
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


class Labels:
    """What documents are labelled with in one column; unknown where it is empty or missing.

    Of artists there may be several, ``A; B``: documents have an artist in common where they share any of them, and
    "Various artists" or "unknown" is nobody.

    >>> import polars as pl
    >>> artists = Labels(pl.DataFrame({"artist": ["A", "b ; a", "B", None, "Various Artists"]}), "artist")
    >>> artists.known.tolist()
    [True, True, True, False, False]
    >>> artists.same(np.array([1])).toarray().tolist()
    [[1, 1, 1, 0, 0]]
    """

    def __init__(self, tracks: pl.DataFrame, column: str) -> None:
        values = tracks[column].to_list() if column in tracks.columns else [None] * tracks.height
        self._incidence = _incidence([_names(value, several=column == "artist") for value in values])
        self.known: Mask = np.diff(self._incidence.indptr) > 0

    @property
    def n_known(self) -> int:
        """Documents of which it is known."""
        return int(self.known.sum())

    def same(self, places: Ints) -> csr_array:
        """1 where documents share a label with those at these places, and with themselves: places x documents."""
        found = self._incidence[places] @ self._incidence.T
        found.data[:] = 1
        return found

    def match(self, first: Ints, second: Ints) -> Mask:
        """Whether documents of two lists, place by place, share a label."""
        both = self._incidence[first].multiply(self._incidence[second])
        return np.asarray(both.sum(axis=1) > 0)


def _names(value: object, *, several: bool) -> list[str]:
    if value is None:
        return []
    if not several:
        return [name] if (name := folded(str(value))) else []
    return list(dict.fromkeys(name for part in str(value).split(";") if (name := folded(part)) not in NOBODY))


def _incidence(names: list[list[str]]) -> csr_array:
    """Documents x labels, 1 where a document has one."""
    from scipy.sparse import csr_array

    place: dict[str, int] = {}
    columns: npt.NDArray[np.int64] = np.array(
        [place.setdefault(name, len(place)) for one in names for name in one], dtype=np.int64
    )
    ends = np.concatenate([[0], np.cumsum([len(one) for one in names], dtype=np.int64)])
    ones = np.ones(len(columns), dtype=np.int32)
    return csr_array((ones, columns, ends), shape=(len(names), max(1, len(place))))
