"""Ordinal models, and how they are fitted to judgments."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import adjudge as aj
from adjudge.arrays import Floats, Ints
from adjudge.errors import AdjudgeError, InputError
from adjudge.model.scales import BINARY, BROAD, FINE, Scale
from adjudge.relevance import models as fitting
from adjudge.relevance.candidates import Candidates, candidates
from adjudge.relevance.features import cut_levels
from adjudge.relevance.models import (
    PUBLISHED_SCALES,
    FittedModel,
    Ordinal,
    fit_estimator,
    fit_ordinal,
    published_model,
)

MODEL = {"features": ["fSYS"], "effects": [3.5], "intercepts": [1, -1], "levels": [0, 0.5, 1]}


@pytest.fixture(scope="module")
def demo() -> Candidates:
    return candidates(aj.demo(depth=5), cutoff=5)


@pytest.mark.parametrize(
    ("scale", "wanted", "worth"),
    [
        (BINARY, None, [0, 1]),
        (BROAD, None, [0, 0.5, 1]),
        (Scale("graded", 4.0, -2.0, levels=7), None, [0, 0.25, 0.5, 0.75, 1]),
        (FINE, None, [0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95]),
        (FINE, 4, [0.125, 0.375, 0.625, 0.875]),
        (Scale("share", 1.0), 2, [0.25, 0.75]),
    ],
)
def test_levels_are_those_of_the_scale_or_equal_parts_of_it(
    scale: Scale, wanted: int | None, worth: Sequence[float]
) -> None:
    bounds, found = cut_levels(scale, wanted)
    assert found == pytest.approx(worth)
    assert np.searchsorted(bounds, worth, side="right").tolist() == list(range(len(worth)))
    assert np.searchsorted(bounds, [0.0, 1.0], side="right").tolist() == [0, len(worth) - 1]


def test_what_is_fitted_never_has_its_own_judgment_among_its_features(
    demo: Candidates, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where collections differ in one judgment, that pair's response differs, never its features."""
    seen: list[tuple[Floats, Ints]] = []

    def caught(x: Floats, level: Ints, n_levels: int, *, ridge: float) -> Ordinal:
        seen.append((x, level))
        return Ordinal(-np.arange(float(n_levels - 1)), np.zeros(x.shape[1]))

    monkeypatch.setattr(fitting, "fit_ordinal", caught)
    pair = int(np.flatnonzero(demo.relevance == 0)[0])
    changed = demo.relevance.copy()
    changed[pair] = 1.0
    for relevance in (demo.relevance, changed):
        pool = dataclasses.replace(demo, relevance=relevance)
        fit_estimator([pool], features=["aDOC"], shares=[0.5], draws=1, seed=3)
    (x, level), (new_x, new_level) = seen
    moved = np.flatnonzero(level != new_level)
    assert len(moved) <= 1
    np.testing.assert_array_equal(x[moved], new_x[moved])


def test_the_same_seed_gives_the_same_model(demo: Candidates) -> None:
    models = [fit_estimator([demo], features=["fSYS", "aDOC"], seed=seed) for seed in (1, 1, 2)]
    assert models[0].to_dict() == models[1].to_dict() != models[2].to_dict()


def test_several_collections_are_fitted_together(demo: Candidates) -> None:
    one, two = (fit_estimator([demo] * n, features=["fSYS"], ridge=0.0) for n in (1, 2))
    assert two.n_documents == 2 * one.n_documents == 2 * int(demo.judged.sum())
    np.testing.assert_allclose(one.ordinal.effects, two.ordinal.effects, atol=1e-6)


def test_models_come_back_from_their_files(demo: Candidates, tmp_path: Path) -> None:
    kinds: tuple[Literal["output", "judgments"], ...] = ("output", "judgments")
    published = [published_model(scale, kind) for scale in PUBLISHED_SCALES for kind in kinds]
    for model in (fit_estimator([demo], features=["fSYS", "fTEAM"]), *published):
        model.save(tmp_path / "model.json")
        again = FittedModel.load(tmp_path / "model.json")
        assert (again.to_dict(), str(again)) == (model.to_dict(), str(model))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"extra": 1}, "Expected a model with features, effects"),
        ({"features": "fSYS"}, "'features' must be a list of names"),
        ({"effects": ["x"]}, "'effects' must be a list of numbers"),
        ({"effects": [1, 2]}, "Expected an effect of each feature"),
        ({"intercepts": [-1, 1]}, "intercepts that fall"),
        ({"intercepts": []}, "one or more"),
        ({"intercepts": [float("nan"), -1]}, "finite"),
        ({"levels": [0, 1]}, "Expected 3 levels, got 2"),
        ({"levels": [0, 2, 1]}, "levels that rise between 0 and 1"),
        ({"n_documents": "many"}, "'n_documents' a number"),
    ],
)
def test_what_is_no_model_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(AdjudgeError, match=message):
        FittedModel.from_dict({**MODEL, **change})


