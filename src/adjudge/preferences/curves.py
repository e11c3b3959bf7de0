"""P(Sat | λ) and P(Agr | |Δλ|) for one measure on one scale: shares of bins, curves, and what predicts users best.

**Bins** are equal parts of [0, 1], closed below, the last also above: [0, .1), …, [.9, 1]. Effectiveness is rounded to
nine digits first, so that .3 computed as .2999999999 is in [.3, .4). The interval of a share is Wilson's, with two
changes. (1) For n it takes the number of independent answers that would leave as much unknown: n_eff = p (1 - p) / V,
where V is the variance of the share between clusters (queries, and participants where they are known; both at once by
Cameron, Gelbach and Miller 2011), but never more than the answers that the bin has: two lists of one answer are one
answer. Where all or none are satisfied V is 0 and says nothing; the bin then takes the design effect n / n_eff of all
bins where V is above 0, taken together, or 1 without any. (2) For the normal quantile it takes Student's t with one
degree of freedom less than the bin has clusters, of the kind that has fewest. One cluster alone leaves everything open:
[0, 1].

**Endpoints** are how far people are from the ideal; lower is better. Bins without answers have no share and are left
out of the means. Intervals come from resampled clusters, that of the bias by a curve from the covariance of its
coefficients.

* bias (3.11): sqrt((P(Sat | 0)² + (1 - P(Sat | 1))²) / 2), by a curve at λ = 0 and λ = 1 where one is given, by the
  first and the last bin otherwise, as in the thesis (few pairs of lists have a mean so near an end);
* distance to 1 (3.12): sqrt(mean over bins of (1 - P(Agr = 1 | Δλ in the bin))²);
* distance to 0 (3.13): sqrt(mean over bins of P(Agr = -1 | Δλ in the bin)²). The thesis prints Agr = 1 there, and means
  -1: the text and its Table 3.4 do.

**Predictions** compare combinations by the mean log-likelihood per answer that their curve has not seen, agreement with
three outcomes, satisfaction with two. Folds keep the answers to a query, and those of a participant, together. All
combinations are scored on the same answers, so differences to the best are paired and have intervals from resampled
clusters. Not distinguishable from the best are all whose deficit is within what the largest of the studentised
deviations of all deficits reaches in ``confidence`` of the resamples: the best is chosen by the same data, and many are
compared at once (Hsu 1984, doi:10.1214/aos/1176346715, with the quantile from the bootstrap).

**Which family of curves, and why.** The cubic of eq 4.3 is what the thesis publishes; it may fall, and leave [0, 1].
``bounded`` (see :mod:`adjudge.users.satisfaction`) never does either, has P(Sat | 0) and P(Sat | 1) among its
parameters, as the bias at the endpoints needs, and predicts unseen answers as well as any. Mean log-likelihood per tie,
10 folds by query, 884 ties of the 2012 study, mean over CG, DCG, Q, RBP and GAP on Broad and Fine and over five ways to
make the folds (seeds 0 to 4), and the most that a family is behind the best on any of the ten; by pairs, which is the
default, and by lists, as in the thesis (see :mod:`adjudge.preferences.study`):

============== ========== ============== ========== ==============
family         by pairs   most behind    by lists   most behind
============== ========== ============== ========== ==============
bounded        -0.5477    0.0019         -0.6241    0.0012
cubic          -0.5476    0.0054         -0.6244    0.0023
psychometric   -0.5480    0.0027         -0.6245    0.0017
logistic       -0.5520    0.0110         -0.6256    0.0055
============== ========== ============== ========== ==============

(The cubic clipped to [.01, .99]. From one way to make the folds to another all of them move by up to .003 together, and
the first three change places: only the logistic curve is behind for certain.) So ``bounded`` is the default, and
``cubic`` is there for fidelity. For agreement ``two-stage`` is the default for the same reasons (see
scripts/fit_agreement.py).

The cubic is fitted by least squares to the shares of the bins at their centres, each bin weighted by the number of
lists (or pairs) in it. By lists it then lies, on the 2012 answers, .060 to .077 RMS from Table 4.3, which is of 4,050
other lists, over the lists of the study, for all ten combinations; on an even grid over [0, 1] .060 to .067 for Broad
and .083 to .109 for Fine, which has 4 to 11 lists above .9. Bins elsewhere: at their mean λ .056 to .084 over the
lists, at their lower ends .042 to .081; spread evenly from 0 to 1 .069 to .083 on the even grid. The thesis does not
say where its bins stand, and none of these is plainly the one.

Urbano 2013 (thesis), chapter 3; Cameron, Gelbach and Miller 2011, doi:10.1198/jbes.2010.07136.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.checks import BINS, CONFIDENCE, RESAMPLES_OR_NONE, SEED, SEVERAL, TieUnit, checked
from adjudge.errors import AdjudgeError
from adjudge.preferences.questions import Combination, as_combinations
from adjudge.preferences.study import BAD, GOOD, Evidence, Study, evidence, judged_by_all, percentiles, resampled
from adjudge.results import Column, Result, columns_of
from adjudge.text import counted, percent
from adjudge.users.curves import between_clusters, bin_of, numbered, rows_of
from adjudge.users.noticing import AgreementMapping, fit_agreement, held_out
from adjudge.users.satisfaction import (
    MONOTONE,
    Place,
    SatisfactionMapping,
    curve_slopes,
    fit_satisfaction,
    held_out_satisfaction,
)

DEFAULT_KIND, DEFAULT_FORM = "bounded", "two-stage"
KINDS = ("cubic", *MONOTONE)
"""Kinds of satisfaction curves that can be fitted."""
Facts = tuple[tuple[str, str], ...]

_SHARE_COLUMNS = (
    Column("lower end of the bin", "g", name="from", key=True),
    Column("upper end of the bin", "g", name="to", key=True),
    Column("mean value of its observations", ".3f", name="mean"),
    Column("observations", ",d", name="count", kind="whole"),
    Column("answers that they come from", ",d", name="answers", kind="whole"),
    Column("share of hits among them", ".3f", name="share", ends=("low", "high")),
    Column("lower end of its interval", ".3f", name="low", shown=False),
    Column("upper end of its interval", ".3f", name="high", shown=False),
)


@dataclass(frozen=True, repr=False, eq=False)
class ShareBins(Result):
    """A share in each bin: ``count`` observations of ``answers`` answers, their ``mean``, the share, its interval.

    ``edges`` has one entry more than there are bins. Bins without observations are NaN.
    """

    edges: Floats
    mean: Floats
    count: Ints
    answers: Ints
    share: Floats
    low: Floats
    high: Floats
    confidence: float

    @property
    def used(self) -> Ints:
        """The bins that have observations."""
        return np.flatnonzero(self.count)

    def interval(self, k: int) -> str:
        """Bin k as an interval: ``[0.1, 0.2)``, the last one closed."""
        return f"[{self.edges[k]:.2g}, {self.edges[k + 1]:.2g}{']' if k + 1 == len(self.count) else ')'}"

    def cell(self, k: int, digits: int = 3) -> str:
        """The share of bin k with its interval, a dash where it has no observations."""
        if not self.count[k]:
            return "–"
        return f"{self.share[k]:.{digits}f} [{self.low[k]:.{digits}f}, {self.high[k]:.{digits}f}]"

    rows_name = "bins"

    @property
    def title(self) -> str:
        """What it is, in a line."""
        return f"Share by bin, {percent(self.confidence)} intervals"

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns."""
        return _SHARE_COLUMNS

    def _values(self, names: Iterable[str] | None = None) -> dict[str, Any]:
        ends = {"from": self.edges[:-1], "to": self.edges[1:]}
        wanted = [column.name for column in self.columns] if names is None else names
        return {name: ends[name] if name in ends else getattr(self, name) for name in wanted}

    def _facts(self) -> dict[str, Any]:
        return {"confidence": self.confidence}

    def __repr__(self) -> str:
        return f"<ShareBins: {len(self.count)} bins>"


