"""What G-studies of many query sets say together: how estimates of reliability scatter, and what repeating shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats
from adjudge.experiments.components import Components
from adjudge.experiments.rates import rates
from adjudge.experiments.samples import Sample
from adjudge.experiments.specification import Findings
from adjudge.experiments.words import listed, share
from adjudge.stats.intervals import percent, t_interval
from adjudge.stats.reliability import INDICES, expected_tau

if TYPE_CHECKING:
    from adjudge.experiments.reliability import Reliability

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
    ``correlation_predicted`` is the mean of Eρ² by the first set, and ``correlation_known`` that of all queries.
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

    def records(self) -> list[dict[str, Any]]:
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
