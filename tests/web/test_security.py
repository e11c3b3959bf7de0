"""What keeps strangers out: roles, csrf, origins, headers, sizes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Any

import pytest
from fastapi import FastAPI, File, Form, Request, UploadFile
from starlette.responses import StreamingResponse
from tests.web.people_app import (
    PASSWORD,
    browser,
    invite,
    joined,
    logged_in,
    make_app,
    make_campaign,
    make_organiser,
    rows,
)

from adjudge.web.http.access import AsOrganiser, MaybeOrganiser, MaybeParticipant, client_address
from adjudge.web.settings import Settings
from adjudge.web.store import schema
from adjudge.web.store.database import Database
from adjudge.web.store.signing import csrf_token


@pytest.fixture
def app(settings: Settings, database: Database) -> FastAPI:
    make_campaign(database, organiser=make_organiser(database))
    made = make_app(settings, database)

    @made.post("/api/uploads")
    def upload(organiser: AsOrganiser, file: Annotated[UploadFile, File()]) -> dict[str, int]:
        return {"size": len(file.file.read())}

    @made.post("/form")
    def form(organiser: AsOrganiser, title: Annotated[str, Form()]) -> dict[str, str]:
        return {"title": title}

    @made.post("/bare-form")
    def bare(organiser: AsOrganiser) -> dict[str, str]:
        return {"login": organiser.login}

    @made.get("/either")
    def either(organiser: MaybeOrganiser, participant: MaybeParticipant) -> dict[str, bool]:
        return {"organiser": organiser is not None, "participant": participant is not None}

    @made.get("/api/stream")
    def stream() -> StreamingResponse:
        return StreamingResponse((f"event: {number}\n\n" for number in range(3)), media_type="text/event-stream")

    @made.post("/api/raw")
    async def raw(request: Request) -> dict[str, int]:
        return {"size": len(await request.body())}

    return made


@pytest.fixture
def guest_token(settings: Settings, database: Database, app: FastAPI) -> str:
    from adjudge.web.store.campaigns import find_campaign

    with database.read() as connection:
        small = find_campaign(connection, "small")
    opened = browser(app)
    answer = opened.post("/api/join", json={"invitation": invite(database, settings, small).token})
    token: str = answer.json()["token"]
    return token


# Roles.


def test_nobody_gets_in_without_showing_who_they_are(app: FastAPI) -> None:
    for method, path in [("GET", "/api/organiser"), ("POST", "/api/assessor"), ("GET", "/api/tokens")]:
        answer = browser(app).request(method, path)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"


def test_an_assessor_is_no_organiser_and_an_organiser_no_assessor(
    app: FastAPI, settings: Settings, guest_token: str
) -> None:
    organiser = logged_in(app)
    login = organiser.cookies["adjudge_organiser"]
    made = organiser.post("/api/tokens", json={"name": "notebook"}).json()["token"]
    for token in (guest_token, login):
        assert browser(app, headers={"Authorization": f"Bearer {token}"}).get("/api/organiser").status_code == 401
    for token in (made, login):
        assert browser(app, headers={"Authorization": f"Bearer {token}"}).post("/api/assessor").status_code == 401
    for token in (guest_token, made):
        assert browser(app, cookies={"adjudge_organiser": token}).get("/api/organiser").status_code == 401
    for token in (login, made):
        csrf = {"X-CSRF-Token": csrf_token(settings.secret, token)}
        crossed = browser(app, cookies={"adjudge_assessor": token}, headers=csrf)
        assert crossed.post("/api/assessor").status_code == 401


@pytest.mark.parametrize(
    "header",
    [
        "Bearer",
        "Bearer ",
        "Bearer adj_",
        "Bearer adj_" + "x" * 43,
        "Basic YWRhOnB3",
        "adj_x",
        "Bearer ' OR 1=1",
        "Bearer \xe9",
    ],
)
def test_strange_authorisation_is_nobodys(app: FastAPI, header: str) -> None:
    answer = browser(app, headers={"Authorization": header.encode("latin-1")}).get("/api/organiser")
    assert answer.status_code == 401


def test_a_bearer_token_counts_before_a_cookie(app: FastAPI) -> None:
    opened = logged_in(app)
    assert opened.get("/api/organiser", headers={"Authorization": "Bearer adj_forged"}).status_code == 401
    assert opened.get("/api/organiser", headers={"Authorization": "Basic b2Y6cHJveHk="}).status_code == 200


def test_pages_for_either_know_who_is_there(app: FastAPI, guest_token: str) -> None:
    assert browser(app).get("/either").json() == {"organiser": False, "participant": False}
    assert logged_in(app).get("/either").json() == {"organiser": True, "participant": False}
    guest = browser(app, cookies={"adjudge_assessor": guest_token, "adjudge_organiser": "forged"})
    assert guest.get("/either").json() == {"organiser": False, "participant": True}


# Requests that a browser was made to send.


@pytest.mark.parametrize("csrf", [None, "", "wrong", "é", "0" * 32])
def test_a_change_by_cookie_needs_the_csrf_token(app: FastAPI, database: Database, csrf: str | None) -> None:
    opened = logged_in(app)
    del opened.headers["X-CSRF-Token"]
    headers = {} if csrf is None else {"X-CSRF-Token": csrf.encode("latin-1")}
    answer = opened.post("/api/tokens", json={"name": "x"}, headers=headers)
    assert answer.status_code == 403
    assert "load it again" in answer.json()["error"]["message"]
    assert rows(database, schema.api_token) == 0
    assert opened.get("/api/tokens").status_code == 200  # reading changes nothing


def test_the_csrf_token_of_somebody_else_is_worth_nothing(app: FastAPI, settings: Settings, guest_token: str) -> None:
    opened, other = logged_in(app), logged_in(app)
    wrong = [other.headers["X-CSRF-Token"], csrf_token(settings.secret, guest_token)]
    for csrf in wrong:
        assert opened.post("/api/tokens", json={"name": "x"}, headers={"X-CSRF-Token": csrf}).status_code == 403
    guest = browser(app, cookies={"adjudge_assessor": guest_token})
    assert guest.post("/api/assessor", headers={"X-CSRF-Token": wrong[0]}).status_code == 403


@pytest.mark.parametrize("path", ["/form", "/bare-form"])
@pytest.mark.parametrize("as_files", [False, True])
def test_a_form_may_bring_the_csrf_token_in_a_field(app: FastAPI, path: str, as_files: bool) -> None:
    opened = logged_in(app)
    csrf = opened.headers.pop("X-CSRF-Token")

    def post(fields: dict[str, str]) -> int:
        files = {name: (None, value) for name, value in fields.items()}
        sent: dict[str, Any] = {"files": files} if as_files else {"data": fields}
        return int(opened.post(path, **sent).status_code)

    assert post({"title": "T", "csrf": csrf}) == 200
    assert post({"title": "T", "csrf": "wrong"}) == 403
    assert post({"title": "T"}) == 403


def test_a_file_called_csrf_is_no_csrf_token(app: FastAPI) -> None:
    opened = logged_in(app)
    csrf = opened.headers.pop("X-CSRF-Token")
    answer = opened.post("/bare-form", files={"csrf": ("csrf.txt", csrf.encode())})
    assert answer.status_code == 403


@pytest.mark.parametrize(
    ("site", "status"),
    [("cross-site", 403), ("same-site", 403), ("anything", 403), ("same-origin", 200), ("none", 200)],
)
def test_what_another_site_made_a_browser_send_is_refused(
    app: FastAPI, database: Database, site: str, status: int
) -> None:
    headers = {"Sec-Fetch-Site": site}
    answer = browser(app).post("/api/login", json={"login": "ada", "password": PASSWORD}, headers=headers)
    assert answer.status_code == status
    assert rows(database, schema.login) == (status == 200)
    assert browser(app).get("/healthz", headers=headers).status_code == 200  # links may come from anywhere


def test_json_sent_as_something_else_is_refused(app: FastAPI, database: Database) -> None:
    body = f'{{"login": "ada", "password": "{PASSWORD}"}}'
    for kind in ("text/plain", "application/x-www-form-urlencoded", "", "multipart/form-data"):
        answer = browser(app).post("/api/login", content=body, headers={"Content-Type": kind})
        assert answer.status_code == 422
        assert answer.json()["error"]["message"] == "Expected a JSON object, sent as application/json."
    assert rows(database, schema.login) == 0


# Headers.


@pytest.mark.parametrize("path", ["/healthz", "/api/organiser", "/nowhere", "/api/nowhere", "/api/broken", "/broken"])
def test_every_response_says_what_browsers_may_do_with_it(app: FastAPI, path: str) -> None:
    headers = browser(app, raise_server_exceptions=False).get(path).headers
    policy = headers["content-security-policy"]
    for part in ("default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"):
        assert part in policy.split("; ")
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert "camera=()" in headers["permissions-policy"]
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"
    assert "strict-transport-security" not in headers


def test_over_https_cookies_and_connections_stay_encrypted(settings: Settings, database: Database) -> None:
    make_organiser(database)
    app = make_app(replace(settings, address="https://judge.example.org"), database)
    answer = browser(app).post("/api/login", json={"login": "ada", "password": PASSWORD})
    assert "secure" in answer.headers["set-cookie"].lower()
    assert answer.headers["strict-transport-security"].startswith("max-age=")


def test_a_stream_passes_piece_by_piece(app: FastAPI) -> None:
    answer = browser(app).get("/api/stream")
    assert answer.text == "event: 0\n\nevent: 1\n\nevent: 2\n\n"
    assert answer.headers["x-content-type-options"] == "nosniff"


# Sizes.


def call(app: FastAPI, headers: dict[str, str], pieces: list[bytes], path: str = "/api/login") -> tuple[int, int]:
    """Send a request as a server would hand it over: its status, and how many pieces of the body were read."""
    read, statuses = 0, []

    async def receive() -> dict[str, Any]:
        nonlocal read
        if read >= len(pieces):
            return {"type": "http.disconnect"}
        read += 1
        return {"type": "http.request", "body": pieces[read - 1], "more_body": read < len(pieces)}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    scope = {
        "type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b"", "root_path": "",
        "scheme": "http", "http_version": "1.1", "client": ("192.0.2.1", 1), "server": ("127.0.0.1", 8000),
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
    }  # fmt: skip
    asyncio.run(app(scope, receive, send))
    assert len(statuses) == 1
    return statuses[0], read


JSON = {"Content-Type": "application/json"}
CHUNKED = {"Transfer-Encoding": "chunked"}
MULTIPART = {"Content-Type": "multipart/form-data; boundary=b"}


def test_two_gigabytes_are_refused_before_a_byte_is_read(app: FastAPI) -> None:
    logged = {"Cookie": f"adjudge_organiser={logged_in(app).cookies['adjudge_organiser']}"}
    length = {"Content-Length": str(2 * 1024**3)}
    for headers, path in [
        (JSON, "/api/login"),
        (JSON, "/api/nowhere"),
        (MULTIPART | logged, "/api/uploads"),
        (MULTIPART, "/api/uploads"),
    ]:
        assert call(app, headers | length, [b"x"], path) == (413, 0)


def test_a_body_that_grows_too_large_is_cut_off(app: FastAPI, settings: Settings) -> None:
    piece = b" " * 200_000
    for path in ("/api/login", "/api/raw"):
        status, read = call(app, JSON | CHUNKED, [piece] * 50, path)
        assert status == 413
        assert read == settings.max_json // len(piece) + 1


def test_a_body_that_hides_its_size_is_cut_off_as_well(app: FastAPI) -> None:
    assert call(app, JSON, [b" " * 200_000] * 50)[0] == 413
    assert call(app, JSON | {"Content-Length": "10"}, [b" " * 200_000] * 50)[0] == 413


def test_large_uploads_are_for_organisers_only(app: FastAPI, settings: Settings) -> None:
    body = (
        b'--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n'
        + b"x" * 3_000_000
        + b"\r\n--b--\r\n"
    )
    length = {"Content-Length": str(len(body))}
    for size in (length, CHUNKED):
        assert call(app, MULTIPART | size, [body], "/api/uploads") == (401, 0)
        forged = {"Cookie": "adjudge_organiser=forged"}
        assert call(app, MULTIPART | size | forged, [body], "/api/uploads") == (401, 0)
    opened = logged_in(app)
    cookie = {"Cookie": f"adjudge_organiser={opened.cookies['adjudge_organiser']}"}
    csrf = {"X-CSRF-Token": opened.headers["X-CSRF-Token"]}
    assert call(app, MULTIPART | length | cookie | csrf, [body], "/api/uploads") == (200, 1)
    assert call(app, MULTIPART | CHUNKED | cookie | csrf, [body], "/api/uploads") == (200, 1)


def test_an_upload_is_cut_off_at_its_own_limit(settings: Settings, database: Database) -> None:
    make_organiser(database)
    app = make_app(replace(settings, max_upload=2_000_000), database)

    @app.post("/api/uploads")
    def upload(organiser: AsOrganiser, file: Annotated[UploadFile, File()]) -> None: ...

    cookie = {"Cookie": f"adjudge_organiser={logged_in(app).cookies['adjudge_organiser']}"}
    start = b'--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n'
    status, read = call(app, MULTIPART | CHUNKED | cookie, [start, *[b"x" * 500_000] * 20], "/api/uploads")
    assert status == 413
    assert read < 7


def test_the_refusal_of_a_large_body_is_a_sentence(app: FastAPI) -> None:
    def pieces() -> Iterator[bytes]:
        yield from [b" " * 500_000] * 5

    answer = browser(app).post("/api/login", content=pieces(), headers=JSON)
    assert answer.status_code == 413
    assert answer.json()["error"]["message"] == "This is more than the server takes at once (1 MB); nothing was stored."


# Where requests come from.


@pytest.mark.parametrize(
    ("peer", "forwarded", "proxies", "expected"),
    [
        ("192.0.2.1", "203.0.113.9", (), "192.0.2.1"),
        ("192.0.2.1", "203.0.113.9", ("10.0.0.1",), "192.0.2.1"),
        ("10.0.0.1", "203.0.113.9", ("10.0.0.1",), "203.0.113.9"),
        ("10.0.0.1", "1.1.1.1, 203.0.113.9", ("10.0.0.1",), "203.0.113.9"),
        ("10.0.0.1", "203.0.113.9, 10.0.0.2", ("10.0.0.0/8",), "203.0.113.9"),
        ("10.0.0.1", "nonsense", ("10.0.0.1",), "10.0.0.1"),
        ("10.0.0.1", "203.0.113.9, nonsense", ("10.0.0.1",), "10.0.0.1"),
        ("10.0.0.1", "", ("10.0.0.1",), "10.0.0.1"),
        ("::1", "2001:db8::1", ("::1",), "2001:db8::1"),
    ],
)
def test_an_address_is_believed_from_our_own_proxies_only(
    settings: Settings, peer: str, forwarded: str, proxies: tuple[str, ...], expected: str
) -> None:
    scope = {"type": "http", "client": (peer, 1), "headers": [(b"x-forwarded-for", forwarded.encode())]}
    assert client_address(Request(scope), replace(settings, proxies=proxies)) == expected


def test_attempts_to_log_in_are_not_hidden_by_a_forged_address(app: FastAPI, settings: Settings) -> None:
    opened = browser(app)
    wrong = {"login": "ada", "password": "wrong password"}
    statuses = [
        opened.post("/api/login", json=wrong | {"login": f"x{number}"}, headers={"X-Forwarded-For": f"1.1.1.{number}"})
        for number in range(settings.logins_per_minute + 1)
    ]
    assert statuses[-1].status_code == 429


def test_one_joins_and_goes_on_by_cookie_alone(app: FastAPI, settings: Settings, database: Database) -> None:
    from adjudge.web.store.campaigns import find_campaign

    with database.read() as connection:
        small = find_campaign(connection, "small")
    guest = joined(app, invite(database, settings, small).token)
    assert guest.post("/api/assessor").status_code == 200
    guest.cookies.clear()
    assert guest.post("/api/assessor").status_code == 401
