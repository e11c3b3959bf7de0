"""The hierarchical estimator against dense algebra: the whole covariance written down, and conditioned on judgments."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.integrate import quad
from scipy.stats import norm

import adjudge as aj
from adjudge.arrays import Floats, Ints
from adjudge.errors import AdjudgeError
from adjudge.measures.base import parse_measure
from adjudge.model.scales import BINARY, BROAD, FINE, Scale
from adjudge.relevance.base import RelevanceModel, View, scoring, start
from adjudge.relevance.candidates import Candidates, candidates
from adjudge.relevance.features import Evidence
from adjudge.relevance.hierarchical.effects import KINDS, default_variances, design, feature_columns, replace_variances
from adjudge.relevance.hierarchical.model import HierarchicalModel, hierarchical, last_due, learn_variances
from adjudge.relevance.hierarchical.posterior import Draws, JudgedBlocks, Posterior, clipped_normal, estimate, moments
from adjudge.relevance.hierarchical.scores import LinearScores, MeasureScores, RatioScores

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
    """Prior mean and covariance of relevance, effect by effect."""
    effects, n = design(c), len(c)
    features = effects.x[:, effects.kind < 0]
    mean, variance = effects.prior_mean[effects.kind < 0], effects.prior_variance[effects.kind < 0]
    z = np.zeros((n, c.n_systems))
    z[c.entry_pair, c.entry_system] = 1 / np.sqrt(c.n_retrieving[c.entry_pair])
    same = c.query[:, None] == c.query
    bars = np.zeros_like(z)
    for i in np.flatnonzero(c.genre >= 0):
        bars[i] = (z[same[i] & (c.genre == c.genre[i])] ** 2).mean(axis=0)
    covariance = (features * variance) @ features.T + variances["residual"] * np.eye(n)
    covariance += variances["system"] * z @ z.T + variances["system_genre"] * bars @ bars.T
    covariance += same * (variances["query"] + variances["system_query"] * z @ z.T)
    for kind, label in (("artist", c.artist), ("genre", c.genre)):
        if (label >= 0).any():
            shared = (label[:, None] == label) & (label >= 0)
            covariance += variances[kind] * (same & (shared | np.eye(n, dtype=np.bool_)))
    return features @ mean, covariance


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


def judged_some(
    c: Candidates, measure: str, n: int, *, seed: int = 1, variances: Mapping[str, float] = VARIANCES, draws: int = 64
) -> tuple[HierarchicalModel, Ints]:
    """A model with fixed variances that learned n judgments one by one, and which."""
    model = started(c, measure, variances=variances, draws=draws)
    pairs = np.random.default_rng(seed).permutation(len(c))[:n]
    for pair in pairs:
        model.judge(int(pair), float(c.relevance[pair]))
    return model, pairs


# Exactness


@pytest.mark.parametrize("kind", COLLECTIONS)
@pytest.mark.parametrize("measure", LINEAR)
@pytest.mark.parametrize(("n", "without"), [(0, ()), (1, ()), (4, ()), (13, ("artist", "system_query")), (57, ())])
def test_beliefs_are_those_of_dense_conditioning(kind: str, measure: str, n: int, without: tuple[str, ...]) -> None:
    c, variances = some(kind), VARIANCES | dict.fromkeys(without, 0.0)
    model, pairs = judged_some(c, measure, n, variances=variances)
    mean, covariance = given(*from_the_definition(c, variances), pairs, c.relevance[pairs])
    weights = scoring(measure, c.scale).matrix(c).toarray() / c.n_queries
    np.testing.assert_allclose(model.mean, mean, atol=1e-10)
    np.testing.assert_allclose(model.variance, np.diagonal(covariance), atol=1e-10)
    np.testing.assert_allclose(model.scores().mean, weights.T @ mean, atol=1e-10)
    np.testing.assert_allclose(model.scores().covariance, weights.T @ covariance @ weights, atol=1e-10)
    np.testing.assert_allclose(model.influence(), covariance @ weights, atol=1e-10)
    by_query, spread, _ = model.query_scores()
    for q in range(c.n_queries):
        own = weights * (c.query == q)[:, None] * c.n_queries
        np.testing.assert_allclose(by_query[q], own.T @ mean, atol=1e-10)
        np.testing.assert_allclose(spread[q], np.diagonal(own.T @ covariance @ own), atol=1e-10)


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
    rule, total = scoring(measure, c.scale), np.zeros((c.n_systems, relevance.shape[1]))
    for q in range(c.n_queries):
        top = -np.sort(-relevance[c.query == q], axis=0)[: len(rule.weights)]
        ideal = rule.weights[: len(top)] @ top
        gains = rule.matrix(c)[c.rows(q)].T @ relevance[c.rows(q)]
        total += np.divide(gains, ideal, out=np.zeros_like(gains), where=ideal > 0)
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
    by_query, spread, _ = model.query_scores()
    np.testing.assert_allclose(by_query.mean(axis=0), model.scores().mean, atol=1e-12)
    for q in range(c.n_queries):
        own = scores.weights * (c.query == q)[:, None]
        inside = own.T @ covariance @ own + scores.unexplained[q]
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
    model, _ = judged_some(c, measure, 12, draws=20_000)
    relevance = ratios_of(model).draws.relevance(slice(0, len(c)))[0]
    ratios = mean_ratios(relevance, c, measure)
    np.testing.assert_allclose(model.scores().mean, ratios.mean(axis=1), atol=0.005)
    np.testing.assert_allclose(model.scores().covariance, np.cov(ratios), atol=0.0006)
    few, _ = judged_some(c, measure, 12)
    np.testing.assert_allclose(few.scores().mean, model.scores().mean, atol=0.02)


# Other measures: draws of grades


def drawn_of(model: RelevanceModel) -> MeasureScores:
    assert isinstance(model, HierarchicalModel)
    assert isinstance(model._scores, MeasureScores)
    return model._scores


def average_precision(grades: Floats, place: list[int]) -> float:
    hits = [grades[i] > 0 for i in place]
    found = sum(sum(hits[: n + 1]) / (n + 1) for n, hit in enumerate(hits) if hit)
    return float(found / max((grades > 0).sum(), 1))


def reciprocal_rank(grades: Floats, place: list[int]) -> float:
    return next((1.0 / n for n, i in enumerate(place, start=1) if grades[i] > 0), 0.0)


def f1(grades: Floats, place: list[int]) -> float:
    return float(2 * sum(grades[i] > 0 for i in place) / (3 + (grades > 0).sum()))


@pytest.mark.parametrize(("measure", "by_hand"), [("AP@3", average_precision), ("RR@3", reciprocal_rank), ("F1@3", f1)])
def test_expectations_and_slopes_are_those_of_all_grades_that_can_be(
    monkeypatch: pytest.MonkeyPatch, measure: str, by_hand: Callable[[Floats, list[int]], float]
) -> None:
    """In each draw documents are independent, relevant with the probability that was drawn."""
    monkeypatch.setattr("adjudge.relevance.hierarchical.scores._FOR_SLOPES", 6000)
    runs = {"a": {"q": ["u", "v", "w"]}, "b": {"q": ["w", "x"]}, "c": {"q": ["y", "u", "x"]}}
    c = candidates(aj.read(runs, {"q": {"v": 1, "x": 0, "z": 1}}, scale="binary"), cutoff=3)
    variances = dict(zip(KINDS, (0.15, 0, 0, 0.01, 0.01, 0, 0.15), strict=True))
    model = hierarchical(c, scoring(measure, c.scale), variances=variances)
    model.judge_all()
    scores = MeasureScores(drawn_of(model).posterior, parse_measure(measure), draws=6000)
    chance, _ = scores.draws.relevance(slice(0, len(c)), 1 / 6)
    lists = [[c.document.index(d) for d in runs[s]["q"]] for s in c.systems]
    expected, high, low = np.zeros(3), np.zeros((len(c), 3)), np.zeros((len(c), 3))
    for grades in itertools.product((0.0, 1.0), repeat=len(c)):
        relevant = np.array(grades)[:, None] == 1
        each = np.where(relevant, chance, 1 - chance)
        values = np.array([by_hand(relevant[:, 0], place) for place in lists])
        expected += each.prod(axis=0).mean() * values
        for i in np.flatnonzero(~model.judged):
            (high if grades[i] else low)[i] += np.delete(each, i, axis=0).prod(axis=0).mean() * values
    corrected = expected + (high - low).T @ (model.mean - chance.mean(axis=1))
    np.testing.assert_allclose(scores.mean, corrected, atol=0.01)
    np.testing.assert_allclose(scores.weights, high - low, atol=0.02)


@pytest.mark.parametrize("measure", ["Q@4", "GAP@4"])
def test_covariance_of_other_measures_is_that_of_many_draws(measure: str) -> None:
    """A little more: relevance is drawn on the scale, and beliefs leave it."""
    c = made()
    model, _ = judged_some(c, measure, 12, draws=4000)
    scores = drawn_of(model)
    relevance = np.round(scores.draws.relevance(slice(0, len(c)))[0], 2)
    drawn = np.mean([scores.lists.scores(q, relevance[c.rows(q)]) for q in range(c.n_queries)], axis=0)
    np.testing.assert_allclose(model.scores().mean, drawn.mean(axis=1), atol=0.02)
    share = np.diagonal(np.cov(drawn)) / np.diagonal(model.scores().covariance)
    assert ((share > 0.7) & (share < 1.05)).all()
    apart = model.scores().covariance - np.cov(drawn) / share.mean()
    np.testing.assert_allclose(apart, 0, atol=0.0015)


@pytest.mark.parametrize("measure", ["Q@4", "AP(rel=50)@4", "RR(rel=50)@4"])
@pytest.mark.parametrize("n", [0, 8, 37])
def test_other_measures_follow_their_slopes_exactly(measure: str, n: int) -> None:
    c = made()
    model, pairs = judged_some(c, measure, n)
    _, covariance = given(*from_the_definition(c, VARIANCES), pairs, c.relevance[pairs])
    scores = drawn_of(model)
    np.testing.assert_allclose(model.influence(), covariance @ scores.weights, atol=1e-10)
    linear = scores.weights.T @ covariance @ scores.weights
    np.testing.assert_allclose(model.scores().covariance, linear + scores.unexplained.sum(axis=0), atol=1e-10)
    np.testing.assert_allclose(model.query_scores()[0].mean(axis=0), model.scores().mean, atol=1e-12)


# Variances


@pytest.mark.parametrize("kind", COLLECTIONS)
def test_likelihood_and_slope_are_those_of_the_dense_formula(kind: str) -> None:
    c = some(kind)
    rows = np.sort(np.random.default_rng(3).permutation(len(c))[:41])
    blocks = JudgedBlocks.of(design(c), rows, c.relevance)

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
    effects, rows = design(c), np.arange(len(c))
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
        ({"variances": {"query": 20, "residual": 1e-5}}, "expected a variance for 'residual' of at least 1e-06 of the"),
        ({"variances": {}, "prior_variances": {}}, "expected 'variances' or 'prior_variances', got both"),
        ({"features": "ful"}, "No set of features is called 'ful'. Did you mean 'full'"),
        ({"base": np.zeros(3)}, "'base': expected one number for each of"),
        ({"base": np.full(len(made()), np.nan)}, "'base': expected finite numbers, got nan"),
        ({"draws": 7}, "'draws' must be an even number of at least 2, got 7"),
    ],
)
def test_what_cannot_be_used_is_refused(options: dict[str, Any], message: str) -> None:
    c = made()
    with pytest.raises(AdjudgeError, match=message):
        start("hierarchical", c, scoring("CG@4", c.scale), **options)


def test_beliefs_cannot_be_written_to() -> None:
    model, _ = judged_some(made(), "CG@4", 3)
    for numbers in (model.mean, model.variance, model.influence()):
        with pytest.raises(ValueError, match="read-only"):
            numbers[0] = 1.0


MEANS = np.array([0.005, 0.02, 0.1, 0.3, 0.5, 0.62, 0.9, 0.99])


@pytest.mark.parametrize(("location", "scale"), [(0.3, 0.2), (-0.4, 0.5), (0.9, 1.3), (0.5, 0.01)])
def test_moments_of_what_is_clipped_are_its_integrals(location: float, scale: float) -> None:
    def integral(power: int) -> float:
        inside = quad(lambda r: r**power * norm.pdf(r, location, scale), 0, 1, points=[min(max(location, 0.0), 1.0)])[0]
        return float(inside + norm.sf(1, location, scale))

    mean, variance = moments(np.array([location]), np.array([scale]))
    assert mean[0] == pytest.approx(integral(1), abs=1e-8)
    assert variance[0] == pytest.approx(integral(2) - integral(1) ** 2, abs=1e-8)


@pytest.mark.parametrize("variance", [1e-6, 0.004, 0.03, 0.1, 0.2, 5.0])
def test_means_are_kept_and_variances_shrink_towards_the_ends(variance: float) -> None:
    """More variance than the scale allows counts as nearly all that it allows."""
    found = clipped_normal(MEANS, np.full(len(MEANS), variance))
    mean, spread = moments(found.location, found.scale)
    np.testing.assert_allclose(mean, MEANS, atol=1e-5)
    np.testing.assert_allclose(spread, MEANS * (1 - MEANS) * min(4 * variance, 0.95**2), rtol=1e-3)


@pytest.mark.parametrize("variance", [0.004, 0.1])
def test_slopes_are_those_of_location_and_scale(variance: float) -> None:
    inner, same = MEANS[1:], np.full(len(MEANS) - 1, variance)
    found, step = clipped_normal(inner, same), 1e-6
    above, below = clipped_normal(inner + step, same), clipped_normal(inner - step, same)
    np.testing.assert_allclose(found.location_slope, (above.location - below.location) / (2 * step), atol=1e-3)
    np.testing.assert_allclose(found.scale_slope, (above.scale - below.scale) / (2 * step), atol=2e-3)


def drawn(variances: Floats) -> tuple[Posterior, Draws]:
    """Many draws of a small collection, after some judgments."""
    c = candidates(aj.demo(queries=3, depth=4), cutoff=4)
    posterior = Posterior(design(c), variances, np.zeros(len(c), dtype=np.bool_), np.full(len(c), np.nan))
    draws = Draws(posterior, 20_000, np.random.default_rng(1))
    for pair in (3, 30, 47):
        draws.learn(posterior.update(pair, float(c.relevance[pair])))
    return posterior, draws


def test_deviations_have_the_covariance_of_beliefs() -> None:
    posterior, draws = drawn(np.full(len(KINDS), 0.02))
    covariance = posterior.covariance_with(np.eye(len(posterior.mean)) * ~posterior.known)
    np.testing.assert_allclose(draws.deviations @ draws.deviations.T / 10_000, covariance, atol=0.008)


def test_draws_are_on_the_scale_with_the_expected_mean() -> None:
    posterior, draws = drawn(np.full(len(KINDS), 0.001))
    values, slopes = draws.relevance(slice(0, len(posterior.mean)))
    assert values.min() >= 0
    assert values.max() <= 1
    np.testing.assert_array_equal(values[47], posterior.mean[47])
    assert (slopes[47] == 0).all()
    sure = (posterior.mean - 0.5) ** 2 < 0.01  # shared beliefs hardly leave the scale
    assert sure.sum() > 10
    np.testing.assert_allclose(values.mean(axis=1)[sure], posterior.mean[sure], atol=0.006)
    np.testing.assert_allclose(slopes.mean(axis=1)[sure], 1.0, atol=0.05)


@pytest.mark.parametrize("scale", ["binary", "broad"])  # on Fine a grade of 1 would make whoever has it ideal
def test_queries_with_nothing_relevant_score_nothing_when_almost_everything_is_judged(scale: str) -> None:
    rng = np.random.default_rng(3)
    runs = {f"s{s}": {f"q{q}": [f"d{d}" for d in rng.permutation(12)[:5]] for q in range(8)} for s in range(4)}
    pool = {q: sorted({d for run in runs.values() for d in run[q]}) for q in runs["s0"]}
    judged = {q: dict.fromkeys(documents[1:], 0.0) for q, documents in pool.items()}  # the first of each is left
    assert aj.judging(aj.read(runs, judged, scale=scale), "nDCG@5").view.scores.mean.max() < 0.1


def column(c: Candidates, name: str) -> Floats:
    return {name: values for name, values, _, _ in feature_columns(c)}[name]


AGREED = np.sqrt(4 / 3) - 1  # overlap ½, so n_eff = 4 / (1 + 1 + 2 · ½)
TWO = {"a": {"q": ["x", "y"]}, "b": {"q": ["z", "x"]}}


@pytest.mark.parametrize(
    ("runs", "name", "expected"),
    [
        (dict.fromkeys("abc", TWO["a"]), "agreement", [0, 0]),  # copies count once
        (dict.fromkeys("abc", TWO["a"]), "systems", [np.sqrt(3) - 1] * 2),
        (TWO, "agreement", [AGREED, 0, 0]),
        (TWO, "crowd", [0, 0, 0]),
        (TWO, "rank", [0, -0.5, 0.5]),
        ({**TWO, "lone": {"q": ["v", "w"]}}, "crowd", [-AGREED / 3] * 2 + [AGREED / 6] * 3),  # v, w; x, y, z
    ],
)
def test_features_say_how_much_unlike_systems_agree(
    runs: dict[str, dict[str, list[str]]], name: str, expected: list[float]
) -> None:
    c = candidates(aj.read(runs), cutoff=2, scale=FINE)
    np.testing.assert_allclose(column(c, name), expected, atol=1e-12)


def test_genres_of_what_systems_retrieve_are_averaged() -> None:
    c = made()
    same = np.nan_to_num(Evidence(c).column("sGEN"))
    of_system = np.array([same[c.entry_pair[c.entry_system == s]].mean() for s in range(c.n_systems)])
    of_system -= of_system.mean()
    for pair in np.flatnonzero(c.n_retrieving):
        expected = of_system[c.entry_system[c.entry_pair == pair]].mean()
        assert column(c, "sGEN of systems")[pair] == pytest.approx(expected)


def test_pairs_that_nobody_retrieved_have_a_constant_of_their_own() -> None:
    runs = {"a": {"q1": ["x", "y"], "q2": ["z"]}, "b": {"q1": ["y", "v"], "q2": ["w", "z"]}}
    grades = {"q1": {"x": 70, "stranger": 20}, "q2": {"another": 0, "z": 90}}
    c = candidates(aj.read(runs, grades, scale="fine"), cutoff=2)
    nobody = np.array([document in ("stranger", "another") for document in c.document])
    np.testing.assert_array_equal(column(c, "retrieved by none"), nobody)
    for name in ("systems", "agreement", "rank", "crowd", "crowd in query"):
        assert (column(c, name)[nobody] == 0).all()
    assert "retrieved by none" not in design(candidates(aj.demo(depth=3), cutoff=3)).names


def test_plain_features_are_those_of_the_note() -> None:
    c = candidates(aj.demo(depth=3), cutoff=3)
    assert [name for name, *_ in feature_columns(c, chosen="plain")] == ["constant", "systems", "sGEN", "fGEN"]
    without = [(name, mean, sd) for name, _, mean, sd in feature_columns(c.without_metadata(), chosen="plain")]
    assert without == [("constant", 0.35, 0.25), ("systems", 0.2, 0.15)]


def test_expectations_of_another_estimator_are_the_first_guess() -> None:
    c = candidates(aj.demo(queries=4, depth=3), cutoff=3).unjudged()
    base = np.linspace(0.2, 0.8, len(c))
    model = hierarchical(c, scoring("CG@3", c.scale), base=base)
    np.testing.assert_allclose(model.mean, base, atol=1e-12)


def test_opinions_are_standardised_and_silent_where_there_are_none() -> None:
    c = candidates(aj.demo(queries=4, depth=3), cutoff=3)
    opinion = np.arange(len(c), dtype=np.float64)
    opinion[::3] = np.nan
    told = column(dataclasses.replace(c, opinions={"ear": opinion}), "opinion ear")
    assert (told[::3] == 0).all()
    spoken = told[~np.isnan(opinion)]
    assert (spoken.mean(), spoken.std()) == pytest.approx((0, 1))
    for silent in (np.full(len(c), np.nan), np.full(len(c), 7.0)):
        assert (column(dataclasses.replace(c, opinions={"ear": silent}), "opinion ear") == 0).all()


def error_after(c: Candidates, n: int) -> float:
    """Root mean squared error of expected relevance of what is not judged, after n random judgments."""
    left = np.random.default_rng(6).permutation(len(c))[n:]
    known = c.relevance.copy()
    known[left] = np.nan
    model = start("hierarchical", dataclasses.replace(c, relevance=known), scoring("CG@5", c.scale))
    return float(np.sqrt(((model.mean - c.relevance)[left] ** 2).mean()))


def test_a_good_oracle_saves_much_and_a_bad_one_costs_little() -> None:
    c = candidates(aj.demo(queries=30, depth=5), cutoff=5)
    rng = np.random.default_rng(7)
    good = dataclasses.replace(c, opinions={"oracle": c.relevance + 0.15 * rng.standard_normal(len(c))})
    against = dataclasses.replace(c, opinions={"oracle": 3 - 7 * good.opinions["oracle"]})
    bad = dataclasses.replace(c, opinions={"oracle": rng.standard_normal(len(c))})
    alone = error_after(c, 60)
    assert error_after(good, 60) < 0.75 * alone
    assert error_after(against, 60) == pytest.approx(error_after(good, 60), rel=0.1)  # expected the other way round
    assert error_after(bad, 60) < 1.03 * alone


def expected(c: Candidates, **options: Any) -> HierarchicalModel:
    model = start("hierarchical", c, scoring("CG@5", c.scale), **options)
    assert isinstance(model, HierarchicalModel)
    return model


def test_opinions_are_believed_before_any_judgment_and_a_copy_of_one_adds_nothing() -> None:
    c = candidates(aj.demo(queries=20, depth=5), cutoff=5)
    opinion = c.relevance + 0.3 * np.random.default_rng(3).standard_normal(len(c))
    alone, one = c.unjudged(), dataclasses.replace(c.unjudged(), opinions={"a": opinion})
    moved = expected(one).mean - expected(alone).mean
    assert np.corrcoef(moved, opinion)[0, 1] > 0.8
    twice = dataclasses.replace(one, opinions={"a": opinion, "copy": 5 * opinion - 2})
    np.testing.assert_allclose(expected(twice).mean, expected(one).mean, atol=1e-9)
    np.testing.assert_allclose(expected(twice).variance, expected(one).variance, atol=1e-9)


def test_an_opinion_that_flatters_a_system_is_found_out() -> None:
    """Before any judgment the system gains; with a fifth judged little of that is left."""
    c = candidates(aj.demo(queries=40, depth=5), cutoff=5)
    rng = np.random.default_rng(4)
    honest = c.relevance + 0.25 * rng.standard_normal(len(c))
    own = np.isin(np.arange(len(c)), c.entry_pair[c.entry_system == 3])
    fifth = np.where(rng.random(len(c)) < 0.2, c.relevance, np.nan)
    gains = []
    for relevance in (c.unjudged().relevance, fifth):
        both = [
            dataclasses.replace(c, relevance=relevance, opinions={"judge": opinion})
            for opinion in (honest, honest + 0.4 * own)
        ]
        fair, flattered = (expected(each).scores().mean for each in both)
        gains.append(float((flattered - flattered.mean() - fair + fair.mean())[3]))
    assert gains[0] > 0.03
    assert abs(gains[1]) < gains[0] / 3


def test_what_an_opinion_is_worth_may_differ_from_query_to_query() -> None:
    """The effect has the covariance v w w' within a query, w the opinion less its mean there."""
    c = made().without_metadata().unjudged()
    opinion = np.random.default_rng(5).standard_normal(len(c))
    c = dataclasses.replace(c, opinions={"judge": opinion})
    effects = design(c)
    place = effects.kinds.index("opinion_query")
    variances = np.where(np.arange(len(effects.kinds)) == place, 0.7, 0.0)
    loadings = effects.local * np.sqrt(effects.local_variance(variances)).ravel()
    within = (opinion - opinion.mean()) / opinion.std()
    within -= np.array([within[c.query == q].mean() for q in range(c.n_queries)])[c.query]
    wanted = 0.7 * np.outer(within, within) * (c.query[:, None] == c.query)
    np.testing.assert_allclose((loadings @ loadings.T).toarray(), wanted, atol=1e-12)


