"""One version, said in one place and the same wherever it is repeated."""

from __future__ import annotations

import re

import pytest
import yaml
from tests.packaging.project import ROOT, pyproject

import adjudge
from adjudge.cli import main

CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
NEWEST = re.search(  # above it there may be a section [Unreleased]
    r"^## \[(\d.*?)\](?: - (.+))?$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
)


def test_the_package_takes_it_from_the_module() -> None:
    project = pyproject()
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/adjudge/_version.py"


def test_the_command_line_says_it(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"adjudge {adjudge.__version__}\n"


def test_the_citation_says_it_with_its_date() -> None:
    assert CITATION["version"] == adjudge.__version__
    assert NEWEST is not None
    assert str(CITATION["date-released"]) == NEWEST[2]


def test_the_newest_released_changes_are_of_this_version() -> None:
    assert NEWEST is not None
    assert NEWEST[1] == adjudge.__version__


def test_the_citation_has_what_a_bibliography_needs() -> None:
    assert CITATION["license"] == pyproject()["project"]["license"]
    for work in (CITATION, *CITATION["references"]):
        assert work["title"]
        assert work["authors"]
    assert all(work["year"] >= 2010 for work in CITATION["references"])
