"""Goodness of fit: distances of many systems at once, what is made of them, and its report."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.stats
from tests.unit.experiments.trial_runs import find, samples

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.experiments.comparing import draw_subsets
from adjudge.experiments.goodness import Fit, FitFindings, distances, fit_sections
from adjudge.experiments.spec import Draws
from adjudge.reporting.document import FigureBlock, TableBlock
from adjudge.reporting.figures import Curves
from adjudge.stats.distributions import DISTRIBUTIONS, omega

RNG = np.random.default_rng(9)
SMOOTH = RNG.beta(2, 3, (6, 45))
STEPS = np.round(RNG.beta(1, 1, (6, 45)) * 5) / 5
ENDS = (RNG.random((6, 45)) < 0.4).astype(float)
FLAT = np.full((2, 45), 0.3)


def found(values: Floats, *, trials: int = 30, scale: str = "", **settings: Any) -> FitFindings:
    findings: FitFindings = find(Fit(trials=trials, **settings), samples(values, scale=scale))
    return findings


@pytest.mark.parametrize("name", list(DISTRIBUTIONS))
@pytest.mark.parametrize("values", [SMOOTH, STEPS, ENDS, FLAT], ids=["smooth", "steps", "ends", "flat"])
def test_all_systems_at_once_are_as_far_as_one_by_one(name: str, values: Floats) -> None:
    one_by_one = [omega(DISTRIBUTIONS[name].fit(row[:20]), row[20:]) for row in values]
    assert distances(values[:, :20], values[:, 20:], name)[0] == pytest.approx(one_by_one, abs=1e-12)


@pytest.mark.parametrize("values", [SMOOTH, STEPS])
def test_the_largest_distance_is_that_of_scipy(values: Floats) -> None:
    seen, new = values[:, :20], values[:, 20:]
    two = [scipy.stats.ks_2samp(a, b, method="asymp").statistic for a, b in zip(seen, new, strict=True)]
    assert distances(seen, new, "empirical")[1] == pytest.approx(two)
    laws = [scipy.stats.norm(row.mean(), row.std(ddof=1)).cdf for row in seen]
    one = [scipy.stats.ks_1samp(row, law, method="asymp").statistic for row, law in zip(new, laws, strict=True)]
    assert distances(seen, new, "normal")[1] == pytest.approx(one)


def test_a_trial_holds_families_against_the_queries_left_over() -> None:
    drawn_from, draws = samples(SMOOTH.T), Draws(0, 3)
    rows = Fit(sizes=(10,), distributions=("normal",)).trial(drawn_from, draws)
    (chosen,) = draw_subsets(draws.generator(10), drawn_from[0].stratum, 10)
    expected, _ = distances(SMOOTH[:, chosen], np.delete(SMOOTH, chosen, axis=1), "normal")
    assert rows["omega"] == pytest.approx(expected)
    assert rows["system"].tolist() == [0, 1, 2, 3, 4, 5]


def test_the_family_that_data_come_from_predicts_best() -> None:
    result = found(np.random.default_rng(1).beta(0.5, 0.8, (300, 8)), sizes=(40,))
    best = {cell.distribution: cell for cell in result.cells}["beta"]
    assert best.best
    assert best.rms == pytest.approx(best.omega / np.sqrt(260))
    assert "fitted to 40 queries, beta predicts new ones best" in result.sentences()[0]


def test_values_beyond_one_leave_bounded_families_out_and_say_so() -> None:
    result = found(np.random.default_rng(2).normal(0.8, 0.3, (30, 3)), trials=3)
    assert {cell.distribution for cell in result.cells} == {"empirical", "normal"}
    assert any("goes beyond [0, 1]" in text for text in result.sentences())


def test_sizes_leave_queries_over() -> None:
    assert {cell.n_queries for cell in found(SMOOTH.T, trials=2).cells} == {10, 20, 30, 40}


def test_a_family_alone_beyond_its_bounds_is_refused() -> None:
    with pytest.raises(AdjudgeError, match=r"goes beyond \[0, 1\]"):
        Fit(distributions=("beta",)).prepared(samples(SMOOTH.T + 1))


def test_what_prediction_intervals_choose_follows_the_scale() -> None:
    by_rule = {cell.distribution for cell in found(STEPS.T, trials=2, scale="binary40").cells if cell.rule}
    assert by_rule == {"empirical"}


def test_shares_of_systems_add_up_and_many_samples_are_counted() -> None:
    result: FitFindings = find(Fit(trials=3, sizes=(10,)), samples({f"c{i}": SMOOTH.T for i in range(7)}))
    assert sum(cell.best_for for cell in result.cells) == pytest.approx(7)
    assert result.sentences()[0].endswith("for 7 of 7 samples.")


def test_a_family_as_good_as_the_best_is_not_called_the_worst() -> None:
    result = found(np.full((3, 20), 0.5).T, trials=2, sizes=(10,))
    assert not any("worst" in sentence for sentence in result.sentences())


@pytest.fixture(scope="module")
def findings() -> FitFindings:
    rng = np.random.default_rng(1)
    both = samples({"A": rng.beta(2, 3, (30, 4)), "B": rng.normal(0, 1, (30, 4))})
    result: FitFindings = find(Fit(trials=4, sizes=(10, 20)), both)
    return result


def test_every_size_has_a_table_with_the_best_in_bold(findings: FitFindings) -> None:
    tables = [block for section in fit_sections(findings) for block in section.blocks if isinstance(block, TableBlock)]
    assert [table.name for table in tables] == ["fit-10", "fit-20"]
    for table in tables:
        assert {row for row, _ in table.emphasised} == {0, 1}
        assert table.rows[1].count("–") == 2


def test_curves_have_a_panel_for_every_sample_and_a_line_for_every_family(findings: FitFindings) -> None:
    (figure,) = [
        block for section in fit_sections(findings) for block in section.blocks if isinstance(block, FigureBlock)
    ]
    assert isinstance(figure.data, Curves)
    assert figure.data.log_y
    assert [len(panel.curves) for panel in figure.data.panels] == [4, 2]
    assert figure.data.panels[0].curves[0].x.tolist() == [10, 20]
