"""Tables of effectiveness that was computed before."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pytest

import adjudge as aj
from adjudge.errors import AdjudgeError, AdjudgeWarning, InputError
from adjudge.formats import read_effectiveness
from adjudge.model.effectiveness import AssessedEffectiveness
from adjudge.users.scores import ScoreTable

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def to_file(data: str | bytes, name: str = "last.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    return to_file


def plain(given: Any, **options: Any) -> aj.Effectiveness:
    eff = read_effectiveness(given, **options)
    assert isinstance(eff, aj.Effectiveness)
    return eff


def assessed(given: Any, **options: Any) -> AssessedEffectiveness:
    eff = read_effectiveness(given, **options)
    assert isinstance(eff, AssessedEffectiveness)
    return eff


def assert_same(got: aj.Effectiveness, wanted: aj.Effectiveness) -> None:
    assert (got.queries, got.systems, got.measures) == (wanted.queries, wanted.systems, wanted.measures)
    for name in ("values", "judged", "lower", "upper", "error"):
        np.testing.assert_array_equal(getattr(got, name), getattr(wanted, name), name)


# Long tables


@pytest.fixture(scope="module", params=[{}, {"unjudged": "bounds"}, {"ties": "expected"}], ids=str)
def evaluated(request: pytest.FixtureRequest) -> aj.Effectiveness:
    return aj.evaluate(aj.demo(queries=10, depth=5), ["CG@5", "nDCG@5", "AP(rel=40)@5"], **request.param)


@pytest.mark.parametrize("style", ["csv", "json"])
def test_what_score_writes_by_query_comes_back_exactly(evaluated: aj.Effectiveness, style: str, write: Write) -> None:
    table = ScoreTable.of(evaluated, per_query=True)
    got = plain(write(table.text(style), f"scores.{style}"))
    assert_same(got, table.eff)
    assert got.notes == (evaluated.notes if style == "json" else ())


def test_data_frames_of_effectiveness_come_back_exactly(evaluated: aj.Effectiveness, tmp_path: Path) -> None:
    frame = evaluated.to_polars()
    frame.write_parquet(tmp_path / "eff.parquet")
    frame.write_ndjson(tmp_path / "eff.jsonl")
    frame.write_csv(tmp_path / "eff.tsv", separator="\t")
    written = [tmp_path / f"eff.{suffix}" for suffix in ("parquet", "jsonl", "tsv")]
    for given in (frame, frame.lazy(), evaluated.to_pandas(), *written):
        assert_same(plain(given), evaluated)


LONG = "run,query_id,measure,value\na,q1,AP,0.5\na,q2,AP,0.25\nb,q1,AP,-1\nb,q2,AP,7e-04\n"
VALUES = [[0.5, -1], [0.25, 0.0007]]
WIDE_NAMES = (("301", "302"), ("a", "1"), ("effectiveness",))


def check(eff: aj.Effectiveness, measure: str = "AP") -> None:
    assert (eff.queries, eff.systems, eff.measures) == (("q1", "q2"), ("a", "b"), (measure,))
    assert eff.matrix().tolist() == VALUES
    assert np.isnan(eff.judged).all()


@pytest.mark.parametrize(
    "data",
    [
        LONG,
        "\n\n# last year\n" + LONG.replace("\n", "\n\n"),
        LONG.replace(",", ";"),
        LONG.replace(",", "\t"),
        LONG.replace(",", " , "),
        '"' + LONG.replace(",", '"\t"').rstrip().replace("\n", '"\n"') + '"\n',
        LONG.replace("run,query_id,measure,value", "Name,QID,Metric,Score"),
        LONG.replace("run,query_id", "System,Topic-ID").replace("value", "effectiveness"),
        ",note," + LONG.replace("\n", "\n0,x,").removesuffix("0,x,"),
        gzip.compress(LONG.encode(), mtime=0),
        "\n".join(json.dumps(row) for row in csv.DictReader(io.StringIO(LONG))),
        json.dumps(list(csv.DictReader(io.StringIO(LONG)))),
    ],
)
def test_a_long_table_reads_the_same_however_it_is_laid_out(data: str | bytes, write: Write) -> None:
    check(plain(write(data)))


def test_rows_may_come_in_any_order_and_systems_keep_theirs(write: Write) -> None:
    header, *rows = LONG.splitlines()
    eff = plain(write("\n".join([header, *rows[::-1]])))
    assert (eff.systems, eff.queries) == (("b", "a"), ("q2", "q1"))
    assert eff.matrix().tolist() == [[0.0007, 0.25], [-1, 0.5]]


def test_the_measures_of_ir_measures_are_called_as_they_print() -> None:
    qrels = [ir_measures.Qrel("q1", "d1", 1), ir_measures.Qrel("q2", "d1", 1)]
    run = [ir_measures.ScoredDoc("q1", "d1", 1.0), ir_measures.ScoredDoc("q2", "d2", 1.0)]
    wanted = [ir_measures.AP, ir_measures.P @ 1]
    frame = pd.DataFrame(ir_measures.iter_calc(wanted, qrels, run))
    for given in (frame, frame.assign(run="run")):
        eff = plain(given)
        assert (eff.systems, sorted(eff.measures)) == (("run",), ["AP", "P@1"])
        assert eff["AP"].matrix().tolist() == [[1.0], [0.0]]


@pytest.mark.parametrize(
    ("data", "names"),
    [
        ("qid,measure,value\n1,AP,0.5\n", (("1",), ("bm25",), ("AP",))),  # one system, named after its file
        ("query,qid,run,name,value\nsongs like this,7,a,Team A,0.5\n", (("7",), ("a",), ("effectiveness",))),
        ("name,qid,measure,value\na,1,map,0.5\na,2,map,0.25\n", (("1", "2"), ("a",), ("map",))),  # PyTerrier
        (
            'run,query_id,measure,value\n"Sigur, Rós","q ""1""","P(rel=2)@5",0.5\nNA,"q ""1""",P(rel=2)@5,1\n',
            (('q "1"',), ("Sigur, Rós", "NA"), ("P(rel=2)@5",)),
        ),
        ("query,model,judge\nq1,0.5,0.25\n", (("q1",), ("model", "judge"), ("effectiveness",))),  # wide
        *((f"{name},a,1\n301,0.5,0.4\n302,0.25,0.3\n", WIDE_NAMES) for name in ("topic", "QID", "id", "")),
    ],
)
def test_queries_systems_and_measures_are_found(data: str, names: tuple[Any, ...], write: Write) -> None:
    eff = plain(write(data, "bm25.csv.gz"))
    assert (eff.queries, eff.systems, eff.measures) == names


