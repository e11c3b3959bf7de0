"""Many jobs over processes, where one that fails, or takes its whole process down, costs no other its result.

Processes are spawned, never forked: a web server has threads, and a fork in the middle of them may never wake up.
Functions and jobs must therefore pickle, and a script that calls this needs the usual ``if __name__ == "__main__"``.
"""

from __future__ import annotations

import os
import pickle
import signal
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, Generic, TypeVar

from adjudge.errors import AdjudgeError

Job = TypeVar("Job")
Result = TypeVar("Result")
Progress = Callable[[int, int], None]  # jobs done, jobs in all
_GONE = (EOFError, BrokenPipeError, ConnectionResetError)


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
    finished: Iterator[tuple[str, Result | CrashedError]]
    if inline:
        finished = ((name, function(job)) for name, job in jobs.items())
    else:
        finished = stream_jobs(function, jobs.items(), workers=max(1, n_workers))
    for done, pair in enumerate(finished, start=1):
        if progress is not None:
            progress(done, len(jobs))
        yield pair


def count_workers(workers: int | None) -> int:
    """Processes to use: as many as asked for, else one for each processor that this process may use."""
    if workers is None:
        usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        return usable or 1
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise AdjudgeError(f"'workers' must be an integer of at least 1, got {workers!r}")
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
    waiting, again = iter(jobs), list[_Task[Job]]()
    busy: dict[Connection, _Worker[Job, Result]] = {}
    idle: list[_Worker[Job, Result]] = []
    try:
        while True:
            while len(busy) < workers and (task := _next_task(again, waiting)) is not None:
                worker = idle.pop() if idle else _Worker[Job, Result].started(function, environment or {})
                worker.begin(task)
                busy[worker.connection] = worker
            if not busy:
                return
            ready = wait(list(busy))
            for connection in [one for one in busy if one in ready]:
                task, outcome = busy[connection].finish()
                worker = busy.pop(connection)
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
    """A process that does one job after another; its own pipe, so that a death is that of its own job alone."""

    def __init__(self, process: SpawnProcess, connection: Connection) -> None:
        self.process, self.connection = process, connection
        self.task: _Task[Job] | None = None

    @classmethod
    def started(cls, function: Callable[[Job], Result], environment: Mapping[str, str]) -> _Worker[Job, Result]:
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, function), daemon=True)
        with _environment(environment):
            process.start()
        theirs.close()  # else its death would not be seen here
        return cls(process, ours)

    def begin(self, task: _Task[Job]) -> None:
        self.task = task
        data = pickle.dumps(task.job)
        with suppress(*_GONE):  # reading from it will say so
            self.connection.send_bytes(data)

    def finish(self) -> tuple[_Task[Job], Result | CrashedError]:
        task, self.task = self.task, None
        if task is None:
            raise RuntimeError("no job was begun")
        try:
            error, result = pickle.loads(self.connection.recv_bytes())
        except _GONE:
            self.process.join()
            code = self.process.exitcode or 0
            self.end()
            how = f"killed by signal {-code}" if code < 0 else f"with exit status {code}"
            return task, CrashedError(f"expected a result, got a process that died ({how})")
        if error is not None:
            raise error
        return task, result

    def end(self) -> None:
        self.connection.close()
        self.process.kill()
        self.process.join()
        self.process.close()


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
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


def _serve(connection: Connection, function: Callable[[Any], Any]) -> None:
    """What a worker does; it ends when nobody is at the other end of the pipe any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal; ours ends its workers
    while True:
        try:
            data = connection.recv_bytes()
        except _GONE:
            return
        try:
            reply = pickle.dumps((None, function(pickle.loads(data))))
        except Exception as error:
            error.add_note("In a worker process:\n" + traceback.format_exc())
            reply = _packed(error)
        try:
            connection.send_bytes(reply)
        except _GONE:
            return


def _packed(error: Exception) -> bytes:
    """An exception for the other side; those that do not travel go as what they say."""
    try:
        data = pickle.dumps((error, None))
        pickle.loads(data)
    except Exception:
        return pickle.dumps((RuntimeError(f"{type(error).__name__}: {error}"), None))
    return data
