"""What tests of the server share: both databases, the application, real servers, small campaigns.

Tests of the store and of what locks run on SQLite and again on PostgreSQL (``STORE`` names their files); pages, forms,
formats and shapes of the API need one. ``ON_SQLITE`` and ``ON_BOTH`` decide it for a test. The tests start PostgreSQL
themselves; where it is not installed its tests are skipped, and fail under CI.
"""

from __future__ import annotations

import fcntl
import os
import pickle
import shutil
import sqlite3
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine
from tests.conftest import missing, one_usable_processor
from tests.web.near import NearServer
from tests.web.people_app import quick_passwords
from tests.web.postgres import Cluster, NoPostgres, cluster

from adjudge.web.serving import ServerProcess
from adjudge.web.settings import Settings
from adjudge.web.store import database as database_module
from adjudge.web.store.database import Database, open_database

with warnings.catch_warnings():  # starlette would rather have httpx under its next name
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

if TYPE_CHECKING:
    from fastapi import FastAPI

    from adjudge.web.demo import Demo

collect_ignore = ["data", "rating_kind"]  # written for a release, and registered by the test that needs it
BACKENDS = ["sqlite", "postgresql"]
ON_BOTH = pytest.mark.parametrize("backend", BACKENDS, indirect=True)
"""For the test that asks the database most where a file needs one."""
ON_SQLITE = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
"""For what is decided before a database is asked, in a file of ``STORE``."""
STORE = {
    f"tests.web.test_{name}"
    for name in (
        "archiving", "campaigns", "chaos", "deleting", "erasing", "estimating", "importing", "invitations", "leasing",
        "load", "migrations", "people", "preference_asking", "preference_attacks", "preference_campaigns",
        "preference_recruiting", "preference_trust", "ranking_asking", "ranking_attacks", "ranking_campaigns", "serve",
    )
}  # fmt: skip


class Clock:
    """The time, which a test may turn."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead

    def turn(self, seconds: float) -> None:
        """Forward, or backward."""
        self.ahead += seconds


@pytest.fixture(scope="session")
def _postgres() -> Iterator[Cluster | str]:
    """The cluster, or why there is none; hundreds of tests would wait for the disk, and none can tell."""
    with ExitStack() as stack:
        try:
            found: Cluster | str = stack.enter_context(cluster(durable=False))
        except NoPostgres as reason:
            found = str(reason)
        yield found


@pytest.fixture(scope="session")
def _sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that has the tables already."""
    folder = tmp_path_factory.mktemp("template")
    open_database(Settings(data=folder)).close()
    path = folder / "adjudge.sqlite3"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = DELETE")  # everything in one file
    connection.close()
    return path


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Choose the databases of a test by its file, where no mark does."""
    marks = metafunc.definition.iter_markers("parametrize")
    if "backend" in metafunc.fixturenames and all(mark.args[0] != "backend" for mark in marks):
        both = metafunc.module.__name__ in STORE
        metafunc.parametrize("backend", BACKENDS if both else BACKENDS[:1], indirect=True)


@pytest.fixture
def backend(request: pytest.FixtureRequest) -> str:
    """Which database this test runs on."""
    name: str = request.param
    return name


@pytest.fixture
def database_url(backend: str, request: pytest.FixtureRequest) -> Iterator[str | None]:
    """A fresh, migrated database of PostgreSQL; None for SQLite, which lives in the data folder."""
    if backend == "sqlite":
        yield None
        return
    postgres = request.getfixturevalue("_postgres")
    if isinstance(postgres, str):
        missing(postgres)
    name, url = postgres.fresh()
    yield url
    postgres.drop(name)


@pytest.fixture
def clock() -> Clock:
    """The clock of ``settings``: ``clock.turn(3600)`` lets an hour pass."""
    return Clock()


tune_in_earnest = database_module._tune_sqlite


def _tune_quickly(engine: Engine) -> None:
    tune_in_earnest(engine)
    event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA synchronous = OFF"))


@pytest.fixture(scope="session", autouse=True)
def _quick_disk() -> Iterator[None]:
    """Commits of this process do not wait for the disk; those of servers in processes of their own do.

    Only a machine that stops could tell the difference, and thousands of commits wait.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database_module, "_tune_sqlite", _tune_quickly)
        yield


@pytest.fixture
def in_earnest() -> None:
    """For tests about hashing itself: passwords are hashed with as much work as ever."""


@pytest.fixture(autouse=True)
def _quick(request: pytest.FixtureRequest) -> Iterator[None]:
    """Passwords take next to no work, where hashing is not what is tested: it was a third of a second a login."""
    with nullcontext() if "in_earnest" in request.fixturenames else quick_passwords():
        yield


@pytest.fixture
def settings(tmp_path: Path, database_url: str | None, clock: Clock, request: pytest.FixtureRequest) -> Settings:
    """Of a server with a data folder and a database of its own, migrated."""
    data = tmp_path / "data"
    data.mkdir()
    if database_url is None:
        shutil.copy(request.getfixturevalue("_sqlite_template"), data / "adjudge.sqlite3")
    return Settings(data=data, database=database_url, clock=clock, refresh_seconds=0.05)


