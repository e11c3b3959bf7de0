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
import warnings
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.choices import Missing, Ties, Unjudged, check_choice
from adjudge.errors import AdjudgeError, AdjudgeWarning, shown
from adjudge.measures import unjudged as unjudged_documents
from adjudge.measures.base import MEASURES, Measure
from adjudge.measures.notation import parse_measure, parse_measures
from adjudge.measures.ties import expected
from adjudge.model.collection import Collection
from adjudge.model.effectiveness import Effectiveness
from adjudge.model.judgments import Judgments
from adjudge.model.rankings import Blocks, Lists

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
    _check(collection, unjudged=unjudged, missing=missing, ties=ties, seed=seed)
    parsed = parse_measures(measures)
    judgments = collection.need_judgments()
    absent = _absent(collection, judgments)
    notes = (*_notes(collection, judgments, absent, missing), *_unreachable(parsed, judgments))
    table = _Table.empty(judgments.n_queries, len(collection.runs), parsed, unjudged, ties)
    whole = unjudged == "condensed" or ties == "expected" or any(m.cutoff is None or m.judged_only for m in parsed)
    blocks = Blocks(collection, None if whole else max(m.cutoff or 0 for m in parsed), ties=ties == "expected")

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
        _canonical_name,
    )


def _canonical_name(text: str) -> str:
    """How a measure is called here, however it is spelt."""
    return str(parse_measure(text))


def _check(collection: Collection, *, unjudged: str, missing: str, ties: str, seed: int) -> None:
    """Refuse options that are none, and ties that were broken before anybody asked."""
    check_choice("unjudged", unjudged, Unjudged)
    check_choice("missing", missing, Missing)
    check_choice("ties", ties, Ties)
    if not isinstance(seed, int) or seed < 0:
        raise AdjudgeError(f"'seed' must be a whole number of at least 0, got {seed}")
    depth = collection.runs.cut_at
    if ties == "expected" and depth is not None:
        raise AdjudgeError(f"ties='expected' needs whole rankings, but these were cut at depth {depth} when read.")


def default_measures(collection: Collection) -> tuple[Measure, ...]:
    """A few measures that suit the scale, at rank 10 or as deep as the runs go.

    >>> import adjudge as aj
    >>> [str(measure) for measure in default_measures(aj.demo(queries=10, depth=5))]
    ['CG@5', 'nDCG@5', 'Q@5', 'GAP@5']
    """
    k = max(1, min(10, collection.runs.depth))
    top = collection.need_judgments().scale.maximum
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


def _absent(collection: Collection, judgments: Judgments) -> Mask:
    """Which judged queries each system retrieved nothing for, shape (queries, systems)."""
    nothing: Mask = np.stack([run.lengths[: judgments.n_queries] == 0 for run in collection.runs], axis=1)
    return nothing


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


def _notes(collection: Collection, judgments: Judgments, absent: Mask, missing: Missing) -> tuple[str, ...]:
    """What should be said aloud about this evaluation; the worst of it also as warnings."""
    aloud = []
    unjudged = collection.queries[judgments.n_queries :]
    if unjudged:
        aloud.append(f"{_count(len(unjudged), 'query')} of the runs without judgments left out: {_some(unjudged)}.")
    if absent.all():
        asked, judged = _some(unjudged) or "nothing", _some(collection.queries[: judgments.n_queries])
        raise AdjudgeError(f"No query of the runs is judged: the runs answer {asked}; the judgments are for {judged}.")
    if absent.any():
        names = [collection.systems[s] for s in np.flatnonzero(absent.any(axis=0))]
        first = collection.queries[int(np.flatnonzero(absent.any(axis=1))[0])]
        text = (
            f"{_count(int(absent.sum()), 'list')} missing: nothing retrieved by {_some(names)} "
            f"for judged queries such as {shown(first)}"
        )
        if missing == "error":
            raise AdjudgeError(f"{text}; say zero or drop for missing lists to go on.")
        aloud.append(f"{text}; {'each counts 0' if missing == 'zero' else 'left out of the means'}.")
    for text in aloud:
        warnings.warn(text, AdjudgeWarning, stacklevel=3)
    return (*aloud, *_remarks(judgments))


def _remarks(judgments: Judgments) -> list[str]:
    remarks = []
    pool = judgments.pool
    filled = np.diff(pool.offsets) > 0
    best = np.zeros(len(filled))
    best[filled] = np.maximum.reduceat(pool.grades, pool.offsets[:-1][filled])
    nothing = int(np.count_nonzero(best <= 0))
    if nothing:
        remarks.append(f"{_count(nothing, 'query')} without a relevant document: effectiveness 0.")
    remarks.extend(judgments.notes)
    if len(judgments.assessors) > 1 and len(pool.grades) < len(judgments):
        remarks.append(f"Pairs judged by several assessors have the {judgments.combine} of their grades.")
    if judgments.subtopic is not None:
        remarks.append("Documents judged for several sub-topics have the highest of those grades.")
    return remarks


def _unreachable(measures: Sequence[Measure], judgments: Judgments) -> list[str]:
    """Measures whose threshold no grade of the scale reaches: they are 0 whatever the systems do."""
    top = judgments.scale.maximum
    names = [str(m) for m in measures if (dict(m.parameters).get("rel") or 0) > top]
    return [f"No grade is high enough for {_some(names)} on the scale {judgments.scale}: 0."] if names else []


def _count(n: int, noun: str) -> str:
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{n} {noun if n == 1 else plural}"


def _some(names: Sequence[str]) -> str:
    few = ", ".join(names[:3])
    return few if len(names) <= 3 else f"{few} and {len(names) - 3} more"
