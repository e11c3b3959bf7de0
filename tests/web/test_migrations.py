"""The tables that migrations make are those of the schema, on both databases."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import inspect, text

from adjudge.web.database import Database, StorageError, open_database
from adjudge.web.schema import metadata
from adjudge.web.settings import Settings


def test_migrations_make_the_tables_of_the_schema(database: Database) -> None:
    database.migrate()
    with database.read() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
        made = {index["name"] for index in inspect(connection).get_indexes("lease")}
    assert "uq_lease_in_force" in made  # what keeps two people from one question


def test_a_database_of_a_later_version_is_refused(database: Database) -> None:
    with database.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StorageError, match="another version of Adjudge"):
        database.migrate()


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
