"""Evaluating by each assessor's own judgments: the same as evaluating what that assessor alone said, cell by cell."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import adjudge as aj
from adjudge.errors import AdjudgeError, AdjudgeWarning
from adjudge.measures.assessors import evaluate_assessors
from adjudge.model.effectiveness import AssessedEffectiveness

NAMES = ["nDCG@5", "AP", "P@3", "RR", "CG(ideal=none)@2", "Bpref", "P(judged_only=True)@5", "Q@5"]
COLUMNS = ["query", "document", "assessor", "grade"]

Row = tuple[Any, ...]  # query, document, assessor, grade[, sub-topic]
Runs = dict[str, dict[str, list[str]]]

RUNS: Runs = {
    "s1": {"q1": ["a", "b", "c"], "q2": ["b", "a", "d"], "q3": ["c", "a"]},
    "s2": {"q1": ["c", "b"], "q2": ["a", "b"], "q3": ["a", "b", "c"]},
}
CROSSED: list[Row] = [
    ("q1", "a", "ann", 0), ("q1", "b", "ann", 2), ("q1", "a", "bob", 1), ("q1", "b", "bob", 0),
    ("q2", "a", "ann", 1), ("q2", "d", "ann", 0), ("q2", "a", "bob", 2), ("q2", "d", "bob", 2),
    ("q3", "c", "ann", 2), ("q3", "c", "bob", 0),
]  # fmt: skip
NESTED: list[Row] = [
    ("q1", "a", "ann", 0), ("q1", "b", "ann", 2), ("q2", "a", "bob", 1), ("q2", "d", "bob", 2),
    ("q3", "c", "ann", 1), ("q3", "a", "ann", 2),
]  # fmt: skip
PARTIAL: list[Row] = [
    ("q1", "a", "ann", 0), ("q1", "b", "ann", 2), ("q1", "b", "bob", 1),
    ("q2", "a", "bob", 1), ("q2", "b", "cleo", 1),
    ("q3", "a", "bob", 1), ("q3", "a", "ann", 1), ("q3", "a", "cleo", 0),
]  # fmt: skip


def frame(rows: Iterable[Row]) -> pl.DataFrame:
    table = list(rows)
    columns = [*COLUMNS, "subtopic"][: len(table[0])]
    return pl.DataFrame(table, schema=columns, orient="row")


def only(*queries: str) -> Runs:
    """The runs for some queries."""
    return {system: {query: run[query] for query in queries} for system, run in RUNS.items()}


def read(rows: Iterable[Row], runs: Runs = RUNS) -> aj.Collection:
    return aj.read(runs, frame(rows), scale="broad")


def quietly(*arguments: Any, **options: Any) -> AssessedEffectiveness:
    """By assessor, without hearing what is said aloud."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AdjudgeWarning)
        return evaluate_assessors(*arguments, **options)


def complete(rows: Iterable[Row]) -> set[tuple[str, str]]:
    """Cells of query and assessor where the assessor judged all that anybody judged."""
    pairs = {(query, document, who) for query, document, who, *_ in rows}
    pools = {query: {d for q, d, _ in pairs if q == query} for query, *_ in pairs}
    own = {(query, who): {d for q, d, w in pairs if (q, w) == (query, who)} for query, _, who in pairs}
    return {cell for cell, documents in own.items() if documents == pools[cell[0]]}


def by_hand(
    rows: list[Row], runs: Runs, names: list[str], *, partial: str, **options: Any
) -> dict[tuple[str, str, str, str], float]:
    """Value of every (query, system, assessor, measure), from reading and evaluating each assessor's rows alone."""
    cells = complete(rows) if partial == "drop" else {(row[0], row[2]) for row in rows}
    found = {}
    for who in {who for _, who in cells}:
        own = [row for row in rows if row[2] == who and (row[0], who) in cells]
        asked = {row[0] for row in own}
        lists = {system: {q: docs for q, docs in run.items() if q in asked} for system, run in runs.items()}
        eff = _evaluate_rows(own, lists, names, **options)
        for q, query in enumerate(eff.queries):
            for s, system in enumerate(eff.systems):
                for m, measure in enumerate(eff.measures):
                    found[query, system, who, measure] = float(eff.values[q, s, m])
    return found


