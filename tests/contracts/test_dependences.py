"""What every registered dependence must obey."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.experiments.simulate.copulas import DEPENDENCES

LEARNING = [name for name in DEPENDENCES if name != "independent"]


@pytest.fixture(scope="module")
def real() -> Floats:
    """Effectiveness of three systems that go together, two of them closely."""
    rng = np.random.default_rng(8)
    common = rng.normal(size=(80, 1))
    noise = rng.normal(size=(80, 3)) * np.array([0.4, 0.4, 1.5])
    return np.asarray(stats.norm.cdf(common + noise))


@pytest.mark.parametrize("name", DEPENDENCES)
def test_a_dependence_says_what_it_is(name: str, real: Floats) -> None:
    fitted = DEPENDENCES[name].fit(real)
    assert fitted.name == name
    assert DEPENDENCES[name].__doc__
    assert fitted.n_systems == 3
    assert fitted.to_dict()["dependence"] == name
    assert str(fitted).startswith(name)


@pytest.mark.parametrize("name", DEPENDENCES)
def test_every_system_is_uniform(name: str, real: Floats) -> None:
    drawn = DEPENDENCES[name].fit(real).draw(np.random.default_rng(2), 20_000)
    assert drawn.shape == (20_000, 3)
    for column in drawn.T:
        assert stats.kstest(column, "uniform").pvalue > 1e-4


@pytest.mark.parametrize("name", LEARNING)
def test_pairs_go_together_as_the_real_ones_do(name: str, real: Floats) -> None:
    drawn = DEPENDENCES[name].fit(real).draw(np.random.default_rng(2), 4000)
    for a, b in ((0, 1), (0, 2), (1, 2)):
        expected = stats.kendalltau(real[:, a], real[:, b]).statistic
        assert stats.kendalltau(drawn[:, a], drawn[:, b]).statistic == pytest.approx(expected, abs=0.05)


def test_independent_systems_have_nothing_to_do_with_one_another(real: Floats) -> None:
    drawn = DEPENDENCES["independent"].fit(real).draw(np.random.default_rng(2), 4000)
    assert stats.kendalltau(drawn[:, 0], drawn[:, 1]).statistic == pytest.approx(0, abs=0.05)


@pytest.mark.parametrize("name", DEPENDENCES)
def test_the_same_seed_gives_the_same_queries(name: str, real: Floats) -> None:
    one, other = (DEPENDENCES[name].fit(real).draw(np.random.default_rng(6), 50) for _ in range(2))
    assert np.array_equal(one, other)


@pytest.mark.parametrize("name", DEPENDENCES)
def test_more_systems_than_queries_ties_constants_and_twins_are_no_trouble(name: str) -> None:
    rng = np.random.default_rng(1)
    values = np.round(rng.random((12, 1)) * 0.5 + rng.random((12, 40)) * 0.5, 1)
    values[:, 0] = 0.3
    values[:, 2] = values[:, 1]
    drawn = DEPENDENCES[name].fit(values).draw(rng, 500)
    assert drawn.shape == (500, 40)
    assert ((drawn >= 0) & (drawn <= 1)).all()
    assert drawn.mean() == pytest.approx(0.5, abs=0.06)


@pytest.mark.parametrize("name", DEPENDENCES)
def test_what_shows_no_dependence_is_refused_in_one_line(name: str) -> None:
    with pytest.raises(AdjudgeError, match=r"\Aa dependence needs at least 2 queries x 1 system, got .* \(1, 2\)\Z"):
        DEPENDENCES[name].fit([[0.1, 0.2]])
    with pytest.raises(AdjudgeError, match=r"\Aa dependence needs finite effectiveness without gaps\Z"):
        DEPENDENCES[name].fit([[0.1, np.nan], [0.1, 0.2]])
