"""Simulated participants with known curves: to see what a study of some size can find out, and to test.

Given the effectiveness of the two lists of a question, an honest participant

1. prefers one or cannot tell by the agreement curve at |Δ|: P(the better), P(cannot tell), P(the worse);
2. without a preference, calls both good with a probability that follows from sat and both lists, else both bad: sat of
   their mean effectiveness, of the better list, of the worse one, or the mean of sat of each (``satisfied_by``). Where
   both lists are equally effective, all four are sat(λ).

People differ, and so do queries, without changing either curve: the answer to each step is where a standard normal
number z falls among the quantiles of its probabilities, and z = √ρp · person + √ρq · query + √(1 - ρp - ρq) · chance.
So over people and queries the curves are exactly those given, whatever the spread (a random effect added on the logit
scale would flatten them).

:func:`operating` simulates what rules of trust do: careful people stopped by mistake, and careless ones who are caught.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.random import Generator

from adjudge.arrays import Floats, Ints, Mask
from adjudge.checks import COUNT, COUNT_OR_NONE, PROBABILITY, SEED, SHARE, SHARE_BELOW_ALL, OneOf, checked
from adjudge.errors import AdjudgeError
from adjudge.preferences.questions import CHOICES, Question, Questions
from adjudge.preferences.study import BAD, GOOD, A, B, Study
from adjudge.preferences.trust import AnswerFacts, Side, TrustRules, assess
from adjudge.registry import Registry
from adjudge.results import Column, Rows
from adjudge.seeds import Seed, as_seed
from adjudge.users.noticing import AgreementMapping, find_agreement
from adjudge.users.satisfaction import SatisfactionMapping, find_satisfaction

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
class SimulatedStudy:
    """A study and what is unknown of a real one: who is a spammer, and of which of ``KINDS`` (empty if none)."""

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
) -> SimulatedStudy:
    """Answers of people with known curves to some of the questions each, and to the traps among them.

    ``spread`` and ``query_spread`` are the shares ρp and ρq of the variance of answers that lie between people and
    between queries; ``satisfied_by`` is one of ``SATISFIED_BY``: what decides whether both lists are called good.
    ``spammers`` is the share of participants who do not listen. Everybody gets ``per_participant`` questions, none
    twice, such that each question is asked about equally often, and ``traps`` of the traps (by default all), which
    honest people answer right with probability ``trap_accuracy``.

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
    is_trap = np.array([question.is_trap for question in questions.questions], dtype=np.bool_)
    plain, known = np.flatnonzero(~is_trap), np.flatnonzero(is_trap)
    n_traps = len(known) if traps is None else traps
    if per_participant > len(plain) or n_traps > len(known):
        raise AdjudgeError(
            f"Simulated participants: expected people with up to {len(plain)} questions and {len(known)} "
            f"traps each, got {participants} with {per_participant} and {n_traps}"
        )
    if spread + query_spread >= 1:
        raise AdjudgeError(
            f"Simulated participants: expected 'spread' + 'query_spread' in [0, 1), got {spread:g} and {query_spread:g}"
        )
    if not kinds or not set(kinds) <= set(KINDS):
        raise AdjudgeError(f"Simulated participants: expected kinds of spammers among {', '.join(KINDS)}")
    OneOf(tuple(SATISFIED_BY)).check("satisfied_by", satisfied_by)
    lists = questions.effectiveness(measure, scale)
    if bool(np.isnan(lists[plain]).any()):
        raise AdjudgeError(f"Simulated participants need grades on {scale} of every document of the questions")
    rng = np.random.default_rng(seed)
    dealt = np.empty((participants, per_participant + n_traps), dtype=np.int64)
    if per_participant:  # blocks of one shuffled deck that is dealt round and round, traps mixed in
        deck = np.resize(rng.permutation(plain), participants * per_participant)
        dealt[:, :per_participant] = deck.reshape(participants, per_participant)
    for row in dealt:
        row[per_participant:] = rng.permutation(known)[:n_traps]
    asked = rng.permuted(dealt, axis=1).ravel()
    person = np.repeat(np.arange(participants), dealt.shape[1])
    swapped = rng.integers(0, 2, size=len(asked))
    query = np.unique(np.array(questions.queries, dtype=object), return_inverse=True)[1][asked]
    effectiveness = np.nan_to_num(lists[asked])  # traps without grades are answered elsewhere
    satisfied = SATISFIED_BY[satisfied_by](satisfaction, effectiveness)
    choice = _honest(rng, effectiveness, satisfied, agreement, (person, spread), (query, query_spread))
    choice = np.where(is_trap[asked], _trap_answers(rng, questions, asked, trap_accuracy), choice)
    kind = np.full(participants, -1, dtype=np.int64)  # of spammer; as many of each kind as possible
    chosen = rng.permutation(participants)[: round(spammers * participants)]
    kind[chosen] = [KINDS.index(kinds[i % len(kinds)]) for i in range(len(chosen))]
    favourite = rng.integers(0, len(CHOICES), size=participants)[person]
    spam = [np.where(swapped == 1, B, A), favourite]
    blind = rng.integers(0, len(CHOICES), size=len(asked))
    choice = np.where(kind[person] >= 0, np.select([kind[person] == 1, kind[person] == 2], spam, blind), choice)
    names = tuple(f"p{i + 1}" for i in range(participants))
    timed = _timed(rng, person, kind)
    nothing = np.zeros(len(asked), dtype=np.bool_)
    study = Study(
        questions, asked, choice, person, names, swapped, *timed, nothing, source=f"simulated with seed {seed}"
    )
    in_order = study.select(np.argsort(study.at, kind="stable"))
    return SimulatedStudy(in_order, kind >= 0, tuple("" if k < 0 else KINDS[k] for k in kind.tolist()))


