"""Learning from answers in the background: what to ask next, and the organiser's picture.

A thread of each process looks for campaigns in which something happened since their picture was made, learns from it,
and lays the queue and the picture anew, both or neither. It rests at least twice as long as the last refresh computed,
so that estimating costs a third of one core at most, and assessors wait for nothing: the queue that is there serves
meanwhile. Of several processes one at a time does a campaign. What fails is logged and tried again, later each time.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from sqlalchemy import Connection, func, select, text, update

from adjudge.relevance.session import Session
from adjudge.web import monitoring
from adjudge.web.campaign_rows import Campaign, campaign_by_id
from adjudge.web.costly import COST, SECONDS, Costly
from adjudge.web.database import Database
from adjudge.web.errors import NotFound
from adjudge.web.hearing import hear
from adjudge.web.learning import Learner, PairRow
from adjudge.web.leasing import lay_queue
from adjudge.web.monitoring import Watched
from adjudge.web.one_core import keep_to_one_core
from adjudge.web.picturing import Looked, MadeFrom, as_reached, is_begun, make_picture, replace_picture, store_picture
from adjudge.web.preference_picturing import KnownPreferences, picture_preferences
from adjudge.web.projection import Projection, project
from adjudge.web.ranking_picturing import make_ranking_picture
from adjudge.web.schema import answer, campaign, event, pair, picture
from adjudge.web.settings import Settings

QUEUE = 200
"""Pairs that are laid out beyond those that are in somebody's hands."""
LONGEST_REST = 10.0
AFTER_CLOSING = 3600.0
"""So long after a campaign closed answers to questions given out before are still looked for, in seconds."""
_LOCK = 726_381_701  # with the campaign's number, any pair of numbers that nobody else locks in this database
_LIVE_EVERY = 5.0
_log = logging.getLogger(__name__)


@dataclass
class _Known:
    """What this process knows of a campaign."""

    learner: Learner = field(default_factory=Learner)
    projection: Costly = field(default_factory=Costly)
    people: Costly = field(default_factory=Costly)
    preferences: KnownPreferences = field(default_factory=KnownPreferences)
    last_event: int = -1
    failures: int = 0
    not_before: float = 0.0
    revisit_at: float | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True)
class _There:
    """What is in the store of a campaign at a time."""

    campaign: Campaign
    present: MadeFrom
    pairs: tuple[PairRow, ...]
    now: float


@dataclass(frozen=True)
class _Made:
    """A picture to store, and when to look again at the latest; of a judging campaign also what it was made of."""

    campaign: Campaign
    made_from: MadeFrom
    content: dict[str, Any]
    again_at: float | None
    looked: Looked | None = None


