"""Errors on collections drawn from a normal model by hand, where SciPy knows what must come out, and their report."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module

import numpy as np
import polars as pl
import pytest
import scipy.stats

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.experiments.chunks import run_chunk
from adjudge.experiments.conflicts import LEVELS
from adjudge.experiments.error_rates import ErrorFindings, Errors, difference_bins, error_sections, level_of
from adjudge.experiments.samples import Sample, Samples
from adjudge.experiments.simulate import collection
from adjudge.experiments.spec import Draws, experiment_from
from adjudge.model.provenance import Provenance
from adjudge.reporting.document import FigureBlock, TableBlock

MEANS = np.array([0.30, 0.32, 0.35, 0.40, 0.50])
SD = 0.15
TRIALS = 300


@dataclass(frozen=True)
class NormalModel:
    """Normal effectiveness, independent between systems: what a fitted model offers, without fitting."""

    means: Floats
    systems: tuple[str, ...] = tuple("abcde")

    def draw(self, rng: np.random.Generator, n_queries: int) -> Floats:
        return rng.normal(self.means, SD, size=(n_queries, len(self.means)))

    def null(self, kind: str, system: str | None = None) -> NormalModel:
        mean = self.means.mean() if system is None else self.means[self.systems.index(system)]
        return replace(self, means=np.full(len(self.means), mean))


@pytest.fixture(autouse=True)
def normal_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collection, "models_of", lambda samples, margin, dependence: [NormalModel(MEANS)])


@pytest.fixture(scope="module")
def samples() -> Samples:
    values = np.random.default_rng(1).normal(MEANS, SD, size=(10, 5))
    return Samples((Sample(values, tuple(map(str, range(10))), tuple("abcde"), "AP"),))


@pytest.fixture(scope="module")
def spec() -> Errors:
    return Errors(procedures=("t", "sign", "t+holm"), sizes=(10, 40), trials=TRIALS, seed=3, resamples=1000)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def findings(samples: Samples, spec: Errors) -> ErrorFindings:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(collection, "models_of", lambda samples, margin, dependence: [NormalModel(MEANS)])
        rows = run_chunk(spec, samples, 0, TRIALS)
    return spec.findings(samples, rows, Provenance())


def test_p_values_and_differences_are_those_of_the_collection_drawn(samples: Samples, spec: Errors) -> None:
    rows = spec.trial(samples, Draws(3, 0))
    drawn = NormalModel(MEANS).draw(Draws(3, 0).generator(4 * 10 + 1), 10)
    here = (rows["truth"] == 1) & (rows["n_queries"] == 10)
    expected = [scipy.stats.ttest_rel(drawn[:, a], drawn[:, b]).pvalue for a in range(5) for b in range(a + 1, 5)]
    np.testing.assert_allclose(rows["t"][here], expected, rtol=1e-9)
    true = [MEANS[a] - MEANS[b] for a in range(5) for b in range(a + 1, 5)]
    np.testing.assert_allclose(rows["true_difference"][here], true)
    assert not rows["true_difference"][rows["truth"] == 0].any()


def test_trials_do_not_depend_on_how_they_are_cut(samples: Samples, spec: Errors, findings: ErrorFindings) -> None:
    again = run_chunk(spec, samples, 7, 9)
    assert again.equals(findings.rows.filter(findings.rows["trial"].is_in([7, 8])))


def test_the_t_test_keeps_its_level_on_normal_collections(findings: ErrorFindings) -> None:
    for one in findings.type_one([0.05, 0.2]):
        if one.procedure == "t":
            assert one.low <= one.alpha <= one.high
            assert one.verdict == "as promised"


def exact_rows(n_trials: int, sizes: tuple[int, ...], rng: np.random.Generator) -> pl.DataFrame:
    """Null collections of five systems, compared by the t-test, which is exact for normal values."""
    a, b = np.triu_indices(5, 1)
    parts = []
    for size in sizes:
        values = rng.normal(size=(n_trials, size, 5))
        p = scipy.stats.ttest_rel(values[:, :, a], values[:, :, b], axis=1).pvalue
        parts.append(pl.DataFrame({"trial": np.repeat(np.arange(n_trials), len(a)), "t": p.ravel(), "n_queries": size}))
    equal = {"sample": "AP", "truth": "null", "true_difference": 0.0, "difference": 0.0}
    return pl.concat(parts).with_columns(**{name: pl.lit(value) for name, value in equal.items()})


def test_an_exact_test_is_called_off_its_level_in_at_most_one_experiment_of_twenty(samples: Samples) -> None:
    spec = Errors(procedures=("t",), sizes=(5, 10, 20), trials=200)  # type: ignore[arg-type]
    rng = np.random.default_rng(8)
    called, outside = 0, 0
    for _ in range(100):
        errors = spec.findings(samples, exact_rows(200, spec.sizes, rng), Provenance()).type_one()
        called += any(one.verdict != "as promised" for one in errors)
        outside += any(not one.low <= one.alpha <= one.high for one in errors)
    assert called <= 7
    assert outside > 20  # so many would be called by their single 95 % intervals


def test_a_test_that_rejects_twice_as_often_as_promised_is_called_liberal(samples: Samples) -> None:
    spec = Errors(procedures=("t",), sizes=(5, 10, 20), trials=200)  # type: ignore[arg-type]
    rows = exact_rows(200, spec.sizes, np.random.default_rng(9)).with_columns(pl.col("t") / 2)
    found = spec.findings(samples, rows, Provenance())
    assert found.n_verdicts == 9  # three sizes, three levels
    assert [one.verdict for one in found.type_one([0.05])] == ["liberal"] * 3


def test_the_sign_test_errs_as_often_as_the_binomial_distribution_says(findings: ErrorFindings) -> None:
    for one in findings.type_one([0.05]):
        if one.procedure == "sign":
            wins = np.arange(one.n_queries + 1)
            p = np.array([scipy.stats.binomtest(int(k), one.n_queries).pvalue for k in wins])
            exact = scipy.stats.binom.pmf(wins, one.n_queries, 0.5)[p <= 0.05].sum()
            assert one.low <= exact <= one.high
            if one.n_queries == 10:
                assert exact < 0.05
                assert one.verdict == "conservative"


def test_any_false_positive_is_at_least_as_likely_as_one_and_holm_controls_it(findings: ErrorFindings) -> None:
    for one in findings.type_one([0.05]):
        assert one.any_rate >= one.rate
        if one.procedure == "t+holm":
            assert one.any_low <= 0.05
        if one.procedure == "t":
            assert one.any_low > 0.05


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
    overall = {(one.procedure, one.n_queries): one.power for one in findings.detection(0.05)}
    assert all(overall[name, 40] > overall[name, 10] for name in findings.procedures)
    binned = [one for one in findings.detection(0.05, binned=True) if (one.procedure, one.n_queries) == ("t", 40)]
    assert len(binned) >= 4
    assert binned[-1].power > binned[0].power + 0.3
    assert sum(one.cases for one in binned) == 10 * TRIALS


def test_a_test_that_finds_nothing_has_no_share_of_wrong_directions(samples: Samples) -> None:
    spec = Errors(procedures=("sign@1e-9",), sizes=(10,), trials=2)  # type: ignore[arg-type]
    told = spec.findings(samples, run_chunk(spec, samples, 0, 2), Provenance()).sentences()
    assert any(one.endswith("(Type III errors): the sign test has none that is significant.") for one in told)


def test_wrong_directions_are_rare_and_rarer_the_larger_the_difference(findings: ErrorFindings) -> None:
    for one in findings.detection(0.05):
        assert one.type_three <= one.power
        assert one.wrong < 0.5
    binned = [one for one in findings.detection(0.05, binned=True) if (one.procedure, one.n_queries) == ("t", 10)]
    assert binned[0].wrong > binned[-1].wrong


def test_held_to_the_same_error_the_sign_test_gains_and_stays_behind_t(findings: ErrorFindings) -> None:
    fair = {(one.procedure, one.n_queries): one for one in findings.adjusted_power(0.05)}
    plain = {(one.procedure, one.n_queries): one for one in findings.detection(0.05)}
    assert fair["sign", 10].power > plain["sign", 10].power
    assert fair["sign", 10].power < fair["t", 10].power
    assert fair["t", 40].level == pytest.approx(0.05, abs=0.015)


def test_the_level_with_a_given_error_is_a_quantile_of_null_p_values() -> None:
    p = np.random.default_rng(0).uniform(size=1000)
    lower, upper, _ = level_of(p, 0.05)
    assert lower <= np.quantile(p, 0.05) <= upper
    assert level_of(np.ones(10), 0.05) == (0.0, 1.0, 0.05)


def test_there_are_32_levels() -> None:
    assert len(LEVELS) == 32
    assert (LEVELS[0], LEVELS[9], LEVELS[-1]) == (0.0001, 0.001, 0.5)


def test_bins_of_no_difference_at_all_are_one() -> None:
    assert difference_bins(np.zeros(3)).tolist() == [0.0, np.inf]


def test_sentences_say_who_keeps_the_promise(findings: ErrorFindings) -> None:
    said = findings.sentences()
    assert said[0].startswith("At α = 0.05 with 40 queries by AP, a true null hypothesis is rejected by the t-test in")
    assert "as often as promised" in said[1]
    assert any("no Type I error rate" in one for one in said)
    assert any("nothing tells one from another" in one for one in said)
    assert not any("positive differences as frequent" in one for one in said)
    assert len(findings.to_dicts()) == 2 * 3 * 3
    assert {"rate", "any_rate", "power", "type_two", "type_three", "wrong", "adjusted_power"} <= set(
        findings.to_dicts()[0]
    )
    assert findings.to_dict()["by_difference"]


def test_where_only_means_are_equal_the_hypothesis_of_the_sign_test_is_told_from_it(
    findings: ErrorFindings, samples: Samples, spec: Errors
) -> None:
    said = replace(spec, null="margins").findings(samples, findings.rows, Provenance()).sentences()
    assert "a true null hypothesis about means is rejected" in said[0]
    assert "of the sign test that would be a promise about means, which it does not make" in said[1]
    (about,) = (one for one in said if "positive differences as frequent as negative ones" in one)
    assert "no malfunction" in about
    assert "wilcoxon" not in about
    assert "by AP typically 0." in about  # a normal model is symmetric


def test_tests_that_differ_by_noise_only_lead_together(findings: ErrorFindings, spec: Errors) -> None:
    rng = np.random.default_rng(0)
    noisy = findings.rows.with_columns(sign=findings.rows["t"] * np.exp(rng.normal(0, 0.3, len(findings.rows))))
    found = spec.findings(findings.samples, noisy, Provenance())
    for adjusted in (False, True):
        assert set(found.leaders("AP", 40, ["t", "sign"], 0.05, adjusted=adjusted)) == {"t", "sign"}
        assert findings.leaders("AP", 40, ["t", "sign"], 0.05, adjusted=adjusted) == ("t",)
    assert any("too close to one another to tell which finds more" in one for one in found.sentences())


def test_the_error_of_adjusted_power_is_that_of_a_bootstrap_over_trials(findings: ErrorFindings) -> None:
    null, fitted = (findings.compared("AP", 40, truth) for truth in ("null", "fitted"))
    null_p, fitted_p = (one.p["t"].reshape(TRIALS, 10) for one in (null, fitted))
    rng = np.random.default_rng(4)
    powers = []
    for _ in range(400):
        drawn = rng.integers(0, TRIALS, TRIALS)
        powers.append((fitted_p[drawn] <= np.quantile(null_p[drawn], 0.05)).mean())
    (one,) = (one for one in findings.adjusted_power(0.05) if (one.procedure, one.n_queries) == ("t", 40))
    assert (one.high - one.low) / 2 / 1.96 == pytest.approx(np.std(powers), rel=0.2)
    assert np.mean(powers) == pytest.approx(one.power, abs=0.005)


def test_systems_without_a_mean_in_common_are_refused_before_any_trial(
    samples: Samples, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    values = np.stack([np.linspace(0.0, 0.02, 10), np.linspace(0.5, 0.9, 10)], axis=1)
    apart = Samples((Sample(values, tuple(map(str, range(10))), ("low", "high"), "AP"),))
    with pytest.raises(AdjudgeError, match=r"\Asystem 'low': a mean must be between"):
        Errors(null="means", margin="empirical").prepared(apart)


def test_one_sided_tests_double_their_error_and_it_is_said(samples: Samples) -> None:
    spec = Errors(procedures=("t-1",), sizes=(10,), trials=150, resamples=1000)  # type: ignore[arg-type]
    found = spec.findings(samples, run_chunk(spec, samples, 0, 150), Provenance())
    (one,) = found.type_one([0.05])
    assert one.low <= 0.1 <= one.high
    assert any("doubles" in text for text in found.sentences())


def test_a_trial_compares_no_more_systems_than_asked_for(samples: Samples) -> None:
    spec = Errors(procedures=("t",), sizes=(10,), systems=3)  # type: ignore[arg-type]
    rows = spec.trial(samples, Draws(0, 0))
    assert len(rows["t"]) == 2 * 3
    assert set(rows["system"]) | set(rows["other"]) <= set(range(5))


def test_fits_are_kept_by_what_they_are_of(samples: Samples, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    calls: list[str] = []

    def fit(values: Floats, *, systems: tuple[str, ...], margin: str, dependence: str) -> NormalModel:
        calls.append(dependence)
        return NormalModel(MEANS)

    monkeypatch.setattr(collection, "_KEPT", {})
    monkeypatch.setattr(collection, "fit_collection", fit)
    copy = Samples(samples.members)
    assert collection.models_of(samples, "auto", "empirical") is collection.models_of(copy, "auto", "empirical")
    collection.models_of(samples, "auto", "gaussian")
    assert calls == ["empirical", "gaussian"]


def test_a_specification_comes_back_from_its_description(spec: Errors) -> None:
    assert experiment_from(spec.to_dict()) == spec


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"null": "mean"}, "No null hypothesis is called 'mean'. Did you mean 'means'?"),
        ({"margin": "betta"}, "No margin is called 'betta'. Did you mean 'beta'?"),
        ({"dependence": "gauss"}, "No dependence is called 'gauss'. Did you mean 'gaussian'?"),
        ({"systems": 1}, "errors: 'systems' must be a whole number of at least 2, got 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(AdjudgeError, match=message.replace("?", r"\?")):
        Errors(**settings)  # type: ignore[arg-type]


def test_levels_and_sizes_that_are_none_are_refused(findings: ErrorFindings) -> None:
    with pytest.raises(AdjudgeError, match=r"levels must be in \(0, 1\), got 1.5"):
        findings.type_one([1.5])
    with pytest.raises(AdjudgeError, match=r"one of 10, 40 queries and null or fitted.*got 20 and null"):
        findings.compared("AP", 20, "null")


REPORTED_MEANS = np.array([0.3, 0.4, 0.5])


@dataclass(frozen=True)
class ReportedModel:
    """Normal effectiveness with the means of the data and a standard deviation of 0.1."""

    means: Floats
    systems: tuple[str, ...] = ("a", "b", "c")

    def draw(self, rng: np.random.Generator, n_queries: int) -> Floats:
        return rng.normal(self.means, 0.1, size=(n_queries, 3))

    def null(self, kind: str, system: str | None = None) -> ReportedModel:
        return replace(self, means=np.full(3, 0.4))

    def fidelity(self, values: Floats, rng: np.random.Generator, *, repeats: int) -> collection.Fidelity:
        return collection.fidelity(self, values, rng, repeats=repeats)  # type: ignore[arg-type]


@pytest.fixture
def reported(monkeypatch: pytest.MonkeyPatch) -> ErrorFindings:
    monkeypatch.setattr(
        collection,
        "models_of",
        lambda samples, margin, dependence: [ReportedModel(REPORTED_MEANS)],
    )
    values = REPORTED_MEANS + np.random.default_rng(5).normal(0, 0.1, size=(2000, 3))
    samples = Samples((Sample(values, tuple(map(str, range(2000))), ("a", "b", "c"), "AP"),))
    spec = Errors(procedures=("t", "sign"), sizes=(10, 20), trials=30, resamples=1000)  # type: ignore[arg-type]
    return spec.findings(samples, run_chunk(spec, samples, 0, 30), Provenance())


def test_every_kind_of_error_has_its_section(reported: ErrorFindings) -> None:
    names = [section.name for section in error_sections(reported)]
    assert names == ["errors", "type-one", "type-two", "type-three", "fidelity"]


def test_tables_are_full_and_figures_have_words(reported: ErrorFindings) -> None:
    blocks = [block for section in error_sections(reported) for block in section.blocks]
    for table in (block for block in blocks if isinstance(block, TableBlock)):
        assert table.rows
        assert table.records
        assert all(len(row) == len(table.columns) for row in table.rows)
    figures = [block for block in blocks if isinstance(block, FigureBlock)]
    assert [figure.name for figure in figures] == ["type-one-errors", "power-by-difference", "type-three-errors"]
    assert all(figure.alt and figure.caption for figure in figures)


def test_the_figure_of_type_one_errors_holds_32_levels_a_test_and_the_diagonal(
    reported: ErrorFindings,
) -> None:
    figure = error_sections(reported)[1].blocks[0]
    assert isinstance(figure, FigureBlock)
    assert figure.data.log_x
    assert figure.data.log_y
    for panel in figure.data.panels:
        assert panel.diagonal
        assert [curve.label for curve in panel.curves] == ["t", "sign"]
        assert all(len(curve.x) == 32 for curve in panel.curves)


def test_a_faithful_model_has_small_gaps(reported: ErrorFindings) -> None:
    table = error_sections(reported)[-1].blocks[1]
    assert isinstance(table, TableBlock)
    errors = {record["figure"]: record["max_error"] for record in table.records}
    assert errors["mean"] < 0.01
    assert errors["sd of differences"] < 0.01


def test_curves_on_logarithmic_axes_can_be_drawn(reported: ErrorFindings) -> None:
    pyplot = import_module("matplotlib.pyplot")
    from adjudge.reporting.figures import style

    figure = error_sections(reported)[1].blocks[0]
    assert isinstance(figure, FigureBlock)
    with pyplot.rc_context(style()):
        pyplot.close(figure.draw(figure.data))


def test_no_band_hides_type_three_errors_and_the_table_has_their_intervals(
    reported: ErrorFindings,
) -> None:
    blocks = [block for section in error_sections(reported) for block in section.blocks]
    figures = {block.name: block for block in blocks if isinstance(block, FigureBlock)}
    tables = {block.name: block for block in blocks if isinstance(block, TableBlock)}
    panels = figures["type-three-errors"].data.panels
    assert all(curve.low is None for panel in panels for curve in panel.curves)
    assert all("[" in row[6] for row in tables["by-difference"].rows)
