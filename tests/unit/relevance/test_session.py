from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import polars as pl
import pytest

import adjudge as aj
from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError, InputError
from adjudge.model.scales import BINARY, BROAD, FINE
from adjudge.relevance import Goal, Session, judging
from adjudge.relevance.candidates import Candidates, candidates
from adjudge.relevance.models import fit_estimator

RUNS = {"a": {"q1": ["x", "y"], "q2": ["v", "w"]}, "b": {"q1": ["y", "z"], "q2": ["w", "u"]}}
GRADES = {"x": 90, "y": 40, "z": 10, "u": 0, "v": 55, "w": 100}
Make = Callable[..., aj.Collection]


@pytest.fixture
def pool() -> Candidates:
    return candidates(aj.read(RUNS), cutoff=2, scale=FINE)


class Silent:
    """A similarity that nobody asks."""

    digest = "silent"

    def among(self, documents: Sequence[str]) -> Floats:
        raise NotImplementedError


def started(pool: Candidates, n: int = 0, **settings: Any) -> Session:
    session = Session(pool, "CG@2", **{"estimator": "uniform", **settings})
    for _ in range(n):
        query, document = session.next()[0]
        session.judge(query, document, GRADES[document])
    return session


# Ranking and pairs


@pytest.mark.parametrize("grade", [0, 1])
@pytest.mark.parametrize("measure", ["CG@5", "RBP(p=0.8)@5", "nDCG@5"])
def test_scores_stay_on_the_scale_and_in_their_intervals(grade: int, measure: str) -> None:
    """Gaussian beliefs do not, where every document is as bad, or as good, as can be."""
    runs = {
        system: {f"q{q}": [f"d{(s * (q + 2) + i) % 12}" for i in range(5)] for q in range(8)}
        for s, system in enumerate("abcd")
    }
    session = judging(aj.read(runs), measure, scale=BINARY, rule="spread", goal=Goal("error", 1e-6))
    while not session.done:
        session.judge(*session.next()[0], grade)
        for row in session.ranking():
            assert 0 <= row.low <= row.score <= row.high <= session.scoring.highest
        for pair in session.pairs():
            assert pair.low <= pair.difference <= pair.high


def test_a_goal_that_only_everything_judged_meets_is_not_called_reached(pool: Candidates) -> None:
    session = started(pool, goal=Goal("error", 1e-9))
    while not session.done:
        query, document = session.next()[0]
        session.judge(query, document, GRADES[document])
    assert len(session.judgments) == len(pool)
    assert session.status().reason == "everything is judged"


def test_scores_follow_the_judgments_by_hand(pool: Candidates) -> None:
    """Unjudged documents are worth .5, with variance .085 (101 grades, 0 to 1)."""
    session = Session(pool, "CG@2", estimator="uniform")
    session.judge("q1", "x", 90)
    session.judge("q2", "w", 100)
    best, worst = session.ranking()
    assert (best.system, worst.system) == ("a", "b")
    assert best.score == pytest.approx((0.9 + 0.5 + 0.5 + 1) / 4)
    assert worst.score == pytest.approx((0.5 + 0.5 + 1 + 0.5) / 4)
    half = 1.959964 * np.sqrt(2 * 0.085) / 4
    assert (best.low, best.high) == pytest.approx((best.score - half, best.score + half))
    (pair,) = session.pairs()
    assert (pair.system, pair.other) == ("a", "b")
    assert pair.difference == pytest.approx(0.1)
    sd = np.sqrt(3 * 0.085) / 4  # v, u and z; y is in both
    assert pair.high - pair.difference == pytest.approx(1.959964 * sd)
    assert pair.confidence == pytest.approx(0.5 * (1 + math.erf(0.1 / sd / math.sqrt(2))))
    assert pair.verdict == "open"
    assert best.tied == ("b",)


