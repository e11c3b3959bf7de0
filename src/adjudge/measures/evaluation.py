"""Evaluate a collection: every measure on every system and query.

One rule each, for every measure:

unjudged documents
    have grade 0 (``unjudged="zero"``). ``"condensed"`` removes them from the lists; ``"bounds"`` adds the lowest and
    highest effectiveness over all grades that they could have.
missing queries
    A judged query for which a system retrieved nothing counts 0 for it (``missing="zero"``), is left out of its mean
    (``"drop"``) or is an error (``"error"``). A query of the runs without judgments is left out for everyone. Both
    are said aloud.
ties
    are broken as trec_eval does (``ties="trec"``), or averaged over all orders they leave open (``"expected"``).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.choices import Missing, Ties, Unjudged
from adjudge.measures import unjudged as unjudged_documents
from adjudge.measures.base import MEASURES, Measure
from adjudge.measures.notation import parse_measures
from adjudge.measures.remarks import (
    absent_lists,
    blocks_for,
    canonical_name,
    check_options,
    remarks_on,
    unreachable,
)
from adjudge.measures.ties import expected
from adjudge.model.collection import Collection
from adjudge.model.effectiveness import Effectiveness
from adjudge.model.judgments import Judgments
from adjudge.model.rankings import Lists

Progress = Callable[[int, int], None]
_WORKERS = min(4, os.cpu_count() or 1)


def evaluate(
    collection: Collection,
    measures: str | Measure | Iterable[str | Measure],
    *,
    unjudged: Unjudged = "zero",
    missing: Missing = "zero",
    ties: Ties = "trec",
    seed: int = 0,
    progress: Progress | None = None,
) -> Effectiveness:
    """Effectiveness of every system on every judged query.

    ``seed`` only matters for ``ties="expected"`` where too many orders are possible to look at all; ``error`` then
    holds the standard error. ``progress`` is called with the number of queries done and to do.

    >>> import adjudge as aj
    >>> collection = aj.read(runs={"mine": {"q1": {"a": 2.0, "b": 1.0}}}, judgments={"q1": {"a": 0, "b": 1}})
    >>> print(aj.evaluate(collection, ["RR", "nDCG@5"]))
    Effectiveness, mean of 1 query
               RR   nDCG@5
    mine   0.5000   0.6309
    """
    check_options(collection, unjudged=unjudged, missing=missing, ties=ties, seed=seed)
    parsed = parse_measures(measures)
    judgments = collection.need_judgments()
    absent = absent_lists(collection, judgments)
    notes = (*remarks_on(collection, judgments, absent, missing), *unreachable(parsed, judgments))
    if unjudged == "bounds":
        notes += tuple(unjudged_documents.describe_bounds(parsed, judgments.scale, judgments.pool.grades))
    table = _Table.empty(judgments.n_queries, len(collection.runs), parsed, unjudged, ties)
    blocks = blocks_for(collection, parsed, unjudged=unjudged, ties=ties)

    def fill(codes: slice) -> int:
        lists = blocks.lists(codes)
        seen = lists.condensed() if unjudged == "condensed" else lists
        open_ = _open_documents(collection, judgments, codes) if unjudged == "bounds" else None
        table.fill(codes, lists, seen, open_, seed)
        return int(codes.stop)

    with ThreadPoolExecutor(max_workers=_WORKERS) as executor:  # NumPy lets go of the interpreter's lock
        for done in executor.map(fill, blocks):
            if progress is not None:
                progress(done, judgments.n_queries)
    if missing == "drop":
        table.drop(absent)
    settings = {"unjudged": unjudged, "missing": missing, "ties": ties, "scale": str(judgments.scale)}
    return Effectiveness(
        table.values,
        tuple(collection.queries[: judgments.n_queries]),
        collection.systems,
        tuple(str(m) for m in parsed),
        table.judged,
        table.lower,
        table.upper,
        table.error,
        tuple(run.team for run in collection.runs),
        notes,
        collection.provenance.with_settings(**settings, **({"ties_seed": seed} if ties == "expected" else {})),
        canonical_name,
        tuple(str(m) for m in parsed if not m.bounded),
    )


def default_measures(collection: Collection) -> tuple[Measure, ...]:
    """A few measures that suit the scale, at rank 10 or as deep as the runs go; for partially ordered lists, ADR first.

    >>> import adjudge as aj
    >>> [str(measure) for measure in default_measures(aj.demo(queries=10, depth=5))]
    ['CG@5', 'nDCG@5', 'Q@5', 'GAP@5']
    """
    k = max(1, min(10, collection.runs.depth))
    scale = collection.need_judgments().scale
    top = scale.maximum
    if scale.says_order_only:
        return parse_measures(f"ADR nDCG@{k} AP")
    if top <= 1:
        return parse_measures(f"nDCG@{k} AP P@{k} RR")
    return parse_measures(f"nDCG@{k} CG@{k} AP RR" if top < 10 else f"CG@{k} nDCG@{k} Q@{k} GAP@{k}")


@dataclass
class _Table:
    """Queries x systems x measures, filled block after block."""

    measures: Sequence[Measure]
    values: Floats
    judged: Floats
    lower: Floats | None
    upper: Floats | None
    error: Floats | None

    @classmethod
    def empty(cls, n_queries: int, n_systems: int, measures: Sequence[Measure], unjudged: str, ties: str) -> _Table:
        """A table with the parts that the options ask for."""
        shape = (n_queries, n_systems, len(measures))
        low, high = (np.empty(shape), np.empty(shape)) if unjudged == "bounds" else (None, None)
        error = np.empty(shape) if ties == "expected" else None
        return cls(measures, np.empty(shape), np.empty(shape), low, high, error)

    def fill(self, codes: slice, lists: Lists, seen: Lists, open_: Ints | None, seed: int) -> None:
        """Evaluate one block; ``seen`` are the lists that measures see, ``lists`` those that systems gave."""
        n_queries = codes.stop - codes.start

        def put(into: Floats, m: int, column: Floats) -> None:
            into[codes, :, m] = column.reshape(-1, n_queries).T

        def seed_of(row: int) -> np.random.SeedSequence:
            system, query = divmod(row, n_queries)
            return np.random.SeedSequence(seed, spawn_key=(system, codes.start + query))

        shares: dict[int | None, Floats] = {}
        for m, measure in enumerate(self.measures):
            if measure.cutoff not in shares:
                shares[measure.cutoff] = Measure.bind(MEASURES["Judged"], {}, measure.cutoff)(lists)
            put(self.judged, m, shares[measure.cutoff])
            if self.error is not None:
                value, error = expected(measure, seen, seed_of)
                put(self.error, m, error)
            else:
                value = measure(seen)
            put(self.values, m, value)
            if self.lower is not None and self.upper is not None and open_ is not None:
                low, high = unjudged_documents.bounds(measure, seen, open_)
                put(self.lower, m, np.minimum(low, value))
                put(self.upper, m, np.maximum(high, value))

    def drop(self, absent: Mask) -> None:
        """Leave lists out: NaN wherever a system retrieved nothing."""
        for array in (self.values, self.judged, self.lower, self.upper, self.error):
            if array is not None:
                array[absent] = np.nan


def _open_documents(collection: Collection, judgments: Judgments, codes: slice) -> Ints:
    """How many different unjudged documents the systems retrieved for each query of a block, at any rank."""
    query, document = [], []
    for run in collection.runs:
        offsets = run.offsets[codes.start : codes.stop + 1]
        document.append(run.documents[offsets[0] : offsets[-1]])
        query.append(np.repeat(np.arange(codes.stop - codes.start, dtype=np.int32), np.diff(offsets)))
    queries, documents = np.concatenate(query), np.concatenate(document)
    unjudged = judgments.pool.part(codes).find(queries, documents) < 0
    keys = np.unique((queries[unjudged].astype(np.int64) << 32) | documents[unjudged])
    return np.bincount(keys >> 32, minlength=codes.stop - codes.start)
