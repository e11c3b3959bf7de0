"""Curves through what people answered: P(Sat | λ) and P(Agr | |Δλ|) for one measure on one scale.

Which family, and why. The cubic of eq 4.3 is what the thesis publishes; it may fall, and leave [0, 1]. ``bounded`` (see
:mod:`adjudge.users.satisfaction`) never does either, has P(Sat | 0) and P(Sat | 1) among its parameters, which
is what the bias at the endpoints asks for, and predicts answers that it has not seen as well as any. Mean
log-likelihood per tie, 10 folds by query, 884 ties of the 2012 study, mean over CG, DCG, Q, RBP and GAP on Broad and
Fine and over five ways to make the folds (seeds 0 to 4), and the most that a family is behind the best on any of the
ten; by pairs, which is the default, and by lists, as the thesis does it
(see :mod:`adjudge.preferences.study`):

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
lists (or pairs) in it. By lists it then lies, on the 2012 answers, .060 to .077 RMS from Table 4.3, whose 4,050 lists
are others, over the lists of the study, for all ten combinations; on an even grid over [0, 1] .060 to .067 for Broad
and .083 to .109 for Fine, which has 4 to 11 lists above .9. Bins elsewhere: at their mean λ .056 to .084 over the
lists, at their lower ends .042 to .081; spread evenly from 0 to 1 .069 to .083 on the even grid. The thesis does not
say where its bins stand, and none of these is plainly the one.

P(Sat | λ) and P(Agr | |Δλ|) as shares of bins, with intervals that know which answers are alike.

Bins are equal parts of [0, 1], closed below, the last also above: [0, .1), …, [.9, 1]. Effectiveness is rounded to nine
digits first, so that .3 computed as .2999999999 is in [.3, .4).

The interval of a share is Wilson's, with two changes. (1) For n it takes the number of independent answers that would
leave as much unknown: n_eff = p (1 - p) / V, where V is the variance of the share between clusters (queries, and
participants where they are known; both at once by Cameron, Gelbach and Miller 2011), but never more than the answers
that the bin has: two lists of one answer are one answer. Where all or none are satisfied V is 0 and says nothing; the
bin then takes the design effect n / n_eff of all bins where V is above 0, taken together, or 1 without any. (2) For the
normal quantile it takes Student's t with as many degrees of freedom as the bin has clusters, less one, of the kind that
has fewest. One cluster alone leaves everything open: [0, 1].

Urbano 2013 (thesis), sections 3.3.1 and 3.3.2; Cameron, Gelbach and Miller 2011, doi:10.1198/jbes.2010.07136.

How far curves are from what one would like: bias at the ends, and distance to users who always agree.

* bias (3.11): sqrt((P(Sat | 0)² + (1 - P(Sat | 1))²) / 2), by a curve at λ = 0 and λ = 1 where one is given, by the
  first and the last bin otherwise, as in the thesis (few pairs of lists have a mean so near an end);
* distance to 1 (3.12): sqrt(mean over bins of (1 - P(Agr = 1 | Δλ in the bin))²);
* distance to 0 (3.13): sqrt(mean over bins of P(Agr = -1 | Δλ in the bin)²). The thesis prints Agr = 1 there, and means
  -1: the text and its Table 3.4 do.

Bins without answers have no share; the mean is over those that have. Intervals come from resampled clusters, that of
the bias by a curve from the covariance of its coefficients. Lower is better for all three.

Urbano 2013 (thesis), chapter 3.

Which measure on which scale predicts users best.

Each combination is judged by how likely it makes answers that its curve has not seen: the mean log-likelihood per
answer, agreement with three outcomes, satisfaction with two. Folds never tear a query or a participant
apart. All combinations answer for the same answers, so that they are compared in pairs: differences to the best have
intervals from resampled clusters.

Not distinguishable from the best are all whose deficit is within what the largest of the studentised deviations of all
deficits reaches in ``confidence`` of the resamples: the best is chosen by the same data, and many are compared at once
(Hsu 1984, doi:10.1214/aos/1176346715, with the quantile from the bootstrap).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, Literal, TypedDict

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.checks import (
    BINS,
    CONFIDENCE,
    RESAMPLES_OR_NONE,
    SEED,
    SEVERAL,
    TieUnit,
    checked,
)
from adjudge.errors import AdjudgeError
from adjudge.preferences.questions import Combination, as_combinations
from adjudge.preferences.study import (
    BAD,
    GOOD,
    Evidence,
    Study,
    evidence,
    judged_by_all,
    percentiles,
    resampled_weights,
    stacked,
)
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


class ShareBin(TypedDict):
    """The share in one bin."""

    start: Annotated[float, Column("lower end of the bin", "g", key=True)]
    end: Annotated[float, Column("upper end of the bin", "g", key=True)]
    mean: Annotated[float, Column("mean place of its observations", ".3f")]
    count: Annotated[int, Column("observations", ",d")]
    answers: Annotated[int, Column("answers that they are of", ",d")]
    share: Annotated[float, Column("share of hits among them", ".3f", ends=("low", "high"))]
    low: Annotated[float, Column("lower end of its interval", ".3f", shown=False)]
    high: Annotated[float, Column("upper end of its interval", ".3f", shown=False)]


@dataclass(frozen=True, repr=False)
class ShareBins(Result):
    """A share in each bin: ``count`` observations of ``answers`` answers, their ``mean`` place, the share, its ends.

    ``edges`` has one entry more than there are bins. What a bin without observations would say is NaN.
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
        """The columns; the ends of a bin are called ``from`` and ``to``, which no field can be."""
        names = {"start": "from", "end": "to"}
        return tuple(replace(column, name=names.get(column.name, column.name)) for column in columns_of(ShareBin))

    def _values(self, names: Iterable[str] | None = None) -> dict[str, Any]:
        held = {name: getattr(self, name) for name in ("mean", "count", "answers", "share", "low", "high")}
        columns: dict[str, Any] = {"from": self.edges[:-1], "to": self.edges[1:], **held}
        return columns if names is None else {name: columns[name] for name in names}

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

    def __str__(self) -> str:
        return _table(f"P(Sat | {self.measure} on {self.scale})", {"satisfied": self.satisfied})