@pytest.fixture
def database(settings: Settings) -> Iterator[Database]:
    """The database of ``settings``, for store functions and for looking at what a request did."""
    opened = Database(settings.url)
    yield opened
    opened.close()


@pytest.fixture
def app(settings: Settings) -> FastAPI:
    """The application of ``settings``."""
    from adjudge.web.app import create_app

    return create_app(settings)


@pytest.fixture
def client(app: FastAPI) -> Iterator[TestClient]:
    """A browser that knows nothing yet; the application runs while the test does."""
    with TestClient(app, base_url="http://127.0.0.1:8000") as opened:
        yield opened


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Callable[..., ServerProcess]]:
    """Start real servers: ``server(data=…, database=…, workers=…, arguments=[…])``; all are gone at the end."""
    started: list[ServerProcess] = []

    def start(data: Path | None = None, **options: Any) -> ServerProcess:
        running = ServerProcess(data or tmp_path / f"server{len(started)}", **options)
        started.append(running)
        running.start()
        return running

    yield start
    for running in started:
        running.kill()


@pytest.fixture
def near_server() -> Iterator[Callable[..., NearServer]]:
    """Serve data folders from this process, which takes next to no time; all servers are gone at the end."""
    with ExitStack() as stack:
        yield lambda data, database=None: stack.enter_context(NearServer(data, database))


@dataclass(frozen=True)
class CampaignServer:
    """A running server with a small demo campaign that can be heard; ``url`` is where it is.

    ``invitations`` are pages at which one person each may join, ``open_invitation`` one for all who come.
    """

    process: NearServer
    campaign: str
    login: str
    password: str
    open_invitation: str
    invitations: tuple[str, ...]

    @property
    def url(self) -> str:
        """Where it is reached."""
        return self.process.url


@pytest.fixture(scope="session")
def _demo_data(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Demo, tuple[str, ...]]:
    """A data folder with the demo, made once for all processes of a run: copying it is faster than making sound."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "demo"
    folder.mkdir(exist_ok=True)
    known = folder / "known"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not known.exists():
            known.write_bytes(pickle.dumps(_make_demo_data(folder / "data")))
    made, personal = pickle.loads(known.read_bytes())
    return folder / "data", made, personal


def _make_demo_data(data: Path) -> tuple[Demo, tuple[str, ...]]:
    """The demo, and tokens of invitations for one person each."""
    from adjudge.web.demo import make_demo
    from adjudge.web.store.campaigns import find_campaign
    from adjudge.web.store.participants import make_invitation

    settings = Settings(data=data)
    database = open_database(settings)
    with quick_passwords(), one_usable_processor():
        made = make_demo(database, settings, queries=2, depth=3, seconds=4.0)
    with database.write() as connection:
        found = find_campaign(connection, made.campaign)
        personal = [
            make_invitation(
                connection,
                found,
                label=f"person {number}",
                cap=1,
                expires_at=None,
                secret=settings.secret,
                now=time.time(),
            ).token
            for number in range(1, 6)
        ]
    database.close()
    return made, tuple(personal)


@pytest.fixture
def campaign_server(
    _demo_data: tuple[Path, Demo, tuple[str, ...]], tmp_path: Path, near_server: Callable[[Path], NearServer]
) -> CampaignServer:
    """A server of this test alone: an open campaign with sound, an organiser, links for assessors."""
    source, made, personal = _demo_data
    data = tmp_path / "campaign"
    shutil.copytree(source, data)
    process = near_server(data)
    return CampaignServer(
        process,
        made.campaign,
        made.login,
        made.password,
        f"{process.url}/i/{made.invitation}",
        tuple(f"{process.url}/i/{token}" for token in personal),
    )


@dataclass(frozen=True)
class SmallCampaign:
    """A campaign in the store without sound: its name, its organiser, the token of an open invitation."""

    name: str
    login: str
    password: str
    invitation: str


@pytest.fixture
def small_campaign(settings: Settings, database: Database) -> Callable[..., SmallCampaign]:
    """Make campaigns of texts: ``small_campaign("name", state="open", n_queries=3, depth=3, judged_by=2)``.

    What is not known here is a setting of the campaign. Each campaign has an organiser and an open invitation.
    """
    from tests.web.making import make_small_campaign

    def make(name: str = "small", **options: Any) -> SmallCampaign:
        login, password = f"organiser-of-{name}", "correct horse battery"
        invitation = make_small_campaign(database, settings, name=name, login=login, password=password, **options)
        return SmallCampaign(name, login, password, invitation)

    return make


REAL = ("browser", "test_chaos", "test_load", "test_serve", "test_client", "test_preference_client", "test_rehearsal",
        "test_ranking_rehearsal")  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of real servers and browsers may run into a machine that has no time for them: they get another chance.

    The summary counts those that took it.
    """
    for item in items:
        if "web" in item.path.parts and any(name in (*item.path.parts, item.path.stem) for name in REAL):
            item.add_marker(pytest.mark.flaky(reruns=2, reruns_delay=1))
