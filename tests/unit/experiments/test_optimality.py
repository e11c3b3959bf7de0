"""The experiment on the optimality of tests, on small made-up effectiveness, and its report."""

from __future__ import annotations

import json

import numpy as np
import pytest

from adjudge.errors import AdjudgeError
from adjudge.experiments.chunks import run_chunk
from adjudge.experiments.optimality import BINS, Optimality, OptimalityFindings
from adjudge.experiments.procedures import parse_procedures
from adjudge.experiments.report import experiment_report
from adjudge.experiments.samples import Sample, Samples
from adjudge.experiments.spec import experiment_from, make_experiment
from adjudge.model.provenance import Provenance
from adjudge.reporting.document import FigureBlock, Paragraph, Report, TableBlock


def made_up(n_queries: int = 24, n_systems: int = 5, spread: float = 0.1) -> Samples:
    rng = np.random.default_rng(3)
    names = tuple(f"s{i}" for i in range(n_systems))
    queries = tuple(f"q{i}" for i in range(n_queries))
    skill = np.linspace(0.3, 0.5, n_systems)
    return Samples(
        tuple(
            Sample(np.clip(skill + rng.normal(0, sd, (n_queries, n_systems)), 0, 1), queries, names, measure, "fine")
            for measure, sd in (("CG@5", spread), ("P@5", 3 * spread))
        )
    )


def run(samples: Samples, **settings: object) -> OptimalityFindings:
    given = {"trials": 8, "resamples": 500, **settings}
    spec = make_experiment("tests", **given).prepared(samples)
    assert isinstance(spec, Optimality)
    return spec.findings(samples, run_chunk(spec, samples, 0, spec.trials), Provenance())


@pytest.fixture(scope="module")
def found() -> OptimalityFindings:
    return run(made_up(), sizes=(6, 12))


def test_half_of_the_queries_are_the_default() -> None:
    settled = Optimality().prepared(made_up(25))
    assert settled.sizes == (12,)
    assert (settled.trials, settled.resamples, settled.alpha) == (300, 100_000, 0.05)
    assert [one.name for one in settled.procedures] == ["t", "wilcoxon", "sign", "bootstrap", "permutation"]


def test_sets_that_do_not_fit_twice_are_refused() -> None:
    with pytest.raises(AdjudgeError, match="tests: 2 disjoint sets of 13 queries need 26, got 24 of"):
        Optimality(sizes=(13,)).prepared(made_up())


def test_two_levels_are_refused() -> None:
    with pytest.raises(AdjudgeError, match=r"tests.*one level for all tests.*got 0\.01 and 0\.05"):
        make_experiment("tests", procedures=("t@0.01", "sign"))


def test_a_specification_survives_json() -> None:
    spec = Optimality(sizes=(6,), procedures=parse_procedures(("t@0.01", "wilcoxon-1@0.01")), seed=4)
    assert experiment_from(json.loads(json.dumps(spec.to_dict()))) == spec


def test_outcomes_of_the_significant_add_up_to_one(found: OptimalityFindings) -> None:
    for record in found.by_test_and_sample([0.05, 0.5]).to_dicts():
        parts = [record[name] for name in ("success", "lack_of_power", "global_conflict")]
        assert record["significant"] == 0 or sum(parts) == pytest.approx(1)
        assert record["global_conflict"] == pytest.approx(
            record["minor_conflict"] + record["major_conflict"], nan_ok=True
        )


def test_views_have_a_cell_for_each_of_what_they_are_by(found: OptimalityFindings) -> None:
    assert len(found.by_test().cells) == 2 * 5
    assert len(found.by_sample().cells) == 2 * 2
    assert len(found.by_test_and_sample().cells) == 2 * 2 * 5
    assert [cell["n_queries"] for cell in found.pooled().cells] == [6, 12]
    assert found.by_sample().cells[0] == {"sample": "CG@5 on fine", "n_queries": 6}


