"""Coefficients of agreement: Cohen's and Fleiss' kappa, Krippendorff's alpha; self-consistency and drift of a person.

All coefficients are 1 - D_o / D_e: how far apart ratings of one unit are, over how far apart they would be if grades
were given by chance. They are 1 when all agree, 0 when ratings say nothing of the unit, below 0 when assessors
contradict one another, and undefined (NaN) when all grades are the same, because then chance agrees as well.

Which one: alpha takes any number of assessors, missing ratings and a distance between grades; Fleiss' kappa takes any
number of assessors but calls 99 and 100 as different as 0 and 100; Cohen's is for two assessors who may use the scale
each in his own way.

Every coefficient is a function of sums over units. A *statistic* here takes weights of blocks of units, blocks x draws,
and returns one number per draw: all 1 for the data as they are, counts for a bootstrap, a 0 for a jackknife.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats, Ints, Mask
from adjudge.checks import CONFIDENCE, checked
from adjudge.deprecated import renamed
from adjudge.errors import AdjudgeError
from adjudge.model.scales import Scale
from adjudge.results import Column, Record
from adjudge.stats.intervals import t_interval
from adjudge.text import percent

Metric = Literal["nominal", "ordinal", "interval", "ratio"]
Weights = Literal["none", "linear", "quadratic"]
Statistic = Callable[[Floats], Floats]  # weights of blocks, blocks x draws -> one number per draw

ROUNDING = 1e-12
"""Disagreement by chance below this share of the squares it is made of is 0, computed with rounding."""

_CELLS = 2**22  # of numbers in memory at a time


@checked(weights=Weights)
def cohen_kappa(
    values_a: npt.ArrayLike,
    values_b: npt.ArrayLike,
    *,
    weights: Weights = "none",
    levels: Sequence[float] | None = None,
) -> float:
    """Cohen's kappa of two assessors over the units that both rated; NaN marks a unit that one did not.

    kappa = 1 - sum_ij w_ij o_ij / sum_ij w_ij e_ij, with o_ij the share of units graded i by one and j by the other,
    e_ij the product of the shares with which each gives i and j, and w_ij how much that matters: 1 whenever i and j
    differ (``none``), abs(i - j) (``linear``) or (i - j)^2 (``quadratic``).

    i and j are the grades, so that 0, 1, 10 are not equally spaced; with ``levels``, all grades of the scale in order,
    they are places among them. For equally spaced grades that is the same, and the same as statsmodels. NaN with fewer
    than two common units, and where both always give one and the same grade.

    Cohen, J. Weighted kappa. Psychological Bulletin 70(4), 1968. doi:10.1037/h0026256

    >>> round(cohen_kappa([0, 1, 2, 2, 1], [0, 1, 2, 1, 1]), 3)
    0.688
    >>> round(cohen_kappa([0, 1, 2, 2, 1], [0, 1, 2, 1, 1], weights="quadratic"), 3)
    0.8
    """
    a, b = (np.asarray(values, dtype=np.float64) for values in (values_a, values_b))
    if a.ndim != 1 or a.shape != b.shape:
        raise AdjudgeError(f"cohen_kappa: expected two lists of equal length, got shapes {a.shape} and {b.shape}")
    both = np.isfinite(a) & np.isfinite(b)
    a, b = a[both], b[both]
    if levels is not None:
        order = np.asarray(levels, dtype=np.float64)
        if len(order) == 0 or (np.diff(order) <= 0).any():
            raise AdjudgeError("'levels' must be the grades of the scale, each once, the lowest first")
        strange = np.setdiff1d([a, b], order)
        if len(strange):
            known = ", ".join(f"{level:g}" for level in order)
            raise AdjudgeError(f"expected grades among {known}, got {strange[0]:g}")
        a, b = np.searchsorted(order, [a, b]).astype(np.float64)
    if len(a) < 2:
        return np.nan
    observed, expected = _distances(a, b, weights)
    return 1 - observed / expected if expected > 0 else np.nan


def _distances(a: Floats, b: Floats, weights: Weights) -> tuple[float, float]:
    """Mean distance of the two grades of a unit, and of any grade of one assessor from any grade of the other."""
    if weights == "quadratic":
        a, b = a - a[0], b - a[0]  # so that grades all the same are exactly 0
        expected = a.var() + b.var() + (a.mean() - b.mean()) ** 2
        return float(np.mean((a - b) ** 2)), float(expected)
    grades, codes = np.unique(np.concatenate([a, b]), return_inverse=True)
    of_a, of_b = (np.bincount(part, minlength=len(grades)) / len(a) for part in np.split(codes, 2))
    if weights == "none":
        return float(np.mean(a != b)), float(1 - of_a @ of_b) if len(grades) > 1 else 0.0
    below_a, below_b = np.cumsum(of_a)[:-1], np.cumsum(of_b)[:-1]
    between = below_a * (1 - below_b) + below_b * (1 - below_a)  # abs(i - j) is the sum of the steps between them
    return float(np.mean(np.abs(a - b))), float(between @ np.diff(grades))


def fleiss_kappa(values: npt.ArrayLike) -> float:
    """Fleiss' kappa of ratings, units x assessors; NaN where an assessor did not rate a unit.

    kappa = (P - P_e) / (1 - P_e). With n_uk of the m_u ratings of unit u giving grade k, P is the mean over units of
    sum_k n_uk (n_uk - 1) / (m_u (m_u - 1)), the share of its pairs of ratings that agree, and P_e = sum_k p_k^2 with
    p_k the mean over units of n_uk / m_u.

    With as many ratings for every unit it is the kappa of Fleiss (1971). With unequal numbers it is Gwet's
    generalisation, and that of his irrCAC: P over the units with two or more ratings, p_k over all that have one.
    Grades are names here: any two that differ disagree in full. NaN when no unit has two ratings or all grades are
    the same.

    Fleiss, J. L. Measuring nominal scale agreement among many raters. Psychological Bulletin 76(5), 1971.
    doi:10.1037/h0031619
    Gwet, K. L. Computing inter-rater reliability and its variance in the presence of high agreement. British Journal of
    Mathematical and Statistical Psychology 61(1), 2008. doi:10.1348/000711006X126600

    >>> round(fleiss_kappa([[0, 0, 1], [1, 1, 1], [2, 2, 0], [2, 2, 2]]), 3)
    0.489
    """
    return float(fleiss_by_weights(tally(_matrix(values)))(np.ones((1, 1)))[0])


@checked(metric=Metric)
def krippendorff_alpha(values: npt.ArrayLike, metric: Metric = "interval") -> float:
    """Krippendorff's alpha of ratings, units x assessors; NaN where an assessor did not rate a unit.

    alpha = 1 - (n - 1) sum_ck o_ck d_ck^2 / sum_ck n_c n_k d_ck^2. The coincidences o_ck are the pairs of ratings c, k
    of one unit, each counted 1 / (m_u - 1) where the unit has m_u ratings; n_c are their row sums and n the number of
    ratings. Units with one rating are left out. The distance d_ck is, by ``metric``, 1 when c and k differ
    (``nominal``), c - k (``interval``), (c - k) / (c + k) (``ratio``, 0 for two zeros), or for ``ordinal`` the number
    of ratings from c to k, half of those at either end.

    NaN when no unit has two ratings, when all grades are the same, and for the ratio of negative grades.

    Krippendorff, K. Estimating the reliability, systematic error and random error of interval data. Educational and
    Psychological Measurement 30(1), 1970. doi:10.1177/001316447003000105
    Hayes, A. F. & Krippendorff, K. Answering the call for a standard reliability measure for coding data. Communication
    Methods and Measures 1(1), 2007. doi:10.1080/19312450709336664

    >>> nan = float("nan")
    >>> round(krippendorff_alpha([[1, 1, nan], [2, 2, 3], [3, nan, 3], [0, 1, 0]]), 3)
    0.855
    """
    return float(alpha_by_weights(tally(_matrix(values)), metric)(np.ones((1, 1)))[0])


def _matrix(values: npt.ArrayLike) -> Floats:
    matrix = np.asarray(values, dtype=np.float64)
    if matrix.ndim != 2:
        raise AdjudgeError(f"expected ratings of units x assessors, got shape {matrix.shape}")
    if np.isinf(matrix).any():
        raise AdjudgeError("expected finite ratings or NaN, got an infinite one")
    return matrix


@dataclass(frozen=True, eq=False)
class Tally:
    """Ratings without their assessors: how often each unit has each grade, and the block that each unit is in.

    ``grades`` are units x most ratings of a unit, ascending, NaN at the end; ``levels`` the distinct grades;
    ``counts`` (units x levels) and ``members`` (blocks x units, 1 where the unit is in the block) are sparse.
    """

    grades: Floats
    levels: Floats
    counts: Any
    members: Any

    @cached_property
    def n_ratings(self) -> Floats:
        """Ratings of each unit."""
        counts: Floats = np.isfinite(self.grades).sum(axis=1).astype(np.float64)
        return counts

    @property
    def paired(self) -> Mask:
        """Units with two ratings or more."""
        several: Mask = self.n_ratings >= 2
        return several

    @cached_property
    def _paired_members(self) -> Any:
        return self.members.multiply(self.paired[None, :].astype(np.float64)).tocsr()

    def in_blocks(self, of_units: Any) -> Any:
        """Sums over the units of each block that have two ratings or more."""
        return self._paired_members @ of_units


def tally(values: Floats, block: Ints | None = None) -> Tally:
    """Count the ratings of units; without ``block``, the number of the block of each unit, all are in one."""
    from scipy import sparse

    n_units = len(values)
    ordered = np.sort(values, axis=1)  # NaN goes last
    most = int(np.isfinite(values).sum(axis=1).max(initial=0))
    unit, place = np.nonzero(np.isfinite(ordered))
    levels, code = np.unique(ordered[unit, place], return_inverse=True)
    counts = sparse.csr_array((np.ones(len(unit)), (unit, code)), shape=(n_units, len(levels)))
    counts.sum_duplicates()
    rows = np.zeros(n_units, dtype=np.int64) if block is None else block
    n_blocks = int(rows.max(initial=0)) + 1
    members = sparse.csr_array((np.ones(n_units), (rows, np.arange(n_units))), shape=(n_blocks, n_units))
    return Tally(ordered[:, :most], levels, counts, members)


def ratio_of(top: Floats, bottom: Floats) -> Floats:
    """One over the other, NaN where there is nothing below."""
    ratio: Floats = np.full(np.broadcast(top, bottom).shape, np.nan)
    np.divide(top, bottom, out=ratio, where=bottom > 0)
    return ratio


def difference_by_weights(units: Tally) -> Statistic:
    """Mean over units with two or more ratings of the mean absolute difference of two of them."""
    n, m = units.n_ratings, units.grades.shape[1]
    # sum_{i<j} x_j - x_i of ascending x_1 … x_n is sum_i (2 i - n - 1) x_i
    factor = 2 * np.arange(1, m + 1) - n[:, None] - 1
    apart = np.nansum(factor * units.grades, axis=1) / np.maximum(n * (n - 1) / 2, 1)
    sums = units.in_blocks(np.stack([apart, np.ones_like(n)], axis=1))
    return lambda weights: ratio_of(sums[:, 0] @ weights, sums[:, 1] @ weights)


def fleiss_by_weights(units: Tally) -> Statistic:
    """Fleiss' kappa as a statistic of weights of blocks; see :func:`fleiss_kappa`."""
    n = units.n_ratings
    squares = (units.counts * units.counts).sum(axis=1)
    agreed = (squares - n) / np.maximum(n * (n - 1), 1)
    sums = units.in_blocks(np.stack([agreed, np.ones_like(n)], axis=1))
    rated = units.members @ (n > 0).astype(np.float64)
    shares = (units.members @ units.counts.multiply(1 / np.maximum(n, 1)[:, None]).tocsr()).T.tocsr()

    def kappa(weights: Floats) -> Floats:
        by_chance = np.square(ratio_of(shares @ weights, rated @ weights)).sum(axis=0)
        return 1 - ratio_of(1 - ratio_of(sums[:, 0] @ weights, sums[:, 1] @ weights), _positive(1 - by_chance, 1.0))

    return in_slices(kappa, len(units.levels))


