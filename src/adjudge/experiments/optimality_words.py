"""The optimality of tests in plain language."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from adjudge.experiments.conflicts import LEVELS, OUTCOMES, OutcomeRates
from adjudge.experiments.rates import Rates
from adjudge.experiments.words import listed, share_with
from adjudge.stats.intervals import percent

if TYPE_CHECKING:
    from adjudge.experiments.optimality import OptimalityFindings

_NONE = "nothing is significant"


def sentences(found: OptimalityFindings) -> list[str]:
    """The conclusion, then power, safety, exactness, measures, and what to keep in mind."""
    said = [_repeats(found, size) for size in reversed(range(len(found.paired.sizes)))]
    if len(found.tests) > 1:
        said += [_power(found), _safety(found), _exactness(found)]
    said.append(_nominal(found))
    if len(found.samples) > 1:
        said.append(_measures(found))
    said += _reach(found)
    said.append(
        "Conflicts approximate Type I errors: which systems really differ is not known here. Intervals hold "
        f"{percent(0.95)} and are of the trials, not of having one collection only."
    )
    return said


def _interval(found: Rates, i: int) -> str:
    """A rate with its interval: ``92.3 % [92.0, 92.6]``."""
    return share_with(*found.at((i, 0)).bounded)


def _repeats(found: OptimalityFindings, size: int) -> str:
    alpha = found.experiment.alpha
    pooled = found.pooled([alpha])
    if not pooled.significant[size, 0]:
        return f"At {alpha:g}, {_NONE} with {found.paired.sizes[size]} queries."
    value = pooled.values
    return (
        f"At {alpha:g}, {_interval(value['success'], size)} of the significant results repeat in a second collection "
        f"of {found.paired.sizes[size]} queries, {_interval(value['lack_of_power'], size)} do not for lack of power, "
        f"and {_interval(value['global_conflict'], size)} point the other way; "
        f"{_interval(value['non_significant'], size)} of all comparisons are not significant."
    )


def _rate_of(found: OptimalityFindings, view: OutcomeRates, outcome: str, test: str) -> str:
    """The rate of a test with the largest sets."""
    place = next(i for i, cell in enumerate(view.cells) if cell["test"] == test and cell["n_queries"] == found.size)
    return _interval(view.values[outcome], place)


def _hedged(leaders: Sequence[str], what: str) -> str:
    """The first leads; others that may be as good are named."""
    first, *others = leaders
    if not others:
        return f"The {what} test is {first}"
    return f"The {what} test comes out as {first}, but {listed(others)} cannot be told from it with these trials"


def _power(found: OptimalityFindings) -> str:
    view = found.at(found.experiment.alpha)
    leaders = found.leaders("non_significant")
    last = found.leaders("non_significant", highest=True)[0]
    rate = _rate_of(found, view, "non_significant", leaders[0])
    if last == leaders[0]:
        return f"All tests are equally powerful: {rate} of their comparisons are not significant."
    shares = f"{rate} of its comparisons are not significant"
    worst = f"The least powerful is {last}, with {_rate_of(found, view, 'non_significant', last)}"
    return f"{_hedged(leaders, 'most powerful')}: {shares}. {worst}."


def _safety(found: OptimalityFindings) -> str:
    view = found.at(found.experiment.alpha)
    if not np.nansum(view.values["global_conflict"].value):
        return f"No test has any conflict at {found.experiment.alpha:g}: none can be called safer than another."
    leaders = found.leaders("global_conflict")
    last = found.leaders("global_conflict", highest=True)[0]
    rate = _rate_of(found, view, "global_conflict", leaders[0])
    most = (
        f", the most are of {last} with {_rate_of(found, view, 'global_conflict', last)}" if last != leaders[0] else ""
    )
    return f"{_hedged(leaders, 'safest')}: {rate} of its significant results are conflicts{most}."


def _exactness(found: OptimalityFindings) -> str:
    leaders = found.most_exact()
    best = next(one for one in found.exactness() if one["test"] == leaders[0])
    if math.isnan(best["error"]):
        return f"No test can be called exact: {_NONE} at any level."
    return (
        f"{_hedged(leaders, 'most exact')}: over {len(LEVELS)} levels its conflict rate is off the level by "
        f"{best['error']:.2f} of it [{best['low']:.2f}, {best['high']:.2f}] (relative RMS)."
    )


def _nominal(found: OptimalityFindings) -> str:
    """Whether conflicts stay below the level: surely below, surely above, or neither."""
    view, alpha = found.by_test(), found.experiment.alpha
    mine = [i for i, cell in enumerate(view.cells) if cell["n_queries"] == found.size]
    conflict = view.values["global_conflict"]
    above = {view.cells[i]["test"]: view.levels[conflict.low[i] > view.levels] for i in mine}
    exceeding = {test: levels for test, levels in above.items() if len(levels)}
    now = found.at(alpha).values["global_conflict"]
    below = all(now.high[i, 0] < alpha for i in mine)
    first = (
        f"Conflicts are clearly rarer than {alpha:g} at that level with {'every test' if len(mine) > 1 else 'the test'}"
        if below
        else f"Conflicts are not clearly rarer than {alpha:g} at that level with every test"
    )
    if not exceeding:
        return f"{first}, and at no level clearly more frequent than it promises."
    upto = [f"{test} up to {levels[-1]:g}" for test, levels in exceeding.items()]
    return f"{first}, but clearly more frequent than promised at low levels: {listed(upto)}."


def _measures(found: OptimalityFindings) -> str:
    alpha = found.experiment.alpha
    view = found.by_sample([alpha])
    mine = [i for i, cell in enumerate(view.cells) if cell["n_queries"] == found.size]
    quiet = view.values["non_significant"]
    order = sorted(mine, key=lambda i: float(quiet.value[i, 0]))
    best, worst = order[0], order[-1]
    unsure = [view.cells[i]["sample"] for i in order[1:] if quiet.low[i, 0] <= quiet.high[best, 0]]
    hedge = f" (intervals of {listed(unsure)} overlap with it)" if unsure else ""
    return (
        f"{view.cells[best]['sample']} finds the most differences{hedge}: {_interval(quiet, best)} are not significant"
        f", against {_interval(quiet, worst)} by {view.cells[worst]['sample']}."
    )


def _reach(found: OptimalityFindings) -> list[str]:
    least = 1 / (found.experiment.resamples + 1)
    drawn = [one.name for one in found.experiment.procedures if one.resampled]
    if not drawn or least <= LEVELS[0]:
        return []
    return [
        f"With {found.experiment.resamples:,} resamples p of {listed(drawn)} is at least {least:.2g}: at lower levels "
        "they cannot be significant."
    ]


def small_table(found: OptimalityFindings) -> list[str]:
    """Rates of every test at the main level, as lines of text."""
    view = found.at(found.experiment.alpha)
    width = max(map(len, found.tests))
    lines = [" ".join([" " * width, "queries", *(f"{name:>16}" for name in OUTCOMES.values())])]
    for i, cell in enumerate(view.cells):
        cells = [f"{view.values[name].value[i, 0]:16.4f}" for name in OUTCOMES]
        lines.append(" ".join([f"{cell['test']:{width}}", f"{cell['n_queries']:7}", *cells]))
    return lines