@dataclass(frozen=True)
class SatisfactionBins:
    """P(Sat | λ) among ties, for one measure on one scale."""

    measure: str
    scale: str
    satisfied: ShareBins


@dataclass(frozen=True)
class AgreementBins:
    """``P(Agr = 1, 0, -1 | |Δλ|)`` among all counted answers, for one measure on one scale.

    ``tied`` counts preferences without a difference. They are among ``cannot_tell``, as no list is the better one.
    """

    measure: str
    scale: str
    agree: ShareBins
    cannot_tell: ShareBins
    disagree: ShareBins
    tied: int

    def first_above(self, level: float = 0.5) -> float | None:
        """Lower end of the first bin in which more than ``level`` prefer the better list; None without such a bin."""
        above = np.flatnonzero(self.agree.share > level)
        return float(self.agree.edges[above[0]]) if len(above) else None


@checked(bins=BINS, confidence=CONFIDENCE)
def satisfaction_bins(
    study: Study | Evidence, measure: str = "", scale: str = "", *, bins: int = 10, confidence: float = 0.95
) -> SatisfactionBins:
    """Share of ties called good, by the mean effectiveness of the two lists, or by that of each list.

    Evidence says which of the two (:func:`~adjudge.preferences.study.evidence`); it is pairs for a study.
    """
    seen = _evidence(study, measure, scale)
    good, clusters = seen.good.astype(np.float64), seen.list_clusters
    shares = share_bins(seen.levels, good, clusters, answer=seen.answer, bins=bins, confidence=confidence)
    return SatisfactionBins(seen.measure, seen.scale, shares)


