"""Experiments that compare two sets of queries: subsets that do not overlap, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import adjudge as aj
from adjudge.arrays import Ints
from adjudge.errors import AdjudgeError
from adjudge.experiments.chunks import run_chunk
from adjudge.experiments.comparing import draw_subsets
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
    with pytest.raises(AdjudgeError, match=r"power: a set of 8 queries needs 8, got 6 of ERR \(few\)"):
        make_experiment("power", sizes=(5, 8)).prepared(both)
    with pytest.raises(AdjudgeError, match="fit: a set of 6 queries needs 6 and 1 left over, got 6 of ERR"):
        make_experiment("fit", sizes=(6,)).prepared(both)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Ints, int, int, int]:
    stratum = np.array(draw(st.lists(st.integers(0, 4), min_size=2, max_size=40)), dtype=np.int64)
    count = draw(st.integers(1, 2))
    size = draw(st.integers(1, len(stratum) // count))
    return stratum, size, count, draw(st.integers(0, 10**6))


@given(cases())
def test_subsets_are_disjoint_in_order_and_of_the_size_asked_for(case: tuple[Ints, int, int, int]) -> None:
    stratum, size, count, seed = case
    found = draw_subsets(np.random.default_rng(seed), stratum, size, count=count)
    assert found.shape == (count, size)
    assert len(set(found.ravel().tolist())) == size * count
    assert (np.diff(found, axis=1) > 0).all()
    assert found.min() >= 0
    assert found.max() < len(stratum)


@given(cases())
def test_no_stratum_gives_more_than_another_that_still_has_queries(case: tuple[Ints, int, int, int]) -> None:
    stratum, size, count, seed = case
    found = draw_subsets(np.random.default_rng(seed), stratum, size, count=count)
    available = np.bincount(stratum)
    given_ = np.bincount(stratum[found.ravel()], minlength=len(available))
    left = given_ < available
    if left.any():
        assert given_.max() - given_[left].min() <= 1


@given(cases())
def test_two_subsets_have_about_as_many_of_every_stratum(case: tuple[Ints, int, int, int]) -> None:
    stratum, size, count, seed = case
    found = draw_subsets(np.random.default_rng(seed), stratum, size, count=count)
    parts = np.array([np.bincount(stratum[one], minlength=5) for one in found])
    assert (parts.max(axis=0) - parts.min(axis=0)).max() <= 1


@given(cases())
def test_the_same_strata_and_seed_give_the_same_draw(case: tuple[Ints, int, int, int]) -> None:
    stratum, size, count, seed = case
    first, again = (draw_subsets(np.random.default_rng(seed), stratum.copy(), size, count=count) for _ in range(2))
    assert np.array_equal(first, again)


def test_every_query_is_as_likely_as_any_other_of_its_stratum() -> None:
    rng, stratum = np.random.default_rng(3), np.repeat([0, 1], 5)
    drawn = np.concatenate([draw_subsets(rng, stratum, 4).ravel() for _ in range(2000)])
    # each of 10 queries is drawn with probability 0.4: binomial, four standard deviations
    assert np.abs(np.bincount(drawn) / 2000 - 0.4).max() < 4 * np.sqrt(0.4 * 0.6 / 2000)


def test_more_queries_than_there_are_are_refused() -> None:
    with pytest.raises(AdjudgeError, match="2 disjoint sets of 3 queries need 6, got 5"):
        draw_subsets(np.random.default_rng(0), np.zeros(5, dtype=np.int64), 3, count=2)
