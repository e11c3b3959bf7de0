"""A chunk of trials: the pure function that every kind of worker runs."""

from __future__ import annotations

import hashlib
import io
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from adjudge._version import __version__
from adjudge.errors import kept_warnings
from adjudge.experiments.samples import Samples
from adjudge.experiments.spec import Draws, Experiment, Rows

if TYPE_CHECKING:
    import polars as pl

Span = tuple[int, int]
"""Trials from the first up to, not including, the last."""
_ROWS_OF_GROUP = 1 << 18
_SEAL, _BLANK = b"adjudge-blake2b:", b"0" * 32
_MOST_METADATA = 1 << 26


def run_chunk(experiment: Experiment, samples: Samples, first: int, last: int) -> pl.DataFrame:
    """Rows of trials ``first`` up to, not including, ``last``; products of matrices stay in one thread.

    One thread, because workers are processes, and because the last digit of a sum must not depend on how many cores a
    machine has.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1), kept_warnings():
        rows = [_numbered(experiment.trial(samples, Draws(experiment.seed, i)), i) for i in range(first, last)]
    return as_frame({name: np.concatenate([one[name] for one in rows]) for name in rows[0]}, experiment.names(samples))


def _numbered(rows: Rows, trial: int) -> Rows:
    length = len(next(iter(rows.values())))
    return {"trial": np.full(length, trial, dtype=np.int32), **rows}


def as_frame(rows: Rows, names: Mapping[str, Sequence[str]]) -> pl.DataFrame:
    """Rows as a table, with names in the place of their codes."""
    import polars as pl

    def column(name: str, values: npt.NDArray[Any]) -> pl.Series:
        if name not in names:
            return pl.Series(name, values)
        return pl.Series(name, list(names[name]), dtype=pl.Enum(list(names[name]))).gather(values.astype(np.uint32))

    return pl.DataFrame([column(name, values) for name, values in rows.items()])


@dataclass(frozen=True)
class Chunk:
    """Trials that were run, packed as a Parquet file, and how long they took."""

    span: Span
    data: bytes
    seconds: float

    @property
    def seconds_per_trial(self) -> float:
        return self.seconds / (self.span[1] - self.span[0])


@dataclass(frozen=True)
class Work:
    """What travels to a worker once; called with a span, it runs those trials."""

    experiment: Experiment
    samples: Samples

    def __call__(self, span: Span) -> Chunk:
        started = time.perf_counter()
        frame = run_chunk(self.experiment, self.samples, *span)
        return Chunk(span, pack(frame, self.fingerprint, span), time.perf_counter() - started)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of all that a trial depends on: specification but for the number of trials, samples and version."""
        described = {**self.experiment.to_dict(), "trials": 0, "samples": self.samples.digest, "adjudge": __version__}
        return hashlib.sha256(json.dumps(described, sort_keys=True, default=str).encode()).hexdigest()


def pack(frame: pl.DataFrame, fingerprint: str, span: Span) -> bytes:
    """Rows as a Parquet file that says which trials of which experiment it holds; same rows, same bytes."""
    return sealed(frame, {"adjudge_experiment": fingerprint, "adjudge_trials": f"{span[0]}-{span[1]}"})


def sealed(frame: pl.DataFrame, metadata: Mapping[str, str] | None = None) -> bytes:
    """A table as a Parquet file, with a digest of the whole file in its metadata.

    Without one a bit that has changed gives other numbers, or ends the process that reads the file.
    """
    buffer = io.BytesIO()
    frame.rechunk().write_parquet(
        buffer,
        compression="zstd",
        row_group_size=_ROWS_OF_GROUP,
        metadata={**(metadata or {}), "adjudge_seal": (_SEAL + _BLANK).decode()},
    )
    data = buffer.getbuffer()
    place = _place_of_seal(data)
    data[place : place + len(_BLANK)] = _digest(data, place)
    return bytes(data)


def is_sealed(data: bytes) -> bool:
    """Whether a file is as :func:`sealed` wrote it, bit by bit."""
    place = _place_of_seal(data)
    return place > 0 and data[place : place + len(_BLANK)] == _digest(data, place)


def _place_of_seal(data: bytes | memoryview) -> int:
    """Where the digest is, in what follows the rows; 0 where there is none."""
    first = max(0, len(data) - _MOST_METADATA)
    found = bytes(data[first:]).rfind(_SEAL)
    return first + found + len(_SEAL) if found >= 0 else 0


def _digest(data: bytes | memoryview, place: int) -> bytes:
    """Of the file, with a blank in the place of the digest."""
    content, view = hashlib.blake2b(digest_size=len(_BLANK) // 2), memoryview(data)
    for part in (view[:place], _BLANK, view[place + len(_BLANK) :]):
        content.update(part)
    return content.hexdigest().encode()


def unpack(data: bytes, fingerprint: str) -> tuple[Span, pl.DataFrame] | None:
    """The trials that :func:`pack` wrote; None where the file is cut off, damaged or of another experiment."""
    import polars as pl

    if not is_sealed(data):
        return None
    try:
        said = pl.read_parquet_metadata(io.BytesIO(data))
        if said.get("adjudge_experiment") != fingerprint:
            return None
        first, last = (int(word) for word in said["adjudge_trials"].split("-"))
        frame = pl.read_parquet(io.BytesIO(data))
        trials = frame["trial"].to_numpy()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError, KeyError):
        return None
    inside = len(trials) == 0 or (trials[0] >= first and trials[-1] < last and bool((np.diff(trials) >= 0).all()))
    return ((first, last), frame) if inside and 0 <= first < last else None
