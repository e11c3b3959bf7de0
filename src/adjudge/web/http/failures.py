"""One shape for everything that goes wrong: a status and a sentence, as JSON for programs and as a page for people.

What was asked wrongly says so; what is our fault tells nothing but that nothing was stored, and leaves its traceback in
the log.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from jinja2 import TemplateError
from pydantic import BaseModel
from sqlalchemy.exc import DataError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from adjudge.errors import AdjudgeError, shown
from adjudge.web.errors import NotLoggedIn, TooMany, WebError
from adjudge.web.http.rendering import page
from adjudge.web.languages import LANGUAGES, preferred
from adjudge.web.store.database import StorageError

LOG = logging.getLogger("adjudge.web")
OUR_FAULT = "Something went wrong on the server; nothing was stored."
RETRY_SECONDS = 2
LONGEST = 1000
"""Characters of a sentence; what it quotes may be a megabyte."""


class Told(BaseModel):
    """What went wrong: the status of the response, and a sentence for people."""

    status: int
    message: str


class Failure(BaseModel):
    """The shape of every failure."""

    error: Told


RESPONSES: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": Failure, "description": "What was asked cannot be done, and why; nothing was stored."},
    "5XX": {"model": Failure, "description": "The server cannot do it, perhaps for the moment; nothing was stored."},
}
"""What the description of the interface says about failures."""

_SECRETS = ("password", "token", "invitation", "csrf", "new_password")
_SENTENCES = {
    HTTPStatus.NOT_FOUND: "There is nothing at this address.",
    HTTPStatus.METHOD_NOT_ALLOWED: "This address does not take {method}.",
    HTTPStatus.BAD_REQUEST: "The request could not be read; nothing was stored.",
}


def add_failures(app: FastAPI) -> None:
    """Give an application its one way to fail."""
    app.add_exception_handler(AdjudgeError, _answer)
    app.add_exception_handler(HTTPException, _answer)
    app.add_exception_handler(RequestValidationError, _answer)
    app.add_exception_handler(DataError, _answer)
    app.add_exception_handler(UnicodeEncodeError, _answer)
    # Innermost, so that what other middlewares add to responses is added to these as well.
    app.user_middleware.append(Middleware(_Unexpected))


def failure_response(scope: Scope, error: Exception) -> Response:
    """The response to a request that failed."""
    status, message = _status_and_message(scope, error)
    return _shaped(scope, status, _encodable(message), _headers_of(scope, error, status))


class _Unexpected:
    """Answers what nobody foresaw with a sentence, and logs it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self.app(scope, receive, watched)
        except Exception as error:
            if started:
                raise  # too late for another answer; the connection is cut
            if _status_and_message(scope, error)[0] >= HTTPStatus.INTERNAL_SERVER_ERROR:
                LOG.exception("%s %s failed", scope["method"], _encodable(scope["path"]))
            await failure_response(scope, error)(scope, receive, send)


async def _answer(request: Request, error: Exception) -> Response:
    if isinstance(error, StorageError):
        LOG.error("%s %s: %s", request.method, _encodable(request.url.path), error)
    return failure_response(request.scope, error)


def _status_and_message(scope: Scope, error: Exception) -> tuple[int, str]:
    match error:
        case WebError():
            return error.status, str(error)
        case StorageError():
            return HTTPStatus.SERVICE_UNAVAILABLE, str(error)
        case AdjudgeError():
            return HTTPStatus.UNPROCESSABLE_ENTITY, str(error)
        case RequestValidationError():
            return _of_validation(error)
        case HTTPException():
            return error.status_code, _of_http(scope, error)
        case DataError() | UnicodeEncodeError():
            return HTTPStatus.UNPROCESSABLE_ENTITY, "The request holds characters or numbers that cannot be stored."
    return HTTPStatus.INTERNAL_SERVER_ERROR, OUR_FAULT


def _of_http(scope: Scope, error: HTTPException) -> str:
    told = _SENTENCES.get(HTTPStatus(error.status_code)) if error.status_code in set(HTTPStatus) else None
    return told.format(method=scope["method"]) if told else str(error.detail)


def _of_validation(error: RequestValidationError) -> tuple[int, str]:
    """The first thing that is wrong with what was sent, in a line: its place, what was wanted, what came."""
    first: Mapping[str, Any] = error.errors()[0]
    if first["type"] == "json_invalid":
        reason = str(first.get("ctx", {}).get("error", "")).rstrip(".")
        return HTTPStatus.BAD_REQUEST, f"Expected JSON, got something else at character {first['loc'][-1]}: {reason}."
    place = [str(part) for part in first["loc"] if part not in ("body", "query", "path", "header")]
    if not place and first["loc"][:1] == ("body",):
        return HTTPStatus.UNPROCESSABLE_ENTITY, "Expected a JSON object, sent as application/json."
    message = re.sub(r"^(Value|Assertion) error, ", "", str(first["msg"])).rstrip(".")
    message = message[:1].lower() + message[1:]
    came = "" if _is_hidden(first, place) else f", got {shown(first['input'])}"
    name = shown(".".join(place))[1:-1]
    return HTTPStatus.UNPROCESSABLE_ENTITY, f"{f'{name}: ' if name else ''}{message}{came}."


def _is_hidden(first: Mapping[str, Any], place: list[str]) -> bool:
    """Whether what came is not told: there is nothing to tell, it is long, or it is a secret."""
    if first["type"] in ("value_error", "missing", "extra_forbidden") or set(place) & set(_SECRETS):
        return True
    return not isinstance(first.get("input"), str | int | float | bool)


def _headers_of(scope: Scope, error: Exception, status: int) -> dict[str, str]:
    if isinstance(error, TooMany):
        return {"Retry-After": str(int(error.retry_after))}
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        return {"Retry-After": str(RETRY_SECONDS)}
    if isinstance(error, NotLoggedIn) and _wants_json(scope):
        return {"WWW-Authenticate": "Bearer"}
    return dict(error.headers or {}) if isinstance(error, HTTPException) else {}


def _wants_json(scope: Scope) -> bool:
    path: str = scope["path"]
    return path == "/api" or path.startswith("/api/") or path == "/healthz"


def _is_organising(scope: Scope) -> bool:
    """Whether it happened on a page of organisers, whom nobody invited."""
    path: str = scope["path"]
    return path == "/campaigns" or path.startswith("/campaigns/")


def _shaped(scope: Scope, status: int, message: str, headers: dict[str, str]) -> Response:
    if _wants_json(scope):
        return JSONResponse({"error": {"status": status, "message": message}}, status_code=status, headers=headers)
    try:
        language = preferred(HTTPConnection(scope).headers.get("accept-language", ""), LANGUAGES)
        response: Response = page(
            "failure.html", status=status, language=language, message=message, organising=_is_organising(scope)
        )
    except (OSError, KeyError, TemplateError):
        LOG.exception("the page of failures cannot be made")
        response = PlainTextResponse(f"{status} {message}\n", status_code=status)
    response.headers.update(headers)
    return response


def _encodable(message: str) -> str:
    """A sentence that can be sent and logged, whatever somebody put into what it quotes."""
    short = message if len(message) <= LONGEST else f"{message[: LONGEST - 1]}…"
    whole = short.encode("utf-8", "replace").decode()
    return "".join(character if character.isprintable() else "?" for character in whole)
