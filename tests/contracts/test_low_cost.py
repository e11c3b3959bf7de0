"""What every relevance estimator, selection rule and goal must obey.

The collection has every awkward case in it: lists of unequal length and one that is missing, two copies of a system,
a document that all systems retrieved, documents without metadata, documents judged but retrieved by nobody.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import polars as pl
import pytest

import adjudge as aj
from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.model.scales import BINARY, FINE
from adjudge.relevance import ESTIMATORS, GOALS, RULES, Goal, Session
from adjudge.relevance.base import RelevanceModel, scoring, start
from adjudge.relevance.candidates import Candidates, candidates

MEASURES = (
    "CG@5",
    "CG(ideal=none)@5",
    "CG(ideal=judged)@5",
    "DCG@5",
    "DCG(ideal=none)@5",
    "nDCG@5",
    "nDCG(ideal=max)@5",
    "RBP@5",
    "RBP(ideal=max)@5",
    "RBP(ideal=judged)@5",
)
DRAWN = (
    "AP@5",
    "AP(rel=50,ideal=judged)@5",
    "RR@5",
    "ERR@5",
    "Q@5",
    "GAP@5",
    "P(rel=50)@5",
    "nDCG(gain=exp)@5",
    "F1@5",
)
FEW = ("CG@5", "nDCG@5")
GRADED = tuple(name for name in ESTIMATORS if name != "known_item")  # which is for one relevant document per query
ALL_CASES, CASES = (
    [*itertools.product(GRADED, everyone), *(("hierarchical", measure) for measure in drawn)]
    for everyone, drawn in ((MEASURES, DRAWN), (FEW, ("AP@5", "GAP@5")))
)
Runs = dict[str, dict[str, dict[str, float]]]
Grades = dict[str, dict[str, float]]
T = TypeVar("T")


def made() -> tuple[Runs, Grades, pl.DataFrame]:
    """Runs with scores, a grade for everything retrieved and more, and metadata of most documents."""
    rng = np.random.default_rng(20)
    names = [f"d{i:02d}" for i in range(24)]
    queries = [f"q{i}" for i in range(6)]
    runs: Runs = {}
    for s in range(5):
        runs[f"s{s}"] = {}
        for query in queries:
            retrieved = ["d00", *rng.permutation(names[1:])[: int(rng.integers(1, 8))].tolist()]
            runs[f"s{s}"][query] = {d: float(score) for d, score in zip(retrieved, rng.permutation(99), strict=False)}
    runs["copy of s3"] = {query: dict(documents) for query, documents in runs["s3"].items()}
    del runs["s4"]["q5"]
    grades: Grades = {q: {d: float(rng.integers(0, 101)) for d in [*names, "only judged"]} for q in queries}
    grades["q0"] = dict.fromkeys(grades["q0"], 0.0)
    known = names[:-4]
    metadata = pl.DataFrame(
        {
            "document": [*known, *queries],
            "artist": [f"a{rng.integers(6)}" for _ in range(len(known) + len(queries))],
            "genre": [f"g{rng.integers(3)}" for _ in range(len(known) + len(queries))],
        }
    )
    return runs, grades, metadata


def shuffled(mapping: dict[str, T], rng: np.random.Generator) -> dict[str, T]:
    names = list(mapping)
    return {names[i]: mapping[names[i]] for i in rng.permutation(len(names))}


def judged_part(grades: Grades, some: int) -> Grades:
    """A few grades of every query."""
    return {query: {**dict(list(row.items())[:some]), "only judged": 50.0} for query, row in grades.items()}


@pytest.fixture(scope="module")
def grades() -> Grades:
    return made()[1]


@pytest.fixture(scope="module")
def pool() -> Candidates:
    """Nothing judged."""
    runs, _, metadata = made()
    return candidates(aj.read(runs, metadata=metadata), cutoff=5, scale=FINE)


class Alike:
    """Documents on a line, some of them without a place; of the queries the first three have one."""

    digest = "on a line"

    def among(self, documents: Sequence[str]) -> Floats:
        place = {f"d{i:02d}": float(i % 7) for i in range(22)} | {"q0": 0.0, "q1": 3.0, "q2": 9.0}
        at = np.array([place.get(document, np.nan) for document in documents])
        return np.asarray(np.exp(-np.abs(at[:, None] - at)))


@pytest.fixture(scope="module")
def heard() -> Candidates:
    """Nothing judged, but documents have sound; some not."""
    runs, _, metadata = made()
    return candidates(aj.read(runs, metadata=metadata), cutoff=5, scale=FINE, similarity=Alike())


def grade_of(grades: Grades, some: Candidates, pair: int) -> float:
    return grades[some.queries[some.query[pair]]][some.document[pair]]


def checked(model: RelevanceModel) -> None:
    """Everything that a model says is finite and in its place."""
    judged, scores = model.judged, model.scores()
    by_query, spread, _ = model.query_scores()
    for numbers in (model.mean, model.variance, scores.mean, scores.covariance, model.influence(), by_query, spread):
        assert np.isfinite(numbers).all()
    assert model.influence().shape == (len(model.candidates), model.candidates.n_systems)
    assert by_query.shape == spread.shape == (model.candidates.n_queries, model.candidates.n_systems)
    assert (model.variance[judged] == 0).all()
    assert (model.influence()[judged] == 0).all()
    assert (model.variance >= 0).all()
    assert (np.diagonal(scores.covariance) >= 0).all()
    np.testing.assert_allclose(scores.covariance, scores.covariance.T, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(by_query.mean(axis=0), scores.mean, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("name", "measure"), ALL_CASES)
def test_what_is_judged_is_known_and_nothing_is_ever_nan(
    pool: Candidates, grades: Grades, name: str, measure: str
) -> None:
    model = start(name, pool, scoring(measure, pool.scale))
    checked(model)
    order = np.random.default_rng(3).permutation(len(pool))
    for n, pair in enumerate(order, start=1):
        grade = grade_of(grades, pool, pair)
        model.judge(int(pair), grade / 100)
        assert model.mean[pair] == grade / 100
        if n in (1, 7, len(pool) // 2, len(pool)):
            checked(model)


@pytest.mark.parametrize(("name", "measure"), ALL_CASES)
@pytest.mark.parametrize("one_by_one", [True, False], ids=["one by one", "at once"])
def test_with_everything_judged_scores_are_effectiveness(
    evaluate_quietly: Callable[..., aj.Effectiveness], name: str, measure: str, one_by_one: bool
) -> None:
    runs, grades, metadata = made()
    collection = aj.read(runs, grades, metadata, scale="fine")
    everything = candidates(collection, cutoff=5)
    model = start(name, everything.unjudged() if one_by_one else everything, scoring(measure, FINE))
    if one_by_one:
        for pair in np.random.default_rng(4).permutation(len(everything)):
            model.judge(int(pair), grade_of(grades, everything, pair) / 100)
    truth = evaluate_quietly(collection, measure)
    values = truth.values[:, [truth.systems.index(system) for system in everything.systems], 0]
    by_query, spread, _ = model.query_scores()
    rows = [truth.queries.index(query) for query in everything.queries]
    np.testing.assert_allclose(model.scores().mean, values.mean(axis=0), atol=1e-9)
    np.testing.assert_allclose(by_query, values[rows], atol=1e-9)
    np.testing.assert_allclose(spread, 0, atol=1e-12)
    np.testing.assert_allclose(model.scores().covariance, 0, atol=1e-12)


def asked(session: Session, grades: Grades, n: int) -> list[tuple[str, str]]:
    """Judge n candidates as the session asks."""
    pairs = []
    for _ in range(n):
        (pair,) = session.next()
        session.judge(*pair, grades[pair[0]][pair[1]])
        pairs.append(pair)
    return pairs


def said(session: Session) -> tuple[object, ...]:
    """All that a session says."""
    return session.ranking(), session.pairs(), session.status(), session.next(4), session.view.scores.mean.tolist()


@pytest.mark.parametrize(("name", "measure"), CASES)
def test_neither_lines_nor_systems_have_an_order(name: str, measure: str) -> None:
    runs, grades, metadata = made()
    rng = np.random.default_rng(5)
    mixed = shuffled({s: shuffled({q: shuffled(d, rng) for q, d in run.items()}, rng) for s, run in runs.items()}, rng)
    judged = judged_part(grades, 4)
    mixed_judged = shuffled({query: shuffled(row, rng) for query, row in judged.items()}, rng)
    lines = pl.DataFrame(metadata.rows(), schema=metadata.schema, orient="row")[rng.permutation(len(metadata)).tolist()]
    one, other = (
        Session(candidates(aj.read(*parts, scale="fine"), cutoff=5), measure, estimator=name, seed=7)
        for parts in ((runs, judged, metadata), (mixed, mixed_judged, lines))
    )
    assert said(one) == said(other)
    assert asked(one, grades, 25) == asked(other, grades, 25)
    assert said(one) == said(other)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", GRADED)
def test_the_same_seed_gives_the_same_session(pool: Candidates, grades: Grades, name: str, rule: str) -> None:
    one, other = (Session(pool, "CG@5", estimator=name, rule=rule, seed=11) for _ in range(2))
    assert asked(one, grades, 12) == asked(other, grades, 12)
    assert said(one) == said(other)


@pytest.mark.parametrize(("name", "measure"), CASES)
@pytest.mark.parametrize("rule", RULES)
def test_every_candidate_is_asked_for_once(
    pool: Candidates, grades: Grades, name: str, rule: str, measure: str
) -> None:
    session = Session(pool, measure, estimator=name, rule=rule, seed=1)
    pairs: list[tuple[str, str]] = []
    for n in itertools.cycle((1, 2, 5, 9)):
        batch = session.next(n)
        if not batch:
            break
        assert len(batch) == min(n, len(pool) - len(pairs))
        pairs += batch
        for query, document in batch:
            session.judge(query, document, grades[query][document])
    assert len(pairs) == len(set(pairs)) == len(pool)
    assert session.done
    assert session.status().mean_confidence == 1


@pytest.mark.parametrize("rule", RULES)
def test_seeds_tell_apart_what_is_equally_telling(rule: str) -> None:
    """Two systems without a document in common on any query, each document like the other."""
    runs = {s: {f"q{q}": [f"{s}{q}"] for q in range(8)} for s in ("a", "b")}
    found = candidates(aj.read(runs), cutoff=1, scale=FINE)
    firsts = {Session(found, "CG@1", estimator="uniform", rule=rule, seed=seed).next()[0] for seed in range(60)}
    assert len(firsts) > 8
    assert {query for query, _ in firsts} == {f"q{q}" for q in range(8)}


@pytest.mark.parametrize("kind", GOALS)
@pytest.mark.parametrize("name", GRADED)
def test_every_goal_has_a_finite_value_and_is_reached_in_the_end(
    pool: Candidates, grades: Grades, name: str, kind: str
) -> None:
    session = Session(
        pool, "CG@5", estimator=name, rule="random", goal=Goal(kind, level=1e-9 if kind == "error" else 0.999999)
    )
    assert np.isfinite(session.status().value)
    assert not session.done
    asked(session, grades, len(pool))
    assert np.isfinite(session.status().value)
    assert session.done
    assert session.next(3) == []


@pytest.mark.parametrize("kind", GOALS)
def test_what_a_goal_claims_is_what_is_true_of_it_once_everything_is_judged(
    pool: Candidates, grades: Grades, kind: str
) -> None:
    session = Session(pool, "CG@5", estimator="uniform", goal=Goal(kind, zone=0.02, top=2))
    asked(session, grades, len(pool))
    truth, turned = session.view.scores.mean, 1 - session.view.scores.mean
    assert session.goal.kept(session.view, truth) == (1 if GOALS[kind].falling else session.goal.value(session.view))
    assert session.goal.kept(session.view, turned) < 0.7


@pytest.mark.parametrize(
    ("kind", "kept"),
    [("order", 5 / 6), ("every", 0), ("winner", 0), ("top", 1), ("tau", 2 * 5 / 6 - 1), ("tau_ap", 2 * 2 / 3 - 1),
     ("confidence", 5 / 6), ("pairs", 0), ("scores", 0.5), ("error", 0.5)],
)  # fmt: skip
def test_what_is_true_of_a_goal_by_hand(kind: str, kept: float) -> None:
    """The first two of four systems are in the wrong order, by .1; the last two are within .02 of each other."""
    runs = {name: {"q": [name]} for name in "abcd"}
    judged = {"q": {"a": 80, "b": 70, "c": 40, "d": 39}}
    session = Session(
        candidates(aj.read(runs, judged, scale="fine"), cutoff=1), "CG@1", estimator="uniform",
        goal=Goal(kind, zone=0.02, top=2),
    )  # fmt: skip
    assert session.goal.kept(session.view, np.array([0.7, 0.8, 0.39, 0.4])) == pytest.approx(kept)


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("measure", ["P@10", "nDCG@10", "RR@10"])
def test_zeros_alone_do_not_stop_a_session(measure: str, first: int) -> None:
    """After as many zeros as there are queries, nothing is known of how much relevance varies, nor with a single 1."""
    rng = np.random.default_rng(0)
    runs = {f"s{s}": {f"q{q}": [f"d{d}" for d in rng.permutation(30)[:10]] for q in range(20)} for s in range(6)}
    session = Session(candidates(aj.read(runs), cutoff=10, scale=BINARY), measure)
    for n in range(60):
        assert not session.done, n
        ((query, document),) = session.next()
        session.judge(query, document, first if n == 0 else 0)


@pytest.mark.parametrize("kind", ["order", "confidence", "tau"])
def test_where_no_order_is_claimed_half_of_it_is_right(kind: str) -> None:
    runs = {name: {"q": [name]} for name in "abcd"}
    session = Session(candidates(aj.read(runs), cutoff=1, scale=FINE), "CG@1", estimator="uniform", goal=Goal(kind))
    assert session.goal.kept(session.view, np.array([0.1, 0.4, 0.7, 1.0])) == (0 if kind == "tau" else 0.5)


@pytest.mark.parametrize(("name", "measure"), CASES)
def test_copies_of_a_system_are_tied_from_beginning_to_end(
    pool: Candidates, grades: Grades, name: str, measure: str
) -> None:
    session = Session(pool, measure, estimator=name, goal=Goal(zone=0))
    for _ in range(3):
        (pair,) = (p for p in session.pairs() if {p.system, p.other} == {"s3", "copy of s3"})
        assert (pair.difference, pair.low, pair.high, pair.verdict) == (0, 0, 0, "tie")
        assert pair.confidence == 1
        row = {row.system: row for row in session.ranking()}
        assert row["s3"].rank == row["copy of s3"].rank
        assert "copy of s3" in row["s3"].tied
        asked(session, grades, 9)


@pytest.mark.parametrize(("name", "measure"), CASES)
def test_a_saved_session_goes_on_to_the_last_bit(
    tmp_path: Path, pool: Candidates, grades: Grades, name: str, measure: str
) -> None:
    session = Session(pool, measure, estimator=name, seed=5, goal=Goal("tau", 0.8, least=3))
    asked(session, grades, 23)
    session.save(tmp_path / "state.json")
    again = Session.load(tmp_path / "state.json", pool)
    assert said(again) == said(session)
    np.testing.assert_array_equal(again.view.scores.covariance, session.view.scores.covariance)
    assert asked(again, grades, 9) == asked(session, grades, 9)
    assert said(again) == said(session)
    assert again.to_dict() == session.to_dict()


@pytest.mark.parametrize("name", GRADED)
def test_what_was_corrected_or_taken_back_leaves_no_trace(pool: Candidates, grades: Grades, name: str) -> None:
    right = Session(pool, "nDCG@5", estimator=name)
    pairs = asked(right, grades, 22)
    wrong = Session(pool, "nDCG@5", estimator=name)
    for i, (query, document) in enumerate(pairs):
        wrong.judge(query, document, 99.0 if i == 3 else grades[query][document])
    (more,) = wrong.next()
    wrong.judge(*more, 1)
    assert wrong.undo() == more
    wrong.correct(*pairs[3], grades[pairs[3][0]][pairs[3][1]])
    assert said(wrong) == said(right)
    assert wrong.judgments == right.judgments


@pytest.mark.parametrize("measure", FEW)
@pytest.mark.parametrize("name", GRADED)
def test_with_sound_nothing_is_nan_and_the_end_is_the_same(
    heard: Candidates, pool: Candidates, grades: Grades, name: str, measure: str
) -> None:
    model = start(name, heard, scoring(measure, heard.scale))
    for n, pair in enumerate(np.random.default_rng(6).permutation(len(heard)), start=1):
        model.judge(int(pair), grade_of(grades, heard, pair) / 100)
        if n in (1, 9, 30, len(heard)):
            checked(model)
    everything = dataclasses.replace(pool, relevance=model.mean)
    deaf = start(name, everything, scoring(measure, pool.scale))
    np.testing.assert_allclose(model.scores().mean, deaf.scores().mean, atol=1e-12)
    np.testing.assert_allclose(model.scores().covariance, 0, atol=1e-12)


@pytest.mark.parametrize("name", GRADED)
def test_sessions_with_sound_are_saved_corrected_and_have_no_order(
    tmp_path: Path, heard: Candidates, grades: Grades, name: str
) -> None:
    runs, _, metadata = made()
    rng = np.random.default_rng(7)
    mixed = shuffled({s: shuffled({q: shuffled(d, rng) for q, d in run.items()}, rng) for s, run in runs.items()}, rng)
    again = candidates(aj.read(mixed, metadata=metadata), cutoff=5, scale=FINE, similarity=Alike())
    one, other = (Session(found, "nDCG@5", estimator=name, seed=2) for found in (heard, again))
    pairs = asked(one, grades, 23)
    assert asked(other, grades, 23) == pairs
    assert said(one) == said(other)
    (copies,) = (p for p in one.pairs() if {p.system, p.other} == {"s3", "copy of s3"})
    assert (copies.difference, copies.verdict) == (0, "tie")
    one.save(tmp_path / "state.json")
    assert said(Session.load(tmp_path / "state.json", heard)) == said(one)
    other.correct(*pairs[3], 99)
    other.correct(*pairs[3], grades[pairs[3][0]][pairs[3][1]])
    assert said(other) == said(one)


SMALL: dict[str, dict[str, dict[str, list[str]]]] = {
    "one system": {"a": {"q1": ["x", "y"], "q2": ["y"]}},
    "one query": {"a": {"q": ["x", "y"]}, "b": {"q": ["y", "z"]}},
    "one pair": {"a": {"q": ["x"]}},
    "nothing distinguishes systems": {s: {q: ["x", "y", "z"] for q in ("q1", "q2")} for s in "abc"},
    "no query in common": {"a": {"q1": ["x", "y"]}, "b": {"q2": ["y", "z"]}},
}


@pytest.mark.parametrize(
    ("name", "measure"),
    [
        *itertools.product(GRADED, ["CG@3", "nDCG@3", "RBP@3", "CG@50", "nDCG@50"]),
        *(("hierarchical", measure) for measure in ("AP@3", "Q@50", "ERR@3")),
    ],
)
@pytest.mark.parametrize("runs", SMALL.values(), ids=list(SMALL))
def test_small_collections_are_judged_to_the_end(
    name: str, runs: dict[str, dict[str, list[str]]], measure: str
) -> None:
    cutoff = int(measure.split("@")[1])
    names = ["x", "y", "q", "q1", "q2"]
    metadata = pl.DataFrame({"document": names, "artist": names, "genre": ["g"] * len(names)})
    collection = aj.read(runs, metadata=metadata)
    session = Session(candidates(collection, cutoff=cutoff, scale=FINE), measure, estimator=name)
    checked(session.model)
    grades: Any = {q: {"x": 80, "y": 10, "z": 0} for run in runs.values() for q in run}
    asked(session, grades, len(session.candidates))
    checked(session.model)
    assert session.done
    assert session.status().mean_confidence == 1
    for row in session.ranking():
        assert 0 <= row.low <= row.score <= row.high <= 1


@pytest.mark.parametrize("name", GRADED)
def test_a_pair_is_judged_once_and_on_the_scale(pool: Candidates, name: str) -> None:
    session = Session(pool, "CG@5", estimator=name)
    (pair,) = session.next()
    before = said(session)
    with pytest.raises(AdjudgeError, match=r"Expected a grade on the scale fine \(0..100\), got '100.5'"):
        session.judge(*pair, 100.5)
    assert said(session) == before
    session.judge(*pair, 40)
    before = said(session)
    with pytest.raises(AdjudgeError, match="is judged already; correct it instead"):
        session.judge(*pair, 41)
    assert said(session) == before
    assert session.judgments == [(*pair, 40.0)]
