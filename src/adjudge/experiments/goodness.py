"""Goodness of fit: which distribution, fitted to some queries, predicts effectiveness on others best.

In a trial some queries are drawn, every family of :data:`~adjudge.stats.distributions.DISTRIBUTIONS` is fitted to what
each system has on them, and held against the queries that were left over. All systems are fitted at once, with the
numbers of :func:`~adjudge.stats.distributions.omega` for each; a family without a formula here is fitted system by
system.

Urbano, J. Evaluation in Audio Music Similarity. PhD thesis, Universidad Carlos III de Madrid, 2013, sections 4.2.2 and
4.2.3 (Figure 4.5, Tables 4.4 and 4.5).

>>> import adjudge as aj
>>> samples = aj.experiments.samples_of(aj.evaluate(aj.demo(), ["CG@5"]), scale="0..3")
>>> print(aj.experiment(Fit(trials=40, sizes=(20,)), samples, workers=1).sentences()[0])
CG@5 on 0..3: fitted to 20 queries, beta and normal cannot be told apart as the best.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np

from adjudge.arrays import Floats, Mask
from adjudge.errors import AdjudgeError
from adjudge.experiments.comparing import SubsetExperiment, draw_subsets
from adjudge.experiments.report import conclusion, curve_of
from adjudge.experiments.samples import Sample, Samples
from adjudge.experiments.spec import EXPERIMENT_SECTIONS, Draws, Findings, Rows, experiment
from adjudge.model.provenance import Provenance
from adjudge.model.scales import parse_scale
from adjudge.reporting.document import FigureBlock, Paragraph, Section, TableBlock
from adjudge.reporting.figures import Curves, Panel, curves
from adjudge.results import Column, figure
from adjudge.stats.distributions import DISTRIBUTIONS, prediction_interval
from adjudge.stats.intervals import t_interval
from adjudge.tables import Heading
from adjudge.text import listed, share

if TYPE_CHECKING:
    import polars as pl


Both = tuple[Floats, Floats]  # F̂(x), and F̂ just below x, which differ where F̂ has a step
SIZES = (10, 20, 30, 40, 50)
"""The numbers of queries that the thesis fits to."""
_SPELT_OUT = 6  # samples that have a sentence each; more are counted
_ROUNDING = 1e-12  # as the distributions have it
_SHARPEST = 1e8


def distances(fitted_to: Floats, held_out: Floats, name: str) -> tuple[Floats, Floats]:
    """ω̂ and Kolmogorov's D of every system: a family fitted to ``fitted_to``, systems x queries, against the rest.

    ω̂² = Σ_q (F(λ_q) - F̂(λ_q))² over the queries held out, F their empirical distribution and F̂ the fitted one;
    D = sup |F - F̂|. Between two neighbouring values F stays as it is and F̂ only rises, so that the supremum is at one
    of the values, or just below it.

    >>> omega, d = distances(np.array([[0.2, 0.4, 0.6]]), np.array([[0.3, 0.5, 0.7]]), "empirical")
    >>> omega.round(4), d.round(4)
    (array([0.]), array([0.3333]))
    """
    held_out = np.sort(held_out, axis=1)
    at, below = _steps(held_out, held_out)
    fit_at, fit_below = _fitted(np.ascontiguousarray(fitted_to), held_out, name)
    omega: Floats = np.sqrt(((at - fit_at) ** 2).sum(axis=1))
    largest: Floats = np.maximum(np.abs(at - fit_at), np.abs(below - fit_below)).max(axis=1)
    return omega, largest


def _fitted(sample: Floats, x: Floats, name: str) -> Both:
    """F̂ of every system at its own values x."""
    at, below = np.empty_like(x), np.empty_like(x)
    constant: Mask = np.ptp(sample, axis=1) <= _ROUNDING * np.maximum(1.0, np.abs(sample).max(axis=1))
    point = sample[constant, :1]
    at[constant], below[constant] = x[constant] >= point, x[constant] > point
    varied = ~constant
    if varied.any():
        with np.errstate(over="ignore", under="ignore"):
            at[varied], below[varied] = _FAMILIES.get(name, _one_by_one(name))(sample[varied], x[varied])
    return at, below


def _one_by_one(name: str) -> Callable[[Floats, Floats], Both]:
    """A family without a formula here."""

    def fit(sample: Floats, x: Floats) -> Both:
        members = [DISTRIBUTIONS[name].fit(row) for row in sample]
        at = [member.cdf(row) for member, row in zip(members, x, strict=True)]
        below = [member.cdf(np.nextafter(row, -np.inf)) for member, row in zip(members, x, strict=True)]
        return np.stack(at), np.stack(below)

    return fit


def _steps(sample: Floats, x: Floats) -> Both:
    ordered, n = np.sort(sample, axis=1), sample.shape[1]
    rows = list(zip(ordered, x, strict=True))
    at = np.stack([np.searchsorted(row, values, side="right") for row, values in rows]) / n
    below = np.stack([np.searchsorted(row, values, side="left") for row, values in rows]) / n
    return at, below


def _moments(sample: Floats) -> tuple[Floats, Floats]:
    return sample.mean(axis=1, keepdims=True), sample.std(axis=1, ddof=1, keepdims=True)


def _normal(sample: Floats, x: Floats) -> Both:
    from scipy.special import ndtr

    mu, sigma = _moments(sample)
    at = ndtr((x - mu) / sigma)
    return at, at


def _truncated(sample: Floats, x: Floats) -> Both:
    from scipy.special import ndtr

    mu, sigma = _moments(sample)
    below = ndtr(-mu / sigma)
    inside = ndtr((1 - mu) / sigma) - below
    at = np.clip((ndtr((np.clip(x, 0, 1) - mu) / sigma) - below) / inside, 0, 1)
    return at, at


def _beta(sample: Floats, x: Floats) -> Both:
    """By moments; the few systems where those fail are fitted by maximum likelihood, one by one."""
    from scipy.special import betainc

    mean, variance = sample.mean(axis=1, keepdims=True), sample.var(axis=1, ddof=1, keepdims=True)
    precision = np.minimum(mean * (1 - mean) / variance - 1, _SHARPEST)
    simple = precision[:, 0] > _ROUNDING
    at = np.empty_like(x)
    shape = mean[simple] * precision[simple], (1 - mean[simple]) * precision[simple]
    at[simple] = betainc(*shape, np.clip(x[simple], 0, 1))
    if not simple.all():
        at[~simple] = _one_by_one("beta")(sample[~simple], x[~simple])[0]
    return at, at


_FAMILIES: dict[str, Callable[[Floats, Floats], Both]] = {
    "empirical": _steps,
    "normal": _normal,
    "truncated-normal": _truncated,
    "beta": _beta,
}


@experiment("fit")
@dataclass(frozen=True, kw_only=True)
class Fit(SubsetExperiment):
    """Families fitted to ``sizes`` queries, drawn at random, and compared with those left over.

    A row is a system under a family: ``omega`` is ω̂ of thesis eq 4.7, ``kolmogorov`` the largest distance D between
    the two distributions. Default ``sizes`` are those of the thesis that leave a query over, default ``distributions``
    all families. One that is defined on [0, 1] only is left out of samples whose effectiveness goes beyond.
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
        parts = []
        for size in self.sizes:
            for code, (sample, systems) in enumerate(zip(samples, samples.codes, strict=True)):
                (chosen,) = draw_subsets(draws.generator(size), sample.stratum, size)
                fitted_to, held_out = sample.values[chosen].T, np.delete(sample.values, chosen, axis=0).T
                for name in self.usable(sample):
                    omega, kolmogorov = distances(fitted_to, held_out, name)
                    parts.append(
                        {
                            "sample": np.full(len(systems), code),
                            "n_queries": np.full(len(systems), size, dtype=np.int32),
                            "system": systems,
                            "distribution": np.full(len(systems), self.distributions.index(name)),
                            "omega": omega,
                            "kolmogorov": kolmogorov,
                        }
                    )
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def findings(self, samples: Samples, rows: pl.DataFrame, provenance: Provenance) -> FitFindings:
        return FitFindings(self, samples, rows, provenance)


