"""Satisfaction: from the effectiveness of a list to the probability that a user is satisfied with it.

The thesis asked people which of two lists is better and took "both good" and "both bad" as answers about each; the
share of "good" among lists of similar effectiveness is P(Sat | λ), learnt for each measure and scale (3.3.1). Means
over queries, their intervals and the share of successful queries follow from it (4.1, 4.3).

Two kinds of curves. *As published*: the cubic of eq 4.3 by least squares on the shares of bins, each bin weighted by
the number of lists in it. (The thesis does not say whether it weights bins. Unweighted, a bin of four lists pulls the
curve as hard as one of four hundred.) A cubic may fall and may leave [0, 1]. *Monotone*: families that do neither,
whatever their parameters, by maximum likelihood on single answers.

Two kinds of answers. Somebody may call *one list* good or bad: then P(good) = f(λ). Somebody who has no preference
calls *a pair* good or bad, and the two lists differ. With f the curve, and λ+ and λ- the effectiveness of the better
and of the worse list,

    P(good | λ+, λ-) = f(w λ+ + (1 - w) λ-)

where w, in [0, 1], says which list people go by: the better one (1), the worse one (0), both alike (1/2). It is fitted
with the curve. Where both lists are as good as one another, w does not matter: f(λ) is P(Sat | λ). The covariance of
the curve's coefficients allows for w being estimated, and is in no direction less than the likelihood alone would have
it: the sandwich alone holds P(Sat) 80 to 95 times in 100 at 0 and 1 where 95 are claimed, the larger of both 90 to 99
(``python -m benchmarks.preference_curves``). The cubic takes bins of the mean of both lists, w = 1/2.

Urbano, J., Evaluation in Audio Music Similarity, PhD thesis, Universidad Carlos III de Madrid, 2013.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats, Ints
from adjudge.checks import BINS, CONFIDENCE, SEED, SEVERAL, SHARE, checked
from adjudge.errors import AdjudgeError, shown, unknown
from adjudge.formats.effectiveness import EFFECTIVENESS_LIKE, EffectivenessLike, as_effectiveness
from adjudge.measures import Measure
from adjudge.registry import Registry
from adjudge.reporting.document import FigureBlock
from adjudge.reporting.figures import Forest, forest
from adjudge.results import Column, Result, figure
from adjudge.seeds import Seed, as_seed
from adjudge.stats.intervals import t_interval, wilson_interval
from adjudge.tables import Table
from adjudge.text import counted, percent
from adjudge.users import curves
from adjudge.users.combinations import Lookup, find, in_unit_interval, relevance_scale, scale_of, wrong_covariance
from adjudge.users.figures import Panel, Panels, satisfaction_panels

_EDGE = 1e-12  # powers of 0 have no slope


@dataclass(frozen=True)
class SatisfactionForm(curves.CurveForm):
    """A family of curves: ``(effectiveness, *parameters) -> P(Sat)``."""

    def __call__(self, effectiveness: Floats, parameters: Floats) -> Floats:
        """P(Sat) at effectiveness in [0, 1]."""
        found: Floats = self.function(effectiveness, *parameters)
        return found


MONOTONE: Registry[SatisfactionForm] = Registry("monotone satisfaction curve")


satisfaction_form = curves.registering(MONOTONE, SatisfactionForm)
"""Register a family of curves; each parameter has the value that a fit starts from, its lowest and its highest."""


@satisfaction_form("logistic", base=(-1.5, -20.0, 20.0), slope=(3.5, 0.0, 200.0))
def logistic(values: Floats, base: float, slope: float) -> Floats:
    """P(Sat) = 1 / (1 + e^-(base + slope·λ))."""
    return curves.logistic_of(base + slope * values)


@satisfaction_form(
    "psychometric", low=(0.1, 0.0, 1.0), rise=(0.8, 0.0, 1.0), slope=(7.0, 0.0, 200.0), middle=(0.5, -0.5, 1.5)
)
def psychometric(values: Floats, low: float, rise: float, slope: float, middle: float) -> Floats:
    """P(Sat) = low + (1 - low)·rise / (1 + e^(-slope·(λ - middle))).

    Some are satisfied whatever they get (``low``), some never are: the curve levels off at both ends, wherever these
    lie (Wichmann and Hill 2001).
    """
    return low + (1.0 - low) * rise * curves.logistic_of(slope * (values - middle))


@satisfaction_form("bounded", low=(0.15, 0.0, 1.0), rise=(0.8, 0.0, 1.0), a=(1.2, 0.2, 20.0), b=(1.2, 0.2, 20.0))
def bounded(values: Floats, low: float, rise: float, a: float, b: float) -> Floats:
    """P(Sat) = low + (1 - low)·rise·(1 - (1 - λ^a)^b), which is ``low`` at 0 and low + (1 - low)·rise at 1.

    The middle is the distribution function of Kumaraswamy (1980), much like a beta distribution's: S-shaped, straight,
    or bent to either side. With a = b = 1 it is a straight line.
    """
    inside = np.clip(values, _EDGE, 1.0 - _EDGE)
    return low + (1.0 - low) * rise * -np.expm1(b * np.log1p(-np.exp(a * np.log(inside))))


_ROUNDING = 1e-9  # by which effectiveness computed elsewhere may leave [0, 1]

Numbers = tuple[float, ...]
Points = tuple[tuple[float, float], ...]
Curve = Callable[["SatisfactionMapping", Floats], Floats]


@dataclass(frozen=True)
class SatisfactionMapping:
    """P(Sat | λ) for one measure on one scale.

    ``kind`` says which curve: ``cubic`` has ``coefficients`` a0..a3 (eq 4.3), ``points`` has ``points`` (λ, P(Sat))
    from λ = 0 to λ = 1 that straight lines join, and each monotone family has its parameters as ``coefficients``. What
    leaves [0, 1] is clipped. ``source`` says where it comes from in one line; ``provenance`` holds further facts as
    name and value; ``covariance`` is that of the coefficients, empty where unknown.

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
        wrong = CURVES[self.kind].wrong(self) or wrong_covariance(self.covariance, len(self.coefficients))
        if wrong:
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
        grid = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
        at = ", ".join(f"{value:g}: {p:.3f}" for value, p in zip(grid, self(grid), strict=True))
        return f"P(Sat) for {self.measure} on {self.scale} ({self.kind}): {at}"


