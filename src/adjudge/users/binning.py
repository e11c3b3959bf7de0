"""Equal bins of [0, 1], closed below and the last one also above; what rounding moved across an edge is moved back."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Ints

EDGE = 1e-9
"""By how much a value may fall short of an edge and still be on it: 0.7 - 0.4 is less than 0.3."""


def bin_of(values: npt.ArrayLike, bins: int) -> Ints:
    """The bin of each value, from 0; -1 where it is NaN.

    >>> bin_of([0.0, 0.0999, 0.1, 0.7 - 0.4, 1.0, float("nan")], 10).tolist()
    [0, 0, 1, 3, 9, -1]
    """
    given = np.asarray(values, dtype=np.float64)
    scaled = np.where(np.isnan(given), -1.0, (np.nan_to_num(given) + EDGE) * bins)
    return np.minimum(np.floor(scaled), bins - 1).astype(np.int64)


def limits_of(place: int, bins: int) -> tuple[float, float]:
    """Values that fall in a bin: from the first (included) to the second, which the last bin has above everything."""
    return place / bins - EDGE, 2.0 if place == bins - 1 else (place + 1) / bins - EDGE
