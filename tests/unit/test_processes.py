"""Jobs over processes: one that takes its process down costs no other its result."""

from __future__ import annotations

import operator
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from multiprocessing import active_children, current_process
from pathlib import Path
from typing import NoReturn

import pytest
from tests.unit import process_jobs

from adjudge.errors import AdjudgeError
from adjudge.processes import CrashedError, count_workers, run_jobs, stream_jobs

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("workers", [1, 2])
def test_every_job_gives_its_result_and_is_counted(workers: int) -> None:
    seen: list[tuple[int, int]] = []
    jobs = {str(number): -number for number in range(5)}
    results = dict(run_jobs(abs, jobs, workers=workers, progress=lambda done, of: seen.append((done, of))))
    assert results == {"0": 0, "1": 1, "2": 2, "3": 3, "4": 4}
    assert seen == [(number, 5) for number in range(1, 6)]


def test_a_job_that_kills_its_process_costs_no_other_its_result() -> None:
    jobs: dict[str, Callable[[], object]] = {f"good-{number}": partial(abs, -number) for number in range(3)}
    jobs["deadly"] = partial(os._exit, 1)
    jobs["late"] = partial(abs, -9)
    results = dict(run_jobs(operator.call, jobs, workers=2))
    assert isinstance(results.pop("deadly"), CrashedError)
    assert results == {"good-0": 0, "good-1": 1, "good-2": 2, "late": 9}


def test_what_a_job_raises_is_raised() -> None:
    with pytest.raises(TypeError, match="bad operand"):
        list(run_jobs(abs, {"a": "b", "c": "d"}, workers=2))  # type: ignore[arg-type]


def test_no_jobs_give_no_results() -> None:
    assert list(run_jobs(abs, {}, workers=2)) == []


@pytest.mark.parametrize("workers", [0, -1, True, 1.5])
def test_a_number_of_workers_that_is_none_is_refused(workers: int) -> None:
    with pytest.raises(AdjudgeError, match="'workers' must be a whole number of at least 1, got"):
        list(run_jobs(abs, {"a": 1}, workers=workers))


def test_jobs_are_asked_for_only_when_a_worker_is_free_and_see_their_own_environment() -> None:
    asked: list[str] = []

    def jobs() -> Iterator[tuple[str, str]]:
        for number in range(100):
            asked.append(str(number))
            yield str(number), "ADJUDGE_WORKER_ONLY"

    with closing(stream_jobs(os.getenv, jobs(), workers=1, environment={"ADJUDGE_WORKER_ONLY": "yes"})) as finished:
        assert next(finished) == ("0", "yes")
    assert asked == ["0"]
    assert "ADJUDGE_WORKER_ONLY" not in os.environ


def test_a_process_that_dies_in_the_middle_of_a_result_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "order").touch()
    jobs = {"a": tmp_path / "order", "b": tmp_path / "none"}
    assert dict(run_jobs(process_jobs.die_while_sending, jobs, workers=2)) == {"a": "done", "b": "done"}


@pytest.mark.parametrize(
    ("how", "words"),
    [("two words", "TwoWordsError: not now"), ("odd", "OddError: "), ("mute", "MuteError")],
)
def test_an_error_that_cannot_travel_is_raised_as_what_it_says(how: str, words: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        list(run_jobs(process_jobs.fail, {"a": how}, workers=1, apart=True))
    assert str(caught.value) == words
    assert "in fail" in caught.value.__notes__[0]


def test_what_is_no_exception_is_raised_too() -> None:
    with pytest.raises(process_jobs.Panic):
        list(run_jobs(process_jobs.fail, {"a": "panic"}, workers=1, apart=True))


def test_a_result_that_cannot_be_read_is_an_error() -> None:
    with pytest.raises(EOFError, match="in the result"):
        list(run_jobs(process_jobs.unreadable, {"a": 1}, workers=1, apart=True))


def test_nothing_is_left_after_jobs_that_cannot_travel_or_progress_that_fails() -> None:
    def stop(*_: int) -> NoReturn:
        raise ValueError("stop")

    dict(run_jobs(abs, {"a": 1, "b": 2}, workers=2))
    n_open = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises((AttributeError, TypeError), match=r"pickle|local object"):
        list(run_jobs(repr, {"a": 1, "b": lambda: 1}, workers=2))
    with pytest.raises(ValueError, match="stop") as caught:
        list(run_jobs(time.sleep, {"a": 0.0, "b": 60.0}, workers=2, progress=stop))
    assert not active_children()  # though the traceback still holds all that was under way
    assert caught.tb is not None
    assert len(list(Path("/proc/self/fd").iterdir())) == n_open


def test_workers_end_with_a_process_that_is_killed_in_the_middle_of_a_job(tmp_path: Path) -> None:
    marks = [tmp_path / "a", tmp_path / "b"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.unit.process_jobs", *map(str, marks)], cwd=ROOT, env=environment
    )
    _wait_until(lambda: all(mark.exists() and mark.read_text() for mark in marks))
    process.kill()
    process.wait()
    _wait_until(lambda: not any(_is_running(int(mark.read_text())) for mark in marks))


def _wait_until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 300
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _is_running(process: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False


def test_a_script_without_a_guard_does_not_hang_on_a_heavy_function(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from adjudge.processes import run_jobs\n"
        "from tests.unit.process_jobs import Heavy\n"
        "print(list(run_jobs(Heavy(), {'a': 1}, workers=1, apart=True)))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    said = subprocess.run([sys.executable, script], env=environment, capture_output=True, timeout=300, check=False)
    assert "a process that died (with exit status 1)" in said.stdout.decode()


def test_a_daemonic_process_stays_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(current_process()._config, "daemon", True)  # type: ignore[attr-defined]
    assert count_workers(None) == 1
    with pytest.raises(AdjudgeError, match=r"^workers: a daemonic process, .* cannot start others; use 1$"):
        list(run_jobs(abs, {"a": 1, "b": 2}, workers=2))
