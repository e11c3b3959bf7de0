"""What every relevance estimator offers: beliefs about candidates that each judgment sharpens.

An *estimator* is a registered function that starts a *model* on candidates and a measure. A model knows, at any moment,
the expected relevance of every pair and how sure that is, the expected score of every system and how scores vary
together, and how much a judgment of each pair would tell about them. Relevance is grade / highest grade, from 0 to 1.

Measures whose expectation over unknown relevance has a sound form: weighted sums of gains, and their ratios.

With r_d the relevance of document d (grade / highest grade) and w_i the weight of rank i, a list has

    score = Σ_i w_i r_{A_i} / c          CG, DCG, RBP, and P on a binary scale: linear in relevance
    score = Σ_i w_i r_{A_i} / Σ_i w_i r_{I_i}    nDCG, and any with ``ideal=judged``: I sorts the query's candidates

(thesis 8.1). What is unknown enters linearly, or as a ratio of two such sums.

How sure the sign of a difference between systems is, and a ranking of them (thesis 8.20, AdMIRe 2012 eq. 5).

    C_ab = F(|E[Δ_ab]| / √(inflation · Var[Δ_ab]))

with F the normal distribution (AdMIRe) or Student's t with n_queries - 1 degrees of freedom (thesis). What is known for
certain has confidence 1: a difference without variance, and also a tie without variance, such as two copies of a system
or equal systems with everything judged, because no judgment can change what is said of the pair. A difference of 0 that
does vary has confidence 1/2. No confidence is ever NaN.

Urbano, J. and Schedl, M., Towards minimal test collections for evaluation of audio music similarity and retrieval,
WWW 2012 Companion (AdMIRe), doi:10.1145/2187980.2188223.

What a model says at one moment: scores, differences and confidence, computed once for rules, goals and reports.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.special import ndtr, stdtr

from adjudge.arrays import Floats, Mask
from adjudge.checks import COUNT, POSITIVE, checked
from adjudge.errors import AdjudgeError
from adjudge.measures.base import Measure, parse_measure
from adjudge.measures.gains import discounts
from adjudge.measures.parameters import GAINS
from adjudge.model.collection import Collection
from adjudge.model.scales import Scale
from adjudge.registry import Registry
from adjudge.relevance.candidates import Candidates

SUPPORTED = ("CG", "DCG", "nDCG", "RBP", "P")


@dataclass(frozen=True, eq=False)
class Scoring:
    """A measure as weights of ranks 1..k.

    ``divisor`` is the constant c, None where scores are divided by the ideal's weighted sum instead. ``binary`` ones
    ask whether a document is relevant, which is its relevance only where that is 0 or 1.
    """

    measure: str
    weights: Floats
    divisor: float | None
    binary: bool = False

    @property
    def linear(self) -> bool:
        """Whether scores are linear in relevance."""
        return self.divisor is not None

    @property
    def highest(self) -> float:
        """The score of a list that is relevant throughout; the lowest is 0."""
        return 1.0 if self.divisor is None else float(self.weights.sum()) / self.divisor

    def entries(self, candidates: Candidates) -> Floats:
        """Weight of each entry in its system's score for its query, before dividing."""
        return self.weights[candidates.entry_rank - 1]

    def matrix(self, candidates: Candidates) -> csr_array:
        """Pairs x systems: weights of relevance in sums over ranks, divided by c where that is constant."""
        shape = (len(candidates), candidates.n_systems)
        data = self.entries(candidates) / (1.0 if self.divisor is None else self.divisor)
        return csr_array((data, (candidates.entry_pair, candidates.entry_system)), shape=shape)


def estimable(measure: str | Measure) -> tuple[Measure, int]:
    """A measure and its cutoff; refused where it cannot be estimated on any scale."""
    parsed = parse_measure(measure) if isinstance(measure, str) else measure
    if parsed.name not in SUPPORTED:
        raise AdjudgeError(
            f"{parsed}: effectiveness can be estimated for {', '.join(SUPPORTED)}, not for this measure."
        )
    if parsed.cutoff is None:
        raise AdjudgeError(f"{parsed}: expected a cutoff, such as {parsed}@5: what is not pooled cannot be estimated.")
    if parsed.judged_only:
        raise AdjudgeError(f"{parsed}: judged_only has no meaning where relevance is estimated.")
    if dict(parsed.parameters).get("gain", GAINS["linear"]) != GAINS["linear"]:
        raise AdjudgeError(f"{parsed}: effectiveness can be estimated for linear gains only.")
    return parsed, parsed.cutoff


