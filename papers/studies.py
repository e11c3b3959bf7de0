"""Studies: what of the papers is computed again, one decorated function each.

The five papers, with every table and figure they have: each is reproduced, or it is said why not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from adjudge.parallel import Progress
from adjudge.registry import Registry
from papers.claims import Claim, Plot
from papers.data import Data


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
    """What a study found: numbers beside the published ones, figures reproduced, and what to know about them."""

    claims: tuple[Claim, ...]
    plots: tuple[Plot, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Study:
    """A study: what it reproduces of which papers, from which parts of the data.

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


_IN_ORDER = (  # as a reader of the thesis meets them; others come after these
    *("worked_examples", "reliability", "significance", "power", "partial_lists", "listeners", "satisfaction"),
    *("distributions", "unjudged", "judging", "absolute", "minimal", "*"),
)
STUDIES: Registry[Study] = Registry("study", *(f"papers.{module}" for module in _IN_ORDER))


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


@dataclass(frozen=True)
class Paper:
    """A paper, what it is called here, and its tables and figures."""

    key: str
    citation: str
    items: tuple[str, ...]


def _numbered(kind: str, *numbers: str) -> tuple[str, ...]:
    return tuple(f"{kind} {number}" for number in numbers)


def _chapter(kind: str, chapter: str, count: int) -> tuple[str, ...]:
    return _numbered(kind, *(f"{chapter}.{number}" for number in range(1, count + 1)))


_THESIS_TABLES = {"1": 1, "3": 5, "4": 5, "5": 5, "6": 4, "7": 1, "8": 6, "A": 1}
_THESIS_FIGURES = {"1": 3, "2": 2, "3": 6, "4": 7, "5": 3, "6": 5, "7": 1, "8": 5}

PAPERS = {
    paper.key: paper
    for paper in (
        Paper(
            "T",
            "J. Urbano, Evaluation in Audio Music Similarity, PhD thesis, University Carlos III of Madrid, 2013",
            tuple(
                item
                for kind, counts in (("Table", _THESIS_TABLES), ("Figure", _THESIS_FIGURES))
                for chapter, count in counts.items()
                for item in _chapter(kind, chapter, count)
            ),
        ),
        Paper(
            "U12",
            "J. Urbano et al., How Significant is Statistically Significant? The Case of Audio Music Similarity and "
            "Retrieval, ISMIR 2012",
            _numbered("Figure", "1", "2", "3", "4", "5"),
        ),
        Paper(
            "P11",
            "J. Urbano et al., Audio Music Similarity and Retrieval: Evaluation Power and Stability, ISMIR 2011",
            (*_numbered("Figure", "1", "2", "3", "4"), "Table 1"),
        ),
        Paper(
            "L10",
            "J. Urbano et al., Improving the Generation of Ground Truths Based on Partially Ordered Lists, ISMIR 2010",
            (*_numbered("Figure", "1", "2", "3", "4"), *_numbered("Table", "1", "2", "3", "4")),
        ),
        Paper(
            "M12",
            "J. Urbano and M. Schedl, Towards Minimal Test Collections for Evaluation of Audio Music Similarity and "
            "Retrieval, AdMIRe 2012",
            ("Table 1", *_numbered("Figure", "1", "2", "3", "4")),
        ),
    )
}
