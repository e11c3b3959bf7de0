"""Experiments run: the same bytes whatever the workers, the chunks, the interruptions and the deaths; folders."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
from tests.unit.experiments.trial_runs import Numbers, register, some_samples

from adjudge import parallel
from adjudge.errors import AdjudgeError, AdjudgeWarning
from adjudge.experiments.chunks import Chunk, Work
from adjudge.experiments.run import Plan, claimed, missing_spans, open_experiment, resume_experiment, run_experiment
from adjudge.experiments.samples import samples_of
from adjudge.experiments.spec import make_experiment
from adjudge.io import write_whole
from adjudge.model.effectiveness import Effectiveness
from adjudge.parallel import CrashedError

TRIALS = 20
SAMPLES = some_samples()


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch.setitem)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What a run without any interruption leaves."""
    folder = tmp_path_factory.mktemp("whole") / "results"
    run_experiment(Numbers(trials=TRIALS), SAMPLES, folder=folder, workers=1)
    return contents(folder)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(one.relative_to(folder)): one.read_bytes() for one in sorted(folder.rglob("*")) if one.is_file()}


def interrupted(folder: Path, after: int, *, chunk: int = 3, spec: Numbers | None = None) -> None:
    """Run until as many trials are done, and be interrupted."""

    def stop(done: int, _: int) -> None:
        if done >= after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_experiment(spec or Numbers(trials=TRIALS), SAMPLES, folder=folder, workers=1, chunk=chunk, progress=stop)


def test_a_finished_folder_holds_three_files(expected: dict[str, bytes]) -> None:
    assert sorted(expected) == [".lock", "effectiveness.parquet", "experiment.json", "trials.parquet"]
    about = json.loads(expected["experiment.json"])
    assert about["experiment"] == {
        "experiment": "numbers-of-tests", "trials": TRIALS, "seed": 0, "faults": "", "seconds": 0.0
    }  # fmt: skip
    assert about["samples"] == SAMPLES.digest


@pytest.mark.parametrize("chunk", [1, 3, 7, None])
def test_chunks_change_no_byte(chunk: int | None, expected: dict[str, bytes], tmp_path: Path) -> None:
    run_experiment(Numbers(trials=TRIALS), SAMPLES, folder=tmp_path, workers=1, chunk=chunk)
    assert contents(tmp_path) == expected


