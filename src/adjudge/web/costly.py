"""Things that take a while to compute, and are computed again only when enough has changed."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

CHANGE = 0.05
"""Share of judgments or answers after which costly things are computed again,"""
SECONDS = 5.0
"""or after so long,"""
COST = 10.0
"""and never sooner than so many times the processor time that they took."""


@dataclass
class Costly:
    """Something that is computed again only when enough has changed."""

    value: Any = None
    of: int = -1
    at: float = 0.0
    took: float = 0.0

    def is_due(self, n: int, *, slowly: bool) -> bool:
        """Whether it should be computed again for ``n``; ``slowly`` where any change is enough after a while."""
        if self.of < 0:
            return True
        rested = time.monotonic() - self.at
        changed = abs(n - self.of) >= max(1.0, CHANGE * self.of) or (slowly and n != self.of and rested >= SECONDS)
        return changed and rested >= COST * self.took

    def keep(self, value: Any, n: int, began: float) -> None:
        """Take a new value that was begun at a time of this thread."""
        self.value, self.of, self.at, self.took = value, n, time.monotonic(), time.thread_time() - began
