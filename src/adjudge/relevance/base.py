"""What every relevance estimator offers: beliefs about candidates that each judgment sharpens.

An *estimator* is a registered function that starts a *model* on candidates and a measure. At any moment a model knows
the expected relevance of every pair and its variance, the expected scores of systems and their covariance, and how much
a judgment of each pair would tell about them. Relevance r is grade / highest grade, from 0 to 1. With w_i the weight of
rank i, the measures that can be estimated are linear in relevance, or ratios of two such sums (thesis 8.1):

    score = Σ_i w_i r_{A_i} / c                  CG, DCG, RBP, and P on a binary scale
    score = Σ_i w_i r_{A_i} / Σ_i w_i r_{I_i}    nDCG, and any with ``ideal=judged``: I sorts the query's candidates

Confidence in the sign of a difference between systems (thesis 8.20, AdMIRe 2012 eq. 5) is

    C_ab = F(|E[Δ_ab]| / √(inflation · Var[Δ_ab]))

with F the normal distribution (AdMIRe) or Student's t with n_queries - 1 degrees of freedom (thesis). A difference
without variance has confidence 1, even if it is 0: two copies of a system, or equal systems with everything judged, are
a tie that no judgment can change. A difference of 0 that does vary has confidence 1/2. No confidence is ever NaN.

Urbano, J. and Schedl, M., Towards minimal test collections for evaluation of audio music similarity and retrieval,
WWW 2012 Companion (AdMIRe), doi:10.1145/2187980.2188223.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Literal, TypedDict, Unpack

import numpy as np
from scipy.sparse import csr_array
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from adjudge.arrays import Floats, Mask
from adjudge.checks import COUNT, POSITIVE, Kind, checked
from adjudge.errors import AdjudgeError
from adjudge.measures.base import Measure, parse_measure
from adjudge.measures.parameters import GAINS, discounts
from adjudge.model.collection import Collection
from adjudge.model.scales import Scale
from adjudge.registry import Registry, unknown
from adjudge.relevance.candidates import Candidates

if TYPE_CHECKING:
    from adjudge.relevance.models import FittedModel

SUPPORTED = ("CG", "DCG", "nDCG", "RBP", "P")


@dataclass(frozen=True, eq=False)
class Scoring:
    """A measure as weights of ranks 1..k.

    ``divisor`` is the constant c, None where scores are divided by the weighted sum of the ideal list instead.
    ``binary`` measures ask whether a document is relevant, so relevance must be 0 or 1.
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
        """The score of a list of perfect documents; the lowest is 0."""
        return 1.0 if self.divisor is None else float(self.weights.sum()) / self.divisor

    def entries(self, candidates: Candidates) -> Floats:
        """Weight of each entry in its system's score for its query, before dividing."""
        return self.weights[candidates.entry_rank - 1]

    def matrix(self, candidates: Candidates) -> csr_array:
        """Pairs x systems: the weight of each pair in the score of each system, divided by c where there is one."""
        shape = (len(candidates), candidates.n_systems)
        data = self.entries(candidates) / (1.0 if self.divisor is None else self.divisor)
        return csr_array((data, (candidates.entry_pair, candidates.entry_system)), shape=shape)


def estimable(measure: str | Measure) -> tuple[Measure, int]:
    """Parse a measure that can be estimated on some scale, and its cutoff; other measures are refused."""
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
    """The measure to use by default: CG, or nDCG where grades only say an order."""
    judgments = collection.judgments
    name = "nDCG" if judgments is not None and judgments.scale.says_order_only else "CG"
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
    divisor: float | None = 1.0 / scale.maximum
    if parsed.ideal == "judged":
        divisor = None
    elif parsed.ideal == "max" or parsed.name == "P":
        divisor = float(weights.sum())
    elif parsed.name == "RBP":
        divisor = 1.0 / (1.0 - float(options["p"]))
    return Scoring(str(parsed), weights, divisor, binary)


