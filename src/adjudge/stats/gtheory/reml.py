"""Variance components by restricted maximum likelihood, for designs with empty cells.

Mean squares need every cell filled. The likelihood does not: it takes what was observed, and it keeps variances at 0 or
above. On complete data it agrees with the analysis of variance wherever that has no variance below 0.

>>> from adjudge.stats.gtheory.designs import SYSTEMS_QUERIES
>>> nan = float("nan")
>>> values = np.array([[0.5, 0.4, 0.3], [0.7, nan, 0.4], [0.6, 0.5, 0.2], [0.9, 0.4, nan]])
>>> print(reml(values, SYSTEMS_QUERIES))
REML, systems x queries, 10 observations
effect    variance  std error
system    0.031638   0.036640
query     0.000424   0.007266
residual  0.015880   0.010997
log-likelihood 2.6073, mean 0.4729
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError, NotEnoughDataError
from adjudge.results import Column, Result
from adjudge.stats.gtheory.designs import Design

Numbers = npt.NDArray[Any]  # floats, or complex numbers whose imaginary part carries a derivative

_AXES = {"q": 0, "s": 1, "a": 2}
_FLOOR, _LOWEST = 1e-4, 1e-6  # of the variance of all observations: a residual below is 0
_IDENTIFIABLE = 1e-9  # smallest eigenvalue of the scaled information that is not rounding
_DECREMENT = 1e-11  # gain of log-likelihood foreseen for a step that is the last
_ROUNDING = 1e-6  # the same, where rounding hides whether a step gains
_MOST_STEPS = 200
_FEW = 100  # observations; with fewer the likelihood may have several maxima
_COMPLEX_STEP = 1e-30


@dataclass(frozen=True)
class RemlComponent:
    """The variance of one effect, with its standard error."""

    effect: Annotated[str, Column("effect of the design", key=True)]
    variance: Annotated[float, Column("its variance", ".6f")]
    standard_error: Annotated[float, Column("standard error of the variance", ".6f", label="std error")]


@dataclass(frozen=True, eq=False, repr=False)
class RemlFit(Result):
    """Variance components of a design, as :func:`reml` estimates them; arrays follow ``design.effects``."""

    design: Design
    variances: Floats
    covariance: Floats
    log_likelihood: float
    mean: float
    n_observations: int
    converged: bool

    @property
    def standard_errors(self) -> Floats:
        """Square roots of the diagonal of ``covariance``."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    row_type = RemlComponent
    rows_name = "components"

    @property
    def title(self) -> str:
        return f"REML, {self.design}, {self.n_observations:,} observations"

    def _rows(self) -> list[RemlComponent]:
        names = [effect.name for effect in self.design.effects]
        columns = zip(names, self.variances.tolist(), self.standard_errors.tolist(), strict=True)
        return [RemlComponent(*row) for row in columns]

    def _facts(self) -> dict[str, Any]:
        names = ("log_likelihood", "mean", "n_observations", "converged")
        return {"design": str(self.design), **{name: getattr(self, name) for name in names}}

    def _notes(self) -> list[str]:
        fit = f"log-likelihood {self.log_likelihood:.4f}, mean {self.mean:.4f}"
        return [fit] if self.converged else [fit, "not converged"]

    def __repr__(self) -> str:
        return f"<RemlFit: {self.design}, {self.n_observations:,} observations>"


