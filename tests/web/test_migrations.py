"""The tables that migrations make are those of the schema, on both databases, and nothing gets lost on the way."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Column, MetaData, Table, inspect, select, text
from sqlalchemy.exc import IntegrityError
from tests.conftest import missing
from tests.web.judging_rows import Desk

from adjudge.web.kinds.verify import verify
from adjudge.web.settings import Settings
from adjudge.web.store.database import Database, _alembic_configuration, open_database
from adjudge.web.store.schema import metadata


def test_migrations_make_the_tables_of_the_schema(database: Database) -> None:
    database.migrate()
    with database.read() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
        made = {index["name"] for index in inspect(connection).get_indexes("lease")}
    assert "uq_lease_in_force" in made  # what keeps two people from one question


def test_migrating_again_changes_nothing(database: Database) -> None:
    with database.write() as connection:
        connection.execute(
            metadata.tables["organiser"].insert().values(login="ann", password="x", is_admin=True, created_at=0.0)
        )
    database.migrate()
    with database.read() as connection:
        assert connection.execute(text("SELECT login FROM organiser")).scalars().all() == ["ann"]


def test_the_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    open_database(Settings(tmp_path / "data")).close()
    assert stat.S_IMODE((tmp_path / "data" / "adjudge.sqlite3").stat().st_mode) == 0o600


@pytest.fixture
def older(tmp_path: Path, backend: str, request: pytest.FixtureRequest) -> Iterator[Database]:
    """A database of the first revision, empty."""
    if backend == "sqlite":
        opened = Database(f"sqlite:///{tmp_path / 'older.sqlite3'}")
        yield opened
        opened.close()
        return
    postgres = request.getfixturevalue("_postgres")
    if isinstance(postgres, str):
        missing(postgres)
    name = f"older_{tmp_path.name[-20:].replace('-', '_').lower()}"
    postgres.statement(f"CREATE DATABASE {name}")
    opened = Database(postgres.url(name))
    yield opened
    opened.close()
    postgres.drop(name)


def migrate_to(database: Database, revision: str) -> None:
    configuration = _alembic_configuration()
    with database.engine.connect() as connection, connection.begin():
        configuration.attributes["connection"] = connection
        command.upgrade(configuration, revision)


def fill(desk: Desk) -> None:
    """Answers with and without a lease, a correction, and a question in somebody's hands."""
    pairs = list(desk.pairs)
    who = {code: desk.person(code) for code in ("ann", "bob")}
    answered = [desk.answer(code, pairs[place], 40 + place) for code, place in (("ann", 0), ("bob", 1))]
    desk.correct("ann", pairs[0], answered[0], 60)
    values = {"campaign_id": desk.campaign.id, "kind": "judgment", "slot": 0, "number": 0, "issued_at": 1.0}
    with desk.database.write() as connection:
        for name, code, place, how in (("l1", "ann", 0, "released"), ("l2", "bob", 2, None)):
            held = {**values, "id": name, "pair_id": desk.pairs[pairs[place]].id, "participant_id": who[code]}
            held |= {"expires_at": 9e9, "ended_at": None if how is None else 2.0, "ended_how": how}
            connection.execute(metadata.tables["lease"].insert().values(**held))
        taken = metadata.tables["pair"].update().where(metadata.tables["pair"].c.document == pairs[2][1])
        connection.execute(taken.where(metadata.tables["pair"].c.query == pairs[2][0]).values(taken=1))


def rows_of(database: Database, names: Mapping[str, Sequence[str]]) -> dict[str, list[dict[str, Any]]]:
    """All rows, of some columns of each table."""
    with database.read() as connection:
        return {
            name: [
                dict(row)
                for row in connection.execute(
                    select(*(metadata.tables[name].c[column] for column in columns)).order_by(
                        *metadata.tables[name].primary_key
                    )
                ).mappings()
            ]
            for name, columns in names.items()
        }


def test_a_campaign_of_the_first_revision_is_all_there_afterwards(
    database: Database, settings: Settings, older: Database, small_campaign: Callable[..., Any]
) -> None:
    fill(Desk(database, small_campaign("songs", judged_by=2).name))
    assert verify(database, settings) == []
    migrate_to(older, "0001")
    with older.read() as connection:
        known = {name: [column["name"] for column in inspect(connection).get_columns(name)] for name in
                 inspect(connection).get_table_names() if name != "alembic_version"}  # fmt: skip
    assert "listed" not in known
    assert "role" not in known["pair"]
    before = rows_of(database, known)
    assert all(before[name] for name in ("campaign", "run", "item", "pair", "queue", "participant", "lease", "answer"))
    with older.write() as connection:
        for table in (table for table in metadata.sorted_tables if before.get(table.name)):
            old = Table(table.name, MetaData(), *(Column(name, table.c[name].type) for name in known[table.name]))
            connection.execute(old.insert(), before[table.name])
    older.migrate()
    assert rows_of(older, known) == before
    with older.read() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
        roles = connection.execute(select(metadata.tables["pair"].c.role).distinct()).scalars().all()
        keys = {key["referred_table"] for key in inspect(connection).get_foreign_keys("answer")}
        assert {"campaign", "pair", "participant", "lease", "answer"} == keys
    assert roles == ["candidate"]
    assert verify(older, settings) == []
    with pytest.raises(IntegrityError), older.write() as connection:  # what is named must still be there
        connection.execute(text("DELETE FROM pair"))
