"""Designs of a G-study: mean squares counted cell by cell, resampling undone, and the design that data follow."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import adjudge as aj
from adjudge.arrays import Floats
from adjudge.stats.gtheory.designs import (
    CROSSED,
    NESTED,
    SYSTEMS_QUERIES,
    Design,
    arrange,
    better_systems,
    mean_squares,
)

NAN = float("nan")
TWO = np.ones((2, 2, 2))


def _cube(seed: int, shape: tuple[int, ...]) -> Floats:
    rng = np.random.default_rng(seed)
    sizes = [tuple(n if keep else 1 for n, keep in zip(shape, kept, strict=True)) for kept in product((0, 1), repeat=3)]
    cube: Floats = sum((rng.normal(size=size) for size in sizes), np.zeros(shape))
    return cube


def _values(design: Design, seed: int = 0, shape: tuple[int, int, int] = (4, 3, 2)) -> Floats:
    cube = _cube(seed, shape)
    return cube if design.has_assessors else cube[:, :, 0]


def by_hand(x: Floats, design: Design) -> list[float]:
    """Mean squares from their definitions: squared effects of every cell, summed in plain loops."""
    cube = x[:, :, None] if x.ndim == 2 else x
    n_q, n_s, n_a = cube.shape
    cells = list(product(range(n_q), range(n_s), range(n_a)))

    def mean(q: int | None = None, s: int | None = None, a: int | None = None) -> float:
        return fmean(
            float(cube[c]) for c in cells if (q in (None, c[0])) and (s in (None, c[1])) and (a in (None, c[2]))
        )

    grand = mean()

    def total(effect: Callable[[int, int, int], float]) -> float:
        return sum(effect(*c) ** 2 for c in cells)

    s_ = total(lambda q, s, a: mean(s=s) - grand) / (n_s - 1)
    q_ = total(lambda q, s, a: mean(q=q) - grand) / (n_q - 1)
    sq = total(lambda q, s, a: mean(q=q, s=s) - mean(q=q) - mean(s=s) + grand) / ((n_s - 1) * (n_q - 1))
    if design is SYSTEMS_QUERIES:
        return [s_, q_, sq]
    if design is NESTED:
        in_query = total(lambda q, s, a: mean(q=q, a=a) - mean(q=q)) / (n_q * (n_a - 1))
        rest = total(lambda q, s, a: cube[q, s, a] - mean(q=q, s=s) - mean(q=q, a=a) + mean(q=q))
        return [s_, q_, in_query, sq, rest / (n_q * (n_s - 1) * (n_a - 1))]
    a_ = total(lambda q, s, a: mean(a=a) - grand) / (n_a - 1)
    sa = total(lambda q, s, a: mean(s=s, a=a) - mean(s=s) - mean(a=a) + grand) / ((n_s - 1) * (n_a - 1))
    qa = total(lambda q, s, a: mean(q=q, a=a) - mean(q=q) - mean(a=a) + grand) / ((n_q - 1) * (n_a - 1))
    rest = total(
        lambda q, s, a: (
            (cube[q, s, a] - mean(q=q, s=s) - mean(s=s, a=a) - mean(q=q, a=a))
            + (mean(q=q) + mean(s=s) + mean(a=a) - grand)
        )
    )
    return [s_, q_, a_, sq, sa, qa, rest / ((n_s - 1) * (n_q - 1) * (n_a - 1))]


def test_mean_squares_are_those_of_their_definitions(design: Design) -> None:
    values = _values(design)
    assert mean_squares(values, design).values == pytest.approx(by_hand(values, design), rel=1e-9)


def test_resampled_mean_squares_are_those_of_the_repeated_data(design: Design) -> None:
    values = _values(design)
    queries, systems = (
        np.array([[2.0, 0, 1, 1], [0, 0, 4, 0], [1, 1, 1, 1]]),
        np.array([[1.0, 1, 1], [0, 2, 1], [3, 0, 0]]),
    )
    found = mean_squares(values, design, queries=queries, systems=systems).values
    assert found.shape == (3, len(design.effects))
    for row, q, s in zip(found, queries.astype(int), systems.astype(int), strict=True):
        repeated = np.repeat(np.repeat(values, q, axis=0), s, axis=1)
        assert row == pytest.approx(by_hand(repeated, design), rel=1e-9, abs=1e-9)


N_S, N_Q, N_A = 7, 5, 3
TEXTBOOK = {  # expected mean squares: thesis eq 6.3, Brennan, thesis eq 6.8; and degrees of freedom
    SYSTEMS_QUERIES: ([[N_Q, 0, 1], [0, N_S, 1], [0, 0, 1]], [6, 4, 24]),
    CROSSED: (
        [  # columns: s, q, a, sq, sa, qa, sqa
            [N_Q * N_A, 0, 0, N_A, N_Q, 0, 1],  # s
            [0, N_S * N_A, 0, N_A, 0, N_S, 1],  # q
            [0, 0, N_S * N_Q, 0, N_Q, N_S, 1],  # a
            [0, 0, 0, N_A, 0, 0, 1],  # sq
            [0, 0, 0, 0, N_Q, 0, 1],  # sa
            [0, 0, 0, 0, 0, N_S, 1],  # qa
            [0, 0, 0, 0, 0, 0, 1],  # sqa
        ],
        [6, 4, 2, 24, 12, 8, 48],
    ),
    NESTED: (
        [  # columns: s, q, a:q, sq, sa:q
            [N_Q * N_A, 0, 0, N_A, 1],  # s
            [0, N_S * N_A, N_S, N_A, 1],  # q
            [0, 0, N_S, 0, 1],  # a:q
            [0, 0, 0, N_A, 1],  # sq
            [0, 0, 0, 0, 1],  # sa:q
        ],
        [6, 4, 5 * 2, 24, 5 * 6 * 2],
    ),
}


def test_expected_mean_squares_and_degrees_of_freedom_are_those_of_the_textbook(design: Design) -> None:
    levels = {"s": N_S, "q": N_Q} | ({"a": N_A} if design.has_assessors else {})
    expected, df = TEXTBOOK[design]
    assert design.expected_mean_squares(levels).tolist() == expected
    assert design.degrees_of_freedom(levels).tolist() == df
    assert sum(df) == N_S * N_Q * (N_A if design.has_assessors else 1) - 1


def _every_draw(n: int) -> Floats:
    """How often each of n levels is drawn, for every one of the n^n equally likely draws."""
    return np.array([np.bincount(draw, minlength=n) for draw in product(range(n), repeat=n)], dtype=np.float64)


@pytest.mark.parametrize("over", ["q", "s", "sq", "qs"])
def test_over_all_draws_corrected_variances_average_to_those_of_the_data(design: Design, over: str) -> None:
    """Not a simulation: every draw with replacement is taken once, so the mean is exact."""
    values = _values(design, seed=5, shape=(3, 4, 2))
    queries, systems = _every_draw(3), _every_draw(4)
    if over == "q":
        systems = np.ones((len(queries), 4))
    elif over == "s":
        queries = np.ones((len(systems), 3))
    else:
        queries, systems = np.repeat(queries, len(systems), axis=0), np.tile(systems, (len(queries), 1))
    drawn = mean_squares(values, design, queries=queries, systems=systems)
    biased = drawn.variances().mean(axis=0)
    for facet in over:
        drawn = drawn.without_resampling_bias(facet)
    wanted = mean_squares(values, design).variances()
    assert drawn.variances().mean(axis=0) == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    assert biased != pytest.approx(wanted, rel=0.05), "there is a bias to take back"


numbers = st.floats(-100, 100, allow_nan=False).map(lambda x: round(x, 3))


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    shape=st.tuples(st.integers(2, 5), st.integers(2, 5), st.integers(2, 4)),
    design=st.sampled_from([SYSTEMS_QUERIES, CROSSED, NESTED]),
    shift=numbers,
    factor=numbers.filter(lambda x: abs(x) > 0.01),
)
def test_sums_of_squares_add_up_and_follow_the_scale(
    seed: int, shape: tuple[int, int, int], design: Design, shift: float, factor: float
) -> None:
    values = _values(design, seed, shape)
    found = mean_squares(values, design)
    squares = found.values * found.df
    assert squares.sum() == pytest.approx(((values - values.mean()) ** 2).sum(), rel=1e-9)
    assert (squares >= 0).all()
    moved = mean_squares(shift + factor * values, design)
    assert moved.values == pytest.approx(factor**2 * found.values, rel=1e-6, abs=1e-7)
    rng = np.random.default_rng(seed)
    mixed = values[rng.permutation(shape[0])][:, rng.permutation(shape[1])]
    assert mean_squares(mixed, design).values == pytest.approx(found.values, rel=1e-9, abs=1e-12)


def test_additive_data_leave_nothing_but_their_effects(design: Design) -> None:
    values = np.add.outer([0.1, 0.2, 0.4, 0.7], [0.0, 0.3, 0.1])
    found = mean_squares(np.repeat(values[:, :, None], 2, axis=2) if design.has_assessors else values, design)
    of = dict(zip([effect.facets for effect in design.effects], found.values, strict=True))
    assert of.pop("s") > 0
    assert of.pop("q") > 0
    assert set(of.values()) == {0.0}, "rounding is 0"


def judged_by(who: list[list[int]], n_a: int) -> Floats:
    """A cube in which query q was judged by the assessors ``who[q]`` only."""
    values = _cube(0, (len(who), 3, n_a))
    for q, judges in enumerate(who):
        values[q, :, [a for a in range(n_a) if a not in judges]] = NAN
    return values


def assessed(values: Floats, assessors: tuple[str, ...]) -> aj.model.AssessedEffectiveness:
    n_q, n_s, _ = values.shape
    queries, systems = tuple(f"q{i}" for i in range(n_q)), tuple("ABCDEFGH"[:n_s])
    return aj.model.AssessedEffectiveness(values[..., None], queries, systems, assessors, ("CG@5",))


def test_a_matrix_is_systems_by_queries_and_names_are_kept() -> None:
    values = _cube(0, (6, 3, 2))[:, :, 0]
    found = arrange(values)
    assert (found.design, found.notes, found.complete) == (SYSTEMS_QUERIES, (), True)
    assert (found.values == values).all()
    assert (found.systems, found.measure) == (("s1", "s2", "s3"), "effectiveness")
    found = arrange(aj.Effectiveness.from_matrix(values, systems=["A", "B", "C"], measure="AP"))
    assert (found.systems, found.measure) == (("A", "B", "C"), "AP")
    found = arrange(assessed(_cube(0, (6, 3, 2)), ("ann", "bob")))
    assert (found.systems, found.measure, found.design) == (("A", "B", "C"), "CG@5", CROSSED)


@pytest.mark.parametrize(("how", "design"), [("auto", CROSSED), ("crossed", CROSSED), ("nested", NESTED)])
def test_assessors_who_all_judged_everything_are_crossed_unless_told_otherwise(how: Any, design: Design) -> None:
    values = _cube(0, (6, 3, 2))
    found = arrange(values, assessors=how)
    assert (found.design, found.notes, found.complete) == (design, (), True)
    assert (found.values == values).all()
    values[1, 2, 0] = NAN
    found = arrange(values, assessors=how)
    assert (found.design, found.complete) == (design, False)


NOT_THE_SAME = "Assessors did not all judge the same queries: they are taken as nested in queries."


@pytest.mark.parametrize(
    ("who", "notes"),
    [
        ([[0, 1], [2, 3], [4, 5]], ()),
        ([[0], [1, 2, 3], [4, 5]], ()),
        ([[0, 1], [1, 2], [0, 2], [0, 1]], (NOT_THE_SAME,)),
        ([[0, 1], [0, 1], [0]], (f"{NOT_THE_SAME} Say crossed if the same people will judge all queries.",)),
    ],
    ids=["of each query's own", "of different numbers", "who could not be crossed", "who could be crossed"],
)
def test_assessors_who_did_not_judge_everything_are_nested_and_stand_side_by_side(
    who: list[list[int]], notes: tuple[str, ...]
) -> None:
    values = judged_by(who, 1 + max(map(max, who)))
    found, claimed = arrange(values), arrange(values, assessors="nested")
    assert (found.design, found.notes, claimed.notes) == (NESTED, notes, ())
    assert found.complete == (len(set(map(len, who))) == 1)
    assert found.values.shape == (len(who), 3, max(map(len, who)))
    for q, judges in enumerate(who):
        assert (found.values[q, :, : len(judges)] == values[q][:, judges]).all()
        assert np.isnan(found.values[q, :, len(judges) :]).all()


def test_one_assessor_per_query_is_systems_by_queries_whoever_it_was() -> None:
    values = judged_by([[0], [1], [2], [0]], 3)
    found = arrange(values)
    assert found.design is SYSTEMS_QUERIES
    expected = np.array([values[q, :, a] for q, a in enumerate([0, 1, 2, 0])])
    assert (found.values == expected).all()
    assert found.notes == ("Every query has one assessor: what assessors differ in is part of queries and residual.",)
    values[2, 1, 2] = NAN
    assert np.argwhere(np.isnan(arrange(values).values)).tolist() == [[2, 1]]


def test_a_single_assessor_is_no_facet() -> None:
    for how, notes in (("auto", 0), ("crossed", 1), ("nested", 1)):
        found = arrange(assessed(_cube(0, (6, 3, 1)), ("ann",)), assessors=how)  # type: ignore[arg-type]
        assert found.design is SYSTEMS_QUERIES
        assert len(found.notes) == notes


def test_what_has_no_value_at_all_is_left_out_and_counted() -> None:
    values = np.full((6, 5, 4), NAN)
    values[1:4, :3, 1:3] = _cube(0, (3, 3, 2))
    found = arrange(assessed(values, ("a", "b", "c", "d")))
    assert found.design is CROSSED
    assert (found.values == _cube(0, (3, 3, 2))).all()
    assert found.systems == ("A", "B", "C")
    assert found.notes == (
        "3 queries without any value left out.",
        "2 systems without any value left out.",
        "2 assessors without any value left out.",
    )
    values[5, :3, 1:3] = values[4, :3, 1:3] = values[0, :3, 1:3] = 0.5
    values[:, 3, 1:3] = 0.25
    assert arrange(values[:, :, 1:]).notes == (
        "1 system without any value left out.",
        "1 assessor without any value left out.",
    )


@pytest.mark.parametrize(
    ("who", "message"),
    [
        ([[0], [0], [1], [1]], "assessors 'ann' and 'bob' share no query"),
        ([[0, 1], [0, 1], [2, 0], [2, 1]], "assessors 'ann' and 'cleo' share 1 query"),
        ([[0, 1], [0, 1], [2, 3], [2, 3]], "assessors 'ann' and 'cleo' share no query"),
        ([[0, 1], [0, 1], [0, 1, 2], [0, 1]], "assessors 'ann' and 'cleo' share 1 query"),
    ],
)
def test_assessors_who_are_not_crossed_as_claimed_are_refused(who: list[list[int]], message: str) -> None:
    n_a = 1 + max(max(judges) for judges in who)
    values = assessed(judged_by(who, n_a), ("ann", "bob", "cleo", "dan")[:n_a])
    with pytest.raises(aj.AdjudgeError, match=rf"^Expected assessors crossed .*, but {message}; say nested instead\.$"):
        arrange(values, assessors="crossed")
    assert arrange(values).design is not CROSSED


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[0.1], [0.2]], r"needs at least 2 systems, got 1 \('s1'\): reliability is about"),
        ([[0.1, NAN], [0.2, NAN]], r"needs at least 2 systems, got 1 \('s1'\)"),
        (np.full((3, 3), NAN), "needs at least 2 systems, got 0: "),
        ([[0.1, 0.2]], "needs at least 2 queries, got 1: nothing is known of how queries differ"),
        ([[0.1, 0.2], [NAN, NAN]], "needs at least 2 queries, got 1"),
        (np.full((4, 3), 0.5), r"Every system has the same effectiveness, 0\.5, on every query"),
        (np.zeros((4, 3, 2)), "Every system has the same effectiveness, 0, on every query"),
        ([[0.1, 0.2], [np.inf, 0.3]], "expects finite numbers, got an infinite one"),
        ([0.1, 0.2, 0.3], r"expects queries x systems, .*, got shape \(3,\)$"),
        (np.zeros((2, 2, 2, 2)), r"expects queries x systems, .*, got shape \(2, 2, 2, 2\)$"),
        (np.zeros((0, 3)), r"expects queries x systems, .*, got shape \(0, 3\)$"),
        (aj.Effectiveness(TWO, ("1", "2"), ("A", "B"), ("x", "y"), TWO), r"Which measure\? Name one of x, y"),
    ],
)
def test_what_cannot_be_studied_is_refused(values: Any, message: str) -> None:
    with pytest.raises(aj.AdjudgeError, match=message):
        arrange(values)


@pytest.mark.parametrize(("share", "left"), [(0, 10), (0.2, 8), (0.25, 7), (0.5, 5), (3, 7), (8, 2)])
def test_the_worst_systems_can_be_left_out_as_gt4ireval_drops_them(share: float, left: int) -> None:
    """R's quantile of type 7 of the means 1 … 10: 2.8 at 0.2, 3.25 at 0.25, 5.5 at 0.5; what is below goes."""
    values = np.random.default_rng(1).permutation(np.arange(1.0, 11.0)) + np.zeros((4, 1))
    values += np.random.default_rng(2).normal(0, 1e-3, (4, 1))
    kept = better_systems(values, share)
    assert (np.sort(values[:, kept].mean(axis=0).round()) == np.arange(11 - left, 11)).all()
    assert (arrange(values, leave_out_worst=share).values == values[:, kept]).all()


@pytest.mark.parametrize("wrong", [-0.1, 1.5, 4, np.nan])
def test_leaving_out_what_is_no_share_and_no_number_is_refused(wrong: float) -> None:
    values = np.random.default_rng(1).random((5, 4))
    with pytest.raises(aj.AdjudgeError, match="a share from 0 to 1 or a whole number of the 4 systems, got "):
        aj.gstudy(values, leave_out_worst=wrong)
    with pytest.raises(aj.AdjudgeError, match="at least 2 systems, got 1"):
        aj.gstudy(values, leave_out_worst=3)
