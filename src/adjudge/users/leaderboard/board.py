"""A leaderboard that says what it knows: possible ranks, tiers, who is probably the best, on which queries.

With several data sets two claims are kept apart. *Other queries of these data sets*: the data sets are given, queries
are a sample of theirs. *Other data sets like these*: data sets are the sample, and the mean on each is one observation;
however many queries they have, few data sets say little. Each data set counts alike, however many queries it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from adjudge.arrays import Ints
from adjudge.checks import CONFIDENCE, COUNT, RESAMPLES, SEED, checked
from adjudge.errors import AdjudgeError, NotEnoughDataError
from adjudge.formats.effectiveness import (
    EFFECTIVENESS_LIKE,
    POOLED,
    EffectivenessLike,
    as_effectiveness,
    complete_cases,
)
from adjudge.formats.schema import Tabular
from adjudge.model.effectiveness import Effectiveness
from adjudge.model.provenance import Provenance
from adjudge.registry import unknown
from adjudge.reporting.document import FigureBlock
from adjudge.reporting.figures import PALETTE, describe, name_rows, rows_height
from adjudge.results import Column, Result, figure
from adjudge.seeds import Seed, as_seed
from adjudge.stats.gtheory.datasets import DatasetStudy, study_datasets
from adjudge.stats.ranks import Chance, Sample, chances, rank_sets
from adjudge.text import counted, listed, percent
from adjudge.users.leaderboard.slices import Slices, slice_boards

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from adjudge.reporting.canvas import Canvas

About = Literal["queries", "data sets"]
_TOP = 3
_RESAMPLES, _FEWEST_RESAMPLES, _DIFFERENCES = 10_000, 2_000, 250_000_000
_CLAIMS = {"queries": "other queries like these", "data sets": "other data sets like these"}
_FEWEST_DRAWN = 30  # queries or data sets; resamples of fewer are too much alike, and P(best) is too sure
_NAMED = 5
_MANY_SYSTEMS, _FEW_QUERIES, _SKEWED = 20, 100, 0.1  # where ranks hold less often than promised
_MOST_DRAWN = 60


@dataclass(frozen=True)
class RankIntervals:
    """Ranks of systems, best first, and those that are possible."""

    label: str
    systems: tuple[str, ...]
    rank: Ints
    low: Ints
    high: Ints


def rank_intervals(data: RankIntervals, canvas: Canvas) -> Axes:
    """A dot for each rank, a line from the best to the worst that is possible."""
    from matplotlib.ticker import MaxNLocator

    height = rows_height(len(data.systems))
    axes = canvas.axes(height)
    y = np.arange(len(data.systems))
    axes.hlines(y, data.low, data.high, color=PALETTE["accent"], linewidth=1.4)
    dots = axes.scatter(data.rank, y, s=16, color=PALETTE["accent"], linewidth=0, zorder=3)
    values = zip(data.systems, data.rank, data.low, data.high, strict=True)
    describe(dots, [f"{name}: {rank} [{low}, {high}]" for name, rank, low, high in values])
    name_rows(axes, canvas.names(data.systems), height)
    ticks = MaxNLocator(integer=True).tick_values(0, int(data.high.max()))
    axes.set_xticks([1, *(tick for tick in ticks if 1 < tick <= data.high.max())])
    axes.set_xlabel(data.label)
    return axes


@dataclass(frozen=True)
class Standing:
    """Where a system stands; ranks from ``rank_low`` to ``rank_high`` are possible."""

    rank: Annotated[
        int,
        Column(
            "rank by the mean, the same for the same mean; possible ranks",
            "d",
            key=True,
            ends=("rank_low", "rank_high"),
        ),
    ]
    system: Annotated[str, Column("the system", key=True)]
    mean: Annotated[
        float, Column("mean effectiveness, with the interval of this mean alone", ".3f", ends=("low", "high"))
    ]
    low: Annotated[float, Column("lower end of its interval", ".3f", shown=False)]
    high: Annotated[float, Column("upper end of its interval", ".3f", shown=False)]
    rank_low: Annotated[int, Column("best rank that is possible", "d", shown=False)]
    rank_high: Annotated[int, Column("worst rank that is possible", "d", shown=False)]
    tier: Annotated[
        int, Column("a tier begins where a system is shown to be worse than the first of the tier above", "d")
    ]
    p_best: Annotated[float | None, Column("probability to have the highest true mean", "probability", label="P(best)")]
    p_top: Annotated[
        float | None, Column("probability to be among the first by the true mean", "probability", label="P(top)")
    ]


@dataclass(frozen=True, eq=False, repr=False)
class Leaderboard(Result):
    """Systems from best to worst, and what is known of their ranks, as :func:`leaderboard` finds it.

    ``about`` says which claim the board makes, ``chance`` how P(best) was found. With several data sets, ``elsewhere``
    is the board about other data sets, and ``study`` has the variance components. ``slices`` are boards on groups of
    queries.
    """

    measure: str
    rows: tuple[Standing, ...]
    about: About
    n_queries: int
    datasets: tuple[str, ...]
    confidence: float
    top: int
    chance: Chance
    resamples: int
    seed: int
    notes: tuple[str, ...]
    provenance: Provenance
    elsewhere: Leaderboard | None = None
    study: DatasetStudy | None = None
    slices: tuple[Slices, ...] = ()

    row_type = Standing
    rows_name = "systems"

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Standing]:
        return iter(self.rows)

    def of(self, system: str) -> Standing:
        """Where a system stands."""
        for row in self.rows:
            if row.system == system:
                return row
        raise unknown("system", system, [row.system for row in self.rows])

    @property
    def columns(self) -> tuple[Column, ...]:
        """Its columns; P(top) is not shown where every system is among the first."""
        is_known = self.top < len(self)
        return tuple(replace(c, shown=is_known) if c.name == "p_top" else c for c in super().columns)

    @property
    def claim(self) -> str:
        """What the board is about, in words."""
        if self.about == "queries" and len(self.datasets) > 1:
            return "other queries of these data sets"
        return _CLAIMS[self.about]

    @property
    def title(self) -> str:
        """What it is, in a line."""
        size = counted(self.n_queries, "query")
        if len(self.datasets) > 1:
            size = counted(len(self.datasets), "data set") + ("" if self.about == "data sets" else f", {size}")
        return f"Leaderboard of {self.measure}: {counted(len(self), 'system')}, {size}; about {self.claim}"

    def sentence(self) -> str:
        """Who may be the best, and how many tiers there are."""
        first = [row.system for row in self.rows if row.rank_low == 1]
        n_tiers = self.rows[-1].tier
        tiers = counted(n_tiers, "tier") if n_tiers > 1 else "no systems"
        if len(first) == 1:
            said = f"{first[0]} is the best"
        elif len(first) == len(self):
            said = f"any of the {len(self)} systems may be the best"
        else:
            said = f"the best is one of {len(first)} systems: {listed(first, most=_NAMED)}"
        unit = "data sets" if self.about == "data sets" else "queries"
        return f"With {percent(self.confidence)} confidence {said}. The {unit} tell {tiers} apart."

    def parts(self) -> tuple[Result, ...]:
        """The board about other data sets, variance components, and boards of slices."""
        return tuple(part for part in (self.elsewhere, self.study, *self.slices) if part is not None)

    @figure("ranks")
    def _ranks(self) -> FigureBlock:
        """Possible ranks of the first systems."""
        shown = self.rows[:_MOST_DRAWN]
        ranks = [np.array([getattr(row, end) for row in shown]) for end in ("rank", "rank_low", "rank_high")]
        data = RankIntervals(f"rank by {self.measure}; 1 is the best", tuple(row.system for row in shown), *ranks)
        some = "" if len(shown) == len(self) else f" The first {len(shown)} of {len(self)} systems."
        caption = f"Ranks that are possible, all at once with {percent(self.confidence)} confidence.{some}"
        first = shown[0]
        alt = f"Possible ranks of each system: {first.system} from {first.rank_low} to {first.rank_high}."
        return FigureBlock("ranks", caption, alt, data, rank_intervals)

    def _facts(self) -> dict[str, Any]:
        names = (
            "measure", "about", "claim", "n_queries", "datasets", "confidence", "top", "chance", "resamples", "seed",
        )  # fmt: skip
        facts = {name: getattr(self, name) for name in names} | {"sentence": self.sentence(), "notes": self.notes}
        facts["new_datasets"] = None if self.elsewhere is None else self.elsewhere.to_dicts()
        facts["components"] = None if self.study is None else self.study.to_dict()
        facts["slices"] = [part.to_dict() for part in self.slices]
        return facts | {"provenance": self.provenance.to_dict()}

    def records(self) -> list[dict[str, Any]]:
        """Rows of all claims, with the measure and the claim of each."""
        boards = [board for board in (self, self.elsewhere) if board is not None]
        return [{"measure": b.measure, "about": b.claim, **row} for b in boards for row in b.to_dicts()]

    def _notes(self) -> list[str]:
        by = "bootstrap" if self.chance == "bootstrap" else "a model that learns how far systems are apart"
        level = percent(self.confidence)
        lines = [
            f"In brackets: ranks that are possible, all at once with {level} confidence. A tier begins where a system "
            "is shown to be worse than the first of the tier above."
        ]
        if self.rows[0].p_best is not None:
            has_top = self.top < len(self)
            names, top = ("P(best), P(top)", f", to be among the {self.top} highest") if has_top else ("P(best)", "")
            lines.append(f"{names}: to have the highest true mean{top} (by {by}).")
        if self.study is not None and self.elsewhere is not None:
            near, far = self.study.margins(self.confidence)
            is_known = far is not None and self.elsewhere.rows[0].p_best is not None
            lines.append(
                f"By variance components, a difference is known to ± {near:.3f} about other queries of these data sets"
                f"{f', and to ± {far:.3f} about other data sets' if is_known else ''} ({level})."
            )
        return [*lines, *self.notes]

    def __repr__(self) -> str:
        return f"<Leaderboard: {self.title.partition(': ')[2]}>"


@checked(data=EFFECTIVENESS_LIKE, confidence=CONFIDENCE, top=COUNT, chance=Chance, resamples=RESAMPLES, seed=SEED)
def leaderboard(
    data: EffectivenessLike,
    *,
    confidence: float = 0.95,
    top: int | None = None,
    chance: Chance | None = None,
    slices: Tabular | None = None,
    by: str | Iterable[str] | None = None,
    resamples: int | None = None,
    seed: Seed = 0,
) -> Leaderboard:
    """Order systems by their mean under one measure, and say how much of the order is known.

    ``data`` is effectiveness, or a table of it (:func:`adjudge.formats.read_effectiveness`), of one data set or of
    several; queries that a system lacks are left out, and named. Possible ranks hold for all systems at once with the
    ``confidence`` asked for: by sign flips of all pairs, stepped down (:func:`adjudge.stats.ranks.rank_sets`). Where
    all systems are alike, some system is wrongly shown to be better with probability 1 - confidence; where true means
    differ, hardly ever. With many systems, few queries and very skewed differences it happens more often, and a note
    says so: 95 % ranks hold .89 to .96 of the time where runs of TREC are given the same mean.

    P(best), and P(top) for the ``top`` systems (3 if not given), are by ``bootstrap`` over queries, or by a ``model``
    with a prior of true means that is learned from all systems. Both are calibrated about as well; the bootstrap is the
    default as it was better on CLEF eHealth 2015 (``python -m benchmarks.leaderboard`` has other collections). With
    fewer than 30 queries, or data sets where the claim is about others, it is too sure and the model is the default; of
    unequal data sets their degrees of freedom count. With so few that no difference could be shown at all, neither is
    given.

    ``slices`` is a table of queries with any attributes (``query_id, genre, length``), ``by`` names those that count if
    not all: each gets a board per slice, and a test whether differences between systems change between slices, with
    Holm's correction for the number of attributes. Numbers of more than five values are cut into three groups at their
    terciles. Slices with fewer than 3 queries are left out.

    ``resamples`` are 10,000, and down to 2,000 for hundreds of systems.

    >>> import adjudge as aj
    >>> board = aj.leaderboard(aj.evaluate(aj.demo(), "CG@5"), resamples=2000)
    >>> board.rows[0].system, board.rows[0].rank_low, board.rows[0].rank_high
    ('KLN2', 1, 6)
    >>> print(board.sentence())
    With 95 % confidence the best is one of 6 systems: ... The queries tell 3 tiers apart.
    """
    eff, seed = as_effectiveness(data), as_seed(seed)
    if len(eff.measures) != 1:
        raise AdjudgeError(
            f"leaderboard takes one measure at a time, got {', '.join(eff.measures)}; name one: eff['…']"
        )
    eff = complete_cases(eff)
    n_systems = len(eff.systems)
    if n_systems < 2:
        raise NotEnoughDataError(f"a leaderboard needs at least 2 systems, got {n_systems}")
    if eff.n_queries < 2:
        raise NotEnoughDataError(f"a leaderboard needs at least 2 queries, got {eff.n_queries}")
    if top is not None and top > n_systems:
        raise AdjudgeError(f"'top' must be at most the number of systems, {n_systems}, got {top}")
    if resamples is None:
        n_pairs = n_systems * (n_systems - 1) // 2
        resamples = min(_RESAMPLES, max(_FEWEST_RESAMPLES, _DIFFERENCES // n_pairs))
    how: dict[str, Any] = {
        "confidence": confidence, "top": min(_TOP, n_systems) if top is None else top, "chance": chance,
        "resamples": resamples, "seed": seed,
    }  # fmt: skip
    n_datasets = len(set(eff.datasets))
    board = _board_of_datasets(eff, how) if n_datasets > 1 else _board(eff, Sample.of(eff.matrix()), "queries", how)
    pooled = POOLED.format(counted(n_datasets, "data set"))  # true of other commands
    board = replace(board, notes=(*board.notes, *(note for note in eff.notes if note != pooled)))
    if slices is None:
        return board
    order = tuple(row.system for row in board)
    made = slice_boards(eff.select(systems=order), slices, by, confidence=confidence, resamples=resamples, seed=seed)
    return replace(board, slices=made)


def _board_of_datasets(eff: Effectiveness, how: dict[str, Any]) -> Leaderboard:
    """Both claims where every data set has 2 queries, else the one about other data sets."""
    names = tuple(dict.fromkeys(eff.datasets))
    strata = np.array([names.index(name) for name in eff.datasets])
    sample = Sample(eff.matrix(), strata)
    table = np.array([sample.values[strata == i].mean(axis=0) for i in range(len(names))])
    elsewhere = _board(eff, Sample.of(table), "data sets", how)
    few = [name for name, n in zip(names, np.bincount(strata), strict=True) if n < 2]
    if few:
        if len(few) < len(names):
            has = "has" if len(few) == 1 else "have"
            note = f"No claim about other queries: {listed(few, most=_NAMED)} {has} 1 query."
            return replace(elsewhere, notes=(note, *elsewhere.notes))
        return elsewhere
    board = _board(eff, sample, "queries", how)
    return replace(board, elsewhere=elsewhere, study=study_datasets(sample.values, strata))


def _board(eff: Effectiveness, sample: Sample, about: About, how: dict[str, Any]) -> Leaderboard:
    """Systems by their mean, and what is known of their ranks."""
    drawing = {"resamples": how["resamples"], "seed": how["seed"]}
    ranks = rank_sets(sample, confidence=how["confidence"], **drawing)
    if how["chance"] is None:
        how = {**how, "chance": "model" if sample.covariance[1] + 1 < _FEWEST_DRAWN else "bootstrap"}
    is_powerless = sample.is_powerless(how["confidence"])
    p_best, p_top = chances(sample, top=how["top"], how=how["chance"], **drawing)
    low, high = sample.intervals(how["confidence"])
    least, most = (float(ends[0]) for ends in eff.limits())
    ends = np.maximum(low, least), np.minimum(high, most)
    columns = (ranks.rank, ranks.means, *ends, ranks.low, ranks.high, ranks.tier, p_best, p_top)
    order = sorted(range(len(eff.systems)), key=lambda s: (-ranks.means[s], eff.systems[s]))
    rows = [(eff.systems[s], *(column[s].item() for column in columns)) for s in order]
    standings = tuple(Standing(rank, name, *rest) for name, rank, *rest in rows)
    if is_powerless:
        standings = tuple(replace(row, p_best=None, p_top=None) for row in standings)
    notes, n = [], counted(len(sample.values), "query" if about == "queries" else "data set")
    if is_powerless:
        notes.append(
            f"{n} cannot show any difference with {percent(how['confidence'])} confidence, however large it is."
        )
    if len(eff.systems) >= _MANY_SYSTEMS and len(sample.values) <= _FEW_QUERIES and sample.skewed > _SKEWED:
        notes.append(
            f"{sample.skewed * 100:.0f} % of the pairs have very skewed differences (beyond ±1), for {n}: possible "
            "ranks may hold less often than promised. In trials on such runs of TREC, 95 % ranks held .89 to .96 of "
            "the time."
        )
    datasets = tuple(dict.fromkeys(eff.datasets))
    if len(datasets) > 1:
        notes.append("The mean of a system is that of its means on data sets: each counts alike.")
    provenance = eff.provenance.with_settings(**how)
    return Leaderboard(
        eff.measures[0], standings, about, eff.n_queries, datasets, notes=tuple(notes), provenance=provenance, **how
    )
