"""A server in a thread of the tests: the same application, reached over the same kind of socket, at once.

A process of its own takes two seconds of work to import what is imported here already. What concerns processes
(signals, kills, workers, what is printed) is tested on ``adjudge serve`` itself, see the fixture ``server``.
"""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Self

import uvicorn

from adjudge.web.serving import at_address
from adjudge.web.settings import Settings


class NearServer:
    """Serves a data folder from where it is started until it is stopped; used with ``with``, or as it pleases."""

    def __init__(self, data: Path, database: str | None = None) -> None:
        self.data, self.database = data, database
        self._listening = socket.create_server(("127.0.0.1", 0))  # held from now on: nobody else gets the port
        self.port: int = self._listening.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._running: tuple[uvicorn.Server, threading.Thread] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def start(self) -> None:
        """Start, or start again at the same port, and wait until people can come."""
        from adjudge.web.app import create_app

        if self._listening.fileno() < 0:  # stopping closed it
            self._listening = socket.create_server(("127.0.0.1", self.port))
        app = create_app(at_address(Settings(data=self.data, database=self.database), host="127.0.0.1", port=self.port))
        options = {"log_config": None, "log_level": "critical", "server_header": False, "timeout_keep_alive": 65}
        config = uvicorn.Config(app, **options, timeout_graceful_shutdown=0)  # type: ignore[arg-type]
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [self._listening]}, name="server", daemon=True)
        thread.start()
        self._running = server, thread
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            time.sleep(0.005)

    def stop(self) -> None:
        """Stop at once; streams of pictures are cut off."""
        if self._running is None:
            return
        server, thread = self._running
        self._running, server.should_exit = None, True
        thread.join(300)
        assert not thread.is_alive(), "the server did not stop"
