"""Files, data frames and dictionaries in; a collection out, and from there into files again.

What was given means files, or is read as it is; a file's format is recognised, and a file in none is told what is wrong
with it, with its line. So are judgments that only the model can refuse: it sees tables, people see files.

Identifiers that runs and judgments spell differently are said, and mended where there is only one way to do it. A run
none of whose documents is judged scores 0. Mostly the spelling is to blame: ``id:ns:product::sku-1`` in one file,
``sku-1`` in the other. Then one side carries something more in all its identifiers: folders, an extension, a prefix or
a suffix. It is removed where exactly one such removal keeps the identifiers of that side distinct and makes a tenth of
the smaller side match; a note says so. Otherwise a warning shows identifiers of both sides.
"""

from __future__ import annotations

import glob
import os
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import polars as pl

from adjudge.checks import COUNT, Combine, Exclude, Names, Precision, checked
from adjudge.errors import AdjudgeError, InputError, shown, warn
from adjudge.formats.base import FORMATS, Format, Kind, format_for
from adjudge.formats.columns import naming_columns
from adjudge.formats.json import frame_from_object, names_pairs
from adjudge.formats.schema import Field, Records, Schema, is_frame
from adjudge.formats.source import STDIN, Source, open_source, unreadable
from adjudge.io import deliver
from adjudge.model.collection import (
    Collection,
    Metadata,
    Table,
    build_collection,
    encode_all_judgments,
    encode_metadata,
)
from adjudge.model.judgments import Judgments
from adjudge.model.provenance import Provenance
from adjudge.model.runs import Runs
from adjudge.model.scales import Scale, parse_scale
from adjudge.model.vocabulary import Vocabulary

_LOOKS: dict[Kind, tuple[Kind, str]] = {"judgments": ("runs", "a run"), "runs": ("judgments", "judgments")}


def read_table(source: Source, kind: Kind, format_name: str | None = None) -> tuple[pl.DataFrame, Format]:
    """Read one file into the plain table of its kind, and say in which format it was."""
    chosen = pick(source, kind) if format_name is None else FORMATS[format_name]
    if kind not in chosen.kinds:
        raise AdjudgeError(f"The format {chosen.name} holds {', '.join(sorted(chosen.kinds))}, not {kind}.")
    return chosen.read(source, kind), chosen


def pick(source: Source, kind: Kind) -> Format:
    """The first registered format that recognises the file.

    Where none does, the error is what the nearest one finds wrong, with its line.
    """
    if source.is_spreadsheet:
        return FORMATS["spreadsheet"]
    for candidate in FORMATS.values():
        if kind in candidate.kinds and candidate.sniff(source, kind):
            return candidate
    source.uncommented()  # a file that is empty, binary or all comments is refused as that
    other, name = _LOOKS.get(kind, (kind, ""))
    if name and FORMATS["trec"].sniff(source, other):
        raise source.error(
            f"expected {kind}, but this looks like {name}; "
            "on the command line judgments come before runs, in aj.read after them"
        )
    first = source.head(1)[0]
    nearest = _nearest(first, kind)
    if nearest is not None:
        FORMATS[nearest].read(source, kind)
    able = ", ".join(name for name, candidate in FORMATS.items() if kind in candidate.kinds)
    raise source.error(f"expected {kind} in a known format ({able}), got a file that begins with {shown(first)}")


def _nearest(line: str, kind: Kind) -> str | None:
    """Name the format that a line is nearest to by its shape, if any.

    >>> _nearest("q1 Q0 d,1 1 0.5", "runs"), _nearest("q1,d1", "runs"), _nearest("hello", "runs")
    ('trec', 'csv', None)
    """
    words = line.split()
    is_trec = kind != "metadata" and len(words) > 1
    if is_trec and words[1].upper() in ("Q0", "0"):
        return "trec"
    if "\t" in line.strip():
        return "tsv"
    if "," in line or ";" in line:
        return "csv"
    return "trec" if is_trec else None


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
        if kind != "runs" or not given or not all(map(is_path, given.values())) or names_pairs(given):
            return None
        return _files_by_system(given)
    if is_path(given) or (isinstance(given, list) and given and all(map(is_path, given))):
        return dict.fromkeys(expand(given, kind, note))
    return None


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


