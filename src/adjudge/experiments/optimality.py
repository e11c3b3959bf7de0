"""Which significance test is the most powerful, the safest and the most exact; and by which measure and scale.

Queries are split at random into two disjoint sets, and all pairs of systems tested on both; what the second set says of
the results of the first is counted over 32 levels (:mod:`~adjudge.experiments.conflicts`). A powerful test has few
non-significant results, a safe one few conflicts, an exact one as many as its level promises (thesis chapter 5).

Conflicts approximate Type I errors and do not equal them: nobody knows here which systems really differ, and rates are
shares of the significant results, not of the pairs without a difference. Intervals are the error of having drawn so
many trials, not that of having one collection only.

Urbano, J., Marrero, M., Martín, D. A comparison of the optimality of statistical significance tests for information
retrieval evaluation. SIGIR 2013. doi:10.1145/2484028.2484163

The optimality of tests in plain language.

The report about the optimality of tests: the figures and tables of thesis chapter 5, from the user's own data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import floor, log10
from typing import TYPE_CHECKING, Any

import numpy as np

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.experiments.comparing import Comparing
from adjudge.experiments.conflicts import (
    LEVELS,
    OUTCOMES,
    Counts,
    OutcomeRates,
    Paired,
    count_outcomes,
    jackknifed,
    leading,
    left_out,
    outcome_rates,
    relative_error,
)
from adjudge.experiments.procedures import FIVE_TESTS, Procedure, parse_procedures
from adjudge.experiments.rates import Rates, rates
from adjudge.experiments.report import EXPERIMENT_SECTIONS, conclusion, table_of
from adjudge.experiments.samples import Sample, Samples
from adjudge.experiments.spec import Draws, Findings, Rows, experiment
from adjudge.model.provenance import Provenance
from adjudge.reporting.document import Block, FigureBlock, Paragraph, Section, TableBlock
from adjudge.reporting.figures import Curve, Curves, Panel, curves
from adjudge.results import Column
from adjudge.tables import Heading, Table
from adjudge.text import listed, percent, share_with

if TYPE_CHECKING:
    import polars as pl


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


BINS: tuple[float, ...] = (0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0)
"""Upper ends of the bins of p-values in thesis Table 5.5, and what is above its last."""
_CLEAR = 1.96  # Monte-Carlo errors by which two tests must differ to be called different


@experiment("tests")
@dataclass(frozen=True, kw_only=True)
class Optimality(Comparing):
    """All pairs of systems tested on two disjoint sets of queries, by default halves of the collection.

    The 100,000 resamples are those of the thesis: the least level, 0.0001, leaves 10 of them. Tests are all seen at the
    same levels; what is written after their ``@`` is the level at which conclusions are drawn, one for all.

    >>> Optimality(procedures=("t@0.01", "sign"))
    Traceback (most recent call last):
    adjudge.errors.AdjudgeError: tests: expected one level for all tests, got 0.01 and 0.05
    """

    title = "Optimality of significance tests"
    question = "Which test is the most powerful, the safest and the most exact?"

    trials: int = 300
    procedures: tuple[Procedure, ...] = parse_procedures(FIVE_TESTS)
    resamples: int = 100_000

    def __post_init__(self) -> None:
        super().__post_init__()
        levels = sorted({one.alpha for one in self.procedures})
        if len(levels) > 1:
            raise AdjudgeError(
                f"{self.name}: expected one level for all tests, got {listed([f'{a:g}' for a in levels])}"
            )

    @property
    def alpha(self) -> float:
        """The level at which conclusions are drawn."""
        return self.procedures[0].alpha

    def prepared(self, samples: Samples) -> Optimality:
        """Without sizes, half of the queries of the smallest sample."""
        settled = self if self.sizes else replace(self, sizes=(samples.fewest_queries // 2,))
        settled.check_sizes(samples, count=2)
        return settled

    def trial(self, samples: Samples, draws: Draws) -> Rows:
        """All pairs on two disjoint sets of every size."""
        return self.compared(samples, draws, count=2)

    def findings(self, samples: Samples, rows: pl.DataFrame, provenance: Provenance) -> OptimalityFindings:
        """Rates of outcomes, from the p-values of all trials."""
        return OptimalityFindings(self, samples, rows, provenance)


@dataclass(frozen=True, eq=False, repr=False)
class OptimalityFindings(Findings):
    """Rates of success, lack of power and conflict of every test and sample, at any level."""

    experiment: Optimality

    @property
    def tests(self) -> tuple[str, ...]:
        """Names of the tests."""
        return tuple(one.name for one in self.experiment.procedures)

    @property
    def size(self) -> int:
        """The largest sets of queries, which conclusions are about."""
        return self.paired.sizes[-1]

    @cached_property
    def paired(self) -> Paired:
        """All comparisons."""
        return Paired.from_rows(self.rows, self.samples.names, self.tests, self.samples.largest)

    @cached_property
    def _all_levels(self) -> Counts:
        return count_outcomes(self.paired, LEVELS)

    def counts(self, levels: Sequence[float] | None = None) -> Counts:
        """What happened in every trial; without levels, at the 32 of the thesis."""
        if levels is None:
            return self._all_levels
        return self._all_levels.at(levels) if set(levels) <= set(LEVELS) else count_outcomes(self.paired, levels)

    def by_test(self, levels: Sequence[float] | None = None) -> OutcomeRates:
        """Rates of every test, over all samples (thesis Table 5.3, Figure 5.1)."""
        return self._view(levels, samples=True, tests=False)

    def by_sample(self, levels: Sequence[float] | None = None) -> OutcomeRates:
        """Rates of every measure and scale, over all tests (thesis Table 5.4, Figures 5.2 and 5.3)."""
        return self._view(levels, samples=False, tests=True)

    def by_test_and_sample(self, levels: Sequence[float] | None = None) -> OutcomeRates:
        """Rates of every test with every measure and scale."""
        return self._view(levels, samples=False, tests=False)

    def pooled(self, levels: Sequence[float] | None = None) -> OutcomeRates:
        """Rates over all tests and samples."""
        return self._view(levels, samples=True, tests=True)

    def at(self, alpha: float) -> OutcomeRates:
        """Rates of every test at one level, whichever it is."""
        return self.by_test([alpha])

    def _view(self, levels: Sequence[float] | None, *, samples: bool, tests: bool) -> OutcomeRates:
        cells = [
            {
                **({} if samples else {"sample": sample}),
                "n_queries": size,
                **({} if tests else {"test": test}),
            }
            for sample in ((None,) if samples else self.samples.names)
            for size in self.paired.sizes
            for test in ((None,) if tests else self.tests)
        ]
        return outcome_rates(self.counts(levels).pooled(samples=samples, tests=tests), cells)

    def exactness(self) -> list[dict[str, Any]]:
        """Relative RMS error of the global conflict rate over the 32 levels, of every test, with its interval.

        The interval is of ± 1.96 errors by the jackknife over trials. Few conflicts at the least levels make this
        error larger than it would be with more trials.
        """
        value, without = self._exact()
        error = jackknifed(without)
        return [
            {"test": test, "error": float(v), "low": float(max(v - _CLEAR * e, 0.0)), "high": float(v + _CLEAR * e)}
            for test, v, e in zip(self.tests, value, error, strict=True)
        ]

    def most_exact(self) -> tuple[str, ...]:
        """Tests by how exact they are: the first leads, others are not clearly behind it."""
        return self._leading(*self._exact())

    def _exact(self) -> tuple[Floats, Floats]:
        hits, cases = self._of_size(self.counts(), "global_conflict")
        rate = rates(hits, cases).value
        levels = self.counts().levels
        return relative_error(rate, levels), relative_error(left_out(hits, cases), levels)

    def _of_size(self, counts: Counts, outcome: str) -> tuple[Floats, Floats]:
        """Hits and cases of every test with the largest sets: trials x tests x levels."""
        hits, cases = counts.pooled(samples=True, tests=False).ratio(outcome)
        return hits[:, 0, -1], cases[:, 0, -1]

    def self_error(self) -> list[dict[str, Any]]:
        """RMS of p in the second set less p in the first, of every test by bins of the first (thesis Table 5.5).

        Either set is the first in its turn, and all sizes and samples are taken together.
        """
        records = []
        for test, first, second in zip(self.tests, self.paired.first, self.paired.second, strict=True):
            found = _binned(self.paired, first, second)
            lows = (0.0, *BINS)
            for i, high in enumerate(BINS):
                records.append({"test": test, "above": lows[i], "up_to": high, **_root(*found, i)})
        return records

    def agreement(self, alpha: float | None = None) -> list[dict[str, Any]]:
        """How alike two tests are: share of comparisons decided the same at a level, and RMS difference of their p.

        Smucker, M. D., Allan, J., Carterette, B. A comparison of statistical significance tests for information
        retrieval evaluation. CIKM 2007. doi:10.1145/1321440.1321528
        """
        level = self.experiment.alpha if alpha is None else alpha
        records = []
        for i, j in combinations(range(len(self.tests)), 2):
            a, b = (np.stack([self.paired.first[k], self.paired.second[k]]) for k in (i, j))
            same, apart = _each_trial(
                self.paired, ((a <= level) == (b <= level)).sum(axis=0), ((a - b) ** 2).sum(axis=0)
            )
            cases = 2 * self.paired.totals(np.zeros_like(self.paired.group), 1).sum(axis=(1, 2))
            found = rates(same, cases)
            records.append(
                {
                    "test": self.tests[i],
                    "other": self.tests[j],
                    "alpha": level,
                    "same": float(found.value[0]),
                    "same_low": float(found.low[0]),
                    "same_high": float(found.high[0]),
                    **_root(apart, cases),
                }
            )
        return records

    def leaders(self, outcome: str, *, highest: bool = False, alpha: float | None = None) -> tuple[str, ...]:
        """Tests with the lowest (or highest) rate at a level: the first leads, others are not clearly behind it.

        Tests see the same queries, so that differences between them are surer than their intervals suggest: what counts
        is the jackknife error of the difference.
        """
        level = self.experiment.alpha if alpha is None else alpha
        hits, cases = self._of_size(self.counts([level]), outcome)
        return self._leading(rates(hits, cases).value[:, 0], left_out(hits, cases)[:, :, 0], highest)

    def _leading(self, value: Floats, without: Floats, highest: bool = False) -> tuple[str, ...]:
        return leading(self.tests, value, without, highest=highest)

    @property
    def columns(self) -> tuple[Column, ...]:
        """Those of the rates of every test at the 32 levels."""
        return self.by_test().columns

    def _rows(self) -> list[dict[str, Any]]:
        return list(self.by_test())

    def sentences(self) -> list[str]:
        """What a second collection would say, which test is best at what, and how far to trust it."""
        return sentences(self)

    def _facts(self) -> dict[str, Any]:
        return {
            **super()._facts(),
            "by_sample": self.by_sample([self.experiment.alpha]).to_dicts(),
            "exactness": self.exactness(),
            "self_error": self.self_error(),
            "agreement": self.agreement(),
        }

    def table(self, *, digits: int | None = None) -> Table:
        """Rates of every test at the main level."""
        view = self.at(self.experiment.alpha)
        return replace(view.table(digits=digits), title=self.title, notes=self.sentences())


def _binned(paired: Paired, first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Squared differences by bins of the first p, either being the first, and how many: trials x bins."""
    known = np.isfinite(first) & np.isfinite(second)
    squares = np.where(known, (second - first) ** 2, 0.0)
    sums, counts = [], []
    for p in (first, second):
        place = np.searchsorted(np.array(BINS[:-1]), np.where(known, p, 1.0))
        sums.append(paired.totals(place, len(BINS), squares).sum(axis=(1, 2)))
        counts.append(paired.totals(place, len(BINS), known.astype(np.float64)).sum(axis=(1, 2)))
    return sums[0] + sums[1], counts[0] + counts[1]


