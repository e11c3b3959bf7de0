"""What a baseline system is, and what systems share: labels of documents, and chance.

A system is a registered function that looks at all documents once and returns an object that computes distances from
some documents to all of them. A full matrix is never needed: runs, neighbours and statistics take one block of rows
after another, in bounded memory.

Documents share an artist, an album or a genre as their tags are written (:class:`Labels`). Random choices depend on the
seed and on names only (:func:`hash_names`): they are the same whatever else is in a library, and in any order.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from adjudge.arrays import Floats, Ints, Keys, Mask
from adjudge.registry import Registry

if TYPE_CHECKING:
    import polars as pl
    from scipy.sparse import csr_array

BASELINES: Registry[Baseline] = Registry("baseline system", "adjudge.audio.systems.*")
NO_ARTIST = frozenset({"", "unknown", "unknownartist", "various", "variousartists", "va", "v.a.", "<unknown>", "n/a"})
"""Values of the artist that name nobody, without white space."""


@dataclass(frozen=True, eq=False)
class Sounds:
    """Documents with everything that systems may look at, in the order of ``documents``.

    ``features`` are documents x numbers by name of the audio feature, ``tracks`` is a table of text with one row per
    document (artist, genre, title, …; null where unknown), and ``seed`` decides random choices.
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


def baseline(name: str, *, needs: tuple[str, ...] = ()) -> Callable[[Start], Start]:
    """Register a system under its name, with the first line of its docstring; the function comes back unchanged."""

    def register(start: Start) -> Start:
        BASELINES.add(name, Baseline(name, (start.__doc__ or "").partition("\n")[0], needs, start))
        return start

    return register


class Labels:
    """The labels of documents in one column; unknown where the column is empty or missing.

    A document may have several artists, ``A; B``: two documents have an artist in common where they share any of them.
    "Various artists" and "unknown" name nobody.

    >>> import polars as pl
    >>> artists = Labels(pl.DataFrame({"artist": ["A", "b ; a", "B", None, "Various Artists"]}), "artist")
    >>> artists.known.tolist()
    [True, True, True, False, False]
    >>> artists.same(np.array([1])).toarray().tolist()
    [[1, 1, 1, 0, 0]]
    """

    def __init__(self, tracks: pl.DataFrame, column: str) -> None:
        values = tracks[column].to_list() if column in tracks.columns else [None] * tracks.height
        parts = [
            [] if value is None else str(value).split(";") if column == "artist" else [str(value)] for value in values
        ]
        nobody = NO_ARTIST if column == "artist" else {""}
        names = [dict.fromkeys(name for part in split if (name := fold_label(part)) not in nobody) for split in parts]
        self._incidence = build_incidence([list(labels) for labels in names])
        self.known: Mask = np.diff(self._incidence.indptr) > 0

    @property
    def n_known(self) -> int:
        """Number of documents whose label is known."""
        return int(self.known.sum())

    def same(self, places: Ints) -> csr_array:
        """1 where documents share a label with those at these places, and with themselves: places x documents."""
        same = self._incidence[places] @ self._incidence.T
        same.data[:] = 1
        return same

    def match(self, first: Ints, second: Ints) -> Mask:
        """Whether the documents of two lists share a label, pair by pair."""
        both = self._incidence[first].multiply(self._incidence[second])
        return np.asarray(both.sum(axis=1) > 0)


def build_incidence(labels: Sequence[Sequence[str]]) -> csr_array:
    """Documents x labels, with a 1 for each label of a document."""
    from scipy.sparse import csr_array

    place: dict[str, int] = {}
    columns = np.array([place.setdefault(name, len(place)) for names in labels for name in names], dtype=np.int64)
    ends = np.concatenate([[0], np.cumsum([len(names) for names in labels], dtype=np.int64)])
    ones = np.ones(len(columns), dtype=np.int32)
    return csr_array((ones, columns, ends), shape=(len(labels), max(1, len(place))))


def fold_label(text: str) -> str:
    """A label as it is compared: without white space and case, and in one Unicode form (NFKC).

    >>> fold_label("The  BEATLES") == fold_label("the beatles")
    True
    """
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def hash_names(names: Iterable[str], *, seed: int, about: str) -> Keys:
    """A number of 64 bits per name, which depends on the seed and on what it is needed for.

    >>> hash_names(["a", "b"], seed=0, about="x")[0] == hash_names(["a"], seed=0, about="x")[0]
    np.True_
    """
    start = hashlib.blake2b(f"{seed}\0{about}\0".encode(), digest_size=8)
    hashes = []
    for name in names:
        name_hash = start.copy()
        name_hash.update(name.encode())
        hashes.append(int.from_bytes(name_hash.digest(), "little"))
    return np.array(hashes, dtype=np.uint64)


def hash_pairs(keys: Keys, places: Ints) -> Keys:
    """A number of 64 bits per pair, the same both ways: places x documents.

    The sum of two keys goes through the finaliser of SplitMix64 (Steele, Lea, Flood 2014, doi:10.1145/2660193.2660195).
    """
    mixed = keys[places, None] + keys
    mixed ^= mixed >> np.uint64(30)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed
