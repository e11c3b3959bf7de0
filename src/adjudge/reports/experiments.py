"""Reports of experiments: each kind of findings has its sections, registered under the name of the experiment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adjudge.experiments.specification import Findings
from adjudge.registry import Registry
from adjudge.reports.document import Block, Column, Paragraph, Report, Section, TableBlock

SectionsFunction = Callable[[Any], Sequence[Section]]
_MOST_NAMED = 12
_MOST_OPEN = 20  # rows of a table that a reader sees without opening it
EXPERIMENT_SECTIONS: Registry[SectionsFunction] = Registry("report of an experiment")


def experiment_sections(findings: Findings) -> tuple[Section, ...]:
    """The sections of an experiment: the conclusion first, then what it rests on."""
    import adjudge.reports.experiment_kinds  # noqa: F401 - registers them all

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
    shown = ", ".join(names[:_MOST_NAMED]) + (f" and {len(names) - _MOST_NAMED} more" * (len(names) > _MOST_NAMED))
    trials = "1 trial" if spec.trials == 1 else f"{spec.trials:,} trials"
    return f"{spec.question} {trials}, seed {spec.seed}: {shown}."


def conclusion(findings: Findings) -> list[Block]:
    """What it means in plain language, a paragraph a sentence group."""
    return [Paragraph(text) for text in findings.sentences()]


def table_of(
    name: str, caption: str, columns: Sequence[Column], rows: Sequence[Sequence[str]], records: Sequence[dict[str, Any]]
) -> TableBlock:
    """A table with its records, folded if it is long."""
    cells = tuple(tuple(row) for row in rows)
    return TableBlock(name, caption, tuple(columns), cells, records, folded=len(cells) > _MOST_OPEN)
