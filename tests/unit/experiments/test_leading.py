from __future__ import annotations

import numpy as np

from adjudge.experiments.conflicts import leading, left_out


def test_equals_are_seldom_told_apart_also_with_few_trials() -> None:
    rng = np.random.default_rng(1)
    alone = 0
    for _ in range(400):
        hits = rng.binomial(150, rng.beta(20, 8, (5, 1)), (5, 2)).astype(float)
        cases = np.full((5, 2), 150.0)
        alone += len(leading(["a", "b"], hits.sum(axis=0) / 750, left_out(hits, cases))) == 1
    assert alone < 0.08 * 400


def test_what_is_clearly_better_leads_alone_and_names_without_a_value_never() -> None:
    rng = np.random.default_rng(2)
    without = np.column_stack([rng.normal(level, 0.001, 50) for level in (0.4, 0.5)] + [np.full(50, np.nan)])
    value = np.array([0.4, 0.5, np.nan])
    assert leading(["a", "b", "c"], value, without) == ("a",)
    assert leading(["a", "b", "c"], value, without, highest=True) == ("b",)
    assert leading(["a", "b"], np.full(2, np.nan), without[:, :2]) == ("a", "b")


def test_one_trial_tells_nothing_apart() -> None:
    assert leading(["a", "b"], np.array([0.1, 0.9]), np.array([[0.1, 0.9]])) == ("a", "b")
