"""Goodness of fit: which distribution, fitted to some queries, predicts effectiveness on others best.

Sections 4.2.2 and 4.2.3 of Urbano's thesis. In a trial some queries are drawn, every family of
:data:`~adjudge.stats.distributions.DISTRIBUTIONS` is fitted to what each system has on them, and held against the
queries that were left over.

Urbano, J. Evaluation in Audio Music Similarity. PhD thesis, Universidad Carlos III de Madrid, 2013.

>>> import adjudge as aj
>>> from adjudge.experiments.chunks import run_chunk
>>> from adjudge.experiments.samples import samples_of
>>> samples = samples_of(aj.evaluate(aj.demo(), ["CG@5"]), scale="0..3")
>>> spec = Fit(trials=40, sizes=(20,)).prepared(samples)
>>> print(spec.findings(samples, run_chunk(spec, samples, 0, 40), samples.provenance).sentences()[0])
CG@5 on 0..3: fitted to 20 queries, beta and normal cannot be told apart as the best.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from adjudge.arrays import Ints
from adjudge.errors import AdjudgeError
from adjudge.experiments.goodness_fits import distances
from adjudge.experiments.samples import Sample, Samples
from adjudge.experiments.specification import Draws, Findings, Rows, experiment
from adjudge.experiments.subsets import Drawing, draw_subsets
from adjudge.experiments.words import listed, share
from adjudge.model.provenance import Provenance
from adjudge.model.scales import parse_scale
from adjudge.stats.distributions import DISTRIBUTIONS
from adjudge.stats.intervals import t_interval
from adjudge.stats.prediction import prediction_interval

if TYPE_CHECKING:
    import polars as pl

SIZES = (10, 20, 30, 40, 50)
"""The numbers of queries that the thesis fits to."""
_SPELT_OUT = 6  # samples of which each has a sentence of its own


@experiment("fit")
@dataclass(frozen=True, kw_only=True)
class Fit(Drawing):
    """Families fitted to ``sizes`` queries, drawn at random, and compared with those left over.

    A row is a system under a family: ``omega`` is ω̂ of thesis eq 4.7, ``kolmogorov`` the largest distance D between
    the two distributions. ``sizes`` are those of the thesis as far as a query is left over, ``distributions`` all
    families. One that is defined on [0, 1] only is left out of samples whose effectiveness goes beyond.
    """

    title: ClassVar[str] = "Goodness of fit"
    question: ClassVar[str] = "Which distribution, fitted to some queries, predicts effectiveness on new ones best?"

    trials: int = 200
    distributions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.distributions:
            DISTRIBUTIONS[name]
        if len(set(self.distributions)) < len(self.distributions):
            raise AdjudgeError(f"fit: expected each distribution once, got {', '.join(self.distributions)}")

    def prepared(self, samples: Samples) -> Fit:
        """With sizes and distributions settled."""
        self.check_sizes(samples, count=1, left=1)
        most = samples.fewest_queries - 1
        spec = replace(
            self,
            sizes=self.sizes or tuple(size for size in SIZES if size <= most) or (samples.fewest_queries // 2,),
            distributions=self.distributions or tuple(DISTRIBUTIONS),
        )
        for sample in samples:
            if not spec.usable(sample):
                raise AdjudgeError(
                    f"fit: {sample.name} goes beyond [0, 1], where {', '.join(spec.distributions)} are not defined"
                )
        return spec

    def usable(self, sample: Sample) -> tuple[str, ...]:
        """Families that can hold what this sample has."""
        inside = sample.values.min() >= 0 and sample.values.max() <= 1
        return tuple(name for name in self.distributions if inside or not DISTRIBUTIONS[name].bounded)

    def names(self, samples: Samples) -> Mapping[str, Sequence[str]]:
        return {**super().names(samples), "distribution": self.distributions}

    def trial(self, samples: Samples, draws: Draws) -> Rows:
        place = {name: i for i, name in enumerate(samples.systems)}
        parts = []
        for size in self.sizes:
            for code, sample in enumerate(samples):
                (chosen,) = draw_subsets(draws.generator(size), sample.stratum, size)
                systems = np.array([place[name] for name in sample.systems])
                parts += [
                    _rows(sample, chosen, name, (code, size, systems, self.distributions.index(name)))
                    for name in self.usable(sample)
                ]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def findings(self, samples: Samples, rows: pl.DataFrame, provenance: Provenance) -> FitFindings:
        return FitFindings(self, samples, rows, provenance)


def _rows(sample: Sample, chosen: Ints, name: str, key: tuple[int, int, Ints, int]) -> Rows:
    code, size, systems, family = key
    held_out = np.delete(sample.values, chosen, axis=0)
    omega, kolmogorov = distances(sample.values[chosen].T, held_out.T, name)
    n = len(systems)
    return {
        "sample": np.full(n, code),
        "n_queries": np.full(n, size, dtype=np.int32),
        "system": systems,
        "distribution": np.full(n, family),
        "omega": omega,
        "kolmogorov": kolmogorov,
    }


@dataclass(frozen=True)
class FitCell:
    """A family fitted to so many queries of a sample.

    ``omega`` is the mean of ω̂ over systems and trials, with its Monte-Carlo interval; it is a sum over the ``n_left``
    queries left over, so that it can be compared within a size only. ``rms`` = ω̂ / sqrt(n_left) is the distance a query
    and can be compared between sizes too; it never reaches 0, since the queries left over are a sample themselves.
    ``best_for`` is the share of systems that no other family predicts as well on average, ``best`` whether this one has
    the lowest mean of all, and ``as_good`` whether trials cannot tell it from that one: the interval of their
    difference, trial by trial, has 0 inside. ``rule`` says whether prediction intervals would take it here.
    """

    sample: str
    n_queries: int
    n_left: int
    distribution: str
    omega: float
    low: float
    high: float
    rms: float
    kolmogorov: float
    best_for: float
    best: bool
    as_good: bool
    rule: bool


@dataclass(frozen=True, eq=False)
class FitFindings(Findings):
    """What predicts new queries best, by sample and number of queries."""

    @cached_property
    def cells(self) -> tuple[FitCell, ...]:
        """Every sample, size and family."""
        keys = ("sample", "n_queries", "distribution")
        parts = self.rows.sort(*keys, "trial", maintain_order=True).partition_by(*keys, as_dict=True)
        members = {sample.name: sample for sample in self.samples}
        found: dict[tuple[str, int], dict[str, pl.DataFrame]] = {}
        for (sample, size, name), part in parts.items():
            found.setdefault((sample, size), {})[name] = part
        return tuple(cell for (sample, size), by in found.items() for cell in _cells(members[sample], size, by))

    @cached_property
    def cases(self) -> dict[tuple[str, int], tuple[FitCell, ...]]:
        """The cells of each sample and size."""
        return {key: tuple(group) for key, group in groupby(self.cells, key=lambda cell: (cell.sample, cell.n_queries))}

    @property
    def left_out(self) -> dict[str, tuple[str, ...]]:
        """Families that could not be fitted, by sample."""
        spec = self.experiment
        if not isinstance(spec, Fit):
            return {}
        missing = {one.name: tuple(set(spec.distributions) - set(spec.usable(one))) for one in self.samples}
        return {name: tuple(sorted(families)) for name, families in missing.items() if families}

    def records(self) -> list[dict[str, Any]]:
        return [asdict(cell) for cell in self.cells]

    def sentences(self) -> list[str]:
        names = self.samples.names
        said = [self._of(name) for name in names] if len(names) <= _SPELT_OUT else self._counted()
        beyond = [
            f"{name} goes beyond [0, 1], where {listed(families)} cannot be fitted."
            for name, families in self.left_out.items()
        ]
        return [*said, *self._worst(), self._rule(), *beyond]

    def _of(self, name: str) -> str:
        sizes = {size: _winners(cells) for (sample, size), cells in self.cases.items() if sample == name}
        spans = [
            (best, [size for size, _ in group]) for best, group in groupby(sizes.items(), key=lambda item: item[1])
        ]
        said = [
            f"{'fitted to' if i == 0 else 'with'} {_span(of)}{' queries' if i == 0 else ''}, {_predicts(best, i)}"
            for i, (best, of) in enumerate(spans)
        ]
        return f"{name}: {'; '.join(said)}."

    def _counted(self) -> list[str]:
        said = []
        for size in sorted({size for _, size in self.cases}):
            cells = [cell for (_, n), of in self.cases.items() if n == size for cell in of if cell.best]
            won = Counter(cell.distribution for cell in cells).most_common()
            counts = [f"{name} for {count}" for name, count in won]
            said.append(
                f"Fitted to {size} queries, what predicts new ones best is {listed(counts)} of {len(cells)} samples."
            )
        return said

    def _worst(self) -> list[str]:
        """The family that is last everywhere, if one is and is nowhere as good as the best."""
        last = [max(cells, key=lambda cell: cell.omega) for cells in self.cases.values() if len(cells) > 2]
        names = {cell.distribution for cell in last}
        alone = len(names) == 1 and not any(cell.as_good for cell in last)
        return [f"{names.pop().capitalize()} is the worst throughout."] if alone else []

    def _rule(self) -> str:
        missed = []
        for (sample, size), cells in self.cases.items():
            taken = [cell for cell in cells if cell.rule]
            best = next(cell for cell in cells if cell.best)
            if taken and not taken[0].as_good:
                missed.append((taken[0].omega / best.omega - 1, sample, size, taken[0].distribution, best.distribution))
        right, total = len(self.cases) - len(missed), len(self.cases)
        said = (
            f"What prediction intervals choose by themselves is the best, or as good, in {right} of {total} cases here"
        )
        if not missed:
            return f"{said}."
        more, sample, size, taken_name, best_name = max(missed)
        return (
            f"{said}; it is furthest off for {sample} with {size} queries, where it takes {taken_name} and "
            f"{best_name} would be {share(1 - 1 / (1 + more), 0)} closer."
        )

    def __str__(self) -> str:
        head = f"{'queries':>7}  {'distribution':<16}  {'omega':>7}  {'rms':>6}  {'D':>6}  {'best for':>8}"
        lines = [self.experiment.title]
        for sample, cells in groupby(self.cells, key=lambda cell: cell.sample):
            lines += [sample, head]
            lines += [
                f"{c.n_queries:>7}  {c.distribution:<16}  {c.omega:>7.4f}  {c.rms:>6.4f}  {c.kolmogorov:>6.4f}  "
                f"{share(c.best_for, 0):>8}{'  best' if c.best else '  as good' if c.as_good else ''}"
                for c in cells
            ]
        return "\n".join([*lines, *self.sentences()])


def _cells(sample: Sample, size: int, by: Mapping[str, pl.DataFrame]) -> list[FitCell]:
    """The families of one sample and size, held against one another."""
    shape = (-1, len(sample.systems))
    omegas = np.stack([part["omega"].to_numpy().reshape(shape) for part in by.values()])  # families, trials, systems
    over = omegas.mean(axis=2)
    omega, half, _ = t_interval(over.T)  # the error of having run so many trials
    best = int(omega.argmin())
    behind, unsure, _ = t_interval((over - over[best]).T)
    winner = omegas.mean(axis=1).argmin(axis=0)
    n_left = len(sample.queries) - size
    rule = _chosen(sample, size)
    return [
        FitCell(
            sample.name,
            size,
            n_left,
            name,
            float(omega[i]),
            float(omega[i] - half[i]),
            float(omega[i] + half[i]),
            float(omega[i]) / float(np.sqrt(n_left)),
            float(np.mean(part["kolmogorov"].to_numpy())),
            float(np.mean(winner == i)),
            i == best,
            i == best or not behind[i] - unsure[i] > 0,
            name == rule,
        )
        for i, (name, part) in enumerate(by.items())
    ]


def _chosen(sample: Sample, size: int) -> str:
    """What prediction intervals take for most systems of the sample, with so many queries."""
    levels = levels_of(sample.scale)
    taken = [
        prediction_interval(values, levels=levels, n_queries=size).distribution
        for values in np.ascontiguousarray(sample.values.T)
    ]
    return Counter(taken).most_common(1)[0][0]


def levels_of(scale: str) -> int | None:
    """How many levels a scale has by its name, as far as that says it.

    >>> levels_of("fine"), levels_of("graded3"), levels_of("binary40"), levels_of("0..4"), levels_of("")
    (101, 3, 2, 5, None)
    """
    name = scale.strip().lower()
    if found := re.fullmatch(r"graded(\d+)", name):
        return max(int(found[1]), 2)
    if re.fullmatch(r"binary[\d.]+", name):
        return 2
    try:
        return parse_scale(name).levels
    except AdjudgeError:
        return None


def _winners(cells: Sequence[FitCell]) -> tuple[str, ...]:
    """The best family, and those that cannot be told from it."""
    ordered = sorted(cells, key=lambda cell: (not cell.best, cell.omega))
    return tuple(cell.distribution for cell in ordered if cell.as_good)


def _predicts(best: Sequence[str], place: int) -> str:
    if len(best) == 1:
        return f"{best[0]} predicts new ones best" if place == 0 else f"{best[0]}"
    return f"{listed(best)} cannot be told apart as the best"


def _span(sizes: Sequence[int]) -> str:
    return str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
