"""Judging: assessors grade one document at a time, the one that tells most about the ranking of systems first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, delete, select

from adjudge.text import counted, percent
from adjudge.web.errors import Conflict
from adjudge.web.kinds import Filling
from adjudge.web.kinds.base import KINDS, Kind, Observer, Words
from adjudge.web.kinds.judging.settings import JudgingSettings, asked_scale, settings_of
from adjudge.web.kinds.judging.store import (
    check_goal,
    import_judgments,
    make_pairs,
    missing_items,
    needed_items,
    put_runs,
    read_runs,
    wish_again,
)
from adjudge.web.store import schema as t
from adjudge.web.store.campaigns import Campaign, CampaignSettings, count_answers

if TYPE_CHECKING:
    from fastapi import APIRouter, Request
    from pydantic import BaseModel

    from adjudge.formats import Source
    from adjudge.formats.reading import Progress
    from adjudge.web.context import Context
    from adjudge.web.kinds.base import Card
    from adjudge.web.kinds.exports import Exported
    from adjudge.web.kinds.lifecycle import Overview
    from adjudge.web.rehearse import Plan, Rehearsal, ShowProgress
    from adjudge.web.settings import Settings
    from adjudge.web.store.database import Database
    from adjudge.web.store.people import Organiser

_SHOWN_PAIRS = 10


class Judging(Kind):
    """Documents are graded; the engine chooses which, and stops when the ranking of systems is known."""

    name = "judging"
    settings = JudgingSettings
    folder = Path(__file__).parent
    home = "/judge"
    words = Words(
        person="assessor",
        people="assessors",
        does="judge",
        doing="judging",
        material="runs",
        asked="query or document",
        problems="Clips",
        reached="The goal is reached",
        tab="judgments",
    )
    roles: Mapping[str, tuple[str, ...]] = {"candidate": ("judgment", "repeat")}
    answer_kinds: Mapping[str, str] = {
        "": "all",
        "judgment": "judgment",
        "correction": "corrected",
        "repeat": "asked again",
        "skip": "skipped",
        "import": "imported",
        "comment": "with a comment",
    }
    exports: Mapping[str, tuple[str, ...]] = {
        "qrels": ("trec", "csv", "tsv", "parquet", "json"),
        "log": ("csv", "parquet", "json"),
        "report": ("html", "markdown", "latex", "json"),
        "session": ("json",),
    }
    fixed = frozenset({"scales", "measure"})
    rehearses_demo = True
    export_options: Mapping[str, str] = {"scale": "qrels", "per_assessor": "qrels"}

    def read_inputs(
        self, given: Mapping[str, Any], values: dict[str, Any], *, progress: Progress | None = None
    ) -> Filling:
        """Runs, and scales by their names."""
        if "scales" in values:
            values["scales"] = [asked_scale(word).model_dump() for word in values["scales"]]
        self.settings.parse(values)
        collection, notes = read_runs(
            given["runs"],
            metadata=given["metadata"],
            format_name=given["format"],
            teams=given["teams"],
            names=given["names"],
            artist_filter=given["artist_filter"],
            progress=progress,
        )
        inputs = [file for file in collection.provenance.inputs if file[0] != given["metadata"]]
        words = f"{counted(len(collection.systems), 'system')}, {counted(len(collection.queries), 'query')}"
        return Filling(
            values,
            words,
            notes,
            lambda connection, campaign, now: put_runs(connection, campaign, collection.runs, inputs=inputs, now=now),
        )

    def hear_documents(
        self, database: Database, settings: Settings, campaign: Campaign, *, workers: int, progress: Progress
    ) -> None:
        """Hear the clips now, over processes, where the campaign asks for that."""
        from adjudge.web.kinds.judging.sound import hear

        hear(database, settings, campaign.id, workers=workers, progress=progress)

    def check_change(
        self, connection: Connection, campaign: Campaign, settings: CampaignSettings, changed: set[str]
    ) -> None:
        """Answers must stay answers to what was asked: words beside a scale may change, its levels may not."""
        before, after = settings_of(campaign), settings
        if not isinstance(after, JudgingSettings):
            return
        asked = [[(s.name, s.minimum, s.maximum, s.step) for s in given.scales] for given in (before, after)]
        what = "scales" if asked[0] != asked[1] else "measure" if after.measure != before.measure else None
        if what is not None and count_answers(connection, campaign.id):
            raise Conflict(f"The {what} of a campaign cannot be changed once there are answers.")

    def follow_change(self, connection: Connection, before: Campaign, after: Campaign, changed: set[str]) -> None:
        """Candidates as the settings want them now; there are no answers where the cutoff changes."""
        if "goal" in changed and after.state != "draft":
            check_goal(connection, after)
        if settings_of(after).cutoff == settings_of(before).cutoff:
            if {"judged_by", "agreement_share", "second_opinions", "seed"} & changed:
                wish_again(connection, after)
            return
        for table in (t.lease, t.queue, t.pair):
            connection.execute(delete(table).where(table.c.campaign_id == after.id))
        if after.state != "draft":
            self.check_opening(connection, after)
            make_pairs(connection, after)

    def needed_items(self, connection: Connection, campaign: Campaign) -> dict[str, set[str]] | None:
        """Candidates of the runs, and their queries."""
        return needed_items(connection, campaign)

    def missing_items(self, connection: Connection, campaign: Campaign) -> list[str]:
        """Candidates and queries of which there is nothing to hear, read or see yet."""
        return missing_items(connection, campaign)

    def lay_queue(self, connection: Connection, campaign: Campaign) -> None:
        """Add candidates that are not there yet, in an order of the seed until the engine has looked."""
        make_pairs(connection, campaign)

    def find_problems(self, connection: Connection) -> Iterator[Iterator[str]]:
        """Candidates that are no document."""
        pairs = select(t.pair.c.id).where(t.pair.c.role == "candidate", t.pair.c.document_item_id.is_(None))
        yield (f"pair {pair}: expected one document" for pair in connection.execute(pairs).scalars())

    def observer(self) -> Observer:
        """The engine: it learns from answers, lays the queue and makes snapshots."""
        from adjudge.web.kinds.judging.dashboard import JudgingObserver

        return JudgingObserver()

    def first_snapshot(self, campaign: Campaign) -> dict[str, Any]:
        """A snapshot before anything is estimated."""
        from adjudge.web.kinds.judging.dashboard import first_snapshot

        return first_snapshot(campaign)

    def import_answers(
        self, connection: Connection, campaign: Campaign, source: Source, options: Mapping[str, Any], *, now: float
    ) -> tuple[str, Sequence[str]]:
        """Judgments in any format, perhaps of several assessors."""
        imported = import_judgments(
            connection,
            campaign,
            source,
            scale=options["scale"],
            format_name=options["format"],
            columns=options["columns"],
            skip_unknown=options["skip_unknown"],
            now=now,
        )
        again = f"; {imported.again:,} were there already" if imported.again else ""
        words = f"{counted(imported.taken, 'judgment')} by {counted(len(imported.assessors), 'assessor')}{again}"
        if not imported.unknown:
            return words, ()
        some = ", ".join(f"{pair.document} of {pair.query}" for pair in imported.unknown[:_SHOWN_PAIRS])
        more = ", …" if len(imported.unknown) > _SHOWN_PAIRS else ""
        return words, [f"{len(imported.unknown):,} pairs are no candidates and were left out: {some}{more}"]

    def export(
        self, connection: Connection, campaign: Campaign, what: str, *, form: str, options: Mapping[str, Any]
    ) -> Exported:
        """Judgments, the log, the report or the engine's session."""
        from adjudge.web.kinds.judging.export import export

        return export(connection, campaign, what, form=form, options=options)

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
        """Assessors judge a copy of the campaign."""
        from adjudge.web.kinds.judging.rehearse import rehearse_campaign

        return rehearse_campaign(database, settings, campaign, plan, options, progress=progress)

    def rehearse_demo(self, plan: Plan, options: Mapping[str, Any], *, progress: ShowProgress) -> Rehearsal:
        """Assessors judge the demo, against its own judgments."""
        from adjudge.web.kinds.judging.rehearse import rehearse_demo

        return rehearse_demo(plan, options, progress=progress)

    def api_routers(self) -> Sequence[APIRouter]:
        """Questions and answers; runs and judgments as files."""
        from adjudge.web.kinds.judging.pages import files_router, router

        return router, files_router

    def page_routers(self) -> Sequence[APIRouter]:
        """The list of judgments under its own address, and the form for those made elsewhere."""
        from adjudge.web.kinds.judging.pages import pages_router

        return (pages_router,)

    def describe(self, campaign: Campaign, counts: Overview) -> dict[str, object]:
        """Measure, scales, goal, and how far judging is."""
        settings, goal = settings_of(campaign), settings_of(campaign).goal
        often = "where that tells more" if settings.second_opinions else f"{percent(settings.agreement_share)} of pairs"
        return {
            "measure": f"{settings.measure} on {settings.evaluated.name}",
            "scales": ", ".join(scale.name for scale in settings.scales),
            "goal": goal.kind if goal.kind == "everything" else str(goal.goal),
            "judged by": f"{campaign.settings.judged_by} ({often})",
            **({"estimated": f"{settings.estimator}, by sound as well"} if settings.by_sound else {}),
            "systems": counts.systems,
            "candidates": f"{counts.pairs:,}, {counts.judged:,} judged",
        }

    def count_for_list(self, counts: Overview) -> dict[str, int]:
        """How many candidates there are."""
        return {"candidates": counts.pairs}

    def card(self, campaign: Campaign, seen: Overview, status: Mapping[str, Any], live: int) -> Card:
        """The campaign in the list."""
        from adjudge.web.kinds.judging.pages import card

        return card(campaign, seen, status, live)

    def fill_form(self, settings: CampaignSettings) -> dict[str, Any]:
        """Which of the usual scales, the ends of another one, and a level for each goal."""
        from adjudge.web.kinds.judging.pages import fill_form

        return fill_form(settings)

    def read_form(
        self, form: Mapping[str, Any], values: dict[str, Any], before: CampaignSettings | None
    ) -> dict[str, Any]:
        """Scales, and the level of the goal."""
        from adjudge.web.kinds.judging.pages import read_form

        return read_form(form, values, before)

    async def take_material(
        self, request: Request, campaign: Campaign, organiser: Organiser, context: Context
    ) -> object:
        """Runs."""
        from adjudge.web.kinds.judging.pages import runs

        return await runs(request, campaign, organiser, context)

    def set_up_values(
        self, connection: Connection, context: Context, campaign: Campaign, asked_for: Mapping[str, str]
    ) -> dict[str, Any]:
        """Runs, the goal and the scales."""
        from adjudge.web.kinds.judging.pages import set_up_values

        return set_up_values(connection, campaign)

    def answers_values(self, connection: Connection, campaign: Campaign, rows: Sequence[Any]) -> dict[str, Any]:
        """Grades on each scale."""
        from adjudge.web.kinds.judging.pages import answers_values

        return answers_values(campaign)

    def shown_items(self, connection: Connection, pair_id: int) -> BaseModel:
        """The query and the candidate of a pair."""
        from adjudge.web.kinds.judging.assignment import heard_of
        from adjudge.web.kinds.judging.pages import Clips

        query, candidate = heard_of(connection, [pair_id])[pair_id]
        return Clips(query=query, candidate=candidate)


KINDS.add("judging", Judging())
