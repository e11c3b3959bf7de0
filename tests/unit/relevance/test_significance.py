"""The four rules of AdMIRe 2012, section 5, against the t test of SciPy."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

import adjudge as aj
from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.model.scales import FINE
from adjudge.relevance.base import RelevanceModel, scoring, start
from adjudge.relevance.candidates import candidates
from adjudge.relevance.significance import estimate_significance

Dicts = Callable[..., tuple[dict[str, Any], dict[str, Any]]]
LINEAR = ("CG@5", "CG(ideal=none)@5", "DCG@5", "RBP(p=0.6)@5")


def model_of(collection: aj.Collection, measure: str, share: float, seed: int = 1) -> RelevanceModel:
    """A share of the candidates judged."""
    everything = candidates(collection, cutoff=int(measure.split("@")[1]))
    model = start("uniform", everything.unjudged(), scoring(measure, everything.scale))
    for pair in np.random.default_rng(seed).permutation(len(everything))[: round(share * len(everything))]:
        model.judge(int(pair), float(np.nan_to_num(everything.relevance[pair])))
    return model


def bounds(model: RelevanceModel, a: int, b: int) -> tuple[Floats, Floats]:
    """Lowest and highest difference of each query over all relevance of 0 and 1 that unjudged documents may have.

    Each document counts on its own, so the extremes are found one document at a time.
    """
    c = model.candidates
    weights = model.scoring.matrix(c).toarray()
    effects = weights[:, a] - weights[:, b]
    low, high = np.zeros(c.n_queries), np.zeros(c.n_queries)
    for pair, effect in enumerate(effects):
        judged, relevance = model.judged[pair], model.mean[pair]
        low[c.query[pair]] += effect * relevance if judged else min(effect, 0.0)
        high[c.query[pair]] += effect * relevance if judged else max(effect, 0.0)
    return low, high


def significantly_above(differences: Floats, alpha: float) -> bool:
    if np.ptp(differences) < 1e-12:
        return bool(differences[0] > 1e-12)
    return bool(stats.ttest_1samp(differences, 0, alternative="greater").pvalue <= alpha)


def by_definition(low: Floats, high: Floats, estimate: float, alpha: float, threshold: float) -> tuple[str, int | None]:
    if significantly_above(-high, alpha):
        return "worse", 1
    if significantly_above(low, alpha):
        return "better", 2
    if not significantly_above(high, alpha) and not significantly_above(-low, alpha):
        return "not different", 3
    if abs(estimate) > threshold:
        return ("probably better" if estimate > 0 else "probably worse"), 4
    return "open", None


@pytest.mark.parametrize("measure", LINEAR)
@pytest.mark.parametrize("share", [0.0, 0.8, 1.0])
def test_rules_follow_from_bounds_and_t_tests(make_dicts: Dicts, measure: str, share: float) -> None:
    runs, judgments = make_dicts(8, n_systems=3, n_queries=7, longest=6)
    judgments["999"] = {"d01": 1}
    for query in judgments:  # a system that is clearly better, and one that is clearly worse
        runs["best"] = {**runs.get("best", {}), query: {"good": 9.0, **runs["s1"].get(query, {})}}
        judgments[query]["good"] = 3
        runs["worst"] = {**runs.get("worst", {}), query: {"bad": 1.0}}
        judgments[query]["bad"] = 0
    model = model_of(aj.read(runs, judgments, scale="0..3"), measure, share)
    found = estimate_significance(model, alpha=0.1, threshold=0.05)
    names, scores = model.candidates.systems, model.scores().mean
    pairs = list(itertools.combinations(range(len(names)), 2))
    for pair, (a, b) in zip(found, pairs, strict=True):
        low, high = bounds(model, a, b)
        estimate = float(scores[a] - scores[b])
        assert (pair.system, pair.other) == (names[a], names[b])
        assert (pair.lower, pair.upper, pair.estimate) == pytest.approx((low.mean(), high.mean(), estimate), abs=1e-12)
        assert (pair.verdict, pair.rule) == by_definition(low, high, estimate, 0.1, 0.05)


def test_rules_1_to_3_are_never_wrong_about_the_full_judgments() -> None:
    collection = aj.demo(queries=40, depth=5)
    full = {
        (pair.system, pair.other): pair.verdict for pair in estimate_significance(model_of(collection, "CG@5", 1.0))
    }
    assert set(full.values()) == {"better", "worse", "not different"}
    used = set()
    for share in (0.7, 0.85, 0.95, 0.99):
        for pair in estimate_significance(model_of(collection, "CG@5", share)):
            used.add(pair.rule)
            if pair.rule in (1, 2, 3):
                assert pair.verdict == full[pair.system, pair.other]
    assert used == {1, 2, 3, 4, None}


def test_the_threshold_is_a_share_of_the_highest_score() -> None:
    """Rule 4 says the same of scores from 0 to 1 and of plain sums of grades, which reach 500."""
    collection = aj.demo(queries=20, depth=5)
    verdicts = []
    for measure in ("CG@5", "CG(ideal=none)@5"):
        found = estimate_significance(model_of(collection, measure, 0.7))
        verdicts.append([(pair.system, pair.other, pair.verdict, pair.rule) for pair in found])
    assert verdicts[0] == verdicts[1]
    assert {rule for *_, rule in verdicts[0]} >= {4, None}


def test_copies_and_certain_differences_make_no_nan() -> None:
    runs = {"a": {"q1": ["x"], "q2": ["x"]}, "copy": {"q1": ["x"], "q2": ["x"]}, "b": {"q1": ["y"], "q2": ["y"]}}
    grades = {q: {"x": 100, "y": 0} for q in ("q1", "q2")}
    found = estimate_significance(model_of(aj.read(runs, grades, scale="fine"), "CG@1", 1.0))
    verdicts = {(pair.system, pair.other): pair.verdict for pair in found}
    assert verdicts == {("a", "b"): "better", ("a", "copy"): "not different", ("b", "copy"): "worse"}


def test_a_single_query_is_never_significant() -> None:
    model = model_of(aj.read({"a": {"q": ["x"]}, "b": {"q": ["y"]}}, {"q": {"x": 100}}, scale="fine"), "CG@1", 1.0)
    assert [pair.verdict for pair in estimate_significance(model)] == ["not different"]


def test_ratios_have_no_bounds_here() -> None:
    found = candidates(aj.demo(queries=4, depth=5), cutoff=5)
    model = start("uniform", found, scoring("nDCG@5", FINE))
    with pytest.raises(AdjudgeError, match="nDCG@5: bounds of significance are for CG, DCG and RBP, not for ratios"):
        estimate_significance(model)
