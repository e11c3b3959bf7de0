"""Orders of documents: one query at a time, saved by version, sent once, changed later, never lost."""

from __future__ import annotations

import threading

import pytest
from tests.web.conftest import ON_SQLITE
from tests.web.ranking_rows import HOUR, Ranking

from adjudge.web.errors import Conflict, NotFound, Refused
from adjudge.web.kinds.lifecycle import set_state
from adjudge.web.kinds.ranking.assignment import NewOrder, NoPlaceLeft, StaleArrangement, arrangement_of, store_order
from adjudge.web.settings import Settings
from adjudge.web.store import schema
from adjudge.web.store.campaigns import in_use
from adjudge.web.store.database import Database


@pytest.fixture
def stage(database: Database, settings: Settings) -> Ranking:
    return Ranking(database, settings)


def test_an_expert_orders_one_query_after_the_other(stage: Ranking) -> None:
    stage.begin(queries=3, judged_by=2)
    ann = stage.come()
    first = stage.held(ann)
    assert stage.held(ann).id == first.id  # a reload changes nothing
    shown = stage.desk(ann)
    assert shown.question is not None
    assert (shown.question.number, shown.question.arrangement.version, shown.question.arrangement.groups) == (1, 0, [])
    assert {one.text for one in shown.question.candidates} == {f"words about {name}" for name in stage.documents(first)}
    a, b, c, d = stage.documents(first)
    stage.send(ann, first, [[b], [a, d]], query_ms=5, candidates_ms={stage.numbers(first, [[b]])[0][0]: 7})
    kept = stage.all_of(schema.answer)[0]
    assert kept["grades"] == {"groups": [[b], [a, d]], "unranked": [c]}
    assert kept["heard"] == {"query_ms": 5, "candidates_ms": {b: 7}}
    after = stage.desk(ann)
    assert (after.progress.answered, after.progress.of) == (1, 3)
    assert [(one.query, one.ranked, one.of) for one in after.done] == [(stage.query(first), 3, 4)]
    assert len({stage.query(first), *stage.work(ann)}) == 3
    end = stage.desk(ann)
    assert (end.question, end.why, end.progress.answered, end.progress.of) == (None, "nothing_left", 3, 3)
    assert stage.faults() == []


@ON_SQLITE
def test_everybody_begins_with_an_order_of_their_own(stage: Ranking) -> None:
    stage.begin(queries=1, documents=12, judged_by=5)
    trays = []
    for _ in range(3):
        who = stage.come()
        desk, again = stage.desk(who), stage.desk(who)
        assert desk.question is not None
        assert again.question is not None
        assert desk.question.candidates == again.question.candidates
        trays.append([one.id for one in desk.question.candidates])
    assert len({tuple(tray) for tray in trays}) == 3
    assert len({tuple(sorted(tray)) for tray in trays}) == 1


def test_what_was_saved_is_there_on_another_device_and_for_days(stage: Ranking) -> None:
    stage.begin(queries=2, judged_by=1, kept_hours=48)
    ann, ben = stage.come(), stage.come()
    lease = stage.held(ann)
    a, b, c, _ = stage.documents(lease)
    stage.now += 30 * HOUR
    assert stage.save(ann, lease, 0, [[a]]).expires_at == stage.now + 48 * HOUR
    assert stage.save(ann, lease, 1, [[a], [], [b, c]]).version == 2  # any shape is fine as long as it is not sent
    stage.now += 40 * HOUR
    other = stage.held(ben)
    assert other.pair_id != lease.pair_id  # the place is hers
    shown = stage.desk(ann).question
    assert shown is not None
    assert (shown.lease, shown.arrangement.version) == (lease.id, 2)
    assert shown.arrangement.groups == stage.numbers(lease, [[a], [], [b, c]])
    assert stage.faults() == []


def test_two_windows_save_in_turn_and_the_second_is_told_what_the_first_made(stage: Ranking) -> None:
    stage.begin()
    ann = stage.come()
    lease = stage.held(ann)
    a, b, *_ = stage.documents(lease)
    stage.save(ann, lease, 0, [[a]])
    with pytest.raises(StaleArrangement, match="changed this ranking elsewhere") as stale:
        stage.save(ann, lease, 0, [[b]])
    assert (stale.value.there.version, [list(one) for one in stale.value.there.groups]) == (
        1,
        stage.numbers(lease, [[a]]),
    )
    assert stage.save(ann, lease, 0, [[a]]).version == 1  # sent again by a bad network
    assert stage.save(ann, lease, 1, [[b], [a]]).version == 2
    with pytest.raises(StaleArrangement, match="changed this ranking elsewhere"):
        stage.save(ann, lease, 7, [[a]])


