"""The application as a value: ``create_app(settings)``."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles
from starlette.routing import BaseRoute

from adjudge._version import __version__
from adjudge.web.context import Context
from adjudge.web.kinds.base import KINDS, Kind
from adjudge.web.live import Estimating
from adjudge.web.settings import Settings
from adjudge.web.store.database import open_database

HERE = Path(__file__).parent


def create_app(settings: Settings) -> FastAPI:
    """A server for these settings; its database is opened, and brought up to date, at once."""
    from adjudge.web.http.failures import add_failures
    from adjudge.web.http.security import add_security

    database = open_database(settings)
    context = Context(settings, database, Estimating(settings, database))

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        context.estimating.start()
        yield
        context.estimating.stop()
        database.close()

    app = FastAPI(
        title="Adjudge",
        version=__version__,
        summary="Judging campaigns: runs in, ranking out, with as few judgments as it takes.",
        lifespan=lifespan,
        docs_url=None,  # the pages of FastAPI load scripts from elsewhere
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    app.state.context = context
    add_security(app, settings)
    add_failures(app)
    app.router.routes.extend(_routes(tuple(KINDS.values())))
    return app


@cache
def _routes(kinds: tuple[Kind, ...]) -> list[BaseRoute]:
    """Everything that is answered, built once: a request finds what is its application's own in the context."""
    from adjudge.web.api import campaigns, files, people
    from adjudge.web.http.failures import RESPONSES
    from adjudge.web.http.rendering import add_folder
    from adjudge.web.pages import answers, assessor, campaign, organiser
    from adjudge.web.pages import people as people_pages

    holder = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    apis = [people.joining_router, people.router, campaigns.router, files.router, campaigns.snapshots_router]
    for router in [*apis, *(router for kind in kinds for router in kind.api_routers())]:
        holder.include_router(router, prefix="/api", responses=RESPONSES)
    pages = [
        organiser.health_router,
        files.media_router,
        assessor.router,
        organiser.router,
        organiser.account_router,
        campaign.router,
        people_pages.router,
        answers.router,
    ]
    for router in [*pages, *(router for kind in kinds for router in kind.page_routers())]:
        holder.include_router(router, include_in_schema=False)
    for kind in kinds:
        add_folder(kind.name, kind.folder)
        holder.add_api_route(kind.home, assessor.asking_page, include_in_schema=False)
        if (kind.folder / "static").is_dir():
            holder.mount(f"/static/{kind.name}", StaticFiles(directory=kind.folder / "static"))
    holder.mount("/static", StaticFiles(directory=HERE / "static"), name="static")
    holder.url_path_for("static", path="/")  # the last is found past all others, which builds them before any request
    return holder.router.routes
