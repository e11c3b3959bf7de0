"""What tests do in the place of an expert who puts candidates in order, and the campaigns in which they do."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page
from tests.web.browser.assessing import READY, until
from tests.web.browser.preferring import Studies, tone

from adjudge.web.kinds.documents import take_documents
from adjudge.web.kinds.lifecycle import create_campaign, set_state
from adjudge.web.kinds.ranking.settings import RankingSettings
from adjudge.web.kinds.ranking.store import put_candidates
from adjudge.web.settings import Settings
from adjudge.web.store.campaigns import find_campaign
from adjudge.web.store.database import Database, open_database
from adjudge.web.store.participants import make_invitation

LETTERS = "abcdef"
HEAD = "@clef:G-2\n@keysig:xFC\n@timesig:3/4\n@data:"
INCIPITS = {
    "song": f"{HEAD}''4D'8GABC/''4D'GG//",
    "v1": f"{HEAD}''4D'8GFED/'2G4D//",
    "v2": f"{HEAD}''8DC'BAGF/'4G2D//",
    "v3": f"{HEAD}'4G''DC/'4BAG//",
}


def make_rankings(folder: Path) -> tuple[Settings, dict[str, str]]:
    """A data folder with campaigns: of words with ties, of tones that must all be heard and placed, and of notation."""
    settings = Settings(data=folder / "data")
    database = open_database(settings)
    words = {query: [f"{query}-{letter}" for letter in LETTERS] for query in ("q1", "q2", "q3")}
    tones = {"t1": ["ta", "tb", "tc"]}
    notation = {"song": ["v1", "v2", "v3"]}
    links = {
        "words": _open(database, settings, folder, "words", words, texts=True, least_ranked=2),
        "tones": _open(database, settings, folder, "tones", tones, ties=False, rank_all=True, listen_seconds=0.3),
        "notation": _open(database, settings, folder, "notation", notation, pieces=INCIPITS),
    }
    database.close()
    return settings, links


def _open(
    database: Database,
    settings: Settings,
    folder: Path,
    name: str,
    candidates: Mapping[str, Sequence[str]],
    *,
    texts: bool = False,
    pieces: Mapping[str, str] | None = None,
    **decided: Any,
) -> str:
    """A campaign with something to read, to hear, or to play from; the token of its invitation."""
    now = time.time()
    common = {"title": "Which are alike?", "seed": 0, "judged_by": 50, "languages": ("en", "es", "de", "fr")}
    with database.write() as connection:
        made = RankingSettings.parse({**common, **decided})
        found = create_campaign(connection, name=name, settings=made, organiser_id=None, now=now)
        put_candidates(connection, found, candidates, who="test", now=now)
    documents = [name for listed in candidates.values() for name in listed]
    for role, names in (("query", list(candidates)), ("document", documents)):
        given = _documents(folder, f"{name}-{role}", role, names, texts=texts, pieces=pieces)
        taken = take_documents(database, settings, found, role=role, who="test", workers=1, **given)
        assert not taken.problems, taken.problems
    with database.write() as connection:
        opened = set_state(connection, found, "open", who="test", now=now)
        return make_invitation(connection, opened, label="all", secret=settings.secret, now=now).token


def _documents(
    folder: Path, stem: str, role: str, names: Iterable[str], *, texts: bool, pieces: Mapping[str, str] | None
) -> dict[str, Any]:
    """What :func:`take_documents` takes: a table of texts, files of notation, or files of sound."""
    if texts:
        table = folder / f"{stem}.csv"
        table.write_text(f"{role},text\n" + "".join(f"{name},some words about {name}\n" for name in names))
        return {"table": table}
    if pieces is not None:
        many = folder / f"{stem}.pae"
        many.write_text("".join(f"@start:{name}\n{pieces[name]}\n@end:{name}\n" for name in names))
        return {"files": {many.name: many}}
    return {
        "files": {
            f"{name}.wav": tone(folder / f"{name}.wav", pitch=220 + 60 * n, seconds=0.8) for n, name in enumerate(names)
        }
    }


# ---------- at the page ----------


@dataclass(frozen=True)
class Order:
    """What stands on the page: places of names, and those without one."""

    places: list[list[str]]
    tray: list[str]


def begin(page: Page, studies: Studies, name: str = "words") -> None:
    """Join, and come to the first query."""
    page.goto(studies.open_link(name))
    page.locator("form .button.primary").click()
    page.wait_for_url("**/rank")
    ready(page)


def ready(page: Page) -> None:
    """Wait for a query with everything that belongs to it."""
    page.wait_for_selector(READY)
    until(page, "document.querySelector('#question').dataset.here === 'ready'")


def order(page: Page) -> Order:
    """The order on the page, by the numbers that cards have whatever their places: ``1``, ``2``, …"""
    found: dict[str, Any] = page.evaluate(
        "(() => { const name = (card) => card.querySelector('.incipit-tag').textContent.slice(2);"
        " const cards = (root) => [...root.querySelectorAll('.incipit')].map(name);"
        " return {places: [...document.querySelectorAll('#places .place')].map(cards),"
        " tray: cards(document.querySelector('#tray'))}; })()"
    )
    return Order(**found)


def card(page: Page, n: int) -> Locator:
    """The card of a number."""
    return page.locator(".incipit[data-id]").filter(has=page.get_by_text(f"№ {n}", exact=True))


def focus(page: Page, n: int) -> None:
    """Give a card the focus, as the keyboard would."""
    card(page, n).locator(".incipit-in").focus()


def type_places(page: Page, *cards: int) -> None:
    """Give these cards the places 1, 2, … by typing."""
    for place, n in enumerate(cards, start=1):
        focus(page, n)
        page.keyboard.type(str(place))
        page.keyboard.press("Enter")


def saved(page: Page) -> None:
    """Wait until the server has the order."""
    until(page, "document.querySelector('#saved').dataset.state === 'saved'")


def stored(studies: Studies, page: Page) -> list[list[int]]:
    """The order of the query on the page as the server has it, by the numbers that cards have."""
    cards: list[tuple[int, int]] = page.evaluate(
        "[...document.querySelectorAll('.incipit[data-id]')]"
        ".map((one) => [+one.dataset.id, +one.querySelector('.incipit-tag').textContent.slice(2)])"
    )
    named = dict(cards)
    for row in studies.rows("SELECT groups FROM arrangement ORDER BY saved_at DESC"):
        groups: list[list[int]] = json.loads(row["groups"])
        if all(one in named for group in groups for one in group):
            return [[named[one] for one in group] for group in groups]
    return []


def turn(studies: Studies, name: str, state: str) -> None:
    """Open a campaign or pause it, as an organiser does."""
    database = open_database(Settings(data=studies.process.data))
    with database.write() as connection:
        set_state(connection, find_campaign(connection, name), state, who="ann", now=time.time())
    database.close()


def middle(page: Page, n: int) -> tuple[float, float]:
    """The middle of a card, where it is not a button."""
    box = card(page, n).locator(".incipit-sight").bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
