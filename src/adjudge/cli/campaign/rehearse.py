"""``adjudge campaign rehearse``: simulated assessors judge a copy of a campaign, before real ones do."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.checks import COUNT, SEED, WORKERS
from adjudge.cli.campaign.store import add_store, opened
from adjudge.cli.options import Subparsers, add_columns, add_output
from adjudge.cli.output import check_output, command_line, progress, say, show_report, with_inputs
from adjudge.cli.serve import need_server
from adjudge.errors import AdjudgeError

if TYPE_CHECKING:
    from adjudge.arrays import Floats
    from adjudge.model.collection import Collection
    from adjudge.model.judgments import Judgments
    from adjudge.relevance.candidates import Candidates
    from adjudge.web.hearing import Heard
    from adjudge.web.judging_settings import JudgingSettings
    from adjudge.web.rehearsal import Plan


_EXAMPLES = """examples:
  adjudge campaign rehearse --demo --assessors 5
  adjudge campaign rehearse similarity --data /srv/adjudge --assessors 8 --noise 0.15 --drop-out 0.02
  adjudge campaign rehearse incipits --assessors 15 --noise 0.2 --laziness 0.1
  adjudge campaign rehearse similarity --judgments last-year.csv --scale fine --repeats 10 --json
"""


def add(commands: Subparsers) -> None:  # type: ignore[type-arg]
    """Declare the command."""
    parser = commands.add_parser(
        "rehearse",
        help="forecast judgments, hours and the chance of a right ranking",
        description="Simulated assessors judge a copy of a campaign through a real server, several times over. "
        "Without judgments the truth is drawn from what the engine believes. In a ranking campaign they are experts, "
        "who rank its documents; the laziness is then the share of experts who rank without a look.",
        epilog=_EXAMPLES,
    )
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
    add_output(parser, page="markdown")
    parser.set_defaults(run=run)


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


def run(arguments: argparse.Namespace) -> None:
    """Copy, simulate, forecast, show."""
    need_server()
    from adjudge.web.forecast import forecast, forecast_section, trial_records
    from adjudge.web.rehearsal import Plan, candidates_for, rehearse
    from adjudge.web.simulated import Behaviour

    check_output(arguments, forms=("text", "json", "csv", "markdown", "html"))
    if (arguments.name is None) == (not arguments.demo):
        raise AdjudgeError("Expected the name of a campaign, or --demo.")
    names = ("noise", "severity", "laziness", "drop_out", "comes_back", "pace")
    behaviour = Behaviour(**{name: getattr(arguments, name) for name in names})
    plan = Plan(arguments.assessors, behaviour, arguments.repeats, arguments.seed)
    if not arguments.demo and _is_ranking(arguments):
        _rehearse_rankings(arguments, plan)
        return
    collection, campaign, known, heard = _demo() if arguments.demo else _campaign(arguments)
    if campaign.by_sound and not heard.clips:
        say(["the campaign has no clips to hear yet, so that it is rehearsed without sound"])
    pool = candidates_for(collection, campaign)
    truths, about = _truths(arguments, collection, campaign, pool, known)
    with progress("rehearsing") as advance:
        keep = None if arguments.keep is None else Path(arguments.keep)
        trials = rehearse(
            collection, campaign, plan, truths=truths, heard=heard, keep=keep, progress=advance,
            workers=arguments.workers,
        )  # fmt: skip
    found = forecast(trials, assessors=plan.assessors)
    provenance = collection.provenance.with_settings(command=command_line(), seed=arguments.seed)
    inputs = with_inputs(provenance, [arguments.judgments] if arguments.judgments else []).to_dict()
    records = trial_records(trials)
    values: dict[str, Any] = {"forecast": found.to_dict(), "repetitions": records, "provenance": inputs}
    show_report(
        arguments,
        (forecast_section(found, about=about),),
        title=f"Rehearsal of {arguments.name or 'the demo'}, {campaign.measure}, {campaign.goal.goal}",
        provenance=inputs,
        values=values,
        records=records,
    )
    if arguments.keep is not None:
        say([f"kept the first repetition: adjudge serve --data {arguments.keep}"])


def _is_ranking(arguments: argparse.Namespace) -> bool:
    from adjudge.web.campaign_rows import find_campaign

    with opened(arguments) as store, store.database.read() as connection:
        return find_campaign(connection, arguments.name).kind == "ranking"


def _rehearse_rankings(arguments: argparse.Namespace, plan: Plan) -> None:
    """Simulated experts rank a copy of a ranking campaign."""
    from dataclasses import asdict

    from adjudge.model.provenance import Provenance
    from adjudge.web.campaign_rows import find_campaign
    from adjudge.web.ranking_holdings import candidates_of
    from adjudge.web.ranking_rehearsal import ranking_forecast_section, rehearse_rankings

    if arguments.keep is not None:
        raise AdjudgeError("--keep is for campaigns in which documents are judged; experts who rank leave no data")
    if arguments.judgments is not None:
        raise AdjudgeError("Expected no judgments for a ranking campaign: its true lists are drawn.")
    with opened(arguments) as store, store.database.read() as connection:
        found = find_campaign(connection, arguments.name)
        candidates = candidates_of(connection, found.id)
    with progress("rehearsing") as advance:
        trials = rehearse_rankings(candidates, found.ranking, plan, progress=advance)
    provenance = Provenance().with_settings(command=command_line(), seed=arguments.seed).to_dict()
    records = [asdict(one) for one in trials]
    show_report(
        arguments,
        (ranking_forecast_section(trials),),
        title=f"Rehearsal of {arguments.name}, {plan.assessors} experts",
        provenance=provenance,
        values={"repetitions": records, "provenance": provenance},
        records=records,
    )


def _demo() -> tuple[Collection, JudgingSettings, dict[tuple[str, str], float], Heard]:
    """The demo and its judgments."""
    from adjudge.embedded import demo
    from adjudge.web.hearing import Heard
    from adjudge.web.judging_settings import settings_from

    return demo(queries=10, depth=5), settings_from({"title": "The demo", "measure": "CG@5"}), {}, Heard()


def _campaign(
    arguments: argparse.Namespace,
) -> tuple[Collection, JudgingSettings, dict[tuple[str, str], float], Heard]:
    """Runs and settings of a stored campaign, what is judged already, as mean grades, and what its clips sound like."""
    from adjudge.parallel import count_workers
    from adjudge.web.answers import current_grades
    from adjudge.web.campaign_rows import find_campaign
    from adjudge.web.hearing import all_heard, hear
    from adjudge.web.holdings import collection_of
    from adjudge.web.learning import pair_grades

    with opened(arguments) as store:
        with store.database.read() as connection:
            found = find_campaign(connection, arguments.name)
        with progress("hearing clips") as advance:
            hear(store.database, store.settings, found.id, workers=count_workers(None), progress=advance)
        with store.database.read() as connection:
            grades = current_grades(connection, found.id)
            known = pair_grades(grades, found.judging.evaluated.name, binary=False)
            return collection_of(connection, found), found.judging, known, all_heard(connection, found)


def _truths(
    arguments: argparse.Namespace,
    collection: Collection,
    campaign: JudgingSettings,
    pool: Candidates,
    known: dict[tuple[str, str], float],
) -> tuple[list[Floats], str]:
    """What is true in each repetition, and a sentence about it."""
    from adjudge.web.rehearsal import drawn_truths, judged_truth

    if arguments.judgments is not None or arguments.demo:
        judgments = collection.need_judgments() if arguments.judgments is None else _judgments(arguments, campaign)
        truth = judged_truth(pool, judgments)
        unjudged = int((truth == 0).sum())
        return [truth], f"The truth is what the judgments say of {len(pool):,} candidates ({unjudged:,} of them at 0)."
    truths = drawn_truths(pool.judged_as(known), campaign.measure, n=arguments.repeats, seed=arguments.seed)
    after = f"after {len(known):,} judgments" if known else "before any judgment"
    return truths, f"The truth is drawn from what the engine believes {after}, anew in each repetition."


def _judgments(arguments: argparse.Namespace, campaign: JudgingSettings) -> Judgments:
    from adjudge.formats.reading import read_judgments

    return read_judgments(
        arguments.judgments, scale=arguments.scale or campaign.evaluated.scale, columns=arguments.columns
    )
