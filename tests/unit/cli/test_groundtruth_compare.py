"""adjudge groundtruth compare and simulate: ways of making lists side by side, experts whose truth is known."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

import adjudge as aj
from adjudge.cli import main

Capture = pytest.CaptureFixture[str]
SMALL = ("--queries", "3", "--documents", "6", "--experts", "9", "--groups", "3")
THREE = ("--constructions", "All-2", "Any-1", "Best-1")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    simulated = aj.simulate_rankings(queries=3, documents=6, experts=9, groups=3)
    aj.write_rankings(simulated.rankings, "rankings.csv")
    good = {query: list(one.documents) for query, one in simulated.truth.items()}
    runs = {"good": good, "bad": {query: documents[::-1] for query, documents in good.items()}}
    aj.write(aj.read(runs).runs, "runs.csv")
    return tmp_path


def run(capsys: Capture, *arguments: str) -> tuple[int, str, str]:
    code = main(["groundtruth", *arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_constructions_stand_side_by_side(folder: Path, capsys: Capture) -> None:
    code, out, _ = run(capsys, "compare", "rankings.csv", *THREE, "--halves", "1")
    assert code == 0
    assert "Best-1" in out.splitlines()[0]
    assert "Held out: ADR-1 by the half of the answers that a list was not made from" in out
    assert out.index(" All-2 ") < out.index(" Any-1 ")


def test_nobody_who_names_none_compares_those_of_the_paper_a_better_cut_and_a_model(
    folder: Path, capsys: Capture
) -> None:
    _, out, _ = run(capsys, "compare", "rankings.csv", "--halves", "0", "--csv")
    names = [row["construction"] for row in csv.DictReader(io.StringIO(out))]
    assert names[:6] == ["All-2", "Any-2", "Prev-2", "All-1", "Any-1", "Prev-1"]
    assert names[6:] == ["Best-1", "Any-1:plackett-luce"]


def test_systems_are_evaluated_by_the_lists_of_each_construction(folder: Path, capsys: Capture) -> None:
    _, out, _ = run(capsys, "compare", "rankings.csv", *THREE, "--halves", "0", "--runs", "runs.csv", "--json")
    content = json.loads(out)
    assert content["systems"]["measure"] == "ADR"
    for means in content["systems"]["means"].values():
        assert means["good"] > means["bad"]
    assert [one["tau"] for one in content["constructions"]] == [1, 1, 1]
    assert [one["file"] for one in content["provenance"]["inputs"]] == ["rankings.csv", "runs.csv"]
    assert content["summary"]


def test_a_report_of_the_comparison_is_written(folder: Path, capsys: Capture) -> None:
    code, out, _ = run(capsys, "compare", "rankings.csv", *THREE, "--halves", "1", "--report", "ways.md")
    assert code == 0
    assert "wrote the report to ways.md" in out
    page = Path("ways.md").read_text(encoding="utf-8")
    assert "Best-1" in page
    assert "Any-1" in page


def test_preferences_are_compared_with_a_model_of_their_own(folder: Path, capsys: Capture) -> None:
    rows = [f"q,{a},{b},a,p{i}\n" for i in range(4) for a, b in ("xy", "yz", "xz")]
    Path("preferences.csv").write_text("query,document_a,document_b,answer,assessor\n" + "".join(rows))
    code, out, _ = run(capsys, "compare", "preferences.csv", "--halves", "0", "--csv")
    assert code == 0
    assert "Any-1:bradley-terry" in out


def test_simulated_experts_write_rankings_and_the_lists_that_they_saw(folder: Path, capsys: Capture) -> None:
    code, out, _ = run(capsys, "simulate", *SMALL, "--noise", "0", "--lists", "truth.groups", "-o", "made.csv")
    assert code == 0
    assert out.startswith("Wrote ")
    assert "adjudge groundtruth check truth.groups made.csv" in out
    truth, made = aj.read_lists("truth.groups"), aj.read_rankings("made.csv")
    assert [len(one.groups) for one in truth.values()] == [3, 3, 3]
    assert (made.n_experts, len(made.queries)) == (9, 3)
    first = Path("made.csv").read_bytes()
    run(capsys, "simulate", *SMALL, "--noise", "0", "-o", "made.csv")
    assert Path("made.csv").read_bytes() == first


def test_simulated_answers_go_to_standard_output_alone(folder: Path, capsys: Capture) -> None:
    run(capsys, "simulate", *SMALL, "-o", "made.csv")
    code, out, _ = run(capsys, "simulate", *SMALL, "-o", "-")
    assert code == 0
    assert out == Path("made.csv").read_text(encoding="utf-8")


def test_simulated_people_write_preferences_for_the_pairs_of_a_sort(folder: Path, capsys: Capture) -> None:
    options = ["--queries", "1", "--documents", "8", "--groups", "4", "--answers", "6", "--lists", "truth.json"]
    code, out, _ = run(capsys, "simulate", "--preferences", *options, "-o", "made.csv")
    assert code == 0
    assert "people for 1 query to made.csv" in out
    made = aj.read_preferences("made.csv").queries[0]
    asked = made.wins + made.wins.T + made.alike
    assert set(asked.ravel().tolist()) == {0.0, 6.0}
    code, out, _ = run(capsys, "compare", "made.csv", "--halves", "0")
    assert code == 0
    assert f"But only {int((asked > 0).sum()) // 2} of 28 pairs were asked about" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["compare", "rankings.csv", "--constructions", "Any-1", "Any-1"],
            "expected some, each once, got Any-1, Any-1",
        ),
        (["compare", "rankings.csv", "--constructions", "Any-1:nothing"], "No comparison is called 'nothing'"),
        (["compare", "rankings.csv", "--halves", "-1"], "'halves' must be a whole number of at least 0, got -1"),
        (["compare", "rankings.csv", "-m", "nDCG"], "--measure is about systems; expected --runs, got none"),
        (["compare", "rankings.csv", "--runs", "runs.csv", "-m", "NDCG"], "Did you mean"),
        (["compare", "rankings.csv", "--teams", "x.csv"], "--teams is about the lists of --runs, got none"),
        (["compare", "rankings.csv", "--runs", "nowhere.csv"], "nowhere.csv"),
        (["compare", "rankings.csv", "-o", "ways.pdf"], "ways.pdf: expected a name that ends in"),
        (["compare", "rankings.csv", "--report", "rankings.md/x.md"], "expected a file in an existing directory"),
        (["compare", "rankings.csv", "-o", "ways.md", "--report", "ways.md"], "expected one file for the report"),
        (["compare", "rankings.csv", "--runs", "runs.csv", "-o", "runs.csv"], "is an input, and would be overwritten"),
        (["simulate", "--groups", "0", "-o", "x.csv"], "'groups' must be a whole number of at least 1, got 0"),
        (["simulate", "--unranked", "1", "-o", "x.csv"], "'unranked' must be in [0, 1)"),
        (["simulate", "--seed", "-1", "-o", "x.csv"], "'seed' must be a whole number of at least 0, got -1"),
        (["simulate", "--lists", "x.pdf", "-o", "x.csv"], "x.pdf: expected a name of lists that ends in .groups"),
        (["simulate", "-o", "x.pdf"], "x.pdf"),
        (["simulate", "--lists", "x.csv", "-o", "x.csv"], "x.csv: expected one file for the answers"),
        (["simulate", "-o", "x.groups"], "x.groups: expected a name of answers that ends in .csv, .tsv, .parquet"),
        (["simulate", "--preferences", "-o", "x.json"], "x.json: expected a name of answers that ends in .csv, .tsv"),
        (["simulate", "--preferences", "--unranked", "0.1", "-o", "x.csv"], "--unranked is about rankings"),
        (["simulate", "--answers", "5", "-o", "x.csv"], "--answers are asked for with --preferences"),
        (["simulate", "--preferences", "--answers", "99", "-o", "x.csv"], "expected from 1 to 35 answers about a pair"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(
    folder: Path, capsys: Capture, arguments: list[str], words: str
) -> None:
    before = sorted(folder.iterdir())
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1
    assert sorted(folder.iterdir()) == before


def test_the_library_has_the_same_by_name(folder: Path) -> None:
    rankings = aj.read_rankings("rankings.csv")
    truth = aj.ground_truth(rankings, "Any-1")
    assert repr(truth) == "GroundTruth(3 queries, Any-1)"
    assert str(truth).splitlines()[0].startswith("3 lists of ")
    aj.write_lists(truth.lists, "lists.groups")
    checked = aj.check_lists(aj.read_lists("lists.groups"), rankings)
    assert checked.consistency(1) == pytest.approx(truth.consistency(1))
    assert checked.made_by == "made elsewhere"
