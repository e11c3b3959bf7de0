"""adjudge groundtruth: every command and form, and one line for what is wrong."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from tests.unit.cli.conftest import Terminal

import adjudge as aj
from adjudge.groundtruth import COMPARISONS, FUNCTIONS

EXPERTS = 8
ORDERS = {"q1": "a b c d", "q2": "w x y z"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Experts who agree about everything but the two documents in the middle, and never rank v of q2."""
    monkeypatch.chdir(tmp_path)
    rows = ["query,expert,document,rank"]
    for expert in range(EXPERTS):
        for query, text in ORDERS.items():
            order = text.split()
            if expert % 2:
                order[1], order[2] = order[2], order[1]
            rows += [f"{query},e{expert},{document},{place}" for place, document in enumerate(order, start=1)]
        rows.append(f"q2,e{expert},v,")
    Path("rankings.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    Path("preferences.csv").write_text(
        "query,document_a,document_b,answer,assessor\n"
        + "".join(f"q1,a,b,a,p{i}\nq1,c,b,b,p{i}\nq1,b,d,a,p{i}\n" for i in range(6)),
        encoding="utf-8",
    )
    return tmp_path


def test_lists_are_built_told_of_and_written(cli: Terminal) -> None:
    out = cli.out("groundtruth", "build", "rankings.csv", "-o", "lists.json")
    assert out.startswith("2 lists of 8 documents in 6 groups, Any-1, from 64 ranks by 8 experts.\n")
    assert "ADR-1 consistency is 1.000" in out
    assert "1 document is ranked by nobody and in no list: v of q2." in out
    assert "wrote 2 lists to lists.json" in out
    made = json.loads(Path("lists.json").read_text(encoding="utf-8"))
    assert {query: [sorted(group) for group in groups] for query, groups in made.items()} == {
        "q1": [["a"], ["b", "c"], ["d"]],
        "q2": [["w"], ["x", "y"], ["z"]],
    }


@pytest.mark.parametrize("name", ["lists.json", "lists.groups", "lists.csv", "lists.tsv"])
def test_what_was_built_is_found_as_consistent_when_checked(cli: Terminal, name: str) -> None:
    built = cli.rows("groundtruth", "build", "rankings.csv", "-c", "All-2", "-o", name)
    assert cli.rows("groundtruth", "check", name, "rankings.csv") == built


def test_lists_from_elsewhere_are_measured_as_far_as_somebody_was_asked(cli: Terminal) -> None:
    Path("lists.json").write_text('{"q1": [["d"], ["c", "b", "nobody"], ["a"]], "q9": [["a"], ["b"]]}')
    out = cli.out("groundtruth", "check", "lists.json", "rankings.csv")
    assert "1 list of 4 documents in 3 groups, made elsewhere" in out
    assert "5 stand in the wrong order" in out
    assert "made elsewhere, measured by 32 ranks by 8 experts." in out
    assert "1 list is of a query that nobody was asked about: q9." in out
    assert "1 query of the answers has no list: q2." in out
    assert "1 document of the lists was put to nobody and not counted: nobody of q1." in out


def test_preferences_become_lists_and_say_how_few_pairs_were_asked(cli: Terminal) -> None:
    out = cli.out("groundtruth", "build", "preferences.csv")
    assert "from 18 preferences by 6 people" in out
    assert "3 of 6 pairs of documents were compared" in out


def test_lists_go_to_standard_output_alone(cli: Terminal) -> None:
    cli.out("groundtruth", "build", "rankings.csv", "-o", "lists.groups")
    said = cli("groundtruth", "build", "rankings.csv", "-o", "-")
    assert (said.code, said.out) == (0, Path("lists.groups").read_text(encoding="utf-8"))
    assert "note: 1 document is ranked by nobody" in said.err


def test_one_group_for_want_of_experts_is_not_sold_as_agreement(cli: Terminal) -> None:
    Path("one.csv").write_text("query,expert,document,rank\nq,ann,a,1\nq,ann,b,2\n", encoding="utf-8")
    out = cli.out("groundtruth", "build", "one.csv")
    assert "No two documents differ significantly (α = 0.25): people see no difference, disagree, or are too few" in out
    assert "No two documents" not in cli("groundtruth", "build", "rankings.csv")[1]


