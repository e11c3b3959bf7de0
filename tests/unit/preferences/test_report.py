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
from adjudge.preferences.influence import Influence, influence
from adjudge.preferences.learning import Learnt, learn
from adjudge.preferences.quality import Quality, quality
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


def test_the_first_sentence_says_what_people_notice() -> None:
    first = preference_sections(learnt(), study())[0].blocks[0]
    one = learnt().combinations[0].noticeable
    assert isinstance(first, Paragraph)
    assert first.text.startswith(
        f"More than half notice differences in CG@5 on fine from {one.value:.2f} on [{one.low:.2f}, {one.high:.2f}];"
    )


def test_where_nothing_is_noticed_it_says_so() -> None:
    none = replace(learnt().combinations[0], noticeable=Estimate(NAN, NAN, NAN))
    assert preference_sentences(replace(learnt(), combinations=(none,)))[0] == (
        "No difference in CG@5 on fine is noticed by more than half of the people."
    )


def test_it_says_whether_satisfaction_is_learnt_from_pairs_or_from_lists() -> None:
    pairs, lists = learnt(), learn(study(), ["CG@5 on fine"], resamples=0, ties="lists")
    for found, said, column in (
        (pairs, "when both lists have it, by a curve fitted to pairs.", "Pairs"),
        (lists, "counts once for either list, at that list's own effectiveness.", "Lists"),
    ):
        sections = preference_sections(found, study())
        assert said in texts(sections)
        assert "{" not in texts(sections)
        assert of(sections, TableBlock, "satisfaction-bins-1").columns[1].name == column


def test_an_unknown_interval_is_left_out() -> None:
    bare = replace(learnt().combinations[0], noticeable=Estimate(0.3, NAN, NAN))
    words = preference_sentences(replace(learnt(), combinations=(bare,)))[0]
    assert words.startswith("More than half notice differences in CG@5 on fine from 0.30 on;")


def test_what_does_not_count_is_said() -> None:
    words = texts(preference_sections(replace(learnt(), n_traps=7, n_set_aside=1200), study()))
    assert "Answers that do not count: 7 to traps and 1,200 set aside." in words
    assert "answers to one query or of one participant count as alike" in words


def test_a_study_without_participants_says_what_that_means() -> None:
    anonymous = replace(study(), participant=np.full(len(study()), -1))
    words = texts(preference_sections(replace(learnt(), n_participants=None), anonymous))
    assert "Who gave which answer is not known" in words
    assert "of one participant" not in words


def test_every_combination_has_a_row_in_each_table() -> None:
    sections = preference_sections(learnt(), study())
    for name in ("noticeable-differences", "satisfaction-ends", "endpoints", "predicts-agreement"):
        table = of(sections, TableBlock, name)
        assert sorted(row[:2] for row in table.rows) == [("CG@5", "broad"), ("CG@5", "fine")]
        assert all(len(row) == len(table.columns) for row in table.rows)


def test_the_lowest_bias_and_distances_are_emphasised() -> None:
    table = of(preference_sections(learnt(), study()), TableBlock, "endpoints")
    ends = [one.endpoints for one in learnt().combinations]
    for column, name in ((2, "bias"), (3, "positive"), (4, "negative")):
        best = int(np.argmin([getattr(end, name).value for end in ends]))
        assert (best, column) in table.emphasised


def test_one_combination_has_no_best() -> None:
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


def test_many_combinations_are_in_tables_and_a_few_in_figures() -> None:
    many = replace(learnt(), combinations=learnt().combinations * 4)
    sections = preference_sections(many, study())
    assert len(of(sections, FigureBlock, "agreement-curves").data.panels) == 6
    assert "the first 6 of 8" in of(sections, FigureBlock, "agreement-curves").caption
    assert len(of(sections, TableBlock, "noticeable-differences").rows) == 8


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


@pytest.mark.parametrize("form", ["html", "markdown", "latex", "json"])
def test_sections_render_in_every_form(form: str) -> None:
    provenance = {"adjudge": "0", "inputs": [], "settings": {}}
    text = render(Report("Preferences", "", preference_sections(learnt(), study()), provenance), form)
    assert "CG@5" in text
    assert not re.search(r"\bnan\b", text, re.IGNORECASE)
    if form == "json":
        assert json.loads(text)["sections"]["preferences"]["blocks"]