@dataclass(frozen=True)
class CurveKind:
    """One form that a satisfaction curve may have: its function, and what is wrong with the numbers of a mapping.

    ``at`` is the same function of effectiveness and coefficients, for forms that have any.
    """

    function: Curve
    wrong: Callable[[SatisfactionMapping], str | None]
    at: Callable[[Floats, Floats], Floats] | None = None


CURVES: Registry[CurveKind] = Registry("kind of satisfaction mapping")


def cubic(values: Floats, coefficients: Sequence[float] | Floats) -> Floats:
    """Evaluate a0 + a1 λ + a2 λ² + a3 λ³ (eq 4.3), which may leave [0, 1]."""
    a0, a1, a2, a3 = coefficients
    return a0 + values * (a1 + values * (a2 + values * a3))


def _add_kind(form: SatisfactionForm) -> None:
    """Offer a family of curves as a kind of mapping, with its parameters as coefficients."""

    def evaluate(mapping: SatisfactionMapping, values: Floats) -> Floats:
        return form(values, np.array(mapping.coefficients))

    def wrong(mapping: SatisfactionMapping) -> str | None:
        if mapping.points:
            return f"{form.name!r} has no points, got {len(mapping.points)}"
        return form.wrong(mapping.coefficients)

    CURVES.add(form.name, CurveKind(evaluate, wrong, form))


def _join(mapping: SatisfactionMapping, values: Floats) -> Floats:
    """Straight lines between points (effectiveness, P(Sat)), the first at effectiveness 0 and the last at 1."""
    x, y = np.array(mapping.points).T
    joined: Floats = np.interp(values, x, y)
    return joined


def _wrong_points(mapping: SatisfactionMapping) -> str | None:
    array = np.array(mapping.points, dtype=np.float64).reshape(-1, 2)
    if mapping.coefficients or len(array) < 2:
        return f"'points' has 2 or more points and no coefficients, got {len(array)} and {len(mapping.coefficients)}"
    if not (array[0, 0] == 0 and array[-1, 0] == 1 and bool((np.diff(array[:, 0]) > 0).all())):
        return "points must rise from effectiveness 0 to effectiveness 1, so that nothing is extrapolated"
    if not bool(((array[:, 1] >= 0) & (array[:, 1] <= 1)).all()):
        return "the probabilities of points must be in [0, 1]"
    return None