def test_the_measure_can_be_named_where_no_column_does(write: Write) -> None:
    path = write(LONG.replace(",measure", "").replace(",AP", ""))
    check(plain(path), "effectiveness")
    check(plain(path, measure="nDCG@10"), "nDCG@10")


def test_one_measure_of_several_can_be_chosen(write: Write) -> None:
    path = write(LONG.replace("measure,value\n", "measure,value\nc,q9,P@5,0.1\n"))
    check(plain(path, measure="AP"))
    with pytest.raises(AdjudgeError, match=r"No measure is called 'ap'. Did you mean 'AP'\?"):
        read_effectiveness(path, measure="ap")
    with pytest.raises(InputError, match=r"last.csv:7: expected a finite number as value, got 'x'"):
        read_effectiveness(write(path.read_text() + "a,q3,AP,x\n"), measure="AP")


@pytest.mark.parametrize("cell", ["", "NaN", "-nan", "NA", "null", "  "])
def test_a_missing_cell_is_named_and_its_query_left_out(cell: str, write: Write) -> None:
    path = write(LONG.replace("0.25", cell))
    note = f"{path}: missing: 'a' lacks 'q2'; 1 of 2 queries that every system has are left."
    with pytest.warns(AdjudgeWarning, match=f"^{re.escape(note)}$") as said:
        eff = plain(path)
    assert said[0].filename == __file__
    assert eff.notes == (note,)
    assert (eff.queries, eff.matrix().tolist()) == (("q1",), [[0.5, -1]])
    kept = plain(path, missing="keep")
    np.testing.assert_array_equal(kept.matrix(), [[0.5, -1], [np.nan, 0.0007]])


