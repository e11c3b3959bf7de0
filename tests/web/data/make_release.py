"""Write the database of a release: ``make_release.py FOLDER``, run in a checkout of that release (see README.md).

Everything goes through the API, whose paths and shapes all releases share.
"""

from __future__ import annotations

import io
import itertools
import json
import subprocess
import sys
import tarfile
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from adjudge.web.people import add_organiser  # type: ignore[import-not-found]  # where 1.0.0 has it
from tests.web.postgres import binaries, cluster

from adjudge._version import __version__
from adjudge.web.app import create_app
from adjudge.web.settings import Settings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

BEGAN = 1_794_800_000.0
LOGIN, PASSWORD = "ada", "correct horse battery"
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8ffff3f0005fe02fe0d"
    "c44b120000000049454e44ae426082"
)
RUNS = {"s1": ["d1", "d2", "d3"], "s2": ["d3", "d1", "d4"], "s3": ["d4", "d2", "d1"]}
QUESTIONS = """question,query,a1,a2,b1,b2,expected
n1,q1,d1,d2,d3,d4,
n2,q1,d2,d3,d4,d1,
n3,q2,d3,d4,d1,d2,
n4,q2,d4,d1,d2,d3,
t1,q1,d1,d2,d4,d3,a
t2,q2,d2,d1,d3,d4,a
t3,q1,d1,d3,d4,d2,a
t4,q2,d3,d1,d4,d2,a
"""
CANDIDATES = "query,document\n" + "".join(f"q{q},d{d}\n" for q in (1, 2) for d in (1, 2, 3, 4))
CAMPAIGNS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("grades", "judging", {"measure": "CG@3", "judged_by": 2, "goal": {"kind": "everything"}}),
    ("lists", "preference", {"quiz": 1, "trap_share": 0.2, "judged_by": 3}),
    ("orders", "ranking", {"judged_by": 3}),
)
EXPORTS = {
    "grades": [("qrels", "csv"), ("qrels", "trec"), ("log", "csv"), ("log", "json"), ("session", "json")],
    "lists": [("answers", "csv"), ("questions", "csv"), ("log", "csv"), ("people", "csv")],
    "orders": [("rankings", "csv"), ("lists", "json"), ("log", "csv"), ("people", "csv")],
}


class Person:
    """Somebody in a browser of their own."""

    def __init__(self, app: Any, who: str, **sent: Any) -> None:
        self.browser = TestClient(app, base_url="http://127.0.0.1:8000")
        self.who, self.keys, self.told = who, itertools.count(), self.post("login" if who == LOGIN else "join", **sent)
        self.browser.headers["X-CSRF-Token"] = self.told["csrf"]

    def get(self, path: str) -> Any:
        """What the server says."""
        return self._said(self.browser.get(f"/api/{path}"))

    def post(self, path: str, **sent: Any) -> Any:
        """What the server says to something that is sent."""
        return self._said(self.browser.post(f"/api/{path}", json=sent))

    def put(self, path: str, method: str = "PUT", *, data: dict[str, str] | None = None, **files: Any) -> Any:
        """Send files: name and content by field."""
        parts = [(field, file) for field, some in files.items() for file in some]
        return self._said(self.browser.request(method, f"/api/{path}", files=parts, data=data or {}))

    def answer(self, kind: str, question: dict[str, Any], **what: Any) -> Any:
        """Answer a question, or skip it with a reason; the desk after it is in what comes back."""
        path = "skips" if "reason" in what else "answers"
        key = f"{self.who}-key-{next(self.keys):04}"
        return self.post(f"{kind}/{path}", key=key, lease=question["lease"], **what)

    @staticmethod
    def _said(response: Any) -> Any:
        assert response.is_success, response.text
        return response.json() if response.content else None


