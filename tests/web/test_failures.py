"""One shape for everything that goes wrong."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.responses import StreamingResponse
from tests.web.people_app import browser, make_app

from adjudge.errors import AdjudgeError
from adjudge.web.errors import Conflict, Forbidden, Gone, NotFound, Refused, TooMany, WebError
from adjudge.web.settings import Settings
from adjudge.web.store.database import Database, StorageError

WRONG: dict[str, tuple[Exception, int]] = {
    "bad": (WebError("That is bad."), 400),
    "forbidden": (Forbidden("Not you."), 403),
    "missing": (NotFound("Not here."), 404),
    "conflict": (Conflict("Not both."), 409),
    "gone": (Gone("Not any more."), 410),
    "refused": (Refused("Not like that."), 422),
    "input": (AdjudgeError("Campaign: title: wanted."), 422),
    "often": (TooMany("Not so fast.", retry_after=7), 429),
    "storage": (StorageError("The disk of the server is full or failing; nothing was stored."), 503),
    "teapot": (HTTPException(418, "Short and stout."), 418),
}


@pytest.fixture
def app(settings: Settings, database: Database) -> FastAPI:
    made = make_app(settings, database)

    @made.get("/wrong/{what}")
    @made.get("/api/wrong/{what}")
    def wrong(what: str) -> None:
        raise WRONG[what][0]

    @made.get("/api/half")
    def half() -> StreamingResponse:
        def pieces() -> Any:
            yield "some"
            raise RuntimeError("in the middle")

        return StreamingResponse(pieces())

    @made.get("/api/surrogate")
    def surrogate() -> None:
        raise Refused("Expected text, got \ud800\r\nSet-Cookie: x=1")

    return made


@pytest.mark.parametrize("what", WRONG)
def test_programs_get_status_and_sentence_and_people_a_page_with_it(app: FastAPI, what: str) -> None:
    error, status = WRONG[what]
    sentence = error.detail if isinstance(error, HTTPException) else str(error)
    answer, page = (browser(app).get(f"{place}/wrong/{what}") for place in ("/api", ""))
    assert answer.status_code == page.status_code == status
    assert answer.json() == {"error": {"status": status, "message": sentence}}
    assert page.headers["content-type"].startswith("text/html")
    assert sentence in page.text


def test_who_should_come_again_is_told_when(app: FastAPI) -> None:
    assert browser(app).get("/api/wrong/often").headers["retry-after"] == "7"
    assert int(browser(app).get("/api/wrong/storage").headers["retry-after"]) > 0
    assert browser(app).get("/wrong/often").headers["retry-after"] == "7"


@pytest.mark.parametrize("path", ["/broken", "/api/broken"])
def test_our_own_faults_tell_nothing_outside_and_everything_in_the_log(
    app: FastAPI, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR, logger="adjudge.web"):
        answer = browser(app).get(path)
    assert answer.status_code == 500
    assert "Something went wrong on the server; nothing was stored." in answer.text
    assert "a detail" not in answer.text
    assert "a detail that nobody outside should read" in caplog.text
    assert "Traceback" in caplog.text


def test_a_response_that_breaks_off_is_not_made_to_look_whole(app: FastAPI) -> None:
    with pytest.raises(RuntimeError, match="in the middle"):
        browser(app).get("/api/half")


def test_addresses_and_methods_that_do_not_exist_say_so(app: FastAPI) -> None:
    assert browser(app).get("/api/nowhere").json()["error"]["message"] == "There is nothing at this address."
    answer = browser(app).get("/api/login")
    assert answer.status_code == 405
    assert answer.json()["error"]["message"] == "This address does not take GET."
    assert answer.headers["allow"] == "POST"
    assert "There is nothing at this address." in browser(app).get("/nowhere").text


JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    "body",
    [
        b"{", b"", b"nonsense", b'{"login": }', b"\xff\xfe", b'{"login": "a"', b"[" * 100_000, b'{"a":' * 50_000,
        b"9" * 10_000, b'{"login": "ada", "password": "x"} trailing', "{\u2028}".encode(),
    ],
    ids=range(11),
)  # fmt: skip
def test_malformed_json_is_refused_in_a_sentence(app: FastAPI, body: bytes) -> None:
    answer = browser(app).post("/api/login", content=body, headers=JSON)
    assert answer.status_code == (422 if body == b"" else 400)
    message = answer.json()["error"]["message"]
    assert message.endswith(".")
    assert "\n" not in message


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("[]", "Expected a JSON object, sent as application/json."),
        ("null", "Expected a JSON object, sent as application/json."),
        ('{"login": "ada"}', "password: field required."),
        ('{"login": 5, "password": "x"}', "login: input should be a valid string, got '5'."),
        ('{"login": "ada", "password": "x", "admin": true}', "admin: extra inputs are not permitted."),
        ('{"login": "ada", "password": 12345}', "password: input should be a valid string."),
    ],
)
def test_what_does_not_fit_is_named_in_one_line_without_secrets(app: FastAPI, body: str, message: str) -> None:
    answer = browser(app).post("/api/login", content=body, headers=JSON)
    assert answer.status_code == 422
    assert answer.json() == {"error": {"status": 422, "message": message}}


def test_a_long_value_is_shortened_and_a_long_password_not_repeated(app: FastAPI) -> None:
    answer = browser(app).post("/api/login", json={"login": "x" * 5000, "password": "x"})
    assert answer.status_code == 422
    assert len(answer.text) < 300
    answer = browser(app).post("/api/login", json={"login": "ada", "password": "hunter2" * 1000})
    assert answer.status_code == 422
    assert "hunter2" not in answer.text


def test_what_cannot_be_written_or_would_break_a_line_is_replaced(app: FastAPI) -> None:
    answer = browser(app).get("/api/surrogate")
    assert answer.json()["error"]["message"] == "Expected text, got ???Set-Cookie: x=1"


def test_half_characters_in_a_body_do_no_harm(app: FastAPI) -> None:
    body = rb'{"login": "\ud800", "password": "\udfff"}'
    answer = browser(app).post("/api/login", content=body, headers=JSON)
    assert answer.status_code in (401, 422)
    body = rb'{"\ud800": 1}'
    answer = browser(app).post("/api/login", content=body, headers=JSON)
    assert answer.status_code == 422


@pytest.mark.parametrize("script", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>'])
def test_nothing_of_a_request_becomes_part_of_a_page(app: FastAPI, script: str) -> None:
    for path in (f"/{script}", "/wrong/missing"):
        answer = browser(app).get(path, params={"q": script})
        assert script not in answer.text


def test_health_tells_whether_the_database_answers(app: FastAPI, database: Database) -> None:
    assert browser(app).get("/healthz").json() == {"status": "ok"}
    with database.write() as connection:
        connection.exec_driver_sql("ALTER TABLE organiser RENAME TO elsewhere")
    answer = browser(app).get("/healthz")
    assert answer.status_code == 503
    assert answer.json()["error"]["status"] == 503


def test_organisers_find_back_to_their_campaigns_and_others_to_whoever_invited_them(app: FastAPI) -> None:
    with browser(app) as client:
        theirs, others = (
            client.get(path, headers={"Accept": "text/html"}) for path in ("/campaigns", "/wrong/refused")
        )
    assert theirs.status_code == 404
    assert '<a href="/">Campaigns</a>' in theirs.text
    assert "invited you" not in theirs.text
    assert "invited you" in others.text
