"""Campaigns and their files over HTTP: from runs to an open campaign, media with ranges, exports, bad input."""

from __future__ import annotations

import io
import json
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from starlette.testclient import TestClient
from tests.web.conftest import ON_BOTH
from tests.web.test_media import PNG, tone

from adjudge.web.http.access import ORGANISER_COOKIE
from adjudge.web.settings import Settings
from adjudge.web.store import schema as t
from adjudge.web.store.campaigns import find_campaign
from adjudge.web.store.database import Database
from adjudge.web.store.participants import join, make_invitation
from adjudge.web.store.people import add_organiser, log_in, make_token
from adjudge.web.store.signing import csrf_token

RUN_A = b"q1 Q0 d1 1 9 a\nq1 Q0 d2 2 8 a\n"
RUN_B = b"q1 Q0 d3 1 9 b\nq1 Q0 d2 2 8 b\n"
TABLE = b"document,artist,text\nd1,Ann,words one\nd2,Bob,words two\nd3,Cid,words three\nq1,Dan,a question\n"
Files = list[tuple[str, tuple[str, bytes]]]


@pytest.fixture
def organiser(database: Database) -> dict[str, str]:
    """The header of an organiser's program."""
    return bearer(database, "ann")


def bearer(database: Database, login: str) -> dict[str, str]:
    with database.write() as connection:
        made = add_organiser(connection, login=login, password="correct horse battery", now=time.time())
        _, token = make_token(connection, made, name="tests", now=time.time())
    return {"Authorization": f"Bearer {token}"}


@pytest.fixture
def api(client: TestClient, organiser: dict[str, str]) -> TestClient:
    """A client of an organiser."""
    client.headers.update(organiser)
    return client


def created(api: TestClient, **settings: Any) -> str:
    values = {"title": "Songs", "measure": "CG@2", "estimator": "uniform", "listen_seconds": 0, **settings}
    answer = api.post("/api/campaigns", json={"name": "songs", "settings": values})
    assert answer.status_code == 201, answer.text
    return "/api/campaigns/songs"


def filled(api: TestClient, **settings: Any) -> str:
    place = created(api, **settings)
    runs: Files = [("files", ("a.txt", RUN_A)), ("files", ("b.txt", RUN_B))]
    assert api.put(f"{place}/runs", files=runs).status_code == 200
    assert api.post(f"{place}/documents", files={"table": ("t.csv", TABLE)}).status_code == 200
    return place


def opened(api: TestClient, **settings: Any) -> str:
    place = filled(api, **settings)
    answer = api.post(f"{place}/state", json={"state": "open"})
    assert answer.status_code == 200, answer.text
    return place


def said(answer: Any) -> str:
    error: dict[str, Any] = answer.json()["error"]
    assert error["status"] == answer.status_code
    return str(error["message"])


@ON_BOTH
def test_from_runs_to_an_open_campaign(api: TestClient) -> None:
    place = created(api)
    runs: Files = [("files", ("a.txt", RUN_A)), ("files", ("b.txt", RUN_B))]
    taken = api.put(f"{place}/runs", files=runs).json()
    assert (taken["systems"], taken["queries"], taken["depth"], taken["missing"]) == (["a", "b"], 1, 2, 4)
    assert api.get(f"{place}/missing").json() == {"missing": ["d1", "d2", "d3", "q1"]}
    refused = api.post(f"{place}/state", json={"state": "open"})
    assert (refused.status_code, "4 documents have nothing: 'd1'" in said(refused)) == (422, True)
    documents = api.post(f"{place}/documents", files={"table": ("t.csv", TABLE)}).json()
    assert documents == {"taken": 4, "already": 0, "skipped": 0, "described": 4, "problems": [], "notes": []}
    shown = api.post(f"{place}/state", json={"state": "open"}).json()
    assert (shown["state"], shown["counts"]["pairs"], shown["counts"]["systems"]) == ("open", 3, 2)
    assert [one["name"] for one in api.get("/api/campaigns").json()["campaigns"]] == ["songs"]
    changed = api.patch(place, json={"settings": {"judged_by": 2}}).json()
    assert (changed["settings"]["judged_by"], changed["settings"]["title"]) == (2, "Songs")


