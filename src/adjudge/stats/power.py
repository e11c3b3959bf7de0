"""How many queries a paired t test needs, and what it can detect with a number of queries.

A planned comparison of two systems has four numbers: the true mean difference, the spread of differences over queries,
the number of queries and the level of the test. :func:`power` is the probability of a significant result given all
four; :func:`detectable_difference` and :func:`queries_needed` solve for the first and the third.

>>> round(float(detectable_difference(0.248, 100, power=0.85, alternative="greater")), 6)
0.066955
>>> int(queries_needed(0.067, 0.248, power=0.85, alternative="greater"))
100
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats, Ints, Mask
from adjudge.checks import ALPHA, FINITE, NOT_NEGATIVE, POWER, SEVERAL, Alternative, Constraint, checked
from adjudge.errors import AdjudgeError

MOST_QUERIES = 10_000_000
"""Beyond this, the answer to "how many queries?" is "no collection will do"."""

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(96)
_REACH = 8.0  # standard deviations beyond which nothing of a normal distribution is left
_HALVINGS = 100
_ROUNDING = 1e-12


@checked(alpha=ALPHA, alternative=Alternative)
def power(
    difference: npt.ArrayLike,
    sd: npt.ArrayLike,
    n_queries: npt.ArrayLike,
    *,
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
) -> Floats:
    """Probability that a paired t test finds a true mean difference; arguments broadcast.

    1 - β = P(T > t(1 - α, n - 1)), T noncentral t with n - 1 degrees of freedom and noncentrality d sqrt(n) / σ;
    the two-sided test has α / 2 in place of α and adds the other tail. d is ``difference``, σ the ``sd`` of
    differences over queries, n ``n_queries`` (at least 2). "greater" looks for d > 0, "less" for d < 0.

    With σ = 0 the outcome is certain: 1 for a difference in the direction looked for, else 0 (the limit of no
    difference at all would be α, but a test does not reject when every difference is 0). The integral is our own and
    good to 1e-12 at any noncentrality, where ``scipy.special.nctdtr`` gives NaN.

    Cohen, J. Statistical Power Analysis for the Behavioral Sciences, 2nd ed., 1988. doi:10.4324/9780203771587

    >>> power([0.02, 0.05, 0.10], 0.25, 100).round(3)
    array([0.124, 0.508, 0.977])
    """
    d, s, n = np.broadcast_arrays(
        _numbers("difference", difference, FINITE),
        _numbers("sd", sd, NOT_NEGATIVE),
        _numbers("n_queries", n_queries, SEVERAL),
    )
    return _power(d, s, n, alpha, alternative)


@checked(alpha=ALPHA, power=POWER, alternative=Alternative)
def detectable_difference(
    sd: npt.ArrayLike,
    n_queries: npt.ArrayLike,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
    alternative: Alternative = "two-sided",
) -> Floats:
    """Smallest true mean difference that a paired t test finds with the wanted ``power``; arguments broadcast.

    The d > 0 at which :func:`power` equals 1 - β; for "less" its magnitude. ``power`` must exceed ``alpha``, which a
    test reaches without any difference. The threshold t = 0.067 of Urbano & Schedl is that of the one-sided test:
    σ = .248, n = 100, α = .05 and 1 - β = .85 give .066955; the two-sided test would need .075042.

    Urbano, J., Schedl, M. Towards Minimal Test Collections for Evaluation of Audio Music Similarity and Retrieval.
    AdMIRe 2012; as a journal article, doi:10.1007/s13735-012-0030-4

    >>> detectable_difference(0.248, [25, 100, 400], power=0.85, alternative="greater").round(4)
    array([0.1369, 0.067 , 0.0333])
    """
    _check_power(power, alpha)
    s, n = np.broadcast_arrays(_numbers("sd", sd, NOT_NEGATIVE), _numbers("n_queries", n_queries, SEVERAL))
    sizes, place = np.unique(n, return_inverse=True)
    looked_for: Alternative = "greater" if alternative == "less" else alternative  # as powerful for the same magnitude
    low, high = np.zeros(sizes.shape), np.ones(sizes.shape)  # noncentralities, of which power grows
    while np.any(short := _power_at(high, sizes, alpha, looked_for) < power):
        high = np.where(short, 2 * high, high)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        short = _power_at(middle, sizes, alpha, looked_for) < power
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return np.asarray(high[place.reshape(n.shape)] * s / np.sqrt(n))[()]


@checked(alpha=ALPHA, power=POWER, alternative=Alternative)
def queries_needed(
    difference: npt.ArrayLike,
    sd: npt.ArrayLike,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
    alternative: Alternative = "two-sided",
) -> Ints:
    """Fewest queries (at least 2) with which a paired t test finds a true mean difference; arguments broadcast.

    The smallest n at which :func:`power` reaches 1 - β. A difference of 0, one in the direction that is not looked for,
    and one that would need more than ten million queries are refused.

    >>> queries_needed([0.01, 0.05, 0.1], 0.25)
    array([4908,  199,   52])
    """
    from scipy.special import ndtri

    _check_power(power, alpha)
    d, s = np.broadcast_arrays(_numbers("difference", difference, FINITE), _numbers("sd", sd, NOT_NEGATIVE))
    wrong = d[~{"two-sided": d != 0, "greater": d > 0, "less": d < 0}[alternative]]
    if wrong.size:
        wanted = {"two-sided": "other than 0", "greater": "above 0", "less": "below 0"}[alternative]
        raise AdjudgeError(f"'difference' must be {wanted} for the {alternative} test, got {wrong[0]:g}")

    def enough(n: Ints) -> Mask:
        return np.asarray(_power(d, s, n, alpha, alternative) >= power - _ROUNDING)

    most = np.full(d.shape, MOST_QUERIES)
    reached = enough(most)
    if not reached.all():
        what = f"A difference of {d[~reached][0]:g} (sd {s[~reached][0]:g})"
        raise AdjudgeError(f"{what} needs more than {MOST_QUERIES:,} queries for power {power:g}")
    tail = alpha / 2 if alternative == "two-sided" else alpha
    with np.errstate(over="ignore"):  # the normal approximation, near which the answer most often lies
        guess = np.minimum(((ndtri(power) - ndtri(tail)) * s / d) ** 2, MOST_QUERIES)
    near_low = np.maximum(np.floor(0.99 * guess) - 2, 2).astype(np.int64)
    near_high = np.clip(np.ceil(1.01 * guess) + 10, 2, MOST_QUERIES).astype(np.int64)
    low = np.where(enough(near_low), 1, near_low)  # one query is always too few
    high = np.where(enough(near_high), near_high, most)
    while np.any(high - low > 1):
        middle = np.maximum((low + high) // 2, 2)
        reached = enough(middle)
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    return np.asarray(high)[()]


def fewest_queries(
    difference: float, sd: float, *, alpha: float, power: float, alternative: Alternative = "two-sided"
) -> int | None:
    """:func:`queries_needed` for one difference; None where ten million queries are not enough.

    >>> fewest_queries(0.05, 0.25, alpha=0.05, power=0.8), fewest_queries(0.0, 0.25, alpha=0.05, power=0.8)
    (199, None)
    """
    reached = _power(np.float64(difference), np.float64(sd), np.int64(MOST_QUERIES), alpha, alternative)  # type: ignore[arg-type]
    if reached < power:
        return None
    return int(queries_needed(difference, sd, alpha=alpha, power=power, alternative=alternative))


def _power(d: Floats, s: Floats, n: Floats | Ints, alpha: float, alternative: Alternative) -> Floats:
    """Power of the test at a difference and its spread, which is checked already."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        shift = np.where(d == 0, 0.0, d / s * np.sqrt(n))
    identical = (s == 0) & (d == 0)
    return np.where(identical, 0.0, _power_at(shift, n, alpha, alternative))[()]