def test_missing_cells_can_be_refused_but_never_filled(write: Write) -> None:
    path = write(LONG.replace("0.25", ""))
    with pytest.raises(AdjudgeError, match=r"last.csv: missing: 'a' lacks 'q2'$"):
        read_effectiveness(path, missing="error")
    for asked in ("zero", "mean"):
        with pytest.raises(AdjudgeError, match=f"'missing' must be one of drop, keep, error, got '{asked}'"):
            read_effectiveness(path, missing=asked)  # type: ignore[arg-type]


def test_systems_that_share_no_query_are_refused() -> None:
    frame = pl.DataFrame({"run": ["a", "b", "b"], "qid": ["1", "2", "3"], "value": [0.1, 0.2, 0.3]})
    message = r"^missing: 'a' lacks '2' and '3' and 'b' lacks '1'; expected queries that every system has, got none"
    with pytest.raises(AdjudgeError, match=message):
        read_effectiveness(frame)


def test_a_measure_that_a_system_lacks_is_left_out() -> None:
    rows = [("a", "1", "AP", 0.1), ("b", "1", "AP", 0.2), ("a", "1", "RR", 1.0)]
    frame = pl.DataFrame(rows, schema=["run", "qid", "measure", "value"], orient="row")
    with pytest.warns(AdjudgeWarning, match="missing: not every system has RR; left out"):
        assert plain(frame).mean() == {"AP": {"a": 0.1, "b": 0.2}}


def test_one_bound_without_the_other_is_not_used(write: Write) -> None:
    eff = plain(write("run,qid,value,lower\na,1,0.5,0.4\n"))
    assert eff.lower is None
    assert eff.upper is None


def test_columns_that_are_empty_altogether_are_as_if_absent(write: Write) -> None:
    eff = plain(write("run,qid,assessor,measure,value,judged\na,1,,,0.5,\n"))
    assert (eff.measures, eff.judged.tolist()) == (("effectiveness",), [[[pytest.approx(np.nan, nan_ok=True)]]])


def test_the_file_is_in_the_provenance(write: Write) -> None:
    path = write(gzip.compress(LONG.encode(), mtime=0))
    provenance = plain(path, measure="AP").provenance
    assert provenance.inputs == ((str(path), hashlib.sha256(path.read_bytes()).hexdigest()),)
    assert provenance.settings == {"measure": "AP"}


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LONG.encode())))
    check(plain("-"))


# With assessors

ASSESSED = "run,qid,judge,measure,value\n" + "".join(
    f"{run},{query},{judge},{measure},{value}\n"
    for measure in ("AP", "P@5")
    for run in "ab"
    for query, judge, value in [("q1", "ann", 0.5), ("q1", "bob", 0.25), ("q2", "ann", 0.75)]
)


def test_a_column_for_the_assessor_gives_effectiveness_by_assessor(write: Write) -> None:
    eff = assessed(write(ASSESSED))
    assert (eff.queries, eff.systems) == (("q1", "q2"), ("a", "b"))
    assert (eff.assessors, eff.measures) == (("ann", "bob"), ("AP", "P@5"))
    np.testing.assert_array_equal(eff.array("P@5")[:, 1], [[0.5, 0.25], [0.75, np.nan]])
    assert eff.notes == ()
    again = assessed(eff.to_polars())
    assert (again.queries, again.systems, again.assessors) == (eff.queries, eff.systems, eff.assessors)
    np.testing.assert_array_equal(again.values, eff.values)
    assert assessed(write(ASSESSED), measure="AP").measures == ("AP",)


def test_a_system_that_an_assessor_left_out_is_said(write: Write) -> None:
    path = write(ASSESSED.replace("b,q1,bob,P@5,0.25\n", ""))
    where = r"\(NaN\): 1, first query 'q1', system 'b', assessor 'bob', measure 'P@5'"
    with pytest.warns(AdjudgeWarning, match=where):
        assessed(path)


# Wide tables


@pytest.mark.parametrize(("name", "n_runs"), [("adhoc8_ap", 129), ("adhoc8_p10", 129), ("web2013_ndcg20", 34)])
def test_the_tables_of_trec_are_read(name: str, n_runs: int, shared_data: Path) -> None:
    path = shared_data / "trec" / f"{name}.csv"
    with path.open(newline="") as file:
        header, *rows = csv.reader(file)
    eff = plain(path, measure="AP")
    assert (len(eff.systems), eff.n_queries, eff.measures) == (n_runs, 50, ("AP",))
    assert eff.systems == tuple(header)
    assert eff.queries[:2] == ("q1", "q2")
    assert eff.matrix().tolist() == [[float(cell) for cell in row] for row in rows]


