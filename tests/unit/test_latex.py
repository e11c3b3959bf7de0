"""LaTeX as TeX sees it: names read as they are, tables fit, documents compile; and letters of tied systems."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import missing

import adjudge as aj
from adjudge.cli import main
from adjudge.errors import AdjudgeError
from adjudge.latex import COLUMN, PAGE, document, escape_latex, sentence, text_points
from adjudge.tables import Heading, Table, as_latex

ENGINES = ("pdflatex", "lualatex")
SLACK = 0.5  # points that a line may stick out


@dataclass(frozen=True)
class Printed:
    """What came out: the text of each page, names and types of fonts, and the log of the last run."""

    pages: list[str]
    fonts: dict[str, str]
    log: str

    @property
    def text(self) -> str:
        return "\n".join(self.pages)

    def check(self) -> None:
        """Nothing sticks out, nothing is missing, every reference is resolved, and no font is a picture."""
        found = re.findall(r"Overfull \\[hv]box \(([\d.]+)pt too (?:wide|high)", self.log)
        assert all(float(points) <= SLACK for points in found), found
        assert "Missing character" not in self.log
        assert "Float too large" not in self.log
        assert "undefined" not in self.log
        assert "Rerun" not in self.log.replace("rerunfilecheck", "")
        assert not [name for name, kind in self.fonts.items() if kind == "/Type3"]


@pytest.fixture(scope="session")
def tex_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where TeX keeps what it learns about fonts."""
    return tmp_path_factory.mktemp("tex")


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """A TeX of this machine; on CI both have to be there."""
    name: str = request.param
    if shutil.which(name) is None:
        reason = f"{name} is not installed (Debian: apt-get install texlive-latex-recommended texlive-luatex lmodern)"
        missing(reason)
    return name


def compiled(text: str, engine: str, folder: Path, home: Path) -> Printed:
    """A document run twice, so that references are known; any error of TeX's fails."""
    from pypdf import PdfReader

    (folder / "paper.tex").write_text(text, encoding="utf-8")
    command = [engine, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "paper.tex"]
    variables = {**os.environ, "TEXMFVAR": str(home), "max_print_line": "1000"}
    for _ in range(2):
        run = subprocess.run(command, cwd=folder, env=variables, capture_output=True, timeout=300, check=False)
        assert run.returncode == 0, run.stdout.decode(errors="replace")[-3000:]
    log = (folder / "paper.log").read_text(encoding="utf-8", errors="replace")
    reader = PdfReader(folder / "paper.pdf")
    fonts: dict[str, str] = {}
    for page in reader.pages:
        stack: list[Any] = [page.get("/Resources")]
        while stack:
            resources = stack.pop().get_object()
            for font in (resources.get("/Font") or {}).values():
                known = font.get_object()
                fonts[str(known.get("/BaseFont", "?"))] = str(known["/Subtype"])
            drawn = resources.get("/XObject")
            objects = [] if drawn is None else [each.get_object() for each in drawn.get_object().values()]
            stack += [each["/Resources"] for each in objects if "/Resources" in each]
    return Printed([page.extract_text() for page in reader.pages], fonts, log)


READS = [  # as they are, whatever sets them
    "a_b & 5 %",
    "#$ {x} ~ ^ \\",
    "bm25--rm3 --- a,,b <<x>> |y|",
    '"q" `x` ?` !`',
    "Ångström Łódź Žižek ñandú çà ğ ő",
    "\\input{/etc/passwd}",
    "\\end{tabular}",
    "%",
    "α≤.05",
]
NEEDS_FONTS = {  # as pdfLaTeX sets them
    "音楽_検索": "[U+97F3][U+697D]_[U+691C][U+7D22]",
    "run 😀": "run [U+1F600]",
    "Привет": "[U+041F][U+0440][U+0438][U+0432][U+0435][U+0442]",
    "שלום": "[U+05E9][U+05DC][U+05D5][U+05DD]",
}
LONG = ["very_long_name_of_a_system_" * 5, "x" * 120, "a name of several words " * 6]
ODD = ["a\tb\nc", "e\u0301 \u0302 x\u0302", "\x00\x1b\x7f\u200b\u2028|\u00a0|", "", "♯♭ ₀₁ 10⁻⁶ ∞ ∑ √ ½ € « ’’ ''"]


def squeezed(text: str) -> str:
    return re.sub(r"\s", "", text)


def hostile_table() -> Table:
    names = [*READS, *NEEDS_FONTS, *LONG, *ODD]
    p = ["1e-06", "< 1e-06", "0.2", "3.2e-05", "–"]
    rows = [[name, f"{(-1) ** i * 0.5 * i:.3f} ± 0.1", p[i % 5], name] for i, name in enumerate(names)]
    headings = [Heading("system_", "left"), Heading("ΔCG@5 (α ≤ .05) %"), Heading("p"), Heading("again", "left")]
    return Table(headings, rows, "Of 音 é _ % ^ 😀 & #", ["A note: 音楽 _ & %, p < 1e-06, -0.5."])