_ANY = (0.0, -np.inf, np.inf)
_add_kind(
    SatisfactionForm(
        "cubic", lambda values, *a: cubic(values, a), ("a0", "a1", "a2", "a3"), *zip(*[_ANY] * 4, strict=True)
    )
)
CURVES.add("points", CurveKind(_join, _wrong_points))
for _form in MONOTONE.values():
    _add_kind(_form)


def find_satisfaction(
    measure: str | Measure, scale: str | None, *, mappings: Iterable[SatisfactionMapping] | None = None
) -> Lookup[SatisfactionMapping]:
    """The mapping for a measure on a scale: one of ``mappings``, else one of the thesis; or the reason for none.

    >>> find_satisfaction("Q(ideal=max)@5", "binary40").mapping.measure  # on a binary scale Q is AP
    'AP(ideal=max)@5'
    >>> find_satisfaction("nDCG@10", "binary20").reason
    'no satisfaction mapping for nDCG@10 on binary20; known on binary20: AP(ideal=max)@5, DCG@5, P@5, RBP(ideal=max)@5'
    """
    return find("satisfaction", [*(mappings or ()), *TABLE_4_3], measure, scale)


@dataclass(frozen=True)
class SystemSatisfaction:
    """One system under one measure: mean P(Sat) and P(Succ), each with its interval."""

    system: Annotated[str, Column("the system", key=True)]
    measure: Annotated[str, Column("the measure", key=True)]
    n_queries: Annotated[int, Column("queries that count", "d", label="queries")]
    mean: Annotated[float, Column("mean share of users satisfied", ".3f", label="P(Sat)", ends=("low", "high"))]
    low: Annotated[float, Column("lower end of its interval", ".3f", shown=False)]
    high: Annotated[float, Column("upper end of its interval", ".3f", shown=False)]
    success: Annotated[
        float,
        Column(
            "share of queries with P(Sat) above the threshold",
            ".3f",
            label="P(Succ)",
            ends=("success_low", "success_high"),
        ),
    ]
    success_low: Annotated[float, Column("lower end of its interval", ".3f", shown=False)]
    success_high: Annotated[float, Column("upper end of its interval", ".3f", shown=False)]


_GRID = np.linspace(0.0, 1.0, 101)
_MOST = 6  # panels in a figure


@dataclass(frozen=True, repr=False, eq=False)
class Satisfaction(Result):
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

    @figure("forest")
    def _forest(self, *, measure: str = "") -> FigureBlock:
        """P(Sat) of every system under one measure, the first unless another is named; best first."""
        if not self.measures:
            raise AdjudgeError("no measure has a mapping to satisfaction")
        name, level = measure or self.measures[0], percent(self.confidence)
        rows = sorted((self.of(system, name) for system in self.systems), key=lambda row: -row.mean)
        numbers = np.array([[row.mean, row.low, row.high] for row in rows]).T
        systems = tuple(row.system for row in rows)
        data = Forest(f"P(Sat) by {name}, mean and {level} interval", systems, *numbers)
        ends = f"{systems[0]} at {rows[0].mean:.2f} to {systems[-1]} at {rows[-1].mean:.2f}"
        caption = f"Mean share of satisfied users by {name}, with {level} intervals."
        return FigureBlock("satisfaction", caption, f"P(Sat) of each system, from {ends}.", data, forest)

    @figure("users-satisfied")
    def _curves(self) -> FigureBlock:
        """The curves of P(Sat), a panel for each measure, of which there are six at most."""
        if not self.measures:
            raise AdjudgeError("no measure has a mapping to satisfaction")
        named = list(zip(self.measures, self.mappings, strict=True))
        panels = tuple(Panel(name, (), (mapping(_GRID),)) for name, mapping in named[:_MOST])
        first, mapping = named[0]
        low, middle, high = (f"{100 * share:.0f} %" for share in mapping(np.array([0.0, 0.5, 1.0])))
        alt = f"P(Sat) against effectiveness. For {first} it is {low} at 0, {middle} at one half and {high} at 1."
        data = Panels("effectiveness", "P(Sat)", _GRID, (), ("share satisfied",), panels)
        return FigureBlock("users-satisfied", "Share of users satisfied with a list.", alt, data, satisfaction_panels)

    row_type = SystemSatisfaction

    @property
    def title(self) -> str:
        """What it is, in a line."""
        scale = "" if self.scale is None else f" on {self.scale}"
        return f"P(Sat){scale}, P(Succ) = P(P(Sat) > {self.threshold:g})"

    def _rows(self) -> list[SystemSatisfaction]:
        return self.rows()

    def _facts(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("scale", "threshold", "confidence", "missing")}

    def _notes(self) -> tuple[str, ...]:
        return self.missing

    def table(self, *, digits: int | None = None) -> Table:
        """Every system under every measure, best first."""
        order = np.lexsort((-self.mean.T.ravel(), np.repeat(np.arange(len(self.measures)), len(self.systems))))
        return super().table(digits=digits).take(order.tolist())

    def __repr__(self) -> str:
        size = f"{counted(len(self.queries), 'query')} x {counted(len(self.systems), 'system')}"
        return f"<Satisfaction: {size} ({', '.join(self.measures)} on {self.scale})>"


