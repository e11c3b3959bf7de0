"""What unjudged documents might do to an effectiveness: bounds over every grade that they could have.

For most measures a higher grade in the list never lowers effectiveness, and a higher grade elsewhere never raises it.
So the least comes of lists whose unjudged documents have grade 0 against an ideal where every unjudged document that
some system retrieved has the highest grade, and the most of the opposite. Where the ideal does not depend on
judgments (``ideal=max``, or sums without an ideal) these bounds are reached; elsewhere they are safe but may be wider
than what can happen. Where nothing relevant was judged, any list with an unjudged document might turn out to be
perfect. Measures that are not monotone get 0 and 1, or no upper bound where they have none by definition.
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
    if not measure.monotone:
        return np.zeros(len(lists)), np.full(len(lists), 1.0 if measure.bounded else np.inf)
    measure = replace(measure, judged_only=False)  # with any grade at all, every document is judged
    low = measure(_with_richer_pool(lists, unjudged))
    best = _with_top_grades(lists)
    high = measure(best)
    if not measure.bounded:
        return low, high
    had_no_ideal = (high == 0) & (measure(_with_a_top_grade_elsewhere(best)) > 0)
    return low, np.where(had_no_ideal, 1.0, np.minimum(high, 1.0))


def _with_top_grades(lists: Lists) -> Lists:
    """Every unjudged document of a list gets the highest grade."""
    retrieved = np.arange(lists.n_ranks) < lists.lengths[:, None]
    open_ = retrieved & ~lists.judged
    return replace(lists, grades=np.where(open_, lists.scale.maximum, lists.grades), judged=lists.judged | open_)


def _with_richer_pool(lists: Lists, unjudged: Ints) -> Lists:
    """Every retrieved unjudged document counts as one of the highest grade that lists should have had."""
    extra = np.arange(int(unjudged.max(initial=0))) < unjudged[:, None]
    judged = np.where(lists.pool_judged, lists.pool, -np.inf)
    pool = np.concatenate([judged, np.where(extra, lists.scale.maximum, -np.inf)], axis=1)
    pool = -np.sort(-pool, axis=1)
    return replace(lists, pool=np.where(np.isneginf(pool), 0.0, pool), sizes=lists.sizes + unjudged)


def _with_a_top_grade_elsewhere(lists: Lists) -> Lists:
    """One more document of the highest grade was judged."""
    top = np.full((len(lists.pool), 1), lists.scale.maximum)
    return replace(lists, pool=np.concatenate([top, lists.pool], axis=1), sizes=lists.sizes + 1)
