"""What was found out and made so far, so that preparing a library can be interrupted at any moment and go on.

Beside the clips is a hidden folder with a journal, one line of JSON for every recording that was listened to and for
every clip that was made, each on disk before the next begins. A line that was cut off by the end of the process is
passed over: at most what was under way is done again. New clips wait in the hidden folder, too, until all of them are
there, so that a library is never half old and half new. One process at a time may prepare a library.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, BinaryIO

from adjudge.errors import InputError, reason
from adjudge.files import lock

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
        from adjudge.formats.writing import write_whole

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
