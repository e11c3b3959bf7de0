"""What rules of trust would do: careful people stopped by mistake, and careless ones of every kind that are caught."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from adjudge.errors import AdjudgeError
from adjudge.preferences.questions import CHOICES
from adjudge.preferences.trust import TrustRules, assess
from adjudge.preferences.trust_cues import AnswerFacts, Side
from adjudge.registry import Registry
from adjudge.stats.effects import table

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

    behaviour: str
    listens: bool
    stopped: float
    by_quiz: float
    questions: float


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


def operating(
    rules: TrustRules | None = None, *, people: int = 500, n: int = 60, trap_every: int = 5, seed: int = 0
) -> tuple[Operating, ...]:
    """Simulate people of every behaviour under the rules, assessed after every answer as a server would.

    >>> found = {row.behaviour: row for row in operating(people=100)}
    >>> found["guesses"].stopped > 0.95
    True
    """
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
    cells = [
        (
            row.behaviour,
            f"{100 * row.stopped:.1f} %",
            f"{100 * row.by_quiz:.1f} %",
            "–" if np.isnan(row.questions) else f"{row.questions:.0f}",
        )
        for row in rows
    ]
    return "\n".join(table([("who", "stopped", "by the quiz", "after questions"), *cells]))
