"""Every command has its function, which says the same with the same defaults."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import adjudge as aj
from adjudge.cli import main

FILES = ["judgments.tsv", "runs.tsv", "--scale", "fine", "-m", "CG@5"]


@pytest.fixture
def collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> aj.Collection:
    monkeypatch.chdir(tmp_path)
    demo = aj.demo(queries=12, depth=5)
    aj.write(demo.runs, "runs.tsv")
    aj.write(demo.need_judgments(), "judgments.tsv")
    return aj.read("runs.tsv", "judgments.tsv", scale="fine")


def said(command: str, *options: str) -> dict[str, Any]:
    assert main([command, *FILES, *options, "--json", "-o", "said.json"]) == 0
    found = json.loads(Path("said.json").read_text())
    return {name: value for name, value in found.items() if name != "provenance"}


def test_plan(collection: aj.Collection) -> None:
    made = aj.plan(collection, "CG@5", cutoffs=[3], budget=500, interval="none")
    told = said("plan", "--cutoff", "3", "--budget", "500", "--interval", "none")
    assert told["verdict"] == made.verdict()
    assert told["designs"]["pools"] == pytest.approx(made.to_dict()["designs"]["pools"])
    table = aj.plan(aj.evaluate(collection, "CG@5"), interval="none", pool=made.to_dict()["designs"]["pools"]["CG@5"])
    assert table.needed("phi") == aj.plan(collection, "CG@5", assessors="combined", interval="none").needed("phi")


@pytest.mark.parametrize("wrong", [{"pool": 5, "cutoffs": [3]}, {"pool": 5, "systems": 3}])
def test_a_plan_says_how_many_to_judge_once(collection: aj.Collection, wrong: dict[str, Any]) -> None:
    with pytest.raises(aj.errors.ParameterError, match="'pool'"):
        aj.plan(collection, "CG@5", **wrong)


def test_a_plan_of_effectiveness_knows_no_runs(collection: aj.Collection) -> None:
    eff = aj.evaluate(collection, "CG@5")
    for wrong in ({"cutoffs": [3]}, {"budget": 5.0}, {"assessors": "combined"}):
        with pytest.raises(aj.AdjudgeError, match=r"collection|'pool'"):
            aj.plan(eff, **wrong)


def test_simulate(collection: aj.Collection) -> None:
    found = aj.simulate(collection, "CG@5", estimators=["uniform"], rules=["information", "random"], seeds=2, workers=1)
    told = said("simulate", "--estimator", "uniform", "--rule", "information", "--rule", "random", "--seeds", "2")
    assert told["runs"] == found.to_dicts()
    assert [len(runs) for runs in found] == [2, 2]


def test_calibrate(collection: aj.Collection) -> None:
    found = aj.calibrate(collection, "CG@5", estimators="uniform", samples=2, workers=1)
    assert said("calibrate", "--estimator", "uniform", "--samples", "2")["methods"] == found.to_dicts()


def test_report(collection: aj.Collection, tmp_path: Path) -> None:
    aj.report(collection, "CG@5", output="mine.json", test="t")
    assert main(["report", *FILES, "--test", "t", "-o", "theirs.json"]) == 0
    mine, theirs = (json.loads(Path(name).read_text()) for name in ("mine.json", "theirs.json"))
    assert mine["sections"] == theirs["sections"]
    with pytest.raises(aj.AdjudgeError, match=r"reports are written as"):
        aj.report(collection, "CG@5", output=tmp_path / "page.docx")
