"""Fit agreement curves to answers by maximum likelihood, and compare families of them on answers they have not seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats, Ints, Mask
from adjudge.errors import AdjudgeError
from adjudge.users.agreement import FORMS

_TINY = 1e-12  # a probability of 0 for an answer that was given costs much, but not everything
_STEP = 1e-4


@dataclass(frozen=True)
class AgreementFit:
    """A fitted curve; ``covariance`` is robust, answers of one cluster (a query, a person) counting as dependent."""

    form: str
    parameters: Floats
    covariance: Floats
    log_likelihood: float
    n_answers: int
    n_clusters: int

    @property
    def aic(self) -> float:
        """Akaike's criterion, 2 (parameters - log-likelihood): lower is better."""
        return 2 * (len(self.parameters) - self.log_likelihood)

    def __str__(self) -> str:
        errors = np.sqrt(np.diag(self.covariance))
        names = FORMS[self.form].parameters
        shown = ", ".join(f"{n} {v:.4f} ± {e:.4f}" for n, v, e in zip(names, self.parameters, errors, strict=True))
        return f"{self.form}: {shown}; log-likelihood {self.log_likelihood:.2f}, AIC {self.aic:.2f}"


def fit_agreement(
    delta: npt.ArrayLike, answer: npt.ArrayLike, *, form: str = "two-stage", clusters: npt.ArrayLike | None = None
) -> AgreementFit:
    """Fit a family of curves to answers.

    ``delta`` is the effectiveness of the first list minus that of the second, ``answer`` 1 where the first was
    preferred, -1 where the second, 0 where neither. Where ``delta`` is 0 a preference for either is as likely.

    Maximum likelihood, then V = H⁻¹ (sum_c s_c s_c') H⁻¹ · C/(C-1) with H the Hessian and s_c the score of cluster c
    (White 1980; every answer a cluster of its own when none are given).

    >>> rng = np.random.default_rng(1)
    >>> delta = rng.uniform(-1, 1, 4000)
    >>> shares = FORMS["ordinal"](np.abs(delta), (4.0, 1.0))
    >>> draw = rng.random(4000)
    >>> better = np.where(draw < shares.agree, 1, np.where(draw > 1 - shares.disagree, -1, 0))
    >>> np.round(fit_agreement(delta, np.sign(delta) * better, form="ordinal").parameters, 1).tolist()
    [3.9, 1.0]
    """
    x, y, group = _checked(delta, answer, clusters)
    parameters = _maximum(form, x, y)
    step = _STEP * np.eye(len(parameters))
    scores = np.stack(
        [
            (_log_shares(form, x, y, parameters + d) - _log_shares(form, x, y, parameters - d)) / (2 * _STEP)
            for d in step
        ],
        axis=1,
    )
    n_clusters = int(group.max()) + 1
    sums = np.stack([np.bincount(group, weights=column, minlength=n_clusters) for column in scores.T], axis=1)
    bread = np.linalg.pinv(_hessian(form, x, y, parameters))
    covariance = bread @ (sums.T @ sums) @ bread * n_clusters / max(n_clusters - 1, 1)
    total = float(_log_shares(form, x, y, parameters).sum())
    return AgreementFit(form, parameters, (covariance + covariance.T) / 2, total, len(x), n_clusters)


def held_out(
    delta: npt.ArrayLike,
    answer: npt.ArrayLike,
    *,
    form: str,
    clusters: npt.ArrayLike | None = None,
    folds: int = 10,
    seed: int = 0,
) -> Floats:
    """Log-likelihood of each answer under the curve fitted without its fold; clusters are never torn apart."""
    x, y, group = _checked(delta, answer, clusters)
    seen: Floats = np.empty(len(x))
    for out in _folds(group, folds, np.random.default_rng(seed)):
        seen[out] = _log_shares(form, x[out], y[out], _maximum(form, x[~out], y[~out]))
    return seen


def _folds(group: Ints, folds: int, rng: np.random.Generator) -> Iterator[Mask]:
    fold = rng.permutation(int(group.max()) + 1) % folds
    for k in range(folds):
        yield fold[group] == k


def _checked(delta: npt.ArrayLike, answer: npt.ArrayLike, clusters: npt.ArrayLike | None) -> tuple[Floats, Ints, Ints]:
    x, y = np.asarray(delta, dtype=np.float64), np.asarray(answer, dtype=np.int64)
    if x.ndim != 1 or x.shape != y.shape or len(x) < 2:
        raise AdjudgeError(f"expected as many answers as differences, 2 or more, got {y.shape} and {x.shape}")
    if not bool((np.abs(x) <= 1).all()) or not bool(np.isin(y, (-1, 0, 1)).all()):
        raise AdjudgeError("expected differences in [-1, 1] and answers -1, 0 or 1")
    group = np.arange(len(x)) if clusters is None else np.unique(np.asarray(clusters), return_inverse=True)[1]
    return x, y, group.astype(np.int64)


def _log_shares(form: str, x: Floats, y: Ints, parameters: Floats) -> Floats:
    """Log-likelihood of every answer."""
    shares = FORMS[form](np.abs(x), parameters)
    with_sign = np.where(x >= 0, y, -y)
    given = np.select([with_sign == 1, with_sign == -1], [shares.agree, shares.disagree], shares.cannot_tell)
    logs: Floats = np.log(np.maximum(given, _TINY))
    return logs


def _maximum(form: str, x: Floats, y: Ints) -> Floats:
    """Parameters of the highest likelihood: a bounded search, then Newton's steps to all digits."""
    from scipy.optimize import minimize

    family = FORMS[form]
    bounds = np.stack([family.lowest, family.highest], axis=1)
    found = minimize(lambda p: -_log_shares(form, x, y, p).sum(), family.start, method="L-BFGS-B", bounds=bounds)
    parameters: Floats = np.asarray(found.x, dtype=np.float64)
    for _ in range(3):
        step = np.linalg.pinv(_hessian(form, x, y, parameters)) @ _gradient(form, x, y, parameters)
        better = np.clip(parameters - step, family.lowest, family.highest)
        if _log_shares(form, x, y, better).sum() >= _log_shares(form, x, y, parameters).sum():
            parameters = better
    return parameters


def _gradient(form: str, x: Floats, y: Ints, at: Floats) -> Floats:
    def total(p: Floats) -> float:
        return float(_log_shares(form, x, y, p).sum())

    return np.array([(total(at + d) - total(at - d)) / (2 * _STEP) for d in _STEP * np.eye(len(at))])


def _hessian(form: str, x: Floats, y: Ints, at: Floats) -> Floats:
    steps = 10 * _STEP * np.eye(len(at))
    columns = [(_gradient(form, x, y, at + d) - _gradient(form, x, y, at - d)) / (20 * _STEP) for d in steps]
    hessian = np.stack(columns)
    return (hessian + hessian.T) / 2
