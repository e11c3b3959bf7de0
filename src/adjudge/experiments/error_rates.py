"""Type I, II and III errors of tests, on simulated collections whose truth is known.

A trial draws two collections of every size for every sample. In the *null* one all systems are truly equal, so that
whatever a test finds is a Type I error. In the *fitted* one they differ by the true differences of the model, so that
what a test does not find is a Type II error, and what it finds in the wrong direction a Type III error.

Urbano, J., Lima, H. and Hanjalic, A. Statistical significance testing in information retrieval: an empirical analysis
of Type I, Type II and Type III errors. SIGIR 2019. doi:10.1145/3331184.3331259
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from adjudge.arrays import Ints
from adjudge.checks import check_whole
from adjudge.errors import unknown
from adjudge.experiments.comparing import Comparing
from adjudge.experiments.procedures import FIVE_TESTS, PairsTested, Procedure, parse_procedures, run_procedures
from adjudge.experiments.samples import Samples
from adjudge.experiments.specification import Draws, Rows, experiment
from adjudge.model.provenance import Provenance

if TYPE_CHECKING:
    import polars as pl

    from adjudge.experiments.error_findings import ErrorFindings
    from adjudge.experiments.simulation import CollectionModel

NULLS = ("margins", "means")
TRUTHS = ("null", "fitted")
_FEWEST_SYSTEMS = 2
_MOST_KEPT = 4  # fits of as many experiments stay in memory
_WHICH, _WHOSE = 0, 1  # purposes of draws; sizes have theirs from 8
_NULL, _FITTED, _RESAMPLES = 0, 1, 2
_PURPOSES = 4


@experiment("errors")
@dataclass(frozen=True, kw_only=True)
class Errors(Comparing):
    """How often tests find what is not there, miss what is, or get its direction wrong.

    ``null`` says how systems are made equal: by ``margins``, all have the distribution of one of them, drawn anew each
    trial; by ``means``, each keeps the shape of its own and only the means agree, so that tests about ranks or signs
    are asked about something else than what they look at. ``systems`` is how many a trial compares at most; where
    there are more, it draws them. ``margin`` and ``dependence`` are those of
    :func:`~adjudge.experiments.simulation.fit_collection`; the empirical one keeps whatever asymmetry pairs had in the
    data, to which tests about ranks or signs respond under either null. ``sizes`` may exceed the sample's,
    since queries are new.

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
    null: str = "margins"
    systems: int = 20
    margin: str = "auto"
    dependence: str = "empirical"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.null not in NULLS:
            raise unknown("null hypothesis", self.null, NULLS)
        check_whole("systems", self.systems, _FEWEST_SYSTEMS, where=f"{self.name}: ")

    def prepared(self, samples: Samples) -> Errors:
        """The same; samples to which no model can be fitted are refused here."""
        models_of(samples, self.margin, self.dependence)
        return self

    def names(self, samples: Samples) -> Mapping[str, Sequence[str]]:
        """Samples, systems, and which of the two truths a row is about."""
        return {**super().names(samples), "truth": TRUTHS}

    def trial(self, samples: Samples, draws: Draws) -> Rows:
        """All pairs of the systems drawn, on a null and on a fitted collection of every size."""
        fitted = models_of(samples, self.margin, self.dependence)
        null = _equal(self, samples, draws)
        sources = [
            _Source(i, truth, model, _chosen(draws.generator(_WHICH), len(model.systems), self.systems))
            for truth, models in ((_NULL, null), (_FITTED, fitted))
            for i, model in enumerate(models)
        ]
        parts = [_of_size(self, samples, draws, size, sources) for size in self.sizes]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def findings(self, samples: Samples, rows: pl.DataFrame, provenance: Provenance) -> ErrorFindings:
        """Rates of errors over all trials."""
        from adjudge.experiments.error_findings import ErrorFindings

        return ErrorFindings(self, samples, rows, provenance)


_FITS: dict[tuple[str, ...], tuple[CollectionModel, ...]] = {}


def models_of(samples: Samples, margin: str, dependence: str) -> tuple[CollectionModel, ...]:
    """The model of every sample, fitted once in a process: fitting draws nothing, so that all trials share it."""
    from adjudge.experiments.simulation import fit_collection

    def fit() -> tuple[CollectionModel, ...]:
        how = {"margin": margin, "dependence": dependence}
        return tuple(fit_collection(one.values, systems=one.systems, **how) for one in samples)

    return _kept((samples.digest, margin, dependence), fit)


def _kept(key: tuple[str, ...], make: Callable[[], tuple[CollectionModel, ...]]) -> tuple[CollectionModel, ...]:
    if key not in _FITS:
        made = make()
        while len(_FITS) >= _MOST_KEPT:
            _FITS.pop(next(iter(_FITS)))
        _FITS[key] = made
    return _FITS[key]


def _equal(spec: Errors, samples: Samples, draws: Draws) -> Sequence[CollectionModel]:
    """The models with all systems equal: in their means, or in all to a system drawn at random."""
    fitted = models_of(samples, spec.margin, spec.dependence)
    if spec.null == "means":
        key = (samples.digest, spec.margin, spec.dependence, "means")
        return _kept(key, lambda: tuple(model.null("means") for model in fitted))
    return [
        model.null("margins", system=model.systems[int(draws.generator(_WHOSE).integers(len(model.systems)))])
        for model in fitted
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
