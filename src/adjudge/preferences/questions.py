"""Questions: a query, two ranked lists, and the grades of what is in them.

Somebody hears the query and both lists and says which is better, or that both are good, or both bad. What they say is
about the lists *a* and *b* of the question, whichever side of the screen each was on.

Combinations of a measure and a relevance scale: what a study learns a curve for.

``CG@5 on fine`` is the cumulative gain of five documents with Fine grades. The thesis studies 95 of them (its Table
3.1): eleven user-oriented measures at cutoff 5, those with a gain also in an exponential form, on nine scales.

Urbano, J., Evaluation in Audio Music Similarity, PhD thesis, Universidad Carlos III de Madrid, 2013, section 3.1.

Coverage: how many questions each combination of measure and scale has in each bin of |Δ|.

The range [0, 1] of the absolute difference in effectiveness between the two lists of a question is cut into bins of
equal width, [0, .1), [.1, .2), … [.9, 1] where there are ten. A curve over differences can be learnt where every bin
has enough questions (thesis section 3.2.1).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
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
    adjudge.errors.AdjudgeError: CG(ideal=none)@5 can exceed 1, so that its differences have no bins; use ideal=max
    """

    measure: str
    scale: str

    def __post_init__(self) -> None:
        if not isinstance(self.measure, str | Measure) or not isinstance(self.scale, str):
            raise AdjudgeError(f"expected a measure and a scale, got {shown(self.measure)} and {shown(self.scale)}")
        measure, scale = parse_measure(self.measure), relevance_scale(self.scale)
        if not measure.bounded:
            raise AdjudgeError(f"{measure} can exceed 1, so that its differences have no bins; use ideal=max")
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
        """The scale, with the one that assessors used and how grades are converted."""
        return relevance_scale(self.scale)

    @property
    def origin(self) -> str:
        """The scale that assessors used: ``fine`` for ``binary40``."""
        return str(RelevanceScale(self.relevance.origin))


def as_combinations(given: Iterable[Combination | str]) -> tuple[Combination, ...]:
    """Combinations from values or text, each once, in the order given."""
    found = [one if isinstance(one, Combination) else Combination.parse(one) for one in given]
    if not found:
        raise AdjudgeError("expected at least one combination of a measure and a scale, got none")
    return tuple(dict.fromkeys(found))


_GRADED, _BINARY = ("graded3", "graded4", "graded5"), ("binary20", "binary40", "binary60", "binary80")
_FEW_LEVELS = ("broad", *_GRADED)  # where an exponential gain still tells grades apart
# Table 3.1, a row each: the measure with a linear (or no) gain and the scales it is on; then those of its
# exponential form. What is missing is equal to something that is there.
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
    """The combinations of the thesis's Table 3.1, for lists of k documents; the thesis has 5.

    User-oriented measures (eq 2.2 and 3.1 to 3.10): 1 is a list whose every document has the highest grade. RBP has
    p = 0.8. ERR's gain is exponential unless one says otherwise, the others' linear. All differ, but for ADR on
    ``graded5`` and on ``binary80`` only a grade of exactly 80 makes the difference.

    >>> len(thesis_combinations()), print(thesis_combinations()[0])
    P@5 on binary20
    (95, None)
    """
    return tuple(_thesis(k))


def _thesis(k: int) -> Iterator[Combination]:
    for measure, scales in (*_ON.items(), *((name, _FEW_LEVELS) for name in _EXPONENTIAL)):
        yield from (Combination(f"{measure}@{k}", scale) for scale in scales)


def possible(combinations: Iterable[Combination], scales: Iterable[str]) -> tuple[Combination, ...]:
    """Those of the combinations that can be computed from judgments on these scales.

    >>> len(possible(thesis_combinations(), ["fine"])), len(possible(thesis_combinations(), ["broad"]))
    (81, 14)
    """
    known = {str(RelevanceScale(relevance_scale(scale).origin)) for scale in scales}
    return tuple(one for one in combinations if one.origin in known)


def crossed(measures: Iterable[str], scales: Iterable[str]) -> tuple[Combination, ...]:
    """Every measure on every scale.

    >>> [str(one) for one in crossed(["CG@5", "P@5"], ["binary40"])]
    ['CG@5 on binary40', 'P@5 on binary40']
    """
    wanted = list(scales)
    return as_combinations([Combination(measure, scale) for measure in measures for scale in wanted])


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
    wanted: Annotated[int, Column("questions that are wanted there", ",d")]
    status: Annotated[str, Column("filled, short or impossible")]


@dataclass(frozen=True, repr=False)
class Coverage(Result):
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

    row_type = CoverageBin
    rows_name = "bins"

    @property
    def title(self) -> str:
        """What it is, in a sentence or two."""
        return self.summary

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
        rows = [[str(self.combinations[c]), *(self._cell(c, b) for b in range(self.bins))] for c in lacking]
        return Table([Heading("questions by |Δ| from", "left"), *starts] if rows else [], rows, self.title)

    def __repr__(self) -> str:
        return f"<Coverage: {counted(self.n_questions, 'question')}, {counted(len(self.combinations), 'combination')}>"

    def _cell(self, c: int, b: int) -> str:
        """A count, – for what is impossible."""
        return "–" if self.status[c, b] == IMPOSSIBLE else str(self.counts[c, b])


@checked(bins=QUESTION_BINS, per_bin=COUNT)
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
