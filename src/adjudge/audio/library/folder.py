"""The folder of a prepared library: its tables and clips, and the journal from which preparing resumes.

    tracks.csv     one row per document: document, title, artist, album, genre, year, seconds, and columns of your own
    clips.csv      how each clip was made: file, start, seconds, rate, channels, loudness, true peak, gain, SHA-256
    problems.csv   files that could not be used, and why
    clips/         what people hear: <document>.mp3
    features/      the audio features of the clips
    runs/          what systems retrieve
    .prepare/      the journal, and clips that are not in place yet

``tracks.csv`` is metadata for every command (``--metadata``), ``clips/`` is sound for campaigns (``--audio``).

The journal has one line of JSON per recording that was measured and per clip that was made, each on disk before the
next begins, so preparing can be interrupted at any moment. New clips wait in the hidden folder until all of them are
there, so a library is never half old and half new. Only one process at a time may prepare a library.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from adjudge.errors import InputError, reason, shown
from adjudge.io import lock, write_whole

if TYPE_CHECKING:
    import polars as pl

    from adjudge.audio.library.scan import FileProblem

WORK_FOLDER = ".prepare"
_JOURNAL, _LOCK, _PENDING = "journal.jsonl", "lock", "clips"
TRACKS, CLIPS, PROBLEMS = "tracks.csv", "clips.csv", "problems.csv"
CLIP_FOLDER, FEATURE_FOLDER, RUN_FOLDER = "clips", "features", "runs"
TRACK_COLUMNS = ("document", "title", "artist", "album", "genre", "year", "seconds")
CLIP_COLUMNS = (
    "document", "file", "start", "seconds", "rate", "channels", "loudness", "true_peak", "gain_db", "limited",
    "original_sha256", "clip_sha256",
)  # fmt: skip
PROBLEM_COLUMNS = ("file", "problem", "detail")


@dataclass(frozen=True, eq=False)
class Library:
    """A prepared folder: its documents, what is known about them, and their clips.

    ``tracks`` and ``clips`` have one row per document, both in the order of identifiers; unknown text is null.
    """

    folder: Path
    tracks: pl.DataFrame
    clips: pl.DataFrame

    def __len__(self) -> int:
        return self.tracks.height

    def __repr__(self) -> str:
        return f"Library({len(self):,} documents in {self.folder})"

    @property
    def documents(self) -> tuple[str, ...]:
        """Identifiers, in order."""
        return tuple(self.tracks["document"].to_list())

    def clip(self, document: str) -> Path:
        """The path of a document's clip."""
        return self.folder / CLIP_FOLDER / f"{document}.mp3"


def open_library(folder: str | Path) -> Library:
    """Open the library in a prepared folder; refused where there is none.

    >>> open_library("nowhere")
    Traceback (most recent call last):
    adjudge.errors.InputError: nowhere: expected a folder made by 'adjudge audio prepare', got nothing of that name
    """
    import polars as pl

    folder = Path(folder)
    for name in (TRACKS, CLIPS):
        if not (folder / name).is_file():
            came = f"one without {name}" if folder.exists() else "nothing of that name"
            if (folder / WORK_FOLDER).is_dir():
                came = "one that is not finished; prepare it again"
            raise InputError(f"expected a folder made by 'adjudge audio prepare', got {came}", source=str(folder))
    tracks, clips = (
        _read_table(folder / name, columns) for name, columns in ((TRACKS, TRACK_COLUMNS[:1]), (CLIPS, CLIP_COLUMNS))
    )
    try:
        clips = clips.with_columns(
            pl.col("start", "seconds", "loudness", "true_peak", "gain_db").cast(pl.Float64),
            pl.col("rate", "channels").cast(pl.Int64),
        )
    except pl.exceptions.InvalidOperationError:
        message = "expected numbers from 'start' to 'gain_db', got something else"
        raise InputError(message, source=str(folder / CLIPS)) from None
    tracks, clips = tracks.sort("document"), clips.sort("document")
    if tracks["document"].to_list() != clips["document"].to_list():
        raise InputError(f"expected the same documents in {TRACKS} and {CLIPS}, got others", source=str(folder))
    return Library(folder, tracks, clips)


def _read_table(path: Path, wanted: tuple[str, ...]) -> pl.DataFrame:
    """Read a table of text and check that it has the wanted columns and each document once."""
    import polars as pl

    from adjudge.formats.source import unreadable

    try:
        frame = pl.read_csv(path.read_bytes(), infer_schema=False)  # polars cannot open names that are not UTF-8
    except OSError as error:
        raise unreadable(path, error) from None
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        said = str(error).partition("\n")[0]
        raise InputError(f"expected a table in CSV: {said}", source=str(path)) from None
    for column in wanted:
        if column not in frame.columns:
            raise InputError(f"expected a column {column!r}, got {', '.join(frame.columns)}", source=str(path))
    twice = frame["document"].filter(frame["document"].is_duplicated())
    if len(twice):
        raise InputError(f"expected one row per document, got several for {shown(twice[0])}", source=str(path))
    return frame


def list_clip_files(folder: Path) -> dict[str, str]:
    """Documents and their files in the table of clips of a library; none where there is no such table."""
    try:
        clips = _read_table(folder / CLIPS, CLIP_COLUMNS)
    except InputError:
        return {}
    return dict(zip(clips["document"].to_list(), clips["file"].to_list(), strict=True))