def fill(settings: Settings) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Three campaigns with everything in them; who is there, and the exports."""
    app = create_app(settings)
    context = app.state.context
    with context.database.write() as connection:
        add_organiser(connection, login=LOGIN, password=PASSWORD, is_admin=True, now=settings.clock())
    ada = Person(app, LOGIN, login=LOGIN, password=PASSWORD)
    people: dict[str, Any] = {"login": LOGIN, "password": PASSWORD}
    for number, (name, kind, own) in enumerate(CAMPAIGNS, start=1):
        told = {"title": f"Campaign of {name}", "consent": {"en": "I take part."}, **own}
        ada.post("campaigns", name=name, kind=kind, settings=told)
        give_files(ada, name)
        ada.post(f"campaigns/{name}/state", state="open")
        invitations = ada.post(f"campaigns/{name}/invitations", label="all", count=2)["invitations"]
        link = invitations[0]["token"]
        persons = [
            Person(app, who, invitation=link, name=who.title(), language="en", consent=True)
            for who in ("ann", "bob", "eve")
        ]
        {"grades": judge, "lists": prefer, "orders": order}[name](*persons)
        code = persons[2].told["participant"]["code"]
        if kind == "judging":
            ada.post(f"campaigns/{name}/participants/{code}/block", blocked=True)
        else:
            ada.post(f"campaigns/{name}/participants/{code}/set-aside")
        context.estimating.refresh(number)
        people[name] = {"invitations": [made["token"] for made in invitations]} | {
            person.who: {"code": person.told["participant"]["code"], "token": person.told["token"]}
            for person in persons
        }
    people["ended"] = settings.clock()
    exports = {}
    for name, wanted in EXPORTS.items():
        people[name]["version"] = ada.get(f"campaigns/{name}/picture")["version"]
        for what, form in wanted:
            answer = ada.browser.get(f"/api/campaigns/{name}/export/{what}", params={"format": form})
            assert answer.is_success, answer.text
            exports[f"{name}-{what}.{form}"] = answer.content
    context.database.close()
    return people, exports


def give_files(ada: Person, name: str) -> None:
    """Runs, questions or candidates; texts to read, and one picture to look at."""
    if name == "grades":
        lines = {
            s: "".join(f"q{q} Q0 {d} {n} {9 - n} {s}\n" for q in (1, 2) for n, d in enumerate(docs, 1))
            for s, docs in RUNS.items()
        }
        ada.put("campaigns/grades/runs", files=[(f"{system}.txt", text.encode()) for system, text in lines.items()])
    elif name == "lists":
        ada.put("campaigns/lists/questions", file=[("questions.csv", QUESTIONS.encode())])
    else:
        ada.put("campaigns/orders/candidates", files=[("candidates.csv", CANDIDATES.encode())])
    for role, names in (("document", ("d1", "d2", "d3")), ("query", ("q1", "q2"))):
        files = [(f"{item}.txt", f"The text of {item}.".encode()) for item in names]
        files += [("d4.png", PIXEL)] if role == "document" else []
        ada.put(f"campaigns/{name}/documents", "POST", data={"role": role}, files=files)


def judge(ann: Person, bob: Person, eve: Person) -> None:
    """Grades, a correction, a skip, and a question in everybody's hands."""
    scales = [scale["name"] for scale in ann.get("judging")["scales"]]
    for person, n in ((ann, 4), (bob, 3), (eve, 2)):
        question = person.get("judging")["question"]
        for number in range(n):
            grades = {scale: float(number % 2) for scale in scales}
            said = person.answer("judging", question, grades=grades, took_ms=4000 + number, comment="So so.")
            question = said["desk"]["question"]
        if person is ann:
            ann.post("judging/corrections", key="ann-corrects", answer=said["answer"], grades=dict.fromkeys(scales, 1))
        if person is bob:
            bob.answer("judging", question, reason="cannot_tell")


def prefer(ann: Person, bob: Person, eve: Person) -> None:
    """Choices after a quiz, which everybody passes; one skips."""
    for person, n in ((ann, 4), (bob, 3), (eve, 2)):
        question = person.get("preference")["question"]
        for number in range(n):
            first = [item["text"] for item in question["first"]]
            choice = "first" if "The text of d1." in first else ("second", "good", "bad")[number % 3]
            question = person.answer("preference", question, choice=choice, took_ms=3000)["desk"]["question"]
            if question is None:
                break
        if person is bob and question is not None:
            bob.answer("preference", question, reason="other", comment="I know these songs.")


def order(ann: Person, bob: Person, eve: Person) -> None:
    """Rankings, one sent again, one begun, one skipped."""
    for person in (ann, bob, eve):
        question = person.get("ranking")["question"]
        ids = [candidate["id"] for candidate in question["candidates"]]
        said = person.answer("ranking", question, groups=[ids[:1], ids[1:3]], took_ms=60_000)
        question = said["desk"]["question"]
        if person is ann:
            reopened = ann.post("ranking/reopen", answer=said["answer"])["question"]
            question = ann.answer("ranking", reopened, groups=[ids[1:2], ids[:1]])["desk"]["question"]
            held = [candidate["id"] for candidate in question["candidates"]]
            sent = {"lease": question["lease"], "version": 0, "groups": [held[:2]]}
            ann._said(ann.browser.put("/api/ranking/arrangement", json=sent))
        if person is bob:
            bob.answer("ranking", question, reason="broken")


def pack(path: Path, data: Path, people: dict[str, Any], files: dict[str, bytes]) -> None:
    """One archive: the data folder, who is there, the exports, and the dump of PostgreSQL."""
    whole = {f"exports/{name}": content for name, content in files.items() if not name.endswith(".sql")}
    whole |= {name: content for name, content in files.items() if name.endswith(".sql")}
    whole |= {"people.json": json.dumps(people, indent=1).encode()}
    whole |= {f"data/{file.relative_to(data)}": file.read_bytes() for file in data.rglob("*") if file.is_file()}
    with tarfile.open(path, "w:xz") as archive:
        for name, content in sorted(whole.items()):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


def dumped(url: str) -> bytes:
    """A database as statements that any PostgreSQL takes."""
    options = ["--no-owner", "--no-privileges", "--inserts", "--dbname", url]
    done = subprocess.run([binaries() / "pg_dump", *options], capture_output=True, text=True, check=True)
    unwanted = ("--", "\\", "SET ", "SELECT pg_catalog.set_config")  # comments, psql's own, settings of this version
    lines = [line for line in done.stdout.splitlines() if line and not line.startswith(unwanted)]
    return "\n".join(lines).encode()


def main(folder: Path) -> None:
    """Both databases of this release."""
    for engine in ("sqlite", "postgresql"):
        ticks = itertools.count()
        with TemporaryDirectory() as made, cluster(durable=False) as postgres:
            _, url = postgres.fresh()
            database = url if engine == "postgresql" else None
            data = Path(made)
            people, files = fill(Settings(data, database, estimate=False, clock=lambda: BEGAN + 2 * next(ticks)))  # noqa: B023
            if database is not None:
                files["dump.sql"] = dumped(url)
            pack(folder / f"{__version__}-{engine}.tar.xz", data, people, files)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
