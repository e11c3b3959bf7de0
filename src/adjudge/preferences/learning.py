"""What a study teaches, all at once: bins, curves, noticeable differences, and which measure predicts users best.

How large differences are in practice, and how many of them users would notice.

A measure that needs small differences is no better than another if it hardly ever produces them (thesis 3.4). The
*prior* of a measure on a scale is the distribution of |Δλ| over all pairs of real systems and all queries. The
*noticeable difference* is the least one for which more than half prefer the better list: read off the bins, with
straight lines between their centres, or off the fitted curve. The share of the prior from there on is the share of
comparisons that most users would notice (its Table 3.5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from adjudge._version import __version__
from adjudge.arrays import Floats, Ints
from adjudge.checks import BINS, CONFIDENCE, INNER_SHARE, RESAMPLES_OR_NONE, SEED, TieUnit, checked
from adjudge.errors import AdjudgeError
from adjudge.model.collection import Collection
from adjudge.preferences.curves import (
    DEFAULT_FORM,
    DEFAULT_KIND,
    AgreementBins,
    Endpoints,
    Estimate,
    Facts,
    Outcome,
    Predicted,
    Predictions,
    SatisfactionBins,
    agreement_bins,
    agreement_curve,
    compare_kinds,
    endpoints,
    predictions,
    satisfaction_bins,
    satisfaction_curve,
)
from adjudge.preferences.questions import Combination, as_combinations
from adjudge.preferences.study import GOOD, Evidence, Study, evidence, percentiles, resampled_weights, stacked
from adjudge.results import Column, Result, interval_columns
from adjudge.seeds import Seed, as_seed
from adjudge.text import counted
from adjudge.users.combinations import RelevanceScale, relevance_scale
from adjudge.users.curves import bin_of
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
    """``|Δλ|`` of every pair of systems for every query, and the place of that query; systems count as given."""

    measure: str
    scale: str
    sizes: Floats
    query: Ints
    n_systems: int

    def cdf(self, size: npt.ArrayLike) -> Floats:
        """Share of comparisons whose difference is at most so large: ``F(Δ) = P(|Δλ| ≤ Δ)``."""
        ordered = np.sort(self.sizes)
        share: Floats = np.searchsorted(ordered, np.asarray(size, dtype=np.float64) + _ROUNDING, side="right") / len(
            ordered
        )
        return share

    def __str__(self) -> str:
        at = ", ".join(f"{level:.0%} up to {np.quantile(self.sizes, level):.3f}" for level in (0.5, 0.8, 0.95))
        n = len(np.unique(self.query))
        return f"|Δ| of {self.measure} on {self.scale}, {self.n_systems} systems and {n} queries: {at}"


@dataclass(frozen=True)
class Noticed:
    """The share of comparisons that most users would notice, by the curve and by the bins.

    ``from_curve`` and ``from_bins`` are the differences from which on more than half prefer the better list (None where
    none does it); ``share`` and ``share_by_bins`` the comparisons that reach them; ``agreeing`` the share of users who
    prefer the better list, averaged over the comparisons.
    """

    from_curve: float | None
    from_bins: float | None
    share: Estimate
    share_by_bins: float
    agreeing: float


def prior_of(collection: Collection, measure: str, scale: str) -> Prior:
    """The prior of a measure on a scale, from the runs and judgments of a collection.

    The judgments must be on the scale, or on the one that it is a conversion of. Queries that some system has no
    effectiveness for are left out for pairs with that system.

    >>> import adjudge as aj
    >>> print(prior_of(aj.demo(), "CG@5", "fine"))
    |Δ| of CG@5 on fine, 12 systems and 60 queries: 50% up to 0.142, 80% up to 0.376, 95% up to 0.644
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
def noticed(
    prior: Prior,
    mapping: AgreementMapping,
    bins: AgreementBins,
    *,
    level: float = 0.5,
    confidence: float = 0.95,
    resamples: int = 500,
    seed: int = 0,
) -> Noticed:
    """The share of comparisons that more than ``level`` of the users would notice.

    Its interval covers the curve (parameters drawn from their covariance) and the queries of the prior (resampled), not
    other systems. Without a covariance only the queries; without resamples there is none.
    """
    threshold, by_bins = noticeable_difference(mapping, level=level), interpolated_difference(bins, level=level)
    places = _drawn_thresholds(mapping, level, resamples, seed)
    queries, which = np.unique(prior.query, return_inverse=True)
    reached = np.stack([_counts_from(prior.sizes[which == q]) for q in range(len(queries))])
    weights = stacked(resampled_weights([np.arange(len(queries))], resamples, seed), len(queries))
    draws = (weights * reached[:, places].T).sum(axis=1) / (weights @ reached[:, 0])
    low, high = percentiles(draws, confidence)
    value = _reach(prior, threshold)
    agreeing = float(mapping(prior.sizes).agree.mean())
    return Noticed(threshold, by_bins, Estimate(value, float(low), float(high)), _reach(prior, by_bins), agreeing)


