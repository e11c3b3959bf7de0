"""What the docs show is what the program prints."""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from adjudge.cli import main

ROOT = Path(__file__).parents[2]


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip("\n").splitlines() if line.strip()]


@pytest.mark.usefixtures("one_processor")
@pytest.mark.parametrize("page", ["README.md", "docs/groundtruth.md", "docs/experiments.md", "docs/audio.md"])
def test_a_page_shows_what_its_commands_print(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A block that ends with … shows the beginning. Examples in Python find the files that the commands wrote."""
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```console\n\$ (.*?)\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert len(blocks) >= 2
    for command, shown in blocks:
        program, *arguments = shlex.split(command)
        assert program == "adjudge"
        assert main(arguments) == 0
        expected, printed = _lines(shown), _lines(capsys.readouterr().out)
        if expected[-1] == "…":
            expected = expected[:-1]
            printed = printed[: len(expected)]
        assert printed == expected
    if page != "README.md":  # whose examples are tests of their own
        tried = doctest.testfile(str(ROOT / page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
        assert (tried.failed, tried.attempted > 0) == (0, True)


@pytest.mark.parametrize("page", ["measures", "formats"])
def test_pages_made_from_registries_are_up_to_date(page: str, tmp_path: Path) -> None:
    made = tmp_path / f"{page}.md"  # made by a process of its own: examples elsewhere register measures
    subprocess.run([sys.executable, "-m", "adjudge", page, "-o", str(made)], check=True)
    assert made.read_text() == (ROOT / "docs" / f"{page}.md").read_text(), f"run: adjudge {page} -o docs/{page}.md"


def test_links_between_pages_lead_somewhere() -> None:
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_page_on_few_judgments_names_everything_registered() -> None:
    from adjudge.relevance import ESTIMATORS, GOALS, RULES

    page = (ROOT / "docs" / "low_cost.md").read_text()
    for name in (*ESTIMATORS, *GOALS, *RULES):
        assert f"`{name}`" in page, f"docs/low_cost.md does not mention {name}"


def test_the_page_on_audio_names_everything_registered() -> None:
    from adjudge.audio.features import AUDIO_FEATURES
    from adjudge.audio.library.excerpts import PLACES
    from adjudge.audio.systems import BASELINES

    page = (ROOT / "docs" / "audio.md").read_text()
    for name in (*AUDIO_FEATURES, *PLACES):
        assert f"`{name}`" in page, f"docs/audio.md does not mention {name}"
    for system in BASELINES.values():
        assert f"| `{system.name}` | {system.about} |" in page, f"docs/audio.md does not say what {system.name} does"


def test_the_page_on_ground_truth_names_everything_registered() -> None:
    from adjudge.groundtruth import COMPARISONS, FUNCTIONS

    path = ROOT / "docs" / "groundtruth.md"
    for name in (*FUNCTIONS, *COMPARISONS):
        assert f"`{name}`" in path.read_text(), f"docs/groundtruth.md does not mention {name}"


def test_the_page_on_experiments_names_every_experiment_and_option() -> None:
    from adjudge.cli.experiment_options import KINDS, SETTINGS

    path = ROOT / "docs" / "experiments.md"
    for name in (*(f"`{kind}`" for kind in KINDS), *(one.option for one in SETTINGS.values())):
        assert name in path.read_text(), f"docs/experiments.md does not mention {name}"
