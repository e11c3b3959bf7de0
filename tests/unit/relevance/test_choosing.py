"""Rules against their definitions, one pair of systems at a time; goals; confidence."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy import stats

import adjudge as aj
from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.model.scales import FINE
from adjudge.relevance.base import (
    RelevanceModel,
    Scores,
    View,
    confidence,
    mean_of_pairs,
    on_new_queries,
    scoring,
    variance_of_systems,
    within,
)
from adjudge.relevance.candidates import candidates
from adjudge.relevance.choosing import GOALS, RULES, Goal, choose, noticeable_zone
from adjudge.relevance.estimators import IndependentModel
from adjudge.relevance.session import Session
from adjudge.relevance.worth import expected_confidence, next_steps
from adjudge.users.comparison import compare

MEASURES = ("CG@5", "DCG@5", "RBP@5", "nDCG@5", "RBP(ideal=judged)@5")
Make = Callable[..., aj.Collection]


def believing(make: Make, measure: str, seed: int = 1) -> IndependentModel:
    """A model of any beliefs, with a few judgments; systems differ, so that some pairs are sure and some are not."""
    pool = candidates(make(seed, scale="0..3", n_queries=6, n_systems=4), cutoff=5).unjudged()
    rng = np.random.default_rng(seed)
    level = np.zeros(len(pool))
    np.maximum.at(level, pool.entry_pair, 0.12 * pool.entry_system.astype(np.float64))
    mean = np.clip(0.3 + level + 0.1 * rng.random(len(pool)), 0, 1)
    model = IndependentModel(pool, scoring(measure, pool.scale), lambda relevance: (mean, 0.3 * mean * (1 - mean)))
    for pair in rng.permutation(len(pool))[:9]:
        model.judge(int(pair), float(rng.random()))
    return model


def variance_of_difference(model: RelevanceModel, a: int, b: int) -> float:
    s = model.scores().covariance
    return float(s[a, a] + s[b, b] - 2 * s[a, b])


def doubts(model: RelevanceModel) -> dict[tuple[int, int], float]:
    """P(the less likely sign) of each pair of systems, by the error function."""
    found = {}
    for a, b in combinations(range(model.candidates.n_systems), 2):
        variance, mean = variance_of_difference(model, a, b), model.scores().mean
        z = abs(float(mean[a] - mean[b])) / math.sqrt(variance) if variance > 1e-18 else math.inf
        found[a, b] = 0.5 * (1 - math.erf(z / math.sqrt(2)))
    return found


Weight = Callable[[int, int], float]


def information(model: RelevanceModel, weight: Weight = lambda a, b: 1.0) -> list[float]:
    k, v = model.influence(), model.variance
    return [
        sum(
            weight(a, b) * doubt * (k[i, a] - k[i, b]) ** 2 / v[i] / variance_of_difference(model, a, b)
            for (a, b), doubt in doubts(model).items()
        )
        if v[i] > 0
        else 0.0
        for i in range(len(v))
    ]


def variance(model: RelevanceModel) -> list[float]:
    k, v = model.influence(), model.variance
    return [sum(k[i] ** 2) / v[i] if v[i] > 0 else 0.0 for i in range(len(v))]


def one_of(chances: Floats) -> Weight:
    """P(exactly one of two systems), as if they were independent."""
    return lambda a, b: float(chances[a] * (1 - chances[b]) + chances[b] * (1 - chances[a]))


def by_rank(model: RelevanceModel) -> list[float]:
    rank = stats.rankdata(-model.scores().mean)
    return information(model, lambda a, b: 1 / (max(rank[a], rank[b]) - 1))


def mixed(model: RelevanceModel) -> list[float]:
    order, scores = np.array(information(model)), np.array(variance(model))
    return list(order / order.max() + scores / scores.max())


def equation_6_of_admire(model: RelevanceModel) -> list[float]:
    assert {doubt < 0.05 for doubt in doubts(model).values()} == {True, False}  # some pairs count, some do not
    counted = {pair: doubt for pair, doubt in doubts(model).items() if doubt > 0.05}
    weights = model.scoring.matrix(model.candidates).toarray()
    return [sum(doubt * (w[a] - w[b]) ** 2 for (a, b), doubt in counted.items()) for w in weights]


def section_8_3(model: RelevanceModel) -> list[float]:
    c, found = model.candidates, []
    for i, w in enumerate(model.scoring.matrix(c).toarray()):
        best = sorted(model.mean[c.query == c.query[i]], reverse=True)
        ideal = sum(r * weight for r, weight in zip(best, model.scoring.weights, strict=False))
        affected = sum(abs(w[a] - w[b]) for a, b in combinations(range(c.n_systems), 2))
        found.append(affected if model.scoring.linear else affected / ideal)
    return found


def section_8_4(model: RelevanceModel) -> list[float]:
    own = np.diagonal(model.scores().covariance)
    return [own[w > 0].sum() for w in model.scoring.matrix(model.candidates).toarray()]


BY_DEFINITION: dict[str, Callable[[RelevanceModel], list[float]]] = {
    "information": information,
    "variance": variance,
    "winner": lambda model: information(model, one_of(View(model).chances[0])),
    "top": lambda model: information(model, one_of(View(model).chances[1])),
    "ranks": by_rank,
    "mixed": mixed,
    "confidence": equation_6_of_admire,
    "pairs": section_8_3,
    "spread": section_8_4,
    "random": lambda model: [0.0] * len(model.candidates),
}


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("rule", RULES)
def test_rules_follow_their_definitions(make_collection: Make, rule: str, measure: str) -> None:
    model = believing(make_collection, measure)
    utility = RULES[rule](model)(View(model))
    np.testing.assert_allclose(utility, BY_DEFINITION[rule](model), rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("measure", ["CG@5", "DCG@5", "RBP@5"])
def test_a_judgment_removes_the_variance_that_information_counts(make_collection: Make, measure: str) -> None:
    """Linear measures: s² before less s² after is (k_a - k_b)² / v, whatever the grade."""
    model, again = believing(make_collection, measure), believing(make_collection, measure)
    i = int(np.argmax(information(model)))
    again.judge(i, 1.0)
    k = model.influence()[i]
    for a, b in combinations(range(model.candidates.n_systems), 2):
        removed = variance_of_difference(model, a, b) - variance_of_difference(again, a, b)
        assert removed == pytest.approx((k[a] - k[b]) ** 2 / model.variance[i], rel=1e-6, abs=1e-12)


def test_documents_of_all_systems_at_one_rank_tell_nothing_of_differences() -> None:
    runs = {s: {"q": ["both", s]} for s in "ab"}
    pool = candidates(aj.read(runs), cutoff=2, scale=FINE)
    for rule in ("information", "confidence", "pairs"):
        session = Session(pool, "DCG@2", estimator="uniform", rule=rule)
        assert session.next(3)[2] == ("q", "both")


# Choosing among equals


def some_view(n_queries: int = 4, depth: int = 3) -> View:
    runs = {"a": {f"q{q}": [f"d{i}" for i in range(depth)] for q in range(n_queries)}}
    pool = candidates(aj.read(runs), cutoff=depth, scale=FINE)
    return View(Session(pool, f"CG@{depth}", estimator="uniform").model)


def test_the_most_telling_comes_first_and_equals_by_priority() -> None:
    view = some_view()
    utility = np.array([1.0, 3, 2, 0, 3, 0, 0, 0, 3, 0, 0, 0])
    assert choose(utility, view, np.arange(12.0)[::-1], 1) == [8]
    assert choose(utility, view, np.arange(12.0), 1) == [1]


@pytest.mark.parametrize("size", [1e-9, 1.0, 3.3, 1e12])
def test_what_rounding_makes_different_is_equal(size: float) -> None:
    """Three values around the highest, two around its third, each a few units in the last place apart."""
    view = some_view()
    third = size / 3
    less, more = 1 - 3e-16, 1 + 3e-16
    utility = np.array([size, size * less, size * more, 0, third, third * more, 0, 0, third * less, 0, 0, 0])
    rng = np.random.default_rng(1)
    firsts, seconds = set(), set()
    for _ in range(100):
        priority = rng.permutation(12).astype(np.float64)
        assert choose(utility, view, priority, 1) == choose(utility, view, priority, 4)[:1]
        first, second, *_ = choose(utility, view, priority, 4)  # one of each query
        firsts.add(first)
        seconds.add(second)
    assert firsts == {0, 1, 2}
    assert seconds == {4, 5, 8}


def test_a_second_document_of_a_query_waits_for_the_other_queries() -> None:
    view = some_view()
    utility = np.arange(12.0)[::-1].copy()  # all of the first query before all of the second
    assert choose(utility, view, np.arange(12.0), 6) == [0, 3, 6, 9, 1, 4]


def test_judged_and_excluded_documents_are_not_chosen() -> None:
    view = some_view()
    view.model.judge(0, 0.5)
    utility = np.ones(12)
    utility[[1, 2]] = np.nan
    assert sorted(choose(utility, view, np.arange(12.0), 99)) == list(range(3, 12))


def test_documents_in_other_hands_are_not_named_again() -> None:
    session = Session(some_view().model.candidates, "CG@3", estimator="uniform")
    mine = session.next(5)
    theirs = session.next(5, exclude=mine)
    assert not set(mine) & set(theirs)
    everything = {session.pair(i) for i in range(12)}
    assert session.next(1, exclude=everything) == []
    with pytest.raises(AdjudgeError, match="is no candidate"):
        session.next(1, exclude=[("q0", "nowhere")])


RUNS = {
    "a": {f"q{q}": ["w", "x", "y"] for q in range(4)},
    "b": {f"q{q}": ["x", "y", "z"] for q in range(4)},
    "c": {f"q{q}": ["v", "u", "z"] for q in range(4)},
}


def started(estimator: str = "uniform", measure: str = "CG@3", **settings: Any) -> Session:
    session = Session(candidates(aj.read(RUNS), cutoff=3, scale=FINE), measure, estimator=estimator, **settings)
    for query, document, grade in [("q0", "w", 90), ("q1", "z", 10), ("q2", "v", 0)]:
        session.judge(query, document, grade)
    return session


def sure_pairs(model: RelevanceModel, zone: float) -> list[float]:
    """Each pair of systems: P(right sign), or P(within the zone) where that is likelier."""
    law, scores, found = stats.norm if model.confidence_df is None else stats.t(model.confidence_df), model.scores(), []
    for a, b in combinations(range(3), 2):
        sd, mean = np.sqrt(variance_of_difference(model, a, b)), scores.mean[a] - scores.mean[b]
        sign = law.cdf(abs(mean) / sd)
        found.append(float(max(sign, law.cdf((zone - mean) / sd) - law.cdf((-zone - mean) / sd) if zone else 0.0)))
    return found


def promises(model: RelevanceModel, zone: float) -> dict[tuple[int, int], float]:
    """Each pair of systems: P(the order is not wrong by more than the zone)."""
    law = stats.norm if model.confidence_df is None else stats.t(model.confidence_df)
    mean, pairs = model.scores().mean, combinations(range(3), 2)
    return {
        (a, b): float(law.cdf((abs(mean[a] - mean[b]) + zone) / np.sqrt(variance_of_difference(model, a, b))))
        for a, b in pairs
    }


def order_statistics(model: RelevanceModel, zone: float) -> tuple[float, float]:
    """P(the first is the best) and P(the first two are), but for the zone, by draws of SciPy's."""
    scores, n = model.scores(), 200_000
    law = (
        stats.multivariate_normal(scores.mean, scores.covariance, allow_singular=True, seed=1)
        if model.confidence_df is None
        else stats.multivariate_t(scores.mean, scores.covariance, model.confidence_df, allow_singular=True, seed=1)
    )
    drawn = law.rvs(n)[:, np.argsort(-scores.mean)]
    best = (drawn[:, 1:].max(axis=1) - drawn[:, 0] <= zone).mean()
    return float(best), float((drawn[:, 2] - drawn[:, :2].min(axis=1) <= zone).mean())


