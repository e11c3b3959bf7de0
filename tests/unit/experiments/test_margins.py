from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.experiments.simulate.margins import MARGINS, Margin, fit_margin, support_of

THREE = Margin("by hand", np.array([0.0, 0.4, 1.0]), np.array([0.5, 0.3, 0.2]), np.zeros(3))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0.1, 0.2, 0.9], "11 equidistant values"),
        ([0.25, 0.5, 1.0], "5 equidistant values"),
        ([0.002, 0.318, 0.444], "501 equidistant values"),
        ([3.0, 0.0, 7.0], "8 equidistant values"),
        ([0.12345, 0.33333, 0.7], "continuous from 0 to 1"),
        ([0.123456] * 5 + [0.7654321] * 5, "2 different values"),
        ([-0.12345, 0.33333, 0.7], "continuous from -inf to inf"),
        ([0.0, 1e69, 3e69, 2e20], "continuous from 0 to inf"),  # whole numbers too far apart to be counted through
    ],
)
def test_a_support_is_recognised(values: list[float], kind: str) -> None:
    assert support_of(values).kind == kind


def test_a_support_counts_how_often_its_points_were_seen() -> None:
    support = support_of([[0.1, 0.1 + 1e-15], [0.3, 0.1 + 0.2]])
    assert support.counts.tolist() == [0, 2, 0, 2] + [0] * 7


@pytest.mark.parametrize("mean", [0.05, 0.3, 0.32, 0.9, 1e-9, 1 - 1e-9])
def test_tilting_is_as_near_as_a_margin_with_that_mean_can_be(mean: float) -> None:
    # With three points and a mean, one free probability is left: minimise the divergence over it by brute force.
    def divergence(last: float) -> float:
        p = np.array([1 - (mean - last) / 0.4 - last, (mean - last) / 0.4, last])
        return float(np.sum(p * np.log(np.maximum(p, 1e-300) / THREE.probabilities))) if (p >= 0).all() else np.inf

    low, high = max(0.0, (mean - 0.4) / 0.6), mean
    last = optimize.minimize_scalar(divergence, bounds=(low, high), method="bounded", options={"xatol": 1e-12}).x
    tilted = THREE.tilted(mean)
    assert tilted.probabilities @ tilted.points == pytest.approx(mean, abs=1e-12)
    assert tilted.probabilities[2] == pytest.approx(last, abs=1e-6)


@pytest.mark.parametrize("mean", [0.0, 1.0, -0.1, 1.5])
def test_means_at_and_beyond_the_ends_are_refused(mean: float) -> None:
    with pytest.raises(
        AdjudgeError, match=rf"\Aa mean must be between 0 and 1, the ends of the margin, got {mean:g}\Z"
    ):
        THREE.tilted(mean)


def test_a_margin_can_be_given_a_mean_and_a_deviation() -> None:
    margin = fit_margin(np.random.default_rng(1).beta(2, 5, size=80), "beta").matched(0.4, 0.15)
    assert margin.mean == pytest.approx(0.4, abs=1e-12)
    assert margin.sd == pytest.approx(0.15, abs=1e-8)
    assert THREE.matched(0.5, 0.9).mean == 0.5  # no distribution on [0, 1] deviates so much


@pytest.mark.parametrize(
    ("family", "sample", "parameters"),
    [
        ("beta", np.random.default_rng(2).beta(0.8, 2.5, size=20_000), {"alpha": 0.8, "beta": 2.5}),
        (
            "truncated-normal",  # cut at 0 and 1
            stats.truncnorm.rvs(-0.5, 2, loc=0.2, scale=0.4, size=20_000, random_state=3),
            {"mu": 0.2, "sigma": 0.4},
        ),
        (
            "beta-binomial",
            stats.betabinom.rvs(10, 1.5, 3, size=20_000, random_state=4) / 10,
            {"alpha": 1.5, "beta": 3, "n": 10},
        ),
    ],
    ids=["beta", "truncated-normal", "beta-binomial"],
)
def test_a_family_gives_its_parameters_back(family: str, sample: Floats, parameters: dict[str, float]) -> None:
    found = MARGINS[family].fit(sample, support_of(sample))
    assert found.parameters == pytest.approx(parameters, rel=0.05, abs=0.03)
    at = np.array([0.05, 0.25, 0.65])
    assert found.cdf(at) == pytest.approx((sample[:, np.newaxis] <= at).mean(axis=0), abs=0.01)
    if family == "beta":
        a, b, _, _ = stats.beta.fit(sample[:500], floc=0, fscale=1)
        few = MARGINS["beta"].fit(sample[:500], support_of(sample[:500])).parameters
        assert few == pytest.approx({"alpha": a, "beta": b}, rel=1e-4)


@pytest.mark.parametrize("family", ["kernel", "logit-kernel"])
def test_kernels_find_two_hills(family: str) -> None:
    rng = np.random.default_rng(5)
    sample = np.concatenate([rng.beta(20, 80, size=600), rng.beta(80, 20, size=400)])
    found = fit_margin(sample, family)
    assert found.cdf(0.5) == pytest.approx(0.6, abs=0.01)
    assert found.cdf(0.2) == pytest.approx(0.6 * stats.beta(20, 80).cdf(0.2), abs=0.04)
    assert fit_margin(sample).family in {"kernel", "logit-kernel"}


def test_auto_takes_the_family_that_the_sample_comes_from() -> None:
    rng = np.random.default_rng(6)
    assert fit_margin(rng.beta(0.5, 2, size=2000)).family == "beta"
    assert fit_margin(rng.binomial(10, rng.beta(1, 3, size=2000)) / 10).family == "beta-binomial"


def test_a_kernel_on_discrete_values_is_the_sum_of_its_kernels() -> None:
    found = MARGINS["discrete-kernel"].fit(np.array([0.0, 0.0, 0.5, 1.0]), support_of([0.0, 0.5, 1.0]))
    decay = found.parameters["decay"]
    end, middle = np.array([1, decay, decay**2]), np.array([decay, 1, decay])
    expected = (2 * end / end.sum() + middle / middle.sum() + end[::-1] / end.sum()) / 4
    assert found.probabilities == pytest.approx(expected, abs=1e-12)


def test_a_margin_prints_itself() -> None:
    margin = fit_margin([0.1, 0.2, 0.2, 0.5, 0.3, 0.7], "beta-binomial")
    assert str(margin).startswith("beta-binomial(alpha=")
    assert "11 cells" in repr(margin)
    assert set(margin.to_dict()) == {"family", "parameters", "mean", "sd"}
    with pytest.raises(AdjudgeError, match=r"\Aa probability must be in \[0, 1\], got 1.5\Z"):
        margin.quantile([0.5, 1.5])
    with pytest.raises(AdjudgeError, match=r"'bta'.*'beta'"):
        fit_margin([0.1, 0.2], "bta")
