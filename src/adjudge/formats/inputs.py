"""The files that people mean by what they give to be read."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from adjudge.errors import AdjudgeError, InputError, shown
from adjudge.formats.base import Kind
from adjudge.formats.columns import places_of
from adjudge.formats.schema import is_frame
from adjudge.formats.source import STDIN, open_source, unreadable

__all__ = ["STDIN", "expand", "files_of", "is_path", "open_source", "refuse_second_stdin", "settled"]

_ABOUT = {"readme", "license", "licence", "copying", "changelog", "notice", "citation", "makefile"}
_NO_DATA = {".md", ".rst", ".pdf", ".html", ".htm", ".tex", ".bib", ".log", ".py", ".ipynb", ".sh", ".png", ".jpg"}

Note = Callable[[str], None]


def _ignore(text: str) -> None:
    """Say nothing."""


def settled(given: Any) -> Any:
    """Make a list of an iterable that may be walked only once, in order of name where it has no order."""
    if isinstance(given, str | bytes | os.PathLike | Mapping) or is_frame(given) or not isinstance(given, Iterable):
        return given
    items = list(given)
    return sorted(items, key=str) if isinstance(given, set | frozenset) else items


def is_path(given: Any) -> bool:
    """Whether something names a file."""
    return isinstance(given, str | os.PathLike)


def files_of(given: Any, kind: Kind, note: Note = _ignore) -> dict[Path, str | None] | None:
    """Files meant by what was given, with the system that each is called after; None where no files were given.

    A path names files, a list of paths does, and a dictionary ``{system: path}`` of runs.
    """
    if isinstance(given, Mapping):
        if kind != "runs" or not given or not all(map(is_path, given.values())) or _is_record(given):
            return None
        return _files_by_system(given)
    if is_path(given) or (isinstance(given, list) and given and all(map(is_path, given))):
        return dict.fromkeys(expand(given, kind, note))
    return None


def _is_record(given: Mapping[Any, Any]) -> bool:
    """Whether a dictionary is one row: its keys name a query and a document."""
    return all(places_of([str(key) for key in given], target, needed=True) for target in ("query", "document"))


def _files_by_system(given: Mapping[Any, Any]) -> dict[Path, str | None]:
    files: dict[Path, str | None] = {}
    for system, item in given.items():
        found = expand(item, "runs")
        if len(found) != 1 or found[0] in files:
            came = f"{len(found)} files" if len(found) != 1 else f"that of {shown(files[found[0]])}"
            raise InputError(f"expected one file for the system {shown(system)}, got {came}", source=str(item))
        files[found[0]] = str(system)
    return files


def expand(
    given: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], kind: Kind, note: Note = _ignore
) -> list[Path]:
    """Files meant by paths, directories and patterns, each once, sorted within a pattern or directory.

    ``-`` is standard input. Among several files, those that are no data by their names (``README.md``) are passed over.
    ``note`` hears of them, and of files that are given twice.
    """
    found: dict[Path, None] = {}
    for item in [given] if isinstance(given, str | os.PathLike) else given:
        try:
            inside = [STDIN] if item == "-" else _inside(item, kind)
        except (OSError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise unreadable(str(item), error) from None
        for path in inside:
            if path in found:
                note(f"{path}: given twice; read once.")
        found.update(dict.fromkeys(inside))
    data = [path for path in found if path.stem.casefold() not in _ABOUT and path.suffix.casefold() not in _NO_DATA]
    if not data:
        return list(found)
    for path in sorted(found.keys() - data):
        note(f"{path}: passed over, as its name is not that of {kind}.")
    return data


def _inside(item: str | os.PathLike[str], kind: Kind) -> list[Path]:
    """Files that one path means."""
    path = Path(item)
    if path.is_dir():
        inside = sorted(child for child in path.iterdir() if child.is_file() and not child.name.startswith("."))
        if not inside:
            raise InputError(f"expected a directory with {kind}, got an empty one", source=str(path))
        return inside
    if not path.exists() and glob.has_magic(str(item)):
        inside = sorted(Path(name) for name in glob.glob(str(item), recursive=True) if Path(name).is_file())
        if not inside:
            raise InputError(f"expected files with {kind}, got none that match the pattern", source=str(item))
        return inside
    return [path]


def refuse_second_stdin(given: Mapping[str, Any]) -> None:
    """Raise where more than one of the things to read is standard input."""
    asking = [name for name, one in given.items() if "-" in _flat(one)]
    if len(asking) > 1:
        raise AdjudgeError(f"Standard input can be read once, got '-' for {' and '.join(asking)}.")


def _flat(given: Any) -> list[str]:
    """Paths among what was given, as they were written."""
    items = given.values() if isinstance(given, Mapping) else given if isinstance(given, list) else [given]
    return [item for item in items if isinstance(item, str)]
