from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import adjudge as aj
from adjudge.errors import AdjudgeError, AdjudgeWarning
from adjudge.model.scales import BINARY, BROAD, FINE, Scale
from adjudge.relevance.base import ESTIMATORS, scoring, start
from adjudge.relevance.candidates import Candidates, candidates
from adjudge.relevance.estimators import IndependentModel
from adjudge.relevance.features import Evidence, uniform_moments
from adjudge.relevance.models import fit_estimator, published_model

PUBLISHED = ("uniform", "prior", "output", "judgments")
Make = Callable[..., aj.Collection]


def simulated(seed: int = 1, *, scale: str = "fine", n_queries: int = 8, blank: bool = True) -> Candidates:
    """A collection with metadata: grades follow artists; the last document has no metadata."""
    rng = np.random.default_rng(seed)
    names = [f"d{i:02d}" for i in range(40)]
    artist, genre = rng.integers(0, 12, 40), rng.integers(0, 3, 40)
    level = rng.random((n_queries, 12))
    highest = {"fine": 100, "broad": 2, "binary": 1}.get(scale, 4)
    runs: dict[str, dict[str, list[str]]] = {}
    for s in range(5):
        runs[f"s{s}"] = {f"q{q}": [names[d] for d in rng.permutation(40)[:5]] for q in range(n_queries)}
    runs["s0"]["q0"][0] = names[-1]
    judgments: dict[str, dict[str, float]] = {f"q{q}": {} for q in range(n_queries)}
    for q in range(n_queries):
        for d in range(40):
            relevance = np.clip(level[q, artist[d]] + 0.1 * rng.normal(), 0, 1)
            judgments[f"q{q}"][names[d]] = round(float(relevance) * highest)
    kept = 39 if blank else 40
    metadata = pl.DataFrame(
        {
            "document": [*names[:kept], *judgments],
            "artist": [*(f"a{a}" for a in artist[:kept]), *judgments],
            "genre": [*(f"g{g}" for g in genre[:kept]), *(f"g{q % 3}" for q in range(n_queries))],
        }
    )
    return candidates(aj.read(runs, judgments, metadata, scale=scale), cutoff=5)


def unjudged(some: Candidates) -> Candidates:
    return dataclasses.replace(some, relevance=np.full(len(some), np.nan))


def begin(name: str, some: Candidates, measure: str = "CG@5", **options: Any) -> IndependentModel:
    model = start(name, some, scoring(measure, some.scale), **options)
    assert isinstance(model, IndependentModel)
    return model


@pytest.mark.parametrize("name", PUBLISHED)
@pytest.mark.parametrize("measure", ["CG@5", "nDCG@5"])
@pytest.mark.parametrize("scale", ["fine", "broad"])
def test_every_estimator_has_sound_moments_at_any_moment(name: str, measure: str, scale: str) -> None:
    some = simulated(scale=scale)
    model = begin(name, unjudged(some), measure)
    for pair in np.random.default_rng(1).permutation(len(some))[:60]:
        model.judge(int(pair), float(some.relevance[pair]))
        assert ((model.mean >= 0) & (model.mean <= 1)).all()
        assert (model.variance[~model.judged] > 0).all()
        assert (model.variance <= model.mean * (1 - model.mean) + 1e-12).all()
    np.testing.assert_array_equal(model.mean[model.judged], some.relevance[model.judged])
    assert not model.variance[model.judged].any()
    assert not model.influence()[model.judged].any()
    assert np.isfinite(model.scores().covariance).all()


@pytest.mark.parametrize("name", PUBLISHED)
def test_estimators_are_registered_and_say_what_they_are(name: str) -> None:
    assert (ESTIMATORS[name].__doc__ or "").partition("\n")[0].endswith(".")


# uniform


@pytest.mark.parametrize(
    ("scale", "mean", "variance"),
    [
        (FINE, 1 / 2, 0.0850),
        (BROAD, 1 / 2, 1 / 6),
        (BINARY, 1 / 2, 1 / 4),
        (Scale("share", 2.5), 1 / 2, 1 / 12),
        (Scale("graded", 2.0, -2.0, levels=5), 3 / 10, (1 / 4 + 1) / 5 - 0.09),
        (Scale("spam", 1.0, -1.0), 1 / 4, 1 / 6 - 1 / 16),
    ],
)
def test_uniform_moments_are_those_of_the_scale(scale: Scale, mean: float, variance: float) -> None:
    assert uniform_moments(scale) == pytest.approx((mean, variance))


def test_uniform_beliefs_do_not_tell_systems_apart_before_judgments() -> None:
    model = begin("uniform", unjudged(simulated()))
    np.testing.assert_allclose(model.scores().mean, 0.5)
    assert model.confidence_df is None


# prior


def test_the_prior_is_that_of_history() -> None:
    model = begin("prior", unjudged(simulated()))
    assert model.mean[0] == pytest.approx(0.4341)
    assert model.variance[0] == pytest.approx(0.09004)
    assert model.confidence_df == 7


def test_a_prior_can_be_given_in_grades() -> None:
    model = begin("prior", unjudged(simulated(scale="0..4")), mean=1.0, variance=0.8)
    assert model.mean[0] == pytest.approx(0.25)
    assert model.variance[0] == pytest.approx(0.05)


def test_a_prior_from_judgments_moves_to_their_moments() -> None:
    some = simulated(scale="0..4")
    model = begin("prior", unjudged(some), from_judgments=True, refresh=1, strength=2.0)
    assert model.mean[0] == pytest.approx(0.5)
    seen = []
    for pair in range(30):
        model.judge(pair, float(some.relevance[pair]))
        seen.append(some.relevance[pair])
    weights = np.concatenate([[2.0], np.ones(30)])
    mean = weights @ [0.5, *seen] / 32
    second = weights @ [0.5**2 + uniform_moments(some.scale)[1], *np.square(seen)] / 32
    assert model.mean[-1] == pytest.approx(mean)
    assert model.variance[-1] == pytest.approx(second - mean**2)


