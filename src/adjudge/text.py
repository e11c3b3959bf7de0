"""Sentences: numbers with what they count, lists of names, shares in per cent; how wide they are.

Nothing is imported here, so that errors can be worded with it.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Sequence

_PLURALS = {"person": "people"}
_EXACT = 6  # digits of per cent beyond which differences are rounding
_OF_BOUNDS = 3  # most digits for a bound next to 0 or 100, so that it does not blow up the others


def plural(noun: str) -> str:
    """The plural of a noun.

    >>> plural("query"), plural("person"), plural("bin")
    ('queries', 'people', 'bins')
    """
    return _PLURALS.get(noun) or (f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s")


def counted(n: int, noun: str) -> str:
    """A number and what it counts.

    >>> counted(1, "query"), counted(2200, "query"), counted(0, "person"), counted(2, "bin")
    ('1 query', '2,200 queries', '0 people', '2 bins')
    """
    return f"{n:,} {noun if n == 1 else plural(noun)}"


def with_article(noun: str) -> str:
    """A noun with its indefinite article.

    >>> with_article("query"), with_article("assessor")
    ('a query', 'an assessor')
    """
    return f"{'an' if noun[:1].lower() in tuple('aeiou') else 'a'} {noun}"


def number(value: float, digits: int = 2) -> str:
    """A number, or a dash where it is not known.

    >>> number(0.256), number(math.nan)
    ('0.26', '–')
    """
    return f"{value:.{digits}f}" if math.isfinite(value) else "–"


def with_interval(
    value: float, low: float, high: float, digits: int = 3, *, form: Callable[[float], str] | None = None
) -> str:
    """A value with its interval: ± half of it where it is symmetric, else its ends; alone without an interval.

    ``form`` formats a number where ``digits`` after the point do not say how.

    >>> with_interval(0.5, 0.4, 0.6), with_interval(0.5, 0.45, 0.6), with_interval(0.5, math.nan, math.nan)
    ('0.500 ± 0.100', '0.500 [0.450, 0.600]', '0.500')
    """
    shown = form or (lambda x: number(x, digits))
    if not (math.isfinite(low) and math.isfinite(high)):
        return shown(value)
    if abs((high - value) - (value - low)) <= 1e-9 * max(1.0, abs(value)):
        return f"{shown(value)} ± {shown((high - low) / 2).lstrip('+')}"
    return f"{shown(value)} [{shown(low)}, {shown(high)}]"


def percent(value: float, digits: int | None = None) -> str:
    """A level such as 0.95 in per cent, with as many digits as it has; other numbers with ``digits`` after the point.

    >>> percent(0.95), percent(0.999), percent(1 / 3, 0)
    ('95 %', '99.9 %', '33 %')
    """
    return f"{100 * value:{'.10g' if digits is None else f'.{digits}f'}} %"


def unbroken(text: str) -> str:
    r"""Text whose numbers stay beside their signs, by spaces at which no line ends.

    >>> unbroken("5 % of queries, p = 0.01, 0.5 ± 0.2")
    '5\xa0% of queries, p\xa0=\xa00.01, 0.5 ±\xa00.2'
    """
    return re.sub(r"(?<=\d) (?=%)|(?<=[=±≥≤<]) (?=[\d.])|(?<=[αp]) (?=[=<≤])", "\N{NO-BREAK SPACE}", text)


def shown_p(p: float) -> str:
    """A p-value to two significant digits.

    >>> shown_p(0.0213), shown_p(0.2), shown_p(0.00000002)
    ('0.021', '0.2', '< 1e-06')
    """
    return "< 1e-06" if p < 1e-6 else f"{p:.2g}"


def shown_probability(p: float) -> str:
    """A probability in per cent that resamples or draws estimate: these never show that it is 0 or 100.

    >>> shown_probability(0.256), shown_probability(1.0), shown_probability(0.0004)
    ('25.6 %', '> 99.9 %', '< 0.1 %')
    """
    return "< 0.1 %" if p < 0.001 else "> 99.9 %" if p > 0.999 else percent(p, 1)


def listed(names: Sequence[str], last: str = "and", *, most: int | None = None, more: str = "more") -> str:
    """Names in a sentence; of more than ``most``, the first ones and how many more there are.

    >>> listed(["t"]), listed(["t", "sign", "wilcoxon"]), listed("ab", "or"), listed("abcdef", most=2)
    ('t', 't, sign and wilcoxon', 'a or b', 'a, b and 4 more')
    """
    some = list(names[:most])
    if len(some) < len(names):
        some.append(f"{len(names) - len(some):,} {more}")
    return f" {last} ".join([", ".join(some[:-1]), some[-1]] if len(some) > 1 else some)


def share(value: float, digits: int = 1) -> str:
    """A share in per cent, with two significant digits below 1 % and above 99 %; – where it is not known.

    A share that is not exactly 0 or 1 never reads as 0 or 100.

    >>> share(0.0331), share(0.5, 0), share(0.0096), share(0.0002), share(0.9998), share(float("nan"))
    ('3.3 %', '50 %', '0.96 %', '0.020 %', '99.980 %', '–')
    >>> share(0.0), share(1.0, 0)
    ('0.0 %', '100 %')
    """
    return "–" if math.isnan(value) else percent(value, max(digits, _needed(value, 2)))


def share_with(value: float, low: float, high: float) -> str:
    """A share in per cent with its interval, all with the same number of digits.

    >>> share_with(0.0491, 0.046, 0.0522), share_with(0.0093, 0.0084, 0.0102), share_with(0.0, 0.0, 0.0037)
    ('4.9 % [4.6, 5.2]', '0.93 % [0.84, 1.02]', '0.00 % [0.00, 0.37]')
    >>> share_with(0.9998, 0.9981, 1.0), share_with(0.012, 0.0004, 0.05)
    ('99.980 % [99.810, 100.000]', '1.20 % [0.04, 5.00]')
    """
    if math.isnan(value):
        return "–"
    near, far = (low, high) if value < 0.5 else (high, low)  # as seen from the nearest end
    digits = max(1, _needed(value, 2), _needed(far, 2), min(_needed(near, 1), _OF_BOUNDS))
    return f"{percent(value, digits)} [{100 * low:.{digits}f}, {100 * high:.{digits}f}]"


def _needed(value: float, counting: int) -> int:
    """Digits after the point that show ``counting`` significant digits of the distance to the nearest end."""
    off = round(min(100 * value, 100 - 100 * value), _EXACT)
    return counting - 1 - math.floor(math.log10(off)) if 0 < off < 1 else 0


def text_width(text: str) -> int:
    r"""Columns of a terminal that a text takes: wide characters take two, combining ones none.

    >>> text_width("音楽"), text_width("e\u0301")
    (4, 1)
    """
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
