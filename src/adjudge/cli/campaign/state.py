"""``adjudge campaign list``, ``show``, ``open``, ``pause``, ``close`` and ``delete``: where campaigns stand."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from typing import Any

from adjudge.cli.campaign.store import WHO, add_campaign, add_store, opened
from adjudge.cli.command import command
from adjudge.cli.output import show as show_text
from adjudge.errors import AdjudgeError


def _add_form(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.set_defaults(output=None)


def _add_consent(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--yes", action="store_true", help="really; without it nothing is deleted")


@command(_add_form, add_store)
def list_all(arguments: argparse.Namespace) -> None:
    """All campaigns, the newest first."""
    with opened(arguments) as store, store.database.read() as connection:
        from adjudge.tables import as_json, as_rich
        from adjudge.web.kinds.base import kind_of
        from adjudge.web.kinds.exports import iso
        from adjudge.web.kinds.lifecycle import list_campaigns, overview

        listed = [(campaign, overview(connection, campaign)) for campaign in list_campaigns(connection)]
        own = [kind_of(campaign).count_for_list(counts) for campaign, counts in listed]
        none = {"candidates": 0, "questions": 0} | {name: 0 for counted in own for name in counted}
        rows = [
            {
                "name": campaign.name,
                "kind": campaign.kind,
                "state": campaign.state,
                "systems": counts.systems,
                **none,
                **counted,
                "queries": counts.queries,
                "judged": counts.judged,
                "participants": counts.participants,
                "created": iso(campaign.created_at)[:16].replace("T", " "),
            }
            for (campaign, counts), counted in zip(listed, own, strict=True)
        ]
    if arguments.json:
        show_text(arguments, as_json({"campaigns": rows}))
    elif rows:
        show_text(arguments, as_rich(rows))
    else:
        print("There are no campaigns yet; see 'adjudge campaign create --help'.")


@command(_add_form, add_campaign)
def show(arguments: argparse.Namespace) -> None:
    """Settings, state and numbers of a campaign."""
    with opened(arguments) as store, store.database.read() as connection:
        from adjudge.tables import as_json
        from adjudge.web.kinds.base import kind_of
        from adjudge.web.kinds.exports import iso
        from adjudge.web.kinds.lifecycle import overview
        from adjudge.web.store.campaigns import find_campaign

        found = find_campaign(connection, arguments.name)
        counts = overview(connection, found)
        kind = kind_of(found)
        is_filled = found.state == "draft" and kind.needed_items(connection, found) is not None
        missing = kind.missing_items(connection, found) if is_filled else []
    settings = found.settings.model_dump(mode="json")
    times = {
        name: None if (at := getattr(found, f"{name}_at")) is None else iso(at)
        for name in ("created", "opened", "reached", "closed")
    }
    if arguments.json:
        known: dict[str, Any] = {"name": found.name, "kind": found.kind, "state": found.state, **times}
        known["counts"] = asdict(counts)
        show_text(arguments, as_json({**known, "missing": missing, "settings": settings}))
        return
    lines = {
        "name": found.name,
        "title": found.settings.title,
        "kind": found.kind,
        "state": found.state,
        **{name: at for name, at in times.items() if at is not None},
        **kind.describe(found, counts),
        "answers": f"{counts.answers:,} by {counts.participants:,} participants",
        **({"missing": f"{len(missing):,} documents have nothing to hear, read or see yet"} if missing else {}),
    }
    width = max(map(len, lines))
    show_text(arguments, "".join(f"{name:<{width}}  {value}\n" for name, value in lines.items()))


def _change(arguments: argparse.Namespace, state: str) -> None:
    with opened(arguments) as store:
        from adjudge.web.kinds.lifecycle import set_state
        from adjudge.web.store.campaigns import find_campaign

        with store.database.write() as connection:
            found = find_campaign(connection, arguments.name)
            after = set_state(connection, found, state, who=WHO, now=store.now)
    print(f"The campaign {after.name} is {after.state}.")


@command(add_campaign)
def open_campaign(arguments: argparse.Namespace) -> None:
    """Let people answer; needs something to hear, read or see for all that is asked about."""
    _change(arguments, "open")


@command(add_campaign)
def pause(arguments: argparse.Namespace) -> None:
    """Hand out no more questions for now; answers to those given out still count."""
    _change(arguments, "paused")


@command(add_campaign)
def close(arguments: argparse.Namespace) -> None:
    """End judging; 'open' reopens."""
    _change(arguments, "closed")


@command(_add_consent, add_campaign)
def delete(arguments: argparse.Namespace) -> None:
    """Remove a draft or a closed campaign with its people, answers and files, and print what went.

    Files that were exported before and backups are yours to delete.
    """
    with opened(arguments) as store:
        from adjudge.tables import as_json
        from adjudge.web.store.campaigns import find_campaign
        from adjudge.web.store.erase import delete_campaign, what_would_go

        if not arguments.yes:
            with store.database.read() as connection:
                going = what_would_go(connection, find_campaign(connection, arguments.name))
            raise AdjudgeError(f"{going} would be gone for good; to delete them, say --yes.")
        gone = delete_campaign(store.database, store.settings, arguments.name, who=WHO)
    sys.stdout.write(as_json(asdict(gone)))
