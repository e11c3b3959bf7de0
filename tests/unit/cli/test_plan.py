"""adjudge plan: its answer in every form, and one clear line for whatever cannot be planned."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.unit.cli.conftest import Terminal, typed

import adjudge as aj

N_QUERIES, N_SYSTEMS = 12, 5
DOCUMENTS = [f"d{i}" for i in range(9)]
GRADES = np.random.default_rng(7).integers(0, 4, size=(N_QUERIES, len(DOCUMENTS))).tolist()


def _judgments(name: str, who: Callable[[int], list[str]]) -> None:
    """Grades from 0 to 3 of every document, by the assessors that a query has: now and then one is more generous."""
    rng = np.random.default_rng(8)
    lines = ["query,document,assessor,grade"]
    for q, grades in enumerate(GRADES):
        for document, grade in zip(DOCUMENTS, grades, strict=True):
            lines += [f"q{q},{document},{one},{min(3, grade + int(rng.random() < 0.3))}" for one in who(q)]
    Path(name).write_text("\n".join(lines) + "\n")


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One assessor (one.csv), three who judged all (all.csv), two for each query (own.csv), one or two (some.csv).

    Five runs, six documents deep, each noisier than the one before; and a table of effectiveness (wide.csv).
    """
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    lines = []
    for s in range(N_SYSTEMS):
        for q in range(N_QUERIES):
            order = np.argsort(-np.array(GRADES[q]) - (0.5 + s) * rng.normal(size=len(DOCUMENTS)))[:6]
            lines += [f"sys{s},q{q},{DOCUMENTS[d]},{10 - r}" for r, d in enumerate(order)]
    Path("runs.txt").write_text("\n".join(["system,query,document,score", *lines]) + "\n")
    _judgments("one.csv", lambda q: ["ann"])
    _judgments("all.csv", lambda q: ["ann", "bob", "cleo"])
    _judgments("own.csv", lambda q: [f"a{q}", f"b{q}"])
    _judgments("some.csv", lambda q: [f"a{q}", f"b{q}"] if q % 2 else [f"a{q}"])
    wide = 0.5 + 0.1 * np.arange(4) + 0.1 * np.random.default_rng(5).normal(size=(10, 4))
    header = "query,w,x,y,z\n"
    Path("wide.csv").write_text(header + "".join(f"{i},{','.join(map(str, row))}\n" for i, row in enumerate(wide)))
    return tmp_path


ONE, ALL = ["one.csv", "runs.txt", "-m", "P@3"], ["all.csv", "runs.txt", "-m", "P@3", "--resamples", "100"]
PLAIN = [*ONE, "--interval", "none"]
TABLE = ["--effectiveness", "wide.csv"]


def _collection(judgments: str = "one.csv") -> aj.Collection:
    return aj.read(["runs.txt"], judgments)


def test_json_has_the_numbers_of_the_library(cli: Terminal) -> None:
    content = cli.json("plan", *ONE, "-m", "AP", "--target", "0.8", "--target", "0.9", "--queries", "40")
    assert content["targets"] == [0.8, 0.9]
    for measure in ("P@3", "AP"):
        study = aj.gstudy(aj.evaluate(_collection(), [measure]))
        decided = study.dstudy([12, 40], target=[0.8, 0.9])
        found = content["measures"][measure]
        assert [effect["variance"] for effect in found["components"]] == study.variances.tolist()
        assert [row["phi"] for row in found["reliability"]] == [row.phi for row in decided.rows]
        assert [plan["n_queries"] for plan in found["needed"]] == [plan.n_queries for plan in decided.needed]
    assert content["provenance"]["inputs"][0]["file"]
    assert content["provenance"]["settings"]["command"].startswith("adjudge")


