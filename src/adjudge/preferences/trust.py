"""Trust: whether a participant listened, from questions with known answers and from how the others were answered.

The study of 2012 trusted the share of traps that somebody answered right (:func:`trap_trust`). That share says little
after three traps and nothing of anything else, so :func:`assess` also gives P(attentive): two classes of people, those
who listen and those who do not, held against the traps and against :mod:`cues <adjudge.preferences.trust>` such
as answers faster than the sound, or always the same side. It is a few sums over one participant's answers, cheap
enough to ask after every answer.

    odds(attentive) = careful / (1 - careful) × P(traps | attentive) / P(traps | inattentive) × factors of the cues

Traps: everybody knows the answer to a share θ of the traps and guesses at the others, so that a trap which a guess gets
right with probability c is answered right with probability c + (1 - c) θ. θ is drawn from Beta(9, 1) for those who
listen and from Beta(1, 2) for those who do not: most of these know few answers, some listen now and then. c is the
share of the options that are right: 1/4 for one of four, 1/2 for one of two. With two options 8 of 15 right is what
guessing gets, and P(attentive) is 0.02; with four options it is 0.12.

What the default rules do (:func:`~adjudge.preferences.simulated.operating`, 2,000 people of each kind, 5 traps
first, then 1 question in 5 a trap, 60 questions at most):

=============================== ======= =========== ===============
who                             stopped by the quiz after questions
=============================== ======= =========== ===============
listens, 95 % of traps right      0.1 %       0.0 %              32
listens, 90 % of traps right      1.2 %       0.7 %               5
listens, 80 % of traps right     13.7 %       6.3 %              20
guesses                         100.0 %      90.1 %               5
guesses at once                 100.0 %      90.5 %               5
always left                     100.0 %      89.5 %               5
left and right in turn          100.0 %      89.6 %               5
always both good                100.0 %      89.5 %               5
listens to every other question  74.7 %      38.0 %               5
=============================== ======= =========== ===============

Without any trap the cues alone catch all who always choose one side, the sides in turn or "both good", after 16 to 18
answers, and four in five of those who guess at once; they stop none of 3,000 who listen, and miss who guesses with
patience: only traps tell them.

Trust is about attention on these questions. It does not say that somebody's taste is good or common, and answers of
people who are not trusted are set aside, never deleted.

Le et al., Ensuring quality in crowdsourced search relevance evaluation, SIGIR workshop on crowdsourcing, 2010.

Cues of attention: what the answers of one participant say about whether somebody listened.

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
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from adjudge.checks import (
    ATTENTION,
    CONFIDENCE,
    COUNT,
    COUNT_OR_NONE,
    INNER_SHARE,
    OPTIONS,
    SHARE,
    SOME_SHARE,
    Constraints,
    check_all,
    checked,
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
        SOME_SHARE.check("chance", self.chance, where="AnswerFacts: ")

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


Verdict = Literal["fine", "failed quiz", "failed traps", "inattentive"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

_CAREFUL = (9.0, 1.0)  # Beta of the share of traps whose answer people know who listen
_CARELESS = (1.0, 2.0)  # the same of those who do not
_ROUNDING = 1e-9


@dataclass(frozen=True)
class TrustRules:
    """When a participant is no longer trusted.

    - ``quiz`` traps come first; whoever answers less than ``quiz_bar`` of them right is screened out. 0: no quiz.
    - After ``least`` traps or more, those of the quiz included, less than ``bar`` of them right is not enough.
    - After ``answers`` answers or more, P(attentive) below ``attention`` is not enough; 0 never stops anybody by it.
    - ``careful`` is the share of people taken to listen before they answer anything; ``usual`` the shares of
      preferences, "both good" and "both bad" that people who listen give to questions such as these.
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
        known = {one.name: one.type for one in fields(cls)}
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
        told = {name: value for name, value in asdict(self).items() if value is not None}
        cells = {name: value if isinstance(value, tuple) else (value,) for name, value in told.items()}
        return " ".join(f"{name}={'|'.join(f'{number:g}' for number in numbers)}" for name, numbers in cells.items())

    def __post_init__(self) -> None:
        check_all(self, where="TrustRules: ")
        if len(self.usual) != 3 or min(self.usual) <= 0 or not math.isclose(sum(self.usual), 1):
            raise AdjudgeError(f"TrustRules: 'usual' must be three shares above 0 that add up to 1, got {self.usual}")


