"""Effectiveness as other tools write it, from the tools themselves where they can be installed."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest

import adjudge as aj
from adjudge.errors import AdjudgeError, AdjudgeWarning, InputError, MissingPackageError
from adjudge.formats import read_effectiveness

QRELS = {"q1": {"d1": 1, "d2": 2}, "q2": {"d1": 1}, "q10": {"d3": 1}}
RUNS = {
    "a": {"q1": {"d1": 0.9, "d2": 0.8}, "q2": {"d2": 0.3, "d1": 0.2}, "q10": {"d3": 0.3}},
    "b": {"q1": {"d3": 0.9, "d2": 0.8}, "q2": {"d1": 0.3}, "q10": {"d9": 0.3, "d3": 0.1}},
}
WANTED = {"a": {"q1": 1.0, "q2": 0.5, "q10": 1.0}, "b": {"q1": 0.25, "q2": 1.0, "q10": 0.5}}  # AP, by hand


def check(eff: Any, measure: str, *, systems: tuple[str, ...] = ("a", "b")) -> None:
    assert isinstance(eff, aj.Effectiveness)
    assert eff.systems == systems
    found = eff[measure]
    for s, system in enumerate(systems):
        for q, query in enumerate(eff.queries):
            assert found.matrix()[q, s] == pytest.approx(WANTED["a" if system == "run" else system][query], abs=5e-5)
    assert set(eff.queries) == set(QRELS)


def effectiveness(given: Any, measure: str | None = None) -> aj.Effectiveness:
    eff = read_effectiveness(given, measure=measure)
    assert isinstance(eff, aj.Effectiveness)
    return eff


def write_trec(folder: Path) -> tuple[Path, dict[str, Path]]:
    qrels = folder / "qrels"
    qrels.write_text("".join(f"{q} 0 {d} {g}\n" for q, docs in QRELS.items() for d, g in docs.items()))
    paths = {name: folder / f"{name}.run" for name in RUNS}
    for name, run in RUNS.items():
        lines = (f"{q} Q0 {d} 0 {s} {name}\n" for q, docs in run.items() for d, s in docs.items())
        paths[name].write_text("".join(lines))
    return qrels, paths


def test_pytrec_eval_and_beir_by_query(tmp_path: Path) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    evaluator = pytrec_eval.RelevanceEvaluator(QRELS, {"map", "ndcg_cut.10"})
    results = {name: evaluator.evaluate(run) for name, run in RUNS.items()}
    for name, result in results.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(result))
    (tmp_path / "both.txt").write_text(json.dumps(results))
    check(read_effectiveness(str(tmp_path / "*.json")), "map")
    check(read_effectiveness(tmp_path / "both.txt"), "map")
    check(read_effectiveness(results["a"]), "map", systems=("run",))


def test_trec_eval_by_query(tmp_path: Path) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    evaluator = pytrec_eval.RelevanceEvaluator(QRELS, {"map", "num_ret", "P.5"})
    for name, run in RUNS.items():
        result = evaluator.evaluate(run)
        lines = [f"{m:22s}\t{q}\t{v:.4f}" for q, values in result.items() for m, v in values.items()]
        lines += [f"{'runid':22s}\tall\t{name}", f"{'num_q':22s}\tall\t3", f"{'map':22s}\tall\t0.5833"]
        (tmp_path / f"{name}-2026.eval").write_text("\n".join(lines) + "\n")
    eff = read_effectiveness([tmp_path / "a-2026.eval", tmp_path / "b-2026.eval"])
    check(eff, "map")
    assert sorted(eff.measures) == ["P_5", "map"]


def test_ir_measures_by_query(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ir_measures.__main__ import main_cli

    qrels, runs = write_trec(tmp_path)
    for style in ("tsv", "jsonl"):
        for name, run in runs.items():
            monkeypatch.setattr(sys, "argv", ["ir_measures", "-q", "-o", style, str(qrels), str(run), "AP P@5"])
            with contextlib.redirect_stdout(io.StringIO()) as said:
                main_cli()
            (tmp_path / f"{name}.{style}").write_text(said.getvalue())
        check(read_effectiveness([tmp_path / f"{name}.{style}" for name in "ab"]), "AP")
    frame = pd.DataFrame(ir_measures.iter_calc([ir_measures.AP], QRELS, RUNS["a"]))
    check(read_effectiveness(frame), "AP", systems=("run",))


def test_ranx(tmp_path: Path) -> None:
    ranx = pytest.importorskip("ranx")
    qrels, runs = ranx.Qrels(QRELS), [ranx.Run(run, name=name) for name, run in RUNS.items()]
    report = ranx.compare(qrels, runs, ["map", "ndcg@10"])
    for run in runs:
        scores = {measure: {q: float(v) for q, v in values.items()} for measure, values in run.scores.items()}
        (tmp_path / f"{run.name}.json").write_text(json.dumps(scores))
    check(read_effectiveness(str(tmp_path / "?.json")), "map")
    check(read_effectiveness(dict(runs[0].scores)), "map", systems=("run",))
    arrays = ranx.evaluate(qrels, runs[0], ["map", "ndcg@10"], return_mean=False)
    assert effectiveness(arrays)["map"].matrix()[:, 0].tolist() == [1.0, 1.0, 0.5]  # q1, q10, q2
    report.save(str(tmp_path / "mine.json"))
    for given in (tmp_path / "mine.json", report.to_dataframe()):
        eff = effectiveness(given)
        assert eff.mean()["map"] == {name: pytest.approx(np.mean(list(WANTED[name].values()))) for name in "ab"}
        assert eff.n_queries == 1
        assert "Means of data sets: each counts as one query" in eff.notes[0]


def test_pyterrier_by_query() -> None:
    rows = [(name, q, "map", v) for name, values in WANTED.items() for q, v in values.items()]
    check(read_effectiveness(pd.DataFrame(rows, columns=["name", "qid", "measure", "value"])), "map")


def test_beir_means_are_named_after_folder_and_file(tmp_path: Path) -> None:
    for system, shift in (("bm25", 0.0), ("sbert", 0.1)):
        (tmp_path / system).mkdir()
        for dataset, value in (("nfcorpus", 0.3), ("scifact", 0.6)):
            saved = {"ndcg": {"NDCG@1": 0.1, "NDCG@10": value + shift}, "map": {"MAP@10": 0.2}, "mrr": None}
            (tmp_path / system / f"{dataset}.json").write_text(json.dumps(saved))
    eff = effectiveness(str(tmp_path / "*" / "*.json"))
    assert (eff.queries, eff.systems) == (("nfcorpus", "scifact"), ("bm25", "sbert"))
    np.testing.assert_allclose(eff["NDCG@10"].matrix(), [[0.3, 0.4], [0.6, 0.7]])
    assert eff.datasets == eff.queries


def test_beir_saves_what_it_has_beside_its_four_measures() -> None:
    saved = {"mrr": {"MRR@10": 0.4}, "recall_cap": {"R_cap@10": 0.3}, "hole": {"Hole@10": 0.1}}
    eff = effectiveness({"ndcg": {"NDCG@10": 0.5}, **saved})
    assert (eff.n_queries, set(eff.measures)) == (1, {"NDCG@10", "MRR@10", "R_cap@10", "Hole@10"})


def test_pyterrier_means_beside_tests_against_a_baseline_and_response_times() -> None:
    frame = pd.DataFrame({"name": ["BM25", "DPH"], "map": [0.1, 0.2], "mrt": [12.0, 15.0]})
    tests = {f"map {sign}": [np.nan, 3.0] for sign in ("+", "-", "p-value", "reject", "p-value corrected")}
    for given in (frame, frame.assign(**tests)):
        assert effectiveness(given).mean() == {"map": {"BM25": 0.1, "DPH": 0.2}}


def test_means_of_ndeval_and_gdeval_are_no_query(tmp_path: Path) -> None:
    path = tmp_path / "ndeval.csv"
    names = "ERR-IA@5,nERR-IA@5,alpha-DCG@5,alpha-nDCG@5,NRBP,nNRBP,MAP-IA,P-IA@5,strec@5"
    rows = (f"mine,{topic}" + f",{value}" * 9 for topic, value in ((201, 0.1), (202, 0.3), ("amean", 0.2)))
    path.write_text(f"runid,topic,{names}\n" + "\n".join(rows) + "\n")
    eff = effectiveness(path)
    assert (eff.systems, eff.queries, eff.measures) == (("mine",), ("201", "202"), tuple(names.split(",")))
    assert eff.notes == ("'amean' is the mean over queries and no query: left out.",)


def test_a_frame_of_mteb_has_a_mean_per_task() -> None:
    """``load_results().to_dataframe()``: a row per task, a column per model."""
    eff = effectiveness(pd.DataFrame({"task_name": ["NFCorpus", "SciFact"], "a/b": [0.3, 0.6], "c/d": [0.4, 0.5]}))
    assert (eff.queries, eff.datasets, eff.systems) == (("NFCorpus", "SciFact"),) * 2 + (("a/b", "c/d"),)
    assert eff.notes == ("Means of data sets: each counts as one query, so that answers are about other data sets.",)


def mteb(task: str, value: float) -> dict[str, Any]:
    part = {"ndcg_at_10": value, "main_score": value, "hf_subset": "default", "languages": ["eng-Latn"]}
    return {"dataset_revision": "1", "task_name": task, "mteb_version": "1.2", "scores": {"test": [part]}}


@pytest.mark.parametrize("has_description", [True, False])
def test_mteb_results_of_tasks(tmp_path: Path, has_description: bool) -> None:
    for model, shift in (("org__small", 0.0), ("org__large", 0.1)):
        folder = tmp_path / "results" / model / "abc123"
        folder.mkdir(parents=True)
        if has_description:
            (folder / "model_meta.json").write_text(json.dumps({"name": model.replace("__", "/")}))
        for task, value in (("NFCorpus", 0.3), ("SciFact", 0.6)):
            (folder / f"{task}.json").write_text(json.dumps(mteb(task, value + shift)))
    old = {"mteb_dataset_name": "Quora", "test": {"main_score": 0.5, "evaluation_time": 3}, "mteb_version": "1.0"}
    (folder / "Quora.json").write_text(json.dumps(old))
    (tmp_path / "results" / "org__small" / "abc123" / "Quora.json").write_text(json.dumps(old))
    eff = effectiveness(str(tmp_path / "results" / "**" / "*.json"), measure="main_score")
    for given in (tmp_path / "results", [tmp_path / "results" / "org__large", tmp_path / "results" / "org__small"]):
        assert effectiveness(given, measure="main_score").to_dicts() == eff.to_dicts()
    assert (sorted(eff.queries), sorted(eff.systems)) == (["NFCorpus", "Quora", "SciFact"], ["org/large", "org/small"])
    assert eff.mean()["main_score"] == {"org/large": pytest.approx(1.6 / 3), "org/small": pytest.approx(1.4 / 3)}


def test_results_of_models_and_benchmarks_of_mteb(tmp_path: Path) -> None:
    """``ModelResult`` and ``BenchmarkResults`` as ``to_disk`` writes them."""
    made = [
        {"model_name": name, "model_revision": "1", "task_results": [mteb("NFCorpus", value), mteb("SciFact", 0.6)]}
        for name, value in (("org/small", 0.3), ("org/large", 0.5))
    ]
    (tmp_path / "all.json").write_text(json.dumps({"model_results": made}))
    eff = effectiveness(tmp_path / "all.json", measure="ndcg_at_10")
    assert eff.mean()["ndcg_at_10"] == {"org/small": pytest.approx(0.45), "org/large": pytest.approx(0.55)}
    assert (eff.queries, effectiveness(made[1]).systems) == (("NFCorpus", "SciFact"), ("org/large",))


@pytest.mark.parametrize("mean", [0.4, 0.3])
def test_a_folder_that_pyterrier_saved_has_means_beside_the_values(tmp_path: Path, mean: float) -> None:
    """``pt.Experiment(…, save_dir=…)`` writes both; means of anything else are refused."""
    (tmp_path / "aggregated.csv").write_text(f"name,nDCG@3\nbm25,0.5\ndense,{mean}\n")
    rows = "".join(f"{s},q{q},nDCG@3,{v}\n" for s, q, v in (("bm25", 1, 0.4), ("bm25", 2, 0.6), ("dense", 1, 0.5),
                                                            ("dense", 2, 0.3)))  # fmt: skip
    (tmp_path / "perquery.csv").write_text(f"name,qid,measure,value\n{rows}")
    if mean == 0.3:
        with pytest.raises(AdjudgeError, match=r"got means of data sets in .*aggregated.csv and values of queries"):
            read_effectiveness(tmp_path)
        return
    with pytest.warns(AdjudgeWarning, match=r"aggregated.csv: means of values that are given, too: left out"):
        eff = read_effectiveness(tmp_path)
    assert (eff.systems, eff.queries) == (("bm25", "dense"), ("q1", "q2"))


def test_means_and_values_of_queries_are_not_put_together(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"NDCG@10": 0.5}')
    (tmp_path / "b.json").write_text('{"q1": {"NDCG@10": 0.5}}')
    with pytest.raises(AdjudgeError, match=r"a.json: expected tables that can be put together, got means of data sets"):
        read_effectiveness([tmp_path / "a.json", tmp_path / "b.json"])


# Judgments of ir_datasets


def test_ids_of_ir_datasets_are_judgments(tmp_path: Path) -> None:
    ir_datasets = pytest.importorskip("ir_datasets")
    qrels, runs = write_trec(tmp_path)
    from ir_datasets.formats import TrecQrels
    from ir_datasets.util import LocalDownload

    name = "adjudge-tests/small"
    if name not in ir_datasets.registry:
        handler = TrecQrels(LocalDownload(qrels), {0: "no", 1: "some", 2: "much"})
        ir_datasets.registry.register(name, ir_datasets.Dataset(handler))
    files = list(runs.values())
    collection = aj.read(files, f"ir_datasets:{name}")
    assert aj.evaluate(collection, "AP").mean() == aj.evaluate(aj.read(files, qrels), "AP").mean()
    assert collection.provenance.inputs[0][0] == f"ir_datasets:{name}"
    assert aj.explain(files[0], f"ir_datasets:{name}", "AP", value="0.833333").rows[0].changes == ()  # (1 + .5 + 1) / 3


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no-such", "^ir_datasets:no-such: expected the id of a data set of ir_datasets, got an unknown one"),
        ("msmarco-passage", "^ir_datasets:msmarco-passage: expected a data set with judgments, got one without"),
    ],
)
def test_ids_without_judgments_are_refused(name: str, message: str) -> None:
    pytest.importorskip("ir_datasets")
    with pytest.raises(AdjudgeError, match=message):
        aj.read(RUNS, f"ir_datasets:{name}")


def test_a_download_that_fails_is_a_line_that_says_from_where(capsys: pytest.CaptureFixture[str]) -> None:
    ir_datasets = pytest.importorskip("ir_datasets")
    from ir_datasets.formats import TrecQrels
    from ir_datasets.util import Download, RequestsDownload

    first, second = (f"http://127.0.0.1:9/{name}" for name in ("qrels", "mirror"))  # nobody listens there
    for name, places in (("one", [first]), ("two", [first, second])):
        download = Download([RequestsDownload(url) for url in places])
        if f"adjudge-tests/{name}" not in ir_datasets.registry:
            dataset = ir_datasets.Dataset(TrecQrels(download, {0: "no"}))
            ir_datasets.registry.register(f"adjudge-tests/{name}", dataset)
        with pytest.raises(InputError, match=f"{name}: could not be downloaded from {' or '.join(places)}$"):
            aj.read(RUNS, f"ir_datasets:adjudge-tests/{name}")
    assert capsys.readouterr() == ("", "")


def test_without_ir_datasets_a_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adjudge.extras._is_there", lambda module: False)
    with pytest.raises(
        MissingPackageError, match=r"ir_datasets:x needs ir-datasets, .* pip install 'adjudge\[datasets"
    ):
        aj.read(RUNS, "ir_datasets:x")
