from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from adjudge.arrays import Floats, Ints
from adjudge.errors import AdjudgeError
from adjudge.relevance.models import Ordinal, _Likelihood, fit_ordinal

SETTINGS = [(2, 1), (3, 2), (5, 4), (10, 3)]


def simulated(n_levels: int, n_features: int, n: int = 1500, seed: int = 1) -> tuple[Floats, Ints]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, n_features)) * rng.uniform(0.2, 5, n_features) + rng.uniform(-3, 3, n_features)
    latent = x @ rng.normal(size=n_features) + rng.logistic(size=n)
    cuts = np.quantile(latent, np.linspace(0, 1, n_levels + 1)[1:-1] ** 1.3)
    return x, np.searchsorted(cuts, latent).astype(np.int64)


def ordered_model(x: Floats, level: Ints) -> tuple[Floats, Floats]:
    """Intercepts and effects by statsmodels."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        statsmodels: Any = import_module("statsmodels.miscmodels.ordinal_model")
        fit = statsmodels.OrderedModel(level, x, distr="logit").fit(method="bfgs", disp=0, maxiter=2000, gtol=1e-7)
    return -fit.model.transform_threshold_params(fit.params)[1:-1], fit.params[: x.shape[1]]


@pytest.mark.parametrize(("n_levels", "n_features"), SETTINGS)
def test_fits_are_those_of_statsmodels(n_levels: int, n_features: int) -> None:
    x, level = simulated(n_levels, n_features)
    model = fit_ordinal(x, level, n_levels)
    intercepts, effects = ordered_model(x, level)
    np.testing.assert_allclose(model.intercepts, intercepts, atol=1e-4)
    np.testing.assert_allclose(model.effects, effects, atol=1e-4)


@pytest.mark.parametrize("ridge", [0.0, 2.0])
def test_derivatives_are_those_of_the_likelihood(ridge: float) -> None:
    x, level = simulated(4, 2, n=60)
    likelihood = _Likelihood(x, level, 4, ridge)
    theta = np.array([1.0, 0.2, -0.7, 0.3, -0.1])
    gradient, hessian = likelihood.derivatives(theta)
    steps = 1e-5 * np.eye(5)
    slopes = [(likelihood.value(theta + d) - likelihood.value(theta - d)) / 2e-5 for d in steps]
    np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-6)
    bends = [(likelihood.derivatives(theta + d)[0] - likelihood.derivatives(theta - d)[0]) / 2e-5 for d in steps]
    np.testing.assert_allclose(hessian, bends, rtol=1e-6, atol=1e-6)


def test_probabilities_are_differences_of_inverse_logits() -> None:
    model = Ordinal(np.array([1.0, -1.0]), np.array([2.0]))
    reached = 1 / (1 + np.exp(-np.array([2.0, 0.0])))
    expected = [1 - reached[0], reached[0] - reached[1], reached[1]]
    np.testing.assert_allclose(model.probabilities(np.array([[0.5]]))[0], expected, rtol=1e-14)


@pytest.mark.parametrize(("n_levels", "n_features"), SETTINGS)
def test_moments_are_those_of_the_probabilities(n_levels: int, n_features: int) -> None:
    x, level = simulated(n_levels, n_features, n=200)
    model, worth = fit_ordinal(x, level, n_levels), np.sort(np.random.default_rng(2).random(n_levels))
    p = model.probabilities(x)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-14)
    mean, variance = model.moments(x, worth)
    np.testing.assert_allclose(mean, p @ worth, rtol=1e-12)
    np.testing.assert_allclose(variance, p @ worth**2 - (p @ worth) ** 2, atol=1e-12)
    np.testing.assert_allclose(model.log_likelihood(x, level), np.log(p[np.arange(200), level]), atol=1e-9)


def test_documents_without_a_feature_have_no_moments() -> None:
    model = Ordinal(np.array([0.0]), np.array([1.0]))
    x = np.array([[np.nan], [0.0]])
    mean, variance = model.moments(x, np.array([0.0, 1.0]))
    assert np.isnan([mean[0], variance[0]]).all()
    assert np.isnan(model.probabilities(x)[0]).all()
    assert mean[1] == 0.5


def test_separable_data_need_a_ridge() -> None:
    x = np.linspace(-1, 1, 40)[:, None]
    level = (x[:, 0] > 0).astype(np.int64)
    with pytest.raises(AdjudgeError, match="tell levels apart perfectly: give a 'ridge' above 0"):
        fit_ordinal(x, level, 2)
    model = fit_ordinal(x, level, 2, ridge=1.0)
    assert 0 < model.effects[0] < 30


def test_levels_never_seen_need_a_ridge() -> None:
    x, level = simulated(3, 1)
    with pytest.raises(AdjudgeError, match="No document has level 3 of 4"):
        fit_ordinal(x, level, 4)
    p = fit_ordinal(x, level, 4, ridge=1.0).probabilities(x)
    assert 0 < p[:, 3].mean() < 0.01


def test_a_small_ridge_hardly_moves_a_fit_to_many_documents() -> None:
    x, level = simulated(4, 2)
    free, held = fit_ordinal(x, level, 4), fit_ordinal(x, level, 4, ridge=1e-3)
    np.testing.assert_allclose(free.effects, held.effects, atol=1e-4)
    np.testing.assert_allclose(free.intercepts, held.intercepts, atol=1e-3)


def test_features_that_do_not_move_get_no_effect() -> None:
    x, level = simulated(3, 1)
    model = fit_ordinal(np.hstack([x, np.full_like(x, 0.7)]), level, 3)
    np.testing.assert_allclose(model.effects, [fit_ordinal(x, level, 3).effects[0], 0.0], atol=1e-9)


def test_features_that_move_together_share_the_effect() -> None:
    x, level = simulated(3, 1)
    model = fit_ordinal(np.hstack([x, x]), level, 3)
    np.testing.assert_allclose(model.effects, np.full(2, fit_ordinal(x, level, 3).effects[0] / 2), rtol=1e-6)


def test_units_of_features_do_not_matter() -> None:
    x, level = simulated(3, 2)
    one, other = fit_ordinal(x, level, 3, ridge=5.0), fit_ordinal(x * 1e4 + 7, level, 3, ridge=5.0)
    np.testing.assert_allclose(one.probabilities(x), other.probabilities(x * 1e4 + 7), atol=1e-8)


@pytest.mark.parametrize(
    ("x", "level", "n_levels", "ridge", "message"),
    [
        (np.zeros((2, 1)), np.array([0]), 2, 0.0, "a level each"),
        (np.zeros((0, 1)), np.zeros(0, dtype=np.int64), 2, 0.0, "a level each"),
        (np.array([[np.nan], [1.0]]), np.array([0, 1]), 2, 0.0, "finite"),
        (np.zeros((2, 1)), np.array([0, 2]), 2, 0.0, "levels from 0 to 1"),
        (np.zeros((2, 1)), np.array([0, 1]), 2, -1.0, "'ridge' must be a finite number of at least 0"),
    ],
)
def test_what_cannot_be_fitted_is_refused(x: Floats, level: Ints, n_levels: int, ridge: float, message: str) -> None:
    with pytest.raises(AdjudgeError, match=message):
        fit_ordinal(x, level, n_levels, ridge=ridge)


@pytest.mark.parametrize(
    ("intercepts", "effects", "message"),
    [([], [1.0], "one or more"), ([0.0, 1.0], [], "that fall"), ([np.nan], [1.0], "finite")],
)
def test_what_is_no_model_is_refused(intercepts: list[float], effects: list[float], message: str) -> None:
    with pytest.raises(AdjudgeError, match=message):
        Ordinal(np.array(intercepts), np.array(effects))
