"""Thesis chapter 5 on MIREX 2011: which test is the most powerful, the safest and the most exact.

The thesis counts over four years and three scales together, so that its rates are not those of 2011. What should carry
over is the order of tests and of measures; the rates themselves stand beside ours in the figures.

Thesis chapter 5 as printed: rates of outcomes over four years of MIREX, three scales and 300 trials.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from adjudge.arrays import Floats
from adjudge.experiments import Optimality
from adjudge.experiments.optimality import OptimalityFindings, OutcomeRates
from adjudge.experiments.run import run_experiment
from adjudge.experiments.samples import samples_of
from adjudge.model.effectiveness import Effectiveness
from adjudge.stats.multiple import friedman, friedman_tukey
from adjudge.stats.paired import paired_tests
from adjudge.stats.resampling import signed_rank_tails
from papers.claims import (
    ANOTHER,
    SECOND,
    Bound,
    Claim,
    Panel,
    Plot,
    Reason,
    Series,
    as_printed,
    between,
    by_chance,
    independent,
)
from papers.data import Data
from papers.reliability import MEASURES as WRITTEN
from papers.studies import Effort, Found, study
from papers.thesis_tables import printed_rows

TESTS = {"t": "t", "wilcoxon": "Wilcoxon", "sign": "sign", "bootstrap": "bootstrap", "permutation": "permutation"}
"""The five tests in the thesis's order, and how they are called in figures."""
OUTCOMES = {
    "non_significant": "non-significance",
    "success": "success",
    "lack_of_power": "lack of power",
    "minor_conflict": "minor conflicts",
    "major_conflict": "major conflicts",
    "global_conflict": "global conflicts",
}
LEVELS = (0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5)

Numbers = tuple[float, ...]


def _numbers(row: dict[str, str], columns: Iterable[str]) -> Numbers:
    return tuple(float(row[column]) for column in columns)


TABLE_5_3: dict[str, tuple[Numbers, ...]] = {
    outcome: tuple(_numbers(row, TESTS) for row in printed_rows("thesis_table_5_3") if row["outcome"] == outcome)
    for outcome in OUTCOMES
}
"""Table 5.3: for every outcome a row a level and a column a test."""

MEASURES = ("CG", "DCG", "nDCG", "Q", "RBP", "GAP", "P", "AP")
TABLE_5_4: dict[str, Numbers] = {row["measure"]: _numbers(row, OUTCOMES) for row in printed_rows("thesis_table_5_4")}
"""Table 5.4 without Broad: for every measure, on Fine, for P and AP cut at 40, the outcomes at .05."""

TABLE_5_5 = tuple(_numbers(row, TESTS) for row in printed_rows("thesis_table_5_5"))
"""Table 5.5: RMS error of a test with itself, a row a bin of p and a column a test."""

SECOND_TRIALS = 150
"""Trials of the second computation that the numbers below come from (scripts/independent_papers.py), all of 2011."""
AT_05_2011 = ((0.71919, 0.00836), (0.91951, 0.01805), (0.00905, 0.00691))
"""At .05, all tests and measures: significant results, those that the other half repeats, those that it contradicts.

Each with its mean and the standard deviation of a trial.
"""
EXACTNESS_2011 = {
    "t": (0.7041, 0.532),
    "wilcoxon": (0.697, 0.5335),
    "sign": (0.7412, 0.481),
}
"""Relative error of the global conflict rate over 32 levels, and the standard deviation of a trial."""
Ends = tuple[int, int, int, int]
"""Least and most in 300 resamples of the trials: for few trials here (24), and for as many as the thesis has (300)."""
LEADING_2011: dict[tuple[str, str], Ends] = {
    ("non_significant", "bootstrap"): (6, 8, 7, 7),
    ("non_significant", "sign"): (8, 8, 8, 8),
    ("success", "sign"): (8, 8, 8, 8),
    ("lack_of_power", "sign"): (8, 8, 8, 8),
    ("minor_conflict", "bootstrap"): (0, 7, 3, 6),
    ("minor_conflict", "sign"): (0, 8, 0, 7),
}
"""Levels, of 8, at which a test leads, by outcome."""
SAFE_2011: dict[float, Ends] = {0.05: (5, 5, 5, 5), 0.1: (5, 5, 5, 5)}
"""Tests, of 5, with fewer global conflicts than a level promises."""
PLACES_2011: dict[str, tuple[Ends, ...]] = {
    "non_significant": (
        (1, 1, 1, 1),
        (3, 5, 3, 4),
        (3, 5, 4, 5),
        (6, 6, 6, 6),
        (3, 5, 3, 5),
        (2, 2, 2, 2),
        (7, 8, 7, 8),
        (7, 8, 7, 8),
    ),
    "success": (
        (1, 6, 2, 6),
        (2, 7, 3, 5),
        (3, 7, 5, 6),
        (1, 6, 2, 4),
        (2, 6, 3, 6),
        (1, 2, 1, 1),
        (7, 8, 8, 8),
        (2, 8, 7, 7),
    ),
}
"""Places of the measures at .05."""
OWN_BINS_2011: Ends = (0, 7, 1, 5)
"""Bins of p, of 8, in which Wilcoxon agrees with itself best."""


