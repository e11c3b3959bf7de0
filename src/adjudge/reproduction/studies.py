"""Studies: what of the papers is computed anew, one decorated function each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from adjudge.processes import Progress
from adjudge.registry import Registry
from adjudge.reproduction.claims import Claim
from adjudge.reproduction.data import Data
from adjudge.reproduction.plots import Plot


@dataclass(frozen=True)
class Effort:
    """How much to compute: ``quick`` takes fewer trials and says so; the seed and the processes of what is drawn."""

    quick: bool = False
    seed: int = 0
    workers: int | None = None
    progress: Progress | None = None

    def trials(self, full: int, quick: int) -> int:
        """Trials of an experiment that has ``full`` of them in the paper."""
        return quick if self.quick else full

    def part(self, place: int, parts: int) -> Progress | None:
        """Progress of one of some parts that take about as long as one another."""
        told = self.progress
        if told is None:
            return None
        return lambda done, total: told(place * total + done, parts * total)


@dataclass(frozen=True)
class Found:
    """What a study found: numbers beside the published ones, figures made anew, and what to know about them."""

    claims: tuple[Claim, ...]
    plots: tuple[Plot, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Study:
    """A study: what it makes anew of which papers, from which parts of the data.

    ``covers`` are tables and figures as ``T Table 6.1``; what of them the data do not allow is told in ``partly``.
    ``weight`` is how long it takes, in seconds of one core or so: the bar of progress moves by it.
    """

    name: str
    title: str
    covers: tuple[str, ...]
    needs: tuple[str, ...]
    run: Callable[[Data, Effort], Found] = field(repr=False)
    partly: dict[str, str] = field(default_factory=dict)
    weight: int = 1


STUDIES: Registry[Study] = Registry("study")


def study(
    name: str,
    *,
    title: str,
    covers: tuple[str, ...] = (),
    needs: tuple[str, ...] = (),
    partly: dict[str, str] | None = None,
    weight: int = 1,
) -> Callable[[Callable[[Data, Effort], Found]], Callable[[Data, Effort], Found]]:
    """Register a study. The function gets the data and how much to compute."""

    def register(function: Callable[[Data, Effort], Found]) -> Callable[[Data, Effort], Found]:
        STUDIES.add(name, Study(name, title, covers, needs, function, partly or {}, weight))
        return function

    return register
