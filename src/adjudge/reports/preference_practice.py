"""What curves of preferences mean in practice: how many differences people notice, which measure predicts them."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjudge.preferences.endpoints import Estimate
from adjudge.preferences.learning import Learnt, LearntCombination
from adjudge.preferences.prediction import Predictions
from adjudge.preferences.priors import Noticed, Prior
from adjudge.reports import preference_figures as figures
from adjudge.reports.document import Column, FigureBlock, Paragraph, Section, TableBlock
from adjudge.stats.intervals import percent

_SHOWN = 4
_GRID = np.linspace(0.0, 1.0, 201)

Known = tuple[LearntCombination, Prior, Noticed]


def two(estimate: Estimate) -> str:
    """A number of two digits with its interval, or a dash."""
    return "–" if np.isnan(estimate.value) else f"{estimate.value:.2f}{ends(estimate)}"


def ends(estimate: Estimate) -> str:
    """The interval of a number, after a blank; nothing where it is not known."""
    return "" if np.isnan(estimate.low) else f" [{estimate.low:.2f}, {estimate.high:.2f}]"


def priors_section(learnt: Learnt) -> Section:
    """How large differences between systems are, and the share that most people would notice."""
    known = [
        (one, one.prior, one.noticed)
        for one in learnt.combinations
        if one.prior is not None and one.noticed is not None
    ]
    first, prior, noticed = known[0]
    text = (
        f"Most people would notice {100 * noticed.share.value:.0f} % of the differences in {first.combination} between "
        f"two of these {prior.n_systems} systems on a query; half of the differences are below "
        f"{np.median(prior.sizes):.2f}."
    )
    blocks = (Paragraph(text), _priors_figure(known[:_SHOWN]), _priors_table(known))
    return Section("differences-in-practice", "How many differences people would notice", blocks)


def _priors_figure(known: list[Known]) -> FigureBlock:
    data = figures.Cumulative(
        "difference in effectiveness of two systems on a query",
        tuple(str(one.combination) for one, _, _ in known),
        _GRID,
        tuple(prior.cdf(_GRID) for _, prior, _ in known),
        tuple(np.nan if noticed.from_curve is None else noticed.from_curve for _, _, noticed in known),
        tuple(1 - noticed.share.value for _, _, noticed in known),
    )
    caption = "Share of differences between systems up to a size. Right of the dot most people notice them."
    alt = f"Cumulative distributions of differences of {len(known)} combinations, with a dot where most people notice."
    return FigureBlock("differences", caption, alt, data, figures.cumulative)


def _priors_table(known: list[Known]) -> TableBlock:
    columns = (
        Column("Measure", "left"),
        Column("Scale", "left"),
        Column("Median", about="difference, over all pairs of systems and all queries"),
        Column("95 % up to"),
        Column("Share noticed", about="of the comparisons of two systems on a query, by the curve"),
        Column("By bins", about="the same with the noticeable difference read off the bins"),
        Column("Agree", about="share of people who prefer the better list, averaged over the comparisons"),
    )
    rows, records = [], list[dict[str, Any]]()
    for one, prior, noticed in known:
        middle, most = (float(value) for value in np.quantile(prior.sizes, [0.5, 0.95]))
        names = one.combination.measure, one.combination.scale
        shares = f"{noticed.share_by_bins:.2f}", f"{noticed.agreeing:.2f}"
        rows.append((*names, f"{middle:.2f}", f"{most:.2f}", two(noticed.share), *shares))
        records.append(
            {
                "measure": names[0],
                "scale": names[1],
                "median": middle,
                "largest": most,
                "noticed": noticed.share.value,
                "low": noticed.share.low,
                "high": noticed.share.high,
                "by_bins": noticed.share_by_bins,
                "agreeing": noticed.agreeing,
            }
        )
    caption = "How large differences between systems are, and how many of them people would notice."
    return TableBlock("priors", caption, columns, tuple(rows), records)


def prediction_section(learnt: Learnt) -> Section:
    """Combinations by how well they predict answers that they have not seen."""
    agreement, satisfaction = learnt.predicts_agreement, learnt.predicts_satisfaction
    text = " ".join(_best(found, word) for found, word in ((agreement, "preferences"), (satisfaction, "satisfaction")))
    blocks = (Paragraph(text), _prediction_table(agreement), _prediction_table(satisfaction))
    return Section("prediction", "Which measure predicts people best", blocks)


def _best(found: Predictions, word: str) -> str:
    first, among = found.rows[0], found.best()
    told = f"{first.measure} on {first.scale} predicts {word} best"
    if len(among) == 1:
        return f"{told}, and no other is as good."
    alike, others = len(among) - 1, len(found.rows) - 1
    if alike == others:
        return f"{told}, but {'the other is' if others == 1 else f'all {others} others are'} not told apart from it."
    return f"{told}; {alike} of the {others} others {'is' if alike == 1 else 'are'} not told apart from it."


def _prediction_table(found: Predictions) -> TableBlock:
    columns = (
        Column("Measure", "left"),
        Column("Scale", "left"),
        Column(
            "Log-likelihood", about=f"per answer not seen, higher is better; {found.chance:.4f} without any measure"
        ),
        Column("Behind the best", about=f"intervals are of {percent(found.confidence)}"),
        Column("As good", "center", about="not told apart from the best"),
    )
    rows = tuple(
        (
            row.measure,
            row.scale,
            row.shown,
            row.shown_behind,
            "yes" if row.among_best else "",
        )
        for row in found.rows
    )
    caption = f"How well {found.outcome} is predicted, {found.n_answers:,} answers."
    return TableBlock(f"predicts-{found.outcome}", caption, columns, rows, found.to_dicts())
