"""Names for the arrays that everything passes around, and when two of their numbers are equal."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Keys = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]

ROUNDING = 1e-12
"""Effectiveness that differs by no more than this times the largest value is the same, computed in another order."""
