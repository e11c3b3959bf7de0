"""The guide to measures, drawn from their registry: nothing about a measure is written twice."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from adjudge.measures.base import Definition

if TYPE_CHECKING:
    from rich.console import RenderableType


def facts(definition: Definition) -> dict[str, Any]:
    """Everything that is known about a measure, as plain values."""
    return {
        "name": definition.name,
        "title": definition.title,
        "equation": definition.equation,
        "reference": definition.reference,
        "cutoff": definition.cutoff,
        "parameters": {
            name: {"default": None if p.default is None else p.show(p.default), "must be": p.wanted, "about": p.about}
            for name, p in definition.parameters.items()
        },
        "about": definition.docstring,
    }


def as_json(definitions: Sequence[Definition]) -> str:
    """A list of facts."""
    return json.dumps([facts(d) for d in definitions], ensure_ascii=False, indent=2) + "\n"


def as_csv(definitions: Sequence[Definition]) -> str:
    """One line a measure."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["name", "title", "equation", "reference", "parameters"])
    for d in definitions:
        writer.writerow([d.name, d.title, d.equation, d.reference, " ".join(d.parameters)])
    return buffer.getvalue()


def overview(definitions: Sequence[Definition]) -> RenderableType:
    """All measures in a table."""
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for name in ("measure", "what it is", "equation", "reference"):
        table.add_column(name, overflow="fold", no_wrap=name == "measure")
    for d in definitions:
        table.add_row(Text(d.name, style="bold"), d.title, Text(d.equation), Text(d.reference))
    foot = (
        "Write a cutoff with @: nDCG@10. Parameters go in brackets: RBP(p=0.9), AP(rel=2), CG(gain=exp,ideal=none)@5.\n"
        "ideal says what counts as perfect: none (classic form), max (the scale's highest grade everywhere),\n"
        "judged (the best that the judged documents allow). Other tools' names work: ndcg_cut_10, map, ndcg_at_10.\n"
        "To read all about one: adjudge measures nDCG"
    )
    return Group(table, Text(foot, style="dim"))


def explained(definitions: Sequence[Definition]) -> RenderableType:
    """Some measures in full."""
    from rich.console import Group
    from rich.text import Text

    parts: list[Text] = []
    for d in definitions:
        parts += [
            Text(f"{d.name}  {d.title}", style="bold"),
            Text(f"\n  {d.equation}\n", style="cyan"),
            Text(d.docstring + "\n"),
        ]
        for name, p in d.parameters.items():
            default = "not set" if p.default is None else p.show(p.default)
            parts.append(Text(f"  {name}  (default: {default}; {p.wanted})\n      {p.about}"))
        parts += [
            Text(f"\n  Cutoff: {'optional, written @k' if d.cutoff else 'none'}."),
            Text(f"  Reference: {d.reference}\n"),
        ]
    return Group(*parts)
