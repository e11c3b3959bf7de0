"""What every relevance estimator offers: beliefs about candidates that each judgment sharpens.

An *estimator* is a registered function that starts a *model* on candidates and a measure. At any moment a model knows
the expected relevance of every pair and its variance, the expected scores of systems and their covariance, and how much
a judgment of each pair would tell about them. Relevance r is grade / highest grade, from 0 to 1. With w_i the weight of
rank i, all estimators know measures that are linear in relevance, or ratios of two such sums (thesis 8.1):

    score = Σ_i w_i r_{A_i} / c                  CG, DCG, RBP, and P on a binary scale
    score = Σ_i w_i r_{A_i} / Σ_i w_i r_{I_i}    nDCG, and any with ``ideal=judged``: I sorts the query's candidates

Other measures (AP, RR, ERR, Q, GAP, gains that are not linear, relevance from a grade on) are expectations over draws
of relevance (``hierarchical``), or over which document is the relevant one (``known_item``).

Confidence in the sign of a difference between systems (thesis 8.20, AdMIRe 2012 eq. 5) is

    C_ab = F(|E[Δ_ab]| / √(inflation · Var[Δ_ab]))

with F the normal distribution (AdMIRe) or Student's t with n_queries - 1 degrees of freedom (thesis). A difference
without variance has confidence 1, even if it is 0: two copies of a system, or equal systems with everything judged, are
a tie that no judgment can change. A difference of 0 that does vary has confidence 1/2. No confidence is ever NaN.

What a user of the order gets is a *promise*: that the order of a and b is not wrong by more than a zone of differences
that do not matter, F((|E[Δ_ab]| + zone) / √(inflation · Var[Δ_ab])).

All of this is about the queries at hand. About queries like these, of which they are a sample, :func:`on_new_queries`
says what mean scores μ to expect; F is Student's t with n_queries - 1 degrees of freedom.

Urbano, J. and Schedl, M., Towards minimal test collections for evaluation of audio music similarity and retrieval,
WWW 2012 Companion (AdMIRe), doi:10.1145/2187980.2188223.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Literal, TypedDict, Unpack

import numpy as np
from scipy.sparse import csr_array
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from adjudge.arrays import Floats, Ints, Mask
from adjudge.checks import COUNT, POSITIVE, Kind, checked
from adjudge.errors import AdjudgeError, shown
from adjudge.measures.base import Measure, parse_measure
from adjudge.measures.parameters import GAINS, discounts
from adjudge.model.collection import Collection
from adjudge.model.rankings import Lists
from adjudge.model.scales import Scale
from adjudge.parallel import one_thread
from adjudge.registry import Registry, unknown
from adjudge.relevance.candidates import Candidates
from adjudge.stats.ranks import Ranks, stepped_down, top_shares

if TYPE_CHECKING:
    from adjudge.relevance.models import FittedModel

_SUMS = ("CG", "DCG", "nDCG", "RBP", "P")
SUPPORTED = (*_SUMS, "AP", "RR", "ERR", "Q", "GAP", "R", "F1", "Success")


@dataclass(frozen=True, eq=False)
class Scoring:
    """A measure as weights of ranks 1..k.

    ``divisor`` is the constant c, None where scores are divided by the weighted sum of the ideal list instead.
    ``binary`` measures ask whether a document is relevant, so relevance must be 0 or 1. ``drawn`` is a measure that is
    neither linear nor such a ratio; its weights are what a single document of the highest grade is worth at each rank.
    """

    measure: str
    weights: Floats
    divisor: float | None
    binary: bool = False
    drawn: Measure | None = None

    @property
    def linear(self) -> bool:
        """Whether scores are linear in relevance."""
        return self.divisor is not None and self.drawn is None

    @property
    def highest(self) -> float:
        """The highest score that there is, that of a list of perfect documents; the lowest is 0."""
        return 1.0 if self.divisor is None else float(self.weights.sum()) / self.divisor

    def step(self, candidates: Candidates) -> float:
        """The smallest difference of mean scores; 0 where it may be as small as can be."""
        levels = candidates.scale.levels
        if levels is None or self.divisor is None or np.ptp(self.weights) > 0:
            return 0.0
        grade = (candidates.scale.maximum - candidates.scale.minimum) / (levels - 1) / candidates.scale.maximum
        return float(self.weights[0]) * grade / self.divisor / candidates.n_queries

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
    >>> scoring("AP@3", FINE).weights.round(3).tolist()
    [1.0, 0.5, 0.333]
    """
    parsed, k = estimable(measure)
    options = dict(parsed.parameters)
    rel = options.get("rel")
    if (rel or 0) > scale.maximum:
        raise AdjudgeError(f"{parsed}: expected a rel of at most {scale.maximum:g}, the highest of {scale}")
    by_threshold = rel is not None or ("rel" in options and parsed.name != "RBP")
    binary = by_threshold and scale.maximum == 1
    if parsed.name not in _SUMS or by_threshold != binary or options.get("gain", _LINEAR) != _LINEAR:
        return _drawn(parsed, k, scale, binary)
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


