"""An organiser at work, in a real browser: from the login to the report, with assessors who come through the interface.

The organiser never loads the dashboard again: what changes on it came over its stream.
"""

from __future__ import annotations

import io
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import soundfile
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect
from tests.web.conftest import CampaignServer
from tests.web.near import NearServer

from adjudge.web.settings import Settings
from adjudge.web.store.database import open_database
from adjudge.web.store.people import add_organiser

LOGIN, PASSWORD = "carla", "correct horse battery"
QUERIES = ("q1", "q2", "q3", "q4")
GOOD = ("a", "b", "c")
POOR = ("d", "e", "f")
PHONE = {"width": 390, "height": 844}


def a_clip(path: Path, hertz: float) -> None:
    """A second of a tone."""
    seconds = np.arange(22_050) / 22_050
    soundfile.write(path, 0.3 * np.sin(2 * np.pi * hertz * seconds), 22_050)


@pytest.fixture
def files(tmp_path: Path) -> tuple[list[Path], list[Path]]:
    """Runs of a good system and a poor one, and a clip for each query and document."""
    folder = tmp_path / "files"
    folder.mkdir()
    runs = []
    for system, documents in (("good", GOOD), ("poor", POOR)):
        path = folder / f"{system}.txt"
        lines = (
            f"{query} Q0 {query}-{document} {rank} {9 - rank} {system}\n"
            for query in QUERIES
            for rank, document in enumerate(documents, start=1)
        )
        path.write_text("".join(lines))
        runs.append(path)
    clips = []
    for number, query in enumerate(QUERIES):
        for place, name in enumerate((query, *(f"{query}-{document}" for document in GOOD + POOR))):
            clips.append(folder / f"{name}.wav")
            a_clip(clips[-1], 220.0 + 40 * number + 15 * place)
    return runs, clips


@pytest.fixture
def empty_server(tmp_path: Path, near_server: Callable[[Path], NearServer]) -> NearServer:
    """A server with an organiser and nothing else."""
    data = tmp_path / "empty"
    settings = Settings(data=data)
    database = open_database(settings)
    with database.write() as connection:
        add_organiser(connection, login=LOGIN, password=PASSWORD, is_admin=False, now=time.time())
    database.close()
    return near_server(data)


def log_in(page: Page, url: str, login: str = LOGIN, password: str = PASSWORD) -> None:
    page.goto(f"{url}/login")
    page.get_by_label("Login").fill(login)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click()


class Assessor:
    """Somebody who judges through the interface, as the judging page does."""

    def __init__(self, link: str, name: str) -> None:
        base, _, token = link.partition("/i/")
        self.http = httpx.Client(base_url=base, timeout=300)
        joined = self.http.post("/api/join", json={"invitation": token, "name": name, "consent": True}).json()
        self.code: str = joined["participant"]["code"]
        self.http.cookies.clear()
        self.http.headers["Authorization"] = f"Bearer {joined['token']}"
        self.sent = 0

    def desk(self) -> dict[str, Any]:
        found: dict[str, Any] = self.http.get("/api/judging").json()
        return found

    def answer(self, grade: Callable[[int], float]) -> bool:
        """Answer one question; False where there is none."""
        desk = self.desk()
        if desk["question"] is None:
            return False
        self.sent += 1
        grades = {}
        for scale in desk["scales"]:
            share = grade(self.sent)
            levels = round((scale["maximum"] - scale["minimum"]) / scale["step"])
            grades[scale["name"]] = scale["minimum"] + scale["step"] * round(share * levels)
        body = {
            "lease": desk["question"]["lease"],
            "key": f"{self.code}-{self.sent:08}",
            "grades": grades,
            "heard": {"query_ms": 60_000, "candidate_ms": 60_000},
            "took_ms": 9000,
        }
        answered = self.http.post("/api/judging/answers", json=body)
        assert answered.status_code == 200, answered.text
        return True

    def skip(self, comment: str) -> None:
        desk = self.desk()
        body = {"lease": desk["question"]["lease"], "key": f"{self.code}-skip-{self.sent}", "reason": "broken"}
        assert self.http.post("/api/judging/skips", json={**body, "comment": comment}).status_code == 200


@pytest.fixture
def assessor() -> Iterator[Callable[[str, str], Assessor]]:
    """Let somebody join: ``assessor(link, name)``."""
    joined: list[Assessor] = []

    def join(link: str, name: str) -> Assessor:
        joined.append(Assessor(link, name))
        return joined[-1]

    yield join
    for one in joined:
        one.http.close()


def assert_accessible(page: Page) -> None:
    found = Axe().run(page).response["violations"]
    told = [(one["id"], [node["target"] for node in one["nodes"]][:3]) for one in found]
    assert not told, f"{page.url}: {told}"


def assert_fits(page: Page) -> None:
    """Nothing is wider than the screen."""
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1"), page.url


