"""The test of the design: a fourth kind of campaign is one folder, and works from its form to its exports."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.web.browser.test_organiser_pages import empty_server, log_in
from tests.web.near import NearServer

__all__ = ["empty_server"]  # the fixture
HOME = "tests.web.rating_kind.kind"
ITEMS = ("a song", "a noise", "a silence")


@pytest.fixture(autouse=True)
def rating_kind() -> Iterator[None]:
    """The kind, registered as long as this test runs."""
    from adjudge.web.kinds.base import KINDS
    from adjudge.web.store.campaigns import SETTINGS

    import_module(HOME)
    yield
    KINDS.remove("rating")
    SETTINGS.remove("rating")
    del sys.modules[HOME]


def create_campaign(page: Page, folder: Path) -> None:
    """Choose the kind, fill in its form, bring what is rated, open it."""
    page.get_by_role("link", name="Create the first campaign").click()
    page.get_by_role("link", name="Rate items").click()
    page.get_by_label("Title", exact=True).fill("Sounds")
    page.get_by_label("Items", exact=True).fill("\n".join(ITEMS))
    page.get_by_label("Best rating").fill("4")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_text("It is a draft")).to_be_visible()
    texts = folder / "texts.csv"
    texts.write_text("document,text\n" + "".join(f"{name},Listen to {name}\n" for name in ITEMS))
    page.get_by_label("Table of what is known").set_input_files(texts)
    page.get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_text("All 3 documents and queries")).to_be_visible()
    page.get_by_role("button", name="Open the campaign").click()
    expect(page.locator("[data-state-badge]")).to_have_text("open")


def test_a_kind_in_a_folder_of_its_own_works_from_its_form_to_its_exports(
    page: Page, browser: Browser, empty_server: NearServer, tmp_path: Path
) -> None:
    from adjudge.web.kinds.verify import verify
    from adjudge.web.settings import Settings
    from adjudge.web.store.database import open_database

    log_in(page, empty_server.url)
    create_campaign(page, tmp_path)
    page.get_by_role("link", name="People", exact=True).click()
    page.get_by_role("button", name="Make the link").click()
    link = page.locator("[data-made] input").input_value()

    rater = browser.new_context().new_page()
    rater.goto(link)
    expect(rater.get_by_text("You will see one item at a time and rate it.")).to_be_visible()
    rater.get_by_label("Name").fill("Ann")
    rater.locator("main button[type=submit]").click()
    said = {}
    for rating in (4, 1, 2):
        item = rater.locator("#item")
        expect(item).to_contain_text("Listen to")
        text = str(item.text_content())
        said[text.removeprefix("Listen to ")] = rating
        rater.get_by_role("button", name=str(rating), exact=True).click()
        expect(item).not_to_have_text(text)
    expect(rater.get_by_text("Thank you: 3 rated.")).to_be_visible()
    assert set(said) == set(ITEMS)

    for _ in range(50):  # the snapshot is made in a moment
        page.goto(f"{empty_server.url}/campaigns/sounds")
        if page.get_by_text("3 of 3 ratings").is_visible():
            break
    expect(page.get_by_role("row").filter(has_text="a song")).to_contain_text(f"{said['a song']}.0")
    page.get_by_role("link", name="Answers", exact=True).click()
    expect(page.get_by_role("row").filter(has_text="a noise")).to_contain_text(str(said["a noise"]))
    page.get_by_role("link", name="People", exact=True).click()
    expect(page.get_by_role("row").filter(has_text="Ann")).to_contain_text("3")
    page.goto(empty_server.url)
    expect(page.get_by_text("3 of 3 ratings")).to_be_visible()

    address = f"{empty_server.url}/api/campaigns/sounds/export"
    table = page.request.get(f"{address}/ratings?format=csv").text().splitlines()
    assert table == ["item,ratings,mean", *(f"{name},1,{said[name]}.0" for name in ITEMS)]
    assert len(page.request.get(f"{address}/log?format=json").json()) == 3
    settings = Settings(empty_server.data)
    database = open_database(settings)
    assert verify(database, settings) == []
    database.close()
