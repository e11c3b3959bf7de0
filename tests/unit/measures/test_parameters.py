"""Parameters of measures: parsed, bounded, printed; gains by name, by table, by function."""

from __future__ import annotations

import numpy as np
import pytest

import adjudge as aj
from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.measures.parameters import GAINS, GainChoice


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("RBP(p=1.5)", "RBP: 'p' must be in (0, 1), got 1.5"),
        ("RBP(p=0)", "RBP: 'p' must be in (0, 1), got 0"),
        ("RBP(p=1)", "RBP: 'p' must be in (0, 1), got 1"),
        ("RBP(p=nan)", "RBP: 'p' must be in (0, 1), got nan"),
        ("P(rel=0)@5", "P: 'rel' must be a finite number above 0, got 0"),
        ("P(rel=-1)@5", "P: 'rel' must be a finite number above 0, got -1"),
        ("P(rel=inf)@5", "P: 'rel' must be a finite number above 0, got inf"),
        ("Q(beta=-0.1)@5", "Q: 'beta' must be a finite number of at least 0, got -0.1"),
        ("nDCG(base=1)@5", "nDCG: 'base' must be a finite number above 1, got 1"),
        ("nDCG(discount=linear)@5", "nDCG: 'discount' must be one of log, original, got 'linear'"),
        ("nDCG(gain={1})@5", "nDCG: 'gain' must be one of linear, exp or a table such as {0:0,1:1,2:3}, got '{1}'"),
    ],
)
def test_values_that_make_no_sense_are_refused_with_what_was_wanted(text: str, message: str) -> None:
    with pytest.raises(AdjudgeError) as raised:
        aj.parse_measure(text)
    assert str(raised.value) == message


@pytest.mark.parametrize(
    "table",
    ["{0:1,1:2}", "{1:2,2:1}", "{1:-1,2:1}", "{0:0,1:0}", "{1:inf}", "{-1:1,1:2}"],
    ids=["a gain for 0", "falling", "negative", "no gain at all", "infinite", "a gain below 0"],
)
def test_a_table_of_gains_must_make_sense(table: str) -> None:
    with pytest.raises(AdjudgeError, match=r"nDCG: 'gain' must give 0 to grades of 0 or less and never fall, got \{"):
        aj.parse_measure(f"nDCG(gain={table})")


def test_numbers_from_python_and_from_text_are_the_same() -> None:
    assert aj.parse_measure("P@5", rel=2) == aj.parse_measure("P@5", rel="2") == aj.parse_measure("P(rel=2.0)@5")
    assert aj.parse_measure("P@5", rel=None) == aj.parse_measure("P@5")
    with pytest.raises(AdjudgeError, match=r"^P: 'rel' must be a finite number above 0, got True$"):
        aj.parse_measure("P@5", rel=True)


@pytest.mark.parametrize("value", [0.1 + 0.2, 1 / 3, 2.5e-7, 0.999999999999])
def test_a_number_is_printed_so_that_it_reads_back_exactly(value: float) -> None:
    measure = aj.parse_measure("RBP", p=value)
    assert dict(aj.parse_measure(str(measure)).parameters)["p"] == value


# Gains


def gained(measure: str | aj.Measure, grades: list[float], scale: str = "0..3") -> float:
    documents = {f"d{i}": grade for i, grade in enumerate(grades)}
    return float(
        aj.evaluate(aj.read({"s": {"q": list(documents)}}, {"q": documents}, scale=scale), measure).values.item()
    )


def test_a_table_gives_each_grade_its_gain() -> None:
    assert gained("CG(gain={0:0,1:2,2:5,3:9},ideal=none)", [0, 1, 2, 3]) == 2 + 5 + 9
    assert gained("CG(gain={1:2,2:5,3:9},ideal=none)", [0, 1]) == 2  # 0 need not be said
    assert gained("CG(gain={1:2,2:5},ideal=none)", [-1, 1], scale="-1..2") == 2


def test_a_table_without_a_grade_that_occurs_is_refused() -> None:
    with pytest.raises(AdjudgeError, match=r"gain=\{0:0,1:2\}: has no gain for grade 3"):
        gained("CG(gain={0:0,1:2},ideal=none)", [1, 3])
    with pytest.raises(AdjudgeError, match=r"gain=\{0:0,1:2,3:5\}: has no gain for grade 1.5"):
        gained("CG(gain={0:0,1:2,3:5},ideal=none)", [1.5])


def test_the_same_table_is_the_same_measure() -> None:
    assert aj.parse_measure("DCG(gain={1:2,0:0})") == aj.parse_measure("DCG", gain={0: 0, 1: 2})
    assert aj.parse_measure("DCG(gain={1:2})") != aj.parse_measure("DCG(gain={1:3})")


def test_a_python_function_is_a_gain() -> None:
    def squared(grades: Floats) -> Floats:
        return np.maximum(grades, 0.0) ** 2

    measure = aj.parse_measure("CG", gain=squared, ideal="none")
    assert gained(measure, [1, 2, 3]) == 14
    assert str(measure) == "CG(gain=squared,ideal=none)"


def test_a_registered_gain_has_a_name_that_measures_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GAINS, "_members", dict(GAINS))

    @aj.measures.gain("rooted")
    def rooted(grades: Floats) -> Floats:
        return np.sqrt(np.maximum(grades, 0.0))

    assert gained("CG(gain=rooted,ideal=none)", [1, 0, 4], scale="0..4") == 3
    assert rooted(np.array([9.0])).tolist() == [3]
    with pytest.raises(ValueError, match="A gain called 'rooted' is registered already"):
        aj.measures.gain("rooted")(rooted)
    with pytest.raises(AdjudgeError, match="A gain needs a name of letters, digits and underscores, got 'a-b'"):
        aj.measures.gain("a-b")


def test_gains_are_linear_or_exponential() -> None:
    assert GAINS["linear"](np.array([-1.0, 0.0, 1.5])).tolist() == [0, 0, 1.5]
    assert GAINS["exp"](np.array([-1.0, 0.0, 3.0])).tolist() == [0, 0, 7]
    assert "linear, exp" in GainChoice(GAINS["exp"]).wanted
