"""Jobs that go wrong in all ways, for tests of workers, which import them from here."""

from __future__ import annotations

import os
import signal
import sys
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NoReturn

from adjudge.errors import warn
from adjudge.parallel import job_rng, run_jobs


def invert(number: int) -> float:
    return 1 / number


def draw(place: int) -> float:
    return float(job_rng(7, place).random())


def count_threads(_: object) -> int:
    """Threads that linear algebra may use; and a warning, which nobody hears."""
    import numpy as np
    from threadpoolctl import threadpool_info

    warn("Something is weak.")
    np.ones((2, 2)) @ np.ones((2, 2))
    return max((int(library["num_threads"]) for library in threadpool_info()), default=1)


def kill_worker(is_wanted: bool) -> str:
    if is_wanted:
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"


def find_nothing(_: str) -> None:
    """A worker on which a package is not installed."""


class TwoWordsError(Exception):
    """Can be pickled, but not read again."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} {second}")


class OddError(Exception):
    """Comes back as something that cannot be raised."""

    def __reduce__(self) -> tuple[type, tuple[int]]:
        return int, (3,)


class MuteError(TwoWordsError):
    """Has no words."""

    def __str__(self) -> str:
        raise ValueError("no words")


class Panic(BaseException):
    """What libraries in Rust raise."""


def fail(how: str) -> NoReturn:
    if how == "odd":
        raise OddError
    if how == "panic":
        raise Panic
    raise {"two words": TwoWordsError, "mute": MuteError}[how]("not", "now")


class Unreadable:
    """A result that fails where it is read, in the way that a closed pipe does."""

    def __reduce__(self) -> tuple[object, tuple[()]]:
        return _fail_to_read, ()


def _fail_to_read() -> NoReturn:
    raise EOFError("in the result")


def unreadable(_: object) -> Unreadable:
    return Unreadable()


def die_while_sending(order: Path) -> str:
    """With an order, which is obeyed once, a part of the result is sent, and no more."""
    if order.exists():
        order.unlink()

        def cut(connection: Connection, _: object) -> NoReturn:
            os.write(connection.fileno(), (1000).to_bytes(4, "big") + bytes(100))
            os._exit(3)

        Connection._send_bytes = cut  # type: ignore[attr-defined]
    return "done"


class Heavy:
    """A function that is more than a pipe holds."""

    data = b""

    def __init__(self) -> None:
        self.data = bytes(300_000)

    def __call__(self, job: int) -> int:
        return job + len(self.data)


def sleep_for_ever(mark: str) -> None:
    Path(mark).write_text(str(os.getpid()))
    time.sleep(600)


if __name__ == "__main__":  # killed by a test
    list(run_jobs(sleep_for_ever, {mark: mark for mark in sys.argv[1:]}, workers=2))
