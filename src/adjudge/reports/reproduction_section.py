"""Published numbers beside ours: what agreed in a sentence, a section a study, what cannot be made anew."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from adjudge.reports.document import Block, Column, FigureBlock, Paragraph, Report, Section, TableBlock
from adjudge.reports.reproduction_figures import draw_plot
from adjudge.reproduction.claims import CAUSES, Claim, Reason
from adjudge.reproduction.papers import PAPERS
from adjudge.reproduction.plots import Plot
from adjudge.reproduction.reproducing import VERDICTS, Reproduction
from adjudge.reproduction.studies import Found, Study

_SOURCE = Column("source", "left", "paper (see below), and its table, figure or section")
_INDEPENDENT = Column("independent", about="what another implementation got, where it has other digits than the paper")
_VERDICT = Column(
    "verdict",
    "left",
    "exact: the same to every printed digit; within tolerance: as near as the reason allows; differs: neither; in "
    "brackets, the number of the reason",
)
_NARROW = 44  # letters of a name in a table for a terminal of 100


def report_of(made: Reproduction, *, command: str | None = None, brief: bool = False) -> Report:
    """The whole report; a ``brief`` one, for a terminal, lists only numbers that are not exact."""
    sections = (
        _summary(made, brief=brief),
        *(study_section(study, found, brief=brief) for study, found in made.found),
        *_left_out(made),
        *_impossible(made),
        _papers(made),
    )
    return Report("The papers' numbers, made anew", _headline(made), sections, made.provenance(command))


def _headline(made: Reproduction) -> str:
    counts = made.counts()
    near = f"{counts['within tolerance']:,} within tolerance"
    return f"{counts['exact']:,} to every digit, {near}, of {len(made.claims):,} numbers"


def _summary(made: Reproduction, *, brief: bool) -> Section:
    """What agreed, in sentences and by study; a terminal has no room for what each study is about."""
    about = () if brief else (Column("about", "left"),)
    rows, exact = [], set()
    for place, (study, found) in enumerate(made.found):
        verdicts = Counter(claim.verdict for claim in found.claims)
        counts = (len(found.claims), *(verdicts[one] for one in VERDICTS))
        rows.append((study.name, *(f"{count:,}" for count in counts), *(study.title for _ in about)))
        exact |= {(place, 2)} if verdicts["exact"] == len(found.claims) else set()
    columns = (Column("study", "left"), Column("numbers"), *map(Column, VERDICTS), *about)
    caption = "Published numbers by study and verdict."
    said = (str(made), *_unexplained(made), _coverage(made), *_quick(made))
    table = TableBlock("summary", caption, columns, tuple(rows), (), frozenset(exact))
    return Section("summary", "Summary", (*map(Paragraph, said), table, *_causes(made)))


def _causes(made: Reproduction) -> tuple[Block, ...]:
    """Numbers that are not exact, by their cause: which of them nobody could have made the same, and which are left."""
    found = made.causes()
    rows = [(cause, *(f"{counts[one]:,}" for one in VERDICTS[1:]), CAUSES[cause]) for cause, counts in found.items()]
    if made.unexplained:
        rows.append(("", "0", f"{len(made.unexplained):,}", "not known"))
    columns = (Column("cause", "left"), *map(Column, VERDICTS[1:]), Column("because of", "left"))
    table = TableBlock("causes", "Numbers that are not exact, by cause.", columns, tuple(rows))
    return (table,) if rows else ()


def _unexplained(made: Reproduction) -> list[str]:
    names = "; ".join(
        f"{claim.source}, {claim.what} (published {claim.published}, ours {claim.shown})" for claim in made.unexplained
    )
    return [f"Differs for no known reason: {names}."] if names else []


def _coverage(made: Reproduction) -> str:
    """How many of the papers' tables and figures are here."""
    items = {f"{paper.key} {item}" for paper in PAPERS.values() for item in paper.items}
    here = {item for study, _ in made.found for item in study.covers}
    partly = {item for study, _ in made.found for item in study.partly} & here
    in_part = f" ({len(partly)} of them in part)" if partly else ""
    return (
        f"The five papers have {len(items)} tables and figures: {len(here)} are made anew here{in_part}, and "
        f"{len(set(made.impossible) & items)} cannot be from public data."
    )


