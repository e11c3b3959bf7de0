"""Campaigns as rows of the store: what every campaign decides, whatever its kind, and the log of what happened to it.

Each kind of campaign registers its settings in :data:`SETTINGS`; the store knows nothing else of kinds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError, field_validator
from sqlalchemy import Connection, func, insert, select
from sqlalchemy.engine import RowMapping

from adjudge.errors import AdjudgeError, shown
from adjudge.registry import Registry
from adjudge.web.errors import Conflict, NotFound, Refused
from adjudge.web.store import schema as t
from adjudge.web.store.recruiting import Recruiter
from adjudge.web.store.settings import setting
from adjudge.web.store.wording import Language, Line, Lines, some_words

LIVE_SECONDS = 60.0
"""Whoever was seen within this time is present."""
Title = Annotated[Line, AfterValidator(some_words)]


class CampaignSettings(BaseModel):
    """What the organiser of any campaign decides; each kind adds its own settings in a class that it registers.

    ``judged_by`` people answer a question where agreement is wanted. ``repeat_share`` of somebody's questions are ones
    they answered before. Audio must be heard for ``listen_seconds`` (or to its end) before an answer counts.
    ``instructions`` and ``consent`` are Markdown by language; the first of ``languages`` is the one that is fallen back
    to.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    asked_for: ClassVar[str]
    """What people are asked for, in the plural: grades, preferences."""
    made_of: ClassVar[str]
    """What a campaign is made of besides documents, and is given first: runs, a file with questions."""

    groups: ClassVar[Mapping[str, tuple[str, str]]] = {
        "name": ("What is it called?", ""),
        "asked": ("What is asked of people?", ""),
    }
    """Sections of the form by the group of their settings: a heading, and perhaps a paragraph."""

    title: Title = setting(
        title="Title", help="What people see.", group="name", usual="the name", max_length=200, metavar="TITLE"
    )
    contact: Line = setting(
        "", title="Contact", help="Whom people may ask; optional.", group="name", max_length=200, metavar="WHOM"
    )
    judged_by: int = setting(
        1,
        title="People for a question",
        help="With two or more, agreement can be measured.",
        group="asked",
        ge=1,
        le=50,
    )
    repeat_share: float = setting(
        0.05,
        title="Asked again",
        help="Of a person’s questions, to see whether they say the same twice.",
        unit="%",
        group="asked",
        ge=0,
        le=0.5,
    )
    listen_seconds: float = setting(
        3.0,
        title="Seconds to listen",
        help="Of every clip before an answer counts; 0 asks for none.",
        unit="s",
        group="asked",
        ge=0,
        le=600,
    )
    languages: tuple[Language, ...] = setting(
        ("en",),
        title="Languages",
        help="The first one chosen is used where a text is missing.",
        option="--language",
        metavar="CODE",
        usual="en; there are es, de and fr",
        min_length=1,
    )
    instructions: dict[Language, Lines] = setting(
        {},
        title="Instructions",
        help="What to listen for. Markdown.",
        usual="none; the page still explains what to do",
        metavar="[LANGUAGE=]FILE",
    )
    consent: dict[Language, Lines] = setting(
        {},
        title="Consent",
        help="What people agree to before they start; leave it empty and nobody is asked. Markdown.",
        usual="none is asked for",
        metavar="[LANGUAGE=]FILE",
    )
    seed: int = setting(0, title="Seed", help="Decides what is left to chance.", ge=0, lt=2**63)

    @field_validator("languages")
    @classmethod
    def _once(cls, languages: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(languages))

    @classmethod
    def parse(cls, values: Mapping[str, Any]) -> Self:
        """Settings from plain values; what is wrong is said in one line.

        >>> SETTINGS["judging"].parse({"title": "Demo", "judged_by": 0})
        Traceback (most recent call last):
        adjudge.errors.AdjudgeError: Campaign: judged_by: input should be greater than or equal to 1, got 0
        """
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise AdjudgeError(f"Campaign: {one_line(error)}") from None

    def recruited_by(self) -> Recruiter | None:
        """Who sends people to the campaign; None where nobody does."""
        return None

    def in_language(self, texts: dict[str, str], language: str) -> str:
        """A text in a language, else in the campaign's first, else in any, else nothing."""
        return next((texts[name] for name in (language, self.languages[0], *texts) if name in texts), "")


