"""Trust: whether a participant listened, from questions with known answers and from how the others were answered.

The study of 2012 trusted the share of traps answered right (:func:`trap_trust`). That share says little after three
traps and ignores everything else, so :func:`assess` also gives P(attentive). It compares two classes of people, those
who listen and those who do not, by the traps and by cues such as answers faster than the sound, or always the same
side:

    odds(attentive) = careful / (1 - careful) × P(traps | attentive) / P(traps | inattentive) × factors of the cues

These are a few sums over one participant's answers, with :mod:`math` alone: a server computes them after every answer.

*Traps*: a participant knows the answer to a share θ of the traps and guesses at the others, so a trap which a guess
gets right with probability c is answered right with probability c + (1 - c) θ. θ is drawn from Beta(9, 1) for people
who listen and from Beta(1, 2) for those who do not: most of these know few answers, some listen now and then. c is the
share of the options that are right: 1/4 for one of four, 1/2 for one of two. With two options guessing gets 8 of 15
right, and P(attentive) is 0.02; with four options it is 0.12.

*Cues*: each compares two explanations of the same counts, people who listen and people who show the cue. A share w of
those who do not listen show it, the others look like people who listen. With BF the Bayes factor of showing it against
listening,

    factor = P(counts | attentive) / P(counts | inattentive) = 1 / (1 - w + w BF).

A cue that does not show is weak evidence of attention, at most 1 / (1 - w); one that shows grows stronger with every
answer, down to its floor. Counts are modelled with Beta and Dirichlet distributions, so that people may differ.

:func:`~adjudge.preferences.simulated.operating` simulates what rules do; the guide to participants has the numbers of
the default rules. Without any trap the cues alone catch everybody who always chooses one side, the sides in turn or
"both good", after 16 to 18 answers, and four in five of those who guess at once. They stop none of 3,000 who listen,
and miss people who guess with patience: only traps find them.

Trust is about attention on these questions. It does not say that somebody's taste is good or common, and answers of
people who are not trusted are set aside, never deleted.

Le et al., Ensuring quality in crowdsourced search relevance evaluation, SIGIR workshop on crowdsourcing, 2010.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from adjudge.checks import (
    ATTENTION,
    COUNT,
    COUNT_OR_NONE,
    INNER_SHARE,
    OPTIONS,
    SHARE,
    SOME_SHARE,
    Constraints,
    check_all,
)
from adjudge.errors import AdjudgeError, shown
from adjudge.registry import Registry

if TYPE_CHECKING:
    from adjudge.preferences.study import Study


Side = Literal["left", "right"]

FAST = 0.5  # of the sound that must be heard: an answer in less time is a fast one
_EXTREME, _MOST, _ENOUGH = 0.25, 0.9, 10  # nine in ten of ten or more answers in a quarter of the time
_FLOOR = 1e-3


@dataclass(frozen=True)
class AnswerFacts:
    """What one answer says about attention; None where unknown.

    =============== =======================================================================================
    is_trap         whether its right answer is known
    right           whether it was given; only for traps
    choice          ``a``, ``b``, ``good`` or ``bad``
    side            where the list that was preferred stood, ``left`` or ``right``; None without preference
    seconds         how long the answer took
    least_seconds   of sound that had to be heard for it
    identical_lists whether both lists were the same
    same            for a question asked again: whether the answer is the same as before
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
        SOME_SHARE.check("chance", self.chance, where="AnswerFacts: ")

    @property
    def prefers(self) -> bool:
        """Whether one list was preferred."""
        return self.choice in ("a", "b")


def side_of(choice: str, *, swapped: bool | None) -> Side | None:
    """Side of the list that was preferred: list a is on the left unless they were swapped; None where unknown.

    >>> side_of("a", swapped=False), side_of("a", swapped=True), side_of("good", swapped=True)
    ('left', 'right', None)
    """
    if choice not in ("a", "b") or swapped is None:
        return None
    return "left" if (choice == "b") == swapped else "right"


def chance_of(expected: Collection[str], options: int = 4) -> float:
    """Probability that somebody who guesses gets a trap right: the share of the options that are right answers.

    Options are the two lists, then "both good" and "both bad"; with three there is one way to prefer neither. Where
    nothing is expected (no trap) one answer counts as right.

    >>> chance_of({"good", "bad"}), chance_of({"a"}), chance_of({"a"}, options=2), chance_of(())
    (0.5, 0.25, 0.5, 0.25)
    """
    lists = len({"a", "b"}.intersection(expected))
    return max(lists + min(len(expected) - lists, options - 2), 1) / options


