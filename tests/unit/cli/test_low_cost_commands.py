"""adjudge estimate, next, simulate and calibrate, as a user types them, and as one mistypes them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from tests.unit.cli.conftest import Terminal, typed

from adjudge.cli import main
from adjudge.relevance import ESTIMATORS, GOALS, RULES

QUICK = ["--estimator", "uniform"]
FINE = ["--scale", "fine", "-m", "CG@5"]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo as files."""
    folder = tmp_path_factory.mktemp("demo")
    assert main(["demo", "--queries", "8", "--ranks", "5", "--write", str(folder / "demo")]) == 0
    return folder / "demo"


@pytest.fixture(autouse=True)
def demo(written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work beside the demo, in a folder of one's own."""
    monkeypatch.chdir(tmp_path)
    for name in ("runs", "fine.csv", "metadata.csv"):
        Path(name).symlink_to(written / name)
    return tmp_path


def few_judgments(n: int = 12) -> None:
    lines = Path("fine.csv").read_text().splitlines()
    Path("few.csv").write_text("\n".join(lines[: n + 1]) + "\n")


# estimate


def test_an_audit_has_its_turns_in_a_batch_and_a_section_of_its_own(cli: Terminal) -> None:
    """The file of judgments may be in any order; the seed decides what is drawn."""
    ask = ["next", "runs", *FINE, *QUICK, "-n", "40", "--csv"]
    plain, drawn = cli.rows(*ask), cli.rows(*ask, "--audit", "0.5")
    assert plain != drawn
    assert drawn != cli.rows(*ask, "--audit", "0.5", "--seed", "1")
    grades = {
        (row["query"], row["document"]): row["grade"]
        for row in csv.DictReader(Path("fine.csv").read_text().splitlines())
    }
    lines = [f"{row['query']},{row['document']},{grades[row['query'], row['document']]}" for row in drawn]
    found = []
    for some in (lines, sorted(lines)):
        Path("some.csv").write_text("\n".join(["query,document,grade", *some]) + "\n")
        found.append(cli.json("estimate", "runs", "--judgments", "some.csv", *FINE, "--audit", "0.5")["audit"])
    assert found[0] == found[1]
    assert found[0]["n_heard"] >= 20
    text = cli.out("estimate", "runs", "--judgments", "some.csv", *FINE, "--audit", "0.5")
    assert f"Audit of CG@5: not contradicted after {found[0]['n_heard']} audited judgments." in text
    assert "audited" not in cli.out("estimate", "runs", "--judgments", "some.csv", *FINE)


def test_estimate_ranks_without_any_judgment(cli: Terminal) -> None:
    """With the default estimator, and nothing but runs."""
    text = cli.out("estimate", "runs", *FINE)
    assert "0 of " in text
    assert "Judging should go on" in text
    assert "Estimator hierarchical, CG@5." in text
    for system in ("KLN1", "BSS1", "ZX1"):
        assert system in text


def test_lists_are_estimated_by_a_measure_that_asks_for_their_order_only(tmp_path: Path, cli: Terminal) -> None:
    (tmp_path / "lists.groups").write_text("q 1 a\nq 2 b\nq 3 c\n")
    (tmp_path / "s.run").write_text("q Q0 a 1 3 s\nq Q0 b 2 2 s\nq Q0 c 3 1 s\n")
    (tmp_path / "t.run").write_text("q Q0 c 1 3 t\nq Q0 b 2 2 t\nq Q0 a 3 1 t\n")
    runs = [str(tmp_path / name) for name in ("s.run", "t.run")]
    assert "nDCG@3" in cli.out("estimate", *runs, "--judgments", str(tmp_path / "lists.groups"))


def test_estimate_is_the_truth_once_everything_is_judged(cli: Terminal) -> None:
    scores = cli.rows("score", "fine.csv", "runs", *FINE)
    estimates = list(cli.rows("estimate", "runs", "--judgments", "fine.csv", *FINE, *QUICK))
    truth = {row["system"]: float(row["mean"]) for row in scores}
    assert len(estimates) == 12
    for row in estimates:
        for name in ("score", "low", "high"):
            assert float(row[name]) == pytest.approx(truth[row["system"]], abs=1e-9)
    assert [row["system"] for row in estimates] == [row["system"] for row in scores]


def test_estimate_says_the_same_in_every_form(cli: Terminal) -> None:
    few_judgments()
    command = [*typed("estimate runs --judgments few.csv --estimator output --metadata metadata.csv"), *FINE]
    values = cli.json(*command)
    assert values["status"]["n_judged"] == 12
    assert values["measure"] == "CG@5"
    assert {entry["file"] for entry in values["provenance"]["inputs"]} >= {"few.csv", "metadata.csv"}
    assert len(values["pairs"]) == 66
    rows = cli.rows(*command)
    assert [float(row["score"]) for row in rows] == [row["score"] for row in values["ranking"]]
    assert [row["tied"].split(";") for row in rows] == [row["tied"] or [""] for row in values["ranking"]]
    text = cli.out(*command)
    for row in values["ranking"]:
        assert f"{row['score']:.3f}   [{row['low']:.3f}, {row['high']:.3f}]" in text
    for suffix in ("html", "md", "tex"):
        assert cli.out(*command, "-o", f"page.{suffix}") == ""
        page = Path(f"page.{suffix}").read_text()
        for row in values["ranking"]:
            assert f"{row['score']:.3f}" in page


def test_estimate_draws_its_figures_and_its_history(cli: Terminal) -> None:
    few_judgments(20)
    command = ["estimate", "runs", "--judgments", "few.csv", *FINE, *QUICK, "--history"]
    history = cli.json(*command)["history"]
    assert [point["n_judged"] for point in history] == list(range(21))
    cli.out(*command, "--figures", "figures")
    names = {"estimated-ranking", "estimated-differences", "confidence-history"}
    assert {path.name for path in Path("figures").iterdir()} == {f"{n}.{s}" for n in names for s in ("svg", "pdf")}


def test_shuffled_lines_change_nothing(cli: Terminal) -> None:
    few_judgments()
    Path("mixed").mkdir()
    for file in sorted(Path("runs").iterdir(), reverse=True):
        (Path("mixed") / f"x{file.name}").write_text("".join(reversed(file.read_text().splitlines(keepends=True))))
    head, *lines = Path("few.csv").read_text().splitlines()
    Path("wef.csv").write_text("\n".join([head, *reversed(lines)]) + "\n")
    for command in ("estimate", "next"):
        plain, mixed = (
            cli.rows(command, runs, "--judgments", judged, *FINE, *QUICK)
            for runs, judged in (("runs", "few.csv"), ("mixed", "wef.csv"))
        )
        assert plain == mixed


def test_short_lists_are_said(cli: Terminal) -> None:
    note = "96 of 96 lists have fewer than 9 documents (BSS1 and 11 more systems): empty ranks add nothing to a score."
    command = ["estimate", "runs", "--scale", "fine", "-m", "CG@9", *QUICK]
    assert note in cli.out(*command)
    assert note in cli(*command, "-o", "page.html").err
    assert note in Path("page.html").read_text()
    assert cli.json(*command)["notes"] == [note]


def test_a_scale_taken_from_the_judgments_is_said(cli: Terminal) -> None:
    few_judgments()
    out = cli.out("estimate", "runs", "--judgments", "few.csv", "-m", "CG@5", *QUICK)
    assert "Scale taken from the judgments" in out


def test_judgments_outside_the_runs_are_said_once(cli: Terminal) -> None:
    few_judgments()
    with Path("few.csv").open("a") as file:
        file.write("elsewhere,x,5,A1\nelsewhere,y,5,A1\n")
    captured = cli("estimate", "runs", "--judgments", "few.csv", *FINE, *QUICK)
    assert captured.code == 0
    assert (captured.out + captured.err).count("2 judgments are left out: no system answered the query.") == 1


@pytest.mark.parametrize("judged", [True, False])
def test_converted_grades_are_estimated_on_their_new_scale(cli: Terminal, judged: bool) -> None:
    known = ["--judgments", "fine.csv", "--combine", "max"] if judged else []
    values = cli.json("estimate", "runs", *known, *typed("--scale fine --rescale binary40 -m P@5"), *QUICK)
    best = values["ranking"][0]["score"]
    assert best > 0.5 if judged else best == pytest.approx(0.5)


def test_several_opinions_about_a_pair_count_as_their_mean(cli: Terminal) -> None:
    """In any order of lines; only a model that looks at opinions can tell."""
    pairs = dict.fromkeys(tuple(line.split(",")[:2]) for line in Path("fine.csv").read_text().splitlines()[1:200])
    lines = [f"{','.join(pair)},{(i + ord(who)) % 7},{who}\n" for who in "ab" for i, pair in enumerate(pairs)]
    for folder, order in (("one", lines), ("two", lines[::-1])):
        Path(folder).mkdir()
        Path(folder, "llm.csv").write_text("query,document,grade,assessor\n" + "".join(order))
    few_judgments(30)
    command = ["estimate", "runs", "--judgments", "few.csv", *FINE, "--csv"]
    one, two = (cli.out(*command, "--opinions", f"{folder}/llm.csv") for folder in ("one", "two"))
    assert one == two != cli.out(*command)


def test_opinions_that_an_estimator_does_not_hear_are_said_to_be_unheard(cli: Terminal) -> None:
    command = ["estimate", "runs", *FINE, "--opinions", "fine.csv"]
    assert cli.json(*command)["notes"] == []
    (note,) = cli.json(*command, *QUICK)["notes"]
    assert note == "Opinions mean nothing to uniform: only hierarchical and known_item learn what they are worth."


def test_similarity_of_files_is_taken_and_said(cli: Terminal) -> None:
    """Texts and embeddings, averaged; both are inputs, with the identifiers beside an array."""
    documents = sorted({line.split(",")[1] for line in Path("fine.csv").read_text().splitlines()[1:]})
    np.save("v.npy", np.random.default_rng(1).standard_normal((len(documents), 3)))
    Path("v.txt").write_text("\n".join(documents))
    Path("t.csv").write_text("document,text\n" + "".join(f"{name},{name.replace('-', ' ')}\n" for name in documents))
    few_judgments(30)
    command = ["estimate", "runs", "--judgments", "few.csv", *FINE]
    values = cli.json(*command, "--similarity", "v.npy", "--similarity", "t.csv")
    assert values["notes"][-1] == "Similarity of documents by v.npy and t.csv is taken by hierarchical."
    assert {"v.npy", "v.txt", "t.csv"} <= {Path(given["file"]).name for given in values["provenance"]["inputs"]}
    known_item = ["--estimator", "known_item", "--similarity", "v.npy"]
    note = cli.json("estimate", "runs", "--scale", "binary", "-m", "RR@5", *known_item)["notes"][-1]
    assert note == "Similarity of documents by v.npy is taken by no estimator that is used."
    means = [[row["score"] for row in cli.json(*command, *more)["ranking"]] for more in ([], ["--similarity", "v.npy"])]
    assert means[0] != means[1]


@pytest.mark.parametrize("measure", ["CG@5", "nDCG@5"])
def test_history_ends_where_the_estimate_stands(cli: Terminal, measure: str) -> None:
    few_judgments(47)
    command = ["estimate", "runs", "--scale", "fine", "-m", measure]
    values = cli.json(*command, "--judgments", "few.csv", "--history")
    first, last = values["history"][0], values["history"][-1]
    status = {name: values["status"][name] for name in ("n_judged", "mean_confidence")}
    assert last == status
    before = cli.json(*command)["status"]
    assert first["n_judged"] == 0
    assert first["mean_confidence"] == before["mean_confidence"]


def test_options_for_judgments_wait_for_judgments(cli: Terminal) -> None:
    plain = cli.out("estimate", "runs", *FINE, *QUICK, "--csv")
    assert cli.out("estimate", "runs", *FINE, *QUICK, "--csv", "--combine", "max") == plain


# next


def test_next_names_documents_until_the_goal_is_reached(cli: Terminal) -> None:
    """As an organiser does: ask, judge, add to the file, ask again."""
    rows = csv.DictReader(Path("fine.csv").read_text().splitlines())
    truth = {(row["query"], row["document"]): row["grade"] for row in rows}
    command = ["next", "runs", *FINE, *QUICK, "-n", "40", "--level", "0.8"]
    seen: list[tuple[str, str]] = []
    for _ in range(20):
        known = ["--judgments", "mine.csv"] if seen else []
        named = cli.rows(*command, *known)
        if not named:
            break
        assert set(named[0]) == {"query", "document", "grade"}
        pairs = [(row["query"], row["document"]) for row in named]
        assert not set(pairs) & set(seen)
        seen += pairs
        body = "".join(f"{q},{d},{truth[q, d]}\n" for q, d in seen)
        Path("mine.csv").write_text("query,document,grade\n" + body)
    assert named == []
    assert cli.json("estimate", "runs", "--judgments", "mine.csv", *FINE, *QUICK, "--level", "0.8")["status"]["done"]
    captured = cli(*command, "--judgments", "mine.csv")
    assert (captured.code, captured.out) == (0, "")
    assert "the goal is reached" in captured.err
    assert "--always goes on" in captured.err
    assert len(cli.rows(*command, "--judgments", "mine.csv", "--always")) == 40


def test_next_says_the_same_in_every_form(cli: Terminal) -> None:
    command = ["next", "runs", *FINE, *QUICK, "-n", "3"]
    values = cli.json(*command)
    assert set(values) == {"next", "status", "notes", "provenance"}
    pairs = [(row["query"], row["document"]) for row in values["next"]]
    assert len(pairs) == 3
    for form in ([], ["--markdown"], ["--csv"]):
        text = cli.out(*command, *form)
        assert [line for line in text.splitlines() if any(q in line and d in line for q, d in pairs)] != []
    assert cli.out(*command, "--csv", "-o", "ask.csv") == ""
    assert Path("ask.csv").read_text().splitlines() == ["query,document,grade", *(f"{q},{d}," for q, d in pairs)]
    assert "ask.csv:2: expected a finite number as grade, got nothing" in cli.refused(
        "estimate", "runs", "--judgments", "ask.csv", *FINE, *QUICK
    )


def test_next_asks_for_second_opinions_and_estimate_says_what_assessors_are_worth(cli: Terminal) -> None:
    command = ["next", "runs", *FINE, "--per-pair", "2"]
    rows: list[str] = []
    for n in (9, 1):
        Path("mine.csv").write_text("query,document,grade,assessor\n" + "".join(rows))
        known = ["--judgments", "mine.csv"] if rows else []
        asked = cli.rows(*command, *known, "-n", str(n))
        assert set(asked[0]) == {"query", "document", "grade", "assessor"}
        rows += [f"{row['query']},{row['document']},{10 * i},{'ab'[n == 1]}\n" for i, row in enumerate(asked)]
    assert rows[-1].split(",")[:2] in [row.split(",")[:2] for row in rows[:-1]]
    Path("mine.csv").write_text("query,document,grade,assessor\n" + "".join(rows))
    assert all(row["judged_by"] in ([], ["a"]) for row in cli.json(*command, "--judgments", "mine.csv")["next"])
    found = cli.json("estimate", "runs", "--judgments", "mine.csv", *FINE)
    assert [(row["assessor"], row["n_judged"]) for row in found["assessors"]] == [("a", 9), ("b", 1)]
    assert found["status"]["n_judged"] == 9
    assert "Assessors as instruments" in cli.out("estimate", "runs", "--judgments", "mine.csv", *FINE)


# simulate and calibrate


def test_checkpoints_come_by_effort_whether_shares_or_numbers(cli: Terminal) -> None:
    command = ["simulate", "fine.csv", "runs", *FINE, *QUICK, "--seeds", "1", "--workers", "1"]
    rows = cli.json(*command, "--at", "0.5", "--at", "3", "--at", "0.1")["runs"]
    judged = [row["n_judged"] for row in rows if row["checkpoint"] == "at"]
    assert judged == sorted(judged)
    assert judged[0] == 3


def test_simulate_compares_methods(cli: Terminal) -> None:
    command = ["simulate", "fine.csv", "runs", *FINE, *QUICK, "--rule", "pairs", "--rule", "random", "--seeds", "2"]
    text = cli.out(*command, "--workers", "1", "--at", "0.2", "--at", "0.1")
    assert "Where judging stopped." in text
    rows = cli.rows(*command, "--workers", "2", "--at", "0.2", "--at", "0.1")
    assert [(row["rule"], row["seed"], row["checkpoint"]) for row in rows] == [
        (rule, seed, kind) for rule in ("pairs", "random") for seed in "01" for kind in ("at", "at", "stop")
    ]
    assert [float(row["n_judged"]) for row in rows[:2]] == sorted(float(row["n_judged"]) for row in rows[:2])
    values = json.loads(cli.out(*command, "--workers", "1", "-o", "s.json") or Path("s.json").read_text())
    assert {(row["rule"], row["seed"]) for row in values["runs"]} == {
        (r, s) for r in ("pairs", "random") for s in (0, 1)
    }
    cli.out(*command, "--workers", "1", "-o", "s.html", "--figures", "figures")
    assert "What judging would have cost" in Path("s.html").read_text()
    assert Path("figures/accuracy-history.svg").exists()


def test_calibrate_compares_claims_with_the_truth(cli: Terminal) -> None:
    command = ["calibrate", "fine.csv", "runs", *FINE, *QUICK, "--samples", "2", "--systems", "4", "--workers", "1"]
    assert "Claims compared with the truth, means of 2 parts" in cli.out(*command)
    rows = cli.rows(*command, "--at", "0.3", "--at", "0")
    assert [row["share"] for row in rows] == ["0.0", "0.3"]
    assert cli.json(*command)["methods"][0]["samples"] == 2
    cli.out(*command, "-o", "c.html", "--figures", "figures")
    assert "Can confidence be trusted" in Path("c.html").read_text()
    assert Path("figures/claims.pdf").exists()


@pytest.mark.parametrize("command", ["simulate", "calibrate"])
def test_what_an_estimator_warns_of_is_said_once(cli: Terminal, command: str) -> None:
    few = ["--seeds", "2"] if command == "simulate" else ["--samples", "2"]
    said = cli(command, "fine.csv", "runs", *FINE, "--estimator", "output", *few, "--workers", "1")
    assert said.err.count("No document has the metadata that the model needs") == 1


# Help and refusals


@pytest.mark.parametrize("command", ["estimate", "next", "simulate", "calibrate"])
def test_help_names_every_choice(command: str, cli: Terminal) -> None:
    text = " ".join(cli.out(command, "--help").split())
    for name in (*ESTIMATORS, *RULES, *GOALS):
        assert name in text


JUDGED = ["simulate", "fine.csv", "runs", *FINE, *QUICK]
CASES: list[tuple[list[str], str]] = [
    (["estimate", "runs", *QUICK], "Expected a scale, as nothing is judged yet"),
    (["estimate", "runs", "--scale", "fine", "-m", "Bpref"], "Bpref: effectiveness can be estimated for CG, DCG"),
    (["estimate", "runs", "--scale", "fine", "-m", "nDCG"], "nDCG: expected a cutoff, such as nDCG@5"),
    (["estimate", "runs", "--scale", "fine", "-m", "AP@5", *QUICK], "AP@5: only hierarchical and known_item"),
    (["estimate", "runs", "--scale", "fine", "-m", "P@5", *QUICK], "P@5: only hierarchical and known_item"),
    (["estimate", "runs", *FINE, "--rule", "best"], "No selection rule is called 'best'"),
    (["estimate", "runs", *FINE, *QUICK, "--confidence", "2"], "'confidence' must be in (0, 1), got 2"),
    (["estimate", "runs", *FINE, *QUICK, "--seed", "x"], "'seed' must be a whole number of at least 0, got 'x'"),
    (["estimate", "nowhere", *FINE, *QUICK], "nowhere: cannot be read"),
    (["estimate", "empty.txt", *FINE, *QUICK], "empty.txt: expected data, got an empty file"),
    (["estimate", "runs", "--judgments", "empty.txt", *FINE, *QUICK], "empty.txt: expected data, got an empty file"),
    (["estimate", "runs", "--judgments", "header.csv", *FINE, *QUICK], "header.csv: expected at least one row of data"),
    (["estimate", "runs", "--judgments", "comma.txt", *FINE, *QUICK], "comma.txt:1: expected a finite number as grade"),
    (["estimate", "comma_run.txt", *FINE, *QUICK], "comma_run.txt:1: expected a finite number as score, got '2,5'"),
    (["estimate", "runs", "--judgments", "other.txt", *FINE, *QUICK], "No query of the runs is judged"),
    (["estimate", "runs", "--opinions", "other.txt", *FINE, *QUICK], "Opinions 'other': expected some about"),
    (["estimate", "runs", *FINE, *QUICK, "--similarity", "nowhere.npy"], "nowhere.npy: cannot be read"),
    (["estimate", "runs", "--judgments", "high.txt", *FINE, *QUICK], "expected grades on the scale fine"),
    (["estimate", "runs", *FINE, *QUICK, "--opinions", "other.txt", "-o", "other.txt"], "is an input, and would be"),
    (["estimate", "runs", *FINE, *QUICK, "-o", "no/where.html"], "expected a file in an existing directory"),
    (["estimate", "runs", *FINE, "--scale", "binary", "--estimator", "output"], "Table A.1 has models for the scales"),
    (["next", "runs", *FINE, *QUICK, "-n", "0"], "'n' must be a whole number of at least 1, got 0"),
    (["next", "runs", *FINE, *QUICK, "-o", "x.html"], "this is written as text, json, csv, markdown, not as html"),
    ([*JUDGED, "--seeds", "0"], "'seeds' must be a whole number of at least 1, got 0"),
    ([*JUDGED, "--at", "nan", "--workers", "1"], "A checkpoint must be a whole number"),
    (["simulate", "header.csv", "runs", *FINE, *QUICK], "header.csv: expected at least one row of data"),
    (["calibrate", *JUDGED[1:], "--systems", "99"], "'systems' must be a whole number from 2 to 12, got 99"),
    (["calibrate", *JUDGED[1:], "--seed", "-1"], "'seed' must be a whole number of at least 0, got -1"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "message"), CASES, ids=[" ".join(arguments) for arguments, _ in CASES])
def test_bad_input_gets_one_clear_line(demo: Path, cli: Terminal, arguments: list[str], message: str) -> None:
    query, document = Path("fine.csv").read_text().splitlines()[1].split(",")[:2]
    Path("empty.txt").write_text("")
    Path("header.csv").write_text("query,document,grade\n")
    Path("comma.txt").write_text(f"{query} 0 {document} 9,5\n")
    Path("comma_run.txt").write_text("q1 Q0 a 1 2,5 mine\n")
    Path("other.txt").write_text("elsewhere 0 x 1\n")
    Path("high.txt").write_text(f"{query} 0 {document} 500\n")
    before = {path.name: path.read_bytes() for path in demo.iterdir() if path.is_file()}
    assert message in cli.refused(*arguments)
    assert {path.name: path.read_bytes() for path in demo.iterdir() if path.is_file()} == before
