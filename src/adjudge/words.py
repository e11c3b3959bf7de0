"""Numbers in sentences."""

from __future__ import annotations

import math

_PLURALS = {"person": "people", "query": "queries"}


def counted(n: int, noun: str) -> str:
    """A number and what it counts, as one says it.

    >>> counted(1, "query"), counted(2200, "query"), counted(0, "person"), counted(2, "bin")
    ('1 query', '2,200 queries', '0 people', '2 bins')
    """
    return f"{n:,} {noun if n == 1 else _PLURALS.get(noun, f'{noun}s')}"


def number(value: float, digits: int = 2) -> str:
    """A number, or a dash where it is not known.

    >>> number(0.256), number(math.nan)
    ('0.26', '–')
    """
    return f"{value:.{digits}f}" if math.isfinite(value) else "–"
