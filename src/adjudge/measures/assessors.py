"""Evaluate a collection by each assessor's own judgments, as if nobody else had judged.

One rule each, for every measure:

assessors
    The grades, the relevant documents and the ideal ranking are the assessor's own; the scale is the collection's.
unjudged documents
    What the assessor did not judge is unjudged, whoever else did: grade 0 (``unjudged="zero"``) or removed from the
    lists (``"condensed"``).
partial queries
    A query counts for an assessor who judged every document that anybody judged for it (``partial="drop"``): with only
    some of them, systems would differ by what was judged. With ``"keep"`` one judged document is enough.
missing queries, ties
    as in :func:`adjudge.measures.evaluation.evaluate`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.checks import SEED, Missing, Partial, Ties, checked
from adjudge.errors import AdjudgeError, shown, warn
from adjudge.measures.base import Measure, parse_measures
from adjudge.measures.evaluation import (
    Progress,
    absent_lists,
    blocks_for,
    canonical_name,
    check_ties,
    expected,
    remarks_on,
    remarks_on_measures,
)
from adjudge.model.collection import COLLECTION, Collection
from adjudge.model.effectiveness import AssessedEffectiveness
from adjudge.model.judgments import Judgments
from adjudge.model.runs import Run, Runs
from adjudge.model.vocabulary import Vocabulary
from adjudge.seeds import Seed, as_seed
from adjudge.text import counted, listed

Unjudged = Literal["zero", "condensed"]

_WORKERS = 4


@checked(collection=COLLECTION, partial=Partial, unjudged=Unjudged, missing=Missing, ties=Ties, seed=SEED)
def evaluate_assessors(
    collection: Collection,
    measures: str | Measure | Iterable[str | Measure],
    *,
    partial: Partial = "drop",
    unjudged: Unjudged = "zero",
    missing: Missing = "zero",
    ties: Ties = "trec",
    seed: Seed = 0,
    progress: Progress | None = None,
) -> AssessedEffectiveness:
    """Effectiveness of every system on every judged query, by the judgments of each assessor alone.

    A cell is a query and an assessor; it is NaN where the assessor did not judge the query, or not all of it. The
    result has every judged query and every assessor, even without a cell; no cell at all is an error. A document judged
    for one of several sub-topics counts as judged. Where a list has too many orders of ties to average all, the same
    ones are drawn for every assessor. ``progress`` is called with the number of cells done and to do.

    >>> import adjudge as aj
    >>> judgments = {"q1": {"a": {"ann": 0, "bob": 1}, "b": {"ann": 1, "bob": 1}}, "q2": {"a": {"bob": 1}}}
    >>> collection = aj.read({"mine": {"q1": ["a", "b"], "q2": ["b", "a"]}}, judgments)
    >>> eff = evaluate_assessors(collection, ["RR", "P@2"])
    >>> eff.assessors, eff.array("RR")[:, 0].tolist()
    (('ann', 'bob'), [[0.5, 1.0], [nan, 0.5]])
    """
    seed = as_seed(seed)
    check_ties(collection, ties)
    parsed = parse_measures(measures)
    judgments = _need_assessors(collection)
    cells = _Cells.of(judgments, partial)
    absent = absent_lists(collection, judgments)
    anybody = replace(judgments, assessors=(), combine="max")  # relevant for anybody; no note on combined grades
    notes = (*remarks_on(collection, anybody, absent, missing), *remarks_on_measures(parsed, judgments))
    left_out = cells.left_out(collection, judgments)
    if left_out:
        warn(left_out[0], stacklevel=2)
    values = np.full((judgments.n_queries, len(collection.runs), len(judgments.assessors), len(parsed)), np.nan)

    def fill(a: int) -> int:
        codes = np.flatnonzero(cells.kept[:, a])
        own = _of_assessor(collection, judgments, a, codes)
        values[:, :, a][codes] = _effectiveness(own, parsed, codes, unjudged=unjudged, ties=ties, seed=seed)
        return len(codes)

    with ThreadPoolExecutor(max_workers=_WORKERS) as executor:  # NumPy releases the interpreter's lock
        done = 0
        for n_cells in executor.map(fill, np.flatnonzero(cells.kept.any(axis=0)).tolist()):
            done += n_cells
            if progress is not None:
                progress(done, int(cells.kept.sum()))
    if missing == "drop":
        values[absent] = np.nan
    settings = {"partial": partial, "unjudged": unjudged, "missing": missing, "ties": ties}
    return AssessedEffectiveness(
        values,
        tuple(collection.queries[: judgments.n_queries]),
        collection.systems,
        judgments.assessors,
        tuple(str(measure) for measure in parsed),
        (*left_out, *notes, *cells.remarks()),
        collection.provenance.with_settings(
            **settings, scale=str(judgments.scale), **({"ties_seed": seed} if ties == "expected" else {})
        ),
        canonical_name,
    )


def _need_assessors(collection: Collection) -> Judgments:
    """The judgments, or an error where they do not say who made them."""
    judgments = collection.need_judgments()
    if judgments.assessor is None:
        columns = ["query", "document", "grade", *(["subtopic"] if judgments.subtopic is not None else [])]
        raise AdjudgeError(f"expected judgments with an assessor column, got {', '.join(columns)}")
    return judgments


@dataclass(frozen=True)
class _Cells:
    """Queries x assessors: number of ``judged`` documents, whether one was ``relevant``, and which cells are ``kept``.

    ``pooled`` is the number of documents that anybody judged for each query.
    """

    judged: Ints
    relevant: Mask
    pooled: Ints
    kept: Mask

    @classmethod
    def of(cls, judgments: Judgments, partial: Partial) -> _Cells:
        """Count the judged documents; an error where that leaves nothing."""
        import polars as pl

        frame = pl.DataFrame({"query": judgments.query, "document": judgments.document, "who": judgments.assessor})
        own, any_ = frame.unique(), frame.unique(["query", "document"])
        judged = np.zeros((judgments.n_queries, len(judgments.assessors)), dtype=np.int64)
        np.add.at(judged, (own["query"].to_numpy(), own["who"].to_numpy()), 1)
        relevant = np.zeros(judged.shape, dtype=np.bool_)
        found = judgments.grade > 0
        relevant[judgments.query[found], frame["who"].to_numpy()[found]] = True
        pooled = np.bincount(any_["query"].to_numpy(), minlength=judgments.n_queries)
        kept: Mask = judged > 0 if partial == "keep" else judged == pooled[:, None]
        if not kept.any():
            raise AdjudgeError(
                "No assessor judged all the judged documents of any query, so nothing is left; "
                "choose keep for partial queries to keep those judged in part."
            )
        return cls(judged, relevant, pooled, kept)

    def left_out(self, collection: Collection, judgments: Judgments) -> tuple[str, ...]:
        """A note on how many cells are left out, the first of them, and assessors without any; none if all are kept."""
        dropped = np.argwhere((self.judged > 0) & ~self.kept)
        if not len(dropped):
            return ()
        q, a = dropped[0]
        lost = [judgments.assessors[i] for i in np.flatnonzero(~self.kept.any(axis=0))]
        return (
            f"{counted(len(dropped), 'query-assessor cell')} of {np.count_nonzero(self.judged)} left out as partial, "
            f"first query {shown(collection.queries[q])} by {shown(judgments.assessors[a])}, who judged "
            f"{self.judged[q, a]} of {counted(int(self.pooled[q]), 'document')}"
            f"{f'; nothing is left of {listed(lost, most=3)}' if lost else ''}.",
        )

    def remarks(self) -> tuple[str, ...]:
        """What weakens the cells that are kept."""
        some = self.kept & (self.judged < self.pooled[:, None])
        none = self.kept & ~self.relevant & self.relevant.any(axis=1, keepdims=True)
        remarks = {
            "with only some of the query's judged documents.": int(some.sum()),
            "without a relevant document, though another assessor found one: effectiveness 0.": int(none.sum()),
        }
        return tuple(f"{counted(n, 'query-assessor cell')} {what}" for what, n in remarks.items() if n)


def _of_assessor(collection: Collection, judgments: Judgments, assessor: int, codes: Ints) -> Collection:
    """Some queries of a collection, with new consecutive codes and the judgments of one assessor."""
    mine = (judgments.assessor == assessor) & np.isin(judgments.query, codes)
    own = replace(
        judgments,
        query=np.searchsorted(codes, judgments.query[mine]).astype(np.int32),
        document=judgments.document[mine],
        grade=judgments.grade[mine],
        assessor=None,
        assessors=(),
        subtopic=None if judgments.subtopic is None else judgments.subtopic[mine],
    )
    if np.array_equal(codes, np.arange(judgments.n_queries)):
        return replace(collection, judgments=own)
    queries = Vocabulary()
    queries.encode(collection.queries.decode(codes))
    runs = tuple(_narrowed(run, codes) for run in collection.runs)
    return replace(collection, runs=Runs(runs, queries, collection.documents, collection.runs.cut_at), judgments=own)


def _narrowed(run: Run, codes: Ints) -> Run:
    """The rankings of a run for some queries."""
    lengths = run.lengths[codes]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    rows = np.arange(offsets[-1]) + np.repeat(run.offsets[codes] - offsets[:-1], lengths)
    return replace(
        run, offsets=offsets, documents=run.documents[rows], scores=None if run.scores is None else run.scores[rows]
    )


def _effectiveness(
    own: Collection, measures: Sequence[Measure], codes: Ints, *, unjudged: Unjudged, ties: Ties, seed: int
) -> Floats:
    """Queries x systems x measures by one assessor; ``codes`` are the original codes of the queries."""
    values = np.empty((len(codes), len(own.runs), len(measures)))
    blocks = blocks_for(own, measures, unjudged=unjudged, ties=ties)
    for block in blocks:
        lists = blocks.lists(block)
        seen = lists.condensed() if unjudged == "condensed" else lists
        here = codes[block]

        def seed_of(row: int, here: Ints = here) -> np.random.SeedSequence:
            system, query = divmod(row, len(here))
            return np.random.SeedSequence(seed, spawn_key=(system, int(here[query])))

        for m, measure in enumerate(measures):
            value = expected(measure, seen, seed_of)[0] if ties == "expected" else measure(seen)
            values[block, :, m] = value.reshape(-1, len(here)).T
    return values
