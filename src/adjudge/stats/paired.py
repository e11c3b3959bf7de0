"""Paired tests: whether a difference between two systems is more than the luck of the queries.

Values are effectiveness, queries x systems; NaN where a query was left out for a system, and each pair of systems uses
the queries that both have. A test works on all pairs at once and is registered with :func:`paired_test`;
:func:`paired_tests` runs one by its name and returns :class:`PairedTests`. The hypothesis is always about systems *a*
and *b* in this order: ``"greater"`` asks whether *a* is the better one.

No test answers NaN or 0. Systems with the same effectiveness on every query have p = 1. A difference too small to
be told from rounding counts as none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from adjudge.arrays import ROUNDING, Floats, Ints
from adjudge.checks import NOT_NEGATIVE, RESAMPLES, SEED, Alternative, checked
from adjudge.errors import AdjudgeError
from adjudge.registry import Registry
from adjudge.results import Column, Result
from adjudge.seeds import Seed, as_seed
from adjudge.stats import resampling
from adjudge.stats.matrices import Values, common_queries, matrix_of, places_of

TINY = float(np.finfo(np.float64).tiny)  # the least p-value: for limits of 0 and for what is too small to write
_CELLS = 2**20  # differences held in memory at a time
_MANY = 2000  # differences beyond which their averages are counted, not listed
MEAN = "mean difference"
"""What most tests are about; others name their own estimand."""


@dataclass(frozen=True)
class Comparison:
    """One pair of systems under one test."""

    a: Annotated[str, Column("the system", key=True)]
    b: Annotated[str, Column("the system that it is tested against", key=True)]
    statistic: Annotated[float, Column("statistic of the test", ".4g")]
    p: Annotated[float, Column("p-value", ".4g")]
    error: Annotated[float, Column("Monte-Carlo standard error of p, 0 where it is exact", ".2g")]
    n: Annotated[int, Column("queries that both systems have", "d", label="queries")]

    def __str__(self) -> str:
        margin = f" ± {self.error:.2g}" if self.error > 0 else ""
        return f"{self.a} vs {self.b}: p = {self.p:.4g}{margin} ({self.n} queries)"


@dataclass(frozen=True, repr=False)
class PairedTests(Result):
    """p-values of all pairs of systems; ``p[a, b]`` tests ``systems[a]`` against ``systems[b]``.

    ``error`` is the Monte-Carlo standard error of ``p``, 0 where it is exact; ``n`` the queries that both systems have.
    ``resamples`` and ``seed`` are None where nothing was drawn; ``correction`` names what adjusted the p-values.
    """

    test: str
    alternative: Alternative
    systems: tuple[str, ...]
    p: Floats
    error: Floats
    statistic: Floats
    n: Ints
    resamples: int | None = None
    seed: int | None = None
    correction: str = "none"

    def of(self, a: str, b: str) -> Comparison:
        """System ``a`` against system ``b``."""
        i, j = places_of((a, b), self.systems)
        return Comparison(a, b, *(x[i, j].item() for x in (self.statistic, self.p, self.error, self.n)))

    def pairs(self) -> Iterator[Comparison]:
        """Each pair once, in the order of the systems."""
        return (self.of(a, b) for i, a in enumerate(self.systems) for b in self.systems[i + 1 :])

    row_type = Comparison
    rows_name = "pairs"
    fact_names = ("test", "alternative", "systems", "resamples", "seed", "correction")

    @property
    def title(self) -> str:
        resampled = "" if self.resamples is None else f", {self.resamples:,} resamples, seed {self.seed}"
        corrected = "" if self.correction == "none" else f", correction {self.correction}"
        return f"{self.test} test, {self.alternative}, {len(self.systems)} systems{resampled}{corrected}"

    def _rows(self) -> tuple[Comparison, ...]:
        return tuple(self.pairs())

    def __repr__(self) -> str:
        return f"<PairedTests: {self.test}, {self.alternative}, {len(self.systems)} systems>"


@dataclass(frozen=True)
class How:
    """Options of a test; tests that draw nothing ignore ``resamples`` and ``seed``.

    With a ``margin`` m, which goes with ``"greater"``, ``p[a, b]`` asks whether a - b is above -m instead of above 0.
    """

    alternative: Alternative = "two-sided"
    resamples: int = 100_000
    seed: int = 0
    min_difference: float = 0.0
    margin: float = 0.0


@dataclass(frozen=True)
class Outcome:
    """What a test returns, each systems x systems; ``drawn`` says whether any p-value is a Monte-Carlo one."""

    p: Floats
    error: Floats
    statistic: Floats
    drawn: bool = False


PairedFunction = Callable[[Floats, How], Outcome]  # (queries x systems, options) -> all pairs
Estimate = Callable[[Floats], Floats]  # (..., queries) differences without NaN -> (...) what the test says about them


@dataclass(frozen=True, eq=False)
class Definition:
    """One registered test: its function and everything that is known about it."""

    name: str
    title: str
    hypothesis: str
    reference: str
    function: PairedFunction
    resampling: resampling.Resampling | None
    thresholded: bool
    estimand: str = MEAN
    estimate: Estimate | None = None

    @property
    def resampled(self) -> bool:
        """Whether it may draw at random."""
        return self.resampling is not None


PAIRED_TESTS: Registry[Definition] = Registry("test")


def paired_test(
    name: str,
    *,
    title: str,
    hypothesis: str,
    reference: str = "",
    resampling: resampling.Resampling | None = None,
    thresholded: bool = False,
    estimand: str = MEAN,
    estimate: Estimate | None = None,
) -> Callable[[PairedFunction], PairedFunction]:
    """Register a paired test; the function comes back unchanged.

    ``hypothesis`` is what the test takes for granted until shown otherwise; ``reference`` that of the docstring where
    not given; ``resampling`` says how it draws, if it does; ``thresholded`` that it can ignore differences up to
    ``min_difference``. A test that is not about the mean difference names its ``estimand``, which ``estimate`` computes
    from the differences of a pair.
    """

    def decorate(function: PairedFunction) -> PairedFunction:
        source = reference or reference_of(function)
        definition = Definition(name, title, hypothesis, source, function, resampling, thresholded, estimand, estimate)
        PAIRED_TESTS.add(name, definition)
        return function

    return decorate


def reference_of(function: Callable[..., Any]) -> str:
    """The paragraph of a docstring that starts with *Reference:*, in one line; nothing where there is none."""
    paragraphs = (" ".join(part.split()) for part in (function.__doc__ or "").split("\n\n"))
    return next((text.removeprefix("Reference: ") for text in paragraphs if text.startswith("Reference: ")), "")


@checked(alternative=Alternative, resamples=RESAMPLES, seed=SEED)
def paired_tests(
    values: Values,
    *,
    test: str = "t",
    alternative: Alternative = "two-sided",
    systems: Sequence[str] | None = None,
    resamples: int = 100_000,
    seed: Seed = 0,
    min_difference: float = 0.0,
) -> PairedTests:
    """Test all pairs of systems against one another.

    ``values`` is an :class:`~adjudge.model.effectiveness.Effectiveness` of one measure, of which ``systems`` chooses
    some, or a matrix queries x systems, which ``systems`` names. Monte-Carlo p-values are (b + 1) / (R + 1), where b of
    the R ``resamples`` are as extreme as what was observed: the observed sample counts, so they are never 0; their
    error is sqrt(p (1 - p) / R). ``min_difference`` is for the sign test. The p-values are those of single tests:
    :func:`~adjudge.stats.multiple.adjust` corrects for their number.

    >>> matrix = [[0.5, 0.3, 0.1], [0.6, 0.4, 0.5], [0.9, 0.6, 0.2], [0.4, 0.3, 0.3]]
    >>> print(paired_tests(matrix, test="permutation", systems=["ann", "bob", "cy"]))
    permutation test, two-sided, 3 systems
    a    b    statistic      p  error  queries
    ann  bob        0.2  0.125      0        4
    ann  cy       0.325  0.125      0        4
    bob  cy       0.125    0.5      0        4
    """
    seed = as_seed(seed)
    definition = PAIRED_TESTS[test]
    check_min_difference(test, min_difference)
    matrix, names = matrix_of(values, systems, at_least=2)
    n = common_queries(matrix, names)
    outcome = definition.function(matrix, How(alternative, resamples, seed, min_difference))
    drawn = (int(resamples), int(seed)) if outcome.drawn else (None, None)
    return PairedTests(test, alternative, names, outcome.p, outcome.error, outcome.statistic, n, *drawn)


def check_min_difference(test: str, min_difference: float) -> None:
    """Refuse a threshold that is no difference, or that the test has no use for."""
    NOT_NEGATIVE.check("min_difference", min_difference, where=f"{test}: ")
    if min_difference and not PAIRED_TESTS[test].thresholded:
        raise AdjudgeError(f"{test}: takes no 'min_difference'")


Tails = tuple[Floats, Floats, Floats, Floats]  # p of greater and of less, statistic, and what it is the other way round


def _over_pairs(values: Floats, how: How, tails: Callable[[Floats, Floats], Tails]) -> Outcome:
    """Compare each system with all later ones; ``tails`` gets differences and what is rounding in them."""
    shape = (values.shape[1],) * 2
    outcome = Outcome(np.ones(shape), np.zeros(shape), np.zeros(shape))
    scale = np.nanmax(np.abs(values), axis=0) * ROUNDING
    width = max(1, _CELLS // len(values))
    for a in range(values.shape[1] - 1):
        for lo in range(a + 1, values.shape[1], width):
            b = slice(lo, lo + width)
            slack = np.maximum(np.maximum(scale[a], scale[b]), how.margin * ROUNDING)
            difference = values[:, [a]] - values[:, b]
            greater, less, statistic, mirrored = tails(_cleaned(difference + how.margin, slack), slack)
            if how.margin:
                _, less, _, mirrored = tails(_cleaned(difference - how.margin, slack), slack)
            outcome.statistic[a, b], outcome.statistic[b, a] = statistic, mirrored
            outcome.p[a, b], outcome.p[b, a] = _sided(greater, less, how.alternative)
    return outcome


def _cleaned(difference: Floats, slack: Floats) -> Floats:
    """Differences with 0 for what rounding can account for."""
    return np.where(np.abs(difference) <= slack, 0.0, difference)


def _sided(greater: Floats, less: Floats, alternative: Alternative) -> tuple[Floats, Floats]:
    """The p-values of the pair and of the pair the other way round; twice the smaller tail when two-sided."""
    if alternative == "two-sided":
        greater = less = 2 * np.minimum(greater, less)
    elif alternative == "less":
        greater, less = less, greater
    return np.clip(greater, TINY, 1.0), np.clip(less, TINY, 1.0)


@paired_test("t", title="Student's paired t-test", hypothesis="both systems have the same mean; differences are normal")
def student(values: Floats, how: How) -> Outcome:
    """Student's paired t-test.

    t = mean(d) / (sd(d) / sqrt(n)) with n - 1 degrees of freedom (thesis eq 5.1), where d are the differences on the n
    common queries. Differences that are the same on all queries but not 0 have no spread: t is infinite and p the
    smallest number that is not 0 (:data:`TINY`), the limit as the spread goes to 0. That is what normality implies, not
    what n queries can show: the sign and permutation tests answer 2 / 2^n there. Without any difference p = 1.

    Reference: Student (1908). The probable error of a mean. Biometrika 6(1). doi:10.1093/biomet/6.1.1

    >>> round(float(student(np.array([[0.5, 0.3], [0.6, 0.5], [0.9, 0.6]]), How()).p[0, 1]), 3)
    0.074
    """
    return _over_pairs(values, how, _t_tails)


def _t_tails(differences: Floats, slack: Floats) -> Tails:
    from scipy.special import stdtr

    n = np.isfinite(differences).sum(axis=0)
    mean = np.nansum(differences, axis=0) / n
    spread = np.sqrt(np.nansum((differences - mean) ** 2, axis=0) / (n - 1))
    same = np.nanmax(np.abs(differences), axis=0) == 0
    limit = np.where(same, 0.0, np.copysign(np.inf, mean))
    t = np.divide(mean * np.sqrt(n), spread, out=limit, where=spread > slack)
    return np.where(same, 1.0, stdtr(n - 1, -t)), np.where(same, 1.0, stdtr(n - 1, t)), t, -t


def pseudo_median(differences: Floats) -> Floats:
    """The Hodges-Lehmann estimate: the median of the averages of all pairs of differences, each with itself as well.

    Differences are (..., queries). The estimate is where the signed-rank test would find nothing. Zeros count, although
    the test drops them (so does R from its estimate). Of symmetric differences it estimates the mean; of skewed ones it
    does not.

    Reference: Hodges, Lehmann (1963). Estimates of location based on rank tests. doi:10.1214/aoms/1177704172

    >>> float(pseudo_median(np.array([0.1, 0.2, 0.9])))
    0.35
    """
    if differences.shape[-1] > _MANY:
        return np.apply_along_axis(_counted_median, -1, differences)
    i, j = np.triu_indices(differences.shape[-1])
    sums = differences[..., i] + differences[..., j]
    found: Floats = np.asarray(np.median(sums, axis=-1, overwrite_input=True)) / 2
    return found


def _counted_median(differences: Floats) -> float:
    """The pseudo-median of one pair by bisection: how many averages lie below a number is counted by searching."""
    ordered = np.sort(differences)
    n, low, high = len(ordered), float(ordered[0]), float(ordered[-1])
    for _ in range(60):  # halves the range each time
        middle = (low + high) / 2
        below = np.searchsorted(ordered, 2 * middle - ordered, side="right").sum() + (ordered <= middle).sum()
        low, high = (low, middle) if below >= n * (n + 1) / 2 else (middle, high)
    return high


def win_share(differences: Floats) -> Floats:
    """The share of queries with a difference above 0 among those with any, of (..., queries); one half without any.

    >>> float(win_share(np.array([0.1, 0.0, 0.2, -0.1])))
    0.6666666666666666
    """
    wins, losses = (differences > 0).sum(axis=-1), (differences < 0).sum(axis=-1)
    found: Floats = np.where(wins + losses > 0, wins / np.maximum(wins + losses, 1), 0.5)
    return found


def pair_estimates(matrix: Floats, test: str, first: Ints, second: Ints) -> Floats:
    """What a test says about the pairs of ``first`` and ``second`` systems: its own estimate, not only p."""
    estimate = PAIRED_TESTS[test].estimate or (lambda differences: differences.mean(axis=-1))
    columns = np.ascontiguousarray(matrix.T)
    scale = np.nanmax(np.abs(matrix), axis=0) * ROUNDING
    found = np.empty(len(first))
    width = max(1, _CELLS // len(matrix) ** 2)
    for lo in range(0, len(first), width):
        a, b = first[lo : lo + width], second[lo : lo + width]
        difference = _cleaned(columns[a] - columns[b], np.maximum(scale[a], scale[b])[:, None])
        complete = np.isfinite(difference).all(axis=1)
        part = found[lo : lo + width]
        part[complete] = estimate(difference[complete])
        for place in np.flatnonzero(~complete):
            part[place] = estimate(difference[place][np.isfinite(difference[place])])
    return found


@paired_test(
    "wilcoxon",
    title="Wilcoxon's signed-rank test",
    hypothesis="differences are symmetric around 0",
    estimand="pseudo-median",
    estimate=pseudo_median,
)
def wilcoxon(values: Floats, how: How) -> Outcome:
    """Wilcoxon's signed-rank test.

    W+ = sum of the ranks of |d| where d > 0 (thesis eq 5.2), zeros dropped, mid-ranks for ties. The distribution is
    exact up to 49 differences without ties and up to 13 with them, and otherwise normal with mean n (n + 1) / 4,
    variance n (n + 1) (2n + 1) / 24 - sum(t^3 - t) / 48 over groups of t ties, and a continuity correction of 1/2.
    This is R's ``wilcox.test``, but for few differences with zeros or ties, where R is not exact, and for what a tie
    is: 0.6 - 0.4 and 0.8 - 0.6 differ by rounding alone and are tied here, as with R's ``digits.rank = 12``; by default
    R ranks the rounding. Without a difference that is not 0, p = 1. The test is about the pseudo-median, not the mean:
    where skewed differences have mean 0 (exponential, 50 queries) it rejects 23 % of the time at the level of 5 %.

    Reference: Wilcoxon (1945). Individual comparisons by ranking methods. Biometrics 1(6). doi:10.2307/3001968

    >>> float(wilcoxon(np.array([[0.5, 0.3], [0.6, 0.5], [0.9, 0.6]]), How()).p[0, 1])
    0.25
    """
    return _over_pairs(values, how, resampling.signed_rank_tails)


@paired_test(
    "sign",
    title="Sign test",
    hypothesis="each system is as likely to be the better one on a query",
    reference="Conover (1999). Practical Nonparametric Statistics, 3rd ed., section 3.4. Wiley. isbn:9780471160687",
    thresholded=True,
    estimand="share of wins",
    estimate=win_share,
)
def sign(values: Floats, how: How) -> Outcome:
    """Sign test.

    S = number of queries with d > 0 (thesis eq 5.3), binomial with probability 1/2 among those with d != 0; exact. With
    ``min_difference`` m, queries with |d| <= m are dropped as if they were ties: m = 0.01 is what Urbano et al.
    (2019) use. Without a query left, p = 1. The test is about the share of wins among the queries that differ, not the
    mean: where skewed differences have mean 0 (exponential, 50 queries) it rejects 41 % of the time at a level of 5 %.

    Reference: Conover (1999). Practical Nonparametric Statistics, 3rd ed., section 3.4. Wiley.
    Urbano, Lima, Hanjalic (2019). Statistical significance testing in IR. SIGIR. doi:10.1145/3331184.3331259

    >>> float(sign(np.array([[0.5, 0.3], [0.6, 0.5], [0.9, 0.6]]), How()).p[0, 1])
    0.25
    """
    from scipy.special import bdtr

    def tails(differences: Floats, slack: Floats) -> Tails:
        least = how.min_difference + slack
        wins, losses = (differences > least).sum(axis=0), (differences < -least).sum(axis=0)
        won, lost = wins.astype(np.float64), losses.astype(np.float64)
        return bdtr(lost, wins + losses, 0.5), bdtr(won, wins + losses, 0.5), won, lost

    return _over_pairs(values, how, tails)


def resampled_tests(matrices: Sequence[Floats], how: How, scheme: resampling.Resampling) -> list[Outcome]:
    """p-values of the pairs of each matrix from counts of resamples, which matrices with as many queries share.

    The statistic is the mean difference.
    """
    two_sided = how.alternative == "two-sided"
    counted = resampling.count_pairs(
        matrices, scheme, resamples=how.resamples, seed=how.seed, two_sided=two_sided, margin=how.margin
    )
    outcomes = []
    for values, counts in zip(matrices, counted, strict=True):
        p, error = counts.probabilities()
        present = np.isfinite(values).astype(np.float64)
        sums = np.nan_to_num(values).T @ present  # of a system over the queries of another
        statistic = (sums - sums.T) / np.maximum(present.T @ present, 1)
        p, error = (p.T, error.T) if how.alternative == "less" else (p, error)
        outcomes.append(Outcome(p, error, statistic, not counts.complete.all()))
    return outcomes


@paired_test(
    "bootstrap",
    title="Bootstrap test, shift method",
    hypothesis="both systems have the same mean",
    reference="Efron, Tibshirani (1993). An Introduction to the Bootstrap. doi:10.1201/9780429246593",
    resampling=resampling.SHIFTED,
)
def bootstrap(values: Floats, how: How) -> Outcome:
    """Bootstrap test with the shift method.

    p = P(|mean(d*) - mean(d)| >= |mean(d)|), where d* are n differences drawn from the n observed ones with
    replacement (thesis eq 5.4 subtracts the mean of the resampled means; mean(d) is its expectation). All pairs share
    the draws. The same difference on all queries leaves nothing to resample: p = 1 / (R + 1).

    Reference: Smucker et al. (2007). A comparison of statistical significance tests for IR. doi:10.1145/1321440.1321528

    >>> bool(bootstrap(np.array([[0.5, 0.3], [0.6, 0.5], [0.5, 0.6], [0.7, 0.5]]), How(resamples=1000)).p[0, 1] < 0.3)
    True
    """
    return resampled_tests([values], how, resampling.SHIFTED)[0]


@paired_test(
    "permutation",
    title="Permutation (randomisation) test",
    hypothesis="systems are interchangeable: each query's two values could have come the other way round",
    reference="Fisher (1935). The Design of Experiments. Oliver & Boyd",
    resampling=resampling.FLIPPED,
)
def permutation(values: Floats, how: How) -> Outcome:
    """Permutation test of the mean difference.

    p = P(|mean(e d)| >= |mean(d)|), where e are independent signs, -1 or 1 (thesis eq 5.5). All 2^n of them are
    tried, and p is exact, up to 14 queries, or more where that takes no more than the resamples asked for; otherwise
    they are drawn. All pairs share them.

    Reference: Smucker et al. (2007). A comparison of statistical significance tests for IR. doi:10.1145/1321440.1321528

    >>> float(permutation(np.array([[0.5, 0.3], [0.6, 0.5], [0.9, 0.6]]), How()).p[0, 1])
    0.25
    """
    return resampled_tests([values], how, resampling.FLIPPED)[0]
