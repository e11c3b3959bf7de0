"""Preferences: participants say which of two lists of results they prefer; curves of satisfaction are learned."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from adjudge.text import percent
from adjudge.web.errors import Refused
from adjudge.web.kinds import Filling
from adjudge.web.kinds.base import KINDS, ORGANISER, Kind, Observer, Words
from adjudge.web.kinds.preference.settings import PreferenceSettings, settings_of
from adjudge.web.kinds.preference.store import (
    check_combinations,
    check_quiz,
    count_questions,
    lay_questions,
    missing_way_back,
    preference_checks,
    put_questions,
    question_files,
    question_scales,
    refuse_other_recruiter,
)
from adjudge.web.store.campaigns import Campaign, CampaignSettings
from adjudge.web.store.items import missing_listed_items, needed_listed_items

if TYPE_CHECKING:
    from fastapi import APIRouter, Request
    from pydantic import BaseModel

    from adjudge.formats.reading import Progress
    from adjudge.web.context import Context
    from adjudge.web.kinds.base import Card
    from adjudge.web.kinds.exports import Exported
    from adjudge.web.kinds.lifecycle import Overview
    from adjudge.web.store.participants import Participant
    from adjudge.web.store.people import Organiser

_SEED_BITS = 53  # as many as every program that reads JSON keeps


class Preference(Kind):
    """Two lists are compared; attention checks among the questions tell who can be trusted."""

    name = "preference"
    settings = PreferenceSettings
    folder = Path(__file__).parent
    home = "/prefer"
    words = Words(
        person="person",
        people="people",
        does="answer",
        doing="answering",
        material="questions",
        asked="question or query",
        problems="Questions",
        reached="Every question is answered",
    )
    roles: Mapping[str, tuple[str, ...]] = {"question": ("judgment", "repeat"), "trap": ("trap",)}
    answer_kinds: Mapping[str, str] = {
        "": "all",
        "judgment": "question",
        "trap": "attention check",
        "repeat": "asked again",
        "skip": "skipped",
        "comment": "with a comment",
    }
    exports: Mapping[str, tuple[str, ...]] = {
        "answers": ("csv",),
        "questions": ("csv",),
        "log": ("csv", "parquet", "json"),
        "report": ("html", "markdown", "latex", "json"),
        "mapping": ("json",),
        "people": ("csv",),
    }
    exclusions = ("quiz", "traps", "attention", ORGANISER)
    stored = ("recruited",)
    fixed = frozenset({"judged_by", "batch_size", "seed"})

    def read_inputs(
        self, given: Mapping[str, Any], values: dict[str, Any], *, progress: Progress | None = None
    ) -> Filling:
        """Questions, and combinations as far as they have grades."""
        from adjudge.preferences.files import named_combinations

        files = [Path(given[name]) for name in ("questions", "traps") if given[name] is not None]
        questions, inputs = question_files(files)
        if "combinations" in values:
            named = named_combinations(values["combinations"], tuple(questions.grades), questions.n_ranks)
            values["combinations"] = [str(combination) for combination in named]
        n_traps, n_queries = sum(question.is_trap for question in questions.questions), len(set(questions.queries))
        return Filling(
            values,
            f"{len(questions) - n_traps:,} questions about {n_queries:,} queries, {n_traps:,} attention checks",
            (),
            lambda connection, campaign, now: put_questions(connection, campaign, questions, inputs=inputs, now=now),
        )

    def complete_settings(self, settings: CampaignSettings) -> CampaignSettings:
        """Draw a seed where none is given: whoever knew it could tell when attention checks come."""
        if isinstance(settings, PreferenceSettings):
            check_combinations(settings.combinations)
            if "seed" not in settings.model_fields_set:
                return settings.model_copy(update={"seed": secrets.randbits(_SEED_BITS)})
        return settings

    def check_change(
        self, connection: Connection, campaign: Campaign, settings: CampaignSettings, changed: set[str]
    ) -> None:
        """Who was asked what must stay true, and whoever was recruited must be known again."""
        super().check_change(connection, campaign, settings, changed)
        if not isinstance(settings, PreferenceSettings):
            return
        check_combinations(settings.combinations, question_scales(connection, campaign.id))
        n_questions, n_traps = count_questions(connection, campaign.id)
        if n_questions:
            check_quiz(settings.quiz, n_traps)
        refuse_other_recruiter(connection, campaign, settings)

    def needed_items(self, connection: Connection, campaign: Campaign) -> dict[str, set[str]] | None:
        """Documents of lists, and queries."""
        return needed_listed_items(connection, campaign)

    def missing_items(self, connection: Connection, campaign: Campaign) -> list[str]:
        """Documents of lists and queries of which there is nothing to hear, read or see yet."""
        return missing_listed_items(connection, campaign)

    def check_opening(self, connection: Connection, campaign: Campaign) -> None:
        """Refuse also to let people come who could not be paid in the end."""
        super().check_opening(connection, campaign)
        missing = missing_way_back(settings_of(campaign))
        if missing is not None:
            raise Refused(missing)

    def lay_queue(self, connection: Connection, campaign: Campaign) -> None:
        """Questions in batches, in an order of the seed."""
        lay_questions(connection, campaign)

    def outcome_on_exclusion(self, campaign: Campaign, why: str, answers: int) -> str | None:
        """Screened out by the quiz before any question, else failed."""
        is_early = why != ORGANISER and not answers and settings_of(campaign).quiz > 0
        return "screened_out" if is_early else "failed"

    def is_part_done(self, campaign: Campaign, answers: int) -> bool:
        """Whether somebody answered as many questions as one person may."""
        return answers >= settings_of(campaign).per_participant

    def find_problems(self, connection: Connection) -> Iterator[Iterator[str]]:
        """Lists with holes, answers that fit no question, outcomes that contradict answers."""
        return iter(preference_checks(connection))

    def observer(self) -> Observer:
        """Fits the curves, looks at trust, and makes snapshots."""
        from adjudge.web.kinds.preference.dashboard import PreferenceObserver

        return PreferenceObserver()

    def first_snapshot(self, campaign: Campaign) -> dict[str, Any]:
        """A snapshot before anybody answered."""
        from adjudge.web.kinds.preference.dashboard import first_snapshot

        return first_snapshot(campaign)

    def export(
        self, connection: Connection, campaign: Campaign, what: str, *, form: str, options: Mapping[str, Any]
    ) -> Exported:
        """The study, its questions, log, report and curves, and who is to be paid."""
        from adjudge.web.kinds.exports import export_file
        from adjudge.web.kinds.preference.export import export_preference

        data = export_preference(connection, campaign, what, form=form, options=options)
        return export_file(campaign, what, form, data)

    def api_routers(self) -> Sequence[APIRouter]:
        """Questions and answers; files with questions."""
        from adjudge.web.kinds.preference.pages import files_router, router

        return router, files_router

    def describe(self, campaign: Campaign, counts: Overview) -> dict[str, object]:
        """What is asked, of whom and for how much."""
        settings, pay = settings_of(campaign), settings_of(campaign).pay
        parts = ((pay.per_answer, "per answer"), (pay.per_participant, "per participant"),
                 (pay.per_screened_out, "per screened-out participant"))  # fmt: skip
        paid = " + ".join(f"{amount:g} {pay.currency} {what}" for amount, what in parts if amount)
        return {
            "questions": f"{counts.pairs:,}, {counts.judged:,} answered",
            "asked of": f"{settings.judged_by} each, at most {settings.per_participant} per participant",
            "attention checks": f"{counts.traps:,}; {settings.quiz} in the quiz, "
            f"then {percent(settings.trap_share)} of questions",
            "batches": "one" if settings.batch_size is None else f"of {settings.batch_size:,}",
            "recruiter": settings.recruiter.kind,
            "pay": f"{paid}{f', fee {percent(pay.fee_share)}' if pay.fee_share else ''}" if paid else "nothing",
        }

    def count_for_list(self, counts: Overview) -> dict[str, int]:
        """How many questions there are."""
        return {"questions": counts.pairs}

    def card(self, campaign: Campaign, seen: Overview, status: Mapping[str, Any], live: int) -> Card:
        """The campaign in the list."""
        from adjudge.web.kinds.preference.pages import card

        return card(campaign, seen, status, live)

    def read_form(
        self, form: Mapping[str, Any], values: dict[str, Any], before: CampaignSettings | None
    ) -> dict[str, Any]:
        """Combinations as they print themselves."""
        from adjudge.web.kinds.preference.pages import read_combinations

        return {**values, "combinations": read_combinations(values["combinations"])}

    async def take_material(
        self, request: Request, campaign: Campaign, organiser: Organiser, context: Context
    ) -> object:
        """Questions and attention checks."""
        from adjudge.web.kinds.preference.pages import questions

        return await questions(request, campaign, organiser, context)

    def set_up_values(
        self, connection: Connection, context: Context, campaign: Campaign, asked_for: Mapping[str, str]
    ) -> dict[str, Any]:
        """Questions, what they cover, and what answers cost."""
        from adjudge.web.kinds.preference.pages import set_up_values

        return set_up_values(connection, context, campaign, asked_for)

    def people_values(
        self, connection: Connection, campaign: Campaign, people: Sequence[Participant], *, now: float
    ) -> tuple[Mapping[int, Mapping[str, Any]], dict[str, Any]]:
        """Participants, with what is known of their attention."""
        from adjudge.web.kinds.preference.pages import people_values

        return people_values(connection, campaign, people)

    def answers_values(self, connection: Connection, campaign: Campaign, rows: Sequence[Any]) -> dict[str, Any]:
        """What was chosen, and how often people chose the same again."""
        from adjudge.web.kinds.preference.pages import answers_values

        return answers_values(connection, campaign)

    def shown_items(self, connection: Connection, pair_id: int) -> BaseModel:
        """The query and both lists of a question."""
        from adjudge.web.kinds.preference.pages import clips_of_lists

        return clips_of_lists(connection, pair_id)


KINDS.add("preference", Preference())
