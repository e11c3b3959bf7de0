"""``adjudge experiment show`` and ``resume``: experiments that are kept in folders."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.cli.experiment_options import FORMS, add_pages, add_running, running_of
from adjudge.cli.experiment_run import drawing, show_findings
from adjudge.cli.options import Subparsers
from adjudge.cli.output import check_output
from adjudge.errors import AdjudgeError

if TYPE_CHECKING:
    from adjudge.experiments.specification import Findings


def add(commands: Subparsers) -> None:  # type: ignore[type-arg]
    """Declare both."""
    parser = commands.add_parser(
        "show",
        help="an experiment that was run",
        description="Tables, conclusion and figures again, from the p-values that are kept; no trial is run.",
    )
    _add_folder(parser)
    parser.add_argument("--alpha", type=float, metavar="A", help="another level for all tests (default: as it was run)")
    add_pages(parser)
    parser.set_defaults(run=show)
    parser = commands.add_parser(
        "resume",
        help="go on with an experiment, or add trials to it",
        description="Run the trials that are missing, or more of them; the numbers are those of an experiment that was "
        "never interrupted.",
    )
    _add_folder(parser)
    parser.add_argument(
        "--trials", type=int, metavar="N", help="trials in all (default: as many as it was started with)"
    )
    add_running(parser)
    add_pages(parser)
    parser.set_defaults(run=resume)


def _add_folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="FOLDER", help="where the experiment is kept")


def show(arguments: argparse.Namespace) -> None:
    """Read and show, at another level if asked."""
    from adjudge.experiments.running import open_experiment

    check_output(arguments, forms=FORMS)
    findings = open_experiment(Path(arguments.folder))
    show_findings(arguments, findings if arguments.alpha is None else _at(findings, arguments.alpha))


def _at(findings: Findings, alpha: float) -> Findings:
    """The same trials with every test at another level: p-values are kept, so that nothing is run again."""
    from adjudge.experiments.comparing import Comparing
    from adjudge.experiments.counting import at_levels

    spec = findings.experiment
    if not isinstance(spec, Comparing):
        raise AdjudgeError(f"--alpha is about tests, and the experiment {spec.name} has none")
    return at_levels(spec, alpha).findings(findings.samples, findings.rows, findings.provenance)


def resume(arguments: argparse.Namespace) -> None:
    """Go on and show."""
    from adjudge.experiments.running import resume_experiment

    check_output(arguments, forms=FORMS)
    folder = Path(arguments.folder)
    with drawing(folder) as advance:
        findings = resume_experiment(folder, trials=arguments.trials, progress=advance, **running_of(arguments))
    show_findings(arguments, findings)
