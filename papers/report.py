"""Published numbers beside ours: what agreed in a sentence, a section a study, what cannot be reproduced.

Figures of the papers, drawn as those of experiments are.
"""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from adjudge.reporting.document import Block, FigureBlock, Paragraph, Report, Section, TableBlock
from adjudge.reporting.figures import Curve, Curves, Grid, Panel, curves
from adjudge.tables import Heading
from papers.claims import BASES, CAUSES, Claim, Plot, Reason
from papers.run import EXPLAINED, VERDICTS, Reproduction, counted
from papers.studies import PAPERS, Found, Study

if TYPE_CHECKING:
    from adjudge.reporting.canvas import Canvas
    from papers.claims import Panel as Planned
    from papers.claims import Series


_ALIKE = 0.3  # panels share their axis if each needs at least this part of it


def draw_plot(plot: Plot, canvas: Canvas) -> Grid:
    """Every panel of a figure, with one legend."""
    panels = tuple(
        Panel(panel.title, tuple(map(_curve, panel.series)), panel.levels, panel.diagonal) for panel in plot.panels
    )
    data = Curves(
        plot.x_label,
        plot.y_label,
        panels,
        columns=plot.columns,
        log_x=plot.log_x,
        log_y=plot.log_y,
        share_y=panels_are_alike(plot),
    )
    return curves(data, canvas)


def panels_are_alike(plot: Plot) -> bool:
    """Whether all panels can be read on one vertical axis: none of them would be a flat line at some height."""
    spans = [span for span in (_span(panel, log=plot.log_y) for panel in plot.panels) if span is not None]
    if not spans:
        return True
    whole = max(high for _, high in spans) - min(low for low, _ in spans)
    return all(high - low >= _ALIKE * whole for low, high in spans)


def _span(panel: Planned, *, log: bool) -> tuple[float, float] | None:
    values = [value for series in panel.series for value in series.y if math.isfinite(value) and (value > 0 or not log)]
    if not values:
        return None
    low, high = min(values), max(values)
    return (math.log(low), math.log(high)) if log else (low, high)


def _curve(series: Series) -> Curve:
    x, y, low, high = (np.asarray(values, dtype=float) for values in (series.x, series.y, series.low, series.high))
    banded = len(low) > 0
    return Curve(series.label, x, y, low if banded else None, high if banded else None, joined=series.joined)