class Estimating:
    """The estimator of a server: ``start`` it, tell it what ``changed``, ``stop`` it."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self._settings, self._database = settings, database
        self._known: dict[int, _Known] = {}
        self._guard = threading.Lock()
        self._wake, self._stopping = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None
        self._live_at = 0.0

    def start(self) -> None:
        """Watch from now on, unless the settings say that this server does not estimate."""
        if not self._settings.estimate or self._thread is not None:
            return
        keep_to_one_core()
        self._stopping.clear()
        self._thread = threading.Thread(target=self._watch, name="estimating", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Watch no longer; a refresh that is under way is finished first."""
        self._stopping.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(timeout=30)
            self._thread = None

    @property
    def stopping(self) -> bool:
        """Whether ``stop`` was called: whoever waits for pictures can go."""
        return self._stopping.is_set()

    def changed(self, campaign_id: int) -> None:
        """Something happened in a campaign: look soon."""
        self._of(campaign_id).revisit_at = 0.0
        self._wake.set()

    def refresh(self, campaign_id: int) -> bool:
        """Learn now, lay the queue and the picture; whether there was anything new.

        False also where another process is at it.
        """
        known = self._of(campaign_id)
        with known.lock, self._claimed(campaign_id) as mine:
            return mine and self._refresh(campaign_id, known)

    def _of(self, campaign_id: int) -> _Known:
        with self._guard:
            return self._known.setdefault(campaign_id, _Known())

    @contextmanager
    def _claimed(self, campaign_id: int) -> Iterator[bool]:
        """Keep other processes away from a campaign; False where one of them has it."""
        if self._database.is_sqlite:
            yield True
            return
        numbers = {"lock": _LOCK, "campaign": campaign_id % 2**31}
        arguments = "(CAST(:lock AS integer), CAST(:campaign AS integer))"
        with self._database.engine.connect() as plain:
            connection = plain.execution_options(isolation_level="AUTOCOMMIT")
            mine = bool(connection.execute(text(f"SELECT pg_try_advisory_lock{arguments}"), numbers).scalar_one())
            try:
                yield mine
            finally:
                if mine:
                    connection.execute(text(f"SELECT pg_advisory_unlock{arguments}"), numbers)

    def _watch(self) -> None:
        """The thread: wait, look, refresh, rest."""
        while not self._stopping.is_set():
            self._wake.wait(timeout=self._settings.refresh_seconds)
            self._wake.clear()
            try:
                due = self._due()
            except Exception:
                _log.exception("Estimating: the campaigns cannot be looked at; trying again.")
                self._stopping.wait(2.0)
                continue
            for campaign_id in due:
                if self._stopping.is_set():
                    return
                began = time.thread_time()
                self._try(campaign_id)
                self._stopping.wait(min(2 * (time.thread_time() - began), LONGEST_REST))

    def _try(self, campaign_id: int) -> None:
        known = self._of(campaign_id)
        try:
            self.refresh(campaign_id)
            known.failures = 0
        except Exception:
            known.failures += 1
            rest = min(60.0, 2.0 ** (known.failures - 1))
            known.not_before = time.monotonic() + rest
            known.learner, known.preferences = Learner(), KnownPreferences()  # whatever they had half learned
            _log.exception("Estimating: campaign %s failed; trying again in %.0f s.", campaign_id, rest)

    def _due(self) -> list[int]:
        """Campaigns whose picture is out of date."""
        now, tick = self._settings.clock(), time.monotonic()
        look_for_people = tick - self._live_at >= _LIVE_EVERY
        if look_for_people:
            self._live_at = tick
        with self._database.read() as connection:
            closed = (campaign.c.state == "closed") & (campaign.c.closed_at > now - AFTER_CLOSING)
            query = select(campaign.c.id).where(campaign.c.state.in_(("open", "paused")) | closed)
            ids = connection.execute(query.order_by(campaign.c.id)).scalars().all()
            return [n for n in ids if self._is_due(connection, n, now, tick, look_for_people=look_for_people)]

    def _is_due(
        self, connection: Connection, campaign_id: int, now: float, tick: float, *, look_for_people: bool
    ) -> bool:
        known = self._of(campaign_id)
        if tick < known.not_before:
            return False
        if known.revisit_at is not None and tick >= known.revisit_at:
            return True
        before = _made_from(connection, campaign_id)
        if before is None:
            return True
        present = _present(connection, campaign_id, now=now)
        return replace(present, live=before.live) != before or (look_for_people and present != before)

    def _refresh(self, campaign_id: int, known: _Known) -> bool:
        """Read, learn, and store what follows in one transaction."""
        known.revisit_at = None
        hear(self._database, self._settings, campaign_id)
        with self._database.one_moment() as connection:
            there = _read(connection, campaign_id, now=self._settings.clock())
            if there is None or not there.pairs:
                return False
            as_it_was = there.present == _made_from(connection, campaign_id)
            look = {"preference": self._preferences, "ranking": self._rankings}.get(there.campaign.kind, self._judging)
            made = look(connection, there, known, as_it_was=as_it_was)
        if made is None:
            return False
        if not self._store(made):
            known.revisit_at = 0.0
            return False
        if made.again_at is not None:
            known.revisit_at = made.again_at
        if there.campaign.state == "closed":
            with self._guard:
                self._known.pop(campaign_id, None)
        return True

    def _judging(self, connection: Connection, there: _There, known: _Known, *, as_it_was: bool) -> _Made | None:
        """The picture of a judging campaign; None where the one that is there still holds."""
        n_answers = there.present.answers
        people_due = known.people.of not in (-1, n_answers) and known.people.is_due(n_answers, slowly=True)
        if as_it_was and not people_due:
            return None
        looked = self._look(connection, there, known)
        again_at = None if known.people.of == n_answers else time.monotonic() + SECONDS
        return _Made(looked.campaign, there.present, make_picture(connection, looked), again_at, looked)

    @staticmethod
    def _preferences(connection: Connection, there: _There, known: _Known, *, as_it_was: bool) -> _Made | None:
        """The picture of a preference campaign, whose queue is laid once, when it opens."""
        known_so_far = known.preferences
        if as_it_was and not known_so_far.is_behind(there.present):
            return None
        pictured = picture_preferences(connection, there.campaign, there.present, known_so_far, now=there.now)
        again_at = known_so_far.look_again_at(there.present)
        return _Made(pictured.campaign, there.present, pictured.content, again_at)

    @staticmethod
    def _rankings(connection: Connection, there: _There, known: _Known, *, as_it_was: bool) -> _Made | None:
        """The picture of a ranking campaign, whose queue is laid once, when it opens."""
        if as_it_was:
            return None
        content = make_ranking_picture(connection, there.campaign, now=there.now)
        content["made_from"] = asdict(there.present)
        found = as_reached(there.campaign, done=content["status"]["done"], now=there.now)
        return _Made(found, there.present, content, None)

    def _look(self, connection: Connection, there: _There, known: _Known) -> Looked:
        """Learn from the answers, and find out everything that a picture shows."""
        found, present = there.campaign, there.present
        watched = monitoring.watch(connection, found.id)
        known.learner.learn(connection, found, watched.grades, last_event=present.last_event)
        session = known.learner.session
        done, reason = _is_done(found, session, there.pairs)
        if present.last_event != known.last_event:  # the goal, the scales or the documents may be others
            known.projection, known.people, known.last_event = Costly(), Costly(), present.last_event
        agreement, expected = self._people(found, watched, known, present.answers)
        return Looked(
            as_reached(found, done=done, now=there.now),
            session,
            there.pairs,
            watched,
            present,
            projection=_projected(found, session, known.projection),
            agreement=agreement,
            expected=expected,
            done=done,
            reason=reason,
            now=there.now,
        )

    @staticmethod
    def _people(found: Campaign, watched: Watched, known: _Known, n_answers: int) -> Any:
        """Agreement, and what models expect of each assessor: as they were, while little changed."""
        if known.people.is_due(n_answers, slowly=True):
            began = time.thread_time()
            scales = found.judging.scales
            value = (
                monitoring.agreements(watched.grades, scales),
                known.learner.expected(watched.grades, found.judging.evaluated.name),
            )
            known.people.keep(value, n_answers, began)
        return known.people.value

    def _store(self, made: _Made) -> bool:
        """The queue, the picture, a point of the trajectory, and whether the goal is reached: all of it or nothing.

        Nothing where an organiser did something meanwhile: a person who was erased must not come back in a picture.
        Rows are locked in the order in which everybody locks them: the campaign, pairs (by the queue), the picture.
        """
        found, looked, this = made.campaign, made.looked, campaign.c.id == made.campaign.id
        ids: list[int] = []
        if looked is not None:
            ids = queue_of(looked.session, looked.pairs, stop=looked.done and found.judging.stop_when_reached)
        with self._database.write() as connection, connection.begin_nested() as laid:
            if connection.execute(select(campaign.c.id).where(this).with_for_update(key_share=True)).first() is None:
                return False  # it was deleted
            if looked is None:
                replace_picture(connection, found.id, made.content)
            else:
                lay_queue(connection, found.id, ids)
                store_picture(connection, looked, made.content)
            connection.execute(update(campaign).where(this).values(reached_at=found.reached_at))
            if _last_event(connection, found.id) != made.made_from.last_event:
                laid.rollback()
                return False
        return True


