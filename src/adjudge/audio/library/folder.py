"""The folder that preparing music makes, and everything after it reads.

    tracks.csv     one row a document: document, title, artist, album, genre, year, seconds, and columns of your own
    clips.csv      how each clip was made: file, start, seconds, rate, channels, loudness, true peak, gain, SHA-256
    problems.csv   files that could not be used, and why
    clips/         what people hear: <document>.mp3
    features/      what the clips sound like, as numbers
    runs/          what systems retrieve
    .prepare/      what preparing needs to go on; see ``journal``

``tracks.csv`` is metadata for every command (``--metadata``), ``clips/`` is sound for campaigns (``--audio``).

What was found out and made so far, so that preparing a library can be interrupted at any moment and go on.

Beside the clips is a hidden folder with a journal, one line of JSON for every recording that was listened to and for
every clip that was made, each on disk before the next begins. A line that was cut off by the end of the process is
passed over: at most what was under way is done again. New clips wait in the hidden folder, too, until all of them are
there, so that a library is never half old and half new. One process at a time may prepare a library.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from adjudge.errors import InputError, reason, shown
from adjudge.io import lock

if TYPE_CHECKING:
    import polars as pl

    from adjudge.audio.library.scan import FileProblem


WORK_FOLDER = ".prepare"
_JOURNAL, _LOCK, _WAITING = "journal.jsonl", "lock", "clips"


@dataclass(frozen=True)
class Heard:
    """What listening to a recording found: its excerpt, how loud it is, its fingerprint (hexadecimal) and its tags.

    ``size``, ``mtime_ns`` and ``settings`` say what it holds for. ``loudness`` (LUFS) is None for silence. A recording
    that cannot be used has a ``problem`` and its ``detail``, and nothing else.
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
class Made:
    """A clip: of what and how it was made (``key``), its file, and what it sounds like decoded."""

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


class Journal:
    """The journal of a library, open; entries by document, the last one counts."""

    def __init__(self, folder: Path, file: BinaryIO) -> None:
        self.folder = folder
        self.heard: dict[str, Heard] = {}
        self.made: dict[str, Made] = {}
        self._file = file
        file.seek(0)
        for line in file.read().splitlines():
            if (entry := _entry(line)) is not None:
                self._keep(entry)

    @property
    def waiting(self) -> Path:
        """Where new clips wait."""
        return self.folder / _WAITING

    def add(self, entry: Heard | Made) -> None:
        """Keep an entry, for good."""
        self._file.write(b"\n" + _line(entry))  # before it, because the last line may be half of one
        self._file.flush()
        os.fsync(self._file.fileno())
        self._keep(entry)

    def keep_only(self, documents: Iterable[str]) -> None:
        """Forget everything about other documents."""
        from adjudge.io import write_whole

        known = set(documents)
        self.heard = {document: entry for document, entry in self.heard.items() if document in known}
        self.made = {document: entry for document, entry in self.made.items() if document in known}
        entries: list[Heard | Made] = [*self.heard.values(), *self.made.values()]
        lines = [_line(entry) for entry in entries]
        write_whole(self.folder / _JOURNAL, b"\n".join(lines))

    def _keep(self, entry: Heard | Made) -> None:
        if isinstance(entry, Heard):
            self.heard[entry.document] = entry
        else:
            self.made[entry.document] = entry


def _line(entry: Heard | Made) -> bytes:
    return json.dumps({"is": type(entry).__name__, **asdict(entry)}, ensure_ascii=False).encode()


def _entry(line: bytes) -> Heard | Made | None:
    """What a line says; None where it is damaged or of another version."""
    try:
        values: Any = json.loads(line)
        kind: type[Heard | Made] = {"Heard": Heard, "Made": Made}[values.pop("is")]
    except (ValueError, KeyError, AttributeError, TypeError):
        return None
    return kind(**values) if set(values) == {one.name for one in fields(kind)} else None


