"""Rehearsing a campaign: simulated assessors judge a copy of it through a real server, several times over.

A rehearsal starts ``adjudge serve`` on a copy in a temporary folder (the same runs and settings; everything is read
instead of heard), lets simulated assessors (``adjudge.web.simulated``) judge until the goal is reached, and holds the
ranking that the server then shows against the truth. Assessors live in simulated time: each answer takes its seconds
there, drawn from a lognormal distribution around their pace, and none here. Answers that come within ``TOGETHER``
seconds of one another are sent at the same time, from threads; after them the server may think, as it can when real
people listen.

The truth is what judgments say, or is drawn: the relevance of all candidates together, from the hierarchical model as
it stands after the answers that the campaign has so far, a new draw for each repetition. That is what the engine itself
expects, so a drawn truth tells what the campaign would cost if the model is right.
"""

from __future__ import annotations

import heapq
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import select

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError, reason
from adjudge.model.collection import Collection
from adjudge.model.judgments import Judgments
from adjudge.relevance.base import scoring
from adjudge.relevance.candidates import Candidates, candidates
from adjudge.relevance.simulation import true_scores
from adjudge.web.client import Campaign, connect
from adjudge.web.database import open_database
from adjudge.web.hearing import Heard
from adjudge.web.judging_settings import JudgingSettings
from adjudge.web.people import add_organiser, make_token
from adjudge.web.schema import answer
from adjudge.web.serving import ServerProcess
from adjudge.web.settings import Settings
from adjudge.web.simulated import Account, Behaviour, SimulatedAssessor, account
from adjudge.web.stand_in import stand_in

TOGETHER = 1.0
"""Answers within so many simulated seconds are sent at once: about how long the engine takes to follow."""
AWAY, IMPATIENCE = 600.0, 5.0  # simulated seconds: of a break, and until somebody without a question asks again
SPREAD = 0.5  # sd of the logarithm of how long an answer takes
_MOST_IDLE = 40  # rounds in which nobody got a question
_THINKING = 30.0  # real seconds that the server may take to follow
NAME = "rehearsal"


@dataclass(frozen=True)
class Plan:
    """How to rehearse: how many assessors, how they are, how often, from which seed; at most so many answers each."""

    assessors: int = 5
    behaviour: Behaviour = field(default_factory=Behaviour)
    repeats: int = 5
    seed: int = 0
    most_answers: int | None = None

    def __post_init__(self) -> None:
        for name, least, most in (("assessors", 1, 500), ("repeats", 1, 1000)):
            if not least <= getattr(self, name) <= most:
                raise AdjudgeError(f"{name!r} must be from {least} to {most}, got {getattr(self, name)}")
        if self.seed < 0:
            raise AdjudgeError(f"'seed' must be a whole number of at least 0, got {self.seed}")


@dataclass(frozen=True)
class Trial:
    """One repetition.

    ``judgments`` are pairs judged when the goal was reached (or nobody was left), ``answers`` everything that people
    did. ``accuracy`` is the share of pairs of systems in the true order, ``tau`` follows from it, ``best`` says whether
    the best system was named. Of ``claims`` that one system is better, ``wrong`` are not so. ``latencies`` are of
    "answer and get the next", in seconds.
    """

    seed: int
    reached: bool
    judgments: int
    candidates: int
    answers: int
    person_hours: float
    hours: float
    accuracy: float
    tau: float
    best: bool
    claims: int
    wrong: int
    left: int
    account: Account
    latencies: tuple[float, ...]


