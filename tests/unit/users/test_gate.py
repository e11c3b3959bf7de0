"""The gate: decisions of scipy's one-sided tests, queries needed by the noncentral t, false alarms as rare as said."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as Tree

import numpy as np
import pytest
from benchmarks.gate import TREC, rates
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import adjudge as aj
from adjudge.arrays import Floats
from adjudge.model.effectiveness import Effectiveness


def _eff(difference: Floats, *more: Floats) -> Effectiveness:
    """Two systems that differ by this much on each query, under a measure for each array."""
    base = np.linspace(0.2, 0.6, len(difference))
    values = np.stack([np.column_stack([base, base + d]) for d in (difference, *more)], axis=2)
    names = tuple(f"m{i}" for i in range(values.shape[2]))
    queries = tuple(f"q{i}" for i in range(len(base)))
    return Effectiveness(values, queries, ("old", "young"), names, np.ones_like(values))


def _differences(seed: int, mean: float, n: int = 40) -> Floats:
    drawn: Floats = np.random.default_rng(seed).normal(mean, 0.1, n)
    return drawn


@given(st.integers(0, 10**6), st.floats(-0.1, 0.1), st.sampled_from([0.0, 0.01, 0.05]), st.sampled_from([0.8, 0.95]))
@settings(max_examples=25)
def test_p_values_and_intervals_are_those_of_scipy(seed: int, mean: float, margin: float, confidence: float) -> None:
    d = _differences(seed, mean)
    (found,) = aj.gate(_eff(d), margin=margin, confidence=confidence)
    assert found.p_worse == pytest.approx(stats.ttest_1samp(d, -margin, alternative="less").pvalue)
    assert found.p_no_worse == pytest.approx(stats.ttest_1samp(d, -margin, alternative="greater").pvalue)
    interval = stats.ttest_1samp(d, 0).confidence_interval(2 * confidence - 1)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    by_interval = "worse" if interval.high < -margin else "no worse" if interval.low > -margin else "undecided"
    assert found.verdict == by_interval


@given(
    st.integers(0, 10**6),
    st.lists(st.floats(-0.08, 0.04), min_size=2, max_size=4),
    st.sampled_from([0.0, 0.02]),
    st.sampled_from(["holm", "bonferroni"]),
)
@settings(max_examples=25)
def test_of_several_measures_the_gate_fails_exactly_where_an_interval_lies_below_the_margin(
    seed: int, means: list[float], margin: float, correction: str
) -> None:
    drawn = [_differences(seed + i, mean) for i, mean in enumerate(means)]
    found = aj.gate(_eff(*drawn), margin=margin, correction=correction)
    level = 1 - 2 * 0.05 / len(drawn)
    intervals = [stats.ttest_1samp(d, 0).confidence_interval(level) for d in drawn]
    assert [(row.low, row.high) for row in found] == [pytest.approx((each.low, each.high)) for each in intervals]
    assert found.passed is not any(each.high < -margin for each in intervals)


@pytest.mark.parametrize(("test", "by"), [("t", ""), ("wilcoxon", " by t")])
def test_corrected_p_values_and_their_intervals_are_said_to_be(test: str, by: str) -> None:
    both = aj.gate(_eff(_differences(1, -0.02), _differences(2, -0.02)), test=test)
    for line in both.lines()[1:3]:
        assert f"(95 % interval{by} " in line
        assert "one-sided p (holm): " in line
    said = f"{test} test, one-sided, holm correction; 95 % intervals{by}, for all measures at once."
    assert said in both.to_markdown()
    alone = aj.gate(_eff(_differences(1, -0.02)), test=test)
    assert f"(90 % interval{by} " in alone.lines()[1]
    assert "one-sided p: " in alone.lines()[1]


@pytest.mark.parametrize(
    ("mean", "require", "verdict"),
    [
        (-0.02, "not-shown-worse", "PASSED: young is not shown to be worse than old by more than 0.02, with 95 % "
         "confidence, but may be."),
        (-0.02, "no-worse", "FAILED: young may be worse than old by more than 0.02: that is not ruled out with 95 % "
         "confidence."),
        (0.1, "no-worse", "PASSED: young is no worse than old by more than 0.02, with 95 % confidence."),
    ],
)  # fmt: skip
def test_the_verdict_is_a_sentence(mean: float, require: str, verdict: str) -> None:
    d = np.tile([-0.3, 0.3], 20) + mean
    assert aj.gate(_eff(d), margin=0.02, require=require).title == verdict  # type: ignore[arg-type]


@pytest.mark.parametrize("margin", [0.0, 0.01])
def test_where_nothing_changed_the_verdict_says_so(margin: float) -> None:
    same, other = np.zeros(20), _differences(2, 0.0, 20)
    assert aj.gate(_eff(same, same), margin=margin).title == (
        "PASSED: young has the same effectiveness as old on all 20 queries."
    )
    assert "same effectiveness" not in aj.gate(_eff(same, other), margin=margin).title
    few = aj.gate(_eff(np.zeros(3)), margin=0.01, require="no-worse", test="sign")
    assert few.title.startswith("FAILED: young may be worse")


def test_queries_that_a_system_lacks_are_in_the_verdict_everywhere() -> None:
    eff = _eff(_differences(1, -0.2))
    eff.values[:4, 1] = np.nan
    lacking = replace(eff, notes=("Left out.",))
    found = aj.gate(lacking, margin=0.01)
    title = "FAILED: young is worse than old by more than 0.01 on the 36 of 40 queries that both have, with 95 %"
    assert found.title.startswith(title)
    assert title in found.to_markdown()
    (case,) = Tree.fromstring(found.to_junit()).iter("testcase")
    assert str(case.find("failure").get("message")).startswith(title)  # type: ignore[union-attr]
    assert str(case.findtext("system-out")).endswith("\nLeft out.")
    eff.values[:, 1] = np.where(np.isnan(eff.values[:, 1]), np.nan, eff.values[:, 0])
    assert aj.gate(eff).title.endswith("has the same effectiveness as old on the 36 of 40 queries that both have.")


@pytest.mark.parametrize(
    ("mean", "not_shown_worse", "no_worse"), [(-0.2, False, False), (-0.02, True, False), (0.1, True, True)]
)
def test_without_evidence_one_gate_passes_and_the_other_fails(
    mean: float, not_shown_worse: bool, no_worse: bool
) -> None:
    eff = _eff(_differences(1, mean))
    assert aj.gate(eff, margin=0.02).passed is not_shown_worse
    assert aj.gate(eff, margin=0.02, require="no-worse").passed is no_worse


def test_the_same_system_is_never_worse_and_shown_to_be_no_worse_within_any_margin() -> None:
    eff = _eff(np.zeros(10))
    assert aj.gate(eff).passed
    assert aj.gate(eff, margin=0.001, require="no-worse").passed


@pytest.mark.parametrize(("loss", "verdict"), [(0.0, "no worse"), (0.1, "undecided"), (0.2, "worse")])
def test_a_difference_without_spread_says_nothing_of_what_more_queries_would_show(loss: float, verdict: str) -> None:
    found = aj.gate(_eff(np.full(20, -loss)), margin=0.1)
    assert [each.verdict for each in found] == [verdict]
    (row,) = found.to_dicts()
    assert (row["detectable"], row["queries_needed"]) == (None, None)
    assert found.outlook() == "The difference in m0 is the same on all 20 queries; what more would show is not known."
    both = aj.gate(_eff(np.full(20, -loss), _differences(2, 0.0, 20)), margin=0.1).outlook()
    assert both.startswith("20 queries show a loss of 0.")
    assert both.endswith(" The difference in m0 is the same on all 20 queries; what more would show is not known.")


def test_a_table_is_taken_for_effectiveness() -> None:
    eff = _eff(_differences(1, -0.2))
    assert aj.gate(eff.to_pandas(), margin=0.02).to_dicts() == aj.gate(eff, margin=0.02).to_dicts()


def test_the_queries_needed_have_the_power_asked_for_and_one_fewer_do_not() -> None:
    d = _differences(3, -0.03)
    (found,) = aj.gate(_eff(d), margin=0.01, power=0.9)
    assert found.verdict == "undecided"
    assert found.queries_needed is not None

    def power(n: int) -> float:
        shift = abs(d.mean() + 0.01) / d.std(ddof=1) * n**0.5
        return float(stats.nct.sf(stats.t.ppf(0.95, n - 1), n - 1, shift))

    assert power(found.queries_needed) >= 0.9 > power(found.queries_needed - 1)
    shift = (found.detectable - 0.01) / d.std(ddof=1) * len(d) ** 0.5
    assert stats.nct.sf(stats.t.ppf(0.95, len(d) - 1), len(d) - 1, shift) == pytest.approx(0.9)


def test_several_measures_are_corrected_where_any_can_fail_and_not_where_all_must_pass() -> None:
    drawn, good = _differences(4, 0.0), _differences(5, 0.1)
    bad = drawn - drawn.mean() - 1.8 * drawn.std(ddof=1) / len(drawn) ** 0.5
    alone = stats.ttest_1samp(bad, 0, alternative="less").pvalue
    assert 0.025 < alone <= 0.05
    assert not aj.gate(_eff(bad)).passed
    both = aj.gate(_eff(bad, good))
    assert both.passed
    assert both.measures[0].p_worse == pytest.approx(2 * alone)
    shift, df = both.measures[0].detectable / bad.std(ddof=1) * len(bad) ** 0.5, len(bad) - 1
    assert stats.nct.sf(stats.t.ppf(1 - 0.05 / 2, df), df, shift) == pytest.approx(0.8)
    assert not aj.gate(_eff(bad, good), correction="none").passed
    assert aj.gate(_eff(bad, good), margin=0.1, require="no-worse").correction == "none"


@pytest.mark.parametrize("test", ["wilcoxon", "sign", "bootstrap", "permutation"])
def test_every_paired_test_tells_a_large_loss(test: str) -> None:
    found = aj.gate(_eff(_differences(6, -0.2)), margin=0.05, test=test, resamples=999)
    assert [each.verdict for each in found] == ["worse"]


def test_junit_has_a_case_per_measure_and_counts_failures() -> None:
    found = aj.gate(_eff(_differences(7, -0.2), _differences(8, 0.1)), margin=0.01)
    top = Tree.fromstring(found.to_junit())
    (suite,) = top
    assert (top.tag, suite.tag) == ("testsuites", "testsuite")
    assert {name: suite.get(name) for name in ("tests", "failures", "errors")} == {
        "tests": "2",
        "failures": "1",
        "errors": "0",
    }
    assert [(case.get("classname"), case.get("name")) for case in suite] == [("adjudge.gate", n) for n in ("m0", "m1")]
    assert [case.find("failure") is not None for case in suite] == [True, False]
    assert "young is worse than old by more than 0.01" in str(suite[0].find("failure").get("message"))  # type: ignore[union-attr]


JUNIT_10 = {  # elements of junit-10.xsd of Jenkins' xUnit plugin: their attributes and what may be in them
    "testsuites": ({"name", "time", "tests", "failures", "errors"}, {"testsuite"}),
    "testsuite": ({"name", "tests", "failures", "errors", "skipped", "time"}, {"testcase"}),
    "testcase": ({"name", "classname", "time"}, {"failure", "system-out"}),
    "failure": ({"type", "message"}, set()),
    "system-out": (set(), set()),
}


def test_junit_is_what_jenkins_reads_whatever_systems_are_called() -> None:
    for mean in (-0.2, 0.1):
        eff = _eff(_differences(7, mean), _differences(8, mean))
        named = replace(eff, systems=('a<&>"b', "n\x01e\nw|\ufffe"))
        top = Tree.fromstring(aj.gate(named, margin=0.01).to_junit())
        for element in top.iter():
            attributes, inside = JUNIT_10[element.tag]
            assert set(element.keys()) <= attributes
            assert {each.tag for each in element} <= inside
        assert top[0].get("name") == 'n\ufffde\nw|\ufffd against a<&>"b'


def test_it_refuses_what_it_cannot_decide() -> None:
    eff = _eff(_differences(9, 0.0))
    with pytest.raises(aj.AdjudgeError, match="needs a 'margin' above 0"):
        aj.gate(eff, require="no-worse")
    with pytest.raises(aj.AdjudgeError, match=r"'confidence' must be in \(0.5, 1\), got 0.5"):
        aj.gate(eff, confidence=0.5)
    with pytest.raises(aj.AdjudgeError, match="No test is called 'tukey'"):
        aj.gate(eff, test="tukey")
    with pytest.raises(aj.AdjudgeError, match="got 'old' twice"):
        aj.gate(eff, base="old", new="old")
    with pytest.raises(aj.AdjudgeError, match="No system is called 'nobody'"):
        aj.gate(eff, base="nobody")
    with pytest.raises(aj.AdjudgeError, match="got 12; name 'base' and 'new'"):
        aj.gate(aj.evaluate(aj.demo(queries=5), "CG@5"))


@pytest.mark.skipif(not TREC.exists(), reason="without the TREC tables")
def test_false_alarms_and_power_are_as_claimed_on_trec_data() -> None:
    """2,000 pairs are ``python -m benchmarks.gate``; with 80, shares are within four standard errors."""
    table = np.genfromtxt(TREC / "adhoc8_ap.csv", delimiter=",", skip_header=1)
    found = rates(table, 50, require="not-shown-worse", pairs=80)
    assert found.false <= 0.05 + 4 * (0.05 * 0.95 / 80) ** 0.5
    assert found.found >= found.claimed - 4 * (0.8 * 0.2 / 80) ** 0.5