def test_a_system_unlike_all_others_is_believed_when_its_judgments_say_so() -> None:
    """It alone is set free; without it nothing changes."""
    c = candidates(aj.demo(queries=40, depth=5), cutoff=5).without_metadata()
    z = np.isin(np.arange(len(c)), c.entry_pair[c.entry_system == 0])
    relevance = np.where(z, np.clip(c.relevance + 0.6, 0, 1), c.relevance)
    seen = np.random.default_rng(9).random(len(c)) < 0.3
    model = expected(dataclasses.replace(c, relevance=np.where(seen, relevance, np.nan)))
    stretch = np.broadcast_to(model._effects.stretch, model._effects.kind.shape)
    systems = stretch[model._effects.kind == KINDS.index("system")]
    assert systems[0] > 1.5
    assert systems[0] == stretch.max()
    truth, found = (relevance[z].mean(), model.mean[z].mean())
    pulled = expected(model.candidates, prior_variances=model.variances)
    pulled._effects = pulled._plain
    pulled._reestimate = False
    pulled._rebuild()
    assert abs(found - truth) <= abs(pulled.mean[z].mean() - truth)
    plain = expected(dataclasses.replace(c, relevance=np.where(seen, c.relevance, np.nan)))
    effect = plain.effects[f"system {c.systems[0]}"]
    assert effect[0] == pytest.approx(plain._posterior.theta[plain._effects.names.index(f"system {c.systems[0]}")])


