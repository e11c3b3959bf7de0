"""Erasing people: what goes, what stays, and that everything still adds up."""

from __future__ import annotations

import itertools
import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import pytest
from sqlalchemy import select
from tests.web.people_app import (
    browser,
    invite,
    joined,
    logged_in,
    make_app,
    make_campaign,
    make_organiser,
    rows,
)

from adjudge.web.errors import Gone, Refused
from adjudge.web.kinds.judging.assignment import (
    NewAnswer,
    NewCorrection,
    NewSkip,
    store_grades,
    store_other_grades,
    store_unable_to_grade,
)
from adjudge.web.kinds.judging.store import current_grades, repeats
from adjudge.web.settings import Settings
from adjudge.web.store import schema
from adjudge.web.store.answers import answer_digest, append_answer
from adjudge.web.store.campaigns import Campaign
from adjudge.web.store.database import Database
from adjudge.web.store.erase import Receipt, erase_participant
from adjudge.web.store.leases import expire, hold, lay_queue
from adjudge.web.store.participants import Participant, find_invitation, join, participant_of_token, still_there

_keys = itertools.count()


def told(comment: str | None = None) -> dict[str, Any]:
    heard = {"query_ms": 1, "candidate_ms": 1}
    return {"key": f"key-{next(_keys):06}", "heard": heard, "took_ms": 1000, "comment": comment}


def answered(lease_id: str, grade: float, comment: str | None = None) -> NewAnswer:
    return NewAnswer(lease=lease_id, grades={"fine": grade}, **told(comment))


def corrected(answer_id: int, grade: float, comment: str | None = None) -> NewCorrection:
    return NewCorrection(answer=answer_id, grades={"fine": grade}, **told(comment))


@dataclass
class Stage:
    """A campaign of five pairs, wanted by three people each, and two people who did all sorts of things in it.

    Ana judged, corrected, answered late, was asked again, skipped, judged elsewhere, and holds two questions; Bo judged
    the first two pairs.
    """

    database: Database
    settings: Settings
    campaign: Campaign
    pairs: list[int]
    ana: Participant
    token: str
    link: str
    bo: Participant

    def erase(self, how: str) -> Receipt:
        with self.database.write() as connection:
            return erase_participant(connection, self.ana, how=how, who="participant", now=500.0)

    def all_of(self, table: Any) -> list[dict[str, Any]]:
        with self.database.read() as connection:
            return [dict(row) for row in connection.execute(select(table).order_by(*table.primary_key)).mappings()]

    def counters(self) -> list[tuple[int, int]]:
        return [(row["taken"], row["answered"]) for row in self.all_of(schema.pair)]


@pytest.fixture
def stage(database: Database, settings: Settings) -> Stage:
    campaign = make_campaign(database, organiser=make_organiser(database), pairs=8, repeat_share=0)
    link = invite(database, settings, campaign, cap=1, label="Ana García").token
    ana, token = _come(database, settings, link, name="Ana")
    bo, _ = _come(database, settings, invite(database, settings, campaign).token, name="Bo")
    with database.write() as connection:
        pairs = list(connection.execute(select(schema.pair.c.id).order_by(schema.pair.c.id)).scalars())
        lay_queue(connection, campaign.id, pairs)
        _answers_of(connection, campaign, ana, pairs)
        for grade in (30, 40):
            lease = hold(connection, campaign, bo.id, now=300.0, seconds=100.0, most=1)[0]
            store_grades(connection, campaign, bo.id, answered(lease.id, grade, "mine"), now=301.0)
        expire(connection, campaign.id, now=320.0)
        hold(connection, campaign, ana.id, now=330.0, seconds=100.0, most=2)
    return Stage(database, settings, campaign, pairs, ana, token, link, bo)


def _come(database: Database, settings: Settings, link: str, **told: Any) -> tuple[Participant, str]:
    with database.write() as connection:
        found = find_invitation(connection, link, secret=settings.secret, now=0.0)
        return join(connection, found, secret=settings.secret, now=0.0, **told)


