"""The arithmetic of resampling on a card, in NumPy, and what is said where there is no card."""

from __future__ import annotations

import builtins
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from adjudge.arrays import Floats, Ints
from adjudge.errors import AdjudgeError
from adjudge.experiments import gpu
from adjudge.experiments.gpu import UNIT, WIDEST, bits, fixed_point
from adjudge.stats.paired import How, Outcome, resampled_tests
from adjudge.stats.resampling import FLIPPED, SHIFTED, Resampling, draws

SCHEMES = {"bootstrap": SHIFTED, "permutation": FLIPPED}
ALTERNATIVES = ("two-sided", "greater", "less")


@pytest.fixture(params=SCHEMES)
def scheme(request: pytest.FixtureRequest) -> Resampling:
    return SCHEMES[request.param]


def continuous(n_queries: int = 50, n_systems: int = 6) -> Floats:
    rng = np.random.default_rng(3)
    return np.clip(rng.random((n_queries, 1)) + rng.normal(0, 0.2, (n_queries, n_systems)), 0, 1)


def fifths(n_queries: int = 50) -> Floats:
    values: Floats = np.round(continuous(n_queries) * 5) / 5
    return values


def in_halves(table: gpu.Table, how: How, scheme: Resampling, *_: Any, **__: Any) -> tuple[Ints, Ints]:
    """What the kernel counts, from halves that are rounded as the card holds them, on the processor's draws."""
    two_sided = how.alternative == "two-sided"
    fixed = fixed_point(table.values, table.first, table.second, centred=scheme.centred, two_sided=two_sided, xp=np)
    high, low = (half.astype(np.float16).astype(np.float32) for half in (fixed.high, fixed.low))
    upper = np.zeros(len(table.first), dtype=np.int64)
    lower = upper.copy()
    for weights in draws(scheme.draw, table.values.shape[1], how.resamples, how.seed):
        weighed = weights.astype(np.float16).astype(np.float32)
        sums = high @ weighed + low @ weighed
        upper += ((np.abs(sums) if two_sided else sums) >= fixed.least.astype(np.float32)[:, None]).sum(axis=1)
        lower += (sums <= fixed.most.astype(np.float32)[:, None]).sum(axis=1)
    return upper, upper if two_sided else lower


@pytest.fixture
def emulated(monkeypatch: pytest.MonkeyPatch) -> None:
    """A card whose kernel is NumPy's."""
    monkeypatch.setattr(gpu, "cuda_device", lambda: None)
    monkeypatch.setattr(gpu, "count_table", in_halves)


def assert_equal_but_for_rounding(ours: list[Outcome], theirs: list[Outcome], resamples: int, most: int) -> None:
    for mine, other in zip(ours, theirs, strict=True):
        assert np.abs(mine.p - other.p).max() * (resamples + 1) <= most + 1e-6
        np.testing.assert_allclose(mine.statistic, other.statistic, atol=1e-12)
        assert mine.drawn == other.drawn


@pytest.mark.usefixtures("emulated")
@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize(
    ("matrices", "most"),
    [([continuous(), continuous(50, 3), continuous(40)], 2), ([fifths()], 0)],
    ids=["continuous", "discrete, all ties count"],
)
def test_on_the_same_draws_p_values_are_those_of_the_processor(
    matrices: list[Floats], most: int, alternative: Any, scheme: Resampling
) -> None:
    how = How(alternative, 2000, 5)
    ours, theirs = gpu.resampled_tests_on_gpu(matrices, how, scheme), resampled_tests(matrices, how, scheme)
    assert_equal_but_for_rounding(ours, theirs, how.resamples, most=most)


@pytest.mark.usefixtures("emulated")
def test_the_same_difference_everywhere_is_as_significant_as_resamples_allow_and_none_is_not() -> None:
    values = continuous()[:, :1] + np.array([[0.0, 0.1, 1e-17, 0.0]])
    p = gpu.resampled_tests_on_gpu([values], How(resamples=1000), SHIFTED)[0].p
    assert p[0, 1] == 1 / 1001
    assert p[0, 2] == p[0, 3] == p[0, 0] == 1


