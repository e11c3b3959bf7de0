"""The section about users: whose curves they are, and what they say."""

from __future__ import annotations

import numpy as np
import pytest

import adjudge as aj
from adjudge.reporting.document import FigureBlock, Paragraph, TableBlock
from adjudge.users.noticing import AgreementMapping
from adjudge.users.report import gather, make_report
from adjudge.users.satisfaction import SatisfactionMapping

# Ordinal logit: half prefer the better system where slope x - threshold = 0, here at 0.25.
NOTICE = AgreementMapping("CG@5", "fine", "ordinal", (8.0, 2.0), source="our listeners")
SATISFY = SatisfactionMapping("CG@5", "fine", "points", points=((0.0, 0.1), (1.0, 0.9)), source="our listeners")


@pytest.fixture(scope="module")
def blocks() -> tuple[object, ...]:
    eff = aj.evaluate(aj.demo(queries=10, depth=5), ["CG@5", "RR"])
    evidence = gather(eff, satisfied=[SATISFY], mappings=[NOTICE], resamples=200)
    return make_report(evidence, sections=["users"]).sections[0].blocks


def test_it_names_the_study_and_where_most_notice(blocks: tuple[object, ...]) -> None:
    said = blocks[0]
    assert isinstance(said, Paragraph)
    assert "our listeners." in said.text
    assert "more than half of the users notice differences in CG@5 from 0.25 on" in said.text


def test_measures_without_a_curve_have_no_row(blocks: tuple[object, ...]) -> None:
    table = blocks[1]
    assert isinstance(table, TableBlock)
    assert [tuple(row) for row in table.rows] == [("CG@5", "0.25", "0.10", "0.50", "0.90")]


def test_curves_are_those_of_the_mappings(blocks: tuple[object, ...]) -> None:
    drawn = {block.name: block for block in blocks if isinstance(block, FigureBlock)}
    notice, satisfied = drawn["users-notice"].data, drawn["users-satisfied"].data
    assert np.allclose(sum(notice.panels[0].curves), 1.0)
    assert notice.panels[0].mark[0] == pytest.approx(0.25)
    assert np.allclose(satisfied.panels[0].curves[0], 0.1 + 0.8 * satisfied.grid)


def test_the_legend_of_a_single_curve_fits_into_its_narrow_figure(blocks: tuple[object, ...]) -> None:
    (block,) = (one for one in blocks if isinstance(one, FigureBlock) and one.name == "users-notice")
    figure = block.draw(block.data)
    figure.canvas.draw()
    assert [text.get_text() for text in figure.legends[0].get_texts()][-1] == "prefer the worse one"
    assert figure.legends[0].get_window_extent().x1 <= figure.bbox.x1


def test_without_any_mapping_there_is_nothing_to_say() -> None:
    eff = aj.evaluate(aj.demo(queries=10, depth=5), ["RR"])
    evidence = gather(eff, resamples=200)
    assert "users" not in [part.name for part in make_report(evidence).sections]
