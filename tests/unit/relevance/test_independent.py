from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import adjudge as aj
from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.relevance.base import scoring
from adjudge.relevance.candidates import Candidates, candidates
from adjudge.relevance.estimators import IndependentModel

LINEAR = ("CG@5", "DCG@5", "RBP@5")
RATIO = ("nDCG@5", "RBP(ideal=judged)@5", "CG(ideal=judged)@5")
MEASURES = LINEAR + RATIO
Make = Callable[..., aj.Collection]


def found(make: Make, seed: int = 1, **options: int) -> Candidates:
    """Candidates with every awkward case in them, nothing judged yet."""
    some = candidates(make(seed, scale="0..3", n_queries=5, n_systems=4, **options), cutoff=5)
    return dataclasses.replace(some, relevance=np.full(len(some), np.nan))


def beliefs(n: int, seed: int = 2) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    mean = rng.random(n)
    return mean, rng.random(n) * mean * (1 - mean)


def started(some: Candidates, measure: str, seed: int = 2) -> IndependentModel:
    moments = beliefs(len(some), seed)
    return IndependentModel(some, scoring(measure, some.scale), lambda relevance: moments)


def by_brute_force(model: IndependentModel) -> tuple[Floats, Floats, Floats, Floats]:
    """Means, covariance, and both by query, added up one list and one pair at a time as T (8.1) to (8.18) say."""
    c, s = model.candidates, model.scoring
    mean, variance = model.mean, model.variance
    expected, spread = np.zeros((c.n_queries, c.n_systems)), np.zeros((c.n_queries, c.n_systems, c.n_systems))
    for q in range(c.n_queries):
        weights = np.zeros((len(c), c.n_systems))
        for pair, system, rank in zip(c.entry_pair, c.entry_system, c.entry_rank, strict=True):
            if c.query[pair] == q:
                weights[pair, system] = s.weights[rank - 1] / (s.divisor or 1.0)
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
    model = started(found(make_collection, data.draw(st.integers(0, 5))), measure)
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


@pytest.mark.parametrize("measure", MEASURES)
def test_differences_have_the_variance_of_the_thesis(make_collection: Make, measure: str) -> None:
    """T 8.1.2: X is the difference of sums, then the delta method of X / Y."""
    model = started(found(make_collection), measure)
    c, s = model.candidates, model.scoring
    weights, mean, variance = s.matrix(c).toarray(), model.mean, model.variance
    expected, spread = model.scores().differences()
    for a, b in [(0, 1), (1, 3)]:
        difference = weights[:, a] - weights[:, b]
        total, total_variance = 0.0, 0.0
        for q in range(c.n_queries):
            of = slice(c.offsets[q], c.offsets[q + 1])
            x, var_x = difference[of] @ mean[of], difference[of] ** 2 @ variance[of]
            if s.divisor is None:
                order = np.argsort(-mean[of])[: len(s.weights)]
                discounts = s.weights[: len(order)]
                y, var_y = mean[of][order] @ discounts, variance[of][order] @ discounts**2
                by_delta = (x / y) ** 2 * (var_x / x**2 + var_y / y**2) if x else var_x / y**2  # (8.6)
                x, var_x = x / y, by_delta
            total, total_variance = total + x, total_variance + var_x
        np.testing.assert_allclose(expected[a, b], total / c.n_queries, atol=1e-12)
        np.testing.assert_allclose(spread[a, b], total_variance / c.n_queries**2, atol=1e-12)


def drawn(model: IndependentModel, n: int, rng: np.random.Generator) -> Floats:
    """Relevance of every pair, draws x pairs, from beta distributions with the model's moments."""
    mean, variance = model.mean, model.variance
    strength = mean * (1 - mean) / variance - 1
    return rng.beta(mean * strength, (1 - mean) * strength, size=(n, len(mean)))


@pytest.mark.parametrize("measure", LINEAR)
def test_moments_are_those_of_random_relevance(make_collection: Make, measure: str) -> None:
    model = started(found(make_collection), measure)
    weights = model.scoring.matrix(model.candidates).toarray() / model.candidates.n_queries
    scores = drawn(model, 40_000, np.random.default_rng(3)) @ weights
    np.testing.assert_allclose(model.scores().mean, scores.mean(axis=0), atol=4e-3)
    np.testing.assert_allclose(model.scores().covariance, np.cov(scores.T), rtol=0.05, atol=1e-4)


