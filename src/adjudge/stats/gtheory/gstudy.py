"""Generalizability Theory: what effectiveness varies with, and how large a collection must be.

A *G-study* estimates how much of effectiveness is due to systems, to queries, to assessors and to their interactions; a
*D-study* turns that into the reliability of a collection of any size, and into the size for any reliability.

>>> import adjudge as aj
>>> study = gstudy(aj.evaluate(aj.demo(), ["CG@5"]))
>>> print(study)
G-study of CG@5: 12 systems x 60 queries, ANOVA
effect    variance   share
system     0.01470  20.3 %
query      0.02952  40.7 %
residual   0.02827  39.0 %
>>> print(study.dstudy(queries=[30, 60]))
D-study of CG@5, 95 % intervals (f)
queries                   Eρ²                     Φ     τ  ± ranking  ± scores
30       0.940 [0.882, 0.979]  0.884 [0.777, 0.958]  0.84      0.031     0.044
60       0.969 [0.937, 0.989]  0.938 [0.875, 0.979]  0.89      0.022     0.031
Eρ² ≥ 0.95: 37 [13, 77] queries
Φ ≥ 0.95: 75 [25, 164] queries
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.checks import CONFIDENCE, RESAMPLES, SEED, Assessors, ReliabilityInterval, Resampled, checked
from adjudge.errors import AdjudgeError, shown, warn
from adjudge.reporting.document import FigureBlock
from adjudge.results import Column, Result, figure
from adjudge.seeds import Seed, as_seed
from adjudge.stats.gtheory.designs import (
    CROSSED,
    NESTED,
    Arrangement,
    Design,
    MeanSquares,
    StudyData,
    arrange,
    mean_squares,
)
from adjudge.text import counted

if TYPE_CHECKING:
    from adjudge.stats.gtheory.dstudy import DStudy


@dataclass(frozen=True)
class Component:
    """What one effect of the design contributes to the variance."""

    effect: Annotated[str, Column("effect of the design", key=True)]
    variance: Annotated[float, Column("variance that is due to it", ".5f")]
    share: Annotated[float, Column("its share of the total variance", ".1f %")]


@dataclass(frozen=True, eq=False, repr=False)
class GStudy(Result):
    """Variance components of effectiveness, as :func:`gstudy` defines them, one per effect of the design.

    ``negative`` names effects whose variance was estimated below 0 and is taken as 0. ``n_assessors`` is the number of
    assessors per query, its harmonic mean where queries differ. ``mean_squares`` are there where every cell is filled,
    the ``covariance`` of the variances where not.
    """

    design: Design
    variances: Floats
    n_systems: int
    n_queries: int
    n_assessors: int
    method: str
    measure: str
    negative: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    mean_squares: MeanSquares | None = field(default=None, repr=False)
    covariance: Floats | None = field(default=None, repr=False)
    values: Floats = field(default_factory=lambda: np.empty((0, 0)), repr=False)

    def variance(self, facets: str) -> float:
        """The variance of an effect by its facets, ``s``, ``q``, ``sq``, …, or its name, such as ``system``.

        It is 0 where the design has no such effect, as ``a`` where assessors are no facet.
        """
        named = {effect.name: effect.facets for design in (CROSSED, self.design) for effect in design.effects}
        wanted = named.get(facets, facets)
        if "".join(facet for facet in "sqa" if facet in wanted) != wanted or not wanted:
            effects = ", ".join(f"{effect.facets} ({effect.name})" for effect in self.design.effects)
            raise AdjudgeError(f"No effect is called {shown(facets)}. Known: {effects}.")
        return float(self.variances[[effect.facets == wanted for effect in self.design.effects]].sum())

    @property
    def var_system(self) -> float:
        """Variance between systems, which an evaluation is about."""
        return self.variance("s")

    @property
    def total(self) -> float:
        """Variance of one system on one query by one assessor."""
        return float(self.variances.sum())

    def fractions(self) -> dict[str, float]:
        """Share of the total variance that is due to each effect."""
        return {e.name: float(v) / self.total for e, v in zip(self.design.effects, self.variances, strict=True)}

    @checked(
        design=Assessors,
        confidence=CONFIDENCE,
        interval=ReliabilityInterval,
        resample=Resampled,
        resamples=RESAMPLES,
        seed=SEED,
    )
    def dstudy(
        self,
        queries: int | Iterable[int] | None = None,
        *,
        assessors: int | Iterable[int] | None = None,
        target: float | Iterable[float] = 0.95,
        design: Assessors = "auto",
        confidence: float = 0.95,
        interval: ReliabilityInterval = "auto",
        resample: Resampled = "both",
        resamples: int = 2000,
        seed: Seed = 0,
    ) -> DStudy:
        """Reliability by numbers of ``queries`` and of ``assessors`` per query, and the queries that targets need.

        By default the collection as it is. ``design="nested"`` plans for assessors of each query's own where the
        G-study had them crossed. ``interval`` is ``f`` (complete systems x queries), ``bootstrap`` (complete designs;
        ``resample`` says what is drawn), ``delta`` (incomplete ones), ``none``, or ``auto``: the first of these that
        the data allow. The bootstrap takes crossed assessors as given: where they differ in how generous they are,
        intervals of Φ are too narrow.

        >>> study = gstudy([[0.2, 0.5, 0.6], [0.3, 0.5, 0.9], [0.1, 0.6, 0.6], [0.3, 0.6, 0.8]])
        >>> [plan.n_queries for plan in study.dstudy(target=[0.9, 0.99]).needed if plan.index == "e_rho2"]
        [2, 14]
        """
        from adjudge.stats.gtheory.dstudy import decide

        return decide(
            self,
            queries,
            assessors,
            target,
            design=design,
            confidence=confidence,
            interval=interval,
            resample=resample,
            resamples=resamples,
            seed=as_seed(seed),
        )

    @figure("reliability-curves")
    def _curves(self) -> FigureBlock:
        """Reliability against the number of queries, with where the collection is now."""
        return self.dstudy().figure()

    row_type = Component
    rows_name = "components"

    @property
    def title(self) -> str:
        return f"G-study of {self.measure}: {self.size}, {self.method}"

    def _rows(self) -> list[Component]:
        shares = self.fractions().items()
        return [Component(name, float(v), share) for (name, share), v in zip(shares, self.variances, strict=True)]

    def _facts(self) -> dict[str, Any]:
        names = ("measure", "method", "n_systems", "n_queries", "n_assessors", "negative", "notes")
        return {"design": str(self.design), **{name: getattr(self, name) for name in names}}

    def _notes(self) -> tuple[str, ...]:
        return self.notes

    @property
    def size(self) -> str:
        """Its levels in words."""
        size = f"{self.n_systems} systems x {self.n_queries} queries"
        if not self.design.has_assessors:
            return size
        if self.design is CROSSED:
            return f"{size} x {self.values.shape[2]} assessors"
        return f"{size}, {_range(_assessors_of_queries(self.values))} per query"

    def __repr__(self) -> str:
        return f"<GStudy: {self.measure}, {self.size}, {self.method}>"


def gstudy(values: StudyData, *, assessors: Assessors = "auto", leave_out_worst: float = 0) -> GStudy:
    """Variance components of effectiveness under one measure.

    ``values`` are effectiveness as :func:`adjudge.evaluate` gives it, or by assessor as
    :func:`adjudge.measures.evaluate_assessors` does, or an array of queries x systems (x assessors) with NaN for empty
    cells.

    - One assessor per query: systems x queries, x = μ + ν_s + ν_q + ε (thesis eq 6.1).
    - All assessors judged all queries: systems x queries x assessors, ``crossed``, with all interactions.
    - Each query has assessors of its own: systems x (assessors in queries), ``nested`` (eq 6.8).

    ``auto`` takes assessors as crossed when all judged every query, else as nested; saying ``crossed`` or ``nested``
    claims it, and assessors who have fewer than two queries in common are not crossed. Where every cell is filled,
    components solve the equations of expected mean squares; an estimate below 0 is set to 0 and named, after all are
    solved (Brennan's way). Where cells are empty, or queries have different numbers of assessors, they maximise the
    restricted likelihood (REML), and a warning says so.

    ``leave_out_worst`` leaves out a share of the systems (below 1) or a number of them, those with the lowest means:
    systems that nobody would run again make a ranking look easier than it is among good ones. A share does what
    ``drop`` does in gt4ireval, the tool of the thesis's author.

    Brennan, Generalizability Theory, 2001, doi:10.1007/978-1-4757-3456-0; Bodoff & Li 2007,
    doi:10.1145/1277741.1277805.

    >>> study = gstudy([[0.2, 0.5], [0.4, 0.7], [0.1, 0.5]])
    >>> {effect: round(share, 3) for effect, share in study.fractions().items()}
    {'system': 0.75, 'query': 0.227, 'residual': 0.023}
    """
    return study_of(arrange(values, assessors=assessors, leave_out_worst=leave_out_worst))


def study_of(data: Arrangement) -> GStudy:
    """The G-study of data whose design is known."""
    squares, covariance, notes = None, None, list(data.notes)
    names = np.array([effect.name for effect in data.design.effects])
    if data.complete:
        squares = mean_squares(data.values, data.design)
        estimates = squares.variances()
        tiny = 1e-12 * np.abs(estimates).sum()
        variances, at_zero = np.where(estimates > tiny, estimates, 0.0), names[estimates < -tiny].tolist()
        zero = "Estimated below 0 and set to 0"
    else:
        from adjudge.stats.gtheory.reml import reml

        fit = reml(data.values, data.design)
        notes.append(f"{_gaps(data)}: variances by restricted maximum likelihood, not by ANOVA.")
        if not fit.converged:
            notes[-1] += " The search for the maximum did not settle; take them with care."
        warn(notes[-1], stacklevel=3)
        variances, covariance, at_zero = fit.variances, fit.covariance, names[fit.variances == 0].tolist()
        zero = "Most likely 0"
    if at_zero:
        notes.append(f"{zero}: {', '.join(at_zero)}.")
    judged = _assessors_of_queries(data.values)
    return GStudy(
        data.design,
        variances,
        n_systems=data.values.shape[1],
        n_queries=data.values.shape[0],
        n_assessors=max(1, round(len(judged) / float((1 / judged).sum()))),
        method="ANOVA" if data.complete else "REML",
        measure=data.measure,
        negative=tuple(at_zero),
        notes=tuple(notes),
        mean_squares=squares,
        covariance=covariance,
        values=data.values,
    )


def _assessors_of_queries(values: Floats) -> Ints:
    """How many assessors each query has."""
    filled = np.isfinite(values if values.ndim == 3 else values[:, :, None])
    return np.asarray(np.count_nonzero(filled.any(axis=1), axis=1))


def _range(assessors: Ints) -> str:
    low, high = int(assessors.min()), int(assessors.max())
    return counted(high, "assessor") if low == high else f"{low} to {counted(high, 'assessor')}"


def _gaps(data: Arrangement) -> str:
    """What makes the data unbalanced, in words."""
    filled = np.isfinite(data.values)
    if data.design is NESTED:
        filled = filled[np.broadcast_to(filled.any(axis=1, keepdims=True), filled.shape)]
        if filled.all():
            return f"Queries have {_range(_assessors_of_queries(data.values))}"
    return f"{int((~filled).sum())} of {filled.size} cells are empty"
