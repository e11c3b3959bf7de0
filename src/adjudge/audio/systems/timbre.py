"""Systems by timbre: what instruments and voices sound like, whatever they play."""

from __future__ import annotations

from adjudge.audio.systems.base import Distances, Sounds, baseline
from adjudge.audio.systems.distances import SymmetricKL, symmetric_kl
from adjudge.audio.systems.proximity import mutual_proximity


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

    Schnitzer et al., JMLR 13, 2012; see :mod:`adjudge.audio.systems.proximity`.
    """
    return mutual_proximity(timbre(sounds), len(sounds))
