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
from adjudge.web.errors import Conflict, Refused
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


def missing_way_back(settings: PreferenceSettings) -> str | None:
    """What people of the recruiter would lack at the end of their part, in a sentence; None where nothing is missing.

    >>> print(missing_way_back(PreferenceSettings(title="Demo", recruiter=Recruiter(kind="prolific"), quiz=0)))
    People from Prolific need a completion code however their part ends; there is none for done, failed.
    """
    missing = ", ".join(settings.without_way_back()).replace("_", " ")
    if not missing:
        return None
    if settings.recruiter.kind == "prolific":
        who, what, none = "Prolific", "a completion code", "none"
    else:
        who, what, none = "a recruiter", "a completion code or an address", "neither"
    return f"People from {who} need {what} however their part ends; there is {none} for {missing}."


def refuse_other_recruiter(connection: Connection, found: Campaign, settings: PreferenceSettings) -> None:
    """Refuse settings by which people who were recruited would not be known again, or find no way back."""
    before, after = found.preference.recruiter, settings.recruiter
    if (before.kind, before.expected[:1]) != (after.kind, after.expected[:1]):
        somebody = select(participant.c.id).where(
            participant.c.campaign_id == found.id, participant.c.recruited_as.is_not(None)
        )
        if connection.execute(somebody.limit(1)).first() is not None:
            raise Conflict(
                "The recruiter, and the parameter that identifies a person, cannot be changed once somebody was "
                "recruited: whoever comes again would be somebody new."
            )
    taken_away = set(settings.without_way_back()) - set(found.preference.without_way_back())
    missing = missing_way_back(settings)
    if found.state != "draft" and taken_away and missing is not None:
        raise Refused(missing)


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