def ideal_sums(candidates: Candidates, weights: Floats, relevance: Floats) -> Floats:
    """Σ_i w_i r_{I_i} of each query, I its candidates by falling relevance."""
    order = np.lexsort((-relevance, candidates.query))
    rank = np.arange(len(order)) - candidates.offsets[candidates.query]
    top = rank < len(weights)
    gains = weights[rank[top]] * relevance[order][top]
    return np.bincount(candidates.query[top], gains, minlength=candidates.n_queries).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Scores:
    """Mean score of every system over the queries: expectation (systems,) and covariance (systems x systems)."""

    mean: Floats
    covariance: Floats

    def differences(self) -> tuple[Floats, Floats]:
        """Expectation and variance of the score of a (row) minus that of b (column).

        They are 0 below 10⁻¹² of the largest score and 10⁻¹⁰ of the largest variance: that is rounding.
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
    """Factor of variances of scores and differences in claims."""
    confidence_df: int | None = None
    """Degrees of freedom of Student's t in claims; None for the normal distribution."""

    @property
    @abstractmethod
    def mean(self) -> Floats:
        """Expected relevance of each pair; the judged relevance where there is one."""

    @property
    @abstractmethod
    def variance(self) -> Floats:
        """Variance of the relevance of each pair; 0 where judged."""

    @abstractmethod
    def judge(self, pair: int, relevance: float) -> None:
        """Learn the relevance of a pair, and re-estimate where that is due."""

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
        """Expected divisor of each query: Σ_i w_i E[r] of its candidates by E[r]; 1 for linear measures."""
        if self.scoring.linear:
            return np.ones(self.candidates.n_queries)
        return ideal_sums(self.candidates, self.scoring.weights, self.mean)

    def judge_all(self) -> None:
        """Learn all judgments of the candidates, in their order."""
        for pair in np.flatnonzero(self.candidates.judged & ~self.judged):
            self.judge(int(pair), float(self.candidates.relevance[pair]))

    def _check(self, pair: int, relevance: float) -> None:
        """Refuse what cannot be judged."""
        if not 0 <= pair < len(self.candidates):
            raise AdjudgeError(f"Expected a pair from 0 to {len(self.candidates) - 1}, got {pair}")
        if self.judged[pair]:
            raise AdjudgeError(f"Pair {pair} is judged already; correct a judgment by starting again without it.")
        if not 0 <= relevance <= 1:
            raise AdjudgeError(f"Expected relevance from 0 to 1, got {relevance}")


class EstimatorOptions(TypedDict, total=False):
    """Options of the estimators, by name.

    What an estimator does not take is refused; a registered estimator of one's own may take others.
    """

    sound: bool  # all
    refresh: int  # prior, judgments
    mean: float  # prior
    variance: float
    from_judgments: bool
    strength: float
    model: FittedModel  # output, judgments
    first: FittedModel  # judgments
    features: Literal["full", "plain"]  # hierarchical
    base: Floats
    variances: Mapping[str, float]
    prior_variances: Mapping[str, float]
    prior_sd: float
    draws: int
    seed: int


OPTIONS = Kind(Mapping, "options of the estimator by name")
StartModel = Callable[..., RelevanceModel]  # (candidates, scoring, **options) -> model
ESTIMATORS: Registry[StartModel] = Registry(
    "relevance estimator", "adjudge.relevance.estimators", "adjudge.relevance.hierarchical.model"
)


def estimator(name: str) -> Callable[[StartModel], StartModel]:
    """Register a relevance estimator; the function comes back unchanged."""
    return ESTIMATORS.register(name)