@dataclass(frozen=True)
class Cue:
    """What one cue says: ``count`` of ``n`` answers show it.

    ``factor`` is P(counts | attentive) / P(counts | inattentive); below 1 it speaks against attention. ``extreme``
    cues are enough by themselves, although the cue usually is not.
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
    """Answers in less than half the length of the sound that had to be heard.

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
    runs = [len(list(run)) for _, run in itertools.groupby(sides)]
    left, changes = sides.count("left"), len(runs) - 1
    attentive = sequence(left, n, 20, 20)
    shown_ = _log_mean(sequence(left, n, 0.5, 0.5), math.log(0.5) + sequence(changes, n - 1, 0.5, 0.5))
    most, often = ("left", left) if left >= n - left else ("right", n - left)
    evidence = f"{most} in {often} of {n} preferences, at most {max(runs)} in a row, {changes} changes of side"
    about = "the same side again and again, or the sides in turn"
    return Cue("side", about, often, n, _factor(shown_ - attentive, 1 / 3), evidence)


@CUES.register("choice")
def choice_cue(answers: Sequence[AnswerFacts], usual: tuple[float, float, float]) -> Cue | None:
    """Always "both good", or always "both bad". Traps do not count here; always preferring a list is no cue.

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
    """Another answer to the same question. Attentive Beta(3, 7), inattentive Beta(6, 2), w = 3/5."""
    asked = [a.same for a in answers if a.same is not None and not a.is_trap]
    n, otherwise = len(asked), sum(not same for same in asked)
    if not n:
        return None
    factor = _factor(sequence(otherwise, n, 6, 2) - sequence(otherwise, n, 3, 7), 0.6)
    evidence = f"another answer in {otherwise} of {n} questions asked again"
    return Cue("repeats", "another answer to the same question the second time", otherwise, n, factor, evidence)


def sequence(hits: int, n: int, a: float, b: float) -> float:
    """Log-probability of one sequence of n with this many hits, each with the same probability drawn from Beta(a, b).

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


Verdict = Literal["fine", "failed quiz", "failed traps", "inattentive"]

_CAREFUL = (9.0, 1.0)  # Beta of the share of traps whose answer people know who listen
_CARELESS = (1.0, 2.0)  # the same of those who do not
_ROUNDING = 1e-9


@dataclass(frozen=True)
class TrustRules:
    """When a participant is no longer trusted.

    - ``quiz`` traps come first; participants who answer less than ``quiz_bar`` of them right are screened out. 0: no
      quiz.
    - After ``least`` traps or more, those of the quiz included, less than ``bar`` of them right is not enough.
    - After ``answers`` answers or more, P(attentive) below ``attention`` is not enough; 0 switches this rule off.
    - ``careful`` is the share of people assumed to listen before they answer anything; ``usual`` the shares of
      preferences, "both good" and "both bad" that people who listen give to such questions.
    - ``options`` is the number of answers that a question offers: 4, 3 with one way to prefer neither list, or 2; None
      for as many as a study shows (4 where there is none).

    >>> TrustRules(bar=70)
    Traceback (most recent call last):
    adjudge.errors.ParameterError: TrustRules: 'bar' must be in [0, 1], got 70
    """

    constraints: ClassVar[Constraints] = {
        "quiz": COUNT_OR_NONE,
        "quiz_bar": SHARE,
        "bar": SHARE,
        "least": COUNT,
        "attention": ATTENTION,
        "answers": COUNT,
        "careful": INNER_SHARE,
        "options": OPTIONS,
    }

    quiz: int = 5
    quiz_bar: float = 0.6
    bar: float = 0.6
    least: int = 8
    attention: float = 0.02
    answers: int = 12
    careful: float = 0.8
    usual: tuple[float, float, float] = (0.6, 0.2, 0.2)
    options: int | None = None

    @classmethod
    def parse(cls, text: str) -> TrustRules:
        """Rules as they print: names and values, of which any may be left out.

        >>> TrustRules.parse("quiz=3 bar=0.7").bar
        0.7
        >>> TrustRules.parse(str(TrustRules(options=2))) == TrustRules(options=2)
        True
        """
        known = {field.name: field.type for field in fields(cls)}
        given: dict[str, Any] = {}
        for part in text.split():
            name, _, value = part.partition("=")
            if name not in known:
                raise AdjudgeError(f"TrustRules: expected rules among {', '.join(known)}, got {shown(part)}")
            try:
                numbers = tuple(float(number) for number in value.split("|"))
            except ValueError:
                raise AdjudgeError(f"TrustRules: expected a number in {name!r}, got {shown(value)}") from None
            is_whole = str(known[name]).startswith("int")
            given[name] = numbers if name == "usual" else int(numbers[0]) if is_whole else numbers[0]
        return cls(**given)

    def __str__(self) -> str:
        given = {name: value for name, value in asdict(self).items() if value is not None}
        cells = {name: value if isinstance(value, tuple) else (value,) for name, value in given.items()}
        return " ".join(f"{name}={'|'.join(f'{number:g}' for number in numbers)}" for name, numbers in cells.items())

    def __post_init__(self) -> None:
        check_all(self, where="TrustRules: ")
        if len(self.usual) != 3 or min(self.usual) <= 0 or not math.isclose(sum(self.usual), 1):
            raise AdjudgeError(f"TrustRules: 'usual' must be three shares above 0 that add up to 1, got {self.usual}")


