"""Whether the server is well, for whatever watches over it."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel
from sqlalchemy import select

from adjudge.web.context import InContext
from adjudge.web.schema import organiser

router = APIRouter()


class Health(BaseModel):
    """That the server answers, and its database as well."""

    status: str = "ok"


@router.get("/healthz", summary="Whether the server and its database answer")
def health(context: InContext) -> Health:
    """Fails with 503 where the database does not answer."""
    with context.database.read() as connection:
        connection.execute(select(organiser.c.id).limit(1)).first()
    return Health()