def start(name: str, candidates: Candidates, scoring: Scoring, **options: Unpack[EstimatorOptions]) -> RelevanceModel:
    """Start the model of an estimator, and learn what is judged already."""
    make = ESTIMATORS[name]
    known = signature(make).parameters.values()
    names = [parameter.name for parameter in known if parameter.kind is Parameter.KEYWORD_ONLY]
    for option in options:
        if option not in names and not any(parameter.kind is Parameter.VAR_KEYWORD for parameter in known):
            raise unknown(f"option of {name}", option, names)
    model = make(candidates, scoring, **options)
    model.judge_all()
    return model


@checked(df=COUNT, inflation=POSITIVE)
def confidence(scores: Scores, df: int | None = None, inflation: float = 1.0, *, zone: float = 0.0) -> Floats:
    """Confidence in the sign of each difference, systems x systems, 1 on the diagonal.

    ``df`` are the degrees of freedom of Student's t, None for the normal distribution. ``inflation`` enlarges the
    variance of differences. Differences below ``zone`` do not matter: where P(|Δ| <= zone) is higher than the
    confidence in the sign, it is the confidence.

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
    """P(|Δ_ab| <= zone) of each difference, systems x systems; 0 or 1 where it does not vary."""
    expected, variance = scores.differences()
    certain = variance == 0
    sd = np.sqrt(np.where(certain, 1.0, inflation * variance))
    inside = _below((zone - expected) / sd, df) - _below((-zone - expected) / sd, df)
    return np.where(certain, (np.abs(expected) <= zone).astype(np.float64), inside)


def _below(z: Floats, df: int | None) -> Floats:
    probability: Floats = ndtr(z) if df is None else stdtr(df, z)
    return probability


def mean_of_pairs(matrix: Floats) -> float:
    """Mean over all pairs of systems of a symmetric matrix of confidence; 1 with a single system."""
    pairs = matrix[np.triu_indices(len(matrix), 1)]
    return float(pairs.mean()) if len(pairs) else 1.0


@dataclass(frozen=True, eq=False)
class View:
    """What a model says between two judgments, computed once for rules, goals and reports.

    Differences smaller than ``zone`` do not matter: a pair is settled when its sign is sure, or when it is surely that
    near.
    """

    model: RelevanceModel
    zone: float = 0.0

    @cached_property
    def scores(self) -> Scores:
        """Expected scores of the systems and their covariance."""
        return self.model.scores()

    @cached_property
    def differences(self) -> tuple[Floats, Floats]:
        """Expectation and variance, as claimed, of the score of a (row) minus that of b (column)."""
        expected, variance = self.scores.differences()
        return expected, variance * self.model.inflation

    @cached_property
    def confidence(self) -> Floats:
        """Confidence in each difference, systems x systems; 1 on the diagonal."""
        return confidence(self.scores, self.model.confidence_df, self.model.inflation, zone=self.zone)

    @cached_property
    def sign(self) -> Floats:
        """Confidence in the sign of each difference, however small; 1 on the diagonal."""
        return confidence(self.scores, self.model.confidence_df, self.model.inflation) if self.zone else self.confidence

    @cached_property
    def near(self) -> Floats:
        """Probability that each difference is at most the zone."""
        return within(self.scores, self.zone, self.model.confidence_df, self.model.inflation)

    def quantile(self, confidence: float) -> float:
        """Standard deviations on each side of an interval of this confidence."""
        df = self.model.confidence_df
        return float(ndtri((1 + confidence) / 2) if df is None else stdtrit(df, (1 + confidence) / 2))

    @cached_property
    def upper(self) -> Mask:
        """Each pair of systems once."""
        n = len(self.scores.mean)
        return np.triu(np.ones((n, n), dtype=np.bool_), 1)

    @property
    def mean_confidence(self) -> float:
        """Mean confidence over pairs of systems; 1 with a single system."""
        return mean_of_pairs(self.confidence)

    @property
    def n_judged(self) -> int:
        """Number of judged pairs."""
        return int(np.count_nonzero(self.model.judged))

    @property
    def open(self) -> Mask:
        """Candidates that are not judged yet."""
        return np.logical_not(self.model.judged)
