"""A campaign as a row of the store, and the log of what happened to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, insert, select
from sqlalchemy.engine import RowMapping

from adjudge.errors import shown
from adjudge.web.asking_settings import AskingSettings
from adjudge.web.errors import Conflict, NotFound, Refused
from adjudge.web.judging_settings import JudgingSettings, settings_from
from adjudge.web.preference_settings import PreferenceSettings, preference_settings_from
from adjudge.web.ranking_settings import RankingSettings, ranking_settings_from
from adjudge.web.schema import answer, campaign, event

_TURNS = 726_381  # any number that nobody else locks by in this database


@dataclass(frozen=True)
class Campaign:
    """A campaign: what its organiser decided, and where it stands."""

    id: int
    name: str
    kind: str
    state: str
    settings: AskingSettings
    organiser_id: int | None
    created_at: float
    opened_at: float | None
    reached_at: float | None
    closed_at: float | None

    @property
    def judging(self) -> JudgingSettings:
        """What was decided about judging; refused in a campaign that asks something else."""
        if not isinstance(self.settings, JudgingSettings):
            raise self._asks_otherwise("judging")
        return self.settings

    @property
    def preference(self) -> PreferenceSettings:
        """What was decided about preferences; refused in a campaign that asks something else."""
        if not isinstance(self.settings, PreferenceSettings):
            raise self._asks_otherwise("preference")
        return self.settings

    @property
    def ranking(self) -> RankingSettings:
        """What was decided about rankings; refused in a campaign that asks something else."""
        if not isinstance(self.settings, RankingSettings):
            raise self._asks_otherwise("ranking")
        return self.settings

    def _asks_otherwise(self, wanted: str) -> Refused:
        return Refused(f"Campaign {self.name} asks for {ASKED_FOR[self.kind]}, not for {ASKED_FOR[wanted]}.")


ASKED_FOR = {"judging": "grades", "preference": "preferences", "ranking": "rankings"}
"""What each kind of campaign asks people for."""

KINDS: dict[str, Callable[[dict[str, Any]], AskingSettings]] = {
    "judging": settings_from,
    "preference": preference_settings_from,
    "ranking": ranking_settings_from,
}
"""The kinds of campaign, and how each reads what was decided."""


def kind_of(settings: AskingSettings) -> str:
    """The kind of campaign that settings are for."""
    if isinstance(settings, RankingSettings):
        return "ranking"
    return "preference" if isinstance(settings, PreferenceSettings) else "judging"


def campaign_of(row: RowMapping) -> Campaign:
    """The campaign that a row holds."""
    plain = {name: row[name] for name in Campaign.__dataclass_fields__ if name != "settings"}
    return Campaign(**plain, settings=KINDS[row["kind"]](row["settings"]))


def find_campaign(connection: Connection, name: str) -> Campaign:
    """The campaign of a name."""
    row = connection.execute(select(campaign).where(campaign.c.name == name)).mappings().first()
    if row is None:
        raise NotFound(f"There is no campaign called {shown(name)}.")
    return campaign_of(row)


def campaign_by_id(connection: Connection, campaign_id: int) -> Campaign:
    """The campaign of a number."""
    row = connection.execute(select(campaign).where(campaign.c.id == campaign_id)).mappings().first()
    if row is None:
        raise NotFound("There is no such campaign.")
    return campaign_of(row)


def locked(connection: Connection, found: Campaign) -> Campaign:
    """The campaign as it is now, kept from others until this transaction ends."""
    _wait_for_turn(connection, found.id, shared=False)
    row = connection.execute(select(campaign).where(campaign.c.id == found.id).with_for_update()).mappings().first()
    if row is None:
        raise NotFound(f"There is no campaign called {shown(found.name)} any more.")
    return campaign_of(row)


def in_use(connection: Connection, campaign_id: int) -> Campaign:
    """The campaign as it is until this transaction ends: nobody has it :func:`locked` meanwhile, others may use it.

    Whoever is going to lock pairs of a campaign uses it first. Rows that name a campaign make PostgreSQL ask for just
    this when they are stored; asking only then, with a pair in hand, is how two transactions wait for each other.
    """
    _wait_for_turn(connection, campaign_id, shared=True)
    query = select(campaign).where(campaign.c.id == campaign_id).with_for_update(read=True, key_share=True)
    row = connection.execute(query).mappings().first()
    if row is None:
        raise NotFound("There is no such campaign.")
    return campaign_of(row)


def _wait_for_turn(connection: Connection, campaign_id: int, *, shared: bool) -> None:
    """Stand in line for a campaign.

    PostgreSQL lets everybody who only uses a row pass those who wait to lock it: closing a campaign would wait until
    people stop to answer. These locks are given in the order in which they were asked for.
    """
    if connection.dialect.name == "postgresql":  # in SQLite everybody who writes waits for everybody
        turn = func.pg_advisory_xact_lock_shared if shared else func.pg_advisory_xact_lock
        connection.execute(select(turn(_TURNS, campaign_id % 2**31)))


def count_answers(connection: Connection, campaign_id: int) -> int:
    """How many answers of any kind there are."""
    query = select(func.count()).select_from(answer).where(answer.c.campaign_id == campaign_id)
    return int(connection.execute(query).scalar_one())


def refuse_unless_draft(connection: Connection, found: Campaign, what: str) -> None:
    """Refuse to change what answers rest on."""
    if found.state != "draft":
        raise Conflict(f"The {what} of a campaign can be changed while it is a draft; this one is {found.state}.")
    if count_answers(connection, found.id):
        raise Conflict(f"The {what} of a campaign cannot be changed once there are judgments.")


def log_event(
    connection: Connection, campaign_id: int | None, *, who: str, what: str, details: Mapping[str, Any], now: float
) -> None:
    """Note what somebody did, for those who ask later."""
    values = {"campaign_id": campaign_id, "at": now, "who": who[:200], "what": what, "details": dict(details)}
    connection.execute(insert(event).values(**values))
