"""D-study: the reliability of a collection of any size, and the size for any reliability.

With σ²_s the variance between systems, and each other component σ²_T divided by the queries and assessors it is
averaged over,

    relative error  σ²_δ = Σ σ²_T / n_T over effects T that involve systems
    absolute error  σ²_Δ = Σ σ²_T / n_T over all effects T but systems
    Eρ² = σ²_s / (σ²_s + σ²_δ)        Φ = σ²_s / (σ²_s + σ²_Δ)

(thesis eq 6.4, 6.5, 6.9, 6.10). Eρ², the generalizability coefficient, is for the ranking of systems, Φ, the index of
dependability, for their scores. Functions take variances with one column per effect and one row per resample.

F-based intervals are exact for Eρ² (Feldt) and close for Φ (Arteaga et al.) when effects are normal and every cell is
filled; gt4ireval gives the same. When the effects of systems are skewed they are too narrow, however many queries there
are: with exponential ones 95 % intervals hold Eρ² .83 and Φ .84 of the time with 10 systems, .76 and .78 with 20, .74
and .78 with 50 (``python -m benchmarks.claims``). Skewed effects of queries, or a skewed residual, do no harm. The
bootstrap draws queries and systems again and takes the bias back that drawing brings. Where cells are missing, the
curvature of the restricted likelihood gives intervals on the logit scale.

Feldt 1965, doi:10.1007/BF02289499. Arteaga, Jeyaratnam & Franklin 1982, doi:10.1080/03610928208828335.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats
from adjudge.checks import TARGET, Assessors, Constraint, ReliabilityInterval, Resampled, Whole
from adjudge.errors import AdjudgeError, ParameterError
from adjudge.reporting.document import FigureBlock
from adjudge.reporting.figures import Curve, Curves, Panel, curves
from adjudge.results import Column, Result, figure
from adjudge.stats.gtheory.designs import CROSSED, NESTED, SYSTEMS_QUERIES, Design, MeanSquares, mean_squares
from adjudge.stats.power import MOST_QUERIES
from adjudge.stats.resampling import random_counts
from adjudge.tables import Table
from adjudge.text import counted, percent

if TYPE_CHECKING:
    from adjudge.stats.gtheory.gstudy import GStudy


INDICES = {"e_rho2": "Eρ²", "phi": "Φ"}
_SIZE = Whole(1, 10**15, "queries or assessors; beyond it, numbers are no longer exact")
_ROUNDING = 1e-9
_CHUNK = 256


@dataclass(frozen=True)
class Errors:
    """Error variance of a D-study: the part that queries shrink (``by_query``) and the one that stays (``fixed``)."""

    by_query: Floats
    fixed: Floats

    def at(self, n_queries: float) -> Floats:
        """Error variance with a number of queries."""
        return self.by_query / n_queries + self.fixed


def errors(variances: Floats, design: Design, n_assessors: npt.ArrayLike, *, absolute: bool) -> Errors:
    """Relative or absolute error variance with a number of assessors per query, in the shape of rows of variances."""
    one, assessors = np.asarray(1.0), np.asarray(n_assessors, dtype=np.float64)
    by_query: Floats = np.zeros(np.broadcast_shapes(variances.shape[:-1], assessors.shape))
    fixed = by_query.copy()
    for i, effect in enumerate(design.effects):
        if effect.facets != "s" and (absolute or effect.relative):
            part = np.maximum(variances[..., i], 0.0) / effect.divisor(one, assessors)
            if "q" in effect.facets:
                by_query = by_query + part
            else:
                fixed = fixed + part
    return Errors(by_query, fixed)


def coefficient(var_system: Floats, error: Floats) -> Floats:
    """σ²_s / (σ²_s + σ²_error); 0 where systems do not vary, whatever the error."""
    system = np.maximum(var_system, 0.0)
    total = system + error
    share: Floats = np.divide(system, total, out=np.zeros(np.shape(total)), where=total > 0)
    return share


def queries_for(target: float, var_system: Floats, error: Errors) -> Floats:
    """Fewest queries with which the coefficient reaches a target; infinite where no number does.

    n >= σ²_by_query / (σ²_s (1 - t) / t - σ²_fixed), thesis eq 6.6 and 6.7: what no query shrinks, such as systems
    that please some assessors more than others, must leave room.
    """
    room = np.maximum(var_system, 0.0) * (1 - target) / target - error.fixed
    needed: Floats = np.divide(error.by_query, room, out=np.full(np.shape(room), np.inf), where=room > 0)
    return np.maximum(np.ceil(needed * (1 - _ROUNDING)), 1.0)


def expected_tau(correlation: npt.ArrayLike) -> Floats:
    """Expected Kendall correlation of two rankings whose scores are normal with correlation ρ: 2/π arcsin(ρ).

    Scores of a collection correlate with the true ones by sqrt(Eρ²), and with those of another collection of the same
    size by Eρ². It holds for any number of systems, as tau counts pairs.

    >>> [round(float(tau), 3) for tau in expected_tau([0.0, 0.95, 1.0])]
    [0.0, 0.798, 1.0]
    """
    tau: Floats = 2 / np.pi * np.arcsin(np.clip(correlation, -1.0, 1.0))
    return tau


_NESTED_FROM_CROSSED = Design(
    NESTED.name,
    tuple(replace(e, facets={"a": "qa", "sa": "sqa"}.get(e.facets, e.facets)) for e in CROSSED.effects),
)
"""Every query has assessors of its own, judged by components of a crossed design: what assessors differ in everywhere
changes with each query, too, so that more queries shrink it."""


def f_ratios(squares: MeanSquares, *, confidence: float) -> dict[str, tuple[float, float]]:
    """Ends of the intervals for σ²_s / σ²_e (for Eρ²) and σ²_s / (σ²_q + σ²_e) (for Φ), systems x queries.

    With F_p the quantiles of F and α = 1 - confidence, the first is ((MS_s / MS_e) / F_p(df_s, df_e) - 1) / n_q at
    p = 1 - α/2 and α/2; the second solves the quadratic of Arteaga et al. Ends below 0 are 0.
    """
    low, high = (_f_end(squares, p) for p in ((1 + confidence) / 2, (1 - confidence) / 2))
    return {index: (low[i], high[i]) for i, index in enumerate(INDICES)}


def _f_end(squares: MeanSquares, p: float) -> tuple[float, float]:
    from scipy.special import chdtri, fdtri

    n_s, n_q = squares.levels["s"], squares.levels["q"]
    ms_s, ms_q, ms_e = (float(value) for value in squares.values)
    df_s, df_q, df_e = squares.df
    if ms_s == 0:
        return 0.0, 0.0
    if ms_e == 0:
        return np.inf, np.inf if ms_q == 0 else (n_s / n_q) * ms_s / ms_q / float(fdtri(df_s, df_q, p))
    to_q, to_e = (float(fdtri(df_s, df, p)) for df in (df_q, df_e))
    to_none = float(chdtri(df_s, 1 - p)) / df_s  # F with infinite degrees of freedom below
    relative = (ms_s / (ms_e * to_e) - 1) / n_q
    if relative <= 0:  # then the second is 0 as well; the quadratic turns up again as MS_s goes to 0
        return 0.0, 0.0
    top = ms_s**2 - to_none * ms_s * ms_e + (to_none - to_e) * to_e * ms_e**2
    bottom = (n_s - 1) * to_none * ms_s * ms_e + to_q * ms_s * ms_q
    return relative, max(n_s / n_q * top / bottom, 0.0)


def resampled_variances(values: Floats, design: Design, *, over: Resampled, resamples: int, seed: int) -> Floats:
    """Variance components of resampled data without the bias of resampling, resamples x effects; below 0 is 0."""
    facets = {"both": "sq", "queries": "q", "systems": "s"}[over]
    n_q, n_s = values.shape[:2]
    parts = []
    for chunk, start in enumerate(range(0, resamples, _CHUNK)):
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(chunk,)))
        size = min(_CHUNK, resamples - start)
        squares = mean_squares(
            values,
            design,
            queries=random_counts(rng, n_q, size).T if "q" in facets else np.ones((size, n_q)),
            systems=random_counts(rng, n_s, size).T if "s" in facets else np.ones((size, n_s)),
        )
        for facet in facets:
            squares = squares.without_resampling_bias(facet)
        parts.append(squares.variances())
    return np.maximum(np.concatenate(parts), 0.0)


def delta_interval(
    share: Callable[[Floats], float], variances: Floats, covariance: Floats, *, confidence: float
) -> tuple[float, float]:
    """Interval of a share in (0, 1) of the variances, by the delta method on its logit; NaN where that is undefined."""
    from scipy.special import expit, logit, ndtri

    value = share(variances)
    if not 0 < value < 1:
        return np.nan, np.nan
    gradient = np.zeros(len(variances))
    for i, variance in enumerate(variances):
        step = max(variance, 1e-3 * float(variances.sum())) * 1e-4
        moved = variances.copy()
        moved[i] += step
        gradient[i] = (float(logit(share(moved))) - float(logit(value))) / step
    spread = float(gradient @ covariance @ gradient)
    half = float(ndtri((1 + confidence) / 2)) * float(np.sqrt(max(spread, 0.0)))
    centre = float(logit(value))
    return float(expit(centre - half)), float(expit(centre + half))


@dataclass(frozen=True)
class Reliability:
    """How reliable a collection of some size is; ends of intervals are NaN where there are none."""

    n_queries: Annotated[int, Column("queries of the collection", "d", label="queries", key=True)]
    n_assessors: Annotated[int, Column("assessors per query", "d", label="assessors", key=True)]
    e_rho2: Annotated[
        float, Column("reliability of the ranking", ".3f", label="Eρ²", ends=("e_rho2_low", "e_rho2_high"))
    ]
    e_rho2_low: Annotated[float, Column("lower end of its interval", ".3f", shown=False)]
    e_rho2_high: Annotated[float, Column("upper end of its interval", ".3f", shown=False)]
    phi: Annotated[float, Column("reliability of scores", ".3f", label="Φ", ends=("phi_low", "phi_high"))]
    phi_low: Annotated[float, Column("lower end of its interval", ".3f", shown=False)]
    phi_high: Annotated[float, Column("upper end of its interval", ".3f", shown=False)]
    tau: Annotated[float, Column("expected Kendall correlation with the true ranking", ".2f", label="τ")]
    tau_again: Annotated[float, Column("the same with another collection of that size", ".2f", shown=False)]
    relative_error: Annotated[
        float, Column("standard deviation of a score relative to the others", ".3f", label="± ranking")
    ]
    absolute_error: Annotated[float, Column("standard deviation of the score itself", ".3f", label="± scores")]


@dataclass(frozen=True)
class QueriesNeeded:
    """Queries for an index to reach a target, None where no number is enough; its ends follow from the interval."""

    index: str
    target: float
    n_assessors: int
    n_queries: int | None
    low: int | None
    high: int | None

    def __str__(self) -> str:
        people = "" if self.n_assessors == 1 else f" with {self.n_assessors} assessors"
        what = f"{INDICES[self.index]} ≥ {self.target:g}"
        if self.n_queries is None:
            return f"{what}: no number of queries is enough{people}"
        high = "no limit" if self.high is None else f"{self.high:,}"
        ends = "" if self.low is None else f" [{self.low:,}, {high}]"
        return f"{what}: {self.n_queries:,}{ends} queries{people}"


@dataclass(frozen=True, repr=False)
class DStudy(Result):
    """Reliability by size, and size by reliability, as :meth:`GStudy.dstudy` defines them."""

    study: GStudy
    design: Design
    rows: tuple[Reliability, ...]
    needed: tuple[QueriesNeeded, ...]
    confidence: float
    interval: str

    def need(self, index: str, *, target: float | None = None, assessors: int | None = None) -> QueriesNeeded:
        """The first answer that fits: ``need("phi").n_queries``."""
        for needed in self.needed:
            if needed.index == index and target in (None, needed.target) and assessors in (None, needed.n_assessors):
                return needed
        raise AdjudgeError(f"Nothing was computed for {index!r}, target {target}, assessors {assessors}.")

    row_type = Reliability
    rows_name = "reliability"

    @property
    def title(self) -> str:
        level = "" if self.interval == "none" else f", {percent(self.confidence)} intervals ({self.interval})"
        return f"D-study of {self.study.measure}{level}"

    def _facts(self) -> dict[str, Any]:
        return {
            "design": str(self.design),
            "confidence": self.confidence,
            "interval": self.interval,
            "needed": [asdict(needed) for needed in self.needed],
        }

    def _notes(self) -> list[str]:
        return [str(needed) for needed in self.needed]

    def table(self, *, digits: int | None = None) -> Table:
        """Reliability by size; numbers of assessors only where assessors were studied."""
        table = super().table(digits=digits)
        return table if self.study.design.has_assessors else table.without(1)

    @figure("reliability-curves")
    def _curves(self) -> FigureBlock:
        """Reliability against the number of queries, with where the collection is now."""
        people = self.rows[0].n_assessors
        rows = [row for row in self.rows if row.n_assessors == people]
        if len(rows) < _ENOUGH:
            sizes = [*curve_sizes(self.study.n_queries), *(row.n_queries for row in rows)]
            interval: Any = self.interval
            dense = self.study.dstudy(
                sorted(set(sizes)), assessors=people, confidence=self.confidence, interval=interval
            )
            rows = list(dense.rows)
        targets, now = tuple(dict.fromkeys(needed.target for needed in self.needed)), self.study.n_queries

        def column(name: str) -> Floats:
            return np.array([getattr(row, name) for row in rows], dtype=np.float64)

        lines = tuple(
            Curve(label, column("n_queries"), column(index), column(f"{index}_low"), column(f"{index}_high"))
            for index, label in (("e_rho2", "Eρ², ranking"), ("phi", "Φ, scores"))
        )
        panel = Panel("", lines, targets, uprights=((float(now), f"now, {now:,}"),))
        assessors = f" with {counted(people, 'assessor')} per query" if self.study.design.has_assessors else ""
        bands = "" if self.interval == "none" else f"; bands are {percent(self.confidence)} intervals"
        about = f"dotted is what is wanted{bands}"
        caption = f"Reliability of {self.study.measure} against the number of queries{assessors}; {about}."
        needed = [self.need(index, target=targets[0], assessors=people).n_queries for index in INDICES]
        reached = [
            f"{symbol} {f'never reaches {targets[0]:g}' if n is None else f'reaches {targets[0]:g} with {n:,} queries'}"
            for symbol, n in zip(INDICES.values(), needed, strict=True)
        ]
        alt = f"Lines that rise with queries; {' and '.join(reached)}."
        data = Curves("queries", "reliability", (panel,), log_x=True)
        return FigureBlock("reliability-curves", caption, alt, data, curves)

    def __repr__(self) -> str:
        sizes = ", ".join(str(n) for n in dict.fromkeys(row.n_queries for row in self.rows))
        return f"<DStudy: {self.study.measure}, queries: {sizes}>"


_ENOUGH = 12  # sizes that make a curve


def curve_sizes(n_queries: int) -> list[int]:
    """Numbers of queries to plot: from 5 to 500, or to twice the number of the data."""
    return [int(n) for n in np.unique(np.geomspace(5, max(500, 2 * n_queries), 40).round())]


def decide(
    study: GStudy,
    queries: int | Iterable[int] | None,
    assessors: int | Iterable[int] | None,
    target: float | Iterable[float],
    *,
    design: Assessors,
    confidence: float,
    interval: ReliabilityInterval,
    resample: Resampled,
    resamples: int,
    seed: int,
) -> DStudy:
    """Carry out a D-study, as :meth:`GStudy.dstudy` defines it."""
    sizes = _several("queries", study.n_queries if queries is None else queries, _SIZE)
    people = _several("assessors", study.n_assessors if assessors is None else assessors, _SIZE)
    targets = _several("target", target, TARGET)
    planned = _design_to_plan(study, design, max(people))
    kind = _interval_to_give(study, interval)
    if resample != "both" and kind != "bootstrap":
        raise AdjudgeError(f"'resample' is for bootstrap intervals, got {resample} with interval {kind}.")
    drawn = None
    if kind == "bootstrap":
        drawn = resampled_variances(study.values, study.design, over=resample, resamples=resamples, seed=seed)
    decisions = [_Decision(study, planned, n, confidence, kind, drawn) for n in people]
    return DStudy(
        study,
        planned,
        tuple(decision.reliability(n) for decision in decisions for n in sizes),
        tuple(decision.need(t, index) for decision in decisions for t in targets for index in INDICES),
        confidence,
        kind,
    )


@dataclass(frozen=True)
class _Decision:
    """Everything about collections with one number of assessors per query."""

    study: GStudy
    design: Design
    n_assessors: int
    confidence: float
    interval: ReliabilityInterval
    drawn: Floats | None

    def reliability(self, n_queries: int) -> Reliability:
        """One row of the table."""
        e_rho2, phi = (self._share(self.study.variances, index, n_queries) for index in INDICES)
        (e_low, e_high), (phi_low, phi_high) = (self._ends(index, n_queries) for index in INDICES)
        error = (float(np.sqrt(self._errors(self.study.variances, index).at(n_queries))) for index in INDICES)
        tau, again = (float(expected_tau(correlation)) for correlation in (math.sqrt(e_rho2), e_rho2))
        ranking, scores = (e_rho2, e_low, e_high), (phi, phi_low, phi_high)
        return Reliability(n_queries, self.n_assessors, *ranking, *scores, tau, again, *error)

    def need(self, target: float, index: str) -> QueriesNeeded:
        """Queries for one target, with the ends that the interval of the index gives."""
        variances = self.study.variances
        n = float(queries_for(target, variances[..., 0], self._errors(variances, index)))
        numbers = (int(x) if math.isfinite(x) else None for x in (n, *self._needed_ends(target, index)))
        return QueriesNeeded(index, target, self.n_assessors, *numbers)

    def _errors(self, variances: Floats, index: str) -> Errors:
        return errors(variances, self.design, float(self.n_assessors), absolute=index == "phi")

    def _share(self, variances: Floats, index: str, n_queries: int) -> float:
        return float(coefficient(variances[..., 0], self._errors(variances, index).at(n_queries)))

    @property
    def _tails(self) -> list[float]:
        return [(1 - self.confidence) / 2, (1 + self.confidence) / 2]

    def _ends(self, index: str, n_queries: int) -> tuple[float, float]:
        low = high = math.nan
        if self.interval == "f" and self.study.mean_squares is not None:
            ratios = f_ratios(self.study.mean_squares, confidence=self.confidence)[index]
            low, high = (1.0 if math.isinf(r) else n_queries * r / (1 + n_queries * r) for r in ratios)
        elif self.interval == "bootstrap" and self.drawn is not None:
            error = self._errors(self.drawn, index).at(n_queries)
            low, high = np.quantile(coefficient(self.drawn[:, 0], error), self._tails).tolist()
        elif self.interval == "delta" and self.study.covariance is not None:
            low, high = delta_interval(
                lambda variances: self._share(variances, index, n_queries),
                self.study.variances,
                self.study.covariance,
                confidence=self.confidence,
            )
        return low, high

    def _needed_ends(self, target: float, index: str) -> tuple[float, float]:
        """Fewest queries if the index is as high as its interval allows, and if it is as low."""
        fewest = most = math.nan
        if self.interval == "f" and self.study.mean_squares is not None:
            low, high = f_ratios(self.study.mean_squares, confidence=self.confidence)[index]
            odds = target / (1 - target) * (1 - _ROUNDING)
            fewest, most = (math.inf if r <= 0 else max(1.0, math.ceil(odds / r)) for r in (high, low))
        elif self.interval == "bootstrap" and self.drawn is not None:
            needed = queries_for(target, self.drawn[:, 0], self._errors(self.drawn, index))
            fewest, most = np.quantile(needed, self._tails, method="inverted_cdf").tolist()
        elif self.interval == "delta":  # where the ends cross the target
            largest = [largest_number(lambda n, end=end: not self._ends(index, n)[end] >= target) for end in (1, 0)]  # type: ignore[misc]
            fewest, most = (n + 1 if n < MOST_QUERIES else math.inf for n in largest)
        return fewest, most


def largest_number(holds: Callable[[int], bool]) -> int:
    """The largest number up to ten million for which something holds that holds for all below it; 0 where none."""
    low, high = 0, 1
    while high <= MOST_QUERIES and holds(high):
        low, high = high, 2 * high
    high = min(high, MOST_QUERIES + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _design_to_plan(study: GStudy, design: Assessors, most: int) -> Design:
    """The design of the collection to plan; refused where the study says nothing of it."""
    if not study.design.has_assessors and (most > 1 or design != "auto"):
        what = f"for {most} of them" if most > 1 else f"{design} ones"
        raise AdjudgeError(
            f"Expected a G-study with assessors to plan {what}, got {study.design}: "
            "how much assessors differ is not known."
        )
    if design == "nested" and study.design is CROSSED:
        return _NESTED_FROM_CROSSED
    if design == "crossed" and study.design is not CROSSED:
        raise AdjudgeError("Assessors nested in queries say nothing of the same assessors judging all queries.")
    return study.design


def _interval_to_give(study: GStudy, interval: ReliabilityInterval) -> ReliabilityInterval:
    """The kind of interval; refused where the data do not allow it."""
    complete = study.mean_squares is not None
    if interval == "auto":
        return "f" if complete and study.design is SYSTEMS_QUERIES else "bootstrap" if complete else "delta"
    if interval == "f" and not (complete and study.design is SYSTEMS_QUERIES):
        raise AdjudgeError(f"F intervals are for complete systems x queries, got {study.design} by {study.method}.")
    if interval == "bootstrap" and not complete:
        raise AdjudgeError("Bootstrap intervals need every cell filled; with empty ones ask for delta.")
    if interval == "delta" and complete:
        raise AdjudgeError("Delta intervals are for data with empty cells; ask for f or bootstrap.")
    return interval


def _several(name: str, values: Any, constraint: Constraint) -> tuple[Any, ...]:
    """One value or several that are what the constraint says, and at least one."""
    given = constraint.check_each(name, values.tolist() if isinstance(values, np.ndarray | np.generic) else values)
    if not given:
        raise ParameterError(f"{name!r} must have at least one number, got none")
    return given