def _quick(made: Reproduction) -> list[str]:
    return ["Made quickly, with fewer trials than the papers: tolerances are wider."] if made.effort.quick else []


def study_section(study: Study, found: Found, *, brief: bool = False) -> Section:
    """One study: what agreed, its numbers, reasons, figures, and what to know about them."""
    reasons = Counter(claim.reason for claim in found.claims if claim.reason is not None)
    listed = [claim for claim in found.claims if not brief or claim.verdict != "exact"]
    counted, why = _counted(found), _reasons(study, reasons, brief=brief)
    numbers = [(_short_numbers if brief else _numbers)(study, listed, list(reasons))] if listed else []
    blocks: list[Block] = [Paragraph(f"\n{study.title}: {counted}." if brief else f"{counted}.")]
    blocks += [*numbers, *why] if brief else [*why, *numbers]
    blocks += [*map(_figure, found.plots), *map(Paragraph, found.notes)]
    blocks += [Paragraph(f"In part: {together(items)}: {why}.") for why, items in grouped(study.partly).items()]
    return Section(study.name, study.title, tuple(blocks))


def _counted(found: Found) -> str:
    """``5 numbers: 3 exact, 2 differ``."""
    verdicts = Counter(claim.verdict for claim in found.claims)
    counted = [f"{verdicts[one]:,} {one}" for one in VERDICTS if verdicts[one]]
    said = f"{len(found.claims):,} numbers"
    if len(counted) == 1:
        return f"{said}, all {VERDICTS[0]}" if verdicts["exact"] else f"{said}: {counted[0]}"
    words = ", ".join(counted)
    return f"{said}: {words.removesuffix('s') if verdicts['differs'] > 1 else words}"


def _numbers(study: Study, claims: Sequence[Claim], reasons: list[Reason]) -> TableBlock:
    """All numbers; the other implementation's only where they say more than the published ones."""
    parts = [
        (_SOURCE, [claim.source for claim in claims]),
        (Column("what", "left"), [claim.what for claim in claims]),
        (Column("published"), [claim.published for claim in claims]),
        (Column("ours"), [claim.shown for claim in claims]),
        (_INDEPENDENT, [claim.independent if claim.independent != claim.published else "" for claim in claims]),
        (_VERDICT, [_judged(claim, reasons) for claim in claims]),
    ]
    kept = [(column, cells) for column, cells in parts if any(cells)]
    return TableBlock(
        f"{study.name}-numbers",
        "Published numbers and ours.",
        tuple(column for column, _ in kept),
        tuple(zip(*(cells for _, cells in kept), strict=True)),
        tuple(record(study.name, claim) for claim in claims),
        frozenset((row, len(kept) - 1) for row, claim in enumerate(claims) if claim.verdict == "differs"),
    )


def _short_numbers(study: Study, claims: Sequence[Claim], reasons: list[Reason]) -> TableBlock:
    """The numbers that are not exact, as narrow as a terminal needs them: long names take several lines."""
    columns = (Column("not exact", "left"), Column("published"), Column("ours"), Column("verdict", "left"))
    rows: list[tuple[str, ...]] = []
    for claim in claims:
        first, *others = textwrap.wrap(f"{claim.source}: {claim.what}", _NARROW, subsequent_indent="  ")
        rows.append((first, claim.published, claim.shown, _judged(claim, reasons)))
        rows += [(other, "", "", "") for other in others]
    return TableBlock(f"{study.name}-numbers", "Numbers that are not the same to every digit.", columns, tuple(rows))


def _judged(claim: Claim, reasons: list[Reason]) -> str:
    """The verdict, with the number of its reason."""
    return claim.verdict if claim.reason is None else f"{claim.verdict} [{reasons.index(claim.reason) + 1}]"


def _reasons(study: Study, reasons: Mapping[Reason, int], *, brief: bool) -> list[Block]:
    """Why numbers are not the same, once each."""
    if brief:
        return [Paragraph(f"[{place}] ({why.cause}) {why}.") for place, why in enumerate(reasons, 1)]
    table = TableBlock(
        f"{study.name}-reasons",
        "Why numbers are not the same.",
        (Column("reason", "left"), Column("cause", "left"), Column("numbers"), Column("why", "left")),
        tuple(
            (f"[{place}]", why.cause, f"{count:,}", f"{why}.") for place, (why, count) in enumerate(reasons.items(), 1)
        ),
    )
    return [table] if reasons else []


