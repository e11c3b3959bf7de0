"""Reports of experiments: each kind of findings has its sections, registered under the name of the experiment.

A report's section about experiments: how far tests, measures and the number of queries can be trusted here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from adjudge.experiments.spec import Findings
from adjudge.registry import Registry
from adjudge.reporting.document import Block, Paragraph, Report, Section, TableBlock, section
from adjudge.tables import Heading
from adjudge.text import counted, listed
from adjudge.users.report import Evidence

SectionsFunction = Callable[[Any], Sequence[Section]]
_MOST_NAMED = 12
_MOST_OPEN = 20  # rows of a table that a reader sees without opening it
EXPERIMENT_SECTIONS: Registry[SectionsFunction] = Registry("report of an experiment", "adjudge.experiments.*")


def experiment_sections(findings: Findings) -> tuple[Section, ...]:
    """The sections of an experiment: the conclusion first, then what it rests on."""
    return tuple(EXPERIMENT_SECTIONS[findings.experiment.name](findings))


def experiment_report(findings: Findings, *, title: str | None = None) -> Report:
    """The whole report of an experiment."""
    spec = findings.experiment
    provenance = findings.provenance.to_dict()
    provenance["settings"] = {**provenance["settings"], **spec.to_dict()}
    return Report(title or spec.title, setup(findings), experiment_sections(findings), provenance)


def setup(findings: Findings) -> str:
    """What was asked, and of what: the question, the trials and the samples."""
    spec, names = findings.experiment, findings.samples.names
    trials = counted(spec.trials, "trial")
    return f"{spec.question} {trials}, seed {spec.seed}: {listed(names, most=_MOST_NAMED)}."


def conclusion(findings: Findings) -> list[Block]:
    """What it means in plain language, a paragraph a sentence group."""
    return [Paragraph(text) for text in findings.sentences()]


def table_of(
    name: str,
    caption: str,
    columns: Sequence[Heading],
    rows: Sequence[Sequence[str]],
    records: Sequence[dict[str, Any]],
) -> TableBlock:
    """A table with its records, folded if it is long."""
    cells = tuple(tuple(row) for row in rows)
    return TableBlock(name, caption, tuple(columns), cells, records, folded=len(cells) > _MOST_OPEN)


@section("experiments")
def experiments(evidence: Evidence) -> list[Section] | None:
    """What finished experiments found: of several a summary, then each in a section of its own; nothing without any.

    Names of tables and figures are those of files and anchors: of several experiments each has its own, and every
    caption says which experiment it is of.
    """
    if not evidence.experiments:
        return None
    title = "How far conclusions like these can be trusted"
    if len(evidence.experiments) == 1:
        return _sections(evidence.experiments[0], 1, "experiments", title, "")
    summary: list[Block] = []
    found: list[Section] = []
    for place, findings in enumerate(evidence.experiments, start=1):
        which = f"Experiment {place}: "
        named = f"{which}{findings.experiment.title}"
        summary.append(Paragraph(f"{named}. {findings.sentences()[0]}"))
        found += _sections(findings, place, f"experiment-{place}", named, which)
    return [Section("experiments", title, tuple(summary)), *found]


def _sections(findings: Findings, place: int, name: str, title: str, which: str) -> list[Section]:
    """What it is and what is worth knowing of its data, then its parts; ``which`` is empty where it is the only one."""
    what = setup(findings) if which else f"{findings.experiment.title}. {setup(findings)}"
    head = Section(name, title, tuple(Paragraph(text) for text in (what, *findings.samples.notes)))
    parts = [
        Section(
            f"experiment-{place}-{part.name}",
            part.title,
            tuple(_numbered(block, place, which) for block in part.blocks),
            level=2,
        )
        for part in experiment_sections(findings)
    ]
    return [head, *parts]


def _numbered(block: Block, place: int, which: str) -> Block:
    if isinstance(block, Paragraph) or not which:
        return block
    return replace(block, name=f"{block.name}-{place}", caption=f"{which}{block.caption}")