def test_csv_has_one_row_per_measure_assessors_and_target(cli: Terminal) -> None:
    rows = cli.rows("plan", *ALL, "-m", "AP", "--target", "0.8", "--target", "0.9")
    expected = [(m, n, t) for m in ("P@3", "AP") for n in ("1", "2", "3") for t in ("0.8", "0.9")]
    assert [(row["measure"], row["n_assessors"], row["target"]) for row in rows] == expected
    shares = [float(value) for name, value in rows[0].items() if name.startswith("share_")]
    assert len(shares) == 7
    assert sum(shares) == pytest.approx(1)
    assert {row["n_queries"] for row in rows} == {"12"}


def test_the_answer_comes_first_and_tables_follow(cli: Terminal) -> None:
    captured = cli("plan", *TABLE)
    assert captured.code == 0
    found = aj.gstudy(aj.formats.read_effectiveness("wide.csv")).dstudy()
    ranking, right = found.need("e_rho2").n_queries, found.need("phi").n_queries
    assert captured.out.splitlines()[0] == (
        f"{ranking} queries are enough for a stable ranking (Eρ² ≥ 0.95), {right} for stable scores (Φ ≥ 0.95); "
        "there are 10 now."
    )
    assert "Where effectiveness varies (4 systems x 10 queries, ANOVA)" in captured.out
    assert "\x1b" not in captured.out
    assert captured.err == ""


def test_the_suffix_of_the_output_chooses_its_form(cli: Terminal) -> None:
    forms = {"p.json": "{", "p.csv": "measure,", "p.md": "# A plan by P@3", "p.html": "<!doctype html>", "p.tex": "% "}
    for name, beginning in forms.items():
        assert cli.out("plan", *PLAIN, "-o", name) == ""
        assert Path(name).read_text().startswith(beginning)
    assert "## How large the collection should be" in Path("p.md").read_text()
    assert cli.out("plan", *PLAIN, "--markdown").startswith("# A plan by P@3")
    cli.out("plan", *PLAIN, "-o", "p.txt")
    assert " for stable scores (Φ ≥ 0.95); there are 12 now." in Path("p.txt").read_text().splitlines()[0]


def test_figures_are_written_as_svg_and_pdf(cli: Terminal) -> None:
    assert "6 figures" in cli("plan", *ONE, "--figures", "figures", "-o", "p.json").err
    names = {path.name for path in Path("figures").iterdir()}
    stems = ("reliability-curves", "growth-curves", "cost-curves")
    assert names == {f"{stem}.{suffix}" for stem in stems for suffix in ("svg", "pdf")}


def test_assessors_are_taken_as_the_judgments_have_them(cli: Terminal) -> None:
    designs = {
        "one.csv": "systems x queries",
        "all.csv": "systems x queries x assessors",
        "own.csv": "systems x (assessors in queries)",
        "some.csv": "systems x (assessors in queries)",
    }
    for name, design in designs.items():
        content = cli.json("plan", name, *PLAIN[1:])
        assert content["measures"]["P@3"]["design"] == design
        assert len(content["verdict"]) >= 1
    content = cli.json("plan", "all.csv", *PLAIN[1:], "--assessors", "nested")
    assert content["measures"]["P@3"]["design"] == "systems x (assessors in queries)"
    content = cli.json("plan", "all.csv", *PLAIN[1:], "--assessors", "combined")
    assert content["measures"]["P@3"]["design"] == "systems x queries"
    with pytest.warns(aj.AdjudgeWarning, match="Queries have 1 to 2 assessors"):
        some = aj.gstudy(aj.measures.evaluate_assessors(_collection("some.csv"), "P@3"))
    content = cli.json("plan", "some.csv", "runs.txt", "-m", "P@3", "--interval", "none")
    assert [e["variance"] for e in content["measures"]["P@3"]["components"]] == pytest.approx(some.variances.tolist())


def test_notes_go_to_stderr_where_the_output_has_no_place_for_them(cli: Terminal) -> None:
    note = "P@3: Queries have 1 to 2 assessors: variances by restricted maximum likelihood, not by ANOVA."
    as_csv, as_text = (cli("plan", "some.csv", *PLAIN[1:], *form) for form in (["--csv"], []))
    assert (as_csv.code, as_text.code, as_text.err) == (0, 0, "")
    assert f"adjudge: note: {note}\n" in as_csv.err
    assert note not in as_csv.out
    assert note in as_text.out


