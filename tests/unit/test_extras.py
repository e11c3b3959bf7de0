"""What is said where an extra is missing, before anything is read or written."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import adjudge as aj
from adjudge.audio.notation.engraving import engrave
from adjudge.cli import main
from adjudge.errors import AdjudgeError
from adjudge.extras import EXTRAS, has, need
from adjudge.reporting.document import FigureBlock, Paragraph, Report, Section
from adjudge.reporting.render import render, write_figures

Captured = pytest.CaptureFixture[str]


def block(monkeypatch: pytest.MonkeyPatch, *modules: str) -> None:
    """As if they were not installed."""
    for module in modules:
        monkeypatch.setitem(sys.modules, module, None)


def test_modules_come_in_the_packages_that_are_named() -> None:
    homes = packages_distributions()
    for packages in EXTRAS.values():
        for module, package in packages.items():
            assert package in [name.lower().replace("_", "-") for name in homes[module]]


@pytest.mark.parametrize("extra", EXTRAS)
def test_what_is_there_is_not_refused(extra: str) -> None:
    need(extra, "Nobody needs")
    assert has(extra)


@pytest.mark.parametrize(("extra", "module"), [(extra, module) for extra in EXTRAS for module in EXTRAS[extra]])
def test_one_package_that_is_missing_is_named(extra: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    block(monkeypatch, module)
    package = EXTRAS[extra][module]
    with pytest.raises(AdjudgeError) as refused:
        need(extra, "All of us need")
    assert str(refused.value) == (f"All of us need {package}, which is not installed: pip install 'adjudge[{extra}]'")
    assert not has(extra)


@pytest.mark.parametrize(
    ("extra", "missing", "said"),
    [
        ("audio", ("soundfile", "tinytag"), "Songs need soundfile and tinytag, which are not installed: "),
        (
            "audio",
            ("soundfile", "pyloudnorm", "tinytag"),
            "Songs need soundfile, pyloudnorm and tinytag, which are not",
        ),
        ("web", tuple(EXTRAS["web"]), "Songs need alembic, argon2-cffi, fastapi and 6 more, which are not installed: "),
    ],
)
def test_the_first_few_that_are_missing_are_named(
    extra: str, missing: Sequence[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    block(monkeypatch, *missing)
    with pytest.raises(AdjudgeError, match=f"^{said}"):
        need(extra, "Songs need")


def test_what_is_not_asked_for_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    block(monkeypatch, "soundfile", "pyloudnorm")
    need("audio", "Tags need", "tinytag")


def test_a_library_that_does_not_load_is_another_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "soundfile.py").write_text("raise OSError('sndfile library not found')")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "soundfile", raising=False)
    wanted = r"^Songs need soundfile, which is installed but does not load: 'sndfile library not found'$"
    with pytest.raises(AdjudgeError, match=wanted):
        need("audio", "Songs need")


NO_PLOTS = "matplotlib, which is not installed: pip install 'adjudge[plots]'\n"
DEMO = ("d/fine.csv", "d/runs", "--scale", "fine")
DRAWING = {
    "report": ("report", *DEMO, "-m", "CG@5"),
    "plan": ("plan", *DEMO, "-m", "CG@5"),
    "estimate": ("estimate", "d/runs", "--scale", "fine"),
    "simulate": ("simulate", *DEMO),
    "calibrate": ("calibrate", *DEMO),
    "experiment": ("experiment", "power", "d/fine.csv", "d/runs", "--scale", "fine", "-m", "CG@5"),
    "experiment show": ("experiment", "show", "kept"),
    "reproduce": ("reproduce", "data"),
    "participants": ("participants", "answers.csv", "--questions", "questions.csv"),
    "audio statistics": ("audio", "statistics", "library"),
    "groundtruth compare": ("groundtruth", "compare", "rankings.csv"),
}


PAGES = {
    "fit": ("fit", "answers.csv", "--report", "page.html"),
    "groundtruth build": ("groundtruth", "build", "rankings.csv", "--report", "page.html"),
    "groundtruth check": ("groundtruth", "check", "lists.csv", "rankings.csv", "--report", "page.html"),
    "groundtruth compare --report": ("groundtruth", "compare", "rankings.csv", "--report", "page.html"),
    "report as HTM": ("report", *DEMO, "-o", "page.HTM"),
    **{name: (*command, "-o", "page.html") for name, command in DRAWING.items()},
}
REFUSED = {
    **{name: (command, "Pages with figures need") for name, command in PAGES.items()},
    **{
        f"{name} --figures": ((*command, "-o", "page.md", "--figures", "figures"), "Figures need")
        for name, command in DRAWING.items()
    },
    "report by default": (
        ("report", *DEMO),
        "Without -o (page.md, .tex, .json) a report is a page with figures, report.html; that needs",
    ),
}


@pytest.mark.parametrize(("command", "who"), REFUSED.values(), ids=REFUSED)
def test_figures_are_refused_before_anything_is_read(
    command: Sequence[str], who: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    block(monkeypatch, "matplotlib")
    monkeypatch.chdir(tmp_path)  # where none of the files is
    assert main(command) == 2
    assert capsys.readouterr().err == f"adjudge: {who} {NO_PLOTS}"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", [".md", ".json", ".tex"])
def test_reports_without_drawings_need_no_extra(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    block(monkeypatch, "matplotlib")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs.csv").write_text("query,document,score,system\n1,a,2,A\n1,b,1,A\n1,b,2,B\n2,a,1,A\n2,b,1,B\n")
    (tmp_path / "qrels.csv").write_text("query,document,grade\n1,a,1\n2,b,1\n")
    assert main(["report", "qrels.csv", "runs.csv", "--scale", "binary", "-m", "P@1", "-o", f"page{suffix}"]) == 0
    assert "P@1" in (tmp_path / f"page{suffix}").read_text()


def figure() -> Report:
    block = FigureBlock("one", "A figure.", "A figure", None, lambda data, canvas: data)
    return Report("Title", "", (Section("one", "One", (Paragraph("Words."), block)),), {"inputs": [], "settings": {}})


@pytest.mark.parametrize(
    ("module", "said", "call"),
    [
        ("matplotlib", r"Figures need .*\[plots\]", lambda: write_figures(figure(), Path("figures"))),
        ("matplotlib", r"Figures need .*\[plots\]", lambda: render(figure(), "html")),
        ("verovio", r"Notation needs .*\[notation\]", lambda: engrave("@clef:G-2\n@data:4C")),
        ("httpx", r"Talking to a server needs .*\[web\]", lambda: aj.connect("https://judge.example.org", "adj_x")),
    ],
)
def test_functions_say_what_to_install(
    module: str, said: str, call: Callable[[], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    block(monkeypatch, module)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AdjudgeError, match=said):
        call()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("serve",), "The server needs"),
        (("campaign", "list"), "Campaigns need"),
        (("campaign", "rehearse", "--demo"), "The server needs"),
    ],
)
def test_the_web_is_refused_in_one_line(
    arguments: Sequence[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    block(monkeypatch, *EXTRAS["web"])
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    missing = "alembic, argon2-cffi, fastapi and 6 more, which are not installed: pip install 'adjudge[web]'\n"
    assert capsys.readouterr().err == f"adjudge: {said} {missing}"
    assert not list(tmp_path.iterdir())
