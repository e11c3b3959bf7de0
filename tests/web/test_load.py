"""Twenty assessors at once on a real server; fifty are ``python -m benchmarks.campaign_load``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.web.crowds import Crowd, look, prepare

from adjudge.web.database import Database
from adjudge.web.serving import ServerProcess
from adjudge.web.settings import Settings


def test_twenty_assessors_at_once_get_different_questions_and_lose_no_answer(
    database_url: str | None, tmp_path: Path, server: Callable[..., ServerProcess]
) -> None:
    data = tmp_path / "data"
    invitation = prepare(data, database_url, n_queries=30, depth=5, judged_by=3, agreement_share=0.5)
    running = server(data, database=database_url)
    crowd = Crowd(running.url, invitation, people=20, each=10)
    crowd.run()
    running.stop()

    database = Database(Settings(data=data, database=database_url).url)
    found = look(database, crowd.assessors)
    database.close()
    assert crowd.failures == []
    assert found.account.stored == 200
    assert found.is_clean, found


@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
def test_two_workers_on_postgresql_share_the_questions(
    database_url: str, tmp_path: Path, server: Callable[..., ServerProcess]
) -> None:
    data = tmp_path / "data"
    invitation = prepare(data, database_url, n_queries=30, depth=5)
    running = server(data, database=database_url, workers=2)
    crowd = Crowd(running.url, invitation, people=20, each=8)
    crowd.run()
    running.stop()

    database = Database(Settings(data=data, database=database_url).url)
    found = look(database, crowd.assessors)
    database.close()
    assert crowd.failures == []
    assert found.account.stored == 160
    assert found.is_clean, found


def test_when_everything_is_judged_nobody_is_asked_and_nothing_is_judged_twice(
    database_url: str | None, tmp_path: Path, server: Callable[..., ServerProcess]
) -> None:
    data = tmp_path / "data"
    invitation = prepare(data, database_url, n_queries=4, depth=3, repeat_share=0)
    running = server(data, database=database_url)
    crowd = Crowd(running.url, invitation, people=6)
    crowd.run()
    running.stop()

    database = Database(Settings(data=data, database=database_url).url)
    found = look(database, crowd.assessors)
    database.close()
    assert crowd.failures == []
    assert found.is_clean, found
    assert found.account.stored == len({(one.query, one.document) for p in crowd.assessors for one in p.answers})
    assert {person.why for person in crowd.assessors} <= {"nothing_left", "reached"}
