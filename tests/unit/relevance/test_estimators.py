"""The published estimators: what they believe, and sums of independent beliefs against brute force."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import adjudge as aj
from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError, AdjudgeWarning
from adjudge.model.scales import BINARY, BROAD, FINE, Scale
from adjudge.relevance.base import scoring, start
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


def begin(name: str, some: Candidates, measure: str = "CG@5", **options: Any) -> IndependentModel:
    model = start(name, some, scoring(measure, some.scale), **options)
    assert isinstance(model, IndependentModel)
    return model


@pytest.mark.parametrize("name", PUBLISHED)
@pytest.mark.parametrize("scale", ["fine", "broad"])
def test_published_beliefs_are_moments_of_relevance_from_0_to_1(name: str, scale: str) -> None:
    some = simulated(scale=scale)
    known = np.where(np.arange(len(some)) % 3, np.nan, some.relevance)
    model = begin(name, dataclasses.replace(some, relevance=known))
    assert ((model.mean >= 0) & (model.mean <= 1)).all()
    assert (model.variance[~model.judged] > 0).all()
    assert (model.variance <= model.mean * (1 - model.mean) + 1e-12).all()


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


# prior


def test_the_prior_is_that_of_history_or_given_in_grades() -> None:
    model = begin("prior", simulated().unjudged())
    assert (model.mean[0], model.variance[0], model.confidence_df) == pytest.approx((0.4341, 0.09004, 7))
    given = begin("prior", simulated(scale="0..4").unjudged(), mean=1.0, variance=0.8)
    assert (given.mean[0], given.variance[0]) == pytest.approx((0.25, 0.05))


@pytest.mark.parametrize(("name", "n_queries"), [("uniform", 8), ("output", 1)])
def test_uniform_beliefs_and_single_queries_claim_by_the_normal_distribution(name: str, n_queries: int) -> None:
    assert begin(name, simulated(n_queries=n_queries).unjudged()).confidence_df is None


def test_a_prior_from_judgments_moves_to_their_moments() -> None:
    some = simulated(scale="0..4")
    model = begin("prior", some.unjudged(), from_judgments=True, refresh=1, strength=2.0)
    without_history = begin("prior", some.unjudged(), refresh=1, strength=2.0)
    assert model.mean[0] == without_history.mean[0] == pytest.approx(0.5)
    seen = some.relevance[:30]
    for pair in range(30):
        model.judge(pair, float(seen[pair]))
        without_history.judge(pair, float(seen[pair]))
    weights = np.concatenate([[2.0], np.ones(30)])
    mean = weights @ [0.5, *seen] / 32
    second = weights @ [0.5**2 + uniform_moments(some.scale)[1], *np.square(seen)] / 32
    assert model.mean[-1] == without_history.mean[-1] == pytest.approx(mean)
    assert model.variance[-1] == pytest.approx(second - mean**2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mean": 1.0}, "expected both 'mean' and 'variance'"),
        ({"mean": 5.0, "variance": 1.0}, "'mean' must be a grade on the scale"),
        ({"mean": 1.0, "variance": 3.5}, "'variance' must be from 0 to 3 for that mean, got 3.5"),
    ],
)
def test_a_prior_that_cannot_be_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(AdjudgeError, match=message):
        begin("prior", simulated(scale="0..4").unjudged(), **options)


# output


def test_documents_without_metadata_get_the_uniform_prior() -> None:
    some = simulated().unjudged()
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
    before = begin("output", some.unjudged(), model=first)
    model = begin("judgments", some.unjudged(), model=own, first=first, refresh=1)
    np.testing.assert_array_equal(before.mean, model.mean)
    for pair in range(0, len(some), 2):
        model.judge(pair, float(some.relevance[pair]))
    first_error, error = (float(np.square(m.mean - some.relevance)[1::2].mean()) for m in (before, model))
    assert error < first_error


def test_machine_opinions_can_be_what_a_model_goes_by() -> None:
    some = simulated()
    noise = np.random.default_rng(2).normal(size=len(some))
    good = dataclasses.replace(some, opinions={"llm": some.relevance + 0.05 * noise})
    bad = dataclasses.replace(some, opinions={"llm": noise})
    errors = []
    for pool in (good, bad):
        model = begin("output", pool.unjudged(), model=fit_estimator([pool], features=["fSYS", "llm"]))
        errors.append(float(np.sqrt(np.square(model.mean - some.relevance).mean())))
    assert errors[0] < 0.1 < errors[1] < np.nanstd(some.relevance) + 0.01


# judgments


def test_m_jud_takes_over_where_artist_and_systems_have_judgments() -> None:
    some = simulated()
    model = begin("judgments", some.unjudged(), refresh=5)
    before = begin("output", some.unjudged()).mean
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
    model = begin("judgments", some.unjudged())
    start_mean = model.mean
    for pair in range(19):
        model.judge(pair, float(some.relevance[pair]))
        np.testing.assert_array_equal(model.mean[~model.judged], start_mean[~model.judged])
    model.judge(19, float(some.relevance[19]))
    assert not np.array_equal(model.mean[~model.judged], start_mean[~model.judged])


# Sums


RATIO = ("nDCG@5", "RBP(ideal=judged)@5", "CG(ideal=judged)@5")
MEASURES = ("CG@5", "DCG@5", "RBP@5", *RATIO)


def awkward(make: Make, seed: int = 1) -> Candidates:
    """Candidates with every awkward case in them, nothing judged yet."""
    return candidates(make(seed, scale="0..3", n_queries=5, n_systems=4), cutoff=5).unjudged()


def beliefs(n: int, seed: int = 2) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    mean = rng.random(n)
    return mean, rng.random(n) * mean * (1 - mean)


def independent(some: Candidates, measure: str, seed: int = 2) -> IndependentModel:
    moments = beliefs(len(some), seed)
    return IndependentModel(some, scoring(measure, some.scale), lambda relevance: moments)


def by_brute_force(model: IndependentModel) -> tuple[Floats, Floats, Floats, Floats]:
    """Means, covariance, and both by query, added up one list and one pair at a time as T (8.1) to (8.18) say."""
    c, s = model.candidates, model.scoring
    mean, variance = model.mean, model.variance
    expected, spread = np.zeros((c.n_queries, c.n_systems)), np.zeros((c.n_queries, c.n_systems, c.n_systems))
    for q in range(c.n_queries):
        weights = np.where(c.query[:, None] == q, s.matrix(c).toarray(), 0.0)
        x = weights.T @ mean
        covariance = np.einsum("i,ia,ib->ab", variance, weights, weights)
        if s.divisor is None:
            pairs = [i for i in range(len(c)) if c.query[i] == q]
            ideal = sorted(pairs, key=lambda i: (-mean[i], variance[i]))[: len(s.weights)]
            top = sum(mean[i] * w for i, w in zip(ideal, s.weights, strict=False))
            top_variance = sum(variance[i] * w**2 for i, w in zip(ideal, s.weights, strict=False))
            if top == 0:
                continue
            covariance = covariance / top**2 + np.outer(x, x) * top_variance / top**4
            x = x / top
        expected[q], spread[q] = x, covariance
    by_query = np.diagonal(spread, axis1=1, axis2=2)
    return expected.mean(axis=0), spread.sum(axis=0) / c.n_queries**2, expected, by_query


@pytest.mark.parametrize("measure", MEASURES)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_updates_equal_sums_from_scratch_after_any_judgments(
    make_collection: Make, measure: str, data: st.DataObject
) -> None:
    model = independent(awkward(make_collection, data.draw(st.integers(0, 5))), measure)
    pairs = st.lists(st.integers(0, len(model.candidates) - 1), unique=True)
    grades = st.sampled_from([0.0, 0.0, 1 / 3, 1.0])
    for pair in data.draw(pairs):
        model.judge(pair, data.draw(grades))
    mean, covariance, by_query, query_variance = by_brute_force(model)
    scores = model.scores()
    np.testing.assert_allclose(scores.mean, mean, atol=1e-12)
    np.testing.assert_allclose(scores.covariance, covariance, atol=1e-12)
    np.testing.assert_allclose(model.query_scores()[0], by_query, atol=1e-12)
    np.testing.assert_allclose(model.query_scores()[1], query_variance, atol=1e-12)


def drawn(model: IndependentModel, n: int, rng: np.random.Generator) -> Floats:
    """Relevance of every pair, draws x pairs, from beta distributions with the model's moments."""
    mean, variance = model.mean, model.variance
    strength = mean * (1 - mean) / variance - 1
    return rng.beta(mean * strength, (1 - mean) * strength, size=(n, len(mean)))


