"""Evaluate a collection: every measure on every system and query.

One rule each, for every measure:

unjudged documents
    have grade 0 (``unjudged="zero"``). ``"condensed"`` removes them from the lists; ``"bounds"`` adds the lowest and
    highest effectiveness over all grades that they could have.
missing queries
    A judged query for which a system retrieved nothing counts 0 for it (``missing="zero"``), is left out of its mean
    (``"drop"``) or is an error (``"error"``). A query of the runs without judgments is left out for all systems. Both
    cause a warning.
ties
    are broken as trec_eval does (``ties="trec"``), or averaged over all orders that they allow (``"expected"``). Few
    orders are all averaged, which is exact; of many, a fixed number is drawn, and the result has a standard error.

Bounds: for most measures a higher grade in the list never lowers effectiveness, and a higher grade elsewhere never
raises it. So the lowest value comes from unjudged documents with grade 0 in the list, against an ideal in which every
unjudged document that a system retrieved has the highest grade; the highest value comes from the opposite. Where
nothing relevant was judged, any list with an unjudged document might be perfect. Bounds are *reached* where the ideal
does not depend on judgments: with ``ideal=max``, for sums without an ideal, and for the classic forms of P, RR,
Success, RBP and ERR. Elsewhere (AP, R, nDCG, Q, GAP, ADR, …) they are *outer* bounds: no grades lead out of them, but
the true range may be narrower, because one document cannot be both worthless in the list and perfect in the ideal.
Measures that are not monotone get 0 and 1, or no upper bound where they have none by definition.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import permutations, product

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.checks import SEED, Missing, Ties, Unjudged, checked
from adjudge.errors import AdjudgeError, kept_warnings, shown, warn
from adjudge.formats.effectiveness import read_effectiveness
from adjudge.measures.base import MEASURES, Measure, parse_measure, parse_measures
from adjudge.model.collection import COLLECTION, Collection
from adjudge.model.effectiveness import Effectiveness
from adjudge.model.judgments import Judgments
from adjudge.model.rankings import Blocks, Lists
from adjudge.model.scales import Scale
from adjudge.seeds import Seed, as_seed
from adjudge.text import counted, listed


def blocks_for(collection: Collection, measures: Sequence[Measure], *, unjudged: Unjudged, ties: Ties) -> Blocks:
    """Rankings as deep as the measures need, or whole where that is not known beforehand."""
    whole = unjudged == "condensed" or ties == "expected" or any(m.cutoff is None or m.judged_only for m in measures)
    return Blocks(collection, None if whole else max(m.cutoff or 0 for m in measures), ties=ties == "expected")


def canonical_name(text: str) -> str:
    """The name of a measure here, in whatever spelling."""
    return str(parse_measure(text))


def check_ties(collection: Collection, ties: Ties) -> None:
    """Refuse to average over ties that were cut when the runs were read."""
    depth = collection.runs.cut_at
    if ties == "expected" and depth is not None:
        raise AdjudgeError(f"ties='expected' needs whole rankings, but these were cut at depth {depth} when read.")


def absent_lists(collection: Collection, judgments: Judgments) -> Mask:
    """Which judged queries each system retrieved nothing for, shape (queries, systems)."""
    nothing: Mask = np.stack([run.lengths[: judgments.n_queries] == 0 for run in collection.runs], axis=1)
    return nothing


def remarks_on(collection: Collection, judgments: Judgments, absent: Mask, missing: Missing) -> tuple[str, ...]:
    """Notes on this evaluation; the most important ones are also warnings."""
    loud = []
    unjudged = collection.queries[judgments.n_queries :]
    if unjudged:
        loud.append(
            f"{counted(len(unjudged), 'query')} of the runs without judgments left out: {listed(unjudged, most=3)}."
        )
    if absent.all():
        asked, judged = listed(unjudged, most=3) or "nothing", listed(collection.queries[: judgments.n_queries], most=3)
        raise AdjudgeError(f"No query of the runs is judged: the runs answer {asked}; the judgments are for {judged}.")
    if absent.any():
        names = [collection.systems[s] for s in np.flatnonzero(absent.any(axis=0))]
        first = collection.queries[int(np.flatnonzero(absent.any(axis=1))[0])]
        text = (
            f"{counted(int(absent.sum()), 'list')} missing: nothing retrieved by {listed(names, most=3)} "
            f"for judged queries such as {shown(first)}"
        )
        if missing == "error":
            raise AdjudgeError(f"{text}; choose zero or drop for missing lists to go on.")
        loud.append(f"{text}; {'each counts 0' if missing == 'zero' else 'left out of the means'}.")
    for text in loud:
        warn(text, stacklevel=3)
    return (*loud, *_quiet_remarks(judgments))


def _quiet_remarks(judgments: Judgments) -> list[str]:
    remarks = []
    pool = judgments.pool
    filled = np.diff(pool.offsets) > 0
    best = np.zeros(len(filled))
    best[filled] = np.maximum.reduceat(pool.grades, pool.offsets[:-1][filled])
    nothing = int(np.count_nonzero(best <= 0))
    if nothing:
        remarks.append(f"{counted(nothing, 'query')} without a relevant document: effectiveness 0.")
    remarks.extend(judgments.notes)
    if len(judgments.assessors) > 1 and len(pool.grades) < len(judgments):
        remarks.append(f"Pairs judged by several assessors have the {judgments.combine} of their grades.")
    return remarks


def remarks_on_measures(measures: Sequence[Measure], judgments: Judgments) -> list[str]:
    """Notes on measures that do not look at sub-topics, and on those whose threshold no grade reaches: always 0."""
    remarks = []
    plain = [str(m) for m in measures if not m.definition.subtopics]
    if judgments.subtopic is not None and plain:
        where = "" if len(plain) == len(measures) else f" in {listed(plain, most=3)}"
        remarks.append(f"Documents judged for several sub-topics have the highest of those grades{where}.")
    names = [str(m) for m in measures if (dict(m.parameters).get("rel") or 0) > judgments.scale.maximum]
    if names:
        remarks.append(f"No grade is high enough for {listed(names, most=3)} on the scale {judgments.scale}: 0.")
    return remarks


EXACT_ORDERS = 720  # up to this many orders are all averaged
DRAWN_ORDERS = 1000


def expected(measure: Measure, lists: Lists, seeds: Callable[[int], np.random.SeedSequence]) -> tuple[Floats, Floats]:
    """Expected effectiveness of each list and its standard error (0 where exact).

    ``seeds`` gives every list its own seed, so that its orders depend neither on other lists nor on the measure.
    """
    values, errors = measure(lists), np.zeros(len(lists))
    for row in np.flatnonzero(_has_ties(lists)):
        tied = lists.rows(np.array([row]))
        orders, exact = _orders(tied, None if measure.judged_only else measure.cutoff, seeds(int(row)))
        every = measure(tied.rows(np.zeros(len(orders), dtype=np.intp)).reordered(orders))
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


def _orders(tied: Lists, cutoff: int | None, seed: np.random.SeedSequence) -> tuple[Ints, bool]:
    """Column orders of a single list down to the cutoff: all of them, or a sample; and whether these are all."""
    length = int(tied.lengths[0])
    groups = tied.tied[0, :length] if tied.tied is not None else np.arange(length)
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
    kinds: dict[str, list[str]] = {
        "the lowest and the highest value are reached by some grades": [],
        "no grades lead out of them, but the true range may be narrower": [],
        "nothing better than the range of the measure is known": [],
    }
    reached, outer, trivial = kinds.values()
    for measure in measures:
        if measure.name != "Judged":
            kind = reached if _is_reached(measure, scale, grades) else outer if measure.monotone else trivial
            kind.append(str(measure))
    return [f"Bounds of {', '.join(names)}: {what}." for what, names in kinds.items() if names]


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
    """Every retrieved unjudged document counts as one of the highest grade in the ideal."""
    extra = np.arange(int(unjudged.max(initial=0))) < unjudged[:, None]
    judged = np.where(lists.pool_judged, lists.pool, -np.inf)
    pool = np.concatenate([judged, np.where(extra, lists.scale.maximum, -np.inf)], axis=1)
    pool = -np.sort(-pool, axis=1)
    return replace(lists, pool=np.where(np.isneginf(pool), 0.0, pool), sizes=lists.sizes + unjudged)


def _with_a_top_grade_elsewhere(lists: Lists) -> Lists:
    """One more document of the highest grade was judged."""
    top = np.full((len(lists.pool), 1), lists.scale.maximum)
    return replace(lists, pool=np.concatenate([top, lists.pool], axis=1), sizes=lists.sizes + 1)


Progress = Callable[[int, int], None]
_WORKERS = min(4, os.cpu_count() or 1)


@checked(collection=COLLECTION, unjudged=Unjudged, missing=Missing, ties=Ties, seed=SEED)
def evaluate(
    collection: Collection,
    measures: str | Measure | Iterable[str | Measure],
    *,
    unjudged: Unjudged = "zero",
    missing: Missing = "zero",
    ties: Ties = "trec",
    seed: Seed = 0,
    progress: Progress | None = None,
) -> Effectiveness:
    """Effectiveness of every system on every judged query.

    ``seed`` only matters for ``ties="expected"`` where there are too many orders to average all; ``error`` then holds
    the standard error. ``progress`` is called with the number of queries done and to do.

    >>> import adjudge as aj
    >>> collection = aj.read(runs={"mine": {"q1": {"a": 2.0, "b": 1.0}}}, judgments={"q1": {"a": 0, "b": 1}})
    >>> print(aj.evaluate(collection, ["RR", "nDCG@5"]))
    Effectiveness, mean of 1 query
    system      RR  nDCG@5
    mine    0.5000  0.6309
    """
    seed = as_seed(seed)
    check_ties(collection, ties)
    parsed = parse_measures(measures)
    judgments = collection.need_judgments()
    absent = absent_lists(collection, judgments)
    notes = (*remarks_on(collection, judgments, absent, missing), *remarks_on_measures(parsed, judgments))
    if unjudged == "bounds":
        notes += tuple(describe_bounds(parsed, judgments.scale, judgments.pool.grades))
    table = _Table.empty(judgments.n_queries, len(collection.runs), parsed, unjudged, ties)
    blocks = blocks_for(collection, parsed, unjudged=unjudged, ties=ties)

    def fill(codes: slice) -> int:
        lists = blocks.lists(codes)
        seen = lists.condensed() if unjudged == "condensed" else lists
        open_ = _open_documents(collection, judgments, codes) if unjudged == "bounds" else None
        table.fill(codes, lists, seen, open_, seed)
        return int(codes.stop)

    with ThreadPoolExecutor(max_workers=_WORKERS) as executor:  # NumPy releases the interpreter's lock
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
    """Queries x systems x measures, filled block by block."""

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
        """Evaluate one block; ``seen`` are the lists that measures see, ``lists`` those of the systems."""
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
                low, high = bounds(measure, seen, open_)
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


def read_system_effectiveness(path: str, *, columns: Mapping[str, str] | None = None) -> Effectiveness:
    """Effectiveness of one system from a table; columns that all have names of measures are measures, not systems."""
    with kept_warnings():
        eff = read_effectiveness(path, columns=columns)
    if isinstance(eff, Effectiveness) and eff.measures == ("effectiveness",):
        try:
            names = tuple(str(parse_measure(name)) for name in eff.systems)
        except AdjudgeError:
            names = ()
        if names:
            values, judged = (array.transpose(0, 2, 1) for array in (eff.values, eff.judged))
            eff = replace(eff, values=values, judged=judged, systems=("system",), measures=names)
    if not isinstance(eff, Effectiveness) or len(eff.systems) != 1:
        raise AdjudgeError(f"{path}: expected effectiveness of one system, got {len(eff.systems)}")
    return eff
