"""What every response carries and every request must obey, whatever route it is for.

Pages load scripts, styles and sound from this server only, and nothing runs that is written into a page. A request that
another site made a browser send changes nothing. Bodies are measured before and while they are read: small ones for
everybody, uploads for organisers only, who are asked for before the first byte is taken.
"""

from __future__ import annotations

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from adjudge.web.context import context_of
from adjudge.web.errors import Forbidden, TooLarge, WebError
from adjudge.web.http.access import ORGANISER_COOKIE, SAFE_METHODS, offered_by, organiser_behind
from adjudge.web.http.failures import failure_response
from adjudge.web.settings import MEGABYTE, Settings

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self' blob:; "
    "connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # addresses of invitations are for nobody else
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
YEAR = 365 * 24 * 3600


def add_security(app: FastAPI, settings: Settings) -> None:
    """Put the guards before an application; the last one added is the outermost."""
    app.add_middleware(BodyLimits, settings=settings)
    app.add_middleware(SameSite)
    app.add_middleware(SecurityHeaders, settings=settings)


class SecurityHeaders:
    """Says with every response what browsers may do with it; a route may set a content policy of its own."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self.fixed = dict(HEADERS)
        if settings.encrypted:
            self.fixed["Strict-Transport-Security"] = f"max-age={YEAR}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(self.fixed)
                headers.setdefault("Content-Security-Policy", CONTENT_POLICY)
                headers.setdefault("Cache-Control", _cached(scope))
            await send(message)

        await self.app(scope, receive, guarded)


def _cached(scope: Scope) -> str:
    """Static files are asked for again unless their address changes with them; nothing else is kept at all."""
    if not scope["path"].startswith("/static/"):
        return "no-store"
    return f"public, max-age={YEAR}, immutable" if scope["query_string"].startswith(b"v=") else "no-cache"


class SameSite:
    """Refuses what another site made a browser send; requests of programs do not say where they come from."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] not in SAFE_METHODS:
            site = HTTPConnection(scope).headers.get("sec-fetch-site", "none")
            if site not in ("same-origin", "none"):
                refused = Forbidden("This request came from another site; nothing was done.")
                await failure_response(scope, refused)(scope, receive, send)
                return
        await self.app(scope, receive, send)


class BodyLimits:
    """Refuses bodies that are too large: by what they announce, or as soon as too much has come."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self.settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        try:
            limit = await self._limit(scope)
        except WebError as error:
            await failure_response(scope, error)(scope, receive, send)
            return
        await _CountedRequest(self.app, limit)(scope, receive, send)

    async def _limit(self, scope: Scope) -> int:
        """How large the body may be; refused where it announces more, or is an upload of nobody we know."""
        connection = HTTPConnection(scope)
        announced = connection.headers.get("content-length", "")
        length = int(announced) if announced.isascii() and announced.isdigit() else None
        chunked = "transfer-encoding" in connection.headers
        small = (length or 0) <= self.settings.max_json and not chunked
        is_upload = connection.headers.get("content-type", "").lower().startswith("multipart/form-data")
        limit = self.settings.max_upload if is_upload else self.settings.max_json
        if length is not None and length > limit:
            raise _too_large(limit)
        if is_upload and not small:
            context = context_of(connection)
            await run_in_threadpool(organiser_behind, context, offered_by(connection, ORGANISER_COOKIE))
        return limit


class _CountedRequest:
    """One request, whose body is counted as it comes."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self.app = app
        self.limit = limit
        self.came = 0
        self.started = False
        self.refused = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def counted() -> Message:
            message = await receive()
            self.came += len(message.get("body", b""))
            if self.came > self.limit:
                raise _too_large(self.limit)
            return message

        async def watched(message: Message) -> None:
            # Whoever read the body may have made another failure of it; ours says what it was.
            if self.came > self.limit and not self.started:
                if not self.refused:
                    self.refused = True
                    await failure_response(scope, _too_large(self.limit))(scope, receive, send)
                return
            self.started = True
            await send(message)

        await self.app(scope, counted, watched)


def _too_large(limit: int) -> TooLarge:
    size = f"{limit / MEGABYTE:g} MB" if limit >= MEGABYTE else f"{limit} bytes"
    return TooLarge(f"This is more than the server takes at once ({size}); nothing was stored.")