def _answers_of(connection: Any, campaign: Campaign, ana: Participant, pairs: list[int]) -> None:
    one, two, three = (hold(connection, campaign, ana.id, now=0.0, seconds=100.0, most=3))[:3]
    first = store_grades(connection, campaign, ana.id, answered(one.id, 10, "I am Ana"), now=1.0)
    store_other_grades(connection, campaign, ana.id, corrected(first.answer_id, 12, "Ana again"), now=2.0)
    skip = NewSkip(lease=three.id, reason="known", **told("my own song"))
    store_unable_to_grade(connection, campaign, ana.id, skip, now=3.0)
    expire(connection, campaign.id, now=200.0)
    store_grades(connection, campaign, ana.id, answered(two.id, 20), now=201.0)  # late
    again = {"id": "again", "campaign_id": campaign.id, "pair_id": pairs[0], "participant_id": ana.id}
    values = {**again, "kind": "repeat", "number": 9, "issued_at": 202.0, "expires_at": 300.0}
    connection.execute(schema.lease.insert().values(**values))
    repeated = store_grades(connection, campaign, ana.id, answered("again", 11), now=203.0)
    store_other_grades(connection, campaign, ana.id, corrected(repeated.answer_id, 13), now=204.0)
    elsewhere = {"campaign_id": campaign.id, "pair_id": pairs[7], "participant_id": ana.id, "lease_id": None}
    row = {**elsewhere, "key": "imported", "kind": "import", "grades": {"fine": 90.0}, "heard": {}, "took_ms": None}
    append_answer(connection, {**row, "late": False, "created_at": 205.0})
    counts = schema.pair.update().where(schema.pair.c.id == pairs[7])
    connection.execute(counts.values(taken=schema.pair.c.taken + 1, answered=schema.pair.c.answered + 1))


def test_the_stage_is_set_as_it_is_told(stage: Stage) -> None:
    kinds = [row["kind"] for row in stage.all_of(schema.answer) if row["participant_id"] == stage.ana.id]
    assert kinds == ["judgment", "correction", "skip", "judgment", "repeat", "correction", "import"]
    assert [row["late"] for row in stage.all_of(schema.answer)].count(True) == 1
    assert stage.counters() == [(2, 2), (2, 2), (0, 0), (1, 0), (1, 0), (0, 0), (0, 0), (1, 1)]


def test_removing_somebody_leaves_what_others_said_and_counts_right(stage: Stage) -> None:
    receipt = stage.erase("remove")
    assert (receipt.answers_removed, receipt.answers_kept, receipt.comments_removed) == (7, 0, 3)
    assert stage.counters() == [(1, 1), (1, 1), *[(0, 0)] * 6]
    assert {row["participant_id"] for row in stage.all_of(schema.answer)} == {stage.bo.id}
    assert {row["participant_id"] for row in stage.all_of(schema.lease)} == {stage.bo.id}
    with stage.database.read() as connection:
        grades = current_grades(connection, stage.campaign.id)
        assert repeats(connection, stage.campaign.id, current_grades(connection, stage.campaign.id)) == []
    assert [(grade.assessor, grade.grades) for grade in grades] == [("A2", {"fine": 30.0}), ("A2", {"fine": 40.0})]


def test_anonymising_somebody_keeps_their_grades_under_a_code_that_leads_nowhere(stage: Stage) -> None:
    with stage.database.read() as connection:
        before = current_grades(connection, stage.campaign.id)
    receipt = stage.erase("anonymise")
    assert (receipt.answers_removed, receipt.answers_kept, receipt.comments_removed) == (0, 7, 3)
    assert stage.counters() == [(2, 2), (2, 2), *[(0, 0)] * 5, (1, 1)]
    with stage.database.read() as connection:
        after = current_grades(connection, stage.campaign.id)
        assert len(repeats(connection, stage.campaign.id, current_grades(connection, stage.campaign.id))) == 1
    assert [grade.grades for grade in after] == [grade.grades for grade in before]
    assert {grade.assessor[0] for grade in after} == {"X", "A"}
    assert not any(row["ended_at"] is None for row in stage.all_of(schema.lease))


def test_answers_are_whole_after_their_comments_are_gone(stage: Stage) -> None:
    stage.erase("anonymise")
    for row in stage.all_of(schema.answer):
        assert row["sha256"] == answer_digest(row)
        assert row["comment"] == ("mine" if row["participant_id"] == stage.bo.id else None)


@pytest.mark.parametrize("how", ["anonymise", "remove"])
def test_nothing_in_the_database_leads_to_the_person_any_more(stage: Stage, how: str) -> None:
    with stage.database.write() as connection:
        people = [{"code": "A1", "name": "Ana"}, {"code": "A2", "name": "Bo"}]
        content = {"assessors": people, "problems": [{"pair": 3, "comments": ["my own song"]}]}
        content["agreement"] = [{"pairs": [["A1", "A2"]], "A1": 0.5}]
        picture = {"campaign_id": stage.campaign.id, "version": 4, "last_answer": 1, "made_at": 0.0}
        connection.execute(schema.picture.insert().values(**picture, content=content))
        event = {"campaign_id": stage.campaign.id, "at": 1.0, "what": "blocked", "who": "A1"}
        connection.execute(schema.event.insert().values(**event, details={"participant": "A1"}))
    stage.erase(how)
    rows = [stage.all_of(table) for table in schema.metadata.sorted_tables]
    everything = json.dumps(rows, default=str, ensure_ascii=False)
    assert re.search(r"\bAna\b", everything) is None  # as a word: drawn tokens may contain any three letters
    for trace in ("García", '"A1"', "my own song", stage.token.partition(".")[2]):
        assert trace not in everything
    assert '"Bo"' in everything
    assert [row["version"] for row in stage.all_of(schema.picture)] == [5]


