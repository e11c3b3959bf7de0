r"""Recordings in a folder and below it: found, named, and joined with what a table says about them.

A scan reads names, not sound: whether a file holds what its name promises is found out when its clip is made. WAV,
FLAC, Ogg, Opus, MP3 and AIFF are known by their suffix. Sound in formats that cannot be read here (AAC, WMA and others)
is a problem that says what to do. Files with another suffix, or none, are recordings where they begin like one;
everything else (pictures, texts, playlists) is skipped silently, as are hidden files, what operating systems leave
behind (``.DS_Store``, ``__MACOSX``) and libraries that were prepared earlier.

Links to files and folders are followed, but nothing is visited twice: loops end, and of two ways to the same file the
one without a link counts. What cannot be opened is a problem and does not stop the scan.

An identifier is the path below the folder, without its suffix: letters of any script, digits, ``.``, ``_`` and ``-``;
any run of other characters, separators of folders included, becomes one ``-``. It never begins with ``-`` or ``.``, has
at most 100 bytes and is a valid file name on every system. Identifiers that differ in case only count as the same; of
those that are the same, the first in the order of names keeps it and the others are numbered, ``-2``, ``-3``. Files
that come or go elsewhere change nothing.

A table joins by its column ``file``: a cell matches the recording whose path below the folder it is, or the end of that
path: ``a.mp3`` for ``rock/a.mp3``. It may go through the folder, as ``D:\music\rock\a.mp3`` does for the folder
``music``, and lack the suffix. Case and the direction of slashes do not matter, unless two recordings match. A cell of
``document`` matches by identifier, then in the same ways.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path

from adjudge.audio.library.folder import CLIPS, TRACKS
from adjudge.audio.library.tags import TagRow, read_tag_table
from adjudge.audio.sources import CONVERT, FOREIGN_SUFFIXES, WANTED
from adjudge.errors import InputError, reason, shown
from adjudge.formats.source import unreadable
from adjudge.text import listed

LONGEST = 100  # bytes of an identifier in UTF-8
_ODD_BYTE = re.compile("[\udc80-\udcff]")  # what Python makes of bytes in names that are not UTF-8
_PLAIN = re.compile(r"[A-Za-z0-9._-]+")
SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,5}\Z")
_KEPT = {"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Nd"}
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")  # files that Windows does not make
_DIGEST, _HEAD, _TAIL = 8, 45, 45
_SLASHES = re.compile(r"[\\/]+")
UNREADABLE = "unreadable"  # the operating system refuses to open it
NOT_AUDIO = "not audio"  # not what its suffix promises
FOREIGN = "foreign format"  # audio, of a format that cannot be read here
BROKEN = "broken"  # audio that ends too early or does not decode
SILENT = "silent"
TOO_SHORT = "too short"
DUPLICATE = "duplicate"
NOT_IN_TABLE = "not in table"
NO_FILE = "no file"  # a row of the table without a recording
PROBLEM_WORDS = (UNREADABLE, NOT_AUDIO, FOREIGN, BROKEN, SILENT, TOO_SHORT, DUPLICATE, NOT_IN_TABLE, NO_FILE)
NOTES = (NOT_IN_TABLE,)  # about recordings that are used nevertheless
SUFFIXES = frozenset({
    ".wav", ".wave", ".bwf", ".rf64", ".w64", ".flac", ".ogg", ".oga", ".opus", ".mp3", ".mp2", ".mpga",
    ".aif", ".aiff", ".aifc",
})  # fmt: skip
_IGNORED_SUFFIXES = frozenset({  # never opened; of files with other unknown suffixes the first bytes are read
    ".jpg", ".jpeg", ".png", ".gif", ".bmp", ".webp", ".tif", ".tiff", ".svg", ".pdf", ".txt", ".md", ".nfo", ".log",
    ".cue", ".m3u", ".m3u8", ".pls", ".csv", ".tsv", ".json", ".xml", ".html", ".htm", ".url", ".ini", ".db", ".sfv",
    ".md5", ".accurip", ".lrc", ".zip", ".rar", ".7z", ".gz", ".exe", ".py", ".avi", ".mkv", ".mov", ".ogv", ".part",
    ".tmp", ".crdownload", ".download",
})  # fmt: skip
_LEFTOVERS = frozenset({"__macosx", "@eadir", "$recycle.bin", "system volume information", "lost+found"})
_MAGIC = ((0, b"fLaC"), (0, b"OggS"), (0, b"ID3"), (8, b"WAVE"), (8, b"AIFF"), (8, b"AIFC"))


@dataclass(frozen=True)
class Recording:
    r"""A file of sound: its identifier, its path, and what the table says about it.

    ``name`` is its path below the folder with ``/`` between folders; what no text file could hold (bytes that are not
    UTF-8, line breaks) is escaped in it as in Python, ``\xe9``, while ``path`` is the system's own.
    """

    document: str
    path: Path
    name: str
    tags: dict[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class FileProblem:
    """A file that was not used, or a row without a file: its name, one of ``PROBLEM_WORDS``, and one line about it."""

    file: str
    problem: str
    detail: str


@dataclass(frozen=True)
class Scan:
    """The recordings of a folder in the order of their names, and the problems met."""

    folder: Path
    recordings: tuple[Recording, ...]
    problems: tuple[FileProblem, ...]

    def __str__(self) -> str:
        return f"{len(self.recordings):,} recordings in {self.folder}, {len(self.problems):,} problems"


def scan(folder: str | Path, *, table: str | Path | None = None, skip: Path | None = None) -> Scan:
    """Find the recordings in a folder and below it.

    ``table`` is a CSV with a column ``file`` or ``document`` (see ``tags.read_tag_table``). Rows that match no
    recording and recordings without a row are among the problems; the latter are used nevertheless. ``skip`` is a
    folder to leave out, such as the one for the clips. A folder without a recording is refused.

    >>> scan("nowhere")
    Traceback (most recent call last):
    adjudge.errors.InputError: nowhere: expected a folder with recordings, got nothing of that name
    """
    folder = Path(folder)
    walk = _FolderWalk(folder, skip)
    names = sorted(walk.recordings())
    problems = walk.problems
    if not names:
        came = "none"
        if problems:
            files = listed([shown(problem.file) for problem in problems], most=1)
            came = f"only {files} ({problems[0].problem}: {problems[0].detail})"
        raise InputError(f"expected recordings ({WANTED}), got {came}", source=str(folder))
    match = TableMatch()
    if table is not None:
        match = match_table(read_tag_table(table), names, source=str(table), folder=folder.resolve().name)
        for row, why in match.unmatched:
            problems.append(FileProblem(row.file or row.document or "", NO_FILE, f"row {row.number} of {table}: {why}"))
        detail = f"no row of {table} is about it; its own tags are used"
        problems += [
            FileProblem(_make_printable(name), NOT_IN_TABLE, detail) for name in names if name not in match.tags
        ]
    documents = assign_identifiers(names, given=match.given)
    recordings = tuple(
        Recording(documents[name], folder / name, _make_printable(name), match.tags.get(name, {})) for name in names
    )
    return Scan(folder, recordings, tuple(sorted(problems, key=lambda problem: (problem.file, problem.problem))))


def _make_printable(name: str) -> str:
    """A name that text files can hold."""
    if name.isprintable():
        return name
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(repr(char)[1:-1] if unicodedata.category(char) in ("Cc", "Zl", "Zp") else char for char in text)


class _FolderWalk:
    """A walk through a folder and everything below it, with the problems met on the way."""

    def __init__(self, folder: Path, skip: Path | None) -> None:
        self.folder = folder
        self.problems: list[FileProblem] = []
        self.seen: set[tuple[int, int]] = set()  # device and inode of folders that are done or left out
        self.files: dict[tuple[int, int], str] = {}
        self.links: list[tuple[str, os.DirEntry[str]]] = []
        try:
            own = _locate(folder)
            if skip is not None and skip.exists():
                self.seen.add(_locate(skip))
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
        """Names of the recordings as the system has them, first those that are reached without a link."""
        yield from self._walk("")
        for name, entry in self.links:  # grows while links are followed
            try:
                status = os.stat(entry.path)
            except OSError as error:
                if os.path.splitext(name)[1].lower() in SUFFIXES:
                    self._add_problem(name, UNREADABLE, f"a link that leads nowhere: {reason(error)}")
                continue
            if stat.S_ISDIR(status.st_mode):
                yield from self._walk(f"{name}/")
            elif self._is_recording(name, entry) and self._is_new(name, (status.st_dev, status.st_ino), True):
                yield name

    def _walk(self, start: str) -> Iterator[str]:
        waiting = [start]
        while waiting:
            prefix = waiting.pop()
            device, entries = self._entries(prefix)
            for entry in entries:
                name = prefix + entry.name
                try:
                    if entry.is_symlink():
                        self.links.append((name, entry))
                    elif entry.is_dir(follow_symlinks=False):
                        waiting.append(f"{name}/")
                    elif self._is_recording(name, entry) and self._is_new(name, (device, entry.inode()), bool(start)):
                        yield name
                except OSError as error:
                    self._add_problem(name, UNREADABLE, reason(error))

    def _entries(self, prefix: str) -> tuple[int, list[os.DirEntry[str]]]:
        """The device of a folder and its entries; none where it was visited, is a library, or does not open."""
        path = self.folder / prefix
        try:
            place = _locate(path)
            if place in self.seen:
                return place[0], []
            self.seen.add(place)
            with os.scandir(path) as listing:
                visible = (entry for entry in listing if not entry.name.startswith("."))
                entries = sorted(
                    (entry for entry in visible if entry.name.lower() not in _LEFTOVERS), key=attrgetter("name")
                )
        except OSError as error:
            if not prefix:
                raise unreadable(self.folder, error) from None
            self._add_problem(prefix, UNREADABLE, f"the folder cannot be opened: {reason(error)}")
            return 0, []
        is_library = prefix and {TRACKS, CLIPS} <= {entry.name for entry in entries}
        return place[0], [] if is_library else entries

    def _is_new(self, name: str, place: tuple[int, int], is_linked: bool) -> bool:
        """Whether a file that a link leads to is not reached otherwise; a file that needs no link always counts."""
        other = self.files.setdefault(place, name)
        if is_linked and other != name:
            self._add_problem(name, DUPLICATE, f"a link to {_make_printable(other)}")
        return other == name or not is_linked

    def _is_recording(self, name: str, entry: os.DirEntry[str]) -> bool:
        suffix = os.path.splitext(entry.name)[1].lower()
        if suffix in _IGNORED_SUFFIXES:
            return False
        if suffix in FOREIGN_SUFFIXES:
            self._add_problem(name, FOREIGN, f"{FOREIGN_SUFFIXES[suffix]} cannot be read here; {CONVERT}")
            return False
        if not entry.is_file():
            if suffix in SUFFIXES:
                self._add_problem(name, NOT_AUDIO, "expected a file, got something else")
            return False
        if suffix in SUFFIXES:
            return True
        try:
            with open(entry.path, "rb") as file:
                head = file.read(12)
        except OSError:
            return False
        return any(head[start : start + len(magic)] == magic for start, magic in _MAGIC)

    def _add_problem(self, name: str, problem: str, detail: str) -> None:
        self.problems.append(FileProblem(_make_printable(name), problem, detail))


def _locate(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino


def make_identifier(name: str) -> str:
    """The identifier made from a file's path below its folder.

    Bytes that are not UTF-8 are taken for Latin-1. A path that is too long keeps its head and tail and gets eight
    digits of its SHA-256; a path without any letter or digit gets them, too.

    >>> make_identifier("Sigur Rós/( )/01 - Untitled #1.flac")
    'Sigur-Rós-01-Untitled-1'
    >>> make_identifier("!!!/???.mp3")
    'recording-1d28873b'
    """
    path = SUFFIX.sub("", decode_name(name))
    text = _replace_characters(path)
    digest = hashlib.sha256(path.encode("utf-8", "replace")).hexdigest()[:_DIGEST]
    if not text.strip("_"):
        return f"recording-{digest}"
    data = text.encode()
    if len(data) <= LONGEST:
        return text
    head, tail = (part.decode("utf-8", "ignore") for part in (data[:_HEAD], data[-_TAIL:]))
    return _replace_characters(f"{head}-{tail}-{digest}")


def _replace_characters(text: str) -> str:
    if not _PLAIN.fullmatch(text):
        text = "".join(char if char in "._-" or unicodedata.category(char) in _KEPT else "-" for char in text)
    text = re.sub(r"\.*-[.-]*", "-", text).strip("-.")
    while text and unicodedata.category(text[0]) in ("Mn", "Mc"):  # a mark needs a letter before it
        text = text[1:].lstrip("-.")
    return f"{text}_" if _RESERVED.fullmatch(text) else text


def decode_name(name: str) -> str:
    r"""A name in composed form (NFC), with bytes that are not UTF-8 taken for Latin-1.

    >>> decode_name("caf\udce9")
    'café'
    """
    text = _ODD_BYTE.sub(lambda found: chr(ord(found[0]) - 0xDC00), name)
    return unicodedata.normalize("NFC", text)


def is_identifier(text: str) -> bool:
    """Whether a text may be an identifier as it is.

    >>> is_identifier("a000123"), is_identifier("track 7"), is_identifier(".a")
    (True, False, False)
    """
    return bool(text) and text == make_identifier(f"{text}.wav")


def assign_identifiers(names: Sequence[str], *, given: Mapping[str, str] | None = None) -> dict[str, str]:
    """An identifier for each name, all different even where case is ignored.

    ``given`` are chosen identifiers, which stay as they are and must differ from each other already.

    >>> assign_identifiers(["a.flac", "A.mp3", "a-2.mp3"])
    {'a.flac': 'a-3', 'A.mp3': 'A', 'a-2.mp3': 'a-2'}
    """
    assigned = dict(given or {})
    taken = {fold_case(document) for document in assigned.values()}
    waiting = []
    for name in sorted(name for name in names if name not in assigned):
        wanted = make_identifier(name)
        if fold_case(wanted) in taken:
            waiting.append((name, wanted))
        else:
            assigned[name] = wanted
            taken.add(fold_case(wanted))
    following: dict[str, int] = {}
    for name, wanted in waiting:
        number = following.get(fold_case(wanted), 2)
        while True:
            ending = f"-{number}"
            assigned[name] = wanted.encode()[: LONGEST - len(ending)].decode("utf-8", "ignore") + ending
            number += 1
            if fold_case(assigned[name]) not in taken:
                break
        following[fold_case(wanted)] = number
        taken.add(fold_case(assigned[name]))
    return {name: assigned[name] for name in names}


def fold_case(document: str) -> str:
    """The form in which two identifiers are equal that name the same file where case is ignored."""
    return unicodedata.normalize("NFC", document.casefold())


@dataclass
class TableMatch:
    """By name of recording, its row's ``tags`` and ``given`` identifier; and rows that match no recording, and why."""

    tags: dict[str, dict[str, str]] = field(default_factory=dict)
    given: dict[str, str] = field(default_factory=dict)
    unmatched: list[tuple[TagRow, str]] = field(default_factory=list)


