"""Verifying a server's data: whether everything is there, adds up, and is what was stored.

Nothing is repaired. Each problem is one line.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from sqlalchemy import JSON, Connection, distinct, exists, func, select, text

from adjudge.errors import AdjudgeError
from adjudge.web.kinds.base import KINDS
from adjudge.web.settings import Settings
from adjudge.web.store import schema as t
from adjudge.web.store.answers import answer_digest
from adjudge.web.store.campaigns import SETTINGS, STATES
from adjudge.web.store.database import Database
from adjudge.web.store.leases import GRADED
from adjudge.web.store.media import digest_of, kept_files
from adjudge.web.store.schema import metadata

_MOST = 20
"""Lines shown per kind of fault at most; the rest is counted."""


def verify(database: Database, settings: Settings) -> list[str]:
    """What is wrong, in lines; nothing where all is well."""
    found: list[str] = []
    with database.one_moment() as connection:
        unreadable = list(_unreadable(connection, database))
        if unreadable:
            return [*unreadable, "database: the rest cannot be checked before these can be read"]
        checks = (
            _database(connection, database),
            _references(connection),
            _campaigns(connection),
            _counters(connection),
            _digests(connection),
            _corrections(connection),
            _leases(connection),
            _roles(connection),
            *(check for kind in KINDS.values() for check in kind.find_problems(connection)),
            _runs(connection),
            _media(connection, settings),
            _secret(connection, settings),
        )
        for check in checks:
            lines = list(check)
            found += lines[:_MOST]
            if len(lines) > _MOST:
                found.append(f"… and {len(lines) - _MOST:,} more of this kind")
    return found


def _database(connection: Connection, database: Database) -> Iterator[str]:
    """Whether the file of SQLite is sound; PostgreSQL looks after its own."""
    if database.is_sqlite:
        for line in connection.execute(text("PRAGMA integrity_check")).scalars():
            if line != "ok":
                yield f"database: {line}"


def _unreadable(connection: Connection, database: Database) -> Iterator[str]:
    """Values that are no JSON where they should be; PostgreSQL takes none."""
    for column in [column for table in metadata.sorted_tables for column in table.columns]:
        if database.is_sqlite and isinstance(column.type, JSON):
            broken = select(func.count()).where(column.is_not(None), func.json_valid(column) == 0)
            number = connection.execute(broken).scalar_one()
            if number:
                yield f"{column.table.name}: {number:,} rows cannot be read ({column.name})"


def _campaigns(connection: Connection) -> Iterator[str]:
    """Whether what organisers decided is something that can be decided."""
    for row in connection.execute(select(t.campaign)).mappings():
        if row["state"] not in STATES:
            yield f"{row['name']}: expected a state among {', '.join(STATES)}, got {row['state']!r}"
        try:
            SETTINGS[row["kind"]].parse(row["settings"])
        except AdjudgeError as error:
            yield f"{row['name']}: its settings cannot be used: {error}"


def _references(connection: Connection) -> Iterator[str]:
    """Rows that name rows which are not there."""
    for table in metadata.sorted_tables:
        for key in table.foreign_keys:
            column, target = key.parent, key.column
            other = target.table.alias("other")
            lost = (
                select(func.count())
                .select_from(table.outerjoin(other, column == other.c[target.name]))
                .where(column.is_not(None), other.c[target.name].is_(None))
            )
            number = connection.execute(lost).scalar_one()
            if number:
                yield f"{table.name}: {number:,} rows name a {target.table.name} that is not there ({column.name})"


def _counters(connection: Connection) -> Iterator[str]:
    """Whether pairs say how often they are taken and answered; excluded people do not count."""
    people = (
        select(t.answer.c.pair_id, func.count(distinct(t.answer.c.participant_id)))
        .join(t.participant, t.participant.c.id == t.answer.c.participant_id)
        .where(t.answer.c.kind.in_(GRADED), t.participant.c.set_aside_at.is_(None))
    )
    answered: dict[int, int] = {row[0]: row[1] for row in connection.execute(people.group_by(t.answer.c.pair_id))}
    in_force = select(t.lease.c.pair_id, func.count()).where(t.lease.c.ended_at.is_(None), t.lease.c.slot.is_not(None))
    leased: dict[int, int] = {row[0]: row[1] for row in connection.execute(in_force.group_by(t.lease.c.pair_id))}
    columns = (t.pair.c.id, t.pair.c.query, t.pair.c.document, t.pair.c.taken, t.pair.c.answered, t.campaign.c.name)
    for row in connection.execute(select(*columns).join(t.campaign, t.campaign.c.id == t.pair.c.campaign_id)):
        counted = answered.get(row.id, 0), answered.get(row.id, 0) + leased.get(row.id, 0)
        if (row.answered, row.taken) != counted:
            yield (
                f"{row.name}: document {row.document!r} of query {row.query!r} is counted as answered {row.answered} "
                f"and taken {row.taken} times; it is {counted[0]} and {counted[1]}"
            )


def _digests(connection: Connection) -> Iterator[str]:
    """Whether answers are what was stored."""
    for row in connection.execute(select(t.answer), execution_options={"yield_per": 1000}).mappings():
        if answer_digest(dict(row)) != row["sha256"]:
            yield f"answer {row['id']}: is not what was stored (its digest is another)"


def _corrections(connection: Connection) -> Iterator[str]:
    """Whether corrections correct the first answer of the same person about the same pair, and come after it."""
    first = t.answer.alias("first")
    own = [t.answer.c.id, t.answer.c.kind, t.answer.c.pair_id, t.answer.c.participant_id, t.answer.c.corrects]
    theirs = [first.c.id.label("first_id"), first.c.kind.label("first_kind"), first.c.pair_id.label("first_pair"),
              first.c.participant_id.label("first_participant")]  # fmt: skip
    query = select(*own, *theirs).select_from(t.answer.outerjoin(first, first.c.id == t.answer.c.corrects))
    for row in connection.execute(query.where((t.answer.c.corrects.is_not(None)) | (t.answer.c.kind == "correction"))):
        same = (row.pair_id, row.participant_id) == (row.first_pair, row.first_participant)
        is_first = row.first_kind in ("judgment", "repeat", "import")
        if row.kind != "correction" or row.corrects is None or not same or not is_first or row.first_id >= row.id:
            yield f"answer {row.id}: does not correct the first answer of the same person about the same pair"


def _leases(connection: Connection) -> Iterator[str]:
    """Whether somebody holds what somebody else holds, or one person answered one pair twice."""
    held = select(t.lease.c.pair_id, t.lease.c.slot, func.count()).where(
        t.lease.c.ended_at.is_(None), t.lease.c.slot.is_not(None)
    )
    for row in connection.execute(held.group_by(t.lease.c.pair_id, t.lease.c.slot).having(func.count() > 1)):
        yield f"pair {row[0]}: place {row[1]} is on lease {row[2]} times at once"
    once = t.answer.c.kind.in_((*GRADED, "trap"))
    twice = select(t.answer.c.pair_id, t.answer.c.participant_id, func.count()).where(once)
    for row in connection.execute(
        twice.group_by(t.answer.c.pair_id, t.answer.c.participant_id).having(func.count() > 1)
    ):
        yield f"pair {row[0]}: participant {row[1]} answered it {row[2]} times"
    ended = select(t.lease.c.id, t.lease.c.ended_how).where(t.lease.c.ended_how.in_(("answered", "skipped")))
    # A correction ends the lease by which a ranking was reopened, and no other.
    own = (t.answer.c.lease_id == t.lease.c.id) & (
        (t.answer.c.kind == "correction") == (t.lease.c.kind == "correction")
    )
    for name, how in connection.execute(ended.where(~exists().where(own))):
        yield f"lease {name}: is marked as {how}, and there is no answer"


def _roles(connection: Connection) -> Iterator[str]:
    """Whether what is asked about belongs to the kind of its campaign, and is leased as that kind leases it."""
    leased_as = {(kind.name, role): leased for kind in KINDS.values() for role, leased in kind.roles.items()}
    asked = select(t.pair.c.id, t.pair.c.role, t.pair.c.document, t.campaign.c.name, t.campaign.c.kind)
    for row in connection.execute(asked.join(t.campaign, t.campaign.c.id == t.pair.c.campaign_id)):
        if (row.kind, row.role) not in leased_as:
            yield f"{row.name}: {row.role} {row.document!r} does not belong into a {row.kind} campaign"
    columns = (t.lease.c.id, t.lease.c.kind, t.lease.c.slot, t.pair.c.role, t.campaign.c.kind.label("campaign"))
    leases = select(*columns).join(t.pair, t.pair.c.id == t.lease.c.pair_id)
    for row in connection.execute(leases.join(t.campaign, t.campaign.c.id == t.pair.c.campaign_id)):
        if row.kind not in leased_as.get((row.campaign, row.role), (row.kind,)):
            yield f"lease {row.id}: a {row.role} is leased as {row.kind}"
        if row.kind != "judgment" and row.slot is not None:
            yield f"lease {row.id}: a {row.kind} takes the place of an answer"


def _runs(connection: Connection) -> Iterator[str]:
    """Whether rankings are what was stored."""
    for row in connection.execute(select(t.run), execution_options={"yield_per": 10}).mappings():
        if hashlib.sha256(row["rankings"]).hexdigest() != row["sha256"]:
            yield f"run {row['system']!r}: is not what was stored (its digest is another)"


def _media(connection: Connection, settings: Settings) -> Iterator[str]:
    """Whether every file is there and is what its name says."""
    documents: dict[tuple[Any, str], list[str]] = defaultdict(list)
    for row in connection.execute(select(t.item)).mappings():
        for path, digest in kept_files(settings, row):
            documents[path, digest].append(row["identifier"])
    for (path, digest), names in documents.items():
        if not path.is_file():
            yield f"{path.name}: is not there; it is of document {names[0]!r}"
        elif digest_of(path) != digest:
            yield f"{path.name}: is damaged; it is of document {names[0]!r}"


def _secret(connection: Connection, settings: Settings) -> Iterator[str]:
    """Whether links that were given out can still be read; before the first one there need not be a secret."""
    path, lost = settings.data / "secret", "invitations that were given out will not work"
    if not path.is_file():
        if connection.execute(select(t.invitation.c.id).limit(1)).first() is not None:
            yield f"secret: is not there; {lost}"
        return
    try:
        good = len(bytes.fromhex(path.read_text(encoding="ascii"))) == 32
    except (OSError, ValueError):
        good = False
    if not good:
        yield f"secret: expected 64 hexadecimal digits; {lost}"