@checked(eff=EFFECTIVENESS_LIKE, threshold=SHARE, confidence=CONFIDENCE)
def satisfaction(
    eff: EffectivenessLike,
    *,
    mappings: Iterable[SatisfactionMapping] | None = None,
    scale: str | None = None,
    threshold: float = 0.5,
    confidence: float = 0.95,
) -> Satisfaction:
    """What effectiveness means for users, for every measure that has a mapping.

    mean P(Sat) = 1/n sum_q sat(λ_q) ± t(α/2, n-1) sd / sqrt(n)  (eq 4.4-4.6);
    P(Succ) = share of queries with sat(λ_q) > threshold  (eq 4.8, from the empirical distribution).

    A mapping with a covariance (``adjudge fit`` writes them) widens the interval by what is unknown of its curve.
    ``mappings`` come before those of the thesis. ``scale`` names that of the judgments where ``eff`` does not say it.
    Queries left out on purpose (NaN) do not count. ``missing`` says why a measure without a mapping is left out; one
    with values outside [0, 1] is, too.

    >>> import adjudge as aj
    >>> eff = aj.evaluate(aj.demo(), ["CG@5", "nDCG@5"])
    >>> print(satisfaction(eff.select(systems=["KLN2", "ZX1"])))
    P(Sat) on fine, P(Succ) = P(P(Sat) > 0.5)
    system  measure  queries         P(Sat)               P(Succ)
    KLN2    CG@5          60  0.675 ± 0.052  0.783 [0.664, 0.869]
    ZX1     CG@5          60  0.273 ± 0.037  0.100 [0.047, 0.201]
    no satisfaction mapping for nDCG@5 on fine; known on fine: CG@5, DCG@5,
    GAP(ideal=max)@5, ...
    """
    from scipy.special import ndtri

    eff = as_effectiveness(eff)
    used = scale_of(eff) if scale is None else str(relevance_scale(scale))
    own = tuple(mappings or ())
    found = [
        in_unit_interval("satisfaction", eff.values[..., m], find_satisfaction(measure, used, mappings=own), measure)
        for m, measure in enumerate(eff.measures)
    ]
    place = [m for m, lookup in enumerate(found) if lookup.mapping is not None]
    chosen = tuple(lookup.mapping for lookup in found if lookup.mapping is not None)
    p_sat, of_curve = np.empty((*eff.values.shape[:2], len(place))), np.zeros((len(eff.systems), len(place)))
    for column, (m, mapping) in enumerate(zip(place, chosen, strict=True)):
        p_sat[:, :, column] = mapping(eff.values[:, :, m])
        if mapping.covariance:
            of_curve[:, column] = [curve_error(mapping, eff.values[:, s, m]) for s in range(len(eff.systems))]
    mean, half, n = t_interval(p_sat, confidence=confidence)
    half = np.hypot(half, float(ndtri(0.5 + confidence / 2)) * np.nan_to_num(of_curve))
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


Place = Literal["centre", "mean", "lower", "ends"]
"""Where a bin stands for the cubic: at its centre, the mean of its lists, its lower end, or evenly from 0 to 1."""

