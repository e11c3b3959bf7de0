from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import adjudge as aj
from adjudge.errors import AdjudgeError, AdjudgeWarning
from adjudge.model.scales import BINARY, BROAD, FINE, Scale
from adjudge.relevance.candidates import Candidates, candidates

Dicts = Callable[..., tuple[dict[str, Any], dict[str, Any]]]
RUNS = {
    "b": {"q2": ["x", "y", "z"], "q1": ["z", "x"]},
    "a": {"q1": ["x", "w"], "q3": ["v"]},
}


def contents(some: Candidates) -> dict[str, Any]:
    """Everything in candidates by name, so that numbering does not matter."""
    names = [(some.queries[q], d) for q, d in zip(some.query, some.document, strict=True)]
    return {
        "pairs": names,
        "systems": some.systems,
        "entries": sorted(
            (names[pair], some.systems[system], int(rank))
            for pair, system, rank in zip(some.entry_pair, some.entry_system, some.entry_rank, strict=True)
        ),
        "relevance": dict(zip(names, some.relevance.round(12).astype(str), strict=True)),
        "labels": {name: (int(a), int(g)) for name, a, g in zip(names, some.artist, some.genre, strict=True)},
        "own": dict(
            zip(some.queries, zip(some.query_artist.tolist(), some.query_genre.tolist(), strict=True), strict=True)
        ),
        "opinions": {name: column.astype(str).tolist() for name, column in some.opinions.items()},
    }


def test_pairs_stand_in_the_order_of_their_names() -> None:
    found = candidates(aj.read(RUNS), cutoff=2, scale=BINARY)
    assert found.systems == ("a", "b")
    assert found.queries == ("q1", "q2", "q3")
    pairs = w, x, z, other_x, y, v = [("q1", "w"), ("q1", "x"), ("q1", "z"), ("q2", "x"), ("q2", "y"), ("q3", "v")]
    assert contents(found)["pairs"] == pairs
    entries = [(w, "a", 2), (x, "a", 1), (x, "b", 2), (z, "b", 1), (other_x, "b", 1), (y, "b", 2), (v, "a", 1)]
    assert contents(found)["entries"] == entries
    assert found.n_retrieving.tolist() == [1, 2, 1, 1, 1, 1]
    assert found.offsets.tolist() == [0, 3, 5, 6]
    assert not found.judged.any()


def test_relevance_is_the_share_of_the_highest_grade() -> None:
    judgments = {"q1": {"x": 2, "w": 1, "elsewhere": 1}, "q2": {"y": 0}}
    found = candidates(aj.read(RUNS, judgments, scale="broad"), cutoff=2)
    known = {("q1", "x"): 1.0, ("q1", "w"): 0.5, ("q1", "elsewhere"): 0.5, ("q2", "y"): 0.0}
    for pair in contents(found)["pairs"]:
        assert found.relevance[found.find(*pair)] == pytest.approx(known.get(pair, np.nan), nan_ok=True)
    assert found.n_retrieving[found.find("q1", "elsewhere")] == 0


def test_negative_grades_count_as_0() -> None:
    found = candidates(aj.read(RUNS, {"q1": {"x": -2, "w": 4}}, scale="-2..4"), cutoff=2)
    assert found.relevance[found.find("q1", "x")] == 0
    assert (found.to_relevance(-2), found.to_relevance(3)) == (0, 0.75)


def test_the_scale_given_counts_before_that_of_the_judgments_which_is_said() -> None:
    collection = aj.read(RUNS, {"q1": {"x": 1}})
    assert candidates(collection, cutoff=2).scale == BINARY
    found = candidates(collection, cutoff=2, scale=BROAD)
    assert found.relevance[found.find("q1", "x")] == 0.5
    assert found.notes == candidates(aj.read(RUNS, {"q1": {"x": 1}}, scale="broad"), cutoff=2).notes
    inferred = candidates(aj.read(RUNS, {"q1": {"x": 3, "w": 0}}), cutoff=1)
    assert "Scale taken from the judgments: graded (0..3)." in inferred.notes


@pytest.mark.parametrize("grade", [3.0, -1.0])
def test_grades_outside_the_scale_are_refused(grade: float) -> None:
    collection = aj.read(RUNS, {"q1": {"x": grade, "w": 1}})
    with pytest.raises(AdjudgeError, match=rf"Expected grades on the scale broad \(0..2\), got {grade:g}"):
        candidates(collection, cutoff=2, scale=BROAD)