def test_names_that_text_cannot_hold_are_told_with_the_way_out(cli: Terminal) -> None:
    Path("spaces.csv").write_text("query,expert,document,rank\nq,ann,a b,1\nq,ann,c,2\n", encoding="utf-8")
    said = cli.refused("groundtruth", "build", "spaces.csv", "-o", "lists.groups")
    assert "lists.groups: expected a document without white space, got 'a b'; .json and .csv hold any name" in said
    assert not Path("lists.groups").exists()
    cli.out("groundtruth", "build", "spaces.csv", "-o", "lists.json")


def test_nobody_is_counted_where_it_is_not_known_who_answered(cli: Terminal) -> None:
    Path("anonymous.csv").write_text("query,left,right,answer\nq,a,b,a\nq,b,c,\n", encoding="utf-8")
    code, out, err = cli("groundtruth", "build", "anonymous.csv")
    assert code == 0
    assert "Any-1, from 1 preference." in out
    assert "left out 1 blank answer of 2." in err


def test_json_says_everything_and_where_it_came_from(cli: Terminal) -> None:
    content = cli.json("groundtruth", "build", "rankings.csv", "--without", "q2", "--alpha", "0.1")
    assert (content["construction"], content["alpha"]) == ("Any-1", 0.1)
    assert list(content["lists"]) == [one["query"] for one in content["queries"]] == ["q1"]
    assert content["provenance"]["inputs"][0]["file"] == "rankings.csv"
    assert content["summary"][0].startswith("1 list of 4 documents")


def test_unranked_documents_come_last_where_asked(cli: Terminal) -> None:
    Path("two.csv").write_text("query,expert,document,rank\n" + "".join(
        f"q,e{i},a,1\nq,e{i},b,{'2' if i else ''}\nq,e{i},c,3\n" for i in range(6)
    ))  # fmt: skip
    for how, answers in (("skip", "5"), ("last", "6")):
        second = cli.rows("groundtruth", "show", "two.csv", "--unranked", how)[1]
        assert (second["document"], second["answers"]) == ("b", answers)


def test_a_list_is_shown_with_what_contradicts_it(cli: Terminal) -> None:
    strict = ("--construction", "All-2", "--alpha", "0.00001")
    out = cli.out("groundtruth", "show", "rankings.csv", "--query", "q1", *strict)
    assert "q1: 4 documents in 1 group, All-2 at α = 1e-05" in out
    content = cli.json("groundtruth", "show", "rankings.csv", "-q", "q2", "-q", "q1")
    assert [one["query"] for one in content["lists"]] == ["q2", "q1"]
    assert content["lists"][0]["left_out"] == ["v"]
    assert [one["group"] for one in content["lists"][1]["documents"]] == [1, 2, 2, 3]
    assert [one["median"] for one in content["lists"][1]["documents"]] == [1, 2.5, 2.5, 4]


def test_places_that_contradict_a_document_are_named(cli: Terminal) -> None:
    rows = [f"q,e{i},{document},{place}" for i in range(EXPERTS) for place, document in enumerate("abcd", start=1)]
    Path("clear.csv").write_text("query,expert,document,rank\n" + "\n".join(rows) + "\n")
    Path("flat.json").write_text('{"q": [["a", "b", "c"], ["d"]]}')
    first = cli.rows("groundtruth", "check", "flat.json", "clear.csv")[0]
    assert (first["intra"], first["pairs_within"]) == ("3", "3")
    assert {row["differs_from"] for row in cli.rows("groundtruth", "show", "clear.csv", "--alpha", "0.00001")} == {""}


def test_everything_registered_is_explained(cli: Terminal) -> None:
    out = cli.out("groundtruth", "constructions")
    for name in (*FUNCTIONS, *COMPARISONS):
        assert f" {name}" in out
    content = cli.json("groundtruth", "constructions")
    assert {one["comparison"] for one in content["comparisons"] if one["default"]} == {"mann-whitney", "sign"}