def _reach(prior: Prior, threshold: float | None) -> float:
    return 0.0 if threshold is None else float(np.mean(prior.sizes >= threshold - _ROUNDING))


def _counts_from(sizes: Floats) -> Floats:
    """How many differences are at least as large as each point of the grid; none are beyond it."""
    below = np.searchsorted(np.sort(sizes), _GRID - _ROUNDING, side="left")
    return np.append(len(sizes) - below, 0).astype(np.float64)


def _drawn_thresholds(mapping: AgreementMapping, level: float, n: int, seed: int) -> Ints:
    """Places on the grid of the noticeable differences of curves that the covariance makes as likely.

    One place more than the grid has stands for a curve by which nothing is noticed.
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


@dataclass(frozen=True)
class LearntCombination:
    """All that was learnt for one measure on one scale.

    ``noticeable`` is the difference from which on more than half prefer the better list, by the curve (NaN where none
    does it; where a band does not reach half, the interval ends at 0 or at 1), ``interpolated`` the same by the bins.
    ``held_out`` has the mean log-likelihood per tie not seen of the chosen kind of satisfaction curve and of the
    cubic; ``prior`` and ``noticed`` are there where runs were given.
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
    noticed: Noticed | None = None

    def satisfied_at(self, confidence: float = 0.95) -> tuple[Estimate, ...]:
        """P(Sat) at λ = 0, 0.5 and 1, by the curve."""
        ends = satisfaction_interval(self.satisfaction, _ENDS, confidence=confidence)
        columns = (self.satisfaction(_ENDS), *ends)
        return tuple(Estimate(*map(float, row)) for row in zip(*columns, strict=True))


