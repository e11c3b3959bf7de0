"""Answers as rows of the store, for tests of what is made of them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import insert, select, update

from adjudge.web.kinds.judging.settings import JudgingSettings
from adjudge.web.store import schema as t
from adjudge.web.store.answers import append_answer
from adjudge.web.store.campaigns import Campaign, find_campaign
from adjudge.web.store.database import Database

_keys = itertools.count()


@dataclass
class Desk:
    """A campaign on whose behalf anybody answers: ``desk.answer("ann", ("q1", "d3"), 40)``."""

    database: Database
    name: str
    clock: float = 1_000_000.0

    @property
    def campaign(self) -> Campaign:
        """As it is now."""
        with self.database.read() as connection:
            return find_campaign(connection, self.name)

    @property
    def pairs(self) -> dict[tuple[str, str], Any]:
        """Rows of pairs by query and document."""
        with self.database.read() as connection:
            rows = connection.execute(
                select(t.pair).where(t.pair.c.campaign_id == self.campaign.id).order_by(t.pair.c.id)
            )
            return {(row.query, row.document): row for row in rows}

    @property
    def queue(self) -> list[tuple[str, str]]:
        """What will be asked, in its order."""
        with self.database.read() as connection:
            rows = connection.execute(
                select(t.pair.c.query, t.pair.c.document)
                .join(t.queue, t.queue.c.pair_id == t.pair.c.id)
                .where(t.queue.c.campaign_id == self.campaign.id)
                .order_by(t.queue.c.place)
            )
            return [(row.query, row.document) for row in rows]

    @property
    def picture(self) -> dict[str, Any]:
        """The organiser's picture."""
        with self.database.read() as connection:
            query = select(t.picture.c.content).where(t.picture.c.campaign_id == self.campaign.id)
            return dict(connection.execute(query).scalar_one())

    @property
    def n_points(self) -> int:
        """Points of the trajectory that are kept."""
        with self.database.read() as connection:
            return len(connection.execute(select(t.progress).where(t.progress.c.campaign_id == self.campaign.id)).all())

    def person(self, code: str, *, seen_at: float | None = None) -> int:
        """The number of a participant, who comes the first time they are named."""
        campaign_id = self.campaign.id
        with self.database.write() as connection:
            mine = (t.participant.c.campaign_id == campaign_id) & (t.participant.c.code == code)
            there = connection.execute(select(t.participant.c.id).where(mine)).scalar_one_or_none()
            link = select(t.invitation.c.id).where(t.invitation.c.campaign_id == campaign_id).limit(1)
            values = {
                "campaign_id": campaign_id,
                "invitation_id": connection.execute(link).scalar_one_or_none(),
                "code": code,
                "nonce": "",
                "language": "en",
                "created_at": self.clock,
            }
            if there is None:
                seen = {"seen_at": self.clock if seen_at is None else seen_at}
                statement = insert(t.participant).values(**values, **seen).returning(t.participant.c.id)
                return int(connection.execute(statement).scalar_one())
            if seen_at is not None:
                connection.execute(update(t.participant).where(mine).values(seen_at=seen_at))
            return int(there)

    def answer(
        self,
        code: str,
        which: tuple[str, str],
        grades: float | Mapping[str, float],
        *,
        kind: str = "judgment",
        **values: Any,
    ) -> int:
        """Store an answer; a single grade is on the scale that is evaluated. Its number."""
        found = self.campaign
        self.clock += 20
        if not isinstance(grades, Mapping):
            grades = {found.settings_as(JudgingSettings).evaluated.name: float(grades)}
        row = {
            "campaign_id": found.id,
            "pair_id": self.pairs[which].id,
            "participant_id": self.person(code),
            "lease_id": None,
            "key": f"key {next(_keys)}",
            "kind": kind,
            "grades": dict(grades),
            "heard": {"query_ms": 2000, "candidate_ms": 3000},
            "took_ms": 8000,
            "late": False,
            "created_at": self.clock,
            **values,
        }
        with self.database.write() as connection:
            if kind in ("judgment", "import"):
                counts = {"taken": t.pair.c.taken + 1, "answered": t.pair.c.answered + 1}
                connection.execute(update(t.pair).where(t.pair.c.id == row["pair_id"]).values(**counts))
            return append_answer(connection, row)

    def correct(self, code: str, which: tuple[str, str], first: int, grade: float) -> int:
        """Store a correction of an answer."""
        return self.answer(code, which, grade, kind="correction", corrects=first)
