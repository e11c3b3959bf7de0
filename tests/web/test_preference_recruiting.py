"""People whom a recruiter sends, and the pages' requests over HTTP: one person is one participant; codes come last."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from fastapi import FastAPI
from sqlalchemy import update
from starlette.testclient import TestClient
from tests.web.conftest import ON_SQLITE, Clock
from tests.web.preference_rows import PROLIFIC, Stage, pid

from adjudge.errors import AdjudgeError
from adjudge.web.client import CampaignError, PreferenceParticipant, join_preference, whole_question
from adjudge.web.errors import Forbidden, Gone, Refused
from adjudge.web.kinds.preference.settings import PreferenceSettings
from adjudge.web.settings import Settings
from adjudge.web.store import schema
from adjudge.web.store.database import Database
from adjudge.web.store.participants import block_participant, make_invitation, recruited_from, revoke_invitation

PANEL = {
    "kind": "other",
    "parameters": ["pid", "visit"],
    "codes": {"done": "D", "failed": "F"},
    "addresses": {"done": "https://panel.example/back?who={pid}&visit={visit}&code={code}"},
}


@pytest.fixture
def stage(database: Database, settings: Settings) -> Stage:
    return Stage(database, settings, now=settings.clock())


def test_the_same_person_again_is_the_same_participant_wherever_they_are(stage: Stage) -> None:
    stage.begin(quiz=0, per_participant=2, recruiter=PROLIFIC)
    ana = stage.come(pid("ana"))
    stage.answer(ana)
    again = stage.come({**pid("ana"), "SESSION_ID": "another", "utm": "x"})
    assert again.id == ana.id
    assert again.recruited == {"PROLIFIC_PID": "ana", "STUDY_ID": "study", "SESSION_ID": "another"}
    assert stage.come(pid("bo")).id != ana.id
    stage.work(ana)
    back = stage.come(pid("ana"))
    assert (back.id, back.outcome) == (ana.id, "done")
    completion = stage.desk(back).completion
    assert completion is not None
    assert completion.code == "DONE-1"


def test_two_tabs_that_join_at_once_make_one_participant(stage: Stage) -> None:
    stage.begin(recruiter=PROLIFIC)
    with ThreadPoolExecutor(8) as pool:
        people = list(pool.map(lambda n: stage.come(pid("ana" if n % 2 else "bo")).id, range(8)))
    assert len(set(people)) == 2
    assert len(stage.all_of(schema.participant)) == 2


def test_a_link_that_does_not_say_who_comes_makes_nobody(stage: Stage) -> None:
    stage.begin(recruiter=PROLIFIC)
    wrong: list[tuple[dict[str, str] | None, str]] = [
        (None, r"open this study from Prolific: .*PROLIFIC_PID is missing"),
        ({"STUDY_ID": "s", "PROLIFIC_PID": "  "}, "PROLIFIC_PID is missing"),
        ({"PROLIFIC_PID": "x" * 201}, "at most 200 printable characters as PROLIFIC_PID"),
        ({"PROLIFIC_PID": "a\nb"}, "printable characters"),
    ]
    for parameters, words in wrong:
        with pytest.raises(Refused, match=words):
            stage.come(parameters)
    assert stage.all_of(schema.participant) == []


def test_without_a_recruiter_parameters_mean_nothing(stage: Stage) -> None:
    stage.begin()
    first, second = stage.come(pid("ana")), stage.come(pid("ana"))
    assert first.id != second.id
    assert first.recruited is None
    assert recruited_from(stage.campaign, pid("ana")) is None


def test_another_panel_has_its_own_parameters_and_way_back(stage: Stage) -> None:
    stage.begin(n=1, traps=0, quiz=0, per_participant=1, recruiter=PANEL)
    ana = stage.come({"pid": "a&b", "visit": "7", "more": "no"})
    stage.work(ana)
    completion = stage.desk(ana).completion
    assert completion is not None
    assert completion.address == "https://panel.example/back?who=a%26b&visit=7&code=D"
    with pytest.raises(Refused, match="from the site that sent you here"):
        stage.come({"visit": "7"})


def test_people_come_back_to_an_invitation_that_is_full_or_expired_but_not_to_a_withdrawn_one(stage: Stage) -> None:
    stage.begin(recruiter=PROLIFIC)
    secret = stage.settings.secret
    with stage.database.write() as connection:
        campaign = stage.campaign
        one = make_invitation(connection, campaign, cap=1, expires_at=stage.now + 50, secret=secret, now=stage.now)
        new = make_invitation(connection, campaign, secret=secret, now=stage.now)
    ana = stage.come(pid("ana"), link=one.token)
    with pytest.raises(Gone, match="was for 1 person, who has joined"):
        stage.come(pid("bo"), link=one.token)
    stage.now += 60
    assert stage.come(pid("ana"), link=one.token).id == ana.id
    with pytest.raises(Gone, match="expired"):
        stage.come(pid("bo"), link=one.token)
    with stage.database.write() as connection:
        revoke_invitation(connection, campaign, one.id, who="ann", now=stage.now)
    with pytest.raises(Gone, match="withdrawn"):
        stage.come(pid("ana"), link=one.token)
    moved = stage.come(pid("ana"), link=new.token)
    assert (moved.id, moved.invitation_id) == (ana.id, new.id)
    with stage.database.write() as connection:
        block_participant(connection, moved, blocked=True, who="ann", now=stage.now)
    with pytest.raises(Forbidden, match="ended your part"):
        stage.come(pid("ana"), link=new.token)


# Over HTTP.

Caller = Callable[..., PreferenceParticipant]


@pytest.fixture
def coming(app: FastAPI, client: TestClient, monkeypatch: pytest.MonkeyPatch) -> Caller:
    """Join by the Python client, whose requests go straight to the application."""
    import httpx

    def connect(**options: Any) -> TestClient:
        options.pop("timeout", None)
        return TestClient(app, **options)

    monkeypatch.setattr(httpx, "Client", connect)

    def come(token: str, **told: Any) -> PreferenceParticipant:
        return join_preference("http://127.0.0.1:8000", token, **told)

    return come


def right(stage: Stage, question: dict[str, Any]) -> str:
    """The side of list a."""
    swapped = {row["id"]: row["swapped"] for row in stage.all_of(schema.lease)}[question["lease"]]
    return "second" if swapped else "first"


def test_a_whole_part_over_http_from_the_recruiters_link_to_the_code(stage: Stage, coming: Caller) -> None:
    stage.begin(n=4, traps=4, quiz=2, trap_share=0.3, per_participant=3, recruiter=PROLIFIC)
    link = f"http://127.0.0.1:8000/i/{stage.link}?PROLIFIC_PID=ana&STUDY_ID=s&SESSION_ID=x"
    ana = coming(link)
    desk = ana.desk()
    assert set(desk) == {
        "campaign", "participant", "question", "next", "why", "listen_seconds", "progress", "outcome", "completion",
    }  # fmt: skip
    assert set(desk["question"]) == {"lease", "expires_at", "number", "query", "first", "second"}
    assert set(desk["progress"]) == {"answered", "of", "phase", "quiz_answered", "quiz_of"}
    said = [json.dumps(desk)]
    while (question := desk["question"]) is not None:
        assert desk["completion"] is None
        said.append(json.dumps(desk))
        taken = ana.choose(question, right(stage, question), took_ms=30_000, comment="hm")
        assert not taken.again
        desk = taken.desk
    assert not any(code in text for text in said for code in ("DONE-1", "OUT-2", "FAIL-3"))
    assert (desk["why"], desk["outcome"]) == ("ended", "done")
    assert desk["completion"] == {
        "outcome": "done",
        "code": "DONE-1",
        "address": "https://app.prolific.com/submissions/complete?cc=DONE-1",
    }
    back = coming(stage.link, recruited=pid("ana"))
    assert back.participant == ana.participant
    assert back.desk()["completion"]["code"] == "DONE-1"
    assert stage.faults() == []


def test_a_reply_that_was_lost_is_asked_for_again_and_says_the_same(stage: Stage, coming: Caller) -> None:
    stage.begin(n=4, traps=1, quiz=1, quiz_bar=1.0)
    ana = coming(stage.link)
    question = ana.desk()["question"]
    wrong = "second" if right(stage, question) == "first" else "first"
    first = ana.choose(question, wrong, key="the-only-key")
    again = ana.choose(question, wrong, key="the-only-key")
    assert (first.again, again.again, first.answer) == (False, True, again.answer)
    assert first.desk == again.desk
    assert (first.desk["outcome"], first.desk["completion"]["code"]) == ("screened_out", None)


@pytest.mark.parametrize(
    ("change", "status", "words"),
    [
        ({"choice": "a"}, 422, "choice"),
        ({"choice": None}, 422, "choice"),
        ({"lease": "never-leased"}, 404, "never given to you"),
        ({"key": "short"}, 422, "key"),
        ({"heard": {"first_ms": [1] * 101}}, 422, "first_ms"),
        ({"heard": {"first_ms": [1, 2, 3]}}, 422, "results of the first list, got 3"),
        ({"heard": {"query_ms": -1}}, 422, "query_ms"),
        ({"heard": {"a_ms": [1]}}, 422, "a_ms"),
        ({"comment": "a\0b"}, 422, "control characters"),
        ({"trap": True}, 422, "trap"),
    ],
)
@ON_SQLITE
def test_a_wrong_answer_is_refused_in_words(
    stage: Stage, coming: Caller, change: dict[str, Any], status: int, words: str
) -> None:
    stage.begin(n=4, traps=0, quiz=0)
    ana = coming(stage.link)
    question = ana.desk()["question"]
    body = {"lease": question["lease"], "key": "a-key-of-mine", "choice": "good", "heard": whole_question(question)}
    reply = ana.connection.http.post("/api/preference/answers", json=body | change)
    assert reply.status_code == status
    assert words in reply.json()["error"]["message"]
    assert stage.all_of(schema.answer) == []
    assert ana.desk()["question"]["lease"] == question["lease"]


def test_each_kind_of_campaign_refuses_the_requests_of_the_other(
    stage: Stage, coming: Caller, small_campaign: Callable[..., Any]
) -> None:
    stage.begin(quiz=0)
    ana = coming(stage.link)
    judge = coming(small_campaign("grades").invitation)
    for path in ("/judging", "/judging/answers"):
        with pytest.raises(CampaignError, match="asks for preferences, not for grades"):
            ana.connection.get(path)
    with pytest.raises(CampaignError, match="asks for grades, not for preferences"):
        judge.desk()
    assert stage.all_of(schema.lease) == []


def test_heartbeat_leave_and_skip(stage: Stage, coming: Caller) -> None:
    stage.begin(n=4, traps=0, quiz=0)
    ana = coming(stage.link)
    question = ana.desk()["question"]
    assert ana.heartbeat() is not None
    assert ana.skip(question, "broken").desk["question"]["lease"] != question["lease"]
    ana.leave()
    assert ana.heartbeat() is None
    assert sum(row["taken"] for row in stage.pairs().values()) == 0
    assert stage.faults() == []


def test_a_complete_batch_pauses_the_campaign_and_the_page_says_so(stage: Stage, coming: Caller) -> None:
    stage.begin(n=2, traps=0, quiz=0, batch_size=1, pause_after_batch=True)
    ana = coming(stage.link)
    desk = ana.desk()
    assert desk["next"] is None
    after = ana.choose(desk["question"], "good").desk
    assert (after["question"], after["why"], after["campaign"]["state"]) == (None, "paused", "paused")


def test_a_closed_laptop_is_opened_again_on_the_same_question(stage: Stage, coming: Caller, clock: Clock) -> None:
    stage.begin(n=4, traps=2, quiz=1, per_participant=3, recruiter=PROLIFIC)
    ana = coming(stage.link, recruited=pid("ana"))
    question = ana.desk()["question"]
    after = ana.choose(question, right(stage, question)).desk
    clock.turn(24 * 3600)
    elsewhere = coming(stage.link, recruited=pid("ana"))
    desk = elsewhere.desk()
    assert desk["question"]["lease"] == after["question"]["lease"]
    assert (desk["progress"]["phase"], desk["progress"]["answered"]) == ("main", 0)
    taken = elsewhere.choose(desk["question"], "good")
    assert taken.desk["progress"]["answered"] == 1


def test_an_answer_beyond_the_cap_is_a_conflict_that_nobody_sends_again(stage: Stage, coming: Caller) -> None:
    stage.begin(n=6, traps=0, quiz=0, per_participant=1, recruiter=PROLIFIC)
    ana = coming(stage.link, recruited=pid("ana"))
    handed_back = ana.desk()["question"]
    ana.leave()
    coming(stage.link, recruited=pid("bo")).desk()
    last = ana.desk()["question"]
    assert last["lease"] != handed_back["lease"]
    assert ana.choose(last, "good").desk["completion"]["code"] == "DONE-1"
    with pytest.raises(CampaignError, match="You answered 1 question already") as refused:
        ana.choose(handed_back, "good")
    assert refused.value.status == 409  # pages drop what is refused so, and try again after 408, 429 and 5xx only
    assert ana.desk()["completion"]["code"] == "DONE-1"


def test_who_is_blocked_or_erased_is_refused(stage: Stage, coming: Caller) -> None:
    stage.begin(n=4, traps=0, quiz=0, recruiter=PROLIFIC)
    ana = coming(stage.link, recruited=pid("ana"))
    with stage.database.write() as connection:
        connection.execute(update(schema.participant).values(blocked_at=1.0))
    with pytest.raises(CampaignError, match="ended your part"):
        ana.desk()
    bo = coming(stage.link, recruited=pid("bo"))
    assert bo.erase("remove")["answers_removed"] == 0
    with pytest.raises(CampaignError, match="were erased"):
        bo.desk()


def test_outcomes_do_not_share_a_code() -> None:
    with pytest.raises(AdjudgeError, match="a code of its own for each outcome"):
        PreferenceSettings.parse(
            {"title": "Lists", "recruiter": {"kind": "prolific", "codes": {"done": "C1", "screened_out": "C1"}}}
        )