def match_table(rows: Sequence[TagRow], names: Sequence[str], *, source: str, folder: str = "") -> TableMatch:
    """Find the recording of every row; ``folder`` is the name of the folder that holds the recordings.

    Two rows for one recording, an identifier that is not valid or is used twice, and a table of which no row matches
    are refused.

    >>> rows = TagRow(1, "A.MP3", None, {"artist": "X"}), TagRow(2, "b.mp3", None, {})
    >>> match = match_table(rows, ["rock/a.mp3"], source="t.csv")
    >>> match.tags, [why for _, why in match.unmatched]
    ({'rock/a.mp3': {'artist': 'X'}}, ['no recording matches it'])
    """
    index, match = _NameIndex(names, folder), TableMatch()
    numbers: dict[str, int] = {}
    owners: dict[str, str] = {}
    for row in rows:
        matches = index.find(row)
        if len(matches) != 1:
            why = "no recording matches it" if not matches else f"{len(matches)} recordings match it"
            match.unmatched.append((row, why))
            continue
        name, document, problem = matches[0], row.document, ""
        if name in numbers:
            problem = f"one row for {shown(name)}, got another in row {numbers[name]}"
        elif document is not None and not is_identifier(document):
            allowed = f"of at most {LONGEST} bytes made of letters, digits, '.', '_' and '-'"
            problem = f"a document {allowed}, got {shown(document)}"
        elif document is not None and (other := owners.setdefault(fold_case(document), name)) != name:
            problem = f"different documents, got {shown(document)} for {shown(name)} and {shown(other)}"
        if problem:
            raise InputError(f"row {row.number}: expected {problem}", source=source)
        numbers[name], match.tags[name] = row.number, row.tags
        if document is not None:
            match.given[name] = document
    if not numbers:
        first = shown(rows[0].file or rows[0].document)
        wanted = f"rows about the recordings, such as {shown(names[0])}"
        raise InputError(f"expected {wanted}, got none of them ({first}, …)", source=source)
    return match