@ON_SQLITE
def test_repeated_and_foreign_documents_are_refused_when_saving(stage: Ranking) -> None:
    stage.begin()
    ann, ben = stage.come(), stage.come()
    lease = stage.held(ann)
    a, *_ = stage.documents(lease)
    with pytest.raises(Refused, match=r"at one place, got document .* twice"):
        stage.save(ann, lease, 0, [[a], [a]])
    with pytest.raises(Refused, match=r"got document .*, which is none"):
        stage.save(ann, lease, 0, [["q1"], [a]])
    with pytest.raises(NotFound, match="never given to you"):
        stage.save(ben, lease, 0, [[a]])
    assert stage.all_of(schema.arrangement) == []


@ON_SQLITE
def test_orders_that_break_a_rule_are_refused_in_one_line(stage: Ranking) -> None:
    stage.begin(ties=False, least_ranked=3)
    ann = stage.come()
    lease = stage.held(ann)
    a, b, c, d = stage.documents(lease)
    for groups, why in (
        ([[a], [b, c]], "at a place of its own, got several that share one"),
        ([[a], [], [b], [c]], "got an empty one"),
        ([[a], [b]], "at least 3 documents in the ranking, got 2"),
        ([], "at least 3 documents in the ranking, got 0"),
        ([[a], [b], [c], [d], [a]], "got document .* twice"),
        ([[a], [b], [c], ["q1"]], "which is none"),
    ):
        with pytest.raises(Refused, match=why):
            stage.send(ann, lease, groups)
    stage.send(ann, lease, [[a], [b], [c]])
    assert [row["kind"] for row in stage.all_of(schema.answer)] == ["judgment"]


@ON_SQLITE
def test_all_must_be_ranked_where_the_campaign_says_so(stage: Ranking) -> None:
    stage.begin(rank_all=True)
    ann = stage.come()
    lease = stage.held(ann)
    with pytest.raises(Refused, match="all 4 documents in the ranking, got 1"):
        stage.send(ann, lease, [stage.documents(lease)[:1]])
    stage.send(ann, lease, [stage.documents(lease)])


def test_the_same_key_is_the_same_answer_and_another_one_is_refused(stage: Ranking) -> None:
    stage.begin()
    ann = stage.come()
    lease = stage.held(ann)
    a, b, *_ = stage.documents(lease)
    first = stage.send(ann, lease, [[a], [b]], key="key-of-ann")
    again = stage.send(ann, lease, [[b], [a]], key="key-of-ann")
    assert (again.again, again.answer_id) == (True, first.answer_id)
    with pytest.raises(Conflict, match="answered this question already"):
        stage.send(ann, lease, [[b]], key="another-key")
    with pytest.raises(Conflict, match="sent this ranking already"):
        stage.save(ann, lease, 1, [[b]])
    assert stage.all_of(schema.answer)[0]["grades"]["groups"] == [[a], [b]]
    assert stage.pairs()[stage.query(lease)]["answered"] == 1


def test_a_query_that_ran_out_during_the_work_is_gone_on_with_where_a_place_is_free(stage: Ranking) -> None:
    stage.begin(queries=2, judged_by=3, kept_hours=1)
    ann, ben = stage.come(), stage.come()
    lease = stage.held(ann)
    a, b, *_ = stage.documents(lease)
    stage.save(ann, lease, 0, [[a]])
    stage.now += 2 * HOUR
    stage.held(ben)  # whoever asks ends what ran out
    assert [row["ended_how"] for row in stage.all_of(schema.lease) if row["id"] == lease.id] == ["expired"]
    saved = stage.save(ann, lease, 1, [[a], [b]])  # her page never knew
    assert (saved.version, saved.expires_at) == (2, stage.now + HOUR)
    assert stage.held(ann).id == lease.id
    stage.now += 2 * HOUR
    stage.held(stage.come())
    again = stage.held(ann)  # she comes back the next day, and asks
    assert (again.pair_id, again.id == lease.id) == (lease.pair_id, False)
    shown = stage.desk(ann).question
    assert shown is not None
    assert shown.arrangement.groups == stage.numbers(lease, [[a], [b]])
    stored = stage.send(ann, lease, [[a], [b]])  # the old page is still open somewhere
    assert stage.all_of(schema.answer)[0]["late"] is True
    assert stored.again is False
    assert stage.pairs()[stage.query(lease)]["answered"] == 1
    assert stage.faults() == []