def test_any_number_of_assessors_per_query_can_be_considered(cli: Terminal) -> None:
    people = typed("--assessors-per-query 2 --assessors-per-query 5 --assessors-per-query 2 --design nested")
    content = cli.json("plan", *ALL, *people)
    found = content["measures"]["P@3"]
    assert found["design"] == "systems x (assessors in queries)"
    assert {row["n_assessors"] for row in found["reliability"]} == {2, 5}
    assert " with 2 assessors each; there are 12 now." in content["verdict"][0]


def test_cutoffs_are_compared_at_the_price_of_their_pools(cli: Terminal) -> None:
    prices = ["--cutoff", "1", "--cutoff", "5", "--cost-judgment", "0.5", "--cost-query", "2", "--budget", "200"]
    content = cli.json("plan", *ONE, *prices)
    assert set(content["measures"]) == {"P@3", "P@1", "P@5"}
    ranked: dict[str, dict[str, list[str]]] = {}
    for line in Path("runs.txt").read_text().splitlines()[1:]:
        system, query, document, _ = line.split(",")
        ranked.setdefault(query, {}).setdefault(system, []).append(document)
    best = content["designs"]["best"]["e_rho2"]
    assert {one["measure"] for one in best} == {"P@3", "P@1", "P@5"}
    for one in best:
        k = one["cutoff"]
        sizes = [len({d for run in runs.values() for d in run[:k]}) for runs in ranked.values()]
        cost_of_one = 2 + 0.5 * float(np.mean(sizes))
        assert one["measure"] == f"P@{k}"
        assert one["n_queries"] == int(200 / cost_of_one + 1e-9)
        assert one["cost"] <= 200


def test_more_systems_need_larger_pools(cli: Terminal) -> None:
    plans = [cli.json("plan", *ONE, *more) for more in (["--systems", "2"], [], ["--systems", "40"])]
    cheapest = [plan["designs"]["cheapest"]["e_rho2"][0] for plan in plans]
    per_query = [design["n_judgments"] / design["n_queries"] for design in cheapest]
    assert per_query[0] < per_query[1] < per_query[2]
    assert len({design["n_queries"] for design in cheapest}) == 1


def test_a_measure_deeper_than_the_runs_is_planned_with_all_there_is(cli: Terminal) -> None:
    deep, whole = (cli.json("plan", "one.csv", "runs.txt", "-m", m, "--budget", "99") for m in ("nDCG@10", "nDCG@6"))
    counted = [content["designs"]["best"]["phi"][0]["n_judgments"] for content in (deep, whole)]
    assert counted[0] == counted[1]


def test_columns_of_a_table_of_effectiveness_can_be_named(cli: Terminal) -> None:
    rows = [f"{system};{query};0,{query}{place}" for place, system in enumerate("AB") for query in range(1, 6)]
    Path("long.csv").write_text("\n".join(["engine;topic;result", *rows]))
    assert "--columns system=NAME,query=NAME,value=NAME" in cli.refused("plan", "--effectiveness", "long.csv")
    named = ("--columns", "system=engine,value=result")
    assert "2 systems x 5 queries" in cli.out("plan", "--effectiveness", "long.csv", *named)


def test_tables_of_effectiveness_stand_for_judgments_and_runs(cli: Terminal) -> None:
    content = cli.json("plan", *TABLE, "--pool", "20", "--budget", "500", "--cost-query", "5")
    best = content["designs"]["best"]["phi"][0]
    assert (best["n_queries"], best["n_judgments"], best["cost"]) == (20, 400, 500)
    assert cli.json("plan", *TABLE)["designs"] is None
    cli.out("score", *ONE, "-m", "AP", "--per-query", "--csv", "-o", "scores.csv")
    again, direct = (cli.json("plan", *given, "-m", "AP") for given in (["--effectiveness", "scores.csv"], ONE[:2]))
    for name in ("components", "reliability", "needed"):
        assert again["measures"]["AP"][name] == direct["measures"]["AP"][name]