def _honest(
    rng: Generator, lists: Floats, satisfied: Floats, agreement: AgreementMapping, *groups: tuple[Ints, float]
) -> Ints:
    """Answers by the curves; numbers are alike within groups (of one person, of one query) by their spread."""
    from scipy.special import ndtr

    def uniform() -> Floats:
        effects = [rng.standard_normal(int(group.max()) + 1)[group] for group, _ in groups]
        own = rng.standard_normal(len(lists)) * np.sqrt(1 - groups[0][1] - groups[1][1])
        for effect, (_, spread) in zip(effects, groups, strict=True):
            own = own + np.sqrt(spread) * effect
        return np.asarray(ndtr(own))

    delta = lists[:, 0] - lists[:, 1]
    shares = agreement(delta)
    prefers = uniform() < shares.agree + shares.disagree
    right = rng.random(len(delta)) * (shares.agree + shares.disagree) < shares.agree
    coin = rng.random(len(delta)) < 0.5
    a_is_better = np.where(delta == 0, coin, delta > 0)
    good = uniform() < satisfied
    return np.where(prefers, np.where(right == a_is_better, A, B), np.where(good, GOOD, BAD))


def _trap_answers(rng: Generator, questions: Questions, asked: Ints, accuracy: float) -> Ints:
    """Answers to traps, right with a probability; meaningless for other questions."""
    expected = np.array([[choice in question.expected for choice in CHOICES] for question in questions.questions])[
        asked
    ]
    wanted = np.where((rng.random(len(asked)) < accuracy)[:, None], expected, ~expected)
    wanted[~wanted.any(axis=1)] = True
    answers: Ints = np.argmax(wanted * rng.random(wanted.shape), axis=1)
    return answers


def _timed(rng: Generator, person: Ints, kind: Ints) -> tuple[Floats, Floats, Floats]:
    """How long each answer took, how much was heard, and when: people come one by one and answer without a break."""
    n = len(person)
    typical = np.where(kind < 0, _HONEST_SECONDS, np.where(kind == 3, _FAST_SECONDS, _SPAM_SECONDS))
    pace = typical * np.exp(0.25 * rng.standard_normal(len(kind)))
    seconds = np.round(pace[person] * np.exp(0.35 * rng.standard_normal(n)), 1)
    heard = seconds * np.where(kind[person] >= 0, rng.uniform(0.0, 0.4, n), rng.uniform(0.6, 0.95, n))
    came = _START + np.cumsum(rng.exponential(120.0, size=len(kind)))
    passed = np.cumsum(seconds)
    first = np.searchsorted(person, np.arange(len(kind)))  # answers stand in the order of participants
    begins = np.append(0.0, passed)[first]
    return seconds, heard, np.round(came[person] + passed - begins[person], 1)


@checked(participants=COUNT, per_participant=COUNT_OR_NONE, seed=SEED)
def example_study(*, participants: int = 30, per_participant: int = 20, seed: Seed = 1) -> Study:
    """A small study for examples: lists of two documents with Fine grades, people with the published curves of CG."""
    seed = as_seed(seed)
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


Answer = Callable[[Generator, int, str], tuple[str, float]]
"""From the number of the question and the right answer (as a side) to a side, good or bad, and seconds per second of
sound."""

_SIDES = ("left", "right", "good", "bad")