def default_measure(collection: Collection) -> str:
    """The measure where none is named: cumulative gain, unless grades of lists only say an order."""
    known = collection.judgments
    name = "nDCG" if known is not None and known.scale.says_order_only else "CG"
    return f"{name}@{max(1, min(10, collection.runs.depth))}"


def scoring(measure: str | Measure, scale: Scale) -> Scoring:
    """The weights of a measure on a scale; refused where its expectation has no sound form here.

    >>> from adjudge.model.scales import FINE
    >>> scoring("CG@5", FINE).weights.tolist(), scoring("CG@5", FINE).divisor
    ([1.0, 1.0, 1.0, 1.0, 1.0], 5.0)
    """
    parsed, k = estimable(measure)
    options = dict(parsed.parameters)
    rel = options.get("rel")
    binary = parsed.name == "P" or rel is not None
    if binary and (scale.maximum != 1 or (rel or 0) > 1):
        raise AdjudgeError(
            f"{parsed}: expected a binary scale and no rel above 1, got {scale}; ask for CG@{k}, or convert grades."
        )
    weights = np.ones(k)
    if parsed.name in ("DCG", "nDCG"):
        weights = discounts(k, options["discount"], options["base"])
    elif parsed.name == "RBP":
        weights = np.power(float(options["p"]), np.arange(k))
    return Scoring(str(parsed), weights, _divisor(parsed, weights, scale), binary)


def _divisor(measure: Measure, weights: Floats, scale: Scale) -> float | None:
    """What sums of weighted relevance are divided by; None for the ideal of the query."""
    if measure.ideal == "judged":
        return None
    if measure.ideal == "max" or measure.name == "P":
        return float(weights.sum())
    if measure.name == "RBP":
        return 1.0 / (1.0 - float(dict(measure.parameters)["p"]))
    return 1.0 / scale.maximum


@dataclass(frozen=True, eq=False)
class Scores:
    """Mean score of every system over the queries: expectation (systems,) and covariance (systems x systems)."""

    mean: Floats
    covariance: Floats

    def differences(self) -> tuple[Floats, Floats]:
        """Expectation and variance of the score of a (row) minus that of b (column); 0 for what rounding leaves of 0.

        That is 10⁻¹² of the largest score, and 10⁻¹⁰ of the largest variance of a score.
        """
        variance = np.diagonal(self.covariance)
        spread = variance[:, None] + variance[None, :] - 2 * self.covariance
        expected = self.mean[:, None] - self.mean[None, :]
        near, certain = 1e-12 * np.abs(self.mean).max(initial=0.0), 1e-10 * variance.max(initial=0.0)
        return np.where(np.abs(expected) > near, expected, 0.0), np.where(spread > certain, spread, 0.0)