def test_systems_whose_grades_add_up_to_the_same_are_tied_whatever_rounding_says() -> None:
    """.1 + .2 + .3 and .3 + .2 + .1 of other documents: sums differ in the last place."""
    runs = {"b": {"q": ["b1", "b2", "b3"]}, "a": {"q": ["a1", "a2", "a3"]}, "worse": {"q": ["c1", "a2", "b3"]}}
    grades = {"b1": 10, "b2": 20, "b3": 30, "a1": 30, "a2": 20, "a3": 10, "c1": 0}
    for measure in ("CG@3", "nDCG@3", "CG(ideal=none)@3"):
        found = candidates(aj.read(runs, {"q": grades}, scale="fine"), cutoff=3)
        session = Session(found, measure, estimator="uniform", goal=Goal(zone=0))
        if measure.startswith("CG"):
            rows = [(row.rank, row.system, row.tied) for row in session.ranking()]
            assert rows == [(1, "a", ("b",)), (1, "b", ("a",)), (3, "worse", ())]
            assert sorted(pair.verdict for pair in session.pairs()) == ["better", "better", "tie"]
        assert session.status().mean_confidence == 1


def test_near_ties_are_ties_where_a_zone_says_so(pool: Candidates) -> None:
    judged = {"q1": {"x": 40, "y": 40, "z": 38}, "q2": {"v": 1, "w": 1, "u": 1}}
    found = candidates(aj.read(RUNS, judged, scale="fine"), cutoff=2)
    near = Session(found, "CG@2", estimator="uniform", goal=Goal(zone=0.01))
    assert [pair.verdict for pair in near.pairs()] == ["tie"]
    assert [(row.rank, row.tied) for row in near.ranking()] == [(1, ("b",)), (2, ("a",))]
    told = Session(found, "CG@2", estimator="uniform", goal=Goal(zone=0.004))
    assert [pair.verdict for pair in told.pairs()] == ["better"]
    assert [row.tied for row in told.ranking()] == [(), ()]


def test_pairs_and_ranking_say_the_same(make_collection: Make) -> None:
    found = candidates(make_collection(4, scale="0..3", n_systems=5), cutoff=5)
    session = Session(found.unjudged(), "nDCG@5", estimator="uniform")
    for i in range(30):
        query, document = session.pair(i * 3)
        session.judge(query, document, i % 4)
    tied = {row.system: set(row.tied) for row in session.ranking()}
    for pair in session.pairs():
        assert (pair.verdict != "better") == (pair.other in tied[pair.system]) == (pair.system in tied[pair.other])
        assert pair.low <= pair.difference <= pair.high
        assert pair.difference >= 0
    scores = [row.score for row in session.ranking()]
    assert scores == sorted(scores, reverse=True)


# What was judged before, correcting, undoing


def test_what_is_judged_already_is_known_and_not_asked_for() -> None:
    session = judging(aj.read(RUNS, {"q1": {"x": 90, "far": 30}}, scale="fine"), "CG@2", estimator="uniform")
    assert session.status().n_judged == 2
    assert session.judgments == []
    assert ("q1", "x") not in session.next(99)
    with pytest.raises(AdjudgeError, match="Document 'x' of query 'q1' is judged already"):
        session.judge("q1", "x", 80)
    with pytest.raises(AdjudgeError, match="Document 'x' of query 'q1' was not judged in this session"):
        session.correct("q1", "x", 80)
    with pytest.raises(AdjudgeError, match="Nothing was judged in this session yet"):
        session.undo()


def test_what_cannot_be_judged_changes_nothing(pool: Candidates) -> None:
    session = started(pool, 2)
    before = (session.to_dict(), session.ranking())
    for elsewhere in [("q1", "nowhere"), ("nothing", "x"), ("q2", "x")]:
        with pytest.raises(AdjudgeError, match="is no candidate"):
            session.judge(*elsewhere, 50)
    with pytest.raises(AdjudgeError, match=r"Expected a grade on the scale fine \(0..100\)"):
        session.correct(*session.judgments[0][:2], 101)
    assert (session.to_dict(), session.ranking()) == before


def test_an_unknown_rule_is_refused(pool: Candidates) -> None:
    with pytest.raises(AdjudgeError, match="No selection rule is called 'best'"):
        started(pool, rule="best")


# Starting from a collection


