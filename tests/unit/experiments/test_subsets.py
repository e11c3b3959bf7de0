from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.arrays import Ints
from adjudge.errors import AdjudgeError
from adjudge.experiments.comparing import draw_subsets


@st.composite
def cases(draw: st.DrawFn) -> tuple[Ints, int, int, int]:
    stratum = np.array(draw(st.lists(st.integers(0, 4), min_size=2, max_size=40)), dtype=np.int64)
    count = draw(st.integers(1, 2))
    size = draw(st.integers(1, len(stratum) // count))
    return stratum, size, count, draw(st.integers(0, 10**6))


@given(cases())
def test_subsets_are_disjoint_in_order_and_of_the_size_asked_for(case: tuple[Ints, int, int, int]) -> None:
    stratum, size, count, seed = case
    found = draw_subsets(np.random.default_rng(seed), stratum, size, count=count)
    assert found.shape == (count, size)
    assert len(set(found.ravel().tolist())) == size * count
    assert (np.diff(found, axis=1) > 0).all()
    assert found.min() >= 0
    assert found.max() < len(stratum)


@given(cases())
def test_no_stratum_gives_more_than_another_that_still_has_queries(case: tuple[Ints, int, int, int]) -> None:
    stratum, size, count, seed = case
    found = draw_subsets(np.random.default_rng(seed), stratum, size, count=count)
    available = np.bincount(stratum)
    given_ = np.bincount(stratum[found.ravel()], minlength=len(available))
    left = given_ < available
    if left.any():
        assert given_.max() - given_[left].min() <= 1


@given(cases())
def test_two_subsets_have_about_as_many_of_every_stratum(case: tuple[Ints, int, int, int]) -> None:
    stratum, size, count, seed = case
    found = draw_subsets(np.random.default_rng(seed), stratum, size, count=count)
    parts = np.array([np.bincount(stratum[one], minlength=5) for one in found])
    assert (parts.max(axis=0) - parts.min(axis=0)).max() <= 1


@given(cases())
def test_the_same_strata_and_seed_give_the_same_draw(case: tuple[Ints, int, int, int]) -> None:
    stratum, size, count, seed = case
    first, again = (draw_subsets(np.random.default_rng(seed), stratum.copy(), size, count=count) for _ in range(2))
    assert np.array_equal(first, again)


def test_every_query_is_as_likely_as_any_other_of_its_stratum() -> None:
    rng, stratum = np.random.default_rng(3), np.repeat([0, 1], 5)
    drawn = np.concatenate([draw_subsets(rng, stratum, 4).ravel() for _ in range(2000)])
    # each of 10 queries is drawn with probability 0.4: binomial, four standard deviations
    assert np.abs(np.bincount(drawn) / 2000 - 0.4).max() < 4 * np.sqrt(0.4 * 0.6 / 2000)


def test_more_queries_than_there_are_are_refused() -> None:
    with pytest.raises(AdjudgeError, match="2 disjoint sets of 3 queries need 6, got 5"):
        draw_subsets(np.random.default_rng(0), np.zeros(5, dtype=np.int64), 3, count=2)
