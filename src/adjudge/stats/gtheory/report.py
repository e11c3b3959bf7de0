"""A plan as a section of a report: sentences, tables, and figures, which only draw. The terminal shows the tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from adjudge.arrays import Floats
from adjudge.reporting.document import Block, Paragraph, Section, TableBlock
from adjudge.stats.gtheory.dstudy import INDICES, QueriesNeeded
from adjudge.stats.gtheory.plan import Designs, Plan, PowerPlan, PricedDesign
from adjudge.stats.power import MOST_QUERIES
from adjudge.tables import Heading
from adjudge.text import counted, percent, with_interval

_MEANING = {"e_rho2": "ranking", "phi": "scores"}
_SHOWN_DESIGNS = 8
_TOO_MANY = f"over {MOST_QUERIES:,}"


def plan_section(plan: Plan) -> Section:
    """The whole plan."""
    return Section("plan", "How large the collection should be", tuple(plan_blocks(plan)))


def plan_blocks(plan: Plan) -> list[Block]:
    """Sentences, tables and figures, in the order of the questions that they answer."""
    blocks: list[Block] = [Paragraph(sentence) for sentence in plan.verdict()]
    blocks += [_components(plan), _sizes(plan), plan.figure("reliability-curves")]
    if len(plan.growth) > 1:
        blocks += _growth_blocks(plan)
    if plan.power is not None:
        blocks.append(_power(plan, plan.power))
    if plan.designs is not None:
        blocks += _design_blocks(plan, plan.designs)
    return blocks


def _table(
    name: str,
    caption: str,
    columns: Mapping[Heading, str],
    rows: Iterable[Sequence[Any]],
    records: Sequence[dict[str, Any]] = (),
) -> TableBlock:
    """A table whose columns say how to format a row, as :meth:`str.format` does: ``{0.cost:,}`` of its first object."""
    cells = tuple(tuple(form.format(*row) for form in columns.values()) for row in rows)
    return TableBlock(name, caption, tuple(columns), cells, records)


def _components(plan: Plan) -> TableBlock:
    first, *others = (effect.name for effect in plan.study.design.effects)
    rows, target, people = [], plan.targets[0], _with_assessors(plan)
    for name, decision in plan.decisions.items():
        shares = decision.study.fractions()
        now = next(row for row in decision.rows if row.n_queries == decision.study.n_queries)
        needed = [_queries(decision.need(index, target=target)) for index in INDICES]
        cells = [f"{100 * shares[effect]:.1f} %" if effect in shares else "–" for effect in (first, *others)]
        rows.append((name, *cells, f"{now.e_rho2:.4f}", needed[0], f"{now.phi:.4f}", needed[1]))
    columns = (
        Heading("Measure", "left"),
        Heading(first, about="share of the variance of one score"),
        *map(Heading, others),
        Heading("Eρ²", about=f"reliability of the ranking with {plan.study.n_queries} queries{people}"),
        Heading("for ranking", about=f"queries for Eρ² ≥ {target:g}"),
        Heading("Φ", about=f"reliability of scores with {plan.study.n_queries} queries{people}"),
        Heading("for scores", about=f"queries for Φ ≥ {target:g}"),
    )
    caption = f"Where effectiveness varies ({plan.study.size}, {plan.study.method}), and queries needed{people}."
    return TableBlock("variance-components", caption, columns, tuple(rows), plan.to_dicts())


def _with_assessors(plan: Plan) -> str:
    """How many assessors per query the plan is for, in words; nothing where the design has none."""
    n = plan.main.rows[0].n_assessors
    return f" with {counted(n, 'assessor')} per query" if plan.study.design.has_assessors else ""


def _queries(needed: QueriesNeeded) -> str:
    if needed.n_queries is None:
        return "never"
    if needed.low is None:
        return f"{needed.n_queries:,}"
    return f"{needed.n_queries:,} [{needed.low:,}, {'∞' if needed.high is None else f'{needed.high:,}'}]"


def _sizes(plan: Plan) -> TableBlock:
    main, people = plan.main, {Heading("Assessors", about="assessors who judge a query"): "{0.n_assessors}"}
    columns = {
        Heading("Queries"): "{0.n_queries:,}",
        **(people if plan.study.design.has_assessors else {}),
        Heading("Eρ²", about="reliability of the ranking: variance of systems over itself and relative error"): "{1}",
        Heading("Φ", about="reliability of scores: the same with absolute error"): "{2}",
        Heading("τ", about="expected Kendall correlation with the true ranking"): "{0.tau:.2f}",
        Heading("τ again", about="the same with the ranking by another collection of this size"): "{0.tau_again:.2f}",
        Heading("± ranking", about="standard error of a score relative to the others"): "{0.relative_error:.3f}",
        Heading("± scores", about="standard error of a score"): "{0.absolute_error:.3f}",
    }
    rows = [
        (
            row,
            with_interval(row.e_rho2, row.e_rho2_low, row.e_rho2_high),
            with_interval(row.phi, row.phi_low, row.phi_high),
        )
        for row in main.rows
        if row.n_assessors == main.rows[0].n_assessors or row.n_queries == plan.study.n_queries
    ]
    level = "" if main.interval == "none" else f", with {percent(main.confidence)} intervals ({main.interval})"
    caption = f"Reliability of {plan.study.measure} by size{level}."
    return _table("reliability-by-size", caption, columns, rows, [asdict(row) for row in main.rows])


def _column(rows: Sequence[Any], name: str) -> Floats:
    return np.array([getattr(row, name) for row in rows], dtype=np.float64)  # None is NaN


def _growth_blocks(plan: Plan) -> list[Block]:
    steps, people = plan.growth, _with_assessors(plan)
    needed = [_column(steps, f"{index}_queries") for index in INDICES]
    columns = {
        Heading("Judged"): "{0.n_queries:,}",
        Heading("Eρ²"): "{0.e_rho2:.3f}",
        Heading("Φ"): "{0.phi:.3f}",
        Heading("for ranking"): "{1}",
        Heading("for scores"): "{2}",
    }
    shown = [["never" if np.isnan(n) else f"{n:,.0f}" for n in numbers] for numbers in needed]
    caption = f"The plan after the first queries: queries for {plan.targets[0]:g}{people}, in the order judged."
    table = _table("growth", caption, columns, zip(steps, *shown, strict=True), [asdict(step) for step in steps])
    return [table, plan.figure("growth-curves")]


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
        f"The present {power.n_queries} detect {power.detectable[0]:.3g} and {power.detectable[1]:.3g}."
    )
    return TableBlock("power-plan", caption, columns, rows)


def _design_blocks(plan: Plan, designs: Designs) -> list[Block]:
    target, blocks, costs = plan.targets[0], list[Block](), designs.costs
    prices = {"judgment": costs.judgment, "query": costs.query, "assessor": costs.assessor}
    paid = ", ".join(f"{price:g} per {what}" for what, price in prices.items() if price > 0)
    for index, meaning in _MEANING.items():
        cheapest, goal = designs.cheapest[index], f"{INDICES[index]} ≥ {target:g}"
        if cheapest:
            caption = f"Cheapest designs for stable {meaning} ({goal}); prices are {paid}."
            blocks.append(_design_table(f"cheapest-{meaning}", caption, cheapest))
        else:
            blocks.append(Paragraph(f"No design reaches {goal}."))
    for index, best in designs.best.items():
        caption = f"Most stable {_MEANING[index]} for a budget of {designs.budget:,g}."
        blocks.append(_design_table(f"best-{_MEANING[index]}", caption, best))
    return [*blocks, plan.figure("cost-curves")]


def _design_table(name: str, caption: str, designs: Sequence[PricedDesign]) -> TableBlock:
    columns = {
        Heading("Measure", "left"): "{0.measure}",
        Heading("Queries"): "{0.n_queries:,}",
        Heading("Assessors", about="per query"): "{0.n_assessors}",
        Heading("People", about="assessors to recruit"): "{0.people:,}",
        Heading("Judgments"): "{0.n_judgments:,}",
        Heading("Cost"): "{0.cost:,.10g}",
        Heading("Eρ²"): "{0.e_rho2:.3f}",
        Heading("Φ"): "{0.phi:.3f}",
        Heading("τ"): "{0.tau:.2f}",
    }
    rows = [(design,) for design in designs[:_SHOWN_DESIGNS]]
    return _table(name, caption, columns, rows, [asdict(design) for design in designs])
