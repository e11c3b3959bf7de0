"""Names of measures: the grammar, other tools' spellings, and what is said about a name that nobody knows."""

from __future__ import annotations

import pytest

import adjudge as aj
from adjudge.errors import AdjudgeError


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("nDCG@10", "nDCG@10"),
        (" nDCG@10 ", "nDCG@10"),
        ("AP(rel=40)@5", "AP(rel=40)@5"),
        ("AP(rel=40.0)@5", "AP(rel=40)@5"),
        ("AP( rel = 40 , ideal = judged )@5", "AP(rel=40,ideal=judged)@5"),
        ("AP(ideal=judged,rel=40)@5", "AP(rel=40,ideal=judged)@5"),
        ("RBP(p=0.8)@5", "RBP@5"),
        ("RBP(p=.95)", "RBP(p=0.95)"),
        ("P()@5", "P@5"),
        ("CG(ideal=max)@5", "CG@5"),
        ("CG(ideal='none')@5", "CG(ideal=none)@5"),
        ("nDCG(gain={0:0,1:1,2:3},base=3)@5", "nDCG(gain={0:0,1:1,2:3},base=3)@5"),
        ("nDCG(gain={2:3, 1:1, 0:0})", "nDCG(gain={0:0,1:1,2:3})"),
        ("P(judged_only=true)@5", "P(judged_only=True)@5"),
        ("P(judged_only=False)@5", "P@5"),
        ("IPrec@.10", "IPrec@0.1"),
        ("IPrec(recall=0.1,rel=2)", "IPrec(rel=2)@0.1"),
    ],
)
def test_a_name_is_read_and_written_in_one_way(text: str, canonical: str) -> None:
    assert str(aj.parse_measure(text)) == canonical
    assert aj.parse_measure(canonical) == aj.parse_measure(text)


TREC_EVAL = {
    "map": "AP",
    "map_cut_10": "AP@10",
    "ndcg": "nDCG",
    "ndcg_cut_10": "nDCG@10",
    "P_10": "P@10",
    "recall_100": "R@100",
    "success_5": "Success@5",
    "recip_rank": "RR",
    "bpref": "Bpref",
    "Rprec": "Rprec",
    "set_F": "F1",
    "infAP": "infAP",
    "iprec_at_recall_0.10": "IPrec@0.1",
    "11pt_avg": "IPrec",
}
RANX = {
    "map@10": "AP@10",
    "ndcg@10": "nDCG@10",
    "ndcg_burges@10": "nDCG(gain=exp)@10",
    "ndcg_burges": "nDCG(gain=exp)",
    "dcg@10": "DCG(ideal=none)@10",
    "dcg_burges@10": "DCG(gain=exp,ideal=none)@10",
    "precision@10": "P@10",
    "recall@10": "R@10",
    "hit_rate@10": "Success@10",
    "mrr": "RR",
    "mrr@10": "RR@10",
    "r-precision": "Rprec",
    "r_precision": "Rprec",
    "rbp.95": "RBP(p=0.95)",
    "rbp.80": "RBP",
    "bpref": "Bpref",
    "f1@5": "F1@5",
}
MTEB = {
    "ndcg_at_10": "nDCG@10",
    "map_at_100": "AP@100",
    "recall_at_20": "R@20",
    "precision_at_1": "P@1",
    "mrr_at_10": "RR@10",
    "hit_rate_at_5": "Success@5",
}
IR_MEASURES = {
    "nDCG@10": "nDCG@10",
    "nDCG(dcg='exp-log2')@10": "nDCG(gain=exp)@10",
    "nDCG(dcg='log2')@10": "nDCG@10",
    "nDCG(gains={0:0,1:1,2:5})@10": "nDCG(gain={0:0,1:1,2:5})@10",
    "nDCG(judged_only=True)@10": "nDCG(judged_only=True)@10",
    "P(rel=2)@10": "P(rel=2)@10",
    "RBP(rel=1,p=0.5)": "RBP(p=0.5,rel=1)",
    "MAP": "AP",
    "MRR@10": "RR@10",
    "RPrec": "Rprec",
    "BPref": "Bpref",
    "Precision@5": "P@5",
    "Recall@5": "R@5",
    "Success@5": "Success@5",
    "Judged@10": "Judged@10",
    "ERR@20": "ERR@20",
    "SetF": "F1",
    "IPrec@0.1": "IPrec@0.1",
    "IPrec(rel=2)@0.1": "IPrec(rel=2)@0.1",
    "infAP(rel=2)": "infAP(rel=2)",
    "alpha_nDCG@10": "alpha_nDCG@10",
    "alpha_nDCG(alpha=0.3)@20": "alpha_nDCG(alpha=0.3)@20",
    "ERR_IA@20": "ERR_IA@20",
    "nERR_IA@20": "ERR_IA(ideal=judged)@20",
    "StRecall@20": "StRecall@20",
}
NDEVAL = {
    "alpha-nDCG@10": "alpha_nDCG@10",
    "α-nDCG@10": "alpha_nDCG@10",
    "α-nDCG(alpha=0.3)": "alpha_nDCG(alpha=0.3)",
    "alpha-DCG@10": "alpha_nDCG(ideal=max)@10",
    "ERR-IA@20": "ERR_IA@20",
    "nERR-IA@20": "ERR_IA(ideal=judged)@20",
    "strec@20": "StRecall@20",
}


@pytest.mark.parametrize(
    ("theirs", "ours"), [pair for tool in (TREC_EVAL, RANX, MTEB, IR_MEASURES, NDEVAL) for pair in tool.items()]
)
def test_the_spellings_of_other_tools_mean_the_same_measure(theirs: str, ours: str) -> None:
    assert str(aj.parse_measure(theirs)) == ours


