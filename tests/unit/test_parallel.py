"""Jobs give the same results wherever they run, and one that takes its process down costs no other its result."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from functools import partial
from multiprocessing import active_children, current_process
from pathlib import Path
from typing import Any, NoReturn

import pytest
from tests.unit import parallel_jobs
from threadpoolctl import threadpool_limits

from adjudge import parallel
from adjudge.errors import AdjudgeError
from adjudge.parallel import CrashedError, count_workers, open_pool, run_calls, run_jobs

ROOT = Path(__file__).parents[2]
WAYS = ["here", "processes", "dask"]


@pytest.fixture(scope="module", autouse=True)
def _patient() -> Iterator[None]:
    """Killed workers take as long to come back as the machine is busy."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parallel, "SECONDS_TO_CONNECT", 300.0)
        patch.setattr(parallel, "SECONDS_WITHOUT_WORKERS", 300.0)
        yield


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two workers of a cluster that is there already, started while another has the usual port of its pages."""
    pytest.importorskip("distributed")
    with socket.socket() as other, parallel._quiet_dask():
        with suppress(OSError):  # there is another cluster indeed
            other.bind(("127.0.0.1", 8787))
            other.listen()
        with parallel._local_cluster(2) as found:
            yield found


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> dict[str, Any]:
    if request.param == "dask":
        return {"dask": request.getfixturevalue("cluster").scheduler_address}
    return {"workers": 1 if request.param == "here" else 2}


# Wherever jobs run


def test_every_job_gives_its_result_and_is_counted(way: dict[str, Any]) -> None:
    seen: list[tuple[int, int]] = []
    jobs = {str(number): -number for number in range(5)}
    results = dict(run_jobs(abs, jobs, **way, progress=lambda done, of: seen.append((done, of))))
    assert results == {"0": 0, "1": 1, "2": 2, "3": 3, "4": 4}
    assert seen == [(number, 5) for number in range(1, 6)]


def test_calls_give_their_results_in_order(way: dict[str, Any]) -> None:
    assert run_calls([partial(abs, -number) for number in (3, 1, 2)], **way) == [3, 1, 2]


def test_numbers_of_a_job_depend_on_its_seed_and_place_alone(way: dict[str, Any]) -> None:
    drawn = dict(run_jobs(parallel_jobs.draw, {place: place for place in (2, 0, 1)}, **way))
    assert drawn == {place: parallel_jobs.draw(place) for place in range(3)}
    assert len(set(drawn.values())) == 3


def test_linear_algebra_has_one_thread_and_warnings_are_not_heard(
    way: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    with threadpool_limits(limits=2):
        assert set(dict(run_jobs(parallel_jobs.count_threads, {"a": 1, "b": 2}, **way)).values()) == {1}
    assert "weak" not in capfd.readouterr().err


_SECTIONS = """
import time
from concurrent.futures import ThreadPoolExecutor

import scipy.linalg
from threadpoolctl import ThreadpoolController
from adjudge.parallel import one_thread

libraries = ThreadpoolController().select(user_api="blas")
threads = lambda: {library["num_threads"] for library in libraries.info()}

@one_thread()
def inside(place):
    with one_thread():
        time.sleep(0.001 * (place % 3))
    return threads()

before = threads()
assert before == {2}
assert inside(1) == {1} and threads() == before
with ThreadPoolExecutor(1) as pool:
    assert pool.submit(inside, 1).result() == {1} and threads() == before
with ThreadPoolExecutor(8) as pool:
    assert list(pool.map(inside, range(400))) == [{1}] * 400 and threads() == before
try:
    with one_thread():
        raise ValueError
except ValueError:
    assert threads() == before