def _each_trial(paired: Paired, *weights: Floats) -> list[Floats]:
    """Sums over the comparisons of each trial: trials x 1."""
    all_in_one = np.zeros_like(paired.group)
    return [paired.totals(all_in_one, 1, one.astype(np.float64)).sum(axis=(1, 2)) for one in weights]


def _root(squares: Floats, cases: Floats, i: int = 0) -> dict[str, float]:
    """RMS with its interval, by the jackknife over trials."""
    total = float(cases[:, i].sum())
    value = float(np.sqrt(squares[:, i].sum() / total)) if total else float("nan")
    half = _CLEAR * float(jackknifed(np.sqrt(left_out(squares[:, i], cases[:, i]))))
    return {"rms": value, "rms_low": max(value - half, 0.0), "rms_high": min(value + half, 1.0)}


SELECTED = (0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5)
"""The levels of thesis Table 5.3."""
_SIDE_BY_SIDE = ("non_significant", "minor_conflict", "success", "major_conflict", "lack_of_power", "global_conflict")
_CLOSE = (0.001, 0.1)  # the levels of Figures 5.2 and 5.3
_ABOUT = {
    "non_significant": "share of all comparisons that are not significant in the first set (lower is better)",
    "success": "of the significant, share significant with the same sign in the second set (higher is better)",
    "lack_of_power": "of the significant, share with the same sign but not significant in the second set",
    "minor_conflict": "of the significant, share with the other sign in the second set, not significantly",
    "major_conflict": "of the significant, share significant with the other sign in the second set",
    "global_conflict": "minor and major conflicts together; as many as the level is exact",
}