@dataclass(frozen=True)
class FileTable(Table):
    """A table and the format in which it lay in the file ``source``; None where it cannot be read again."""

    origin: Format | None = None


@contextmanager
def naming_lines(judgments: Sequence[Table], scale: Scale | None) -> Iterator[None]:
    """Give errors about judgments, which know only the names of files, the file and the line."""
    try:
        yield
    except InputError as error:
        names = ", ".join(table.source for table in judgments)
        row = _faulty_row(judgments, scale) if error.line is None and error.source == names else None
        if row is None:
            raise
        source, line = _place(judgments, row)
        message = str(error).removeprefix(str(InputError("", source=error.source)))
        raise InputError(message, source=source, line=line) from None


def _faulty_row(tables: Sequence[Table], scale: Scale | None) -> int | None:
    """Find the row, counted through all tables, that contradicts an earlier one or is above the scale."""
    columns = tables[0].frame.columns
    frame = pl.concat([table.frame.select(columns) for table in tables]).with_row_index("row")
    keys = [name for name in columns if name not in ("grade", "group")]
    clashes = frame.with_columns(
        first=pl.col("row").min().over(keys),  # the model names the pair that comes first
        given=pl.col("grade").first().over(keys),
    ).filter(pl.col("grade") != pl.col("given"))
    if clashes.height:
        return int(clashes.sort("first", "row")["row"][0])
    highest = np.inf if scale is None else scale.maximum
    outside = np.flatnonzero(frame["grade"].to_numpy() > highest)
    return int(outside[0]) if len(outside) else None


def _place(tables: Sequence[Table], row: int) -> tuple[str, int | None]:
    """Say in which file, and if possible in which line, a row lies."""
    for table in tables:
        if row < table.frame.height:
            break
        row -= table.frame.height
    if not isinstance(table, FileTable) or table.origin is None:
        return table.source, None
    try:
        return table.source, table.origin.line(Source.open(Path(table.source)), "judgments", row)
    except InputError:  # the file is no longer what it was
        return table.source, None


A = TypeVar("A")
B = TypeVar("B")
Progress = Callable[[int, int], None]


