"""Fit agreement curves to answers by maximum likelihood, and compare families of them on answers they have not seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats, Ints
from adjudge.errors import AdjudgeError
from adjudge.users.agreement import FORMS
from adjudge.users.likelihood import (
    Data,
    Model,
    as_clusters,
    covariance,
    fewest,
    held_out_logs,
    log_shares,
    maximum,
    widened,
)

Given = npt.ArrayLike | Mapping[str, npt.ArrayLike] | None
"""Clusters: an array, or one a kind by name (query and participant)."""


@dataclass(frozen=True)
class AgreementFit:
    """A fitted curve; ``covariance`` is robust, answers of one cluster (a query, a person) counting as dependent.

    ``n_clusters`` counts those of the kind that has fewest.
    """

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


def agreement_model(form: str) -> Model:
    """A family of agreement curves as a model of three outcomes: agrees, cannot tell, disagrees."""
    family = FORMS[form]

    def shares(size: Floats, parameters: Floats) -> Floats:
        agree, disagree = family.function(size, *parameters)
        return np.stack([agree, 1.0 - agree - disagree, disagree], axis=1)

    return Model(shares, family.start, family.lowest, family.highest)


def agreement_data(delta: npt.ArrayLike, answer: npt.ArrayLike) -> Data:
    """Sizes of differences, and whether each answer agrees, cannot tell or disagrees.

    Where ``delta`` is 0 neither list is better, and every family of curves makes a preference for either as likely.
    """
    x, y = _checked(delta, answer)
    signed = np.where(x >= 0, y, -y)
    return Data(np.abs(x), 1 - signed)


def fit_agreement(
    delta: npt.ArrayLike,
    answer: npt.ArrayLike,
    *,
    form: str = "two-stage",
    clusters: Given = None,
    few_clusters: bool = True,
) -> AgreementFit:
    """Fit a family of curves to answers.

    ``delta`` is the effectiveness of the first list minus that of the second, ``answer`` 1 where the first was
    preferred, -1 where the second, 0 where neither. Where ``delta`` is 0 a preference for either is as likely.

    Maximum likelihood, then V = H⁻¹ M H⁻¹ with H the Hessian and M the spread of the scores between clusters, of one
    kind or of two that cross (see :mod:`adjudge.users.likelihood`; every answer a cluster of its own when none are
    given). ``few_clusters`` widens V so that 95 % bands are those of Student's t.

    >>> rng = np.random.default_rng(1)
    >>> delta = rng.uniform(-1, 1, 4000)
    >>> shares = FORMS["ordinal"](np.abs(delta), (4.0, 1.0))
    >>> draw = rng.random(4000)
    >>> better = np.where(draw < shares.agree, 1, np.where(draw > 1 - shares.disagree, -1, 0))
    >>> np.round(fit_agreement(delta, np.sign(delta) * better, form="ordinal").parameters, 1).tolist()
    [3.9, 1.0]
    """
    data, model = agreement_data(delta, answer), agreement_model(form)
    groups = as_clusters(clusters, len(data.x))
    parameters = maximum(model, data)
    spread = covariance(model, data, parameters, groups)
    return AgreementFit(
        form,
        parameters,
        widened(spread, groups) if few_clusters else spread,
        float(log_shares(model, data, parameters).sum()),
        len(data.x),
        fewest(groups, len(data.x)),
    )


def held_out(
    delta: npt.ArrayLike,
    answer: npt.ArrayLike,
    *,
    form: str,
    clusters: Given = None,
    folds: int = 10,
    seed: int = 0,
) -> Floats:
    """Log-likelihood of each answer under the curve fitted without its fold; clusters are never torn apart."""
    data = agreement_data(delta, answer)
    groups = as_clusters(clusters, len(data.x))
    return held_out_logs(agreement_model(form), data, groups, folds=folds, seed=seed)


def _checked(delta: npt.ArrayLike, answer: npt.ArrayLike) -> tuple[Floats, Ints]:
    x, y = np.asarray(delta, dtype=np.float64), np.asarray(answer, dtype=np.int64)
    if x.ndim != 1 or x.shape != y.shape or len(x) < 2:
        raise AdjudgeError(f"expected as many answers as differences, 2 or more, got {y.shape} and {x.shape}")
    if not bool((np.abs(x) <= 1).all()) or not bool(np.isin(y, (-1, 0, 1)).all()):
        raise AdjudgeError("expected differences in [-1, 1] and answers -1, 0 or 1")
    return x, y