@EXPERIMENT_SECTIONS.register("tests")
def optimality_sections(findings: OptimalityFindings) -> Sequence[Section]:
    """Tests compared at all levels, then measures and scales, then tests with themselves and with one another."""
    sections = [Section("tests", "Which test", (*conclusion(findings), *_of_tests(findings)))]
    if len(findings.samples) > 1:
        sections.append(Section("tests-samples", "Which measure and scale", tuple(_of_samples(findings))))
    return [*sections, Section("tests-stability", "How stable tests are, and how alike", tuple(_of_p(findings)))]


def _of_tests(findings: OptimalityFindings) -> list[Block]:
    alpha = findings.experiment.alpha
    blocks: list[Block] = [
        _with_intervals(
            "tests-level", f"Tests at {alpha:g}, over all samples, with 95 % intervals.", findings.at(alpha)
        )
    ]
    if len(findings.paired.sizes) > 1:
        caption = f"Sizes of the sets of queries at {alpha:g}, over all tests and samples, with 95 % intervals."
        blocks.append(_with_intervals("tests-sizes", caption, findings.pooled([alpha])))
    return [*blocks, _figure(findings), _selected(findings), _exactness_table(findings)]


def _figure(findings: OptimalityFindings) -> FigureBlock:
    view = findings.by_test()
    mine = _largest(findings, view)
    panels = tuple(
        Panel(
            OUTCOMES[outcome],
            tuple(_curve(view, outcome, i, view.cells[i]["test"]) for i in mine),
            diagonal=outcome == "global_conflict",
        )
        for outcome in _SIDE_BY_SIDE
    )
    data = Curves("level α", "rate", panels, columns=2, log_x=True, log_y=True, share_y=False)
    conflict = findings.pooled([findings.experiment.alpha]).values["global_conflict"].value[-1, 0]
    alt = (
        f"Six panels of rates against the level, one curve for each of {', '.join(findings.tests)}. At "
        f"{findings.experiment.alpha:g} conflicts are {conflict:.4f} of the significant results."
    )
    caption = (
        f"Rates of every test over {len(view.levels)} levels with sets of {findings.size} queries; both axes are "
        "logarithmic, rates of 0 are left out, and bands are 95 % intervals of the trials. An exact test follows the "
        "dotted diagonal of the last panel."
    )
    return FigureBlock("tests-rates", caption, alt, data, curves)


