"""Errors on collections drawn from a normal model by hand, where SciPy knows what must come out, and their report."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.stats
from tests.unit.experiments.trial_runs import find, samples

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.experiments import Errors, experiment_report
from adjudge.experiments.error_rates import ErrorFindings, difference_bins, level_of
from adjudge.experiments.simulate import collection
from adjudge.experiments.spec import Draws
from adjudge.model.provenance import Provenance
from adjudge.reporting.document import Paragraph

MEANS = np.array([0.30, 0.32, 0.35, 0.40, 0.50])
SD = 0.15
TRIALS = 300
PAIRS = [(a, b) for a in range(5) for b in range(a + 1, 5)]
SAMPLES = samples(np.random.default_rng(1).normal(MEANS, SD, size=(2000, 5)))
SPEC = Errors(procedures=("t", "sign", "t+holm"), sizes=(10, 40), trials=TRIALS, seed=3, resamples=1000)


@dataclass(frozen=True)
class NormalModel:
    """Normal effectiveness, independent between systems: what a fitted model offers, without fitting."""

    means: Floats
    systems: tuple[str, ...] = SAMPLES.systems

    def draw(self, rng: np.random.Generator, n_queries: int) -> Floats:
        return rng.normal(self.means, SD, size=(n_queries, len(self.means)))

    def null(self, kind: str, system: str | None = None) -> NormalModel:
        mean = self.means.mean() if system is None else self.means[self.systems.index(system)]
        return replace(self, means=np.full(len(self.means), mean))

    def fidelity(self, values: Floats, rng: np.random.Generator, *, repeats: int) -> collection.Fidelity:
        return collection.fidelity(self, values, rng, repeats=repeats)  # type: ignore[arg-type]


@pytest.fixture(autouse=True, scope="module")
def normal_model() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(collection, "models_of", lambda samples, margin, dependence: [NormalModel(MEANS)])
        yield


@pytest.fixture(scope="module")
def findings() -> ErrorFindings:
    found: ErrorFindings = find(SPEC, SAMPLES)
    return found


def test_p_values_and_differences_are_those_of_the_collection_drawn() -> None:
    rows = SPEC.trial(SAMPLES, Draws(3, 0))
    drawn = NormalModel(MEANS).draw(Draws(3, 0).generator(4 * 10 + 1), 10)
    here = (rows["truth"] == 1) & (rows["n_queries"] == 10)
    expected = [scipy.stats.ttest_rel(drawn[:, a], drawn[:, b]).pvalue for a, b in PAIRS]
    np.testing.assert_allclose(rows["t"][here], expected, rtol=1e-9)
    assert list(zip(rows["system"][here], rows["other"][here], strict=True)) == PAIRS
    true = [MEANS[a] - MEANS[b] for a, b in PAIRS]
    np.testing.assert_allclose(rows["true_difference"][here], true)
    assert not rows["true_difference"][rows["truth"] == 0].any()


def test_the_t_test_keeps_its_level_on_normal_collections(findings: ErrorFindings) -> None:
    for cell in findings.type_one([0.05, 0.2]):
        if cell.procedure == "t":
            assert cell.low <= cell.alpha <= cell.high
            assert cell.verdict == "as promised"


def exact_rows(n_trials: int, sizes: tuple[int, ...], rng: np.random.Generator) -> pl.DataFrame:
    """Null collections of five systems, compared by the t-test, which is exact for normal values."""
    a, b = np.array(PAIRS).T
    parts = []
    for size in sizes:
        values = rng.normal(size=(n_trials, size, 5))
        p = scipy.stats.ttest_rel(values[:, :, a], values[:, :, b], axis=1).pvalue
        parts.append(pl.DataFrame({"trial": np.repeat(np.arange(n_trials), len(a)), "t": p.ravel(), "n_queries": size}))
    equal = {"sample": "AP", "truth": "null", "true_difference": 0.0, "difference": 0.0}
    return pl.concat(parts).with_columns(**{name: pl.lit(value) for name, value in equal.items()})


def test_an_exact_test_is_called_off_its_level_in_at_most_one_experiment_of_twenty() -> None:
    spec = Errors(procedures=("t",), sizes=(5, 10, 20), trials=200)
    rng = np.random.default_rng(8)
    called, outside = 0, 0
    for _ in range(100):
        errors = spec.findings(SAMPLES, exact_rows(200, spec.sizes, rng), Provenance()).type_one()
        called += any(cell.verdict != "as promised" for cell in errors)
        outside += any(not cell.low <= cell.alpha <= cell.high for cell in errors)
    assert called <= 7
    assert outside > 20  # these would be called by their single 95 % intervals


def test_a_test_that_rejects_twice_as_often_as_promised_is_called_liberal() -> None:
    spec = Errors(procedures=("t",), sizes=(5, 10, 20), trials=200)
    rows = exact_rows(200, spec.sizes, np.random.default_rng(9)).with_columns(pl.col("t") / 2)
    found = spec.findings(SAMPLES, rows, Provenance())
    assert found.n_verdicts == 9  # three sizes, three levels
    assert [cell.verdict for cell in found.type_one([0.05])] == ["liberal"] * 3


def test_the_sign_test_errs_as_often_as_the_binomial_distribution_says(findings: ErrorFindings) -> None:
    for cell in findings.type_one([0.05]):
        if cell.procedure == "sign":
            wins = np.arange(cell.n_queries + 1)
            p = np.array([scipy.stats.binomtest(int(k), cell.n_queries).pvalue for k in wins])
            exact = scipy.stats.binom.pmf(wins, cell.n_queries, 0.5)[p <= 0.05].sum()
            assert cell.low <= exact <= cell.high
            if cell.n_queries == 10:
                assert exact < 0.05
                assert cell.verdict == "conservative"


def test_any_false_positive_is_at_least_as_likely_as_one_and_holm_controls_it(findings: ErrorFindings) -> None:
    for cell in findings.type_one([0.05]):
        assert cell.any_rate >= cell.rate
        if cell.procedure == "t+holm":
            assert cell.any_low <= 0.05
        if cell.procedure == "t":
            assert cell.any_low > 0.05


def test_power_is_that_of_the_noncentral_t_distribution(findings: ErrorFindings) -> None:
    fitted = findings.compared("AP", 40, "fitted")
    largest = np.isclose(fitted.true, MEANS[0] - MEANS[-1])
    pair = np.isclose(np.abs(fitted.true), 0.05)
    for which, difference in ((largest, 0.2), (pair, 0.05)):
        shift = difference / (SD * np.sqrt(2 / 40))
        critical = scipy.stats.t.ppf(0.975, 39)
        exact = scipy.stats.nct.sf(critical, 39, shift) + scipy.stats.nct.cdf(-critical, 39, shift)
        error = np.sqrt(exact * (1 - exact) / TRIALS)
        assert (fitted.p["t"][which] <= 0.05).mean() == pytest.approx(exact, abs=4 * error + 0.005)


def test_power_rises_with_queries_and_with_differences(findings: ErrorFindings) -> None:
    overall = {(cell.procedure, cell.n_queries): cell.power for cell in findings.detection(0.05)}
    assert all(overall[name, 40] > overall[name, 10] for name in findings.procedures)
    binned = [cell for cell in findings.detection(0.05, binned=True) if (cell.procedure, cell.n_queries) == ("t", 40)]
    assert len(binned) >= 4
    assert binned[-1].power > binned[0].power + 0.3
    assert sum(cell.cases for cell in binned) == 10 * TRIALS


def test_a_test_that_finds_nothing_has_no_share_of_wrong_directions() -> None:
    said = find(Errors(procedures=("sign@1e-9",), sizes=(10,), trials=2), SAMPLES).sentences()
    assert any(text.endswith("(Type III errors): the sign test has none that is significant.") for text in said)


def test_wrong_directions_are_rare_and_rarer_the_larger_the_difference(findings: ErrorFindings) -> None:
    for cell in findings.detection(0.05):
        assert cell.type_three <= cell.power
        assert cell.wrong < 0.5
    binned = [cell for cell in findings.detection(0.05, binned=True) if (cell.procedure, cell.n_queries) == ("t", 10)]
    assert binned[0].wrong > binned[-1].wrong


def test_held_to_the_same_error_the_sign_test_gains_and_stays_behind_t(findings: ErrorFindings) -> None:
    fair = {(cell.procedure, cell.n_queries): cell for cell in findings.adjusted_power(0.05)}
    plain = {(cell.procedure, cell.n_queries): cell for cell in findings.detection(0.05)}
    assert fair["sign", 10].power > plain["sign", 10].power
    assert fair["sign", 10].power < fair["t", 10].power
    assert fair["t", 40].level == pytest.approx(0.05, abs=0.015)


def test_the_level_with_a_given_error_is_a_quantile_of_null_p_values() -> None:
    p = np.random.default_rng(0).uniform(size=1000)
    lower, upper, _ = level_of(p, 0.05)
    assert lower <= np.quantile(p, 0.05) <= upper
    assert level_of(np.ones(10), 0.05) == (0.0, 1.0, 0.05)


def test_bins_of_no_difference_at_all_are_one() -> None:
    assert difference_bins(np.zeros(3)).tolist() == [0.0, np.inf]


def test_sentences_say_who_keeps_the_promise(findings: ErrorFindings) -> None:
    said = findings.sentences()
    assert said[0].startswith("At α = 0.05 with 40 queries by AP, a true null hypothesis is rejected by the t-test in")
    assert "as often as promised" in said[1]
    assert any("no Type I error rate" in text for text in said)
    assert any("nothing tells one from another" in text for text in said)
    assert not any("positive differences as frequent" in text for text in said)
    assert len(findings.to_dicts()) == 2 * 3 * 3
    assert findings.to_dict()["by_difference"]


def test_where_only_means_are_equal_the_hypothesis_of_the_sign_test_is_told_from_it(
    findings: ErrorFindings,
) -> None:
    said = replace(SPEC, null="margins").findings(SAMPLES, findings.rows, Provenance()).sentences()
    assert "a true null hypothesis about means is rejected" in said[0]
    assert "of the sign test that would be a promise about means, which it does not make" in said[1]
    (about,) = (text for text in said if "positive differences as frequent as negative ones" in text)
    assert "no malfunction" in about
    assert "wilcoxon" not in about
    assert "by AP typically 0." in about  # a normal model is symmetric


def test_tests_that_differ_by_noise_only_lead_together(findings: ErrorFindings) -> None:
    rng = np.random.default_rng(0)
    noisy = findings.rows.with_columns(sign=findings.rows["t"] * np.exp(rng.normal(0, 0.3, len(findings.rows))))
    found = SPEC.findings(SAMPLES, noisy, Provenance())
    for adjusted in (False, True):
        assert set(found.leaders("AP", 40, ["t", "sign"], 0.05, adjusted=adjusted)) == {"t", "sign"}
        assert findings.leaders("AP", 40, ["t", "sign"], 0.05, adjusted=adjusted) == ("t",)
    assert any("too close to one another to tell which finds more" in text for text in found.sentences())


def test_the_error_of_adjusted_power_is_that_of_a_bootstrap_over_trials(findings: ErrorFindings) -> None:
    null, fitted = (findings.compared("AP", 40, truth) for truth in ("null", "fitted"))
    null_p, fitted_p = (part.p["t"].reshape(TRIALS, 10) for part in (null, fitted))
    rng = np.random.default_rng(4)
    powers = []
    for _ in range(400):
        drawn = rng.integers(0, TRIALS, TRIALS)
        powers.append((fitted_p[drawn] <= np.quantile(null_p[drawn], 0.05)).mean())
    (cell,) = (cell for cell in findings.adjusted_power(0.05) if (cell.procedure, cell.n_queries) == ("t", 40))
    assert (cell.high - cell.low) / 2 / 1.96 == pytest.approx(np.std(powers), rel=0.2)
    assert np.mean(powers) == pytest.approx(cell.power, abs=0.005)


def test_systems_without_a_mean_in_common_are_refused_before_any_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    apart = samples(np.stack([np.linspace(0.0, 0.02, 10), np.linspace(0.5, 0.9, 10)], axis=1))
    model = collection.fit_collection(apart[0], margin="empirical")
    monkeypatch.setattr(collection, "models_of", lambda *_: [model])
    with pytest.raises(AdjudgeError, match=r"\Asystem 's1': a mean must be between"):
        Errors(null="means", margin="empirical").prepared(apart)


def test_one_sided_tests_double_their_error_and_it_is_said() -> None:
    found: ErrorFindings = find(Errors(procedures=("t-1",), sizes=(10,), trials=150), SAMPLES)
    (error,) = found.type_one([0.05])
    assert error.low <= 0.1 <= error.high
    assert any("doubles" in text for text in found.sentences())


def test_a_trial_compares_no_more_systems_than_asked_for() -> None:
    spec = Errors(procedures=("t",), sizes=(10,), systems=3)
    rows = spec.trial(SAMPLES, Draws(0, 0))
    assert len(rows["t"]) == 2 * 3
    assert set(rows["system"]) | set(rows["other"]) <= set(range(5))


@pytest.mark.parametrize(
    ("setting", "name", "near"), [("margin", "betta", "beta"), ("dependence", "gauss", "gaussian")]
)
def test_settings_that_make_no_sense_are_refused(setting: str, name: Any, near: str) -> None:
    with pytest.raises(AdjudgeError, match=f"No {setting} is called '{name}'. Did you mean '{near}'"):
        Errors(**{setting: name})


def test_levels_beyond_1_and_sizes_that_were_not_drawn_are_refused(findings: ErrorFindings) -> None:
    with pytest.raises(AdjudgeError, match=r"errors: 'levels' must be in \(0, 1\), got 1.5"):
        findings.type_one([1.5])
    with pytest.raises(AdjudgeError, match=r"one of 10, 40 queries and null or fitted.*got 20 and null"):
        findings.compared("AP", 20, "null")


def test_every_kind_of_error_has_its_section_and_figures(findings: ErrorFindings) -> None:
    report = experiment_report(findings)
    assert [section.name for section in report.sections] == ["errors", "type-one", "type-two", "type-three", "fidelity"]
    named = (block for section in report.sections for block in section.blocks if not isinstance(block, Paragraph))
    blocks: dict[str, Any] = {block.name: block for block in named}
    levels = blocks["type-one-errors"].data
    assert levels.log_x
    assert levels.log_y
    for panel in levels.panels:
        assert panel.diagonal
        assert [(curve.label, len(curve.x)) for curve in panel.curves] == [("t", 32), ("sign", 32), ("t+holm", 32)]
    # no band hides Type III errors; the table has their intervals
    assert all(curve.low is None for panel in blocks["type-three-errors"].data.panels for curve in panel.curves)
    assert all("[" in row[6] for row in blocks["by-difference"].rows)
    # a faithful model has small gaps
    errors = {record["figure"]: record["max_error"] for record in blocks["fidelity"].records}
    assert errors["mean"] < 0.015
    assert errors["sd of differences"] < 0.015
