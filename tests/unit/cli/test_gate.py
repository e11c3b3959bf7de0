"""adjudge gate: its exit codes, its forms, and the workflow of the documentation."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as Tree

import pytest
import yaml
from tests.unit.cli.conftest import Terminal, typed

DOCS = Path(__file__).parents[3] / "docs" / "howto"


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Thirty queries, each with one relevant document: first in good.run, third in bad.run, mixed in fair.run."""
    monkeypatch.chdir(tmp_path)
    orders = {"good": ["rab"] * 30, "bad": ["abr"] * 30, "fair": ["arb", "rab", "rab"] * 10}
    for name, rankings in orders.items():
        lines = [f"q{q} Q0 {d} 0 {-i} same" for q, ranking in enumerate(rankings) for i, d in enumerate(ranking)]
        Path(f"{name}.run").write_text("\n".join(lines) + "\n")
        values = [f"q{q},{1 / (ranking.index('r') + 1)}" for q, ranking in enumerate(rankings)]
        Path(f"{name}.csv").write_text("query,RR\n" + "\n".join(values) + "\n")
    Path("other.csv").write_text("query,AP\nq0,0.5\nq1,0.5\n")
    Path("many.csv").write_text("query,mine,yours\nq0,0.5,0.5\nq1,0.5,0.25\n")
    Path("few.csv").write_text("query,RR\nq0,0.5\nq1,\nelsewhere,1\n")
    for name in ("good", "fair"):
        Path(f"{name}-wide.csv").write_text(Path(f"{name}.csv").read_text().replace("RR", "mine"))
    Path("most.csv").write_text("\n".join(Path("good.csv").read_text().splitlines()[:25]) + "\n")
    Path("qrels").write_text("".join(f"q{q} 0 r 1\n" for q in range(30)))
    return tmp_path


def test_it_exits_with_1_where_the_new_system_is_worse_and_0_where_not(cli: Terminal) -> None:
    failed = cli(*typed("gate good.run bad.run --judgments qrels -m RR"))
    assert failed.code == 1
    first, second, third = failed.out.splitlines()
    assert first == "FAILED: bad.run is worse than good.run, with 95 % confidence."
    assert second.startswith("RR: 1.0000 -> 0.3333, difference -0.6667 (90 % interval -0.6667 to -0.6667)")
    assert third == "The difference in RR is the same on all 30 queries; what more would show is not known."
    assert cli(*typed("gate bad.run good.run --judgments qrels -m RR")).code == 0


def test_tables_of_effectiveness_decide_as_runs_do(cli: Terminal) -> None:
    by_runs = json.loads(cli(*typed("gate good.run fair.run --judgments qrels -m RR --margin 0.01 --json")).out)
    by_tables = json.loads(cli(*typed("gate good.csv fair.csv --margin 0.01 --json")).out)
    numbers = ("base", "new", "difference", "low", "high", "p_worse", "p_no_worse", "verdict", "n_queries")
    for name in numbers:
        assert by_runs["measures"][0][name] == by_tables["measures"][0][name]
    assert (by_runs["passed"], by_runs["measures"][0]["verdict"]) == (False, "worse")


def test_a_measure_that_tables_do_not_name_is_named_by_an_option(cli: Terminal) -> None:
    named = json.loads(cli(*typed("gate good.csv fair.csv --json")).out)
    given = json.loads(cli(*typed("gate good-wide.csv fair-wide.csv -m RR --json")).out)
    assert given["measures"] == named["measures"]


@pytest.mark.parametrize("option", ["", "--missing error"])
def test_a_table_that_lacks_queries_of_the_base_does_not_pass(cli: Terminal, option: str) -> None:
    assert cli.refused(*typed(f"gate good.csv most.csv {option}")) == (
        "adjudge: most.csv: expected all queries of good.csv, got 6 of 30 queries missing: 'q24', 'q25', 'q26' and 3 "
        "more; --missing drop leaves them out\n"
    )


