"""``adjudge serve`` as a process, as people start and stop it."""

from __future__ import annotations

import ast
import queue
import socket
import subprocess
import sys
import threading
import time
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from adjudge import cli
from adjudge.cli import main
from adjudge.cli.campaign.store import settings_of
from adjudge.cli.serve import need_server
from adjudge.errors import AdjudgeError
from adjudge.web.client import Organiser, connect
from adjudge.web.serving import ServerProcess, at_address, free_port
from adjudge.web.settings import Settings


def test_a_port_that_is_taken_is_one_line_and_exit_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", "--data", str(tmp_path / "data"), "--port", str(port)]) == 2
    said = capsys.readouterr().err
    assert said == (
        f"adjudge: Cannot listen at 127.0.0.1 port {port}: address already in use; choose another with --port\n"
    )


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--workers", "2"], "2 workers need PostgreSQL (--database postgresql://…): in SQLite one process writes"),
        (["--workers", "0"], "'workers' must be a whole number of at least 1, got 0"),
        (["--database", "mysql://x"], "Expected a database as sqlite:///FILE or postgresql://USER@HOST/NAME"),
        (["--address", "judge.example.org"], "Expected an address as https://judge.example.org"),
        (["--port", "99999"], "'port' must be a whole number from 0 to 65,535, got 99999"),
    ],
)
def test_what_cannot_be_served_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], line: str
) -> None:
    assert main(["serve", "--data", str(tmp_path / "data"), *arguments]) == 2
    said = capsys.readouterr().err
    assert line in said
    assert said.count("\n") == 1
    assert not (tmp_path / "data" / "adjudge.sqlite3").exists()


def test_a_file_as_data_folder_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("x")
    assert main(["serve", "--data", str(tmp_path / "file")]) == 2
    assert "expected a folder for the server's data" in capsys.readouterr().err


def test_a_data_folder_that_cannot_be_made_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("x")
    data = tmp_path / "file" / "data"
    assert main(["serve", "--data", str(data), "--port", str(free_port())]) == 2
    assert capsys.readouterr().err == f"adjudge: {data}/adjudge.sqlite3: cannot be made: not a directory\n"
    with pytest.raises(AdjudgeError, match=r"file/data/secret: cannot be made: not a directory"):
        Settings(data=data).secret  # noqa: B018


def test_no_command_loads_packages_while_the_server_waits_to_write() -> None:
    """Loading takes seconds on a busy machine, and nobody can answer while a command holds the only lock."""
    for path in sorted(Path(cli.__file__).parent.glob("campaign*.py")):
        for block in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(block, ast.With) and "write()" in " ".join(ast.unparse(one) for one in block.items):
                assert not any(isinstance(one, ast.Import | ast.ImportFrom) for one in ast.walk(block)), path.name


def test_a_proxy_that_is_no_address_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--data", str(tmp_path / "data"), "--proxy", "nonsense"]) == 2
    assert "Expected the IP address of a proxy such as 127.0.0.1, got 'nonsense'" in capsys.readouterr().err


def test_without_the_web_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    wanted = r"^The server needs uvicorn, which is not installed: pip install 'adjudge\[web\]'$"
    with pytest.raises(AdjudgeError, match=wanted):
        need_server()


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "http://127.0.0.1:81"),
        ("0.0.0.0", "http://127.0.0.1:81"),
        ("::1", "http://[::1]:81"),
        ("judge.lab", "http://judge.lab:81"),
    ],
)
def test_the_address_follows_from_host_and_port(host: str, address: str) -> None:
    assert at_address(Settings(data=Path("x")), host=host, port=81).address == address


def test_it_says_where_it_is_in_one_line_tells_commands_and_stops_cleanly(
    tmp_path: Path, server: Callable[..., ServerProcess]
) -> None:
    data = tmp_path / "data"
    running = server(data)
    assert running.said() == f"Adjudge is at {running.url}\n"
    assert settings_of(Namespace(data=str(data), database=None, address=None)).address == running.url
    assert running.stop() == 0
    assert running.said() == f"Adjudge is at {running.url}\n"
    running.start()  # everything is still there
    assert running.healthy()


