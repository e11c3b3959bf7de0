"""Rating: people rate one item alone, on a scale. A whole kind of campaign, registered by importing it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import polars as pl
from fastapi import APIRouter
from pydantic import BaseModel, Field
from sqlalchemy import Connection, func, select

from adjudge.web.api.body import AskingApi, Heard, TakenAnswer, heard_from
from adjudge.web.context import Context, InContext
from adjudge.web.errors import Refused
from adjudge.web.http.access import AsParticipant
from adjudge.web.kinds.base import KINDS, ORGANISER, Card, Kind, Moment, Observer, Snapshot, Words
from adjudge.web.kinds.exports import Exported, answer_log, export_file, plain_table
from adjudge.web.kinds.lifecycle import Overview
from adjudge.web.pages.answers import list_downloads
from adjudge.web.store import schema as t
from adjudge.web.store.answers import AnswerContent, LeasedAnswer, StoredAnswer, store_answer
from adjudge.web.store.campaigns import SETTINGS, Campaign, CampaignSettings
from adjudge.web.store.items import NewQuestion, is_complete, items_by_identifier, lay_listed, replace_asked
from adjudge.web.store.leases import Lease, hold
from adjudge.web.store.participants import Participant, count_by_participant
from adjudge.web.store.settings import setting
from adjudge.web.store.snapshots import as_reached, campaign_row
from adjudge.web.store.wording import Line


@SETTINGS.register("rating")
class RatingSettings(CampaignSettings):
    """Which items are rated, from 1 to ``maximum``."""

    asked_for = "ratings"
    made_of = "the names of items"

    repeat_share: float = setting(0.0, title="Asked again", unit="%", ge=0, le=0)
    listen_seconds: float = setting(0.0, title="Seconds to listen", unit="s", ge=0, le=0)
    items: tuple[Line, ...] = setting((), title="Items", help="One name per line.", group="asked", max_length=1000)
    maximum: int = setting(5, title="Best rating", help="The worst is 1.", group="asked", ge=2, le=10)


def settings_of(campaign: Campaign) -> RatingSettings:
    """The settings of a rating campaign."""
    return campaign.settings_as(RatingSettings)


# Questions and answers.


class NewRating(LeasedAnswer):
    """A rating of the item that was leased."""

    rating: Annotated[int, Field(ge=1, strict=True)]


class RatingQuestion(BaseModel):
    """An item, and the lease to rate it with."""

    lease: str
    item: Heard


class RatingDesk(BaseModel):
    """Everything that the page needs."""

    question: RatingQuestion | None
    maximum: int
    answered: int


class TakenRating(TakenAnswer):
    """A rating that is stored, and the desk after it."""

    desk: RatingDesk


def store_rating(
    connection: Connection, campaign: Campaign, participant_id: int, sent: NewRating, *, now: float
) -> StoredAnswer:
    """Keep a rating; refused where it is not on the scale."""

    def check(lease: Lease) -> AnswerContent:
        most = settings_of(campaign).maximum
        if sent.rating > most:
            raise Refused(f"Expected a rating from 1 to {most}, got {sent.rating}.")
        return AnswerContent({"rating": sent.rating})

    return store_answer(connection, participant_id, sent, check, now=now)


def _hold(
    connection: Connection, context: Context, campaign: Campaign, participant: Participant, done: object
) -> list[Lease]:
    seconds = context.settings.lease_seconds
    return hold(connection, campaign, participant.id, now=context.now(), seconds=seconds, most=1)


def _show(context: Context, campaign: Campaign, participant: Participant, leases: list[Lease]) -> RatingDesk:
    with context.database.read() as connection:
        questions = [RatingQuestion(lease=lease.id, item=item_of(connection, lease.pair_id)) for lease in leases]
        mine = select(func.count()).where(t.answer.c.participant_id == participant.id)
        return RatingDesk(
            question=questions[0] if questions else None,
            maximum=settings_of(campaign).maximum,
            answered=connection.execute(mine).scalar_one(),
        )


def item_of(connection: Connection, pair_id: int) -> Heard:
    """The item that is rated."""
    columns = (t.item.c.kind, t.item.c.address, t.item.c.text, t.item.c.seconds)
    query = select(*columns).join(t.pair, t.pair.c.query_item_id == t.item.c.id).where(t.pair.c.id == pair_id)
    return heard_from(*connection.execute(query).one())


router = APIRouter(prefix="/rating", tags=["rating"])
_RATING = AskingApi(RatingSettings, TakenRating, _hold, _show)


@router.get("")
def rating_desk(participant: AsParticipant, context: InContext) -> RatingDesk:
    """The item in hand, or a new one."""
    return _RATING.next(context, participant)


@router.post("/answers")
def rate(sent: NewRating, participant: AsParticipant, context: InContext) -> TakenRating:
    """Store a rating."""
    return _RATING.store(context, participant, sent, store_rating)


# Results.


def ratings_of(connection: Connection, campaign: Campaign) -> pl.DataFrame:
    """How often each item was rated, and the mean, in the order of the settings."""
    rows = connection.execute(
        select(t.pair.c.document, t.answer.c.grades)
        .join(t.pair, t.pair.c.id == t.answer.c.pair_id)
        .join(t.participant, t.participant.c.id == t.answer.c.participant_id)
        .where(t.answer.c.campaign_id == campaign.id, t.answer.c.kind == "judgment")
        .where(t.participant.c.set_aside_at.is_(None))
    ).all()
    given = {
        name: [row.grades["rating"] for row in rows if row.document == name] for name in settings_of(campaign).items
    }
    known = [(name, len(ratings), sum(ratings) / len(ratings) if ratings else None) for name, ratings in given.items()]
    return pl.DataFrame(known, schema={"item": pl.String, "ratings": pl.Int64, "mean": pl.Float64}, orient="row")


class RatingObserver(Observer):
    """Counts ratings."""

    def look(self, connection: Connection, moment: Moment, *, is_unchanged: bool) -> Snapshot | None:
        """A new snapshot where anything changed."""
        if is_unchanged:
            return None
        table, wanted = ratings_of(connection, moment.campaign), moment.campaign.settings.judged_by
        done = bool((table["ratings"] >= wanted).all())
        campaign = as_reached(moment.campaign, done=done, now=moment.now)
        content = {
            **first_snapshot(campaign),
            "made_at": moment.now,
            "made_from": asdict(moment.basis),
            "status": {"done": done, "ratings": int(table["ratings"].sum()), "wanted": wanted * len(table)},
            "items": table.to_dicts(),
        }
        del content["version"]
        return Snapshot(campaign, moment.basis, content)


def first_snapshot(campaign: Campaign) -> dict[str, Any]:
    """A snapshot before anything is known."""
    known = {"version": 0, "made_at": None, "kind": "rating", "campaign": campaign_row(campaign)}
    return {**known, "status": {"done": False, "ratings": 0, "wanted": 0}, "items": []}


class Rating(Kind):
    """Items are rated, each alone."""

    name = "rating"
    settings = RatingSettings
    folder = Path(__file__).parent
    home = "/rate"
    exports: Mapping[str, tuple[str, ...]] = {"ratings": ("csv", "json"), "log": ("csv", "json")}
    exclusions = (ORGANISER,)
    fixed = frozenset({"seed", "items", "maximum"})
    words = Words(
        person="rater",
        people="raters",
        does="rate",
        doing="rating",
        material="items",
        asked="item",
        problems="Items",
        reached="Every item is rated",
        answer="rating",
    )
    roles: Mapping[str, tuple[str, ...]] = {"rating": ("judgment",)}
    answer_kinds: Mapping[str, str] = {"": "all", "judgment": "ratings"}

    def needed_items(self, connection: Connection, campaign: Campaign) -> dict[str, set[str]] | None:
        """The items."""
        names = set(settings_of(campaign).items)
        return {"document": names, "query": names} if names else None

    def missing_items(self, connection: Connection, campaign: Campaign) -> list[str]:
        """Items of which there is nothing to hear, read or see yet."""
        names = settings_of(campaign).items
        if not names:
            raise Refused("The campaign asks nothing yet; it needs the names of items.")
        rows = items_by_identifier(connection, campaign.id)
        return [name for name in names if not is_complete(rows.get(("document", name)) or {"kind": "", "text": None})]

    def lay_queue(self, connection: Connection, campaign: Campaign) -> None:
        """Items in an order of the seed."""
        settings = settings_of(campaign)
        there = select(t.pair.c.document).where(t.pair.c.campaign_id == campaign.id)
        if set(connection.execute(there).scalars()) != set(settings.items):
            asked = [NewQuestion(name, name, {}, "rating", settings.judged_by) for name in settings.items]
            replace_asked(connection, campaign, asked)
        lay_listed(connection, campaign, lambda place, n: None)

    def find_problems(self, connection: Connection) -> Iterator[Iterator[str]]:
        """Ratings that are none."""
        query = select(t.answer.c.id, t.answer.c.grades).join(t.pair, t.pair.c.id == t.answer.c.pair_id)
        rows = connection.execute(query.where(t.pair.c.role == "rating"))
        yield (f"answer {row.id}: expected a rating" for row in rows if not isinstance(row.grades.get("rating"), int))

    def observer(self) -> Observer:
        """Counts ratings."""
        return RatingObserver()

    def first_snapshot(self, campaign: Campaign) -> dict[str, Any]:
        """A snapshot before anybody rated anything."""
        return first_snapshot(campaign)

    def export(
        self, connection: Connection, campaign: Campaign, what: str, *, form: str, options: Mapping[str, Any]
    ) -> Exported:
        """Mean ratings, or the log."""
        if what == "ratings":
            return export_file(campaign, what, form, plain_table(ratings_of(connection, campaign), form))
        schema = {"answer": pl.Int64, "at": pl.String, "participant": pl.String, "document": pl.String,
                  "rating": pl.Int64, "key": pl.String}  # fmt: skip
        log = answer_log(
            connection,
            campaign,
            schema,
            lambda row: {"participant": row["code"], "rating": row["grades"].get("rating")},
            form=form,
        )
        return export_file(campaign, what, form, log)

    def api_routers(self) -> Sequence[APIRouter]:
        """Questions and answers."""
        return (router,)

    def describe(self, campaign: Campaign, counts: Overview) -> dict[str, object]:
        """How many items, and how far they are rated."""
        return {"items": f"{counts.pairs:,}, {counts.judged:,} rated", "scale": f"1 to {settings_of(campaign).maximum}"}

    def card(self, campaign: Campaign, seen: Overview, status: Mapping[str, Any], live: int) -> Card:
        """The campaign in the list."""
        wanted = len(settings_of(campaign).items) * campaign.settings.judged_by
        return Card(
            name=campaign.name,
            title=campaign.settings.title,
            state=campaign.state,
            goal="Rate every item",
            candidates=wanted,
            share=seen.answers / wanted if wanted else 0.0,
            progress=f"{seen.answers:,} of {wanted:,} ratings",
            value="",
            live=live,
            people=f"{seen.participants:,} people",
        )

    def set_up_values(
        self, connection: Connection, context: Context, campaign: Campaign, asked_for: Mapping[str, str]
    ) -> dict[str, Any]:
        """Items, documents and people, as a list to tick off."""
        return {"has_material": bool(settings_of(campaign).items)}

    def people_values(
        self, connection: Connection, campaign: Campaign, people: Sequence[Participant], *, now: float
    ) -> tuple[Mapping[int, Mapping[str, Any]], dict[str, Any]]:
        """Who rated how much."""
        counts = count_by_participant(connection, campaign)
        return {person.id: {"ratings": counts.get(person.id, 0)} for person in people}, {}

    def answers_values(self, connection: Connection, campaign: Campaign, rows: Sequence[Any]) -> dict[str, Any]:
        """The newest ratings."""
        return {"files": list_downloads(campaign, {"ratings": ("Ratings", "mean by item"), "log": ("Log", "all")})}

    def shown_items(self, connection: Connection, pair_id: int) -> BaseModel:
        """The item."""
        return item_of(connection, pair_id)


KINDS.add("rating", Rating())