def rehearse(
    collection: Collection,
    campaign: JudgingSettings,
    plan: Plan,
    *,
    truths: Sequence[Floats],
    heard: Heard | None = None,
    keep: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
    workers: int | None = None,
) -> list[Trial]:
    """Every repetition of a plan, each against its truth (the last one serves for all that follow).

    A truth is the relevance of each candidate, in the order of :func:`candidates_for`; ``heard`` is for estimators that
    listen, see :func:`~adjudge.web.hearing.all_heard`. ``keep`` is a new folder for the data of the first repetition,
    with everybody's answers: to be served, looked at and exported like any other.
    """
    if keep is not None:
        _make_folder(keep)
    pool = candidates_for(collection, campaign)
    done = 0
    counting = threading.Lock()

    def one(number: int) -> Trial:
        nonlocal done
        truth = truths[min(number, len(truths) - 1)]
        kept = keep if number == 0 else None
        trial = _trial(collection, campaign, plan, pool=pool, truth=truth, number=number, heard=heard, keep=kept)
        with counting:
            done += 1
            if progress is not None:
                progress(done, plan.repeats)
        return trial

    at_once = workers or min(plan.repeats, max(1, (os.cpu_count() or 2) // 2))
    with ThreadPoolExecutor(max_workers=at_once) as threads:
        return list(threads.map(one, range(plan.repeats)))


def candidates_for(collection: Collection, campaign: JudgingSettings) -> Candidates:
    """What a campaign asks about, whatever is judged already."""
    unjudged = replace(collection, judgments=None)
    return candidates(unjudged, cutoff=campaign.cutoff, scale=campaign.evaluated.scale).retrieved()


def drawn_truths(pool: Candidates, measure: str, *, n: int, seed: int) -> list[Floats]:
    """Relevance of all candidates together, drawn from the hierarchical model, given what ``pool`` knows already."""
    from adjudge.relevance.base import start
    from adjudge.relevance.hierarchical.model import HierarchicalModel

    model = start("hierarchical", pool, scoring(measure, pool.scale))
    if not isinstance(model, HierarchicalModel):  # pragma: no cover - that is what it starts
        raise AdjudgeError("Expected the hierarchical model.")
    return list(model.drawn(n, np.random.default_rng(seed)))


def judged_truth(pool: Candidates, judgments: Judgments) -> Floats:
    """Relevance as judgments say; candidates that nobody judged are not relevant, as everywhere else."""
    query = np.repeat(np.arange(judgments.n_queries), np.diff(judgments.pool.offsets))
    names = zip(judgments.queries.decode(query), judgments.documents.decode(judgments.pool.documents), strict=True)
    known = dict(zip(names, (judgments.pool.grades / judgments.scale.maximum).tolist(), strict=True))
    pairs = zip((pool.queries[q] for q in pool.query), pool.document, strict=True)
    found = np.array([known.get(pair, np.nan) for pair in pairs])
    if np.isnan(found).all():
        raise AdjudgeError("The judgments are about none of the campaign's candidates.")
    return np.asarray(np.clip(np.nan_to_num(found), 0.0, 1.0))


def _trial(
    collection: Collection,
    campaign: JudgingSettings,
    plan: Plan,
    *,
    pool: Candidates,
    truth: Floats,
    number: int,
    heard: Heard | None,
    keep: Path | None,
) -> Trial:
    """One repetition on a server of its own."""
    rng = np.random.default_rng(np.random.SeedSequence(plan.seed, spawn_key=(number,)))
    rehearsed = campaign.model_copy(update={"consent": {}, "listen_seconds": 0.0, "seed": plan.seed + number})
    with tempfile.TemporaryDirectory(prefix="adjudge-rehearsal-") as folder:
        settings = Settings(data=Path(folder) / "data")
        invitation, token = _prepare(settings, collection, rehearsed, heard)
        with ServerProcess(settings.data) as server, connect(server.url, token) as organiser:
            read = _reader(pool, truth)
            stage = _Stage(organiser.campaign(NAME), plan, url=server.url, rng=rng, invitation=invitation, truth=read)
            stage.play()
            picture = stage.picture
            server.stop()
        checked = account(stage.people, _stored(settings))
        if keep is not None:
            shutil.copytree(settings.data, keep, dirs_exist_ok=True)
    return _outcome(plan.seed + number, stage, picture, true_of(pool, campaign, truth), checked)


def true_of(pool: Candidates, campaign: JudgingSettings, truth: Floats) -> dict[str, float]:
    """What each system is worth in truth."""
    known = replace(pool, relevance=truth)
    return dict(zip(pool.systems, true_scores(known, scoring(campaign.measure, pool.scale)).tolist(), strict=True))


def _reader(pool: Candidates, truth: Floats) -> Callable[[str, str], float]:
    return lambda query, document: float(truth[pool.find(query, document)])


def _make_folder(keep: Path) -> None:
    """Make the folder that a rehearsal is kept in now: after it, it would be late to find that this cannot be."""
    try:
        keep.mkdir(parents=True, exist_ok=True)
        is_used = any(keep.iterdir())
    except OSError as error:
        raise AdjudgeError(f"{keep}: cannot be made: {reason(error)}") from None
    if is_used:
        raise AdjudgeError(f"{keep}: expected a new folder to keep the rehearsal in, got one with something in it")


def _prepare(
    settings: Settings, collection: Collection, campaign: JudgingSettings, heard: Heard | None
) -> tuple[str, str]:
    """A copy of the campaign in the store; the tokens of an invitation and of its organiser."""
    database = open_database(settings)
    now = settings.clock()
    with database.write() as connection:
        organiser = add_organiser(connection, login=NAME, password=os.urandom(16).hex(), is_admin=False, now=now)
        token = make_token(connection, organiser, name=NAME, expires_at=None, now=now)[1]
    made = stand_in(
        database, settings, name=NAME, collection=collection, campaign=campaign, organiser_id=organiser.id, heard=heard
    )
    database.close()
    return made.invitation, token


def _stored(settings: Settings) -> list[dict[str, Any]]:
    """Every answer in the store."""
    database = open_database(settings)
    with database.read() as connection:
        rows = connection.execute(select(answer.c.key, answer.c.lease_id, answer.c.grades)).mappings().all()
    database.close()
    return [dict(row) for row in rows]


class _Stage:
    """Assessors in simulated time, before a running server."""

    def __init__(
        self,
        campaign: Campaign,
        plan: Plan,
        *,
        url: str,
        rng: np.random.Generator,
        invitation: str,
        truth: Callable[[str, str], float],
    ) -> None:
        self.campaign, self.plan, self.rng = campaign, plan, rng
        self.people = [
            SimulatedAssessor(url, invitation, truth, plan.behaviour, np.random.default_rng(rng.integers(2**63)))
            for _ in range(plan.assessors)
        ]
        self.picture: dict[str, Any] = {}
        self.judged_when_reached: int | None = None
        self.worked, self.clock, self.left = 0.0, 0.0, 0

    def play(self) -> None:
        """Until the goal is reached, everything is judged or nobody is left."""
        waiting = [(self._seconds(), place) for place in range(len(self.people))]
        heapq.heapify(waiting)
        idle = 0
        with ThreadPoolExecutor(max_workers=len(self.people)) as threads:
            while waiting and idle < _MOST_IDLE:
                turn = [heapq.heappop(waiting)]
                while waiting and waiting[0][0] <= turn[0][0] + TOGETHER:
                    turn.append(heapq.heappop(waiting))
                asked = list(threads.map(lambda one: self.people[one[1]].step(), turn))
                idle = 0 if any(asked) else idle + 1
                for (at, place), got in zip(turn, asked, strict=True):
                    following = self._following(place, at, got)
                    if following is not None:
                        heapq.heappush(waiting, (following, place))
                self._look()
        for person in self.people:
            person.close()

    def _following(self, place: int, at: float, got: bool) -> float | None:
        """When somebody is back for their next question; None where they are done."""
        person, behaviour = self.people[place], self.plan.behaviour
        if not got:
            return at + IMPATIENCE if person.why == "wait" else None
        took = self._seconds()
        self.worked += took
        self.clock = max(self.clock, at)
        if self.plan.most_answers is not None and len(person.answers) >= self.plan.most_answers:
            person.leave()
            return None
        if self.rng.random() >= behaviour.drop_out:
            return at + took
        person.leave()
        if self.rng.random() >= behaviour.comes_back:
            self.left += 1
            return None
        person.move()
        return at + took + AWAY * float(self.rng.exponential())

    def _seconds(self) -> float:
        return self.plan.behaviour.pace * float(np.exp(SPREAD * self.rng.standard_normal()))

    def _look(self) -> None:
        """Wait until the server has learned from everything, and see what it believes."""
        n = sum(len(person.answers) for person in self.people)
        end, pause = time.monotonic() + _THINKING, 0.02
        while time.monotonic() < end:
            self.picture = self.campaign.picture()
            if self.picture.get("made_from", {}).get("answers", -1) >= n:
                break
            time.sleep(pause)
            pause = min(1.5 * pause, 0.2)  # asking takes time from the server that thinks
        else:
            raise AdjudgeError(f"The server did not learn from {n} answers within {_THINKING:g} seconds.")
        if self.judged_when_reached is None and self.picture["status"]["done"]:
            self.judged_when_reached = int(self.picture["status"]["judged"])


def _outcome(seed: int, stage: _Stage, picture: dict[str, Any], truth: dict[str, float], checked: Account) -> Trial:
    """What came of it, held against the truth."""
    scores = {row["system"]: float(row["score"]) for row in picture["ranking"]}
    accuracy = agreement(scores, truth)
    best = max(truth.values())
    first = [row["system"] for row in picture["ranking"] if row["rank"] == 1]
    claims = [pair for pair in picture["pairs"] if pair["verdict"] == "better"]
    judged = int(picture["status"]["judged"])
    return Trial(
        seed=seed,
        reached=stage.judged_when_reached is not None,
        judgments=judged if stage.judged_when_reached is None else stage.judged_when_reached,
        candidates=int(picture["status"]["candidates"]),
        answers=sum(len(person.answers) for person in stage.people),
        person_hours=stage.worked / 3600,
        hours=stage.clock / 3600,
        accuracy=accuracy,
        tau=2 * accuracy - 1,
        best=any(truth[system] >= best - 1e-12 for system in first),
        claims=len(claims),
        wrong=sum(truth[pair["system"]] < truth[pair["other"]] - 1e-12 for pair in claims),
        left=stage.left,
        account=checked,
        latencies=tuple(one.seconds for person in stage.people for one in person.answers),
    )


def agreement(scores: Mapping[str, float], truth: Mapping[str, float]) -> float:
    """Share of pairs of systems in the true order; any order of true ties is right, no order is half right.

    >>> agreement({"a": 3, "b": 2, "c": 1}, {"a": 3, "b": 1, "c": 2})
    0.6666666666666666
    """
    names = sorted(truth)
    right = []
    for place, one in enumerate(names):
        for other in names[place + 1 :]:
            true, found = truth[one] - truth[other], scores[one] - scores[other]
            right.append(1.0 if abs(true) < 1e-12 else 0.5 if abs(found) < 1e-12 else float(true * found > 0))
    return float(np.mean(right)) if right else 1.0