_LINEAR = GAINS["linear"]


def _drawn(measure: Measure, k: int, scale: Scale, binary: bool) -> Scoring:
    """A measure that is asked itself."""
    grades = np.concatenate([np.eye(k), np.ones((1, k))]) * scale.maximum
    pool, judged, sizes = -np.sort(-grades, axis=1), np.ones(grades.shape, dtype=np.bool_), np.full(k + 1, k)
    worth = measure(Lists(grades, judged, sizes, pool, sizes, np.arange(k + 1), scale))
    return Scoring(str(measure), worth[:k], float(worth[:k].sum() / worth[k]), binary, measure)


def refuse_drawn(scoring: Scoring) -> None:
    """Refuse measures that need draws, for estimators that cannot draw."""
    if scoring.drawn is not None:
        raise AdjudgeError(f"{scoring.measure}: only hierarchical and known_item estimate this measure.")


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


def variance_of_systems(scores: Scores, sampling: Floats) -> float:
    """τ², the variance of true means: that of m and J together, less what the sample of queries adds; at least 0."""
    found = scores.mean.var(ddof=1) + _apart(scores.covariance) - _apart(sampling)
    return max(float(found), 0.0)


def _apart(covariance: Floats) -> float:
    """Mean variance of a system around the mean of all."""
    n = len(covariance)
    return float((np.trace(covariance) - covariance.sum() / n) / (n - 1))


def on_new_queries(scores: Scores, sampling: Floats, tau2: float | None = None) -> Scores:
    """Mean scores μ on all queries like these, from those on these, y, of which m and J are expectation and covariance.

    S / n is the covariance of y as these are a ``sampling`` of n queries. With true means N(centre, τ²) around the mean
    of all systems, E μ = centre + b (m - centre) and Cov μ = b S / n + b² J: where systems differ in a sample, part of
    that is the sample's. b = τ² / (τ² + σ² / n) is Eρ², with σ² / n the mean variance of a system in S / n; ``tau2`` is
    what :func:`variance_of_systems` says unless it is given. With everything judged J = 0, b is Eρ² of a G-study, and a
    difference over its standard deviation is √b times Student's t of pairs.
    """
    n_systems = len(scores.mean)
    if n_systems < 2:
        return Scores(scores.mean, scores.covariance + sampling)
    tau2 = variance_of_systems(scores, sampling) if tau2 is None else tau2
    total = tau2 + _apart(sampling)
    kept = max(tau2 / total, _LEAST_KEPT) if total > 0 else 1.0
    centre = scores.mean.mean()
    return Scores(centre + kept * (scores.mean - centre), kept * sampling + kept**2 * scores.covariance)


_LEAST_KEPT = 0.01  # of differences; 0 would make them certain


