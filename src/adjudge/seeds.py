"""Randomness that callers control: a seed is a whole number, a generator to draw one from, or None for any."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from adjudge.checks import SEED

Seed: TypeAlias = int | np.random.Generator | None
"""Whole numbers give the same answer every time; results keep the number that was used."""

_LARGEST = 2**63


def as_seed(seed: Seed) -> int:
    """The number that everything random is drawn from.

    >>> as_seed(3), as_seed(np.random.default_rng(3)) == as_seed(np.random.default_rng(3))
    (3, True)
    >>> as_seed(-1)
    Traceback (most recent call last):
    adjudge.errors.ParameterError: 'seed' must be a whole number of at least 0, a NumPy generator or None, got -1
    """
    if seed is None:
        seed = np.random.default_rng()
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(_LARGEST))
    return int(SEED.check("seed", seed))
