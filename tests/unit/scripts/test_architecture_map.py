"""The map of the architecture says what the code is like."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripts.docs.architecture_map import not_implied, read_architecture, read_layers
from scripts.docs.pages import ROOT

from adjudge.errors import AdjudgeError


def test_layers_are_those_that_import_linter_checks(tmp_path: Path) -> None:
    project = tmp_path / "pyproject.toml"
    project.write_text(
        '[[tool.importlinter.contracts]]\ntype = "layers"\nlayers = ["adjudge.top", "adjudge.left | adjudge.right"]\n'
    )
    assert read_layers(project) == (("top",), ("left", "right"))


def test_every_package_is_on_the_map() -> None:
    folder = ROOT / "src" / "adjudge"
    there = {path.stem for path in folder.iterdir() if path.is_dir() or path.suffix == ".py"}
    apart = {"__init__", "__main__", "__pycache__", "_version", "py"}  # the door, and what everybody may ask
    assert {part for layer in read_architecture().layers for part in layer} == there - apart


def test_arrows_are_imports_that_are_written() -> None:
    found = read_architecture().imports
    assert ("cli", "web") in found  # adjudge serve
    assert ("measures", "stats") not in found  # they do not know one another
    assert found["embedded", "model"] == 3  # it builds a collection: collection, provenance, scales


def test_lines_are_counted_over_all_files_of_a_package() -> None:
    files = (ROOT / "src" / "adjudge" / "measures").rglob("*.py")
    assert read_architecture().lines["measures"] == sum(path.read_text(encoding="utf-8").count("\n") for path in files)


def test_an_arrow_is_left_out_where_a_longer_way_leads_there() -> None:
    edges = {("cli", "web"), ("web", "reports"), ("reports", "model"), ("cli", "model"), ("cli", "reports")}
    assert not_implied(edges) == {("cli", "web"), ("web", "reports"), ("reports", "model")}


def test_an_import_that_points_up_stops_the_map(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scripts.docs.architecture_map.imports_between", lambda parts, package: {("stats", "cli"): 1})
    with pytest.raises(AdjudgeError, match="imports point down: expected none from stats to cli"):
        read_architecture.__wrapped__()