def _curve(view: OutcomeRates, outcome: str, i: int, label: str, kept: Any = slice(None)) -> Curve:
    found = view.values[outcome]
    return Curve(label, view.levels[kept], found.value[i][kept], found.low[i][kept], found.high[i][kept])


def _largest(findings: OptimalityFindings, view: OutcomeRates) -> list[int]:
    """Cells of the largest sets."""
    return [i for i, cell in enumerate(view.cells) if cell["n_queries"] == findings.size]


def _with_intervals(name: str, caption: str, view: OutcomeRates) -> TableBlock:
    """All outcomes of every cell at one level."""
    named = [key for key in ("sample", "test") if key in view.cells[0]]
    rows = [
        [*(cell[key] for key in named), str(cell["n_queries"]), *(_shown(view, outcome, i) for outcome in OUTCOMES)]
        for i, cell in enumerate(view.cells)
    ]
    columns = [
        *(Heading(key.capitalize(), "left") for key in named),
        Heading("Queries", about="in each of the two sets"),
        *(Heading(title, about=_ABOUT[outcome]) for outcome, title in OUTCOMES.items()),
    ]
    return table_of(name, caption, columns, rows, view.to_dicts())


def _shown(view: OutcomeRates, outcome: str, i: int) -> str:
    found = view.values[outcome]
    value, low, high = (float(one[i, 0]) for one in (found.value, found.low, found.high))
    return f"{_rate(value)} [{_rate(low)}, {_rate(high)}]" if np.isfinite(value) else "–"


