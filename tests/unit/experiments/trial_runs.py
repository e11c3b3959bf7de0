"""Findings of a few trials, and an experiment of nothing but numbers, which fails as files tell it to."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from adjudge.arrays import Floats
from adjudge.experiments.run import run_chunk
from adjudge.experiments.samples import Samples, samples_of
from adjudge.experiments.spec import Draws, Experiment, Findings, Rows
from adjudge.model.effectiveness import Effectiveness
from adjudge.model.provenance import Provenance
from adjudge.results import Column

if TYPE_CHECKING:
    import polars as pl

NAME = "numbers-of-tests"


@dataclass(frozen=True, kw_only=True)
class Numbers(Experiment):
    """Each trial: a random number for each system, and a product of matrices. ``faults`` is a folder of orders."""

    name: ClassVar[str] = NAME
    title: ClassVar[str] = "Numbers"
    question: ClassVar[str] = "Which numbers?"
    faults: str = ""
    seconds: float = 0.0

    def trial(self, samples: Samples, draws: Draws) -> Rows:
        time.sleep(self.seconds)
        if self.faults:
            _obey(Path(self.faults), draws.trial)
        values = samples[0].values
        weights = draws.generator().random((1, len(values)))
        return {"system": np.arange(values.shape[1]), "mean": (weights @ values)[0]}

    def findings(self, samples: Samples, rows: pl.DataFrame, provenance: Provenance) -> Findings:
        return Found(self, samples, rows, provenance)


def _obey(faults: Path, trial: int) -> None:
    """Die at a trial once, or always; or raise."""
    once, always, wrong = (faults / f"{how}-{trial}" for how in ("once", "always", "wrong"))
    if once.exists():
        once.unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    if always.exists():
        os.kill(os.getpid(), signal.SIGKILL)
    if wrong.exists():
        raise ValueError(f"trial {trial} is wrong")


class Found(Findings):
    """The rows, and no more."""

    @property
    def columns(self) -> tuple[Column, ...]:
        system = Column("the system", name="system", kind="text")
        return Column("the trial", name="trial", kind="whole"), system, Column("its mean", name="mean")

    def _rows(self) -> list[dict[str, Any]]:
        return self.rows.to_dicts()

    def sentences(self) -> list[str]:
        return [f"{self.experiment.trials} trials."]


def some_samples() -> Samples:
    """Seven queries and three systems."""
    return samples(np.random.default_rng(3).random((7, 3)))


def samples(values: Floats | dict[str, Floats], *, scale: str = "") -> Samples:
    """Samples of one measure, AP, or of several by their names."""
    matrices = values if isinstance(values, dict) else {"AP": values}
    several = [Effectiveness.from_matrix(matrix, measure=name) for name, matrix in matrices.items()]
    return samples_of(several, scale=scale)


def find(spec: Experiment, values: Samples) -> Any:
    """What all trials of an experiment find."""
    spec = spec.prepared(values)
    return spec.findings(values, run_chunk(spec, values, 0, spec.trials), values.provenance)