def check_output(output: Path, folder: Path) -> None:
    """Refuse a folder for a library that holds something else, or that the recordings are part of."""
    if output.exists() and not output.is_dir():
        raise InputError("expected a folder for the clips, got a file", source=str(output))
    within = folder.resolve()
    for name in (CLIP_FOLDER, WORK_FOLDER):
        own = (output / name).resolve()
        if own == within or own in within.parents:
            raise InputError(f"expected recordings elsewhere than among the clips of {output}", source=str(folder))
    is_library = (output / WORK_FOLDER).is_dir() or bool(list_clip_files(output))
    taken = [name for name in (TRACKS, CLIPS, PROBLEMS, CLIP_FOLDER) if (output / name).exists()]
    if taken and not is_library:
        wanted = "a new folder, or one made by 'adjudge audio prepare'"
        raise InputError(f"expected {wanted}, got another with its own {taken[0]}", source=str(output))


def save_tables(
    folder: Path,
    *,
    problems: Sequence[FileProblem],
    tracks: Sequence[Mapping[str, str]] | None = None,
    clips: Sequence[Mapping[str, str]] | None = None,
) -> None:
    """Write the tables of a library, each whole or not at all; the tracks last, because they complete it."""
    _write_table(folder / PROBLEMS, PROBLEM_COLUMNS, [asdict(problem) for problem in problems])
    if tracks is None or clips is None:
        return
    own = dict.fromkeys(name for track in tracks for name in track if name not in TRACK_COLUMNS)
    _write_table(folder / CLIPS, CLIP_COLUMNS, sorted(clips, key=itemgetter("document")))
    _write_table(folder / TRACKS, (*TRACK_COLUMNS, *own), sorted(tracks, key=itemgetter("document")))


def _write_table(path: Path, columns: Sequence[str], rows: Sequence[Mapping[str, str]]) -> None:
    import polars as pl

    cells = {name: [row.get(name) or None for row in rows] for name in columns}
    frame = pl.DataFrame(cells, schema=dict.fromkeys(columns, pl.String))
    write_whole(path, frame.write_csv().encode())


@dataclass(frozen=True)
class RecordingEntry:
    """A measured recording: its excerpt, how loud it is, its fingerprint (hexadecimal) and its tags.

    The entry holds for a file of this ``size`` and ``mtime_ns``, and for these ``settings``. ``loudness`` (LUFS) is
    None for silence. A recording that cannot be used has a ``problem`` and its ``detail``, and nothing else.
    """

    document: str
    name: str
    size: int
    mtime_ns: int
    settings: str
    sha256: str = ""
    start: float = 0.0
    seconds: float = 0.0
    total_seconds: float = 0.0
    loudness: float | None = None
    true_peak: float = 0.0
    fingerprint: str = ""
    tags: dict[str, str] = field(default_factory=dict)
    problem: str = ""
    detail: str = ""


@dataclass(frozen=True)
class ClipEntry:
    """A clip: what it was made from and how (``key``), its file, and what it sounds like decoded."""

    document: str
    key: str
    size: int
    mtime_ns: int
    clip_sha256: str
    seconds: float
    rate: int
    channels: int
    loudness: float
    true_peak: float
    gain_db: float
    limited: bool


_KINDS: dict[str, type[RecordingEntry | ClipEntry]] = {"Heard": RecordingEntry, "Made": ClipEntry}


class Journal:
    """The open journal of a library: entries by document, of which the last one counts."""

    def __init__(self, folder: Path, file: BinaryIO) -> None:
        self.folder = folder
        self.recordings: dict[str, RecordingEntry] = {}
        self.clips: dict[str, ClipEntry] = {}
        self._file = file
        file.seek(0)
        for line in file.read().splitlines():
            if (entry := _parse_entry(line)) is not None:
                self._remember(entry)

    @property
    def pending(self) -> Path:
        """The folder in which new clips wait."""
        return self.folder / _PENDING

    def add(self, entry: RecordingEntry | ClipEntry) -> None:
        """Add an entry, and return when it is on disk."""
        self._file.write(b"\n" + _write_entry(entry))  # a line break first: the last line may be cut off
        self._file.flush()
        os.fsync(self._file.fileno())
        self._remember(entry)

    def keep_only(self, documents: Iterable[str]) -> None:
        """Forget everything about other documents."""
        known = set(documents)
        self.recordings = {document: entry for document, entry in self.recordings.items() if document in known}
        self.clips = {document: entry for document, entry in self.clips.items() if document in known}
        entries: list[RecordingEntry | ClipEntry] = [*self.recordings.values(), *self.clips.values()]
        write_whole(self.folder / _JOURNAL, b"\n".join(_write_entry(entry) for entry in entries))

    def _remember(self, entry: RecordingEntry | ClipEntry) -> None:
        if isinstance(entry, RecordingEntry):
            self.recordings[entry.document] = entry
        else:
            self.clips[entry.document] = entry


def _parse_entry(line: bytes) -> RecordingEntry | ClipEntry | None:
    """The entry in a line; None where the line is damaged or of another version."""
    try:
        values: Any = json.loads(line)
        kind = _KINDS[values.pop("is")]
    except (ValueError, KeyError, AttributeError, TypeError):
        return None
    return kind(**values) if set(values) == {column.name for column in fields(kind)} else None


def _write_entry(entry: RecordingEntry | ClipEntry) -> bytes:
    name = next(name for name, kind in _KINDS.items() if isinstance(entry, kind))
    return json.dumps({"is": name, **asdict(entry)}, ensure_ascii=False).encode()


@contextmanager
def open_journal(library: Path) -> Iterator[Journal]:
    """Open the journal of a library, a new one if needed; refused while another process has it open."""
    folder = library / WORK_FOLDER
    try:
        (folder / _PENDING).mkdir(parents=True, exist_ok=True)
        with open(folder / _LOCK, "ab") as handle:
            lock(handle, library, doing="preparing this library")
            with open(folder / _JOURNAL, "a+b") as file:
                yield Journal(folder, file)
    except OSError as error:
        raise InputError(f"cannot be written: {reason(error)}", source=str(library)) from None
