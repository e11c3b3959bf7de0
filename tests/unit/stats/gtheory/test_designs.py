"""Designs of a G-study: expected mean squares written out, sums of squares counted cell by cell, resampling undone."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.arrays import Floats
from adjudge.stats.gtheory.designs import CROSSED, NESTED, SYSTEMS_QUERIES, Design, Effect, mean_squares

DESIGNS = {"two-way": SYSTEMS_QUERIES, "crossed": CROSSED, "nested": NESTED}
each_design = pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)


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


@each_design
def test_mean_squares_are_those_of_their_definitions(design: Design) -> None:
    values = _values(design)
    assert mean_squares(values, design).values == pytest.approx(by_hand(values, design), rel=1e-9)


@each_design
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


def test_expected_mean_squares_of_systems_by_queries_are_equation_6_3() -> None:
    n_s, n_q = 7, 5
    s, q, e = [n_q, 0, 1], [0, n_s, 1], [0, 0, 1]
    assert SYSTEMS_QUERIES.expected_mean_squares({"s": n_s, "q": n_q}).tolist() == [s, q, e]


def test_expected_mean_squares_of_the_crossed_design_are_brennans() -> None:
    n_s, n_q, n_a = 7, 5, 3
    expected = [  # columns: s, q, a, sq, sa, qa, sqa
        [n_q * n_a, 0, 0, n_a, n_q, 0, 1],  # s
        [0, n_s * n_a, 0, n_a, 0, n_s, 1],  # q
        [0, 0, n_s * n_q, 0, n_q, n_s, 1],  # a
        [0, 0, 0, n_a, 0, 0, 1],  # sq
        [0, 0, 0, 0, n_q, 0, 1],  # sa
        [0, 0, 0, 0, 0, n_s, 1],  # qa
        [0, 0, 0, 0, 0, 0, 1],  # sqa
    ]
    assert CROSSED.expected_mean_squares({"s": n_s, "q": n_q, "a": n_a}).tolist() == expected


def test_expected_mean_squares_of_the_nested_design_are_equation_6_8() -> None:
    n_s, n_q, n_a = 7, 5, 3
    expected = [  # columns: s, q, a:q, sq, sa:q
        [n_q * n_a, 0, 0, n_a, 1],  # s
        [0, n_s * n_a, n_s, n_a, 1],  # q
        [0, 0, n_s, 0, 1],  # a:q
        [0, 0, 0, n_a, 1],  # sq
        [0, 0, 0, 0, 1],  # sa:q
    ]
    assert NESTED.expected_mean_squares({"s": n_s, "q": n_q, "a": n_a}).tolist() == expected


@each_design
def test_degrees_of_freedom_are_those_of_the_textbook(design: Design) -> None:
    n_s, n_q, n_a = 7, 5, 3
    df = {
        SYSTEMS_QUERIES: [6, 4, 24],
        CROSSED: [6, 4, 2, 24, 12, 8, 48],
        NESTED: [6, 4, 5 * 2, 24, 5 * 6 * 2],
    }[design]
    levels = {"s": n_s, "q": n_q} | ({"a": n_a} if design.has_assessors else {})
    assert design.degrees_of_freedom(levels).tolist() == df
    assert sum(df) == n_s * n_q * (n_a if design.has_assessors else 1) - 1


def _every_draw(n: int) -> Floats:
    """How often each of n levels is drawn, for every one of the n^n equally likely draws."""
    return np.array([np.bincount(draw, minlength=n) for draw in product(range(n), repeat=n)], dtype=np.float64)


@each_design
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
    design=st.sampled_from(list(DESIGNS.values())),
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


@each_design
def test_additive_data_leave_nothing_but_their_effects(design: Design) -> None:
    values = np.add.outer([0.1, 0.2, 0.4, 0.7], [0.0, 0.3, 0.1])
    found = mean_squares(np.repeat(values[:, :, None], 2, axis=2) if design.has_assessors else values, design)
    of = dict(zip([effect.facets for effect in design.effects], found.values, strict=True))
    assert of.pop("s") > 0
    assert of.pop("q") > 0
    assert set(of.values()) == {0.0}, "rounding is 0"


def test_effects_say_what_they_blur_and_what_shrinks_them() -> None:
    two, three = np.array(2.0), np.array(3.0)
    divisors = {e.facets: float(e.divisor(two, three)) for e in CROSSED.effects}
    assert divisors == {"s": 1, "q": 2, "a": 3, "sq": 2, "sa": 3, "qa": 6, "sqa": 6}
    assert {e.facets for e in CROSSED.effects if e.relative} == {"sq", "sa", "sqa"}
    assert {e.facets for e in NESTED.effects if e.relative} == {"sq", "sqa"}
    assert Effect("system × query", "sq").divisor(np.array([1.0, 4.0]), two).tolist() == [1, 4]
    assert str(NESTED) == "systems x (assessors in queries)"
