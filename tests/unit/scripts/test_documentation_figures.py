"""Figures of the documentation: registered, shown, and named after code that is there."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from scripts.docs import concept_numbers as numbers
from scripts.docs.diagrams import CAMPAIGN_SERVER, DATA_FLOW, Diagram
from scripts.docs.figures import FIGURES, write_figure
from scripts.docs.pages import ROOT, all_pages, leads_somewhere

from adjudge.reporting.figures import PALETTE


def test_every_figure_is_shown_on_a_page_and_every_figure_shown_is_drawn() -> None:
    shown = {
        name for page in all_pages() for name in re.findall(r"\.\./_figures/([\w-]+)\.svg\)", page.read_text("utf-8"))
    }
    assert shown == set(FIGURES), f"shown or drawn, not both: {', '.join(shown ^ set(FIGURES))}"


def test_a_figure_is_somewhere_to_lead_to_when_it_is_registered() -> None:
    page = ROOT / "docs" / "concepts" / "validity.md"
    assert leads_somewhere(page, "../_figures/satisfaction.svg")
    assert not leads_somewhere(page, "../_figures/dissatisfaction.svg")
    assert not leads_somewhere(page, "../_figures/satisfaction.png")


def test_a_page_is_somewhere_to_lead_to_when_it_is_there() -> None:
    page = ROOT / "docs" / "concepts" / "validity.md"
    assert leads_somewhere(page, "reliability.md")
    assert not leads_somewhere(page, "virtue.md")


def test_a_figure_has_a_background_of_its_own_and_is_the_same_every_time(tmp_path: Path) -> None:
    first = write_figure("data_flow", tmp_path / "a").read_bytes()
    assert first == write_figure("data_flow", tmp_path / "b").read_bytes()
    assert f"fill: {PALETTE['paper']}".encode() in first


@pytest.mark.parametrize("diagram", [DATA_FLOW, CAMPAIGN_SERVER], ids=["data flow", "campaign server"])
def test_what_a_diagram_names_exists(diagram: Diagram) -> None:
    for box in diagram.boxes:
        for home in box.homes:
            module, _, name = home.partition(":")
            assert not name or hasattr(import_module(module), name), f"{box.name}: {home}"


@pytest.mark.parametrize("diagram", [DATA_FLOW, CAMPAIGN_SERVER], ids=["data flow", "campaign server"])
def test_boxes_of_a_diagram_do_not_overlap(diagram: Diagram) -> None:
    places = [box.place for box in diagram.boxes]
    for i, (x, y, width, height) in enumerate(places):
        assert x >= 0
        assert x + width <= 7.2
        assert y >= 0
        assert y + height <= diagram.height
        for left, bottom, wide, high in places[:i]:
            assert x + width <= left or left + wide <= x or y + height <= bottom or bottom + high <= y


def test_shares_of_users_add_up_at_every_difference() -> None:
    for panel in numbers.preferred().panels:
        np.testing.assert_allclose(np.sum(panel.curves, axis=0), 1.0)


def test_what_a_difference_in_sign_is_called_reversed() -> None:
    sets = numbers.OtherQueries(("a", "b"), np.array([0.1, -0.1]), np.array([0.05, -0.3]), np.array([0.2, 0.1]), 0.02)
    assert sets.significant.tolist() == [True, False]
    assert sets.reversed.tolist() == [False, True]
