"""ndeval, through pyndeval and ir_measures, on the same judgments of sub-topics."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest
from tests.reference.peers import quiet

import adjudge as aj

Judgment = tuple[str, str, str, int]  # query, sub-topic, document, grade
ALPHA_MEASURES = {"alpha-nDCG": "alpha_nDCG", "alpha-DCG": "alpha_nDCG(ideal=max)"}
MEASURES = ALPHA_MEASURES | {"ERR-IA": "ERR_IA", "nERR-IA": "ERR_IA(ideal=judged)", "strec": "StRecall"}
CUTOFFS = (1, 2, 5, 20)


class Data(NamedTuple):
    """Judgments and one run, without ties: pyndeval breaks them the other way."""

    judgments: list[Judgment]
    run: dict[str, dict[str, float]]

    @property
    def collection(self) -> aj.Collection:
        frame = pl.DataFrame(self.judgments, schema=["query", "subtopic", "document", "grade"], orient="row")
        return aj.read({"s": self.run}, frame)


@lru_cache
def random_data(seed: int) -> Data:
    """Up to six sub-topics per query, named in common or apart; the first query has nothing relevant."""
    rng = np.random.default_rng(seed)
    documents = [f"d{i:02d}" for i in range(30)]
    judgments: list[Judgment] = []
    run: dict[str, dict[str, float]] = {}
    for q in map(str, range(8)):
        n = int(rng.integers(1, 7))
        for document in rng.choice(documents, int(rng.integers(1, 25)), replace=False).tolist():
            for s in rng.permutation(n)[: int(rng.integers(1, n + 1))]:
                grade = 0 if q == "0" else int(rng.choice([-1, 0, 1, 1, 2]))
                judgments.append((q, f"{q}-{s}" if seed % 2 else str(s), document, grade))
        retrieved = rng.choice(documents, int(rng.integers(1, 28)), replace=False).tolist()
        run[q] = {document: float(score) for score, document in enumerate(retrieved)}
    return Data(judgments, run)


@pytest.mark.parametrize("rel", [1, 2])
@pytest.mark.parametrize("alpha", [0.5, 0.3, 1.0])
@pytest.mark.parametrize("theirs", MEASURES)
def test_ndeval_agrees(theirs: str, alpha: float, rel: int) -> None:
    import pyndeval

    parameters = {"rel": float(rel)} | ({"alpha": alpha} if theirs in ALPHA_MEASURES else {})
    asked = {
        f"{theirs}@{k}": aj.parse_measure(f"{MEASURES[theirs]}@{k}", **parameters)
        for k in CUTOFFS
        if k > 1 or theirs not in {"ERR-IA", "alpha-DCG"}  # which ndeval does not divide by the ideal at rank 1
    }
    for seed in range(12):
        data = random_data(seed)
        peer = pyndeval.RelevanceEvaluator(
            data.judgments, asked, relevance_level=rel, alpha=parameters.get("alpha", 0.5)
        )
        values = peer.evaluate([(q, d, score) for q, scored in data.run.items() for d, score in scored.items()])
        eff = aj.evaluate(data.collection, asked.values())
        expected = [[values[query][name] for name in asked] for query in eff.queries]
        assert np.abs(eff.values[:, 0] - expected).max() < 1e-9


@pytest.mark.parametrize("measure", ["alpha_nDCG@10", "alpha_nDCG(alpha=0.3,rel=2)@5", "ERR_IA@20", "StRecall@5"])
def test_ir_measures_agrees(measure: str) -> None:
    import ir_measures

    data = random_data(0)
    qrels = [ir_measures.Qrel(q, d, grade, s) for q, s, d, grade in data.judgments]
    run = [ir_measures.ScoredDoc(q, d, score) for q, scored in data.run.items() for d, score in scored.items()]
    parsed = ir_measures.parse_measure(measure)
    metrics = quiet(lambda: list(ir_measures.iter_calc([parsed], qrels, run)))
    theirs = {metric.query_id: metric.value for metric in metrics}
    eff = aj.evaluate(data.collection, measure)
    assert eff.values[:, 0, 0] == pytest.approx([theirs[query] for query in eff.queries], abs=1e-9)


def test_a_list_better_than_the_greedy_ideal_has_effectiveness_1_and_more_in_ndeval() -> None:
    import pyndeval

    covers = {"a": "1234", "b": "135", "c": "246"}  # the greedy ideal begins with a, and is worse than b and c
    judgments = [("q", s, document, 1) for document, subtopics in covers.items() for s in subtopics]
    data = Data(judgments, {"q": {"b": 2.0, "c": 1.0}})
    theirs = pyndeval.ndeval(judgments, [("q", "b", 2.0), ("q", "c", 1.0)], ["alpha-nDCG@2"], alpha=1.0)["q"]
    assert theirs["alpha-nDCG@2"] > 1.05
    assert aj.evaluate(data.collection, "alpha_nDCG(alpha=1)@2").values.item() == 1


def test_intent_aware_err_is_the_mean_of_err_over_sub_topics() -> None:
    """Agrawal et al.'s definition, with every sub-topic judged as a query of its own."""
    for seed in range(12):
        data = random_data(seed)
        eff = aj.evaluate(data.collection, "ERR_IA(ideal=none)")
        for query, found in zip(eff.queries, eff.values[:, 0, 0], strict=True):
            judged: dict[str, dict[str, float]] = {}
            for q, s, document, grade in data.judgments:
                if q == query:
                    judged.setdefault(s, {})[document] = float(grade > 0)
            actual = {s: grades for s, grades in judged.items() if any(grades.values())}
            if actual:  # a warning says where a list holds no judged document
                alone = quiet(aj.read, {"s": dict.fromkeys(actual, data.run[query])}, actual, scale="binary")
                assert found == pytest.approx(aj.evaluate(alone, "ERR").values.mean())
            else:
                assert found == 0
