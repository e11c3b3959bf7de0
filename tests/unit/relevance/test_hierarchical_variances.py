"""How much effects of the hierarchical estimator vary: defaults, what judgments tell, and what that is good for."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
import pytest

import adjudge as aj
from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.model.scales import BINARY, BROAD, FINE, Scale
from adjudge.relevance.base import scoring, start
from adjudge.relevance.candidates import Candidates, candidates
from adjudge.relevance.hierarchical.effects import KINDS, default_variances, design, feature_columns, replaced
from adjudge.relevance.hierarchical.model import HierarchicalModel, LinearScores, last_due, learn_variances
from adjudge.relevance.hierarchical.posterior import JudgedBlocks, Posterior

VARIANCES = dict(zip(KINDS, (0.03, 0.01, 0.02, 0.015, 0.004, 0.012, 0.025), strict=True))


def simulated(c: Candidates, variances: Mapping[str, float], seed: int) -> Floats:
    """Relevance from the model itself, at any value."""
    rng = np.random.default_rng([8, seed])
    effects = design(c, feature_columns(c))
    chosen = replaced(np.zeros(len(KINDS)), variances)
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
        typical = np.exp(np.mean([np.log(one[kind]) for one in learned]))
        assert truth[kind] / 1.5 < typical < truth[kind] * 1.5


def test_intervals_hold_what_they_claim_on_data_from_the_model() -> None:
    c = candidates(aj.demo(queries=12, depth=5), cutoff=5)
    effects, rule = design(c, feature_columns(c)), scoring("CG@5", c.scale)
    nothing = np.zeros(len(c), dtype=np.bool_)
    upper = np.triu_indices(c.n_systems, 1)
    held = []
    for seed in range(60):
        relevance = simulated(c, VARIANCES, seed)
        posterior = Posterior(effects, np.array(list(VARIANCES.values())), nothing, relevance)
        scores = LinearScores(posterior, rule)
        for _ in range(40):  # the most telling pair for all scores together
            worth = np.where(posterior.judged, -1.0, (scores.influence**2).sum(axis=1))
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


def test_given_variances_stay_and_prior_ones_move() -> None:
    c = candidates(aj.demo(queries=4, depth=4), cutoff=4)
    fixed = start("hierarchical", c, scoring("CG@4", c.scale), variances=VARIANCES)
    moving = start("hierarchical", c, scoring("CG@4", c.scale), prior_variances=VARIANCES)
    assert isinstance(fixed, HierarchicalModel)
    assert isinstance(moving, HierarchicalModel)
    assert fixed.variances == VARIANCES
    assert moving.variances != VARIANCES


def test_few_of_many_judged_pairs_tell_variances() -> None:
    c = candidates(aj.demo(queries=3, depth=40), cutoff=40)
    blocks = JudgedBlocks.of(design(c, feature_columns(c)), np.arange(len(c)), c.relevance)
    assert np.diff(c.offsets).min() > 64
    assert blocks.left.shape == (3, 64)
    assert not blocks.padded.any()


def test_variances_need_judgments() -> None:
    with pytest.raises(AdjudgeError, match="Expected judged pairs to learn variances from, got none"):
        learn_variances(candidates(aj.demo(queries=4, depth=4), cutoff=4).unjudged())


def test_variances_are_renewed_often_at_first_and_by_tenths_later() -> None:
    due = sorted({last_due(n) for n in range(300)})
    assert due == [0, 5, 10, 20, 40, 60, 80, 100, 120, 140, 160, 180, 200, 220, 242, 266, 292]
