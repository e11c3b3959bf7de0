"""What a study teaches, all at once: bins, curves, noticeable differences, and which measure predicts users best.

A measure that needs small differences is no better than another if it hardly ever produces them (thesis 3.4). The
*prior* of a measure on a scale is the distribution of |Δλ| over all pairs of real systems and all queries. The
*noticeable difference* is the least one for which more than half prefer the better list: read off the bins, with
straight lines between their centres, or off the fitted curve. The share of the prior from there on is the share of
comparisons that most users would notice (thesis, Table 3.5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from adjudge._version import __version__
from adjudge.arrays import Floats, Ints
from adjudge.checks import BINS, CONFIDENCE, INNER_SHARE, RESAMPLES_OR_NONE, SEED, Kind, TieUnit, checked
from adjudge.errors import AdjudgeError
from adjudge.model.collection import Collection
from adjudge.preferences.curves import (
    DEFAULT_FORM,
    DEFAULT_KIND,
    AgreementBins,
    Endpoints,
    Estimate,
    Facts,
    Predictions,
    SatisfactionBins,
    ShareBins,
    agreement_bins,
    agreement_curve,
    compare_kinds,
    endpoints,
    predictions,
    satisfaction_bins,
    satisfaction_curve,
)
from adjudge.preferences.questions import Combination, as_combinations
from adjudge.preferences.study import GOOD, Evidence, Study, evidence, percentiles, resampled
from adjudge.reporting.document import FigureBlock
from adjudge.results import Column, Result, figure, interval_columns
from adjudge.seeds import Seed, as_seed
from adjudge.text import counted, percent
from adjudge.users.combinations import RelevanceScale, relevance_scale
from adjudge.users.curves import bin_of
from adjudge.users.figures import (
    Cumulative,
    Panel,
    Panels,
    Series,
    agreement_panels,
    cumulative,
    satisfaction_panels,
)
from adjudge.users.files import Mappings
from adjudge.users.noticing import (
    FORMS,
    AgreementMapping,
    noticeable_difference,
    noticeable_differences,
    noticeable_interval,
)
from adjudge.users.satisfaction import SatisfactionMapping, satisfaction_interval

_GRID = np.linspace(0.0, 1.0, 1001)
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Prior:
    """``|Δλ|`` of every pair of systems for every query, and the position of that query."""

    measure: str
    scale: str
    sizes: Floats
    query: Ints
    n_systems: int

    def cdf(self, size: npt.ArrayLike) -> Floats:
        """Share of comparisons whose difference is at most ``size``: ``F(Δ) = P(|Δλ| ≤ Δ)``."""
        below = np.searchsorted(np.sort(self.sizes), np.asarray(size, dtype=np.float64) + _ROUNDING, side="right")
        return np.asarray(below / len(self.sizes))

    def __str__(self) -> str:
        at = ", ".join(f"{percent(level)} up to {np.quantile(self.sizes, level):.3f}" for level in (0.5, 0.8, 0.95))
        n = len(np.unique(self.query))
        return f"|Δ| of {self.measure} on {self.scale}, {self.n_systems} systems and {n} queries: {at}"


@dataclass(frozen=True)
class NoticedShare:
    """The share of comparisons that most users would notice, by the curve and by the bins.

    ``from_curve`` and ``from_bins`` are the least differences for which more than half prefer the better list (None
    without any); ``share`` and ``share_by_bins`` the comparisons that reach them; ``agreeing`` the share of users who
    prefer the better list, averaged over the comparisons.
    """

    from_curve: float | None
    from_bins: float | None
    share: Estimate
    share_by_bins: float
    agreeing: float


def prior_of(collection: Collection, measure: str, scale: str) -> Prior:
    """The prior of a measure on a scale, from the runs and judgments of a collection.

    The judgments must be on the scale, or on the scale that it converts. Queries for which a system has no
    effectiveness are left out for pairs with that system.

    >>> import adjudge as aj
    >>> print(prior_of(aj.demo(), "CG@5", "fine"))
    |Δ| of CG@5 on fine, 12 systems and 60 queries: 50 % up to 0.142, 80 % up to 0.376, 95 % up to 0.644
    """
    from adjudge.measures.evaluation import evaluate

    wanted, has = relevance_scale(scale), collection.need_judgments().scale
    if has != wanted.origin:
        raise AdjudgeError(f"{measure} on {scale}: expected judgments on {RelevanceScale(wanted.origin)}, got {has}")
    used = collection if wanted.conversion is None else collection.rescaled(wanted.conversion.name)
    matrix = evaluate(used, [measure]).matrix()
    first, second = np.triu_indices(matrix.shape[1], k=1)
    sizes = np.abs(np.round(matrix[:, first] - matrix[:, second], 9))
    query = np.repeat(np.arange(len(matrix)), len(first))
    known = ~np.isnan(sizes.ravel())
    if not known.any():
        raise AdjudgeError(f"{measure} on {scale}: expected two or more systems to compare, got {matrix.shape[1]}")
    return Prior(measure, str(wanted), sizes.ravel()[known], query[known], matrix.shape[1])


def interpolated_difference(bins: AgreementBins, *, level: float = 0.5) -> float | None:
    """The least difference for which ``level`` prefer the better list, on straight lines between centres of bins."""
    used = bins.agree.used
    x, y = ((bins.agree.edges[:-1] + bins.agree.edges[1:]) / 2)[used], bins.agree.share[used]
    above = np.flatnonzero(y >= level)
    if not len(above):
        return None
    k = int(above[0])
    if k == 0:
        return float(x[0])
    return float(x[k - 1] + (level - y[k - 1]) / (y[k] - y[k - 1]) * (x[k] - x[k - 1]))


@checked(level=INNER_SHARE, confidence=CONFIDENCE, resamples=RESAMPLES_OR_NONE, seed=SEED)
def noticed_share(
    prior: Prior,
    mapping: AgreementMapping,
    bins: AgreementBins,
    *,
    level: float = 0.5,
    confidence: float = 0.95,
    resamples: int = 500,
    seed: int = 0,
) -> NoticedShare:
    """The share of comparisons that more than ``level`` of the users would notice.

    Its interval covers the curve (parameters drawn from their covariance) and the queries of the prior (resampled), not
    other systems. Without a covariance it covers only the queries; without resamples there is none.
    """
    thresholds = noticeable_difference(mapping, level=level), interpolated_difference(bins, level=level)
    share, by_bins = (
        0.0 if threshold is None else float(np.mean(prior.sizes >= threshold - _ROUNDING)) for threshold in thresholds
    )
    queries, which = np.unique(prior.query, return_inverse=True)
    reached = np.zeros((len(queries), len(_GRID) + 1))  # differences at least as large as each point, none beyond
    for q in range(len(queries)):
        sizes = np.sort(prior.sizes[which == q])
        reached[q, :-1] = len(sizes) - np.searchsorted(sizes, _GRID - _ROUNDING, side="left")
    places = _drawn_thresholds(mapping, level, resamples, seed)
    weights = resampled(lambda drawn: drawn, len(queries), [np.arange(len(queries))], resamples, seed)
    draws = (weights * reached[:, places].T).sum(axis=1) / (weights @ reached[:, 0])
    low, high = percentiles(draws, confidence)
    agreeing = float(mapping(prior.sizes).agree.mean())
    return NoticedShare(*thresholds, Estimate(share, float(low), float(high)), by_bins, agreeing)


def _drawn_thresholds(mapping: AgreementMapping, level: float, n: int, seed: int) -> Ints:
    """Places on the grid of the noticeable differences of curves drawn from the covariance.

    The place past the end of the grid stands for a curve by which nothing is noticed.
    """
    form, centre = FORMS[mapping.form], np.array(mapping.parameters)
    drawn = np.tile(centre, (n, 1))
    if mapping.covariance:
        rng = np.random.default_rng((seed, 1))
        drawn = rng.multivariate_normal(centre, np.array(mapping.covariance), size=n, method="eigh")
        drawn = np.clip(drawn, form.lowest, form.highest)
    found = noticeable_differences(form, drawn, level=level)
    return np.searchsorted(_GRID, found - _ROUNDING).astype(np.int64)  # NaN is past the end


_ENDS = np.array([0.0, 0.5, 1.0])
_LEAST_BINS = 6  # through four a cubic goes exactly, and folds may leave one or two out


_SHOWN, _SHOWN_PRIORS = 6, 4  # combinations in a figure
_OPEN = 0.99  # an interval so wide that it says nothing
_DRAWN = _GRID[::10]


def _series(bins: ShareBins, *, differences: bool = False) -> Series:
    """What to draw of bins: not those that leave everything open, nor ties, where no list is the better fit."""
    drawn = (bins.count > 0) & (bins.high - bins.low < _OPEN)
    drawn &= ~(differences & (bins.mean == 0))
    return Series(bins.mean[drawn], bins.share[drawn], bins.low[drawn], bins.high[drawn])


@dataclass(frozen=True)
class LearntCombination:
    """All that was learnt for one measure on one scale.

    ``noticeable`` is the least difference for which more than half prefer the better list, by the curve (NaN without
    any; where a band does not reach half, the interval ends at 0 or at 1), ``interpolated`` the same by the bins.
    ``held_out`` has the mean log-likelihood per unseen tie of the chosen kind of satisfaction curve and of the cubic;
    ``prior`` and ``noticed`` are there where runs were given.
    """

    combination: Combination
    evidence: Evidence
    satisfaction_bins: SatisfactionBins
    agreement_bins: AgreementBins
    satisfaction: SatisfactionMapping
    cubic: SatisfactionMapping | None
    agreement: AgreementMapping
    noticeable: Estimate
    interpolated: float | None
    endpoints: Endpoints
    held_out: dict[str, float]
    prior: Prior | None = None
    noticed: NoticedShare | None = None

    def satisfied_at(self, confidence: float = 0.95) -> tuple[Estimate, ...]:
        """P(Sat) at λ = 0, 0.5 and 1, by the curve."""
        ends = satisfaction_interval(self.satisfaction, _ENDS, confidence=confidence)
        columns = (self.satisfaction(_ENDS), *ends)
        return tuple(Estimate(*map(float, row)) for row in zip(*columns, strict=True))

    @property
    def by_lists(self) -> bool:
        """Whether lists were called good one by one, not pairs."""
        return self.evidence.lists.ndim == 1

    def noticed_sentence(self) -> str:
        """From where on people notice differences."""
        if np.isnan(self.noticeable.value):
            return f"No difference in {self.combination} is noticed by more than half of the people."
        return (
            f"More than half notice differences in {self.combination} from {self.noticeable.value:.2f} on"
            f"{self.noticeable.ends()}; below that most see none, or see it the other way round."
        )

    def satisfied_sentence(self, confidence: float) -> str:
        """How many are satisfied with the worst lists, the best, and those half-way."""

        def share(estimate: Estimate) -> str:
            ends = "" if np.isnan(estimate.low) else f" [{100 * estimate.low:.0f}, {100 * estimate.high:.0f}]"
            return f"{100 * estimate.value:.0f} %{ends}"

        low, middle, high = map(share, self.satisfied_at(confidence))
        return f"With the worst lists {low} are satisfied, with the best {high}, half-way {middle}."


@dataclass(frozen=True, repr=False)
class Learnt(Result):
    """What a study teaches about some combinations, in the order given.

    ``predicts_agreement`` and ``predicts_satisfaction`` rank them by unseen answers. Answers set aside
    (``n_set_aside``) and those to traps (``n_traps``) are in no other number.
    """

    combinations: tuple[LearntCombination, ...]
    predicts_agreement: Predictions
    predicts_satisfaction: Predictions
    n_answers: int
    n_nonpreferences: int
    n_good: int
    n_participants: int | None
    n_queries: int
    n_traps: int
    n_set_aside: int
    confidence: float
    seed: int
    source: str
    sha256: str

    def of(self, measure: str, scale: str) -> LearntCombination:
        """What was learnt for one combination."""
        wanted = Combination(measure, scale)
        for learnt in self.combinations:
            if learnt.combination == wanted:
                return learnt
        known = ", ".join(str(learnt.combination) for learnt in self.combinations)
        raise AdjudgeError(f"nothing was learnt for {wanted}; known: {known}")

    def mappings(self) -> Mappings:
        """The curves, for a mapping file or for ``satisfaction`` and ``compare``."""
        curves = ((learnt.satisfaction, learnt.agreement) for learnt in self.combinations)
        return Mappings(*zip(*curves, strict=True))

    @figure("agreement-curves")
    def _agreement(self) -> FigureBlock:
        """What people notice: answers by the size of the difference."""
        shown = self.combinations[:_SHOWN]
        panels = []
        for fit in shown:
            bins, curve = fit.agreement_bins, fit.agreement(_DRAWN)
            series = tuple(_series(share, differences=True) for share in (bins.agree, bins.cannot_tell, bins.disagree))
            marks = (fit.noticeable.value, fit.noticeable.low, fit.noticeable.high)
            curves = tuple(np.asarray(share, dtype=np.float64) for share in curve)
            panels.append(Panel(str(fit.combination), series, curves, marks))
        names = ("prefer the better list", "cannot tell", "prefer the worse list")
        data = Panels("difference in effectiveness", "share of people", _DRAWN, names, names, tuple(panels))
        caption = (
            f"Shares of answers by the size of the difference, in bins with {percent(self.confidence)} intervals, and "
            "curves fitted to the answers. Dashed: from here on more than half prefer the better list; grey: the "
            f"interval of that{self._some}."
        )
        alt = " ".join(fit.noticed_sentence() for fit in shown)
        return FigureBlock("agreement-curves", caption, alt, data, agreement_panels)

    @figure("satisfaction-curves")
    def _satisfaction(self) -> FigureBlock:
        """How satisfied people are, by effectiveness."""
        shown = self.combinations[:_SHOWN]
        both = all(fit.cubic is not None for fit in shown) and any(fit.satisfaction.kind != "cubic" for fit in shown)
        names = (
            (f"curve ({shown[0].satisfaction.kind})", "cubic") if both else (f"curve ({shown[0].satisfaction.kind})",)
        )
        panels = tuple(
            Panel(
                str(fit.combination),
                (_series(fit.satisfaction_bins.satisfied),),
                tuple(
                    curve(_DRAWN) for curve in ((fit.satisfaction, fit.cubic) if both else (fit.satisfaction,)) if curve
                ),
            )
            for fit in shown
        )
        single = shown[0].by_lists
        what, where = ("lists", "effectiveness") if single else ("pairs", "mean effectiveness of the pair")
        data = Panels("effectiveness", "P(Sat)", _DRAWN, (f"{what} called good",), names, panels)
        caption = (
            f"Share of {what} called good by {where}, in bins with {percent(self.confidence)} intervals, and the "
            f"curves of P(Sat){self._some}. The cubic is fitted to the bins, each weighted by its number of {what}."
        )
        alt = f"P(Sat) by effectiveness. {shown[0].satisfied_sentence(self.confidence)}"
        return FigureBlock("satisfaction-curves", caption, alt, data, satisfaction_panels)

    @figure("differences")
    def _priors(self) -> FigureBlock:
        """How large differences between systems are in practice."""
        known = [
            (fit, fit.prior, fit.noticed)
            for fit in self.combinations
            if fit.prior is not None and fit.noticed is not None
        ]
        if not known:
            raise AdjudgeError("differences in practice need runs; give 'collection' when learning")
        shown = known[:_SHOWN_PRIORS]
        data = Cumulative(
            "difference in effectiveness of two systems on a query",
            tuple(str(fit.combination) for fit, _, _ in shown),
            _GRID[::5],
            tuple(prior.cdf(_GRID[::5]) for _, prior, _ in shown),
            tuple(np.nan if noticed.from_curve is None else noticed.from_curve for _, _, noticed in shown),
            tuple(1 - noticed.share.value for _, _, noticed in shown),
        )
        caption = "Share of differences between systems up to a size. Right of the dot most people notice them."
        alt = f"Cumulative distributions of differences of {counted(len(shown), 'combination')}; dots: most notice."
        return FigureBlock("differences", caption, alt, data, cumulative)

    @property
    def _some(self) -> str:
        """Of how many combinations the first are drawn."""
        return f"; the first {_SHOWN} of {len(self.combinations)}" if len(self.combinations) > _SHOWN else ""

    rows_name = "combinations"

    @property
    def title(self) -> str:
        """What it is, in a line."""
        who = "" if self.n_participants is None else f" of {counted(self.n_participants, 'participant')}"
        return (
            f"{counted(self.n_answers, 'answer')}{who} about {counted(self.n_queries, 'query')}; "
            f"{self.n_nonpreferences:,} without a preference, {self.n_good:,} of them good"
        )

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns, with the noticed share where a collection was given, and one for each kind of held-out curve."""
        kinds = dict.fromkeys(kind for learnt in self.combinations for kind in learnt.held_out)
        held_out = (
            Column(f"log-likelihood per answer held out, {kind}", ".4f", name=f"held_out_{kind}", shown=False)
            for kind in kinds
        )
        has_share = any(learnt.noticed is not None for learnt in self.combinations)
        return (*_COLUMNS, *(_NOTICED if has_share else ()), *_PREDICTED, *held_out)

    def _rows(self) -> list[dict[str, Any]]:
        empty = dict.fromkeys(column.name for column in self.columns)
        return [empty | self._row(learnt) for learnt in self.combinations]

    def _row(self, learnt: LearntCombination) -> dict[str, Any]:
        measure, scale = learnt.combination.measure, learnt.combination.scale
        row: dict[str, Any] = {"measure": measure, "scale": scale}
        row |= {"kind": learnt.satisfaction.kind, "form": learnt.agreement.form}
        estimates = {
            "noticeable": learnt.noticeable,
            **dict(zip(("p_sat_0", "p_sat_05", "p_sat_1"), learnt.satisfied_at(self.confidence), strict=True)),
            "bias": learnt.endpoints.bias,
            "distance_positive": learnt.endpoints.positive,
            "distance_negative": learnt.endpoints.negative,
            **({} if learnt.noticed is None else {"share_noticed": learnt.noticed.share}),
        }
        for name, estimate in estimates.items():
            row |= {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
        row["noticeable_interpolated"] = learnt.interpolated
        for ranked in (self.predicts_agreement, self.predicts_satisfaction):
            found = next(row for row in ranked.rows if (row.measure, row.scale) == (measure, scale))
            names = ("log_likelihood", "behind", "behind_low", "behind_high", "among_best")
            row |= {f"{ranked.outcome}_{name}": getattr(found, name) for name in names}
        return row | {f"held_out_{kind}": value for kind, value in learnt.held_out.items()}

    def _facts(self) -> dict[str, Any]:
        counts = ("n_answers", "n_nonpreferences", "n_good", "n_participants", "n_queries", "n_traps", "n_set_aside")
        return {name: getattr(self, name) for name in (*counts, "confidence", "seed", "source", "sha256")}

    def _notes(self) -> list[str]:
        return ["Among the best: not distinguishable from the best at predicting preferences."]

    def __repr__(self) -> str:
        return f"<Learnt: {counted(len(self.combinations), 'combination')}, {counted(self.n_answers, 'answer')}>"


_COLUMNS = (
    Column("the measure", name="measure", kind="text", key=True),
    Column("the scale", name="scale", kind="text", key=True),
    Column("kind of the satisfaction curve", name="kind", kind="text", shown=False),
    Column("form of the agreement curve", name="form", kind="text", shown=False),
    *interval_columns("noticeable", Column("least difference that more than half notice", ".3f", label="noticed from")),
    *interval_columns("p_sat_0", Column("P(Sat) at effectiveness 0", ".3f", label="P(Sat | 0)")),
    *interval_columns("p_sat_05", Column("P(Sat) at effectiveness 0.5", ".3f", shown=False)),
    *interval_columns("p_sat_1", Column("P(Sat) at effectiveness 1", ".3f", label="P(Sat | 1)")),
    *interval_columns("bias", Column("bias of the end points", ".3f", shown=False)),
    *interval_columns("distance_positive", Column("distance of P(Agr = 1) to 1", ".3f", shown=False)),
    *interval_columns("distance_negative", Column("distance of P(Agr = -1) to 0", ".3f", shown=False)),
)
_NOTICED = interval_columns("share_noticed", Column("share of comparisons that most users notice", ".3f", shown=False))


def _prediction_columns(outcome: str, *, shown: bool) -> tuple[Column, ...]:
    about, label = f"log-likelihood per unseen answer, {outcome}", "log-likelihood"
    truth = "whether it is not distinguishable from the best"
    return (
        Column(about, ".4f", name=f"{outcome}_log_likelihood", label=label, shown=shown),
        *interval_columns(f"{outcome}_behind", Column("how far it is behind the best", ".4f", shown=False)),
        Column(truth, name=f"{outcome}_among_best", kind="truth", label="among the best", shown=shown),
    )


_STUDY = Kind(Study, "a study (from adjudge.preferences.read_answers)")
_PREDICTED = (
    Column("noticeable difference on lines between bins", ".3f", name="noticeable_interpolated", shown=False),
    *_prediction_columns("agreement", shown=True),
    *_prediction_columns("satisfaction", shown=False),
)


@checked(study=_STUDY, ties=TieUnit, bins=BINS, confidence=CONFIDENCE, resamples=RESAMPLES_OR_NONE, seed=SEED)
def learn(
    study: Study,
    combinations: str | Combination | Iterable[Combination | str],
    *,
    kind: str = DEFAULT_KIND,
    form: str = DEFAULT_FORM,
    ties: TieUnit = "pairs",
    collection: Collection | None = None,
    bins: int = 10,
    confidence: float = 0.95,
    resamples: int = 1000,
    seed: Seed = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Learnt:
    """Learn from a study what effectiveness means to its participants, for each combination of measure and scale.

    ``kind`` and ``form`` name the families of satisfaction and agreement curves. P(Sat) is learnt from ``ties``, the
    answers "both good" and "both bad", as answers about ``pairs``; ``lists`` counts each answer for both lists on their
    own, as Urbano et al. 2012 do, and flattens the curve. ``collection`` has the runs for the priors of differences (of
    combinations on the scale of its judgments). Intervals come from ``resamples`` of queries and participants; 0 leaves
    them out. Answers to traps and those set aside do not count.

    >>> from adjudge.preferences.simulated import example_study
    >>> print(learn(example_study(), ["CG@2 on fine"], resamples=200))
    600 answers of 30 participants about 40 queries; 276 without a preference, 157
    of them good
    measure  scale          noticed from            P(Sat | 0)            P(Sat | 1)
    CG@2     fine   0.296 [0.237, 0.371]  0.132 [0.002, 0.904]  0.755 [0.431, 0.926]
    <BLANKLINE>
    measure  scale  log-likelihood  among the best
    CG@2     fine          -0.9165             yes
    Among the best: not distinguishable from the best at predicting preferences.
    """
    seed = as_seed(seed)
    wanted, answers = as_combinations(combinations), study.counted()
    ties_given = answers.choice[answers.choice >= GOOD]
    n_preferences = len(answers) - len(ties_given)
    if not n_preferences or not len(ties_given):
        came = f"{n_preferences} and {len(ties_given)}"
        raise AdjudgeError(f"expected answers with a preference and without to learn from, got {came}")
    tell = progress or (lambda done, total: None)
    n = len(wanted)
    name = Path(study.source).name or "a preference study"
    origin = f"fitted with Adjudge on {name}", facts_of(study, ties=ties)
    families: dict[str, Any] = {"kind": kind, "form": form, "bins": bins}
    families |= {"confidence": confidence, "resamples": resamples, "seed": seed}
    learnt = []
    for done, combination in enumerate(wanted, 1):
        seen = evidence(study, combination.measure, combination.scale, ties=ties)
        learnt.append(_learn_one(combination, seen, collection, *origin, **families))
        tell(done, 3 * n)
    families["ties"] = ties
    return Learnt(
        tuple(learnt),
        predictions(study, wanted, **families, progress=lambda done, _: tell(n + done, 3 * n)),
        predictions(
            study, wanted, outcome="satisfaction", **families, progress=lambda done, _: tell(2 * n + done, 3 * n)
        ),
        len(answers),
        len(ties_given),
        int(np.count_nonzero(ties_given == GOOD)),
        len(np.unique(answers.participant)) if answers.knows_participants else None,
        len(np.unique(answers.clusters()["query"])),
        int(np.count_nonzero(study.trap)),
        int(np.count_nonzero(study.set_aside & ~study.trap)),
        confidence,
        seed,
        study.source,
        study.sha256,
    )


def _learn_one(
    combination: Combination,
    seen: Evidence,
    collection: Collection | None,
    source: str,
    provenance: Facts,
    *,
    kind: str,
    form: str,
    bins: int,
    confidence: float,
    resamples: int,
    seed: int,
) -> LearntCombination:
    agreed = agreement_bins(seen, bins=bins, confidence=confidence)
    agreement = agreement_curve(seen, form=form, source=source, provenance=provenance)
    curve = partial(satisfaction_curve, seen, bins=bins, source=source, provenance=provenance)
    satisfied = curve(kind=kind)
    has_cubic = len(np.unique(bin_of(seen.levels, bins))) >= _LEAST_BINS
    kinds = list(dict.fromkeys([kind, "cubic"] if has_cubic else [kind]))
    resampling: dict[str, Any] = {"confidence": confidence, "resamples": resamples, "seed": seed}
    prior = None
    if collection is not None and collection.need_judgments().scale == combination.relevance.origin:
        prior = prior_of(collection, combination.measure, combination.scale)
    return LearntCombination(
        combination,
        seen,
        satisfaction_bins(seen, bins=bins, confidence=confidence),
        agreed,
        satisfied,
        curve(kind="cubic") if has_cubic else None,
        agreement,
        _noticeable(agreement, confidence),
        interpolated_difference(agreed),
        endpoints(seen, bins=bins, **resampling, satisfaction=satisfied if seen.lists.ndim > 1 else None),
        compare_kinds(seen, kinds=kinds, bins=bins, seed=seed),
        prior,
        None if prior is None else noticed_share(prior, agreement, agreed, **resampling),
    )


def _noticeable(mapping: AgreementMapping, confidence: float) -> Estimate:
    value = noticeable_difference(mapping)
    if value is None:
        return Estimate(np.nan, np.nan, np.nan)
    if not mapping.covariance:
        return Estimate(value, np.nan, np.nan)
    low, high = noticeable_interval(mapping, confidence=confidence)
    return Estimate(value, 0.0 if low is None else low, 1.0 if high is None else high)


def facts_of(study: Study, *, ties: TieUnit = "pairs") -> Facts:
    """The provenance of a mapping that is fitted to a study."""
    answers = study.counted()
    clusters = answers.clusters()
    facts = {
        "answers": str(len(answers)),
        **({"participants": str(len(np.unique(answers.participant)))} if answers.knows_participants else {}),
        "queries": str(len(np.unique(clusters["query"]))),
        "ties": ties,
        "covariance": f"robust, clustered by {' and '.join(clusters)}",
        "sha256": study.sha256,
        "adjudge": __version__,
    }
    return tuple((name, value) for name, value in facts.items() if value)
