"""The reference is made from registries, parser and docstrings, and leaves nothing out."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from inspect import ismodule
from pathlib import Path
from typing import NamedTuple

import pytest
from scripts.docs.pages import ROOT

import adjudge

_FOLDER = ROOT / "docs" / "reference"
_PAGES = ("commands", "measures", "tests", "estimators", "families", "campaigns", "formats", "python")


class Made(NamedTuple):
    """The pages as they are made now, and every registry: kind, page, chapter, members."""

    folder: Path
    registries: list[tuple[str, str, str, list[str]]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("reference")  # by a process of its own: examples elsewhere register measures
    command = [sys.executable, "-m", "scripts.docs.reference", str(folder)]
    printed = subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout
    return Made(folder, json.loads(printed))


@pytest.mark.parametrize("page", _PAGES)
def test_the_reference_is_up_to_date(page: str, made: Made) -> None:
    now, committed = ((folder / f"{page}.md").read_text(encoding="utf-8") for folder in (made.folder, _FOLDER))
    assert now == committed, "run: python -m scripts.docs.reference"


def test_every_page_that_is_made_is_compared(made: Made) -> None:
    assert {path.stem for path in made.folder.iterdir()} == set(_PAGES)


def test_every_registry_has_a_chapter(made: Made) -> None:
    assert len(made.registries) > 20
    for kind, page, _, _ in made.registries:
        assert page, f"no page of the reference tells of every {kind}: add a chapter in scripts/docs"


def test_every_registered_member_is_told_of(made: Made) -> None:
    for kind, page, chapter, names in made.registries:
        text = (_FOLDER / f"{page}.md").read_text(encoding="utf-8")
        told = set(_told(text.partition(f"\n## {chapter}\n")[2].partition("\n## ")[0] if chapter else text))
        assert set(names) <= told, f"{page}.md does not tell of the {kind} {', '.join(set(names) - told)}"


def _told(text: str) -> Iterator[str]:
    """Names in headings, before a colon, and in the first cells of tables."""
    for heading in re.findall(r"^##+ (.+)$", text, flags=re.MULTILINE):
        yield heading.strip("`").partition(":")[0]
    for cell in re.findall(r"^\| ([^|]+) \|", text, flags=re.MULTILINE):
        yield cell.strip("`")


def test_every_public_name_is_on_the_page_on_python_once() -> None:
    text = (_FOLDER / "python.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))
    for name in [name for name in adjudge.__all__ if ismodule(getattr(adjudge, name))]:
        module = getattr(adjudge, name)
        above = {id(getattr(adjudge, one)) for one in adjudge.__all__}
        own = {one for one in module.__all__ if id(getattr(module, one)) not in above}
        assert sorted(re.findall(rf"^### {name}\.(\w+)$", sections[f"aj.{name}"], re.MULTILINE)) == sorted(own)
    told = re.findall(r"^### (\w+)$", text, re.MULTILINE)
    plain = [name.strip("_") for name in adjudge.__all__ if not ismodule(getattr(adjudge, name))]
    assert sorted(told) == sorted(plain), "add to GROUPS in scripts/docs/reference_python.py"


def test_every_command_has_an_anchor_of_its_own() -> None:
    from adjudge.cli.parser import build_parser

    text = (_FOLDER / "commands.md").read_text(encoding="utf-8")
    headings = re.findall(r"^##+ (adjudge .+)$", text, flags=re.MULTILINE)
    top = next(action.choices for action in build_parser()._actions if isinstance(action.choices, dict))
    assert {f"adjudge {name}" for name in top} <= set(headings)
    assert len(headings) == len(set(headings))
    for target in re.findall(r"\]\(#([\w-]+)\)", text):
        assert target in {heading.replace(" ", "-") for heading in headings}, f"nothing is called {target}"