@pytest.mark.parametrize("estimator", ["uniform", "prior"])
@pytest.mark.parametrize("zone", [0.0, 0.01, 0.3])
def test_values_are_what_they_are_called(estimator: str, zone: float) -> None:
    session = started(estimator)
    sure = sure_pairs(session.model, zone)
    own = np.diagonal(session.model.scores().covariance)
    df = session.model.confidence_df
    quantile = stats.norm.ppf(0.975) if df is None else stats.t.ppf(0.975, df)
    kept, best, first = promises(session.model, zone), *order_statistics(session.model, zone)
    expected = {
        "order": np.mean(list(kept.values())),
        "every": min(kept.values()),
        "winner": pytest.approx(best, abs=0.02),
        "top": pytest.approx(first, abs=0.02),
        "tau_ap": 2 * np.mean([sure[0], (sure[1] + sure[2]) / 2]) - 1,  # a, b and c are in this order
        "scores": quantile * np.sqrt(np.max(own)),
        "confidence": np.mean(sure),
        "tau": np.mean([2 * c - 1 for c in sure]),
        "pairs": min(sure),
        "error": quantile * np.sqrt(np.mean(own)),
    }
    assert set(expected) == set(GOALS)
    for kind, value in expected.items():
        found = started(estimator, goal=Goal(kind, zone=zone, top=2)).status().value
        assert found == (value if kind in ("winner", "top") else pytest.approx(value))


