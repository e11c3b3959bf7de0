"""Campaigns that hear: clips are heard once, documents that sound alike are known, and nothing depends on when."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from sqlalchemy import delete, func, insert, select, update
from tests.web.conftest import ON_BOTH

import adjudge as aj
from adjudge.web.kinds.documents import take_documents
from adjudge.web.kinds.judging.rehearse import stand_in
from adjudge.web.kinds.judging.session import candidates_digest
from adjudge.web.kinds.judging.settings import JudgingSettings
from adjudge.web.kinds.judging.sound import all_heard, hear, heard_clips, similarity_of
from adjudge.web.kinds.judging.store import candidates_of, collection_of, put_runs
from adjudge.web.kinds.lifecycle import change_settings, create_campaign
from adjudge.web.settings import Settings
from adjudge.web.store import schema as t
from adjudge.web.store.campaigns import Campaign, find_campaign
from adjudge.web.store.database import Database

ON_POSTGRESQL = pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
RUNS = {"a": {"q": ["low1", "low2"]}, "b": {"q": ["high1", "low1"]}}
PITCHES = {"q": 220.0, "low1": 221.0, "low2": 222.0, "high1": 3000.0}


@pytest.fixture(scope="module")
def tones(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A second of each document: hums, and a whistle."""
    folder, at = tmp_path_factory.mktemp("tones"), np.arange(32000) / 32000
    rng = np.random.default_rng(1)
    for name, pitch in PITCHES.items():
        wave = sum(np.sin(2 * np.pi * pitch * k * at) / k for k in (1, 2, 3)) + 0.1 * rng.normal(size=len(at))
        soundfile.write(folder / f"{name}.flac", 0.1 * wave, 32000)
    return {f"{name}.flac": folder / f"{name}.flac" for name in PITCHES}


@pytest.fixture
def campaign(database: Database, settings: Settings, tones: dict[str, Path]) -> Callable[..., Campaign]:
    def make(**decided: Any) -> Campaign:
        values = {"title": "Hums", "measure": "CG@2", **decided}
        with database.write() as connection:
            made = create_campaign(
                connection, name="hums", settings=JudgingSettings.parse(values), organiser_id=None, now=settings.clock()
            )
            put_runs(connection, made, aj.read(RUNS).runs, who="somebody", now=settings.clock())
        taken = take_documents(database, settings, made, files=tones, workers=1)
        assert not taken.problems
        return made

    return make


@ON_BOTH
def test_clips_are_heard_once_and_tell_who_sounds_alike(
    database: Database, settings: Settings, campaign: Callable[..., Campaign]
) -> None:
    made = campaign(by_sound=True)
    with database.read() as connection:
        before = candidates_digest(connection, made)
        assert candidates_of(connection, made).similarity is None  # nothing was heard yet
    assert hear(database, settings, made.id) == len(PITCHES)
    assert hear(database, settings, made.id) == 0
    with database.read() as connection:
        assert [name for name, _ in heard_clips(connection, made)] == sorted(PITCHES)
        assert candidates_digest(connection, made) != before
        alike = candidates_of(connection, made).similarity
    assert alike is not None
    nearest = alike.among(["low1", "low2", "high1"])
    assert nearest[0, 1] > nearest[0, 2]


def test_a_campaign_that_does_not_ask_for_it_hears_nothing(
    database: Database, settings: Settings, campaign: Callable[..., Campaign]
) -> None:
    made = campaign()
    assert hear(database, settings, made.id) == 0
    assert hear(database, settings, made.id + 1) == 0  # one that was removed meanwhile
    with database.read() as connection:
        assert connection.execute(select(func.count()).select_from(t.sound)).scalar_one() == 0
        assert candidates_of(connection, made).similarity is None