_WEIGHT = (0.5, 0.0, 1.0)  # of the better list of a pair: where a fit starts, lowest, highest
_LEAST = 0.01  # what a cubic deems (almost) impossible has this probability, lest one list cost it everything


@dataclass(frozen=True)
class SatisfactionFit:
    """A fitted curve; ``covariance`` is robust, answers about one query or of one person counting as dependent.

    ``weight`` is that of the better list of a pair; None for single lists, and for the cubic.
    """

    kind: str
    coefficients: Floats
    covariance: Floats
    log_likelihood: float
    n_rows: int
    n_clusters: int
    weight: float | None = None

    @property
    def parameters(self) -> Floats:
        """All that was fitted: the coefficients of the curve, then the weight of the better list where there is one."""
        return self.coefficients if self.weight is None else np.append(self.coefficients, self.weight)

    def mapping(
        self, measure: str, scale: str, *, source: str = "", provenance: tuple[tuple[str, str], ...] = ()
    ) -> SatisfactionMapping:
        """The curve as a mapping for a measure on a scale."""
        coefficients = tuple(self.coefficients.tolist())
        return SatisfactionMapping(
            measure, scale, self.kind, coefficients, (), source, provenance, curves.rows_of(self.covariance)
        )


def satisfaction_model(kind: str, *, pairs: bool = False) -> curves.Model:
    """A family of monotone curves as a model of two outcomes: not satisfied, satisfied.

    Of single lists, or of pairs: these have the weight of the better list as their last parameter.
    """
    form = MONOTONE[kind]

    def shares(values: Floats, parameters: Floats) -> Floats:
        if not pairs:
            good = form(values, parameters)
        else:
            weight = parameters[-1]
            good = form(weight * values.max(axis=1) + (1.0 - weight) * values.min(axis=1), parameters[:-1])
        return np.stack([1.0 - good, good], axis=1)

    bounds = form.start, form.lowest, form.highest
    return curves.Model(shares, *((*row, own) if pairs else row for row, own in zip(bounds, _WEIGHT, strict=True)))


def _ends(data: curves.Data) -> curves.Data:
    """Made-up answers of a monotone curve: as if λ = 0 and λ = 1 had been called good once and bad once, in part.

    Half an answer each for single lists, a quarter each for pairs, which are half as many rows.
    """
    x = np.broadcast_to([0.0, 0.0, 1.0, 1.0], (*data.x.shape[1:], 4)).T
    return curves.Data(x, np.array([0, 1, 0, 1]), np.full(4, 0.5 / data.x.ndim))


@checked(place=Place, bins=BINS)
def fit_satisfaction(
    effectiveness: npt.ArrayLike,
    satisfied: npt.ArrayLike,
    *,
    kind: str = "bounded",
    clusters: curves.ClusterLabels = None,
    weights: npt.ArrayLike | None = None,
    few_clusters: bool = True,
    bins: int = 10,
    place: Place = "centre",
) -> SatisfactionFit:
    """Fit a curve to lists, or to pairs of lists: their effectiveness, and 1 where somebody was satisfied, 0 where not.

    ``effectiveness`` has one number per answer about a single list, (n,), or two per answer about a pair, (n, 2).
    ``kind`` is ``cubic`` or a family of monotone curves. ``clusters`` say what makes answers alike: an array, or one
    per kind by name (query and participant). Where an answer about a pair is given as two lists (Urbano et al. 2012),
    both must be in one cluster. ``few_clusters`` widens the covariance so that 95 % bands are those of Student's t.
    ``bins`` and ``place`` are for the cubic: how many bins, and where each stands.

    A monotone curve also sees half a satisfied and half an unsatisfied list at λ = 0 and at λ = 1, as in Jeffreys's
    prior for a share (a quarter with pairs): so few lists at an end never make it certain of what happens there.

    >>> rng = np.random.default_rng(3)
    >>> values = rng.random(3000)
    >>> fit = fit_satisfaction(values, rng.random(3000) < 0.2 + 0.7 * values)
    >>> curve = fit.mapping("CG@5", "fine")
    >>> np.round(curve([0, 0.5, 1]), 1).tolist()
    [0.2, 0.6, 0.9]
    """
    data = _answers(effectiveness, satisfied, weights)
    groups = curves.as_clusters(clusters, len(data.x))
    if kind == "cubic":
        return _fit_cubic(_averaged(data), groups, bins, place, few_clusters)
    pairs = data.x.ndim > 1
    model, ends = satisfaction_model(kind, pairs=pairs), _ends(data)
    found = curves.maximum(model, data.joined(ends))
    spread = curves.covariance(model, data, found, groups, prior=ends)
    if pairs:
        spread = curves.no_less_than_model(spread, model, data.joined(ends), found)
    spread, own = curves.widened(spread, groups) if few_clusters else spread, len(MONOTONE[kind].parameters)
    likelihood = float(data.weighted(curves.log_shares(model, data, found)).sum())
    weight, n = float(found[own]) if pairs else None, len(data.x)
    return SatisfactionFit(kind, found[:own], spread[:own, :own], likelihood, n, curves.fewest(groups, n), weight)