def test_a_zone_helps_systems_that_are_near_and_no_others() -> None:
    scores = Scores(np.array([0.5, 0.5005, 0.2]), np.diag([1e-6, 1e-6, 1e-6]))
    plain, zoned = confidence(scores), confidence(scores, zone=0.01)
    assert plain[0, 1] < 0.7
    assert zoned[0, 1] > 0.999
    assert zoned[0, 2] == plain[0, 2] > 0.999
    np.testing.assert_allclose(within(scores, 0.01)[0], [1, 1, 0], atol=1e-9)


def test_what_is_certain_is_within_the_zone_or_not() -> None:
    scores = Scores(np.array([0.5, 0.45, 0.5]), np.zeros((3, 3)))
    assert within(scores, 0.01).tolist() == [[1, 0, 1], [0, 1, 0], [1, 0, 1]]
    assert within(scores, 0.0).tolist() == [[1, 0, 1], [0, 1, 0], [1, 0, 1]]
    assert within(scores, 0.06).min() == 1


def test_judging_goes_on_until_one_judgment_a_query_whatever_the_model_says() -> None:
    session = started(goal=Goal(level=0.01))
    assert session.goal.met(session.view)
    assert session.goal.lacking(session.view) == 1
    assert not session.done
    assert "1 more judgment is wanted before" in session.status().reason
    session.judge("q3", "w", 50)
    assert session.done
    assert session.status().reason.startswith(
        "the goal is reached: mean probability that the order of two systems is right ≥ 0.01"
    )
    assert started(goal=Goal(level=0.01, least=3)).done
    assert not started(goal=Goal(level=0.01, least=1000)).done


