"""The organiser's picture: ranking, confidence, what is left to do, and the people, as one value for page and API.

Numbers come from the session, the projection and monitoring; here they are put together, kept, and read again. A
picture replaces the one before it as a whole, with the next version, in the transaction that lays the queue.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from adjudge.io import plain
from adjudge.relevance.session import Session, SystemPair
from adjudge.web import monitoring
from adjudge.web.campaign_rows import Campaign
from adjudge.web.learning import PairRow
from adjudge.web.monitoring import Watched
from adjudge.web.projection import Projection
from adjudge.web.schema import picture, progress, run

MOST_POINTS = 200
"""Points of the trajectory that are drawn."""
MOST_PAIRS = 780
"""Pairs of systems that are listed: all of 40 systems. Of more the most doubtful are."""
_STEPS = 400  # a trajectory is kept in about so many points


@dataclass(frozen=True)
class MadeFrom:
    """What a picture was made from: it is out of date when any of it changed."""

    last_answer: int = 0
    answers: int = 0
    last_event: int = 0
    state: str = ""
    live: tuple[str, ...] = ()

    @classmethod
    def of(cls, values: Mapping[str, Any] | None) -> MadeFrom | None:
        """As it was kept in a picture."""
        if not values:
            return None
        return cls(**{**values, "live": tuple(values.get("live", ()))})


def as_reached(found: Campaign, *, done: bool, now: float) -> Campaign:
    """A campaign with since when it has what it wants; what it had when it closed stays."""
    at = (found.reached_at or now) if done else found.reached_at if found.state == "closed" else None
    return replace(found, reached_at=at)


@dataclass(frozen=True)
class Looked:
    """Everything that a picture shows, as it was found at one moment.

    ``agreement`` and ``expected`` are of the monitoring; ``done`` and ``reason`` say whether judging can stop.
    """

    campaign: Campaign
    session: Session
    pairs: tuple[PairRow, ...]
    watched: Watched
    made_from: MadeFrom
    projection: Projection | None
    agreement: Mapping[str, Any]
    expected: Mapping[tuple[str, int], float]
    done: bool
    reason: str
    now: float


def complete_share(pairs: Sequence[PairRow]) -> float:
    """Share of the wanted answers that are there; pairs that are held back do not count."""
    wanted = sum(pair.wanted for pair in pairs if not pair.held)
    there = sum(min(pair.answered, pair.wanted) for pair in pairs if not pair.held)
    return there / wanted if wanted else 1.0


def make_picture(connection: Connection, looked: Looked) -> dict[str, Any]:
    """The picture without its version; plain values, None where something is unknown."""
    found, session, watched = looked.campaign, looked.session, looked.watched
    scale = found.judging.evaluated
    people = monitoring.assessors(watched, scale, looked.expected, now=looked.now)
    left = _left(looked, people)
    made = {
        "made_at": looked.now,
        "made_from": asdict(looked.made_from),
        "campaign": _campaign(found),
        "status": _status(looked),
        "ranking": _ranking(connection, found, session),
        "pairs": [asdict(one) for one in _doubtful(session.pairs())],
        "saved": _saved(looked),
        "projection": left,
        "agreement": dict(looked.agreement),
        "assessors": people,
        "problems": monitoring.problems(connection, found.id),
        "trajectory": _trajectory(connection, looked),
        "repeats": {
            "n": len(watched.repeats),
            "scales": {one.name: monitoring.consistency(watched.repeats, one) for one in found.judging.scales},
        },
        "notes": _notes(looked),
    }
    values: dict[str, Any] = plain(made)
    return values


def _campaign(found: Campaign) -> dict[str, Any]:
    return {
        "name": found.name,
        "title": found.settings.title,
        "state": found.state,
        "reached_at": found.reached_at,
    }


def _status(looked: Looked) -> dict[str, Any]:
    status, goal = looked.session.status(), looked.campaign.judging.goal
    everything = goal.kind == "everything"
    return {
        "judged": status.n_judged,
        "candidates": status.n_candidates,
        "answers": len(looked.watched.grades),
        "value": complete_share(looked.pairs) if everything else status.value,
        "wanted": 1.0 if everything else status.wanted,
        "kind": goal.kind,
        "done": looked.done,
        "reason": looked.reason,
        "mean_confidence": status.mean_confidence,
    }


def _ranking(connection: Connection, found: Campaign, session: Session) -> list[dict[str, Any]]:
    rows = connection.execute(select(run.c.system, run.c.team).where(run.c.campaign_id == found.id))
    teams = {row.system: row.team for row in rows}
    return [{**asdict(row), "team": teams.get(row.system)} for row in session.ranking()]


def _doubtful(pairs: Sequence[SystemPair]) -> Sequence[SystemPair]:
    """The pairs of systems that are shown, the largest difference first."""
    if len(pairs) <= MOST_PAIRS:
        return pairs
    kept = sorted(range(len(pairs)), key=lambda place: pairs[place].confidence)[:MOST_PAIRS]
    return [pairs[place] for place in sorted(kept)]


def _saved(looked: Looked) -> int | None:
    """Candidates that need no judgment; None where that cannot be said."""
    n_candidates, n_judged = len(looked.session.candidates), looked.session.view.n_judged
    if looked.done:
        return n_candidates - n_judged
    if looked.projection is None or looked.projection.total is None:
        return 0 if looked.campaign.judging.goal.kind == "everything" else None
    return max(0, n_candidates - max(looked.projection.total, n_judged))


def _left(looked: Looked, people: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Answers that are still to give: those of pairs to come, and of pairs that are begun.

    ``pairs`` is the number of pairs to come. ``hours`` are hours of work of one person at the pace of those who judge.
    """
    begun = sum(pair.wanted - pair.answered for pair in looked.pairs if is_begun(pair))
    fresh = [pair.wanted for pair in looked.pairs if not pair.answered and not pair.held]
    if looked.done:
        ends: tuple[int | None, ...] = (0, 0, 0)
    elif looked.projection is None:
        ends = (len(fresh),) * 3
    else:  # at least one: a projection that was overtaken is wrong, but the goal is not reached
        left = looked.projection.left(looked.session.view.n_judged)
        ends = tuple(None if end is None else max(1, end) for end in left)
    each = sum(fresh) / len(fresh) if fresh else 0.0
    remaining, low, high = (None if end is None else begun + round(min(end, len(fresh)) * each) for end in ends)
    pace = sorted(one["per_hour"] for one in people if one["per_hour"])
    typical = pace[len(pace) // 2] if pace else None
    return {
        "remaining": remaining,
        "low": low,
        "high": high,
        "pairs": None if ends[0] is None else min(ends[0], len(fresh)),
        "hours": remaining / typical if typical and remaining is not None else None,
        "why": None if looked.projection is None or looked.done else looked.projection.why,
    }


def is_begun(pair: PairRow) -> bool:
    """Whether somebody answered, but not everybody who was wanted."""
    return 0 < pair.answered < pair.wanted and not pair.held


def _notes(looked: Looked) -> list[str]:
    notes = list(looked.session.candidates.notes)
    n_systems = len(looked.session.candidates.systems)
    if n_systems * (n_systems - 1) // 2 > MOST_PAIRS:
        notes.append(f"Of the pairs of systems the {MOST_PAIRS} most doubtful are listed.")
    held = sum(pair.held for pair in looked.pairs)
    if held:
        notes.append(f"{held:,} {'pairs are' if held > 1 else 'pair is'} held back and will not be asked.")
    return list(dict.fromkeys(notes))


def _trajectory(connection: Connection, looked: Looked) -> list[list[float]]:
    """How the goal came nearer, to now, in a bounded number of points."""
    rows = connection.execute(
        select(progress.c.judged, progress.c.value, progress.c.confidence)
        .where(progress.c.campaign_id == looked.campaign.id, progress.c.last_answer < looked.made_from.last_answer)
        .order_by(progress.c.last_answer)
    )
    status = _status(looked)
    points = [[row.judged, row.value, row.confidence] for row in rows]
    return thinned([*points, [status["judged"], status["value"], status["mean_confidence"]]])


def thinned(points: list[list[float]], most: int = MOST_POINTS) -> list[list[float]]:
    """At most so many points, evenly, the first and the last among them.

    >>> thinned([[n] for n in range(10)], 4)
    [[0], [3], [6], [9]]
    """
    if len(points) <= most:
        return points
    return [points[round(place * (len(points) - 1) / (most - 1))] for place in range(most)]


def store_picture(connection: Connection, looked: Looked, content: dict[str, Any]) -> int:
    """Replace the picture, and keep a point of the trajectory; the new version."""
    version = replace_picture(connection, looked.campaign.id, content)
    _keep_point(connection, looked, content["status"])
    return version


def replace_picture(connection: Connection, campaign_id: int, content: dict[str, Any]) -> int:
    """Put a picture of any kind in the place of the one before it; the new version."""
    mine = picture.c.campaign_id == campaign_id
    before = connection.execute(select(picture.c.version).where(mine).with_for_update()).scalar_one_or_none()
    version = (before or 0) + 1
    values = {
        "version": version,
        "last_answer": content["made_from"]["last_answer"],
        "made_at": content["made_at"],
        "content": {"version": version, **content},
    }
    if before is None:
        connection.execute(insert(picture).values(campaign_id=campaign_id, **values))
    else:
        connection.execute(update(picture).where(mine).values(**values))
    return version


def _keep_point(connection: Connection, looked: Looked, status: Mapping[str, Any]) -> None:
    """A point where judgments came and the one before is some way off, or where the goal is reached."""
    of_campaign = progress.c.campaign_id == looked.campaign.id
    last = connection.execute(
        select(progress.c.last_answer, progress.c.judged)
        .where(of_campaign)
        .order_by(progress.c.last_answer.desc())
        .limit(1)
    ).first()
    step = max(1, status["candidates"] // _STEPS)
    if last is not None and (
        last.last_answer >= looked.made_from.last_answer
        or (abs(status["judged"] - last.judged) < step and not status["done"])
        or status["judged"] == last.judged
    ):
        return
    values = {
        "last_answer": looked.made_from.last_answer,
        "judged": status["judged"],
        "value": status["value"],
        "confidence": status["mean_confidence"],
        "at": looked.now,
    }
    connection.execute(insert(progress).values(campaign_id=looked.campaign.id, **values))


def read_picture(connection: Connection, campaign_id: int) -> dict[str, Any] | None:
    """The picture as it is now, None where there is none yet."""
    content = connection.execute(
        select(picture.c.content).where(picture.c.campaign_id == campaign_id)
    ).scalar_one_or_none()
    return None if content is None else dict(content)


def picture_version(connection: Connection, campaign_id: int) -> int:
    """The version of the picture, 0 where there is none yet."""
    query = select(func.max(picture.c.version)).where(picture.c.campaign_id == campaign_id)
    return connection.execute(query).scalar_one() or 0


def empty_picture(found: Campaign) -> dict[str, Any]:
    """A picture before anything was learned, of version 0."""
    goal = found.judging.goal
    return {
        "version": 0,
        "made_at": None,
        "campaign": _campaign(found),
        "status": {
            "judged": 0,
            "candidates": 0,
            "answers": 0,
            "value": None,
            "wanted": 1.0 if goal.kind == "everything" else goal.goal.wanted,
            "kind": goal.kind,
            "done": False,
            "reason": "nothing is estimated yet",
            "mean_confidence": None,
        },
        "ranking": [],
        "pairs": [],
        "saved": None,
        "projection": {
            "remaining": None,
            "low": None,
            "high": None,
            "pairs": None,
            "hours": None,
            "why": "nothing is estimated yet",
        },
        "agreement": {},
        "assessors": [],
        "problems": [],
        "trajectory": [],
        "repeats": {"n": 0, "scales": {}},
        "notes": [],
    }