@dataclass(frozen=True)
class AgreementBins:
    """P(Agr = 1, 0, -1 | |Δλ|) among all counted answers, for one measure on one scale.

    ``tied`` counts preferences without a difference: they are among ``cannot_tell``, for no list is the better one.
    """

    measure: str
    scale: str
    agree: ShareBins
    cannot_tell: ShareBins
    disagree: ShareBins
    tied: int

    def first_above(self, level: float = 0.5) -> float | None:
        """Lower end of the first bin in which more than ``level`` prefer the better list; None where none does."""
        above = np.flatnonzero(self.agree.share > level)
        return float(self.agree.edges[above[0]]) if len(above) else None

    def __str__(self) -> str:
        shares = {"agree": self.agree, "cannot tell": self.cannot_tell, "disagree": self.disagree}
        return _table(f"P(Agr | Δ {self.measure} on {self.scale})", shares)


@checked(bins=BINS, confidence=CONFIDENCE)
def satisfaction_bins(
    study: Study | Evidence, measure: str = "", scale: str = "", *, bins: int = 10, confidence: float = 0.95
) -> SatisfactionBins:
    """Share of ties called good, by the mean effectiveness of the two lists, or by that of each list.

    Which of the two is what the evidence says (:func:`~adjudge.preferences.study.evidence`): pairs for a study.
    """
    seen = _seen(study, measure, scale)
    shares = share_bins(
        seen.levels,
        seen.good.astype(np.float64),
        seen.list_clusters,
        answer=seen.answer,
        bins=bins,
        confidence=confidence,
    )
    return SatisfactionBins(seen.measure, seen.scale, shares)


@checked(bins=BINS, confidence=CONFIDENCE)
def agreement_bins(
    study: Study | Evidence, measure: str = "", scale: str = "", *, bins: int = 10, confidence: float = 0.95
) -> AgreementBins:
    """Shares who prefer the better list, cannot tell, prefer the worse one, by the size of the difference."""
    seen = _seen(study, measure, scale)
    agree, cannot_tell, disagree = (
        share_bins(
            seen.sizes, (seen.agrees == sign).astype(np.float64), seen.clusters, bins=bins, confidence=confidence
        )
        for sign in (1, 0, -1)
    )
    tied = int(np.count_nonzero((seen.prefers != 0) & (seen.delta == 0)))
    return AgreementBins(seen.measure, seen.scale, agree, cannot_tell, disagree, tied)


