"""Looking at a server's data with suspicion: whether everything is there, adds up, and is what was stored.

Nothing is repaired. Each thing that is wrong is one line.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from sqlalchemy import JSON, Connection, distinct, exists, func, select, text

from adjudge.errors import AdjudgeError
from adjudge.web.answering import answer_digest
from adjudge.web.campaign_rows import KINDS
from adjudge.web.campaigns import STATES
from adjudge.web.database import Database
from adjudge.web.media import digest_of, kept_files
from adjudge.web.pair_counts import GRADED
from adjudge.web.preference_verifying import preference_checks
from adjudge.web.ranking_verifying import ranking_checks
from adjudge.web.schema import answer, campaign, invitation, item, lease, metadata, pair, participant, run
from adjudge.web.settings import Settings

_MOST = 20
"""So many lines are said of one kind of fault; the rest is counted."""


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
            *preference_checks(connection),
            *ranking_checks(connection),
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
    for row in connection.execute(select(campaign)).mappings():
        if row["state"] not in STATES:
            yield f"{row['name']}: expected a state among {', '.join(STATES)}, got {row['state']!r}"
        try:
            KINDS[row["kind"]](row["settings"])
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
    """Whether pairs say how often they are taken and answered; people who were set aside do not count."""
    people = (
        select(answer.c.pair_id, func.count(distinct(answer.c.participant_id)))
        .join(participant, participant.c.id == answer.c.participant_id)
        .where(answer.c.kind.in_(GRADED), participant.c.set_aside_at.is_(None))
    )
    answered: dict[int, int] = {row[0]: row[1] for row in connection.execute(people.group_by(answer.c.pair_id))}
    in_force = select(lease.c.pair_id, func.count()).where(lease.c.ended_at.is_(None), lease.c.slot.is_not(None))
    leased: dict[int, int] = {row[0]: row[1] for row in connection.execute(in_force.group_by(lease.c.pair_id))}
    columns = (pair.c.id, pair.c.query, pair.c.document, pair.c.taken, pair.c.answered, campaign.c.name)
    for row in connection.execute(select(*columns).join(campaign, campaign.c.id == pair.c.campaign_id)):
        counted = answered.get(row.id, 0), answered.get(row.id, 0) + leased.get(row.id, 0)
        if (row.answered, row.taken) != counted:
            yield (
                f"{row.name}: document {row.document!r} of query {row.query!r} is counted as answered {row.answered} "
                f"and taken {row.taken} times; it is {counted[0]} and {counted[1]}"
            )


def _digests(connection: Connection) -> Iterator[str]:
    """Whether answers are what was stored."""
    for row in connection.execute(select(answer), execution_options={"yield_per": 1000}).mappings():
        if answer_digest(dict(row)) != row["sha256"]:
            yield f"answer {row['id']}: is not what was stored (its digest is another)"


def _corrections(connection: Connection) -> Iterator[str]:
    """Whether corrections correct the first answer of the same person about the same pair, and come after it."""
    first = answer.alias("first")
    own = [answer.c.id, answer.c.kind, answer.c.pair_id, answer.c.participant_id, answer.c.corrects]
    theirs = [first.c.id.label("first_id"), first.c.kind.label("first_kind"), first.c.pair_id.label("first_pair"),
              first.c.participant_id.label("first_participant")]  # fmt: skip
    query = select(*own, *theirs).select_from(answer.outerjoin(first, first.c.id == answer.c.corrects))
    for row in connection.execute(query.where((answer.c.corrects.is_not(None)) | (answer.c.kind == "correction"))):
        same = (row.pair_id, row.participant_id) == (row.first_pair, row.first_participant)
        is_first = row.first_kind in ("judgment", "repeat", "import")
        if row.kind != "correction" or row.corrects is None or not same or not is_first or row.first_id >= row.id:
            yield f"answer {row.id}: does not correct the first answer of the same person about the same pair"


def _leases(connection: Connection) -> Iterator[str]:
    """Whether somebody holds what somebody else holds, or one person answered one pair twice."""
    held = select(lease.c.pair_id, lease.c.slot, func.count()).where(
        lease.c.ended_at.is_(None), lease.c.slot.is_not(None)
    )
    for row in connection.execute(held.group_by(lease.c.pair_id, lease.c.slot).having(func.count() > 1)):
        yield f"pair {row[0]}: place {row[1]} is on lease {row[2]} times at once"
    once = answer.c.kind.in_((*GRADED, "trap"))
    twice = select(answer.c.pair_id, answer.c.participant_id, func.count()).where(once)
    for row in connection.execute(twice.group_by(answer.c.pair_id, answer.c.participant_id).having(func.count() > 1)):
        yield f"pair {row[0]}: participant {row[1]} answered it {row[2]} times"
    ended = select(lease.c.id, lease.c.ended_how).where(lease.c.ended_how.in_(("answered", "skipped")))
    # A correction ends the lease by which a ranking was reopened, and no other.
    own = (answer.c.lease_id == lease.c.id) & ((answer.c.kind == "correction") == (lease.c.kind == "correction"))
    for name, how in connection.execute(ended.where(~exists().where(own))):
        yield f"lease {name}: is marked as {how}, and there is no answer"


def _runs(connection: Connection) -> Iterator[str]:
    """Whether rankings are what was stored."""
    for row in connection.execute(select(run), execution_options={"yield_per": 10}).mappings():
        if hashlib.sha256(row["rankings"]).hexdigest() != row["sha256"]:
            yield f"run {row['system']!r}: is not what was stored (its digest is another)"


def _media(connection: Connection, settings: Settings) -> Iterator[str]:
    """Whether every file is there and is what its name says."""
    documents: dict[tuple[Any, str], list[str]] = defaultdict(list)
    for row in connection.execute(select(item)).mappings():
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
        if connection.execute(select(invitation.c.id).limit(1)).first() is not None:
            yield f"secret: is not there; {lost}"
        return
    try:
        good = len(bytes.fromhex(path.read_text(encoding="ascii"))) == 32
    except (OSError, ValueError):
        good = False
    if not good:
        yield f"secret: expected 64 hexadecimal digits; {lost}"
