"""Many jobs over processes, where one that fails, or takes its whole process down, costs no other its result.

Processes are spawned, never forked: a web server has threads, and a fork in the middle of them may never wake up.
Functions and jobs must therefore pickle, and a script that calls this needs the usual ``if __name__ == "__main__"``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import TypeVar

from adjudge.errors import AdjudgeError

Job = TypeVar("Job")
Result = TypeVar("Result")
Progress = Callable[[int, int], None]  # jobs done, jobs in all


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
    A job whose process dies gives a ``CrashedError`` in place of a result; jobs that were under way with it are run
    again, each in a process of its own.

    >>> dict(run_jobs(abs, {"a": -1, "b": 2}, workers=1))
    {'a': 1, 'b': 2}
    """
    n_workers = min(_n_workers(workers), len(jobs))
    inline = n_workers <= 1 and not apart
    finished = _inline(function, jobs) if inline else _pooled(function, jobs, max(1, n_workers))
    for done, pair in enumerate(finished, start=1):
        if progress is not None:
            progress(done, len(jobs))
        yield pair


def _n_workers(workers: int | None) -> int:
    if workers is None:
        usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        return usable or 1
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise AdjudgeError(f"'workers' must be an integer of at least 1, got {workers!r}")
    return workers


def _inline(function: Callable[[Job], Result], jobs: Mapping[str, Job]) -> Iterator[tuple[str, Result | CrashedError]]:
    for name, job in jobs.items():
        yield name, function(job)


def _pooled(
    function: Callable[[Job], Result], jobs: Mapping[str, Job], n_workers: int
) -> Iterator[tuple[str, Result | CrashedError]]:
    """Use a pool until it breaks; then run alone the jobs that it can have begun, and go on with a new pool.

    A pool hands jobs out in order, one to each worker and up to ``n_workers`` + 1 into its queue.
    """
    left = dict(jobs)
    while left:
        for name, result in _until_broken(function, left, n_workers):
            del left[name]
            yield name, result
        for name in list(left)[: 2 * n_workers + 1]:
            yield name, _isolated(function, left.pop(name))


def _until_broken(
    function: Callable[[Job], Result], jobs: Mapping[str, Job], n_workers: int
) -> Iterator[tuple[str, Result]]:
    pool = ProcessPoolExecutor(max_workers=n_workers, mp_context=get_context("spawn"))
    running: dict[Future[Result], str] = {}
    try:
        for name, job in jobs.items():
            running[pool.submit(function, job)] = name
        for future in as_completed(running):
            yield running[future], future.result()
    except BrokenProcessPool:
        return
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _isolated(function: Callable[[Job], Result], job: Job) -> Result | CrashedError:
    for _, result in _until_broken(function, {"": job}, 1):
        return result
    return CrashedError("expected a result, got a process that died")
