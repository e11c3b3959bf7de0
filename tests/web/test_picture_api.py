"""The picture over HTTP: for its organiser alone, once or as a stream that ends when it should."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select
from tests.web.conftest import ON_BOTH
from tests.web.judging_rows import Desk

from adjudge.web.api import campaigns as module
from adjudge.web.context import Context
from adjudge.web.live import Estimating
from adjudge.web.settings import Settings
from adjudge.web.store import schema as t
from adjudge.web.store.database import Database


@pytest.fixture
def made(small_campaign: Callable[..., Any]) -> Any:
    return small_campaign("small", goal={"kind": "pairs", "level": 0.999, "zone": 0})


@pytest.fixture
def desk(made: Any, database: Database) -> Desk:
    return Desk(database, made.name)


def log_in(client: Any, made: Any) -> dict[str, str]:
    """Log in; what requests that change something must bring."""
    answer = client.post("/api/login", json={"login": made.login, "password": made.password})
    assert answer.status_code == 200, answer.text
    return {"X-CSRF-Token": answer.json()["csrf"]}


def test_the_picture_is_there_soon_after_opening(client: Any, made: Any) -> None:
    log_in(client, made)
    found = _until(lambda: client.get("/api/campaigns/small/picture").json(), lambda got: got["version"] >= 1)
    assert found["campaign"]["state"] == "open"
    assert [row["system"] for row in sorted(found["ranking"], key=lambda row: row["system"])] == ["s1", "s2", "s3"]
    assert len(found["pairs"]) == 3
    assert found["status"]["candidates"] == found["projection"]["pairs"] or found["projection"]["why"] is not None
    assert found["trajectory"] == [[0, found["status"]["value"], found["status"]["mean_confidence"]]]


def test_a_draft_has_an_empty_picture(client: Any, small_campaign: Callable[..., Any]) -> None:
    made = small_campaign("draft", state="draft")
    log_in(client, made)
    found = client.get("/api/campaigns/draft/picture").json()
    assert (found["version"], found["ranking"], found["status"]["done"]) == (0, [], False)
    assert found["projection"]["why"] == "nothing is estimated yet"


@pytest.mark.parametrize("path", ["picture", "events", "problems"])
def test_only_the_organiser_of_a_campaign_sees_it(
    client: Any, made: Any, small_campaign: Callable[..., Any], path: str
) -> None:
    assert client.get(f"/api/campaigns/small/{path}").status_code == 401
    log_in(client, small_campaign("other"))
    refused = client.get(f"/api/campaigns/small/{path}")
    assert refused.status_code == 404
    assert refused.json()["error"]["message"] == "There is no campaign called 'small'."


@ON_BOTH
def test_a_pair_can_be_held_back_and_let_go(client: Any, made: Any, desk: Desk, database: Database) -> None:
    headers = log_in(client, made)
    which = next(iter(desk.pairs))
    number = desk.pairs[which].id
    desk.answer("A1", which, {}, kind="skip", reason="broken", comment="silence")
    assert client.get("/api/campaigns/small/problems").json()["problems"][0]["reasons"] == {"broken": 1}
    held = client.post(f"/api/campaigns/small/pairs/{number}/held", json={"held": True}, headers=headers)
    assert held.status_code == 200
    assert held.json() == {"pair": number, "query": which[0], "document": which[1], "held": True}
    _until(lambda: desk.queue, lambda queue: which not in queue)
    assert client.get("/api/campaigns/small/problems").json()["problems"][0]["held"] is True
    client.post(f"/api/campaigns/small/pairs/{number}/held", json={"held": False}, headers=headers)
    _until(lambda: desk.queue, lambda queue: which in queue)
    with database.read() as connection:
        what = connection.execute(select(t.event.c.what).order_by(t.event.c.id)).scalars().all()
    assert what[-2:] == ["held", "released"]


def test_holding_back_needs_a_pair_of_the_campaign_and_a_page_of_ours(
    client: Any, made: Any, small_campaign: Callable[..., Any], database: Database
) -> None:
    other = Desk(database, small_campaign("other").name)
    headers = log_in(client, made)
    foreign = next(iter(other.pairs.values())).id
    for number in (foreign, 10**9):
        refused = client.post(f"/api/campaigns/small/pairs/{number}/held", json={"held": True}, headers=headers)
        assert refused.status_code == 404
        assert refused.json()["error"]["message"] == f"There is no pair {number} in this campaign."
    assert client.post(f"/api/campaigns/small/pairs/{foreign}/held", json={"held": True}).status_code == 403
    for body in ({"held": "perhaps"}, {}, {"held": True, "more": 1}):
        wrong = client.post(f"/api/campaigns/small/pairs/{foreign}/held", json=body, headers=headers)
        assert wrong.status_code == 422
    assert not next(iter(other.pairs.values())).held


class Reader:
    """A request that is there until it is not."""

    gone = False

    async def is_disconnected(self) -> bool:
        return self.gone


def _stream(context: Context, desk: Desk, reader: Reader) -> Any:
    return module._events(reader, desk.campaign, context)  # type: ignore[arg-type]


def test_the_stream_sends_the_picture_at_once_and_again_when_it_changes(
    desk: Desk, settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "POLL_SECONDS", 0.01)
    engine = Estimating(settings, database)
    engine.refresh(desk.campaign.id)
    context, reader = Context(settings, database, engine), Reader()

    async def read() -> list[str]:
        stream = _stream(context, desk, reader)
        heard = [await anext(stream), await anext(stream)]
        desk.answer("A1", desk.queue[0], {"broad": 1, "fine": 50})
        engine.refresh(desk.campaign.id)
        heard.append(await anext(stream))
        reader.gone = True
        heard += [part async for part in stream]
        return heard

    heard = asyncio.run(asyncio.wait_for(read(), 300))
    assert heard[0] == "retry: 2000\n\n"
    assert [part.split("\n")[:2] for part in heard[1:]] == [["id: 1", "event: picture"], ["id: 2", "event: picture"]]
    assert json.loads(heard[2].split("data: ")[1])["status"]["judged"] == 1


def test_a_quiet_stream_says_that_it_is_alive_and_ends_with_the_server(
    desk: Desk, settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(module, "QUIET_SECONDS", 0.05)
    engine = Estimating(settings, database)
    context = Context(settings, database, engine)

    async def read() -> list[str]:
        stream = _stream(context, desk, Reader())
        heard = [await anext(stream) for _ in range(4)]
        engine.stop()
        return heard + [part async for part in stream]

    heard = asyncio.run(asyncio.wait_for(read(), 300))
    assert heard[1].startswith("id: 0\nevent: picture")
    assert heard[2:4] == [": still here\n\n"] * 2


def test_a_stream_ends_after_a_while_so_that_its_reader_is_checked_again(
    desk: Desk, settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(module, "LONGEST_SECONDS", 0.2)
    context = Context(settings, database, Estimating(settings, database))

    async def read() -> int:
        return len([part async for part in _stream(context, desk, Reader())])

    assert asyncio.run(asyncio.wait_for(read(), 300)) == 2


def _until(ask: Callable[[], Any], enough: Callable[[Any], bool], seconds: float = 300.0) -> Any:
    end = time.monotonic() + seconds
    while not enough(got := ask()):
        assert time.monotonic() < end, f"it did not happen in time: {got}"
        time.sleep(0.05)
    return got
