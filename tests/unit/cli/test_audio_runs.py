"""adjudge audio runs: from clips to files that other commands read."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.unit.cli.audio_library import write_library

from adjudge.cli import main
from adjudge.formats import read


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_library(tmp_path_factory.mktemp("audio") / "lab")


@pytest.fixture
def lab(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(made, tmp_path / "lab")
    monkeypatch.chdir(tmp_path)
    return Path("lab")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["audio", "runs", *arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_all_systems_write_runs_that_are_read(lab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "lab", "--workers", "1", "-k", "3")
    assert code == 0
    assert out.startswith(
        "7 systems, 8 of 8 documents as queries, up to 3 documents each: lab/runs/(timbre, timbre-mp,"
    )
    assert "The artist of 1 of 8 queries is not known: nothing is filtered for these." in err
    collection = read("lab/runs", None, "lab/tracks.csv")
    assert len(collection.systems) == 7
    retrieved = {(query, one) for _, query, one, *_ in collection.runs.to_polars().iter_rows()}
    assert not retrieved & {("d0", "d1"), ("d1", "d0"), ("d2", "d3"), ("d5", "d6"), ("d6", "d5")}


def test_queries_lists_and_matrices_are_as_asked(lab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["lab", "--system", "random", "--system", "tags"]
    assert run(capsys, *asked, "--queries", "3", "-k", "2", "--no-artist-filter", "-o", "three")[0] == 0
    assert len(Path("three/random.txt").read_text().splitlines()) == 6
    assert sorted(path.name for path in Path("three").iterdir()) == ["random.txt", "tags.txt"]
    Path("asked.csv").write_text("\ufeffdocument,why\r\nd4,x\r\nd1,y\r\n", encoding="utf-8")
    Path("asked.txt").write_text("# mine\nd4\n\nd1\n")
    Path("quoted.csv").write_text('artist,document\n"Last, First",d4\n"b",d1\n')
    for given in ("asked.csv", "asked.txt", "quoted.csv", "d4,d1"):
        assert run(capsys, *asked, "--queries", given)[0] == 0
        queries = dict.fromkeys(line.split()[0] for line in (lab / "runs/random.txt").read_text().splitlines())
        assert list(queries) == ["d4", "d1"]
    code, out, err = run(capsys, "lab", "--system", "random", "--per-genre", "1", "--matrix", "npy")
    assert code == 0
    assert "lab/runs has runs from before, too, which may be about other queries: tags.txt" in err
    assert "1 document of unknown genre is no query." in err
    assert "8 x 8 distances of random: lab/matrices/random.npy (0.0 MB)" in out
    assert np.load("lab/matrices/random.npy").shape == (8, 8)


def test_without_tags_that_system_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_library(tmp_path / "bare", tagged=False)
    code, out, err = run(capsys, "bare", "--workers", "1")
    assert code == 0
    assert out.startswith("6 systems")
    assert "no document has tags that tell it from others: the system 'tags' is left out" in err
    assert "The artist of no query is known: nothing is filtered by artist." in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "nowhere: expected a folder made by 'adjudge audio prepare', got nothing of that name"),
        (["lab", "--system", "timber"], "No baseline system is called 'timber'. Did you mean 'timbre'?"),
        (["lab", "--queries", "9"], "expected at most 8 queries, as there are documents, got 9"),
        (["lab", "--queries=--5"], "expected queries that are documents of the library, got '--5'"),
        (["lab", "--queries", "-1"], "'queries' must be a whole number of at least 1, got -1"),
        (["lab", "--queries", "d1,x"], "expected queries that are documents of the library, got 'x'"),
        (["lab", "--queries", "no/such"], "no/such: expected a file with queries, got none"),
        (["lab", "--queries", "empty.txt"], "empty.txt: expected queries, one a line, got none"),
        (["lab", "--queries", "table.csv"], "table.csv: expected one query a line, or a column 'document'"),
        (
            ["lab", "--queries", "sound.bin"],
            f"expected queries that are documents of the library, got '{'x' * 59}…'",
        ),
        (["lab", "--per-genre", "0"], "'per-genre' must be a whole number of at least 1, got 0"),
        (["lab", "-k", "0"], "'k' must be a whole number of at least 1, got 0"),
        (["lab", "--seed", "-1"], "'seed' must be a whole number of at least 0, got -1"),
        (["lab", "--workers", "0"], "'workers' must be a whole number of at least 1, got 0"),
        (["lab", "-o", "table.csv"], "table.csv: expected a folder for runs, got a file"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    lab: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    Path("empty.txt").write_text("# nothing\n")
    Path("table.csv").write_text("a,b\nd1,d2\n")
    Path("sound.bin").write_text("x" * 131_073)
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.splitlines() == [f"adjudge: {said}"]
