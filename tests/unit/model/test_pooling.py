"""Sizes of pools: counted, averaged over subsets by brute force, and predicted for systems that were hidden."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import adjudge as aj
from adjudge.model import runs as pooling
from adjudge.model.runs import Overlap, Runs, overlap

Lists = list[list[list[str]]]  # systems x queries x documents

rankings = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=5)
some_lists = (
    st.integers(1, 4)
    .flatmap(
        lambda n_queries: st.lists(st.lists(rankings, min_size=n_queries, max_size=n_queries), min_size=2, max_size=5)
    )
    .filter(lambda lists: all(any(ranking) for ranking in lists))
)


def _runs(lists: Lists) -> Runs:
    return aj.read(
        {f"s{s}": {f"q{q}": ranking for q, ranking in enumerate(run) if ranking} for s, run in enumerate(lists)}
    ).runs


def _depth(lists: Lists) -> int:
    return max(len(ranking) for run in lists for ranking in run)


def _brute_force(lists: Lists, cutoff: int, systems: int) -> float:
    """Mean pool over subsets of systems and answered queries, counted one by one."""
    answered = [q for q in range(len(lists[0])) if any(run[q] for run in lists)]
    return fmean(
        len({document for run in subset for document in run[q][:cutoff]})
        for subset in combinations(lists, systems)
        for q in answered
    )


def _only(runs: Runs, systems: list[int]) -> Runs:
    return replace(runs, runs=tuple(runs[s] for s in systems))


def test_mirex_2011_took_6322_judgments(mirex2011: aj.Collection) -> None:
    found = overlap(mirex2011.runs, cutoffs=[5])
    assert (found.n_systems, found.n_queries) == (18, 100)
    assert found.incidence.sum() == 6322
    assert found.pool_size(5) == 63.22
    assert f"{found.share(5):.6f}" == "0.702444"


@settings(max_examples=40)
@given(some_lists)
def test_pools_of_fewer_systems_are_the_mean_over_all_subsets(lists: Lists) -> None:
    found = overlap(_runs(lists), cutoffs=range(1, _depth(lists) + 1))
    for cutoff in found.cutoffs:
        for m in range(1, len(lists) + 1):
            expected = _brute_force(lists, cutoff, m)
            assert found.pool_size(cutoff, m) == pytest.approx(expected, rel=1e-12)
            assert found.share(cutoff, m) == pytest.approx(expected / (cutoff * m), rel=1e-12)


def test_queries_sorted_in_many_blocks_count_as_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    lists = [[[f"d{d}" for d in rng.permutation(30)[: rng.integers(0, 9)]] for _ in range(50)] for _ in range(4)]
    runs = _runs(lists)
    whole = overlap(runs, cutoffs=[1, 4, 8])
    for block in (1, 7, 100):
        monkeypatch.setattr(pooling, "_BLOCK", block)
        assert (overlap(runs, cutoffs=[1, 4, 8]).incidence == whole.incidence).all()


@pytest.mark.parametrize(
    ("incidence", "systems", "expected"),
    [
        ([4, 1, 1], 4, 6 + 16 / 15),  # Q0 = 2/3 · 16/2 = 16/3, of which 4 / (3 · 16/3 + 4) = 1/5 come with the next
        ([4, 1, 1], 5, 6 + 16 / 3 * 9 / 25),
        ([4, 1, 1], 10**9, 6 + 16 / 3),
        ([3, 0, 0], 4, 3 + 2 / 3),  # Q2 = 0: Q0 = 2/3 · 3 = 2, of which 3 / 9 come with the next
        ([1, 0, 2], 9, 3),  # Q1 (Q1 - 1) = 0: nothing is left to find
        ([0, 2, 2], 9, 4),
    ],
)
def test_pools_of_more_systems_are_worked_out_by_hand(incidence: list[int], systems: int, expected: float) -> None:
    assert Overlap((5,), 3, 1, np.array([incidence])).pool_size(5, systems) == pytest.approx(expected, rel=1e-12)
    assert Overlap((5,), 3, 2, np.array([incidence])).pool_size(5, systems) == pytest.approx(expected / 2, rel=1e-12)


def test_systems_that_have_nothing_or_everything_in_common_stay_so() -> None:
    lists = [[[f"{s}{q}{d}" for d in range(10)] for q in range(200)] for s in range(5)]
    found = overlap(_runs(lists), cutoffs=[10])
    assert found.share(10) == 1
    assert found.share(10, 20) == pytest.approx(1, abs=0.002)
    same = overlap(_runs([[list("abc")]] * 4), cutoffs=[2])
    assert [same.pool_size(2, m) for m in (1, 4, 50)] == [2, 2, 2]


def test_a_deeper_pool_is_never_predicted_smaller() -> None:
    found = overlap(_runs([[["a", "b"]], [["b", "a"]]]), cutoffs=[1, 2])
    assert found.pool_size(1, 9) > 2  # the first documents differ, and more might
    assert found.pool_size(2, 9) == found.pool_size(1, 9)
    assert found.pool_size(2, 2) == 2


@pytest.mark.parametrize("cutoff", [1, 5])
def test_half_of_mirex_2011_predicts_the_whole(mirex2011: aj.Collection, cutoff: int) -> None:
    whole = overlap(mirex2011.runs, cutoffs=[cutoff]).pool_size(cutoff)
    rng = np.random.default_rng(2011)
    halves = [_only(mirex2011.runs, rng.permutation(18)[:9].tolist()) for _ in range(200)]
    errors = np.array([overlap(half, cutoffs=[cutoff]).pool_size(cutoff, 18) / whole - 1 for half in halves])
    assert abs(errors.mean()) < 0.03
    assert errors.std() < 0.13  # some of the systems are much alike, and a half may have them all or none
    assert np.mean(np.abs(errors) < 0.1) > 0.5


def test_only_the_first_queries_count_when_asked_and_none_without_any_list() -> None:
    runs = aj.read(
        {"A": {"q0": ["a", "b"], "q1": ["a", "b", "c"]}, "B": {"q1": ["a", "c", "b"]}}, {"q1": {"a": 1}}
    ).runs
    assert overlap(runs, cutoffs=[2], n_queries=1).pool_size(2) == 3
    assert overlap(runs, cutoffs=[2]).pool_size(2) == 2.5
    runs = aj.read({"A": {"q2": ["a"]}, "B": {"q2": ["b"]}}, {"q1": {"a": 1}, "q2": {"a": 1}}).runs
    found = overlap(runs, cutoffs=[1])
    assert (found.n_queries, found.pool_size(1), found.share(1)) == (1, 2, 1)


def test_it_prints_as_a_small_table_with_every_cutoff_once(mirex2011: aj.Collection) -> None:
    assert str(overlap(mirex2011.runs, cutoffs=np.array([5, 1, 5]))).splitlines() == [
        "Pools, 18 systems x 100 queries",
        "cutoff  documents  share",
        "     1       14.1  0.786",
        "     5       63.2  0.702",
    ]


def test_what_the_runs_cannot_tell_is_refused() -> None:
    runs, cut = _runs([[list("abc")], [list("abd")]]), aj.read({"A": {"q": list("abc")}}, depth=2).runs
    first = aj.read({"A": {"q2": ["a"]}}, {"q1": {"a": 1}}).runs
    refused: dict[str, Callable[[], object]] = {
        r"^'cutoffs' must be a whole number of at least 1, got 2.5$": lambda: overlap(runs, cutoffs=[1, 2.5]),  # type: ignore[list-item]
        r"^'systems' must be a whole number of at least 1, got 0$": lambda: overlap(runs, cutoffs=[1]).share(1, 0),
        "at most 3, the depth of the runs, got 4": lambda: overlap(runs, cutoffs=[1, 4]),
        "at most 2, where the runs were cut when read, got 3": lambda: overlap(cut, cutoffs=[3]),
        "'n_queries' must be a whole number from 1 to 1, got 2": lambda: overlap(runs, cutoffs=[1], n_queries=2),
        r"measured \(1 and 3\).*got '2'": lambda: overlap(runs, cutoffs=[1, 3]).pool_size(2),
        "at least 2 systems to tell the pool of 3.*got 1": lambda: overlap(cut, cutoffs=[2]).pool_size(2, 3),
        "with documents for these queries, got none": lambda: overlap(first, cutoffs=[1], n_queries=1),
        "documents for these queries, got none": lambda: overlap(_only(first, []), cutoffs=[1]),
        "at least one cutoff, got none": lambda: overlap(first, cutoffs=[]),
    }
    for message, call in refused.items():
        with pytest.raises(aj.AdjudgeError, match=message):
            call()
