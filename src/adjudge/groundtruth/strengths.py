"""Strengths of documents: what the models of choice share, their fit and what the data say of each pair.

Each document has a strength, a logarithm of odds; the higher, the more similar to the query. A weak normal prior
(mean 0, deviation :data:`PRIOR_DEVIATION`) keeps strengths finite where people agree wholly, and settles where zero is.
The posterior is taken as normal around its top (Laplace): the difference of two strengths is then normal, too, and the
probability that it is on the wrong side of zero is used as a one-tailed p-value is. Where several experts agree wholly
this errs on the side of doubt (5 of one mind give .058, an exact sign test .031; 10 give .025, not .001); where two do,
it is bolder (.133, not .25).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from adjudge.arrays import Floats, Mask
from adjudge.errors import AdjudgeError
from adjudge.groundtruth.evidence import Evidence

PRIOR_DEVIATION = 3.0
"""Of strengths around their mean: two documents in three are within odds of 1 to 20 of the middle one."""
Slope = Callable[[Floats], tuple[float, Floats, Floats]]
"""Parameters to the logarithm of the likelihood, its gradient and its matrix of second derivatives, sign changed."""
_MOST_STEPS = 200


@dataclass(frozen=True)
class Strengths:
    """Strengths of documents, centred on 0, and the covariance of their posterior; ``extra`` are other parameters."""

    value: Floats
    covariance: Floats
    extra: Floats

    @property
    def deviation(self) -> Floats:
        """Posterior deviation of each strength from the mean of all."""
        n = len(self.value)
        centre = np.eye(n) - 1 / n
        deviation: Floats = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", centre, self.covariance, centre), 0.0))
        return deviation

    @property
    def sooner(self) -> Floats:
        """Probability that the document of the row is no stronger than that of the column; 1 on the diagonal."""
        from scipy.special import ndtr

        spread = np.diag(self.covariance)
        variance = spread[:, None] + spread[None, :] - 2 * self.covariance
        difference = self.value[:, None] - self.value[None, :]
        p: Floats = ndtr(-difference / np.sqrt(np.maximum(variance, 1e-300)))
        np.fill_diagonal(p, 1.0)
        return p

    def evidence(
        self, query: str, documents: tuple[str, ...], *, sooner: Floats, compared: Mask, answers: Floats
    ) -> Evidence:
        """Evidence arranged by strength, the strongest first; equal ones stand by name. Bars span 95 %."""
        names = np.argsort(np.argsort(np.array(documents, dtype=object)))
        order = np.lexsort((names, -np.round(self.value, 9))).astype(np.int64)
        half = 1.959964 * self.deviation
        evidence = Evidence(
            query=query,
            documents=documents,
            sooner=sooner,
            compared=compared,
            middle=self.value,
            lower=self.value - half,
            upper=self.value + half,
            answers=answers,
            unit="strength",
            mean=self.value,
        )
        return evidence.arranged(order)


def fit(slope: Slope, n_documents: int, *, extra: int = 0, prior: float = PRIOR_DEVIATION) -> Strengths:
    """The top of the posterior by Newton's steps, halved while they do not climb; the likelihood must be concave.

    ``extra`` parameters come after the strengths; their prior is ten times as wide.
    """
    if not prior > 0:
        raise AdjudgeError(f"The deviation of the prior must be above 0, got {prior:g}")
    weight = np.concatenate([np.full(n_documents, 1 / prior**2), np.full(extra, 0.01 / prior**2)])
    at = np.zeros(n_documents + extra)
    value, gradient, curvature = _with_prior(slope, at, weight)
    for _ in range(_MOST_STEPS):
        step = np.linalg.solve(curvature, gradient)
        if step @ gradient < 1e-12:
            break
        size = 1.0
        while size > 1e-9:
            ahead = _with_prior(slope, at + size * step, weight)
            if ahead[0] >= value and np.isfinite(ahead[2]).all():  # far out numbers overflow
                break
            size /= 2
        at = at + size * step
        value, gradient, curvature = ahead
    covariance: Floats = np.linalg.inv(curvature)[:n_documents, :n_documents].astype(np.float64)
    strength = at[:n_documents]
    return Strengths(strength - strength.mean(), covariance, at[n_documents:])


def _with_prior(slope: Slope, at: Floats, weight: Floats) -> tuple[float, Floats, Floats]:
    value, gradient, curvature = slope(at)
    return value - float(weight @ at**2) / 2, gradient - weight * at, curvature + np.diag(weight)