def _rate(value: float) -> str:
    """Four digits after the point, or as many as it takes where those would be 0 or 1.

    >>> _rate(0.92314), _rate(0.0000016), _rate(0.0), _rate(0.999984), _rate(1.0)
    ('0.9231', '1.6e-06', '0', '0.999984', '1.0000')
    """
    if not np.isfinite(value):
        return "–"
    if 0 < (off := round(1 - value, 9)) < 0.00005:
        return f"{value:.{1 - floor(log10(off))}f}"
    return "0" if value == 0 else f"{value:.4f}" if value >= 0.00005 else f"{value:.1e}"


def _selected(findings: OptimalityFindings) -> TableBlock:
    """Table 5.3: one row a level and test, the best of each level in bold."""
    view = findings.by_test(SELECTED)
    mine = _largest(findings, view)
    rows: list[list[str]] = []
    best: set[tuple[int, int]] = set()
    for j, alpha in enumerate(view.levels.tolist()):
        for column, outcome in enumerate(OUTCOMES, 2):
            merit = _merit(outcome, view.values[outcome].value[mine, j], alpha)
            if np.isfinite(merit).any():
                best |= {(len(rows) + int(k), column) for k in np.flatnonzero(merit == np.nanmax(merit))}
        rows += [
            [f"{alpha:g}", view.cells[i]["test"], *(_rate(float(view.values[o].value[i, j])) for o in OUTCOMES)]
            for i in mine
        ]
    columns = [
        Heading("α"),
        Heading("Test", "left"),
        *(Heading(title, about=_ABOUT[outcome]) for outcome, title in OUTCOMES.items()),
    ]
    caption = f"Tests at selected levels with sets of {findings.size} queries, over all samples; best in bold."
    table = table_of("tests-selected", caption, columns, rows, view.to_dicts())
    return TableBlock(table.name, caption, table.columns, table.rows, table.records, frozenset(best))


def _merit(outcome: str, value: Floats, alpha: float) -> Floats:
    """The higher, the better."""
    if outcome == "success":
        return value
    merit: Floats = -np.abs(value - alpha) if outcome == "global_conflict" else -value
    return merit


def _exactness_table(findings: OptimalityFindings) -> TableBlock:
    records = findings.exactness()
    rows = [[one["test"], f"{one['error']:.3f} [{one['low']:.3f}, {one['high']:.3f}]"] for one in records]
    columns = [Heading("Test", "left"), Heading("Error", about="relative RMS error over all levels, 0 is exact")]
    caption = "How far the rate of global conflicts is from the level, relative to it, with 95 % intervals."
    return table_of("tests-exactness", caption, columns, rows, records)


