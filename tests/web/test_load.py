"""Twenty assessors at once on a real server; fifty are ``python -m benchmarks.campaign_load``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from tests.web.crowds import Crowd, Found, look, prepare
from tests.web.near import NearServer

from adjudge.web.serving import ServerProcess
from adjudge.web.settings import Settings
from adjudge.web.store.database import Database


def looked(data: Path, url: str | None, crowd: Crowd) -> Found:
    """What is in the store, once everybody has gone; nobody met a failure."""
    assert crowd.failures == []
    database = Database(Settings(data=data, database=url).url)
    found = look(database, crowd.assessors)
    database.close()
    assert found.is_clean, found
    return found


def test_twenty_assessors_at_once_get_different_questions_and_lose_no_answer(
    database_url: str | None, tmp_path: Path, near_server: Callable[..., NearServer]
) -> None:
    data = tmp_path / "data"
    invitation = prepare(data, database_url, n_queries=30, depth=5, judged_by=3, agreement_share=0.5)
    running = near_server(data, database_url)
    crowd = Crowd(running.url, invitation, people=20, each=4)
    crowd.run()
    running.stop()
    assert looked(data, database_url, crowd).account.stored == 80


@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
def test_two_workers_on_postgresql_share_the_questions_and_stop_together(
    database_url: str, tmp_path: Path, server: Callable[..., ServerProcess]
) -> None:
    data = tmp_path / "data"
    invitation = prepare(data, database_url, n_queries=30, depth=5)
    running = server(data, database=database_url, workers=2)
    crowd = Crowd(running.url, invitation, people=20, each=4)
    crowd.run()
    assert running.stop() == 0
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{running.url}/healthz")
    assert looked(data, database_url, crowd).account.stored == 80


def test_when_everything_is_judged_nobody_is_asked_and_nothing_is_judged_twice(
    database_url: str | None, tmp_path: Path, near_server: Callable[..., NearServer]
) -> None:
    data = tmp_path / "data"
    invitation = prepare(data, database_url, n_queries=4, depth=3, repeat_share=0)
    running = near_server(data, database_url)
    crowd = Crowd(running.url, invitation, people=6)
    crowd.run()
    running.stop()
    found = looked(data, database_url, crowd)
    assert found.account.stored == len({(one.query, one.document) for p in crowd.assessors for one in p.answers})
    assert {person.why for person in crowd.assessors} <= {"nothing_left", "reached"}
