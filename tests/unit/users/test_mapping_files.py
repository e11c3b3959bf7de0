"""Files of mappings: what is written is read back, what cannot be used is refused with its place."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import adjudge as aj
from adjudge.users import Mappings, SatisfactionMapping, find_satisfaction, read_mappings, write_mappings
from adjudge.users.noticing import AGREEMENT_2012
from adjudge.users.satisfaction import TABLE_4_3

POINTS = SatisfactionMapping("nDCG@10", "0..3", "points", points=((0.0, 0.1), (0.4, 0.3), (1.0, 0.9)), source="ours")


def test_json_holds_everything(tmp_path: Path) -> None:
    told = SatisfactionMapping("P@5", "binary40", "cubic", (0.1, 0.2, 0.3, 0.1), provenance=(("answers", "12"),))
    mappings = Mappings((*TABLE_4_3[:3], POINTS, told), AGREEMENT_2012)
    write_mappings(mappings, tmp_path / "own.json")
    assert read_mappings(tmp_path / "own.json") == mappings
    assert "satisfaction: nDCG@10 on 0..3" in str(mappings)


@pytest.mark.parametrize("satisfaction", [TABLE_4_3, (POINTS,)], ids=["cubics", "points"])
def test_csv_holds_satisfaction(tmp_path: Path, satisfaction: tuple[SatisfactionMapping, ...]) -> None:
    write_mappings(Mappings(satisfaction), tmp_path / "own.csv")
    assert read_mappings(tmp_path / "own.csv") == Mappings(satisfaction)


def test_csv_refuses_what_it_cannot_hold(tmp_path: Path) -> None:
    logistic = SatisfactionMapping("CG@5", "fine", "logistic", (-1.0, 3.0))
    for mappings in (Mappings((POINTS, TABLE_4_3[0])), Mappings(agreement=AGREEMENT_2012), Mappings((logistic,))):
        with pytest.raises(aj.AdjudgeError, match=r"own\.csv: CSV holds satisfaction mappings of one kind"):
            write_mappings(mappings, tmp_path / "own.csv")
    assert not (tmp_path / "own.csv").exists()


@pytest.mark.parametrize(
    "text",
    [
        "scale, measure,a0,a1,a2,a3\r\nfine,nDCG(ideal=max)@5,0,1,0,0\r\n\r\n",
        '{"satisfaction": [{"measure": "DCG@5", "scale": "Fine", "points": [[0, 0], [1, 1]]}]}',  # points need no kind
    ],
)
def test_own_mappings_override_the_defaults(tmp_path: Path, text: str) -> None:
    path = tmp_path / "own.txt"
    path.write_text(text)
    found = find_satisfaction("DCG@5", "fine", mappings=read_mappings(path).satisfaction).mapping
    assert found is not None
    assert float(found(0.3)) == pytest.approx(0.3)


GOOD = {"measure": "CG@5", "scale": "fine", "coefficients": [0, 1, 0, 0]}
CURVE = {"measure": "CG@5", "scale": "fine", "form": "two-stage", "parameters": [-0.2, 3.0, 4.2]}


def satisfying(**changed: object) -> str:
    """A file with one mapping; None leaves out a key."""
    entry = {key: value for key, value in {**GOOD, **changed}.items() if value is not None}
    return json.dumps({"satisfaction": [entry]})


def noticing(**changed: object) -> str:
    return json.dumps({"agreement": [CURVE | changed]})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"satisfaction": [\n{"measure": }]}', r":2: expected JSON"),
        ('{"happiness": []}', r"expected an object with 'satisfaction' and 'agreement', got 'happiness'"),
        ("{}", "got an empty one"),
        ("[]", "expected an object with 'satisfaction' and 'agreement', got list"),
        ('{"satisfaction": []}', "expected at least one mapping, got none"),
        ('{"satisfaction": {}}', "satisfaction: expected a list of mappings, got dict"),
        ('{"satisfaction": [3]}', r"satisfaction\[0\]: expected an object, got '3'"),
        ('{"satisfaction": [], "satisfaction": []}', "the key 'satisfaction' twice"),
        (json.dumps({"satisfaction": [GOOD, GOOD]}), r"satisfaction\[1\]: expected each combination once, got CG@5 on"),
        (satisfying(scale=None), r"satisfaction\[0\]: 'scale' must be text, got nothing"),
        (satisfying(measure="cg@5"), r"\[0\]: No measure is called 'cg'"),
        (satisfying(scale="coarse"), r"\[0\]: Scale: expected one of"),
        (satisfying(measure="PSum@5"), r"\[0\]: PSum@5: expected judgments on the B"),
        (satisfying(coefficients=[1, 0, 0]), r"'cubic' has 4 parameters \(a0, a1, a2, a3\), got 3"),
        (satisfying(coefficients=["x", 1, 0, 0]), "'coefficients' must be a list of numbers"),
        (satisfying(coefficients=7), "must be a list of numbers, got '7'"),
        (satisfying(numbers=[1]), "has no key 'numbers'; known: measure"),
        (satisfying(coefficients=None, points=[[0, 1, 2]]), "'points' must be pairs"),
        (satisfying(coefficients=None, points=5), "'points' must be a list of lists"),
        (satisfying(provenance=5), "'provenance' must be an object"),
        (noticing(parameters=[1]), r"agreement\[0\]: CG@5 on fine: 'two-stage' has 3 parameters"),
        (noticing(form=None), r"\[0\]: 'form' must be text"),
        (noticing(covariance=[[float("nan")] * 3] * 3), "the covariance must be finite"),
        (noticing(covariance=(-np.eye(3)).tolist()), "with variances of 0 or more"),
        ("measure,scale,a0,a1,a2\nCG@5,fine,1,2,3", r":1: expected a column 'a3', got the columns 'measure', "),
        ("measure,scale,a0,a1,a2,a3\nCG@5,fine,1,2,3", r":2: expected 6 columns, got 5"),
        ("measure,scale,a0,a1,a2,a3\n\nCG@5,fine,1,2,x,3", r":3: expected a finite number as a2, got 'x'"),
        ("measure,scale,a0,a1,a2,a3\nCG@5,fine,1,2,nan,3", r":2: expected a finite number as a2, got 'nan'"),
        ("measure,scale,a0,a1,a2,a3\nCG@5,fine,1,2,3,4\nCG@5,Fine,1,2,3,4", r":3: expected each combination once"),
        ("measure,scale,effectiveness,satisfaction\nCG@5,fine,0.1,0.2\nCG@5,fine,1,1", r":2: .*must rise from"),
        ("measure,scale,a0,a1,a2,a3\n", "expected at least one row of data, got none"),
        ("", "expected data, got an empty file"),
    ],
)
def test_bad_files_are_refused_with_their_place(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "own.txt"
    path.write_text(text)
    with pytest.raises(aj.InputError, match=message) as error:
        read_mappings(path)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)