def reml(values: Floats, design: Design) -> RemlFit:
    """Restricted maximum-likelihood estimates of the variances of a design; NaN where a cell is empty.

    y = 1μ + Σ_i Z_i u_i, u_i ~ N(0, σ²_i I), so that Var[y] = V = Σ_i σ²_i V_i with V_i = Z_i Z_i' (I for the last
    effect, the residual). With n observations and P = V⁻¹ - V⁻¹1 (1'V⁻¹1)⁻¹ 1'V⁻¹, maximise over σ² >= 0

        ℓ = -½ [(n - 1) log 2π + log |V| + log 1'V⁻¹1 + y'Py].

    Its slope is ½ (y'PV_iPy - tr PV_i), its expected information F_ij = ½ tr PV_iPV_j. A scoring step therefore solves
    F σ² = ½ y'PV_iPy, here as non-negative least squares, so that a variance is 0 exactly where the likelihood falls
    from 0 on; steps that raise ℓ too little are shortened. Complete data with no ANOVA estimate below 0 need one step.
    Up to 100 observations ℓ may have several maxima: the best of several starts is taken.

    ``values`` are queries x systems, or queries x systems x assessors for designs with assessors. In nested designs the
    a-th assessors of two queries are two people, so that queries with fewer assessors are filled up with NaN.

    - ``covariance`` is F⁻¹ at the estimates. A variance estimated 0 keeps the row that its estimate would have if it
      could fall below 0, which errs on the wide side; only a residual of 0 is taken as known, its row is 0.
    - Where the other effects fit the data exactly (additive data; assessors that agree on everything) ℓ has no maximum.
      The residual is then 0, ``log_likelihood`` infinite, and the others, to a millionth of the total variance, their
      limits as the residual goes to 0: those of the ANOVA if the data are complete. Constant data have variances 0.
      A handful of observations can have a maximum with a residual of 0; the others then have it at 0.0001 of the total.
    - Data that leave F singular say nothing of some variance, or cannot tell some apart, and are refused:
      one assessor in every cell, for example, hides system × query in the residual.
    - ``converged`` is False where 200 steps were not enough.

    It takes a few inverses as large as the systems, or systems x assessors where these are crossed, and time linear in
    queries. ℓ counts constants as lme4 does, and estimates agree with its ``lmer``.

    Patterson, H. D., Thompson, R. Recovery of Inter-Block Information when Block Sizes Are Unequal. Biometrika 58(3),
    1971. doi:10.1093/biomet/58.3.545
    """
    observed = ~np.isnan(values)
    n = int(observed.sum())
    if values.ndim != (3 if design.has_assessors else 2):
        wanted = "queries x systems x assessors" if design.has_assessors else "queries x systems"
        raise AdjudgeError(f"REML: {design} expects {wanted}, got an array of {values.ndim} dimensions")
    if n < 2:
        raise NotEnoughDataError(f"REML: expected at least 2 observations, got {n}")
    mean, scale = float(values[observed].mean()), float(values[observed].std())
    if scale <= 1e-14 * abs(mean):
        zeros = np.zeros((len(design.effects),) * 2)
        return RemlFit(design, zeros.sum(axis=0), zeros, np.inf, mean, n, True)
    top = _maximise(_model((values - mean) / scale, design))
    variances = top.point.variances * scale**2
    variances[-1] *= not top.exact
    likelihood = np.inf if top.unbounded else top.point.log_likelihood - (n - 1) * np.log(scale)
    covariance = _covariance(top) * scale**4
    return RemlFit(design, variances, covariance, float(likelihood), mean + scale * top.point.mean, n, top.converged)


@dataclass(frozen=True, eq=False)
class _Model:
    """Observations (0 where empty), where they are, and the design; all queries x systems x assessors."""

    y: Floats
    mask: Floats
    design: Design
    crossed: bool  # an assessor is the same person on all queries

    def fold(self, array: Numbers, axis: int) -> Numbers:
        """From systems x assessors to the levels that queries share: those, or systems alone."""
        return array if self.crossed else array.sum(axis=axis, keepdims=True)


def _model(values: Floats, design: Design) -> _Model:
    cube = values[:, :, None] if values.ndim == 2 else values
    cube = cube[~np.isnan(cube).all(axis=(1, 2))]
    missing = np.isnan(cube)
    crossed = any("a" in effect.facets and "q" not in effect.facets for effect in design.effects)
    return _Model(np.where(missing, 0.0, cube), (~missing).astype(float), design, crossed)


@dataclass(frozen=True, eq=False)
class _Blocks:
    """W⁻¹, the covariance that observations of one query have through q, qa, sq and the residual; a block per query.

    W = R⁻¹ - R⁻¹L local L'R⁻¹. R is what cells and residual give, R⁻¹x = (x - shrink Σ_a x) / σ²_e within a cell; L
    picks the assessors of the query, Z the levels that queries share (systems, or systems x assessors).
    """

    mask: Floats
    residual: Numbers  # σ²_e
    cell: Numbers  # q, s: σ²_e + n_qs σ²_sq
    shrink: Numbers  # q, s: σ²_sq / cell
    within: Numbers  # q, a, a: L'R⁻¹L
    cross: Numbers  # q, z, a: Z'R⁻¹L
    own: Numbers  # s, a, a: Z'R⁻¹Z of each system, which other systems do not enter
    inverse: Numbers  # q, a, a: (I + G L'R⁻¹L)⁻¹, G the covariance of assessors within the query
    local: Numbers  # q, a, a: (I + G L'R⁻¹L)⁻¹ G

    def apply(self, x: Numbers) -> Numbers:
        """Wx."""
        assessors = self._within_cells(x).sum(axis=1, keepdims=True) @ self.local.transpose(0, 2, 1)
        return self._within_cells(x - self.mask * assessors)

    def _within_cells(self, x: Numbers) -> Numbers:
        return np.asarray((x - self.mask * (self.shrink * x.sum(axis=2))[:, :, None]) / self.residual)


