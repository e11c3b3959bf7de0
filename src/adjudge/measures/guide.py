"""The guide to measures, made from their registry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from adjudge.measures.base import Definition
from adjudge.tables import as_csv, as_json, as_rich

if TYPE_CHECKING:
    from rich.console import RenderableType


_NOTATION = (
    "Write a cutoff with @: nDCG@10. Parameters go in brackets: RBP(p=0.9), AP(rel=2), CG(gain=exp,ideal=none)@5.",
    "ideal says what counts as perfect: none (classic form), max (the scale's highest grade at every rank),",
    "judged (the best that the judged documents allow). Other tools' names work: ndcg_cut_10, map, ndcg_at_10.",
)


def facts(definition: Definition) -> dict[str, Any]:
    """The properties of a measure, as plain values."""
    return {
        "measure": definition.name,
        "what it is": definition.title,
        "equation": definition.equation,
        "reference": definition.reference,
        "cutoff": definition.cutoff,
        "parameters": {
            name: {"default": _default(definition, name), "must be": parameter.wanted, "about": parameter.about}
            for name, parameter in definition.parameters.items()
        },
        "about": definition.docstring,
    }


def _default(definition: Definition, name: str) -> str:
    parameter = definition.parameters[name]
    return "not set" if parameter.default is None else parameter.show(parameter.default)


def _cutoff(definition: Definition) -> str:
    """What @ is for."""
    return (
        "optional, written @k" if definition.cutoff else f"none; @ gives {definition.at}" if definition.at else "none"
    )


def text(definitions: Sequence[Definition], style: str) -> str:
    """The guide as ``json``, ``csv`` or ``markdown``."""
    if style == "markdown":
        return _markdown(definitions)
    return as_json([facts(d) for d in definitions]) if style == "json" else as_csv(_rows(definitions))


def _rows(definitions: Sequence[Definition]) -> list[dict[str, str]]:
    return [
        {"measure": d.name, "what it is": d.title, "equation": d.equation, "reference": d.reference}
        for d in definitions
    ]


def _markdown(definitions: Sequence[Definition]) -> str:
    parts = ["# Measures\n", *(f"{line}\n" for line in _NOTATION)]
    for d in definitions:
        parts.append(f"\n## {d.name}: {d.title}\n\n```text\n{d.equation}\n```\n\n{d.docstring}\n\n")
        parts.extend(
            f"- `{name}` (default {_default(d, name)}; {p.wanted}): {p.about}\n" for name, p in d.parameters.items()
        )
        parts.append(f"- Cutoff: {_cutoff(d)}.\n- Reference: {d.reference}.\n")
    return "".join(parts)


def overview(definitions: Sequence[Definition]) -> RenderableType:
    """All measures in a table."""
    from rich.console import Group
    from rich.text import Text

    foot = "\n".join((*_NOTATION, "To read all about one: adjudge measures nDCG"))
    return Group(as_rich(_rows(definitions), bold="measure"), Text(foot, style="dim"))


def explained(definitions: Sequence[Definition]) -> RenderableType:
    """Some measures in full."""
    from rich.console import Group
    from rich.text import Text

    parts: list[Text] = []
    for d in definitions:
        parts += [Text(f"{d.name}: {d.title}", style="bold"), Text(f"\n  {d.equation}\n", style="cyan")]
        parts.append(Text(d.docstring.replace("``", "") + "\n"))
        for name, p in d.parameters.items():
            parts.append(Text(f"  {name}  (default: {_default(d, name)}; {p.wanted})\n      {p.about}"))
        parts.append(Text(f"\n  Cutoff: {_cutoff(d)}."))
        parts.append(Text(f"  Reference: {d.reference}\n"))
    return Group(*parts)
