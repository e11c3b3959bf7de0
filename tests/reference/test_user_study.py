"""The user study of ISMIR 2012: its columns of effectiveness come out of its columns of grades."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import adjudge as aj

SERVICES = "ab"
RANKS = range(1, 6)
SCALES = {"f": "fine", "b": "broad"}


@pytest.fixture(scope="module")
def answers(shared_data: Path) -> list[dict[str, str]]:
    with (shared_data / "user-study-2012" / "answers.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def grades(row: dict[str, str], scale: str, service: str) -> dict[str, float]:
    """Grade of each document of a list, by its rank: the same document may stand in both lists of an answer."""
    return {f"{service}{rank}": float(row[f"{scale}{rank}{service}"]) for rank in RANKS}


def evaluate(answers: list[dict[str, str]], scale: str, measures: list[str]) -> aj.Effectiveness:
    """Each answer is a query, each service a system."""
    runs = {
        service: {str(i): [f"{service}{rank}" for rank in RANKS] for i in range(len(answers))} for service in SERVICES
    }
    judgments = {str(i): grades(row, scale, "a") | grades(row, scale, "b") for i, row in enumerate(answers)}
    return aj.evaluate(aj.read(runs, judgments, scale=SCALES[scale]), measures)


@pytest.mark.parametrize("scale", SCALES)
def test_their_effectiveness_is_user_oriented_dcg_and_cg(answers: list[dict[str, str]], scale: str) -> None:
    assert len(answers) == 2200
    eff = evaluate(answers, scale, ["DCG(ideal=max)@5", "nDCG(ideal=max)@5", "CG@5"])
    assert eff.systems == tuple(SERVICES)
    columns = {"DCG@5": "ndcg", "nDCG(ideal=max)@5": "ndcg", "CG@5": "ag"}
    for measure, column in columns.items():
        published = np.array([[float(row[f"{column}{scale}{service}"]) for service in SERVICES] for row in answers])
        assert np.abs(eff.matrix(measure) - published).max() < 1e-9, measure


@pytest.mark.parametrize("scale", SCALES)
def test_their_differences_are_those_of_the_two_lists(answers: list[dict[str, str]], scale: str) -> None:
    eff = evaluate(answers, scale, ["DCG@5", "CG@5"])
    for measure, column in (("DCG@5", f"dndcg{scale}"), ("CG@5", f"dag{scale}")):
        ours = eff.matrix(measure)[:, 0] - eff.matrix(measure)[:, 1]
        assert np.abs(ours - [float(row[column]) for row in answers]).max() < 1e-9, measure


def test_mirex_names_for_the_sums_are_the_same_numbers(answers: list[dict[str, str]]) -> None:
    for scale, name in (("f", "Fine@5"), ("b", "PSum@5")):
        published = np.array([[float(row[f"ag{scale}{service}"]) for service in SERVICES] for row in answers])
        assert np.abs(evaluate(answers, scale, [name]).matrix() - published).max() < 1e-9
