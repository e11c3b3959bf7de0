"""Satisfaction: from the effectiveness of a list to the probability that a user is satisfied with it.

The thesis asked people which of two lists is better and took "both good" and "both bad" as answers about each; the
share of "good" among lists of like effectiveness is P(Sat | λ), learnt for each measure and scale (3.3.1). Means over
queries, their intervals and the share of successful queries follow from it (4.1, 4.3).

Urbano, J., Evaluation in Audio Music Similarity, PhD thesis, Universidad Carlos III de Madrid, 2013.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats, Ints
from adjudge.errors import AdjudgeError, shown, unknown
from adjudge.measures import Measure
from adjudge.model.effectiveness import Effectiveness
from adjudge.registry import Registry
from adjudge.stats.intervals import t_interval, wilson_interval
from adjudge.users.combinations import Lookup, find, relevance_scale, scale_of, wrong_covariance
from adjudge.users.satisfaction_curves import MONOTONE, SatisfactionForm
from adjudge.words import counted

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

_ROUNDING = 1e-9  # by which effectiveness computed elsewhere may leave [0, 1]

Numbers = tuple[float, ...]
Points = tuple[tuple[float, float], ...]
Curve = Callable[["SatisfactionMapping", Floats], Floats]


@dataclass(frozen=True)
class SatisfactionMapping:
    """P(Sat | λ) for one measure on one scale.

    ``kind`` says which curve: ``cubic`` has ``coefficients`` a0..a3 (eq 4.3), ``points`` has ``points`` (λ, P(Sat))
    from λ = 0 to λ = 1 that straight lines join, and each family of :mod:`adjudge.users.satisfaction_curves` has its
    parameters as ``coefficients``. What leaves [0, 1] is clipped. ``source`` says where it comes from in one line;
    ``provenance`` holds further facts as name and value; ``covariance`` is that of the coefficients, empty when nobody
    knows it.

    >>> gap = SatisfactionMapping("GAP(ideal=max)@5", "broad", "cubic", (0.1018, 1.7272, -1.6028, 0.6471))
    >>> round(float(gap(0.32)), 4)
    0.5116
    >>> gap(32)
    Traceback (most recent call last):
    adjudge.errors.AdjudgeError: GAP(ideal=max)@5 on broad: expected effectiveness in [0, 1], got 32
    """

    measure: str
    scale: str
    kind: str = "cubic"
    coefficients: Numbers = ()
    points: Points = ()
    source: str = ""
    provenance: tuple[tuple[str, str], ...] = ()
    covariance: tuple[Numbers, ...] = ()

    def __post_init__(self) -> None:
        shape = CURVES[self.kind].wrong(self)
        if shape is not None:
            raise AdjudgeError(f"{self.measure} on {self.scale}: {shape}")
        n = len(self.coefficients)
        if wrong := wrong_covariance(self.covariance, n):
            raise AdjudgeError(f"{self.measure} on {self.scale}: {wrong}")

    def __call__(self, effectiveness: npt.ArrayLike) -> Floats:
        """P(Sat) for effectiveness of any shape; NaN stays NaN."""
        values = np.asarray(effectiveness, dtype=np.float64)
        outside = (values < -_ROUNDING) | (values > 1 + _ROUNDING)
        if outside.any():
            raise AdjudgeError(
                f"{self.measure} on {self.scale}: expected effectiveness in [0, 1], got {values[outside].flat[0]:g}"
            )
        return np.clip(CURVES[self.kind].function(self, np.clip(values, 0.0, 1.0)), 0.0, 1.0)

    @property
    def standard_errors(self) -> Numbers:
        """Standard error of each coefficient; empty when unknown."""
        return tuple(float(np.sqrt(row[i])) for i, row in enumerate(self.covariance))

    def __str__(self) -> str:
        at = ", ".join(f"{value:g}: {p:.3f}" for value, p in zip(_GRID, self(_GRID), strict=True))
        return f"P(Sat) for {self.measure} on {self.scale} ({self.kind}): {at}"


_GRID = np.array([0.0, 0.25, 0.5, 0.75, 1.0])


@dataclass(frozen=True)
class CurveKind:
    """One form that a satisfaction curve may have: its function, and what is wrong with the numbers of a mapping.

    ``at`` is the same function of effectiveness and coefficients, for forms that have any.
    """

    function: Curve
    wrong: Callable[[SatisfactionMapping], str | None]
    at: Callable[[Floats, Floats], Floats] | None = None


CURVES: Registry[CurveKind] = Registry("kind of satisfaction mapping")


def _not_a_cubic(mapping: SatisfactionMapping) -> str | None:
    numbers = mapping.coefficients
    if len(numbers) == 4 and not mapping.points and bool(np.isfinite(numbers).all()):
        return None
    return f"a cubic has 4 coefficients and no points, got {len(numbers)} and {len(mapping.points)}"


def _not_points(mapping: SatisfactionMapping) -> str | None:
    array = np.array(mapping.points, dtype=np.float64).reshape(-1, 2)
    if mapping.coefficients or len(array) < 2:
        return f"'points' has 2 or more points and no coefficients, got {len(array)} and {len(mapping.coefficients)}"
    if not (array[0, 0] == 0 and array[-1, 0] == 1 and bool((np.diff(array[:, 0]) > 0).all())):
        return "points must rise from effectiveness 0 to effectiveness 1, so that nothing is extrapolated"
    if not bool(((array[:, 1] >= 0) & (array[:, 1] <= 1)).all()):
        return "the probabilities of points must be in [0, 1]"
    return None


def cubic(values: Floats, coefficients: Floats) -> Floats:
    """Evaluate a0 + a1 λ + a2 λ² + a3 λ³ (eq 4.3), which may leave [0, 1]."""
    a0, a1, a2, a3 = coefficients
    curve: Floats = a0 + values * (a1 + values * (a2 + values * a3))
    return curve


def _by_coefficients(at: Callable[[Floats, Floats], Floats]) -> Curve:
    return lambda mapping, values: at(values, np.array(mapping.coefficients))


def _not_of(form: SatisfactionForm) -> Callable[[SatisfactionMapping], str | None]:
    """What is wrong with the numbers of a mapping that should be one of a family of monotone curves."""

    def wrong(mapping: SatisfactionMapping) -> str | None:
        numbers, n = mapping.coefficients, len(form.parameters)
        if len(numbers) != n or mapping.points or not bool(np.isfinite(numbers).all()):
            names = ", ".join(form.parameters)
            came = f"{len(numbers)} and {len(mapping.points)}"
            return f"{form.name!r} has {n} coefficients ({names}) and no points, got {came}"
        for name, value, low, high in zip(form.parameters, numbers, form.lowest, form.highest, strict=True):
            if not low <= value <= high:
                return f"{name!r} must be in [{low:g}, {high:g}], got {value:g}"
        return None

    return wrong


def _joined(mapping: SatisfactionMapping, values: Floats) -> Floats:
    """Straight lines between points (effectiveness, P(Sat)), the first at effectiveness 0 and the last at 1."""
    x, y = np.array(mapping.points).T
    joined: Floats = np.interp(values, x, y)
    return joined


CURVES.add("cubic", CurveKind(_by_coefficients(cubic), _not_a_cubic, cubic))
CURVES.add("points", CurveKind(_joined, _not_points))
for _form in MONOTONE.values():
    CURVES.add(_form.name, CurveKind(_by_coefficients(_form), _not_of(_form), _form))


def find_satisfaction(
    measure: str | Measure, scale: str | None, *, mappings: Iterable[SatisfactionMapping] | None = None
) -> Lookup[SatisfactionMapping]:
    """The mapping for a measure on a scale: one of ``mappings``, else one of the thesis; or the reason for none.

    >>> find_satisfaction("Q(ideal=max)@5", "binary40").mapping.measure  # on a binary scale Q is AP
    'AP(ideal=max)@5'
    >>> find_satisfaction("nDCG@10", "binary20").reason
    'no satisfaction mapping for nDCG@10 on binary20; known on binary20: AP(ideal=max)@5, DCG@5, P@5, RBP(ideal=max)@5'
    """
    from adjudge.users.table_4_3 import TABLE_4_3

    return find("satisfaction", [*(mappings or ()), *TABLE_4_3], measure, scale)


@dataclass(frozen=True)
class SystemSatisfaction:
    """One system under one measure: mean P(Sat) and P(Succ), each with its interval."""

    system: str
    measure: str
    n_queries: int
    mean: float
    low: float
    high: float
    success: float
    success_low: float
    success_high: float


@dataclass(frozen=True)
class Satisfaction:
    """What effectiveness means for users: ``p_sat[q, s, m]`` and what follows from it, systems x measures.

    ``measures`` are those with a mapping, ``mappings`` theirs; ``missing`` says why the others have none. ``low`` and
    ``high`` bound ``mean`` (eq 4.6) and never leave [0, 1]; ``success`` is the share of queries with P(Sat) above
    ``threshold``, bounded by Wilson's interval.
    """

    p_sat: Floats
    queries: tuple[str, ...]
    systems: tuple[str, ...]
    measures: tuple[str, ...]
    mappings: tuple[SatisfactionMapping, ...]
    missing: tuple[str, ...]
    scale: str | None
    threshold: float
    confidence: float
    mean: Floats
    low: Floats
    high: Floats
    success: Floats
    success_low: Floats
    success_high: Floats
    n_queries: Ints

    def of(self, system: str, measure: str) -> SystemSatisfaction:
        """One system under one measure."""
        if system not in self.systems:
            raise unknown("system", system, self.systems)
        if measure not in self.measures:
            raise unknown("measure with a satisfaction mapping", measure, self.measures)
        place = self.systems.index(system), self.measures.index(measure)
        names = ("mean", "low", "high", "success", "success_low", "success_high")
        numbers = {name: float(getattr(self, name)[place]) for name in names}
        return SystemSatisfaction(system, measure, n_queries=int(self.n_queries[place]), **numbers)

    def rows(self) -> list[SystemSatisfaction]:
        """Every system under every measure."""
        return [self.of(system, measure) for measure in self.measures for system in self.systems]

    def to_dicts(self) -> list[dict[str, Any]]:
        """Plain values, one dictionary a row."""
        return [asdict(row) for row in self.rows()]

    def to_polars(self) -> pl.DataFrame:
        """One row a measure and system."""
        import polars as pl

        return pl.DataFrame(self.to_dicts())

    def to_pandas(self) -> pd.DataFrame:
        """The same as a pandas frame."""
        import pandas as pd

        return pd.DataFrame(self.to_dicts())

    def __str__(self) -> str:
        width = max((len(name) for name in self.systems), default=0)
        lines = []
        for m, measure in enumerate(self.measures):
            lines.append(f"{measure} on {self.scale}: P(Sat), P(Succ) = P(P(Sat) > {self.threshold:g})")
            for s in np.argsort(-self.mean[:, m], kind="stable"):
                row = self.of(self.systems[s], measure)
                sat = f"{row.mean:.3f} [{row.low:.3f}, {row.high:.3f}]"
                succ = f"{row.success:.3f} [{row.success_low:.3f}, {row.success_high:.3f}]"
                lines.append(f"{row.system:<{width}}  {sat}  {succ}")
        return "\n".join([*lines, *self.missing])

    def __repr__(self) -> str:
        size = f"{counted(len(self.queries), 'query')} x {counted(len(self.systems), 'system')}"
        return f"<Satisfaction: {size} ({', '.join(self.measures)} on {self.scale})>"


def satisfaction(
    eff: Effectiveness,
    *,
    mappings: Iterable[SatisfactionMapping] | None = None,
    scale: str | None = None,
    threshold: float = 0.5,
    confidence: float = 0.95,
) -> Satisfaction:
    """What effectiveness means for users, for every measure that has a mapping.

    mean P(Sat) = 1/n sum_q sat(λ_q) ± t(α/2, n-1) sd / sqrt(n)  (eq 4.4-4.6);
    P(Succ) = share of queries with sat(λ_q) > threshold  (eq 4.8, from the empirical distribution).

    A mapping with a covariance (``adjudge fit`` writes such) widens the interval by what is unknown of its curve.
    ``mappings`` come before those of the thesis. ``scale`` names that of the judgments where ``eff`` does not say it.
    Queries left out on purpose (NaN) do not count. A measure without a mapping is left out and said so in ``missing``.

    >>> import adjudge as aj
    >>> eff = aj.evaluate(aj.demo(), ["CG@5", "nDCG@5"])
    >>> print(satisfaction(eff.select(systems=["KLN2", "ZX1"])))
    CG@5 on fine: P(Sat), P(Succ) = P(P(Sat) > 0.5)
    KLN2  0.675 [0.623, 0.727]  0.783 [0.664, 0.869]
    ZX1   0.273 [0.237, 0.310]  0.100 [0.047, 0.201]
    no satisfaction mapping for nDCG@5 on fine; known on fine: CG@5, DCG@5, GAP(ideal=max)@5, ...
    """
    if not 0 <= threshold <= 1:
        raise AdjudgeError(f"'threshold' must be in [0, 1], got {threshold:g}")
    used = scale_of(eff) if scale is None else str(relevance_scale(scale))
    own = tuple(mappings or ())
    found = [find_satisfaction(measure, used, mappings=own) for measure in eff.measures]
    place = [m for m, lookup in enumerate(found) if lookup.mapping is not None]
    chosen = tuple(lookup.mapping for lookup in found if lookup.mapping is not None)
    p_sat = _mapped(eff, place, chosen)
    mean, half, n = t_interval(p_sat, confidence=confidence)
    half = np.hypot(half, _curve_half(eff, place, chosen, confidence=confidence))
    hits = np.count_nonzero(p_sat > threshold, axis=0)  # NaN is not above anything
    success, success_low, success_high = wilson_interval(hits, n, confidence=confidence)
    return Satisfaction(
        p_sat,
        eff.queries,
        eff.systems,
        tuple(eff.measures[m] for m in place),
        chosen,
        tuple(lookup.reason for lookup in found if lookup.reason is not None),
        None if used is None else str(relevance_scale(used)) if place else used,
        threshold,
        confidence,
        mean,
        np.clip(mean - half, 0.0, 1.0),
        np.clip(mean + half, 0.0, 1.0),
        success,
        success_low,
        success_high,
        n,
    )


def _curve_half(
    eff: Effectiveness, place: Sequence[int], mappings: Sequence[SatisfactionMapping], *, confidence: float
) -> Floats:
    """Half an interval of mean P(Sat) that comes from what is unknown of the curve; 0 where nobody knows that."""
    from scipy.special import ndtri

    from adjudge.users.satisfaction_fit import curve_error

    errors = np.zeros((len(eff.systems), len(place)))
    for column, (m, mapping) in enumerate(zip(place, mappings, strict=True)):
        if mapping.covariance:
            errors[:, column] = [curve_error(mapping, eff.values[:, s, m]) for s in range(len(eff.systems))]
    half: Floats = float(ndtri(0.5 + confidence / 2)) * np.nan_to_num(errors)
    return half


def _mapped(eff: Effectiveness, place: Sequence[int], mappings: Sequence[SatisfactionMapping]) -> Floats:
    columns = [mapping(eff.values[:, :, m]) for m, mapping in zip(place, mappings, strict=True)]
    return np.stack(columns, axis=2) if columns else np.empty((*eff.values.shape[:2], 0))


def p_satisfied(k: npt.ArrayLike, n: int, p: npt.ArrayLike, *, at_least: bool = False) -> Floats:
    """Probability that k of n users are satisfied (or k at least), when each is with probability p (eq 4.2).

    >>> round(float(p_satisfied(10, 15, 0.7)), 4)
    0.2061
    >>> round(float(p_satisfied(8, 15, 0.7, at_least=True)), 4)
    0.95
    """
    from scipy.special import bdtrc, gammaln, xlog1py, xlogy

    count, chance = np.asarray(k, dtype=np.float64), np.asarray(p, dtype=np.float64)
    if n < 0 or bool(((count < 0) | (count > n) | (count % 1 != 0)).any()):
        raise AdjudgeError(f"expected k of n users with 0 <= k <= n, got k = {shown(k)} and n = {n}")
    if not bool(((chance >= 0) & (chance <= 1)).all()):
        raise AdjudgeError(f"expected a probability of satisfaction in [0, 1], got {shown(p)}")
    if at_least:
        return np.where(count == 0, 1.0, bdtrc(np.maximum(count - 1, 0), n, chance))
    ways = gammaln(n + 1) - gammaln(count + 1) - gammaln(n - count + 1)
    exactly: Floats = np.exp(ways + xlogy(count, chance) + xlog1py(n - count, -chance))
    return exactly
