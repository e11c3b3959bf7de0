"""Other tools on the same data: trec_eval, ir_measures, ranx and NTCIREVAL, query by query.

Random collections hold what tools stumble over: tied scores, scores that differ only beyond single precision, unjudged
documents, queries missing from a run, queries with nothing relevant, lists of any length, several grades. What tools do
otherwise is shown in test_peer_differences.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import pytest
from tests.reference.peers import quiet

import adjudge as aj
from adjudge.measures import MEASURES

Scores = dict[str, dict[str, float]]  # query -> document -> score, or query -> measure -> value
Values = dict[tuple[str, str], float]  # (system, query) -> effectiveness
Dicts = Callable[..., tuple[dict[str, Scores], dict[str, dict[str, float]]]]
Evaluate = Callable[..., aj.Effectiveness]

SEEDS = range(8)
TIED = (1.0, 2.0, 3.0)
NEARLY_TIED = (1.0, 1.0 + 1e-9, 1.0 - 1e-12, 1.5, 1.5 + 1e-8, 2.0)  # all but 1.5 and 2 are the same in single precision
SCORES = {"untied": None, "tied": TIED, "nearly tied": NEARLY_TIED}
GRADES = {"binary": (0, 1), "graded": (0, 0, 1, 2, 3), "negative": (-1, 0, 1, 2)}


class Data:
    """One random collection in the shapes that the tools want."""

    def __init__(self, make: Dicts, evaluate: Evaluate, seed: int, grades: str, scores: str) -> None:
        self.runs, judgments = make(seed, grades=GRADES[grades], scores=SCORES[scores])
        self.qrels = {query: {d: int(g) for d, g in judged.items()} for query, judged in judgments.items()}
        for judged in self.qrels.values():  # pytrec_eval 0.5.11 may crash where all grades of a query are negative
            judged.update({d: 0 for d in judged if max(judged.values()) < 0})
        self.collection = aj.read(self.runs, self.qrels, scale="-1..3")
        self.evaluate = evaluate
        self.pairs = [(system, query) for system in self.runs for query in self.qrels]

    def ours(self, measure: str) -> Values:
        eff = self.evaluate(self.collection, measure)
        return {(s, q): float(eff.values[eff.queries.index(q), eff.systems.index(s), 0]) for s, q in self.pairs}


Make = Callable[[int, str, str], Data]


@pytest.fixture(scope="module")
def data(make_dicts: Dicts, evaluate_quietly: Evaluate) -> Make:
    return lru_cache(lambda seed, grades, scores: Data(make_dicts, evaluate_quietly, seed, grades, scores))


def assert_same(ours: Values, theirs: Values, tolerance: float = 1e-9) -> None:
    assert ours.keys() == theirs.keys()
    assert {pair: (ours[pair], theirs[pair]) for pair in ours if not abs(ours[pair] - theirs[pair]) <= tolerance} == {}


# trec_eval, through pytrec_eval


def trec_eval(d: Data, measure: str, level: int = 1, *, judged_only: bool = False) -> Values:
    """What trec_eval gives; queries missing from a run, which it leaves out, count 0."""
    import pytrec_eval

    found: Values = dict.fromkeys(d.pairs, 0.0)
    for system, run in d.runs.items():
        evaluator = pytrec_eval.RelevanceEvaluator(
            d.qrels, [measure], relevance_level=level, judged_docs_only_flag=judged_only
        )
        results: Scores = evaluator.evaluate(run)
        found.update({(system, query): values[measure] for query, values in results.items()})
    return found


TREC_EVAL = {
    "P_1": "P@1",
    "P_5": "P@5",
    "P_30": "P@30",
    "set_P": "P",
    "recall_5": "R@5",
    "set_recall": "R",
    "success_1": "Success@1",
    "success_5": "Success@5",
    "recip_rank": "RR",
    "map": "AP",
    "map_cut_5": "AP@5",
    "map_cut_30": "AP@30",
    "set_F": "F1",
    "Rprec": "Rprec",
    "iprec_at_recall_0.00": "IPrec@0",
    "iprec_at_recall_0.10": "IPrec@0.1",
    "iprec_at_recall_0.70": "IPrec@0.7",
    "iprec_at_recall_1.00": "IPrec@1",
    "11pt_avg": "IPrec",
    "infAP": "infAP",
    "bpref": "Bpref",
    "ndcg": "nDCG",
    "ndcg_cut_5": "nDCG@5",
    "ndcg_cut_30": "nDCG@30",
}


@pytest.mark.parametrize("scores", SCORES)
@pytest.mark.parametrize("theirs", TREC_EVAL)
def test_trec_eval_agrees_whatever_the_ties_and_grades(data: Make, theirs: str, scores: str) -> None:
    for seed in SEEDS:
        for grades in GRADES:
            if (theirs, grades) != ("bpref", "negative"):  # another definition, see below
                d = data(seed, grades, scores)
                assert_same(d.ours(TREC_EVAL[theirs]), trec_eval(d, theirs))


@pytest.mark.parametrize("theirs", [name for name in TREC_EVAL if "ndcg" not in name])
def test_trec_eval_agrees_at_a_higher_level_of_relevance(data: Make, theirs: str) -> None:
    for seed in SEEDS:
        d = data(seed, "graded", "tied")
        ours = aj.parse_measure(TREC_EVAL[theirs], rel=2)
        assert_same(d.ours(str(ours)), trec_eval(d, theirs, level=2))


@pytest.mark.parametrize("theirs", [name for name in TREC_EVAL if name != "bpref"])
def test_trec_eval_agrees_on_judged_documents_only(data: Make, theirs: str) -> None:
    for seed in SEEDS:
        d = data(seed, "graded", "tied")
        found = trec_eval(d, theirs, judged_only=True)
        expected = {pair: 0.0 if math.isnan(value) else value for pair, value in found.items()}  # IPrec of empty lists
        ours = aj.parse_measure(TREC_EVAL[theirs], judged_only=True)
        assert_same(d.ours(str(ours)), expected)


def test_trec_eval_leaves_out_missing_queries_and_we_count_them_as_nothing(data: Make) -> None:
    import pytrec_eval

    d = data(0, "graded", "untied")
    results = pytrec_eval.RelevanceEvaluator(d.qrels, ["map"]).evaluate(d.runs["s0"])
    assert results.keys() == d.qrels.keys() - {"11"}
    assert d.ours("AP")["s0", "11"] == 0


# ir_measures


def ir_measures_values(d: Data, measure: str) -> Values:
    import ir_measures

    parsed = ir_measures.parse_measure(measure)
    found: Values = {}
    for system, run in d.runs.items():
        for metric in quiet(lambda run=run: list(ir_measures.iter_calc([parsed], d.qrels, run))):
            if metric.query_id in d.qrels:
                found[system, metric.query_id] = float(metric.value)
    return found


IR_MEASURES = {
    name: name
    for name in (
        *("P@5", "P(rel=2)@5", "R@5", "R(rel=2)@5", "Success@5", "RR", "RR(rel=2)", "AP", "AP@5", "AP(rel=2)@5"),
        *("nDCG", "nDCG@5", "nDCG(judged_only=True)@5", "Rprec", "Bpref"),
        *("IPrec@0.1", "IPrec(rel=2)@0.7", "infAP", "infAP(rel=2)"),
    )
} | {"nDCG(gains={1:2,2:5,3:9})@5": "nDCG(gain={0:0,1:2,2:5,3:9})@5", "SetP": "P", "SetR": "R", "SetF": "F1"}


@pytest.mark.parametrize("theirs", IR_MEASURES)
def test_ir_measures_agrees_with_ties_and_missing_queries(data: Make, theirs: str) -> None:
    for seed in SEEDS:
        for scores in SCORES:
            d = data(seed, "graded", scores)
            assert_same(d.ours(IR_MEASURES[theirs]), ir_measures_values(d, theirs))


@pytest.mark.parametrize("measure", ["Judged@5", "Judged@30", "Judged", "RR@3", "RR(rel=2)@3"])
def test_ir_measures_agrees_without_ties_where_it_breaks_them_the_other_way(data: Make, measure: str) -> None:
    for seed in SEEDS:
        d = data(seed, "graded", "untied")
        assert_same(d.ours(measure), ir_measures_values(d, measure))


GDEVAL = {"ERR@5": "ERR@5", "ERR@20": "ERR@20", "nDCG(dcg='exp-log2')@5": "nDCG(gain=exp)@5"}


@pytest.mark.parametrize("theirs", GDEVAL)
def test_gdeval_agrees_to_its_five_digits_on_a_scale_from_0_to_4(
    make_dicts: Dicts, evaluate_quietly: Evaluate, theirs: str
) -> None:
    for seed in range(3):
        d = Data(make_dicts, evaluate_quietly, seed, "graded", "tied")
        d.collection = aj.read(d.runs, d.qrels, scale="0..4")
        assert_same(d.ours(GDEVAL[theirs]), ir_measures_values(d, theirs), tolerance=5.001e-6)


# ranx: breaks ties by insertion, so scores here differ; it compiles on its first call


def ranx_values(ranx: Any, d: Data, measure: str) -> Values:
    found: Values = {}
    for system, run in d.runs.items():
        qrels, coded = ranx.Qrels(d.qrels), ranx.Run(run)
        coded.make_comparable(qrels)
        quiet(ranx.evaluate, qrels, coded, measure)
        found.update({(system, query): float(value) for query, value in coded.scores[measure].items()})
    return found


RANX = {
    "precision": "P",
    "precision@5": "P@5",
    "recall": "R",
    "recall@5": "R@5",
    "hit_rate@5": "Success@5",
    "mrr": "RR",
    "mrr@3": "RR@3",
    "map": "AP",
    "map@5": "AP@5",
    "map-l2": "AP(rel=2)",
    "r-precision": "Rprec",
    "f1": "F1",
    "f1@5": "F1@5",
    "ndcg": "nDCG",
    "ndcg@5": "nDCG@5",
    "ndcg_burges": "nDCG(gain=exp)",
    "ndcg_burges@5": "nDCG(gain=exp)@5",
    "dcg": "DCG(ideal=none)",
    "dcg@5": "DCG(ideal=none)@5",
    "dcg_burges": "DCG(gain=exp,ideal=none)",
    "dcg_burges@5": "DCG(gain=exp,ideal=none)@5",
}


@pytest.mark.parametrize("theirs", RANX)
def test_ranx_agrees_on_scores_that_differ(ranx: Any, data: Make, theirs: str) -> None:
    for seed in range(4):
        for grades in GRADES:
            d = data(seed, grades, "untied")
            assert_same(d.ours(RANX[theirs]), ranx_values(ranx, d, theirs))


def test_rbp_of_ranx_is_ours_times_the_highest_grade_and_can_exceed_1(ranx: Any, data: Make) -> None:
    largest = 0.0
    for seed in range(4):
        d = data(seed, "graded", "untied")
        theirs = ranx_values(ranx, d, "rbp.80")
        assert_same({pair: 3 * value for pair, value in d.ours("RBP(p=0.8)").items()}, theirs)
        largest = max(largest, *theirs.values())
    assert largest > 1
    assert "ranx does not divide (and can exceed 1)" in " ".join(MEASURES["RBP"].docstring.split())


def test_rbp_of_ranx_is_ours_on_a_binary_scale(ranx: Any, make_dicts: Dicts, evaluate_quietly: Evaluate) -> None:
    d = Data(make_dicts, evaluate_quietly, 0, "binary", "untied")
    d.collection = aj.read(d.runs, d.qrels, scale="binary")
    assert_same(d.ours("RBP(p=0.8)"), ranx_values(ranx, d, "rbp.80"))
    assert_same(d.ours("RBP(p=0.8,rel=1)"), ranx_values(ranx, d, "rbp.80"))


def test_bpref_of_ranx_is_ours_where_some_judged_documents_are_relevant_and_some_are_not(ranx: Any, data: Make) -> None:
    compared = 0
    for seed in range(4):
        for grades in GRADES:
            d = data(seed, grades, "untied")
            both = [q for q, judged in d.qrels.items() if max(judged.values()) > 0 >= min(judged.values())]
            ours = d.ours("Bpref")
            for system, run in d.runs.items():
                queries = [query for query in both if query in run]
                qrels, coded = ({q: table[q] for q in queries} for table in (d.qrels, run))
                theirs = quiet(ranx.evaluate, ranx.Qrels(qrels), ranx.Run(coded), "bpref", return_mean=False)
                assert [ours[system, query] for query in sorted(queries)] == pytest.approx(theirs.tolist(), abs=1e-9)
                compared += len(queries)
    assert compared > 200


# NTCIREVAL, through pyNTCIREVAL: takes rankings, and gains from a table


GAINS = [2, 5, 9]
TABLE = "gain={0:0,1:2,2:5,3:9}"
Metric = Callable[[Any, list[int]], Any]
NTCIREVAL: Mapping[str, Metric] = {
    f"nDCG({TABLE},discount=original)@5": lambda n, x: n.nDCG(x, GAINS, 2, 5),
    f"nDCG({TABLE},discount=original,base=3)@5": lambda n, x: n.nDCG(x, GAINS, 3, 5),
    f"nDCG({TABLE})@5": lambda n, x: n.MSnDCG(x, GAINS, 5),
    f"nDCG({TABLE})@30": lambda n, x: n.MSnDCG(x, GAINS, 30),
    "nDCG(gain=exp)@5": lambda n, x: n.MSnDCG(x, [1, 3, 7], 5),
    f"Q({TABLE})@5": lambda n, x: n.QMeasure(x, GAINS, 1.0, 5),
    f"Q({TABLE},beta=10)@5": lambda n, x: n.QMeasure(x, GAINS, 10.0, 5),
    f"Q({TABLE})": lambda n, x: n.QMeasure(x, GAINS, 1.0),
    "Q": lambda n, x: n.QMeasure(x, [1, 2, 3], 1.0),
    "AP(ideal=judged)@5": lambda n, x: n.AP(x, GAINS, 5),
    "AP": lambda n, x: n.AP(x, GAINS),
    f"ERR({TABLE})": lambda n, x: n.ERR(x, GAINS),
    "ERR": lambda n, x: n.ERR(x, [1, 3, 7]),
    f"ERR({TABLE},ideal=judged)@5": lambda n, x: n.nERR(x, GAINS, 5),
    f"RBP({TABLE},p=0.95)": lambda n, x: n.RBP(x, GAINS, 0.95),
    "RBP(p=0.8)": lambda n, x: n.RBP(x, [1, 2, 3], 0.8),
    "RR": lambda n, _: n.RR(),
    "P@5": lambda n, _: n.Precision(5),
    "Success@5": lambda n, _: n.Hit(5),
}


@pytest.mark.parametrize("ours", NTCIREVAL)
@pytest.mark.parametrize("condensed", [False, True])
def test_ntcireval_agrees_where_something_is_relevant_and_retrieved(
    data: Make,
    ours: str,
    condensed: bool,
) -> None:
    from pyNTCIREVAL import Labeler, metrics

    for seed in SEEDS:
        d = data(seed, "graded", "untied")
        values = d.ours(str(aj.parse_measure(ours, judged_only=condensed)))
        found: Values = {}
        for system, query in d.pairs:  # it divides by zero where nothing is relevant, and fails on empty lists
            ranking = sorted(d.runs[system].get(query, {}), key=lambda x: -d.runs[system][query][x])
            labelled = Labeler(d.qrels[query], is_condensed=condensed).label(ranking)
            if labelled and max(d.qrels[query].values()) > 0:
                per_level = Labeler(d.qrels[query]).compute_per_level_doc_num(4)
                found[system, query] = float(NTCIREVAL[ours](metrics, per_level).compute(labelled))
        assert len(found) > 15
        assert_same({pair: values[pair] for pair in found}, found)
