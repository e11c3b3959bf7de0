"""Words that sentences about studies share."""

from __future__ import annotations

import math


def counted_of(n: int, noun: str) -> str:
    """A number and what it counts, as one says it.

    >>> counted_of(1, "query"), counted_of(2200, "query"), counted_of(2, "bin")
    ('1 query', '2,200 queries', '2 bins')
    """
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{n:,} {noun if n == 1 else plural}"


def number(value: float, digits: int = 2) -> str:
    """A number, or a dash where it is not known.

    >>> number(0.256), number(math.nan)
    ('0.26', '–')
    """
    return f"{value:.{digits}f}" if math.isfinite(value) else "–"
