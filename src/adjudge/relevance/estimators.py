"""The published estimators of relevance, pairs independent: uniform, prior, output (M_out), judgments (M_jud).

Urbano, J., Evaluation in Audio Music Similarity, PhD thesis, Universidad Carlos III de Madrid, 2013, chapters 7 and 8.
Urbano, J. and Schedl, M., Towards minimal test collections for evaluation of audio music similarity and retrieval,
WWW 2012 Companion (AdMIRe), doi:10.1145/2187980.2188223.
"""

from __future__ import annotations

from typing import Literal, TypedDict

import numpy as np

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError, warn
from adjudge.model.scales import Scale
from adjudge.relevance.base import estimator
from adjudge.relevance.candidates import Candidates
from adjudge.relevance.features import Evidence
from adjudge.relevance.fitting import FittedModel
from adjudge.relevance.independent import Estimate, IndependentModel
from adjudge.relevance.kriging import SoundCorrection
from adjudge.relevance.levels import uniform_moments
from adjudge.relevance.scoring import Scoring
from adjudge.relevance.table_a_1 import PUBLISHED_SCALES, published_model

REFRESH = 20
"""After how many judgments estimates are made again (T 8.3)."""
HISTORICAL = {"broad": (0.8959, 0.6338), "fine": (43.41, 900.4)}
"""Mean and variance of grades in MIREX 2007, 2009, 2010 and 2011 (T 7.2.1)."""


@estimator("uniform")
def uniform(candidates: Candidates, scoring: Scoring, *, sound: bool = True) -> IndependentModel:
    """Every grade of the scale is as likely, whatever was judged (AdMIRe 2012).

    Where the candidates have a similarity, estimates of this and of all estimators below are corrected by the ``sound``
    of what was judged (:mod:`~adjudge.relevance.kriging`).

    >>> import adjudge as aj
    >>> from adjudge.relevance.candidates import candidates
    >>> from adjudge.relevance.scoring import scoring
    >>> found = candidates(aj.demo(depth=5), cutoff=5)
    >>> uniform(found, scoring("CG@5", found.scale)).scores().mean.round(2)[:2].tolist()
    [0.5, 0.5]
    """
    estimate = _fixed(candidates, *uniform_moments(candidates.scale))
    return IndependentModel(candidates, scoring, estimate, **_heard(candidates, sound=sound))


@estimator("prior")
def prior(
    candidates: Candidates,
    scoring: Scoring,
    *,
    mean: float | None = None,
    variance: float | None = None,
    from_judgments: bool = False,
    strength: float = 10.0,
    refresh: int = REFRESH,
    sound: bool = True,
) -> IndependentModel:
    """The same mean and variance for all pairs: historical, given, or learned from the judgments so far.

    ``mean`` and ``variance`` are of grades; without them those of MIREX 2007-2011 for Broad (.8959, .6338) and Fine
    (43.41, 900.4). With ``from_judgments``, and on other scales in any case, they are re-estimated every ``refresh``
    judgments: moments of what was judged mixed with the first ones, which count as ``strength`` judgments (uniform ones
    where there are no others).
    Documents judged because they were thought telling are no random sample, and neither is what is learned from them.
    """
    first = _prior_moments(candidates.scale, mean, variance)
    if not 0 < strength < np.inf:
        raise AdjudgeError(f"prior: 'strength' must be above 0, got {strength}")
    df = _degrees(candidates)
    if not from_judgments and (mean is not None or candidates.scale.name in HISTORICAL):
        heard = _heard(candidates, sound=sound)
        return IndependentModel(candidates, scoring, _fixed(candidates, *first), confidence_df=df, **heard)
    estimate, heard = _learned(candidates, *first, strength), _heard(candidates, sound=sound, refresh=refresh)
    return IndependentModel(candidates, scoring, estimate, confidence_df=df, **heard)


@estimator("output")
def output(
    candidates: Candidates, scoring: Scoring, *, model: FittedModel | None = None, sound: bool = True
) -> IndependentModel:
    """M_out: relevance from runs and metadata alone, so that systems can be ranked with no judgments at all (T 7.3).

    Table A.1 for the scales Broad and Fine; on any other give a ``model`` fitted with
    :func:`~adjudge.relevance.fitting.fit_estimator`. Documents without the metadata that it needs get the uniform
    prior.
    """
    chosen = model or _published("output", candidates.scale, "output")
    mean, variance = _with_default(Evidence(candidates), chosen, aloud=True)
    df, heard = _degrees(candidates), _heard(candidates, sound=sound)
    return IndependentModel(candidates, scoring, lambda relevance: (mean, variance), confidence_df=df, **heard)


