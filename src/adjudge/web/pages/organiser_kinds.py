"""The forms of each kind of campaign: how they begin, what they show, and the settings that they make."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import FormData

from adjudge.web.asking_settings import AskingSettings
from adjudge.web.campaign_rows import Campaign
from adjudge.web.pages.organiser_forms import blank_form, form_as_sent, form_of, settings_of_form
from adjudge.web.pages.organiser_preference_forms import (
    blank_preference_form,
    preference_form_as_sent,
    preference_form_of,
    preference_settings_of_form,
)
from adjudge.web.pages.organiser_ranking_forms import (
    blank_ranking_form,
    ranking_form_as_sent,
    ranking_form_of,
    ranking_settings_of_form,
)

Form = Mapping[str, Any]


@dataclass(frozen=True)
class KindPages:
    """The pages of a kind: its form, how that is before and after somebody filled it in, what it makes, the dashboard.

    ``settings`` gets the campaign as it was, None where it is new; ``said`` is what is said once it is made.
    """

    template: str
    dashboard: str
    said: str
    blank: Callable[[], dict[str, Any]]
    as_sent: Callable[[FormData], dict[str, Any]]
    of: Callable[[Campaign], dict[str, Any]]
    settings: Callable[[Form, Campaign | None], AskingSettings]


def _judging(form: Form, before: Campaign | None) -> AskingSettings:
    return settings_of_form(form, None if before is None else before.judging)


def _preference(form: Form, before: Campaign | None) -> AskingSettings:
    return preference_settings_of_form(form, None if before is None else before.preference)


def _ranking(form: Form, before: Campaign | None) -> AskingSettings:
    return ranking_settings_of_form(form, None if before is None else before.ranking)


KIND_FORMS: Mapping[str, KindPages] = {
    "judging": KindPages(
        "campaign_form.html",
        "dashboard.html",
        "created",
        blank_form,
        form_as_sent,
        lambda campaign: form_of(campaign.judging),
        _judging,
    ),
    "preference": KindPages(
        "preference_form.html",
        "preference_dashboard.html",
        "created-preference",
        blank_preference_form,
        preference_form_as_sent,
        lambda campaign: preference_form_of(campaign.preference),
        _preference,
    ),
    "ranking": KindPages(
        "ranking_form.html",
        "ranking_dashboard.html",
        "created-ranking",
        blank_ranking_form,
        ranking_form_as_sent,
        lambda campaign: ranking_form_of(campaign.ranking),
        _ranking,
    ),
}
"""The forms, by kind."""
