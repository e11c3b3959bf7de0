"""The form of a judging campaign, and its settings."""

from __future__ import annotations

import pytest

from adjudge.relevance.choosing import GOALS
from adjudge.web.judging_settings import settings_from
from adjudge.web.pages.organiser_forms import form_of, settings_of_form


@pytest.mark.parametrize("goal", [{}, *({"goal": {"kind": kind}} for kind in GOALS), {"goal": {"kind": "everything"}}])
def test_a_form_that_is_saved_as_it_came_changes_nothing(goal: dict[str, dict[str, str]]) -> None:
    settings = settings_from({"title": "Songs", **goal})
    assert settings_of_form(form_of(settings), settings) == settings


def test_a_level_that_is_typed_is_kept() -> None:
    settings = settings_from({"title": "Songs"})
    assert settings_of_form({**form_of(settings), "level_confidence": "90"}, settings).goal.level == 0.9