def test_where_others_took_all_places_the_order_is_kept_for_when_one_is_free(stage: Ranking) -> None:
    stage.begin(queries=1, judged_by=1, kept_hours=1)
    ann, ben = stage.come(), stage.come()
    lease = stage.held(ann)
    a, b, *_ = stage.documents(lease)
    stage.save(ann, lease, 0, [[a], [b]])
    stage.now += 2 * HOUR
    taken = stage.held(ben)
    saved = stage.save(ann, lease, 1, [[b], [a]])
    assert (saved.version, saved.expires_at < stage.now) == (2, True)  # kept, but not the place
    with pytest.raises(NoPlaceLeft, match="Your ranking is kept"):
        stage.send(ann, lease, [[b], [a]])
    assert stage.desk(ann).why == "wait"
    stage.skip(ben, taken)
    mine = stage.desk(ann).question
    assert mine is not None
    assert mine.arrangement.groups == stage.numbers(lease, [[b], [a]])
    stage.send(ann, lease, [[b], [a]])
    assert (stage.desk(ann).why, stage.desk(ben).why) == ("nothing_left", "nothing_left")
    assert stage.faults() == []


def test_two_at_once_do_not_get_one_place(stage: Ranking) -> None:
    stage.begin(queries=1, judged_by=1, kept_hours=1)
    ann, ben = stage.come(), stage.come()
    lease = stage.held(ann)
    stage.now += 2 * HOUR
    said: list[str] = []

    def send() -> None:
        try:
            stage.send(ann, lease, [stage.documents(lease)])
            said.append("ann")
        except NoPlaceLeft:
            pass

    def hold() -> None:
        if stage.hold(ben) is not None:
            said.append("ben")

    threads = [threading.Thread(target=do) for do in (send, hold)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(said) == 1
    assert stage.faults() == []


def test_an_order_can_be_reopened_and_sent_again(stage: Ranking) -> None:
    stage.begin(queries=2)
    ann = stage.come()
    lease = stage.held(ann)
    a, b, c, d = stage.documents(lease)
    first = stage.send(ann, lease, [[a], [b]])
    begun = stage.held(ann)  # the next query is hers meanwhile, and stays so
    stage.save(ann, begun, 0, [stage.documents(begun)[:1]])
    reopened = stage.reopen(ann, first.answer_id)
    assert stage.reopen(ann, first.answer_id).id == reopened.id
    shown = stage.desk(ann).question
    assert shown is not None
    assert (shown.lease, shown.corrects, shown.number) == (reopened.id, first.answer_id, 1)
    assert shown.arrangement.groups == stage.numbers(lease, [[a], [b]])
    stage.save(ann, reopened, shown.arrangement.version, [[c], [b]])
    second = stage.send(ann, reopened, [[c], [b]], key="key-changed")
    assert stage.send(ann, reopened, [[d]], key="key-changed").again is True
    with pytest.raises(Conflict, match="changed this ranking already"):
        stage.send(ann, reopened, [[d]])
    stored = stage.all_of(schema.answer)
    assert [(row["kind"], row["corrects"]) for row in stored] == [("judgment", None), ("correction", first.answer_id)]
    assert stored[-1]["grades"] == {"groups": [[c], [b]], "unranked": [a, d]}
    after = stage.desk(ann)
    assert after.question is not None
    assert (after.question.lease, after.question.arrangement.version) == (begun.id, 1)
    assert [(one.answer, one.ranked, one.of) for one in after.done] == [(first.answer_id, 2, 4)]
    assert stage.pairs()[stage.query(lease)]["answered"] == 1
    assert stage.reopen(ann, second.answer_id).pair_id == lease.pair_id  # by the correction as well
    assert stage.faults() == []


@ON_SQLITE
def test_a_reopened_order_that_is_handed_back_stays_as_it_was_sent(stage: Ranking) -> None:
    stage.begin(queries=1)
    ann = stage.come()
    lease = stage.held(ann)
    a, b, *_ = stage.documents(lease)
    first = stage.send(ann, lease, [[a], [b]])
    reopened = stage.reopen(ann, first.answer_id)
    stage.save(ann, reopened, 1, [[b]])
    with pytest.raises(Refused, match="leave it as it was instead"):
        stage.skip(ann, reopened)
    assert stage.give_back(ann, reopened) is None
    with pytest.raises(Conflict, match="handed this query back already"):
        stage.save(ann, reopened, 2, [[b]])
    with stage.database.read() as connection:
        kept = arrangement_of(connection, ann.id, lease.pair_id)
    assert [list(group) for group in kept.groups] == stage.numbers(lease, [[a], [b]])
    with stage.database.write() as connection:
        set_state(connection, stage.campaign, "paused", who="ann", now=stage.now)
    with pytest.raises(Conflict, match="while the campaign is open; it is paused"):
        stage.reopen(ann, first.answer_id)
    assert stage.faults() == []


@ON_SQLITE
def test_only_an_order_of_ones_own_can_be_reopened(stage: Ranking) -> None:
    stage.begin(queries=2)
    ann, ben = stage.come(), stage.come()
    sent = stage.send(ann, lease := stage.held(ann), [stage.documents(lease)])
    skipped = stage.skip(ann, stage.held(ann))
    with pytest.raises(NotFound, match="no such answer of yours"):
        stage.reopen(ben, sent.answer_id)
    with pytest.raises(Refused, match="got a query that was skipped"):
        stage.reopen(ann, skipped.answer_id)


def test_a_query_that_is_handed_back_comes_after_all_others(stage: Ranking) -> None:
    stage.begin(queries=3, judged_by=1)
    ann = stage.come()
    lease = stage.held(ann)
    stage.save(ann, lease, 0, [stage.documents(lease)[:1]])
    second = stage.give_back(ann, lease)
    assert second is not None
    assert second.pair_id != lease.pair_id
    assert stage.pairs()[stage.query(lease)]["taken"] == 0
    third = stage.give_back(ann, second)
    assert third is not None
    assert len({lease.pair_id, second.pair_id, third.pair_id}) == 3
    stage.send(ann, third, [stage.documents(third)])
    *_, last = stage.work(ann)
    assert stage.desk(ann).progress.answered == 3
    assert {stage.query(lease), stage.query(second)} >= {last}
    assert stage.faults() == []


@ON_SQLITE
def test_the_only_query_left_does_not_come_back_at_once(stage: Ranking) -> None:
    stage.begin(queries=1)
    ann = stage.come()
    lease = stage.held(ann)
    stage.save(ann, lease, 0, [stage.documents(lease)[:2]])
    assert stage.give_back(ann, lease) is None
    again = stage.desk(ann).question  # but when she asks again
    assert again is not None
    assert again.arrangement.version == 1


def test_skipped_queries_go_to_others_and_are_held_back_when_broken(stage: Ranking) -> None:
    stage.begin(queries=1, judged_by=3)
    ann, ben, eve = (stage.come() for _ in range(3))
    for who in (ann, ben):
        stage.skip(who, stage.held(who), "broken")
        assert stage.desk(who).why == "nothing_left"
    assert stage.hold(eve) is None
    assert stage.pairs()["q1"]["held"] is True
    assert stage.faults() == []


@ON_SQLITE
def test_documents_that_get_a_place_must_be_heard(stage: Ranking) -> None:
    stage.begin(queries=1, listen_seconds=3)
    ann = stage.come()
    lease = stage.held(ann)
    a, b, *_ = stage.documents(lease)
    with stage.database.write() as connection:
        connection.execute(schema.item.update().values(kind="notation", seconds=2.0))
    numbers = stage.numbers(lease, [[a], [b]])
    first, second = numbers[0][0], numbers[1][0]
    with pytest.raises(Refused, match=r"Listen to the query for at least 1.8 s"):
        stage.send(ann, lease, [[a], [b]])
    with pytest.raises(Refused, match=r"Listen to document 2 of your ranking for at least 1.8 s"):
        stage.send(ann, lease, [[a], [b]], query_ms=1800, candidates_ms={first: 1800, second: 1000})
    with pytest.raises(Refused, match="got one of document 99999, which is none"):
        stage.send(ann, lease, [[a]], query_ms=1800, candidates_ms={99999: 1})
    stage.send(ann, lease, [[a], [b]], query_ms=1800, candidates_ms={first: 1800, second: 1900})


@ON_SQLITE
def test_nothing_new_is_given_out_while_a_campaign_pauses_and_what_is_in_hand_counts(stage: Ranking) -> None:
    stage.begin(queries=2)
    ann, ben = stage.come(), stage.come()
    lease = stage.held(ann)
    with stage.database.write() as connection:
        set_state(connection, stage.campaign, "paused", who="ann", now=stage.now)
    assert (stage.desk(ben).why, stage.held(ann).id) == ("paused", lease.id)
    stage.save(ann, lease, 0, [stage.documents(lease)])
    stage.send(ann, lease, [stage.documents(lease)])
    assert stage.desk(ann).why == "paused"
    with stage.database.write() as connection:
        set_state(connection, stage.campaign, "closed", who="ann", now=stage.now)
    assert stage.desk(ann).why == "closed"


def test_somebody_set_aside_takes_no_place(stage: Ranking) -> None:
    from adjudge.web.kinds.lifecycle import exclude_participant

    stage.begin(queries=1, judged_by=1)
    ann, ben = stage.come(), stage.come()
    lease = stage.held(ann)
    with stage.database.write() as connection:
        exclude_participant(connection, ann, who="ann", now=stage.now)
    assert stage.hold(ann) is None
    with stage.database.write() as connection:
        groups = stage.numbers(lease, [stage.documents(lease)])
        sent = NewOrder(key="key-late-1", lease=lease.id, groups=groups)
        campaign = in_use(connection, ann.campaign_id)
        store_order(connection, campaign, ann.id, sent, now=stage.now)
    assert stage.pairs()["q1"]["answered"] == 0
    assert stage.work(ben) == ["q1"]
    assert stage.faults() == []
