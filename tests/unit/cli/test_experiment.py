"""adjudge experiment: options reach the specification, folders are gone on with, one clear line for what cannot be."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.unit.cli.conftest import Terminal, typed

import adjudge as aj
from adjudge.cli import main
from adjudge.cli.experiment.options import KINDS, parse_sizes
from adjudge.errors import AdjudgeError

Capture = pytest.CaptureFixture[str]
QUICK = ("--trials", "3", "--workers", "1")
TABLE = ("--effectiveness", "ap.csv", *QUICK)
POWER = ("power", *TABLE, "--sizes", "6,9", "--test", "t")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table of 12 queries and 4 systems (ap.csv), another (p10.csv), strata, metadata of the queries."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    easy = rng.normal(size=(12, 1))
    for name in ("ap", "p10"):
        values = 0.5 + 0.05 * np.arange(4) + 0.1 * easy + 0.05 * rng.normal(size=(12, 4))
        rows = "".join(f"q{i},{','.join(map(str, row))}\n" for i, row in enumerate(values))
        Path(f"{name}.csv").write_text(f"query,w,x,y,z\n{rows}")
    genres = [f"q{i},{'Jazz' if i % 2 else 'Rock'}\n" for i in range(12)]
    Path("strata.csv").write_text("query,genre\n" + "".join(genres))
    Path("metadata.csv").write_text("document,genre\n" + "".join(genres))
    return tmp_path


def test_every_setting_of_every_experiment_is_an_option_and_no_other() -> None:
    from adjudge.experiments.spec import EXPERIMENTS

    settings = {name: {"trials", "seed", *kind.settings} for name, kind in KINDS.items()}
    assert settings == {name: {one.name for one in fields(kind)} for name, kind in EXPERIMENTS.items()}


def test_sizes_are_numbers_lists_and_ranges() -> None:
    assert parse_sizes("20") == (20,)
    assert parse_sizes("50, 10,20") == (10, 20, 50)
    assert parse_sizes("5-20/5,7-8") == (5, 7, 8, 10, 15, 20)


@pytest.mark.parametrize("text", ["", "5-", "a", "5..10", "10-5", "5-10/0", "-5", "1.5", "1,,2", "1-999999999"])
def test_malformed_sizes_and_far_too_many_are_refused(text: str) -> None:
    with pytest.raises(AdjudgeError, match=r"as 20, 10,20,50 or 5-100/5, got|at most 1,000 numbers of queries, got"):
        parse_sizes(text)


def test_the_conclusion_comes_first_and_the_folder_is_named_on_stderr(folder: Path, cli: Terminal) -> None:
    code, out, err = cli("experiment", *POWER)
    (kept,) = folder.glob("power-*")
    assert code == 0
    assert err == f"adjudge: note: trials are kept in {kept.name}\n"
    assert out.startswith("With all 12 queries")
    assert {path.name for path in kept.iterdir()} >= {"experiment.json", "effectiveness.parquet", "trials.parquet"}


def test_the_same_command_shows_what_is_there_and_more_trials_are_added_to_it(folder: Path, cli: Terminal) -> None:
    first = cli("experiment", *POWER, "--csv")
    assert cli("experiment", *POWER, "--csv") == (0, first[1], "")
    cli("experiment", *POWER, "--trials", "5")
    (kept,) = folder.glob("power-*")
    assert pl.read_parquet(kept / "trials.parquet")["trial"].unique().to_list() == [0, 1, 2, 3, 4]


def test_resuming_with_more_trials_gives_what_as_many_give_at_once(folder: Path, cli: Terminal) -> None:
    cli("experiment", *POWER, "--folder", "a")
    resumed = cli.out("experiment", "resume", "a", "--trials", "6", "--workers", "1", "--csv")
    at_once = cli.out("experiment", *POWER, "--trials", "6", "--folder", "b", "--csv")
    assert resumed == at_once
    assert (folder / "a" / "trials.parquet").read_bytes() == (folder / "b" / "trials.parquet").read_bytes()


def test_another_level_is_read_from_the_p_values_that_are_kept(cli: Terminal) -> None:
    cli("experiment", *POWER, "--folder", "a")
    rows = pl.read_parquet("a/trials.parquet").filter(pl.col("n_queries") == 9)
    (nine,) = [row for row in cli.rows("experiment", "show", "a", "--alpha", "0.2") if row["n_queries"] == "9"]
    assert nine["alpha"] == "0.2"
    assert float(nine["power"]) == pytest.approx((rows["t"] <= 0.2).mean())


def test_options_reach_the_specification(cli: Terminal) -> None:
    options = ("--test", "wilcoxon-1@0.01", "--test", "bootstrap+holm", "--resamples", "200", "--seed", "7")
    spec = cli.json("experiment", "power", *TABLE, "--sizes", "6-10/2", *options, "--enough", "0.8")["experiment"]
    assert spec["sizes"] == [6, 8, 10]
    assert spec["procedures"] == ["wilcoxon-1@0.01", "bootstrap+holm"]
    assert (spec["resamples"], spec["seed"], spec["trials"], spec["enough"]) == (200, 7, 3, 0.8)


def test_tables_are_samples_named_by_their_file_or_collection(cli: Terminal) -> None:
    quick = (*QUICK, "--sizes", "6", "--test", "t")
    cli("experiment", "power", "--effectiveness", "ap.csv", "--effectiveness", "p10.csv", *quick, "--folder", "two")
    assert aj.experiments.open_experiment("two").samples.names == ("ap", "p10")
    years = typed("--effectiveness 2010=ap.csv --effectiveness 2011=p10.csv")
    cli("experiment", "power", *years, *quick, "--folder", "years")
    assert [one.collection for one in aj.experiments.open_experiment("years").samples] == ["2010", "2011"]


def test_rows_have_the_same_columns_where_only_some_tables_are_of_named_collections(cli: Terminal) -> None:
    two = ("--effectiveness", "ap.csv", "--effectiveness", "2011=p10.csv")
    rows = cli.rows("experiment", "power", *two, *QUICK, "--sizes", "6", "--test", "t")
    assert {(row["sample"], row["collection"], row["measure"]) for row in rows} == {
        ("ap", "", "ap"),
        ("effectiveness (2011)", "2011", "effectiveness"),
    }


def test_systems_that_are_all_equal_have_no_power_in_a_table_with_others(cli: Terminal) -> None:
    Path("same.csv").write_text("query,w,x\n" + "".join(f"q{i},0.{i % 5 + 1},0.{i % 5 + 1}\n" for i in range(12)))
    two = ("--effectiveness", "same.csv", "--effectiveness", "ap.csv")
    rows = cli.rows("experiment", "errors", *two, *QUICK, "--sizes", "6", "--test", "t")
    found = {(row["sample"], row["test"], row["power"] == "") for row in rows}
    assert found == {("same", "t", True), ("ap", "t", False)}


def test_long_tables_are_left_to_files(cli: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adjudge.cli.experiment.running._MOST_ROWS", 2)
    out = cli.out("experiment", *POWER)
    assert "Power by number of queries. 3 rows: -o page.html or -o page.txt has them." in out
    assert "Lost" not in out
    cli("experiment", *POWER, "-o", "p.txt")
    assert "Lost" in Path("p.txt").read_text()


@pytest.mark.parametrize("options", [("--strata", "strata.csv"), ("--metadata", "metadata.csv", "--stratify", "genre")])
def test_strata_come_from_a_table_or_from_metadata(cli: Terminal, options: tuple[str, ...]) -> None:
    cli.out("experiment", *POWER, *options, "--folder", "a")
    assert aj.experiments.open_experiment("a").samples[0].strata == ("Rock", "Jazz") * 6


def test_measures_are_evaluated_on_every_scale(cli: Terminal, capsys: Capture) -> None:
    assert main(["demo", "--write", "demo", "--queries", "10", "--ranks", "5"]) == 0
    options = ("--scale", "fine", "-m", "CG@5", "--on", "fine,binary40", "--combinations", "P@5 on binary20")
    quick = (*QUICK, "--sizes", "5", "--test", "t", "--folder", "a")
    cli.out("experiment", "stability", "demo/fine.csv", "demo/runs", *options, *quick)
    assert aj.experiments.open_experiment("a").samples.names == ("CG@5 on fine", "CG@5 on binary40", "P@5 on binary20")
    report = ["report", "demo/fine.csv", "demo/runs", "--scale", "fine", "-m", "CG@5", "--resamples", "500"]
    assert main([*report, "--experiment", "a", "--section", "experiments", "-o", "page.md"]) == 0
    assert "How far conclusions like these can be trusted" in Path("page.md").read_text()
    assert "Stability of the evaluation" in Path("page.md").read_text()
    assert main([*report, "--experiment", "a", "--experiment", "a", "--section", "experiments", "-o", "two.md"]) == 0
    text = Path("two.md").read_text()
    heads = [line for line in text.splitlines() if line.startswith("#")][1:-1]
    parts = ["### How many results would not repeat", "### Conflicts over the number of queries"]
    named = [f"## Experiment {i}: Stability of the evaluation" for i in (1, 2)]
    assert heads == ["## How far conclusions like these can be trusted", named[0], *parts, named[1], *parts]
    summary = text.partition(named[0])[0]
    assert [summary.count(f"{name[3:]}. With 5 queries, ") for name in named] == [1, 1]
    assert [text.count(f"Experiment {i}: Conflicts of t at 0.05") for i in (1, 2, 3)] == [1, 1, 0]
    capsys.readouterr()
    for again in (("show", "a"), ("resume", "a")):
        assert "Grades converted to binary40: " in cli("experiment", *again, "--csv")[2]


@pytest.mark.parametrize("kind", [name for name in KINDS if name not in ("power", "stability")])
def test_every_kind_runs_and_is_read_again(cli: Terminal, kind: str) -> None:
    tests = ("--test", "t", "--test", "sign") if "procedures" in KINDS[kind].settings else ()
    content = cli.json("experiment", kind, *TABLE, "--sizes", "6", *tests, "--folder", "a")
    assert content["conclusion"]
    again = cli.json("experiment", "show", "a")
    assert again["table"] == content["table"]


def test_the_suffix_of_the_output_chooses_its_form(cli: Terminal) -> None:
    forms = {"p.json": "{", "p.csv": "sample,", "p.md": "# Power of the evaluation", "p.html": "<!doctype html>"}
    for name, beginning in forms.items():
        assert cli("experiment", *POWER, "-o", name)[:2] == (0, "")
        assert Path(name).read_text().startswith(beginning)
    cli("experiment", *POWER, "--figures", "figures", "-o", "p.txt")
    assert {path.suffix for path in Path("figures").iterdir()} == {".svg", ".pdf"}


BAD = {
    "unknown test": ((*POWER, "--test", "ttest"), "No test is called 'ttest'"),
    "too large": (("power", *TABLE, "--sizes", "13", "--test", "t"), "a set of 13 queries needs 13, got 12"),
    "two sets": (("stability", *TABLE, "--sizes", "7"), "2 disjoint sets of 7 queries"),
    "sizes": (("power", *TABLE, "--sizes", "5-"), "--sizes: expected numbers of queries"),
    "no trials": ((*POWER, "--trials", "0"), "'trials' must be a whole number from 1"),
    "file as folder": ((*POWER, "--folder", "ap.csv"), "ap.csv: expected a folder for the experiment, got a file"),
    "no metadata": ((*POWER, "--stratify", "genre"), "expected --metadata, got none"),
    "column": ((*POWER, "--metadata", "metadata.csv", "--stratify", "style"), "No metadata column is called 'style'"),
    "both strata": ((*POWER, "--stratify", "genre", "--strata", "strata.csv"), "--stratify and --strata both say"),
    "nothing": (("power", *QUICK), "expected judgments and runs, or --effectiveness with a table"),
    "scales of tables": ((*POWER, "-m", "ap", "--on", "fine"), "--on is for judgments and runs"),
    "twice": ((*POWER, "--effectiveness", "ap.csv"), "got 'ap' twice"),
    "empty name": (("power", "--effectiveness", "=ap.csv"), "expected FILE or NAME=FILE, got '=ap.csv'"),
    "overwritten": ((*POWER, "-o", "ap.csv"), "ap.csv: is an input, and would be overwritten"),
    "no folder": (("show", "nothing"), "nothing: expected the folder of an experiment"),
    "nothing to resume": (("resume", "nothing"), "nothing: expected the folder of an experiment"),
    "distribution": (("fit", *TABLE, "--distribution", "gauss"), "is called 'gauss'"),
    "null": (("errors", *TABLE, "--null", "median"), "No null hypothesis is called 'median'"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_run_is_refused_in_one_line(cli: Terminal, case: str) -> None:
    arguments, message = BAD[case]
    assert message in cli.refused("experiment", *arguments)


@pytest.mark.parametrize("options", [("--chunk", "0"), ("--workers", "0"), ("--dask", "nonsense")])
def test_a_refusal_leaves_no_folder(folder: Path, cli: Terminal, options: tuple[str, str]) -> None:
    before = sorted(folder.iterdir())
    cli.refused("experiment", *POWER, "--folder", "new/a", *options)
    assert sorted(folder.iterdir()) == before


def test_a_folder_of_something_else_is_refused_and_left_as_it_was(folder: Path, cli: Terminal) -> None:
    before = sorted(folder.iterdir())
    assert "expected an empty folder or an experiment, got ap.csv" in cli.refused("experiment", *POWER, "--folder", ".")
    assert sorted(folder.iterdir()) == before


def test_a_refusal_leaves_a_folder_that_was_there(cli: Terminal) -> None:
    cli("experiment", *POWER, "--folder", "a")
    before = {path.name: path.read_bytes() for path in Path("a").iterdir()}
    assert cli("experiment", "resume", "a", "--trials", "9", "--chunk", "0")[0] == 2
    assert before.keys() == {path.name for path in Path("a").iterdir()}
    assert before["trials.parquet"] == Path("a/trials.parquet").read_bytes()


def test_a_folder_of_another_experiment_is_refused_and_left_alone(folder: Path, cli: Terminal) -> None:
    cli("experiment", *POWER, "--folder", "a")
    before = (folder / "a" / "trials.parquet").read_bytes()
    said = cli.refused("experiment", *POWER, "--seed", "1", "--folder", "a")
    assert "holds another experiment: 'seed' is 0 there, 1 here" in said
    assert (folder / "a" / "trials.parquet").read_bytes() == before


def test_levels_are_of_experiments_with_tests(cli: Terminal) -> None:
    cli("experiment", "reliability", *TABLE, "--sizes", "6", "--folder", "a")
    said = cli.refused("experiment", "show", "a", "--alpha", "0.01")
    assert "--alpha is about tests, and the experiment reliability has none" in said


def test_an_interruption_says_what_is_kept_and_how_to_go_on(
    folder: Path, cli: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    from adjudge.experiments import run as running

    def interrupted(*_: Any, progress: Any, **__: Any) -> None:
        progress(0, 3)
        progress(2, 3)
        raise KeyboardInterrupt

    monkeypatch.setattr(running, "run_experiment", interrupted)
    code, _, err = cli("experiment", *POWER, "--folder", "a b")
    assert code == 130
    assert err.splitlines()[-1] == (
        "adjudge: interrupted; 2 of 3 trials are kept in a b; go on with: adjudge experiment resume 'a b'"
    )