def test_any_level_can_be_asked_for_afterwards(found: OptimalityFindings) -> None:
    records = found.at(0.025).to_dicts()
    rows = found.rows.filter(found.rows["n_queries"] == 6)
    p = np.concatenate([rows["t"].to_numpy(), rows["t_again"].to_numpy()])
    assert records[0]["test"] == "t"
    assert records[0]["non_significant"] == pytest.approx(float((p > 0.025).mean()))


def test_more_queries_and_less_noise_find_more(found: OptimalityFindings) -> None:
    small, large = found.pooled([0.05]).values["non_significant"].value[:, 0]
    precise, noisy = found.by_sample([0.05]).values["non_significant"].value[[1, 3], 0]
    assert large < small
    assert precise < noisy


def test_error_with_oneself_is_the_rms_over_both_orders(found: OptimalityFindings) -> None:
    first, second = (found.rows[name].to_numpy() for name in ("sign", "sign_again"))
    p, other = np.concatenate([first, second]), np.concatenate([second, first])
    inside = (p > 0.1) & (p <= 0.5)
    expected = np.sqrt(np.mean((other - p)[inside] ** 2))
    record = next(one for one in found.self_error() if (one["test"], one["up_to"]) == ("sign", 0.5))
    assert record["rms"] == pytest.approx(float(expected))
    assert record["rms_low"] < record["rms"] < record["rms_high"]
    assert len(found.self_error()) == 5 * len(BINS)


def test_agreement_is_the_share_of_the_same_decisions(found: OptimalityFindings) -> None:
    t, sign = (np.concatenate([found.rows[n].to_numpy(), found.rows[n + "_again"].to_numpy()]) for n in ("t", "sign"))
    record = next(one for one in found.agreement(0.1) if (one["test"], one["other"]) == ("t", "sign"))
    assert record["same"] == pytest.approx(float(((t <= 0.1) == (sign <= 0.1)).mean()))
    assert record["rms"] == pytest.approx(float(np.sqrt(np.mean((t - sign) ** 2))))
    assert len(found.agreement()) == 10


def test_leaders_begin_with_the_best_and_name_who_is_not_clearly_behind(found: OptimalityFindings) -> None:
    value = found.at(0.05).values["non_significant"].value[5:, 0]  # of the larger sets
    leaders = found.leaders("non_significant")
    assert leaders[0] == found.tests[int(np.argmin(value))]
    assert len(run(made_up(), trials=1, procedures=("t", "sign")).leaders("success", highest=True)) == 2


def test_the_conclusion_is_in_plain_words(found: OptimalityFindings) -> None:
    said = found.sentences()
    assert said[0].startswith("At 0.05, ")
    assert "of the significant results repeat in a second collection of 12 queries" in said[0]
    assert "6 queries" in said[1]
    assert any(one.startswith("The most powerful test ") and "]" in one for one in said)
    assert any("CG@5 on fine finds the most differences" in one for one in said)
    assert any("With 500 resamples p of bootstrap and permutation is at least 0.002" in one for one in said)
    assert "Non-significance" in str(found)


def test_systems_that_are_all_the_same_are_never_significant() -> None:
    same = made_up()
    flat = Samples(tuple(Sample(np.full_like(one.values, 0.5), one.queries, one.systems, one.measure) for one in same))
    found = run(flat, trials=2)
    assert found.sentences()[0] == "At 0.05, nothing is significant with 12 queries."
    assert all(record["non_significant"] == 1 for record in found.to_dicts())
    json.dumps(found.to_dict(), allow_nan=False)


def test_findings_are_fit_for_json(found: OptimalityFindings) -> None:
    content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert len(content["table"]) == 2 * 5 * 32
    assert {"by_sample", "exactness", "self_error", "agreement"} <= set(content)