def test_it_can_be_asked_for_later_and_clips_of_an_older_feature_are_heard_again(
    database: Database, settings: Settings, campaign: Callable[..., Campaign]
) -> None:
    made = campaign()
    with database.write() as connection:
        wanted = made.settings_as(JudgingSettings).model_copy(update={"by_sound": True})
        change_settings(connection, made, wanted, who="somebody", now=settings.clock())
    assert hear(database, settings, made.id) == len(PITCHES)
    with database.write() as connection:
        connection.execute(update(t.sound).values(version=0))
        found = find_campaign(connection, made.name)
        assert similarity_of(connection, found, ["low1", "low2"]) is None
    assert hear(database, settings, made.id) == len(PITCHES)
    with database.read() as connection:
        assert similarity_of(connection, found, ["low1", "low2"]) is not None
        assert similarity_of(connection, found, ["low1", "elsewhere"]) is None


def test_a_clip_that_cannot_be_heard_is_remembered_and_its_document_estimated_without(
    database: Database, settings: Settings, campaign: Callable[..., Campaign], caplog: pytest.LogCaptureFixture
) -> None:
    made = campaign(by_sound=True)
    broken = next((settings.media / "clips").glob("*.mp3"))
    broken.write_bytes(b"no sound")
    assert hear(database, settings, made.id) == len(PITCHES)
    assert hear(database, settings, made.id) == 0
    assert f"The clip {broken.stem} cannot be heard, so its document is estimated without: {broken}: " in caplog.text
    with database.read() as connection:
        assert broken.stem not in {digest for _, digest in heard_clips(connection, made)}
        assert len(heard_clips(connection, made)) == len(PITCHES) - 1


def test_clips_are_stored_as_they_are_heard(
    database: Database, settings: Settings, campaign: Callable[..., Campaign], monkeypatch: pytest.MonkeyPatch
) -> None:
    made, seen = campaign(by_sound=True), list[tuple[int, int]]()
    monkeypatch.setattr("adjudge.web.kinds.judging.sound._AT_ONCE", 1)

    def stop_after_two(done: int, total: int) -> None:
        seen.append((done, total))
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hear(database, settings, made.id, progress=stop_after_two)
    assert seen == [(1, 4), (2, 4)]
    assert hear(database, settings, made.id) == len(PITCHES) - 2


def test_a_copy_of_texts_knows_what_the_campaign_heard(
    database: Database, settings: Settings, campaign: Callable[..., Campaign]
) -> None:
    made = campaign(by_sound=True)
    assert hear(database, settings, made.id) == len(PITCHES)
    with database.write() as connection:
        heard, collection = all_heard(connection, made), collection_of(connection, made)
        before = candidates_of(connection, made).similarity
        connection.execute(delete(t.sound))  # what a store has that hears of it for the first time
    copy = stand_in(
        database, settings, name="copy", collection=collection, campaign=made.settings_as(JudgingSettings), heard=heard
    ).campaign
    assert hear(database, settings, copy.id) == 0  # there is nothing that could be played
    with database.read() as connection:
        after = candidates_of(connection, copy).similarity
    assert before is not None
    assert after is not None
    everything = sorted(PITCHES)  # the query, too
    assert after.among(everything).tolist() == before.among(everything).tolist()


@ON_POSTGRESQL
def test_two_processes_that_hear_the_same_clips_at_once_do_not_disturb_one_another(
    database: Database, settings: Settings, campaign: Callable[..., Campaign]
) -> None:
    made = campaign(by_sound=True)
    assert hear(database, settings, made.id) == len(PITCHES)
    with database.write() as connection:
        rows = [dict(row) for row in connection.execute(delete(t.sound).returning(*t.sound.c)).mappings()]
    with ThreadPoolExecutor(1) as threads:
        with database.write() as connection:
            connection.execute(insert(t.sound), rows)  # and is not done yet
            other = threads.submit(hear, database, settings, made.id)
            wait([other], timeout=0.5)
        assert other.result(timeout=300) == len(PITCHES)
    with database.read() as connection:
        assert len(heard_clips(connection, made)) == len(PITCHES)
