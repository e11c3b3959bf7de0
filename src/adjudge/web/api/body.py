"""What bodies of requests have in common."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from adjudge.web.wording import several_lines_of

DAY_MS = 24 * 3600 * 1000
MOST_COMMENT = 2000
LeaseId = Annotated[str, Field(pattern=r"^[\w-]{1,40}$")]
Milliseconds = Annotated[int, Field(ge=0, le=DAY_MS)]


class Body(BaseModel):
    """What is sent; anything unknown is refused, so that a misspelt name is not lost in silence."""

    model_config = ConfigDict(extra="forbid")


class SentAnswer(Body):
    """What comes with everything that is answered: a key of its own, and perhaps some words."""

    key: Annotated[str, Field(pattern=r"^[!-~]{8,100}$", description="Made by the sender; the same for a retry.")]
    comment: Annotated[str | None, Field(max_length=MOST_COMMENT)] = None

    @property
    def words(self) -> str | None:
        """The comment as it is stored."""
        return several_lines_of(self.comment or "", what="a comment", most=MOST_COMMENT)