@checked(names=Names, depth=COUNT, score_precision=Precision)
def read(
    runs: Any,
    judgments: Any = None,
    metadata: Any = None,
    *,
    scale: str | Scale | None = None,
    teams: Mapping[str, str] | str | Path | None = None,
    format: str | None = None,  # noqa: A002 - the word users know
    judgments_format: str | None = None,
    metadata_format: str | None = None,
    columns: Mapping[str, str] | str | None = None,
    names: Names = "tag",
    artist_filter: bool | None = None,
    depth: int | None = None,
    score_precision: Precision = "single",
    progress: Progress | None = None,
) -> Collection:
    """Read a collection.

    ``runs``, ``judgments`` and ``metadata`` are each a file, a directory, a pattern such as ``runs/*.txt``, ``-`` for
    standard input, any number of those, a pandas or Polars frame, or nested dictionaries ``{system: {query: {document:
    score}}}`` and ``{query: {document: grade}}``; runs may be ``{system: file}``, too. Formats are recognised, or named
    with ``format`` (see ``adjudge formats``). ``columns`` says which columns of tables hold what where their names do
    not: ``{"query": "userId", "document": "movieId", "grade": "rating"}``.

    ``scale`` is the relevance scale (``broad``, ``fine``, ``binary``, ``0..4``); the highest grade found when not
    given. ``teams`` maps systems to teams, or is a file with columns system and team. ``names`` says whether a system
    is called after the tag in its file or after the ``file``. ``artist_filter`` removes the query itself and its
    artist's documents from every ranking; when not given, MIREX distance matrices and lists are filtered (by artist
    where metadata have one) and other formats are not. ``depth`` cuts rankings. Scores are compared in ``single``
    precision as trec_eval 9, pytrec_eval and ir_measures do, or in ``double`` as trec_eval 10 does.

    >>> collection = read({"a": {"q1": ["d1", "d2"]}}, {"q1": {"d2": 2}}, scale="broad")
    >>> collection.systems, collection.judgments
    (('a',), Judgments(1 grade, 1 query, scale broad (0..2)))
    """
    runs, judgments, metadata = settled(runs), settled(judgments), settled(metadata)
    refuse_second_stdin({"judgments": judgments, "runs": runs, "metadata": metadata, "teams": teams})
    inputs: Inputs = []
    with naming_columns(columns):
        judged = [] if judgments is None else _judged(judgments, judgments_format, inputs)
        known = None if metadata is None else _only(list(_tables(metadata, "metadata", metadata_format, inputs)))
        exclusion = _Exclusion(artist_filter, known)
        team_of, used = read_teams(teams, inputs), _scale(scale)
        tables = _tables(runs, "runs", format, inputs, names=names, exclude=exclusion, progress=progress)
        if judged:
            judged, tables = matched(judged, tables)
        with naming_lines(judged, used):
            collection = build_collection(
                tables, judged, known, scale=used, teams=team_of, depth=depth, score_precision=score_precision
            )
    exclusion.say()
    formats = {"format": format, "judgments_format": judgments_format, "metadata_format": metadata_format}
    chosen = {**formats, "columns": columns, "names": names, "artist_filter": exclusion.applied, "depth": depth}
    chosen["score_precision"] = score_precision
    settings = {name: value for name, value in chosen.items() if value not in (None, "tag", "single")}
    return replace(collection, provenance=Provenance(tuple(inputs), settings))


def read_judgments(
    given: Any,
    *,
    scale: str | Scale | None = None,
    format: str | None = None,  # noqa: A002 - the word users know
    columns: Mapping[str, str] | str | None = None,
) -> Judgments:
    """Judgments alone, checked as :func:`read` checks them."""
    with naming_columns(columns):
        tables, used = _judged(settled(given), format, []), _scale(scale)
        with naming_lines(tables, used):
            return encode_all_judgments(tables, Vocabulary(), Vocabulary(), used)


def read_metadata(
    given: Any,
    *,
    format: str | None = None,  # noqa: A002 - the word users know
    columns: Mapping[str, str] | str | None = None,
) -> Metadata:
    """Metadata alone, checked as :func:`read` checks them."""
    with naming_columns(columns):
        table = _only(list(_tables(settled(given), "metadata", format, [])))
    return encode_metadata(table.frame, documents=Vocabulary(), source=table.source)


def _scale(scale: str | Scale | None) -> Scale | None:
    if scale is None or isinstance(scale, Scale):
        return scale
    return parse_scale(str(scale))


class _Exclusion:
    """What to remove from rankings, by the format that they came in; remembers what was applied."""

    def __init__(self, asked: bool | None, metadata: Table | None) -> None:
        has_artists = metadata is not None and "artist" in metadata.frame.columns
        if asked and not has_artists:
            raise AdjudgeError("The artist filter needs metadata with a column 'artist'.")
        self.asked = asked
        self.automatic: Exclude = "artist" if has_artists else "query"
        self.applied: Exclude | None = None if asked is None else "artist" if asked else "nothing"

    def __call__(self, origin: Format | None) -> Exclude:
        if self.asked is None and origin is not None and origin.excludes_query:
            self.applied = self.automatic
            return self.automatic
        return "nothing" if self.asked is None or self.applied is None else self.applied

    def say(self) -> None:
        """Warn of what was removed without being asked."""
        if self.asked is None and self.applied is not None:
            removed = (
                "the query itself was removed; without the artist filter it stays."
                if self.applied == "query"
                else "the query itself and its artist's documents were removed; without the artist filter they stay."
            )
            warn(f"Rankings in MIREX formats: {removed}", stacklevel=3)


