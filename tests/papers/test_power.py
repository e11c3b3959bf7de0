"""Power and stability with a few trials: what is claimed of 2009, and the four figures."""

from __future__ import annotations

import pytest
from papers.claims import Claim
from papers.data import Data
from papers.power import MEASURES, power_claims, power_plots, run_both, stability_claims
from papers.studies import Effort

from adjudge.experiments.power import PowerFindings
from adjudge.experiments.samples import samples_of, strata_of
from adjudge.experiments.stability import StabilityFindings

Both = tuple[PowerFindings, StabilityFindings]


@pytest.fixture(scope="module")
def both(data: Data) -> Both:
    eff = data.effectiveness(list(MEASURES.values()))
    samples = samples_of(eff, scale="fine", strata=strata_of(data.mirex2011, "genre"))
    return run_both(samples, 2, Effort(workers=1), sizes=(25, 30, 35, 40, 45, 70), halves=(10, 50))


@pytest.fixture(scope="module")
def claims(both: Both) -> list[Claim]:
    return [*power_claims(both[0]), *stability_claims(both[1])]


def test_all_are_inside_their_bounds(claims: list[Claim]) -> None:
    assert [claim for claim in claims if claim.verdict == "fails"] == []


def test_table_1_is_there_for_average_gain_on_fine(claims: list[Claim]) -> None:
    table = [claim for claim in claims if claim.source == "P11 Table 1"]
    assert [claim.published for claim in table] == [
        *("51.9 %", "3.2 %", "48.7 %", "54.3 %", "51.1 %"),
        *("54.3 %", "3.3 %", "51.0 %", "60.0 %", "56.7 %"),
    ]


def test_numbers_of_the_reference_come_out(claims: list[Claim]) -> None:
    """96 of 153 pairs by Friedman and Tukey, 119 by Wilcoxon."""
    power = [claim.ours for claim in claims if claim.source == "P11 Table 1" and "power, all" in claim.what]
    assert power == pytest.approx([96 / 153, 119 / 153])


def test_the_shape_of_the_paper_holds(claims: list[Claim]) -> None:
    places = [claim for claim in claims if "place of ADR" in claim.what]
    assert [claim.verdict for claim in places] == ["exact", "exact"]
    enough = next(claim for claim in claims if "queries with which W1" in claim.what)
    assert enough.ours <= 50
    both_ways = next(claim for claim in claims if "both ways, FT" in claim.what)
    assert both_ways.ours == 0


def test_figures_1_to_4_have_four_measures_each(both: Both) -> None:
    plots = power_plots(*both)
    assert [plot.source for plot in plots] == [f"P11 Figure {number}" for number in range(1, 5)]
    for plot in plots:
        assert [series.label for series in plot.panels[0].series] == list(MEASURES)
    assert [plot.panels[0].series[0].x[-1] for plot in plots] == [100, 50, 100, 50]
    assert plots[0].panels[0].levels == pytest.approx((96 / 153,))
