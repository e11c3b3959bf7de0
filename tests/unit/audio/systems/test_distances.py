"""Distances of all pairs: accurate, finite, and the same in whatever blocks."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.audio.systems.invented_sounds import gaussians

from adjudge.audio.systems import distances
from adjudge.audio.systems.distances import BestRotation, Euclidean, all_rows, blocks, symmetric_kl
from adjudge.errors import AdjudgeError


def test_moving_and_stretching_all_gaussians_changes_no_divergence() -> None:
    means, covariances = gaussians(15, 5)
    map_ = np.random.default_rng(1).normal(size=(5, 5)) * [1e3, 1, 1, 1, 1e-3]
    here = symmetric_kl(means, covariances).rows(np.arange(15))
    there = symmetric_kl(means @ map_ + 1e6, map_.T @ covariances @ map_).rows(np.arange(15))
    assert there == pytest.approx(here, rel=1e-5)


def test_copies_are_at_no_distance_and_nothing_is_below_zero() -> None:
    means, covariances = gaussians(30)
    means[7], covariances[7] = means[3], covariances[3]
    found = symmetric_kl(means, covariances).rows(np.arange(30))
    assert found[3, 7] == pytest.approx(0, abs=1e-9)
    assert (found >= 0).all()
    assert (np.diag(found) == 0).all()
    assert found == pytest.approx(found.T, rel=1e-9, abs=1e-9)


def test_flat_clips_are_far_from_others_and_everything_is_finite() -> None:
    means, covariances = gaussians(12)
    covariances[2] = 0.0
    covariances[5] = np.outer(means[5], means[5]) * 1e-4
    kl = symmetric_kl(means, covariances)
    found = kl.rows(np.arange(12))
    assert kl.n_flat == 2
    assert np.isfinite(found).all()
    usual = [place for place in range(12) if place not in (2, 5)]
    assert found[2, usual].min() > found[np.ix_(usual, usual)].max()


def test_documents_that_are_all_the_same_and_silent_are_at_no_distance() -> None:
    assert (symmetric_kl(np.zeros((4, 3)), np.zeros((4, 3, 3))).rows(np.arange(4)) == 0).all()


def test_blocks_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    kl = symmetric_kl(*gaussians(23))
    whole = kl.rows(np.arange(23))
    monkeypatch.setattr(distances, "BLOCK_BYTES", 23 * 8 * 4)
    parts = list(all_rows(kl, 23))
    assert [len(places) for places, _ in parts] == [4, 4, 4, 4, 4, 3]
    assert np.concatenate([rows for _, rows in parts]) == pytest.approx(whole, rel=1e-12)


def test_a_block_has_a_row_also_where_that_is_too_much() -> None:
    assert [len(part) for part in blocks(np.arange(3), 10**9)] == [1, 1, 1]


def test_numbers_that_are_none_are_refused() -> None:
    means, covariances = gaussians(5, 3)
    means[4, 1] = np.nan
    with pytest.raises(AdjudgeError, match="expected finite means, got others for 1 documents, first 4"):
        symmetric_kl(means, covariances)
    with pytest.raises(AdjudgeError, match="expected finite features"):
        Euclidean(np.array([[1.0], [np.inf]]))


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(AdjudgeError, match=r"expected means of shape n x d .*, got \(5, 3\) and \(5, 2, 2\)"):
        symmetric_kl(np.zeros((5, 3)), np.zeros((5, 2, 2)))
    with pytest.raises(AdjudgeError, match="n x parts x 12"):
        BestRotation(np.zeros((5, 2, 7)))


def test_transposed_pieces_are_the_same_and_others_are_not() -> None:
    rng = np.random.default_rng(2)
    piece, other = rng.random((2, 3, 12))
    values = np.stack([piece, np.roll(piece, 5, axis=1), other, np.roll(other, -2, axis=1)])
    found = BestRotation(values).rows(np.arange(4))
    assert found[0, 1] == 0
    assert found[2, 3] == 0
    assert found[0, 2] == pytest.approx(found[1, 3])
    expected = min(float(np.linalg.norm(piece - np.roll(other, up, axis=1))) for up in range(12))
    assert found[0, 2] == pytest.approx(expected)
