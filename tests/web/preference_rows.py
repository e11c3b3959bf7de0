"""People in a preference campaign of texts, without HTTP: they join, are asked, and answer as a test likes."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import select
from tests.web.preferring_rows import preference_campaign, some_questions

from adjudge.web import schema
from adjudge.web.answering import Stored
from adjudge.web.campaign_rows import Campaign, find_campaign, in_use
from adjudge.web.database import Database
from adjudge.web.invitations import Participant, find_invitation, join, make_invitation, participant_from
from adjudge.web.leasing import Lease
from adjudge.web.preference_answering import Choice, Chosen, Played, store_choice, store_unable
from adjudge.web.preference_desk import PreferenceDesk, make_preference_desk
from adjudge.web.preference_leasing import hold_questions, pause_after_batch
from adjudge.web.preference_trust import settle_outcome
from adjudge.web.settings import Settings
from adjudge.web.verifying import verify

SECONDS = 100.0
PROLIFIC = {"kind": "prolific", "codes": {"done": "DONE-1", "screened_out": "OUT-2", "failed": "FAIL-3"}}
_IN_TURN: tuple[Choice, ...] = ("good", "bad", "first", "second")
_keys = itertools.count()


def pid(who: str) -> dict[str, str]:
    """What Prolific puts into the link of somebody."""
    return {"PROLIFIC_PID": who, "STUDY_ID": "study", "SESSION_ID": f"session of {who}"}


@dataclass
class Stage:
    """A campaign, and what people do in it: ``stage.work(person, right=True)``."""

    database: Database
    settings: Settings
    name: str = "lists"
    now: float = 100.0
    link: str = field(default="", init=False)

    def begin(self, *, n: int = 6, traps: int = 4, **decided: Any) -> Stage:
        """Open a campaign whose traps are answered rightly by ``a``, and invite everybody."""
        questions = some_questions(n, traps)
        preference_campaign(self.database, self.name, questions=questions, **{"trap_share": 0.0, **decided})
        with self.database.write() as connection:
            secret = self.settings.secret
            self.link = make_invitation(connection, self.campaign, secret=secret, now=self.now).token
        return self

    @property
    def campaign(self) -> Campaign:
        """As it is now."""
        with self.database.read() as connection:
            return find_campaign(connection, self.name)

    def come(self, recruited: Mapping[str, str] | None = None, *, link: str = "") -> Participant:
        """Somebody joins, or comes back."""
        secret = self.settings.secret
        with self.database.write() as connection:
            told = {"secret": secret, "now": self.now, "recruited": recruited}
            found = find_invitation(connection, link or self.link, **told)  # type: ignore[arg-type]
            return join(connection, found, **told)[0]  # type: ignore[arg-type]

    def person(self, who: Participant) -> Participant:
        """As they are now."""
        with self.database.read() as connection:
            query = select(schema.participant).where(schema.participant.c.id == who.id)
            return participant_from(connection.execute(query).one())

    def hold(self, who: Participant, *, most: int = 2) -> list[Lease]:
        """What is in somebody's hands, as their page asks for it."""
        self.now += 1
        with self.database.write() as connection:
            campaign = in_use(connection, who.campaign_id)
            held = hold_questions(connection, campaign, who.id, now=self.now, seconds=SECONDS, most=most)
            settle_outcome(connection, campaign, who.id, now=self.now)
        with self.database.write() as connection:
            pause_after_batch(connection, self.campaign, now=self.now)
        return held

    def desk(self, who: Participant) -> PreferenceDesk:
        """What their page shows."""
        held = self.hold(who)
        with self.database.read() as connection:
            return make_preference_desk(connection, self.campaign, self.person(who), held)

    def choose(self, who: Participant, lease: Lease, choice: Choice, *, key: str = "", **more: Any) -> Stored:
        """Answer a question."""
        self.now += 1
        with self.database.write() as connection:
            return self.choose_in(connection, who, lease, choice, key=key, **more)

    def choose_in(self, connection: Any, who: Participant, lease: Lease, choice: Choice, **more: Any) -> Stored:
        """Answer a question in a transaction that is under way."""
        chosen = Chosen(more.pop("key", "") or f"key-{next(_keys)}", choice, **{"took_ms": 60_000, **more})
        campaign = in_use(connection, who.campaign_id)
        return store_choice(connection, campaign, who.id, lease_id=lease.id, chosen=chosen, now=self.now)

    def skip(self, who: Participant, lease: Lease, reason: str = "broken") -> Stored:
        """Say that a question cannot be answered."""
        self.now += 1
        with self.database.write() as connection:
            campaign, chosen = in_use(connection, who.campaign_id), Chosen(f"key-{next(_keys)}", None, Played())
            return store_unable(
                connection, campaign, who.id, lease_id=lease.id, chosen=chosen, reason=reason, now=self.now
            )

    def side(self, lease: Lease, of: str) -> Choice:
        """Where a list stands."""
        return "first" if (of == "b") == bool(lease.swapped) else "second"

    def answer(self, who: Participant, *, right: bool = True, choice: Choice = "good") -> Lease | None:
        """Answer the question in hand, traps rightly or wrongly; None where there is none."""
        held = self.hold(who)
        if not held:
            return None
        lease = held[0]
        trap: Choice = self.side(lease, "a" if right else "b")
        self.choose(who, lease, trap if lease.kind == "trap" else choice)
        return lease

    def work(self, who: Participant, *, right: bool = True, most: int = 1000) -> list[Lease]:
        """Answer until nothing comes any more, or so many; what was answered."""
        done: list[Lease] = []
        while len(done) < most:
            lease = self.answer(who, right=right, choice=_IN_TURN[len(done) % 4])
            if lease is None:
                break
            done.append(lease)
        self.hold(who)
        return done

    def pairs(self) -> dict[str, Any]:
        """Questions and traps by name."""
        return {row["document"]: row for row in self.all_of(schema.pair)}

    def all_of(self, table: Any) -> list[dict[str, Any]]:
        """Every row of a table."""
        with self.database.read() as connection:
            return [dict(row) for row in connection.execute(select(table).order_by(*table.primary_key)).mappings()]

    def events(self, what: str) -> list[dict[str, Any]]:
        """What was logged."""
        return [row for row in self.all_of(schema.event) if row["what"] == what]

    def faults(self) -> list[str]:
        """What is wrong with the store."""
        return verify(self.database, self.settings)
