"""Visitors of the organisers' pages: a stranger, an organiser, one with a campaign."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from starlette.testclient import TestClient
from tests.web.conftest import SmallCampaign
from tests.web.organiser.visiting import PASSWORD, Visitor
from tests.web.preference_rows import Stage
from tests.web.ranking_rows import Ranking

from adjudge.web.settings import Settings
from adjudge.web.store.database import Database
from adjudge.web.store.people import add_organiser


@pytest.fixture
def visitor(client: TestClient) -> Visitor:
    return Visitor(client)


@pytest.fixture
def carla(visitor: Visitor, database: Database, settings: Settings) -> Visitor:
    """An organiser who is logged in."""
    with database.write() as connection:
        add_organiser(connection, login="carla", password=PASSWORD, is_admin=False, now=settings.clock())
    visitor.log_in("carla")
    assert visitor.status == 200
    return visitor


@pytest.fixture
def owner(visitor: Visitor, small_campaign: Callable[..., SmallCampaign]) -> Visitor:
    """The organiser of a small campaign called 'small' that is open."""
    made = small_campaign("small", listen_seconds=0, goal={"kind": "everything"}, repeat_share=0)
    visitor.log_in(made.login, made.password)
    return visitor


@pytest.fixture
def chief(visitor: Visitor, database: Database, settings: Settings) -> Visitor:
    """An administrator who is logged in, and sees every campaign."""
    with database.write() as connection:
        add_organiser(connection, login="chief", password=PASSWORD, is_admin=True, now=settings.clock())
    visitor.log_in("chief")
    return visitor


@pytest.fixture
def stage(database: Database, settings: Settings) -> Stage:
    """A preference campaign to be opened, and people for it."""
    return Stage(database, settings, now=settings.clock())


@pytest.fixture
def ranking(database: Database, settings: Settings) -> Ranking:
    """A ranking campaign to be opened, and experts for it."""
    return Ranking(database, settings, now=settings.clock())
