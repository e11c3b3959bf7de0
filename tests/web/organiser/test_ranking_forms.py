"""The form of a ranking campaign: as it was filled in, and what is wrong with it said in words."""

from __future__ import annotations

from typing import Any

import pytest
from tests.web.organiser.visiting import Visitor, new_ranking_campaign

from adjudge.web.kinds.base import KINDS
from adjudge.web.kinds.lifecycle import list_campaigns
from adjudge.web.kinds.ranking.settings import RankingSettings
from adjudge.web.pages.forms import form_of, settings_of_form
from adjudge.web.store.campaigns import find_campaign
from adjudge.web.store.database import Database

pytestmark = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)


def test_ranking_is_a_kind_of_campaign_to_choose(carla: Visitor) -> None:
    carla.get("/campaigns/new")
    assert "Rank documents" in carla.words
    carla.get("/campaigns/new?kind=ranking")
    assert 'name="least_ranked"' in carla.page


def test_a_ranking_campaign_is_made_as_it_was_filled_in(carla: Visitor, database: Database) -> None:
    carla.get("/campaigns/new?kind=ranking")
    carla.send("/campaigns/new", **new_ranking_campaign())
    assert "It is a draft" in carla.words
    with database.read() as connection:
        made = find_campaign(connection, "incipits")
    settings = made.settings_as(RankingSettings)
    assert (made.kind, made.state, settings.judged_by) == ("ranking", "draft", 7)
    assert (settings.ties, settings.rank_all, settings.least_ranked) == (True, False, 2)
    assert (settings.kept_hours, settings.listen_seconds) == (48, 1.5)
    assert settings.instructions == {"en": "The most **similar** first."}
    carla.get("/campaigns/incipits/settings")
    assert 'name="kept_hours" value="48"' in carla.page
    without_ties = {name: value for name, value in new_ranking_campaign(ranked="all").items() if name != "ties"}
    carla.send("/campaigns/incipits/settings", **without_ties)
    assert "The settings are saved." in carla.words
    assert "Which documents get a place All of them" in carla.words
    assert "Several documents may share a place no" in carla.words
    with database.read() as connection:
        changed = find_campaign(connection, "incipits").settings_as(RankingSettings)
    assert (changed.ties, changed.rank_all, changed.least_ranked) == (False, True, 1)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"title": ""}, "Title:"),
        ({"judged_by": "0"}, "Experts for a query: expected at least 1, got 0"),
        ({"judged_by": "many"}, "Expected a number as ‘Experts for a query’"),
        ({"least_ranked": "1.5"}, "Expected a whole number as ‘Documents to rank at least’"),
        ({"kept_hours": "0"}, "Hours that a ranking is kept:"),
        ({"listen_seconds": "nan"}, "Expected a number as ‘Seconds to listen’"),
        ({"languages": []}, "Languages:"),
    ],
)
def test_a_field_that_is_wrong_is_named_and_nothing_written_is_lost(
    carla: Visitor, database: Database, wrong: dict[str, Any], said: str
) -> None:
    carla.get("/campaigns/new?kind=ranking")
    carla.send("/campaigns/new", **new_ranking_campaign(**{"contact": "Ada & Bob", **wrong}))
    assert (carla.status, said in carla.words) == (422, True)
    assert 'value="Ada &amp; Bob"' in carla.page
    assert 'name="kind" value="ranking"' in carla.page
    with database.read() as connection:
        assert list_campaigns(connection) == []


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"rank_all": True, "ties": False, "seed": 5, "judged_by": 35},
        {"least_ranked": 9, "kept_hours": 1.5, "listen_seconds": 0.25, "consent": {"en": "Yes.\n\n*All* of it."}},
    ],
)
def test_settings_come_back_from_their_form_as_they_were(more: dict[str, Any], backend: str) -> None:
    settings = RankingSettings.parse({"title": "All of it", "languages": ["de", "en"], **more})
    kind = KINDS["ranking"]
    assert settings_of_form(kind, form_of(kind, settings), settings) == settings
