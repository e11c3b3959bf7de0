"""What every registered baseline system must obey."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from tests.unit.audio.systems.invented_sounds import invented

from adjudge.arrays import Floats
from adjudge.audio.features import AUDIO_FEATURES
from adjudge.audio.systems import BASELINES, Sounds, make_runs
from adjudge.errors import kept_warnings

N = 24
EVERYWHERE = np.arange(N)


@cache
def sounds() -> Sounds:
    return invented(N)


@cache
def distances(name: str) -> Floats:
    return BASELINES[name].start(sounds()).rows(EVERYWHERE)


@pytest.mark.parametrize("name", BASELINES)
def test_a_system_says_what_it_does_and_needs(name: str) -> None:
    system = BASELINES[name]
    assert system.name == name
    assert " " not in name
    assert system.about.endswith(".")
    assert set(system.needs) <= set(AUDIO_FEATURES)


@pytest.mark.parametrize("name", BASELINES)
def test_distances_are_finite_symmetric_and_zero_to_oneself(name: str) -> None:
    found = distances(name)
    assert found.shape == (N, N)
    assert found.dtype == np.float64
    assert np.isfinite(found).all()
    assert (found >= 0).all()
    assert (np.diag(found) == 0).all()
    assert found == pytest.approx(found.T, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", BASELINES)
def test_rows_are_the_same_one_by_one_and_in_any_order(name: str) -> None:
    started = BASELINES[name].start(sounds())
    some = np.array([5, 0, 17])
    assert started.rows(some) == pytest.approx(distances(name)[some], rel=1e-9, abs=1e-9)
    assert started.rows(some[1:2]) == pytest.approx(distances(name)[:1], rel=1e-9, abs=1e-9)
    assert started.rows(some[:0]).shape == (0, N)


@pytest.mark.parametrize("name", BASELINES)
def test_the_same_seed_gives_the_same_runs(name: str) -> None:
    first, again = (make_runs(invented(N), [name]).to_polars() for _ in range(2))
    assert first.equals(again)


@pytest.mark.parametrize("name", BASELINES)
def test_only_the_features_that_a_system_needs_are_looked_at(name: str) -> None:
    needed = {key: values for key, values in sounds().features.items() if key in BASELINES[name].needs}
    assert (BASELINES[name].start(replace(sounds(), features=needed)).rows(EVERYWHERE[:2]) == distances(name)[:2]).all()


@pytest.mark.parametrize("name", BASELINES)
def test_silence_and_missing_tags_are_no_trouble(name: str) -> None:
    silent = invented(N, tagged=False)
    zeros = {key: np.zeros_like(values) for key, values in silent.features.items()}
    with kept_warnings():
        runs = make_runs(replace(silent, features=zeros), [name], k=3)
    assert (runs[0].lengths == 3).all()


@pytest.mark.parametrize("name", BASELINES)
@pytest.mark.parametrize("n", [2, 3])
def test_two_or_three_documents_are_enough(name: str, n: int) -> None:
    with kept_warnings():
        runs = make_runs(invented(n), [name])
    assert (runs[0].lengths == n - 1).all()
