"""Other tools' real numbers are explained by what these tools really do.

The data have what tools differ on: tied scores, lines out of order, queries without a run, unjudged documents, grades.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adjudge as aj

IN_RUN = "mean over judged queries in the run (trec_eval without -c)"
pytestmark = pytest.mark.filterwarnings("ignore::adjudge.AdjudgeWarning")  # of missing queries, which are on purpose
EXPONENTIAL = "exponential gains (2^grade - 1)"


def _data() -> tuple[dict[str, dict[str, float]], dict[str, dict[str, int]]]:
    """Twelve queries with a run and two without; scores of one decimal, so that many are tied; a third unjudged."""
    rng = np.random.default_rng(11)
    run, qrels = {}, {}
    for q in range(14):
        documents = [f"d{i:02}" for i in rng.permutation(40)]
        grades = rng.choice([0, 0, 0, 1, 2, 3], size=40)
        judged = rng.random(40) < 0.66
        qrels[f"q{q}"] = {d: int(g) for d, g, known in zip(documents, grades, judged, strict=True) if known}
        scores = np.round(rng.normal(size=40) + 0.5 * grades, 1)
        if q < 12:
            run[f"q{q}"] = {d: float(s) for d, s in zip(documents[:25], scores, strict=False)}
    return run, qrels


RUN, QRELS = _data()


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """The same as TREC files; ranks are those of the lines, which are in no order."""
    run, qrels = tmp_path / "run.txt", tmp_path / "qrels.txt"
    lines = [f"{q} Q0 {d} {i} {s} t" for q, found in RUN.items() for i, (d, s) in enumerate(found.items(), start=1)]
    run.write_text("\n".join(lines) + "\n")
    qrels.write_text("".join(f"{q} 0 {d} {g}\n" for q, judged in QRELS.items() for d, g in judged.items()))
    return str(run), str(qrels)


def _explained(files: tuple[str, str], measure: str | None, **how: Any) -> list[tuple[str, ...]]:
    found = aj.explain(*files, measure, **how)
    assert found.found, found
    return [row.changes for row in found.rows]


def test_the_own_number_needs_no_change(files: tuple[str, str]) -> None:
    own = aj.evaluate(aj.read(*files), "nDCG@10").values.mean()
    assert _explained(files, "nDCG@10", value=f"{own:.6f}") == [()]


def test_pytrec_eval_averages_over_the_queries_of_the_run(files: tuple[str, str], tmp_path: Path) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    theirs = pytrec_eval.RelevanceEvaluator(QRELS, {"ndcg_cut_10", "map"}).evaluate(RUN)
    mean = np.mean([values["ndcg_cut_10"] for values in theirs.values()])
    assert (IN_RUN,) in _explained(files, "nDCG@10", value=f"{mean:.6f}")
    path = tmp_path / "theirs.json"
    path.write_text(json.dumps(theirs))
    assert _explained(files, "map", output=str(path)) == [(IN_RUN,)]
    lines = [f"ndcg_cut_10\t{q}\t{values['ndcg_cut_10']:.4f}\n" for q, values in theirs.items()]
    path.write_text("".join([*lines, f"ndcg_cut_10\tall\t{mean:.4f}\n"]))
    assert _explained(files, None, output=str(path)) == [(IN_RUN,)]


def _mirrored(document: str) -> str:
    """The identifier whose order is the opposite."""
    return f"d{39 - int(document[1:]):02}"


@pytest.mark.parametrize(
    ("change", "scores"),
    [
        ("ties by ascending identifier", None),
        ("ties in the order of the file", lambda place, score: score - 1e-4 * place),
        ("order of the file instead of scores", lambda place, score: -place),
        ("order of the rank column instead of scores", lambda place, score: -place),
        ("lowest score first", lambda place, score: -score),
    ],
)
def test_pytrec_eval_with_rankings_in_another_order_is_explained_by_that_order(
    files: tuple[str, str], change: str, scores: Callable[[int, float], float] | None
) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    run: Any = {
        q: {d: scores(i, s) if scores else s for i, (d, s) in enumerate(found.items())} for q, found in RUN.items()
    }
    qrels = QRELS
    if scores is None:  # trec_eval puts the last identifier first
        run, qrels = ({q: {_mirrored(d): v for d, v in found.items()} for q, found in x.items()} for x in (run, qrels))
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"map"}).evaluate(run)
    assert (IN_RUN, change) in _explained(files, "AP", value={q: values["map"] for q, values in theirs.items()})


def test_ir_measures_has_another_order_of_ties_in_rr_at_k(files: tuple[str, str], tmp_path: Path) -> None:
    ir_measures = pytest.importorskip("ir_measures")
    measure = ir_measures.parse_measure("RR@10")
    path = tmp_path / "theirs.tsv"
    cells = [*ir_measures.iter_calc([measure], QRELS, RUN)]
    path.write_text("".join(f"{cell.query_id}\tRR@10\t{cell.value:.4f}\n" for cell in cells))
    found = aj.explain(*files, "RR@10", output=str(path))
    assert found.found, found
    assert any("ties" in text for row in found.rows for text in row.changes)


def test_ranx_burges_has_exponential_gains(files: tuple[str, str], tmp_path: Path) -> None:
    ranx = pytest.importorskip("ranx")
    apart = {q: {d: s + 1e-4 * i for i, (d, s) in enumerate(found.items())} for q, found in RUN.items()}
    qrels = {q: judged for q, judged in QRELS.items() if q in RUN}
    own = ranx.Run(apart)
    mean = ranx.evaluate(ranx.Qrels(qrels), own, "ndcg_burges@10")
    run = {"ranx": apart}
    found = aj.explain(run, qrels, "nDCG@10", value=f"{mean:.6f}")
    assert [row.changes for row in found.rows] == [(EXPONENTIAL,)]
    path = tmp_path / "scores.json"
    path.write_text(json.dumps({m: {q: float(v) for q, v in values.items()} for m, values in own.scores.items()}))
    found = aj.explain(run, QRELS, "ndcg_burges@10", output=str(path))
    assert [row.changes for row in found.rows] == [(IN_RUN,)]


def test_beir_removes_documents_that_are_called_as_their_query(files: tuple[str, str]) -> None:
    """What ``EvaluateRetrieval.evaluate`` of BEIR does before it calls pytrec_eval, and how it rounds."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    named = {q: {q if i == 0 else d: s for i, (d, s) in enumerate(found.items())} for q, found in RUN.items()}
    popped = {q: {d: s for d, s in found.items() if d != q} for q, found in named.items()}
    qrels = {q: judged for q, judged in QRELS.items() if q in RUN}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10"}).evaluate(popped)
    mean = round(sum(values["ndcg_cut_10"] for values in theirs.values()) / len(theirs), 5)
    found = aj.explain({"beir": named}, qrels, "nDCG@10", value=f"{mean:.5f}")
    assert [row.changes for row in found.rows] == [("documents that are called as their query removed (BEIR)",)]