def alpha_by_weights(units: Tally, metric: Metric) -> Statistic:
    """Krippendorff's alpha as a statistic of weights of blocks; see :func:`krippendorff_alpha`.

    The coincidences of a unit enter the numerator only through their weighted distance, one number per unit; the
    denominator needs only how often each grade came, and for ``interval`` three sums. For ``ordinal`` the distance of
    two grades is the difference of their mid-ranks, which change with the units that are drawn.
    """
    if metric == "ratio" and (units.levels < 0).any():
        return lambda weights: np.full(weights.shape[1], np.nan)
    if metric == "ordinal":
        return in_slices(_ordinal_alpha(units), max(units.counts.shape))
    n = units.n_ratings
    apart = units.in_blocks(_disagreement(units, metric) / np.maximum(n - 1, 1))
    expected = _interval_by_chance(units) if metric == "interval" else _by_chance(units, metric)
    size = units.in_blocks(n)

    def alpha(weights: Floats) -> Floats:
        coefficient: Floats = 1 - (size @ weights - 1) * ratio_of(apart @ weights, expected(weights))
        return coefficient

    return alpha if metric == "interval" else in_slices(alpha, len(units.levels))


def _disagreement(units: Tally, metric: Metric) -> Floats:
    """Sum over the ordered pairs of ratings of each unit of their squared distance."""
    n, grades = units.n_ratings, units.grades
    if metric == "nominal":
        return np.asarray(n * n - (units.counts * units.counts).sum(axis=1))
    if metric == "interval":
        mean = ratio_of(np.nansum(grades, axis=1), n)
        spread: Floats = 2 * n * np.nansum((grades - mean[:, None]) ** 2, axis=1)
        return spread
    total = np.zeros(len(grades))
    for step in range(1, grades.shape[1]):
        total += 2 * np.nansum(_ratio_distances(grades[:, step:], grades[:, :-step]), axis=1)
    return total


