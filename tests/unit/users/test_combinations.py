"""A combination of measure and scale finds the mapping made for it under every name it has, and under no other."""

from __future__ import annotations

import itertools
from dataclasses import replace

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
    scales = [relevance_scale(m.scale) for m in TABLE_4_3]
    prints = [fingerprint(parse_measure(m.measure), scale) for m, scale in zip(TABLE_4_3, scales, strict=True)]
    for i, j in itertools.combinations(range(len(prints)), 2):
        assert scales[i].origin != scales[j].origin or not same_print(prints[i], prints[j])


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


@pytest.mark.parametrize(
    ("measure", "scale", "reason"),
    [
        ("nDCG@10", "fine", "on fine; known on fine: CG@5, DCG@5"),
        ("CG@5", "graded (0..2)", "on 0..2; known scales: broad, fine (if these are Broad grades of MIREX, name the"),
        ("CG@5", None, "CG@5: the scale of its judgments is not known"),
        ("PSum@5", "fine", "expected judgments on the Broad scale"),
    ],
)
def test_the_reason_names_what_is_known_and_what_may_be_meant(measure: str, scale: str | None, reason: str) -> None:
    assert reason in str(find_agreement(measure, scale).reason)


@pytest.mark.parametrize(
    ("settings", "scale"),
    [
        ({}, None),
        ({"scale": "fine (0..100)"}, "fine (0..100)"),
        ({"scale": "binary (0..1)", "rescaled": "Binary40"}, "binary40"),
        ({"scale": "binary (0..1)", "rescaled": "binary40", "rescaled_from": "fine (0..100)"}, "binary40"),
        ({"rescaled": "graded4", "rescaled_from": "graded (0..10)"}, "graded4 of graded (0..10)"),
    ],
)
def test_an_effectiveness_knows_its_scale(settings: dict[str, str], scale: str | None) -> None:
    eff = aj.Effectiveness.from_matrix([[0.2, 0.4], [0.5, 0.1]], measure="CG@5")
    assert scale_of(replace(eff, provenance=Provenance(settings=settings))) == scale
    if scale is not None:
        relevance_scale(scale)
