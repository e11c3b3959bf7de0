"""Constructions side by side: lists made in several ways from the same answers, and how systems fare by them.

Consistency says how well a list repeats what the tests found, not how well it finds what is true. With rankings by many
experts the two go together: on simulated experts (:mod:`~adjudge.groundtruth.simulated`) the constructions stand in
much the same order by either. With ten preferences per pair they do not: whoever sorts by asking asks mostly about
documents that are close, few of those pairs are significant, and large groups look consistent because the tests are
weak. There Any and Bradley-Terry, which uses all answers for every pair, recover more of the truth and are the least
consistent with the pairs taken one at a time, by held-out answers as well
(:func:`~adjudge.groundtruth.simulated.simulate_preferences`). Choose by consistency among constructions of rankings,
not of sparse preferences.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.checks import ALPHA, COUNT, COUNT_OR_NONE, DEFAULT_CONSTRUCTION, SEED, checked
from adjudge.deprecated import renamed
from adjudge.errors import AdjudgeError, warn
from adjudge.groundtruth.answers import PreferredQuery, Unranked
from adjudge.groundtruth.building import (
    ANSWERS,
    SAME,
    Answers,
    Construction,
    GroundTruth,
    cut_lists,
    make_all,
    parse_construction,
    takes_of,
)
from adjudge.groundtruth.evidence import COMPARISONS, DEFAULT_ALPHA, QueryAnswers, default_comparison, list_consistency
from adjudge.groundtruth.figures import ByConstruction, Places, by_construction, places
from adjudge.groundtruth.lists import PartialLists
from adjudge.parallel import Progress
from adjudge.reporting.document import FigureBlock
from adjudge.results import Column, Result, columns_of, figure
from adjudge.seeds import Seed, as_seed
from adjudge.stats.matrices import ROUNDING, dense_ranks
from adjudge.text import counted

if TYPE_CHECKING:
    from adjudge.model.collection import Collection
    from adjudge.model.effectiveness import Effectiveness


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
    queries: Sequence[QueryAnswers] = answers.queries
    for half in range(halves):
        for place, asked in enumerate(queries):
            rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(half, place)))
            both = _halved(asked, unranked, rng)
            if both is None:
                continue
            known = [COMPARISONS[by].compare(side, seed=seed) for side in both]  # makes lists, and measures the others'
            for turn, making in enumerate(both):
                cuts = cut_lists(making, constructions, alpha=alpha, seed=seed, known={by: known[turn]})
                for row, (made, group) in enumerate(cuts):
                    other = known[1 - turn].for_documents(made.documents)
                    values[half, turn, row, place] = list_consistency(other, group, alpha=alpha, tails=1)
            if progress is not None:
                progress(half * len(queries) + place + 1, halves * len(queries))
    n = np.isfinite(values).sum(axis=(0, 1))
    total = np.nansum(values.reshape(-1, *n.shape), axis=0)
    means: Floats = np.divide(total, n, out=np.full(n.shape, np.nan), where=n > 0)
    return means


def _halved(asked: QueryAnswers, unranked: Unranked, rng: np.random.Generator) -> Sequence[QueryAnswers] | None:
    """Two halves of the answers about the same documents; None where they have no two documents in common."""
    if isinstance(asked, PreferredQuery):  # each pair's answers are dealt out in turn, in random order
        pair = np.minimum(asked.first, asked.second) * len(asked.documents) + np.maximum(asked.first, asked.second)
        order = np.lexsort((rng.random(len(pair)), pair))
        _, start, code = np.unique(pair[order], return_index=True, return_inverse=True)
        turn = (np.arange(len(pair)) - start[code] + rng.integers(2, size=len(start))[code]) % 2
        return asked.of_answers(np.sort(order[turn == 0])), asked.of_answers(np.sort(order[turn == 1]))
    order = rng.permutation(len(asked.experts))
    sides = order[: len(order) // 2], order[len(order) // 2 :]
    ranked = [np.isfinite(asked.ranks[side]).any(axis=0) for side in sides]
    common = np.flatnonzero(ranked[0] & ranked[1]).tolist()
    if len(common) < 2:
        return None
    return [asked.of_experts(side.tolist()).filled(unranked).of_documents(common) for side in sides]


@dataclass(frozen=True)
class RankingChange:
    """How the ranking of systems by one construction differs from that by the baseline."""

    construction: Annotated[str, Column("the construction", key=True)]
    tau: Annotated[float, Column("Kendall's tau-b with the baseline's ranking", ".3f", ends=("tau_low", "tau_high"))]
    tau_low: Annotated[float, Column("lower end of its interval", ".3f", shown=False)]
    tau_high: Annotated[float, Column("upper end of its interval", ".3f", shown=False)]
    moved: Annotated[int, Column("systems that have another place", "d")]
    swapped: Annotated[int, Column("pairs of systems in the opposite order", "d")]


@dataclass(frozen=True, repr=False)
class ComparedSystems(Result):
    """Effectiveness of each system (constructions x queries x systems), and rankings against the baseline's.

    ``tau`` is Kendall's tau-b of the systems' means by each construction and by the baseline, with the ends of a 95 %
    percentile interval from resampled queries. ``moved`` systems have another place than by the baseline, ``swapped``
    pairs of systems the opposite order. ``baseline`` is its place among the constructions.
    """

    constructions: tuple[str, ...]
    systems: tuple[str, ...]
    queries: tuple[str, ...]
    measure: str
    values: Floats
    tau: Floats
    tau_low: Floats
    tau_high: Floats
    moved: Ints
    swapped: Ints
    resamples: int
    baseline: int = 0

    @property
    def means(self) -> Floats:
        """Constructions x systems."""
        means: Floats = self.values.mean(axis=1)
        return means

    @property
    def order(self) -> list[int]:
        """Systems from the best to the worst by the baseline."""
        return [int(i) for i in np.argsort(-self.means[self.baseline], kind="stable")]

    @figure("systems-places")
    def _places(self) -> FigureBlock:
        """Place of each system by the lists of each construction."""
        if len(self.constructions) < 2:
            raise AdjudgeError("places need two constructions or more")
        order = self.order[:_MOST_SYSTEMS_DRAWN]
        place = (self.means[:, None, :] > self.means[:, order, None] + 1e-12).sum(axis=2) + 1
        systems, n = tuple(self.systems[s] for s in order), len(self.systems)
        data = Places(systems, self.constructions, place, self.tau, n, self.baseline)
        some = f" The {len(order)} best of {n}." if n > len(order) else ""
        caption = f"Place of each system by the lists of each construction; those that never move are grey.{some}"
        moving = int((place != place[:1]).any(axis=0).sum())
        alt = f"Places of {len(order)} systems by {len(self.constructions)} constructions; {moving} change places."
        return FigureBlock("systems-places", caption, alt, data, places)

    row_type = RankingChange
    rows_name = "changes"

    @property
    def title(self) -> str:
        """What it is, in a line."""
        base = self.constructions[self.baseline]
        return f"Rankings of {counted(len(self.systems), 'system')} by {self.measure}, against {base}"

    def _rows(self) -> list[RankingChange]:
        columns = (self.tau, self.tau_low, self.tau_high, self.moved, self.swapped)
        rows = zip(self.constructions, *(column.tolist() for column in columns), strict=True)
        return [RankingChange(*row) for row in rows]

    def _facts(self) -> dict[str, Any]:
        """Means of each system by each construction."""
        rows = zip(self.constructions, self.means.tolist(), strict=True)
        return {
            "measure": self.measure,
            "baseline": self.constructions[self.baseline],
            "queries": self.queries,
            "resamples": self.resamples,
            "means": {name: dict(zip(self.systems, row, strict=True)) for name, row in rows},
        }


@checked(resamples=COUNT, seed=SEED)
def compare_systems(
    truths: Sequence[GroundTruth],
    runs: Collection,
    *,
    measure: str = "ADR",
    baseline: int = 0,
    resamples: int = 1000,
    seed: Seed = 0,
) -> ComparedSystems:
    """Evaluate every system by each set of lists, and compare their rankings with that by one of them.

    ``baseline`` is the place of that one. Grades are the levels of the lists; judgments of the collection are ignored.
    Queries that no system has are left out. The same queries are resampled for all constructions, so that an interval
    says how far the agreement of two rankings depends on the queries at hand.

    >>> import adjudge as aj
    >>> from adjudge.groundtruth.simulated import simulate_rankings
    >>> from adjudge.groundtruth.building import build
    >>> simulated = simulate_rankings(queries=4, documents=6, experts=9, groups=3)
    >>> good = {query: list(true.documents) for query, true in simulated.truth.items()}
    >>> bad = {query: documents[::-1] for query, documents in good.items()}
    >>> runs = aj.read({"good": good, "bad": bad})
    >>> made = [build(simulated.rankings, name) for name in ("All-2", "Any-1")]
    >>> compare_systems(made, runs).tau.tolist()
    [1.0, 1.0]
    """
    seed = as_seed(seed)
    if not 0 <= baseline < len(truths):
        raise AdjudgeError(f"'baseline' must be a place from 0 to {len(truths) - 1}, got {baseline}")
    found = [effectiveness_by_lists(truth.lists, runs, measure) for truth in truths]
    values = np.stack([eff.matrix() for eff in found])
    queries, n = found[0].queries, values.shape[1]
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(2,)))
    weights = rng.multinomial(n, np.full(n, 1 / n), size=resamples) / n
    drawn = np.einsum("rq,cqs->crs", weights, values)
    taus = np.stack([_tau(resampled, drawn[baseline]) for resampled in drawn])
    means = values.mean(axis=1)
    low, high = np.nanpercentile(taus, (2.5, 97.5), axis=1) if len(found[0].systems) > 1 else (taus[:, 0], taus[:, 0])
    return ComparedSystems(
        constructions=tuple(truth.made_by for truth in truths),
        systems=found[0].systems,
        queries=queries,
        measure=found[0].measures[0],
        values=values,
        tau=np.concatenate([_tau(row[None], means[[baseline]]) for row in means]),
        tau_low=low,
        tau_high=high,
        moved=np.array([int((_places(row) != _places(means[baseline])).sum()) for row in means]),
        swapped=np.array([int((_orders(row) * _orders(means[baseline]) < 0).sum()) for row in means]),
        resamples=resamples,
        baseline=baseline,
    )


def effectiveness_by_lists(lists: PartialLists, runs: Collection, measure: str = "ADR") -> Effectiveness:
    """Effectiveness of the systems of a collection by lists, whatever judgments it has.

    Queries that no system has are left out; one that some systems have counts 0 for the others, as everywhere.
    """
    import polars as pl

    from adjudge.errors import kept_warnings
    from adjudge.measures.evaluation import evaluate
    from adjudge.model.collection import Table, build_collection

    frame = runs.runs.to_polars()
    known = set(frame["query"].unique())
    graded = {query: grades for query, grades in lists.to_grades().items() if query in known}
    rows = [(query, document, grade) for query, grades in graded.items() for document, grade in grades.items()]
    if not rows:
        raise AdjudgeError("Lists and runs: expected queries in common, got none")
    judged = pl.DataFrame(rows, schema=["query", "document", "grade"], orient="row")
    with kept_warnings():  # about queries that the lists do not have
        return evaluate(build_collection([Table(frame, "runs")], [Table(judged, "lists")]), measure)


def _orders(means: Floats) -> Floats:
    """Which of each pair of systems is better, by sign; means nearer than rounding are equal."""
    first, second = np.triu_indices(means.shape[-1], 1)
    difference = means[..., first] - means[..., second]
    return np.where(np.abs(difference) <= ROUNDING * np.abs(means).max(), 0.0, np.sign(difference))


def _tau(means: Floats, others: Floats) -> Floats:
    """Kendall's tau-b of each row; NaN where one has all systems equal, or there is a single system."""
    ours, theirs = _orders(means), _orders(others)
    both = np.sqrt((ours**2).sum(axis=-1) * (theirs**2).sum(axis=-1))
    concordant = (ours * theirs).sum(axis=-1)
    tau: Floats = np.divide(concordant, both, out=np.full(concordant.shape, np.nan), where=both > 0)
    return tau


