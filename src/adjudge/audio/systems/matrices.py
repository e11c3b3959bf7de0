"""Whole matrices of distances in files, written block by block: of a million pairs, never all in memory.

``npy`` is for NumPy, single precision, with the documents of its rows and columns in a text file beside it. ``mirex``
is the text that MIREX had systems for audio music similarity write: the name of the system, numbered documents, a line
``Q/R`` with the numbers of the columns, a row of distances a document.
"""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO, Literal

import numpy as np

from adjudge.audio.systems.base import BASELINES, Distances, Sounds
from adjudge.audio.systems.distances import blocks
from adjudge.choices import check_choice
from adjudge.errors import InputError, reason
from adjudge.files import whole_file
from adjudge.processes import Progress

MatrixForm = Literal["npy", "mirex"]
MATRIX_FOLDER = "matrices"
_SUFFIXES = {"npy": ".npy", "mirex": ".txt"}


def write_matrix(
    sounds: Sounds, system: str, folder: Path, *, form: MatrixForm = "npy", progress: Progress | None = None
) -> Path:
    """Write the distances of a system between all documents to ``<system>.npy`` or ``<system>.txt`` in a folder.

    The file appears when it is complete, and an older one stays until then. With ``npy`` the documents are in
    ``<system>.documents.txt``, one a line. ``progress`` is told how many rows are done.
    """
    check_choice("matrix", form, MatrixForm)
    distances = BASELINES[system].start(sounds)
    target = folder / f"{system}{_SUFFIXES[form]}"
    report = progress or (lambda done, total: None)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if form == "npy":
            with whole_file(folder / f"{system}.documents.txt") as file:
                file.write("".join(f"{name}\n" for name in sounds.documents).encode())
        with whole_file(target) as file:
            if form == "npy":
                _write_npy(file, distances, len(sounds), report)
            else:
                _write_mirex(file, sounds, system, distances, report)
    except OSError as error:
        raise InputError(f"cannot be written: {reason(error)}", source=str(target)) from None
    return target


def _write_npy(file: BinaryIO, distances: Distances, n: int, progress: Progress) -> None:
    np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": (n, n)})
    done = 0
    for part in blocks(np.arange(n), n):
        file.write(distances.rows(part).astype("<f4").tobytes())
        done += len(part)
        progress(done, n)


def _write_mirex(file: BinaryIO, sounds: Sounds, system: str, distances: Distances, progress: Progress) -> None:
    import polars as pl

    n = len(sounds)
    numbers = [str(number) for number in range(1, n + 1)]
    names = "".join(f"{number}\t{name}\n" for number, name in zip(numbers, sounds.documents, strict=True))
    columns = "\t".join(numbers)
    file.write(f"{system}\n{names}Q/R\t{columns}\n".encode())
    done = 0
    for part in blocks(np.arange(n), 4 * n):
        table = pl.DataFrame(distances.rows(part).astype(np.float32))
        table.insert_column(0, pl.Series("number", part + 1))
        table.write_csv(file, separator="\t", include_header=False)
        done += len(part)
        progress(done, n)
