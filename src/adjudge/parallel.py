"""Run many jobs: in this process, in processes of this machine, or on a Dask cluster.

All three give the same results: a job depends on its arguments alone, linear algebra has one thread everywhere (the
last digit of a sum depends on how many share it), and :func:`job_rng` seeds a job by its place. A job that ends its
process (a fault in a decoder, no memory left) costs no other job its result.

Processes are spawned, never forked: a web server has threads, and a fork among them may never wake up. Functions and
jobs must therefore pickle. A new process imports the script that started it if that has the usual ``if __name__ ==
"__main__"``; without it the script would run again, so that its own functions and estimators are then unknown there.

The processes are our own, each with its own pipe. ``pebble``, whose workers share one, takes 1.4 times as long per job,
waits forever when a worker is killed while it sends a result, and leaves busy workers behind when this process is
killed (``benchmarks/parallel.py``).
"""

from __future__ import annotations

import logging
import operator
import os
import pickle
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import islice
from multiprocessing import current_process, get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NoReturn, Protocol, TypeVar

from adjudge._version import __version__
from adjudge.checks import WORKERS, checked
from adjudge.errors import AdjudgeError, kept_warnings, reason, shown
from adjudge.extras import need

if TYPE_CHECKING:
    import numpy as np

Key = TypeVar("Key")
Job = TypeVar("Job")
Result = TypeVar("Result")
Progress = Callable[[int, int], None]
"""Called with the number of jobs done and the number of jobs in all."""
LOCAL_CLUSTER = "local"
"""The ``dask`` address of a cluster that is started here and closed at the end."""
ONE_THREAD = {"POLARS_MAX_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""The environment of workers: there is one per processor, so each needs one thread."""
SECONDS_TO_CONNECT = 10.0
SECONDS_WITHOUT_WORKERS = 30.0
_GUARD = 'if __name__ == "__main__"'
_ATTEMPTS = 3  # processes that a job may take down before it is given up
_GONE = (EOFError, OSError)  # the other end of a pipe is closed, perhaps in the middle of a message
_STARTED = b""  # the first message of a worker
_SECONDS_TO_END = 5.0  # for a process whose pipe is closed
_STARTING = threading.Lock()  # the environment belongs to all threads
# Dask has its workers return freed memory at once, which doubles the time where arrays come and go.
_KEEP_MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(1 << 28), "MALLOC_MMAP_THRESHOLD_": str(1 << 25)}
_SECONDS_TO_LOOK = 2.0  # between checks that a cluster has workers, while no result comes
_IN_FLIGHT = 2  # jobs per thread of a cluster: one that runs and one that waits for it


class CrashedError(AdjudgeError):
    """A job that ended its processes, or workers that are gone."""


class Pool(Protocol):
    """Something that runs jobs: ``size`` of them at a time."""

    @property
    def size(self) -> int:
        """Number of jobs that run at the same time."""

    def run(
        self, function: Callable[[Job], Result], jobs: Iterable[tuple[Key, Job]]
    ) -> Generator[tuple[Key, Result | CrashedError], None, None]:
        """Yield the key and the result of every job, in the order in which they finish.

        A job is taken from ``jobs`` when a worker is free for it. What the function raises is raised here and ends
        the others. A job whose processes die gives a ``CrashedError`` in place of a result. Closing the generator
        ends what is running.
        """


def run_jobs(
    function: Callable[[Job], Result],
    jobs: Mapping[Key, Job],
    *,
    workers: int | None = None,
    dask: str | None = None,
    apart: bool = False,
    progress: Progress | None = None,
) -> Generator[tuple[Key, Result | CrashedError], None, None]:
    """Yield the key and the result of every job, in the order in which they finish.

    ``workers``, ``dask`` and ``apart`` are those of :func:`open_pool`. What the function raises is raised here; a job
    whose processes die gives a ``CrashedError`` in place of a result. Adjudge's warnings in jobs are not shown.

    >>> dict(run_jobs(abs, {"a": -1, "b": 2}, workers=1))
    {'a': 1, 'b': 2}
    """
    needed = max(1, min(count_workers(workers), len(jobs)))
    if not jobs:
        return
    with open_pool(needed, dask=dask, apart=apart) as pool, closing(pool.run(function, jobs.items())) as finished:
        for done, pair in enumerate(finished, start=1):
            if progress is not None:
                progress(done, len(jobs))
            yield pair


