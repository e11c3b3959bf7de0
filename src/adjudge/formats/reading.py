"""Files, data frames and dictionaries in, a collection out; and from there into files again.

The format of a file is recognised; where none fits, the error says what is wrong, with the line. Runs and judgments may
spell identifiers differently: ``id:ns:product::sku-1`` in one file, ``sku-1`` in the other. Then no document of a run
is judged, and the run would score 0. Mostly one side carries something more in all its identifiers: folders, an
extension, a prefix or a suffix. It is removed, with a note, where exactly one such removal keeps the identifiers of
that side distinct and makes a tenth of the smaller side match. Otherwise a warning shows identifiers of both sides.
"""

from __future__ import annotations

import glob
import hashlib
import logging
import os
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, SupportsFloat, TypeAlias, TypeVar

import polars as pl

from adjudge.checks import COUNT, Combine, Exclude, Names, Precision, checked
from adjudge.errors import AdjudgeError, InputError, shown, warn
from adjudge.extras import need
from adjudge.formats.base import FORMATS, Format, Kind, format_for
from adjudge.formats.columns import naming_columns
from adjudge.formats.schema import Field, Frame, Records, Schema, is_frame
from adjudge.formats.source import STDIN, Source, open_source, unreadable
from adjudge.formats.tables import frame_from_object, names_pairs
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
from adjudge.text import listed, plural

PathLike: TypeAlias = str | os.PathLike[str]
Paths: TypeAlias = PathLike | Iterable[PathLike]
"""A file, a directory, a pattern such as ``runs/*.txt``, ``-`` for standard input, or any number of these."""
TableLike: TypeAlias = (
    PathLike
    | Frame
    | Iterable[PathLike | Frame | Mapping[str, object] | tuple[object, ...]]
    | Mapping[str, Sequence[object]]
)
"""Files, data frames of pandas or Polars, records (dictionaries or named tuples), or lists of values by column."""
_Number: TypeAlias = SupportsFloat | str
_Ranking: TypeAlias = Mapping[Any, _Number] | Sequence[object]  # keys become text, whatever they are
RunsLike: TypeAlias = (
    TableLike | Mapping[str, PathLike | Frame] | Mapping[Any, Mapping[Any, _Ranking]] | Mapping[Any, _Ranking]
)
"""Runs as files or tables (see ``read``), as files or data frames by system, or as nested dictionaries ``{system:
{query: {document: score}}}``; a list of documents in rank order may stand for ``{document: score}``."""
JudgmentsLike: TypeAlias = (
    TableLike
    | Mapping[Any, Mapping[Any, _Number]]
    | Mapping[Any, Mapping[Any, Mapping[Any, _Number]]]
    | Mapping[Any, Sequence[Sequence[object]]]
)
"""Judgments as files or tables (see ``read``), as nested dictionaries ``{query: {document: grade}}`` or ``{query:
{document: {assessor: grade}}}``, or as partially ordered lists ``{query: [[document, document], [document]]}``."""
MetadataLike: TypeAlias = TableLike | Mapping[Any, Mapping[str, object]]
"""Metadata as files or tables (see ``read``), or as dictionaries ``{document: {column: value}}``."""

T = TypeVar("T")
Inputs = list[tuple[str, str]]
"""Names and digests of the files that were read."""
Note = Callable[[str], None]
Progress = Callable[[int, int], None]

IR_DATASETS = "ir_datasets:"
_OTHERS: dict[Kind, tuple[Kind, str]] = {"judgments": ("runs", "a run"), "runs": ("judgments", "judgments")}
_ABOUT = {"readme", "license", "licence", "copying", "changelog", "notice", "citation", "makefile"}
_NO_DATA = {".md", ".rst", ".pdf", ".html", ".htm", ".tex", ".bib", ".log", ".py", ".ipynb", ".sh", ".png", ".jpg"}


def read_table(source: Source, kind: Kind, format_name: str | None = None) -> tuple[pl.DataFrame, Format]:
    """The plain table of a file, and its format."""
    chosen = pick(source, kind) if format_name is None else FORMATS[format_name]
    if kind not in chosen.kinds:
        raise AdjudgeError(f"The format {chosen.name} holds {', '.join(sorted(chosen.kinds))}, not {kind}.")
    return chosen.read(source, kind), chosen


