"""Campaigns: made as a draft, opened once everything is there, paused and closed as their organiser likes.

Runs, documents and pairs are kept by ``adjudge.web.holdings``, questions about two lists by
``adjudge.web.preference_holdings``, what is to be put in order by ``adjudge.web.ranking_holdings``.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, Table, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from adjudge.errors import shown
from adjudge.web.asking_settings import AskingSettings
from adjudge.web.campaign_rows import (
    Campaign,
    campaign_of,
    count_answers,
    kind_of,
    locked,
    log_event,
)
from adjudge.web.errors import Conflict, Refused
from adjudge.web.holdings import make_pairs, missing_items, wish_again
from adjudge.web.judging_settings import JudgingSettings
from adjudge.web.preference_holdings import (
    check_combinations,
    check_quiz,
    count_questions,
    lay_questions,
    question_scales,
)
from adjudge.web.preference_settings import PreferenceSettings
from adjudge.web.ranking_holdings import lay_rankings
from adjudge.web.ranking_settings import RankingSettings
from adjudge.web.recruiting import missing_way_back, refuse_other_recruiter
from adjudge.web.schema import answer, campaign, event, item, lease, pair, participant, queue, run

STATES = {
    "draft": ("open",),
    "open": ("paused", "closed"),
    "paused": ("open", "closed"),
    "closed": ("open",),
}
"""What may follow each state."""

_LAID_BY = {"judged_by", "batch_size", "seed"}
_ORDERED_BY = {"seed", "ties", "rank_all", "least_ranked"}
_LAY = {"judging": make_pairs, "preference": lay_questions, "ranking": lay_rankings}
"""What opening does in each kind of campaign."""
_SEED_BITS = 53  # as many as every program that reads JSON keeps
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,99}")


@dataclass(frozen=True)
class Overview:
    """A campaign in numbers. ``judged`` are pairs, questions or queries that somebody answered.

    ``pairs`` are candidates, questions, or queries whose documents are put in order; ``traps`` are counted apart, and
    answers of people set aside not at all.
    """

    systems: int
    items: int
    pairs: int
    judged: int
    answers: int
    participants: int
    traps: int = 0
    queries: int = 0


def create_campaign(
    connection: Connection, *, name: str, settings: AskingSettings, organiser_id: int | None, now: float
) -> Campaign:
    """A draft of a new campaign.

    Where lists are compared and no seed is given, one is drawn: whoever knew it could tell when traps come.
    """
    if _NAME.fullmatch(name) is None:
        raise Refused(
            f"Expected a name of lower-case letters, digits and hyphens (at most 100, as it is part of addresses), "
            f"got {shown(name)}"
        )
    if isinstance(settings, PreferenceSettings):
        check_combinations(settings.combinations)
        if "seed" not in settings.model_fields_set:
            settings = settings.model_copy(update={"seed": secrets.randbits(_SEED_BITS)})
    taken = Conflict(f"There is a campaign called {shown(name)} already.")
    if connection.execute(select(campaign.c.id).where(campaign.c.name == name)).first() is not None:
        raise taken
    values = {
        **_unused_number(connection),
        "name": name,
        "kind": kind_of(settings),
        "organiser_id": organiser_id,
        "state": "draft",
        "settings": settings.model_dump(mode="json"),
        "created_at": now,
    }
    try:
        row = connection.execute(insert(campaign).values(**values).returning(campaign)).mappings().one()
    except IntegrityError:  # somebody was faster by a moment
        raise taken from None
    made = campaign_of(row)
    log_event(connection, made.id, who=_who(organiser_id), what="created", details={"name": name}, now=now)
    return made


def _unused_number(connection: Connection) -> dict[str, int]:
    """A number that no deleted campaign had: somebody may still watch that one. PostgreSQL sees to it by itself."""
    if connection.dialect.name == "postgresql":
        return {}
    had = event.c.details["number"].as_integer()
    last = select(func.max(campaign.c.id)), select(func.max(had)).where(event.c.what == "deleted")
    return {"id": 1 + max(connection.execute(query).scalar_one() or 0 for query in last)}


def list_campaigns(connection: Connection, *, organiser_id: int | None = None) -> list[Campaign]:
    """The campaigns of an organiser, or all; the newest first."""
    query = select(campaign).order_by(campaign.c.created_at.desc(), campaign.c.id.desc())
    if organiser_id is not None:
        query = query.where(campaign.c.organiser_id == organiser_id)
    return [campaign_of(row) for row in connection.execute(query).mappings()]


def change_settings(
    connection: Connection, found: Campaign, settings: AskingSettings, *, who: str, now: float
) -> Campaign:
    """Decide otherwise; what answers rest on stays as it is once there are any.

    That is scales and measure in a judging campaign; in a preference campaign it is how many people a question is for,
    the size of batches and the seed; and, once somebody was recruited, who recruits. In a ranking campaign it is what
    a ranking has to be like, and the seed.
    """
    now_there = locked(connection, found)
    before = now_there.settings
    if type(settings) is not type(before):
        raise Conflict(f"Campaign {found.name} is a {found.kind} campaign and stays one.")
    changed = [name for name in type(settings).model_fields if getattr(settings, name) != getattr(before, name)]
    if not changed:
        return now_there
    if isinstance(settings, JudgingSettings):
        _refuse_other_questions(connection, now_there, settings)
    elif isinstance(settings, PreferenceSettings):
        _refuse_other_batches(connection, now_there, settings, set(changed))
        refuse_other_recruiter(connection, now_there, settings)
    elif isinstance(settings, RankingSettings):
        _refuse_fixed(connection, now_there, _ORDERED_BY & set(changed))
    values = {"settings": settings.model_dump(mode="json")}
    row = (
        connection.execute(update(campaign).where(campaign.c.id == found.id).values(**values).returning(campaign))
        .mappings()
        .one()
    )
    after = campaign_of(row)
    if after.kind == "judging":
        _follow(connection, after, now_there, set(changed))
    elif after.state != "draft" and _LAID_BY & set(changed):
        _LAY[after.kind](connection, after)
    log_event(connection, found.id, who=who, what="settings", details={"changed": changed}, now=now)
    return after


def _follow(connection: Connection, after: Campaign, before: Campaign, changed: set[str]) -> None:
    """Candidates as the settings of a judging campaign want them now."""
    if after.judging.cutoff != before.judging.cutoff:
        _forget_pairs(connection, after)
    elif {"judged_by", "agreement_share", "seed"} & changed:
        wish_again(connection, after)


def _refuse_other_questions(connection: Connection, found: Campaign, settings: JudgingSettings) -> None:
    """Answers must stay answers to what was asked: words beside a scale may change, its levels may not."""
    before = found.judging
    asked = [[(s.name, s.minimum, s.maximum, s.step) for s in given.scales] for given in (before, settings)]
    what = "scales" if asked[0] != asked[1] else "measure" if settings.measure != before.measure else None
    if what is not None and count_answers(connection, found.id):
        raise Conflict(f"The {what} of a campaign cannot be changed once there are answers.")


def _refuse_other_batches(
    connection: Connection, found: Campaign, settings: PreferenceSettings, changed: set[str]
) -> None:
    """Who was asked what must stay true: batches and the number of answers are fixed with the first answer."""
    _refuse_fixed(connection, found, _LAID_BY & changed)
    check_combinations(settings.combinations, question_scales(connection, found.id))
    n_questions, n_traps = count_questions(connection, found.id)
    if n_questions:
        check_quiz(settings.quiz, n_traps)


def _refuse_fixed(connection: Connection, found: Campaign, fixed: set[str]) -> None:
    """Refuse to change settings that the first answer fixed."""
    if fixed and count_answers(connection, found.id):
        raise Conflict(f"The {min(fixed)} of a {found.kind} campaign cannot be changed once there are answers.")


def _forget_pairs(connection: Connection, found: Campaign) -> None:
    """Make the candidates anew for another cutoff; there are no answers, and what is on lease is given back."""
    for table in (lease, queue, pair):
        connection.execute(delete(table).where(table.c.campaign_id == found.id))
    if found.state != "draft":
        _refuse_incomplete(connection, found)
        make_pairs(connection, found)


def set_state(connection: Connection, found: Campaign, state: str, *, who: str, now: float) -> Campaign:
    """Open, pause, close or reopen a campaign; the state that it has already changes nothing.

    Opening needs runs, questions or candidates, something to hear, read or see for all that is asked about, and for
    people whom a recruiter sends a way back, however their part ends.
    """
    if state not in STATES:
        raise Refused(f"Expected a state among {', '.join(STATES)}, got {shown(state)}")
    before = locked(connection, found)
    if state == before.state:
        return before
    if state not in STATES[before.state]:
        able = " or ".join(STATES[before.state])
        raise Conflict(f"A campaign that is {before.state} can become {able}, not {state}.")
    values: dict[str, object] = {"state": state}
    if state == "open":
        _refuse_incomplete(connection, before)
        if before.kind == "preference":
            _refuse_no_way_back(before)
        _LAY[before.kind](connection, before)
        values |= {"opened_at": before.opened_at or now, "closed_at": None}
    elif state == "closed":
        values["closed_at"] = now
    row = (
        connection.execute(update(campaign).where(campaign.c.id == found.id).values(**values).returning(campaign))
        .mappings()
        .one()
    )
    log_event(connection, found.id, who=who, what=state, details={"before": before.state}, now=now)
    return campaign_of(row)


def _refuse_incomplete(connection: Connection, found: Campaign) -> None:
    """Refuse to ask about what nobody can hear."""
    missing = missing_items(connection, found)
    if missing:
        some = ", ".join(shown(name) for name in missing[:5])
        many = f"{len(missing):,} documents have" if len(missing) > 1 else "1 document has"
        each = "document" if found.kind == "preference" else "candidate"
        raise Refused(
            f"Opening needs something to hear, read or see for every {each} and query; {many} nothing: "
            f"{some}{', …' if len(missing) > 5 else ''}."
        )


def _refuse_no_way_back(found: Campaign) -> None:
    """Refuse to let people come who could not be paid in the end."""
    missing = missing_way_back(found.preference)
    if missing is not None:
        raise Refused(missing)


def overview(connection: Connection, found: Campaign) -> Overview:
    """A campaign in numbers."""

    def count(table: Table, *conditions: ColumnElement[bool]) -> int:
        query = select(func.count()).select_from(table).where(table.c.campaign_id == found.id, *conditions)
        return int(connection.execute(query).scalar_one())

    aside = select(participant.c.id).where(
        participant.c.campaign_id == found.id, participant.c.set_aside_at.is_not(None)
    )
    return Overview(
        systems=count(run),
        items=count(item),
        pairs=count(pair, pair.c.role != "trap"),
        judged=count(pair, pair.c.answered > 0),
        answers=count(answer, answer.c.kind.in_(("judgment", "import")), answer.c.participant_id.not_in(aside)),
        participants=count(participant, participant.c.erased_at.is_(None)),
        traps=count(pair, pair.c.role == "trap"),
        queries=int(
            connection.execute(
                select(func.count(pair.c.query.distinct())).where(pair.c.campaign_id == found.id)
            ).scalar_one()
        ),
    )


def _who(organiser_id: int | None) -> str:
    return "command line" if organiser_id is None else f"organiser {organiser_id}"