def test_bad_input_has_the_right_status_and_a_sentence(api: TestClient, database: Database) -> None:
    place = filled(api)
    again = api.post("/api/campaigns", json={"name": "songs", "settings": {"title": "x"}})
    assert (again.status_code, said(again)) == (409, "There is a campaign called 'songs' already.")
    for sent, status, message in (
        ({"name": "Not A Name", "settings": {"title": "x"}}, 422, "Expected a name of lower-case"),
        ({"name": "new", "settings": {}}, 422, "Campaign: title"),
        ({"name": "new", "settings": {"title": "x", "judged_by": 0}}, 422, "Campaign: judged_by"),
        ({"name": "new", "settings": {"title": "x"}, "stat": 1}, 422, "stat"),
    ):
        answer = api.post("/api/campaigns", json=sent)
        assert answer.status_code == status
        assert message in said(answer)
    assert api.patch(place, json={"settings": {"measure": "nonsense"}}).status_code == 422
    assert api.get("/api/campaigns/nothing").status_code == 404
    assert api.post(f"{place}/state", json={"state": "closed"}).status_code == 409
    bad = api.put(f"{place}/runs", files={"files": ("../a.txt", RUN_A)})
    assert (bad.status_code, said(bad)) == (422, "Expected a name inside the folder, got '../a.txt'")
    broken = api.put(f"{place}/runs", files={"files": ("a.txt", RUN_A + b"q1 Q0 d9\n")})
    assert (broken.status_code, said(broken)) == (422, "a.txt:3: expected 6 columns, got 3")
    assert api.put(f"{place}/runs", json={}).status_code == 400
    assert api.put(f"{place}/runs", data={"format": "trec"}, files={"other": ("x", b"")}).status_code == 422
    with database.read() as connection:
        assert connection.execute(select(t.run.c.system).order_by(t.run.c.id)).scalars().all() == ["a", "b"]


def test_nothing_stays_in_the_working_folder(api: TestClient, settings: Settings) -> None:
    place = filled(api)
    api.post(f"{place}/documents", files={"table": ("t.csv", b"\0\0")})
    assert list((settings.data / "tmp").iterdir()) == []


def test_strangers_learn_nothing(api: TestClient, client: TestClient, database: Database) -> None:
    place = opened(api)
    other = bearer(database, "bob")
    for method, path in (("GET", place), ("GET", f"{place}/missing"), ("GET", f"{place}/export/log")):
        assert client.request(method, path, headers=other).status_code == 404
    assert client.put(f"{place}/runs", files={"files": ("a.txt", RUN_A)}, headers=other).status_code == 404
    del client.headers["Authorization"]
    for method, path in (("GET", "/api/campaigns"), ("GET", place), ("PUT", f"{place}/runs")):
        assert client.request(method, path).status_code == 401


def test_runs_and_sound_come_as_a_zip(api: TestClient, tmp_path: Path) -> None:
    place = created(api)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("runs/a.txt", RUN_A)
        archive.writestr("runs/b.txt", RUN_B)
    assert api.put(f"{place}/runs", files={"files": ("runs.zip", packed.getvalue())}).json()["systems"] == ["a", "b"]
    sound = io.BytesIO()
    with zipfile.ZipFile(sound, "w") as archive:
        archive.writestr("d1.wav", tone(tmp_path / "d1.wav").read_bytes())
        archive.writestr("d2.wav", b"no sound")
        archive.writestr("unasked.wav", b"no sound either")
    taken = api.post(f"{place}/documents", files={"files": ("sound.zip", sound.getvalue())}).json()
    assert (taken["taken"], taken["skipped"]) == (1, 1)
    assert [one["document"] for one in taken["problems"]] == ["d2"]
    assert taken["problems"][0]["problem"].startswith("d2.wav: expected")