def _places(means: Floats) -> Floats:
    """The place of each system, from the best; equal ones share theirs."""
    from scipy.stats import rankdata

    places: Floats = rankdata(-dense_ranks(means))
    return places


PAPER_CONSTRUCTIONS = ("All-2", "Any-2", "Prev-2", "All-1", "Any-1", "Prev-1")
"""The six of Urbano et al. 2010; the first is the original of Typke et al. 2005, and what others are tested against."""


class ConstructionRecord(TypedDict):
    """One construction in numbers: means over queries and sums of pairs."""

    construction: Annotated[str, Column("the construction", key=True)]
    adr_1: Annotated[float, Column("mean consistency by one-tailed tests", ".3f", label="ADR-1")]
    adr_2: Annotated[float, Column("mean consistency by two-tailed tests", ".3f", label="ADR-2")]
    held_out: Annotated[float, Column("ADR-1 consistency with answers that the list was not made from", ".3f")]
    documents_per_group: Annotated[float, Column("mean documents per group", ".3f", label="documents per group")]
    groups: Annotated[int, Column("groups of all lists", ",d", shown=False)]
    intra: Annotated[int, Column("pairs inside a group that differ", ",d", shown=False)]
    pairs_within: Annotated[int, Column("compared pairs inside a group", ",d", shown=False)]
    inter: Annotated[int, Column("pairs across groups that do not differ", ",d", shown=False)]
    pairs_between: Annotated[int, Column("compared pairs across groups", ",d", shown=False)]
    misordered: Annotated[int, Column("pairs in the wrong order", ",d", shown=False)]
    correlation: Annotated[float, Column("Pearson's r of documents per group and consistency", ".3f", label="r")]
    p_correlation: Annotated[float, Column("p-value of that correlation", "p", shown=False)]
    p_consistency: Annotated[float, Column("p-value of being more consistent than the baseline", "p", label="p")]
    p_group_size: Annotated[float, Column("p-value of having smaller groups than the baseline", "p", shown=False)]


