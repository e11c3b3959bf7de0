"""The look of pages: colours and mark that reports share with the web app, and words that can be read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import adjudge
from adjudge.model.provenance import Provenance
from adjudge.reporting.document import FigureBlock, Report, Section, TableBlock
from adjudge.reporting.figures import DARK, PALETTE
from adjudge.reporting.render import render
from adjudge.tables import Heading

PACKAGE = Path(adjudge.__file__).parent
TOKENS = {"ink": "ink", "muted": "soft", "paper": "surface", "accent": "accent", "warm": "candidate"}
"""What the web app calls the colours of reports."""


def tokens(css: str) -> dict[str, str]:
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", css))


def test_reports_and_the_web_app_have_the_same_colours_on_light_and_on_dark_paper() -> None:
    css = (PACKAGE / "web" / "static" / "adjudge.css").read_text(encoding="utf-8")
    light, dark = re.findall(r":root \{(.*?)\n\s*\}", css, re.DOTALL)[:2]
    for palette, defined in ((PALETTE, tokens(light)), (DARK, tokens(dark))):
        assert {name: defined[token] for name, token in TOKENS.items()} == {name: palette[name] for name in TOKENS}


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2.2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("palette", [PALETTE, DARK])
def test_text_can_be_read_on_its_paper(palette: dict[str, str]) -> None:
    for name in ("ink", "muted", "accent", "warm"):
        dark, light = sorted((luminance(palette[name]), luminance(palette["paper"])))
        assert (light + 0.05) / (dark + 0.05) >= 4.5, name


def test_a_page_has_the_mark_of_the_web_app() -> None:
    mark = (PACKAGE / "reporting" / "_mark.html").read_text(encoding="utf-8").strip()
    assert mark in render(Report("Title", "", (), Provenance().to_dict()), "html")
    assert not (PACKAGE / "web" / "templates" / "_mark.html").exists()


def test_a_page_leads_back_to_where_it_comes_from() -> None:
    report = Report("Title", "", (), Provenance().to_dict(), home=("Campaign a&b", "https://example.org/campaigns/ab"))
    assert '<a href="https://example.org/campaigns/ab">Campaign a&amp;b</a>' in render(report, "html")
    assert "[Campaign a&b](https://example.org/campaigns/ab)" in render(report, "markdown")


def test_markdown_shows_names_of_measures_and_systems_as_they_are() -> None:
    figure = FigureBlock("ranks", "Means of *a*.", "Best: a_b [1]", None, lambda data, canvas: None)
    table = TableBlock("means", "", (Heading("system", about="a_b | a_c"),), (("x",),), [])
    text = render(
        Report("Title", "", (Section("s", "By my_mood_x", (figure, table)),), Provenance().to_dict()), "markdown"
    )
    assert r"## By my\_mood\_x" in text
    assert r"![Best: a\_b \[1\]](ranks.svg)" in text
    assert r"*Means of \*a\*.*" in text
    assert r"- system: a\_b \| a\_c" in text