@checked(bins=BINS, confidence=CONFIDENCE)
def agreement_bins(
    study: Study | Evidence, measure: str = "", scale: str = "", *, bins: int = 10, confidence: float = 0.95
) -> AgreementBins:
    """Shares who prefer the better list, cannot tell, prefer the worse one, by the size of the difference."""
    seen = _evidence(study, measure, scale)
    agree, cannot_tell, disagree = (
        share_bins(
            seen.sizes, (seen.agrees == sign).astype(np.float64), seen.clusters, bins=bins, confidence=confidence
        )
        for sign in (1, 0, -1)
    )
    tied = int(np.count_nonzero((seen.prefers != 0) & (seen.delta == 0)))
    return AgreementBins(seen.measure, seen.scale, agree, cannot_tell, disagree, tied)


def _evidence(study: Study | Evidence, measure: str, scale: str) -> Evidence:
    return evidence(study, measure, scale) if isinstance(study, Study) else study


@checked(bins=BINS, confidence=CONFIDENCE)
def share_bins(
    x: Floats,
    hit: Floats,
    clusters: Mapping[str, Ints],
    *,
    answer: Ints | None = None,
    bins: int = 10,
    confidence: float = 0.95,
) -> ShareBins:
    """Share of hits by bin of x, with the interval described in the module.

    >>> x, hit = np.array([0.05, 0.05, 0.95, 0.95]), np.array([0.0, 1.0, 1.0, 1.0])
    >>> found = share_bins(x, hit, {"query": np.array([0, 1, 0, 1])}, bins=2)
    >>> found.share.tolist(), found.count.tolist()
    ([0.5, 1.0], [2, 2])
    """
    which = bin_of(x, bins)
    count = np.bincount(which, minlength=bins)
    ids = np.arange(len(x)) if answer is None else answer
    own = np.array([len(np.unique(ids[which == k])) for k in range(bins)], dtype=np.int64)
    some = np.where(count > 0, count, np.nan)
    share = np.bincount(which, hit, minlength=bins) / some
    effective, fewest = _effective(which, hit, share, own, tuple(clusters.values()))
    low, high = _wilson(share, effective, fewest, confidence)
    mean = np.bincount(which, x, minlength=bins) / some
    return ShareBins(np.round(np.linspace(0.0, 1.0, bins + 1), 12), mean, count, own, share, low, high, confidence)