def test_with_variances_that_are_given_a_system_unlike_all_others_is_set_free_as_well() -> None:
    """So what a session thinks of the future starts from what it says now."""
    c = candidates(aj.demo(queries=40, depth=5), cutoff=5).without_metadata()
    z = np.isin(np.arange(len(c)), c.entry_pair[c.entry_system == 0])
    seen = np.random.default_rng(9).random(len(c)) < 0.3
    relevance = np.where(seen, np.where(z, np.clip(c.relevance + 0.6, 0, 1), c.relevance), np.nan)
    n = last_due(int(seen.sum()))
    relevance[np.flatnonzero(seen)[n:]] = np.nan
    model = expected(dataclasses.replace(c, relevance=relevance))
    again = expected(model.candidates, variances=model.variances)
    assert np.max(again._effects.stretch) > 1.4
    np.testing.assert_allclose(again.scores().mean, model.scores().mean, atol=0.005)
    np.testing.assert_allclose(np.diagonal(again.scores().covariance), np.diagonal(model.scores().covariance), rtol=0.1)


def test_claims_reckon_with_the_steps_of_grades() -> None:
    """Two systems, one query, CG@2 of two levels: differences are multiples of a half, and may well be 0."""
    runs = {"a": {"q": ["w", "x"]}, "b": {"q": ["y", "z"]}}
    model = start("hierarchical", candidates(aj.read(runs), cutoff=2, scale=BINARY), scoring("CG@2", BINARY))
    model.judge(0, 1.0)
    assert model.step == 0.5
    mean, variance = (matrix[0, 1] for matrix in model.scores().differences())
    view = View(model, zone=0.6)
    assert view.sign[0, 1] == pytest.approx(norm.cdf((abs(mean) + 0.25) / np.sqrt(variance)))
    assert view.promise[0, 1] == pytest.approx(norm.cdf((abs(mean) + 0.75) / np.sqrt(variance)))
    near = norm.cdf((0.75 - mean) / np.sqrt(variance)) - norm.cdf((-0.75 - mean) / np.sqrt(variance))
    assert view.near[0, 1] == pytest.approx(near)
    for measure, scale in (("DCG@2", BINARY), ("nDCG@2", BINARY), ("CG@2", Scale("any", 5.0))):
        pool = candidates(aj.read(runs), cutoff=2, scale=scale)
        assert scoring(measure, scale).step(pool) == 0