WIDE = "query,a,b\nq1,0.5,-1\nq2,0.25,7e-04\n"


@pytest.mark.parametrize(
    "data",
    [
        WIDE,
        "# AP\n" + WIDE.replace("\n", "\n\n").rstrip(),
        WIDE.replace("query", "Topic ID"),
        WIDE.replace("query", ""),
        WIDE.replace("query", '""'),
        WIDE.replace("query", "song"),
        WIDE.replace("query,a,b", '"query","a"," b "'),
        WIDE.replace("\n", ",\n"),
        ",query,a,b\n0,q1,0.5,-1\n1,q2,0.25,7e-04\n",
        WIDE.partition(",")[2].replace("q1,", "").replace("q2,", ""),
        '[{"qid": "q1", "a": 0.5, "b": -1}, {"qid": "q2", "a": 0.25, "b": "7e-04"}]',
    ],
)
def test_a_wide_table_reads_the_same_however_it_is_laid_out(data: str, write: Write) -> None:
    check(plain(write(data)), "effectiveness")


def test_wide_frames_are_read() -> None:
    frame = pl.DataFrame({"a": [0.5, 0.25], "b": [-1.0, 7e-04]})
    pandas = pd.DataFrame({"a": [0.5, 0.25], "b": [-1.0, 7e-04]})
    long = plain(frame).to_pandas()
    for given in (
        frame,
        pandas,
        pandas.set_index(pd.Index(["q1", "q2"])),
        pandas.set_index(pd.Index(["q1", "q2"], name="qid")),
        pandas.set_index(pd.Index(["q1", "q2"], name="song")),
        pandas.assign(query=["q1", "q2"])[["query", "a", "b"]].set_index(pd.Index([4, 2])),
        long.pivot(index="query_id", columns="run", values="value"),
    ):
        check(plain(given), "effectiveness")


def test_one_system_is_enough_and_may_be_the_only_column(write: Write) -> None:
    assert plain(write("mine\n0.5\n0.25\n")).mean() == {"effectiveness": {"mine": 0.375}}


def test_empty_cells_of_a_wide_table_are_missing_and_said_so(write: Write) -> None:
    said = r"missing: 'a' lacks 'q2' and 'b' lacks 'q1' and 'q2'; 1 of 3 queries"
    with pytest.warns(AdjudgeWarning, match=said):
        eff = plain(write("query,a,b\nq1,0.5,\nq2,NA,NaN\nq3,1,2\n"))
    assert (eff.queries, eff.matrix().tolist()) == (("q3",), [[1, 2]])


# Several data sets


def test_data_sets_come_in_a_column_or_in_a_file_each(write: Write) -> None:
    long = "run,dataset,qid,value\na,x,1,0.1\nb,x,1,0.2\na,y,1,0.3\nb,y,1,0.4\n"
    wide = "task,query,a,b\nx,1,0.1,0.2\ny,1,0.3,0.4\n"
    files = [write("query,a,b\n1,0.1,0.2\n", "x.csv"), write("query,a,b\n1,0.3,0.4\n", "y.csv")]
    frames = {"x": pl.DataFrame({"a": [0.1], "b": [0.2]}), "y": pl.DataFrame({"a": [0.3], "b": [0.4]})}
    for given in (write(long), write(wide), {"x": files[0], "y": [files[1]]}, frames):
        eff = plain(given)
        first = "q1" if given is frames else "1"
        assert (eff.queries, eff.datasets) == ((f"x/{first}", f"y/{first}"), ("x", "y"))
        assert (eff.systems, eff.matrix().tolist()) == (("a", "b"), [[0.1, 0.2], [0.3, 0.4]])
        assert any("Queries of 2 data sets count alike" in note for note in eff.notes)
        again = plain(eff.to_polars())
        assert (again.queries, again.datasets) == (eff.queries, eff.datasets)
        assert eff.select(queries=[f"y/{first}"]).datasets == ("y",)


