"""Several assessors per pair: against dense algebra, against crowds whose noise is known, and in sessions."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from tests.unit.relevance.test_hierarchical import VARIANCES, from_the_definition, made

import adjudge as aj
from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.relevance import Session, find_candidates, next_steps
from adjudge.relevance.base import Scores, mean_of_pairs, on_new_queries, scoring
from adjudge.relevance.candidates import Answers, Candidates
from adjudge.relevance.choosing import RULES, SECOND
from adjudge.relevance.hierarchical.assessors import Panel
from adjudge.relevance.hierarchical.effects import design
from adjudge.relevance.hierarchical.model import hierarchical, learn_variances
from adjudge.relevance.hierarchical.posterior import Draws, JudgedBlocks, Posterior
from adjudge.relevance.hierarchical.scores import LinearScores, RatioScores

LENIENCY, NOISE = 0.013, {"a": 0.02, "b": 0.05, "c": 0.008}
EFFECTS = np.array(list(VARIANCES.values()))
Given = dict[tuple[int, str], float]


def told(c: Candidates, n: int = 30) -> Given:
    """Answers of one to three assessors about some pairs, in any order; the first ones are of all three."""
    rng = np.random.default_rng(3)
    pairs = rng.choice(len(c), n, replace=False).tolist()
    given = {(pair, str(a)): rng.random() for pair in pairs for a in rng.permutation(list("abc"))[: rng.integers(1, 4)]}
    order = [list(given)[i] for i in rng.permutation(len(given))]
    return {answer: given[answer] for answer in order}


def panel_of(given: Given, noise: dict[str, float] = NOISE) -> Panel:
    answers = Answers.of(given)
    return Panel(answers, LENIENCY, np.array([noise[name] for name in answers.assessors]))


def posterior_of(c: Candidates, given: Given, noise: dict[str, float] = NOISE) -> Posterior:
    panel = panel_of(given, noise)
    relevance = panel.answers.mean(len(c))
    return Posterior(design(c), EFFECTS, ~np.isnan(relevance), relevance, panel)


def dense(c: Candidates, given: Given, noise: dict[str, float] = NOISE) -> tuple[Floats, Floats, Floats]:
    """Mean and covariance of relevance, and mean leniency, with every covariance written down."""
    mean, covariance = from_the_definition(c, VARIANCES)
    pairs, names = zip(*given, strict=True)
    loads = (np.array(names)[:, None] == np.array(sorted(set(names)))).astype(float)
    of_answers = covariance[np.ix_(pairs, pairs)] + LENIENCY * loads @ loads.T + np.diag([noise[a] for a in names])
    gain = np.linalg.solve(of_answers, covariance[list(pairs)]).T
    left = np.array(list(given.values())) - mean[list(pairs)]
    lenient = LENIENCY * loads.T @ np.linalg.solve(of_answers, left)
    return mean + gain @ left, covariance - gain @ covariance[list(pairs)], lenient


@pytest.mark.parametrize("noise", [NOISE, dict.fromkeys("abc", 0.02)])
@pytest.mark.parametrize("together", [0.4, 1.0])
def test_beliefs_are_those_of_dense_algebra_whether_answers_come_together_or_one_by_one(
    noise: dict[str, float], together: float
) -> None:
    c = made()
    given = told(c)
    first = list(given)[: int(together * len(given))]
    posterior = posterior_of(c, {answer: given[answer] for answer in first}, noise)
    for pair, name in list(given)[len(first) :]:
        posterior.update(pair, given[pair, name], "abc".index(name))
    mean, covariance, lenient = dense(c, given, noise)
    np.testing.assert_allclose(posterior.mean, mean, atol=1e-12)
    np.testing.assert_allclose(posterior.variance, np.diagonal(covariance), atol=1e-12)
    np.testing.assert_allclose(posterior.theta[-3:], lenient, atol=1e-12)
    np.testing.assert_allclose(posterior.covariance_with(np.eye(len(c))), covariance, atol=1e-12)
    rows = c.rows(2)
    within = posterior.query_covariance_with(2, np.eye(rows.stop - rows.start))
    np.testing.assert_allclose(within, covariance[rows, rows], atol=1e-12)


def test_the_likelihood_of_variances_is_that_of_dense_algebra_and_its_slopes_are_right() -> None:
    c, given = made(), told(made())
    answers, rows = Answers.of(given), np.unique([pair for pair, _ in given])
    blocks = JudgedBlocks.of(design(c), rows, np.empty(0), answers)
    variances = np.concatenate([EFFECTS, [LENIENCY], list(NOISE.values())])
    value, slope = blocks.objective(variances)
    mean, covariance = from_the_definition(c, VARIANCES)
    pair, who = answers.pair, answers.assessor
    of_answers = covariance[np.ix_(pair, pair)] + LENIENCY * (who[:, None] == who)
    of_answers += np.diag(np.array(list(NOISE.values()))[who])
    log_likelihood = multivariate_normal.logpdf(answers.relevance, mean[pair], of_answers)
    assert value == pytest.approx(-log_likelihood - len(pair) / 2 * np.log(2 * np.pi))
    for i in range(len(variances)):
        step = 1e-5 * np.eye(len(variances))[i]
        numeric = (blocks.objective(variances + step)[0] - blocks.objective(variances - step)[0]) / 2e-5
        assert slope[i] == pytest.approx(numeric, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("measure", ["CG@4", "nDCG@4"])
def test_scores_follow_noisy_answers_as_if_they_had_known_them_from_the_start(measure: str) -> None:
    c = made()
    given, weights = told(c), scoring(measure, c.scale)
    first = dict(list(given.items())[:25])
    make: Any = LinearScores if weights.linear else partial(RatioScores, draws=4000)
    posterior = posterior_of(c, first)
    scores = make(posterior, weights)
    for pair, name in list(given)[25:]:
        scores.learn(posterior.update(pair, given[pair, name], "abc".index(name)))
    again = make(posterior_of(c, given), weights)
    mean, covariance = (1e-12, 1e-12) if weights.linear else (0.01, 5e-4)  # other draws
    np.testing.assert_allclose(scores.mean, again.mean, atol=mean)
    np.testing.assert_allclose(scores.covariance, again.covariance, atol=covariance)
    if weights.linear:
        np.testing.assert_allclose(scores.influence, again.influence, atol=1e-12)
        towards = weights.matrix(c).toarray() / c.n_queries
        np.testing.assert_allclose(scores.covariance, towards.T @ dense(c, given)[1] @ towards, atol=1e-12)


def test_draws_have_the_moments_of_beliefs_after_noisy_answers() -> None:
    c = made()
    given = told(c)
    posterior = posterior_of(c, dict(list(given.items())[:25]))
    draws = Draws(posterior, 40_000, np.random.default_rng(1))
    for pair, name in list(given)[25:]:
        draws.learn(posterior.update(pair, given[pair, name], "abc".index(name)))
    covariance = dense(c, given)[1]
    np.testing.assert_allclose(np.cov(draws.deviations), covariance, atol=0.004)
    np.testing.assert_allclose(draws.noise.var(axis=1), 1.0, atol=0.05)
    values, _ = draws.relevance(slice(None))
    assert values.min() >= 0
    assert values.max() <= 1
    inside = np.abs(posterior.mean - 0.5) < 0.25
    np.testing.assert_allclose(values.mean(axis=1)[inside], posterior.mean[inside], atol=0.02)


# Crowds whose noise is known


def crowd(seed: int, n_queries: int = 40) -> tuple[Candidates, Floats, dict[str, tuple[float, float]]]:
    """Candidates, what assessors say on average, and leniency and noise of six assessors."""
    rng = np.random.default_rng(seed)
    quality = np.linspace(0.2, 0.8, 8)
    latent = rng.normal(size=(n_queries, 30))
    runs = {
        f"s{s}": {
            f"q{q:02d}": [f"d{d:02d}" for d in np.argsort(-(quality[s] * latent[q] + rng.normal(size=30)))[:5]]
            for q in range(n_queries)
        }
        for s in range(8)
    }
    c = find_candidates(aj.read(runs), cutoff=5, scale=aj.model.FINE)
    place = [(int(c.queries[q][1:]), int(d[1:])) for q, d in zip(c.query, c.document, strict=True)]
    truth = 0.5 + 0.12 * np.array([latent[cell] for cell in place]) + 0.08 * rng.normal(size=len(c))
    noise = (0.08, 0.1, 0.1, 0.15, 0.2, 0.3)
    return c, np.clip(truth, 0, 1), {f"a{i}": (float(rng.normal(0, 0.06)), sd) for i, sd in enumerate(noise)}


def answered(
    c: Candidates, truth: Floats, crew: dict[str, tuple[float, float]], share: float, *, each: int, seed: int
) -> Given:
    rng = np.random.default_rng(seed)
    given = {}
    for pair in rng.choice(len(c), int(share * len(c)), replace=False).tolist():
        for name in rng.permutation(list(crew))[:each]:
            lenient, sd = crew[name]
            given[pair, str(name)] = float(np.clip(truth[pair] + lenient + sd * rng.normal(), 0, 1))
    return given


def test_noise_and_leniency_of_each_assessor_are_found() -> None:
    c, truth, crew = crowd(1)
    known = c.with_answers(answered(c, truth, crew, 0.5, each=2, seed=1))
    found = {row.assessor: row for row in Session(known, "CG@5").assessors}
    assert list(found) == list(crew)
    for name, (lenient, sd) in crew.items():
        row = found[name]
        assert row.noise == pytest.approx(100 * sd, rel=0.35)
        assert row.leniency == pytest.approx(100 * lenient, abs=5)
        assert row.leniency_low < row.leniency < row.leniency_high
        assert row.noise_low < row.noise < row.noise_high
    assert found["a0"].reliability > 2 * found["a5"].reliability


def test_intervals_hold_what_assessors_say_on_average_and_those_of_mere_means_do_not() -> None:
    held: dict[str, list[float]] = {"model": [], "mean": []}
    error: dict[str, list[float]] = {"model": [], "mean": []}
    for seed in range(4):
        c, truth, crew = crowd(seed, n_queries=25)
        known = c.with_answers(answered(c, truth, crew, 1.0, each=2, seed=seed))
        scores = scoring("CG@5", c.scale).matrix(c).T @ truth / c.n_queries
        for how, candidates in (("model", known), ("mean", replace(known, answers=None))):
            view = Session(candidates, "CG@5").view
            sd = np.sqrt(np.diagonal(view.scores.covariance) * view.model.inflation)
            held[how].append(float(np.mean(np.abs(view.scores.mean - scores) <= 1.96 * sd)))
            error[how].append(float(np.mean((view.scores.mean - scores) ** 2)))
    assert np.mean(held["model"]) > 0.85
    assert np.mean(held["mean"]) == 0.0  # everything is judged, so it claims to know everything
    assert np.mean(error["model"]) < np.mean(error["mean"])


def test_on_new_queries_assessors_noise_adds_to_doubt() -> None:
    c, truth, crew = crowd(2)
    known = c.with_answers(answered(c, truth, crew, 1.0, each=2, seed=2))
    view = Session(known, "CG@5").view
    assert view.elsewhere is not None
    assert view.sampling is not None
    without = on_new_queries(Scores(view.scores.mean, np.zeros_like(view.scores.covariance)), view.sampling)
    assert np.trace(view.elsewhere.covariance) > np.trace(without.covariance)


# Candidates


def read(grades: list[tuple[str, str, float, str]], **settings: Any) -> aj.Collection:
    import polars as pl

    runs = {"s": {"q": ["x", "y"]}, "t": {"q": ["y", "z"]}}
    table = pl.DataFrame(grades, schema=["query", "document", "grade", "assessor"], orient="row")
    return aj.read(runs, table, scale="fine", **settings)


ROWS = [("q", "y", 40.0, "bo"), ("q", "x", 80.0, "al"), ("q", "y", 60.0, "al")]


def test_candidates_know_who_said_what_beside_the_mean() -> None:
    c = find_candidates(read(ROWS), cutoff=2)
    assert c.answers is not None
    assert c.answers.assessors == ("al", "bo")
    assert [c.document[pair] for pair in c.answers.pair] == ["x", "y", "y"]
    assert c.answers.assessor.tolist() == [0, 0, 1]
    assert c.answers.relevance.tolist() == [0.8, 0.6, 0.4]
    np.testing.assert_allclose(c.relevance, [0.8, 0.5, np.nan])


def test_parts_of_candidates_keep_their_answers_and_other_relevance_drops_them() -> None:
    c = find_candidates(read(ROWS), cutoff=2)
    part = c.part(queries=[0], systems=[1])
    assert part.answers is not None
    assert part.answers.relevance.tolist() == [0.6, 0.4]
    assert [part.document[pair] for pair in part.answers.pair] == ["y", "y"]
    assert c.unjudged().answers is None
    assert replace(c, relevance=np.array([0.8, 0.6, np.nan])).answers is None


def test_who_combines_assessors_otherwise_says_what_the_truth_is() -> None:
    c = find_candidates(read(ROWS).combined("max"), cutoff=2)
    assert c.answers is None
    np.testing.assert_allclose(c.relevance, [0.8, 0.6, np.nan])


# Sessions


@pytest.fixture
def pool() -> Candidates:
    return crowd(5, n_queries=10)[0]


def test_one_judgment_per_pair_is_exact_whoever_made_it(pool: Candidates) -> None:
    named, nameless = Session(pool, "CG@5"), Session(pool, "CG@5")
    for i in range(25):
        query, document = named.next()[0]
        named.judge(query, document, 7 * i % 100, "ab"[i % 2])
        nameless.judge(query, document, 7 * i % 100)
    np.testing.assert_array_equal(named.view.scores.mean, nameless.view.scores.mean)
    np.testing.assert_array_equal(named.view.scores.covariance, nameless.view.scores.covariance)
    assert len(named.assessors) == 0
    assert (named.model.variance[named.model.judged] == 0).all()


@pytest.mark.parametrize("measure", ["CG@5", "nDCG@5"])
def test_sessions_with_several_assessors_resume_to_the_last_bit(pool: Candidates, measure: str, tmp_path: Path) -> None:
    session = judged_by_two(pool, measure)
    session.save(tmp_path / "state.json")
    again = Session.load(tmp_path / "state.json", pool)
    np.testing.assert_array_equal(session.view.scores.mean, again.view.scores.mean)
    np.testing.assert_array_equal(session.view.scores.covariance, again.view.scores.covariance)
    assert session.next(3) == again.next(3)
    assert again.judgments == session.judgments
    assert again.per_pair == 2


def judged_by_two(pool: Candidates, measure: str = "CG@5") -> Session:
    session = Session(pool, measure, per_pair=2)
    rng = np.random.default_rng(0)
    for _ in range(33):
        query, document = session.next()[0]
        place = pool.find(query, document)
        name = "b" if (place, "a") in session.model.answers else "a"
        session.judge(query, document, float(rng.integers(101)), name)
    return session


def test_every_tenth_judgment_is_a_second_opinion_so_that_noise_is_learned(pool: Candidates) -> None:
    session = judged_by_two(pool)
    assert session.view.n_answers == 33
    assert session.view.n_judged == 30
    second = [pair for pair, name in session.model.answers if name == "b"]
    assert all((pair, "a") in session.model.answers for pair in second)
    assert {row.assessor: row.n_judged for row in session.assessors} == {"a": 30, "b": 3}


def test_a_session_ends_when_every_pair_has_all_its_assessors() -> None:
    c = find_candidates(aj.read({"s": {"q": ["x"]}, "t": {"q": ["y"]}}), cutoff=1, scale=aj.model.FINE)
    session = Session(c, "CG@1", per_pair=2, goal=aj.relevance.Goal(level=0.999999))
    for name in ("a", "b"):
        for document, grade in (("x", 51), ("y", 50)):
            assert not session.done
            session.judge("q", document, grade, name)
    assert session.done
    assert session.next() == []
    assert session.status().reason.startswith("everything is judged; the goal is not reached: ")


@pytest.mark.parametrize("rule", sorted(set(RULES) - set(SECOND)))
def test_rules_that_ask_for_no_second_opinions_refuse_several_per_document(pool: Candidates, rule: str) -> None:
    with pytest.raises(AdjudgeError, match=f"The rule '{rule}' asks for no second opinions; with 'per_pair' use infor"):
        Session(pool, "CG@5", rule=rule, per_pair=2)


@pytest.mark.parametrize("estimator", ["hierarchical", "uniform"])
def test_another_assessor_may_judge_the_same_and_the_same_one_may_not(pool: Candidates, estimator: str) -> None:
    session = Session(pool, "CG@5", estimator=estimator)
    query, document = session.next()[0]
    session.judge(query, document, 40, "al")
    with pytest.raises(AdjudgeError, match=r"judged already by 'al'; correct it instead"):
        session.judge(query, document, 60, "al")
    session.judge(query, document, 60, "bo")
    place = pool.find(query, document)
    if estimator == "uniform":
        assert session.model.mean[place] == pytest.approx(0.5)
        assert session.model.variance[place] == 0
    else:
        assert session.model.variance[place] > 0
    session.correct(query, document, 80, "bo")
    assert session.judgments[-1] == (query, document, 80.0, "bo")
    with pytest.raises(AdjudgeError, match=r"not judged in this session by 'cy'"):
        session.correct(query, document, 80, "cy")
    assert session.undo() == (query, document)
    assert session.judgments == [(query, document, 40.0, "al")]
    assert session.model.variance[place] == 0


def test_states_of_version_1_0_are_resumed(pool: Candidates, tmp_path: Path) -> None:
    session = Session(pool, "CG@5", estimator="uniform")
    session.judge(*session.next()[0], 40)
    state = session.to_dict()
    del state["per_pair"]
    (tmp_path / "state.json").write_text(json.dumps(state))
    assert Session.load(tmp_path / "state.json", pool).judgments == session.judgments


def test_assessors_who_disagree_make_a_binary_document_relevant_to_some_degree() -> None:
    runs = {"s": {f"q{q}": ["x", "y"] for q in range(4)}, "t": {f"q{q}": ["y", "z"] for q in range(4)}}
    c = find_candidates(aj.read(runs), cutoff=2, scale=aj.model.BINARY)
    session = Session(c, "P@2")
    session.judge("q0", "x", 1, "al")
    session.judge("q0", "x", 0, "bo")
    place = c.find("q0", "x")
    assert 0 < session.model.mean[place] < 1
    assert session.model.step == 0 < Session(c, "P@2").model.step
    assert session.model.variance[place] > 0
    published = Session(c, "P@2", estimator="uniform")
    published.judge("q0", "x", 1, "al")
    with pytest.raises(AdjudgeError, match=r"expected grades of 0 and 1, got 0\.5"):
        published.judge("q0", "x", 0, "bo")


def test_noise_of_a_collection_can_be_learned_for_another_one() -> None:
    c, truth, crew = crowd(6, n_queries=20)
    learned = learn_variances(c.with_answers(answered(c, truth, crew, 0.7, each=2, seed=6)))
    assert np.sqrt(learned["noise"]) == pytest.approx(
        np.exp(np.mean([np.log(sd) for _, sd in crew.values()])), rel=0.25
    )
    session = Session(c, "CG@5", per_pair=2, options={"prior_variances": learned})
    assert session.model.variances["noise"] == learned["noise"]  # type: ignore[attr-defined]
    once = learn_variances(c.with_answers(answered(c, truth, crew, 0.7, each=1, seed=6)))
    assert "noise" not in once


def test_given_variances_of_assessors_stay() -> None:
    c, truth, crew = crowd(3, n_queries=10)
    known = c.with_answers(answered(c, truth, crew, 0.5, each=2, seed=3))
    fixed = {**VARIANCES, "assessor": 0.002, "noise": 0.03}
    model = hierarchical(known, scoring("CG@5", c.scale), variances=fixed)
    model.judge_all()
    found = model.variances  # type: ignore[attr-defined]
    assert (found["assessor"], found["noise"], found["query"]) == (0.002, 0.03, VARIANCES["query"])
    with pytest.raises(AdjudgeError, match="expected a variance above 0 for 'noise'"):
        hierarchical(known, scoring("CG@5", c.scale), variances={"noise": 0.0})


# What to pay for


def test_a_second_opinion_is_worth_most_where_little_else_is_left_to_judge() -> None:
    c, truth, crew = crowd(4, n_queries=12)
    some, whole = (
        next_steps(Session(c.with_answers(answered(c, truth, crew, share, each=1, seed=4)), "CG@5", per_pair=2))
        for share in (0.2, 1.0)
    )
    assert some[0].here is not None
    assert whole[0].here is not None
    steps = {step.step.split(maxsplit=1)[1]: step.here or 0.0 for step in some[1:]}
    assert list(steps) == ["more judgments", "second opinions", "more queries"]
    assert steps["more judgments"] > steps["second opinions"] > some[0].here
    assert [step.step.split(maxsplit=1)[1] for step in whole[1:]] == ["second opinions", "more queries"]
    assert (whole[1].here or 0.0) > whole[0].here


def test_where_judgments_are_exact_no_second_opinion_is_for_sale(pool: Candidates) -> None:
    session = Session(pool, "CG@5")
    for query, document in session.next(10):
        session.judge(query, document, 50, "a")
    assert not any("opinion" in step.step for step in next_steps(session))


def test_estimators_that_weigh_no_assessors_refuse_several_per_document(pool: Candidates) -> None:
    with pytest.raises(AdjudgeError, match="uniform: 'per_pair' must be 1, as it weighs no assessors, got 2"):
        Session(pool, "CG@5", estimator="uniform", per_pair=2)


def test_what_nothing_buys_is_what_the_session_says_now() -> None:
    runs = {"a": {"q": ["x", "y"]}, "b": {"q": ["y", "z"]}, "c": {"q": ["w", "x"]}}
    session = Session(
        find_candidates(aj.read(runs), cutoff=2, scale=aj.model.BINARY), "P@2"
    )  # its scores come in steps
    session.judge("q", "x", 1)
    assert next_steps(session)[0].here == pytest.approx(mean_of_pairs(session.view.sign), abs=1e-12)