def _effective(
    which: Ints, hit: Floats, share: Floats, answers: Ints, clusters: tuple[Ints, ...]
) -> tuple[Floats, Ints]:
    """Independent answers that each bin is worth, and the clusters of the kind of which it has fewest."""
    bins = len(share)
    worth, fewest = np.full(bins, np.nan), np.zeros(bins, dtype=np.int64)
    for k in np.flatnonzero(answers):
        rows = np.flatnonzero(which == k)
        kinds = [numbered(kind[rows]) for kind in clusters]
        fewest[k] = min((int(kind.max()) + 1 for kind in kinds), default=len(rows))
        scores = (hit[rows] - share[k])[:, None] / len(rows)
        variance = float(between_clusters(scores, kinds)[0, 0])
        if variance > 0:
            worth[k] = min(share[k] * (1 - share[k]) / variance, answers[k])
    known = np.isfinite(worth) & (answers > 0)
    effect = float(answers[known].sum() / worth[known].sum()) if known.any() else 1.0
    return np.where(np.isfinite(worth), worth, answers / effect), fewest


def _wilson(share: Floats, n: Floats, clusters: Ints, confidence: float) -> tuple[Floats, Floats]:
    """Wilson's interval with Student's t in place of the normal quantile."""
    from scipy.special import stdtrit

    several = clusters > 1
    z2 = np.where(several, stdtrit(np.maximum(clusters - 1, 1), 0.5 + confidence / 2), np.nan) ** 2
    some = np.where(n > 0, n, np.nan)
    centre = (share + z2 / (2 * some)) / (1 + z2 / some)
    half = np.sqrt(z2 * (share * (1 - share) / some + z2 / (4 * some**2))) / (1 + z2 / some)
    low, high = np.clip([centre - half, centre + half], 0.0, 1.0)
    empty = np.where(np.isnan(share), np.nan, 0.0)
    return np.where(several, low, 0.0) + empty, np.where(several, high, 1.0) + empty


@dataclass(frozen=True)
class Estimate:
    """A number and its interval; NaN where nothing is known."""

    value: float
    low: float
    high: float

    def ends(self, digits: int = 2) -> str:
        """The interval, after a space; nothing where it is unknown."""
        return "" if np.isnan(self.low) else f" [{self.low:.{digits}f}, {self.high:.{digits}f}]"

    def __str__(self) -> str:
        if np.isnan(self.value):
            return "–"
        return f"{self.value:.3f}" if np.isnan(self.low) else f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True)
class Endpoints:
    """Bias at the endpoints (3.11) and distances to the ideal (3.12, 3.13).

    ``bins`` are the number of bins with answers, and of all bins.
    """

    measure: str
    scale: str
    bias: Estimate
    positive: Estimate
    negative: Estimate
    bins: tuple[int, int]


@checked(bins=BINS, confidence=CONFIDENCE, resamples=RESAMPLES_OR_NONE, seed=SEED)
def endpoints(
    study: Study | Evidence,
    measure: str = "",
    scale: str = "",
    *,
    bins: int = 10,
    confidence: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
    satisfaction: SatisfactionMapping | None = None,
) -> Endpoints:
    """Bias at the endpoints and distances to the ideal, with intervals by resampling queries and participants.

    Without resamples there are no intervals. ``satisfaction`` is the curve to take the bias from, instead of bins.
    """
    seen = _evidence(study, measure, scale)
    lists, sizes = np.eye(bins)[bin_of(seen.levels, bins)], np.eye(bins)[bin_of(seen.sizes, bins)]

    def three(weights: Floats) -> Floats:
        """Bias and both distances for each row of weights: (rows, 3)."""
        satisfied = _shares(weights[:, seen.answer], lists, seen.good == 1)
        positive, negative = (_shares(weights, sizes, seen.agrees == sign) for sign in (1, -1))
        bias = np.sqrt((satisfied[:, 0] ** 2 + (1 - satisfied[:, -1]) ** 2) / 2)
        return np.stack([bias, _root_mean((1 - positive) ** 2), _root_mean(negative**2)], axis=1)

    value = three(np.ones((1, len(seen.delta))))[0]
    low, high = percentiles(resampled(three, 3, [*seen.clusters.values()], resamples, seed), confidence)
    bias, positive, negative = (Estimate(*map(float, ends)) for ends in zip(value, low, high, strict=True))
    if satisfaction is not None:
        bias = _curve_bias(satisfaction, confidence)
    used = len(np.unique(bin_of(seen.sizes, bins)))
    return Endpoints(seen.measure, seen.scale, bias, positive, negative, (used, bins))


