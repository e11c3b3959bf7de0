"""What a preference study teaches, as sections: satisfaction, what people notice, and which measure predicts them.

Tables have every combination; figures the first few, which are those that were asked for first.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adjudge.arrays import Floats
from adjudge.preferences.bins import ShareBins
from adjudge.preferences.endpoints import Estimate
from adjudge.preferences.learning import Learnt, LearntCombination
from adjudge.preferences.study import Study
from adjudge.reports import preference_figures as figures
from adjudge.reports.document import Block, Column, FigureBlock, Paragraph, Section, TableBlock
from adjudge.reports.preference_practice import ends, prediction_section, priors_section, two
from adjudge.stats.intervals import percent
from adjudge.words import counted

_SHOWN, _SHOWN_BINS = 6, 3
_GRID = np.linspace(0.0, 1.0, 101)
_AT = (0.1, 0.3, 0.5)
_OPEN = 0.99  # an interval so wide that it says nothing


def preference_sections(learnt: Learnt, study: Study) -> tuple[Section, ...]:
    """Satisfaction, agreement, practical meaning where runs were given, and prediction where there is a choice."""
    sections = [_agreement(learnt, study), _satisfaction(learnt)]
    if any(one.prior is not None for one in learnt.combinations):
        sections.append(priors_section(learnt))
    if len(learnt.combinations) > 1:
        sections.append(prediction_section(learnt))
    return tuple(sections)


def preference_sentences(learnt: Learnt) -> list[str]:
    """What a reader should know, most important first."""
    one = learnt.combinations[0]
    return [_noticed_sentence(one), _satisfied_sentence(one, learnt.confidence), _study_sentence(learnt)]


def _noticed_sentence(one: LearntCombination) -> str:
    if np.isnan(one.noticeable.value):
        return f"No difference in {one.combination} is noticed by more than half of the people."
    return (
        f"More than half notice differences in {one.combination} from {one.noticeable.value:.2f} on"
        f"{ends(one.noticeable)}; below that most see none, or see it the other way round."
    )


def _satisfied_sentence(one: LearntCombination, confidence: float) -> str:
    low, middle, high = one.satisfied_at(confidence)
    return (
        f"With the worst lists {low.value:.0%} are satisfied{_shares(low)}, with the best {high.value:.0%}"
        f"{_shares(high)}, half-way {middle.value:.0%}{_shares(middle)}."
    ).replace("%", " %")


def _shares(estimate: Estimate) -> str:
    return "" if np.isnan(estimate.low) else f" [{100 * estimate.low:.0f}, {100 * estimate.high:.0f}]"


def _study_sentence(learnt: Learnt) -> str:
    who = "" if learnt.n_participants is None else f" of {counted(learnt.n_participants, 'participant')}"
    left = [
        f"{count:,} {what}"
        for count, what in ((learnt.n_traps, "to traps"), (learnt.n_set_aside, "set aside"))
        if count
    ]
    out = f" Answers that do not count: {' and '.join(left)}." if left else ""
    alike = f"to one query{'' if learnt.n_participants is None else ' or of one participant'}"
    return (
        f"Learnt from {learnt.n_answers:,} answers{who} about {counted(learnt.n_queries, 'query')}, "
        f"{learnt.n_nonpreferences:,} of them without a preference ({learnt.n_good:,} good, "
        f"{learnt.n_nonpreferences - learnt.n_good:,} bad).{out} Intervals are of {percent(learnt.confidence)}; "
        f"answers {alike} count as alike."
    )


def _agreement(learnt: Learnt, study: Study) -> Section:
    first, _, about = preference_sentences(learnt)
    unknown = " Who gave which answer is not known, so that intervals cannot allow for what one person says often."
    if (study.participant >= 0).any():
        some = " Who gave some of the answers is not known; each of these counts as somebody's only one."
        unknown = "" if study.knows_participants else some
    blocks: list[Block] = [Paragraph(first), Paragraph(about + unknown), _agreement_figure(learnt)]
    blocks.append(_agreement_table(learnt))
    blocks += [_agreement_bins(i, one) for i, one in enumerate(learnt.combinations[:_SHOWN_BINS])]
    return Section("preferences", "What people notice", tuple(blocks))


def _some(learnt: Learnt) -> str:
    return f"; the first {_SHOWN} of {len(learnt.combinations)}" if len(learnt.combinations) > _SHOWN else ""


def _agreement_figure(learnt: Learnt) -> FigureBlock:
    panels = []
    for one in learnt.combinations[:_SHOWN]:
        bins, curve = one.agreement_bins, one.agreement(_GRID)
        marks = (one.noticeable.value, one.noticeable.low, one.noticeable.high)
        panels.append(
            figures.Panel(
                str(one.combination),
                tuple(_series(share, differences=True) for share in (bins.agree, bins.cannot_tell, bins.disagree)),
                tuple(np.asarray(share, dtype=np.float64) for share in curve),
                marks,
            )
        )
    names = ("prefer the better list", "cannot tell", "prefer the worse list")
    data = figures.Panels("difference in effectiveness", "share of people", _GRID, names, names, tuple(panels))
    caption = (
        f"Shares of answers by the size of the difference, in bins with {percent(learnt.confidence)} intervals, and "
        "curves fitted to the answers. Dashed: from here on more than half prefer the better list; grey: the "
        f"interval of that{_some(learnt)}."
    )
    alt = " ".join(_noticed_sentence(one) for one in learnt.combinations[:_SHOWN])
    return FigureBlock("agreement-curves", caption, alt, data, figures.agreement_panels)


def _series(bins: ShareBins, *, differences: bool = False) -> figures.Series:
    """What to draw of bins: not those that leave everything open, nor ties, where no list is the better one."""
    told = (bins.count > 0) & (bins.high - bins.low < _OPEN)
    told &= ~(differences & (bins.mean == 0))
    return figures.Series(bins.mean[told], bins.share[told], bins.low[told], bins.high[told])


def _agreement_table(learnt: Learnt) -> TableBlock:
    columns = (
        Column("Measure", "left"),
        Column("Scale", "left"),
        Column("Noticed from", about="difference from which on more than half prefer the better list, by the curve"),
        Column("By bins", about="the same read off the bins, with straight lines between their centres"),
        Column(f"Agree at {_AT[0]:g}", about="share who prefer the better list at such a difference, by the curve"),
        *(Column(f"at {at:g}") for at in _AT[1:]),
    )
    rows = tuple(
        (
            one.combination.measure,
            one.combination.scale,
            two(one.noticeable),
            "–" if one.interpolated is None else f"{one.interpolated:.2f}",
            *(f"{share:.2f}" for share in one.agreement(np.array(_AT)).agree),
        )
        for one in learnt.combinations
    )
    caption = "What people notice, by measure and scale."
    return TableBlock("noticeable-differences", caption, columns, rows, learnt.to_dicts())


def _lowest(values: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Where the lowest value of each column is; nowhere when there is one row."""
    array: Floats = np.array(values, dtype=np.float64)
    if len(array) < 2:
        return []
    filled = np.where(np.isnan(array), np.inf, array)
    return [(int(row), column) for column, row in enumerate(filled.argmin(axis=0)) if np.isfinite(filled[row, column])]


