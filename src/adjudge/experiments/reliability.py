"""Reliability of G-theory: how far estimates of a collection's reliability from few queries can be trusted.

In a trial two disjoint sets of queries are drawn. A G-study of the first says how reliable a set of its size is, and
how reliable one of all queries would be; the second shows what happens when the evaluation is repeated. The
correlation of the systems' means on the two is what Eρ² is an estimate of: covariance and variances are averaged over
trials before they are divided, as Eρ² is a ratio of expected variances; correlations averaged trial by trial differ.

Queries are drawn without replacement, so that mean squares of a set are right on average for those of all queries.
Two things are to be kept in mind. The value with all queries is an estimate itself, and a set is part of them: from the
truth an estimate is further off than from that value, by a factor of about 1 / sqrt(1 - n/N) for n of N queries.
And systems stay the same, while F intervals are for systems drawn at random too: they cover more than they say.

The first is mended by simulation: queries are drawn from a model of the collection, as new as those of another year,
and its components are the truth. What is found then holds for collections such as the model's.

Urbano, J., Marrero, M., Martín, D. On the Measurement of Test Collection Reliability. SIGIR 2013.
doi:10.1145/2484028.2484038. Thesis, sections 6.1 and 6.2.

>>> import adjudge as aj
>>> from adjudge.experiments.chunks import run_chunk
>>> from adjudge.experiments.samples import samples_of
>>> samples = samples_of(aj.evaluate(aj.demo(), ["CG@5"]))
>>> spec = Reliability(trials=50, sizes=(20,)).prepared(samples)
>>> found = spec.findings(samples, run_chunk(spec, samples, 0, 50), samples.provenance)
>>> found.estimates[0].needed_known, round(found.estimates[0].all_known, 3)
(37.0, 0.969)

Variance components of many query sets at once: systems x queries, in closed form.

The numbers are those of :func:`~adjudge.stats.gtheory.gstudy.gstudy` and its F intervals; a trial has no need of
everything else that a G-study keeps.

What G-studies of many query sets say together: how estimates of reliability scatter, and what repeating shows.

Report of how far estimates of reliability from few queries can be trusted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats
from adjudge.checks import CONFIDENCE, TARGET, Constraints
from adjudge.errors import AdjudgeError, unknown
from adjudge.experiments.comparing import Drawing, draw_subsets
from adjudge.experiments.rates import rates
from adjudge.experiments.report import EXPERIMENT_SECTIONS, conclusion, table_of
from adjudge.experiments.samples import Sample, Samples
from adjudge.experiments.simulate.collection import models_of
from adjudge.experiments.spec import Draws, Findings, Rows, experiment
from adjudge.model.provenance import Provenance
from adjudge.reporting.document import FigureBlock, Paragraph, Section, TableBlock
from adjudge.reporting.figures import Curve, Curves, Panel, curves
from adjudge.results import Column, columns_of
from adjudge.stats.gtheory.dstudy import INDICES, Errors, coefficient, expected_tau, queries_for
from adjudge.stats.intervals import t_interval
from adjudge.stats.matrices import dense_ranks
from adjudge.tables import Heading
from adjudge.text import listed, percent, share

if TYPE_CHECKING:
    import polars as pl

    from adjudge.experiments.simulate.collection import CollectionModel


_DRAWN, _BLOCK, _SEED = 1 << 17, 1 << 13, 20130728  # queries of a model from which its covariances are taken
_ROUNDING = 1e-12  # of the total, as the G-study has it


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
        """Eρ², or Φ if ``absolute``, of a collection with so many queries (eq 6.4 and 6.5)."""
        return coefficient(self.variances[0], self.error(absolute=absolute).at(n_queries))

    def needed(self, target: float, *, absolute: bool) -> Floats:
        """Queries for the index to reach a target (eq 6.6 and 6.7); infinite where no number does."""
        return queries_for(target, self.variances[0], self.error(absolute=absolute))

    def interval(self, n_queries: int, *, absolute: bool, confidence: float) -> tuple[Floats, Floats]:
        """Ends of the F interval of the index for so many queries."""
        low, high = (self._end(p, absolute=absolute) for p in ((1 + confidence) / 2, (1 - confidence) / 2))
        return _of_ratio(low, n_queries), _of_ratio(high, n_queries)

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


def _of_ratio(ratio: Floats, n_queries: int) -> Floats:
    with np.errstate(invalid="ignore"):
        share: Floats = np.where(np.isinf(ratio), 1.0, n_queries * ratio / (1 + n_queries * ratio))
    return share


COLLECTION, SIMULATED = "collection", "simulated"
TRUTHS = (COLLECTION, SIMULATED)
"""What estimates can be held against."""
_STEP = 10
_MODEL = {"margin": "auto", "dependence": "empirical"}  # settings of the model, as they are where none are given


@experiment("reliability")
@dataclass(frozen=True, kw_only=True)
class Reliability(Drawing):
    """G-studies of sets of ``sizes`` queries, and what a second set of the same size then shows.

    A row is a sample: the mean squares of the first set (from which variances, Eρ² and Φ for any number of queries
    follow), and of the two sets together the ``covariance`` of the systems' means with their ``variance`` and
    ``variance_again``, Kendall's ``tau`` (b, for ties) and ``tau_ap`` (the first ranking against the second; ties in
    the order of the sample), the share of pairs of systems ``swapped``, and the root mean square difference of means,
    ``rmse``. Sizes are tens up to half of the queries where none are given. ``target`` is the reliability that a number
    of queries is asked for, ``confidence`` that of F intervals.

    ``truth`` is what estimates are held against. ``collection``: sets are drawn from the queries that there are, and
    the truth is what all of them say. ``simulated``: queries are drawn from a model fitted to the sample, with the
    ``margin`` and ``dependence`` of :func:`~adjudge.experiments.simulate.collection.fit_collection`, and the truth is
    that of the model; sizes may then exceed the sample's, and new queries have no strata.

    >>> Reliability(truth="simulation")
    Traceback (most recent call last):
    adjudge.errors.UnknownNameError: No truth is called 'simulation'. Did you mean 'simulated'?
    """

    title: ClassVar[str] = "Reliability of G-theory estimates"
    question: ClassVar[str] = "How far can the reliability estimated from few queries be trusted?"

    constraints: ClassVar[Constraints] = {**Drawing.constraints, "target": TARGET, "confidence": CONFIDENCE}

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
        """With the sizes settled; samples without so many queries, or to which no model can be fitted, are refused."""
        if self.truth == COLLECTION:
            self.check_sizes(samples, count=2)
        else:
            models_of(samples, self.margin, self.dependence)
        half = samples.fewest_queries // 2
        return replace(self, sizes=self.sizes or tuple(range(_STEP, half + 1, _STEP)) or (half,))

    def trial(self, samples: Samples, draws: Draws) -> Rows:
        """Two sets of every size, of every sample."""
        rows = [
            {"sample": code, "n_queries": size, **_observed(first, second)}
            for size in self.sizes
            for code, (first, second) in enumerate(self._drawn(samples, draws, size))
        ]
        columns: Rows = {name: np.array([row[name] for row in rows]) for name in rows[0]}
        return {**columns, "n_queries": columns["n_queries"].astype(np.int32)}

    def _drawn(self, samples: Samples, draws: Draws, size: int) -> Iterator[Floats]:
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


def _observed(first: Floats, second: Floats) -> dict[str, float]:
    squares = components(first)
    return {
        "ms_system": float(squares.system),
        "ms_query": float(squares.query),
        "ms_residual": float(squares.residual),
        **compared_means(first.mean(axis=0), second.mean(axis=0)),
    }


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


_MOST_SAMPLES = 4  # that sentences go through; tables have them all
_SPREAD = (0.05, 0.95)  # ends of what is called the spread of an estimate
_OBSERVED = ("covariance", "variance", "variance_again", "tau", "tau_ap", "swapped", "rmse")


@dataclass(frozen=True)
class Estimate:
    """An index, Eρ² or Φ, as G-studies of ``n_queries`` queries of a sample estimate it.

    ``mean``, ``sd``, ``low`` and ``high`` (5 % and 95 % of trials) are of the index for as many queries; those that
    start with ``all_`` of the index for ``n_all``, all queries. What is ``known`` is so with all queries, or in truth
    where queries are simulated. ``all_bias`` is what estimates are off it on average, ``all_off`` what 90 % of them are
    off at most. ``needed`` is the median number of queries for the target, and ``needed_off`` the share of trials more
    than twice or less than half of what is known. ``covered`` is the share of F intervals with ``all_known`` inside.
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
class Repeated:
    """What a second set of ``n_queries`` showed, beside what the first said of it.

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
        return self.experiment.truth == "simulated"

    @cached_property
    def _parts(self) -> list[tuple[Sample, Components, dict[str, Floats]]]:
        members = {sample.name: sample for sample in self.samples}
        frame = self.rows.sort("sample", "n_queries", "trial", maintain_order=True)
        found = []
        for (name, size), part in frame.partition_by("sample", "n_queries", as_dict=True, maintain_order=True).items():
            columns = {one: part[one].to_numpy() for one in part.columns if one.startswith("ms_") or one in _OBSERVED}
            system, query, residual = (columns[f"ms_{effect}"] for effect in ("system", "query", "residual"))
            found.append(
                (members[name], Components(system, query, residual, size, len(members[name].systems)), columns)
            )
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
    def repeated(self) -> tuple[Repeated, ...]:
        """What a second set showed, by sample and size."""
        return tuple(
            _repeated(sample, squares, columns, self.truths[sample.name]) for sample, squares, columns in self._parts
        )

    @property
    def columns(self) -> tuple[Column, ...]:
        """Those of the estimates, and of what a second set showed."""
        return (*columns_of(Estimate), *columns_of(Repeated)[2:])

    def _rows(self) -> list[dict[str, Any]]:
        by_key = {(one.sample, one.n_queries): asdict(one) for one in self.repeated}
        return [{**asdict(one), **by_key[one.sample, one.n_queries]} for one in self.estimates]

    def sentences(self) -> list[str]:
        caution = _OF_MODEL if self.simulated else _OF_COLLECTION
        names = self.samples.names
        said = [text for name in names[:_MOST_SAMPLES] for text in self._of(name)]
        left = len(names) - _MOST_SAMPLES
        more = [f"Tables have {left} more {'sample' if left == 1 else 'samples'}."] if left > 0 else []
        return [*said, *more, f"{caution} {_SYSTEMS}"]

    def _of(self, name: str) -> list[str]:
        wanted = min({one.n_queries for one in self.estimates}, key=lambda size: (abs(size - 20), size))
        chosen = [one for one in self.estimates if (one.sample, one.n_queries) == (name, wanted)]
        shown = next(one for one in self.repeated if (one.sample, one.n_queries) == (name, wanted))
        off = [f"{INDICES[one.index]} within ±{one.all_off:.3f}" for one in chosen]
        needed = chosen[0]
        short = "out of reach" if np.isinf(needed.needed_known) else f"{needed.needed_known:.0f}"
        said, by = ("of the truth", "in truth") if self.simulated else ("of what all of them say", "by all of them")
        covered = [f"{INDICES[one.index]} in {share(one.covered)}" for one in chosen]
        level = percent(self.experiment.confidence)
        return [
            f"{name}: from {wanted} queries, the reliability of {chosen[0].n_all} is estimated, in 90 % of trials, "
            f"{listed(off)} {said}.",
            f"Queries needed for {INDICES[needed.index]} = {self.experiment.target:g}: {short} {by}; "
            f"from {wanted} it is off by more than a factor 2 in {share(needed.needed_off)} of trials.",
            _prediction(shown, "in truth" if self.simulated else "by all queries"),
            f"{level} F intervals from {wanted} queries cover the value {by}: {listed(covered)} of trials.",
        ]


_OF_COLLECTION = "The value with all queries is an estimate too, and the sets are part of it: the truth is further off."
_OF_MODEL = (
    "Queries are simulated, and the truth is that of a model fitted to the collection: of collections such as this one."
)
_SYSTEMS = (
    "Systems stay the same in all trials, while F intervals are for systems drawn at random: they cover more than they "
    "say."
)


def _prediction(shown: Repeated, by: str) -> str:
    right = shown.correlation_low <= shown.correlation_known <= shown.correlation_high
    gap = shown.correlation_known - shown.correlation
    verdict = "as observed" if right else f"{abs(gap):.3f} too {'high' if gap > 0 else 'low'}"
    return (
        f"On two sets of {shown.n_queries} queries, means of systems correlate by {shown.correlation:.3f} "
        f"[{shown.correlation_low:.3f}, {shown.correlation_high:.3f}]; Eρ² {by} is "
        f"{shown.correlation_known:.3f}, {verdict}, and by one such set {shown.correlation_predicted:.3f} on average."
    )


def _estimate(sample: Sample, squares: Components, index: str, whole: Components, spec: Reliability) -> Estimate:
    absolute, n_all = index == "phi", len(sample.queries)
    here, everywhere = (squares.index(n, absolute=absolute) for n in (squares.n_queries, n_all))
    known = float(whole.index(n_all, absolute=absolute))
    ends = squares.interval(n_all, absolute=absolute, confidence=spec.confidence)
    inside = _share((ends[0] <= known) & (known <= ends[1]))
    needed, right = squares.needed(spec.target, absolute=absolute), float(whole.needed(spec.target, absolute=absolute))
    low, middle, high = np.quantile(needed, (_SPREAD[0], 0.5, _SPREAD[1]), method="inverted_cdf")
    off = _share((needed > 2 * right) | (needed < right / 2))
    all_ends = np.quantile(everywhere, _SPREAD)
    ends_here = np.quantile(here, _SPREAD)
    return Estimate(
        sample=sample.name,
        n_queries=squares.n_queries,
        index=index,
        mean=float(here.mean()),
        sd=_sd(here),
        low=float(ends_here[0]),
        high=float(ends_here[1]),
        known=float(whole.index(squares.n_queries, absolute=absolute)),
        n_all=n_all,
        all_mean=float(everywhere.mean()),
        all_sd=_sd(everywhere),
        all_low=float(all_ends[0]),
        all_high=float(all_ends[1]),
        all_known=known,
        all_bias=float(everywhere.mean()) - known,
        all_off=float(np.quantile(np.abs(everywhere - known), 0.9)),
        needed=float(middle),
        needed_low=float(low),
        needed_high=float(high),
        needed_known=right,
        needed_off=off[0],
        needed_off_low=off[1],
        needed_off_high=off[2],
        covered=inside[0],
        covered_low=inside[1],
        covered_high=inside[2],
    )


def _sd(values: Floats) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else float("nan")


def _share(hits: npt.NDArray[np.bool_]) -> tuple[float, float, float]:
    return rates(hits.astype(np.float64), np.ones(len(hits))).bounded


def _repeated(sample: Sample, squares: Components, columns: dict[str, Floats], whole: Components) -> Repeated:
    predicted = squares.index(squares.n_queries, absolute=False)
    correlation, half = _pooled(columns["covariance"], columns["variance"], columns["variance_again"])
    rmse = np.sqrt(2 * squares.error(absolute=True).at(squares.n_queries))
    return Repeated(
        sample=sample.name,
        n_queries=squares.n_queries,
        correlation=correlation,
        correlation_low=correlation - half,
        correlation_high=correlation + half,
        correlation_predicted=float(predicted.mean()),
        correlation_known=float(whole.index(squares.n_queries, absolute=False)),
        tau=_mean(columns["tau"]),
        tau_predicted=float(expected_tau(predicted).mean()),
        tau_ap=_mean(columns["tau_ap"]),
        swapped=_mean(columns["swapped"]),
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


def _mean(values: Sequence[float] | Floats) -> float:
    return float(t_interval(np.asarray(values, dtype=np.float64))[0])


_PREDICTED = (
    ("Eρ², predicted", "correlation_predicted"),
    ("Eρ², {known}", "correlation_known"),
    ("correlation, observed", "correlation"),
    ("τ, predicted", "tau_predicted"),
    ("τ, observed", "tau"),
)


@EXPERIMENT_SECTIONS.register("reliability")
def reliability_sections(findings: ReliabilityFindings) -> Sequence[Section]:
    """The conclusion, estimates with their spread, and what a second set of queries shows."""
    text = "Eρ² of one set of queries predicts how systems' means correlate with those on another; τ follows from it."
    return [
        Section("reliability", "Can estimates of reliability be trusted", tuple(conclusion(findings))),
        Section("estimates", "Rates by number of queries", (_estimates(findings), _spread(findings))),
        Section(
            "repeated", "What a second set shows", (Paragraph(text), _observed_table(findings), _against(findings))
        ),
    ]


def _known(findings: ReliabilityFindings) -> str:
    """What estimates are held against."""
    return "in truth" if findings.simulated else "with all queries"


def _spread(findings: ReliabilityFindings) -> FigureBlock:
    panels = []
    for name in findings.samples.names:
        lines, levels = [], []
        for index, label in INDICES.items():
            cells = [one for one in findings.estimates if (one.sample, one.index) == (name, index)]
            x, y, low, high = (
                np.array([getattr(one, value) for one in cells], dtype=np.float64)
                for value in ("n_queries", "all_mean", "all_low", "all_high")
            )
            lines.append(Curve(label, x, y, low, high))
            levels.append(cells[0].all_known)
        panels.append(Panel(name, tuple(lines), tuple(levels)))
    caption = (
        "Reliability of the whole collection as estimated from some of its queries: mean over trials, and where 90 % "
        f"of them lie. Dotted lines are the values {_known(findings)}."
    )
    alt = (
        "Curves of estimated Eρ² and Φ by number of queries, with bands that narrow towards the value "
        f"{_known(findings)}."
    )
    data = Curves("queries estimated from", "reliability of all queries", tuple(panels))
    return FigureBlock("reliability-spread", caption, alt, data, curves)


def _against(findings: ReliabilityFindings) -> FigureBlock:
    panels = []
    for name in findings.samples.names:
        cells = [one for one in findings.repeated if one.sample == name]
        x = np.array([one.n_queries for one in cells], dtype=np.float64)
        lines = [
            Curve(label.format(known=_known(findings)), x, np.array([getattr(one, value) for one in cells]))
            for label, value in _PREDICTED
        ]
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


def _estimates(findings: ReliabilityFindings) -> TableBlock:
    known = _known(findings)
    columns = (
        Heading("Sample", "left"),
        Heading("Queries"),
        Heading("Index", "left"),
        Heading("For as many", about="the index for as many queries, and where 90 % of trials lie"),
        Heading("For all", about="the index for all queries, and where 90 % of trials lie"),
        Heading("Bias", about=f"mean less the value {known}"),
        Heading("Queries needed", about="median for the target, and where 90 % of trials lie"),
        Heading("Off by 2", about=f"trials more than twice or less than half of the number {known}"),
        Heading("Covered", about=f"F intervals with the value {known} inside"),
    )
    rows = [
        (
            one.sample,
            f"{one.n_queries}",
            INDICES[one.index],
            f"{one.mean:.3f} [{one.low:.3f}, {one.high:.3f}]",
            f"{one.all_mean:.4f} [{one.all_low:.4f}, {one.all_high:.4f}]",
            f"{one.all_bias:+.4f}",
            f"{_number(one.needed)} [{_number(one.needed_low)}, {_number(one.needed_high)}]",
            share(one.needed_off),
            share(one.covered),
        )
        for one in findings.estimates
    ]
    target = findings.experiment.target
    caption = f"Reliability estimated from some of the queries, and queries needed for {target:g}."
    return table_of("reliability-estimates", caption, columns, rows, findings.to_dicts())


def _observed_table(findings: ReliabilityFindings) -> TableBlock:
    columns = (
        Heading("Sample", "left"),
        Heading("Queries"),
        Heading("Correlation"),
        Heading("Eρ²", about="what the first set predicts of the correlation, on average"),
        Heading("Eρ² known", about=f"Eρ² {_known(findings)}, which predicts the correlation"),
        Heading("τ"),
        Heading("τ predicted"),
        Heading("τ_AP"),
        Heading("Swapped", about="pairs of systems in another order"),
        Heading("Difference", about="of a system's means on two sets, root mean square"),
        Heading("Predicted"),
    )
    rows = [
        (
            one.sample,
            f"{one.n_queries}",
            f"{one.correlation:.3f} [{one.correlation_low:.3f}, {one.correlation_high:.3f}]",
            f"{one.correlation_predicted:.3f}",
            f"{one.correlation_known:.3f}",
            f"{one.tau:.3f}",
            f"{one.tau_predicted:.3f}",
            f"{one.tau_ap:.3f}",
            share(one.swapped),
            f"{one.rmse:.4f}",
            f"{one.rmse_predicted:.4f}",
        )
        for one in findings.repeated
    ]
    caption = (
        "Systems on two disjoint sets of queries, beside what the first predicts; intervals are those of the trials."
    )
    return table_of("reliability-observed", caption, columns, rows, [vars(one).copy() for one in findings.repeated])


def _number(n: float) -> str:
    return f"{n:,.0f}" if np.isfinite(n) else "∞"
