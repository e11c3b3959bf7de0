"""A plan as a section of a report: sentences, tables and figures. The terminal shows the same tables.

Figures of a plan: reliability against queries and judgments, and how the answer moved. They only draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.arrays import Floats
from adjudge.reporting.document import Block, FigureBlock, Paragraph, Section, TableBlock
from adjudge.reporting.figures import PALETTE, canvas
from adjudge.stats.gtheory.budget import PricedDesign
from adjudge.stats.gtheory.dstudy import INDICES, QueriesNeeded
from adjudge.stats.gtheory.plan import Designs, Plan, PowerPlan
from adjudge.stats.power import MOST_QUERIES
from adjudge.tables import Heading
from adjudge.text import counted, percent, with_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_COLOURS = ("accent", "warm", "muted", "ink", "soft")
_STYLES = ("-", "--", ":", "-.")


@dataclass(frozen=True)
class ReliabilityCurves:
    """Eρ² and Φ by number of queries, with their intervals; the targets, and the queries there are."""

    queries: Floats
    names: tuple[str, ...]
    values: tuple[Floats, ...]
    low: tuple[Floats, ...]
    high: tuple[Floats, ...]
    targets: tuple[float, ...]
    n_queries: int


def reliability_curves(data: ReliabilityCurves) -> Figure:
    """A line for each index with a band for its interval, on a logarithmic axis of queries."""
    figure, (axes,) = canvas(3.2)
    for i, (name, value, low, high) in enumerate(zip(data.names, data.values, data.low, data.high, strict=True)):
        colour = PALETTE[_COLOURS[i]]
        if np.isfinite(low).any():
            axes.fill_between(data.queries, low, high, color=colour, alpha=0.14, linewidth=0)
        axes.plot(data.queries, value, color=colour, linewidth=1.6, label=name, linestyle=_STYLES[i % len(_STYLES)])
    for target in data.targets:
        axes.axhline(target, color=PALETTE["muted"], linewidth=0.8, linestyle=(0, (2, 2)))
        axes.text(1.0, target, f" {target:g}", transform=axes.get_yaxis_transform(), va="center", fontsize=8)
    axes.axvline(data.n_queries, color=PALETTE["line"], linewidth=1)
    axes.text(data.n_queries, 0.02, " now", transform=axes.get_xaxis_transform(), fontsize=8, color=PALETTE["muted"])
    _log_axis(axes, data.queries, "queries")
    axes.set_ylabel("reliability")
    axes.legend(frameon=False, loc="lower right")
    return figure


@dataclass(frozen=True)
class CostCurves:
    """An index against judgments: one line a cutoff and number of assessors."""

    label: str
    measures: tuple[str, ...]
    assessors: tuple[int, ...]
    judgments: tuple[Floats, ...]
    values: tuple[Floats, ...]
    target: float


def cost_curves(data: CostCurves) -> Figure:
    """A line for each design, on a logarithmic axis of judgments: a colour a cutoff, a stroke a number of assessors."""
    figure, (axes,) = canvas(3.2)
    colours, people = list(dict.fromkeys(data.measures)), sorted(set(data.assessors))
    for measure, n, judgments, values in zip(data.measures, data.assessors, data.judgments, data.values, strict=True):
        colour = PALETTE[_COLOURS[colours.index(measure) % len(_COLOURS)]]
        stroke = _STYLES[people.index(n) % len(_STYLES)]
        name = measure if len(people) == 1 else f"{measure}, {counted(n, 'assessor')}"
        axes.plot(judgments, values, color=colour, linewidth=1.5, linestyle=stroke, label=name)
    axes.axhline(data.target, color=PALETTE["muted"], linewidth=0.8, linestyle=(0, (2, 2)))
    _log_axis(axes, np.concatenate(data.judgments), "judgments")
    axes.set_ylabel(data.label)
    axes.legend(frameon=False, loc="lower right", fontsize=8)
    return figure


@dataclass(frozen=True)
class GrowthCurves:
    """Queries asked for after so many queries were judged; NaN where no number was enough."""

    queries: Floats
    names: tuple[str, ...]
    needed: tuple[Floats, ...]


def growth_curves(data: GrowthCurves) -> Figure:
    """Lines of queries asked for; below the slanted line the collection is large enough."""
    figure, (axes,) = canvas(3.0)
    for i, (name, needed) in enumerate(zip(data.names, data.needed, strict=True)):
        colour = PALETTE[_COLOURS[i]]
        axes.plot(data.queries, needed, "o-", color=colour, markersize=3.5, linewidth=1.4, label=name)
    axes.plot(
        data.queries,
        data.queries,
        color=PALETTE["muted"],
        linewidth=1,
        linestyle=(0, (2, 2)),
        label="queries there are",
    )
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    axes.set_xlabel("queries judged so far")
    axes.set_ylabel("queries needed")
    axes.grid()
    axes.set_axisbelow(True)
    axes.legend(frameon=False, fontsize=8)
    return figure


def _log_axis(axes: Axes, values: Floats, label: str) -> None:
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.xaxis.set_minor_formatter(lambda value, _: "")
    axes.set_xlim(float(values.min()), float(values.max()))
    axes.set_ylim(top=1.0)
    axes.set_xlabel(label)
    axes.grid()
    axes.set_axisbelow(True)


_MEANING = {"e_rho2": "ranking", "phi": "scores"}
_SHOWN_DESIGNS = 8
_TOO_MANY = f"over {MOST_QUERIES:,}"


def plan_section(plan: Plan) -> Section:
    """The whole plan."""
    return Section("plan", "How large the collection should be", tuple(plan_blocks(plan)))


def plan_blocks(plan: Plan) -> list[Block]:
    """Sentences, tables and figures, in the order of the questions that they answer."""
    blocks: list[Block] = [Paragraph(sentence) for sentence in plan.verdict()]
    blocks += [_components(plan), _sizes(plan), _curves(plan)]
    if len(plan.growth) > 1:
        blocks += [_growth_table(plan), _growth_figure(plan)]
    if plan.power is not None:
        blocks.append(_power(plan, plan.power))
    if plan.designs is not None:
        blocks += _design_blocks(plan, plan.designs)
    return blocks


def _components(plan: Plan) -> TableBlock:
    effects = plan.study.design.effects
    rows, target, people = [], plan.targets[0], _with_assessors(plan)
    for name, decision in plan.decisions.items():
        shares = decision.study.fractions()
        now = next(row for row in decision.rows if row.n_queries == decision.study.n_queries)
        needed = [_queries(decision.need(index, target=target)) for index in INDICES]
        cells = [f"{100 * shares[effect.name]:.1f} %" if effect.name in shares else "–" for effect in effects]
        rows.append((name, *cells, f"{now.e_rho2:.4f}", needed[0], f"{now.phi:.4f}", needed[1]))
    columns = (
        Heading("Measure", "left"),
        *(Heading(effect.name, about="share of the variance of one score") for effect in effects[:1]),
        *(Heading(effect.name) for effect in effects[1:]),
        Heading("Eρ²", about=f"reliability of the ranking with {plan.study.n_queries} queries{people}"),
        Heading("for ranking", about=f"queries for Eρ² >= {target:g}"),
        Heading("Φ", about=f"reliability of scores with {plan.study.n_queries} queries{people}"),
        Heading("for scores", about=f"queries for Φ >= {target:g}"),
    )
    caption = f"Where effectiveness varies ({plan.study.size}, {plan.study.method}), and queries needed{people}."
    return TableBlock("variance-components", caption, columns, tuple(rows), plan.to_dicts())


def _with_assessors(plan: Plan) -> str:
    """How many assessors a query the plan is for, in words; nothing where the design has none."""
    n = plan.main.rows[0].n_assessors
    return f" with {counted(n, 'assessor')} a query" if plan.study.design.has_assessors else ""


def _queries(needed: QueriesNeeded) -> str:
    if needed.n_queries is None:
        return "never"
    if needed.low is None:
        return f"{needed.n_queries:,}"
    return f"{needed.n_queries:,} [{needed.low:,}, {'∞' if needed.high is None else f'{needed.high:,}'}]"


def _sizes(plan: Plan) -> TableBlock:
    people = plan.study.design.has_assessors
    columns = (
        Heading("Queries"),
        *([Heading("Assessors", about="assessors who judge a query")] if people else []),
        Heading("Eρ²", about="reliability of the ranking: variance of systems over itself and relative error"),
        Heading("Φ", about="reliability of scores: the same with absolute error"),
        Heading("τ", about="expected Kendall correlation with the true ranking"),
        Heading("τ again", about="the same with the ranking by another collection of this size"),
        Heading("± ranking", about="standard error of a score relative to the other systems"),
        Heading("± scores", about="standard error of a score"),
    )
    rows = tuple(
        (
            f"{row.n_queries:,}",
            *([f"{row.n_assessors}"] if people else []),
            with_interval(row.e_rho2, row.e_rho2_low, row.e_rho2_high),
            with_interval(row.phi, row.phi_low, row.phi_high),
            f"{row.tau:.2f}",
            f"{row.tau_again:.2f}",
            f"{row.relative_error:.3f}",
            f"{row.absolute_error:.3f}",
        )
        for row in plan.main.rows
        if row.n_assessors == plan.main.rows[0].n_assessors or row.n_queries == plan.study.n_queries
    )
    level = (
        ""
        if plan.main.interval == "none"
        else f", with {percent(plan.main.confidence)} intervals ({plan.main.interval})"
    )
    caption = f"Reliability of {plan.study.measure} by size{level}."
    return TableBlock("reliability-by-size", caption, columns, rows, [asdict(row) for row in plan.main.rows])


def _curves(plan: Plan) -> FigureBlock:
    rows = plan.curve.rows

    def column(name: str) -> Floats:
        return np.array([getattr(row, name) for row in rows], dtype=np.float64)

    data = ReliabilityCurves(
        column("n_queries"),
        ("Eρ², ranking", "Φ, scores"),
        tuple(column(index) for index in INDICES),
        tuple(column(f"{index}_low") for index in INDICES),
        tuple(column(f"{index}_high") for index in INDICES),
        plan.targets,
        plan.study.n_queries,
    )
    bands = "" if plan.curve.interval == "none" else "; bands are intervals"
    caption = f"Reliability of {plan.study.measure} against the number of queries{_with_assessors(plan)}{bands}."
    alt = f"Lines that rise with queries; {' and '.join(_reached(plan.needed(index)) for index in INDICES)}."
    return FigureBlock("reliability-curves", caption, alt, data, reliability_curves)


def _reached(needed: QueriesNeeded) -> str:
    if needed.n_queries is None:
        return f"{INDICES[needed.index]} never reaches {needed.target:g}"
    return f"{INDICES[needed.index]} reaches {needed.target:g} with {needed.n_queries:,} queries"


def _growth_table(plan: Plan) -> TableBlock:
    columns = (Heading("Judged"), Heading("Eρ²"), Heading("Φ"), Heading("for ranking"), Heading("for scores"))
    rows = tuple(
        (
            f"{step.n_queries:,}",
            f"{step.e_rho2:.3f}",
            f"{step.phi:.3f}",
            "never" if step.e_rho2_queries is None else f"{step.e_rho2_queries:,}",
            "never" if step.phi_queries is None else f"{step.phi_queries:,}",
        )
        for step in plan.growth
    )
    caption = (
        f"What the first queries said when there were no more: queries for {plan.targets[0]:g}{_with_assessors(plan)}, "
        "in the order judged."
    )
    return TableBlock("growth", caption, columns, rows, [asdict(step) for step in plan.growth])


def _growth_figure(plan: Plan) -> FigureBlock:
    needed = tuple(
        np.array(
            [np.nan if (n := getattr(step, f"{index}_queries")) is None else n for step in plan.growth],
            dtype=np.float64,
        )
        for index in INDICES
    )
    sizes = np.array([step.n_queries for step in plan.growth], dtype=np.float64)
    data = GrowthCurves(sizes, tuple(f"for {_MEANING[index]}" for index in INDICES), needed)
    caption = (
        "Queries needed as estimated after each batch of queries. Below the slanted line the collection is large "
        "enough; early answers swing."
    )
    alt = f"Estimated number of queries needed after {len(plan.growth)} batches."
    return FigureBlock("growth-curves", caption, alt, data, growth_curves)


def _power(plan: Plan, power: PowerPlan) -> TableBlock:
    columns = (
        Heading("Difference", "left"),
        Heading("Typical pair", about="half of the pairs vary less from query to query"),
        Heading("Hard pair", about="nine pairs in ten vary less"),
    )
    rows = tuple((f"{d:g}", *(_TOO_MANY if n is None else f"{n:,}" for n in needed)) for d, *needed in power.rows)
    people = ", each judged as now," if plan.study.design.has_assessors else ""
    among = "" if power.comparisons == 1 else f" over {power.comparisons:,} comparisons"
    caption = (
        f"Queries{people} with which a paired t test detects a true difference with {percent(power.power)} power "
        f"(α = {power.alpha:g}{among}, two-sided). "
        f"The {power.n_queries} there are detect {power.detectable[0]:.3g} and {power.detectable[1]:.3g}."
    )
    return TableBlock("power-plan", caption, columns, rows)


def _design_blocks(plan: Plan, designs: Designs) -> list[Block]:
    target, blocks = plan.targets[0], list[Block]()
    for index, meaning in _MEANING.items():
        found = designs.cheapest[index]
        if not found:
            blocks.append(Paragraph(f"No design reaches {INDICES[index]} >= {target:g}."))
            continue
        caption = f"Cheapest designs for stable {meaning} ({INDICES[index]} >= {target:g}); {_prices(designs)}."
        blocks.append(_design_table(f"cheapest-{meaning}", caption, found))
    for index, found in designs.best.items():
        caption = f"Most stable {_MEANING[index]} for a budget of {designs.budget:,g}."
        blocks.append(_design_table(f"best-{_MEANING[index]}", caption, found))
    blocks.append(_cost_figure(plan, designs))
    return blocks


def _prices(designs: Designs) -> str:
    costs = designs.costs
    named = {"a judgment": costs.judgment, "a query": costs.query, "an assessor": costs.assessor}
    return f"prices are {', '.join(f'{price:g} {name}' for name, price in named.items() if price > 0)}"


def _design_table(name: str, caption: str, found: Sequence[PricedDesign]) -> TableBlock:
    columns = (
        Heading("Measure", "left"),
        Heading("Queries"),
        Heading("Assessors", about="a query"),
        Heading("People", about="assessors to recruit"),
        Heading("Judgments"),
        Heading("Cost"),
        Heading("Eρ²"),
        Heading("Φ"),
        Heading("τ"),
    )
    rows = tuple(
        (
            one.measure,
            f"{one.n_queries:,}",
            f"{one.n_assessors}",
            f"{one.people:,}",
            f"{one.n_judgments:,}",
            f"{one.cost:,.10g}",
            f"{one.e_rho2:.3f}",
            f"{one.phi:.3f}",
            f"{one.tau:.2f}",
        )
        for one in found[:_SHOWN_DESIGNS]
    )
    return TableBlock(name, caption, columns, rows, [asdict(one) for one in found])


def _cost_figure(plan: Plan, designs: Designs) -> FigureBlock:
    data = CostCurves(
        "Eρ²",
        tuple(curve[0].measure for curve in designs.curves),
        tuple(curve[0].n_assessors for curve in designs.curves),
        tuple(np.array([one.n_judgments for one in curve], dtype=np.float64) for curve in designs.curves),
        tuple(np.array([one.e_rho2 for one in curve]) for curve in designs.curves),
        plan.targets[0],
    )
    caption = "Reliability of the ranking against judgments: what the same effort gives in different designs."
    alt = f"Eρ² against judgments for {len(designs.curves)} designs."
    return FigureBlock("cost-curves", caption, alt, data, cost_curves)
