"""Plans: the sentences that answer, the tables and figures behind them, and their section in the report."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import adjudge as aj
from adjudge.arrays import Floats
from adjudge.reporting.document import FigureBlock, Paragraph, Report, TableBlock
from adjudge.reporting.render import render
from adjudge.stats.gtheory.plan import Costs, Plan, Pricing, make_plan
from adjudge.stats.gtheory.report import plan_section
from adjudge.tables import as_csv, as_json
from adjudge.users.report import gather, make_report, reliability

QUERIES, SYSTEMS, PEOPLE = [f"q{i}" for i in range(30)], [f"s{i}" for i in range(8)], ("ann", "bob", "cleo")


def scores(seed: int = 0, *, system: float = 1.0, n_q: int = 30, noise: float = 1.0) -> Floats:
    rng = np.random.default_rng(seed)
    values: Floats = system * np.linspace(-1, 1, 8) + rng.normal(size=(n_q, 1)) + noise * rng.normal(size=(n_q, 8))
    return values


def equally_good() -> Floats:
    """Systems with the same mean."""
    values = scores()
    values -= values.mean(axis=0)
    return values


def effectiveness(*measures: Floats) -> aj.Effectiveness:
    values = np.stack(measures, axis=2)
    names = tuple("ABCDEFG"[: len(measures)])
    empty = np.full(values.shape, np.nan)
    return aj.Effectiveness(values, tuple(QUERIES[: len(values)]), tuple(SYSTEMS), names, empty)


def assessed(
    *, seed: int = 1, disagreement: float = 0.1, taste: float = 0.0, sq: float = 1.0, n_a: int = 3
) -> aj.model.AssessedEffectiveness:
    """Crossed assessors: what they disagree on in a cell, and which systems they like everywhere, each the opposite."""
    rng = np.random.default_rng(seed)
    values = scores(seed, noise=sq)[:, :, None] + disagreement * rng.normal(size=(30, 8, n_a))
    values = values + taste * np.multiply.outer([1, -1, -1, 1, 1, -1, -1, 1], [1, -1, 0][:n_a])
    return aj.model.AssessedEffectiveness(values[..., None], tuple(QUERIES), tuple(SYSTEMS), PEOPLE[:n_a], ("A",))


def tables(plan: Plan) -> dict[str, TableBlock]:
    return {block.name: block for block in plan_section(plan).blocks if isinstance(block, TableBlock)}


def figures(plan: Plan) -> dict[str, FigureBlock]:
    return {block.name: block for block in plan_section(plan).blocks if isinstance(block, FigureBlock)}


def reported(plan: Plan) -> Report:
    return Report("plan", plan.study.size, (plan_section(plan),), plan.provenance.to_dict())


def rendered(plan: Plan, form: str) -> str:
    return render(reported(plan), form)


def test_the_verdict_has_the_numbers_of_the_d_study() -> None:
    values = scores()
    found = aj.gstudy(values).dstudy(target=0.9)
    ranking, right = found.need("e_rho2").n_queries, found.need("phi").n_queries
    assert make_plan(effectiveness(values), targets=[0.9]).verdict() == [
        f"{ranking} queries are enough for a stable ranking (Eρ² ≥ 0.9), {right} for stable scores (Φ ≥ 0.9); "
        "there are 30 now."
    ]


def with_a_bad_system(*, n_q: int = 30) -> Floats:
    """Seven systems that are close, and one that is far below."""
    values = scores(system=0.4, n_q=n_q)
    values[:, 3] -= 4
    return values


def test_the_verdict_names_the_system_that_makes_ranking_easy() -> None:
    values = with_a_bad_system()
    others = aj.gstudy(np.delete(values, 3, axis=1)).dstudy(target=0.9).need("e_rho2").n_queries
    assert make_plan(effectiveness(values), targets=[0.9]).verdict()[1] == (
        f"One system makes that easy: without s3 it takes {others} queries. Plan with systems like those to come."
    )
    equal = equally_good()
    equal[:, 5] += 4
    assert "without s5 no number of queries is enough." in make_plan(effectiveness(equal)).verdict()[1]
    assert not any("without" in line for line in make_plan(effectiveness(with_a_bad_system(n_q=9))).verdict())
    three = aj.Effectiveness.from_matrix(with_a_bad_system()[:, 2:5], measure="A")
    assert make_plan(three).far_off is None


def test_a_system_is_named_also_where_it_lacks_queries_and_queries_lack_assessors() -> None:
    values = with_a_bad_system()
    values[:20, 3] = np.nan
    values[20:] += 10  # its only queries are easy for everybody
    assert "without s3 " in make_plan(effectiveness(values)).verdict()[1]
    cube = np.stack([with_a_bad_system(), with_a_bad_system() + 0.1], axis=2)
    cube[::2, :, 1] = np.nan
    judged = aj.model.AssessedEffectiveness(cube[..., None], tuple(QUERIES), tuple(SYSTEMS), PEOPLE[:2], ("A",))
    assert "without s3 " in make_plan(judged).verdict()[1]


def test_the_verdict_says_when_one_query_is_enough_and_when_no_number_is() -> None:
    easy = make_plan(effectiveness(scores(system=50))).verdict()[0]
    assert easy.startswith("1 query is enough for a stable ranking (Eρ² ≥ 0.95), 1 for stable scores")
    plan = make_plan(effectiveness(equally_good()), pricing=Pricing(Costs(), {"A": 10.0}))
    assert plan.study.negative == ("system",)
    assert plan.verdict() == [
        "No number of queries is enough for a stable ranking (Eρ² ≥ 0.95), no number for stable scores (Φ ≥ 0.95); "
        "there are 30 now."
    ]
    assert tables(plan)["variance-components"].rows[0].count("never") == 2
    assert tables(plan)["growth"].rows[-1][3:] == ("never", "never")
    assert "Eρ² never reaches 0.95 and Φ never reaches 0.95" in figures(plan)["reliability-curves"].alt
    texts = [block.text for block in plan_section(plan).blocks if isinstance(block, Paragraph)]
    assert texts[-2:] == ["No design reaches Eρ² ≥ 0.95.", "No design reaches Φ ≥ 0.95."]
    for form in ("html", "markdown", "latex", "json"):
        assert rendered(plan, form)


def test_a_second_assessor_pays_where_queries_are_dear_and_assessors_disagree() -> None:
    first, second = make_plan(assessed(), interval="none").verdict()
    assert " with one assessor each; there are 30 now." in first
    assert second.startswith("A second assessor per query costs more than it gives: ")
    eff = assessed(disagreement=4.0, sq=1.0)
    for costs, worth in ((Costs(judgment=0.01, query=10.0), "pays"), (Costs(), "costs more than it gives")):
        plan = make_plan(eff, pricing=Pricing(costs, {"A": 5.0}), interval="none")
        one, two = (plan.needed("e_rho2", assessors=n).n_queries or 0 for n in (1, 2))
        ratio = costs.total(two, 2, 5.0, nested=False) / costs.total(one, 1, 5.0, nested=False)
        sizes = f"{two} queries instead of {one}"
        assert plan.verdict()[1] == f"A second assessor per query {worth}: {sizes}, at {ratio:.2f} times the cost."
        assert plan.to_dict()["designs"]["pools"] == {"A": 5.0}


def test_a_second_assessor_may_be_the_only_way() -> None:
    plan = make_plan(assessed(taste=0.3, n_a=2), targets=[0.75], interval="none")
    needs = {n: plan.main.need("e_rho2", assessors=n).n_queries for n in (1, 2)}
    assert needs[1] is None
    assert plan.verdict() == [
        "No number of queries is enough for a stable ranking (Eρ² ≥ 0.75), no number for stable scores (Φ ≥ 0.75) "
        "with one assessor each; there are 30 now.",
        f"Only with a second assessor is the ranking stable at all: {needs[2]} queries.",
    ]
    assert len(make_plan(assessed(taste=2.0), targets=[0.95], interval="none").verdict()) == 1
    # tastes that follow an assessor everywhere do no harm where every query has assessors of its own
    nested = make_plan(assessed(taste=0.3, n_a=2), targets=[0.75], design="nested", interval="none")
    assert "costs more than it gives" in nested.verdict()[1]
    assert nested.growth[-1].e_rho2_queries == nested.needed("e_rho2").n_queries


def test_any_numbers_of_assessors_can_be_considered() -> None:
    plan = make_plan(assessed(), people=[2, 3, 2], resamples=100)
    assert [row.n_assessors for row in plan.main.rows[:: len(plan.main.rows) // 2]] == [2, 3]
    assert " with 2 assessors each; there are 30 now." in plan.verdict()[0]
    assert {row.n_assessors for row in plan.curve.rows} == {2}
    assert plan.growth[-1].phi_queries == plan.needed("phi").n_queries
    with pytest.raises(aj.AdjudgeError, match="to plan for 2 of them, got systems x queries"):
        make_plan(effectiveness(scores()), people=[1, 2])


def test_a_plan_has_a_block_for_every_question() -> None:
    eff = effectiveness(1e6 * scores(), 1e6 * scores(1))
    every = [block for block in plan_section(make_plan(eff)).blocks if not isinstance(block, Paragraph)]
    assert [block.name for block in every] == [
        "variance-components",
        "reliability-by-size",
        "reliability-curves",
        "growth",
        "growth-curves",
        "power-plan",
    ]
    pricing = Pricing(Costs(2.0, 0.5, 7.0), {"A": 12.5, "B": 20.0}, {"A": 3, "B": 5}, 800.0)
    with pytest.raises(aj.AdjudgeError, match="Expected the number of documents to judge per query for A"):
        make_plan(eff, pricing=replace(pricing, pools={}))
    priced = make_plan(eff, pricing=pricing)
    assert list(tables(priced))[4:] == ["cheapest-ranking", "cheapest-scores", "best-ranking", "best-scores"]
    assert list(figures(priced))[2:] == ["cost-curves"]
    text = rendered(priced, "markdown")
    assert "Most stable ranking for a budget of 800." in text
    assert "prices are 2 per judgment, 0.5 per query, 7 per assessor" in text
    assert "over 10,000,000" in text


def test_tables_show_the_numbers_of_the_study() -> None:
    eff = effectiveness(scores(), scores(1))
    plan = make_plan(eff, queries=[10], targets=[0.9, 0.8])
    for row, measure in zip(tables(plan)["variance-components"].rows, ("A", "B"), strict=True):
        study = aj.gstudy(eff[measure])
        decided = study.dstudy(target=0.9)
        cells = [f"{100 * share:.1f} %" for share in study.fractions().values()]
        assert list(row[:4]) == [measure, *cells]
        assert (row[4], row[6]) == (f"{decided.rows[0].e_rho2:.4f}", f"{decided.rows[0].phi:.4f}")
        for cell, index in ((row[5], "e_rho2"), (row[7], "phi")):
            need = decided.need(index)
            assert cell.startswith(f"{need.n_queries} [{need.low}, ")
    sizes = tables(plan)["reliability-by-size"].rows
    size = plan.main.rows[0]
    assert [cells[0] for cells in sizes] == ["10", "30"]
    assert sizes[0][1] == f"{size.e_rho2:.3f} [{size.e_rho2_low:.3f}, {size.e_rho2_high:.3f}]"
    assert sizes[0][3:] == tuple(
        f"{number:.{digits}f}"
        for number, digits in ((size.tau, 2), (size.tau_again, 2), (size.relative_error, 3), (size.absolute_error, 3))
    )
    step = plan.growth[-1]
    assert tables(plan)["growth"].rows[-1] == (
        "30",
        f"{step.e_rho2:.3f}",
        f"{step.phi:.3f}",
        f"{step.e_rho2_queries}",
        f"{step.phi_queries}",
    )
    assert figures(plan)["growth-curves"].data.panels[0].curves[0].x.tolist() == [
        step.n_queries for step in plan.growth
    ]
    assert figures(plan)["reliability-curves"].data.panels[0].levels == (0.9, 0.8)


def test_plain_values_have_everything_and_fit_into_json() -> None:
    pricing = Pricing(Costs(), {"A": 12.5}, {}, 800.0)
    plan = make_plan(effectiveness(scores(), scores(1)), pricing=pricing, targets=[0.9, 0.8])
    content = json.loads(json.dumps(plan.to_dict(), allow_nan=False))
    keys = "verdict measures targets far_off growth power designs notes provenance table"
    assert list(content) == keys.split()
    assert list(content["designs"]) == ["costs", "pools", "budget", "cheapest", "best"]
    assert content["verdict"] == plan.verdict()
    assert content["measures"]["A"]["needed"][0]["n_queries"] == plan.needed("e_rho2").n_queries
    assert content["designs"]["cheapest"]["phi"][0]["n_queries"] == plan.needed("phi").n_queries
    assert json.loads(as_json(make_plan(effectiveness(scores()), interval="none").to_dict()))
    rows = plan.to_dicts()
    assert [(row["measure"], row["target"]) for row in rows] == [("A", 0.9), ("A", 0.8), ("B", 0.9), ("B", 0.8)]
    needed = plan.needed("e_rho2")
    ends = (rows[0]["e_rho2_queries_low"], rows[0]["e_rho2_queries"], rows[0]["e_rho2_queries_high"])
    assert ends == (needed.low, needed.n_queries, needed.high)
    assert rows[0]["share_system"] == aj.gstudy(scores()).fractions()["system"]
    assert as_csv(rows).count("\n") == 5


def test_measures_with_other_queries_or_designs_stand_in_the_same_plan() -> None:
    fewer = scores(1)
    fewer[20:] = np.nan
    plan = make_plan(effectiveness(scores(), fewer))
    assert [decision.study.n_queries for decision in plan.decisions.values()] == [30, 20]
    assert "B: 10 queries without any value left out." in plan.notes
    assert [row["n_queries"] for row in plan.to_dicts()] == [30, 20]
    for form in ("html", "json"):
        assert rendered(plan, form)
    eff = assessed()
    both = np.concatenate([eff.values, eff.values], axis=3)
    both[:, :, 1:, 0] = np.nan
    mixed = aj.model.AssessedEffectiveness(both, eff.queries, eff.systems, eff.assessors, ("A", "B"))
    plan = make_plan(mixed, resamples=100)
    rows = plan.to_dicts()
    assert rows[0]["share_system × assessor"] is None
    assert rows[1]["share_system × assessor"] is not None
    assert as_csv(rows).count("\n") == len(rows) + 1
    assert rendered(plan, "markdown")
    assert rendered(make_plan(mixed, main="B", resamples=100), "markdown")


def test_another_measure_that_cannot_be_studied_is_left_out_and_said_so() -> None:
    plan = make_plan(effectiveness(scores(), np.full((30, 8), 0.5)))
    assert list(plan.decisions) == ["A"]
    assert plan.notes[0].startswith("B is left out. Every system has the same effectiveness, 0.5, on every query")
    with pytest.raises(aj.AdjudgeError, match=r"B: Every system has the same effectiveness, 0\.5, on every query"):
        make_plan(effectiveness(scores(), np.full((30, 8), 0.5)), main="B")
    with pytest.raises(aj.AdjudgeError, match=r"Every system has the same effectiveness, 0\.5, on every query"):
        make_plan(effectiveness(np.full((30, 8), 0.5)))


def test_the_main_measure_leads() -> None:
    plan = make_plan(effectiveness(scores(), scores(1)), main="B")
    assert list(plan.decisions) == ["B", "A"]
    assert plan.study.measure == "B"
    assert plan.growth[-1].e_rho2 == aj.gstudy(scores(1)).dstudy().rows[0].e_rho2


def test_empty_cells_are_among_the_notes_once_for_all_measures_that_have_them() -> None:
    values = scores()
    values[2, 3] = np.nan
    plan = make_plan(effectiveness(values, scores(1), 2 * values))  # a warning would be an error
    assert plan.notes == ("A, C: 1 of 240 cells are empty: variances by restricted maximum likelihood, not by ANOVA.",)
    assert plan.main.interval == "delta"
    assert rendered(plan, "html")


def test_a_measure_that_looks_at_unjudged_documents_comes_with_a_note() -> None:
    judged = np.ones((30, 8, 2))
    judged[:, :, 1] = np.linspace(0.2, 0.6, 8)
    plan = make_plan(replace(effectiveness(scores(), scores(1)), judged=judged))
    assert plan.notes == ("B: 40 % of the documents it looks at are judged.",)


def test_power_is_planned_from_the_mean_over_assessors() -> None:
    eff = assessed()
    plan = make_plan(eff, differences=[0.5], interval="none")
    assert plan.power is not None
    mean = eff.array().mean(axis=2)
    pairs = [np.std(mean[:, a] - mean[:, b], ddof=1) for a in range(8) for b in range(a)]
    assert plan.power.typical == pytest.approx(np.median(pairs))


def test_tables_say_for_how_many_assessors_they_are() -> None:
    plan, alone = make_plan(assessed(), people=[2, 3], interval="none"), make_plan(effectiveness(scores()))
    captions = {name: block.caption for name, block in (tables(plan) | figures(plan)).items()}
    for name in ("variance-components", "reliability-curves", "growth"):
        assert " with 2 assessors per query" in captions[name]
    assert captions["power-plan"].startswith("Queries, each judged as now, with which a paired t test")
    assert not any("assessor" in block.caption for block in tables(alone).values())


def test_bootstrap_intervals_of_crossed_assessors_come_with_a_note() -> None:
    note = "Intervals take these assessors as given: for others, those of Φ may be much wider."
    assert note in make_plan(assessed(), resamples=100).notes
    assert note not in make_plan(assessed(), assessors="nested", resamples=100).notes
    assert note not in make_plan(assessed(), interval="none").notes
    assert note not in make_plan(effectiveness(scores())).notes


def test_the_report_leaves_out_what_cannot_be_told() -> None:
    """Two queries tell something; one query or one system do not, and with all systems equal nothing varies."""
    evidence = gather(effectiveness(scores(n_q=2)), test="t")
    assert "reliability" in [part.name for part in make_report(evidence).sections]
    assert reliability(evidence) is not None
    assert reliability(replace(evidence, eff=evidence.eff.select(queries=["q0"]))) is None
    assert reliability(replace(evidence, eff=evidence.eff.select(systems=["s0"]))) is None
    equal = np.repeat(np.full((6, 1), 0.5), 8, axis=1)
    varied = make_report(gather(effectiveness(equal, scores(n_q=6)), test="t"))
    assert "reliability" not in [part.name for part in varied.sections]
    other = make_report(gather(effectiveness(scores(n_q=6), equal), test="t"))
    assert "reliability" in [part.name for part in other.sections], "another measure does not matter"


def test_the_report_and_the_plan_say_the_same() -> None:
    eff = effectiveness(scores())
    made = make_report(gather(eff, test="t"), sections=["reliability"]).sections[0]
    kept = [block for block in plan_section(make_plan(eff)).blocks if getattr(block, "name", "") != "power-plan"]
    assert [getattr(block, "name", getattr(block, "text", "")) for block in made.blocks] == [
        getattr(block, "name", getattr(block, "text", "")) for block in kept
    ]
    assert [block.rows for block in made.blocks if isinstance(block, TableBlock)] == [
        block.rows for block in kept if isinstance(block, TableBlock)
    ]


def test_the_worst_systems_are_left_out_of_the_whole_plan_and_named() -> None:
    """Systems are ordered by their means: without the worst two there is less variance among them."""
    eff = effectiveness(scores(noise=0.1), scores(1, system=-1.0, noise=0.1))
    plan, alone = make_plan(eff, leave_out_worst=2), make_plan(eff.select(systems=SYSTEMS[2:]))
    assert plan.to_dict()["measures"] == alone.to_dict()["measures"]
    assert plan.power == alone.power
    assert plan.growth == alone.growth
    assert "Left out, as the worst by A: 2 of 8 systems (s0, s1)." in plan.notes
    assert make_plan(eff, leave_out_worst=0.25).needed("e_rho2") == plan.needed("e_rho2")
    assert make_plan(assessed(), leave_out_worst=3).study.n_systems == 5


def test_f_intervals_say_when_systems_are_skewed() -> None:
    values = scores()
    values[:, 7] += 10
    assert "F intervals expect normal ones" in make_plan(effectiveness(values)).notes[0]
    assert make_plan(effectiveness(scores())).notes == ()