@pytest.fixture(scope="module")
def reported() -> OptimalityFindings:
    rng = np.random.default_rng(5)
    queries, systems = tuple(f"q{i}" for i in range(20)), ("a", "b", "c", "d")
    members = tuple(
        Sample(rng.random((20, 4)) / 2 + np.linspace(0, 0.4, 4), queries, systems, "AP", scale)
        for scale in ("fine", "binary")
    )
    samples = Samples(members)
    spec = Optimality(trials=6, sizes=(5, 10), procedures=parse_procedures(("t", "wilcoxon", "sign"))).prepared(samples)
    return spec.findings(samples, run_chunk(spec, samples, 0, 6), Provenance())


@pytest.fixture(scope="module")
def report(reported: OptimalityFindings) -> Report:
    return experiment_report(reported)


def blocks(report: Report) -> dict[str, TableBlock | FigureBlock]:
    return {b.name: b for part in report.sections for b in part.blocks if not isinstance(b, Paragraph)}


def test_it_begins_with_the_conclusion(reported: OptimalityFindings, report: Report) -> None:
    first = report.sections[0].blocks[0]
    assert isinstance(first, Paragraph)
    assert first.text == reported.sentences()[0]


def test_six_panels_have_a_curve_a_test_and_conflicts_a_diagonal(reported: OptimalityFindings, report: Report) -> None:
    figure = blocks(report)["tests-rates"]
    assert isinstance(figure, FigureBlock)
    assert [panel.title for panel in figure.data.panels][::2] == ["Non-significance", "Success", "Lack of power"]
    assert [panel.diagonal for panel in figure.data.panels] == [False] * 5 + [True]
    for curve in figure.data.panels[0].curves:
        record = next(r for r in reported.to_dicts() if r["test"] == curve.label and r["n_queries"] == 10)
        assert curve.y[0] == record["non_significant"]
        assert len(curve.x) == 32


def test_the_best_of_each_level_is_in_bold(report: Report) -> None:
    table = blocks(report)["tests-selected"]
    assert isinstance(table, TableBlock)
    assert len(table.rows) == 8 * 3
    for level in range(8):
        rows = range(3 * level, 3 * level + 3)
        quiet = [float(table.rows[i][2]) for i in rows]
        bold = [i for i in rows if (i, 2) in table.emphasised]
        assert bold
        assert all(float(table.rows[i][2]) == min(quiet) for i in bold)


def test_measures_have_a_table_and_panels_by_scale(report: Report) -> None:
    reported = blocks(report)
    table, figure = reported["tests-measures"], reported["tests-measures-power"]
    assert isinstance(table, TableBlock)
    assert isinstance(figure, FigureBlock)
    assert [row[:2] for row in table.rows[:3]] == [("AP on fine", "5"), ("AP on fine", "10"), ("AP on binary", "5")]
    assert [panel.title for panel in figure.data.panels] == [
        f"{what}, {scale}" for scale in ("fine", "binary") for what in ("Non-significance", "Success")
    ]
    assert figure.data.panels[0].curves[0].x.tolist()[::18] == [0.001, 0.1]


def test_tables_of_sizes_stability_and_agreement_are_there(report: Report) -> None:
    reported = blocks(report)
    rows = {name: len(block.rows) for name, block in reported.items() if isinstance(block, TableBlock)}
    assert rows == {
        "tests-level": 6,
        "tests-sizes": 2,
        "tests-selected": 24,
        "tests-exactness": 3,
        "tests-measures": 4,
        "tests-self": 9,
        "tests-agreement": 3,
    }


def test_a_figure_can_be_drawn_with_plain_numbers_at_its_ticks(report: Report) -> None:
    from matplotlib import pyplot

    figure = blocks(report)["tests-rates"]
    assert isinstance(figure, FigureBlock)
    drawing = figure.draw(figure.data)
    drawing.canvas.draw()
    ticks = [label.get_text() for label in drawing.axes[4].get_xticklabels()]
    pyplot.close(drawing)
    assert "0.01" in ticks
    assert not any("$" in text for text in ticks)
