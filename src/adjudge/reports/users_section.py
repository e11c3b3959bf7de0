"""The section about users: the curves between effectiveness and what people notice and are satisfied with."""

from __future__ import annotations

import numpy as np

from adjudge.reports.document import Block, Column, FigureBlock, Paragraph, Section, TableBlock, section
from adjudge.reports.evidence import Evidence
from adjudge.reports.preference_figures import Panel, Panels, Series, agreement_panels, satisfaction_panels
from adjudge.users.agreement import AgreementMapping, noticeable_difference, noticeable_interval
from adjudge.users.satisfaction import SatisfactionMapping
from adjudge.users.satisfaction_fit import satisfaction_interval

_GRID = np.linspace(0.0, 1.0, 101)
_AT = np.array([0.0, 0.5, 1.0])
_MOST = 6  # panels in a figure
_NO_BINS = Series(*(np.empty(0) for _ in range(4)))


@section("users")
def users(evidence: Evidence) -> Section | None:
    """What effectiveness means to users: curves, and where most notice a difference; nothing without a mapping."""
    notice = {name: one.agreement for name, one in evidence.comparisons.items() if one.agreement is not None}
    satisfy = dict(zip(evidence.satisfaction.measures, evidence.satisfaction.mappings, strict=True))
    if not notice and not satisfy:
        return None
    blocks: list[Block] = [Paragraph(_sentence(notice, satisfy)), _table(evidence, notice, satisfy)]
    if notice:
        blocks.append(_agreement(notice))
    if satisfy:
        blocks.append(_satisfaction(satisfy))
    return Section("users", "What it means to users", tuple(blocks))


def _sentence(notice: dict[str, AgreementMapping], satisfy: dict[str, SatisfactionMapping]) -> str:
    """Where most notice a difference under the first measure that is known, and where the curves come from."""
    named = [*(one.source for one in notice.values()), *(one.source for one in satisfy.values())]
    sources = "; ".join(dict.fromkeys(source for source in named if source)) or "mappings of your own"
    text = f"These curves turn effectiveness into people: {sources}."
    if not notice:
        return text
    name, mapping = next(iter(notice.items()))
    least = noticeable_difference(mapping)
    if least is None:
        return f"{text} No difference in {name} is noticed by more than half of the users on one query."
    return f"{text} On one query, more than half of the users notice differences in {name} from {least:.2f} on."


def _table(
    evidence: Evidence, notice: dict[str, AgreementMapping], satisfy: dict[str, SatisfactionMapping]
) -> TableBlock:
    columns = (
        Column("Measure", "left"),
        Column("Noticed from", about="difference on one query from which on more than half prefer the better system"),
        *(Column(f"P(Sat | {value:g})", about=f"share satisfied with a list of {value:g}") for value in _AT),
    )
    rows = [
        (name, _noticed(notice.get(name)), *_satisfied(satisfy.get(name)))
        for name in evidence.eff.measures
        if name in notice or name in satisfy
    ]
    return TableBlock("users-numbers", "What users notice, and are satisfied with.", columns, tuple(rows))


def _noticed(mapping: AgreementMapping | None) -> str:
    if mapping is None:
        return "–"
    value, (low, high) = noticeable_difference(mapping), noticeable_interval(mapping)
    if value is None:
        return "never"
    ends = "" if low is None else f" [{low:.2f}, {1.0 if high is None else high:.2f}]"
    return f"{value:.2f}{ends}"


def _satisfied(mapping: SatisfactionMapping | None) -> list[str]:
    if mapping is None:
        return ["–"] * len(_AT)
    lows, highs = (
        satisfaction_interval(mapping, _AT) if mapping.covariance else (np.full(len(_AT), np.nan) for _ in range(2))
    )
    return [
        f"{value:.2f}" if np.isnan(low) else f"{value:.2f} [{low:.2f}, {high:.2f}]"
        for value, low, high in zip(mapping(_AT), lows, highs, strict=True)
    ]


def _agreement(notice: dict[str, AgreementMapping]) -> FigureBlock:
    names = ("prefer the better system", "cannot tell", "prefer the worse one")
    panels = []
    for name, mapping in list(notice.items())[:_MOST]:
        value, (low, high) = noticeable_difference(mapping), noticeable_interval(mapping)
        mark = None
        if value is not None:
            mark = (value, np.nan if low is None else low, np.nan if high is None else high)
        panels.append(Panel(name, (_NO_BINS,) * 3, tuple(mapping(_GRID)), mark))
    first = next(iter(notice))
    shares = notice[first](np.array([0.1, 0.5]))
    alt = (
        f"Shares of users against the size of the difference. In {first}, {shares.agree[0]:.0%} prefer the better "
        f"system at a difference of .1, and {shares.agree[1]:.0%} at one of .5."
    ).replace("%", " %")
    data = Panels("size of the difference", "share of users", _GRID, names, names, tuple(panels))
    caption = "Whom users prefer, by the size of the difference; upright where more than half prefer the better system."
    return FigureBlock("users-notice", caption, alt, data, agreement_panels)


def _satisfaction(satisfy: dict[str, SatisfactionMapping]) -> FigureBlock:
    panels = tuple(Panel(name, (), (mapping(_GRID),)) for name, mapping in list(satisfy.items())[:_MOST])
    first = next(iter(satisfy))
    low, middle, high = satisfy[first](_AT)
    alt = (
        f"P(Sat) against effectiveness. For {first} it is {low:.0%} at 0, {middle:.0%} at one half and {high:.0%} at 1."
    ).replace("%", " %")
    data = Panels("effectiveness", "P(Sat)", _GRID, (), ("share satisfied",), panels)
    return FigureBlock("users-satisfied", "Share of users satisfied with a list.", alt, data, satisfaction_panels)
