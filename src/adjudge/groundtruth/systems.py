"""How systems fare by lists of several constructions, and how their ranking changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.errors import AdjudgeError
from adjudge.groundtruth.building import GroundTruth
from adjudge.groundtruth.lists import PartialLists
from adjudge.stats.matrices import ROUNDING, dense_ranks

if TYPE_CHECKING:
    from adjudge.model.collection import Collection
    from adjudge.model.effectiveness import Effectiveness


@dataclass(frozen=True)
class ComparedSystems:
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

    def records(self) -> list[dict[str, Any]]:
        """One record a construction: how the ranking of systems differs from the baseline's."""
        names = ("tau", "tau_low", "tau_high", "moved", "swapped")
        columns = (self.tau, self.tau_low, self.tau_high, self.moved, self.swapped)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return [dict(zip(names, row, strict=True)) for row in rows]

    def to_dict(self) -> dict[str, Any]:
        """Plain values: means of each system by each construction."""
        means = {
            name: dict(zip(self.systems, row, strict=True))
            for name, row in zip(self.constructions, self.means.tolist(), strict=True)
        }
        return {
            "measure": self.measure,
            "baseline": self.constructions[self.baseline],
            "queries": self.queries,
            "resamples": self.resamples,
            "means": means,
        }


def compare_systems(
    truths: Sequence[GroundTruth],
    runs: Collection,
    *,
    measure: str = "ADR",
    baseline: int = 0,
    resamples: int = 1000,
    seed: int = 0,
) -> ComparedSystems:
    """Evaluate every system by each set of lists, and compare their rankings with that by one of them.

    ``baseline`` is the place of that one. Grades are the levels of the lists; judgments of the collection are not
    looked at. Queries that no system has are left out. The same queries are resampled for all constructions, so that an
    interval says how far the agreement of two rankings hangs on the queries at hand.

    >>> import adjudge as aj
    >>> from adjudge.groundtruth.simulated import simulate_rankings
    >>> from adjudge.groundtruth.building import build
    >>> simulated = simulate_rankings(queries=4, documents=6, experts=9, groups=3)
    >>> good = {query: list(one.documents) for query, one in simulated.truth.items()}
    >>> bad = {query: documents[::-1] for query, documents in good.items()}
    >>> runs = aj.read({"good": good, "bad": bad})
    >>> made = [build(simulated.rankings, name) for name in ("All-2", "Any-1")]
    >>> compare_systems(made, runs).tau.tolist()
    [1.0, 1.0]
    """
    if resamples < 1:
        raise AdjudgeError(f"'resamples' must be at least 1, got {resamples}")
    if not 0 <= baseline < len(truths):
        raise AdjudgeError(f"'baseline' must be a place from 0 to {len(truths) - 1}, got {baseline}")
    found = [effectiveness_by_lists(truth.lists, runs, measure) for truth in truths]
    values = np.stack([one.matrix() for one in found])
    queries, n = found[0].queries, values.shape[1]
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(2,)))
    weights = rng.multinomial(n, np.full(n, 1 / n), size=resamples) / n
    drawn = np.einsum("rq,cqs->crs", weights, values)
    taus = np.stack([_tau(one, drawn[baseline]) for one in drawn])
    means = values.mean(axis=1)
    low, high = np.nanpercentile(taus, (2.5, 97.5), axis=1) if len(found[0].systems) > 1 else (taus[:, 0], taus[:, 0])
    return ComparedSystems(
        constructions=tuple(truth.made_by for truth in truths),
        systems=found[0].systems,
        queries=queries,
        measure=found[0].measures[0],
        values=values,
        tau=np.concatenate([_tau(one[None], means[[baseline]]) for one in means]),
        tau_low=low,
        tau_high=high,
        moved=np.array([int((_places(one) != _places(means[baseline])).sum()) for one in means]),
        swapped=np.array([int((_orders(one) * _orders(means[baseline]) < 0).sum()) for one in means]),
        resamples=resamples,
        baseline=baseline,
    )


def effectiveness_by_lists(lists: PartialLists, runs: Collection, measure: str = "ADR") -> Effectiveness:
    """Effectiveness of the systems of a collection by lists, whatever judgments it has; queries without runs are left.

    A query that some systems have and others not counts 0 for the latter, as everywhere.
    """
    import polars as pl

    from adjudge.errors import kept_warnings
    from adjudge.measures.evaluation import evaluate
    from adjudge.model.collection import Table, build_collection

    frame = runs.runs.to_polars()
    known = set(frame["query"].unique())
    rows = [
        (query, document, grade)
        for query, grades in lists.to_grades().items()
        if query in known
        for document, grade in grades.items()
    ]
    if not rows:
        raise AdjudgeError("Lists and runs: expected queries in common, got none")
    judged = pl.DataFrame(rows, schema=["query", "document", "grade"], orient="row")
    with kept_warnings():  # about queries that the lists do not have: what is asked for is said above
        return evaluate(build_collection([Table(frame, "runs")], [Table(judged, "lists")]), measure)


def _orders(means: Floats) -> Floats:
    """Which of each pair of systems is better, by sign; means nearer than rounding are equal."""
    first, second = np.triu_indices(means.shape[-1], 1)
    difference = means[..., first] - means[..., second]
    signs: Floats = np.where(np.abs(difference) <= ROUNDING * np.abs(means).max(), 0.0, np.sign(difference))
    return signs


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
