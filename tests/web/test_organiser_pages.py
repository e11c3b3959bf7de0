"""The organisers' pages in process: what they show, what they store, whom they refuse."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.web.conftest import SmallCampaign

from adjudge.web.campaigns import find_campaign, list_campaigns
from adjudge.web.database import Database
from adjudge.web.people import add_organiser, list_tokens
from adjudge.web.settings import Settings

PASSWORD = "correct horse battery"
RUNS = "".join(
    f"{query} Q0 {query}-{document} {rank} {10 - rank} {system}\n"
    for system, order in (("up", "abc"), ("down", "cba"))
    for query in ("q1", "q2")
    for rank, document in enumerate(order, start=1)
)


class Visitor:
    """Somebody at a browser without scripts: follows links, sends forms with the token of the page they are on."""

    def __init__(self, client: TestClient) -> None:
        self.client = client
        self.page = ""
        self.status = 0
        self.address = ""

    def get(self, address: str) -> str:
        return self._keep(self.client.get(address))

    def send(self, address: str, *, csrf: str | None = None, files: Any = None, **fields: Any) -> str:
        if csrf is None:
            found = re.search(r'name="csrf" value="([^"]*)"', self.page)
            csrf = found[1] if found else ""
        data = {"csrf": csrf, **fields}
        return self._keep(self.client.post(address, data=data, files=files))

    def log_in(self, login: str, password: str = PASSWORD, after: str = "/") -> str:
        self.get(f"/login?next={after}")
        return self.send("/login", login=login, password=password, next=after)

    def _keep(self, response: Any) -> str:
        self.page = response.text
        self.status = response.status_code
        self.address = str(response.url)
        return self.page

    @property
    def words(self) -> str:
        """The page as it is read."""
        text = re.sub(r"<script.*?</script>|<[^>]+>", " ", self.page, flags=re.DOTALL)
        return " ".join(html.unescape(text).split())


@pytest.fixture
def visitor(client: TestClient) -> Visitor:
    return Visitor(client)


@pytest.fixture
def carla(visitor: Visitor, database: Database, settings: Settings) -> Visitor:
    """An organiser who is logged in."""
    with database.write() as connection:
        add_organiser(connection, login="carla", password=PASSWORD, is_admin=False, now=settings.clock())
    visitor.log_in("carla")
    assert visitor.status == 200
    return visitor


@pytest.fixture
def owner(visitor: Visitor, small_campaign: Callable[..., SmallCampaign]) -> Visitor:
    """The organiser of a small campaign called 'small' that is open."""
    made = small_campaign("small", listen_seconds=0, goal={"kind": "everything"}, repeat_share=0)
    visitor.log_in(made.login, made.password)
    return visitor


def new_campaign(**changed: Any) -> dict[str, Any]:
    """What a browser sends for a new campaign."""
    return {
        "name": "spring",
        "title": "Spring",
        "contact": "",
        "scales": "fine",
        "own_minimum": "0",
        "own_maximum": "4",
        "own_step": "1",
        "measure": "CG@3",
        "listen_seconds": "0",
        "goal": "tau",
        "level_confidence": "95",
        "level_pairs": "95",
        "level_tau": "0.8",
        "level_error": "0.05",
        "zone": "0.02",
        "stop_when_reached": "yes",
        "judged_by": "3",
        "agreement_share": "25",
        "repeat_share": "10",
        "languages": ["en", "de"],
        "instructions_en": "Listen **well**.",
        "consent_en": "",
        **changed,
    }


def invitation_of(visitor: Visitor) -> str:
    found = re.search(r"/i/([\w.-]+)", visitor.page)
    assert found is not None
    return found[1]


def join(client: TestClient, invitation: str, **told: object) -> TestClient:
    """Another browser, in which somebody joined."""
    other = TestClient(client.app, base_url="http://127.0.0.1:8000")
    joined = other.post("/api/join", json={"invitation": invitation, "consent": True, **told})
    assert joined.status_code == 201, joined.text
    other.cookies.clear()
    other.headers["Authorization"] = f"Bearer {joined.json()['token']}"
    return other


def answer(assessor: TestClient, number: int, *, fine: float = 50.0, **more: object) -> None:
    """Answer so many questions."""
    for n in range(number):
        desk = assessor.get("/api/judging").json()
        grades = {"broad": 1.0, "fine": fine}
        body = {"lease": desk["question"]["lease"], "key": f"key-{n:04}-{id(assessor)}", "grades": grades, **more}
        assert assessor.post("/api/judging/answers", json=body).status_code == 200


def test_a_new_server_says_how_to_make_its_first_organiser(visitor: Visitor) -> None:
    visitor.get("/")
    assert "adjudge campaign user add LOGIN" in visitor.words
    assert "<form" not in visitor.page  # nobody registers by themselves


def test_who_is_not_logged_in_is_led_to_the_login_and_back(carla: Visitor) -> None:
    carla.client.cookies.clear()
    carla.get("/account")
    assert "/login?next=/account" in carla.address
    carla.log_in("carla", after="/account")
    assert carla.address.endswith("/account")
    assert "Account of carla" in carla.words


@pytest.mark.parametrize(
    "elsewhere", ["https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)"]
)
@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_the_login_leads_to_no_other_site(carla: Visitor, elsewhere: str) -> None:
    carla.client.cookies.clear()
    carla.get("/login")
    carla.send("/login", login="carla", password=PASSWORD, next=elsewhere)
    assert carla.address == "http://127.0.0.1:8000/"


def test_a_wrong_password_is_refused_in_words_that_tell_nothing(carla: Visitor) -> None:
    carla.client.cookies.clear()
    carla.log_in("carla", "wrong")
    wrong = (carla.status, re.sub(r"value=\S+", "", carla.page))
    carla.log_in("nobody", "wrong")
    assert (carla.status, re.sub(r"value=\S+", "", carla.page)) == wrong
    assert carla.status == 401
    assert "There is no such login, or its password is another one." in carla.words
    carla.get("/account")
    assert "/login" in carla.address


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_too_many_wrong_passwords_have_to_wait(carla: Visitor) -> None:
    carla.client.cookies.clear()
    carla.get("/login")
    for _ in range(20):
        carla.send("/login", login="carla", password="wrong", next="/")
        if carla.status == 429:
            break
    assert carla.status == 429
    assert "again" in carla.words


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_a_login_form_of_another_site_does_not_log_in(carla: Visitor) -> None:
    carla.client.cookies.clear()
    carla.send("/login", csrf="made-up", login="carla", password=PASSWORD, next="/")
    assert carla.status == 403
    assert "adjudge_organiser" not in carla.client.cookies


def test_logging_out_ends_the_login(carla: Visitor) -> None:
    kept = dict(carla.client.cookies)
    carla.get("/")
    carla.send("/logout")
    assert "You are logged out." in carla.words
    carla.client.cookies.update(kept)
    carla.get("/account")
    assert "/login" in carla.address


def test_an_empty_list_tells_how_to_begin(carla: Visitor) -> None:
    carla.get("/")
    assert "Create the first campaign" in carla.words
    assert "adjudge campaign create" in carla.words


def test_a_campaign_is_made_as_it_was_filled_in(carla: Visitor, database: Database) -> None:
    carla.get("/campaigns/new")
    carla.send("/campaigns/new", **new_campaign())
    assert carla.address.startswith("http://127.0.0.1:8000/campaigns/spring/set-up")
    with database.read() as connection:
        made = find_campaign(connection, "spring")
    settings = made.settings
    assert made.state == "draft"
    assert [scale.name for scale in settings.scales] == ["fine"]
    assert (settings.goal.kind, settings.goal.level, settings.goal.zone) == ("tau", 0.8, 0.02)
    assert (settings.judged_by, settings.agreement_share, settings.repeat_share) == (3, 0.25, 0.1)
    assert settings.languages == ("en", "de")
    assert settings.instructions == {"en": "Listen **well**."}
    assert settings.consent == {}


def test_a_second_campaign_of_the_same_name_is_refused_and_nothing_written_is_lost(carla: Visitor) -> None:
    carla.get("/campaigns/new")
    carla.send("/campaigns/new", **new_campaign())
    carla.get("/campaigns/new")
    carla.send("/campaigns/new", **new_campaign(title="Another", instructions_en="Long & careful <words>"))
    assert carla.status == 409
    assert "There is a campaign called 'spring' already." in carla.words
    assert 'value="Another"' in carla.page
    assert "Long &amp; careful &lt;words&gt;</textarea>" in carla.page


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"name": "No Spaces"}, "lower-case letters"),
        ({"measure": "QQ@5"}, "QQ"),
        ({"title": ""}, "Title:"),
        ({"judged_by": "1.5"}, "whole number"),
        ({"judged_by": "many"}, "Expected a number as the number of assessors"),
        ({"goal": "tau", "level_tau": "1.5"}, "level"),
        ({"goal": "luck"}, "expected one of"),
        ({"agreement_share": "0"}, "Of so many % of the pairs:"),
        ({"scales": "own", "own_minimum": "1", "own_maximum": "4"}, "Expected a scale"),
        ({"scales": "own", "own_step": "inf"}, "Expected a number as the step"),
        ({"scales": "sevenfold"}, "Expected one of the scales"),
        ({"languages": []}, "Languages:"),
        ({"zone": "nan"}, "Expected a number"),
    ],
)
@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_a_field_that_is_wrong_is_named_and_nothing_is_stored(
    carla: Visitor, database: Database, wrong: dict[str, Any], said: str
) -> None:
    carla.get("/campaigns/new")
    carla.send("/campaigns/new", **new_campaign(**wrong))
    assert carla.status == 422
    assert said in carla.words
    with database.read() as connection:
        assert list_campaigns(connection) == []


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_a_scale_of_ones_own_is_kept_when_other_settings_change(carla: Visitor, database: Database) -> None:
    carla.get("/campaigns/new")
    carla.send("/campaigns/new", **new_campaign(scales="own", own_minimum="0", own_maximum="2", own_step="0.5"))
    carla.get("/campaigns/spring/settings")
    assert re.search(r'value="own"\s+checked', carla.page)
    assert 'name="own_step" value="0.5"' in carla.page
    changed = new_campaign(scales="own", own_minimum="0", own_maximum="2", own_step="0.5", title="Summer")
    carla.send("/campaigns/spring/settings", **changed)
    assert "The settings are saved." in carla.words
    with database.read() as connection:
        settings = find_campaign(connection, "spring").settings
    assert settings.title == "Summer"
    assert [(scale.name, scale.step) for scale in settings.scales] == [("0..2", 0.5)]


def test_settings_that_the_form_does_not_show_stay(owner: Visitor, database: Database) -> None:
    with database.read() as connection:
        before = find_campaign(connection, "small").settings
    owner.get("/campaigns/small/settings")
    owner.send("/campaigns/small/settings", **new_campaign(scales="broad+fine", measure=before.measure))
    assert owner.status == 200
    with database.read() as connection:
        after = find_campaign(connection, "small").settings
    assert after.title == "Spring"
    for name in ("estimator", "rule", "seed", "scales"):
        assert getattr(after, name) == getattr(before, name)


def test_scales_cannot_change_once_there_are_answers(owner: Visitor, database: Database) -> None:
    owner.get("/campaigns/small/people")
    answer(join(owner.client, invitation_of(owner)), 1)
    owner.get("/campaigns/small/settings")
    assert "There are answers already" in owner.words
    owner.send("/campaigns/small/settings", **new_campaign(scales="binary"))
    assert owner.status == 409
    with database.read() as connection:
        assert len(find_campaign(connection, "small").settings.scales) == 2


def test_what_keeps_a_campaign_from_opening_is_said_on_its_set_up_page(carla: Visitor, database: Database) -> None:
    carla.get("/campaigns/new")
    carla.send("/campaigns/new", **new_campaign())
    carla.send("/campaigns/spring/state", state="open")
    assert carla.status == 422
    assert "no runs yet" in carla.words
    runs = [("files", ("both.txt", RUNS.encode(), "text/plain"))]
    carla.send("/campaigns/spring/set-up/runs", files=runs)
    assert "2 systems with 2 queries: 6 pairs to judge at most." in carla.words
    assert "8 of 8 documents and queries still need" in carla.words
    carla.send("/campaigns/spring/state", state="open")
    assert carla.status == 422
    assert "'q1-a'" in carla.words
    with database.read() as connection:
        assert find_campaign(connection, "spring").state == "draft"


def test_a_campaign_is_set_up_and_opened_without_scripts(carla: Visitor, database: Database) -> None:
    carla.get("/campaigns/new")
    carla.send("/campaigns/new", **new_campaign())
    carla.send("/campaigns/spring/set-up/runs", files=[("files", ("both.txt", RUNS.encode(), "text/plain"))])
    texts = [("document", "text"), *((f"{q}-{d}", f"{q} {d}") for q in ("q1", "q2") for d in "abc"), ("q1", "one")]
    table = "".join(f"{document},{text}\n" for document, text in texts).encode()
    carla.send("/campaigns/spring/set-up/documents", role="document", files=[("table", ("t.csv", table, "text/csv"))])
    assert "7 taken" in carla.words
    assert "1 of 8 documents and queries still needs" in carla.words
    carla.send(
        "/campaigns/spring/set-up/documents",
        role="query",
        files=[("table", ("t.csv", b"document,text\nq2,two\n", "text/csv"))],
    )
    assert "All 8 documents and queries can be heard" in carla.words
    carla.send("/campaigns/spring/state", state="open")
    assert carla.address.startswith("http://127.0.0.1:8000/campaigns/spring")
    with database.read() as connection:
        assert find_campaign(connection, "spring").state == "open"


def test_runs_that_cannot_be_read_are_refused_with_their_line(carla: Visitor) -> None:
    carla.get("/campaigns/new")
    carla.send("/campaigns/new", **new_campaign())
    broken = [("files", ("broken.txt", b"q1 Q0 a 1 2.0 s\nq1 Q0 b 2\n", "text/plain"))]
    carla.send("/campaigns/spring/set-up/runs", files=broken)
    assert carla.status == 422
    assert "broken.txt:2" in carla.words


def test_names_become_links_that_lead_in(owner: Visitor) -> None:
    owner.get("/campaigns/small/people")
    owner.send("/campaigns/small/people/personal", names="Ann\n\n  Bob \n", expires="2999-01-31")
    assert "2 new links" in owner.words
    links = re.findall(r'value="http://127.0.0.1:8000/i/([\w.-]+)" aria-label="link of (Ann|Bob)"', owner.page)
    assert [name for _, name in links] == ["Ann", "Bob"]
    ann = join(owner.client, links[0][0], name="Ann")
    assert ann.get("/api/judging").status_code == 200


@pytest.mark.parametrize(
    ("address", "fields", "said"),
    [
        ("personal", {"names": " \n "}, "Expected 1 to 1,000 names"),
        ("personal", {"names": "Ann", "expires": "1999-01-01"}, "ends in the future"),
        ("personal", {"names": "Ann", "expires": "soon"}, "Expected a day"),
        ("open", {"cap": "-3"}, "Expected a number of people"),
        ("open", {"cap": "1"}, "at least 2 people"),
        ("revoke", {"invitation": "x"}, "Expected the number"),
        ("block", {"code": "A99", "blocked": "yes"}, "no participant"),
        ("erase", {"code": "A99", "how": "remove"}, "no participant"),
    ],
)
@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_what_is_wrong_about_people_is_said_in_words(
    owner: Visitor, address: str, fields: dict[str, str], said: str
) -> None:
    owner.get("/campaigns/small/people")
    owner.send(f"/campaigns/small/people/{address}", **fields)
    assert owner.status in (404, 422)
    assert said in owner.words


def test_a_withdrawn_invitation_lets_nobody_in(owner: Visitor) -> None:
    owner.get("/campaigns/small/people")
    token = invitation_of(owner)
    number = token.partition(".")[0]
    owner.send("/campaigns/small/people/revoke", invitation=number)
    assert "The invitation is withdrawn." in owner.words
    assert token not in owner.page
    refused = TestClient(owner.client.app).post("/api/join", json={"invitation": token, "consent": True})
    assert refused.status_code == 410


def test_a_blocked_assessor_cannot_go_on_until_unblocked(owner: Visitor) -> None:
    owner.get("/campaigns/small/people")
    ann = join(owner.client, invitation_of(owner), name="Ann")
    owner.send("/campaigns/small/people/block", code="A1", blocked="yes")
    assert ann.get("/api/judging").status_code == 403
    owner.send("/campaigns/small/people/block", code="A1", blocked="no")
    assert ann.get("/api/judging").status_code == 200


@pytest.mark.parametrize(("how", "left"), [("anonymise", "2"), ("remove", "0")])
def test_erasing_shows_a_receipt_and_forgets_the_name(owner: Visitor, how: str, left: str) -> None:
    owner.get("/campaigns/small/people")
    ann = join(owner.client, invitation_of(owner), name="Annabella")
    answer(ann, 2, comment="my own words")
    owner.get("/campaigns/small/people/erase?code=A1")
    assert "Annabella" in owner.words
    assert "2 answers" in owner.words
    owner.send("/campaigns/small/people/erase", code="A1", how=how)
    assert owner.status == 200
    assert "Receipt: A1 was erased" in owner.words
    assert re.search(r"Digest [0-9a-f]{64}", owner.words)
    assert "Annabella" not in owner.page
    assert ann.get("/api/judging").status_code == 410
    owner.get("/campaigns/small/judgments")
    assert str(owner.page.count('class="soft">judgment<')) == left
    assert "my own words" not in owner.page


def test_answers_are_shown_newest_first_page_by_page_and_by_assessor(owner: Visitor) -> None:
    owner.get("/campaigns/small/people")
    invitation = invitation_of(owner)
    answer(join(owner.client, invitation), 3, fine=10.0)
    answer(join(owner.client, invitation), 2, fine=90.0, comment="loud & <clear>")
    owner.get("/campaigns/small/judgments")
    assert re.findall(r"<td>(A\d)</td>", owner.page) == ["A2", "A2", "A1", "A1", "A1"]
    assert "loud &amp; &lt;clear&gt;" in owner.page
    owner.get("/campaigns/small/judgments?assessor=A1")
    assert re.findall(r"<td>(A\d)</td>", owner.page) == ["A1", "A1", "A1"]
    owner.get("/campaigns/small/judgments?assessor=A1&query=no-such-query")
    assert "No such answer." in owner.words


def test_every_download_on_the_page_is_there(owner: Visitor) -> None:
    owner.get("/campaigns/small/people")
    answer(join(owner.client, invitation_of(owner)), 3)
    owner.get("/campaigns/small/judgments")
    addresses = re.findall(r'<a href="((?:/api)?/campaigns/small/(?:export|report)[^"]*)"', owner.page)
    assert len(addresses) >= 12
    for address in addresses:
        response = owner.client.get(html.unescape(address))
        assert response.status_code == 200, f"{address}: {response.text[:200]}"
        assert response.content


def test_the_report_is_read_in_the_browser_and_can_run_nothing(owner: Visitor) -> None:
    owner.get("/campaigns/small/people")
    answer(join(owner.client, invitation_of(owner)), 3)
    response = owner.client.get("/campaigns/small/report")
    assert response.headers["content-type"].startswith("text/html")
    assert "content-disposition" not in response.headers
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy


def test_a_token_is_shown_once_and_opens_the_interface(carla: Visitor, database: Database) -> None:
    carla.get("/account")
    carla.send("/account/tokens", name="notebook")
    found = re.search(r'value="(adj_[\w-]+)"', carla.page)
    assert found is not None
    program = TestClient(carla.client.app, headers={"Authorization": f"Bearer {found[1]}"})
    assert program.get("/api/campaigns").status_code == 200
    carla.get("/account")
    assert found[1] not in carla.page
    number = re.search(r'name="token" value="(\d+)"', carla.page)
    assert number is not None
    carla.send("/account/tokens/revoke", token=number[1])
    assert program.get("/api/campaigns").status_code == 401


def test_a_new_password_replaces_the_old_one_everywhere(carla: Visitor) -> None:
    carla.get("/account")
    carla.send("/account/password", current=PASSWORD, new="a longer sentence", again="another sentence")
    assert (carla.status, "two ways" in carla.words) == (422, True)
    carla.send("/account/password", current="not mine", new="a longer sentence", again="a longer sentence")
    assert (carla.status, "so far is another one" in carla.words) == (422, True)
    carla.send("/account/password", current=PASSWORD, new="a longer sentence", again="a longer sentence")
    assert "log in with the new one" in carla.words
    carla.log_in("carla", PASSWORD)
    assert carla.status == 401
    carla.log_in("carla", "a longer sentence")
    assert carla.status == 200


OWN_PAGES = ("", "/set-up", "/settings", "/people", "/judgments", "/report", "/people/erase?code=A1", "/pairs/1/clips")


@pytest.mark.parametrize("page", OWN_PAGES)
@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_nobody_learns_of_the_campaigns_of_others(
    carla: Visitor, small_campaign: Callable[..., SmallCampaign], page: str
) -> None:
    small_campaign("small")
    carla.get(f"/campaigns/small{page}")
    assert carla.status == 404
    assert "There is no campaign called 'small'." in carla.words
    carla.get("/")
    assert "/campaigns/small" not in carla.page


CHANGES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("/campaigns/small/state", {"state": "closed"}),
    ("/campaigns/small/settings", new_campaign()),
    ("/campaigns/small/people/personal", {"names": "Mallory"}),
    ("/campaigns/small/people/open", {"cap": "5"}),
    ("/campaigns/small/people/revoke", {"invitation": "1"}),
    ("/campaigns/new", new_campaign()),
    ("/account/tokens", {"name": "Mallory"}),
    ("/account/password", {"current": PASSWORD, "new": "a longer sentence", "again": "a longer sentence"}),
    ("/logout", {}),
)


@pytest.mark.parametrize(("address", "fields"), CHANGES)
@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_a_form_that_is_not_ours_changes_nothing(
    owner: Visitor, database: Database, address: str, fields: dict[str, Any]
) -> None:
    with database.read() as connection:
        before = find_campaign(connection, "small")
    owner.send(address, csrf="made-up", **fields)
    assert owner.status == 403
    with database.read() as connection:
        assert find_campaign(connection, "small") == before
        assert len(list_campaigns(connection)) == 1
    for shown, known in (("/account", "Account of"), ("/campaigns/small/people", "Invitations")):
        owner.get(shown)
        assert known in owner.words
        assert "Mallory" not in owner.words


def test_the_preview_is_what_assessors_see_and_runs_nothing(carla: Visitor) -> None:
    carla.get("/account")
    token = re.search(r'name="csrf" content="([^"]*)"', carla.page)
    assert token is not None
    text = "**Hear** <script>alert(1)</script> [a](javascript:alert(1))"
    response = carla.client.post("/preview", json={"text": text}, headers={"X-CSRF-Token": token[1]})
    made = response.json()["html"]
    assert "<strong>Hear</strong>" in made
    assert "<script" not in made
    assert 'href="javascript' not in made


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_titles_cannot_end_the_script_that_holds_the_picture(
    visitor: Visitor, small_campaign: Callable[..., SmallCampaign]
) -> None:
    made = small_campaign("small", title="</script><script>alert(1)</script>")
    visitor.log_in(made.login, made.password)
    visitor.get("/campaigns/small")
    assert visitor.status == 200
    assert "<script>alert" not in visitor.page


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_no_page_brings_scripts_or_styles_of_its_own(owner: Visitor) -> None:
    owner.get("/campaigns/small/people")
    join(owner.client, invitation_of(owner), name="Ann")
    pages = ["/", "/account", "/campaigns/new", *(f"/campaigns/small{page}" for page in OWN_PAGES[:5])]
    for address in [*pages, "/campaigns/small/people/erase?code=A1"]:
        page = owner.get(address)
        assert owner.status == 200, address
        assert "<style" not in page
        assert not re.search(r"<[^>]+\s(style|on[a-z]+)=", page), address
        scripts = re.findall(r"<script([^>]*)>", page)
        assert all("src=" in script or "application/json" in script for script in scripts), address
        assert not re.search(r'(src|href)="(https?:)?//', page), address


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_the_clips_of_a_pair_are_those_assessors_get(owner: Visitor, database: Database) -> None:
    from sqlalchemy import select

    from adjudge.web.schema import pair

    with database.read() as connection:
        row = connection.execute(select(pair.c.id, pair.c.query, pair.c.document)).first()
    assert row is not None
    clips = owner.client.get(f"/campaigns/small/pairs/{row.id}/clips").json()
    assert (clips["query"]["text"], clips["candidate"]["text"]) == (row.query, row.document)
    assert owner.client.get("/campaigns/small/pairs/999999/clips").status_code == 404


def test_administrators_see_the_campaigns_of_everybody(
    visitor: Visitor, database: Database, settings: Settings, small_campaign: Callable[..., SmallCampaign]
) -> None:
    small_campaign("small")
    with database.write() as connection:
        add_organiser(connection, login="root", password=PASSWORD, is_admin=True, now=settings.clock())
    visitor.log_in("root")
    assert "The campaign small" in visitor.words
    visitor.get("/campaigns/small")
    assert visitor.status == 200


def test_tokens_of_others_cannot_be_revoked(carla: Visitor, database: Database, settings: Settings) -> None:
    from adjudge.web.people import make_token

    with database.write() as connection:
        bob = add_organiser(connection, login="bob", password=PASSWORD, is_admin=False, now=settings.clock())
        token, _ = make_token(connection, bob, name="his", now=settings.clock())
    carla.get("/account")
    carla.send("/account/tokens/revoke", token=str(token.id))
    assert carla.status == 404
    with database.read() as connection:
        assert list_tokens(connection, bob)[0].revoked_at is None
