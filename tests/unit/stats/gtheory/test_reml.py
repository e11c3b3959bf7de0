"""Restricted maximum likelihood, against ANOVA, lme4 and a dense likelihood."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.stats.gtheory.designs import CROSSED, NESTED, SYSTEMS_QUERIES, Design, mean_squares
from adjudge.stats.gtheory.reml import reml

TRUTH = {
    SYSTEMS_QUERIES.name: (1.0, 0.5, 0.3),
    CROSSED.name: (1.0, 0.8, 0.6, 0.6, 0.5, 0.6, 0.4),
    NESTED.name: (1.0, 0.8, 0.5, 0.5, 0.4),
}

# Brennan, Generalizability Theory, chapter 3: synthetic data set 4, 10 persons, 3 tasks, 4 raters for each task.
PERSONS = """
5 6 5 5 5 3 4 5 6 7 3 3
9 3 7 7 7 5 5 5 7 7 5 2
3 4 3 3 5 3 3 5 6 5 1 6
7 5 5 3 3 1 4 3 5 3 3 5
9 2 9 7 7 7 3 7 2 7 5 3
3 4 3 5 3 3 6 3 4 5 1 2
7 3 7 7 7 5 5 7 5 5 5 4
5 8 5 7 7 5 5 4 3 2 1 1
9 9 8 8 6 6 6 5 5 8 1 1
4 4 4 3 3 5 6 5 5 7 1 1
"""
BRENNAN = np.array([int(score) for score in PERSONS.split()], dtype=float).reshape(10, 3, 4).transpose(1, 0, 2)


def with_holes(values: Floats) -> Floats:
    """The same with an eleventh of the cells emptied, by a rule that other programs can follow."""
    query, system, assessor = np.indices(values.shape)
    return np.where((7 * query + 3 * system + 5 * assessor) % 11 == 0, np.nan, values)


def simulated(
    design: Design, n_queries: int, n_systems: int, n_assessors: int, *, seed: int, missing: float = 0.0
) -> Floats:
    """Normal effects with the variances of ``TRUTH``, and cells emptied at random."""
    rng = np.random.default_rng(seed)
    levels = {"q": n_queries, "s": n_systems} | ({"a": n_assessors} if design.has_assessors else {})
    values = np.zeros(tuple(levels.values()))
    for effect, variance in zip(design.effects, TRUTH[design.name], strict=True):
        size = [n if facet in effect.facets else 1 for facet, n in levels.items()]
        values = values + np.sqrt(variance) * rng.standard_normal(size)
    return np.where(rng.random(values.shape) < missing, np.nan, values)


class Dense:
    """The same model with every matrix written out: slow, and plain enough to be believed."""

    def __init__(self, values: Floats, design: Design) -> None:
        places = np.argwhere(~np.isnan(values))
        self.y = values[~np.isnan(values)]
        keys = [places[:, ["qsa".index(facet) for facet in effect.facets]] for effect in design.effects]
        self.parts = [(key[:, None] == key[None]).all(axis=2).astype(float) for key in keys[:-1]] + [
            np.eye(len(self.y))
        ]

    def projection(self, variances: Floats) -> tuple[Floats, float]:
        """P, and log |V| + log 1'V⁻¹1."""
        covariance = sum(v * part for v, part in zip(variances, self.parts, strict=True))
        inverse = np.linalg.inv(covariance)
        ones = inverse.sum(axis=0)
        return inverse - np.outer(ones, ones) / ones.sum(), float(np.linalg.slogdet(covariance)[1] + np.log(ones.sum()))

    def log_likelihood(self, variances: Floats) -> float:
        p, determinants = self.projection(variances)
        return float(-0.5 * ((len(self.y) - 1) * np.log(2 * np.pi) + determinants + self.y @ p @ self.y))

    def slope(self, variances: Floats) -> Floats:
        p, _ = self.projection(variances)
        left = p @ self.y
        return np.array([0.5 * (left @ part @ left - (p * part).sum()) for part in self.parts])

    def information(self, variances: Floats) -> Floats:
        p, _ = self.projection(variances)
        products = [p @ part for part in self.parts]
        return np.array([[0.5 * (a * b.T).sum() for b in products] for a in products])

    def best(self, starts: int, seed: int) -> float:
        """The highest likelihood that a general optimiser finds from random starts."""
        rng = np.random.default_rng(seed)

        def objective(logs: Floats) -> tuple[float, Floats]:
            variances = np.exp(logs)
            return -self.log_likelihood(variances), -self.slope(variances) * variances

        bounds = [(-15.0, 5.0)] * len(self.parts)
        begins = rng.uniform(-3, 1, (starts, len(bounds)))
        return -min(
            float(minimize(objective, begin, jac=True, method="L-BFGS-B", bounds=bounds).fun) for begin in begins
        )