def _judged(given: Any, format_name: str | None, inputs: Inputs) -> list[Table]:
    """Tables of judgments that agree on whether there are sub-topics."""
    return _harmonised(list(_tables(given, "judgments", format_name, inputs)))


def _harmonised(tables: list[Table]) -> list[Table]:
    """Drop sub-topics that are the same everywhere; otherwise, tables without any have sub-topic ``0``.

    The second column of most qrels is always 0 and means nothing, but only all files together say so.
    """
    found: set[str] = set()
    for table in tables:
        found.update(table.frame["subtopic"].unique() if "subtopic" in table.frame.columns else ["0"])
    if len(found) < 2:
        return [replace(table, frame=table.frame.drop("subtopic", strict=False)) for table in tables]
    blank = pl.lit("0").alias("subtopic")
    return [
        table if "subtopic" in table.frame.columns else replace(table, frame=table.frame.with_columns(blank))
        for table in tables
    ]


def _tables(
    given: Any,
    kind: Kind,
    format_name: str | None,
    inputs: Inputs,
    *,
    names: Names = "tag",
    exclude: Callable[[Format | None], Exclude] = lambda _: "nothing",
    progress: Progress | None = None,
) -> Iterator[Table]:
    """Plain tables of whatever was given, one at a time; files are noted in ``inputs`` with their digests."""
    files = files_of(given, kind, note=lambda text: warn(text, stacklevel=4))
    if files is None:
        yield Table(frame_from_object(given, kind, name="run"), f"the {kind} given", exclude(None))
        return

    def load(path: Path) -> tuple[Table, str, str | None]:
        source = open_source(path)
        frame, origin = read_table(source, kind, format_name)
        system = files[path] or (source.stem if kind == "runs" and names == "file" else None)
        if system is not None:
            frame = _named(frame, system, source)
        elif origin.name == "trec" and kind == "runs":
            _note_several_tags(frame, source)
        table = FileTable(frame, source.name, exclude(origin), None if path is STDIN else origin)
        return table, source.sha256, source.sheet

    earlier: dict[tuple[str, str | None], tuple[str, str]] = {}
    for done, (table, digest, sheet) in enumerate(_one_ahead(load, list(files)), start=1):
        inputs.append((table.source, digest))
        if kind != "runs" or not _is_again(table, (digest, sheet), earlier):
            yield table
        del table  # while the next one is waited for
        if progress is not None:
            progress(done, len(files))


def _is_again(
    table: Table, content: tuple[str, str | None], earlier: dict[tuple[str, str | None], tuple[str, str]]
) -> bool:
    """Whether a file of runs came before under the same name; either way, say that it came before.

    ``content`` is the digest of the file and the sheet of it that was named.
    """
    this = (table.source, str(table.frame["system"][0]))
    source, system = earlier.setdefault(content, this)
    if source == table.source:
        return False
    outcome = "read once" if system == this[1] else f"the systems {shown(system)} and {shown(this[1])} are the same"
    warn(f"{table.source}: the same run as {source}; {outcome}.", stacklevel=5)
    return system == this[1]


def _one_ahead(load: Callable[[A], B], paths: Sequence[A]) -> Iterator[B]:
    """Load files in order, the next one already while the last one is used: reading and coding keep two cores busy."""
    if len(paths) == 1:  # and standard input can be interrupted
        yield load(paths[0])
        return
    context = copy_context()  # so that what reading says is kept where the caller keeps it
    with ThreadPoolExecutor(max_workers=1) as executor:
        ahead = executor.submit(context.run, load, paths[0])
        for path in paths[1:]:
            loaded = ahead.result()
            ahead = executor.submit(context.run, load, path)
            yield loaded
            del loaded
        yield ahead.result()


def _note_several_tags(frame: pl.DataFrame, source: Source) -> None:
    """Say that a TREC run is split by its tags."""
    tags = frame["system"].unique(maintain_order=True)
    if len(tags) > 1:
        few = ", ".join(tags[:3]) + (", …" if len(tags) > 3 else "")
        warn(
            f"{source.name}: {len(tags)} tags ({few}) in one file: each is read as a system of its own, "
            "where trec_eval reads one run.",
            stacklevel=3,
        )


