"""``adjudge calibrate``: can the confidence of low-cost evaluation be trusted on collections like this one."""

from __future__ import annotations

import argparse

from adjudge.checks import COUNT, SEVERAL
from adjudge.cli.judging.options import add_judging, check_names, goal_of, read_candidates
from adjudge.cli.judging.simulate import add_simulating, methods
from adjudge.cli.options import Subparsers, add_collection, add_output
from adjudge.cli.output import check_output, command_line, progress, show_report

_EXAMPLES = """examples:
  adjudge calibrate judgments.tsv runs.tsv --scale fine -m CG@5 --estimator uniform --estimator hierarchical
"""


def add(commands: Subparsers) -> None:  # type: ignore[type-arg]
    """Declare the command."""
    parser = commands.add_parser(
        "calibrate",
        help="whether claimed confidence can be trusted",
        description="Methods side by side on random parts of a judged collection: claimed confidence against accuracy, "
        "coverage of intervals, accuracy against judgments, effort to the stop.",
        epilog=_EXAMPLES,
    )
    add_collection(parser)
    add_judging(parser, several=True)
    add_simulating(parser)
    parser.add_argument("--samples", type=COUNT, default=10, help="parts to draw")
    parser.add_argument("--systems", type=SEVERAL, help="systems of a part (default: half)")
    parser.add_argument("--queries", type=SEVERAL, help="queries of a part (default: half)")
    parser.add_argument(
        "--at", type=float, action="append", metavar="X", help="share of the candidates judged; repeatable"
    )
    parser.add_argument("--no-metadata", action="store_true", help="as if nothing were known of documents")
    add_output(parser, page="markdown")
    parser.add_argument("--figures", metavar="DIR", help="write every figure as SVG and PDF, too")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Read, sample, simulate, compare, show."""
    from adjudge.relevance.calibration import calibrate_judging
    from adjudge.relevance.report import calibration_records, calibration_section

    check_output(arguments, forms=("text", "json", "csv", "markdown", "latex", "html"))
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
            **methods(arguments, "shares"),
        )
    subtitle = f"means of {arguments.samples} parts of the collection"
    provenance = collection.provenance.with_settings(command=command_line(), seed=arguments.seed).to_dict()
    records = calibration_records(found)
    show_report(
        arguments,
        (calibration_section(found, subtitle),),
        title=f"Calibration, {measure}",
        provenance=provenance,
        values={"measure": measure, "methods": records, "notes": pool.notes, "provenance": provenance},
        records=records,
        notes=pool.notes,
    )
