"""What every registered gain must obey: nothing for grades of 0 or less, and never less for a higher grade."""

from __future__ import annotations

import numpy as np
import pytest

import adjudge as aj
from adjudge.measures import GAINS

every_gain = pytest.mark.parametrize("name", GAINS)


@every_gain
def test_grades_of_0_or_less_have_no_gain(name: str) -> None:
    assert GAINS[name](np.array([-3.0, -0.5, 0.0])).tolist() == [0, 0, 0]


@every_gain
def test_a_higher_grade_never_gains_less(name: str) -> None:
    gains = GAINS[name](np.linspace(-2, 100, 1000))
    assert np.isfinite(gains).all()
    assert (np.diff(gains) >= 0).all()
    assert gains[-1] > 0


@every_gain
def test_it_takes_arrays_of_any_shape(name: str) -> None:
    grades = np.arange(12.0).reshape(3, 4)
    assert GAINS[name](grades).shape == (3, 4)
    assert GAINS[name](grades)[1, 2] == GAINS[name](np.array([6.0]))[0]


@every_gain
def test_measures_name_it(name: str) -> None:
    measure = aj.parse_measure(f"DCG(gain={name})@5")
    assert aj.parse_measure(str(measure)) == measure
