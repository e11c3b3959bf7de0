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
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError, unknown
from adjudge.experiments.components import Components, components, true_components
from adjudge.experiments.models import models_of
from adjudge.experiments.samples import Samples
from adjudge.experiments.specification import Draws, Rows, experiment
from adjudge.experiments.subsets import Drawing, draw_subsets
from adjudge.model.provenance import Provenance
from adjudge.stats.matrices import dense_ranks

if TYPE_CHECKING:
    import polars as pl

    from adjudge.experiments.reliability_findings import ReliabilityFindings

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
    ``margin`` and ``dependence`` of :func:`~adjudge.experiments.simulation.fit_collection`, and the truth is that of
    the model; sizes may then exceed the sample's, and new queries have no strata.

    >>> Reliability(truth="simulation")
    Traceback (most recent call last):
    adjudge.errors.AdjudgeError: No truth is called 'simulation'. Did you mean 'simulated'?
    """

    title: ClassVar[str] = "Reliability of G-theory estimates"
    question: ClassVar[str] = "How far can the reliability estimated from few queries be trusted?"

    target: float = 0.95
    confidence: float = 0.95
    truth: str = COLLECTION
    margin: str = _MODEL["margin"]
    dependence: str = _MODEL["dependence"]

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("target", "confidence"):
            if not 0 < getattr(self, name) < 1:
                raise AdjudgeError(f"reliability: {name!r} must be in (0, 1), got {getattr(self, name)}")

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
        from adjudge.experiments.reliability_findings import ReliabilityFindings

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
