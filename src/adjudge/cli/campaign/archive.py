"""``adjudge campaign backup``, ``restore`` and ``verify``: so that nothing is lost, and one knows."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from adjudge.cli.campaign.store import add_store, opened, settings_of
from adjudge.cli.options import Subparsers
from adjudge.cli.output import say
from adjudge.errors import AdjudgeError


def add(commands: Subparsers) -> None:  # type: ignore[type-arg]
    """Declare the commands."""
    out = commands.add_parser(
        "backup",
        help="everything in one file",
        description="All campaigns, people, answers, media and the secret in one tar, of one moment; people may go on "
        "judging meanwhile. Keep it safe: whoever has it has everything.",
    )
    out.add_argument("file", metavar="FILE.tar", help="file to write")
    back = commands.add_parser(
        "restore",
        help="a backup into an empty place",
        description="Put a backup into a new data folder and, with --database, an empty database of either kind.",
    )
    back.add_argument("file", metavar="FILE.tar", help="backup to read")
    check = commands.add_parser(
        "verify",
        help="check that everything is there and adds up",
        description="Look at everything that is stored; what is wrong is said in lines, and the exit code is 1.",
    )
    check.add_argument("--json", action="store_true", help="as JSON")
    for parser, run in ((out, backup), (back, restore), (check, verify)):
        add_store(parser)
        parser.set_defaults(run=run)


def backup(arguments: argparse.Namespace) -> None:
    """Write the file."""
    with opened(arguments) as store:
        from adjudge.web.archiving import backup as archive

        found = archive(store.database, store.settings, Path(arguments.file), now=store.now)
    print(f"Wrote {arguments.file}: {found.rows:,} rows, {found.files:,} files.")
    if found.missing:
        say([f"{len(found.missing):,} files of media are not there, first {found.missing[0]}; see 'verify'"])


def restore(arguments: argparse.Namespace) -> None:
    """Read the file, and only then put things in place."""
    settings = settings_of(arguments)
    if arguments.data is None:
        raise AdjudgeError("Expected a new folder to restore into: --data DIR")
    from adjudge.web.archiving import restore as put_back

    found = put_back(Path(arguments.file), settings)
    print(f"Restored {found.rows:,} rows and {found.files:,} files into {settings.data}.")


def verify(arguments: argparse.Namespace) -> None:
    """Say what is wrong; exit code 1 where something is."""
    with opened(arguments) as store:
        from adjudge.tables import as_json
        from adjudge.web.verifying import verify as look

        wrong = look(store.database, store.settings)
    if arguments.json:
        sys.stdout.write(as_json({"good": not wrong, "problems": wrong}))
    else:
        print("\n".join(wrong) if wrong else "Everything is there and adds up.")
    if wrong:
        sys.stdout.flush()
        sys.exit(1)
