"""What was answered about lists: files to take away, the answers, what people said twice or could not say."""

from __future__ import annotations

from typing import Any

from fastapi import Request, Response
from sqlalchemy import Connection, select

from adjudge.errors import AdjudgeError
from adjudge.web import monitoring
from adjudge.web.campaign_rows import Campaign
from adjudge.web.context import Context
from adjudge.web.invitations import list_participants
from adjudge.web.pages.organiser_answer_rows import (
    ChosenAnswers,
    Download,
    export_address,
    links,
    newest_answers,
    report_download,
)
from adjudge.web.pages.organiser_preference_questions import CHOICE_WORDS
from adjudge.web.pages.organiser_shared import PAGE, show, turning
from adjudge.web.people import Organiser
from adjudge.web.schema import answer, pair, participant

_MOST_REPEATS = 50
PREFERENCE_ANSWERS = {"": "all", "judgment": "questions", "trap": "traps", "repeat": "asked again", "skip": "skipped",
                      "comment": "with a comment"}  # fmt: skip
"""Which answers to show, by the value of the field."""


def preference_answers_page(
    request: Request,
    context: Context,
    organiser: Organiser,
    campaign: Campaign,
    chosen: ChosenAnswers,
    *,
    problem: AdjudgeError | None = None,
) -> Response:
    """The newest answers about lists, or those before one."""
    shown = (answer.c.heard, participant.c.set_aside_at, pair.c.document, pair.c.details)
    with context.database.read() as connection:
        rows = newest_answers(connection, campaign, chosen, *shown, named=(pair.c.document, pair.c.query))
        everybody = [one.code for one in list_participants(connection, campaign)]
        problems = [one for one in monitoring.problems(connection, campaign.id) if one["skips"] or one["held"]]
        repeats = _repeats(connection, campaign)
    address = f"/campaigns/{campaign.name}/answers"
    older, newer = turning(address, chosen.kept, [row.id for row in rows], before=chosen.before)
    return show(
        request,
        context,
        "preference_answers.html",
        organiser=organiser,
        problem=problem,
        campaign=campaign,
        tab="answers",
        rows=rows[:PAGE],
        chosen=chosen,
        kinds=PREFERENCE_ANSWERS,
        people=everybody,
        choices=CHOICE_WORDS,
        files=downloads(campaign),
        problems=problems,
        repeats=repeats,
        newer=newer,
        older=older,
    )


def _repeats(connection: Connection, campaign: Campaign) -> dict[str, Any]:
    """Questions that somebody was asked again: how often they said the same, and those where they did not."""
    first = answer.alias("first")
    both = answer.join(
        first,
        (first.c.participant_id == answer.c.participant_id)
        & (first.c.pair_id == answer.c.pair_id)
        & (first.c.kind == "judgment"),
    )
    query = (
        select(answer.c.grades, first.c.grades.label("before"), participant.c.code, pair.c.document, pair.c.query)
        .select_from(
            both.join(participant, participant.c.id == answer.c.participant_id).join(
                pair, pair.c.id == answer.c.pair_id
            )
        )
        .where(answer.c.campaign_id == campaign.id, answer.c.kind == "repeat")
        .order_by(answer.c.id.desc())
    )
    rows = [(row, row.before.get("choice"), row.grades.get("choice")) for row in connection.execute(query)]
    other = [
        {"code": row.code, "question": row.document, "query": row.query, "first": before, "again": again}
        for row, before, again in rows
        if before != again
    ]
    return {"n": len(rows), "same": len(rows) - len(other), "other": other[:_MOST_REPEATS]}


def downloads(campaign: Campaign) -> list[Download]:
    """Everything that can be taken away, with its addresses."""
    files = (
        ("Answers", "with questions and grades: a whole study for adjudge fit", "answers", ("csv",)),
        ("Questions", "and traps, as they were asked", "questions", ("csv",)),
        ("Log", "everything that was sent, in order", "log", ("csv", "parquet", "json")),
        ("Mapping", "the curves, once there are enough answers for them", "mapping", ("json",)),
        ("People", "outcomes and the recruiter’s identities, to pay people; personal", "people", ("csv",)),
    )
    found = [
        Download(title, about, links(export_address(campaign, what), forms)) for title, about, what, forms in files
    ]
    return [*found, report_download(campaign, "curves, people, what it rests on", ("markdown", "latex", "json"))]
