"""Average dynamic recall: effectiveness against an order of groups rather than against grades."""

from __future__ import annotations

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.measures.base import Ideal, measure
from adjudge.measures.binary import positive_cells, ratio
from adjudge.model.rankings import Lists


@measure(
    "ADR",
    title="Average dynamic recall",
    equation="ADR@k = 1/k sum_{i<=k} |A_i ∩ top i| / i,  A_i = judged documents graded as the ideal's i-th or higher",
    reference="Typke et al. 2006; Urbano et al. ISMIR 2010 section 4.1; thesis eq 2.17 (judged), 3.9 (max)",
    ideal="judged",
    monotone="at a cutoff",
)
def average_dynamic_recall(lists: Lists, *, ideal: Ideal) -> Floats:
    """Mean over ranks i of the share of the top i that an ideal ranking could have there, in any order within a grade.

    Without a cutoff k is the number of documents with a grade above 0, the length of a partially ordered list.
    Unjudged documents are never allowed; past the last judged document of the ideal all judged ones are, so that with
    fewer than k judged documents 1 is out of reach. With ``ideal=max`` only documents of the highest grade are allowed
    and k is the length of the list. ``none`` is the same as ``judged``: the measure has no other classic form.
    """
    row, column = positive_cells(lists.judged)
    grades = lists.grades[row, column]
    if ideal == "max":
        depth, first = lists.depths, column + 1
        row, first = row[grades >= lists.scale.maximum], first[grades >= lists.scale.maximum]
    else:
        depth = lists.n_relevant(None) if lists.cutoff is None else lists.depths
        first = np.maximum(column + 1, _first_allowed(lists, lists.query[row], grades))
    longest = int(depth.max(initial=0))
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, longest + 1))])
    counted = np.minimum(first - 1, depth[row])  # a document counts at ranks first..depth, 1/i at each
    sums = np.bincount(row, weights=harmonic[depth[row]] - harmonic[counted], minlength=len(lists))
    return ratio(sums, depth)


def _first_allowed(lists: Lists, query: Ints, asked: Floats) -> Ints:
    """Rank of the ideal from which a grade is allowed for a query: one past the judged documents of higher grades."""
    falling = np.unique(-lists.pool)
    width = len(falling) + 1
    codes = np.searchsorted(falling, -lists.pool)
    keys = np.sort((np.arange(len(lists.pool))[:, None] * width + codes)[lists.pool_judged])
    start = np.concatenate([[0], np.cumsum(lists.sizes)])[query]
    first: Ints = np.searchsorted(keys, query * width + np.searchsorted(falling, -asked)) - start + 1
    return first