class RelevanceModel(ABC):
    """Beliefs about the relevance of candidates; changes with every judgment."""

    candidates: Candidates
    scoring: Scoring
    judged: Mask
    weighs_assessors: bool = False
    """Whether answers of several assessors to one pair are more to it than their mean."""
    inflation: float = 1.0
    """Factor of variances of scores and differences in intervals."""
    order_inflation: float = 1.0
    """Factor of variances of differences in claims about the order of systems."""
    top_inflation: float = 1.0
    """Factor of variances in promises about the first systems, of which some have been lucky so far."""
    confidence_df: int | None = None
    """Degrees of freedom of Student's t in claims; None for the normal distribution."""
    step: float = 0.0
    """Smallest difference of mean scores that claims about the order reckon with; 0 where any size is possible."""

    @cached_property
    def answers(self) -> dict[tuple[int, str], float]:
        """Relevance by pair and assessor, in the order of judging; nameless assessors are one."""
        return {}

    @property
    @abstractmethod
    def mean(self) -> Floats:
        """Expected relevance of each pair; the judged relevance where there is one and it is exact."""

    @property
    @abstractmethod
    def variance(self) -> Floats:
        """Variance of the relevance of each pair; 0 where judged and judgments are exact."""

    @property
    def answer_variance(self) -> Floats:
        """Variance of what another assessor would say of each pair."""
        return self.variance

    @abstractmethod
    def judge(self, pair: int, relevance: float, assessor: str = "") -> None:
        """Learn what an assessor says of the relevance of a pair, and re-estimate where that is due."""

    @abstractmethod
    def scores(self) -> Scores:
        """Expected mean scores of the systems under the measure."""

    @abstractmethod
    def influence(self) -> Floats:
        """Cov(relevance of pair i, score of system s), pairs x systems; rows of pairs without variance are 0."""

    @abstractmethod
    def query_scores(self) -> tuple[Floats, Floats, Floats]:
        """Scores of each query: expectation and variance, queries x systems; covariance, summed over queries."""

    def ideal(self) -> Floats:
        """Expected divisor of each query: Σ_i w_i E[r] of its candidates by E[r]; 1 for linear measures."""
        if self.scoring.linear:
            return np.ones(self.candidates.n_queries)
        return ideal_sums(self.candidates, self.scoring.weights, self.mean)

    def judge_all(self) -> None:
        """Learn all judgments of the candidates, in their order."""
        for (pair, assessor), relevance in self._known():
            self.judge(pair, relevance, assessor)

    def _known(self) -> list[tuple[tuple[int, str], float]]:
        """Judgments of the candidates that are still to be learned, by pair and name of the assessor."""
        c = self.candidates
        if c.answers is None:
            rows = np.flatnonzero(c.judged & ~self.judged)
            known = [((pair, ""), value) for pair, value in zip(rows.tolist(), c.relevance[rows].tolist(), strict=True)]
        else:
            names = [c.answers.assessors[who] for who in c.answers.assessor]
            answers = zip(c.answers.pair.tolist(), names, c.answers.relevance.tolist(), strict=True)
            known = [((pair, name), value) for pair, name, value in answers if (pair, name) not in self.answers]
        return known

    def _record(self, pair: int, relevance: float, assessor: str) -> None:
        """Note an answer; refused where it cannot be one."""
        if not 0 <= pair < len(self.candidates):
            raise AdjudgeError(f"Expected a pair from 0 to {len(self.candidates) - 1}, got {pair}")
        if (pair, assessor) in self.answers:
            by = f" by {shown(assessor)}" if assessor else ""
            raise AdjudgeError(f"Pair {pair} is judged already{by}; correct a judgment by starting again without it.")
        if not 0 <= relevance <= 1:
            raise AdjudgeError(f"Expected relevance from 0 to 1, got {relevance}")
        self.answers[pair, assessor] = relevance
        self.judged[pair] = True


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
    noisy: bool
    noise: Mapping[str, float]


OPTIONS = Kind(Mapping, "options of the estimator by name")
StartModel = Callable[..., RelevanceModel]  # (candidates, scoring, **options) -> model
ESTIMATORS: Registry[StartModel] = Registry(
    "relevance estimator",
    "adjudge.relevance.estimators",
    "adjudge.relevance.hierarchical.model",
    "adjudge.relevance.known_item",
)


def estimator(name: str) -> Callable[[StartModel], StartModel]:
    """Register a relevance estimator; the function comes back unchanged."""
    return ESTIMATORS.register(name)


@one_thread()
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


