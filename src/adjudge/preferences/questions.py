"""Questions: a query, two ranked lists, and the grades of their documents; and what questions cover.

A participant hears the query and both lists and says which list is better, or that both are good, or both bad. The
answer is about lists *a* and *b* of the question, whichever side of the screen each was on.

A study learns curves for *combinations* of a measure and a relevance scale: ``CG@5 on fine`` is the cumulative gain of
five documents with Fine grades. *Coverage* counts the questions of each combination by the absolute difference in
effectiveness between their two lists, in bins of equal width: [0, .1), [.1, .2), … [.9, 1] where there are ten. A curve
over differences can be learnt where every bin has enough questions.

Urbano, J., Evaluation in Audio Music Similarity, PhD thesis, Universidad Carlos III de Madrid, 2013, sections 3.1 and
3.2.1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product, starmap
from typing import Annotated, Any, Literal, TypedDict

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats, Ints
from adjudge.checks import COUNT, QUESTION_BINS, checked
from adjudge.errors import AdjudgeError, shown
from adjudge.measures import Measure, parse_measure
from adjudge.model.judgments import Judgments
from adjudge.model.rankings import Lists
from adjudge.results import Column, Result
from adjudge.tables import Heading, Table
from adjudge.text import counted
from adjudge.users.combinations import RelevanceScale, fingerprint, relevance_scale
from adjudge.users.curves import bin_of

CHOICES = ("a", "b", "good", "bad")
"""The possible answers: list a is better, list b is better, both are good, both are bad."""


@dataclass(frozen=True)
class Question:
    """One query with two ranked lists, best first.

    ``expected`` holds the right answers of an attention check (a trap) and is empty in other questions. ``systems``
    names the systems that retrieved the lists, where there are any.
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
                twice = next(document for document in documents if documents.count(document) > 1)
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
    """Questions, with the grades of their documents on each scale that they were judged on.

    ``grades`` maps a scale, written as mappings write it (``fine``, ``broad``, ``0..4``), to an array (questions, 2,
    ranks): the grade at each rank of list a and list b, NaN where a document is unjudged and past the end of a list.
    """

    questions: tuple[Question, ...]
    grades: Mapping[str, Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.places) < len(self.questions):
            names = [question.name for question in self.questions]
            twice = next(name for name in names if names.count(name) > 1)
            raise AdjudgeError(f"Questions: expected each name once, got {shown(twice)} again")
        for scale, grades in self.grades.items():
            origin, wanted = relevance_scale(scale).origin, (len(self), 2, self.n_ranks)
            if grades.shape != wanted:
                raise AdjudgeError(f"Questions: expected grades on {scale} of shape {wanted}, got {grades.shape}")
            outside = grades[~(origin.contains(grades) | np.isnan(grades))]
            if len(outside):
                raise AdjudgeError(f"Questions: expected grades on the scale {origin}, got {outside[0]:g}")

    def __len__(self) -> int:
        return len(self.questions)

    def __repr__(self) -> str:
        return f"Questions({len(self):,} of {len(set(self.queries)):,} queries, scales {', '.join(self.grades) or '–'})"

    @cached_property
    def places(self) -> dict[str, int]:
        """Position of each question, by its name."""
        return {question.name: place for place, question in enumerate(self.questions)}

    @property
    def queries(self) -> tuple[str, ...]:
        """The query of each question."""
        return tuple(question.query for question in self.questions)

    @cached_property
    def n_ranks(self) -> int:
        """Length of the longest list."""
        return max((len(documents) for question in self.questions for documents in question.lists), default=0)

    def select(self, places: Sequence[int] | Ints) -> Questions:
        """The questions at ``places``, in this order."""
        index = np.asarray(places, dtype=np.int64)
        kept = Questions(tuple(self.questions[place] for place in index))
        grades = {scale: grades[index][:, :, : kept.n_ranks] for scale, grades in self.grades.items()}
        return replace(kept, grades=grades)

    def with_grades(self, scale: str, graded: Mapping[tuple[str, str], float]) -> Questions:
        """The same questions with grades on one more scale, by query and document."""
        array = np.full((len(self), 2, self.n_ranks), np.nan)
        for place, question in enumerate(self.questions):
            for side, documents in enumerate(question.lists):
                array[place, side, : len(documents)] = [graded.get((question.query, d), np.nan) for d in documents]
        return replace(self, grades={**self.grades, str(relevance_scale(scale)): array})

    def graded(self, judgments: Judgments) -> Questions:
        """The same questions with grades from judgments where they have none of their own on that scale."""
        scale = str(RelevanceScale(judgments.scale))
        added, own = self.with_grades(scale, judgments.by_pair()), self.grades.get(scale)
        if own is None:
            return added
        return replace(added, grades={**added.grades, scale: np.where(np.isnan(own), added.grades[scale], own)})

    def effectiveness(self, measure: str | Measure, scale: str) -> Floats:
        """Effectiveness of list a and list b of every question: (questions, 2); NaN where a document is unjudged.

        ``scale`` may be a conversion of a scale with grades (``binary40`` of Fine grades). Measures that compare with
        the best of the judged documents cannot be computed from two lists alone and are refused.

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
        lengths = np.array(
            [len(documents) for question in self.questions for documents in question.lists], dtype=np.int64
        )
        values = parsed(_as_lists(grades, lengths, used))
        unjudged = np.isnan(grades) & (np.arange(self.n_ranks) < lengths[:, None])
        return np.where(unjudged.any(axis=1), np.nan, values).reshape(len(self), 2)


def check_of_lists(measure: Measure) -> None:
    """Refuse a measure that does not follow from a list alone; name its form that does, where there is one."""
    if not _needs_all_judgments(measure):
        return
    form = parse_measure(measure, ideal="max") if "ideal" in measure.definition.parameters else measure
    instead = "" if _needs_all_judgments(form) else f"; use {form}"
    raise AdjudgeError(f"{measure} compares with the best of all judged documents, which two lists lack{instead}")


def _needs_all_judgments(measure: Measure) -> bool:
    """Whether a measure changes with a judged document outside the list."""
    grades = np.random.default_rng(7).integers(0, 101, size=(32, 5)).astype(np.float64)
    lists = _as_lists(grades, np.full(32, 5, dtype=np.int64), relevance_scale("fine"))
    pools = (np.concatenate([lists.pool, np.full((32, 1), extra)], axis=1) for extra in (0.0, 100.0))
    one, two = (measure(replace(lists, pool=-np.sort(-pool, axis=1), sizes=lists.sizes + 1)) for pool in pools)
    return not np.allclose(one, two, equal_nan=True)


def _as_lists(grades: Floats, lengths: Ints, scale: RelevanceScale) -> Lists:
    """Lists whose queries have no judged documents outside the list itself."""
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
    """Questions from several sources as one, such as questions and traps; NaN on scales that one of them lacks."""
    given = list(parts)
    whole = Questions(tuple(question for part in given for question in part.questions))
    grades: dict[str, Floats] = {}
    start = 0
    for part in given:
        for scale, values in part.grades.items():
            array = grades.setdefault(scale, np.full((len(whole), 2, whole.n_ranks), np.nan))
            array[start : start + len(part), :, : part.n_ranks] = values
        start += len(part)
    return replace(whole, grades=grades)


_SEPARATOR = " on "


@dataclass(frozen=True)
class Combination:
    """A measure on a scale, both in the form in which they print themselves.

    >>> one = Combination("ndcg(ideal=max)@5", "Fine")
    >>> print(one)
    nDCG(ideal=max)@5 on fine
    >>> one == Combination.parse(str(one))
    True

    Effectiveness must lie in [0, 1] and follow from the list alone, or bins of its difference mean nothing:

    >>> Combination("CG(ideal=none)@5", "fine")
    Traceback (most recent call last):
    adjudge.errors.AdjudgeError: CG(ideal=none)@5 can exceed 1, so its differences have no bins; use ideal=max
    """

    measure: str
    scale: str

    def __post_init__(self) -> None:
        if not isinstance(self.measure, str | Measure) or not isinstance(self.scale, str):
            raise AdjudgeError(f"expected a measure and a scale, got {shown(self.measure)} and {shown(self.scale)}")
        measure, scale = parse_measure(self.measure), relevance_scale(self.scale)
        if not measure.bounded:
            raise AdjudgeError(f"{measure} can exceed 1, so its differences have no bins; use ideal=max")
        check_of_lists(measure)
        fingerprint(measure, scale)  # refuses a measure that makes no sense on the scale
        object.__setattr__(self, "measure", str(measure))
        object.__setattr__(self, "scale", str(scale))

    def __str__(self) -> str:
        return f"{self.measure}{_SEPARATOR}{self.scale}"

    @classmethod
    def parse(cls, text: str) -> Combination:
        """Read ``MEASURE on SCALE``.

        >>> Combination.parse("P@5 on binary40").scale
        'binary40'
        """
        measure, separator, scale = str(text).partition(_SEPARATOR)
        if not separator:
            raise AdjudgeError(f"Combination: expected MEASURE on SCALE, such as 'CG@5 on fine', got {shown(text)}")
        return cls(measure.strip(), scale.strip())

    @cached_property
    def parsed(self) -> Measure:
        """The measure, ready to compute."""
        return parse_measure(self.measure)

    @cached_property
    def relevance(self) -> RelevanceScale:
        """The scale: the one that assessors used, and how its grades are converted."""
        return relevance_scale(self.scale)

    @property
    def origin(self) -> str:
        """The scale that assessors used: ``fine`` for ``binary40``."""
        return str(RelevanceScale(self.relevance.origin))


def as_combinations(given: str | Combination | Iterable[Combination | str]) -> tuple[Combination, ...]:
    """Combinations from values or text, one or several, each once, in the order given."""
    several = [given] if isinstance(given, str | Combination) else given
    combinations = [each if isinstance(each, Combination) else Combination.parse(each) for each in several]
    if not combinations:
        raise AdjudgeError("expected at least one combination of a measure and a scale, got none")
    return tuple(dict.fromkeys(combinations))


_GRADED, _BINARY = ("graded3", "graded4", "graded5"), ("binary20", "binary40", "binary60", "binary80")
_FEW_LEVELS = ("broad", *_GRADED)  # where an exponential gain still tells grades apart
# Table 3.1: each measure with a linear (or no) gain and its scales, then the measures with an exponential gain.
# Combinations that equal another one are left out.
_ON: dict[str, tuple[str, ...]] = {
    "P": _BINARY,
    "AP(ideal=max)": _BINARY,
    "RR": _BINARY,
    "CG": ("broad", "fine", *_GRADED),
    "DCG": ("broad", "fine", *_GRADED, *_BINARY),
    "EDCG": ("broad", "fine", *_GRADED, *_BINARY),
    "Q(ideal=max)": ("broad", "fine", *_GRADED),
    "RBP(ideal=max)": ("broad", "fine", *_GRADED, *_BINARY),
    "ERR(gain=linear,ideal=max)": ("broad", "fine", *_GRADED, *_BINARY),
    "GAP(ideal=max)": ("broad", "fine", *_GRADED),
    "ADR(ideal=max)": (*_FEW_LEVELS, *_BINARY),
}
_EXPONENTIAL = (
    "CG(gain=exp)", "DCG(gain=exp)", "EDCG(gain=exp)", "Q(gain=exp,ideal=max)", "RBP(gain=exp,ideal=max)",
    "ERR(ideal=max)",
)  # fmt: skip


def thesis_combinations(k: int = 5) -> tuple[Combination, ...]:
    """The 95 combinations of the thesis's Table 3.1, for lists of ``k`` documents (5 in the thesis).

    Eleven user-oriented measures (eq 2.2 and 3.1 to 3.10), those with a gain also in an exponential form, on nine
    scales: effectiveness is 1 where every document has the highest grade. RBP has p = 0.8. The default gain of ERR is
    exponential, that of the others linear. All differ; ADR on ``graded5`` and on ``binary80`` differ only for a grade
    of exactly 80.

    >>> len(thesis_combinations()), print(thesis_combinations()[0])
    P@5 on binary20
    (95, None)
    """
    measures = (*_ON.items(), *((name, _FEW_LEVELS) for name in _EXPONENTIAL))
    return tuple(Combination(f"{measure}@{k}", scale) for measure, scales in measures for scale in scales)


def possible(combinations: Iterable[Combination], scales: Iterable[str]) -> tuple[Combination, ...]:
    """The combinations that can be computed from judgments on these scales.

    >>> len(possible(thesis_combinations(), ["fine"])), len(possible(thesis_combinations(), ["broad"]))
    (81, 14)
    """
    known = {str(RelevanceScale(relevance_scale(scale).origin)) for scale in scales}
    return tuple(combination for combination in combinations if combination.origin in known)


def crossed(measures: Iterable[str], scales: Iterable[str]) -> tuple[Combination, ...]:
    """Every measure on every scale.

    >>> [str(combination) for combination in crossed(["CG@5", "P@5"], ["binary40"])]
    ['CG@5 on binary40', 'P@5 on binary40']
    """
    return as_combinations(starmap(Combination, product(measures, scales)))


Status = Literal["filled", "short", "impossible"]
STATUSES: tuple[Status, ...] = ("filled", "short", "impossible")
FILLED, SHORT, IMPOSSIBLE = range(3)


class CoverageBin(TypedDict):
    """Questions in one bin of one combination."""

    measure: Annotated[str, Column("the measure", key=True)]
    scale: Annotated[str, Column("the scale", key=True)]
    low: Annotated[float, Column("lower end of the bin of |Δ|", "g")]
    high: Annotated[float, Column("upper end of the bin of |Δ|", "g")]
    questions: Annotated[int, Column("questions in the bin", ",d")]
    wanted: Annotated[int, Column("questions wanted there", ",d")]
    status: Annotated[str, Column("filled, short or impossible")]


@dataclass(frozen=True, repr=False, eq=False)
class Coverage(Result):
    """Questions in each bin of each combination.

    ========== ===================== ================================================================
    counts     (combinations, bins)  questions whose abs(Δ) falls in the bin
    status     (combinations, bins)  ``FILLED``, ``SHORT`` or ``IMPOSSIBLE`` (places in ``STATUSES``)
    unknown    (combinations,)       questions without a difference: a document is not judged
    ========== ===================== ================================================================

    *Impossible* means proven: no two lists that the judgments allow have such a difference. *Short* bins have fewer
    than ``per_bin`` questions, without a proof that there cannot be more. ``most_of_a_query`` is the largest number of
    questions about one query.
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
        """Number of bins with each status, over all combinations."""
        return {name: int((self.status == place).sum()) for place, name in enumerate(STATUSES)}

    @property
    def is_complete(self) -> bool:
        """Whether every bin that can be filled is."""
        return self.totals["short"] == 0

    def interval(self, place: int) -> str:
        """A bin as an interval: ``[.1, .2)``, the last one closed."""
        low, high = (f"{edge / self.bins:.3g}".replace("0.", ".", 1) for edge in (place, place + 1))
        return f"[{low}, {high}{']' if place == self.bins - 1 else ')'}"

    @property
    def summary(self) -> str:
        """How many bins are filled, short and impossible, in a sentence."""
        filled, lacking, never = self.totals.values()
        aside = f"; {never} {'is' if never == 1 else 'are'} impossible" if never else ""
        short = f" and {lacking} {'has' if lacking == 1 else 'have'} fewer" if lacking else ""
        return (
            f"{counted(self.n_questions, 'question')} of {counted(self.n_queries, 'query')} with "
            f"{counted(self.n_documents, 'document')}: {filled} of {counted(self.counts.size, 'bin')} "
            f"({counted(len(self.combinations), 'combination')}, {self.bins} each) "
            f"{'has' if filled == 1 else 'have'} at least {self.per_bin}{short}{aside}."
        )

    row_type = CoverageBin
    rows_name = "bins"
    title = summary

    def _rows(self) -> list[CoverageBin]:
        return [
            {
                "measure": combination.measure,
                "scale": combination.scale,
                "low": round(b / self.bins, 9),
                "high": round((b + 1) / self.bins, 9),
                "questions": int(self.counts[c, b]),
                "wanted": self.per_bin,
                "status": STATUSES[self.status[c, b]],
            }
            for c, combination in enumerate(self.combinations)
            for b in range(self.bins)
        ]

    def _facts(self) -> dict[str, Any]:
        names = ("per_bin", "n_questions", "n_queries", "n_documents", "most_of_a_query")
        return {name: getattr(self, name) for name in names}

    def table(self, *, digits: int | None = None) -> Table:
        """A line for each combination that is not filled: counts by bin, – where impossible."""
        lacking = np.flatnonzero((self.status != FILLED).any(axis=1)).tolist()
        starts = [Heading(f"{b / self.bins:.3g}", about="questions by |Δ| from here") for b in range(self.bins)]
        cells = np.where(self.status == IMPOSSIBLE, "–", self.counts.astype(str)).tolist()
        rows = [[str(self.combinations[c]), *cells[c]] for c in lacking]
        return Table([Heading("questions by |Δ| from", "left"), *starts] if rows else [], rows, self.title)

    def __repr__(self) -> str:
        return f"<Coverage: {counted(self.n_questions, 'question')}, {counted(len(self.combinations), 'combination')}>"


