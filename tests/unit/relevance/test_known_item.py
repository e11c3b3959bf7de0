"""One relevant document per query: the law by hand, what judgments leave of it, and sessions on such collections."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import adjudge as aj
from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.model.scales import BROAD
from adjudge.relevance.base import scoring, start
from adjudge.relevance.candidates import Candidates, candidates
from adjudge.relevance.choosing import Goal
from adjudge.relevance.known_item import KnownItemModel, known_item
from adjudge.relevance.session import Session
from adjudge.relevance.worth import next_steps

MEASURES = ("RR@5", "nDCG@5", "AP@5", "RBP@5", "P@5", "ERR(ideal=judged)@5")


def made(seed: int = 0, n_queries: int = 12) -> Candidates:
    """One document of each query is relevant, most of them retrieved, and systems differ in how high they rank it."""
    rng = np.random.default_rng(seed)
    runs: dict[str, dict[str, list[str]]] = {f"s{s}": {} for s in range(5)}
    for q in range(n_queries):
        shared = rng.normal(size=30)
        for s in range(5):
            score = shared + rng.normal(size=30) + (np.arange(30) == q) * (0.5 + 0.6 * s)
            runs[f"s{s}"][f"q{q:02d}"] = [f"d{d:02d}" for d in np.argsort(-score)[:5]]
    judged = {f"q{q:02d}": {f"d{d:02d}": float(d == q) for d in range(30)} for q in range(n_queries)}
    return candidates(aj.read(runs, judged, scale="binary"), cutoff=5).retrieved()


def started(c: Candidates, measure: str = "RR@5") -> KnownItemModel:
    model = known_item(c.unjudged(), scoring(measure, c.scale))
    assert isinstance(model, KnownItemModel)
    return model


@pytest.mark.parametrize("measure", MEASURES)
def test_a_query_has_as_many_outcomes_as_documents_and_one_more(
    measure: str, evaluate_quietly: Callable[..., aj.Effectiveness]
) -> None:
    """Scores of each outcome, weighted by its probability; a relevant document alone makes effectiveness."""
    c = made(n_queries=3)
    model = started(c, measure)
    mean, variance, _ = model.query_scores()
    for q in range(c.n_queries):
        rows = c.rows(q)
        total, square = np.zeros(c.n_systems), np.zeros(c.n_systems)
        for pair in range(rows.start, rows.stop):
            worth = worth_of(c, q, pair, measure, evaluate_quietly)
            total += model.mean[pair] * worth
            square += model.mean[pair] * worth**2
        np.testing.assert_allclose(mean[q], total, atol=1e-12)
        np.testing.assert_allclose(variance[q], square - total**2, atol=1e-12)
    assert (np.bincount(c.query, model.mean) < 1).all()


def worth_of(
    c: Candidates, query: int, relevant: int, measure: str, evaluate_quietly: Callable[..., aj.Effectiveness]
) -> Floats:
    """Effectiveness of each system for a query of which one document is relevant."""
    name, rows = c.queries[query], c.rows(query)
    lists = {system: {name: [c.document[i] for i in ranked(c, query, s)]} for s, system in enumerate(c.systems)}
    judged = {name: {c.document[i]: float(i == relevant) for i in range(rows.start, rows.stop)}}
    return np.asarray(evaluate_quietly(aj.read(lists, judged, scale="binary"), measure).values[0, :, 0])


def ranked(c: Candidates, query: int, system: int) -> list[int]:
    """Pairs of a query that a system retrieved, first rank first."""
    entries = np.flatnonzero((c.entry_system == system) & (c.query[c.entry_pair] == query))
    return [int(i) for i in c.entry_pair[entries[np.argsort(c.entry_rank[entries])]]]


def test_a_document_that_is_not_relevant_leaves_its_chance_to_the_others() -> None:
    c = made()
    model = started(c)
    rows = c.rows(4)
    pair = rows.start + int(np.argmin(c.relevance[rows]))
    chance, others = model._odds[rows] / (1 + model._odds[rows].sum(axis=0)), np.arange(rows.start, rows.stop) != pair
    model.judge(pair, 0.0)
    left = chance[others] / (1 - chance[~others])
    np.testing.assert_allclose(model.mean[rows][others], left.mean(axis=1), rtol=1e-12)
    assert model.mean[pair] == model.variance[pair] == 0


@pytest.mark.parametrize("rule", ["random", "pairs", "spread", "confidence", "information"])
def test_what_is_known_is_asked_last_by_every_rule(rule: str) -> None:
    c = made()
    session = Session(c.unjudged(), "RR@5", estimator="known_item", rule=rule)
    for _ in range(len(c)):
        ((query, document),) = session.next()
        left = session.model.variance > 0
        assert left[c.find(query, document)] or not left.any()
        session.judge(query, document, float(c.relevance[c.find(query, document)]))


def test_what_is_known_is_asked_where_everything_else_is_in_other_hands() -> None:
    c = made(n_queries=3)
    session = Session(c.unjudged(), "RR@5", estimator="known_item")
    for pair in np.flatnonzero(c.relevance == 1):
        if c.query[pair] < 2:
            session.judge(*session.pair(int(pair)), 1)
    left = [session.pair(i) for i in range(len(c)) if not session.model.judged[i]]
    others = [pair for pair in left if pair[0] == c.queries[2]]
    assert len(session.next(5, exclude=others)) == 5
    assert set(session.next(len(c))) == set(left)
    assert set(session.next(len(others))) == set(others)


def test_once_the_relevant_document_is_found_nothing_is_left_to_ask() -> None:
    c = made()
    session = Session(c.unjudged(), "RR@5", estimator="known_item", goal=Goal("pairs", 0.9999, zone=0, least=0))
    asked: list[tuple[str, str]] = []
    while session.next() and session.model.variance.any():
        ((query, document),) = session.next()
        asked.append((query, document))
        session.judge(query, document, float(c.relevance[c.find(query, document)]))
        if c.relevance[c.find(query, document)]:
            assert not session.model.variance[c.rows(c.queries.index(query))].any()
    found = {query for query, document in asked if c.relevance[c.find(query, document)]}
    assert len(found) > 6
    assert len(asked) < len(c) / 2
    assert session.done
    truth = started(c)
    for pair in range(len(c)):
        truth.judge(pair, float(c.relevance[pair]))
    np.testing.assert_allclose(session.view.scores.mean, truth.scores().mean, atol=1e-12)
    assert not truth.scores().covariance.any()


@pytest.mark.parametrize("measure", MEASURES)
def test_influence_is_the_covariance_of_a_document_with_scores_by_all_outcomes(
    measure: str, evaluate_quietly: Callable[..., aj.Effectiveness]
) -> None:
    """In each draw of coefficients, over the outcomes of the query; then the mean over draws."""
    c = made(n_queries=3)
    model, rows = started(c, measure), c.rows(1)
    places = np.arange(rows.start, rows.stop)
    worth = np.array([worth_of(c, 1, pair, measure, evaluate_quietly) for pair in places] + [np.zeros(c.n_systems)])
    relevance = np.vstack([np.eye(len(places)), np.zeros(len(places))])  # outcomes x pairs
    by_hand = np.zeros((len(places), c.n_systems))
    for odds in model._odds[rows].T:
        chance = np.append(odds, 1.0) / (1.0 + odds.sum())
        by_hand += np.cov(np.hstack([relevance, worth]).T, aweights=chance, ddof=0)[: len(places), len(places) :]
    np.testing.assert_allclose(model.influence()[rows], by_hand / model._odds.shape[1] / c.n_queries, atol=1e-12)


def test_the_slope_of_the_posterior_is_that_of_its_value() -> None:
    c = made()
    model = started(c)
    for pair in np.random.default_rng(2).permutation(len(c))[:40]:
        model.judge(int(pair), float(c.relevance[pair]))
    assert (model._found >= 0).any()
    beta = np.random.default_rng(3).normal(0, 0.3, (model._x.shape[1],))

    def value(b: Floats) -> float:
        return model._objective(b)[0]

    slope = [(value(beta + step) - value(beta - step)) / 2e-6 for step in 1e-6 * np.eye(len(beta))]
    np.testing.assert_allclose(model._objective(beta)[1], slope, atol=1e-4)


def test_candidates_are_learned_as_if_one_by_one_and_a_saved_session_goes_on(tmp_path: Path) -> None:
    c = made()
    known = np.where(np.arange(len(c)) % 3 == 0, c.relevance, np.nan)
    at_once = start("known_item", replace(c, relevance=known), scoring("RR@5", c.scale))
    one_by_one = started(c)
    for pair in np.flatnonzero(np.isfinite(known)):
        one_by_one.judge(int(pair), float(known[pair]))
    np.testing.assert_array_equal(at_once.scores().covariance, one_by_one.scores().covariance)
    session = Session(c.unjudged(), "nDCG@5", estimator="known_item", goal=Goal("pairs", 0.99999))
    for _ in range(13):
        ((query, document),) = session.next()
        session.judge(query, document, float(c.relevance[c.find(query, document)]))
    session.save(tmp_path / "state.json")
    again = Session.load(tmp_path / "state.json", c.unjudged())
    np.testing.assert_array_equal(again.view.scores.covariance, session.view.scores.covariance)
    assert again.next(5) == session.next(5)


@pytest.mark.parametrize("estimator", ["known_item", "hierarchical"])
def test_what_a_budget_buys_is_said_where_a_part_of_a_grade_is_none(estimator: str) -> None:
    c = made()
    session = Session(c.unjudged(), "AP@5", estimator=estimator)
    for _ in range(6):
        ((query, document),) = session.next()
        session.judge(query, document, float(c.relevance[c.find(query, document)]))
    nothing, judged, _ = next_steps(session, budget=20.0)
    assert nothing.here is not None
    assert judged.here is not None
    assert nothing.here < judged.here < 1


def test_what_is_no_known_item_search_is_refused() -> None:
    c = made()
    model = started(c)
    model.judge(0, 1.0)
    before = model.scores()
    with pytest.raises(AdjudgeError, match=r"query 'q00' has two relevant documents; use the estimator 'hierarchical'"):
        model.judge(1, 1.0)
    np.testing.assert_array_equal(model.scores().mean, before.mean)
    with pytest.raises(AdjudgeError, match=r"known_item: expected grades of 0 and 1, got 0.5"):
        model.judge(1, 0.5)
    graded = candidates(aj.read({"a": {"q": ["x"]}}), cutoff=1, scale=BROAD)
    with pytest.raises(AdjudgeError, match=r"known_item: expected a binary scale, got broad"):
        known_item(graded, scoring("CG@1", BROAD))
