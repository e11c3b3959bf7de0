"""Which differences are statistically significant, before everything is judged (AdMIRe 2012, section 5).

Whatever the grades of the unjudged documents turn out to be, the difference of two systems on a query lies between a
lower bound (those that only the second retrieved are perfect, those that only the first did are worthless) and an upper
bound. A paired one-sided t test of the bounds over queries gives three rules that cannot be wrong about the full
judgments, and an estimate gives a fourth that can:

1. even at the upper bound A is significantly worse: *worse*;
2. even at the lower bound A is significantly better: *better*;
3. at the upper bound A is not significantly better, at the lower bound not significantly worse: *not different*;
4. the estimated difference exceeds a threshold: *probably better* or *probably worse*; else *open*.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import stdtr

from adjudge.arrays import Floats
from adjudge.checks import ALPHA, NOT_NEGATIVE, checked
from adjudge.errors import AdjudgeError
from adjudge.relevance.base import RelevanceModel
from adjudge.stats.power import detectable_difference

DEVIATION = 0.248
"""Standard deviation of differences over queries in past editions of MIREX, from which the threshold is computed."""


@dataclass(frozen=True)
class SignificanceEstimate:
    """The ``verdict`` on system and other, the number of its ``rule``, and the bounds of the mean difference."""

    system: str
    other: str
    verdict: str
    rule: int | None
    lower: float
    upper: float
    estimate: float


@checked(alpha=ALPHA, threshold=NOT_NEGATIVE)
def estimate_significance(
    model: RelevanceModel, *, alpha: float = 0.05, threshold: float | None = None
) -> list[SignificanceEstimate]:
    """Apply the four rules to every pair of systems, for measures that are linear in relevance.

    The ``threshold`` of the fourth is by default what a one-sided test detects with 85 % power over as many queries:
    .067 of the highest possible score with 100 queries.
    """
    if not model.scoring.linear:
        raise AdjudgeError(f"{model.scoring.measure}: bounds of significance are for CG, DCG and RBP, not for ratios.")
    c = model.candidates
    if threshold is None:
        detectable = detectable_difference(
            DEVIATION, max(c.n_queries, 2), alpha=alpha, power=0.85, alternative="greater"
        )
        threshold = float(detectable) * model.scoring.highest
    weights, expected = model.scoring.matrix(c).toarray(), model.scores().mean
    known = np.zeros((c.n_queries, c.n_systems))
    np.add.at(known, c.query, weights * np.where(model.judged, model.mean, 0.0)[:, None])
    weights[model.judged] = 0.0
    estimates = []
    for a, b in combinations(range(c.n_systems), 2):
        gap, base = weights[:, a] - weights[:, b], known[:, a] - known[:, b]
        high = base + np.bincount(c.query, weights=np.maximum(gap, 0), minlength=c.n_queries)
        low = base + np.bincount(c.query, weights=np.minimum(gap, 0), minlength=c.n_queries)
        estimate = float(expected[a] - expected[b])
        verdict, rule = _verdict(low, high, estimate, alpha, threshold)
        bounds = float(low.mean()), float(high.mean())
        estimates.append(SignificanceEstimate(c.systems[a], c.systems[b], verdict, rule, *bounds, estimate))
    return estimates


def _verdict(low: Floats, high: Floats, estimate: float, alpha: float, threshold: float) -> tuple[str, int | None]:
    if _p_greater(-high) <= alpha:
        return "worse", 1
    if _p_greater(low) <= alpha:
        return "better", 2
    if _p_greater(high) > alpha and _p_greater(-low) > alpha:
        return "not different", 3
    if abs(estimate) > threshold:
        return ("probably better" if estimate > 0 else "probably worse"), 4
    return "open", None


def _p_greater(differences: Floats) -> float:
    """The p-value of the one-sided paired t test that the mean is above 0: 0 or 1 where differences are constant."""
    n, mean = len(differences), float(differences.mean())
    if n < 2:
        return 1.0
    sd = float(differences.std(ddof=1))
    if sd <= 1e-15 * max(1.0, abs(mean)):
        return 0.0 if mean > 0 else 1.0
    return float(stdtr(n - 1, -mean / (sd / np.sqrt(n))))
