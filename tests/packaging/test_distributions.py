"""What is in the wheel and in the source distribution, and that one makes the other."""

from __future__ import annotations

import tarfile
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder
from tests.packaging.project import ROOT

from adjudge import __version__
from adjudge.extras import EXTRAS

MADE_HERE = ("benchmarks/data/", "docs/_build/", "docs/_figures/")
SOURCES = ("src", "examples", "papers", "tests", "docs", "deploy", "scripts", "benchmarks")
TOP = {
    *SOURCES, ".dockerignore", ".gitignore", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "Dockerfile", "LICENSE",
    "Makefile", "PKG-INFO", "README.md", "pyproject.toml",
}  # fmt: skip


def files(root: Path, folder: str) -> set[str]:
    """Files of a folder of a project that are not made here."""
    found = (path for path in (root / folder).rglob("*") if path.is_file() and path.suffix != ".pyc")
    inside = (path.relative_to(root).as_posix() for path in found)
    return {path for path in inside if not path.startswith(MADE_HERE)}


def wheel_of(root: Path, target: Path) -> dict[str, bytes]:
    (built,) = WheelBuilder(str(root)).build(directory=str(target), versions=["standard"])
    with zipfile.ZipFile(built) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution, taken out of its archive."""
    folder = tmp_path_factory.mktemp("sdist")
    (built,) = SdistBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    with tarfile.open(built) as archive:
        archive.extractall(folder / "out", filter="data")
    return folder / "out" / f"adjudge-{__version__}"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Names and bytes of the wheel."""
    return wheel_of(ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def metadata(wheel: dict[str, bytes]) -> Message:
    return message_from_bytes(wheel[f"adjudge-{__version__}.dist-info/METADATA"])


def test_the_wheel_has_the_whole_package_and_nothing_else(wheel: dict[str, bytes]) -> None:
    inside = {f"src/{name}" for name in wheel if name.startswith("adjudge/")}
    assert inside == files(ROOT, "src")
    assert {name.partition("/")[0] for name in wheel} == {"adjudge", f"adjudge-{__version__}.dist-info"}


def test_the_wheel_has_its_licence_and_its_command(wheel: dict[str, bytes]) -> None:
    home = f"adjudge-{__version__}.dist-info"
    assert wheel[f"{home}/licenses/LICENSE"] == (ROOT / "LICENSE").read_bytes()
    assert wheel[f"{home}/entry_points.txt"] == b"[console_scripts]\nadjudge = adjudge.cli:run\n"


def test_the_wheel_knows_its_version_and_its_extras(metadata: Message) -> None:
    assert metadata["Version"] == __version__
    assert set(metadata.get_all("Provides-Extra", [])) == {*EXTRAS, "all"}
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata.get_all("Project-URL", []) == []  # no address is invented


def test_the_sources_have_all_that_tests_and_documentation_need_and_nothing_else(unpacked: Path) -> None:
    assert {path.name for path in unpacked.iterdir()} == TOP
    for name in SOURCES:
        assert files(unpacked, name) == files(ROOT, name)


def test_the_sources_make_the_same_wheel(unpacked: Path, wheel: dict[str, bytes], tmp_path: Path) -> None:
    assert wheel_of(unpacked, tmp_path) == wheel
