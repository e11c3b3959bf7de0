"""Whether differences change between groups: the level, the sum of squares of the ANOVA, what is found."""

from __future__ import annotations

import numpy as np
import pytest

from adjudge.stats.interaction import interaction


def test_the_shift_is_what_the_interaction_of_an_analysis_of_variance_leaves() -> None:
    values, groups = np.random.default_rng(1).random((12, 3)), np.repeat([0, 1, 2], 4)
    found = interaction(values, groups, resamples=100)
    cells = values.reshape(3, 4, 3).mean(axis=1)
    expected = cells - cells.mean(axis=1, keepdims=True) - cells.mean(axis=0) + cells.mean()
    assert found.shift == pytest.approx(expected)


def test_it_errs_as_often_as_it_says() -> None:
    rng, p, p_shift = np.random.default_rng(2), [], []
    for t in range(300):
        found = interaction(rng.exponential(size=(30, 4)), rng.integers(0, 3, 30), resamples=199, seed=t)
        p.append(found.p)
        p_shift.append(found.p_shift.min())
    for each in (p, p_shift):
        assert 0.01 <= np.mean(np.array(each) <= 0.05) <= 0.09


def test_it_finds_the_system_that_changes_and_not_that_all_do_better_on_some_queries() -> None:
    rng, groups = np.random.default_rng(3), np.repeat([0, 1], 40)
    easy = rng.normal(size=(80, 5)) + 3 * groups[:, None]
    assert interaction(easy, groups, resamples=999).p > 0.05
    found = interaction(easy + np.outer(groups, [0, 0, 0, 0, 2]), groups, resamples=999)
    assert found.p <= 0.01
    assert np.argwhere(found.p_shift <= 0.05)[:, 1].tolist() == [4, 4]
    assert found.shift[1, 4] > 0 > found.shift[0, 4]


def test_what_differs_between_strata_alone_is_no_change_within_them() -> None:
    rng, strata = np.random.default_rng(4), np.repeat([0, 1], 30)
    values = rng.normal(size=(60, 4)) + np.outer(strata, [0, 0, 0, 5])
    assert interaction(values, rng.permuted(strata), strata=strata, resamples=499).p > 0.01
    assert interaction(values, strata, strata=strata, resamples=499).p == 1  # cannot be told apart
    assert interaction(values, strata, resamples=499).p < 0.01
