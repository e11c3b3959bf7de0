"""Requests to a server: refusals become errors, and what a bad network breaks is sent again where that is safe."""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from adjudge.errors import AdjudgeError, shown
from adjudge.extras import need

if TYPE_CHECKING:
    import httpx

Json = dict[str, Any]
PATIENCE = 30.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 1.0


class CampaignError(AdjudgeError):
    """What the server refused, in its words; ``status`` is that of HTTP, None where it could not be reached.

    ``said`` is all that it said, such as the ranking that another window saved.
    """

    def __init__(self, message: str, *, status: int | None = None, said: Json | None = None) -> None:
        super().__init__(message)
        self.status, self.said = status, said or {}


class Connection:
    """Requests to one server in the name of one person; ends with ``close`` or ``with``."""

    def __init__(self, url: str, token: str | None = None, *, patience: float = PATIENCE) -> None:
        need("web", "Talking to a server needs", "httpx")
        import httpx

        if not url.startswith(("http://", "https://")):
            raise AdjudgeError(f"Expected the address of a server, http://… or https://…, got {shown(url)}")
        self.url, self.token, self.patience = url.rstrip("/"), token, patience
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self.http = httpx.Client(base_url=self.url, headers=headers, timeout=httpx.Timeout(30, read=120))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Hang up."""
        self.http.close()

    def ask(self, method: str, path: str, *, again: bool | None = None, **request: Any) -> httpx.Response:
        """Send a request; refusals are raised. ``again`` says that it may be sent twice (default: what reads)."""
        import httpx

        repeatable = again if again is not None else method in ("GET", "PUT", "DELETE")
        end, pause = time.monotonic() + self.patience, _FIRST_PAUSE
        while True:
            try:
                response = self.http.request(method, f"/api{path}", **request)
                # 503 says that nothing was stored, so that anything may be sent again.
                if response.status_code != 503 or time.monotonic() + pause > end:
                    return accepted(response)
            except httpx.TransportError as error:
                safe = repeatable or isinstance(error, httpx.ConnectError)  # then nothing was sent at all
                if not safe or time.monotonic() + pause > end:
                    raise CampaignError(f"{self.url} cannot be reached: {error or type(error).__name__}") from error
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def get(self, path: str, **params: object) -> Any:
        """Read something."""
        return self.ask("GET", path, params=given(params)).json()

    def post(self, path: str, body: Mapping[str, object] | None = None, *, again: bool = False) -> Any:
        """Do something."""
        response = self.ask("POST", path, again=again, json=given(body or {}))
        return response.json() if response.content else None


def given(values: Mapping[str, object]) -> dict[str, Any]:
    """Values without those that are None."""
    return {name: value for name, value in values.items() if value is not None}


def accepted(response: httpx.Response) -> httpx.Response:
    """The response, unless it is a refusal."""
    if response.status_code < 400:
        return response
    said: Json = {}
    try:
        said = response.json()
        message = str(said["error"]["message"])
    except (ValueError, KeyError, TypeError):
        message = f"{response.request.url}: expected an answer, got status {response.status_code}"
    raise CampaignError(message, status=response.status_code, said=said)


class ConnectionHolder:
    """Something that holds a connection, and gives it up at the end of ``with``."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Hang up."""
        self.connection.close()
