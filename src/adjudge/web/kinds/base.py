"""What a kind of campaign is: one class that each kind fills in, in a folder of its own, and registers.

Everything general asks :data:`KINDS` and knows no kind by name. A kind's folder has its settings, what it keeps in the
store, how it hands out questions and stores answers, its dashboard, exports, pages, templates and scripts.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from adjudge.errors import shown
from adjudge.registry import Registry
from adjudge.web.errors import Conflict, NotFound, Refused
from adjudge.web.kinds import Filling
from adjudge.web.store.campaigns import Campaign, CampaignSettings, count_answers
from adjudge.web.store.snapshots import Basis

if TYPE_CHECKING:
    from fastapi import APIRouter, Request
    from pydantic import BaseModel

    from adjudge.formats import Source
    from adjudge.formats.reading import Progress
    from adjudge.web.context import Context
    from adjudge.web.kinds.exports import Exported
    from adjudge.web.kinds.lifecycle import Overview
    from adjudge.web.rehearse import Plan, Rehearsal, ShowProgress
    from adjudge.web.settings import Settings
    from adjudge.web.store.database import Database
    from adjudge.web.store.participants import Participant
    from adjudge.web.store.people import Organiser

ORGANISER = "organiser"
"""Why somebody's answers are excluded where a person decided it."""


@dataclass(frozen=True)
class Moment:
    """A campaign as it is at one moment, and what a snapshot of it would be made from."""

    campaign: Campaign
    basis: Basis
    now: float


@dataclass(frozen=True)
class Snapshot:
    """What the dashboard of a campaign shows, to be stored.

    ``campaign`` says whether the goal is reached, ``again_at`` when to look again at the latest, and ``store`` what
    else is stored in the same transaction, before the snapshot.
    """

    campaign: Campaign
    basis: Basis
    content: dict[str, Any]
    again_at: float | None = None
    store: Callable[[Connection], None] = lambda connection: None


CHANGE = 0.05
"""Change of the number of judgments or answers, as a share, after which costly things are computed again."""
SECONDS = 5.0
"""Seconds after which any change is enough."""
COST = 10.0
"""Costly things rest for at least this multiple of the processor time that they took."""


@dataclass
class Costly:
    """Something that is computed again only when enough has changed."""

    value: Any = None
    of: int = -1
    at: float = 0.0
    took: float = 0.0

    def is_due(self, n: int, *, slowly: bool) -> bool:
        """Whether it should be computed again for ``n``; ``slowly`` where any change is enough after a while."""
        if self.of < 0:
            return True
        rested = time.monotonic() - self.at
        changed = abs(n - self.of) >= max(1.0, CHANGE * self.of) or (slowly and n != self.of and rested >= SECONDS)
        return changed and rested >= COST * self.took

    def keep(self, value: Any, n: int, began: float) -> None:
        """Take a new value that was begun at a time of this thread."""
        self.value, self.of, self.at, self.took = value, n, time.monotonic(), time.thread_time() - began


@dataclass(frozen=True)
class Card:
    """A campaign in the list: where it stands, in words."""

    name: str
    title: str
    state: str
    goal: str
    candidates: int
    share: float
    progress: str
    value: str
    live: int
    people: str


@dataclass(frozen=True)
class Words:
    """What pages of all kinds call what is of one kind.

    Those who take part (``person``, ``people``) do something (``does``, ``doing``) and send an ``answer``; answers are
    on the page ``tab``. ``asked`` is what they are asked about, ``problems`` those of it that cannot be answered.
    ``material`` comes before documents; ``reached`` is said once the goal is.
    """

    person: str
    people: str
    does: str
    doing: str
    material: str
    asked: str
    problems: str
    reached: str
    answer: str = "answer"
    tab: str = "answers"


class Observer(ABC):
    """What one process knows of a campaign between two snapshots of its dashboard."""

    def prepare(self, database: Database, settings: Settings, campaign: Campaign) -> None:  # noqa: B027
        """Compute what a snapshot needs, outside of any transaction."""

    @abstractmethod
    def look(self, connection: Connection, moment: Moment, *, is_unchanged: bool) -> Snapshot | None:
        """A new snapshot; None where the one that is stored still holds."""


