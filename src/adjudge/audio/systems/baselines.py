"""The baseline systems: timbre, rhythm, harmony, timbre with rhythm, and two that do not listen.

Timbre is what instruments and voices sound like, whatever they play; rhythm and harmony are patterns in time and pitch.
The systems that do not listen, tags and chance, show how much there is to gain by listening.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.audio.systems.base import Distances, Sounds, baseline, build_incidence, hash_names, hash_pairs
from adjudge.audio.systems.distances import BestRotation, Euclidean, SymmetricKL, mutual_proximity
from adjudge.errors import AdjudgeError

if TYPE_CHECKING:
    import polars as pl
    from scipy.sparse import csr_array

NO_TAGS = frozenset({"document", "title", "artist", "seconds", "file"})
"""Columns of tracks that are no tags: title and artist give the answer away, or say nothing."""
_WORD = re.compile(r"\w+")


@baseline("timbre", needs=("timbre",))
def timbre(sounds: Sounds) -> SymmetricKL:
    """Timbre as one Gaussian of MFCCs, by symmetric Kullback-Leibler divergence.

    The system of Mandel and Ellis, ISMIR 2005; known for its hubs. See
    :class:`~adjudge.audio.systems.distances.SymmetricKL`.
    """
    from adjudge.audio.features.timbre import unpack

    return SymmetricKL(*unpack(sounds.features["timbre"]))


@baseline("timbre-mp", needs=("timbre",))
def timbre_mp(sounds: Sounds) -> Distances:
    """Timbre after mutual proximity, which takes hubs away.

    Schnitzer et al., JMLR 13, 2012; see :mod:`adjudge.audio.systems.distances`.
    """
    return mutual_proximity(timbre(sounds), len(sounds))


@baseline("rhythm", needs=("rhythm",))
def rhythm(sounds: Sounds) -> Euclidean:
    """Rhythm as fluctuation patterns, by Euclidean distance.

    Pampalk, Rauber, Merkl: Content-based organization and visualization of music archives, ACM Multimedia 2002,
    doi:10.1145/641007.641121.
    """
    return Euclidean(sounds.features["rhythm"])


@baseline("tonal", needs=("tonal",))
def tonal(sounds: Sounds) -> BestRotation:
    """Harmony as chroma, by Euclidean distance in the best of 12 keys.

    A piece and its transposition are at distance 0.
    """
    values = sounds.features["tonal"]
    if values.shape[1] % 12:
        raise AdjudgeError(f"expected chroma, a multiple of 12 numbers per document, got {values.shape[1]}")
    return BestRotation(values.reshape(len(values), -1, 12))


@baseline("combined", needs=("timbre", "rhythm"))
def combined(sounds: Sounds) -> Distances:
    """Timbre and rhythm, each after mutual proximity, in equal parts.

    Mutual proximity puts both on one scale, shares of documents, so that no weights have to be chosen.
    """
    return MeanDistances((timbre_mp(sounds), mutual_proximity(rhythm(sounds), len(sounds))))


@baseline("tags")
def tags(sounds: Sounds) -> TagDistances:
    """Words of genre, decade, album and further tags, by cosine of TF-IDF.

    Title and artist are ignored. Documents without tags are at distance 1 from all others.
    """
    return TagDistances(sounds.tracks)


@baseline("random")
def random(sounds: Sounds) -> RandomDistances:
    """Distances drawn by chance, the same both ways: what is worse than this is broken.

    They depend only on the seed and the two documents, not on the rest of the library.
    """
    return RandomDistances(sounds.documents, sounds.seed)


class MeanDistances:
    """The mean of several distances."""

    def __init__(self, parts: tuple[Distances, ...]) -> None:
        self._parts = parts

    def rows(self, places: Ints) -> Floats:
        """Distances from the documents at these places to all documents, places x documents."""
        first, *others = self._parts
        total = first.rows(places)
        for part in others:
            total += part.rows(places)
        total /= len(self._parts)
        return total


class TagDistances:
    r"""Cosine distance of tags, weighted by how rare they are.

    .. math:: D(x, y) = 1 - \frac{\sum_t w_{xt} w_{yt}}{\|w_x\| \|w_y\|}, \quad
        w_{xt} = f_{xt} \log \frac{n}{n_t}

    with f how often a document has tag t and n_t how many of the n documents have it; a tag that all have weighs 0.
    Tags are the words of every column but title and artist; an album is one tag, and a year is two: itself and its
    decade. Tags of different columns differ. ``n_tagged`` documents have a tag of some weight.

    Reference: Salton, Buckley: Term-weighting approaches in automatic text retrieval, Information Processing &
    Management 24, 1988, doi:10.1016/0306-4573(88)90021-0.

    >>> import polars as pl
    >>> tracks = pl.DataFrame({"document": ["a", "b", "c", "d"], "genre": ["Death Metal", "metal", None, "Folk"]})
    >>> TagDistances(tracks).rows(np.array([0, 2])).round(2)
    array([[0.  , 0.55, 1.  , 1.  ],
           [1.  , 1.  , 0.  , 1.  ]])
    """

    def __init__(self, tracks: pl.DataFrame) -> None:
        self._weights = _weigh_tags([list(_read_tags(row)) for row in tracks.iter_rows(named=True)])
        self.n_tagged = int((np.diff(self._weights.indptr) > 0).sum())

    def rows(self, places: Ints) -> Floats:
        """Distances from the documents at these places to all documents, places x documents."""
        cosine: Floats = (self._weights[places] @ self._weights.T).toarray()
        distances = 1.0 - np.minimum(cosine, 1.0)
        distances[distances < 1e-12] = 0.0  # the same tags, but for rounding
        distances[np.arange(len(places)), places] = 0.0
        return distances


def _read_tags(row: dict[str, str | None]) -> Iterator[str]:
    """Tags of a document, each after the name of its column."""
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


def _weigh_tags(tags: list[list[str]]) -> csr_array:
    """Documents x tags, TF-IDF, every row of length 1 or empty."""
    from scipy.sparse import csr_array, diags_array

    counts = build_incidence(tags).astype(np.float64)
    counts.sum_duplicates()
    n_documents = np.bincount(counts.indices, minlength=counts.shape[1])
    weights = counts @ diags_array(np.log(len(tags) / np.maximum(n_documents, 1)))
    length = np.sqrt(weights.power(2).sum(axis=1))
    normalised = csr_array(diags_array(1.0 / np.where(length > 0, length, 1.0)) @ weights)
    normalised.eliminate_zeros()
    return normalised


class RandomDistances:
    """Distances in (0, 1), uniform; 0 from a document to itself.

    >>> both = RandomDistances(("a", "b", "c"), seed=1).rows(np.arange(3))
    >>> bool((both == both.T).all())
    True
    """

    def __init__(self, documents: tuple[str, ...], seed: int) -> None:
        self._keys = hash_names(documents, seed=seed, about="random")

    def rows(self, places: Ints) -> Floats:
        """Distances from the documents at these places to all documents, places x documents."""
        distances = ((hash_pairs(self._keys, places) >> np.uint64(11)) + 0.5) * 2.0**-53
        distances[np.arange(len(places)), places] = 0.0
        return np.asarray(distances, dtype=np.float64)