def test_a_scale_has_a_name_or_is_one() -> None:
    with pytest.raises(AdjudgeError, match="Scale: expected one of binary, broad, fine"):
        judging(aj.read(RUNS), "CG@2", scale="five stars", estimator="uniform")
    for scale in ("broad", BROAD):
        assert judging(aj.read(RUNS), "CG@2", scale=scale, estimator="uniform").candidates.scale == BROAD


def test_status_says_why(pool: Candidates) -> None:
    session = started(pool, goal=Goal(level=0.9999999, zone=0))
    status = session.status()
    assert (status.n_judged, status.n_candidates, status.done, status.wanted) == (0, 6, False, 0.9999999)
    assert status.reason.startswith("the goal is not reached yet: mean probability that the order")
    assert status.reason.endswith("; it is 0.500")
    session = started(pool, 6, goal=Goal(level=0.9999999, zone=0))
    assert session.status().done
    assert session.status().value == 1


# State


def test_a_state_has_settings_and_judgments_with_names_of_any_kind(tmp_path: Path) -> None:
    runs = {"système": {'q, "1"': ["日本", "a b"]}, "b": {'q, "1"': ["a b", "new\nline"]}}
    pool = candidates(aj.read(runs), cutoff=2, scale=FINE)
    goal = Goal("tau", 0.7, 0.02, 1)
    session = Session(pool, "CG@2", estimator="uniform", rule="pairs", seed=4, goal=goal)
    session.judge('q, "1"', "日本", 12.345678901234567)
    session.save(tmp_path / "s.json")
    again = Session.load(tmp_path / "s.json", pool)
    assert again.to_dict() == session.to_dict() == json.loads((tmp_path / "s.json").read_text())
    assert (again.scoring.measure, again.estimator, again.rule, again.seed) == ("CG@2", "uniform", "pairs", 4)
    assert (again.goal, again.judgments) == (goal, [('q, "1"', "日本", 12.345678901234567)])


def test_a_state_of_other_candidates_is_refused(pool: Candidates, tmp_path: Path) -> None:
    started(pool, 2).save(tmp_path / "s.json")
    read = partial(candidates, cutoff=2, scale=FINE)
    others = {
        "another system": read(aj.read({**RUNS, "c": RUNS["a"]})),
        "another order": read(aj.read({**RUNS, "a": {"q1": ["y", "x"], "q2": ["v", "w"]}})),
        "another scale": read(aj.read(RUNS), scale=BINARY),
        "another cutoff": read(aj.read(RUNS), cutoff=3),
        "more judged": read(aj.read(RUNS, {"q1": {"x": 1}}, scale="fine")),
        "other teams": read(aj.read(RUNS, teams={"a": "t", "b": "t"})),
        "opinions": read(aj.read(RUNS), opinions={"llm": {("q1", "x"): 1.0}}),
        "sound": replace(pool, similarity=Silent()),
    }
    for other in others.values():
        with pytest.raises(InputError, match=r"s\.json: is of other runs, cutoff, scale"):
            Session.load(tmp_path / "s.json", other)


def test_a_session_of_version_1_0_is_saved_and_loaded_again(tmp_path: Path) -> None:
    """It knew no answers of single assessors, and goes on without them."""
    runs = {"s": {"q": ["x", "y"]}, "t": {"q": ["y", "z"]}}
    rows = {"query": ["q", "q"], "document": ["x", "x"], "grade": [40, 60], "assessor": ["a", "b"]}
    pool = candidates(aj.read(runs, pl.DataFrame(rows), scale="fine"), cutoff=2)
    assert pool.answers is not None
    session = Session(replace(pool, answers=None), "CG@2")
    session.judge("q", "y", 30)
    state = {name: value for name, value in session.to_dict().items() if name not in ("per_pair", "audit")}
    (tmp_path / "old.json").write_text(json.dumps(state))
    for name in ("old.json", "again.json"):
        loaded = Session.load(tmp_path / name, pool)
        assert loaded.ranking() == session.ranking()
        loaded.save(tmp_path / "again.json")


