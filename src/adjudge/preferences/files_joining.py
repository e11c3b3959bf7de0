"""Several studies as one: the same questions asked twice, or other questions of the same people."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from adjudge.arrays import Ints
from adjudge.errors import AdjudgeError
from adjudge.preferences.questions import Questions, joined
from adjudge.preferences.study import Study


def joined_studies(studies: Sequence[Study]) -> Study:
    """One study of all answers, in the order given.

    A question of one name that is the same in two studies, grades included, is one question; another one gets the name
    of its file before its own. Participants of one name are one person. The digest is that of all digests.

    >>> from adjudge.preferences.simulated import example_study
    >>> study = example_study(participants=3, per_participant=5)
    >>> joined_studies([study, study])
    Study(30 answers of 3 participants to 400 questions)
    """
    if not studies:
        raise AdjudgeError("expected one or more studies to join, got none")
    if len(studies) == 1:
        return studies[0]
    parts, places = _questions(studies)
    people = tuple(dict.fromkeys(name for one in studies for name in one.participants))
    spots = {name: place for place, name in enumerate(people)}
    who = [
        np.array([*(spots[name] for name in one.participants), -1], dtype=np.int64)[one.participant] for one in studies
    ]
    reasons = dict.fromkeys(people, "")
    for one in studies:
        reasons |= {name: why for name, why in zip(one.participants, one.reasons, strict=False) if why}

    columns: dict[str, Any] = {
        name: np.concatenate([getattr(one, name) for one in studies])
        for name in ("choice", "swapped", "seconds", "heard", "at", "set_aside")
    }
    said = any(one.comments for one in studies)
    return Study(
        joined(parts),
        np.concatenate([place[one.question] for place, one in zip(places, studies, strict=True)]),
        participant=np.concatenate(who),
        participants=people,
        **columns,
        reasons=tuple(reasons.values()) if any(reasons.values()) else (),
        comments=tuple(text for one in studies for text in one.comments or ("",) * len(one)) if said else (),
        source=", ".join(one.source for one in studies),
        sha256=hashlib.sha256("".join(one.sha256 for one in studies).encode()).hexdigest(),
    )


def _questions(studies: Sequence[Study]) -> tuple[list[Questions], list[Ints]]:
    """The questions that each study adds, and where in the whole each of its own questions is."""
    known: dict[str, tuple[int, int]] = {}  # name -> place in the whole and in its study; the study by the place
    owners: list[tuple[Study, int]] = []
    parts, places = [], []
    for number, study in enumerate(studies):
        asked = study.questions
        new, place = [], np.empty(len(asked), dtype=np.int64)
        for i, one in enumerate(asked.questions):
            name = one.name
            if name in known and not _same(*owners[known[name][0]], study, i):
                name = f"{Path(study.source).stem or number + 1}/{name}"
                while name in known:
                    name += "'"
            if name not in known:
                known[name] = len(owners), i
                owners.append((study, i))
                new.append((i, replace(one, name=name)))
            place[i] = known[name][0]
        chosen = asked.select([i for i, _ in new])
        parts.append(Questions(tuple(one for _, one in new), chosen.grades))
        places.append(place)
    return parts, places


def _same(one: Study, i: int, other: Study, j: int) -> bool:
    """Whether two questions are the same, as far as both know."""
    first, second = one.questions, other.questions
    if first.questions[i] != second.questions[j]:
        return False
    shared = set(first.grades) & set(second.grades)
    k = min(first.n_ranks, second.n_ranks)
    return set(first.grades) == set(second.grades) and all(
        np.array_equal(first.grades[s][i][:, :k], second.grades[s][j][:, :k], equal_nan=True) for s in shared
    )