def _projected(found: Campaign, session: Session, costly: Costly) -> Projection | None:
    """The projection, made again now and then; None where everything is to be judged anyway."""
    if found.judging.goal.kind == "everything":
        return None
    judged = session.view.n_judged
    if costly.is_due(judged, slowly=False) or _is_overtaken(costly, session):
        began = time.thread_time()
        costly.keep(project(session, seed=session.seed), judged, began)
    projection: Projection = costly.value
    return projection


def _is_overtaken(costly: Costly, session: Session) -> bool:
    """Whether more is judged than was projected, and the goal not reached yet: a projection that is plainly wrong."""
    rested = time.monotonic() - costly.at >= COST * costly.took
    total: int | None = costly.value.total
    judged = session.view.n_judged
    return rested and total is not None and judged != costly.of and judged >= total and not session.done


def queue_of(session: Session, pairs: Sequence[PairRow], *, stop: bool) -> list[int]:
    """What to ask, most telling first: pairs that are begun, then, unless judging can stop, new ones."""
    begun = [one.id for one in pairs if is_begun(one)]
    if stop:
        return begun
    number_of = {(one.query, one.document): one.id for one in pairs}
    held = [pair for pair in ((one.query, one.document) for one in pairs if one.held) if pair in session.candidates]
    in_hands = sum(one.taken > 0 and not one.answered for one in pairs)
    chosen = session.next(QUEUE + in_hands, exclude=held)
    return begun + [number_of[one] for one in chosen if one in number_of]


