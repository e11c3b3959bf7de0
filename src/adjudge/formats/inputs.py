"""What people give to be read, and the files that are meant by it.

Objects of Python to plain tables: pandas and Polars frames, nested dictionaries, records and named tuples.

Column names are those of :mod:`adjudge.formats.columns`, so that frames of ir_measures, ir_datasets and PyTerrier pass
as they are. pandas is recognised without being imported, and its values are copied without pyarrow.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from adjudge.errors import AdjudgeError, InputError, shown
from adjudge.formats.base import Kind
from adjudge.formats.columns import COLUMNS, canonical_frame, column_of, fold, places_of
from adjudge.formats.json import frame_from_nested
from adjudge.formats.source import Source, unreadable


def frame_from_object(obj: object, kind: Kind, *, name: str) -> pl.DataFrame:
    """Make the plain table of whatever holds one; ``name`` is the system where nothing in it says so.

    A dictionary of frames is a dictionary of runs by system, whatever their columns say; a list of frames is one table,
    in which a run without a column for the system is called after its place, ``run1``, ``run2``, …
    """
    if is_frame(obj):
        return frame_from_pandas_or_polars(obj, kind, name=name)
    if isinstance(obj, Mapping):
        if kind == "runs" and obj and all(is_frame(value) for value in obj.values()):
            return _together([_run_called(str(key), frame) for key, frame in obj.items()])
        return frame_from_nested(obj, kind, name=name)
    if isinstance(obj, Iterable) and not isinstance(obj, str | bytes):
        items = list(obj)
        if items and all(is_frame(item) for item in items):
            return _from_frames(items, kind)
        if items and all(hasattr(item, "_fields") for item in items):
            return _from_tuples(items, kind, name=name)
        return frame_from_nested(items, kind, name=name)
    raise InputError(f"expected {kind} as a table, got {shown(type(obj).__name__)}")


def _run_called(system: str, obj: object) -> pl.DataFrame:
    """The run of a frame under the name that its dictionary has for it."""
    table = frame_from_pandas_or_polars(obj, "runs", name=system)
    if table["system"].n_unique() > 1:
        raise InputError(f"expected one system in the frame for {shown(system)}, got several")
    return table.with_columns(pl.lit(system).alias("system"))


def frame_from_pandas_or_polars(obj: object, kind: Kind, *, name: str) -> pl.DataFrame:
    """Make the plain table of a pandas or Polars data frame; named levels of a pandas index count as columns.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"qid": [1], "docno": ["d1"], "label": [2]})
    >>> frame_from_pandas_or_polars(frame, "judgments", name="qrels").row(0)
    ('1', 'd1', 2.0)
    """
    if isinstance(obj, pl.LazyFrame):
        obj = obj.collect()
    if isinstance(obj, pl.DataFrame):
        return canonical_frame(obj, kind, name=name, error=_error, names=_pyterrier_names(obj.columns, kind))
    if is_frame(obj):
        names, columns = pandas_columns(obj)
        frame = pl.DataFrame([column.alias(f"column_{i}") for i, column in enumerate(columns)])
        return canonical_frame(frame, kind, name=name, error=_error, names=_pyterrier_names(names, kind))
    raise InputError(f"expected a pandas or Polars data frame, got {shown(type(obj).__name__)}")


def _pyterrier_names(names: list[str], kind: Kind) -> list[str]:
    """Names of columns in which PyTerrier's ``name`` is the system; elsewhere ``name`` may be that of a document.

    >>> _pyterrier_names(["qid", "docno", "rank", "score", "name"], "runs")
    ['qid', 'docno', 'rank', 'score', 'system']
    """
    is_result = kind == "runs" and {"qid", "docno", "name"} <= set(names)
    system = COLUMNS["system"]
    if not is_result or any(fold(name) in tier for tier in system.tiers[: system.sure] for name in names):
        return names
    return ["system" if name == "name" else name for name in names]


def is_frame(obj: object) -> bool:
    """Whether something is a data frame of pandas or Polars."""
    if isinstance(obj, pl.DataFrame | pl.LazyFrame):
        return True
    return type(obj).__module__.startswith("pandas") and type(obj).__name__ == "DataFrame"


def _from_frames(frames: list[Any], kind: Kind) -> pl.DataFrame:
    """Make one table of several frames."""
    tables = [frame_from_pandas_or_polars(frame, kind, name=f"run{i}") for i, frame in enumerate(frames, start=1)]
    if kind == "metadata":
        return pl.concat(tables, how="diagonal_relaxed")
    return _together(tables)


def _together(tables: list[pl.DataFrame]) -> pl.DataFrame:
    columns = tables[0].columns
    other = next((table.columns for table in tables if set(table.columns) != set(columns)), None)
    if other is not None:
        raise InputError(f"expected frames with the same columns, got {', '.join(columns)} and {', '.join(other)}")
    return pl.concat([table.select(columns) for table in tables])


def _error(message: str, row: int | None) -> InputError:
    return InputError(message if row is None else f"row {row + 1}: {message}")


def pandas_columns(frame: Any) -> tuple[list[str], list[pl.Series]]:
    """Names and values, a named index first; names may repeat."""
    if any(level is not None for level in frame.index.names):
        frame = frame.reset_index()
    names = [str(name) for name in frame.columns]
    return names, [_pandas_column(names[i], frame.iloc[:, i]) for i in range(len(names))]


def _pandas_column(name: str, column: Any) -> pl.Series:
    """Copy numbers as they lie; anything else value by value, with whatever pandas calls missing as null."""
    if column.dtype.kind in "iufb" and type(column.dtype).__module__.startswith("numpy"):
        return pl.Series(name, column.to_numpy())
    values = column.tolist()
    for row in column.isna().to_numpy().nonzero()[0]:
        values[row] = None
    return column_of(name, values)


def _from_tuples(items: list[Any], kind: Kind, *, name: str) -> pl.DataFrame:
    """Make a table of named tuples with the same fields, such as ``Qrel`` and ``ScoredDoc`` of ir_measures."""
    fields = items[0]._fields
    for row, item in enumerate(items):
        if item._fields != fields:
            raise _error(f"expected the fields {', '.join(fields)}, got {', '.join(item._fields)}", row)
    columns = [column_of(field, values) for field, values in zip(fields, zip(*items, strict=True), strict=True)]
    return canonical_frame(pl.DataFrame(columns), kind, name=name, error=_error)


STDIN = Path("<stdin>")
"""Stands for standard input among paths."""
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


def open_source(path: Path) -> Source:
    """Read a file, or standard input."""
    return Source.stdin() if path is STDIN else Source.open(path)


def refuse_second_stdin(given: Mapping[str, Any]) -> None:
    """Raise where more than one of the things to read is standard input."""
    asking = [name for name, one in given.items() if "-" in _flat(one)]
    if len(asking) > 1:
        raise AdjudgeError(f"Standard input can be read once, got '-' for {' and '.join(asking)}.")


def _flat(given: Any) -> list[str]:
    """Paths among what was given, as they were written."""
    items = given.values() if isinstance(given, Mapping) else given if isinstance(given, list) else [given]
    return [item for item in items if isinstance(item, str)]
