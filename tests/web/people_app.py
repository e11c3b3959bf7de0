"""A server of people alone for tests: their routes, campaigns of a few texts, and no estimation."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import pytest
from argon2 import PasswordHasher
from fastapi import FastAPI
from sqlalchemy import Connection, func, insert, select

from adjudge.web.context import Context
from adjudge.web.http.access import AsOrganiser, AsParticipant, OwnCampaign
from adjudge.web.http.failures import add_failures
from adjudge.web.http.security import add_security
from adjudge.web.kinds.judging.settings import JudgingSettings
from adjudge.web.kinds.lifecycle import create_campaign
from adjudge.web.settings import Settings
from adjudge.web.store import people as passwords
from adjudge.web.store import schema
from adjudge.web.store.campaigns import Campaign, find_campaign
from adjudge.web.store.database import Database
from adjudge.web.store.participants import Invitation, make_invitation
from adjudge.web.store.people import Organiser, add_organiser

with warnings.catch_warnings():  # starlette would rather have httpx under its next name
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

PASSWORD = "correct horse battery"
ADDRESS = "http://127.0.0.1:8000"


@contextmanager
def quick_passwords() -> Iterator[None]:
    """Passwords hashed with next to no work, where hashing is not what is tested."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "_HASHER", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
        passwords._nobodys_hash.cache_clear()
        yield
    passwords._nobodys_hash.cache_clear()


class Noted:
    """Stands in for the estimation: notes which campaigns are to be estimated again."""

    def __init__(self) -> None:
        self.campaigns: list[int] = []

    def changed(self, campaign_id: int) -> None:
        self.campaigns.append(campaign_id)


def make_app(settings: Settings, database: Database) -> FastAPI:
    """The routes of people, guarded as they are in earnest, and one that is broken."""
    from adjudge.web.api import people
    from adjudge.web.pages.organiser import health_router

    app = FastAPI(docs_url=None, redoc_url=None, openapi_url="/api/openapi.json")
    app.state.context = Context(settings, database, cast(Any, Noted()))
    add_security(app, settings)
    add_failures(app)
    for router in (people.joining_router, people.router):
        app.include_router(router, prefix="/api")
    app.include_router(health_router)

    @app.get("/api/own/{name}")
    def own(campaign: OwnCampaign) -> dict[str, str]:
        return {"name": campaign.name}

    @app.get("/api/organiser")
    def organiser(found: AsOrganiser) -> dict[str, str]:
        return {"login": found.login}

    @app.post("/api/assessor")
    def assessor(found: AsParticipant) -> dict[str, str]:
        return {"code": found.code}

    @app.get("/broken")
    @app.get("/api/broken")
    def broken() -> None:
        raise RuntimeError("a detail that nobody outside should read")

    return app


def browser(app: FastAPI, **options: Any) -> TestClient:
    """A browser that knows nothing yet."""
    return TestClient(app, base_url=ADDRESS, follow_redirects=False, **options)


def make_organiser(database: Database, login: str = "ada", *, is_admin: bool = False) -> Organiser:
    with database.write() as connection:
        return add_organiser(connection, login=login, password=PASSWORD, is_admin=is_admin, now=0.0)


def make_campaign(
    database: Database, name: str = "small", *, organiser: Organiser | None = None, pairs: int = 0, **decided: Any
) -> Campaign:
    """A campaign with ``pairs`` candidates of one query, each wanted by three."""
    values = JudgingSettings.parse({"title": "Small", "scales": [{"name": "fine", "maximum": 100}], **decided})
    with database.write() as connection:
        owner = None if organiser is None else organiser.id
        made = create_campaign(connection, name=name, settings=values, organiser_id=owner, now=0.0)
        for number in range(pairs):
            _add_pair(connection, made.id, number)
        connection.execute(schema.campaign.update().where(schema.campaign.c.id == made.id).values(state="open"))
        return find_campaign(connection, name)


def _add_pair(connection: Connection, campaign_id: int, number: int) -> None:
    items = []
    for role in ("query", "document"):
        values = {"campaign_id": campaign_id, "role": role, "identifier": f"{role[0]}{number}", "kind": "text"}
        address = f"{campaign_id}-{role}-{number}"
        statement = insert(schema.item).values(**values, address=address, text="…", facts={})
        items.append(connection.execute(statement.returning(schema.item.c.id)).scalar_one())
    values = {"query": f"q{number}", "document": f"d{number}", "query_item_id": items[0], "document_item_id": items[1]}
    connection.execute(insert(schema.pair).values(campaign_id=campaign_id, **values, wanted=3, taken=0, answered=0))


def invite(database: Database, settings: Settings, campaign: Campaign, **options: Any) -> Invitation:
    with database.write() as connection:
        return make_invitation(connection, campaign, secret=settings.secret, now=settings.clock(), **options)


def logged_in(app: FastAPI, login: str = "ada") -> TestClient:
    """A browser in which an organiser is logged in, and which sends what its pages would."""
    opened = browser(app)
    answer = opened.post("/api/login", json={"login": login, "password": PASSWORD})
    assert answer.status_code == 200, answer.text
    opened.headers["X-CSRF-Token"] = answer.json()["csrf"]
    return opened


def joined(app: FastAPI, token: str, **told: Any) -> TestClient:
    """A browser in which somebody joined."""
    opened = browser(app)
    answer = opened.post("/api/join", json={"invitation": token, **told})
    assert answer.status_code == 201, answer.text
    opened.headers["X-CSRF-Token"] = answer.json()["csrf"]
    return opened


def rows(database: Database, table: Any) -> int:
    with database.read() as connection:
        return int(connection.execute(select(func.count()).select_from(table)).scalar_one())
