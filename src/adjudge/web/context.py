"""What every request can reach: settings, the database, the estimator of each campaign."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends
from starlette.requests import HTTPConnection

from adjudge.web.settings import Settings
from adjudge.web.store.database import Database

if TYPE_CHECKING:
    from adjudge.web.live import Estimating


@dataclass(frozen=True)
class Context:
    """One server. ``estimating`` learns from answers in the background."""

    settings: Settings
    database: Database
    estimating: Estimating

    def now(self) -> float:
        """Seconds since 1970."""
        return self.settings.clock()


def context_of(connection: HTTPConnection) -> Context:
    """The context of the server that a request came to."""
    context: Context = connection.app.state.context
    return context


InContext = Annotated[Context, Depends(context_of)]
