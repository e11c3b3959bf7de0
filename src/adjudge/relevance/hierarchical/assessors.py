"""Assessors as instruments: what each of them adds to the relevance of a pair.

Where pairs have answers of several assessors, an answer is y_ia = r_i + λ_a + e_ia: λ_a ~ N(0, v_assessor) is how
lenient assessor a is, e_ia ~ N(0, σ_a²) noise, and r_i what assessors would say on average. That is what is estimated;
on a binary scale it is the probability that an assessor finds the document relevant. Where every pair has one answer
nothing tells noise from relevance: then a judgment is exact, as it is in a test collection.

λ_a are global effects that no pair has and every answer of a has. The answers to a pair are as good as one answer
z = Σ_a w_a y_a / W with noise 1/W, w_a = 1/σ_a² and W = Σ_a w_a, and contrasts between them that tell about λ alone.

Noise is a common one times a factor for each assessor, around 1. Both are learned with v_assessor and the variances of
effects. Before that σ² is as large as the residual: half of what grades of alike documents differ by is assessors who
disagree. Published agreement is no better: graders of music similarity limit what any system can reach (Flexer and
Grill 2016, doi:10.1080/09298215.2016.1200631), and two assessors of a TREC topic share less than half of what either of
them found relevant (Voorhees 2000, doi:10.1016/S0306-4573(00)00010-8).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.model.scales import Scale
from adjudge.relevance.candidates import Answers
from adjudge.relevance.features import uniform_moments

PANEL = ("assessor", "noise")
"""Variances of assessors: leniency and noise."""
_FINE = (0.005, 0.03)
_FINE_VARIANCE = 0.085
FACTOR_SD = 0.7
"""Standard deviation of the logarithm of an assessor's factor of the common noise, before any judgment."""


def panel_variances(scale: Scale, given: Mapping[str, float]) -> Floats:
    """Variances of leniency and noise: those given by name, else the defaults for the scale."""
    usual = uniform_moments(scale)[1] / _FINE_VARIANCE
    return np.array([given.get(name, usual * fine) for name, fine in zip(PANEL, _FINE, strict=True)])


@dataclass(frozen=True, eq=False)
class Panel:
    """Answers to pairs, the variance of leniency, and the noise of each assessor."""

    answers: Answers
    leniency: float
    noise: Floats

    def __len__(self) -> int:
        return len(self.answers.assessors)


@dataclass(frozen=True)
class Instrument:
    """What is believed of an assessor: leniency λ, and the noise σ² whose logarithm has standard deviation ``spread``.

    ``reliability`` is the share of relevance in the variance of what the assessor says, but for leniency.
    """

    assessor: str
    n_judged: int
    leniency: float
    leniency_sd: float
    noise: float
    spread: float
    reliability: float


@dataclass(frozen=True, eq=False)
class CombinedAnswers:
    """What was said of each judged pair (ascending), as one answer, and what contrasts tell about leniency.

    ``loading`` is pairs x assessors: how much of each λ is in the answer. ``noise`` is its variance.
    """

    pair: Ints
    relevance: Floats
    loading: Floats
    noise: Floats
    information: Floats
    towards: Floats

    @classmethod
    def exact(cls, pair: Ints, relevance: Floats) -> CombinedAnswers:
        """One exact answer per pair."""
        nobody = np.zeros((len(pair), 0))
        return cls(pair, relevance, nobody, np.zeros(len(pair)), np.zeros((0, 0)), np.zeros(0))

    @classmethod
    def of_panel(cls, panel: Panel) -> CombinedAnswers:
        """The answers of a panel."""
        answers = panel.answers
        pair, row = np.unique(answers.pair, return_inverse=True)
        weight = 1.0 / panel.noise[answers.assessor]
        total = np.bincount(row, weight, minlength=len(pair))
        relevance = np.bincount(row, weight * answers.relevance, minlength=len(pair)) / total
        loading = np.zeros((len(pair), len(panel)))
        loading[row, answers.assessor] = weight / total[row]
        own = np.bincount(answers.assessor, weight, minlength=len(panel))
        said = np.bincount(answers.assessor, weight * answers.relevance, minlength=len(panel))
        shared = loading * total[:, None]
        information = np.diag(own) - loading.T @ shared
        return cls(pair, relevance, loading, 1.0 / total, information, said - shared.T @ relevance)
