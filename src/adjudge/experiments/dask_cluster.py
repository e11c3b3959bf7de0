"""Chunks of trials on a Dask cluster, there already or started here."""

from __future__ import annotations

import logging
import pickle
import time
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, closing, contextmanager
from importlib.util import find_spec
from typing import Any

from adjudge._version import __version__
from adjudge.errors import AdjudgeError, shown
from adjudge.experiments.chunks import Chunk, Span, Work
from adjudge.experiments.executors import ONE_THREAD, Plan, lost
from adjudge.extras import need
from adjudge.processes import CrashedError, count_workers, with_environment, without_interrupts
from adjudge.text import listed

LOCAL = "local"
"""The address of a cluster that is started here and closed at the end."""
SECONDS_TO_CONNECT = 10.0
SECONDS_WITHOUT_WORKERS = 30.0
# Dask has its workers give back freed memory at once, which takes as long again where arrays come and go.
_KEEP_MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(1 << 28), "MALLOC_MMAP_THRESHOLD_": str(1 << 25)}
_SECONDS_TO_LOOK = 2.0  # whether there are workers, while no chunk comes
_IN_FLIGHT = 2  # chunks for each thread of the cluster: one that runs and one that waits for it


def run_on_dask(
    work: Work, missing: Sequence[Span], *, address: str, workers: int | None = None, chunk: int | None = None
) -> Generator[Chunk, None, None]:
    """Chunks of the missing trials as a cluster finishes them.

    The work travels as the result of a task, which Dask can repeat when the workers that hold it are lost. No more
    chunks are handed over than keep the workers busy. What Dask logs is not shown.
    """
    _distributed()
    with _quiet(), ExitStack() as stack:
        client = _client(stack, address, workers)
        _wait_for_workers(client, address)
        _check_workers(client)
        plan = Plan(missing, workers=max(1, _threads(client, address)), chunk=chunk)
        carried = client.submit(_unpacked, pickle.dumps(work), __version__, pure=False)
        with closing(_streamed(client, address, carried, plan)) as chunks:
            for done in chunks:
                plan.told(done)
                yield done


def _distributed() -> Any:
    need("dask", "Experiments on a cluster need")
    import distributed

    return distributed


def _client(stack: ExitStack, address: str, workers: int | None) -> Any:
    if address == LOCAL:
        with without_interrupts():  # processes of the cluster would each report Ctrl-C; closing it ends them
            return _connected(stack, address, stack.enter_context(_local_cluster(count_workers(workers))))
    if "://" not in address:
        raise AdjudgeError(f"dask: expected {LOCAL} or an address such as tcp://host:8786, got {shown(address)}")
    return _connected(stack, address, address)


def _connected(stack: ExitStack, address: str, cluster: Any) -> Any:
    try:
        return stack.enter_context(_distributed().Client(cluster, timeout=SECONDS_TO_CONNECT, set_as_default=False))
    except (OSError, TimeoutError, ValueError):
        raise AdjudgeError(f"dask: expected a scheduler at {shown(address)}, got no answer") from None


@contextmanager
def _local_cluster(workers: int) -> Iterator[Any]:
    """A cluster on this machine, whose killed workers start again, however long a busy machine takes to do so."""
    import dask

    with dask.config.set({"distributed.deploy.lost-worker-timeout": "1 day"}):
        with with_environment(_KEEP_MEMORY):
            cluster = _distributed().LocalCluster(**local_settings(workers))
        with cluster:
            yield cluster


def local_settings(workers: int) -> dict[str, Any]:
    """How a cluster on this machine is started: processes of one thread, without pages or logs."""
    return {
        "n_workers": workers,
        "threads_per_worker": 1,
        "processes": True,
        # Without pages there is still a server, at a port that another cluster may have.
        "scheduler_kwargs": {"dashboard": False, "dashboard_address": "127.0.0.1:0"},
        "memory_limit": None,
        "silence_logs": logging.CRITICAL + 1,
        "env": ONE_THREAD,
    }


