"""What servers and networks do to people: servers that are killed, connections that break in the middle of a reply."""

from __future__ import annotations

import random
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Self

from adjudge.web.serving import ServerProcess


def keep_killing(
    server: ServerProcess, *, times: int, count: Callable[[], int], seed: int = 0, longest: float = 0.5
) -> None:
    """End a server by SIGKILL again and again while people answer, first also while it starts; it runs at the end.

    ``count`` tells how many answers there are: a server is not killed before people got on with it.
    """
    rng = random.Random(seed)
    for number in range(times):
        _await(count, count() + 1)
        time.sleep(rng.uniform(0.0, longest))
        server.kill()
        if number == 0 or rng.random() < 0.15:  # and once more before it is up
            server.launch()
            time.sleep(rng.uniform(0.0, 1.5))
            server.kill()
        server.start()
    _await(count, count() + 1)


def _await(count: Callable[[], int], wanted: int) -> None:
    end = time.monotonic() + 600
    while count() < wanted:
        if time.monotonic() > end:
            raise AssertionError("nobody got an answer through for ten minutes")
        time.sleep(0.005)


class BadNetwork:
    """A proxy that delays what passes, and hangs up at random in the middle of replies.

    ``broken`` counts the replies that did not arrive whole.
    """

    def __init__(self, port: int, *, delay: float = 0.02, breaks: float = 0.15, seed: int = 0) -> None:
        self._to, self._delay, self._breaks = port, delay, breaks
        self._rng, self._guard = random.Random(seed), threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: set[socket.socket] = set()
        self._closing = threading.Event()
        self.broken = 0
        self.port: int = self._listener.getsockname()[1]

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._closing.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._guard:
            for one in list(self._open):
                _hang_up(one)
        self._thread.join(5)

    def _accept(self) -> None:
        while not self._closing.is_set():
            try:
                here, _ = self._listener.accept()
            except OSError:
                return
            try:
                there = socket.create_connection(("127.0.0.1", self._to), timeout=300)
            except OSError:
                here.close()
                continue
            with self._guard:
                self._open |= {here, there}
            threading.Thread(target=self._pass, args=(here, there, False), daemon=True).start()
            threading.Thread(target=self._pass, args=(there, here, True), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, is_reply: bool) -> None:
        """Hand on what comes, until it breaks."""
        with suppress(OSError):
            while block := source.recv(4096):
                with self._guard:
                    breaks = is_reply and self._rng.random() < self._breaks
                    pause = self._rng.uniform(0, 2 * self._delay)
                time.sleep(pause)
                if breaks:
                    target.sendall(block[: len(block) // 2])
                    self.broken += 1
                    break
                target.sendall(block)
        for one in (source, target):
            _hang_up(one)
        with self._guard:
            self._open -= {source, target}


def _hang_up(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