@dataclass(frozen=True)
class FitCell:
    """A family fitted to ``n_queries`` queries of a sample.

    ``omega`` is the mean of ω̂ over systems and trials, with its Monte-Carlo interval; it is a sum over the ``n_left``
    queries left over, so that it can be compared within a size only. ``rms`` = ω̂ / sqrt(n_left) is the distance per
    query and can be compared between sizes too; it never reaches 0, as the queries left over are a sample themselves.
    ``best_for`` is the share of systems that no other family predicts as well on average, ``best`` whether this one has
    the lowest mean of all, and ``as_good`` whether trials cannot tell it from that one: the interval of their
    difference, trial by trial, has 0 inside. ``rule`` says whether prediction intervals would take it here.
    """

    sample: Annotated[str, Column("the sample", key=True)]
    n_queries: Annotated[int, Column("queries that it is fitted to", "d", label="queries", key=True)]
    n_left: Annotated[int, Column("queries left over", "d", shown=False)]
    distribution: Annotated[str, Column("the family", key=True)]
    omega: Annotated[float, Column("mean distance from the queries left over, ω̂", ".4f")]
    low: Annotated[float, Column("lower end of its interval", ".4f", shown=False)]
    high: Annotated[float, Column("upper end of its interval", ".4f", shown=False)]
    rms: Annotated[float, Column("that distance per query, ω̂ / sqrt(n_left)", ".4f")]
    kolmogorov: Annotated[float, Column("mean largest distance, Kolmogorov's D", ".4f", label="D")]
    best_for: Annotated[float, Column("share of systems that it predicts best", ".0f %")]
    best: Annotated[bool, Column("whether it has the lowest mean distance")]
    as_good: Annotated[bool, Column("whether trials cannot tell it from the best")]
    rule: Annotated[bool, Column("whether prediction intervals would take it here", shown=False)]