def _agreement_bins(i: int, one: LearntCombination) -> TableBlock:
    bins = one.agreement_bins
    columns = (
        Column("Difference", "left"),
        Column("Answers"),
        Column("Prefer the better"),
        Column("Cannot tell"),
        Column("Prefer the worse"),
    )
    shares = (bins.agree, bins.cannot_tell, bins.disagree)
    rows = tuple(
        (bins.agree.interval(k), f"{bins.agree.count[k]:,}", *(share.cell(k, 2) for share in shares))
        for k in range(len(bins.agree.count))
    )
    records = [
        {"outcome": name, **row}
        for name, share in zip(("agree", "cannot tell", "disagree"), shares, strict=True)
        for row in share.to_dicts()
    ]
    tied = f" {bins.tied:,} preferences between lists that are equal count as not telling." if bins.tied else ""
    caption = f"Answers by the difference in {one.combination}.{tied}"
    return TableBlock(f"agreement-bins-{i + 1}", caption, columns, rows, records)


def _satisfaction(learnt: Learnt) -> Section:
    first = learnt.combinations[0]
    text = (
        f"{_satisfied_sentence(first, learnt.confidence)} That is by {first.combination}. People who prefer neither "
        f"list call both good or both bad. {_learnt_from(learnt)}"
    )
    blocks: list[Block] = [
        Paragraph(text),
        _satisfaction_figure(learnt),
        _satisfaction_table(learnt),
        _endpoints(learnt),
    ]
    blocks += [_satisfaction_bins(i, one) for i, one in enumerate(learnt.combinations[:_SHOWN_BINS])]
    return Section("satisfaction-curves", "How satisfied people are", tuple(blocks))


def _learnt_from(learnt: Learnt) -> str:
    if _by_lists(learnt):
        return (
            "As in the study of 2012 each of these answers counts once for either list, at that list's own "
            "effectiveness. Tied lists differ, so this draws P(Sat) of bad lists up and that of good ones down."
        )
    return "P(Sat) at some effectiveness is the share of good ones when both lists have it, by a curve fitted to pairs."


