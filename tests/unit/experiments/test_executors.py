"""Who runs the chunks: how many trials they get at a time, and what happens where a cluster is not there."""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.unit.experiments.trial_runs import Numbers, some_samples

from adjudge.errors import AdjudgeError
from adjudge.experiments import dask_cluster
from adjudge.experiments.chunks import Chunk, Work
from adjudge.experiments.executors import Plan
from adjudge.experiments.run import run_experiment
from adjudge.processes import CrashedError

SAMPLES = some_samples()


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed workers take as long to come back as the machine is busy."""
    monkeypatch.setattr(dask_cluster, "SECONDS_TO_CONNECT", 300.0)
    monkeypatch.setattr(dask_cluster, "SECONDS_WITHOUT_WORKERS", 300.0)


def test_a_plan_starts_with_one_trial_and_then_takes_what_is_quick() -> None:
    plan = Plan([(0, 1000)], workers=2)
    spans = iter(plan)
    assert next(spans) == (0, 1)
    plan.told(Chunk((0, 1), b"", 0.1))
    assert next(spans) == (1, 41)  # four seconds
    plan.told(Chunk((1, 41), b"", 0.04))
    assert next(spans) == (41, 103)  # an eighth of what a worker gets
    assert plan.left == 897


def test_a_plan_with_a_chunk_keeps_to_it_and_to_gaps() -> None:
    plan = Plan([(0, 5), (8, 10)], workers=2, chunk=3)
    assert list(plan) == [(0, 3), (3, 5), (8, 10)]


@pytest.mark.parametrize("chunk", [0, -1, 1.5, True])
def test_a_chunk_that_is_none_is_refused(chunk: int) -> None:
    with pytest.raises(AdjudgeError, match=r"'chunk' must be a whole number of at least 1, got"):
        run_experiment(Numbers(trials=3), SAMPLES, chunk=chunk)


def test_dask_without_distributed_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    wanted = r"^Experiments on a cluster need distributed, which is not installed: pip install 'adjudge\[dask\]'$"
    with pytest.raises(AdjudgeError, match=wanted):
        run_experiment(Numbers(trials=3), SAMPLES, dask="local")


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(AdjudgeError, match=r"expected local or an address such as tcp://host:8786, got 'somewhere'$"):
        run_experiment(Numbers(trials=3), SAMPLES, dask="somewhere")


def test_a_scheduler_that_does_not_answer_is_refused(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dask_cluster, "SECONDS_TO_CONNECT", 0.3)
    with pytest.raises(AdjudgeError, match=r"expected a scheduler at 'tcp://127.0.0.1:9', got no answer$"):
        run_experiment(Numbers(trials=3), SAMPLES, dask="tcp://127.0.0.1:9")
    assert capfd.readouterr().err == ""


def test_workers_of_another_version_are_refused() -> None:
    with pytest.raises(AdjudgeError, match=r"expected Adjudge 0.0.1 on all workers, as here, got"):
        dask_cluster._unpacked(b"", "0.0.1")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two workers of a cluster that is there already, started while another has the usual port of its pages."""
    with socket.socket() as other, dask_cluster._quiet():
        with suppress(OSError):  # there is another cluster indeed
            other.bind(("127.0.0.1", 8787))
            other.listen()
        with dask_cluster._local_cluster(2) as found:
            yield found


def test_a_dask_cluster_gives_the_same_bytes_and_bears_a_killed_worker(cluster: Any, tmp_path: Path) -> None:
    faults = tmp_path / "faults"
    faults.mkdir()
    spec = Numbers(trials=12, faults=str(faults))
    run_experiment(spec, SAMPLES, folder=tmp_path / "here", workers=1)
    (faults / "once-5").touch()
    run_experiment(spec, SAMPLES, folder=tmp_path / "there", dask=cluster.scheduler_address, chunk=2)
    assert not list(faults.iterdir())
    assert (tmp_path / "here" / "trials.parquet").read_bytes() == (tmp_path / "there" / "trials.parquet").read_bytes()


class Killer:
    """Kills all workers while they hold a result, twice."""

    def __init__(self, cluster: Any) -> None:
        cluster.scheduler.allowed_failures = 100  # a task that was on more workers that died is given up
        self.nannies = list(cluster.workers.values())
        self.kills = 0

    def kill(self, future: Any) -> None:
        if self.kills == 2 or future.status != "finished":
            return
        until(self._all_run)  # a worker that dies while it starts is not started again
        for nanny in self.nannies:
            os.kill(nanny.pid, signal.SIGKILL)
        self.kills += 1
        until(lambda: future.status != "finished")

    def _all_run(self) -> bool:
        return all(nanny.process.status.name == "running" for nanny in self.nannies)


