"""An organiser of a ranking campaign in a real browser: from candidates to lists, with experts who rank.

The dashboard is never loaded again: what changes on it came over its stream.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, Page, expect
from tests.web.browser.test_organiser_pages import assert_accessible, assert_fits, empty_server, log_in
from tests.web.near import NearServer

from adjudge.web.client import join_ranking

__all__ = ["empty_server"]  # the fixture

DOCUMENTS = [f"tune {letter}" for letter in "abcdef"]


def create_campaign(page: Page, folder: Path) -> None:
    """Fill in the form, bring the files, open it."""
    page.get_by_role("link", name="Create the first campaign").click()
    page.get_by_role("link", name="Rank documents").click()
    page.get_by_label("Title", exact=True).fill("Tunes")
    page.get_by_label("Experts for a query").fill("6")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_text("It is a draft")).to_be_visible()
    folder.mkdir()
    candidates, texts = folder / "candidates.csv", folder / "texts.csv"
    candidates.write_text("query,document\n" + "".join(f"{q},{name}\n" for q in ("one", "two") for name in DOCUMENTS))
    texts.write_text("document,text\n" + "".join(f"{name},{name}\n" for name in ("one", "two", *DOCUMENTS)))
    page.get_by_label("Candidates, or runs").set_input_files(candidates)
    page.get_by_role("button", name="Upload the candidates").click()
    expect(page.get_by_text("2 queries with 6 documents each.")).to_be_visible()
    page.get_by_label("Table of what is known").set_input_files(texts)
    page.get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_text("All 8 documents and queries can be heard")).to_be_visible()
    page.get_by_text("Look at a query with its candidates").click()
    expect(page.get_by_role("figure").filter(has_text="tune f").first).to_be_visible()
    page.get_by_role("button", name="Open the campaign").click()
    expect(page.locator("[data-state-badge]")).to_have_text("open")


def rank(link: str, *, name: str, rng: np.random.Generator, careless: bool = False) -> None:
    """Somebody ranks everything: as the alphabet goes, about, or without a look."""
    url, _, invitation = link.partition("/i/")
    expert = join_ranking(url, invitation, name=name)
    desk: dict[str, Any] = expert.desk()
    while (question := desk["question"]) is not None:
        seen = {
            one["id"]: rng.random() if careless else DOCUMENTS.index(one["text"]) + rng.normal(0, 0.5)
            for one in question["candidates"]
        }
        desk = expert.order(question, [[number] for number in sorted(seen, key=lambda number: seen[number])]).desk
    expert.close()


def test_a_ranking_campaign_from_its_candidates_to_its_lists(
    page: Page, browser: Browser, empty_server: NearServer, tmp_path: Path
) -> None:
    log_in(page, empty_server.url)
    create_campaign(page, tmp_path / "files")
    page.get_by_role("link", name="People", exact=True).click()
    page.get_by_role("button", name="Make the link").click()
    link = page.locator("[data-made] input").input_value()
    page.get_by_role("link", name="Live").click()
    expect(page.get_by_text("A list shows as soon as somebody has sent a ranking.")).to_be_visible()
    page.evaluate("window.notLoadedAgain = true")
    rng = np.random.default_rng(3)
    for number in range(6):
        rank(link, name=f"Expert {number}", rng=rng, careless=number == 2)
    expect(page.locator("[data-tile=rankings]")).to_have_text("12")
    expect(page.locator("[data-banner=reached]")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="like chance")).to_contain_text("Expert 2")
    expect(page.locator("[data-place=warnings]")).to_contain_text("1 expert")
    table = page.get_by_role("table", name=re.compile("The list of"))
    expect(table.get_by_role("row")).to_have_count(len(DOCUMENTS) + 1)
    expect(table.get_by_role("row").nth(1)).to_contain_text("tune a")
    finer = table.locator(".group-number").count()
    page.get_by_label("Construction").select_option("All-2")
    expect(page.get_by_text("differs from all of the current group")).to_be_visible()
    assert page.get_by_role("link", name="lists.json").get_attribute("href") in lists_of("All-2", empty_server.url)
    page.get_by_role("button", name="two").click()
    expect(page.get_by_role("button", name="two")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".list-place h3")).to_contain_text("two")
    assert table.locator(".group-number").count() <= finer
    table.get_by_role("button", name="tune b").focus()
    expect(page.locator(".list-place .told")).to_contain_text("tune b")
    assert page.evaluate("window.notLoadedAgain")
    every_page_is_accessible(browser, empty_server.url, page)


def lists_of(construction: str, url: str) -> tuple[str, str]:
    """Where lists made in some way are, as a page or a browser writes it."""
    address = f"/api/campaigns/tunes/export/lists?format=json&construction={construction}"
    return address, f"{url}{address}"


def every_page_is_accessible(browser: Browser, url: str, page: Page) -> None:
    """On the smallest phone in the light, or at a desk in the dark; the dashboard in both."""
    state: Any = page.context.storage_state()
    for scheme, viewport, pages in (
        ("light", {"width": 320, "height": 568}, ("", "/people", "/answers")),
        ("dark", {"width": 1600, "height": 900}, ("", "/set-up", "/settings")),
    ):
        context = browser.new_context(
            viewport=viewport,  # type: ignore[arg-type]
            color_scheme=scheme,  # type: ignore[arg-type]
            reduced_motion="reduce",
            storage_state=state,
        )
        seen = context.new_page()
        for address in (f"/campaigns/tunes{part}" for part in pages):
            seen.goto(f"{url}{address}")
            if address == "/campaigns/tunes":
                expect(seen.locator(".partial-list")).to_be_visible()
            assert_accessible(seen)
            assert_fits(seen)
        context.close()
