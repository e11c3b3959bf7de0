"""A real browser: Debian's chromium, driven by Playwright.

Playwright's synchronous interface keeps an event loop in the thread of the tests while it is open, so it is opened for
one file of tests at a time.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.conftest import missing
from tests.web.browser.assessing import PATIENCE_MS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def chromium() -> str | None:
    """Where the browser is."""
    return os.environ.get("ADJUDGE_CHROMIUM") or next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None
    )


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for a file of tests."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE_MS)
    path = chromium()
    if path is None:
        missing("chromium is not installed (Debian: apt-get install chromium; or set ADJUDGE_CHROMIUM)")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser's profile of this test alone."""
    opened = browser.new_context(viewport={"width": 1280, "height": 860})
    opened.set_default_timeout(PATIENCE_MS)
    yield opened
    opened.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page; the test fails where its scripts threw anything."""
    opened = context.new_page()
    thrown: list[str] = []
    opened.on("pageerror", lambda error: thrown.append(str(error)))
    yield opened
    assert not thrown, f"scripts of the page threw {thrown}"
