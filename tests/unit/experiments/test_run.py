"""Experiments run: the same bytes whatever the workers, the chunks, the interruptions and the deaths; folders."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import polars as pl
import pytest
from tests.unit.experiments.trial_runs import NAME, Numbers, samples, some_samples

from adjudge.errors import AdjudgeError, AdjudgeWarning
from adjudge.experiments.run import (
    Chunk,
    Plan,
    Work,
    claim_folder,
    open_experiment,
    pack,
    resume_experiment,
    run_chunk,
    run_experiment,
)
from adjudge.experiments.samples import Samples
from adjudge.experiments.spec import EXPERIMENTS
from adjudge.io import write_whole
from adjudge.parallel import CrashedError

TRIALS = 20
THREE, WHOLE = Numbers(trials=3), Numbers(trials=TRIALS)
SAMPLES = some_samples()


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EXPERIMENTS._members, NAME, Numbers)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What a run without any interruption leaves."""
    folder = tmp_path_factory.mktemp("whole") / "results"
    run(folder)
    return contents(folder)


def run(folder: Path, spec: Numbers = WHOLE, drawn_from: Samples = SAMPLES, **how: Any) -> list[int]:
    """Run in a folder, by default in this process; the numbers of trials that progress tells of."""
    seen: list[int] = []
    how = {"workers": 1, "progress": lambda done, _: seen.append(done), **how}
    run_experiment(spec, drawn_from, folder=folder, **how)
    return seen


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def change_description(folder: Path, **changes: object) -> None:
    about = json.loads((folder / "experiment.json").read_text())
    (folder / "experiment.json").write_text(json.dumps(about | changes))


def resume(folder: Path, **how: Any) -> list[int]:
    """Resume in this process; the numbers of trials that progress tells of."""
    seen: list[int] = []
    resume_experiment(folder, workers=1, progress=lambda done, _: seen.append(done), **how)
    return seen


def interrupt(folder: Path, after: int) -> None:
    """Run until as many trials are done, and be interrupted."""

    def stop(done: int, _: int) -> None:
        if done >= after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(folder, chunk=3, progress=stop)


def test_a_finished_folder_holds_three_files(expected: dict[str, bytes]) -> None:
    assert sorted(expected) == [".lock", "effectiveness.parquet", "experiment.json", "trials.parquet"]
    about = json.loads(expected["experiment.json"])
    assert about["experiment"] == {
        "experiment": "numbers-of-tests", "trials": TRIALS, "seed": 0, "faults": "", "seconds": 0.0
    }  # fmt: skip
    assert about["samples"] == SAMPLES.digest


@pytest.mark.parametrize("chunk", [1, 3, 7, None])
def test_chunks_change_no_byte(chunk: int | None, expected: dict[str, bytes], tmp_path: Path) -> None:
    run(tmp_path, chunk=chunk)
    assert contents(tmp_path) == expected


def test_workers_change_no_byte_and_progress_counts_up(expected: dict[str, bytes], tmp_path: Path) -> None:
    seen = run(tmp_path, workers=2, chunk=3)
    assert contents(tmp_path) == expected
    assert (seen[0], seen[-1]) == (0, TRIALS)
    assert seen == sorted(seen)


def test_without_a_folder_the_rows_are_the_same(expected: dict[str, bytes]) -> None:
    found = run_experiment(Numbers(trials=TRIALS), SAMPLES)
    assert found.rows.equals(pl.read_parquet(expected["trials.parquet"]))


def test_an_interrupted_run_goes_on_where_it_was(expected: dict[str, bytes], tmp_path: Path) -> None:
    interrupt(tmp_path, 9)
    assert len(list((tmp_path / "trials").iterdir())) == 3
    assert resume(tmp_path, chunk=4) == [9, 13, 17, 20]
    assert contents(tmp_path) == expected


@pytest.fixture
def faults(tmp_path: Path) -> Path:
    """A folder of orders to trials."""
    (tmp_path / "faults").mkdir()
    return tmp_path / "faults"


def test_a_worker_that_is_killed_costs_only_its_chunk(faults: Path, tmp_path: Path) -> None:
    spec = Numbers(trials=TRIALS, faults=str(faults))
    run(tmp_path / "whole", spec)
    (faults / "once-7").touch()
    (faults / "once-12").touch()
    seen = run(tmp_path / "killed", spec, workers=2, chunk=3)
    assert not list(faults.iterdir())
    assert len(seen) == 8  # none twice
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")


def test_trials_that_always_kill_their_worker_are_named_and_the_others_kept(faults: Path, tmp_path: Path) -> None:
    (faults / "always-7").touch()
    with pytest.raises(CrashedError, match=r"trials 6 to 8: .*killed by signal 9.*; all finished .* kept"):
        run(tmp_path / "results", Numbers(trials=TRIALS, faults=str(faults)), workers=2, chunk=3)
    (faults / "always-7").unlink()
    assert resume(tmp_path / "results")[0] >= 6