class _NameIndex:
    """Recordings by everything that a cell of the table may call them."""

    def __init__(self, names: Sequence[str], folder: str) -> None:
        self.folder = _normalise_path(folder).casefold()
        self.exact = {_normalise_path(name): name for name in names}
        self.whole: dict[str, list[str]] = {}
        self.tails: dict[str, list[str]] = {}
        for name in names:
            plain = _normalise_path(name).casefold()
            for key in dict.fromkeys((plain, SUFFIX.sub("", plain))):
                self.whole.setdefault(key, []).append(name)
                parts = key.split("/")
                for i in range(1, len(parts)):
                    self.tails.setdefault("/".join(parts[i:]), []).append(name)
        self.documents = {fold_case(document): name for name, document in assign_identifiers(names).items()}

    def find(self, row: TagRow) -> list[str]:
        """The recordings that a row may be about."""
        cell = row.file if row.file is not None else row.document or ""
        own = self.documents.get(fold_case(decode_name(cell)))
        if row.file is None and own is not None:
            return [own]
        plain = _normalise_path(cell)
        if plain in self.exact:
            return [self.exact[plain]]
        key = plain.casefold()
        if key in self.whole:
            return self.whole[key]
        if key in self.tails:
            return self.tails[key]
        _, through, below = f"/{key}".partition(f"/{self.folder}/")
        return self.whole.get(below, []) if through and self.folder else []


def _normalise_path(path: str) -> str:
    return _SLASHES.sub("/", decode_name(path)).removeprefix("./").strip("/ ")
