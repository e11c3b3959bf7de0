"""The form of a preference campaign: as it was filled in, and what is wrong with it said in words."""

from __future__ import annotations

import re
from typing import Any

import pytest
from annotated_types import Ge, Le
from tests.web.organiser.visiting import Visitor, new_campaign, new_preference_campaign

from adjudge.errors import AdjudgeError
from adjudge.web.kinds.base import KINDS
from adjudge.web.kinds.lifecycle import list_campaigns
from adjudge.web.kinds.preference.settings import PreferenceSettings
from adjudge.web.pages.forms import form_of, settings_of_form, summary
from adjudge.web.store.campaigns import find_campaign
from adjudge.web.store.database import Database
from adjudge.web.store.recruiting import Recruiter

PREFERENCE = KINDS["preference"]


def saved(form: dict[str, Any], before: PreferenceSettings | None = None) -> PreferenceSettings:
    """The settings that a form makes."""
    settings = settings_of_form(PREFERENCE, form, before)
    assert isinstance(settings, PreferenceSettings)
    return settings


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_a_new_campaign_begins_with_its_kind(carla: Visitor) -> None:
    carla.get("/campaigns/new")
    assert "Judge documents" in carla.words
    assert "Compare two lists" in carla.words
    carla.get("/campaigns/new?kind=preference")
    assert 'name="quiz_bar"' in carla.page
    carla.get("/campaigns/new?kind=judging")
    assert 'name="measure"' in carla.page


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_the_form_takes_what_the_settings_take(carla: Visitor, kind: str) -> None:
    carla.get(f"/campaigns/new?kind={kind}")
    for name, info in KINDS[kind].settings.model_fields.items():
        bounds = {type(bound): bound for bound in info.metadata}
        field = re.search(rf'id="{name}"[^>]* min="([\d.]+)" max="([\d.]+)"', carla.page)
        if not {Ge, Le} <= set(bounds) or bounds[Ge].ge == bounds[Le].le:
            continue
        assert field is not None, name
        factor = 100 if f'<label for="{name}">' in carla.page and ", in %" in label_of(carla.page, name) else 1
        assert [float(end) for end in field.groups()] == [bounds[Ge].ge * factor, bounds[Le].le * factor], name


def label_of(page: str, name: str) -> str:
    return page.partition(f'<label for="{name}">')[2].partition("<")[0]


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_a_preference_campaign_is_made_as_it_was_filled_in(carla: Visitor, database: Database) -> None:
    carla.get("/campaigns/new?kind=preference")
    carla.send("/campaigns/new", **new_preference_campaign())
    assert carla.address.startswith("http://127.0.0.1:8000/campaigns/pairs/set-up")
    assert "It is a draft" in carla.words
    with database.read() as connection:
        made = find_campaign(connection, "pairs")
    settings = made.settings_as(PreferenceSettings)
    assert (made.kind, made.state) == ("preference", "draft")
    assert (settings.per_participant, settings.judged_by, settings.batch_size) == (15, 2, 4)
    assert (settings.quiz, settings.quiz_bar, settings.trap_share, settings.trust_bar) == (2, 0.5, 0.2, 0.6)
    assert (settings.least_traps, settings.attention_bar, settings.repeat_share) == (3, 0.02, 0.1)
    assert settings.pause_after_batch
    assert settings.combinations == ("CG@2 on fine", "CG@2 on broad")
    assert settings.recruiter.codes == {"done": "DONE1", "screened_out": "OUT1"}
    assert settings.pay.model_dump() == {
        "currency": "GBP",
        "per_answer": 0.1,
        "per_participant": 1.0,
        "per_screened_out": 0.5,
        "fee_share": 0.3,
    }
    assert settings.instructions == {"en": "Compare **both**."}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"title": ""}, "Title:"),
        ({"name": "No Spaces"}, "lower-case letters"),
        ({"quiz": "2.5"}, "Expected a whole number as ‘Attention checks in the quiz’"),
        ({"quiz_bar": "700"}, "Of the quiz to get right: expected at most 100 %, got 700 %"),
        ({"trap_share": "-5"}, "Attention checks later on: expected at least 0 %"),
        ({"trust_bar": "all"}, "Expected a number as ‘Of all checks to get right’"),
        ({"batch_size": "0"}, "Questions in a batch:"),
        ({"combinations": "CG@2"}, "Curves to show: expected MEASURE on SCALE"),
        ({"combinations": "XX@2 on fine"}, "Curves to show:"),
        ({"combinations": "CG(ideal=none)@2 on fine"}, "use ideal=max"),
        ({"currency": "euros"}, "Currency:"),
        ({"per_answer": "-1"}, "Each answer:"),
        ({"recruiter": "other"}, "Recruiter: expected the name of the URL parameter"),
        ({"recruiter": "other", "parameters": "wörker"}, "names of URL parameters"),
        ({"recruiter": "other", "parameters": "id", "address_done": "javascript:alert(1)"}, "begins with https://"),
        ({"recruiter": "friends"}, "Recruiter:"),
        ({"languages": []}, "Languages:"),
    ],
)
@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_a_field_that_is_wrong_is_named_and_nothing_written_is_lost(
    carla: Visitor, database: Database, wrong: dict[str, Any], said: str
) -> None:
    carla.get("/campaigns/new?kind=preference")
    carla.send("/campaigns/new", **new_preference_campaign(**{"contact": "Ada & Bob", **wrong}))
    assert carla.status == 422
    assert said in carla.words
    assert 'value="Ada &amp; Bob"' in carla.page
    assert 'name="kind" value="preference"' in carla.page
    for name, value in wrong.items():
        if isinstance(value, str) and value and name not in ("combinations", "recruiter"):
            assert f'value="{value}"' in carla.page
    with database.read() as connection:
        assert list_campaigns(connection) == []


