"""What a server needs to know before it starts; the application is a function of these."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from adjudge.errors import AdjudgeError, InputError, reason, shown

MEGABYTE = 1024 * 1024


@dataclass(frozen=True)
class Settings:
    """Where things are kept, where the server is reached, and its limits.

    ``data`` holds the database (unless ``database`` is the URL of another one), the audio and the server's secret.
    ``address`` is how people reach the server; with ``https`` cookies are sent over encrypted connections only. Leases
    last ``lease_seconds`` after the last sign of life. ``clock`` gives seconds since 1970, so that tests can turn it.
    ``proxies`` are addresses of reverse proxies whose word about a client's address is taken.
    """

    data: Path
    database: str | None = None
    address: str = "http://127.0.0.1:8000"
    lease_seconds: float = 180.0
    max_file: int = 200 * MEGABYTE
    max_upload: int = 1024 * MEGABYTE
    max_json: int = MEGABYTE
    logins_per_minute: int = 10
    estimate: bool = True
    refresh_seconds: float = 0.5
    proxies: tuple[str, ...] = ()
    clock: Callable[[], float] = field(default=time.time, compare=False)

    @property
    def url(self) -> str:
        """The database: SQLite in the data folder unless another URL is given."""
        if self.database is None:
            return f"sqlite:///{(self.data / 'adjudge.sqlite3').resolve()}"
        for short in ("postgresql://", "postgres://"):
            if self.database.startswith(short):
                return "postgresql+psycopg://" + self.database.removeprefix(short)
        if not self.database.startswith(("sqlite:///", "postgresql+psycopg://")):
            raise AdjudgeError(
                f"Expected a database as sqlite:///FILE or postgresql://USER@HOST/NAME, got {shown(self.database)}"
            )
        return self.database

    @property
    def encrypted(self) -> bool:
        """Whether people reach the server over https."""
        return self.address.startswith("https://")

    @property
    def media(self) -> Path:
        """Where clips and originals are kept."""
        return self.data / "media"

    @property
    def address_file(self) -> Path:
        """Where the server leaves its address, for commands that print links to it."""
        return self.data / "address"

    @cached_property
    def secret(self) -> bytes:
        """What links and forms are signed with: made at the first start, readable by the server's user only."""
        path = self.data / "secret"
        handle = new_file(path)
        if handle is None:
            return _complete_secret(path)
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_hex(32))
            file.flush()
            os.fsync(file.fileno())
        return _complete_secret(path)


def new_file(path: Path) -> int | None:
    """A new file, open to be written, that only the server's user can read; None where there is one already."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return None
    except OSError as error:
        raise InputError(f"cannot be made: {reason(error)}", source=str(path)) from None


def _complete_secret(path: Path) -> bytes:
    """The secret of a folder; another process may be writing it this very moment."""
    for _ in range(50):
        try:
            text = path.read_text(encoding="ascii")
        except OSError as error:
            raise InputError(f"cannot be read: {reason(error)}", source=str(path)) from None
        if len(text) == 64:
            return bytes.fromhex(text)
        time.sleep(0.02)
    raise AdjudgeError(f"{path}: expected the server's secret, got {len(text)} characters; restore it from a backup")