@pytest.mark.parametrize("seed", range(3))
def test_complete_data_give_the_estimates_of_the_anova_and_their_standard_errors(design: Design, seed: int) -> None:
    values = simulated(design, 30, 12, 6, seed=seed)
    squares = mean_squares(values, design)
    expected = squares.variances()
    assert expected.min() > 0
    fit = reml(values, design)
    np.testing.assert_allclose(fit.variances, expected, rtol=1e-8)
    assert fit.mean == pytest.approx(values.mean())
    solve = np.linalg.inv(design.expected_mean_squares(squares.levels))
    covariance = solve @ np.diag(2 * squares.values**2 / squares.df) @ solve.T  # mean squares are independent
    np.testing.assert_allclose(fit.covariance, covariance, rtol=1e-6, atol=1e-12)


# lme4 1.1.31, R 4.2.2: lmer(y ~ (1|s) + (1|q) + ..., REML = TRUE, control = lmerControl(optimizer = "bobyqa",
# optCtrl = list(rhoend = 1e-12, maxfun = 200000))), with terms s:q, s:a, q:a and, where crossed, a; VarCorr and logLik.
LME4 = [
    (SYSTEMS_QUERIES, (0.366374783, 0.0, 3.938728862), -57.3644063806, 4.842969681),
    (
        CROSSED,
        (0.369495286, 0.278352903, 0.105838811, 0.611540017, 0.0, 0.569646442, 2.480172100),
        -223.596073991,
        4.699570196,
    ),
    (NESTED, (0.373420602, 0.250818371, 0.676838203, 0.611200818, 2.478781255), -223.648330923, 4.699896683),
]