def _is_done(found: Campaign, session: Session, pairs: Sequence[PairRow]) -> tuple[bool, str]:
    """Whether judging can stop, and why or why not."""
    if found.judging.goal.kind != "everything":
        status = session.status()
        return status.done, status.reason
    left = sum(max(0, one.wanted - one.answered) for one in pairs if not one.held)
    if left:
        return False, f"{left:,} answer{'s are' if left > 1 else ' is'} still wanted"
    return True, "every answer that was wanted is there"


def _read(connection: Connection, campaign_id: int, *, now: float) -> _There | None:
    try:
        found = campaign_by_id(connection, campaign_id)
    except NotFound:
        return None
    return _There(found, _present(connection, campaign_id, now=now), _pairs(connection, campaign_id), now)


def _pairs(connection: Connection, campaign_id: int) -> tuple[PairRow, ...]:
    columns = [pair.c[name] for name in PairRow.__dataclass_fields__]
    query = select(*columns).where(pair.c.campaign_id == campaign_id).order_by(pair.c.id)
    return tuple(PairRow(*row) for row in connection.execute(query))


def _present(connection: Connection, campaign_id: int, *, now: float) -> MadeFrom:
    """What a picture would be made from now."""
    answers = select(func.coalesce(func.max(answer.c.id), 0), func.count()).where(answer.c.campaign_id == campaign_id)
    last_answer, n_answers = connection.execute(answers).one()
    last_event = _last_event(connection, campaign_id)
    state = connection.execute(select(campaign.c.state).where(campaign.c.id == campaign_id)).scalar_one()
    live = tuple(monitoring.live_codes(connection, campaign_id, now=now))
    return MadeFrom(last_answer, n_answers, last_event, state, live)


def _last_event(connection: Connection, campaign_id: int) -> int:
    events = select(func.coalesce(func.max(event.c.id), 0)).where(event.c.campaign_id == campaign_id)
    return int(connection.execute(events).scalar_one())


def _made_from(connection: Connection, campaign_id: int) -> MadeFrom | None:
    """What the picture was made from; None where there is none."""
    query = select(picture.c.content["made_from"]).where(picture.c.campaign_id == campaign_id)
    row = connection.execute(query).first()
    return None if row is None else MadeFrom.of(row[0])
