"""Groups of tied systems: the compact letter display, held against what it promises and the fewest letters by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.arrays import Mask
from adjudge.stats.multiple import tie_groups


@st.composite
def ties(draw: st.DrawFn) -> Mask:
    n = draw(st.integers(1, 9))
    tied = np.array(draw(st.lists(st.booleans(), min_size=n * n, max_size=n * n))).reshape(n, n)
    return np.asarray(np.triu(tied, 1) | np.triu(tied, 1).T)


@given(ties())
def test_two_systems_share_a_group_exactly_where_they_are_tied(tied: Mask) -> None:
    groups = tie_groups(tied)
    n = len(tied)
    for i in range(n):
        assert any(i in group for group in groups), "every system has a letter"
        for j in range(n):
            assert i == j or any(i in group and j in group for group in groups) == tied[i, j]
    sets = [set(group) for group in groups]
    assert not any(one < other for one in sets for other in sets), "no group inside another"
    assert all(list(group) == sorted(set(group)) for group in groups)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.floats(0.01, 0.5))
def test_where_nearness_makes_ties_groups_are_stretches(means: list[float], margin: float) -> None:
    order = np.sort(np.array(means))[::-1]
    groups = tie_groups(np.abs(order[:, None] - order) < margin)
    assert all(group == tuple(range(group[0], group[-1] + 1)) for group in groups)
    assert [group[-1] for group in groups] == sorted({group[-1] for group in groups})


@pytest.mark.parametrize(
    ("apart", "letters"),
    [  # 1 with 2 to 5, and 7 with 2 to 5, each take {2, 3} and {4, 5}, as 2-4, 2-5 and 3-5 differ; then 3-4 is left
        ({(1, 7), (1, 8), (2, 4), (2, 5), (3, 5)}, 5),
        ({(1, 2)}, 2),
        (set(), 1),
    ],
)
def test_there_are_no_more_letters_than_needed(apart: set[tuple[int, int]], letters: int) -> None:
    tied = np.ones((8, 8), dtype=np.bool_)
    for i, j in apart:
        tied[i - 1, j - 1] = tied[j - 1, i - 1] = False
    assert len(tie_groups(tied)) <= letters