def _of_samples(findings: OptimalityFindings) -> list[Block]:
    alpha = findings.experiment.alpha
    caption = f"Measures and scales at {alpha:g}, over all tests, with 95 % intervals."
    return [
        _with_intervals("tests-measures", caption, findings.by_sample([alpha])),
        _by_scale(findings, "tests-measures-power", "non_significant", "success"),
        _by_scale(findings, "tests-measures-conflicts", "minor_conflict", "major_conflict"),
    ]


def _by_scale(findings: OptimalityFindings, name: str, *outcomes: str) -> FigureBlock:
    """Figures 5.2 and 5.3: a row of panels a scale, a curve a measure."""
    view = findings.by_sample()
    kept = np.flatnonzero((view.levels >= _CLOSE[0]) & (view.levels <= _CLOSE[1]))
    members = {sample.name: sample for sample in findings.samples}
    mine = [(i, members[view.cells[i]["sample"]]) for i in _largest(findings, view)]
    panels = [
        Panel(
            f"{OUTCOMES[outcome]}, {scale}" if scale else OUTCOMES[outcome],
            tuple(_curve(view, outcome, i, _label(sample), kept) for i, sample in mine if sample.scale == scale),
        )
        for scale in dict.fromkeys(sample.scale for sample in findings.samples)
        for outcome in outcomes
    ]
    data = Curves("level α", "rate", tuple(panels), columns=2, log_x=True, log_y=True, share_y=False)
    words = " and ".join(OUTCOMES[outcome].lower() for outcome in outcomes)
    caption = (
        f"Rates of {words} by measure and scale, over all tests, with sets of {findings.size} queries; both axes are "
        "logarithmic and rates of 0 are left out."
    )
    alt = f"Panels of {words} against the level, one curve for each of {', '.join(findings.samples.names)}."
    return FigureBlock(name, caption, alt, data, curves)


def _label(sample: Sample) -> str:
    return f"{sample.measure} ({sample.collection})" if sample.collection else sample.measure


def _of_p(findings: OptimalityFindings) -> list[Block]:
    blocks: list[Block] = [
        Paragraph("A stable test gives a similar p-value with another set of queries; two tests are alike if they do."),
        _self_error(findings),
    ]
    if len(findings.tests) > 1:
        blocks.append(_agreement(findings))
    return blocks


def _self_error(findings: OptimalityFindings) -> TableBlock:
    """Table 5.5."""
    records = findings.self_error()
    rms = np.array([one["rms"] for one in records]).reshape(len(findings.tests), len(BINS)).T
    rows = [
        [f"{low:g} < p ≤ {high:g}" if low else f"p ≤ {high:g}", *(_rate(float(value)) for value in row)]
        for low, high, row in zip((0.0, *BINS), BINS, rms, strict=False)
    ]
    best = {(i, int(k) + 1) for i, row in enumerate(rms) if np.isfinite(row).any() for k in [np.nanargmin(row)]}
    caption = "Tests with themselves: RMS of p in the second set less p in the first, by p in the first. Best in bold."
    columns = (Heading("Bin", "left"), *map(Heading, findings.tests))
    return TableBlock("tests-self", caption, columns, tuple(map(tuple, rows)), records, frozenset(best))


def _bounded(record: dict[str, Any], key: str) -> str:
    return f"{_rate(record[key])} [{_rate(record[f'{key}_low'])}, {_rate(record[f'{key}_high'])}]"


def _agreement(findings: OptimalityFindings) -> TableBlock:
    records = findings.agreement()
    rows = [[one["test"], one["other"], _bounded(one, "same"), _bounded(one, "rms")] for one in records]
    columns = [
        Heading("Test", "left"),
        Heading("Other", "left"),
        Heading(
            "Same decision", about=f"share that both call significant at {findings.experiment.alpha:g}, or neither"
        ),
        Heading("RMS", about="root of the mean squared difference of their p-values"),
    ]
    return table_of("tests-agreement", "Tests with one another, with 95 % intervals.", columns, rows, records)
