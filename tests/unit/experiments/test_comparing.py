from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

import adjudge as aj
from adjudge.errors import AdjudgeError
from adjudge.experiments.chunks import run_chunk
from adjudge.experiments.samples import Samples, samples_of
from adjudge.experiments.spec import make_experiment


@pytest.fixture(scope="module")
def samples() -> Samples:
    values = np.random.default_rng(0).random((12, 4)) + np.array([0.0, 0.1, 0.3, 0.5])
    names = ("AP", "RR")
    return samples_of([aj.Effectiveness.from_matrix(values + i, measure=name) for i, name in enumerate(names)])


def test_a_chunk_has_a_row_for_every_trial_size_sample_and_pair(samples: Samples) -> None:
    spec = make_experiment("power", sizes=(5, 8), procedures=("t",), trials=3).prepared(samples)
    rows = run_chunk(spec, samples, 0, 3)
    assert rows.height == 3 * 2 * 2 * 6
    assert rows.columns == ["trial", "sample", "n_queries", "system", "other", "difference", "t"]


def test_measures_of_the_same_queries_are_drawn_together(samples: Samples) -> None:
    rows = run_chunk(make_experiment("power", sizes=(5,), procedures=("t",)), samples, 0, 4)
    first, second = (rows.filter(rows["sample"] == name)["t"].to_numpy() for name in samples.names)
    np.testing.assert_allclose(first, second, rtol=1e-6)  # the second is the first and a constant


def test_rows_do_not_depend_on_how_trials_are_cut(samples: Samples) -> None:
    spec = make_experiment("stability", sizes=(5,), procedures=("bootstrap",), resamples=200)
    whole = run_chunk(spec, samples, 0, 4)
    assert whole.equals(run_chunk(spec, samples, 0, 1).vstack(run_chunk(spec, samples, 1, 4)))


def test_all_queries_give_the_p_values_of_scipy(samples: Samples) -> None:
    rows = run_chunk(make_experiment("power", sizes=(12,), procedures=("t",)), samples, 0, 1)
    values = samples[0].values
    assert rows["t"][0] == pytest.approx(scipy.stats.ttest_rel(values[:, 0], values[:, 1]).pvalue)


def test_sizes_that_cannot_be_drawn_are_refused(samples: Samples) -> None:
    with pytest.raises(AdjudgeError, match="power: a set of 13 queries needs 13, got 12"):
        make_experiment("power", sizes=(13,)).prepared(samples)
    with pytest.raises(AdjudgeError, match="stability: 2 disjoint sets of 7 queries need 14, got 12 of AP"):
        make_experiment("stability", sizes=(7,)).prepared(samples)
    with pytest.raises(AdjudgeError, match="'sizes' must be a whole number of at least 2, got 1"):
        make_experiment("power", sizes=(1,))
    with pytest.raises(AdjudgeError, match="power: expected each size once, got 5, 5"):
        make_experiment("power", sizes=(5, 5))


def test_the_sample_that_is_too_small_for_a_size_is_named(samples: Samples) -> None:
    few = aj.Effectiveness.from_matrix(np.random.default_rng(1).random((6, 3)), measure="ERR")
    both = samples_of({"many": aj.Effectiveness.from_matrix(samples[0].values, measure="AP"), "few": few})
    with pytest.raises(AdjudgeError, match=r"\Apower: a set of 8 queries needs 8, got 6 of ERR \(few\)\Z"):
        make_experiment("power", sizes=(5, 8)).prepared(both)
    with pytest.raises(AdjudgeError, match=r"\Afit: a set of 6 queries needs 6 and 1 left over, got 6 of ERR"):
        make_experiment("fit", sizes=(6,)).prepared(both)
