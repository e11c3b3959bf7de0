"""Average dynamic recall: effectiveness against an order of groups rather than against grades."""

from __future__ import annotations

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.measures.base import Ideal, measure
from adjudge.measures.binary import ratio
from adjudge.model.rankings import Lists


@measure(
    "ADR",
    title="Average dynamic recall",
    equation="ADR@k = 1/k sum_{i<=k} |A_i ∩ top i| / i,  A_i = judged documents graded as the ideal's i-th or higher",
    reference="Typke et al. 2006; Urbano et al. ISMIR 2010 section 4.1; thesis eq 2.17 (judged), 3.9 (max)",
    ideal="judged",
)
def average_dynamic_recall(lists: Lists, *, ideal: Ideal) -> Floats:
    """Mean over ranks i of the share of the top i that an ideal ranking could have there, in any order within a grade.

    Without a cutoff k is the number of documents with a grade above 0, the length of a partially ordered list.
    Unjudged documents are never allowed; past the last judged document of the ideal all judged ones are. With
    ``ideal=max`` only documents of the highest grade are allowed. ``none`` is the same as ``judged``: the measure has
    no other classic form.
    """
    if ideal == "max":
        depth, expected = lists.depths, np.where(lists.grades >= lists.scale.maximum, 1, np.iinfo(np.int64).max)
    else:
        depth = lists.n_relevant(None) if lists.cutoff is None else lists.depths
        expected = _first_allowed(lists)
    rank = np.arange(1, lists.n_ranks + 1)
    first = np.where(lists.judged, np.maximum(expected, rank), np.iinfo(np.int64).max)
    longest = int(depth.max(initial=0))
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, longest + 1))])
    counted = np.minimum(first - 1, depth[:, None])  # a document counts at ranks first..depth, 1/i at each
    return ratio((harmonic[depth][:, None] - harmonic[counted]).sum(axis=1), depth)


def _first_allowed(lists: Lists) -> Ints:
    """Rank of the ideal from which a grade is allowed: one past the judged documents of higher grades."""
    grades = -np.unique(-lists.pool)
    width = len(grades) + 1
    pool_code = np.searchsorted(-grades, -lists.pool)
    keys = np.sort((np.arange(len(lists.pool))[:, None] * width + pool_code)[lists.pool_judged])
    asked = lists.query[:, None] * width + np.searchsorted(-grades, -lists.grades)
    start = np.concatenate([[0], np.cumsum(lists.sizes)])[lists.query]
    first: Ints = np.searchsorted(keys, asked, side="left") - start[:, None] + 1
    return first
