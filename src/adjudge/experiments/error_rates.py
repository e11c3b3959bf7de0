"""Type I, II and III errors of tests, on simulated collections whose truth is known.

A trial draws two collections of every size for every sample. In the *null* one all systems are truly equal, so that
whatever a test finds is a Type I error. In the *fitted* one they differ by the true differences of the model, so that
what a test does not find is a Type II error, and what it finds in the wrong direction a Type III error.

Urbano, J., Lima, H. and Hanjalic, A. Statistical significance testing in information retrieval: an empirical analysis
of Type I, Type II and Type III errors. SIGIR 2019. doi:10.1145/3331184.3331259
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from adjudge.arrays import Ints
from adjudge.checks import check_whole
from adjudge.errors import unknown
from adjudge.experiments import models
from adjudge.experiments.comparing import Comparing
from adjudge.experiments.procedures import FIVE_TESTS, PairsTested, Procedure, parse_procedures, run_procedures
from adjudge.experiments.samples import Samples
from adjudge.experiments.specification import Draws, Rows, experiment
from adjudge.model.provenance import Provenance

if TYPE_CHECKING:
    import polars as pl

    from adjudge.experiments.error_findings import ErrorFindings
    from adjudge.experiments.simulation import CollectionModel

TRUTHS = ("null", "fitted")
_FEWEST_SYSTEMS = 2
_WHICH, _WHOSE = 0, 1  # purposes of draws; sizes have theirs from 8
_NULL, _FITTED, _RESAMPLES = 0, 1, 2
_PURPOSES = 4


@experiment("errors")
@dataclass(frozen=True, kw_only=True)
class Errors(Comparing):
    """How often tests find what is not there, miss what is, or get its direction wrong.

    ``null`` says how systems are made equal. ``exchangeable``: all have the distribution of one of them, drawn anew
    each trial, and nothing else tells them apart, the hypothesis under which all tests here promise their level.
    ``margins``: all have that distribution, but depend on one another as in the data, so that one may be ahead of
    another on more than half of the queries. ``means``: each keeps the shape of its own and only the means agree. The
    last two are null hypotheses about means; that of the Wilcoxon test (differences symmetric around 0) and of the sign
    test (as often above 0 as below) is false there, and rejecting it is no malfunction of these tests, but an error of
    whoever reads them as tests of means.

    ``systems`` is how many a trial compares at most; where there are more, it draws them. ``margin`` and ``dependence``
    are those of :func:`~adjudge.experiments.simulation.fit_collection`. ``sizes`` may exceed the sample's, since
    queries are new.

    >>> print(*Errors(procedures=("t", "t+holm"), sizes=(50,)).procedures)
    t t+holm
    >>> Errors(null="median")
    Traceback (most recent call last):
    adjudge.errors.AdjudgeError: No null hypothesis is called 'median'. Did you mean 'means'?
    """

    title: ClassVar[str] = "Type I, II and III errors"
    question: ClassVar[str] = (
        "How often do tests find a difference that is not there, miss one that is, or get its direction wrong?"
    )

    sizes: tuple[int, ...] = (25, 50, 100)
    procedures: tuple[Procedure, ...] = parse_procedures(FIVE_TESTS)
    null: str = "exchangeable"
    systems: int = 20
    margin: str = "auto"
    dependence: str = "empirical"

    def __post_init__(self) -> None:
        from adjudge.experiments.simulation import NULLS, check_names

        super().__post_init__()
        if self.null not in NULLS:
            raise unknown("null hypothesis", self.null, NULLS)
        check_names(self.margin, self.dependence)
        check_whole("systems", self.systems, _FEWEST_SYSTEMS, where=f"{self.name}: ")

    def prepared(self, samples: Samples) -> Errors:
        """The same; samples to which no model can be fitted, or whose systems have no mean in common, are refused."""
        models.models_of(samples, self.margin, self.dependence)
        if self.null == "means":
            _of_equal_means(self, samples)
        return self

    def names(self, samples: Samples) -> Mapping[str, Sequence[str]]:
        """Samples, systems, and which of the two truths a row is about."""
        return {**super().names(samples), "truth": TRUTHS}

    def trial(self, samples: Samples, draws: Draws) -> Rows:
        """All pairs of the systems drawn, on a null and on a fitted collection of every size."""
        fitted = models.models_of(samples, self.margin, self.dependence)
        null = _equal(self, samples, draws)
        sources = [
            _Source(i, truth, model, _chosen(draws.generator(_WHICH), len(model.systems), self.systems))
            for truth, drawn_from in ((_NULL, null), (_FITTED, fitted))
            for i, model in enumerate(drawn_from)
        ]
        parts = [_of_size(self, samples, draws, size, sources) for size in self.sizes]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def findings(self, samples: Samples, rows: pl.DataFrame, provenance: Provenance) -> ErrorFindings:
        """Rates of errors over all trials."""
        from adjudge.experiments.error_findings import ErrorFindings

        return ErrorFindings(self, samples, rows, provenance)


def _of_equal_means(spec: Errors, samples: Samples) -> Sequence[CollectionModel]:
    fitted = models.models_of(samples, spec.margin, spec.dependence)
    key = (samples.digest, spec.margin, spec.dependence, "means")
    return models.kept(key, lambda: tuple(model.null("means") for model in fitted))


def _equal(spec: Errors, samples: Samples, draws: Draws) -> Sequence[CollectionModel]:
    """The models with all systems equal: in their means, or in their margins to a system drawn at random."""
    if spec.null == "means":
        return _of_equal_means(spec, samples)
    return [
        model.null(spec.null, system=model.systems[int(draws.generator(_WHOSE).integers(len(model.systems)))])
        for model in models.models_of(samples, spec.margin, spec.dependence)
    ]


def _chosen(rng: np.random.Generator, n_systems: int, most: int) -> Ints:
    """Places of the systems to compare, in their order: samples with as many systems get the same ones."""
    if n_systems <= most:
        return np.arange(n_systems)
    places: Ints = np.sort(rng.choice(n_systems, size=most, replace=False))
    return places


@dataclass(frozen=True)
class _Source:
    """A model to draw from, for one sample and truth, and the places of the systems to compare."""

    sample: int
    truth: int
    model: CollectionModel
    chosen: Ints


def _of_size(spec: Errors, samples: Samples, draws: Draws, size: int, sources: Sequence[_Source]) -> Rows:
    """All sources at one size; samples share random numbers, so that measures differ by less than luck."""
    matrices = [
        np.ascontiguousarray(one.model.draw(draws.generator(_PURPOSES * size + one.truth), size)[:, one.chosen])
        for one in sources
    ]
    seed = draws.number(_PURPOSES * size + _RESAMPLES)
    tested = run_procedures(matrices, spec.procedures, resamples=spec.resamples, seed=seed, gpu=spec.gpu)
    parts = [_rows(samples, size, source, one) for source, one in zip(sources, tested, strict=True)]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _rows(samples: Samples, size: int, source: _Source, tested: PairsTested) -> Rows:
    a, b = (source.chosen[places] for places in np.triu_indices(len(source.chosen), 1))
    place = {name: i for i, name in enumerate(samples.systems)}
    codes = np.array([place[name] for name in samples[source.sample].systems])
    means = source.model.means
    return {
        "sample": np.full(len(a), source.sample),
        "n_queries": np.full(len(a), size, dtype=np.int32),
        "truth": np.full(len(a), source.truth),
        "system": codes[a],
        "other": codes[b],
        "true_difference": np.zeros(len(a)) if source.truth == _NULL else means[a] - means[b],
        "difference": tested.difference,
        **tested.p,
    }
