"""What goes wrong around ranking campaigns goes wrong alone: one early query, one place in other hands, one bad zip."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from tests.web.conftest import ON_SQLITE
from tests.web.ranking_rows import HOUR, Ranking, some_candidates

from adjudge.errors import InputError
from adjudge.web.errors import Conflict, Refused
from adjudge.web.kinds.exports import export
from adjudge.web.kinds.lifecycle import exclude_participant
from adjudge.web.kinds.ranking.assignment import make_ranking_desk
from adjudge.web.kinds.ranking.store import read_candidates
from adjudge.web.settings import Settings
from adjudge.web.store.database import Database
from adjudge.web.store.media import unpacked, working_folder


@pytest.fixture
def stage(database: Database, settings: Settings) -> Ranking:
    return Ranking(database, settings)


def report_of(stage: Ranking) -> str:
    with stage.database.read() as connection:
        return export(connection, stage.campaign, "report", form="markdown").data.decode()


def lists_of(stage: Ranking) -> dict[str, list[list[str]]]:
    with stage.database.read() as connection:
        found: dict[str, list[list[str]]] = json.loads(export(connection, stage.campaign, "lists").data)
    return found


@ON_SQLITE
def test_a_query_with_one_ranked_document_keeps_no_other_from_its_list(stage: Ranking) -> None:
    stage.begin(queries=2, documents=3, judged_by=2)
    who = stage.come()
    first = stage.held(who)
    stage.send(who, first, [stage.documents(first)[:1]])
    with pytest.raises(Refused, match="expected at least two documents that somebody ranked"):
        lists_of(stage)  # there is no list at all yet
    second = stage.held(who)
    stage.send(who, second, [[name] for name in stage.documents(second)])
    asked = some_candidates(2, 3)
    (query,) = lists_of(stage)
    assert asked[query] == stage.documents(second)
    assert query in report_of(stage)


@ON_SQLITE
def test_who_gets_nothing_while_a_place_is_being_given_out_waits(stage: Ranking) -> None:
    # PostgreSQL passes over a query that somebody else is taking this moment: it is not all that there was to do.
    stage.begin(queries=1, judged_by=2)
    who = stage.come()

    def why() -> str | None:
        with stage.database.read() as connection:
            return make_ranking_desk(connection, stage.campaign, who, None).why

    assert why() == "wait"
    lease = stage.held(who)
    stage.give_back(who, lease)
    assert why() == "nothing_left"  # they did not want it, and can ask for it
    stage.send(who, stage.held(who), [stage.documents(lease)[:2]])
    assert why() == "nothing_left"


def test_whoever_was_set_aside_takes_nothing_into_their_hands(stage: Ranking) -> None:
    stage.begin(queries=2, judged_by=1, kept_hours=1)
    who = stage.come()
    lease = stage.held(who)
    sent = stage.send(who, lease, [stage.documents(lease)])
    other = stage.held(who)
    stage.now += 2 * HOUR
    ben = stage.come()
    stage.held(ben)  # which ends what has run out
    with stage.database.write() as connection:
        exclude_participant(connection, who, who="ann", now=stage.now)
    stage.give_back(ben, stage.held(ben))
    saved = stage.save(who, other, 0, [stage.documents(other)])
    assert saved.expires_at < stage.now  # the ranking is kept, the query is for others
    with pytest.raises(Conflict, match="your rankings stay as you sent them"):
        stage.reopen(who, sent.answer_id)
    assert stage.desk(who).question is None
    assert stage.faults() == []


def test_a_query_without_documents_is_not_lost_in_silence(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"q1": ["a", "b"], "q2": []}')
    with pytest.raises(InputError, match=r"2 to 200 documents for query 'q2'.*got none"):
        read_candidates(tmp_path / "a.json")


@ON_SQLITE
@pytest.mark.parametrize("how", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA], ids=["bzip2", "lzma"])
def test_packings_that_unpack_without_limit_are_refused(settings: Settings, tmp_path: Path, how: int) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", how) as archive:
        archive.writestr("d1.txt", bytes(1000))
    with working_folder(settings) as folder, pytest.raises(Refused, match="expected a zip of deflated files"):
        unpacked({"a.zip": tmp_path / "a.zip"}, folder, settings)


@ON_SQLITE
def test_a_zip_with_a_name_that_is_no_text_is_refused(settings: Settings, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("ü.txt", b"words")
    (tmp_path / "a.zip").write_bytes((tmp_path / "a.zip").read_bytes().replace("ü".encode(), b"\xff\xfe"))
    with working_folder(settings) as folder, pytest.raises(Refused, match="expected a zip that can be unpacked"):
        unpacked({"a.zip": tmp_path / "a.zip"}, folder, settings)
