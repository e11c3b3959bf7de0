"""Who and what documents have in common: artist, album, genre, as they are written in tags."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Ints, Mask

if TYPE_CHECKING:
    import polars as pl
    from scipy.sparse import csr_array

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
