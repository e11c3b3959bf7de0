"""A PostgreSQL of our own: Debian's binaries, a cluster in a temporary folder, reached by a socket in that folder.

Nothing of a PostgreSQL that the machine may run is touched. The server refuses to run as root, so root hands it to the
user ``postgres`` that Debian's package makes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TEMPLATE = "adjudge_template"


class NoPostgres(Exception):
    """There is none on this machine, or it does not start."""


def binaries() -> Path:
    """The folder of the newest PostgreSQL; refused in a sentence where there is none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    elsewhere = shutil.which("initdb")
    if not found and elsewhere is None:
        raise NoPostgres("PostgreSQL is not installed (Debian and Ubuntu: apt-get install postgresql)")
    return found[-1].parent if found else Path(str(elsewhere)).resolve().parent


class Cluster:
    """A running PostgreSQL; ``fresh`` gives the URL of a new database that has Adjudge's tables already."""

    def __init__(self, folder: Path, *, version: int) -> None:
        self.folder = folder
        self._made, self._can_choose = 0, version >= 15  # older ones copy files anyway

    def url(self, name: str) -> str:
        """The address of a database, as ``--database`` takes it."""
        return f"postgresql://postgres@/{name}?host={self.folder}"

    def statement(self, sql: str) -> None:
        """Run a statement outside of any transaction."""
        import psycopg

        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(sql.encode())

    def make_template(self) -> None:
        """Migrate once; every other database is a copy."""
        from adjudge.web.settings import Settings
        from adjudge.web.store.database import open_database

        self.statement(f"CREATE DATABASE {TEMPLATE}")
        open_database(Settings(data=self.folder, database=self.url(TEMPLATE))).close()

    def fresh(self) -> tuple[str, str]:
        """Name and URL of a new database: copied as files, which takes a third of the work of copying by the log."""
        self._made += 1
        name = f"adjudge_{self._made}"
        strategy = "STRATEGY FILE_COPY" if self._can_choose else ""
        self.statement(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE} {strategy}")
        return name, self.url(name)

    def drop(self, name: str) -> None:
        """Remove a database, whoever is still connected."""
        self.statement(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@contextmanager
def cluster(*, durable: bool = True) -> Iterator[Cluster]:
    """A cluster while it is needed; commits reach the disk (fsync), as they would in earnest, unless told otherwise.

    Only a machine that stops can tell the difference: whatever is killed on it, commits stay.
    """
    programs = binaries()
    folder = Path(tempfile.mkdtemp(prefix="adjudge-pg-"))
    data, log = folder / "data", folder / "log"
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
    try:
        _call(
            programs / "initdb", "-D", data, "-U", "postgres", "--auth=trust", "-E", "UTF8", "--no-locale", "--no-sync"
        )
        options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c max_connections=200 "
        options += "-c fsync=on" if durable else "-c fsync=off -c full_page_writes=off"
        _call(programs / "pg_ctl", "start", "-w", "-D", data, "-l", log, "-o", options)
        try:
            running = Cluster(folder, version=int((data / "PG_VERSION").read_text()))
            running.make_template()
            yield running
        finally:
            _call(programs / "pg_ctl", "stop", "-w", "-m", "immediate", "-D", data)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _call(*command: object) -> None:
    words = [str(word) for word in command]
    if os.geteuid() == 0:
        words = ["runuser", "-u", "postgres", "--", *words]
    done = subprocess.run(words, cwd="/", capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        raise NoPostgres(f"{Path(words[-1]).name}: {' '.join(done.stderr.split()) or ' '.join(done.stdout.split())}")
