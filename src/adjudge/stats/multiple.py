"""Many comparisons at once: corrections of p-values, and tests of all pairs that allow for their number themselves.

A correction (:data:`CORRECTIONS`) maps p-values to adjusted ones, to be compared with the same alpha; :func:`adjust`
applies one to all pairs of a :class:`~adjudge.stats.paired.PairedTests`. The family-wise tests
(:data:`FAMILYWISE_TESTS`) return such an object, adjusted already. They need a value of every system for every query:
queries that any system lacks are left out. All of them are two-sided.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from string import ascii_letters
from typing import Annotated

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats, Mask
from adjudge.checks import PROBABILITY, RESAMPLES, SEED, checked
from adjudge.errors import AdjudgeError, NotEnoughDataError
from adjudge.registry import Registry
from adjudge.results import Column, Result
from adjudge.seeds import Seed, as_seed
from adjudge.stats import resampling
from adjudge.stats.matrices import ROUNDING, Values, dense_ranks, matrix_of
from adjudge.stats.paired import MEAN, TINY, PairedTests, reference_of
from adjudge.text import counted

_NODES = 160  # of each integral of the studentised range
_KNOTS = 400  # between which its tail is interpolated
_FARTHEST = 50.0  # standard deviations: a range beyond that has probability 1e-270


def studentised_range_tail(q: Floats, k: int, df: float) -> Floats:
    """P(Q > q) for the studentised range Q of ``k`` means with ``df`` degrees of freedom, at least k - 1.

    P(Q > q) = E[T(q s)] over s = sqrt(chi2_df / df), with T the tail of the range of k standard normal variables,
    T(w) = k ∫ φ(z) {Φ(z)^(k-1) - [Φ(z) - Φ(z - w)]^(k-1)} dz. Both integrals are by Gauss-Legendre quadrature, the
    outer one over log s. log T, and log P when many values are asked for, are interpolated between Chebyshev knots.
    Agrees with SciPy's ``studentized_range.sf``, which takes a value at a time, to 1e-9 (1e-7 for 500 systems).

    >>> studentised_range_tail(np.array([0.0, 3.5, 100.0]), 3, 20.0).round(4)
    array([1.    , 0.0559, 0.    ])
    """
    if q.size <= _KNOTS:
        return _range_tail(q, k, df)
    log_tail = np.polynomial.Chebyshev.interpolate(
        lambda knots: np.log(_range_tail(knots, k, df)), _KNOTS, [0.0, min(float(q.max()), _FARTHEST)]
    )
    tail: Floats = np.where(q > 0, np.clip(np.exp(log_tail(np.minimum(q, _FARTHEST))), TINY, 1.0), 1.0)
    return tail


def _range_tail(q: Floats, k: int, df: float) -> Floats:
    """The same, each value by its own integral."""
    from scipy.special import gammainccinv, gammaincinv, gammaln

    log_tail = _normal_range(k)
    if np.isinf(df):
        tail: Floats = np.exp(log_tail(np.minimum(q, _FARTHEST)))
        return np.clip(tail, TINY, 1.0)
    half = df / 2
    low, high = (0.5 * np.log(quantile / half) for quantile in (gammaincinv(half, 1e-30), gammainccinv(half, 1e-30)))
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    log_s = low + (high - low) * (nodes + 1) / 2
    density = np.exp(np.log(2) + half * np.log(half) - gammaln(half) + df * log_s - half * np.exp(2 * log_s))
    tails: Floats = np.exp(log_tail(np.minimum(np.multiply.outer(q, np.exp(log_s)), _FARTHEST)))
    averages: Floats = tails @ (density * weights) * (high - low) / 2
    return np.clip(averages, TINY, 1.0)


@lru_cache(maxsize=64)
def _normal_range(k: int) -> np.polynomial.Chebyshev:
    """The logarithm of T from 0 to where it is next to nothing; powers are subtracted so that nothing cancels."""
    from scipy.special import log_ndtr

    nodes, weights = np.polynomial.legendre.leggauss(_NODES)

    def log_tail(w: Floats) -> Floats:
        half = 9.0 + w[:, None] / 4
        z = half - 9.0 + half * nodes  # from -9 to w / 2 + 9
        below = log_ndtr(z)
        ratio = np.exp(log_ndtr(z - w[:, None]) - below)
        beyond = -np.expm1((k - 1) * np.log1p(-np.minimum(ratio, 1 - 1e-16)))
        density = np.exp(-(z**2) / 2 + (k - 1) * below) / np.sqrt(2 * np.pi)
        logarithm: Floats = np.log(k * half[:, 0] * ((beyond * density) @ weights))
        return logarithm

    return np.polynomial.Chebyshev.interpolate(log_tail, _KNOTS, [0.0, _FARTHEST])


CorrectionFunction = Callable[[Floats], Floats]  # p-values without NaN, shape (m,) -> as many adjusted ones


@dataclass(frozen=True, eq=False)
class Correction:
    """One registered correction; call it with p-values of any shape."""

    name: str
    title: str
    controls: str
    reference: str
    function: CorrectionFunction

    def __call__(self, p: npt.ArrayLike) -> Floats:
        """Adjusted p-values in the same places; NaN stays NaN and is no comparison.

        >>> CORRECTIONS["holm"]([0.01, float("nan"), 0.04, 0.03])
        array([0.03,  nan, 0.06, 0.06])
        """
        given = np.asarray(p, dtype=np.float64)
        counted = ~np.isnan(given)
        wrong = given[counted & ~((given >= 0) & (given <= 1))]
        if wrong.size:
            PROBABILITY.check("p", wrong[0].item(), where=f"{self.name}: ")
        adjusted = given.copy()
        adjusted[counted] = np.minimum(self.function(given[counted]), 1.0) if counted.any() else []
        return adjusted


CORRECTIONS: Registry[Correction] = Registry("correction")


def correction(
    name: str, *, title: str, controls: str, reference: str = ""
) -> Callable[[CorrectionFunction], CorrectionFunction]:
    """Register a correction; the function comes back unchanged. ``controls`` says which error rate it keeps.

    ``reference`` is that of the docstring where not given.
    """

    def decorate(function: CorrectionFunction) -> CorrectionFunction:
        CORRECTIONS.add(name, Correction(name, title, controls, reference or reference_of(function), function))
        return function

    return decorate


@correction("none", title="No correction", controls="the error rate of each comparison")
def uncorrected(p: Floats) -> Floats:
    """Leave p-values as they are: one in twenty comparisons of equal systems comes out significant at 0.05."""
    return p


@correction("bonferroni", title="Bonferroni", controls="the probability of any false positive")
def bonferroni(p: Floats) -> Floats:
    """Adjusted p = m p for m comparisons.

    Reference: Dunn (1961). Multiple comparisons among means. JASA 56(293). doi:10.1080/01621459.1961.10482090

    >>> bonferroni(np.array([0.01, 0.04]))
    array([0.02, 0.08])
    """
    return p * len(p)


@correction("holm", title="Holm", controls="the probability of any false positive")
def holm(p: Floats) -> Floats:
    """Adjusted p_(i) = max over j <= i of (m - j + 1) p_(j), where p_(1) <= … <= p_(m); never larger than Bonferroni's.

    Reference: Holm (1979). A simple sequentially rejective multiple test procedure. Scand. J. Stat. 6(2). jstor:4615733

    >>> holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])
    """
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return adjusted


@correction("bh", title="Benjamini-Hochberg", controls="the expected share of false positives among the positives")
def benjamini_hochberg(p: Floats) -> Floats:
    """Adjusted p_(i) = min over j >= i of m p_(j) / j, where p_(1) <= … <= p_(m).

    Keeps the false discovery rate when comparisons are independent or positively dependent.

    Reference: Benjamini, Hochberg (1995). J. R. Stat. Soc. B 57(1). doi:10.1111/j.2517-6161.1995.tb02031.x

    >>> benjamini_hochberg(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.04, 0.04])
    """
    order = np.argsort(p, kind="stable")[::-1]
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum.accumulate(p[order] * len(p) / np.arange(len(p), 0, -1))
    return adjusted


def adjust(tests: PairedTests, *, correction: str = "holm") -> PairedTests:
    """Correct p-values for the number of pairs compared.

    Two-sided, the family is each pair once; one-sided, each pair in both directions, since both were asked. Monte-Carlo
    errors grow by the same factor as their p-values. A Monte-Carlo p-value is at least 1 / (R + 1): with m pairs,
    Bonferroni's and Holm's least one is at least m / (R + 1), so ask for many more resamples than m / alpha.

    >>> from adjudge.stats.paired import paired_tests
    >>> matrix = [[0.5, 0.3, 0.1], [0.6, 0.4, 0.5], [0.9, 0.6, 0.2], [0.4, 0.3, 0.3]]
    >>> adjust(paired_tests(matrix)).p[0].round(3)
    array([1.   , 0.049, 0.217])
    """
    chosen = CORRECTIONS[correction]
    if tests.correction != "none":
        raise AdjudgeError(f"p-values are adjusted already: {tests.correction}")
    n_systems = len(tests.systems)
    two_sided = tests.alternative == "two-sided"
    family = np.triu_indices(n_systems, 1) if two_sided else np.nonzero(~np.eye(n_systems, dtype=np.bool_))
    p = np.ones_like(tests.p)
    p[family] = chosen(tests.p[family])
    if two_sided:
        p.T[family] = p[family]
    return replace(tests, p=p, error=tests.error * p / tests.p, correction=correction)


def tie_groups(tied: Mask) -> tuple[tuple[int, ...], ...]:
    """Groups of systems none of which differ, so that two systems share a group exactly where they are tied.

    ``tied`` is systems x systems; the order of systems is that of the groups, and of places within them. A system that
    is tied with none is a group of its own. Each pair that no group holds yet begins one, to which the systems that are
    tied with all of it are added in their order; groups that the others make superfluous are left out. Letters of
    groups beside systems are the compact letter display. Where ties are transitive along the order, groups are its
    longest stretches without a difference.

    Reference: Piepho (2004). An algorithm for a letter-based representation of all-pairwise comparisons. JCGS 13(2).
    doi:10.1198/1061860043515

    >>> apart = np.array([[0, 0, 1, 1], [0, 0, 0, 1], [1, 0, 0, 0], [1, 1, 0, 0]])
    >>> tie_groups(apart == 0)
    ((0, 1), (1, 2), (2, 3))
    """
    linked = tied | np.eye(len(tied), dtype=np.bool_)
    held = np.zeros(linked.shape, dtype=np.int64)  # how many groups hold a pair
    groups = []
    for first, row in enumerate(linked):
        for second in np.flatnonzero(row):
            if held[first, second] or (first == second and row.sum() > 1):
                continue
            group, common = [first], row.copy()
            while common[second] or common.any():
                member = second if common[second] else int(np.argmax(common))
                group.append(int(member))
                common &= linked[member]
                common[group] = False
            places = np.unique(group)
            held[np.ix_(places, places)] += 1
            groups.append(places)
    for places in list(groups):
        if len(places) > 1 and (held[np.ix_(places, places)] > 1).all():
            held[np.ix_(places, places)] -= 1
            groups = [other for other in groups if other is not places]
    return tuple(sorted(tuple(places.tolist()) for places in groups))


def group_letter(place: int) -> str:
    """The letter of a group: a to z, then A to Z, then with numbers.

    >>> [group_letter(place) for place in (0, 25, 26, 51, 52, 53)]
    ['a', 'z', 'A', 'Z', 'a2', 'b2']
    """
    again, place = divmod(place, len(ascii_letters))
    return f"{ascii_letters[place]}{again + 1 if again else ''}"


@dataclass(frozen=True)
class MeanRank:
    """A system and its mean rank."""

    system: Annotated[str, Column("the system", key=True)]
    mean_rank: Annotated[float, Column("mean rank over queries, higher for better systems", ".2f")]


@dataclass(frozen=True, repr=False)
class FriedmanResult(Result):
    """Whether any system differs from any other; ``mean_ranks`` are higher for better systems, 1 to ``n_systems``."""

    systems: tuple[str, ...]
    chi2: float
    df: int
    p: float
    mean_ranks: Floats
    rank_variance: float
    n_queries: int

    row_type = MeanRank
    rows_name = "ranks"
    fact_names = ("chi2", "df", "p", "rank_variance", "n_queries")

    @property
    def title(self) -> str:
        queries = counted(self.n_queries, "query")
        return f"Friedman test: chi2({self.df}) = {self.chi2:.2f}, p = {self.p:.4g} ({queries})"

    def _rows(self) -> list[MeanRank]:
        best = np.argsort(-self.mean_ranks, kind="stable")
        return [MeanRank(self.systems[s], float(self.mean_ranks[s])) for s in best]

    def __repr__(self) -> str:
        return f"<FriedmanResult: {counted(len(self.systems), 'system')}, p = {self.p:.4g}>"


def friedman(values: Values, *, systems: Sequence[str] | None = None) -> FriedmanResult:
    """Friedman's test that no system tends to rank above another.

    chi2 = n sum_j (R_j - (k + 1) / 2)^2 / s^2 with k - 1 degrees of freedom, where R_j is the mean over n queries of
    the rank of system j among k (mid-ranks for ties), and s^2 the variance of ranks within queries, k (k + 1) / 12
    less what ties take away. Ties everywhere: chi2 = 0, p = 1.

    Reference: Friedman (1937). The use of ranks… JASA 32(200). doi:10.1080/01621459.1937.10503522

    >>> print(friedman([[0.5, 0.3], [0.6, 0.4], [0.9, 0.6], [0.3, 0.3]], systems=["ann", "bob"]))
    Friedman test: chi2(1) = 3.00, p = 0.08326 (4 queries)
    system  mean rank
    ann          1.88
    bob          1.12
    """
    from scipy.special import chdtrc
    from scipy.stats import rankdata

    matrix, names = _complete(values, systems)
    n, k = matrix.shape
    ranks = rankdata(dense_ranks(matrix), axis=1)
    means = ranks.mean(axis=0)
    variance = float(((ranks - (k + 1) / 2) ** 2).sum() / (n * (k - 1)))
    chi2 = n * float(((means - (k + 1) / 2) ** 2).sum()) / variance if variance > 0 else 0.0
    return FriedmanResult(names, chi2, k - 1, max(float(chdtrc(k - 1, chi2)), TINY), means, variance, n)


@dataclass(frozen=True, eq=False)
class Familywise:
    """One registered family-wise test."""

    name: str
    title: str
    reference: str
    function: Callable[..., PairedTests]
    resampled: bool
    single: str
    estimand: str


FAMILYWISE_TESTS: Registry[Familywise] = Registry("family-wise test")


def familywise(
    name: str, *, title: str, single: str, reference: str = "", resampled: bool = False, estimand: str = MEAN
) -> Callable[[Callable[..., PairedTests]], Callable[..., PairedTests]]:
    """Register a family-wise test, ``f(values, *, systems)`` or, resampled, with ``resamples`` and ``seed`` too.

    ``single`` is the paired test nearest to it, for what is asked of one pair at a time, such as equivalence;
    ``estimand`` what its statistic estimates; ``reference`` that of the docstring where not given.
    """

    def decorate(function: Callable[..., PairedTests]) -> Callable[..., PairedTests]:
        source = reference or reference_of(function)
        FAMILYWISE_TESTS.add(name, Familywise(name, title, source, function, resampled, single, estimand))
        return function

    return decorate


@familywise(
    "friedman-tukey",
    title="Friedman's test with Tukey's HSD on mean ranks",
    single="wilcoxon",
    estimand="difference of mean ranks",
)
def friedman_tukey(values: Values, *, systems: Sequence[str] | None = None) -> PairedTests:
    """Tukey's HSD on the mean ranks of Friedman's test, as MIREX compares systems.

    ``p = P(Q > |R_a - R_b| / sqrt(s^2 / n))``, where Q is the range of k standard normal variables (the studentised
    range with infinite degrees of freedom), and R and s^2 are as in :func:`friedman`. This is MATLAB's ``multcompare``
    after ``friedman``, tie correction included. The statistic is R_a - R_b. Ties everywhere: p = 1.

    Reference: Downie et al. (2010). The MIR Evaluation eXchange: some observations. doi:10.1007/978-3-642-11674-2_5

    >>> friedman_tukey(np.random.default_rng(1).random((20, 3)) + [0.0, 0.0, 0.3]).p[0].round(3)
    array([1.   , 0.986, 0.008])
    """
    result = friedman(values, systems=systems)
    statistic = result.mean_ranks[:, None] - result.mean_ranks
    scale = np.sqrt(result.rank_variance / result.n_queries)
    p = _tukey_p(np.abs(statistic), scale, 0.0, len(result.systems), np.inf)
    return _family("friedman-tukey", result.systems, p, statistic, result.n_queries)


@familywise("tukey", title="Tukey's HSD, blocked by query", single="t")
def tukey_hsd(values: Values, *, systems: Sequence[str] | None = None) -> PairedTests:
    """Tukey's honestly significant difference of means, after a two-way analysis of variance (queries and systems).

    ``p = P(Q > |m_a - m_b| / sqrt(MSE / n))``, where Q is the studentised range of k means with (n - 1) (k - 1) degrees
    of freedom and MSE the mean square left when the means of queries and systems are taken out. Queries differ much
    more than systems do: leaving them in, as an unpaired HSD does, hides most differences. The statistic is m_a - m_b.
    Nothing left (MSE = 0): p = 1 for equal means, else :data:`~adjudge.stats.paired.TINY`, the limit.

    Reference: Tukey (1949). Comparing individual means in the analysis of variance. doi:10.2307/3001913

    >>> tukey_hsd(np.random.default_rng(1).random((20, 3)) + [0.0, 0.0, 0.3]).p[0].round(3)
    array([1.   , 0.985, 0.   ])
    """
    matrix, names = _complete(values, systems)
    n, k = matrix.shape
    means = matrix.mean(axis=0)
    residual = matrix - means - matrix.mean(axis=1, keepdims=True) + matrix.mean()
    df = (n - 1) * (k - 1)
    scale = float(np.sqrt((residual**2).sum() / df / n))
    slack = ROUNDING * float(np.abs(matrix).max())
    statistic = means[:, None] - means
    p = _tukey_p(np.abs(statistic), 0.0 if scale <= slack else scale, slack, k, df)
    return _family("tukey", names, p, statistic, n)


@familywise("randomised-tukey", title="Randomised Tukey's HSD", single="permutation", resampled=True)
@checked(resamples=RESAMPLES, seed=SEED)
def randomised_tukey_hsd(
    values: Values, *, systems: Sequence[str] | None = None, resamples: int = 10_000, seed: Seed = 0
) -> PairedTests:
    """Tukey's HSD with its distribution found by permutation.

    p = (b + 1) / (R + 1), where in b of R ``resamples`` the largest mean less the smallest is at least ``|m_a - m_b|``;
    a resample permutes the values of the systems within each query. Assumes no distribution, only that under the null
    hypothesis all systems are interchangeable. The statistic is m_a - m_b.

    Reference: Carterette (2012). Multiple testing in statistical analysis of systems-based information retrieval
    experiments. ACM TOIS 30(1). doi:10.1145/2094072.2094076

    >>> bool(randomised_tukey_hsd(np.random.default_rng(1).random((20, 3)) + [0.0, 0.0, 0.5]).p[0, 2] < 0.01)
    True
    """
    seed = as_seed(seed)
    matrix, names = _complete(values, systems)
    total = matrix.sum(axis=0)
    statistic = total[:, None] - total
    bounds = np.abs(statistic) - ROUNDING * np.abs(matrix).sum() / matrix.shape[1]
    extreme = np.zeros(bounds.shape, dtype=np.int64)
    for rng, size in resampling.generators(matrix.size, resamples, seed):
        shuffled = np.repeat(matrix[None], size, axis=0)
        rng.permuted(shuffled, axis=2, out=shuffled)
        ranges = np.sort(np.ptp(shuffled.sum(axis=1), axis=1))
        extreme += size - np.searchsorted(ranges, bounds)
    p = (extreme + 1) / (resamples + 1)
    np.fill_diagonal(p, 1.0)
    tests = _family("randomised-tukey", names, p, statistic / len(matrix), len(matrix))
    return replace(tests, error=np.sqrt(p * (1 - p) / resamples), resamples=int(resamples), seed=int(seed))


def _complete(values: Values, systems: Sequence[str] | None) -> tuple[Floats, tuple[str, ...]]:
    """Queries that all systems have."""
    matrix, names = matrix_of(values, systems, at_least=2)
    complete = matrix[np.isfinite(matrix).all(axis=1)]
    if len(complete) < 2:
        raise NotEnoughDataError(
            f"a family-wise test needs at least 2 queries that all systems have, got {len(complete)}"
        )
    return complete, names


def _family(test: str, names: tuple[str, ...], p: Floats, statistic: Floats, n_queries: int) -> PairedTests:
    n = np.full(p.shape, n_queries, dtype=np.int64)
    return PairedTests(test, "two-sided", names, p, np.zeros_like(p), statistic, n, correction="family-wise")


def _tukey_p(difference: Floats, scale: float, slack: float, n_systems: int, df: float) -> Floats:
    """Tail of the studentised range, or its limit when there is no spread; equal systems have p = 1."""
    tail = studentised_range_tail(difference / scale, n_systems, df) if scale > 0 else TINY
    return np.where(difference <= slack, 1.0, tail)
