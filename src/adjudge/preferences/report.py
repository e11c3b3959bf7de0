"""A preference study as sections of a report: satisfaction, what people notice, which measure predicts them, and who.

Tables have every combination; figures the first few, in the order in which they were asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from adjudge.preferences.curves import Estimate, Prediction, Predictions
from adjudge.preferences.learning import Learnt, LearntCombination, NoticedShare, Prior
from adjudge.preferences.participants import MEDIUM, Influence, InfluenceRow, ParticipantQuality, Quality
from adjudge.preferences.study import Study
from adjudge.preferences.trust import Trust
from adjudge.reporting.document import Block, Paragraph, Section, TableBlock
from adjudge.tables import Align, Heading
from adjudge.text import counted, number, percent

_SHOWN_BINS = 3
_AT = (0.1, 0.3, 0.5)

TableColumn = tuple[Heading, Callable[[Any], str]]
"""The heading of a column, and the cell of an item in it."""


def _column(name: str, cell: Callable[[Any], str], about: str = "", align: Align = "right") -> TableColumn:
    return Heading(name, align, about), cell


def _table(
    name: str,
    caption: str,
    items: Sequence[Any],
    columns: Sequence[TableColumn],
    records: Sequence[dict[str, Any]] = (),
) -> TableBlock:
    """A table with one row per item."""
    headings = tuple(heading for heading, _ in columns)
    return TableBlock(
        name, caption, headings, tuple(tuple(cell(item) for _, cell in columns) for item in items), records
    )


def _with_interval(estimate: Estimate, digits: int = 2) -> str:
    """A number with its interval, or a dash."""
    return f"{number(estimate.value, digits)}{estimate.ends(digits)}"


def preference_sections(learnt: Learnt, study: Study) -> tuple[Section, ...]:
    """Agreement, satisfaction, differences in practice where runs were given, and predictions of two or more."""
    sections = [_agreement(learnt, study), _satisfaction(learnt)]
    if any(fit.prior is not None for fit in learnt.combinations):
        sections.append(_priors(learnt))
    if len(learnt.combinations) > 1:
        outcomes = {"preferences": learnt.predicts_agreement, "satisfaction": learnt.predicts_satisfaction}
        text = Paragraph(" ".join(_best_sentence(found, word) for word, found in outcomes.items()))
        tables: list[Block] = [_prediction_table(found) for found in outcomes.values()]
        sections.append(Section("prediction", "Which measure predicts people best", (text, *tables)))
    return tuple(sections)


def preference_sentences(learnt: Learnt) -> list[str]:
    """What a reader should know, most important first."""
    first = learnt.combinations[0]
    who = "" if learnt.n_participants is None else f" of {counted(learnt.n_participants, 'participant')}"
    excluded = {"to attention checks": learnt.n_traps, "excluded": learnt.n_set_aside}
    left_out = " and ".join(f"{count:,} {what}" for what, count in excluded.items() if count)
    alike = f"to one query{'' if learnt.n_participants is None else ' or of one participant'}"
    about = (
        f"Learnt from {learnt.n_answers:,} answers{who} about {counted(learnt.n_queries, 'query')}, "
        f"{learnt.n_nonpreferences:,} of them without a preference ({learnt.n_good:,} good, "
        f"{learnt.n_nonpreferences - learnt.n_good:,} bad)."
        f"{f' Answers that do not count: {left_out}.' if left_out else ''} Intervals are of "
        f"{percent(learnt.confidence)}; answers {alike} are taken to be alike."
    )
    return [first.noticed_sentence(), first.satisfied_sentence(learnt.confidence), about]


def _agreement(learnt: Learnt, study: Study) -> Section:
    first, _, about = preference_sentences(learnt)
    if not (study.participant >= 0).any():
        about += " Who gave which answer is not known, so intervals cannot allow for what one person says often."
    elif not study.knows_participants:
        about += " Who gave some of the answers is not known; each of these counts as one person's only answer."
    blocks: list[Block] = [
        Paragraph(first),
        Paragraph(about),
        learnt.figure("agreement-curves"),
        _agreement_table(learnt),
    ]
    blocks += [_agreement_bins(i, fit) for i, fit in enumerate(learnt.combinations[:_SHOWN_BINS])]
    return Section("preferences", "What people notice", tuple(blocks))


_MEASURE_AND_SCALE = (
    _column("Measure", lambda fit: fit.combination.measure, align="left"),
    _column("Scale", lambda fit: fit.combination.scale, align="left"),
)


def _agreement_table(learnt: Learnt) -> TableBlock:
    def agree(size: float) -> Callable[[LearntCombination], str]:
        return lambda fit: f"{fit.agreement(np.array([size])).agree[0]:.2f}"

    least = "least difference for which more than half prefer the better list, by the curve"
    by_bins = "the same read off the bins, with straight lines between their centres"
    about = "share who prefer the better list at such a difference, by the curve"
    columns = (
        *_MEASURE_AND_SCALE,
        _column("Noticed from", lambda fit: _with_interval(fit.noticeable), least),
        _column("By bins", lambda fit: "–" if fit.interpolated is None else f"{fit.interpolated:.2f}", by_bins),
        _column(f"Agree at {_AT[0]:g}", agree(_AT[0]), about),
        *(_column(f"at {size:g}", agree(size)) for size in _AT[1:]),
    )
    caption = "What people notice, by measure and scale."
    return _table("noticeable-differences", caption, learnt.combinations, columns, learnt.to_dicts())


def _agreement_bins(i: int, fit: LearntCombination) -> TableBlock:
    bins = fit.agreement_bins
    shares = {"agree": bins.agree, "cannot tell": bins.cannot_tell, "disagree": bins.disagree}
    columns = (
        _column("Difference", bins.agree.interval, align="left"),
        _column("Answers", lambda k: f"{bins.agree.count[k]:,}"),
        _column("Prefer the better", lambda k: bins.agree.cell(k, 2)),
        _column("Cannot tell", lambda k: bins.cannot_tell.cell(k, 2)),
        _column("Prefer the worse", lambda k: bins.disagree.cell(k, 2)),
    )
    records = [{"outcome": name, **row} for name, share in shares.items() for row in share.to_dicts()]
    tied = f" {bins.tied:,} preferences between lists that are equal count as not telling." if bins.tied else ""
    caption = f"Answers by the difference in {fit.combination}.{tied}"
    return _table(f"agreement-bins-{i + 1}", caption, range(len(bins.agree.count)), columns, records)


def _satisfaction(learnt: Learnt) -> Section:
    first = learnt.combinations[0]
    source = "P(Sat) at some effectiveness is the share of good ones when both lists have it, by a curve through pairs."
    if first.by_lists:
        source = (
            "As in the study of 2012 each of these answers counts once for either list, at that list's own "
            "effectiveness. Tied lists differ, so this draws P(Sat) of bad lists up and that of good ones down."
        )
    text = (
        f"{first.satisfied_sentence(learnt.confidence)} That is by {first.combination}. People who prefer neither "
        f"list call both good or both bad. {source}"
    )
    blocks: list[Block] = [
        Paragraph(text),
        learnt.figure("satisfaction-curves"),
        _satisfaction_table(learnt),
        _endpoints(learnt),
    ]
    blocks += [_satisfaction_bins(i, fit) for i, fit in enumerate(learnt.combinations[:_SHOWN_BINS])]
    return Section("satisfaction-curves", "How satisfied people are", tuple(blocks))


def _satisfaction_table(learnt: Learnt) -> TableBlock:
    def at(place: int) -> Callable[[LearntCombination], str]:
        return lambda fit: _with_interval(fit.satisfied_at(learnt.confidence)[place])

    def logs(fit: LearntCombination, kind: str) -> str:
        return f"{fit.held_out[kind]:.4f}" if kind in fit.held_out else "–"

    likelihood = "log-likelihood per unseen answer, higher is better"
    columns = (
        *_MEASURE_AND_SCALE,
        _column("P(Sat) at 0", at(0), "share satisfied with the worst lists, by the curve"),
        _column("at 0.5", at(1)),
        _column("at 1", at(2), "share satisfied with the best lists"),
        _column("Curve", lambda fit: logs(fit, fit.satisfaction.kind), likelihood),
        _column("Cubic", lambda fit: logs(fit, "cubic"), "the same of the cubic"),
    )
    caption = "Satisfaction by measure and scale."
    return _table("satisfaction-ends", caption, learnt.combinations, columns, learnt.to_dicts())


def _endpoints(learnt: Learnt) -> TableBlock:
    ends = [(fit.endpoints.bias, fit.endpoints.positive, fit.endpoints.negative) for fit in learnt.combinations]
    abouts = {
        "Bias": "distance of P(Sat) at 0 to 0 and of P(Sat) at 1 to 1 (3.11)",
        "To 1": "distance of P(prefer the better) to 1 over the bins (3.12)",
        "To 0": "distance of P(prefer the worse) to 0 over the bins (3.13)",
    }
    headings = [Heading("Measure", "left"), Heading("Scale", "left")]
    headings += [Heading(name, about=about) for name, about in abouts.items()]
    rows = tuple(
        (end.measure, end.scale, *map(_with_interval, three), f"{end.bins[0]}/{end.bins[1]}")
        for end, three in zip((fit.endpoints for fit in learnt.combinations), ends, strict=True)
    )
    values = np.array([[estimate.value for estimate in three] for three in ends])
    filled = np.where(np.isnan(values), np.inf, values)
    lowest = [(int(row), 2 + i) for i, row in enumerate(filled.argmin(axis=0)) if np.isfinite(filled[row, i])]
    caption = "How far people are from being satisfied with the best alone, and from agreeing always; lower is better."
    columns = (*headings, Heading("Bins", about="with answers, of all"))
    emphasised = frozenset(lowest if len(ends) > 1 else ())
    return TableBlock("endpoints", caption, columns, rows, learnt.to_dicts(), emphasised)


def _satisfaction_bins(i: int, fit: LearntCombination) -> TableBlock:
    bins = fit.satisfaction_bins.satisfied
    what, where = ("Lists", "") if fit.by_lists else ("Pairs", "mean ")
    middle = (bins.edges[:-1] + bins.edges[1:]) / 2
    at = fit.satisfaction(np.where(np.isnan(bins.mean), middle, bins.mean))
    columns = (
        _column("Effectiveness", bins.interval, align="left"),
        _column(what, lambda k: f"{bins.count[k]:,}"),
        _column("Called good", lambda k: bins.cell(k, 2)),
        _column("Curve", lambda k: f"{at[k]:.2f}"),
    )
    caption = f"{what} that people called good or bad, by {where}{fit.combination}."
    return _table(f"satisfaction-bins-{i + 1}", caption, range(len(bins.count)), columns, bins.to_dicts())


def _priors(learnt: Learnt) -> Section:
    """How large differences between systems are, and the share that most people would notice."""
    known = [
        (fit, fit.prior, fit.noticed)
        for fit in learnt.combinations
        if fit.prior is not None and fit.noticed is not None
    ]
    first, prior, noticed = known[0]
    text = (
        f"Most people would notice {100 * noticed.share.value:.0f} % of the differences in {first.combination} between "
        f"two of these {prior.n_systems} systems on a query; half of the differences are below "
        f"{np.median(prior.sizes):.2f}."
    )
    title = "How many differences people would notice"
    return Section(
        "differences-in-practice", title, (Paragraph(text), learnt.figure("differences"), _priors_table(known))
    )


def _priors_table(known: Sequence[tuple[LearntCombination, Prior, NoticedShare]]) -> TableBlock:
    def share(row: dict[str, Any]) -> str:
        return _with_interval(Estimate(row["noticed"], row["low"], row["high"]))

    records: list[dict[str, Any]] = []
    for fit, prior, noticed in known:
        middle, most = np.quantile(prior.sizes, [0.5, 0.95]).tolist()
        records.append(
            {
                "measure": fit.combination.measure,
                "scale": fit.combination.scale,
                "median": middle,
                "largest": most,
                "noticed": noticed.share.value,
                "low": noticed.share.low,
                "high": noticed.share.high,
                "by_bins": noticed.share_by_bins,
                "agreeing": noticed.agreeing,
            }
        )
    columns = (
        _column("Measure", lambda row: row["measure"], align="left"),
        _column("Scale", lambda row: row["scale"], align="left"),
        _column("Median", lambda row: f"{row['median']:.2f}", "difference, over all pairs of systems and all queries"),
        _column("95 % up to", lambda row: f"{row['largest']:.2f}"),
        _column("Share noticed", share, "of the comparisons of two systems on a query, by the curve"),
        _column("By bins", lambda row: f"{row['by_bins']:.2f}", "the same by the noticeable difference of the bins"),
        _column("Agree", lambda row: f"{row['agreeing']:.2f}", "mean share of people who prefer the better list"),
    )
    caption = "How large differences between systems are, and how many of them people would notice."
    return _table("priors", caption, records, columns, records)


def _best_sentence(found: Predictions, word: str) -> str:
    best = f"{found.rows[0].measure} on {found.rows[0].scale} predicts {word} best"
    alike, others = len(found.best()) - 1, len(found.rows) - 1
    if not alike:
        return f"{best}, and no other is as good."
    if alike == others:
        return f"{best}, but {'the other is' if others == 1 else f'all {others} others are'} not told apart from it."
    return f"{best}; {alike} of the {others} others {'is' if alike == 1 else 'are'} not told apart from it."


def _prediction_table(found: Predictions) -> TableBlock:
    def likelihood(row: Prediction) -> str:
        return _with_interval(Estimate(row.log_likelihood, row.low, row.high), 3)

    def behind(row: Prediction) -> str:
        return _with_interval(Estimate(row.behind, row.behind_low, row.behind_high), 4) if row.behind else ""

    about = f"per unseen answer, higher is better; {found.chance:.4f} without any measure"
    columns = (
        _column("Measure", lambda row: row.measure, align="left"),
        _column("Scale", lambda row: row.scale, align="left"),
        _column("Log-likelihood", likelihood, about),
        _column("Behind the best", behind, f"intervals are of {percent(found.confidence)}"),
        _column("As good", lambda row: "yes" if row.among_best else "", "not told apart from the best", "center"),
    )
    caption = f"How well {found.outcome} is predicted, {found.n_answers:,} answers."
    return _table(f"predicts-{found.outcome}", caption, found.rows, columns, found.to_dicts())


def participant_sections(quality: Quality, influence: Influence | None = None) -> tuple[Section, ...]:
    """Participants, then, where it is known, how the conclusions change without each."""
    ordered = sorted(quality.rows, key=lambda row: row.attentive)
    blocks: list[Block] = [Paragraph(" ".join(quality.sentences()))]
    if quality.rows:
        blocks.append(quality.figure())
    if any(row.verdict != "fine" for row in quality.rows):
        blocks.append(_doubted_table(quality))
    blocks += [_trust_table(quality, ordered), _answers_table(quality, ordered)]
    people = Section("participants", "The participants", tuple(blocks))
    return (people,) if influence is None else (people, _influence(influence))


def _trust_table(quality: Quality, ordered: Sequence[ParticipantQuality]) -> TableBlock:
    rules = quality.rules
    quiz = f"{100 * rules.quiz_bar:.0f} % of the first {rules.quiz} attention checks right, " if rules.quiz else ""
    bars = f"{quiz}{100 * rules.bar:.0f} % of all once there were {rules.least}, and P(attentive) {rules.attention:g}"
    columns = (
        _column("Participant", lambda row: row.participant, align="left"),
        _column("Answers", lambda row: f"{row.answers:,}", "to questions, without attention checks"),
        _column("Excluded", lambda row: f"{row.set_aside:,}" if row.set_aside else "", "of these answers"),
        _column(
            "Checks",
            lambda row: f"{row.traps_right}/{row.traps_asked}",
            "attention checks answered right, of those asked",
        ),
        _column("Trust", lambda row: f"{row.trust:.2f}", "share of the attention checks answered right, 1 without any"),
        _column("P(attentive)", lambda row: f"{row.attentive:.3f}", "from attention checks, times, sides and choices"),
        _column("Verdict", lambda row: row.verdict, f"fine with {bars}", "left"),
        _column("Excluded because", lambda row: row.reason, align="left"),
    )
    records = [asdict(row) for row in quality.rows]
    return _table("participants", "Trust, least attentive first.", ordered, columns, records)


def _answers_table(quality: Quality, ordered: Sequence[ParticipantQuality]) -> TableBlock:
    on = f"{quality.measure} on {quality.scale}" if quality.measure else "effectiveness"
    follows = f"answers follow {on} as those of the others do: above 0 yes, below 0 no"
    columns = (
        _column("Participant", lambda row: row.participant, align="left"),
        _column("Seconds", lambda row: number(row.median_seconds, 0), "median time of an answer"),
        _column("Prefers", lambda row: number(row.a + row.b), "share of answers that prefer a list"),
        _column("Good", lambda row: number(row.good), "share of answers that call both good"),
        _column("Bad", lambda row: number(row.bad), "share of answers that call both bad"),
        _column("Left", lambda row: number(row.left), "preferences for the list that stood first; 1/2 by chance"),
        _column("Agrees", lambda row: number(row.agrees), "mean share of the others who gave the same answer"),
        _column("Shared", lambda row: f"{row.shared:,}", "questions that others answered, too"),
        _column("Follows", lambda row: number(row.follows), follows),
    )
    return _table("participant-answers", "How they answered, in the same order.", ordered, columns)


def _doubted_table(quality: Quality) -> TableBlock:
    def against(pair: tuple[ParticipantQuality, Trust]) -> str:
        return "; ".join(cue.evidence for cue in pair[1].cues if cue.factor < 1) or "attention checks alone"

    pairs = zip(quality.rows, quality.trusts, strict=True)
    doubted = sorted((pair for pair in pairs if pair[1].verdict != "fine"), key=lambda pair: pair[0].attentive)
    columns = (
        _column("Participant", lambda pair: pair[0].participant, align="left"),
        _column("Verdict", lambda pair: pair[1].verdict, align="left"),
        _column("Checks", lambda pair: f"{pair[1].traps_right}/{pair[1].traps_asked}"),
        _column("P(attentive)", lambda pair: f"{pair[1].probability:.3f}"),
        _column("What speaks against attention", against, align="left"),
    )
    records: list[dict[str, Any]] = [
        {"participant": row.participant, "verdict": trust.verdict, "cues": [asdict(cue) for cue in trust.cues]}
        for row, trust in doubted
    ]
    return _table("doubted", "Participants who do not pass the rules, and why.", doubted, columns, records)


def _influence(influence: Influence) -> Section:
    ordered = influence.by_change()
    blocks: list[Block] = [Paragraph(" ".join(influence.sentences())), _changes_table(influence, ordered)]
    if any(np.isfinite(row.noticeable) for row in influence.rows):
        blocks.append(influence.figure())
    return Section("influence", "How much depends on each participant", tuple(blocks))


def _changes_table(influence: Influence, ordered: Sequence[InfluenceRow]) -> TableBlock:
    def change(row: InfluenceRow, value: float) -> str:
        return "" if row in first else f"{value:+.3f}" if np.isfinite(value) else "–"

    whole = {"nobody": influence.of_all, "nobody, all included": influence.with_aside}
    first = [
        InfluenceRow(name, found.answers, found.noticeable, np.inf, found.satisfied, np.inf, found.best)
        for name, found in whole.items()
        if found is not None
    ]
    on = f"{influence.measure} on {influence.scale}"
    columns = (
        _column("Without", lambda row: row.participant, align="left"),
        _column("Answers", lambda row: f"{row.answers:,}", "of the participant that count"),
        _column("Noticeable", lambda row: number(row.noticeable, 3), f"difference in {on} that more than half notice"),
        _column("Change", lambda row: change(row, row.noticeable_change)),
        _column(f"P(Sat) at {MEDIUM:g}", lambda row: number(row.satisfied, 3), f"at {on} of {MEDIUM:g}, by the curve"),
        _column("Change of P(Sat)", lambda row: change(row, row.satisfied_change)),
        _column("Best", lambda row: row.best, "combination that explains answers best", "left"),
    )
    caption = "The conclusions without each participant whose answers count, the largest change first."
    return _table("influence", caption, [*first, *ordered], columns, [asdict(row) for row in influence.rows])
