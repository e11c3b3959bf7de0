"""Measures that only ask whether a document is relevant.

A document is relevant when its grade is at least ``rel``; without ``rel``, when its grade is above 0. Unjudged
documents are not relevant. A query without relevant documents has effectiveness 0 in all of them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats, Ints, Mask
from adjudge.checks import Between
from adjudge.measures.base import Ideal, measure
from adjudge.measures.parameters import REL, Parameter
from adjudge.model.rankings import Lists


def ratio(part: npt.NDArray[np.number], whole: npt.NDArray[np.number]) -> Floats:
    """Quotient, 0 where the whole is not positive: what nothing can be retrieved of is retrieved not at all."""
    whole = np.broadcast_to(np.asarray(whole, dtype=np.float64), np.shape(part))
    share: Floats = np.divide(part, whole, out=np.zeros(np.shape(part)), where=whole > 0)
    return share


def best_hits(lists: Lists, rel: float | None, ideal: Ideal) -> Ints:
    """Relevant documents that a perfect list would hold: all R, or k, or min(k, R)."""
    if ideal == "max":
        return lists.depths
    relevant = lists.n_relevant(rel)
    return relevant if ideal == "none" or lists.cutoff is None else np.minimum(lists.cutoff, relevant)


def positive_cells(grades: Floats | Mask) -> tuple[Ints, Ints]:
    """Row and column of every cell above 0, list after list. Few documents are relevant: what follows is cheap."""
    n_ranks = grades.shape[1]
    flat = np.flatnonzero(grades if grades.dtype == np.bool_ else grades > 0)
    row = flat // n_ranks if n_ranks else flat
    return row, flat - row * n_ranks


def precision_sums(row: Ints, column: Ints, n_lists: int) -> Floats:
    """Sum over hits of the precision at their rank, for each list; hits stand list after list, in rank order."""
    sums: Floats = np.bincount(row, weights=nth_hits(row) / (column + 1.0), minlength=n_lists).astype(np.float64)
    return sums


def nth_hits(row: Ints) -> Ints:
    """Which hit of its list each one is, from 1; hits stand list after list."""
    first = np.flatnonzero(np.diff(row, prepend=-1))
    nth: Ints = np.arange(1, len(row) + 1) - np.repeat(first, np.diff(first, append=len(row)))
    return nth


@measure(
    "P",
    title="Precision",
    equation="P@k = hits in the top k / k",
    reference="Thesis eq 2.2, 2.5",
    ideal="none",
    parameters={"rel": REL},
)
def precision(lists: Lists, *, rel: float | None, ideal: Ideal) -> Floats:
    """Share of relevant documents among the first k.

    Lists shorter than k count as filled with documents that are not relevant. Without a cutoff k is the length of the
    list (ranx's ``precision``, trec_eval's ``set_P``). With ``ideal=judged`` the share is of min(k, R); ``none`` and
    ``max`` are the same. Agrees with trec_eval's ``P_k``, ir_measures' ``P@k`` and ranx's ``precision@k``.
    """
    hits = np.count_nonzero(lists.relevant(rel), axis=1)
    return ratio(hits, best_hits(lists, rel, ideal) if ideal == "judged" else lists.depths)


@measure(
    "R",
    title="Recall",
    equation="R@k = hits in the top k / R",
    reference="Thesis section 2.5; trec_eval recall_k",
    ideal="none",
    parameters={"rel": REL},
)
def recall(lists: Lists, *, rel: float | None, ideal: Ideal) -> Floats:
    """Share of the R known relevant documents that are among the first k.

    With ``ideal=judged`` the share is of min(k, R), so that 1 can be reached; with ``max`` of k. Agrees with
    trec_eval's ``recall_k``, ir_measures' ``R@k`` and ranx's ``recall@k``.
    """
    return ratio(np.count_nonzero(lists.relevant(rel), axis=1), best_hits(lists, rel, ideal))


@measure(
    "F1",
    title="F1, the harmonic mean of precision and recall",
    equation="F1@k = 2 P@k R@k / (P@k + R@k) = 2 hits in the top k / (k + R)",
    reference="van Rijsbergen 1979; trec_eval set_F",
    ideal="none",
    parameters={"rel": REL},
)
def f1(lists: Lists, *, rel: float | None, ideal: Ideal) -> Floats:
    """Harmonic mean of the precision and the recall of the first k documents.

    Lists shorter than k count as filled with documents that are not relevant. Without a cutoff k is the length of the
    list, as in trec_eval's ``set_F``, ir_measures' ``SetF`` and ranx's ``f1``; with one it agrees with ranx's
    ``f1@k``. With an ideal it is the same as P and R: ``judged`` gives the share of min(k, R), ``max`` that of k.
    """
    hits = np.count_nonzero(lists.relevant(rel), axis=1)
    if ideal == "none":
        return ratio(2.0 * hits, lists.depths + lists.n_relevant(rel))
    return ratio(hits, best_hits(lists, rel, ideal))


@measure(
    "Success",
    title="Success",
    equation="Success@k = 1 if a relevant document is in the top k, else 0",
    reference="trec_eval success_k",
    ideal="none",
    parameters={"rel": REL},
)
def success(lists: Lists, *, rel: float | None, ideal: Ideal) -> Floats:
    """Whether anything relevant was found; the same under every ideal.

    Agrees with trec_eval's ``success_k``, ir_measures' ``Success@k`` and ranx's ``hit_rate@k``.
    """
    hits: Ints = np.count_nonzero(lists.relevant(rel), axis=1)
    return (hits > 0).astype(np.float64)


@measure(
    "RR",
    title="Reciprocal rank",
    equation="RR@k = 1 / rank of the first relevant document, 0 if none in the top k",
    reference="Kantor and Voorhees 1996; thesis eq 2.4, 2.7, 3.2",
    ideal="none",
    parameters={"rel": REL},
)
def reciprocal_rank(lists: Lists, *, rel: float | None, ideal: Ideal) -> Floats:
    """How soon the first relevant document comes; the same under every ideal.

    Agrees with trec_eval's ``recip_rank``, ir_measures' ``RR`` and ranx's ``mrr``. For ``RR@k`` alone, which it takes
    from MS MARCO, ir_measures breaks ties the other way, first identifier first.
    """
    relevant = lists.relevant(rel)
    if lists.n_ranks == 0:
        return np.zeros(len(lists))
    first = relevant.argmax(axis=1)
    found = relevant[np.arange(len(lists)), first]
    return np.where(found, 1.0 / (first + 1.0), np.zeros(len(lists)))


@measure(
    "AP",
    title="Average precision",
    equation="AP@k = 1/R sum_{i<=k} rel_i P@i;  ideal=max: 1/k ...;  ideal=judged: 1/min(k,R) ...",
    reference="Harman 1993; thesis eq 2.3, 2.6 (none), 3.1 (max), 5.6 (judged)",
    ideal="none",
    parameters={"rel": REL},
)
def average_precision(lists: Lists, *, rel: float | None, ideal: Ideal) -> Floats:
    """Mean of the precisions at the ranks of relevant documents, those not retrieved counting 0.

    The classic form divides by R even when only k documents are looked at, as trec_eval's ``map_cut_k``, ir_measures'
    ``AP@k`` and ranx's ``map@k`` do; ``ideal=judged`` divides by min(k, R), as NTCIREVAL's ``AP@k`` does. cwl_eval
    divides by the relevant documents *retrieved* and differs from all of these.
    """
    sums = precision_sums(*positive_cells(lists.relevant(rel)), len(lists))
    return ratio(sums, best_hits(lists, rel, ideal))


@measure(
    "Rprec",
    title="R-precision",
    equation="Rprec = P@R",
    reference="trec_eval Rprec",
    ideal="none",
    parameters={"rel": REL},
    cutoff=False,
    monotone=False,
)
def r_precision(lists: Lists, *, rel: float | None, ideal: Ideal) -> Floats:
    """Precision at rank R, the number of relevant documents; the same under every ideal.

    Agrees with trec_eval's and ir_measures' ``Rprec`` and ranx's ``r-precision``.
    """
    n_relevant = lists.n_relevant(rel)
    inside = np.arange(1, lists.n_ranks + 1) <= n_relevant[:, None]
    return ratio(np.count_nonzero(lists.relevant(rel) & inside, axis=1), n_relevant)


_STANDARD_RECALLS = tuple(i / 10 for i in range(11))
RECALL = Parameter(
    None,
    Between(0, 1, closed="both", meaning="recall at least, written after @; mean over 0, 0.1, …, 1 when not given"),
)


@measure(
    "IPrec",
    title="Interpolated precision",
    equation="IPrec@r = highest P@k of all k with floor(r R + 0.9) hits;  IPrec = mean over r = 0, 0.1, ..., 1",
    reference="Manning, Raghavan and Schütze 2008, section 8.4; trec_eval iprec_at_recall, 11pt_avg",
    ideal="none",
    parameters={"recall": RECALL, "rel": REL},
    at="recall",
)
def interpolated_precision(lists: Lists, *, recall: float | None, rel: float | None, ideal: Ideal) -> Floats:
    """Precision for a user who wants at least a share r of the relevant documents; the same under every ideal.

    0 where the list does not hold that share. ``@`` gives the recall, not a rank; without it, the mean over the eleven
    standard ones. The share is rounded to documents as in trec_eval 9, whose ``iprec_at_recall`` and ``11pt_avg``
    agree, as does ir_measures' ``IPrec``; trec_eval 10 rounds to the nearest number. Where all documents of a list are
    removed as unjudged, they give NaN, and this 0.
    """
    row, column = positive_cells(lists.relevant(rel))
    nth = nth_hits(row)
    n_relevant = lists.n_relevant(rel)[row]
    recalls = _STANDARD_RECALLS if recall is None else (recall,)
    highest = np.zeros((len(recalls), len(lists)))
    for best, least in zip(highest, recalls, strict=True):
        enough = nth >= np.floor(least * n_relevant + 0.9)
        np.maximum.at(best, row[enough], nth[enough] / (column[enough] + 1.0))
    mean: Floats = highest.mean(axis=0)
    return mean


_INFAP_SMOOTHING = 1e-5  # of trec_eval


@measure(
    "infAP",
    title="Inferred average precision",
    equation="infAP = 1/R sum_(relevant at k) (1/k + p/k (r + e) / (r + n + 2e)),  above k: p pooled, r rel., n not",
    reference="Yilmaz and Aslam 2006, doi:10.1145/1183614.1183633; trec_eval infAP",
    ideal="none",
    parameters={"rel": REL},
    cutoff=False,
    monotone=False,
)
def inferred_ap(lists: Lists, *, rel: float | None, ideal: Ideal) -> Floats:
    """Average precision estimated from a random part of the pool that was judged.

    A document with a negative grade was pooled but not judged (-1 in TREC's files), one without a grade was not pooled.
    Precision at the rank of a relevant document takes pooled documents above it as relevant in the proportion of the
    judged ones, and others as not relevant; e = 0.00001. A scale that starts at 0 (``--scale 0..4``) turns negative
    grades into 0. With ``ideal=judged`` the sum is divided by that of the ideal ranking, with ``max`` by the length of
    the list. Agrees with trec_eval's and ir_measures' ``infAP``.
    """
    sums = _inferred_sums(lists, rel)
    if ideal == "judged":
        return ratio(sums, _inferred_sums(lists.ideal(), rel)[lists.query])
    return ratio(sums, best_hits(lists, rel, ideal))


def _inferred_sums(lists: Lists, rel: float | None) -> Floats:
    """Sum over relevant documents of the precision inferred at their rank."""
    row, column = positive_cells(lists.relevant(rel))
    pooled, known = (
        np.cumsum(mask, axis=1)[row, column] - 1 for mask in (lists.judged, lists.judged & (lists.grades >= 0))
    )
    share = (nth_hits(row) - 1 + _INFAP_SMOOTHING) / (known + 2 * _INFAP_SMOOTHING)
    sums: Floats = np.bincount(row, weights=(1 + pooled * share) / (column + 1.0), minlength=len(lists)).astype(
        np.float64
    )
    return sums


@measure(
    "Bpref",
    title="Binary preference",
    equation="Bpref = 1/R sum_r (1 - min(judged non-relevant above r, R) / min(R, N))",
    reference="Buckley and Voorhees 2004, doi:10.1145/1008992.1009000",
    ideal="none",
    parameters={"rel": REL},
    cutoff=False,
    monotone=False,
)
def bpref(lists: Lists, *, rel: float | None, ideal: Ideal) -> Floats:
    """How often judged relevant documents precede the N judged non-relevant ones; unjudged documents are passed over.

    Agrees with trec_eval's and ir_measures' ``bpref``, but that a negative grade here is a judgment ("not relevant")
    and there an unjudged document. Agrees with ranx's ``bpref`` where some judged documents are relevant and some are
    not; without the latter ranx gives NaN, and without the former 0 also for queries that come later. The same under
    every ideal.
    """
    relevant = lists.relevant(rel)
    above = np.cumsum(lists.judged & ~relevant, axis=1)
    n_relevant = lists.n_relevant(rel)
    n_other = lists.sizes[lists.query] - n_relevant
    worst = np.minimum(n_relevant, n_other)
    lost = ratio(np.minimum(above, n_relevant[:, None]), worst[:, None])
    return ratio(np.where(relevant, 1.0 - lost, 0.0).sum(axis=1), n_relevant)


@measure(
    "Judged",
    title="Share of judged documents",
    equation="Judged@k = judged documents in the top k / documents in the top k",
    reference="ir_measures Judged@k",
    ideal="none",
)
def judged(lists: Lists, *, ideal: Ideal) -> Floats:
    """How much of a list assessors have seen; not an effectiveness, but what one rests on.

    A list shorter than k is judged by its own length; an empty list gives 0. Agrees with ir_measures' ``Judged@k``
    but for the order of tied documents: here ir_measures breaks ties the other way, first identifier first.
    """
    return ratio(np.count_nonzero(lists.judged, axis=1), np.minimum(lists.depths, lists.lengths))
