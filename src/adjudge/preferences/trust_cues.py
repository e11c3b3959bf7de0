"""Cues of attention: what the answers of one participant say about whether somebody listened.

Each cue compares two stories about the same counts: that of people who listen, and that of people who show the cue. A
share w of those who do not listen show it, the others look like people who listen, so that with BF the Bayes factor of
showing it against listening

    factor = P(counts | attentive) / P(counts | inattentive) = 1 / (1 - w + w BF).

A cue that does not show is weak evidence of attention, at most 1 / (1 - w); one that shows grows stronger with every
answer, down to its floor. Counts are modelled with Beta and Dirichlet distributions, so that people may differ.

Nothing here needs more than :mod:`math`: a server asks after every answer of one participant.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from adjudge.errors import AdjudgeError, shown
from adjudge.registry import Registry

Side = Literal["left", "right"]

FAST = 0.5  # of the sound that must be heard: an answer in less time is a fast one
_EXTREME, _MOST, _ENOUGH = 0.25, 0.9, 10  # nine in ten of ten or more answers in a quarter of the time
_FLOOR = 1e-3


@dataclass(frozen=True)
class AnswerFacts:
    """One answer, as far as it tells of attention. What is not known is None.

    =============== =======================================================================================
    is_trap         whether its right answer is known
    right           whether it was given; only for traps
    choice          ``a``, ``b``, ``good`` or ``bad``
    side            where the list that was preferred stood, ``left`` or ``right``; None without preference
    seconds         how long the answer took
    least_seconds   of sound that had to be heard for it
    identical_lists whether both lists were the same
    same            for a question asked again: whether the answer is the one of before
    chance          probability that somebody who guesses gets a trap right
    =============== =======================================================================================
    """

    is_trap: bool
    right: bool = False
    choice: str = "good"
    side: Side | None = None
    seconds: float | None = None
    least_seconds: float | None = None
    identical_lists: bool = False
    same: bool | None = None
    chance: float = 0.25

    def __post_init__(self) -> None:
        if self.choice not in ("a", "b", "good", "bad"):
            raise AdjudgeError(f"AnswerFacts: expected a choice among a, b, good, bad, got {shown(self.choice)}")
        if self.side not in (None, "left", "right"):
            raise AdjudgeError(f"AnswerFacts: expected side left, right or None, got {shown(self.side)}")
        if not 0 < self.chance <= 1:
            raise AdjudgeError(f"AnswerFacts: 'chance' must be in (0, 1], got {self.chance:g}")

    @property
    def prefers(self) -> bool:
        """Whether one list was preferred."""
        return self.choice in ("a", "b")


def side_of(choice: str, *, swapped: bool | None) -> Side | None:
    """Where the list that was preferred stood: list a on the left unless they were swapped; None where not known.

    >>> side_of("a", swapped=False), side_of("a", swapped=True), side_of("good", swapped=True)
    ('left', 'right', None)
    """
    if choice not in ("a", "b") or swapped is None:
        return None
    return "left" if (choice == "b") == swapped else "right"


def chance_of(expected: Collection[str], options: int = 4) -> float:
    """Probability that somebody who guesses gets a trap right: the share of the options that are right answers.

    Options are the two lists, then "both good" and "both bad"; with three there is one way to say neither. Where
    nothing is expected (no trap) it is that of one right answer.

    >>> chance_of({"good", "bad"}), chance_of({"a"}), chance_of({"a"}, options=2), chance_of(())
    (0.5, 0.25, 0.5, 0.25)
    """
    lists = len({"a", "b"}.intersection(expected))
    return max(lists + min(len(expected) - lists, options - 2), 1) / options


@dataclass(frozen=True)
class Cue:
    """What one cue says: ``count`` of ``n`` answers show it, and how much likelier that is of people who listen.

    ``factor`` is P(counts | attentive) / P(counts | inattentive); below 1 it speaks against attention. ``extreme`` is
    set where the cue would be enough by itself although it usually is not.
    """

    name: str
    about: str
    count: int
    n: int
    factor: float
    evidence: str
    extreme: bool = False

    def __str__(self) -> str:
        return f"{self.name}: {self.evidence} (×{self.factor:.3g})"


CueFunction = Callable[[Sequence[AnswerFacts], tuple[float, float, float]], Cue | None]
CUES: Registry[CueFunction] = Registry("cue of attention")


@CUES.register("time")
def time_cue(answers: Sequence[AnswerFacts], usual: tuple[float, float, float]) -> Cue | None:
    """Answers in less than half of the time that the sound lasts that had to be heard.

    Attentive Beta(1, 19), inattentive Beta(2, 2), w = 1/2. Clocks and players go wrong, so the factor stays above 1/10
    unless nine in ten of ten or more answers came within a quarter of the time.
    """
    timed = [(a.seconds, a.least_seconds) for a in answers if a.seconds is not None and a.least_seconds]
    known = [(seconds, least) for seconds, least in timed if not math.isnan(seconds)]
    if not known:
        return None
    n, fast = len(known), sum(seconds < FAST * least for seconds, least in known)
    at_once = sum(seconds < _EXTREME * least for seconds, least in known)
    extreme = n >= _ENOUGH and at_once >= _MOST * n
    bayes = sequence(fast, n, 2, 2) - sequence(fast, n, 1, 19)
    factor = _factor(bayes, 0.5, floor=_FLOOR if extreme else 0.1)
    evidence = f"{fast} of {n} answers in less than half the time the sound takes"
    return Cue("time", "answers faster than the sound can be heard", fast, n, factor, evidence, extreme)


@CUES.register("side")
def side_cue(answers: Sequence[AnswerFacts], usual: tuple[float, float, float]) -> Cue | None:
    """Preferences for one side of the screen, or for each in turn; sides are drawn at random.

    Attentive: left with probability Beta(20, 20), a small bias being human. Inattentive: left with Beta(1/2, 1/2), or
    changing sides with Beta(1/2, 1/2), as likely; w = 1/3.
    """
    sides = [a.side for a in answers if a.side is not None]
    n = len(sides)
    if n < 2:
        return None
    left, changes = sides.count("left"), sum(one != other for one, other in itertools.pairwise(sides))
    attentive = sequence(left, n, 20, 20)
    shown_ = _log_mean(sequence(left, n, 0.5, 0.5), math.log(0.5) + sequence(changes, n - 1, 0.5, 0.5))
    most, often = ("left", left) if left >= n - left else ("right", n - left)
    evidence = f"{most} in {often} of {n} preferences, at most {_longest(sides)} in a row, {changes} changes of side"
    about = "the same side again and again, or the sides in turn"
    return Cue("side", about, often, n, _factor(shown_ - attentive, 1 / 3), evidence)


@CUES.register("choice")
def choice_cue(answers: Sequence[AnswerFacts], usual: tuple[float, float, float]) -> Cue | None:
    """Always "both good", or always "both bad". Traps do not count here, and always to prefer one is no sign.

    Of preferences, good and bad: attentive Dirichlet(5 × ``usual``), inattentive Dirichlet(0.2, 4, 0.2) or
    Dirichlet(0.2, 0.2, 4), as likely; w = 1/4.
    """
    counted = Counter("prefers" if a.prefers else a.choice for a in answers if not a.is_trap)
    counts = [counted["prefers"], counted["good"], counted["bad"]]
    n = sum(counts)
    if not n:
        return None
    attentive = _categories(counts, [5 * share for share in usual])
    shown_ = _log_mean(_categories(counts, [0.2, 4, 0.2]), _categories(counts, [0.2, 0.2, 4]))
    most, word = max((counts[1], "good"), (counts[2], "bad"))
    evidence = f"both {word} in {most} of {n} answers"
    return Cue("choice", "the same answer every time", most, n, _factor(shown_ - attentive, 0.25), evidence)


@CUES.register("identical")
def identical_cue(answers: Sequence[AnswerFacts], usual: tuple[float, float, float]) -> Cue | None:
    """A preference between two lists that are the same. Attentive Beta(1, 12), inattentive Beta(2, 2), w = 3/4."""
    asked = [a for a in answers if a.identical_lists and not a.is_trap]
    n, preferred = len(asked), sum(a.prefers for a in asked)
    if not n:
        return None
    factor = _factor(sequence(preferred, n, 2, 2) - sequence(preferred, n, 1, 12), 0.75)
    evidence = f"a preference in {preferred} of {n} questions with the same list twice"
    return Cue("identical", "a preference between identical lists", preferred, n, factor, evidence)


@CUES.register("repeats")
def repeats_cue(answers: Sequence[AnswerFacts], usual: tuple[float, float, float]) -> Cue | None:
    """The same question answered otherwise. Attentive Beta(3, 7), inattentive Beta(6, 2), w = 3/5."""
    asked = [a.same for a in answers if a.same is not None and not a.is_trap]
    n, otherwise = len(asked), sum(not same for same in asked)
    if not n:
        return None
    factor = _factor(sequence(otherwise, n, 6, 2) - sequence(otherwise, n, 3, 7), 0.6)
    evidence = f"another answer in {otherwise} of {n} questions asked again"
    return Cue("repeats", "questions answered otherwise the second time", otherwise, n, factor, evidence)


def sequence(hits: int, n: int, a: float, b: float) -> float:
    """Log-probability of one sequence with so many hits, each with the same probability drawn from Beta(a, b).

    >>> round(math.exp(sequence(1, 1, 9, 1)), 12)
    0.9
    """
    return log_beta(a + hits, b + n - hits) - log_beta(a, b)


def log_beta(a: float, b: float) -> float:
    """Logarithm of the beta function."""
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def _categories(counts: Sequence[int], weights: Sequence[float]) -> float:
    """Log-probability of one sequence of categories whose shares are drawn from a Dirichlet distribution."""
    total = sum(weights)
    each = sum(math.lgamma(w + k) - math.lgamma(w) for w, k in zip(weights, counts, strict=True))
    return math.lgamma(total) - math.lgamma(total + sum(counts)) + each


def _log_mean(one: float, other: float) -> float:
    top = max(one, other)
    return top + math.log((math.exp(one - top) + math.exp(other - top)) / 2)


def _factor(log_bayes: float, share: float, floor: float = _FLOOR) -> float:
    """The likelihood ratio of attention, from the Bayes factor of showing the cue; see the module."""
    return max(floor, 1 / (1 - share + share * math.exp(min(log_bayes, 700.0))))


def _longest(sides: Sequence[str]) -> int:
    longest = run = 1
    for one, other in itertools.pairwise(sides):
        run = run + 1 if one == other else 1
        longest = max(longest, run)
    return longest