def create_campaign(page: Page) -> None:
    """Fill in the form of a new campaign."""
    page.get_by_role("link", name="Create the first campaign").click()
    page.get_by_role("link", name="Judge documents").click()
    page.get_by_label("Title", exact=True).fill("Spring: which is better?")
    expect(page.get_by_label("Name", exact=True)).to_have_value("spring-which-is-better")
    page.get_by_label("Name", exact=True).fill("spring")
    page.get_by_label("Measure").fill("CG@3")
    page.get_by_label("Seconds to listen").fill("0.5")
    page.get_by_label("Asked again, in %").fill("0")
    page.get_by_label("Probability in percent that an order is right").fill("90")
    page.get_by_label("Instructions, English", exact=True).fill("Listen **well**.")
    expect(page.locator("[data-preview-of=instructions_en] strong")).to_have_text("well")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_text("It is a draft")).to_be_visible()


def bring_files(page: Page, runs: list[Path], clips: list[Path]) -> None:
    """Runs, then all clips but one, then a broken one, then that one."""
    page.locator("#runs").set_input_files(runs)
    page.get_by_role("button", name="Upload the runs").click()
    expect(page.get_by_text("2 systems with 4 queries: 24 pairs to judge at most.")).to_be_visible()
    expect(page.get_by_text("28 of 28 documents and queries still need")).to_be_visible()
    upload = page.get_by_role("button", name="Upload", exact=True)
    page.locator("#files").set_input_files(clips[1:])
    upload.click()
    expect(page.get_by_text("1 of 28 documents and queries still needs")).to_be_visible()
    expect(page.get_by_role("button", name="Open the campaign")).to_have_count(0)
    page.locator("#files").set_input_files(
        {"name": clips[0].name, "mimeType": "audio/wav", "buffer": b"RIFF, but no sound at all"}
    )
    upload.click()
    expect(page.get_by_label("Problems")).to_contain_text(clips[0].stem)
    assert_accessible(page)
    page.locator("#files").set_input_files(clips[0])
    upload.click()
    expect(page.get_by_text("All 28 documents and queries can be heard")).to_be_visible()


def judge_to_the_end(ann: Assessor) -> None:
    """Answer until no more is wanted, and that stands: the last answer may take the goal out of reach again."""
    end, quiet = time.monotonic() + 600, 0
    while time.monotonic() < end and quiet < 15:
        if ann.answer(lambda n: 0.1 + 0.2 * (n % 5)):
            quiet = 0
            continue
        quiet = quiet + 1 if ann.desk()["why"] in ("reached", "nothing_left") else 0
        time.sleep(0.2)
    assert quiet == 15, "there was no end of questions"


def test_a_campaign_from_an_empty_server_to_its_report(
    page: Page,
    empty_server: NearServer,
    files: tuple[list[Path], list[Path]],
    assessor: Callable[[str, str], Assessor],
) -> None:
    log_in(page, empty_server.url)
    create_campaign(page)
    bring_files(page, *files)
    page.get_by_role("button", name="Open the campaign").click()
    expect(page.locator("[data-state-badge]")).to_have_text("open")

    page.get_by_role("link", name="People").click()
    page.get_by_label("Names, one per line").fill("Ann\nBob")
    page.get_by_role("button", name="Make links").click()
    links = [box.input_value() for box in page.locator("[data-made] input").all()]
    assert len(links) == 2

    page.get_by_role("link", name="Live").click()
    expect(page.locator("[data-connection=live]")).to_be_visible()
    judged = page.locator("[data-tile=judged]")
    expect(judged).to_have_text("0")
    ann = assessor(links[0], "Ann")
    assert ann.answer(lambda n: 0.5)
    expect(judged).to_have_text("1")  # without loading the page again
    expect(page.get_by_role("row", name=re.compile("Ann"))).to_be_visible()

    reached = page.get_by_role("region", name="The goal is reached")
    expect(reached).to_be_hidden()
    judge_to_the_end(ann)
    expect(reached).to_be_visible()
    assert_accessible(page)
    reached.get_by_role("button", name="Close the campaign").click()
    closed = page.get_by_role("region", name="Closed")
    expect(closed).to_be_visible()
    expect(page.locator("[data-state-badge]")).to_have_text("closed")
    assert ann.desk()["why"] == "closed"
    closed.get_by_role("link", name="Read the report").click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert "good" in page.inner_text("body")


