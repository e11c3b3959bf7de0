"""What similarity of documents says of relevance: documents that sound alike are about as relevant to a query.

The cluster hypothesis (Hearst and Pedersen 1996, doi:10.1145/243199.243216) as a Gaussian effect: within a query, the
relevance of two documents varies together as far as they are similar. Similarities of the documents of a query become a
covariance K in two steps. Centring, K = H S H with H = I - 11'/n, takes out what all of them have in common, which
belongs to the query; negative eigenvalues, which a similarity may have and a covariance may not, count as 0. Then K is
kept as loadings, K ≈ L L', of its few largest eigenvalues. Where the last of these would be one of several that are
equal, none of them is kept, for which came first would be chance: documents that are all as unlike share nothing. One
factor for all queries makes the mean of diagonals 1, so that the variance of the effect is comparable with others, and
a query whose documents sound much the same has little of it. Similarities without any order stay a covariance of
nothing in particular, and judgments make its variance small.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.relevance.features import Evidence

MOST_EFFECTS = 6
"""Most effects of sound within a query."""
_LEAST = 1e-9  # eigenvalues below this, or this share of the largest, are rounding: similarities go up to 1
_EQUAL = 1e-6  # eigenvalues that differ by less than this share are equal
_STEPS = 4  # into how many what loadings leave of the diagonal is rounded, as few variances are quick to draw from


@dataclass(frozen=True, eq=False)
class SoundEffects:
    """Effects of sound in queries: ``value[e]`` is how much pair ``pair[e]`` has of effect ``number[e]`` of its query.

    ``own`` is what of the diagonal of K effects leave to each pair, in quarters; 1 for pairs without sound, whose sound
    is like nothing else. ``heard`` says which pairs have sound.
    """

    pair: Ints
    number: Ints
    value: Floats
    own: Floats
    heard: Mask


def sound_effects(evidence: Evidence, *, most: int = MOST_EFFECTS) -> SoundEffects:
    """Effects of sound of all pairs."""
    n, offsets = len(evidence.candidates), evidence.candidates.offsets
    heard, loadings, kept = np.zeros(n, dtype=np.bool_), [], []
    diagonal = np.zeros(n)
    for query, alike in enumerate(evidence.alike):
        places = 1 + np.flatnonzero(~np.isnan(np.diagonal(alike)[1:]))
        pairs = places - 1 + int(offsets[query])
        heard[pairs] = True
        found = _loadings(alike[np.ix_(places, places)])
        diagonal[pairs] = (found**2).sum(axis=1)
        loadings.append(_largest(found, most))
        kept.append(pairs)
    scale = float(diagonal[heard].mean()) if heard.any() else 0.0
    root = np.sqrt(scale) if scale > 0 else 1.0
    own = np.ones(n)
    for pairs, found in zip(kept, loadings, strict=True):
        left = (diagonal[pairs] - (found**2).sum(axis=1)) / root**2
        own[pairs] = np.round(_STEPS * np.clip(left, 0.0, None)) / _STEPS
    return SoundEffects(
        np.concatenate([np.repeat(pairs, found.shape[1]) for pairs, found in zip(kept, loadings, strict=True)]),
        np.concatenate([np.tile(np.arange(found.shape[1]), len(found)) for found in loadings]),
        np.concatenate([found.ravel() for found in loadings]) / root,
        own,
        heard,
    )


def _loadings(alike: Floats) -> Floats:
    """Loadings L with H S H = L L', documents x effects, the largest first; none where there are fewer than two."""
    if len(alike) < 2:
        return np.zeros((len(alike), 0))
    centred = alike - alike.mean(axis=0) - alike.mean(axis=1)[:, None] + alike.mean()
    values, vectors = np.linalg.eigh((centred + centred.T) / 2)
    kept = np.flatnonzero(values > _LEAST * max(values[-1], 1.0))[::-1]
    loadings: Floats = vectors[:, kept] * np.sqrt(values[kept])
    return loadings


def _largest(loadings: Floats, most: int) -> Floats:
    """The first few loadings, without those as large as the first that is left out."""
    sizes = (loadings**2).sum(axis=0)
    first = loadings[:, :most]
    return first[:, sizes[:most] > (1 + _EQUAL) * sizes[most]] if len(sizes) > most else first
