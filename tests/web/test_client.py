"""Driving a campaign from Python, against a real server."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from tests.web.making import random_runs
from tests.web.near import NearServer

from adjudge.errors import AdjudgeError
from adjudge.web.client import Assessor, CampaignError, Organiser, connect, join
from adjudge.web.settings import Settings
from adjudge.web.store.database import open_database
from adjudge.web.store.people import add_organiser

ROOT = Path(__file__).parents[2]
LOGIN, PASSWORD = "ada", "a long password"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Organiser]:
    """A server with one organiser, logged in."""
    data = tmp_path_factory.mktemp("lab") / "data"
    database = open_database(Settings(data=data))
    with database.write() as connection:
        add_organiser(connection, login=LOGIN, password=PASSWORD, is_admin=False, now=time.time())
    database.close()
    with NearServer(data) as server, connect(server.url, login=LOGIN, password=PASSWORD) as organiser:
        yield organiser


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Runs of three systems, and a table of texts."""
    folder = tmp_path / "files"
    (folder / "runs").mkdir(parents=True)
    collection = random_runs(n_queries=3, n_systems=3, depth=3)
    rows = ["document,text,artist"]
    for run in collection.runs:
        lines = []
        for query in range(3):
            for rank in range(3):
                document = collection.documents[run.documents[run.offsets[query] + rank]]
                lines.append(f"{collection.queries[query]} Q0 {document} {rank + 1} {9 - rank} {run.system}\n")
        (folder / "runs" / f"{run.system}.txt").write_text("".join(lines))
    rows += [f"{name},words about {name},someone" for name in collection.documents]
    (folder / "documents.csv").write_text("\n".join(rows) + "\n")
    queries = [f"{name},words about {name}" for name in collection.queries]
    (folder / "queries.csv").write_text("\n".join(["document,text", *queries]) + "\n")
    return folder


def test_a_campaign_runs_from_the_first_file_to_the_last_export(lab: Organiser, files: Path, tmp_path: Path) -> None:
    campaign = lab.create("words", title="Words", measure="CG@3", goal={"kind": "everything"}, repeat_share=0)
    campaign.put_runs(str(files / "runs" / "*.txt"))
    assert "q1" in campaign.missing()
    with pytest.raises(CampaignError, match="something to hear, read or see") as refused:
        campaign.open()
    assert refused.value.status == 422
    campaign.put_documents(files / "documents.csv")
    campaign.put_documents(files / "queries.csv", role="query")
    assert campaign.missing() == []
    assert campaign.open()["state"] == "open"
    assert "words" in [row["name"] for row in lab.campaigns()]
    assert campaign.change(title="More words")["settings"]["title"] == "More words"

    invitation = campaign.invite(label="all", cap=3)
    assert len(campaign.invitations()) == 1
    with join(lab.connection.url, invitation["url"], name="Bo") as bo:
        desk = bo.desk()
        n = 0
        while desk["question"] is not None:
            taken = bo.answer(desk["question"]["lease"], {"broad": 1, "fine": 10 + n}, comment="hm")
            n, desk = n + 1, taken.desk
        assert desk["why"] in ("nothing_left", "reached")
        last = bo.answers(last=1)[0]
        assert last["grades"] == {"broad": 1, "fine": 10 + n - 1}
        assert bo.correct(last["answer"], {"broad": 2, "fine": 99}).again is False
        assert bo.answers(last=1)[0]["grades"]["fine"] == 99
        assert bo.change(name="Bob")["name"] == "Bob"

    assert campaign.qrels(scale="fine").height == n
    assert campaign.log().height == n + 1
    assert campaign.export("qrels", scale="broad", format="trec", to=tmp_path / "q.txt") == tmp_path / "q.txt"
    assert len((tmp_path / "q.txt").read_text().splitlines()) == n
    (code,) = [row["code"] for row in campaign.participants()]
    campaign.block(code)
    with Assessor(lab.connection.url, bo.token) as blocked, pytest.raises(CampaignError) as shut_out:
        blocked.desk()
    assert shut_out.value.status == 403
    campaign.block(code, blocked=False)
    assert campaign.erase(code, "remove")["answers_removed"] == n + 1
    campaign.revoke(invitation["id"])
    with pytest.raises(CampaignError, match=r"invitation") as gone:
        join(lab.connection.url, invitation["url"])
    assert gone.value.status == 410
    assert campaign.end()["state"] == "closed"


