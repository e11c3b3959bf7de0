"""Reliability of G-theory: how far estimates of a collection's reliability from few queries can be trusted.

In a trial two disjoint sets of queries are drawn. A G-study of the first says how reliable a set of its size is, and
how reliable one of all queries would be; the second shows what happens when the evaluation is repeated. The
correlation of the systems' means on the two is what Eρ² is an estimate of: covariance and variances are averaged over
trials before they are divided, as Eρ² is a ratio of expected variances; correlations averaged trial by trial differ.

Queries are drawn without replacement, so that mean squares of a set are right on average for those of all queries.
Two things are to be kept in mind. The value with all queries is an estimate itself, and a set is part of them: from the
truth an estimate is further off than from that value, by a factor of about 1 / sqrt(1 - n/N) for n of N queries.
And systems stay the same, while F intervals are for systems drawn at random too: they cover more than they say.

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
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.experiments.components import Components, components
from adjudge.experiments.drawing import Drawing
from adjudge.experiments.means import means
from adjudge.experiments.rates import rates
from adjudge.experiments.samples import Sample, Samples
from adjudge.experiments.specification import Draws, Findings, Rows, experiment
from adjudge.experiments.subsets import draw_subsets
from adjudge.model.provenance import Provenance
from adjudge.stats.reliability import INDICES, expected_tau

if TYPE_CHECKING:
    import polars as pl

_STEP = 10
_SPREAD = (0.05, 0.95)  # ends of what is called the spread of an estimate
_OBSERVED = ("covariance", "variance", "variance_again", "tau", "tau_ap", "swapped", "rmse")


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
    """

    title: ClassVar[str] = "Reliability of G-theory estimates"
    question: ClassVar[str] = "How far can the reliability estimated from few queries be trusted?"

    target: float = 0.95
    confidence: float = 0.95

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("target", "confidence"):
            if not 0 < getattr(self, name) < 1:
                raise AdjudgeError(f"reliability: {name!r} must be in (0, 1), got {getattr(self, name)}")

    def prepared(self, samples: Samples) -> Reliability:
        """With the sizes settled."""
        half = samples.fewest_queries // 2
        for size in self.sizes:
            if size > half:
                raise AdjudgeError(
                    f"reliability: 2 disjoint sets of {size} queries need {2 * size}, got {samples.fewest_queries}"
                )
        return replace(self, sizes=self.sizes or tuple(range(_STEP, half + 1, _STEP)) or (half,))

    def trial(self, samples: Samples, draws: Draws) -> Rows:
        rows = [
            {"sample": code, "n_queries": size, **_observed(sample, draws.generator(size), size)}
            for size in self.sizes
            for code, sample in enumerate(samples)
        ]
        columns: Rows = {name: np.array([row[name] for row in rows]) for name in rows[0]}
        return {**columns, "n_queries": columns["n_queries"].astype(np.int32)}

    def findings(self, samples: Samples, rows: pl.DataFrame, provenance: Provenance) -> ReliabilityFindings:
        return ReliabilityFindings(self, samples, rows, provenance)


