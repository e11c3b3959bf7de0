"""Deleting a whole campaign when its study is over: all of its rows, and the files that no other campaign needs.

Only drafts and closed campaigns are deleted, so that nobody is in the middle of a question. What stays is one line in
the log, with counts and without people, and the digests of receipts that people were given when they were erased.
Exports and backups made before are not reached.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import ColumnElement, Connection, Table, delete, func, select, update

from adjudge.text import counted
from adjudge.web.campaign_rows import Campaign, find_campaign, locked, log_event
from adjudge.web.database import Database
from adjudge.web.errors import Conflict
from adjudge.web.media import kept_files
from adjudge.web.schema import answer, campaign, event, item, listed, metadata, pair, participant, sound
from adjudge.web.settings import Settings

DELETABLE = ("draft", "closed")
_FRESH = 3600.0  # seconds for which a file may wait until the campaign that takes it in names it


@dataclass(frozen=True)
class Deleted:
    """What went with a campaign; ``files`` are those of media that no campaign names any more."""

    campaign: str
    kind: str
    participants: int
    answers: int
    rows: int
    files: int
    at: float


def what_would_go(connection: Connection, found: Campaign) -> str:
    """What a campaign has, in words; refused where it cannot be deleted."""
    _refuse_in_use(found)
    people, answers = _count(connection, participant, found.id), _count(connection, answer, found.id)
    return f"The campaign {found.name} with {counted(people, 'participant')} and {counted(answers, 'answer')}"


def _refuse_in_use(found: Campaign) -> None:
    """Refuse to delete what people may be answering."""
    if found.state not in DELETABLE:
        raise Conflict(f"A campaign is deleted when it is closed, or still a draft; {found.name} is {found.state}.")


def delete_campaign(database: Database, settings: Settings, name: str, *, who: str) -> Deleted:
    """Delete a campaign for good; the rows at once or not at all, then the files."""
    now = settings.clock()
    with database.write() as connection:
        found = locked(connection, find_campaign(connection, name))
        _refuse_in_use(found)
        people, answers = _count(connection, participant, found.id), _count(connection, answer, found.id)
        n_rows = _delete_rows(connection, found.id)
        details = {"campaign": found.name, "number": found.id, "participants": people, "answers": answers}
        log_event(connection, None, who=who, what="deleted", details=details, now=now)
    with database.one_moment() as connection:
        n_files = _sweep(connection, settings)
    return Deleted(found.name, found.kind, people, answers, n_rows, n_files, now)


def _count(connection: Connection, table: Table, campaign_id: int) -> int:
    """Rows of a campaign in a table."""
    query = select(func.count()).select_from(table).where(table.c.campaign_id == campaign_id)
    return int(connection.execute(query).scalar_one())


def _delete_rows(connection: Connection, campaign_id: int) -> int:
    """Rows that name others before those that they name; the number of them."""
    receipts = (event.c.campaign_id == campaign_id) & (event.c.what == "erased")
    connection.execute(update(event).where(receipts).values(campaign_id=None))
    gone = 0
    for table in reversed(metadata.sorted_tables):
        whose = _of_campaign(table, campaign_id)
        if whose is not None:
            gone += connection.execute(delete(table).where(whose)).rowcount
    clips = select(item.c.clip_sha256).where(item.c.clip_sha256.is_not(None))
    return gone + connection.execute(delete(sound).where(sound.c.clip_sha256.not_in(clips))).rowcount


def _of_campaign(table: Table, campaign_id: int) -> ColumnElement[bool] | None:
    """Which rows of a table are a campaign's; None where a table is about none."""
    if table is campaign:
        return campaign.c.id == campaign_id
    if table is listed:
        return listed.c.pair_id.in_(select(pair.c.id).where(pair.c.campaign_id == campaign_id))
    return table.c.campaign_id == campaign_id if "campaign_id" in table.c else None


def _sweep(connection: Connection, settings: Settings) -> int:
    """Remove files that nothing names; how many.

    A file is there before a row names it: while there are other campaigns, what came within the hour stays.
    """
    rows = connection.execute(select(item)).mappings().all()
    needed = {path for row in rows for path, _ in kept_files(settings, row)}
    others = connection.execute(select(campaign.c.id).limit(1)).first() is not None
    before = time.time() - (_FRESH if others else 0)
    idle = [path for path in _files(settings.media) if path not in needed and path.stat().st_mtime <= before]
    for path in idle:
        path.unlink(missing_ok=True)
    return len(idle)


def _files(media: Path) -> list[Path]:
    return sorted(path for path in media.glob("*/*") if path.is_file())
