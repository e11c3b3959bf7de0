"""D-study: the reliability of a collection of any size, and the size for any reliability.

How reliable a collection of some size would be, from variance components.

With σ²_s the variance between systems, and each other component σ²_T divided by the queries and assessors it is
averaged over,

    relative error  σ²_δ = Σ σ²_T / n_T over effects T that involve systems
    absolute error  σ²_Δ = Σ σ²_T / n_T over all effects T but systems
    Eρ² = σ²_s / (σ²_s + σ²_δ)        Φ = σ²_s / (σ²_s + σ²_Δ)

(thesis eq 6.4, 6.5, 6.9, 6.10). Eρ², the generalizability coefficient, is for the ranking of systems, Φ, the index of
dependability, for their scores. Functions take variances with one column an effect, and as many rows as there are
resamples.

How sure variance components are: F-based, bootstrap and likelihood intervals for Eρ² and Φ.

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
from adjudge.checks import TARGET, Assessors, ReliabilityInterval, Resampled
from adjudge.errors import AdjudgeError
from adjudge.results import Column, Result
from adjudge.stats.gtheory.designs import CROSSED, SYSTEMS_QUERIES, Design, MeanSquares, mean_squares
from adjudge.stats.resampling import random_counts
from adjudge.tables import Table
from adjudge.text import percent

if TYPE_CHECKING:
    from adjudge.stats.gtheory.gstudy import GStudy


INDICES = {"e_rho2": "Eρ²", "phi": "Φ"}
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Errors:
    """Error variance of a D-study: part that queries shrink (``by_query``), and part that they do not (``fixed``)."""

    by_query: Floats
    fixed: Floats

    def at(self, n_queries: float) -> Floats:
        """Error variance with so many queries."""
        return self.by_query / n_queries + self.fixed


def errors(variances: Floats, design: Design, n_assessors: npt.ArrayLike, *, absolute: bool) -> Errors:
    """Relative or absolute error variance with so many assessors a query; shape of ``variances`` without effects."""
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
    """Expected Kendall correlation of two rankings whose scores are normal and correlate so: 2/π arcsin(ρ).

    Scores of a collection correlate with the true ones by sqrt(Eρ²), and with those of another collection of the same
    size by Eρ². It holds for any number of systems, as tau counts pairs.

    >>> [round(float(tau), 3) for tau in expected_tau([0.0, 0.95, 1.0])]
    [0.0, 0.798, 1.0]
    """
    tau: Floats = 2 / np.pi * np.arcsin(np.clip(correlation, -1.0, 1.0))
    return tau


def nested_in_queries(design: Design) -> Design:
    """The design in which every query has assessors of its own, judged by components of a crossed one.

    What assessors differ in everywhere and what they differ in on one query is then drawn anew with each query, so
    that more queries shrink both.
    """
    effects = tuple(
        replace(effect, facets="".join(f for f in "sqa" if f in effect.facets or f == "q"))
        if "a" in effect.facets
        else effect
        for effect in design.effects
    )
    return replace(design, name="systems x (assessors in queries)", effects=effects)


_CHUNK = 256


def f_ratios(squares: MeanSquares, *, confidence: float) -> dict[str, tuple[float, float]]:
    """Ends of the intervals for σ²_s / σ²_e (for Eρ²) and σ²_s / (σ²_q + σ²_e) (for Φ), systems x queries.

    With F_p the quantiles of F and α = 1 - confidence, the first is ((MS_s / MS_e) / F_p(df_s, df_e) - 1) / n_q at
    p = 1 - α/2 and α/2; the second solves the quadratic of Arteaga et al. Ends below 0 are 0.
    """
    tails = {"low": (1 + confidence) / 2, "high": (1 - confidence) / 2}
    ends = {name: _f_end(squares, p) for name, p in tails.items()}
    return {index: (ends["low"][i], ends["high"][i]) for i, index in enumerate(("e_rho2", "phi"))}


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
        rng, size = (
            np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(chunk,))),
            min(_CHUNK, resamples - start),
        )
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


_MOST = 10**15  # queries or assessors: beyond it, numbers are no longer exact


@dataclass(frozen=True)
class Reliability:
    """How reliable a collection of some size is; ends of intervals are NaN where there are none.

    ``tau`` is the expected Kendall correlation with the true ranking, ``tau_again`` with that of another collection of
    the same size. Errors are standard deviations: of a system's score relative to the others, and of the score itself.
    """

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
        what = f"{INDICES[self.index]} >= {self.target:g}"
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
        for plan in self.needed:
            if plan.index == index and target in (None, plan.target) and assessors in (None, plan.n_assessors):
                return plan
        raise AdjudgeError(f"Nothing was computed for {index!r}, target {target}, assessors {assessors}.")

    row_type = Reliability
    rows_name = "reliability"

    @property
    def title(self) -> str:
        """What it is, in a line."""
        level = "" if self.interval == "none" else f", {percent(self.confidence)} intervals ({self.interval})"
        return f"D-study of {self.study.measure}{level}"

    def _facts(self) -> dict[str, Any]:
        return {
            "design": str(self.design),
            "confidence": self.confidence,
            "interval": self.interval,
            "needed": [asdict(plan) for plan in self.needed],
        }

    def _notes(self) -> list[str]:
        return [str(plan) for plan in self.needed]

    def table(self, *, digits: int | None = None) -> Table:
        """Reliability by size; numbers of assessors only where assessors were studied."""
        table = super().table(digits=digits)
        return table if self.study.design.has_assessors else table.without(1)

    def __repr__(self) -> str:
        sizes = ", ".join(str(n) for n in dict.fromkeys(row.n_queries for row in self.rows))
        return f"<DStudy: {self.study.measure}, queries: {sizes}>"


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
    sizes = _whole("queries", study.n_queries if queries is None else queries)
    people = _whole("assessors", study.n_assessors if assessors is None else assessors)
    targets = _targets(target)
    planned = _planned(study, design, max(people))
    kind = _kind(study, interval)
    if resample != "both" and kind != "bootstrap":
        raise AdjudgeError(f"'resample' is for bootstrap intervals, got {resample} with interval {kind}.")
    drawn = None
    if kind == "bootstrap":
        drawn = resampled_variances(study.values, study.design, over=resample, resamples=resamples, seed=seed)
    at = [_Decision(study, planned, n, confidence, kind, drawn) for n in people]
    return DStudy(
        study,
        planned,
        tuple(decision.reliability(n) for decision in at for n in sizes),
        tuple(decision.need(t, index) for decision in at for t in targets for index in INDICES),
        confidence,
        kind,
    )


@dataclass(frozen=True)
class _Decision:
    """Everything about collections with one number of assessors a query."""

    study: GStudy
    design: Design
    n_assessors: int
    confidence: float
    interval: ReliabilityInterval
    drawn: Floats | None

    def reliability(self, n_queries: int) -> Reliability:
        """One row of the table."""
        share = {index: self._share(self.study.variances, index, n_queries) for index in INDICES}
        (e_low, e_high), (phi_low, phi_high) = (self._ends(index, n_queries) for index in INDICES)
        error = [float(np.sqrt(self._errors(self.study.variances, index).at(n_queries))) for index in INDICES]
        return Reliability(
            n_queries,
            self.n_assessors,
            share["e_rho2"],
            e_low,
            e_high,
            share["phi"],
            phi_low,
            phi_high,
            float(expected_tau(math.sqrt(share["e_rho2"]))),
            float(expected_tau(share["e_rho2"])),
            *error,
        )

    def need(self, target: float, index: str) -> QueriesNeeded:
        """Queries for one target, with the ends that the interval of the index gives."""
        variances = self.study.variances
        n = float(queries_for(target, variances[..., 0], self._errors(variances, index)))
        low, high = self._needed_ends(target, index)
        return QueriesNeeded(index, target, self.n_assessors, _finite(n), _finite(low), _finite(high))

    def _errors(self, variances: Floats, index: str) -> Errors:
        return errors(variances, self.design, float(self.n_assessors), absolute=index == "phi")

    def _share(self, variances: Floats, index: str, n_queries: int) -> float:
        return float(coefficient(variances[..., 0], self._errors(variances, index).at(n_queries)))

    @property
    def _tails(self) -> list[float]:
        return [(1 - self.confidence) / 2, (1 + self.confidence) / 2]

    def _ends(self, index: str, n_queries: int) -> tuple[float, float]:
        if self.interval == "f" and self.study.mean_squares is not None:
            low, high = f_ratios(self.study.mean_squares, confidence=self.confidence)[index]
            return _of_ratio(low, n_queries), _of_ratio(high, n_queries)
        if self.interval == "bootstrap" and self.drawn is not None:
            error = self._errors(self.drawn, index).at(n_queries)
            low, high = np.quantile(coefficient(self.drawn[:, 0], error), self._tails)
            return float(low), float(high)
        if self.interval == "delta" and self.study.covariance is not None:
            return delta_interval(
                lambda variances: self._share(variances, index, n_queries),
                self.study.variances,
                self.study.covariance,
                confidence=self.confidence,
            )
        return math.nan, math.nan

    def _needed_ends(self, target: float, index: str) -> tuple[float, float]:
        """Fewest queries if the index is as high as its interval allows, and if it is as low."""
        if self.interval == "f" and self.study.mean_squares is not None:
            low, high = f_ratios(self.study.mean_squares, confidence=self.confidence)[index]
            return _for_ratio(high, target), _for_ratio(low, target)
        if self.interval == "bootstrap" and self.drawn is not None:
            needed = queries_for(target, self.drawn[:, 0], self._errors(self.drawn, index))
            low, high = np.quantile(needed, self._tails, method="inverted_cdf")
            return float(low), float(high)
        if self.interval == "delta":
            return self._needed_by_delta(target, index)
        return math.nan, math.nan

    def _needed_by_delta(self, target: float, index: str) -> tuple[float, float]:
        """Where the ends of the interval cross the target, by doubling and halving."""
        return tuple(self._first(lambda n, end=end: self._ends(index, n)[end] >= target) for end in (1, 0))  # type: ignore[return-value]

    @staticmethod
    def _first(enough: Any, most: int = 10_000_000) -> float:
        high = 1
        while high <= most and not enough(high):
            high *= 2
        if high > most:
            return math.inf
        low = high // 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle, high)
        return float(high)


def _of_ratio(ratio: float, n_queries: int) -> float:
    return 1.0 if math.isinf(ratio) else n_queries * ratio / (1 + n_queries * ratio)


def _for_ratio(ratio: float, target: float) -> float:
    return math.inf if ratio <= 0 else max(1.0, math.ceil(target / (1 - target) / ratio * (1 - 1e-9)))


def _finite(n: float) -> int | None:
    return int(n) if math.isfinite(n) else None


def _planned(study: GStudy, design: Assessors, most: int) -> Design:
    """The design of the collection to plan; refused where the study says nothing of it."""
    if not study.design.has_assessors and (most > 1 or design != "auto"):
        what = f"for {most} of them" if most > 1 else f"{design} ones"
        raise AdjudgeError(
            f"Expected a G-study with assessors to plan {what}, got {study.design}: "
            "how much assessors differ is not known."
        )
    if design == "nested" and study.design is CROSSED:
        return nested_in_queries(CROSSED)
    if design == "crossed" and study.design is not CROSSED:
        raise AdjudgeError("Assessors nested in queries say nothing of the same assessors judging all queries.")
    return study.design


def _kind(study: GStudy, interval: ReliabilityInterval) -> ReliabilityInterval:
    """The kind of interval to give; refused where the data do not allow it."""
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


def _whole(name: str, given: int | Iterable[int]) -> tuple[int, ...]:
    numbers = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    for n in numbers:
        is_number = isinstance(n, int | float | np.integer | np.floating) and not isinstance(n, bool)
        if not (is_number and 1 <= n < math.inf and n == math.floor(n)):
            raise AdjudgeError(f"{name!r} must be whole and at least 1, got {n}")
        if n > _MOST:
            raise AdjudgeError(f"{name!r} must be at most {_MOST:,}, got a number of {len(str(int(n)))} digits")
    if not numbers:
        raise AdjudgeError(f"{name!r} must have at least one number, got none")
    return tuple(dict.fromkeys(int(n) for n in numbers))


def _targets(given: float | Iterable[float]) -> tuple[float, ...]:
    targets: list[Any] = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    for target in targets:
        TARGET.check("target", target)
    if not targets:
        raise AdjudgeError("'target' must have at least one number, got none")
    return tuple(dict.fromkeys(targets))