def _observed(sample: Sample, rng: np.random.Generator, size: int) -> dict[str, float]:
    first, second = sample.values[draw_subsets(rng, sample.stratum, size, count=2)]
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
    one, other = (np.sign(means_[above[0]] - means_[above[1]]) for means_ in (first, second))
    alike = one * other
    both = float(np.sqrt(np.abs(one).sum() * np.abs(other).sum()))
    order = np.argsort(-first, kind="stable")
    right = np.triu(second[order][:, None] > second[order][None, :], 1)  # those above a system that stay above it
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
    start with ``all_`` of the index for ``n_all``, all queries, whose value with all of them is ``all_known``.
    ``all_bias`` is what estimates are off on average, ``all_off`` what 90 % of them are off at most. ``needed`` is the
    median number of queries for the target, ``needed_known`` that with all queries, and ``needed_off`` the share of
    trials more than twice or less than half of it. ``covered`` is the share of F intervals with ``all_known`` inside.
    """

    sample: str
    n_queries: int
    index: str
    mean: float
    sd: float
    low: float
    high: float
    known: float
    n_all: int
    all_mean: float
    all_sd: float
    all_low: float
    all_high: float
    all_known: float
    all_bias: float
    all_off: float
    needed: float
    needed_low: float
    needed_high: float
    needed_known: float
    needed_off: float
    needed_off_low: float
    needed_off_high: float
    covered: float
    covered_low: float
    covered_high: float


@dataclass(frozen=True)
class Repeated:
    """What a second set of ``n_queries`` showed, beside what the first said of it.

    ``correlation`` is that of the systems' means on the two sets, pooled over trials, with its Monte-Carlo interval;
    ``correlation_predicted`` is the mean of Eρ² by the first set, and ``correlation_known`` Eρ² by all queries.
    ``tau_predicted`` is 2/π arcsin(Eρ²), for normal means; ``rmse_predicted`` is sqrt(2 (σ²_q + σ²_e) / n), which is
    what the means of a system on two sets differ by.
    """

    sample: str
    n_queries: int
    correlation: float
    correlation_low: float
    correlation_high: float
    correlation_predicted: float
    correlation_known: float
    tau: float
    tau_predicted: float
    tau_ap: float
    swapped: float
    rmse: float
    rmse_predicted: float


@dataclass(frozen=True, eq=False)
class ReliabilityFindings(Findings):
    """Estimates by size, and what repeating showed."""

    experiment: Reliability

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
            _estimate(sample, squares, index, self.experiment)
            for sample, squares, _ in self._parts
            for index in INDICES
        )

    @cached_property
    def repeated(self) -> tuple[Repeated, ...]:
        """What a second set showed, by sample and size."""
        return tuple(_repeated(sample, squares, columns) for sample, squares, columns in self._parts)

    def records(self) -> list[dict[str, Any]]:
        by_key = {(one.sample, one.n_queries): asdict(one) for one in self.repeated}
        return [{**asdict(one), **by_key[one.sample, one.n_queries]} for one in self.estimates]

    def sentences(self) -> list[str]:
        return [text for name in self.samples.names for text in self._of(name)] + [_CAUTION]

    def _of(self, name: str) -> list[str]:
        wanted = min({one.n_queries for one in self.estimates}, key=lambda size: (abs(size - 20), size))
        chosen = [one for one in self.estimates if (one.sample, one.n_queries) == (name, wanted)]
        shown = next(one for one in self.repeated if (one.sample, one.n_queries) == (name, wanted))
        off = [f"{INDICES[one.index]} within ±{one.all_off:.3f}" for one in chosen]
        needed = chosen[0]
        short = "out of reach" if np.isinf(needed.needed_known) else f"{needed.needed_known:.0f}"
        return [
            f"{name}: from {wanted} queries, the reliability of {chosen[0].n_all} is estimated, in 90 % of trials, "
            f"{' and '.join(off)} of what all of them say.",
            f"Queries needed for {INDICES[needed.index]} = {self.experiment.target:g}: {short} by all of them; "
            f"from {wanted} it is off by more than a factor 2 in {100 * needed.needed_off:.1f} % of trials.",
            _prediction(shown),
        ]

    def __str__(self) -> str:
        head = "queries  index    mean     5 %    95 %  for all   known       r"
        correlations = {(one.sample, one.n_queries): one.correlation for one in self.repeated}
        lines = [self.experiment.title]
        for sample, cells in groupby(self.estimates, key=lambda one: one.sample):
            lines += [sample, head]
            lines += [
                f"{c.n_queries:>7}  {INDICES[c.index]:<5}  {c.mean:>6.3f}  {c.low:>6.3f}  {c.high:>6.3f}  "
                f"{c.all_mean:>7.4f}  {c.all_known:>6.4f}  {correlations[c.sample, c.n_queries]:>6.3f}"
                for c in cells
            ]
        return "\n".join([*lines, *self.sentences()])


_CAUTION = (
    "The value with all queries is an estimate too, and the sets are part of it: the truth is further off. Systems "
    "stay the same in all trials, while F intervals are for systems drawn at random: they cover more than they say."
)


def _prediction(shown: Repeated) -> str:
    right = shown.correlation_low <= shown.correlation_known <= shown.correlation_high
    gap = shown.correlation_known - shown.correlation
    verdict = "as observed" if right else f"{abs(gap):.3f} too {'high' if gap > 0 else 'low'}"
    return (
        f"On two sets of {shown.n_queries} queries, means of systems correlate by {shown.correlation:.3f} "
        f"[{shown.correlation_low:.3f}, {shown.correlation_high:.3f}]; Eρ² by all queries is "
        f"{shown.correlation_known:.3f}, {verdict}, and by one such set {shown.correlation_predicted:.3f} on average."
    )


def _estimate(sample: Sample, squares: Components, index: str, spec: Reliability) -> Estimate:
    absolute, n_all = index == "phi", len(sample.queries)
    whole = components(sample.values)
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
    found = rates(hits.astype(np.float64), np.ones(len(hits)))
    return float(found.value), float(found.low), float(found.high)


def _repeated(sample: Sample, squares: Components, columns: dict[str, Floats]) -> Repeated:
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
        correlation_known=float(components(sample.values).index(squares.n_queries, absolute=False)),
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
    found = means(linear)
    return correlation, float(found.high - found.low) / 2


def _mean(values: Sequence[float] | Floats) -> float:
    return float(means(values).value)
