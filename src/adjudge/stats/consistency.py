"""How far an assessor agrees with himself: asked twice, and over a session."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.model.scales import Scale
from adjudge.plain import plain
from adjudge.stats.agreement_coefficients import ROUNDING, cohen_kappa
from adjudge.stats.effects import table
from adjudge.stats.intervals import percent, t_interval, with_interval

_FEWEST = 10  # answers below which a slope says nothing


@dataclass(frozen=True)
class SelfConsistency:
    """One person, the same ``n`` pairs twice, as :func:`self_consistency` defines it; NaN where undefined."""

    n: int
    scale: str
    absolute_difference: float
    share_of_scale: float
    exact: float
    kappa: float
    icc: float
    shift: float
    shift_low: float
    shift_high: float
    level: float
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values, fit for JSON; what is unknown is None."""
        values: dict[str, Any] = plain(asdict(self))
        return values

    def __str__(self) -> str:
        rows = [
            ("absolute difference", f"{with_interval(self.absolute_difference, math.nan, math.nan)}"),
            ("share of the scale", f"{with_interval(self.share_of_scale, math.nan, math.nan)}"),
            ("exactly the same", f"{with_interval(self.exact, math.nan, math.nan)}"),
            ("quadratic kappa", f"{with_interval(self.kappa, math.nan, math.nan)}"),
            ("ICC", f"{with_interval(self.icc, math.nan, math.nan)}"),
            ("again - first", with_interval(self.shift, self.shift_low, self.shift_high)),
        ]
        why = [] if self.reason is None else [f"Unknown where – stands: {self.reason}."]
        title = f"The same {self.n} pairs twice, scale {self.scale}, {percent(self.level)} interval"
        return "\n".join([title, *table(rows), *why])


def self_consistency(
    first: npt.ArrayLike, again: npt.ArrayLike, scale: Scale, *, level: float = 0.95
) -> SelfConsistency:
    """How alike the grades are that one person gave the same pairs at two times; pairs with a NaN are left out.

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
    mean, half, _ = t_interval(change, confidence=level)
    shift, width = float(mean), float(half)
    apart = float(np.abs(change).mean()) if n else math.nan
    return SelfConsistency(
        n,
        str(scale),
        absolute_difference=apart,
        share_of_scale=apart / (scale.maximum - scale.minimum),
        exact=float(np.mean(change == 0)) if n else math.nan,
        kappa=cohen_kappa(a, b, weights="quadratic"),
        icc=_icc(a, b),
        shift=shift,
        shift_low=shift - width,
        shift_high=shift + width,
        level=level,
        reason=_why(a, b),
    )


def _why(a: Floats, b: Floats) -> str | None:
    if len(a) < 2:
        return "no pair was rated twice" if len(a) == 0 else "a single pair was rated twice"
    return "all grades are the same" if np.ptp(np.concatenate([a, b])) == 0 else None


def _icc(a: Floats, b: Floats) -> float:
    """ICC(1, 1) of two ratings a pair."""
    if _why(a, b) is not None:
        return math.nan
    between = float(2 * np.var((a + b) / 2, ddof=1))
    within = float(np.mean((a - b) ** 2) / 2)
    return (between - within) / (between + within)


@dataclass(frozen=True)
class Drift:
    """How the severity of one person changed over ``n`` answers, as :func:`drift` defines it; None where unknown.

    ``slope`` is in grades per 100 answers: above 0 for somebody who becomes more lenient.
    """

    n: int
    bias: float | None
    slope: float | None
    low: float | None
    high: float | None
    moved: bool | None
    level: float
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values, fit for JSON."""
        values: dict[str, Any] = plain(asdict(self))
        return values

    def __str__(self) -> str:
        if self.slope is None or self.low is None or self.high is None:
            return f"Drift over {self.n} answers: unknown, {self.reason}"
        said = "moved" if self.moved else "no drift seen"
        ends = f"[{self.low:+.2f}, {self.high:+.2f}]"
        return f"Drift over {self.n} answers: {self.slope:+.2f} {ends} grades per 100 answers, {said}"


def drift(grades: npt.ArrayLike, expected: npt.ArrayLike, *, level: float = 0.95) -> Drift:
    """Whether the severity of an assessor changes: the slope of grade minus expectation over the order of answers.

    ``grades`` are in order of time; ``expected`` is what others, or a model, say of the same pairs. With
    r_t = grade - expected at the answer t = 0, 1, …, the slope of the least-squares line r_t = a + b t is given per 100
    answers, 100 (b ± t(1 - α/2, n - 2) s_b); ``bias`` is the mean of r, and ``moved`` says that the interval leaves 0
    out. Without drift that happens in 1 - ``level`` of the sessions, so that among 100 assessors some five are flagged.

    Answers with a NaN on either side are left out but keep their place in time. Fewer than 10 leave slope, ends and
    ``moved`` None with a ``reason``. A slope that is nothing but rounding is 0.

    Draper, N. R. & Smith, H. Applied Regression Analysis, section 1.4. Wiley, 1998. doi:10.1002/9781118625590

    >>> grades = [3, 2, 3, 2, 2, 3, 1, 2, 1, 2, 1, 0]
    >>> print(drift(grades, [2.0] * 12))
    Drift over 12 answers: -19.58 [-31.63, -7.53] grades per 100 answers, moved
    """
    if not 0 < level < 1:
        raise AdjudgeError(f"'level' must be in (0, 1), got {level}")
    given, wanted = _together("drift", grades, expected)
    at = np.flatnonzero(np.isfinite(given) & np.isfinite(wanted))
    apart, n = given[at] - wanted[at], len(at)
    bias = float(apart.mean()) if n else None
    if n < _FEWEST:
        return Drift(n, bias, None, None, None, None, level, f"{n} answers are fewer than {_FEWEST}")
    size = max(float(np.abs(given[at]).max()), float(np.abs(wanted[at]).max()))
    slope, half = _line(at.astype(np.float64), apart, ROUNDING * size, level)
    low, high = slope - half, slope + half
    return Drift(n, bias, 100 * slope, 100 * low, 100 * high, not low <= 0 <= high, level)


def _line(t: Floats, apart: Floats, tiny: float, level: float) -> tuple[float, float]:
    """Slope of the least-squares line and half of its interval; both without what is only rounding."""
    from scipy.special import stdtrit

    x, y = t - t.mean(), apart - apart.mean()
    squares = float(x @ x)
    slope = float(x @ y) / squares
    if abs(slope) * float(np.ptp(t)) <= tiny:
        slope = 0.0
    left = y - slope * x
    spread = float(left @ left) if np.abs(left).max() > tiny else 0.0
    error = math.sqrt(spread / (len(t) - 2) / squares)
    return slope, float(stdtrit(len(t) - 2, (1 + level) / 2)) * error


def _together(name: str, a: npt.ArrayLike, b: npt.ArrayLike) -> tuple[Floats, Floats]:
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise AdjudgeError(f"{name}: expected two lists of equal length, got shapes {x.shape} and {y.shape}")
    if np.isinf(x).any() or np.isinf(y).any():
        raise AdjudgeError(f"{name}: expected finite grades or NaN, got an infinite one")
    return x, y
