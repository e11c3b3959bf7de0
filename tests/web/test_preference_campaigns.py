"""Preference campaigns in the store: questions kept as they came, batches and queue drawn from the seed."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from sqlalchemy import func, select, update
from tests.web.conftest import ON_SQLITE
from tests.web.preference_rows import (
    preference_campaign,
    preference_draft,
    some_questions,
    store_answers,
    store_people,
)
from tests.web.preference_simulated import preference_texts

from adjudge.preferences.questions import Question, Questions
from adjudge.web.errors import Conflict, Refused
from adjudge.web.kinds.lifecycle import change_settings, create_campaign, overview, set_state
from adjudge.web.kinds.preference.settings import PreferenceSettings
from adjudge.web.kinds.preference.store import put_questions, questions_of
from adjudge.web.kinds.verify import verify
from adjudge.web.settings import Settings
from adjudge.web.store import schema as t
from adjudge.web.store.database import Database
from adjudge.web.store.items import NewItem, missing_listed_items, needed_listed_items, put_items
from adjudge.web.store.recruiting import OUTCOMES


def same(one: Questions, other: Questions) -> bool:
    equal = [np.array_equal(one.grades[scale], other.grades[scale], equal_nan=True) for scale in one.grades]
    return one.questions == other.questions and list(one.grades) == list(other.grades) and all(equal)


def test_questions_come_back_as_they_were(database: Database) -> None:
    given = Questions(
        (
            Question("Frage 1, \"süß\"", "q;1", ("ä", "b", "c"), ("d",), systems=("one", "two")),
            Question("2", "q;1", ("b",), ("ä", "d")),
            Question("trap", "b", ("x",), ("y",), frozenset({"good", "bad"})),
        ),
        {"fine": np.array([[[80.0, 12.5, np.nan], [0, np.nan, np.nan]], [[7, np.nan, np.nan], [80, 0, np.nan]],
                           np.full((2, 3), np.nan)]),
         "0..4": np.full((3, 2, 3), np.nan)},
    )  # fmt: skip
    found = preference_draft(database, quiz=1)
    with database.write() as connection:
        put_questions(connection, found, given, now=1.0)
        assert same(questions_of(connection, found.id), given)


def test_traps_are_told_from_questions_by_the_expected_answer(database: Database) -> None:
    found = preference_campaign(database, judged_by=3)
    with database.read() as connection:
        rows = connection.execute(select(t.pair).where(t.pair.c.campaign_id == found.id)).mappings().all()
        counts = overview(connection, found)
        queued = set(connection.execute(select(t.queue.c.pair_id)).scalars())
    assert Counter((row["role"], row["wanted"], row["batch"]) for row in rows) == {
        ("question", 3, 0): 6,
        ("trap", 0, None): 2,
    }
    assert queued == {row["id"] for row in rows if row["role"] == "question"}
    assert (counts.pairs, counts.traps, counts.judged, counts.answers) == (6, 2, 0, 0)


def test_questions_are_replaced_not_added(database: Database) -> None:
    found = preference_draft(database)
    first, second = some_questions(5, 2, queries=5, seed=1), some_questions(3, 3, queries=1, seed=2)
    with database.write() as connection:
        put_questions(connection, found, first, now=1.0)
        put_items(connection, found, [NewItem("q5-1", facts={"artist": "somebody"})])
        put_questions(connection, found, second, inputs=[("two.csv", "2" * 64)], now=2.0)
        assert same(questions_of(connection, found.id), second)
        kept = set(connection.execute(select(t.item.c.identifier)).scalars())
        n_listed = connection.execute(select(func.count()).select_from(t.listed)).scalar_one()
        last = connection.execute(select(t.event.c.details).order_by(t.event.c.id.desc()).limit(1)).scalar_one()
    needed = {name for one in second.questions for name in (*one.a, *one.b, one.query)}
    assert kept == needed | {"q5-1"}  # what is known of a document stays, empty rows go
    assert n_listed == sum(len(one.a) + len(one.b) for one in second.questions)
    assert last == {"questions": 3, "traps": 3, "inputs": [["two.csv", "2" * 64]]}


def test_a_query_that_is_a_document_stands_for_itself(database: Database) -> None:
    asked = Questions((Question("1", "d1", ("d2",), ("d3",)),))
    found = preference_draft(database, quiz=0)
    with database.write() as connection:
        put_questions(connection, found, asked, now=1.0)
        assert missing_listed_items(connection, found) == ["d1", "d2", "d3"]
        put_items(connection, found, [NewItem(f"d{n}", kind="text", text=str(n)) for n in (1, 2)])
        assert missing_listed_items(connection, found) == ["d3"]
        put_items(connection, found, [NewItem("d3", kind="text", text="3")])
        set_state(connection, found, "open", who="ann", now=2.0)
        stands = connection.execute(
            select(t.item.c.role, t.item.c.text).join(t.pair, t.pair.c.query_item_id == t.item.c.id)
        ).one()
    assert tuple(stands) == ("document", "1")


def test_a_query_that_is_no_document_is_heard_as_its_own(database: Database) -> None:
    found = preference_campaign(database)
    with database.read() as connection:
        needed = needed_listed_items(connection, found)
        stands = connection.execute(
            select(t.pair.c.query, t.item.c.role, t.item.c.text)
            .join(t.item, t.item.c.id == t.pair.c.query_item_id)
            .distinct()
        ).all()
    assert sorted(map(tuple, stands)) == [("q1", "query", "q1"), ("q2", "query", "q2")]
    assert needed is not None
    assert needed["query"] == {"q1", "q2"} < needed["document"]


def test_opening_needs_questions_and_all_their_documents(database: Database) -> None:
    found, asked = preference_draft(database), some_questions()
    with database.write() as connection, pytest.raises(Refused, match="needs a file with questions"):
        set_state(connection, found, "open", who="ann", now=1.0)
    with database.write() as connection:
        put_questions(connection, found, asked, now=1.0)
        put_items(connection, found, preference_texts(asked)[1:])
    lacking = preference_texts(asked)[0].identifier
    with (
        database.write() as connection,
        pytest.raises(Refused, match=f"for every document and query; 1 document has nothing: '{lacking}'"),
    ):
        set_state(connection, found, "open", who="ann", now=2.0)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (Questions(()), "Expected questions, got none"),
        (some_questions(0, 4), "Expected questions, got 4 attention checks and no other"),
        (some_questions(4, 1), "The quiz wants 2 attention checks, and there is 1; give more, or a shorter quiz"),
        (some_questions(4, 0), "The quiz wants 2 attention checks, and there are none"),
        (some_questions(4, 2, depth=13), "Question 'n1': expected at most 12 documents in list a, got 13"),
        (Questions((*some_questions().questions, Question("x" * 401, "q", ("d",), ("e",)))), "in at most 400"),
        (Questions((*some_questions().questions, Question("x", "q\n", ("d",), ("e",)))), "without control characters"),
    ],
)
@ON_SQLITE
def test_what_cannot_be_asked_is_refused(database: Database, asked: Questions, sentence: str) -> None:
    found = preference_draft(database)
    with database.write() as connection, pytest.raises(Refused, match=sentence):
        put_questions(connection, found, asked, now=1.0)


def test_questions_of_an_open_campaign_stay(database: Database) -> None:
    found = preference_campaign(database)
    with database.write() as connection, pytest.raises(Conflict, match="while it is a draft; this one is open"):
        put_questions(connection, found, some_questions(), now=1.0)


@ON_SQLITE
def test_a_judging_campaign_takes_no_questions(database: Database) -> None:
    from tests.web.test_campaigns import draft

    found = draft(database)
    with database.write() as connection, pytest.raises(Refused, match="asks for grades, not for preferences"):
        put_questions(connection, found, some_questions(), now=1.0)


def laid(database: Database, name: str) -> list[tuple[int, str]]:
    """Batch and name of questions as they are queued."""
    with database.read() as connection:
        found = (
            select(t.pair.c.batch, t.pair.c.document)
            .join(t.queue, t.queue.c.pair_id == t.pair.c.id)
            .where(t.pair.c.campaign_id == t.queue.c.campaign_id)
            .order_by(t.queue.c.campaign_id, t.queue.c.place)
        )
        from adjudge.web.store.campaigns import find_campaign

        here = find_campaign(connection, name).id
        return [(batch, document) for batch, document in connection.execute(found.where(t.pair.c.campaign_id == here))]


def test_batches_and_their_order_follow_the_seed(database: Database) -> None:
    asked = some_questions(20, 2)
    for name, seed in (("one", 5), ("two", 5), ("three", 6)):
        preference_campaign(database, name, questions=asked, batch_size=8, seed=seed)
    one, two, three = laid(database, "one"), laid(database, "two"), laid(database, "three")
    assert one == two != three
    assert [batch for batch, _ in one] == [0] * 8 + [1] * 8 + [2] * 4
    assert {name for _, name in one} == {f"n{number}" for number in range(1, 21)}


def test_questions_that_were_begun_come_first_when_a_campaign_opens_again(database: Database) -> None:
    found = preference_campaign(database, questions=some_questions(10, 2), batch_size=5, judged_by=2)
    before = laid(database, "lists")
    begun = [name for _, name in before[2:4]]
    (who,) = store_people(database, found, ["p1"]).values()
    store_answers(database, found, [(who, name, "a") for name in begun])
    with database.write() as connection:
        for state in ("paused", "open"):
            found = set_state(connection, found, state, who="ann", now=50.0)
    after = laid(database, "lists")
    assert [name for _, name in after[:2]] == begun
    assert after[2:] == [one for one in before if one[1] not in begun]


def test_what_was_decided_may_change_until_somebody_answers(database: Database) -> None:
    found = preference_campaign(database, questions=some_questions(10, 2))
    with database.write() as connection:
        other = PreferenceSettings.parse({**found.settings.model_dump(), "judged_by": 4, "batch_size": 5, "seed": 9})
        found = change_settings(connection, found, other, who="ann", now=20.0)
        batches = connection.execute(select(t.pair.c.batch, t.pair.c.wanted).where(t.pair.c.role == "question")).all()
    assert Counter(map(tuple, batches)) == {(0, 4): 5, (1, 4): 5}
    (who,) = store_people(database, found, ["p1"]).values()
    store_answers(database, found, [(who, "t1", "a")])
    for name, value in (("judged_by", 5), ("batch_size", None), ("seed", 1)):
        other = PreferenceSettings.parse({**found.settings.model_dump(), name: value})
        with database.write() as connection, pytest.raises(Conflict, match=f"The {name} of a preference campaign"):
            change_settings(connection, found, other, who="ann", now=21.0)


def test_pay_bars_and_recruiter_may_change_at_any_time(database: Database) -> None:
    found = preference_campaign(database)
    (who,) = store_people(database, found, ["p1"]).values()
    store_answers(database, found, [(who, "n1", "a")])
    more = {"per_participant": 5, "trap_share": 0.3, "trust_bar": 0.5, "quiz": 1, "pay": {"per_answer": 0.2},
            "recruiter": {"kind": "prolific", "codes": {one: f"C-{one}" for one in OUTCOMES}}}  # fmt: skip
    with database.write() as connection:
        other = PreferenceSettings.parse({**found.settings.model_dump(), **more})
        assert change_settings(connection, found, other, who="ann", now=21.0).settings == other
        longer = PreferenceSettings.parse({**other.model_dump(), "quiz": 3})
        with pytest.raises(Refused, match="The quiz wants 3 attention checks, and there are 2"):
            change_settings(connection, found, longer, who="ann", now=21.0)


@pytest.mark.parametrize(
    ("recruiter", "quiz", "words"),
    [
        ({"kind": "prolific"}, 2, "People from Prolific need a completion code .* none for done, screened out, failed"),
        ({"kind": "prolific", "codes": {"done": "C1", "failed": "C3"}}, 2, "there is none for screened out"),
        ({"kind": "prolific", "codes": {"done": "C1"}}, 0, "there is none for failed"),
        (
            {"kind": "other", "parameters": ["pid"], "codes": {"done": "C1"},
             "addresses": {"screened_out": "https://panel.example/out"}},
            2,
            "need a completion code or an address .* there is neither for failed",
        ),
    ],
)  # fmt: skip
@ON_SQLITE
def test_a_campaign_opens_only_with_a_way_back_from_every_end(
    database: Database, recruiter: dict[str, object], quiz: int, words: str
) -> None:
    found = preference_campaign(database, state="draft", recruiter=recruiter, quiz=quiz)
    with database.write() as connection, pytest.raises(Refused, match=words):
        set_state(connection, found, "open", who="ann", now=12.0)
    with database.write() as connection:
        ways = {**recruiter, "codes": {one: f"C-{one}" for one in OUTCOMES}}
        whole = PreferenceSettings.parse({**found.settings.model_dump(), "recruiter": ways})
        found = change_settings(connection, found, whole, who="ann", now=13.0)
        assert set_state(connection, found, "open", who="ann", now=14.0).state == "open"


@pytest.mark.parametrize("state", ["open", "paused", "closed"])
def test_a_way_back_is_not_taken_away_from_people_who_may_need_it(database: Database, state: str) -> None:
    codes = {"done": "C1", "failed": "C3"}
    found = preference_campaign(database, quiz=0, recruiter={"kind": "prolific", "codes": codes}, state=state)
    fewer = {"recruiter": {"kind": "prolific", "codes": {"done": "C1"}}}
    for change, missing in ((fewer, "failed"), ({"quiz": 1}, "screened out")):
        other = PreferenceSettings.parse({**found.settings.model_dump(), **change})
        with database.write() as connection, pytest.raises(Refused, match=f"there is none for {missing}"):
            change_settings(connection, found, other, who="ann", now=21.0)


def test_who_recruits_stays_once_somebody_was_recruited(database: Database) -> None:
    codes = {one: f"C-{one}" for one in OUTCOMES}
    panel = {"kind": "other", "parameters": ["pid", "visit"], "codes": codes}
    found = preference_campaign(database, recruiter=panel)
    prolific = {"kind": "prolific", "codes": codes}
    with database.write() as connection:
        for recruiter in (prolific, panel):  # nobody came yet
            other = PreferenceSettings.parse({**found.settings.model_dump(), "recruiter": recruiter})
            found = change_settings(connection, found, other, who="ann", now=21.0)
    store_people(database, found, ["p1"], recruited_as="1" * 64)
    for another in ({"kind": "none"}, prolific, {**panel, "parameters": ["visit", "pid"]}):
        other = PreferenceSettings.parse({**found.settings.model_dump(), "recruiter": another})
        with database.write() as connection, pytest.raises(Conflict, match="cannot be changed once somebody was recr"):
            change_settings(connection, found, other, who="ann", now=22.0)
    more = {**panel, "parameters": ["pid", "visit", "wave"], "codes": {one: f"D-{one}" for one in OUTCOMES}}
    with database.write() as connection:
        other = PreferenceSettings.parse({**found.settings.model_dump(), "recruiter": more})
        assert change_settings(connection, found, other, who="ann", now=23.0).settings == other


def test_answers_of_people_set_aside_are_not_counted(database: Database, settings: Settings) -> None:
    from adjudge.web.store import schema as t

    found = preference_campaign(database, judged_by=2)
    people = store_people(database, found, ["p1", "p2"])
    store_answers(database, found, [(who, "n1", "a") for who in people.values()] + [(people["p1"], "t1", "b")])
    assert verify(database, settings) == []
    with database.write() as connection:
        aside = update(t.participant).where(t.participant.c.id == people["p1"])
        connection.execute(aside.values(set_aside_at=40.0, set_aside_why="traps"))
        assert overview(connection, found).answers == 1


def test_a_seed_that_nobody_gave_is_one_that_nobody_can_guess(database: Database) -> None:
    made = [PreferenceSettings.parse({"title": "Lists"}) for _ in range(2)]
    with database.write() as connection:
        drawn = [
            create_campaign(connection, name=f"lists-{n}", settings=one, organiser_id=None, now=1.0).settings.seed
            for n, one in enumerate(made)
        ]
        given = PreferenceSettings.parse({"title": "Lists", "seed": 0})
        kept = create_campaign(connection, name="given", settings=given, organiser_id=None, now=1.0).settings.seed
    assert drawn[0] != drawn[1]
    assert min(drawn) > 0
    assert kept == 0
