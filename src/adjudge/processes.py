"""Many jobs over processes, where one that fails, or takes its whole process down, costs no other its result.

Processes are spawned, never forked: a web server has threads, and a fork in the middle of them may never wake up.
Functions and jobs must therefore pickle, and a script that calls this needs the usual ``if __name__ == "__main__"``.
"""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import current_process, get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Generic, NoReturn, TypeVar

from adjudge.checks import WORKERS, checked
from adjudge.errors import AdjudgeError, reason

Job = TypeVar("Job")
Result = TypeVar("Result")
Progress = Callable[[int, int], None]  # jobs done, jobs in all
_GONE = (EOFError, OSError)  # nobody at the other end of a pipe, or no more in the middle of a message
_STARTED = b""  # what a worker sends first
_PATIENCE = 5.0  # seconds that a process may take to end once its pipe is closed
_STARTING = threading.Lock()


class CrashedError(AdjudgeError):
    """A job that ended its process: a fault in a decoder, or no memory left."""


def run_jobs(
    function: Callable[[Job], Result],
    jobs: Mapping[str, Job],
    *,
    workers: int | None = None,
    apart: bool = False,
    progress: Progress | None = None,
) -> Iterator[tuple[str, Result | CrashedError]]:
    """Yield the name and result of every job, in the order in which they finish.

    ``workers`` is the number of processes; none given, one for each processor that this process may use; 1 runs the
    jobs here, in order, unless they must be run ``apart`` from this process. What the function raises is raised here.
    A job whose process dies twice gives a ``CrashedError`` in place of a result.

    >>> dict(run_jobs(abs, {"a": -1, "b": 2}, workers=1))
    {'a': 1, 'b': 2}
    """
    n_workers = min(count_workers(workers), len(jobs))
    inline = n_workers <= 1 and not apart
    finished: Generator[tuple[str, Result | CrashedError], None, None]
    if inline:
        finished = ((name, function(job)) for name, job in jobs.items())
    else:
        finished = stream_jobs(function, jobs.items(), workers=max(1, n_workers))
    with closing(finished):
        for done, pair in enumerate(finished, start=1):
            if progress is not None:
                progress(done, len(jobs))
            yield pair


@checked(workers=WORKERS)
def count_workers(workers: int | None = None) -> int:
    """Processes to use: as many as asked for, else one for each processor that this process may use.

    A daemonic process, such as one of a pool, may not start others and stays alone.
    """
    if workers is None:
        if current_process().daemon:
            return 1
        usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        return usable or 1
    return workers


def stream_jobs(
    function: Callable[[Job], Result],
    jobs: Iterable[tuple[str, Job]],
    *,
    workers: int,
    attempts: int = 2,
    environment: Mapping[str, str] | None = None,
) -> Generator[tuple[str, Result | CrashedError], None, None]:
    """Like :func:`run_jobs`, always in processes, for any number of jobs: each is asked for when a worker is free.

    The function travels once to each worker, so that it may carry data. A job whose process dies is run again in a
    new one, up to ``attempts`` times in all. ``environment`` is that of the workers. They end when the iterator is
    closed, whatever they are doing, and when this process ends, however it does.
    """
    packed = pickle.dumps(function)
    waiting, again = iter(jobs), list[_Task[Job]]()
    busy: dict[Connection, _Worker[Job, Result]] = {}
    idle: list[_Worker[Job, Result]] = []
    try:
        while True:
            while len(busy) < workers and (task := _next_task(again, waiting)) is not None:
                worker = idle.pop() if idle else _Worker[Job, Result].started(packed, environment or {})
                busy[worker.connection] = worker
                worker.begin(task)
            if not busy:
                return
            ready = wait(list(busy))
            for connection in [one for one in busy if one in ready]:
                worker = busy[connection]
                if (heard := worker.hear()) is None:
                    continue
                task, outcome = heard
                del busy[connection]
                if not isinstance(outcome, CrashedError):
                    idle.append(worker)
                elif task.attempt < attempts:
                    again.append(_Task(task.name, task.job, task.attempt + 1))
                    continue
                yield task.name, outcome
    finally:
        for worker in [*idle, *busy.values()]:
            worker.end()


@dataclass(frozen=True)
class _Task(Generic[Job]):
    name: str
    job: Job
    attempt: int = 1


