"""Coverage: how many questions each combination of measure and scale has in each bin of |Δ|.

The range [0, 1] of the absolute difference in effectiveness between the two lists of a question is cut into bins of
equal width, [0, .1), [.1, .2), … [.9, 1] where there are ten. A curve over differences can be learnt where every bin
has enough questions (thesis section 3.2.1).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Ints
from adjudge.checks import check_whole
from adjudge.preferences.combinations import Combination, as_combinations
from adjudge.preferences.questions import Questions
from adjudge.users.binning import bin_of
from adjudge.words import counted

Status = Literal["filled", "short", "impossible"]
STATUSES: tuple[Status, ...] = ("filled", "short", "impossible")
FILLED, SHORT, IMPOSSIBLE = range(3)


@dataclass(frozen=True)
class Coverage:
    """Questions in each bin of each combination.

    ========== ===================== ================================================================
    counts     (combinations, bins)  questions whose abs(Δ) falls in the bin
    status     (combinations, bins)  ``FILLED``, ``SHORT`` or ``IMPOSSIBLE`` (places in ``STATUSES``)
    unknown    (combinations,)       questions without a difference: a document is not judged
    ========== ===================== ================================================================

    *Impossible* means proven: no two lists that these judgments allow have such a difference. *Short* means that there
    are fewer than ``per_bin`` and nobody proved that there cannot be more. ``most_of_a_query`` is the number of
    questions of the query that has most.
    """

    combinations: tuple[Combination, ...]
    per_bin: int
    counts: Ints
    status: npt.NDArray[np.int64]
    unknown: Ints
    n_questions: int
    n_queries: int
    n_documents: int
    most_of_a_query: int

    @property
    def bins(self) -> int:
        """Number of bins."""
        return int(self.counts.shape[1])

    @cached_property
    def totals(self) -> dict[Status, int]:
        """How many cells have each status."""
        return {name: int((self.status == place).sum()) for place, name in enumerate(STATUSES)}

    @property
    def is_complete(self) -> bool:
        """Whether every cell that can be filled is."""
        return self.totals["short"] == 0

    def interval(self, place: int) -> str:
        """A bin as an interval: ``[.1, .2)``, the last one closed."""
        low, high = (f"{edge / self.bins:.3g}".replace("0.", ".", 1) for edge in (place, place + 1))
        return f"[{low}, {high}{']' if place == self.bins - 1 else ')'}"

    @property
    def summary(self) -> str:
        """One sentence or two."""
        cells, totals = self.counts.size, self.totals
        never = totals["impossible"]
        aside = f"; {never} {'is' if never == 1 else 'are'} impossible" if never else ""
        short = f" and {totals['short']} have fewer" if totals["short"] else ""
        return (
            f"{counted(self.n_questions, 'question')} of {counted(self.n_queries, 'query')} with "
            f"{counted(self.n_documents, 'document')}: {totals['filled']} of {counted(cells, 'bin')} "
            f"({counted(len(self.combinations), 'combination')}, {self.bins} each) have at least "
            f"{self.per_bin}{short}{aside}."
        )

    def to_dicts(self, *, statuses: Iterable[Status] = STATUSES) -> list[dict[str, Any]]:
        """One record a cell: measure, scale, low and high end of the bin, questions, status."""
        wanted = set(statuses)
        return [
            {
                "measure": one.measure,
                "scale": one.scale,
                "low": round(b / self.bins, 9),
                "high": round((b + 1) / self.bins, 9),
                "questions": int(self.counts[c, b]),
                "wanted": self.per_bin,
                "status": status,
            }
            for c, one in enumerate(self.combinations)
            for b in range(self.bins)
            if (status := STATUSES[self.status[c, b]]) in wanted
        ]

    def __str__(self) -> str:
        """The sentence, and a line for each combination that is not filled: counts by bin, – where impossible."""
        lacking = np.flatnonzero((self.status != FILLED).any(axis=1)).tolist()
        if not lacking:
            return self.summary
        cells = [[str(self.combinations[c]), *(self._cell(c, b) for b in range(self.bins))] for c in lacking]
        head = ["questions by |Δ| from", *(f"{b / self.bins:.3g}" for b in range(self.bins))]
        widths = [max(len(row[i]) for row in [head, *cells]) for i in range(self.bins + 1)]
        lines = [
            "  ".join(
                cell.rjust(w) if i else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
            )
            for row in [head, *cells]
        ]
        return "\n".join([self.summary, *(line.rstrip() for line in lines)])

    def _cell(self, c: int, b: int) -> str:
        """A count, – for what is impossible."""
        return "–" if self.status[c, b] == IMPOSSIBLE else str(self.counts[c, b])


def coverage_of(
    questions: Questions, combinations: Iterable[Combination | str], *, bins: int = 10, per_bin: int = 200
) -> Coverage:
    """Coverage of any questions, also of real lists or those of a file. Traps are not counted.

    Bins that the measure cannot reach are called short here, as are those that judgments cannot reach: two lists do
    not tell what other lists there could be (:func:`~adjudge.preferences.generation.make_questions` does tell).

    >>> from adjudge.preferences.questions import Question
    >>> asked = Questions((Question("1", "q", ("d1", "d2"), ("d3", "d4")),),
    ...                   {"broad": np.array([[[2.0, 1.0], [0.0, 1.0]]])})
    >>> print(coverage_of(asked, ["CG@2 on broad"], bins=2, per_bin=1))
    1 question of 1 query with 4 documents: 1 of 2 bins (1 combination, 2 each) have at least 1 and 1 have fewer.
    questions by |Δ| from  0  0.5
    CG@2 on broad          0    1
    """
    known = as_combinations(combinations)
    bins, per_bin = check_whole("bins", bins, 1, 100), check_whole("per_bin", per_bin, 1)
    asked = questions.select([place for place, one in enumerate(questions.questions) if not one.is_trap])
    counts, unknown = np.zeros((len(known), bins), dtype=np.int64), np.zeros(len(known), dtype=np.int64)
    for place, one in enumerate(known):
        values = asked.effectiveness(one.measure, one.scale)
        found = bin_of(np.abs(values[:, 0] - values[:, 1]), bins)
        unknown[place] = int((found < 0).sum())
        counts[place] = np.bincount(found[found >= 0], minlength=bins)
    return covered(asked, known, counts, np.zeros(counts.shape, dtype=np.bool_), per_bin=per_bin, unknown=unknown)


def covered(
    questions: Questions,
    combinations: tuple[Combination, ...],
    counts: Ints,
    impossible: npt.NDArray[np.bool_],
    *,
    per_bin: int,
    unknown: Ints | None = None,
) -> Coverage:
    """Coverage from counts that are known already."""
    status = np.where(counts >= per_bin, FILLED, np.where(impossible, IMPOSSIBLE, SHORT)).astype(np.int64)
    documents = {document for one in questions.questions for side in one.lists for document in side}
    return Coverage(
        combinations,
        per_bin,
        counts,
        status,
        np.zeros(len(combinations), dtype=np.int64) if unknown is None else unknown,
        len(questions),
        len(set(questions.queries)),
        len(documents),
        max(Counter(questions.queries).values(), default=0),
    )
