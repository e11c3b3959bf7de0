r"""Recordings in a folder and below it: found, named, and joined with what a table says about them.

A scan reads names, not sound, so it is quick: whether a file holds what its name promises is found out when its clip is
made. WAV, FLAC, Ogg, Opus, MP3 and AIFF are known by their suffix. Sound in formats that cannot be read here (AAC, WMA
and others) is listed as a problem that says what to do. Files with another suffix, or none, are recordings where they
begin like one; everything else (pictures, texts, playlists) is skipped silently, as are hidden files, what operating
systems leave behind (``.DS_Store``, ``__MACOSX``) and libraries that were prepared earlier.

Links to files and folders are followed, but nothing is visited twice: loops end, and of two ways to the same file the
one without a link counts. What cannot be opened is a problem and does not stop the scan.

An identifier is the path below the folder, without its suffix: letters of any script, digits, ``.``, ``_`` and ``-``;
any run of other characters, separators of folders included, becomes one ``-``. It has no spaces (TREC files separate by
them), never begins with ``-`` or ``.``, has at most 100 bytes and is a valid file name on every system. Two that differ
in case only would be one file on some systems, so they count as the same. Of identifiers that are the same, the first
in the order of names keeps it and the others are numbered, ``-2``, ``-3``. Files that come or go elsewhere change
nothing.

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
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path

from adjudge.audio.library.folder import CLIPS, TRACKS
from adjudge.audio.library.tags import TagRow, TagTable, read_tag_table
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
    if not names:
        raise _no_recordings_error(folder, walk.problems)
    match = TableMatch() if table is None else match_table(read_tag_table(table), names, folder=folder.resolve().name)
    documents = assign_identifiers(names, given=match.given)
    recordings = tuple(
        Recording(documents[name], folder / name, _make_printable(name), match.tags.get(name, {})) for name in names
    )
    problems = walk.problems if table is None else [*walk.problems, *_list_table_problems(match, table, names)]
    return Scan(folder, recordings, tuple(sorted(problems, key=lambda problem: (problem.file, problem.problem))))


def _no_recordings_error(folder: Path, problems: Sequence[FileProblem]) -> InputError:
    """The error for a folder without a recording, with what there is instead."""
    came = "none"
    if problems:
        files = listed([shown(one.file) for one in problems], most=1)
        came = f"only {files} ({problems[0].problem}: {problems[0].detail})"
    return InputError(f"expected recordings ({WANTED}), got {came}", source=str(folder))


def _make_printable(name: str) -> str:
    r"""A name that text files can hold.

    >>> print(_make_printable("caf\udce9\n.mp3"))
    caf\xe9\n.mp3
    """
    if name.isprintable():
        return name
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(repr(char)[1:-1] if unicodedata.category(char) in ("Cc", "Zl", "Zp") else char for char in text)


def _list_table_problems(match: TableMatch, table: str | Path, names: Sequence[str]) -> Iterator[FileProblem]:
    """Rows without a recording, and recordings without a row."""
    for row, why in match.unmatched:
        yield FileProblem(row.file or row.document or "", NO_FILE, f"row {row.number} of {table}: {why}")
    for name in names:
        if name not in match.tags:
            yield FileProblem(
                _make_printable(name), NOT_IN_TABLE, f"no row of {table} is about it; its own tags are used"
            )


class _FolderWalk:
    """A walk through a folder and everything below it, with the problems met on the way."""

    def __init__(self, folder: Path, skip: Path | None) -> None:
        self.folder = folder
        self.problems: list[FileProblem] = []
        self.seen: set[tuple[int, int]] = set()  # device and inode of folders that are done or left out
        self.files: dict[tuple[int, int], str] = {}
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
        links: list[tuple[str, os.DirEntry[str]]] = []
        yield from self._walk("", links)
        for name, entry in links:  # grows while links are followed
            yield from self._follow_link(name, entry, links)

    def _walk(self, start: str, links: list[tuple[str, os.DirEntry[str]]]) -> Iterator[str]:
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
                entries = sorted((entry for entry in listing if not _is_leftover(entry.name)), key=attrgetter("name"))
        except OSError as error:
            if not prefix:
                raise unreadable(self.folder, error) from None
            self._add_problem(prefix, UNREADABLE, f"the folder cannot be opened: {reason(error)}")
            return 0, []
        is_library = prefix and {TRACKS, CLIPS} <= {entry.name for entry in entries}
        return place[0], [] if is_library else entries

    def _follow_link(
        self, name: str, entry: os.DirEntry[str], links: list[tuple[str, os.DirEntry[str]]]
    ) -> Iterator[str]:
        """The recordings to which a link leads."""
        try:
            status = os.stat(entry.path)
        except OSError as error:
            if os.path.splitext(name)[1].lower() in SUFFIXES:
                self._add_problem(name, UNREADABLE, f"a link that leads nowhere: {reason(error)}")
            return
        if stat.S_ISDIR(status.st_mode):
            yield from self._walk(f"{name}/", links)
        elif self._is_recording(name, entry) and self._is_new(name, (status.st_dev, status.st_ino), True):
            yield name

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
        return suffix in SUFFIXES or _begins_like_audio(Path(entry.path))

    def _add_problem(self, name: str, problem: str, detail: str) -> None:
        self.problems.append(FileProblem(_make_printable(name), problem, detail))


def _locate(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino


def _is_leftover(name: str) -> bool:
    return name.startswith(".") or name.lower() in _LEFTOVERS


def _begins_like_audio(path: Path) -> bool:
    """Whether a file of unknown suffix begins as a recording does."""
    try:
        with path.open("rb") as file:
            head = file.read(12)
    except OSError:
        return False
    return any(head[start : start + len(magic)] == magic for start, magic in _MAGIC)


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
    return _shorten(_replace_characters(path), path)


def _shorten(text: str, path: str) -> str:
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
        assigned[name], following[fold_case(wanted)] = _add_number(wanted, taken, following.get(fold_case(wanted), 2))
        taken.add(fold_case(assigned[name]))
    return {name: assigned[name] for name in names}


def _add_number(wanted: str, taken: Collection[str], number: int) -> tuple[str, int]:
    """The identifier with the first free number from here on, and the number after it."""
    while True:
        ending = f"-{number}"
        stem = wanted.encode()[: LONGEST - len(ending)].decode("utf-8", "ignore")
        number += 1
        if fold_case(stem + ending) not in taken:
            return stem + ending, number


def fold_case(document: str) -> str:
    """The form in which two identifiers are equal that name the same file where case is ignored."""
    return unicodedata.normalize("NFC", document.casefold())


@dataclass
class TableMatch:
    """By name of recording, its row's ``tags`` and ``given`` identifier; and rows that match no recording, and why."""

    tags: dict[str, dict[str, str]] = field(default_factory=dict)
    given: dict[str, str] = field(default_factory=dict)
    unmatched: list[tuple[TagRow, str]] = field(default_factory=list)