def kept(scores: Scores, zone: float, df: int | None = None, inflation: float = 1.0) -> Floats:
    """Probability that the order of each two systems is not wrong by more than the zone, systems x systems."""
    expected, variance = scores.differences()
    certain = variance == 0
    sure = _below((np.abs(expected) + zone) / np.sqrt(np.where(certain, 1.0, inflation * variance)), df)
    return np.where(certain, 1.0, sure)


def _below(z: Floats, df: int | None) -> Floats:
    probability: Floats = ndtr(z) if df is None else stdtr(df, z)
    return probability


def mean_of_pairs(matrix: Floats) -> float:
    """Mean over all pairs of systems of a symmetric matrix of confidence; 1 with a single system."""
    pairs = matrix[np.triu_indices(len(matrix), 1)]
    return float(pairs.mean()) if len(pairs) else 1.0


_ROUNDING = 1e-9  # of steps
ROUNDING = 1e-12
"""Differences of true scores below this are rounding."""
_DRAWS = 4096


@lru_cache(maxsize=8)
def _standard_normal(n_systems: int) -> Floats:
    """Draws x systems, always the same ones; the second half reflects the first."""
    half = np.random.default_rng(0).standard_normal((_DRAWS // 2, n_systems))
    return np.concatenate([half, -half])


def symmetric_root(covariance: Floats) -> Floats:
    """A symmetric matrix whose square is the covariance, the same on all machines; what is below 0 is rounding."""
    values, vectors = np.linalg.eigh(covariance)
    root: Floats = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T  # signs of vectors differ
    return root


def _draw(scores: Scores, inflation: float, df: int | None) -> Floats:
    """Draws of scores, draws x systems; of the multivariate t with ``df``."""
    root = symmetric_root(scores.covariance * inflation)
    moves = _standard_normal(len(root)) @ root
    if df is not None:
        moves *= np.sqrt(df / np.random.default_rng(1).chisquare(df, (len(moves), 1)))
    return np.asarray(scores.mean + moves)


@dataclass(frozen=True, eq=False)
class View:
    """What a model says between two judgments, computed once for rules, goals and reports.

    Differences smaller than ``zone`` do not matter: a pair is settled when its sign is sure, or when it is surely that
    near. ``top`` is the number of systems that count as the best ones.
    """

    model: RelevanceModel
    zone: float = 0.0
    top: int = 3

    @cached_property
    def scores(self) -> Scores:
        """Expected scores of the systems and their covariance."""
        return self.model.scores()

    @cached_property
    def differences(self) -> tuple[Floats, Floats]:
        """Expectation and variance, as claimed, of the score of a (row) minus that of b (column)."""
        expected, variance = self.scores.differences()
        return expected, variance * self.model.inflation

    def _halfway(self, zone: float) -> float:
        """From a zone up to halfway to the next difference that there can be: grades come in steps, so scores do."""
        step = self.model.step
        return step * (np.floor(zone / step + _ROUNDING) + 0.5) if step else zone

    @cached_property
    def confidence(self) -> Floats:
        """Confidence in each difference, systems x systems; 1 on the diagonal."""
        return np.maximum(self.sign, self.near) if self.zone else self.sign

    @cached_property
    def sign(self) -> Floats:
        """Confidence that the order of each two systems is not wrong, however near they are; 1 on the diagonal."""
        return kept(self.scores, self._halfway(0.0), self.model.confidence_df, self.model.order_inflation)

    def orders_kept(self, truth: Floats) -> Floats:
        """Whether orders are not wrong by more than the zone, given the true scores; 1/2 where none is claimed."""
        expected, true = self.differences[0], truth[:, None] - truth
        kept = np.where(expected == 0, 0.5, -np.sign(expected) * true <= self.zone + ROUNDING)
        return np.where(np.abs(true) <= self.zone + ROUNDING, 1.0, kept)

    def signs_right(self, truth: Floats, zone: float) -> Floats:
        """Whether signs are right, or differences within a zone, given the true scores; 1/2 where none is claimed."""
        expected, true = self.differences[0], truth[:, None] - truth
        right = np.where(expected == 0, 0.5, np.sign(expected) == np.sign(true))
        return np.where(np.abs(true) <= zone + ROUNDING, 1.0, right)

    def told(self, confidence: float) -> Mask:
        """Which systems are told apart, systems x systems."""
        told: Mask = (self.sign >= confidence) & (self.differences[0] != 0)
        return told

    @cached_property
    def near(self) -> Floats:
        """Probability that each difference is at most the zone."""
        zone = self._halfway(self.zone)
        return within(self.scores, zone, self.model.confidence_df, self.model.order_inflation)

    @cached_property
    def promise(self) -> Floats:
        """Probability that the order of each two systems is not wrong by more than the zone; 1 on the diagonal."""
        zone = self._halfway(self.zone)
        return kept(self.scores, zone, self.model.confidence_df, self.model.order_inflation)

    @cached_property
    def order(self) -> Ints:
        """Systems by expected score, best first."""
        rank = (self.differences[0] < 0).sum(axis=1)
        return np.argsort(rank, kind="stable")

    @cached_property
    def drawn(self) -> Floats:
        """Draws of the scores of all systems together, draws x systems."""
        return _draw(self.scores, self.model.inflation, self.model.confidence_df)

    @cached_property
    def chances(self) -> tuple[Floats, Floats]:
        """Probability of each system to have the highest score, and one of the ``top`` highest; ties share."""
        drawn = self.drawn.T
        return top_shares(drawn, 1) / drawn.shape[1], top_shares(drawn, min(self.top, len(drawn))) / drawn.shape[1]

    def ranks(self, confidence: float) -> Ranks:
        """Ranks that are possible on these queries: all orders that are claimed are right at once, so sure is that."""
        covariance = self.scores.covariance * self.model.inflation
        moves = np.ascontiguousarray((self.drawn - self.scores.mean).T)
        p = stepped_down(self.scores.mean, covariance, iter([moves]), complete=False)
        p[(self.differences[1] == 0) & (self.differences[0] > 0)] = 0.0  # what is certain
        return Ranks(self.scores.mean, p, p <= 1 - confidence)

    def top_promise(self, top: int) -> float:
        """Probability that none of the other systems is better by more than the zone than one of the ``top`` first."""
        if top >= len(self.order):
            return 1.0
        drawn = self.scores.mean + np.sqrt(self.model.top_inflation / self.model.inflation) * (
            self.drawn - self.scores.mean
        )
        best, others = drawn[:, self.order[:top]], drawn[:, self.order[top:]]
        slack = self.zone + 1e-12 * np.abs(self.scores.mean).max(initial=0.0)
        return float((others.max(axis=1) - best.min(axis=1) <= slack).mean())

    @cached_property
    def sampling(self) -> Floats | None:
        """Covariance of mean scores as these queries are a sample of queries, S / n; None with a single query."""
        n = self.model.candidates.n_queries
        if n < 2:
            return None
        by_query, _, within = self.model.query_scores()
        apart = by_query - by_query.mean(axis=0)
        return np.asarray((apart.T @ apart + within - n * self.scores.covariance) / (n * (n - 1)))

    @cached_property
    def elsewhere(self) -> Scores | None:
        """Scores on queries like these, of which these are a sample; None with a single query."""
        return None if self.sampling is None else on_new_queries(self.scores, self.sampling)

    @cached_property
    def best_elsewhere(self) -> Floats | None:
        """Probability of each system to be the best on queries like these; None with a single query."""
        if self.elsewhere is None:
            return None
        drawn = _draw(self.elsewhere, 1.0, self.model.candidates.n_queries - 1).T
        return np.asarray(top_shares(drawn, 1) / drawn.shape[1])

    @cached_property
    def sign_elsewhere(self) -> Floats | None:
        """Confidence in the sign of each difference on queries like these; None with a single query."""
        n = self.model.candidates.n_queries
        return None if self.elsewhere is None else confidence(self.elsewhere, n - 1)

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
    def n_answers(self) -> int:
        """Number of judgments, of all assessors."""
        return len(self.model.answers)

    @property
    def open(self) -> Mask:
        """Candidates that are not judged yet."""
        return np.logical_not(self.model.judged)
