"""Files with notation, and their pieces as clips and drawings.

A file has one piece, named by the file; a file of Plaine & Easie may have several, each between ``@start:NAME`` and
``@end:NAME``. Compressed MusicXML (.mxl) is unpacked. Text is UTF-8, or the encoding that XML declares.

A piece becomes a clip, prepared as any recording is (``clips``), and a drawing with its timeline, a file of JSON
``{"svg": …, "notes": [[start, end, [id, …]], …]}``, both called after the SHA-256 of their bytes. Every note is struck
on the demo's piano (``synthesis``), exactly when the timeline says: listeners compare the music and not its
performance. A clip begins with a tenth of a second of silence, so that no player swallows the first attack.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import parent_process
from pathlib import Path
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray

from adjudge.arrays import Floats
from adjudge.audio.clips import Clip, collect_results, encode_clip, write_media
from adjudge.audio.loudness import AudioError
from adjudge.audio.notation.checks import MOST_CHARACTERS, NotationError, named_source, refuse_entity
from adjudge.audio.notation.engraving import Engraving, engrave
from adjudge.audio.synthesis import tone
from adjudge.errors import AdjudgeError, shown
from adjudge.parallel import Progress, run_jobs

RATE = 44100
LEAD, TAIL = 0.1, 0.6  # seconds before the first beat and after the last
LEAST_SECONDS = 1.0  # of a clip
HELD = 0.06  # seconds that even the shortest note sounds
LEVEL = 0.12
Timeline = list[tuple[float, float, tuple[str, ...]]]
SUFFIXES = {".pae": "pae", ".musicxml": "musicxml", ".mxl": "musicxml", ".mei": "mei", ".xml": None}
"""Suffixes of files with notation, and the form that they must have; None for either form of XML."""
MOST_BYTES = 4 * MOST_CHARACTERS
MOST_MEMBERS = 1000  # files inside compressed MusicXML
LONGEST_NAME = 400
MOST_CPU = 60  # seconds of a process per piece
MOST_MEMORY = 2 << 30  # bytes per piece beyond what the process has: repeated figures can fill any memory
_UNPACKING_ERRORS = (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, RuntimeError, OSError, ValueError)
_ENCODINGS = {"utf-8", "us-ascii", "ascii", "iso-8859-1", "iso-8859-15", "latin-1", "latin1", "windows-1252", "utf-16"}


@dataclass(frozen=True)
class Piece:
    """Notation from a file: its text and form, and where it came from, for errors."""

    text: str
    form: str | None = None
    source: str | None = None
    line: int = 1

    @property
    def sha256(self) -> str:
        """The digest of its text in UTF-8."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class PlayedPiece:
    """The clip of a piece, and the digest of its drawing."""

    clip: Clip
    drawing_sha256: str


def read_pieces(path: Path, *, name: str | None = None) -> dict[str, Piece]:
    """The pieces of a file by name; ``name`` is the file's original name, if it was moved.

    >>> read_pieces(Path("nowhere.pae"))
    Traceback (most recent call last):
    adjudge.audio.notation.checks.NotationError: nowhere.pae: expected a file, got none
    """
    called = Path(name or path)
    source, suffix = str(called), called.suffix.lower()
    with named_source(source):
        if not path.is_file():
            raise NotationError("expected a file, got none")
        if (size := path.stat().st_size) > MOST_BYTES:
            raise NotationError(f"expected at most {MOST_BYTES >> 20} MiB, got {size / 2**20:.0f}")
        try:
            data = path.read_bytes()
        except OSError as error:
            came = error.strerror or "an error"
            raise NotationError(f"expected a file that can be read, got {came}") from None
        if not data:
            raise NotationError("expected notation, got a file of zero bytes")
        if suffix == ".mxl" or data.startswith(b"PK\x03\x04"):
            data = _unpack_score(data)
        text, form = _decode_text(data), SUFFIXES.get(suffix)
        if form == "pae" and any(row.lstrip().startswith("@start:") for row in text.splitlines()):
            return _split_pieces(text, source)
    return {called.stem: Piece(text, form, source)}


