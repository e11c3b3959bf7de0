"""What the parts of the demo share: a campaign that is theirs stays, and one of somebody else is not touched."""

from __future__ import annotations

from sqlalchemy import Connection

from adjudge.web.campaign_rows import Campaign, find_campaign
from adjudge.web.errors import Conflict, NotFound
from adjudge.web.people import Organiser


def own_demo(connection: Connection, name: str, organiser: Organiser) -> Campaign | None:
    """The demo's campaign of this name, None before it is made; refused where it is not the demo's."""
    try:
        found = find_campaign(connection, name)
    except NotFound:
        return None
    if found.organiser_id != organiser.id:
        raise Conflict(
            f"There is a campaign called {name!r} already that is not the demo; choose another --data folder."
        )
    return found
