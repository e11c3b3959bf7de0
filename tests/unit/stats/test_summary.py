"""Summaries: means with their intervals, and their bounds over unjudged documents."""

from __future__ import annotations

import numpy as np
import pytest

import adjudge as aj
from adjudge.stats.summary import summarize


@pytest.mark.parametrize("interval", ["t", "bca"])
def test_rows_have_means_intervals_and_bounds_over_unjudged_documents(interval: aj.checks.Interval) -> None:
    values = np.random.default_rng(1).random((20, 2, 1)) / 2 + [[[0.2], [0.0]]]
    judged = np.full(values.shape, 0.75)
    queries = tuple(f"q{i}" for i in range(20))
    eff = aj.Effectiveness(values, queries, ("A", "B"), ("AP",), judged, lower=values - 0.1, upper=values + 0.2)
    first, second = summarize(eff, interval=interval)
    assert (first.system, second.system, first.n_queries, first.judged) == ("A", "B", 20, 0.75)
    assert first.mean == pytest.approx(values[:, 0].mean())
    assert first.low < first.mean < first.high
    assert (first.lowest, first.highest) == pytest.approx((first.mean - 0.1, first.mean + 0.2))
    assert first.shown(2).endswith(f"[{first.mean - 0.1:.2f}, {first.mean + 0.2:.2f}]")
    assert "bounds over all grades that unjudged documents could have" in str(summarize(eff))