def _named(frame: pl.DataFrame, system: str, source: Source) -> pl.DataFrame:
    """Call the only system of a file otherwise."""
    if frame["system"].n_unique() > 1:
        raise source.error("expected one system in a file that names it, got several tags")
    return frame.with_columns(pl.lit(system).alias("system"))


def _only(tables: list[Table]) -> Table:
    if len(tables) == 1:
        return tables[0]
    return Table(pl.concat([t.frame for t in tables], how="diagonal_relaxed"), ", ".join(t.source for t in tables))


_LEAST_SHARE = 0.1  # of the smaller side that must match before anything is removed
_TELLING = 20  # judged documents from which on it is strange that a run among others has none of them
_SAMPLE = 20  # rows that mostly suffice to see that a run matches: the top of a ranking
_FOLDERS = r"^.*[/\\]"
_EXTENSION = r"\.[A-Za-z0-9]{1,5}$"
_PLURALS = {"query": "queries", "document": "documents"}


def matched(judged: Sequence[Table], runs: Iterator[Table]) -> tuple[list[Table], Iterator[Table]]:
    """Judgments and runs whose queries and documents match where they can be made to.

    Judgments change by the first table of runs alone; what differs in a later one is removed from that one.
    """
    first = next(runs, None)
    if first is None:
        return list(judged), runs
    tables = list(judged)
    for column in _PLURALS:
        wanted = _unique(tables, column)
        if _has_match(first.frame[column], wanted):
            continue
        ids = first.frame[column].unique(maintain_order=True)
        if _removal(ids, wanted) is not None:
            continue
        removal = _removal(wanted, ids)
        if removal is None and column == "query":
            break  # runs for other queries say nothing of documents
        if removal is not None:
            _note(", ".join(table.source for table in judged), column, removal, "runs")
            tables = [replace(t, frame=t.frame.with_columns(removal(t.frame[column]))) for t in tables]
    return tables, _matched_runs(tables, chain([first], runs))


def _matched_runs(judged: Sequence[Table], runs: Iterator[Table]) -> Iterator[Table]:
    """The runs one by one; at the end, what is left without any judged document is said."""
    known = {column: _unique(judged, column) for column in _PLURALS}
    strangers: list[tuple[str, str]] = []
    n_tables = 0
    for table in runs:
        n_tables += 1
        for column, wanted in known.items():
            if _has_match(table.frame[column], wanted):
                continue
            ids = table.frame[column].unique(maintain_order=True)
            removal = _removal(ids, wanted)
            if removal is not None:
                _note(table.source, column, removal, "judgments")
                table = replace(table, frame=table.frame.with_columns(removal(table.frame[column])))  # noqa: PLW2901
            elif column == "query":
                break  # of which evaluating says more
            else:
                strangers.append((table.source, _some(ids)))
        yield table
        del table  # while the next one is waited for
    documents = known["document"]
    if strangers and (len(strangers) == n_tables or len(documents) >= _TELLING):
        sources = strangers[0][0] + (f" and {len(strangers) - 1} more" if len(strangers) > 1 else "")
        warn(
            f"{sources}: no document is judged. The runs have documents such as {strangers[0][1]}; "
            f"the judgments have {_some(documents)}.",
            stacklevel=4,
        )


@dataclass(frozen=True)
class _Removal:
    """Something to remove from all identifiers of one side, with an example of what that does."""

    what: str
    remove: Callable[[pl.Series], pl.Series]
    example: tuple[str, str]

    def __call__(self, column: pl.Series) -> pl.Series:
        return self.remove(column)


