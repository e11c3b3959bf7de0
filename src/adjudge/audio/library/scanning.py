"""Recordings in a folder and below it: found, named, and joined with what a table says of them.

A scan reads names, not sound, so it is quick: whether a file holds what its name promises is found out when its clip is
made. Known by their suffix are WAV, FLAC, Ogg, Opus, MP3 and AIFF. Sound in formats that cannot be read here (AAC, WMA
and others) is listed as a problem that says what to do. Files of other suffixes, or none, are recordings where they
begin like one; everything else (pictures, texts, playlists) is passed over in silence, and so are hidden files, what
systems leave behind (``.DS_Store``, ``__MACOSX``) and libraries that were prepared earlier.

Links to files and folders are followed, but nothing is visited twice: loops end, and of two ways to the same file the
one without a link counts. What cannot be opened is a problem and stops nothing.
"""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from adjudge.audio.library.folder import CLIPS, TRACKS
from adjudge.audio.library.matching import Matched, match_table
from adjudge.audio.library.naming import identifiers
from adjudge.audio.library.tags import read_tag_table
from adjudge.audio.sources import CONVERT, FOREIGN_SUFFIXES, WANTED
from adjudge.errors import InputError, reason, shown
from adjudge.formats.source import unreadable

UNREADABLE = "unreadable"  # the system does not give it
NOT_AUDIO = "not audio"  # not what its suffix promises
FOREIGN = "foreign format"  # audio, of a format that cannot be read here
BROKEN = "broken"  # audio that ends too early or does not decode
SILENT = "silent"
TOO_SHORT = "too short"
DUPLICATE = "duplicate"
NOT_IN_TABLE = "not in table"
NO_FILE = "no file"  # a row of the table without a recording
PROBLEM_WORDS = (UNREADABLE, NOT_AUDIO, FOREIGN, BROKEN, SILENT, TOO_SHORT, DUPLICATE, NOT_IN_TABLE, NO_FILE)
NOTES = (NOT_IN_TABLE,)  # said of recordings that are used all the same

SUFFIXES = frozenset({
    ".wav", ".wave", ".bwf", ".rf64", ".w64", ".flac", ".ogg", ".oga", ".opus", ".mp3", ".mp2", ".mpga",
    ".aif", ".aiff", ".aifc",
})  # fmt: skip
_QUIET = frozenset({  # never opened; files of other unknown suffixes are, for their first bytes
    ".jpg", ".jpeg", ".png", ".gif", ".bmp", ".webp", ".tif", ".tiff", ".svg", ".pdf", ".txt", ".md", ".nfo", ".log",
    ".cue", ".m3u", ".m3u8", ".pls", ".csv", ".tsv", ".json", ".xml", ".html", ".htm", ".url", ".ini", ".db", ".sfv",
    ".md5", ".accurip", ".lrc", ".zip", ".rar", ".7z", ".gz", ".exe", ".py", ".avi", ".mkv", ".mov", ".ogv", ".part",
    ".tmp", ".crdownload", ".download",
})  # fmt: skip
_LEFTOVERS = frozenset({"__macosx", "@eadir", "$recycle.bin", "system volume information", "lost+found"})
_SIGNS = ((0, b"fLaC"), (0, b"OggS"), (0, b"ID3"), (8, b"WAVE"), (8, b"AIFF"), (8, b"AIFC"))


