"""List consistency, aggregation functions and triples against brute force over sets."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.errors import AdjudgeError
from adjudge.groundtruth import FUNCTIONS, Evidence, inconsistencies, list_consistency, non_transitive_triples
from adjudge.groundtruth.evidence import Tails

ALPHA = 0.25


@st.composite
def evidences(draw: st.DrawFn, most: int = 7) -> Evidence:
    """Documents with any differences between them, some pairs never compared."""
    n = draw(st.integers(2, most))
    p, compared = np.ones((n, n)), np.zeros((n, n), dtype=np.bool_)
    for i, j in combinations(range(n), 2):
        one = draw(st.sampled_from([0.01, 0.2, 0.5, 0.8, 0.99]))
        p[i, j], p[j, i] = one, 1 - one
        compared[i, j] = compared[j, i] = draw(st.sampled_from([True, True, True, False]))
    nothing = np.zeros(n)
    return Evidence("q", tuple(f"d{i}" for i in range(n)), p, compared, nothing, nothing, nothing, nothing)


def by_sets(evidence: Evidence, group: list[int], tails: Tails) -> float:
    """Consistency from its definition, position by position."""
    n, scores = len(group), []

    def sooner(i: int, j: int) -> bool:
        return bool(evidence.sooner[i, j] <= ALPHA)

    def differ(i: int, j: int) -> bool:
        if tails == 1:
            return sooner(i, j) or sooner(j, i)
        return bool(2 * min(evidence.sooner[i, j], evidence.sooner[j, i]) <= ALPHA)

    for pivot in range(n - 1):
        others = {i for i in range(n) if i != pivot and evidence.compared[pivot, i]}
        if not others:
            continue
        actual = {i for i in others if i < pivot or group[i] == group[pivot]}
        correct = {i for i in others if i < pivot and not (tails == 1 and sooner(pivot, i))}
        correct |= {i for i in others if i > pivot and not differ(pivot, i)}
        scores.append(len(actual & correct) / len(actual | correct) if actual | correct else 1.0)
    return float(np.mean(scores)) if scores else float("nan")


def all_cuts(n: int) -> list[list[int]]:
    """Every way to cut n documents into groups."""
    return [np.cumsum([0, *cuts]).tolist() for cuts in product([0, 1], repeat=n - 1)]


@settings(max_examples=60, deadline=None)
@given(evidences(), st.sampled_from([1, 2]), st.data())
def test_consistency_is_that_of_the_sets(evidence: Evidence, tails: Tails, data: st.DataObject) -> None:
    group = data.draw(st.sampled_from(all_cuts(len(evidence))))
    found = list_consistency(evidence, np.array(group), alpha=ALPHA, tails=tails)
    assert found == pytest.approx(by_sets(evidence, group, tails), nan_ok=True)


@settings(max_examples=30, deadline=None)
@given(evidences(), st.sampled_from([1, 2]))
def test_the_best_cut_is_the_best_of_all_with_the_fewest_groups(evidence: Evidence, tails: Tails) -> None:
    group = FUNCTIONS["Best"].cut(evidence, ALPHA, tails)
    best = list_consistency(evidence, group, alpha=ALPHA, tails=tails)
    every = {tuple(cut): by_sets(evidence, cut, tails) for cut in all_cuts(len(evidence))}
    assert best == pytest.approx(max(every.values()), nan_ok=True)
    assert group[-1] == min(cut[-1] for cut, value in every.items() if not value < best - 1e-9)


@settings(max_examples=60, deadline=None)
@given(evidences(most=12), st.sampled_from([1, 2]))
def test_any_leaves_no_difference_inside_groups_but_misordered_pairs(evidence: Evidence, tails: Tails) -> None:
    group = FUNCTIONS["Any"].cut(evidence, ALPHA, tails)
    found = inconsistencies(evidence, group, alpha=ALPHA, tails=tails)
    assert {tuple(pair) for pair in found.intra.tolist()} <= {tuple(pair) for pair in found.misordered.tolist()}


@settings(max_examples=60, deadline=None)
@given(evidences(most=10), st.sampled_from([1, 2]))
def test_functions_begin_groups_as_they_say(evidence: Evidence, tails: Tails) -> None:
    rules: dict[str, Callable[[list[bool]], bool]] = {"All": all, "Any": any, "Prev": lambda differs: differs[-1]}
    differs = evidence.precedes(ALPHA) if tails == 1 else evidence.differs(ALPHA, 2)
    for name, rule in rules.items():
        group = FUNCTIONS[name].cut(evidence, ALPHA, tails)
        for pivot in range(1, len(group)):
            current = [i for i in range(pivot) if group[i] == group[pivot - 1] and evidence.compared[i, pivot]]
            begins = bool(current) and bool(rule([differs[i, pivot] for i in current]))
            assert (group[pivot] != group[pivot - 1]) == begins


@settings(max_examples=40, deadline=None)
@given(evidences())
def test_triples_are_those_counted_one_by_one(evidence: Evidence) -> None:
    n, known = len(evidence), evidence.compared
    before, different = evidence.precedes(ALPHA), evidence.differs(ALPHA, 2)
    wholly = [t for t in combinations(range(n), 3) if all(known[i, j] for i, j in combinations(t, 2))]
    orders = [order for triple in wholly for order in permutations(triple)]
    found = non_transitive_triples(evidence, alpha=ALPHA)
    assert found.n == len(wholly)
    assert found.alike == sum(sum(different[i, j] for i, j in combinations(t, 2)) == 1 for t in wholly)
    undecided = [not before[x, z] and not before[z, x] for x, _, z in orders]
    steps = [before[x, y] and before[y, z] for x, y, z in orders]
    assert found.ordered == sum(a and b for a, b in zip(steps, undecided, strict=True))
    assert found.circular == sum(a and before[z, x] for a, (x, _, z) in zip(steps, orders, strict=True)) // 3
    broken = {frozenset(o) for a, b, o in zip(steps, undecided, orders, strict=True) if a and (b or before[o[2], o[0]])}
    broken |= {frozenset(t) for t in wholly if sum(different[i, j] for i, j in combinations(t, 2)) == 1}
    assert found.broken == len(broken)


def test_groups_that_do_not_fit_are_refused() -> None:
    nothing = np.zeros(2)
    evidence = Evidence("q", ("a", "b"), np.ones((2, 2)), ~np.eye(2, dtype=bool), nothing, nothing, nothing, nothing)
    for wrong in ([0], [1, 0]):
        with pytest.raises(AdjudgeError, match="expected one group for each document, from the first group to the"):
            list_consistency(evidence, np.array(wrong), alpha=ALPHA, tails=1)
    with pytest.raises(AdjudgeError, match="Tests have 1 or 2 tails, got 3"):
        list_consistency(evidence, np.array([0, 1]), alpha=ALPHA, tails=3)  # type: ignore[arg-type]