@pytest.mark.parametrize("width", [2.0, COLUMN, PAGE])
def test_any_name_can_be_set_and_reads_as_it_is(engine: str, width: float, tmp_path: Path, tex_home: Path) -> None:
    printed = compiled(as_latex([hostile_table()], standalone=True, width=width), engine, tmp_path, tex_home)
    printed.check()
    text = squeezed(printed.text)
    expected = [*READS, *NEEDS_FONTS.values()] if width >= COLUMN else READS[-3:]  # others go on in a second line
    assert [name for name in expected if squeezed(name).replace("'", "’") not in text] == []
    assert squeezed("−0.500 ± 0.1") in text
    assert "3.2×10−5" in text


def test_text_is_no_wider_than_it_is_taken_to_be(tmp_path: Path, tex_home: Path) -> None:
    """TeX measures every text in the font of tables."""
    if shutil.which("pdflatex") is None:
        missing("pdflatex is not installed")
    letters = [chr(i) for i in range(33, 127)] + list("éÅßñłœ±≤→∞½…€−–—αΔΩχ²₀音")
    texts = [*(letter * 10 for letter in letters), "0.647 ± 0.058", "< 10⁻⁶", *READS, *NEEDS_FONTS]
    lines = [rf"\setbox0\hbox{{{escape_latex(text)}}}\typeout{{WIDTH {n} \the\wd0}}" for n, text in enumerate(texts)]
    small = r"\fontsize{8}{9.5}\selectfont" + "\n"
    body = as_latex([Table([Heading("音", "left")], [["x"]])]) + small + "\n".join(lines) + "\n"
    printed = compiled(document(body), "pdflatex", tmp_path, tex_home)
    measured = {int(n): float(points) for n, points in re.findall(r"WIDTH (\d+) ([\d.]+)pt", printed.log)}
    assert len(measured) == len(texts)
    wrong = {
        texts[n]: (text_points(texts[n]), points) for n, points in measured.items() if points > text_points(texts[n])
    }
    assert wrong == {}


@pytest.mark.parametrize("width", [COLUMN, PAGE])
def test_a_report_compiles_with_its_figures(engine: str, width: float, tmp_path: Path, tex_home: Path) -> None:
    eff = aj.evaluate(aj.demo(), ["CG@5", "nDCG@5"])
    target = tmp_path / "report.tex"
    aj.report(eff, test="t", output=target, figures=tmp_path / "figures", width=width, standalone=True)
    printed = compiled(target.read_text(), engine, tmp_path, tex_home)
    printed.check()
    assert "to be written by" not in printed.text
    assert len(printed.pages) <= 12
    written = re.findall(
        r"\\(section)\{|\\begin\{(table|figure)\*?\}\n(?:(?!\\end).*\n)*?\\caption\{", target.read_text()
    )
    set_in_order = re.findall(r"\\contentsline \{(section|table|figure)\}", (tmp_path / "paper.aux").read_text())
    assert set_in_order == ["".join(kinds) for kinds in written], "each table and figure in its section"


def test_figures_that_are_not_there_leave_a_line(tmp_path: Path, tex_home: Path, engine: str) -> None:
    target = tmp_path / "report.tex"
    aj.report(aj.evaluate(aj.demo(), "CG@5"), test="t", output=target, sections=["overview"], standalone=True)
    printed = compiled(target.read_text(), engine, tmp_path, tex_home)
    printed.check()
    assert "forest.pdf is to be written by --figures." in printed.text.replace("\n", " ")


@pytest.mark.parametrize("width", [COLUMN, PAGE])
def test_a_table_that_is_long_and_wide_loses_nothing(engine: str, width: float, tmp_path: Path, tex_home: Path) -> None:
    rng = np.random.default_rng(3)
    systems = [f"system_{i:03d}" for i in range(129)]
    measures = [f"nDCG@{k}" for k in range(5, 17)]
    cells = {(s, m): f"{rng.random():.3f} ± {rng.random() / 10:.3f}" for s in systems for m in measures}
    headings = [Heading("system", "left"), *map(Heading, measures)]
    table = Table(headings, [[s, *(cells[s, m] for m in measures)] for s in systems], "Many systems")
    printed = compiled(as_latex([table], standalone=True, width=width), engine, tmp_path, tex_home)
    printed.check()
    text = squeezed(printed.text)
    counts = {text.count(squeezed(s)) for s in systems}
    assert len(counts) == 1, "every part of the table names every row"
    assert counts != {1}
    assert all(squeezed(cell) in text for cell in cells.values())
    assert "(continued)" in text


