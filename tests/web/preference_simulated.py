"""Participants made by code: they come to a preference campaign over HTTP, as browsers do, and answer until it ends.

Careful ones answer traps as expected, most of the time, and everything else by curves that are known (see
:mod:`adjudge.preferences.simulated`); spammers do not listen. Careful participants read: they know a question by the
names of its query and documents, which must be the texts that the campaign shows (see ``preference_texts``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from adjudge.errors import AdjudgeError, shown
from adjudge.preferences.questions import CHOICES, Questions
from adjudge.preferences.simulated import simulate_study
from adjudge.users.noticing import AgreementMapping
from adjudge.users.satisfaction import SatisfactionMapping
from adjudge.web.client import Json, join_preference
from adjudge.web.kinds.preference.assignment import Choice
from adjudge.web.store.items import NewItem

Person = Callable[[Json, np.random.Generator], str]
"""Somebody who answers a question of the desk with first, second, good or bad."""

MOST = 10_000
"""Answers after which somebody leaves in any case."""
_WAITS, _PAUSE = 20, 0.1  # looks at a desk that has nothing now, and seconds between them


@dataclass(frozen=True)
class TookPart:
    """How a part ended: its outcome, None where there was nothing left to do, and what was answered on the way."""

    code: str
    outcome: str | None
    completion: str | None
    answers: int
    why: str | None


def take_part(
    address: str,
    invitation: str,
    *,
    person: Person,
    seed: int,
    recruited: Mapping[str, str] | None = None,
    took_ms: int = 40_000,
    most: int = MOST,
) -> TookPart:
    """Come by an invitation and answer until the server says that one's part is over, or that nothing is left."""
    rng, answers, waits = np.random.default_rng(seed), 0, 0
    with join_preference(address, invitation, recruited=recruited) as me:
        desk = me.desk()
        while answers < most and desk["outcome"] is None:
            if desk["question"] is not None:
                choice = person(desk["question"], rng)
                desk = me.choose(desk["question"], choice, took_ms=round(took_ms * rng.uniform(0.7, 1.3))).desk
                answers += 1
            elif desk["why"] == "wait" and waits < _WAITS:
                time.sleep(_PAUSE)
                waits, desk = waits + 1, me.desk()
            else:
                break
        code = str((me.participant or {}).get("code", ""))
    completion = desk["completion"] or {}
    return TookPart(code, desk["outcome"], completion.get("code"), answers, desk["why"])


def spammer(kind: Literal["random", "first", "same"] = "random") -> Person:
    """Somebody who does not listen: any answer, always the first list, or one answer for ever."""
    if kind not in ("random", "first", "same"):
        raise AdjudgeError(f"Expected a spammer of kind random, first or same, got {shown(kind)}")
    kept: list[str] = []

    def answer(question: Json, rng: np.random.Generator) -> str:
        if kind == "first":
            return "first"
        drawn = str(rng.choice(get_args(Choice)))
        if kind == "random":
            return drawn
        kept[:] = kept or [drawn]
        return kept[0]

    return answer


def careful(
    questions: Questions,
    *,
    satisfaction: SatisfactionMapping,
    agreement: AgreementMapping,
    measure: str,
    scale: str,
    trap_accuracy: float = 0.95,
) -> Person:
    """Somebody who listens, and to whom effectiveness means what these curves say."""
    known: dict[tuple[str, tuple[str, ...], tuple[str, ...]], tuple[int, bool]] = {}
    for place, one in enumerate(questions.questions):
        known.setdefault((one.query, one.a, one.b), (place, False))
        known.setdefault((one.query, one.b, one.a), (place, True))

    def answer(question: Json, rng: np.random.Generator) -> str:
        first, second = (tuple(str(clip["text"]) for clip in question[side]) for side in ("first", "second"))
        key = (str(question["query"]["text"]), first, second)
        if key not in known:
            raise AdjudgeError(f"A careful participant does not know the question about {shown(key[0])}")
        place, swapped = known[key]
        alone = simulate_study(
            questions.select([place]),
            satisfaction=satisfaction,
            agreement=agreement,
            measure=measure,
            scale=scale,
            participants=1,
            per_participant=int(not questions.questions[place].is_trap),
            trap_accuracy=trap_accuracy,
            seed=int(rng.integers(2**32)),
        )
        choice = CHOICES[int(alone.study.choice[0])]
        sides = {"a": "second" if swapped else "first", "b": "first" if swapped else "second"}
        return sides.get(choice, choice)

    return answer


def preference_texts(questions: Questions) -> list[NewItem]:
    """Every document and query as a text, its own name: what careful participants read."""
    documents = sorted({name for one in questions.questions for name in one.a + one.b})
    queries = sorted(set(questions.queries))
    return [NewItem(name, kind="text", text=name, media_type="text/plain") for name in documents] + [
        NewItem(name, "query", "text", text=name, media_type="text/plain") for name in queries
    ]