def test_sections_print_on_a_terminal() -> None:
    text = drawn(drawing(Report("Preferences", "", preference_sections(learnt_with_runs(), study()), {})))
    assert "Noticed from" in text
    assert "Share noticed" in text


def test_figures_of_one_combination_draw() -> None:
    for section in preference_sections(learnt_with_runs(), study()):
        for block in section.blocks:
            if isinstance(block, FigureBlock):
                assert figure_bytes(block, "svg").startswith(b"<?xml")
                assert figure_bytes(block, "svg") == figure_bytes(block, "svg")


@lru_cache(maxsize=1)
def found() -> tuple[Quality, Influence]:
    study = simulated().study
    apart = set_aside(study, assess_all(study, least_seconds=LEAST_SECONDS))
    return quality(apart, least_seconds=LEAST_SECONDS, resamples=0), influence(apart)


def test_words_come_first_and_say_what_matters() -> None:
    people, changes = participant_sections(*found())
    first, second = people.blocks[0], changes.blocks[0]
    assert isinstance(first, Paragraph)
    assert isinstance(second, Paragraph)
    assert first.text.startswith("30 participants gave 900 answers, of which ")
    assert "the noticeable difference" in second.text
    assert "put back in" in second.text


def test_everybody_has_a_row_least_attentive_first() -> None:
    people, _ = participant_sections(*found())
    table, answers = (
        of((people,), TableBlock, "participants"),
        of((people,), TableBlock, "participant-answers"),
    )
    assert len(table.rows) == len(table.records) == 30
    attentive = [float(row[5]) for row in table.rows]
    assert attentive == sorted(attentive)
    assert [row[0] for row in answers.rows] == [row[0] for row in table.rows]


def test_who_does_not_pass_is_listed_with_what_speaks_against_them() -> None:
    people, _ = participant_sections(*found())
    doubted = of((people,), TableBlock, "doubted")
    assert {row[0] for row in doubted.rows} == {row.participant for row in found()[0].rows if row.verdict != "fine"}
    assert all(row[-1] for row in doubted.rows)


def test_where_all_pass_nobody_is_listed_and_without_influence_there_is_one_section() -> None:
    fine = tuple(replace(row, verdict="fine") for row in found()[0].rows)
    (people,) = participant_sections(replace(found()[0], rows=fine))
    assert "doubted" not in {getattr(block, "name", "") for block in people.blocks}


def test_figure_data_are_the_numbers_of_the_tables() -> None:
    people, changes = participant_sections(*found())
    dots = of((people,), FigureBlock, "participant-trust").data
    assert int(dots.doubted.sum()) == sum(row.verdict != "fine" for row in found()[0].rows)
    left_out = of((changes,), FigureBlock, "left-out").data
    assert len(left_out.names) == 20
    size = np.abs(left_out.without[0] - left_out.with_all[0])
    assert (np.diff(size) <= 1e-12).all()


def test_the_largest_change_is_the_first_row_after_those_without_anybody() -> None:
    _, changes = participant_sections(*found())
    table = of((changes,), TableBlock, "influence")
    assert [row[0] for row in table.rows[:2]] == ["nobody", "nobody, all put back"]
    largest = found()[1].largest()
    assert largest is not None
    assert table.rows[2][0] == largest.participant
    assert table.rows[2][3] == f"{largest.noticeable_change:+.3f}"


@pytest.mark.parametrize("form", ["html", "markdown", "latex", "json"])
def test_participants_render_in_every_form(form: str) -> None:
    report = Report("People", "", participant_sections(*found()), {"adjudge": "0", "inputs": [], "settings": {}})
    text = render(report, form)
    assert "p1" in text
    assert not re.search(r"\bnan\b", text, re.IGNORECASE)


def test_participants_print_on_a_terminal() -> None:
    report = Report("People", "", participant_sections(*found()), {})
    text = drawn(drawing(report))
    assert "P(attentive)" in text
    assert "without each participant" in text


def test_figures_draw_also_where_little_is_known() -> None:
    quality_, influence_ = found()
    nan = float("nan")
    bare = tuple(replace(row, median_seconds=nan, follows=nan, traps_asked=0) for row in quality_.rows[:3])
    sections = participant_sections(replace(quality_, rows=bare, trusts=quality_.trusts[:3]), influence_)
    for section in sections:
        for block in section.blocks:
            if isinstance(block, FigureBlock):
                assert figure_bytes(block, "svg").startswith(b"<?xml")