def _seen(study: Study | Evidence, measure: str, scale: str) -> Evidence:
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
    """Share of hits by bin of x, with the interval that the module describes.

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
    told = np.isfinite(worth) & (answers > 0)
    effect = float(answers[told].sum() / worth[told].sum()) if told.any() else 1.0
    return np.where(np.isfinite(worth), worth, answers / effect), fewest


def _wilson(share: Floats, n: Floats, clusters: Ints, confidence: float) -> tuple[Floats, Floats]:
    """Wilson's interval with Student's t in place of the normal quantile."""
    from scipy.special import stdtrit

    several = clusters > 1
    z2 = np.where(several, stdtrit(np.maximum(clusters - 1, 1), 0.5 + confidence / 2), np.nan) ** 2
    some = np.where(n > 0, n, np.nan)
    centre = (share + z2 / (2 * some)) / (1 + z2 / some)
    half = np.sqrt(z2 * (share * (1 - share) / some + z2 / (4 * some**2))) / (1 + z2 / some)
    known, open_ = ~np.isnan(share), ~several & ~np.isnan(share)
    low = np.where(open_, 0.0, np.clip(centre - half, 0.0, 1.0))
    high = np.where(open_, 1.0, np.clip(centre + half, 0.0, 1.0))
    return np.where(known, low, np.nan), np.where(known, high, np.nan)


def _table(title: str, shares: Mapping[str, ShareBins]) -> str:
    first = next(iter(shares.values()))
    lines = [title, f"{'bin':<11} {'n':>5}  " + "  ".join(f"{name:<20}" for name in shares)]
    for k in range(len(first.count)):
        cells = [one.cell(k) for one in shares.values()]
        lines.append(
            f"{first.interval(k):<11} {first.count[k]:>5}  " + "  ".join(f"{cell:<20}" for cell in cells).rstrip()
        )
    return "\n".join(lines)


@dataclass(frozen=True)
class Estimate:
    """A number and its interval; NaN where nothing is known."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        if np.isnan(self.value):
            return "–"
        return f"{self.value:.3f}" if np.isnan(self.low) else f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True)
class Endpoints:
    """Bias at the endpoints (3.11) and distances to the ideal (3.12, 3.13); ``bins`` have answers, of all."""

    measure: str
    scale: str
    bias: Estimate
    positive: Estimate
    negative: Estimate
    bins: tuple[int, int]

    def __str__(self) -> str:
        return (
            f"{self.measure} on {self.scale}: bias {self.bias}, distance of P(Agr = 1) to 1 {self.positive}, "
            f"of P(Agr = -1) to 0 {self.negative}"
        )


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
    seen = evidence(study, measure, scale) if isinstance(study, Study) else study
    draws = [_three(seen, bins, weights) for weights in resampled_weights([*seen.clusters.values()], resamples, seed)]
    value = _three(seen, bins, np.ones((1, len(seen.delta))))[0]
    low, high = percentiles(stacked(draws, 3), confidence)
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


def _three(seen: Evidence, bins: int, weights: Floats) -> Floats:
    """Bias and both distances for each row of weights: (rows, 3)."""
    lists, sizes = np.eye(bins)[bin_of(seen.levels, bins)], np.eye(bins)[bin_of(seen.sizes, bins)]
    agrees = seen.agrees
    satisfied = _shares(weights[:, seen.answer], lists, seen.good == 1)
    positive, negative = (_shares(weights, sizes, agrees == sign) for sign in (1, -1))
    columns = [_bias(satisfied), _root_mean((1 - positive) ** 2), _root_mean(negative**2)]
    return np.stack(columns, axis=1)


def _shares(weights: Floats, cells: Floats, hit: Mask) -> Floats:
    """Share of hits in each bin: (rows, bins); NaN where a bin is empty."""
    n = weights @ cells
    shares: Floats = np.divide(weights @ (cells * hit[:, None]), n, out=np.full(n.shape, np.nan), where=n > 0)
    return shares


def _bias(shares: Floats) -> Floats:
    return np.sqrt((shares[:, 0] ** 2 + (1 - shares[:, -1]) ** 2) / 2)


def _root_mean(values: Floats) -> Floats:
    """Square root of the mean of what is known in each row."""
    known = ~np.isnan(values)
    n = known.sum(axis=1)
    mean: Floats = np.divide(np.where(known, values, 0.0).sum(axis=1), n, out=np.full(len(n), np.nan), where=n > 0)
    return np.sqrt(mean)


Outcome = Literal["agreement", "satisfaction"]
FOLDS, FOLDS_OF_TWO_KINDS = 10, 5


