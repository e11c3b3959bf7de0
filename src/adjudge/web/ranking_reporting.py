"""The report of a ranking campaign: where it stands, the lists with their consistency, and the experts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select

from adjudge.checks import DEFAULT_CONSTRUCTION
from adjudge.errors import AdjudgeError, kept_warnings
from adjudge.reporting.document import Paragraph, Report, Section, TableBlock
from adjudge.tables import Heading
from adjudge.web.campaign_rows import Campaign
from adjudge.web.errors import Refused
from adjudge.web.ranking_exporting import rankings_of, without_early
from adjudge.web.ranking_picturing import agreements_of, expert_row
from adjudge.web.ranking_watching import SeenRankings, Sent, watch_rankings
from adjudge.web.schema import event

if TYPE_CHECKING:
    from adjudge.groundtruth import Rankings
    from adjudge.groundtruth.comparing import ComparedConstructions

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
    return replace(made, sections=(_so_far(campaign, seen), first, _experts(seen), *others))


def _compared(rankings: Rankings, campaign: Campaign) -> ComparedConstructions | None:
    """All constructions side by side; None where there are too many ranks to wait for, or too few experts."""
    from adjudge.groundtruth.comparing import compare_constructions

    if rankings.n_ranks > _MOST_COMPARED or min(len(one.experts) for one in rankings.queries) < 2:
        return None
    halves = _HALVES if min(len(one.experts) for one in rankings.queries) >= 4 else 0
    try:
        return compare_constructions(rankings, halves=halves, seed=campaign.settings.seed)
    except AdjudgeError:  # halves of a few experts may leave no two documents to compare
        return None


def _so_far(campaign: Campaign, seen: SeenRankings) -> Section:
    counted, wanted = len(seen.counted), sum(one.wanted for one in seen.queries)
    aside = len(seen.sent) - counted
    rules = "could be left unranked" if not campaign.ranking.rank_all else "were all to be ranked"
    ties = "could share a place" if campaign.ranking.ties else "could not share a place"
    words = (
        f"{counted:,} of {wanted:,} rankings of {len(seen.queries):,} queries are here"
        f"{f', and {aside:,} more are set aside' if aside else ''}. Documents {rules} and {ties}."
    )
    return Section("so-far", "Where the campaign stands", (Paragraph(words),))


def _experts(seen: SeenRankings) -> Section:
    """By code only: a report goes to people who need no names."""
    agreeing = agreements_of(seen)
    sent: dict[int, list[Sent]] = defaultdict(list)
    for one in seen.sent:
        sent[one.participant_id].append(one)
    records = [
        {"expert": who.code, **expert_row(sent[who.id], agreeing.get(who.code)), "set_aside": not who.counts}
        for who in seen.people
        if sent[who.id]
    ]
    columns = (
        Heading("Expert", "left"),
        Heading("Rankings"),
        Heading("Ranked", about="share of the documents that they gave a place"),
        Heading("Minutes", about="the middle of the minutes that a ranking took"),
        Heading("Agreement", about="Kendall's τ-b with the median ranks of the others, mean over queries"),
        Heading("Chance", about="what one in twenty random rankings would reach"),
        Heading("", "left"),
    )
    rows = tuple(map(_cells, records))
    text = "Each expert's rankings beside the median ranks of the others. About 0 is what random rankings give."
    strange = sum(bool(one["like_chance"]) for one in records)
    if strange:
        text += f" {strange:,} {'expert is' if strange == 1 else 'experts are'} no nearer to them than chance would be."
    table = TableBlock("experts", "Experts by their codes.", columns, rows, records)
    return Section("experts", "The experts, and whether they agree", (Paragraph(text), table))


def _cells(one: Mapping[str, Any]) -> tuple[str, ...]:
    marks = [name for name, holds in (("like chance", one["like_chance"]), ("set aside", one["set_aside"])) if holds]
    minutes = None if one["median_seconds"] is None else one["median_seconds"] / 60
    return (
        str(one["expert"]),
        f"{one['rankings']:,}",
        "–" if one["ranked_share"] is None else f"{100 * one['ranked_share']:.0f} %",
        _number(minutes, 1),
        _number(one["tau"], 2),
        _number(one["chance"], 2),
        ", ".join(marks),
    )


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _inputs(connection: Connection, campaign: Campaign) -> dict[str, Any]:
    """The files that the candidates came from, and what else the rankings rest on."""
    from adjudge.model.provenance import Provenance

    last = select(event.c.details).where(event.c.campaign_id == campaign.id, event.c.what == "candidates")
    details = connection.execute(last.order_by(event.c.id.desc()).limit(1)).scalar_one_or_none() or {}
    inputs = tuple((str(name), str(digest)) for name, digest in details.get("inputs", ()))
    return Provenance(inputs, {"campaign": campaign.name, "seed": campaign.settings.seed}).to_dict()