@dataclass(frozen=True)
class Trust:
    """What is known of one participant's attention.

    ``traps`` says whether each trap was answered right, in the order asked; the first ``quiz`` of them are the quiz.
    ``probability`` is P(attentive).
    """

    traps: tuple[bool, ...]
    n_answers: int
    probability: float
    cues: tuple[Cue, ...]
    verdict: Verdict = "fine"
    quiz: int = 0

    @property
    def traps_right(self) -> int:
        """Traps answered right."""
        return sum(self.traps)

    @property
    def traps_asked(self) -> int:
        """Traps answered."""
        return len(self.traps)

    @property
    def share(self) -> float:
        """Share of the traps answered right, 1 where none were asked: the trust of the 2012 study."""
        return trap_trust(self.traps_right, self.traps_asked)

    @property
    def reason(self) -> str:
        """Why the verdict is what it is; empty where it is fine."""
        if self.verdict == "fine":
            return ""
        if self.verdict == "inattentive":
            worst = min(self.cues, key=lambda cue: cue.factor, default=None)
            evidence = f": {worst.evidence}" if worst is not None and worst.factor < 1 else ""
            return f"P(attentive) {self.probability:.3f}{evidence}"
        if self.verdict == "failed quiz":
            return f"{sum(self.traps[: self.quiz])} of the first {self.quiz} traps right"
        return f"{self.traps_right} of {self.traps_asked} traps right"

    def __str__(self) -> str:
        traps = f"{self.traps_right} of {self.traps_asked} traps right"
        head = f"{self.verdict}: {traps}, P(attentive) {self.probability:.3f}"
        return "\n".join([head, *(f"  {cue}" for cue in self.cues)])


def trap_trust(right: int, asked: int) -> float:
    """Share of the traps that were answered right; 1 where none were asked, as the study of 2012 recorded it.

    >>> trap_trust(9, 10), trap_trust(0, 0)
    (0.9, 1.0)
    """
    if not 0 <= right <= asked:
        raise AdjudgeError(f"expected between 0 and {asked} traps answered right, got {right}")
    return right / asked if asked else 1.0


def assess(answers: Sequence[AnswerFacts], rules: TrustRules | None = None) -> Trust:
    """Trust in one participant, from their answers in the order in which they came.

    Without answers P(attentive) is ``rules.careful`` and the verdict is fine.

    >>> left = [AnswerFacts(False, choice="a", side="left") for _ in range(20)]
    >>> wrong = [AnswerFacts(True, right=False, choice="a", side="left") for _ in range(3)]
    >>> print(assess([*wrong, *left]))
    inattentive: 0 of 3 traps right, P(attentive) 0.000
      side: left in 23 of 23 preferences, at most 23 in a row, 0 changes of side (×0.001)
      choice: both good in 0 of 20 answers (×1.33)
    """
    rules = rules or TrustRules()
    traps = tuple(answer.right for answer in answers if answer.is_trap)
    cues = tuple(cue for make in CUES.values() if (cue := make(answers, rules.usual)) is not None)
    chances = [answer.chance for answer in answers if answer.is_trap]
    odds = math.log(rules.careful / (1 - rules.careful)) + _trap_evidence(traps, chances)
    odds += sum(math.log(cue.factor) for cue in cues)
    probability = 1 / (1 + math.exp(-min(max(odds, -700.0), 700.0)))
    trust = Trust(traps, len(answers), probability, cues, quiz=rules.quiz)
    return replace(trust, verdict=verdict_on(trust, rules))


def _trap_evidence(traps: Sequence[bool], chances: Sequence[float]) -> float:
    """Log of P(traps | attentive) / P(traps | inattentive).

    Of one class it is E[Π (c + (1 - c) θ) over the right ones × Π (1 - c) (1 - θ) over the wrong ones], θ ~ Beta(a, b).
    The first product is a polynomial Σ w_k θ^k, so this is Σ w_k B(a + k, b + wrong) / B(a, b), times factors that
    both classes share.
    """
    weights = [1.0]
    for chance in (min(max(c, 0.05), 0.95) for c, right in zip(chances, traps, strict=True) if right):
        weights = [
            chance * low + (1 - chance) * high for low, high in zip([*weights, 0.0], [0.0, *weights], strict=True)
        ]
    wrong = len(traps) - sum(traps)

    def log_mean(a: float, b: float) -> float:
        logs = [math.log(w) + log_beta(a + k, b + wrong) for k, w in enumerate(weights) if w > 0]
        return max(logs) + math.log(sum(math.exp(log - max(logs)) for log in logs)) - log_beta(a, b)

    return log_mean(*_CAREFUL) - log_mean(*_CARELESS)


