"""Questions whose answer is known."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from adjudge.errors import AdjudgeError, AdjudgeWarning
from adjudge.formats.reading import read_judgments
from adjudge.preferences.attention_checks import make_traps
from adjudge.preferences.questions import Questions


def grades(n_queries: int = 30) -> dict[str, dict[str, int]]:
    """Every query has 12 good, 12 bad and 6 other documents."""
    rng = np.random.default_rng(5)
    parts = [rng.integers(70, 101, size=(n_queries, 12)), rng.integers(0, 20, size=(n_queries, 12))]
    rows = np.concatenate([*parts, rng.integers(30, 60, size=(n_queries, 6))], axis=1)
    return {f"q{q}": {f"q{q}d{i}": int(grade) for i, grade in enumerate(row)} for q, row in enumerate(rows)}


def kinds(traps: Questions) -> Counter[str]:
    return Counter("|".join(sorted(one.expected)) for one in traps.questions)


def test_there_are_as_many_traps_of_each_kind_as_asked_on_queries_of_their_own() -> None:
    judgments = read_judgments(grades(), scale="fine")
    traps = make_traps(judgments, per_choice=5)
    assert kinds(traps) == {"a": 5, "b": 5, "good": 5, "bad": 5, "bad|good": 5}
    assert [one.name for one in traps.questions] == [f"t{i}" for i in range(1, 26)]
    assert len(set(traps.queries)) == 25
    assert len(kinds(traps.select(range(5)))) == 5  # the kinds take turns
    assert make_traps(judgments).questions == traps.questions != make_traps(judgments, seed=2).questions
    lenient = make_traps(judgments, per_choice=1, strict=False)
    assert kinds(lenient) == {"a": 1, "b": 1, "a|b|good": 1, "a|b|bad": 1, "bad|good": 1}


def test_grades_bear_the_answers_out() -> None:
    traps = make_traps(read_judgments(grades(), scale="fine"))
    for one, (a, b) in zip(traps.questions, traps.grades["fine"], strict=True):
        if one.expected == {"good", "bad"}:
            assert one.a == one.b
            continue
        assert (a.min() >= 67) if one.expected & {"a", "good"} else (a.max() <= 20)
        assert (b.min() >= 67) if one.expected & {"b", "good"} else (b.max() <= 20)
        if one.expected == {"good"}:
            assert abs(a.mean() - b.mean()) < 5
            assert not set(one.a) & set(one.b)


def test_kinds_that_the_judgments_do_not_allow_are_left_out_with_a_warning() -> None:
    judgments = read_judgments({"q": {f"d{i}": 2 for i in range(6)}}, scale="broad")
    with pytest.warns(AdjudgeWarning, match="fewer traps than asked: 0 of 1 for a, 0 of 1 for b, 0 of 1 for both bad"):
        traps = make_traps(judgments, per_choice=1)
    assert kinds(traps) == {"good": 1, "bad|good": 1}
    only = traps.questions[0]
    assert only.a != only.b
    assert set(only.a) == set(only.b)  # six good documents are too few for two lists of five


@pytest.mark.parametrize("grades", [{"fine": 50}, {"fine": 100, "broad": 0}], ids=["middling", "scales disagree"])
def test_judgments_without_a_plain_answer_allow_no_traps(grades: dict[str, int]) -> None:
    """Fine says very good, Broad says not at all: nothing is plain."""
    judgments = {
        scale: read_judgments({"q": {f"d{i}": grade for i in range(10)}}, scale=scale)
        for scale, grade in grades.items()
    }
    with pytest.raises(AdjudgeError, match="these judgments allow no traps"):
        make_traps(judgments)
