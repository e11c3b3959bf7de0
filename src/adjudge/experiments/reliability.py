"""Reliability of G-theory: how far estimates of a collection's reliability from few queries can be trusted.

In a trial two disjoint sets of queries are drawn. A G-study of the first says how reliable a set of its size is, and
how reliable one of all queries would be; the second shows what happens when the evaluation is repeated. The
correlation of the systems' means on the two is what Eρ² is an estimate of: covariance and variances are averaged over
trials before they are divided, as Eρ² is a ratio of expected variances; correlations averaged trial by trial differ.

Queries are drawn without replacement, so that mean squares of a set are right on average for those of all queries.
Two things must be kept in mind. The value with all queries is an estimate itself, and a set is part of them: an
estimate is further from the truth than from that value, by a factor of about 1 / sqrt(1 - n/N) for n of N queries.
And systems stay the same, while F intervals are for systems drawn at random too: they cover more than they say.
Simulation solves the first: queries are drawn from a model of the collection, as new as those of another year, and its
components are the truth. The findings then hold for collections such as the model's.

Mean squares are in closed form, for many query sets at once; variances, indices and F intervals are those of
:func:`~adjudge.stats.gtheory.gstudy.gstudy`.

Urbano, J., Marrero, M., Martín, D. On the Measurement of Test Collection Reliability. SIGIR 2013.
doi:10.1145/2484028.2484038. Thesis, sections 6.1 and 6.2.

>>> import adjudge as aj
>>> samples = aj.experiments.samples_of(aj.evaluate(aj.demo(), ["CG@5"]))
>>> found = aj.experiment(Reliability(trials=50, sizes=(20,)), samples, workers=1)
>>> found.estimates[0].needed_known, round(found.estimates[0].all_known, 3)
(37.0, 0.969)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from adjudge.arrays import Floats, Mask
from adjudge.checks import CONFIDENCE, TARGET, Constraints
from adjudge.errors import AdjudgeError, unknown
from adjudge.experiments.comparing import SubsetExperiment, draw_subsets
from adjudge.experiments.rates import rates
from adjudge.experiments.report import TableColumn, conclusion, curve_of, table_of
from adjudge.experiments.samples import Sample, Samples
from adjudge.experiments.simulate.collection import models_of
from adjudge.experiments.spec import EXPERIMENT_SECTIONS, Draws, Findings, Rows, experiment
from adjudge.model.provenance import Provenance
from adjudge.reporting.document import FigureBlock, Paragraph, Section, TableBlock
from adjudge.reporting.figures import Curves, Panel, curves
from adjudge.results import Column, columns_of, figure
from adjudge.stats.gtheory.dstudy import INDICES, Errors, coefficient, expected_tau, queries_for
from adjudge.stats.intervals import t_interval
from adjudge.stats.matrices import dense_ranks
from adjudge.text import listed, percent, share

if TYPE_CHECKING:
    import polars as pl

    from adjudge.experiments.simulate.collection import CollectionModel


COLLECTION, SIMULATED = "collection", "simulated"
TRUTHS = (COLLECTION, SIMULATED)
"""What estimates can be held against."""
_DRAWN, _BLOCK, _SEED = 1 << 17, 1 << 13, 20130728  # queries of a model from which its covariances are taken
_ROUNDING = 1e-12  # of the total, as in the G-study
_STEP = 10  # between sizes
_EFFECTS = ("system", "query", "residual")
_MODEL = {"margin": "auto", "dependence": "empirical"}  # default settings of the model
_MOST_SAMPLES = 4  # in sentences; tables have them all
_SPREAD = (0.05, 0.95)  # ends of the spread of an estimate
_OF_COLLECTION = "The value with all queries is an estimate too, and the sets are part of it: the truth is further off."
_OF_MODEL = (
    "Queries are simulated, and the truth is that of a model fitted to the collection: of collections such as this one."
)
_OF_SYSTEMS = (
    "Systems stay the same in all trials, while F intervals are for systems drawn at random: they cover more than they "
    "say."
)


@dataclass(frozen=True)
class Components:
    """Mean squares of systems, queries and the residual, of sets of ``n_queries`` queries of ``n_systems`` systems."""

    system: Floats
    query: Floats
    residual: Floats
    n_queries: int
    n_systems: int

    @property
    def variances(self) -> tuple[Floats, Floats, Floats]:
        """σ²_s, σ²_q and σ²_e (thesis eq 6.3); estimates below 0 are 0."""
        of_system = (self.system - self.residual) / self.n_queries
        of_query = (self.query - self.residual) / self.n_systems
        tiny = _ROUNDING * (np.abs(of_system) + np.abs(of_query) + np.abs(self.residual))
        system, query, residual = (np.where(v > tiny, v, 0.0) for v in (of_system, of_query, self.residual))
        return system, query, residual

    def error(self, *, absolute: bool) -> Errors:
        """Error variance of a mean over queries: for comparing systems, or of the scores themselves."""
        _, query, residual = self.variances
        by_query = query + residual if absolute else residual
        return Errors(by_query, np.zeros_like(by_query))

    def index(self, n_queries: int, *, absolute: bool) -> Floats:
        """Eρ², or Φ if ``absolute``, of a collection with ``n_queries`` (eq 6.4 and 6.5)."""
        return coefficient(self.variances[0], self.error(absolute=absolute).at(n_queries))

    def needed(self, target: float, *, absolute: bool) -> Floats:
        """Queries for the index to reach a target (eq 6.6 and 6.7); infinite where no number does."""
        return queries_for(target, self.variances[0], self.error(absolute=absolute))

    def interval(self, n_queries: int, *, absolute: bool, confidence: float) -> tuple[Floats, Floats]:
        """Ends of the F interval of the index for ``n_queries``."""
        ratios = [self._end(p, absolute=absolute) for p in ((1 + confidence) / 2, (1 - confidence) / 2)]
        with np.errstate(invalid="ignore"):
            low, high = (np.where(np.isinf(x), 1.0, n_queries * x / (1 + n_queries * x)) for x in ratios)
        return low, high

    def _end(self, p: float, *, absolute: bool) -> Floats:
        """Feldt's end of σ²_s / σ²_e, or that of Arteaga et al. of σ²_s / (σ²_q + σ²_e)."""
        from scipy.special import chdtri, fdtri

        df_s, df_q = self.n_systems - 1.0, self.n_queries - 1.0
        to_q, to_e = float(fdtri(df_s, df_q, p)), float(fdtri(df_s, df_s * df_q, p))
        to_none = float(chdtri(df_s, 1 - p)) / df_s
        ms_s, ms_q, ms_e = self.system, self.query, self.residual
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = np.where(ms_s > 0, (ms_s / (ms_e * to_e) - 1) / self.n_queries, 0.0)
            if not absolute:
                return np.maximum(relative, 0.0)
            top = ms_s**2 - to_none * ms_s * ms_e + (to_none - to_e) * to_e * ms_e**2
            bottom = (self.n_systems - 1) * to_none * ms_s * ms_e + to_q * ms_s * ms_q
            ratio = np.where(relative > 0, self.n_systems / self.n_queries * top / bottom, 0.0)
        return np.maximum(ratio, 0.0)


