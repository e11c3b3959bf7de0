"""adjudge explain: a number or an output in, conventions out; and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.cli.conftest import Terminal, typed

IN_RUN = "mean over judged queries in the run (trec_eval without -c)"


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three judged queries, two of them in the run: the relevant document is at rank 1 and at rank 2."""
    monkeypatch.chdir(tmp_path)
    Path("run").write_text("q1 Q0 r 1 2.5 t\nq1 Q0 a 2 1.5 t\nq2 Q0 a 1 2.5 t\nq2 Q0 r 2 1.5 t\n")
    Path("two").write_text("q1 Q0 r 1 2.5 t\nq1 Q0 r 1 2.5 u\n")
    Path("qrels").write_text("".join(f"q{i} 0 r 1\nq{i} 0 a 0\n" for i in (1, 2, 3)))
    outputs = {
        "lines": "recip_rank \t q1 \t 1.0000\nrecip_rank \t q2 \t 0.5000\nrecip_rank \t all \t 0.7500\n",
        "query first": "q1\tRR\t1.0\nq2\tRR\t0.5\n",
        "table.csv": "query,RR\nq1,1.0\nq2,0.5\n",
        "queries.json": '{"q1": {"recip_rank": 1.0}, "q2": {"recip_rank": 0.5}}',
        "measures.json": '{"mrr": {"q1": 1.0, "q2": 0.5}}',
        "means.json": '{"recip_rank": 0.75}',
        "records.jsonl": '{"query_id": "q1", "measure": "RR", "value": 1.0}\n'
        '{"query_id": "q2", "measure": "RR", "value": 0.5}\n',
        "several": "map all 0.5\nP_10 all 0.5\n",
        "noise": "this is\nno output\n",
        "broken.json": '{"map":\n oops',
        "list.json": "[1, 2]",
        "null.json": '{"map": {"q1": null}}',
    }
    for name, text in outputs.items():
        Path(name).write_text(text)


@pytest.mark.parametrize(
    "output", ["lines", "query first", "table.csv", "queries.json", "measures.json", "means.json", "records.jsonl"]
)
def test_outputs_of_every_form_are_read_and_name_their_measure(cli: Terminal, output: str) -> None:
    found = cli.json("explain", "run", "--judgments", "qrels", "--output-of", output)
    assert found["measure"] == "RR"
    assert [row["changes"] for row in found["explanations"]] == [[IN_RUN]]


def test_a_number_is_explained_in_every_form(cli: Terminal) -> None:
    words = typed("explain run --judgments qrels -m RR --value 0.7500")
    assert cli.out(*words).startswith("RR = 0.7500: given by mean over judged queries in the run")
    assert json.loads(cli.out(*words, "--json"))["usual"] == 0.5
    assert [float(row["value"]) for row in cli.rows(*words)] == [0.75]
    assert "| RR | 0.750000 |" in cli.out(*words, "--markdown")


def test_the_smallest_number_of_changes_is_none(cli: Terminal) -> None:
    said = cli.json(*typed("explain run --judgments qrels -m RR --value 0.50"))
    assert [row["changes"] for row in said["explanations"]] == [[]]


def test_at_most_six_digits_are_printed_of_a_number_that_has_more(cli: Terminal) -> None:
    found = cli.out(*typed("explain run --judgments qrels -m RR --value 0.123456789012345678"))
    assert found.startswith("RR = 0.123457: none of")
    assert "By Adjudge's own conventions it is 0.500000." in found  # (1 + .5 + 0) / 3
    assert "By Adjudge's own conventions it is 0.5000." in cli.out(
        *typed("explain run --judgments qrels -m RR --value .7")
    )


def test_a_number_in_per_cent_is_recognised(cli: Terminal) -> None:
    said = cli.json(*typed("explain run --judgments qrels -m RR --value 50.0"))
    assert [row["changes"] for row in said["explanations"]] == [["number in per cent"]]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("explain run --judgments qrels -m RR", "one of the arguments --value --output-of is required"),
        ("explain run --judgments qrels --value 0.5", "expected a measure such as nDCG@10, got none"),
        ("explain run --judgments qrels -m NDCG --value 0.5", "Did you mean 'nDCG'?"),
        ("explain run --judgments qrels -m RR --value half", "expected a finite number to explain, got 'half'"),
        ("explain run --judgments qrels -m RR --value nan", "expected a finite number to explain, got 'nan'"),
        ("explain run --judgments qrels -m RR --value 0.5 --changes 4", "'changes' must be a whole number from 0 to 3"),
        ("explain run --judgments qrels --output-of several", "several: expected one measure, got map and P_10"),
        ("explain run --judgments qrels -m RR --output-of several", "several: expected values of RR, got map and P_10"),
        ("explain run --judgments qrels -m RR --output-of noise", "noise:1: expected a column for every system"),
        ("explain run --judgments qrels -m RR --output-of broken.json", "broken.json:2: expected JSON, got 'oops'"),
        ("explain run --judgments qrels -m RR --output-of list.json", "list.json: expected records with query_id"),
        (
            "explain run --judgments qrels -m map --output-of null.json",
            "null.json: expected a finite number to explain, got 'None' (query 'q1')",
        ),
        ("explain run --judgments qrels -m RR --output-of missing", "missing: cannot be read"),
        ("explain two --judgments qrels -m RR --value 0.5", "expected one run to explain, got 2 systems"),
        ("explain qrels --judgments run -m RR --value 0.5", "expected runs, but this looks like judgments"),
    ],
)
def test_bad_input_is_refused_in_a_line(cli: Terminal, command: str, message: str) -> None:
    assert message in cli.refused(*typed(command))
