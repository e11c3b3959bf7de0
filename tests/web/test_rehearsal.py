"""Rehearsals: simulated assessors on a real server, and what is made of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.web.making import random_runs

import adjudge as aj
from adjudge.cli import main
from adjudge.errors import AdjudgeError, AdjudgeWarning
from adjudge.formats.reading import read_judgments
from adjudge.web.kinds.judging.rehearse import (
    Range,
    Trial,
    agreement,
    candidates_for,
    drawn_truths,
    forecast,
    judged_truth,
    rehearse,
    true_of,
)
from adjudge.web.kinds.judging.settings import JudgingSettings
from adjudge.web.kinds.judging.simulated import Account, Acknowledged, SimulatedAssessor, account
from adjudge.web.rehearse import Behaviour, Plan
from adjudge.web.settings import Settings

SCALES = [
    {"name": "broad", "minimum": 0, "maximum": 2, "step": 1},
    {"name": "fine", "minimum": 0, "maximum": 100, "step": 1},
]
CLEAN = Account(0, (), (), (), ())


def person(behaviour: Behaviour, seed: int = 0) -> SimulatedAssessor:
    return SimulatedAssessor("http://127.0.0.1:9", "x", lambda q, d: 0.5, behaviour, np.random.default_rng(seed))


def test_a_rehearsal_with_perfect_assessors_who_judge_everything_finds_the_true_ranking(tmp_path: Path) -> None:
    collection = random_runs(n_queries=6, n_systems=4, depth=3, seed=5)
    campaign = JudgingSettings.parse(
        {"title": "x", "measure": "CG@3", "goal": {"kind": "everything"}, "repeat_share": 0}
    )
    pool = candidates_for(collection, campaign)
    truth = np.round(np.random.default_rng(3).random(len(pool)), 2)  # on the Fine scale exactly
    plan = Plan(assessors=4, behaviour=Behaviour(noise=0, severity=0, pace=60), repeats=1)
    (trial,) = rehearse(collection, campaign, plan, truths=[truth], keep=tmp_path / "kept")

    exported = tmp_path / "judgments.txt"
    options = ["--data", str(tmp_path / "kept"), "-o", str(exported)]
    assert main(["campaign", "export", "rehearsal", "qrels", *options]) == 0
    kept = judged_truth(pool, read_judgments(str(exported), scale="fine"))
    assert kept.tolist() == truth.tolist()
    with pytest.raises(AdjudgeError, match=r"kept.*a new folder .*got one with something in it"):
        rehearse(collection, campaign, plan, truths=[truth], keep=tmp_path / "kept")
    with pytest.raises(AdjudgeError, match="secret/new: cannot be made: not a directory"):
        rehearse(collection, campaign, plan, truths=[truth], keep=tmp_path / "kept" / "secret" / "new")
    assert trial.account.is_clean
    assert trial.account.stored == trial.answers == trial.judgments == trial.candidates == len(pool)
    assert trial.reached
    assert (trial.accuracy, trial.tau, trial.best, trial.wrong) == (1.0, 1.0, True, 0)
    assert trial.person_hours == pytest.approx(len(pool) * 68 / 3600, rel=0.5)  # the mean of a lognormal of median 60
    assert trial.hours < trial.person_hours
    assert len(trial.latencies) == trial.answers


def test_a_rehearsal_with_lazy_assessors_who_leave_ends_all_the_same() -> None:
    collection = random_runs(n_queries=4, n_systems=3, depth=3)
    campaign = JudgingSettings.parse({"title": "x", "measure": "CG@3", "repeat_share": 0, "consent": {"en": "Agree?"}})
    pool = candidates_for(collection, campaign)
    behaviour = Behaviour(laziness=1, drop_out=0.5, comes_back=0.3)
    plan = Plan(assessors=3, behaviour=behaviour, repeats=1, seed=4)
    (trial,) = rehearse(collection, campaign, plan, truths=[np.full(len(pool), 0.5)])
    assert trial.account.is_clean
    assert 0 < trial.answers <= len(pool) + 6
    assert trial.left > 0 or trial.reached


def test_the_truth_of_judgments_is_relevance_and_what_nobody_judged_is_none() -> None:
    runs = {"a": {"q": ["x", "y"]}, "b": {"q": ["y", "z"]}}
    campaign = JudgingSettings.parse({"title": "x", "measure": "CG@2"})
    judged = aj.read(runs, {"q": {"x": 50, "y": 100}}, scale="fine")
    pool = candidates_for(judged, campaign)
    truth = judged_truth(pool, judged.need_judgments())
    assert dict(zip(pool.document, truth.tolist(), strict=True)) == {"x": 0.5, "y": 1.0, "z": 0.0}
    assert true_of(pool, campaign, truth) == pytest.approx({"a": 0.75, "b": 0.5})
    with pytest.warns(AdjudgeWarning, match="no document is judged"):
        others = aj.read(runs, {"q": {"other": 50}}, scale="fine").need_judgments()
    with pytest.raises(AdjudgeError, match="about none of the campaign's candidates"):
        judged_truth(pool, others)


def test_drawn_truths_are_on_the_scale_differ_and_hold_what_is_judged() -> None:
    collection = random_runs(n_queries=5, n_systems=4, depth=4)
    campaign = JudgingSettings.parse({"title": "x", "measure": "CG@4"})
    pool = candidates_for(collection, campaign)
    known = {(pool.queries[pool.query[0]], pool.document[0]): 80.0}
    one, other = drawn_truths(pool.judged_as(known), "CG@4", n=2, seed=1)
    assert one.shape == other.shape == (len(pool),)
    assert ((one >= 0) & (one <= 1)).all()
    assert not np.allclose(one, other)
    assert one[0] == other[0] == pytest.approx(0.8)
    again = drawn_truths(pool.judged_as(known), "CG@4", n=2, seed=1)[0]
    assert np.array_equal(one, again)


@pytest.mark.parametrize(
    ("scores", "share"),
    [
        ({"a": 3, "b": 2, "c": 1}, 1.0),
        ({"a": 1, "b": 2, "c": 3}, 0.0),
        ({"a": 3, "b": 1, "c": 2}, 2 / 3),
        ({"a": 2, "b": 2, "c": 1}, 5 / 6),
    ],
)
def test_agreement_is_the_share_of_pairs_in_the_true_order(scores: dict[str, float], share: float) -> None:
    assert agreement(scores, {"a": 0.9, "b": 0.5, "c": 0.1}) == pytest.approx(share)


def test_any_order_of_true_ties_is_right() -> None:
    assert agreement({"a": 1, "b": 2}, {"a": 0.5, "b": 0.5}) == 1.0


def test_an_exact_assessor_answers_the_nearest_step_of_every_scale() -> None:
    exact = person(Behaviour(noise=0, severity=0))
    assert exact.opinion(0.0, SCALES) == {"broad": 0, "fine": 0}
    assert exact.opinion(0.37, SCALES) == {"broad": 1, "fine": 37}
    assert exact.opinion(1.0, SCALES) == {"broad": 2, "fine": 100}


def test_noise_and_severity_have_the_size_that_was_asked_for() -> None:
    noisy = person(Behaviour(noise=0.1, severity=0))
    grades = [noisy.opinion(0.5, SCALES)["fine"] for _ in range(2000)]
    assert np.mean(grades) == pytest.approx(50, abs=1)
    assert np.std(grades) == pytest.approx(10, abs=0.6)
    leanings = [person(Behaviour(severity=0.2), seed).leaning for seed in range(1000)]
    assert np.std(leanings) == pytest.approx(0.2, abs=0.02)


def test_lazy_answers_are_the_middle_or_anything() -> None:
    lazy = person(Behaviour(laziness=1))
    grades = [lazy.opinion(0.0, SCALES)["fine"] for _ in range(1000)]
    assert np.mean([grade == 50 for grade in grades]) == pytest.approx(0.5, abs=0.06)
    assert min(grades) < 10
    assert max(grades) > 90


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"noise": 2}, "'noise' must be from 0 to 1"),
        ({"laziness": -0.1}, "'laziness' must be a share from 0 to 1"),
        ({"drop_out": 1.1}, "'drop_out' must be a share"),
        ({"pace": 0}, "'pace' must be a positive number of seconds"),
    ],
)
def test_behaviour_that_cannot_be_is_refused(values: dict[str, float], words: str) -> None:
    with pytest.raises(AdjudgeError, match=words):
        Behaviour(**values)


@pytest.mark.parametrize(
    ("values", "words"), [({"assessors": 0}, "assessors"), ({"repeats": 0}, "repeats"), ({"seed": -1}, "seed")]
)
def test_a_plan_that_cannot_be_is_refused(values: dict[str, int], words: str) -> None:
    with pytest.raises(AdjudgeError, match=words):
        Plan(**values)  # type: ignore[arg-type]


def row(key: str, lease: str = "l", grade: float = 1) -> dict[str, Any]:
    return {"key": key, "lease_id": lease, "grades": {"fine": grade}}


@pytest.mark.parametrize(
    ("rows", "wrong"),
    [
        ([row("k1", "l1"), row("k2", "l2")], None),
        ([row("k1", "l1")], None),  # the second was sent, but never acknowledged
        ([row("k2", "l2")], "lost"),
        ([row("k1", "l1"), row("k1", "l3")], "doubled"),
        ([row("k1", "l1"), row("k2", "l1")], "doubled"),
        ([row("k1", "l1", grade=2)], "changed"),
        ([row("k1", "l1"), row("k9", "l9")], "invented"),
    ],
)
def test_an_account_finds_what_is_lost_doubled_changed_or_invented(
    rows: list[dict[str, Any]], wrong: str | None
) -> None:
    somebody = person(Behaviour())
    somebody.sent = ["k1", "k2"]
    somebody.answers = [Acknowledged(1, "k1", "l1", "q", "d", {"fine": 1}, 0.01, again=False)]
    found = account([somebody], rows)
    assert found.is_clean is (wrong is None)
    for name in ("lost", "doubled", "changed", "invented"):
        assert bool(getattr(found, name)) is (name == wrong)


def trial(judgments: int, **values: Any) -> Trial:
    base: dict[str, Any] = {
        "seed": 0, "reached": True, "judgments": judgments, "candidates": 100, "answers": judgments + 5,
        "person_hours": judgments / 100, "hours": judgments / 500, "accuracy": 0.9, "tau": 0.8, "best": True,
        "claims": 10, "wrong": 1, "left": 0, "account": CLEAN, "latencies": (0.01, 0.03),
    }  # fmt: skip
    return Trial(**(base | values))


def test_a_forecast_sums_repetitions_up() -> None:
    trials = [trial(10), trial(20, best=False), trial(30, reached=False, claims=0, wrong=0)]
    found = forecast(trials, assessors=4)
    assert found.judgments == Range(20, 11, 29)
    assert found.reached == pytest.approx(2 / 3)
    assert found.best == pytest.approx(2 / 3)
    assert (found.claims, found.wrong) == (20, 0.1)
    assert (found.lost, found.doubled, found.invented) == (0, 0, 0)
    assert found.latency_p50 == pytest.approx(0.02)


def test_the_command_rehearses_a_stored_campaign_and_says_it_as_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.web.making import make_small_campaign

    from adjudge.web.store.database import open_database

    settings = Settings(data=tmp_path / "data")
    database = open_database(settings)
    make_small_campaign(
        database, settings, name="small", login="ada", password="a long password", state="draft", by_sound=True
    )
    database.close()
    asked = ["campaign", "rehearse", "small", "--data", str(tmp_path / "data"), "--assessors", "2", "--repeats", "1"]
    assert main([*asked, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == "adjudge: note: the campaign has no clips to hear yet, so that it is rehearsed without sound\n"
    said = json.loads(out)
    assert said["forecast"]["lost"] == said["forecast"]["doubled"] == said["forecast"]["invented"] == 0
    assert 0 < said["forecast"]["judgments"]["median"] <= said["forecast"]["candidates"]
    assert len(said["repetitions"]) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Expected the name of a campaign, or --demo"),
        (["x", "--demo"], "Expected the name of a campaign, or --demo"),
        (["x", "--data", "/nowhere/at/all"], "there are no campaigns here"),
        (["--demo", "--noise", "7"], "'noise' must be from 0 to 1"),
        (["--demo", "--repeats", "0"], "'repeats' must be a whole number of at least 1"),
    ],
)
def test_a_rehearsal_that_cannot_be_is_one_line(
    capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert main(["campaign", "rehearse", *arguments]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1
