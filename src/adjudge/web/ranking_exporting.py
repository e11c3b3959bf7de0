"""A ranking campaign out of the server, at any moment: rankings, the lists they make, the log, who took part.

Rankings are those that stand now: a ranking that was changed counts as it was sent last, and those of people who were
set aside not at all. Experts are called by their codes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, func, select
from sqlalchemy.engine import RowMapping

from adjudge.checks import DEFAULT_CONSTRUCTION
from adjudge.errors import AdjudgeError, kept_warnings
from adjudge.web.campaign_rows import Campaign
from adjudge.web.errors import Refused
from adjudge.web.export_files import answer_log, harmless, iso, plain_table, written
from adjudge.web.ranking_watching import sent_rankings
from adjudge.web.schema import answer, participant

if TYPE_CHECKING:
    from adjudge.groundtruth import Rankings

RANKING_FORMS = {
    "rankings": ("csv",),
    "lists": ("json", "groups"),
    "log": ("csv", "parquet", "json"),
    "report": ("html", "markdown", "latex", "json"),
    "people": ("csv",),
}
"""What can be had of a ranking campaign, and in which forms; the first is the usual one."""

Ranked = tuple[str, str, Sequence[Sequence[str]], Sequence[str]]


def export_ranking(
    connection: Connection, campaign: Campaign, what: str, *, form: str, construction: str | None = None
) -> bytes:
    """One of :data:`RANKING_FORMS` as the content of a file."""
    if what == "rankings":
        return _csv_of(_ranked(connection, campaign))
    if what == "lists":
        return _lists(rankings_of(connection, campaign), construction, form)
    if what == "log":
        return _log(connection, campaign, form=form)
    if what == "people":
        return _people(connection, campaign)
    from adjudge.reporting.render import render
    from adjudge.web.ranking_reporting import ranking_report

    return render(ranking_report(connection, campaign), form).encode()


def rankings_of(connection: Connection, campaign: Campaign) -> Rankings:
    """The rankings that stand now and count, with documents left unranked; refused while there are none."""
    from adjudge.groundtruth import Rankings

    given = _ranked(connection, campaign)
    if not given:
        raise Refused(f"Nobody has sent a ranking in campaign {campaign.name} yet.")
    return Rankings.from_orders(given, source=f"campaign {campaign.name}")


def _ranked(connection: Connection, campaign: Campaign) -> list[Ranked]:
    """Query, expert, groups and unranked documents of every ranking that counts."""
    people, sent = sent_rankings(connection, campaign.id)
    codes = {one.id: one.code for one in people}
    return [(one.query, codes[one.participant_id], one.groups, one.unranked) for one in sent]


def _csv_of(given: Sequence[Ranked]) -> bytes:
    """A row for each document of a ranking with its rank: tied documents share one, unranked ones have none."""
    import polars as pl

    rows = [
        (query, expert, document, rank)
        for query, expert, groups, unranked in given
        for rank, documents in [*enumerate(groups, start=1), (None, unranked)]
        for document in documents
    ]
    schema = {"query": pl.String, "expert": pl.String, "document": pl.String, "rank": pl.Int64}
    return plain_table(pl.DataFrame(rows, schema=schema, orient="row"), "csv")


def without_early(rankings: Rankings) -> Rankings:
    """Rankings of the queries that can have a list: two documents or more were ranked. All where that is none."""
    early = [one.query for one in rankings.queries if (one.times_ranked > 0).sum() < 2]
    return rankings if len(early) == len(rankings.queries) else rankings.without(early)


def _lists(rankings: Rankings, construction: str | None, form: str) -> bytes:
    """Lists as a file of that form; a query of which only one document was ranked so far has none yet."""
    from adjudge.groundtruth import build
    from adjudge.groundtruth.files import write_lists

    try:
        with kept_warnings():
            lists = build(without_early(rankings), construction or DEFAULT_CONSTRUCTION).lists
    except AdjudgeError as error:
        raise Refused(str(error)) from None
    return written(lambda path: write_lists(lists, path), form)


def _log(connection: Connection, campaign: Campaign, *, form: str) -> bytes:
    """Every answer as it was stored: groups, unranked documents and times as JSON."""
    import polars as pl

    schema: dict[str, Any] = {
        "answer": pl.Int64,
        **dict.fromkeys(("at", "expert", "kind", "query", "groups", "unranked", "reason", "comment"), pl.String),
        "query_ms": pl.Int64,
        "candidates_ms": pl.String,
        "took_ms": pl.Int64,
        "late": pl.Boolean,
        "corrects": pl.Int64,
        **dict.fromkeys(("set_aside", "lease", "key", "sha256"), pl.String),
    }
    return answer_log(connection, campaign, schema, _log_row, form=form)


def _log_row(row: RowMapping) -> dict[str, Any]:
    heard = row["heard"] or {}
    return {
        "expert": row["code"],
        "groups": _packed(row["grades"].get("groups")),
        "unranked": _packed(row["grades"].get("unranked")),
        "query_ms": heard.get("query_ms"),
        "candidates_ms": _packed(heard.get("candidates_ms")),
    }


def _packed(value: object) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False)


def _people(connection: Connection, campaign: Campaign) -> bytes:
    """Who took part: rankings that they sent, how often they changed one, queries that they skipped, and when."""
    import polars as pl

    given = select(answer.c.participant_id, answer.c.kind, func.count(), func.max(answer.c.created_at))
    counts: Counter[tuple[int, str]] = Counter()
    last: dict[int, float] = {}
    of_campaign = given.where(answer.c.campaign_id == campaign.id)
    for who, kind, number, at in connection.execute(of_campaign.group_by(answer.c.participant_id, answer.c.kind)):
        counts[who, kind] = number
        last[who] = max(at, last.get(who, at))
    everybody = select(participant).where(participant.c.campaign_id == campaign.id).order_by(participant.c.id)
    rows = [
        (
            person["code"],
            person["set_aside_why"],
            *(counts[person["id"], kind] for kind in ("judgment", "correction", "skip")),
            iso(person["created_at"]),
            iso(last[person["id"]]) if person["id"] in last else None,
        )
        for person in connection.execute(everybody).mappings()
    ]
    schema: dict[str, Any] = {
        **dict.fromkeys(("code", "set_aside"), pl.String),
        **dict.fromkeys(("rankings", "changes", "skips"), pl.Int64),
        **dict.fromkeys(("joined", "last_answer"), pl.String),
    }
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return plain_table(harmless(frame, ["code", "set_aside"]), "csv")
