"""Judgments of sub-topics on their way to the measures that use them: assessors, ties, unjudged documents, CLI."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

import adjudge as aj
from adjudge.cli import main

COVERS = {"a": "12", "b": "1", "c": "3", "d": ""}  # sub-topics of each judged document; 4 is covered by none


def judgments(covers: dict[str, str] = COVERS, assessors: Sequence[str] = ()) -> pl.DataFrame:
    """Each document judged for all four sub-topics, by every assessor."""
    rows = [
        ("q", s, document, float(s in subtopics), who)
        for document, subtopics in covers.items()
        for s in "1234"
        for who in assessors or ("",)
    ]
    frame = pl.DataFrame(rows, schema=["query", "subtopic", "document", "grade", "assessor"], orient="row")
    return frame if assessors else frame.drop("assessor")


def value(ranking: Sequence[str] | dict[str, float], measure: str, frame: pl.DataFrame, **options: str) -> float:
    collection = aj.read({"s": {"q": ranking}}, frame)
    return float(aj.evaluate(collection, measure, **options).values.item())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("alpha_nDCG(ideal=none)@3", 2 + 0.5 / 1.584962500721156 + 1 / 2),
        ("alpha_nDCG(alpha=0,ideal=none)@3", 2 + 1 / 1.584962500721156 + 1 / 2),
        ("ERR_IA(ideal=none)@3", (1 / 2 + 1 / 2 + 1 / 2 / 4 + 1 / 3 / 2) / 3),
        ("StRecall@2", 2 / 3),
        ("StRecall@3", 1),
        ("StRecall(ideal=judged)@1", 1),
    ],
)
def test_a_small_example_by_hand(measure: str, expected: float) -> None:
    assert value(["a", "b", "c"], measure, judgments()) == pytest.approx(expected)


def test_the_ideal_puts_the_document_with_new_sub_topics_first() -> None:
    assert value(["a", "c", "b"], "alpha_nDCG", judgments()) == 1
    assert value(["a", "b", "c"], "alpha_nDCG", judgments()) < 1


def test_condensed_lists_are_those_without_unjudged_documents() -> None:
    full, short = ["x", "b", "y", "d", "a"], ["b", "d", "a"]
    for measure in ("alpha_nDCG@3", "ERR_IA@3", "StRecall@3"):
        assert value(full, measure, judgments(), unjudged="condensed") == value(short, measure, judgments())


def test_ties_are_averaged_over_their_orders() -> None:
    tied = value({"a": 2.0, "b": 1.0, "c": 1.0}, "alpha_nDCG@2", judgments(), ties="expected")
    orders = [value(order, "alpha_nDCG@2", judgments()) for order in (["a", "b", "c"], ["a", "c", "b"])]
    assert tied == pytest.approx(sum(orders) / 2)
    assert orders[0] != orders[1]


def test_grades_of_assessors_are_combined_for_each_sub_topic() -> None:
    both = judgments(assessors=("ann", "bob")).with_columns(
        pl.when((pl.col("assessor") == "bob") & (pl.col("subtopic") == "2")).then(0.0).otherwise("grade").alias("grade")
    )
    collection = aj.read({"s": {"q": ["a"]}}, both)
    recalls = {how: aj.evaluate(collection.combined(how), "StRecall").values.item() for how in ("mean", "min")}
    assert recalls == {"mean": 2 / 3, "min": 1 / 2}  # to the stricter one, nothing covers sub-topic 2
    alone = aj.measures.evaluate_assessors(collection, "StRecall")
    assert alone.array("StRecall")[0, 0].tolist() == [2 / 3, 1 / 2]


def test_the_note_on_highest_grades_names_the_measures_that_do_not_look_at_sub_topics() -> None:
    collection = aj.read({"s": {"q": ["a"]}}, judgments())
    notes = aj.evaluate(collection, ["StRecall", "P@1"]).notes
    assert "Documents judged for several sub-topics have the highest of those grades in P@1." in notes
    assert not [note for note in aj.evaluate(collection, "StRecall").notes if "sub-topics" in note]


def test_the_command_line_scores_diversity_qrels_and_says_what_plain_ones_lack(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, diverse, plain = tmp_path / "run.txt", tmp_path / "diversity.qrels", tmp_path / "plain.qrels"
    run.write_text("1 Q0 a 1 3 demo\n1 Q0 b 2 2 demo\n1 Q0 c 3 1 demo\n")
    diverse.write_text("1 1 a 1\n1 2 a 1\n1 1 b 1\n1 3 c 2\n1 2 d 0\n")
    plain.write_text("1 0 a 1\n1 0 b 0\n")
    assert main(["score", str(diverse), str(run), "-m", "α-nDCG@20 ERR_IA@20 StRecall@2", "--csv"]) == 0
    printed = capsys.readouterr().out
    for expected in ("alpha_nDCG@20,0.977276", "ERR_IA@20,0.621160", "StRecall@2,0.666666"):  # of ndeval
        assert expected in printed
    assert main(["score", str(plain), str(run), "-m", "α-nDCG@20"]) == 2
    wanted = "expected judgments of several sub-topics (query subtopic document grade), got none"
    assert capsys.readouterr().err == f"adjudge: alpha_nDCG@20: {wanted}\n"
