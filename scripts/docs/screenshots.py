"""Pictures of the assessors' pages for docs/howto/judge.md, of the embedded demo, in a real browser.

``python -m scripts.docs.screenshots`` starts ``adjudge serve --demo`` in a temporary folder (which takes a minute or
two, as the demo's music is made), opens its pages in Debian's chromium and writes ``docs/howto/pictures/*.png``.
``--data DIR`` keeps the demo, so that a second time is quick. Pictures are committed: not every machine that builds the
documentation has a browser.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.web.serving import ServerProcess

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

PICTURES = Path(__file__).parents[2] / "docs" / "howto" / "pictures"
DESKTOP, PHONE = (1000, 640), (390, 780)
MOST_BYTES = 60_000
READY = "#question:not([hidden])"
_PATIENCE_S = 600.0


def main(words: list[str] | None = None) -> None:
    """Serve the demo and take all pictures."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, help="folder that keeps the demo")
    data = parser.parse_args(words).data
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    if chromium is None:
        sys.exit("chromium is not installed (Debian: apt-get install chromium)")
    with tempfile.TemporaryDirectory() as folder:
        server = ServerProcess(data or Path(folder) / "data", arguments=["--demo"])
        server.start(wait=_PATIENCE_S)
        with server, sync_playwright() as playwright:
            links = _links(server)
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
            _take(browser, links["judge"], "judge", DESKTOP, judge)
            _take(browser, links["compare"], "compare", PHONE, compare)
            _take(browser, links["rank"], "rank", DESKTOP, rank)
            browser.close()


def _links(server: ServerProcess) -> dict[str, str]:
    """The links that the demo prints once people can come, by what they are for."""
    until = time.monotonic() + _PATIENCE_S
    while time.monotonic() < until:
        links = dict(re.findall(r"^  (\w+): +(\S+)", server.said(), flags=re.MULTILINE))
        if "organise" in links:
            return links
        time.sleep(0.5)
    sys.exit(f"the demo printed no links:\n{server.said()}")


def _take(browser: Browser, link: str, name: str, size: tuple[int, int], act: Callable[[Page], None]) -> None:
    """Join as somebody new, do something, and keep what is seen then."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, reduced_motion="reduce")
    page = context.new_page()
    _begin(page, link)
    act(page)
    _write(page.screenshot(), PICTURES / f"{name}.png")
    context.close()


def _begin(page: Page, link: str) -> None:
    """Join by a link, and start the sound where the browser wants a click for it; wait while tunes are being made."""
    page.goto(link)
    page.locator("form .button.primary").click()
    page.wait_for_selector(READY, timeout=1000 * _PATIENCE_S)
    page.wait_for_timeout(1500)
    if page.locator("#start-button").is_visible():
        page.click("#start-button")


def judge(page: Page) -> None:
    """Hear enough of both clips and give both grades."""
    for key, side in (("q", "query"), ("c", "candidate")):
        page.wait_for_timeout(4000)
        while f"more to the {side}" in page.inner_text("#missing"):
            page.keyboard.press(key)
            page.wait_for_timeout(4000)
    page.keyboard.press("2")
    page.keyboard.press("n")
    page.keyboard.type("62")
    page.keyboard.press("Escape")


def compare(page: Page) -> None:
    """Hear the query and most of the results, one after the other."""
    page.wait_for_timeout(4500)
    for key in ("1", "2", "3", "6"):
        page.keyboard.press(key)
        page.wait_for_timeout(4500)


def rank(page: Page) -> None:
    """Give four candidates places, two of them the same."""
    for place, card in enumerate((3, 5, 2), start=1):
        _card(page, card).focus()
        page.keyboard.type(str(place))
        page.keyboard.press("Enter")
    _card(page, 2).focus()
    page.keyboard.press("t")
    page.wait_for_timeout(1500)
    page.evaluate("window.scrollTo(0, 0)")


def _card(page: Page, number: int) -> Locator:
    tag = page.get_by_text(f"№ {number}", exact=True)
    return page.locator(".incipit[data-id]").filter(has=tag).locator(".incipit-in")


def _write(shot: bytes, target: Path) -> None:
    """A picture with few colours, small enough to be committed."""
    from PIL import Image

    target.parent.mkdir(parents=True, exist_ok=True)
    Image.open(BytesIO(shot)).convert("RGB").quantize(48).save(target, optimize=True)
    if target.stat().st_size > MOST_BYTES:
        sys.exit(f"{target.name}: {target.stat().st_size} bytes, expected at most {MOST_BYTES}")
    print(f"wrote {target.relative_to(Path.cwd())}" if target.is_relative_to(Path.cwd()) else f"wrote {target}")


if __name__ == "__main__":
    main()
