"""Jobs over processes: one that takes its process down costs no other its result."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial

import pytest

from adjudge.errors import AdjudgeError
from adjudge.processes import CrashedError, run_jobs, stream_jobs


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
    with pytest.raises(AdjudgeError, match="'workers' must be an integer of at least 1, got"):
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
