"""Constructions side by side: lists made in several ways from the same answers, and how systems fare by them.

Consistency says how well a list repeats what the tests found, not how well it finds what is true. With rankings by many
experts the two go together: on simulated experts (:mod:`~adjudge.groundtruth.simulated`) the constructions stand in
much the same order by either. With ten preferences a pair they do not: whoever sorts by asking asks mostly about
documents that are close, few of those pairs are significant, and large groups look consistent because the tests are
weak. There Any and Bradley-Terry, which uses all answers for every pair, recover more of the truth and are the least
consistent with the pairs taken one at a time, by held-out answers as well
(:func:`~adjudge.groundtruth.simulated.simulate_preferences`). Choose by consistency among constructions of rankings,
not of sparse preferences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.choices import DEFAULT_CONSTRUCTION
from adjudge.errors import AdjudgeError, warn
from adjudge.groundtruth.building import Answers, Construction, GroundTruth, Progress, make_all, parse_construction
from adjudge.groundtruth.evidence import DEFAULT_ALPHA
from adjudge.groundtruth.held_out import held_out_consistency
from adjudge.groundtruth.rankings import Unranked
from adjudge.groundtruth.systems import ComparedSystems, compare_systems
from adjudge.plain import plain
from adjudge.stats.effects import table

if TYPE_CHECKING:
    from adjudge.model.collection import Collection

PAPER_CONSTRUCTIONS = ("All-2", "Any-2", "Prev-2", "All-1", "Any-1", "Prev-1")
"""The six of Urbano et al. 2010; the first is the original of Typke et al. 2005, and what others are tested against."""
SAME = 1e-9
"""Numbers nearer than this are equal but for rounding."""


@dataclass(frozen=True)
class ComparedConstruction:
    """One construction: its lists, and numbers of them; arrays have one value a query, in the order of the lists.

    ``adr_1`` and ``adr_2`` are consistencies (NaN for a list of one document), ``held_out`` is ADR-1 consistency with
    answers that the list was not made from (NaN without halves). ``correlation`` is Pearson's r of documents a group
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

    @property
    def intra_share(self) -> float:
        """Share of compared pairs in one group that differ."""
        return self.intra / self.n_within if self.n_within else float("nan")

    @property
    def inter_share(self) -> float:
        """Share of compared pairs in different groups that do not differ."""
        return self.inter / self.n_between if self.n_between else float("nan")

    def record(self) -> dict[str, Any]:
        """Means over queries and sums of pairs, for a row of a table."""
        return {
            "construction": self.name,
            "adr_1": _mean(self.adr_1),
            "adr_2": _mean(self.adr_2),
            "held_out": _mean(self.held_out),
            "documents_a_group": _mean(self.group_size),
            "groups": int(self.groups.sum()),
            "intra": self.intra,
            "pairs_within": self.n_within,
            "inter": self.inter,
            "pairs_between": self.n_between,
            "misordered": self.misordered,
            "correlation": self.correlation,
            "p_correlation": self.p_correlation,
            "p_consistency": self.p_consistency,
            "p_group_size": self.p_group_size,
        }