def pick(source: Source, kind: Kind) -> Format:
    """The first registered format that recognises the file.

    Where none does, the error says what the nearest one finds wrong, with the line.
    """
    if source.is_spreadsheet:
        return FORMATS["spreadsheet"]
    for candidate in FORMATS.values():
        if kind in candidate.kinds and candidate.sniff(source, kind):
            return candidate
    source.uncommented()  # refuses a file that is empty, binary or all comments
    other, name = _OTHERS.get(kind, (kind, ""))
    if name and FORMATS["trec"].sniff(source, other):
        raise source.error(
            f"expected {kind}, but this looks like {name}; "
            "on the command line judgments come before runs, in aj.read after them"
        )
    first = source.head(1)[0]
    words = first.split()
    is_like_trec = kind != "metadata" and len(words) > 1
    if is_like_trec and words[1].upper() in ("Q0", "0"):
        FORMATS["trec"].read(source, kind)
    elif "\t" in first.strip():
        FORMATS["tsv"].read(source, kind)
    elif "," in first or ";" in first:
        FORMATS["csv"].read(source, kind)
    elif is_like_trec:
        FORMATS["trec"].read(source, kind)
    able = ", ".join(name for name, candidate in FORMATS.items() if kind in candidate.kinds)
    raise source.error(f"expected {kind} in a known format ({able}), got a file that begins with {shown(first)}")


def settled(given: object) -> Any:
    """A list instead of an iterable that may be walked only once; sorted if it has no order."""
    if isinstance(given, str | bytes | os.PathLike | Mapping) or is_frame(given) or not isinstance(given, Iterable):
        return given
    items = list(given)
    return sorted(items, key=str) if isinstance(given, set | frozenset) else items


def _is_path(given: object) -> bool:
    return isinstance(given, str | os.PathLike)


def files_of(given: object, kind: Kind, note: Note = lambda text: None) -> dict[Path, str | None] | None:
    """The files that were given, with the system that each is named after, if any; None where no files were given.

    Files are given as a path, a list of paths, or for runs as a dictionary ``{system: path}``.
    """
    if not isinstance(given, Mapping):
        paths: list[Any] = given if isinstance(given, list) else [given]
        return dict.fromkeys(expand(paths, kind, note)) if paths and all(map(_is_path, paths)) else None
    if kind != "runs" or not given or not all(map(_is_path, given.values())) or names_pairs(given):
        return None
    files: dict[Path, str | None] = {}
    for system, item in given.items():
        found = expand(item, "runs")
        if len(found) != 1 or found[0] in files:
            came = f"{len(found)} files" if len(found) != 1 else f"that of {shown(files[found[0]])}"
            raise InputError(f"expected one file for the system {shown(system)}, got {came}", source=str(item))
        files[found[0]] = str(system)
    return files


def expand(given: Paths, kind: str, note: Note = lambda text: None) -> list[Path]:
    """The files of paths, directories and patterns, each once, sorted within a pattern or directory.

    ``-`` is standard input. Among several files, those that are not data by their names (``README.md``) are skipped.
    ``note`` is told about these, and about files that are given twice.
    """
    found: dict[Path, None] = {}
    for item in [given] if isinstance(given, str | os.PathLike) else given:
        if item == "":  # an unset variable of a shell, not the folder here
            raise InputError(f"expected a file with {kind}, got an empty name")
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
        note(f"{path}: skipped, as its name is not that of {kind}.")
    return data


def _inside(item: PathLike, kind: str) -> list[Path]:
    """The files of one path, directory or pattern."""
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


def _refuse_second_stdin(**given: object) -> None:
    """Raise where more than one of the things to read is standard input."""
    asking = []
    for name, paths in given.items():
        items = paths.values() if isinstance(paths, Mapping) else paths if isinstance(paths, list) else [paths]
        if any(isinstance(item, str) and item == "-" for item in items):
            asking.append(name)
    if len(asking) > 1:
        raise AdjudgeError(f"Standard input can be read once, got '-' for {listed(asking)}.")