def _power_at(shift: Floats, n: Floats | Ints, alpha: float, alternative: Alternative) -> Floats:
    """Power of the test at a noncentrality."""
    from scipy.special import stdtrit

    df = n - 1.0
    if alternative == "two-sided":
        critical = -stdtrit(df, alpha / 2)
        both = noncentral_t_tail(critical, df, shift) + noncentral_t_tail(critical, df, -shift)
        return np.minimum(both, 1.0)
    critical = -stdtrit(df, alpha)
    return noncentral_t_tail(critical, df, shift if alternative == "greater" else -shift)


def noncentral_t_tail(t: npt.ArrayLike, df: npt.ArrayLike, shift: npt.ArrayLike) -> Floats:
    """P(T > t) for the noncentral t distribution, to an absolute error of about 1e-13; arguments broadcast.

    T = (Z + δ) / U, Z standard normal and U = sqrt(χ²(ν) / ν). For t > 0 either of two integrals over one of them:
    ∫ Φ(δ - t u) dF_U(u) where U is the narrower, t² < 2ν, else ∫ F_U((z + δ) / t) dΦ(z). Both integrands are smooth at
    the scale of their density, so that a fixed Gauss-Legendre rule serves every ν >= 1 and every δ, infinite included.
    For t < 0, P(T > t; δ) = 1 - P(T > -t; -δ).

    >>> round(float(noncentral_t_tail(1.9842, 99, 3.0)), 6), float(noncentral_t_tail(2.0, 10, -1e9))
    (0.843951, 0.0)
    """
    at, nu, delta = np.broadcast_arrays(*(np.asarray(given, dtype=np.float64) for given in (t, df, shift)))
    below = at < 0
    size, nu = np.abs(at).reshape(-1, 1), nu.reshape(-1, 1)
    delta = np.clip(np.where(below, -delta, delta), -1e100, 1e100).reshape(-1, 1)
    narrow = (size * size < 2 * nu)[:, 0]
    tail: Floats = np.empty(narrow.shape)
    for chosen, integral in ((narrow, _over_spread), (~narrow, _over_mean)):
        tail[chosen] = integral(size[chosen], nu[chosen], delta[chosen])
    tail = tail.reshape(at.shape)
    return np.asarray(np.clip(np.where(below, 1 - tail, tail), 0, 1))[()]


