"""Running an experiment from the command line: what it is run on, where it is kept, and what is shown of it.

``adjudge experiment show`` and ``resume``: experiments that are kept in folders.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.checks import ALPHA, TRIALS
from adjudge.cli.command import command
from adjudge.cli.experiment.options import add_running, running_of, settings_of
from adjudge.cli.experiment.samples import check_samples, input_files, samples_from
from adjudge.cli.options import add_pages
from adjudge.cli.output import PAGE_FORMS, check_folder, check_output, progress, say, show_report, style_of
from adjudge.errors import AdjudgeError

if TYPE_CHECKING:
    from adjudge.experiments.samples import Samples
    from adjudge.experiments.spec import Experiment, Findings
    from adjudge.reporting.document import Block, Section


Advance = Callable[[int, int], None]
_MOST_ROWS = 60  # of a table on a terminal


def run_kind(kind: str, arguments: argparse.Namespace) -> None:
    """Read, draw and compare as often as asked, show."""
    from adjudge.experiments.run import run_experiment
    from adjudge.experiments.spec import experiment_from

    check_samples(arguments)
    check_output(argparse.Namespace(**{**vars(arguments), "runs": input_files(arguments)}), forms=PAGE_FORMS)
    settings = settings_of(arguments, kind)
    spec = experiment_from({"experiment": kind, **settings})  # bad settings should not cost a reading
    samples = samples_from(arguments)
    spec = spec.prepared(samples)
    folder = Path(arguments.folder or folder_name(spec, samples))
    check_folder(folder, "a folder for the experiment, got a file")
    with drawing(folder) as advance:
        findings = run_experiment(spec, samples, folder=folder, progress=advance, **running_of(arguments))
    show_findings(arguments, findings)


def folder_name(spec: Experiment, samples: Samples) -> str:
    """A name that the same experiment on the same data always gets, however many its trials."""
    settings = {name: value for name, value in spec.to_dict().items() if name != "trials"}
    content = json.dumps([settings, samples.digest], sort_keys=True)
    return f"{spec.name}-{hashlib.sha256(content.encode()).hexdigest()[:8]}"


@contextmanager
def drawing(folder: Path) -> Iterator[Advance]:
    """A bar with the time left; an interruption says what is kept and how to go on."""
    with progress("trials") as advance:
        reached = [0, 0]
        first: list[int] = []  # how many were there before, then empty once it was said where they are

        def note(done: int, total: int) -> None:
            if not reached[1]:
                first.append(done)
            elif first and done > first[0]:  # the work has begun: nothing was refused
                say([f"trials are kept in {folder}"])
                first.clear()
            reached[:] = done, total
            advance(done, total)

        try:
            yield note
        except KeyboardInterrupt:
            raise KeyboardInterrupt(_interrupted(folder, *reached)) from None


def _interrupted(folder: Path, done: int, total: int) -> str:
    kept = f"{done:,} of {total:,} trials are kept in {folder}" if total else f"no trial was done in {folder}"
    return f"interrupted; {kept}; go on with: adjudge experiment resume {shlex.quote(str(folder))}"


def show_findings(arguments: argparse.Namespace, findings: Findings) -> None:
    """The conclusion first, then what it rests on, in the form asked for."""
    from adjudge.experiments.report import experiment_report

    report = experiment_report(findings)
    to_read = style_of(arguments) == "text" and arguments.output is None
    show_report(
        arguments,
        [_shortened(section) for section in report.sections] if to_read else report.sections,
        title=report.title,
        subtitle=report.subtitle,
        provenance=report.provenance,
        values=findings.to_dict(),
        records=findings.to_dicts(),
        notes=findings.samples.notes,
    )


def _shortened(section: Section) -> Section:
    """With a line in place of a table so long that on a terminal it would push the conclusion away."""
    from dataclasses import replace

    from adjudge.reporting.document import Paragraph, TableBlock

    def shown(block: Block) -> Block:
        if not isinstance(block, TableBlock) or len(block.rows) <= _MOST_ROWS:
            return block
        return Paragraph(f"\n{block.caption} {len(block.rows):,} rows: -o page.html or -o page.txt has them.")

    return replace(section, blocks=tuple(shown(block) for block in section.blocks))


def _add_level(parser: argparse.ArgumentParser) -> None:
    _add_folder(parser)
    parser.add_argument("--alpha", type=ALPHA, metavar="A", help="another level for all tests (default: as it was run)")


def _add_trials(parser: argparse.ArgumentParser) -> None:
    _add_folder(parser)
    parser.add_argument("--trials", type=TRIALS, help="trials in all (default: as many as it was started with)")


def _add_folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="FOLDER", help="where the experiment is kept")


@command(_add_level, add_pages)
def show(arguments: argparse.Namespace) -> None:
    """Tables, conclusion and figures again, from the p-values that are kept; no trial is run."""
    from adjudge.experiments.run import open_experiment

    check_output(arguments, forms=PAGE_FORMS)
    findings = open_experiment(Path(arguments.folder))
    show_findings(arguments, findings if arguments.alpha is None else _at(findings, arguments.alpha))


def _at(findings: Findings, alpha: float) -> Findings:
    """The same trials with every test at another level: p-values are kept, so that nothing is run again."""
    from adjudge.experiments.comparing import ComparisonExperiment

    spec = findings.experiment
    if not isinstance(spec, ComparisonExperiment):
        raise AdjudgeError(f"--alpha is about tests, and the experiment {spec.name} has none")
    return spec.at_levels(alpha).findings(findings.samples, findings.rows, findings.provenance)


@command(_add_trials, add_running, add_pages)
def resume(arguments: argparse.Namespace) -> None:
    """Run the trials that are missing, or more of them.

    The numbers are those of an experiment that was never interrupted.
    """
    from adjudge.experiments.run import resume_experiment

    check_output(arguments, forms=PAGE_FORMS)
    folder = Path(arguments.folder)
    with drawing(folder) as advance:
        findings = resume_experiment(folder, trials=arguments.trials, progress=advance, **running_of(arguments))
    show_findings(arguments, findings)