def _blocks(model: _Model, of: Mapping[str, Any]) -> _Blocks:
    mask, residual = model.mask, of["residual"]
    n_q, _, n_a = mask.shape
    cell = residual + mask.sum(axis=2) * of["sq"]
    shrink = of["sq"] / cell
    cross = mask[:, :, :, None] * (np.eye(n_a) - (shrink[:, :, None] * mask)[:, :, None, :]) / residual
    within = cross.sum(axis=1)
    covariance = of["q"] * np.ones((n_a, n_a)) + of["qa"] * np.eye(n_a)
    inverse = np.linalg.inv(np.eye(n_a) + covariance @ within)
    cross = model.fold(cross, 2)
    own = model.fold(cross.sum(axis=0), 2)
    cross = cross.reshape(n_q, -1, n_a)
    return _Blocks(mask, residual, cell, shrink, within, cross, own, inverse, inverse @ covariance)


@dataclass(frozen=True, eq=False)
class _Projection:
    """P = W - WZ shared Z'W, with the effects that queries share and the mean put in by Woodbury's identity."""

    blocks: _Blocks
    between: Numbers  # z, z: Z'WZ
    inverse: Numbers  # z, z: (I + G Z'WZ)⁻¹, G the covariance of the levels that queries share
    lead: Numbers  # z: (I + G Z'WZ)⁻¹ 1, so that V⁻¹1 = WZ lead
    weight: Numbers  # 1'V⁻¹1
    shared: Numbers  # z, z: (I + G Z'WZ)⁻¹ G + lead lead' / weight


def _projection(model: _Model, variances: Numbers) -> _Projection:
    """P at these variances, from the inside out: cells, then assessors within queries, then what queries share."""
    effects = model.design.effects
    of: dict[str, Any] = dict.fromkeys(("s", "q", "a", "sq", "sa", "qa"), 0.0)
    of |= {effect.facets: variances[i] for i, effect in enumerate(effects[:-1])} | {"residual": variances[-1]}
    blocks = _blocks(model, of)
    n_s, wide, _ = blocks.own.shape
    between = -_across(blocks.cross @ blocks.local) @ _across(blocks.cross).T
    between.reshape(n_s, wide, n_s, wide)[np.arange(n_s), :, np.arange(n_s), :] += blocks.own
    covariance = np.kron(np.eye(n_s), of["s"] * np.ones((wide, wide)) + of["sa"] * np.eye(wide))
    covariance = covariance + np.kron(np.ones((n_s, n_s)), of["a"] * np.eye(wide))
    inverse = np.linalg.inv(np.eye(n_s * wide) + covariance @ between)
    lead = inverse.sum(axis=1)
    weight = between.sum(axis=0) @ lead
    return _Projection(blocks, between, inverse, lead, weight, inverse @ covariance + np.outer(lead, lead) / weight)


def _across(stack: Numbers) -> Numbers:
    """From one matrix per query to a single one, side by side."""
    return stack.transpose(1, 0, 2).reshape(stack.shape[1], -1)


def _traces(model: _Model, variances: Numbers, p: _Projection) -> Numbers:
    """Traces tr PV_i of every effect; that of the residual follows from Σ σ²_i tr PV_i = tr PV = n - 1."""
    blocks = p.blocks
    n_s, wide, _ = blocks.own.shape
    n_q, n_z, n_a = blocks.cross.shape
    spread = (p.shared @ _across(blocks.cross)).reshape(n_z, n_q, n_a).transpose(1, 0, 2)
    inner = blocks.cross.transpose(0, 2, 1) @ spread
    ahead = p.between @ p.lead
    levels = (p.between @ p.inverse - np.outer(ahead, ahead) / p.weight).reshape(n_s, wide, n_s, wide)  # Z'PZ
    assessors = blocks.within @ blocks.inverse - blocks.inverse.transpose(0, 2, 1) @ inner @ blocks.inverse  # L'PL
    of = {
        "s": np.einsum("sasb->", levels),
        "a": np.einsum("sata->", levels),
        "sa": np.einsum("sasa->", levels),
        "q": assessors.sum(),
        "qa": np.einsum("qaa->", assessors),
        "sq": _cell_trace(model, p, spread.reshape(n_q, n_s, wide, n_a), inner),
    }
    traces = np.array([of[effect.facets] for effect in model.design.effects[:-1]])
    return np.append(traces, (model.mask.sum() - 1 - variances[:-1] @ traces) / variances[-1])


