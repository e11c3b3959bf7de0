"""Combinations of a measure and a relevance scale: what a study learns a curve for.

``CG@5 on fine`` is the cumulative gain of five documents with Fine grades. The thesis studies 95 of them (its Table
3.1): eleven user-oriented measures at cutoff 5, those with a gain also in an exponential form, on nine scales.

Urbano, J., Evaluation in Audio Music Similarity, PhD thesis, Universidad Carlos III de Madrid, 2013, section 3.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from adjudge.errors import AdjudgeError, shown
from adjudge.measures import Measure, parse_measure
from adjudge.preferences.questions import check_of_lists
from adjudge.users.combinations import RelevanceScale, fingerprint, relevance_scale

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