def simulated(c: Candidates, variances: Mapping[str, float], seed: int) -> Floats:
    """Relevance from the model itself, at any value."""
    rng = np.random.default_rng([8, seed])
    effects = design(c)
    chosen = replace_variances(np.zeros(len(KINDS)), variances)
    theta = effects.prior_mean + np.sqrt(effects.global_variance(chosen)) * rng.standard_normal(len(effects.kind))
    spread = effects.local_variance(chosen)
    local = effects.local @ (np.sqrt(spread) * rng.standard_normal(spread.shape)).ravel()
    own = np.sqrt(effects.own_variance(chosen)) * rng.standard_normal(len(c))
    return np.asarray(effects.x @ theta + local + own)


def test_variances_are_learned_from_a_judged_collection() -> None:
    c = candidates(aj.demo(queries=40, depth=4), cutoff=4)
    truth = {**VARIANCES, "residual": 0.05, "query": 0.08, "artist": 0.002}
    learned = [learn_variances(dataclasses.replace(c, relevance=simulated(c, truth, seed))) for seed in range(3)]
    for kind in ("query", "genre", "system_query", "residual"):
        typical = np.exp(np.mean([np.log(variances[kind]) for variances in learned]))
        assert truth[kind] / 1.5 < typical < truth[kind] * 1.5


