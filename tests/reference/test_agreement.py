"""Agreement against published worked examples, the package krippendorff and statsmodels.

Krippendorff's reliability data (12 units, 4 observers) are from Computing Krippendorff's Alpha-Reliability (2011) and
Content Analysis (2004, table 11.5), with alpha .743 nominal, .815 ordinal, .849 interval and .797 ratio. They are also
``cac.raw4raters`` of Gwet's irrCAC, whose vignette prints Fleiss' kappa 0.76117 for unequal numbers of ratings. The
table of 10 subjects, 14 raters and 5 categories, kappa .210, is the worked example of Fleiss' kappa in Wikipedia.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Literal, get_args

import krippendorff
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from adjudge.arrays import Floats
from adjudge.stats.agreement import Ratings, agreement
from adjudge.stats.agreement_coefficients import Metric, Weights, cohen_kappa, fleiss_kappa, krippendorff_alpha

NAN = float("nan")
METRICS: tuple[Metric, ...] = get_args(Metric)
OBSERVERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
).T
FOURTEEN_RATERS = np.array(
    [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
)

some_ratings = arrays(
    np.float64,
    array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=9),
    elements=st.sampled_from([0.0, 1.0, 2.0, 2.5, 7.0, NAN, NAN]),
)


@pytest.fixture(scope="module")
def inter_rater() -> Any:
    return import_module("statsmodels.stats.inter_rater")


def raters_of(counts: Any) -> Floats:
    """Ratings, units x raters, from how many raters chose each category."""
    return np.array([np.repeat(np.arange(len(row)), row) for row in counts], dtype=np.float64)


def contingency(a: npt.NDArray[Any], b: npt.NDArray[Any], n_levels: int) -> Floats:
    table = np.zeros((n_levels, n_levels))
    np.add.at(table, (a.astype(int), b.astype(int)), 1)
    return table


@pytest.mark.parametrize(
    ("metric", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_the_alphas_that_krippendorff_published_come_out(metric: Metric, published: float) -> None:
    assert krippendorff_alpha(OBSERVERS, metric) == pytest.approx(published, abs=5e-4)


def test_the_whole_report_has_krippendorffs_numbers() -> None:
    units = tuple(("q", f"d{i}") for i in range(12))
    result = agreement(Ratings(OBSERVERS, ("A", "B", "C", "D"), units), resamples=0)
    assert result.alpha.value == pytest.approx(0.849, abs=5e-4)
    assert result.fleiss.value == pytest.approx(0.76117, abs=5e-6)
    assert (result.n_ratings, result.n_units, result.n_paired) == (41, 12, 11)


def test_the_fleiss_kappa_of_the_worked_example_comes_out() -> None:
    assert fleiss_kappa(raters_of(FOURTEEN_RATERS)) == pytest.approx(0.210, abs=5e-4)


def test_unequal_numbers_of_ratings_give_the_fleiss_kappa_of_irrcac() -> None:
    assert fleiss_kappa(OBSERVERS) == pytest.approx(0.76117, abs=5e-6)


@pytest.mark.parametrize("metric", METRICS)
@settings(deadline=None, max_examples=60)
@given(values=some_ratings)
def test_alpha_is_that_of_the_package_krippendorff(metric: Metric, values: Floats) -> None:
    paired = values[np.isfinite(values).sum(axis=1) >= 2]
    assume(len(np.unique(paired[np.isfinite(paired)])) > 1)
    wanted = krippendorff.alpha(values.T, level_of_measurement=metric)
    assert krippendorff_alpha(values, metric) == pytest.approx(wanted, abs=1e-10)


@pytest.mark.parametrize("metric", METRICS)
def test_alpha_of_many_fine_grades_is_that_of_the_package_krippendorff(metric: Metric) -> None:
    rng = np.random.default_rng(5)
    values = np.clip(np.rint(50 + 20 * (rng.normal(size=(300, 1)) + rng.normal(size=(300, 6)))), 0, 100)
    values[rng.random(values.shape) < 0.4] = np.nan
    wanted = krippendorff.alpha(values.T, level_of_measurement=metric)
    assert krippendorff_alpha(values, metric) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize(("weights", "named"), [("none", None), ("linear", "linear"), ("quadratic", "quadratic")])
@pytest.mark.parametrize("seed", range(10))
def test_cohens_kappa_is_that_of_statsmodels(
    inter_rater: Any, weights: Weights, named: Literal["linear", "quadratic"] | None, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    n_levels = int(rng.integers(2, 7))
    a = rng.integers(0, n_levels, size=60).astype(np.float64)
    b = np.where(rng.random(60) < 0.6, a, rng.integers(0, n_levels, size=60))
    wanted = inter_rater.cohens_kappa(contingency(a, b, n_levels), wt=named, return_results=False)
    assert cohen_kappa(a, b, weights=weights) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("weights", ["linear", "quadratic"])
def test_with_levels_the_distance_of_statsmodels_is_between_places_on_the_scale(
    inter_rater: Any, weights: Literal["linear", "quadratic"]
) -> None:
    rng = np.random.default_rng(8)
    levels = np.array([0.0, 1.0, 4.0, 10.0])
    a = rng.integers(0, 4, size=50)
    b = np.where(rng.random(50) < 0.5, a, rng.integers(0, 4, size=50))
    wanted = inter_rater.cohens_kappa(contingency(a, b, 4), wt=weights, return_results=False)
    assert cohen_kappa(levels[a], levels[b], weights=weights, levels=list(levels)) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_fleiss_kappa_is_that_of_statsmodels(inter_rater: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 4, size=(30, 1)) + rng.integers(0, 2, size=(30, int(rng.integers(2, 7))))
    counts, _ = inter_rater.aggregate_raters(values)
    assert fleiss_kappa(values) == pytest.approx(inter_rater.fleiss_kappa(counts), abs=1e-12)


@pytest.mark.parametrize(("metric", "named"), [("interval", "quadratic"), ("nominal", None)])
def test_the_mean_over_pairs_is_made_of_the_kappas_of_statsmodels(
    inter_rater: Any, metric: Metric, named: str | None
) -> None:
    rng = np.random.default_rng(11)
    values = np.clip(rng.integers(0, 4, size=(80, 1)) + rng.integers(-1, 2, size=(80, 4)), 0, 3).astype(np.float64)
    values[rng.random(values.shape) < 0.3] = np.nan
    result = agreement(
        Ratings(values, ("a", "b", "c", "d"), tuple(("q", str(u)) for u in range(80))), metric=metric, resamples=0
    )
    kappas, sizes = [], []
    for i in range(4):
        for j in range(i + 1, 4):
            both = np.isfinite(values[:, i]) & np.isfinite(values[:, j])
            table = contingency(values[both, i], values[both, j], 4)
            kappas.append(inter_rater.cohens_kappa(table, wt=named, return_results=False))
            sizes.append(int(both.sum()))
    assert [pair.n_units for pair in result.pairs] == sizes
    assert [pair.cohen for pair in result.pairs] == pytest.approx(kappas, abs=1e-12)
    assert result.cohen.value == pytest.approx(np.average(kappas, weights=sizes), abs=1e-12)