def one_line(error: ValidationError) -> str:
    """The first thing that is wrong, in words, with its place and value."""
    first = error.errors(include_url=False)[0]
    place = shown(".".join(str(part) for part in first["loc"]))[1:-1]
    ours = first["type"] == "value_error"
    message = first["msg"].removeprefix("Value error, ") if ours else first["msg"][:1].lower() + first["msg"][1:]
    value = "" if ours or first["type"] == "missing" or isinstance(first["input"], dict) else first["input"]
    quoted = shown(value) if isinstance(value, str) else repr(value)
    return f"{f'{place}: ' if place else ''}{message}{f', got {quoted}' if value != '' else ''}"


SETTINGS: Registry[type[CampaignSettings]] = Registry("kind of campaign", "adjudge.web.kinds.*.settings")
"""The settings of each kind of campaign, by its name."""

STATES = {
    "draft": ("open",),
    "open": ("paused", "closed"),
    "paused": ("open", "closed"),
    "closed": ("open",),
}
"""What may follow each state."""

_TURNS = 726_381  # any number that nobody else locks by in this database
S = TypeVar("S", bound=CampaignSettings)


@dataclass(frozen=True)
class Campaign:
    """A campaign: what its organiser decided, and where it stands."""

    id: int
    name: str
    kind: str
    state: str
    settings: CampaignSettings
    organiser_id: int | None
    created_at: float
    opened_at: float | None
    reached_at: float | None
    closed_at: float | None

    def settings_as(self, wanted: type[S]) -> S:
        """The settings of a campaign of the kind that has these; refused for a campaign of another kind."""
        if not isinstance(self.settings, wanted):
            raise Refused(f"Campaign {self.name} asks for {self.settings.asked_for}, not for {wanted.asked_for}.")
        return self.settings


def campaign_of(row: RowMapping) -> Campaign:
    """The campaign that a row holds."""
    plain = {name: row[name] for name in Campaign.__dataclass_fields__ if name != "settings"}
    return Campaign(**plain, settings=SETTINGS[row["kind"]].parse(row["settings"]))


def find_campaign(connection: Connection, name: str) -> Campaign:
    """The campaign of a name."""
    row = connection.execute(select(t.campaign).where(t.campaign.c.name == name)).mappings().first()
    if row is None:
        raise NotFound(f"There is no campaign called {shown(name)}.")
    return campaign_of(row)


def campaign_by_id(connection: Connection, campaign_id: int) -> Campaign:
    """The campaign of a number."""
    row = connection.execute(select(t.campaign).where(t.campaign.c.id == campaign_id)).mappings().first()
    if row is None:
        raise NotFound("There is no such campaign.")
    return campaign_of(row)


def locked(connection: Connection, campaign: Campaign) -> Campaign:
    """The campaign as it is now, kept from others until this transaction ends."""
    _wait_for_turn(connection, campaign.id, shared=False)
    row = (
        connection.execute(select(t.campaign).where(t.campaign.c.id == campaign.id).with_for_update())
        .mappings()
        .first()
    )
    if row is None:
        raise NotFound(f"There is no campaign called {shown(campaign.name)} any more.")
    return campaign_of(row)


def in_use(connection: Connection, campaign_id: int) -> Campaign:
    """The campaign as it is until this transaction ends: nobody has it :func:`locked` meanwhile, others may use it.

    Whoever is going to lock pairs of a campaign uses it first. Rows that name a campaign make PostgreSQL ask for just
    this when they are stored; asking only then, with a pair in hand, is how two transactions wait for each other.
    """
    _wait_for_turn(connection, campaign_id, shared=True)
    query = select(t.campaign).where(t.campaign.c.id == campaign_id).with_for_update(read=True, key_share=True)
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
    query = select(func.count()).select_from(t.answer).where(t.answer.c.campaign_id == campaign_id)
    return int(connection.execute(query).scalar_one())


def refuse_unless_draft(connection: Connection, campaign: Campaign, what: str) -> None:
    """Refuse to change what answers rest on."""
    if campaign.state != "draft":
        raise Conflict(f"The {what} of a campaign can be changed while it is a draft; this one is {campaign.state}.")
    if count_answers(connection, campaign.id):
        raise Conflict(f"The {what} of a campaign cannot be changed once there are judgments.")


def log_event(
    connection: Connection, campaign_id: int | None, *, who: str, what: str, details: Mapping[str, Any], now: float
) -> None:
    """Note what somebody did, for those who ask later."""
    values = {"campaign_id": campaign_id, "at": now, "who": who[:200], "what": what, "details": dict(details)}
    connection.execute(insert(t.event).values(**values))