@checked(folds=SEVERAL, bins=BINS, seed=SEED, place=Place)
def held_out_satisfaction(
    effectiveness: npt.ArrayLike,
    satisfied: npt.ArrayLike,
    *,
    kind: str,
    clusters: curves.ClusterLabels = None,
    folds: int = 10,
    seed: Seed = 0,
    bins: int = 10,
    place: Place = "centre",
) -> Floats:
    """Log-likelihood of each answer under the curve fitted without its fold; no cluster is on both sides.

    A cubic is clipped to [0.01, 0.99]: outside [0, 1] it has no likelihood at all.
    """
    seed = as_seed(seed)
    data = _answers(effectiveness, satisfied, None)
    groups = curves.as_clusters(clusters, len(data.x))
    if kind != "cubic":
        model = satisfaction_model(kind, pairs=data.x.ndim > 1)
        return curves.held_out_logs(model, data, groups, folds=folds, seed=seed, prior=_ends(data))
    data, logs = _averaged(data), np.empty(len(data.x))
    for fit_on, out in curves.blocks(groups, len(data.x), folds, np.random.default_rng(seed)):
        logs[out] = _cubic_logs(data.select(out), _least_squares(*_binned(data.select(fit_on), bins, place)))
    return logs


@checked(confidence=CONFIDENCE)
def satisfaction_interval(
    mapping: SatisfactionMapping, effectiveness: npt.ArrayLike, *, confidence: float = 0.95
) -> tuple[Floats, Floats]:
    """Lower and upper end of P(Sat), by the delta method on the logit scale; NaN when the mapping has no covariance.

    They cover what is unknown of the curve (which users were asked), not the spread of users around it.
    """
    centre = np.clip(mapping(effectiveness), 1e-9, 1 - 1e-9)
    if not mapping.covariance:
        return np.full(centre.shape, np.nan), np.full(centre.shape, np.nan)
    return curves.logit_interval(centre, curve_slopes(mapping, effectiveness), mapping.covariance, confidence)


def curve_error(mapping: SatisfactionMapping, effectiveness: npt.ArrayLike) -> float:
    """Standard error of the mean P(Sat) over some effectiveness that comes from the curve alone; NaN if unknown.

    It adds to the error that comes from the sample of queries: sqrt(g' V g) with g the mean slope in the coefficients.
    """
    values = np.asarray(effectiveness, dtype=np.float64)
    known = values[~np.isnan(values)]
    if not mapping.covariance or not len(known):
        return float("nan")
    slope = curve_slopes(mapping, known).reshape(len(mapping.coefficients), -1).mean(axis=1)
    return float(np.sqrt(max(slope @ np.array(mapping.covariance) @ slope, 0.0)))


def curve_slopes(mapping: SatisfactionMapping, effectiveness: npt.ArrayLike) -> Floats:
    """Derivatives of P(Sat) in the coefficients, stacked."""
    at = CURVES[mapping.kind].at
    if at is None:
        raise AdjudgeError(f"{mapping.measure} on {mapping.scale}: {mapping.kind!r} has no coefficients")
    values = np.asarray(effectiveness, dtype=np.float64)
    return curves.slopes_of(lambda coefficients: at(values, coefficients), np.array(mapping.coefficients))