@dataclass(frozen=True)
class Behaviour:
    """A way to answer questions, and whether somebody who has it listens."""

    name: str
    listens: bool
    about: str
    answer: Answer


BEHAVIOURS: Registry[Behaviour] = Registry("behaviour of a participant")


def _listening_time(rng: Generator) -> float:
    return float(rng.lognormal(0.4, 0.4))


def _listens(accuracy: float) -> Answer:
    def answer(rng: Generator, number: int, right: str) -> tuple[str, float]:
        given = right if rng.random() < accuracy else str(rng.choice([side for side in _SIDES if side != right]))
        return given, _listening_time(rng)

    return answer


def _guesses(rng: Generator, number: int, right: str) -> tuple[str, float]:
    return _SIDES[int(rng.integers(4))], _listening_time(rng)


def _guesses_at_once(rng: Generator, number: int, right: str) -> tuple[str, float]:
    return _SIDES[int(rng.integers(4))], float(rng.lognormal(-2.0, 0.5))


def _every_other(rng: Generator, number: int, right: str) -> tuple[str, float]:
    return (_listens(0.9) if rng.random() < 0.5 else _guesses)(rng, number, right)


_LISTENS = "Hears both lists: as often right as the name says, otherwise any other answer; takes time to listen."
for _behaviour in (
    *(Behaviour(f"listens, {share} % of traps right", True, _LISTENS, _listens(share / 100)) for share in (95, 90, 80)),
    Behaviour("guesses", False, "Answers at random, after as long as somebody who listens.", _guesses),
    Behaviour("guesses at once", False, "Answers at random, before the sound can have been heard.", _guesses_at_once),
    Behaviour("always left", False, "Prefers whatever is on the left.", lambda rng, *_: ("left", _listening_time(rng))),
    Behaviour(
        "left and right in turn",
        False,
        "Prefers left, right, left, right, whatever is there.",
        lambda rng, number, _: (_SIDES[number % 2], _listening_time(rng)),
    ),
    Behaviour(
        "always both good",
        False,
        "Calls both lists good, whatever they are.",
        lambda rng, *_: ("good", _listening_time(rng)),
    ),
    Behaviour(
        "listens to every other question",
        False,
        "Listens to half of the questions, drawn at random, and guesses the rest.",
        _every_other,
    ),
):
    BEHAVIOURS.add(_behaviour.name, _behaviour)


@dataclass(frozen=True)
class OperatingRow:
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
    behaviour: str, rng: Generator, *, rules: TrustRules, n: int = 60, trap_every: int = 5
) -> Iterator[AnswerFacts]:
    """Answers of one participant: the quiz, then one trap in ``trap_every`` questions; traps have one right answer.

    Other questions have an answer of their own, which people who listen give as often as that of a trap; shares of
    preferences are those that the rules call usual, sides are random.
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


@checked(people=COUNT, n=COUNT, trap_every=COUNT, seed=SEED)
def operating(
    rules: TrustRules | None = None, *, people: int = 500, n: int = 60, trap_every: int = 5, seed: Seed = 0
) -> Rows[OperatingRow]:
    """Simulate people of every behaviour under the rules, assessed after every answer as a server would.

    >>> found = {row.behaviour: row for row in operating(people=100)}
    >>> found["guesses"].stopped > 0.95
    True
    """
    seed = as_seed(seed)
    rules = rules or TrustRules()
    rows = []
    for k, behaviour in enumerate(BEHAVIOURS.values()):
        seeds = (np.random.SeedSequence(seed, spawn_key=(k, person)) for person in range(people))
        stops = [_stop(behaviour.name, rules, n, trap_every, np.random.default_rng(own)) for own in seeds]
        at = [number for number, _ in stops if number]
        quiz = sum(verdict == "failed quiz" for _, verdict in stops)
        middle = float(np.median(at)) if at else float("nan")
        rows.append(OperatingRow(behaviour.name, behaviour.listens, len(at) / people, quiz / people, middle))
    return Rows(OperatingRow, tuple(rows), "What rules do to people of each behaviour")


operating_table = str  # in version 1.0 the only way to show the rows; for one release


def _stop(name: str, rules: TrustRules, n: int, trap_every: int, rng: Generator) -> tuple[int, str]:
    """Number of questions after which a participant is stopped, and why; 0 for never."""
    answers: list[AnswerFacts] = []
    for answer in simulated_answers(name, rng, rules=rules, n=n, trap_every=trap_every):
        answers.append(answer)
        if len(answers) >= min(rules.quiz or 1, rules.answers):
            verdict = assess(answers, rules).verdict
            if verdict != "fine":
                return len(answers), verdict
    return 0, "fine"