def verdict_on(trust: Trust, rules: TrustRules) -> Verdict:
    """The verdict on a participant: quiz first, then all traps, then attention.

    Nobody is inattentive by the time of answers alone, unless it is extreme (see :func:`time_cue`): without it,
    attention must be less likely than not.
    """
    quiz = trust.traps[: rules.quiz]
    if rules.quiz and len(quiz) == rules.quiz and sum(quiz) < rules.quiz_bar * rules.quiz - _ROUNDING:
        return "failed quiz"
    if trust.traps_asked >= rules.least and trust.share < rules.bar - _ROUNDING:
        return "failed traps"
    if trust.n_answers < rules.answers or trust.probability >= rules.attention:
        return "fine"
    time = next((cue.factor for cue in trust.cues if cue.name == "time" and not cue.extreme), 1.0)
    return "fine" if trust.probability / (1 - trust.probability) / time > 1 else "inattentive"


def must_stop(trust: Trust, rules: TrustRules | None = None) -> bool:
    """Whether a participant should be stopped, kindly, and their answers set aside."""
    return verdict_on(trust, rules or TrustRules()) != "fine"


def assess_all(
    study: Study, rules: TrustRules | None = None, *, least_seconds: float | Mapping[str, float] | None = None
) -> tuple[Trust, ...]:
    """Trust in every participant of a study, in the order of ``study.participants``; answers set aside count.

    ``rules`` default to those of the campaign that the study comes from. ``least_seconds`` of sound had to be heard for
    an answer, the same for all or by the name of the question, by default as the study says; without it the time of
    answers is ignored, as are sides and times that the study does not know.
    """
    rules = rules or study.rules or TrustRules()
    facts = answer_facts(study, least_seconds=least_seconds, options=rules.options)
    return tuple(assess(answers, rules) for answers in facts)


def set_aside(study: Study, trusts: Sequence[Trust]) -> Study:
    """The study with the answers of participants who do not pass set aside, for the reason that their trust gives.

    Answers that are set aside already stay so, with their reason.
    """
    import numpy as np

    if len(trusts) != len(study.participants):
        raise AdjudgeError(f"expected trust in each of {len(study.participants)} participants, got {len(trusts)}")
    bad = np.array([trust.verdict != "fine" for trust in trusts], dtype=np.bool_)
    before = study.reasons or ("",) * len(trusts)
    found = [f"{trust.verdict}: {trust.reason}" if trust.verdict != "fine" else "" for trust in trusts]
    reasons = tuple(old or new for old, new in zip(before, found, strict=True))
    return replace(study, set_aside=study.set_aside | bad[study.participant], reasons=reasons)


def answer_facts(
    study: Study, *, least_seconds: float | Mapping[str, float] | None = None, options: int | None = None
) -> tuple[list[AnswerFacts], ...]:
    """The answers of every participant as :func:`assess` takes them, in the order in which they came.

    ``options`` is the number of answers that a question offers, by default as many as the study shows: both lists, and
    "both good" and "both bad" where anybody ever gave that answer or a trap expects it.
    """
    from adjudge.preferences.questions import CHOICES

    if not study.knows_participants:
        where = f"{study.source}: " if study.source else ""
        raise AdjudgeError(f"{where}expected answers that say whose they are, got none that do")
    asked = study.questions.questions
    given = {CHOICES[choice] for choice in set(study.choice.tolist())}
    offered = options or len({"a", "b", *given}.union(*(question.expected for question in asked)))
    chances = [chance_of(question.expected, offered) for question in asked]
    least = study.least_seconds if least_seconds is None else least_seconds
    sounds = [least.get(question.name) if isinstance(least, Mapping) else least for question in asked]
    found: tuple[list[AnswerFacts], ...] = tuple([] for _ in study.participants)
    before: dict[tuple[int, int], int] = {}
    columns = (study.participant, study.question, study.choice, study.swapped, study.seconds, study.trap, study.right)
    for who, place, choice, swapped, seconds, is_trap, right in zip(*(c.tolist() for c in columns), strict=True):
        first = before.get((who, place))
        before.setdefault((who, place), choice)
        found[who].append(
            AnswerFacts(
                is_trap,
                right,
                CHOICES[choice],
                side_of(CHOICES[choice], swapped=None if swapped < 0 else bool(swapped)),
                None if math.isnan(seconds) else seconds,
                sounds[place],
                asked[place].a == asked[place].b,
                None if first is None else first == choice,
                chances[place],
            )
        )
    return found
