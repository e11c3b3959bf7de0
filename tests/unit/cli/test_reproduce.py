"""adjudge reproduce finds a source checkout, or says in one line where to get one."""

from __future__ import annotations

from pathlib import Path

import pytest

import adjudge
import papers
from adjudge.cli import main

CHECKOUT = Path(papers.__file__).parents[1]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, and a package that was installed from a wheel."""
    monkeypatch.setattr(adjudge, "__file__", str(tmp_path / "lib" / "site-packages" / "adjudge" / "__init__.py"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_without_a_checkout_one_line_says_where_to_get_one(installed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (installed / "papers").mkdir()  # of somebody else
    (installed / "papers" / "studies.py").write_text("raise SystemExit(99)")
    assert main(["reproduce", "--list"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "source distribution" in said


@pytest.mark.parametrize("inside", ["", "docs/reference"])
def test_a_checkout_around_the_current_folder_is_found(
    inside: str, installed: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(CHECKOUT / inside)
    assert main(["reproduce", "--list", "--csv"]) == 0
    assert "reliability-printed" in capsys.readouterr().out
