"""Running an experiment from the command line: what it is run on, where it is kept, and what is shown of it."""

from __future__ import annotations

import argparse
import hashlib
import json
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.cli.experiment_options import FORMS, running_of, settings_of
from adjudge.cli.experiment_samples import check_samples, input_files, samples_from
from adjudge.cli.output import check_output, progress, say, show_report, style_of
from adjudge.errors import AdjudgeError

if TYPE_CHECKING:
    from adjudge.experiments.samples import Samples
    from adjudge.experiments.specification import Experiment, Findings
    from adjudge.reports.document import Block, Section

Advance = Callable[[int, int], None]
_MOST_ROWS = 60  # of a table on a terminal


def run(kind: str, arguments: argparse.Namespace) -> None:
    """Read, draw and compare as often as asked, show."""
    from adjudge.experiments.running import run_experiment
    from adjudge.experiments.specification import make_experiment

    check_samples(arguments)
    check_output(argparse.Namespace(**{**vars(arguments), "runs": input_files(arguments)}), forms=FORMS)
    spec = make_experiment(kind, **settings_of(arguments, kind))  # bad settings should not cost a reading
    samples = samples_from(arguments)
    spec = spec.prepared(samples)
    folder = Path(arguments.folder or folder_name(spec, samples))
    check_folder(folder)
    with drawing(folder) as advance:
        findings = run_experiment(spec, samples, folder=folder, progress=advance, **running_of(arguments))
    show_findings(arguments, findings)


def folder_name(spec: Experiment, samples: Samples) -> str:
    """A name that the same experiment on the same data always gets, however many its trials."""
    settings = {name: value for name, value in spec.to_dict().items() if name != "trials"}
    content = json.dumps([settings, samples.digest], sort_keys=True)
    return f"{spec.name}-{hashlib.sha256(content.encode()).hexdigest()[:8]}"


def check_folder(folder: Path) -> None:
    """Refuse a place where no folder can be made."""
    import os

    there = folder.absolute()
    while not there.exists():
        there = there.parent
    if not there.is_dir():
        raise AdjudgeError(f"{folder}: expected a folder for the experiment, got a file")
    if not os.access(there, os.W_OK | os.X_OK):
        raise AdjudgeError(f"{folder}: cannot be written: permission denied")


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
    from adjudge.reports.experiments import experiment_report

    report = experiment_report(findings)
    to_read = style_of(arguments) == "text" and arguments.output is None
    show_report(
        arguments,
        [_shortened(section) for section in report.sections] if to_read else report.sections,
        title=report.title,
        subtitle=report.subtitle,
        provenance=report.provenance,
        values=findings.to_dict(),
        records=findings.records(),
        notes=findings.samples.notes,
    )


def _shortened(section: Section) -> Section:
    """With a line in place of a table so long that on a terminal it would push the conclusion away."""
    from dataclasses import replace

    from adjudge.reports.document import Paragraph, TableBlock

    def shown(block: Block) -> Block:
        if not isinstance(block, TableBlock) or len(block.rows) <= _MOST_ROWS:
            return block
        return Paragraph(f"\n{block.caption} {len(block.rows):,} rows: -o page.html or -o page.txt has them.")

    return replace(section, blocks=tuple(shown(block) for block in section.blocks))
