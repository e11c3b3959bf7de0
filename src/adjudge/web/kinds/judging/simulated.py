"""Assessors made by code: they join, get questions and answer over HTTP as browsers do, and remember what came back.

What they believe comes from a truth: the relevance of a document to a query, from 0 to 1. An answer is

    relevance + severity of the assessor + noise,

both Gaussian, in parts of the scale, kept on the scale and brought to its nearest step. A lazy answer is the middle of
the scale or any point of it, as likely. Somebody who drops out hands their questions back; perhaps they return.

They read what the copy of a campaign shows: the names of the query and of the document.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from adjudge.web.client import Assessor, CampaignError, join
from adjudge.web.rehearse import Behaviour

Truth = Callable[[str, str], float]
"""Relevance of a document to a query, from 0 to 1."""


@dataclass(frozen=True)
class Acknowledged:
    """An answer that the server said it has."""

    answer: int
    key: str
    lease: str
    query: str
    document: str
    grades: Mapping[str, float]
    seconds: float
    again: bool


@dataclass
class SimulatedAssessor:
    """One person. ``step`` answers one question; what the server acknowledged is in ``answers``.

    ``sent`` are keys of answers that were sent, whether or not a reply came: one that came back with a refusal is
    among ``refused`` instead.
    """

    url: str
    invitation: str
    truth: Truth
    behaviour: Behaviour
    rng: np.random.Generator
    patience: float = 30.0
    answers: list[Acknowledged] = field(default_factory=list)
    sent: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    why: str | None = None

    def __post_init__(self) -> None:
        self.leaning = self.behaviour.severity * float(self.rng.standard_normal())
        self._client: Assessor | None = None
        self._assignment: dict[str, Any] | None = None

    @property
    def client(self) -> Assessor:
        """The connection; made by joining at the first use."""
        if self._client is None:
            self._client = join(self.url, self.invitation, patience=self.patience)
        return self._client

    def close(self) -> None:
        """Hang up."""
        if self._client is not None:
            self._client.close()

    def move(self) -> None:
        """Go on at another device: a new connection, and the assignment is asked for again."""
        if self._client is not None:
            token = self._client.token
            self._client.close()
            self._client = Assessor(self.url, token, patience=self.patience)
        self._assignment = None

    def leave(self) -> None:
        """Hand everything back."""
        self.client.leave()
        self._assignment = None

    def step(self) -> bool:
        """Answer the question in hand; False without one, and ``why`` says why."""
        assignment = self._assignment if self._assignment is not None else self.client.desk()
        question, self.why = assignment["question"], assignment["why"]
        if question is None:
            self._assignment = None
            return False
        names = question["query"]["text"], question["candidate"]["text"]
        grades = self.opinion(self.truth(*names), assignment["scales"])
        key = uuid.UUID(bytes=self.rng.bytes(16)).hex
        self.sent.append(key)
        began = time.perf_counter()
        try:
            taken = self.client.answer(question["lease"], grades, took_ms=int(1000 * self.behaviour.pace), key=key)
        except CampaignError as error:
            self._assignment = None
            if error.status is None or error.status >= 500:
                raise
            self.sent.remove(key)
            self.refused.append(str(error))
            return True
        seconds = time.perf_counter() - began
        self.answers.append(Acknowledged(taken.answer, key, question["lease"], *names, grades, seconds, taken.again))
        self._assignment = taken.desk
        return True

    def opinion(self, relevance: float, scales: Sequence[Mapping[str, Any]]) -> dict[str, float]:
        """Grades on every scale, from one idea of how relevant it is."""
        if self.rng.random() < self.behaviour.laziness:
            thought = 0.5 if self.rng.random() < 0.5 else float(self.rng.random())
        else:
            thought = relevance + self.leaning + self.behaviour.noise * float(self.rng.standard_normal())
        thought = min(1.0, max(0.0, thought))
        return {str(scale["name"]): _on_scale(thought, scale) for scale in scales}


def _on_scale(thought: float, scale: Mapping[str, Any]) -> float:
    """The nearest step of a scale; 0 is not relevant, its end is as relevant as can be."""
    step = float(scale["step"])
    return round(round(thought * float(scale["maximum"]) / step) * step, 9)


@dataclass(frozen=True)
class Account:
    """What the store has, held against what assessors were told; all of it should be nothing.

    ``lost`` were acknowledged and are not there, ``changed`` are there with other grades, ``doubled`` more than once,
    ``invented`` were never sent.
    """

    stored: int
    lost: tuple[str, ...]
    changed: tuple[str, ...]
    doubled: tuple[str, ...]
    invented: tuple[str, ...]

    @property
    def is_clean(self) -> bool:
        """Whether every acknowledged answer is there exactly once, and no other."""
        return not (self.lost or self.changed or self.doubled or self.invented)


def account(people: Iterable[SimulatedAssessor], rows: Iterable[Mapping[str, Any]]) -> Account:
    """Compare; ``rows`` are stored answers with ``key``, ``lease_id`` and ``grades``."""
    everybody = list(people)
    stored: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        stored.setdefault(row["key"], []).append(row)
    told = {answer.key: answer for person in everybody for answer in person.answers}
    sent = {key for person in everybody for key in person.sent}
    leases: dict[str, int] = {}
    for found in stored.values():
        for row in found:
            leases[row["lease_id"]] = leases.get(row["lease_id"], 0) + 1
    twice = [lease for lease, n in leases.items() if n > 1] + [key for key, found in stored.items() if len(found) > 1]
    other = [
        key for key, answer in told.items() if key in stored and dict(stored[key][0]["grades"]) != dict(answer.grades)
    ]
    return Account(
        sum(map(len, stored.values())),
        tuple(key for key in told if key not in stored),
        tuple(other),
        tuple(twice),
        tuple(key for key in stored if key not in sent),
    )
