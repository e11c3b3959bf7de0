"""Features in files: numbers by the SHA-256 of the clip they describe, as NumPy's own archives without any objects."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats
from adjudge.errors import warn
from adjudge.formats.writing import write_whole

_DAMAGE = (OSError, ValueError, KeyError, TypeError, EOFError, MemoryError, zipfile.BadZipFile, zlib.error,
           NotImplementedError, RuntimeError)  # fmt: skip  # all that a damaged archive has been seen to raise


def save_values(path: Path, version: int, width: int, values: Mapping[str, Floats]) -> None:
    """Write numbers by digest, whole or not at all; in an order that does not depend on when they were computed."""
    digests = sorted(values)
    table = np.stack([values[digest] for digest in digests]) if digests else np.empty((0, width))
    packed = io.BytesIO()
    np.savez(packed, version=np.int64(version), digests=np.array(digests, dtype=np.str_), values=table)
    write_whole(path, packed.getvalue())


def kept_values(path: Path, version: int, width: int, wanted: Collection[str] | None = None) -> dict[str, Floats]:
    """Numbers by digest, all or those wanted; none where there is no file, one of another version, or a damaged one."""
    if not path.exists():
        return {}
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            if int(archive["version"]) != version:
                return {}
            digests, values = archive["digests"], archive["values"]
        if not _is_sound(digests, values, width):
            raise ValueError("other arrays than were written")
    except _DAMAGE:
        warn(f"{path}: damaged; its numbers are computed again", stacklevel=2)
        return {}
    return {
        digest: values[place] for place, digest in enumerate(digests.tolist()) if wanted is None or digest in wanted
    }


def _is_sound(digests: npt.NDArray[Any], values: npt.NDArray[Any], width: int) -> bool:
    """Whether arrays are what was written: text, and as many finite numbers in a row each as the feature has."""
    return (
        digests.ndim == 1
        and digests.dtype.kind == "U"
        and values.dtype == np.float64
        and values.shape == (len(digests), width)
        and bool(np.isfinite(values).all())
    )
