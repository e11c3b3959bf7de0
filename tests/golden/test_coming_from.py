"""What the pages for people from other tools say in tables, besides what they execute."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd
import pytest
from scripts.docs.pages import ROOT

import adjudge as aj

_PAGES = ("trec_eval", "ir_measures", "ranx")
_NAME = re.compile(r"^\| `(?P<theirs>[^`]+)` \| `(?P<ours>[^`]+)` \|$", re.MULTILINE)


def _names(page: str) -> list[tuple[str, str]]:
    """The table below *Names of measures*: their spelling, ours."""
    text = (ROOT / "docs" / "coming_from" / f"{page}.md").read_text(encoding="utf-8")
    table = text.partition("### Names of measures")[2].partition("\n## ")[0]
    return [(found["theirs"], found["ours"]) for found in _NAME.finditer(table)]


@pytest.mark.parametrize("page", _PAGES)
def test_both_spellings_of_a_measure_are_understood(page: str) -> None:
    names = _names(page)
    assert len(names) >= 4
    for theirs, ours in names:
        assert str(aj.parse_measure(theirs)) == ours, f"{page}: {theirs}"


@pytest.mark.parametrize("page", _PAGES)
def test_measures_said_not_to_be_there_are_not_there(page: str) -> None:
    text = (ROOT / "docs" / "coming_from" / f"{page}.md").read_text(encoding="utf-8")
    said = re.search(r"There is no (.*?)\.(?: What|\n)", text, re.DOTALL)
    assert said is not None
    for name in re.findall(r"`([^`]+)`", said[1]):
        with pytest.raises(aj.AdjudgeError, match=r"No measure|Expected a measure"):
            aj.parse_measure(name)


def test_pytrec_eval_refuses_a_document_that_is_there_twice() -> None:
    import pytrec_eval

    with pytest.raises(AssertionError):
        pytrec_eval.parse_run(["1 Q0 a 1 3 t", "1 Q0 a 2 1 t"])


def test_ir_measures_wants_numbers_as_query_identifiers_for_err(capfd: pytest.CaptureFixture[str]) -> None:
    import ir_measures

    err = ir_measures.parse_measure("ERR@5")
    with pytest.raises(Exception, match="perl"):
        ir_measures.calc_aggregate([err], {"q1": {"a": 1}}, {"q1": {"a": 1.0}})
    assert "format error" in capfd.readouterr().err


def test_ranx_refuses_runs_that_lack_queries(ranx: Any) -> None:
    with pytest.raises(AssertionError, match="make_comparable"):
        ranx.evaluate(ranx.Qrels({"1": {"a": 1}, "2": {"b": 1}}), ranx.Run({"1": {"a": 1.0}}), "mrr")


def test_ranx_prints_comparisons_of_up_to_26_systems(ranx: Any) -> None:
    queries = ("1", "2")
    runs = [ranx.Run({query: {"a": 1.0} for query in queries}, name=f"run {i}") for i in range(27)]
    report = ranx.compare(ranx.Qrels({query: {"a": 1} for query in queries}), runs, ["mrr"], "fisher", 1)
    with pytest.raises(IndexError, match="range"):
        str(report)


@pytest.mark.skipif(int(pd.__version__.partition(".")[0]) < 3, reason="strings are objects before pandas 3")
def test_ranx_refuses_frames_of_pandas_3_and_we_read_them(ranx: Any) -> None:
    frame = pd.DataFrame({"q_id": ["1"], "doc_id": ["a"], "score": [1.0]})
    with pytest.raises(AssertionError, match="dtype"):
        ranx.Run.from_df(frame)
    assert len(aj.read(frame, {"1": {"a": 1}}, scale="binary").runs.systems) == 1


def test_ranx_does_not_correct_students_test_and_its_permutation_test_may_give_0(ranx: Any) -> None:
    queries = [str(i) for i in range(20)]
    qrels = {query: {"a": 1} for query in queries}
    best: dict[str, dict[str, float]] = {query: {"a": 2.0, "b": 1.0} for query in queries}
    worst = {query: {"a": 1.0, "b": 2.0, "c": 3.0 if i % 2 else 0.0} for i, query in enumerate(queries)}
    runs = [ranx.Run(best, name="best"), ranx.Run(worst, name="worst")]
    pair, found = frozenset(("best", "worst")), {}
    for test in ("student", "fisher"):
        found[test] = ranx.compare(ranx.Qrels(qrels), runs, ["mrr"], stat_test=test, n_permutations=100)
    eff = aj.evaluate(aj.read({"best": best, "worst": worst}, qrels, scale="binary"), "RR")
    ours = aj.compare(eff, test="t", correction="none").of("best", "worst").p
    assert found["student"].comparisons[pair]["mrr"]["p_value"] == pytest.approx(ours)
    assert found["fisher"].comparisons[pair]["mrr"]["p_value"] == 0
    assert aj.compare(eff, resamples=100).of("best", "worst").p > 0