_OTHER_DATA = Reason(
    "data", "four years and three scales together in the thesis, 2011 on Fine, for P and AP cut at 40, here"
)
_POOLED = f"{_OTHER_DATA}: rates are other ones, the order of tests and measures is what can be compared"
_TRIALS = Reason("draws", "300 trials there, and ours here: three standard errors of both together")
_RESAMPLES = Reason("draws", "a million resamples there and here: three standard errors of both together")
_LAST_DIGIT = Reason("rounding", "the same to 14 significant digits; the next is rounding in floating point")
_AT_RANK_2 = "by hand: of one relevant document, at rank 2, Q is 2 / (2 + 1) by (5.7) and AP is 1 / 2"
_FROM_RESAMPLES = f"{SECOND}; the range of 300 resamples of its trials"
_IDEAL = Reason(
    "slip",
    "the same where five documents or more are relevant to the query; with fewer, the ideal gain in the denominator "
    "of the thesis's own (5.7) stops growing, and Q is the larger",
)


@study(
    "significance",
    title="Significance tests, on 2011 (the thesis: four years)",
    covers=("T Table 5.2", "T Table 5.3", "T Table 5.4", "T Table 5.5", "T Figure 5.1", "T Figure 5.2", "T Figure 5.3"),
    needs=("mirex2011", "trec"),
    partly={
        "T Table 5.2": "its equivalences, on 2011: whether a combination was studied is no number",
        **dict.fromkeys(("T Table 5.3", "T Table 5.5", "T Figure 5.1"), _POOLED),
        **dict.fromkeys(("T Table 5.4", "T Figure 5.2", "T Figure 5.3"), f"{_POOLED}; Broad judgments are not public"),
    },
    weight=67,
)
def significance(data: Data, effort: Effort) -> Found:
    """Two halves of the queries, 300 times; and p-values that others have published."""
    eff = data.effectiveness([WRITTEN[name] for name in MEASURES])
    trials, resamples = effort.trials(300, 24), 10_000
    found = run_experiment(
        Optimality(trials=trials, resamples=resamples, seed=effort.seed),
        samples_of(eff, scale="fine"),
        workers=effort.workers,
        progress=effort.progress,
    )
    if not isinstance(found, OptimalityFindings):
        raise TypeError(f"expected findings of tests, got {type(found).__name__}")
    claims = (*all_queries(data), *_rates(found, trials), *optimality_claims(found))
    note = (
        f"{trials} trials with {resamples:,} resamples each (the thesis has 300 and 100,000). Numbers whose source is "
        f"{ANOTHER} are in no paper: somebody else computed them from the same data; those of the TREC-8 data are "
        "printed in the README of their repository, sigir2019-statistical. Of Tables 5.3 to 5.5 all numbers are in the "
        "figures, as points."
    )
    return Found(claims, optimality_plots(found), (note,))


def all_queries(data: Data) -> tuple[Claim, ...]:
    """What needs no trials."""
    return (*_p_values(data), *_pairs(data.effectiveness(["CG@5"])), *_equivalences(data))


