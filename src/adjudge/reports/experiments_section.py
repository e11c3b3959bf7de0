"""A report's section about experiments: how far tests, measures and the number of queries can be trusted here."""

from __future__ import annotations

from dataclasses import replace

from adjudge.experiments.specification import Findings
from adjudge.reports.document import Block, Paragraph, Section, section
from adjudge.reports.evidence import Evidence
from adjudge.reports.experiments import experiment_sections, setup


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
