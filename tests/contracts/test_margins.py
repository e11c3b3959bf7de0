"""What every registered family of margins must obey."""

from __future__ import annotations

import numpy as np
import pytest

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.experiments.simulate import margins  # noqa: F401 - registers them all
from adjudge.experiments.simulate.margins import MARGINS, Margin, fit_margin, support_of


def _real() -> dict[str, Floats]:
    """Effectiveness of two systems of every kind: queries x systems."""
    rng = np.random.default_rng(5)
    ap = np.where(rng.random((60, 2)) < 0.15, 0.0, rng.beta(0.7, 2, size=(60, 2)))
    return {
        "AP": ap,
        "P@10": rng.binomial(10, rng.beta(1, 2, size=(60, 2))) / 10,
        "RBP": rng.integers(0, 2, size=(60, 2, 4)) @ np.array([0.2, 0.16, 0.128, 0.1024]),
        "DCG": rng.gamma(2.0, 1.0, size=(60, 2)),
        "difference": rng.normal(size=(60, 2)),
    }


REAL = _real()
FITTED = [
    pytest.param(family, kind, id=f"{family} {kind}")
    for family in [*MARGINS, "auto"]
    for kind, values in REAL.items()
    if family == "auto" or MARGINS[family].suits(support_of(values))
]


def _margin(family: str, kind: str) -> Margin:
    return fit_margin(REAL[kind][:, 0], family, support=support_of(REAL[kind]))


@pytest.mark.parametrize("family", MARGINS)
def test_a_family_says_what_it_is(family: str) -> None:
    assert MARGINS[family].name == family
    assert MARGINS[family].summary.endswith(".")
    assert any(case.values[0] == family for case in FITTED)


@pytest.mark.parametrize(("family", "kind"), FITTED)
def test_the_mean_and_the_deviation_are_those_of_the_sample(family: str, kind: str) -> None:
    sample = REAL[kind][:, 0]
    margin = _margin(family, kind)
    assert margin.mean == pytest.approx(sample.mean(), abs=1e-12)
    assert margin.sd == pytest.approx(sample.std(ddof=1), rel=1e-6 if family != "empirical" else 0.01)
    assert margin.probabilities.sum() == pytest.approx(1, abs=1e-12)
    assert (np.diff(margin.points) >= 0).all()


@pytest.mark.parametrize(("family", "kind"), FITTED)
def test_many_draws_have_the_mean_and_deviation_that_the_margin_states(family: str, kind: str) -> None:
    margin = _margin(family, kind)
    drawn = margin.quantile(np.random.default_rng(3).random(40_000))
    assert drawn.mean() == pytest.approx(margin.mean, abs=4.5 * margin.sd / 200)
    assert drawn.std() == pytest.approx(margin.sd, rel=0.05)


@pytest.mark.parametrize(("family", "kind"), FITTED)
def test_draws_stay_on_the_support_and_tie_only_where_the_measure_does(family: str, kind: str) -> None:
    drawn = _margin(family, kind).quantile(np.random.default_rng(4).random(2000))
    seen = REAL[kind]
    assert drawn.min() >= 0 or kind == "difference"
    assert drawn.max() <= 1 or seen.max() > 1
    if kind in {"P@10", "RBP"} or family == "empirical":
        assert np.isin(np.round(drawn, 9), np.round(np.append(seen, np.arange(11) / 10), 9)).all()
    else:
        inner = drawn[drawn > 0]
        assert np.unique(inner).size == inner.size or kind == "difference"
        assert kind != "AP" or (drawn == 0).mean() == pytest.approx((seen[:, 0] == 0).mean(), abs=0.06)


@pytest.mark.parametrize(("family", "kind"), FITTED)
def test_a_tilted_margin_has_the_mean_asked_for_on_the_same_cells(family: str, kind: str) -> None:
    margin = _margin(family, kind)
    for share in (0.02, 0.3, 0.9):
        wanted = margin.points[0] + share * (margin.points[-1] - margin.points[0])
        tilted = margin.tilted(wanted)
        assert tilted.probabilities @ tilted.points == pytest.approx(wanted, abs=1e-10)
        assert tilted.mean == wanted
        assert np.array_equal(tilted.points, margin.points)
        assert (tilted.probabilities > 0).all()


@pytest.mark.parametrize(("family", "kind"), FITTED)
def test_the_quantile_is_the_inverse_of_the_cdf(family: str, kind: str) -> None:
    margin = _margin(family, kind)
    levels = np.array([0.0, 0.01, 0.3, 0.5, 0.8, 0.99, 1.0])
    at = margin.quantile(levels)
    assert (np.diff(at) >= 0).all()
    assert (margin.cdf(at + 1e-9) >= levels - 1e-6).all()
    assert (margin.cdf(at - 1e-9) <= levels + 1e-6).all()


@pytest.mark.parametrize(("family", "kind"), FITTED)
def test_the_same_queries_give_the_same_margin(family: str, kind: str) -> None:
    one, other = _margin(family, kind), _margin(family, kind)
    assert one.family == other.family
    assert np.array_equal(one.probabilities, other.probabilities)


@pytest.mark.parametrize("family", [*MARGINS, "auto"])
@pytest.mark.parametrize("value", [0.0, 0.3, 1.0, -2.0])
def test_a_constant_system_is_a_point(family: str, value: float) -> None:
    margin = fit_margin([value] * 7, family)
    assert (margin.family, margin.mean, margin.sd) == ("point", value, 0.0)
    assert margin.quantile([0.0, 0.4, 1.0]).tolist() == [value] * 3
    with pytest.raises(AdjudgeError, match=r"\Aa mean must be between .* got 0.5\Z"):
        margin.tilted(0.5)


@pytest.mark.parametrize("family", MARGINS)
def test_tiny_samples_still_have_a_margin(family: str) -> None:
    for sample in ([0.0, 0.0, 0.0, 0.3123456], [0.1234567, 0.7654321], [0.0, 1.0], [0.2, 0.4, 0.4]):
        if MARGINS[family].suits(support_of(sample)):
            margin = fit_margin(sample, family)
            assert margin.mean == pytest.approx(np.mean(sample), abs=1e-12)
            assert 0 <= margin.low <= margin.high <= 1


@pytest.mark.parametrize("family", MARGINS)
def test_what_no_margin_has_is_refused_in_one_line(family: str) -> None:
    with pytest.raises(AdjudgeError, match=r"\Aa margin needs finite effectiveness, got nan\Z"):
        fit_margin([0.1, np.nan], family)
    with pytest.raises(AdjudgeError, match=r"\Aa margin needs the effectiveness of one system, got .* \(1, 2\)\Z"):
        fit_margin([[0.1, 0.2]], family)
    unsuited = [values for values in REAL.values() if not MARGINS[family].suits(support_of(values))]
    for values in unsuited:
        with pytest.raises(AdjudgeError, match=rf"\Amargin {family}: expected .* effectiveness, got "):
            fit_margin(values[:, 0], family, support=support_of(values))