def test_the_ranking_moves_while_people_judge(
    page: Page, campaign_server: CampaignServer, assessor: Callable[[str, str], Assessor]
) -> None:
    log_in(page, campaign_server.url, campaign_server.login, campaign_server.password)
    page.goto(f"{campaign_server.url}/campaigns/{campaign_server.campaign}")
    rows = page.locator(".ranking tbody tr")
    expect(rows.first).to_be_visible()
    page.evaluate("window.notLoadedAgain = true")
    before = rows.all_inner_texts()
    ann = assessor(campaign_server.invitations[0], "Ann")
    rng = np.random.default_rng(3)
    for _ in range(8):
        ann.answer(lambda n: float(rng.uniform()))
    ann.skip("Only silence")
    expect(page.locator("[data-tile=judged]")).to_have_text("8")
    expect(page.get_by_text("Only silence")).to_be_visible()
    assert rows.all_inner_texts() != before
    scores = [float(text) for text in page.locator(".ranking tbody .strong").all_inner_texts()]
    assert scores == sorted(scores, reverse=True)
    assert page.evaluate("window.notLoadedAgain")

    page.get_by_role("button", name=re.compile("^Listen to")).click()
    expect(page.locator(".player audio")).to_have_count(2)
    page.get_by_role("button", name=re.compile("^Keep back")).click()
    expect(page.get_by_role("button", name=re.compile("^Put back"))).to_be_visible()


def test_the_dashboard_says_when_the_server_is_away_and_comes_back(page: Page, campaign_server: CampaignServer) -> None:
    log_in(page, campaign_server.url, campaign_server.login, campaign_server.password)
    page.goto(f"{campaign_server.url}/campaigns/{campaign_server.campaign}")
    expect(page.locator("[data-connection=live]")).to_be_visible()
    campaign_server.process.stop()  # streams are cut off
    expect(page.get_by_text("reconnecting")).to_be_visible()
    campaign_server.process.start()
    expect(page.locator("[data-connection=live]")).to_be_visible()


def test_a_wrong_password_and_a_name_that_is_taken(page: Page, campaign_server: CampaignServer) -> None:
    log_in(page, campaign_server.url, campaign_server.login, "not this one")
    expect(page.get_by_role("alert")).to_contain_text("There is no such login, or its password is another one.")
    assert_accessible(page)
    page.get_by_label("Password").fill(campaign_server.password)
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("link", name="New campaign").click()
    page.get_by_role("link", name="Judge documents").click()
    page.get_by_label("Title", exact=True).fill("Twice")
    page.get_by_label("Name", exact=True).fill(campaign_server.campaign)
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("alert")).to_contain_text("already")
    expect(page.get_by_label("Title", exact=True)).to_have_value("Twice")


def test_an_assessor_is_erased_with_a_receipt(
    page: Page, campaign_server: CampaignServer, assessor: Callable[[str, str], Assessor]
) -> None:
    ann = assessor(campaign_server.invitations[0], "Annabella")
    ann.answer(lambda n: 0.5)
    log_in(page, campaign_server.url, campaign_server.login, campaign_server.password)
    page.goto(f"{campaign_server.url}/campaigns/{campaign_server.campaign}/people")
    page.get_by_role("link", name=f"Erase {ann.code}").click()
    assert_accessible(page)
    page.get_by_label("Remove everything").check()
    page.get_by_role("button", name=f"Erase {ann.code}").click()
    receipt = page.locator("[data-receipt]")
    expect(receipt).to_contain_text("Answers removed")
    expect(receipt).to_contain_text(re.compile("[0-9a-f]{64}"))
    assert "Annabella" not in page.content()
    assert_accessible(page)
    assert ann.http.get("/api/judging").status_code == 410


def test_dangerous_things_are_asked_about_first(page: Page, campaign_server: CampaignServer) -> None:
    log_in(page, campaign_server.url, campaign_server.login, campaign_server.password)
    page.goto(f"{campaign_server.url}/campaigns/{campaign_server.campaign}/set-up")
    page.get_by_role("button", name="Close").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    assert_accessible(page)
    dialog.get_by_role("button", name="Not now").click()
    expect(page.locator("[data-state-badge]")).to_have_text("open")
    page.get_by_role("button", name="Pause").click()
    dialog.get_by_role("button", name="Pause").click()
    expect(page.locator("[data-state-badge]")).to_have_text("paused")


@pytest.mark.parametrize(("scheme", "viewport"), [("light", {"width": 1280, "height": 860}), ("dark", PHONE)])
def test_every_page_is_accessible_and_fits(
    browser: Browser,
    campaign_server: CampaignServer,
    assessor: Callable[[str, str], Assessor],
    scheme: Any,
    viewport: Any,
) -> None:
    ann = assessor(campaign_server.invitations[0], "Ann")
    for _ in range(3):
        ann.answer(lambda n: 0.2 * n)
    ann.skip("Only silence")
    context = browser.new_context(viewport=viewport, color_scheme=scheme, reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"{campaign_server.url}/login")
    assert_accessible(page)
    log_in(page, campaign_server.url, campaign_server.login, campaign_server.password)
    own = f"/campaigns/{campaign_server.campaign}"
    rest = ("", "/set-up", "/settings", "/people", f"/people/erase?code={ann.code}", "/judgments")
    for address in (
        "/",
        "/campaigns/new",
        "/campaigns/new?kind=judging",
        "/account",
        *(f"{own}{part}" for part in rest),
    ):
        page.goto(f"{campaign_server.url}{address}")
        if address == own:
            expect(page.locator(".ranking tbody tr").first).to_be_visible()
        assert_accessible(page)
        assert_fits(page)
    context.close()