def test_error_is_corrected_for_models_that_claim_too_little() -> None:
    plain, corrected = started(goal=Goal("error")), started(goal=Goal("error", correction=2.5))
    assert corrected.status().value == pytest.approx(2.5 * plain.status().value)
    assert started(goal=Goal(correction=2.5)).status().value == started().status().value


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kind": "speed"}, r"No goal is called 'speed'. Known: confidence, error, every, order"),
        ({"level": 95}, r"'level' must be in \(0, 1\), got 95"),
        ({"kind": "error", "level": -0.1}, r"must be a finite number above 0, got -0.1"),
    ],
)
def test_goals_that_make_no_sense_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(AdjudgeError, match=message):
        Goal(**settings)


def test_goals_say_what_they_want() -> None:
    assert str(Goal("confidence", zone=0)) == "mean confidence over all pairs of systems ≥ 0.95"
    assert str(Goal("top", top=5, zone=0)) == "probability that the first 5 systems are the best ones ≥ 0.95"
    assert str(Goal("top", top=1, zone=0)) == "probability that the first system is the best ≥ 0.95"
    assert str(Goal("tau", 0.8, zone=0.02)) == (
        "expected Kendall correlation with the truth ≥ 0.8 (differences below 0.02 do not matter)"
    )
    assert str(Goal("error")) == "half-width of the 95 % interval of a typical score ≤ 0.05"