@pytest.mark.parametrize("text", [None, b"", b"{", b"[]", b"{}", b"3", b"\xff\xfe\x00"])
def test_files_that_hold_no_model_are_refused_by_name(tmp_path: Path, text: bytes | None) -> None:
    if text is not None:
        (tmp_path / "model.json").write_bytes(text)
    with pytest.raises(InputError, match=r"model\.json"):
        FittedModel.load(tmp_path / "model.json")


def test_what_cannot_be_fitted_is_refused(demo: Candidates, make_collection: Callable[..., aj.Collection]) -> None:
    graded = candidates(make_collection(1, scale="0..9"), cutoff=5)
    blank = candidates(make_collection(1, scale="0..3"), cutoff=5)
    refused: list[tuple[list[Candidates], dict[str, Any], str]] = [
        ([], {}, "one judged collection or more"),
        ([demo.unjudged()], {}, "got one without judgments"),
        ([demo, graded], {}, "collections with one scale"),
        ([demo], {"features": ["fSYS"], "levels": 1}, "'levels' must be a whole number of at least 2, got 1"),
        ([demo], {"features": ["aDOC"], "shares": [1.0]}, r"'shares' must be in \(0, 1\), got 1"),
        ([demo], {"features": ["fSIS"]}, "No feature is called 'fSIS'"),
        ([blank], {"features": ["fSYS", "sGEN"]}, "No judged document has all features: fSYS, sGEN"),
    ]
    for collections, settings, message in refused:
        with pytest.raises(AdjudgeError, match=message):
            fit_estimator(collections, **settings)


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


@pytest.mark.parametrize("ridge", [0.5, 20.0])
def test_a_ridge_penalises_effects_and_spreads_documents_over_levels(ridge: float) -> None:
    x, level = simulated(4, 2, n=60)
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    model = fit_ordinal(x, level, 4, ridge=ridge)

    def penalised(step: Floats) -> float:
        moved = Ordinal(model.intercepts + step[:3], model.effects + step[3:])
        average = moved.log_likelihood(np.zeros((4, 2)), np.arange(4)).mean()
        return float(moved.log_likelihood(x, level).sum() + ridge * (average - moved.effects @ moved.effects / 2))

    for step in 1e-4 * np.vstack([np.eye(5), -np.eye(5)]):
        assert penalised(step) < penalised(np.zeros(5))
        assert penalised(step) == pytest.approx(penalised(np.zeros(5)), abs=1e-6)  # flat there


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


def test_separable_data_and_levels_never_seen_need_a_ridge() -> None:
    x = np.linspace(-1, 1, 40)[:, None]
    level = (x[:, 0] > 0).astype(np.int64)
    with pytest.raises(AdjudgeError, match="tell levels apart perfectly: give a 'ridge' above 0"):
        fit_ordinal(x, level, 2)
    assert 0 < fit_ordinal(x, level, 2, ridge=1.0).effects[0] < 30
    x, level = simulated(3, 1)
    with pytest.raises(AdjudgeError, match="No document has level 3 of 4"):
        fit_ordinal(x, level, 4)
    assert 0 < fit_ordinal(x, level, 4, ridge=1.0).probabilities(x)[:, 3].mean() < 0.01


def test_features_that_do_not_move_get_no_effect_and_copies_share_it() -> None:
    x, level = simulated(3, 1)
    effect = fit_ordinal(x, level, 3).effects[0]
    np.testing.assert_allclose(fit_ordinal(np.hstack([x, 0 * x + 0.7]), level, 3).effects, [effect, 0.0], atol=1e-9)
    np.testing.assert_allclose(fit_ordinal(np.hstack([x, x]), level, 3).effects, [effect / 2] * 2, rtol=1e-6)


def test_units_of_features_do_not_matter() -> None:
    x, level = simulated(3, 2)
    one, other = fit_ordinal(x, level, 3, ridge=5.0), fit_ordinal(x * 1e4 + 7, level, 3, ridge=5.0)
    np.testing.assert_allclose(one.probabilities(x), other.probabilities(x * 1e4 + 7), atol=1e-8)


@pytest.mark.parametrize(
    ("x", "level", "message"),
    [
        (np.zeros((2, 1)), np.array([0]), "a level each"),
        (np.zeros((0, 1)), np.zeros(0, dtype=np.int64), "a level each"),
        (np.array([[np.nan], [1.0]]), np.array([0, 1]), "finite"),
        (np.zeros((2, 1)), np.array([0, 2]), "levels from 0 to 1"),
    ],
)
def test_an_ordinal_model_that_cannot_be_fitted_is_refused(x: Floats, level: Ints, message: str) -> None:
    with pytest.raises(AdjudgeError, match=message):
        fit_ordinal(x, level, 2)