def organiser_of(tmp_path: Path, url: str, data: Path) -> Organiser:
    from adjudge.web.store.database import open_database
    from adjudge.web.store.people import add_organiser

    database = open_database(Settings(data=data))
    with database.write() as connection:
        add_organiser(connection, login="ada", password="a long password", is_admin=False, now=time.time())
    database.close()
    return connect(url, login="ada", password="a long password")


def test_ctrl_c_stops_it_within_seconds_while_somebody_watches(
    tmp_path: Path, server: Callable[..., ServerProcess]
) -> None:
    data = tmp_path / "data"
    running = server(data)
    with organiser_of(tmp_path, running.url, data) as organiser:
        organiser.create("watched", title="Watched")
        opened, ended = threading.Event(), threading.Event()

        def watch() -> None:
            try:
                with organiser.connection.http.stream("GET", "/api/campaigns/watched/events") as stream:
                    for _ in stream.iter_lines():
                        opened.set()
            except httpx.HTTPError:
                pass
            ended.set()

        watcher = threading.Thread(target=watch)
        watcher.start()
        assert opened.wait(300)
        assert running.stop() == 0
        assert ended.wait(300)
        watcher.join()
    assert "Traceback" not in running.said()
    assert "Cancel" not in running.said(), "the stream ended by itself, not because patience did"


def test_the_demo_prints_its_links_and_a_password_that_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, campaign_server: Any
) -> None:
    from adjudge.cli.serve import _demo

    monkeypatch.setattr("adjudge.audio.synthesis.write_demo_audio", None)  # the demo is there: no sound is made again
    campaign_server.process.stop()
    settings = Settings(data=campaign_server.process.data, address=campaign_server.url)
    lines, page = _demo(settings)
    campaign_server.process.start()
    assert page == campaign_server.open_invitation
    assert lines[0] == f"  judge:    {page}"
    compare = lines[1].removeprefix("  compare:  ")
    rank = lines[2].removeprefix("  rank:     ")
    password = lines[3].rpartition("password ")[2].rstrip(")")
    states = {"demo": "open", "demo-preferences": "open", "demo-rankings": "draft"}  # its tunes are made later
    with connect(campaign_server.url, login="demo", password=password) as organiser:
        assert {name: organiser.campaign(name).info()["state"] for name in states} == states
    with httpx.Client() as browser:
        assert [browser.get(one).status_code for one in (page, compare, rank)] == [200, 200, 200]


def test_a_log_says_how_far_the_demos_music_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from adjudge.cli.serve import _demo

    def count(*_: object, progress: Callable[[int, int], None], **__: object) -> Any:
        for done in range(11):
            progress(done, 10)
        return {}

    def refuse(*_: object, progress: Callable[[int, int], None], **__: object) -> Any:
        count(progress=progress)
        return SimpleNamespace(problems=[SimpleNamespace(problem="it was not made")])

    monkeypatch.setattr("adjudge.audio.synthesis.write_demo_audio", count)
    monkeypatch.setattr("adjudge.web.demo.take_documents", refuse)
    with pytest.raises(AdjudgeError, match="The demo's sound could not be used: it was not made"):
        _demo(Settings(data=tmp_path / "data"))
    first, *others = capsys.readouterr().err.splitlines()
    assert first.startswith("Making the demo's music")
    assert others == [f"  {percent} %" for percent in range(10, 101, 10)]


def test_opening_the_browser_does_not_wait_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from adjudge.cli.serve import _browse

    opened: queue.Queue[str] = queue.Queue()

    def note(page: str) -> bool:
        opened.put(page)
        return True

    monkeypatch.setattr("webbrowser.open", note)
    _browse("http://127.0.0.1/x")
    assert opened.get(timeout=300) == "http://127.0.0.1/x"


def test_help_is_fast_and_loads_nothing_of_the_server() -> None:
    code = "import sys; from adjudge.cli.parser import build_parser; build_parser(); print('sqlalchemy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_free_port_is_free() -> None:
    with socket.create_server(("127.0.0.1", free_port())):
        pass
