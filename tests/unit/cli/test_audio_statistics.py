"""adjudge audio statistics: in every form, of a library and of runs."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from tests.unit.cli.audio_library import write_library

from adjudge.cli import main


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lab = write_library(tmp_path_factory.mktemp("audio") / "lab")
    assert main(["audio", "runs", str(lab), "-k", "3", "--workers", "1"]) == 0
    return lab


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["audio", "statistics", *arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_a_library_is_described_in_words_and_tables(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, str(made))
    assert code == 0
    assert out.startswith("8 documents. All are queries. Known are only the genre of 7 and the artist of 7.")
    assert "Hubs in top-5 lists." in out
    assert "timbre-mp, all artists" in out


def test_runs_of_a_library_and_elsewhere_are_described(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, str(made), str(made / "runs"), "--csv")
    assert code == 0
    rows = list(csv.DictReader(io.StringIO(out)))
    assert {(row["lists"], row["cutoff"]) for row in rows} == {("as given", "3")}
    _, again, _ = run(capsys, str(made / "runs"), "--metadata", str(made / "tracks.csv"), "--csv")
    assert again == out


def test_json_has_numbers_words_and_origin(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, str(made), "--system", "random", "--cutoffs", "2,4", "--json")
    content = json.loads(out)
    assert [row["cutoff"] for row in content["statistics"]] == [2, 4, 2, 4]
    assert content["summary"][0].startswith("8 documents.")
    assert [Path(one["file"]).name for one in content["provenance"]["inputs"]] == ["tracks.csv", "clips.csv"]


@pytest.mark.parametrize("name", ["hubs.html", "hubs.tex"])
def test_a_page_is_written(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    code, out, _ = run(capsys, str(made), "--system", "random", "-o", str(tmp_path / name))
    assert (code, out) == (0, "")
    assert "Hubs and coverage" in (tmp_path / name).read_text(encoding="utf-8")


def test_figures_are_written_where_asked(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, str(made), "--system", "random", "--csv", "--figures", str(tmp_path / "new"))[0] == 0
    assert (tmp_path / "new" / "occurrences.svg").is_file()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "nowhere: expected a folder made by 'adjudge audio prepare', got nothing of that name"),
        (["LAB/tracks.csv"], "tracks.csv: expected a library before runs, or --metadata FILE with them"),
        (["LAB/runs"], "runs: expected a library before runs, or --metadata FILE with them"),
        (["LAB", "--cutoffs", "5,x"], "--cutoffs: expected whole numbers with commas, such as 5,10, got '5,x'"),
        (["LAB", "--cutoffs", "0"], "--cutoffs: expected lengths of at least 1, got 0"),
        (["LAB", "LAB/runs", "--system", "tags"], "expected these or runs, got both"),
        (["LAB", "--system", "no"], "No baseline system is called 'no'. Known: "),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    made: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    code, out, err = run(capsys, *(one.replace("LAB", str(made)) for one in arguments))
    assert (code, out) == (2, "")
    assert said in err
    assert len(err.splitlines()) == 1