def run_calls(
    calls: Iterable[Callable[[], Result]],
    *,
    workers: int | None = None,
    dask: str | None = None,
    progress: Progress | None = None,
) -> list[Result]:
    """Results of calls without arguments, in the order of the calls; a crash is raised.

    >>> from functools import partial
    >>> run_calls([partial(abs, -1), partial(abs, 2)], workers=1)
    [1, 2]
    """
    by_place = dict(enumerate(calls))
    results: dict[int, Result] = {}
    for place, result in run_jobs(operator.call, by_place, workers=workers, dask=dask, progress=progress):
        if isinstance(result, CrashedError):
            raise result
        results[place] = result
    return [results[place] for place in by_place]


def job_rng(seed: int, *place: int) -> np.random.Generator:
    """Random numbers of a job, from the seed and the job's place alone: workers and order make no difference."""
    import numpy as np

    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=place))


@checked(workers=WORKERS)
def count_workers(workers: int | None = None) -> int:
    """Number of workers to use: as many as asked for, else one per processor that this process may use.

    A daemonic process, such as one of a pool, may not start others: it has one worker, itself.
    """
    if workers is None:
        if current_process().daemon:
            return 1
        usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        return usable or 1
    return workers


@contextmanager
def open_pool(workers: int | None = None, *, dask: str | None = None, apart: bool = False) -> Iterator[Pool]:
    """Open workers for jobs that are made as they are needed; :func:`run_jobs` is for those that are known.

    ``workers`` is the number of processes, by default one per processor; 1 is this process, unless jobs must run
    ``apart`` from it because they may crash. ``dask`` is the address of a scheduler, or ``local`` for a cluster of as
    many workers started here.
    """
    if dask is not None:
        with _open_cluster(dask, workers) as cluster:
            yield cluster
        return
    size = count_workers(workers)
    yield _Processes(size) if size > 1 or apart else _ThisProcess()