@estimator("judgments")
def judgments(
    candidates: Candidates,
    scoring: Scoring,
    *,
    model: FittedModel | None = None,
    first: FittedModel | None = None,
    refresh: int = REFRESH,
    sound: bool = True,
) -> IndependentModel:
    """M_jud where its features are defined (something judged of the artist, and of the systems), M_out before (T 7.3).

    Estimates are made again every ``refresh`` judgments. Table A.1 for the scales Broad and Fine; on any other give
    fitted models: ``model`` with judgments among its features, ``first`` for pairs where those are not defined. Where
    ``first`` has no estimate either, or there is none for the scale, pairs get the uniform prior.
    """
    second = model or _published("judgments", candidates.scale, "judgments")
    if first is None and candidates.scale.name in PUBLISHED_SCALES:
        first = published_model(candidates.scale.name, "output")
    evidence = Evidence(candidates)
    mean, variance = _with_default(evidence, first)

    def estimate(relevance: Floats) -> tuple[Floats, Floats]:
        expected, spread = second.estimate(evidence, relevance)
        return np.where(np.isnan(expected), mean, expected), np.where(np.isnan(expected), variance, spread)

    df, heard = _degrees(candidates), _heard(candidates, sound=sound, refresh=refresh)
    return IndependentModel(candidates, scoring, estimate, confidence_df=df, **heard)


class _Heard(TypedDict):
    refresh: int | None
    sound: SoundCorrection | None


def _heard(candidates: Candidates, *, sound: bool, refresh: int | None = None) -> _Heard:
    """How often to estimate, and what sound corrects, where there is any: what it is worth has to be learned."""
    if not sound or candidates.similarity is None:
        return {"refresh": refresh, "sound": None}
    return {"refresh": refresh or REFRESH, "sound": SoundCorrection(candidates)}


def _degrees(candidates: Candidates) -> int | None:
    """Degrees of freedom of the thesis; a single query has none, so the normal distribution."""
    return candidates.n_queries - 1 if candidates.n_queries > 1 else None


def _fixed(candidates: Candidates, mean: float, variance: float) -> Estimate:
    n = len(candidates)
    return lambda relevance: (np.full(n, mean), np.full(n, variance))


def _learned(candidates: Candidates, mean: float, variance: float, strength: float) -> Estimate:
    """First and second moment of what is judged, mixed with the prior's, which weighs as ``strength`` judgments."""

    def estimate(relevance: Floats) -> tuple[Floats, Floats]:
        seen = relevance[~np.isnan(relevance)]
        n = strength + len(seen)
        centre = (strength * mean + seen.sum()) / n
        spread = (strength * (variance + (mean - centre) ** 2) + ((seen - centre) ** 2).sum()) / n
        return np.full(len(candidates), centre), np.full(len(candidates), spread)

    return estimate


def _prior_moments(scale: Scale, mean: float | None, variance: float | None) -> tuple[float, float]:
    """Mean and variance of relevance to begin with."""
    if (mean is None) != (variance is None):
        raise AdjudgeError("prior: expected both 'mean' and 'variance', or neither.")
    if mean is None or variance is None:
        if scale.name not in HISTORICAL:
            return uniform_moments(scale)
        mean, variance = HISTORICAL[scale.name]
    if not 0 <= mean <= scale.maximum:
        raise AdjudgeError(f"prior: 'mean' must be a grade on the scale {scale}, got {mean:g}")
    if not 0 <= variance <= mean * (scale.maximum - mean):
        limit = mean * (scale.maximum - mean)
        raise AdjudgeError(f"prior: 'variance' must be from 0 to {limit:g} for that mean, got {variance:g}")
    return mean / scale.maximum, variance / scale.maximum**2


def _published(name: str, scale: Scale, kind: Literal["output", "judgments"]) -> FittedModel:
    if scale.name not in PUBLISHED_SCALES:
        raise AdjudgeError(
            f"{name}: Table A.1 has models for the scales {' and '.join(PUBLISHED_SCALES)}, not for {scale}; "
            "fit your own with fit_estimator and give it as 'model'."
        )
    return published_model(scale.name, kind)


def _with_default(evidence: Evidence, model: FittedModel | None, *, aloud: bool = False) -> tuple[Floats, Floats]:
    """Moments by a model, uniform ones where it has none; ``aloud`` says so where it has none at all."""
    mean, variance = uniform_moments(evidence.candidates.scale)
    n = len(evidence.candidates)
    if model is None:
        return np.full(n, mean), np.full(n, variance)
    expected, spread = model.estimate(evidence, np.full(n, np.nan))
    blank = np.isnan(expected)
    if aloud and blank.all():
        warn(
            "No document has the metadata that the model needs: every estimate is the uniform prior.",
            stacklevel=4,
        )
    return np.where(blank, mean, expected), np.where(blank, variance, spread)
