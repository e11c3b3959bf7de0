"""Questions about pictures and texts, and when two grades are asked about; nothing here is heard."""

from __future__ import annotations

import re
import struct
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.web.browser.assessing import READY, all_sent, grade, is_accessible, send, until
from tests.web.making import random_runs
from tests.web.near import NearServer

from adjudge.web.kinds.documents import take_documents
from adjudge.web.kinds.judging.settings import JudgingSettings
from adjudge.web.kinds.judging.store import put_runs
from adjudge.web.kinds.lifecycle import create_campaign, set_state
from adjudge.web.settings import Settings
from adjudge.web.store.database import open_database
from adjudge.web.store.participants import make_invitation

QUERIES = ("q1", "q2")
NAMES = tuple(f"{query}-d{number}" for query in QUERIES for number in range(1, 5))
LONG = "A long text about songs, with one word after another. " * 60


def a_picture(path: Path, *, shade: int) -> Path:
    """A plain PNG of 60 x 40 pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 60, 40, 8, 2, 0, 0, 0)
    rows = (b"\0" + bytes([shade, 255 - shade, 120]) * 60) * 40
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    )
    return path


def pictures(folder: Path, names: tuple[str, ...]) -> tuple[dict[str, Path], None]:
    """A file for each name."""
    made = [a_picture(folder / f"{name}.png", shade=20 * place) for place, name in enumerate(names)]
    return {path.name: path for path in made}, None


def texts(folder: Path, names: tuple[str, ...]) -> tuple[dict[str, Path], Path]:
    """A table with a long text for each name."""
    table = folder / f"{names[0]}.csv"
    table.write_text("document,text\n" + "".join(f'{name},"{name}: {LONG}"\n' for name in names))
    return {}, table


Content = Callable[[Path, tuple[str, ...]], tuple[dict[str, Path], Path | None]]


@pytest.fixture
def invitation(tmp_path: Path, near_server: Callable[[Path], NearServer]) -> Callable[[Content], str]:
    """Open a campaign of what a function makes, and serve it: the address of its invitation."""

    def serve(content: Content) -> str:
        settings = Settings(data=tmp_path / "items")
        database = open_database(settings)
        now = time.time()
        with database.write() as connection:
            values = JudgingSettings.parse({"title": "What is alike?", "measure": "CG@2"})
            made = create_campaign(connection, name="items", settings=values, organiser_id=None, now=now)
            runs = random_runs(n_queries=len(QUERIES), n_systems=2, depth=2).runs
            put_runs(connection, made, runs, who="test", now=now)
        for role, names in (("document", NAMES), ("query", QUERIES)):
            files, table = content(tmp_path, names)
            taken = take_documents(database, settings, made, files=files, table=table, role=role, who="test")
            assert not taken.problems
        with database.write() as connection:
            made = set_state(connection, made, "open", who="test", now=now)
            token = make_invitation(connection, made, label="all", secret=settings.secret, now=now).token
        database.close()
        return f"{near_server(settings.data).url}/i/{token}"

    return serve


def enter(page: Page, link: str) -> None:
    page.goto(link)
    page.get_by_role("button", name="Start", exact=True).click()
    page.wait_for_selector(READY)


def test_pictures_are_seen_judged_and_seen_again(page: Page, invitation: Callable[[Content], str]) -> None:
    enter(page, invitation(pictures))
    for side in ("Query", "Candidate"):
        expect(page.get_by_role("img", name=f"Image: {side}")).to_be_visible()
    until(page, "[...document.querySelectorAll('.clip-shown img')].every((one) => one.naturalWidth === 60)")
    expect(page.locator("[data-player]:visible")).to_have_count(0)
    expect(page.locator("#switch")).to_be_hidden()
    is_accessible(page)
    grade(page, "2", "50")
    expect(page.locator("#missing")).to_have_text("Ready to send")
    send(page)
    all_sent(page)
    page.keyboard.press("u")
    row = page.get_by_role("dialog").get_by_role("listitem")
    expect(row.get_by_role("img")).to_have_count(2)
    is_accessible(page)
    row.get_by_role("button", name=re.compile("Change the answer of")).click()
    row.get_by_role("spinbutton").fill("")
    row.get_by_role("button", name="Save").click()
    expect(row.get_by_role("alert")).to_have_text("Place the slider: In detail")
    is_accessible(page)


def test_a_picture_that_does_not_come_is_told_and_can_be_fetched_again(
    page: Page, invitation: Callable[[Content], str]
) -> None:
    link = invitation(pictures)
    page.route("**/media/*", lambda route: route.fulfill(status=404))
    enter(page, link)
    broken = page.locator(".clip-broken:visible")
    expect(broken).to_have_count(2)
    expect(broken.first).to_contain_text("This picture cannot be shown.")
    is_accessible(page)
    page.keyboard.press("k")
    expect(page.get_by_role("radio", name="A clip is broken or silent")).to_be_checked()
    page.keyboard.press("Escape")
    page.unroute("**/media/*")
    for side in ("query", "candidate"):
        page.locator(f"[data-side={side}] [data-retry]").click()
    expect(broken).to_have_count(0)


def test_long_texts_can_be_scrolled_with_the_keyboard(page: Page, invitation: Callable[[Content], str]) -> None:
    enter(page, invitation(texts))
    text = page.get_by_role("group", name="Query")
    assert text.evaluate("(one) => one.scrollHeight > one.clientHeight")
    text.focus()
    expect(text).to_be_focused()
    is_accessible(page)


def test_on_a_small_phone_the_doubt_is_seen_above_the_bar(
    browser: Browser, invitation: Callable[[Content], str]
) -> None:
    phone = browser.new_context(viewport={"width": 320, "height": 568}, has_touch=True, is_mobile=True, locale="en-GB")
    page = phone.new_page()
    enter(page, invitation(texts))
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    grade(page, "1", "95")
    page.keyboard.press("Enter")
    expect(page.locator("#doubt")).to_be_visible()
    until(
        page,
        "document.querySelector('#doubt').getBoundingClientRect().bottom"
        " <= document.querySelector('.send-bar').getBoundingClientRect().top + 1",
    )
    is_accessible(page)
    phone.close()


BROAD: dict[str, Any] = {
    "name": "broad",
    "minimum": 0,
    "maximum": 2,
    "step": 1,
    "labels": ["no", "some", "very"],
    "by_buttons": True,
}
FINE: dict[str, Any] = {"name": "fine", "minimum": 0, "maximum": 100, "step": 1, "labels": None, "by_buttons": False}
STARS: dict[str, Any] = {"name": "stars", "minimum": 1, "maximum": 5, "step": 1, "labels": None, "by_buttons": True}
TENTHS: dict[str, Any] = {
    "name": "tenths",
    "minimum": 0,
    "maximum": 1,
    "step": 0.1,
    "labels": None,
    "by_buttons": False,
}

# Level i of n stands for i/n to (i+1)/n; a gap of more than a fifth between what two grades stand for is asked about.
# Broad 0 ends at 1/3; fine 53 begins at 53/101 = 0.525 (gap 0.191), fine 54 at 0.535 (gap 0.201); and so on.
DOUBTS = [
    (BROAD, 0, FINE, 53, False),
    (BROAD, 0, FINE, 54, True),
    (BROAD, 1, FINE, 12, True),
    (BROAD, 1, FINE, 13, False),
    (BROAD, 1, FINE, 87, False),
    (BROAD, 1, FINE, 88, True),
    (BROAD, 2, FINE, 46, True),
    (BROAD, 2, FINE, 47, False),
    (STARS, 1, TENTHS, 0.4, False),  # 0 to 1/5 and 4/11 to 5/11: 0.164
    (STARS, 1, TENTHS, 0.5, True),  # 5/11 - 1/5 = 0.255
    (STARS, 5, TENTHS, 1, False),
    (FINE, 100, TENTHS, 0, True),
]
DOUBT = """async ([scales, grades]) => {
  const { Fields } = await import("/static/judging/scales.js");
  const fields = new Fields(document.createElement("div"), scales, "test", () => {});
  fields.grades = grades;
  return fields.doubt?.coarse.scale.name ?? null;
}"""


def test_grades_are_asked_about_where_they_stand_for_parts_far_apart(
    page: Page, invitation: Callable[[Content], str]
) -> None:
    enter(page, invitation(texts))
    for one, value, other, another, doubted in DOUBTS:
        levels = {scale["name"]: (scale["maximum"] - scale["minimum"]) / scale["step"] for scale in (one, other)}
        coarser = min(levels, key=lambda name: levels[name])
        for scales in ([one, other], [other, one]):
            found = page.evaluate(DOUBT, [scales, {one["name"]: value, other["name"]: another}])
            assert found == (coarser if doubted else None), (one["name"], value, other["name"], another)
    assert page.evaluate(DOUBT, [[BROAD, FINE], {"broad": 0}]) is None