@pytest.mark.parametrize("columns", ["onecolumn", "twocolumn"])
def test_a_table_goes_into_any_paper(engine: str, columns: str, tmp_path: Path, tex_home: Path) -> None:
    """A fragment needs booktabs, and nothing else: no encoding, no font."""
    eff = aj.evaluate(aj.demo(), ["CG@5", "nDCG@5"])
    tables = aj.compare(eff["CG@5"], test="t").paper_tables()
    small = as_latex(tables, caption="Means.", label="tab:means", width=COLUMN)
    wide = aj.summarize(eff).to_latex(caption="é_音", label="tab:wide")
    plain = aj.summarize(eff).to_latex(width=COLUMN)
    text = (
        rf"\documentclass[{columns}]{{article}}\usepackage[textwidth=7in,columnsep=0.4in]{{geometry}}"
        rf"\usepackage{{booktabs}}\begin{{document}}See Tables~\ref{{tab:means}} and~\ref{{tab:wide}}."
        f"\n{small}\n{wide}\n{plain}\n\\end{{document}}\n"
    )
    compiled(text, engine, tmp_path, tex_home).check()


def test_commands_write_documents_that_compile(
    engine: str, tmp_path: Path, tex_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--standalone", "--width", "3.3", "-o", "scores.tex"]) == 0
    printed = compiled(Path("scores.tex").read_text(), engine, tmp_path, tex_home)
    printed.check()
    assert "KLN2" in printed.text
    assert "Mean over queries" in printed.text


def test_a_leaderboard_compiles(engine: str, tmp_path: Path, tex_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    values = np.random.default_rng(1).random((20, 3)) ** [0.3, 1.0, 3.0]
    rows = "".join(f"q{q},{','.join(map(str, row))}\n" for q, row in enumerate(values.tolist()))
    Path("ap.csv").write_text(f"query,é_1,b,c\n{rows}")
    wanted = ["-o", "board.tex", "--standalone", "--width", "3.3"]
    assert main(["leaderboard", "--effectiveness", "ap.csv", *wanted]) == 0
    printed = compiled(Path("board.tex").read_text(), engine, tmp_path, tex_home)
    printed.check()
    assert f"{values.mean(axis=0)[0]:.3f}" in printed.text
    assert "é_1" in printed.text


def test_a_document_is_refused_where_no_latex_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--standalone"]) == 2
    assert "--standalone is for LaTeX: expected --latex or a file that ends in .tex" in capsys.readouterr().err
    with pytest.raises(AdjudgeError, match=r"'width' must be in \[2, 20\], got 1"):
        aj.summarize(aj.evaluate(aj.demo(), "CG@5")).to_latex(width=1)


@given(st.text())
def test_latex_that_is_escaped_has_no_bare_special_characters(text: str) -> None:
    known = (
        r"\\adjudgechar\{[0-9A-F]{4,6}\}\{[^\\&%$#_{}~^]\}|\{\\ttfamily\\char34\}|\$[^$]*\$"
        r"|\\[a-zA-Z0]+(?:pt)?\{\}|\\[`'^~=u.\"rHvdcb]\{[a-zA-Z]\}|\\[&%$#_{}]|~"
    )
    rest = escape_latex(text)
    while (shorter := re.sub(known, "", rest)) != rest:
        rest = shorter
    assert not set(rest) & set("\\&%$#_{}^")
    assert "\n" not in escape_latex(text)


def test_names_that_differ_are_set_differently() -> None:
    names = [*READS, *NEEDS_FONTS, "a-b", "a–b", "a--b", "a—b", "e", "é", "ê", "音", "樂", "α", "a"]
    assert len({escape_latex(name) for name in names}) == len(names)


def test_numbers_have_signs_and_names_do_not() -> None:
    assert sentence("-0.5 [-1, 2e-05]") == r"$-$0.5 [$-$1, 2 $\times$ 10$^{-5}$]"
    assert sentence("bm25-2 1e-06x run1e-05") == "bm25-2 1e-06x run1e-05"


def test_numbers_meet_at_the_decimal_point() -> None:
    def spec(*cells: str) -> str:
        text = Table([Heading("s", "left"), Heading("x")], [["a", cell] for cell in cells]).latex()
        return text[text.index("{@{}") + 4 : text.index("@{}}\n")]

    assert spec("0.5", "0.7") == "lr"
    assert spec("0.5", "0.75", "–") == "lr@{}l"
    assert spec("< 1e-06", "1") == "lr@{}l"
    assert spec("yes", "no") == "lr"
    assert spec("50–75 %", "100 %") == "lr"


def test_whole_numbers_stand_apart_from_their_brackets() -> None:
    """TeX skips a space at which a cell begins."""
    lines = Table([Heading("Rank")], [["1 [1, 9]"], ["10 [2, 14]"]], n_key=0).latex().splitlines()
    assert [line for line in lines if "[" in line and "&" in line] == [r"1 & ~[1, 9] \\", r"10 & ~[2, 14] \\"]


def test_bold_stands_where_the_terminal_has_it() -> None:
    table = Table([Heading("s", "left"), Heading("x")], [["a", "0.5"], ["b", "0.7"]], styles={(1, 1): "bold green"})
    assert r"b & \textbf{0} & \textbf{.7} \\" in table.latex()
    assert "a & 0 & .5 \\\\" in table.latex()
