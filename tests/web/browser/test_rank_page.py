"""An expert who puts candidates in order, in a real browser: by keys, by mouse, by touch, and with a bad connection."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from tests.web.browser.assessing import PATIENCE_MS, all_sent, drawn, is_accessible, until
from tests.web.browser.preferring import FASTER, Studies
from tests.web.browser.ranking import (
    begin,
    card,
    focus,
    make_rankings,
    middle,
    order,
    ready,
    saved,
    stored,
    turn,
    type_places,
)
from tests.web.near import NearServer


@pytest.fixture(scope="module")
def studies(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studies]:
    """One server for the file; everybody who comes is somebody else."""
    settings, links = make_rankings(tmp_path_factory.mktemp("rankings"))
    with NearServer(settings.data) as process:
        yield Studies(process, links)


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    opened = browser.new_context(viewport={"width": 1280, "height": 860}, locale="en-GB")
    opened.set_default_timeout(PATIENCE_MS)
    opened.add_init_script(FASTER)
    yield opened
    opened.close()


def places(page: Page) -> list[list[int]]:
    """The places on the page."""
    return [[int(name) for name in place] for place in order(page).places]


def in_focus(page: Page) -> str:
    """What has the focus, as people are told."""
    return str(page.evaluate("document.activeElement.getAttribute('aria-label') ?? document.activeElement.id"))


def seen(page: Page, n: int) -> bool:
    """Whether a card is in sight in its column, once nothing moves any more."""
    until(page, "!document.getAnimations().length")
    return bool(
        card(page, n).evaluate(
            "(one) => { const [own, pane] = [one, one.closest('.pane-in')].map((each) => each.getBoundingClientRect());"
            " return own.top >= pane.top && own.bottom <= pane.bottom; }"
        )
    )


def test_everything_is_done_by_keys(page: Page, studies: Studies) -> None:
    page.set_viewport_size({"width": 1280, "height": 620})
    begin(page, studies)
    live = page.locator("#live")
    expect(page.locator("#heading")).to_be_focused()
    page.keyboard.press("ArrowDown")
    assert in_focus(page) == "Candidate 1, not ranked"
    for _ in range(3):  # its two buttons; then on, and not through every card
        page.keyboard.press("Tab")
    expect(page.locator("#comment-box summary")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")  # to the end of the order; the focus goes on to the next without a place
    expect(live).to_contain_text("Candidate 1 now in place 1 of 1.")
    assert in_focus(page) == "Candidate 2, not ranked"
    page.keyboard.type("1")
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    page.keyboard.type("2")  # a short pause instead of Enter
    assert page.locator("#typing").inner_text() == "To place 2 …"
    until(page, "document.querySelector('#board').dataset.ranked === '3'")
    assert (places(page), order(page).tray) == ([[2], [4], [1]], ["3", "5", "6"])
    tie_and_undo(page)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="How it works")).to_contain_text("a tied one gets a place of its own first")
    is_accessible(page)
    page.keyboard.press("Escape")
    saved(page)
    assert stored(studies, page) == places(page) == [[2], [4, 1]]
    page.locator("#comment-box summary").click()
    page.locator("#comment").press_sequentially("1 tut quer")
    page.keyboard.press("Control+z")  # the browser's own, in a field
    assert places(page) == [[2], [4, 1]]


def tie_and_undo(page: Page) -> None:
    """Everything that keys do in an order of 2, 4 and 1."""
    live = page.locator("#live")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("End")
    assert in_focus(page) == "Candidate 1, place 3"
    page.keyboard.press("t")
    expect(live).to_contain_text("Candidate 1 now in place 2 of 2, tied with 1 other.")
    assert (places(page), in_focus(page)) == ([[2], [4, 1]], "Candidate 1, place 2, tied with 1 other")
    page.keyboard.press("Alt+ArrowUp")  # out of the group first
    assert places(page) == [[2], [1], [4]]
    page.keyboard.press("3")
    page.keyboard.press("Alt+ArrowUp")  # any other key gives a number up
    expect(page.locator("#typing")).to_be_hidden()
    assert (places(page), in_focus(page)) == ([[1], [2], [4]], "Candidate 1, place 1")
    page.keyboard.press("Alt+ArrowUp")
    expect(live).to_contain_text("Candidate 1 stays in place 1 of 3.")
    page.keyboard.press("Alt+ArrowDown")
    page.keyboard.type("3")
    page.keyboard.press("t")  # beside those in that place
    assert places(page) == [[2], [4, 1]]
    page.keyboard.press("t")
    assert places(page) == [[2], [4], [1]]
    page.keyboard.press("u")
    assert (places(page), in_focus(page)) == ([[2], [4]], "Candidate 4, place 2")
    page.keyboard.press("Control+z")
    assert places(page) == [[2], [4], [1]]
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+Shift+Z")
    expect(live).to_contain_text("Redone.")
    assert (places(page), in_focus(page)) == ([[2], [4, 1]], "Candidate 4, place 2, tied with 1 other")


def test_a_card_that_moves_stays_in_sight_and_its_sheet_has_all_moves(page: Page, studies: Studies) -> None:
    page.set_viewport_size({"width": 1280, "height": 620})
    begin(page, studies)
    type_places(page, 1, 2, 3, 4, 5, 6)
    page.keyboard.type("1")
    page.keyboard.press("Enter")
    assert (in_focus(page), seen(page, 6)) == ("Candidate 6, place 1", True)
    page.keyboard.type("99")  # past the end is the end
    page.keyboard.press("Enter")
    for _ in range(5):
        page.keyboard.press("Alt+ArrowUp")
    assert (in_focus(page), seen(page, 6)) == ("Candidate 6, place 1", True)
    page.mouse.move(*middle(page, 6))
    page.mouse.down()
    page.mouse.move(300, 615, steps=4)  # below the order: it scrolls all the same
    until(page, "document.querySelector('#list-pane .pane-in').scrollTop > 40")
    page.keyboard.press("Escape")
    page.mouse.up()
    for n in (6, 5, 4):
        focus(page, n)
        page.keyboard.press("u")
    card(page, 3).get_by_role("button", name="Move: Candidate 3").click()
    sheet = page.get_by_role("dialog", name="Candidate 3")
    is_accessible(page)
    for move, expected in [
        ("Up", [[1], [3], [2]]),
        ("Tie with the one above", [[1, 3], [2]]),
        ("A place of its own", [[1], [3], [2]]),
        ("To the top", [[3], [1], [2]]),
        ("Down", [[1], [3], [2]]),
        ("To the end", [[1], [2], [3]]),
        ("Not ranked", [[1], [2]]),
    ]:
        sheet.get_by_role("button", name=move).click()
        assert places(page) == expected
    expect(sheet).to_contain_text("Candidate 3 is not ranked.")
    sheet.get_by_label("Place", exact=True).fill("99")
    sheet.get_by_role("button", name="Tie with it").click()
    assert (places(page), in_focus(page)) == ([[1], [2, 3]], "Candidate 3, place 2, tied with 1 other")


def test_orders_are_sent_corrected_handed_back_and_skipped(page: Page, studies: Studies) -> None:
    begin(page, studies)
    expect(page.locator("#progress-words")).to_have_text("Query 1 of 3")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#live")).to_contain_text("Rank at least 2 more")
    type_places(page, 3, 5)
    expect(page.locator("#missing")).to_have_text("Ready to send; 4 not ranked")
    page.keyboard.press("Control+Enter")
    dialog = page.get_by_role("dialog", name="Send with some not ranked?")
    expect(dialog).to_contain_text("4 of 6 have no place")
    page.keyboard.press("Enter")
    expect(page.locator("#progress-words")).to_have_text("Query 2 of 3")
    expect(page.locator("#heading")).to_be_focused()
    all_sent(page)
    correct(page, studies)
    ready(page)
    type_places(page, 6, 1)
    page.keyboard.press("k")
    page.get_by_role("button", name="Hand it back").click()  # another one, and this one later
    expect(page.locator("#live")).to_contain_text("your ranking is kept")
    assert places(page) == []
    page.keyboard.press("k")
    page.get_by_role("dialog", name="Why skip").get_by_role("button", name="Skip this one").click()
    until(page, "document.querySelectorAll('#places .place').length === 2")  # the one handed back, as it was
    all_sent(page)
    page.keyboard.press("k")
    page.get_by_role("button", name="Hand it back").click()
    expect(page.locator("#resting-title")).to_have_text("Handed back")  # there is no other, and it is not done
    page.locator("#resting-again").click()
    until(page, "!document.querySelector('#question').hidden")
    assert places(page) == [[6], [1]]
    send_some(page)
    expect(page.locator("#resting-title")).to_have_text("You have done them all")
    expect(page.locator("#resting-thanks")).to_have_text("You have put 2 queries in order. Thank you.")
    is_accessible(page)


def send_some(page: Page) -> None:
    """Send an order that leaves some out."""
    page.keyboard.press("Control+Enter")
    page.get_by_role("dialog", name="Send with some").get_by_role("button", name="Send").click()


def correct(page: Page, studies: Studies) -> None:
    """Open the order again that was sent, leave it, open it again, change it, and send it."""
    page.get_by_role("button", name="Finished queries").click()
    finished = page.get_by_role("dialog", name="Finished queries")
    expect(finished).to_contain_text("2 of 6 ranked")
    finished.get_by_role("button", name="Open again: q").click()
    expect(page.locator("#progress-words")).to_have_text("You are changing a ranking that you sent.")
    assert places(page) == [[3], [5]]
    page.keyboard.press("Control+z")  # also what was done before it was sent
    assert places(page) == [[3]]
    page.get_by_role("button", name="Leave it as sent").click()
    expect(page.locator("#progress-words")).to_have_text("Query 2 of 3")
    page.get_by_role("button", name="Finished queries").click()
    finished.get_by_role("button", name="Open again: q").click()
    expect(page.locator("#progress-words")).to_have_text("You are changing a ranking that you sent.")
    assert places(page) == [[3], [5]]
    focus(page, 5)
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    send_some(page)
    expect(page.locator("#progress-words")).to_have_text("Query 2 of 3")
    all_sent(page)
    rows = answers_of(studies, page)
    assert [row["kind"] for row in rows] == ["judgment", "correction"]
    first, then = (json.loads(row["grades"]) for row in rows)
    assert first["groups"][0] == then["groups"][1]
    assert len(first["unranked"]) == 4


def answers_of(studies: Studies, page: Page) -> list[dict[str, Any]]:
    """What the person at a page answered."""
    code = page.locator(".judge-foot").inner_text().split("You are ")[1].split()[0]
    return studies.rows(
        "SELECT answer.* FROM answer JOIN participant ON participant.id = answer.participant_id"
        " JOIN campaign ON campaign.id = participant.campaign_id WHERE code = ? AND campaign.name = 'words'"
        " ORDER BY answer.id",
        code,
    )


def test_cards_are_dragged_with_the_mouse(page: Page, studies: Studies) -> None:
    page.emulate_media(reduced_motion="reduce")  # cards are where they go at once
    begin(page, studies)

    def drag(n: int, x: float, y: float, *, let_go: bool = True) -> None:
        page.mouse.move(*middle(page, n))
        page.mouse.down()
        page.mouse.move(x, y, steps=4)
        drawn(page)
        if let_go:
            page.mouse.up()

    box = page.locator("#list-empty").bounding_box()
    assert box is not None
    drag(4, box["x"] + 100, box["y"] + 40)
    assert places(page) == [[4]]
    assert in_focus(page) == "Candidate 4, place 1"
    x, y = middle(page, 4)
    drag(2, x, y + 120)  # below: a place of its own
    x, y = middle(page, 4)
    drag(6, x, y)  # onto: a tie
    assert places(page) == [[4, 6], [2]]
    x, y = middle(page, 2)
    drag(1, x, y - 38, let_go=False)  # between the two
    expect(page.locator("#drop-mark")).to_be_visible()
    page.keyboard.press("Escape")
    page.mouse.up()
    assert places(page) == [[4, 6], [2]]
    drag(1, *(middle(page, 2)[0], middle(page, 2)[1] - 38))
    assert places(page) == [[4, 6], [1], [2]]
    drag(4, *middle(page, 3))  # back into the tray
    assert (places(page), order(page).tray) == ([[6], [1], [2]], ["3", "4", "5"])
    expect(page.locator(".is-ghost")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    assert places(page) == [[4, 6], [1], [2]] or places(page) == [[6, 4], [1], [2]]
    saved(page)
    assert sorted(map(sorted, stored(studies, page))) == [[1], [2], [4, 6]]


def test_cards_are_dragged_by_touch_and_the_page_still_scrolls(browser: Browser, studies: Studies) -> None:
    opened = browser.new_context(viewport={"width": 390, "height": 700}, has_touch=True, is_mobile=True, locale="en-GB")
    page = opened.new_page()
    page.emulate_media(reduced_motion="reduce")
    begin(page, studies)
    session = opened.new_cdp_session(page)

    def touch(kind: str, x: float = 0, y: float = 0) -> None:
        points = [] if kind == "touchEnd" else [{"x": x, "y": y}]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def centre(selector: str) -> tuple[float, float]:
        box = page.locator(selector).first.bounding_box()
        assert box is not None
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    card(page, 1).get_by_role("button", name="Rank at the end").tap()
    card(page, 2).get_by_role("button", name="Rank at the end").tap()
    assert places(page) == [[1], [2]]
    page.evaluate("scrollTo(0, 0)")
    (x, y), (_, end) = centre("#places .place:nth-child(2) .grip"), centre("#places .place:nth-child(1)")
    touch("touchStart", x, y)
    for step in range(1, 6):
        touch("touchMove", x, y + (end - 38 - y) * step / 5)
    drawn(page)
    touch("touchEnd")
    until(page, "document.querySelectorAll('.is-ghost').length === 0")
    assert places(page) == [[2], [1]]
    x, y = centre("#places .place:nth-child(2) .incipit-sight")
    touch("touchStart", x, y)
    page.wait_for_timeout(450)  # a long press anywhere lifts a card
    expect(page.locator(".is-ghost")).to_have_count(1)
    touch("touchMove", x, y - 10)
    touch("touchMove", *centre("#places .place:nth-child(1)"))
    drawn(page)
    touch("touchEnd")
    until(page, "document.querySelectorAll('.is-ghost').length === 0")
    assert places(page) == [[2, 1]]
    x, y = centre("#tray .incipit-sight")
    touch("touchStart", x, y)
    for step in range(1, 7):
        touch("touchMove", x, y - 30 * step)
    touch("touchEnd")
    until(page, "scrollY > 60")
    assert places(page) == [[2, 1]]
    opened.close()


def test_nothing_is_lost_offline_by_a_reload_and_on_another_device(
    page: Page, context: BrowserContext, browser: Browser, studies: Studies
) -> None:
    begin(page, studies)
    type_places(page, 6, 2)
    saved(page)
    context.set_offline(True)
    focus(page, 2)
    page.keyboard.press("Alt+ArrowUp")
    expect(page.locator("#saved")).to_have_text("Not saved yet: offline, kept in this browser")
    focus(page, 4)
    page.keyboard.type("2")
    page.keyboard.press("Enter")
    context.set_offline(False)
    saved(page)
    assert stored(studies, page) == [[2], [4], [6]]
    page.locator("#comment-box summary").click()
    page.fill("#comment", "half a thought")
    page.locator("#heading").focus()
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    assert places(page) == [[6], [2]]
    page.reload()  # before it was saved
    ready(page)
    assert places(page) == [[6], [2]]
    expect(page.locator("#comment")).to_have_value("half a thought")
    page.keyboard.press("Control+Shift+Z")
    assert places(page) == [[2], [6]]
    saved(page)
    link = page.locator("#resume").input_value()
    elsewhere = browser.new_context(locale="en-GB")
    other = elsewhere.new_page()
    other.goto(studies.url + link[link.index("/r/") :])
    ready(other)
    assert places(other) == [[2], [6]]
    focus(other, 6)
    other.keyboard.press("Alt+ArrowUp")
    saved(other)
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # somebody comes back to this window
    until(page, "!document.querySelector('#told').hidden")
    assert places(page) == [[6], [2]]
    page.keyboard.press("Control+z")
    assert places(page) == [[2], [6]]
    saved(page)
    what_the_organiser_and_the_other_device_do_is_said(page, other, studies)
    elsewhere.close()


def what_the_organiser_and_the_other_device_do_is_said(page: Page, other: Page, studies: Studies) -> None:
    """A campaign that is paused and goes on, and a query that is sent from the other device."""
    turn(studies, "words", "paused")
    page.keyboard.press("Control+Shift+Z")
    expect(page.locator("#told")).to_contain_text("The campaign is paused; your ranking is kept")
    turn(studies, "words", "open")
    page.keyboard.press("Control+z")
    expect(page.locator("#told")).to_be_hidden()
    saved(page)
    other.reload()
    ready(other)
    send_some(other)
    all_sent(other)
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.locator("#told")).to_have_text(re.compile("You sent that query from elsewhere"))
    expect(page.locator("#progress-words")).to_have_text("Query 2 of 3")


def test_two_windows_that_contradict_each_other_are_asked_about(
    page: Page, context: BrowserContext, studies: Studies
) -> None:
    begin(page, studies)
    type_places(page, 1, 2)
    saved(page)
    second = context.new_page()
    second.goto(f"{studies.url}/rank")
    ready(second)
    focus(second, 2)
    second.keyboard.press("Alt+ArrowUp")
    saved(second)
    focus(page, 3)
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Two rankings of this query")
    expect(dialog).to_contain_text("2 ranked, in 2 places")
    expect(dialog).to_contain_text("3 ranked, in 3 places")
    expect(page.locator("#conflict-theirs-order")).to_have_text("1. № 2 · 2. № 1")
    expect(page.locator("#conflict-ours-order")).to_have_text("1. № 1 · 2. № 2 · 3. № 3")
    is_accessible(page)
    page.keyboard.press("Escape")
    expect(dialog).to_be_visible()
    dialog.get_by_role("button", name="Keep the one here").click()
    saved(page)
    assert (places(page), stored(studies, page)) == ([[1], [2], [3]], [[1], [2], [3]])
    page.keyboard.press("Control+z")
    assert places(page) == [[2], [1]]  # the other one is not lost
    page.keyboard.press("Control+Shift+Z")
    saved(page)
    focus(second, 6)
    second.keyboard.press("Enter")
    second.get_by_role("button", name="Take the other one").click()
    assert places(second) == [[1], [2], [3]]
    second.keyboard.press("Control+z")
    assert places(second) == [[2], [1], [6]]
    saved(second)
    context.route("**/answers", lambda route: route.abort())  # of both: the other window would send it at once
    send_some(second)
    expect(second.locator("#banner")).to_contain_text("1 waiting")
    second.close()  # before it could send; the other window does
    context.unroute("**/answers")
    all_sent(page)
    expect(page.locator("#progress-words")).to_have_text("Query 2 of 3")
    expect(page.locator("#heading")).to_be_visible()


def test_what_must_be_heard_and_placed_is_said(page: Page, studies: Studies) -> None:
    begin(page, studies, "tones")
    missing = page.locator("#missing")
    expect(missing).to_have_text("3 have no place yetListen to 1 more")
    page.keyboard.press("q")
    expect(missing).to_have_text("3 have no place yet")
    type_places(page, 1, 2, 3)
    expect(missing).to_have_text("Listen to 3 more")
    for n in (1, 2, 3):
        focus(page, n)
        page.keyboard.press("t")  # nobody shares a place here
        page.keyboard.press("Space")
        expect(card(page, n)).to_have_class("incipit is-done")
    assert places(page) == [[1], [2], [3]]
    expect(missing).to_have_text("Ready to send")
    page.reload()
    ready(page)
    expect(missing).to_have_text("Ready to send")
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#resting-title")).to_have_text("You have done them all")


def test_notation_is_seen_heard_and_accessible(browser: Browser, studies: Studies) -> None:
    opened = browser.new_context(
        viewport={"width": 320, "height": 568}, color_scheme="dark", has_touch=True, is_mobile=True, locale="de"
    )
    page = opened.new_page()
    begin(page, studies, "notation")
    assert page.locator(".incipit svg.notation-picture").count() == 4
    type_places(page, 2, 1, 3)
    focus(page, 3)
    page.keyboard.press("t")
    page.keyboard.press("Space")
    until(page, "document.querySelector('.place .is-playing .sounding')")
    page.keyboard.press("q")
    until(page, "document.querySelector('#query-box .is-playing .sounding')")
    assert page.locator(".board .sounding").count() == 0
    page.keyboard.press("q")
    is_accessible(page)
    for width, height in [(320, 568), (640, 430)]:  # a small phone, and a laptop at 200 %
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("document.querySelector('#query-box').getBoundingClientRect().bottom") < height / 2
        assert too_small(page) == []
    opened.close()


def too_small(page: Page) -> list[str]:
    """What is pressed and lower than a finger."""
    found: list[str] = page.evaluate(
        "[...document.querySelectorAll('#question button, #question .grip')].filter((one) => one.offsetParent"
        " && one.getBoundingClientRect().height < 43.9).map((one) => one.outerHTML)"
    )
    return found