@pytest.mark.parametrize("grade", [2.5, -0.1, float("nan"), float("inf"), "1", "1,5", None])
def test_what_is_no_grade_of_the_scale_is_refused(grade: Any) -> None:
    found = candidates(aj.read(RUNS), cutoff=2, scale=BROAD)
    with pytest.raises(AdjudgeError, match=r"Expected a grade on the scale broad \(0..2\), got "):
        found.to_relevance(grade)


def test_without_judgments_a_scale_is_needed() -> None:
    with pytest.raises(AdjudgeError, match=r"Expected a scale, as nothing is judged yet: broad, fine, binary"):
        candidates(aj.read(RUNS), cutoff=2)


def test_runs_without_any_document_are_refused() -> None:
    empty = aj.read({"a": {"q": ["itself"]}, "b": {"q": ["itself"]}}, {"q": {"itself": 1}})
    runs = aj.model.Runs(
        tuple(run.keep(np.zeros(1, dtype=np.bool_)) for run in empty.runs), empty.queries, empty.documents
    )
    with pytest.raises(AdjudgeError, match=r"Expected runs with documents, got empty ones\."):
        candidates(aj.Collection(runs, empty.judgments), cutoff=5)


# Judgments outside the runs, lists of unequal length


def test_judgments_of_queries_that_nobody_answered_are_left_out_aloud() -> None:
    collection = aj.read(RUNS, {"q1": {"x": 1}, "q9": {"x": 1, "y": 0}})
    with pytest.warns(AdjudgeWarning, match="2 judgments are left out: no system answered the query"):
        found = candidates(collection, cutoff=2)
    assert "q9" not in found.queries
    assert int(found.judged.sum()) == 1
    assert "2 judgments are left out: no system answered the query." in found.notes


def test_judgments_of_other_queries_only_are_refused() -> None:
    with pytest.raises(AdjudgeError, match="No query of the runs is judged: do runs and judgments name queries alike"):
        candidates(aj.read(RUNS, {"Q1": {"x": 1}}), cutoff=2)


def test_lists_of_unequal_length_are_said() -> None:
    (note,) = candidates(aj.read(RUNS), cutoff=2, scale=FINE).notes
    assert note.startswith("3 of 6 lists have fewer than 2 documents, 2 of them none (a and b)")
    assert candidates(aj.read({s: {"q": ["x", "y"]} for s in "ab"}), cutoff=2, scale=FINE).notes == ()
    (note,) = candidates(aj.read({s: {"q": ["x", "y"]} for s in "abcd"}), cutoff=3, scale=FINE).notes
    assert note.startswith("4 of 4 lists have fewer than 3 documents (a and 3 more systems)")


def test_pairs_that_are_none_are_named() -> None:
    found = candidates(aj.read(RUNS), cutoff=2, scale=FINE)
    with pytest.raises(AdjudgeError, match="Document 'x' of query 'q9' is no candidate: no system answered that query"):
        found.find("q9", "x")
    with pytest.raises(AdjudgeError, match="Document 'z' of query 'q2' is no candidate: not in the first 2"):
        found.find("q2", "z")


# Parts


@pytest.mark.parametrize("seed", range(6))
def test_a_part_is_what_reading_only_that_part_gives(make_dicts: Dicts, seed: int) -> None:
    """Numbers of artists and genres aside, which count from 0 in what is read."""
    runs, judgments = make_dicts(seed, n_systems=5, n_queries=9)
    metadata = pl.DataFrame({"document": [f"d{i:02d}" for i in range(20)], "artist": [f"a{i % 7}" for i in range(20)]})
    opinions = {"model": {(q, d): i / 9 for q in judgments for i, d in enumerate(["d01", "d05", "d07"])}}
    whole = candidates(aj.read(runs, judgments, metadata, scale="0..3"), cutoff=5, opinions=opinions)
    rng = np.random.default_rng(seed)
    systems = rng.choice(5, 3, replace=False).tolist()
    queries = rng.choice(whole.n_queries, 5, replace=False).tolist()
    names = {whole.queries[q] for q in queries}
    few = {s: {q: row for q, row in runs[s].items() if q in names} for s in (whole.systems[s] for s in systems)}
    retrieved = {(q, d) for run in few.values() for q, row in run.items() for d in sorted(row, key=row.get)[-5:]}
    known = {q: {d: g for d, g in row.items() if (q, d) in retrieved} for q, row in judgments.items() if q in names}
    collection = aj.read(few, {q: row for q, row in known.items() if row}, scale="0..3")
    part = contents(whole.part(queries=queries, systems=systems))
    alone = contents(candidates(collection, cutoff=5, opinions=opinions))
    for name in ("pairs", "systems", "entries", "relevance", "opinions"):
        assert part[name] == alone[name], name
    labels = contents(whole)["labels"]
    assert part["labels"] == {pair: labels[pair] for pair in part["pairs"]}


