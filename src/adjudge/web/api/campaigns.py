"""Campaigns over HTTP: made, looked at, changed, opened, paused, closed."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field, GetJsonSchemaHandler, SerializeAsAny
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema
from sqlalchemy import Connection

from adjudge.errors import AdjudgeError
from adjudge.web.api.body import Body
from adjudge.web.context import InContext
from adjudge.web.errors import Refused
from adjudge.web.http.access import AsOrganiser, OwnCampaign
from adjudge.web.kinds.base import KINDS, kind_of
from adjudge.web.kinds.lifecycle import Overview, change_settings, create_campaign, list_campaigns, overview, set_state
from adjudge.web.store.campaigns import Campaign, CampaignSettings

router = APIRouter(prefix="/campaigns", tags=["campaigns"])


class _OfAnyKind:
    """Describes settings in the API's schema as those of one of the kinds that there are."""

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [handler(kind.settings.__pydantic_core_schema__) for kind in KINDS.values()]}


class NewCampaign(Body):
    """A campaign to be made; ``settings`` of its kind need a title, everything else has a usual value."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    kind: Annotated[str, Field(max_length=40, json_schema_extra={"enum": [*KINDS]})] = next(iter(KINDS))
    settings: dict[str, Any]


class Change(Body):
    """Settings to be changed; those that are not named stay."""

    settings: dict[str, Any]


class NewState(Body):
    """Where a campaign should stand."""

    state: Literal["open", "paused", "closed"]


class Shown(BaseModel):
    """A campaign."""

    name: str
    kind: str
    state: str
    settings: Annotated[SerializeAsAny[CampaignSettings], _OfAnyKind]
    created_at: float
    opened_at: float | None
    reached_at: float | None
    closed_at: float | None
    counts: Overview


class Listed(BaseModel):
    """Campaigns, the newest first."""

    campaigns: list[Shown]


class Missing(BaseModel):
    """Documents and queries of which there is nothing to hear, read or see yet."""

    missing: list[str]


def show(connection: Connection, campaign: Campaign) -> Shown:
    """A campaign as this interface shows it."""
    known = {name: getattr(campaign, name) for name in Shown.model_fields if name != "counts"}
    return Shown(**known, counts=overview(connection, campaign))


def checked_settings(values: dict[str, Any], kind: str) -> CampaignSettings:
    """Settings from outside; what is wrong with them is the sender's to mend."""
    try:
        return KINDS[kind].settings.parse(values)
    except AdjudgeError as error:
        raise Refused(str(error)) from None


@router.get("", summary="One's campaigns")
def all_campaigns(organiser: AsOrganiser, context: InContext) -> Listed:
    """Those of this organiser; administrators see all."""
    with context.database.read() as connection:
        found = list_campaigns(connection, organiser_id=None if organiser.is_admin else organiser.id)
        return Listed(campaigns=[show(connection, campaign) for campaign in found])


@router.post("", status_code=201, summary="Make a campaign")
def create(sent: NewCampaign, organiser: AsOrganiser, context: InContext) -> Shown:
    """A draft: give it runs, questions or candidates, and documents, then open it."""
    settings = checked_settings(sent.settings, sent.kind)
    with context.database.write() as connection:
        made = create_campaign(
            connection, name=sent.name, settings=settings, organiser_id=organiser.id, now=context.now()
        )
        return show(connection, made)


@router.get("/{name}", summary="A campaign")
def one(campaign: OwnCampaign, context: InContext) -> Shown:
    """Its settings, state and numbers."""
    with context.database.read() as connection:
        return show(connection, campaign)


@router.patch("/{name}", summary="Change settings of a campaign")
def change(sent: Change, campaign: OwnCampaign, organiser: AsOrganiser, context: InContext) -> Shown:
    """What answers rest on stays as it is once there are any: scales and measure, batches and the seed, rules."""
    settings = checked_settings({**campaign.settings.model_dump(mode="json"), **sent.settings}, campaign.kind)
    with context.database.write() as connection:
        changed = change_settings(connection, campaign, settings, who=organiser.login, now=context.now())
        shown = show(connection, changed)
    context.estimating.changed(campaign.id)
    return shown


@router.post("/{name}/state", summary="Open, pause, close or reopen a campaign")
def state(sent: NewState, campaign: OwnCampaign, organiser: AsOrganiser, context: InContext) -> Shown:
    """Opening needs runs, questions or candidates, and something to hear, read or see for all that is asked about."""
    with context.database.write() as connection:
        changed = set_state(connection, campaign, sent.state, who=organiser.login, now=context.now())
        shown = show(connection, changed)
    context.estimating.changed(campaign.id)
    return shown


@router.get("/{name}/missing", summary="What keeps a campaign from opening")
def missing(campaign: OwnCampaign, context: InContext) -> Missing:
    """Documents and queries of which there is nothing to hear, read or see yet."""
    with context.database.read() as connection:
        return Missing(missing=kind_of(campaign).missing_items(connection, campaign))
