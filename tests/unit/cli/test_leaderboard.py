"""``adjudge leaderboard``: the same from runs and tables, every form, several measures, clear refusals."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest
from tests.unit.cli.conftest import Terminal

import adjudge as aj

FAST = ("--resamples", "500")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Terminal) -> Path:
    """Runs and judgments of the demo, their table of effectiveness, and attributes of the queries."""
    monkeypatch.chdir(tmp_path)
    cli.out("demo", "--write", "demo", "--queries", "12")
    cli.out("score", *RUNS, "--per-query", "--csv", "-o", "scores.csv")
    queries = dict.fromkeys(row["query_id"] for row in csv.DictReader(Path("scores.csv").read_text().splitlines()))
    rows = [f"{query},{('en', 'de')[i % 2]},{i}\n" for i, query in enumerate(queries)]
    Path("queries.csv").write_text("query_id,language,length\n" + "".join(rows))
    return tmp_path


RUNS = ("demo/broad.csv", "demo/runs", "--scale", "broad", "-m", "CG@5")


def test_runs_and_their_table_have_the_same_board_and_it_is_that_of_python(here: Path, cli: Terminal) -> None:
    of_runs, of_table = (cli.json("leaderboard", *data, *FAST) for data in (RUNS, ("--effectiveness", "scores.csv")))
    assert of_runs["systems"] == of_table["systems"]
    board = aj.leaderboard("scores.csv", resamples=500)
    assert of_table["systems"] == json.loads(json.dumps(board.to_dicts()))
    assert of_table["provenance"]["settings"]["command"].startswith("adjudge leaderboard --effectiveness")
    lines = cli.out("leaderboard", "--effectiveness", "scores.csv", *FAST).splitlines()
    assert lines[0] == f"{board.sentence()} The claim is about other queries like these."


@pytest.mark.parametrize("suffix", ["html", "md", "tex", "csv", "json"])
def test_every_form_has_every_system(suffix: str, here: Path, cli: Terminal) -> None:
    cli.out("leaderboard", "--effectiveness", "scores.csv", *FAST, "--slices", "queries.csv", "-o", f"board.{suffix}")
    text = Path(f"board.{suffix}").read_text()
    assert all(name in text for name in ("KLN2", "BSS1", "ZX1"))
    if suffix == "html":
        assert not re.search(r'(src|href)="http', text)
        assert "By language" in text


def test_several_measures_have_a_board_each(here: Path, cli: Terminal) -> None:
    found = cli.json("leaderboard", *RUNS, "-m", "nDCG@5", *FAST)
    assert [board["measure"] for board in found["boards"]] == ["CG@5", "nDCG@5"]
    rows = cli.out("leaderboard", *RUNS, "-m", "nDCG@5", *FAST, "--csv").splitlines()
    assert rows[0].startswith("measure,about,rank,system,mean")
    assert len(rows) == 25


def test_several_data_sets_have_both_claims(here: Path, cli: Terminal) -> None:
    rng = np.random.default_rng(1)
    lines = [f"d{d},q{q},{s},{rng.random():.4f}\n" for d in range(7) for q in range(6) for s in "abc"]
    Path("sets.csv").write_text("dataset,query,system,AP\n" + "".join(lines))
    out = cli.out("leaderboard", "--effectiveness", "sets.csv", *FAST)
    assert "about other queries of these data sets" in out
    assert "about other data sets like these" in out
    assert "system × data set" in out
    cli.out("leaderboard", "--effectiveness", "sets.csv", *FAST, "-o", "board.html")
    names = re.findall(r'id="([^"]+)"', Path("board.html").read_text())
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--top", "13"), "'top' must be at most the number of systems, 12, got 13"),
        (("--top", "0"), "'top' must be a whole number of at least 1, got 0"),
        (("--confidence", "1"), r"'confidence' must be in \(0, 1\), got 1"),
        (("--by", "genre"), "--by names attributes of the table of --slices, got none"),
        (("--slices", "queries.csv", "--by", "genre"), "No attribute of queries is called 'genre'"),
        (("--slices", "scores.csv"), "expected each query once"),
        (("--slices", "absent.csv"), "absent.csv"),
        (("-o", "scores.csv"), "is an input, and would be overwritten"),
        (("--chance", "luck"), "invalid choice: 'luck'"),
    ],
    ids=str,
)
def test_bad_options_are_refused_in_a_line(options: tuple[str, ...], message: str, here: Path, cli: Terminal) -> None:
    assert re.search(message, cli.refused("leaderboard", "--effectiveness", "scores.csv", *options))


def test_a_report_takes_slices_as_a_leaderboard_does(here: Path, cli: Terminal) -> None:
    table = ("--effectiveness", "scores.csv", "--test", "t", "--section", "leaderboard", "-o", "page.json")
    cli.out("report", *table, "--slices", "queries.csv", "--by", "language")
    page = json.loads(Path("page.json").read_text())
    assert [part["title"] for part in page["sections"].values()] == ["Leaderboard by CG@5", "By language"]
    assert [entry["file"] for entry in page["provenance"]["inputs"]] == ["scores.csv", "queries.csv"]
    assert "--by names attributes of the table of --slices, got none" in cli.refused("report", *table, "--by", "genre")


def test_a_comparison_on_several_data_sets_says_who_has_the_claim_about_others(here: Path, cli: Terminal) -> None:
    rng = np.random.default_rng(1)
    lines = [f"d{d},q{q},{s},{rng.random():.4f}\n" for d in range(3) for q in range(6) for s in "ab"]
    Path("sets.csv").write_text("dataset,query,system,AP\n" + "".join(lines))
    note = "'adjudge leaderboard' has the claim about others"
    assert note in cli.out("compare", "--effectiveness", "sets.csv", "--test", "t")
    assert note not in cli.out("compare", "--effectiveness", "scores.csv", "--test", "t")
