"""How systems are compared: procedures that test all pairs, subsets of the queries, and curves over their size.

A procedure is written as its test, its parameters in brackets, ``-1`` when one-sided, ``+`` and a correction, ``@`` and
a level::

    t    wilcoxon-1@0.01    bootstrap+holm@0.05    friedman-tukey    sign(min_difference=0.01)

A row of an experiment is a pair of systems on one subset, or on two disjoint ones, ``again`` being the second: the
difference of means of ``system`` less ``other``, and the p-value of every procedure, in a column of its name. Power,
stability and the optimality of tests are read from such rows.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Generic, Self, TypedDict, TypeVar, cast

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.checks import ALPHA, NOT_NEGATIVE, RESAMPLES, SEVERAL, Constraints
from adjudge.errors import AdjudgeError, kept_warnings, shown, unknown
from adjudge.experiments.rates import Rates
from adjudge.experiments.report import TableColumn
from adjudge.experiments.samples import Sample, Samples
from adjudge.experiments.spec import Draws, Experiment, Findings, Rows
from adjudge.reporting.document import TableBlock
from adjudge.reporting.figures import Curve, Curves, Panel
from adjudge.results import Column, Result
from adjudge.seeds import as_seed
from adjudge.stats.matrices import ROUNDING
from adjudge.stats.multiple import CORRECTIONS, FAMILYWISE_TESTS, adjust
from adjudge.stats.paired import PAIRED_TESTS, How, PairedTests, check_min_difference, resampled_tests
from adjudge.tables import Table

if TYPE_CHECKING:
    import polars as pl


AGAIN = "_again"
"""What the columns of the second of two disjoint subsets end in."""
TIE = 1e-12
"""Of the largest effectiveness: means that differ by less are equal but for rounding."""
_STEPS = 20  # query-set sizes to look at, about
_FEWEST = 5  # queries below which nothing is looked at, unless there is nothing else
_KEYS = ("trial", "sample", "n_queries")
DEFAULT_ALPHA = 0.05
FIVE_TESTS = ("t", "wilcoxon", "sign", "bootstrap", "permutation")
"""The tests of chapter 5 of the thesis, in its order."""
_WRITTEN = re.compile(
    r"(?P<test>[a-z-]*?[a-z])(?:\((?P<parameters>[^()]*)\))?(?P<tails>-1)?"
    r"(?:\+(?P<correction>[a-z]+))?(?:@(?P<alpha>[^@+]+))?"
)


# Procedures


@dataclass(frozen=True)
class Procedure:
    """A test of all pairs of systems; ``alpha`` is the level at which it calls a difference significant.

    ``min_difference`` is for the sign test: queries on which systems differ by no more count as ties.
    """

    test: str
    one_sided: bool = False
    correction: str = "none"
    alpha: float = DEFAULT_ALPHA
    min_difference: float = 0.0

    def __post_init__(self) -> None:
        if self.test not in PAIRED_TESTS and self.test not in FAMILYWISE_TESTS:
            raise unknown("test", self.test, [*PAIRED_TESTS, *FAMILYWISE_TESTS])
        CORRECTIONS[self.correction]
        if self.test in FAMILYWISE_TESTS and (self.one_sided or self.correction != "none"):
            raise AdjudgeError(f"{self.name}: {self.test} is two-sided and corrects for all pairs itself")
        if self.test in PAIRED_TESTS:
            check_min_difference(self.test, self.min_difference)
        elif self.min_difference:
            raise AdjudgeError(f"{self.test}: takes no 'min_difference'")
        ALPHA.check("alpha", self.alpha, where=f"{self.name}: ")

    @property
    def name(self) -> str:
        """The procedure without its level: what its p-values are called."""
        least = f"(min_difference={self.min_difference})" if self.min_difference else ""
        corrected = "" if self.correction == "none" else f"+{self.correction}"
        return f"{self.test}{least}{'-1' if self.one_sided else ''}{corrected}"

    @property
    def described(self) -> str:
        """The procedure and its level in words: ``friedman-tukey at 0.05``."""
        return f"{self.name} at {self.alpha:g}"

    @property
    def resampled(self) -> bool:
        """Whether it draws at random."""
        member = PAIRED_TESTS[self.test] if self.test in PAIRED_TESTS else FAMILYWISE_TESTS[self.test]
        return member.resampled

    def __str__(self) -> str:
        return self.name if self.alpha == DEFAULT_ALPHA else f"{self.name}@{self.alpha:g}"


def parse_procedure(text: str | Procedure) -> Procedure:
    """Read a procedure as it is written.

    >>> parse_procedure("wilcoxon-1@0.01")
    Procedure(test='wilcoxon', one_sided=True, correction='none', alpha=0.01, min_difference=0.0)
    >>> print(parse_procedure("bootstrap+holm"), parse_procedure("sign(min_difference=0.01)"))
    bootstrap+holm sign(min_difference=0.01)
    """
    if isinstance(text, Procedure):
        return text
    written = _WRITTEN.fullmatch(text.strip())
    if written is None:
        known = "t, wilcoxon-1@0.01, bootstrap+holm or sign(min_difference=0.01)"
        raise AdjudgeError(f"expected a test such as {known}, got {shown(text)}")
    level = written["alpha"]
    try:
        alpha = DEFAULT_ALPHA if level is None else float(level)
    except ValueError:
        raise AdjudgeError(f"{text}: expected a level such as 0.01 after the @, got {shown(level)}") from None
    least = _min_difference(written["test"], written["parameters"])
    return Procedure(written["test"], written["tails"] is not None, written["correction"] or "none", alpha, least)


def _min_difference(test: str, parameters: str | None) -> float:
    """The only parameter that any test has; 0 where there are no brackets."""
    if parameters is None:
        return 0.0
    name, _, value = (part.strip() for part in parameters.partition("="))
    if name != "min_difference":
        raise AdjudgeError(f"{test}: expected a parameter such as min_difference=0.01 in brackets, got {shown(name)}")
    return float(NOT_NEGATIVE.read("min_difference", value, where=f"{test}: "))


def parse_procedures(texts: Sequence[str | Procedure]) -> tuple[Procedure, ...]:
    """Read several, each once: the same test at two levels is refused, as its p-values are the same."""
    procedures = tuple(parse_procedure(text) for text in texts)
    names = [procedure.name for procedure in procedures]
    if not procedures:
        raise AdjudgeError("expected at least one test, got none")
    if len(set(names)) < len(names):
        raise AdjudgeError(
            f"expected each test once, got {max(names, key=names.count)!r} twice: p-values are kept, and "
            "'adjudge experiment show FOLDER --alpha' has other levels without another run"
        )
    return procedures


class ProcedureField:
    """A field of a frozen dataclass that takes procedures as they are written and holds them parsed."""

    def __init__(self, *default: str) -> None:
        self.default = parse_procedures(default)

    def __get__(self, instance: object | None, owner: type | None = None) -> tuple[Procedure, ...]:
        procedures: tuple[Procedure, ...] = self.default if instance is None else vars(instance)["procedures"]
        return procedures

    def __set__(self, instance: object, value: Sequence[str | Procedure]) -> None:
        vars(instance)["procedures"] = parse_procedures(value)


@dataclass(frozen=True)
class PairOutcomes:
    """Pairs of one matrix, in the order of ``triu_indices``: mean of the first less the second, and p by procedure."""

    difference: Floats
    p: dict[str, Floats]


def run_procedures(
    matrices: Sequence[Floats], procedures: Sequence[Procedure], *, resamples: int, seed: int, gpu: bool = False
) -> list[PairOutcomes]:
    """Run all procedures on all pairs of systems of every matrix (queries x systems, without gaps).

    Resamples are drawn once for all matrices with as many queries; on a ``gpu`` they differ, with the same
    distribution. A one-sided p-value is that of the system with the higher mean being better. Its family, where it is
    corrected, has every pair in both directions, since nobody knew before which of the two is better.

    >>> matrix = np.array([[0.5, 0.3], [0.6, 0.5], [0.9, 0.6]])
    >>> run_procedures([matrix], parse_procedures(["sign", "sign-1"]), resamples=1000, seed=0)[0].p
    {'sign': array([0.25]), 'sign-1': array([0.125])}
    """
    outcomes = [PairOutcomes(_differences(values), {}) for values in matrices]
    groups: dict[tuple[str, bool, float], list[Procedure]] = {}
    for procedure in procedures:
        groups.setdefault((procedure.test, procedure.one_sided, procedure.min_difference), []).append(procedure)
    for (test, one_sided, min_difference), members in groups.items():
        how = How("greater" if one_sided else "two-sided", resamples, seed, min_difference)
        for outcome, tests in zip(outcomes, _tests(matrices, test, how, gpu), strict=True):
            a, b = np.triu_indices(len(tests.systems), 1)
            for member in members:
                p = tests.p if member.correction == "none" else adjust(tests, correction=member.correction).p
                outcome.p[member.name] = np.where(outcome.difference < 0, p[b, a], p[a, b])
    return outcomes


def _differences(values: Floats) -> Floats:
    means: Floats = values.mean(axis=0)
    a, b = np.triu_indices(len(means), 1)
    differences: Floats = means[a] - means[b]
    differences[np.abs(differences) <= ROUNDING * np.abs(values).max()] = 0.0
    return differences


def _tests(matrices: Sequence[Floats], test: str, how: How, gpu: bool) -> list[PairedTests]:
    """One test of every matrix, with draws in common where there are any."""
    if test in FAMILYWISE_TESTS:
        member = FAMILYWISE_TESTS[test]
        options = {"resamples": how.resamples, "seed": how.seed} if member.resampled else {}
        return [member.function(values, **options) for values in matrices]
    definition = PAIRED_TESTS[test]
    if definition.resampling is None:
        outcomes = [definition.function(values, how) for values in matrices]
    elif gpu:
        from adjudge.experiments.gpu import resampled_tests_on_gpu

        outcomes = resampled_tests_on_gpu(matrices, how, definition.resampling)
    else:
        outcomes = resampled_tests(matrices, how, definition.resampling)
    found = []
    for values, outcome in zip(matrices, outcomes, strict=True):
        names = tuple(map(str, range(values.shape[1])))
        n = np.full(outcome.p.shape, len(values), dtype=np.int64)
        found.append(PairedTests(test, how.alternative, names, outcome.p, outcome.error, outcome.statistic, n))
    return found


# Subsets of queries


@dataclass(frozen=True, kw_only=True)
class SubsetExperiment(Experiment):
    """What experiments that draw query sets of several ``sizes`` share; without any, the samples settle them."""

    sizes: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        sizes = tuple(SEVERAL.check("sizes", size, where=f"{self.name}: ") for size in self.sizes)
        if len(set(sizes)) < len(sizes):
            raise AdjudgeError(f"{self.name}: expected each size once, got {', '.join(map(str, sizes))}")
        object.__setattr__(self, "sizes", sizes)

    def check_sizes(self, samples: Samples, *, count: int, left: int = 0) -> None:
        """Refuse sizes of which the smallest sample has not ``count`` disjoint subsets, with ``left`` queries over."""
        smallest = min(samples, key=lambda sample: len(sample.queries))
        for size in self.sizes:
            if size * count + left > len(smallest.queries):
                sets = (
                    f"{count} disjoint sets of {size} queries need" if count > 1 else f"a set of {size} queries needs"
                )
                more = f" and {left} left over" if left else ""
                n_queries = f"{len(smallest.queries)} of {smallest.name}"
                raise AdjudgeError(f"{self.name}: {sets} {size * count}{more}, got {n_queries}")


def draw_subsets(rng: np.random.Generator, stratum: Ints, size: int, *, count: int = 1) -> Ints:
    """``count`` disjoint subsets of ``size`` queries each, at random without replacement: subsets x places.

    Every stratum gives as many queries to a subset as any other, as far as it has them: quotas grow together until
    strata run out, and what does not divide evenly comes from strata at random. Within a subset queries are in the
    order of the sample. The draw depends only on the generator, the strata and the sizes, so that measures with the
    same queries get the same ones.

    >>> draw_subsets(np.random.default_rng(1), np.array([0, 0, 0, 0, 1, 1]), 2, count=2)
    array([[0, 4],
           [2, 5]])
    """
    if size * count > len(stratum):
        raise AdjudgeError(f"{count} disjoint sets of {size} queries need {size * count}, got {len(stratum)}")
    order = rng.permutation(len(stratum))
    names, available = np.unique(stratum, return_counts=True)
    quota = _quotas(rng, available, size * count)
    chosen = [order[stratum[order] == name][:n] for name, n in zip(names, quota, strict=True)]
    whole = [part[: n // count * count].reshape(count, -1) for part, n in zip(chosen, quota, strict=True)]
    left = np.concatenate([part[n // count * count :] for part, n in zip(chosen, quota, strict=True)])
    # neighbours, which may be of one stratum, are dealt to different subsets
    turns = rng.permuted(np.arange(len(left)).reshape(-1, count), axis=1)
    return np.sort(np.concatenate([*whole, left[turns].T], axis=1), axis=1)


def _quotas(rng: np.random.Generator, available: Ints, wanted: int) -> Ints:
    """How many each stratum gives: all the same until some run out, then at random among those with any left."""
    quota = np.zeros_like(available)
    while (missing := wanted - int(quota.sum())) > 0:
        open_ = np.flatnonzero(quota < available)
        if missing >= len(open_):
            quota[open_] += np.minimum(missing // len(open_), available[open_] - quota[open_])
        else:
            quota[rng.permutation(open_)[:missing]] += 1
    return quota


FRIEDMAN_AND_WILCOXON = ProcedureField("friedman-tukey", "wilcoxon-1@0.01")
"""What MIREX does, and what Urbano et al. (2011) propose instead."""
FIVE_PROCEDURES = ProcedureField(*FIVE_TESTS)


@dataclass(frozen=True, kw_only=True)
class ComparisonExperiment(SubsetExperiment):
    """What experiments that compare systems on subsets of queries have in common.

    ``procedures`` are tests as they are written. ``gpu`` says where resamples are drawn, since draws differ there.
    """

    constraints: ClassVar[Constraints] = {**SubsetExperiment.constraints, "resamples": RESAMPLES}

    procedures: ProcedureField = FRIEDMAN_AND_WILCOXON
    resamples: int = 10_000
    gpu: bool = False

    def compare_pairs(self, samples: Samples, draws: Draws, *, count: int) -> Rows:
        """All pairs of systems of every sample on ``count`` disjoint subsets of every size."""
        parts = [self._compare_at(size, samples, draws, count) for size in self.sizes]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def _compare_at(self, size: int, samples: Samples, draws: Draws, count: int) -> Rows:
        matrices = [
            sample.values[subset]
            for sample in samples
            for subset in draw_subsets(draws.generator(2 * size), sample.stratum, size, count=count)
        ]
        seed = draws.number(2 * size + 1)
        outcomes = run_procedures(matrices, self.procedures, resamples=self.resamples, seed=seed, gpu=self.gpu)
        pairs = [[code[side] for side in np.triu_indices(len(code), 1)] for code in samples.codes]
        n_pairs = [sample.n_pairs for sample in samples]
        rows: Rows = {
            "sample": np.repeat(np.arange(len(samples)), n_pairs),
            "n_queries": np.full(sum(n_pairs), size, dtype=np.int32),
            "system": np.concatenate([first for first, _ in pairs]),
            "other": np.concatenate([second for _, second in pairs]),
        }
        for which, suffix in zip(range(count), ("", AGAIN), strict=False):
            several = outcomes[which::count]
            rows[f"difference{suffix}"] = np.concatenate([outcome.difference for outcome in several])
            for name in (procedure.name for procedure in self.procedures):
                rows[f"{name}{suffix}"] = np.concatenate([outcome.p[name] for outcome in several])
        return rows

    def count_significant(self, samples: Samples) -> dict[tuple[str, str], int]:
        """How many pairs are significant with all queries, by the names of sample and procedure.

        No trial is needed for it. Resampled tests draw from the seed of the experiment, in one thread, so that the
        answer is the same everywhere.
        """
        from threadpoolctl import threadpool_limits

        n_significant = {}
        seed = as_seed(self.seed)
        with threadpool_limits(limits=1), kept_warnings():
            for sample in samples:
                (outcome,) = run_procedures([sample.values], self.procedures, resamples=self.resamples, seed=seed)
                for procedure in self.procedures:
                    significant = outcome.p[procedure.name] <= procedure.alpha
                    n_significant[sample.name, procedure.name] = int(np.count_nonzero(significant))
        return n_significant

    def at_levels(self, alpha: float | Mapping[str, float]) -> Self:
        """The same experiment at another level of all its procedures, or of those that are named."""
        names = [procedure.name for procedure in self.procedures]
        levels = dict.fromkeys(names, alpha) if isinstance(alpha, int | float) else dict(alpha)
        for name in levels:
            if name not in names:
                raise unknown("test of this experiment", name, names)
        procedures = [replace(each, alpha=levels.get(each.name, each.alpha)) for each in self.procedures]
        return replace(self, procedures=procedures)


# Curves over the number of queries, of power and stability


def default_sizes(n_queries: int, most: int) -> tuple[int, ...]:
    """About twenty equal steps from 5 to all queries, up to ``most``, which is always one of them.

    >>> default_sizes(100, 50)
    (5, 10, 15, 20, 25, 30, 35, 40, 45, 50)
    >>> default_sizes(6, 5), default_sizes(6, 3)
    ((5,), (3,))
    """
    step = max(1, round(n_queries / _STEPS))
    first = -(-_FEWEST // step) * step
    return (*range(first, most, step), most)


def count_pairs(
    rows: pl.DataFrame, samples: Samples, conditions: Mapping[str, pl.Expr]
) -> tuple[Ints, Floats, dict[str, Floats]]:
    """Sizes in rising order, all pairs, and those that fulfil each condition: arrays trials x samples x sizes."""
    import polars as pl

    sums = [condition.sum().cast(pl.Float64).alias(name) for name, condition in conditions.items()]
    cells = rows.lazy().group_by(*_KEYS).agg(sums).sort(*_KEYS).collect()
    sizes = cells["n_queries"].unique().sort().to_numpy().astype(np.int64)
    shape = (cells["trial"].n_unique(), len(samples), len(sizes))
    if cells.height == 0 or cells.height != int(np.prod(shape)):
        raise AdjudgeError(f"expected rows of every sample and size in every trial, {shape}, got {cells.height} cells")
    n_pairs = np.array([[float(sample.n_pairs)] for sample in samples])
    return sizes, np.broadcast_to(n_pairs, shape), {name: cells[name].to_numpy().reshape(shape) for name in conditions}


class CurveRow(TypedDict):
    """What the rows of curves begin with."""

    sample: Annotated[str, Column("the sample", key=True)]
    collection: Annotated[str, Column("its collection", shown=False)]
    measure: Annotated[str, Column("its measure", shown=False)]
    scale: Annotated[str | None, Column("its scale", shown=False)]
    test: Annotated[str, Column("the test", key=True)]
    alpha: Annotated[float, Column("level of significance", "g")]
    n_queries: Annotated[int, Column("queries", "d", label="queries")]


@dataclass(frozen=True, eq=False, repr=False)
class RateCurve(Result):
    """What one procedure does on one sample, over numbers of queries in rising order.

    ``whole`` is the number of pairs that are significant with all queries.
    """

    sample: Sample
    procedure: Procedure
    n_queries: Ints
    whole: int

    @property
    def title(self) -> str:
        """The sample and the procedure."""
        return f"{self.sample.name}, {self.procedure.described}"

    @property
    def whole_share(self) -> float:
        """Share of pairs that are significant with all queries."""
        return self.whole / self.sample.n_pairs

    @abstractmethod
    def _points(self) -> Mapping[str, Floats]:
        """The other columns of the table, over numbers of queries; what is not known is NaN."""

    def _rows(self) -> list[dict[str, Any]]:
        values = {"n_queries": self.n_queries, **self._points()}
        points = zip(*(column.tolist() for column in values.values()), strict=True)
        return [{**self.identity(), **dict(zip(values, point, strict=True))} for point in points]

    def identity(self) -> dict[str, Any]:
        """What the rows of a table begin with."""
        names = {name: getattr(self.sample, name) for name in ("collection", "measure", "scale")}
        return {"sample": self.sample.name, **names, "test": self.procedure.name, "alpha": self.procedure.alpha}


CurveT = TypeVar("CurveT", bound=RateCurve)


@dataclass(frozen=True, eq=False, repr=False)
class CurveFindings(Findings, Generic[CurveT]):
    """Curves of the first procedure for every sample, then of the next."""

    experiment: ComparisonExperiment
    curves: tuple[CurveT, ...]

    def of(self, sample: str, procedure: str) -> CurveT:
        """The curve of a sample and a procedure, by their names; names that are not there are refused."""
        by_names = {(curve.sample.name, curve.procedure.name): curve for curve in self.curves}
        for kind, name, place in (("sample", sample, 0), ("test of this experiment", procedure, 1)):
            known = dict.fromkeys(names[place] for names in by_names)
            if name not in known:
                raise unknown(kind, name, known)
        return by_names[sample, procedure]

    def by_procedure(self) -> list[tuple[CurveT, ...]]:
        """The curves of every procedure."""
        n = len(self.samples)
        return [self.curves[i : i + n] for i in range(0, len(self.curves), n)]

    def of_procedure(self, name: str = "") -> tuple[CurveT, ...]:
        """The curves of one procedure, the first unless another is named."""
        several = {curves[0].procedure.name: curves for curves in self.by_procedure()}
        if name and name not in several:
            raise unknown("test of this experiment", name, several)
        return several[name or next(iter(several))]

    def at(self, alpha: float | Mapping[str, float]) -> Self:
        """The same trials at another level: one for all procedures, or by their names."""
        findings = self.experiment.at_levels(alpha).findings(self.samples, self.rows, self.provenance)
        return cast("Self", findings)

    @property
    def columns(self) -> tuple[Column, ...]:
        """Those of the curves."""
        return self.curves[0].columns

    def _rows(self) -> list[dict[str, Any]]:
        """A row for every sample, procedure and number of queries."""
        return [row for curve in self.curves for row in curve._rows()]

    @abstractmethod
    def _summary_block(self) -> TableBlock:
        """The table that people read first: every sample and procedure."""

    def table(self, *, digits: int | None = None) -> Table:
        """That of the report."""
        block = self._summary_block()
        return Table(block.columns, block.rows, self.title, self.sentences(), n_key=2)

    def strata_sentence(self) -> str:
        """Whether queries were drawn evenly from strata."""
        numbers = {len(set(sample.strata)) for sample in self.samples if sample.strata}
        strata = f"{numbers.pop()} strata" if len(numbers) == 1 else "the strata"
        balanced = f", balanced over {strata}" if any(sample.strata for sample in self.samples) else ""
        return f"Queries were drawn at random without replacement{balanced}."


CURVE_KEYS: tuple[TableColumn, ...] = (
    ("Sample", "{sample}", ""),
    ("Test", "{test} at {alpha:g}", ""),
    ("Queries", "{n_queries:d}", ""),
)
"""The first columns of tables about curves."""
ABOUT_INTERVALS = (
    "Intervals hold 95 % and are the error of having run this number of trials, not that of having one collection. "
    "Subsets of one collection overlap, so that curves near all its queries are smoother than new queries would be."
)


def rate_panels(
    several: Sequence[RateCurve], rate: str, label: str, *, levels: Mapping[str, float], top: float
) -> Curves:
    """A panel for every scale and collection, a line for every measure; ``levels`` of samples are dotted lines."""
    groups: dict[tuple[str, str], list[RateCurve]] = {}
    for curve in several:
        groups.setdefault((curve.sample.collection, curve.sample.scale), []).append(curve)
    panels = []
    for key, group in groups.items():
        lines = []
        for curve in group:
            found: Rates = getattr(curve, rate)
            sizes = curve.n_queries.astype(np.float64)
            lines.append(Curve(curve.sample.measure, sizes, found.value, found.low, found.high))
        panels.append(Panel(" ".join(filter(None, key)), tuple(lines), (levels[group[0].sample.name],)))
    return Curves("queries", label, tuple(panels), y_top=top)


def figure_name(kind: str, procedure: Procedure) -> str:
    """The name of a file or anchor, which brackets would break."""
    return f"{kind}-" + re.sub(r"[^\w.+-]+", "-", procedure.name).strip("-")
