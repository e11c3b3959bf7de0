"""How sure the sign of a difference between systems is, and a ranking of them (thesis 8.20, AdMIRe 2012 eq. 5).

    C_ab = F(|E[Δ_ab]| / √(inflation · Var[Δ_ab]))

with F the normal distribution (AdMIRe) or Student's t with n_queries - 1 degrees of freedom (thesis). What is known for
certain has confidence 1: a difference without variance, and also a tie without variance, such as two copies of a system
or equal systems with everything judged, because no judgment can change what is said of the pair. A difference of 0 that
does vary has confidence 1/2. No confidence is ever NaN.

Urbano, J. and Schedl, M., Towards minimal test collections for evaluation of audio music similarity and retrieval,
WWW 2012 Companion (AdMIRe), doi:10.1145/2187980.2188223.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, stdtr

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.relevance.base import Scores


def confidence(scores: Scores, df: int | None = None, inflation: float = 1.0, *, zone: float = 0.0) -> Floats:
    """Confidence in the sign of each difference, systems x systems, 1 on the diagonal.

    ``df`` are the degrees of freedom of Student's t, None for the normal distribution. ``inflation`` enlarges the
    variance of differences. Differences below ``zone`` do not matter: where it is more likely that systems are that
    near than that the sign is right, confidence is that of the tie, P(|Δ| <= zone).

    >>> scores = Scores(np.array([0.5, 0.4, 0.4]), np.diag([0.0009, 0.0016, 0.0016]))
    >>> confidence(scores).round(3).tolist()
    [[1.0, 0.977, 0.977], [0.977, 1.0, 0.5], [0.977, 0.5, 1.0]]
    >>> round(float(confidence(scores, df=9)[0, 1]), 3)
    0.962
    """
    if df is not None and df < 1:
        raise AdjudgeError(f"'df' must be at least 1, got {df}")
    if not 0 < inflation < np.inf:
        raise AdjudgeError(f"'inflation' must be above 0, got {inflation}")
    expected, variance = scores.differences()
    certain = variance == 0
    sure = _below(np.abs(expected) / np.sqrt(np.where(certain, 1.0, inflation * variance)), df)
    if zone > 0:
        sure = np.maximum(sure, within(scores, zone, df, inflation))
    return np.where(certain, 1.0, sure)


def within(scores: Scores, zone: float, df: int | None = None, inflation: float = 1.0) -> Floats:
    """P(|Δ_ab| <= zone) of each difference, systems x systems; 0 or 1 where it is known for certain."""
    expected, variance = scores.differences()
    certain = variance == 0
    sd = np.sqrt(np.where(certain, 1.0, inflation * variance))
    inside = _below((zone - expected) / sd, df) - _below((-zone - expected) / sd, df)
    return np.where(certain, (np.abs(expected) <= zone).astype(np.float64), inside)


def _below(z: Floats, df: int | None) -> Floats:
    """Probability of what lies below z standard deviations."""
    probability: Floats = ndtr(z) if df is None else stdtr(df, z)
    return probability


def mean_confidence(scores: Scores, df: int | None = None, inflation: float = 1.0) -> float:
    """Confidence in the ranking: the mean over all pairs of systems; 1 where there is only one system."""
    return mean_of_pairs(confidence(scores, df, inflation))


def mean_of_pairs(matrix: Floats) -> float:
    """Mean over all pairs of systems of a symmetric matrix of confidence; 1 where there is only one system."""
    pairs = matrix[np.triu_indices(len(matrix), 1)]
    return float(pairs.mean()) if len(pairs) else 1.0


def expected_tau(scores: Scores, df: int | None = None, inflation: float = 1.0) -> float:
    """Expected Kendall correlation of the estimated ranking with the true one: the mean of 2 C - 1 over all pairs.

    A pair in the right order counts 1, in the wrong one -1; a tie known for certain is right.

    >>> round(expected_tau(Scores(np.array([0.5, 0.4]), np.diag([0.0009, 0.0016]))), 3)
    0.954
    """
    return 2.0 * mean_confidence(scores, df, inflation) - 1.0
