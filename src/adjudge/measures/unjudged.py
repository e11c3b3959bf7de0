"""What unjudged documents might do to an effectiveness: bounds over every grade that they could have.

For most measures a higher grade in the list never lowers effectiveness, and a higher grade elsewhere never raises it.
So the least comes of lists whose unjudged documents have grade 0 against an ideal where every unjudged document that
some system retrieved has the highest grade, and the most of the opposite. Where nothing relevant was judged, any list
with an unjudged document might turn out to be perfect.

Bounds are *reached* where what a list is compared with does not depend on judgments: with ``ideal=max``, for sums
without an ideal, and for the classic forms of P, RR, Success, RBP and ERR. Some grades then give exactly the lowest
value, and others exactly the highest. Elsewhere (AP, R, nDCG, Q, GAP, ADR, …) they are *outer* bounds: no grades lead
out of them, but the true range may be narrower, because one document cannot be both worthless in the list and perfect
in the ideal. Measures that are not monotone get 0 and 1, or no upper bound where they have none by definition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.measures.base import Measure
from adjudge.model.rankings import Lists
from adjudge.model.scales import Scale


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


def describe_bounds(measures: Sequence[Measure], scale: Scale, grades: Floats) -> list[str]:
    """Say which bounds are reached by some grades and which may be wider, on a scale where ``grades`` were given."""
    reached: list[str] = []
    outer: list[str] = []
    trivial: list[str] = []
    for measure in measures:
        if measure.name != "Judged":
            kind = reached if _is_reached(measure, scale, grades) else outer if measure.monotone else trivial
            kind.append(str(measure))
    notes = []
    if reached:
        notes.append(f"Bounds of {', '.join(reached)}: the lowest and the highest value are reached by some grades.")
    if outer:
        notes.append(f"Bounds of {', '.join(outer)}: no grades lead out of them, but the true range may be narrower.")
    if trivial:
        notes.append(f"Bounds of {', '.join(trivial)}: nothing better than the range of the measure is known.")
    return notes


def _is_reached(measure: Measure, scale: Scale, grades: Floats) -> bool:
    """Whether more documents of the highest grade elsewhere leave lists of one document as they are."""
    if not measure.monotone or measure.judged_only:
        return False
    top, least = scale.maximum, float(grades[grades > 0].min(initial=scale.maximum))
    cells = np.array([[top], [least]])
    lists = Lists(cells, cells > 0, np.ones(2, np.int64), cells, np.ones(2, np.int64), np.arange(2), scale)
    return np.array_equal(measure(lists), measure(_with_richer_pool(lists, np.array([9, 9]))))


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
