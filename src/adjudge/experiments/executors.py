"""Who runs the chunks: this process, processes of this machine, or a Dask cluster. All give the same numbers."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing

from adjudge.checks import COUNT, checked
from adjudge.errors import AdjudgeError
from adjudge.experiments.chunks import Chunk, Span, Work
from adjudge.processes import CrashedError, count_workers, stream_jobs

SECONDS_A_CHUNK = 4.0  # so much is lost at most when a worker is killed
_CHUNKS_A_WORKER = 8  # so that none waits long for the last
_SECONDS_HERE = 0.5  # a short experiment is over before a process has started
_ATTEMPTS = 3
ONE_THREAD = {"POLARS_MAX_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""Workers are as many as processors, so that each needs one thread."""


class Plan:
    """Spans of the trials that are missing, cut as they are asked for.

    Without a ``chunk`` the first are of one trial, and later ones of as many as take some seconds by what was
    :meth:`told`, but never so many that workers would get less than eight each.
    """

    @checked(chunk=COUNT)
    def __init__(self, missing: Sequence[Span], *, workers: int, chunk: int | None = None) -> None:
        self._missing = list(reversed(missing))
        self.fixed = chunk is not None
        self.size = chunk or 1
        self._most = max(1, self.left // (_CHUNKS_A_WORKER * workers))

    @property
    def left(self) -> int:
        """Trials that nobody has asked for."""
        return sum(last - first for first, last in self._missing)

    def told(self, chunk: Chunk) -> None:
        """Learn how long trials take."""
        if not self.fixed:
            each = chunk.seconds / (chunk.span[1] - chunk.span[0])
            self.size = max(1, min(self._most, int(SECONDS_A_CHUNK / max(each, 1e-6))))

    def __iter__(self) -> Iterator[Span]:
        while self._missing:
            first, last = self._missing.pop()
            if first + self.size < last:
                self._missing.append((first + self.size, last))
            yield first, min(last, first + self.size)


def run_spans(
    work: Work, missing: Sequence[Span], *, workers: int | None, dask: str | None, chunk: int | None
) -> Generator[Chunk, None, None]:
    """Chunks of the missing trials as they are finished.

    Without a number of ``workers`` the first half second is spent here, which is all that many experiments need; the
    rest goes to one process a processor. Where resamples are drawn on a graphics card there is one worker.
    """
    if dask is not None:
        from adjudge.experiments.dask_cluster import run_on_dask

        yield from run_on_dask(work, missing, address=dask, workers=workers, chunk=chunk)
        return
    alone = workers is None and bool(getattr(work.experiment, "gpu", False))
    n_workers = 1 if alone else count_workers(workers)
    plan = Plan(missing, workers=n_workers, chunk=chunk)
    if n_workers == 1:
        yield from _here(work, plan)
        return
    if workers is None and chunk is None:
        yield from _here(work, plan, seconds=_SECONDS_HERE)
    yield from _in_processes(work, plan, n_workers)


def _here(work: Work, plan: Plan, *, seconds: float | None = None) -> Generator[Chunk, None, None]:
    """In this process: all trials, or for so many seconds, and then on where the rest takes no longer."""
    started, spent = time.perf_counter(), 0.0
    spans = iter(plan)
    while plan.left:
        done = work(next(spans))
        plan.told(done)
        yield done
        spent = time.perf_counter() - started
        left = plan.left * done.seconds / (done.span[1] - done.span[0])
        if seconds is not None and spent > seconds and left > 2 * seconds:
            return


def _in_processes(work: Work, plan: Plan, workers: int) -> Generator[Chunk, None, None]:
    """In processes of this machine; once a chunk has failed no other is begun, but those under way are finished."""
    failed: list[str] = []
    n_done = 0

    def jobs() -> Iterator[tuple[str, Span]]:
        for first, last in plan:
            yield f"trials {first} to {last - 1}", (first, last)
            if failed:
                return

    with closing(stream_jobs(work, jobs(), workers=workers, attempts=_ATTEMPTS, environment=ONE_THREAD)) as finished:
        for name, result in finished:
            if isinstance(result, CrashedError):
                failed.append(f"{name}: {result}")
                continue
            n_done += 1
            plan.told(result)
            yield result
    if failed:
        hint = "" if n_done else '; a script that starts processes needs if __name__ == "__main__"'
        raise CrashedError(f"{failed[0]}, {_ATTEMPTS} times; all finished trials are kept{hint}")


def lost(span: Span, why: str) -> AdjudgeError:
    """The error of trials that could not be run."""
    return AdjudgeError(f"trials {span[0]} to {span[1] - 1}: {why}; all finished trials are kept")
