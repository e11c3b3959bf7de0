"""What a ranking campaign holds: candidates by query, from files of many shapes; and what may be decided when."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from tests.web.conftest import ON_SQLITE
from tests.web.ranking_rows import Ranking, ranking_campaign, ranking_draft, ranking_texts, some_candidates

from adjudge.errors import AdjudgeError, InputError
from adjudge.web.errors import Conflict, Refused
from adjudge.web.kinds.lifecycle import change_settings, overview, set_state
from adjudge.web.kinds.ranking.settings import RankingSettings
from adjudge.web.kinds.ranking.store import candidate_files, candidates_of, put_candidates, read_candidates
from adjudge.web.settings import Settings
from adjudge.web.store import schema
from adjudge.web.store.database import Database
from adjudge.web.store.items import missing_listed_items, needed_listed_items, put_items

BOTH = {"q1": ["d2", "d1"], "q2": ["d1", "d3", "d2"]}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b"query,document\nq1,d2\nq1,d1\nq2,d1\nq2,d3\nq2,d2\n"),
        ("a.csv", b"\xef\xbb\xbfTopic;Doc\r\nq1;d2\r\n\r\nq1;d1\r\nq2;d1\r\nq2;d3\r\nq2;d2\r\n"),
        ("a.tsv", b"query_id\tdocument_id\nq1\td2\nq2\td1\nq1\td1\nq2\td3\nq2\td2\n\n"),
        ("a.csv.gz", gzip.compress(b"query,document\nq1,d2\nq1,d1\nq2,d1\nq2,d3\nq2,d2\n", mtime=0)),
        ("a.json", b'{"q1": ["d2", "d1"], "q2": ["d1", "d3", "d2"]}'),
        ("a.run", b"q1 Q0 d1 2 0.5 s\nq1 Q0 d2 1 0.9 s\nq2 Q0 d1 1 9 s\nq2 Q0 d3 2 8 s\nq2 Q0 d2 3 7 s\n"),
    ],
    ids=["csv", "marked", "tsv", "gzip", "json", "run"],
)
def test_candidates_come_in_many_shapes(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    assert read_candidates(tmp_path / name) == BOTH


def test_documents_of_several_runs_are_pooled_best_ranks_first(tmp_path: Path) -> None:
    one, two = tmp_path / "one.txt", tmp_path / "two.txt"
    one.write_text("q1 Q0 a 1 9 one\nq1 Q0 b 2 8 one\nq1 Q0 c 3 7 one\n")
    two.write_text("q1 Q0 d 1 9 two\nq1 Q0 a 2 8 two\nq1 Q0 e 3 7 two\nq2 Q0 x 1 9 two\nq2 Q0 y 2 8 two\n")
    found = candidate_files([one, two])
    assert found.candidates == {"q1": ["a", "d", "b", "c", "e"], "q2": ["x", "y"]}
    assert [Path(name).name for name, _ in found.inputs] == ["one.txt", "two.txt"]
    assert candidate_files([one, two], cutoff=2).candidates == {"q1": ["a", "d", "b"], "q2": ["x", "y"]}
    with pytest.raises(AdjudgeError, match="'cutoff' must be at least 1, got 0"):
        candidate_files([one, two], cutoff=0)
    with pytest.raises(AdjudgeError, match=r"2 to 200 documents for query 'q2'.*got only 'x'"):
        candidate_files([one, two], cutoff=1)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (
            b"query,document\nq1,a\nq1,b\n\nq1,a\n",
            r"a.csv:5: expected each document once a query, got 'a' of 'q1' again",
        ),
        (b"query,document\nq1,a\nq1,b\nq2,c\n", r"a.csv:4: expected 2 to 200 documents for query 'q2', got only 'c'"),
        (b"query,title\nq1,a\n", r"a.csv"),
        (b"", r"a.csv: expected data, got an empty file"),
        (b"query,document\n" + b"".join(b"q,%d\n" % n for n in range(201)), r"a.csv:2: .* for query 'q', got 201"),
    ],
    ids=["again", "alone", "columns", "empty", "many"],
)
def test_files_with_faults_are_refused_with_their_line(tmp_path: Path, content: bytes, why: str) -> None:
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(InputError, match=why):
        read_candidates(tmp_path / "a.csv")


def test_a_cutoff_is_for_runs(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("query,document\nq1,a\nq1,b\n")
    with pytest.raises(InputError, match="expected runs where a cutoff is given"):
        read_candidates(tmp_path / "a.csv", cutoff=1)


def test_candidates_that_come_again_in_another_table_are_told(tmp_path: Path) -> None:
    one, two, three = tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "c.json"
    one.write_text("query,document\nq1,a\nq1,b\n")
    two.write_text("query,document\nq1,b\nq2,a\nq2,b\n")
    three.write_text('{"q3": ["a", "b"]}')
    found = candidate_files([one, two])
    assert found.candidates == {"q1": ["a", "b"], "q2": ["a", "b"]}
    assert found.notes == ["Candidates in several tables are taken once (1 of 4): 'b' of 'q1'."]
    assert candidate_files([one, one]).notes == [f"{one}: given twice; read once."]
    assert candidate_files([one, three]).notes == []
    assert candidate_files([one, two], cutoff=2).notes == []  # which makes them runs


def test_candidates_are_kept_in_order_and_replaced_while_the_campaign_is_a_draft(database: Database) -> None:
    found = ranking_draft(database, judged_by=3)
    with database.write() as connection:
        with pytest.raises(Refused, match="needs a file with the candidates"):
            set_state(connection, found, "open", who="ann", now=1.0)
        put_candidates(connection, found, {"old": ["x", "y"]}, now=1.0)
        put_candidates(connection, found, {"q": ["b", "a", "q"], "p": ["a", "c"]}, now=2.0)
        assert candidates_of(connection, found.id) == {"q": ["b", "a", "q"], "p": ["a", "c"]}
        assert missing_listed_items(connection, found) == ["a", "b", "c", "p", "q"]
        assert needed_listed_items(connection, found) == {"document": {"a", "b", "c", "p", "q"}, "query": {"p", "q"}}
        with pytest.raises(Refused, match="every document and query; 5 documents have nothing: 'a', 'b'"):
            set_state(connection, found, "open", who="ann", now=3.0)
        put_items(connection, found, ranking_texts({"q": ["b", "a", "q"], "p": ["a", "c"]}))
        opened = set_state(connection, found, "open", who="ann", now=4.0)
        counts = overview(connection, opened)
        assert (counts.items, counts.pairs, counts.judged, counts.systems) == (5, 2, 0, 0)
        with pytest.raises(Conflict, match="while it is a draft; this one is open"):
            put_candidates(connection, opened, {"q": ["b", "a"]}, now=5.0)


@ON_SQLITE
@pytest.mark.parametrize(
    ("candidates", "why"),
    [
        ({}, "of 1 to 10,000 queries, got none"),
        ({"q": ["a"]}, "Query 'q': expected 2 to 200 documents to put in order, got 1"),
        ({"q": ["a", "b", "a"]}, "Query 'q': expected each document once, got 'a' again"),
        ({"q": [str(n) for n in range(201)]}, "got 201"),
        ({"q": ["a", "b\x00"]}, "without control characters"),
    ],
)
def test_what_nobody_can_put_in_order_is_refused(
    database: Database, candidates: dict[str, list[str]], why: str
) -> None:
    found = ranking_draft(database)
    with database.write() as connection, pytest.raises(Refused, match=why):
        put_candidates(connection, found, candidates, now=1.0)


@ON_SQLITE
def test_the_order_of_queries_is_drawn_from_the_seed(database: Database) -> None:
    drawn = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        found = ranking_campaign(database, name, candidates=some_candidates(12), seed=seed)
        with database.read() as connection:
            rows = connection.execute(
                schema.queue.select().where(schema.queue.c.campaign_id == found.id).order_by(schema.queue.c.place)
            ).all()
            drawn.append([row.pair_id - min(one.pair_id for one in rows) for row in rows])
    assert drawn[0] == drawn[1] != drawn[2]
    assert sorted(drawn[2]) == list(range(12))


@ON_SQLITE
def test_what_orders_rest_on_stays_once_there_are_any_and_more_experts_may_be_asked(
    database: Database, settings: Settings
) -> None:
    stage = Ranking(database, settings).begin(queries=1, judged_by=1)
    stage.work(stage.come())
    assert stage.hold(stage.come()) is None
    there = stage.campaign.settings_as(RankingSettings)
    with database.write() as connection:
        for change in ({"ties": False}, {"rank_all": True}, {"least_ranked": 2}, {"seed": 9}):
            with pytest.raises(Conflict, match=f"The {next(iter(change))} of a ranking campaign cannot be changed"):
                change_settings(connection, stage.campaign, there.model_copy(update=change), who="ann", now=200.0)
        more = there.model_copy(update={"judged_by": 2, "title": "Incipits"})
        change_settings(connection, stage.campaign, more, who="ann", now=201.0)
    assert stage.pairs()["q1"]["wanted"] == 2
    assert stage.work(stage.come()) == ["q1"]
    assert stage.faults() == []
