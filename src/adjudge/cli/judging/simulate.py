"""``adjudge simulate``: what low-cost judging would have cost on a judged collection."""

from __future__ import annotations

import argparse
from typing import Any

from adjudge.checks import COUNT, WORKERS
from adjudge.cli.command import command
from adjudge.cli.judging.options import add_judging, check_names, goal_of, read_candidates
from adjudge.cli.options import add_collection, add_pages
from adjudge.cli.output import PAGE_FORMS, check_output, command_line, progress, show_report

_EXAMPLES = """examples:
  adjudge simulate judgments.tsv runs.tsv --scale fine -m CG@5 --metadata metadata.tsv
  adjudge simulate qrels.txt runs/*.txt -m nDCG@10 --estimator uniform --estimator hierarchical --seeds 10 --at 0.1
"""


def _add_options(parser: argparse.ArgumentParser) -> None:
    add_judging(parser, several=True)
    parser.add_argument("--workers", type=WORKERS, help="processes (default: one per core)")
    parser.add_argument("--seeds", type=COUNT, default=5, help="orders of ties to try")
    parser.add_argument(
        "--at", type=float, action="append", metavar="X", help="judgments, or a share of the candidates; repeatable"
    )


@command(add_collection, _add_options, add_pages, examples=_EXAMPLES)
def run(arguments: argparse.Namespace) -> None:
    """Sessions on a judged collection, its judgments being the assessor: effort and accuracy."""
    from adjudge.relevance.report import simulation_section
    from adjudge.relevance.simulation import simulate_judging

    check_output(arguments, forms=PAGE_FORMS)
    check_names(arguments)
    collection, measure, pool = read_candidates(arguments)
    goal = goal_of(arguments, measure, pool)
    with progress("simulating") as advance:
        runs = simulate_judging(pool, measure, goal=goal, seeds=arguments.seeds, progress=advance, **methods(arguments))
    provenance = collection.provenance.with_settings(command=command_line(), seed=arguments.seed).to_dict()
    notes = pool.of_judged_queries().notes
    records = runs.to_dicts()
    show_report(
        arguments,
        (simulation_section(runs, str(goal)),),
        title=f"Simulated judging, {measure}",
        provenance=provenance,
        values={"measure": measure, "goal": str(goal), "runs": records, "notes": notes, "provenance": provenance},
        records=records,
        notes=notes,
    )


def methods(arguments: argparse.Namespace) -> dict[str, Any]:
    """Estimators, rules, checkpoints and how to run them; what was not said is left to the function."""
    given = {"estimators": arguments.estimator, "rules": arguments.rule, "at": arguments.at}
    return {
        **{name: value for name, value in given.items() if value},
        "seed": arguments.seed,
        "workers": arguments.workers,
    }
