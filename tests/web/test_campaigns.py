"""Campaigns in the store: made, filled, opened, changed; what is missing is said, and nothing is half done."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import func, insert, select, update

import adjudge as aj
from adjudge.errors import AdjudgeError
from adjudge.relevance.candidates import candidates
from adjudge.relevance.choosing import Goal
from adjudge.relevance.session import fingerprint
from adjudge.web.errors import Conflict, NotFound, Refused
from adjudge.web.kinds.judging.settings import JudgingSettings
from adjudge.web.kinds.judging.store import candidates_of, collection_of, missing_items, put_runs
from adjudge.web.kinds.lifecycle import change_settings, create_campaign, list_campaigns, overview, set_state
from adjudge.web.store import schema as t
from adjudge.web.store.campaigns import Campaign, find_campaign
from adjudge.web.store.database import Database
from adjudge.web.store.items import NewItem, put_items

RUNS = {
    "a": {"q1": ["d1", "d2", "d3"], "q2": ["d2", "d4"]},
    "b": {"q1": ["d2", "d5", "d1"], "q2": ["d6", "d2"]},
}
FIRST_TWO = {("q1", "d1"), ("q1", "d2"), ("q1", "d5"), ("q2", "d2"), ("q2", "d4"), ("q2", "d6")}


def draft(database: Database, name: str = "songs", **settings: Any) -> Campaign:
    values = {"title": "Songs", "measure": "CG@2", "scales": [{"name": "broad", "maximum": 2}], **settings}
    with database.write() as connection:
        return create_campaign(
            connection, name=name, settings=JudgingSettings.parse(values), organiser_id=None, now=10.0
        )


def filled(database: Database, name: str = "songs", **settings: Any) -> Campaign:
    """A draft with runs, and a text for every candidate and query."""
    found = draft(database, name, **settings)
    names = ["d1", "d2", "d4", "d5", "d6"]
    items = [NewItem(name, kind="text", text=f"about {name}", facts={"artist": name[-1]}) for name in names]
    queries = [NewItem(name, "query", "text", text=f"asking {name}") for name in ("q1", "q2")]
    with database.write() as connection:
        put_runs(connection, found, aj.read(RUNS).runs, now=11.0)
        put_items(connection, found, [*items, *queries])
    return found


def opened(database: Database, name: str = "songs", **settings: Any) -> Campaign:
    found = filled(database, name, **settings)
    with database.write() as connection:
        return set_state(connection, found, "open", who="ann", now=13.0)


def test_a_campaign_is_found_as_it_was_made(database: Database) -> None:
    made = draft(database, judged_by=3)
    with database.read() as connection:
        assert find_campaign(connection, "songs") == made
        assert list_campaigns(connection) == [made]
    assert (made.state, made.settings.judged_by, made.created_at, made.opened_at) == ("draft", 3, 10.0, None)


def test_a_name_is_given_once(database: Database) -> None:
    draft(database)
    with pytest.raises(Conflict, match="There is a campaign called 'songs' already"):
        draft(database)
    with database.read() as connection:
        assert len(list_campaigns(connection)) == 1


@pytest.mark.parametrize("name", ["", "Songs", "../etc", "-a", "a b", "a" * 101, "ä"])
def test_a_name_that_is_no_part_of_an_address_is_refused(database: Database, name: str) -> None:
    with pytest.raises(Refused, match="Expected a name of lower-case letters, digits and hyphens"):
        draft(database, name)


def test_what_is_not_there_is_not_found(database: Database) -> None:
    with database.read() as connection, pytest.raises(NotFound, match="no campaign called 'nothing'"):
        find_campaign(connection, "nothing")


def test_organisers_see_their_own(database: Database) -> None:
    settings = JudgingSettings.parse({"title": "Songs"})
    with database.write() as connection:
        ids = [
            connection.execute(
                insert(t.organiser).values(login=name, password="x", created_at=1.0).returning(t.organiser.c.id)
            ).scalar_one()
            for name in ("ann", "bob")
        ]
        for number, owner in enumerate(ids):
            create_campaign(connection, name=f"c{number}", settings=settings, organiser_id=owner, now=float(number))
        assert [found.name for found in list_campaigns(connection, organiser_id=ids[1])] == ["c1"]
        assert [found.name for found in list_campaigns(connection, organiser_id=None)] == ["c1", "c0"]


def test_a_campaign_of_1_0_keeps_its_goal_and_rule() -> None:
    """Settings were stored whole; what is usual now is for new campaigns."""
    then = {"title": "Songs", "goal": {"kind": "confidence", "level": 0.9, "zone": 0.02}, "rule": "information"}
    old, new = JudgingSettings.parse(then), JudgingSettings.parse({"title": "Songs"})
    assert (old.goal.goal, old.rule) == (Goal("confidence", 0.9, zone=0.02), "information")
    assert (new.goal.goal.kind, new.rule) == ("order", None)


def test_runs_come_back_as_they_were(database: Database) -> None:
    scores = {"a": {"q1": {"x": 0.5, "y": 0.5, "z": 2.0}}, "b": {"q1": {"x": 1e-9, "w": 3.25}}}
    given = aj.read(scores, teams={"a": "team"})
    found = draft(database)
    with database.write() as connection:
        put_runs(connection, found, given.runs, inputs=[("a.txt", "1" * 64), ("b.txt", "2" * 64)], now=1.0)
        back = collection_of(connection, found)
    assert back.runs.to_polars().equals(given.runs.to_polars())
    assert back.runs.teams == {"a": "team"}
    assert back.provenance.inputs == (("a.txt", "1" * 64), ("b.txt", "2" * 64))


def test_rankings_without_scores_keep_their_order(database: Database) -> None:
    found = filled(database)
    with database.read() as connection:
        rows = collection_of(connection, found).runs.to_polars().select("system", "query", "document").rows()
    assert rows == [(s, q, d) for s, queries in RUNS.items() for q, documents in queries.items() for d in documents]


def test_the_engine_sees_what_it_sees_in_files(database: Database) -> None:
    demo = aj.demo(queries=4, depth=5)
    assert demo.metadata is not None
    rows = demo.metadata.table.to_dicts()
    items = [NewItem(row["document"], facts={name: row[name] for name in ("artist", "genre")}) for row in rows]
    found = draft(database, measure="CG@5", scales=[{"name": "fine", "maximum": 100}])
    with database.write() as connection:
        put_runs(connection, found, demo.runs, now=1.0)
        put_items(connection, found, items)
        stored = candidates_of(connection, found)
    assert fingerprint(stored) == fingerprint(candidates(demo, cutoff=5, scale=aj.model.FINE).unjudged())


def test_runs_are_kept_to_a_depth_that_a_report_can_use(database: Database) -> None:
    long = {"a": {"q": {f"d{n:03}": 1000.0 - n for n in range(150)}}}
    found = draft(database)
    with database.write() as connection:
        put_runs(connection, found, aj.read(long).runs, now=1.0)
        assert collection_of(connection, found).runs.depth == 100


def test_names_that_no_column_holds_are_refused(database: Database) -> None:
    found = draft(database)
    for bad in ({"s" * 201: {"q": ["d"]}}, {"s": {"q" * 401: ["d"]}}, {"s": {"q": ["d\x00d"]}}):
        with database.write() as connection, pytest.raises(AdjudgeError, match="without control characters"):
            put_runs(connection, found, aj.read(bad).runs, now=1.0)


def test_a_goal_about_the_first_systems_needs_more_of_them(database: Database) -> None:
    """Opening says so, and a change once it is open; RUNS are of two systems."""
    many, few = {"kind": "top", "top": 2}, {"kind": "top", "top": 1}
    message = "Goal top: 'top' must be below the number of systems, 2, got 2"
    with pytest.raises(AdjudgeError, match=message):
        opened(database, goal=many)
    found = opened(database, "others", goal=few)
    plain = found.settings.model_dump(mode="json")
    with database.write() as connection, pytest.raises(AdjudgeError, match=message):
        change_settings(connection, found, JudgingSettings.parse({**plain, "goal": many}), who="ann", now=1.0)


def test_runs_of_an_open_campaign_stay(database: Database) -> None:
    found = opened(database)
    with database.write() as connection, pytest.raises(Conflict, match="while it is a draft; this one is open"):
        put_runs(connection, found, aj.read(RUNS).runs, now=1.0)


def test_runs_are_replaced_not_added(database: Database) -> None:
    found = filled(database)
    with database.write() as connection:
        put_runs(connection, found, aj.read({"c": {"q1": ["d1"]}}).runs, now=1.0)
        assert connection.execute(select(t.run.c.system)).scalars().all() == ["c"]
        assert missing_items(connection, found) == []


def test_opening_makes_exactly_the_candidates(database: Database) -> None:
    found = opened(database)
    with database.read() as connection:
        rows = connection.execute(select(t.pair)).all()
        assert {(row.query, row.document) for row in rows} == FIRST_TWO
        assert {(row.wanted, row.taken, row.answered, row.held) for row in rows} == {(1, 0, 0, False)}
        assert sorted(connection.execute(select(t.queue.c.pair_id)).scalars()) == sorted(row.id for row in rows)
        assert overview(connection, found).pairs == len(FIRST_TWO)


def test_a_query_is_itself_before_the_document_of_its_name(database: Database) -> None:
    found = draft(database)
    texts = [NewItem("d1", kind="text", text="d"), NewItem("q1", kind="text", text="as a document")]
    with database.write() as connection:
        put_runs(connection, found, aj.read({"a": {"q1": ["d1"], "d1": ["q1"]}}).runs, now=1.0)
        put_items(connection, found, [*texts, NewItem("q1", "query", "text", text="as a query")])
        set_state(connection, found, "open", who="ann", now=1.0)
        heard = connection.execute(
            select(t.pair.c.query, t.item.c.text)
            .join(t.item, t.item.c.id == t.pair.c.query_item_id)
            .order_by(t.pair.c.query)
        ).all()
    assert [tuple(row) for row in heard] == [("d1", "d"), ("q1", "as a query")]


def test_what_is_missing_is_named_and_nothing_opens(database: Database) -> None:
    found = draft(database)
    with database.write() as connection:
        put_runs(connection, found, aj.read(RUNS).runs, now=1.0)
        put_items(connection, found, [NewItem("d1", kind="text", text="x"), NewItem("d2", facts={"artist": "y"})])
        assert missing_items(connection, found) == ["d2", "d4", "d5", "d6", "q1", "q2"]
    with database.write() as connection, pytest.raises(Refused, match=r"6 documents have nothing: 'd2', .*'q1', …"):
        set_state(connection, found, "open", who="ann", now=1.0)
    with database.read() as connection:
        assert find_campaign(connection, "songs").state == "draft"
        assert connection.execute(select(func.count()).select_from(t.pair)).scalar_one() == 0


def test_a_campaign_without_runs_does_not_open(database: Database) -> None:
    found = draft(database)
    with database.write() as connection, pytest.raises(Refused, match="has no runs yet"):
        set_state(connection, found, "open", who="ann", now=1.0)


def test_states_follow_one_another(database: Database) -> None:
    found = opened(database)
    for state, now in (("paused", 20.0), ("open", 21.0), ("closed", 22.0), ("open", 23.0), ("open", 24.0)):
        with database.write() as connection:
            found = set_state(connection, found, state, who="ann", now=now)
        assert found.state == state
    assert (found.opened_at, found.closed_at) == (13.0, None)
    with database.read() as connection:
        what = connection.execute(
            select(t.event.c.what).where(t.event.c.campaign_id == found.id).order_by(t.event.c.id)
        )
        assert what.scalars().all() == ["created", "runs", "open", "paused", "open", "closed", "open"]


def test_a_draft_cannot_be_closed(database: Database) -> None:
    found = filled(database)
    with database.write() as connection, pytest.raises(Conflict, match="draft can become open, not closed"):
        set_state(connection, found, "closed", who="ann", now=1.0)
    with database.write() as connection, pytest.raises(Refused, match="Expected a state among"):
        set_state(connection, found, "gone", who="ann", now=1.0)


def test_a_share_of_pairs_is_for_several_assessors(database: Database) -> None:
    found = opened(database, judged_by=3, agreement_share=0.5, seed=4)
    with database.read() as connection:
        wanted = connection.execute(select(t.pair.c.wanted).order_by(t.pair.c.id)).scalars().all()
    assert sorted(wanted) == [1, 1, 1, 3, 3, 3]
    with database.write() as connection:
        settings = JudgingSettings.parse({**found.settings.model_dump(mode="json"), "judged_by": 2})
        change_settings(connection, found, settings, who="ann", now=1.0)
        again = connection.execute(select(t.pair.c.wanted).order_by(t.pair.c.id)).scalars().all()
    assert again == [2 if number == 3 else 1 for number in wanted]


def answer_something(database: Database, found: Campaign) -> None:
    from adjudge.web.store.answers import append_answer

    values = {"code": "A1", "nonce": "n", "language": "en", "created_at": 1.0, "seen_at": 1.0}
    with database.write() as connection:
        who = connection.execute(
            insert(t.participant).values(campaign_id=found.id, **values).returning(t.participant.c.id)
        )
        first = connection.execute(select(t.pair.c.id).order_by(t.pair.c.id).limit(1)).scalar_one()
        append_answer(
            connection,
            {
                "campaign_id": found.id, "pair_id": first, "participant_id": who.scalar_one(), "lease_id": None,
                "key": "k", "kind": "judgment", "grades": {"broad": 1.0}, "heard": {}, "took_ms": None, "late": False,
                "created_at": 1.0,
            },
        )  # fmt: skip
        connection.execute(update(t.pair).where(t.pair.c.id == first).values(taken=1, answered=1))


def test_what_answers_rest_on_stays(database: Database) -> None:
    found = opened(database)
    answer_something(database, found)
    plain = found.settings.model_dump(mode="json")
    for change, what in (({"measure": "CG@3"}, "measure"), ({"scales": [{"name": "fine", "maximum": 100}]}, "scales")):
        with database.write() as connection, pytest.raises(Conflict, match=f"The {what} .* once there are answers"):
            change_settings(connection, found, JudgingSettings.parse({**plain, **change}), who="ann", now=1.0)
    with database.write() as connection:
        words = {"scales": [{**plain["scales"][0], "labels": {"en": ["no", "perhaps", "yes"]}}], "title": "Other"}
        after = change_settings(connection, found, JudgingSettings.parse({**plain, **words}), who="ann", now=1.0)
    assert (after.settings.title, after.settings_as(JudgingSettings).scales[0].labels["en"]) == (
        "Other",
        ("no", "perhaps", "yes"),
    )


def test_another_cutoff_before_the_first_answer_makes_other_pairs(database: Database) -> None:
    found = opened(database)
    settings = JudgingSettings.parse({**found.settings.model_dump(mode="json"), "measure": "CG@1"})
    with database.write() as connection:
        change_settings(connection, found, settings, who="ann", now=1.0)
        rows = connection.execute(select(t.pair.c.query, t.pair.c.document)).all()
    assert {tuple(row) for row in rows} == {("q1", "d1"), ("q1", "d2"), ("q2", "d2"), ("q2", "d6")}


def test_something_new_to_hear_has_a_new_address(database: Database) -> None:
    found = filled(database)

    def address() -> str:
        with database.read() as connection:
            return str(connection.execute(select(t.item.c.address).where(t.item.c.identifier == "d1")).scalar_one())

    before = address()
    with database.write() as connection:
        assert put_items(connection, found, [NewItem("d1", facts={"genre": "jazz"})]) == 1
        assert put_items(connection, found, [NewItem("d1", facts={"genre": "jazz"})]) == 0
    assert address() == before
    with database.write() as connection:
        put_items(connection, found, [NewItem("d1", kind="text", text="other words")])
        row = connection.execute(select(t.item).where(t.item.c.identifier == "d1")).one()
    assert address() != before
    assert (row.text, row.facts) == ("other words", {"artist": "1", "genre": "jazz"})


def test_documents_of_a_closed_campaign_stay(database: Database) -> None:
    found = opened(database)
    with database.write() as connection:
        closed = set_state(connection, found, "closed", who="ann", now=1.0)
    with database.write() as connection, pytest.raises(Conflict, match="reopen it to change its documents"):
        put_items(connection, closed, [NewItem("d1", facts={"genre": "jazz"})])
