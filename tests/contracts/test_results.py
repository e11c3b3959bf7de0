"""What every result must obey: one language, columns that are declared once, and nothing lost on the way."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import adjudge as aj
from adjudge.experiments.simulate.collection import fit_collection
from adjudge.experiments.spec import EXPERIMENTS
from adjudge.formats import read_effectiveness
from adjudge.groundtruth.comparing import compare_constructions
from adjudge.groundtruth.simulated import simulate_rankings
from adjudge.measures import evaluate_assessors
from adjudge.model.scales import FINE
from adjudge.preferences.curves import agreement_bins
from adjudge.preferences.participants import influence, quality
from adjudge.preferences.questions import coverage_of
from adjudge.preferences.simulated import example_study, operating
from adjudge.results import Column, Result, load_result
from adjudge.stats.agreement import Ratings
from adjudge.stats.agreement_coefficients import drift, self_consistency
from adjudge.stats.effects import effect_sizes, equivalence
from adjudge.stats.gtheory.anova import anova
from adjudge.stats.gtheory.plan import make_plan
from adjudge.stats.gtheory.reml import reml
from adjudge.stats.paired import paired_tests
from adjudge.text import text_width

AWKWARD = "a_1 & <b>|√ 音"


@cache
def eff() -> aj.Effectiveness:
    """Effectiveness of the demo; a system has an awkward name, and a query was left out on purpose."""
    made = aj.evaluate(aj.demo(queries=12, depth=5), ["CG@5", "nDCG@5"])
    values = made.values.copy()
    values[0, 1] = np.nan
    return replace(made, values=values, systems=(AWKWARD, *made.systems[1:]))


@cache
def complete() -> aj.Effectiveness:
    """The same under one measure without gaps."""
    return aj.evaluate(aj.demo(queries=12, depth=5), "CG@5")


def few() -> aj.Effectiveness:
    return complete().select(systems=complete().systems[:4])


def of_datasets() -> aj.Effectiveness:
    return replace(few(), datasets=tuple("abc"[i % 3] for i in range(12)))


def halves() -> dict[str, list[str]]:
    return {"query": list(complete().queries), "half": [AWKWARD, "b"] * 6}


@cache
def session() -> Any:
    return aj.judging(aj.demo(queries=5, depth=5), "CG@5", estimator="uniform")


@cache
def learnt() -> Any:
    return aj.learn(example_study(), ["CG@2 on fine", "P@2 on fine"], resamples=20)


@cache
def rankings() -> Any:
    return simulate_rankings(queries=3, documents=8, experts=12, groups=4).rankings


def experiment(name: str) -> Result:
    settings: dict[str, dict[str, Any]] = {
        "errors": {"sizes": (12,), "procedures": ("t", "sign")},
        "fit": {"sizes": (6,)},
        "power": {"sizes": (6,), "procedures": ("t", "sign")},
        "reliability": {"sizes": (6,)},
        "stability": {"sizes": (6,), "procedures": ("t", "sign")},
        "tests": {"sizes": (6,), "procedures": ("t", "sign"), "resamples": 100},
    }
    return aj.experiment(aj.experiments.EXPERIMENTS[name](trials=4, **settings.get(name, {})), few(), workers=1)


def rated() -> Ratings:
    rows = [
        (f"q{i % 4}", f"d{i}", who, (i * 7 + k) % 3) for i in range(20) for k, who in enumerate(("ann", "bob", "cy"))
    ]
    return Ratings.from_rows(rows)


RESULTS: dict[str, Callable[[], Result]] = {
    "effectiveness": eff,
    "effectiveness with bounds": lambda: aj.evaluate(aj.demo(queries=5, depth=5), "CG@5", unjudged="bounds"),
    "by assessor": lambda: evaluate_assessors(aj.demo(queries=5, depth=5), "CG@5"),
    "summary": lambda: aj.summarize(eff()),
    "satisfaction": lambda: aj.satisfaction(eff()),
    "comparison": lambda: aj.compare(eff()["CG@5"], test="t"),
    "comparison without users": lambda: aj.compare(eff()["nDCG@5"], test="wilcoxon"),
    "gate": lambda: aj.gate(eff(), base="KLN2", new="ZX1", margin=0.01),
    "leaderboard": lambda: aj.leaderboard(complete(), resamples=500),
    "leaderboard of data sets": lambda: aj.leaderboard(of_datasets(), resamples=500),
    "leaderboard of slices": lambda: aj.leaderboard(complete(), slices=halves(), resamples=500).slices[0],
    "explanations": lambda: aj.explain({"q": {"a": 2.0, "b": 1.0}}, {"q": {"a": 1, "b": 2}}, "nDCG@5", value="0.8"),
    "paired tests": lambda: paired_tests(complete(), test="t"),
    "effect sizes": lambda: effect_sizes(few().matrix()),
    "equivalence": lambda: equivalence(few().matrix(), margin=0.1),
    "anova": lambda: anova(few().matrix()),
    "reml": lambda: reml(few().matrix(), aj.gstudy(few()).design),
    "G-study": lambda: aj.gstudy(complete()),
    "D-study": lambda: aj.gstudy(complete()).dstudy(queries=[5, 50]),
    "plan": lambda: make_plan(complete()),
    "agreement": lambda: aj.agreement(rated(), resamples=100),
    "self-consistency": lambda: self_consistency([20, 50, 80, 90], [25, 50, 70, 95], FINE),
    "self-consistency of nothing": lambda: self_consistency([], [], FINE),
    "drift": lambda: drift([3, 2, 3, 2, 2, 3, 1, 2, 1, 2, 1, 0], [2.0] * 12),
    "estimated ranking": lambda: session().ranking(),
    "estimated pairs": lambda: session().pairs(),
    "status": lambda: session().status(),
    "audit": lambda: session().audit(),
    "simulations": lambda: aj.simulate(aj.demo(queries=5, depth=5), "CG@5", estimators="uniform", seeds=2, workers=1),
    "calibrations": lambda: aj.calibrate(
        aj.demo(queries=5, depth=5), "CG@5", estimators="uniform", samples=2, workers=1
    ),
    "learnt": learnt,
    "predictions": lambda: learnt().predicts_agreement,
    "bins": lambda: agreement_bins(example_study(), "CG@2", "fine").agree,
    "quality": lambda: quality(example_study(), resamples=100),
    "influence": lambda: influence(example_study()),
    "operating characteristics": lambda: operating(people=3, n=20),
    "coverage": lambda: coverage_of(example_study().questions, ["CG@2 on fine"]),
    "ground truth": lambda: aj.ground_truth(rankings()),
    "lists": lambda: aj.ground_truth(rankings()).lists,
    "constructions": lambda: compare_constructions(rankings(), ["All-2", "Any-1"], halves=1),
    "fidelity": lambda: fit_collection(few().matrix()).fidelity(few().matrix(), np.random.default_rng(0), repeats=3),
    **{f"experiment {name}": lambda name=name: experiment(name) for name in EXPERIMENTS},  # type: ignore[misc]
}

every_result = pytest.mark.parametrize("name", RESULTS)


@cache
def made(name: str) -> Result:
    return RESULTS[name]()


@every_result
def test_columns_say_what_they_are_and_rows_have_them_all(name: str) -> None:
    result = made(name)
    columns = result.columns
    assert len({column.name for column in columns}) == len(columns) > 0
    assert all(column.about and isinstance(column, Column) for column in columns)
    rows = result.to_dicts()
    assert rows, "an empty result shows nothing"
    assert all(list(row) == [column.name for column in columns] for row in rows)
    kinds: dict[str, Any] = {"text": str, "whole": int, "number": (int, float), "truth": bool, "names": list}
    for column in columns:
        for row in rows:
            value = row[column.name]
            assert value is None or isinstance(value, kinds[column.kind]), (column.name, value)
            assert not (isinstance(value, float) and math.isnan(value)), column.name


@every_result
def test_frames_have_the_declared_types_and_the_same_values(name: str) -> None:
    result, rows = made(name), made(name).to_dicts()
    frame = result.to_polars()
    kinds = {"text": pl.String, "whole": pl.Int64, "number": pl.Float64, "truth": pl.Boolean}
    assert dict(frame.schema) == {c.name: kinds.get(c.kind, pl.List(pl.String)) for c in result.columns}
    assert frame.to_dicts() == rows
    table = result.to_pandas()
    assert list(table.columns) == list(rows[0])
    for column in result.columns:
        missing = [row[column.name] is None for row in rows]
        assert table[column.name].isna().tolist() == missing
        assert table[column.name].dtype.kind in {"number": "f", "whole": "i", "truth": "b"}.get(column.kind, "OUT")


@every_result
def test_json_is_valid_and_has_everything(name: str) -> None:
    result = made(name)
    content = json.loads(result.to_json(), parse_constant=pytest.fail)
    about = content.pop("result")
    assert [column["name"] for column in about["columns"]] == [column.name for column in result.columns]
    finite = [{k: None if v in (math.inf, -math.inf) else v for k, v in row.items()} for row in result.to_dicts()]
    assert content[about["rows"]] == finite
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False)) == result.to_dict()


@every_result
def test_a_saved_result_reads_back(name: str, tmp_path: Path) -> None:
    result = made(name)
    result.save(tmp_path / "kept.json")
    kept = load_result(tmp_path / "kept.json")
    assert (kept.kind, kept.title) == (type(result).__name__, result.title)
    assert kept.to_dicts() == json.loads(result.to_json())[json.loads(result.to_json())["result"]["rows"]]
    assert kept.to_polars().schema == result.to_polars().schema


@every_result
def test_a_loaded_result_shows_and_saves_the_same(name: str, tmp_path: Path) -> None:
    result = made(name)
    result.save(tmp_path / "kept.json")
    kept = load_result(tmp_path / "kept.json")
    for form in (str, Result.to_markdown, Result.to_latex, Result._repr_html_, Result.to_json):
        assert form(kept) == form(result)


@every_result
def test_csv_has_a_line_for_every_row(name: str) -> None:
    result = made(name)
    rows = list(csv.DictReader(io.StringIO(result.to_csv())))
    assert len(rows) == len(result.to_dicts())
    assert list(rows[0]) == [column.name for column in result.columns]
    assert "nan" not in result.to_csv().lower().split(",")


@every_result
@pytest.mark.parametrize("width", [80, 40])
def test_printing_fits_the_terminal(name: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    text = str(made(name))
    assert max(map(text_width, text.splitlines())) <= width
    assert len(text.splitlines()) < 400
    assert not re.search(r"\bnan\b", text)


class _Cells(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.rows: list[int] = []

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append(0)
        if tag in ("td", "th"):
            self.rows[-1] += 1


@every_result
def test_notebooks_show_a_table_that_needs_nothing_else(name: str) -> None:
    text = made(name)._repr_html_()
    page = _Cells()
    page.feed(text)
    assert page.tags <= {"div", "style", "table", "caption", "thead", "tbody", "tr", "th", "td", "p", "strong"}
    assert "<b>" not in text
    assert not re.search(r"url\(|https?:", text.replace("https://doi.org", ""))
    assert len(text) < 200_000


@every_result
def test_markdown_and_latex_have_as_many_cells_in_every_row(name: str) -> None:
    result = made(name)
    tables = result.to_markdown().split("\n\n")
    for table in tables:
        lines = [line for line in table.splitlines() if line.startswith("|")]
        assert len({len(re.split(r"(?<!\\)\|", line)) for line in lines}) <= 1
    text = "".join(line for line in result.to_latex().splitlines(keepends=True) if not line.startswith("%"))
    text = re.sub(r"\\ifdefined\\adjudgechar.*?\n\\fi\n", "", text, flags=re.DOTALL)
    for body in re.findall(r"\\toprule\n(.*?)\\bottomrule", text, flags=re.DOTALL):
        lines = [line for line in body.splitlines() if line.endswith(r"\\")]
        lines = [line.replace(r"\multicolumn{2}{c}", "&") for line in lines]
        assert len({len(re.split(r"(?<!\\)&", line)) for line in lines}) == 1
    assert not re.search(r"(?<!\\)[_%#]", re.sub(r"\$[^$]*\$", "", text))


@every_result
def test_repr_is_a_line(name: str) -> None:
    assert len(repr(made(name)).splitlines()) == 1
    assert len(repr(made(name))) < 300


def test_effectiveness_that_was_saved_is_effectiveness_again(tmp_path: Path) -> None:
    for suffix in ("json", "csv", "parquet"):
        complete().save(tmp_path / f"eff.{suffix}")
        again = read_effectiveness(tmp_path / f"eff.{suffix}")
        assert isinstance(again, aj.Effectiveness)
        assert again.systems == complete().systems
        assert again.values == pytest.approx(complete().values)


def test_a_saved_ground_truth_holds_its_lists(tmp_path: Path) -> None:
    truth = aj.ground_truth(rankings())
    truth.save(tmp_path / "truth.json")
    kept = load_result(tmp_path / "truth.json")
    assert aj.groundtruth.PartialLists.from_groups(kept.facts["lists"]) == truth.lists
