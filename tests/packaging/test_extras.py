"""pyproject.toml and the guard of missing packages say the same."""

from __future__ import annotations

import re

import pytest
from tests.packaging.project import pyproject

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