class RelevanceModel(ABC):
    """Beliefs about the relevance of candidates; changes with every judgment."""

    candidates: Candidates
    scoring: Scoring
    judged: Mask
    inflation: float = 1.0
    """By how much variances of scores and differences are enlarged before anything is claimed from them."""
    confidence_df: int | None = None
    """Degrees of freedom of Student's t in claims; None for the normal distribution."""

    @property
    @abstractmethod
    def mean(self) -> Floats:
        """Expected relevance of each pair; of judged ones what was judged."""

    @property
    @abstractmethod
    def variance(self) -> Floats:
        """Variance of the relevance of each pair; 0 where judged."""

    @abstractmethod
    def judge(self, pair: int, relevance: float) -> None:
        """Learn the relevance of a pair. Re-estimation that is due happens here."""

    @abstractmethod
    def scores(self) -> Scores:
        """Expected mean scores of the systems under the measure."""

    @abstractmethod
    def influence(self) -> Floats:
        """Cov(relevance of pair i, score of system s), pairs x systems; rows of judged pairs are 0."""

    @abstractmethod
    def query_scores(self) -> tuple[Floats, Floats]:
        """Expectation and variance of the score of each query and system, queries x systems."""

    def ideal(self) -> Floats:
        """By query, what sums over ranks are divided by, as expected: Σ_i w_i E[r] of candidates sorted by E[r].

        1 for linear measures, whose weights contain the constant already.
        """
        candidates, weights = self.candidates, self.scoring.weights
        if self.scoring.linear:
            return np.ones(candidates.n_queries)
        order = np.lexsort((-self.mean, candidates.query))
        rank = np.arange(len(order)) - candidates.offsets[candidates.query]
        inside = rank < len(weights)
        gains = np.where(inside, weights[np.minimum(rank, len(weights) - 1)], 0.0) * self.mean[order]
        return np.bincount(candidates.query, weights=gains, minlength=candidates.n_queries).astype(np.float64)

    def judge_all(self) -> None:
        """Learn everything that the candidates know already, in their order."""
        for pair in np.flatnonzero(self.candidates.judged & ~self.judged):
            self.judge(int(pair), float(self.candidates.relevance[pair]))

    def _check(self, pair: int, relevance: float) -> None:
        """Refuse what cannot be learned."""
        if not 0 <= pair < len(self.candidates):
            raise AdjudgeError(f"Expected a pair from 0 to {len(self.candidates) - 1}, got {pair}")
        if self.judged[pair]:
            raise AdjudgeError(f"Pair {pair} is judged already; correct a judgment by starting again without it.")
        if not 0 <= relevance <= 1:
            raise AdjudgeError(f"Expected relevance from 0 to 1, got {relevance}")


StartModel = Callable[..., RelevanceModel]  # (candidates, scoring, **options) -> model
ESTIMATORS: Registry[StartModel] = Registry(
    "relevance estimator", "adjudge.relevance.estimators", "adjudge.relevance.hierarchical.model"
)


def estimator(name: str) -> Callable[[StartModel], StartModel]:
    """Register a relevance estimator; the function comes back unchanged."""
    return ESTIMATORS.register(name)


def start(name: str, candidates: Candidates, scoring: Scoring, **options: Any) -> RelevanceModel:
    """A model by the name of its estimator, with what is judged already learned."""
    model = ESTIMATORS[name](candidates, scoring, **options)
    model.judge_all()
    return model


@checked(df=COUNT, inflation=POSITIVE)
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


@dataclass(frozen=True, eq=False)
class View:
    """A model between two judgments.

    Differences smaller than ``zone`` do not matter: a pair is settled when its sign is sure, or when it is surely that
    near.
    """

    model: RelevanceModel
    zone: float = 0.0

    @cached_property
    def scores(self) -> Scores:
        """Expected scores of the systems and how they vary together."""
        return self.model.scores()

    @cached_property
    def differences(self) -> tuple[Floats, Floats]:
        """Expectation and variance of the score of a (row) minus that of b (column), the variance as it is claimed."""
        expected, variance = self.scores.differences()
        return expected, variance * self.model.inflation

    @cached_property
    def confidence(self) -> Floats:
        """Confidence in each difference, systems x systems; 1 on the diagonal."""
        return confidence(self.scores, self.model.confidence_df, self.model.inflation, zone=self.zone)

    @cached_property
    def sign(self) -> Floats:
        """Confidence in the sign of each difference, however small it is; 1 on the diagonal."""
        return confidence(self.scores, self.model.confidence_df, self.model.inflation) if self.zone else self.confidence

    @cached_property
    def near(self) -> Floats:
        """Probability that each difference is not larger than the zone."""
        return within(self.scores, self.zone, self.model.confidence_df, self.model.inflation)

    @cached_property
    def upper(self) -> Mask:
        """Each pair of systems once."""
        n = len(self.scores.mean)
        return np.triu(np.ones((n, n), dtype=np.bool_), 1)

    @property
    def mean_confidence(self) -> float:
        """Confidence in the ranking; 1 with a single system."""
        return mean_of_pairs(self.confidence)

    @property
    def n_judged(self) -> int:
        """How many pairs are judged."""
        return int(np.count_nonzero(self.model.judged))

    @property
    def open(self) -> Mask:
        """Which candidates are not judged yet."""
        still: Mask = ~self.model.judged
        return still