def _unpack_score(data: bytes) -> bytes:
    """The score inside compressed MusicXML: the first that its container names."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if len(archive.infolist()) > MOST_MEMBERS:
                raise NotationError(f"expected at most {MOST_MEMBERS:,} files in it, got more")
            names = _find_scores(_read_member(archive, "META-INF/container.xml"))
            if not names:
                raise NotationError("expected compressed MusicXML that names a score, got one without")
            return _read_member(archive, names[0])
    except NotationError:
        raise
    except _UNPACKING_ERRORS as error:
        came = f"a file that cannot be unpacked ({shown(str(error))})"
        raise NotationError(f"expected compressed MusicXML, got {came}") from None


def _find_scores(container: bytes) -> list[str]:
    """The scores that the container of compressed MusicXML names."""
    scores: list[str] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        kind = attributes.get("media-type", "application/vnd.recordare.musicxml+xml")
        if name.rpartition(":")[2] == "rootfile" and "musicxml" in kind and attributes.get("full-path"):
            scores.append(attributes["full-path"])

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EntityDeclHandler = start, refuse_entity
    try:
        parser.Parse(container, True)
    except expat.ExpatError:
        raise NotationError("expected contents in XML, got something else") from None
    return scores


def _read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    try:
        about = archive.getinfo(name)
    except KeyError:
        raise NotationError(f"expected {shown(name)} in compressed MusicXML, got none") from None
    if about.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # others unpack without a limit
        raise NotationError(f"expected {shown(name)} deflated, as MusicXML has it, got another packing")
    with archive.open(about) as file:  # the stated size may be a lie
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise NotationError(f"expected at most {MOST_BYTES >> 20} MiB of {shown(name)}, got more")
    return data


def _decode_text(data: bytes) -> str:
    """Decode text: UTF-16 with its byte order mark, XML as it declares, everything else UTF-8."""
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    declared = re.match(rb"\s*<\?xml[^>]*encoding=[\"']([\w.-]+)", data.removeprefix(b"\xef\xbb\xbf"))
    if declared and encoding != "utf-16":
        encoding = declared[1].decode("ascii", "replace").lower()
        if encoding not in _ENCODINGS or encoding == "utf-16":
            raise NotationError(f"expected XML in UTF-8, got {shown(encoding)}")
    try:
        return data.decode("utf-8-sig" if encoding == "utf-8" else encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise NotationError("expected text in UTF-8, got something else", line=line) from None


def _split_pieces(text: str, source: str) -> dict[str, Piece]:
    """Several pieces of Plaine & Easie, each between its start and its end."""
    pieces: dict[str, Piece] = {}
    name, rows, first = "", list[str](), 0
    for number, row in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), start=1):
        mark, _, given = (part.strip() for part in row.partition(":"))
        if mark not in ("@start", "@end"):
            if name:
                rows.append(row)
            elif row.strip():
                raise NotationError(f"expected @start:, got {shown(row.strip())}", line=number)
        elif (mark == "@end") != bool(name) or (name and given != name):
            wanted = f"@end:{name}" if name else "@start:"
            raise NotationError(f"expected {wanted}, got {shown(row.strip())}", line=number)
        elif name:
            pieces[name] = Piece("\n".join(rows), "pae", source, first)
            name, rows = "", []
        else:
            if not 0 < len(given) <= LONGEST_NAME or not given.isprintable() or given in pieces:
                wanted = f"a new name of 1 to {LONGEST_NAME} characters after @start:"
                raise NotationError(f"expected {wanted}, got {shown(given)}", line=number)
            name, first = given, number + 1
    if name:
        raise NotationError(f"expected @end:{name}, got the end of the file")
    return pieces


def prepare_pieces(
    pieces: Mapping[str, Piece],
    *,
    clips: Path,
    drawings: Path,
    workers: int | None = None,
    progress: Progress | None = None,
) -> tuple[dict[str, PlayedPiece], dict[str, str]]:
    """Clips and drawings of many pieces, and one line for each that cannot be used; both by name.

    Pieces are engraved in other processes, because malformed ones may end the engraver's; ``workers=1`` stays in this
    process and is for pieces that are known to be good.
    """
    prepare = partial(_try_prepare_piece, clips=clips, drawings=drawings)
    results = run_jobs(prepare, pieces, workers=workers, apart=workers != 1, progress=progress)

    def crash(name: str) -> NotationError:
        return NotationError("expected notation, got a crash while drawing it", source=pieces[name].source)

    return collect_results(results, pieces, crash)


def _try_prepare_piece(piece: Piece, *, clips: Path, drawings: Path) -> PlayedPiece | str:
    """Prepare a piece, or return the line that says why not."""
    if parent_process() is not None:
        limit_process()
    try:
        return prepare_piece(piece, clips=clips, drawings=drawings)
    except AdjudgeError as error:
        return str(error)
    except Exception as error:  # a piece with an unexpected error costs no other piece
        came = " ".join(f"{type(error).__name__} {error}".split())
        return str(NotationError(f"expected notation that can be drawn, got {shown(came)[1:-1]}", source=piece.source))


def prepare_piece(piece: Piece, *, clips: Path, drawings: Path) -> PlayedPiece:
    """Engrave and play one piece into two folders; nothing is written where it cannot be used."""
    engraving = engrave(piece.text, source=piece.source, form=piece.form, line=piece.line)
    if not engraving.notes:
        raise NotationError("expected notes to hear, got only rests", source=piece.source, line=piece.line)
    notes = [[start, end, list(ids)] for start, end, ids in clip_times(engraving)]
    data = json.dumps({"svg": engraving.svg, "notes": notes}, ensure_ascii=False, separators=(",", ":")).encode()
    digest = hashlib.sha256(data).hexdigest()
    try:
        clip = encode_clip(
            render(engraving), RATE, clips, source_name=piece.source or "notation", original_sha256=piece.sha256
        )
    except AudioError as error:
        raise NotationError(str(error), source=piece.source) from None
    write_media(drawings / f"{digest}.json", data)
    return PlayedPiece(clip, digest)


def clip_times(engraving: Engraving) -> Timeline:
    """When the notes of a drawing sound in the clip: start and end in seconds, and their identifiers.

    >>> from adjudge.audio.notation.engraving import engrave
    >>> clip_times(engrave("%G-2@c '4CD"))
    [(0.1, 0.7, ('n1',)), (0.7, 1.3, ('n2',))]
    """
    return [(round(LEAD + note.start, 4), round(LEAD + note.end, 4), note.ids) for note in engraving.notes]


def render(engraving: Engraving, *, rate: int = RATE) -> Floats:
    """The sound of the music: samples x 2, silence where there are only rests.

    >>> from adjudge.audio.notation.engraving import engrave
    >>> render(engrave("%G-2@c '4CDEF")).shape  # four quarters of 0.6 s, and what is before and after them
    (136710, 2)
    """
    length = round(max(LEAST_SECONDS, LEAD + engraving.seconds + TAIL) * rate)
    mix = np.zeros(length, dtype=np.float32)
    waves: dict[tuple[int, int], NDArray[np.float32]] = {}
    for note in engraving.notes:
        held = max(HELD, note.end - note.start)
        start = round((LEAD + note.start) * rate)
        for pitch in note.pitches:
            key = pitch, round(held * rate)
            if key not in waves:  # high notes are a little softer
                level = np.float32(LEVEL * 2 ** ((60 - pitch) / 48))
                waves[key] = tone("piano", pitch, held, rate=rate, brightness=-0.06) * level
            wave = waves[key][: length - start]
            mix[start : start + len(wave)] += wave
    n = min(length, rate // 10)
    mix[length - n :] *= np.linspace(1, 0, n, dtype=np.float32)  # the last tenth of a second fades out
    return np.repeat(mix[:, None].astype(np.float64), 2, axis=1)


def limit_process() -> None:
    """End this process where a piece takes too much time or memory, on systems that have such limits."""
    try:
        import resource
    except ImportError:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    limits = {resource.RLIMIT_CPU: int(used.ru_utime + used.ru_stime) + MOST_CPU}
    with suppress(OSError, ValueError):
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        limits[resource.RLIMIT_AS] = pages * resource.getpagesize() + MOST_MEMORY
    for limit, most in limits.items():
        _, hard = resource.getrlimit(limit)
        resource.setrlimit(limit, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
