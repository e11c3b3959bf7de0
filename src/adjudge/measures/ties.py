"""Expected effectiveness over the orders that tied scores leave open.

A list whose scores tie could have come in any order of the tied documents. Where few orders are possible all are
averaged, which is exact; where they are many, a fixed number of them is drawn, and the answer comes with its standard
error.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import permutations, product

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.measures.base import Measure
from adjudge.model.rankings import Lists

EXACT_ORDERS = 720  # up to this many orders are all looked at
DRAWN_ORDERS = 1000


def expected(measure: Measure, lists: Lists, seeds: Callable[[int], np.random.SeedSequence]) -> tuple[Floats, Floats]:
    """Expected effectiveness of each list and its standard error (0 where exact).

    ``seeds`` gives every list its own seed, so that its orders depend neither on other lists nor on the measure.
    """
    values, errors = measure(lists), np.zeros(len(lists))
    for row in np.flatnonzero(_has_ties(lists)):
        one = lists.rows(np.array([row]))
        orders, exact = _orders(one, None if measure.judged_only else measure.cutoff, seeds(int(row)))
        every = measure(one.rows(np.zeros(len(orders), dtype=np.intp)).reordered(orders))
        values[row] = every.mean()
        errors[row] = 0.0 if exact else every.std(ddof=1) / math.sqrt(len(every))
    return values, errors


def _has_ties(lists: Lists) -> Mask:
    if lists.tied is None:
        return np.zeros(len(lists), dtype=np.bool_)
    same = lists.tied[:, 1:] == lists.tied[:, :-1]
    inside = np.arange(1, lists.n_ranks) < lists.lengths[:, None]
    ties: Mask = (same & inside).any(axis=1)
    return ties


def _orders(one: Lists, cutoff: int | None, seed: np.random.SeedSequence) -> tuple[Ints, bool]:
    """Column orders of a single list, as far as the cutoff reaches: all of them, or a sample."""
    length = int(one.lengths[0])
    groups = one.tied[0, :length] if one.tied is not None else np.arange(length)
    starts = np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1]]))
    stretches = [
        stretch for stretch in np.split(np.arange(length), starts[1:]) if cutoff is None or stretch[0] < cutoff
    ]
    exact = sum(math.lgamma(len(stretch) + 1) for stretch in stretches) <= math.log(EXACT_ORDERS) + 1e-9
    if exact:
        orders = [np.concatenate(order) for order in product(*(map(list, permutations(s)) for s in stretches))]
        return np.array(orders, dtype=np.int64)[:, :cutoff], True
    rng = np.random.default_rng(seed)
    columns = np.tile(np.concatenate(stretches), (DRAWN_ORDERS, 1))
    for stretch in stretches:
        if len(stretch) > 1:
            columns[:, stretch] = rng.permuted(columns[:, stretch], axis=1)
    return columns[:, :cutoff], False