def match_table(table: TagTable, names: Sequence[str], *, folder: str = "") -> TableMatch:
    """Find the recording of every row; ``folder`` is the name of the folder that holds the recordings.

    Two rows for one recording, an identifier that is not valid or is used twice, and a table of which no row matches
    are refused.

    >>> rows = (TagRow(1, "A.MP3", None, {"artist": "X"}), TagRow(2, "b.mp3", None, {}))
    >>> match = match_table(TagTable("t.csv", rows), ["rock/a.mp3"])
    >>> match.tags, [why for _, why in match.unmatched]
    ({'rock/a.mp3': {'artist': 'X'}}, ['no recording matches it'])
    """
    index = _NameIndex(names, folder)
    match, rows = TableMatch(), dict[str, int]()
    for row in table.rows:
        matches = index.find(row)
        if len(matches) != 1:
            why = "no recording matches it" if not matches else f"{len(matches)} recordings match it"
            match.unmatched.append((row, why))
            continue
        name = matches[0]
        if name in rows:
            raise _row_error(table, row, f"expected one row for {shown(name)}, got another in row {rows[name]}")
        rows[name] = row.number
        match.tags[name] = row.tags
        if row.document is not None:
            match.given[name] = row.document
    if not rows:
        first = table.rows[0].file or table.rows[0].document
        raise InputError(
            f"expected rows about the recordings, such as {shown(names[0])}, got none of them ({shown(first)}, …)",
            source=table.source,
        )
    _check_identifiers(table, match.given, rows)
    return match


def _row_error(table: TagTable, row: TagRow, message: str) -> InputError:
    return InputError(f"row {row.number}: {message}", source=table.source)


def _check_identifiers(table: TagTable, given: Mapping[str, str], rows: Mapping[str, int]) -> None:
    """Refuse identifiers that are no valid file names, and those that two recordings would have."""
    seen: dict[str, str] = {}
    for name, document in given.items():
        if not is_identifier(document):
            raise InputError(
                f"row {rows[name]}: expected a document of at most 100 bytes made of letters, digits, '.', '_' and "
                f"'-', got {shown(document)}",
                source=table.source,
            )
        if fold_case(document) in seen:
            other = seen[fold_case(document)]
            raise InputError(
                f"row {rows[name]}: expected different documents, got {shown(document)} for {shown(name)} and "
                f"{shown(other)}",
                source=table.source,
            )
        seen[fold_case(document)] = name


class _NameIndex:
    """Recordings by everything that a cell of the table may call them."""

    def __init__(self, names: Sequence[str], folder: str) -> None:
        self.folder = _normalise_path(folder).casefold()
        self.exact = {_normalise_path(name): name for name in names}
        self.whole: dict[str, list[str]] = {}
        self.tails: dict[str, list[str]] = {}
        for name in names:
            for key in _path_keys(name):
                self.whole.setdefault(key, []).append(name)
                for tail in _path_tails(key):
                    self.tails.setdefault(tail, []).append(name)
        self.documents = {fold_case(document): name for name, document in assign_identifiers(names).items()}

    def find(self, row: TagRow) -> list[str]:
        """The recordings that a row may be about."""
        if row.file is not None:
            return self._find_path(row.file)
        document = row.document or ""
        own = self.documents.get(fold_case(decode_name(document)))
        return [own] if own is not None else self._find_path(document)

    def _find_path(self, cell: str) -> list[str]:
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


def _path_keys(name: str) -> Iterable[str]:
    """A path with and without its suffix; case is ignored."""
    plain = _normalise_path(name).casefold()
    return dict.fromkeys((plain, SUFFIX.sub("", plain)))


def _path_tails(path: str) -> Iterable[str]:
    """Every end of a path that begins with a whole name, the path itself excluded; the longest first.

    >>> list(_path_tails("a/b/c"))
    ['b/c', 'c']
    """
    parts = path.split("/")
    return ("/".join(parts[i:]) for i in range(1, len(parts)))
