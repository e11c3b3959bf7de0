"""Questions: a query, two ranked lists, and the grades of what is in them.

Somebody hears the query and both lists and says which is better, or that both are good, or both bad. What they say is
about the lists *a* and *b* of the question, whichever side of the screen each was on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.errors import AdjudgeError, shown
from adjudge.measures import Measure, parse_measure
from adjudge.model.judgments import Judgments
from adjudge.model.rankings import Lists
from adjudge.users.combinations import RelevanceScale, relevance_scale

CHOICES = ("a", "b", "good", "bad")
"""What can be answered: list a is better, list b is, both are good, both are bad."""


@dataclass(frozen=True)
class Question:
    """One query with two ranked lists, best first.

    ``expected`` holds the answers that are right where they are known (a trap); it is empty in other questions.
    ``systems`` names the systems whose lists these are, where they are those of systems.
    """

    name: str
    query: str
    a: tuple[str, ...]
    b: tuple[str, ...]
    expected: frozenset[str] = frozenset()
    systems: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        for side, documents in (("a", self.a), ("b", self.b)):
            if not documents:
                raise AdjudgeError(f"Question {shown(self.name)}: expected documents in list {side}, got none")
            if len(set(documents)) < len(documents):
                twice = next(one for one in documents if documents.count(one) > 1)
                raise AdjudgeError(f"Question {shown(self.name)}: list {side} has document {shown(twice)} twice")
        if not self.expected <= set(CHOICES):
            raise AdjudgeError(
                f"Question {shown(self.name)}: expected answers among {', '.join(CHOICES)}, "
                f"got {', '.join(sorted(self.expected))}"
            )

    @property
    def is_trap(self) -> bool:
        """Whether its answer is known."""
        return bool(self.expected)

    @property
    def lists(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """List a and list b."""
        return self.a, self.b


@dataclass(frozen=True)
class Questions:
    """Many questions, with the grades of their documents on each scale that they were judged on.

    ``grades`` maps a scale, written as mappings write it (``fine``, ``broad``, ``0..4``), to an array (questions, 2,
    ranks): the grade at each rank of list a and list b, NaN where a document is unjudged and past the end of a list.
    """

    questions: tuple[Question, ...]
    grades: Mapping[str, Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.places) < len(self.questions):
            names = [one.name for one in self.questions]
            twice = next(name for name in names if names.count(name) > 1)
            raise AdjudgeError(f"Questions: expected each name once, got {shown(twice)} again")
        for scale, grades in self.grades.items():
            origin = relevance_scale(scale).origin
            if grades.shape != (len(self), 2, self.n_ranks):
                wanted = (len(self), 2, self.n_ranks)
                raise AdjudgeError(f"Questions: expected grades on {scale} of shape {wanted}, got {grades.shape}")
            if not bool((origin.contains(grades) | np.isnan(grades)).all()):
                worst = grades[~(origin.contains(grades) | np.isnan(grades))].flat[0]
                raise AdjudgeError(f"Questions: expected grades on the scale {origin}, got {worst:g}")

    def __len__(self) -> int:
        return len(self.questions)

    def __repr__(self) -> str:
        return f"Questions({len(self):,} of {len(set(self.queries)):,} queries, scales {', '.join(self.grades) or '–'})"

    @cached_property
    def places(self) -> dict[str, int]:
        """Where each question is, by its name."""
        return {one.name: place for place, one in enumerate(self.questions)}

    @property
    def queries(self) -> tuple[str, ...]:
        """The query of each question."""
        return tuple(one.query for one in self.questions)

    @cached_property
    def n_ranks(self) -> int:
        """Length of the longest list."""
        return max((len(documents) for one in self.questions for documents in one.lists), default=0)

    def select(self, places: Sequence[int] | Ints) -> Questions:
        """Some of the questions, in this order."""
        index = np.asarray(places, dtype=np.int64)
        kept = tuple(self.questions[place] for place in index)
        longest = max((len(documents) for one in kept for documents in one.lists), default=0)
        return Questions(kept, {scale: grades[index][:, :, :longest] for scale, grades in self.grades.items()})

    def with_grades(self, scale: str, graded: Mapping[tuple[str, str], float]) -> Questions:
        """The same questions with the grades of one more scale, by query and document."""
        array = np.full((len(self), 2, self.n_ranks), np.nan)
        for place, one in enumerate(self.questions):
            for side, documents in enumerate(one.lists):
                array[place, side, : len(documents)] = [graded.get((one.query, d), np.nan) for d in documents]
        return replace(self, grades={**self.grades, str(relevance_scale(scale)): array})

    def graded(self, judgments: Judgments) -> Questions:
        """The same questions with the grades of judgments, where they do not have grades of their own on that scale."""
        scale = str(RelevanceScale(judgments.scale))
        added, own = self.with_grades(scale, judgments.by_pair()), self.grades.get(scale)
        if own is None:
            return added
        return replace(added, grades={**added.grades, scale: np.where(np.isnan(own), added.grades[scale], own)})

    def effectiveness(self, measure: str | Measure, scale: str) -> Floats:
        """Effectiveness of list a and list b of every question: (questions, 2); NaN where a document is unjudged.

        ``scale`` may be a conversion of one that there are grades on (``binary40`` of Fine grades). Measures that
        compare with the best of the judged documents cannot be computed from two lists alone and are refused.

        >>> questions = Questions((Question("1", "q", ("d1", "d2"), ("d3", "d4")),),
        ...                       {"broad": np.array([[[2.0, 1.0], [0.0, 1.0]]])})
        >>> questions.effectiveness("CG@2", "broad").tolist()
        [[0.75, 0.25]]
        """
        parsed, used = parse_measure(measure), relevance_scale(scale)
        origin = str(RelevanceScale(used.origin))
        if origin not in self.grades:
            known = ", ".join(self.grades) or "none"
            raise AdjudgeError(f"Questions: expected grades on {origin} to compute {parsed}, got {known}")
        check_of_lists(parsed)
        grades = self.grades[origin].reshape(2 * len(self), self.n_ranks)
        values = parsed(_as_lists(grades, self._lengths, used))
        unjudged = np.isnan(grades) & (np.arange(self.n_ranks) < self._lengths[:, None])
        return np.where(unjudged.any(axis=1), np.nan, values).reshape(len(self), 2)

    @cached_property
    def _lengths(self) -> Ints:
        return np.array([len(documents) for one in self.questions for documents in one.lists], dtype=np.int64)


def check_of_lists(measure: Measure) -> None:
    """Refuse a measure that does not follow from a list alone; names its form that does, where there is one."""
    if not needs_all_judgments(measure):
        return
    form = parse_measure(measure, ideal="max") if "ideal" in measure.definition.parameters else measure
    instead = "" if needs_all_judgments(form) else f"; use {form}"
    raise AdjudgeError(
        f"{measure} compares with the best of all judged documents, which two lists do not tell{instead}"
    )


def needs_all_judgments(measure: Measure) -> bool:
    """Whether a measure changes with documents outside the list."""
    one, two = (_probe(extra) for extra in (0.0, 1.0))
    return not np.allclose(measure(one), measure(two), equal_nan=True)


def _probe(extra: float) -> Lists:
    """Some lists of Fine grades whose queries have one more judged document, relevant or not."""
    rng = np.random.default_rng(7)
    grades = rng.integers(0, 101, size=(32, 5)).astype(np.float64)
    lists = _as_lists(grades, np.full(32, 5, dtype=np.int64), relevance_scale("fine"))
    pool = np.concatenate([lists.pool, np.full((32, 1), 100.0 * extra)], axis=1)
    return replace(lists, pool=-np.sort(-pool, axis=1), sizes=lists.sizes + 1)


def _as_lists(grades: Floats, lengths: Ints, scale: RelevanceScale) -> Lists:
    """Lists whose queries have no judged documents but those of the list itself."""
    judged = ~np.isnan(grades)
    plain = np.where(judged, grades, 0.0)
    if scale.conversion is not None:
        plain = np.where(judged, scale.conversion(plain), 0.0)
    return Lists(
        plain,
        judged,
        lengths,
        -np.sort(-plain, axis=1),
        judged.sum(axis=1).astype(np.int64),
        np.arange(len(grades), dtype=np.int64),
        scale.origin if scale.conversion is None else scale.conversion.scale,
    )


def joined(parts: Iterable[Questions]) -> Questions:
    """Questions of several sources as one, such as questions and traps; scales that one lacks are NaN there."""
    given = list(parts)
    questions = tuple(one for part in given for one in part.questions)
    longest = max((part.n_ranks for part in given), default=0)
    grades: dict[str, Any] = {}
    for scale in dict.fromkeys(scale for part in given for scale in part.grades):
        rows = []
        for part in given:
            padded = np.full((len(part), 2, longest), np.nan)
            if scale in part.grades:
                padded[:, :, : part.n_ranks] = part.grades[scale]
            rows.append(padded)
        grades[scale] = np.concatenate(rows)
    return Questions(questions, grades)
