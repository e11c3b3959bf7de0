"""Files with notation: what is in them, and clips and drawings of many of them over processes.

A file has one piece, named by the file; a file of Plaine & Easie may have several, each between ``@start:NAME`` and
``@end:NAME``. Compressed MusicXML (.mxl) is unpacked. Text is UTF-8, or what XML says it is.

A piece becomes a clip, prepared as any recording is (``clips``), and a drawing with its timeline, one file of JSON
``{"svg": …, "notes": [[start, end, [id, …]], …]}``, both called after the SHA-256 of their bytes.

Notation as sound: every note struck on a plain piano, exactly when the drawing's timeline says.

The instrument is the demo's piano (``synthesis``), the same for every piece, without a room and without
expression: what listeners compare is the music and not its performance. Loudness is left to the pipeline of clips.

A clip begins with a tenth of a second of silence, so that no player swallows the first attack, and ends with the last
note dying away; ``clip_times`` moves the timeline accordingly.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import parent_process
from pathlib import Path
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray

from adjudge.arrays import Floats
from adjudge.audio.clips import Clip, clip_of, write_whole
from adjudge.audio.loudness import AudioError
from adjudge.audio.notation.checks import MOST_CHARACTERS, NotationError
from adjudge.audio.notation.engraving import Engraved, engrave
from adjudge.audio.synthesis import tone
from adjudge.errors import AdjudgeError, shown
from adjudge.parallel import CrashedError, Progress, run_jobs

RATE = 44100
LEAD, TAIL = 0.1, 0.6  # seconds before the first beat and after the last
LEAST_SECONDS = 1.0  # of a clip
HELD = 0.06  # seconds at least that a note sounds, however short it is written
LEVEL = 0.12

Timeline = list[tuple[float, float, tuple[str, ...]]]


def clip_times(engraved: Engraved) -> Timeline:
    """When the notes of the drawing sound in the clip: start and end in seconds, and which.

    >>> from adjudge.audio.notation.engraving import engrave
    >>> clip_times(engrave("%G-2@c '4CD"))
    [(0.1, 0.7, ('n1',)), (0.7, 1.3, ('n2',))]
    """
    return [(round(LEAD + one.start, 4), round(LEAD + one.end, 4), one.ids) for one in engraved.notes]


def render(engraved: Engraved, *, rate: int = RATE) -> Floats:
    """The sound: samples x 2, silence where there are only rests.

    >>> from adjudge.audio.notation.engraving import engrave
    >>> render(engrave("%G-2@c '4CDEF")).shape  # four quarters of 0.6 s, and what is before and after them
    (136710, 2)
    """
    length = round(max(LEAST_SECONDS, LEAD + engraved.seconds + TAIL) * rate)
    mix = np.zeros((2, length), dtype=np.float32)
    known: dict[tuple[int, int], NDArray[np.float32]] = {}
    for note in engraved.notes:
        held = max(HELD, note.end - note.start)
        start = round((LEAD + note.start) * rate)
        for pitch in note.pitches:
            key = pitch, round(held * rate)
            if key not in known:
                known[key] = _struck(pitch, held, rate)
            wave = known[key][:, : length - start]
            mix[:, start : start + wave.shape[1]] += wave
    return np.asarray(_faded(mix, rate).T, dtype=np.float64)


def _struck(pitch: int, held: float, rate: int) -> NDArray[np.float32]:
    """One note; high ones are a little softer, as they are on a piano."""
    softer = 2 ** ((60 - pitch) / 48)
    wave = tone("piano", pitch, held, rate=rate, brightness=-0.06)
    return np.asarray(np.broadcast_to(wave, (2, len(wave))) * np.float32(LEVEL * softer), dtype=np.float32)


def _faded(mix: NDArray[np.float32], rate: int) -> NDArray[np.float32]:
    """The last tenth of a second fades out."""
    n = min(mix.shape[1], rate // 10)
    mix[:, mix.shape[1] - n :] *= np.linspace(1, 0, n, dtype=np.float32)
    return mix


def sounding(times: Sequence[tuple[float, float, tuple[str, ...]]], seconds: float) -> set[str]:
    """Which notes sound at a moment of the clip; what a page lights up.

    >>> sounding([(0.1, 0.7, ("n1",)), (0.7, 1.3, ("n2", "n3"))], 0.9) == {"n2", "n3"}
    True
    """
    return {name for start, end, ids in times if start <= seconds < end for name in ids}


SUFFIXES = {".pae": "pae", ".musicxml": "musicxml", ".mxl": "musicxml", ".mei": "mei", ".xml": None}
"""What files with notation are called, and the form that they must have; None where either XML will do."""
MOST_BYTES = 4 * MOST_CHARACTERS
MOST_MEMBERS = 1000  # files inside compressed MusicXML
LONGEST_NAME = 400
MOST_CPU = 60  # seconds that a process may take for one piece
MOST_MEMORY = 2 << 30  # bytes that it may take for one, beyond what it has: figures repeated often fill any machine
_NOT_UNPACKED = (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, RuntimeError, OSError, ValueError)
_ENCODINGS = {"utf-8", "us-ascii", "ascii", "iso-8859-1", "iso-8859-15", "latin-1", "latin1", "windows-1252", "utf-16"}


@dataclass(frozen=True)
class Piece:
    """Notation as it was read: its text and form, and where it came from, for errors."""

    text: str
    form: str | None = None
    source: str | None = None
    line: int = 1

    @property
    def sha256(self) -> str:
        """The digest of its text in UTF-8."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class Played:
    """A piece that can be heard and seen: its clip, and the digest of its drawing."""

    clip: Clip
    drawing_sha256: str