def test_workers_change_no_byte_and_progress_counts_up(expected: dict[str, bytes], tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    found = run_experiment(
        Numbers(trials=TRIALS), SAMPLES, folder=tmp_path, workers=2, chunk=3, progress=lambda *n: seen.append(n)
    )
    assert contents(tmp_path) == expected
    assert seen[0] == (0, TRIALS)
    assert seen[-1] == (TRIALS, TRIALS)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert found.rows["trial"].to_list() == [i for i in range(TRIALS) for _ in range(3)]


def test_without_a_folder_the_rows_are_the_same(expected: dict[str, bytes], tmp_path: Path) -> None:
    (tmp_path / "trials.parquet").write_bytes(expected["trials.parquet"])
    import polars as pl

    found = run_experiment(make_experiment("numbers-of-tests", trials=TRIALS), SAMPLES)
    assert found.rows.equals(pl.read_parquet(tmp_path / "trials.parquet"))


def test_an_interrupted_run_goes_on_where_it_was(expected: dict[str, bytes], tmp_path: Path) -> None:
    interrupted(tmp_path, 9)
    assert len(list((tmp_path / "trials").iterdir())) == 3
    seen: list[int] = []
    resume_experiment(tmp_path, workers=1, chunk=4, progress=lambda done, _: seen.append(done))
    assert seen == [9, 13, 17, 20]
    assert contents(tmp_path) == expected


def test_a_worker_that_is_killed_costs_only_its_chunk(tmp_path: Path) -> None:
    faults = tmp_path / "faults"
    faults.mkdir()
    spec = Numbers(trials=TRIALS, faults=str(faults))
    run_experiment(spec, SAMPLES, folder=tmp_path / "whole", workers=1)
    (faults / "once-7").touch()
    (faults / "once-12").touch()
    seen: list[int] = []
    run_experiment(
        spec, SAMPLES, folder=tmp_path / "killed", workers=2, chunk=3, progress=lambda done, _: seen.append(done)
    )
    assert not list(faults.iterdir())
    assert len(seen) == 8  # none twice
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")


def test_trials_that_always_kill_their_worker_are_named_and_the_others_kept(tmp_path: Path) -> None:
    faults = tmp_path / "faults"
    faults.mkdir()
    (faults / "always-7").touch()
    spec = Numbers(trials=TRIALS, faults=str(faults))
    with pytest.raises(CrashedError, match=r"trials 6 to 8: .*killed by signal 9.*; all finished .* kept"):
        run_experiment(spec, SAMPLES, folder=tmp_path / "results", workers=2, chunk=3)
    (faults / "always-7").unlink()
    seen: list[int] = []
    resume_experiment(tmp_path / "results", workers=1, progress=lambda done, _: seen.append(done))
    assert seen[0] >= 6


@pytest.mark.parametrize("workers", [1, 2])
def test_what_a_trial_raises_is_raised(workers: int, tmp_path: Path) -> None:
    (tmp_path / "wrong-2").touch()
    with pytest.raises(ValueError, match=r"trial 2 is wrong"):
        run_experiment(Numbers(trials=4, faults=str(tmp_path)), SAMPLES, workers=workers, chunk=1)


def test_a_run_that_is_killed_goes_on_and_leaves_no_process(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    script = (
        "from tests.unit.experiments.trial_runs import *\n"
        "from adjudge.experiments.run import run_experiment\n"
        "if __name__ == '__main__':\n"
        f"    run_experiment(Numbers(trials={TRIALS}, seconds=0.05), some_samples(), folder={str(folder)!r}, "
        "workers=2, chunk=2)\n"
    )
    source = tmp_path / "script.py"
    source.write_text(script)
    path = os.pathsep.join([str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path}
    process = subprocess.Popen([sys.executable, str(source)], env=environment)
    deadline = time.monotonic() + 300
    chunks = folder / "trials"
    while time.monotonic() < deadline and not (
        (chunks / "000000-000002.parquet").exists() and len(list(chunks.glob("*.parquet"))) >= 2
    ):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    n_there = len(list(folder.glob("trials/*.parquet")))
    assert 2 <= n_there < TRIALS // 2
    with pytest.warns(AdjudgeWarning, match=rf"of {TRIALS} trials are there; the findings are of these"):
        assert open_experiment(folder).experiment.trials <= 2 * n_there
    resume_experiment(folder, workers=1)
    run_experiment(Numbers(trials=TRIALS, seconds=0.05), SAMPLES, folder=tmp_path / "whole", workers=1)
    assert contents(folder) == contents(tmp_path / "whole")


def test_a_kill_between_merging_and_removing_changes_no_byte(expected: dict[str, bytes], tmp_path: Path) -> None:
    interrupted(tmp_path, 18)
    (tmp_path / "trials.parquet").write_bytes(expected["trials.parquet"])
    (tmp_path / ".trials.parquet.abc").write_bytes(b"PAR1")
    (tmp_path / "trials" / ".000018-000020.parquet.abc").write_bytes(b"PAR1")
    resume_experiment(tmp_path, workers=1)
    assert contents(tmp_path) == expected


@pytest.mark.parametrize("damage", ["cut", "foreign", "other name", "empty"])
def test_a_chunk_that_cannot_be_used_is_run_again(damage: str, expected: dict[str, bytes], tmp_path: Path) -> None:
    folder = tmp_path / "results"
    interrupted(folder, 12)
    chunk = folder / "trials" / "000003-000006.parquet"
    if damage == "foreign":
        chunk.write_bytes(Work(Numbers(trials=TRIALS, seed=1), SAMPLES)((3, 6)).data)
    elif damage == "cut":
        chunk.write_bytes(chunk.read_bytes()[:-20])
    elif damage == "empty":
        chunk.write_bytes(b"")
    else:
        chunk.write_bytes((folder / "trials" / "000000-000003.parquet").read_bytes()[:100])
    with pytest.warns(AdjudgeWarning, match=r"000003-000006.parquet: not a whole file of trials of this experiment"):
        run_experiment(Numbers(trials=TRIALS), SAMPLES, folder=folder, workers=1, chunk=2)
    assert contents(folder) == expected


def test_a_full_disk_loses_nothing(expected: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted(tmp_path, 6)

    def full(target: Path, data: bytes) -> None:
        def fail(*_: object) -> NoReturn:
            raise OSError(28, "No space left on device")

        if target.name.startswith("000009"):
            with monkeypatch.context() as patch:
                patch.setattr(os, "fsync", fail)
                write_whole(target, data)
        write_whole(target, data)

    with monkeypatch.context() as patch:
        patch.setattr("adjudge.experiments.run.write_whole", full)
        with pytest.raises(AdjudgeError, match=r"000009-000012.parquet: cannot be written: no space left on device"):
            resume_experiment(tmp_path, workers=1, chunk=3)
    assert len(list((tmp_path / "trials").iterdir())) == 3
    resume_experiment(tmp_path, workers=1)
    assert contents(tmp_path) == expected


def test_more_trials_keep_those_that_are_there(expected: dict[str, bytes], tmp_path: Path) -> None:
    run_experiment(Numbers(trials=8), SAMPLES, folder=tmp_path, workers=1)
    interrupted(tmp_path, 14)
    with pytest.warns(AdjudgeWarning, match=r"14 of 20 trials are there"):
        assert open_experiment(tmp_path).experiment.trials == 14
    seen: list[int] = []
    resume_experiment(tmp_path, trials=TRIALS, workers=1, progress=lambda done, _: seen.append(done))
    assert seen[0] == 14
    assert contents(tmp_path) == expected


def test_fewer_trials_than_are_there_are_refused(tmp_path: Path) -> None:
    run_experiment(Numbers(trials=8), SAMPLES, folder=tmp_path, workers=1)
    before = contents(tmp_path)
    with pytest.raises(AdjudgeError, match=r"at least the 8 trials that are there.*got 7"):
        resume_experiment(tmp_path, trials=7, workers=1)
    assert contents(tmp_path) == before


def test_what_is_opened_is_what_was_run(tmp_path: Path) -> None:
    ran = run_experiment(Numbers(trials=5), SAMPLES, folder=tmp_path, workers=1)
    opened = open_experiment(tmp_path)
    assert opened.experiment == ran.experiment
    assert opened.rows.equals(ran.rows)
    assert opened.rows.schema == ran.rows.schema
    assert opened.samples.digest == ran.samples.digest
    assert opened.provenance == ran.provenance


def test_settings_beside_a_name_make_the_same_experiment_for_one_release() -> None:
    with pytest.warns(DeprecationWarning, match=r"Numbers\(…\)"):
        found = run_experiment("numbers-of-tests", SAMPLES, trials=3)  # type: ignore[call-arg]
    assert found.rows.equals(run_experiment(Numbers(trials=3), SAMPLES).rows)
    with pytest.raises(TypeError, match="unexpected keyword argument 'seed'"):
        run_experiment(Numbers(trials=5), SAMPLES, seed=1)  # type: ignore[call-arg]


def test_notes_about_the_samples_are_kept_and_change_no_byte_of_the_numbers(
    tmp_path: Path, expected: dict[str, bytes]
) -> None:
    folder = tmp_path / "results"
    noted = replace(SAMPLES, notes=("One query was left out.",))
    found = run_experiment(Numbers(trials=TRIALS), noted, folder=folder, workers=1)
    first = contents(folder)
    assert first["trials.parquet"] == expected["trials.parquet"]
    assert found.samples.notes == open_experiment(folder).samples.notes == ("One query was left out.",)
    assert resume_experiment(folder, workers=1).samples.notes == ("One query was left out.",)
    run_experiment(Numbers(trials=TRIALS), SAMPLES, folder=folder, workers=1)
    assert contents(folder) == first


@pytest.mark.parametrize("notes", ["text", [1]])
def test_notes_that_are_none_are_refused(tmp_path: Path, notes: object) -> None:
    run_experiment(Numbers(trials=1), SAMPLES, folder=tmp_path, workers=1)
    about = json.loads((tmp_path / "experiment.json").read_text())
    (tmp_path / "experiment.json").write_text(json.dumps(about | {"notes": notes}))
    with pytest.raises(AdjudgeError, match="expected the description of an experiment"):
        open_experiment(tmp_path)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """The folder of three trials."""
    run_experiment(Numbers(trials=3), SAMPLES, folder=tmp_path, workers=1)
    return tmp_path


def test_another_seed_is_refused(results: Path) -> None:
    with pytest.raises(AdjudgeError, match="holds another experiment: 'seed' is 0 there, 1 here"):
        run_experiment(Numbers(trials=3, seed=1), SAMPLES, folder=results, workers=1)


def test_another_setting_is_refused(results: Path) -> None:
    with pytest.raises(AdjudgeError, match=r"holds another experiment: 'seconds' is 0.0 there, 0.01 here"):
        run_experiment(Numbers(trials=3, seconds=0.01), SAMPLES, folder=results, workers=1)


def test_other_effectiveness_is_refused(results: Path) -> None:
    other = samples_of(Effectiveness.from_matrix(np.eye(5), measure="AP"))
    with pytest.raises(AdjudgeError, match=r"'effectiveness' is .{12}… there, .{12}… here"):
        run_experiment(Numbers(trials=3), other, folder=results, workers=1)


def test_another_version_is_refused(results: Path) -> None:
    about = json.loads((results / "experiment.json").read_text())
    (results / "experiment.json").write_text(json.dumps(about | {"adjudge": "0.0.1"}))
    with pytest.raises(AdjudgeError, match=r"holds another experiment: 'adjudge' is 0.0.1 there, .* here"):
        run_experiment(Numbers(trials=3), SAMPLES, folder=results, workers=1)
    with pytest.raises(AdjudgeError, match=r"'adjudge' is 0.0.1 there"):
        open_experiment(results)


def test_a_folder_of_other_things_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    (tmp_path / "trials.parquet").write_text("y")
    with pytest.raises(AdjudgeError, match=r"an empty folder or an experiment.*got thesis.tex and 1 more"):
        run_experiment(Numbers(trials=3), SAMPLES, folder=tmp_path, workers=1)
    assert (tmp_path / "trials.parquet").read_text() == "y"
    assert not (tmp_path / "experiment.json").exists()


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("x")
    with pytest.raises(AdjudgeError, match="results: cannot be written: file exists"):
        run_experiment(Numbers(trials=3), SAMPLES, folder=tmp_path / "results", workers=1)


def test_two_at_once_are_refused(results: Path) -> None:
    work = Work(Numbers(trials=3), SAMPLES)
    with (
        claimed(results, work),
        pytest.raises(AdjudgeError, match="another process is running the experiment in this folder"),
    ):
        run_experiment(Numbers(trials=3), SAMPLES, folder=results, workers=1)
    run_experiment(Numbers(trials=3), SAMPLES, folder=results, workers=1)


def test_a_folder_without_an_experiment_is_not_opened(tmp_path: Path) -> None:
    with pytest.raises(AdjudgeError, match=r"the folder of an experiment.*got no experiment.json"):
        open_experiment(tmp_path)


@pytest.mark.parametrize(
    "content",
    ["", "[]", '{"experiment": 3}', "\x00", '{"experiment": {}, "adjudge": "1", "samples": "a", "provenance": {}}'],
)
def test_a_description_that_is_none_is_refused(content: str, results: Path) -> None:
    (results / "experiment.json").write_text(content)
    with pytest.raises(AdjudgeError, match=r"experiment.json: expected the description of an experiment"):
        open_experiment(results)


def test_a_description_of_no_experiment_says_which_file_it_is_in(results: Path) -> None:
    about = json.loads((results / "experiment.json").read_text())
    about["experiment"]["trials"] = "many"
    (results / "experiment.json").write_text(json.dumps(about))
    with pytest.raises(AdjudgeError, match=r"experiment.json: .*'trials' must be a whole number .*, got 'many'$"):
        open_experiment(results)


def test_effectiveness_with_a_changed_bit_is_refused(results: Path) -> None:
    source = results / "effectiveness.parquet"
    damaged = bytearray(source.read_bytes())
    damaged[60] ^= 1
    source.write_bytes(damaged)
    with pytest.raises(AdjudgeError, match=r"effectiveness.parquet.*the effect.*got another, or damage"):
        open_experiment(results)


def test_who_comes_second_to_a_new_folder_removes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, doing: str) -> NoReturn:
        raise AdjudgeError("another process")

    monkeypatch.setattr("adjudge.experiments.run.lock", refuse)
    with pytest.raises(AdjudgeError, match="another process"):
        run_experiment(Numbers(trials=3), SAMPLES, folder=tmp_path / "new", workers=1)
    assert (tmp_path / "new").is_dir()


def test_effectiveness_that_is_lost_is_written_again_where_it_is_given(results: Path) -> None:
    lost = results / "effectiveness.parquet"
    before = lost.read_bytes()
    lost.write_bytes(before[:50])
    with pytest.raises(AdjudgeError, match=r"effectiveness.parquet: expected the effectiveness of the experiment"):
        resume_experiment(results, workers=1)
    run_experiment(Numbers(trials=3), SAMPLES, folder=results, workers=1)
    assert lost.read_bytes() == before


def test_an_experiment_without_trials_is_not_opened(results: Path) -> None:
    (results / "trials.parquet").unlink()
    with pytest.raises(AdjudgeError, match=r"trials of the experiment.*got none so far"):
        open_experiment(results)


def test_gaps_are_what_is_not_covered() -> None:
    assert missing_spans([], 5) == [(0, 5)]
    assert missing_spans([(0, 5)], 5) == []
    assert missing_spans([(3, 4), (0, 2), (1, 2)], 5) == [(2, 3), (4, 5)]


# Plans, and Dask


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed workers take as long to come back as the machine is busy."""
    monkeypatch.setattr(parallel, "SECONDS_TO_CONNECT", 300.0)
    monkeypatch.setattr(parallel, "SECONDS_WITHOUT_WORKERS", 300.0)


def test_a_plan_starts_with_one_trial_and_then_takes_what_is_quick() -> None:
    plan = Plan([(0, 1000)], workers=2)
    spans = iter(plan)
    assert next(spans) == (0, 1)
    plan.learn(Chunk((0, 1), b"", 0.1))
    assert next(spans) == (1, 41)  # four seconds
    plan.learn(Chunk((1, 41), b"", 0.04))
    assert next(spans) == (41, 103)  # an eighth of what a worker gets
    assert plan.left == 897


def test_a_plan_with_a_chunk_keeps_to_it_and_to_gaps() -> None:
    plan = Plan([(0, 5), (8, 10)], workers=2, chunk=3)
    assert list(plan) == [(0, 3), (3, 5), (8, 10)]


@pytest.mark.parametrize("chunk", [0, -1, 1.5, True])
def test_a_chunk_that_is_none_is_refused(chunk: int) -> None:
    with pytest.raises(AdjudgeError, match=r"'chunk' must be a whole number of at least 1, got"):
        run_experiment(Numbers(trials=3), SAMPLES, chunk=chunk)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two workers of a cluster that is there already."""
    pytest.importorskip("distributed")
    with parallel._quiet_dask(), parallel._local_cluster(2) as found:
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


def test_what_is_kept_is_said_where_a_cluster_has_no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(parallel, "SECONDS_WITHOUT_WORKERS", 0.2)
    with (
        parallel._quiet_dask(),
        distributed.LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0") as empty,
        pytest.raises(AdjudgeError, match="got none within 0 seconds; all finished trials are kept"),
    ):
        run_experiment(Numbers(trials=3), SAMPLES, dask=empty.scheduler_address)


def test_what_a_trial_raises_on_dask_is_raised(cluster: Any, tmp_path: Path) -> None:
    (tmp_path / "wrong-2").touch()
    with pytest.raises(ValueError, match=r"trial 2 is wrong"):
        run_experiment(Numbers(trials=4, faults=str(tmp_path)), SAMPLES, dask=cluster.scheduler_address)


def test_work_travels() -> None:
    import pickle

    work = Work(Numbers(trials=3), SAMPLES)
    assert pickle.loads(pickle.dumps(work))((1, 3)).data == work((1, 3)).data
