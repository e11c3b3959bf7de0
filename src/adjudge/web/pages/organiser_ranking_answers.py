"""Rankings that were sent: files to take away, every ranking with its expert, and queries that people could not do."""

from __future__ import annotations

from typing import Any

from fastapi import Request, Response
from sqlalchemy import Connection, func, select

from adjudge.checks import DEFAULT_CONSTRUCTION
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
from adjudge.web.pages.organiser_shared import PAGE, show, turning
from adjudge.web.people import Organiser
from adjudge.web.schema import answer, pair, participant

RANKING_ANSWERS = {"": "all", "judgment": "as first sent", "correction": "sent again", "skip": "skipped",
                   "comment": "with a comment"}  # fmt: skip
"""Which answers to show, by the value of the field."""


def ranking_answers_page(
    request: Request,
    context: Context,
    organiser: Organiser,
    campaign: Campaign,
    chosen: ChosenAnswers,
    *,
    problem: AdjudgeError | None = None,
) -> Response:
    """The newest rankings, or those before one."""
    with context.database.read() as connection:
        rows = newest_answers(connection, campaign, chosen, answer.c.late, participant.c.set_aside_at)
        replaced = _replaced(connection, campaign.id)
        everybody = [one.code for one in list_participants(connection, campaign)]
        asked = select(pair.c.query).where(pair.c.campaign_id == campaign.id).order_by(pair.c.id)
        queries = list(connection.execute(asked).scalars())
        problems = [one for one in monitoring.problems(connection, campaign.id) if one["skips"] or one["held"]]
    address = f"/campaigns/{campaign.name}/answers"
    older, newer = turning(address, chosen.kept, [row.id for row in rows], before=chosen.before)
    return show(
        request,
        context,
        "ranking_answers.html",
        organiser=organiser,
        problem=problem,
        campaign=campaign,
        tab="answers",
        rows=[_row(row, replaced) for row in rows[:PAGE]],
        chosen=chosen,
        kinds=RANKING_ANSWERS,
        people=everybody,
        queries=queries,
        files=ranking_downloads(campaign),
        problems=problems,
        newer=newer,
        older=older,
    )


def _replaced(connection: Connection, campaign_id: int) -> dict[int, int]:
    """The last correction of each first ranking, by the number of the first one."""
    query = select(answer.c.corrects, func.max(answer.c.id)).where(
        answer.c.campaign_id == campaign_id, answer.c.kind == "correction"
    )
    return {row[0]: row[1] for row in connection.execute(query.group_by(answer.c.corrects))}


def _row(row: Any, replaced: dict[int, int]) -> dict[str, Any]:
    """An answer as it is shown; ``stands`` says whether it was not replaced by a later one."""
    groups, unranked = row.grades.get("groups", []), row.grades.get("unranked", [])
    first = row.id if row.kind == "judgment" else None
    stands = first not in replaced if first is not None else row.id in replaced.values()
    return {
        "at": row.created_at,
        "code": row.code,
        "query": row.query,
        "kind": row.kind,
        "aside": row.set_aside_at is not None,
        "groups": groups,
        "unranked": unranked,
        "ranked": sum(map(len, groups)),
        "of": sum(map(len, groups)) + len(unranked),
        "stands": stands,
        "late": row.late,
        "reason": row.reason,
        "comment": row.comment,
        "minutes": None if row.took_ms is None else row.took_ms / 60_000,
    }


def ranking_downloads(campaign: Campaign) -> list[Download]:
    """Everything that can be taken away, with its addresses."""
    files = (
        ("Lists", f"partially ordered, made by {DEFAULT_CONSTRUCTION}", "lists", ("json", "groups")),
        ("Rankings", "every ranking as it stands, for adjudge groundtruth", "rankings", ("csv",)),
        ("Log", "everything that was sent, in order", "log", ("csv", "parquet", "json")),
        ("People", "who took part, and how much they did; personal", "people", ("csv",)),
    )
    found = [
        Download(title, about, links(export_address(campaign, what), forms)) for title, about, what, forms in files
    ]
    forms = ("markdown", "latex", "json")
    return [*found, report_download(campaign, "lists, their consistency, what they rest on", forms)]
