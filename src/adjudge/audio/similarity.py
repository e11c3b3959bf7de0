r"""How alike documents sound, for the estimation of relevance (``--sound``).

Timbre, rhythm and harmony each have a distance (see :mod:`adjudge.audio.systems`): symmetric Kullback-Leibler
divergence of MFCCs, Euclidean distance of fluctuation patterns, and of chroma in the best of 12 keys. Mutual proximity
makes each a similarity: the probability that another document is farther from both than they are from one another,

.. math:: S(x, y) = (1 - F_x(d_{xy})) (1 - F_y(d_{xy})), \quad F_x(d) = \Phi\left(\frac{\log d - m_x}{s_x}\right)

with m and s the mean and standard deviation of the logarithms of a document's distances to others. Similarity is the
mean of the three: from 0 to 1, without units or weights. On the synthesised sound of four demos, a random effect within
queries whose covariance is this similarity raised the log-likelihood of the judgments 1.6 times as much as one of
timbre alone (by 192 to 270 against 144 to 164). Timbre by exp(-d/c) would do better with the best c (195 to 234), but
that c is unknown in practice.

Schnitzer, Flexer, Schedl, Widmer: Local and global scaling reduce hubs in space, Journal of Machine Learning Research
13, 2871-2902, 2012, https://jmlr.org/papers/v13/schnitzer12a.html
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from adjudge.arrays import Floats, Ints
from adjudge.audio.systems.base import Distances, Sounds
from adjudge.audio.systems.baselines import rhythm, timbre, tonal
from adjudge.audio.systems.distances import split_places
from adjudge.errors import AdjudgeError
from adjudge.registry import unknown

if TYPE_CHECKING:
    from adjudge.audio.library.folder import Library

ASPECTS: Mapping[str, Callable[[Sounds], Distances]] = {"timbre": timbre, "rhythm": rhythm, "tonal": tonal}
"""Aspects to compare, each by the baseline system and the audio feature of that name."""
MOST_OTHERS = 1000
"""Documents to which distances are measured for m and s, spread evenly over larger libraries."""
_CACHE_SIZE = 4_000_000  # similarities


def sound_similarity(
    library: Library | str | Path,
    aspects: Sequence[str] = tuple(ASPECTS),
    *,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> SoundSimilarity:
    """Similarity of the documents of a library, or of the library in a folder; missing features are computed.

    ``aspects=["timbre"]`` is what the thesis compared (T 7.2.3), after mutual proximity.
    """
    from adjudge.audio.features.extract import extract_library
    from adjudge.audio.library.folder import open_library

    opened = open_library(library) if isinstance(library, str | Path) else library
    names = _check_aspects(aspects)
    features = extract_library(opened, names, workers=workers, progress=progress)
    return SoundSimilarity(opened.documents, features.values)


def _check_aspects(names: Iterable[str]) -> list[str]:
    for name in (names := list(dict.fromkeys(names))):
        if name not in ASPECTS:
            raise unknown("aspect of sound", name, ASPECTS)
    return names


class SoundSimilarity:
    """Similarity of documents by their sound, from features: documents x numbers by aspect.

    :meth:`among` computes similarities on demand and caches them, because callers ask for the same few documents of a
    query repeatedly. ``digest`` identifies documents, features and aspects.

    >>> alike = SoundSimilarity(["a", "b", "c"], {"rhythm": np.array([[0.0], [1.0], [9.0]])})
    >>> alike.among(["a", "b", "unknown"]).round(2)
    array([[1.  , 0.71,  nan],
           [0.71, 1.  ,  nan],
           [ nan,  nan,  nan]])
    """

    def __init__(self, documents: Sequence[str], features: Mapping[str, Floats]) -> None:
        if not features:
            raise AdjudgeError("Sound: expected features of documents, got none.")
        _check_aspects(features)
        for name, values in features.items():
            if len(values) != len(documents):
                raise AdjudgeError(f"Sound: expected {name} of {len(documents):,} documents, got {len(values):,}.")
        self._place = {document: place for place, document in enumerate(documents)}
        if len(self._place) < max(2, len(documents)):
            raise AdjudgeError(f"Sound: expected two documents or more, each once, got {len(self._place)}.")
        self._features = {name: np.ascontiguousarray(values, dtype=np.float64) for name, values in features.items()}
        self._fits = {name: self._fit_logarithms(name) for name in self._features}
        self._cache: dict[tuple[str, ...], Floats] = {}
        digest = hashlib.sha256("\n".join(self._place).encode())
        for name, values in sorted(self._features.items()):
            digest.update(f"\0{name}\0{values.shape}\0".encode() + values.tobytes())
        self.digest = digest.hexdigest()

    def __len__(self) -> int:
        return len(self._place)

    def __contains__(self, document: object) -> bool:
        return document in self._place

    @property
    def aspects(self) -> tuple[str, ...]:
        """The aspects that are compared."""
        return tuple(self._features)

    def __repr__(self) -> str:
        return f"SoundSimilarity({len(self):,} documents by {', '.join(self.aspects)})"

    def among(self, documents: Sequence[str]) -> Floats:
        """Documents x documents, symmetric, 1 on the diagonal; NaN in rows and columns of unknown documents."""
        wanted = tuple(documents)
        if wanted not in self._cache:
            similarities = np.full((len(wanted), len(wanted)), np.nan)
            rows = np.array([row for row, document in enumerate(wanted) if document in self._place], dtype=np.int64)
            places = np.array([self._place[wanted[row]] for row in rows], dtype=np.int64)
            if len(places):
                mean = np.mean([self._proximity(name, places) for name in self._features], axis=0)
                similarities[np.ix_(rows, rows)] = np.where(places[:, None] == places, 1.0, mean)
            if sum(block.size for block in self._cache.values()) + similarities.size > _CACHE_SIZE:
                self._cache.clear()
            self._cache[wanted] = similarities
        return self._cache[wanted].copy()

    def _proximity(self, name: str, places: Ints) -> Floats:
        """Mutual proximity of some documents in one aspect."""
        floor, mean, deviation = self._fits[name]
        distances = self._distances(name, places).rows(np.arange(len(places)))
        logs = np.log(np.maximum(np.minimum(distances, distances.T), floor))
        farther = ndtr((mean[places, None] - logs) / deviation[places, None])
        return np.asarray(farther * farther.T, dtype=np.float64)

    def _distances(self, name: str, places: Ints | slice) -> Distances:
        import polars as pl

        return ASPECTS[name](Sounds((), {name: self._features[name][places]}, pl.DataFrame()))

    def _fit_logarithms(self, name: str) -> tuple[float, Floats, Floats]:
        """The least distance, a millionth of the median; mean and deviation of the logarithms of distances."""
        n = len(self)
        distances, floor = self._distances(name, slice(None)), 0.0
        total, squares = np.zeros(n), np.zeros(n)
        others = np.unique(np.linspace(0, n - 1, min(n, MOST_OTHERS)).round().astype(np.int64))
        shift = 0.0
        for part in split_places(others, n):
            rows = distances.rows(part)
            if not floor:
                floor = 1e-6 * max(float(np.median(rows)), np.finfo(np.float64).tiny)
                shift = float(np.log(np.maximum(rows, floor)).mean())  # so that squares do not cancel
            logs = np.log(np.maximum(rows, floor)) - shift
            logs[np.arange(len(part)), part] = 0.0
            total += logs.sum(axis=0)
            squares += (logs**2).sum(axis=0)
        count = np.full(n, float(len(others)))
        count[others] -= 1
        mean = total / count
        deviation = np.sqrt(np.maximum(squares / count - mean**2, 0.0))
        return floor, mean + shift, np.where(deviation > 1e-9, deviation, np.inf)
