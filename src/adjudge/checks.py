"""What a parameter may be, declared once: for the checks of the library, the options of the command line and tests.

A constraint knows its limits, its wording and its meaning. Functions declare the constraints of their parameters with
:func:`checked`; options of the command line have the same declarations as their ``type``; a contract test covers all of
them. Nothing heavy is imported here, so that the command line starts fast.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import wraps
from numbers import Integral, Real
from typing import Any, Literal, ParamSpec, TypeVar, get_args

from adjudge.errors import ParameterError, shown

P = ParamSpec("P")
R = TypeVar("R")
_LONGEST_VALUE = 60  # characters of a value in a message


class Constraint(ABC):
    """What a value must be. ``meaning`` says what it is, ``metavar`` stands for it in help texts."""

    meaning: str
    metavar: str | None

    @property
    @abstractmethod
    def wanted(self) -> str:
        """What a value must be, to follow *must be* in messages."""

    @property
    def limits(self) -> str:
        """The limits alone, for help texts."""
        return self.wanted

    @abstractmethod
    def allows(self, value: object) -> bool:
        """Whether a value is allowed."""

    @abstractmethod
    def parse(self, text: str) -> Any:
        """The value of a text, or the text itself where it has none."""

    @abstractmethod
    def examples(self) -> tuple[list[Any], list[Any]]:
        """Values that are just allowed, and values that are just not allowed."""

    def check(self, name: str, value: Any, *, where: str = "") -> Any:
        """The value, or an error that names the parameter.

        >>> CONFIDENCE.check("confidence", 1.5)
        Traceback (most recent call last):
        adjudge.errors.ParameterError: 'confidence' must be in (0, 1), got 1.5
        """
        if not self.allows(value):
            raise ParameterError(f"{where}{name!r} must be {self.wanted}, got {_worded(value)}")
        return value

    def read(self, name: str, text: str, *, where: str = "") -> Any:
        """The value of a text, or an error that names the parameter and repeats the text."""
        value = self.parse(text)
        if not self.allows(value):
            came = shown(text) if isinstance(value, str) else text
            raise ParameterError(f"{where}{name!r} must be {self.wanted}, got {came}")
        return value

    def check_each(self, name: str, values: Any) -> tuple[Any, ...]:
        """One value or several, each once; whole numbers may be floats.

        >>> COUNT.check_each("queries", 30), COUNT.check_each("queries", [30, 60.0, 30])
        ((30,), (30, 60))
        """
        given = values if isinstance(values, Iterable) and not isinstance(values, str) else [values]
        whole = [int(value) if isinstance(value, float) and value.is_integer() else value for value in given]
        return tuple(dict.fromkeys(self.check(name, value) for value in whole))

    def __call__(self, text: str) -> Any:
        """The value of an option, for :mod:`argparse`."""
        return self.read(self.metavar or "value", text)


def _worded(value: object) -> str:
    """A value for the end of a message: as it is written where that is short, else the name of its type."""
    if isinstance(value, str):
        return shown(value)
    written = str(value) if isinstance(value, Real) else repr(value)
    says_something = written.isprintable() and " at 0x" not in written
    return written if says_something and len(written) <= _LONGEST_VALUE else type(value).__name__


@dataclass(frozen=True)
class Between(Constraint):
    """A real number in an interval, with the ends that ``closed`` names; never NaN."""

    low: float
    high: float = math.inf
    closed: Literal["neither", "left", "right", "both"] = "neither"
    meaning: str = ""
    metavar: str | None = "X"

    @property
    def has_low(self) -> bool:
        """Whether the lower end is allowed."""
        return self.closed in ("left", "both")

    @property
    def has_high(self) -> bool:
        """Whether the upper end is allowed."""
        return self.closed in ("right", "both")

    @property
    def wanted(self) -> str:
        """The interval, or the lower limit.

        >>> Between(0, 1, "right").wanted, Between(0).wanted, Between(0, closed="left").wanted
        ('in (0, 1]', 'a finite number above 0', 'a finite number of at least 0')
        """
        if self.high == math.inf:
            return f"a finite number {'of ' if self.has_low else ''}{self.limits}".rstrip()
        return self.limits

    @property
    def limits(self) -> str:
        """The interval without the noun."""
        if self.high == math.inf:
            return "" if self.low == -math.inf else f"{'at least' if self.has_low else 'above'} {self.low:g}"
        return f"in {'[' if self.has_low else '('}{self.low:g}, {self.high:g}{']' if self.has_high else ')'}"

    def allows(self, value: object) -> bool:
        """Whether a finite number lies in the interval."""
        if isinstance(value, bool) or not isinstance(value, Real):
            return False
        number = float(value)
        above = number >= self.low if self.has_low else number > self.low
        return above and math.isfinite(number) and (number <= self.high if self.has_high else number < self.high)

    def parse(self, text: str) -> Any:
        """A number."""
        try:
            return float(text)
        except ValueError:
            return text

    def examples(self) -> tuple[list[Any], list[Any]]:
        """The ends and their neighbours."""
        inside: list[Any] = []
        outside: list[Any] = [math.nan, math.inf, -math.inf, True, "0.5", None]
        for end, has, out in ((self.low, self.has_low, -math.inf), (self.high, self.has_high, math.inf)):
            if math.isfinite(end):
                inside.append(end if has else math.nextafter(end, -out))
                outside.append(math.nextafter(end, out) if has else end)
        return inside, outside


@dataclass(frozen=True)
class Whole(Constraint):
    """A whole number from ``least`` to ``most``, if there is one; with ``or_none``, or 0."""

    least: int
    most: int | None = None
    meaning: str = ""
    metavar: str | None = "N"
    or_none: bool = False

    @property
    def wanted(self) -> str:
        """The limits."""
        return f"{'0 or ' if self.or_none else ''}a whole number {self._range}"

    @property
    def limits(self) -> str:
        """The limits without the noun."""
        return ("0 or " if self.or_none else "") + self._range.removeprefix("of ").removeprefix("from ")

    @property
    def _range(self) -> str:
        return f"of at least {self.least}" if self.most is None else f"from {self.least:,} to {self.most:,}"

    def allows(self, value: object) -> bool:
        """Whether a value is a whole number within the limits; True and 2.0 are not whole numbers."""
        if isinstance(value, bool) or not isinstance(value, Integral):
            return False
        number = int(value)
        inside = number >= self.least and (self.most is None or number <= self.most)
        return inside or (self.or_none and number == 0)

    def parse(self, text: str) -> Any:
        """A whole number."""
        try:
            return int(text)
        except ValueError:
            return text

    def examples(self) -> tuple[list[Any], list[Any]]:
        """The limits and their neighbours."""
        inside = [self.least, *([] if self.most is None else [self.most]), *([0] if self.or_none else [])]
        beyond = [self.least - 1, *([] if self.most is None else [self.most + 1])]
        return inside, [*beyond, self.least + 0.5, float(self.least), math.nan, True, str(self.least), None]


@dataclass(frozen=True)
class Seeding(Whole):
    """A whole number, a generator of NumPy to draw one from, or None for any number."""

    @property
    def wanted(self) -> str:
        """The number, and what else it is drawn from."""
        return f"{super().wanted}, a NumPy generator or None"

    def allows(self, value: object) -> bool:
        """Whether :func:`adjudge.seeds.as_seed` accepts a value, found without importing NumPy."""
        kinds = ((kind.__module__.partition("._")[0], kind.__name__) for kind in type(value).__mro__)
        return value is None or ("numpy.random", "Generator") in kinds or super().allows(value)

    def read(self, name: str, text: str, *, where: str = "") -> Any:
        """The number of a text, which can be nothing else."""
        return Whole(self.least).read(name, text, where=where)

    def examples(self) -> tuple[list[Any], list[Any]]:
        """Those of a whole number, with None allowed."""
        inside, outside = super().examples()
        return inside, [value for value in outside if value is not None]


@dataclass(frozen=True)
class OneOf(Constraint):
    """One of a few words."""

    options: tuple[str, ...]
    meaning: str = ""
    metavar: str | None = None

    @property
    def wanted(self) -> str:
        """The words."""
        return f"one of {', '.join(self.options)}"

    def allows(self, value: object) -> bool:
        """Whether a value is one of the words."""
        return isinstance(value, str) and value in self.options

    def parse(self, text: str) -> str:
        """The word itself."""
        return text

    def examples(self) -> tuple[list[Any], list[Any]]:
        """All words, and near misses."""
        return list(self.options), [f"{self.options[0]} ", self.options[0].upper() + "?", "", 1, True, math.nan, None]


@dataclass(frozen=True)
class Kind(Constraint):
    """An object of a class, or of one of several; ``described`` says what it is and which function makes it."""

    kind: Any
    described: str
    meaning: str = ""
    metavar: str | None = None

    def __or__(self, other: Kind) -> Kind:
        return Kind(self.kind | other.kind, f"{self.described} or {other.described}")

    @property
    def wanted(self) -> str:
        """The description."""
        return self.described

    def allows(self, value: object) -> bool:
        """Whether a value is such an object."""
        return isinstance(value, self.kind)

    def parse(self, text: str) -> str:
        """The text itself: it is no such object."""
        return text

    def examples(self) -> tuple[list[Any], list[Any]]:
        """None that is allowed: they take other modules."""
        return [], [value for value in (None, 1, "text", [0.5]) if not self.allows(value)]


Constraints = Mapping[str, Constraint]


def check_all(record: Any, *, where: str = "") -> None:
    """Check the fields of a dataclass by its ``constraints``; None passes where it is the default."""
    for name, constraint in type(record).constraints.items():
        value = getattr(record, name)
        if not (value is None and getattr(type(record), name, "") is None):
            constraint.check(name, value, where=where)


def as_constraint(declared: Any) -> Constraint:
    """A constraint, also from a ``Literal``."""
    return declared if isinstance(declared, Constraint) else OneOf(get_args(declared))


def checked(owner: str = "", /, **declared: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Refuse arguments that break a declared constraint, before the function starts.

    Each is a constraint, or a ``Literal`` for one of its words. None passes where it is the default. ``owner`` comes
    first in messages. The declarations are in ``function.constraints``.

    >>> @checked("demo", seed=SEED)
    ... def draw(*, seed: int = 0) -> int:
    ...     return seed
    >>> draw(seed=-1)
    Traceback (most recent call last):
    adjudge.errors.ParameterError: demo: 'seed' must be a whole number of at least 0, a NumPy generator or None, got -1
    """
    where = f"{owner}: " if owner else ""
    constraints = {name: as_constraint(constraint) for name, constraint in declared.items()}

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        rules = _rules(function, constraints)

        @wraps(function)
        def check_first(*args: P.args, **kwargs: P.kwargs) -> R:
            for name, constraint, place, optional in rules:
                if name in kwargs:
                    value: object = kwargs[name]
                elif place < len(args):
                    value = args[place]
                else:
                    continue
                if not (constraint.allows(value) or (optional and value is None)):
                    constraint.check(name, value, where=where)
            return function(*args, **kwargs)

        check_first.constraints = constraints  # type: ignore[attr-defined]
        return check_first

    return decorate


