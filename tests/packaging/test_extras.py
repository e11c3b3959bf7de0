"""pyproject.toml and the guard of missing packages say the same."""

from __future__ import annotations

import re
import sys

import pytest
from tests.conftest import InstalledOnly
from tests.packaging.project import pyproject

from adjudge.errors import AdjudgeError
from adjudge.extras import EXTRAS

DECLARED: dict[str, list[str]] = pyproject()["project"]["optional-dependencies"]


def package(requirement: str) -> str:
    """The name in front of extras and versions, as it is compared."""
    return re.split(r"[\[<>=!~; ]", requirement, maxsplit=1)[0].lower().replace("_", "-")


def included(requirements: list[str]) -> set[str]:
    """Other extras of ours that are part of one."""
    ours = [re.fullmatch(r"adjudge\[([\w,]+)\]", requirement) for requirement in requirements]
    return {name for found in ours if found for name in found[1].split(",")}


def test_every_extra_is_known_to_the_guard_and_the_other_way_round() -> None:
    assert set(DECLARED) - {"all"} == set(EXTRAS)


@pytest.mark.parametrize("extra", EXTRAS)
def test_packages_of_an_extra_are_those_that_the_guard_looks_for(extra: str) -> None:
    own = {package(one) for one in DECLARED[extra]} - {"adjudge"}
    assert own == {name.lower() for name in EXTRAS[extra].values()}


def test_all_is_all() -> None:
    assert included(DECLARED["all"]) == set(EXTRAS)


def test_the_web_draws_sounds_and_reads_spreadsheets() -> None:
    assert included(DECLARED["web"]) == {"audio", "notation", "plots", "spreadsheets"}


def test_the_core_has_none_of_them() -> None:
    core = {package(one) for one in pyproject()["project"]["dependencies"]}
    assert not core & {name for packages in EXTRAS.values() for name in packages.values()}


def test_filters_of_warnings_name_no_class_of_a_package_that_may_be_missing() -> None:
    """pytest imports such a class before it starts."""
    for filtered in pyproject()["tool"]["pytest"]["ini_options"]["filterwarnings"]:
        assert "." not in [*filtered.split(":"), "", ""][2], filtered


def test_only_what_is_really_not_installed_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = InstalledOnly()._missing
    assert missing(ModuleNotFoundError(name="no_such_package.part")) == "no_such_package"
    assert missing(ImportError("cannot import name", name="no_such_package")) is None
    assert missing(ModuleNotFoundError(name="adjudge.misspelt")) is None
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert missing(ModuleNotFoundError(name="matplotlib")) is None
    monkeypatch.setattr(InstalledOnly, "lacking", {"plots"})
    error = AdjudgeError("Figures need matplotlib, which is not installed: pip install 'adjudge[plots]'")
    assert missing(error) == "adjudge[plots]"
    monkeypatch.setattr(InstalledOnly, "lacking", set())
    assert missing(error) is None