def test_queries_keep_their_names_where_data_sets_share_none(write: Write) -> None:
    eff = plain([write("query,a,b\n1,0.1,0.2\n", "x.csv"), write("query,a,b\n2,0.3,0.4\n", "y.csv")])
    assert (eff.queries, eff.datasets) == (("1", "2"), ("x", "y"))


def test_files_that_share_queries_but_no_cell_are_one_data_set(write: Write) -> None:
    systems = [write(f"query,{name}\n1,0.1\n2,0.3\n", f"{name}.csv") for name in "ab"]
    eff = plain(systems)
    assert (eff.queries, eff.systems, eff.datasets) == (("1", "2"), ("a", "b"), ())


@pytest.mark.parametrize("data", ["query,a,b\n1,0.1,0.2\n2,0.3,0.3\n", "a,b\n0.1,0.2\n0.3,0.3\n"])
def test_files_with_the_same_queries_and_systems_are_data_sets_only_by_name(data: str, write: Write) -> None:
    paths = [write(data, "x.csv"), write(data.replace("0.3", "0.5"), "y.csv")]
    with pytest.raises(
        InputError, match=r"y.csv: expected other queries or systems than those of .*x.csv, got the same"
    ):
        read_effectiveness(paths)
    assert plain(dict(zip("xy", paths, strict=True))).datasets == ("x", "x", "y", "y")


def test_several_tables_that_name_no_measure_are_taken_to_have_one_and_that_is_said(write: Write) -> None:
    given = {"x": write("query,a,b\n1,0.1,0.2\n", "x.csv"), "y": write("query,a,b\n1,0.3,0.4\n", "y.csv")}
    note = "Several tables do not name their measure: it is taken to be the same one."
    assert [text for text in plain(given).notes if text.startswith(note)]
    for named in (plain(given, measure="AP"), plain(given["x"])):
        assert not [text for text in named.notes if text.startswith(note)]


def test_files_that_share_queries_and_no_system_are_said_to_be_read_as_one_data_set(write: Write) -> None:
    first, second = (write(f"query,{names}\n1,0.1,0.2\n2,0.1,0.2\n{q},0.3,0.4\n", f"{names[0]}.csv")
                     for names, q in (("a,b", 3), ("c,d", 4)))  # fmt: skip
    alone = write("query,e\n1,0.1\n2,0.3\n", "e.csv")
    with pytest.warns(AdjudgeWarning, match="missing"):
        notes = plain([first, second, alone]).notes
    assert f"{first} and {second} share 2 queries and no system: read as one data set; NAME=FILE keeps them apart." in (
        notes
    )
    with pytest.warns(AdjudgeWarning, match="missing"):
        assert not any("no system" in note for note in plain([first, alone]).notes)


def test_queries_without_names_are_never_those_of_another_file(write: Write) -> None:
    paths = [write("a\n0.1\n", "x.csv"), write("b\n0.1\n", "y.csv")]
    with pytest.raises(AdjudgeError, match="expected data sets that share systems, got none that has all of 'x' and"):
        read_effectiveness(paths)


def test_a_system_that_lacks_a_data_set_is_left_out_and_said_so(write: Write) -> None:
    paths = [write("query,a,b,c\n1,0.1,0.2,0.3\n", "x.csv"), write("query,a,b\n1,0.3,0.4\n", "y.csv")]
    with pytest.warns(AdjudgeWarning, match=r"^missing: 'c' has nothing on 'y'; left out\.$"):
        assert plain(paths).systems == ("a", "b")


def test_a_value_that_two_files_of_a_data_set_have_is_refused(write: Write) -> None:
    paths = [write("query,a,b\n1,0.1,0.2\n", name) for name in ("x.csv", "y.csv")]
    with pytest.raises(InputError, match="expected each value once, got effectiveness of system 'a' for 'z/1' again"):
        read_effectiveness({"z": paths})


def test_all_is_the_mean_over_queries_and_no_query(write: Write) -> None:
    for data in (WIDE + "all,1,1\n", LONG + "a,all,AP,1\n"):
        eff = plain(write(data))
        assert eff.matrix().tolist() == VALUES
        assert eff.notes == ("'all' is the mean over queries and no query: left out.",)