def _next_task(again: list[_Task[Job]], waiting: Iterator[tuple[str, Job]]) -> _Task[Job] | None:
    if again:
        return again.pop()
    return next((_Task(name, job) for name, job in waiting), None)


class _Worker(Generic[Job, Result]):
    """A process that does one job after another; its own pipe, so that a death is that of its own job alone.

    It is sent nothing before it says that it has started: all can then start at once, and none of them can block us.
    """

    def __init__(self, process: SpawnProcess, connection: Connection, function: bytes) -> None:
        self.process, self.connection = process, connection
        self._outgoing, self._is_up = [function], False
        self._task: _Task[Job] | None = None

    @classmethod
    def started(cls, function: bytes, environment: Mapping[str, str]) -> _Worker[Job, Result]:
        if current_process().daemon:
            raise AdjudgeError("workers: a daemonic process, such as one of a pool, cannot start others; use 1")
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs,), daemon=True)
        try:
            with _STARTING, with_environment(environment), without_interrupts():
                process.start()
        except OSError as error:
            ours.close()
            raise AdjudgeError(f"workers: cannot start a process: {reason(error)}") from None
        finally:
            theirs.close()  # else its death would not be seen here
        return cls(process, ours, function)

    def begin(self, task: _Task[Job]) -> None:
        self._outgoing.append(pickle.dumps(task.job))
        self._task = task
        if self._is_up:
            self._send()

    def _send(self) -> None:
        with suppress(*_GONE):  # hearing from it will say so
            while self._outgoing:
                self.connection.send_bytes(self._outgoing.pop(0))

    def hear(self) -> tuple[_Task[Job], Result | CrashedError] | None:
        """The job that is done and its result; None where it has just started. What the job raised is raised."""
        task = self._task
        if task is None:
            raise RuntimeError("no job was begun")
        try:
            data = self.connection.recv_bytes()
        except _GONE:
            return task, self._crashed()
        if data == _STARTED:
            self._is_up = True
            self._send()
            return None
        self._task = None
        error, result = pickle.loads(data)
        if error is not None:
            raise error
        return task, result

    def _crashed(self) -> CrashedError:
        until = time.monotonic() + _PATIENCE
        while self.process.exitcode is None and time.monotonic() < until:  # join() with a limit does not keep to it
            time.sleep(0.001)
        code = self.process.exitcode or 0
        self.end()
        how = f"killed by signal {-code}" if code < 0 else f"with exit status {code}"
        return CrashedError(f"expected a result, got a process that died ({how})")

    def end(self) -> None:
        self.connection.close()
        self.process.kill()
        self.process.join()
        with suppress(ValueError):  # another thread, or the system, has taken note of its end before us
            self.process.close()


@contextmanager
def with_environment(values: Mapping[str, str]) -> Iterator[None]:
    """Variables for a process about to start; ours are put back at once."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def without_interrupts() -> Iterator[None]:
    """Processes and threads that start meanwhile never see Ctrl-C, which comes to all of a terminal; here it waits."""
    if not hasattr(signal, "pthread_sigmask"):  # not on this system
        yield
        return
    resource_tracker.ensure_running()  # else it would be started below, and take the mask away
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(connection: Connection) -> None:
    """What a worker does; it ends with the process that started it, at the latest."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # ours ends its workers
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(*_GONE):
        connection.send_bytes(_STARTED)
        packed, function = connection.recv_bytes(), None
        while True:
            data = connection.recv_bytes()
            try:
                function = function or pickle.loads(packed)
                reply = pickle.dumps((None, function(pickle.loads(data))))
            except (SystemExit, KeyboardInterrupt):
                raise
            except BaseException as error:  # libraries in Rust panic with one that is no Exception
                reply = _packed(error)
            connection.send_bytes(reply)


def _end_with_parent() -> NoReturn:
    """A job may take long, and nobody will want it."""
    parent = parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)


def _packed(error: BaseException) -> bytes:
    """An exception for the other side; those that do not travel go as what they say."""
    note = "In a worker process:\n" + "".join(traceback.format_exception(error))
    for candidate in (error, RuntimeError(_words(error))):
        with suppress(Exception):
            candidate.add_note(note)
            data = pickle.dumps((candidate, None))
            if isinstance(pickle.loads(data)[0], type(candidate)):
                return data
    raise error


def _words(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # one that cannot even say what it is about
        return type(error).__name__
