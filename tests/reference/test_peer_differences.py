"""Where other tools mean something else, break ties otherwise or fail, as the docstrings of our measures say."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from tests.reference.peers import quiet

import adjudge as aj
from adjudge.measures import MEASURES

Scores = dict[str, dict[str, float]]  # query -> document -> score


def docstring(name: str) -> str:
    """What a measure says of itself, on one line."""
    return " ".join(MEASURES[name].docstring.split())


def test_trec_eval_compares_scores_in_single_precision_and_so_do_we() -> None:
    runs: Scores = {"1": {"a": 1.0 + 1e-9, "b": 1.0}}
    import pytrec_eval

    theirs = pytrec_eval.RelevanceEvaluator({"1": {"a": 1}}, ["recip_rank"]).evaluate(runs)["1"]["recip_rank"]
    ours = aj.evaluate(aj.read({"s": runs}, {"1": {"a": 1}}), "RR").values[0, 0, 0]
    assert theirs == ours == 1 / 2  # tied, so that b, the last identifier, comes first


def test_a_negative_grade_is_a_judgment_for_our_bpref_and_none_for_trec_evals() -> None:
    import pytrec_eval

    run: Scores = {"1": {"spam": 2.0, "good": 1.0}}
    qrels = {"1": {"spam": -1, "good": 1}}
    assert pytrec_eval.RelevanceEvaluator(qrels, ["bpref"]).evaluate(run)["1"]["bpref"] == 1
    assert aj.evaluate(aj.read({"s": run}, qrels), "Bpref").values[0, 0, 0] == 0
    assert "a negative grade here is a judgment" in docstring("Bpref")


def test_trec_eval_refuses_real_valued_grades_and_we_take_them() -> None:
    import pytrec_eval

    with pytest.raises(TypeError, match="integer"):
        pytrec_eval.RelevanceEvaluator({"1": {"a": 0.5}}, ["ndcg"])
    assert aj.evaluate(aj.read({"s": {"1": ["a"]}}, {"1": {"a": 0.5}}), "nDCG").values[0, 0, 0] == 1


def test_ir_measures_breaks_ties_both_ways() -> None:
    import ir_measures

    run: Scores = {"1": {"a": 1.0, "b": 1.0}}
    qrels = {"1": {"a": 1}}
    names = ["RR", "RR@2", "Judged@1"]
    parsed = [ir_measures.parse_measure(name) for name in names]
    theirs = {
        str(metric.measure): metric.value for metric in quiet(lambda: list(ir_measures.iter_calc(parsed, qrels, run)))
    }
    eff = aj.evaluate(aj.read({"s": run}, qrels), names)
    assert [theirs[name] for name in names] == [1 / 2, 1, 1]
    assert eff.values[0, 0].tolist() == [1 / 2, 1 / 2, 0]  # one rule: the last identifier first
    for name in ("RR", "Judged"):
        assert "ir_measures breaks ties" in docstring(name)


def test_gdeval_takes_4_as_the_highest_grade_whatever_the_scale() -> None:
    import ir_measures

    run: Scores = {"1": {"a": 1.0}}
    theirs = quiet(
        lambda: next(iter(ir_measures.iter_calc([ir_measures.parse_measure("ERR@5")], {"1": {"a": 1}}, run)))
    )
    assert theirs.value == 0.0625  # 1 / 16
    for scale, value in (("binary", 1 / 2), ("broad", 1 / 4), ("0..4", 1 / 16)):
        assert aj.evaluate(aj.read({"s": run}, {"1": {"a": 1}}, scale=scale), "ERR@5").values[0, 0, 0] == value
    assert "they agree where that is 4" in docstring("ERR")


def compiled_ranx(qrels: object, run: object, measure: str) -> list[float]:
    """What ranx says by query in a process that compiles it; the tests' own process does not, to save a minute."""
    values = f"ranx.evaluate(ranx.Qrels({qrels!r}), ranx.Run({run!r}), {measure!r}, return_mean=False)"
    program = f"import ranx; print({values}.tolist())"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "0", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, check=True, capture_output=True, text=True)
    found: list[float] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_ranx_breaks_ties_by_insertion(ranx: Any) -> None:
    qrels = {"1": {"a": 1}}
    for run in ({"1": {"a": 1.0, "b": 1.0}}, {"1": {"b": 1.0, "a": 1.0}}):
        theirs = quiet(ranx.evaluate, ranx.Qrels(qrels), ranx.Run(run), "mrr")
        assert theirs == (1 if list(run["1"]) == ["a", "b"] else 1 / 2)
        assert aj.evaluate(aj.read({"s": run}, qrels), "RR").values[0, 0, 0] == 1 / 2


