"""People whom a recruiter sends: known by what stands in their link, and the same person however often they come.

A recruiter (Prolific, or any other panel) puts an identity into the link; whoever comes with it again, in another
window or on another device, is who they were. What the link says is personal: it is kept apart from answers, exports
leave it out, and erasing forgets it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Row, select

from adjudge.errors import shown
from adjudge.web.campaign_rows import Campaign
from adjudge.web.errors import Refused
from adjudge.web.preference_settings import PreferenceSettings, Recruiter
from adjudge.web.schema import participant

LONGEST = 200
"""Characters that the value of a parameter has at most."""


def recruiter_of(campaign: Campaign) -> Recruiter | None:
    """Who sends people to a campaign; None where nobody does."""
    settled = campaign.settings
    if not isinstance(settled, PreferenceSettings) or settled.recruiter.kind == "none":
        return None
    return settled.recruiter


def recruited_from(campaign: Campaign, parameters: Mapping[str, str]) -> dict[str, str] | None:
    """What a recruiter's link says about a person, None in a campaign without a recruiter.

    Parameters that the recruiter does not send are left out. Refused where it does not say who comes.
    """
    recruiter = recruiter_of(campaign)
    if recruiter is None:
        return None
    found = {name: parameters[name].strip() for name in recruiter.expected if parameters.get(name, "").strip()}
    for name, value in found.items():
        if len(value) > LONGEST or not value.isprintable():
            raise Refused(
                f"Expected at most {LONGEST} printable characters as {name} in the link, got {shown(value[:50])}."
            )
    if recruiter.expected[0] not in found:
        site = "Prolific" if recruiter.kind == "prolific" else "the site that sent you here"
        raise Refused(
            f"Please open this study from {site}: the link does not say who you are ({recruiter.expected[0]} is "
            f"missing), so your answers could not be credited to you."
        )
    return found


def recruited_digest(campaign: Campaign, recruited: Mapping[str, str]) -> str:
    """Who somebody is to the recruiter, as a digest."""
    recruiter = campaign.preference.recruiter
    who = f"{recruiter.kind}\n{recruited[recruiter.expected[0]]}"
    return hashlib.sha256(who.encode()).hexdigest()


def who_came(
    connection: Connection, campaign: Campaign, parameters: Mapping[str, str], *, lock: bool = False
) -> Row[Any] | None:
    """The participant whom the recruiter sent with these parameters before, None where they are new."""
    recruited = recruited_from(campaign, parameters)
    if recruited is None:
        return None
    same = participant.c.recruited_as == recruited_digest(campaign, recruited)
    query = select(participant).where(participant.c.campaign_id == campaign.id, same)
    return connection.execute(query.with_for_update() if lock else query).first()
