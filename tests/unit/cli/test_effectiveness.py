"""Commands that take tables of effectiveness instead of runs give the same answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.unit.cli.conftest import Terminal, typed

import adjudge as aj

MEASURE = "CG@5"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Terminal) -> Path:
    """A demo with four systems, judgments, and tables of the effectiveness of its runs."""
    monkeypatch.chdir(tmp_path)
    cli.out("demo", "--write", "demo", "--queries", "10")
    names = ("KLN2", "BSS1", "TRW1", "ZX1")
    runs = [f"demo/runs/{name}.txt" for name in names]
    cli.out("score", "demo/fine.csv", *runs, *SCALE, "-m", MEASURE, "--per-query", "--csv", "-o", "long.csv")
    long = pl.read_csv("long.csv")
    long.pivot("run", index="query_id", values="value").write_csv("wide.csv")
    first = long["query_id"].unique(maintain_order=True)[:5].to_list()
    long.filter(pl.col("query_id").is_in(first)).write_csv("one.csv")
    long.filter(~pl.col("query_id").is_in(first)).write_csv("two.csv")
    return tmp_path


SCALE = ("--scale", "fine")
RUNS = ("demo/fine.csv", *(f"demo/runs/{name}.txt" for name in ("KLN2", "BSS1", "TRW1", "ZX1")), *SCALE, "-m", MEASURE)
TABLES = (("long.csv",), ("wide.csv",), ("one.csv", "two.csv"), ("x=one.csv", "y=two.csv"))


def strip(content: Any, *more: str) -> Any:
    """The content without what names the measure, the files and the share judged, which tables need not have."""
    dropped = {"measure", "judged", "provenance", "notes", "margins", "team", *more}
    if isinstance(content, dict):
        return {key: strip(value, *more) for key, value in content.items() if key not in dropped}
    if isinstance(content, list):
        return [strip(value, *more) for value in content]
    return round(content, 12) if isinstance(content, float) else content


@pytest.mark.parametrize("tables", TABLES, ids=" ".join)
@pytest.mark.parametrize("command", ["score", "compare"])
def test_score_and_compare_say_the_same_of_runs_and_of_their_table(
    command: str, tables: tuple[str, ...], here: Path, cli: Terminal
) -> None:
    test = ("--test", "t") if command == "compare" else ()
    of_runs = cli.json(command, *RUNS, *test)
    of_table = cli.json(command, "--effectiveness", *tables, *SCALE, "-m", MEASURE, *test)
    assert strip(of_table) == strip(of_runs)


@pytest.mark.parametrize("command", ["score", "compare", "plan", "leaderboard", "report", "experiment tests"])
def test_one_measure_names_that_of_a_table_that_does_not(command: str, here: Path, cli: Terminal) -> None:
    quick = {"plan": "--interval none", "report": "--section overview", "experiment tests": "--trials 2 --test t"}
    cli.out(*typed(f"{command} --effectiveness wide.csv -m {MEASURE} {quick.get(command, '')} -o said.json"))
    said = Path("said.json").read_text()
    assert MEASURE in said.replace(f"-m {MEASURE}", "")  # besides the command
    assert "No measure is called 'AP'. Known: CG@5." in cli.refused(*typed("score --effectiveness long.csv -m AP"))
    assert "No measure is called" in cli.refused(*typed("score --effectiveness wide.csv -m 'AP RR'"))


def test_tables_that_do_not_name_their_measure_are_said_to_be_taken_for_one(here: Path, cli: Terminal) -> None:
    lines = Path("wide.csv").read_text().splitlines()
    for name, rows in (("first", lines[1:6]), ("second", lines[6:])):
        Path(f"{name}.csv").write_text("\n".join([lines[0], *rows]) + "\n")
    note = "Several tables do not name their measure: it is taken to be the same one."
    given = ("score", "--effectiveness", "first.csv", "second.csv")
    assert any(text.startswith(note) for text in cli.json(*given)["notes"])
    assert not any(text.startswith(note) for text in cli.json(*given, "-m", MEASURE)["notes"])


def test_plan_says_the_same_of_runs_and_of_their_table(here: Path, cli: Terminal) -> None:
    how = ("--interval", "none", "--assessors", "combined")
    of_runs = cli.rows("plan", *RUNS, *how)
    of_table = cli.rows("plan", "--effectiveness", "long.csv", "-m", MEASURE, "--interval", "none")
    shared = [{key: row[key] for key in of_table[0].keys() & row.keys()} for row in of_runs]
    assert [{key: row[key] for key in shared[0]} for row in of_table] == shared


def test_report_has_the_same_tables_of_runs_and_of_their_table(here: Path, cli: Terminal) -> None:
    how = ("--test", "t", "--section", "overview", "--section", "differences")
    cli.out("report", *RUNS, *how, "-o", "runs.json")
    cli.out("report", "--effectiveness", "long.csv", *SCALE, "-m", MEASURE, *how, "-o", "table.json")
    runs, table = (strip(json.loads(Path(f"{name}.json").read_text())["sections"]) for name in ("runs", "table"))
    assert table == runs


def test_functions_take_a_table_where_they_take_effectiveness(here: Path) -> None:
    eff = aj.formats.read_effectiveness("long.csv")
    assert isinstance(eff, aj.Effectiveness)
    for given in ("long.csv", Path("long.csv"), pl.read_csv("long.csv"), ["one.csv", "two.csv"]):
        assert aj.summarize(given).to_dicts() == aj.summarize(eff).to_dicts()
        assert aj.compare(given, test="t").to_dicts() == aj.compare(eff, test="t").to_dicts()
        assert aj.plan(given, interval="none").to_dicts() == aj.plan(eff, interval="none").to_dicts()
    page = aj.report("long.csv", test="t", sections=["overview"])
    assert page.sections[0].blocks[0] == aj.report(eff, test="t", sections=["overview"]).sections[0].blocks[0]


def test_no_claims_about_users_where_values_leave_the_unit_interval(here: Path, cli: Terminal) -> None:
    table = pl.read_csv("long.csv").with_columns(pl.col("value") * 40)
    table.write_csv("large.csv")
    given = ("--effectiveness", "large.csv", *SCALE)
    said = cli.json("compare", *given, "--test", "t")
    assert "are not in [0, 1]" in said["margins"][MEASURE]["source"]
    assert {row["noticeable"] for row in said["pairs"]} == {None}
    scores = cli.json("score", *given, "--satisfaction")["effectiveness"]
    assert {row["p_sat"] for row in scores} == {None}
    assert max(row["mean"] for row in scores) > 1


def test_means_of_data_sets_in_folders_are_compared_and_said_to_be_means(here: Path, cli: Terminal) -> None:
    for system, shift in (("bm25", 0.0), ("dense", 0.1)):
        Path("beir", system).mkdir(parents=True)
        for i, dataset in enumerate(("fiqa", "nfcorpus", "scifact")):
            content = {"ndcg": {"NDCG@10": 0.3 + shift + i**2 / 100}}
            Path("beir", system, f"{dataset}.json").write_text(json.dumps(content))
    said = cli.json("compare", "--effectiveness", "beir", "-m", "nDCG@10", "--test", "wilcoxon")
    (pair,) = said["pairs"]
    assert (pair["system"], pair["difference"], pair["n_queries"]) == ("dense", pytest.approx(0.1), 3)
    assert "Means of data sets: each counts as one query, so that answers are about other data sets." in said["notes"]


def test_missing_cells_are_named_below_the_table(here: Path, cli: Terminal) -> None:
    table = pl.read_csv("wide.csv")
    query = table["query_id"][3]
    table.with_columns(pl.when(pl.col("query_id") != query).then(pl.col("ZX1")).alias("ZX1")).write_csv("holes.csv")
    said = cli.json("score", "--effectiveness", "holes.csv")
    assert (
        said["notes"][0]
        == f"holes.csv: missing: 'ZX1' lacks '{query}'; 9 of 10 queries that every system has are left."
    )
    complete = table.filter(pl.col("query_id") != query)
    means = {row["system"]: row["mean"] for row in said["effectiveness"]}
    assert means == {name: pytest.approx(np.mean(complete[name].to_numpy())) for name in means}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("score",), "expected judgments and runs, or --effectiveness with a table, and not both"),
        (("compare", *RUNS, "--effectiveness", "long.csv"), "expected judgments and runs, or --effectiveness"),
        (("score", "--effectiveness", "long.csv", "--missing", "drop"), "--missing is for judgments and runs"),
        (("report", "--effectiveness", "long.csv", "--experts", "x"), "--experts is for judgments and runs"),
        (
            ("score", "--effectiveness", "wide.csv", "same.csv", "-m", "AP"),
            "same.csv: expected other queries or systems",
        ),
        (("score", "--effectiveness", "=long.csv"), "expected FILE or NAME=FILE, got '=long.csv'"),
        (("score", "--effectiveness", "long.csv", "-m", "nDCG@7"), "No measure is called 'nDCG@7'"),
        (
            ("compare", "--effectiveness", "twice.csv"),
            "twice.csv:1: expected one value for each system and query, got 2",
        ),
        (("plan", "--effectiveness", "old.csv", "new.csv"), "expected data sets that share systems, got none that has"),
        (("report", "--effectiveness", "none.csv"), "none.csv: cannot be read: no such file"),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, tuple) else "",
)
def test_what_tables_cannot_do_is_refused_in_one_line(
    words: tuple[str, ...], message: str, here: Path, cli: Terminal
) -> None:
    Path("same.csv").write_bytes(Path("wide.csv").read_bytes())
    Path("twice.csv").write_text("system,query,value\na,1,0.5\na,1,0.6\nb,1,0.5\nb,1,0.7\n")
    Path("old.csv").write_text("query,a,b\n1,0.5,0.6\n2,0.3,0.4\n")
    Path("new.csv").write_text("query,c,d\n7,0.5,0.6\n8,0.3,0.4\n")
    assert message in cli.refused(*words)
