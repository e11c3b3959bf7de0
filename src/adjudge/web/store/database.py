"""Transactions on SQLite and PostgreSQL, said once.

Reading and writing are different things. A writing transaction on SQLite takes the write lock at its start, and writers
of one process queue up for it in turn instead of polling the file; on PostgreSQL rows are locked where they matter. A
commit that returned is on the disk: SQLite in WAL mode with ``synchronous=FULL``, PostgreSQL with its defaults.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, create_engine, event, text
from sqlalchemy.engine import Engine, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError, SQLAlchemyError

from adjudge.errors import AdjudgeError
from adjudge.web.settings import Settings, new_file

BUSY_MS = 10_000
BUSY = "The database is busy, or locked by another program; nothing was stored. Try again in a moment."
_MIGRATION_LOCK = 7_263_817_002  # any number that nobody else locks in this database


class StorageError(AdjudgeError):
    """The database cannot be used at the moment; nothing was stored. Trying again later may help."""


class Database:
    """A connection pool with ways to read and a way to write."""

    def __init__(self, url: str) -> None:
        try:
            parsed = make_url(url)
        except ArgumentError:
            raise AdjudgeError(f"Expected the URL of a database, got {url!r}") from None
        self.is_sqlite = parsed.get_backend_name() == "sqlite"
        self._turn = threading.Lock()
        if self.is_sqlite and parsed.database:
            _own_file(Path(parsed.database))
        options: dict[str, Any] = {"hide_parameters": True}  # what people wrote is not for the server's log
        options |= {} if self.is_sqlite else {"pool_pre_ping": True}
        self.engine: Engine = create_engine(parsed, pool_size=20, max_overflow=40, pool_timeout=30, **options)
        if self.is_sqlite:
            _tune_sqlite(self.engine)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection for looking; on PostgreSQL each look sees what is there by then."""
        with _translated(), self.engine.connect() as connection:
            yield connection

    @contextmanager
    def one_moment(self) -> Iterator[Connection]:
        """A connection that sees the database as it is at its first look, whatever is written meanwhile."""
        with self.read() as connection:
            if self.is_sqlite:  # a transaction in WAL mode is just that
                yield connection
            else:
                yield connection.execution_options(isolation_level="REPEATABLE READ")

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction: everything in it is stored when it ends, or nothing."""
        if not self.is_sqlite:
            with _translated(), self.engine.begin() as connection:
                yield connection
            return
        if not self._turn.acquire(timeout=BUSY_MS / 1000):
            raise StorageError(BUSY)
        try:
            with _translated(), self.engine.connect() as connection:
                connection = connection.execution_options(adjudge_writes=True)  # noqa: PLW2901
                with connection.begin():
                    yield connection
        finally:
            self._turn.release()

    def migrate(self) -> None:
        """Bring the tables up to this version of Adjudge; refuse those of a newer one."""
        from alembic import command
        from alembic.migration import MigrationContext
        from alembic.script import ScriptDirectory

        configuration = _alembic_configuration()
        with _translated(), self.engine.connect() as connection, self._rebuilding(connection), connection.begin():
            if not self.is_sqlite:  # several servers may start at once
                connection.execute(text(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})"))
            revision = MigrationContext.configure(connection).get_current_revision()
            known = {script.revision for script in ScriptDirectory.from_config(configuration).walk_revisions()}
            if revision is not None and revision not in known:
                raise StorageError(
                    f"The database was made by a newer version of Adjudge (revision {revision}); nothing was changed. "
                    "Update Adjudge to open it."
                )
            configuration.attributes["connection"] = connection
            command.upgrade(configuration, "head")
            if self.is_sqlite and connection.execute(text("PRAGMA foreign_key_check")).first() is not None:
                raise StorageError("The tables cannot be brought up to date: rows name others that are not there.")

    @contextmanager
    def _rebuilding(self, connection: Connection) -> Iterator[None]:
        """Let SQLite replace tables that others name, as most changes to a table take; it can be told so only here.

        Inside a transaction the switch does nothing, and dropping the old table would count as removing its rows.
        """
        if not self.is_sqlite:
            yield
            return
        plain = connection.connection.cursor()
        plain.execute("PRAGMA foreign_keys = OFF")
        try:
            yield
        finally:
            plain.execute("PRAGMA foreign_keys = ON")
            plain.close()

    def close(self) -> None:
        """Give every connection back."""
        self.engine.dispose()


def open_database(settings: Settings) -> Database:
    """The database of these settings, brought up to date."""
    database = Database(settings.url)
    try:
        database.migrate()
    except BaseException:
        database.close()
        raise
    return database


def _own_file(path: Path) -> None:
    """A new file that only the server's user can read: it will hold names and digests of passwords."""
    handle = new_file(path)
    if handle is not None:
        os.close(handle)


def _tune_sqlite(engine: Engine) -> None:
    """Write-ahead log, commits that last, foreign keys; and transactions that we begin ourselves."""

    @event.listens_for(engine, "connect")
    def _prepare(connection: Any, record: Any) -> None:
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute("PRAGMA synchronous = FULL")
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.execute("PRAGMA secure_delete = ON")  # who was erased must not be found in the file either
        cursor.close()

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("adjudge_writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _alembic_configuration() -> Any:
    from alembic.config import Config

    configuration = Config()
    configuration.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return configuration


@contextmanager
def _translated() -> Iterator[None]:
    """Say in a sentence what keeps the database from working; what is a fault of ours passes through."""
    try:
        yield
    except OperationalError as error:
        raise StorageError(_sentence(str(error.orig))) from error
    except DBAPIError as error:
        if not error.connection_invalidated and "disk" not in str(error.orig):
            raise
        raise StorageError(_sentence(str(error.orig))) from error
    except SQLAlchemyError as error:
        if "QueuePool limit" not in str(error):
            raise
        raise StorageError("The server is busy; nothing was stored. Try again in a moment.") from error


def _sentence(reason: str) -> str:
    plain = " ".join(reason.split())
    if "disk is full" in plain or "No space left" in plain or "disk I/O" in plain:
        return "The disk of the server is full or failing; nothing was stored. Tell the organiser, then try again."
    if "locked" in plain or "busy" in plain:
        return BUSY
    if "readonly" in plain:
        return "The database cannot be written to; nothing was stored. Tell the organiser."
    return f"The database cannot be reached; nothing was stored ({plain[:200]})."
