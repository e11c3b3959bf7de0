"""Deleting a whole campaign: what goes, what stays, and that nothing of another one is touched."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from tests.web.people_app import make_campaign, make_organiser

import adjudge as aj
from adjudge.formats import Source
from adjudge.web.errors import Conflict, NotFound
from adjudge.web.kinds.documents import take_documents
from adjudge.web.kinds.judging.settings import JudgingSettings
from adjudge.web.kinds.judging.store import import_judgments, put_runs
from adjudge.web.kinds.lifecycle import create_campaign, set_state
from adjudge.web.kinds.ranking.settings import RankingSettings
from adjudge.web.kinds.verify import verify
from adjudge.web.live import Estimating
from adjudge.web.settings import Settings
from adjudge.web.store import schema as t
from adjudge.web.store.campaigns import Campaign, find_campaign
from adjudge.web.store.database import Database
from adjudge.web.store.erase import Deletion, delete_campaign, erase_participant, what_would_go
from adjudge.web.store.items import NewItem, put_items
from adjudge.web.store.participants import find_participant
from adjudge.web.store.schema import metadata

RUNS = {"a": {"q1": ["d1", "d2"]}, "b": {"q1": ["d3", "d2"]}}
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(40))


def filled(database: Database, settings: Settings, folder: Path, name: str, *, own: bytes) -> Campaign:
    """A closed campaign with judgments of two people and two pictures: one of its own, one that others have as well."""
    pictures = {"d1": PNG, "d3": PNG + own}
    for document, data in pictures.items():
        (folder / f"{document}.png").write_bytes(data)
    with database.write() as connection:
        decided = JudgingSettings.parse({"title": name, "measure": "CG@2"})
        made = create_campaign(connection, name=name, settings=decided, organiser_id=None, now=1.0)
        put_runs(connection, made, aj.read(RUNS).runs, now=1.0)
        put_items(connection, made, [NewItem("d2", kind="text", text="x"), NewItem("q1", "query", "text", text="q")])
    take_documents(database, settings, made, files={f"{d}.png": folder / f"{d}.png" for d in pictures})
    source = Source("file.csv", b"query,document,grade,assessor\nq1,d1,80,ann\nq1,d2,10,ann\nq1,d1,60,bob\n")
    with database.write() as connection:
        opened = set_state(connection, made, "open", who="ann", now=2.0)
        import_judgments(connection, opened, source, scale="fine", now=3.0)
        return set_state(connection, opened, "closed", who="ann", now=4.0)


def everything(database: Database, *, but: str = "") -> dict[str, list[dict[str, Any]]]:
    with database.read() as connection:
        return {
            table.name: [dict(row) for row in connection.execute(select(table).order_by(*table.primary_key)).mappings()]
            for table in metadata.sorted_tables
            if table.name != but
        }


def files(settings: Settings) -> set[str]:
    return {path.name for path in settings.media.glob("*/*")}


def age(settings: Settings, seconds: float = 7200) -> None:
    """Let files have been there for a while."""
    for path in settings.media.glob("*/*"):
        os.utime(path, (path.stat().st_mtime - seconds,) * 2)


def delete(database: Database, settings: Settings, name: str = "songs") -> Deletion:
    return delete_campaign(database, settings, name, who="ann")


def test_rows_and_files_go_and_those_of_another_campaign_stay(
    database: Database, settings: Settings, tmp_path: Path
) -> None:
    filled(database, settings, tmp_path, "kept", own=b"1")
    before, files_before = everything(database, but="event"), files(settings)
    found = filled(database, settings, tmp_path, "songs", own=b"2")
    Estimating(settings, database).refresh(found.id)
    age(settings)
    gone = delete(database, settings)
    assert (gone.campaign, gone.kind, gone.participants, gone.answers, gone.files) == ("songs", "judging", 2, 3, 1)
    assert everything(database, but="event") == before
    assert files(settings) == files_before
    assert verify(database, settings) == []
    assert delete(database, settings, "kept").files == 2
    assert {name: len(rows) for name, rows in everything(database).items() if rows} == {"event": 2}
    assert files(settings) == set()


def test_the_log_keeps_that_it_was_deleted_and_proof_of_receipts_but_no_person(
    database: Database, settings: Settings, tmp_path: Path
) -> None:
    found = filled(database, settings, tmp_path, "songs", own=b"")
    with database.write() as connection:
        person = find_participant(connection, found, "ann")
        receipt = erase_participant(connection, person, how="remove", who="participant", now=5.0)
    delete(database, settings)
    with database.read() as connection:
        rows = connection.execute(select(t.event).order_by(t.event.c.id)).mappings().all()
    assert [(row["campaign_id"], row["what"]) for row in rows] == [(None, "erased"), (None, "deleted")]
    assert rows[0]["details"]["digest"] == receipt.digest
    assert rows[1]["details"] == {"campaign": "songs", "number": found.id, "participants": 2, "answers": 1}
    assert "bob" not in str(rows)


def test_a_campaign_that_people_may_be_answering_is_not_deleted(database: Database, settings: Settings) -> None:
    make_campaign(database, "songs", organiser=make_organiser(database), pairs=2)
    with pytest.raises(Conflict, match="deleted when it is closed, or still a draft; songs is open"):
        delete(database, settings)
    with database.read() as connection, pytest.raises(Conflict, match="songs is open"):
        what_would_go(connection, find_campaign(connection, "songs"))
    with pytest.raises(NotFound, match="no campaign called 'song'"):
        delete(database, settings, "song")


def test_its_name_can_be_had_again_and_its_number_never(database: Database, settings: Settings) -> None:
    numbers = []
    for _ in range(3):
        with database.write() as connection:
            decided = RankingSettings.parse({"title": "Tunes"})
            made = create_campaign(connection, name="songs", settings=decided, organiser_id=None, now=1.0)
        numbers.append(made.id)
        delete(database, settings)
    assert numbers == sorted(set(numbers))


def test_files_that_another_campaign_may_be_taking_in_stay(
    database: Database, settings: Settings, tmp_path: Path
) -> None:
    filled(database, settings, tmp_path, "kept", own=b"1")
    filled(database, settings, tmp_path, "songs", own=b"2")
    before = files(settings)
    assert delete(database, settings).files == 0
    assert files(settings) == before
    age(settings)
    filled(database, settings, tmp_path, "again", own=b"2")  # what was there already counts as new
    assert delete(database, settings, "again").files == 0


def test_a_picture_of_a_deleted_campaign_is_not_stored(
    database: Database, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = filled(database, settings, tmp_path, "songs", own=b"")
    estimating, store = Estimating(settings, database), Estimating._store

    def too_late(self: Estimating, made: Any) -> bool:
        delete(database, settings)
        return store(self, made)

    monkeypatch.setattr(Estimating, "_store", too_late)
    assert not estimating.refresh(found.id)
    assert everything(database)["picture"] == []