@dataclass(frozen=True)
class Trust:
    """What is known of one participant's attention.

    ``traps`` says of each trap, in the order asked, whether it was answered right, the first ``quiz`` of them being the
    quiz; ``probability`` is P(attentive).
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
        """Why the verdict is what it is, in a sentence; empty where it is fine."""
        return _reason(self)

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


@checked(confidence=CONFIDENCE)
def trap_accuracy(right: int, asked: int, *, confidence: float = 0.95) -> tuple[float, float, float]:
    """Accuracy on traps, with the ends of its interval: mean and quantiles of Beta(1 + right, 1 + asked - right).

    The prior is uniform: before any trap every accuracy is as likely, and the mean is a half.

    >>> [round(value, 2) for value in trap_accuracy(5, 5)]
    [0.86, 0.54, 1.0]
    """
    from scipy.special import betaincinv

    trap_trust(right, asked)
    a, b = 1 + right, 1 + asked - right
    ends = betaincinv(a, b, [(1 - confidence) / 2, (1 + confidence) / 2])
    return a / (a + b), float(ends[0]), float(ends[1])


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
    traps = tuple(one.right for one in answers if one.is_trap)
    cues = tuple(cue for make in CUES.values() if (cue := make(answers, rules.usual)) is not None)
    chances = [one.chance for one in answers if one.is_trap]
    odds = math.log(rules.careful / (1 - rules.careful)) + _trap_evidence(traps, chances)
    odds += sum(math.log(cue.factor) for cue in cues)
    trust = Trust(traps, len(answers), _probability(odds), cues, quiz=rules.quiz)
    return replace(trust, verdict=judged(trust, rules))


def _probability(log_odds: float) -> float:
    return 1 / (1 + math.exp(-min(max(log_odds, -700.0), 700.0)))


def _trap_evidence(traps: Sequence[bool], chances: Sequence[float]) -> float:
    """Log of P(traps | attentive) / P(traps | inattentive).

    Of one class it is E[Π (c + (1 - c) θ) over the right ones × Π (1 - c) (1 - θ) over the wrong ones], θ ~ Beta(a, b).
    The first product is a polynomial Σ w_k θ^k, so that this is Σ w_k B(a + k, b + wrong) / B(a, b) but for what both
    classes share.
    """
    weights = [1.0]
    for chance in (min(max(c, 0.05), 0.95) for c, right in zip(chances, traps, strict=True) if right):
        weights = [
            chance * low + (1 - chance) * high for low, high in zip([*weights, 0.0], [0.0, *weights], strict=True)
        ]
    wrong = len(traps) - sum(traps)

    def log_mean(a: float, b: float) -> float:
        logs = [math.log(w) + log_beta(a + k, b + wrong) for k, w in enumerate(weights) if w > 0]
        return max(logs) + math.log(sum(math.exp(one - max(logs)) for one in logs)) - log_beta(a, b)

    return log_mean(*_CAREFUL) - log_mean(*_CARELESS)


def judged(trust: Trust, rules: TrustRules) -> Verdict:
    """The verdict on somebody: quiz first, then all traps, then attention.

    Attention counts against nobody on the time of answers alone, unless that is extreme (see
    :func:`~adjudge.preferences.trust.time_cue`): what the other evidence says must be doubtful too.
    """
    quiz = trust.traps[: rules.quiz]
    if rules.quiz and len(quiz) == rules.quiz and sum(quiz) < rules.quiz_bar * rules.quiz - _ROUNDING:
        return "failed quiz"
    if trust.traps_asked >= rules.least and trust.share < rules.bar - _ROUNDING:
        return "failed traps"
    if trust.n_answers >= rules.answers and trust.probability < rules.attention and not _only_time(trust):
        return "inattentive"
    return "fine"


def _only_time(trust: Trust) -> bool:
    """Whether somebody would be more likely attentive than not had nobody looked at the clock."""
    time = next((cue for cue in trust.cues if cue.name == "time"), None)
    if time is None or time.extreme:
        return False
    odds = trust.probability / (1 - trust.probability) / time.factor
    return odds > 1


def must_stop(trust: Trust, rules: TrustRules | None = None) -> bool:
    """Whether a participant should be stopped, kindly, and their answers set aside."""
    return judged(trust, rules or TrustRules()) != "fine"


def _reason(trust: Trust) -> str:
    if trust.verdict == "fine":
        return ""
    if trust.verdict == "inattentive":
        worst = min(trust.cues, key=lambda cue: cue.factor, default=None)
        told = f": {worst.evidence}" if worst is not None and worst.factor < 1 else ""
        return f"P(attentive) {trust.probability:.3f}{told}"
    if trust.verdict == "failed quiz":
        return f"{sum(trust.traps[: trust.quiz])} of the first {trust.quiz} traps right"
    return f"{trust.traps_right} of {trust.traps_asked} traps right"


def assess_all(
    study: Study,
    rules: TrustRules | None = None,
    *,
    least_seconds: float | Mapping[str, float] | None = None,
) -> tuple[Trust, ...]:
    """Trust in every participant of a study, in the order of ``study.participants``; answers set aside count.

    ``rules`` are those of the campaign that the study comes from, unless others are given. ``least_seconds`` of sound
    had to be heard for an answer, the same for all or by the name of the question, by default as the study says;
    without it the time of answers says nothing. Sides and times that the study does not know say nothing either.
    """
    rules = rules or study.rules or TrustRules()
    facts = answer_facts(study, least_seconds=least_seconds, options=rules.options)
    return tuple(assess(answers, rules) for answers in facts)


def set_aside(study: Study, trusts: Sequence[Trust]) -> Study:
    """The study with the answers of those set aside who do not pass, for the reason that their trust gives.

    What is set aside already stays so, with its reason.
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

    ``options`` is the number of answers that a question offers; without it as many as the study shows: both lists, and
    "both good" and "both bad" where anybody ever said so or a trap expects it.
    """
    from adjudge.preferences.questions import CHOICES

    if not study.knows_participants:
        where = f"{study.source}: " if study.source else ""
        raise AdjudgeError(f"{where}expected answers that say whose they are, got none that do")
    asked = study.questions.questions
    identical = [one.a == one.b for one in asked]
    offered = options or len(
        {"a", "b", *(CHOICES[i] for i in set(study.choice.tolist()))}.union(*(q.expected for q in asked))
    )
    chances = [chance_of(one.expected, offered) for one in asked]
    least = study.least_seconds if least_seconds is None else least_seconds
    sounds = [_sound(one.name, least) for one in asked]
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
                identical[place],
                None if first is None else first == choice,
                chances[place],
            )
        )
    return found


def _sound(question: str, least_seconds: float | Mapping[str, float] | None) -> float | None:
    return least_seconds.get(question) if isinstance(least_seconds, Mapping) else least_seconds