@pytest.mark.parametrize("measure", RATIO)
def test_moments_of_ratios_are_those_of_random_relevance_that_varies_little(
    make_collection: Make, measure: str
) -> None:
    """The delta method is exact in the limit; numerator and ideal drawn apart, as the thesis takes them."""
    some = awkward(make_collection)
    mean = beliefs(len(some))[0]
    small = mean * (1 - mean) * 1e-4
    model = IndependentModel(some, scoring(measure, some.scale), lambda relevance: (mean, small))
    rng = np.random.default_rng(4)
    above, below = drawn(model, 20_000, rng), drawn(model, 20_000, rng)
    weights, scores = model.scoring.matrix(some).toarray(), np.zeros((20_000, some.n_systems))
    for q in range(some.n_queries):
        of = slice(some.offsets[q], some.offsets[q + 1])
        order = np.argsort(-mean[of])[: len(model.scoring.weights)]
        ideal = below[:, of][:, order] @ model.scoring.weights[: len(order)]
        scores += above[:, of] @ weights[of] / ideal[:, None] / some.n_queries
    np.testing.assert_allclose(model.scores().mean, scores.mean(axis=0), atol=1e-4)
    np.testing.assert_allclose(model.scores().covariance, np.cov(scores.T), rtol=0.05, atol=2e-7)


