"""The people of a campaign as organisers see them, whatever they are asked."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, select

from adjudge.web.monitoring import LIVE_SECONDS
from adjudge.web.schema import participant


@dataclass(frozen=True)
class Someone:
    """A participant as organisers see them."""

    id: int
    code: str
    name: str | None
    seen_at: float
    can_come: bool
    blocked: bool
    outcome: str | None
    set_aside_at: float | None
    set_aside_why: str | None

    @property
    def counts(self) -> bool:
        """Whether their answers count."""
        return self.set_aside_at is None

    def state(self, now: float) -> str:
        """Whether their part ended and how, else whether they are there now."""
        if self.outcome is not None:
            return self.outcome
        if self.blocked:
            return "blocked"
        return "live" if self.is_live(now) else "idle"

    def is_live(self, now: float) -> bool:
        """Whether they are there now, to answer."""
        return self.can_come and not self.blocked and self.outcome is None and now - self.seen_at <= LIVE_SECONDS


def people_of(connection: Connection, campaign_id: int) -> tuple[Someone, ...]:
    """Everybody, in the order they came."""
    rows = connection.execute(
        select(participant).where(participant.c.campaign_id == campaign_id).order_by(participant.c.id)
    )
    return tuple(
        Someone(
            row.id,
            row.code,
            row.name,
            row.seen_at,
            row.erased_at is None and row.invitation_id is not None,
            row.blocked_at is not None,
            row.outcome,
            row.set_aside_at,
            row.set_aside_why,
        )
        for row in rows
    )
