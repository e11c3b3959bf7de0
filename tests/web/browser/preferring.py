"""What tests do in the place of somebody who compares lists, and the campaigns in which they do.

Documents are tones. Those called ``fit…`` belong into the better list: whoever prefers the list that begins with one
answers every trap right.
"""

from __future__ import annotations

import json
import math
import sqlite3
import struct
import time
import wave
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page
from tests.web.browser.assessing import READY, until
from tests.web.making import random_runs
from tests.web.near import NearServer

from adjudge.preferences.questions import Question, Questions
from adjudge.web.kinds.documents import take_documents
from adjudge.web.kinds.judging.rehearse import stand_in
from adjudge.web.kinds.judging.settings import JudgingSettings
from adjudge.web.kinds.lifecycle import create_campaign, set_state
from adjudge.web.kinds.preference.settings import PreferenceSettings
from adjudge.web.kinds.preference.store import put_questions
from adjudge.web.settings import Settings
from adjudge.web.store.campaigns import Campaign
from adjudge.web.store.database import Database, open_database
from adjudge.web.store.items import NewItem, items_by_identifier, put_items
from adjudge.web.store.participants import make_invitation

FASTER = """
const play = HTMLMediaElement.prototype.play;
HTMLMediaElement.prototype.play = function () {
  this.playbackRate = 16;
  return play.call(this);
};
"""
QUERIES = ("q1", "q2")
FIT = tuple(f"fit{number}" for number in range(1, 6))
UNFIT = tuple(f"unfit{number}" for number in range(1, 6))
CODES = {"done": "WELLDONE1", "screened_out": "NOTTHIS2", "failed": "ENDSHERE3"}
CONSENT = "We store your answers and how long you listened."


def tone(path: Path, *, pitch: float, seconds: float = 1.2, rate: int = 8000) -> Path:
    """A WAV file of one tone."""
    samples = [int(9000 * math.sin(2 * math.pi * pitch * at / rate)) for at in range(int(seconds * rate))]
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(struct.pack(f"<{len(samples)}h", *samples))
    return path


def asked(*, questions: int, traps: int, k: int) -> Questions:
    """Questions and traps about lists of ``k`` and ``k + 1`` documents, at most five; a and b fit in turns."""

    def one(place: int, *, trap: bool) -> Question:
        fit, unfit = FIT[: min(k + 1, 5)], UNFIT[:k]
        a, b, right = (fit, unfit, "a") if place % 2 else (unfit, fit, "b")
        expected = frozenset({right}) if trap else frozenset()
        return Question(f"{'trap' if trap else 'question'}-{place}", QUERIES[place % 2], a, b, expected)

    return Questions(
        (*(one(n, trap=False) for n in range(questions)), *(one(n, trap=True) for n in range(traps))),
    )


@dataclass(frozen=True)
class Studies:
    """A server with campaigns; ``links`` are their invitations by name."""

    process: NearServer
    links: dict[str, str]

    @property
    def url(self) -> str:
        """Where the server is."""
        return self.process.url

    def person(self, person: str) -> list[dict[str, Any]]:
        """A recruited person as they are stored; nobody where they have not joined."""
        return self.rows("SELECT * FROM participant WHERE json_extract(recruited, '$.PROLIFIC_PID') = ?", person)

    def recruited(self, person: str, *, name: str = "study") -> str:
        """The link by which a recruiter sends a person."""
        return f"{self.url}/i/{self.links[name]}?PROLIFIC_PID={person}&STUDY_ID=study1&SESSION_ID=one&utm=ignored"

    def open_link(self, name: str) -> str:
        """The link of a campaign without a recruiter."""
        return f"{self.url}/i/{self.links[name]}"

    def rows(self, sql: str, *values: Any) -> list[dict[str, Any]]:
        """What the server has stored."""
        connection = sqlite3.connect(f"file:{self.process.data / 'adjudge.sqlite3'}?mode=ro", uri=True)
        connection.row_factory = sqlite3.Row
        try:
            return [dict(row) for row in connection.execute(sql, values)]
        finally:
            connection.close()

    def answers(self, person: str) -> list[dict[str, Any]]:
        """What a recruited person answered, in order."""
        return self.rows(
            "SELECT answer.*, pair.role FROM answer JOIN participant ON participant.id = answer.participant_id"
            " JOIN pair ON pair.id = answer.pair_id WHERE json_extract(recruited, '$.PROLIFIC_PID') = ?"
            " ORDER BY answer.id",
            person,
        )