def test_measures_may_have_a_column_each(write: Write) -> None:
    eff = plain(write("name,qid,map,ndcg_cut_10\na,1,0.1,0.2\na,2,0.3,0.4\n"))
    assert (eff.measures, eff.queries) == (("map", "ndcg_cut_10"), ("1", "2"))
    assert eff.values[:, 0].tolist() == [[0.1, 0.2], [0.3, 0.4]]


def test_measures_without_systems_are_those_of_one_system_and_never_compared_with_one_another(write: Write) -> None:
    files = [write(f"query,nDCG@10,AP\n1,{v},0.2\n2,0.3,0.4\n", f"{name}.csv") for name, v in (("a", 0.1), ("b", 0.5))]
    eff = plain(files[0])
    assert (eff.systems, eff.measures, eff.queries) == (("a",), ("nDCG@10", "AP"), ("1", "2"))
    assert [note for note in eff.notes if "measures of one system" in note]
    assert plain(files).mean()["nDCG@10"] == {"a": pytest.approx(0.2), "b": pytest.approx(0.4)}


def test_queries_and_values_alone_are_one_system_named_after_its_file(write: Write) -> None:
    files = [write(f"query,{name}\n1,0.1\n2,{v}\n", f"{v}.csv") for name, v in (("value", 0.3), ("score", 0.5))]
    assert plain(files).mean() == {"effectiveness": {"0.3": pytest.approx(0.2), "0.5": pytest.approx(0.3)}}


# What is refused

