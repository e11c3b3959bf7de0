"""Systems by patterns in time and pitch: rhythm, harmony, and rhythm together with timbre.

Systems by timbre: what instruments and voices sound like, whatever they play.
"""

from __future__ import annotations

from adjudge.arrays import Floats, Ints
from adjudge.audio.systems.base import Distances, Sounds, baseline
from adjudge.audio.systems.distances import BestRotation, Euclidean, SymmetricKL, mutual_proximity, symmetric_kl
from adjudge.errors import AdjudgeError


@baseline("timbre", needs=("timbre",))
def timbre(sounds: Sounds) -> SymmetricKL:
    """Timbre as one Gaussian of MFCCs, by symmetric Kullback-Leibler divergence.

    The system of Mandel and Ellis, ISMIR 2005; known for its hubs. See
    :class:`~adjudge.audio.systems.distances.SymmetricKL`.
    """
    from adjudge.audio.features.timbre import unpack

    return symmetric_kl(*unpack(sounds.features["timbre"]))


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
        raise AdjudgeError(f"expected chroma, a multiple of 12 numbers a document, got {values.shape[1]}")
    return BestRotation(values.reshape(len(values), -1, 12))


@baseline("combined", needs=("timbre", "rhythm"))
def combined(sounds: Sounds) -> Distances:
    """Timbre and rhythm, each after mutual proximity, in equal parts.

    Mutual proximity makes both of one scale, shares of documents, so that neither has to be weighed by hand.
    """
    return Mean((timbre_mp(sounds), mutual_proximity(rhythm(sounds), len(sounds))))


class Mean:
    """The mean of several distances."""

    def __init__(self, parts: tuple[Distances, ...]) -> None:
        self._parts = parts

    def rows(self, places: Ints) -> Floats:
        """Distances from the documents at these places to all documents, places x documents."""
        first, *others = self._parts
        found = first.rows(places)
        for part in others:
            found += part.rows(places)
        found /= len(self._parts)
        return found
