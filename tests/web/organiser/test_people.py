"""The organisers' pages in process: invitations, assessors, judgments, the account."""

from __future__ import annotations

import base64
import hashlib
import html
import re

import pytest
from starlette.testclient import TestClient
from tests.web.conftest import ON_BOTH
from tests.web.organiser.visiting import PASSWORD, Visitor, answer, invitation_of, join

from adjudge.web.store.database import Database


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
@ON_BOTH
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


@ON_BOTH
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


def test_the_report_is_read_in_the_browser_and_runs_its_own_script_alone(owner: Visitor) -> None:
    owner.get("/campaigns/small/people")
    answer(join(owner.client, invitation_of(owner)), 3)
    response = owner.client.get("/campaigns/small/report")
    assert response.headers["content-type"].startswith("text/html")
    assert "content-disposition" not in response.headers
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    (script,) = re.findall(r"<script>(.*?)</script>", response.text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert re.findall(r"script-src ([^;]*);", policy) == [f"'sha256-{digest}'"]


def test_every_form_of_a_report_leads_back_to_its_campaign(owner: Visitor) -> None:
    owner.get("/campaigns/small/people")
    answer(join(owner.client, invitation_of(owner)), 3)
    home = "http://127.0.0.1:8000/campaigns/small"
    page = owner.client.get("/campaigns/small/report").text
    assert f'<a href="{home}">Campaign small</a>' in page
    for form, link in (("html", f'href="{home}"'), ("markdown", f"]({home})"), ("json", f'"home": "{home}"')):
        assert link in owner.client.get(f"/api/campaigns/small/export/report?format={form}").text


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
