"""Differences as whole numbers small enough for a graphics card's matrix units to add them up without rounding.

Matrix units multiply half-precision numbers (whole to 2,048) and add in single precision (whole to 2^24). Differences
*d* of a pair of systems on *n* queries become v = rint(d s), where s makes the largest of them 2^b with n 2^b <= 2^24,
and v is written as two halves, ``v = 512 high + 512 low``. Weights are signs or counts that sum to n, so no sum of
weighted v passes 2^24: every sum is exact, in whatever order, and the same on all cards and in NumPy.

What is not exact is v. With e the largest of ``|d s - v|``, a sum is off by at most n e, because weights sum to n in
magnitude. A resample counts when its sum reaches what was observed less that: all that tie do, and of the others only
those that are closer than 2 n e, at most 2^-18 n of the largest difference when n is 50. Values on a grid that s
keeps whole have e = 0.

Everything here takes NumPy arrays or PyTorch tensors: ``xp`` is the one module or the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

WIDEST = 128
"""Most queries: with more, what sums may be off by comes near the Monte-Carlo error of 100,000 resamples."""
UNIT = 512.0
"""What sums are divided by, so that both halves of a number fit half precision."""
_EXACT_BITS, _MOST_BITS = 24, 20  # of a sum in single precision; of a number in two halves
_ROUNDING = 1e-13  # of the sum of magnitudes, as in stats.resampling
_COARSE = 3e-4  # of the spread of sums: p is off by no more than 0.8 of that
_LEAST = 1e-250  # differences below are 0: their scale would overflow


@dataclass(frozen=True)
class Fixed:
    """Differences of pairs (pairs x queries) and the bounds their weighted sums are held against, all over 512.

    ``coarse`` says of which pairs one difference is so much larger than all others that those lost too many digits.
    """

    high: Any
    low: Any
    least: Any
    most: Any
    coarse: Any


def bits(n_queries: int) -> int:
    """How many bits the largest difference gets: as many as leave every sum exact.

    >>> bits(50), bits(64), bits(65), bits(3)
    (18, 18, 17, 20)
    """
    return min(_MOST_BITS, _EXACT_BITS - (n_queries - 1).bit_length())


def fixed_point(values: Any, first: Any, second: Any, *, centred: bool, two_sided: bool, xp: Any) -> Fixed:
    """Differences of ``values[first]`` and ``values[second]`` (systems x queries), and their bounds.

    Two-sided, magnitudes of sums count from ``least``; otherwise sums count from ``least`` above and to ``most`` below.

    >>> import numpy as np
    >>> fixed = fixed_point(np.array([[0.5, 0.25], [0.0, 0.0]]), [0], [1], centred=False, two_sided=True, xp=np)
    >>> (512 * (fixed.high + fixed.low)).tolist(), (512 * fixed.least).tolist()
    ([[1048576.0, 524288.0]], [1572864.0])
    """
    n = values.shape[1]
    total, magnitude = values.sum(1), xp.abs(values).sum(1)
    observed = total[first] - total[second]
    rounding = _ROUNDING * (magnitude[first] + magnitude[second])
    source = values - total[:, None] / n if centred else values
    differences = source[first] - source[second]
    largest = xp.amax(xp.abs(differences), 1)
    small = largest < _LEAST
    scale = xp.where(small, 1.0, 2.0 ** bits(n) / xp.where(small, 1.0, largest))
    exact = differences * scale[:, None]
    whole = xp.round(exact)
    off = n * xp.amax(xp.abs(exact - whole), 1)
    slack = rounding * scale + off
    spread = xp.sqrt(xp.abs((exact**2).sum(1) - xp.amax(exact**2, 1)))
    high = xp.round(whole / UNIT)
    beyond = 2.0 ** (_EXACT_BITS + 1)  # no sum gets there
    least = xp.ceil((xp.abs(observed) if two_sided else observed) * scale - slack)
    most = xp.floor(observed * scale + slack)
    return Fixed(
        high,
        whole / UNIT - high,
        xp.clip(least, -beyond, beyond) / UNIT,
        xp.clip(most, -beyond, beyond) / UNIT,
        off > _COARSE * spread,
    )