def test_the_same_command_gives_the_same_answer(cli: Terminal) -> None:
    first, again, other = (cli.json("plan", *ALL, "--seed", seed)["measures"] for seed in ("1", "1", "2"))
    assert first == again
    assert first != other


def test_while_queries_are_judged_the_answer_moves(cli: Terminal) -> None:
    content = cli.json("plan", *TABLE, "--batch", "3")
    assert [step["n_queries"] for step in content["growth"]] == [6, 9, 10]
    assert content["growth"][-1]["phi_queries"] == content["measures"]["effectiveness"]["needed"][1]["n_queries"]


def test_power_is_planned_beside_it(cli: Terminal) -> None:
    from adjudge.stats.power import queries_needed

    plan = cli.json("plan", *TABLE, "--difference", "0.05", "--power", "0.9", "--alpha", "0.01")["power"]
    values = aj.formats.read_effectiveness("wide.csv").values[:, :, 0]
    typical = np.median([np.std(values[:, a] - values[:, b], ddof=1) for a in range(4) for b in range(a)])
    assert plan["rows"][0][:2] == [0.05, int(queries_needed(0.05, typical, alpha=0.01, power=0.9))]
    shared = cli.json("plan", *TABLE, "--difference", "0.05", "--comparisons", "6")["power"]
    assert shared["comparisons"] == 6
    assert shared["rows"][0][1] == int(queries_needed(0.05, typical, alpha=0.05 / 6))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*ONE, "--target", "1"], "'target' must be in (0, 1), got 1"),
        ([*TABLE, "--budget", "100"], "Prices and a budget need --pool"),
        ([*ONE, *TABLE], "expected judgments and runs, or --effectiveness"),
        ([], "expected judgments and runs, or --effectiveness"),
        (["one.csv"], "expected runs after the judgments"),
        ([*ONE, "--cutoff", "7"], "Cutoffs must be at most 6, the depth of the runs, got 7"),
        ([*ONE, "--cutoff", "0"], "'cutoff' must be a whole number of at least 1, got 0"),
        (["one.csv", "runs.txt", "-m", "AP", "--cutoff", "3"], "AP: other cutoffs are for a measure that has one"),
        ([*ONE, "--assessors-per-query", "2"], "Expected a G-study with assessors to plan for 2 of them"),
        ([*ONE, "-o", "one.csv"], "one.csv: is an input, and would be overwritten"),
        ([*ONE, "-o", "no/such/dir.md"], "no/such/dir.md: expected a file in an existing directory"),
        ([*ONE, "--figures", "one.csv"], "one.csv: expected a directory for figures"),
        (["--effectiveness", "runs.txt"], "runs.txt:1: expected effectiveness, but this looks like a run"),
        (["--effectiveness", "one.csv"], "one.csv:1: expected effectiveness, but this looks like judgments"),
        (["--effectiveness", "nowhere.csv"], "nowhere.csv: cannot be read: no such file or directory"),
        ([*TABLE, "-m", "AP RR"], "No measure is called 'AP'. Known: effectiveness."),
        ([*TABLE, "-m", ""], "expected a measure, got an empty"),
        ([*TABLE, "--cutoff", "3"], "--cutoff and --systems need runs, not a table of effectiveness"),
        ([*TABLE, "--systems", "9"], "--cutoff and --systems need runs, not a table of effectiveness"),
        ([*TABLE, "--scale", "fine"], "--scale is for judgments and runs, not for tables of effectiveness"),
        ([*TABLE, "--missing", "drop"], "--missing is for judgments and runs, not for tables of effectiveness"),
        ([*TABLE, "--no-artist-filter"], "--artist-filter is for judgments and runs, not for tables of effectiveness"),
        ([*TABLE, "--partial", "keep"], "--partial is for judgments and runs, not for tables of effectiveness"),
        ([*TABLE, "--assessors", "combined"], "--assessors combined needs judgments"),
        ([*ONE, "--pool", "5", "--cutoff", "2"], "--pool is for one cutoff; several are measured from the runs."),
        ([*ONE, "--pool", "5", "--systems", "9"], "--pool says how many documents to judge, whatever the --systems"),
        ([*ONE, "--systems", "0"], "'systems' must be a whole number of at least 1, got 0"),
        (
            ["own.csv", *ONE[1:], "--assessors", "crossed"],
            "Expected assessors crossed with queries, but assessors 'a0'",
        ),
        *(([*ONE, option, "nonsense"], option) for option in ("--assessors", "--design", "--interval", "--resample")),
        *(
            ([*TABLE, f"--leave-out-worst={share}"], f"or a number of systems, got '{share}'")
            for share in ("100%", "some")
        ),
        ([*ONE, "--unjudged", "bounds"], "'unjudged' must be one of zero, condensed, got 'bounds'"),
    ],
)
def test_what_cannot_be_planned_is_refused_in_one_line(
    files: Path, cli: Terminal, arguments: list[str], message: str
) -> None:
    before = {path: path.read_bytes() for path in files.iterdir()}
    assert message in cli.refused("plan", *arguments)
    assert {path: path.read_bytes() for path in files.iterdir()} == before


