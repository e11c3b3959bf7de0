"""Files, data frames and dictionaries in; a collection out."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from adjudge.errors import AdjudgeError, InputError, shown
from adjudge.formats.base import FORMATS, Format, Kind
from adjudge.formats.source import Source
from adjudge.model.coding import Vocabulary
from adjudge.model.collection import Collection, Exclude, Table, build_collection, encode_all_judgments
from adjudge.model.judgments import Judgments
from adjudge.model.metadata import Metadata, encode_metadata
from adjudge.model.provenance import Provenance
from adjudge.model.scales import Scale, parse_scale

if TYPE_CHECKING:
    import polars as pl

T = TypeVar("T")
Names = Literal["tag", "file"]
Progress = Callable[[int, int], None]


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
    names: Names = "tag",
    artist_filter: bool | None = None,
    depth: int | None = None,
    progress: Progress | None = None,
) -> Collection:
    """Read a collection.

    ``runs``, ``judgments`` and ``metadata`` are each a file, a directory, a pattern such as ``runs/*.txt``, a list of
    those, a pandas or Polars frame, or nested dictionaries ``{system: {query: {document: score}}}`` and ``{query:
    {document: grade}}``. Formats are recognised, or named with ``format`` (see ``adjudge formats``).

    ``scale`` is the relevance scale (``broad``, ``fine``, ``binary``, ``0..4``); the highest grade found when not
    given. ``teams`` maps systems to teams, or is a file with columns system and team. ``names`` says whether a system
    is called after the tag in its file or after the ``file``. ``artist_filter`` removes the query itself and its
    artist's documents from every ranking; when not given, MIREX distance matrices and lists are filtered (by artist
    where metadata have one) and other formats are not. ``depth`` cuts rankings.

    >>> collection = read({"a": {"q1": ["d1", "d2"]}}, {"q1": {"d2": 2}}, scale="broad")
    >>> collection
    Collection(Runs(1 systems, 2 documents retrieved), Judgments(1 grades, 1 queries, scale broad (0..2)))
    """
    inputs: list[tuple[str, str]] = []
    if names not in ("tag", "file"):
        raise AdjudgeError(f"'names' must be tag or file, got {shown(names)}")
    judged = list(_tables(judgments, "judgments", judgments_format, inputs)) if judgments is not None else []
    known = _only(list(_tables(metadata, "metadata", metadata_format, inputs))) if metadata is not None else None
    if artist_filter and (known is None or "artist" not in known.frame.columns):
        raise AdjudgeError("The artist filter needs metadata with a column 'artist'.")
    has_artists = known is not None and "artist" in known.frame.columns
    read_runs = _tables(
        runs,
        "runs",
        format,
        inputs,
        names=names,
        exclude=_exclusion(artist_filter, has_artists),
        progress=progress,
    )
    collection = build_collection(
        read_runs,
        judged,
        known,
        scale=_scale(scale),
        teams=_teams(teams),
        depth=depth,
    )
    provenance = Provenance(tuple(inputs), {"depth": depth} if depth is not None else {})
    return Collection(collection.runs, collection.judgments, collection.metadata, provenance)


def read_judgments(given: Any, *, scale: str | Scale | None = None, format: str | None = None) -> Judgments:  # noqa: A002
    """Judgments alone, checked as :func:`read` checks them."""
    tables = list(_tables(given, "judgments", format, []))
    return encode_all_judgments(tables, Vocabulary(), Vocabulary(), _scale(scale))


def read_metadata(given: Any, *, format: str | None = None) -> Metadata:  # noqa: A002
    """Metadata alone, checked as :func:`read` checks them."""
    table = _only(list(_tables(given, "metadata", format, [])))
    return encode_metadata(table.frame, documents=Vocabulary(), source=table.source)


def _scale(scale: str | Scale | None) -> Scale | None:
    return parse_scale(scale) if isinstance(scale, str) else scale


def read_table(source: Source, kind: Kind, format_name: str | None = None) -> tuple[pl.DataFrame, Format]:
    """Read one file into the plain table of its kind, and say in which format it was."""
    chosen = pick(source, kind) if format_name is None else FORMATS[format_name]
    if kind not in chosen.kinds:
        raise AdjudgeError(f"The format {chosen.name} holds {', '.join(sorted(chosen.kinds))}, not {kind}.")
    return chosen.read(source, kind), chosen


def pick(source: Source, kind: Kind) -> Format:
    """The first registered format that recognises the file."""
    for candidate in FORMATS.values():
        if kind in candidate.kinds and candidate.sniff(source, kind):
            return candidate
    _ = source.text  # an empty or binary file is refused as that
    able = ", ".join(name for name, candidate in FORMATS.items() if kind in candidate.kinds)
    first = shown(source.head(1)[0]) if source.head(1) else "nothing"
    raise source.error(f"expected {kind} in a known format ({able}), got a file that begins with {first}")


def _exclusion(artist_filter: bool | None, has_artists: bool) -> Callable[[Format | None], Exclude]:
    """What to remove from rankings, by the format that they came in."""

    def exclude(origin: Format | None) -> Exclude:
        if artist_filter is not None:
            return "artist" if artist_filter else "nothing"
        if origin is None or not origin.name.startswith("mirex"):
            return "nothing"
        return "artist" if has_artists else "query"

    return exclude


def _tables(
    given: Any,
    kind: Kind,
    format_name: str | None,
    inputs: list[tuple[str, str]],
    *,
    names: Names = "tag",
    exclude: Callable[[Format | None], Exclude] = lambda _: "nothing",
    progress: Progress | None = None,
) -> Iterator[Table]:
    """Plain tables of whatever was given, one at a time; files are noted in ``inputs`` with their digests."""
    if not _is_paths(given):
        yield Table(_frame_from_object(given, kind), f"the {kind} given", exclude(None))
        return
    paths = expand(given, kind)

    def load(path: Path) -> tuple[Table, str]:
        source = Source.open(path)
        frame, origin = read_table(source, kind, format_name)
        if kind == "runs" and names == "file":
            frame = _named_after_file(frame, source)
        return Table(frame, source.name, exclude(origin)), source.sha256

    for done, (table, digest) in enumerate(_one_ahead(load, paths), start=1):
        inputs.append((table.source, digest))
        yield table
        if progress is not None:
            progress(done, len(paths))


def _one_ahead(load: Callable[[Path], T], paths: Sequence[Path]) -> Iterator[T]:
    """Load files in order, the next one already while the last one is used: reading and coding keep two cores busy."""
    with ThreadPoolExecutor(max_workers=1) as executor:
        ahead = executor.submit(load, paths[0])
        for path in paths[1:]:
            loaded = ahead.result()
            ahead = executor.submit(load, path)
            yield loaded
            del loaded
        yield ahead.result()


def _frame_from_object(given: Any, kind: Kind) -> pl.DataFrame:
    """The plain table of a dictionary, a data frame or a list of records."""
    from adjudge.formats.frames import frame_from_object

    return frame_from_object(given, kind, name="run")


def _is_paths(given: Any) -> bool:
    if isinstance(given, str | Path):
        return True
    return isinstance(given, Sequence) and bool(given) and all(isinstance(item, str | Path) for item in given)


def _named_after_file(frame: pl.DataFrame, source: Source) -> pl.DataFrame:
    import polars as pl

    if frame["system"].n_unique() > 1:
        raise source.error("expected one system in a file that names it, got several tags")
    return frame.with_columns(pl.lit(source.stem).alias("system"))


def expand(given: str | Path | Iterable[str | Path], kind: Kind) -> list[Path]:
    """Files meant by paths, directories and patterns, each once, sorted within a pattern or directory."""
    found: dict[Path, None] = {}
    for item in [given] if isinstance(given, str | Path) else given:
        path = Path(item)
        if path.is_dir():
            inside = sorted(child for child in path.iterdir() if child.is_file() and not child.name.startswith("."))
            if not inside:
                raise InputError(f"expected a directory with {kind}, got an empty one", source=str(path))
        elif not path.exists() and glob.has_magic(str(item)):
            inside = sorted(Path(name) for name in glob.glob(str(item), recursive=True) if Path(name).is_file())
            if not inside:
                raise InputError(f"expected files with {kind}, got none that match the pattern", source=str(item))
        else:
            inside = [path]
        found.update(dict.fromkeys(inside))
    return list(found)


def _only(tables: list[Table]) -> Table:
    import polars as pl

    if len(tables) == 1:
        return tables[0]
    return Table(pl.concat([t.frame for t in tables], how="diagonal_relaxed"), ", ".join(t.source for t in tables))


def _teams(teams: Mapping[str, str] | str | Path | None) -> Mapping[str, str] | None:
    if teams is None or isinstance(teams, Mapping):
        return teams
    source = Source.open(Path(teams))
    table: dict[str, str] = {}
    for number, line in source.lines():
        fields = [field.strip() for field in line.replace("\t", ",").split(",")]
        if len(fields) != 2 or not all(fields):
            raise source.error(f"expected two columns, system and team, got {len(fields)}", number)
        if [field.lower() for field in fields] != ["system", "team"]:
            table[fields[0]] = fields[1]
    return table