def _evaluate_rows(own: list[Row], lists: Runs, names: list[str], **options: Any) -> aj.Effectiveness:
    """What the public functions say; a system that answers none of the queries still has a run, of an unjudged one."""
    runs = {system: run or {"another": ["a"]} for system, run in lists.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AdjudgeWarning)
        if all("another" in run for run in runs.values()):
            empty = np.zeros((len({row[0] for row in own}), len(runs), len(names)))
            canonical = tuple(str(aj.parse_measure(name)) for name in names)
            return aj.Effectiveness(empty, tuple(dict.fromkeys(row[0] for row in own)), tuple(runs), canonical, empty)
        return aj.evaluate(aj.read(runs, frame(own), scale="broad"), names, **options)


def assert_same(eff: AssessedEffectiveness, expected: dict[tuple[str, str, str, str], float]) -> None:
    got = {(q, s, a, m): value for s, q, a, m, value in eff.to_polars().iter_rows()}
    wanted = {cell: value for cell, value in expected.items() if not np.isnan(value)}
    assert got == pytest.approx(wanted, abs=1e-12)


# The same as the assessor alone


def test_values_are_queries_by_systems_by_assessors_by_measures() -> None:
    eff = evaluate_assessors(read(CROSSED), ["P@1", "RR"])
    assert (eff.queries, eff.systems, eff.assessors) == (("q1", "q2", "q3"), ("s1", "s2"), ("ann", "bob"))
    assert eff.array("P@1")[:, 0].tolist() == [[0, 1], [0, 0], [1, 0]]  # s1: q1 a…, q2 b…, q3 c…
    assert eff.array("reciprocal_rank")[:, 1].tolist() == [[1 / 2, 0], [1, 1], [1 / 3, 0]]
    assert eff.cells.all()


def test_the_scale_is_that_of_the_collection_and_not_of_one_assessor() -> None:
    rows: list[Row] = [("q1", "a", "ann", 1), ("q1", "a", "bob", 2)]
    collection = aj.read({"s": {"q1": ["a"]}}, frame(rows))
    assert evaluate_assessors(collection, "CG@1").array()[0, 0].tolist() == [1 / 2, 1]


def test_the_highest_of_an_assessors_own_sub_topics_counts() -> None:
    rows: list[Row] = [
        ("q1", "a", "ann", 0, "1"), ("q1", "a", "ann", 2, "2"), ("q1", "b", "ann", 1, "1"),
        ("q1", "a", "bob", 1, "1"), ("q1", "b", "bob", 0, "1"), ("q1", "b", "bob", 0, "2"),
        ("q2", "b", "bob", 1, "1"),
    ]  # fmt: skip
    eff = evaluate_assessors(read(rows, only("q1", "q2")), NAMES)
    assert_same(eff, by_hand(rows, RUNS, NAMES, partial="drop"))
    assert eff.array("CG(ideal=none)@2")[0, 0].tolist() == [2 + 1, 1 + 0]
    assert "Documents judged for several sub-topics have the highest of those grades." in eff.notes


# Partial queries


def test_cells_judged_in_part_are_left_out_and_that_is_said_once() -> None:
    with pytest.warns(AdjudgeWarning, match="left out as partial") as heard:
        eff = evaluate_assessors(read(PARTIAL), "RR")
    message = "3 query-assessor cells of 7 left out as partial, first query 'q1' by 'bob', who judged 1 of 2 documents."
    assert [str(warning.message) for warning in heard] == [message]
    assert heard[0].filename == __file__
    assert eff.notes[0] == message
    assert eff.cells.tolist() == [[True, False, False], [False, False, False], [True, True, True]]