def test_what_a_trial_raises_is_raised(tmp_path: Path) -> None:
    (tmp_path / "wrong-2").touch()
    with pytest.raises(ValueError, match=r"trial 2 is wrong"):
        run_experiment(Numbers(trials=4, faults=str(tmp_path)), SAMPLES, workers=1, chunk=1)


def test_a_run_that_is_killed_goes_on(expected: dict[str, bytes], tmp_path: Path) -> None:
    folder = tmp_path / "results"
    first, deadline = folder / "trials" / "000000-000002.parquet", time.monotonic() + 300
    script = (
        "from tests.unit.experiments.trial_runs import *\n"
        "from adjudge.experiments.run import run_experiment\n"
        "def wait_to_be_killed(done, trials):\n"
        f"    time.sleep(600 if done >= 4 and Path({str(first)!r}).exists() else 0)\n"
        "if __name__ == '__main__':\n"
        f"    run_experiment(Numbers(trials={TRIALS}), some_samples(), folder={str(folder)!r}, workers=1, chunk=2, "
        "progress=wait_to_be_killed)\n"
    )
    source = tmp_path / "script.py"
    source.write_text(script)
    path = os.pathsep.join([str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen([sys.executable, str(source)], env={**os.environ, "PYTHONPATH": path})
    while time.monotonic() < deadline and not (first.exists() and len(list(first.parent.glob("*.parquet"))) >= 2):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    n_there = len(list(folder.glob("trials/*.parquet")))
    assert 2 <= n_there < TRIALS // 2
    with pytest.warns(AdjudgeWarning, match=rf"of {TRIALS} trials are there; the findings are of these"):
        assert open_experiment(folder).experiment.trials <= 2 * n_there
    resume(folder)
    assert contents(folder) == expected


def test_a_kill_between_merging_and_removing_changes_no_byte(expected: dict[str, bytes], tmp_path: Path) -> None:
    interrupt(tmp_path, 18)
    (tmp_path / "trials.parquet").write_bytes(expected["trials.parquet"])
    (tmp_path / ".trials.parquet.abc").write_bytes(b"PAR1")
    (tmp_path / "trials" / ".000018-000020.parquet.abc").write_bytes(b"PAR1")
    resume_experiment(tmp_path, workers=1)
    assert contents(tmp_path) == expected


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-20],
        lambda data: data[:100],
        lambda data: b"",
        lambda data: data[:60] + bytes([data[60] ^ 1]) + data[61:],
        lambda data: pack(run_chunk(WHOLE, SAMPLES, 3, 6), Work(WHOLE, SAMPLES).fingerprint, (3, 5)),
        lambda data: Work(Numbers(trials=TRIALS, seed=1), SAMPLES)((3, 6)).data,
    ],
    ids=["cut", "its head", "empty", "a changed bit", "other trials", "foreign"],
)
def test_a_chunk_that_cannot_be_used_is_run_again(
    damage: Callable[[bytes], bytes], expected: dict[str, bytes], tmp_path: Path
) -> None:
    interrupt(tmp_path, 12)
    chunk = tmp_path / "trials" / "000003-000006.parquet"
    chunk.write_bytes(damage(chunk.read_bytes()))
    with pytest.warns(AdjudgeWarning, match=r"000003-000006.parquet: not a whole file of trials of this experiment"):
        run(tmp_path, chunk=2)
    assert contents(tmp_path) == expected