PANEL = {
    "kind": "other",
    "parameters": ["who", "session"],
    "codes": {"done": "A", "failed": "B"},
    "addresses": {"done": "https://panel.example/back?c={code}&s={session}"},
}


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"recruiter": PANEL, "batch_size": 7, "seed": 5, "quiz_bar": 0.55, "attention_bar": 0.035},
        {"recruiter": {"kind": "prolific", "codes": {"done": "X"}}, "combinations": ["CG@5 on fine"]},
        {
            "pay": {"currency": "USD", "per_answer": 0.015, "fee_share": 0.333},
            "consent": {"en": "Yes.\n\n*All* of it."},
        },
    ],
)
def test_settings_come_back_from_their_form_as_they_were(more: dict[str, Any]) -> None:
    settings = PreferenceSettings.parse({"title": "All of it", "languages": ["de", "en"], **more})
    again = saved(form_of(PREFERENCE, settings), settings)
    assert {**again.model_dump(), "languages": None} == {**settings.model_dump(), "languages": None}


def test_what_belongs_to_another_recruiter_is_left_out() -> None:
    panel = PreferenceSettings.parse({"title": "Panel", "recruiter": PANEL})
    form = form_of(PREFERENCE, panel)
    assert saved({**form, "recruiter": "none"}).recruiter.kind == "none"
    prolific = saved({**form, "recruiter": "prolific"}).recruiter
    assert (prolific.codes, prolific.addresses) == ({"done": "A", "failed": "B"}, {})


def test_a_wrong_setting_that_the_form_does_not_name_is_still_said() -> None:
    form = {**form_of(PREFERENCE, PreferenceSettings(title="x")), "code_done": "line\nbreak", "recruiter": "prolific"}
    with pytest.raises(AdjudgeError, match="Code, finished"):
        saved(form)


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_settings_are_changed_and_said_to_be_saved(carla: Visitor, database: Database) -> None:
    carla.get("/campaigns/new?kind=preference")
    carla.send("/campaigns/new", **new_preference_campaign())
    carla.get("/campaigns/pairs/settings")
    assert 'name="quiz_bar" value="50"' in carla.page
    assert "CG@2 on fine\nCG@2 on broad</textarea>" in carla.page
    carla.send("/campaigns/pairs/settings", **new_preference_campaign(title="Others", recruiter="none"))
    assert "The settings are saved." in carla.words
    with database.read() as connection:
        settings = find_campaign(connection, "pairs").settings_as(PreferenceSettings)
    assert (settings.title, settings.recruiter.kind) == ("Others", "none")


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_a_campaign_keeps_its_kind_whatever_a_form_says(carla: Visitor, database: Database) -> None:
    carla.get("/campaigns/new?kind=judging")
    carla.send("/campaigns/new", **new_campaign())
    carla.send("/campaigns/spring/settings", **new_preference_campaign())
    with database.read() as connection:
        assert find_campaign(connection, "spring").kind == "judging"


def test_the_summary_says_what_the_declarations_say_and_leaves_out_what_does_not_count() -> None:
    prolific = Recruiter(kind="prolific", codes={"done": "C1"})
    settings = PreferenceSettings(title="Demo", quiz_bar=0.6, recruiter=prolific)
    sections = summary(PREFERENCE, settings, {"Cost": "12 EUR", "Recruiter": "a panel"})
    rows = {title: words for _, section in sections for title, words in section.items()}
    assert rows["Of the quiz to get right"] == "60 %"
    assert rows["Questions in a batch"] == "all"
    assert rows["Code"] == "finished: C1"
    assert (rows["Recruiter"], rows["Cost"]) == ("a panel", "12 EUR")
    assert "Names of the parameters" not in rows
    assert "Code" not in dict(summary(PREFERENCE, PreferenceSettings(title="Demo"), {}))["Where do people come from?"]
