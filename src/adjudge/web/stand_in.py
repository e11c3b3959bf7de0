"""A campaign of texts in place of one with sound: the same runs, settings and facts, nothing to listen to.

What an assessor gets to read is the name of the query and that of the document. People would learn too much from it;
programs that stand in for people need just that, and no sound has to be made, sent or waited for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import insert

from adjudge.model.collection import Collection
from adjudge.relevance.candidates import candidates
from adjudge.web.campaign_rows import Campaign
from adjudge.web.campaigns import create_campaign, set_state
from adjudge.web.database import Database
from adjudge.web.hearing import Heard
from adjudge.web.holdings import NewItem, put_items, put_runs
from adjudge.web.invitations import make_invitation
from adjudge.web.judging_settings import JudgingSettings
from adjudge.web.schema import sound
from adjudge.web.settings import Settings


@dataclass(frozen=True)
class StandIn:
    """A campaign of texts and the token of an open invitation to it."""

    campaign: Campaign
    invitation: str


def stand_in(
    database: Database,
    settings: Settings,
    *,
    name: str,
    collection: Collection,
    campaign: JudgingSettings,
    organiser_id: int | None = None,
    state: str = "open",
    heard: Heard | None = None,
) -> StandIn:
    """Store a campaign with these runs in which everything is read; its metadata are the facts of documents.

    An estimator that listens goes by what was ``heard`` of the sound in whose place the texts are.
    """
    heard = heard or Heard()
    now, who = settings.clock(), "rehearsal"
    with database.write() as connection:
        made = create_campaign(connection, name=name, settings=campaign, organiser_id=organiser_id, now=now)
        put_runs(connection, made, collection.runs, who=who, now=now)
        put_items(connection, made, _texts(collection, campaign, heard.clips))
        if heard.rows:
            connection.execute(insert(sound), [dict(row) for row in heard.rows])
        for step in {"draft": (), "open": ("open",)}.get(state, ("open", state)):
            made = set_state(connection, made, step, who=who, now=now)
        invitation = make_invitation(
            connection, made, label="everybody", cap=None, expires_at=None, secret=settings.secret, now=now
        )
    return StandIn(made, invitation.token)


def _texts(collection: Collection, campaign: JudgingSettings, clips: Mapping[str, str]) -> list[NewItem]:
    """Every query and candidate as a text, its own name, with the digest of the clip that it is there for."""
    pool = candidates(collection, cutoff=campaign.cutoff, scale=campaign.evaluated.scale).retrieved()
    facts = _facts(collection)
    documents = dict.fromkeys([*pool.document, *(query for query in pool.queries if query in clips)])
    named = [("query", query) for query in pool.queries] + [("document", name) for name in documents]
    return [
        NewItem(
            name, role=role, kind="text", text=name, media_type="text/plain", clip_sha256=clips.get(name),
            facts=facts.get(name, {}),
        )
        for role, name in named
    ]  # fmt: skip


def _facts(collection: Collection) -> dict[str, Mapping[str, str]]:
    if collection.metadata is None:
        return {}
    rows = collection.metadata.table.iter_rows(named=True)
    return {row["document"]: {k: str(v) for k, v in row.items() if k != "document" and v is not None} for row in rows}
