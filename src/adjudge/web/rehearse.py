"""What rehearsals of all kinds of campaign share: how simulated people are, the plan, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from adjudge.errors import AdjudgeError
from adjudge.model.provenance import Provenance
from adjudge.reporting.document import Section

SPREAD = 0.5
"""Standard deviation of the logarithm of the seconds that an answer takes."""
NAME = "rehearsal"
"""What a copy of a campaign and its organiser are called."""
ShowProgress = Callable[[str], AbstractContextManager[Callable[[int, int], None]]]
"""Shows how far something is, under a label."""


@dataclass(frozen=True)
class Behaviour:
    """How assessors are.

    ``noise`` is the standard deviation of an answer and ``severity`` that between assessors, both in parts of the
    scale; ``laziness`` the share of answers that are not thought about; ``drop_out`` the chance of leaving after an
    answer, ``comes_back`` that of returning after leaving; ``pace`` how many seconds an answer takes, in the median.
    """

    noise: float = 0.1
    severity: float = 0.05
    laziness: float = 0.0
    drop_out: float = 0.0
    comes_back: float = 0.5
    pace: float = 30.0

    def __post_init__(self) -> None:
        for name in ("noise", "severity"):
            if not 0 <= getattr(self, name) <= 1:
                raise AdjudgeError(f"{name!r} must be from 0 to 1, a part of the scale, got {getattr(self, name)}")
        for name in ("laziness", "drop_out", "comes_back"):
            if not 0 <= getattr(self, name) <= 1:
                raise AdjudgeError(f"{name!r} must be a share from 0 to 1, got {getattr(self, name)}")
        if not 0 < self.pace < 1e6:
            raise AdjudgeError(f"'pace' must be a positive number of seconds, got {self.pace}")


@dataclass(frozen=True)
class Plan:
    """How to rehearse: how many assessors, their behaviour, repetitions, seed, and answers per assessor at most."""

    assessors: int = 5
    behaviour: Behaviour = field(default_factory=Behaviour)
    repeats: int = 5
    seed: int = 0
    most_answers: int | None = None

    def __post_init__(self) -> None:
        for name, least, most in (("assessors", 1, 500), ("repeats", 1, 1000)):
            if not least <= getattr(self, name) <= most:
                raise AdjudgeError(f"{name!r} must be from {least} to {most}, got {getattr(self, name)}")
        if self.seed < 0:
            raise AdjudgeError(f"'seed' must be a whole number of at least 0, got {self.seed}")


@dataclass(frozen=True)
class Rehearsal:
    """What came of a rehearsal: a section of a report, a record per repetition, and where they come from.

    ``about`` says what was rehearsed, for a title.
    """

    about: str
    section: Section
    records: list[dict[str, Any]]
    provenance: Provenance
    values: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
