"""Rankings: experts put the documents of a query in order; partially ordered lists are built from their rankings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from adjudge.text import counted
from adjudge.web.kinds import Filling
from adjudge.web.kinds.base import KINDS, ORGANISER, Kind, Observer, Words
from adjudge.web.kinds.ranking.settings import RankingSettings, settings_of
from adjudge.web.kinds.ranking.store import candidate_files, lay_rankings, put_candidates, ranking_checks
from adjudge.web.store.campaigns import Campaign
from adjudge.web.store.items import missing_listed_items, needed_listed_items

if TYPE_CHECKING:
    from fastapi import APIRouter, Request
    from pydantic import BaseModel

    from adjudge.formats.reading import Progress
    from adjudge.web.context import Context
    from adjudge.web.kinds.base import Card
    from adjudge.web.kinds.exports import Exported
    from adjudge.web.kinds.lifecycle import Overview
    from adjudge.web.rehearse import Plan, Rehearsal, ShowProgress
    from adjudge.web.settings import Settings
    from adjudge.web.store.database import Database
    from adjudge.web.store.participants import Participant
    from adjudge.web.store.people import Organiser


class Ranking(Kind):
    """Documents are put in order, over days if an expert likes."""

    name = "ranking"
    settings = RankingSettings
    folder = Path(__file__).parent
    home = "/rank"
    words = Words(
        person="expert",
        people="experts",
        does="rank",
        doing="ranking",
        material="candidates",
        asked="query",
        problems="Queries",
        reached="Every query is ranked",
        answer="ranking",
    )
    answer_kinds: Mapping[str, str] = {
        "": "all",
        "judgment": "as first sent",
        "correction": "sent again",
        "skip": "skipped",
        "comment": "with a comment",
    }
    exports: Mapping[str, tuple[str, ...]] = {
        "rankings": ("csv",),
        "lists": ("json", "groups"),
        "log": ("csv", "parquet", "json"),
        "report": ("html", "markdown", "latex", "json"),
        "people": ("csv",),
    }
    export_options: Mapping[str, str] = {"construction": "lists"}
    exclusions = (ORGANISER,)
    stored = ("orders",)
    fixed = frozenset({"seed", "ties", "rank_all", "least_ranked"})

    def read_inputs(
        self, given: Mapping[str, Any], values: dict[str, Any], *, progress: Progress | None = None
    ) -> Filling:
        """Candidates by query."""
        read = candidate_files([Path(file) for file in given["candidates"]], cutoff=given["cutoff"])
        n = sum(map(len, read.candidates.values()))
        return Filling(
            values,
            f"{n:,} candidates of {counted(len(read.candidates), 'query')}",
            read.notes,
            lambda connection, campaign, now: put_candidates(
                connection, campaign, read.candidates, inputs=read.inputs, now=now
            ),
        )

    def follow_change(self, connection: Connection, before: Campaign, after: Campaign, changed: set[str]) -> None:
        """Lay the queue again where it is for more or fewer experts, or in another order."""
        if after.state != "draft" and {"judged_by", "seed"} & changed:
            self.lay_queue(connection, after)

    def needed_items(self, connection: Connection, campaign: Campaign) -> dict[str, set[str]] | None:
        """Candidates and queries."""
        return needed_listed_items(connection, campaign)

    def missing_items(self, connection: Connection, campaign: Campaign) -> list[str]:
        """Candidates and queries of which there is nothing to hear, read or see yet."""
        return missing_listed_items(connection, campaign)

    def lay_queue(self, connection: Connection, campaign: Campaign) -> None:
        """Queries in an order of the seed."""
        lay_rankings(connection, campaign)

    def find_problems(self, connection: Connection) -> Iterator[Iterator[str]]:
        """Candidates with holes, rankings of documents that are no candidates."""
        return iter(ranking_checks(connection))

    def observer(self) -> Observer:
        """Builds lists, compares experts, and makes snapshots."""
        from adjudge.web.kinds.ranking.dashboard import RankingObserver

        return RankingObserver()

    def first_snapshot(self, campaign: Campaign) -> dict[str, Any]:
        """A snapshot before anybody ranked anything."""
        from adjudge.web.kinds.ranking.dashboard import first_snapshot

        return first_snapshot(campaign)

    def export(
        self, connection: Connection, campaign: Campaign, what: str, *, form: str, options: Mapping[str, Any]
    ) -> Exported:
        """Rankings, the lists built from them, the log, the report, the people."""
        from adjudge.web.kinds.exports import export_file
        from adjudge.web.kinds.ranking.export import export_ranking

        data = export_ranking(connection, campaign, what, form=form, options=options)
        return export_file(campaign, what, form, data)

    def rehearse(
        self,
        database: Database,
        settings: Settings,
        campaign: Campaign,
        plan: Plan,
        options: Mapping[str, Any],
        *,
        progress: ShowProgress,
    ) -> Rehearsal:
        """Experts rank a copy of the campaign."""
        from adjudge.web.kinds.ranking.rehearse import rehearse_campaign

        return rehearse_campaign(database, campaign, plan, options, progress=progress)

    def api_routers(self) -> Sequence[APIRouter]:
        """Queries and rankings; files with candidates; lists as they stand."""
        from adjudge.web.kinds.ranking.pages import files_router, lists_router, router

        return router, files_router, lists_router

    def describe(self, campaign: Campaign, counts: Overview) -> dict[str, object]:
        """How many queries, and what a ranking must be like."""
        settings = settings_of(campaign)
        least = "all" if settings.rank_all else f"at least {settings.least_ranked}"
        return {
            "queries": f"{counts.pairs:,}, {counts.judged:,} answered",
            "asked of": f"{settings.judged_by} each",
            "ranked": f"{least}, {'ties' if settings.ties else 'no ties'}",
            "kept": f"{settings.kept_hours:g} hours after the last change",
        }

    def card(self, campaign: Campaign, seen: Overview, status: Mapping[str, Any], live: int) -> Card:
        """The campaign in the list."""
        from adjudge.web.kinds.ranking.pages import card

        return card(campaign, seen, status, live)

    async def take_material(
        self, request: Request, campaign: Campaign, organiser: Organiser, context: Context
    ) -> object:
        """Candidates."""
        from adjudge.web.kinds.ranking.pages import candidates

        return await candidates(request, campaign, organiser, context)

    def set_up_values(
        self, connection: Connection, context: Context, campaign: Campaign, asked_for: Mapping[str, str]
    ) -> dict[str, Any]:
        """Candidates, and what a ranking must be like."""
        from adjudge.web.kinds.ranking.pages import set_up_values

        return set_up_values(connection, campaign, asked_for)

    def people_values(
        self, connection: Connection, campaign: Campaign, people: Sequence[Participant], *, now: float
    ) -> tuple[Mapping[int, Mapping[str, Any]], dict[str, Any]]:
        """Experts, with how far they agree with others."""
        from adjudge.web.kinds.ranking.pages import people_values

        return people_values(connection, campaign, people, now=now)

    def answers_values(self, connection: Connection, campaign: Campaign, rows: Sequence[Any]) -> dict[str, Any]:
        """Groups of each ranking, and whether it was replaced."""
        from adjudge.web.kinds.ranking.pages import answers_values

        return answers_values(connection, campaign, rows)

    def shown_items(self, connection: Connection, pair_id: int) -> BaseModel:
        """The query and its candidates."""
        from adjudge.web.kinds.ranking.pages import clips_of_query

        return clips_of_query(connection, pair_id)


KINDS.add("ranking", Ranking())
