"""Simulated participants, whose curves are known: to see what a study of some size can find out, and to test.

Given the effectiveness of the two lists of a question, an honest participant

1. prefers one or cannot tell by the agreement curve at |Δ|: P(the better), P(cannot tell), P(the worse);
2. who cannot tell calls both good with a probability that follows from sat and both lists, else both bad: sat of their
   mean effectiveness, of the better list, of the worse one, or the mean of sat of each (``satisfied_by``). Where both
   lists are as effective as one another, all four are sat(λ).

People differ, and so do queries, without changing either curve: the answer to each step is where a standard normal
number z falls among the quantiles of its probabilities, and z = √ρp · person + √ρq · query + √(1 - ρp - ρq) · chance.
So over people and queries the curves are exactly those given, whatever the spread (a random effect added on the logit
scale would flatten them).

What rules of trust would do: careful people stopped by mistake, and careless ones of every kind that are caught.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, NamedTuple

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.checks import COUNT, COUNT_OR_NONE, PROBABILITY, SEED, SHARE, SHARE_BELOW_ALL, OneOf, checked
from adjudge.errors import AdjudgeError
from adjudge.preferences.questions import CHOICES, Questions
from adjudge.preferences.study import BAD, GOOD, A, B, Study
from adjudge.preferences.trust import AnswerFacts, Side, TrustRules, assess
from adjudge.registry import Registry
from adjudge.results import Column, Rows
from adjudge.seeds import Seed, as_seed
from adjudge.users.noticing import AgreementMapping
from adjudge.users.satisfaction import SatisfactionMapping

if TYPE_CHECKING:
    from numpy.random import Generator


SATISFIED_BY: dict[str, Callable[[SatisfactionMapping, Floats], Floats]] = {
    "mean": lambda curve, lists: curve(lists.mean(axis=1)),
    "better": lambda curve, lists: curve(lists.max(axis=1)),
    "worse": lambda curve, lists: curve(lists.min(axis=1)),
    "each": lambda curve, lists: curve(lists).mean(axis=1),
}
"""P(both good | neither is preferred), from the satisfaction curve and the effectiveness of both lists: (ties, 2)."""

KINDS = ("random", "same side", "same answer", "fast")
"""How spammers answer: at random; always the list that stands first; always the same; at random and at once."""

_START = 1767225600.0  # 2026-01-01, when the first participant comes
_HONEST_SECONDS, _SPAM_SECONDS, _FAST_SECONDS = 75.0, 40.0, 6.0


@dataclass(frozen=True)
class Simulated:
    """A study and what nobody knows of a real one: who is a spammer, and of which of ``KINDS`` (empty if none)."""

    study: Study
    is_spammer: Mask
    kind: tuple[str, ...]


@checked(
    participants=COUNT,
    per_participant=COUNT_OR_NONE,
    spammers=SHARE,
    spread=SHARE_BELOW_ALL,
    query_spread=SHARE_BELOW_ALL,
    traps=COUNT_OR_NONE,
    trap_accuracy=PROBABILITY,
    seed=SEED,
)
def simulate_study(
    questions: Questions,
    *,
    satisfaction: SatisfactionMapping,
    agreement: AgreementMapping,
    measure: str,
    scale: str,
    participants: int,
    per_participant: int,
    spammers: float = 0.0,
    spread: float = 0.0,
    query_spread: float = 0.0,
    satisfied_by: str = "mean",
    traps: int | None = None,
    trap_accuracy: float = 0.9,
    kinds: tuple[str, ...] = KINDS,
    seed: Seed,
) -> Simulated:
    """Answers of people with known curves to some of the questions each, and to the traps among them.

    ``spread`` and ``query_spread`` are the shares ρp and ρq of what makes answers differ that lie between people and
    between queries; ``satisfied_by`` is one of ``SATISFIED_BY``: what people go by who call both lists good or bad.
    ``spammers`` is the share of participants who do not listen. Everybody gets ``per_participant``
    questions, none twice, such that each question is asked about equally often, and ``traps`` of the traps (all unless
    said otherwise), which honest people answer right with probability ``trap_accuracy``.

    >>> from adjudge.preferences.questions import Question
    >>> from adjudge.users import find_agreement, find_satisfaction
    >>> grades = np.random.default_rng(1).integers(0, 101, (40, 2, 2)).astype(float)
    >>> lists = (("w", "x"), ("y", "z"))
    >>> asked = Questions(tuple(Question(str(i), f"q{i % 8}", *lists) for i in range(40)), {"fine": grades})
    >>> curves = {"satisfaction": find_satisfaction("CG@5", "fine").mapping,
    ...           "agreement": find_agreement("CG@5", "fine").mapping}
    >>> made = simulate_study(asked, **curves, measure="CG@2", scale="fine", participants=6, per_participant=10, seed=1)
    >>> made.study
    Study(60 answers of 6 participants to 40 questions)
    """
    seed = as_seed(seed)
    is_trap = np.array([one.is_trap for one in questions.questions], dtype=np.bool_)
    plain, known = np.flatnonzero(~is_trap), np.flatnonzero(is_trap)
    wanted = participants, per_participant, len(known) if traps is None else traps
    _check_numbers(wanted, (len(plain), len(known)))
    _check_people(spread, query_spread, kinds)
    OneOf(tuple(SATISFIED_BY)).check("satisfied_by", satisfied_by)
    lists = questions.effectiveness(measure, scale)
    if bool(np.isnan(lists[plain]).any()):
        raise AdjudgeError(f"Simulated participants need grades on {scale} of every document of the questions")
    rng = np.random.default_rng(seed)
    asked, person = _assigned(rng, plain, known, wanted)
    swapped = rng.integers(0, 2, size=len(asked))
    query = np.unique(np.array(questions.queries, dtype=object), return_inverse=True)[1].astype(np.int64)[asked]
    noise = _Noise(rng, person, query, spread, query_spread)
    choice = _honest(noise, lists[asked], lambda pairs: SATISFIED_BY[satisfied_by](satisfaction, pairs), agreement)
    choice = np.where(is_trap[asked], _trap_answers(rng, questions, asked, trap_accuracy), choice)
    kind = _spam_kinds(rng, participants, spammers, kinds)
    choice = np.where(kind[person] >= 0, _spam(rng, kind[person], person, swapped), choice)
    study = _told(rng, questions, _Given(asked, choice, person, swapped), kind, source=f"simulated with seed {seed}")
    return Simulated(study, kind >= 0, tuple("" if k < 0 else KINDS[k] for k in kind.tolist()))


class _Given(NamedTuple):
    """Answers: question, choice, participant, and whether list b stood first."""

    asked: Ints
    choice: Ints
    person: Ints
    swapped: Ints


def _told(rng: Generator, questions: Questions, given: _Given, kind: Ints, *, source: str) -> Study:
    """The answers as a study, with how long each took and how much was heard, in the order in which they came."""
    person, n = given.person, len(given.asked)
    seconds = _seconds(rng, person, kind, n)
    heard = seconds * np.where(kind[person] >= 0, rng.uniform(0.0, 0.4, n), rng.uniform(0.6, 0.95, n))
    study = Study(
        questions,
        given.asked,
        given.choice,
        person,
        tuple(f"p{i + 1}" for i in range(len(kind))),
        given.swapped,
        seconds,
        heard,
        _times(rng, person, seconds, len(kind)),
        np.zeros(n, dtype=np.bool_),
        source=source,
    )
    return study.select(np.argsort(study.at, kind="stable"))


@checked(participants=COUNT, per_participant=COUNT_OR_NONE, seed=SEED)
def example_study(*, participants: int = 30, per_participant: int = 20, seed: Seed = 1) -> Study:
    """A small study for examples: lists of two documents with Fine grades, people with the published curves of CG."""
    seed = as_seed(seed)
    from adjudge.preferences.questions import Question
    from adjudge.users.noticing import find_agreement
    from adjudge.users.satisfaction import find_satisfaction

    grades = np.random.default_rng(seed).integers(0, 101, (400, 2, 2)).astype(np.float64)
    names = [[f"q{i % 40}-{i}-{side}" for side in "abcd"] for i in range(400)]
    made = tuple(Question(str(i), f"q{i % 40}", (a, b), (c, d)) for i, (a, b, c, d) in enumerate(names))
    satisfaction, agreement = find_satisfaction("CG@5", "fine").mapping, find_agreement("CG@5", "fine").mapping
    if satisfaction is None or agreement is None:
        raise AdjudgeError("expected published curves of CG@5 on fine")
    return simulate_study(
        Questions(made, {"fine": grades}),
        satisfaction=satisfaction,
        agreement=agreement,
        measure="CG@2",
        scale="fine",
        participants=participants,
        per_participant=per_participant,
        spread=0.1,
        query_spread=0.1,
        seed=seed,
    ).study


def _check_numbers(wanted: tuple[int, int, int], there_are: tuple[int, int]) -> None:
    participants, per_participant, traps = wanted
    if per_participant > there_are[0] or traps > there_are[1]:
        raise AdjudgeError(
            f"Simulated participants: expected people with up to {there_are[0]} questions and {there_are[1]} "
            f"traps each, got {participants} with {per_participant} and {traps}"
        )


def _check_people(spread: float, query_spread: float, kinds: tuple[str, ...]) -> None:
    if spread + query_spread >= 1:
        raise AdjudgeError(
            f"Simulated participants: expected 'spread' + 'query_spread' in [0, 1), got {spread:g} and {query_spread:g}"
        )
    if not kinds or not set(kinds) <= set(KINDS):
        raise AdjudgeError(f"Simulated participants: expected kinds of spammers among {', '.join(KINDS)}")


def _assigned(rng: Generator, plain: Ints, traps: Ints, wanted: tuple[int, int, int]) -> tuple[Ints, Ints]:
    """Questions and who gets them: blocks of one shuffled deck that is dealt round and round, traps mixed in."""
    participants, per_participant, n_traps = wanted
    asked = np.empty((participants, per_participant + n_traps), dtype=np.int64)
    if per_participant:
        deck = rng.permutation(plain)
        dealt = np.arange(participants * per_participant) % len(deck)
        asked[:, :per_participant] = deck[dealt].reshape(participants, per_participant)
    for person in range(participants):
        asked[person, per_participant:] = rng.permutation(traps)[:n_traps]
    shuffled: Ints = rng.permuted(asked, axis=1)
    return shuffled.ravel(), np.repeat(np.arange(participants), asked.shape[1])


@dataclass(frozen=True)
class _Noise:
    """Uniform numbers that are alike for one person and for one query."""

    rng: Generator
    person: Ints
    query: Ints
    spread: float
    query_spread: float

    def uniform(self) -> Floats:
        from scipy.special import ndtr

        people, queries = (self.rng.standard_normal(int(g.max()) + 1) for g in (self.person, self.query))
        own = self.rng.standard_normal(len(self.person)) * np.sqrt(1 - self.spread - self.query_spread)
        mixed = own + np.sqrt(self.spread) * people[self.person] + np.sqrt(self.query_spread) * queries[self.query]
        drawn: Floats = ndtr(mixed)
        return drawn


def _honest(noise: _Noise, lists: Floats, satisfied: Callable[[Floats], Floats], agreement: AgreementMapping) -> Ints:
    known = np.where(np.isnan(lists), 0.0, lists)  # traps without grades are answered elsewhere
    delta = known[:, 0] - known[:, 1]
    shares = agreement(delta)
    prefers = noise.uniform() < shares.agree + shares.disagree
    right = noise.rng.random(len(delta)) * (shares.agree + shares.disagree) < shares.agree
    coin = noise.rng.random(len(delta)) < 0.5
    a_is_better = np.where(delta == 0, coin, delta > 0)
    good = noise.uniform() < satisfied(known)
    return np.where(prefers, np.where(right == a_is_better, A, B), np.where(good, GOOD, BAD))


def _trap_answers(rng: Generator, questions: Questions, asked: Ints, accuracy: float) -> Ints:
    """Answers to traps, right with a probability; nonsense elsewhere."""
    expected = np.array([[choice in one.expected for choice in CHOICES] for one in questions.questions])[asked]
    wanted = np.where((rng.random(len(asked)) < accuracy)[:, None], expected, ~expected)
    wanted[~wanted.any(axis=1)] = True
    answers: Ints = np.argmax(wanted * rng.random(wanted.shape), axis=1)
    return answers


def _spam_kinds(rng: Generator, participants: int, share: float, kinds: tuple[str, ...]) -> Ints:
    """Kind of spammer of each participant, -1 for honest ones; as many of each kind as can be."""
    kind = np.full(participants, -1, dtype=np.int64)
    chosen = rng.permutation(participants)[: round(share * participants)]
    kind[chosen] = [KINDS.index(kinds[i % len(kinds)]) for i in range(len(chosen))]
    return kind


def _spam(rng: Generator, kind: Ints, person: Ints, swapped: Ints) -> Ints:
    n = len(kind)
    favourite = rng.integers(0, len(CHOICES), size=int(person.max()) + 1)[person]
    first_list = np.where(swapped == 1, B, A)
    return np.select([kind == 1, kind == 2], [first_list, favourite], rng.integers(0, len(CHOICES), size=n))


def _seconds(rng: Generator, person: Ints, kind: Ints, n: int) -> Floats:
    typical = np.where(kind < 0, _HONEST_SECONDS, np.where(kind == 3, _FAST_SECONDS, _SPAM_SECONDS))
    pace = typical * np.exp(0.25 * rng.standard_normal(len(kind)))
    return np.round(pace[person] * np.exp(0.35 * rng.standard_normal(n)), 1)


def _times(rng: Generator, person: Ints, seconds: Floats, participants: int) -> Floats:
    """When each answer was given: people come some minutes after one another and answer without a break."""
    came = _START + np.cumsum(rng.exponential(120.0, size=participants))
    passed = np.cumsum(seconds)
    before = passed - seconds
    first = np.concatenate([[0], np.flatnonzero(np.diff(person)) + 1]) if len(person) else np.zeros(0, dtype=np.int64)
    begins = np.zeros(participants)
    begins[person[first]] = before[first]
    return np.round(came[person] + passed - begins[person], 1)


Answer = Callable[[np.random.Generator, int, str], tuple[str, float]]
"""From the number of the question and the right answer (as a side) to a side, good or bad, and seconds per second of
sound."""

_SIDES = ("left", "right", "good", "bad")


@dataclass(frozen=True)
class Behaviour:
    """A way to answer questions, and whether somebody who has it listens."""

    name: str
    listens: bool
    answer: Answer


BEHAVIOURS: Registry[Behaviour] = Registry("behaviour of a participant")


def _behaviour(name: str, *, listens: bool = False) -> Callable[[Answer], Answer]:
    def decorate(answer: Answer) -> Answer:
        BEHAVIOURS.add(name, Behaviour(name, listens, answer))
        return answer

    return decorate


def _listens(accuracy: float) -> Answer:
    def answer(rng: np.random.Generator, number: int, right: str) -> tuple[str, float]:
        """Hears both lists: as often right as the name says, otherwise any other answer; takes time to listen."""
        given = right if rng.random() < accuracy else str(rng.choice([side for side in _SIDES if side != right]))
        return given, float(rng.lognormal(0.4, 0.4))

    return answer


for _accuracy in (0.95, 0.9, 0.8):
    _behaviour(f"listens, {_accuracy:.0%} of traps right".replace("%", " %"), listens=True)(_listens(_accuracy))


@_behaviour("guesses")
def _guesses(rng: np.random.Generator, number: int, right: str) -> tuple[str, float]:
    """Answers at random, after as long as somebody who listens."""
    return _SIDES[int(rng.integers(4))], float(rng.lognormal(0.4, 0.4))


@_behaviour("guesses at once")
def _at_once(rng: np.random.Generator, number: int, right: str) -> tuple[str, float]:
    """Answers at random, before the sound can have been heard."""
    return _SIDES[int(rng.integers(4))], float(rng.lognormal(-2.0, 0.5))


@_behaviour("always left")
def _left(rng: np.random.Generator, number: int, right: str) -> tuple[str, float]:
    """Prefers whatever is on the left."""
    return "left", float(rng.lognormal(0.4, 0.4))


@_behaviour("left and right in turn")
def _in_turn(rng: np.random.Generator, number: int, right: str) -> tuple[str, float]:
    """Prefers left, right, left, right, whatever is there."""
    return _SIDES[number % 2], float(rng.lognormal(0.4, 0.4))


@_behaviour("always both good")
def _good(rng: np.random.Generator, number: int, right: str) -> tuple[str, float]:
    """Calls both lists good, whatever they are."""
    return "good", float(rng.lognormal(0.4, 0.4))


@_behaviour("listens to every other question")
def _half(rng: np.random.Generator, number: int, right: str) -> tuple[str, float]:
    """Listens to half of the questions, drawn at random, and guesses the rest."""
    return _listens(0.9)(rng, number, right) if rng.random() < 0.5 else _guesses(rng, number, right)


@dataclass(frozen=True)
class Operating:
    """What rules do to people of one behaviour.

    ``stopped`` is the share stopped before the last question, ``by_quiz`` at the end of the quiz; ``questions`` the
    median number of questions, traps included, that those who were stopped had answered.
    """

    behaviour: Annotated[str, Column("how people behave", label="who", key=True)]
    listens: Annotated[bool, Column("whether such people listen", shown=False)]
    stopped: Annotated[float, Column("share stopped before the last question", ".1f %")]
    by_quiz: Annotated[float, Column("share stopped at the end of the quiz", ".1f %", label="by the quiz")]
    questions: Annotated[float, Column("median questions that they had answered", ".0f", label="after questions")]


def simulated_answers(
    behaviour: str, rng: np.random.Generator, *, rules: TrustRules, n: int = 60, trap_every: int = 5
) -> Iterator[AnswerFacts]:
    """Answers of one participant: the quiz, then one trap in so many questions; traps have one right answer.

    Questions that are no traps have an answer of their own, which people who listen give as often as that of a trap;
    preferences are as usual as the rules say, sides random.
    """
    answer = BEHAVIOURS[behaviour].answer
    for number in range(n):
        is_trap = number < rules.quiz or (number - rules.quiz) % trap_every == trap_every - 1
        kind = int(rng.integers(4)) if is_trap else int(rng.choice(3, p=rules.usual)) + 1
        right = _SIDES[kind] if is_trap or kind > 1 else _SIDES[int(rng.integers(2))]
        given, pace = answer(rng, number, right)
        side: Side | None = "left" if given == "left" else "right" if given == "right" else None
        choice = given if side is None else CHOICES[int(rng.integers(2))]
        yield AnswerFacts(is_trap, is_trap and given == right, choice, side, 60.0 * pace, 60.0)


@checked(seed=SEED)
def operating(
    rules: TrustRules | None = None, *, people: int = 500, n: int = 60, trap_every: int = 5, seed: Seed = 0
) -> tuple[Operating, ...]:
    """Simulate people of every behaviour under the rules, assessed after every answer as a server would.

    >>> found = {row.behaviour: row for row in operating(people=100)}
    >>> found["guesses"].stopped > 0.95
    True
    """
    seed = as_seed(seed)
    rules = rules or TrustRules()
    if people < 1 or n < 1 or trap_every < 1:
        raise AdjudgeError(f"expected people, questions and traps, got {people}, {n} and every {trap_every}")
    return tuple(
        _operating(one, [_stop(one.name, rules, n, trap_every, _rng(seed, k, i)) for i in range(people)])
        for k, one in enumerate(BEHAVIOURS.values())
    )


def _rng(seed: int, kind: int, person: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(kind, person)))


def _stop(name: str, rules: TrustRules, n: int, trap_every: int, rng: np.random.Generator) -> tuple[int, str]:
    """After how many questions somebody is stopped and why; 0 where never."""
    answers: list[AnswerFacts] = []
    for one in simulated_answers(name, rng, rules=rules, n=n, trap_every=trap_every):
        answers.append(one)
        if (
            len(answers) >= min(rules.quiz or 1, rules.answers)
            and (verdict := assess(answers, rules).verdict) != "fine"
        ):
            return len(answers), verdict
    return 0, "fine"


def _operating(behaviour: Behaviour, stops: Sequence[tuple[int, str]]) -> Operating:
    at = [number for number, _ in stops if number]
    quiz = sum(why == "failed quiz" for _, why in stops)
    middle = float(np.median(at)) if at else float("nan")
    return Operating(behaviour.name, behaviour.listens, len(at) / len(stops), quiz / len(stops), middle)


def operating_table(rows: Sequence[Operating]) -> str:
    """The rows as a table of text."""
    shown = Rows(Operating, tuple(rows), "")
    return str(shown)