@dataclass(frozen=True, repr=False)
class Learnt(Result):
    """What a study teaches about some combinations, in the order given.

    ``predicts_agreement`` and ``predicts_satisfaction`` rank them by answers not seen. The counts are those of answers
    that count; ``n_set_aside`` and ``n_traps`` of those that do not.
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
        for one in self.combinations:
            if one.combination == wanted:
                return one
        known = ", ".join(str(one.combination) for one in self.combinations)
        raise AdjudgeError(f"nothing was learnt for {wanted}; known: {known}")

    def mappings(self) -> Mappings:
        """The curves, for a mapping file or for ``satisfaction`` and ``compare``."""
        return Mappings(
            tuple(one.satisfaction for one in self.combinations), tuple(one.agreement for one in self.combinations)
        )

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
        """The columns, with the share noticed where a collection was given, and one for each form held out."""
        kinds = dict.fromkeys(kind for learnt in self.combinations for kind in learnt.held_out)
        held_out = (
            Column(f"log-likelihood per answer held out, {kind}", ".4f", name=f"held_out_{kind}", shown=False)
            for kind in kinds
        )
        has_share = any(learnt.noticed is not None for learnt in self.combinations)
        return (*_COLUMNS, *(_NOTICED if has_share else ()), *_PREDICTED, *held_out)

    def _rows(self) -> list[dict[str, Any]]:
        agrees, satisfies = (
            {(row.measure, row.scale): row for row in found.rows}
            for found in (self.predicts_agreement, self.predicts_satisfaction)
        )
        empty = dict.fromkeys(column.name for column in self.columns)
        return [empty | _row(self, learnt, agrees, satisfies) for learnt in self.combinations]

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
    *interval_columns("noticeable", Column("difference that more than half notice", ".3f", label="noticed from")),
    *interval_columns("p_sat_0", Column("P(Sat) at effectiveness 0", ".3f", label="P(Sat | 0)")),
    *interval_columns("p_sat_05", Column("P(Sat) at effectiveness 0.5", ".3f", shown=False)),
    *interval_columns("p_sat_1", Column("P(Sat) at effectiveness 1", ".3f", label="P(Sat | 1)")),
    *interval_columns("bias", Column("bias of the end points", ".3f", shown=False)),
    *interval_columns("distance_positive", Column("distance of P(Agr = 1) to 1", ".3f", shown=False)),
    *interval_columns("distance_negative", Column("distance of P(Agr = -1) to 0", ".3f", shown=False)),
)
_NOTICED = interval_columns("share_noticed", Column("share of comparisons that most users notice", ".3f", shown=False))
_PREDICTED = (
    Column("noticeable difference on lines between bins", ".3f", name="noticeable_interpolated", shown=False),
    *(
        column
        for outcome, is_shown in (("agreement", True), ("satisfaction", False))
        for column in (
            Column(
                f"log-likelihood of an answer not seen, {outcome}",
                ".4f",
                name=f"{outcome}_log_likelihood",
                label="log-likelihood",
                shown=is_shown,
            ),
            *interval_columns(f"{outcome}_behind", Column("how far it is behind the best", ".4f", shown=False)),
            Column(
                "whether it cannot be told from the best",
                name=f"{outcome}_among_best",
                kind="truth",
                label="among the best",
                shown=is_shown,
            ),
        )
    ),
)

Key = dict[tuple[str, str], Predicted]


def _row(learnt: Learnt, one: LearntCombination, agrees: Key, satisfies: Key) -> dict[str, Any]:
    key = one.combination.measure, one.combination.scale
    row: dict[str, Any] = {
        "measure": key[0],
        "scale": key[1],
        "kind": one.satisfaction.kind,
        "form": one.agreement.form,
    }
    named = {
        "noticeable": one.noticeable,
        **dict(zip(("p_sat_0", "p_sat_05", "p_sat_1"), one.satisfied_at(learnt.confidence), strict=True)),
        "bias": one.endpoints.bias,
        "distance_positive": one.endpoints.positive,
        "distance_negative": one.endpoints.negative,
        **({} if one.noticed is None else {"share_noticed": one.noticed.share}),
    }
    for name, estimate in named.items():
        row |= {
            name: estimate.value,
            f"{name}_low": estimate.low,
            f"{name}_high": estimate.high,
        }
    row["noticeable_interpolated"] = one.interpolated
    for name, predicted in (("agreement", agrees[key]), ("satisfaction", satisfies[key])):
        row |= {
            f"{name}_log_likelihood": predicted.log_likelihood,
            f"{name}_behind": predicted.behind,
            f"{name}_behind_low": predicted.behind_low,
            f"{name}_behind_high": predicted.behind_high,
            f"{name}_among_best": predicted.among_best,
        }
    return row | {f"held_out_{kind}": value for kind, value in one.held_out.items()}


@checked(ties=TieUnit, bins=BINS, confidence=CONFIDENCE, resamples=RESAMPLES_OR_NONE, seed=SEED)
def learn(
    study: Study,
    combinations: Iterable[Combination | str],
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
    answers "both good" and "both bad", taken as answers about pairs; ``lists`` counts each for either list on its own,
    as Urbano et al. 2012 do, and flattens the curve. ``collection`` holds the runs for the priors of differences (of
    combinations on the scale of its judgments), ``resamples`` are drawn of queries and participants for the intervals,
    none where 0. Answers to traps and those set aside do not count.

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
    wanted, counted = as_combinations(combinations), study.counted()
    _check_answers(counted)
    source = f"fitted with Adjudge on {_name(study)}"
    how = _How(kind, form, ties, collection, bins, confidence, resamples, seed, source, facts_of(study, ties=ties))
    tell = progress or (lambda done, total: None)
    n = len(wanted)
    found = []
    for i, one in enumerate(wanted):
        found.append(_learnt(one, evidence(study, one.measure, one.scale, ties=ties), how))
        tell(i + 1, 3 * n)
    agreement = _ranked(study, wanted, "agreement", how, lambda done, _: tell(n + done, 3 * n))
    satisfaction = _ranked(study, wanted, "satisfaction", how, lambda done, _: tell(2 * n + done, 3 * n))
    return Learnt(
        tuple(found),
        agreement,
        satisfaction,
        len(counted),
        int(np.count_nonzero(counted.choice >= GOOD)),
        int(np.count_nonzero(counted.choice == GOOD)),
        len(np.unique(counted.participant)) if counted.knows_participants else None,
        len(np.unique(counted.clusters()["query"])),
        int(np.count_nonzero(study.trap)),
        int(np.count_nonzero(study.set_aside & ~study.trap)),
        confidence,
        seed,
        study.source,
        study.sha256,
    )


def _check_answers(counted: Study) -> None:
    with_, without = np.count_nonzero(counted.choice < GOOD), np.count_nonzero(counted.choice >= GOOD)
    if not with_ or not without:
        raise AdjudgeError(f"expected answers with a preference and without to learn from, got {with_} and {without}")


@dataclass(frozen=True)
class _How:
    kind: str
    form: str
    ties: TieUnit
    collection: Collection | None
    bins: int
    confidence: float
    resamples: int
    seed: int
    source: str
    facts: Facts

    @property
    def resampling(self) -> dict[str, Any]:
        return {"confidence": self.confidence, "resamples": self.resamples, "seed": self.seed}


def _ranked(
    study: Study,
    wanted: tuple[Combination, ...],
    outcome: Outcome,
    how: _How,
    progress: Callable[[int, int], None],
) -> Predictions:
    families: dict[str, Any] = {"form": how.form, "kind": how.kind, "ties": how.ties, "bins": how.bins}
    return predictions(study, wanted, outcome=outcome, **families, **how.resampling, progress=progress)


def _learnt(one: Combination, seen: Evidence, how: _How) -> LearntCombination:
    shared: dict[str, Any] = {"bins": how.bins, "confidence": how.confidence}
    agreed = agreement_bins(seen, **shared)
    agreement = agreement_curve(seen, form=how.form, source=how.source, provenance=how.facts)
    satisfied = satisfaction_curve(seen, kind=how.kind, bins=how.bins, source=how.source, provenance=how.facts)
    cubic = _cubic(seen, how)
    kinds = tuple(dict.fromkeys([how.kind, *([] if cubic is None else ["cubic"])]))
    prior = _prior(one, how.collection)
    return LearntCombination(
        one,
        seen,
        satisfaction_bins(seen, **shared),
        agreed,
        satisfied,
        cubic,
        agreement,
        _noticeable(agreement, how.confidence),
        interpolated_difference(agreed),
        endpoints(seen, bins=how.bins, **how.resampling, satisfaction=satisfied if how.ties == "pairs" else None),
        compare_kinds(seen, kinds=kinds, bins=how.bins, seed=how.seed),
        prior,
        None if prior is None else noticed(prior, agreement, agreed, **how.resampling),
    )


def _prior(one: Combination, collection: Collection | None) -> Prior | None:
    """The prior of a combination, where there are runs judged on its scale."""
    if collection is None or collection.need_judgments().scale != one.relevance.origin:
        return None
    return prior_of(collection, one.measure, one.scale)


def _cubic(seen: Evidence, how: _How) -> SatisfactionMapping | None:
    """The cubic beside the chosen curve; None where too few bins have lists."""
    if len(np.unique(bin_of(seen.levels, how.bins))) < _LEAST_BINS:
        return None
    return satisfaction_curve(seen, kind="cubic", bins=how.bins, source=how.source, provenance=how.facts)


def _noticeable(mapping: AgreementMapping, confidence: float) -> Estimate:
    value = noticeable_difference(mapping)
    if value is None:
        return Estimate(np.nan, np.nan, np.nan)
    if not mapping.covariance:
        return Estimate(value, np.nan, np.nan)
    low, high = noticeable_interval(mapping, confidence=confidence)
    return Estimate(value, 0.0 if low is None else low, 1.0 if high is None else high)


def _name(study: Study) -> str:
    return Path(study.source).name or "a preference study"


def facts_of(study: Study, *, ties: TieUnit = "pairs") -> Facts:
    """What a mapping that is fitted to a study says of where it comes from."""
    counted = study.counted()
    clusters = counted.clusters()
    facts = {
        "answers": str(len(counted)),
        **({"participants": str(len(np.unique(counted.participant)))} if counted.knows_participants else {}),
        "queries": str(len(np.unique(clusters["query"]))),
        "ties": ties,
        "covariance": f"robust, clustered by {' and '.join(clusters)}",
        "sha256": study.sha256,
        "adjudge": __version__,
    }
    return tuple((name, value) for name, value in facts.items() if value)