def test_of_several_explanations_the_one_that_tools_differ_on_most_comes_first() -> None:
    run = {"mine": {"q1": {"a": 2.0, "b": 1.0}}}
    found = aj.explain(run, {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}}, "P@2", value="0.5000")
    best_order = "normalised by the best order of the judged documents"
    assert [row.changes for row in found.rows] == [(IN_RUN,), (best_order,), ("cutoff 1",)]


def test_scikit_learn_averages_ties_and_knows_retrieved_documents_only(files: tuple[str, str]) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    few = {q: dict(list(found.items())[:6]) for q, found in RUN.items()}  # so that all orders of ties are averaged
    theirs = {
        q: metrics.ndcg_score([[QRELS[q].get(d, 0) for d in found]], [list(found.values())], k=5)
        for q, found in few.items()
    }
    qrels = {q: judged for q, judged in QRELS.items() if q in RUN}
    found = aj.explain({"sklearn": few}, qrels, "nDCG@5", value=theirs)
    assert found.found, found
    assert ("ties averaged over all orders", "judgments of retrieved documents only") in [
        row.changes for row in found.rows
    ]


@pytest.mark.parametrize(
    ("change", "options"),
    [
        ("scores in double precision", {"score_precision": "double"}),
        ("rankings cut at 10 documents", {"depth": 10}),
    ],
)
def test_options_of_reading_are_found(files: tuple[str, str], change: str, options: dict[str, Any]) -> None:
    text = Path(files[0]).read_text().splitlines()
    finer = [line.split() for line in text]
    rows = [[*words[:4], f"{float(words[4]) + 1e-12 * i:.13f}", words[5]] for i, words in enumerate(finer)]
    Path(files[0]).write_text("\n".join(" ".join(words) for words in rows) + "\n")
    eff = aj.evaluate(aj.read(*files, **options), "AP")
    values = {q: float(v) for q, v in zip(eff.queries, eff.values[:, 0, 0], strict=True)}
    found = aj.explain(*files, "AP", value=values)
    assert (change,) in [row.changes for row in found.rows]


def test_a_number_that_no_convention_gives_is_not_explained(files: tuple[str, str]) -> None:
    found = aj.explain(*files, "nDCG@10", value="0.987654", changes=1)
    assert not found.found
    assert "none of the" in found.title
    assert [row.off for row in found.rows] == sorted(row.off for row in found.rows)


def test_few_digits_are_said_to_match_by_chance(files: tuple[str, str]) -> None:
    own = aj.evaluate(aj.read(*files), "nDCG@10").values.mean()
    found = aj.explain(*files, "nDCG@10", value=f"{own + 0.02:.2f}")
    assert found.by_chance > 0.05
    assert "by chance" in str(found)