_LIMITING = threading.Lock()
_OPEN: list[Any] = []  # for each open section of one_thread(), what restores the limit from before the first


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep linear algebra to one thread: several are slower for small matrices, and change the last digits of sums.

    Also a decorator. The limit is that of the process. Sections may be nested, and those of several threads overlap:
    the first one to open sets the limit, the last one to close restores what was there before.
    """
    with _LIMITING:
        _OPEN.append(_OPEN[0] if _OPEN else _linear_algebra().limit(limits=1))
        _let_other_threads_limit()
    try:
        yield
    finally:
        with _LIMITING:
            limit = _OPEN.pop()
            if not _OPEN:
                limit.restore_original_limits()
                _let_other_threads_limit()


def _let_other_threads_limit() -> None:
    """Give up what threadpoolctl gives to the first thread that sets a limit: the others then set none, in silence."""
    from threadpoolctl import OpenBLASController

    OpenBLASController.clear_controlling_thread()


@cache
def _linear_algebra() -> Any:
    """The libraries of NumPy and SciPy; to look for them takes 500 times as long as to set their limits."""
    import scipy.linalg  # noqa: F401  # a library is found once it is loaded
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


class _ThisProcess:
    size = 1

    def run(
        self, function: Callable[[Job], Result], jobs: Iterable[tuple[Key, Job]]
    ) -> Generator[tuple[Key, Result | CrashedError], None, None]:
        from threadpoolctl import threadpool_limits

        for key, job in jobs:
            with threadpool_limits(limits=1), kept_warnings():
                result = function(job)
            yield key, result


# Processes of this machine


@dataclass(frozen=True)
class _Processes:
    size: int

    def run(
        self, function: Callable[[Job], Result], jobs: Iterable[tuple[Key, Job]]
    ) -> Generator[tuple[Key, Result | CrashedError], None, None]:
        """The function travels once to each worker, so that it may carry data. Workers end with this process."""
        packed, waiting = _pack(function), ((key, job, 1) for key, job in jobs)
        again: list[_Task[Key, Job]] = []
        busy: dict[Connection, _Worker[Key, Job, Result]] = {}
        idle: list[_Worker[Key, Job, Result]] = []
        try:
            while True:
                while len(busy) < self.size and (task := again.pop() if again else next(waiting, None)) is not None:
                    worker = idle.pop() if idle else _Worker[Key, Job, Result](packed)
                    busy[worker.connection] = worker
                    worker.begin(task)
                if not busy:
                    return
                ready = wait(list(busy))
                for connection in [connection for connection in busy if connection in ready]:
                    worker = busy[connection]
                    if (finished := worker.receive()) is None:
                        continue
                    (key, job, attempt), outcome = finished
                    del busy[connection]
                    if not isinstance(outcome, CrashedError):
                        idle.append(worker)
                    elif attempt < _ATTEMPTS:
                        again.append((key, job, attempt + 1))
                        continue
                    yield key, outcome
        finally:
            for worker in [*idle, *busy.values()]:
                worker.end()


_Task = tuple[Key, Job, int]  # with the number of the attempt


class _Worker(Generic[Key, Job, Result]):
    """A process that does one job after another, with a pipe of its own: when it dies, only its job is lost.

    It is sent nothing before it says that it has started: all can then start at once, and none of them can block us.
    """

    def __init__(self, function: bytes) -> None:
        if current_process().daemon:
            raise AdjudgeError("workers: a daemonic process, such as one of a pool, cannot start others; use 1")
        context = get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process: SpawnProcess = context.Process(target=_serve, args=(theirs,), daemon=True)
        self._outgoing, self._is_up = [function], False
        self._task: _Task[Key, Job] | None = None
        try:
            with _STARTING, _with_environment(ONE_THREAD), _without_interrupts(), _without_open_script():
                self.process.start()
        except OSError as error:
            self.connection.close()
            raise AdjudgeError(f"workers: cannot start a process: {reason(error)}") from None
        finally:
            theirs.close()  # else its death would not be seen here

    def begin(self, task: _Task[Key, Job]) -> None:
        self._outgoing.append(_pack(task[1]))
        self._task = task
        if self._is_up:
            self._send()

    def _send(self) -> None:
        with suppress(*_GONE):  # receiving from it will say so
            while self._outgoing:
                self.connection.send_bytes(self._outgoing.pop(0))

    def receive(self) -> tuple[_Task[Key, Job], Result | CrashedError] | None:
        """The task that is done and its result; None if the worker has just started. Errors of the job are raised."""
        task = self._task
        if task is None:
            raise RuntimeError("no job was begun")
        try:
            data = self.connection.recv_bytes()
        except _GONE:
            return task, self._crash(task[2])
        if data == _STARTED:
            self._is_up = True
            self._send()
            return None
        self._task = None
        error, result = pickle.loads(data)
        if error is not None:
            raise error
        return task, result

    def _crash(self, attempt: int) -> CrashedError:
        until = time.monotonic() + _SECONDS_TO_END
        while self.process.exitcode is None and time.monotonic() < until:  # join() may take longer than its timeout
            time.sleep(0.001)
        code = self.process.exitcode or 0
        self.end()
        how = f"killed by signal {-code}" if code < 0 else f"with exit status {code}"
        hint = "" if self._is_up else f"; a script that starts processes needs {_GUARD}"
        return CrashedError(f"expected a result, got a process that died {attempt} times ({how}){hint}")

    def end(self) -> None:
        self.connection.close()
        self.process.kill()
        self.process.join()
        with suppress(ValueError):  # another thread, or the system, has noticed its end before us
            self.process.close()


def _pack(value: object) -> bytes:
    data = pickle.dumps(value)
    if b"__main__" in data and _is_open_script():
        raise AdjudgeError(f"workers: functions of a script need {_GUARD} around what it runs, or use 1")
    return data


def _is_open_script() -> bool:
    """Whether a script runs that would run again when a worker imports it."""
    try:
        return b"__main__" not in Path(sys.modules["__main__"].__file__ or "").read_bytes()
    except (AttributeError, OSError):  # it is no file
        return False


@contextmanager
def _without_open_script() -> Iterator[None]:
    """Keep processes that start here from importing a script that would run again: they import what has a place."""
    script = vars(sys.modules["__main__"])
    names = ("__file__", "__spec__") if _is_open_script() else ()
    place: dict[str, Any] = {name: script[name] for name in names}
    script.update(dict.fromkeys(place))
    try:
        yield
    finally:
        script.update(place)


@contextmanager
def _with_environment(values: Mapping[str, str]) -> Iterator[None]:
    """Set variables for a process about to start, and restore ours."""
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
def _without_interrupts() -> Iterator[None]:
    """Keep Ctrl-C, which goes to all processes of a terminal, from those that start here; ours waits until the end."""
    if not hasattr(signal, "pthread_sigmask"):  # not on this system
        yield
        return
    resource_tracker.ensure_running()  # else it would start below and undo the mask
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(connection: Connection) -> None:
    """Do the jobs that come, in a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one ends it
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
                with kept_warnings():
                    reply = pickle.dumps((None, function(pickle.loads(data))))
            except (SystemExit, KeyboardInterrupt):
                raise
            except BaseException as error:  # libraries in Rust panic with one that is no Exception
                reply = _pack_error(error)
            connection.send_bytes(reply)


