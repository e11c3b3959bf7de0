"""``adjudge simulate``: what low-cost judging would have cost on a judged collection."""

from __future__ import annotations

import argparse
from typing import Any

from adjudge.checks import COUNT, WORKERS
from adjudge.cli.judging.options import add_judging, check_names, goal_of, read_candidates
from adjudge.cli.options import Subparsers, add_collection, add_output
from adjudge.cli.output import check_output, command_line, progress, show_report

_EXAMPLES = """examples:
  adjudge simulate judgments.tsv runs.tsv --scale fine -m CG@5 --metadata metadata.tsv
  adjudge simulate qrels.txt runs/*.txt -m nDCG@10 --estimator uniform --estimator hierarchical --seeds 10 --at 0.1
"""


def add(commands: Subparsers) -> None:  # type: ignore[type-arg]
    """Declare the command."""
    parser = commands.add_parser(
        "simulate",
        help="what low-cost judging would have cost",
        description="Sessions on a judged collection, its judgments being the assessor: effort and accuracy.",
        epilog=_EXAMPLES,
    )
    add_collection(parser)
    add_judging(parser, several=True)
    add_simulating(parser)
    parser.add_argument("--seeds", type=COUNT, default=5, help="orders of ties to try")
    parser.add_argument(
        "--at", type=float, action="append", metavar="X", help="judgments, or a share of the candidates; repeatable"
    )
    add_output(parser, page="markdown")
    parser.add_argument("--figures", metavar="DIR", help="write every figure as SVG and PDF, too")
    parser.set_defaults(run=run)


def add_simulating(parser: argparse.ArgumentParser) -> None:
    """How to run many sessions."""
    parser.add_argument("--workers", type=WORKERS, help="processes (default: one a core)")


def run(arguments: argparse.Namespace) -> None:
    """Read, simulate every method with every seed, show."""
    from adjudge.relevance.report import simulation_records, simulation_section
    from adjudge.relevance.simulation import simulate_judging

    check_output(arguments, forms=("text", "json", "csv", "markdown", "latex", "html"))
    check_names(arguments)
    collection, measure, pool = read_candidates(arguments)
    goal = goal_of(arguments, measure, pool)
    with progress("simulating") as advance:
        runs = simulate_judging(
            pool, measure, goal=goal, seeds=arguments.seeds, progress=advance, **methods(arguments, "at")
        )
    provenance = collection.provenance.with_settings(command=command_line(), seed=arguments.seed).to_dict()
    records = simulation_records(runs)
    show_report(
        arguments,
        (simulation_section(runs, str(goal)),),
        title=f"Simulated judging, {measure}",
        provenance=provenance,
        values={"measure": measure, "goal": str(goal), "runs": records, "notes": pool.notes, "provenance": provenance},
        records=records,
        notes=pool.notes,
    )


def methods(arguments: argparse.Namespace, marks: str) -> dict[str, Any]:
    """Estimators, rules, ``marks`` and how to run them; what was not said is left to the function."""
    given = {"estimators": arguments.estimator, "rules": arguments.rule, marks: arguments.at}
    return {
        **{name: value for name, value in given.items() if value},
        "seed": arguments.seed,
        "workers": arguments.workers,
    }
