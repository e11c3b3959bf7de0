"""An organiser of a preference campaign in a real browser: from the form to the curves, with people who answer.

The dashboard is never loaded again: what changes on it came over its stream.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.web.browser.comparing import Listener, graded_questions, write_files
from tests.web.browser.test_organiser_pages import assert_accessible, assert_fits, empty_server, log_in
from tests.web.near import NearServer

__all__ = ["empty_server"]  # the fixture

PHONE = {"width": 390, "height": 844}
TINY = {"width": 320, "height": 568}


@pytest.fixture
def listener() -> Iterator[Callable[..., Listener]]:
    """Let somebody join: ``listener(link, seed=1, name="Ann")``."""
    joined: list[Listener] = []

    def come(link: str, **told: Any) -> Listener:
        joined.append(Listener(link, **told))
        return joined[-1]

    yield come
    for one in joined:
        one.close()


def create_campaign(page: Page) -> None:
    """Choose the kind, then fill in the form; a recruiter that is not chosen keeps its fields to itself."""
    page.get_by_role("link", name="Create the first campaign").click()
    page.get_by_role("link", name="Compare two lists").click()
    page.get_by_label("Title", exact=True).fill("Lists of songs")
    expect(page.get_by_label("Name", exact=True)).to_have_value("lists-of-songs")
    page.get_by_label("Name", exact=True).fill("lists")
    page.get_by_label("Attention checks in the quiz").fill("2")
    page.get_by_label("Seconds to listen").fill("0")
    page.get_by_label("Questions for a person").fill("30")
    page.get_by_label("Each answer").fill("0.1")
    page.get_by_label("Curves to show").fill("CG@3")
    code = page.get_by_label("Code, finished")
    expect(code).to_be_hidden()
    page.get_by_label("Prolific").check()
    expect(code).to_be_visible()
    page.get_by_label("I invite them").check()
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("alert")).to_contain_text("Curves to show")
    expect(page.get_by_label("Title", exact=True)).to_have_value("Lists of songs")
    page.get_by_label("Curves to show").fill("CG@3 on fine")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_text("It is a draft")).to_be_visible()


def bring_files(page: Page, files: dict[str, Path]) -> None:
    page.get_by_label("Questions, CSV").set_input_files(files["questions"])
    page.get_by_label("Attention checks, CSV, optional").set_input_files(files["traps"])
    page.get_by_role("button", name="Upload the questions").click()
    expect(page.get_by_text("60 questions about 6 queries and 6 attention checks")).to_be_visible()
    page.get_by_label("Table of what is known").set_input_files(files["texts"])
    page.get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_text(re.compile("All [0-9]+ documents and queries can be heard"))).to_be_visible()


def test_a_preference_campaign_from_its_form_to_its_curves(
    page: Page,
    browser: Browser,
    empty_server: NearServer,
    tmp_path: Path,
    listener: Callable[..., Listener],
) -> None:
    log_in(page, empty_server.url)
    create_campaign(page)
    bring_files(page, write_files(tmp_path / "files", graded_questions(60, 6)))
    assert_accessible(page)
    page.get_by_role("button", name="Open the campaign").click()
    expect(page.locator("[data-state-badge]")).to_have_text("open")
    page.get_by_role("link", name="People", exact=True).click()
    page.get_by_role("button", name="Make the link").click()
    link = page.locator("[data-made] input").input_value()

    page.get_by_role("link", name="Live").click()
    expect(page.locator("[data-connection=live]")).to_be_visible()
    answers = page.locator("[data-tile=answers]")
    expect(answers).to_have_text("0")
    expect(page.get_by_text("Curves begin with the first answers.")).to_be_visible()
    page.evaluate("window.notLoadedAgain = true")
    ann = listener(link, seed=1, name="Ann")
    ann.answer(2 + 15)
    expect(page.get_by_role("row", name=re.compile("Ann"))).to_be_visible()
    bob = listener(link, seed=2, name="Bob")
    bob.answer(2 + 12, comment="Hard to tell")
    bob.skip("Only silence")
    expect(page.get_by_text("Only silence")).to_be_visible()
    listener(link, seed=3, attentive=False, name="Eve").answer(9)

    counted = answers_that_count(page)
    assert counted > 20
    expect(answers).to_have_text(str(counted))
    expect(page.locator("[data-tile=cost]")).to_have_text(re.compile(r"^\d+\.\d+ EUR$"))
    expect(page.locator(".noticed")).to_contain_text(re.compile("notice"))
    expect(page.locator(".curve-chart.agreement .fitted")).to_have_count(1)
    expect(page.locator(".curve-chart .bin").first).to_be_visible()
    assert page.evaluate("window.notLoadedAgain")
    set_aside_and_back(page, counted)
    every_page_is_accessible(browser, empty_server.url, page)


def answers_that_count(page: Page) -> int:
    """From the log, which knows nothing of pictures."""
    log = page.request.get(f"{page.url.partition('/campaigns')[0]}/api/campaigns/lists/export/log?format=json").json()
    return sum(row["kind"] == "judgment" and row["set_aside"] is None for row in log)


def set_aside_and_back(page: Page, counted: int) -> None:
    """Nobody of whom an organiser thinks again is lost."""
    answers = page.locator("[data-tile=answers]")
    page.get_by_role("link", name="People", exact=True).click()
    page.get_by_role("button", name="Exclude A1").click()
    page.get_by_role("dialog").get_by_role("button", name="Exclude").click()
    expect(page.get_by_text("their answers do not count").first).to_be_visible()
    left = answers_that_count(page)
    assert left < counted
    page.get_by_role("link", name="Live").click()
    expect(answers).to_have_text(str(left))
    page.get_by_role("link", name="People", exact=True).click()
    page.get_by_role("button", name="Count again A1").click()
    expect(page.get_by_text("Their answers count again.")).to_be_visible()
    page.get_by_role("link", name="Live").click()
    expect(answers).to_have_text(str(counted))


def every_page_is_accessible(browser: Browser, url: str, page: Page) -> None:
    """In both schemes, at a desk and on the smallest phone."""
    state: Any = page.context.storage_state()
    for scheme, viewport in (("light", TINY), ("dark", {"width": 1600, "height": 900})):
        context = browser.new_context(
            viewport=viewport,  # type: ignore[arg-type]
            color_scheme=scheme,  # type: ignore[arg-type]
            reduced_motion="reduce",
            storage_state=state,
        )
        seen = context.new_page()
        pages = ("", "/set-up", "/people", "/answers", "/settings")
        for address in (*(f"/campaigns/lists{part}" for part in pages), "/campaigns/new?kind=preference"):
            seen.goto(f"{url}{address}")
            if address == "/campaigns/lists":
                expect(seen.locator(".curve-chart").first).to_be_visible()
            assert_accessible(seen)
            assert_fits(seen)
        context.close()


SENTENCE = 'async (curves) => (await import("/static/preference/curves.js")).noticed(curves)'


def test_the_sentence_about_what_people_notice(page: Page, empty_server: NearServer) -> None:
    page.goto(f"{empty_server.url}/login")
    curve = [[0, 0.1], [1, 0.9]]
    found = {"curve": curve, "noticeable": 0.29, "noticeable_low": 0.22, "noticeable_high": 0.37, "why": None}
    curves = {"measure": "CG@5", "scale": "fine", "agreement": found}
    said = page.evaluate(SENTENCE, curves)
    assert said == "More than half notice differences in CG@5 on fine from .29 on (95 % interval .22 to .37)."
    open_ended = {**curves, "agreement": {**found, "noticeable_low": 0, "noticeable_high": None}}
    assert page.evaluate(SENTENCE, open_ended).endswith("from .29 on (95 % interval 0 to beyond 1).")
    for ends in ((0.29, 0.29), (None, None)):
        plain = {**found, "noticeable_low": ends[0], "noticeable_high": ends[1]}
        assert page.evaluate(SENTENCE, {**curves, "agreement": plain}).endswith("CG@5 on fine from .29 on.")
    nobody = {**curves, "agreement": {**found, "noticeable": None}}
    assert "no difference in CG@5 on fine is noticed" in page.evaluate(SENTENCE, nobody)
    early = {**curves, "agreement": {**found, "curve": [], "why": "3 of at least 20 answers for a curve"}}
    assert page.evaluate(SENTENCE, early) == "3 of at least 20 answers for a curve."
