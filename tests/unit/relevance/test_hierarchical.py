"""The hierarchical estimator against dense algebra: the whole covariance written down, and conditioned on judgments."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
import pytest

import adjudge as aj
from adjudge.arrays import Floats, Ints
from adjudge.errors import AdjudgeError
from adjudge.relevance.base import scoring, start
from adjudge.relevance.candidates import Candidates, candidates
from adjudge.relevance.hierarchical.effects import KINDS, design, feature_columns
from adjudge.relevance.hierarchical.model import HierarchicalModel, LinearScores, RatioScores, hierarchical
from adjudge.relevance.hierarchical.posterior import JudgedBlocks, Posterior, estimate

LINEAR = ("CG@4", "DCG@4", "RBP@4", "nDCG(ideal=max)@4")
RATIO = ("nDCG@4", "RBP(p=0.8,ideal=judged)@4")
VARIANCES = dict(zip(KINDS, (0.03, 0.01, 0.02, 0.015, 0.004, 0.012, 0.025), strict=True))


def made(seed: int = 0) -> Candidates:
    """Unequal lists, documents without metadata, some retrieved by nobody, all judged."""
    rng = np.random.default_rng(seed)
    names = [f"d{i:02d}" for i in range(18)]
    queries = [f"q{i}" for i in range(5)]
    runs = {
        f"s{s}": {q: [str(d) for d in rng.permutation(names)[: rng.integers(2, 7)]] for q in queries} for s in range(5)
    }
    del runs["s4"]["q4"]
    grades = {q: {d: float(rng.integers(0, 101)) for d in [*names, "nobody's", "nor this"]} for q in queries}
    known = [*names[:-3], "nobody's", *queries[:-1]]
    metadata = pl.DataFrame(
        {
            "document": known,
            "artist": [f"a{rng.integers(7)}" for _ in known],
            "genre": [f"g{rng.integers(3)}" for _ in known],
        }
    )
    return candidates(aj.read(runs, grades, metadata, scale="fine"), cutoff=4)


def some(kind: str) -> Candidates:
    full = made()
    if kind == "no metadata":
        return full.without_metadata()
    if kind == "artists only":
        return dataclasses.replace(full, genre=np.full(len(full), -1))
    return full


COLLECTIONS = ("metadata", "no metadata", "artists only")


def from_the_definition(c: Candidates, variances: Mapping[str, float]) -> tuple[Floats, Floats]:
    """Prior mean and covariance of relevance, effect by effect and pair by pair."""
    columns = feature_columns(c)
    n = len(c)
    z = np.zeros((n, c.n_systems))
    for pair, system in zip(c.entry_pair, c.entry_system, strict=True):
        z[pair, system] = 1 / np.sqrt(c.n_retrieving[pair])
    covariance = np.zeros((n, n))
    bars = np.zeros((n, c.n_systems))
    for i in range(n):
        group = (c.query == c.query[i]) & (c.genre == c.genre[i])
        if c.genre[i] >= 0:
            bars[i] = (z[group] ** 2).mean(axis=0)
    for i in range(n):
        for j in range(n):
            covariance[i, j] = (columns.values[i] * columns.sd**2) @ columns.values[j]
            covariance[i, j] += variances["system"] * z[i] @ z[j] + variances["system_genre"] * bars[i] @ bars[j]
            covariance[i, j] += variances["residual"] * (i == j)
            if c.query[i] == c.query[j]:
                covariance[i, j] += variances["query"] + variances["system_query"] * z[i] @ z[j]
                for kind, label in (("artist", c.artist), ("genre", c.genre)):
                    shared = i == j or (label[i] == label[j] >= 0)
                    covariance[i, j] += variances[kind] * (shared and bool((label >= 0).any()))
    return columns.values @ columns.mean, covariance


def given(mean: Floats, covariance: Floats, judged: Ints, relevance: Floats) -> tuple[Floats, Floats]:
    """Mean and covariance of a Gaussian vector, some of whose elements became known."""
    gain = covariance[:, judged] @ np.linalg.inv(covariance[np.ix_(judged, judged)])
    return mean + gain @ (relevance - mean[judged]), covariance - gain @ covariance[judged]


def started(c: Candidates, measure: str, **options: Any) -> HierarchicalModel:
    """A model to which nothing is told yet."""
    model = hierarchical(c.unjudged(), scoring(measure, c.scale), **options)
    assert isinstance(model, HierarchicalModel)
    return model


def ratios_of(model: HierarchicalModel) -> RatioScores:
    assert isinstance(model._scores, RatioScores)
    return model._scores


def judged_some(c: Candidates, measure: str, n: int, seed: int = 1) -> tuple[HierarchicalModel, Ints]:
    """A model with fixed variances that learned n judgments one by one, and which."""
    model = started(c, measure, variances=VARIANCES)
    pairs = np.random.default_rng(seed).permutation(len(c))[:n]
    for pair in pairs:
        model.judge(int(pair), float(c.relevance[pair]))
    return model, pairs


# Exactness


@pytest.mark.parametrize("kind", COLLECTIONS)
@pytest.mark.parametrize("measure", LINEAR)
@pytest.mark.parametrize("n", [0, 1, 4, 13, 57])
def test_beliefs_are_those_of_dense_conditioning(kind: str, measure: str, n: int) -> None:
    c = some(kind)
    model, pairs = judged_some(c, measure, n)
    mean, covariance = given(*from_the_definition(c, VARIANCES), pairs, c.relevance[pairs])
    weights = scoring(measure, c.scale).matrix(c).toarray() / c.n_queries
    np.testing.assert_allclose(model.mean, mean, atol=1e-10)
    np.testing.assert_allclose(model.variance, np.diagonal(covariance), atol=1e-10)
    np.testing.assert_allclose(model.scores().mean, weights.T @ mean, atol=1e-10)
    np.testing.assert_allclose(model.scores().covariance, weights.T @ covariance @ weights, atol=1e-10)
    np.testing.assert_allclose(model.influence(), covariance @ weights, atol=1e-10)
    by_query, spread = model.query_scores()
    for q in range(c.n_queries):
        here = np.flatnonzero(c.query == q)
        own = weights[here] * c.n_queries
        np.testing.assert_allclose(by_query[q], own.T @ mean[here], atol=1e-10)
        inside = covariance[np.ix_(here, here)]
        np.testing.assert_allclose(spread[q], np.diagonal(own.T @ inside @ own), atol=1e-10)


def test_variances_of_zero_leave_effects_out() -> None:
    c = made()
    nothing = {**VARIANCES, "artist": 0.0, "system": 0.0, "system_query": 0.0}
    model = started(c, "CG@4", variances=nothing)
    pairs = np.arange(0, len(c), 4)
    for pair in pairs:
        model.judge(int(pair), float(c.relevance[pair]))
    mean, covariance = given(*from_the_definition(c, nothing), pairs, c.relevance[pairs])
    np.testing.assert_allclose(model.mean, mean, atol=1e-10)
    np.testing.assert_allclose(model.variance, np.diagonal(covariance), atol=1e-10)


@pytest.mark.parametrize("kind", COLLECTIONS)
@pytest.mark.parametrize("measure", ["CG@4", "nDCG@4"])
def test_the_order_of_judgments_does_not_matter(kind: str, measure: str) -> None:
    c = some(kind)
    one, pairs = judged_some(c, measure, 37)
    other = started(c, measure, variances=VARIANCES)
    for pair in pairs[::-1]:
        other.judge(int(pair), float(c.relevance[pair]))
    np.testing.assert_allclose(one.mean, other.mean, atol=1e-10)
    np.testing.assert_allclose(one.variance, other.variance, atol=1e-10)
    if measure == "CG@4":
        np.testing.assert_allclose(one.influence(), other.influence(), atol=1e-10)
        np.testing.assert_allclose(one.scores().covariance, other.scores().covariance, atol=1e-10)


@pytest.mark.parametrize("kind", COLLECTIONS)
def test_all_at_once_is_one_by_one(kind: str) -> None:
    c = some(kind)
    model, pairs = judged_some(c, "CG@4", 39)  # the last 19 are single steps
    judged = np.zeros(len(c), dtype=np.bool_)
    judged[pairs] = True
    effects = design(c, feature_columns(c))
    at_once = Posterior(effects, np.array(list(VARIANCES.values())), judged, c.relevance)
    np.testing.assert_allclose(model.mean, at_once.mean, atol=1e-10)
    np.testing.assert_allclose(model.variance, at_once.variance, atol=1e-10)
    again = LinearScores(at_once, scoring("CG@4", c.scale))
    np.testing.assert_allclose(model.influence(), again.influence, atol=1e-10)
    np.testing.assert_allclose(model.scores().covariance, again.covariance, atol=1e-10)
    np.testing.assert_allclose([mean for mean, _ in model.effects.values()], at_once.theta, atol=1e-10)


@pytest.mark.parametrize("measure", ["CG@4", "nDCG@4"])
@pytest.mark.parametrize("n", [3, 10, 31, 57])
def test_what_candidates_know_is_learned_as_if_one_by_one(measure: str, n: int) -> None:
    c = made()
    relevance = c.relevance.copy()
    relevance[np.random.default_rng(4).permutation(len(c))[n:]] = np.nan
    known = dataclasses.replace(c, relevance=relevance)
    at_once = start("hierarchical", known, scoring(measure, c.scale))
    one_by_one = started(c, measure)
    for pair in np.flatnonzero(known.judged):
        one_by_one.judge(int(pair), float(c.relevance[pair]))
    np.testing.assert_array_equal(at_once.mean, one_by_one.mean)
    np.testing.assert_array_equal(at_once.influence(), one_by_one.influence())
    np.testing.assert_array_equal(at_once.scores().covariance, one_by_one.scores().covariance)


# Ratios


def mean_ratios(relevance: Floats, c: Candidates, measure: str) -> Floats:
    """Mean over queries of scores of each system for draws of relevance (pairs x draws), list by list."""
    rule = scoring(measure, c.scale)
    total = np.zeros((c.n_systems, relevance.shape[1]))
    for q in range(c.n_queries):
        here = c.query == q
        top = -np.sort(-relevance[here], axis=0)[: len(rule.weights)]
        ideal = rule.weights[: len(top)] @ top
        for pair, system, rank in zip(c.entry_pair, c.entry_system, c.entry_rank, strict=True):
            if c.query[pair] == q:
                gain = rule.weights[rank - 1] * relevance[pair]
                total[system] += np.divide(gain, ideal, out=np.zeros_like(ideal), where=ideal > 0)
    return total / c.n_queries


@pytest.mark.parametrize("kind", COLLECTIONS)
@pytest.mark.parametrize("measure", RATIO)
@pytest.mark.parametrize("n", [0, 8, 37])
def test_ratios_follow_their_slopes_exactly(kind: str, measure: str, n: int) -> None:
    c = some(kind)
    model, pairs = judged_some(c, measure, n)
    mean, covariance = given(*from_the_definition(c, VARIANCES), pairs, c.relevance[pairs])
    scores = ratios_of(model)
    np.testing.assert_allclose(model.mean, mean, atol=1e-10)
    np.testing.assert_allclose(model.influence(), covariance @ scores.weights, atol=1e-10)
    linear = scores.weights.T @ covariance @ scores.weights
    np.testing.assert_allclose(model.scores().covariance, linear + scores.unexplained.sum(axis=0), atol=1e-10)
    by_query, spread = model.query_scores()
    np.testing.assert_allclose(by_query.mean(axis=0), model.scores().mean, atol=1e-12)
    for q in range(c.n_queries):
        here = np.flatnonzero(c.query == q)
        inside = scores.weights[here].T @ covariance[np.ix_(here, here)] @ scores.weights[here] + scores.unexplained[q]
        np.testing.assert_allclose(spread[q], np.diagonal(inside) * c.n_queries**2, atol=1e-10)


@pytest.mark.parametrize("measure", RATIO)
def test_weights_are_slopes_of_mean_ratios(measure: str) -> None:
    c = made()
    model, _ = judged_some(c, measure, 10)  # a renewal: all queries have just been drawn
    scores, everything = ratios_of(model), slice(0, len(c))

    def expected(mean: Floats) -> Floats:
        scores.posterior.mean[:] = mean
        return np.asarray(mean_ratios(scores.draws.relevance(everything)[0], c, measure).mean(axis=1))

    mean = model.mean.copy()
    np.testing.assert_allclose(model.scores().mean, expected(mean), atol=1e-12)
    for pair in np.flatnonzero(~model.judged)[::5]:
        step = np.zeros(len(c))
        step[pair] = 1e-7
        slope = (expected(mean + step) - expected(mean - step)) / 2e-7
        np.testing.assert_allclose(scores.weights[pair], slope, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("measure", RATIO)
def test_covariance_of_ratios_is_that_of_many_draws(measure: str) -> None:
    c = made()
    model = started(c, measure, variances=VARIANCES, draws=20_000)
    for pair in np.random.default_rng(1).permutation(len(c))[:12]:
        model.judge(int(pair), float(c.relevance[pair]))
    relevance = ratios_of(model).draws.relevance(slice(0, len(c)))[0]
    ratios = mean_ratios(relevance, c, measure)
    np.testing.assert_allclose(model.scores().mean, ratios.mean(axis=1), atol=0.005)
    np.testing.assert_allclose(model.scores().covariance, np.cov(ratios), atol=0.0006)
    few, _ = judged_some(c, measure, 12)
    np.testing.assert_allclose(few.scores().mean, model.scores().mean, atol=0.02)


def test_queries_with_nothing_relevant_score_0() -> None:
    c = made()
    model = hierarchical(dataclasses.replace(c, relevance=np.zeros(len(c))), scoring("nDCG@4", c.scale))
    model.judge_all()
    assert (model.scores().mean == 0).all()
    assert (model.query_scores()[0] == 0).all()


# Variances


@pytest.mark.parametrize("kind", COLLECTIONS)
def test_likelihood_and_slope_are_those_of_the_dense_formula(kind: str) -> None:
    c = some(kind)
    rows = np.sort(np.random.default_rng(3).permutation(len(c))[:41])
    blocks = JudgedBlocks.of(design(c, feature_columns(c)), rows, c.relevance)

    def dense(variances: Floats) -> float:
        mean, covariance = from_the_definition(c, dict(zip(KINDS, variances, strict=True)))
        left, block = (c.relevance - mean)[rows], covariance[np.ix_(rows, rows)]
        return float(0.5 * (np.linalg.slogdet(block)[1] + left @ np.linalg.solve(block, left)))

    variances = np.array(list(VARIANCES.values()))
    value, slope = blocks.objective(variances)
    assert value == pytest.approx(dense(variances), abs=1e-9)
    for k in range(len(KINDS)):
        step = np.zeros(len(KINDS))
        step[k] = 1e-6
        assert slope[k] == pytest.approx((dense(variances + step) - dense(variances - step)) / 2e-6, rel=1e-5, abs=1e-4)


@pytest.mark.parametrize("kind", COLLECTIONS)
def test_estimates_are_where_the_posterior_is_highest(kind: str) -> None:
    c = some(kind)
    effects, rows = design(c, feature_columns(c)), np.arange(len(c))
    centre = np.array(list(VARIANCES.values()))
    found = estimate(effects, rows, c.relevance, centre, sd=0.7)
    blocks = JudgedBlocks.of(effects, rows, c.relevance)

    def objective(variances: Floats) -> float:
        away = np.log(variances / centre) / 0.7
        return blocks.objective(variances)[0] + 0.5 * float(away @ away)

    for k in np.flatnonzero(effects.active):
        for factor in (0.9, 1.1):
            other = found.copy()
            other[k] *= factor
            assert objective(other) > objective(found)
    np.testing.assert_array_equal(found[~effects.active], centre[~effects.active])


# What cannot be


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"variances": {"artists": 1.0}}, "No variance is called 'artists'. Did you mean 'artist'"),
        ({"variances": {"query": -1.0}}, "expected a variance of at least 0 for 'query', got -1.0"),
        ({"prior_variances": {"residual": 0.0}}, "expected a variance above 0 for 'residual', got 0.0"),
        ({"variances": {}, "prior_variances": {}}, "expected 'variances' or 'prior_variances', got both"),
        ({"features": "ful"}, "No set of features is called 'ful'. Did you mean 'full'"),
        ({"base": np.zeros(3)}, "'base': expected one number for each of"),
        ({"base": np.full(len(made()), np.nan)}, "'base': expected finite numbers, got nan"),
        ({"draws": 7}, "'draws' must be an even number of at least 2, got 7"),
        ({"prior_sd": 0.0}, "'prior_sd' must be a finite number above 0, got 0.0"),
    ],
)
def test_what_cannot_be_used_is_refused(options: dict[str, object], message: str) -> None:
    c = made()
    with pytest.raises(AdjudgeError, match=message):
        start("hierarchical", c, scoring("CG@4", c.scale), **options)


def test_beliefs_cannot_be_written_to() -> None:
    model, _ = judged_some(made(), "CG@4", 3)
    for numbers in (model.mean, model.variance, model.influence()):
        with pytest.raises(ValueError, match="read-only"):
            numbers[0] = 1.0