def _p_values(data: Data) -> Iterator[Claim]:
    """Runs 125 and 126 of TREC-8, as the authors of the data publish them, computed with R."""
    pair, source = data.adhoc8.matrix()[:, [124, 125]], "TREC-8 data"
    for test, least, printed in (
        ("t", 0.0, ".00131939720193334"),
        ("wilcoxon", 0.0, ".00344518836613166"),
        ("sign", 0.01, ".00955987885663489"),
    ):
        ours = float(paired_tests(pair, test=test, min_difference=least).p[0, 1])
        if test == "wilcoxon":  # R ranks the rounding of differences by default: two that are tied here are not there
            greater, less, _, _ = signed_rank_tails(pair[:, [0]] - pair[:, [1]])
            ours = 2 * float(min(greater[0], less[0]))
        what = f"p of the {test} test, runs 125 and 126 of TREC-8"
        yield Claim.around(source, what, printed, ours, 1e-16, basis="rounding", why=_LAST_DIGIT)
    for test, printed in (("permutation", ".001188"), ("bootstrap", ".000586")):
        result = paired_tests(pair, test=test, resamples=10**6)
        error = 3 * np.sqrt(2) * float(result.error[0, 1])
        what = f"p of the {test} test, runs 125 and 126 of TREC-8"
        yield Claim.around(source, what, printed, float(result.p[0, 1]), error, basis="chance", why=_RESAMPLES)


def _pairs(eff: Effectiveness) -> Iterator[Claim]:
    """All queries, CG@5 on Fine."""
    values = eff.matrix("CG@5")
    n_systems = values.shape[1]
    tukey = friedman_tukey(values).p[np.triu_indices(n_systems, 1)]
    wilcoxon = paired_tests(values, test="wilcoxon", alternative="greater").p
    yield Claim.printed("T 5.3", "pairs of systems in 2011", "153", n_systems * (n_systems - 1) / 2)
    for what, printed, ours in (
        ("Friedman's χ² of 2011", "617.65", friedman(values).chi2),
        ("pairs that differ by Friedman and Tukey at .05, of 153", "96", int((tukey <= 0.05).sum())),
        ("pairs that differ by one-tailed Wilcoxon at .01, of 153", "119", int((wilcoxon <= 0.01).sum())),
    ):
        yield Claim.printed(ANOTHER, what, printed, float(ours))


def _equivalences(data: Data) -> Iterator[Claim]:
    """Measures that Table 5.2 says are the same on a binary scale."""
    binary, graded = ("P@5", "AP(ideal=judged)@5", "AP(ideal=judged)@5"), ("CG@5", "Q@5", "GAP@5")
    eff = data.effectiveness(list(dict.fromkeys((*binary, *graded))), "binary40")
    for name, same, short in zip(graded, binary, ("P@5", "AP@5", "AP@5"), strict=True):
        apart = float(np.abs(eff.matrix(name) - eff.matrix(same)).max())
        what = f"largest difference of {name} from {short} on Fine cut at 40"
        bound = independent(".1667", _AT_RANK_2) if name == "Q@5" else as_printed("0.000")
        yield Claim("T Table 5.2", what, "0.000", apart, bound, _IDEAL)


def _rates(found: OptimalityFindings, trials: int) -> Iterator[Claim]:
    """CG@5 on Fine at .05, all tests together."""
    rates = found.by_sample([0.05])
    for outcome, printed in (
        ("non_significant", ".257"),
        ("success", ".923"),
        ("lack_of_power", ".067"),
        ("minor_conflict", ".0096"),
        ("major_conflict", ".0002"),
    ):
        one = rates.values[outcome]
        ours, high = float(one.value[0, 0]), float(one.high[0, 0])
        error = max(float(one.error[0, 0]), (high - ours) / 1.96)  # none was seen in few trials: not an error of 0
        theirs = 1.7 * np.sqrt(trials / 300) * error  # they have one order of the two halves, we have both
        rounding = 0.5 * 10.0 ** -(len(printed) - 1)
        what = f"{OUTCOMES[outcome]} of CG@5 on Fine at .05, five tests together"
        tolerance = 3 * float(np.hypot(error, theirs)) + rounding
        yield Claim.around(ANOTHER, what, printed, ours, tolerance, basis="chance", why=_TRIALS)


def optimality_claims(found: OptimalityFindings) -> Iterator[Claim]:
    """What the thesis says of tests and measures, by the numbers of its tables and by those of 2011."""
    ours = {name: rate.value.T for name, rate in found.by_test(LEVELS).values.items()}
    trials = found.experiment.trials
    yield from _levels(ours, trials)
    yield from _text(ours, trials)
    yield from _exactness(found)
    yield from _measures(found)
    theirs, here = (_times(values, list(TESTS).index("wilcoxon")) for values in (np.array(TABLE_5_5), _errors(found).T))
    what = "bins of p, of 8, in which Wilcoxon agrees with itself best"
    yield Claim("T Table 5.5", what, str(theirs), here, _range(OWN_BINS_2011, trials), _OTHER_DATA)