@pytest.mark.parametrize("measure", RATIO)
def test_moments_of_ratios_are_those_of_random_relevance_that_varies_little(
    make_collection: Make, measure: str
) -> None:
    """The delta method is exact in the limit; numerator and ideal drawn apart, as the thesis takes them."""
    some = found(make_collection)
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
    some = found(make_collection)
    mean, variance = beliefs(len(some))
    model = started(some, measure)
    influence = model.influence()
    step = 1e-7  # too small to change the order of the ideal

    def score(values: Floats) -> Floats:
        return IndependentModel(some, model.scoring, lambda relevance: (values, variance)).scores().mean

    for pair in range(0, len(some), 3):
        nudge = step * (np.arange(len(some)) == pair)
        slope = (score(mean + nudge) - score(mean - nudge)) / (2 * step)
        np.testing.assert_allclose(influence[pair], variance[pair] * slope, atol=1e-8)


@pytest.mark.parametrize("measure", MEASURES)
def test_learning_all_at_once_is_learning_one_by_one(make_collection: Make, measure: str) -> None:
    some = candidates(make_collection(1, scale="0..3"), cutoff=5)
    one, other = started(some, measure), started(some, measure)
    one.judge_all()
    for pair in np.flatnonzero(some.judged)[::-1]:
        other.judge(int(pair), float(some.relevance[pair]))
    np.testing.assert_array_equal(one.judged, some.judged)
    np.testing.assert_array_equal(one.mean, other.mean)
    np.testing.assert_allclose(one.scores().mean, other.scores().mean, atol=1e-13)
    np.testing.assert_allclose(one.scores().covariance, other.scores().covariance, atol=1e-13)


@pytest.mark.parametrize("measure", RATIO)
def test_where_nothing_relevant_is_expected_effectiveness_is_0(make_collection: Make, measure: str) -> None:
    some = found(make_collection)
    nothing = np.zeros(len(some))
    model = IndependentModel(some, scoring(measure, some.scale), lambda relevance: (nothing, nothing))
    assert not model.scores().mean.any()
    assert not model.scores().covariance.any()
    assert not model.influence().any()
    model.judge(0, 1.0)
    assert np.isfinite(model.scores().covariance).all()
    assert model.scores().mean.max() <= 1


def test_estimates_are_made_again_every_so_many_judgments(make_collection: Make) -> None:
    some = found(make_collection)
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
    model = started(found(make_collection), "CG@5")
    before = model.scores()
    model.mean[:] = 0
    model.variance[:] = 0
    model.scores().mean[:] = 0
    model.scores().covariance[:] = 0
    model.influence()[:] = 0
    np.testing.assert_array_equal(model.scores().covariance, before.covariance)
    np.testing.assert_array_equal(model.scores().mean, before.mean)


def test_ideals_are_what_scores_are_divided_by(make_collection: Make) -> None:
    some = found(make_collection)
    assert (started(some, "CG@5").ideal() == 1).all()
    model = started(some, "nDCG@5")
    expected = model.query_scores()[0] * model.ideal()[:, None]
    raw = started(some, "DCG(ideal=none)@5").query_scores()[0] / some.scale.maximum
    np.testing.assert_allclose(expected, raw, atol=1e-12)


@pytest.mark.parametrize(
    ("pair", "relevance", "message"),
    [
        (-1, 0.5, "Expected a pair"),
        (10**6, 0.5, "Expected a pair"),
        (0, 1.5, "from 0 to 1"),
        (0, np.nan, "from 0 to 1"),
    ],
)
def test_what_cannot_be_learned_is_refused(make_collection: Make, pair: int, relevance: float, message: str) -> None:
    model = started(found(make_collection), "CG@5")
    with pytest.raises(AdjudgeError, match=message):
        model.judge(pair, relevance)


def test_a_pair_is_judged_once(make_collection: Make) -> None:
    model = started(found(make_collection), "CG@5")
    model.judge(3, 0.5)
    with pytest.raises(AdjudgeError, match="Pair 3 is judged already"):
        model.judge(3, 0.5)


def test_candidates_deeper_than_the_measure_are_refused(make_collection: Make) -> None:
    with pytest.raises(AdjudgeError, match=r"CG@3 looks at 3 documents of a list, but candidates were taken from 5"):
        started(found(make_collection), "CG@3")


def test_refreshing_never_is_refused(make_collection: Make) -> None:
    some = found(make_collection)
    with pytest.raises(AdjudgeError, match="'refresh' must be a whole number of at least 1, got 0"):
        IndependentModel(some, scoring("CG@5", some.scale), lambda r: beliefs(len(some)), refresh=0)
