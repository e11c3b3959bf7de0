"""Which measure on which scale predicts users best.

Each combination is judged by how likely it makes answers that its curve has not seen: the mean log-likelihood per
answer, agreement with three outcomes, satisfaction with two. Folds never tear a query or a participant
apart. All combinations answer for the same answers, so that they are compared in pairs: differences to the best have
intervals from resampled clusters.

Not distinguishable from the best are all whose deficit is within what the largest of the studentised deviations of all
deficits reaches in ``confidence`` of the resamples: the best is chosen by the same data, and many are compared at once
(Hsu 1984, doi:10.1214/aos/1176346715, with the quantile from the bootstrap).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from adjudge.arrays import Floats, Mask
from adjudge.checks import check_whole
from adjudge.choices import TieUnit, check_choice
from adjudge.errors import AdjudgeError
from adjudge.preferences.combinations import Combination, as_combinations
from adjudge.preferences.evidence import evidence, judged_by_all, percentiles, resampled_weights, stacked
from adjudge.preferences.study import BAD, GOOD, Study
from adjudge.users.agreement_fit import held_out
from adjudge.users.satisfaction_fit import held_out_satisfaction

Outcome = Literal["agreement", "satisfaction"]
FOLDS, FOLDS_OF_TWO_KINDS = 10, 5


@dataclass(frozen=True)
class Predicted:
    """One combination: mean held-out log-likelihood and how far it is behind the best, each with its interval."""

    measure: str
    scale: str
    log_likelihood: float
    low: float
    high: float
    behind: float
    behind_low: float
    behind_high: float
    among_best: bool

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


@dataclass(frozen=True)
class Predictions:
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

    def to_dicts(self) -> list[dict[str, Any]]:
        """Plain values, one dictionary a combination."""
        return [{"outcome": self.outcome, **asdict(row)} for row in self.rows]

    def __str__(self) -> str:
        width = max(len(f"{row.measure} on {row.scale}") for row in self.rows)
        heading = f"{self.outcome}: log-likelihood per answer not seen ({self.n_answers:,} answers)"
        lines = [f"{heading}; without any measure {self.chance:.4f}"]
        for row in self.rows:
            name = f"{row.measure} on {row.scale}"
            behind = row.shown_behind or "the best"
            lines.append(f"{name:<{width}}  {row.log_likelihood:.4f}  {behind}{'  *' if row.among_best else ''}")
        return "\n".join([*lines, "* not distinguishable from the best"])


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
    check_choice("outcome", outcome, Outcome)
    check_whole("resamples", resamples, 0)
    check_whole("bins", bins, 1)
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


def n_folds(folds: int | None, kinds: int) -> int:
    """How many folds: as asked, two or more, else 10, or 5 of each of two kinds of clusters."""
    if folds is None:
        return FOLDS if kinds == 1 else FOLDS_OF_TWO_KINDS
    return check_whole("folds", folds, 2)


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
