"""Fitted satisfaction curves: families stay probabilities, clusters widen bands, few clusters widen them more."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

import adjudge as aj
from adjudge.arrays import Floats, Mask
from adjudge.users import (
    CURVES,
    MONOTONE,
    Mappings,
    SatisfactionMapping,
    curve_error,
    fit_satisfaction,
    held_out_satisfaction,
    read_mappings,
    satisfaction_interval,
    write_mappings,
)
from adjudge.users.curves import Data, between_clusters, blocks, no_less_than_model, widened
from adjudge.users.satisfaction import SatisfactionForm, satisfaction_model


def answers(seed: int, n: int = 1500) -> tuple[Floats, Mask]:
    rng = np.random.default_rng(seed)
    x = rng.random(n)
    return x, rng.random(n) < 0.15 + 0.7 * expit(9 * (x - 0.5))


@pytest.mark.parametrize("form", MONOTONE.values(), ids=lambda form: str(form.name))
@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_every_monotone_curve_rises_within_0_and_1(form: SatisfactionForm, data: st.DataObject) -> None:
    parameters = [data.draw(st.floats(low, high)) for low, high in zip(form.lowest, form.highest, strict=True)]
    mapping = SatisfactionMapping("CG@5", "fine", form.name, tuple(parameters))
    p = mapping(np.linspace(0, 1, 101))
    assert ((p >= 0) & (p <= 1)).all()
    assert np.diff(p).min() >= -1e-9


@pytest.mark.parametrize("kind", [*MONOTONE, "cubic"])
def test_every_kind_finds_the_curve_that_made_the_answers(kind: str, tmp_path: object) -> None:
    x, y = answers(1, 6000)
    fit = fit_satisfaction(x, y, kind=kind)
    mapping = fit.mapping("CG@5", "fine", source="made up", provenance=(("answers", "6000"),))
    at = np.linspace(0.1, 0.9, 9)
    assert mapping(at) == pytest.approx(0.15 + 0.7 * expit(9 * (at - 0.5)), abs=0.09 if kind == "logistic" else 0.06)
    low, high = satisfaction_interval(mapping, at)
    assert ((low < mapping(at)) & (mapping(at) < high)).all()
    assert 0 < curve_error(mapping, x) < 0.02
    path = f"{tmp_path}/mapping.json"
    write_mappings(Mappings((mapping,)), path)
    assert read_mappings(path).satisfaction == (mapping,)


def test_csv_holds_no_other_kinds_than_cubic_and_points(tmp_path: object) -> None:
    mapping = SatisfactionMapping("CG@5", "fine", "logistic", (-1.0, 3.0))
    with pytest.raises(aj.AdjudgeError, match=r"CSV holds satisfaction mappings of one kind, cubic or points"):
        write_mappings(Mappings((mapping,)), f"{tmp_path}/mapping.csv")


@pytest.mark.parametrize(
    ("kind", "coefficients", "covariance", "message"),
    [
        ("logistic", (1.0,), (), r"'logistic' has 2 coefficients \(base, slope\) and no points, got 1 and 0"),
        ("logistic", (1.0, -1.0), (), r"'slope' must be in \[0, 200\], got -1"),
        ("bounded", (0.1, 1.2, 1.0, 1.0), (), r"'rise' must be in \[0, 1\], got 1.2"),
        ("logistic", (1.0, 1.0), ((1.0,),), "the covariance must be 2 x 2"),
    ],
)
def test_impossible_curves_are_refused(
    kind: str, coefficients: tuple[float, ...], covariance: tuple[tuple[float, ...], ...], message: str
) -> None:
    with pytest.raises(aj.AdjudgeError, match=message):
        SatisfactionMapping("CG@5", "fine", kind, coefficients, covariance=covariance)


def test_copies_of_answers_in_their_clusters_change_nothing() -> None:
    x, y = answers(2)
    group = np.arange(len(x)) // 10
    once = fit_satisfaction(x, y, kind="logistic", clusters=group)
    copied = fit_satisfaction(np.tile(x, 3), np.tile(y, 3), kind="logistic", clusters=np.tile(group, 3))
    assert copied.coefficients == pytest.approx(once.coefficients, rel=5e-3)
    assert copied.covariance == pytest.approx(once.covariance, rel=2e-2)


def test_nobody_satisfied_is_not_certainty() -> None:
    x = np.linspace(0, 1, 40)
    mapping = fit_satisfaction(x, np.zeros(40), clusters=np.arange(40)).mapping("CG@5", "fine")
    assert (mapping(x) > 0).all()
    assert mapping(0.5) < 0.05


def test_a_mapping_without_covariance_knows_no_band() -> None:
    mapping = SatisfactionMapping("CG@5", "fine", "cubic", (0.1, 0.2, 0.3, 0.1))
    assert np.isnan(satisfaction_interval(mapping, [0.2, 0.4])).all()
    assert np.isnan(curve_error(mapping, [0.2]))
    assert CURVES["points"].at is None


def test_held_out_prefers_the_family_that_made_the_answers() -> None:
    rng = np.random.default_rng(4)
    x = rng.random(4000)
    y = rng.random(4000) < 0.3 + 0.4 * (x > 0.5)
    scores = {kind: held_out_satisfaction(x, y, kind=kind, folds=5).mean() for kind in ("logistic", "psychometric")}
    assert scores["psychometric"] > scores["logistic"]


def test_two_kinds_of_clusters_are_added_and_what_both_say_is_not_counted_twice() -> None:
    rng = np.random.default_rng(6)
    person, query = np.divmod(np.arange(1200), 30)
    effects = rng.standard_normal(40)[person] + rng.standard_normal(30)[query] + rng.standard_normal(1200)
    scores = effects[:, None]
    both = float(between_clusters(scores, [person, query])[0, 0])
    truth = 40 * 30**2 + 30 * 40**2 + 1200  # variance of the sum: people, queries, answers
    assert both == pytest.approx(truth, rel=0.5)
    assert both > max(float(between_clusters(scores, [one])[0, 0]) for one in (person, query))
    with pytest.raises(aj.AdjudgeError, match="clusters of one or two kinds, got 3"):
        between_clusters(scores, [person, query, person])


def test_one_cluster_alone_tells_nothing() -> None:
    assert np.isnan(widened(np.eye(2), [np.zeros(5, dtype=np.int64)])).all()
    fit = fit_satisfaction([0.1, 0.9, 0.5], [0, 1, 1], kind="logistic", clusters=[0, 0, 0])
    assert fit.mapping("CG@5", "fine").covariance == ()


def test_no_cluster_is_on_both_sides_and_every_answer_is_held_out_once() -> None:
    rng = np.random.default_rng(7)
    person, query = rng.integers(0, 12, 300), rng.integers(0, 9, 300)
    times = np.zeros(300)
    for fit_on, out in blocks((person, query), 300, 4, rng):
        times += out
        assert not set(person[fit_on]) & set(person[out])
        assert not set(query[fit_on]) & set(query[out])
    assert (times == 1).all()


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([0.1], [1], "expected as many answers as lists or pairs, 2 or more"),
        ([0.1, 1.2], [1, 0], r"expected effectiveness in \[0, 1\]"),
        ([0.1, 0.2], [1, 2], "answers 0 or 1"),
    ],
)
def test_impossible_answers_are_refused(x: list[float], y: list[float], message: str) -> None:
    with pytest.raises(aj.AdjudgeError, match=message):
        fit_satisfaction(x, y)


def test_a_cubic_needs_lists_in_four_bins() -> None:
    with pytest.raises(aj.AdjudgeError, match="a cubic needs lists in 4 bins of effectiveness or more, got 2"):
        fit_satisfaction([0.1, 0.9, 0.12], [0, 1, 0], kind="cubic")


def test_a_covariance_is_in_no_direction_less_than_the_likelihood_has_it() -> None:
    """Information of a logistic curve: Σ p (1 - p) (1, x)' (1, x)."""
    x, y = answers(3, 400)
    at = np.array([-1.0, 2.0])
    p, rows = expit(at[0] + at[1] * x), np.stack([np.ones_like(x), x], axis=1)
    least = np.linalg.inv((rows * (p * (1 - p))[:, None]).T @ rows)

    def larger(spread: Floats) -> Floats:
        return no_less_than_model(spread, satisfaction_model("logistic"), Data(x, y.astype(np.int64)), at)

    assert larger(np.zeros((2, 2))) == pytest.approx(least, rel=1e-6)
    assert larger(4 * least) == pytest.approx(4 * least, rel=1e-6)
    wide = np.diag([9 * least[0, 0], least[1, 1] / 9])
    for smaller in (wide, least):
        assert np.linalg.eigvalsh(larger(wide) - smaller).min() >= -1e-6 * least.max()
    assert np.isnan(larger(np.full((2, 2), np.nan))).all()