RUN = "301 Q0 d1 1 0.5 tag\n301 Q0 d2 2 0.4 tag\n"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("", "last.csv: expected data, got an empty file"),
        ("# nothing\n", "last.csv: expected data, got only comments"),
        ("query,a,b\n", "last.csv: expected at least one row of data, got none"),
        (WIDE + "q3,0.5\n", "last.csv:4: expected 3 columns, got 2"),
        (WIDE + "\n# x\nq3,0.5,good\n", "last.csv:6: expected a finite number for the system 'b', got 'good'"),
        (WIDE + "q3,inf,1\n", "last.csv:4: expected a finite number for the system 'a', got 'inf'"),
        (WIDE + 'q3,"0,5",1\n', "last.csv:4: expected a finite number for the system 'a', got '0,5'"),
        (WIDE + "q1,1,1\n", "last.csv:4: expected each query once, got 'q1' again"),
        (WIDE + ",1,1\n", "last.csv:4: expected a query, got nothing"),
        ("a,b\n0.1,0.2\n0.3,x\n", "last.csv:3: expected a finite number for the system 'b', got 'x'"),
        ("a,b\n0.1,0.2\nx,0.4\n0.2,0.1\n", "last.csv:3: expected a finite number for the system 'a', got 'x'"),
        ("\nquery,a,a\nq1,1,2\n", "last.csv:2: expected each column once, got 'a' twice"),
        ("query,a,\nq1,1,2\n", "last.csv:1: expected a system as the name of column 3, got nothing"),
        ("query\nq1\n", "last.csv:1: expected a column for every system, got only 'query'"),
        ("query a b\nq1 0.1 0.2\n", "last.csv:1: expected a column for every system, got only 'query a b'"),
        ("query,a\nq1,\n", "last.csv: expected effectiveness, got no value at all"),
        ("0.1,0.2\n0.3,0.4\n", "last.csv:1: expected a header with the names of the systems, got '0.2'"),
        ("q1,0.1,0.2\nq2,0.3,0.4\n", "last.csv:1: expected a header with the names of the systems, got '0.2'"),
        ("no,a\n301,0.1\n302,0.2\n", "last.csv:1: expected effectiveness, got the whole numbers of the column 'no'"),
        (LONG + "a,q3,AP,x\n", "last.csv:6: expected a finite number as value, got 'x'"),
        (LONG + ",q3,AP,1\n", "last.csv:6: expected a system in 'run', got nothing"),
        (LONG + "a,q3,,1\n", "last.csv:6: expected a measure, got nothing"),
        (LONG + "\na,q1,AP,0.5\n", "last.csv:7: expected one row .* query 'q1', system 'a' and measure 'AP' again"),
        (ASSESSED + "a,q1,bob,AP,0\n", ":14: .* got query 'q1', system 'a', assessor 'bob' and measure 'AP' again"),
        (ASSESSED + "a,q1,,AP,0\n", "last.csv:14: expected an assessor in 'judge', got nothing"),
        ("run,qid,value,judged\na,1,1,most\n", "last.csv:2: expected a finite number as judged, got 'most'"),
        ("run,qid,topic_id,value\na,1,1,1\n", ":1: expected one column for the query, got 'qid' and 'topic_id'"),
        ("run,qid,mine\na,1,1\n", "last.csv:1: expected columns for system, query and value, or a row for every query"),
        ("system,q1,q2\na,1,1\n", "last.csv:1: expected columns for system, query and value, or a row for every query"),
        ("measure,system,mean\nAP,a,1\n", "last.csv:1: .* got the columns 'measure', 'system' and 'mean'"),
        (RUN, "last.csv: expected effectiveness, but this looks like a run"),
        (RUN.replace(" ", "\t"), "last.csv: expected effectiveness, but this looks like a run"),
        ("301 0 d1 1\n301 0 d2 0\n", "last.csv: expected effectiveness, but this looks like judgments"),
        ("run,qid,docno,score\na,1,d,1\n", "last.csv:1: .* looks like a run: it has the columns 'run', 'qid', 'docno'"),
        ("query,document,rank\n1,d,1\n", "last.csv:1: expected effectiveness, but this looks like a run: it"),
        ("qid,docno,label,user\n1,d,1,u\n", "last.csv:1: expected effectiveness, but this looks like judgments: it"),
        ('{"run": {"q1": 1}}', "last.csv: expected names of measures as keys .* got 'run' and 'q1': which are"),
        ('{"run": 1}', "last.csv: expected a list of records, the JSON of 'adjudge score --per-query', or results of"),
        ("AP RR 0.5\nRR AP 0.5\n", "last.csv: expected one column of measures, as trec_eval -q and ir_measures -q"),
        ("".join(f"map q{i} 0.5\n" for i in range(20)) + "map q20\n", "last.csv:21: expected 3 columns, got 2"),
        ("run,qid,value\na,1,1\na,1,0.5\nb,1,0\nb,1,1\n", ":1: .* got 2 for each: several measures in one column"),
        ("[1]", "last.csv: row 1: expected a record with names and values, got '1'"),
        ('{"qid": 1, "a": 1}\n{"qid": 2, "a": "x"}\n', ":2: expected a finite number for the system 'a', got 'x'"),
        ('[{"qid": 1, "a": [1]}]', r"last.csv: expected numbers as a, got a column of List"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_its_line(data: str | bytes, message: str, write: Write) -> None:
    with pytest.raises(InputError, match=message):
        read_effectiveness(write(data))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (pl.DataFrame(), "^expected at least one row of data, got none"),
        (pd.DataFrame({"query": [], "a": []}), "^expected at least one row of data, got none"),
        (pl.DataFrame({"a": [0.1, float("inf")]}), "^row 2: expected a finite number for the system 'a', got 'inf'"),
        (pl.DataFrame({"query": ["q1", "q1"], "a": [0, 1]}), "^row 2: expected each query once, got 'q1' again"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "^expected each column once, got 'a' twice"),
        (pl.DataFrame({"query": ["q1"]}), "^expected a column for every system, got only 'query'"),
        (
            pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_product([["a"], ["AP", "RR"]])),
            r"^expected a data frame with one level of column names, got 2, such as \('a', 'AP'\)$",
        ),
        ([0.1, 0.2], "^row 1: expected a record with names and values, got '0.1'"),
        (None, "^expected effectiveness as a file or a data frame, got 'NoneType'"),
        (Path("nowhere/last.csv"), "^nowhere/last.csv: cannot be read: no such file"),
    ],
)  # fmt: skip
def test_frames_and_other_things_are_refused_with_their_row(given: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_effectiveness(given)


def test_a_table_that_would_be_all_holes_is_refused() -> None:
    names = [str(i) for i in range(20_000)]
    frame = pl.DataFrame({"run": names, "qid": names, "value": 0.5})
    with pytest.raises(InputError, match=r"most systems to have most queries, got 20000 rows for 20000 x 20000"):
        read_effectiveness(frame)
