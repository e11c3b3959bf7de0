"""Queries within data sets, against REML of any design, statsmodels, and published fits of lme4."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from scipy import stats

from adjudge.arrays import Floats, Ints
from adjudge.errors import NotEnoughDataError
from adjudge.stats.gtheory.datasets import QUERIES_IN_DATASETS, study_datasets
from adjudge.stats.gtheory.designs import SYSTEMS_QUERIES, Design, Effect
from adjudge.stats.gtheory.reml import reml


def _made_up(sizes: list[int], n_systems: int, seed: int) -> tuple[Floats, Ints]:
    rng, d = np.random.default_rng(seed), np.repeat(np.arange(len(sizes)), sizes)
    values = rng.normal(0, 0.7, n_systems) + rng.normal(0, 0.5, (len(sizes), 1))[d] + rng.normal(0, 0.8, (len(d), 1))
    return values + rng.normal(0, 0.6, (len(sizes), n_systems))[d] + rng.normal(size=(len(d), n_systems)), d


def _cube(values: Floats, datasets: Ints) -> Floats:
    n = np.bincount(datasets)
    cube = np.full((len(n), values.shape[1], n.max()), np.nan)
    for dataset, size in enumerate(n):
        cube[dataset, :, :size] = values[datasets == dataset].T
    return cube


@pytest.mark.parametrize("sizes", [[5, 5, 5], [3, 8, 5, 12], [2, 9, 1, 6, 3]], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_estimates_are_those_of_reml_for_any_design(sizes: list[int], seed: int) -> None:
    values, datasets = _made_up(sizes, 4, seed)
    found, expected = study_datasets(values, datasets), reml(_cube(values, datasets), QUERIES_IN_DATASETS)
    assert found.variances == pytest.approx(expected.variances, rel=1e-4, abs=1e-5)
    assert found.log_likelihood == pytest.approx(expected.log_likelihood, abs=1e-6)
    assert found.mean == pytest.approx(expected.mean, abs=1e-5)


def test_estimates_are_those_of_statsmodels() -> None:
    pandas, models = import_module("pandas"), import_module("statsmodels.regression.mixed_linear_model")
    values, datasets = _made_up([4, 9, 6, 5, 8, 3], 5, 8)
    q, s = np.indices(values.shape)
    table = {"y": values.ravel(), "s": s.ravel(), "q": q.ravel(), "d": datasets[q].ravel(), "one": 1}
    formulas = {"s": "0 + C(s)", "d": "0 + C(d)", "q": "0 + C(q)", "sd": "0 + C(s):C(d)"}
    model: Any = models.MixedLM.from_formula("y ~ 1", groups="one", vc_formula=formulas, data=pandas.DataFrame(table))
    fit = model.fit(reml=True, method="lbfgs")
    theirs = [
        *(dict(zip(model.exog_vc.names, fit.vcomp, strict=True))[name] for name in ("s", "d", "q", "sd")),
        fit.scale,
    ]
    assert study_datasets(values, datasets).variances == pytest.approx(theirs, rel=2e-3, abs=2e-3)


# Diameters of growth inhibition by six samples of penicillin on 24 plates: Davies & Goldsmith (eds.), Statistical
# Methods in Research and Production, 4th ed., 1972, section 6.6. Variances, standard deviations and REML criterion as
# published for lmer(diameter ~ 1 + (1|plate) + (1|sample)): Bates, Mächler, Bolker & Walker, lme4; Bates, lme4:
# Mixed-effects modeling with R, 2010, section 2.1.1.
PENICILLIN = [
    (27, 23, 26, 23, 23, 21), (27, 23, 26, 23, 23, 21), (25, 21, 25, 24, 24, 20), (26, 23, 25, 23, 23, 20),
    (25, 22, 26, 22, 23, 20), (24, 22, 25, 23, 22, 19), (24, 20, 23, 21, 22, 19), (26, 22, 26, 24, 24, 21),
    (24, 21, 24, 22, 22, 20), (24, 21, 24, 23, 22, 19), (26, 23, 26, 24, 24, 21), (25, 22, 26, 24, 24, 20),
    (26, 24, 26, 24, 25, 22), (26, 23, 26, 23, 23, 20), (26, 23, 25, 24, 24, 22), (25, 22, 25, 23, 23, 20),
    (25, 21, 24, 23, 23, 20), (25, 22, 24, 23, 23, 19), (24, 21, 23, 21, 21, 19), (26, 23, 26, 24, 24, 21),
    (25, 21, 24, 22, 22, 18), (25, 22, 25, 22, 22, 20), (24, 21, 24, 22, 24, 19), (24, 21, 24, 22, 21, 18),
]  # fmt: skip


def test_crossed_effects_are_those_published_for_penicillin() -> None:
    fit = reml(np.array(PENICILLIN, dtype=float), SYSTEMS_QUERIES)
    assert np.sqrt(fit.variances) == pytest.approx([1.93157, 0.84671, 0.54992], abs=2e-4)
    assert -2 * fit.log_likelihood == pytest.approx(330.8606, abs=1e-4)


# Strength of a chemical paste, two assays of each of three casks of ten batches: Davies & Goldsmith 1972, section 6.5.
# lmer(strength ~ 1 + (1|sample) + (1|batch)): Bates 2010, section 2.2.1.
PASTES = [
    62.8, 62.6, 60.1, 62.3, 62.7, 63.1, 60.0, 61.4, 57.5, 56.9, 61.1, 58.9, 58.7, 57.5, 63.9, 63.1, 65.4, 63.7, 57.1,
    56.4, 56.9, 58.6, 64.7, 64.5, 55.1, 55.1, 54.7, 54.2, 58.8, 57.5, 63.4, 64.9, 59.3, 58.1, 60.5, 60.0, 62.5, 62.6,
    61.0, 58.7, 56.9, 57.7, 59.2, 59.4, 65.2, 66.0, 64.8, 64.1, 54.8, 54.8, 64.0, 64.0, 57.7, 56.8, 58.3, 59.3, 59.2,
    59.2, 58.9, 56.6,
]  # fmt: skip


def test_nested_effects_are_those_published_for_pastes() -> None:
    nested = Design(
        "", (Effect("batch", "q"), Effect("cask", "qa", nested=True), Effect("residual", "sqa", nested=True))
    )
    fit = reml(np.array(PASTES).reshape(10, 3, 2).transpose(0, 2, 1), nested)
    assert np.sqrt(fit.variances) == pytest.approx([1.2874, 2.9041, 0.8234], abs=2e-4)
    assert -2 * fit.log_likelihood == pytest.approx(246.9907, abs=1e-3)
    assert fit.mean == pytest.approx(60.0533, abs=1e-4)


def test_errors_of_differences_are_those_that_come_about() -> None:
    rng, errors = np.random.default_rng(1), {"queries": list[float](), "data sets": list[float]()}
    sizes, claimed = [5, 20, 10, 40], []
    for seed in range(300):
        values, d = _made_up(sizes, 5, seed)
        system, both = rng.normal(0, 0.7, 5), rng.normal(0, 0.6, (4, 5))
        values = system + both[d] + rng.normal(size=(75, 5))
        means = np.array([values[d == i].mean(axis=0) for i in range(4)]).mean(axis=0)
        given = system + both.mean(axis=0)
        errors["queries"].append(float((means - given)[0] - (means - given)[1]))
        errors["data sets"].append(float((means - system)[0] - (means - system)[1]))
        study = study_datasets(values, d)
        claimed.append((study.queries_error**2, study.datasets_error**2))
    for truth, said in zip(errors.values(), np.mean(claimed, axis=0), strict=True):
        assert np.std(truth) == pytest.approx(said**0.5, rel=0.12)


def test_constant_data_have_no_variance_and_too_few_data_sets_are_refused() -> None:
    assert not study_datasets(np.full((10, 3), 0.5), np.repeat([0, 1], 5)).variances.any()
    with pytest.raises(NotEnoughDataError, match="got 3 systems, 1 data set of up to 10 queries"):
        study_datasets(np.ones((10, 3)), np.zeros(10, dtype=int))


def test_margins_are_those_of_t_and_few_data_sets_that_look_alike_say_nothing_of_others() -> None:
    study = study_datasets(*_made_up([5, 9, 6, 5, 8, 7], 4, 8))
    near, far = study.margins(0.9)
    assert near == pytest.approx(stats.t.ppf(0.95, 3 * (40 - 6)) * study.queries_error)
    assert far == pytest.approx(stats.t.ppf(0.95, 5) * study.datasets_error)
    rng = np.random.default_rng(1)
    for n_datasets, is_known in ((6, False), (12, True)):
        d = np.repeat(np.arange(n_datasets), 20)
        values = rng.normal(size=(len(d), 3))
        values -= np.array([values[d == i].mean(axis=0) for i in range(n_datasets)])[d]  # no data set differs
        assert (study_datasets(values, d).margins(0.95)[1] is not None) == is_known