def _curve_bias(mapping: SatisfactionMapping, confidence: float) -> Estimate:
    """The bias by a curve, with its interval by the delta method."""
    from scipy.special import ndtri

    ends = np.array([0.0, 1.0])
    off = np.abs(mapping(ends) - ends)
    bias = float(np.sqrt(np.mean(off**2)))
    if not mapping.covariance or not bias:
        return Estimate(bias, np.nan, np.nan)
    slope = curve_slopes(mapping, ends) @ (off * np.array([1.0, -1.0])) / (2 * bias)
    half = float(ndtri(0.5 + confidence / 2) * np.sqrt(max(slope @ np.array(mapping.covariance) @ slope, 0.0)))
    return Estimate(bias, max(bias - half, 0.0), min(bias + half, 1.0))


def _shares(weights: Floats, cells: Floats, hit: Mask) -> Floats:
    """Share of hits in each bin: (rows, bins); NaN where a bin is empty."""
    n = weights @ cells
    shares: Floats = np.divide(weights @ (cells * hit[:, None]), n, out=np.full(n.shape, np.nan), where=n > 0)
    return shares


def _root_mean(values: Floats) -> Floats:
    """Square root of the mean of what is known in each row."""
    known = ~np.isnan(values)
    n = known.sum(axis=1)
    mean: Floats = np.divide(np.where(known, values, 0.0).sum(axis=1), n, out=np.full(len(n), np.nan), where=n > 0)
    return np.sqrt(mean)


Outcome = Literal["agreement", "satisfaction"]
_FOLDS = {1: 10, 2: 5}  # by the number of kinds of clusters; of two kinds, each has 5


@dataclass(frozen=True)
class Prediction:
    """One combination: mean held-out log-likelihood and how far it is behind the best, each with its interval."""

    measure: Annotated[str, Column("the measure", key=True)]
    scale: Annotated[str, Column("the scale", key=True)]
    log_likelihood: Annotated[float, Column("mean log-likelihood of an unseen answer", ".4f", ends=("low", "high"))]
    low: Annotated[float, Column("lower end of its interval", ".4f", shown=False)]
    high: Annotated[float, Column("upper end of its interval", ".4f", shown=False)]
    behind: Annotated[float, Column("how far it is behind the best", ".4f", ends=("behind_low", "behind_high"))]
    behind_low: Annotated[float, Column("lower end of its interval", ".4f", shown=False)]
    behind_high: Annotated[float, Column("upper end of its interval", ".4f", shown=False)]
    among_best: Annotated[bool, Column("whether it is not distinguishable from the best")]


