"""What stages of tests share: a campaign in which people do something, without HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import select

from adjudge.web.kinds.verify import verify
from adjudge.web.settings import Settings
from adjudge.web.store import schema
from adjudge.web.store.campaigns import Campaign, find_campaign
from adjudge.web.store.database import Database
from adjudge.web.store.participants import Participant, find_invitation, join, make_invitation, participant_from


@dataclass
class CampaignStage:
    """A campaign, an invitation to it, and a clock of its own."""

    database: Database
    settings: Settings
    name: str = "lists"
    now: float = 100.0
    link: str = field(default="", init=False)

    def invite(self) -> None:
        """Everybody may come."""
        with self.database.write() as connection:
            secret = self.settings.secret
            self.link = make_invitation(connection, self.campaign, secret=secret, now=self.now).token

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

    def all_of(self, table: Any) -> list[dict[str, Any]]:
        """Every row of a table."""
        with self.database.read() as connection:
            return [dict(row) for row in connection.execute(select(table).order_by(*table.primary_key)).mappings()]

    def events(self, what: str) -> list[dict[str, Any]]:
        """What was logged."""
        return [row for row in self.all_of(schema.event) if row["what"] == what]

    def pairs(self) -> dict[str, Any]:
        """What is asked, by name."""
        return {row["document"]: row for row in self.all_of(schema.pair)}

    def faults(self) -> list[str]:
        """What is wrong with the store."""
        return verify(self.database, self.settings)
