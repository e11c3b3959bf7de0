"""Counting questions by the difference between their lists."""

from __future__ import annotations

import numpy as np
import pytest

from adjudge.errors import AdjudgeError
from adjudge.preferences.questions import Question, Questions, coverage_of
from adjudge.users.curves import bin_of


def asked(*grades: tuple[float, float], expected: frozenset[str] = frozenset()) -> Questions:
    """One document a list, on the scale 0..10."""
    questions = tuple(Question(f"{i}", "q", ("x",), ("y",), expected) for i in range(len(grades)))
    return Questions(questions, {"0..10": np.array(grades).reshape(len(grades), 2, 1)})


@pytest.mark.parametrize("bins", [2, 3, 7, 10, 30])
def test_a_difference_on_an_edge_is_above_it_however_it_was_computed(bins: int) -> None:
    for edge in range(bins):
        exact = edge / bins
        for start in (0.0, 0.1, 1 / 3):
            computed = (start + exact) - start
            assert bin_of(np.array([computed]), bins).tolist() == [edge]
        assert bin_of(np.array([exact + 1e-6]), bins).tolist() == [edge]
        if edge:
            assert bin_of(np.array([exact - 1e-6]), bins).tolist() == [edge - 1]


def test_the_last_bin_has_the_largest_difference() -> None:
    assert bin_of(np.array([1.0, 1.0 + 1e-12]), 10).tolist() == [9, 9]


def test_questions_count_where_they_fall_and_unjudged_ones_nowhere() -> None:
    found = coverage_of(asked((10, 0), (5, 2), (2, 5), (3, 3), (np.nan, 3)), ["CG@1 on 0..10"], per_bin=2)
    assert found.counts[0].tolist() == [1, 0, 0, 2, 0, 0, 0, 0, 0, 1]
    assert found.unknown.tolist() == [1]
    assert found.totals == {"filled": 1, "short": 9, "impossible": 0}
    assert (found.n_questions, found.n_queries, found.n_documents, found.most_of_a_query) == (5, 1, 2, 5)


def test_traps_are_not_counted() -> None:
    assert coverage_of(asked((10, 0), expected=frozenset({"a"})), ["CG@1 on 0..10"]).counts.sum() == 0


def test_the_table_shows_what_is_lacking() -> None:
    found = coverage_of(asked((10, 0)), ["CG@1 on 0..10"], bins=2, per_bin=1)
    text = str(found).splitlines()
    assert text[1].split() == ["questions", "by", "|Δ|", "from", "0", "0.5"]
    assert text[2].split()[-2:] == ["0", "1"]
    assert [row["status"] for row in found.to_dicts()] == ["short", "filled"]
    assert [row["low"] for row in found.to_dicts(statuses=["filled"])] == [0.5]
    assert [found.interval(b) for b in (0, 1)] == ["[0, .5)", "[.5, 1]"]


def test_scales_without_grades_are_refused() -> None:
    with pytest.raises(AdjudgeError, match=r"expected grades on fine to compute CG@1, got 0\.\.10"):
        coverage_of(asked((10, 0)), ["CG@1 on fine"])