_SOURCE = Heading("source", "left", "paper (see below), and its table, figure or section")
_BOUND = Heading(
    "bound",
    about="what ours may be, where that is not just the published number: a number to its last digit, or both ends; a "
    "number outside fails",
)
_VERDICT = Heading(
    "verdict",
    "left",
    "exact: the same to every printed digit; found by search: so, but picked for being nearest; within tolerance: as "
    "near as the reason allows; differs: not the published number, but inside its bound; fails: outside its bound; in "
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
    return Report("The papers' numbers, reproduced", _headline(made), sections, made.provenance(command))


def _headline(made: Reproduction) -> str:
    counts = made.counts()
    near = f"{counts['within tolerance']:,} within tolerance"
    return f"{counts['exact']:,} to every digit, {near}, of {len(made.claims):,} numbers"


def _summary(made: Reproduction, *, brief: bool) -> Section:
    """What agreed, in sentences and by study; a terminal has no room for what each study is about."""
    about = () if brief else (Heading("about", "left"),)
    rows, exact = [], set()
    shown = [verdict for verdict, count in made.counts().items() if count or verdict == "exact"]
    for place, (study, found) in enumerate(made.found):
        verdicts = Counter(claim.verdict for claim in found.claims)
        counts = (len(found.claims), *(verdicts[one] for one in shown))
        rows.append((study.name, *(f"{count:,}" for count in counts), *(study.title for _ in about)))
        exact |= {(place, 2)} if verdicts["exact"] == len(found.claims) else set()
    columns = (Heading("study", "left"), Heading("numbers"), *map(Heading, shown), *about)
    caption = "Published numbers by study and verdict."
    said = (str(made), *_failed(made), _coverage(made), *_quick(made))
    table = TableBlock("summary", caption, columns, tuple(rows), (), frozenset(exact))
    return Section("summary", "Summary", (*map(Paragraph, said), table, *_causes(made), *_bases(made)))


def _causes(made: Reproduction) -> tuple[Block, ...]:
    """Numbers that are not exact, by their cause: which of them nobody could have made the same, and which are left."""
    found = made.causes()
    rows = [(cause, *(f"{counts[one]:,}" for one in EXPLAINED), CAUSES[cause]) for cause, counts in found.items()]
    columns = (Heading("cause", "left"), *map(Heading, EXPLAINED), Heading("because of", "left"))
    table = TableBlock("causes", "Numbers that are not exact, by cause.", columns, tuple(rows))
    return (table,) if rows else ()


def _bases(made: Reproduction) -> tuple[Block, ...]:
    """Where bounds come from: a number outside its bound fails."""
    rows = tuple((basis, f"{count:,}", BASES[basis]) for basis, count in made.bases().items())
    columns = (Heading("bound from", "left"), Heading("numbers"), Heading("which is", "left"))
    return (TableBlock("bounds", "Where the bounds of our numbers come from.", columns, rows),) if rows else ()


def _failed(made: Reproduction) -> list[str]:
    names = "; ".join(
        f"{claim.source}, {claim.what} (published {claim.published}, ours {claim.ours:.6g}, bound {claim.bound}: "
        f"{claim.bound.because})"
        for claim in made.failed
    )
    return [f"Outside {'its bound' if len(made.failed) == 1 else 'their bounds'}: {names}."] if names else []


def _coverage(made: Reproduction) -> str:
    """How many of the papers' tables and figures are here."""
    items = {f"{paper.key} {item}" for paper in PAPERS.values() for item in paper.items}
    here = {item for study, _ in made.found for item in study.covers}
    partly = {item for study, _ in made.found for item in study.partly} & here
    in_part = f" ({len(partly)} of them in part)" if partly else ""
    return (
        f"The five papers have {len(items)} tables and figures: {len(here)} are reproduced here{in_part}, and "
        f"{len(set(made.impossible) & items)} cannot be from public data."
    )


def _quick(made: Reproduction) -> list[str]:
    return ["Made quickly, with fewer trials than the papers: tolerances are wider."] if made.effort.quick else []


def study_section(study: Study, found: Found, *, brief: bool = False) -> Section:
    """One study: what agreed, its numbers, reasons, figures, and what to know about them."""
    reasons = Counter(claim.reason for claim in found.claims if claim.reason is not None)
    listed = [claim for claim in found.claims if not brief or claim.verdict != "exact"]
    said, why = _counted(found), _reasons(study, reasons, brief=brief)
    numbers = [(_short_numbers if brief else _numbers)(study, listed, list(reasons))] if listed else []
    blocks: list[Block] = [Paragraph(f"\n{study.title}: {said}." if brief else f"{said}.")]
    blocks += [*numbers, *why] if brief else [*why, *numbers]
    blocks += [] if brief else _bounds(study, found.claims)
    blocks += [Paragraph(f"Found by search: {claim.what}: {claim.searched}.") for claim in _searched(found)]
    blocks += [*map(_figure, found.plots), *map(Paragraph, found.notes)]
    blocks += [Paragraph(f"In part: {together(items)}: {why}.") for why, items in grouped(study.partly).items()]
    return Section(study.name, study.title, tuple(blocks))


def _counted(found: Found) -> str:
    """``5 numbers: 3 exact, 2 differ``."""
    verdicts = Counter(claim.verdict for claim in found.claims)
    words = [counted(one, verdicts[one]) for one in VERDICTS if verdicts[one]]
    said = f"{len(found.claims):,} numbers"
    return f"{said}, all exact" if verdicts["exact"] == len(found.claims) else f"{said}: {', '.join(words)}"


def _numbers(study: Study, claims: Sequence[Claim], reasons: list[Reason]) -> TableBlock:
    """All numbers; bounds only where they are not just the published ones."""
    parts = [
        (_SOURCE, [claim.source for claim in claims]),
        (Heading("what", "left"), [claim.what for claim in claims]),
        (Heading("published"), [claim.published for claim in claims]),
        (Heading("ours"), [claim.shown for claim in claims]),
        (_VERDICT, [_judged(claim, reasons) for claim in claims]),
        (_BOUND, [str(claim.bound) if claim.bound.basis != "print" else "" for claim in claims]),
    ]
    kept = [(column, cells) for column, cells in parts if any(cells)]
    return TableBlock(
        f"{study.name}-numbers",
        "Published numbers and ours.",
        tuple(column for column, _ in kept),
        tuple(zip(*(cells for _, cells in kept), strict=True)),
        tuple(record(study.name, claim) for claim in claims),
        frozenset((row, 4) for row, claim in enumerate(claims) if claim.verdict in ("differs", "fails")),
    )


def _short_numbers(study: Study, claims: Sequence[Claim], reasons: list[Reason]) -> TableBlock:
    """The numbers that are not exact, as narrow as a terminal needs them: long names take several lines."""
    columns = (Heading("not exact", "left"), Heading("published"), Heading("ours"), Heading("verdict", "left"))
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
        (Heading("reason", "left"), Heading("cause", "left"), Heading("numbers"), Heading("why", "left")),
        tuple(
            (f"[{place}]", why.cause, f"{count:,}", f"{why}.") for place, (why, count) in enumerate(reasons.items(), 1)
        ),
    )
    return [table] if reasons else []


