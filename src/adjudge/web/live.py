"""Learning from answers in the background: what to ask next, and what the organiser's dashboard shows.

A thread of each process looks for campaigns in which something happened since their snapshot was made, lets their kind
look at them, and stores the new snapshot with what belongs to it, all or nothing. It rests at least twice as long as
the last refresh computed, so that estimating costs a third of one core at most, and assessors wait for nothing: the
queue that is there serves meanwhile. Of several processes one at a time does a campaign. What fails is logged and tried
again, later each time.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from sqlalchemy import Connection, select, text, update
from threadpoolctl import ThreadpoolController

from adjudge.web.errors import NotFound
from adjudge.web.kinds.base import Moment, Observer, Snapshot, kind_of
from adjudge.web.settings import Settings
from adjudge.web.store import schema as t
from adjudge.web.store.campaigns import campaign_by_id
from adjudge.web.store.database import Database
from adjudge.web.store.snapshots import current_basis, last_event, replace_snapshot, stored_basis

_CHOSEN = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "GOTO_NUM_THREADS")


def keep_to_one_core() -> int:
    """Limit the linear algebra of NumPy and SciPy to one thread; the number of libraries that listened.

    OpenBLAS shares small products out to all cores and waits for the slowest. Beside other work on the same cores a
    refresh then takes six times the processor time that it takes on one.

    What somebody chose in the environment is left alone.
    """
    if any(os.environ.get(name) for name in _CHOSEN):
        return 0
    libraries = ThreadpoolController().select(user_api="blas")
    libraries.limit(limits=1)
    return len(libraries.lib_controllers)


LONGEST_REST = 10.0
AFTER_CLOSING = 3600.0
"""Seconds after a campaign closed in which answers to questions given out before are still looked for."""
_LOCK = 726_381_701  # with the campaign's number, any pair of numbers that nobody else locks in this database
_LIVE_EVERY = 5.0
_log = logging.getLogger(__name__)


@dataclass
class _CampaignState:
    """What this process knows of a campaign."""

    observer: Observer | None = None
    failures: int = 0
    not_before: float = 0.0
    revisit_at: float | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)


class Estimating:
    """The estimator of a server: ``start`` it, tell it what ``changed``, ``stop`` it."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self._settings, self._database = settings, database
        self._known: dict[int, _CampaignState] = {}
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
        """Whether ``stop`` was called: streams of snapshots can end."""
        return self._stopping.is_set()

    def changed(self, campaign_id: int) -> None:
        """Something happened in a campaign: look soon."""
        self._of(campaign_id).revisit_at = 0.0
        self._wake.set()

    def refresh(self, campaign_id: int) -> bool:
        """Learn now, lay the queue and the snapshot; whether there was anything new.

        False also where another process is at it.
        """
        known = self._of(campaign_id)
        with known.lock, self._claimed(campaign_id) as mine:
            return mine and self._refresh(campaign_id, known)

    def _of(self, campaign_id: int) -> _CampaignState:
        with self._guard:
            return self._known.setdefault(campaign_id, _CampaignState())

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
            known.observer = None  # whatever it had half learned
            _log.exception("Estimating: campaign %s failed; trying again in %.0f s.", campaign_id, rest)

    def _due(self) -> list[int]:
        """Campaigns whose snapshot is out of date."""
        now, tick = self._settings.clock(), time.monotonic()
        look_for_people = tick - self._live_at >= _LIVE_EVERY
        if look_for_people:
            self._live_at = tick
        with self._database.read() as connection:
            closed = (t.campaign.c.state == "closed") & (t.campaign.c.closed_at > now - AFTER_CLOSING)
            query = select(t.campaign.c.id).where(t.campaign.c.state.in_(("open", "paused")) | closed)
            ids = connection.execute(query.order_by(t.campaign.c.id)).scalars().all()
            return [n for n in ids if self._is_due(connection, n, now, tick, look_for_people=look_for_people)]

    def _is_due(
        self, connection: Connection, campaign_id: int, now: float, tick: float, *, look_for_people: bool
    ) -> bool:
        known = self._of(campaign_id)
        if tick < known.not_before:
            return False
        if known.revisit_at is not None and tick >= known.revisit_at:
            return True
        before = stored_basis(connection, campaign_id)
        if before is None:
            return True
        present = current_basis(connection, campaign_id, now=now)
        return replace(present, live=before.live) != before or (look_for_people and present != before)

    def _refresh(self, campaign_id: int, known: _CampaignState) -> bool:
        """Read, learn, and store what follows in one transaction."""
        known.revisit_at = None
        with self._database.read() as connection:
            try:
                campaign = campaign_by_id(connection, campaign_id)
            except NotFound:
                return False
        observer = known.observer = known.observer or kind_of(campaign).observer()
        observer.prepare(self._database, self._settings, campaign)
        with self._database.one_moment() as connection:
            moment = self._moment(connection, campaign_id)
            if moment is None:
                return False
            is_unchanged = moment.basis == stored_basis(connection, campaign_id)
            made = observer.look(connection, moment, is_unchanged=is_unchanged)
        if made is None:
            return False
        if not self._store(made):
            known.revisit_at = 0.0
            return False
        if made.again_at is not None:
            known.revisit_at = made.again_at
        if moment.campaign.state == "closed":
            with self._guard:
                self._known.pop(campaign_id, None)
        return True

    def _moment(self, connection: Connection, campaign_id: int) -> Moment | None:
        """The campaign as it is now; None where it was deleted, or nothing is asked yet."""
        try:
            campaign = campaign_by_id(connection, campaign_id)
        except NotFound:
            return None
        asked = select(t.pair.c.id).where(t.pair.c.campaign_id == campaign_id).limit(1)
        if connection.execute(asked).first() is None:
            return None
        now = self._settings.clock()
        return Moment(campaign, current_basis(connection, campaign_id, now=now), now)

    def _store(self, made: Snapshot) -> bool:
        """The snapshot, what belongs to it, and whether the goal is reached: all of it or nothing.

        Nothing where an organiser did something meanwhile: a person who was erased must not come back in a snapshot.
        Rows are locked in the order in which everybody locks them: the campaign, pairs (by the queue), the snapshot.
        """
        this = t.campaign.c.id == made.campaign.id
        with self._database.write() as connection, connection.begin_nested() as laid:
            if connection.execute(select(t.campaign.c.id).where(this).with_for_update(key_share=True)).first() is None:
                return False  # it was deleted
            made.store(connection)
            replace_snapshot(connection, made.campaign.id, made.content)
            connection.execute(update(t.campaign).where(this).values(reached_at=made.campaign.reached_at))
            if last_event(connection, made.campaign.id) != made.basis.last_event:
                laid.rollback()
                return False
        return True
