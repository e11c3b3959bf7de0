from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from adjudge.errors import AdjudgeError
from adjudge.relevance.base import Scores, confidence, expected_tau, mean_confidence


@pytest.fixture
def scores() -> Scores:
    rng = np.random.default_rng(1)
    root = rng.normal(size=(6, 6))
    return Scores(rng.random(6), root @ root.T / 100)


@pytest.mark.parametrize("df", [None, 1, 99])
def test_confidence_is_the_probability_of_the_likelier_sign(scores: Scores, df: int | None) -> None:
    sure = confidence(scores, df, inflation=1.25)
    for a, b in zip(*np.triu_indices(6, 1), strict=True):
        variance = scores.covariance[a, a] + scores.covariance[b, b] - 2 * scores.covariance[a, b]
        z = (scores.mean[a] - scores.mean[b]) / np.sqrt(1.25 * variance)
        below = stats.norm.cdf(z) if df is None else stats.t.cdf(z, df)
        assert sure[a, b] == pytest.approx(max(below, 1 - below))
    np.testing.assert_array_equal(sure, sure.T)
    assert (np.diagonal(sure) == 1).all()


def test_means_are_over_pairs_of_systems(scores: Scores) -> None:
    pairs = confidence(scores, 9)[np.triu_indices(6, 1)]
    assert mean_confidence(scores, 9) == pytest.approx(pairs.mean())
    assert expected_tau(scores, 9) == pytest.approx((2 * pairs - 1).mean())


def test_what_is_known_for_certain_has_confidence_1() -> None:
    sure = confidence(Scores(np.array([0.5, 0.5, 0.2]), np.zeros((3, 3))))
    assert (sure == 1).all()


def test_a_tie_that_varies_has_confidence_one_half() -> None:
    assert confidence(Scores(np.array([0.5, 0.5]), np.eye(2)))[0, 1] == 0.5


def test_what_rounding_leaves_of_no_variance_counts_as_none() -> None:
    covariance = np.full((2, 2), 0.01)
    covariance[0, 0] += 1e-17
    assert confidence(Scores(np.array([0.5, 0.5 + 1e-16]), covariance))[0, 1] == 1


def test_one_system_has_a_certain_ranking() -> None:
    one = Scores(np.array([0.5]), np.array([[0.1]]))
    assert mean_confidence(one) == expected_tau(one) == 1


def test_inflation_lowers_confidence(scores: Scores) -> None:
    assert mean_confidence(scores, inflation=2.0) < mean_confidence(scores)


@pytest.mark.parametrize(("df", "inflation", "message"), [(0, 1.0, "'df'"), (None, 0.0, "'inflation'")])
def test_bad_options_are_refused(scores: Scores, df: int | None, inflation: float, message: str) -> None:
    with pytest.raises(AdjudgeError, match=message):
        confidence(scores, df, inflation)