def components(values: Floats) -> Components:
    """Mean squares of complete effectiveness, (sets x) queries x systems.

    >>> found = components(np.array([[0.2, 0.5], [0.4, 0.7], [0.1, 0.5]]))
    >>> [round(float(v), 4) for v in found.variances]
    [0.055, 0.0167, 0.0017]
    """
    n_queries, n_systems = values.shape[-2:]
    centred = values - values.mean(axis=(-2, -1), keepdims=True)
    by_system, by_query = centred.mean(axis=-2), centred.mean(axis=-1)
    total = (centred**2).sum(axis=(-2, -1))
    system = n_queries * (by_system**2).sum(axis=-1)
    query = n_systems * (by_query**2).sum(axis=-1)
    residual = ((centred - by_system[..., None, :] - by_query[..., None]) ** 2).sum(axis=(-2, -1))
    system, query, residual = (np.where(part > _ROUNDING * total, part, 0.0) for part in (system, query, residual))
    df_s, df_q = n_systems - 1, n_queries - 1
    return Components(system / df_s, query / df_q, residual / (df_s * df_q), n_queries, n_systems)


def true_components(model: CollectionModel, n_queries: int) -> Components:
    """Mean squares that sets of ``n_queries`` queries of a model have on average, so that variances are its true ones.

    Over queries, systems have the means μ, the variances and the covariances of the model, so that σ²_s is the variance
    of μ, σ²_q the mean covariance of two systems, and σ²_e the mean variance less that. Means and variances are exact.
    Covariances are from 131,072 queries drawn always alike, scaled to the exact variances: σ²_q is right to about half
    a per cent, and Eρ² of a reliable collection to the fourth digit.

    >>> from adjudge.experiments.simulate.collection import fit_collection
    >>> model = fit_collection([[0.12, 0.31], [0.53, 0.42], [0.95, 0.83], [0.34, 0.375]])
    >>> [round(float(v), 3) for v in true_components(model, 4).variances]
    [0.0, 0.08, 0.01]
    """
    rng, means, n_systems = np.random.default_rng(_SEED), model.means, len(model.systems)
    of_sum = of_each = 0.0
    for _ in range(_DRAWN // _BLOCK):
        centred = model.draw(rng, _BLOCK) - means
        of_sum += float((centred.sum(axis=1) ** 2).sum())
        of_each += float((centred**2).sum())
    variance = float((model.sds**2).sum())
    covariance = variance * (of_sum / of_each - 1) / (n_systems * (n_systems - 1)) if of_each > 0 else 0.0
    residual = max(variance / n_systems - covariance, 0.0)
    system = n_queries * float(means.var(ddof=1)) + residual
    query = n_systems * covariance + residual
    return Components(np.array(system), np.array(query), np.array(residual), n_queries, n_systems)


@experiment("reliability")
@dataclass(frozen=True, kw_only=True)
class Reliability(SubsetExperiment):
    """G-studies of sets of ``sizes`` queries, and what a second set of the same size then shows.

    A row is a sample: the mean squares of the first set (from which variances, Eρ² and Φ for any number of queries
    follow), and of the two sets together the ``covariance`` of the systems' means with their ``variance`` and
    ``variance_again``, Kendall's ``tau`` (b, for ties) and ``tau_ap`` (the first ranking against the second; ties in
    the order of the sample), the share of pairs of systems ``swapped``, and the root mean square difference of means,
    ``rmse``. Default sizes are tens up to half of the queries. ``target`` is the reliability to find the number of
    queries for, ``confidence`` that of F intervals.

    ``truth`` is what estimates are held against. ``collection``: sets are drawn from the queries of the sample, and the
    truth is what all of them say. ``simulated``: queries are drawn from a model fitted to the sample, with the
    ``margin`` and ``dependence`` of :func:`~adjudge.experiments.simulate.collection.fit_collection`, and the truth is
    that of the model; sizes may then exceed the sample's, and new queries have no strata.

    >>> Reliability(truth="simulation")
    Traceback (most recent call last):
    adjudge.errors.UnknownNameError: No truth is called 'simulation'. Did you mean 'simulated'?
    """

    title: ClassVar[str] = "Reliability of G-theory estimates"
    question: ClassVar[str] = "How far can the reliability estimated from few queries be trusted?"

    constraints: ClassVar[Constraints] = {**SubsetExperiment.constraints, "target": TARGET, "confidence": CONFIDENCE}

    target: float = 0.95
    confidence: float = 0.95
    truth: str = COLLECTION
    margin: str = _MODEL["margin"]
    dependence: str = _MODEL["dependence"]

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.truth not in TRUTHS:
            raise unknown("truth", self.truth, TRUTHS)
        for name, usual in _MODEL.items():
            if self.truth == COLLECTION and getattr(self, name) != usual:
                raise AdjudgeError(f"reliability: {name!r} is of the model behind the truth {SIMULATED!r}")

    def prepared(self, samples: Samples) -> Reliability:
        """With sizes settled; samples with too few queries, or to which no model can be fitted, are refused."""
        if self.truth == COLLECTION:
            self.check_sizes(samples, count=2)
        else:
            models_of(samples, self.margin, self.dependence)
        half = samples.fewest_queries // 2
        return replace(self, sizes=self.sizes or tuple(range(_STEP, half + 1, _STEP)) or (half,))

    def trial(self, samples: Samples, draws: Draws) -> Rows:
        """Two sets of every size, of every sample."""
        rows = []
        for size in self.sizes:
            for code, (first, second) in enumerate(self._draw_sets(samples, draws, size)):
                squares, means = components(first), (first.mean(axis=0), second.mean(axis=0))
                observed = {f"ms_{effect}": float(getattr(squares, effect)) for effect in _EFFECTS}
                rows.append({"sample": code, "n_queries": size, **observed, **compared_means(*means)})
        columns: Rows = {name: np.array([row[name] for row in rows]) for name in rows[0]}
        return {**columns, "n_queries": columns["n_queries"].astype(np.int32)}

    def _draw_sets(self, samples: Samples, draws: Draws, size: int) -> Iterator[Floats]:
        """Two sets of queries of every sample: sets x queries x systems. Samples share the random numbers."""
        if self.truth == COLLECTION:
            for sample in samples:
                yield sample.values[draw_subsets(draws.generator(size), sample.stratum, size, count=2)]
        else:
            for model in models_of(samples, self.margin, self.dependence):
                yield model.draw(draws.generator(size), 2 * size).reshape(2, size, -1)

    def truths(self, samples: Samples) -> dict[str, Components]:
        """What estimates are held against, by the names of samples."""
        if self.truth == COLLECTION:
            return {sample.name: components(sample.values) for sample in samples}
        models = models_of(samples, self.margin, self.dependence)
        return {
            sample.name: true_components(model, len(sample.queries))
            for sample, model in zip(samples, models, strict=True)
        }

    def findings(self, samples: Samples, rows: pl.DataFrame, provenance: Provenance) -> ReliabilityFindings:
        """How estimates scatter, and what repeating showed."""
        return ReliabilityFindings(self, samples, rows, provenance)


def compared_means(first: Floats, second: Floats) -> dict[str, float]:
    """How far two rankings of systems by their means agree; NaN where all systems are equal in one of them.

    >>> found = compared_means(np.array([0.9, 0.5, 0.3]), np.array([0.8, 0.2, 0.4]))
    >>> {name: round(found[name], 3) for name in ("covariance", "tau", "tau_ap", "swapped", "rmse")}
    {'covariance': 0.073, 'tau': 0.333, 'tau_ap': 0.5, 'swapped': 0.333, 'rmse': 0.191}
    """
    n = len(first)
    above = np.triu_indices(n, 1)
    places, again = dense_ranks(first), dense_ranks(second)
    one, other = (np.sign(ranks[above[0]] - ranks[above[1]]) for ranks in (places, again))
    alike = one * other
    both = float(np.sqrt(np.abs(one).sum() * np.abs(other).sum()))
    order = np.argsort(-places, kind="stable")
    right = np.triu(again[order][:, None] > again[order][None, :], 1)  # those above a system that stay above it
    a, b = first - first.mean(), second - second.mean()
    return {
        "covariance": float(a @ b) / (n - 1),
        "variance": float(a @ a) / (n - 1),
        "variance_again": float(b @ b) / (n - 1),
        "tau": float(alike.sum()) / both if both > 0 else np.nan,
        "tau_ap": 2 * float(np.mean(right.sum(axis=0)[1:] / np.arange(1, n))) - 1 if both > 0 else np.nan,
        "swapped": float(np.mean(alike < 0)),
        "rmse": float(np.sqrt(np.mean((first - second) ** 2))),
    }


@dataclass(frozen=True)
class Estimate:
    """An index, Eρ² or Φ, as G-studies of ``n_queries`` queries of a sample estimate it.

    ``mean``, ``sd``, ``low`` and ``high`` (5 % and 95 % of trials) are of the index for as many queries; those that
    start with ``all_`` of the index for ``n_all``, all queries. What is ``known`` is the value with all queries, or the
    truth where queries are simulated. ``all_bias`` is the mean error of estimates, ``all_off`` the error that 90 % of
    them do not exceed. ``needed`` is the median number of queries for the target, and ``needed_off`` the share of
    trials more than twice or less than half of what is known. ``covered`` is the share of F intervals with
    ``all_known`` inside.
    """

    sample: Annotated[str, Column("the sample", key=True)]
    n_queries: Annotated[int, Column("queries of a set", "d", label="queries", key=True)]
    index: Annotated[str, Column("the index: e_rho2 or phi", key=True)]
    mean: Annotated[float, Column("mean of the index for as many queries", ".3f")]
    sd: Annotated[float, Column("its standard deviation over trials", ".3f", shown=False)]
    low: Annotated[float, Column("what 5 % of trials are below", ".3f", label="5 %")]
    high: Annotated[float, Column("what 95 % of trials are below", ".3f", label="95 %")]
    known: Annotated[float, Column("what is known of it", ".4f", shown=False)]
    n_all: Annotated[int, Column("all queries", "d", shown=False)]
    all_mean: Annotated[float, Column("mean of the index for all queries", ".4f", label="for all")]
    all_sd: Annotated[float, Column("its standard deviation over trials", ".4f", shown=False)]
    all_low: Annotated[float, Column("what 5 % of trials are below", ".4f", shown=False)]
    all_high: Annotated[float, Column("what 95 % of trials are below", ".4f", shown=False)]
    all_known: Annotated[float, Column("what is known of it with all queries, or in truth", ".4f", label="known")]
    all_bias: Annotated[float, Column("what estimates are off it on average", ".4f", shown=False)]
    all_off: Annotated[float, Column("what 90 % of estimates are off it at most", ".4f", shown=False)]
    needed: Annotated[float, Column("median number of queries for the target", ".0f", shown=False)]
    needed_low: Annotated[float, Column("what 5 % of trials are below", ".0f", shown=False)]
    needed_high: Annotated[float, Column("what 95 % of trials are below", ".0f", shown=False)]
    needed_known: Annotated[float, Column("queries for the target by what is known", ".0f", shown=False)]
    needed_off: Annotated[float, Column("share of trials off by more than a factor 2", ".3f", shown=False)]
    needed_off_low: Annotated[float, Column("lower end of its interval", ".3f", shown=False)]
    needed_off_high: Annotated[float, Column("upper end of its interval", ".3f", shown=False)]
    covered: Annotated[float, Column("share of F intervals with what is known inside", ".3f", shown=False)]
    covered_low: Annotated[float, Column("lower end of its interval", ".3f", shown=False)]
    covered_high: Annotated[float, Column("upper end of its interval", ".3f", shown=False)]


@dataclass(frozen=True)
class Repetition:
    """What a second set of ``n_queries`` showed, beside what the first predicted.

    ``correlation`` is that of the systems' means on the two sets, pooled over trials, with its Monte-Carlo interval;
    ``correlation_predicted`` is the mean of Eρ² by the first set, and ``correlation_known`` that of all queries.
    ``tau_predicted`` is 2/π arcsin(Eρ²), for normal means; ``rmse_predicted`` is sqrt(2 (σ²_q + σ²_e) / n), which is
    what the means of a system on two sets differ by.
    """

    sample: Annotated[str, Column("the sample", key=True)]
    n_queries: Annotated[int, Column("queries of a set", "d", key=True)]
    correlation: Annotated[float, Column("correlation of systems' means on two sets", ".3f", label="r")]
    correlation_low: Annotated[float, Column("lower end of its interval", ".3f", shown=False)]
    correlation_high: Annotated[float, Column("upper end of its interval", ".3f", shown=False)]
    correlation_predicted: Annotated[float, Column("mean of Eρ² by the first set", ".3f", shown=False)]
    correlation_known: Annotated[float, Column("Eρ² by what is known", ".3f", shown=False)]
    tau: Annotated[float, Column("Kendall's tau of the two rankings", ".3f", shown=False)]
    tau_predicted: Annotated[float, Column("2/π arcsin(Eρ²)", ".3f", shown=False)]
    tau_ap: Annotated[float, Column("AP correlation of the two rankings", ".3f", shown=False)]
    swapped: Annotated[float, Column("share of pairs of systems in the opposite order", ".3f", shown=False)]
    rmse: Annotated[float, Column("what the means of a system differ by", ".3f", shown=False)]
    rmse_predicted: Annotated[float, Column("what they should differ by", ".3f", shown=False)]


@dataclass(frozen=True, eq=False, repr=False)
class ReliabilityFindings(Findings):
    """Rates by size, and what repeating showed."""

    experiment: Reliability

    @cached_property
    def truths(self) -> dict[str, Components]:
        """What estimates are held against, by sample: the components of all queries, or those of the model."""
        return self.experiment.truths(self.samples)

    @property
    def simulated(self) -> bool:
        """Whether queries are those of a model, whose truth is known."""
        return self.experiment.truth == SIMULATED

    @property
    def known(self) -> str:
        """What estimates are held against, in words."""
        return "in truth" if self.simulated else "with all queries"

    @cached_property
    def _parts(self) -> list[tuple[Sample, Components, dict[str, Floats]]]:
        members = {sample.name: sample for sample in self.samples}
        frame = self.rows.sort("sample", "n_queries", "trial", maintain_order=True)
        found = []
        for (name, size), part in frame.partition_by("sample", "n_queries", as_dict=True, maintain_order=True).items():
            columns = {column: part[column].to_numpy() for column in part.columns if column != "sample"}
            system, query, residual = (columns[f"ms_{effect}"] for effect in _EFFECTS)
            squares = Components(system, query, residual, size, len(members[name].systems))
            found.append((members[name], squares, columns))
        return found

    @cached_property
    def estimates(self) -> tuple[Estimate, ...]:
        """Eρ² and Φ by sample and size."""
        return tuple(
            _estimate(sample, squares, index, self.truths[sample.name], self.experiment)
            for sample, squares, _ in self._parts
            for index in INDICES
        )

    @cached_property
    def repeated(self) -> tuple[Repetition, ...]:
        """What a second set showed, by sample and size."""
        return tuple(
            _repetition(sample, squares, columns, self.truths[sample.name]) for sample, squares, columns in self._parts
        )

    @property
    def columns(self) -> tuple[Column, ...]:
        """Those of the estimates, and of what a second set showed."""
        return (*columns_of(Estimate), *columns_of(Repetition)[2:])

    def _rows(self) -> list[dict[str, Any]]:
        by_key = {(row.sample, row.n_queries): asdict(row) for row in self.repeated}
        return [{**asdict(row), **by_key[row.sample, row.n_queries]} for row in self.estimates]

    def sentences(self) -> list[str]:
        names = self.samples.names
        said = [sentence for name in names[:_MOST_SAMPLES] for sentence in self._describe(name)]
        if len(names) > _MOST_SAMPLES:
            said.append(f"Tables have {len(names) - _MOST_SAMPLES} more {'sample' if len(names) == 5 else 'samples'}.")
        return [*said, f"{_OF_MODEL if self.simulated else _OF_COLLECTION} {_OF_SYSTEMS}"]

    def _describe(self, name: str) -> list[str]:
        size = min({row.n_queries for row in self.estimates}, key=lambda size: (abs(size - 20), size))
        chosen = [row for row in self.estimates if (row.sample, row.n_queries) == (name, size)]
        shown = next(row for row in self.repeated if (row.sample, row.n_queries) == (name, size))
        first = chosen[0]
        off = listed([f"{INDICES[row.index]} within ±{row.all_off:.3f}" for row in chosen])
        covered = listed([f"{INDICES[row.index]} in {share(row.covered)}" for row in chosen])
        needed = "out of reach" if np.isinf(first.needed_known) else f"{first.needed_known:.0f}"
        of, by, by_all = ("of what all of them say", "by all of them", "by all queries")
        if self.simulated:
            of, by, by_all = "of the truth", "in truth", "in truth"
        gap = shown.correlation_known - shown.correlation
        is_right = shown.correlation_low <= shown.correlation_known <= shown.correlation_high
        verdict = "as observed" if is_right else f"{abs(gap):.3f} too {'high' if gap > 0 else 'low'}"
        return [
            f"{name}: from {size} queries, the reliability of {first.n_all} is estimated, in 90 % of trials, {off} "
            f"{of}.",
            f"Queries needed for {INDICES[first.index]} = {self.experiment.target:g}: {needed} {by}; from {size} it is "
            f"off by more than a factor 2 in {share(first.needed_off)} of trials.",
            f"On two sets of {size} queries, means of systems correlate by {shown.correlation:.3f} "
            f"[{shown.correlation_low:.3f}, {shown.correlation_high:.3f}]; Eρ² {by_all} is "
            f"{shown.correlation_known:.3f}, {verdict}, and by one such set {shown.correlation_predicted:.3f} on "
            "average.",
            f"{percent(self.experiment.confidence)} F intervals from {size} queries cover the value {by}: {covered} of "
            "trials.",
        ]

    @figure("reliability-spread")
    def _spread(self) -> FigureBlock:
        """Reliability as estimated from some of the queries."""
        return _spread_figure(self)

    @figure("reliability-repeated")
    def _repetition(self) -> FigureBlock:
        """What one set of queries predicts of another, and what is observed."""
        return _repetition_figure(self)


def _estimate(sample: Sample, squares: Components, index: str, whole: Components, spec: Reliability) -> Estimate:
    absolute, n_all = index == "phi", len(sample.queries)
    here, everywhere = (squares.index(n, absolute=absolute) for n in (squares.n_queries, n_all))
    known = float(whole.index(n_all, absolute=absolute))
    ends = squares.interval(n_all, absolute=absolute, confidence=spec.confidence)
    needed, right = squares.needed(spec.target, absolute=absolute), float(whole.needed(spec.target, absolute=absolute))
    low, middle, high = np.quantile(needed, (_SPREAD[0], 0.5, _SPREAD[1]), method="inverted_cdf").tolist()
    return Estimate(
        sample=sample.name,
        n_queries=squares.n_queries,
        index=index,
        **_spread("", here),
        known=float(whole.index(squares.n_queries, absolute=absolute)),
        n_all=n_all,
        **_spread("all_", everywhere),
        all_known=known,
        all_bias=float(everywhere.mean()) - known,
        all_off=float(np.quantile(np.abs(everywhere - known), 0.9)),
        needed=middle,
        needed_low=low,
        needed_high=high,
        needed_known=right,
        **_share("needed_off", (needed > 2 * right) | (needed < right / 2)),
        **_share("covered", (ends[0] <= known) & (known <= ends[1])),
    )


def _spread(prefix: str, values: Floats) -> dict[str, float]:
    low, high = np.quantile(values, _SPREAD).tolist()
    sd = float(values.std(ddof=1)) if len(values) > 1 else float("nan")
    ends = {f"{prefix}low": low, f"{prefix}high": high}
    return {f"{prefix}mean": float(values.mean()), f"{prefix}sd": sd, **ends}


def _share(name: str, hits: Mask) -> dict[str, float]:
    value, low, high = rates(hits.astype(np.float64), np.ones(len(hits))).bounded
    return {name: value, f"{name}_low": low, f"{name}_high": high}


def _repetition(sample: Sample, squares: Components, columns: dict[str, Floats], whole: Components) -> Repetition:
    predicted = squares.index(squares.n_queries, absolute=False)
    correlation, half = _pooled(columns["covariance"], columns["variance"], columns["variance_again"])
    rmse = np.sqrt(2 * squares.error(absolute=True).at(squares.n_queries))
    tau, tau_ap, swapped = (float(t_interval(columns[name])[0]) for name in ("tau", "tau_ap", "swapped"))
    return Repetition(
        sample=sample.name,
        n_queries=squares.n_queries,
        correlation=correlation,
        correlation_low=correlation - half,
        correlation_high=correlation + half,
        correlation_predicted=float(predicted.mean()),
        correlation_known=float(whole.index(squares.n_queries, absolute=False)),
        tau=tau,
        tau_predicted=float(expected_tau(predicted).mean()),
        tau_ap=tau_ap,
        swapped=swapped,
        rmse=float(np.sqrt(np.mean(columns["rmse"] ** 2))),
        rmse_predicted=float(np.sqrt(np.mean(rmse**2))),
    )


def _pooled(covariance: Floats, variance: Floats, again: Floats) -> tuple[float, float]:
    """Correlation from means over trials, and half its interval, by the linear terms of the ratio."""
    first, second = float(variance.mean()), float(again.mean())
    scale = float(np.sqrt(first * second))
    if scale == 0:
        return float("nan"), float("nan")
    correlation = float(covariance.mean()) / scale
    linear = (covariance - correlation * scale * (variance / first + again / second) / 2) / scale
    return correlation, float(t_interval(linear)[1])


@EXPERIMENT_SECTIONS.register("reliability")
def reliability_sections(findings: ReliabilityFindings) -> Sequence[Section]:
    """The conclusion, estimates with their spread, and what a second set of queries shows."""
    text = "Eρ² of one set of queries predicts how systems' means correlate with those on another; τ follows from it."
    repeated = (Paragraph(text), _repetition_table(findings), findings.figure("reliability-repeated"))
    return [
        Section("reliability", "Can estimates of reliability be trusted", tuple(conclusion(findings))),
        Section(
            "estimates",
            "Rates by number of queries",
            (_estimate_table(findings), findings.figure("reliability-spread")),
        ),
        Section("repeated", "What a second set shows", repeated),
    ]


def _spread_figure(findings: ReliabilityFindings) -> FigureBlock:
    panels = []
    for name in findings.samples.names:
        lines, levels = [], []
        for index, label in INDICES.items():
            cells = [row for row in findings.estimates if (row.sample, row.index) == (name, index)]
            lines.append(curve_of(label, cells, "n_queries", "all_mean", "all_low", "all_high"))
            levels.append(cells[0].all_known)
        panels.append(Panel(name, tuple(lines), tuple(levels)))
    caption = (
        "Reliability of the whole collection as estimated from some of its queries: mean over trials, and where 90 % "
        f"of them lie. Dotted lines are the values {findings.known}."
    )
    bands = f"bands that narrow towards the value {findings.known}"
    alt = f"Curves of estimated Eρ² and Φ by number of queries, with {bands}."
    data = Curves("queries estimated from", "reliability of all queries", tuple(panels))
    return FigureBlock("reliability-spread", caption, alt, data, curves)


def _repetition_figure(findings: ReliabilityFindings) -> FigureBlock:
    labels = {
        "correlation_predicted": "Eρ², predicted",
        "correlation_known": f"Eρ², {findings.known}",
        "correlation": "correlation, observed",
        "tau_predicted": "τ, predicted",
        "tau": "τ, observed",
    }
    panels = []
    for name in findings.samples.names:
        cells = [row for row in findings.repeated if row.sample == name]
        lines = [curve_of(label, cells, "n_queries", y) for y, label in labels.items()]
        panels.append(Panel(name, tuple(lines)))
    caption = (
        "What one set of queries predicts of another of the same size, and what is observed: the correlation of "
        "systems' means, and Kendall's τ of the rankings."
    )
    last = findings.repeated[-1]
    alt = (
        f"Predicted and observed agreement by number of queries; {last.sample} with {last.n_queries} queries: "
        f"correlation {last.correlation:.3f}, predicted {last.correlation_predicted:.3f}."
    )
    data = Curves("queries in each set", "agreement", tuple(panels))
    return FigureBlock("reliability-repeated", caption, alt, data, curves)


def _estimate_table(findings: ReliabilityFindings) -> TableBlock:
    def needed(row: dict[str, Any]) -> str:
        numbers = (row[name] for name in ("needed", "needed_low", "needed_high"))
        middle, low, high = (f"{n:,.0f}" if np.isfinite(n) else "∞" for n in numbers)
        return f"{middle} [{low}, {high}]"

    of_trials, known = "and where 90 % of trials lie", findings.known
    columns: list[TableColumn] = [
        ("Sample", "{sample}", ""),
        ("Queries", "{n_queries:d}", ""),
        ("Index", "{symbol}", ""),
        ("For as many", "{mean:.3f} [{low:.3f}, {high:.3f}]", f"the index for as many queries, {of_trials}"),
        ("For all", "{all_mean:.4f} [{all_low:.4f}, {all_high:.4f}]", f"the index for all queries, {of_trials}"),
        ("Bias", "{all_bias:+.4f}", f"mean less the value {known}"),
        ("Queries needed", needed, f"median for the target, {of_trials}"),
        (
            "Off by 2",
            lambda row: share(row["needed_off"]),
            f"trials more than twice or less than half of the number {known}",
        ),
        ("Covered", lambda row: share(row["covered"]), f"F intervals with the value {known} inside"),
    ]
    caption = f"Reliability estimated from some of the queries, and queries needed for {findings.experiment.target:g}."
    rows = [{**asdict(row), "symbol": INDICES[row.index]} for row in findings.estimates]
    return table_of("reliability-estimates", caption, columns, rows, findings.to_dicts())


def _repetition_table(findings: ReliabilityFindings) -> TableBlock:
    columns: list[TableColumn] = [
        ("Sample", "{sample}", ""),
        ("Queries", "{n_queries:d}", ""),
        ("Correlation", "{correlation:.3f} [{correlation_low:.3f}, {correlation_high:.3f}]", ""),
        ("Eρ²", "{correlation_predicted:.3f}", "what the first set predicts of the correlation, on average"),
        ("Eρ² known", "{correlation_known:.3f}", f"Eρ² {findings.known}, which predicts the correlation"),
        ("τ", "{tau:.3f}", ""),
        ("τ predicted", "{tau_predicted:.3f}", ""),
        ("τ_AP", "{tau_ap:.3f}", ""),
        ("Swapped", lambda row: share(row["swapped"]), "pairs of systems in another order"),
        ("Difference", "{rmse:.4f}", "of a system's means on two sets, root mean square"),
        ("Predicted", "{rmse_predicted:.4f}", ""),
    ]
    caption = (
        "Systems on two disjoint sets of queries, beside what the first predicts; intervals are those of the trials."
    )
    return table_of("reliability-observed", caption, columns, findings.repeated)
