"""Participants and what a preference study teaches, in a report: words, tables, figure data, in every form."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from tests.unit.preferences.people_study import LEAST_SECONDS, simulated

import adjudge as aj
from adjudge.cli.output import drawn
from adjudge.preferences.curves import Estimate
from adjudge.preferences.learning import Learnt, learn
from adjudge.preferences.participants import Influence, Quality, influence, quality
from adjudge.preferences.report import participant_sections, preference_sections, preference_sentences
from adjudge.preferences.study import Study
from adjudge.preferences.trust import assess_all, set_aside
from adjudge.reporting.document import Block, FigureBlock, Paragraph, Report, Section, TableBlock
from adjudge.reporting.render import drawing, figure_bytes, render

NAN = float("nan")


def study() -> Study:
    return simulated(participants=16, spammers=0.0).study


@lru_cache(maxsize=1)
def learnt() -> Learnt:
    return learn(study(), ["CG@5 on fine", "CG@5 on broad"], resamples=100)


@lru_cache(maxsize=1)
def learnt_with_runs() -> Learnt:
    return learn(study(), ["CG@5 on fine"], resamples=100, collection=aj.demo())


def of(sections: tuple[Section, ...], kind: type[Block], name: str) -> Any:
    found = [b for s in sections for b in s.blocks if isinstance(b, kind) and getattr(b, "name", "") == name]
    assert len(found) == 1, name
    return found[0]


def texts(sections: tuple[Section, ...]) -> str:
    return " ".join(block.text for section in sections for block in section.blocks if isinstance(block, Paragraph))


@pytest.mark.parametrize(
    ("noticeable", "words"),
    [
        (Estimate(0.3, 0.2, 0.41), "More than half notice differences in CG@5 on fine from 0.30 on [0.20, 0.41];"),
        (Estimate(0.3, NAN, NAN), "More than half notice differences in CG@5 on fine from 0.30 on;"),
        (Estimate(NAN, NAN, NAN), "No difference in CG@5 on fine is noticed by more than half of the people."),
    ],
)
def test_the_first_sentence_says_what_people_notice(noticeable: Estimate, words: str) -> None:
    changed = replace(learnt(), combinations=(replace(learnt().combinations[0], noticeable=noticeable),))
    assert preference_sentences(changed)[0].startswith(words)
    assert texts(preference_sections(changed, study())).startswith(words)


def test_it_says_whether_satisfaction_is_learnt_from_pairs_or_from_lists() -> None:
    pairs, lists = learnt(), learn(study(), ["CG@5 on fine"], resamples=0, ties="lists")
    for found, said, column in (
        (pairs, "when both lists have it, by a curve through pairs.", "Pairs"),
        (lists, "counts once for either list, at that list's own effectiveness.", "Lists"),
    ):
        sections = preference_sections(found, study())
        assert said in texts(sections)
        assert "{" not in texts(sections)
        assert of(sections, TableBlock, "satisfaction-bins-1").columns[1].name == column


def test_what_does_not_count_and_what_is_not_known_is_said() -> None:
    words = texts(preference_sections(replace(learnt(), n_traps=7, n_set_aside=1200), study()))
    assert "Answers that do not count: 7 to attention checks and 1,200 excluded." in words
    assert "answers to one query or of one participant are taken to be alike" in words
    anonymous = replace(study(), participant=np.full(len(study()), -1))
    words = texts(preference_sections(replace(learnt(), n_participants=None), anonymous))
    assert "Who gave which answer is not known" in words
    assert "of one participant" not in words


def test_every_combination_has_a_row_in_each_table_and_the_first_few_a_panel() -> None:
    sections = preference_sections(learnt(), study())
    for name in ("noticeable-differences", "satisfaction-ends", "endpoints", "predicts-agreement"):
        table = of(sections, TableBlock, name)
        assert sorted(row[:2] for row in table.rows) == [("CG@5", "broad"), ("CG@5", "fine")]
        assert all(len(row) == len(table.columns) for row in table.rows)
    sections = preference_sections(replace(learnt(), combinations=learnt().combinations * 4), study())
    assert len(of(sections, FigureBlock, "agreement-curves").data.panels) == 6
    assert "the first 6 of 8" in of(sections, FigureBlock, "agreement-curves").caption
    assert len(of(sections, TableBlock, "noticeable-differences").rows) == 8


def test_the_lowest_bias_and_distances_are_emphasised_where_there_are_several() -> None:
    table = of(preference_sections(learnt(), study()), TableBlock, "endpoints")
    ends = [one.endpoints for one in learnt().combinations]
    for column, name in ((2, "bias"), (3, "positive"), (4, "negative")):
        best = int(np.argmin([getattr(end, name).value for end in ends]))
        assert (best, column) in table.emphasised
    one = replace(learnt(), combinations=learnt().combinations[:1])
    sections = preference_sections(one, study())
    assert [section.name for section in sections] == ["preferences", "satisfaction-curves"]
    assert not of(sections, TableBlock, "endpoints").emphasised


def test_figures_show_the_bins_and_the_curves() -> None:
    sections = preference_sections(learnt(), study())
    agreement = of(sections, FigureBlock, "agreement-curves").data
    one = learnt().combinations[0]
    assert [panel.title for panel in agreement.panels] == ["CG@5 on fine", "CG@5 on broad"]
    assert agreement.panels[0].curves[0] == pytest.approx(one.agreement(agreement.grid).agree)
    assert agreement.panels[0].mark == (one.noticeable.value, one.noticeable.low, one.noticeable.high)
    satisfaction = of(sections, FigureBlock, "satisfaction-curves").data
    assert satisfaction.curves == ("curve (bounded)", "cubic")
    assert satisfaction.panels[0].curves[0] == pytest.approx(one.satisfaction(satisfaction.grid))
    shown = satisfaction.panels[0].series[0]
    assert set(shown.share.tolist()) <= set(one.satisfaction_bins.satisfied.share.tolist())


def test_bins_without_a_difference_are_not_drawn() -> None:
    one = learnt().combinations[1]
    bins = one.agreement_bins
    mean = bins.agree.mean.copy()
    mean[0] = 0.0
    tied = replace(bins, agree=replace(bins.agree, mean=mean))
    found = preference_sections(replace(learnt(), combinations=(replace(one, agreement_bins=tied),)), study())
    drawn_bins = of(found, FigureBlock, "agreement-curves").data.panels[0].series[0].x
    assert 0.0 not in drawn_bins
    assert len(drawn_bins) >= 3


def test_prediction_says_who_is_told_apart() -> None:
    def told(*among: bool) -> str:
        predictions = learnt().predicts_agreement
        rows = [replace(predictions.rows[i % 2], among_best=best) for i, best in enumerate(among)]
        changed = replace(predictions, rows=tuple(rows))
        return texts(preference_sections(replace(learnt(), predicts_agreement=changed), study())[-1:])

    assert "predicts preferences best, and no other is as good." in told(True, False)
    assert "predicts preferences best, but the other is not told apart from it." in told(True, True)
    assert "predicts preferences best, but all 2 others are not told apart from it." in told(True, True, True)
    assert "predicts preferences best; 1 of the 2 others is not told apart from it." in told(True, True, False)


def test_with_runs_there_is_the_share_of_differences_that_people_would_notice() -> None:
    sections = preference_sections(learnt_with_runs(), study())
    table = of(sections, TableBlock, "priors")
    noticed = learnt_with_runs().combinations[0].noticed
    assert noticed is not None
    assert table.rows[0][4].startswith(f"{noticed.share.value:.2f}")
    assert f"Most people would notice {noticed.share.value:.0%}".replace("%", " %") in texts(sections)


@lru_cache(maxsize=1)
def found() -> tuple[Quality, Influence]:
    study = simulated().study
    apart = set_aside(study, assess_all(study, least_seconds=LEAST_SECONDS))
    return quality(apart, least_seconds=LEAST_SECONDS, resamples=0), influence(apart)


def all_sections() -> tuple[Section, ...]:
    return (*preference_sections(learnt_with_runs(), study()), *participant_sections(*found()))


@pytest.mark.parametrize("form", ["html", "markdown", "latex", "json"])
def test_sections_render_in_every_form(form: str) -> None:
    text = render(Report("Preferences", "", all_sections(), {"adjudge": "0", "inputs": [], "settings": {}}), form)
    assert "CG@5" in text
    assert "p1" in text
    assert not re.search(r"\bnan\b", text, re.IGNORECASE)
    if form == "json":
        assert {"preferences", "influence"} <= set(json.loads(text)["sections"])


def test_sections_print_on_a_terminal() -> None:
    text = drawn(drawing(Report("Preferences", "", all_sections(), {})))
    assert all(words in text for words in ("Noticed from", "Share noticed", "P(attentive)", "without each participant"))


def test_figures_draw_also_where_little_is_known() -> None:
    people, changes = found()
    bare = tuple(replace(row, median_seconds=NAN, follows=NAN, traps_asked=0) for row in people.rows[:3])
    unknown = participant_sections(replace(people, rows=bare, trusts=people.trusts[:3]), changes)
    sections = (*preference_sections(learnt_with_runs(), study()), *unknown)
    figures = [block for section in sections for block in section.blocks if isinstance(block, FigureBlock)]
    assert len(figures) == 5
    for figure in figures:
        assert figure_bytes(figure, "svg").startswith(b"<?xml")


def test_everybody_has_a_row_least_attentive_first_after_words_that_say_what_matters() -> None:
    people, changes = participant_sections(*found())
    assert texts((people,)).startswith("30 participants gave 900 answers, of which ")
    assert "the noticeable difference" in texts((changes,))
    assert "put back in" in texts((changes,))
    table, answers = (of((people,), TableBlock, name) for name in ("participants", "participant-answers"))
    assert len(table.rows) == len(table.records) == 30
    attentive = [float(row[5]) for row in table.rows]
    assert attentive == sorted(attentive)
    assert [row[0] for row in answers.rows] == [row[0] for row in table.rows]


def test_who_does_not_pass_is_listed_with_what_speaks_against_them() -> None:
    quality, influence = found()
    doubted = of(participant_sections(quality, influence), TableBlock, "doubted")
    assert {row[0] for row in doubted.rows} == {row.participant for row in quality.rows if row.verdict != "fine"}
    assert all(row[-1] for row in doubted.rows)
    fine = tuple(replace(row, verdict="fine") for row in quality.rows)
    (people,) = participant_sections(replace(quality, rows=fine))
    assert "doubted" not in {getattr(block, "name", "") for block in people.blocks}


def test_figures_and_tables_show_the_largest_changes_first() -> None:
    quality, influence = found()
    sections = participant_sections(quality, influence)
    dots = of(sections, FigureBlock, "participant-trust").data
    assert int(dots.doubted.sum()) == sum(row.verdict != "fine" for row in quality.rows)
    left_out = of(sections, FigureBlock, "left-out").data
    assert len(left_out.names) == 20
    assert (np.diff(np.abs(left_out.without[0] - left_out.with_all[0])) <= 1e-12).all()
    table, largest = of(sections, TableBlock, "influence"), influence.largest()
    assert largest is not None
    assert [row[0] for row in table.rows[:3]] == ["nobody", "nobody, all included", largest.participant]
    assert table.rows[2][3] == f"{largest.noticeable_change:+.3f}"
