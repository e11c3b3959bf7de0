"""Notation on the pages that ask: drawn, heard, and lit up note by note; every drawing with names of its own."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.web.browser.assessing import READY, hear, is_accessible, until
from tests.web.making import random_runs
from tests.web.near import NearServer

from adjudge.preferences.questions import Question, Questions
from adjudge.web.kinds.documents import take_documents
from adjudge.web.kinds.judging.settings import JudgingSettings
from adjudge.web.kinds.judging.store import put_runs
from adjudge.web.kinds.lifecycle import create_campaign, set_state
from adjudge.web.kinds.preference.settings import PreferenceSettings
from adjudge.web.kinds.preference.store import put_questions
from adjudge.web.settings import Settings
from adjudge.web.store.campaigns import Campaign
from adjudge.web.store.database import Database, open_database
from adjudge.web.store.participants import make_invitation

DOCUMENTS = tuple(f"q1-d{number}" for number in range(1, 5))
IDS = "[...document.querySelectorAll('[id]')].map((one) => one.id)"
UNIQUE = f"new Set({IDS}).size === {IDS}.length"


@pytest.fixture(scope="module")
def links(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Invitations to a campaign of judgments and one of preferences, both about the same incipits, on one server."""
    folder = tmp_path_factory.mktemp("notation")
    settings = Settings(data=folder / "data")
    database = open_database(settings)
    now = time.time()
    with database.write() as connection:
        judging = JudgingSettings.parse({"title": "How similar?", "measure": "CG@2", "listen_seconds": 0.3})
        first = create_campaign(connection, name="judging", settings=judging, organiser_id=None, now=now)
        put_runs(connection, first, random_runs(n_queries=1, n_systems=2, depth=2).runs, who="test", now=now)
        prefer = PreferenceSettings.parse({"title": "Which?", "quiz": 0, "trap_share": 0, "per_participant": 1})
        second = create_campaign(connection, name="prefer", settings=prefer, organiser_id=None, now=now)
        asked = Questions((Question("one", "q1", DOCUMENTS[:2], DOCUMENTS[2:], frozenset()),))
        put_questions(connection, second, asked, who="test", now=now)
    tokens = {found.name: _opened(database, settings, found, folder) for found in (first, second)}
    database.close()
    with NearServer(settings.data) as running:
        yield {name: f"{running.url}/i/{token}" for name, token in tokens.items()}


def _opened(database: Database, settings: Settings, found: Campaign, folder: Path) -> str:
    for role, names in (("document", DOCUMENTS), ("query", ("q1",))):
        rows = [f"{name},%G-2@c '2{letter}''2C1D" for name, letter in zip(names, "CDEF", strict=False)]
        table = folder / f"{role}.csv"
        table.write_text("\n".join([f"{role},pae", *rows]))
        assert not take_documents(database, settings, found, table=table, role=role, who="test", workers=1).problems
    now = time.time()
    with database.write() as connection:
        opened = set_state(connection, found, "open", who="test", now=now)
        return make_invitation(connection, opened, label="all", secret=settings.secret, now=now).token


def enter(page: Page, link: str) -> None:
    page.add_init_script("localStorage.setItem('adjudge.by-itself', 'no')")
    page.goto(link)
    page.get_by_role("button", name="Start", exact=True).click()
    page.wait_for_selector(READY)


def test_incipits_are_drawn_heard_and_followed_where_people_judge(page: Page, links: dict[str, str]) -> None:
    enter(page, links["judging"])
    for side in ("query", "candidate"):
        drawing = page.locator(f"[data-side={side}] svg.notation-picture")
        expect(drawing).to_be_visible()
        expect(drawing).to_have_attribute("role", "img")
        expect(page.locator(f"[data-side={side}] [data-play]")).to_be_visible()
    assert page.evaluate(UNIQUE)
    is_accessible(page)
    page.keyboard.press("q")
    until(page, "document.querySelectorAll('[data-side=query] .note.sounding').length === 1")
    first = page.evaluate("document.querySelector('.note.sounding').id")
    until(page, f"![null, {first!r}].includes(document.querySelector('.note.sounding')?.id ?? null)")
    assert page.locator("[data-side=candidate] .sounding").count() == 0
    hear(page)
    page.evaluate("document.querySelectorAll('audio').forEach((one) => one.pause())")


def test_incipits_of_two_lists_are_drawn_and_followed(page: Page, links: dict[str, str]) -> None:
    enter(page, links["prefer"])
    expect(page.locator("svg.notation-picture")).to_have_count(5)
    assert page.evaluate(UNIQUE)
    is_accessible(page)
    page.locator(".list .track-play").first.click()
    until(page, "document.querySelectorAll('.list .track.is-playing .note.sounding').length === 1")
    assert page.locator(".sounding").count() == 1