@dataclass(frozen=True)
class Predicted:
    """One combination: mean held-out log-likelihood and how far it is behind the best, each with its interval."""

    measure: Annotated[str, Column("the measure", key=True)]
    scale: Annotated[str, Column("the scale", key=True)]
    log_likelihood: Annotated[float, Column("mean log-likelihood of an answer not seen", ".4f", ends=("low", "high"))]
    low: Annotated[float, Column("lower end of its interval", ".4f", shown=False)]
    high: Annotated[float, Column("upper end of its interval", ".4f", shown=False)]
    behind: Annotated[float, Column("how far it is behind the best", ".4f", ends=("behind_low", "behind_high"))]
    behind_low: Annotated[float, Column("lower end of its interval", ".4f", shown=False)]
    behind_high: Annotated[float, Column("upper end of its interval", ".4f", shown=False)]
    among_best: Annotated[bool, Column("whether it cannot be told from the best")]

    @property
    def shown(self) -> str:
        """The log-likelihood and its interval, where there is one."""
        ends = "" if np.isnan(self.low) else f" [{self.low:.3f}, {self.high:.3f}]"
        return f"{self.log_likelihood:.3f}{ends}"

    @property
    def shown_behind(self) -> str:
        """How far behind the best, and the interval where there is one; empty for the best itself."""
        ends = "" if np.isnan(self.behind_low) else f" [{self.behind_low:.4f}, {self.behind_high:.4f}]"
        return f"{self.behind:.4f}{ends}" if self.behind else ""


@dataclass(frozen=True, repr=False)
class Predictions(Result):
    """Combinations, best first. ``chance`` is the log-likelihood of always saying the shares of the answers."""

    outcome: Outcome
    rows: tuple[Predicted, ...]
    chance: float
    n_answers: int
    n_left_out: int
    confidence: float

    def best(self) -> tuple[Predicted, ...]:
        """Those that are not distinguishable from the best."""
        return tuple(row for row in self.rows if row.among_best)

    @property
    def title(self) -> str:
        """What it is, in a line."""
        heading = f"{self.outcome}: log-likelihood per answer not seen ({counted(self.n_answers, 'answer')})"
        return f"{heading}; without any measure {self.chance:.4f}"

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns: what is predicted, then those of a combination."""
        return (Column("what is predicted", name="outcome", kind="text", shown=False), *columns_of(Predicted))

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
    form: str = "two-stage",
    kind: str = "bounded",
    ties: TieUnit = "pairs",
    bins: int = 10,
    folds: int | None = None,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Predictions:
    """Compare combinations by how well they predict answers not seen.

    ``folds`` are 10, or 5 x 5 where queries and participants are both known. Answers about lists that some combination
    cannot score (an unjudged document) are left out for all. ``bins`` matter to the cubic only. Without resamples there
    are no intervals, and all are among the best.
    """
    wanted = as_combinations(combinations)
    counted = study.counted()
    if outcome == "satisfaction":
        counted = counted.select(np.isin(counted.choice, (GOOD, BAD)))
    judged = judged_by_all(counted, [(one.measure, one.scale) for one in wanted])
    used = counted.select(judged)
    if len(used) < 2:
        raise AdjudgeError(
            f"expected 2 or more answers about {outcome} that all combinations can score, got {len(used)}"
        )
    clusters = used.clusters()
    shared: dict[str, Any] = {"folds": n_folds(folds, len(clusters)), "seed": seed}
    columns = []
    for done, one in enumerate(wanted):
        seen = evidence(used, one.measure, one.scale, ties=ties)
        if outcome == "agreement":
            logs = held_out(seen.delta, seen.prefers, form=form, clusters=clusters, **shared)
        else:
            each = held_out_satisfaction(
                seen.lists, seen.good, kind=kind, clusters=seen.list_clusters, bins=bins, **shared
            )
            logs = each.reshape(len(used), -1).mean(axis=1)
        columns.append(logs)
        if progress is not None:
            progress(done + 1, len(wanted))
    table = np.stack(columns, axis=1)
    draws = [_means(table, weights) for weights in resampled_weights([*clusters.values()], resamples, seed)]
    rows = _rows(wanted, table.mean(axis=0), stacked(draws, len(wanted)), confidence)
    chance = _chance(used.choice < GOOD if outcome == "agreement" else used.choice == GOOD, outcome)
    return Predictions(outcome, rows, chance, len(used), int(np.count_nonzero(~judged)), confidence)


def _means(logs: Floats, weights: Floats) -> Floats:
    """Mean of each column in each resample that has any answers (few people and few queries may have met nowhere)."""
    some = weights[weights.sum(axis=1) > 0]
    means: Floats = some @ logs / some.sum(axis=1, keepdims=True)
    return means


@checked(folds=SEVERAL)
def n_folds(folds: int | None = None, kinds: int = 1) -> int:
    """How many folds: as asked, two or more, else 10, or 5 of each of two kinds of clusters."""
    if folds is None:
        return FOLDS if kinds == 1 else FOLDS_OF_TWO_KINDS
    return folds


def _chance(hit: Mask, outcome: Outcome) -> float:
    """Mean log-likelihood without any measure: the share of each answer, and either list as likely."""
    p = float(np.mean(hit))
    entropy = sum(share * np.log(share) for share in (p, 1 - p) if share > 0)
    return float(entropy + (p * np.log(0.5) if outcome == "agreement" else 0.0))


def _rows(combinations: Sequence[Combination], mean: Floats, draws: Floats, confidence: float) -> tuple[Predicted, ...]:
    best = int(np.argmax(mean))
    low, high = percentiles(draws, confidence)
    behind, drawn = mean[best] - mean, draws[:, [best]] - draws
    behind_low, behind_high = percentiles(drawn, confidence)
    among = _among_best(behind, drawn, confidence)
    order = np.argsort(-mean, kind="stable")
    numbers = np.stack([mean, low, high, behind, behind_low, behind_high], axis=1).tolist()
    rows = []
    for i in order.tolist():
        value, lower, upper, gap, least, most = numbers[i]
        one = combinations[i]
        rows.append(Predicted(one.measure, one.scale, value, lower, upper, gap, least, most, bool(among[i])))
    return tuple(rows)


def _among_best(behind: Floats, drawn: Floats, confidence: float) -> Mask:
    """Which deficits are within what chance makes of the largest of all."""
    if not len(drawn):
        return np.ones(len(behind), dtype=np.bool_)
    error = drawn.std(axis=0)
    told = error > 1e-12
    if not told.any():
        return behind <= 1e-12
    largest = ((drawn[:, told] - behind[told]) / error[told]).max(axis=1)
    critical = float(np.quantile(largest, confidence))
    among: Mask = np.where(told, behind <= critical * error, behind <= 1e-12)
    return among


DEFAULT_KIND, DEFAULT_FORM = "bounded", "two-stage"
KINDS = ("cubic", *MONOTONE)
"""Kinds of satisfaction curves that can be fitted."""

Facts = tuple[tuple[str, str], ...]


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

    ``bins``, and where they stand (``place``), matter to the cubic only.
    """
    fit = fit_satisfaction(seen.lists, seen.good, kind=kind, clusters=seen.list_clusters, bins=bins, place=place)
    return fit.mapping(seen.measure, seen.scale, source=source, provenance=provenance)


