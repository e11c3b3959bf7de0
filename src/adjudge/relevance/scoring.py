"""Measures whose expectation over unknown relevance has a sound form: weighted sums of gains, and their ratios.

With r_d the relevance of document d (grade / highest grade) and w_i the weight of rank i, a list has

    score = Σ_i w_i r_{A_i} / c          CG, DCG, RBP, and P on a binary scale: linear in relevance
    score = Σ_i w_i r_{A_i} / Σ_i w_i r_{I_i}    nDCG, and any with ``ideal=judged``: I sorts the query's candidates

(thesis 8.1). What is unknown enters linearly, or as a ratio of two such sums.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.measures.base import Measure
from adjudge.measures.gains import discounts
from adjudge.measures.notation import parse_measure
from adjudge.measures.parameters import GAINS
from adjudge.model.scales import Scale
from adjudge.relevance.candidates import Candidates

SUPPORTED = ("CG", "DCG", "nDCG", "RBP", "P")


@dataclass(frozen=True, eq=False)
class Scoring:
    """A measure as weights of ranks 1..k.

    ``divisor`` is the constant c, None where scores are divided by the ideal's weighted sum instead. ``binary`` ones
    ask whether a document is relevant, which is its relevance only where that is 0 or 1.
    """

    measure: str
    weights: Floats
    divisor: float | None
    binary: bool = False

    @property
    def linear(self) -> bool:
        """Whether scores are linear in relevance."""
        return self.divisor is not None

    @property
    def highest(self) -> float:
        """The score of a list that is relevant throughout; the lowest is 0."""
        return 1.0 if self.divisor is None else float(self.weights.sum()) / self.divisor

    def entries(self, candidates: Candidates) -> Floats:
        """Weight of each entry in its system's score for its query, before dividing."""
        return self.weights[candidates.entry_rank - 1]

    def matrix(self, candidates: Candidates) -> csr_array:
        """Pairs x systems: weights of relevance in sums over ranks, divided by c where that is constant."""
        shape = (len(candidates), candidates.n_systems)
        data = self.entries(candidates) / (1.0 if self.divisor is None else self.divisor)
        return csr_array((data, (candidates.entry_pair, candidates.entry_system)), shape=shape)


def estimable(measure: str | Measure) -> tuple[Measure, int]:
    """A measure and its cutoff; refused where it cannot be estimated on any scale."""
    parsed = parse_measure(measure) if isinstance(measure, str) else measure
    if parsed.name not in SUPPORTED:
        raise AdjudgeError(
            f"{parsed}: effectiveness can be estimated for {', '.join(SUPPORTED)}, not for this measure."
        )
    if parsed.cutoff is None:
        raise AdjudgeError(f"{parsed}: expected a cutoff, such as {parsed}@5: what is not pooled cannot be estimated.")
    if parsed.judged_only:
        raise AdjudgeError(f"{parsed}: judged_only has no meaning where relevance is estimated.")
    if dict(parsed.parameters).get("gain", GAINS["linear"]) != GAINS["linear"]:
        raise AdjudgeError(f"{parsed}: effectiveness can be estimated for linear gains only.")
    return parsed, parsed.cutoff


def scoring(measure: str | Measure, scale: Scale) -> Scoring:
    """The weights of a measure on a scale; refused where its expectation has no sound form here.

    >>> from adjudge.model.scales import FINE
    >>> scoring("CG@5", FINE).weights.tolist(), scoring("CG@5", FINE).divisor
    ([1.0, 1.0, 1.0, 1.0, 1.0], 5.0)
    """
    parsed, k = estimable(measure)
    options = dict(parsed.parameters)
    rel = options.get("rel")
    binary = parsed.name == "P" or rel is not None
    if binary and (scale.maximum != 1 or (rel or 0) > 1):
        raise AdjudgeError(
            f"{parsed}: expected a binary scale and no rel above 1, got {scale}; ask for CG@{k}, or convert grades."
        )
    weights = np.ones(k)
    if parsed.name in ("DCG", "nDCG"):
        weights = discounts(k, options["discount"], options["base"])
    elif parsed.name == "RBP":
        weights = np.power(float(options["p"]), np.arange(k))
    return Scoring(str(parsed), weights, _divisor(parsed, weights, scale), binary)


def _divisor(measure: Measure, weights: Floats, scale: Scale) -> float | None:
    """What sums of weighted relevance are divided by; None for the ideal of the query."""
    if measure.ideal == "judged":
        return None
    if measure.ideal == "max" or measure.name == "P":
        return float(weights.sum())
    if measure.name == "RBP":
        return 1.0 / (1.0 - float(dict(measure.parameters)["p"]))
    return 1.0 / scale.maximum
