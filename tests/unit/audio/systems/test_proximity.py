"""Mutual proximity, counted and estimated: symmetric, in bounds, without hubs."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.audio.systems.invented_sounds import gaussians

from adjudge.arrays import Floats, Ints
from adjudge.audio.systems import distances as proximity
from adjudge.audio.systems.distances import CountedProximity, EstimatedProximity, mutual_proximity, symmetric_kl


class Given:
    """Distances that are given."""

    def __init__(self, values: Floats) -> None:
        self.values = values

    def rows(self, places: Ints) -> Floats:
        return self.values[places].copy()


def skewness(distances: Floats, k: int = 5) -> float:
    away = distances + np.diag(np.full(len(distances), np.inf))
    counts = np.bincount(np.argsort(away, axis=1)[:, :k].ravel(), minlength=len(distances))
    centred = counts - counts.mean()
    return float((centred**3).mean() / (centred**2).mean() ** 1.5)


@pytest.mark.parametrize("kind", [CountedProximity, EstimatedProximity])
def test_hubs_go_away(kind: type[CountedProximity | EstimatedProximity]) -> None:
    kl = symmetric_kl(*gaussians(200))
    everywhere = np.arange(200)
    after = kind(kl, 200).rows(everywhere)
    assert after == pytest.approx(after.T, abs=1e-12)
    assert after.min() >= 0
    assert after.max() <= 1
    assert (np.diag(after) == 0).all()
    assert skewness(after) < 0.5 * skewness(kl.rows(everywhere))


def test_ties_of_counts_are_in_the_order_of_distances() -> None:
    values = np.abs(np.subtract.outer(np.array([0.0, 1, 3, 100, 101.5]), np.array([0.0, 1, 3, 100, 101.5])))
    found = CountedProximity(Given(values), 5).rows(np.arange(5))
    assert found[0, 1] < found[3, 4]  # both are one another's nearest: the nearer pair first
    assert (found * 5).astype(int)[0, 1] == (found * 5).astype(int)[3, 4]


@pytest.mark.parametrize("kind", [CountedProximity, EstimatedProximity])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_or_equal_documents_have_finite_distances(
    kind: type[CountedProximity | EstimatedProximity], n: int
) -> None:
    for value in (0.0, 1.0):
        found = kind(Given(value * (1 - np.eye(n))), n).rows(np.arange(n))
        assert np.isfinite(found).all()


def test_copies_and_one_clip_far_away_leave_the_estimate_as_it_is() -> None:
    kl = symmetric_kl(*gaussians(150))
    usual = EstimatedProximity(kl, 150).rows(np.arange(150))
    means, covariances = gaussians(150)
    means[1], covariances[1], covariances[2] = means[0], covariances[0], 0.0
    odd = EstimatedProximity(symmetric_kl(means, covariances), 150).rows(np.arange(150))
    assert np.isfinite(odd).all()
    assert odd[0, 1] < 1e-3
    assert np.corrcoef(usual[3:, 3:].ravel(), odd[3:, 3:].ravel())[0, 1] > 0.98


def test_many_documents_are_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proximity, "MOST_COUNTED", 4)
    assert isinstance(mutual_proximity(Given(1 - np.eye(4)), 4), CountedProximity)
    assert isinstance(mutual_proximity(Given(1 - np.eye(5)), 5), EstimatedProximity)