def make_studies(folder: Path) -> tuple[Settings, dict[str, str]]:
    """A data folder with campaigns: of recruited people, of anybody with long lists, and one that asks for grades."""
    settings = Settings(data=folder / "data")
    database = open_database(settings)
    common = {
        "title": "Which list?",
        "judged_by": 50,
        "listen_seconds": 0.4,
        "attention_bar": 0,
        "languages": ("en", "es", "de", "fr"),
    }
    paid = {"recruiter": {"kind": "prolific", "codes": CODES}, "consent": {"en": CONSENT}}
    plain = {**common, "quiz": 0, "per_participant": 2, "trap_share": 0}
    study = {**common, **paid, "quiz": 2, "per_participant": 2, "trap_share": 0}
    mixed = {**common, **paid, "quiz": 0, "per_participant": 12, "trap_share": 0.5, "least_traps": 1, "trust_bar": 1}
    long = _draft(database, "long", plain, asked(questions=3, traps=0, k=5))
    for role, names in (("document", (*FIT, *UNFIT)), ("query", QUERIES)):
        files = {f"{name}.wav": tone(folder / f"{name}.wav", pitch=200 + 40 * n) for n, name in enumerate(names)}
        assert not take_documents(database, settings, long, files=files, role=role, who="test", workers=1).problems
    texts = _draft(database, "texts", plain, asked(questions=3, traps=0, k=2))
    for role, names in (("document", (*FIT, *UNFIT)), ("query", QUERIES)):
        table = folder / f"{role}.csv"
        table.write_text(f"{role},text\n" + "".join(f"{name},some words about {name}\n" for name in names))
        assert not take_documents(database, settings, texts, table=table, role=role, who="test").problems
    links_only = _draft(database, "links", plain, asked(questions=3, traps=0, k=1))
    for role, names in (("document", (*FIT[:2], *UNFIT[:1])), ("query", QUERIES)):
        table = folder / f"{role}-links.csv"
        table.write_text(f"{role},url\n" + "".join(f"{name},http://127.0.0.1/elsewhere/{name}\n" for name in names))
        assert not take_documents(database, settings, links_only, table=table, role=role, who="test").problems
    drafts = [
        long,
        texts,
        links_only,
        _draft(database, "study", study, asked(questions=3, traps=4, k=2), like=long),
        _draft(database, "trapped", mixed, asked(questions=12, traps=6, k=1), like=long),
    ]
    links = {found.name: _open(database, settings, found) for found in drafts}
    runs = random_runs(n_queries=2, n_systems=2, depth=2)
    judging = JudgingSettings.parse({"title": "How similar?", "measure": "CG@2"})
    links["judging"] = stand_in(database, settings, name="judging", collection=runs, campaign=judging).invitation
    database.close()
    return settings, links


def _draft(
    database: Database, name: str, decided: dict[str, Any], questions: Questions, *, like: Campaign | None = None
) -> Campaign:
    """A campaign that is not open yet, with the sound of another one."""
    now = time.time()
    with database.write() as connection:
        settings = PreferenceSettings.parse({"seed": 0, **decided})
        found = create_campaign(connection, name=name, settings=settings, organiser_id=None, now=now)
        put_questions(connection, found, questions, who="test", now=now)
        if like is not None:
            needed = {"query": set(QUERIES)} | {"document": {d for one in questions.questions for d in one.a + one.b}}
            rows = items_by_identifier(connection, like.id)
            fields = (*NewItem.__dataclass_fields__,)
            same = [
                NewItem(**{field: row[field] for field in fields})
                for (role, name), row in rows.items()
                if name in needed[role]
            ]
            put_items(connection, found, same)
    return found


def _open(database: Database, settings: Settings, found: Campaign) -> str:
    """Open a campaign; the token of its invitation."""
    now = time.time()
    with database.write() as connection:
        opened = set_state(connection, found, "open", who="test", now=now)
        return make_invitation(connection, opened, label="all", secret=settings.secret, now=now).token


# ---------- at the page ----------


def begin(page: Page, link: str) -> None:
    """Agree, where that is asked, and come to the first question."""
    page.goto(link)
    agree = page.get_by_role("checkbox", name="I have read this and agree")
    if agree.count():
        agree.check()
    page.get_by_role("button", name="Start", exact=True).click()
    page.wait_for_url("**/prefer")
    page.wait_for_selector(READY)
    start_sound(page)


def start_sound(page: Page) -> None:
    """Give the browser the gesture that it may want before it plays."""
    until(page, "document.querySelector('#start').open || document.querySelector('.track.is-playing, .track.is-done')")
    if page.locator("#start").is_visible():
        page.click("#start-button")


def hear(page: Page, *, seconds: float = 300) -> None:
    """Listen until nothing is missing; a question begins to play by itself, what stopped is played on."""
    end = time.monotonic() + seconds
    while page.evaluate("document.querySelectorAll('.track:not(.is-done)').length"):
        assert time.monotonic() < end, "not everything was heard"
        if not page.evaluate("!!document.querySelector('.track.is-playing')"):
            page.keyboard.press("p")
        page.wait_for_timeout(40)


def shown(page: Page) -> str:
    """What tells the question on the page: the addresses of its clips."""
    return str(page.evaluate("[...document.querySelectorAll('.track')].map((one) => one.dataset.address).join()"))


def fitting(page: Page, studies: Studies) -> str:
    """Which list on the page is the better one: "first" or "second"."""
    address = page.locator("#list-first .track").first.get_attribute("data-address")
    assert address is not None
    (row,) = studies.rows("SELECT identifier FROM item WHERE address = ?", address.rpartition("/")[2])
    return "first" if row["identifier"] in FIT else "second"


ARROWS = {"first": "ArrowLeft", "second": "ArrowRight", "good": "ArrowUp", "bad": "ArrowDown"}
OTHER = {"first": "second", "second": "first"}


def answer(page: Page, studies: Studies, *, right: bool = True) -> None:
    """Hear everything, choose the better list, or the worse, and send."""
    hear(page)
    better = fitting(page, studies)
    page.keyboard.press(ARROWS[better if right else OTHER[better]])
    send(page)


def send(page: Page) -> None:
    """Send by Enter and wait for what comes after it: another question, a rest, or the end."""
    before = page.locator("#question").get_attribute("data-number")
    page.keyboard.press("Enter")
    until(
        page,
        f"document.querySelector('#question').dataset.number !== {json.dumps(before)}"
        " || !document.querySelector('#ended').hidden || !document.querySelector('#resting').hidden",
    )


def code(page: Page) -> Locator:
    """Where the completion code is."""
    return page.get_by_label("Your completion code")