def _range(ends: Ends, trials: int) -> Bound:
    return between(*(ends[:2] if trials < 300 else ends[2:]), _FROM_RESAMPLES)


def _chance(known: tuple[float, float], trials: int) -> Bound:
    return by_chance(*known, trials, of=SECOND_TRIALS)


def _levels(ours: dict[str, Floats], trials: int) -> Iterator[Claim]:
    """At how many levels a test leads, Table 5.3; and which tests keep what their level promises."""
    theirs = {name: np.array(rows) for name, rows in TABLE_5_3.items()}
    for what, outcome, test, highest in (
        ("bootstrap has the fewest non-significant results", "non_significant", "bootstrap", False),
        ("sign has the most non-significant results", "non_significant", "sign", True),
        ("sign has the lowest success rate", "success", "sign", False),
        ("sign lacks power most often", "lack_of_power", "sign", True),
        ("bootstrap has the most minor conflicts", "minor_conflict", "bootstrap", True),
        ("sign has the fewest minor conflicts", "minor_conflict", "sign", False),
    ):
        place = list(TESTS).index(test)
        there, here = (_times(rates[outcome], place, highest=highest) for rates in (theirs, ours))
        bound = _range(LEADING_2011[outcome, test], trials)
        yield Claim("T Table 5.3", f"levels, of 8, at which {what}", str(there), here, bound, _OTHER_DATA)
    for level in (0.05, 0.1):
        at = LEVELS.index(level)
        there, here = (int((rates["global_conflict"][at] < level).sum()) for rates in (theirs, ours))
        what = f"tests, of 5, with fewer global conflicts than {level:g} promises"
        yield Claim("T Table 5.3", what, str(there), here, _range(SAFE_2011[level], trials), _OTHER_DATA)


def _times(rates: Floats, place: int, *, highest: bool = False) -> int:
    """Rows in which one column is the highest, or the lowest; ties count."""
    best = rates.max(axis=1) if highest else rates.min(axis=1)
    return int((rates[:, place] == best).sum())


def _text(ours: dict[str, Floats], trials: int) -> Iterator[Claim]:
    """What the text sums the table up to, at .05."""
    at = LEVELS.index(0.05)
    for what, printed, value, known in zip(
        (
            "significant results",
            "significant results that the other half repeats",
            "significant results that the other half contradicts",
        ),
        ("67 %", "90 %", "1.2 %"),
        (1 - ours["non_significant"][at].mean(), ours["success"][at].mean(), ours["global_conflict"][at].mean()),
        AT_05_2011,
        strict=True,
    ):
        yield Claim(
            "T 5.4, 5.5", f"{what} at .05, all tests", printed, float(value), _chance(known, trials), _OTHER_DATA
        )


def _exactness(found: OptimalityFindings) -> Iterator[Claim]:
    """How far conflicts are from what levels promise."""
    error = {one["test"]: float(one["error"]) for one in found.exactness()}
    for test, printed in (("wilcoxon", ".5836"), ("sign", ".6221"), ("t", ".6668")):
        what = f"relative error of the global conflict rate over 32 levels, {TESTS[test]}"
        bound = _chance(EXACTNESS_2011[test], found.experiment.trials)
        yield Claim("T 5.5", what, printed, error[test], bound, _OTHER_DATA)


def _errors(found: OptimalityFindings) -> Floats:
    """RMS errors of tests with themselves, tests x bins of the thesis, which has none above .5."""
    errors: Floats = np.array([one["rms"] for one in found.self_error()]).reshape(len(TESTS), -1)[:, : len(TABLE_5_5)]
    return errors


def _measures(found: OptimalityFindings) -> Iterator[Claim]:
    """Places of measures by power and by success, Table 5.4."""
    values = found.by_sample([0.05]).values
    for column, outcome, sign in ((0, "non_significant", 1), (1, "success", -1)):
        theirs = [sign * TABLE_5_4[name][column] for name in MEASURES]
        ours = (sign * values[outcome].value[:, 0]).tolist()
        for name, printed, here, ends in zip(
            MEASURES, _places(theirs), _places(ours), PLACES_2011[outcome], strict=True
        ):
            scale = "Fine cut at 40" if name in ("P", "AP") else "Fine"
            what = f"place of {name}@5 on {scale} by {OUTCOMES[outcome]} (1 is best)"
            bound = _range(ends, found.experiment.trials)
            yield Claim("T Table 5.4", what, str(printed), here, bound, _OTHER_DATA)


