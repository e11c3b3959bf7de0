"""A report's section about experiments: how far tests, measures and the number of queries can be trusted here."""

from __future__ import annotations

from dataclasses import replace

from adjudge.reports.document import Block, Paragraph, Section, section
from adjudge.reports.evidence import Evidence
from adjudge.reports.experiments import experiment_sections, setup


@section("experiments")
def experiments(evidence: Evidence) -> Section | None:
    """Finished experiments one after the other; nothing without any.

    Names of tables and figures are those of files and anchors: of several experiments each has its own.
    """
    if not evidence.experiments:
        return None
    blocks: list[Block] = []
    for place, findings in enumerate(evidence.experiments, start=1):
        blocks.append(Paragraph(f"{findings.experiment.title}. {setup(findings)}"))
        for part in experiment_sections(findings):
            blocks += [block if len(evidence.experiments) == 1 else _renamed(block, place) for block in part.blocks]
    return Section("experiments", "How far conclusions like these can be trusted", tuple(blocks))


def _renamed(block: Block, place: int) -> Block:
    return block if isinstance(block, Paragraph) else replace(block, name=f"{block.name}-{place}")