def _cell_trace(model: _Model, p: _Projection, spread: Numbers, inner: Numbers) -> Numbers:
    """Trace tr PV_sq: C has a column per cell, C'WZ = C'R⁻¹Z - C'R⁻¹L local L'R⁻¹Z, and C'R⁻¹ a system per row."""
    n_s, wide, _ = p.blocks.own.shape
    touch = model.mask / p.blocks.cell[:, :, None]  # q, s, a: C'R⁻¹L
    reach = touch @ p.blocks.local
    own = model.fold(touch, 2)  # q, s, a or 1: C'R⁻¹Z, its own system
    diagonal = p.shared.reshape(n_s, wide, n_s, wide)[np.arange(n_s), :, np.arange(n_s), :]
    through = (own.transpose(1, 0, 2) @ diagonal).transpose(1, 0, 2) - 2 * np.einsum("qszb,qsb->qsz", spread, reach)
    return np.asarray(touch.sum() - (reach * (touch + reach @ inner)).sum() - (through * own).sum())


@dataclass(frozen=True, eq=False)
class _Point:
    """The likelihood at some variances: its height, and y'PV_iPy."""

    variances: Floats
    projection: _Projection
    log_likelihood: float
    squares: Floats
    mean: float


def _point(model: _Model, variances: Floats) -> _Point:
    p = _projection(model, variances)
    blocks, mask = p.blocks, model.mask
    left, mean = _project(model, p, model.y)
    covered = variances[-1] * left + sum(v * total for v, total in zip(variances[:-1], _sums(model, left), strict=True))
    left = left + _project(model, p, mask * (model.y - mean - covered))[0]  # what rounding took: VPy is y - mean, or so
    inner = (mask.sum(axis=2) - 1) * np.log(blocks.residual) + np.log(blocks.cell)  # log |R| of each cell
    outer = np.linalg.slogdet(blocks.inverse)[1].sum() + np.linalg.slogdet(p.inverse)[1] - np.log(p.weight)
    log_determinant = inner[mask.any(axis=2)].sum() - outer + (mask.sum() - 1) * np.log(2 * np.pi)
    height = -0.5 * (log_determinant + (model.y * left).sum())
    squares = np.array([(part**2).sum() for part in [*_sums(model, left), left]])
    return _Point(variances, p, float(height), squares, mean)


def _project(model: _Model, p: _Projection, x: Floats) -> tuple[Floats, float]:
    """Px, and the mean that generalised least squares gives x."""
    n_s, wide, _ = p.blocks.own.shape
    right = model.fold(p.blocks.apply(x).sum(axis=0), 1).ravel()  # Z'Wx
    left: Floats = p.blocks.apply(x - model.mask * (p.shared @ right).reshape(1, n_s, wide))
    return left, float(p.lead @ right / p.weight)


def _sums(model: _Model, x: Floats) -> list[Floats]:
    """Z_i'x of every effect but the residual."""
    return [
        x.sum(axis=tuple(axis for facet, axis in _AXES.items() if facet not in effect.facets), keepdims=True)
        for effect in model.design.effects[:-1]
    ]


def _information(model: _Model, variances: Floats) -> Floats:
    """F_ij = ½ tr PV_iPV_j = -½ ∂ tr PV_i / ∂σ²_j, by complex steps: exact to rounding, even where σ²_j is 0."""
    moved = variances + 1j * _COMPLEX_STEP * np.eye(len(variances))
    slopes = np.stack([_traces(model, there, _projection(model, there)).imag for there in moved])
    return np.asarray(-0.25 * (slopes + slopes.T) / _COMPLEX_STEP)


@dataclass(frozen=True, eq=False)
class _Top:
    """A maximum of the likelihood, and the information there."""

    point: _Point
    information: Floats
    converged: bool
    exact: bool  # the residual is 0, as low as it may be
    unbounded: bool  # and that in spite of its degrees of freedom, σ²_e tr PV_e: the likelihood rises for ever


