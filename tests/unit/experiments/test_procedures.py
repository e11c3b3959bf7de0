from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from adjudge.errors import AdjudgeError
from adjudge.experiments.procedures import Procedure, parse_procedure, parse_procedures, run_procedures

paired = st.builds(
    Procedure,
    st.sampled_from(["t", "wilcoxon", "sign", "bootstrap", "permutation"]),
    st.booleans(),
    st.sampled_from(["none", "bonferroni", "holm"]),
    st.sampled_from([0.05, 0.01, 0.001, 0.1, 1e-5]),
)


signs = st.builds(
    Procedure,
    st.just("sign"),
    st.booleans(),
    st.sampled_from(["none", "holm"]),
    st.sampled_from([0.05, 0.01]),
    st.floats(0, 1, allow_nan=False),
)


@given(paired | signs)
def test_a_procedure_prints_and_parses_back(procedure: Procedure) -> None:
    assert parse_procedure(str(procedure)) == procedure


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "expected a test such as t, wilcoxon-1@0.01, bootstrap\\+holm or .*, got ''"),
        ("wilcox", "No test is called 'wilcox'. Did you mean 'wilcoxon'"),
        ("t+homl", "No correction is called 'homl'. Did you mean 'holm'"),
        ("t@five", "expected a level such as 0.01 after the @, got 'five'"),
        ("t@1.5", "'alpha' must be in \\(0, 1\\), got 1.5"),
        ("t@nan", "'alpha' must be in \\(0, 1\\), got nan"),
        ("friedman-tukey-1", "friedman-tukey is two-sided and corrects for all pairs itself"),
        ("friedman-tukey+holm", "friedman-tukey is two-sided and corrects for all pairs itself"),
        ("t(min_difference=0.01)", "t: takes no 'min_difference'"),
        ("tukey(min_difference=0.01)", "tukey: takes no 'min_difference'"),
        ("sign(min_difference=-1)", "sign: 'min_difference' must be a finite number of at least 0, got -1"),
        ("sign(min_difference=nan)", "sign: 'min_difference' must be a finite number of at least 0, got nan"),
        ("sign(min_difference=small)", "sign: 'min_difference' must be a finite number of at least 0, got 'small'"),
        ("sign(least=0.01)", "sign: expected a parameter such as min_difference=0.01 in brackets, got 'least'"),
        ("sign(0.01)", "sign: expected a parameter such as min_difference=0.01 in brackets, got '0.01'"),
        ("sign()", "sign: expected a parameter such as min_difference=0.01 in brackets, got ''"),
    ],
)
def test_what_is_no_procedure_is_refused_in_words(text: str, words: str) -> None:
    with pytest.raises(AdjudgeError, match=words):
        parse_procedure(text)


def test_the_same_p_values_twice_are_refused() -> None:
    with pytest.raises(AdjudgeError, match=r"each test once.*got 't' twice: .* show FOLDER --alpha"):
        parse_procedures(["t", "t@0.01"])
    with pytest.raises(AdjudgeError, match="expected at least one test, got none"):
        parse_procedures([])


def test_p_values_are_those_of_scipy_with_the_better_system_first() -> None:
    values = np.random.default_rng(5).random((12, 3))
    (found,) = run_procedures([values], parse_procedures(["t", "t-1", "t+bonferroni"]), resamples=100, seed=0)
    for place, (a, b) in enumerate([(0, 1), (0, 2), (1, 2)]):
        assert found.difference[place] == pytest.approx((values[:, a] - values[:, b]).mean())
        best, worst = (a, b) if found.difference[place] > 0 else (b, a)
        two = scipy.stats.ttest_rel(values[:, a], values[:, b]).pvalue
        one = scipy.stats.ttest_rel(values[:, best], values[:, worst], alternative="greater").pvalue
        assert found.p["t"][place] == pytest.approx(two)
        assert found.p["t-1"][place] == pytest.approx(one)
        assert found.p["t+bonferroni"][place] == pytest.approx(min(1.0, 3 * two))


def test_small_differences_are_ties_of_the_sign_test_that_asks_for_it() -> None:
    values = np.array([[0.505, 0.5], [0.6, 0.5], [0.7, 0.5], [0.4, 0.5], [0.8, 0.5], [0.495, 0.5]])
    (found,) = run_procedures(
        [values], parse_procedures(["sign", "sign(min_difference=0.01)", "sign(min_difference=0.01)-1"]),
        resamples=100, seed=0,
    )  # fmt: skip
    assert found.p["sign"][0] == pytest.approx(scipy.stats.binomtest(4, 6).pvalue)
    assert found.p["sign(min_difference=0.01)"][0] == pytest.approx(scipy.stats.binomtest(3, 4).pvalue)
    one_sided = scipy.stats.binomtest(3, 4, alternative="greater").pvalue
    assert found.p["sign(min_difference=0.01)-1"][0] == pytest.approx(one_sided)


def test_the_unit_of_a_discrete_measure_changes_no_p_value() -> None:
    """Five queries each way: means are equal but for rounding, which must not say which system a tail is of."""
    whole = np.array([[1, 3], [3, 1], [2, 3], [3, 2], [6, 1], [1, 2], [1, 2], [1, 2], [1, 2], [1, 2]])
    procedures = parse_procedures(["wilcoxon-1", "sign-1", "wilcoxon", "friedman-tukey"])
    truth, *scaled = run_procedures([whole / unit for unit in (1.0, 10, 3, 7)], procedures, resamples=100, seed=0)
    assert truth.difference.tolist() == [0.0]
    for found in scaled:
        for name, p in truth.p.items():
            assert found.p[name] == pytest.approx(p)
