"""A study: questions, and what people answered to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.errors import AdjudgeError, unknown
from adjudge.preferences.questions import CHOICES, Questions

if TYPE_CHECKING:
    from adjudge.preferences.trust import TrustRules

A, B, GOOD, BAD = range(len(CHOICES))


@dataclass(frozen=True)
class Study:
    """Answers to questions, one row an answer, in the order in which they came.

    ============ ========== ==================================================================================
    question     (answers,) place of the question in ``questions``
    choice       (answers,) ``A``, ``B``, ``GOOD`` or ``BAD``: about lists a and b, not sides of a screen
    participant  (answers,) place in ``participants``; all -1 where nobody knows who answered what
    swapped      (answers,) 1 where list b stood first (left, or above), 0 where list a did, -1 where unknown
    seconds      (answers,) how long the answer took; NaN where unknown
    heard        (answers,) seconds of sound that were played for it; NaN where unknown
    at           (answers,) when, in seconds since 1970 (UTC); NaN where unknown
    set_aside    (answers,) whether it is kept out of everything that is learnt
    ============ ========== ==================================================================================

    ``rules`` of trust and ``least_seconds`` of sound by the name of the question are those of the campaign that the
    answers come from; None where there is none. ``reasons`` says for each participant why their answers are set aside,
    empty where they are not. Answers to traps tell about people, not about lists: what is learnt about lists leaves
    them out (see :meth:`counted`).
    """

    questions: Questions
    question: Ints
    choice: Ints
    participant: Ints
    participants: tuple[str, ...]
    swapped: Ints
    seconds: Floats
    heard: Floats
    at: Floats
    set_aside: Mask
    reasons: tuple[str, ...] = ()
    comments: tuple[str, ...] = ()
    source: str = ""
    sha256: str = ""
    rules: TrustRules | None = None
    least_seconds: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        n = len(self.question)
        columns = (self.choice, self.participant, self.swapped, self.seconds, self.heard, self.at, self.set_aside)
        if any(len(column) != n for column in columns) or (self.comments and len(self.comments) != n):
            lengths = sorted({*map(len, columns), *([len(self.comments)] if self.comments else [])})
            raise AdjudgeError(f"Study: expected columns of {n} answers each, got {', '.join(map(str, lengths))}")
        if n and not (0 <= int(self.question.min()) <= int(self.question.max()) < len(self.questions)):
            worst = int(self.question.min()) if int(self.question.min()) < 0 else int(self.question.max())
            raise AdjudgeError(f"Study: expected answers to {len(self.questions)} questions, from 0 on, got {worst}")
        if not bool(np.isin(self.choice, range(len(CHOICES))).all()):
            worst = int(self.choice[~np.isin(self.choice, range(len(CHOICES)))][0])
            raise AdjudgeError(f"Study: expected choices from 0 to 3 ({', '.join(CHOICES)}), got {worst}")
        if n and int(self.participant.max()) >= len(self.participants):
            people, worst = len(self.participants), int(self.participant.max())
            raise AdjudgeError(f"Study: expected answers of {people} participants, from 0 on, got {worst}")
        if self.reasons and len(self.reasons) != len(self.participants):
            people, given = len(self.participants), len(self.reasons)
            raise AdjudgeError(
                f"Study: expected a reason or an empty one for each of {people} participants, got {given}"
            )

    def __len__(self) -> int:
        return len(self.question)

    def __repr__(self) -> str:
        who = f" of {len(self.participants):,} participants" if self.knows_participants else ""
        return f"Study({len(self):,} answers{who} to {len(self.questions):,} questions)"

    @property
    def knows_participants(self) -> bool:
        """Whether it is known who gave each answer."""
        return bool(len(self)) and bool((self.participant >= 0).all())

    @cached_property
    def trap(self) -> Mask:
        """Which answers are to traps."""
        traps = np.array([one.is_trap for one in self.questions.questions], dtype=np.bool_)
        return traps[self.question] if len(self) else np.zeros(0, dtype=np.bool_)

    @cached_property
    def right(self) -> Mask:
        """Which answers to traps are among the expected ones; False for all other answers."""
        asked = self.questions.questions
        pairs = zip(self.question, self.choice, strict=True)
        return np.array([CHOICES[choice] in asked[place].expected for place, choice in pairs], dtype=np.bool_)

    def select(self, rows: Ints | Mask) -> Study:
        """Some of the answers."""
        names = ("question", "choice", "participant", "swapped", "seconds", "heard", "at", "set_aside")
        comments = tuple(np.array(self.comments, dtype=object)[rows]) if self.comments else ()
        return replace(self, **{name: getattr(self, name)[rows] for name in names}, comments=comments)

    def counted(self) -> Study:
        """The answers that say something about lists: no traps, nothing set aside."""
        return self.select(~self.trap & ~self.set_aside)

    def with_aside(self) -> Study:
        """The study had nothing been set aside."""
        return replace(self, set_aside=np.zeros(len(self), dtype=np.bool_))

    def without(self, participant: str) -> Study:
        """The study had one participant not come."""
        if participant not in self.participants:
            raise unknown("participant", participant, self.participants)
        return self.select(self.participant != self.participants.index(participant))

    def clusters(self) -> dict[str, Ints]:
        """What makes answers alike: the query, and the participant where any is known.

        Where some are not known, each such answer counts as somebody's only one.
        """
        queries = np.unique(np.array(self.questions.queries, dtype=object), return_inverse=True)[1]
        found = {"query": queries.astype(np.int64)[self.question]}
        if bool((self.participant >= 0).any()):
            alone = len(self.participants) + np.arange(len(self))
            found["participant"] = np.where(self.participant >= 0, self.participant, alone)
        return found
