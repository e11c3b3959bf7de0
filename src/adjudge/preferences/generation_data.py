"""What questions are made of: for each query, its documents that are judged on every scale that is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.checks import check_whole
from adjudge.errors import AdjudgeError, shown
from adjudge.model.judgments import Judgments
from adjudge.preferences.combinations import Combination
from adjudge.preferences.questions import Question, Questions
from adjudge.users.combinations import RelevanceScale, relevance_scale

if TYPE_CHECKING:
    import polars as pl

JudgmentsByScale = Judgments | Mapping[str, Judgments]
"""Judgments on one scale, or several by the name of their scale."""


@dataclass(frozen=True)
class Material:
    """Queries with their documents, and the documents' grades on each scale.

    ``grades`` are (queries, width), one column a document, NaN past the ``sizes`` of a query; ``sizes`` are at least
    the k of the lists to be made.
    """

    queries: tuple[str, ...]
    documents: tuple[tuple[str, ...], ...]
    grades: Mapping[str, Floats]
    sizes: Ints
    k: int

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def filled(self) -> Mask:
        """Which cells hold a document: (queries, width)."""
        there: Mask = np.arange(max(int(self.sizes.max()), 1)) < self.sizes[:, None]
        return there

    def shares(self, scale: str) -> Floats:
        """Grades as shares of the highest grade, NaN past the documents of a query."""
        return self.grades[scale] / relevance_scale(scale).origin.maximum

    def questions(
        self,
        query: Ints,
        lists: Ints,
        *,
        names: Sequence[str],
        expected: Sequence[frozenset[str]] | None = None,
    ) -> Questions:
        """Questions of ``lists`` (questions, 2, k), columns of documents of ``query`` (questions,)."""
        made = []
        for place, (q, pair) in enumerate(zip(query.tolist(), lists.tolist(), strict=True)):
            known = self.documents[q]
            a, b = (tuple(known[d] for d in one) for one in pair)
            right = frozenset[str]() if expected is None else expected[place]
            made.append(Question(names[place], self.queries[q], a, b, right))
        grades = {scale: values[query[:, None, None], lists] for scale, values in self.grades.items()}
        return Questions(tuple(made), grades)


def by_scale(judgments: JudgmentsByScale) -> dict[str, Judgments]:
    """Judgments by the name of their scale, checked to be on it."""
    if isinstance(judgments, Judgments):
        return {str(RelevanceScale(judgments.scale)): judgments}
    found: dict[str, Judgments] = {}
    for name, one in judgments.items():
        scale = relevance_scale(name)
        if scale.conversion is not None:
            raise AdjudgeError(f"expected judgments on the scale that assessors used, got {shown(name)}")
        outside = one.grade[~scale.origin.contains(one.grade)]
        if len(outside):
            raise AdjudgeError(f"expected grades on the scale {scale.origin}, got {outside[0]:g}")
        found[str(scale)] = one
    if not found:
        raise AdjudgeError("expected judgments on at least one scale, got none")
    return found


def material(judgments: JudgmentsByScale, combinations: Sequence[Combination] | None, k: int) -> Material:
    """The documents of each query that are judged on all scales of the combinations (all scales when None)."""
    import polars as pl

    check_whole("k", k, 1, 50)
    given = by_scale(judgments)
    needed = list(given) if combinations is None else list(dict.fromkeys(one.origin for one in combinations))
    lacking = next((one for one in combinations or () if one.origin not in given), None)
    if lacking is not None:
        raise AdjudgeError(f"{lacking} needs judgments on {lacking.origin}, got {', '.join(given)}")
    frame = None
    for scale in needed:
        one = given[scale].pairs().rename({"grade": f"on {scale}"})
        frame = one if frame is None else frame.join(one, on=["query", "document"], how="inner", maintain_order="left")
    if frame is None or frame.height == 0:
        raise AdjudgeError(f"expected documents judged on {' and '.join(needed)}, got none")
    groups = (
        frame.group_by("query", maintain_order=True)
        .agg(pl.all(), pl.len().alias("n documents"))
        .filter(pl.col("n documents") >= k)
    )
    if groups.height == 0:
        most = max(frame.group_by("query").len()["len"].to_list())
        on = " and ".join(needed)
        raise AdjudgeError(f"expected queries with at least {k} documents judged on {on}, got at most {most}")
    sizes = groups["n documents"].to_numpy().astype(np.int64)
    documents = tuple(tuple(names) for names in groups["document"].to_list())
    return Material(tuple(groups["query"]), documents, {s: _padded(groups[f"on {s}"], sizes) for s in needed}, sizes, k)


def _padded(column: pl.Series, sizes: Ints) -> Floats:
    """Lists of different lengths as one array, NaN past their ends."""
    array = np.full((len(sizes), int(sizes.max())), np.nan)
    array[np.arange(array.shape[1]) < sizes[:, None]] = column.explode().to_numpy()
    return array
