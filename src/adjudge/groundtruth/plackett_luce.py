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

from adjudge.arrays import Floats, Ints, Mask
from adjudge.errors import AdjudgeError
from adjudge.groundtruth.evidence import Evidence, comparison
from adjudge.groundtruth.rankings import RankedQuery
from adjudge.groundtruth.strengths import PRIOR_DEVIATION, Strengths, fit

RESAMPLES = 1000
_AT_ONCE = 1_000_000  # numbers


@dataclass(frozen=True)
class Choices:
    """All choices of all experts: experts x places, the documents in the order of the ranking, unranked ones last.

    ``order`` are the documents, ``first`` and ``end`` say where those tied with a place begin and end, ``left`` how far
    the tied ones are left while the place is filled. ``is_real`` places are choices: the last document of a ranking,
    where it stands alone, is none.
    """

    ranks: Floats
    order: Ints
    first: Ints
    end: Ints
    left: Floats
    is_real: Mask

    @classmethod
    def of(cls, ranks: Floats) -> Choices:
        """The choices behind ranks (experts x documents, NaN where unranked)."""
        order = np.argsort(ranks, axis=1, kind="stable").astype(np.int64)
        mine = np.take_along_axis(ranks, order, axis=1)
        place = np.broadcast_to(np.arange(mine.shape[1]), mine.shape)
        begins = np.concatenate([np.ones((len(mine), 1), np.bool_), mine[:, 1:] != mine[:, :-1]], axis=1)
        first = np.maximum.accumulate(np.where(begins, place, 0), axis=1)
        after = np.concatenate([begins[:, 1:], np.ones((len(mine), 1), np.bool_)], axis=1)
        end = np.minimum.accumulate(np.where(after, place + 1, mine.shape[1])[:, ::-1], axis=1)[:, ::-1]
        is_ranked = np.isfinite(mine)
        is_alone_last = (end == is_ranked.sum(axis=1, keepdims=True)) & (end - first == 1)
        left = 1 - (place - first) / (end - first)
        return cls(ranks, order, first, end, left, is_ranked & ~is_alone_last)

    @cached_property
    def times(self) -> Floats:
        """How often each expert chose each document."""
        return self._by_document(self.is_real.astype(np.float64))

    @cached_property
    def has_ties(self) -> bool:
        """Whether any expert tied any documents."""
        return bool((self.is_real & (self.end - self.first > 1)).any())

    def _by_document(self, values: Floats) -> Floats:
        """Values of places as values of the documents there."""
        found = np.zeros_like(values)
        np.put_along_axis(found, self.order, values, axis=1)
        return found

    def totals(self, strength: Floats) -> Floats:
        """What the chances of each choice are divided by, with the largest exp(strength) as 1; 1 where there is none.

        It is the weight of all after the tied ones, and as much of the tied ones as is left of them.
        """
        weight = np.exp(strength - strength.max())[self.order] * np.isfinite(
            np.take_along_axis(self.ranks, self.order, 1)
        )
        rest = np.cumsum(np.pad(weight, ((0, 0), (0, 1)))[:, ::-1], axis=1)[:, ::-1]
        tied, after = (np.take_along_axis(rest, at, axis=1) for at in (self.first, self.end))
        return np.where(self.is_real, after + self.left * (tied - after), 1.0)

    def spent(self, totals: Floats) -> tuple[Floats, Floats, Floats]:
        """By expert and document: sums of left / total, of left / total^2 and of left^2 / total^2 over all choices.

        A document is wholly left in choices before its own, in those of the documents tied with it as far as ``left``
        says, and in later ones not at all. Times its weight, the first is how often an expert should have chosen it.
        """
        once = self.is_real / totals
        twice = once / totals
        return (
            self._summed(once, once * self.left),
            self._summed(twice, twice * self.left),
            self._summed(twice, twice * self.left**2),
        )

    def _summed(self, whole: Floats, own: Floats) -> Floats:
        """For each document ``whole`` of the places before those tied with it, and ``own`` of these."""
        before, during = (np.pad(np.cumsum(one, axis=1), ((0, 0), (1, 0))) for one in (whole, own))
        ends = np.take_along_axis(during, self.end, axis=1) - np.take_along_axis(during, self.first, axis=1)
        is_ranked = np.isfinite(np.take_along_axis(self.ranks, self.order, axis=1))
        return self._by_document(np.where(is_ranked, np.take_along_axis(before, self.first, axis=1) + ends, 0.0))

    def together(self, apart: Floats, tied: Floats, some: slice) -> Floats:
        """Sums over choices of left x left / total^2 for each of some experts and each two documents.

        Both are left until the first of them is among those chosen: of two that are not tied, the sum is the smaller.
        """
        sums = np.minimum(apart[some, :, None], apart[some, None, :])
        if self.has_ties:
            sums -= (self.ranks[some, :, None] == self.ranks[some, None, :]) * (apart - tied)[some, :, None]
        return sums

    def slope(self, strength: Floats) -> tuple[float, Floats, Floats]:
        """Logarithm of the likelihood, gradient, second derivatives with their sign changed; not finite far out."""
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            return self._slope(strength)

    def _slope(self, strength: Floats) -> tuple[float, Floats, Floats]:
        totals, weight = self.totals(strength), np.exp(strength - strength.max())
        once, apart, tied = self.spent(totals)
        chosen, expected = self.times.sum(axis=0), once.sum(axis=0) * weight
        value = chosen @ strength - np.log(totals).sum() - strength.max() * self.is_real.sum()
        n_experts, n = self.ranks.shape
        step = max(1, _AT_ONCE // n**2)
        both = np.zeros((n, n))
        for start in range(0, n_experts, step):
            both += self.together(apart, tied, slice(start, start + step)).sum(axis=0)
        return float(value), chosen - expected, np.diag(expected) - both * np.outer(weight, weight)


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
    drawn = np.round(resampled_strengths(choices, found, prior=prior, resamples=resamples, rng=rng), 9)  # as arranged
    sooner = np.ones((len(asked.documents),) * 2)
    for place, mine in enumerate(drawn.T):
        sooner[place] = (1 + (mine[:, None] <= drawn).sum(axis=0)) / (1 + resamples)
    np.fill_diagonal(sooner, 1.0)
    return _evidence(asked, found, sooner)


def resampled_strengths(
    choices: Choices, found: Strengths, *, prior: float, resamples: int, rng: np.random.Generator
) -> Floats:
    """Strengths from resampled experts (resamples x documents), one step of Newton's from the strengths of all."""
    weight = np.exp(found.value - found.value.max())
    once, apart, tied = choices.spent(choices.totals(found.value))
    who = np.flatnonzero(choices.is_real.any(axis=1))  # experts who chose at all
    expected, chosen = once[who] * weight, choices.times[who]
    own = -choices.together(apart, tied, slice(None))[who] * np.outer(weight, weight)
    own[:, np.arange(len(weight)), np.arange(len(weight))] += expected
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
