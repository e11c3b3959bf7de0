"""Strengths of documents: what the models of choice share, their fit and what the data say of each pair.

Each document has a strength, a logarithm of odds; the higher, the more similar to the query. A weak normal prior
(mean 0, deviation :data:`PRIOR_DEVIATION`) keeps strengths finite where people agree wholly, and settles where zero is.
The posterior is taken as normal around its top (Laplace): the difference of two strengths is then normal, too, and the
probability that it is on the wrong side of zero is used as a one-tailed p-value is. Where several experts agree wholly
this errs on the side of doubt (5 of one mind give .058, an exact sign test .031; 10 give .025, not .001); where two do,
it is bolder (.133, not .25).

*Bradley-Terry*, with Davidson's ties, takes preferences. Of documents i and j with strengths s, the chances of the
three answers are as

    i preferred : j preferred : alike  =  exp(s_i) : exp(s_j) : exp(t + (s_i + s_j) / 2)

where t, one number per query, says how readily people call documents alike. Answers are taken as independent. Documents
that nobody compared are compared through others that both were compared with.
Bradley & Terry 1952, doi 10.1093/biomet/39.3-4.324; Davidson 1970, doi 10.1080/01621459.1970.10481082.

*Plackett-Luce* takes rankings with ties and unranked documents. An expert ranks by choosing again and again the most
similar of the documents that are left, with chances as exp(s) of their strengths s. What an expert left unranked was,
by default, in no choice of theirs; ranked last, it was in all and never chosen. Documents tied in a ranking are chosen
in an order that is unknown: as Efron does for tied times, while the l-th of d tied documents is chosen, each of them is
taken to be left with a share of 1 - (l - 1) / d. Luce 1959; Plackett 1975, doi 10.2307/2346567; ties: Efron 1977, doi
10.1080/01621459.1977.10480613.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.checks import COUNT, POSITIVE, SEED, checked
from adjudge.groundtruth.answers import PreferredQuery, RankedQuery
from adjudge.groundtruth.evidence import Evidence, comparison

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


@checked(prior=POSITIVE)
def fit(slope: Slope, n_documents: int, *, extra: int = 0, prior: float = PRIOR_DEVIATION) -> Strengths:
    """The top of the posterior by Newton's steps, halved while they do not climb; the likelihood must be concave.

    ``extra`` parameters come after the strengths; their prior is ten times as wide.
    """
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


def bradley_terry(wins: Floats, alike: Floats, *, prior: float = PRIOR_DEVIATION) -> Strengths:
    """Strengths from how often the row was preferred to the column, and how often both were called alike.

    Without a single answer "alike" t is left out of the model.

    >>> strengths = bradley_terry(np.array([[0.0, 8.0], [2.0, 0.0]]), np.zeros((2, 2)), prior=100.0)
    >>> [round(float(np.exp(value)), 2) for value in strengths.value]  # odds of 8 to 2, half of their logarithm each
    [2.0, 0.5]
    """
    n, has_ties = len(wins), bool(alike.any())
    first, second = np.nonzero(np.triu(wins + wins.T + alike, 1))
    counts = np.stack([wins[first, second], wins[second, first], alike[first, second]], axis=1)
    features = np.zeros((len(first), 3, n + 1))
    row = np.arange(len(first))
    features[row, 0, first] = features[row, 1, second] = 1.0
    features[row, 2, first] = features[row, 2, second] = 0.5
    features[:, 2, n] = 1.0
    if not has_ties:
        counts, features = counts[:, :2], features[:, :2, :n]
    total = counts.sum(axis=1)

    def slope(at: Floats) -> tuple[float, Floats, Floats]:
        utility = features @ at
        top = utility.max(axis=1, keepdims=True)
        share = np.exp(utility - top)
        sums = share.sum(axis=1, keepdims=True)
        share /= sums
        value = float((counts * utility).sum() - total @ (top + np.log(sums))[:, 0])
        expected = np.einsum("pc,pck->pk", share, features)
        gradient = np.einsum("pc,pck->k", counts, features) - total @ expected
        spread = np.einsum("p,pc,pck,pcl->kl", total, share, features, features, optimize=True)
        return value, gradient, spread - (expected.T * total) @ expected

    return fit(slope, n, extra=int(has_ties), prior=prior)


def answers_about(asked: PreferredQuery) -> Floats:
    """How many answers each document came up in."""
    together: Floats = (asked.wins + asked.wins.T + asked.alike).sum(axis=1)
    return together


@comparison(
    "bradley-terry",
    takes="preferences",
    about="Bradley-Terry strengths with Davidson's ties; all pairs, also those never asked, by their posterior",
)
@checked(seed=SEED, prior=POSITIVE)
def by_bradley_terry(asked: PreferredQuery, *, seed: int = 0, prior: float = PRIOR_DEVIATION) -> Evidence:
    """Every pair compared by the posterior of the difference of strengths.

    >>> rows = [("q", "a", "b", 1, "x"), ("q", "b", "c", 1, "x")] * 5
    >>> from adjudge.groundtruth.answers import Preferences
    >>> by_bradley_terry(Preferences.from_rows(rows).queries[0]).documents
    ('a', 'b', 'c')
    """
    found = bradley_terry(asked.wins, asked.alike, prior=prior)
    return found.evidence(
        asked.query,
        asked.documents,
        sooner=found.sooner,
        compared=~np.eye(len(asked.documents), dtype=np.bool_),
        answers=answers_about(asked),
    )


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
        before, during = (np.pad(np.cumsum(values, axis=1), ((0, 0), (1, 0))) for values in (whole, own))
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

    @np.errstate(over="ignore", divide="ignore", invalid="ignore")
    def slope(self, strength: Floats) -> tuple[float, Floats, Floats]:
        """Logarithm of the likelihood, gradient, second derivatives with their sign changed; not finite far out."""
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
    >>> [round(float(np.exp(value)), 2) for value in plackett_luce(ranks, prior=100.0).value]  # odds of 8 to 2
    [2.0, 0.5]
    """
    return fit(Choices.of(ranks).slope, ranks.shape[1], prior=prior)


