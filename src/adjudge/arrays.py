"""Names for the arrays that everything passes around."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Keys = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]
