"""Measures of a user who stops at the first document that satisfies.

A document of gain g satisfies with probability g / (g(max) + 1); the user goes down the list until one does.
"""

from __future__ import annotations

import numpy as np

from adjudge.arrays import Floats
from adjudge.measures.base import Ideal, measure
from adjudge.measures.binary import ratio
from adjudge.measures.gains import top_gain
from adjudge.measures.parameters import EXP_GAIN, GAIN, Gain
from adjudge.model.rankings import Lists


def stopping(gains: Floats, top: float) -> Floats:
    """Probability that the user stops at each rank, shape (lists, ranks)."""
    satisfied = gains / (top + 1.0)
    goes_on = np.cumprod(1.0 - satisfied, axis=1)
    stops: Floats = np.concatenate([satisfied[:, :1], satisfied[:, 1:] * goes_on[:, :-1]], axis=1)
    return stops


def _against_ideal(lists: Lists, gain: Gain, ideal: Ideal, *, worth_gain: bool) -> Floats:
    """Expected worth of the document where the user stops (its gain, or 1/rank), divided by that of the ideal."""
    top = top_gain(lists, gain)

    def worth(gains: Floats) -> Floats:
        stop = stopping(gains, top)
        return stop * gains if worth_gain else stop / np.arange(1, gains.shape[1] + 1)

    values: Floats = worth(gain(lists.grades)).sum(axis=1)
    if ideal == "max":
        n = lists.cutoff if lists.cutoff is not None else int(lists.lengths.max(initial=1))
        best = np.cumsum(worth(np.full((1, max(n, 1)), top))[0])
        return ratio(values, np.concatenate([[0.0], best])[lists.depths])
    if ideal == "judged":
        return ratio(values, worth(gain(lists.ideal().grades)).sum(axis=1)[lists.query])
    return values


@measure(
    "ERR",
    title="Expected reciprocal rank",
    equation="ERR@k = sum_{i<=k} 1/i p_i prod_{j<i} (1-p_j),  p = g(r) / (g(max)+1)",
    reference="Chapelle et al. 2009, doi:10.1145/1645953.1646033; thesis eq 2.14, 2.15 (none), 3.7 (max)",
    ideal="none",
    parameters={"gain": EXP_GAIN},
)
def expected_reciprocal_rank(lists: Lists, *, gain: Gain, ideal: Ideal) -> Floats:
    """Expected 1/rank of the document that satisfies the user.

    gdeval, and with it ir_measures, takes 4 as the highest grade whatever the scale; here it is that of the scale, so
    that they agree where that is 4 (to the five digits gdeval prints) and nowhere else. Agrees with NTCIREVAL's
    ``ERR`` and, with ``ideal=judged``, its ``nERR``.
    """
    return _against_ideal(lists, gain, ideal, worth_gain=False)


@measure(
    "EDCG",
    title="Expected discounted cumulative gain",
    equation="EDCG@k = sum_{i<=k} g(r_i) p_i prod_{j<i} (1-p_j);  max: / that of a list of highest grades",
    reference="Thesis section 2.5.2, eq 3.10 (max)",
    ideal="max",
    parameters={"gain": GAIN},
    monotone=False,
    unbounded=True,
)
def expected_dcg(lists: Lists, *, gain: Gain, ideal: Ideal) -> Floats:
    """Expected gain of the document that satisfies the user: DCG with a discount that depends on what came before.

    The best order of given documents is by grade, but a better document is not always better for the list: the user
    whom a fair one satisfies at the top does not see the excellent one below.
    """
    return _against_ideal(lists, gain, ideal, worth_gain=True)
