"""Systems that hear nothing: what tags say, and chance. They show how much there is to gain by listening."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.audio.systems.base import Sounds, baseline, key_rows, keys_of

if TYPE_CHECKING:
    import polars as pl
    from scipy.sparse import csr_array

NO_TAGS = frozenset({"document", "title", "artist", "seconds", "file"})
"""Columns of tracks that are no tags: who knows title and artist knows the answer, or nothing."""
_WORD = re.compile(r"\w+")


@baseline("tags")
def tags(sounds: Sounds) -> TagDistances:
    """Words of genre, decade, album and further tags, by cosine of TF-IDF.

    Title and artist are not looked at. Documents without tags are at distance 1 from all others.
    """
    return TagDistances(sounds.tracks)


@baseline("random")
def random(sounds: Sounds) -> RandomDistances:
    """Distances drawn by chance, the same both ways: what is worse than this is broken.

    They depend on the seed and the two documents only, not on what else is in the library.
    """
    return RandomDistances(sounds.documents, sounds.seed)


class TagDistances:
    r"""Cosine distance of tags, weighted by how rare they are.

    .. math:: D(x, y) = 1 - \frac{\sum_t w_{xt} w_{yt}}{\|w_x\| \|w_y\|}, \quad
        w_{xt} = f_{xt} \log \frac{n}{n_t}

    with f how often a document has tag t and n_t how many of the n documents have it; what all have says nothing.
    Tags are the words of every column but title and artist; an album is one tag as a whole, and a year stands for
    itself and its decade. They are kept apart by column. ``n_tagged`` documents have any that says something.

    Reference: Salton, Buckley: Term-weighting approaches in automatic text retrieval, Information Processing &
    Management 24, 1988, doi:10.1016/0306-4573(88)90021-0.

    >>> import polars as pl
    >>> tracks = pl.DataFrame({"document": ["a", "b", "c", "d"], "genre": ["Death Metal", "metal", None, "Folk"]})
    >>> TagDistances(tracks).rows(np.array([0, 2])).round(2)
    array([[0.  , 0.55, 1.  , 1.  ],
           [1.  , 1.  , 0.  , 1.  ]])
    """

    def __init__(self, tracks: pl.DataFrame) -> None:
        self._weights = _weights([list(_tags_of(row)) for row in tracks.iter_rows(named=True)])
        self.n_tagged = int((np.diff(self._weights.indptr) > 0).sum())

    def rows(self, places: Ints) -> Floats:
        """Distances from the documents at these places to all documents, places x documents."""
        cosine: Floats = (self._weights[places] @ self._weights.T).toarray()
        found = 1.0 - np.minimum(cosine, 1.0)
        found[found < 1e-12] = 0.0  # the same tags, but for rounding
        found[np.arange(len(places)), places] = 0.0
        return found


def _tags_of(row: dict[str, str | None]) -> Iterator[str]:
    """Tags of a document, each with its column before it."""
    for column, value in row.items():
        if column in NO_TAGS or value is None:
            continue
        text = unicodedata.normalize("NFKC", str(value)).casefold()
        if column == "album":
            yield f"album {' '.join(text.split())}"
        elif column == "year":
            years = re.findall(r"\d{4}", text)[:1]
            yield from (f"year {when}" for year in years for when in (year, f"{year[:3]}0s"))
        else:
            yield from (f"{column} {word}" for word in _WORD.findall(text))


def _weights(tagged: list[list[str]]) -> csr_array:
    """Documents x tags, TF-IDF, every row of length 1 or nothing."""
    from scipy.sparse import csr_array, diags_array

    place: dict[str, int] = {}
    columns = [place.setdefault(tag, len(place)) for one in tagged for tag in one]
    ends = np.concatenate([[0], np.cumsum([len(one) for one in tagged])])
    counts = csr_array((np.ones(len(columns)), columns, ends), shape=(len(tagged), max(1, len(place))))
    counts.sum_duplicates()
    having = np.bincount(counts.indices, minlength=counts.shape[1])
    weights = counts @ diags_array(np.log(len(tagged) / np.maximum(having, 1)))
    length = np.sqrt(weights.power(2).sum(axis=1))
    found = csr_array(diags_array(1.0 / np.where(length > 0, length, 1.0)) @ weights)
    found.eliminate_zeros()
    return found


class RandomDistances:
    """Distances in (0, 1), uniform; 0 from a document to itself.

    >>> both = RandomDistances(("a", "b", "c"), seed=1).rows(np.arange(3))
    >>> bool((both == both.T).all())
    True
    """

    def __init__(self, documents: tuple[str, ...], seed: int) -> None:
        self._keys = keys_of(documents, seed=seed, about="random")

    def rows(self, places: Ints) -> Floats:
        """Distances from the documents at these places to all documents, places x documents."""
        found = ((key_rows(self._keys, places) >> np.uint64(11)) + 0.5) * 2.0**-53
        found[np.arange(len(places)), places] = 0.0
        return np.asarray(found, dtype=np.float64)