def test_an_assessor_of_whom_nothing_is_left_stays_and_is_named() -> None:
    rows = [row for row in PARTIAL if row[:3] != ("q3", "a", "cleo")]
    with pytest.warns(AdjudgeWarning, match=", who judged 1 of 2 documents; nothing is left of cleo"):
        eff = evaluate_assessors(read(rows), "RR")
    assert eff.assessors == ("ann", "bob", "cleo")
    assert eff.cells.any(axis=0).tolist() == [True, True, False]


def test_cells_judged_in_part_may_be_kept_and_are_noted() -> None:
    eff = evaluate_assessors(read(PARTIAL), "RR", partial="keep")
    assert eff.cells.sum() == 7
    assert eff.notes == (
        "3 query-assessor cells with only some of the query's judged documents.",
        "1 query-assessor cell without a relevant document, though another assessor found one: effectiveness 0.",
    )


def test_nothing_left_is_an_error_that_says_what_would_keep_something() -> None:
    rows: list[Row] = [("q1", "a", "ann", 1), ("q1", "b", "bob", 1)]
    with pytest.raises(AdjudgeError, match=r"^No assessor judged all .* choose keep for partial queries"):
        evaluate_assessors(read(rows, only("q1")), "RR")
    assert evaluate_assessors(read(rows, only("q1")), "P@1", partial="keep").array()[0].tolist() == [[1, 0], [0, 0]]


# Missing lists, ties, what is said aloud


def test_what_is_true_of_every_assessor_is_said_once() -> None:
    runs = {"s1": RUNS["s1"] | {"q4": ["a"]}, "s2": {"q1": ["c"], "q2": ["a"]}}
    with pytest.warns(AdjudgeWarning) as heard:
        eff = evaluate_assessors(read(CROSSED, runs), "RR")
    aloud = [
        "1 query of the runs without judgments left out: q4.",
        "1 list missing: nothing retrieved by s2 for judged queries such as 'q3'; each counts 0.",
    ]
    assert [str(warning.message) for warning in heard] == aloud
    assert {warning.filename for warning in heard} == {__file__}
    assert list(eff.notes[:2]) == aloud
    assert eff.array()[2, 1].tolist() == [0, 0]


def test_a_missing_list_may_be_left_out_or_be_an_error() -> None:
    lacking = {"s1": RUNS["s1"], "s2": {"q1": ["c"], "q2": ["a"]}}
    eff = quietly(read(CROSSED, lacking), "RR", missing="drop")
    assert np.isnan(eff.array()).any(axis=2).tolist() == [[False, False], [False, False], [False, True]]
    assert eff.cells.all()
    with pytest.raises(AdjudgeError, match=r"1 list missing: nothing retrieved by s2 .* to go on"):
        evaluate_assessors(read(CROSSED, lacking), "RR", missing="error")


def test_nothing_is_said_of_combining_grades_that_are_not_combined() -> None:
    rows = [row for row in CROSSED if row[0] != "q3"]
    two = read(rows, only("q1", "q2"))
    assert evaluate_assessors(two, "RR").notes == ()
    assert any("mean of their grades" in note for note in aj.evaluate(two, "RR").notes)
    nobody: list[Row] = [*rows, ("q3", "c", "ann", 0), ("q3", "c", "bob", 0)]
    assert evaluate_assessors(read(nobody), "RR").notes == ("1 query without a relevant document: effectiveness 0.",)


def test_grades_may_be_converted_before() -> None:
    eff = evaluate_assessors(read(CROSSED).rescaled("binary2"), "P@3")
    assert eff.array()[:, 0].tolist() == [[1 / 3, 0], [0, 2 / 3], [1 / 3, 0]]
    assert eff.provenance.settings["scale"] == "binary (0..1)"