def read_pieces(path: Path, *, name: str | None = None) -> dict[str, Piece]:
    """The pieces of a file by name; ``name`` is what the file was called, if it is elsewhere by now.

    >>> read_pieces(Path("nowhere.pae"))
    Traceback (most recent call last):
    adjudge.audio.notation.checks.NotationError: nowhere.pae: expected a file, got none
    """
    called = Path(name or path)
    source = str(called)
    if not path.is_file():
        raise NotationError("expected a file, got none", source=source)
    if path.stat().st_size > MOST_BYTES:
        size = path.stat().st_size
        raise NotationError(f"expected at most {MOST_BYTES >> 20} MiB, got {size / 2**20:.0f}", source=source)
    try:
        data = path.read_bytes()
    except OSError as error:
        said = error.strerror or "an error"
        raise NotationError(f"expected a file that can be read, got {said}", source=source) from None
    if not data:
        raise NotationError("expected notation, got a file of zero bytes", source=source)
    if called.suffix.lower() == ".mxl" or data.startswith(b"PK\x03\x04"):
        data = _unpacked(data, source)
    text = _decoded(data, source)
    form = SUFFIXES.get(called.suffix.lower())
    if form == "pae" and any(row.lstrip().startswith("@start:") for row in text.splitlines()):
        return _blocks(text, source)
    return {called.stem: Piece(text, form, source)}


