"""The participants of a preference study in a report: words, tables, figure data, in every form."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from tests.unit.preferences.people_study import LEAST_SECONDS, simulated

from adjudge.cli.output import drawn
from adjudge.preferences.influence import Influence, influence
from adjudge.preferences.quality import Quality, quality
from adjudge.preferences.report import participant_sections
from adjudge.preferences.trust import assess_all, set_aside
from adjudge.reporting.document import Block, FigureBlock, Paragraph, Report, Section, TableBlock
from adjudge.reporting.render import drawing, figure_bytes, render


@lru_cache(maxsize=1)
def found() -> tuple[Quality, Influence]:
    study = simulated().study
    apart = set_aside(study, assess_all(study, least_seconds=LEAST_SECONDS))
    return quality(apart, least_seconds=LEAST_SECONDS, resamples=0), influence(apart)


def of(section: Section, kind: type[Block], name: str) -> Any:
    return next(block for block in section.blocks if isinstance(block, kind) and getattr(block, "name", "") == name)


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
    table, answers = of(people, TableBlock, "participants"), of(people, TableBlock, "participant-answers")
    assert len(table.rows) == len(table.records) == 30
    attentive = [float(row[5]) for row in table.rows]
    assert attentive == sorted(attentive)
    assert [row[0] for row in answers.rows] == [row[0] for row in table.rows]


def test_who_does_not_pass_is_listed_with_what_speaks_against_them() -> None:
    people, _ = participant_sections(*found())
    doubted = of(people, TableBlock, "doubted")
    assert {row[0] for row in doubted.rows} == {row.participant for row in found()[0].rows if row.verdict != "fine"}
    assert all(row[-1] for row in doubted.rows)


def test_where_all_pass_nobody_is_listed_and_without_influence_there_is_one_section() -> None:
    fine = tuple(replace(row, verdict="fine") for row in found()[0].rows)
    (people,) = participant_sections(replace(found()[0], rows=fine))
    assert "doubted" not in {getattr(block, "name", "") for block in people.blocks}


def test_figure_data_are_the_numbers_of_the_tables() -> None:
    people, changes = participant_sections(*found())
    dots = of(people, FigureBlock, "participant-trust").data
    assert int(dots.doubted.sum()) == sum(row.verdict != "fine" for row in found()[0].rows)
    left_out = of(changes, FigureBlock, "left-out").data
    assert len(left_out.names) == 20
    size = np.abs(left_out.without[0] - left_out.with_all[0])
    assert (np.diff(size) <= 1e-12).all()


def test_the_largest_change_is_the_first_row_after_those_without_anybody() -> None:
    _, changes = participant_sections(*found())
    table = of(changes, TableBlock, "influence")
    assert [row[0] for row in table.rows[:2]] == ["nobody", "nobody, all put back"]
    largest = found()[1].largest()
    assert largest is not None
    assert table.rows[2][0] == largest.participant
    assert table.rows[2][3] == f"{largest.noticeable_change:+.3f}"


@pytest.mark.parametrize("form", ["html", "markdown", "latex", "json"])
def test_sections_render_in_every_form(form: str) -> None:
    report = Report("People", "", participant_sections(*found()), {"adjudge": "0", "inputs": [], "settings": {}})
    text = render(report, form)
    assert "p1" in text
    assert not re.search(r"\bnan\b", text, re.IGNORECASE)


def test_sections_print_on_a_terminal() -> None:
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
