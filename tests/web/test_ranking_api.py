"""A ranking campaign over HTTP: set up, ordered in two windows, changed, handed back, exported; and from Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.web.conftest import ON_BOTH, Clock
from tests.web.ranking_rows import Ranking
from tests.web.test_campaign_api import api, organiser

from adjudge.web.client import CampaignError, ConnectionHolder, RankingExpert, connect
from adjudge.web.settings import Settings
from adjudge.web.store.database import Database

__all__ = ["api", "organiser"]  # fixtures
PLACE = "/api/campaigns/incipits"
TABLE = b"query,document\nq1,a\nq1,b\nq1,c\nq2,a\nq2,d\n"
TEXTS = "\n".join(["document,text", *(f"{name},words about {name}" for name in ("a", "b", "c", "d", "q1", "q2"))])
Json = dict[str, Any]


def created(api: TestClient, **settings: Any) -> Json:
    body = {"name": "incipits", "kind": "ranking", "settings": {"title": "Incipits", **settings}}
    answer = api.post("/api/campaigns", json=body)
    assert answer.status_code == 201, answer.text
    found: Json = answer.json()
    return found


def given(api: TestClient, content: bytes = TABLE, name: str = "candidates.csv", **fields: str) -> Any:
    return api.put(f"{PLACE}/candidates", files=[("files", (name, content))], data=fields)


def joined(api: TestClient) -> TestClient:
    """Somebody who came by an invitation to the campaign; it has a connection of its own."""
    link = api.post(f"{PLACE}/invitations", json={"label": "all"}).json()["invitations"][0]["url"]
    person = TestClient(api.app, base_url="http://127.0.0.1:8000")
    said = person.post("/api/join", json={"invitation": link.rpartition("/")[2]})
    assert said.status_code == 201, said.text
    person.headers["X-CSRF-Token"] = said.json()["csrf"]
    return person


def opened(api: TestClient, **settings: Any) -> None:
    created(api, **settings)
    assert given(api).status_code == 200
    assert api.post(f"{PLACE}/documents", files=[("table", ("t.csv", TEXTS.encode()))]).json()["taken"] == 6
    assert api.post(f"{PLACE}/state", json={"state": "open"}).status_code == 200


def order(question: Json, letters: str) -> list[list[int]]:
    """Groups of one document each, by the last letter of what is read about them."""
    known = {one["text"][-1]: one["id"] for one in question["candidates"]}
    return [[known[letter]] for letter in letters if letter in known]


def test_from_candidates_to_lists(api: TestClient) -> None:
    made = created(api, judged_by=2)
    assert (made["kind"], made["settings"]["judged_by"], made["settings"]["ties"]) == ("ranking", 2, True)
    assert api.get(f"{PLACE}/missing").status_code == 422
    taken = given(api)
    assert taken.json() == {"queries": 2, "candidates": 5, "notes": [], "missing": 6}
    api.post(f"{PLACE}/documents", files=[("table", ("t.csv", TEXTS.encode()))])
    assert api.post(f"{PLACE}/state", json={"state": "open"}).json()["counts"]["pairs"] == 2
    for _ in range(2):
        person = joined(api)
        desk = person.get("/api/ranking").json()
        for number in (1, 2):
            question = desk["question"]
            assert (question["number"], question["corrects"]) == (number, None)
            groups = order(question, "abcd")
            body = {"key": f"key-{number}-key", "lease": question["lease"], "groups": groups, "took_ms": 9000}
            said = person.post("/api/ranking/answers", json=body)
            assert said.status_code == 200, said.text
            desk = said.json()["desk"]
        assert (desk["question"], desk["why"], desk["progress"]) == (None, "nothing_left", {"answered": 2, "of": 2})
        assert sorted((one["query"], one["ranked"], one["of"]) for one in desk["done"]) == [("q1", 3, 3), ("q2", 2, 2)]
        assert person.get("/api/judging").status_code == 422
    rankings = api.get(f"{PLACE}/export/rankings")
    assert rankings.headers["content-disposition"] == 'attachment; filename="incipits-rankings.csv"'
    assert len(rankings.text.splitlines()) == 1 + 2 * 5
    lists = api.get(f"{PLACE}/export/lists", params={"construction": "Any-2"})
    assert set(lists.json()) == {"q1", "q2"}
    assert api.patch(PLACE, json={"settings": {"ties": False}}).status_code == 409


@ON_BOTH
def test_two_windows_and_a_bad_network(api: TestClient, clock: Clock) -> None:
    opened(api, kept_hours=1)
    person = joined(api)
    question = person.get("/api/ranking").json()["question"]
    one, two = order(question, "abd")[:1], order(question, "abd")[::-1]

    def save(version: int, groups: list[list[int]]) -> Any:
        body = {"lease": question["lease"], "version": version, "groups": groups}
        return person.put("/api/ranking/arrangement", json=body)

    assert save(0, one).json()["version"] == 1
    assert save(0, one).json()["version"] == 1  # the network sent it twice
    stale = save(0, two)
    assert (stale.status_code, stale.json()["arrangement"]) == (409, {"version": 1, "groups": one})
    assert "elsewhere" in stale.json()["error"]["message"]
    clock.turn(1800)
    until = person.post("/api/ranking/heartbeat").json()["expires_at"]
    for elsewhere in ("judging/heartbeat", "judging/leave", "preference/heartbeat", "preference/leave"):
        assert person.post(f"/api/{elsewhere}").status_code == 422  # what is kept for days is not let go by a page
    assert until == question["expires_at"] or until < clock() + 1801
    later = save(1, two).json()
    assert later["expires_at"] > until  # only changing it prolongs it
    assert person.get("/api/ranking").json()["question"]["arrangement"] == {"version": 2, "groups": two}
    body = {"key": "the-same-key", "lease": question["lease"], "groups": two}
    first, again = (person.post("/api/ranking/answers", json=body).json() for _ in range(2))
    assert (first["answer"], first["again"], again["answer"], again["again"]) == (
        first["answer"],
        False,
        first["answer"],
        True,
    )
    reopened = person.post("/api/ranking/reopen", json={"answer": first["answer"]}).json()["question"]
    assert (reopened["corrects"], reopened["arrangement"]["groups"]) == (first["answer"], two)
    assert person.get("/api/ranking").json()["question"]["lease"] == reopened["lease"]
    left = person.post("/api/ranking/hand-back", json={"lease": reopened["lease"]}).json()["question"]
    assert left["lease"] not in (reopened["lease"], question["lease"])
    skipped = person.post("/api/ranking/skips", json={"key": "skip-key-1", "lease": left["lease"], "reason": "other"})
    assert (skipped.json()["desk"]["why"], skipped.json()["again"]) == ("nothing_left", False)


def test_a_page_is_told_that_the_campaign_was_paused_or_closed_and_can_still_send(api: TestClient) -> None:
    opened(api)
    person = joined(api)
    question = person.get("/api/ranking").json()["question"]
    groups = order(question, "abd")
    for version, state in enumerate(("open", "paused", "closed")):
        if state != "open":
            assert api.post(f"{PLACE}/state", json={"state": state}).status_code == 200
        body = {"lease": question["lease"], "version": version, "groups": groups[:version]}
        assert person.put("/api/ranking/arrangement", json=body).json()["state"] == state
        assert person.post("/api/ranking/heartbeat").json()["state"] == state
    sent = person.post(
        "/api/ranking/answers", json={"key": "a-key-of-it", "lease": question["lease"], "groups": groups}
    )
    assert (sent.status_code, sent.json()["desk"]["why"]) == (200, "closed")


@ON_BOTH
def test_an_order_that_comes_when_all_places_are_taken_is_kept(api: TestClient, clock: Clock) -> None:
    opened(api, kept_hours=1, judged_by=1)
    ann, ben, eve = joined(api), joined(api), joined(api)
    question = ann.get("/api/ranking").json()["question"]
    clock.turn(2 * 3600)
    theirs = [person.get("/api/ranking").json()["question"] for person in (ben, eve)]
    body = {"key": "key-of-ann", "lease": question["lease"], "groups": order(question, "ba")}
    late = ann.post("/api/ranking/answers", json=body)
    assert (late.status_code, "Your ranking is kept" in late.text) == (409, True)
    assert ann.get("/api/ranking").json()["why"] == "wait"
    for person, held in zip((ben, eve), theirs, strict=True):
        if held["query"] == question["query"]:
            person.post("/api/ranking/hand-back", json={"lease": held["lease"]})
    back = ann.get("/api/ranking").json()["question"]
    assert back["arrangement"]["groups"] == order(question, "ba")


def test_what_is_wrong_has_the_right_status_and_a_sentence(api: TestClient) -> None:
    created(api)
    for content, name, fields, sentence in (
        (b"query,document\nq1,a\nq1,a\n", "a.csv", {}, "a.csv:3: expected each document once a query"),
        (b"query,document\nq1,a\n", "a.csv", {}, "a.csv:2: expected 2 to 200 documents"),
        (TABLE, "a.csv", {"cutoff": "3"}, "a.csv: expected runs where a cutoff is given"),
        (TABLE, "a.csv", {"cutoff": "many"}, "Expected a number as 'cutoff', got 'many'"),
        (b"\x00", "a.csv", {}, "a.csv"),
    ):
        answer = given(api, content, name, **fields)
        assert (answer.status_code, sentence in answer.text) == (422, True), answer.text
        assert "/tmp" not in answer.text
    runs = b"q1 Q0 a 1 3 s\nq1 Q0 b 2 2 s\nq1 Q0 c 3 1 s\n"
    assert given(api, runs, "run.txt", cutoff="2").json()["candidates"] == 2
    files = [("files", ("a.txt", b"q1 Q0 d1 1 9 a\n"))]
    assert "asks for rankings" in api.put(f"{PLACE}/runs", files=files).text
    judged = [("file", ("a.csv", b"query,document,grade\nq1,d1,80\n"))]
    assert "asks for rankings" in api.post(f"{PLACE}/judgments", files=judged).text
    assert "Expected one of rankings" in api.get(f"{PLACE}/export/qrels").text
    body = {"name": "other", "kind": "ranking", "settings": {"title": "x", "rank_all": True, "least_ranked": 3}}
    assert "either all documents ranked or a least number" in api.post("/api/campaigns", json=body).text


def test_bodies_that_make_no_sense_are_refused(database: Database, settings: Settings, client: TestClient) -> None:
    stage = Ranking(database, settings).begin(queries=1)
    client.headers["X-CSRF-Token"] = client.post("/api/join", json={"invitation": stage.link}).json()["csrf"]
    question = client.get("/api/ranking").json()["question"]
    save = {"lease": question["lease"], "version": 0, "groups": [[1]]}
    send = {"key": "some-key-1", "lease": question["lease"], "groups": [[1]]}
    for method, path, body in (
        ("PUT", "arrangement", {**save, "version": -1}),
        ("PUT", "arrangement", {**save, "groups": [["a"]]}),
        ("PUT", "arrangement", {**save, "groups": [[1] * 201]}),
        ("PUT", "arrangement", {**save, "groups": [[2**70]]}),
        ("PUT", "arrangement", {"lease": question["lease"], "groups": []}),
        ("POST", "answers", {**send, "key": "short"}),
        ("POST", "answers", {**send, "heard": {"candidates_ms": {"x": 1}}}),
        ("POST", "answers", {**send, "heard": {"candidates_ms": {"1": -1}}}),
        ("POST", "answers", {**send, "took_ms": 2**31}),
        ("POST", "skips", {"key": "some-key-2", "lease": question["lease"], "reason": "bored"}),
    ):
        answer = client.request(method, f"/api/ranking/{path}", json=body)
        assert (answer.status_code, "message" in answer.json()["error"]) == (422, True), answer.text
    for odd in (True, str(question["candidates"][0]["id"])):  # neither is read as a number
        answer = client.put("/api/ranking/arrangement", json={**save, "groups": [[odd]]})
        assert (answer.status_code, "valid integer" in answer.text) == (422, True), answer.text
    assert client.post("/api/ranking/reopen", json={"answer": 1}).status_code == 404
    assert client.post("/api/ranking/hand-back", json={"lease": "nobodys"}).status_code == 404
    assert stage.faults() == []


def without_network(person: ConnectionHolder, app: TestClient) -> None:
    """Let somebody of the Python client reach an application that no server runs."""
    headers = {name: person.connection.http.headers[name] for name in ("Authorization",)}
    person.connection.close()
    person.connection.http = TestClient(app.app, base_url="http://127.0.0.1:8000", headers=headers)


def test_a_ranking_campaign_from_python(api: TestClient, organiser: dict[str, str], tmp_path: Path) -> None:
    lab = connect("http://127.0.0.1:8000", organiser["Authorization"].removeprefix("Bearer "))
    without_network(lab, api)
    campaign = lab.create_rankings("incipits", title="Incipits", judged_by=1)
    (tmp_path / "candidates.csv").write_bytes(TABLE)
    (tmp_path / "texts.csv").write_text(TEXTS)
    assert campaign.put_candidates(tmp_path / "candidates.csv")["candidates"] == 5
    assert campaign.put_documents(tmp_path / "texts.csv")["taken"] == 6
    campaign.open()
    token = campaign.invite()["url"].rpartition("/")[2]
    said = TestClient(api.app, base_url="http://127.0.0.1:8000").post("/api/join", json={"invitation": token}).json()
    expert = RankingExpert("http://127.0.0.1:8000", said["token"])
    without_network(expert, api)
    question = expert.desk()["question"]
    groups = order(question, "dcba")
    assert expert.save(question, groups[:1])["version"] == 1
    with pytest.raises(CampaignError, match="elsewhere") as stale:
        expert.save(question, groups)
    assert stale.value.said["arrangement"] == {"version": 1, "groups": groups[:1]}
    sent = expert.order(question, groups, comment="easy")
    reopened = expert.reopen(sent.answer)["question"]
    assert reopened["corrects"] == sent.answer
    other = expert.hand_back(reopened)["question"]
    assert expert.heartbeat() == other["expires_at"]
    assert expert.skip(other, "other").desk["why"] == "nothing_left"
    rankings = campaign.rankings()
    assert (rankings.n_experts, rankings.n_ranks) == (1, len(groups))
    lab.close()
    expert.close()
