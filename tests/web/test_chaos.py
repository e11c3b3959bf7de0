"""Servers that are killed, disks that are full, databases that are locked, bad networks, clocks that jump.

Whatever happens: an answer that was acknowledged is there, once; none is invented; who has to wait is told why. A
hundred kills are ``python -m benchmarks.campaign_chaos``.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select
from tests.web.chaos import BadNetwork, keep_killing
from tests.web.conftest import ON_SQLITE, tune_in_earnest
from tests.web.crowds import Crowd, Found, look, prepare
from tests.web.near import NearServer

from adjudge.web.client import Assessor, CampaignError, join
from adjudge.web.serving import ServerProcess
from adjudge.web.settings import Settings
from adjudge.web.store import schema as t
from adjudge.web.store.database import Database

if TYPE_CHECKING:
    from starlette.testclient import TestClient

GRADES = {"broad": 1, "fine": 50}


def looked(data: Path, database: str | None, crowd: Crowd) -> Found:
    opened = Database(Settings(data=data, database=database).url)
    found = look(opened, crowd.assessors)
    opened.close()
    return found


def stored_keys(data: Path) -> list[str]:
    opened = Database(Settings(data=data).url)
    with opened.read() as connection:
        keys = connection.execute(select(t.answer.c.key).order_by(t.answer.c.id)).scalars().all()
    opened.close()
    return list(keys)


def test_a_server_killed_again_and_again_keeps_every_acknowledged_answer_once(
    database_url: str | None, tmp_path: Path, server: Callable[..., ServerProcess]
) -> None:
    data = tmp_path / "data"
    invitation = prepare(data, database_url, n_queries=30, depth=8)
    running = server(data, database=database_url)
    crowd = Crowd(running.url, invitation, people=6, pause=0.02)
    crowd.run(lambda: keep_killing(running, times=3, count=crowd.count))
    running.stop()

    found = looked(data, database_url, crowd)
    assert crowd.failures == []
    assert found.is_clean, found
    assert crowd.count() > 3  # they did get on


def test_a_network_that_breaks_in_the_middle_of_replies_neither_loses_nor_doubles_an_answer(
    tmp_path: Path, near_server: Callable[..., NearServer]
) -> None:
    data = tmp_path / "data"
    invitation = prepare(data, n_queries=30, depth=5)
    running = near_server(data)
    with BadNetwork(running.port) as network:
        # Joining by an open invitation is not repeatable, so everybody comes before the network gets bad.
        crowd = Crowd(f"http://127.0.0.1:{network.port}", invitation, people=5, each=12)
        for person in crowd.assessors:
            joined = join(running.url, invitation)
            joined.close()
            person._client = Assessor(f"http://127.0.0.1:{network.port}", joined.token)
        crowd.run()
    running.stop()

    found = looked(data, None, crowd)
    assert crowd.failures == []
    assert found.is_clean, found
    assert found.account.stored == 60
    assert network.broken > 0
    assert any(one.again for person in crowd.assessors for one in person.answers)  # stored, but the reply was lost


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of a few megabytes; only root can make one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("a small disk can be made by root only; the limit on the size of files is tested anyway")
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", folder], capture_output=True, text=True, check=False
    )
    if made.returncode:
        pytest.skip(f"a small disk cannot be made here: {made.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def answer_until_refused(assessor: Assessor, acknowledged: list[str]) -> tuple[CampaignError, dict[str, Any]]:
    """Answer until the server cannot take any more; its refusal, and the question that was left."""
    desk = assessor.desk()
    for number in range(2000):
        question = desk["question"]
        key = f"answer-{number:05d}"
        try:
            desk = assessor.answer(question["lease"], GRADES, key=key, comment="x" * 1900).desk
        except CampaignError as error:
            return error, {"key": key, "lease": question["lease"]}
        acknowledged.append(key)
    raise AssertionError("the disk never got full")


def test_a_full_disk_is_said_in_a_sentence_and_when_there_is_room_again_the_answer_is_taken(
    small_disk: Path, tmp_path: Path, server: Callable[..., ServerProcess]
) -> None:
    data = small_disk / "data"
    invitation = prepare(data, n_queries=60, depth=8, repeat_share=0)
    running = server(data)
    assessor = join(running.url, invitation, patience=0)
    desk = assessor.desk()
    ballast = small_disk / "ballast"
    room = shutil.disk_usage(small_disk).free
    ballast.write_bytes(b"x" * max(0, room - 600_000))
    acknowledged: list[str] = []
    error, left = answer_until_refused(assessor, acknowledged)
    assert error.status == 503
    assert "disk of the server is full" in str(error)
    assert "nothing was stored" in str(error)

    ballast.unlink()
    assessor.connection.patience = 300
    taken = assessor.answer(left["lease"], GRADES, key=left["key"])
    assessor.close()
    running.stop()
    assert desk["question"] is not None
    assert not taken.again
    assert stored_keys(data) == [*acknowledged, left["key"]]


def test_files_that_may_not_grow_are_said_in_a_sentence_and_nothing_acknowledged_is_lost(
    tmp_path: Path, server: Callable[..., ServerProcess]
) -> None:
    data = tmp_path / "data"
    invitation = prepare(data, n_queries=60, depth=8, repeat_share=0)
    largest = max(path.stat().st_size for path in data.iterdir())
    running = server(data, limit_file_bytes=largest + 400_000)
    assessor = join(running.url, invitation, patience=0)
    acknowledged: list[str] = []
    error, left = answer_until_refused(assessor, acknowledged)
    assessor.close()
    running.kill()
    assert error.status == 503
    assert "full or failing; nothing was stored" in str(error)
    assert len(acknowledged) > 10
    assert stored_keys(data) == acknowledged  # the refused one is not there
    assert left["key"] not in acknowledged


@ON_SQLITE
def test_a_locked_database_is_said_in_a_sentence_and_the_answer_is_taken_later(
    settings: Settings, small_campaign: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, request: Any
) -> None:
    monkeypatch.setattr("adjudge.web.store.database.BUSY_MS", 200)
    invitation = small_campaign().invitation
    client: TestClient = request.getfixturevalue("client")
    headers = joined(client, invitation)
    question = client.get("/api/judging", headers=headers).json()["question"]
    body = {"lease": question["lease"], "key": "only-once", "grades": GRADES}
    other = sqlite3.connect(settings.data / "adjudge.sqlite3", isolation_level=None)
    other.execute("PRAGMA locking_mode = NORMAL")
    other.execute("BEGIN EXCLUSIVE")
    refused = client.post("/api/judging/answers", json=body, headers=headers)
    other.execute("ROLLBACK")
    other.close()
    assert refused.status_code == 503
    assert "locked by another program; nothing was stored" in refused.json()["error"]["message"]
    assert int(refused.headers["Retry-After"]) >= 1

    taken = client.post("/api/judging/answers", json=body, headers=headers)
    assert (taken.status_code, taken.json()["again"]) == (200, False)
    assert stored_keys(settings.data) == ["only-once"]


@ON_SQLITE
def test_a_commit_on_sqlite_is_on_the_disk_when_it_returns(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adjudge.web.store.database._tune_sqlite", tune_in_earnest)
    opened = Database(settings.url)
    with opened.read() as connection:
        found = [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("journal_mode", "synchronous")]
    opened.close()
    assert found == ["wal", 2]  # 2 is FULL


def joined(client: TestClient, invitation: str) -> dict[str, str]:
    """Join; the header of the new participant. Cookies are dropped, so that requests are those of a program."""
    said = client.post("/api/join", json={"invitation": invitation, "consent": True}).json()
    client.cookies.clear()
    return {"Authorization": f"Bearer {said['token']}"}


@ON_SQLITE
@pytest.mark.parametrize("jump", [3600.0, -3600.0, 10 * 365 * 86400.0], ids=["an hour on", "an hour back", "years on"])
def test_a_clock_that_jumps_loses_no_answer_and_gives_nothing_out_twice(
    client: TestClient, small_campaign: Callable[..., Any], clock: Any, database: Database, jump: float
) -> None:
    invitation = small_campaign(n_queries=4, depth=3, repeat_share=0, goal={"kind": "everything"}).invitation
    people = [joined(client, invitation) for _ in range(3)]
    keys: list[tuple[str, str]] = []
    for turn in range(8):
        if turn == 3:
            clock.turn(jump)
        if turn == 5:
            clock.turn(-2 * jump)
        for number, headers in enumerate(people):
            desk = client.get("/api/judging", headers=headers).json()
            if desk["question"] is None:
                continue
            if turn == 3:
                clock.turn(jump)  # between question and answer, too
            body = {"lease": desk["question"]["lease"], "key": f"person-{number}-turn-{turn}", "grades": GRADES}
            said = client.post("/api/judging/answers", json=body, headers=headers)
            assert said.status_code == 200, said.text
            keys.append((body["key"], desk["question"]["candidate"]["text"]))
    with database.read() as connection:
        rows = connection.execute(select(t.answer.c.key, t.answer.c.pair_id, t.answer.c.participant_id)).all()
    assert [row.key for row in rows] == [key for key, _ in keys]
    assert len({(row.participant_id, row.pair_id) for row in rows}) == len(rows)