def until(happened: Callable[[], bool]) -> None:
    end = time.monotonic() + 300
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("moment", ["before the status is seen", "before the result is fetched"])
def test_results_whose_workers_die_before_they_are_fetched_are_computed_again(
    cluster: Any, moment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import distributed

    killer = Killer(cluster)
    wait, fetch = distributed.wait, distributed.Future.result

    def wait_and_kill(*options: Any) -> Any:
        found = wait(*options)
        killer.kill(next(iter(found.done)))
        return found

    def kill_and_fetch(future: Any, **options: Any) -> Any:
        killer.kill(future)
        return fetch(future, **options)

    if moment == "before the status is seen":
        monkeypatch.setattr(distributed, "wait", wait_and_kill)
    else:
        monkeypatch.setattr(distributed.Future, "result", kill_and_fetch)
    spec = Numbers(trials=12)
    run_experiment(spec, SAMPLES, folder=tmp_path / "here", workers=1)
    run_experiment(spec, SAMPLES, folder=tmp_path / "there", dask=cluster.scheduler_address, chunk=2)
    assert killer.kills == 2
    assert (tmp_path / "here" / "trials.parquet").read_bytes() == (tmp_path / "there" / "trials.parquet").read_bytes()


def test_a_scheduler_that_goes_is_told_from_a_worker_that_dies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "SECONDS_TO_CONNECT", 10.0)  # the client tries to reconnect for as long
    with dask_cluster._local_cluster(1) as found:
        work = Work(Numbers(trials=40, seconds=0.2), SAMPLES)
        chunks = dask_cluster.run_on_dask(work, [(0, 40)], address=found.scheduler_address, chunk=1)
        next(chunks)
        found.close()
        with pytest.raises(AdjudgeError, match=r"^dask: the scheduler at 'tcp://.*' is gone; all finished .* kept$"):
            list(chunks)


def test_what_a_trial_raises_on_dask_is_raised(cluster: Any, tmp_path: Path) -> None:
    (tmp_path / "wrong-2").touch()
    with pytest.raises(ValueError, match=r"trial 2 is wrong"):
        run_experiment(Numbers(trials=4, faults=str(tmp_path)), SAMPLES, dask=cluster.scheduler_address)


def test_a_scheduler_without_workers_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Empty:
        def nthreads(self) -> dict[str, int]:
            return {}

    monkeypatch.setattr(dask_cluster, "SECONDS_WITHOUT_WORKERS", 0.2)
    with pytest.raises(
        AdjudgeError, match=r"expected workers at 'tcp://a:1', got none within 0 seconds; all finished trials are kept$"
    ):
        dask_cluster._wait_for_workers(Empty(), "tcp://a:1")


def test_workers_without_adjudge_are_refused() -> None:
    class Mixed:
        def run(self, *_: object, on_error: str) -> dict[str, object]:
            return {"tcp://a:1": "there", "tcp://b:1": None, "tcp://c:1": None}

    with pytest.raises(AdjudgeError, match=r"expected Adjudge .* on all workers, got none on tcp://b:1 and 1 more$"):
        dask_cluster._check_workers(Mixed())


def test_a_scheduler_that_has_gone_is_worded() -> None:
    class Gone:
        def nthreads(self) -> dict[str, int]:
            raise OSError("closed")

    with pytest.raises(AdjudgeError, match=r"^dask: the scheduler at 'tcp://a:1' is gone; all finished .* kept$"):
        dask_cluster._wait_for_workers(Gone(), "tcp://a:1")


def test_dead_dask_workers_are_worded() -> None:
    from distributed import KilledWorker

    class Future:
        status = "error"

        def result(self, timeout: float) -> Chunk:
            raise KilledWorker("x", None, 3)

    with pytest.raises(
        CrashedError, match=r"trials 4 to 5: the Dask workers that ran them died; all finished .* kept$"
    ):
        dask_cluster._result(Future(), (4, 6), "tcp://a:1")


def test_work_travels() -> None:
    import pickle

    work = Work(Numbers(trials=3), SAMPLES)
    assert pickle.loads(pickle.dumps(work))((1, 3)).data == work((1, 3)).data