def _bounds(study: Study, claims: Sequence[Claim]) -> list[Block]:
    """Where the bounds of a study come from, once each; those that are just the printed numbers need no word."""
    found = Counter((claim.bound.basis, claim.bound.because) for claim in claims if claim.bound.basis != "print")
    table = TableBlock(
        f"{study.name}-bounds",
        "Where bounds come from.",
        (Heading("bound from", "left"), Heading("numbers"), Heading("because", "left")),
        tuple((basis, f"{count:,}", f"{because}.") for (basis, because), count in found.items()),
    )
    return [table] if found else []


def _searched(found: Found) -> list[Claim]:
    """One number for each search."""
    return list({claim.searched: claim for claim in reversed(found.claims) if claim.searched}.values())


def record(study: str, claim: Claim) -> dict[str, Any]:
    """One number as plain values."""
    return {
        "study": study,
        "source": claim.source,
        "what": claim.what,
        "published": claim.published,
        "ours": claim.ours,
        "low": claim.bound.low,
        "high": claim.bound.high,
        "basis": claim.bound.basis,
        "because": claim.bound.because,
        "verdict": claim.verdict,
        "searched": claim.searched or None,
        "tolerance": claim.tolerance or None,
        "cause": claim.reason.cause if claim.reason else None,
        "why": claim.reason.text if claim.reason else None,
    }


def values_of(made: Reproduction) -> dict[str, Any]:
    """Everything as plain values: numbers, figures, what is made in part and what cannot be made."""
    return {
        "counts": made.counts(),
        "causes": made.causes(),
        "bounds": made.bases(),
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
        (Heading("tables and figures", "left"), Heading("why not", "left")),
        tuple((together(items), f"{why}.") for why, items in grouped(made.impossible).items()),
        tuple({"item": item, "why": why} for item, why in made.impossible.items()),
    )
    return (Section("impossible", "What cannot be reproduced", (table,)),)


def _papers(made: Reproduction) -> Section:
    rows = tuple((paper.key, paper.citation) for paper in PAPERS.values())
    columns = (Heading("key", "left"), Heading("paper", "left"))
    return Section("papers", "Papers", (TableBlock("papers", "The papers.", columns, rows), *_data(made.inputs)))


def _data(inputs: Iterable[tuple[str, str]]) -> tuple[Block, ...]:
    """Whose the data are, as far as they were read."""
    from papers.data import PARTS

    read = {file for file, _ in inputs}
    rows = tuple((name, part.about, part.origin) for name, part in PARTS.items() if read.issuperset(part.files))
    columns = (Heading("data", "left"), Heading("about", "left"), Heading("from", "left"))
    return (TableBlock("data", "The data.", columns, rows),) if rows else ()