def _removal(ids: pl.Series, wanted: pl.Series) -> _Removal | None:
    """The only removal that makes ``ids`` match ``wanted`` and keeps them distinct; None for none or several."""
    found: list[tuple[_Removal, pl.Series]] = []
    for what, remove in _candidates(ids):
        stripped = remove(ids)
        if stripped.n_unique() < len(ids) or (stripped == "").any() or any(stripped.equals(s) for _, s in found):
            continue
        matches = stripped.is_in(wanted.implode())
        if matches.sum() >= max(1, _LEAST_SHARE * min(len(ids), len(wanted))):
            first = int(matches.arg_true()[0])
            found.append((_Removal(what, remove, (ids[first], stripped[first])), stripped))
    return found[0][0] if len(found) == 1 else None


def _candidates(ids: pl.Series) -> Iterator[tuple[str, Callable[[pl.Series], pl.Series]]]:
    """What identifiers may carry that others lack."""
    yield "folders", lambda column: column.str.replace(_FOLDERS, "")
    yield "extensions", lambda column: column.str.replace(_EXTENSION, "")
    yield "folders and extensions", lambda column: column.str.replace(_FOLDERS, "").str.replace(_EXTENSION, "")
    for prefix in _prefixes(ids):
        yield f"the prefix {shown(prefix)}", lambda column, p=prefix: column.str.strip_prefix(p)  # type: ignore[misc]
    for backwards in _prefixes(ids.str.reverse()):
        suffix = backwards[::-1]
        yield f"the suffix {shown(suffix)}", lambda column, s=suffix: column.str.strip_suffix(s)  # type: ignore[misc]


def _prefixes(ids: pl.Series) -> list[str]:
    """Beginnings that all identifiers share, up to a separator or to where a number begins.

    >>> _prefixes(pl.Series(["id:ns::sku-1", "id:ns::sku-2"])), _prefixes(pl.Series(["q301", "q302"]))
    (['id:', 'id:ns::', 'id:ns::sku-'], ['q'])
    """
    first, last = str(ids.min()), str(ids.max())
    common = first[: next((i for i, pair in enumerate(zip(first, last, strict=False)) if len({*pair}) > 1), len(first))]
    ends = [match.end() for match in re.finditer(r"[\W_]+|[^\W\d_]+(?=\d)", common)]
    if re.search(r"[^\W\d_]$", common) and ids.str.slice(len(common), 1).str.contains(r"^\d$").all():
        ends.append(len(common))
    return [common[:end] for end in ends]


def _has_match(ids: pl.Series, wanted: pl.Series) -> bool:
    """Whether any identifier is among the wanted ones, which are sorted; the first rows mostly tell."""
    for name in ids.head(_SAMPLE):
        place = bisect_left(wanted, name)
        if place < len(wanted) and wanted[place] == name:
            return True
    return bool(ids.is_in(wanted.implode()).any())


def _unique(tables: Sequence[Table], column: str) -> pl.Series:
    return pl.concat([table.frame[column] for table in tables]).unique().sort()


def _some(ids: pl.Series) -> str:
    return ", ".join(shown(name) for name in ids.head(2))


def _note(source: str, column: str, removal: _Removal, other: str) -> None:
    before, after = map(shown, removal.example)
    warn(
        f"{source}: {_PLURALS[column]} are read without {removal.what}, to match those of the {other}: "
        f"{before} is {after}.",
        stacklevel=5,
    )


def write(part: Runs | Judgments | Metadata, path: str | Path, *, format: str | None = None) -> None:  # noqa: A002
    """Write a collection's runs, judgments or metadata, in the format that the suffix or ``format`` names.

    ``.txt`` and no suffix at all mean TREC's runs and judgments; ``.gz``, ``.zst``, ``.bz2`` and ``.xz`` are
    compressed. The file appears when it is complete; an older one stays until then. ``-`` is standard output.
    """
    kinds: dict[type, Kind] = {Runs: "runs", Judgments: "judgments", Metadata: "metadata"}
    kind = kinds.get(type(part))
    if kind is None:
        raise AdjudgeError(f"Expected runs, judgments or metadata of a collection to write, got {type(part).__name__}")
    chosen = format_for(path, kind, format)
    data = chosen.write(part.table if isinstance(part, Metadata) else part.to_polars(), kind)
    deliver(data, path)