@dataclass(frozen=True, repr=False)
class Predictions(Result):
    """Combinations, best first. ``chance`` is the log-likelihood of predicting the shares of the answers every time."""

    outcome: Outcome
    rows: tuple[Prediction, ...]
    chance: float
    n_answers: int
    n_left_out: int
    confidence: float

    def best(self) -> tuple[Prediction, ...]:
        """The combinations that are not distinguishable from the best."""
        return tuple(row for row in self.rows if row.among_best)

    @property
    def title(self) -> str:
        """What it is, in a line."""
        heading = f"{self.outcome}: log-likelihood per unseen answer ({counted(self.n_answers, 'answer')})"
        return f"{heading}; without any measure {self.chance:.4f}"

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns: what is predicted, then those of a combination."""
        return (Column("what is predicted", name="outcome", kind="text", shown=False), *columns_of(Prediction))

    def _rows(self) -> list[dict[str, Any]]:
        return [{"outcome": self.outcome, **asdict(row)} for row in self.rows]

    def _facts(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("outcome", "chance", "n_answers", "n_left_out", "confidence")}

    def __repr__(self) -> str:
        return f"<Predictions: {self.outcome}, {counted(len(self.rows), 'combination')}>"


@checked(
    outcome=Outcome,
    ties=TieUnit,
    bins=BINS,
    folds=SEVERAL,
    resamples=RESAMPLES_OR_NONE,
    confidence=CONFIDENCE,
    seed=SEED,
)
def predictions(
    study: Study,
    combinations: Iterable[Combination | str],
    *,
    outcome: Outcome = "agreement",
    form: str = DEFAULT_FORM,
    kind: str = DEFAULT_KIND,
    ties: TieUnit = "pairs",
    bins: int = 10,
    folds: int | None = None,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Predictions:
    """Compare combinations by how well they predict unseen answers.

    ``folds`` default to 10, or to 5 x 5 where queries and participants are both known. Answers about lists that some
    combination cannot score (an unjudged document) are left out for all. ``bins`` only matter to the cubic. Without
    resamples there are no intervals, and all are among the best.
    """
    wanted = as_combinations(combinations)
    counted = study.counted()
    if outcome == "satisfaction":
        counted = counted.select(np.isin(counted.choice, (GOOD, BAD)))
    judged = judged_by_all(counted, [(combination.measure, combination.scale) for combination in wanted])
    used = counted.select(judged)
    if len(used) < 2:
        raise AdjudgeError(
            f"expected 2 or more answers about {outcome} that all combinations can score, got {len(used)}"
        )
    clusters = used.clusters()
    shared: dict[str, Any] = {"folds": folds or _FOLDS[len(clusters)], "seed": seed}
    columns = []
    for done, combination in enumerate(wanted, 1):
        seen = evidence(used, combination.measure, combination.scale, ties=ties)
        if outcome == "agreement":
            columns.append(held_out(seen.delta, seen.prefers, form=form, clusters=clusters, **shared))
        else:
            options = {"kind": kind, "clusters": seen.list_clusters, "bins": bins, **shared}
            each = held_out_satisfaction(seen.lists, seen.good, **options)
            columns.append(each.reshape(len(used), -1).mean(axis=1))
        if progress is not None:
            progress(done, len(wanted))
    logs = np.stack(columns, axis=1)

    def means(weights: Floats) -> Floats:
        some = weights[weights.sum(axis=1) > 0]  # few people and few queries may have met nowhere
        return np.asarray(some @ logs / some.sum(axis=1, keepdims=True))

    draws = resampled(means, len(wanted), [*clusters.values()], resamples, seed)
    # without any measure: the share of each answer, and either list as likely
    p = float(np.mean(used.choice < GOOD if outcome == "agreement" else used.choice == GOOD))
    chance = sum(share * np.log(share) for share in (p, 1 - p) if share > 0)
    chance += p * np.log(0.5) if outcome == "agreement" else 0.0
    rows = _ranked(wanted, logs.mean(axis=0), draws, confidence)
    return Predictions(outcome, rows, float(chance), len(used), int(np.count_nonzero(~judged)), confidence)


def _ranked(
    combinations: Sequence[Combination], mean: Floats, draws: Floats, confidence: float
) -> tuple[Prediction, ...]:
    best = int(np.argmax(mean))
    behind, drawn = mean[best] - mean, draws[:, [best]] - draws
    among = _among_best(behind, drawn, confidence).tolist()
    columns = [mean, *percentiles(draws, confidence), behind, *percentiles(drawn, confidence)]
    rows: list[list[Any]] = np.stack(columns, axis=1).tolist()
    order = np.argsort(-mean, kind="stable").tolist()
    return tuple(Prediction(*[combinations[i].measure, combinations[i].scale, *rows[i], among[i]]) for i in order)


def _among_best(behind: Floats, drawn: Floats, confidence: float) -> Mask:
    """Which deficits are within what chance makes of the largest of all."""
    if not len(drawn):
        return np.ones(len(behind), dtype=np.bool_)
    error = drawn.std(axis=0)
    varies = error > 1e-12
    if not varies.any():
        return behind <= 1e-12
    largest = ((drawn[:, varies] - behind[varies]) / error[varies]).max(axis=1)
    critical = float(np.quantile(largest, confidence))
    among: Mask = np.where(varies, behind <= critical * error, behind <= 1e-12)
    return among


@checked(bins=BINS)
def satisfaction_curve(
    seen: Evidence,
    *,
    kind: str = DEFAULT_KIND,
    bins: int = 10,
    place: Place = "centre",
    source: str = "",
    provenance: Facts = (),
) -> SatisfactionMapping:
    """P(Sat | λ) fitted to the ties, with the covariance of its coefficients by clusters.

    ``bins``, and where they stand (``place``), only matter to the cubic.
    """
    fit = fit_satisfaction(seen.lists, seen.good, kind=kind, clusters=seen.list_clusters, bins=bins, place=place)
    return fit.mapping(seen.measure, seen.scale, source=source, provenance=provenance)


def agreement_curve(
    seen: Evidence, *, form: str = DEFAULT_FORM, source: str = "", provenance: Facts = ()
) -> AgreementMapping:
    """``P(Agr | |Δλ|)`` fitted to all counted answers, with the covariance of its parameters by clusters.

    Answers about differences of one size alone say nothing of other sizes, and are refused.
    """
    if not has_several_sizes(seen.delta):
        raise AdjudgeError(
            f"{seen.measure} on {seen.scale}: expected differences of two sizes or more, got {seen.sizes[0]:g} alone"
        )
    fit = fit_agreement(seen.delta, seen.prefers, form=form, clusters=seen.clusters)
    parameters = tuple(fit.parameters.tolist())
    return AgreementMapping(seen.measure, seen.scale, form, parameters, rows_of(fit.covariance), source, provenance)


def has_several_sizes(delta: Floats) -> bool:
    """Whether there are differences of more than one size: a curve through one point could be any.

    >>> has_several_sizes(np.array([0.5, -0.5])), has_several_sizes(np.array([0.0, 0.5]))
    (False, True)
    """
    return len(np.unique(np.abs(delta))) > 1


@checked(bins=BINS, folds=SEVERAL, seed=SEED)
def compare_kinds(
    seen: Evidence, *, kinds: Sequence[str] = KINDS, bins: int = 10, folds: int | None = None, seed: int = 0
) -> dict[str, float]:
    """Mean log-likelihood per tie of each kind of satisfaction curve, on queries (and people) that it has not seen.

    ``bins`` only matter to the cubic.
    """
    clusters = seen.list_clusters
    shared: dict[str, Any] = {"bins": bins, "seed": seed, "folds": folds or _FOLDS[len(clusters)]}
    return {
        kind: float(held_out_satisfaction(seen.lists, seen.good, kind=kind, clusters=clusters, **shared).mean())
        for kind in kinds
    }


def distance(one: SatisfactionMapping, other: SatisfactionMapping, at: Floats) -> float:
    """Root mean square of the difference between two curves over some effectiveness.

    >>> flat, steep = (SatisfactionMapping("CG@5", "fine", "cubic", (a, 0.0, 0.0, 0.0)) for a in (0.2, 0.5))
    >>> round(distance(flat, steep, np.linspace(0, 1, 11)), 3)
    0.3
    """
    return float(np.sqrt(np.mean((one(at) - other(at)) ** 2)))