@checked(names=Names, depth=COUNT, score_precision=Precision)
def read(
    runs: RunsLike,
    judgments: JudgmentsLike | None = None,
    metadata: MetadataLike | None = None,
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
    score}}}`` and ``{query: {document: grade}}``; runs may be ``{system: file}``, too, and judgments the id of a data
    set of ir_datasets, ``ir_datasets:msmarco-passage/trec-dl-2019/judged``. Formats are recognised, or named
    with ``format`` (see ``adjudge formats``). ``columns`` says which columns of tables hold what where their names do
    not: ``{"query": "userId", "document": "movieId", "grade": "rating"}``.

    ``scale`` is the relevance scale (``broad``, ``fine``, ``binary``, ``0..4``); if not given, it ends at the highest
    grade. ``teams`` maps systems to teams, or is a file with columns system and team. ``names`` says whether a system
    is named after the tag in its file or after the ``file``. ``artist_filter`` removes the query itself and its
    artist's documents from every ranking; if not given, MIREX distance matrices and lists are filtered (by artist
    where metadata have one) and other formats are not. ``depth`` cuts rankings. Scores are compared in ``single``
    precision as trec_eval 9, pytrec_eval and ir_measures do, or in ``double`` as trec_eval 10 does.

    >>> collection = read({"a": {"q1": ["d1", "d2"]}}, {"q1": {"d2": 2}}, scale="broad")
    >>> collection.systems, collection.judgments
    (('a',), Judgments(1 grade, 1 query, scale broad (0..2)))
    """
    runs, judgments, metadata = settled(runs), settled(judgments), settled(metadata)
    _refuse_second_stdin(judgments=judgments, runs=runs, metadata=metadata, teams=teams)
    inputs: Inputs = []
    with naming_columns(columns):
        judged = [] if judgments is None else _judgment_tables(judgments, judgments_format, inputs)
        known = None if metadata is None else _metadata_table(metadata, metadata_format, inputs)
        exclusion = _Exclusion(artist_filter, known)
        team_of, used = read_teams(teams, inputs), _as_scale(scale)
        tables = _tables(runs, "runs", format, inputs, names=names, exclude=exclusion, progress=progress)
        if judged:
            judged, tables = matched(judged, tables)
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
    given: JudgmentsLike,
    *,
    scale: str | Scale | None = None,
    format: str | None = None,  # noqa: A002 - the word users know
    columns: Mapping[str, str] | str | None = None,
) -> Judgments:
    """Judgments alone, checked as :func:`read` checks them."""
    with naming_columns(columns):
        tables = _judgment_tables(settled(given), format, [])
        return encode_all_judgments(tables, Vocabulary(), Vocabulary(), _as_scale(scale))


def read_metadata(
    given: MetadataLike,
    *,
    format: str | None = None,  # noqa: A002 - the word users know
    columns: Mapping[str, str] | str | None = None,
) -> Metadata:
    """Metadata alone, checked as :func:`read` checks them."""
    with naming_columns(columns):
        table = _metadata_table(settled(given), format, [])
    return encode_metadata(table.frame, documents=Vocabulary(), source=table.source)


def _as_scale(scale: str | Scale | None) -> Scale | None:
    return scale if scale is None or isinstance(scale, Scale) else parse_scale(str(scale))


class _Exclusion:
    """What to remove from rankings, by the format of their file; remembers what was applied."""

    def __init__(self, asked: bool | None, metadata: Table | None) -> None:
        has_artists = metadata is not None and "artist" in metadata.frame.columns
        if asked and not has_artists:
            raise AdjudgeError("The artist filter needs metadata with a column 'artist'.")
        self.asked = asked
        self.automatic: Exclude = "artist" if has_artists else "query"
        self.applied: Exclude | None = None if asked is None else "artist" if asked else "nothing"

    def __call__(self, origin: Format | None) -> Exclude:
        if self.asked is None:
            if origin is None or not origin.excludes_query:
                return "nothing"
            self.applied = self.automatic
        return self.applied or "nothing"

    def say(self) -> None:
        """Warn about what was removed by default."""
        if self.asked is None and self.applied is not None:
            what = "the query itself" if self.applied == "query" else "the query itself and its artist's documents"
            was = "was removed; it stays" if self.applied == "query" else "were removed; they stay"
            warn(f"Rankings in MIREX formats: {what} {was} without the artist filter.", stacklevel=3)


def _judgment_tables(given: object, format_name: str | None, inputs: Inputs) -> list[Table]:
    """Tables of judgments; sub-topics that are the same everywhere are dropped, else tables without any get ``0``.

    The second column of most qrels is always 0 and means nothing, but only all files together show it.
    """
    if isinstance(given, str) and given.startswith(IR_DATASETS):
        given = records_of_dataset(given, inputs)
    tables = list(_tables(given, "judgments", format_name, inputs))
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


def records_of_dataset(name: str, inputs: Inputs) -> list[Any]:
    """The judgments of ``ir_datasets:ID``, which that package downloads where it has not done so before."""
    need("datasets", f"{name} needs")
    import ir_datasets

    logger = logging.getLogger("ir_datasets")
    logger.addFilter(_is_no_download_error)
    try:
        dataset = ir_datasets.load(name.removeprefix(IR_DATASETS))
        if not dataset.has_qrels():
            raise InputError("expected a data set with judgments, got one without", source=name)
        records = list(dataset.qrels_iter())
    except KeyError:
        raise InputError("expected the id of a data set of ir_datasets, got an unknown one", source=name) from None
    except (OSError, RuntimeError) as error:
        if addresses := _addresses(error):
            raise InputError(f"could not be downloaded from {listed(addresses, 'or')}", source=name) from None
        raise InputError(f"cannot be read: {shown(error, 200)}", source=name) from None
    finally:
        logger.removeFilter(_is_no_download_error)
    if not records:
        raise InputError("expected judgments, got none", source=name)
    inputs.append((name, hashlib.sha256("\n".join(map(str, records)).encode()).hexdigest()))
    return records


def _is_no_download_error(record: logging.LogRecord) -> bool:
    """Whether a line of ir_datasets is to be shown: errors of downloads are said once, where all of them fail."""
    return not record.getMessage().startswith(("download error", "Download failed"))


def _addresses(error: Exception) -> list[str]:
    """Where a download was tried: ir_datasets tells it of several places, the error of requests of a single one."""
    tried = error.args[1] if len(error.args) == 2 and isinstance(error.args[1], list) else []
    places = [place for place, _ in tried] or [getattr(error, "request", None)]
    return [place.url for place in places if hasattr(place, "url")]


def _metadata_table(given: object, format_name: str | None, inputs: Inputs) -> Table:
    tables = list(_tables(given, "metadata", format_name, inputs))
    if len(tables) == 1:
        return tables[0]
    names = ", ".join(table.source for table in tables)
    return Table(pl.concat([table.frame for table in tables], how="diagonal_relaxed"), names)


def _tables(
    given: object,
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

    def load(path: Path) -> tuple[Table, tuple[str, str | None]]:
        source = open_source(path)
        frame, origin = read_table(source, kind, format_name)
        system = files[path] or (source.stem if kind == "runs" and names == "file" else None)
        if kind == "runs":
            frame = _named_run(frame, system, source, origin)
        line = (lambda row: None) if path is STDIN else partial(_line_of, path, origin, kind)
        return Table(frame, source.name, exclude(origin), line), (source.sha256, source.sheet)

    earlier: dict[tuple[str, str | None], tuple[str, str]] = {}  # source and system by digest and sheet
    for done, (table, content) in enumerate(_load_ahead(load, list(files)), start=1):
        inputs.append((table.source, content[0]))
        if kind != "runs" or not _is_again(table, content, earlier):
            yield table
        del table  # while the next one is loaded
        if progress is not None:
            progress(done, len(files))


def _named_run(frame: pl.DataFrame, system: str | None, source: Source, origin: Format) -> pl.DataFrame:
    """A run under the name of its system, if that is given; several tags in a TREC file are noted."""
    if system is not None:
        if frame["system"].n_unique() > 1:
            raise source.error("expected one system in a file that names it, got several tags")
        return frame.with_columns(pl.lit(system).alias("system"))
    tags = frame["system"].unique(maintain_order=True).to_list() if origin.name == "trec" else []
    if len(tags) > 1:
        found = f"{len(tags)} tags in one file ({listed(tags, most=3)})"
        warn(f"{source.name}: {found} are read as one system each; trec_eval reads one run.", stacklevel=3)
    return frame


def _line_of(path: Path, origin: Format, kind: Kind, row: int) -> int | None:
    """The line of a row, from the file, which is read again; None where it has changed."""
    with suppress(InputError):
        return origin.line(Source.open(path), kind, row)
    return None


def _is_again(
    table: Table, content: tuple[str, str | None], earlier: dict[tuple[str, str | None], tuple[str, str]]
) -> bool:
    """Whether a run came before under the same name; warns also where it came under another."""
    this = (table.source, str(table.frame["system"][0]))
    source, system = earlier.setdefault(content, this)
    if source == table.source:
        return False
    outcome = "read once" if system == this[1] else f"the systems {shown(system)} and {shown(this[1])} are the same"
    warn(f"{table.source}: the same run as {source}; {outcome}.", stacklevel=5)
    return system == this[1]


def _load_ahead(load: Callable[[Path], T], paths: Sequence[Path]) -> Iterator[T]:
    """Load files in order, the next one while the last one is used: reading and coding keep two cores busy."""
    if len(paths) == 1:  # and standard input can be interrupted
        yield load(paths[0])
        return
    context = copy_context()  # so that warnings are kept where the caller keeps them
    with ThreadPoolExecutor(max_workers=1) as executor:
        ahead = executor.submit(context.run, load, paths[0])
        for path in paths[1:]:
            loaded = ahead.result()
            ahead = executor.submit(context.run, load, path)
            yield loaded
            del loaded
        yield ahead.result()


_LEAST_SHARE = 0.1  # of the smaller side that must match before anything is removed
_TELLING = 20  # judged documents from which on a run without any of them, among others, deserves a warning
_SAMPLE = 20  # rows that mostly suffice to see that a run matches: the top of a ranking
_FOLDERS = r"^.*[/\\]"
_EXTENSION = r"\.[A-Za-z0-9]{1,5}$"
_MATCHED = ("query", "document")


def matched(judged: Sequence[Table], runs: Iterator[Table]) -> tuple[list[Table], Iterator[Table]]:
    """Judgments and runs whose queries and documents match where they can be made to.

    Judgments are changed for the first table of runs alone; differences in later ones are removed from these.
    """
    first = next(runs, None)
    if first is None:
        return list(judged), runs
    tables = list(judged)
    for column in _MATCHED:
        wanted = _unique(tables, column)
        if _has_match(first.frame[column], wanted):
            continue
        ids = first.frame[column].unique(maintain_order=True)
        if _find_removal(ids, wanted) is not None:
            continue
        removal = _find_removal(wanted, ids)
        if removal is not None:
            tables = _remove(removal, column, tables, "runs")
        elif column == "query":
            break  # runs for other queries say nothing about documents
    return tables, _matched_runs(tables, chain([first], runs))


def _matched_runs(judged: Sequence[Table], runs: Iterator[Table]) -> Iterator[Table]:
    """The runs one by one; at the end, a warning about those without any judged document."""
    known = {column: _unique(judged, column) for column in _MATCHED}
    strangers: list[tuple[str, pl.Series]] = []
    n_tables = 0
    for table in runs:
        n_tables += 1
        for column, wanted in known.items():
            if _has_match(table.frame[column], wanted):
                continue
            ids = table.frame[column].unique(maintain_order=True)
            removal = _find_removal(ids, wanted)
            if removal is not None:
                (table,) = _remove(removal, column, [table], "judgments")  # noqa: PLW2901
            elif column == "query":
                break  # evaluating says more about it
            else:
                strangers.append((table.source, ids.head(2)))
        yield table
        del table  # while the next one is loaded
    documents = known["document"]
    if strangers and (len(strangers) == n_tables or len(documents) >= _TELLING):
        sources = listed([source for source, _ in strangers], most=1)
        theirs, ours = (listed([shown(name) for name in ids]) for ids in (strangers[0][1], documents.head(2)))
        said = f"The runs have documents such as {theirs}; the judgments have {ours}"
        warn(f"{sources}: no document is judged. {said}.", stacklevel=4)


class _Removal(NamedTuple):
    """Something to remove from all identifiers of one side, with an identifier before and after."""

    what: str
    remove: Callable[[pl.Series], pl.Series]
    before: str
    after: str


def _remove(removal: _Removal, column: str, tables: Sequence[Table], other: str) -> list[Table]:
    """The tables with changed identifiers, and a note about it."""
    sources, example = ", ".join(table.source for table in tables), f"{shown(removal.before)} is {shown(removal.after)}"
    said = f"{plural(column)} are read without {removal.what}, to match those of the {other}: {example}"
    warn(f"{sources}: {said}.", stacklevel=5)
    return [replace(t, frame=t.frame.with_columns(removal.remove(t.frame[column]))) for t in tables]


def _find_removal(ids: pl.Series, wanted: pl.Series) -> _Removal | None:
    """The only removal that makes ``ids`` match ``wanted`` and keeps them distinct; None for none or several."""
    found: list[tuple[_Removal, pl.Series]] = []
    for what, remove in _candidates(ids):
        stripped = remove(ids)
        if stripped.n_unique() < len(ids) or (stripped == "").any() or any(stripped.equals(s) for _, s in found):
            continue
        matches = stripped.is_in(wanted.implode())
        if matches.sum() >= max(1, _LEAST_SHARE * min(len(ids), len(wanted))):
            first = int(matches.arg_true()[0])
            found.append((_Removal(what, remove, ids[first], stripped[first]), stripped))
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
    """Whether any identifier is among the wanted ones, which are sorted; the first rows mostly suffice."""
    for name in ids.head(_SAMPLE):
        i = bisect_left(wanted, name)
        if i < len(wanted) and wanted[i] == name:
            return True
    return bool(ids.is_in(wanted.implode()).any())


def _unique(tables: Sequence[Table], column: str) -> pl.Series:
    return pl.concat([table.frame[column] for table in tables]).unique().sort()


def write(part: Runs | Judgments | Metadata, path: str | Path, *, format: str | None = None) -> None:  # noqa: A002
    """Write a collection's runs, judgments or metadata, in the format that the suffix or ``format`` names.

    ``.txt`` and no suffix mean TREC's runs and judgments; ``.gz``, ``.zst``, ``.bz2`` and ``.xz`` are compressed. The
    file appears when it is complete; an older one stays until then. ``-`` is standard output.
    """
    kinds: dict[type, Kind] = {Runs: "runs", Judgments: "judgments", Metadata: "metadata"}
    kind = kinds.get(type(part))
    if kind is None:
        raise AdjudgeError(f"Expected runs, judgments or metadata of a collection to write, got {type(part).__name__}")
    chosen = format_for(path, kind, format)
    data = chosen.write(part.table if isinstance(part, Metadata) else part.to_polars(), kind)
    deliver(data, path)


def convert(
    given: RunsLike | JudgmentsLike | MetadataLike,
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

    ``names`` is for runs: whether systems are named after their ``tag`` or their ``file``. ``combine`` is for
    judgments: it writes one grade per pair, combined over assessors (and the highest over sub-topics). ``columns`` is
    as for :func:`~adjudge.read`.
    """
    for option, value, meant in (("names", names, "runs"), ("combine", combine, "judgments")):
        if value is not None and kind != meant:
            raise AdjudgeError(f"'{option}' is for {meant}, not for {kind}.")
    given = settled(given)
    chosen = format_for(target, kind, to)
    if str(target) != "-" and os.path.exists(target):
        inputs = [path for path in files_of(given, kind) or () if os.path.exists(path)]
        if any(os.path.samefile(path, target) for path in inputs):
            raise AdjudgeError(f"{target}: is an input, and would be overwritten")
    if kind == "runs":
        collection = read(given, format=format, names=names or "tag", artist_filter=False, columns=columns)
        frame = collection.runs.to_polars()
    elif kind == "judgments":
        judgments = read_judgments(given, format=format, columns=columns)
        frame = judgments.to_polars() if combine is None else judgments.combined(combine).pairs()
    else:
        frame = read_metadata(given, format=format, columns=columns).table
    deliver(chosen.write(frame, kind), target)


