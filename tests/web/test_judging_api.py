"""What assessors' pages send and get: the right status, a sentence, and nothing stored where it was wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import func, select
from starlette.testclient import TestClient
from tests.web.conftest import ON_BOTH

from adjudge.web.store import schema as t
from adjudge.web.store.database import Database

Joined = Callable[..., dict[str, str]]


@pytest.fixture
def join(client: TestClient, small_campaign: Callable[..., Any]) -> Joined:
    """Headers of somebody who joined a new campaign of texts."""
    campaigns: dict[str, Any] = {}

    def joined(name: str = "small", **options: Any) -> dict[str, str]:
        if name not in campaigns:
            campaigns[name] = small_campaign(name, scales=[{"name": "fine", "maximum": 100}], **options)
        body = {"invitation": campaigns[name].invitation, "consent": True}
        reply = client.post("/api/join", json=body)
        assert reply.status_code == 201
        client.cookies.clear()
        return {"Authorization": f"Bearer {reply.json()['token']}"}

    return joined


def sent(desk: dict[str, Any], *, key: str = "a-key-of-mine", grade: object = 40, **more: object) -> dict[str, Any]:
    return {"lease": desk["question"]["lease"], "key": key, "grades": {"fine": grade}, **more}


def n_answers(database: Database) -> int:
    with database.read() as connection:
        return int(connection.execute(select(func.count()).select_from(t.answer)).scalar_one())


@ON_BOTH
def test_an_answer_brings_the_next_question_and_the_same_key_changes_nothing(
    client: TestClient, join: Joined, database: Database
) -> None:
    me = join()
    desk = client.get("/api/judging", headers=me).json()
    first = client.post("/api/judging/answers", json=sent(desk), headers=me)
    again = client.post("/api/judging/answers", json=sent(desk), headers=me)
    assert (first.status_code, again.status_code) == (200, 200)
    assert first.json()["desk"]["question"]["lease"] == desk["ahead"]["lease"]
    assert (first.json()["again"], again.json()["again"]) == (False, True)
    assert again.json()["answer"] == first.json()["answer"]
    assert n_answers(database) == 1
    assert first.json()["desk"]["progress"]["mine"] == 1


def test_nothing_on_the_desk_tells_system_rank_or_document(client: TestClient, join: Joined) -> None:
    me = join()
    desk = client.get("/api/judging", headers=me).json()
    text = desk["question"].pop("query")["text"] + desk["question"].pop("candidate")["text"]
    assert text  # texts are what is read here, so they may name themselves
    assert set(desk["question"]) == {"lease", "expires_at", "heard_query"}
    assert set(desk) == {
        "campaign", "participant", "scales", "listen_seconds", "question", "ahead", "why", "progress",
    }  # fmt: skip


@pytest.mark.parametrize(
    "wrong",
    [
        ({"grades": {"fine": 101}}, 422, "expected a grade from 0 to 100"),
        ({"grades": {"fine": "much"}}, 422, "fine"),
        ({"grades": {"fine": None}}, 422, "fine"),
        ({"grades": {"fine": True}}, 422, "fine"),
        ({"grades": {"fine": "1"}}, 422, "fine"),
        ({"grades": {"broad": 1}}, 422, "a grade on each of fine"),
        ({"grades": {}}, 422, "a grade on each of fine"),
        ({"lease": "never-leased"}, 404, "never given to you"),
        ({"lease": "x" * 500}, 422, "lease"),
        ({"key": "short"}, 422, "key"),
        ({"key": "with\0nul-byte"}, 422, "key"),
        ({"comment": "a\0b"}, 422, "control characters"),
        ({"comment": "x" * 2001}, 422, "comment"),
        ({"took_ms": -1}, 422, "took_ms"),
        ({"took_ms": 10**30}, 422, "took_ms"),
        ({"system": "mine"}, 422, "system"),
    ],
)
def test_a_wrong_answer_is_refused_in_words_and_the_question_stays(
    client: TestClient, join: Joined, database: Database, wrong: tuple[dict[str, Any], int, str]
) -> None:
    change, status, words = wrong
    me = join()
    desk = client.get("/api/judging", headers=me).json()
    reply = client.post("/api/judging/answers", json=sent(desk) | change, headers=me)
    assert reply.status_code == status
    assert words in reply.json()["error"]["message"]
    assert n_answers(database) == 0
    assert client.get("/api/judging", headers=me).json()["question"]["lease"] == desk["question"]["lease"]


@pytest.mark.parametrize("body", ['{"lease": ', "[]", "null", '{"grades": {"fine": NaN}}', "\ud800"])
def test_what_is_no_json_of_an_answer_is_refused(
    client: TestClient, join: Joined, database: Database, body: str
) -> None:
    me = join() | {"Content-Type": "application/json"}
    reply = client.post("/api/judging/answers", content=body.encode("utf-8", "surrogatepass"), headers=me)
    assert reply.status_code in (400, 422)
    assert json.loads(reply.text)["error"]["message"]
    assert n_answers(database) == 0


def test_a_correction_skip_and_list_of_ones_answers(client: TestClient, join: Joined) -> None:
    me = join()
    desk = client.get("/api/judging", headers=me).json()
    taken = client.post("/api/judging/answers", json=sent(desk, comment="hm"), headers=me).json()
    change = {"answer": taken["answer"], "key": "second-thought", "grades": {"fine": 90}}
    assert client.post("/api/judging/corrections", json=change, headers=me).status_code == 200
    skip = {"lease": taken["desk"]["question"]["lease"], "key": "skipping-this", "reason": "cannot_tell"}
    skipped = client.post("/api/judging/skips", json=skip, headers=me).json()
    assert skipped["desk"]["question"]["lease"] != skip["lease"]
    (mine,) = client.get("/api/judging/answers", headers=me).json()["answers"]
    assert (mine["grades"], mine["comment"]) == ({"fine": 90.0}, "hm")
    beyond = change | {"answer": 2**70, "key": "another-key"}
    assert client.post("/api/judging/corrections", json=beyond, headers=me).status_code == 422
    others = join()
    assert client.post("/api/judging/corrections", json=change, headers=others).status_code == 404


@ON_BOTH
def test_who_leaves_hands_questions_back(client: TestClient, join: Joined, database: Database) -> None:
    me = join()
    client.get("/api/judging", headers=me)
    assert client.post("/api/judging/heartbeat", headers=me).json()["expires_at"] is not None
    assert client.post("/api/judging/leave", headers=me).status_code == 204
    assert client.post("/api/judging/heartbeat", headers=me).json()["expires_at"] is None
    with database.read() as connection:
        assert connection.execute(select(func.sum(t.pair.c.taken))).scalar_one() == 0
        assert set(connection.execute(select(t.lease.c.ended_how)).scalars()) == {"released"}


def test_everything_judged_ends_in_kind_words_for_each_reason(client: TestClient, join: Joined) -> None:
    me = join("tiny", n_queries=1, n_systems=1, depth=1, goal={"kind": "everything"}, repeat_share=0)
    desk = client.get("/api/judging", headers=me).json()
    assert desk["ahead"] is None
    done = client.post("/api/judging/answers", json=sent(desk), headers=me).json()["desk"]
    assert (done["question"], done["why"]) == (None, "nothing_left")
