"""A published number beside ours, what ours may be, and the verdict.

Figures of the papers as numbers, before they have a look; the reports draw them.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["exact", "found by search", "within tolerance", "differs", "fails"]
Cause = Literal["data", "model", "reading", "slip", "rounding", "draws", "ties", "unknown"]
CAUSES: dict[Cause, str] = {
    "data": "other data: those of the paper are not public",
    "model": "other models: the parameters of the paper's are not printed",
    "reading": "the paper read it off a plot, or says about",
    "slip": "a slip in the paper: its own numbers say otherwise",
    "rounding": "rounding of what the paper goes on with",
    "draws": "chance: what is drawn at random",
    "ties": "chance: the order of documents that tie",
    "unknown": "nobody knows",
}
"""What a number may differ by, in a word, and what the word means; the first two only the authors could mend."""
DIFFERING: dict[Cause, str] = {
    "data": "for data that are not public",
    "model": "for models that are not printed",
    "reading": "read off a plot",
    "slip": "where the paper slipped",
    "rounding": "by rounding",
    "draws": "by chance",
    "ties": "by the order of ties",
    "unknown": "for a cause that is not known",
}
"""The same after a number of numbers: 190 of them differ *for data that are not public*."""
Basis = Literal["print", "independent", "rounding", "reading", "chance", "range"]
BASES: dict[Basis, str] = {
    "print": "the printed number, to its last digit",
    "independent": "another computation from the same data, to its last digit",
    "rounding": "the most that rounding of printed numbers can do",
    "reading": "one step of what the paper reads or rounds to",
    "chance": "Monte-Carlo error, three standard errors of both computations",
    "range": "the range over resamples of trials or orders of ties of another computation",
}
"""Where a bound comes from, in a word, and what the word means. None of them is our own number."""
ANOTHER = "another implementation"
"""Source of numbers that are in no paper: somebody else computed them from the same data."""
SECOND = "computed a second time from the papers' formulas, with NumPy and SciPy alone (scripts/independent_papers.py)"
"""Where independent values come from that are not those of another implementation."""
_NUMBER = re.compile(r"(?P<sign>[-−]?)(?P<whole>[\d,]*)(?:\.(?P<digits>\d+))?(?P<percent> ?%)?")
_ROUNDING = 1e-9  # of floating point, as a part of a bound's width


@dataclass(frozen=True)
class Reason:
    """Why a number is not the same to every digit: the cause in a word, to count by, and the whole of it."""

    cause: Cause
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Bound:
    """What a number may be, both ends included, and where that comes from; ``written`` if a number stands for both.

    >>> bound = Bound(0.9, 0.935, "range", "what others saw")
    >>> bound.holds(0.92), bound.holds(0.89), bound.holds(float("nan"))
    (True, False, False)
    """

    low: float
    high: float
    basis: Basis
    because: str
    written: str = ""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low <= self.high and self.because):
            raise ValueError(f"expected a finite bound that says where it comes from, got {self!r}")

    @property
    def width(self) -> float:
        """From end to end."""
        return self.high - self.low

    def holds(self, value: float) -> bool:
        """Whether the value is inside."""
        slack = _ROUNDING * self.width + 1e-14 * abs(self.high)
        return self.low - slack <= value <= self.high + slack

    def __str__(self) -> str:
        """As a number that stands for all that round to it, or as both ends."""
        ends = [f"{end:.4g}" for end in (self.low, self.high)]
        return self.written or (ends[0] if ends[0] == ends[1] else " to ".join(ends))


def as_printed(published: str) -> Bound:
    """Exactly the printed number, to its last digit."""
    return Bound(*_rounding(published), "print", BASES["print"], published)


def independent(value: str, because: str = SECOND) -> Bound:
    """What another computation gives for the same number from the same data, to the digits written here."""
    return Bound(*_rounding(value), "independent", because, value)


def near(published: str, tolerance: float, basis: Basis, because: str) -> Bound:
    """Around the published number."""
    value = printed_value(published)
    return Bound(value - tolerance, value + tolerance, basis, because)


def by_chance(mean: float, sd: float, trials: int, *, of: int, least: float = 0.0, because: str = SECOND) -> Bound:
    """Around a mean over ``of`` trials of another computation, when ours has ``trials``; ``sd`` is that of one trial.

    Three standard errors of both, and no less than ``least``: what rounding, or counts of 0, hide.
    """
    apart = max(3 * sd * math.sqrt(1 / trials + 1 / of), least)
    return Bound(mean - apart, mean + apart, "chance", f"{because}; three standard errors of {of} and {trials} trials")


def between(low: float, high: float, because: str) -> Bound:
    """A range over resamples of trials or orders of ties."""
    return Bound(low, high, "range", because)


@dataclass(frozen=True)
class Claim:
    """One number of a paper, as printed, and what comes out here.

    ``published`` is the number as the paper prints it (``.9838``, ``32``, ``6.2 %``): it says how many digits count.
    ``bound`` is what our number may be, whatever the paper has. *Fails*: it is outside. *Exact*: our number, rounded to
    as many digits, is the printed one; *found by search* where it was picked, among as many as ``searched`` says, for
    being nearest to what is printed. *Within tolerance*: it is not, but is at most ``tolerance`` away from it.
    *Differs*: anything else. ``why`` says for what reason a number may differ; it is needed where the bound has room
    for numbers that are not the printed one.
    """

    source: str
    what: str
    published: str
    ours: float
    bound: Bound
    why: Reason | None = None
    tolerance: float = 0.0
    searched: str = ""

    def __post_init__(self) -> None:
        printed = as_printed(self.published)
        if self.tolerance < 0 or (self.tolerance > 0 and not self.why):
            raise ValueError(f"{self.source}, {self.what}: a tolerance is positive and has a reason")
        middle, wider = (self.bound.low + self.bound.high) / 2, self.bound.width > (1 + _ROUNDING) * printed.width
        if self.why is None and (wider or not printed.holds(middle)):
            raise ValueError(f"{self.source}, {self.what}: a bound that reaches beyond the printed number has a reason")

    @classmethod
    def printed(cls, source: str, what: str, published: str, ours: float) -> Claim:
        """A number that must come out as it is printed."""
        return cls(source, what, published, ours, as_printed(published))

    @classmethod
    def around(
        cls, source: str, what: str, published: str, ours: float, tolerance: float, *, basis: Basis, why: Reason
    ) -> Claim:
        """A number that must be as near to the published one as the reason allows."""
        return cls(source, what, published, ours, near(published, tolerance, basis, why.text), why, tolerance)

    @property
    def shown(self) -> str:
        """Our number with as many digits as the published one has."""
        return rounded_like(self.ours, self.published)

    @property
    def verdict(self) -> Verdict:
        """How our number stands to its bound, then to the published one."""
        if not self.bound.holds(self.ours):
            return "fails"
        if self.shown == normalised(self.published):
            return "found by search" if self.searched else "exact"
        return "within tolerance" if abs(self.ours - printed_value(self.published)) <= self.tolerance else "differs"

    @property
    def reason(self) -> Reason | None:
        """Why it is not the same to every digit; None where it is, and where it fails, which no reason excuses."""
        return self.why if self.verdict in ("within tolerance", "differs") else None


def _rounding(printed: str) -> tuple[float, float]:
    """All numbers that are printed so: half of the last digit below and above."""
    found = _parsed(printed)
    half = 0.5 * 10.0 ** -(len(found["digits"] or "") + (2 if found["percent"] else 0))
    return printed_value(printed) - half, printed_value(printed) + half


def printed_value(text: str) -> float:
    """The value of a number as papers print it.

    >>> printed_value(".9838"), printed_value("6.2 %"), printed_value("1,316")
    (0.9838, 0.062, 1316.0)
    """
    found = _parsed(text)
    value = float(f"{found['sign'].replace('−', '-')}{(found['whole'] or '0').replace(',', '')}.{found['digits'] or 0}")
    return round(value / 100, len(found["digits"] or "") + 2) if found["percent"] else value


def rounded_like(value: float, printed: str) -> str:
    """A value with the digits and the look of a printed number.

    >>> rounded_like(0.98384, ".9838"), rounded_like(0.0617, "6.2 %"), rounded_like(1316, "1,316")
    ('.9838', '6.2 %', '1,316')
    """
    found = _parsed(printed)
    if not math.isfinite(value):
        return str(value)
    digits = len(found["digits"] or "")
    text = f"{100 * value if found['percent'] else value:,.{digits}f}"
    return normalised(text + (" %" if found["percent"] else ""))


def normalised(text: str) -> str:
    """A printed number without the 0 before its point, in groups of three, with a plain minus and a space before %.

    >>> normalised("−0.00"), normalised("12345.6"), normalised("0.31%"), normalised("0")
    ('.00', '12,345.6', '.31 %', '0')
    """
    found = _parsed(text)
    whole, digits = int((found["whole"] or "0").replace(",", "")), found["digits"]
    sign = "-" if found["sign"] and (whole or int(digits or 0)) else ""  # nothing is less than nothing
    before = f"{whole:,}" if whole or digits is None else ""
    return f"{sign}{before}{'' if digits is None else f'.{digits}'}{' %' if found['percent'] else ''}"


def _parsed(text: str) -> re.Match[str]:
    found = _NUMBER.fullmatch(text.strip())
    if found is None or not (found["whole"] or found["digits"]):
        raise ValueError(f"expected a number as papers print them, got {text!r}")
    return found


Numbers = tuple[float, ...]


@dataclass(frozen=True)
class Series:
    """One curve, perhaps with a band from ``low`` to ``high``; points that are not ``joined`` have no line."""

    label: str
    x: Numbers
    y: Numbers
    low: Numbers = ()
    high: Numbers = ()
    joined: bool = True


@dataclass(frozen=True)
class Panel:
    """Curves on the same axes; ``levels`` are horizontal lines to compare with, ``diagonal`` is the line y = x."""

    title: str
    series: tuple[Series, ...]
    levels: Numbers = ()
    diagonal: bool = False


@dataclass(frozen=True)
class Plot:
    """A figure of a paper, reproduced: a name for its file, which figure it is, and words for who cannot see it."""

    name: str
    source: str
    caption: str
    alt: str
    x_label: str
    y_label: str
    panels: tuple[Panel, ...]
    columns: int = 2
    log_x: bool = False
    log_y: bool = False
