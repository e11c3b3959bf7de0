"""What an organiser decides about a ranking campaign: ties, documents left unranked, how long a ranking is kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import model_validator

from adjudge.web.store.campaigns import SETTINGS, Campaign, CampaignSettings
from adjudge.web.store.settings import setting

MOST_CANDIDATES = 200
"""Documents that a person can be asked to put in order for a query."""


@SETTINGS.register("ranking")
class RankingSettings(CampaignSettings):
    """Everything about a ranking campaign but its candidates, documents and people.

    ``judged_by`` experts rank the candidates of each query by similarity to it. With ``ties`` several documents may
    share a place; at least ``least_ranked`` must have one, and others may be left unranked, unless ``rank_all``.
    A ranking that was begun is kept for its expert for ``kept_hours`` after its last change.
    """

    asked_for = "rankings"
    made_of = "a file with the candidates of each query"

    groups: ClassVar[Mapping[str, tuple[str, str]]] = {
        "name": CampaignSettings.groups["name"],
        "asked": (
            "What is asked of an expert?",
            "They get a query and its documents in an order drawn for them, and put those in order that are like the "
            "query, the most similar first.",
        ),
        "many": ("How many, and for how long?", ""),
    }

    rank_all: bool = setting(
        False,
        title="Which documents get a place",
        help="No document may be left unranked.",
        group="asked",
        field="ranked",
        choices={
            "some": (
                "Those that are like the query",
                "What is very different may be left unranked. The original experiments were done so.",
            ),
            "all": ("All of them", "A ranking can be sent once every document has a place."),
        },
    )
    least_ranked: int = setting(
        1,
        title="Documents to rank at least",
        help="Where some may be left unranked.",
        group="asked",
        when=("ranked", "some"),
        ge=1,
        le=MOST_CANDIDATES,
    )
    ties: bool = setting(
        True,
        title="Several documents may share a place",
        help="Experts need not invent an order of documents that are alike to them.",
        group="asked",
    )
    judged_by: int = setting(
        5,
        title="Experts for a query",
        help="With few experts few differences are significant: better 10 than 3.",
        group="many",
        ge=1,
        le=500,
    )
    kept_hours: float = setting(
        24 * 7,
        title="Hours that a ranking is kept",
        help="After its last change, also when the page is closed. Then somebody else may get the place.",
        unit="h",
        group="many",
        ge=1,
        le=24 * 90,
    )
    listen_seconds: float = setting(
        0.0,
        title="Seconds to listen",
        help="Of the query, and of every document that gets a place; 0 asks for none.",
        unit="s",
        group="many",
        ge=0,
        le=600,
    )
    repeat_share: float = setting(0.0, title="Asked again", help="No query is ranked twice.", unit="%", ge=0, le=0)

    @model_validator(mode="after")
    def _sound(self) -> RankingSettings:
        if self.rank_all and self.least_ranked > 1:
            raise ValueError("expected either all documents ranked or a least number of them, got both")
        return self


def settings_of(campaign: Campaign) -> RankingSettings:
    """The settings of a ranking campaign; refused for a campaign of another kind."""
    return campaign.settings_as(RankingSettings)
