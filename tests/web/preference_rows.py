"""People in a preference campaign of texts, without HTTP: they join, are asked, and answer as a test likes."""

from __future__ import annotations

import itertools
from typing import Any

from tests.web.preferring_rows import preference_campaign, some_questions
from tests.web.stages import CampaignStage

from adjudge.web.answering import Stored
from adjudge.web.campaign_rows import in_use
from adjudge.web.invitations import Participant
from adjudge.web.leasing import Lease
from adjudge.web.preference_answering import Choice, Chosen, Played, store_choice, store_unable
from adjudge.web.preference_desk import PreferenceDesk, make_preference_desk
from adjudge.web.preference_leasing import hold_questions, pause_after_batch
from adjudge.web.preference_trust import settle_outcome

SECONDS = 100.0
PROLIFIC = {"kind": "prolific", "codes": {"done": "DONE-1", "screened_out": "OUT-2", "failed": "FAIL-3"}}
_IN_TURN: tuple[Choice, ...] = ("good", "bad", "first", "second")
_keys = itertools.count()


def pid(who: str) -> dict[str, str]:
    """What Prolific puts into the link of somebody."""
    return {"PROLIFIC_PID": who, "STUDY_ID": "study", "SESSION_ID": f"session of {who}"}


class Stage(CampaignStage):
    """A campaign, and what people do in it: ``stage.work(person, right=True)``."""

    def begin(self, *, n: int = 6, traps: int = 4, **decided: Any) -> Stage:
        """Open a campaign whose traps are answered rightly by ``a``, and invite everybody."""
        questions = some_questions(n, traps)
        preference_campaign(self.database, self.name, questions=questions, **{"trap_share": 0.0, **decided})
        self.invite()
        return self

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