def _table(values: list[list[float | str]]) -> None:
    lines = [",".join(["query", *(f"s{i}" for i in range(len(values[0])))])]
    lines += [",".join(map(str, [f"q{q}", *row])) for q, row in enumerate(values)]
    Path("bad.csv").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[0.1], [0.2], [0.4]], "A G-study needs at least 2 systems, got 1 ('s0')"),
        ([[0.1, 0.2, 0.4]], "A G-study needs at least 2 queries, got 1"),
        ([[0.5, 0.5], [0.5, 0.5]], "Every system has the same effectiveness, 0.5, on every query"),
        ([[0.5, ""], ["", 0.25], [0.1, ""]], "expected queries that every system has, got none"),
        ([[0.5, "inf"], [0.3, 0.2]], "bad.csv:2: expected a finite number for the system 's1', got 'inf'"),
    ],
)
def test_effectiveness_that_says_nothing_of_reliability_is_refused_in_one_line(
    files: Path, cli: Terminal, values: list[list[float | str]], message: str
) -> None:
    _table(values)
    assert message in cli.refused("plan", "--effectiveness", "bad.csv")


@pytest.mark.parametrize("form", ["--json", "--csv", "--markdown", None])
@pytest.mark.parametrize(
    "values",
    [
        [[0.1, 0.9], [0.9, 0.1]],  # systems and queries below 0
        [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]],  # no residual
        [[0.1, 0.1], [0.3, 0.3], [0.5, 0.5]],  # systems are equal
        [[0.1, 0.4], [0.1, 0.4], [0.1, 0.4]],  # nothing but systems
        [[0.1, 0.4, 0.2], [0.3, "", 0.5], [0.2, 0.1, 0.1], [0.7, 0.9, ""]],  # empty cells
        [[-3.0, 250.0], [7.0, 91.0], [1e6, 1e6]],  # far outside [0, 1]
        [[-3e9, 2e9], [7e9, 9e9], [1e9, 3e9]],  # where no collection detects a difference of 5
    ],
)
def test_awkward_effectiveness_is_planned_all_the_same(
    files: Path, cli: Terminal, values: list[list[float | str]], form: str | None
) -> None:
    _table(values)
    arguments = ["plan", "--effectiveness", "bad.csv", "--pool", "4", "--budget", "900", "--difference", "5"]
    assert not re.search(r"(?<!\()\bnan\b", cli.out(*arguments, *([] if form is None else [form])), re.IGNORECASE)


@pytest.mark.parametrize("share", ["25%", "0.25", "2"])
def test_the_worst_systems_are_left_out_by_share_or_number(cli: Terminal, share: str) -> None:
    values = np.random.default_rng(4).random((6, 8)) + np.arange(8)
    _table(values.tolist())
    assert "2 of 8 systems (s0, s1)" in cli.out("plan", "--effectiveness", "bad.csv", "--leave-out-worst", share)