@dataclass(frozen=True, eq=False, repr=False)
class FitFindings(Findings):
    """What predicts new queries best, by sample and number of queries."""

    experiment: Fit

    row_type = FitCell

    @cached_property
    def cells(self) -> tuple[FitCell, ...]:
        """Every sample, size and family."""
        keys = ("sample", "n_queries", "distribution")
        parts = self.rows.sort(*keys, "trial", maintain_order=True).partition_by(*keys, as_dict=True)
        members = {sample.name: sample for sample in self.samples}
        by_case: dict[tuple[str, int], dict[str, pl.DataFrame]] = {}
        for (sample, size, name), part in parts.items():
            by_case.setdefault((sample, size), {})[name] = part
        return tuple(cell for (sample, size), by in by_case.items() for cell in _cells(members[sample], size, by))

    @cached_property
    def cases(self) -> dict[tuple[str, int], tuple[FitCell, ...]]:
        """The cells of each sample and size."""
        return {key: tuple(group) for key, group in groupby(self.cells, key=lambda cell: (cell.sample, cell.n_queries))}

    @property
    def left_out(self) -> dict[str, tuple[str, ...]]:
        """Families that could not be fitted, by sample."""
        missing = {
            sample.name: tuple(sorted(set(self.experiment.distributions) - set(self.experiment.usable(sample))))
            for sample in self.samples
        }
        return {name: families for name, families in missing.items() if families}

    def _rows(self) -> tuple[FitCell, ...]:
        return self.cells

    def sentences(self) -> list[str]:
        names = self.samples.names
        said = [self._describe(name) for name in names] if len(names) <= _SPELT_OUT else self._count_best()
        beyond = [
            f"{name} goes beyond [0, 1], where {listed(families)} cannot be fitted."
            for name, families in self.left_out.items()
        ]
        return [*said, *self._worst(), self._rule(), *beyond]

    def _describe(self, name: str) -> str:
        """The best families of a sample, by spans of sizes with the same ones."""
        best = {}
        for (sample, size), cells in self.cases.items():
            if sample == name:
                ordered = sorted(cells, key=lambda cell: (not cell.best, cell.omega))
                best[size] = tuple(cell.distribution for cell in ordered if cell.as_good)
        said: list[str] = []
        for families, group in groupby(best, key=best.__getitem__):
            sizes = list(group)
            span = str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
            with_span = f"with {span}" if said else f"fitted to {span} queries"
            if len(families) > 1:
                said.append(f"{with_span}, {listed(families)} cannot be told apart as the best")
            else:
                said.append(f"{with_span}, {families[0]}{'' if said else ' predicts new ones best'}")
        return f"{name}: {'; '.join(said)}."

    def _count_best(self) -> list[str]:
        said = []
        for size in sorted({size for _, size in self.cases}):
            best = [cell.distribution for cell in self.cells if cell.n_queries == size and cell.best]
            counts = [f"{name} for {count}" for name, count in Counter(best).most_common()]
            said.append(
                f"Fitted to {size} queries, what predicts new ones best is {listed(counts)} of {len(best)} samples."
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
        text = (
            f"What prediction intervals choose by themselves is the best, or as good, in {right} of {total} cases here"
        )
        if not missed:
            return f"{text}."
        more, sample, size, taken_name, best_name = max(missed)
        return (
            f"{text}; it is furthest off for {sample} with {size} queries, where it takes {taken_name} and "
            f"{best_name} would be {share(1 - 1 / (1 + more), 0)} closer."
        )

    @figure("fit-curves")
    def _curves(self) -> FigureBlock:
        """Distance of distributions fitted to some queries from those left over."""
        return _figure(self)


def _cells(sample: Sample, size: int, by: Mapping[str, pl.DataFrame]) -> list[FitCell]:
    """The families of one sample and size, held against one another."""
    shape = (-1, len(sample.systems))
    omegas = np.stack([part["omega"].to_numpy().reshape(shape) for part in by.values()])  # families, trials, systems
    over = omegas.mean(axis=2)
    omega, half, _ = t_interval(over.T)  # the error of having run this number of trials
    best = int(omega.argmin())
    behind, unsure, _ = t_interval((over - over[best]).T)
    winner = omegas.mean(axis=1).argmin(axis=0)
    n_left = len(sample.queries) - size
    levels = levels_of(sample.scale)
    intervals = (prediction_interval(np.ascontiguousarray(x), levels=levels, n_queries=size) for x in sample.values.T)
    rule = Counter(interval.distribution for interval in intervals).most_common(1)[0][0]
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


def levels_of(scale: str) -> int | None:
    """How many levels a scale has, where its name says so.

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


_NOTE = (
    "ω̂ is the distance between the distribution fitted to some queries and that of the queries left over, summed over "
    "the latter: it can be compared within a number of queries only. Intervals and what is called as good are about "
    "the number of trials, not about having one collection only."
)


@EXPERIMENT_SECTIONS.register("fit")
def fit_sections(findings: FitFindings) -> Sequence[Section]:
    """The conclusion with the curves, then a table for every number of queries."""
    sizes = sorted({cell.n_queries for cell in findings.cells})
    first = Section("fit", "Which distribution predicts new queries", (*conclusion(findings), findings.figure()))
    tables = tuple(_table(findings, size) for size in sizes)
    return [first, Section("fit-tables", "Distance by number of queries", (Paragraph(_NOTE), *tables))]


def _families(findings: FitFindings) -> list[str]:
    return list(dict.fromkeys(cell.distribution for cell in findings.cells))


def _figure(findings: FitFindings) -> FigureBlock:
    panels = []
    for name in findings.samples.names:
        lines = []
        for family in _families(findings):
            cells = [cell for cell in findings.cells if (cell.sample, cell.distribution) == (name, family)]
            if cells:
                lines.append(curve_of(family, cells, "n_queries", "omega", "low", "high"))
        panels.append(Panel(name, tuple(lines)))
    data = Curves("queries fitted to", "mean distance ω̂", tuple(panels), log_y=True)
    caption = (
        "Mean distance ω̂ between distributions fitted to some queries and the queries left over, with the error of the "
        "trials as a band; lower is better. More queries leave fewer over to sum up, which lowers all curves."
    )
    best = [f"{cell.distribution} ({cell.sample}, {cell.n_queries} queries)" for cell in findings.cells if cell.best]
    alt = f"Distance by number of queries for {len(_families(findings))} distributions. Best: {'; '.join(best)}."
    return FigureBlock("fit-curves", caption, alt, data, curves)


def _table(findings: FitFindings, size: int) -> TableBlock:
    families = _families(findings)
    about = "mean distance ω̂, and the share of systems for which it is the lowest"
    best = "distance of the best as a root mean square over queries, comparable between tables"
    columns = (
        Heading("Sample", "left"),
        *(Heading(name, about=about) for name in families),
        Heading("Per query", about=best),
        Heading("Chosen", "left", about="what prediction intervals take here by themselves"),
    )
    rows, emphasised = [], set()
    for row, name in enumerate(findings.samples.names):
        cells = {cell.distribution: cell for cell in findings.cases[name, size]}
        texts = ["–"] * len(families)
        for i, cell in ((families.index(family), cell) for family, cell in cells.items()):
            star = "*" if cell.as_good and not cell.best else ""
            texts[i] = f"{cell.omega:.4f}{star} ({share(cell.best_for, 0)})"
            emphasised |= {(row, 1 + i)} if cell.best else set()
        rms = next(cell.rms for cell in cells.values() if cell.best)
        rule = next((cell.distribution for cell in cells.values() if cell.rule), "")
        rows.append((name, *texts, f"{rms:.3f}", rule))
    left = sorted({cell.n_left for cell in findings.cells if cell.n_queries == size})
    caption = (
        f"Mean distance ω̂ of distributions fitted to {size} queries from the {' or '.join(map(str, left))} left over, "
        "and in brackets the share of systems that each predicts best. Best in bold, those as good with an asterisk."
    )
    records = [record for record in findings.to_dicts() if record["n_queries"] == size]
    return TableBlock(f"fit-{size}", caption, columns, tuple(rows), records, frozenset(emphasised))
