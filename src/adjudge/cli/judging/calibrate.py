"""``adjudge calibrate``: can the confidence of low-cost evaluation be trusted on collections like this one."""

from __future__ import annotations

import argparse

from adjudge.checks import COUNT, SEVERAL, WORKERS
from adjudge.cli.command import command
from adjudge.cli.judging.options import add_judging, check_names, goal_of, read_candidates
from adjudge.cli.judging.simulate import methods
from adjudge.cli.options import add_collection, add_pages
from adjudge.cli.output import PAGE_FORMS, check_output, command_line, progress, show_report

_EXAMPLES = """examples:
  adjudge calibrate judgments.tsv runs.tsv --scale fine -m CG@5 --estimator uniform --estimator hierarchical
"""


def _add_options(parser: argparse.ArgumentParser) -> None:
    add_judging(parser, several=True)
    parser.add_argument("--workers", type=WORKERS, help="processes (default: one per core)")
    parser.add_argument("--samples", type=COUNT, default=10, help="parts to draw")
    parser.add_argument("--systems", type=SEVERAL, help="systems of a part (default: half)")
    parser.add_argument("--queries", type=SEVERAL, help="queries of a part (default: half)")
    parser.add_argument(
        "--at", type=float, action="append", metavar="X", help="share of the candidates judged; repeatable"
    )
    parser.add_argument("--no-metadata", action="store_true", help="as if nothing were known of documents")


@command(add_collection, _add_options, add_pages, examples=_EXAMPLES)
def run(arguments: argparse.Namespace) -> None:
    """Compare methods on random parts of a judged collection.

    Claimed confidence against accuracy, coverage of intervals, accuracy against judgments, effort to the stop.
    """
    from adjudge.relevance.calibration import calibrate_judging
    from adjudge.relevance.report import calibration_section

    check_output(arguments, forms=PAGE_FORMS)
    check_names(arguments)
    collection, measure, pool = read_candidates(arguments)
    if arguments.no_metadata:
        pool = pool.without_metadata()
    with progress("simulating") as advance:
        found = calibrate_judging(
            pool,
            measure,
            samples=arguments.samples,
            systems=arguments.systems,
            queries=arguments.queries,
            goal=goal_of(arguments, measure, pool),
            progress=advance,
            **methods(arguments),
        )
    subtitle = f"means of {arguments.samples} parts of the collection"
    provenance = collection.provenance.with_settings(command=command_line(), seed=arguments.seed).to_dict()
    notes = pool.of_judged_queries().notes
    records = found.to_dicts()
    show_report(
        arguments,
        (calibration_section(found, subtitle),),
        title=f"Calibration, {measure}",
        provenance=provenance,
        values={"measure": measure, "methods": records, "notes": notes, "provenance": provenance},
        records=records,
        notes=notes,
    )
