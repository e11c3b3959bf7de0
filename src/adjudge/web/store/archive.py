"""A server in one file, and back: tables as lines of JSON, media, the secret, and a list of digests.

The tables are read in one transaction, so that a backup is of one moment, also while people answer. Lines of JSON are
the same for SQLite and PostgreSQL: what was backed up from one can be restored into the other. Files of media are named
by their content and never change, so those that the tables name are there whenever they are copied.

A backup appears when it is whole. A restore checks every digest before it puts anything in place, and goes only where
nothing is yet.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import re
import shutil
import tarfile
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Connection, LargeBinary, Table, func, insert, inspect, select, text

from adjudge._version import __version__
from adjudge.errors import AdjudgeError, InputError, reason, shown
from adjudge.web.settings import Settings
from adjudge.web.store import schema as t
from adjudge.web.store.database import Database, open_database
from adjudge.web.store.media import kept_files
from adjudge.web.store.schema import metadata

FORMAT = 1
MANIFEST = "manifest.json"
_MEMBER = re.compile(
    r"secret|tables/[a-z_]+\.jsonl|media/originals/[0-9a-f]{64}(\.[a-z0-9]{1,5})?|media/clips/[0-9a-f]{64}\.mp3"
    r"|media/drawings/[0-9a-f]{64}\.json"
)
_BLOCK = 1 << 20
_ROWS = 500


@dataclass(frozen=True)
class ArchiveSummary:
    """What a backup holds: rows of all tables, files of media, and files that should be there and are not."""

    rows: int
    files: int
    missing: tuple[str, ...] = ()


def backup(database: Database, settings: Settings, target: Path, *, now: float) -> ArchiveSummary:
    """Write everything into one tar; an older file of the name stays until the new one is whole."""
    folder = target.resolve().parent
    if target.is_dir() or not folder.is_dir():
        raise InputError("expected a file in an existing directory", source=str(target))
    try:
        with tempfile.TemporaryDirectory(dir=folder, prefix=".backup-") as working:
            archive = Path(working) / "backup.tar"
            found = _write(database, settings, archive, Path(working), now=now)
            with archive.open("rb") as file:
                os.fsync(file.fileno())
            os.chmod(archive, 0o600)  # the secret is in it, and so is what people said
            os.replace(archive, target)
    except OSError as error:
        raise InputError(f"cannot be written: {reason(error)}", source=str(target)) from None
    return found


def _write(database: Database, settings: Settings, archive: Path, working: Path, *, now: float) -> ArchiveSummary:
    """The tar itself, with the list of its members at its end."""
    members: dict[str, dict[str, Any]] = {}
    counts: dict[str, int] = {}
    with tarfile.open(archive, "w", format=tarfile.PAX_FORMAT) as tar, database.one_moment() as connection:
        revision, numbers = _revision(connection), _last_numbers(connection, database)
        for table in metadata.sorted_tables:
            path = working / "table.jsonl"
            counts[table.name] = _dump(connection, table, path)
            members[f"tables/{table.name}.jsonl"] = _add(tar, path, f"tables/{table.name}.jsonl", now=now)
        media, missing = _media(connection, settings)
    secret = working / "secret"
    secret.write_text(settings.secret.hex(), encoding="ascii")
    with tarfile.open(archive, "a", format=tarfile.PAX_FORMAT) as tar:
        members["secret"] = _add(tar, secret, "secret", now=now)
        for name, path in media.items():
            members[name] = _add(tar, path, name, now=now)
        manifest = {
            "adjudge": __version__,
            "format": FORMAT,
            "made_at": now,
            "revision": revision,
            "numbers": numbers,
            "rows": counts,
            "members": members,
        }
        _add_bytes(tar, json.dumps(manifest, indent=1).encode(), MANIFEST, now=now)
    return ArchiveSummary(sum(counts.values()), len(media), tuple(missing))


def _dump(connection: Connection, table: Table, path: Path) -> int:
    """A table as lines of JSON, in the order of its key; the number of lines."""
    keys = list(table.primary_key.columns)
    rows = connection.execute(select(table).order_by(*keys), execution_options={"yield_per": _ROWS}).mappings()
    number = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            number += 1
            values = {column.name: _to_json(column, row[column.name]) for column in table.columns}
            file.write(json.dumps(values, ensure_ascii=False) + "\n")
    return number


def _to_json(column: Column[Any], value: Any) -> Any:
    is_binary = isinstance(column.type, LargeBinary) and value is not None
    return base64.b64encode(value).decode("ascii") if is_binary else value


def _from_json(column: Column[Any], value: Any) -> Any:
    return base64.b64decode(value) if isinstance(column.type, LargeBinary) and value is not None else value


def _revision(connection: Connection) -> str | None:
    """The version of the tables; None where they were made without migrations."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one_or_none()
    return None if found is None else str(found)


