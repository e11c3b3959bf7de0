"""Somebody who compares lists, in a real browser: from consent to the completion code, and what comes between."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from tests.web.browser.assessing import PATIENCE_MS, READY, all_sent, is_accessible, until
from tests.web.browser.preferring import (
    CODES,
    CONSENT,
    FASTER,
    Studies,
    answer,
    begin,
    code,
    fitting,
    hear,
    make_studies,
    send,
    shown,
    start_sound,
)
from tests.web.near import NearServer


@pytest.fixture(scope="module")
def studies(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studies]:
    """One server for the file; everybody who comes is somebody else."""
    settings, links = make_studies(tmp_path_factory.mktemp("studies"))
    with NearServer(settings.data) as process:
        yield Studies(process, links)


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    opened = browser.new_context(viewport={"width": 1280, "height": 860}, locale="en-GB")
    opened.set_default_timeout(PATIENCE_MS)
    opened.add_init_script(FASTER)
    yield opened
    opened.close()


@pytest.fixture
def who() -> str:
    """Somebody whom nobody has seen before."""
    return f"person-{secrets.token_hex(6)}"


@pytest.fixture
def quiet(page: Page) -> Page:
    """A page that plays nothing by itself."""
    page.add_init_script("localStorage.setItem('adjudge.by-itself', 'no')")
    return page


def come_quietly(page: Page, link: str) -> None:
    page.goto(link)
    page.get_by_role("button", name="Start", exact=True).click()
    page.wait_for_selector(READY)


def test_from_consent_to_the_completion_code(page: Page, studies: Studies, who: str) -> None:
    page.goto(studies.recruited(who))
    expect(page.get_by_text(CONSENT)).to_be_visible()
    expect(page.get_by_text("return your submission on Prolific")).to_be_visible()
    expect(page.get_by_label("Your name")).to_have_count(0)  # recruited people are not asked who they are
    is_accessible(page)
    assert studies.answers(who) == []
    begin(page, studies.recruited(who))
    expect(page.locator("#progress-words")).to_have_text("A few questions to warm up: 1 of 2")
    answer(page, studies)
    answer(page, studies)
    expect(page.locator("#progress-words")).to_have_text("Question 1 of 2")
    answer(page, studies)
    expect(page.locator("#progress-words")).to_have_text("Question 2 of 2")
    expect(code(page)).to_be_hidden()
    hear(page)
    page.keyboard.press("ArrowUp")
    page.locator("#comment-box summary").click()
    page.fill("#comment", "both are fine")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", name="Thank you!")).to_be_focused()
    expect(code(page)).to_have_value(CODES["done"])
    expect(page.get_by_text("All your answers are stored.")).to_be_visible()
    back = page.get_by_role("link", name="Return to Prolific")
    expect(back).to_have_attribute("href", f"https://app.prolific.com/submissions/complete?cc={CODES['done']}")
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    stored = studies.answers(who)
    assert [(row["role"], row["kind"]) for row in stored] == [("trap", "trap")] * 2 + [("question", "judgment")] * 2
    assert (json.loads(stored[-1]["grades"]), stored[-1]["comment"]) == ({"choice": "good"}, "both are fine")
    heard = json.loads(stored[0]["heard"])
    assert min(heard["query_ms"], *heard["a_ms"], *heard["b_ms"]) >= 400
    (person,) = studies.person(who)
    assert person["outcome"] == "done"
    assert json.loads(person["recruited"]) == {"PROLIFIC_PID": who, "STUDY_ID": "study1", "SESSION_ID": "one"}
    page.goto(studies.recruited(who))  # who comes again sees their code again
    expect(code(page)).to_have_value(CODES["done"])


def test_who_misses_the_first_traps_is_let_go_kindly(page: Page, studies: Studies, who: str) -> None:
    begin(page, studies.recruited(who))
    answer(page, studies, right=False)
    answer(page, studies, right=False)
    expect(page.get_by_role("heading", name="Thank you for trying")).to_be_visible()
    expect(page.locator("#ended")).to_contain_text("says nothing about your ears")
    expect(code(page)).to_have_value(CODES["screened_out"])
    assert not re.search("trap|quiz|fail|wrong", page.locator("main").inner_text(), re.IGNORECASE)
    is_accessible(page)
    page.reload()
    expect(code(page)).to_have_value(CODES["screened_out"])


def test_who_misses_traps_later_is_stopped_kindly(page: Page, studies: Studies, who: str) -> None:
    begin(page, studies.recruited(who, name="trapped"))
    for _ in range(20):
        if page.locator("#ended").is_visible():
            break
        careful = "question" not in {row["role"] for row in studies.answers(who)}
        answer(page, studies, right=careful)
        all_sent(page)
    expect(page.get_by_role("heading", name="Thank you, we stop here")).to_be_visible()
    expect(page.locator("#ended")).to_contain_text("That happens easily")
    expect(code(page)).to_have_value(CODES["failed"])


def test_a_laptop_closed_half_way_is_opened_elsewhere(browser: Browser, studies: Studies, who: str) -> None:
    first = browser.new_context(locale="en-GB")
    first.add_init_script(FASTER)
    page = first.new_page()
    begin(page, studies.recruited(who))
    answer(page, studies)
    answer(page, studies)
    answer(page, studies)
    all_sent(page)
    hear(page)
    before, progress = shown(page), page.locator("#progress-words").inner_text()
    first.close()
    second = browser.new_context(locale="en-GB")
    second.add_init_script(FASTER)
    page = second.new_page()
    page.goto(studies.recruited(who))  # no consent is asked again
    page.wait_for_url("**/prefer")
    page.wait_for_selector(READY)
    start_sound(page)
    assert shown(page) == before
    assert page.locator("#progress-words").inner_text() == progress == "Question 2 of 2"
    answer(page, studies)
    expect(code(page)).to_have_value(CODES["done"])
    assert len(studies.answers(who)) == 4
    second.close()


def test_nothing_is_lost_offline_and_the_code_waits_for_the_server(
    page: Page, context: BrowserContext, studies: Studies, who: str
) -> None:
    begin(page, studies.recruited(who))
    answer(page, studies)
    answer(page, studies)
    all_sent(page)
    until(page, "document.querySelector('#question').dataset.ahead === 'ready'")
    context.set_offline(True)
    answer(page, studies)
    expect(page.locator("#banner")).to_contain_text("1 waiting")
    answer(page, studies)  # it was fetched before
    expect(page.locator("#resting-title")).to_have_text("Waiting for the connection")
    expect(page.locator("#banner")).to_contain_text("2 waiting")
    assert CODES["done"] not in page.content()
    assert len(studies.answers(who)) == 2
    is_accessible(page)
    context.set_offline(False)
    expect(code(page)).to_have_value(CODES["done"])
    assert len(studies.answers(who)) == 4


def test_a_reload_keeps_what_was_heard_chosen_and_written(quiet: Page, studies: Studies) -> None:
    come_quietly(quiet, studies.open_link("long"))
    quiet.keyboard.press("7")
    expect(quiet.locator("[data-place=second][data-rank='2'].is-done")).to_be_visible()
    expect(quiet.locator("#missing")).to_contain_text("1 of 11 heard")
    quiet.keyboard.press("ArrowRight")
    quiet.locator("#comment-box summary").click()
    quiet.fill("#comment", "half a thought")
    before = shown(quiet)
    quiet.reload()
    quiet.wait_for_selector(READY)
    assert shown(quiet) == before
    expect(quiet.locator("[data-place=second][data-rank='2'].is-done")).to_be_visible()
    expect(quiet.get_by_role("radio", name="B is better")).to_be_checked()
    expect(quiet.locator("#comment")).to_have_value("half a thought")


def test_every_clip_has_a_key_and_an_answer_needs_them_all(quiet: Page, studies: Studies) -> None:
    come_quietly(quiet, studies.open_link("long"))
    expect(quiet.locator("#heading")).to_be_focused()
    quiet.keyboard.press("Enter")
    expect(quiet.locator("#live")).to_contain_text("Still to hear: Query; List A, result 1")
    for key, place, rank in [("q", "query", 0), *((str(n), "first", n) for n in range(1, 6))]:
        quiet.keyboard.press(key)
        expect(quiet.locator(f"[data-place={place}][data-rank='{rank}'].is-done")).to_be_visible()
    assert quiet.evaluate("document.querySelectorAll('.track.is-playing').length") <= 1
    expect(quiet.locator("#live")).to_contain_text("Playing: List A, result 5")
    quiet.keyboard.press("n")  # the next clip, in the other list
    expect(quiet.locator("[data-place=second][data-rank='1'].is-done")).to_be_visible()
    for key in "7890":
        quiet.keyboard.press(key)
        expect(quiet.locator("[data-place=second].is-done")).to_have_count(2 + "7890".index(key))
    expect(quiet.locator("#missing")).to_have_text("Choose an answer")
    for arrow, name in [
        ("Left", "A is better"),
        ("Right", "B is better"),
        ("Up", "Both are good"),
        ("Down", "Both are bad"),
    ]:
        quiet.keyboard.press(f"Arrow{arrow}")
        expect(quiet.get_by_role("radio", name=name)).to_be_checked()
    quiet.locator("#seek").focus()
    quiet.keyboard.press("ArrowLeft")  # moves through the clip
    expect(quiet.get_by_role("radio", name="Both are bad")).to_be_checked()
    quiet.keyboard.press("?")
    expect(quiet.get_by_role("dialog", name="How it works")).to_be_visible()
    is_accessible(quiet)
    quiet.keyboard.press("Escape")
    quiet.keyboard.press("k")
    expect(quiet.get_by_role("dialog", name="Why skip this one?")).to_be_visible()
    quiet.keyboard.press("Escape")
    quiet.locator("#heading").focus()
    send(quiet)
    all_sent(quiet)
    expect(quiet.locator("#progress-words")).to_have_text("Question 2 of 2")
    expect(quiet.locator("#heading")).to_be_focused()


def test_a_list_is_played_through(quiet: Page, studies: Studies) -> None:
    come_quietly(quiet, studies.open_link("long"))
    quiet.get_by_role("button", name="Play through: List B").click()
    until(quiet, "document.querySelectorAll('[data-place=second].is-done').length === 5")
    expect(quiet.locator(".track.is-playing")).to_have_count(0)
    expect(quiet.locator("[data-place=first].is-done")).to_have_count(0)


def test_a_clip_that_does_not_come_is_told_and_its_question_skipped(quiet: Page, studies: Studies) -> None:
    quiet.route("**/media/*", lambda route: route.fulfill(status=404))
    come_quietly(quiet, studies.open_link("long"))
    quiet.keyboard.press("3")
    broken = quiet.locator("[data-place=first][data-rank='3']")
    expect(broken).to_contain_text("This clip cannot be played.")
    expect(quiet.locator("#live")).to_contain_text("List A, result 3: This clip cannot be played.")
    is_accessible(quiet)
    quiet.unroute("**/media/*")
    broken.get_by_role("button", name="Try again: List A, result 3").click()
    expect(quiet.locator("[data-place=first][data-rank='3'].is-done")).to_be_visible()
    before = shown(quiet)
    quiet.evaluate("localStorage.removeItem('adjudge.by-itself')")
    quiet.keyboard.press("k")
    expect(quiet.get_by_role("radio", name="A clip is broken or silent")).to_be_checked()
    quiet.keyboard.press("Enter")
    expect(quiet.locator("#heading")).to_be_focused()
    until(quiet, "document.querySelector('.track.is-playing, .track.is-done')")  # by itself, as after an answer
    all_sent(quiet)
    assert shown(quiet) != before
    assert "skip" in {row["kind"] for row in studies.rows("SELECT kind FROM answer")}


@pytest.mark.parametrize(("width", "height", "scheme"), [(320, 568, "light"), (1280, 860, "dark")])
def test_the_page_is_accessible(browser: Browser, studies: Studies, width: int, height: int, scheme: str) -> None:
    small = width < 500
    opened = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if scheme == "dark" else "light",
        has_touch=small,
        is_mobile=small,
        locale="en-GB",
    )
    opened.add_init_script(FASTER)
    page = opened.new_page()
    begin(page, studies.open_link("long"))
    hear(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert too_small(page) == []
    is_accessible(page)
    page.keyboard.press("ArrowUp")
    is_accessible(page)
    send(page)
    hear(page)
    both_bad = page.get_by_role("radio", name="Both are bad")
    both_bad.tap() if small else both_bad.click()
    send(page)
    all_sent(page)
    expect(page.get_by_role("heading", name="Thank you!")).to_be_visible()
    expect(page.get_by_text("you can close this page")).to_be_visible()
    expect(code(page)).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    is_accessible(page)
    opened.close()


def too_small(page: Page) -> list[str]:
    """What is pressed and lower than a finger."""
    found: list[str] = page.evaluate(
        "[...document.querySelectorAll('#question button, #question label.answer')].filter((one) => one.offsetParent"
        " && one.getBoundingClientRect().height < 43.9).map((one) => one.textContent)"
    )
    return found


def test_a_link_that_does_not_say_who_comes_is_told_so(page: Page, studies: Studies) -> None:
    before = studies.rows("SELECT count(*) AS n FROM participant")
    page.goto(f"{studies.url}/i/{studies.links['study']}?STUDY_ID=study1")
    expect(page.get_by_role("heading", name="Please come in by the study’s own link")).to_be_visible()
    expect(page.get_by_text("Go back to Prolific")).to_be_visible()
    is_accessible(page)
    assert studies.rows("SELECT count(*) AS n FROM participant") == before


def test_without_consent_nothing_is_stored(page: Page, studies: Studies, who: str) -> None:
    page.goto(studies.recruited(who))
    page.get_by_role("link", name="Deutsch").click()
    expect(page.get_by_role("button", name="Beginnen")).to_be_visible()  # the page in the other language is there
    page.locator("[name=consent]").evaluate("box => { box.required = false; }")
    page.get_by_role("button", name="Beginnen").click()
    expect(page.get_by_role("alert")).to_contain_text("bestätigen Sie Ihr Einverständnis")
    assert studies.person(who) == []
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Beginnen").click()  # what the recruiter's link said came through the form
    page.wait_for_url("**/prefer")
    expect(page.locator("#heading")).to_have_text("Welche Liste passt besser zur Anfrage?")
    (person,) = studies.person(who)
    assert sorted(json.loads(person["recruited"])) == ["PROLIFIC_PID", "SESSION_ID", "STUDY_ID"]


def test_each_kind_of_campaign_has_its_page(browser: Browser, studies: Studies) -> None:
    for name, own, other in (("long", "/prefer", "/judge"), ("judging", "/judge", "/prefer")):
        opened = browser.new_context(locale="en-GB")
        page = opened.new_page()
        page.goto(studies.open_link(name))
        page.get_by_role("button", name="Start", exact=True).click()
        page.wait_for_url(f"**{own}")
        page.goto(studies.url + other)
        assert page.url == studies.url + own
        resume = page.locator("#resume").input_value()
        page.goto(studies.url + resume[resume.index("/r/") :])
        assert page.url == studies.url + own
        page.goto(f"{studies.url}/privacy")
        expect(page.get_by_role("link", name=re.compile("^Back to"))).to_have_attribute("href", own)
        opened.close()


def test_another_window_goes_on_with_the_next_question(quiet: Page, context: BrowserContext, studies: Studies) -> None:
    come_quietly(quiet, studies.open_link("long"))
    second = context.new_page()
    second.add_init_script("localStorage.setItem('adjudge.by-itself', 'no')")
    second.goto(f"{studies.url}/prefer")
    second.wait_for_selector(READY)
    before = shown(second)
    quiet.bring_to_front()
    hear(quiet)
    quiet.keyboard.press("ArrowLeft")
    send(quiet)
    all_sent(quiet)
    until(second, f"document.querySelector('#question').dataset.number !== '1' && {json.dumps(before)} !== ''")
    assert shown(second) == shown(quiet)
    assert shown(second) != before
    expect(second.locator("#told")).to_contain_text("another window")


ANSWER_ELSEWHERE = """async () => {
  const csrf = document.querySelector("meta[name=csrf]").content;
  const headers = {"Content-Type": "application/json", "X-CSRF-Token": csrf};
  const {question} = await (await fetch("/api/preference")).json();
  const long = (list) => list.map(() => 1200);
  const heard = {query_ms: 1200, first_ms: long(question.first), second_ms: long(question.second)};
  const body = JSON.stringify({lease: question.lease, key: "from-elsewhere", choice: "good", heard});
  return (await fetch("/api/preference/answers", {method: "POST", headers, body})).status;
}"""


def test_an_answer_that_was_given_elsewhere_is_told_once_and_not_sent_again(quiet: Page, studies: Studies) -> None:
    come_quietly(quiet, studies.open_link("long"))
    hear(quiet)
    before = shown(quiet)
    assert quiet.evaluate(ANSWER_ELSEWHERE) == 200
    replies: list[int] = []
    asked: list[str] = []
    quiet.on("response", lambda reply: replies.append(reply.status) if "/api/preference/answers" in reply.url else None)
    quiet.on("request", lambda one: asked.append(one.url) if one.url.endswith("/api/preference") else None)
    quiet.keyboard.press("ArrowLeft")
    send(quiet)
    expect(quiet.locator("#told")).to_contain_text("You answered this question already")
    until(quiet, "document.querySelector('#banner').hidden")
    all_sent(quiet)
    expect(quiet.locator("#question")).to_be_visible()
    assert shown(quiet) != before
    quiet.wait_for_timeout(2500)  # longer than the first pause before anything is tried again
    assert replies == [409]
    assert asked, "what there is to do was not asked for again"
    quiet.reload()
    quiet.wait_for_selector(READY)
    quiet.wait_for_timeout(500)
    assert replies == [409]
    expect(quiet.locator("#told")).to_be_hidden()
    (person,) = quiet.locator(".judge-foot").all_inner_texts()
    code_of = re.search(r"You are (\S+)", person)
    assert code_of is not None
    stored = studies.rows(
        "SELECT grades FROM answer JOIN participant ON participant.id = answer.participant_id"
        " WHERE participant.code = ? AND participant.campaign_id = (SELECT id FROM campaign WHERE name = 'long')",
        code_of[1],
    )
    assert [json.loads(row["grades"])["choice"] for row in stored] == ["good"]


def test_lists_of_texts_are_read_and_compared(page: Page, studies: Studies) -> None:
    come_quietly(page, studies.open_link("texts"))
    expect(page.get_by_role("group", name="List A, result 1")).to_contain_text("words about")
    expect(page.locator("#transport")).to_be_hidden()
    expect(page.locator("#missing")).to_have_text("Choose an answer")
    is_accessible(page)
    page.set_viewport_size({"width": 320, "height": 568})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    is_accessible(page)
    page.keyboard.press("ArrowDown")
    expect(page.locator("#missing")).to_have_text("Ready to send")
    send(page)
    all_sent(page)
    expect(page.locator("#progress-words")).to_have_text("Question 2 of 2")


def test_links_are_opened_not_heard(page: Page, context: BrowserContext, studies: Studies) -> None:
    context.route("**/elsewhere/**", lambda route: route.fulfill(body="there"))
    come_quietly(page, studies.open_link("links"))
    missing, live = page.locator("#missing"), page.locator("#live")
    expect(missing).to_contain_text("0 of 4 opened")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(live).to_contain_text("Still to open: Query")
    is_accessible(page)
    page.set_viewport_size({"width": 320, "height": 568})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    for link in page.get_by_role("link", name="Open in a new tab").all():
        with context.expect_page() as tab:
            link.click()
        tab.value.close()
    expect(missing).to_have_text("Ready to send")
    expect(live).to_contain_text("All opened.")


@pytest.mark.parametrize("language", ["de", "es", "fr"])
def test_the_bar_fits_a_small_phone_in_every_language(browser: Browser, studies: Studies, language: str) -> None:
    opened = browser.new_context(viewport={"width": 320, "height": 568}, locale=language, has_touch=True)
    page = opened.new_page()
    page.add_init_script("localStorage.setItem('adjudge.by-itself', 'no')")
    page.goto(studies.open_link("long"))
    page.locator("form .button.primary").click()
    page.wait_for_selector(READY)
    ends: list[tuple[float, float]] = page.evaluate(
        "['.send-bar', '.send-bar .quiet', '#missing', '#send'].map((one) => {"
        " const box = document.querySelector(one).getBoundingClientRect(); return [box.left, box.right]; })"
    )
    bar, skip, missing, sending = ends
    assert bar[0] <= skip[0]
    assert skip[1] <= missing[0]
    assert missing[1] <= sending[0]
    assert sending[1] <= bar[1] + 0.5
    opened.close()


def test_nothing_says_which_list_is_which(page: Page, studies: Studies, who: str) -> None:
    with page.expect_response("**/api/preference") as response:
        begin(page, studies.recruited(who))
    told = response.value.text()
    assert not re.search(r"\b((un)?fit\d|trap|expected|swapped)", told)  # as words: addresses are drawn
    assert fitting(page, studies) in ("first", "second")
