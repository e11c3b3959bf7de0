"""What a study teaches, all at once: bins, curves, noticeable differences, and which measure predicts users best."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adjudge._version import __version__
from adjudge.checks import check_whole
from adjudge.choices import TieUnit
from adjudge.errors import AdjudgeError
from adjudge.model.collection import Collection
from adjudge.preferences.bins import AgreementBins, SatisfactionBins, agreement_bins, satisfaction_bins
from adjudge.preferences.combinations import Combination, as_combinations
from adjudge.preferences.curves import (
    DEFAULT_FORM,
    DEFAULT_KIND,
    Facts,
    agreement_curve,
    compare_kinds,
    satisfaction_curve,
)
from adjudge.preferences.endpoints import Endpoints, Estimate, endpoints
from adjudge.preferences.evidence import Evidence, evidence
from adjudge.preferences.prediction import Outcome, Predicted, Predictions, predictions
from adjudge.preferences.priors import Noticed, Prior, interpolated_difference, noticed, prior_of
from adjudge.preferences.study import GOOD, Study
from adjudge.users.agreement import AgreementMapping, noticeable_difference, noticeable_interval
from adjudge.users.binning import bin_of
from adjudge.users.mapping_files import Mappings
from adjudge.users.satisfaction import SatisfactionMapping
from adjudge.users.satisfaction_fit import satisfaction_interval
from adjudge.words import counted

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


@dataclass(frozen=True)
class Learnt:
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

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dictionary a combination, plain values."""
        agrees, satisfies = (
            {(row.measure, row.scale): row for row in found.rows}
            for found in (self.predicts_agreement, self.predicts_satisfaction)
        )
        return [_row(self, one, agrees, satisfies) for one in self.combinations]

    def __str__(self) -> str:
        width = max(len(str(one.combination)) for one in self.combinations)
        who = "" if self.n_participants is None else f" of {counted(self.n_participants, 'participant')}"
        lines = [
            f"{counted(self.n_answers, 'answer')}{who} about {counted(self.n_queries, 'query')}; "
            f"{self.n_nonpreferences:,} without a preference, {self.n_good:,} of them good",
            f"{'':<{width}}  noticed from          P(Sat | 0)  P(Sat | 1)  log-likelihood",
        ]
        for row, one in zip(self.to_dicts(), self.combinations, strict=True):
            lines.append(
                f"{one.combination!s:<{width}}  {one.noticeable!s:<20}  {row['p_sat_0']:10.3f}  {row['p_sat_1']:10.3f}"
                f"  {row['agreement_log_likelihood']:14.4f}{'  *' if row['agreement_among_best'] else ''}"
            )
        return "\n".join([*lines, "* not distinguishable from the best at predicting preferences"])


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
            name: _plain(estimate.value),
            f"{name}_low": _plain(estimate.low),
            f"{name}_high": _plain(estimate.high),
        }
    row["noticeable_interpolated"] = one.interpolated
    for name, predicted in (("agreement", agrees[key]), ("satisfaction", satisfies[key])):
        row |= {
            f"{name}_log_likelihood": predicted.log_likelihood,
            f"{name}_behind": predicted.behind,
            f"{name}_behind_low": _plain(predicted.behind_low),
            f"{name}_behind_high": _plain(predicted.behind_high),
            f"{name}_among_best": predicted.among_best,
        }
    return row | {f"held_out_{kind}": value for kind, value in one.held_out.items()}


def _plain(value: float) -> float | None:
    return None if np.isnan(value) else value


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
    seed: int = 0,
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
    600 answers of 30 participants about 40 queries; 276 without a preference, 157 of them good
                  noticed from          P(Sat | 0)  P(Sat | 1)  log-likelihood
    CG@2 on fine  0.296 [0.237, 0.371]       0.132       0.755         -0.9165  *
    * not distinguishable from the best at predicting preferences
    """
    check_whole("bins", bins, 1)
    check_whole("resamples", resamples, 0)
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
