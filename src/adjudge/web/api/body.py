"""What every body of a request has in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Body(BaseModel):
    """What is sent; anything unknown is refused, so that a misspelt name is not lost in silence."""

    model_config = ConfigDict(extra="forbid")