def _maximise(model: _Model) -> _Top:
    """The highest of the tops that several starts lead to; with more than a few data there is one, and one start."""
    k = len(model.design.effects)
    starts = [np.full(k, 1 / k)]
    if model.mask.sum() <= _FEW:
        starts += [np.where(np.arange(k) == i, 0.9, 0.1 / (k - 1)) for i in range(k)]
    _check_identifiable(_information(model, starts[0]), model.design)
    top = max((_ascend(model, start, _FLOOR) for start in starts), key=lambda top: top.point.log_likelihood)
    lower = _ascend(model, top.point.variances, _LOWEST) if top.unbounded else top
    return lower if lower.converged and _decomposed(lower.information)[1][0] > _IDENTIFIABLE else top


def _ascend(model: _Model, start: Floats, floor: float) -> _Top:
    """To the top of the likelihood by scoring."""
    point, converged = _point(model, start), False
    information = _information(model, start)
    for _ in range(_MOST_STEPS):
        traces = _traces(model, point.variances, point.projection)
        slope = 0.5 * (point.squares - traces)
        step = _scoring_goal(point, slope, information, floor) - point.variances
        gain = float(slope @ step)
        higher = None if converged else _climb(model, point, step, gain)
        if higher is None:
            break
        point, converged = higher, gain <= _DECREMENT
        information = _information(model, point.variances)
    exact = bool(point.variances[-1] <= floor)
    unbounded = exact and bool(point.variances[-1] * traces[-1] > 0.5)
    return _Top(point, information, converged or gain <= _ROUNDING, exact, unbounded)


def _scoring_goal(point: _Point, slope: Floats, information: Floats, floor: float) -> Floats:
    """The v >= 0 that minimises ½ v'Fv - ½ v'squares; the residual falls to a hundredth at most, and never to 0."""
    from scipy.optimize import nnls

    goal = np.zeros(len(information))
    goal[-1] = max(floor, 0.01 * point.variances[-1])
    free = slice(-1 if point.variances[-1] <= floor and slope[-1] <= 0 else None)
    right = (0.5 * point.squares - information @ goal)[free]
    scale, eigenvalues, vectors = _decomposed(information[free, free])
    root = np.sqrt(eigenvalues)[:, None] * vectors.T
    solution, _ = nnls(root, (vectors.T @ (scale * right)) / np.sqrt(eigenvalues))
    goal[free] += scale * solution
    return goal


def _decomposed(information: Floats) -> tuple[Floats, Floats, Floats]:
    """Scales that make the diagonal of F 1, then its eigenvalues (above 0 in spite of rounding) and eigenvectors."""
    diagonal = np.diag(information)
    scale = 1 / np.sqrt(np.maximum(diagonal, 1e-12 * diagonal.max()))
    eigenvalues, vectors = np.linalg.eigh(information * np.outer(scale, scale))
    return scale, np.maximum(eigenvalues, 1e-12), vectors


def _climb(model: _Model, point: _Point, step: Floats, gain: float) -> _Point | None:
    """Along the step, as far as it raises the likelihood by a good part of what its slope promises."""
    length = 1.0
    for _ in range(30):
        there = _point(model, point.variances + length * step)
        rise = there.log_likelihood - point.log_likelihood
        if gain <= _DECREMENT or rise >= 0.25 * length * gain:
            return there
        length *= float(np.clip(0.5 * length * gain / (length * gain - rise), 0.1, 0.7))  # the top of a parabola
    return None


def _covariance(top: _Top) -> Floats:
    """F⁻¹; a residual of 0 is taken as known."""
    covariance = np.zeros_like(top.information)
    free = slice(-1 if top.exact else None)
    scale, eigenvalues, vectors = _decomposed(top.information[free, free])
    root = scale[:, None] * vectors / np.sqrt(eigenvalues)
    covariance[free, free] = root @ root.T
    return covariance


def _check_identifiable(information: Floats, design: Design) -> None:
    """F is singular for some variances only if it is for all: then V_i, seen through P, are linearly dependent."""
    names = [effect.name for effect in design.effects]
    unseen = [name for name, seen in zip(names, np.diag(information), strict=True) if seen < _IDENTIFIABLE]
    if unseen:
        raise AdjudgeError(f"REML: these data say nothing of the variance of {', '.join(unseen)}")
    _, eigenvalues, vectors = _decomposed(information)
    null = vectors[:, eigenvalues < _IDENTIFIABLE]
    together = np.abs(null @ null.T) > 1e-6
    groups = sorted({tuple(np.flatnonzero(row)) for row in together if row.any()})
    if groups:
        listed = "; of ".join(" and ".join(names[i] for i in group) for group in groups)
        raise AdjudgeError(f"REML: these data cannot tell apart the variances of {listed}")
