"""The architecture holds: imports point down, starting is cheap, docs name every command."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_imports_point_down() -> None:
    check = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"]
    done = subprocess.run(check, cwd=ROOT, capture_output=True, text=True, check=False)  # it silences logs in-process
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    "statement",
    [
        "import adjudge",
        "import adjudge.cli; adjudge.cli.build_parser()",
        "import adjudge as aj; dir(aj.stats), dir(aj.users), dir(aj.audio), dir(aj.experiments), dir(aj.relevance)",
    ],
)
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
        text = path.read_text()
        for node in ast.walk(ast.parse(text)) if "warnings" in text else ():
            match node:
                case ast.Attribute(value=ast.Name(id="warnings"), attr=name) if name in touching:
                    found.setdefault(path.relative_to(ROOT / "src" / "adjudge").as_posix(), set()).add(name)
                case ast.ImportFrom(module="warnings"):
                    found.setdefault(path.relative_to(ROOT / "src" / "adjudge").as_posix(), set()).add("import")
    assert found == {
        "errors.py": {"warn"},
        "deprecated.py": {"warn"},  # of names that change, which is not about the data
        "cli/__init__.py": {"simplefilter"},  # once, before the command starts
        "reporting/canvas.py": {"catch_warnings", "simplefilter", "warn_explicit"},  # of matplotlib: no other way
    }


def test_the_readme_and_docs_name_every_command() -> None:
    from adjudge.cli.parser import COMMANDS

    text = (ROOT / "README.md").read_text()
    assert [entry.name for entry in COMMANDS if f"adjudge {entry.name}" not in text] == []


PACKAGES = ("stats", "users", "preferences", "groundtruth", "experiments", "audio", "relevance", "measures", "formats",
            "model")  # fmt: skip


def test_the_public_names_are_all_there() -> None:
    import adjudge as aj

    assert set(PACKAGES) | {"errors"} == {name for name in aj.__all__ if inspect.ismodule(getattr(aj, name))}
    assert len(aj.__all__) - len(PACKAGES) < 35, "the face has become a crowd: put it into a package"
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = aj.nothing  # type: ignore[attr-defined]
    for package in (aj, *(getattr(aj, name) for name in PACKAGES), aj.errors):
        assert [name for name in package.__all__ if getattr(package, name, None) is None] == []


@pytest.mark.parametrize("package", ["", *PACKAGES])
def test_the_stub_lists_what_it_imports(package: str) -> None:
    tree = ast.parse((ROOT / "src" / "adjudge" / package / "__init__.pyi").read_text())
    (listed,) = (ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign))
    imported = [n.asname or n.name for node in tree.body if isinstance(node, ast.ImportFrom) for n in node.names]
    assert sorted(imported) == sorted(listed) == importlib.import_module(f"adjudge.{package}".rstrip(".")).__all__


@pytest.mark.parametrize("package", ["", *PACKAGES])
def test_no_module_hides_a_public_name(package: str) -> None:
    """A module becomes an attribute of its package when anybody imports it."""
    home = importlib.import_module(f"adjudge.{package}".rstrip("."))
    public = {name for name in home.__all__ if not inspect.ismodule(getattr(home, name))}
    assert public & {module.name for module in pkgutil.iter_modules(home.__path__)} == set()
