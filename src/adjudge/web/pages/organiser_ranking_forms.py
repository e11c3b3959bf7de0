"""The settings of a ranking campaign as a form, and back; what the form does not show (the seed) stays as it was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.datastructures import FormData

from adjudge.errors import AdjudgeError
from adjudge.web.errors import Refused
from adjudge.web.pages.organiser_forms import as_sent, number, texts_of, texts_sent, whole
from adjudge.web.pages.organiser_shared import several
from adjudge.web.ranking_settings import RankingSettings, ranking_settings_from

NUMBERS = {
    "judged_by": "Experts for a query",
    "least_ranked": "Documents to rank at least",
    "kept_hours": "Hours that a ranking is kept",
    "listen_seconds": "Seconds to listen",
}
"""Fields with numbers, with what the form calls them."""
_NAMES = {**NUMBERS, "title": "Title", "contact": "Contact", "languages": "Languages"}


def blank_ranking_form() -> dict[str, Any]:
    """The form of a new campaign, with what is usual."""
    return {**ranking_form_of(RankingSettings(title="new")), "title": "", "name": ""}


def ranking_form_of(settings: RankingSettings) -> dict[str, Any]:
    """The fields of a form from settings."""
    return {
        "title": settings.title,
        "contact": settings.contact,
        "judged_by": str(settings.judged_by),
        "ties": settings.ties,
        "ranked": "all" if settings.rank_all else "some",
        "least_ranked": str(settings.least_ranked),
        "kept_hours": f"{settings.kept_hours:g}",
        "listen_seconds": f"{settings.listen_seconds:g}",
        "languages": list(settings.languages),
        **texts_of(settings),
    }


def ranking_form_as_sent(fields: FormData) -> dict[str, Any]:
    """The fields as somebody filled them in, to be shown again beside what is wrong with them."""
    return as_sent(fields, blank_ranking_form())


def ranking_settings_of_form(form: Mapping[str, Any], before: RankingSettings | None = None) -> RankingSettings:
    """Settings from the fields of a form; refused in a sentence where one is wrong."""
    rank_all = form["ranked"] == "all"
    values = {} if before is None else before.model_dump(mode="json")
    values |= {
        "title": form["title"],
        "contact": form["contact"],
        "judged_by": whole(form, "judged_by", "‘Experts for a query’"),
        "ties": form["ties"],
        "rank_all": rank_all,
        "least_ranked": 1 if rank_all else whole(form, "least_ranked", "‘Documents to rank at least’"),
        "kept_hours": number(form, "kept_hours", "‘Hours that a ranking is kept’"),
        "listen_seconds": number(form, "listen_seconds", "‘Seconds to listen’"),
        "languages": form["languages"],
        **texts_sent(form),
    }
    try:
        return ranking_settings_from(values)
    except AdjudgeError as error:
        raise Refused(_named(str(error).removeprefix("Campaign: "))) from None


def _named(message: str) -> str:
    """A message about a setting that calls it what the form calls it.

    >>> _named("judged_by: input should be greater than or equal to 1, got 0")
    'Experts for a query: input should be greater than or equal to 1, got 0'
    """
    place, colon, rest = message.partition(": ")
    return f"{_NAMES[place]}: {rest}" if colon and place in _NAMES else message


def ranking_goal_in_words(settings: RankingSettings) -> str:
    """What a campaign is after, for people.

    >>> ranking_goal_in_words(RankingSettings(title="Demo", judged_by=3))
    'Rank documents: 3 experts for every query'
    """
    return f"Rank documents: {several(settings.judged_by, 'expert')} for every query"


def ranking_rules_in_words(settings: RankingSettings) -> str:
    """What is asked of an expert.

    >>> ranking_rules_in_words(RankingSettings(title="Demo"))
    'at least 1 document has a place, others may be left out; several may share one'
    """
    ranked = "every document has a place"
    if not settings.rank_all:
        has = "has" if settings.least_ranked == 1 else "have"
        ranked = f"at least {several(settings.least_ranked, 'document')} {has} a place, others may be left out"
    return f"{ranked}; {'several may share one' if settings.ties else 'no two share one'}"


def kept_in_words(settings: RankingSettings) -> str:
    """How long a ranking that was begun stays with its expert.

    >>> kept_in_words(RankingSettings(title="Demo")), kept_in_words(RankingSettings(title="Demo", kept_hours=5))
    ('7 days after its last change', '5 hours after its last change')
    """
    hours = settings.kept_hours
    long = f"{hours / 24:g} days" if hours >= 48 and hours % 24 == 0 else f"{hours:g} hour{'' if hours == 1 else 's'}"
    return f"{long} after its last change"