"""


def test_sections_with_one_thread_may_overlap_and_leave_the_limit_as_it_was() -> None:
    if (os.cpu_count() or 1) < 2:
        pytest.skip("a single core has a single thread")
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2", "MKL_NUM_THREADS": "2"}
    subprocess.run([sys.executable, "-c", _SECTIONS], env=environment, check=True, timeout=120)


def test_what_a_job_raises_is_raised(way: dict[str, Any]) -> None:
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        list(run_jobs(parallel_jobs.invert, {"a": 1, "b": 0}, **way))


def test_no_jobs_give_no_results_and_start_nothing(way: dict[str, Any]) -> None:
    assert list(run_jobs(abs, {}, **way)) == []
    assert list(run_jobs(abs, {}, dask="tcp://127.0.0.1:9")) == []


def test_jobs_are_asked_for_only_when_a_worker_is_free(way: dict[str, Any]) -> None:
    asked: list[int] = []

    def jobs() -> Iterator[tuple[int, int]]:
        for number in range(100):
            asked.append(number)
            yield number, number

    with open_pool(**way) as pool, closing(pool.run(abs, jobs())) as finished:
        next(finished)
        assert len(asked) <= 2 * pool.size


@pytest.mark.parametrize("workers", [0, -1, True, 1.5])
def test_a_number_of_workers_that_is_none_is_refused(workers: int) -> None:
    with pytest.raises(AdjudgeError, match="'workers' must be a whole number of at least 1, got"):
        list(run_jobs(abs, {"a": 1}, workers=workers))


def test_a_job_that_kills_its_process_costs_no_other_its_result() -> None:
    jobs = {f"good-{number}": False for number in range(3)} | {"deadly": True, "late": False}
    results = dict(run_jobs(parallel_jobs.kill_worker, jobs, workers=2))
    with pytest.raises(CrashedError, match=r"a process that died .*killed by signal 9"):
        raise results.pop("deadly")  # type: ignore[misc]
    assert results == dict.fromkeys(results, "done")
    assert len(results) == 4


def test_a_call_that_crashes_is_raised() -> None:
    calls: list[Callable[[], object]] = [partial(os._exit, 3), partial(abs, 1)]
    with pytest.raises(CrashedError, match="exit status 3"):
        run_calls(calls, workers=2)


# Processes


def test_workers_have_an_environment_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    assert dict(run_jobs(os.getenv, {"a": "OMP_NUM_THREADS"}, workers=1, apart=True)) == {"a": "1"}
    assert os.environ["OMP_NUM_THREADS"] == "7"


def test_a_process_that_dies_in_the_middle_of_a_result_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "order").touch()
    jobs = {"a": tmp_path / "order", "b": tmp_path / "none"}
    assert dict(run_jobs(parallel_jobs.die_while_sending, jobs, workers=2)) == {"a": "done", "b": "done"}


@pytest.mark.parametrize(
    ("how", "words"),
    [("two words", "TwoWordsError: not now"), ("odd", "OddError: "), ("mute", "MuteError")],
)
def test_an_error_that_cannot_travel_is_raised_as_what_it_says(how: str, words: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        list(run_jobs(parallel_jobs.fail, {"a": how}, workers=1, apart=True))
    assert str(caught.value) == words
    assert "in fail" in caught.value.__notes__[0]


def test_what_is_no_exception_and_a_result_that_cannot_be_read_are_raised_too() -> None:
    with pytest.raises(parallel_jobs.Panic):
        list(run_jobs(parallel_jobs.fail, {"a": "panic"}, workers=1, apart=True))
    with pytest.raises(EOFError, match="in the result"):
        list(run_jobs(parallel_jobs.unreadable, {"a": 1}, workers=1, apart=True))


def test_nothing_is_left_after_jobs_that_cannot_travel_or_progress_that_fails() -> None:
    def stop(*_: int) -> NoReturn:
        raise ValueError("stop")

    dict(run_jobs(abs, {"a": 1, "b": 2}, workers=2))
    children, n_open = set(active_children()), len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises((AttributeError, TypeError), match=r"pickle|local object"):
        list(run_jobs(repr, {"a": 1, "b": lambda: 1}, workers=2))
    with pytest.raises(ValueError, match="stop") as caught:
        list(run_jobs(time.sleep, {"a": 0.0, "b": 60.0}, workers=2, progress=stop))
    assert set(active_children()) <= children  # though the traceback still holds all that was under way
    assert caught.tb is not None
    assert len(list(Path("/proc/self/fd").iterdir())) == n_open


def test_workers_end_with_a_process_that_is_killed_in_the_middle_of_a_job(tmp_path: Path) -> None:
    marks = [tmp_path / "a", tmp_path / "b"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.unit.parallel_jobs", *map(str, marks)], cwd=ROOT, env=environment
    )
    _wait_until(lambda: all(mark.exists() and mark.read_text() for mark in marks))
    process.kill()
    process.wait()
    _wait_until(lambda: not any(_is_running(int(mark.read_text())) for mark in marks))


def _wait_until(is_true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 300
    while not is_true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _is_running(process: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("print(*run_calls([partial(abs, -1), partial(abs, 2)], workers=2))", "once\n1 2\n"),
        ("print(list(run_jobs(Heavy(), {'a': 1}, workers=1, apart=True)))", r"once\n\[\('a', 300001\)\]\n"),
        ("def own(): return 5\nprint(run_calls([own, own], workers=1))", r"once\n\[5, 5\]\n"),
        ("def own(): return 5\nrun_calls([own, own], workers=2)", 'once\n.*need if __name__ == "__main__"'),
        ("def own(): return 5\nif __name__ == '__main__':\n    print(run_calls([own, own], workers=2))", r"\[5, 5\]\n"),
    ],
)
def test_a_script_without_a_guard_is_not_run_again_by_its_workers(lines: str, said: str, tmp_path: Path) -> None:
    script, once = tmp_path / "script.py", "" if "__name__" in lines else "print('once')"
    script.write_text(
        "from functools import partial\n"
        "from adjudge.parallel import run_calls, run_jobs\n"
        "from tests.unit.parallel_jobs import Heavy\n"
        f"{once}\n{lines}\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    ended = subprocess.run([sys.executable, script], env=environment, capture_output=True, timeout=300, check=False)
    assert re.search(f"^{said}", (ended.stdout + ended.stderr).decode(), re.DOTALL)


def test_a_daemonic_process_stays_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(current_process()._config, "daemon", True)  # type: ignore[attr-defined]
    assert count_workers(None) == 1
    with pytest.raises(AdjudgeError, match=r"^workers: a daemonic process, .* cannot start others; use 1$"):
        list(run_jobs(abs, {"a": 1, "b": 2}, workers=2))


# Dask


def test_dask_without_distributed_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(AdjudgeError, match=r"distributed, which is not installed: pip install 'adjudge\[dask\]'$"):
        run_calls([partial(abs, 1)], dask="local")


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("somewhere", "expected local or an address such as tcp://host:8786, got 'somewhere'$"),
        ("tcp://127.0.0.1:9", r"expected a scheduler at 'tcp://127.0.0.1:9', got no answer$"),
    ],
)
def test_an_address_where_no_scheduler_is_is_refused(
    address: str, said: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(parallel, "SECONDS_TO_CONNECT", 0.3)
    with pytest.raises(AdjudgeError, match=said):
        run_calls([partial(abs, 1)], dask=address)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("__version__", "0.0.1", "expected Adjudge 0.0.1 on all workers, as here, got"),
        ("find_spec", parallel_jobs.find_nothing, r"expected Adjudge .* on all workers, got none on tcp://.* 1 more$"),
    ],
)
def test_workers_without_this_version_are_refused(
    name: str, value: object, said: str, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel, name, value)
    with pytest.raises(AdjudgeError, match=said):
        run_calls([partial(abs, 1)], dask=cluster.scheduler_address)


def test_a_scheduler_without_workers_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(parallel, "SECONDS_WITHOUT_WORKERS", 0.2)
    with (
        parallel._quiet_dask(),
        distributed.LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0") as empty,
        pytest.raises(CrashedError, match=r"expected workers at 'tcp://.*', got none within"),
    ):
        run_calls([partial(abs, 1)], dask=empty.scheduler_address)


def test_a_scheduler_that_goes_is_told_from_a_worker_that_dies() -> None:
    pytest.importorskip("distributed")
    with parallel._local_cluster(1) as found, open_pool(dask=found.scheduler_address) as pool:
        pool.client._timeout = 1.0  # type: ignore[attr-defined]  # seconds to try to reconnect
        results = pool.run(time.sleep, ((number, 0.2) for number in range(40)))
        next(results)
        found.close()
        with pytest.raises(CrashedError, match=r"^dask: the scheduler at 'tcp://.*' is gone$"):
            list(results)


def test_a_job_that_kills_dask_workers_costs_no_other_its_result(cluster: Any) -> None:
    cluster.scheduler.allowed_failures = 0
    jobs = {"good": False, "deadly": True, "late": False}
    results: dict[str, object] = {}
    for key, job in jobs.items():  # one by one, since Dask counts jobs that wait at the worker as killers, too
        results.update(run_jobs(parallel_jobs.kill_worker, {key: job}, dask=cluster.scheduler_address))
    assert isinstance(results.pop("deadly"), CrashedError)
    assert results == {"good": "done", "late": "done"}


@pytest.mark.parametrize("moment", ["before the status is seen", "before the result is fetched"])
def test_results_whose_workers_die_before_they_are_fetched_are_computed_again(
    cluster: Any, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed")
    cluster.scheduler.allowed_failures = 100  # a task that was on more workers that died is given up
    nannies, killed = list(cluster.workers.values()), list[str]()
    wait, fetch = distributed.wait, distributed.Future.result

    def kill_all(future: Any) -> None:
        """Kill all workers while they hold a result, twice."""
        if len(killed) == 2 or future.status != "finished":
            return
        _wait_until(lambda: all(nanny.process.status.name == "running" for nanny in nannies))  # else none comes back
        for nanny in nannies:
            os.kill(nanny.pid, signal.SIGKILL)
        killed.append(future.key)
        _wait_until(lambda: future.status != "finished")

    def wait_and_kill(*options: Any) -> Any:
        found = wait(*options)
        kill_all(next(iter(found.done)))
        return found

    def kill_and_fetch(future: Any, **options: Any) -> Any:
        kill_all(future)
        return fetch(future, **options)

    if moment == "before the status is seen":
        monkeypatch.setattr(distributed, "wait", wait_and_kill)
    else:
        monkeypatch.setattr(distributed.Future, "result", kill_and_fetch)
    jobs = {place: place for place in range(6)}
    drawn = dict(run_jobs(parallel_jobs.draw, jobs, dask=cluster.scheduler_address))
    assert drawn == {place: parallel_jobs.draw(place) for place in jobs}
    assert len(killed) == 2
