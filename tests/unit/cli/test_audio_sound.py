"""--sound of estimate, next, simulate and calibrate: what is said of it, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from adjudge.audio.features import AUDIO_FEATURES
from adjudge.audio.features.extract import save_values
from adjudge.audio.library.folder import CLIP_COLUMNS
from adjudge.cli import main

Captured = pytest.CaptureFixture[str]
WIDTHS = {"timbre": 230, "rhythm": 1320, "tonal": 96}


def make_library(folder: Path, documents: Sequence[str]) -> None:
    """A library whose features are there already, so that nothing has to be decoded."""
    (folder / "features").mkdir(parents=True)
    rows = {column: list(documents) if column.endswith(("document", "sha256")) else "1" for column in CLIP_COLUMNS}
    pl.DataFrame({"document": list(documents)}).write_csv(folder / "tracks.csv")
    pl.DataFrame(rows).write_csv(folder / "clips.csv")
    rng = np.random.default_rng(5)
    for name, width in WIDTHS.items():
        values = rng.random((len(documents), width))
        if name == "timbre":
            values[:, 20:] = np.eye(20)[np.triu_indices(20)]
        kept = dict(zip(documents, values, strict=True))
        save_values(folder / "features" / f"{name}.npz", AUDIO_FEATURES[name].version, width, kept)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small demo as files, and a library that has all of its documents but one."""
    folder = tmp_path_factory.mktemp("sound")
    assert main(["demo", "--queries", "3", "--ranks", "5", "--write", str(folder / "demo")]) == 0
    judged = pl.read_csv(folder / "demo" / "fine.csv")
    documents = sorted({*judged["document"].to_list(), *judged["query"].to_list()} - {judged["document"][0]})
    make_library(folder / "lab", documents)
    make_library(folder / "other", ["nobody", "knows"])
    judged.head(9).write_csv(folder / "few.csv")
    return folder


def run(capsys: Captured, lab: Path, *arguments: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main([argument.replace("LAB", str(lab)) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


ASKED = ["LAB/demo/runs", "--judgments", "LAB/few.csv", "--scale", "fine", "-m", "CG@5"]


def test_sound_is_said_and_stands_where_results_come_from(lab: Path, capsys: Captured) -> None:
    code, out, _ = run(capsys, lab, "estimate", *ASKED, "--sound", "LAB/lab", "--json")
    assert code == 0
    values = json.loads(out)
    silent, heard = values["notes"][-2:]
    assert silent.startswith("1 of ")
    assert "have no sound" in silent
    n_heard = int(silent.split()[2]) - 1  # of the documents of the runs; the library has the queries, too
    assert heard == f"Sound of {n_heard} documents, compared by timbre, rhythm and harmony, is heard by hierarchical."
    assert any(one["file"].endswith("clips.csv") for one in values["provenance"]["inputs"])
    assert len(values["provenance"]["settings"]["sound"]) == 64
    _, without, _ = run(capsys, lab, "estimate", *ASKED, "--json")
    assert json.loads(without)["ranking"] != values["ranking"]
    assert "sound" not in json.loads(without)["provenance"]["settings"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["next", *ASKED, "-n", "2", "--csv"],
        ["simulate", "LAB/demo/fine.csv", "LAB/demo/runs", "-m", "CG@5", "--estimator", "output", "--estimator",
         "uniform", "--seeds", "1", "--at", "0.1", "--workers", "1", "--scale", "fine", "--metadata",
         "LAB/demo/metadata.csv"],
        ["calibrate", "LAB/demo/fine.csv", "LAB/demo/runs", "-m", "CG@5", "--estimator", "uniform", "--samples", "1",
         "--workers", "1"],
    ],
    ids=lambda arguments: arguments[0],
)  # fmt: skip
def test_all_commands_hear(lab: Path, capsys: Captured, arguments: list[str]) -> None:
    code, out, err = run(capsys, lab, *arguments, "--sound", "LAB/lab")
    assert code == 0, err
    who = {"next": "hierarchical", "simulate": "output and uniform", "calibrate": "uniform"}[arguments[0]]
    assert f"is heard by {who}" in out + err


@pytest.mark.parametrize(
    ("library", "said"),
    [
        ("nowhere", "expected a folder made by 'adjudge audio prepare', got nothing of that name"),
        ("demo", "expected a folder made by 'adjudge audio prepare', got one without tracks.csv"),
        ("other", "Similarity: expected that of some candidates, got none"),
    ],
)
def test_a_library_that_is_none_or_another_gets_one_line(lab: Path, capsys: Captured, library: str, said: str) -> None:
    code, out, err = run(capsys, lab, "estimate", *ASKED, "--sound", f"LAB/{library}")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err