@pytest.mark.usefixtures("emulated")
def test_what_is_not_drawn_and_what_has_gaps_stays_on_the_processor(scheme: Resampling) -> None:
    gaps = continuous()
    gaps[3, 2] = np.nan
    matrices = [continuous(10), gaps, continuous(50, 1), continuous()]
    how = How(resamples=500)
    ours, theirs = gpu.resampled_tests_on_gpu(matrices, how, scheme), resampled_tests(matrices, how, scheme)
    assert_equal_but_for_rounding(ours, theirs, how.resamples, most=2)
    assert np.array_equal(ours[1].p, theirs[1].p)


@pytest.mark.parametrize("n_queries", [2, 16, 17, 50, 64, 65, WIDEST])
def test_halves_are_exact_in_half_precision_and_sums_in_single(n_queries: int) -> None:
    values = np.random.default_rng(n_queries).normal(0, 1e-3, (4, n_queries))
    fixed = fixed_point(values, [0, 1], [2, 3], centred=False, two_sided=True, xp=np)
    for half in (fixed.high, fixed.low):
        assert np.array_equal(half.astype(np.float16).astype(np.float64), half)
    whole = UNIT * (fixed.high + fixed.low)
    assert np.array_equal(whole, np.rint(whole))
    assert np.abs(whole).max() == 2 ** bits(n_queries)
    assert n_queries * np.abs(whole).max() <= 2**24


def test_sums_are_off_by_no_more_than_the_bounds_allow(scheme: Resampling) -> None:
    values = continuous().T
    first, second = np.triu_indices(len(values), 1)
    options: dict[str, Any] = {"centred": scheme.centred, "two_sided": False, "xp": np}
    fixed = fixed_point(values, first, second, **options)
    source = values - values.mean(axis=1, keepdims=True) if scheme.centred else values
    differences = source[first] - source[second]
    scale = 2 ** bits(50) / np.abs(differences).max(axis=1) / UNIT
    weights = next(draws(scheme.draw, 50, 4000, 1))
    off = np.abs((fixed.high + fixed.low) @ weights - scale[:, None] * (differences @ weights)).max(axis=1)
    observed = (values[first] - values[second]).sum(axis=1) * scale
    assert np.all(off <= observed - fixed.least)
    assert np.all(off <= fixed.most - observed)
    assert np.all(fixed.most - fixed.least <= 2 * (50 / 2 + 1) / UNIT)


def test_a_pair_with_one_far_larger_difference_is_known_as_coarse() -> None:
    values = np.random.default_rng(0).normal(0, 1, (3, 50))
    values[1] = values[0] + np.random.default_rng(1).normal(0, 1e-4, 50)
    values[1, 7] += 1
    fixed = fixed_point(values, [0, 0], [1, 2], centred=False, two_sided=True, xp=np)
    assert fixed.coarse.tolist() == [True, False]


@pytest.mark.parametrize(
    ("torch", "words"),
    [
        (None, "PyTorch is not installed"),
        (
            SimpleNamespace(__version__="2.11.0", cuda=SimpleNamespace(is_available=lambda: False)),
            "2.11.0 finds no device",
        ),
    ],
    ids=["no PyTorch", "no card"],
)
def test_what_is_missing_is_said_in_one_line(torch: Any, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setattr(gpu, "find_spec", lambda name: torch)
    with pytest.raises(AdjudgeError, match=f"--gpu needs PyTorch and a CUDA device: .*{words}"):
        gpu.resampled_tests_on_gpu([continuous()], How(), SHIFTED)


def test_nothing_of_pytorch_is_loaded_before_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.partition(".")[0] in {"torch", "triton"}:
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    assert gpu.tabled([continuous()]).values.shape == (6, 50)
    assert gpu.padded(WIDEST) == WIDEST
