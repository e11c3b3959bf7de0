"""``adjudge report``: everything about an evaluation on one page."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from adjudge.checks import SHARE
from adjudge.cli.command import command
from adjudge.cli.compare import add_comparing, comparing
from adjudge.cli.leaderboard import add_slices, check_slices
from adjudge.cli.options import add_figures, add_paper, own_mappings, with_users_file
from adjudge.cli.output import check_output, command_line, page_of, progress, with_inputs
from adjudge.cli.score import add_judgments_or_table, check_judgments_or_table, read_and_evaluated
from adjudge.errors import AdjudgeError
from adjudge.extras import need

if TYPE_CHECKING:
    from adjudge.experiments.spec import Findings
    from adjudge.groundtruth.report import Experts
    from adjudge.model.collection import Collection
    from adjudge.model.effectiveness import Effectiveness

_USUAL = "report.html"


def _add_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("report")
    group.add_argument(
        "-o", "--output", metavar="FILE", help=f"file to write: .html, .md, .tex or .json (default: {_USUAL})"
    )
    add_figures(group)
    add_paper(group)
    group.add_argument("--title", help="title of the report")
    group.add_argument(
        "--section", dest="sections", action="append", metavar="NAME", help="only this section; repeatable"
    )
    group.add_argument("--threshold", type=SHARE, default=0.5, help="share of satisfied users that is a success")
    group.add_argument(
        "--experts",
        metavar="FILE",
        help="rankings or preferences of experts: how far they bear out the judgments, and how systems rank by lists "
        "made from them",
    )
    group.add_argument(
        "--experiment",
        dest="experiments",
        metavar="FOLDER",
        action="append",
        default=[],
        help="an experiment that was run, as 'adjudge experiment' keeps it: what it found; repeatable",
    )
    add_slices(group)
    parser.set_defaults(style=None)


@command(add_judgments_or_table, add_comparing, _add_options)
def run(arguments: argparse.Namespace) -> None:
    """A self-contained page: means, differences, what users would notice, failing queries, provenance."""
    from dataclasses import replace
    from pathlib import Path

    from adjudge.io import write_whole
    from adjudge.reporting.render import form_of, write_figures
    from adjudge.users.report import report

    if arguments.output is None:
        need("plots", f"Without -o (page.md, .tex, .json) a report is a page with figures, {_USUAL}; that needs")
        arguments.output = _USUAL
    form = form_of(arguments.output)
    check_output(arguments)
    check_judgments_or_table(arguments, also=("scale",), has_bounds=True)
    check_slices(arguments)
    if arguments.experts is not None and arguments.effectiveness:
        raise AdjudgeError("--experts is for judgments and runs, not for tables of effectiveness")
    own = own_mappings(arguments)
    experiments = _experiments(arguments.experiments)
    eff, collection = read_and_evaluated(arguments)
    if arguments.slices is not None:
        eff = replace(eff, provenance=with_inputs(eff.provenance, [arguments.slices]))
    eff, experts = _with_experts(eff, collection, arguments)
    with progress("making the report") as advance:
        made = report(
            with_users_file(eff, arguments),
            title=arguments.title,
            sections=arguments.sections,
            collection=collection,
            experts=experts,
            experiments=experiments,
            slices=arguments.slices,
            by=arguments.by,
            threshold=arguments.threshold,
            satisfied=None if own is None else own.satisfaction,
            command=command_line(),
            progress=advance,
            **comparing(arguments),
        )
        write_whole(Path(arguments.output), page_of(arguments, made, form).encode())
    print(f"Wrote {arguments.output}.")
    if arguments.figures is not None:
        written = write_figures(made, Path(arguments.figures), width=arguments.width)
        print(f"Wrote {len(written)} figures to {arguments.figures}.")


def _experiments(folders: list[str]) -> list[Findings]:
    """What experiments found, read before anything else: it is there or it is not."""
    if not folders:
        return []
    from adjudge.experiments.run import open_experiment

    return [open_experiment(folder) for folder in folders]


def _with_experts(
    eff: Effectiveness, collection: Collection | None, arguments: argparse.Namespace
) -> tuple[Effectiveness, Experts | None]:
    """What experts said, if a file was given, and effectiveness with that file among its inputs."""
    if arguments.experts is None or collection is None:
        return eff, None
    from dataclasses import replace

    from adjudge.formats.columns import check_columns
    from adjudge.groundtruth.files import read_experts
    from adjudge.groundtruth.report import experts_of

    answers = read_experts(arguments.experts)
    check_columns()
    found = experts_of(answers, collection)
    return replace(eff, provenance=with_inputs(eff.provenance, [arguments.experts])), found
