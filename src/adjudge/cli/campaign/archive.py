"""``adjudge campaign backup``, ``restore`` and ``verify``: so that nothing is lost, and one knows."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from adjudge.cli.campaign.store import add_store, opened, settings_of
from adjudge.cli.command import command
from adjudge.cli.output import say
from adjudge.errors import AdjudgeError


def _add_target(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE.tar", help="file to write")


def _add_backup(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE.tar", help="backup to read")


def _add_form(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="as JSON")


@command(_add_target, add_store)
def backup(arguments: argparse.Namespace) -> None:
    """Write all campaigns, people, answers, media and the secret into one tar, of one moment.

    People may go on judging meanwhile. Keep it safe: whoever has it has everything.
    """
    with opened(arguments) as store:
        from adjudge.web.store.archive import backup as archive

        found = archive(store.database, store.settings, Path(arguments.file), now=store.now)
    print(f"Wrote {arguments.file}: {found.rows:,} rows, {found.files:,} files.")
    if found.missing:
        say([f"{len(found.missing):,} files of media are not there, first {found.missing[0]}; see 'verify'"])


@command(_add_backup, add_store)
def restore(arguments: argparse.Namespace) -> None:
    """Put a backup into a new data folder and, with --database, an empty database of either kind."""
    settings = settings_of(arguments)
    if arguments.data is None:
        raise AdjudgeError("Expected a new folder to restore into: --data DIR")
    from adjudge.web.store.archive import restore as put_back

    found = put_back(Path(arguments.file), settings)
    print(f"Restored {found.rows:,} rows and {found.files:,} files into {settings.data}.")


@command(_add_form, add_store)
def verify(arguments: argparse.Namespace) -> None:
    """Look at everything that is stored; what is wrong is said in lines, and the exit code is 1."""
    with opened(arguments) as store:
        from adjudge.tables import as_json
        from adjudge.web.kinds.verify import verify as look

        wrong = look(store.database, store.settings)
    if arguments.json:
        sys.stdout.write(as_json({"good": not wrong, "problems": wrong}))
    else:
        print("\n".join(wrong) if wrong else "Everything is there and adds up.")
    if wrong:
        sys.stdout.flush()
        sys.exit(1)
