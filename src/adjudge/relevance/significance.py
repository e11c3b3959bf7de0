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

import numpy as np
from scipy.sparse import csr_array
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
    """What the rules say of system and other: a ``verdict``, the number of the ``rule``, and the bounds of the mean."""

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

    The ``threshold`` of the fourth is by default what a one-sided test finds with 85 % power over as many queries: .067
    of the highest possible score with 100 of them.
    """
    if not model.scoring.linear:
        raise AdjudgeError(f"{model.scoring.measure}: bounds of significance are for CG, DCG and RBP, not for ratios.")
    candidates = model.candidates
    if threshold is None:
        n, highest = max(candidates.n_queries, 2), float(model.scoring.weights.sum()) / (model.scoring.divisor or 1.0)
        share = detectable_difference(DEVIATION, n, alpha=alpha, power=0.85, alternative="greater")
        threshold = float(share) * highest
    weights = model.scoring.matrix(candidates)
    judged = np.where(model.judged, model.mean, 0.0)
    known = _by_query(model, weights.multiply(judged[:, None]).tocsr())
    open_ = weights.multiply((~model.judged)[:, None]).tocsr()
    dense = open_.toarray()
    expected = model.scores().mean
    found = []
    for a in range(candidates.n_systems):
        for b in range(a + 1, candidates.n_systems):
            gap = dense[:, a] - dense[:, b]
            base = known[:, a] - known[:, b]
            high = base + np.bincount(candidates.query, weights=np.maximum(gap, 0), minlength=candidates.n_queries)
            low = base + np.bincount(candidates.query, weights=np.minimum(gap, 0), minlength=candidates.n_queries)
            estimate = float(expected[a] - expected[b])
            verdict, rule = _verdict(low, high, estimate, alpha, threshold)
            names = candidates.systems[a], candidates.systems[b]
            found.append(SignificanceEstimate(*names, verdict, rule, float(low.mean()), float(high.mean()), estimate))
    return found


def _by_query(model: RelevanceModel, weighted: csr_array) -> Floats:
    """Sums over the candidates of each query, queries x systems."""
    n, candidates = len(model.candidates), model.candidates
    sums = csr_array((np.ones(n), (candidates.query, np.arange(n))), shape=(candidates.n_queries, n)) @ weighted
    return np.asarray(sums.toarray())


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
    """The p-value of the one-sided paired t test that the mean is above 0; constant differences are certain."""
    n, mean = len(differences), float(differences.mean())
    if n < 2:
        return 1.0
    sd = float(differences.std(ddof=1))
    if sd <= 1e-15 * max(1.0, abs(mean)):
        return 0.0 if mean > 0 else 1.0
    return float(stdtr(n - 1, -mean / (sd / np.sqrt(n))))