@dataclass(frozen=True)
class ComparedConstructions:
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
        n_compared = sum(int(np.triu(one.evidence.compared, 1).sum()) for one in built)
        return n_compared, sum(len(one.list) * (len(one.list) - 1) // 2 for one in built)

    @property
    def best(self) -> ComparedConstruction:
        """The most consistent one, by held-out answers if there are any; Any-1 (or the first) of sparse answers.

        Where some pairs were never asked about, consistency does not tell which lists are right.
        """
        if self.pairs_compared[0] < self.pairs_compared[1]:
            return next((row for row in self.rows if row.name == DEFAULT_CONSTRUCTION), self.rows[0])
        key = "held_out" if np.isfinite(self.rows[0].held_out).any() else "adr_1"
        return max(self.rows, key=lambda row: np.nan_to_num(row.record()[key], nan=-1.0))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The constructions."""
        return tuple(row.name for row in self.rows)

    def records(self) -> list[dict[str, Any]]:
        """One record a construction; with runs, also how the ranking of systems changes."""
        changes = [{}] * len(self.rows) if self.systems is None else self.systems.records()
        return [row.record() | change for row, change in zip(self.rows, changes, strict=True)]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, fit for JSON."""
        content: dict[str, Any] = plain(
            {
                "queries": self.queries,
                "baseline": self.baseline,
                "alpha": self.alpha,
                "measured_by": self.measured_by,
                "unranked": self.unranked,
                "halves": self.halves,
                "seed": self.seed,
                "constructions": self.records(),
                "systems": None if self.systems is None else self.systems.to_dict(),
                "notes": self.notes,
            }
        )
        return content

    def __str__(self) -> str:
        columns = {
            "ADR-1": "adr_1",
            "ADR-2": "adr_2",
            "held out": "held_out",
            "documents a group": "documents_a_group",
            "r": "correlation",
            "p": "p_consistency",
        }
        body = [[row.name, *(_shown(row.record()[key]) for key in columns.values())] for row in self.rows]
        title = f"Consistency of lists for {len(self.queries)} queries, by {self.measured_by} at {self.alpha:g}"
        return "\n".join([title, *table([["construction", *columns], *body])])


def compare_constructions(
    answers: Answers,
    constructions: Sequence[str | Construction] = PAPER_CONSTRUCTIONS,
    *,
    alpha: float = DEFAULT_ALPHA,
    unranked: Unranked = "left out",
    least_experts: int = 1,
    runs: Collection | None = None,
    measure: str = "ADR",
    halves: int = 10,
    resamples: int = 1000,
    seed: int = 0,
    progress: Progress | None = None,
) -> ComparedConstructions:
    """Make lists in each way, and compare them.

    All consistencies are measured by the default comparison of the answers, whatever made the lists. A construction may
    be made to measure (Best is), or follow chance in the answers; ``halves`` times lists are therefore also made from a
    random half of the experts (of the answers about each pair, for preferences) and measured by the other half, and
    the other way round. With fewer answers fewer differences are significant: compare constructions by that number, not
    that number with the others. The baseline, of tests and of rankings of systems, is All-2 where it is
    among the constructions, else the first. ``progress`` is called with the number of halves made, of all queries
    together, and to make.

    With ``runs`` every system is evaluated by each set of lists with ``measure``; see
    :func:`~adjudge.groundtruth.systems.compare_systems`.

    Reference: Urbano et al., ISMIR 2010, Tables 3 and 4 (which do not say whether their t-tests are paired).

    >>> from adjudge.groundtruth.simulated import simulate_rankings
    >>> rankings = simulate_rankings(queries=3, documents=8, experts=12, groups=4).rankings
    >>> [row.name for row in compare_constructions(rankings, ["All-2", "Any-1"], halves=1).rows]
    ['All-2', 'Any-1']
    """
    parsed = [parse_construction(one) if isinstance(one, str) else one for one in constructions]
    if not parsed or len(set(parsed)) < len(parsed):
        raise AdjudgeError(f"Constructions: expected some, each once, got {', '.join(map(str, parsed)) or 'none'}")
    if halves < 0:
        raise AdjudgeError(f"'halves' must be 0 or more, got {halves}")
    truths = make_all(answers, parsed, alpha=alpha, unranked=unranked, least_experts=least_experts, seed=seed)
    base = next((place for place, one in enumerate(parsed) if str(one) == "All-2"), 0)
    systems = None
    if runs is not None:
        options: dict[str, Any] = {"measure": measure, "baseline": base, "resamples": resamples, "seed": seed}
        systems = compare_systems(truths, runs, **options)
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
    wrong = [one.inconsistencies(1) for one in truth.built]
    consistency, size = _consistencies(truth), _sizes(truth)
    correlation, p_correlation = _pearson(size, consistency)
    is_base = truth is base
    return ComparedConstruction(
        truth=truth,
        adr_1=consistency,
        adr_2=np.array([one.consistency(2) for one in truth.built]),
        groups=np.array([len(one.list.groups) for one in truth.built]),
        group_size=size,
        held_out=held_out,
        intra=sum(len(one.intra) for one in wrong),
        inter=sum(len(one.inter) for one in wrong),
        misordered=sum(len(one.misordered) for one in wrong),
        n_within=sum(one.n_within for one in wrong),
        n_between=sum(one.n_between for one in wrong),
        correlation=correlation,
        p_correlation=p_correlation,
        p_consistency=float("nan") if is_base else _p_greater(consistency, _consistencies(base)),
        p_group_size=float("nan") if is_base else _p_greater(_sizes(base), size),
    )


def _consistencies(truth: GroundTruth) -> Floats:
    return np.array([one.consistency(1) for one in truth.built])


def _sizes(truth: GroundTruth) -> Floats:
    return np.array([one.mean_group_size for one in truth.built])


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
    found = pearsonr(sizes[known], consistency[known])
    return float(found.statistic), float(found.pvalue)


def _mean(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")


def _shown(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.3f}"
