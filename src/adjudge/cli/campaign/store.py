"""What the commands about campaigns share: where the data are, and how they are opened."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from adjudge.cli.output import say
from adjudge.errors import AdjudgeError, shown
from adjudge.extras import need

if TYPE_CHECKING:
    from adjudge.web.settings import Settings
    from adjudge.web.store.database import Database


DATA = "adjudge-data"
WHO = "command line"


class Store(NamedTuple):
    """Settings and database of the data that a command works on."""

    settings: Settings
    database: Database

    @property
    def now(self) -> float:
        """Seconds since 1970."""
        return self.settings.clock()


def add_store(parser: argparse.ArgumentParser) -> None:
    """Where the data are."""
    group = parser.add_argument_group("server")
    group.add_argument("--data", metavar="DIR", help=f"folder of the server's data (default: ADJUDGE_DATA, or {DATA})")
    group.add_argument(
        "--database", metavar="URL", help="database, where it is not in that folder (default: ADJUDGE_DATABASE)"
    )
    group.add_argument(
        "--address",
        metavar="URL",
        help="how people reach the server (default: ADJUDGE_ADDRESS, or where it listens, or listened last)",
    )


def add_campaign(parser: argparse.ArgumentParser) -> None:
    """Which campaign, and where the data are."""
    parser.add_argument("name", metavar="NAME", help="name of the campaign")
    add_store(parser)


def need_web() -> None:
    """Refuse in one line where packages of the web app are not installed."""
    need("web", "Campaigns need")


def settings_of(arguments: argparse.Namespace) -> Settings:
    """The settings that the options, or else the environment, describe."""
    need_web()
    from adjudge.web.settings import Settings

    given = {
        "database": arguments.database or os.environ.get("ADJUDGE_DATABASE"),
        "address": arguments.address or os.environ.get("ADJUDGE_ADDRESS"),
    }
    named: dict[str, Any] = {name: value for name, value in given.items() if value}
    if "address" in named and re.fullmatch(r"https?://[^/\s]+(/[^\s]*)?", named["address"]) is None:
        raise AdjudgeError(f"Expected an address as https://judge.example.org, got {shown(named['address'])}")
    settings = Settings(data=Path(arguments.data or os.environ.get("ADJUDGE_DATA") or DATA), **named)
    with suppress(OSError):  # no server has run on these data
        if "address" not in named:
            return replace(settings, address=settings.address_file.read_text(encoding="utf-8").strip())
    return settings


def say_address(settings: Settings) -> None:
    """Say where links lead if that is this machine alone; whoever made it so knows of ``--address``."""
    if not re.match(r"http://(127\.|\[::1\]|localhost\b)", settings.address):
        return
    say([f"links lead to {settings.address}, which only this machine reaches; for others give --address URL"])


@contextmanager
def opened(arguments: argparse.Namespace, *, new: bool = False) -> Iterator[Store]:
    """The data, brought up to date; refused where there are none and no ``new`` ones are to be made."""
    settings = settings_of(arguments)
    if not new and settings.database is None and not (settings.data / "adjudge.sqlite3").exists():
        raise AdjudgeError(f"{settings.data}: there are no campaigns here; name the folder with --data")
    from adjudge.web.store.database import open_database

    database = open_database(settings)
    try:
        yield Store(settings, database)
    finally:
        database.close()


def moment(text: str | None, *, now: float) -> float | None:
    """A time to come: a number of hours, days or weeks from now, or a date; at its end where no hour is given.

    >>> moment("2d", now=0.0), moment("1970-01-02T00:00", now=0.0), moment("1970-01-01", now=0.0)
    (172800.0, 86400.0, 86400.0)
    """
    if text is None:
        return None
    if match := re.fullmatch(r"(\d{1,4})\s*([hdw])", text.strip().lower()):
        return now + int(match[1]) * {"h": 3600.0, "d": 86400.0, "w": 7 * 86400.0}[match[2]]
    try:
        parsed = datetime.fromisoformat(text.strip())
    except ValueError:
        raise AdjudgeError(f"Expected a time such as 7d, 12h or 2030-05-31, got {shown(text)}") from None
    aware = parsed if parsed.tzinfo is not None else parsed.replace(tzinfo=UTC)
    return aware.timestamp() + (86400.0 if re.fullmatch(r"\d{4}-\d\d-\d\d", text.strip()) else 0.0)
