"""Evaluating a collection: what is left out, what counts as nothing, what is said aloud, what a result remembers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tests.conftest import for_subtopics

import adjudge as aj
from adjudge.errors import AdjudgeError, AdjudgeWarning
from adjudge.measures import MEASURES, default_measures

JUDGMENTS = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1}, "q3": {"c": 1}}
COMPLETE = {"s1": {"q1": ["a"], "q2": ["b", "a"], "q3": ["c"]}, "s2": {"q1": ["b"], "q2": ["a"], "q3": ["d"]}}
LACKING = {"s1": COMPLETE["s1"], "s2": {"q1": ["b"], "q2": ["a"]}}
MISSING = "1 list missing: nothing retrieved by s2 for judged queries such as 'q3'"

Make = Callable[..., aj.Collection]
Dicts = Callable[..., tuple[dict[str, dict[str, dict[str, float]]], dict[str, dict[str, float]]]]
Evaluate = Callable[..., aj.Effectiveness]


# The shape of the result


def test_values_are_queries_by_systems_by_measures() -> None:
    told: list[tuple[int, int]] = []
    eff = aj.evaluate(aj.read(COMPLETE, JUDGMENTS), ["RR", "P@1"], progress=lambda *counts: told.append(counts))
    assert told[-1] == (3, 3)
    assert eff.queries == ("q1", "q2", "q3")
    assert eff.systems == ("s1", "s2")
    assert eff.measures == ("RR", "P@1")
    assert eff.matrix("RR").tolist() == [[1, 0], [1 / 2, 1], [1, 0]]
    assert eff.matrix("P@1").tolist() == [[1, 0], [0, 1], [1, 0]]
    assert eff.mean()["RR"] == pytest.approx({"s1": 2.5 / 3, "s2": 1 / 3})


def test_one_measure_may_stand_alone() -> None:
    collection = aj.read(COMPLETE, JUDGMENTS)
    for measure in ("RR", ["RR"], aj.parse_measure("RR"), "RR mrr MRR"):
        assert aj.evaluate(collection, measure).measures == ("RR",)


def test_measures_do_not_change_one_another(make_collection: Make, evaluate_quietly: Evaluate) -> None:
    collection = make_collection(2)
    names = ["P@1", "AP", "nDCG@3", "Bpref", "ERR@20", "P(judged_only=True)@5"]
    together = evaluate_quietly(collection, names)
    for name in names:  # each alone looks only as deep as it must
        assert np.array_equal(evaluate_quietly(collection, name).matrix(), together.matrix(name))


def test_the_share_of_judged_documents_comes_with_each_measure() -> None:
    collection = aj.read({"s": {"q1": ["b", "x", "a", "y"]}}, {"q1": JUDGMENTS["q1"]})
    eff = aj.evaluate(collection, ["P@1", "P@2", "AP", "P@10"])
    assert eff.judged[0, 0].tolist() == [1, 1 / 2, 1 / 2, 1 / 2]


# Missing queries


def test_a_missing_list_counts_0_or_is_left_out_of_the_mean_or_is_an_error() -> None:
    with pytest.warns(AdjudgeWarning, match=f"^{MISSING}; each counts 0\\.$"):
        eff = aj.evaluate(aj.read(LACKING, JUDGMENTS), "RR")
    assert eff.matrix().tolist() == [[1, 0], [1 / 2, 1], [1, 0]]
    assert eff.notes[0] == f"{MISSING}; each counts 0."
    with pytest.warns(AdjudgeWarning, match=f"^{MISSING}; left out of the means\\.$"):
        eff = aj.evaluate(aj.read(LACKING, JUDGMENTS), "RR", missing="drop", unjudged="bounds")
    assert np.isnan(eff.matrix()).tolist() == [[False, False], [False, False], [False, True]]
    assert eff.mean()["RR"] == pytest.approx({"s1": 2.5 / 3, "s2": 1 / 2})
    assert eff.lower is not None
    assert np.isnan(eff.lower[2, 1, 0])
    with pytest.raises(AdjudgeError, match=f"^{MISSING}; choose zero or drop for missing lists"):
        aj.evaluate(aj.read(LACKING, JUDGMENTS), "RR", missing="error")
    assert aj.evaluate(aj.read(COMPLETE, JUDGMENTS), "RR", missing="error").n_queries == 3


def test_a_query_without_judgments_is_left_out_for_everyone() -> None:
    runs = {"s1": COMPLETE["s1"] | {"q4": ["a"]}, "s2": COMPLETE["s2"] | {"q5": ["a"]}}
    with pytest.warns(AdjudgeWarning, match="2 queries of the runs without judgments left out: q4 and q5"):
        eff = aj.evaluate(aj.read(runs, JUDGMENTS), "RR")
    assert eff.queries == ("q1", "q2", "q3")
    assert np.array_equal(eff.matrix(), aj.evaluate(aj.read(COMPLETE, JUDGMENTS), "RR").matrix())


# Unjudged documents


def test_condensed_lists_are_lists_without_their_unjudged_documents(
    make_dicts: Dicts, evaluate_quietly: Evaluate
) -> None:
    chosen = [
        aj.parse_measure(name if cutoff is None else f"{name}@{cutoff}")
        for name, definition in MEASURES.items()
        if definition.needs is None
        for cutoff in ((None, 1, 5) if definition.cutoff else (None,))
    ]
    for seed in range(3):
        runs, judgments = make_dicts(seed)
        by_hand = {
            system: {
                query: {d: score for d, score in scored.items() if d in judgments.get(query, {})}
                for query, scored in run.items()
            }
            for system, run in runs.items()
        }
        graded = for_subtopics(judgments)
        collection = aj.read(runs, graded, scale="0..3")
        condensed = evaluate_quietly(collection, chosen, unjudged="condensed")
        expected = evaluate_quietly(aj.read(by_hand, graded, scale="0..3"), chosen)
        assert np.abs(condensed.values - expected.values).max() < 1e-12
        only_judged = [aj.parse_measure(str(measure), judged_only=True) for measure in chosen]
        assert np.array_equal(evaluate_quietly(collection, only_judged).values, condensed.values)


def test_condensed_lists_still_tell_how_much_of_them_was_judged() -> None:
    collection = aj.read({"s": {"q1": ["x", "a"]}}, {"q1": JUDGMENTS["q1"]})
    eff = aj.evaluate(collection, ["RR", "P@1"], unjudged="condensed")
    assert eff.values[0, 0].tolist() == [1, 1]
    assert eff.judged[0, 0].tolist() == [1 / 2, 0]


# Depth, teams, notes, provenance


def test_reading_to_a_depth_is_evaluating_at_it(make_dicts: Dicts, evaluate_quietly: Evaluate) -> None:
    runs, judgments = make_dicts(4)
    shallow = aj.read(runs, judgments, scale="0..3", depth=5)
    deep = aj.read(runs, judgments, scale="0..3")
    names = ["P@5", "nDCG@5", "AP@5", "RBP@5", "ERR@5"]
    assert np.array_equal(evaluate_quietly(shallow, names).values, evaluate_quietly(deep, names).values)
    assert np.array_equal(evaluate_quietly(shallow, "AP").values, evaluate_quietly(deep, "AP@5").values)
    assert evaluate_quietly(shallow, "AP").provenance.settings["depth"] == 5


def test_teams_come_along_with_their_systems() -> None:
    eff = aj.evaluate(aj.read(COMPLETE, JUDGMENTS, teams={"s2": "Lab"}), "RR")
    assert eff.teams == (None, "Lab")
    assert aj.summarize(eff).of("s2", "RR").team == "Lab"


def test_what_weakens_a_result_is_noted_without_a_warning() -> None:
    judgments = {"q1": {"a": {"ann": 2, "bob": 1}}, "q2": {"a": {"ann": 0}}}
    eff = aj.evaluate(aj.read({"s": {"q1": ["a"], "q2": ["a"]}}, judgments), "CG(ideal=none)@1")
    assert eff.matrix().tolist() == [[1.5], [0]]
    assert eff.notes == (
        "1 query without a relevant document: effectiveness 0.",
        "Scale taken from the judgments: graded (0..2).",
        "Pairs judged by several assessors have the mean of their grades.",
    )
    assert aj.evaluate(aj.read(COMPLETE, JUDGMENTS, scale="binary"), "RR").notes == ()


def test_a_result_remembers_how_it_was_made() -> None:
    collection = aj.read(COMPLETE, JUDGMENTS, scale="broad")
    settings = aj.evaluate(collection, "RR").provenance.settings
    expected = {"unjudged": "zero", "missing": "zero", "ties": "trec", "scale": "broad (0..2)"}
    assert settings == expected
    other = aj.evaluate(collection.rescaled("binary2"), "RR", ties="expected", seed=7).provenance.settings
    changed = {"ties": "expected", "ties_seed": 7, "scale": "binary (0..1)", "rescaled": "binary2"}
    assert other.items() >= (expected | changed).items()


def test_evaluating_needs_judgments() -> None:
    with pytest.raises(AdjudgeError, match="The collection has no judgments; give them with judgments=…"):
        aj.evaluate(aj.read(COMPLETE), "RR")


def test_a_measure_says_which_scale_it_needs() -> None:
    with pytest.raises(AdjudgeError, match=r"PSum@5.*judgments on the Broad scale \(0, 1, 2\).*got binary"):
        aj.evaluate(aj.read(COMPLETE, JUDGMENTS), "PSum@5")
    with pytest.raises(AdjudgeError, match=r"Fine@5.*judgments on the Fine scale .*got broad \(0\.\.2\)"):
        aj.evaluate(aj.read(COMPLETE, JUDGMENTS, scale="broad"), "Fine@5")


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        ("binary", ["nDCG@2", "AP", "P@2", "RR"]),
        ("broad", ["nDCG@2", "CG@2", "AP", "RR"]),
        ("fine", ["CG@2", "nDCG@2", "Q@2", "GAP@2"]),
    ],
)
def test_default_measures_suit_the_scale_and_the_depth_of_the_runs(scale: str, expected: list[str]) -> None:
    assert [str(measure) for measure in default_measures(aj.read(COMPLETE, JUDGMENTS, scale=scale))] == expected


def test_ties_cannot_be_averaged_once_a_ranking_was_cut_through_them() -> None:
    runs, judgments = {"s": {"q": {"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0}}}, {"q": {"a": 1}}
    with pytest.raises(AdjudgeError, match="needs whole rankings, but these were cut at depth 2"):
        aj.evaluate(aj.read(runs, judgments, depth=2), "P@2", ties="expected")
    assert aj.evaluate(aj.read(runs, judgments), "P@2", ties="expected").values.item() == pytest.approx(0.25)
