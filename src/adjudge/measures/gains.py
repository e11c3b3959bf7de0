"""Measures that add up the gain of each document, weighted by its rank.

A document of grade l has gain g(l); a list has the sum of its gains times the weight w(i) of their ranks. The three
ideals divide that by nothing (classic), by the sum of a list whose every document has the highest grade of the scale
(``max``), or by that of the judged documents sorted by grade (``judged``). Without a cutoff the first two look at as
many documents as the list has and the last at all judged ones. Where the divisor is 0, so is the effectiveness.

The last ones are the sums that MIREX reports for music similarity, each a cumulative gain with its own gains. Broad
grades are 0 not similar, 1 somewhat similar, 2 very similar. MIREX normalises every sum to the range from 0 to 1, the
default here (``ideal=max``).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.checks import Between
from adjudge.measures.base import Ideal, measure
from adjudge.measures.binary import positive_cells, precision_sums, ratio
from adjudge.measures.parameters import BASE, DISCOUNT, GAIN, GAINS, REL, Gain, Parameter, discounts, table_gain
from adjudge.model.rankings import Lists

BETA = Parameter(
    1.0, Between(0, closed="left", meaning="weight of gains against counts of relevant documents; 0 makes it AP")
)
PERSISTENCE = Parameter(0.8, Between(0, 1, meaning="probability p that the user looks at the next document"))


def top_gain(lists: Lists, gain: Gain) -> float:
    """Gain of the highest grade of the scale."""
    return float(gain(np.array([lists.scale.maximum]))[0])


def weighted_sums(lists: Lists, gain: Gain, weights: Floats, ideal: Ideal) -> Floats:
    """Sum of gains times weights, divided by that of the ideal. ``weights`` reach as deep as any list or ideal."""
    sums = _sums(lists.grades, gain, weights)
    if ideal == "max":
        return ratio(sums, top_gain(lists, gain) * _upto(np.cumsum(weights), lists.depths))
    if ideal == "judged":
        return ratio(sums, _sums(lists.ideal().grades, gain, weights)[lists.query])
    return sums


def _sums(grades: Floats, gain: Gain, weights: Floats) -> Floats:
    """Weighted gains of each list, from the documents that have one: most have none."""
    row, column = positive_cells(grades)
    gains = gain(grades[row, column])
    return np.bincount(row, weights=gains * weights[column], minlength=len(grades)).astype(np.float64)


def _upto(cumulated: Floats, depths: Ints) -> Floats:
    """Cumulated weight of the first ``depths`` ranks."""
    padded: Floats = np.concatenate([[0.0], cumulated])
    return padded[np.minimum(depths, len(cumulated))]


def reach(lists: Lists) -> int:
    """Ranks that weights must cover."""
    longest = int(lists.lengths.max(initial=0))
    return lists.cutoff if lists.cutoff is not None else max(lists.n_ranks, lists.pool.shape[1], longest)


@measure(
    "CG",
    title="Cumulative gain",
    equation="CG@k = sum_{i<=k} g(r_i);  ideal=max: / (k g(max))",
    reference="Järvelin and Kekäläinen 2002, doi:10.1145/582415.582418; thesis eq 2.8 (none), 3.3 (max)",
    ideal="max",
    parameters={"gain": GAIN},
    unbounded=True,
)
def cumulative_gain(lists: Lists, *, gain: Gain, ideal: Ideal) -> Floats:
    """Gain of the first k documents, whatever their order; by default as a share of the most that the scale allows.

    With linear gains and the default ideal this is MIREX's main measure (``Fine``, ``PSum``).
    """
    return weighted_sums(lists, gain, np.ones(reach(lists)), ideal)


@measure(
    "AG",
    title="Average gain",
    equation="AG@k = 1/k sum_{i<=k} g(r_i)",
    reference="Urbano et al. ISMIR 2011 eq 1",
    ideal="none",
    parameters={"gain": GAIN},
    unbounded=True,
)
def average_gain(lists: Lists, *, gain: Gain, ideal: Ideal) -> Floats:
    """Mean gain of the first k documents, on the scale of the gains.

    With an ideal it is the same as CG. Lists shorter than k count as filled with documents without gain; without a
    cutoff k is the length of the list.
    """
    sums = weighted_sums(lists, gain, np.ones(reach(lists)), ideal)
    return ratio(sums, lists.depths) if ideal == "none" else sums


@measure(
    "DCG",
    title="Discounted cumulative gain",
    equation="DCG@k = sum_{i<=k} g(r_i) / d(i);  ideal=max: / sum_{i<=k} g(max) / d(i)",
    reference="Järvelin and Kekäläinen 2002, doi:10.1145/582415.582418; thesis eq 2.9 (none), 3.4 (max)",
    ideal="max",
    parameters={"gain": GAIN, "discount": DISCOUNT, "base": BASE},
    unbounded=True,
)
def discounted_cumulative_gain(lists: Lists, *, gain: Gain, discount: str, base: float, ideal: Ideal) -> Floats:
    """Gain of the first k documents, worth less the later it comes; by default a share of what the scale allows.

    With ``ideal=none`` it agrees with ranx's ``dcg`` (linear) and ``dcg_burges`` (gain=exp).
    """
    return weighted_sums(lists, gain, discounts(reach(lists), discount, base), ideal)


@measure(
    "nDCG",
    title="Normalised discounted cumulative gain",
    equation="nDCG@k = DCG@k of the list / DCG@k of the judged documents sorted by grade",
    reference="Järvelin and Kekäläinen 2002, doi:10.1145/582415.582418; thesis eq 2.10",
    ideal="judged",
    parameters={"gain": GAIN, "discount": DISCOUNT, "base": BASE},
    unbounded=True,
)
def normalised_dcg(lists: Lists, *, gain: Gain, discount: str, base: float, ideal: Ideal) -> Floats:
    """DCG as a share of what the judged documents allow.

    Agrees with trec_eval's ``ndcg_cut_k``, ir_measures' ``nDCG@k`` and ranx's ``ndcg@k``; with ``gain=exp`` with
    ranx's ``ndcg_burges`` and ir_measures' ``dcg='exp-log2'``. NTCIREVAL takes gains from a table (``gain={…}``): its
    ``MSnDCG`` has this discount, its ``nDCG`` is ``discount=original``. A system gets 1 for finding the only document
    of the lowest positive grade (Al-Maskari et al. 2007): see ``ideal=max`` for what users get.
    """
    return weighted_sums(lists, gain, discounts(reach(lists), discount, base), ideal)


@measure(
    "ANDCG",
    title="Average normalised discounted cumulative gain",
    equation="ANDCG@k = 1/k sum_{i<=k} nDCG@i",
    reference="Urbano et al. ISMIR 2011 eq 4",
    ideal="judged",
    parameters={"gain": GAIN, "discount": DISCOUNT, "base": BASE},
    unbounded=True,
)
def average_ndcg(lists: Lists, *, gain: Gain, discount: str, base: float, ideal: Ideal) -> Floats:
    """Mean of nDCG over the ranks 1..k; the ISMIR 2011 paper uses ``discount=original``.

    Past the end of a list its gain stands still while the ideal's may grow.
    """
    n = max(lists.n_ranks, lists.pool.shape[1], 1)
    n = n if lists.cutoff is None else min(n, lists.cutoff)  # past n only the depth grows, and an ideal of the scale
    weights = discounts(reach(lists), discount, base)
    sums = np.cumsum(_widened(gain(lists.grades), n) * weights[:n], axis=1)
    last = sums[:, -1]
    past = np.maximum(lists.depths - n, 0).astype(np.float64)
    if ideal == "max":
        best = top_gain(lists, gain) * np.cumsum(weights)
        sums, shrinking = ratio(sums, best[:n]), np.cumsum(ratio(np.ones(len(best)), best))
        past = _upto(shrinking, lists.depths) - _upto(shrinking, np.minimum(lists.depths, n))
    elif ideal == "judged":
        best = np.cumsum(_widened(gain(lists.ideal().grades), n) * weights[:n], axis=1)[lists.query]
        sums, last = ratio(sums, best), ratio(last, best[:, -1])
    inside = np.arange(1, n + 1) <= lists.depths[:, None]
    return ratio(np.where(inside, sums, 0.0).sum(axis=1) + past * last, lists.depths)


def _widened(values: Floats, n: int) -> Floats:
    """Exactly n columns: cut, or filled with zeros."""
    return np.pad(values[:, :n], ((0, 0), (0, max(0, n - values.shape[1]))))


@measure(
    "RBP",
    title="Rank-biased precision",
    equation="RBP = (1-p)/g(max) sum_i g(r_i) p^(i-1);  with an ideal: sum_{i<=k} g(r_i) p^(i-1) / the ideal's",
    reference="Moffat and Zobel 2008, doi:10.1145/1416950.1416952; thesis eq 2.12 (none), 3.6 (max), 5.8 (judged)",
    ideal="none",
    parameters={"p": PERSISTENCE, "rel": REL, "gain": GAIN},
)
def rank_biased_precision(lists: Lists, *, p: float, rel: float | None, gain: Gain, ideal: Ideal) -> Floats:
    """Gain per document seen by a user who goes on to the next one with probability p.

    Gains are divided by that of the scale's highest grade, as in NTCIREVAL. With ``rel`` a document has gain 1 or 0,
    whatever ``gain`` says: that is ir_measures' ``RBP(rel=…)``. trec_eval divides by the highest grade *of the query*;
    ranx does not divide (and can exceed 1). On a binary scale all agree.
    """
    if rel is not None:
        threshold = rel
        gain = Gain(f"rel{rel:g}", lambda grades: (grades >= threshold).astype(np.float64))
    sums = weighted_sums(lists, gain, np.power(p, np.arange(reach(lists), dtype=np.float64)), ideal)
    return ratio((1 - p) * sums, np.array(top_gain(lists, gain))) if ideal == "none" else sums


@measure(
    "Q",
    title="Q-measure",
    equation="Q@k = 1/R sum_{i<=k} 1(r_i>0) (hits_i + β cg_i) / (i + β ideal cg_i);  max: 1/k;  judged: 1/min(k,R)",
    reference="Sakai 2004; thesis eq 2.11 with the ideal's gains (none), 3.5 (max), 5.7 (judged)",
    ideal="judged",
    parameters={"beta": BETA, "gain": GAIN},
)
def q_measure(lists: Lists, *, beta: float, gain: Gain, ideal: Ideal) -> Floats:
    """Average precision for grades: the precision at a relevant document is blended with its share of the ideal gain.

    Agrees with NTCIREVAL's ``Q@k`` (``ideal=judged``), whose gains come from a table. To exchange a document for a
    better one further down can lower it: from <0, 3, 1> to <1, 3, 0> it falls from .762 to .75.
    """
    gains = gain(lists.grades)
    relevant = gains > 0
    rank = np.arange(1, lists.n_ranks + 1)
    if ideal == "max":
        best = np.broadcast_to(top_gain(lists, gain) * rank, gains.shape)
        divisor = lists.depths
    else:
        ideal_gains = gain(lists.ideal().grades)
        best = np.cumsum(_widened(ideal_gains, lists.n_ranks), axis=1)[lists.query]
        n_relevant = np.count_nonzero(gain(lists.pool) > 0, axis=1)[lists.query]
        divisor = n_relevant if ideal == "none" or lists.cutoff is None else np.minimum(lists.cutoff, n_relevant)
    blended = (np.cumsum(relevant, axis=1) + beta * np.cumsum(gains, axis=1)) / (rank + beta * best)
    return ratio(np.where(relevant, blended, 0.0).sum(axis=1), divisor)


@measure(
    "GAP",
    title="Graded average precision",
    equation="GAP@k = sum_{i<=k} E[P@i] / sum_d F(r_d),  E[P@i] = 1/i sum_{j<=i} F(min(r_i,r_j));  max: / k",
    reference="Robertson et al. 2010, doi:10.1145/1835449.1835550; thesis eq 2.16 (none), 3.8 (max), 5.9 (judged)",
    ideal="judged",
    parameters={"gain": GAIN},
)
def graded_average_precision(lists: Lists, *, gain: Gain, ideal: Ideal) -> Floats:
    """Average precision expected over users who each call a document relevant from another grade on.

    F(l) = g(l) / g(max) is the share of users for whom a grade of l suffices: uniform over grades with linear gains.
    The divisor adds up the judged documents, with ``ideal=judged`` only the best k of them. On a binary scale it is AP.
    """
    sums = _expected_precision_sums(gain(lists.grades))  # g(max) times too large, like the divisors
    if ideal == "max":
        return ratio(sums, top_gain(lists, gain) * lists.depths)
    judged = lists.pool if ideal == "none" else lists.ideal().grades
    return ratio(sums, gain(judged).sum(axis=1)[lists.query])


def _expected_precision_sums(share: Floats) -> Floats:
    """Sum over ranks i of 1/i sum_{j<=i} min(share_i, share_j).

    A minimum is an integral over thresholds, so this is a sum of precision sums, one for each distinct share; with
    fewer ranks than shares, the pairs themselves are fewer.
    """
    n_lists, n_ranks = share.shape
    row, column = positive_cells(share)
    known = share[row, column]
    steps = np.unique(known)
    sums = np.zeros(n_lists)
    if n_ranks > len(steps):
        for width, step in zip(np.diff(steps, prepend=0.0), steps, strict=True):
            enough = known >= step
            sums += width * precision_sums(row[enough], column[enough], n_lists)
        return sums
    for i in range(n_ranks):
        sums += np.minimum(share[:, : i + 1], share[:, i : i + 1]).sum(axis=1) / (i + 1)
    return sums


_REFERENCE = "MIREX Audio Music Similarity and Retrieval results, 2006 onwards; Downie et al. 2010"
_BROAD_SUMS = {
    "PSum": (1.0, 2.0, "Sum of Broad grades"),
    "WCSum": (1.0, 3.0, "'World Cup' sum of Broad grades: very similar counts 3"),
    "SDSum": (1.0, 4.0, "'Stephen Downie' sum of Broad grades: very similar counts 4"),
    "Greater0": (1.0, 1.0, "Share of somewhat or very similar documents"),
    "Greater1": (0.0, 1.0, "Share of very similar documents"),
}


def _needs_broad(lists: Lists) -> str | None:
    if lists.scale.maximum == 2 and lists.scale.minimum == 0:
        return None
    return f"expected judgments on the Broad scale (0, 1, 2), got {lists.scale}"


def _needs_fine(lists: Lists) -> str | None:
    if lists.scale.maximum in (10, 100):
        return None
    return f"expected judgments on the Fine scale (0..100, or 0..10 in early years), got {lists.scale}"


def _register_broad_sum(name: str, somewhat: float, very: float, title: str) -> None:
    gain = table_gain(name, "gain", {0.0: 0.0, 1.0: somewhat, 2.0: very})

    def broad_sum(lists: Lists, *, ideal: Ideal) -> Floats:
        return weighted_sums(lists, gain, np.ones(reach(lists)), ideal)

    broad_sum.__doc__ = (
        f"{title}: not similar 0, somewhat similar {somewhat:g}, very similar {very:g}.\n\n"
        "Needs Broad grades, one per pair; with several assessors combine them by median, min or max."
    )
    _sum_measure(name, title, f"{name}@k = sum_(i<=k) g(r_i) / (k g(2)),  g = {gain}", _needs_broad)(broad_sum)


def _sum_measure(
    name: str, title: str, equation: str, needs: Callable[[Lists], str | None]
) -> Callable[[Callable[..., Floats]], Callable[..., Floats]]:
    return measure(name, title=title, equation=equation, reference=_REFERENCE, ideal="max", unbounded=True, needs=needs)


for _name, (_somewhat, _very, _title) in _BROAD_SUMS.items():
    _register_broad_sum(_name, _somewhat, _very, _title)


@_sum_measure("Fine", "Sum of Fine grades", "Fine@k = 1/k sum_(i<=k) r_i / max", _needs_fine)
def fine(lists: Lists, *, ideal: Ideal) -> Floats:
    """Sum of Fine grades as a share of the most possible: CG under the name that MIREX gives it.

    Needs grades up to 100, or up to 10 as in early years; several assessors' grades may be averaged.
    """
    return weighted_sums(lists, GAINS["linear"], np.ones(reach(lists)), ideal)
