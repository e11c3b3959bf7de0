"""Files, data frames and dictionaries in; a collection out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from adjudge.choices import Exclude, Names, Precision, check_choice
from adjudge.errors import AdjudgeError, shown, warn
from adjudge.formats.base import Format, Kind
from adjudge.formats.columns import naming_columns
from adjudge.formats.locating import FileTable, naming_lines
from adjudge.formats.paths import STDIN, files_of, open_source, refuse_second_stdin, settled
from adjudge.formats.picking import read_table
from adjudge.formats.source import Source
from adjudge.formats.teams import Inputs, read_teams
from adjudge.model.coding import Vocabulary
from adjudge.model.collection import Collection, Table, build_collection, encode_all_judgments
from adjudge.model.judgments import Judgments
from adjudge.model.metadata import Metadata, encode_metadata
from adjudge.model.provenance import Provenance
from adjudge.model.scales import Scale, parse_scale

if TYPE_CHECKING:
    import polars as pl

A = TypeVar("A")
B = TypeVar("B")
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
    check_choice("names", names, Names)
    check_choice("score_precision", score_precision, Precision)
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
            from adjudge.formats.matching import matched

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
    import polars as pl

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
        yield Table(_frame_from_object(given, kind), f"the {kind} given", exclude(None))
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


def _frame_from_object(given: Any, kind: Kind) -> pl.DataFrame:
    """The plain table of a dictionary, a data frame or a list of records."""
    from adjudge.formats.frames import frame_from_object

    return frame_from_object(given, kind, name="run")


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
    import polars as pl

    if frame["system"].n_unique() > 1:
        raise source.error("expected one system in a file that names it, got several tags")
    return frame.with_columns(pl.lit(system).alias("system"))


def _only(tables: list[Table]) -> Table:
    import polars as pl

    if len(tables) == 1:
        return tables[0]
    return Table(pl.concat([t.frame for t in tables], how="diagonal_relaxed"), ", ".join(t.source for t in tables))