def test_media_are_served_in_parts_to_those_concerned(
    api: TestClient, client: TestClient, database: Database, settings: Settings, tmp_path: Path
) -> None:
    place = filled(api)
    sound = tone(tmp_path / "d1.wav").read_bytes()
    api.post(f"{place}/documents", files=[("files", ("d1.wav", sound)), ("files", ("d3.png", PNG))])
    with database.read() as connection:
        rows = {row.identifier: row for row in connection.execute(select(t.item))}
    path = f"/media/{rows['d1'].address}"
    whole = client.get(path)
    assert (whole.status_code, whole.headers["content-type"]) == (200, "audio/mpeg")
    assert whole.headers["etag"] == f'"{rows["d1"].clip_sha256}"'
    assert whole.headers["cache-control"] == "private, max-age=86400, immutable"
    assert whole.headers["x-content-type-options"] == "nosniff"
    part = client.get(path, headers={"Range": "bytes=100-199"})
    assert (part.status_code, part.content) == (206, whole.content[100:200])
    assert part.headers["content-range"] == f"bytes 100-199/{len(whole.content)}"
    last = client.get(path, headers={"Range": "bytes=-10", "If-Range": whole.headers["etag"]})
    assert (last.status_code, last.content) == (206, whole.content[-10:])
    assert client.get(path, headers={"Range": f"bytes={10**9}-"}).status_code == 416
    assert client.get(path, headers={"If-None-Match": whole.headers["etag"]}).status_code == 304
    assert client.head(path).headers["content-length"] == str(len(whole.content))
    assert client.get(f"/media/{rows['d3'].address}").headers["content-type"] == "image/png"
    assert client.get(f"/media/{rows['d2'].address}").status_code == 404, "a text is part of the question"
    assert client.get("/media/..%2f..%2fsecret").status_code == 404
    assert client.get(path, headers=bearer(database, "bob")).status_code == 404
    del client.headers["Authorization"]
    assert client.get(path).status_code == 401
    with database.write() as connection:
        found = find_campaign(connection, "songs")
        invitation = make_invitation(connection, found, secret=settings.secret, now=time.time())
        _, token = join(
            connection, invitation, name=None, language="en", consent=True, secret=settings.secret, now=time.time()
        )
    assert client.get(path, headers={"Authorization": f"Bearer {token}"}).status_code == 200


def test_uploaded_tables_may_have_any_names_of_columns_and_encoding(api: TestClient) -> None:
    place = opened(api)
    odd = "search,item,how,worker_id\nq1,d1,80,Zoë\n".encode("latin-1")
    sent: dict[str, Any] = {"files": {"file": ("odd.csv", odd)}}
    refused = api.post(f"{place}/judgments", **sent, data={"scale": "fine"})
    assert refused.status_code == 422
    assert said(refused).endswith("; say which it is: query=search in the field 'columns'")
    none = api.post(f"{place}/judgments", **sent, data={"scale": "fine", "columns": "query=search,grade=what"})
    assert (none.status_code, "expected a column for the grade" in said(none)) == (422, True)
    taken = api.post(f"{place}/judgments", **sent, data={"scale": "fine", "columns": "query=search,grade=how"}).json()
    assert (taken["taken"], taken["assessors"]) == (1, ["Zoë"])
    assert taken["notes"] == ["odd.csv: not UTF-8 (line 2); read as Latin-1."]


def test_judgments_in_and_out(api: TestClient) -> None:
    place = opened(api)
    judgments = b"query,document,grade,assessor\nq1,d1,80,ann\nq1,d2,20,bob\n"
    sent: dict[str, Any] = {"files": {"file": ("fine.csv", judgments)}, "data": {"scale": "fine"}}
    assert api.post(f"{place}/judgments", **sent).json() == {
        "taken": 2,
        "again": 0,
        "unknown": [],
        "assessors": ["ann", "bob"],
        "notes": [],
    }
    assert api.post(f"{place}/judgments", **sent).json()["again"] == 2
    bad = api.post(
        f"{place}/judgments", files={"file": ("x.csv", judgments + b"q1,d3,101,bob\n")}, data={"scale": "fine"}
    )
    assert bad.status_code == 422
    assert said(bad).startswith("x.csv:4: Scale fine: expected a grade from 0 to 100")
    file = api.get(f"{place}/export/qrels")
    assert (file.text, file.headers["content-disposition"]) == (
        "q1 0 d1 80\nq1 0 d2 20\n",
        'attachment; filename="songs-qrels-fine.txt"',
    )
    assert api.get(f"{place}/export/qrels?per=assessor&format=csv").text.splitlines()[1] == "q1,d1,80.0,ann"
    assert len(api.get(f"{place}/export/log?format=json").json()) == 2
    assert "judgments of one query so far" in api.get(f"{place}/export/report").text
    assert json.loads(api.get(f"{place}/export/session").text)["measure"] == "CG@2"
    assert api.get(f"{place}/export/qrels?scale=loud").status_code == 422
    assert api.get(f"{place}/export/everything").status_code == 422


