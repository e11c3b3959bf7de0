"""Type I errors on null collections fitted to TREC-8 ad hoc and MIREX 2011, beside what was found in 2019.

Urbano, Lima and Hanjalic (SIGIR 2019, doi:10.1145/3331184.3331259) report that the t-test and the permutation test err
about as often as they promise, that the bootstrap errs more often than they do, and that errors of direction are rare.
A few systems and trials only: intervals are wide, and limits say how far from the level a rate may lie.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.unit.experiments.trial_runs import find

import adjudge as aj
from adjudge.experiments.error_rates import ErrorFindings, Errors, TypeOne
from adjudge.experiments.samples import Samples, samples_of
from adjudge.model.effectiveness import Effectiveness

TESTS = ("t", "wilcoxon", "sign", "permutation", "bootstrap")


def few(eff: Effectiveness) -> Samples:
    """Six systems, evenly spread over the better three quarters by mean."""
    values = eff.values[:, :, 0]
    order = np.argsort(-values.mean(axis=0))
    places = order[np.linspace(0, 0.75 * (len(order) - 1), 6).astype(int)]
    return samples_of(
        Effectiveness.from_matrix(values[:, places], systems=[eff.systems[i] for i in places], measure=eff.measures[0])
    )


def found(samples: Samples) -> ErrorFindings:
    findings: ErrorFindings = find(Errors(procedures=TESTS, sizes=(25,), trials=120, resamples=1000), samples)
    return findings


@pytest.fixture(scope="module", params=["TREC-8 ad hoc, AP", "MIREX 2011, CG fine"])
def findings(request: pytest.FixtureRequest, shared_data: Path) -> ErrorFindings:
    if request.param.startswith("TREC"):
        eff = aj.formats.read_effectiveness(shared_data / "trec" / "adhoc8_ap.csv", measure="AP")
        assert isinstance(eff, Effectiveness)
        return found(few(eff))
    folder = shared_data / "mirex2011"
    collection = aj.read(*(folder / f"{name}.tsv" for name in ("runs", "judgments", "metadata")), scale="fine")
    return found(few(aj.evaluate(collection, ["CG@5"])))


def errors_of(findings: ErrorFindings) -> dict[str, TypeOne]:
    return {one.procedure: one for one in findings.type_one([0.05])}


def test_t_and_permutation_err_about_as_often_as_promised(findings: ErrorFindings) -> None:
    errors = errors_of(findings)
    for name in ("t", "permutation"):
        assert errors[name].low - 0.01 <= 0.05 <= errors[name].high + 0.01
        assert errors[name].rate == pytest.approx(0.05, abs=0.025)


def test_tests_of_ranks_and_signs_keep_their_level_where_nothing_tells_systems_apart(findings: ErrorFindings) -> None:
    errors = errors_of(findings)
    assert findings.experiment.null == "exchangeable"
    for name in ("wilcoxon", "sign"):
        assert errors[name].low <= 0.05
        assert errors[name].rate < 0.07


def test_the_bootstrap_errs_more_often_than_the_t_test(findings: ErrorFindings) -> None:
    errors = errors_of(findings)
    assert errors["bootstrap"].rate > errors["t"].rate


def test_errors_of_direction_are_rare(findings: ErrorFindings) -> None:
    for one in findings.detection(0.05):
        assert one.type_three < 0.025
        assert one.power > 0.1