@pytest.mark.parametrize("command", ["gate good.csv most.csv --missing drop", "gate most.csv good.csv"])
def test_queries_that_are_dropped_are_in_the_verdict(cli: Terminal, command: str) -> None:
    said = cli(*typed(command))
    assert said.code == 0
    assert said.out.splitlines()[0].endswith("on the 24 of 30 queries that both have.")
    assert "6 queries of 30 left out, as a system lacks them: 'q24', 'q25', 'q26' and 3 more." in said.err


def test_it_writes_junit_and_markdown(cli: Terminal) -> None:
    said = cli(*typed("gate good.run fair.run --judgments qrels -m 'RR P@1' --junit gate.xml --markdown -"))
    assert said.code == 1
    title, _, head, rule, *rows = said.out.splitlines()
    assert title == "*FAILED: fair.run is worse than good.run, with 95 % confidence.*"
    assert head.count("|") == rule.count("|") == rows[0].count("|")
    assert [row.split("|")[1].strip() for row in rows[:2]] == ["RR", "P@1"]
    assert Tree.parse("gate.xml").getroot().get("failures") == "2"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("gate good.run good.run --judgments qrels", "got the same file twice"),
        ("gate good.run bad.run", "good.run: expected effectiveness, but this looks like a run"),
        ("gate good.csv bad.csv --scale broad", "--scale is for judgments and runs, not for tables of effectiveness"),
        ("gate good.csv other.csv", "expected tables with a measure in common, got RR and AP"),
        ("gate good.csv many.csv", "many.csv: expected effectiveness of one system, got 2"),
        (
            "gate good.csv few.csv --missing drop",
            "systems 'few.csv' and 'good.csv' share 1 query, a comparison needs at least 2",
        ),
        ("gate good.csv bad.csv --require no-worse", "needs a 'margin' above 0"),
        ("gate good.csv bad.csv --confidence 0.4", "'confidence' must be in (0.5, 1), got 0.4"),
        ("gate good.csv bad.csv --test tukey", "No test is called 'tukey'"),
        ("gate good.run bad.run --judgments qrels -m NDCG", "Did you mean 'nDCG'?"),
        ("gate good.csv bad.csv --junit nowhere/gate.xml", "nowhere"),
    ],
)
def test_bad_input_exits_with_2_and_one_line(cli: Terminal, command: str, message: str) -> None:
    said = cli(*typed(command))
    assert said.code == 2
    assert message in said.err
    assert said.err.count("\n") == 1


@pytest.mark.parametrize(("new", "code"), [("good", 0), ("bad", 1)])
def test_the_workflow_of_the_documentation_runs(files: Path, new: str, code: int) -> None:
    """Every step that runs something, as GitHub would: in bash, in order, on two commits; the job ends as the gate."""
    page = (DOCS / "gate_a_pipeline.md").read_text()
    (text,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    (job,) = yaml.safe_load(text)["jobs"].values()
    steps = [step["run"] for step in job["steps"] if "run" in step]
    assert steps.pop(0).startswith("pip install")
    checkout, summary = files / "checkout", files / "summary.md"
    python = Path(sys.executable).parent
    environment = {
        **os.environ,
        "GITHUB_STEP_SUMMARY": str(summary),
        "PATH": f"{python}:{os.environ['PATH']}",
        **{f"GIT_{role}_{field}": "ada@example.org" for role in ("AUTHOR", "COMMITTER") for field in ("NAME", "EMAIL")},
    }

    def bash(command: str) -> int:
        return subprocess.run(["bash", "-e", "-c", command], cwd=checkout, env=environment, check=False).returncode

    checkout.mkdir()
    (checkout / "qrels.txt").write_text((files / "qrels").read_text())
    for version in ("good", new):
        ranker = f"print(open({str(files / version) + '.run'!r}).read(), end='')\n"
        (checkout / "rank.py").write_text(ranker)
        assert bash("git init -q . && git add . && git commit -q --allow-empty -m version") == 0
    assert [bash(step) for step in steps] == [0, 0, code]
    assert Tree.parse(checkout / "gate.xml").getroot().get("failures") == str(code)
    assert summary.read_text().startswith("*FAILED" if code else "*PASSED")