_MOST_SYSTEMS_DRAWN = 40  # systems in a figure


@dataclass(frozen=True)
class ComparedConstruction:
    """One construction: its lists, and numbers of them; arrays have one value per query, in the order of the lists.

    ``adr_1`` and ``adr_2`` are consistencies (NaN for a list of one document), ``held_out`` is ADR-1 consistency with
    answers that the list was not made from (NaN without halves). ``correlation`` is Pearson's r of documents per group
    and ADR-1 consistency over queries, NaN where either is constant. ``p_consistency`` and ``p_group_size`` are of
    paired one-tailed t-tests over queries against the baseline: more consistent, smaller groups; NaN for the baseline
    itself and where there are fewer than two queries.
    """

    truth: GroundTruth
    adr_1: Floats
    adr_2: Floats
    groups: Ints
    group_size: Floats
    held_out: Floats
    intra: int
    inter: int
    misordered: int
    n_within: int
    n_between: int
    correlation: float
    p_correlation: float
    p_consistency: float
    p_group_size: float

    @property
    def name(self) -> str:
        """The construction as it is written."""
        return self.truth.made_by

    def record(self) -> dict[str, Any]:
        """Means over queries and sums of pairs, for a row of a table."""
        own = ("intra", "inter", "misordered", "correlation", "p_correlation", "p_consistency", "p_group_size")
        return {
            "construction": self.name,
            "adr_1": _mean(self.adr_1),
            "adr_2": _mean(self.adr_2),
            "held_out": _mean(self.held_out),
            "documents_per_group": _mean(self.group_size),
            "groups": int(self.groups.sum()),
            "pairs_within": self.n_within,
            "pairs_between": self.n_between,
            **{name: getattr(self, name) for name in own},
        }


