"""A combination of measure and scale finds the mapping made for it under every name it has, and under no other."""

from __future__ import annotations

import itertools

import pytest

import adjudge as aj
from adjudge.measures import parse_measure
from adjudge.model.provenance import Provenance
from adjudge.users import SatisfactionMapping, find_agreement, find_satisfaction, scale_of
from adjudge.users.combinations import fingerprint, relevance_scale, same_print
from adjudge.users.satisfaction import TABLE_4_3


@pytest.mark.parametrize("mapping", TABLE_4_3, ids=lambda m: f"{m.measure} on {m.scale}")
def test_every_tabled_combination_finds_itself(mapping: SatisfactionMapping) -> None:
    assert find_satisfaction(mapping.measure, mapping.scale).mapping is mapping
    assert str(parse_measure(mapping.measure)) == mapping.measure


def test_no_two_tabled_combinations_are_the_same() -> None:
    prints = [
        (relevance_scale(m.scale), fingerprint(parse_measure(m.measure), relevance_scale(m.scale))) for m in TABLE_4_3
    ]
    for (scale, one), (other_scale, other) in itertools.combinations(prints, 2):
        assert scale.origin != other_scale.origin or not same_print(one, other)


@pytest.mark.parametrize(
    ("measure", "scale", "tabled", "on"),
    [
        # Tables 3.1 and 4.1 of the thesis
        ("CG@5", "binary20", "P@5", "binary20"),
        ("CG(gain=exp)@5", "binary40", "P@5", "binary40"),
        ("DCG(gain=exp)@5", "binary40", "DCG@5", "binary40"),
        ("Q(ideal=max)@5", "binary20", "AP(ideal=max)@5", "binary20"),
        ("Q(gain=exp,ideal=max)@5", "binary20", "AP(ideal=max)@5", "binary20"),
        ("RBP(gain=exp,ideal=max)@5", "binary40", "RBP(ideal=max)@5", "binary40"),
        ("GAP(ideal=max)@5", "binary40", "AP(ideal=max)@5", "binary40"),
        # other names for the same numbers
        ("nDCG(ideal=max)@5", "graded4", "DCG@5", "graded4"),
        ("AG(ideal=max)@5", "fine", "CG@5", "fine"),
        ("Fine@5", "fine", "CG@5", "fine"),
        ("PSum@5", "broad", "CG@5", "broad"),
        ("WCSum@5", "broad", "CG(gain=exp)@5", "broad"),
        ("DCG(gain={0:0,1:1,2:3})@5", "broad", "DCG(gain=exp)@5", "broad"),
        ("P(ideal=max)@5", "binary20", "P@5", "binary20"),
        # a threshold in the measure or in the scale
        ("P(rel=40)@5", "fine", "P@5", "binary40"),
        ("AP(rel=20,ideal=max)@5", "fine", "AP(ideal=max)@5", "binary20"),
        ("RBP(rel=40,ideal=max)@5", "Fine", "RBP(ideal=max)@5", "binary40"),
    ],
)
def test_what_is_equal_by_definition_is_found(measure: str, scale: str, tabled: str, on: str) -> None:
    found = find_satisfaction(measure, scale)
    assert found.mapping is not None, found.reason
    assert (found.mapping.measure, found.mapping.scale) == (tabled, on)
    assert found.reason is None


@pytest.mark.parametrize(
    ("measure", "scale"),
    [
        ("nDCG@5", "fine"),
        ("CG@10", "fine"),
        ("CG", "fine"),
        ("CG(ideal=none)@5", "fine"),
        ("CG(ideal=judged)@5", "broad"),
        ("CG(judged_only=True)@5", "broad"),
        ("AP@5", "binary40"),
        ("AP(ideal=judged)@5", "binary40"),
        ("RBP(p=0.81,ideal=max)@5", "fine"),
        ("RBP@5", "fine"),
        ("DCG(discount=original)@5", "fine"),
        ("DCG(base=10)@5", "broad"),
        ("Q(beta=2,ideal=max)@5", "fine"),
        ("P(rel=60)@5", "fine"),
        ("P(rel=4)@5", "fine (0..10)"),
        ("Greater1@5", "broad"),
        ("CG@5", "graded3"),
        ("CG@5", "graded4 of 0..10"),
        ("P@5", "binary"),
    ],
)
def test_what_is_not_tabled_is_not_found(measure: str, scale: str) -> None:
    found = find_satisfaction(measure, scale)
    assert found.mapping is None
    assert found.reason is not None
    assert found.reason.startswith(f"no satisfaction mapping for {measure} on ")
    assert "\n" not in found.reason


def test_the_reason_names_what_is_known_and_what_may_be_meant() -> None:
    assert find_agreement("nDCG@10", "fine").reason == (
        "no agreement mapping for nDCG@10 on fine; known on fine: CG@5, DCG@5"
    )
    assert find_agreement("CG@5", "graded (0..2)").reason == (
        "no agreement mapping for CG@5 on 0..2; known scales: broad, fine "
        "(if these are Broad grades of MIREX, name the scale: broad)"
    )
    assert find_agreement("CG@5", None).reason == (
        "no agreement mapping for CG@5: the scale of its judgments is not known"
    )
    assert "No measure is called 'my score'" not in str(find_agreement("CG@5", "fine").reason)
    assert "expected judgments on the Broad scale" in str(find_agreement("PSum@5", "fine").reason)


def eff_with(**settings: str) -> aj.Effectiveness:
    from dataclasses import replace

    eff = aj.Effectiveness.from_matrix([[0.2, 0.4], [0.5, 0.1]], measure="CG@5")
    return replace(eff, provenance=Provenance(settings=settings))


@pytest.mark.parametrize(
    ("settings", "scale"),
    [
        ({}, None),
        ({"scale": "fine (0..100)"}, "fine (0..100)"),
        ({"scale": "binary (0..1)", "rescaled": "Binary40"}, "binary40"),
        ({"scale": "binary (0..1)", "rescaled": "binary40", "rescaled_from": "fine (0..100)"}, "binary40"),
        (
            {"scale": "graded (0..3)", "rescaled": "graded4", "rescaled_from": "graded (0..10)"},
            "graded4 of graded (0..10)",
        ),
    ],
)
def test_an_effectiveness_knows_its_scale(settings: dict[str, str], scale: str | None) -> None:
    assert scale_of(eff_with(**settings)) == scale
    if scale is not None:
        relevance_scale(scale)


def test_a_collection_and_its_conversion_are_recognised() -> None:
    collection = aj.demo(queries=5, depth=5)
    assert find_satisfaction("CG@5", scale_of(aj.evaluate(collection, "CG@5"))).mapping is not None
    converted = scale_of(aj.evaluate(collection.rescaled("graded5"), "CG@5"))
    found = find_satisfaction("CG@5", converted).mapping
    assert found is not None
    assert found.scale == "graded5"
