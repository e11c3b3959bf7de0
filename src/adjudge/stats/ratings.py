"""Ratings: the grades of several assessors side by side, one row a unit, which is a document for a query.

:class:`~adjudge.model.judgments.Judgments` keep one row a judgment and combine assessors; agreement between assessors
asks the opposite question, and wants what each of them said of the same thing in one row, NaN where one said nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.errors import AdjudgeError, shown
from adjudge.model.judgments import Judgments


@dataclass(frozen=True, eq=False)
class Ratings:
    """Grades, units x assessors: ``values[u, a]`` is what ``assessors[a]`` gave ``units[u]``, (query, document).

    NaN says that the assessor did not rate the unit.

    >>> some = Ratings(np.array([[1.0, 2.0], [0.0, np.nan]]), ("ann", "bob"), (("q1", "d1"), ("q1", "d2")))
    >>> print(some)
    3 ratings of 2 units by 2 assessors, 1 unit with two or more
    """

    values: Floats
    assessors: tuple[str, ...]
    units: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        wanted = (len(self.units), len(self.assessors))
        if self.values.shape != wanted:
            raise AdjudgeError(
                f"Ratings: expected values of shape {wanted}, units x assessors, got {self.values.shape}"
            )
        if np.isinf(self.values).any():
            raise AdjudgeError("Ratings: expected finite grades or NaN, got an infinite one")
        for name, labels in (("assessor", self.assessors), ("unit", self.units)):
            if len(set(labels)) < len(labels):
                raise AdjudgeError(f"Ratings: expected every {name} once, got one twice")

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[str, str, str, float]]) -> Ratings:
        """Ratings from rows (query, document, assessor, grade), in any order.

        Units and assessors keep the order in which they first come. The same row twice counts once; two grades of one
        assessor for one unit are an error, and so is a grade that is not finite.

        >>> Ratings.from_rows([("q", "d", "ann", 1), ("q", "d", "bob", 2), ("q", "e", "bob", 0)]).values.tolist()
        [[1.0, 2.0], [nan, 0.0]]
        """
        units: dict[tuple[str, str], int] = {}
        assessors: dict[str, int] = {}
        cells: dict[tuple[int, int], float] = {}
        for query, document, assessor, grade in rows:
            place = units.setdefault((query, document), len(units)), assessors.setdefault(assessor, len(assessors))
            given = float(grade)
            if not np.isfinite(given) or cells.setdefault(place, given) != given:
                what = f"document {shown(document)} of query {shown(query)} by {shown(assessor)}"
                found = f"{given:g}" if not np.isfinite(given) else f"{cells[place]:g} and {given:g}"
                raise AdjudgeError(f"expected one finite grade for {what}, got {found}")
        values = np.full((len(units), len(assessors)), np.nan)
        for place, given in cells.items():
            values[place] = given
        return cls(values, tuple(assessors), tuple(units))

    @property
    def n_ratings(self) -> Ints:
        """How many assessors rated each unit."""
        counted: Ints = np.isfinite(self.values).sum(axis=1)
        return counted

    @property
    def query(self) -> Ints:
        """A number for the query of each unit: units of one query have the same."""
        codes: dict[str, int] = {}
        return np.array([codes.setdefault(query, len(codes)) for query, _ in self.units], dtype=np.int64)

    def __str__(self) -> str:
        counts = self.n_ratings
        several = int((counts >= 2).sum())
        people = "1 assessor" if len(self.assessors) == 1 else f"{len(self.assessors)} assessors"
        what = "1 unit" if several == 1 else f"{several:,} units"
        return f"{counts.sum():,} ratings of {len(self.units):,} units by {people}, {what} with two or more"


def ratings(judgments: Judgments) -> Ratings:
    """The judgments of a collection, side by side.

    A document that an assessor judged for several sub-topics has the highest of those grades, as everywhere. Judgments
    that name nobody are those of one assessor, called ``assessor``.

    >>> from adjudge.arrays import Codes
    >>> from adjudge.model.coding import Vocabulary
    >>> from adjudge.model.scales import BROAD
    >>> queries, documents = Vocabulary(), Vocabulary()
    >>> both = Judgments(
    ...     queries, documents, queries.encode(["q", "q"]), documents.encode(["d", "d"]), np.array([2.0, 1.0]), BROAD,
    ...     assessor=np.array([0, 1], dtype=np.int32), assessors=("ann", "bob"),
    ... )
    >>> ratings(both).values.tolist(), ratings(both).units
    ([[2.0, 1.0]], (('q', 'd'),))
    """
    pairs = np.stack([judgments.query, judgments.document], axis=1)
    units, unit = np.unique(pairs, axis=0, return_inverse=True)
    names = judgments.assessors if judgments.assessor is not None else ("assessor",)
    who = judgments.assessor if judgments.assessor is not None else np.zeros(len(judgments), dtype=np.int32)
    values = np.full((len(units), len(names)), np.nan)
    np.fmax.at(values, (unit.reshape(-1), who), judgments.grade)
    queries, documents = judgments.queries.decode(units[:, 0]), judgments.documents.decode(units[:, 1])
    return Ratings(values, tuple(names), tuple(zip(queries.to_list(), documents.to_list(), strict=True)))
