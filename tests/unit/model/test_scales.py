"""Scales and the conversions of the thesis, section 3.1.2."""

from __future__ import annotations

import numpy as np
import pytest

from adjudge.errors import AdjudgeError
from adjudge.model.scales import BINARY, BROAD, FINE, Scale, conversion, infer_scale, parse_scale


@pytest.mark.parametrize(
    ("target", "bounds"),
    [
        ("graded3", (34, 67)),
        ("graded4", (26, 51, 76)),
        ("graded5", (21, 41, 61, 81)),
        ("binary20", (20,)),
        ("binary40", (40,)),
        ("binary60", (60,)),
        ("binary80", (80,)),
    ],
)
def test_fine_grades_are_cut_where_the_thesis_cuts_them(target: str, bounds: tuple[int, ...]) -> None:
    convert = conversion(target, FINE)
    grades = np.arange(101, dtype=np.float64)
    assert convert(grades).tolist() == [sum(grade >= bound for bound in bounds) for grade in range(101)]
    assert convert.scale.maximum == len(bounds)


def test_broad_cut_in_three_stays_as_it_is() -> None:
    assert conversion("graded3", BROAD)(np.array([0.0, 1.0, 2.0])).tolist() == [0, 1, 2]


def test_a_continuous_scale_is_cut_in_equal_parts() -> None:
    assert conversion("graded4", Scale("unit", 1.0)).bounds == (0.25, 0.5, 0.75)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("graded1", "expected gradedN"),
        ("graded200", "has 200 levels, more than the scale"),
        ("binary0", "cuts outside the scale"),
        ("binary101", "cuts outside the scale"),
        ("nothing", "expected gradedN"),
    ],
)
def test_conversions_that_make_no_sense_are_refused(target: str, message: str) -> None:
    with pytest.raises(AdjudgeError, match=message):
        conversion(target, FINE)


def test_scales_are_read_as_users_write_them() -> None:
    assert parse_scale(" Fine ") is FINE
    assert parse_scale("0..1") is BINARY
    assert parse_scale("-2..4").minimum == -2
    assert parse_scale("0..2.5").levels is None
    for text in ("", "4..0", "0..0", "1..2", "fines"):
        with pytest.raises(AdjudgeError, match="Scale"):
            parse_scale(text)


def test_a_scale_is_inferred_from_its_grades() -> None:
    assert infer_scale(np.array([0.0, 1.0])) is BINARY
    assert infer_scale(np.array([0.0, 0.0])) is BINARY
    assert infer_scale(np.array([-2.0, 3.0])) == Scale("graded", 3.0, -2.0, levels=6)
    assert infer_scale(np.array([0.5, 2.5])).levels is None