def _rules(
    function: Callable[..., Any], constraints: Mapping[str, Constraint]
) -> list[tuple[str, Constraint, int, bool]]:
    """Each declared parameter with its constraint, its place among positional ones, and whether it may be None."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    positional = names[: code.co_argcount]
    given = function.__defaults__ or ()
    defaults = dict(zip(positional[len(positional) - len(given) :], given, strict=True))
    defaults |= function.__kwdefaults__ or {}
    if strange := constraints.keys() - set(names):
        raise TypeError(f"{function.__qualname__}: expected constraints of its parameters, got {sorted(strange)}")
    places = {name: positional.index(name) if name in positional else len(names) for name in constraints}
    return [(name, rule, places[name], defaults.get(name, "") is None) for name, rule in constraints.items()]


CONFIDENCE = Between(0, 1, meaning="level of the intervals", metavar="C")
ALPHA = Between(0, 1, meaning="level of significance", metavar="A")
HALF_ALPHA = Between(0, 0.5, meaning="level of significance", metavar="A")
TARGET = Between(0, 1, meaning="reliability to reach", metavar="R")
POWER = Between(0, 1, meaning="probability to detect a difference", metavar="P")
PROBABILITY = Between(0, 1, "both", meaning="probability", metavar="P")
SHARE = Between(0, 1, "both", meaning="share")
INNER_SHARE = Between(0, 1, meaning="share that is neither none nor all")
SOME_SHARE = Between(0, 1, "right", meaning="share that is not none")
SHARE_BELOW_ALL = Between(0, 1, "left", meaning="share that is not all")
FINITE = Between(-math.inf, meaning="finite number")
POSITIVE = Between(0, meaning="number above 0")
NOT_NEGATIVE = Between(0, closed="left", meaning="number from 0")
SEED = Seeding(0, meaning="seed of everything random")
COUNT = Whole(1, meaning="how many")
COUNT_OR_NONE = Whole(0, meaning="how many, perhaps none")
SEVERAL = Whole(2, meaning="how many, two or more")
RESAMPLES = Whole(100, 100_000_000, meaning="resamples")
RESAMPLES_OR_NONE = Whole(0, meaning="resamples of queries and participants, 0 for no intervals")
TRIALS = Whole(1, 10_000_000, meaning="how often queries are drawn")
BINS = Whole(1, meaning="bins of [0, 1]")
QUESTION_BINS = Whole(1, 100, meaning="bins of the difference")
FOLDS = Whole(2, meaning="parts held out in turn")
CUTOFF = Whole(1, meaning="documents of a ranking that count", metavar="K")
LIST_LENGTH = Whole(1, 50, meaning="documents in a list")
DIGITS = Whole(0, 15, meaning="decimals in tables")
WORKERS = Whole(1, meaning="processes")
PER_BIN = Whole(1, 100_000, meaning="questions wanted in a bin")
TRAPS = Whole(1, 1000, meaning="traps of each kind")
OPTIONS = Whole(2, 4, meaning="answers that a question offers")
ATTENTION = Between(0, 0.5, "both", meaning="least probability of being attentive", metavar="P")
LINKS = Whole(1, 10_000, meaning="links to make")
PORT = Whole(0, 65_535, meaning="port to listen at")
CLIP_LOUDNESS = Between(-40, -5, "both", meaning="loudness of clips", metavar="LUFS")
FIGURE_WIDTH = Between(1.5, 20, "both", meaning="width of figures in inches", metavar="INCHES")
CLIP_CEILING = Between(-20, 0, "both", meaning="highest true peak of clips", metavar="DBTP")

Unjudged = Literal["zero", "condensed", "bounds"]
Missing = Literal["zero", "drop", "error"]
Ties = Literal["trec", "expected"]
TieUnit = Literal["pairs", "lists"]
Precision = Literal["single", "double"]
Partial = Literal["drop", "keep"]
Combine = Literal["mean", "median", "min", "max"]
Names = Literal["tag", "file"]
Exclude = Literal["nothing", "query", "artist"]
Alternative = Literal["two-sided", "greater", "less"]
Interval = Literal["t", "percentile", "bca"]
Assessors = Literal["auto", "crossed", "nested"]
ReliabilityInterval = Literal["auto", "f", "bootstrap", "delta", "none"]
Resampled = Literal["both", "queries", "systems"]

DEFAULT_CONSTRUCTION = "Any-1"
"""How partially ordered lists are made by default: the most consistent way of Urbano et al. 2010."""
DEFAULT_LIST_ALPHA = 0.25
"""The significance level of partially ordered lists, as of the original ones of 2005."""
