"""Values as JSON has them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def not_finite(value: object) -> bool:
    """Whether a value is a NaN or an infinity."""
    return isinstance(value, float) and not math.isfinite(value)


def plain(content: Any) -> Any:
    """The same content without tuples and without numbers that are none.

    >>> plain({"low": float("nan"), "ends": (0.1, 0.2)})
    {'low': None, 'ends': [0.1, 0.2]}
    """
    if isinstance(content, Mapping):
        return {str(key): plain(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [plain(value) for value in content]
    return None if not_finite(content) else content
