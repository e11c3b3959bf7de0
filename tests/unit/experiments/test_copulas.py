from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from adjudge.experiments.simulate.copulas import (
    EmpiricalBeta,
    StudentT,
    broken_ranks,
    kendall,
    positive_definite,
)


def test_kendall_is_that_of_scipy() -> None:
    values = np.round(np.random.default_rng(1).random((40, 4)), 1)
    values[:, 3] = 0.2
    found = kendall(values)
    for a, b in ((0, 1), (0, 2), (1, 2)):
        assert found[a, b] == pytest.approx(stats.kendalltau(values[:, a], values[:, b]).statistic, abs=1e-12)
    assert found[3].tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize("unit", [5, 10, 1 / 3])
def test_ranks_of_queries_do_not_see_rounding(unit: float) -> None:
    rng = np.random.default_rng(5)
    whole = rng.integers(0, 6, size=(40, 4)).astype(float)
    noisy = whole / 10 * unit * (1 + rng.choice([-2e-16, 0, 2e-16], size=whole.shape))
    assert kendall(noisy) == pytest.approx(kendall(whole), abs=1e-12)
    assert (broken_ranks(noisy) == broken_ranks(whole)).all()


def test_a_matrix_that_is_no_correlation_matrix_becomes_one() -> None:
    wrong = np.array([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]])
    right = positive_definite(wrong)
    assert np.linalg.eigvalsh(right).min() > 0
    assert np.diag(right).tolist() == [1, 1, 1]
    assert np.abs(right - wrong).max() < 0.6
    fine = np.array([[1, 0.5], [0.5, 1]])
    assert positive_definite(fine) == pytest.approx(fine)


def test_ranks_are_permutations_that_keep_the_order_of_queries() -> None:
    values = np.round(np.random.default_rng(2).random((30, 3)), 1)
    ranks = broken_ranks(values)
    assert (np.sort(ranks, axis=0) == np.arange(1, 31)[:, np.newaxis]).all()
    for column, rank in zip(values.T, ranks.T, strict=True):
        assert (np.diff(column[np.argsort(rank)]) >= 0).all()


def test_ties_are_broken_with_the_other_systems_in_mind() -> None:
    rng = np.random.default_rng(3)
    ability = rng.random((200, 1)) + 0.05 * rng.random((200, 6))
    coarse = np.round(ability * 2) / 2
    found = broken_ranks(coarse)[:, 0]
    by_chance = np.argsort(np.lexsort((rng.random(200), coarse[:, 0])))
    expected = stats.spearmanr(by_chance, ability[:, 0]).statistic
    assert stats.spearmanr(found, ability[:, 0]).statistic > expected + 0.02


def test_the_empirical_one_keeps_what_no_gaussian_has() -> None:
    rng = np.random.default_rng(4)
    x = rng.random(200)
    x = np.concatenate([x, 1 - x])  # as often above the middle as below
    drawn = EmpiricalBeta.fit(np.stack([x, np.abs(x - 0.5)], axis=1)).draw(rng, 4000)
    assert stats.kendalltau(drawn[:, 0], drawn[:, 1]).statistic == pytest.approx(0, abs=0.05)
    assert stats.kendalltau(np.abs(drawn[:, 0] - 0.5), drawn[:, 1]).statistic > 0.7


def test_smoothing_does_not_make_close_systems_less_alike() -> None:
    rng = np.random.default_rng(5)
    values = rng.normal(size=(50, 1)) + 0.15 * rng.normal(size=(50, 2))
    expected = stats.kendalltau(*values.T).statistic
    drawn = EmpiricalBeta.fit(values).draw(rng, 3000)
    assert stats.kendalltau(*drawn.T).statistic == pytest.approx(expected, abs=0.03)


def test_a_t_copula_finds_heavy_tails_and_their_absence() -> None:
    rng = np.random.default_rng(6)
    normal = rng.multivariate_normal(np.zeros(4), 0.5 + 0.5 * np.eye(4), size=1500)
    heavy = normal / np.sqrt(rng.chisquare(3, size=(1500, 1)) / 3)
    assert StudentT.fit(heavy).freedom in {2, 3, 4}
    assert StudentT.fit(normal).freedom >= 20