def _answers(effectiveness: npt.ArrayLike, satisfied: npt.ArrayLike, weights: npt.ArrayLike | None) -> curves.Data:
    """Answers about lists or pairs, checked; a share counts as satisfied and as not, in parts."""
    x, y = np.asarray(effectiveness, dtype=np.float64), np.asarray(satisfied, dtype=np.float64)
    if x.shape not in (y.shape, (*y.shape, 2)) or y.ndim != 1 or len(x) < 2:
        raise AdjudgeError(f"expected as many answers as lists or pairs, 2 or more, got {y.shape} and {x.shape}")
    if not bool(((x >= -1e-9) & (x <= 1 + 1e-9)).all()) or not bool(((y >= 0) & (y <= 1)).all()):
        raise AdjudgeError("expected effectiveness in [0, 1] and answers 0 or 1")
    x = np.clip(x, 0.0, 1.0)
    if bool((y % 1 == 0).all()):
        return curves.Data(x, y.astype(np.int64), None if weights is None else np.asarray(weights, dtype=np.float64))
    given = np.ones(len(x)) if weights is None else np.asarray(weights, dtype=np.float64)
    both = np.repeat([1, 0], len(x)).astype(np.int64)
    return curves.Data(np.concatenate([x, x]), both, np.concatenate([given * y, given * (1 - y)]))


def _averaged(data: curves.Data) -> curves.Data:
    """Answers about pairs as answers about the mean of both lists."""
    return data if data.x.ndim == 1 else replace(data, x=data.x.mean(axis=1))


def _binned(data: curves.Data, bins: int, place: Place) -> tuple[Floats, Floats, Floats]:
    """Where each bin with lists stands, its share of satisfied ones and how many there are."""
    which, weight = curves.bin_of(data.x, bins), np.ones(len(data.x)) if data.weight is None else data.weight
    n = np.bincount(which, weight, minlength=bins).astype(np.float64)
    used = np.flatnonzero(n)
    share = np.bincount(which, weight * data.outcome, minlength=bins)[used] / n[used]
    mean = np.bincount(which, weight * data.x, minlength=bins)[used] / n[used]
    x = {"centre": (used + 0.5) / bins, "mean": mean, "lower": used / bins, "ends": used / max(bins - 1, 1)}[place]
    return x, share, n[used]


def _least_squares(x: Floats, share: Floats, n: Floats) -> Floats:
    """Coefficients a0..a3 of the cubic nearest to the shares, bins counting by their lists; the smallest if several."""
    powers = np.vander(x, 4, increasing=True) * np.sqrt(n)[:, None]
    return np.linalg.lstsq(powers, share * np.sqrt(n), rcond=None)[0].astype(np.float64)


def _fit_cubic(
    data: curves.Data, groups: curves.Clusters, bins: int, place: Place, few_clusters: bool
) -> SatisfactionFit:
    """The cubic, and its covariance: that of the shares of the bins by clusters, carried through least squares."""
    x, share, n = _binned(data, bins, place)
    if len(x) < 4:
        raise AdjudgeError(f"a cubic needs lists in 4 bins of effectiveness or more, got {len(x)}")
    found = _least_squares(x, share, n)
    powers = np.vander(x, 4, increasing=True)
    carried = np.linalg.pinv(powers * np.sqrt(n)[:, None]) @ np.diag(1.0 / np.sqrt(n))
    used, which = np.unique(curves.bin_of(data.x, bins), return_inverse=True)
    scores = np.zeros((len(data.x), len(used)))
    scores[np.arange(len(data.x)), which] = data.weighted(data.outcome - share[which])
    spread = carried @ curves.between_clusters(scores, groups) @ carried.T
    spread = curves.widened(spread, groups) if few_clusters else spread
    likelihood = float(data.weighted(_cubic_logs(data, found)).sum())
    return SatisfactionFit("cubic", found, spread, likelihood, len(data.x), curves.fewest(groups, len(data.x)))


def _cubic_logs(data: curves.Data, coefficients: Floats) -> Floats:
    """Log-likelihood of every answer under a cubic clipped to [0.01, 0.99]."""
    good = np.clip(cubic(data.x, coefficients), _LEAST, 1 - _LEAST)
    return np.log(np.where(data.outcome == 1, good, 1 - good))


# Table 4.3 of the thesis: cubics fitted to 4,050 lists of five songs that crowd workers called good or bad, rounded to
# four digits as published. Every measure is at cutoff 5 and user-oriented (ideal=max). RMS residuals .0034 to .0402.
SOURCE = "Urbano 2013 (thesis), Table 4.3"

