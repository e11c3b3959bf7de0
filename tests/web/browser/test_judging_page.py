"""An assessor at work, in a real browser: keys, touch, sound, reloads, a connection that comes and goes.

The demo's clips are real sound, played four times as fast so that an hour's work fits into a minute.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from tests.web.browser.assessing import (
    FASTER,
    PATIENCE_MS,
    READY,
    all_sent,
    clips,
    come_in,
    grade,
    hear,
    is_accessible,
    send,
    until,
    wait_for_another,
)
from tests.web.browser.conftest import ARGUMENTS, chromium
from tests.web.conftest import CampaignServer


@pytest.fixture
def answers(campaign_server: CampaignServer, tmp_path: Path) -> Any:
    """What the server has stored, newest last."""

    def stored() -> list[dict[str, Any]]:
        connection = sqlite3.connect(f"file:{tmp_path / 'campaign' / 'adjudge.sqlite3'}?mode=ro", uri=True)
        connection.row_factory = sqlite3.Row
        try:
            return [dict(row) for row in connection.execute("SELECT * FROM answer ORDER BY id")]
        finally:
            connection.close()

    return stored


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    opened = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-GB")
    opened.set_default_timeout(PATIENCE_MS)
    opened.add_init_script(FASTER)
    yield opened
    opened.close()


def test_an_assessor_judges_pairs_with_the_keyboard(page: Page, campaign_server: CampaignServer, answers: Any) -> None:
    come_in(page, campaign_server.open_invitation)
    for number in range(4):
        hear(page)
        grade(page, "2", str(40 + number))
        expect(page.locator("#missing")).to_have_text("Ready to send")
        send(page)
    all_sent(page)
    stored = answers()
    assert [json.loads(row["grades"]) for row in stored] == [{"broad": 1, "fine": 40 + n} for n in range(4)]
    assert len({row["pair_id"] for row in stored}) == 4
    assert all(json.loads(row["heard"])["candidate_ms"] >= 3000 for row in stored)
    expect(page.locator("#progress-words")).to_contain_text("4 judged by you")


def test_sound_is_heard_and_switching_keeps_the_position(page: Page, campaign_server: CampaignServer) -> None:
    come_in(page, campaign_server.open_invitation)
    at = "document.querySelector('[data-side={}] audio').currentTime"
    until(page, at.format("query") + " > 1")
    page.keyboard.press("c")
    expect(page.locator("[data-side=candidate].is-playing")).to_be_visible()
    expect(page.locator("[data-side=query].is-playing")).to_have_count(0)
    query, candidate = (page.evaluate(at.format(side)) for side in ("query", "candidate"))
    assert candidate >= query > 1
    page.keyboard.press("s")
    expect(page.locator("[data-side=query].is-playing")).to_be_visible()
    page.keyboard.press(" ")
    expect(page.locator(".clip.is-playing")).to_have_count(0)
    paused = page.evaluate(at.format("query"))
    page.keyboard.press(",")
    assert page.evaluate(at.format("query")) == pytest.approx(max(0.0, paused - 5), abs=0.1)
    page.keyboard.press("r")
    until(page, at.format("query") + " < 1.5")
    expect(page.locator("[data-side=query].is-playing")).to_be_visible()


def test_seeking_is_not_listening(page: Page, campaign_server: CampaignServer, answers: Any) -> None:
    page.add_init_script("localStorage.setItem('adjudge.by-itself', 'no')")
    page.goto(campaign_server.open_invitation)
    page.get_by_role("button", name="Start", exact=True).click()
    page.wait_for_selector(READY)
    for _ in range(4):
        page.keyboard.press(".")
    grade(page, "2", "50")
    page.keyboard.press("Enter")
    expect(page.locator("#missing")).to_contain_text("more to the candidate")
    expect(page.locator("#send")).to_have_attribute("aria-disabled", "true")
    assert answers() == []


def test_a_reload_keeps_the_question_and_the_half_given_grades(page: Page, campaign_server: CampaignServer) -> None:
    come_in(page, campaign_server.open_invitation)
    hear(page)
    grade(page, "3", "77")
    page.locator("#comment-box summary").click()
    page.fill("#comment", "half a thought")
    before = clips(page)
    page.reload()
    page.wait_for_selector(READY)
    assert clips(page) == before
    expect(page.get_by_role("radio", name="Very similar")).to_be_checked()
    expect(page.locator(".amount")).to_have_value("77")
    expect(page.locator("#comment")).to_have_value("half a thought")
    expect(page.locator("#missing")).to_have_text("Ready to send")


def test_nothing_is_lost_while_the_connection_is_gone(
    page: Page, context: BrowserContext, campaign_server: CampaignServer, answers: Any
) -> None:
    come_in(page, campaign_server.open_invitation)
    until(page, "document.querySelector('#question').dataset.ahead === 'ready'")
    hear(page)
    context.set_offline(True)
    grade(page, "2", "51")
    send(page)
    expect(page.locator("#banner")).to_contain_text("1 waiting")
    hear(page)  # the next question was fetched before
    grade(page, "2", "52")
    page.keyboard.press("Enter")
    expect(page.locator("#banner")).to_contain_text("2 waiting")
    expect(page.locator("#resting-title")).to_have_text("Waiting for the connection")
    assert answers() == []
    is_accessible(page)
    context.set_offline(False)
    page.wait_for_selector(READY)
    all_sent(page)
    expect(page.locator("#banner")).to_be_hidden()
    assert [json.loads(row["grades"])["fine"] for row in answers()] == [51, 52]
    hear(page)
    grade(page, "2", "53")
    send(page)
    all_sent(page)
    assert [json.loads(row["grades"])["fine"] for row in answers()] == [51, 52, 53]


def test_what_waits_survives_a_reload(
    page: Page, context: BrowserContext, campaign_server: CampaignServer, answers: Any
) -> None:
    come_in(page, campaign_server.open_invitation)
    hear(page)
    page.route("**/api/judging/answers", lambda route: route.fulfill(status=503, json={"error": {"message": "busy"}}))
    grade(page, "2", "60")
    send(page)
    expect(page.locator("#banner")).to_contain_text("server is not answering")
    page.unroute("**/api/judging/answers")
    page.on("dialog", lambda dialog: dialog.accept())  # the page warns that something waits
    page.reload()
    all_sent(page)
    assert [json.loads(row["grades"])["fine"] for row in answers()] == [60]


def test_an_answer_whose_acknowledgement_got_lost_is_stored_once(
    page: Page, campaign_server: CampaignServer, answers: Any
) -> None:
    come_in(page, campaign_server.open_invitation)
    hear(page)
    lost: list[int] = []

    def lose_the_first(route: Any) -> None:
        response = route.fetch()
        lost.append(response.status)
        if len(lost) == 1:
            route.abort()
        else:
            route.fulfill(response=response)

    page.route("**/api/judging/answers", lose_the_first)
    grade(page, "2", "61")
    page.keyboard.press("Enter")
    all_sent(page)
    assert lost == [200, 200]
    assert [json.loads(row["grades"])["fine"] for row in answers()] == [61]


def test_a_refused_answer_is_told_in_words_and_can_be_given_again(
    page: Page, campaign_server: CampaignServer, answers: Any
) -> None:
    come_in(page, campaign_server.open_invitation)
    hear(page)
    refusal = {"error": {"status": 422, "message": "The candidate was not heard long enough."}}
    page.route("**/api/judging/answers", lambda route: route.fulfill(status=422, json=refusal), times=1)
    grade(page, "2", "62")
    send(page)
    expect(page.locator("#told")).to_contain_text("not heard long enough")
    is_accessible(page)
    assert answers() == []


def test_grades_that_hardly_go_together_are_asked_about_once(
    page: Page, campaign_server: CampaignServer, answers: Any
) -> None:
    come_in(page, campaign_server.open_invitation)
    hear(page)
    grade(page, "1", "85")
    page.keyboard.press("Enter")
    expect(page.locator("#doubt")).to_contain_text("You said “Not similar” but gave 85: keep both?")
    assert answers() == []
    is_accessible(page)
    send(page)
    all_sent(page)
    assert json.loads(answers()[0]["grades"]) == {"broad": 0, "fine": 85}


def test_a_slider_is_empty_until_it_is_touched(page: Page, campaign_server: CampaignServer) -> None:
    come_in(page, campaign_server.open_invitation)
    slider = page.get_by_role("slider", name="In detail")
    expect(slider).to_have_attribute("aria-valuetext", "not given yet")
    expect(page.locator("#missing")).to_contain_text("Place the slider")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuetext", "11")
    slider.click()  # in its middle, where an untouched one would stand
    expect(page.locator(".amount")).to_have_value("50")


def test_keys_rest_while_a_comment_is_written(page: Page, campaign_server: CampaignServer, answers: Any) -> None:
    come_in(page, campaign_server.open_invitation)
    hear(page)
    page.locator("#comment-box summary").click()
    page.locator("#comment").click()
    page.keyboard.type("1 quick skip? u, k.")
    page.keyboard.press("Enter")
    expect(page.locator("#comment")).to_have_value("1 quick skip? u, k.\n")
    expect(page.locator("dialog[open]")).to_have_count(0)
    expect(page.get_by_role("radio", checked=True)).to_have_count(0)
    assert answers() == []


def test_letters_act_while_a_number_is_typed_and_escape_gives_digits_back(
    page: Page, campaign_server: CampaignServer
) -> None:
    come_in(page, campaign_server.open_invitation)
    hear(page)
    grade(page, "1", "45")
    page.keyboard.press("q")
    expect(page.locator("[data-side=query].is-playing")).to_be_visible()
    expect(page.locator(".amount")).to_have_value("45")
    page.keyboard.press("Escape")
    page.keyboard.press("3")
    expect(page.get_by_role("radio", name="Very similar")).to_be_checked()
    expect(page.locator(".amount")).to_have_value("45")


def test_a_question_can_be_skipped_with_a_reason(page: Page, campaign_server: CampaignServer, answers: Any) -> None:
    come_in(page, campaign_server.open_invitation)
    before = clips(page)
    page.keyboard.press("k")
    expect(page.get_by_role("dialog", name="Why skip this one?")).to_be_visible()
    is_accessible(page)
    expect(page.get_by_role("radio", name="I cannot tell")).to_be_checked()
    page.fill("#skip-comment", "too short")
    box = page.locator("#skip-comment").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 5, box["y"] + 5)  # marking words up to the edge of the page does not close the dialog
    page.mouse.down()
    page.mouse.move(2, 2)
    page.mouse.up()
    expect(page.locator("#skip-comment")).to_have_value("too short")
    page.get_by_role("button", name="Skip this one").click()
    expect(page.locator("#heading")).to_be_focused()
    wait_for_another(page, before)
    all_sent(page)
    (row,) = answers()
    assert (row["kind"], row["reason"], row["comment"]) == ("skip", "cannot_tell", "too short")


def test_the_last_answers_can_be_corrected(page: Page, campaign_server: CampaignServer, answers: Any) -> None:
    come_in(page, campaign_server.open_invitation)
    hear(page)
    grade(page, "2", "55")
    send(page)
    all_sent(page)
    page.keyboard.press("u")
    page.get_by_role("button", name=re.compile("Change the answer of")).click()
    is_accessible(page)
    page.get_by_role("dialog").get_by_role("radio", name="Very similar").check()
    page.get_by_role("dialog").get_by_role("spinbutton").fill("91")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_contain_text("Changed")
    all_sent(page)
    first, second = answers()
    assert (second["kind"], second["corrects"]) == ("correction", first["id"])
    assert json.loads(second["grades"]) == {"broad": 2, "fine": 91}
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("u")
    expect(page.get_by_role("dialog")).to_contain_text("91")


def test_the_help_lists_the_keys(page: Page, campaign_server: CampaignServer) -> None:
    come_in(page, campaign_server.open_invitation)
    is_accessible(page)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="How it works")).to_contain_text("play or pause")
    is_accessible(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_the_focus_goes_to_each_new_question(page: Page, campaign_server: CampaignServer) -> None:
    come_in(page, campaign_server.open_invitation)
    hear(page)
    page.get_by_role("radio", name="Somewhat similar").click()
    page.get_by_role("slider", name="In detail").click()
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#heading")).to_be_focused()
    expect(page.locator("#live")).not_to_be_empty()


def test_another_window_goes_on_with_the_next_question(
    page: Page, context: BrowserContext, campaign_server: CampaignServer, answers: Any
) -> None:
    come_in(page, campaign_server.open_invitation)
    second = context.new_page()
    second.goto(f"{campaign_server.url}/judge")
    second.wait_for_selector(READY)
    assert clips(second) == clips(page)
    page.bring_to_front()
    hear(page)
    grade(page, "2", "45")
    before = clips(page)
    send(page)
    all_sent(page)
    wait_for_another(second, before)
    assert clips(second) == clips(page)
    second.close()
    hear(page)
    grade(page, "2", "46")
    send(page)
    all_sent(page)
    assert [json.loads(row["grades"])["fine"] for row in answers()] == [45, 46]


def test_a_browser_that_wants_a_gesture_gets_a_start_screen(campaign_server: CampaignServer, browser: Browser) -> None:
    strict = [*ARGUMENTS, "--autoplay-policy=document-user-activation-required"]
    opened = browser.browser_type.launch(executable_path=chromium(), args=strict)
    try:
        context = opened.new_context(locale="en-GB")
        invitation = campaign_server.open_invitation.rpartition("/")[2]
        joined = context.request.post(f"{campaign_server.url}/api/join", data={"invitation": invitation})
        assert joined.status == 201
        page = context.new_page()
        with page.expect_response("**/media/*", timeout=PATIENCE_MS):
            page.goto(f"{campaign_server.url}/judge")
        page.wait_for_timeout(2000)  # without a look at the page: for the browser, Playwright's looks are gestures
        expect(page.get_by_role("button", name="Start listening")).to_be_visible()
        is_accessible(page)
        page.get_by_role("button", name="Start listening").click()
        until(page, "[...document.querySelectorAll('audio')].some((one) => one.currentTime > 0.2)")
    finally:
        opened.close()


def test_a_phone_is_enough(browser: Browser, campaign_server: CampaignServer, answers: Any) -> None:
    phone = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, device_scale_factor=2, locale="en-GB"
    )
    phone.add_init_script(FASTER)
    page = phone.new_page()
    come_in(page, campaign_server.open_invitation)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    small = page.evaluate(
        "[...document.querySelectorAll('#question button, #question label.level')].filter((one) => one.offsetParent)"
        ".map((one) => [one.textContent.trim(), one.getBoundingClientRect().height]).filter(([, high]) => high < 43.9)"
    )
    assert small == []
    is_accessible(page)
    hear(page, by_touch=True)
    page.get_by_role("radio", name="Somewhat similar").tap()
    page.get_by_role("slider", name="In detail").tap()
    page.get_by_role("button", name="Send").tap()
    all_sent(page)
    assert json.loads(answers()[0]["grades"]) == {"broad": 1, "fine": 50}
    phone.close()


def test_the_language_can_be_changed_in_the_middle(page: Page, campaign_server: CampaignServer) -> None:
    come_in(page, campaign_server.open_invitation)
    page.keyboard.press("2")
    before = clips(page)
    page.get_by_role("combobox", name="Language").select_option("es")
    expect(page.locator("#heading")).to_have_text("¿Cuánto se parecen?")
    expect(page.get_by_role("radio", name="Se parecen algo")).to_be_checked()
    assert clips(page) == before
    is_accessible(page)


def test_a_personal_link_goes_on_elsewhere(page: Page, browser: Browser, campaign_server: CampaignServer) -> None:
    come_in(page, campaign_server.invitations[0])
    page.get_by_role("button", name="Continue on another device").click()
    is_accessible(page)
    link = page.get_by_label("Your personal link").input_value()
    code = page.locator(".judge-foot span").inner_text()
    elsewhere = browser.new_context(locale="en-GB")
    other = elsewhere.new_page()
    other.goto(re.sub(r"^https?://[^/]+", campaign_server.url, link))
    other.wait_for_selector(READY)
    assert other.locator(".judge-foot span").inner_text() == code
    elsewhere.close()


def test_an_assessor_can_be_erased_and_gets_a_receipt(
    page: Page, campaign_server: CampaignServer, answers: Any
) -> None:
    come_in(page, campaign_server.open_invitation)
    hear(page)
    grade(page, "2", "50")
    send(page)
    all_sent(page)
    page.goto(f"{campaign_server.url}/privacy")
    is_accessible(page)
    page.get_by_role("radio", name="Remove my answers as well").check()
    page.get_by_role("checkbox", name="Yes, erase me now").check()
    page.get_by_role("button", name="Erase").click()
    expect(page.get_by_role("heading", name="You have been erased")).to_be_visible()
    is_accessible(page)
    assert answers() == []
    assert page.context.cookies() == []


def test_an_invitation_that_is_none_says_so(page: Page, campaign_server: CampaignServer) -> None:
    answer = page.goto(f"{campaign_server.url}/i/1.{'a' * 32}")
    assert answer is not None
    assert answer.status == 404
    expect(page.get_by_role("heading", name="This invitation does not work any more")).to_be_visible()
    is_accessible(page)


def test_the_invitation_s_page_is_accessible(page: Page, campaign_server: CampaignServer) -> None:
    page.goto(campaign_server.open_invitation)
    is_accessible(page)
    page.get_by_role("link", name="Deutsch").click()
    expect(page.get_by_role("button", name="Beginnen")).to_be_visible()
    is_accessible(page)
