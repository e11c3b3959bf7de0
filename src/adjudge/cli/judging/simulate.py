"""``adjudge simulate``: what low-cost judging would have cost on a judged collection."""

from __future__ import annotations

import argparse
from functools import partial

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
    from adjudge.parallel import run_calls
    from adjudge.relevance.base import scoring, start
    from adjudge.relevance.report import simulation_records, simulation_section
    from adjudge.relevance.simulation import simulate

    check_output(arguments, forms=("text", "json", "csv", "markdown", "latex", "html"))
    check_names(arguments)
    collection, measure, pool = read_candidates(arguments)
    goal = goal_of(arguments, measure, pool)
    estimators = arguments.estimator or ["hierarchical"]
    asked = pool.retrieved().unjudged()
    for name in dict.fromkeys(estimators):  # says once, and soon, what it refuses or warns of
        start(name, asked, scoring(measure, pool.scale))
    methods = [(e, r) for e in estimators for r in arguments.rule or ["information"]]
    at = sorted(set(arguments.at or (0.05, 0.1, 0.2)), key=lambda mark: mark if mark >= 1 else mark * len(asked))
    tasks = [
        partial(simulate, pool, measure, estimator=e, rule=r, goal=goal, at=at, seed=arguments.seed + i)
        for e, r in methods
        for i in range(arguments.seeds)
    ]
    with progress("simulating") as advance:
        results = run_calls(tasks, workers=arguments.workers, progress=advance)
    n = arguments.seeds
    runs = [results[i * n : (i + 1) * n] for i in range(len(methods))]
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