def _end_with_parent() -> NoReturn:
    """End a worker whose parent is gone, even in the middle of a job: nobody wants its result."""
    parent = parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)


def _pack_error(error: BaseException) -> bytes:
    """Pickle an exception; one that cannot travel goes as a ``RuntimeError`` with its message."""
    note = "In a worker process:\n" + "".join(traceback.format_exception(error))
    try:
        message = f"{type(error).__name__}: {error}"
    except Exception:  # one whose message cannot be made
        message = type(error).__name__
    for candidate in (error, RuntimeError(message)):
        with suppress(Exception):
            candidate.add_note(note)
            data = pickle.dumps((candidate, None))
            if isinstance(pickle.loads(data)[0], type(candidate)):
                return data
    raise error


# Dask


@contextmanager
def _open_cluster(address: str, workers: int | None) -> Iterator[_Cluster]:
    need("dask", "Jobs on a cluster need")
    import distributed

    if address != LOCAL_CLUSTER and "://" not in address:
        expected = f"{LOCAL_CLUSTER} or an address such as tcp://host:8786"
        raise AdjudgeError(f"dask: expected {expected}, got {shown(address)}")
    with _quiet_dask(), ExitStack() as stack:
        # each process of a cluster that starts here would report Ctrl-C; closing it ends them
        with _without_interrupts() if address == LOCAL_CLUSTER else nullcontext():
            target = stack.enter_context(_local_cluster(workers)) if address == LOCAL_CLUSTER else address
            try:
                client = distributed.Client(target, timeout=SECONDS_TO_CONNECT, set_as_default=False)
                stack.enter_context(client)
            except (OSError, TimeoutError, ValueError):
                raise AdjudgeError(f"dask: expected a scheduler at {shown(address)}, got no answer") from None
        cluster = _Cluster(client, address)
        cluster.wait_for_workers()
        cluster.check_workers()
        yield cluster


@contextmanager
def _local_cluster(workers: int | None) -> Iterator[Any]:
    """A cluster on this machine whose killed workers start again, however long a busy machine takes to do so."""
    import dask
    import distributed

    with dask.config.set({"distributed.deploy.lost-worker-timeout": "1 day"}):
        with _with_environment(_KEEP_MEMORY):
            cluster = distributed.LocalCluster(
                n_workers=count_workers(workers),
                threads_per_worker=1,
                processes=True,
                # Without pages there is still a server, at a port that another cluster may have.
                scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
                memory_limit=None,
                silence_logs=logging.CRITICAL + 1,
                env=ONE_THREAD,
            )
        with cluster:
            yield cluster