@comparison(
    "plackett-luce",
    takes="rankings",
    about="Plackett-Luce strengths, ties as Efron; pairs compared and arranged by their posterior",
)
@checked(seed=SEED, prior=POSITIVE)
def by_plackett_luce(asked: RankedQuery, *, seed: int = 0, prior: float = PRIOR_DEVIATION) -> Evidence:
    """Every pair compared by the posterior of the difference of strengths, whether or not an expert ranked both.

    >>> asked = RankedQuery("q", ("a", "b"), ("x", "y"), np.array([[2.0, 1.0], [2.0, 1.0]]))
    >>> by_plackett_luce(asked).documents
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
@checked(resamples=COUNT, prior=POSITIVE, seed=SEED)
def by_resampled_strength(
    asked: RankedQuery, *, seed: int = 0, prior: float = PRIOR_DEVIATION, resamples: int = RESAMPLES
) -> Evidence:
    """How often, over resampled experts, the document of the row is no stronger than that of the column.

    p = (1 + times) / (1 + resamples). Experts are resampled, so that choices of one expert need not be independent, as
    the posterior takes them to be. Each resample is one step of Newton's from the strengths of all.

    >>> asked = RankedQuery("q", ("a", "b"), ("x", "y"), np.array([[2.0, 1.0], [2.0, 1.0]]))
    >>> by_resampled_strength(asked, resamples=99).sooner[0].tolist()
    [1.0, 0.01]
    """
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
    return found.value + np.linalg.solve(curvature, gradient[..., None])[..., 0]


def _evidence(asked: RankedQuery, found: Strengths, sooner: Floats) -> Evidence:
    return found.evidence(
        asked.query,
        asked.documents,
        sooner=sooner,
        compared=~np.eye(len(asked.documents), dtype=np.bool_),
        answers=asked.times_ranked,
    )
