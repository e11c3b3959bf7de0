"""Consistency with answers that lists were not made from: half of the experts make the lists, the others measure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.groundtruth.building import Answers, Construction, Progress, cut_lists, takes_of
from adjudge.groundtruth.consistency import list_consistency
from adjudge.groundtruth.evidence import COMPARISONS, Asked, Evidence, default_comparison
from adjudge.groundtruth.preferred import PreferredQuery
from adjudge.groundtruth.rankings import Unranked


def held_out_consistency(
    answers: Answers,
    constructions: Sequence[Construction],
    *,
    alpha: float,
    unranked: Unranked,
    halves: int,
    seed: int,
    progress: Progress | None = None,
) -> Floats:
    """ADR-1 consistency of each construction (rows) for each query, the mean over ``halves`` ways of halving.

    Rankings are halved by expert, preferences by answer within each pair. Each half makes lists that the other
    measures; documents that only one half ranked are left out. NaN without halves and where halves share no two
    documents.
    """
    values = np.full((max(halves, 1), 2, len(constructions), len(answers.queries)), np.nan)
    by = default_comparison(takes_of(answers))
    queries: Sequence[Asked] = answers.queries
    for half in range(halves):
        for place, asked in enumerate(queries):
            rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(half, place)))
            both = _halved(asked, unranked, rng)
            if both is None:
                continue
            known = [COMPARISONS[by].compare(one, seed=seed) for one in both]  # makes lists, and measures the others'
            for turn, making in enumerate(both):
                cuts = cut_lists(making, constructions, alpha=alpha, seed=seed, known={by: known[turn]})
                for row, (made, group) in enumerate(cuts):
                    values[half, turn, row, place] = _measured(made, group, known[1 - turn], alpha)
            if progress is not None:
                progress(half * len(queries) + place + 1, halves * len(queries))
    return _mean_known(values.reshape(-1, *values.shape[2:]))


def _measured(made: Evidence, group: Ints, measured: Evidence, alpha: float) -> float:
    """Consistency of a list by other evidence."""
    return list_consistency(measured.for_documents(made.documents), group, alpha=alpha, tails=1)


def _halved(asked: Asked, unranked: Unranked, rng: np.random.Generator) -> tuple[Asked, Asked] | None:
    """Two halves of the answers about the same documents; None where they have no two documents in common."""
    if isinstance(asked, PreferredQuery):
        return _halved_preferences(asked, rng)
    order = rng.permutation(len(asked.experts))
    sides = order[: len(order) // 2], order[len(order) // 2 :]
    ranked = [np.isfinite(asked.ranks[side]).any(axis=0) for side in sides]
    common = np.flatnonzero(ranked[0] & ranked[1]).tolist()
    if len(common) < 2:
        return None
    one, other = (asked.of_experts(side.tolist()).filled(unranked).of_documents(common) for side in sides)
    return one, other


def _halved_preferences(asked: PreferredQuery, rng: np.random.Generator) -> tuple[PreferredQuery, PreferredQuery]:
    """Every pair's answers dealt out in turn, in a random order; which half gets an odd one is drawn, too."""
    low, high = np.minimum(asked.first, asked.second), np.maximum(asked.first, asked.second)
    pair = low * len(asked.documents) + high
    order = np.lexsort((rng.random(len(pair)), pair))
    _, start, code = np.unique(pair[order], return_index=True, return_inverse=True)
    side = (np.arange(len(pair)) - start[code] + rng.integers(2, size=len(start))[code]) % 2
    return asked.of_answers(np.sort(order[side == 0])), asked.of_answers(np.sort(order[side == 1]))


def _mean_known(values: Floats) -> Floats:
    """Means over the first axis of what is known; NaN where nothing is."""
    known = np.isfinite(values)
    n = known.sum(axis=0)
    means: Floats = np.divide(
        np.where(known, values, 0.0).sum(axis=0), n, out=np.full(values.shape[1:], np.nan), where=n > 0
    )
    return means
