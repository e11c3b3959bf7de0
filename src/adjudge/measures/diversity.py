"""Measures of lists for queries with several sub-topics: what a document adds depends on what came before it.

A document covers a sub-topic when its grade for it is at least ``rel``; without ``rel``, when it is above 0. Only
sub-topics that a judged document covers count; a query without any has effectiveness 0. Judgments must name sub-topics,
as the diversity qrels of TREC do (``query subtopic document grade``).

The ideal ranking of the judged documents takes at each rank the document that adds most, and of equal ones the last
identifier: it is what ndeval compares with. Finding the very best order is NP-hard, so that a list can be better than
this one; it then has effectiveness 1.
"""

from __future__ import annotations

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.checks import Between
from adjudge.measures.base import Ideal, measure
from adjudge.measures.binary import nth_hits, positive_cells, ratio
from adjudge.measures.gains import reach
from adjudge.measures.parameters import REL, Parameter, discounts
from adjudge.model.rankings import Lists

ALPHA = Parameter(
    0.5, Between(0, 1, closed="both", meaning="share of its gain that a sub-topic loses each time that it is covered")
)


def _covering(lists: Lists, rel: float | None) -> Mask:
    """Which sub-topics the documents of each list cover: (lists, sub-topics, ranks)."""
    grades = lists.need_subtopics().grades
    covers = grades > 0 if rel is None else grades >= rel
    found: Mask = covers.T[:, lists.place].swapaxes(0, 1)
    return found


def _n_subtopics(lists: Lists, rel: float | None) -> Ints:
    """How many sub-topics of its query any judged document covers, for each list."""
    judged = lists.need_subtopics()
    covers = judged.grades[:-1] > 0 if rel is None else judged.grades[:-1] >= rel
    query = np.repeat(np.arange(len(judged.offsets) - 1), np.diff(judged.offsets))
    covered = np.zeros((len(judged.offsets) - 1, covers.shape[1]), dtype=np.bool_)
    np.logical_or.at(covered, query, covers)
    n: Ints = np.count_nonzero(covered, axis=1)[lists.query]
    return n


def _ideal(lists: Lists, rel: float | None, alpha: float) -> Mask:
    """Which sub-topics the documents of the ideal rankings cover: (queries, sub-topics, ranks)."""
    judged = lists.need_subtopics()
    sizes = np.diff(judged.offsets)
    inside = np.arange(int(sizes.max(initial=1))) < sizes[:, None]
    covers = np.zeros((*inside.shape, judged.grades.shape[1]), dtype=np.bool_)
    covers[inside] = judged.grades[:-1] > 0 if rel is None else judged.grades[:-1] >= rel
    useful = int(np.count_nonzero(covers.any(axis=2), axis=1).max(initial=0))
    n_ranks = useful if lists.cutoff is None else min(useful, lists.cutoff)
    best = np.zeros((len(sizes), covers.shape[2], n_ranks), dtype=np.bool_)
    worth = np.ones((len(sizes), covers.shape[2]))
    every = np.arange(len(sizes))
    for rank in range(n_ranks):
        chosen = (covers @ worth[:, :, None])[:, :, 0].argmax(axis=1)  # the first of equals
        best[:, :, rank] = covers[every, chosen]
        covers[every, chosen] = False
        worth[best[:, :, rank]] *= 1.0 - alpha
    return best


