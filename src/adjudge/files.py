"""Files that several processes may want: there whole or not at all, and in the hands of one at a time."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO

from adjudge.errors import AdjudgeError, warn


@contextmanager
def whole_file(target: Path, permissions: int | None = None) -> Iterator[BinaryIO]:
    """A file to write to that takes its name when everything is on disk, or leaves nothing behind.

    Without ``permissions`` it has those of any new file.
    """
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:40]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask() if permissions is None else permissions)
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def lock(handle: int | IO[bytes], folder: Path, *, doing: str) -> None:
    """Lock an open file for this process; refused where another process has it, which is ``doing`` the same.

    The system takes the lock back when the process ends, however it ends. On systems without such locks nothing
    happens; of a file system without them there is a warning.
    """
    try:
        import fcntl
    except ImportError:  # not on this system
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise AdjudgeError(f"{folder}: another process is {doing}") from None
    except OSError:
        warn(f"{folder}: its file system has no locks; take care that only one process is {doing}.", stacklevel=2)
