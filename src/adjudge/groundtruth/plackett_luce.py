"""Plackett-Luce: strengths of documents from rankings with ties and unranked documents.

An expert ranks by choosing again and again the most similar of the documents that are left, with chances as exp(s) of
their strengths s. What an expert left unranked was, by default, in no choice of theirs; ranked last, it was in all and
never chosen. Documents tied in a ranking are chosen in an order that is unknown: as Efron does for tied times, while
the l-th of d tied documents is chosen, each of them is taken to be left with a share of 1 - (l - 1) / d.

Reference: Luce 1959; Plackett 1975, doi 10.2307/2346567; ties: Efron 1977, doi 10.1080/01621459.1977.10480613.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.errors import AdjudgeError
from adjudge.groundtruth.evidence import Evidence, comparison
from adjudge.groundtruth.rankings import RankedQuery
from adjudge.groundtruth.strengths import PRIOR_DEVIATION, Strengths, fit

RESAMPLES = 1000


@dataclass(frozen=True)
class Choices:
    """All choices of all experts, one row each: who chose, and how far each document was left to choose from.

    ``times`` is how often each expert chose each document. The last document of a ranking is no choice, and drops out.
    """

    expert: Ints
    left: Floats
    times: Floats

    @classmethod
    def of(cls, ranks: Floats) -> Choices:
        """The choices behind ranks (experts x documents, NaN where unranked)."""
        rows, columns = np.nonzero(np.isfinite(ranks))
        mine, his = ranks[rows], ranks[rows, columns][:, None]
        tied = mine == his
        before = np.cumsum(tied, axis=1)[np.arange(len(rows)), columns][:, None] - 1  # of the tied, already chosen
        left = (mine > his) + tied * (1 - before / tied.sum(axis=1, keepdims=True))
        real = (left > 0).sum(axis=1) > 1
        times = np.zeros(ranks.shape)
        np.add.at(times, (rows[real], columns[real]), 1.0)
        return cls(rows[real].astype(np.int64), left[real], times)

    def shares(self, strength: Floats) -> tuple[Floats, Floats]:
        """The chance of each document in each choice, and the logarithm of what the chances were divided by."""
        top = strength.max()
        weight = self.left * np.exp(strength - top)
        total = weight.sum(axis=1, keepdims=True)
        return weight / total, np.log(total[:, 0]) + top

    def slope(self, strength: Floats) -> tuple[float, Floats, Floats]:
        """Logarithm of the likelihood, gradient, and second derivatives with their sign changed."""
        share, log_total = self.shares(strength)
        chosen = self.times.sum(axis=0)
        expected = share.sum(axis=0)
        return float(chosen @ strength - log_total.sum()), chosen - expected, np.diag(expected) - share.T @ share

    @cached_property
    def starts(self) -> Ints:
        """Where the choices of each expert who made any begin; they stand together."""
        return np.flatnonzero(np.diff(self.expert, prepend=-1)).astype(np.int64)


def plackett_luce(ranks: Floats, *, prior: float = PRIOR_DEVIATION) -> Strengths:
    """Strengths from ranks (experts x documents, NaN where unranked).

    >>> ranks = np.array([[1.0, 2.0]] * 8 + [[2.0, 1.0]] * 2)
    >>> [round(float(np.exp(one)), 2) for one in plackett_luce(ranks, prior=100.0).value]  # odds of 8 to 2
    [2.0, 0.5]
    """
    return fit(Choices.of(ranks).slope, ranks.shape[1], prior=prior)


@comparison(
    "plackett-luce",
    takes="rankings",
    about="Plackett-Luce strengths, ties as Efron; pairs compared and arranged by their posterior",
)
def by_strength(asked: RankedQuery, *, seed: int = 0, prior: float = PRIOR_DEVIATION) -> Evidence:
    """Every pair compared by the posterior of the difference of strengths, whether or not an expert ranked both.

    >>> asked = RankedQuery("q", ("a", "b"), ("x", "y"), np.array([[2.0, 1.0], [2.0, 1.0]]))
    >>> by_strength(asked).documents
    ('b', 'a')
    """
    found = plackett_luce(asked.ranks, prior=prior)
    return _evidence(asked, found, found.sooner)


@comparison(
    "plackett-luce-bootstrap",
    takes="rankings",
    about=f"Plackett-Luce strengths; pairs compared by {RESAMPLES:,} resamples of the experts",
    is_random=True,
)
def by_resampled_strength(
    asked: RankedQuery, *, seed: int = 0, prior: float = PRIOR_DEVIATION, resamples: int = RESAMPLES
) -> Evidence:
    """How often, over resampled experts, the document of the row is no stronger than that of the column.

    p = (1 + times) / (1 + resamples). Experts are what is drawn anew, so that choices of one expert need not be
    independent, as the posterior takes them to be. Each resample is one step of Newton's from the strengths of all.

    >>> asked = RankedQuery("q", ("a", "b"), ("x", "y"), np.array([[2.0, 1.0], [2.0, 1.0]]))
    >>> by_resampled_strength(asked, resamples=99).sooner[0].tolist()
    [1.0, 0.01]
    """
    if resamples < 1:
        raise AdjudgeError(f"'resamples' must be at least 1, got {resamples}")
    choices = Choices.of(asked.ranks)
    found = fit(choices.slope, len(asked.documents), prior=prior)
    rng = np.random.default_rng(seed)
    drawn = resampled_strengths(choices, found, prior=prior, resamples=resamples, rng=rng)
    sooner = np.ones((len(asked.documents),) * 2)
    for place, mine in enumerate(drawn.T):
        sooner[place] = (1 + (mine[:, None] <= drawn).sum(axis=0)) / (1 + resamples)
    np.fill_diagonal(sooner, 1.0)
    return _evidence(asked, found, sooner)


def resampled_strengths(
    choices: Choices, found: Strengths, *, prior: float, resamples: int, rng: np.random.Generator
) -> Floats:
    """Strengths from resampled experts (resamples x documents), one step of Newton's from the strengths of all."""
    share, _ = choices.shares(found.value)
    expected = np.add.reduceat(share, choices.starts, axis=0)
    chosen = choices.times[choices.expert[choices.starts]]
    own = np.stack([np.diag(e) - s.T @ s for e, s in zip(expected, np.split(share, choices.starts[1:]), strict=True)])
    n_experts, n = chosen.shape
    counts = rng.multinomial(n_experts, np.full(n_experts, 1 / n_experts), size=resamples).astype(np.float64)
    gradient = counts @ (chosen - expected) - found.value / prior**2
    curvature = (counts @ own.reshape(n_experts, -1)).reshape(resamples, n, n) + np.eye(n) / prior**2
    drawn: Floats = found.value + np.linalg.solve(curvature, gradient[..., None])[..., 0]
    return drawn


def _evidence(asked: RankedQuery, found: Strengths, sooner: Floats) -> Evidence:
    return found.evidence(
        asked.query,
        asked.documents,
        sooner=sooner,
        compared=~np.eye(len(asked.documents), dtype=np.bool_),
        answers=asked.times_ranked,
    )
