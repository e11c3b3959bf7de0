"""Rankings out of a campaign, erasing, backups, and a suspicious look at all of it."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import update
from tests.web.conftest import ON_BOTH
from tests.web.ranking_rows import Ranking

from adjudge.web.errors import Refused
from adjudge.web.kinds.exports import export
from adjudge.web.kinds.lifecycle import exclude_participant
from adjudge.web.kinds.ranking.export import rankings_of
from adjudge.web.settings import Settings
from adjudge.web.store import schema
from adjudge.web.store.archive import backup, restore
from adjudge.web.store.database import Database
from adjudge.web.store.erase import erase_participant
from adjudge.web.store.participants import Participant


@pytest.fixture
def stage(database: Database, settings: Settings) -> Ranking:
    return Ranking(database, settings).begin(queries=1, judged_by=6)


def ordered(stage: Ranking, groups: list[str]) -> tuple[Participant, int]:
    """Somebody puts documents in order, named by their last letter: ``["b", "ad"]``."""
    who = stage.come()
    lease = stage.held(who)
    sent = stage.send(who, lease, [[f"q1-{letter}" for letter in group] for group in groups], comment="=1+1")
    return who, sent.answer_id


def exported(stage: Ranking, what: str, **options: str) -> str:
    with stage.database.read() as connection:
        return export(connection, stage.campaign, what, **options).data.decode()


@ON_BOTH
def test_rankings_are_those_that_stand_now_of_those_who_count(stage: Ranking) -> None:
    ann, first = ordered(stage, ["a", "bc"])
    ordered(stage, ["d", "c", "b", "a"])
    eve, _ = ordered(stage, ["c"])
    reopened = stage.reopen(ann, first)
    stage.send(ann, reopened, [["q1-b"], ["q1-a", "q1-d"]])
    with stage.database.write() as connection:
        exclude_participant(connection, eve, who="ann", now=stage.now)
    with stage.database.read() as connection:
        found = rankings_of(connection, stage.campaign).queries[0]
    assert (found.query, set(found.experts)) == ("q1", {"A1", "A2"})
    places = {name: at for at, name in enumerate(found.documents)}
    mine = found.ranks[found.experts.index("A1")]
    assert [mine[places[f"q1-{letter}"]] for letter in "bad"] == [1.0, 2.5, 2.5]
    assert np.isnan(mine[places["q1-c"]])
    rows = [tuple(row.values()) for row in csv.DictReader(io.StringIO(exported(stage, "rankings")))]
    assert rows[:4] == [("q1", "A1", "q1-b", "1"), ("q1", "A1", "q1-a", "2"), ("q1", "A1", "q1-d", "2"),
                        ("q1", "A1", "q1-c", "")]  # fmt: skip
    assert len(rows) == 8
    log = list(csv.DictReader(io.StringIO(exported(stage, "log"))))
    assert [row["kind"] for row in log] == ["judgment"] * 3 + ["correction"]
    assert (json.loads(log[0]["groups"]), log[0]["comment"], log[2]["set_aside"]) == (
        [["q1-a"], ["q1-b", "q1-c"]],
        "'=1+1",
        "organiser",
    )
    people = list(csv.DictReader(io.StringIO(exported(stage, "people"))))
    assert [(row["code"], row["rankings"], row["changes"]) for row in people] == [
        ("A1", "1", "1"),
        ("A2", "1", "0"),
        ("A3", "1", "0"),
    ]
    assert stage.faults() == []


def test_lists_are_made_of_the_orders(stage: Ranking) -> None:
    with pytest.raises(Refused, match="Nobody has sent a ranking"):
        exported(stage, "lists")
    assert exported(stage, "rankings") == "query,expert,document,rank\n"
    for _ in range(6):
        ordered(stage, ["a", "b", "c", "d"])
    expected = [["q1-a"], ["q1-b"], ["q1-c"], ["q1-d"]]  # six experts agree: every pair differs
    assert json.loads(exported(stage, "lists")) == {"q1": expected}
    assert json.loads(exported(stage, "lists", construction="All-2")) == {"q1": expected}
    assert exported(stage, "lists", form="groups").splitlines()[1].split() == ["q1", "1", "q1-a"]
    for options, why in (
        ({"construction": "Some-1"}, "Some"),
        ({"form": "trec"}, "can be had as json, groups"),
        ({"scale": "fine"}, "take no scale"),
    ):
        with pytest.raises(Refused, match=why):
            exported(stage, "lists", **options)
    with pytest.raises(Refused, match="for lists only"):
        exported(stage, "log", construction="Any-1")
    with pytest.raises(Refused, match="Expected one of rankings, lists"):
        exported(stage, "qrels")


@pytest.mark.parametrize("how", ["anonymise", "remove"])
@ON_BOTH
def test_who_is_erased_leaves_no_order_that_was_begun(stage: Ranking, how: str) -> None:
    ann, _ = ordered(stage, ["a", "b"])
    ben = stage.come()
    lease = stage.held(ben)
    stage.save(ben, lease, 0, [["q1-a"]])
    with stage.database.write() as connection:
        for who in (ann, ben):
            erase_participant(connection, who, how=how, who="participant", now=stage.now)
    assert stage.all_of(schema.arrangement) == []
    assert stage.pairs()["q1"]["taken"] == stage.pairs()["q1"]["answered"] == (1 if how == "anonymise" else 0)
    rows = exported(stage, "rankings").splitlines()
    assert len(rows) == (5 if how == "anonymise" else 1)
    log = [line.split(",") for line in exported(stage, "log").splitlines()]
    assert not any("A1" in cells for cells in log)  # as a cell: what was drawn may contain any two letters
    assert stage.faults() == []


@ON_BOTH
def test_a_backup_holds_orders_that_were_begun(stage: Ranking, tmp_path: Path) -> None:
    ordered(stage, ["a", "b"])
    ben = stage.come()
    stage.save(ben, stage.held(ben), 0, [["q1-c"], ["q1-a"]])
    backup(stage.database, stage.settings, tmp_path / "all.tar", now=stage.now)
    there = replace(stage.settings, data=tmp_path / "restored", database=None)
    restore(tmp_path / "all.tar", there)
    other = Ranking(Database(there.url), there)
    try:
        assert other.all_of(schema.arrangement) == stage.all_of(schema.arrangement)
        assert len(other.all_of(schema.arrangement)) == 2
        assert other.faults() == []
    finally:
        other.database.close()


@pytest.mark.parametrize(
    ("table", "values", "why"),
    [
        ("answer", {"grades": {"groups": [["q1-a"]], "unranked": ["q1-b"]}}, "every candidate of its query once"),
        ("arrangement", {"groups": [[1], [1]]}, "expected candidates of its query, each once"),
        ("arrangement", {"groups": [[99]]}, "expected candidates of its query, each once"),
        ("arrangement", {"version": 0}, "expected a version, and one campaign"),
        ("pair", {"document": "another"}, "expected at least two documents with ranks 1, 2"),
        ("pair", {"role": "question"}, "does not belong into a ranking campaign"),
        ("lease", {"swapped": True}, "which list stood first only where lists are compared"),
        ("lease", {"kind": "trap"}, "a ranking is leased as trap"),
        ("participant", {"erased_at": 1.0}, "its participant was erased"),
    ],
)
def test_what_does_not_add_up_is_found(stage: Ranking, table: str, values: dict[str, object], why: str) -> None:
    ordered(stage, ["a", "b"])
    assert stage.faults() == []
    with stage.database.write() as connection:
        connection.execute(update(schema.metadata.tables[table]).values(**values))
    assert any(why in line for line in stage.faults())