def agreement_curve(
    seen: Evidence, *, form: str = DEFAULT_FORM, source: str = "", provenance: Facts = ()
) -> AgreementMapping:
    """P(Agr | |Δλ|) fitted to all counted answers, with the covariance of its parameters by clusters.

    Answers about differences of one size alone say nothing of other sizes, and are refused.
    """
    if not has_several_sizes(seen.delta):
        raise AdjudgeError(
            f"{seen.measure} on {seen.scale}: expected differences of two sizes or more, got {seen.sizes[0]:g} alone"
        )
    fit = fit_agreement(seen.delta, seen.prefers, form=form, clusters=seen.clusters)
    return AgreementMapping(
        seen.measure,
        seen.scale,
        form,
        tuple(fit.parameters.tolist()),
        rows_of(fit.covariance),
        source,
        provenance,
    )


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

    ``bins`` matter to the cubic only.
    """
    shared: dict[str, Any] = {"clusters": seen.list_clusters, "bins": bins, "seed": seed}
    shared["folds"] = n_folds(folds, len(seen.list_clusters))

    def mean(kind: str) -> float:
        return float(held_out_satisfaction(seen.lists, seen.good, kind=kind, **shared).mean())

    return {kind: mean(kind) for kind in kinds}


def distance(one: SatisfactionMapping, other: SatisfactionMapping, at: Floats) -> float:
    """Root mean square of the difference between two curves over some effectiveness.

    >>> flat, steep = (SatisfactionMapping("CG@5", "fine", "cubic", (a, 0.0, 0.0, 0.0)) for a in (0.2, 0.5))
    >>> round(distance(flat, steep, np.linspace(0, 1, 11)), 3)
    0.3
    """
    return float(np.sqrt(np.mean((one(at) - other(at)) ** 2)))
