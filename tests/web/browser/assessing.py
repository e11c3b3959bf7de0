"""What tests do in the place of an assessor at the judging page."""

from __future__ import annotations

import json
import time

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

FASTER = """
const play = HTMLMediaElement.prototype.play;
HTMLMediaElement.prototype.play = function () {
  this.playbackRate = 4;
  return play.call(this);
};
"""
PATIENCE_MS = 300_000  # a busy machine takes long
READY = "#question:not([hidden])"
CLIPS = "[...document.querySelectorAll('.clip audio')].map((one) => one.dataset.address).join()"


def until(page: Page, expression: str, *, seconds: float = 3000) -> None:
    """Wait until an expression is true; Playwright's own way to wait is eval, which the content policy forbids."""
    end = time.monotonic() + seconds
    while not page.evaluate(expression):
        assert time.monotonic() < end, f"in vain: {expression}"
        page.wait_for_timeout(30)


def drawn(page: Page) -> None:
    """Wait until the page has drawn what happened."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def is_accessible(page: Page) -> None:
    """Nothing that axe finds wrong, once everything has come to rest."""
    until(page, "document.getAnimations().every((one) => !(one instanceof CSSTransition))")
    found = Axe().run(page).response["violations"]
    assert [(one["id"], [node["html"][:100] for node in one["nodes"]]) for one in found] == []


def come_in(page: Page, link: str) -> None:
    """Join by an invitation and wait for the first question; start the sound where the browser wants a gesture."""
    page.goto(link)
    page.get_by_role("button", name="Start", exact=True).click()
    page.wait_for_url("**/judge")
    page.wait_for_selector(READY)
    until(page, "document.querySelector('#start').open || document.querySelector('.clip.is-playing')")
    if page.locator("#start").is_visible():
        page.click("#start-button")


def hear(page: Page, *, by_touch: bool = False, seconds: float = 300) -> None:
    """Listen to both clips until nothing of them is missing; one that ends is played again."""
    end = time.monotonic() + seconds
    for side, key in (("query", "q"), ("candidate", "c")):
        while page.evaluate(f"document.querySelector('#missing').textContent.includes('more to the {side}')"):
            assert time.monotonic() < end, f"the {side} was not heard in {seconds} s"
            if not page.evaluate(f"!!document.querySelector('[data-side={side}].is-playing')"):
                page.tap(f"[data-side={side}] [data-play]") if by_touch else page.keyboard.press(key)
            page.wait_for_timeout(50)


def clips(page: Page) -> str:
    """What tells the question on the page: the addresses of its clips."""
    return str(page.evaluate(CLIPS))


def wait_for_another(page: Page, before: str) -> None:
    """Wait until another question is shown."""
    until(page, f"{CLIPS} !== {json.dumps(before)}")


def grade(page: Page, level: str, value: str) -> None:
    """Give both grades with the keyboard."""
    page.keyboard.press(level)
    page.keyboard.press("n")
    page.keyboard.type(value)


def send(page: Page) -> None:
    """Send by Enter and wait for the next question."""
    before = page.locator("#question").get_attribute("data-number")
    page.keyboard.press("Enter")
    until(page, f"document.querySelector('#question').dataset.number !== {json.dumps(before)}")


def all_sent(page: Page) -> None:
    until(page, "!Object.keys(localStorage).some((name) => name.startsWith('adjudge.outbox'))")