def _decoded(data: bytes, source: str) -> str:
    """Text of bytes: UTF-16 with its mark, XML as it declares, everything else UTF-8."""
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    declared = re.match(rb"\s*<\?xml[^>]*encoding=[\"']([\w.-]+)", data.removeprefix(b"\xef\xbb\xbf"))
    if declared and encoding != "utf-16":
        encoding = declared[1].decode("ascii", "replace").lower()
        if encoding not in _ENCODINGS or encoding == "utf-16":
            raise NotationError(f"expected XML in UTF-8, got {shown(encoding)}", source=source)
    try:
        return data.decode("utf-8-sig" if encoding == "utf-8" else encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise NotationError("expected text in UTF-8, got something else", source=source, line=line) from None


def _unpacked(data: bytes, source: str) -> bytes:
    """The score inside compressed MusicXML: the first that its table of contents names."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if len(archive.infolist()) > MOST_MEMBERS:
                raise NotationError(f"expected at most {MOST_MEMBERS:,} files in it, got more", source=source)
            names = _rootfiles(_member(archive, "META-INF/container.xml", source), source)
            if not names:
                raise NotationError("expected compressed MusicXML that names a score, got one without", source=source)
            return _member(archive, names[0], source)
    except _NOT_UNPACKED as error:
        if isinstance(error, NotationError):
            raise
        came = f"a file that cannot be unpacked ({shown(str(error))})"
        raise NotationError(f"expected compressed MusicXML, got {came}", source=source) from None


def _member(archive: zipfile.ZipFile, name: str, source: str) -> bytes:
    try:
        about = archive.getinfo(name)
    except KeyError:
        raise NotationError(f"expected {shown(name)} in compressed MusicXML, got none", source=source) from None
    if about.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # others unpack without any limit
        raise NotationError(f"expected {shown(name)} deflated, as MusicXML has it, got another packing", source=source)
    with archive.open(about) as file:  # what it says of its size may be a lie
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise NotationError(f"expected at most {MOST_BYTES >> 20} MiB of {shown(name)}, got more", source=source)
    return data


def _rootfiles(container: bytes, source: str) -> list[str]:
    """The scores that the contents of compressed MusicXML name."""
    found: list[str] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        kind = attributes.get("media-type", "application/vnd.recordare.musicxml+xml")
        if name.rpartition(":")[2] == "rootfile" and "musicxml" in kind and attributes.get("full-path"):
            found.append(attributes["full-path"])

    def entity(*about: object) -> None:
        raise NotationError("expected XML without entities, got one", source=source)

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.EntityDeclHandler = entity
    try:
        parser.Parse(container, True)
    except expat.ExpatError:
        raise NotationError("expected contents in XML, got something else", source=source) from None
    return found


def _blocks(text: str, source: str) -> dict[str, Piece]:
    """Several pieces of Plaine & Easie, each between its start and its end."""
    found: dict[str, Piece] = {}
    name, rows, first = "", list[str](), 0
    for number, row in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), start=1):
        mark, _, given = (part.strip() for part in row.partition(":"))
        if mark not in ("@start", "@end"):
            if name:
                rows.append(row)
            elif row.strip():
                raise NotationError(f"expected @start:, got {shown(row.strip())}", source=source, line=number)
        elif (mark == "@end") != bool(name) or (name and given != name):
            wanted = f"@end:{name}" if name else "@start:"
            raise NotationError(f"expected {wanted}, got {shown(row.strip())}", source=source, line=number)
        elif name:
            found[name] = Piece("\n".join(rows), "pae", source, first)
            name, rows = "", []
        else:
            if not 0 < len(given) <= LONGEST_NAME or not given.isprintable() or given in found:
                wanted = f"a new name of 1 to {LONGEST_NAME} characters after @start:"
                raise NotationError(f"expected {wanted}, got {shown(given)}", source=source, line=number)
            name, first = given, number + 1
    if name:
        raise NotationError(f"expected @end:{name}, got the end of the file", source=source)
    return found


def prepare_pieces(
    pieces: Mapping[str, Piece],
    *,
    clips: Path,
    drawings: Path,
    workers: int | None = None,
    progress: Progress | None = None,
) -> tuple[dict[str, Played], dict[str, str]]:
    """Clips and drawings of many pieces, and one line for each that cannot be used; both by name.

    Pieces are engraved in other processes, as some rubbish may end the engraver's; ``workers=1`` stays in this one,
    and is for pieces that are known to be good.
    """
    prepare = partial(_attempt, clips=clips, drawings=drawings)
    played: dict[str, Played] = {}
    problems: dict[str, str] = {}
    for name, result in run_jobs(prepare, pieces, workers=workers, apart=workers != 1, progress=progress):
        if isinstance(result, Played):
            played[name] = result
        elif isinstance(result, CrashedError):
            said = NotationError("expected notation, got a crash while drawing it", source=pieces[name].source)
            problems[name] = str(said)
        else:
            problems[name] = result
    return {n: played[n] for n in pieces if n in played}, {n: problems[n] for n in pieces if n in problems}


def prepare_piece(piece: Piece, *, clips: Path, drawings: Path) -> Played:
    """Engrave and play one piece into two folders; nothing is written where it cannot be used."""
    engraved = engrave(piece.text, source=piece.source, form=piece.form, line=piece.line)
    if not engraved.notes:
        raise NotationError("expected notes to hear, got only rests", source=piece.source, line=piece.line)
    notes = [[start, end, list(ids)] for start, end, ids in clip_times(engraved)]
    data = json.dumps({"svg": engraved.svg, "notes": notes}, ensure_ascii=False, separators=(",", ":")).encode()
    digest = hashlib.sha256(data).hexdigest()
    try:
        clip = clip_of(
            render(engraved), RATE, clips, source_name=piece.source or "notation", original_sha256=piece.sha256
        )
    except AudioError as error:
        raise NotationError(str(error), source=piece.source) from None
    write_whole(drawings / f"{digest}.json", data)
    return Played(clip, digest)


def _attempt(piece: Piece, *, clips: Path, drawings: Path) -> Played | str:
    """A piece that can be heard and seen, or the line that says why not."""
    if parent_process() is not None:
        limit_process()
    try:
        return prepare_piece(piece, clips=clips, drawings=drawings)
    except AdjudgeError as error:
        return str(error)
    except Exception as error:  # whatever a piece does to its readers, it costs no other piece
        said = " ".join(f"{type(error).__name__} {error}".split())
        return str(NotationError(f"expected notation that can be drawn, got {shown(said)[1:-1]}", source=piece.source))


def limit_process() -> None:
    """End this process where one piece takes it too long, or too much memory; systems without limits do without."""
    try:
        import resource
    except ImportError:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    _lower(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime) + MOST_CPU)
    with suppress(OSError, ValueError):
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        _lower(resource.RLIMIT_AS, pages * resource.getpagesize() + MOST_MEMORY)


def _lower(limit: int, most: int) -> None:
    import resource

    _, hard = resource.getrlimit(limit)
    resource.setrlimit(limit, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