def test_pictures_arrive_while_people_answer(lab: Organiser, files: Path) -> None:
    campaign = lab.create("live", title="Live", measure="CG@3")
    campaign.put_runs(files / "runs" / "s1.txt")
    campaign.put_documents(files / "documents.csv")
    campaign.put_documents(files / "queries.csv", role="query")
    campaign.open()
    pictures = campaign.watch()
    first = next(pictures)
    with join(lab.connection.url, campaign.invite()["url"]) as assessor:
        assessor.answer(assessor.desk()["question"]["lease"], {"broad": 2, "fine": 90})
        assert assessor.heartbeat() is not None
        assessor.leave()
    for picture in pictures:
        if picture["status"]["answers"]:
            break
    assert picture["version"] > first["version"]
    assert picture["status"]["answers"] == 1
    assert campaign.picture()["status"]["answers"] == 1
    pictures.close()


def test_a_token_does_what_a_login_does_until_it_is_revoked(lab: Organiser) -> None:
    made = lab.make_token("notebook")
    with connect(lab.connection.url, made["token"]) as program:
        program.create("by-token", title="By token")
        assert "by-token" in [row["name"] for row in program.campaigns()]
        (known,) = program.tokens()
        lab.revoke_token(known["id"])
        with pytest.raises(CampaignError, match="revoked") as refused:
            program.campaigns()
    assert refused.value.status == 401


def with_token(lab: Organiser, token: str) -> None:
    with connect(lab.connection.url, token) as program:
        program.campaigns()


@pytest.mark.parametrize(
    ("action", "status", "words"),
    [
        (lambda lab: lab.campaign("nothing"), 404, "nothing"),
        (lambda lab: lab.create("Not A Name", title="x"), 422, "lower-case"),
        (lambda lab: lab.create("a", title="x", judged_by=0), 422, "judged_by"),
        (lambda lab: [lab.create("twice", title="x"), lab.create("twice", title="x")], 409, "already"),
        (lambda lab: join(lab.connection.url, "1.forged"), 404, "invitation"),
        (lambda lab: with_token(lab, "adj_wrong"), 401, "token"),
        (lambda lab: connect(lab.connection.url, login=LOGIN, password="wrong password"), 401, "password"),
    ],
)  # fmt: skip
def test_what_the_server_refuses_is_raised_in_its_words(
    lab: Organiser, action: Callable[[Organiser], object], status: int, words: str
) -> None:
    with pytest.raises(CampaignError, match=words) as refused:
        action(lab)
    assert refused.value.status == status


def test_a_server_that_is_not_there_is_said_in_one_line() -> None:
    with connect("http://127.0.0.1:9", "adj_x", patience=0) as nobody:
        with pytest.raises(CampaignError, match=r"http://127\.0\.0\.1:9 cannot be reached") as refused:
            nobody.campaigns()
        assert refused.value.status is None


def test_files_that_are_not_there_are_refused_before_anything_is_sent(lab: Organiser) -> None:
    with pytest.raises(AdjudgeError, match="there is no such file"):
        lab.create("files", title="Files").put_runs("nowhere/*.txt")


class Flaky(BaseHTTPRequestHandler):
    """Refuses, breaks off, then answers; remembers what was asked."""

    replies: list[int]
    bodies: list[bytes]

    def do_POST(self) -> None:
        self.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        status = self.replies.pop(0)
        if status == 0:  # hang up
            self.close_connection = True
            return
        content = b'{"answer": 1, "again": false, "desk": {}, "error": {"message": "busy"}}'
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@pytest.mark.parametrize(("replies", "n_sent"), [([503, 200], 2), ([0, 0, 200], 3), ([0, 503, 200], 3), ([200], 1)])
def test_an_answer_is_sent_again_under_the_same_key_until_it_is_taken(replies: list[int], n_sent: int) -> None:
    handler = type("Handler", (Flaky,), {"replies": list(replies), "bodies": []})
    served = HTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=served.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        with Assessor(f"http://127.0.0.1:{served.server_port}", "token", patience=300) as assessor:
            taken = assessor.answer("lease", {"fine": 3})
    finally:
        served.shutdown()
        thread.join()
        served.server_close()
    assert taken.answer == 1
    assert len(handler.bodies) == n_sent  # type: ignore[attr-defined]
    assert len(set(handler.bodies)) == 1  # type: ignore[attr-defined]
