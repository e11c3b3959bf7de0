"""Answers that show a cue of attention, and answers that do not; and what the documentation says of each cue."""

from __future__ import annotations

from adjudge.preferences.trust import AnswerFacts

USUAL = (0.6, 0.2, 0.2)

SHARES = {"time": 1 / 2, "side": 1 / 3, "choice": 1 / 4, "identical": 3 / 4, "repeats": 3 / 5}
"""Share of the people who do not listen that show the cue: docs/guides/preferences_participants.md."""

FLOORS = {"time": 0.1, "side": 1e-3, "choice": 1e-3, "identical": 1e-3, "repeats": 1e-3}
"""The least factor, unless the cue is extreme: clocks go wrong, so time alone says little."""

FLOOR_OF_EXTREMES = 1e-3


def _side(*sides: str) -> list[AnswerFacts]:
    return [AnswerFacts(False, choice="a", side="left" if side == "left" else "right") for side in sides]


PATTERNS: dict[str, tuple[list[AnswerFacts], list[AnswerFacts]]] = {
    "time": (
        [AnswerFacts(False, seconds=1.0, least_seconds=60.0)],
        [AnswerFacts(False, seconds=90.0, least_seconds=60.0)],
    ),
    "side": (_side("left"), _side("left", "left", "right", "right")),
    "choice": (
        [AnswerFacts(False, choice="good")],
        [AnswerFacts(False, choice=choice) for choice in ("a", "b", "a", "good", "bad")],
    ),
    "identical": (
        [AnswerFacts(False, choice="a", identical_lists=True)],
        [AnswerFacts(False, choice="good", identical_lists=True)],
    ),
    "repeats": ([AnswerFacts(False, same=False)], [AnswerFacts(False, same=True)]),
}
"""By cue: answers of somebody who shows it, again and again, and of somebody who does not."""


def answers_that(name: str, *, shows: bool) -> list[AnswerFacts]:
    """A piece of evidence for a cue, or against it."""
    return PATTERNS[name][0 if shows else 1]
