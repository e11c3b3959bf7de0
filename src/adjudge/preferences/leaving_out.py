"""Curves of everybody but one: fitted again without each participant, many of them at once.

Answers count by effectiveness (or its difference) and what was answered, which is all that a curve sees. So the counts
without a participant are those of all minus theirs, and steps from the curve of all are taken for many participants
together. What comes out is the maximum of the likelihood of the others, as ``fit_agreement`` and ``fit_satisfaction``
find it, not an approximation to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.users.agreement import FORMS, noticeable_differences
from adjudge.users.agreement_fit import fit_agreement
from adjudge.users.likelihood import TINY

_STEP = 1e-5  # of numerical derivatives
_STEPS = 200
_ENOUGH, _CLOSE = 1e-10, 1e-7  # log-likelihood still to be gained, and how far parameters still move, at the end
_STUCK = 1e9  # damping beyond which nothing moves
_CELLS = 2_000_000  # numbers in memory for one part of the participants
_AT_ONCE = 64


@dataclass(frozen=True)
class CurvesWithout:
    """Parameters and log-likelihood of the curve of all, and of the curve without each participant.

    ``own`` is the mean log-likelihood of each participant's own answers under the curve of the others, NaN where they
    have none.
    """

    form: str
    parameters: Floats
    log_likelihood: float
    parameters_without: Floats
    log_likelihood_without: Floats
    own: Floats

    def noticeable(self, level: float = 0.5) -> tuple[float, Floats]:
        """The difference that more than ``level`` of the people notice: of all, and without each; NaN where none."""
        both = np.concatenate([self.parameters[None], self.parameters_without])
        found = noticeable_differences(FORMS[self.form], both, level=level)
        return float(found[0]), found[1:]


def curves_without(
    delta: Floats, answer: Ints, participant: Ints, n_participants: int, *, form: str = "two-stage"
) -> CurvesWithout:
    """Fit the agreement curve of all answers, then that without each participant.

    ``delta`` and ``answer`` are as :func:`~adjudge.users.agreement_fit.fit_agreement` takes them, ``participant`` says
    whose each answer is. Where somebody gave no answers, or all of them, the curve of all stays.
    """
    fit = fit_agreement(delta, answer, form=form)
    family = FORMS[form]
    kind = np.where(answer == 0, 1, np.where((answer > 0) == (delta >= 0), 0, 2))

    def shares(sizes: Floats, parameters: Floats) -> Floats:
        agree, disagree = family.function(sizes[None, :], *(column[:, None] for column in parameters.T))
        return np.stack([agree, 1.0 - agree - disagree, disagree], axis=-1)

    curves = _Curves(shares, np.array(family.lowest), np.array(family.highest), 3)
    found, total, own = _leave_out(curves, np.abs(delta), kind, participant, n=n_participants, start=fit.parameters)
    total[np.isnan(total)] = fit.log_likelihood
    return CurvesWithout(form, fit.parameters, fit.log_likelihood, found, total, own)


def satisfaction_without(
    effectiveness: Floats, satisfied: Ints, participant: Ints, n_participants: int, *, kind: str = "bounded"
) -> tuple[Floats, Floats]:
    """Parameters of the satisfaction curve of all ties or lists, and of that without each participant.

    ``effectiveness`` and ``satisfied`` are as :func:`~adjudge.users.satisfaction_fit.fit_satisfaction` takes them.
    With pairs the weight of the better list is the last parameter.
    """
    from adjudge.users.satisfaction_curves import MONOTONE
    from adjudge.users.satisfaction_fit import fit_satisfaction, satisfaction_model

    family = MONOTONE[kind]
    fit = fit_satisfaction(effectiveness, satisfied, kind=kind)

    def shares(values: Floats, parameters: Floats) -> Floats:
        columns = [column[:, None] for column in parameters.T]
        at = values[None, :]
        if values.ndim > 1:
            weight = columns.pop()
            at = weight * values[:, 1] + (1.0 - weight) * values[:, 0]
        good = family.function(at, *columns)
        return np.stack([1.0 - good, good], axis=-1)

    model = satisfaction_model(kind, pairs=fit.weight is not None)
    curves = _Curves(shares, np.array(model.lowest), np.array(model.highest), 2, half_at_ends=True)
    values = np.clip(effectiveness, 0.0, 1.0)
    if values.ndim > 1:
        values = np.sort(values, axis=1)
    found, _, _ = _leave_out(curves, values, satisfied, participant, n=n_participants, start=fit.parameters)
    return fit.parameters, found


@dataclass(frozen=True)
class _Curves:
    """Many curves of one family: (values, parameters of each) -> curves x values x outcomes.

    ``half_at_ends``: each fit also sees half an answer of every outcome at 0 and at 1 (a quarter with pairs), as
    ``fit_satisfaction`` does.
    """

    shares: Callable[[Floats, Floats], Floats]
    lowest: Floats
    highest: Floats
    outcomes: int
    half_at_ends: bool = False


def _leave_out(
    curves: _Curves, x: Floats, outcome: Ints, participant: Ints, *, n: int, start: Floats
) -> tuple[Floats, Floats, Floats]:
    """Parameters and log-likelihood without each participant, and the mean log-likelihood of their own answers."""
    ends = np.broadcast_to([0.0, 1.0], (*x.shape[1:], 2)).T if curves.half_at_ends else x[:0]
    values, place = np.unique(np.concatenate([x, ends]), axis=0, return_inverse=True)
    place = place.ravel()[: len(x)]
    n_cells = curves.outcomes * len(values)
    cell = place * curves.outcomes + outcome
    all_counts = np.bincount(cell, minlength=n_cells).astype(np.float64)
    parameters, likelihood, own_mean = np.tile(start, (n, 1)), np.full(n, np.nan), np.full(n, np.nan)
    given = np.bincount(participant, minlength=n)
    for some in _parts(np.flatnonzero((given > 0) & (given < len(x))), n_cells):
        own = _counts(cell, participant, some, n_cells)
        shape = len(some), len(values), curves.outcomes
        others = (all_counts - own).reshape(shape)
        seen = others.copy()
        if curves.half_at_ends:
            seen[:, [0, -1]] += 0.5 / x.ndim
        parameters[some] = _maxima(curves, values, seen, np.tile(start, (len(some), 1)))
        logs = np.log(np.maximum(curves.shares(values, parameters[some]), TINY))
        likelihood[some] = (others * logs).sum(axis=(1, 2))
        own_mean[some] = (own.reshape(shape) * logs).sum(axis=(1, 2)) / given[some]
    return parameters, likelihood, own_mean


def _parts(places: Ints, n_cells: int) -> Iterator[Ints]:
    width = max(1, min(_AT_ONCE, _CELLS // n_cells))
    for start in range(0, len(places), width):
        yield places[start : start + width]


def _counts(cell: Ints, participant: Ints, some: Ints, n_cells: int) -> Floats:
    """How often each of some participants gave each answer at each value: participants x cells."""
    place = np.full(int(participant.max()) + 1, -1)
    place[some] = np.arange(len(some))
    row = place[participant]
    inside = row >= 0
    flat = np.bincount(row[inside] * n_cells + cell[inside], minlength=len(some) * n_cells)
    return flat.reshape(len(some), n_cells).astype(np.float64)


def _maxima(curves: _Curves, values: Floats, counts: Floats, start: Floats) -> Floats:
    """Fisher scoring for all curves at once, each with its own damping; parameters stay within their bounds."""

    def total(parameters: Floats, rows: Ints) -> Floats:
        shares = np.maximum(curves.shares(values, parameters), TINY)
        found: Floats = (counts[rows] * np.log(shares)).sum(axis=(1, 2))
        return found

    at, damping = start.copy(), np.full(len(start), 1e-9)
    best = total(at, np.arange(len(at)))
    rows = np.arange(len(at))
    for _ in range(_STEPS):
        step = _scoring(curves, values, counts[rows], at[rows], damping[rows])
        tried = np.clip(at[rows] + step, curves.lowest, curves.highest)
        reached = total(tried, rows)
        good = reached >= best[rows]
        done = good & (reached - best[rows] <= _ENOUGH) & (np.abs(tried - at[rows]).max(axis=1) < _CLOSE)
        at[rows[good]], best[rows[good]] = tried[good], reached[good]
        damping[rows] = np.where(good, np.maximum(damping[rows] / 10, 1e-9), damping[rows] * 10)
        rows = rows[~done & (damping[rows] < _STUCK)]
        if not len(rows):
            break
    return at


def _scoring(curves: _Curves, values: Floats, counts: Floats, at: Floats, damping: Floats) -> Floats:
    """A step of each curve: (I + μ diag I)⁻¹ s, without the parameters that their bounds hold."""
    shares = np.maximum(curves.shares(values, at), TINY)
    widths = _STEP * np.maximum(1.0, np.abs(at))
    slopes = np.empty((at.shape[1], *shares.shape))
    for i, move in enumerate(np.eye(at.shape[1])):
        ahead, behind = (curves.shares(values, at + sign * widths * move) for sign in (1.0, -1.0))
        slopes[i] = (ahead - behind) / (2 * widths[:, i, None, None])
    score = np.einsum("igvk,gvk->gi", slopes, counts / shares)
    weighted = slopes * np.sqrt(counts.sum(axis=2, keepdims=True) / shares)
    information = np.einsum("igvk,jgvk->gij", weighted, weighted)
    held = ((at <= curves.lowest) & (score < 0)) | ((at >= curves.highest) & (score > 0))
    information[held[:, :, None] | held[:, None, :]] = 0.0
    diagonal = np.einsum("gii->gi", information)
    diagonal += damping[:, None] * diagonal + 1e-12 * diagonal.max(axis=1, keepdims=True) + TINY + held
    step: Floats = np.linalg.solve(information, np.where(held, 0.0, score)[:, :, None])[:, :, 0]
    return step