def _ratio_distances(a: Floats, b: Floats) -> Floats:
    both = a + b
    squared: Floats = np.square(np.divide(a - b, both, out=np.zeros(both.shape), where=both > 0))
    return squared


def _by_chance(units: Tally, metric: Metric) -> Statistic:
    counts = units.in_blocks(units.counts).T.tocsr()

    def expected(weights: Floats) -> Floats:
        n = counts @ weights
        if metric == "nominal":
            differing: Floats = np.square(n.sum(axis=0)) - np.square(n).sum(axis=0)
            return differing
        total, height = np.zeros(n.shape[1]), max(1, _CELLS // max(len(n), 1))
        for lo in range(0, len(n), height):
            rows = slice(lo, lo + height)
            total += (n[rows] * (_ratio_distances(units.levels[rows, None], units.levels[None, :]) @ n)).sum(axis=0)
        return total

    return expected


def _interval_by_chance(units: Tally) -> Statistic:
    centred = units.grades - (np.nanmean(units.grades) if units.levels.size else 0.0)
    of_units = [units.n_ratings, np.nansum(centred, axis=1), np.nansum(centred**2, axis=1)]
    sums = units.in_blocks(np.stack(of_units, axis=1)).T

    def expected(weights: Floats) -> Floats:
        n, total, squares = sums @ weights
        return _positive(2 * (n * squares - total**2), n * squares)

    return expected


def _positive(value: Floats, size: Floats | float) -> Floats:
    """0 where the value is nothing but the rounding of numbers of this size."""
    return np.where(value > ROUNDING * size, value, 0.0)


def _ordinal_alpha(units: Tally) -> Statistic:
    """Alpha of mid-ranks, c_k, centred: D_o is 2 sum_u (m_u sum_i c_i^2 - (sum_i c_i)^2) / (m_u - 1)."""
    n = units.n_ratings
    less_one = np.maximum(n - 1, 1)
    of_blocks = units.in_blocks(units.counts).T.tocsr()
    scaled = units.in_blocks(units.counts.multiply((n / less_one)[:, None]).tocsr()).T.tocsr()
    # a plain matrix multiplies faster where it is small
    counts = units.counts.toarray() if np.prod(units.counts.shape) <= _CELLS else units.counts

    def alpha(weights: Floats) -> Floats:
        of_level = of_blocks @ weights
        size = of_level.sum(axis=0)
        rank = np.cumsum(of_level, axis=0) - of_level / 2 - size / 2
        squares = rank * rank
        sums = counts @ rank
        sums *= sums
        sums /= less_one[:, None]
        apart = ((scaled @ weights) * squares).sum(axis=0) - (units.in_blocks(sums) * weights).sum(axis=0)
        coefficient: Floats = 1 - (size - 1) * ratio_of(apart, size * (of_level * squares).sum(axis=0))
        return coefficient

    return alpha


def in_slices(statistic: Statistic, rows: int) -> Statistic:
    """The same statistic a few draws at a time, where it needs ``rows`` numbers per draw on its way."""
    width = max(16, _CELLS // max(rows, 1))

    def sliced(weights: Floats) -> Floats:
        starts = range(0, weights.shape[1], width)
        return np.concatenate([statistic(weights[:, lo : lo + width]) for lo in starts])

    return sliced


_FEWEST = 10  # answers below which a slope says nothing


@dataclass(frozen=True)
class SelfConsistency(Record):
    """One person, the same ``n`` pairs twice, as :func:`self_consistency` defines it; NaN where undefined."""

    n: Annotated[int, Column("pairs that were rated twice", "d", shown=False)]
    scale: Annotated[str, Column("the scale", shown=False)]
    absolute_difference: Annotated[float, Column("mean distance of the two grades", ".3f")]
    share_of_scale: Annotated[float, Column("that over the length of the scale", ".3f", label="share of the scale")]
    exact: Annotated[float, Column("share of pairs with twice the same grade", ".3f", label="exactly the same")]
    kappa: Annotated[float, Column("Cohen's with quadratic weights", ".3f", label="quadratic kappa")]
    icc: Annotated[float, Column("ICC(1, 1) of the two answers", ".3f", label="ICC")]
    shift: Annotated[
        float,
        Column(
            "mean of the second grade minus the first", ".3f", label="again - first", ends=("shift_low", "shift_high")
        ),
    ]
    shift_low: Annotated[float, Column("lower end of its interval", ".3f", shown=False)]
    shift_high: Annotated[float, Column("upper end of its interval", ".3f", shown=False)]
    confidence: Annotated[float, Column("level of the interval", shown=False)]
    reason: Annotated[str | None, Column("why something is not known", shown=False)] = None

    @property
    def title(self) -> str:
        return f"The same {self.n} pairs twice, scale {self.scale}, {percent(self.confidence)} interval"

    def _notes(self) -> list[str]:
        return [] if self.reason is None else [f"Unknown where – stands: {self.reason}."]


@renamed(level="confidence")
@checked(confidence=CONFIDENCE)
def self_consistency(
    first: npt.ArrayLike, again: npt.ArrayLike, scale: Scale, *, confidence: float = 0.95
) -> SelfConsistency:
    """How alike the grades are that one person gave the same pairs twice; pairs with a NaN are left out.

    With d the difference of a pair, again minus first:

    - ``absolute_difference`` is the mean of abs(d), in grades; ``share_of_scale`` is that over the length of the
      scale; ``exact`` is the share of pairs with d = 0.
    - ``kappa`` is Cohen's with quadratic weights.
    - ``icc`` is ICC(1, 1), (MS_b - MS_w) / (MS_b + MS_w), the mean squares between and within pairs of a one-way
      analysis: the correlation of two answers that come in no order. A shift lowers it, as it lowers kappa.
    - ``shift`` is the mean of d, with the t interval.

    With no pair everything is NaN; with one, or where all grades are the same, what needs variation is, and ``reason``
    says so.

    Shrout, P. E. & Fleiss, J. L. Intraclass correlations: uses in assessing rater reliability. Psychological Bulletin
    86(2), 1979. doi:10.1037/0033-2909.86.2.420

    >>> from adjudge.model.scales import FINE
    >>> print(self_consistency([20, 50, 80, 90], [25, 50, 70, 95], FINE))
    The same 4 pairs twice, scale fine (0..100), 95 % interval
                              value
    absolute difference           5.000
    share of the scale            0.050
    exactly the same              0.250
    quadratic kappa               0.973
    ICC                           0.980
    again - first        0.000 ± 11.252
    """
    a, b = _together("self_consistency", first, again)
    both = np.isfinite(a) & np.isfinite(b)
    a, b = a[both], b[both]
    n = len(a)
    change = b - a
    shift, half = (float(number) for number in t_interval(change, confidence=confidence)[:2])
    apart = float(np.abs(change).mean()) if n else math.nan
    icc, reason = math.nan, None
    if n < 2:
        reason = "a single pair was rated twice" if n else "no pair was rated twice"
    elif np.ptp(np.concatenate([a, b])) == 0:
        reason = "all grades are the same"
    else:
        between, within = float(2 * np.var((a + b) / 2, ddof=1)), float(np.mean(change**2) / 2)
        icc = (between - within) / (between + within)
    return SelfConsistency(
        n,
        str(scale),
        absolute_difference=apart,
        share_of_scale=apart / (scale.maximum - scale.minimum),
        exact=float(np.mean(change == 0)) if n else math.nan,
        kappa=cohen_kappa(a, b, weights="quadratic"),
        icc=icc,
        shift=shift,
        shift_low=shift - half,
        shift_high=shift + half,
        confidence=confidence,
        reason=reason,
    )


@dataclass(frozen=True)
class Drift(Record):
    """How the severity of one person changed over ``n`` answers, as :func:`drift` defines it; None where unknown.

    ``slope`` is in grades per 100 answers: above 0 for somebody who becomes more lenient.
    """

    n: Annotated[int, Column("answers", "d", label="answers")]
    bias: Annotated[float | None, Column("mean of grade minus expectation", "+.2f")]
    slope: Annotated[
        float | None,
        Column("grades per 100 answers, above 0 for somebody who becomes more lenient", "+.2f", ends=("low", "high")),
    ]
    low: Annotated[float | None, Column("lower end of its interval", "+.2f", shown=False)]
    high: Annotated[float | None, Column("upper end of its interval", "+.2f", shown=False)]
    moved: Annotated[bool | None, Column("whether the interval leaves 0 out")]
    confidence: Annotated[float, Column("level of the interval", shown=False)]
    reason: Annotated[str | None, Column("why something is not known", shown=False)] = None

    @property
    def title(self) -> str:
        if self.slope is None or self.low is None or self.high is None:
            return f"Drift over {self.n} answers: unknown, {self.reason}"
        said = "moved" if self.moved else "no drift seen"
        ends = f"[{self.low:+.2f}, {self.high:+.2f}]"
        return f"Drift over {self.n} answers: {self.slope:+.2f} {ends} grades per 100 answers, {said}"


@renamed(level="confidence")
@checked(confidence=CONFIDENCE)
def drift(grades: npt.ArrayLike, expected: npt.ArrayLike, *, confidence: float = 0.95) -> Drift:
    """Whether the severity of an assessor changes: the slope of grade minus expectation over the order of answers.

    ``grades`` are in order of time; ``expected`` is what others, or a model, say of the same pairs. With
    r_t = grade - expected at the answer t = 0, 1, …, the slope of the least-squares line r_t = a + b t is given per 100
    answers, 100 (b ± t(1 - α/2, n - 2) s_b); ``bias`` is the mean of r, and ``moved`` says that the interval does not
    hold 0. Without drift that happens in 1 - ``confidence`` of the sessions, so that about five of 100 assessors are
    flagged.

    Answers with a NaN on either side are left out but keep their place in time. Fewer than 10 leave slope, ends and
    ``moved`` None with a ``reason``. A slope that is nothing but rounding is 0.

    Draper, N. R. & Smith, H. Applied Regression Analysis, section 1.4. Wiley, 1998. doi:10.1002/9781118625590

    >>> grades = [3, 2, 3, 2, 2, 3, 1, 2, 1, 2, 1, 0]
    >>> print(drift(grades, [2.0] * 12))
    Drift over 12 answers: -19.58 [-31.63, -7.53] grades per 100 answers, moved
                      value
    answers              12
    bias              -0.17
    slope    -19.58 ± 12.05
    moved               yes
    """
    from scipy.special import stdtrit

    given, wanted = _together("drift", grades, expected)
    at = np.flatnonzero(np.isfinite(given) & np.isfinite(wanted))
    apart, n = given[at] - wanted[at], len(at)
    bias = float(apart.mean()) if n else None
    if n < _FEWEST:
        return Drift(n, bias, None, None, None, None, confidence, f"{n} answers are fewer than {_FEWEST}")
    tiny = ROUNDING * max(float(np.abs(given[at]).max()), float(np.abs(wanted[at]).max()))
    t, r = at - at.mean(), apart - apart.mean()
    slope = float(t @ r) / float(t @ t)
    if abs(slope) * float(np.ptp(t)) <= tiny:
        slope = 0.0
    left = r - slope * t
    spread = float(left @ left) if np.abs(left).max() > tiny else 0.0
    half = float(stdtrit(n - 2, (1 + confidence) / 2)) * math.sqrt(spread / (n - 2) / float(t @ t))
    low, high = slope - half, slope + half
    return Drift(n, bias, 100 * slope, 100 * low, 100 * high, not low <= 0 <= high, confidence)


def _together(name: str, a: npt.ArrayLike, b: npt.ArrayLike) -> tuple[Floats, Floats]:
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise AdjudgeError(f"{name}: expected two lists of equal length, got shapes {x.shape} and {y.shape}")
    if np.isinf(x).any() or np.isinf(y).any():
        raise AdjudgeError(f"{name}: expected finite grades or NaN, got an infinite one")
    return x, y
