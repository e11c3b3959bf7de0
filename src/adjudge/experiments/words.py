"""Words that conclusions of experiments have in common."""

from __future__ import annotations

from collections.abc import Sequence


def listed(names: Sequence[str]) -> str:
    """Names in a row.

    >>> listed(["t"]), listed(["t", "sign", "wilcoxon"])
    ('t', 't, sign and wilcoxon')
    """
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