def test_what_users_notice_is_known_where_they_were_asked() -> None:
    zone = noticeable_zone("CG@5", FINE)
    assert zone == pytest.approx(compare(aj.evaluate(aj.demo(queries=20), ["CG@5"])).margin)
    with pytest.raises(AdjudgeError, match="What users notice is not known: no agreement mapping for RBP@5 on fine"):
        noticeable_zone("RBP@5", FINE)


@pytest.fixture
def scores() -> Scores:
    rng = np.random.default_rng(1)
    root = rng.normal(size=(6, 6))
    return Scores(rng.random(6), root @ root.T / 100)


@pytest.mark.parametrize("df", [None, 1, 99])
def test_confidence_is_the_probability_of_the_likelier_sign(scores: Scores, df: int | None) -> None:
    sure = confidence(scores, df, inflation=1.25)
    for a, b in zip(*np.triu_indices(6, 1), strict=True):
        variance = scores.covariance[a, a] + scores.covariance[b, b] - 2 * scores.covariance[a, b]
        z = (scores.mean[a] - scores.mean[b]) / np.sqrt(1.25 * variance)
        below = stats.norm.cdf(z) if df is None else stats.t.cdf(z, df)
        assert sure[a, b] == pytest.approx(max(below, 1 - below))
    np.testing.assert_array_equal(sure, sure.T)
    assert (np.diagonal(sure) == 1).all()


@pytest.mark.parametrize(
    ("mean", "covariance", "expected"),
    [
        ([0.5, 0.5, 0.2], np.zeros((3, 3)), np.ones((3, 3))),  # known for certain
        ([0.5, 0.5], np.eye(2), [[1, 0.5], [0.5, 1]]),  # a tie that varies
        ([0.5, 0.5 + 1e-16], np.full((2, 2), 0.01) + np.diag([1e-17, 0]), np.ones((2, 2))),  # rounding
    ],
)
def test_what_is_certain_has_confidence_1_and_a_tie_that_varies_one_half(
    mean: list[float], covariance: Floats, expected: Floats
) -> None:
    np.testing.assert_array_equal(confidence(Scores(np.array(mean), covariance)), expected)


def test_the_winner_of_two_is_claimed_as_their_difference_is() -> None:
    runs = {name: RUNS[name] for name in "ab"}
    session = Session(candidates(aj.read(runs), cutoff=3, scale=FINE), "CG@3", estimator="uniform")
    session.judge("q0", "w", 90)
    mean, variance = session.view.scores.differences()
    assert session.view.chances[0][0] == pytest.approx(stats.norm.cdf(mean[0, 1] / np.sqrt(variance[0, 1])), abs=0.02)
    assert session.view.chances[0].sum() == pytest.approx(1)


