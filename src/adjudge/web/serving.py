"""Running a server: in this process, in several, or in one beside us that can be watched and ended.

One worker serves in the process that was started. Several are processes that uvicorn starts and watches; they learn the
settings from the environment, because a process cannot be handed a value. Simulations and tests start ``adjudge serve``
as anybody would, and end it as harshly as they like.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from adjudge.errors import AdjudgeError

if TYPE_CHECKING:
    import uvicorn
    from fastapi import FastAPI

    from adjudge.web.settings import Settings

ENVIRONMENT = "ADJUDGE_SERVE"
STOPPING_SECONDS = 3
"""How long streams of snapshots may keep a server from stopping."""


def free_port(host: str = "127.0.0.1") -> int:
    """A port that nobody listens at now."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        port: int = probe.getsockname()[1]
        return port


def check_port(host: str, port: int) -> None:
    """Refuse a port that is taken, in one line."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except (OSError, OverflowError) as error:
            why = (getattr(error, "strerror", None) or str(error)).lower().removeprefix("bind(): ").rstrip(".")
            raise AdjudgeError(f"Cannot listen at {host} port {port}: {why}; choose another with --port") from None


def serve(
    settings: Settings, *, host: str, port: int, workers: int = 1, ready: Callable[[], None] | None = None
) -> None:
    """Serve until somebody says stop; ``workers`` processes where the database is PostgreSQL.

    ``ready`` is called once people can come.
    """
    import uvicorn

    from adjudge.web.store.database import open_database

    check_workers(settings, workers)
    check_port(host, port)
    options: dict[str, Any] = {
        "host": host,
        "port": port,
        "log_level": "warning",
        "timeout_graceful_shutdown": STOPPING_SECONDS,
        "timeout_keep_alive": 65,
        "server_header": False,
        "proxy_headers": bool(settings.proxies),
        "forwarded_allow_ips": ",".join(settings.proxies) or None,
    }
    with suppress(KeyboardInterrupt):  # the way in which a server ends
        if workers == 1:
            from adjudge.web.app import create_app

            _announcing(uvicorn.Config(create_app(settings), **options), ready).run()
            return
        open_database(settings).close()  # brought up to date once, not by every worker
        os.environ[ENVIRONMENT] = _as_text(settings)
        if ready is not None:
            ready()
        uvicorn.run("adjudge.web.serving:app_from_environment", factory=True, workers=workers, **options)


def _announcing(config: uvicorn.Config, ready: Callable[[], None] | None) -> uvicorn.Server:
    """A server that says when it listens."""
    import uvicorn

    class Announcing(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started and ready is not None:
                ready()

    return Announcing(config)


def check_workers(settings: Settings, workers: int) -> None:
    """Refuse what SQLite cannot do well."""
    if workers < 1:
        raise AdjudgeError(f"'workers' must be at least 1, got {workers}")
    if workers > 1 and settings.url.startswith("sqlite"):
        raise AdjudgeError(
            f"{workers} workers need PostgreSQL (--database postgresql://…): in SQLite one process writes at a time, "
            "and others would only wait for it"
        )


def app_from_environment() -> FastAPI:
    """The application of one of several workers."""
    from adjudge.web.app import create_app
    from adjudge.web.settings import Settings

    values = json.loads(os.environ[ENVIRONMENT])
    values["proxies"] = tuple(values["proxies"])
    return create_app(Settings(data=Path(values.pop("data")), **values))


_PLAIN = (
    "database", "address", "lease_seconds", "max_file", "max_upload", "max_json", "logins_per_minute", "estimate",
    "refresh_seconds", "proxies",
)  # fmt: skip


def _as_text(settings: Settings) -> str:
    return json.dumps({"data": str(settings.data.resolve()), **{name: getattr(settings, name) for name in _PLAIN}})


def at_address(settings: Settings, *, host: str, port: int) -> Settings:
    """Settings that name the address people reach, where it follows from host and port."""
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return replace(settings, address=f"http://{shown}:{port}")


class ServerProcess:
    """``adjudge serve`` in a process of its own, on this machine only.

    ``kill`` ends it as a power cut would, ``stop`` as Ctrl-C does; ``start`` starts it again on the same data and port.
    Used with ``with``, it is gone at the end whatever happened.
    """

    def __init__(
        self,
        data: Path,
        *,
        database: str | None = None,
        workers: int = 1,
        port: int | None = None,
        arguments: Sequence[str] = (),
        environment: dict[str, str] | None = None,
        limit_file_bytes: int | None = None,
    ) -> None:
        self.data, self.database, self.workers = data, database, workers
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = data.parent / f"{data.name}.log"
        self.environment = environment or {}
        self._arguments = tuple(arguments)
        self._limit = limit_file_bytes
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        if self._process is None:
            self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.kill()

    @property
    def pid(self) -> int:
        """Of the process that was started."""
        if self._process is None:
            raise AdjudgeError("The server is not running.")
        return self._process.pid

    def start(self, *, wait: float = 300.0) -> None:
        """Start and wait until it answers; what it said is in the message where it does not."""
        self.launch()
        end = time.monotonic() + wait
        while self.is_running and time.monotonic() < end:
            if self.healthy():
                return
            time.sleep(0.03)
        said = self.said()[-1000:].strip()
        self.kill()
        raise AdjudgeError(f"The server did not start: {said or 'it said nothing'}")

    def launch(self) -> None:
        """Start without waiting."""
        self.data.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "adjudge", "serve", "--data", str(self.data), "--port", str(self.port)]
        command += ["--database", self.database] if self.database is not None else []
        command += ["--workers", str(self.workers)] if self.workers != 1 else []
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*command, *self._arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **self.environment},
                start_new_session=True,
                preexec_fn=self._limited if self._limit is not None else None,  # noqa: PLW1509 - set before exec
            )

    @property
    def is_running(self) -> bool:
        """Whether the process is there."""
        return self._process is not None and self._process.poll() is None

    def _limited(self) -> None:
        """No file may grow past the limit: what a full disk is like, without one."""
        import resource

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (self._limit or 0, self._limit or 0))

    def healthy(self) -> bool:
        """Whether it answers, and its database does."""
        from http.client import HTTPConnection, HTTPException

        asked = HTTPConnection("127.0.0.1", self.port, timeout=5)  # httpx reads certificates first: 20 ms a look
        try:
            asked.request("GET", "/healthz")
            return asked.getresponse().status == 200
        except (OSError, HTTPException):
            return False
        finally:
            asked.close()

    def said(self) -> str:
        """What it wrote since its first start."""
        return self.log.read_text(encoding="utf-8", errors="replace") if self.log.exists() else ""

    def stop(self, *, wait: float = 60.0) -> int:
        """Ask it to stop, as Ctrl-C does; its exit code."""
        if self._process is None:
            return 0
        self._process.send_signal(signal.SIGINT)
        try:
            code = self._process.wait(wait)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AdjudgeError(f"The server did not stop within {wait:g} seconds.") from None
        self._process = None
        return code

    def kill(self) -> None:
        """End it this instant, and its workers with it: they are the processes of its own group."""
        if self._process is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process = None
