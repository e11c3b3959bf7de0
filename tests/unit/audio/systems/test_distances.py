"""Distances of all pairs, accurate and the same in blocks of any size; mutual proximity."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.audio.systems.invented_sounds import gaussians

from adjudge.arrays import Floats, Ints
from adjudge.audio.systems import distances
from adjudge.audio.systems.distances import (
    BestRotation,
    CountedProximity,
    EstimatedProximity,
    Euclidean,
    SymmetricKL,
    iterate_rows,
    mutual_proximity,
    split_places,
)
from adjudge.errors import AdjudgeError


def test_moving_and_stretching_all_gaussians_changes_no_divergence() -> None:
    means, covariances = gaussians(15, 5)
    map_ = np.random.default_rng(1).normal(size=(5, 5)) * [1e3, 1, 1, 1, 1e-3]
    here = SymmetricKL(means, covariances).rows(np.arange(15))
    there = SymmetricKL(means @ map_ + 1e6, map_.T @ covariances @ map_).rows(np.arange(15))
    assert there == pytest.approx(here, rel=1e-5)


def test_copies_are_at_no_distance() -> None:
    means, covariances = gaussians(30)
    means[7], covariances[7] = means[3], covariances[3]
    assert SymmetricKL(means, covariances).rows(np.arange(30))[3, 7] == pytest.approx(0, abs=1e-9)
    assert (SymmetricKL(np.zeros((4, 3)), np.zeros((4, 3, 3))).rows(np.arange(4)) == 0).all()


def test_flat_clips_are_far_from_others_and_everything_is_finite() -> None:
    means, covariances = gaussians(12)
    covariances[2] = 0.0
    covariances[5] = np.outer(means[5], means[5]) * 1e-4
    kl = SymmetricKL(means, covariances)
    found = kl.rows(np.arange(12))
    assert kl.n_flat == 2
    assert np.isfinite(found).all()
    usual = [place for place in range(12) if place not in (2, 5)]
    assert found[2, usual].min() > found[np.ix_(usual, usual)].max()


def test_blocks_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    kl = SymmetricKL(*gaussians(23))
    whole = kl.rows(np.arange(23))
    monkeypatch.setattr(distances, "BLOCK_BYTES", 23 * 8 * 4)
    parts = list(iterate_rows(kl, 23))
    assert [len(places) for places, _ in parts] == [4, 4, 4, 4, 4, 3]
    assert np.concatenate([rows for _, rows in parts]) == pytest.approx(whole, rel=1e-12)
    assert [len(part) for part in split_places(np.arange(3), 10**9)] == [1, 1, 1]


@pytest.mark.parametrize(
    ("kind", "values", "said"),
    [
        (SymmetricKL, (np.zeros((5, 3)), np.zeros((5, 2, 2))), r"means of shape n x d .*, got \(5, 3\) and \(5, 2, 2"),
        (SymmetricKL, (np.diag([0, 0, np.nan]), np.zeros((3, 3, 3))), "finite means, got NaN .* 1 documents, first 2"),
        (Euclidean, (np.array([[1.0], [np.inf]]),), "expected finite features, got NaN .* 1 documents, first 1"),
        (BestRotation, (np.zeros((5, 2, 7)),), "n x parts x 12"),
    ],
)
def test_arrays_that_cannot_be_are_refused(kind: type, values: tuple[Floats, ...], said: str) -> None:
    with pytest.raises(AdjudgeError, match=said):
        kind(*values)


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
    kl = SymmetricKL(*gaussians(200))
    everywhere = np.arange(200)
    after = kind(kl, 200).rows(everywhere)
    assert after == pytest.approx(after.T, abs=1e-12)
    assert 0 <= after.min() <= after.max() <= 1
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
    kl = SymmetricKL(*gaussians(150))
    usual = EstimatedProximity(kl, 150).rows(np.arange(150))
    means, covariances = gaussians(150)
    means[1], covariances[1], covariances[2] = means[0], covariances[0], 0.0
    odd = EstimatedProximity(SymmetricKL(means, covariances), 150).rows(np.arange(150))
    assert np.isfinite(odd).all()
    assert odd[0, 1] < 1e-3
    assert np.corrcoef(usual[3:, 3:].ravel(), odd[3:, 3:].ravel())[0, 1] > 0.98


def test_many_documents_are_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distances, "MOST_COUNTED", 4)
    assert isinstance(mutual_proximity(Given(1 - np.eye(4)), 4), CountedProximity)
    assert isinstance(mutual_proximity(Given(1 - np.eye(5)), 5), EstimatedProximity)