@dataclass(frozen=True)
class _Cluster:
    client: Any
    address: str

    @property
    def size(self) -> int:
        return max(1, self._count_threads())

    def _count_threads(self) -> int:
        try:
            return sum(map(int, self.client.nthreads().values()))
        except (OSError, TimeoutError):
            raise self._gone() from None

    def _gone(self) -> CrashedError:
        return CrashedError(f"dask: the scheduler at {shown(self.address)} is gone")

    def wait_for_workers(self) -> None:
        until = time.monotonic() + SECONDS_WITHOUT_WORKERS
        while not self._count_threads():
            if time.monotonic() > until:
                raise CrashedError(
                    f"dask: expected workers at {shown(self.address)}, got none within "
                    f"{SECONDS_WITHOUT_WORKERS:.0f} seconds"
                )
            time.sleep(0.1)

    def check_workers(self) -> None:
        """Check that all have Adjudge: one without it would end at the first task and say why only in its own log."""
        specs = self.client.run(find_spec, "adjudge", on_error="return")
        without = [worker for worker, spec in specs.items() if spec is None]
        if without:
            more = f" and {len(without) - 1} more" if len(without) > 1 else ""
            raise AdjudgeError(f"dask: expected Adjudge {__version__} on all workers, got none on {without[0]}{more}")

    def run(
        self, function: Callable[[Job], Result], jobs: Iterable[tuple[Key, Job]]
    ) -> Generator[tuple[Key, Result | CrashedError], None, None]:
        """The function travels as the result of a task, which Dask repeats when the workers that hold it are lost."""
        import distributed

        carried = self.client.submit(_unpack_function, pickle.dumps(function), __version__, pure=False)
        waiting, pending = iter(jobs), dict[Any, Key]()
        try:
            while True:
                for key, job in islice(waiting, max(0, _IN_FLIGHT * self.size - len(pending))):
                    pending[self.client.submit(_run_on_worker, carried, job, pure=False)] = key
                if not pending:
                    return
                try:
                    with self.client.as_current():
                        done = distributed.wait(list(pending), _SECONDS_TO_LOOK, "FIRST_COMPLETED").done
                except TimeoutError:
                    self.wait_for_workers()  # jobs may take longer than that, but somebody must be at them
                    continue
                except CancelledError:
                    raise self._gone() from None
                for future in done:
                    for result in self._results(future):
                        yield pending.pop(future), result
        finally:
            if pending and self.client.status == "running":
                self.client.cancel(list(pending), force=True)

    def _results(self, future: Any) -> Sequence[Any]:
        """The result of a task that is done; nothing while it is computed again because its worker died."""
        import distributed

        if future.status in ("pending", "lost"):
            return ()
        try:
            return (future.result(timeout=SECONDS_WITHOUT_WORKERS),)
        except CancelledError:
            raise self._gone() from None
        except distributed.KilledWorker:
            return (CrashedError("expected a result, got Dask workers that died"),)
        except Exception as error:
            if future.status == "error":
                if isinstance(error, ImportError | AttributeError) and "adjudge" in str(error):
                    raise AdjudgeError(f"dask: a worker lacks Adjudge {__version__} ({error})") from None
                raise error from None
            if isinstance(error, TimeoutError):
                return ()
            if isinstance(error, OSError):
                raise self._gone() from None
            raise


def _unpack_function(data: bytes, version: str) -> Any:
    """The function, on a worker; numbers of another version may differ."""
    if version != __version__:
        raise AdjudgeError(f"dask: expected Adjudge {version} on all workers, as here, got {__version__}")
    return pickle.loads(data)


def _run_on_worker(function: Callable[[Job], Result], job: Job) -> Result:
    from threadpoolctl import threadpool_limits

    threadpool_limits(limits=1)  # for good: threads of one worker must not undo it for one another
    with kept_warnings():
        return function(job)


@contextmanager
def _quiet_dask() -> Iterator[None]:
    """Silence what Dask and its server log, until the end."""
    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] in ("distributed", "tornado")]
    loggers = [logging.getLogger(name) for name in ("distributed", *names, "asyncio")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)