def test_what_ir_measures_prints_is_read() -> None:
    import ir_measures

    for name in IR_MEASURES:
        if "gains" not in name:  # it leaves out of a table, and grades keep, what is the grade itself; we want it said
            assert aj.parse_measure(str(ir_measures.parse_measure(name))) == aj.parse_measure(name)


def test_parameters_may_be_given_beside_the_name() -> None:
    assert str(aj.parse_measure("P@5", rel=2)) == "P(rel=2)@5"
    assert str(aj.parse_measure("RBP@5", p="0.5", ideal="max")) == "RBP(p=0.5,ideal=max)@5"
    condensed = aj.parse_measure(aj.parse_measure("RBP@5"), p=0.5, judged_only=True)
    assert str(condensed) == str(aj.parse_measure(condensed, p=0.5)) == "RBP(p=0.5,judged_only=True)@5"
    assert str(aj.parse_measure("nDCG", gain={0: 0, 1: 1, 2: 3})) == "nDCG(gain={0:0,1:1,2:3})"


def test_a_measure_is_its_own_name() -> None:
    measure = aj.parse_measure("nDCG@10")
    assert aj.parse_measure(measure) is measure
    assert (measure.name, measure.cutoff, measure.ideal, measure.bounded) == ("nDCG", 10, "judged", True)
    assert repr(measure) == "<Measure nDCG@10>"


def test_several_measures_come_as_text_or_as_a_list_and_each_once() -> None:
    expected = ["nDCG@10", "AP(rel=2,ideal=judged)", "P@5"]
    spellings: list[str | list[str | aj.Measure]] = [
        "nDCG@10, AP(rel=2, ideal=judged) P@5",
        "nDCG@10\nAP(rel=2,ideal=judged)\tP@5 ndcg_cut_10",
        ["nDCG@10", "AP(rel=2,ideal=judged),P@5", "P_5"],
        [aj.parse_measure("nDCG@10"), "AP(rel=2,ideal=judged)", aj.parse_measure("P@5")],
    ]
    for given in spellings:
        assert [str(measure) for measure in aj.measures.parse_measures(given)] == expected
    assert [str(measure) for measure in aj.measures.parse_measures("nDCG(gain={0:0,1:1,2:3})@5 P@5")] == [
        "nDCG(gain={0:0,1:1,2:3})@5",
        "P@5",
    ]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("P.5,10", ["P@5", "P@10"]),
        ("map,ndcg_cut.5,10,20 recip_rank", ["AP", "nDCG@5", "nDCG@10", "nDCG@20", "RR"]),
        ("nDCG@5,10", ["nDCG@5", "nDCG@10"]),
        ("RBP(p=0.5,rel=2),P@5", ["RBP(p=0.5,rel=2)", "P@5"]),
    ],
)
def test_several_cutoffs_of_one_measure_can_be_written_as_in_trec_eval(given: str, expected: list[str]) -> None:
    assert [str(measure) for measure in aj.measures.parse_measures(given)] == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("NDCG@10", "No measure is called 'NDCG'. Did you mean 'nDCG'?"),
        ("ap", "No measure is called 'ap'. Did you mean 'AP'?"),
        ("Sucess@5", "No measure is called 'Sucess'. Did you mean 'Success'?"),
        ("nDCG@ten", "nDCG: 'cutoff' must be a whole number from 1 to 1,000,000, got 'ten'"),
        ("nDCG@", "Expected a measure such as nDCG@10 or RBP(p=0.8)@5, got 'nDCG@'"),
        ("nDCG@10@5", "Expected a measure such as nDCG@10 or RBP(p=0.8)@5, got 'nDCG@10@5'"),
        ("nDCG(gain=exp@5", "Expected a measure such as nDCG@10 or RBP(p=0.8)@5, got 'nDCG(gain=exp@5'"),
        ("", "Expected a measure such as nDCG@10 or RBP(p=0.8)@5, got ''"),
        ("RBP(0.8)", "RBP: expected parameters as name=value, got '0.8'"),
        ("RBP(p=)", "RBP: expected parameters as name=value, got 'p='"),
        ("RBP(p=0.8,p=0.9)", "RBP: the parameter 'p' is given twice"),
        ("IPrec@1.5", "IPrec: 'recall' must be in [0, 1], got 1.5"),
        ("IPrec(recall=0.1)@0.2", "IPrec: the parameter 'recall' is given twice"),
        ("nDCG@0.5", "nDCG: 'cutoff' must be a whole number from 1 to 1,000,000, got '0.5'"),
        ("P(judged_only=maybe)@5", "P: 'judged_only' must be True or False, got 'maybe'"),
        ("nDCG(dcg='x')@5", "nDCG: 'gain' must be one of linear, exp or a table such as {0:0,1:1,2:3}, got 'x'"),
    ],
)
def test_what_cannot_be_read_is_refused_in_words(text: str, message: str) -> None:
    with pytest.raises(AdjudgeError) as raised:
        aj.parse_measure(text)
    assert str(raised.value) == message


def test_a_name_like_nothing_gets_the_list_of_all_and_no_name_is_refused() -> None:
    with pytest.raises(AdjudgeError, match=r"^No measure is called 'xyzzy'\. Known: ADR, AG, ANDCG, AP, .*nDCG\.$"):
        aj.parse_measure("xyzzy")
    for nothing in ("", [], [" "]):
        with pytest.raises(AdjudgeError, match=r"^Expected at least one measure, got none\.$"):
            aj.measures.parse_measures(nothing)