def test_a_prior_without_history_learns_from_judgments() -> None:
    some = simulated(scale="0..4")
    plain, told = begin("prior", unjudged(some)), begin("prior", unjudged(some), from_judgments=True)
    assert plain.mean[0] == 0.5
    for pair in range(20):
        for model in (plain, told):
            model.judge(pair, 1.0)
    assert plain.mean[-1] == told.mean[-1] > 0.5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mean": 1.0}, "expected both 'mean' and 'variance'"),
        ({"mean": 5.0, "variance": 1.0}, "'mean' must be a grade on the scale"),
        ({"mean": 1.0, "variance": 3.5}, "'variance' must be from 0 to 3 for that mean, got 3.5"),
        ({"from_judgments": True, "strength": 0.0}, "'strength' must be a finite number above 0"),
        ({"from_judgments": True, "refresh": 0}, "'refresh' must be a whole number of at least 1"),
    ],
)
def test_a_prior_that_cannot_be_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(AdjudgeError, match=message):
        begin("prior", unjudged(simulated(scale="0..4")), **options)


# output


def test_documents_without_metadata_get_the_uniform_prior() -> None:
    some = unjudged(simulated())
    model, blank = begin("output", some), some.artist < 0
    assert blank.any()
    np.testing.assert_allclose(model.mean[blank], 0.5)
    np.testing.assert_allclose(model.variance[blank], 0.085)
    expected, spread = published_model("fine", "output").estimate(Evidence(some))
    np.testing.assert_array_equal(model.mean[~blank], expected[~blank])
    np.testing.assert_array_equal(model.variance[~blank], spread[~blank])


def test_no_metadata_at_all_is_said_aloud(make_collection: Make) -> None:
    some = candidates(make_collection(1, scale="broad", grades=(0, 1, 2)), cutoff=5)
    with pytest.warns(AdjudgeWarning, match="No document has the metadata that the model needs"):
        model = begin("output", some)
    np.testing.assert_allclose(model.mean[~model.judged], 0.5)


@pytest.mark.parametrize("name", ["output", "judgments"])
def test_other_scales_need_a_fitted_model(name: str) -> None:
    with pytest.raises(AdjudgeError, match=rf"{name}: Table A.1 has .* broad and fine, not for graded \(0..4\); fit"):
        begin(name, simulated(scale="0..4"))


@pytest.mark.parametrize("scale", ["0..4", "binary"])
def test_a_fitted_model_serves_any_scale(scale: str) -> None:
    some = simulated(scale=scale)
    own = fit_estimator([some], features=["fSYS", "aART"])
    first = fit_estimator([some], features=["fSYS", "fGEN"])
    before = begin("output", unjudged(some), model=first)
    model = begin("judgments", unjudged(some), model=own, first=first, refresh=1)
    np.testing.assert_array_equal(before.mean, model.mean)
    error = {}
    for pair in range(0, len(some), 2):
        model.judge(pair, float(some.relevance[pair]))
    for name, m in {"before": before, "after": model}.items():
        error[name] = float(np.square(m.mean - some.relevance)[1::2].mean())
    assert error["after"] < error["before"]


def test_machine_opinions_can_be_what_a_model_goes_by() -> None:
    some = simulated()
    noise = np.random.default_rng(2).normal(size=len(some))
    good = dataclasses.replace(some, opinions={"llm": some.relevance + 0.05 * noise})
    bad = dataclasses.replace(some, opinions={"llm": noise})
    errors = []
    for one in (good, bad):
        model = begin("output", unjudged(one), model=fit_estimator([one], features=["fSYS", "llm"]))
        errors.append(float(np.sqrt(np.square(model.mean - some.relevance).mean())))
    assert errors[0] < 0.1 < errors[1] < np.nanstd(some.relevance) + 0.01


# judgments


def test_m_jud_takes_over_where_artist_and_systems_have_judgments() -> None:
    some = simulated()
    model = begin("judgments", unjudged(some), refresh=5)
    before = begin("output", unjudged(some)).mean
    np.testing.assert_array_equal(model.mean, before)
    for pair in range(5):
        model.judge(pair, float(some.relevance[pair]))
    known = np.where(model.judged, some.relevance, np.nan)
    evidence = Evidence(some)
    defined = ~np.isnan(evidence.table(["aSYS", "aART"], known)).any(axis=1) & ~model.judged
    assert 0 < defined.sum() < len(some) - 5
    expected = published_model("fine", "judgments").estimate(evidence, known)[0]
    np.testing.assert_array_equal(model.mean[defined], expected[defined])
    rest = ~defined & ~model.judged
    np.testing.assert_array_equal(model.mean[rest], before[rest])


def test_estimates_of_m_jud_are_made_every_twenty_judgments() -> None:
    some = simulated()
    model = begin("judgments", unjudged(some))
    start_mean = model.mean
    for pair in range(19):
        model.judge(pair, float(some.relevance[pair]))
        np.testing.assert_array_equal(model.mean[~model.judged], start_mean[~model.judged])
    model.judge(19, float(some.relevance[19]))
    assert not np.array_equal(model.mean[~model.judged], start_mean[~model.judged])


def test_one_query_has_no_degrees_of_freedom() -> None:
    assert begin("output", unjudged(simulated(n_queries=1))).confidence_df is None
