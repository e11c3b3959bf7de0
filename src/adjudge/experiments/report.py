"""Reports of experiments, whose sections are registered by name, and the section of other reports about experiments."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from adjudge.experiments.spec import Findings
from adjudge.reporting.document import Block, Paragraph, Report, Section, TableBlock, section
from adjudge.reporting.figures import Curve
from adjudge.tables import Heading
from adjudge.text import share_with
from adjudge.users.report import Evidence, FinishedExperiment

TableColumn = tuple[str, str | Callable[[dict[str, Any]], str], str]
"""A column of a table: its header, a template or function for the text of a record, and an explanation."""
_MOST_OPEN = 20  # rows of a table that a reader sees without opening it


def experiment_report(findings: Findings, *, title: str | None = None) -> Report:
    """The whole report of an experiment."""
    spec = findings.experiment
    provenance = findings.provenance.to_dict()
    provenance["settings"] = {**provenance["settings"], **spec.to_dict()}
    return Report(title or spec.title, findings.introduction()[0], findings.sections(), provenance)


def conclusion(findings: Findings) -> list[Block]:
    """What it means in plain language, one paragraph per group of sentences."""
    return [Paragraph(text) for text in findings.sentences()]


def table_of(
    name: str,
    caption: str,
    columns: Sequence[TableColumn],
    rows: Sequence[Any],
    records: Sequence[dict[str, Any]] | None = None,
) -> TableBlock:
    """A table of rows that are dataclasses or dictionaries, which are also its records; folded if it is long.

    Templates that begin with a bare name in braces are text, which is aligned to the left.
    """
    found = [row if isinstance(row, dict) else asdict(row) for row in rows]
    cells = tuple(
        tuple(cell.format_map(row) if isinstance(cell, str) else cell(row) for _, cell, _ in columns) for row in found
    )
    headings = tuple(
        Heading(label, "left" if isinstance(cell, str) and re.match(r"{\w+}", cell) else "right", about)
        for label, cell, about in columns
    )
    records = found if records is None else records
    return TableBlock(name, caption, headings, cells, records, folded=len(cells) > _MOST_OPEN)


def share_of(name: str, low: str = "", high: str = "") -> Callable[[dict[str, Any]], str]:
    """A function for the text of a share with its interval, whose ends are called after it unless they are named."""
    names = (name, low or f"{name}_low", high or f"{name}_high")
    return lambda row: share_with(*(row[key] for key in names))


def curve_of(label: str, cells: Sequence[object], *names: str) -> Curve:
    """A curve of attributes of cells: x, y and, if there are any, the ends of its interval."""
    x, y, *ends = (np.array([getattr(cell, name) for cell in cells], dtype=np.float64) for name in names)
    low, high = ends or (None, None)
    return Curve(label, x, y, low, high)


@section("experiments")
def experiments(evidence: Evidence) -> list[Section] | None:
    """What finished experiments found: a summary of several, then a section for each; nothing without any.

    Names of tables and figures become files and anchors: with several experiments each has its own, and every caption
    names its experiment.
    """
    if not evidence.experiments:
        return None
    title = "How far conclusions like these can be trusted"
    if len(evidence.experiments) == 1:
        return _sections(evidence.experiments[0], 1, "experiments", title, "")
    summary: list[Block] = []
    sections: list[Section] = []
    for place, findings in enumerate(evidence.experiments, start=1):
        which = f"Experiment {place}: "
        named = f"{which}{findings.title}"
        summary.append(Paragraph(f"{named}. {findings.sentences()[0]}"))
        sections += _sections(findings, place, f"experiment-{place}", named, which)
    return [Section("experiments", title, tuple(summary)), *sections]


def _sections(findings: FinishedExperiment, place: int, name: str, title: str, which: str) -> list[Section]:
    """What it is and the notes on its data, then its parts; ``which`` is empty where it is the only one."""
    first, *notes = findings.introduction()
    what = first if which else f"{findings.title}. {first}"
    sections = [Section(name, title, tuple(map(Paragraph, (what, *notes))))]
    for part in findings.sections():
        blocks = [
            replace(block, name=f"{block.name}-{place}", caption=f"{which}{block.caption}")
            if which and not isinstance(block, Paragraph)
            else block
            for block in part.blocks
        ]
        sections.append(Section(f"experiment-{place}-{part.name}", part.title, tuple(blocks), level=2))
    return sections