def test_intervals_hold_what_they_claim_on_data_from_the_model() -> None:
    c = candidates(aj.demo(queries=12, depth=5), cutoff=5)
    effects, rule = design(c), scoring("CG@5", c.scale)
    nothing = np.zeros(len(c), dtype=np.bool_)
    upper = np.triu_indices(c.n_systems, 1)
    held = []
    for seed in range(60):
        relevance = simulated(c, VARIANCES, seed)
        posterior = Posterior(effects, np.array(list(VARIANCES.values())), nothing, relevance)
        scores = LinearScores(posterior, rule)
        for _ in range(40):  # the most telling pair for all scores together
            worth = np.where(posterior.known, -1.0, (scores.influence**2).sum(axis=1))
            pair = int(np.argmax(worth / np.maximum(posterior.variance, 1e-12)))
            scores.learn(posterior.update(pair, float(relevance[pair])))
        truth = rule.matrix(c).T @ relevance / c.n_queries
        variance = np.diagonal(scores.covariance)
        spread = np.sqrt(variance[:, None] + variance - 2 * scores.covariance)[upper]
        error = ((scores.mean - truth)[:, None] - (scores.mean - truth))[upper]
        held.append((np.abs(error) < 1.96 * spread).mean())
    assert np.mean(held) == pytest.approx(0.95, abs=0.02)