_TEAMS = Schema((Field("system", needed=True), Field("team", needed=True)), orders=(("system", "team"),))
_STRATA = Schema(
    (Field("query", needed=True), Field("stratum", needed=True)), orders=(("query", "stratum"),), telling=("query",)
)


def read_teams(teams: Mapping[str, str] | str | Path | None, inputs: Inputs) -> Mapping[str, str] | None:
    """Teams by system, as given or from a table (system and team, or with a header); ``inputs`` notes the file."""
    if teams is None or isinstance(teams, Mapping):
        return teams
    source = open_source(teams)
    inputs.append((source.name, source.sha256))
    return _read_pairs(_TEAMS.read(source), "system", "team")


def read_strata(path: str | Path) -> dict[str, str]:
    """Strata by query from a table of queries and strata, with a header or without.

    Of two columns, the one that is not named as a query is the stratum.
    """
    table = _STRATA.open(path)
    query = table.place(_STRATA.field("query"))
    if query is not None and len(table.names) == 2:
        table = replace(table, names=["query", "stratum"] if query == 0 else ["stratum", "query"])
    return _read_pairs(_STRATA.read(table), "query", "stratum")


def _read_pairs(records: Records, key: str, value: str) -> dict[str, str]:
    """The value of each key; a key with two values is refused."""
    found: dict[str, str] = {}
    for row, (name, text) in enumerate(zip(records[key], records[value], strict=True)):
        if found.setdefault(name, text) != text:
            came = f"{shown(found[name])} and {shown(text)}"
            raise records.table.error(f"expected one {value} for the {key} {shown(name)}, got {came}", row)
    return found
