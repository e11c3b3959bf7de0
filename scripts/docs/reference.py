"""The reference, made from registries, parser and docstrings: ``python -m scripts.docs.reference`` writes its pages."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

from scripts.docs.reference_chapters import Page, all_registries
from scripts.docs.reference_estimators import ESTIMATION
from scripts.docs.reference_families import FAMILIES
from scripts.docs.reference_tests import TESTS

FOLDER = Path(__file__).parents[2] / "docs" / "reference"
_PAGES: dict[str, Page] = {"tests": TESTS, "estimators": ESTIMATION, "families": FAMILIES}


def _measures() -> str:
    from adjudge.measures import MEASURES
    from adjudge.measures.guide import text

    return text(list(MEASURES.values()), "markdown")


def _formats() -> str:
    from adjudge.formats.guide import text

    return text("markdown")


def _commands() -> str:
    from scripts.docs.reference_commands import text

    return text()


def _campaigns() -> str:
    from scripts.docs.reference_campaigns import text

    return text()


def _python() -> str:
    from scripts.docs.reference_python import text

    return text()


PAGES: dict[str, Callable[[], str]] = {
    "commands": _commands,
    "measures": _measures,
    **{name: page.text for name, page in _PAGES.items()},
    "campaigns": _campaigns,
    "formats": _formats,
    "python": _python,
}


def write(folder: Path) -> None:
    """Write every page."""
    for name, make in PAGES.items():
        (folder / f"{name}.md").write_text(make(), encoding="utf-8")


def places() -> list[tuple[str, str, str, list[str]]]:
    """Every registry: the kind of its members, the page and the chapter that tell of them, and their names.

    Page and chapter are empty where nobody tells; measures, formats and kinds of campaigns have pages of their own.
    """
    chapters = {id(one.registry): (name, one.title) for name, page in _PAGES.items() for one in page.chapters}
    own = {"measure": ("measures", ""), "format": ("formats", ""), "kind of campaign": ("campaigns", "")}
    return [(one.kind, *chapters.get(id(one), own.get(one.kind, ("", ""))), list(one)) for one in all_registries()]


if __name__ == "__main__":
    everything = places()
    write(FOLDER if len(sys.argv) == 1 else Path(sys.argv[1]))
    if len(sys.argv) > 1:
        print(json.dumps(everything))
