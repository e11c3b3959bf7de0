"""What every registered distribution of effectiveness must obey."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.stats.distributions import DISTRIBUTIONS, PointMass, omega, prediction_interval

names = st.sampled_from(list(DISTRIBUTIONS))
samples = st.one_of(
    st.lists(st.floats(0, 1), min_size=2, max_size=40),
    st.lists(st.sampled_from([0.0, 1.0]), min_size=2, max_size=40),
    st.lists(st.sampled_from([0.0, 0.2, 0.4, 0.6, 0.8, 1.0]), min_size=2, max_size=40),
    st.lists(st.sampled_from([0.3, 0.3 + 1e-9, 1e-12, 1 - 1e-9, 0.1 + 0.2]), min_size=2, max_size=10),
)
GRID = np.linspace(-0.5, 1.5, 81)
LEVELS = np.array([0.0, 1e-9, 0.01, 0.025, 0.3, 0.5, 0.7, 0.975, 0.99, 1 - 1e-9, 1.0])


@pytest.fixture(scope="module")
def sample() -> Floats:
    return np.random.default_rng(1).beta(2, 3, size=50)


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_a_distribution_says_what_it_is(name: str, sample: Floats) -> None:
    assert DISTRIBUTIONS[name].name == name
    assert DISTRIBUTIONS[name].__doc__
    fitted = DISTRIBUTIONS[name].fit(sample)
    assert fitted.name == name
    assert all(np.isfinite(value) for value in fitted.parameters.values())
    assert str(fitted).startswith(f"{name}(")


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_a_fit_cannot_be_changed(name: str, sample: Floats) -> None:
    fitted = DISTRIBUTIONS[name].fit(sample)
    with pytest.raises(AttributeError, match="cannot assign"):
        setattr(fitted, next(iter(fitted.__dataclass_fields__)), 0)  # type: ignore[attr-defined]


@given(names, samples)
def test_the_cdf_rises_from_0_to_1(name: str, values: list[float]) -> None:
    heights = DISTRIBUTIONS[name].fit(values).cdf(GRID)
    assert ((heights >= 0) & (heights <= 1)).all()
    assert (np.diff(heights) >= -1e-12).all()
    assert name == "normal" or (heights[0] == 0 and heights[-1] == 1)


@given(names, samples)
def test_quantiles_rise_and_stay_inside(name: str, values: list[float]) -> None:
    at = DISTRIBUTIONS[name].fit(values).quantile(LEVELS)
    assert not np.isnan(at).any()
    assert (at[1:] >= at[:-1] - 1e-12).all()
    assert name == "normal" or ((at >= 0) & (at <= 1)).all()


@given(names, st.lists(st.integers(0, 20), min_size=2, max_size=40))
def test_the_quantile_is_the_inverse_of_the_cdf(name: str, twentieths: list[int]) -> None:
    fitted = DISTRIBUTIONS[name].fit(np.array(twentieths) / 20)
    levels = np.array([0.05, 0.2, 0.5, 0.8, 0.95])
    at = fitted.quantile(levels)
    reached = fitted.cdf(at)
    inside = (at > 1e-9) & (at < 1 - 1e-9)  # a beta with tiny shapes has its mass nearer the ends than floats can tell
    assert (reached >= levels - 1e-6)[inside].all()
    if name != "empirical" and not isinstance(fitted, PointMass):
        assert reached[inside] == pytest.approx(levels[inside], abs=1e-6)


@given(names, samples, st.randoms(use_true_random=False))
def test_the_order_of_queries_does_not_matter(name: str, values: list[float], random: object) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = DISTRIBUTIONS[name].fit(values), DISTRIBUTIONS[name].fit(shuffled)
    assert type(one) is type(other)
    for key, value in one.parameters.items():
        assert other.parameters[key] == pytest.approx(value, rel=1e-3, abs=1e-11)


@pytest.mark.parametrize("name", DISTRIBUTIONS)
@pytest.mark.parametrize("value", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("n", [1, 2, 30])
def test_a_constant_sample_is_a_point(name: str, value: float, n: int) -> None:
    fitted = DISTRIBUTIONS[name].fit([value] * n)
    assert fitted.name == name
    assert fitted.cdf([value - 1e-9, value, value + 1e-9]).tolist() == [0.0, 1.0, 1.0]
    assert fitted.quantile([0.0, 0.5, 1.0]).tolist() == [value] * 3
    assert omega(fitted, [value] * 7) == 0.0


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_cells_left_out_do_not_count(name: str, sample: Floats) -> None:
    with_gaps = np.concatenate([sample, [np.nan, np.nan]])
    assert DISTRIBUTIONS[name].fit(with_gaps).parameters == DISTRIBUTIONS[name].fit(sample).parameters


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_what_no_distribution_has_is_refused_in_one_line(name: str, sample: Floats) -> None:
    fit = DISTRIBUTIONS[name].fit
    with pytest.raises(AdjudgeError, match=r"\AA distribution needs at least one query, got none\Z"):
        fit([np.nan])
    with pytest.raises(AdjudgeError, match=r"\AA distribution needs finite effectiveness, got an infinity\Z"):
        fit([0.1, np.inf])
    with pytest.raises(AdjudgeError, match=r"needs the effectiveness of one system, got an array of shape \(2, 1\)\Z"):
        fit([[0.1], [0.2]])
    with pytest.raises(AdjudgeError, match=r"'p' must be in \[0, 1\], got 1.5"):
        fit(sample).quantile([0.5, 1.5])


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_effectiveness_outside_0_and_1_is_refused_where_the_family_has_none(name: str) -> None:
    outside = [0.1, 0.4, 1.2]
    if DISTRIBUTIONS[name].bounded:
        with pytest.raises(AdjudgeError, match=rf"\A{name}: 'effectiveness' must be in \[0, 1\], got 1.2"):
            DISTRIBUTIONS[name].fit(outside)
    else:
        assert DISTRIBUTIONS[name].fit(outside).cdf(3.0) == pytest.approx(1.0, abs=1e-4)


@given(names, samples, st.floats(0.01, 0.999))
def test_a_prediction_interval_is_an_interval_inside_0_and_1(name: str, values: list[float], confidence: float) -> None:
    interval = prediction_interval(values, confidence=confidence, distribution=name)
    assert 0 <= interval.low <= interval.high <= 1
    assert interval.distribution == name
    assert interval.confidence == confidence
    assert 0 < interval.attained < 1
    assert "\n" not in str(interval)


@given(names, samples, st.floats(0.01, 0.9), st.floats(0, 0.09))
def test_more_confidence_is_a_wider_interval(name: str, values: list[float], confidence: float, more: float) -> None:
    narrow = prediction_interval(values, confidence=confidence, distribution=name)
    wide = prediction_interval(values, confidence=confidence + more, distribution=name)
    assert wide.low <= narrow.low + 1e-12
    assert wide.high >= narrow.high - 1e-12


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_a_prediction_interval_covers_new_queries(name: str) -> None:
    rng = np.random.default_rng(12)
    shares = []
    for _ in range(400):
        values = rng.beta(2, 3, size=25)
        interval = prediction_interval(values, confidence=0.8, distribution=name)
        new = rng.beta(2, 3, size=200)
        shares.append(((new >= interval.low) & (new <= interval.high)).mean() - interval.attained)
    assert abs(np.mean(shares)) < 0.05  # the truncated normal is the worst, as in the thesis