def _novelty(covering: Mask, alpha: float, weights: Floats) -> Floats:
    """Sum over covered sub-topics of (1 - alpha)^(times covered before), weighted by rank, for each list."""
    n_lists, n_subtopics, n_ranks = covering.shape
    row, column = positive_cells(covering.reshape(n_lists * n_subtopics, n_ranks))
    gains = (1.0 - alpha) ** (nth_hits(row) - 1) * weights[column]
    return np.bincount(row // n_subtopics, weights=gains, minlength=n_lists).astype(np.float64)


def _against_ideal(lists: Lists, rel: float | None, alpha: float, weights: Floats, ideal: Ideal) -> Floats:
    """Novelty of each list, divided by that of the ideal."""
    sums = _novelty(_covering(lists, rel), alpha, weights)
    if ideal == "max":
        best = np.concatenate([[0.0], np.cumsum((1.0 - alpha) ** np.arange(len(weights)) * weights)])
        return ratio(sums, _n_subtopics(lists, rel) * best[lists.depths])
    if ideal == "judged":
        return np.minimum(ratio(sums, _novelty(_ideal(lists, rel, alpha), alpha, weights)[lists.query]), 1.0)
    return sums


@measure(
    "alpha_nDCG",
    title="α-nDCG: gain for sub-topics that were not covered before",
    equation="alpha_nDCG@k = sum_(i<=k) sum_(s in d_i) (1-alpha)^(times s is covered above i) / log2(i+1);  / ideal's",
    reference="Clarke et al. 2008, doi:10.1145/1390334.1390446; ndeval",
    ideal="judged",
    parameters={"alpha": ALPHA, "rel": REL},
    monotone=False,
    unbounded=True,
    subtopics=True,
)
def alpha_ndcg(lists: Lists, *, alpha: float, rel: float | None, ideal: Ideal) -> Floats:
    """DCG in which a sub-topic is worth less each time that it comes again.

    Agrees with ``alpha-nDCG@k`` of ndeval, pyndeval and ir_measures, but that a list better than the greedy ideal
    counts 1 and not more, and that ties are broken as everywhere here (pyndeval takes the first identifier first).
    ``ideal=none`` is α-DCG as its paper has it; ``max`` divides by documents that cover every sub-topic, as ndeval's
    ``alpha-DCG@k`` does for k > 1.
    """
    return _against_ideal(lists, rel, alpha, discounts(reach(lists), "log", 2.0), ideal)


@measure(
    "ERR_IA",
    title="Intent-aware expected reciprocal rank",
    equation="ERR_IA@k = 1/S sum_s sum_(i<=k, s in d_i) 1/i (1/2)^(1 + times s is covered above i);  / ideal's",
    reference="Chapelle et al. 2009, doi:10.1145/1645953.1646033, section 7; ndeval",
    ideal="max",
    parameters={"rel": REL},
    monotone=False,
    subtopics=True,
)
def intent_aware_err(lists: Lists, *, rel: float | None, ideal: Ideal) -> Floats:
    """Mean over the S sub-topics of ERR, each covered document satisfying half of the users who see it.

    By default divided by the ERR of documents that cover every sub-topic, as ndeval, pyndeval and ir_measures do for
    k > 1 (at k = 1 ndeval does not divide, and can exceed 1). ``ideal=judged`` divides by the greedy ideal: their
    ``nERR-IA@k``, at most 1. ``ideal=none`` is the mean itself.
    """
    weights = 1.0 / np.arange(1, reach(lists) + 1)
    values = _against_ideal(lists, rel, 0.5, weights, ideal)
    return ratio(values / 2.0, _n_subtopics(lists, rel)) if ideal == "none" else values


@measure(
    "StRecall",
    title="Sub-topic recall",
    equation="StRecall@k = sub-topics that the top k cover / S",
    reference="Zhai, Cohen and Lafferty 2003, doi:10.1145/860435.860440; ndeval strec",
    ideal="none",
    parameters={"rel": REL},
    monotone=False,
    subtopics=True,
)
def subtopic_recall(lists: Lists, *, rel: float | None, ideal: Ideal) -> Floats:
    """Share of the S sub-topics that some document among the first k covers.

    With ``ideal=judged`` the share is of what the first k documents of a greedy cover have, at most 1; ``max`` is the
    same as ``none``. Agrees with ``strec@k`` of ndeval and pyndeval and with ir_measures' ``StRecall@k``.
    """
    covered = np.count_nonzero(_covering(lists, rel).any(axis=2), axis=1)
    if ideal == "judged":
        possible = np.count_nonzero(_ideal(lists, rel, 1.0).any(axis=2), axis=1)[lists.query]
        return np.minimum(ratio(covered, possible), 1.0)
    return ratio(covered, _n_subtopics(lists, rel))
