"""The architecture holds: imports point down, starting is cheap, docs name every command."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_imports_point_down() -> None:
    check = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"]
    done = subprocess.run(check, cwd=ROOT, capture_output=True, text=True, check=False)  # it silences logs in-process
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("statement", ["import adjudge", "import adjudge.cli; adjudge.cli.build_parser()"])
def test_starting_imports_nothing_heavy(statement: str) -> None:
    heavy = {"numpy", "polars", "scipy", "rich", "pandas", "difflib", "sqlalchemy", "fastapi", "pydantic"}
    probe = f"import sys; {statement}; print(*sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize("package", ["library", "features", "systems"])
def test_packages_of_audio_say_what_their_modules_do(package: str) -> None:
    folder = ROOT / "src" / "adjudge" / "audio" / package
    said = ast.get_docstring(ast.parse((folder / "__init__.py").read_text())) or ""
    assert [path.stem for path in folder.glob("[!_]*.py") if f"``{path.stem}``" not in said] == []


def test_nothing_else_touches_the_filters_of_warnings() -> None:
    """They belong to the whole process, whose threads take them from one another: errors.py has what to use instead."""
    touching = {"warn", "warn_explicit", "catch_warnings", "simplefilter", "filterwarnings", "resetwarnings"}
    found: dict[str, set[str]] = {}
    for path in (ROOT / "src" / "adjudge").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Attribute(value=ast.Name(id="warnings"), attr=name) if name in touching:
                    found.setdefault(path.relative_to(ROOT / "src" / "adjudge").as_posix(), set()).add(name)
                case ast.ImportFrom(module="warnings"):
                    found.setdefault(path.relative_to(ROOT / "src" / "adjudge").as_posix(), set()).add("import")
    assert found == {
        "errors.py": {"warn"},
        "cli/__init__.py": {"simplefilter"},  # once, before the command starts
        "reporting/render.py": {"catch_warnings", "simplefilter"},  # of matplotlib, which has no other way
    }


def test_the_readme_and_docs_name_every_command() -> None:
    from adjudge.cli.parser import COMMANDS

    text = (ROOT / "README.md").read_text()
    missing = [name for m in COMMANDS if (name := m.__name__.rsplit(".", 1)[1]) and f"adjudge {name}" not in text]
    assert missing == []


def test_the_public_names_are_all_there_and_typed_the_same() -> None:
    import adjudge as aj

    for name in aj.__all__:
        assert getattr(aj, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = aj.nothing