@dataclass(frozen=True, repr=False, eq=False)
class ComparedConstructions(Result):
    """Constructions side by side, in the order given; ``systems`` only where runs were given."""

    rows: tuple[ComparedConstruction, ...]
    queries: tuple[str, ...]
    baseline: str
    alpha: float
    measured_by: str
    unranked: Unranked
    halves: int
    seed: int
    systems: ComparedSystems | None = None
    notes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> ComparedConstruction:
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(name)

    @cached_property
    def pairs_compared(self) -> tuple[int, int]:
        """How many pairs of documents were compared, and how many there are; the same for all constructions."""
        built = self.rows[0].truth.built
        n_compared = sum(int(np.triu(made.evidence.compared, 1).sum()) for made in built)
        return n_compared, sum(math.comb(len(made.list), 2) for made in built)

    @property
    def best(self) -> ComparedConstruction:
        """The most consistent one, by held-out answers if there are any; Any-1 (or the first) of sparse answers.

        Where some pairs were never asked about, consistency does not tell which lists are right.
        """
        if self.pairs_compared[0] < self.pairs_compared[1]:
            return next((row for row in self.rows if row.name == DEFAULT_CONSTRUCTION), self.rows[0])
        key = "held_out" if np.isfinite(self.rows[0].held_out).any() else "adr_1"
        return max(self.rows, key=lambda row: np.nan_to_num(row.record()[key], nan=-1.0))

    def means(self, name: str) -> Floats:
        """A number of each construction, by its name in the records."""
        return np.array([row.record()[name] for row in self.rows], dtype=np.float64)

    @figure("constructions-spread")
    def _spread(self) -> FigureBlock:
        """Consistency and group sizes by each construction."""
        data = ByConstruction(
            self.names,
            tuple(row.adr_1 for row in self.rows),
            tuple(row.group_size for row in self.rows),
            tuple(float(value) for value in self.means("held_out")),
        )
        low, high = np.nanmin(self.means("adr_1")), np.nanmax(self.means("adr_1"))
        caption = "Every tick is a query; the line holds the middle half, the dot is the median, the diamond the mean."
        alt = (
            f"Consistency and group sizes of {len(self.rows)} constructions over {len(self.queries)} queries; mean "
            f"consistencies lie between {low:.3f} and {high:.3f}."
        )
        return FigureBlock("constructions-spread", caption, alt, data, by_construction)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The constructions."""
        return tuple(row.name for row in self.rows)

    rows_name = "constructions"

    @property
    def title(self) -> str:
        """What it is, in a line."""
        size = counted(len(self.queries), "query")
        return f"Consistency of lists for {size}, by {self.measured_by} at {self.alpha:g}"

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns; with runs, also how the ranking of systems changes."""
        changes = columns_of(RankingChange)[1:] if self.systems is not None else ()
        return (*columns_of(ConstructionRecord), *(replace(column, shown=False) for column in changes))

    def _rows(self) -> list[dict[str, Any]]:
        changes = [{}] * len(self.rows) if self.systems is None else self.systems.to_dicts()
        return [row.record() | change for row, change in zip(self.rows, changes, strict=True)]

    def _facts(self) -> dict[str, Any]:
        names = ("queries", "baseline", "alpha", "measured_by", "unranked", "halves", "seed", "notes")
        systems = None if self.systems is None else self.systems.to_dict()
        return {**{name: getattr(self, name) for name in names}, "systems": systems}

    def _notes(self) -> tuple[str, ...]:
        return self.notes

    def parts(self) -> tuple[Result, ...]:
        """How rankings of systems change, where runs were given."""
        return () if self.systems is None else (self.systems,)

    def __repr__(self) -> str:
        return f"<ComparedConstructions: {', '.join(self.names)}, {counted(len(self.queries), 'query')}>"


