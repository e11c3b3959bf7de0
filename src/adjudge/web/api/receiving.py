"""Forms with files, straight into a working folder of the server's data.

Who is asking is known before the first byte of a form is read. Files lie under names of our own; what they were called
stays beside them.
"""

from __future__ import annotations

import re
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from adjudge.web.errors import Refused, WebError
from adjudge.web.media import working_folder
from adjudge.web.settings import Settings
from adjudge.web.uploads import MOST_FILES

_BLOCK = 1 << 20


@dataclass
class Received:
    """A form: its fields, and its files by field, each with the name that it was given and where it lies."""

    folder: Path
    fields: dict[str, str] = field(default_factory=dict)
    files: dict[str, list[tuple[str, Path]]] = field(default_factory=lambda: defaultdict(list))

    def named(self, name: str) -> dict[str, Path]:
        """The files of a field by name."""
        found: dict[str, Path] = {}
        for given, path in self.files.get(name, ()):
            if given in found:
                raise Refused(f"Expected files of different names, got {given!r} twice.")
            found[given] = path
        return found

    def one(self, name: str) -> tuple[str, Path] | None:
        """The only file of a field, None where there is none."""
        found = self.files.get(name, [])
        if len(found) > 1:
            raise Refused(f"Expected one file as {name!r}, got {len(found)}.")
        return found[0] if found else None

    def readable(self, name: str) -> list[Path]:
        """The files of a field under harmless names much like their own, for readers that go by names."""
        paths = []
        for number, (given, path) in enumerate(self.files.get(name, ())):
            folder = self.folder / f"{name}-{number}"
            folder.mkdir()
            paths.append(path.rename(folder / harmless_name(given)))
        return paths

    def plain(self, message: str) -> str:
        """A message without the places where files lie, with the field of a form in place of an option."""
        named = re.sub(r"--columns (.+) \(in Python, columns=\)", r"\1 in the field 'columns'", message)
        return re.sub(rf"{re.escape(str(self.folder))}/(?:\w+-\d+/)?", "", named)

    def choice(self, name: str) -> bool | None:
        """A field that says yes or no; None where it says nothing."""
        value = self.fields.get(name, "").lower()
        known = {"": None, "true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False}
        if value not in known:
            raise Refused(f"Expected true or false as {name!r}, got {value[:20]!r}")
        return known[value]


def harmless_name(name: str) -> str:
    """A name for the file system that tells people which file is meant.

    >>> harmless_name("../../etc/pass wd.txt"), harmless_name(".."), harmless_name("a.txt.gz")
    ('pass_wd.txt', 'file', 'a.txt.gz')
    """
    last = PurePosixPath(name.replace("\\", "/")).name
    plain = re.sub(r"[^\w.-]", "_", last, flags=re.ASCII).lstrip(".")[-100:].lstrip(".")
    return plain or "file"


@asynccontextmanager
async def received(request: Request, settings: Settings) -> AsyncIterator[Received]:
    """The form of a request; its files are gone at the end."""
    with working_folder(settings) as folder:
        form = await _form(request, folder)
        found = Received(folder)
        for name, value in form.multi_items():
            if isinstance(value, UploadFile):
                if value.filename:  # a field for files that was left empty has none
                    found.files[name].append((value.filename, await run_in_threadpool(_settled, value, folder)))
            else:
                found.fields[name] = value
        yield found


async def _form(request: Request, folder: Path) -> FormData:
    """The form, unless somebody read it before, as is done to find the token of a page."""
    before: FormData | None = getattr(request, "_form", None)
    if before is not None:
        return before
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        raise WebError("Expected a form with files (multipart/form-data), got something else.")
    parser = _IntoFolder(request.headers, request.stream(), max_files=MOST_FILES, max_fields=100)
    parser.folder = folder
    try:
        return await parser.parse()
    except MultiPartException as error:
        raise WebError(f"The form cannot be read: {error.message}") from None


class _IntoFolder(MultiPartParser):
    """Writes files into a folder as they come, instead of into memory and the system's own."""

    folder: Path

    def on_headers_finished(self) -> None:
        super().on_headers_finished()
        upload = self._current_part.file
        if upload is not None:
            upload.file.close()
            file: Any = tempfile.NamedTemporaryFile(dir=self.folder, delete=False)  # noqa: SIM115 - closed by whom it is for
            upload.file = file
            self._files_to_close_on_error.append(file)


def _settled(upload: UploadFile, folder: Path) -> Path:
    """Where a file lies; one that lies elsewhere is copied."""
    name = getattr(upload.file, "name", None)
    if isinstance(name, str) and Path(name).parent == folder:
        upload.file.close()
        return Path(name)
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as copy:
        upload.file.seek(0)
        while block := upload.file.read(_BLOCK):
            copy.write(block)
    return Path(copy.name)