_P, _AP, _GAP = "P@5", "AP(ideal=max)@5", "GAP(ideal=max)@5"
_CG, _CG_EXP = "CG@5", "CG(gain=exp)@5"
_DCG, _DCG_EXP = "DCG@5", "DCG(gain=exp)@5"
_Q, _Q_EXP = "Q(ideal=max)@5", "Q(gain=exp,ideal=max)@5"
_RBP, _RBP_EXP = "RBP(ideal=max)@5", "RBP(gain=exp,ideal=max)@5"

_COEFFICIENTS: dict[str, dict[str, tuple[float, float, float, float]]] = {
    "broad": {
        _CG: (0.1872, -0.0969, 1.9908, -1.237),
        _CG_EXP: (0.1601, 0.9345, -0.3245, 0.1463),
        _DCG: (0.1614, 0.4043, 1.1288, -0.8535),
        _DCG_EXP: (0.1253, 1.2334, -0.7733, 0.2884),
        _Q: (0.1291, 1.0993, -0.2774, -0.1157),
        _Q_EXP: (0.1117, 1.6064, -1.4001, 0.5267),
        _RBP: (0.1666, 0.3591, 1.2609, -0.9536),
        _RBP_EXP: (0.1297, 1.1906, -0.6452, 0.204),
        _GAP: (0.1018, 1.7272, -1.6028, 0.6471),
    },
    "fine": {
        _CG: (0.2007, -0.4632, 3.6754, -2.6338),
        _DCG: (0.1873, -0.3, 3.3552, -2.4675),
        _Q: (0.1509, 0.3214, 2.0057, -1.7292),
        _RBP: (0.1722, -0.1443, 3.0142, -2.253),
        _GAP: (0.1131, 1.0327, 0.6077, -0.9409),
    },
    "graded4": {
        _CG: (0.2162, -0.1609, 2.151, -1.3492),
        _CG_EXP: (0.1879, 0.6952, 0.5243, -0.5204),
        _DCG: (0.1908, 0.1522, 1.637, -1.1374),
        _DCG_EXP: (0.1592, 1.1177, -0.4211, 0.0049),
        _Q: (0.143, 0.9574, -0.0258, -0.2404),
        _Q_EXP: (0.1125, 1.8645, -1.93, 0.8061),
        _RBP: (0.1884, 0.1822, 1.5873, -1.1176),
        _RBP_EXP: (0.1605, 1.0565, -0.2106, -0.1524),
        _GAP: (0.124, 1.4399, -0.883, 0.1802),
    },
    "graded5": {
        _CG: (0.1895, -0.0282, 1.9266, -1.2236),
        _CG_EXP: (0.1734, 1.1467, -0.3836, -0.0491),
        _DCG: (0.1853, 0.1434, 1.737, -1.2215),
        _DCG_EXP: (0.141, 1.5581, -1.2976, 0.465),
        _Q: (0.1438, 0.8224, 0.3413, -0.4773),
        _Q_EXP: (0.0956, 2.4332, -3.2653, 1.5964),
        _RBP: (0.1761, 0.2562, 1.5186, -1.1098),
        _RBP_EXP: (0.1406, 1.5719, -1.3141, 0.4653),
        _GAP: (0.1209, 1.4456, -0.8938, 0.2014),
    },
    "binary20": {
        _P: (0.1541, 0.1227, 0.0152, 0.5589),
        _AP: (0.1428, 0.4791, 0.4859, -0.3479),
        _DCG: (0.1742, -0.0972, 1.0231, -0.2768),
        _RBP: (0.1635, 0.0401, 0.6029, 0.0208),
    },
    "binary40": {
        _P: (0.2352, -0.3261, 1.5421, -0.5807),
        _AP: (0.1659, 0.9044, -0.0926, -0.1725),
        _DCG: (0.2292, -0.1256, 1.4722, -0.7195),
        _RBP: (0.2291, -0.1532, 1.5484, -0.7779),
    },
}

TABLE_4_3: tuple[SatisfactionMapping, ...] = tuple(
    SatisfactionMapping(measure, scale, "cubic", coefficients, source=SOURCE)
    for scale, measures in _COEFFICIENTS.items()
    for measure, coefficients in measures.items()
)