def _last_numbers(connection: Connection, database: Database) -> dict[str, int]:
    """The last number that each table gave out, so that one of a removed answer never comes again."""
    numbers: dict[str, int] = {}
    for table in _numbered():
        last = connection.execute(select(func.max(table.c.id))).scalar_one() or 0
        if not database.is_sqlite:
            name = f"pg_get_serial_sequence('{table.name}', 'id')"
            given = connection.execute(text(f"SELECT pg_sequence_last_value({name}::regclass)")).scalar_one()
            last = max(last, given or 0)
        elif table.dialect_options["sqlite"]["autoincrement"]:
            query = text("SELECT seq FROM sqlite_sequence WHERE name = :name")
            last = max(last, connection.execute(query, {"name": table.name}).scalar_one_or_none() or 0)
        numbers[table.name] = int(last)
    return numbers


def _numbered() -> list[Table]:
    """Tables whose rows the database numbers."""
    return [table for table in metadata.sorted_tables if "id" in table.c and table.name != "lease"]


def _media(connection: Connection, settings: Settings) -> tuple[dict[str, Path], list[str]]:
    """Files that the tables name by their place in the tar, and those that are not there."""
    found: dict[str, Path] = {}
    missing: set[str] = set()
    for row in connection.execute(select(t.item)).mappings():
        for path, _ in kept_files(settings, row):
            name = f"media/{path.relative_to(settings.media).as_posix()}"
            if path.is_file():
                found[name] = path
            else:
                missing.add(name)
    return dict(sorted(found.items())), sorted(missing)


def _add(tar: tarfile.TarFile, path: Path, name: str, *, now: float) -> dict[str, Any]:
    """A file into the tar; its digest and size, taken from what was really written."""
    with path.open("rb") as file:
        counted = _DigestedFile(file)
        info = _info(name, os.fstat(file.fileno()).st_size, now=now)
        tar.addfile(info, counted)
    return {"sha256": counted.digest.hexdigest(), "bytes": info.size}


def _add_bytes(tar: tarfile.TarFile, data: bytes, name: str, *, now: float) -> None:
    tar.addfile(_info(name, len(data), now=now), io.BytesIO(data))


def _info(name: str, size: int, *, now: float) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size, info.mtime, info.mode = size, int(now), 0o600
    return info


class _DigestedFile:
    """A file that takes the digest of what is read from it."""

    def __init__(self, file: Any) -> None:
        self.file = file
        self.digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        """Some bytes."""
        data: bytes = self.file.read(size)
        self.digest.update(data)
        return data


def restore(archive: Path, settings: Settings) -> ArchiveSummary:
    """Put a backup in place: into a data folder and a database that are empty."""
    manifest = check_archive(archive)
    _refuse_occupied(settings)
    was_there = settings.data.exists()
    try:
        return _put_in_place(archive, settings, manifest)
    except BaseException:
        with suppress(OSError):
            for path in [] if not was_there else list(settings.data.iterdir()):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            if not was_there:
                shutil.rmtree(settings.data, ignore_errors=True)
        raise


