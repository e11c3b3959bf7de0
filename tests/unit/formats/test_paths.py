"""Files meant by what people give."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

import adjudge as aj
from adjudge.errors import InputError
from adjudge.formats import expand


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("runs").mkdir()
    for name in ("b", "a"):
        Path(f"runs/{name}.txt").write_text(f"q Q0 {name} 1 2 tag-{name}\n")
    return tmp_path


@pytest.mark.parametrize(
    "given", ["runs", "runs/*.txt", Path("runs"), ["runs/a.txt", "runs"], ("runs/a.txt", "runs/b*")]
)
def test_directories_and_patterns_mean_their_files_in_order(files: Path, given: Any) -> None:
    assert expand(given, "runs") == [Path("runs/a.txt"), Path("runs/b.txt")]


@pytest.mark.parametrize("make", [list, tuple, set, iter, dict.fromkeys])
def test_any_collection_of_paths_is_read(files: Path, make: Callable[[Iterable[Any]], Any]) -> None:
    given = make(["runs/a.txt", Path("runs/b.txt")])
    collection = aj.read(list(given) if isinstance(given, dict) else given)
    assert collection.systems == ("tag-a", "tag-b")


def test_a_dictionary_of_files_names_the_systems(files: Path) -> None:
    assert aj.read({"mine": "runs/a.txt", "yours": Path("runs/b.txt")}).systems == ("mine", "yours")


def test_a_dictionary_that_is_a_record_is_no_dictionary_of_files(files: Path) -> None:
    assert aj.read({"query": "q", "document": "d"}).systems == ("run",)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"mine": "runs"}, r"^runs: expected one file for the system 'mine', got 2 files$"),
        (
            {"mine": "runs/a.txt", "yours": "runs/a.txt"},
            r"^runs/a.txt: expected one file for the system 'yours', got that of 'mine'$",
        ),
        ({"mine": "nowhere"}, r"^nowhere: cannot be read: no such file or directory$"),
    ],
)
def test_a_system_has_one_file(files: Path, given: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        aj.read(given)


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b", "runs/a.txt/b"])
def test_a_name_that_no_file_can_have_is_refused_in_one_line(files: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"cannot be read: [^\n]+$"):
        aj.read(name)


@pytest.mark.parametrize("method", ["is_dir", "iterdir", "is_file"])
def test_what_may_not_be_looked_into_is_refused_in_one_line(
    files: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    def forbidden(self: Path) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, method, forbidden)
    with pytest.raises(InputError, match=r"^runs: cannot be read: permission denied$"):
        expand("runs", "runs")
