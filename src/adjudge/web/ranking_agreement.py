"""How far each expert agrees with the others, so that one who ranks at random stands out.

For each query an expert's ranking is held against the median of the ranks that the others gave, by Kendall's tau-b over
the documents that anybody ranked; what somebody left unranked comes after all that they ranked. The mean over queries
is shown. For a random ranking it is 0, with variance 2 (2n + 5) / 9n (n - 1) for n documents (Kendall 1938, doi
10.1093/biomet/30.1-2.81): an expert is called *like chance* where theirs is within 1.645 standard errors of 0 while
that of half of the others is beyond it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from adjudge.arrays import Floats
from adjudge.groundtruth import RankedQuery

LEAST_EXPERTS = 3
"""With two, nobody knows which of them is at odds with the other."""
_ONE_IN_TWENTY = 1.645


@dataclass(frozen=True)
class Agreement:
    """Mean tau-b of somebody's rankings with the others', over how many queries, and what a random one may reach."""

    tau: float
    queries: int
    chance: float
    like_chance: bool = False


def agreements(queries: Sequence[RankedQuery]) -> dict[str, Agreement]:
    """Of each expert who shares a query with two or more others.

    >>> orders = np.array([[1.0, 2, 3, 4, 5, 6]] * 4 + [[6.0, 5, 4, 3, 2, 1]])
    >>> asked = RankedQuery("q", tuple("abcdef"), ("u", "v", "w", "x", "y"), orders)
    >>> found = agreements([asked])
    >>> found["u"].tau, found["y"].tau, found["y"].like_chance
    (1.0, -1.0, True)
    """
    taus: dict[str, list[float]] = defaultdict(list)
    variances: dict[str, list[float]] = defaultdict(list)
    for one in queries:
        for expert, tau in taus_of(one).items():
            taus[expert].append(tau)
            n = len(one.documents)
            variances[expert].append(2 * (2 * n + 5) / (9 * n * (n - 1)))
    found = {
        expert: Agreement(
            float(np.mean(of)), len(of), _ONE_IN_TWENTY * float(np.sqrt(sum(variances[expert]))) / len(of)
        )
        for expert, of in taus.items()
    }
    return {expert: _judged(expert, one, found) for expert, one in found.items()}


def _judged(expert: str, one: Agreement, everybody: Mapping[str, Agreement]) -> Agreement:
    others = [other.tau > other.chance for name, other in everybody.items() if name != expert]
    alone = one.tau <= one.chance and sum(others) * 2 >= len(others) > 0
    return Agreement(one.tau, one.queries, one.chance, like_chance=alone)


def taus_of(asked: RankedQuery) -> dict[str, float]:
    """Tau-b of each expert with the median of the others for one query; none where all is tied, or experts are few."""
    filled = asked.filled("last")
    present = np.isfinite(filled.ranks).min(axis=1)  # who ranked nothing says nothing
    experts = tuple(name for name, here in zip(asked.experts, present.tolist(), strict=True) if here)
    if len(experts) < LEAST_EXPERTS:
        return {}
    ranks = np.ascontiguousarray(filled.ranks[present])
    values = _taus(ranks.tobytes(), ranks.shape)
    return {name: tau for name, tau in zip(experts, values, strict=True) if np.isfinite(tau)}


@lru_cache(maxsize=2048)
def _taus(data: bytes, shape: tuple[int, int]) -> tuple[float, ...]:
    """A refresh asks again about all queries, and most of them did not change."""
    ranks: Floats = np.frombuffer(data).reshape(shape)
    everybody = np.arange(len(ranks))
    return tuple(tau_b(ranks[place], np.median(ranks[everybody != place], axis=0)) for place in everybody)


def tau_b(x: Floats, y: Floats) -> float:
    """Kendall's tau-b of two rankings; NaN where one of them ties everything.

    >>> tau_b(np.array([1.0, 2, 3, 4]), np.array([1.0, 2, 4, 3]))
    0.6666666666666666
    """
    first, second = np.sign(x[:, None] - x), np.sign(y[:, None] - y)
    both = float(np.sqrt((first**2).sum() * (second**2).sum()))
    return float((first * second).sum()) / both if both else float("nan")
