"""A study of simulated people with known curves, some of whom do not listen."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from adjudge.preferences.questions import CHOICES, Question, Questions, joined
from adjudge.preferences.simulated import Simulated, simulate_study
from adjudge.preferences.study import Study
from adjudge.users import find_agreement, find_satisfaction
from adjudge.users.noticing import AgreementMapping
from adjudge.users.satisfaction import SatisfactionMapping

LEAST_SECONDS = 40.0


def questions(n: int = 240, n_traps: int = 12, seed: int = 1) -> Questions:
    """Questions with Fine and Broad grades, and traps of every answer."""
    rng = np.random.default_rng(seed)
    fine = rng.integers(0, 101, (n, 2, 5)).astype(float)
    fine[:, 1] = np.clip(fine[:, 1] * rng.random((n, 1)) * 1.5, 0, 100).round()
    lists = (tuple("vwxyz"), tuple("klmno"))
    asked = Questions(
        tuple(Question(f"s{i}", f"q{i % 30}", *lists) for i in range(n)),
        {"fine": fine, "broad": (fine // 34).clip(0, 2)},
    )
    traps = tuple(Question(f"t{i}", "q", *lists, frozenset([CHOICES[i % 4]])) for i in range(n_traps))
    return joined([asked, Questions(traps)])


@lru_cache(maxsize=16)
def simulated(
    participants: int = 30, per_participant: int = 30, spammers: float = 0.2, seed: int = 3, n: int = 240
) -> Simulated:
    """A study; the same arguments give the same one."""
    satisfaction, agreement = (find("CG@5", "fine").mapping for find in (find_satisfaction, find_agreement))
    assert isinstance(satisfaction, SatisfactionMapping)
    assert isinstance(agreement, AgreementMapping)
    return simulate_study(
        questions(n),
        satisfaction=satisfaction,
        agreement=agreement,
        measure="CG@5",
        scale="fine",
        participants=participants,
        per_participant=per_participant,
        spammers=spammers,
        seed=seed,
    )


def renamed(study: Study, names: dict[str, str]) -> Study:
    """The same study with other names of participants."""
    return replace(study, participants=tuple(names.get(name, name) for name in study.participants))