def test_a_part_leaves_out_queries_that_its_systems_did_not_answer() -> None:
    found = candidates(aj.read(RUNS), cutoff=2, scale=FINE).part(queries=[0, 1, 2], systems=[0])
    assert found.queries == ("q1", "q3")
    assert found.systems == ("a",)
    with pytest.raises(AdjudgeError, match=r"systems that answer some of the queries.*got none that does"):
        candidates(aj.read(RUNS), cutoff=2, scale=FINE).part(queries=[1], systems=[0])


@pytest.mark.parametrize(("queries", "systems"), [([3], [0]), ([-1], [0]), ([], [0]), ([0], [2]), ([0], [])])
def test_places_outside_are_refused(queries: list[int], systems: list[int]) -> None:
    with pytest.raises(AdjudgeError, match=r"Expected places of (queries from 0 to 2|systems from 0 to 1), got"):
        candidates(aj.read(RUNS), cutoff=2, scale=FINE).part(queries=queries, systems=systems)


def test_what_nobody_retrieved_can_be_left_out() -> None:
    found = candidates(aj.read(RUNS, {"q1": {"x": 1, "far": 1}}), cutoff=2)
    assert len(found) == 7
    assert ("q1", "far") not in contents(found.retrieved())["pairs"]
    assert len(found.retrieved()) == 6
    assert int(found.unjudged().judged.sum()) == 0


def test_queries_without_judgments_can_be_left_out() -> None:
    runs = {"a": {"q1": ["x"], "q2": ["x"], "q3": ["x"]}, "b": {"q1": ["y"], "q2": ["z"], "q3": ["z"]}}
    found = candidates(aj.read(runs, {"q1": {"x": 0, "y": 0}, "q3": {"v": 1}}, scale="binary"), cutoff=1)
    kept = found.of_judged_queries()
    assert kept.queries == ("q1", "q3")
    assert kept.document == ("x", "y", "x", "z")
    assert kept.notes == ("1 of 3 queries is left out: not judged.",)
    with pytest.raises(AdjudgeError, match="Expected judgments of candidates, got none"):
        found.unjudged().of_judged_queries()
    whole = candidates(aj.read(runs, {q: {"x": 0} for q in ("q1", "q2", "q3")}, scale="binary"), cutoff=1)
    assert whole.of_judged_queries() is whole


def test_metadata_can_be_forgotten() -> None:
    metadata = pl.DataFrame({"document": ["x", "q1"], "artist": ["m", "n"], "genre": ["g", "h"]})
    found = candidates(aj.read(RUNS, metadata=metadata), cutoff=2, scale=FINE)
    assert found.artist[found.find("q1", "x")] >= 0
    assert found.query_genre[0] >= 0
    bare = found.without_metadata()
    assert contents(bare) == contents(candidates(aj.read(RUNS), cutoff=2, scale=FINE))


# Machine opinions


def test_opinions_may_be_missing() -> None:
    opinions = {"llm": {("q1", "x"): 2.0, ("q2", "nowhere"): 1.0, ("q2", "y"): float("nan")}}
    column = candidates(aj.read(RUNS), cutoff=2, scale=Scale("graded", 3.0), opinions=opinions).opinions["llm"]
    assert np.isnan(column).sum() == 5
    assert np.nansum(column) == 2


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ({("q1", "x"): float("inf")}, "Opinions 'llm': expected finite numbers, got an infinite one"),
        ({("Q1", "x"): 1.0}, "Opinions 'llm': expected some about candidates, got none"),
        ({}, "Opinions 'llm': expected some about candidates, got none"),
        ({("q1", "x"): "yes"}, "Opinions 'llm': expected numbers, got others"),
        ([0.5], r"Opinions 'llm': expected numbers by \(query, document\), got '\[0.5\]'"),
    ],
)
def test_opinions_that_cannot_be_meant_are_refused(column: Any, message: str) -> None:
    with pytest.raises(AdjudgeError, match=message):
        candidates(aj.read(RUNS), cutoff=2, scale=FINE, opinions={"llm": column})


@pytest.mark.parametrize("hint", ["opinions", "similarity"])
def test_what_is_no_hint_is_refused(hint: str) -> None:
    with pytest.raises(AdjudgeError, match=f"'{hint}' must be"):
        candidates(aj.read(RUNS), cutoff=2, scale=FINE, **{hint: [1]})  # type: ignore[arg-type]
