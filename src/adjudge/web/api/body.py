"""What requests and answers of the pages that ask have in common, whatever is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, Protocol, TypeVar

from fastapi import Path, Response
from pydantic import BaseModel, ConfigDict
from sqlalchemy import Connection

from adjudge.web.context import Context
from adjudge.web.store.answers import SentAnswer, StoredAnswer
from adjudge.web.store.campaigns import Campaign, CampaignSettings, campaign_by_id, in_use
from adjudge.web.store.leases import let_go, release, renew
from adjudge.web.store.participants import Participant, locked_participant, still_there

RowId = Annotated[int, Path(ge=1, lt=2**63)]


class Body(BaseModel):
    """What is sent; anything unknown is refused, so that a misspelt name is not lost in silence."""

    model_config = ConfigDict(extra="forbid")


class Heard(BaseModel):
    """Something to hear, read or look at; its address tells nothing about it.

    Notation is heard and seen: ``drawing_url`` is where its drawing is, with the moments at which its notes sound.
    """

    kind: Literal["audio", "notation", "text", "image", "url"]
    url: str | None
    text: str | None
    seconds: float | None
    drawing_url: str | None = None


class DeskCampaign(BaseModel):
    """The campaign as assessors know it."""

    name: str
    title: str
    state: str


class DeskParticipant(BaseModel):
    """The participant as they know themselves."""

    code: str
    name: str | None
    language: str


def heard_from(kind: Any, address: str, text: str | None, seconds: float | None) -> Heard:
    """An item as it is heard, read or seen."""
    kept = f"/media/{address}" if kind in ("audio", "notation", "image") else None
    shown = text if kind == "text" else None
    drawing = f"/media/{address}/drawing" if kind == "notation" else None
    return Heard(kind=kind, url=text if kind == "url" else kept, text=shown, seconds=seconds, drawing_url=drawing)


class Alive(BaseModel):
    """Until when the questions in one's hands are kept; none where there are none."""

    expires_at: float | None


class TakenAnswer(BaseModel):
    """An answer that is stored for good; each kind adds the next assignment."""

    answer: int
    again: bool


Sent_contra = TypeVar("Sent_contra", bound=SentAnswer, contravariant=True)
Shown = TypeVar("Shown", bound=BaseModel)
Taken = TypeVar("Taken", bound=TakenAnswer)
Do = Callable[[Connection, Campaign], Any]


class Store(Protocol[Sent_contra]):
    """Stores what somebody sent."""

    def __call__(
        self, connection: Connection, campaign: Campaign, participant_id: int, sent: Sent_contra, *, now: float
    ) -> StoredAnswer: ...


@dataclass(frozen=True)
class AskingApi(Generic[Shown, Taken]):
    """What the page of a kind of campaign asks of the API: one question after the other.

    ``hold`` takes the next questions at the end of a transaction, given what was done in it; ``show`` makes of what it
    returns what the page shows. ``changes`` says that a transaction may change its participant.
    """

    settings: type[CampaignSettings]
    taken: type[Taken]
    hold: Callable[[Connection, Context, Campaign, Participant, Any], Any]
    show: Callable[[Context, Campaign, Participant, Any], Shown]
    changes: bool = True

    def begin(self, connection: Connection, participant: Participant) -> Campaign:
        """The campaign, in use, and the participant; refused where the campaign is of another kind.

        Everybody takes locks in the same order: campaign, participant, leases, pairs.
        """
        campaign = in_use(connection, participant.campaign_id)
        campaign.settings_as(self.settings)
        still_there(connection, participant, change=self.changes)
        return campaign

    def next(self, context: Context, participant: Participant, do: Do | None = None) -> Shown:
        """Do something, if anything, take the next questions in the same transaction, and show them."""
        campaign, _, held = self._do(context, participant, do or (lambda connection, campaign: None))
        return self.show(context, campaign, participant, held)

    def store(self, context: Context, participant: Participant, sent: Sent_contra, store: Store[Sent_contra]) -> Taken:
        """Store what was sent and take the next questions, all in one transaction; then show them."""

        def do(connection: Connection, campaign: Campaign) -> StoredAnswer:
            return store(connection, campaign, participant.id, sent, now=context.now())

        campaign, stored, held = self._do(context, participant, do)
        context.estimating.changed(participant.campaign_id)
        desk = self.show(context, campaign, participant, held)
        return self.taken.model_validate({"answer": stored.answer_id, "again": stored.again, "desk": desk})

    def _do(self, context: Context, participant: Participant, do: Do) -> tuple[Campaign, Any, Any]:
        with context.database.write() as connection:
            campaign = self.begin(connection, participant)
            done = do(connection, campaign)
            return campaign, done, self.hold(connection, context, campaign, participant, done)

    def keep_alive(self, participant: Participant, context: Context) -> Alive:
        """A sign of life in a campaign whose questions are leased for minutes."""
        with context.database.write() as connection:
            campaign_by_id(connection, participant.campaign_id).settings_as(self.settings)
            still_there(connection, participant)
            seconds = context.settings.lease_seconds
            held = renew(connection, participant.campaign_id, participant.id, now=context.now(), seconds=seconds)
        return Alive(expires_at=held[0].expires_at if held else None)

    def hand_back(self, participant: Participant, context: Context, *, may_return: bool) -> Response:
        """Give back what is in somebody's hands, in a campaign whose questions are leased for minutes."""
        with context.database.write() as connection:
            campaign_by_id(connection, participant.campaign_id).settings_as(self.settings)
            locked_participant(connection, participant.id)
            (let_go if may_return else release)(connection, participant.id, now=context.now())
        return Response(status_code=204)