@dataclass(frozen=True)
class Recording:
    r"""A file of sound: its identifier, where it is, and what the table says of it.

    ``name`` is its path below the folder with ``/`` between folders; what no text file could hold (bytes that are no
    UTF-8, line breaks) is written in it as Python writes it, ``\xe9``, while ``path`` is as the system has it.
    """

    document: str
    path: Path
    name: str
    tags: dict[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class FileProblem:
    """A file that was not used, or a row that has none: which, one of ``PROBLEM_WORDS``, and one line on it."""

    file: str
    problem: str
    detail: str


@dataclass(frozen=True)
class Scan:
    """What a folder holds: recordings in the order of their names, and what was in the way."""

    folder: Path
    recordings: tuple[Recording, ...]
    problems: tuple[FileProblem, ...]

    def __str__(self) -> str:
        return f"{len(self.recordings):,} recordings in {self.folder}, {len(self.problems):,} problems"


def scan(folder: str | Path, *, table: str | Path | None = None, skip: Path | None = None) -> Scan:
    """Find the recordings in a folder and below it.

    ``table`` is a CSV with a column ``file`` or ``document`` (see ``tags.read_tag_table``); rows that fit no recording,
    and recordings that no row is about, are among the problems; the latter are used all the same. ``skip`` is a folder
    to pass over, such as the one where the clips go. A folder without a recording is refused.

    >>> scan("nowhere")
    Traceback (most recent call last):
    adjudge.errors.InputError: nowhere: expected a folder with recordings, got nothing of that name
    """
    folder = Path(folder)
    walk = _Walk(folder, skip)
    names = sorted(walk.recordings())
    if not names:
        raise _nothing(folder, walk.problems)
    found = Matched() if table is None else match_table(read_tag_table(table), names, folder=folder.resolve().name)
    documents = identifiers(names, given=found.given)
    recordings = tuple(
        Recording(documents[name], folder / name, _printable(name), found.tags.get(name, {})) for name in names
    )
    problems = walk.problems if table is None else [*walk.problems, *_of_table(found, table, names)]
    return Scan(folder, recordings, tuple(sorted(problems, key=lambda problem: (problem.file, problem.problem))))


def _of_table(found: Matched, table: str | Path, names: Sequence[str]) -> Iterator[FileProblem]:
    """Rows without a recording, and recordings without a row."""
    for row, why in found.unmatched:
        yield FileProblem(row.file or row.document or "", NO_FILE, f"row {row.number} of {table}: {why}")
    for name in names:
        if name not in found.tags:
            yield FileProblem(_printable(name), NOT_IN_TABLE, f"no row of {table} is about it; its own tags are used")


def _nothing(folder: Path, problems: Sequence[FileProblem]) -> InputError:
    """The error for a folder without a recording, with what there is instead."""
    came = "none"
    if problems:
        several = f" and {len(problems) - 1:,} more" if len(problems) > 1 else ""
        came = f"only {shown(problems[0].file)}{several} ({problems[0].problem}: {problems[0].detail})"
    return InputError(f"expected recordings ({WANTED}), got {came}", source=str(folder))


def _printable(name: str) -> str:
    r"""A name that text files can hold.

    >>> print(_printable("caf\udce9\n.mp3"))
    caf\xe9\n.mp3
    """
    if name.isprintable():
        return name
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(repr(sign)[1:-1] if unicodedata.category(sign) in ("Cc", "Zl", "Zp") else sign for sign in text)


class _Walk:
    """One way through a folder and everything below it, with the problems met on it."""

    def __init__(self, folder: Path, skip: Path | None) -> None:
        self.folder = folder
        self.problems: list[FileProblem] = []
        self.seen: set[tuple[int, int]] = set()  # device and number of folders that are done, or not to be
        self.files: dict[tuple[int, int], str] = {}
        try:
            own = _place(folder)
            if skip is not None and skip.exists():
                self.seen.add(_place(skip))
        except FileNotFoundError:
            raise InputError(
                "expected a folder with recordings, got nothing of that name", source=str(folder)
            ) from None
        except (OSError, ValueError) as error:
            raise unreadable(folder, error) from None
        if not folder.is_dir():
            raise InputError("expected a folder with recordings, got a file", source=str(folder))
        if own in self.seen:
            raise InputError("expected another folder for the clips than that of the recordings", source=str(folder))

    def recordings(self) -> Iterator[str]:
        """Names of the recordings, as the system has them; first those that need no link to be reached."""
        links: list[tuple[str, os.DirEntry[str]]] = []
        yield from self._below("", links)
        for name, entry in links:  # grows while links are followed
            yield from self._linked(name, entry, links)

    def _below(self, start: str, links: list[tuple[str, os.DirEntry[str]]]) -> Iterator[str]:
        waiting = [start]
        while waiting:
            prefix = waiting.pop()
            device, entries = self._entries(prefix)
            for entry in entries:
                name = prefix + entry.name
                try:
                    if entry.is_symlink():
                        links.append((name, entry))
                    elif entry.is_dir(follow_symlinks=False):
                        waiting.append(f"{name}/")
                    elif self._is_recording(name, entry) and self._is_new(name, (device, entry.inode()), bool(start)):
                        yield name
                except OSError as error:
                    self._problem(name, UNREADABLE, reason(error))

    def _entries(self, prefix: str) -> tuple[int, list[os.DirEntry[str]]]:
        """The device of a folder and what it holds; nothing where it was visited, is a library, or does not open."""
        path = self.folder / prefix
        try:
            place = _place(path)
            if place in self.seen:
                return place[0], []
            self.seen.add(place)
            with os.scandir(path) as listing:
                entries = sorted((entry for entry in listing if not _is_leftover(entry.name)), key=_name)
        except OSError as error:
            if not prefix:
                raise unreadable(self.folder, error) from None
            self._problem(prefix, UNREADABLE, f"the folder cannot be opened: {reason(error)}")
            return 0, []
        is_library = prefix and {TRACKS, CLIPS} <= {entry.name for entry in entries}
        return place[0], [] if is_library else entries

    def _linked(self, name: str, entry: os.DirEntry[str], links: list[tuple[str, os.DirEntry[str]]]) -> Iterator[str]:
        """Where a link leads."""
        try:
            status = os.stat(entry.path)
        except OSError as error:
            if os.path.splitext(name)[1].lower() in SUFFIXES:
                self._problem(name, UNREADABLE, f"a link that leads nowhere: {reason(error)}")
            return
        if stat.S_ISDIR(status.st_mode):
            yield from self._below(f"{name}/", links)
        elif self._is_recording(name, entry) and self._is_new(name, (status.st_dev, status.st_ino), True):
            yield name

    def _is_new(self, name: str, place: tuple[int, int], is_linked: bool) -> bool:
        """Whether a file that a link leads to is nowhere else; one that is where it is counts anyway."""
        other = self.files.setdefault(place, name)
        if is_linked and other != name:
            self._problem(name, DUPLICATE, f"a link to {_printable(other)}")
        return other == name or not is_linked

    def _is_recording(self, name: str, entry: os.DirEntry[str]) -> bool:
        suffix = os.path.splitext(entry.name)[1].lower()
        if suffix in _QUIET:
            return False
        if suffix in FOREIGN_SUFFIXES:
            self._problem(name, FOREIGN, f"{FOREIGN_SUFFIXES[suffix]} cannot be read here; {CONVERT}")
            return False
        if not entry.is_file():
            if suffix in SUFFIXES:
                self._problem(name, NOT_AUDIO, "expected a file, got something else")
            return False
        return suffix in SUFFIXES or _begins_like_audio(Path(entry.path))

    def _problem(self, name: str, problem: str, detail: str) -> None:
        self.problems.append(FileProblem(_printable(name), problem, detail))


def _name(entry: os.DirEntry[str]) -> str:
    return entry.name


def _place(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino


def _is_leftover(name: str) -> bool:
    return name.startswith(".") or name.lower() in _LEFTOVERS


def _begins_like_audio(path: Path) -> bool:
    """Whether a file of unknown suffix begins as recordings do."""
    try:
        with path.open("rb") as file:
            head = file.read(12)
    except OSError:
        return False
    return any(head[start : start + len(sign)] == sign for start, sign in _SIGNS)