def test_pages_work_without_scripts_and_the_dashboard_says_that_it_needs_them(
    browser: Browser, campaign_server: CampaignServer
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    log_in(page, campaign_server.url, campaign_server.login, campaign_server.password)
    page.goto(f"{campaign_server.url}/campaigns/{campaign_server.campaign}")
    assert "<noscript><p" in page.content()  # chromium keeps it hidden when a driver turns scripts off
    page.get_by_role("link", name="People").click()
    page.get_by_label("Names, one per line").fill("Zoe")
    page.get_by_role("button", name="Make links").click()
    expect(page.locator("[data-made]")).to_contain_text("Zoe")
    context.close()


def test_a_token_is_made_copied_and_used(page: Page, campaign_server: CampaignServer) -> None:
    log_in(page, campaign_server.url, campaign_server.login, campaign_server.password)
    page.goto(f"{campaign_server.url}/account")
    page.get_by_label("Name").fill("notebook")
    page.get_by_role("button", name="Make a token").click()
    token = page.get_by_label("The new token").input_value()
    listed = httpx.get(f"{campaign_server.url}/api/campaigns", headers={"Authorization": f"Bearer {token}"})
    assert campaign_server.campaign in [one["name"] for one in listed.json()["campaigns"]]
    assert_accessible(page)


def test_judgments_are_imported_in_the_browser(
    page: Page, campaign_server: CampaignServer, assessor: Callable[[str, str], Assessor]
) -> None:
    log_in(page, campaign_server.url, campaign_server.login, campaign_server.password)
    assessor(campaign_server.invitations[0], "Ann").answer(lambda n: 0.5)
    page.goto(f"{campaign_server.url}/campaigns/{campaign_server.campaign}/judgments")
    with page.expect_download() as taken:
        page.get_by_role("link", name="Judgments, fine as TREC").click()
    qrels = io.BytesIO(Path(taken.value.path()).read_bytes())
    assert qrels.getvalue().count(b"\n") == 1
    page.get_by_label("File", exact=True).set_input_files(
        {"name": "elsewhere.txt", "mimeType": "text/plain", "buffer": qrels.getvalue()}
    )
    page.get_by_label("Grades are on").select_option("fine")
    page.get_by_role("button", name="Import").click()
    expect(page.get_by_role("row", name=re.compile("import"))).to_have_count(1)


HEADLINE = 'async (picture) => (await import("/static/judging/goal.js")).headline(picture)'


def test_what_is_saved_is_a_forecast_until_the_goal_is_reached(page: Page, empty_server: NearServer) -> None:
    page.goto(f"{empty_server.url}/login")
    status = {"kind": "confidence", "judged": 0, "candidates": 52, "done": False}
    picture = {"status": status, "projection": {"remaining": 36, "low": 20, "high": 52}, "saved": 16}
    said = page.evaluate(HEADLINE, picture).replace("\u2060", "")
    assert said == "0 of 52 judged; about 36 more to the goal (20–52); that would save 16 judgments"
    reached = {**picture, "status": {**status, "judged": 36, "done": True}}
    assert page.evaluate(HEADLINE, reached) == "36 of 52 judged; the goal is reached; 16 judgments saved"
    closed = page.evaluate(HEADLINE, {**picture, "campaign": {"state": "closed"}})
    assert closed == "0 of 52 judged; closed before the goal was reached"


def test_pages_fit_the_smallest_phone(page: Page, empty_server: NearServer) -> None:
    page.set_viewport_size({"width": 320, "height": 568})
    log_in(page, empty_server.url)
    expect(page.get_by_role("button", name="Log out")).to_be_visible()
    for address in ("/", "/campaigns/new", "/campaigns/new?kind=judging", "/account"):
        page.goto(f"{empty_server.url}{address}")
        assert_fits(page)
        assert_accessible(page)
        boxes = [page.locator(part).bounding_box() for part in (".brand", ".masthead-actions")]
        assert boxes[0] is not None
        assert boxes[1] is not None
        assert boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"] + 1, "the name covers the way around"


def test_a_server_without_organisers_says_so_accessibly(
    page: Page, tmp_path: Path, near_server: Callable[[Path], NearServer]
) -> None:
    page.goto(near_server(tmp_path / "new").url)
    expect(page.get_by_role("heading", name="This server has no organiser yet")).to_be_visible()
    assert_accessible(page)
