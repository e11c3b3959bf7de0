"""What a preference study teaches, as sections: satisfaction, what people notice, and which measure predicts them.

Tables have every combination; figures the first few, which are those that were asked for first.

What curves of preferences mean in practice: how many differences people notice, which measure predicts them.

The participants of a preference study as sections: who answered how, and what hangs on whom.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from adjudge.arrays import Floats
from adjudge.preferences.curves import Estimate, Predictions, ShareBins
from adjudge.preferences.influence import MEDIUM, Conclusions, Influence, InfluenceRow
from adjudge.preferences.learning import Learnt, LearntCombination, Noticed, Prior
from adjudge.preferences.quality import ParticipantQuality, Quality
from adjudge.preferences.study import Study
from adjudge.reporting.document import Block, FigureBlock, Paragraph, Section, TableBlock
from adjudge.tables import Heading
from adjudge.text import counted, number, percent
from adjudge.users import figures

_PRIORS_SHOWN = 4
_PRIORS_GRID = np.linspace(0.0, 1.0, 201)

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
    blocks = (Paragraph(text), _priors_figure(known[:_PRIORS_SHOWN]), _priors_table(known))
    return Section("differences-in-practice", "How many differences people would notice", blocks)


def _priors_figure(known: list[Known]) -> FigureBlock:
    data = figures.Cumulative(
        "difference in effectiveness of two systems on a query",
        tuple(str(one.combination) for one, _, _ in known),
        _PRIORS_GRID,
        tuple(prior.cdf(_PRIORS_GRID) for _, prior, _ in known),
        tuple(np.nan if noticed.from_curve is None else noticed.from_curve for _, _, noticed in known),
        tuple(1 - noticed.share.value for _, _, noticed in known),
    )
    caption = "Share of differences between systems up to a size. Right of the dot most people notice them."
    alt = f"Cumulative distributions of differences of {len(known)} combinations, with a dot where most people notice."
    return FigureBlock("differences", caption, alt, data, figures.cumulative)


def _priors_table(known: list[Known]) -> TableBlock:
    columns = (
        Heading("Measure", "left"),
        Heading("Scale", "left"),
        Heading("Median", about="difference, over all pairs of systems and all queries"),
        Heading("95 % up to"),
        Heading("Share noticed", about="of the comparisons of two systems on a query, by the curve"),
        Heading("By bins", about="the same with the noticeable difference read off the bins"),
        Heading("Agree", about="share of people who prefer the better list, averaged over the comparisons"),
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
        Heading("Measure", "left"),
        Heading("Scale", "left"),
        Heading(
            "Log-likelihood", about=f"per answer not seen, higher is better; {found.chance:.4f} without any measure"
        ),
        Heading("Behind the best", about=f"intervals are of {percent(found.confidence)}"),
        Heading("As good", "center", about="not told apart from the best"),
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
        Heading("Measure", "left"),
        Heading("Scale", "left"),
        Heading("Noticed from", about="difference from which on more than half prefer the better list, by the curve"),
        Heading("By bins", about="the same read off the bins, with straight lines between their centres"),
        Heading(f"Agree at {_AT[0]:g}", about="share who prefer the better list at such a difference, by the curve"),
        *(Heading(f"at {at:g}") for at in _AT[1:]),
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
        Heading("Difference", "left"),
        Heading("Answers"),
        Heading("Prefer the better"),
        Heading("Cannot tell"),
        Heading("Prefer the worse"),
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
        Heading("Measure", "left"),
        Heading("Scale", "left"),
        Heading("P(Sat) at 0", about="share satisfied with the worst lists, by the curve"),
        Heading("at 0.5"),
        Heading("at 1", about="share satisfied with the best lists"),
        Heading("Curve", about="log-likelihood per answer that it has not seen, higher is better"),
        Heading("Cubic", about="the same of the cubic"),
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
        Heading("Measure", "left"),
        Heading("Scale", "left"),
        Heading("Bias", about="distance of P(Sat) at 0 to 0 and of P(Sat) at 1 to 1 (3.11)"),
        Heading("To 1", about="distance of P(prefer the better) to 1 over the bins (3.12)"),
        Heading("To 0", about="distance of P(prefer the worse) to 0 over the bins (3.13)"),
        Heading("Bins", about="with answers, of all"),
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
    columns = (Heading("Effectiveness", "left"), Heading(what), Heading("Called good"), Heading("Curve"))
    middle = (bins.edges[:-1] + bins.edges[1:]) / 2
    at = one.satisfaction(np.where(np.isnan(bins.mean), middle, bins.mean))
    rows = tuple(
        (bins.interval(k), f"{bins.count[k]:,}", bins.cell(k, 2), f"{at[k]:.2f}") for k in range(len(bins.count))
    )
    caption = f"{what} that people called good or bad, by {where}{one.combination}."
    return TableBlock(f"satisfaction-bins-{i + 1}", caption, columns, rows, bins.to_dicts())


_SHOWN_INFLUENCE = 20


def participant_sections(quality: Quality, influence: Influence | None = None) -> tuple[Section, ...]:
    """Participants, then, where it is known, how the conclusions change without each."""
    sections = (_people(quality),)
    return sections if influence is None else (*sections, _influence(influence))


def _people(quality: Quality) -> Section:
    blocks: list[Block] = [Paragraph(" ".join(quality.sentences()))]
    if quality.rows:
        blocks.append(_figure(quality))
    if any(row.verdict != "fine" for row in quality.rows):
        blocks.append(_why(quality))
    return Section("participants", "The participants", (*blocks, _trust(quality), _answers(quality)))


def _trust(quality: Quality) -> TableBlock:
    columns = (
        Heading("Participant", "left"),
        Heading("Answers", about="to questions that are no traps"),
        Heading("Aside", about="of them set aside"),
        Heading("Traps", about="right of those asked"),
        Heading("Trust", about="share of the traps answered right, 1 where none were asked"),
        Heading("P(attentive)", about="from traps, times, sides and choices"),
        Heading("Verdict", "left", about=_rules(quality)),
        Heading("Set aside for", "left"),
    )
    rows = tuple(
        (
            row.participant,
            f"{row.answers:,}",
            f"{row.set_aside:,}" if row.set_aside else "",
            f"{row.traps_right}/{row.traps_asked}",
            f"{row.trust:.2f}",
            f"{row.attentive:.3f}",
            row.verdict,
            row.reason,
        )
        for row in _by_attention(quality)
    )
    records = [asdict(row) for row in quality.rows]
    return TableBlock("participants", "Trust, least attentive first.", columns, rows, records)


def _by_attention(quality: Quality) -> list[ParticipantQuality]:
    return sorted(quality.rows, key=lambda row: row.attentive)


def _answers(quality: Quality) -> TableBlock:
    on = f"{quality.measure} on {quality.scale}" if quality.measure else "effectiveness"
    columns = (
        Heading("Participant", "left"),
        Heading("Seconds", about="median for an answer"),
        Heading("Prefers", about="share of answers that prefer a list"),
        Heading("Good", about="share of answers that call both good"),
        Heading("Bad", about="share of answers that call both bad"),
        Heading("Left", about="share of preferences for the list that stood first; one half by chance"),
        Heading("Agrees", about="share of what others answered to the same questions that is the same"),
        Heading("Shared", about="questions that others answered, too"),
        Heading("Follows", about=f"answers follow {on} as those of the others do: above 0 yes, below 0 no"),
    )
    rows = tuple(
        (
            row.participant,
            number(row.median_seconds, 0),
            *(number(share) for share in (row.a + row.b, row.good, row.bad, row.left, row.agrees)),
            f"{row.shared:,}",
            number(row.follows),
        )
        for row in _by_attention(quality)
    )
    return TableBlock("participant-answers", "How they answered, in the same order.", columns, rows)


def _rules(quality: Quality) -> str:
    rules = quality.rules
    quiz = f"{100 * rules.quiz_bar:.0f} % of the first {rules.quiz} traps, " if rules.quiz else ""
    return f"fine with {quiz}{100 * rules.bar:.0f} % of {rules.least} traps or more, P(attentive) {rules.attention:g}"


def _figure(quality: Quality) -> FigureBlock:
    def column(name: str) -> Floats:
        return np.array([getattr(row, name) for row in quality.rows], dtype=np.float64)

    doubted = np.array([row.verdict != "fine" for row in quality.rows], dtype=np.bool_)
    data = figures.People(
        tuple(row.participant for row in quality.rows),
        column("answers"),
        np.where(column("traps_asked") > 0, column("trust"), np.nan),
        column("attentive"),
        column("follows"),
        column("median_seconds"),
        doubted,
        quality.rules.bar,
    )
    caption = (
        "Each participant a mark. Left: traps against answers, the line is the bar. Right: how far answers follow "
        "effectiveness as those of the others do (above 0) rather than chance, against the time they took."
    )
    alt = f"{len(quality.rows)} participants, {int(doubted.sum())} of them do not pass the rules of trust."
    return FigureBlock("participant-trust", caption, alt, data, figures.people)


def _why(quality: Quality) -> TableBlock:
    columns = (
        Heading("Participant", "left"),
        Heading("Verdict", "left"),
        Heading("Traps"),
        Heading("P(attentive)"),
        Heading("What speaks against attention", "left"),
    )
    pairs = zip(quality.rows, quality.trusts, strict=True)
    doubted = sorted(((r, t) for r, t in pairs if t.verdict != "fine"), key=lambda pair: pair[0].attentive)
    rows = tuple(
        (
            row.participant,
            trust.verdict,
            f"{trust.traps_right}/{trust.traps_asked}",
            f"{trust.probability:.3f}",
            "; ".join(cue.evidence for cue in trust.cues if cue.factor < 1) or "traps alone",
        )
        for row, trust in doubted
    )
    records: list[dict[str, Any]] = [
        {"participant": row.participant, "verdict": trust.verdict, "cues": [asdict(cue) for cue in trust.cues]}
        for row, trust in doubted
    ]
    return TableBlock("doubted", "Participants who do not pass the rules, and why.", columns, rows, records)


def _influence(influence: Influence) -> Section:
    blocks: list[Block] = [Paragraph(" ".join(influence.sentences())), _changes(influence)]
    if any(np.isfinite(row.noticeable) for row in influence.rows):
        blocks.append(_dots(influence))
    return Section("influence", "What hangs on whom", tuple(blocks))


def _order(influence: Influence) -> list[InfluenceRow]:
    return sorted(influence.rows, key=lambda row: -float(np.nan_to_num(abs(row.noticeable_change))))


def _changes(influence: Influence) -> TableBlock:
    on = f"{influence.measure} on {influence.scale}"
    columns = (
        Heading("Without", "left"),
        Heading("Answers", about="of the participant that count"),
        Heading("Noticeable", about=f"difference in {on} that more than half notice"),
        Heading("Change"),
        Heading(f"P(Sat) at {MEDIUM:g}", about=f"of lists with {on} of {MEDIUM:g}, by the monotone curve"),
        Heading("Change of P(Sat)"),
        Heading("Best", "left", about="combination that explains answers best"),
    )
    lines = [_conclusion("nobody", influence.of_all)]
    if influence.with_aside is not None:
        lines.append(_conclusion("nobody, all put back", influence.with_aside))
    ordered = _order(influence)
    lines += [
        (
            row.participant,
            f"{row.answers:,}",
            number(row.noticeable, 3),
            _signed(row.noticeable_change),
            number(row.satisfied, 3),
            _signed(row.satisfied_change),
            row.best,
        )
        for row in ordered
        if row.answers
    ]
    caption = "The conclusions without each participant whose answers count, the largest change first."
    return TableBlock("influence", caption, columns, tuple(lines), [asdict(row) for row in influence.rows])


def _conclusion(name: str, found: Conclusions) -> tuple[str, ...]:
    return (name, f"{found.answers:,}", number(found.noticeable, 3), "", number(found.satisfied, 3), "", found.best)


def _signed(value: float) -> str:
    return f"{value:+.3f}" if np.isfinite(value) else "–"


def _dots(influence: Influence) -> FigureBlock:
    ordered = [row for row in _order(influence) if row.answers][:_SHOWN_INFLUENCE]
    back = influence.with_aside
    data = figures.LeftOut(
        tuple(row.participant for row in ordered),
        (f"noticeable difference in {influence.measure}", f"P(Sat) at {MEDIUM:g}"),
        (
            np.array([row.noticeable for row in ordered], dtype=np.float64),
            np.array([row.satisfied for row in ordered], dtype=np.float64),
        ),
        (influence.of_all.noticeable, influence.of_all.satisfied),
        (np.nan, np.nan) if back is None else (back.noticeable, back.satisfied),
    )
    some = f"the {len(ordered)} participants who change it most" if len(influence.rows) > len(ordered) else "each"
    caption = f"The noticeable difference and satisfaction without {some}."
    row = influence.largest()
    alt = (
        caption if row is None else f"{caption} The largest change is {row.noticeable_change:+.3f}, {row.participant}."
    )
    return FigureBlock("left-out", caption, alt, data, figures.left_out)