@renamed({"unranked": {"left out": "skip"}})
@checked(
    answers=ANSWERS,
    alpha=ALPHA,
    unranked=Unranked,
    least_experts=COUNT,
    halves=COUNT_OR_NONE,
    resamples=COUNT,
    seed=SEED,
)
def compare_constructions(
    answers: Answers,
    constructions: Sequence[str | Construction] = PAPER_CONSTRUCTIONS,
    *,
    alpha: float = DEFAULT_ALPHA,
    unranked: Unranked = "skip",
    least_experts: int = 1,
    runs: Collection | None = None,
    measure: str = "ADR",
    halves: int = 10,
    resamples: int = 1000,
    seed: Seed = 0,
    progress: Progress | None = None,
) -> ComparedConstructions:
    """Make lists in each way, and compare them.

    All consistencies are measured by the default comparison of the answers, whatever made the lists. A construction may
    be made to measure (Best is), or follow chance in the answers; ``halves`` times lists are therefore also made from a
    random half of the experts (of the answers about each pair, for preferences) and measured by the other half, and
    the other way round. With fewer answers fewer differences are significant: compare constructions by that number, not
    that number with the others. The baseline, of tests and of rankings of systems, is All-2 where it is among the
    constructions, else the first. ``progress`` is called with the number of halvings done, over all queries, and of
    all.

    With ``runs`` every system is evaluated by each set of lists with ``measure``; see
    :func:`~adjudge.groundtruth.comparing.compare_systems`.

    Reference: Urbano et al., ISMIR 2010, Tables 3 and 4 (which do not say whether their t-tests are paired).

    >>> from adjudge.groundtruth.simulated import simulate_rankings
    >>> rankings = simulate_rankings(queries=3, documents=8, experts=12, groups=4).rankings
    >>> [row.name for row in compare_constructions(rankings, ["All-2", "Any-1"], halves=1).rows]
    ['All-2', 'Any-1']
    """
    seed = as_seed(seed)
    parsed = [parse_construction(name) if isinstance(name, str) else name for name in constructions]
    if not parsed or len(set(parsed)) < len(parsed):
        raise AdjudgeError(f"Constructions: expected some, each once, got {', '.join(map(str, parsed)) or 'none'}")
    truths = make_all(answers, parsed, alpha=alpha, unranked=unranked, least_experts=least_experts, seed=seed)
    base = next((place for place, chosen in enumerate(parsed) if str(chosen) == "All-2"), 0)
    systems = None
    if runs is not None:
        systems = compare_systems(truths, runs, measure=measure, baseline=base, resamples=resamples, seed=seed)
    held_out = held_out_consistency(
        answers, parsed, alpha=alpha, unranked=unranked, halves=halves, seed=seed, progress=progress
    )
    notes = truths[0].notes
    for note in notes:
        warn(note, stacklevel=2)
    return ComparedConstructions(
        rows=tuple(_compared(truth, truths[base], out) for truth, out in zip(truths, held_out, strict=True)),
        queries=tuple(truths[0]),
        baseline=str(parsed[base]),
        alpha=alpha,
        measured_by=truths[0].measured_by,
        unranked=unranked,
        halves=halves,
        seed=seed,
        systems=systems,
        notes=notes,
    )


