"""The form of a judging campaign, and its settings."""

from __future__ import annotations

from typing import Any

import pytest

from adjudge.relevance.choosing import GOALS
from adjudge.web.kinds.base import KINDS
from adjudge.web.kinds.judging.settings import JudgingSettings
from adjudge.web.pages.forms import form_of, settings_of_form

JUDGING = KINDS["judging"]


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"by_sound": True, "audit": 0.1},
        *({"goal": {"kind": kind}} for kind in GOALS),
        {"goal": {"kind": "everything"}},
    ],
)
def test_a_form_that_is_saved_as_it_came_changes_nothing(changed: dict[str, Any]) -> None:
    settings = JudgingSettings.parse({"title": "Songs", **changed})
    assert settings_of_form(JUDGING, form_of(JUDGING, settings), settings) == settings


def test_a_level_that_is_typed_is_kept() -> None:
    settings = JudgingSettings.parse({"title": "Songs"})
    form = {**form_of(JUDGING, settings), "level_order": "90"}
    changed = settings_of_form(JUDGING, form, settings)
    assert isinstance(changed, JudgingSettings)
    assert changed.goal.level == 0.9
