"""Simulated collections: margins and dependence as fitted, models fitted once."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.experiments.samples import samples_of
from adjudge.experiments.simulate import collection
from adjudge.experiments.simulate.collection import NULLS, CollectionModel, asymmetry, fidelity, fit_collection
from adjudge.model.effectiveness import Effectiveness


def _values(n: int = 60, digits: int | None = None) -> Floats:
    rng = np.random.default_rng(1)
    hard = rng.normal(size=(n, 1))
    values = 1 / (1 + np.exp(-(hard + 0.7 * rng.normal(size=(n, 4)) + np.array([-0.5, -0.2, 0.0, 0.6]))))
    return np.asarray(values if digits is None else np.round(values, digits))


@pytest.fixture(scope="module")
def real() -> Floats:
    return _values()


@pytest.fixture(scope="module")
def model(real: Floats) -> CollectionModel:
    return fit_collection(real, systems=["a", "b", "c", "d"])


@pytest.mark.parametrize("dependence", ["empirical", "gaussian", "t", "independent"])
@pytest.mark.parametrize("digits", [None, 1])
def test_many_queries_have_the_true_means(dependence: str, digits: int | None) -> None:
    model = fit_collection(_values(digits=digits), dependence=dependence)
    drawn = model.draw(np.random.default_rng(2), 40_000)
    assert drawn.shape == (40_000, 4)
    assert drawn.mean(axis=0) == pytest.approx(model.means, abs=4.5 * model.sds.max() / 200)
    assert np.unique(drawn).size <= 11 if digits else np.unique(drawn[:, 0]).size == 40_000


def test_systems_can_be_given_other_means(model: CollectionModel) -> None:
    targets = np.array([0.2, 0.5, 0.4, 0.3])
    moved = model.with_means(targets)
    assert moved.means.tolist() == targets.tolist()
    assert moved.systems == model.systems
    assert moved.draw(np.random.default_rng(2), 40_000).mean(axis=0) == pytest.approx(targets, abs=0.006)


@pytest.mark.parametrize("kind", NULLS)
@pytest.mark.parametrize("system", [None, "c"])
def test_no_system_of_a_null_collection_is_better(model: CollectionModel, kind: str, system: str | None) -> None:
    null = model.null(kind, system)
    assert len(set(null.means.tolist())) == 1
    if system:
        assert null.means[0] == model.means[2]
    elif kind == "means":
        assert null.means[0] == model.means.mean()
    else:
        assert null.means[0] == np.sort(model.means)[1]
    same_shape = len({margin.sd for margin in null.margins}) == 1
    assert same_shape == (kind != "means")


def test_exchangeable_systems_share_a_margin_and_the_average_dependence(real: Floats, model: CollectionModel) -> None:
    same, shuffled = model.null("margins"), model.null("exchangeable")
    one, other = (null.draw(np.random.default_rng(4), 40_000) for null in (same, shuffled))
    assert np.array_equal(np.sort(one, axis=1), np.sort(other, axis=1))
    assert other.mean(axis=0) == pytest.approx(shuffled.means, abs=0.006)
    assert other.std(axis=0) == pytest.approx(shuffled.sds, abs=0.006)
    pairs = np.triu_indices(4, 1)
    before, after = (np.asarray(np.corrcoef(drawn.T))[pairs] for drawn in (one, other))
    assert np.ptp(before) > 0.05
    assert after == pytest.approx(np.full(6, before.mean()), abs=0.015)
    assert not shuffled.with_means([0.2, 0.3, 0.4, 0.5]).exchangeable


def test_equal_margins_may_be_ahead_of_one_another_and_exchangeable_systems_are_not() -> None:
    rng = np.random.default_rng(8)
    often = rng.random(300) < 0.8  # a little better on most queries, much worse on the others
    first = rng.random(300)
    second = np.where(often, first - 0.02, first + 0.5)
    model = fit_collection(np.stack([first, second], axis=1))
    uneven = asymmetry(model.null("margins"), np.random.default_rng(1))
    even = asymmetry(model.null("exchangeable"), np.random.default_rng(1))
    drawn = np.sign(np.diff(model.null("margins").draw(np.random.default_rng(2), 20_000)))
    assert uneven.typical == pytest.approx(abs(drawn.mean()), abs=0.03)
    assert uneven.largest > 0.2
    assert even.typical < 0.02


@pytest.mark.parametrize("dependence", ["empirical", "gaussian", "t"])
def test_systems_that_are_the_same_on_every_query_stay_so(real: Floats, dependence: str) -> None:
    twins = np.concatenate([real, real[:, [1]]], axis=1)
    model = fit_collection(twins, dependence=dependence)
    for each in (model, model.null("margins"), model.null("means")):
        drawn = each.draw(np.random.default_rng(1), 200)
        assert np.array_equal(drawn[:, 1], drawn[:, 4])
        assert (drawn[:, 0] != drawn[:, 1]).all()
    assert model.means[1] == model.means[4]
    assert str(model).endswith("of 4 different systems")
    assert model.to_dict()["dependence"]["n_systems"] == 5


def test_independent_systems_are_independent_of_their_twins(real: Floats) -> None:
    drawn = fit_collection(real[:, [0, 0]], dependence="independent").draw(np.random.default_rng(1), 2000)
    assert abs(np.asarray(np.corrcoef(drawn.T))[0, 1]) < 0.1


def test_effectiveness_samples_and_matrices_give_the_same_model(real: Floats) -> None:
    names = ("a", "b", "c", "d")
    eff = Effectiveness.from_matrix(real, systems=names, measure="AP")
    expected = fit_collection(real, systems=names).means
    assert np.array_equal(fit_collection(eff).means, expected)
    assert np.array_equal(fit_collection(samples_of(eff)[0]).means, expected)
    some = fit_collection(samples_of(eff)[0], systems=("d", "a"))
    assert some.systems == ("d", "a")
    assert some.means == pytest.approx(expected[[3, 0]])


def test_a_model_says_what_it_consists_of(real: Floats) -> None:
    model = fit_collection(real, margin="beta", dependence="t")
    assert str(model).startswith("4 systems; margins: 4 beta; dependence: t(")
    content = json.loads(json.dumps(model.to_dict()))
    assert content["margins"]["s1"]["family"] == "beta"
    assert content["dependence"]["dependence"] == "t"


def test_fidelity_sees_that_dependence_is_kept_or_lost(real: Floats, model: CollectionModel) -> None:
    kept = model.fidelity(real, np.random.default_rng(3), repeats=60)
    lost = fidelity(fit_collection(real, dependence="independent"), real, np.random.default_rng(3), repeats=60)
    for figure in ("mean", "sd", "correlation", "sd of differences"):
        assert kept[figure].mean_error < kept[figure].noise
    assert lost["correlation"].mean_error > 0.4
    assert kept.to_dicts()[0]["figure"] == "mean"
    assert "correlation" in str(kept)
    with pytest.raises(AdjudgeError, match=r"'means'.*'mean'"):
        kept["means"]


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda model, real: fit_collection(np.where(np.arange(240).reshape(60, 4) == 9, np.nan, real)),
         "without gaps, got none for query 3, 's2'"),
        (lambda model, real: fit_collection(real[:3]), "at least 4 queries, got 3"),
        (lambda model, real: fit_collection(real, dependence="gauss"), "'gauss'.*'gaussian'"),
        (lambda model, real: fit_collection(real, margin="beta-binomial"), "equidistant effectiveness.*got continuous"),
        (lambda model, real: model.null("mean"), "'mean'.*'means'"),
        (lambda model, real: model.null("margins", "z"), "No system is called 'z'. Known: a, b, c, d."),
        (lambda model, real: model.with_means([0.2, 1.5, 0.3, 0.3]), "system 'b': a mean must be between .* got 1.5"),
        (lambda model, real: model.with_means([0.2, 0.3]), r"a mean for each of 4 systems.*got shape \(2,\)"),
    ],
)  # fmt: skip
def test_what_cannot_be_simulated_is_refused_in_one_line(
    ask: Callable[[CollectionModel, Floats], object], words: str, model: CollectionModel, real: Floats
) -> None:
    with pytest.raises(AdjudgeError, match=words):
        ask(model, real)


def test_a_model_is_that_of_its_sample_and_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collection, "_KEPT", {})
    values = np.random.default_rng(0).random((8, 3))
    samples = samples_of(Effectiveness.from_matrix(values, measure="AP"))
    (model,) = collection.models_of(samples, "kernel", "independent")
    assert model.systems == samples.systems
    alone = fit_collection(values, systems=samples.systems, margin="kernel", dependence="independent")
    assert model.means.tolist() == alone.means.tolist()
    assert collection.models_of(samples, "kernel", "independent")[0] is model


def test_the_oldest_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collection, "_KEPT", {})
    made: list[int] = []

    def make(i: int) -> tuple[()]:
        made.append(i)
        return ()

    for i in (0, 1, 2, 3, 4, 4, 0):
        collection.kept((str(i),), lambda i=i: make(i))  # type: ignore[misc]
    assert made == [0, 1, 2, 3, 4, 0]