@pytest.mark.parametrize("name", ["report.html", "report.json"])
def test_a_report_is_written(cli: Terminal, name: str) -> None:
    out = cli.out("groundtruth", "build", "rankings.csv", "--without", "q2", "--report", name)
    assert f"wrote the report to {name}" in out
    assert "q1" in Path(name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["build", "rankings.csv", "--alpha", "0"], "'alpha' must be in (0, 1), got 0"),
        (["build", "rankings.csv", "--seed", "-1"], "'seed' must be a whole number of at least 0, got -1"),
        (["build", "rankings.csv", "--least-experts", "0"], "'least-experts' must be a whole number of at least 1"),
        (["build", "rankings.csv", "--least-experts", "99"], "that 99 or more experts ranked, got 0 of 4"),
        (["build", "rankings.csv", "-c", "Any"], "such as Any-1 or All-2:plackett-luce, got 'Any'"),
        (["build", "rankings.csv", "--without", "q"], "No query is called 'q'. Did you mean"),
        (["build", "rankings.csv", "--without", "q1", "--without", "q2"], "expected at least one query to be left"),
        (["build", "rankings.csv", "-o", "lists.pdf"], "lists.pdf: expected a name of lists that ends in .groups"),
        (["build", "rankings.csv", "-o", "no/lists.json"], "expected a file in an existing directory"),
        (["build", "rankings.csv", "-o", "rankings.csv"], "rankings.csv: is an input, and would be overwritten"),
        (["build", "rankings.csv", "--report", "x.pdf"], "x.pdf: expected a report that ends in .html"),
        (["build", "rankings.csv", "--figures", "x"], "--figures are those of a report"),
        (["build", "rankings.csv", "-o", "x.json", "--report", "x.json"], "expected one file for the report"),
        (["build", "nowhere.csv"], "nowhere.csv"),
        (["build", "preferences.csv", "--unranked", "last"], "--unranked is about rankings"),
        (["show", "rankings.csv", "--query", "zzz"], "No query is called 'zzz'. There are 2: q1, q2."),
        (["check", "other.json", "rankings.csv"], "expected queries in common, got none"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_in_one_line(
    folder: Path, cli: Terminal, arguments: list[str], words: str
) -> None:
    Path("other.json").write_text('{"q7": [["a"], ["b"]]}')
    before = sorted(folder.iterdir())
    assert words in cli.refused("groundtruth", *arguments)
    assert sorted(folder.iterdir()) == before


def test_the_published_preferences_make_a_list_for_each_query(shared_data: Path, cli: Terminal) -> None:
    path = shared_data / "preferences-2010" / "judgments.csv"
    code, out, err = cli("groundtruth", "build", str(path), "--csv")
    rows = list(csv.DictReader(out.splitlines()))
    assert (code, len(rows)) == (0, 11)
    assert sum(int(row["documents"]) for row in rows) == 118
    assert "5" in err  # answers left blank


BAD = {
    "one document": "q2,ann,x,1\n",
    "nobody ranked": "q2,ann,x,\nq2,ann,y,-\n",
    "one ranked": "q2,ann,x,1\nq2,ann,y,\n",
    "a document twice": "q2,ann,x,1\nq2,ann,x,2\n",
    "no rank": "q2,ann,x,first\nq2,ann,y,2\n",
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_query_is_left_out_before_it_is_looked_at(kind: str, cli: Terminal) -> None:
    Path("bad.csv").write_text(f"query,expert,document,rank\n{BAD[kind]}q1,ann,x,1\nq1,ann,y,2\n")
    said = cli.refused("groundtruth", "build", "bad.csv")
    is_whole = kind in ("one document", "nobody ranked", "one ranked")
    assert said.endswith("(leave it out with --without q2)\n") == is_whole
    out = cli.out("groundtruth", "build", "bad.csv", "--without", "q2")
    assert out.startswith("1 list of 2 documents")
    assert "No query is called 'q3'." in cli.refused("groundtruth", "build", "bad.csv", "--without", "q3")
    Path("bad.csv").write_text(f"query,expert,document,rank\n{BAD[kind]}")  # the only query is not to be left out
    assert "--without" not in cli.refused("groundtruth", "build", "bad.csv")


SMALL = ("--queries", "3", "--documents", "6", "--experts", "9", "--groups", "3")
THREE = ("--constructions", "All-2", "Any-1", "Best-1")


@pytest.fixture
def comparable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    simulated = aj.groundtruth.simulate_rankings(queries=3, documents=6, experts=9, groups=3)
    aj.groundtruth.write_rankings(simulated.rankings, "rankings.csv")
    good = {query: list(one.documents) for query, one in simulated.truth.items()}
    runs = {"good": good, "bad": {query: documents[::-1] for query, documents in good.items()}}
    aj.write(aj.read(runs).runs, "runs.csv")
    return tmp_path


@pytest.mark.usefixtures("comparable")
def test_constructions_stand_side_by_side(cli: Terminal) -> None:
    out = cli.out("groundtruth", "compare", "rankings.csv", *THREE, "--halves", "1")
    assert "Best-1" in out.splitlines()[0]
    assert "Held out: ADR-1 by the half of the answers that a list was not made from" in out
    assert out.index(" All-2 ") < out.index(" Any-1 ")


def test_nobody_who_names_none_compares_those_of_the_paper_a_better_cut_and_a_model(
    comparable: Path, cli: Terminal
) -> None:
    names = [row["construction"] for row in cli.rows("groundtruth", "compare", "rankings.csv", "--halves", "0")]
    assert names[:6] == ["All-2", "Any-2", "Prev-2", "All-1", "Any-1", "Prev-1"]
    assert names[6:] == ["Best-1", "Any-1:plackett-luce"]


@pytest.mark.usefixtures("comparable")
def test_systems_are_evaluated_by_the_lists_of_each_construction(cli: Terminal) -> None:
    content = cli.json("groundtruth", "compare", "rankings.csv", *THREE, "--halves", "0", "--runs", "runs.csv")
    assert content["systems"]["measure"] == "ADR"
    for means in content["systems"]["means"].values():
        assert means["good"] > means["bad"]
    assert [one["tau"] for one in content["constructions"]] == [1, 1, 1]
    assert [one["file"] for one in content["provenance"]["inputs"]] == ["rankings.csv", "runs.csv"]
    assert content["summary"]


@pytest.mark.usefixtures("comparable")
def test_a_report_of_the_comparison_is_written(cli: Terminal) -> None:
    out = cli.out("groundtruth", "compare", "rankings.csv", *THREE, "--halves", "1", "--report", "ways.md")
    assert "wrote the report to ways.md" in out
    page = Path("ways.md").read_text(encoding="utf-8")
    assert "Best-1" in page
    assert "Any-1" in page


@pytest.mark.usefixtures("comparable")
def test_preferences_are_compared_with_a_model_of_their_own(cli: Terminal) -> None:
    rows = [f"q,{a},{b},a,p{i}\n" for i in range(4) for a, b in ("xy", "yz", "xz")]
    Path("preferences.csv").write_text("query,document_a,document_b,answer,assessor\n" + "".join(rows))
    out = cli.out("groundtruth", "compare", "preferences.csv", "--halves", "0", "--csv")
    assert "Any-1:bradley-terry" in out


@pytest.mark.usefixtures("comparable")
def test_simulated_experts_write_rankings_and_the_lists_that_they_saw(cli: Terminal) -> None:
    out = cli.out("groundtruth", "simulate", *SMALL, "--noise", "0", "--lists", "truth.groups", "-o", "made.csv")
    assert out.startswith("Wrote ")
    assert "adjudge groundtruth check truth.groups made.csv" in out
    truth, made = aj.groundtruth.read_lists("truth.groups"), aj.groundtruth.read_rankings("made.csv")
    assert [len(one.groups) for one in truth.values()] == [3, 3, 3]
    assert (made.n_experts, len(made.queries)) == (9, 3)
    first = Path("made.csv").read_bytes()
    cli("groundtruth", "simulate", *SMALL, "--noise", "0", "-o", "made.csv")
    assert Path("made.csv").read_bytes() == first


@pytest.mark.usefixtures("comparable")
def test_simulated_answers_go_to_standard_output_alone(cli: Terminal) -> None:
    cli("groundtruth", "simulate", *SMALL, "-o", "made.csv")
    out = cli.out("groundtruth", "simulate", *SMALL, "-o", "-")
    assert out == Path("made.csv").read_text(encoding="utf-8")


@pytest.mark.usefixtures("comparable")
def test_simulated_people_write_preferences_for_the_pairs_of_a_sort(cli: Terminal) -> None:
    options = ["--queries", "1", "--documents", "8", "--groups", "4", "--answers", "6", "--lists", "truth.json"]
    out = cli.out("groundtruth", "simulate", "--preferences", *options, "-o", "made.csv")
    assert "people for 1 query to made.csv" in out
    made = aj.groundtruth.read_preferences("made.csv").queries[0]
    asked = made.wins + made.wins.T + made.alike
    assert set(asked.ravel().tolist()) == {0.0, 6.0}
    out = cli.out("groundtruth", "compare", "made.csv", "--halves", "0")
    assert f"But only {int((asked > 0).sum()) // 2} of 28 pairs were asked about" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["compare", "rankings.csv", "--constructions", "Any-1", "Any-1"], "some, each once, got Any-1, Any-1"),
        (["compare", "rankings.csv", "--constructions", "Any-1:nothing"], "No comparison is called 'nothing'"),
        (["compare", "rankings.csv", "-m", "nDCG"], "--measure is about systems; expected --runs, got none"),
        (["compare", "rankings.csv", "--runs", "runs.csv", "-m", "NDCG"], "Did you mean"),
        (["compare", "rankings.csv", "--teams", "x.csv"], "--teams is about the lists of --runs, got none"),
        (["compare", "rankings.csv", "--runs", "nowhere.csv"], "nowhere.csv"),
        (["compare", "rankings.csv", "-o", "ways.pdf"], "ways.pdf: expected a name that ends in"),
        (["compare", "rankings.csv", "--report", "rankings.md/x.md"], "expected a file in an existing directory"),
        (["compare", "rankings.csv", "-o", "ways.md", "--report", "ways.md"], "expected one file for the report"),
        (["compare", "rankings.csv", "--runs", "runs.csv", "-o", "runs.csv"], "is an input, and would be overwritten"),
        (["simulate", "--lists", "x.pdf", "-o", "x.csv"], "x.pdf: expected a name of lists that ends in .groups"),
        (["simulate", "-o", "x.pdf"], "x.pdf"),
        (["simulate", "--lists", "x.csv", "-o", "x.csv"], "x.csv: expected one file for the answers"),
        (["simulate", "-o", "x.groups"], "x.groups: expected a name of answers that ends in .csv, .tsv, .parquet"),
        (["simulate", "--preferences", "-o", "x.json"], "x.json: expected a name of answers that ends in .csv, .tsv"),
        (["simulate", "--preferences", "--unranked", "0.1", "-o", "x.csv"], "--unranked is about rankings"),
        (["simulate", "--answers", "5", "-o", "x.csv"], "--answers are asked for with --preferences"),
        (["simulate", "--preferences", "--answers", "99", "-o", "x.csv"], "expected from 1 to 35 answers about a pair"),
    ],
)
def test_a_comparison_that_makes_no_sense_is_refused_in_one_line(
    comparable: Path, cli: Terminal, arguments: list[str], words: str
) -> None:
    before = sorted(comparable.iterdir())
    assert words in cli.refused("groundtruth", *arguments)
    assert sorted(comparable.iterdir()) == before


def test_the_library_has_the_same_by_name(comparable: Path) -> None:
    rankings = aj.groundtruth.read_rankings("rankings.csv")
    truth = aj.ground_truth(rankings, "Any-1")
    assert repr(truth) == "GroundTruth(3 queries, Any-1)"
    assert str(truth).splitlines()[0] == "Lists of 3 queries, Any-1"
    aj.groundtruth.write_lists(truth.lists, "lists.groups")
    checked = aj.groundtruth.check_lists(aj.groundtruth.read_lists("lists.groups"), rankings)
    assert checked.consistency(1) == pytest.approx(truth.consistency(1))
    assert checked.made_by == "made elsewhere"
