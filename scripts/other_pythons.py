"""Run what depends on the version of Python on every other Python of this machine that Adjudge supports.

Interpreters are looked for on the PATH, in pyenv and in uv; each gets an environment in this checkout (``.venv-3.13``).
Every module is imported with warnings as errors; then run the tests of what leans on the language and its standard
library: the command line (argparse), registries and parameters (inspect, dataclasses), files (csv, json, compression,
paths), processes, threads and warnings. Arithmetic is that of NumPy, SciPy and Polars, the same packages on every
Python, and is left to ``make test``, as are servers and browsers.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
OLDEST, NEWEST = 11, 20
_CORE = ".[dask,plots,spreadsheets]"
_COMMANDS = ("bad_input", "completion", "convert", "parser", "score")
TESTS = (
    *("tests/contracts/test_formats.py", "tests/unit/formats", "tests/unit/model", "tests/unit/reporting"),
    *("tests/unit/measures/test_notation.py", "tests/unit/measures/test_parameters.py"),
    *(f"tests/unit/cli/test_{name}.py" for name in _COMMANDS),
    *(f"tests/unit/test_{name}.py" for name in ("errors", "parallel", "results", "text")),
)
_IMPORT_ALL = """
import importlib, pkgutil, adjudge
for module in pkgutil.walk_packages(adjudge.__path__, "adjudge."):
    if not module.name.startswith(("adjudge.web", "adjudge.__main__")):
        importlib.import_module(module.name)
"""
_ASK = "import sys; print(sys.implementation.name, *sys.version_info[:2])"


def main() -> int:
    """Test on all of them; how many failed."""
    found = other_pythons()
    if not found:
        print(f"No other Python than {sys.version_info[0]}.{sys.version_info[1]} is installed here: nothing to test.")
    failed = [version for version, python in found.items() if not passes(version, python)]
    if failed:
        print(f"Tests fail on Python {', '.join(failed)}.", file=sys.stderr)
    return len(failed)


def other_pythons() -> dict[str, str]:
    """An interpreter of each version but this one's."""
    found: dict[str, str] = {}
    for python in _candidates():
        said = _said([python, "-c", _ASK]).split()
        if said[:2] == ["cpython", "3"] and int(said[2]) >= OLDEST and int(said[2]) != sys.version_info.minor:
            found.setdefault(f"3.{said[2]}", python)
    return dict(sorted(found.items()))


def _candidates() -> Iterator[str]:
    yield from filter(None, (shutil.which(f"python3.{minor}") for minor in range(OLDEST, NEWEST)))
    if shutil.which("pyenv"):  # what it has on the PATH runs only where its settings say so
        yield from map(str, sorted(Path(_said(["pyenv", "root"]).strip()).glob("versions/*/bin/python")))
    listed = _said([_uv(), "python", "list", "--only-installed", "--output-format", "json"])
    yield from (one["path"] for one in json.loads(listed or "[]"))


def _said(command: list[str]) -> str:
    """What a command prints; nothing where it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    except OSError:
        return ""
    return done.stdout if done.returncode == 0 else ""


def _uv() -> str:
    return str(Path(sys.executable).with_name("uv"))


def passes(version: str, python: str) -> bool:
    """Whether the tests pass in an environment of this Python."""
    print(f"Python {version}: {python}", flush=True)
    environment = ROOT / f".venv-{version}"
    own = str(environment / "bin" / "python")
    install = [_uv(), "pip", "install", "--quiet", "--python", own, "--editable", _CORE, "--group", "core-test"]
    imports = [own, "-W", "error", "-c", _IMPORT_ALL]
    test = [own, "-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal", *TESTS]
    commands = [] if environment.is_dir() else [[_uv(), "venv", "--quiet", "--python", python, str(environment)]]
    commands += [install, imports, test]
    return all(subprocess.run(command, cwd=ROOT, check=False).returncode == 0 for command in commands)


if __name__ == "__main__":
    sys.exit(main())