def test_a_full_disk_loses_nothing(expected: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt(tmp_path, 6)

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
    run(tmp_path, Numbers(trials=8))
    interrupt(tmp_path, 14)
    with pytest.warns(AdjudgeWarning, match=r"14 of 20 trials are there"):
        assert open_experiment(tmp_path).experiment.trials == 14
    assert resume(tmp_path, trials=TRIALS)[0] == 14
    assert contents(tmp_path) == expected


def test_fewer_trials_than_are_there_are_refused(tmp_path: Path) -> None:
    run(tmp_path, Numbers(trials=8))
    before = contents(tmp_path)
    with pytest.raises(AdjudgeError, match=r"at least the 8 trials that are there.*got 7"):
        resume_experiment(tmp_path, trials=7, workers=1)
    assert contents(tmp_path) == before


def test_what_is_opened_is_what_was_run(tmp_path: Path) -> None:
    ran = run_experiment(Numbers(trials=5), SAMPLES, folder=tmp_path, workers=1)
    opened = open_experiment(tmp_path)
    assert (opened.experiment, opened.rows.schema) == (ran.experiment, ran.rows.schema)
    assert opened.rows.equals(ran.rows)
    assert (opened.samples.digest, opened.provenance) == (ran.samples.digest, ran.provenance)


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
    run(folder, drawn_from=noted)
    first = contents(folder)
    assert first["trials.parquet"] == expected["trials.parquet"]
    assert open_experiment(folder).samples.notes == noted.notes
    assert resume_experiment(folder, workers=1).samples.notes == noted.notes
    run(folder)
    assert contents(folder) == first


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """The folder of three trials."""
    run(tmp_path, THREE)
    return tmp_path


@pytest.mark.parametrize(
    ("spec", "drawn_from", "words"),
    [
        (Numbers(trials=3, seed=1), SAMPLES, "'seed' is 0 there, 1 here"),
        (Numbers(trials=3, seconds=0.01), SAMPLES, r"'seconds' is 0.0 there, 0.01 here"),
        (THREE, samples(np.eye(5)), r"'effectiveness' is .{12}… there, .{12}… here"),
    ],
    ids=["seed", "setting", "effectiveness"],
)
def test_another_experiment_is_refused(spec: Numbers, drawn_from: Samples, words: str, results: Path) -> None:
    with pytest.raises(AdjudgeError, match=f"holds another experiment: {words}"):
        run(results, spec, drawn_from)


def test_another_version_is_refused(results: Path) -> None:
    change_description(results, adjudge="0.0.1")
    with pytest.raises(AdjudgeError, match=r"holds another experiment: 'adjudge' is 0.0.1 there, .* here"):
        run(results, THREE)
    with pytest.raises(AdjudgeError, match=r"'adjudge' is 0.0.1 there"):
        open_experiment(results)


def test_a_folder_of_other_things_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    (tmp_path / "trials.parquet").write_text("y")
    with pytest.raises(AdjudgeError, match=r"an empty folder or an experiment.*got thesis.tex and 1 more"):
        run(tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["thesis.tex", "trials.parquet"]
    with pytest.raises(AdjudgeError, match=r"thesis.tex: cannot be written: file exists"):
        run(tmp_path / "thesis.tex")


def test_two_at_once_are_refused(results: Path) -> None:
    words = "another process is running the experiment in this folder"
    with claim_folder(results, Work(THREE, SAMPLES)), pytest.raises(AdjudgeError, match=words):
        run(results, THREE)
    run(results, THREE)


def flip_bit(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[60] ^= 1
    file.write_bytes(data)


def describe(text: str) -> Callable[[Path], object]:
    return lambda folder: (folder / "experiment.json").write_text(text)


def described(**changes: object) -> Callable[[Path], object]:
    return lambda folder: change_description(folder, **changes)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda folder: (folder / "experiment.json").unlink(), "the folder of an experiment, got no experiment.json"),
        (lambda folder: (folder / "trials.parquet").unlink(), "trials of the experiment, got none so far"),
        (lambda folder: (folder / "effectiveness.parquet").unlink(), "effectiveness.parquet: .*, got none"),
        (lambda folder: flip_bit(folder / "effectiveness.parquet"), "effectiveness.parquet: .* got another, or damage"),
        (describe(""), "json: .* description .* got some"),
        (describe("[]"), "json: .* description .* got some"),
        (describe('{"experiment": 3}'), "json: .* description .* got some"),
        (described(provenance={}), "json: .* description .* got some"),
        (described(notes="text"), "json: .* description .* got some"),
        (described(notes=[1]), "json: .* description .* got some"),
        (described(experiment={"trials": 3}), "json: .* description .* got none"),
        (described(experiment={"experiment": NAME, "trials": "many"}), "json: .*'trials' must be .*, got 'many'"),
        (described(experiment={"experiment": NAME, "trial": 3}), f"json: No setting of {NAME} is called 'trial'"),
    ],
)
def test_a_folder_that_is_not_whole_is_refused_in_a_line(
    spoil: Callable[[Path], object], words: str, results: Path
) -> None:
    spoil(results)
    with pytest.raises(AdjudgeError, match=words):
        open_experiment(results)


def test_who_comes_second_to_a_new_folder_removes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, doing: str) -> NoReturn:
        raise AdjudgeError("another process")

    monkeypatch.setattr("adjudge.experiments.run.lock", refuse)
    with pytest.raises(AdjudgeError, match="another process"):
        run(tmp_path / "new")
    assert (tmp_path / "new").is_dir()


def test_effectiveness_that_is_lost_is_written_again_where_it_is_given(results: Path) -> None:
    lost = results / "effectiveness.parquet"
    before = lost.read_bytes()
    lost.write_bytes(before[:50])
    with pytest.raises(AdjudgeError, match=r"effectiveness.parquet: expected the effectiveness of the experiment"):
        resume_experiment(results, workers=1)
    run(results, THREE)
    assert lost.read_bytes() == before


def test_a_plan_starts_with_one_trial_and_then_takes_what_is_quick() -> None:
    plan = Plan([(0, 1000)], workers=2)
    spans = iter(plan)
    assert next(spans) == (0, 1)
    plan.learn(Chunk((0, 1), b"", 0.1))
    assert next(spans) == (1, 41)  # four seconds
    plan.learn(Chunk((1, 41), b"", 0.04))
    assert next(spans) == (41, 103)  # an eighth of what a worker gets
    assert plan.left == 897