def test_orders_of_ties_are_drawn_alike_for_every_assessor() -> None:
    documents = [f"d{i}" for i in range(12)]
    lists = {query: dict.fromkeys(documents, 1.0) for query in ("q0", "q1", "q2")}
    grades = {d: i % 3 for i, d in enumerate(documents)}
    rows: list[Row] = [("q0", d, "ann", g) for d, g in grades.items()]
    rows += [("q1", d, who, g) for d, g in grades.items() for who in ("ann", "bob")]
    rows += [("q2", d, "bob", g) for d, g in grades.items()]
    collection = aj.read({"s": lists, "t": lists}, frame(rows), scale="broad")
    eff = evaluate_assessors(collection, ["AP", "nDCG@5"], ties="expected", seed=4)
    assert np.array_equal(eff.values[1, :, 0], eff.values[1, :, 1])  # bob's first query is ann's second
    whole = aj.evaluate(collection, ["AP", "nDCG@5"], ties="expected", seed=4)
    assert np.array_equal(eff.values[1, :, 1], whole.values[1])
    other = evaluate_assessors(collection, ["AP", "nDCG@5"], ties="expected", seed=5)
    assert not np.array_equal(eff.values[1], other.values[1])
    assert eff.provenance.settings["ties_seed"] == 4


def test_progress_is_told_in_cells() -> None:
    told: list[tuple[int, int]] = []
    evaluate_assessors(read(NESTED), "RR", progress=lambda done, total: told.append((done, total)))
    assert told == [(2, 3), (3, 3)]


def test_a_result_remembers_how_it_was_made() -> None:
    result = evaluate_assessors(read(CROSSED), "RR", partial="keep", unjudged="condensed")
    assert result.provenance.settings == {
        "partial": "keep", "unjudged": "condensed", "missing": "zero", "ties": "trec", "scale": "broad (0..2)"
    }  # fmt: skip


# What is refused


def test_judgments_must_tell_who_made_them() -> None:
    judgments = {"q1": {"a": 1}}
    with pytest.raises(AdjudgeError, match=r"judgments with an assessor column.*got query, document, grade"):
        evaluate_assessors(aj.read(RUNS, judgments), "RR")
    with pytest.raises(AdjudgeError, match="The collection has no judgments; give them with judgments=…"):
        evaluate_assessors(aj.read(RUNS), "RR")


# Any small collection

DOCUMENTS, QUERIES, PEOPLE = ["a", "b", "c", "d", "e"], ["q1", "q2", "q3", "q4"], ["ann", "bob", "cleo"]
rankings = st.lists(st.sampled_from(DOCUMENTS), min_size=1, max_size=5, unique=True)
runs_of_systems = st.fixed_dictionaries(
    {name: st.dictionaries(st.sampled_from(QUERIES), rankings, min_size=1) for name in ("s1", "s2", "s3")}
)
triples = st.tuples(st.sampled_from(QUERIES), st.sampled_from(DOCUMENTS[:3]), st.sampled_from(PEOPLE))
judged = st.dictionaries(triples, st.sampled_from([0, 0, 1, 2]), min_size=1, max_size=30)


@settings(max_examples=40, deadline=None)
@pytest.mark.filterwarnings("ignore:.*no document is judged")
@given(
    runs=runs_of_systems,
    judgments=judged,
    partial=st.sampled_from(["drop", "keep"]),
    unjudged=st.sampled_from(["zero", "condensed"]),
)
def test_any_collection_is_evaluated_as_each_assessor_alone(
    runs: Runs, judgments: dict[tuple[str, str, str], int], partial: str, unjudged: str
) -> None:
    rows: list[Row] = [(*triple, grade) for triple, grade in judgments.items()]
    answered = {query for run in runs.values() for query in run}
    if partial == "drop" and not complete(rows):
        with pytest.raises(AdjudgeError, match="nothing is left"):
            quietly(read(rows, runs), NAMES, partial=partial)
    elif not answered & {row[0] for row in rows}:
        with pytest.raises(AdjudgeError, match="No query of the runs is judged"):
            quietly(read(rows, runs), NAMES, partial=partial)
    else:
        eff = quietly(read(rows, runs), NAMES, partial=partial, unjudged=unjudged)
        assert eff.queries == tuple(dict.fromkeys(row[0] for row in rows))
        assert eff.assessors == tuple(dict.fromkeys(row[2] for row in rows))
        assert_same(eff, by_hand(rows, runs, NAMES, partial=partial, unjudged=unjudged))