@checked(bins=QUESTION_BINS, per_bin=COUNT)
def coverage_of(
    questions: Questions, combinations: Iterable[Combination | str], *, bins: int = 10, per_bin: int = 200
) -> Coverage:
    """Coverage of any questions, wherever they come from. Traps are not counted.

    No bin is called impossible here: two lists do not tell what other lists there could be, as
    :func:`~adjudge.preferences.generation.make_questions` can.

    >>> asked = Questions((Question("1", "q", ("d1", "d2"), ("d3", "d4")),),
    ...                   {"broad": np.array([[[2.0, 1.0], [0.0, 1.0]]])})
    >>> print(coverage_of(asked, ["CG@2 on broad"], bins=2, per_bin=1))
    1 question of 1 query with 4 documents: 1 of 2 bins (1 combination, 2 each) has at least 1 and 1 has fewer.
    questions by |Δ| from  0  0.5
    CG@2 on broad          0    1
    """
    known = as_combinations(combinations)
    asked = questions.select([place for place, question in enumerate(questions.questions) if not question.is_trap])
    hits = bins_of(asked, known, bins)
    counts = np.stack([np.bincount(column[column >= 0], minlength=bins) for column in hits.T])
    unknown = (hits < 0).sum(axis=0)
    return covered(asked, known, counts, np.zeros(counts.shape, dtype=np.bool_), per_bin=per_bin, unknown=unknown)


def bins_of(questions: Questions, combinations: Sequence[Combination], bins: int) -> Ints:
    """Bin of abs(Δ) of every question on every combination: (questions, combinations); -1 where it is not judged."""
    found = np.full((len(questions), len(combinations)), -1, dtype=np.int64)
    for place, combination in enumerate(combinations):
        values = questions.effectiveness(combination.measure, combination.scale)
        found[:, place] = bin_of(np.abs(values[:, 0] - values[:, 1]), bins)
    return found


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
    documents = {document for question in questions.questions for side in question.lists for document in side}
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
