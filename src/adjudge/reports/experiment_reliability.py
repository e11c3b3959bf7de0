"""Report of how far estimates of reliability from few queries can be trusted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adjudge.experiments.reliability_findings import ReliabilityFindings
from adjudge.experiments.words import share
from adjudge.reports.document import Column, FigureBlock, Paragraph, Section, TableBlock
from adjudge.reports.experiment_figures import Curve, Curves, Panel, curves
from adjudge.reports.experiments import EXPERIMENT_SECTIONS, conclusion, table_of
from adjudge.stats.reliability import INDICES

_PREDICTED = (
    ("Eρ², predicted", "correlation_predicted"),
    ("Eρ², {known}", "correlation_known"),
    ("correlation, observed", "correlation"),
    ("τ, predicted", "tau_predicted"),
    ("τ, observed", "tau"),
)


@EXPERIMENT_SECTIONS.register("reliability")
def reliability_sections(findings: ReliabilityFindings) -> Sequence[Section]:
    """The conclusion, estimates with their spread, and what a second set of queries shows."""
    text = "Eρ² of one set of queries predicts how systems' means correlate with those on another; τ follows from it."
    return [
        Section("reliability", "Can estimates of reliability be trusted", tuple(conclusion(findings))),
        Section("estimates", "Rates by number of queries", (_estimates(findings), _spread(findings))),
        Section("repeated", "What a second set shows", (Paragraph(text), _observed(findings), _against(findings))),
    ]


def _known(findings: ReliabilityFindings) -> str:
    """What estimates are held against."""
    return "in truth" if findings.simulated else "with all queries"


def _spread(findings: ReliabilityFindings) -> FigureBlock:
    panels = []
    for name in findings.samples.names:
        lines, levels = [], []
        for index, label in INDICES.items():
            cells = [one for one in findings.estimates if (one.sample, one.index) == (name, index)]
            x, y, low, high = (
                np.array([getattr(one, value) for one in cells], dtype=np.float64)
                for value in ("n_queries", "all_mean", "all_low", "all_high")
            )
            lines.append(Curve(label, x, y, low, high))
            levels.append(cells[0].all_known)
        panels.append(Panel(name, tuple(lines), tuple(levels)))
    caption = (
        "Reliability of the whole collection as estimated from some of its queries: mean over trials, and where 90 % "
        f"of them lie. Dotted lines are the values {_known(findings)}."
    )
    alt = (
        "Curves of estimated Eρ² and Φ by number of queries, with bands that narrow towards the value "
        f"{_known(findings)}."
    )
    data = Curves("queries estimated from", "reliability of all queries", tuple(panels))
    return FigureBlock("reliability-spread", caption, alt, data, curves)


def _against(findings: ReliabilityFindings) -> FigureBlock:
    panels = []
    for name in findings.samples.names:
        cells = [one for one in findings.repeated if one.sample == name]
        x = np.array([one.n_queries for one in cells], dtype=np.float64)
        lines = [
            Curve(label.format(known=_known(findings)), x, np.array([getattr(one, value) for one in cells]))
            for label, value in _PREDICTED
        ]
        panels.append(Panel(name, tuple(lines)))
    caption = (
        "What one set of queries predicts of another of the same size, and what is observed: the correlation of "
        "systems' means, and Kendall's τ of the rankings."
    )
    last = findings.repeated[-1]
    alt = (
        f"Predicted and observed agreement by number of queries; {last.sample} with {last.n_queries} queries: "
        f"correlation {last.correlation:.3f}, predicted {last.correlation_predicted:.3f}."
    )
    data = Curves("queries in each set", "agreement", tuple(panels))
    return FigureBlock("reliability-repeated", caption, alt, data, curves)


def _estimates(findings: ReliabilityFindings) -> TableBlock:
    known = _known(findings)
    columns = (
        Column("Sample", "left"),
        Column("Queries"),
        Column("Index", "left"),
        Column("For as many", about="the index for as many queries, and where 90 % of trials lie"),
        Column("For all", about="the index for all queries, and where 90 % of trials lie"),
        Column("Bias", about=f"mean less the value {known}"),
        Column("Queries needed", about="median for the target, and where 90 % of trials lie"),
        Column("Off by 2", about=f"trials more than twice or less than half of the number {known}"),
        Column("Covered", about=f"F intervals with the value {known} inside"),
    )
    rows = [
        (
            one.sample,
            f"{one.n_queries}",
            INDICES[one.index],
            f"{one.mean:.3f} [{one.low:.3f}, {one.high:.3f}]",
            f"{one.all_mean:.4f} [{one.all_low:.4f}, {one.all_high:.4f}]",
            f"{one.all_bias:+.4f}",
            f"{_number(one.needed)} [{_number(one.needed_low)}, {_number(one.needed_high)}]",
            share(one.needed_off),
            share(one.covered),
        )
        for one in findings.estimates
    ]
    target = findings.experiment.target
    caption = f"Reliability estimated from some of the queries, and queries needed for {target:g}."
    return table_of("reliability-estimates", caption, columns, rows, findings.records())


def _observed(findings: ReliabilityFindings) -> TableBlock:
    columns = (
        Column("Sample", "left"),
        Column("Queries"),
        Column("Correlation"),
        Column("Eρ²", about="what the first set predicts of the correlation, on average"),
        Column("Eρ² known", about=f"Eρ² {_known(findings)}, which predicts the correlation"),
        Column("τ"),
        Column("τ predicted"),
        Column("τ_AP"),
        Column("Swapped", about="pairs of systems in another order"),
        Column("Difference", about="of a system's means on two sets, root mean square"),
        Column("Predicted"),
    )
    rows = [
        (
            one.sample,
            f"{one.n_queries}",
            f"{one.correlation:.3f} [{one.correlation_low:.3f}, {one.correlation_high:.3f}]",
            f"{one.correlation_predicted:.3f}",
            f"{one.correlation_known:.3f}",
            f"{one.tau:.3f}",
            f"{one.tau_predicted:.3f}",
            f"{one.tau_ap:.3f}",
            share(one.swapped),
            f"{one.rmse:.4f}",
            f"{one.rmse_predicted:.4f}",
        )
        for one in findings.repeated
    ]
    caption = (
        "Systems on two disjoint sets of queries, beside what the first predicts; intervals are those of the trials."
    )
    return table_of("reliability-observed", caption, columns, rows, [vars(one).copy() for one in findings.repeated])


def _number(n: float) -> str:
    return f"{n:,.0f}" if np.isfinite(n) else "∞"
