"""What an organiser decides about a ranking campaign: ties, documents left unranked, how long a ranking is kept."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, ValidationError, model_validator

from adjudge.errors import AdjudgeError
from adjudge.web.asking_settings import AskingSettings, one_line

MOST_CANDIDATES = 200
"""Documents that a person can be asked to put in order for a query."""


class RankingSettings(AskingSettings):
    """Everything about a ranking campaign but its candidates, documents and people.

    ``judged_by`` experts rank the candidates of each query by similarity to it. With ``ties`` several documents may
    share a place; at least ``least_ranked`` must have one, and others may be left unranked, unless ``rank_all``.
    A ranking that was begun is kept for its expert for ``kept_hours`` after its last change.
    """

    judged_by: Annotated[int, Field(ge=1, le=500)] = 5
    repeat_share: Annotated[float, Field(ge=0, le=0)] = 0.0
    listen_seconds: Annotated[float, Field(ge=0, le=600)] = 0.0
    ties: bool = True
    rank_all: bool = False
    least_ranked: Annotated[int, Field(ge=1, le=MOST_CANDIDATES)] = 1
    kept_hours: Annotated[float, Field(ge=1, le=24 * 90)] = 24 * 7

    @model_validator(mode="after")
    def _sound(self) -> RankingSettings:
        if self.rank_all and self.least_ranked > 1:
            raise ValueError("expected either all documents ranked or a least number of them, got both")
        return self


def ranking_settings_from(values: dict[str, Any]) -> RankingSettings:
    """Settings from plain values; what is wrong is said in one line.

    >>> ranking_settings_from({"title": "Incipits", "least_ranked": 0})
    Traceback (most recent call last):
    adjudge.errors.AdjudgeError: Campaign: least_ranked: input should be greater than or equal to 1, got 0
    """
    try:
        return RankingSettings.model_validate(values)
    except ValidationError as error:
        raise AdjudgeError(f"Campaign: {one_line(error)}") from None