def test_a_goal_about_all_systems_is_refused_at_the_start_and_goes_on_where_it_was_saved(tmp_path: Path) -> None:
    collection, goal = aj.read(RUNS), Goal("top", top=len(RUNS))
    with pytest.raises(AdjudgeError, match=f"'top' must be below the number of systems, {len(RUNS)}, got {len(RUNS)}"):
        judging(collection, "CG@2", scale=FINE, goal=goal)
    pool = candidates(collection, cutoff=2, scale=FINE)
    Session(pool, "CG@2", goal=goal).save(tmp_path / "s.json")
    assert Session.load(tmp_path / "s.json", pool).goal == goal


FOREIGN: dict[str, dict[str, Any]] = {
    "no measure": {"measure": None},
    "an unknown measure": {"measure": "NDCG@2"},
    "another cutoff": {"measure": "CG@3"},
    "a number as estimator": {"estimator": 3},
    "an unknown estimator": {"estimator": "oracle"},
    "unknown options": {"options": {"magic": 1}},
    "a negative seed": {"seed": -1},
    "a seed with a fraction": {"seed": 0.5},
    "a goal of another kind": {"goal": {"kind": 7}},
    "a goal with more in it": {"goal": {"more": 1}},
    "a level in words": {"goal": {"level": "high"}},
    "judgments in a dictionary": {"judgments": {}},
    "short judgments": {"judgments": [["q1", "x"]]},
    "a judgment twice": {"judgments": [["q1", "x", 3], ["q1", "x", 3]]},
    "a document from elsewhere": {"judgments": [["q1", "nowhere", 3]]},
    "a grade in words": {"judgments": [["q1", "x", "3"]]},
    "a grade outside": {"judgments": [["q1", "x", 300]]},
    "a list as document": {"judgments": [["q1", ["x"], 3]]},
}


def test_what_is_no_state_is_refused_in_one_line(pool: Candidates, tmp_path: Path) -> None:
    session = started(pool, 3)
    session.save(tmp_path / "s.json")
    state, whole = session.to_dict(), (tmp_path / "s.json").read_bytes()
    contents = {name: json.dumps({**state, **change}).encode() for name, change in FOREIGN.items()}
    contents |= {f"the first {n} bytes": whole[:n] for n in range(0, len(whole) - 2, 7)}
    contents |= {text: text.encode() for text in ("[1, 2]", "3", "null", '"q1 Q0 a 1 2.0 mine"', "[" * 100_000)}
    contents["no text"] = b"\xff\xfe\x00"
    for name, content in contents.items():
        (tmp_path / "s.json").write_bytes(content)
        with pytest.raises(InputError, match=r"s\.json: expected the state of a session") as refused:
            Session.load(tmp_path / "s.json", pool)
        assert "\n" not in str(refused.value), name


def test_what_cannot_be_read_is_refused(pool: Candidates, tmp_path: Path) -> None:
    for path, why in ((tmp_path / "none.json", r"none\.json: cannot be read: no such file"), (tmp_path, "a directory")):
        with pytest.raises(InputError, match=why):
            Session.load(path, pool)


@pytest.mark.parametrize("broken", ["replace", "fsync", "chmod"])
def test_a_state_is_replaced_whole_or_not_at_all(
    pool: Candidates, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    started(pool, 1).save(tmp_path / "s.json")
    before = (tmp_path / "s.json").read_bytes()
    monkeypatch.setattr(os, broken, Mock(side_effect=OSError(28, "No space left on device")))
    with pytest.raises(InputError, match=r"s\.json: cannot be written: no space left"):
        started(pool, 2).save(tmp_path / "s.json")
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [before]


def test_options_that_are_not_plain_values_cannot_be_saved(make_collection: Make, tmp_path: Path) -> None:
    some = candidates(make_collection(1, scale="0..3"), cutoff=5)
    model = fit_estimator([some], features=("fSYS",))
    session = Session(some.unjudged(), "CG@5", estimator="output", options={"model": model})
    with pytest.raises(AdjudgeError, match="The options of the estimator cannot be saved"):
        session.save(tmp_path / "s.json")
    assert list(tmp_path.iterdir()) == []