def _by_lists(learnt: Learnt) -> bool:
    return learnt.combinations[0].evidence.lists.ndim == 1


def _satisfaction_figure(learnt: Learnt) -> FigureBlock:
    shown = learnt.combinations[:_SHOWN]
    both = all(one.cubic is not None for one in shown) and any(one.satisfaction.kind != "cubic" for one in shown)
    names = (f"curve ({shown[0].satisfaction.kind})", "cubic") if both else (f"curve ({shown[0].satisfaction.kind})",)
    panels = tuple(
        figures.Panel(
            str(one.combination),
            (_series(one.satisfaction_bins.satisfied),),
            tuple(curve(_GRID) for curve in ((one.satisfaction, one.cubic) if both else (one.satisfaction,)) if curve),
        )
        for one in shown
    )
    what, where = ("lists", "effectiveness") if _by_lists(learnt) else ("pairs", "mean effectiveness of the pair")
    data = figures.Panels("effectiveness", "P(Sat)", _GRID, (f"{what} called good",), names, panels)
    caption = (
        f"Share of {what} called good by {where}, in bins with {percent(learnt.confidence)} intervals, and the "
        f"curves of P(Sat){_some(learnt)}. The cubic is fitted to the bins, each weighted by its number of {what}."
    )
    alt = f"P(Sat) by effectiveness. {_satisfied_sentence(shown[0], learnt.confidence)}"
    return FigureBlock("satisfaction-curves", caption, alt, data, figures.satisfaction_panels)


def _satisfaction_table(learnt: Learnt) -> TableBlock:
    columns = (
        Column("Measure", "left"),
        Column("Scale", "left"),
        Column("P(Sat) at 0", about="share satisfied with the worst lists, by the curve"),
        Column("at 0.5"),
        Column("at 1", about="share satisfied with the best lists"),
        Column("Curve", about="log-likelihood per answer that it has not seen, higher is better"),
        Column("Cubic", about="the same of the cubic"),
    )
    rows = tuple(
        (
            one.combination.measure,
            one.combination.scale,
            *(two(estimate) for estimate in one.satisfied_at(learnt.confidence)),
            _logs(one, one.satisfaction.kind),
            _logs(one, "cubic"),
        )
        for one in learnt.combinations
    )
    return TableBlock("satisfaction-ends", "Satisfaction by measure and scale.", columns, rows, learnt.to_dicts())


def _endpoints(learnt: Learnt) -> TableBlock:
    columns = (
        Column("Measure", "left"),
        Column("Scale", "left"),
        Column("Bias", about="distance of P(Sat) at 0 to 0 and of P(Sat) at 1 to 1 (3.11)"),
        Column("To 1", about="distance of P(prefer the better) to 1 over the bins (3.12)"),
        Column("To 0", about="distance of P(prefer the worse) to 0 over the bins (3.13)"),
        Column("Bins", about="with answers, of all"),
    )
    ends = [one.endpoints for one in learnt.combinations]
    rows = tuple(
        (end.measure, end.scale, *map(two, (end.bias, end.positive, end.negative)), f"{end.bins[0]}/{end.bins[1]}")
        for end in ends
    )
    best = _lowest([[end.bias.value, end.positive.value, end.negative.value] for end in ends])
    caption = "How far people are from being satisfied with the best alone, and from agreeing always; lower is better."
    emphasised = frozenset((row, 2 + column) for row, column in best)
    return TableBlock("endpoints", caption, columns, rows, learnt.to_dicts(), emphasised)


def _logs(one: LearntCombination, kind: str) -> str:
    return f"{one.held_out[kind]:.4f}" if kind in one.held_out else "–"


def _satisfaction_bins(i: int, one: LearntCombination) -> TableBlock:
    bins = one.satisfaction_bins.satisfied
    single = one.evidence.lists.ndim == 1
    what, where = ("Lists", "") if single else ("Pairs", "mean ")
    columns = (Column("Effectiveness", "left"), Column(what), Column("Called good"), Column("Curve"))
    middle = (bins.edges[:-1] + bins.edges[1:]) / 2
    at = one.satisfaction(np.where(np.isnan(bins.mean), middle, bins.mean))
    rows = tuple(
        (bins.interval(k), f"{bins.count[k]:,}", bins.cell(k, 2), f"{at[k]:.2f}") for k in range(len(bins.count))
    )
    caption = f"{what} that people called good or bad, by {where}{one.combination}."
    return TableBlock(f"satisfaction-bins-{i + 1}", caption, columns, rows, bins.to_dicts())