def _wait_for_workers(client: Any, address: str) -> None:
    patience = time.monotonic() + SECONDS_WITHOUT_WORKERS
    while not _threads(client, address):
        if time.monotonic() > patience:
            raise AdjudgeError(
                f"dask: expected workers at {shown(address)}, got none within {SECONDS_WITHOUT_WORKERS:.0f} seconds; "
                "all finished trials are kept"
            )
        time.sleep(0.1)


def _check_workers(client: Any) -> None:
    """See that all have Adjudge: one that has not would end at the first task, and say why only in its own log."""
    found = client.run(find_spec, "adjudge", on_error="return")
    without = [worker for worker, spec in found.items() if spec is None]
    if without:
        which = listed(without, most=1)
        raise AdjudgeError(f"dask: expected Adjudge {__version__} on all workers, got none on {which}")


def _threads(client: Any, address: str) -> int:
    try:
        return sum(map(int, client.nthreads().values()))
    except (OSError, TimeoutError):
        raise _gone(address) from None


def _gone(address: str) -> AdjudgeError:
    return AdjudgeError(f"dask: the scheduler at {shown(address)} is gone; all finished trials are kept")


def _streamed(client: Any, address: str, carried: Any, plan: Plan) -> Generator[Chunk, None, None]:
    distributed = _distributed()
    spans, pending = iter(plan), dict[Any, Span]()
    try:
        while pending or plan.left:
            while plan.left and len(pending) < _IN_FLIGHT * max(1, _threads(client, address)):
                span = next(spans)
                pending[client.submit(_run, carried, span, pure=False)] = span
            try:
                with client.as_current():
                    done = distributed.wait(list(pending), _SECONDS_TO_LOOK, "FIRST_COMPLETED")
            except TimeoutError:
                _wait_for_workers(client, address)  # trials may take longer than that, but somebody must be at them
                continue
            except CancelledError:
                raise _gone(address) from None
            for future in done.done:
                chunk = _result(future, pending[future], address)
                if chunk is not None:
                    del pending[future]
                    yield chunk
    finally:
        if pending and client.status == "running":
            client.cancel(list(pending), force=True)


def _result(future: Any, span: Span, address: str) -> Chunk | None:
    """The chunk of a finished task; None while it is computed again, because the worker that held it died."""
    if future.status in ("pending", "lost"):
        return None
    try:
        found: Chunk = future.result(timeout=SECONDS_WITHOUT_WORKERS)
    except CancelledError:
        raise _gone(address) from None
    except Exception as error:
        if future.status == "error":
            raise _reason(error, span) from None
        if isinstance(error, TimeoutError):
            return None
        if isinstance(error, OSError):
            raise _gone(address) from None
        raise
    return found


def _reason(error: Exception, span: Span) -> Exception:
    """Why a task failed."""
    if isinstance(error, _distributed().KilledWorker):
        return CrashedError(str(lost(span, "the Dask workers that ran them died")))
    if isinstance(error, ImportError | AttributeError) and "adjudge" in str(error):
        return lost(span, f"a Dask worker lacks Adjudge {__version__} ({error})")
    return error


def _unpacked(data: bytes, version: str) -> Work:
    """The work, on a worker; numbers of another version may be others."""
    from threadpoolctl import threadpool_limits

    if version != __version__:
        raise AdjudgeError(f"dask: expected Adjudge {version} on all workers, as here, got {__version__}")
    threadpool_limits(limits=1)
    work: Work = pickle.loads(data)
    return work


def _run(work: Work, span: Span) -> Chunk:
    from threadpoolctl import threadpool_limits

    threadpool_limits(limits=1)  # for good: threads of one worker must not set it back for one another
    return work(span)


@contextmanager
def _quiet() -> Iterator[None]:
    """Nothing of what Dask and its server log, until the end."""
    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] in ("distributed", "tornado")]
    loggers = [logging.getLogger(name) for name in ("distributed", *names, "asyncio")]
    before = [one.level for one in loggers]
    for one in loggers:
        one.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for one, level in zip(loggers, before, strict=True):
            one.setLevel(level)
