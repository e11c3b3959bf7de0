"""Experiments run: the same bytes whatever the workers, the chunks, the interruptions and the deaths."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest
from tests.unit.experiments.trial_runs import Numbers, register, some_samples

from adjudge.errors import AdjudgeError, AdjudgeWarning
from adjudge.experiments.chunks import Work
from adjudge.experiments.run import open_experiment, resume_experiment, run_experiment
from adjudge.io import write_whole
from adjudge.processes import CrashedError

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

    found = run_experiment("numbers-of-tests", SAMPLES, trials=TRIALS)
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
    with pytest.raises(CrashedError, match=r"trials 6 to 8: .* \(killed by signal 9\), 3 times; all finished .* kept$"):
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
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
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
    with pytest.raises(AdjudgeError, match=r"expected at least the 8 trials that are there, got 7$"):
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


def test_settings_without_a_name_are_refused() -> None:
    with pytest.raises(AdjudgeError, match=r"settings go with the name of an experiment, got seed with an experiment"):
        run_experiment(Numbers(trials=5), SAMPLES, seed=1)


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
