"""Parameters of measures, declared once: parsed, checked, worded, printed and tested from the declaration."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from adjudge.arrays import Floats
from adjudge.checks import Between, Constraint, OneOf
from adjudge.errors import AdjudgeError, shown
from adjudge.model.scales import Scale
from adjudge.registry import Registry


def number_text(value: float) -> str:
    """The shortest text that reads back as the same number.

    >>> number_text(2.0), number_text(0.1), number_text(1e20)
    ('2', '0.1', '1e+20')
    """
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(float(value))


@dataclass(frozen=True)
class Parameter:
    """A named choice of a measure: what it may be, and its default; None is allowed where it is the default."""

    default: Any
    constraint: Constraint

    @property
    def about(self) -> str:
        """What it means."""
        return self.constraint.meaning

    @property
    def wanted(self) -> str:
        """What a value must be, for messages and documentation."""
        return self.constraint.wanted

    def check(self, owner: str, name: str, value: Any) -> Any:
        """The value to use, from text or a Python object; refused if it is not allowed."""
        if value is None and self.default is None:
            return None
        check = self.constraint.read if isinstance(value, str) else self.constraint.check
        checked = check(name, value, where=f"{owner}: ")
        return float(checked) if isinstance(self.constraint, Between) else checked

    def show(self, value: Any) -> str:
        """The value as it is written in a measure's name; numbers as the shortest text that reads back the same."""
        return number_text(value) if isinstance(value, float) else str(value)

    def lacking(self, value: Any, scale: Scale) -> str | None:
        """Why the value makes no sense on a scale; None if it does."""
        return None


@dataclass(frozen=True)
class Gain:
    """A function from grades to gains: 0 for grades of 0 or less, and never falling."""

    name: str
    function: Callable[[Floats], Floats]

    def __call__(self, grades: Floats) -> Floats:
        return self.function(grades)

    def __str__(self) -> str:
        return self.name


GAINS: Registry[Gain] = Registry("gain")
GainTable = Mapping[float, float] | Mapping[int, float]
ParameterValue = str | float | bool | Gain | GainTable | Callable[[Floats], Floats] | None
"""What parameters of measures can be: text or numbers; for gains also tables and functions; None for the default."""


def gain(name: str) -> Callable[[Callable[[Floats], Floats]], Callable[[Floats], Floats]]:
    """Register a gain function under a name that measures can use: ``nDCG(gain=NAME)@10``.

    It takes an array of grades of any shape and returns as many gains; it must give 0 for grades of 0 or less and
    must not fall.
    """
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        raise AdjudgeError(f"A gain needs a name of letters, digits and underscores, got {shown(name)}")

    def decorate(function: Callable[[Floats], Floats]) -> Callable[[Floats], Floats]:
        GAINS.add(name, Gain(name, function))
        return function

    return decorate


@gain("linear")
def linear(grades: Floats) -> Floats:
    """The grade itself: g(l) = l."""
    return np.maximum(grades, 0.0)


@gain("exp")
def exponential(grades: Floats) -> Floats:
    """Strong emphasis on high grades: g(l) = 2^l - 1."""
    return np.exp2(np.maximum(grades, 0.0)) - 1.0


_GAINS = OneOf((), "gain of a grade: linear (the grade), exp (2^grade - 1), a table {0:0,1:1,2:3} or a registered name")


