"""An experiment before it is run: a frozen specification, its trials, and its findings.

A trial is a pure function of the specification, the samples and its number: trial *i* draws from
``SeedSequence(seed, spawn_key=(i,))`` and from nothing else, so that numbers never depend on the number of workers, the
chunks or interruptions. Experiments are registered by name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from adjudge.checks import SEED, TRIALS, Constraints, check_all
from adjudge.errors import AdjudgeError
from adjudge.experiments.samples import Samples
from adjudge.model.provenance import Provenance
from adjudge.parallel import job_rng
from adjudge.registry import Registry, unknown
from adjudge.reporting.document import Section
from adjudge.results import Result
from adjudge.seeds import Seed, as_seed
from adjudge.text import counted, listed

if TYPE_CHECKING:
    import polars as pl


Rows = dict[str, npt.NDArray[Any]]  # columns of equal length; names are coded as places in what `names` returns


@dataclass(frozen=True)
class Draws:
    """The randomness of a trial: as many independent generators as it needs, numbered by purpose."""

    seed: int
    trial: int

    def generator(self, purpose: int = 0) -> np.random.Generator:
        """The generator for one purpose within the trial."""
        return job_rng(self.seed, self.trial, purpose)

    def number(self, purpose: int = 0) -> int:
        """A seed for functions that want one."""
        state = np.random.SeedSequence(self.seed, spawn_key=(self.trial, purpose)).generate_state(1, np.uint64)
        return int(state[0])


@dataclass(frozen=True, kw_only=True)
class Experiment(ABC):
    """A frozen specification: everything that the numbers depend on, besides the samples."""

    name: ClassVar[str]
    title: ClassVar[str]
    question: ClassVar[str]
    """What it answers, in one sentence."""

    constraints: ClassVar[Constraints] = {"trials": TRIALS, "seed": SEED}

    trials: int = 500
    seed: Seed = 0
    """A generator or None gives one number here, which the specification keeps: trials are drawn from it alone."""

    def __post_init__(self) -> None:
        check_all(self, where=f"{self.name}: ")
        object.__setattr__(self, "seed", as_seed(self.seed))

    def prepared(self, samples: Samples) -> Experiment:
        """The same experiment with open settings, such as the sizes, settled by the samples.

        Samples that it cannot work with are refused here, before any trial.
        """
        return self

    @abstractmethod
    def trial(self, samples: Samples, draws: Draws) -> Rows:
        """The rows of one trial."""

    def names(self, samples: Samples) -> Mapping[str, Sequence[str]]:
        """Columns that hold positions in a list of names, and those names."""
        return {"sample": samples.names, "system": samples.systems, "other": samples.systems}

    @abstractmethod
    def findings(self, samples: Samples, rows: pl.DataFrame, provenance: Provenance) -> Findings:
        """What all trials together show."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, from which :func:`experiment_from` makes the same experiment."""
        return {"experiment": self.name, **{field.name: _plain(getattr(self, field.name)) for field in fields(self)}}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, str | int | float) else str(value)


E = TypeVar("E", bound=Experiment)
EXPERIMENTS: Registry[type[Experiment]] = Registry("experiment", "adjudge.experiments.*")
SectionsFunction = Callable[[Any], Sequence[Section]]
EXPERIMENT_SECTIONS: Registry[SectionsFunction] = Registry("report of an experiment", "adjudge.experiments.*")
_MOST_NAMED = 12  # samples in an introduction


def experiment(name: str) -> Callable[[type[E]], type[E]]:
    """Register an experiment; the class is returned unchanged."""

    def decorate(kind: type[E]) -> type[E]:
        kind.name = name
        EXPERIMENTS.add(name, kind)
        return kind

    return decorate


def experiment_from(values: Mapping[str, Any]) -> Experiment:
    """The experiment that :meth:`Experiment.to_dict` described: its name under ``experiment``, and its settings.

    >>> experiment_from({"experiment": "power", "trial": 10})
    Traceback (most recent call last):
    adjudge.errors.UnknownNameError: No setting of power is called 'trial'. Did you mean 'trials'?
    """
    settings: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
    }
    if "experiment" not in settings:
        raise AdjudgeError("expected the description of an experiment, got none")
    name = str(settings.pop("experiment"))
    kind = EXPERIMENTS[name]
    known = [field.name for field in fields(kind)]
    for setting in settings:
        if setting not in known:
            raise unknown(f"setting of {name}", setting, known)
    return kind(**settings)


@dataclass(frozen=True, eq=False, repr=False)
class Findings(Result):
    """What an experiment found; ``rows`` are all its trials, as in ``trials.parquet``."""

    experiment: Experiment
    samples: Samples
    rows: pl.DataFrame
    provenance: Provenance

    rows_name = "table"

    @abstractmethod
    def _rows(self) -> Sequence[Any]:
        """The main table."""

    @abstractmethod
    def sentences(self) -> list[str]:
        """What it means in plain language, the conclusion first."""

    @property
    def title(self) -> str:
        """What the experiment is about."""
        return self.experiment.title

    def introduction(self) -> tuple[str, ...]:
        """What was asked, and of what: the question, the trials and the samples; then the notes on these."""
        spec, names = self.experiment, listed(self.samples.names, most=_MOST_NAMED)
        setup = f"{spec.question} {counted(spec.trials, 'trial')}, seed {spec.seed}: {names}."
        return setup, *self.samples.notes

    def sections(self) -> tuple[Section, ...]:
        """The sections of its report: the conclusion first, then what it rests on."""
        return tuple(EXPERIMENT_SECTIONS[self.experiment.name](self))

    def _facts(self) -> dict[str, Any]:
        return {
            "experiment": self.experiment.to_dict(),
            "conclusion": self.sentences(),
            "provenance": self.provenance.to_dict(),
        }

    def _notes(self) -> list[str]:
        return self.sentences()

    def __repr__(self) -> str:
        trials, samples = counted(self.experiment.trials, "trial"), counted(len(self.samples), "sample")
        return f"<{type(self).__name__}: {trials} of {samples}>"
