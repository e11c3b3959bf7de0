"""``adjudge campaign rehearse``: simulated assessors judge a copy of a campaign, before real ones do."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from adjudge.checks import COUNT, SEED, WORKERS
from adjudge.cli.campaign.store import add_store, opened
from adjudge.cli.command import command
from adjudge.cli.options import add_columns, add_listing
from adjudge.cli.output import check_output, command_line, progress, say, show_report, with_inputs
from adjudge.cli.serve import need_server
from adjudge.errors import AdjudgeError

if TYPE_CHECKING:
    from adjudge.web.rehearse import Plan, Rehearsal

_EXAMPLES = """examples:
  adjudge campaign rehearse --demo --assessors 5
  adjudge campaign rehearse similarity --data /srv/adjudge --assessors 8 --noise 0.15 --drop-out 0.02
  adjudge campaign rehearse incipits --assessors 15 --noise 0.2 --laziness 0.1
  adjudge campaign rehearse similarity --judgments last-year.csv --scale fine --repeats 10 --json
"""


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="the campaign, a draft or any other")
    parser.add_argument("--demo", action="store_true", help="the embedded demo instead, against its own judgments")
    add_store(parser)
    _add_people(parser)
    group = parser.add_argument_group("rehearsing")
    group.add_argument("--judgments", metavar="FILE", help="the truth (default: drawn from the model)")
    add_columns(group)
    group.add_argument("--scale", help="scale of these judgments (default: the one that the campaign evaluates on)")
    group.add_argument("--repeats", type=COUNT, default=5, help="repetitions")
    group.add_argument("--keep", metavar="DIR", help="keep the first repetition as data of a server, to look at it")
    group.add_argument("--seed", type=SEED, default=0, help="of everything random")
    group.add_argument("--workers", type=WORKERS, help="servers at once (default: half of the cores)")


def _add_people(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("assessors")
    for name, default, metavar, about in (
        ("--noise", 0.1, "SD", "of an answer, in parts of the scale"),
        ("--severity", 0.05, "SD", "between assessors, in parts of the scale"),
        ("--laziness", 0.0, "P", "share of answers given without a thought"),
        ("--drop-out", 0.0, "P", "chance of leaving after an answer"),
        ("--comes-back", 0.5, "P", "chance that who left returns"),
        ("--pace", 30.0, "S", "seconds an answer takes, or a document to rank"),
    ):
        group.add_argument(name, type=float, default=default, metavar=metavar, help=about)
    group.add_argument("--assessors", type=COUNT, default=5, help="how many")


@command(_add_options, add_listing, examples=_EXAMPLES)
def run(arguments: argparse.Namespace) -> None:
    """Let simulated assessors judge a copy of a campaign through a real server, several times over.

    Without judgments the truth is drawn from what the engine believes. In a ranking campaign they are experts, who rank
    its documents; the laziness is then the share of experts who rank without a look.
    """
    need_server()
    from adjudge.web.rehearse import Behaviour, Plan

    check_output(arguments, forms=("text", "json", "csv", "markdown", "html"))
    if (arguments.name is None) == (not arguments.demo):
        raise AdjudgeError("Expected the name of a campaign, or --demo.")
    names = ("noise", "severity", "laziness", "drop_out", "comes_back", "pace")
    behaviour = Behaviour(**{name: getattr(arguments, name) for name in names})
    rehearsal = _rehearse(arguments, Plan(arguments.assessors, behaviour, arguments.repeats, arguments.seed))
    provenance = rehearsal.provenance.with_settings(command=command_line(), seed=arguments.seed)
    inputs = with_inputs(provenance, [arguments.judgments] if arguments.judgments else []).to_dict()
    show_report(
        arguments,
        (rehearsal.section,),
        title=f"Rehearsal of {arguments.name or 'the demo'}, {rehearsal.about}",
        provenance=inputs,
        values={**rehearsal.values, "repetitions": rehearsal.records, "provenance": inputs},
        records=rehearsal.records,
    )
    say(rehearsal.notes)


def _rehearse(arguments: argparse.Namespace, plan: Plan) -> Rehearsal:
    """A rehearsal of the demo, or of the campaign that is named."""
    from adjudge.web.kinds.base import KINDS, kind_of

    if arguments.demo:
        kind = next(kind for kind in KINDS.values() if kind.rehearses_demo)
        return kind.rehearse_demo(plan, vars(arguments), progress=progress)
    with opened(arguments) as store:
        from adjudge.web.store.campaigns import find_campaign

        with store.database.read() as connection:
            campaign = find_campaign(connection, arguments.name)
        kind = kind_of(campaign)
        return kind.rehearse(store.database, store.settings, campaign, plan, vars(arguments), progress=progress)
