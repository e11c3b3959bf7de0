"""Databases that a release wrote open and go on, on both engines; those of a later version are left alone."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import tarfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from tests.conftest import missing
from tests.web.people_app import browser

from adjudge.web.app import create_app
from adjudge.web.kinds.verify import verify
from adjudge.web.settings import Settings
from adjudge.web.store.database import Database, StorageError, open_database

DATA = Path(__file__).parent / "data"
KINDS = {"grades": "judging", "lists": "preference", "orders": "ranking"}


@dataclass(frozen=True)
class Release:
    """What a release left behind: where it is kept, who was there, and the exports that it wrote."""

    settings: Settings
    people: dict[str, Any]
    exports: dict[str, bytes]


@pytest.fixture
def release(backend: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Release]:
    """Version 1.0.0, a minute after its last answer."""
    with tarfile.open(DATA / f"1.0.0-{backend}.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    people = json.loads((tmp_path / "people.json").read_text())
    exports = {path.name: path.read_bytes() for path in (tmp_path / "exports").iterdir()}
    settings = Settings(tmp_path / "data", clock=lambda: people["ended"] + 60, estimate=False)
    if backend == "sqlite":
        yield Release(settings, people, exports)
        return
    postgres = request.getfixturevalue("_postgres")
    if isinstance(postgres, str):
        missing(postgres)
    name = "release"
    postgres.statement(f"CREATE DATABASE {name}")
    settings = replace(settings, database=postgres.url(name))
    database = Database(settings.url)
    with database.engine.begin() as connection:
        connection.exec_driver_sql((tmp_path / "dump.sql").read_text())
    database.close()
    yield Release(settings, people, exports)
    postgres.drop(name)


@pytest.fixture
def open_app(release: Release) -> Iterator[Callable[[], Any]]:
    """Open the application; its connections are given back at the end."""
    opened = []

    def open_it() -> Any:
        opened.append(create_app(release.settings))
        return opened[-1]

    yield open_it
    for app in opened:
        app.state.context.database.close()


def rows_of(table: bytes, columns: Iterable[str] | None = None) -> list[dict[str, str]]:
    """Rows of a CSV file, of some columns or all."""
    rows = list(csv.DictReader(io.StringIO(table.decode())))
    return [{name: row[name] for name in columns or row} for row in rows]


def test_a_database_of_1_0_0_opens_and_exports_what_1_0_0_exported(
    release: Release, open_app: Callable[[], Any]
) -> None:
    app = open_app()
    assert verify(app.state.context.database, release.settings) == []
    ada = browser(app)
    told = {name: release.people[name] for name in ("login", "password")}
    ada.headers["X-CSRF-Token"] = ada.post("/api/login", json=told).json()["csrf"]
    for name, content in release.exports.items():
        campaign, _, rest = name.partition("-")
        what, _, form = rest.partition(".")
        said = ada.get(f"/api/campaigns/{campaign}/export/{what}", params={"format": form})
        assert said.status_code == 200, said.text
        if form == "csv":
            there = rows_of(content)
            assert rows_of(said.content, there[0]) == there, name  # columns may have been added
        elif what == "session":  # where a mean of answers stood, all of them stand now
            now, there = json.loads(said.content), json.loads(content)
            same = ("measure", "estimator", "rule", "seed", "candidates")
            assert {field: now[field] for field in same} == {field: there[field] for field in same}
            answers = defaultdict(list)
            for query, document, grade, _ in now["judgments"]:
                answers[query, document].append(grade)
            assert {pair: sum(grades) / len(grades) for pair, grades in answers.items()} == {
                (query, document): grade for query, document, grade in there["judgments"]
            }
        else:
            assert said.content == content, name
    for campaign in KINDS:
        for page in ("", "/people", "/answers", "/set-up"):
            assert ada.get(f"/campaigns/{campaign}{page}").status_code in (200, 303), page
        picture = ada.get(f"/api/campaigns/{campaign}/picture").json()
        assert picture["version"] == release.people[campaign]["version"] > 0


def answer_to(kind: str, desk: dict[str, Any]) -> dict[str, Any]:
    """Something that answers a question."""
    question = desk["question"]
    match kind:
        case "judging":
            told: dict[str, Any] = {"grades": {scale["name"]: scale["maximum"] for scale in desk["scales"]}}
        case "preference":
            told = {"choice": "good"}
        case _:
            told = {"groups": question["arrangement"]["groups"] or [[question["candidates"][0]["id"]]]}
    return {"key": f"after-{kind}", "lease": question["lease"], **told}


@pytest.mark.parametrize("campaign", KINDS)
def test_people_of_1_0_0_come_back_by_their_links_and_answer(
    release: Release, open_app: Callable[[], Any], campaign: str
) -> None:
    app, kind = open_app(), KINDS[campaign]
    people = release.people[campaign]
    bob = browser(app)
    assert bob.get(f"/r/{people['bob']['token']}").status_code == 303
    page = bob.get("/judge" if kind == "judging" else f"/{'prefer' if kind == 'preference' else 'rank'}")
    assert page.status_code == 200
    bob.headers["X-CSRF-Token"] = page.text.split('name="csrf" content="')[1].split('"')[0]
    desk = bob.get(f"/api/{kind}").json()
    if desk["question"] is None:  # they did all; somebody new does not
        bob = browser(app)
        told = {"invitation": people["invitations"][1], "consent": True}
        bob.headers["X-CSRF-Token"] = bob.post("/api/join", json=told).json()["csrf"]
        desk = bob.get(f"/api/{kind}").json()
    stored = bob.post(f"/api/{kind}/answers", json=answer_to(kind, desk))
    assert stored.status_code == 200, stored.text
    eve = browser(app)
    eve.get(f"/r/{people['eve']['token']}")
    said = eve.get(f"/api/{kind}")
    assert said.json().get("question") is None  # excluded then, and still
    assert verify(app.state.context.database, release.settings) == []
    assert app.state.context.estimating.refresh(list(KINDS).index(campaign) + 1)


def test_a_database_of_a_later_version_is_refused_and_stays_as_it_is(settings: Settings, database: Database) -> None:
    with database.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        connection.execute(text("DROP TABLE arrangement"))  # who knows what its tables are
    database.close()
    before = _digest(settings)
    with pytest.raises(StorageError, match=r"made by a newer version of Adjudge \(revision 9999\)"):
        open_database(settings)
    with pytest.raises(StorageError, match="newer version"):
        create_app(settings)
    assert _digest(settings) == before


def _digest(settings: Settings) -> str:
    """The bytes of SQLite's file; all tables of PostgreSQL with how often they were written to."""
    if settings.database is None:
        return hashlib.sha256((settings.data / "adjudge.sqlite3").read_bytes()).hexdigest()
    database = Database(settings.url)
    names = text("SELECT relname, relfilenode FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1")
    with database.read() as connection:
        rows = connection.execute(names).all()
        version = connection.execute(text("SELECT xmin, version_num FROM alembic_version")).all()
    database.close()
    return f"{rows} {version}"