def _over_spread(t: Floats, df: Floats, shift: Floats) -> Floats:
    """∫ Φ(δ - t u) f_U(u) du, where f_U(u) ~ u^(ν - 1) exp(-ν u² / 2)."""
    from scipy.special import ndtr

    reach = _REACH / np.sqrt(df)
    u, _ = _between(np.maximum(1 - reach, 0.0), 1 + reach)
    mass = _WEIGHTS * np.exp((df - 1) * np.log(u) - df * (u - 1) * (u + 1) / 2)
    tail: Floats = (mass * ndtr(shift - t * u)).sum(axis=1) / mass.sum(axis=1)
    return tail


def _over_mean(t: Floats, df: Floats, shift: Floats) -> Floats:
    """∫ F_U((z + δ) / t) φ(z) dz over z > -δ, where F_U(x) = P(ν / 2, ν x² / 2), the incomplete gamma function."""
    from scipy.special import gammainc

    z, half = _between(np.clip(-shift, -_REACH, _REACH), np.full(shift.shape, _REACH))
    x = (z + shift) / t
    mass = _WEIGHTS * half * np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
    tail: Floats = (mass * gammainc(df / 2, df * x * x / 2)).sum(axis=1)
    return tail


def _between(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Gauss-Legendre nodes between two bounds, and half the distance, which multiplies the weights."""
    half = (high - low) / 2
    return low + half * (1 + _NODES), half


def _check_power(wanted: float, alpha: float) -> None:
    if not alpha < wanted < 1:
        raise AdjudgeError(f"'power' must be between alpha, {alpha}, and 1, got {wanted}")


def _numbers(name: str, values: npt.ArrayLike, constraint: Constraint) -> Floats:
    """An array of which every number is what the constraint says; whole numbers may be floats."""
    numbers = np.asarray(values, dtype=np.float64)
    for number in np.unique(numbers).tolist():
        constraint.check(name, int(number) if number.is_integer() else number)
    return numbers
