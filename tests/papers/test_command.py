"""adjudge reproduce: every form, what is refused, and the exit code that says whether all is explained."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from papers.claims import Claim, Panel, Plot, Reason, Series, between, independent
from papers.studies import Found, Study

from adjudge.cli import main
from papers import STUDIES

Capture = pytest.CaptureFixture[str]
EXACT = Claim.printed("T Table 9.1", "a number | with a bar", ".50", 0.5)
NEAR = Claim.around(
    "T Table 9.1", "another", "7.0 %", 0.071, 0.002, basis="chance", why=Reason("draws", "drawn at random")
)
OTHER = Claim("T 9.2", "one more", "1,316", 1320, independent("1,320"), Reason("data", "other data"))
OUTSIDE = Claim("T 9.3", "the last", "3", 4, between(2, 3.5, "as others have it"), Reason("data", "other data"))
PLOT = Plot("nine", "T Figure 9.1", "A line.", "It rises.", "x", "y", (Panel("", (Series("a", (1, 2), (3, 4)),)),))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with an empty folder of data; one study that needs none of it, one that needs some."""
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    put(monkeypatch, EXACT, NEAR, OTHER)
    return tmp_path


def put(monkeypatch: pytest.MonkeyPatch, *claims: Claim) -> None:
    one = Study(
        "nine", "Chapter nine", ("T Table 9.1",), (), lambda data, effort: Found(claims, (PLOT,), ("Mind the gap.",))
    )
    two = Study("trec", "Runs of TREC", (), ("trec",), lambda data, effort: Found(()))
    assert STUDIES  # all of them are there
    monkeypatch.setattr(STUDIES, "_members", {"nine": one, "trec": two})


@pytest.fixture
def run(folder: Path, capsys: Capture) -> Callable[..., tuple[int, str, str]]:
    """Runs it on the one study that there are data for."""

    def call(*arguments: str) -> tuple[int, str, str]:
        try:
            code = main(["reproduce", *arguments])
        except SystemExit as end:
            code = int(str(end.code))
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


Run = Callable[..., tuple[int, str, str]]
NINE = ("data", "--only", "nine")


def test_the_terminal_says_first_what_agreed_and_lists_only_what_is_not_exact(run: Run) -> None:
    code, out, _ = run(*NINE)
    assert code == 0
    assert out.startswith(
        "3 published numbers: 1 exact, 1 within tolerance, 1 differs (1 for data that are not public)."
    )
    assert "T Table 9.1: another" in out
    assert "within tolerance [1]" in out
    assert "[2] (data) other data." in out
    assert "with a bar" not in out


def test_a_text_file_has_all_numbers(run: Run) -> None:
    assert run(*NINE, "-o", "all.txt")[0] == 0
    assert "a number | with a bar" in Path("all.txt").read_text()


def test_json_has_numbers_figures_and_provenance(run: Run) -> None:
    code, out, _ = run(*NINE, "--json", "--seed", "4")
    content = json.loads(out)
    assert code == 0
    assert content["counts"] == {"exact": 1, "found by search": 0, "within tolerance": 1, "differs": 1, "fails": 0}
    assert content["bounds"] == {"print": 1, "independent": 1, "chance": 1}
    assert content["causes"]["data"] == {"within tolerance": 0, "differs": 1}
    assert content["numbers"][1] == {
        "study": "nine",
        "source": "T Table 9.1",
        "what": "another",
        "published": "7.0 %",
        "ours": 0.071,
        "low": pytest.approx(0.068),
        "high": pytest.approx(0.072),
        "basis": "chance",
        "because": "drawn at random",
        "verdict": "within tolerance",
        "searched": None,
        "tolerance": 0.002,
        "cause": "draws",
        "why": "drawn at random",
    }
    assert content["figures"][0]["panels"][0]["series"][0]["y"] == [3, 4]
    assert content["settings"]["seed"] == 4
    assert content["inputs"] == []


def test_csv_has_a_row_a_number(run: Run) -> None:
    rows = list(csv.DictReader(io.StringIO(run(*NINE, "--csv")[1])))
    assert [row["verdict"] for row in rows] == ["exact", "within tolerance", "differs"]
    assert rows[2]["published"] == "1,316"
    assert [row["cause"] for row in rows] == ["", "draws", "data"]


def test_markdown_has_the_summary_then_the_numbers(run: Run) -> None:
    out = run(*NINE, "--markdown")[1]
    assert out.index("## Summary") < out.index("3 published numbers: 1 exact") < out.index("## Chapter nine")
    assert "| T Table 9.1 | a number \\| with a bar | .50 | .50 |" in out
    assert "Mind the gap." in out


def test_html_and_latex_are_written_by_the_name_of_the_file(run: Run) -> None:
    assert run(*NINE, "-o", "page.html")[0] == 0
    page = Path("page.html").read_text()
    assert "1 to every digit, 1 within tolerance, of 3 numbers" in page
    assert '<td class="left best pair"><span>differs</span> <span>[2]</span></td>' in page
    assert "<svg" in page
    assert run(*NINE, "-o", "paper.tex")[0] == 0
    assert "\\begin{table}" in Path("paper.tex").read_text()


def test_figures_are_written_as_svg_and_pdf(run: Run) -> None:
    code, _, said = run(*NINE, "--figures", "drawn", "--csv")
    assert code == 0
    assert sorted(path.name for path in Path("drawn").iterdir()) == ["nine.pdf", "nine.svg"]
    assert "wrote 2 figures" in said


def test_a_number_outside_its_bound_is_named_first_and_the_exit_code_is_1(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(monkeypatch, EXACT, OTHER, OUTSIDE)
    code, out, _ = run(*NINE)
    assert code == 1
    assert "1 differs (1 for data that are not public), 1 fails." in out
    assert "Outside its bound: T 9.3, the last (published 3, ours 4, bound 2 to 3.5: as others have it)." in out
    assert run(*NINE, "-o", "page.html")[0] == 1


def test_what_data_are_missing_for_is_said(folder: Path, run: Run) -> None:
    code, _, said = run("data")
    assert code == 2
    assert "data: expected the public data, got no 'trec/adhoc8_ap.csv'" in said
    code, _, said = run("data", "--only", "trec")
    assert code == 2
    code, _, said = run("nowhere")
    assert code == 2
    assert "nowhere: expected the folder with the public data" in said


def test_without_a_folder_it_says_what_it_wants(run: Run) -> None:
    code, _, said = run()
    assert code == 2
    assert "Expected the folder with the public data, got none" in said


@pytest.mark.parametrize(("form", "start"), [("--json", "["), ("--csv", "study,about"), ("--markdown", "| study |")])
def test_the_list_of_studies_has_forms_too(run: Run, form: str, start: str) -> None:
    assert run("--list", form)[1].startswith(start)
    assert "Chapter nine" in run("--list")[1]


def test_a_list_is_no_page(run: Run) -> None:
    code, _, said = run("--list", "-o", "list.html")
    assert code == 2
    assert "list.html: this is written as text, json, csv, markdown, not as html" in said


def test_quick_says_so(run: Run) -> None:
    assert "Made quickly, with fewer trials than the papers" in run(*NINE, "--quick")[1]
