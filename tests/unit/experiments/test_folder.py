"""Folders of experiments: what is not the same experiment is refused, in a line that says why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest
from tests.unit.experiments.trial_runs import Numbers, register, some_samples

from adjudge.errors import AdjudgeError
from adjudge.experiments.chunks import Work
from adjudge.experiments.run import claimed, missing_spans, open_experiment, resume_experiment, run_experiment
from adjudge.experiments.samples import samples_of
from adjudge.model.effectiveness import Effectiveness

SAMPLES = some_samples()


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch.setitem)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """The folder of three trials."""
    run_experiment(Numbers(trials=3), SAMPLES, folder=tmp_path, workers=1)
    return tmp_path


def test_another_seed_is_refused(results: Path) -> None:
    with pytest.raises(AdjudgeError, match=r"holds another experiment: 'seed' is 0 there, 1 here$"):
        run_experiment(Numbers(trials=3, seed=1), SAMPLES, folder=results, workers=1)


def test_another_setting_is_refused(results: Path) -> None:
    with pytest.raises(AdjudgeError, match=r"holds another experiment: 'seconds' is 0.0 there, 0.01 here$"):
        run_experiment(Numbers(trials=3, seconds=0.01), SAMPLES, folder=results, workers=1)


def test_other_effectiveness_is_refused(results: Path) -> None:
    other = samples_of(Effectiveness.from_matrix(np.eye(5), measure="AP"))
    with pytest.raises(AdjudgeError, match=r"'effectiveness' is .{12}… there, .{12}… here$"):
        run_experiment(Numbers(trials=3), other, folder=results, workers=1)


def test_another_version_is_refused(results: Path) -> None:
    about = json.loads((results / "experiment.json").read_text())
    (results / "experiment.json").write_text(json.dumps(about | {"adjudge": "0.0.1"}))
    with pytest.raises(AdjudgeError, match=r"holds another experiment: 'adjudge' is 0.0.1 there, .* here$"):
        run_experiment(Numbers(trials=3), SAMPLES, folder=results, workers=1)
    with pytest.raises(AdjudgeError, match=r"'adjudge' is 0.0.1 there"):
        open_experiment(results)


def test_a_folder_of_other_things_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    (tmp_path / "trials.parquet").write_text("y")
    with pytest.raises(AdjudgeError, match=r"expected an empty folder or an experiment, got thesis.tex and 1 more$"):
        run_experiment(Numbers(trials=3), SAMPLES, folder=tmp_path, workers=1)
    assert (tmp_path / "trials.parquet").read_text() == "y"
    assert not (tmp_path / "experiment.json").exists()


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("x")
    with pytest.raises(AdjudgeError, match=r"results: cannot be written: file exists$"):
        run_experiment(Numbers(trials=3), SAMPLES, folder=tmp_path / "results", workers=1)


def test_two_at_once_are_refused(results: Path) -> None:
    work = Work(Numbers(trials=3), SAMPLES)
    with (
        claimed(results, work),
        pytest.raises(AdjudgeError, match=r"another process is running the experiment in this folder$"),
    ):
        run_experiment(Numbers(trials=3), SAMPLES, folder=results, workers=1)
    run_experiment(Numbers(trials=3), SAMPLES, folder=results, workers=1)


def test_a_folder_without_an_experiment_is_not_opened(tmp_path: Path) -> None:
    with pytest.raises(AdjudgeError, match=r"expected the folder of an experiment, got no experiment.json$"):
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
    with pytest.raises(AdjudgeError, match=r"effectiveness.parquet: expected the effect.*, got another, or damage$"):
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
    with pytest.raises(AdjudgeError, match=r"expected trials of the experiment, got none so far$"):
        open_experiment(results)


def test_gaps_are_what_is_not_covered() -> None:
    assert missing_spans([], 5) == [(0, 5)]
    assert missing_spans([(0, 5)], 5) == []
    assert missing_spans([(3, 4), (0, 2), (1, 2)], 5) == [(2, 3), (4, 5)]
