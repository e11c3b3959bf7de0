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
from adjudge.web.database import open_database
from adjudge.web.estimating import Estimating
from adjudge.web.settings import Settings

HERE = Path(__file__).parent


def create_app(settings: Settings) -> FastAPI:
    """A server for these settings; its database is opened, and brought up to date, at once."""
    from adjudge.web.failures import add_failures
    from adjudge.web.security import add_security

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
    app.router.routes.extend(_routes())
    return app


@cache
def _routes() -> list[BaseRoute]:
    """Everything that is answered, built once: a request finds what is its application's own in the context."""
    from adjudge.web.api import ROUTERS as API_ROUTERS
    from adjudge.web.failures import RESPONSES
    from adjudge.web.pages import ROUTERS as PAGE_ROUTERS

    holder = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    for router in API_ROUTERS:
        holder.include_router(router, prefix="/api", responses=RESPONSES)
    for router in PAGE_ROUTERS:
        holder.include_router(router, include_in_schema=False)
    holder.mount("/static", StaticFiles(directory=HERE / "static"), name="static")
    holder.url_path_for("static", path="/")  # the last is found past all others, which builds them before any request
    return holder.router.routes
