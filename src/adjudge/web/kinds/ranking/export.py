"""Exports of a ranking campaign, at any moment: rankings, the lists they make, the log, a report, who took part.

Rankings are those that stand now: one that was changed counts as it was sent last, and those of excluded people not at
all. Experts are called by their codes. The report says where the campaign stands, and has the lists with their
consistency and the experts.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, func, select
from sqlalchemy.engine import RowMapping

from adjudge.checks import DEFAULT_CONSTRUCTION
from adjudge.errors import AdjudgeError, kept_warnings
from adjudge.reporting.document import Paragraph, Report, Section, TableBlock
from adjudge.tables import Heading
from adjudge.web.errors import Refused
from adjudge.web.kinds.exports import answer_log, harmless, iso, plain_table, report_bytes, written
from adjudge.web.kinds.ranking.dashboard import (
    RankingActivity,
    SentRanking,
    agreements_of,
    expert_row,
    sent_rankings,
    watch_rankings,
)
from adjudge.web.kinds.ranking.settings import settings_of
from adjudge.web.store import schema as t
from adjudge.web.store.campaigns import Campaign

if TYPE_CHECKING:
    from adjudge.groundtruth import Rankings
    from adjudge.groundtruth.comparing import ComparedConstructions

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
    connection: Connection, campaign: Campaign, what: str, *, form: str, options: Mapping[str, Any]
) -> bytes:
    """One of :data:`RANKING_FORMS` as the content of a file."""
    if what == "rankings":
        return _csv_of(_ranked(connection, campaign))
    if what == "lists":
        return _lists(rankings_of(connection, campaign), options.get("construction"), form)
    if what == "log":
        return _log(connection, campaign, form=form)
    if what == "people":
        return _people(connection, campaign)
    return report_bytes(ranking_report(connection, campaign), campaign, form, options)


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
    codes = {person.id: person.code for person in people}
    return [(ranking.query, codes[ranking.participant_id], ranking.groups, ranking.unranked) for ranking in sent]


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
    """Rankings of the queries that can have a list: two documents or more were ranked. All of them if no query can."""
    early = [query.query for query in rankings.queries if (query.times_ranked > 0).sum() < 2]
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

    given = select(t.answer.c.participant_id, t.answer.c.kind, func.count(), func.max(t.answer.c.created_at))
    counts: Counter[tuple[int, str]] = Counter()
    last: dict[int, float] = {}
    of_campaign = given.where(t.answer.c.campaign_id == campaign.id)
    for who, kind, number, at in connection.execute(of_campaign.group_by(t.answer.c.participant_id, t.answer.c.kind)):
        counts[who, kind] = number
        last[who] = max(at, last.get(who, at))
    everybody = select(t.participant).where(t.participant.c.campaign_id == campaign.id).order_by(t.participant.c.id)
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


_MOST_COMPARED = 20_000  # ranks: an organiser waits for the page
_HALVES = 5


def ranking_report(connection: Connection, campaign: Campaign) -> Report:
    """Lists and what they rest on; refused in one line while there are no rankings."""
    from adjudge.groundtruth import build
    from adjudge.groundtruth.report import groundtruth_document

    rankings = without_early(rankings_of(connection, campaign))
    seen = watch_rankings(connection, campaign.id, now=0.0)
    with kept_warnings():  # they are among the notes
        try:
            truth = build(rankings, DEFAULT_CONSTRUCTION, seed=campaign.settings.seed)
        except AdjudgeError as error:
            raise Refused(f"The rankings so far make no lists: {error}") from None
        made = groundtruth_document(
            truth,
            answers=rankings,
            comparison=_compared(rankings, campaign),
            inputs=_inputs(connection, campaign),
            title=campaign.settings.title,
        )
    first, *others = made.sections
    return replace(made, sections=(first, _so_far(campaign, seen), _experts(seen), *others))


def _compared(rankings: Rankings, campaign: Campaign) -> ComparedConstructions | None:
    """All constructions side by side; None where there are too many ranks to wait for, or too few experts."""
    from adjudge.groundtruth.comparing import compare_constructions

    if rankings.n_ranks > _MOST_COMPARED or min(len(query.experts) for query in rankings.queries) < 2:
        return None
    halves = _HALVES if min(len(query.experts) for query in rankings.queries) >= 4 else 0
    try:
        return compare_constructions(rankings, halves=halves, seed=campaign.settings.seed)
    except AdjudgeError:  # halves of a few experts may leave no two documents to compare
        return None


def _so_far(campaign: Campaign, seen: RankingActivity) -> Section:
    counted, wanted = len(seen.counted), sum(query.wanted for query in seen.queries)
    n_excluded = len(seen.sent) - counted
    rules = "could be left unranked" if not settings_of(campaign).rank_all else "were all to be ranked"
    ties = "could share a place" if settings_of(campaign).ties else "could not share a place"
    words = (
        f"{counted:,} of {wanted:,} rankings of {len(seen.queries):,} queries are here"
        f"{f', and {n_excluded:,} more are excluded' if n_excluded else ''}. Documents {rules} and {ties}."
    )
    return Section("so-far", "Where the campaign stands", (Paragraph(words),))


def _experts(seen: RankingActivity) -> Section:
    """By code only: a report goes to people who need no names."""
    agreeing = agreements_of(seen)
    sent: dict[int, list[SentRanking]] = defaultdict(list)
    for ranking in seen.sent:
        sent[ranking.participant_id].append(ranking)
    records = [
        {"expert": who.code, **expert_row(sent[who.id], agreeing.get(who.code)), "set_aside": not who.counts}
        for who in seen.people
        if sent[who.id]
    ]
    columns = (
        Heading("Expert", "left"),
        Heading("Rankings"),
        Heading("Ranked", about="share of the documents that they gave a place"),
        Heading("Minutes", about="median minutes per ranking"),
        Heading("Agreement", about="Kendall's τ-b with the median ranks of the others, mean over queries"),
        Heading("Chance", about="what one in twenty random rankings would reach"),
        Heading("Remarks", "left"),
    )
    rows = tuple(map(_cells, records))
    text = "Each expert's rankings beside the median ranks of the others. About 0 is what random rankings give."
    strange = sum(bool(record["like_chance"]) for record in records)
    if strange:
        text += f" {strange:,} {'expert is' if strange == 1 else 'experts are'} no nearer to them than chance would be."
    table = TableBlock("experts", "Experts by their codes.", columns, rows, records)
    return Section("experts", "The experts, and whether they agree", (Paragraph(text), table))


def _cells(record: Mapping[str, Any]) -> tuple[str, ...]:
    marks = [
        name for name, holds in (("like chance", record["like_chance"]), ("excluded", record["set_aside"])) if holds
    ]
    minutes = None if record["median_seconds"] is None else record["median_seconds"] / 60
    return (
        str(record["expert"]),
        f"{record['rankings']:,}",
        "–" if record["ranked_share"] is None else f"{100 * record['ranked_share']:.0f} %",
        _number(minutes, 1),
        _number(record["tau"], 2),
        _number(record["chance"], 2),
        ", ".join(marks),
    )


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _inputs(connection: Connection, campaign: Campaign) -> dict[str, Any]:
    """The files that the candidates came from, and what else the rankings rest on."""
    from adjudge.model.provenance import Provenance

    last = select(t.event.c.details).where(t.event.c.campaign_id == campaign.id, t.event.c.what == "candidates")
    details = connection.execute(last.order_by(t.event.c.id.desc()).limit(1)).scalar_one_or_none() or {}
    inputs = tuple((str(name), str(digest)) for name, digest in details.get("inputs", ()))
    return Provenance(inputs, {"campaign": campaign.name, "seed": campaign.settings.seed}).to_dict()
