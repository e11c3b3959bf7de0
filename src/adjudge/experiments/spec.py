"""An experiment before it is run: a frozen specification, its trials, and what is made of them.

A trial is a pure function of the specification, the samples and its number: trial *i* draws from
``SeedSequence(seed, spawn_key=(i,))`` and from nothing else, so that numbers never depend on how many workers there
are, how trials are cut into chunks, or how often the work was interrupted. Experiments are registered by name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from adjudge.checks import SEED_NUMBER, TRIALS, Constraints, check_all
from adjudge.errors import AdjudgeError, unknown
from adjudge.experiments.procedures import Procedure
from adjudge.experiments.samples import Samples
from adjudge.model.provenance import Provenance
from adjudge.parallel import job_rng
from adjudge.registry import Registry
from adjudge.results import Result
from adjudge.text import counted

if TYPE_CHECKING:
    import polars as pl


Rows = dict[str, npt.NDArray[Any]]  # columns of equal length; names are coded as places in what `names` returns


@dataclass(frozen=True)
class Draws:
    """The randomness of one trial: as many independent generators as it needs, each by its number."""

    seed: int
    trial: int

    def generator(self, purpose: int = 0) -> np.random.Generator:
        """A generator of its own for each purpose within the trial."""
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
    """What it answers, in a sentence for people."""

    constraints: ClassVar[Constraints] = {"trials": TRIALS, "seed": SEED_NUMBER}

    trials: int = 500
    seed: int = 0

    def __post_init__(self) -> None:
        check_all(self, where=f"{self.name}: ")

    def prepared(self, samples: Samples) -> Experiment:
        """The same experiment with what was left open settled by the samples, such as the sizes to look at.

        Samples that it cannot work with are refused here, before any work is done.
        """
        return self

    @abstractmethod
    def trial(self, samples: Samples, draws: Draws) -> Rows:
        """The rows of one trial."""

    def names(self, samples: Samples) -> Mapping[str, Sequence[str]]:
        """Which columns hold places of names, and those names."""
        return {"sample": samples.names, "system": samples.systems, "other": samples.systems}

    @abstractmethod
    def findings(self, samples: Samples, rows: pl.DataFrame, provenance: Provenance) -> Findings:
        """What all trials together say."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, from which :func:`experiment_from` makes the same experiment."""
        values = {one.name: _plain(getattr(self, one.name)) for one in fields(self)}
        return {"experiment": self.name, **values}


def _plain(value: Any) -> Any:
    if isinstance(value, Procedure):
        return str(value)
    return [_plain(one) for one in value] if isinstance(value, tuple | list) else value


E = TypeVar("E", bound=Experiment)
EXPERIMENTS: Registry[type[Experiment]] = Registry("experiment", "adjudge.experiments.*")


def experiment(name: str) -> Callable[[type[E]], type[E]]:
    """Register an experiment; the class comes back unchanged."""

    def decorate(kind: type[E]) -> type[E]:
        kind.name = name
        EXPERIMENTS.add(name, kind)
        return kind

    return decorate


def make_experiment(name: str, **settings: Any) -> Experiment:
    """An experiment by its name; settings that it does not have are refused, with those that it has.

    >>> make_experiment("power", trial=10)
    Traceback (most recent call last):
    adjudge.errors.UnknownNameError: No setting of power is called 'trial'. Did you mean 'trials'?
    """
    kind = EXPERIMENTS[name]
    known = [one.name for one in fields(kind)]
    for setting in settings:
        if setting not in known:
            raise unknown(f"setting of {name}", setting, known)
    return kind(**settings)


def experiment_from(values: Mapping[str, Any]) -> Experiment:
    """The experiment that :meth:`Experiment.to_dict` described."""
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    try:
        name = given.pop("experiment")
    except KeyError:
        raise AdjudgeError("expected the description of an experiment, got none") from None
    return make_experiment(str(name), **given)


@dataclass(frozen=True, eq=False, repr=False)
class Findings(Result):
    """What an experiment found; ``rows`` are all its trials, as they are kept in ``trials.parquet``."""

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
        """What it means, in plain language; the first is the conclusion."""

    @property
    def title(self) -> str:
        """What the experiment is about."""
        return self.experiment.title

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