def record(study: str, claim: Claim) -> dict[str, Any]:
    """One number as plain values."""
    return {
        "study": study,
        "source": claim.source,
        "what": claim.what,
        "published": claim.published,
        "ours": claim.ours,
        "independent": claim.independent or None,
        "verdict": claim.verdict,
        "tolerance": claim.tolerance or None,
        "cause": claim.reason.cause if claim.reason else None,
        "why": claim.reason.text if claim.reason else None,
    }


def values_of(made: Reproduction) -> dict[str, Any]:
    """Everything as plain values: numbers, figures, what is made in part and what cannot be made."""
    return {
        "counts": made.counts(),
        "causes": made.causes(),
        "numbers": [record(study.name, claim) for study, found in made.found for claim in found.claims],
        "figures": [{"study": study.name, **asdict(plot)} for study, found in made.found for plot in found.plots],
        "partly": {item: why for study, _ in made.found for item, why in study.partly.items()},
        "left_out": {study.name: why for study, why in made.left_out},
        "impossible": made.impossible,
    }


def _figure(plot: Plot) -> FigureBlock:
    return FigureBlock(plot.name, f"{plot.source}. {plot.caption}", plot.alt, plot, draw_plot)


def grouped(reasons: Mapping[str, str]) -> dict[str, list[str]]:
    """Items by their reason, in the order of the reasons.

    >>> grouped({"T Figure 1.1": "a drawing", "T Table 5.1": "no numbers", "T Figure 2.1": "a drawing"})
    {'a drawing': ['T Figure 1.1', 'T Figure 2.1'], 'no numbers': ['T Table 5.1']}
    """
    found: dict[str, list[str]] = {}
    for item, why in reasons.items():
        found.setdefault(why, []).append(item)
    return found


def together(items: Iterable[str]) -> str:
    """Tables and figures of one paper by their numbers.

    >>> together(["T Table 6.1", "T Table 6.2", "T Figure 6.1", "P11 Table 1"])
    'T Tables 6.1, 6.2, T Figure 6.1, P11 Table 1'
    """
    kinds: dict[str, list[str]] = {}
    for item in items:
        kind, number = item.rsplit(" ", 1)
        kinds.setdefault(kind, []).append(number)
    return ", ".join(f"{kind}{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}" for kind, numbers in kinds.items())


def _left_out(made: Reproduction) -> tuple[Section, ...]:
    if not made.left_out:
        return ()
    said = tuple(Paragraph(f"{study.title}: {why}.") for study, why in made.left_out)
    return (Section("left-out", "Left out, since data are missing", said),)


def _impossible(made: Reproduction) -> tuple[Section, ...]:
    if not made.impossible:
        return ()
    table = TableBlock(
        "impossible",
        "Tables and figures that the public data do not allow.",
        (Column("tables and figures", "left"), Column("why not", "left")),
        tuple((together(items), f"{why}.") for why, items in grouped(made.impossible).items()),
        tuple({"item": item, "why": why} for item, why in made.impossible.items()),
    )
    return (Section("impossible", "What cannot be made anew", (table,)),)


def _papers(made: Reproduction) -> Section:
    rows = tuple((paper.key, paper.citation) for paper in PAPERS.values())
    columns = (Column("key", "left"), Column("paper", "left"))
    return Section("papers", "Papers", (TableBlock("papers", "The papers.", columns, rows), *_data(made.inputs)))


def _data(inputs: Iterable[tuple[str, str]]) -> tuple[Block, ...]:
    """Whose the data are, as far as they were read."""
    from adjudge.reproduction.data import PARTS

    read = {file for file, _ in inputs}
    rows = tuple((name, part.about, part.origin) for name, part in PARTS.items() if read.issuperset(part.files))
    columns = (Column("data", "left"), Column("about", "left"), Column("from", "left"))
    return (TableBlock("data", "The data.", columns, rows),) if rows else ()