def check_archive(archive: Path) -> dict[str, Any]:
    """The list of a backup's members, every one of which was read and is what it was; refused otherwise."""
    source = str(archive)
    found: dict[str, str] = {}
    manifest: dict[str, Any] | None = None
    try:
        with tarfile.open(archive, "r:") as tar:
            for member in tar:
                file = tar.extractfile(member) if member.isreg() else None
                if file is None or not (member.name == MANIFEST or _MEMBER.fullmatch(member.name)):
                    raise InputError(f"expected a backup, got one with {shown(member.name)}", source=source)
                if member.name == MANIFEST:
                    manifest = json.loads(file.read())
                else:
                    found[member.name] = _digest(file)
    except FileNotFoundError:
        raise InputError("expected a backup, got no file", source=source) from None
    except (OSError, tarfile.TarError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"expected a backup, got something else or a part ({shown(error)})", source=source) from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise InputError("expected a whole backup of this version of Adjudge, got another or a part", source=source)
    wanted = {name: about["sha256"] for name, about in manifest["members"].items()}
    wrong = sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))
    if wrong:
        raise InputError(f"{len(wrong)} members are missing or damaged, first {wrong[0]}", source=source)
    return manifest


def _digest(file: Any) -> str:
    digest = hashlib.sha256()
    while block := file.read(_BLOCK):
        digest.update(block)
    return digest.hexdigest()


def _refuse_occupied(settings: Settings) -> None:
    """Refuse a folder or a database that holds something."""
    if settings.data.exists() and (not settings.data.is_dir() or any(settings.data.iterdir())):
        raise InputError("expected an empty or a new folder to restore into", source=str(settings.data))
    if settings.database is None:
        return
    database = Database(settings.url)
    try:
        with database.read() as connection:
            there = set(inspect(connection).get_table_names())
            for table in metadata.sorted_tables:
                if table.name in there and connection.execute(select(table).limit(1)).first() is not None:
                    raise AdjudgeError(f"Expected an empty database to restore into, got rows in {table.name}.")
    finally:
        database.close()


def _put_in_place(archive: Path, settings: Settings, manifest: dict[str, Any]) -> ArchiveSummary:
    settings.data.mkdir(parents=True, exist_ok=True)
    database = open_database(settings)
    try:
        with database.write() as connection:
            ours = _revision(connection)
            if manifest["revision"] not in (None, ours):
                raise AdjudgeError(
                    f"The backup is of another version of the tables ({manifest['revision']}, here {ours}); "
                    f"restore it with Adjudge {manifest['adjudge']}."
                )
            files = _extract(archive, settings, connection)
            _go_on_numbering(connection, database, manifest["numbers"])
    finally:
        database.close()
    return ArchiveSummary(sum(manifest["rows"].values()), files)


def _extract(archive: Path, settings: Settings, connection: Connection) -> int:
    """Rows into the database, files into the folder; the number of media files. Tables are in order in the tar."""
    tables = {f"tables/{table.name}.jsonl": table for table in metadata.sorted_tables}
    files = 0
    with tarfile.open(archive, "r:") as tar:
        for member in tar:
            file = tar.extractfile(member)
            if file is None or member.name == MANIFEST:
                continue
            if member.name.startswith("tables/"):
                if member.name not in tables:
                    raise AdjudgeError(f"The backup has a table that is unknown here: {member.name}")
                _load(connection, tables[member.name], file)
                continue
            target = settings.data / member.name
            target.parent.mkdir(parents=True, exist_ok=True)
            with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as copy:
                shutil.copyfileobj(file, copy, _BLOCK)
                copy.flush()
                os.fsync(copy.fileno())
            if member.name != "secret":
                os.chmod(target, 0o644)
                files += 1
    return files


def _load(connection: Connection, table: Table, file: Any) -> None:
    """Lines of JSON into a table, some at a time."""
    rows: list[dict[str, Any]] = []
    for line in io.TextIOWrapper(file, encoding="utf-8", newline="\n"):
        values = json.loads(line)
        rows.append({column.name: _from_json(column, values[column.name]) for column in table.columns})
        if len(rows) == _ROWS:
            connection.execute(insert(table), rows)
            rows = []
    if rows:
        connection.execute(insert(table), rows)


def _go_on_numbering(connection: Connection, database: Database, numbers: dict[str, int]) -> None:
    """Go on after the last number that was given out."""
    for table in _numbered():
        last = numbers.get(table.name, 0)
        if not last:
            continue
        if not database.is_sqlite:
            query = text(f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), :last)")
            connection.execute(query, {"last": last})
        elif table.dialect_options["sqlite"]["autoincrement"]:
            name = {"name": table.name, "last": last}
            connection.execute(text("DELETE FROM sqlite_sequence WHERE name = :name"), {"name": table.name})
            connection.execute(text("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :last)"), name)
