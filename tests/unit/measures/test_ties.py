"""Expected effectiveness over ties, against all orders of tied documents and against closed forms."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import chain, permutations, product

import numpy as np
import pytest
from tests.conftest import for_subtopics

import adjudge as aj
from adjudge.checks import Precision
from adjudge.measures import MEASURES

GROUPS = [["a", "b"], ["c", "d", "e"], ["f"], ["g", "h"]]  # best score first
GRADES = {"a": 0, "b": 2, "c": 1, "d": 0, "f": 2, "g": 1, "i": 2}  # e and h are not judged, i is not retrieved


def every_measure() -> list[aj.Measure]:
    """Every measure on the Broad scale, with every ideal and some cutoffs, also on judged documents only."""
    return [
        aj.parse_measure(name if cutoff is None else f"{name}@{cutoff}", ideal=ideal, judged_only=judged_only)
        for name, definition in MEASURES.items()
        if name != "Fine"
        for cutoff in ((None, 1, 4, 10) if definition.cutoff else (None,))
        for ideal in ("none", "max", "judged")
        for judged_only in (False, True)
    ]


def tied_scores(groups: list[list[str]]) -> dict[str, float]:
    return {document: -float(level) for level, group in enumerate(groups) for document in group}


@pytest.mark.parametrize("unjudged", ["zero", "condensed"])
def test_the_expectation_is_the_mean_over_all_orders_of_small_groups(unjudged: str) -> None:
    measures = every_measure()
    collection = aj.read({"s": {"q": tied_scores(GROUPS)}}, for_subtopics({"q": GRADES}), scale="broad")
    eff = aj.evaluate(collection, measures, ties="expected", unjudged=unjudged)  # type: ignore[arg-type]
    orders = [list(chain(*order)) for order in product(*(permutations(group) for group in GROUPS))]
    assert len(orders) == 2 * 6 * 1 * 2
    every = {str(i): order for i, order in enumerate(orders)}
    untied = aj.read({"s": every}, for_subtopics(dict.fromkeys(every, GRADES)), scale="broad")
    mean = aj.evaluate(untied, measures, unjudged=unjudged).values[:, 0].mean(axis=0)  # type: ignore[arg-type]
    assert np.abs(eff.values[0, 0] - mean).max() < 1e-12
    assert eff.error is not None
    assert (eff.error == 0).all()


@pytest.fixture(scope="module")
def large() -> tuple[list[list[str]], dict[str, float], aj.Collection]:
    """Groups with far more orders than can be looked at."""
    rng = np.random.default_rng(8)
    groups = [[f"{level}-{i}" for i in range(n)] for level, n in enumerate((3, 20, 2, 15))]
    grades = {document: float(rng.integers(0, 4)) for group in groups for document in group}
    return groups, grades, aj.read({"s": {"q": tied_scores(groups)}}, {"q": grades}, scale="0..3")


def mean_at_ranks(groups: list[list[str]], value: Callable[[str], float]) -> list[float]:
    """Expected value at each rank: the mean of the group that reaches it (McSherry and Najork 2008)."""
    return [sum(map(value, group)) / len(group) for group in groups for _ in group]


@pytest.mark.parametrize("k", [2, 10, 23, 30, 40])
def test_a_sample_of_orders_is_as_close_to_the_closed_form_as_it_says(
    large: tuple[list[list[str]], dict[str, float], aj.Collection], k: int
) -> None:
    groups, grades, collection = large
    gains = mean_at_ranks(groups, lambda d: grades[d])
    hits = mean_at_ranks(groups, lambda d: float(grades[d] >= 2))
    expected = {
        f"P(rel=2)@{k}": sum(hits[:k]) / k,
        f"DCG(ideal=none)@{k}": sum(gain / math.log2(i + 2) for i, gain in enumerate(gains[:k])),
        f"CG(ideal=none)@{k}": sum(gains[:k]),
        f"RBP@{k}": 0.2 / 3 * sum(gain * 0.8**i for i, gain in enumerate(gains[:k])),
    }
    eff = aj.evaluate(collection, expected, ties="expected", seed=1)
    assert eff.error is not None
    for m, (name, value) in enumerate(expected.items()):
        assert abs(eff.values[0, 0, m] - value) <= 5 * eff.error[0, 0, m] + 1e-12, name
        assert eff.error[0, 0, m] < 0.02 * max(1, value)


def test_groups_that_begin_past_the_cutoff_do_not_make_it_a_sample(
    large: tuple[list[list[str]], dict[str, float], aj.Collection],
) -> None:
    groups, grades, collection = large
    eff = aj.evaluate(collection, ["CG(ideal=none)@3", "CG(ideal=none)@4"], ties="expected")
    assert eff.error is not None
    assert eff.error[0, 0, 0] == 0
    assert eff.error[0, 0, 1] > 0
    assert eff.values[0, 0, 0] == pytest.approx(sum(grades[d] for d in groups[0]))


def test_the_seed_matters_only_where_orders_are_drawn(
    large: tuple[list[list[str]], dict[str, float], aj.Collection],
) -> None:
    names = ["DCG@2", "DCG@10", "AP"]
    one, again, other = (aj.evaluate(large[2], names, ties="expected", seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(one.values, again.values)
    assert one.error is not None
    assert ((one.values != other.values) == (one.error > 0)).all()
    assert (one.error > 0).tolist() == [[[False, True, True]]]


def test_lists_without_ties_are_as_they_are(
    make_collection: Callable[..., aj.Collection], evaluate_quietly: Callable[..., aj.Effectiveness]
) -> None:
    collection = make_collection(3)
    names = ["P@5", "AP", "nDCG@10", "Q", "GAP@5", "ERR", "ADR", "Bpref"]
    expected = evaluate_quietly(collection, names, ties="expected")
    assert np.array_equal(expected.values, evaluate_quietly(collection, names).values)
    assert expected.error is not None
    assert (expected.error == 0).all()


def test_each_list_is_averaged_over_its_own_ties_and_has_none_without_scores() -> None:
    tied, untied = {"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 2.0, "b": 1.0}}
    eff = aj.evaluate(aj.read({"tied": tied, "untied": untied}, {"q": {"a": 1}}), "RR", ties="expected")
    assert eff.values[0, :, 0].tolist() == [3 / 4, 1]
    eff = aj.evaluate(aj.read({"s": {"q": ["b", "a"]}}, {"q": {"a": 1}}), "RR", ties="expected")
    assert eff.values.item() == 1 / 2


@pytest.mark.parametrize(
    ("low", "precision", "by_name", "expected"),
    [(1.0 - 1e-12, "single", 1 / 2, 3 / 4), (1.0 - 1e-12, "double", 1, 1), (1.0 - 1e-3, "single", 1, 1)],
)
def test_scores_that_differ_beyond_their_precision_are_tied(
    low: float, precision: Precision, by_name: float, expected: float
) -> None:
    runs, judgments = {"s": {"q": {"a": 1.0, "b": low}}}, {"q": {"a": 1}}
    collection = aj.read(runs, judgments, score_precision=precision)
    assert aj.evaluate(collection, "RR").values.item() == by_name
    assert aj.evaluate(collection, "RR", ties="expected").values.item() == expected
    assert collection.provenance.settings.get("score_precision", "single") == precision


def test_tied_documents_come_last_identifier_first_unless_asked_otherwise() -> None:
    collection = aj.read({"s": {"q": {"a": 1.0, "b": 1.0, "B": 1.0}}}, {"q": {"B": 1}})
    eff = aj.evaluate(collection, "RR")
    assert eff.values.item() == 1 / 3  # b, a, B: by bytes, descending
    assert eff.error is None


def test_the_orders_drawn_for_a_list_depend_neither_on_other_measures_nor_on_other_lists() -> None:
    tied = {f"d{i}": 1.0 for i in range(12)}
    judgments = {"1": {"d1": 1, "d5": 1}, "2": {"d1": 1}}
    alone = aj.evaluate(aj.read({"s": {"1": tied}}, {"1": judgments["1"]}), "AP", ties="expected")
    both = aj.evaluate(aj.read({"s": {"1": tied, "2": tied}}, judgments), ["RR", "AP"], ties="expected")
    assert both.matrix("AP")[0, 0] == alone.values.item()