@pytest.mark.parametrize("measure", MEASURES)
def test_influence_is_variance_times_slope(make_collection: Make, measure: str) -> None:
    some = awkward(make_collection)
    mean, variance = beliefs(len(some))
    model = independent(some, measure)
    influence = model.influence()
    step = 1e-7  # too small to change the order of the ideal

    def score(values: Floats) -> Floats:
        return IndependentModel(some, model.scoring, lambda relevance: (values, variance)).scores().mean

    for pair in range(0, len(some), 3):
        nudge = step * (np.arange(len(some)) == pair)
        slope = (score(mean + nudge) - score(mean - nudge)) / (2 * step)
        np.testing.assert_allclose(influence[pair], variance[pair] * slope, atol=1e-8)


@pytest.mark.parametrize("measure", RATIO)
def test_where_nothing_relevant_is_expected_effectiveness_is_0(make_collection: Make, measure: str) -> None:
    some = awkward(make_collection)
    nothing = np.zeros(len(some))
    model = IndependentModel(some, scoring(measure, some.scale), lambda relevance: (nothing, nothing))
    for numbers in (model.scores().mean, model.scores().covariance, model.influence()):
        assert not numbers.any()
    model.judge(0, 1.0)
    assert np.isfinite(model.scores().covariance).all()
    assert model.scores().mean.max() <= 1


def test_estimates_are_made_again_every_so_many_judgments(make_collection: Make) -> None:
    some = awkward(make_collection)
    asked: list[int] = []

    def estimate(relevance: Floats) -> tuple[Floats, Floats]:
        asked.append(int((~np.isnan(relevance)).sum()))
        return np.full(len(some), 0.1 * len(asked)), np.full(len(some), 0.01)

    model = IndependentModel(some, scoring("CG@5", some.scale), estimate, refresh=4)
    for pair in range(10):
        model.judge(pair, 1.0)
    assert asked == [0, 4, 8]
    np.testing.assert_allclose(model.mean, np.where(model.judged, 1.0, 0.3))
    np.testing.assert_allclose(model.scores().mean, by_brute_force(model)[0], atol=1e-13)


def test_beliefs_handed_out_cannot_change_the_model(make_collection: Make) -> None:
    model = independent(awkward(make_collection), "CG@5")
    before = model.scores()
    for handed_out in (model.mean, model.variance, model.scores().mean, model.scores().covariance, model.influence()):
        handed_out[:] = 0
    np.testing.assert_array_equal(model.scores().covariance, before.covariance)
    np.testing.assert_array_equal(model.scores().mean, before.mean)


def test_ideals_are_what_scores_are_divided_by(make_collection: Make) -> None:
    some = awkward(make_collection)
    assert (independent(some, "CG@5").ideal() == 1).all()
    model = independent(some, "nDCG@5")
    expected = model.query_scores()[0] * model.ideal()[:, None]
    raw = independent(some, "DCG(ideal=none)@5").query_scores()[0] / some.scale.maximum
    np.testing.assert_allclose(expected, raw, atol=1e-12)


@pytest.mark.parametrize(
    ("pair", "relevance", "message"),
    [
        (-1, 0.5, "Expected a pair"),
        (10**6, 0.5, "Expected a pair"),
        (0, 1.5, "from 0 to 1"),
        (0, np.nan, "from 0 to 1"),
        (3, 0.5, "Pair 3 is judged already"),
    ],
)
def test_what_cannot_be_learned_is_refused(make_collection: Make, pair: int, relevance: float, message: str) -> None:
    model = independent(awkward(make_collection), "CG@5")
    model.judge(3, 0.5)
    with pytest.raises(AdjudgeError, match=message):
        model.judge(pair, relevance)


def test_candidates_deeper_than_the_measure_are_refused(make_collection: Make) -> None:
    with pytest.raises(AdjudgeError, match=r"CG@3 looks at 3 documents of a list, but candidates were taken from 5"):
        independent(awkward(make_collection), "CG@3")
