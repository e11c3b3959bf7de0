"""What the hierarchical estimator believes before any judgment, and what machine opinions are worth to it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import adjudge as aj
from adjudge.arrays import Floats
from adjudge.model.scales import FINE
from adjudge.relevance.base import scoring
from adjudge.relevance.candidates import Candidates, candidates
from adjudge.relevance.hierarchical.effects import feature_columns
from adjudge.relevance.hierarchical.model import hierarchical


def with_strangers() -> Candidates:
    """Two of the judged documents were retrieved by nobody."""
    runs = {"a": {"q1": ["x", "y"], "q2": ["z"]}, "b": {"q1": ["y", "v"], "q2": ["w", "z"]}}
    grades = {"q1": {"x": 70, "stranger": 20}, "q2": {"another": 0, "z": 90}}
    return candidates(aj.read(runs, grades, scale="fine"), cutoff=2)


def column(c: Candidates, name: str) -> Floats:
    columns = feature_columns(c)
    return columns.values[:, columns.names.index(name)]


def test_copies_of_a_system_count_once() -> None:
    lists = {"q1": ["x", "y"], "q2": ["z", "x"]}
    copies = {"a": lists, "b": lists, "c": lists}
    c = candidates(aj.read(copies), cutoff=2, scale=FINE)
    np.testing.assert_allclose(column(c, "agreement"), 0.0, atol=1e-12)
    np.testing.assert_allclose(column(c, "systems"), np.sqrt(3) - 1)


def test_systems_with_one_document_in_common_count_as_two() -> None:
    runs = {"a": {"q": ["x", "y"]}, "b": {"q": ["z", "x"]}}
    c = candidates(aj.read(runs), cutoff=2, scale=FINE)
    # overlap ½, so n_eff = 4 / (1 + 1 + 2 · ½)
    np.testing.assert_allclose(column(c, "agreement"), [np.sqrt(4 / 3) - 1, 0, 0])
    np.testing.assert_allclose(column(c, "crowd"), 0.0, atol=1e-12)
    np.testing.assert_allclose(column(c, "rank"), [0.0, -0.5, 0.5], atol=1e-12)


def test_the_crowd_of_a_system_is_how_much_others_agree_with_it() -> None:
    runs = {"a": {"q": ["x", "y"]}, "b": {"q": ["z", "x"]}, "lone": {"q": ["v", "w"]}}
    c = candidates(aj.read(runs), cutoff=2, scale=FINE)
    agreed = (np.sqrt(4 / 3) - 1) / 2  # mean over the two documents of a and of b
    expected = {"x": agreed / 3, "y": agreed / 3, "z": agreed / 3, "v": -2 * agreed / 3, "w": -2 * agreed / 3}
    np.testing.assert_allclose(column(c, "crowd"), [expected[d] for d in c.document])


def test_pairs_that_nobody_retrieved_have_a_constant_of_their_own() -> None:
    c = with_strangers()
    nobody = np.array([document in ("stranger", "another") for document in c.document])
    np.testing.assert_array_equal(column(c, "retrieved by none"), nobody)
    for name in ("systems", "agreement", "rank", "crowd", "crowd in query"):
        assert (column(c, name)[nobody] == 0).all()
    assert "retrieved by none" not in feature_columns(candidates(aj.demo(depth=3), cutoff=3)).names


def test_plain_features_are_those_of_the_note() -> None:
    c = candidates(aj.demo(depth=3), cutoff=3)
    assert feature_columns(c, chosen="plain").names == ("constant", "systems", "sGEN", "fGEN")
    without = feature_columns(c.without_metadata(), chosen="plain")
    assert (without.names, without.mean.tolist(), without.sd.tolist()) == (
        ("constant", "systems"),
        [0.35, 0.2],
        [0.25, 0.15],
    )


def test_expectations_of_another_estimator_are_the_first_guess() -> None:
    c = candidates(aj.demo(queries=4, depth=3), cutoff=3).unjudged()
    base = np.linspace(0.2, 0.8, len(c))
    model = hierarchical(c, scoring("CG@3", c.scale), base=base)
    np.testing.assert_allclose(model.mean, base, atol=1e-12)


def test_opinions_are_standardised_and_silent_where_there_are_none() -> None:
    c = candidates(aj.demo(queries=4, depth=3), cutoff=3)
    opinion = np.arange(len(c), dtype=np.float64)
    opinion[::3] = np.nan
    told = column(dataclasses.replace(c, opinions={"ear": opinion}), "opinion ear")
    assert (told[::3] == 0).all()
    spoken = told[~np.isnan(opinion)]
    assert (spoken.mean(), spoken.std()) == pytest.approx((0, 1))
    for silent in (np.full(len(c), np.nan), np.full(len(c), 7.0)):
        assert (column(dataclasses.replace(c, opinions={"ear": silent}), "opinion ear") == 0).all()


def error_after(c: Candidates, n: int) -> float:
    """Root mean squared error of expected relevance of what is not judged, after n random judgments."""
    model = hierarchical(c.unjudged(), scoring("CG@5", c.scale))
    for pair in np.random.default_rng(6).permutation(len(c))[:n]:
        model.judge(int(pair), float(c.relevance[pair]))
    left = ~model.judged
    return float(np.sqrt(((model.mean - c.relevance)[left] ** 2).mean()))


def test_a_good_oracle_saves_much_and_a_bad_one_costs_little() -> None:
    c = candidates(aj.demo(queries=30, depth=5), cutoff=5)
    rng = np.random.default_rng(7)
    good = dataclasses.replace(c, opinions={"oracle": c.relevance + 0.15 * rng.standard_normal(len(c))})
    against = dataclasses.replace(c, opinions={"oracle": 3 - 7 * good.opinions["oracle"]})
    bad = dataclasses.replace(c, opinions={"oracle": rng.standard_normal(len(c))})
    alone = error_after(c, 60)
    assert error_after(good, 60) < 0.75 * alone
    assert error_after(against, 60) == pytest.approx(error_after(good, 60), rel=0.02)
    assert error_after(bad, 60) < 1.03 * alone