@contextmanager
def open_journal(library: Path) -> Iterator[Journal]:
    """The journal of a library, made where there is none; refused while another process has it."""
    folder = library / WORK_FOLDER
    try:
        (folder / _WAITING).mkdir(parents=True, exist_ok=True)
        with open(folder / _LOCK, "ab") as handle:
            lock(handle, library, doing="preparing this library")
            with open(folder / _JOURNAL, "a+b") as file:
                yield Journal(folder, file)
    except OSError as error:
        raise InputError(f"cannot be written: {reason(error)}", source=str(library)) from None


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
    """A prepared folder: its documents, what is known of them, and their clips.

    ``tracks`` and ``clips`` have one row a document, in the same order, that of their identifiers; text that is not
    known is null.
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
        """Where the clip of a document is."""
        return self.folder / CLIP_FOLDER / f"{document}.mp3"


def open_library(folder: str | Path) -> Library:
    """The library in a folder that was prepared; refused where there is none.

    >>> open_library("nowhere")
    Traceback (most recent call last):
    adjudge.errors.InputError: nowhere: expected a folder made by 'adjudge audio prepare', got nothing of that name
    """
    import polars as pl

    folder = Path(folder)
    for name in (TRACKS, CLIPS):
        if not (folder / name).is_file():
            raise InputError(
                f"expected a folder made by 'adjudge audio prepare', got {_instead(folder, name)}", source=str(folder)
            )
    tracks, clips = (
        _table(folder / name, columns) for name, columns in ((TRACKS, TRACK_COLUMNS[:1]), (CLIPS, CLIP_COLUMNS))
    )
    try:
        clips = clips.with_columns(
            pl.col("start", "seconds", "loudness", "true_peak", "gain_db").cast(pl.Float64),
            pl.col("rate", "channels").cast(pl.Int64),
        )
    except pl.exceptions.InvalidOperationError:
        raise InputError(
            "expected numbers from 'start' to 'gain_db', got something else", source=str(folder / CLIPS)
        ) from None
    tracks, clips = tracks.sort("document"), clips.sort("document")
    if tracks["document"].to_list() != clips["document"].to_list():
        raise InputError(f"expected the same documents in {TRACKS} and {CLIPS}, got others", source=str(folder))
    return Library(folder, tracks, clips)


def _instead(folder: Path, lacking: str) -> str:
    """What is there in place of a library."""
    if not folder.exists():
        return "nothing of that name"
    return "one that is not finished; prepare it again" if (folder / WORK_FOLDER).is_dir() else f"one without {lacking}"


def _table(path: Path, wanted: tuple[str, ...]) -> pl.DataFrame:
    """A table of text, with the columns that it must have."""
    import polars as pl

    from adjudge.formats.source import unreadable

    try:
        frame = pl.read_csv(path.read_bytes(), infer_schema=False)  # polars knows no names that are not UTF-8
    except OSError as error:
        raise unreadable(path, error) from None
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        said = str(error).partition("\n")[0]
        raise InputError(f"expected a table in CSV: {said}", source=str(path)) from None
    for column in wanted:
        if column not in frame.columns:
            raise InputError(f"expected a column {column!r}, got {', '.join(frame.columns)}", source=str(path))
    twice = frame.filter(frame["document"].is_duplicated())
    if twice.height:
        raise InputError(
            f"expected one row a document, got several for {shown(twice['document'][0])}", source=str(path)
        )
    return frame


def check_place(output: Path, folder: Path) -> None:
    """Refuse a place for a library where something else is, or which the recordings are part of."""
    if output.exists() and not output.is_dir():
        raise InputError("expected a folder for the clips, got a file", source=str(output))
    within = folder.resolve()
    for name in (CLIP_FOLDER, WORK_FOLDER):
        own = (output / name).resolve()
        if own == within or own in within.parents:
            raise InputError(f"expected recordings elsewhere than among the clips of {output}", source=str(folder))
    is_library = (output / WORK_FOLDER).is_dir() or bool(listed(output))
    taken = [name for name in (TRACKS, CLIPS, PROBLEMS, CLIP_FOLDER) if (output / name).exists()]
    if taken and not is_library:
        raise InputError(
            f"expected a new folder, or one made by 'adjudge audio prepare', got another with its own {taken[0]}",
            source=str(output),
        )


def listed(folder: Path) -> dict[str, str]:
    """Documents and their files as the table of clips of a library lists them; none where there is no such table."""
    try:
        clips = _table(folder / CLIPS, CLIP_COLUMNS)
    except InputError:
        return {}
    return dict(zip(clips["document"].to_list(), clips["file"].to_list(), strict=True))


def save_tables(
    folder: Path,
    *,
    problems: Sequence[FileProblem],
    tracks: Sequence[Mapping[str, str]] | None = None,
    clips: Sequence[Mapping[str, str]] | None = None,
) -> None:
    """Write the tables of a library, each whole or not at all; the tracks last, because with them it is complete."""
    _save(folder / PROBLEMS, PROBLEM_COLUMNS, [asdict(one) for one in problems])
    if tracks is None or clips is None:
        return
    own = dict.fromkeys(name for track in tracks for name in track if name not in TRACK_COLUMNS)
    _save(folder / CLIPS, CLIP_COLUMNS, sorted(clips, key=_document))
    _save(folder / TRACKS, (*TRACK_COLUMNS, *own), sorted(tracks, key=_document))


def _document(row: Mapping[str, str]) -> str:
    return row["document"]


def _save(path: Path, columns: Sequence[str], rows: Sequence[Mapping[str, str]]) -> None:
    import polars as pl

    from adjudge.io import write_whole

    cells = {name: [row.get(name) or None for row in rows] for name in columns}
    frame = pl.DataFrame(cells, schema=dict.fromkeys(columns, pl.String))
    write_whole(path, frame.write_csv().encode())