class Kind(ABC):
    """A kind of campaign.

    ``home`` is the page that asks participants. ``roles`` are those of what it asks about, in ``pair``, with the kinds
    of leases by which each is handed out. ``exports`` are what can be exported and in which forms, the usual one
    first; ``export_options`` are options of exports, with the export that takes each. ``answer_kinds`` are which
    answers a page can show, in words, by kind. ``exclusions`` are the reasons for which somebody's answers can be
    excluded; where there are none, people are only blocked. ``fixed`` are settings that stay as they are once there
    are answers. ``stored`` is what is kept of people besides what all kinds keep, as the page about privacy calls it.
    ``rehearses_demo`` marks the kind of ``adjudge campaign rehearse --demo``. Its templates and scripts are
    in ``folder``.
    """

    name: str
    settings: type[CampaignSettings]
    folder: Path
    home: str
    words: Words
    roles: Mapping[str, tuple[str, ...]]
    answer_kinds: Mapping[str, str]
    exports: Mapping[str, tuple[str, ...]]
    export_options: Mapping[str, str] = {}
    exclusions: tuple[str, ...] = ()
    fixed: frozenset[str] = frozenset()
    stored: tuple[str, ...] = ()
    rehearses_demo: bool = False

    # How it is made.

    def read_inputs(
        self, given: Mapping[str, Any], values: dict[str, Any], *, progress: Progress | None = None
    ) -> Filling:
        """Read what a new campaign is made from, as ``INPUTS`` declare it; ``values`` are settings as options."""
        return Filling(values)

    def hear_documents(  # noqa: B027
        self, database: Database, settings: Settings, campaign: Campaign, *, workers: int, progress: Progress
    ) -> None:
        """Compute what the campaign needs of documents that were taken in."""

    # Its life, in the store.

    def complete_settings(self, settings: CampaignSettings) -> CampaignSettings:
        """The settings of a new campaign, checked and completed."""
        return settings

    def check_change(
        self, connection: Connection, campaign: Campaign, settings: CampaignSettings, changed: set[str]
    ) -> None:
        """Refuse settings that contradict what is there already."""
        fixed = self.fixed & changed
        if fixed and count_answers(connection, campaign.id):
            raise Conflict(f"The {min(fixed)} of a {self.name} campaign cannot be changed once there are answers.")

    def follow_change(self, connection: Connection, before: Campaign, after: Campaign, changed: set[str]) -> None:
        """Bring what is stored up to date with settings that changed."""
        if after.state != "draft" and self.fixed & changed:
            self.lay_queue(connection, after)

    @abstractmethod
    def needed_items(self, connection: Connection, campaign: Campaign) -> dict[str, set[str]] | None:
        """Documents and queries that somebody will be asked about, by role; None while that is not known."""

    @abstractmethod
    def missing_items(self, connection: Connection, campaign: Campaign) -> list[str]:
        """Names of what somebody will be asked about and of which there is nothing to hear, read or see yet."""

    def check_opening(self, connection: Connection, campaign: Campaign) -> None:
        """Refuse to open a campaign that cannot ask anything yet."""
        missing = self.missing_items(connection, campaign)
        if missing:
            some = ", ".join(shown(name) for name in missing[:5])
            many = f"{len(missing):,} documents have" if len(missing) > 1 else "1 document has"
            raise Refused(
                f"Opening needs something to hear, read or see for every document and query; {many} nothing: "
                f"{some}{', …' if len(missing) > 5 else ''}."
            )

    @abstractmethod
    def lay_queue(self, connection: Connection, campaign: Campaign) -> None:
        """Lay out what is asked, whenever the campaign opens or what the queue rests on changes."""

    def outcome_on_exclusion(self, campaign: Campaign, why: str, answers: int) -> str | None:
        """How somebody's part ends when their answers are excluded; None where parts have no outcome."""
        return None

    def is_part_done(self, campaign: Campaign, answers: int) -> bool:
        """Whether somebody who gave that many answers has nothing left to do."""
        return False

    def find_problems(self, connection: Connection) -> Iterator[Iterator[str]]:
        """What is wrong with the stored campaigns of this kind, a line each, by check."""
        return iter(())

    # Its dashboard.

    @abstractmethod
    def observer(self) -> Observer:
        """What makes snapshots of one campaign."""

    @abstractmethod
    def first_snapshot(self, campaign: Campaign) -> dict[str, Any]:
        """A snapshot of version 0, before anything is known."""

    # What comes from elsewhere, and what leaves it.

    def import_answers(
        self, connection: Connection, campaign: Campaign, source: Source, options: Mapping[str, Any], *, now: float
    ) -> tuple[str, Sequence[str]]:
        """Add the answers of a file, all or none; ``options`` are those of the command line.

        Returns what was added, in words, and notes.
        """
        raise Refused(f"Campaign {campaign.name} asks for {self.settings.asked_for}; it takes none from files.")

    @abstractmethod
    def export(
        self, connection: Connection, campaign: Campaign, what: str, *, form: str, options: Mapping[str, Any]
    ) -> Exported:
        """One of ``exports`` as a file."""

    # A rehearsal of it.

    def rehearse(
        self,
        database: Database,
        settings: Settings,
        campaign: Campaign,
        plan: Plan,
        options: Mapping[str, Any],
        *,
        progress: ShowProgress,
    ) -> Rehearsal:
        """Let simulated people answer in a copy of the campaign; ``options`` are those of the command line."""
        raise Refused(f"Campaign {campaign.name} asks for {self.settings.asked_for}; nobody can be simulated for that.")

    def rehearse_demo(self, plan: Plan, options: Mapping[str, Any], *, progress: ShowProgress) -> Rehearsal:
        """Rehearse the embedded demo, where ``rehearses_demo``."""
        raise NotImplementedError

    # Its pages.

    @abstractmethod
    def api_routers(self) -> Sequence[APIRouter]:
        """Routes of the API that only this kind has."""

    def page_routers(self) -> Sequence[APIRouter]:
        """Pages that only this kind has."""
        return ()

    @abstractmethod
    def describe(self, campaign: Campaign, counts: Overview) -> dict[str, object]:
        """What a campaign asks and how far it is, for the command line: values by name."""

    def count_for_list(self, counts: Overview) -> dict[str, int]:
        """What a list of campaigns counts of it, by the name of a column."""
        return {}

    @abstractmethod
    def card(self, campaign: Campaign, seen: Overview, status: Mapping[str, Any], live: int) -> Card:
        """The campaign in the list; ``status`` is of its snapshot, ``live`` how many people are there now."""

    def fill_form(self, settings: CampaignSettings) -> dict[str, Any]:
        """Fields of the form that the declarations of settings do not make; ``fields/NAME.html`` shows them."""
        return {}

    def read_form(
        self, form: Mapping[str, Any], values: dict[str, Any], before: CampaignSettings | None
    ) -> dict[str, Any]:
        """The values of settings, completed from such fields."""
        return values

    async def take_material(
        self, request: Request, campaign: Campaign, organiser: Organiser, context: Context
    ) -> object:
        """Take the files of a form without scripts that a campaign needs before documents."""
        raise NotFound(f"Campaign {campaign.name} takes no {self.words.material} as files.")

    @abstractmethod
    def set_up_values(
        self, connection: Connection, context: Context, campaign: Campaign, asked_for: Mapping[str, str]
    ) -> dict[str, Any]:
        """What ``set_up.html`` of the kind shows besides what all show; ``has_material`` says whether that is here.

        ``facts`` are words by title that its settings come to, where their declarations do not say enough.
        """

    def people_values(
        self, connection: Connection, campaign: Campaign, people: Sequence[Participant], *, now: float
    ) -> tuple[Mapping[int, Mapping[str, Any]], dict[str, Any]]:
        """What ``people.html`` of the kind shows of each person, by their number, and besides."""
        return {}, {}

    @abstractmethod
    def answers_values(self, connection: Connection, campaign: Campaign, rows: Sequence[Any]) -> dict[str, Any]:
        """What ``answers.html`` of the kind shows besides what all show; ``files`` are what can be taken away."""

    @abstractmethod
    def shown_items(self, connection: Connection, pair_id: int) -> BaseModel:
        """What people hear, read or see of a pair or question."""


KINDS: Registry[Kind] = Registry("kind of campaign", "adjudge.web.kinds.*.kind")
"""The kinds of campaign, by name."""


def kind_of(campaign: Campaign) -> Kind:
    """The kind of a campaign."""
    return KINDS[campaign.kind]
