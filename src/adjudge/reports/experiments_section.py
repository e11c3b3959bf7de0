"""A report's section about experiments: how far tests, measures and the number of queries can be trusted here."""

from __future__ import annotations

from dataclasses import replace

from adjudge.experiments.specification import Findings
from adjudge.reports.document import Block, Paragraph, Section, section
from adjudge.reports.evidence import Evidence
from adjudge.reports.experiments import experiment_sections, setup


@section("experiments")
def experiments(evidence: Evidence) -> Section | None:
    """Finished experiments one after the other; nothing without any.

    Names of tables and figures are those of files and anchors: of several experiments each has its own, and every
    part and caption says which experiment it is of.
    """
    if not evidence.experiments:
        return None
    several = len(evidence.experiments) > 1
    blocks: list[Block] = []
    for place, findings in enumerate(evidence.experiments, start=1):
        blocks += _of_one(findings, place if several else 0)
    return Section("experiments", "How far conclusions like these can be trusted", tuple(blocks))


def _of_one(findings: Findings, place: int) -> list[Block]:
    """What it is, what is worth knowing of its data, and its parts; ``place`` is 0 where it is the only one."""
    which = f"Experiment {place}: " if place else ""
    blocks: list[Block] = [Paragraph(f"{which}{findings.experiment.title}. {setup(findings)}")]
    blocks += [Paragraph(note) for note in findings.samples.notes]
    for part in experiment_sections(findings):
        blocks.append(Paragraph(f"{which}{part.title}."))
        blocks += [_numbered(block, place, which) for block in part.blocks] if place else part.blocks
    return blocks


def _numbered(block: Block, place: int, which: str) -> Block:
    if isinstance(block, Paragraph):
        return block
    return replace(block, name=f"{block.name}-{place}", caption=f"{which}{block.caption}")