def convert(
    given: Any,
    target: str | Path,
    *,
    kind: Kind,
    format: str | None = None,  # noqa: A002 - the word users know
    to: str | None = None,
    names: Names | None = None,
    combine: Combine | None = None,
    columns: Mapping[str, str] | str | None = None,
) -> None:
    """Read files of one ``kind`` and write them as one file; ``to`` names its format where the suffix does not.

    ``names`` is for runs: whether systems are called after their ``tag`` or their ``file``. ``combine`` is for
    judgments: it writes one grade a pair, combined over assessors (and the highest over sub-topics). ``columns`` is as
    for :func:`~adjudge.read`.
    """
    for option, value, meant in (("names", names, "runs"), ("combine", combine, "judgments")):
        if value is not None and kind != meant:
            raise AdjudgeError(f"'{option}' is for {meant}, not for {kind}.")
    given = settled(given)
    format_for(target, kind, to)  # refused before any work is done
    _refuse_input(given, target, kind)
    if kind == "runs":
        collection = read(given, format=format, names=names or "tag", artist_filter=False, columns=columns)
        write(collection.runs, target, format=to)
    elif kind == "judgments":
        judgments = read_judgments(given, format=format, columns=columns)
        write(judgments if combine is None else combined(judgments, combine), target, format=to)
    else:
        write(read_metadata(given, format=format, columns=columns), target, format=to)


def combined(judgments: Judgments, how: Combine) -> Judgments:
    """Judgments with one grade a pair, as measures see them."""
    pool = judgments.combined(how).pool
    query = np.repeat(np.arange(len(pool.offsets) - 1, dtype=np.int32), np.diff(pool.offsets))
    return replace(
        judgments,
        query=query,
        document=pool.documents,
        grade=pool.grades,
        assessor=None,
        assessors=(),
        subtopic=None,
        subtopics=(),
    )


def _refuse_input(given: Any, target: str | Path, kind: Kind) -> None:
    """Raise where the target is one of the files to read."""
    if str(target) == "-" or not os.path.exists(target):
        return
    for path in files_of(given, kind) or ():
        if os.path.exists(path) and os.path.samefile(path, target):
            raise AdjudgeError(f"{target}: is an input, and would be overwritten")


Inputs = list[tuple[str, str]]
"""Names and digests of the files that were read."""

_TEAMS = Schema((Field("system", needed=True), Field("team", needed=True)), orders=(("system", "team"),))
_STRATA = Schema(
    (Field("query", needed=True), Field("stratum", needed=True)), orders=(("query", "stratum"),), telling=("query",)
)


def read_teams(teams: Mapping[str, str] | str | Path | None, inputs: Inputs) -> Mapping[str, str] | None:
    """Teams by system, as given or from a table; the file is noted in ``inputs`` with its digest.

    Columns are system and team, or what a header says.
    """
    if teams is None or isinstance(teams, Mapping):
        return teams
    source = open_source(teams)
    inputs.append((source.name, source.sha256))
    return _belonging(_TEAMS.read(source), "system", "team")


def read_strata(path: str | Path) -> dict[str, str]:
    """Strata by query from a table, with a header or without.

    Columns are query and stratum; of two columns, the one that is not called a query is the stratum.
    """
    table = _STRATA.open(path)
    query = table.place(_STRATA.field("query"))
    if query is not None and len(table.names) == 2:
        table = replace(table, names=["query", "stratum"] if query == 0 else ["stratum", "query"])
    return _belonging(_STRATA.read(table), "query", "stratum")


def _belonging(records: Records, thing: str, whole: str) -> dict[str, str]:
    """What each thing belongs to; one that belongs to two is refused."""
    found: dict[str, str] = {}
    for row, (name, value) in enumerate(zip(records[thing], records[whole], strict=True)):
        if found.setdefault(name, value) != value:
            came = f"{shown(found[name])} and {shown(value)}"
            raise records.table.error(f"expected one {whole} for the {thing} {shown(name)}, got {came}", row)
    return found
