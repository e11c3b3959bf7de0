"""``adjudge campaign list``, ``show``, ``open``, ``pause``, ``close`` and ``delete``: where campaigns stand."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from adjudge.cli.campaign.store import WHO, add_store, opened
from adjudge.cli.options import Subparsers
from adjudge.cli.output import show as show_text
from adjudge.errors import AdjudgeError

if TYPE_CHECKING:
    from adjudge.web.campaign_rows import Campaign
    from adjudge.web.campaigns import Overview


_STATES = {
    "open": ("open", "let people answer; needs something to hear, read or see for all that is asked about"),
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
    _add_delete(commands)


def _add_delete(commands: Subparsers) -> None:  # type: ignore[type-arg]
    parser = commands.add_parser(
        "delete",
        help="remove a campaign for good",
        description="Remove a draft or a closed campaign with its people, answers and files, and print what went. "
        "Files that were exported before and backups are yours to delete.",
    )
    parser.add_argument("name", metavar="NAME", help="name of the campaign")
    parser.add_argument("--yes", action="store_true", help="really; without it nothing is deleted")
    add_store(parser)
    parser.set_defaults(run=delete)


def list_all(arguments: argparse.Namespace) -> None:
    """A row for each campaign."""
    with opened(arguments) as store, store.database.read() as connection:
        from adjudge.tables import as_json, as_rich
        from adjudge.web.campaigns import list_campaigns, overview
        from adjudge.web.exporting import iso

        rows = []
        for found in list_campaigns(connection):
            counts = overview(connection, found)
            rows.append(
                {
                    "name": found.name,
                    "kind": found.kind,
                    "state": found.state,
                    "systems": counts.systems,
                    "candidates": counts.pairs if found.kind == "judging" else 0,
                    "questions": counts.pairs if found.kind == "preference" else 0,
                    "queries": counts.queries,
                    "judged": counts.judged,
                    "participants": counts.participants,
                    "created": iso(found.created_at)[:16].replace("T", " "),
                }
            )
    if arguments.json:
        show_text(arguments, as_json({"campaigns": rows}))
    elif rows:
        show_text(arguments, as_rich(rows))
    else:
        print("There are no campaigns yet; see 'adjudge campaign create --help'.")


def show(arguments: argparse.Namespace) -> None:
    """Everything about one."""
    with opened(arguments) as store, store.database.read() as connection:
        from adjudge.tables import as_json
        from adjudge.web.campaign_rows import find_campaign
        from adjudge.web.campaigns import overview
        from adjudge.web.exporting import iso
        from adjudge.web.holdings import missing_items

        found = find_campaign(connection, arguments.name)
        counts = overview(connection, found)
        is_filled = counts.systems if found.kind == "judging" else counts.pairs
        missing = missing_items(connection, found) if is_filled and found.state == "draft" else []
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
        **_LINES[found.kind](found, counts),
        "answers": f"{counts.answers:,} by {counts.participants:,} participants",
        **({"missing": f"{len(missing):,} documents have nothing to hear, read or see yet"} if missing else {}),
    }
    width = max(map(len, lines))
    show_text(arguments, "".join(f"{name:<{width}}  {value}\n" for name, value in lines.items()))


def _judging_lines(found: Campaign, counts: Overview) -> dict[str, object]:
    """What a judging campaign asks."""
    goal = found.judging.goal
    return {
        "measure": f"{found.judging.measure} on {found.judging.evaluated.name}",
        "scales": ", ".join(scale.name for scale in found.judging.scales),
        "goal": goal.kind if goal.kind == "everything" else str(goal.goal),
        "judged by": f"{found.settings.judged_by} ({found.judging.agreement_share:.0%} of pairs)",
        **({"estimated": f"{found.judging.estimator}, by sound as well"} if found.judging.by_sound else {}),
        "systems": counts.systems,
        "candidates": f"{counts.pairs:,}, {counts.judged:,} judged",
    }


def _preference_lines(found: Campaign, counts: Overview) -> dict[str, object]:
    """What a preference campaign asks, of whom and for how much."""
    settings, pay = found.preference, found.preference.pay
    parts = ((pay.per_answer, "an answer"), (pay.per_participant, "a participant"),
             (pay.per_screened_out, "a screened-out participant"))  # fmt: skip
    paid = " + ".join(f"{amount:g} {pay.currency} {what}" for amount, what in parts if amount)
    return {
        "questions": f"{counts.pairs:,}, {counts.judged:,} answered",
        "asked of": f"{settings.judged_by} each, at most {settings.per_participant} a participant",
        "traps": f"{counts.traps:,}; {settings.quiz} in the quiz, then {settings.trap_share:.0%} of questions",
        "batches": "one" if settings.batch_size is None else f"of {settings.batch_size:,}",
        "recruiter": settings.recruiter.kind,
        "pay": f"{paid}{f', fee {pay.fee_share:.0%}' if pay.fee_share else ''}" if paid else "nothing",
    }


def _ranking_lines(found: Campaign, counts: Overview) -> dict[str, object]:
    """What a ranking campaign asks."""
    settings = found.ranking
    least = "all" if settings.rank_all else f"at least {settings.least_ranked}"
    return {
        "queries": f"{counts.pairs:,}, {counts.judged:,} answered",
        "asked of": f"{settings.judged_by} each",
        "ranked": f"{least}, {'ties' if settings.ties else 'no ties'}",
        "kept": f"{settings.kept_hours:g} hours after the last change",
    }


_LINES = {"judging": _judging_lines, "preference": _preference_lines, "ranking": _ranking_lines}


def change(arguments: argparse.Namespace) -> None:
    """Open, pause or close."""
    with opened(arguments) as store:
        from adjudge.web.campaign_rows import find_campaign
        from adjudge.web.campaigns import set_state

        with store.database.write() as connection:
            found = find_campaign(connection, arguments.name)
            after = set_state(connection, found, arguments.state, who=WHO, now=store.now)
    print(f"The campaign {after.name} is {after.state}.")


def delete(arguments: argparse.Namespace) -> None:
    """Delete for good, and print what went; without --yes say what would go."""
    with opened(arguments) as store:
        from adjudge.tables import as_json
        from adjudge.web.campaign_rows import find_campaign
        from adjudge.web.deleting import delete_campaign, what_would_go

        if not arguments.yes:
            with store.database.read() as connection:
                going = what_would_go(connection, find_campaign(connection, arguments.name))
            raise AdjudgeError(f"{going} would be gone for good; to delete them, say --yes.")
        gone = delete_campaign(store.database, store.settings, arguments.name, who=WHO)
    sys.stdout.write(as_json(asdict(gone)))
