"""A published number beside ours, and the verdict."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["exact", "within tolerance", "differs"]
Cause = Literal["data", "model", "reading", "slip", "rounding", "draws", "ties"]
CAUSES: dict[Cause, str] = {
    "data": "other data: those of the paper are not public",
    "model": "other models: the parameters of the paper's are not printed",
    "reading": "the paper read it off a plot, or says about",
    "slip": "a slip in the paper: its own numbers say otherwise",
    "rounding": "rounding of what the paper goes on with",
    "draws": "chance: what is drawn at random",
    "ties": "chance: the order of documents that tie",
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
}
"""The same after a number of numbers: 190 of them differ *for data that are not public*."""
ANOTHER = "another implementation"
"""Source of numbers that are in no paper: somebody else computed them from the same data."""
_NUMBER = re.compile(r"(?P<sign>[-−]?)(?P<whole>[\d,]*)(?:\.(?P<digits>\d+))?(?P<percent> ?%)?")


@dataclass(frozen=True)
class Reason:
    """Why a number is not the same to every digit: the cause in a word, to count by, and the whole of it."""

    cause: Cause
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Claim:
    """One number of a paper, as printed, and what comes out here.

    ``published`` is the number as the paper prints it (``.9838``, ``32``, ``6.2 %``): it says how many digits count.
    *Exact*: our number, rounded to as many digits, is the printed one. *Within tolerance*: it is not, but is at most
    ``tolerance`` away from it, which ``why`` must justify (the error of a Monte-Carlo estimate, inputs printed with
    few digits). *Differs*: anything else; ``why`` says for what reason, where it is known. ``independent`` is what
    another implementation got from the same data, as printed, where there is one; its numbers that are in no paper
    are claims of their own, with ``ANOTHER`` for their source.
    """

    source: str
    what: str
    published: str
    ours: float
    tolerance: float = 0.0
    why: Reason | None = None
    independent: str = ""

    def __post_init__(self) -> None:
        printed_value(self.published)
        if self.tolerance < 0 or (self.tolerance > 0 and not self.why):
            raise ValueError(f"{self.source}, {self.what}: a tolerance is positive and has a reason")

    @property
    def shown(self) -> str:
        """Our number with as many digits as the published one has."""
        return rounded_like(self.ours, self.published)

    @property
    def verdict(self) -> Verdict:
        """How our number stands to the published one."""
        if self.shown == normalised(self.published):
            return "exact"
        return "within tolerance" if abs(self.ours - printed_value(self.published)) <= self.tolerance else "differs"

    @property
    def reason(self) -> Reason | None:
        """Why it is not the same to every digit; None where it is, or where nobody knows."""
        return None if self.verdict == "exact" else self.why

    @property
    def is_explained(self) -> bool:
        """Whether nothing is left to ask: it agrees, or it is known why not."""
        return self.verdict != "differs" or self.why is not None

    @property
    def agrees_with_independent(self) -> bool | None:
        """Whether an independent implementation got the same digits; None where there is none."""
        return rounded_like(self.ours, self.independent) == normalised(self.independent) if self.independent else None


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
    """A printed number without the 0 before its point, in groups of three, with a plain minus and a blank before %.

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