@pytest.mark.parametrize(("design", "variances", "likelihood", "mean"), LME4, ids=["two facets", "crossed", "nested"])
def test_data_with_holes_give_what_lme4_gives(
    design: Design, variances: tuple[float, ...], likelihood: float, mean: float
) -> None:
    values = with_holes(BRENNAN)
    fit = reml(values if design.has_assessors else values[:, :, 1], design)
    np.testing.assert_allclose(fit.variances, variances, rtol=1e-6, atol=1e-12)
    assert fit.log_likelihood == pytest.approx(likelihood, abs=1e-8)
    assert fit.mean == pytest.approx(mean, abs=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_no_start_of_a_dense_likelihood_climbs_higher(design: Design, seed: int) -> None:
    values = simulated(design, 5, 4, 3, seed=seed, missing=0.25)
    fit, dense = reml(values, design), Dense(values, design)
    assert fit.converged
    assert fit.log_likelihood == pytest.approx(dense.log_likelihood(fit.variances), abs=1e-3)  # a residual may be 0
    assert dense.best(starts=4, seed=seed) <= fit.log_likelihood + 1e-3


@pytest.mark.parametrize("seed", range(6, 9))
def test_the_slope_is_0_inside_and_falls_at_the_boundary(design: Design, seed: int) -> None:
    values = simulated(design, 12, 8, 3, seed=seed, missing=0.3)
    fit, dense = reml(values, design), Dense(values, design)
    slope, inside = dense.slope(fit.variances), fit.variances > 0
    assert np.abs(slope[inside] * fit.variances[inside]).max() < 1e-4
    assert (slope[~inside] < 0).all()
    assert fit.log_likelihood == pytest.approx(dense.log_likelihood(fit.variances), abs=1e-8)
    np.testing.assert_allclose(fit.covariance, np.linalg.inv(dense.information(fit.variances)), rtol=1e-6, atol=1e-9)


def test_nested_assessors_of_two_queries_have_no_order_in_common() -> None:
    values = simulated(NESTED, 10, 7, 3, seed=4, missing=0.2)
    rng = np.random.default_rng(4)
    shuffled = np.stack([query[:, rng.permutation(3)] for query in values])
    np.testing.assert_allclose(reml(values, NESTED).variances, reml(shuffled, NESTED).variances, rtol=1e-5, atol=1e-9)


def test_a_constant_added_changes_the_mean_alone_and_a_factor_is_squared(design: Design) -> None:
    values = simulated(design, 10, 7, 3, seed=5, missing=0.2)
    fit, moved, scaled = reml(values, design), reml(values + 7, design), reml(values * 100, design)
    np.testing.assert_allclose(moved.variances, fit.variances, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(scaled.variances, fit.variances * 1e4, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(scaled.covariance, fit.covariance * 1e8, rtol=1e-6, atol=1e-4)
    assert moved.mean == pytest.approx(fit.mean + 7)
    assert moved.log_likelihood == pytest.approx(fit.log_likelihood)
    assert scaled.log_likelihood == pytest.approx(fit.log_likelihood - (fit.n_observations - 1) * np.log(100))


def test_a_query_system_or_assessor_without_observations_adds_nothing(design: Design) -> None:
    values = simulated(design, 10, 7, 3, seed=6, missing=0.2)
    wider = np.pad(values, 1, constant_values=np.nan)
    np.testing.assert_allclose(reml(wider, design).variances, reml(values, design).variances, rtol=1e-6, atol=1e-12)


def test_a_variance_that_the_anova_puts_below_0_is_0() -> None:
    values = np.array([[0.1, 0.9, 0.4], [0.9, 0.1, 0.6], [0.4, 0.6, 0.5]])
    assert (mean_squares(values, SYSTEMS_QUERIES).variances()[:2] < 0).all()
    fit = reml(values, SYSTEMS_QUERIES)
    assert fit.variances[:2].tolist() == [0, 0]
    assert fit.variances[2] == pytest.approx(values.var(ddof=1))  # nothing is left but one sample
    assert (fit.standard_errors > 0).all()


@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_a_residual_of_0_leaves_the_other_variances_to_the_anova(design: Design, missing: float) -> None:
    rng = np.random.default_rng(8)
    values = simulated(SYSTEMS_QUERIES, 20, 8, 1, seed=8)
    if design is SYSTEMS_QUERIES:
        values = rng.standard_normal((20, 1)) + rng.standard_normal(8)
    else:
        values = np.repeat(values[:, :, None], 3, axis=2)  # assessors agree on everything
    expected = mean_squares(values, design).variances()
    fit = reml(np.where(rng.random(values.shape) < missing, np.nan, values), design)
    np.testing.assert_allclose(fit.variances, expected, atol=1e-4 if missing else 5e-6)
    assert fit.variances[-1] == 0
    assert fit.log_likelihood == np.inf
    assert not fit.covariance[-1].any()
    assert np.isfinite(fit.covariance).all()


def test_constant_data_have_no_variance(design: Design) -> None:
    fit = reml(np.full((4, 3, 2) if design.has_assessors else (4, 3), 0.3), design)
    assert not fit.variances.any()
    assert fit.mean == pytest.approx(0.3)


@pytest.mark.parametrize("seed", range(4))
def test_coarse_and_sparse_data_never_give_what_is_not_a_variance(design: Design, seed: int) -> None:
    values = np.round(simulated(design, 9, 5, 3, seed=seed, missing=0.4))
    fit = reml(values, design)
    assert fit.converged
    assert (fit.variances >= 0).all()
    assert np.isfinite(fit.variances).all()
    assert np.linalg.eigvalsh(fit.covariance).min() > -1e-9
    assert not np.isnan(fit.log_likelihood)


def only(mask: Floats) -> Floats:
    return np.where(mask > 0, np.random.default_rng(3).random(mask.shape), np.nan)


SINGLE = np.ones((6, 5, 1))
ONE_PER_CELL = (np.add.outer(np.arange(6), np.arange(5))[:, :, None] % 3 == np.arange(3)).astype(float)
OWN_SYSTEM = np.broadcast_to(np.eye(5), (6, 5, 5))


@pytest.mark.parametrize(
    ("values", "design", "message"),
    [
        (only(SINGLE), NESTED, "tell apart .* query and assessor in query; of system × query and residual"),
        (only(SINGLE), CROSSED, "say nothing of the variance of assessor"),
        (only(ONE_PER_CELL), NESTED, "cannot tell apart the variances of system × query and residual"),
        (only(OWN_SYSTEM), CROSSED, "cannot tell apart the variances of system and assessor and system × assessor"),
        (only(np.ones((6, 1))), SYSTEMS_QUERIES, "say nothing of the variance of system"),
        (np.zeros((3, 3)), NESTED, r"queries x systems x assessors.*2 dimensions"),
        (np.zeros((3, 3, 2)), SYSTEMS_QUERIES, r"queries x systems.*3 dimensions"),
        (np.full((3, 3), np.nan), SYSTEMS_QUERIES, "expected at least 2 observations, got 0"),
    ],
)
def test_what_cannot_be_identified_is_refused_by_name(values: Floats, design: Design, message: str) -> None:
    with pytest.raises(AdjudgeError, match=message):
        reml(values, design)
