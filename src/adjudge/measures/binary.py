"""Measures that only ask whether a document is relevant.

A document is relevant when its grade is at least ``rel``; without ``rel``, when its grade is above 0. Unjudged
documents are not relevant. A query without relevant documents has effectiveness 0 in all of them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats, Ints, Mask
from adjudge.measures.base import Ideal, measure
from adjudge.measures.parameters import REL
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
    first = np.searchsorted(row, np.arange(n_lists))
    nth = np.arange(1, len(row) + 1) - first[row]
    sums: Floats = np.bincount(row, weights=nth / (column + 1.0), minlength=n_lists).astype(np.float64)
    return sums


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
