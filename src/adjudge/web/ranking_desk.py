"""What the page of a ranking campaign shows: a query, its candidates, the ranking so far, the rules, what is done.

Candidates come in an order drawn for each expert and query, so that where somebody begins is no bias of all.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel
from sqlalchemy import ColumnElement, Connection, exists, func, or_, select

from adjudge.web.campaign_rows import Campaign
from adjudge.web.desk import DeskCampaign, DeskParticipant, Heard, heard_from
from adjudge.web.invitations import Participant
from adjudge.web.leasing import Lease, chance, new_to
from adjudge.web.ranking_arranging import arrangement_of
from adjudge.web.ranking_leasing import REOPENED, in_hand
from adjudge.web.schema import answer, item, lease, listed, pair

RankingWhy = Literal["closed", "paused", "draft", "nothing_left", "wait"]


class Candidate(Heard):
    """A document to be given a place; ``id`` is what rankings call it."""

    id: int


class ArrangedGroups(BaseModel):
    """A ranking as far as it got: groups of candidates, most similar first; ``version`` 0 is before it was saved."""

    version: int
    groups: list[list[int]]


class RankingQuestion(BaseModel):
    """A query, its candidates as they lie in the tray, and the lease to save and answer with; ``number`` from 1.

    ``corrects`` is the answer that was reopened, if one was.
    """

    lease: str
    expires_at: float
    number: int
    query: Heard
    candidates: list[Candidate]
    arrangement: ArrangedGroups
    corrects: int | None


class RankingRules(BaseModel):
    """What a ranking has to be like; ``listen_seconds`` are of the query and of every document that gets a place."""

    ties: bool
    rank_all: bool
    least_ranked: int
    listen_seconds: float


class RankingProgress(BaseModel):
    """Queries that one is done with, of those that one can be asked about."""

    answered: int
    of: int


class DoneOrder(BaseModel):
    """A ranking that was sent, as it stands now: how many documents have a place, of how many."""

    answer: int
    number: int
    query: str
    at: float
    ranked: int
    of: int


class RankingDesk(BaseModel):
    """Everything that the page needs; ``why`` says why there is no question."""

    campaign: DeskCampaign
    participant: DeskParticipant
    question: RankingQuestion | None
    why: RankingWhy | None
    rules: RankingRules
    progress: RankingProgress
    done: list[DoneOrder]


def make_ranking_desk(
    connection: Connection, campaign: Campaign, participant: Participant, held: Lease | None
) -> RankingDesk:
    """The desk of a participant who holds this lease, or none."""
    settings, done = campaign.ranking, done_orders(connection, participant.id)
    return RankingDesk(
        campaign=DeskCampaign(name=campaign.name, title=campaign.settings.title, state=campaign.state),
        participant=DeskParticipant(code=participant.code, name=participant.name, language=participant.language),
        question=None if held is None else _question(connection, campaign, held, done),
        why=None if held is not None else _why(connection, campaign, participant.id),
        rules=RankingRules(
            ties=settings.ties,
            rank_all=settings.rank_all,
            least_ranked=settings.least_ranked,
            listen_seconds=settings.listen_seconds,
        ),
        progress=_progress(connection, campaign, participant.id, len(done)),
        done=[one for _, one in done],
    )


def done_orders(connection: Connection, participant_id: int) -> list[tuple[int, DoneOrder]]:
    """What somebody sent, first to last, each with its pair."""
    columns = (answer.c.id, answer.c.pair_id, answer.c.corrects, answer.c.grades, answer.c.created_at, pair.c.query)
    query = select(*columns, item.c.facts).join(pair, pair.c.id == answer.c.pair_id)
    query = query.join(item, item.c.id == pair.c.query_item_id).where(answer.c.participant_id == participant_id)
    found: dict[int, tuple[int, DoneOrder]] = {}
    for row in connection.execute(query.where(answer.c.kind.in_(("judgment", "correction"))).order_by(answer.c.id)):
        first = row.id if row.corrects is None else row.corrects
        ranked = sum(len(group) for group in row.grades["groups"])
        number = found[first][1].number if first in found else len(found) + 1
        made = DoneOrder(
            answer=first,
            number=number,
            query=row.facts.get("title") or row.query,
            at=row.created_at,
            ranked=ranked,
            of=ranked + len(row.grades["unranked"]),
        )
        found[first] = (row.pair_id, made)
    return list(found.values())


def _question(
    connection: Connection, campaign: Campaign, held: Lease, done: list[tuple[int, DoneOrder]]
) -> RankingQuestion:
    columns = (item.c.kind, item.c.address, item.c.text, item.c.seconds)
    of_query = select(*columns).join(pair, pair.c.query_item_id == item.c.id).where(pair.c.id == held.pair_id)
    inside = select(item.c.id, *columns).join(listed, listed.c.item_id == item.c.id)
    rows = connection.execute(inside.where(listed.c.pair_id == held.pair_id)).all()
    drawn = sorted(
        rows, key=lambda row: chance("tray", campaign.settings.seed, held.participant_id, held.pair_id, row.id)
    )
    begun = arrangement_of(connection, held.participant_id, held.pair_id)
    sent = next((one for pair_id, one in done if pair_id == held.pair_id), None)
    reopened = sent if held.kind == REOPENED else None
    return RankingQuestion(
        lease=held.id,
        expires_at=held.expires_at,
        number=len(done) + 1 if reopened is None else reopened.number,
        query=heard_from(*connection.execute(of_query).one()),
        candidates=[Candidate(id=row[0], **heard_from(*row[1:]).model_dump()) for row in drawn],
        arrangement=ArrangedGroups(version=begun.version, groups=[list(group) for group in begun.groups]),
        corrects=None if reopened is None else reopened.answer,
    )


def _progress(connection: Connection, campaign: Campaign, participant_id: int, answered: int) -> RankingProgress:
    """Of all queries that somebody ranked, holds, or could be given once they are free."""
    to_come = _count(connection, campaign, new_to(participant_id), pair.c.answered < pair.c.wanted, ~pair.c.held)
    holds = sum(one.kind != REOPENED for one in in_hand(connection, participant_id))
    return RankingProgress(answered=answered, of=answered + holds + to_come)


def _count(connection: Connection, campaign: Campaign, *conditions: ColumnElement[bool]) -> int:
    query = select(func.count()).select_from(pair).where(pair.c.campaign_id == campaign.id, *conditions)
    return int(connection.execute(query).scalar_one())


def _why(connection: Connection, campaign: Campaign, participant_id: int) -> RankingWhy:
    """Why somebody is asked nothing now: ``wait`` where what is left is in the hands of others, or being given out.

    What somebody handed back themselves is nothing that they wait for while nobody else has it.
    """
    if campaign.state != "open":
        states: dict[str, RankingWhy] = {"draft": "draft", "paused": "paused"}
        return states.get(campaign.state, "closed")
    theirs = (lease.c.pair_id == pair.c.id) & (lease.c.participant_id == participant_id)
    back = exists().where(theirs, lease.c.ended_how == "released")
    left = ~pair.c.held, pair.c.answered < pair.c.wanted, or_(pair.c.taken >= pair.c.wanted, ~back)
    return "wait" if _count(connection, campaign, new_to(participant_id), *left) else "nothing_left"