def test_bpref_of_ranx_falters_where_all_judged_documents_are_relevant_or_none(ranx: Any) -> None:
    run: Scores = {"1": {"x": 1.0}, "2": {"a": 2.0, "b": 1.0}}
    all_relevant = {"2": {"a": 1, "b": 1}}
    assert math.isnan(quiet(ranx.evaluate, ranx.Qrels(all_relevant), ranx.Run({"2": run["2"]}), "bpref"))
    assert aj.evaluate(aj.read({"s": {"2": run["2"]}}, all_relevant), "Bpref").values[0, 0, 0] == 1
    one_without = {"1": {"x": 0}, "2": {"a": 1, "b": 0}}
    # Compiled, as people use it, the division by zero for query 1 ends the loop before query 2.
    assert compiled_ranx(one_without, run, "bpref") == [0, 0]
    assert aj.evaluate(aj.read({"s": run}, one_without), "Bpref").matrix().tolist() == [[0], [1]]
    assert "without the latter ranx gives NaN, and without the former 0 also for queries" in docstring("Bpref")


def test_ranx_truncates_real_valued_grades_and_we_take_them(ranx: Any) -> None:
    run: Scores = {"1": {"a": 2.0, "b": 1.0}}
    qrels = {"1": {"a": 1.9, "b": 1.1}}
    theirs = quiet(ranx.evaluate, ranx.Qrels(qrels), ranx.Run(run), "dcg")
    ours = aj.evaluate(aj.read({"s": run}, qrels), "DCG(ideal=none)").values[0, 0, 0]
    assert theirs == pytest.approx(1 + 1 / math.log2(3))
    assert ours == pytest.approx(1.9 + 1.1 / math.log2(3))


def test_tools_divide_average_precision_at_a_cutoff_by_two_different_things(ranx: Any) -> None:
    import pytrec_eval
    from pyNTCIREVAL import metrics

    qrels = {"1": {"a": 1, "b": 1, "c": 1}}
    run: Scores = {"1": {"a": 2.0, "x": 1.0}}
    eff = aj.evaluate(aj.read({"s": run}, qrels), ["AP@2", "AP(ideal=judged)@2"])
    assert eff.values[0, 0].tolist() == [1 / 3, 1 / 2]
    assert pytrec_eval.RelevanceEvaluator(qrels, ["map_cut_2"]).evaluate(run)["1"]["map_cut_2"] == 1 / 3
    assert quiet(ranx.evaluate, ranx.Qrels(qrels), ranx.Run(run), "map@2") == pytest.approx(1 / 3)
    assert metrics.AP([0, 3], [1], 2).compute([("a", 1), ("x", None)]) == 1 / 2


@pytest.mark.parametrize("measure", ["recip_rank", "map", "ndcg_cut_5"])
def test_in_double_precision_rankings_are_those_of_trec_eval_10(measure: str) -> None:
    """Version 10 holds scores as double; version 9 compares whole numbers in the same order exactly."""
    import pytrec_eval

    rng = np.random.default_rng(10)
    documents = [f"d{i}" for i in range(30)]
    qrels = {str(q): {d: int(rng.integers(3)) for d in documents} for q in range(40)}
    scores = 1 + rng.integers(0, 4, (40, 30)) * 1e-9 + rng.integers(0, 3, (40, 30)) * 0.5
    whole = np.unique(scores, return_inverse=True)[1].reshape(scores.shape)
    run, in_order = (
        {str(q): dict(zip(documents, map(float, row), strict=True)) for q, row in enumerate(table)}
        for table in (scores, whole)
    )
    peer = pytrec_eval.RelevanceEvaluator(qrels, [measure])
    version_9, version_10 = ([result[measure] for result in peer.evaluate(given).values()] for given in (run, in_order))
    ours = {
        precision: aj.evaluate(aj.read({"s": run}, qrels, score_precision=precision), measure).values[:, 0, 0]
        for precision in ("single", "double")
    }
    assert ours["single"] == pytest.approx(version_9, abs=1e-12)
    assert ours["double"] == pytest.approx(version_10, abs=1e-12)
    assert version_9 != version_10


def test_condensed_lists_are_trec_evals_judged_documents_once_negative_grades_are_removed() -> None:
    import pytrec_eval

    run: Scores = {"1": {"junk": 3.0, "unjudged": 2.0, "good": 1.0}}
    qrels = {"1": {"junk": -2, "good": 1}}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, ["recip_rank"], judged_docs_only_flag=True).evaluate(run)
    assert theirs["1"]["recip_rank"] == 1  # to it a negative grade is no judgment
    ours = [
        aj.evaluate(aj.read({"s": run}, {"1": grades}, scale="-2..1"), "RR", unjudged="condensed").values.item()
        for grades in (qrels["1"], {"good": 1})
    ]
    assert ours == [1 / 2, 1]
