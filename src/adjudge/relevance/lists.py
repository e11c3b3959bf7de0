"""Effectiveness of the lists of candidates, by the registered measures themselves, whatever relevance they have."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.measures.base import Measure
from adjudge.model.rankings import Lists
from adjudge.model.scales import Scale
from adjudge.relevance.candidates import Candidates

_DIGITS = 9  # of grades: relevance times the highest grade is a whole number again


def step_of(scale: Scale) -> float:
    """Difference of relevance between neighbouring grades; that of Fine where every number is a grade."""
    return 0.01 if scale.levels is None else 1.0 / scale.maximum


class RankedPairs:
    """What systems retrieved for a query, as places of its pairs, so that a measure can be asked about many draws.

    ``place`` is queries x systems x ranks; past the end of a list it is one past the last pair of the query.
    """

    def __init__(self, candidates: Candidates, measure: Measure) -> None:
        self.candidates, self.measure = candidates, measure
        size = np.diff(candidates.offsets)
        shape = (candidates.n_queries, candidates.n_systems, candidates.cutoff)
        self.place = np.broadcast_to(size[:, None, None], shape).copy()
        query = candidates.query[candidates.entry_pair]
        entry = query, candidates.entry_system, candidates.entry_rank - 1
        self.place[entry] = candidates.entry_pair - candidates.offsets[query]

    @cached_property
    def pooled(self) -> bool:
        """Whether the measure looks at documents that a system did not retrieve."""
        best, row = np.ones((1, self.candidates.cutoff)), np.zeros(1, dtype=np.int64)
        return bool(self.values(best, best, row) != self.values(best, 0 * best, row))

    def values(self, relevance: Floats, pools: Floats, pool: Ints) -> Floats:
        """Effectiveness of lists of documents with this ``relevance``, … x ranks.

        ``pools`` has the relevance of all documents of a query in each row, highest first; ``pool`` is the row of each
        list.
        """
        scale, shape = self.candidates.scale, relevance.shape[:-1]
        grades = np.round(relevance.reshape(-1, relevance.shape[-1]) * scale.maximum, _DIGITS)
        known = np.round(pools * scale.maximum, _DIGITS)
        lengths, sizes = np.full(len(grades), grades.shape[1]), np.full(len(known), known.shape[1])
        row = np.broadcast_to(pool, shape).ravel()
        lists = Lists(grades, np.ones(grades.shape, dtype=np.bool_), lengths, known, sizes, row, scale)
        return self.measure(lists).reshape(shape)

    def of_query(self, query: int, relevance: Floats) -> Floats:
        """Relevance at each rank of each list, systems x columns x ranks; ``relevance`` is pairs of it x columns."""
        padded = np.concatenate([relevance, np.zeros((1, relevance.shape[1]))])
        return np.ascontiguousarray(np.swapaxes(padded[self.place[query]], 1, 2))

    def scores(self, query: int, relevance: Floats) -> Floats:
        """Effectiveness of each system for a query, systems x columns; ``relevance`` is pairs of it x columns."""
        return self.values(self.of_query(query, relevance), falling(relevance), np.arange(relevance.shape[1]))

    def mean_scores(self, relevance: Floats) -> Floats:
        """Mean effectiveness of each system over the queries."""
        c = self.candidates
        by_query = [self.scores(q, relevance[c.rows(q), None])[:, 0] for q in range(c.n_queries)]
        return np.asarray(np.mean(by_query, axis=0))


def falling(relevance: Floats) -> Floats:
    """Columns as rows, highest first."""
    return -np.sort(-relevance.T, axis=1)