def test_a_receipt_is_proven_by_the_log_which_does_not_say_whose_it_is(stage: Stage) -> None:
    receipt = stage.erase("remove")
    told = {name: value for name, value in vars(receipt).items() if name != "digest"}
    assert told["code"] == "A1"
    expected = sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()
    event = stage.all_of(schema.event)[-1]
    assert receipt.digest == expected
    assert event["details"] == {"how": "remove", "digest": expected, "answers": 7}
    assert event["who"] == "participant"


@pytest.mark.parametrize("how", ["anonymise", "remove"])
def test_who_was_erased_has_no_way_back(stage: Stage, how: str) -> None:
    stage.erase(how)
    secret = stage.settings.secret
    with stage.database.write() as connection:
        with pytest.raises(Gone, match="You were erased"):
            participant_of_token(connection, stage.token, secret=secret)
        with pytest.raises(Gone, match="nothing was stored"):
            still_there(connection, stage.ana)
    with pytest.raises(Exception, match="This invitation"):
        _come(stage.database, stage.settings, stage.link)
    with pytest.raises(Gone, match="erased already"):
        stage.erase(how)


def test_erased_people_count_for_the_cap_and_their_codes_are_not_given_again(
    database: Database, settings: Settings
) -> None:
    campaign = make_campaign(database)
    link = invite(database, settings, campaign, cap=2).token
    first, _ = _come(database, settings, link)
    with database.write() as connection:
        erase_participant(connection, first, how="remove", who="participant", now=1.0)
    assert _come(database, settings, link)[0].code == "A2"
    with pytest.raises(Gone, match="was for 2 people"):
        _come(database, settings, link)


def test_another_way_to_erase_is_refused(stage: Stage) -> None:
    with pytest.raises(Refused, match="to anonymise or to remove, got 'forget'"):
        stage.erase("forget")


def test_erasing_once_and_again_at_the_same_time_happens_once(stage: Stage) -> None:
    def attempt(how: str) -> bool:
        try:
            stage.erase(how)
        except Gone:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(attempt, ["remove", "anonymise"] * 2)) == 1


def test_others_go_on_judging_while_somebody_is_erased(stage: Stage) -> None:
    def judge_one() -> None:
        with stage.database.write() as connection:
            for lease in hold(connection, stage.campaign, stage.bo.id, now=340.0, seconds=100.0, most=1):
                store_grades(connection, stage.campaign, stage.bo.id, answered(lease.id, 50), now=341.0)

    def judge() -> None:
        for _ in range(6):
            judge_one()

    with ThreadPoolExecutor(2) as pool:
        judging = pool.submit(judge)
        pool.submit(stage.erase, "remove").result()
        judging.result()
    mine = [row["pair_id"] for row in stage.all_of(schema.answer) if row["kind"] == "judgment"]
    assert len(mine) == len(set(mine))
    assert stage.counters() == [(int(number in mine),) * 2 for number in stage.pairs]


def test_one_erases_oneself_over_http(database: Database, settings: Settings) -> None:
    campaign = make_campaign(database)
    app = make_app(settings, database)
    guest = joined(app, invite(database, settings, campaign).token, name="Ana")
    cookie = guest.cookies["adjudge_assessor"]
    assert guest.post("/api/judging/erase", json={"how": "somehow"}).status_code == 422
    answer = guest.post("/api/judging/erase", json={"how": "anonymise"})
    assert answer.status_code == 200
    assert answer.json()["code"] == "A1"
    assert "adjudge_assessor" not in guest.cookies
    assert app.state.context.estimating.campaigns == [campaign.id]
    refused = browser(app, cookies={"adjudge_assessor": cookie}).post("/api/assessor")
    assert refused.status_code == 410
    assert "erased" in refused.json()["error"]["message"]


def test_an_organiser_erases_a_participant_over_http(stage: Stage) -> None:
    app = make_app(stage.settings, stage.database)
    opened = logged_in(app)
    answer = opened.post("/api/campaigns/small/participants/A1/erase", json={"how": "remove"})
    assert answer.json()["answers_removed"] == 7
    assert app.state.context.estimating.campaigns == [stage.campaign.id]
    assert opened.post("/api/campaigns/small/participants/A1/erase", json={"how": "remove"}).status_code == 404
    assert rows(stage.database, schema.answer) == 2
