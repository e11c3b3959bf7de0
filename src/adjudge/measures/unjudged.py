"""What unjudged documents might do to an effectiveness: bounds over every grade that they could have.

For most measures a higher grade in the list never lowers effectiveness, and a higher grade elsewhere never raises it.
So the least comes of lists whose unjudged documents have grade 0 against an ideal where every unjudged document that
some system retrieved has the highest grade, and the most of the opposite. Where the ideal does not depend on
judgments (``ideal=max``, or sums without an ideal) these bounds are reached; elsewhere they are safe but may be wider
than what can happen. Measures that are not monotone get 0 and 1.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.measures.base import Measure
from adjudge.model.rankings import Lists


def bounds(measure: Measure, lists: Lists, unjudged: Ints) -> tuple[Floats, Floats]:
    """Lowest and highest effectiveness; ``unjudged`` counts a query's unjudged documents that any system retrieved."""
    if measure.name == "Judged":
        value = measure(lists)
        return value, value
    if not measure.definition.monotone:
        return np.zeros(len(lists)), np.ones(len(lists))
    low = measure(_with_richer_pool(lists, unjudged))
    high = measure(_with_top_grades(lists))
    return low, np.minimum(high, 1.0) if measure.bounded else high


def _with_top_grades(lists: Lists) -> Lists:
    """Every unjudged document of a list gets the highest grade."""
    retrieved = np.arange(lists.n_ranks) < lists.lengths[:, None]
    open_ = retrieved & ~lists.judged
    return replace(lists, grades=np.where(open_, lists.scale.maximum, lists.grades), judged=lists.judged | open_)


def _with_richer_pool(lists: Lists, unjudged: Ints) -> Lists:
    """Every retrieved unjudged document counts as one of the highest grade that lists should have had."""
    extra = np.full((len(lists.pool), int(unjudged.max(initial=0))), lists.scale.maximum)
    extra[np.arange(extra.shape[1]) >= unjudged[:, None]] = 0.0
    pool = -np.sort(-np.concatenate([lists.pool, extra], axis=1), axis=1)
    return replace(lists, pool=pool, sizes=lists.sizes + unjudged)