def _places(values: Sequence[float]) -> list[int]:
    return [1 + sum(other < value for other in values) for value in values]


def optimality_plots(found: OptimalityFindings) -> tuple[Plot, ...]:
    """Figures 5.1 to 5.3 with lines of 2011 and points of the thesis, and Table 5.5 as a figure."""
    by_test, by_sample = found.by_test(), found.by_sample()
    first = tuple(_of_tests(by_test, outcome, title) for outcome, title in OUTCOMES.items())
    pairs = (("5.2", ("non_significant", "success")), ("5.3", ("minor_conflict", "major_conflict")))
    return (
        Plot(
            "figure-5-1",
            "T Figure 5.1",
            "Rates of outcomes over the level α. Lines: MIREX 2011 on Fine, for P and AP cut at 40; points: Table 5.3, "
            "four years and three scales. Rates after the first are of significant results.",
            "Six panels of rates over the level, a line for each of five tests, points of the thesis near them.",
            "α",
            "rate",
            first,
            log_x=True,
            log_y=True,
        ),
        *(_of_measures(by_sample, figure, outcomes) for figure, outcomes in pairs),
        _self_errors(found),
    )


def _line(label: str, rates: OutcomeRates, outcome: str, place: int, *, within: tuple[float, float]) -> Series:
    levels, one = rates.levels, rates.values[outcome]
    kept = (levels >= within[0]) & (levels <= within[1])
    parts = (levels, one.value[place], one.low[place], one.high[place])
    x, y, low, high = (tuple(part[kept].tolist()) for part in parts)
    return Series(label, x, y, low, high)


def _of_tests(rates: OutcomeRates, outcome: str, title: str) -> Panel:
    names = list(TESTS.values())
    lines = [_line(name, rates, outcome, place, within=(0.0, 1.0)) for place, name in enumerate(names)]
    points = [
        Series(f"{name}, thesis", LEVELS, tuple(row[place] for row in TABLE_5_3[outcome]), joined=False)
        for place, name in enumerate(names)
    ]
    return Panel(title, (*lines, *points), diagonal=outcome == "global_conflict")


def _of_measures(rates: OutcomeRates, figure: str, outcomes: tuple[str, ...]) -> Plot:
    def panel(outcome: str) -> Panel:
        lines = [_line(name, rates, outcome, place, within=(0.001, 0.1)) for place, name in enumerate(MEASURES)]
        column = list(OUTCOMES).index(outcome)
        printed = tuple(TABLE_5_4[name][column] for name in MEASURES)
        return Panel(OUTCOMES[outcome], (*lines, Series("thesis, all measures", (0.05,) * 8, printed, joined=False)))

    return Plot(
        f"figure-{figure.replace('.', '-')}",
        f"T Figure {figure}",
        f"Rates of {' and '.join(OUTCOMES[one] for one in outcomes)} by measure (P and AP on Fine cut at 40, others on "
        "Fine). Lines: MIREX 2011; points at .05: Table 5.4, four years.",
        "Two panels of rates over the level, a line for each of eight measures.",
        "α",
        "rate",
        tuple(map(panel, outcomes)),
        log_x=True,
        log_y=True,
    )


def _self_errors(found: OptimalityFindings) -> Plot:
    """Table 5.5: p of the second half against p of the first."""
    lines = [
        Series(name, LEVELS, tuple(row.tolist())) for name, row in zip(TESTS.values(), _errors(found), strict=True)
    ]
    points = [
        Series(f"{name}, thesis", LEVELS, tuple(row[place] for row in TABLE_5_5), joined=False)
        for place, name in enumerate(TESTS.values())
    ]
    return Plot(
        "table-5-5",
        "T Table 5.5",
        "RMS difference of p between the two halves, by the upper end of the bin of the first p. Lines: MIREX 2011; "
        "points: the thesis.",
        "Error of each test with itself over bins of p; sign has the largest.",
        "upper end of the bin of p",
        "RMS error",
        (Panel("", (*lines, *points)),),
        columns=1,
        log_x=True,
    )
