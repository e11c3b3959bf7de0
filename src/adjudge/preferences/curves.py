"""Curves through what people answered: P(Sat | λ) and P(Agr | |Δλ|) for one measure on one scale.

Which family, and why. The cubic of eq 4.3 is what the thesis publishes; it may fall, and leave [0, 1]. ``bounded`` (see
:mod:`adjudge.users.satisfaction_curves`) never does either, has P(Sat | 0) and P(Sat | 1) among its parameters, which
is what the bias at the endpoints asks for, and predicts answers that it has not seen as well as any. Mean
log-likelihood per tie, 10 folds by query, 884 ties of the 2012 study, mean over CG, DCG, Q, RBP and GAP on Broad and
Fine and over five ways to make the folds (seeds 0 to 4), and the most that a family is behind the best on any of the
ten; by pairs, which is the default, and by lists, as the thesis does it
(see :mod:`adjudge.preferences.evidence`):

============== ========== ============== ========== ==============
family         by pairs   most behind    by lists   most behind
============== ========== ============== ========== ==============
bounded        -0.5477    0.0019         -0.6241    0.0012
cubic          -0.5476    0.0054         -0.6244    0.0023
psychometric   -0.5480    0.0027         -0.6245    0.0017
logistic       -0.5520    0.0110         -0.6256    0.0055
============== ========== ============== ========== ==============

(The cubic clipped to [.01, .99]. From one way to make the folds to another all of them move by up to .003 together, and
the first three change places: only the logistic curve is behind for certain.) So ``bounded`` is the default, and
``cubic`` is there for fidelity. For agreement ``two-stage`` is the default for the same reasons (see
scripts/fit_agreement.py).

The cubic is fitted by least squares to the shares of the bins at their centres, each bin weighted by the number of
lists (or pairs) in it. By lists it then lies, on the 2012 answers, .060 to .077 RMS from Table 4.3, whose 4,050 lists
are others, over the lists of the study, for all ten combinations; on an even grid over [0, 1] .060 to .067 for Broad
and .083 to .109 for Fine, which has 4 to 11 lists above .9. Bins elsewhere: at their mean λ .056 to .084 over the
lists, at their lower ends .042 to .081; spread evenly from 0 to 1 .069 to .083 on the even grid. The thesis does not
say where its bins stand, and none of these is plainly the one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adjudge.arrays import Floats
from adjudge.checks import check_whole
from adjudge.errors import AdjudgeError
from adjudge.preferences.evidence import Evidence
from adjudge.preferences.prediction import n_folds
from adjudge.users.agreement import AgreementMapping
from adjudge.users.agreement_fit import fit_agreement
from adjudge.users.likelihood import rows_of
from adjudge.users.satisfaction import SatisfactionMapping
from adjudge.users.satisfaction_curves import MONOTONE
from adjudge.users.satisfaction_fit import Place, fit_satisfaction, held_out_satisfaction

DEFAULT_KIND, DEFAULT_FORM = "bounded", "two-stage"
KINDS = ("cubic", *MONOTONE)
"""Kinds of satisfaction curves that can be fitted."""

Facts = tuple[tuple[str, str], ...]


def satisfaction_curve(
    seen: Evidence,
    *,
    kind: str = DEFAULT_KIND,
    bins: int = 10,
    place: Place = "centre",
    source: str = "",
    provenance: Facts = (),
) -> SatisfactionMapping:
    """P(Sat | λ) fitted to the ties, with the covariance of its coefficients by clusters.

    ``bins``, and where they stand (``place``), matter to the cubic only.
    """
    fit = fit_satisfaction(seen.lists, seen.good, kind=kind, clusters=seen.list_clusters, bins=bins, place=place)
    return fit.mapping(seen.measure, seen.scale, source=source, provenance=provenance)


def agreement_curve(
    seen: Evidence, *, form: str = DEFAULT_FORM, source: str = "", provenance: Facts = ()
) -> AgreementMapping:
    """P(Agr | |Δλ|) fitted to all counted answers, with the covariance of its parameters by clusters.

    Answers about differences of one size alone say nothing of other sizes, and are refused.
    """
    if not has_several_sizes(seen.delta):
        raise AdjudgeError(
            f"{seen.measure} on {seen.scale}: expected differences of two sizes or more, got {seen.sizes[0]:g} alone"
        )
    fit = fit_agreement(seen.delta, seen.prefers, form=form, clusters=seen.clusters)
    return AgreementMapping(
        seen.measure,
        seen.scale,
        form,
        tuple(fit.parameters.tolist()),
        rows_of(fit.covariance),
        source,
        provenance,
    )


def has_several_sizes(delta: Floats) -> bool:
    """Whether there are differences of more than one size: a curve through one point could be any.

    >>> has_several_sizes(np.array([0.5, -0.5])), has_several_sizes(np.array([0.0, 0.5]))
    (False, True)
    """
    return len(np.unique(np.abs(delta))) > 1


def compare_kinds(
    seen: Evidence, *, kinds: Sequence[str] = KINDS, bins: int = 10, folds: int | None = None, seed: int = 0
) -> dict[str, float]:
    """Mean log-likelihood per tie of each kind of satisfaction curve, on queries (and people) that it has not seen.

    ``bins`` matter to the cubic only.
    """
    shared: dict[str, Any] = {"clusters": seen.list_clusters, "bins": check_whole("bins", bins, 1), "seed": seed}
    shared["folds"] = n_folds(folds, len(seen.list_clusters))

    def mean(kind: str) -> float:
        return float(held_out_satisfaction(seen.lists, seen.good, kind=kind, **shared).mean())

    return {kind: mean(kind) for kind in kinds}


def distance(one: SatisfactionMapping, other: SatisfactionMapping, at: Floats) -> float:
    """Root mean square of the difference between two curves over some effectiveness.

    >>> flat, steep = (SatisfactionMapping("CG@5", "fine", "cubic", (a, 0.0, 0.0, 0.0)) for a in (0.2, 0.5))
    >>> round(distance(flat, steep, np.linspace(0, 1, 11)), 3)
    0.3
    """
    return float(np.sqrt(np.mean((one(at) - other(at)) ** 2)))