def test_with_everything_judged_new_queries_are_a_paired_t_test_and_a_g_study(make_collection: Make) -> None:
    """√Eρ² times Student's t with n - 1 degrees of freedom: t is SciPy's, Eρ² that of :func:`adjudge.gstudy`."""
    complete = Session(
        aj.relevance.find_candidates(aj.demo(queries=12, depth=5), cutoff=5), "CG@5", estimator="uniform"
    )
    view, by_query = complete.view, complete.model.query_scores()[0]
    e_rho2 = aj.gstudy(by_query).dstudy(queries=12).rows[0].e_rho2
    assert 0.5 < e_rho2 < 0.99
    assert view.sign_elsewhere is not None
    for a, b in combinations(range(12), 2):
        t = abs(stats.ttest_rel(by_query[:, a], by_query[:, b]).statistic)
        assert view.sign_elsewhere[a, b] == pytest.approx(stats.t.cdf(np.sqrt(e_rho2) * t, 11))


def test_further_queries_keep_as_much_of_differences_as_in_a_d_study() -> None:
    """Eρ² for n, 2n and 4n queries is that of :func:`adjudge.gstudy`, and what it leaves open shrinks."""
    complete = Session(
        aj.relevance.find_candidates(aj.demo(queries=12, depth=5), cutoff=5), "CG@5", estimator="uniform"
    )
    view, study = complete.view, aj.gstudy(complete.model.query_scores()[0])
    assert view.sampling is not None
    tau2 = variance_of_systems(view.scores, view.sampling)
    for more in (1, 2, 4):
        new = on_new_queries(view.scores, view.sampling / more, tau2)
        kept = np.ptp(new.mean) / np.ptp(view.scores.mean)
        assert kept == pytest.approx(study.dstudy(queries=12 * more).rows[0].e_rho2)


def test_what_is_expected_of_more_judgments_is_what_they_bring() -> None:
    """On these queries on average over parts, with half of the rest judged; on new ones never more than all bring."""
    known = candidates(aj.demo(queries=40, depth=5), cutoff=5).without_metadata().retrieved()
    known = replace(known, relevance=np.nan_to_num(known.relevance), answers=None)
    found = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        systems = rng.choice(12, 6, replace=False).tolist()
        part = known.part(queries=rng.choice(40, 10, replace=False).tolist(), systems=systems)
        session, n = Session(part.unjudged(), "CG@5", seed=seed), len(part) // 2
        for _ in range(len(part) // 10):
            ((query, document),) = session.next()
            session.judge(query, document, float(part.relevance[part.find(query, document)]) * 100)
        view, (nothing, judged, *_) = session.view, next_steps(session, budget=n)
        assert view.sampling is not None
        assert view.elsewhere is not None
        tau2, nothing_open = (
            variance_of_systems(view.scores, view.sampling),
            replace(view.scores, covariance=0 * view.sampling),
        )
        most = expected_confidence(view.elsewhere, on_new_queries(nothing_open, view.sampling, tau2), 9)
        assert (nothing.new or 0) < (judged.new or 0) < most
        for query, document in session.next(n):
            session.judge(query, document, float(part.relevance[part.find(query, document)]) * 100)
        found.append([nothing.here, judged.here, mean_of_pairs(session.view.sign)])
    before, said, so = np.array(found, dtype=np.float64).mean(axis=0)
    assert abs(said - so) < 0.03
    assert before < said - 0.05


def test_differences_that_the_sample_of_queries_explains_say_nothing_of_new_ones(make_collection: Make) -> None:
    pool = candidates(make_collection(3, scale="0..3", n_queries=9, n_systems=4), cutoff=5)
    model = Session(pool, "CG@5", estimator="uniform").model
    for pair in np.flatnonzero(~model.judged):
        model.judge(int(pair), 0.0)
    new = View(model).sign_elsewhere
    assert new is not None
    assert (new[~np.eye(4, dtype=bool)] < 0.65).all()


def test_a_single_query_says_nothing_of_others() -> None:
    assert some_view(n_queries=1).sign_elsewhere is None
