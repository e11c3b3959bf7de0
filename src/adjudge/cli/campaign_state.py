"""``adjudge campaign list``, ``show``, ``open``, ``pause`` and ``close``: where campaigns stand."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from adjudge.cli.campaign_store import WHO, add_store, opened
from adjudge.cli.options import Subparsers
from adjudge.cli.output import show as show_text

_STATES = {
    "open": ("open", "let assessors judge; needs something to hear, read or see for every candidate"),
    "pause": ("paused", "hand out no more questions for now; answers to those given out still count"),
    "close": ("closed", "end judging; 'open' reopens"),
}


def add(commands: Subparsers) -> None:  # type: ignore[type-arg]
    """Declare the commands."""
    everything = commands.add_parser("list", help="all campaigns", description="All campaigns, the newest first.")
    one = commands.add_parser("show", help="one campaign", description="Settings, state and numbers of a campaign.")
    one.add_argument("name", metavar="NAME", help="name of the campaign")
    for parser, run in ((everything, list_all), (one, show)):
        parser.add_argument("--json", action="store_true", help="as JSON")
        add_store(parser)
        parser.set_defaults(run=run, output=None)
    for command, (state, about) in _STATES.items():
        parser = commands.add_parser(
            command, help=about.partition(";")[0], description=f"{about[:1].upper()}{about[1:]}."
        )
        parser.add_argument("name", metavar="NAME", help="name of the campaign")
        add_store(parser)
        parser.set_defaults(run=change, state=state)


def list_all(arguments: argparse.Namespace) -> None:
    """A row for each campaign."""
    with opened(arguments) as store, store.database.read() as connection:
        from adjudge.reports.tables import as_json, drawn
        from adjudge.web.campaigns import list_campaigns, overview
        from adjudge.web.exporting import iso

        rows = []
        for found in list_campaigns(connection):
            counts = overview(connection, found)
            rows.append(
                {
                    "name": found.name,
                    "state": found.state,
                    "systems": counts.systems,
                    "candidates": counts.pairs,
                    "judged": counts.judged,
                    "participants": counts.participants,
                    "created": iso(found.created_at)[:16].replace("T", " "),
                }
            )
    if arguments.json:
        show_text(arguments, as_json({"campaigns": rows}))
    elif rows:
        show_text(arguments, drawn(rows))
    else:
        print("There are no campaigns yet; see 'adjudge campaign create --help'.")


def show(arguments: argparse.Namespace) -> None:
    """Everything about one."""
    with opened(arguments) as store, store.database.read() as connection:
        from adjudge.reports.tables import as_json
        from adjudge.web.campaign_rows import find_campaign
        from adjudge.web.campaigns import overview
        from adjudge.web.exporting import iso
        from adjudge.web.holdings import missing_items

        found = find_campaign(connection, arguments.name)
        counts = overview(connection, found)
        missing = missing_items(connection, found) if counts.systems and found.state == "draft" else []
    settings = found.settings.model_dump(mode="json")
    times = {
        name: None if (at := getattr(found, f"{name}_at")) is None else iso(at)
        for name in ("created", "opened", "reached", "closed")
    }
    if arguments.json:
        known: dict[str, Any] = {"name": found.name, "state": found.state, **times, "counts": asdict(counts)}
        show_text(arguments, as_json({**known, "missing": missing, "settings": settings}))
        return
    goal = found.judging.goal
    lines = {
        "name": found.name,
        "title": found.settings.title,
        "state": found.state,
        **{name: at for name, at in times.items() if at is not None},
        "measure": f"{found.judging.measure} on {found.judging.evaluated.name}",
        "scales": ", ".join(scale.name for scale in found.judging.scales),
        "goal": goal.kind if goal.kind == "everything" else str(goal.goal),
        "judged by": f"{found.settings.judged_by} ({found.judging.agreement_share:.0%} of pairs)",
        "systems": counts.systems,
        "candidates": f"{counts.pairs:,}, {counts.judged:,} judged",
        "answers": f"{counts.answers:,} by {counts.participants:,} participants",
        **({"missing": f"{len(missing):,} documents have nothing to hear, read or see yet"} if missing else {}),
    }
    width = max(map(len, lines))
    show_text(arguments, "".join(f"{name:<{width}}  {value}\n" for name, value in lines.items()))


def change(arguments: argparse.Namespace) -> None:
    """Open, pause or close."""
    with opened(arguments) as store:
        from adjudge.web.campaign_rows import find_campaign
        from adjudge.web.campaigns import set_state

        with store.database.write() as connection:
            found = find_campaign(connection, arguments.name)
            after = set_state(connection, found, arguments.state, who=WHO, now=store.now)
    print(f"The campaign {after.name} is {after.state}.")
