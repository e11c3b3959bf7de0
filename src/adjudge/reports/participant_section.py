"""The participants of a preference study as sections: who answered how, and what hangs on whom."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from adjudge.arrays import Floats
from adjudge.preferences.influence import MEDIUM, Conclusions, Influence, InfluenceRow
from adjudge.preferences.quality import ParticipantQuality, Quality
from adjudge.reports import preference_figures as figures
from adjudge.reports.document import Block, Column, FigureBlock, Paragraph, Section, TableBlock
from adjudge.words import number

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
        Column("Participant", "left"),
        Column("Answers", about="to questions that are no traps"),
        Column("Aside", about="of them set aside"),
        Column("Traps", about="right of those asked"),
        Column("Trust", about="share of the traps answered right, 1 where none were asked"),
        Column("P(attentive)", about="from traps, times, sides and choices"),
        Column("Verdict", "left", about=_rules(quality)),
        Column("Set aside for", "left"),
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
        Column("Participant", "left"),
        Column("Seconds", about="median for an answer"),
        Column("Prefers", about="share of answers that prefer a list"),
        Column("Good", about="share of answers that call both good"),
        Column("Bad", about="share of answers that call both bad"),
        Column("Left", about="share of preferences for the list that stood first; one half by chance"),
        Column("Agrees", about="share of what others answered to the same questions that is the same"),
        Column("Shared", about="questions that others answered, too"),
        Column("Follows", about=f"answers follow {on} as those of the others do: above 0 yes, below 0 no"),
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
        Column("Participant", "left"),
        Column("Verdict", "left"),
        Column("Traps"),
        Column("P(attentive)"),
        Column("What speaks against attention", "left"),
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
        Column("Without", "left"),
        Column("Answers", about="of the participant that count"),
        Column("Noticeable", about=f"difference in {on} that more than half notice"),
        Column("Change"),
        Column(f"P(Sat) at {MEDIUM:g}", about=f"of lists with {on} of {MEDIUM:g}, by the monotone curve"),
        Column("Change of P(Sat)"),
        Column("Best", "left", about="combination that explains answers best"),
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