@pytest.mark.parametrize(("scale", "factor"), [(FINE, 1.0), (BROAD, 0.16667 / 0.085), (BINARY, 0.25 / 0.085)])
def test_defaults_grow_with_the_scale(scale: Scale, factor: float) -> None:
    fine = default_variances(FINE, metadata=True)
    np.testing.assert_allclose(default_variances(scale, metadata=True), fine * factor, rtol=1e-4)
    assert default_variances(Scale("any", 5.0), metadata=False)[0] == pytest.approx(0.02 / 0.085 / 12)


def test_given_variances_stay_and_prior_ones_move_with_judgments() -> None:
    c = dataclasses.replace(candidates(aj.demo(queries=4, depth=4), cutoff=4), answers=None)
    fixed = hierarchical(c, scoring("CG@4", c.scale), variances=VARIANCES)
    moving = hierarchical(c, scoring("CG@4", c.scale), prior_variances=VARIANCES)
    for model in (fixed, moving):
        model.judge_all()
    assert fixed.variances == VARIANCES != moving.variances  # type: ignore[attr-defined]
    with pytest.raises(AdjudgeError, match=r"judged pairs to learn variances from.*got none"):
        learn_variances(c.unjudged())


@pytest.mark.parametrize("grade", [None, 0.0, 1.0])
@pytest.mark.parametrize("copies", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        {"prior_sd": 50.0},
        {"variances": {"query": 1.0, "residual": 1e-6}},
        {"prior_variances": {"system_query": 1e-6, "query": 0.0, "system": 0.0, "residual": 1e-12}, "prior_sd": 10.0},
        {"prior_variances": {"query": 1e4, "residual": 0.02}},
    ],
)
def test_extreme_variances_and_judgments_leave_finite_beliefs(
    grade: float | None, options: dict[str, Any], *, copies: bool
) -> None:
    """Judgments that are all the same, systems that are, and variances that differ by many orders."""
    rng, names = np.random.default_rng(3), [f"d{i:02d}" for i in range(30)]
    lists = [[str(d) for d in rng.permutation(names)[:10]] for _ in range(50)]
    runs = {f"s{s}": {f"q{q}": lists[q if copies else 5 * q + s] for q in range(10)} for s in range(5)}
    grades = {f"q{q}": {d: float(rng.integers(2)) if grade is None else grade for d in names[:20]} for q in range(10)}
    found = candidates(aj.read(runs, grades, scale="binary"), cutoff=10)
    if "variances" not in options:
        learned = learn_variances(found, prior_sd=options.get("prior_sd", 1.0))
        assert all(0 < value < np.inf for value in learned.values())
    for part in (
        found,
        dataclasses.replace(found, relevance=np.where(rng.random(len(found)) < 0.3, found.relevance, np.nan)),
    ):
        scores = start("hierarchical", part, scoring("nDCG@10", BINARY), **options).scores()
        assert np.isfinite(scores.mean).all()
        assert np.isfinite(scores.covariance).all()


def test_few_of_many_judged_pairs_tell_variances() -> None:
    c = candidates(aj.demo(queries=3, depth=40), cutoff=40)
    blocks = JudgedBlocks.of(design(c), np.arange(len(c)), c.relevance)
    assert np.diff(c.offsets).min() > 64
    assert blocks.left.shape == (3, 64)
    assert not blocks.padded.any()


def test_fewer_judged_pairs_of_each_query_tell_variances_of_large_collections(monkeypatch: pytest.MonkeyPatch) -> None:
    c = candidates(aj.demo(queries=20, depth=30), cutoff=30)
    effects, judged = design(c), np.arange(len(c))
    assert np.diff(c.offsets).min() > 64
    ten_of_each = 10 * 20 * effects.x.shape[1]
    monkeypatch.setattr("adjudge.relevance.hierarchical.posterior._MOST_NUMBERS", ten_of_each)
    assert JudgedBlocks.of(effects, judged, c.relevance).left.shape == (20, 10)
    monkeypatch.setattr("adjudge.relevance.hierarchical.posterior._MOST_NUMBERS", 0)
    assert JudgedBlocks.of(effects, judged, c.relevance).left.shape == (20, 8)