@dataclass(frozen=True)
class GainChoice(Parameter):
    """A registered gain, a table ``{0:0,1:1,2:3}`` or a Python function."""

    constraint: Constraint = _GAINS

    @property
    def wanted(self) -> str:
        """The registered names and the form of a table."""
        return f"one of {', '.join(GAINS)} or a table such as {{0:0,1:1,2:3}}"

    def check(self, owner: str, name: str, value: Any) -> Gain:
        """Find or build the gain."""
        if isinstance(value, Gain):
            return value
        if callable(value):
            return Gain(getattr(value, "__name__", "function"), value)
        text = str(value).strip()
        if text in GAINS:
            return GAINS[text]
        table = value if isinstance(value, Mapping) else _parse_table(text)
        if table:
            try:
                return table_gain(owner, name, {float(grade): float(gain_) for grade, gain_ in table.items()})
            except (TypeError, ValueError) as error:
                if isinstance(error, AdjudgeError):
                    raise
        raise AdjudgeError(f"{owner}: {name!r} must be {self.wanted}, got {shown(value)}")

    def lacking(self, value: Any, scale: Scale) -> str | None:
        """Refuse gains that are not finite on the scale, or not what a gain must be."""
        ends = np.array([0.0, scale.maximum])
        with np.errstate(over="ignore", invalid="ignore"):
            gains = np.asarray(value(ends))
        if gains.shape != ends.shape:
            return f"gain={value} must give one gain for each grade, got {gains.shape} for {ends.shape}"
        if not np.isfinite(gains).all():
            return f"gain={value} is too large for a grade of {scale.maximum:g}"
        return None if gains[0] == 0 <= gains[1] else f"gain={value} must be 0 for grade 0 and never fall"


def _parse_table(text: str) -> dict[str, str]:
    """The parts of ``{0:0,1:1}``; empty for any other form."""
    if not re.fullmatch(r"\{[^{}]+\}", text):
        return {}
    pairs = [part.split(":") for part in text[1:-1].split(",")]
    return {pair[0]: pair[1] for pair in pairs} if all(len(pair) == 2 for pair in pairs) else {}


def table_gain(owner: str, name: str, table: Mapping[float, float]) -> Gain:
    """A gain for some grades only; grades of 0 or less have gain 0."""
    grades = np.array(sorted(table), dtype=np.float64)
    gains = np.array([table[grade] for grade in sorted(table)], dtype=np.float64)
    falls = bool((gains[grades <= 0] != 0).any() or (np.diff(gains) < 0).any() or (gains < 0).any())
    if falls or not np.isfinite(gains).all() or gains[-1] == 0:
        raise AdjudgeError(f"{owner}: {name!r} must give 0 to grades of 0 or less and never fall, got {dict(table)}")
    return _table_gain(tuple(grades.tolist()), tuple(gains.tolist()))


@lru_cache
def _table_gain(known: tuple[float, ...], given: tuple[float, ...]) -> Gain:
    """The same table is the same gain, so that measures with it are equal."""
    grades, gains = np.array(known), np.array(given)

    def look_up(asked: Floats) -> Floats:
        place = np.minimum(np.searchsorted(grades, asked), len(grades) - 1)
        unknown = (grades[place] != asked) & (asked > 0)
        if unknown.any():
            raise AdjudgeError(f"gain={text}: has no gain for grade {asked[unknown][0]:g}")
        return np.where(asked > 0, gains[place], 0.0)

    pairs = zip(map(number_text, known), map(number_text, given), strict=True)
    text = "{" + ",".join(f"{grade}:{gain_}" for grade, gain_ in pairs) + "}"
    return Gain(text, look_up)


IDEAL = Parameter(
    "none",
    OneOf(
        ("none", "max", "judged"),
        "what counts as perfect: none (classic form), max (every document has the scale's highest grade: "
        "user-oriented) or judged (the best ranking of the judged documents: system-oriented)",
    ),
)
REL = Parameter(None, Between(0, meaning="lowest grade that counts as relevant; any grade above 0 when not given"))
GAIN = GainChoice(GAINS["linear"])
EXP_GAIN = GainChoice(GAINS["exp"])
DISCOUNT = Parameter(
    "log", OneOf(("log", "original"), "log: log_b(i + b - 1) at rank i; original: log_b(i) from rank b on, 1 before")
)
BASE = Parameter(2.0, Between(1, meaning="base b of the logarithm"))


def discounts(n: int, discount: str, base: float) -> Floats:
    """Weights 1 / d(i) for i = 1..n."""
    rank = np.arange(1, n + 1, dtype=np.float64)
    weights: Floats = np.log(base) / np.log(rank + base - 1 if discount == "log" else np.maximum(rank, base))
    return weights