def test_a_form_of_a_page_brings_its_token_beside_its_files(
    client: TestClient, organiser: dict[str, str], database: Database, settings: Settings
) -> None:
    client.headers.update(organiser)
    place = created(client)
    del client.headers["Authorization"]
    login = {"login": "ann", "password": "correct horse battery", "who_ip": "here", "now": time.time(), "limit": 10}
    token, _ = log_in(database, **login)  # type: ignore[arg-type]
    client.cookies.set(ORGANISER_COOKIE, token)
    runs: Files = [("files", ("a.txt", RUN_A)), ("files", ("b.txt", RUN_B))]
    assert client.put(f"{place}/runs", files=runs).status_code == 403
    form = {"csrf": csrf_token(settings.secret, token)}
    assert client.put(f"{place}/runs", files=runs, data=form).json()["systems"] == ["a", "b"]
    assert client.put(f"{place}/runs", files=runs, headers={"X-CSRF-Token": form["csrf"]}).status_code == 200


@pytest.mark.parametrize(
    ("decided", "complaint"),
    [
        ('{"title": "  "}', "title: expected some words, got none"),
        ('{"title": "a\\u0000b"}', "title: Expected text of one line, got control characters"),
        ('{"title": "x", "instructions": {"en": "a\\u0000b"}}', "instructions.en: Expected text of plain text"),
        ('{"title": "x", "instructions": {"\\ud800": "a"}}', "unable to parse"),
        ('{"title": "x", "consent": {"xx": "a"}}', "expected languages among en"),
        (
            '{"title": "x", "scales": [{"name": "s", "maximum": 1, "labels": {"en": ["\\ud800", "b"]}}]}',
            "unable to parse",
        ),
        ('{"title": "x", "scales": [{"name": "s", "maximum": 1, "step": 5e-324}]}', "1 to 10,000 whole steps"),
        ('{"title": "x", "scales": [{"name": "s", "maximum": 1e308, "minimum": -1e308}]}', "1 to 10,000 whole steps"),
        ('{"title": "x", "scales": [{"name": "s", "maximum": 1e-320}]}', "1 to 10,000 whole steps"),
        ('{"title": "x", "scales": [{"name": "s", "maximum": 1, "step": Infinity}]}', "step: input should be a finite"),
        ('{"title": "x", "scales": [{"name": "..", "maximum": 1}]}', "expected a name of letters"),
        ('{"title": "x", "seed": 9223372036854775808}', "seed: input should be less than"),
    ],
)
def test_settings_that_no_page_could_show_are_not_stored(api: TestClient, decided: str, complaint: str) -> None:
    sent = f'{{"name": "strange", "settings": {decided}}}'.encode()
    answer = api.post("/api/campaigns", content=sent, headers={"Content-Type": "application/json"})
    assert (answer.status_code, complaint in said(answer)) == (422, True), answer.text
    assert api.get("/api/campaigns").json() == {"campaigns": []}


def test_what_a_failure_quotes_is_cut(api: TestClient) -> None:
    answer = api.post("/api/campaigns", json={"name": "new", "settings": {"title": "x", "measure": "x" * 100_000}})
    assert (answer.status_code, len(said(answer))) == (422, 1000)


def test_judgments_on_a_scale_of_any_script_can_be_had(api: TestClient) -> None:
    place = opened(api, scales=[{"name": "類似", "maximum": 2}])
    file = api.get(f"{place}/export/qrels")
    assert file.status_code == 200
    assert file.headers["content-disposition"].endswith("filename*=UTF-8''songs-qrels-%E9%A1%9E%E4%BC%BC.txt")


def test_the_description_of_the_interface_says_how_it_fails(client: TestClient) -> None:
    description = client.get("/api/openapi.json").json()
    for path, methods in description["paths"].items():
        for method, about in methods.items():
            assert {"4XX", "5XX"} <= set(about["responses"]), f"{method} {path}"
            assert "422" not in about["responses"], f"{method} {path}"
    assert description["components"]["schemas"]["Failure"]["required"] == ["error"]


def test_a_number_beyond_those_of_the_database_is_refused(api: TestClient) -> None:
    place = opened(api)
    answer = api.post(f"{place}/pairs/{10**30}/held", json={"held": True})
    assert (answer.status_code, "pair_id: input should be less than" in said(answer)) == (422, True)


def test_a_tag_that_a_proxy_weakened_is_known(api: TestClient) -> None:
    place = filled(api)
    assert api.post(f"{place}/documents", files=[("files", ("d1.png", PNG))]).json()["taken"] == 1
    with api.app.state.context.database.read() as connection:  # type: ignore[attr-defined]
        address = connection.execute(select(t.item.c.address).where(t.item.c.identifier == "d1")).scalar_one()
    tag = api.get(f"/media/{address}").headers["etag"]
    assert api.get(f"/media/{address}", headers={"If-None-Match": f"W/{tag}"}).status_code == 304