def _compared(truth: GroundTruth, base: GroundTruth, held_out: Floats) -> ComparedConstruction:
    """The numbers of one construction."""
    (consistency, size), (base_consistency, base_size) = (
        (
            np.array([built.consistency(1) for built in made.built]),
            np.array([built.mean_group_size for built in made.built]),
        )
        for made in (truth, base)
    )
    wrong = [built.inconsistencies(1) for built in truth.built]
    correlation, p_correlation = _pearson(size, consistency)
    return ComparedConstruction(
        truth=truth,
        adr_1=consistency,
        adr_2=np.array([built.consistency(2) for built in truth.built]),
        groups=np.array([len(built.list.groups) for built in truth.built]),
        group_size=size,
        held_out=held_out,
        intra=sum(len(pairs.intra) for pairs in wrong),
        inter=sum(len(pairs.inter) for pairs in wrong),
        misordered=sum(len(pairs.misordered) for pairs in wrong),
        n_within=sum(pairs.n_within for pairs in wrong),
        n_between=sum(pairs.n_between for pairs in wrong),
        correlation=correlation,
        p_correlation=p_correlation,
        p_consistency=float("nan") if truth is base else _p_greater(consistency, base_consistency),
        p_group_size=float("nan") if truth is base else _p_greater(base_size, size),
    )


def _p_greater(values: Floats, others: Floats) -> float:
    """Of the paired t-test that values are greater over queries; 1 where nothing differs, NaN below two queries."""
    from scipy.special import stdtr

    differences = (values - others)[np.isfinite(values - others)]
    n = len(differences)
    if n < 2:
        return float("nan")
    error = float(np.std(differences, ddof=1)) / np.sqrt(n)
    mean = float(differences.mean())
    if error < 1e-12:
        return 0.0 if mean > 1e-12 else 1.0
    return float(stdtr(n - 1, -mean / error))


def _pearson(sizes: Floats, consistency: Floats) -> tuple[float, float]:
    """Pearson's r and its two-sided p-value; NaN where either is constant or there are fewer than three queries."""
    from scipy.stats import pearsonr

    known = np.isfinite(consistency)
    if known.sum() < 3 or min(np.ptp(sizes[known]), np.ptp(consistency[known])) < SAME:
        return float("nan"), float("nan")
    result = pearsonr(sizes[known], consistency[known])
    return float(result.statistic), float(result.pvalue)


def _mean(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")
