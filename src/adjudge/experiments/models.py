"""Models of the samples of an experiment, fitted once in a process: fitting draws nothing, and all trials share it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from adjudge.experiments.samples import Samples

if TYPE_CHECKING:
    from adjudge.experiments.simulation import CollectionModel

Models = tuple["CollectionModel", ...]
_MOST_KEPT = 4  # as many stay in memory, of other samples or settings
_KEPT: dict[tuple[str, ...], Models] = {}


def models_of(samples: Samples, margin: str, dependence: str) -> Models:
    """The model of every sample; ``margin`` and ``dependence`` are those of ``fit_collection``."""
    from adjudge.experiments.simulation import fit_collection

    def fit() -> Models:
        how = {"margin": margin, "dependence": dependence}
        return tuple(fit_collection(one.values, systems=one.systems, **how) for one in samples)

    return kept((samples.digest, margin, dependence), fit)


def kept(key: tuple[str, ...], make: Callable[[], Models]) -> Models:
    """What was made under this key before, or is made now; the oldest is forgotten where there are too many."""
    if key not in _KEPT:
        made = make()
        while len(_KEPT) >= _MOST_KEPT:
            _KEPT.pop(next(iter(_KEPT)))
        _KEPT[key] = made
    return _KEPT[key]
