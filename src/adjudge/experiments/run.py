"""Run an experiment, resume one, or read what one found.

Trial *i* depends on the specification, the samples and *i* alone, so that numbers, and the bytes of ``trials.parquet``,
are the same whatever the workers, the chunks and the interruptions.

A folder keeps an experiment. ``experiment.json`` is written first and describes it; ``effectiveness.parquet`` holds the
samples. While trials are run, ``trials/FIRST-LAST.parquet`` hold those from the first up to, not including, the last;
once all are there they become ``trials.parquet``, and only then are the others removed. Every file is written whole or
not at all, so that a run may be killed at any moment.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adjudge._version import __version__
from adjudge.checks import COUNT, TRIALS, checked
from adjudge.deprecated import settings_apart
from adjudge.errors import AdjudgeError, InputError, kept_warnings, reason, warn
from adjudge.experiments.samples import Samples, samples_of
from adjudge.experiments.spec import Draws, Experiment, Findings, experiment_from
from adjudge.io import lock, plain, write_whole
from adjudge.model.effectiveness import Effectiveness
from adjudge.model.provenance import Provenance
from adjudge.parallel import CrashedError, Pool, Progress, open_pool
from adjudge.seeds import as_seed
from adjudge.text import listed

if TYPE_CHECKING:
    import polars as pl


Span = tuple[int, int]
"""Trials from the first up to, not including, the last."""
Kept = list[tuple[Span, "pl.DataFrame"]]
"""Spans of trials, which may overlap, with their rows."""
_DESCRIPTION, _SAMPLES, _MERGED = "experiment.json", "effectiveness.parquet", "trials.parquet"
_CHUNKS, _LOCK = "trials", ".lock"
_CHUNK_NAME = re.compile(r"\d{6,}-\d{6,}\.parquet")
_UNFINISHED = re.compile(r"\.(\d{6,}-\d{6,}\.parquet|experiment\.json|effectiveness\.parquet|trials\.parquet)\..+")
_ROWS_OF_GROUP = 1 << 18
_SEAL, _BLANK = b"adjudge-blake2b:", b"0" * 32
_MOST_METADATA = 1 << 26
_SECONDS_PER_CHUNK = 4.0  # what is lost at most when a worker is killed
_CHUNKS_PER_WORKER = 8  # so that none waits long for the last
_SECONDS_HERE = 0.5  # a short experiment is over before a process has started


@settings_apart(lambda name, **settings: experiment_from({"experiment": name, **settings}))
def run_experiment(
    experiment: Experiment | str,
    values: Effectiveness | Samples | Mapping[str, Effectiveness] | Sequence[Effectiveness],
    *,
    folder: str | Path | None = None,
    workers: int | None = None,
    dask: str | None = None,
    chunk: int | None = None,
    progress: Progress | None = None,
) -> Findings:
    """Run an experiment, given with its settings or by its name with the defaults, and return its findings.

    With a ``folder`` trials are kept as they are finished; run again after an interruption, or with more trials, it
    computes only what is missing. A folder of another experiment is refused. ``workers`` are processes of this machine
    (1 is this one); ``dask`` is the address of a scheduler, or ``local`` for a cluster of as many workers started here.
    ``chunk`` is the number of trials that a worker gets at a time; without it, as many as take some seconds.
    ``progress`` is called with the trials done and those in all: first with what is there already, then after each
    chunk.

    >>> from adjudge.model.effectiveness import Effectiveness
    >>> eff = Effectiveness.from_matrix([[0.1, 0.2], [0.3, 0.5], [0.4, 0.4], [0.1, 0.3]], measure="AP")
    >>> from adjudge.experiments import Power
    >>> run_experiment(Power(trials=5, sizes=(3,), procedures=("t",)), eff, workers=1).rows.height
    5
    """
    samples = samples_of(values)
    spec = experiment_from({"experiment": experiment}) if isinstance(experiment, str) else experiment
    work = Work(spec.prepared(samples), samples)
    return _run(work, folder, progress, workers=workers, dask=dask, chunk=chunk)


@checked(trials=TRIALS)
def resume_experiment(
    folder: str | Path,
    *,
    trials: int | None = None,
    workers: int | None = None,
    dask: str | None = None,
    chunk: int | None = None,
    progress: Progress | None = None,
) -> Findings:
    """Resume the experiment of a folder, from what the folder holds; ``trials`` may be more than at first."""
    source = Folder(folder)
    spec = source.experiment if trials is None else replace(source.experiment, trials=trials)
    return _run(Work(spec, source.samples()), folder, progress, workers=workers, dask=dask, chunk=chunk)


def open_experiment(folder: str | Path) -> Findings:
    """What the experiment of a folder found; if it is not finished, in the trials from the first on without a gap.

    The specification of the findings has as many trials as they rest on.
    """
    source = Folder(folder)
    spec, samples = source.experiment, source.samples()
    n_done, rows = rows_in_order(source.read_trials(Work(spec, samples).fingerprint)[0], spec.trials)
    if rows is None:
        raise AdjudgeError(f"{folder}: expected trials of the experiment, got none so far")
    if n_done < spec.trials:
        warn(f"{folder}: {n_done:,} of {spec.trials:,} trials are there; the findings are of these.")
    return replace(spec, trials=n_done).findings(samples, rows, source.provenance)


def _run(work: Work, folder: str | Path | None, progress: Progress | None, **how: Any) -> Findings:
    if folder is None:
        chunks = list(_run_missing(work, (), progress, **how))
        rows = _all_rows([part for chunk in chunks if (part := unpack(chunk.data, work.fingerprint))], work)
        return work.experiment.findings(work.samples, rows, work.samples.provenance)
    with claim_folder(folder, work) as target:
        with closing(_run_missing(work, target.spans, progress, **how)) as finished:
            for chunk in finished:
                target.add(chunk)
        rows = target.merge()
    return work.experiment.findings(work.samples, rows, target.provenance)


# Trials


@dataclass(frozen=True)
class Chunk:
    """Trials that were run, packed as a Parquet file, and how long they took."""

    span: Span
    data: bytes
    seconds: float

    @property
    def n_trials(self) -> int:
        return self.span[1] - self.span[0]


@dataclass(frozen=True)
class Work:
    """What is sent to a worker once; called with a span, it runs those trials."""

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


def run_chunk(experiment: Experiment, samples: Samples, first: int, last: int) -> pl.DataFrame:
    """Rows of trials ``first`` up to, not including, ``last``.

    Products of matrices use one thread: workers are processes, and the last digit of a sum must not depend on the
    number of cores.
    """
    import polars as pl
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1), kept_warnings():
        trials = [experiment.trial(samples, Draws(as_seed(experiment.seed), i)) for i in range(first, last)]
    lengths = [len(next(iter(rows.values()))) for rows in trials]
    columns = [pl.Series("trial", np.repeat(np.arange(first, last, dtype=np.int32), lengths))]
    names = experiment.names(samples)
    for name in trials[0]:
        values = np.concatenate([rows[name] for rows in trials])
        if name in names:
            named = pl.Series(name, list(names[name]), dtype=pl.Enum(list(names[name])))
            columns.append(named.gather(values.astype(np.uint32)))
        else:
            columns.append(pl.Series(name, values))
    return pl.DataFrame(columns)


def _run_missing(
    work: Work,
    there: Sequence[Span],
    progress: Progress | None,
    *,
    workers: int | None,
    dask: str | None,
    chunk: int | None,
) -> Generator[Chunk, None, None]:
    """Chunks of the missing trials as they are finished; each is counted when the next is asked for.

    Without a number of ``workers`` the first half second is spent here, which is all that many experiments need; the
    rest goes to one process per processor. Where resamples are drawn on a graphics card there is one worker.
    """
    trials = work.experiment.trials
    missing = missing_spans(there, trials)
    done = trials - sum(last - first for first, last in missing)
    report = progress or (lambda done, trials: None)
    report(done, trials)
    if dask is None and workers is None and getattr(work.experiment, "gpu", False):
        workers = 1
    try:
        with open_pool(workers, dask=dask) as pool:
            plan = Plan(missing, workers=pool.size, chunk=chunk)
            for finished in _run_plan(pool, work, plan, begin_here=workers is None and dask is None and chunk is None):
                yield finished
                done += finished.n_trials
                report(done, trials)
    except CrashedError as error:
        raise CrashedError(f"{error}; all finished trials are kept") from None


def missing_spans(kept: Sequence[Span], trials: int) -> list[Span]:
    """Gaps between what is there.

    >>> missing_spans([(4, 6), (0, 3), (1, 2)], 7), missing_spans([(0, 7)], 7)
    ([(3, 4), (6, 7)], [])
    """
    gaps, at = [], 0
    for first, last in sorted(kept):
        if first > at:
            gaps.append((at, min(first, trials)))
        at = max(at, last)
    return [*gaps, (at, trials)] if at < trials else gaps


class Plan:
    """Spans of the trials that are missing, cut as they are asked for.

    Without a ``chunk`` the first spans are of one trial, and later ones of as many as take some seconds by what
    :meth:`learn` was given, but never so large that workers would get fewer than eight each.
    """

    @checked(chunk=COUNT)
    def __init__(self, missing: Sequence[Span], *, workers: int, chunk: int | None = None) -> None:
        self._missing = list(reversed(missing))
        self._is_fixed = chunk is not None
        self._size = chunk or 1
        self._most = max(1, self.left // (_CHUNKS_PER_WORKER * workers))
        self.seconds_per_trial = 0.0

    @property
    def left(self) -> int:
        """Trials that nobody has asked for."""
        return sum(last - first for first, last in self._missing)

    def learn(self, chunk: Chunk) -> None:
        """Learn how long trials take."""
        self.seconds_per_trial = chunk.seconds / chunk.n_trials
        if not self._is_fixed:
            self._size = max(1, min(self._most, int(_SECONDS_PER_CHUNK / max(self.seconds_per_trial, 1e-6))))

    def __iter__(self) -> Iterator[Span]:
        while self._missing:
            first, last = self._missing.pop()
            if first + self._size < last:
                self._missing.append((first + self._size, last))
            yield first, min(last, first + self._size)


def _run_plan(pool: Pool, work: Work, plan: Plan, *, begin_here: bool = False) -> Generator[Chunk, None, None]:
    """Chunks as they are finished; after a crash no other is begun, but those under way are finished.

    Those that ``begin_here`` run in this process for half a second, or to the end where starting others takes longer.
    """
    if begin_here:
        started = time.perf_counter()
        with open_pool(1) as here, closing(_run_plan(here, work, plan)) as chunks:
            for chunk in chunks:
                yield chunk
                spent, left = time.perf_counter() - started, plan.left * plan.seconds_per_trial
                if spent > _SECONDS_HERE and left > 2 * _SECONDS_HERE:
                    break
    crashes: list[str] = []

    def spans() -> Iterator[tuple[Span, Span]]:
        for span in plan:
            yield span, span
            if crashes:
                return

    with closing(pool.run(work, spans())) as finished:
        for (first, last), result in finished:
            if isinstance(result, CrashedError):
                crashes.append(f"trials {first} to {last - 1}: {result}")
                continue
            plan.learn(result)
            yield result
    if crashes:
        raise CrashedError(crashes[0])


def rows_in_order(kept: Kept, trials: int) -> tuple[int, pl.DataFrame | None]:
    """How many trials from the first on are there without a gap, at most ``trials``, and their rows in order."""
    import polars as pl

    parts, at = [], 0
    for (first, last), frame in sorted(kept, key=lambda part: part[0]):
        if first > at or at >= trials:
            break
        if last > at:
            is_whole = first == at and last <= trials
            parts.append(frame if is_whole else frame.filter(pl.col("trial").is_between(at, trials, closed="left")))
            at = min(last, trials)
    try:
        return at, pl.concat(parts, rechunk=True) if parts else None
    except pl.exceptions.PolarsError:
        raise AdjudgeError("the files of trials have different columns: they were written by another Adjudge") from None


def _all_rows(kept: Kept, work: Work) -> pl.DataFrame:
    n_done, rows = rows_in_order(kept, work.experiment.trials)
    if rows is None or n_done < work.experiment.trials:
        raise AdjudgeError(
            f"expected {work.experiment.trials:,} trials, got {n_done:,}: somebody has removed files of trials"
        )
    return rows


# Files


def pack(frame: pl.DataFrame, fingerprint: str, span: Span) -> bytes:
    """Rows as a Parquet file that says which trials of which experiment it holds; same rows, same bytes."""
    return _sealed(frame, {"adjudge_experiment": fingerprint, "adjudge_trials": f"{span[0]}-{span[1]}"})


def _sealed(frame: pl.DataFrame, metadata: Mapping[str, str] | None = None) -> bytes:
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


def _is_sealed(data: bytes) -> bool:
    """Whether a file is bit by bit as :func:`_sealed` wrote it."""
    place = _place_of_seal(data)
    return place > 0 and data[place : place + len(_BLANK)] == _digest(data, place)


def _place_of_seal(data: bytes | memoryview) -> int:
    """Where the digest is, in what follows the rows; 0 where there is none."""
    first = max(0, len(data) - _MOST_METADATA)
    found = bytes(data[first:]).rfind(_SEAL)
    return first + found + len(_SEAL) if found >= 0 else 0


def _digest(data: bytes | memoryview, place: int) -> bytes:
    """Digest of the file with zeros in place of the digest."""
    content, view = hashlib.blake2b(digest_size=len(_BLANK) // 2), memoryview(data)
    for part in (view[:place], _BLANK, view[place + len(_BLANK) :]):
        content.update(part)
    return content.hexdigest().encode()


def unpack(data: bytes, fingerprint: str) -> tuple[Span, pl.DataFrame] | None:
    """The trials that :func:`pack` wrote; None where the file is cut off, damaged or of another experiment."""
    import polars as pl

    if not _is_sealed(data):
        return None
    try:
        metadata = pl.read_parquet_metadata(io.BytesIO(data))
        if metadata.get("adjudge_experiment") != fingerprint:
            return None
        first, last = (int(word) for word in metadata["adjudge_trials"].split("-"))
        frame = pl.read_parquet(io.BytesIO(data))
        trials = frame["trial"].to_numpy()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError, KeyError):
        return None
    inside = len(trials) == 0 or (trials[0] >= first and trials[-1] < last and bool((np.diff(trials) >= 0).all()))
    return ((first, last), frame) if inside and 0 <= first < last else None


class Folder:
    """A folder of an experiment, for reading; :func:`claim_folder` gives one to write to."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    @cached_property
    def description(self) -> dict[str, Any]:
        """What ``experiment.json`` says."""
        source = self.path / _DESCRIPTION
        try:
            data = _read(source)
        except FileNotFoundError:
            raise AdjudgeError(f"{self.path}: expected the folder of an experiment, got no {_DESCRIPTION}") from None
        content: dict[str, Any] = {}
        with suppress(ValueError, RecursionError):
            content = json.loads(data)
        if not _is_description(content):
            raise InputError("expected the description of an experiment, got something else", source=str(source))
        return content

    @property
    def experiment(self) -> Experiment:
        """The specification, with open settings settled."""
        if self.description["adjudge"] != __version__:
            raise _differing(self.path, "adjudge", self.description["adjudge"], __version__)
        try:
            return experiment_from(self.description["experiment"])
        except AdjudgeError as error:
            raise InputError(str(error), source=str(self.path / _DESCRIPTION)) from None

    @property
    def provenance(self) -> Provenance:
        """Where the samples came from, as it was when the experiment began."""
        content = self.description["provenance"]
        inputs = tuple((file["file"], file["sha256"]) for file in content["inputs"])
        return Provenance(inputs, content["settings"], content["adjudge"])

    def samples(self) -> Samples:
        """The samples, if they are those that the experiment began with."""
        import polars as pl

        source = self.path / _SAMPLES
        try:
            data = _read(source)
        except FileNotFoundError:
            raise InputError("expected the effectiveness of the experiment, got none", source=str(source)) from None
        if _is_sealed(data):
            notes = self.description.get("notes", ())
            samples = Samples.from_polars(pl.read_parquet(io.BytesIO(data)), self.provenance, notes)
            if samples.digest == self.description["samples"]:
                return samples
        raise InputError("expected the effectiveness of the experiment, got another, or damage", source=str(source))

    def read_trials(self, fingerprint: str) -> tuple[Kept, list[Path]]:
        """All trials that are there, and the files that cannot be used: cut off, damaged, of another experiment.

        ``trials.parquet`` is read last: merging writes it before the others are removed, so that no trial is missed.
        """
        kept: Kept = []
        useless = []
        for source in [*self.chunk_files(), self.path / _MERGED]:
            try:
                part = unpack(_read(source), fingerprint)
            except FileNotFoundError:
                continue
            if part is None:
                useless.append(source)
                warn(f"{source}: not a whole file of trials of this experiment; its trials count as missing.")
            else:
                kept.append(part)
        return kept, useless

    def chunk_files(self) -> list[Path]:
        """Files of some trials, until they are merged."""
        chunks = self.path / _CHUNKS
        return sorted(file for file in chunks.iterdir() if _CHUNK_NAME.fullmatch(file.name)) if chunks.is_dir() else []


class WritableFolder(Folder):
    """A folder that this process alone writes to."""

    def __init__(self, path: Path, work: Work) -> None:
        super().__init__(path)
        self.work = work
        self.spans: list[Span] = []

    def begin(self) -> None:
        """Describe the experiment, or check that the folder has the same one; only the number of trials may grow."""
        spec, samples = self.work.experiment, self.work.samples
        content = {
            "experiment": spec.to_dict(),
            "adjudge": __version__,
            "samples": samples.digest,
            "provenance": samples.provenance.to_dict(),
            "notes": list(samples.notes),
        }
        if (self.path / _DESCRIPTION).exists():
            _check_same(self.path, self.description, json.loads(_as_json(content)))
            content = {**self.description, "experiment": spec.to_dict()}
            kept, useless = self.read_trials(self.work.fingerprint)
            self.spans = [span for span, _ in kept]
            most = max((last for _, last in self.spans), default=0)
            if most > spec.trials:
                raise AdjudgeError(
                    f"{self.path}: expected at least the {most:,} trials that are there, got {spec.trials:,}"
                )
            for file in useless:
                file.unlink(missing_ok=True)
        elif others := sorted(file.name for file in self.path.iterdir() if not file.name.startswith(".")):
            there = listed(others, most=1)
            raise AdjudgeError(f"{self.path}: expected an empty folder or an experiment, got {there}")
        for file in [*self.path.glob(".*"), *(self.path / _CHUNKS).glob(".*")]:  # left by a process that was killed
            if _UNFINISHED.fullmatch(file.name):
                file.unlink(missing_ok=True)
        write_whole(self.path / _DESCRIPTION, _as_json(content))
        self.__dict__.pop("description", None)
        try:
            self.samples()
        except InputError:  # not there, or not whole
            write_whole(self.path / _SAMPLES, _sealed(samples.to_polars()))

    def add(self, chunk: Chunk) -> None:
        """Keep a chunk."""
        with _writing(self.path):
            (self.path / _CHUNKS).mkdir(exist_ok=True)
        write_whole(self.path / _CHUNKS / "{:06d}-{:06d}.parquet".format(*chunk.span), chunk.data)

    def merge(self) -> pl.DataFrame:
        """Write all trials into one file; then, and only then, remove the others."""
        rows = _all_rows(self.read_trials(self.work.fingerprint)[0], self.work)
        span = (0, self.work.experiment.trials)
        if span not in self.spans or self.chunk_files():
            write_whole(self.path / _MERGED, pack(rows, self.work.fingerprint, span))
            with suppress(OSError):  # the new name must be on disk before other files are removed
                handle = os.open(self.path, os.O_RDONLY)
                try:
                    os.fsync(handle)
                finally:
                    os.close(handle)
        for file in self.chunk_files():
            file.unlink(missing_ok=True)
        with suppress(OSError):  # not there, or somebody has put something else in it
            (self.path / _CHUNKS).rmdir()
        return rows


def _read(source: Path) -> bytes:
    try:
        return source.read_bytes()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise InputError(f"cannot be read: {reason(error)}", source=str(source)) from None


@contextmanager
def _writing(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot be written: {reason(error)}", source=str(place)) from None


@contextmanager
def claim_folder(path: str | Path, work: Work) -> Iterator[WritableFolder]:
    """A folder to write to, made where it is missing, and refused while another process has it."""
    folder = Path(path)
    made = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    with _writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        # without the lock there is nothing to undo: another process has made the folder at the same time
        lock(handle, folder, doing="running the experiment in this folder")
        try:
            target = WritableFolder(folder, work)
            target.begin()
            yield target
        except AdjudgeError:
            _undo(folder, made)
            raise
    finally:
        os.close(handle)


def _undo(folder: Path, made: Sequence[Path]) -> None:
    """Remove the folders that were made for an experiment that was refused before its first trial.

    A folder that was there before and holds no experiment is left without the lock.
    """
    with suppress(OSError):
        if not (folder / _DESCRIPTION).exists():
            (folder / _LOCK).unlink(missing_ok=True)
    if not made or (folder / _CHUNKS).exists() or (folder / _MERGED).exists():
        return
    with suppress(OSError):  # somebody has put something else there
        for name in (_DESCRIPTION, _SAMPLES, _LOCK):
            (folder / name).unlink(missing_ok=True)
        for parent in made:
            parent.rmdir()


def _is_description(content: Any) -> bool:
    """Whether it has the parts that :meth:`WritableFolder.begin` writes."""
    match content:
        case {
            "experiment": dict(),
            "adjudge": str(),
            "samples": str(),
            "provenance": {"inputs": list() as inputs, "settings": dict(), "adjudge": _},
        }:
            notes = content.get("notes", [])
            named = all(isinstance(file, dict) and {"file", "sha256"} <= file.keys() for file in inputs)
            return named and isinstance(notes, list) and all(isinstance(note, str) for note in notes)
    return False


def _as_json(content: Mapping[str, Any]) -> bytes:
    return (json.dumps(plain(content), indent=2, ensure_ascii=False, default=str) + "\n").encode()


def _check_same(folder: Path, there: Mapping[str, Any], here: Mapping[str, Any]) -> None:
    if there["adjudge"] != here["adjudge"]:
        raise _differing(folder, "adjudge", there["adjudge"], here["adjudge"])
    for name in dict.fromkeys([*here["experiment"], *there["experiment"]]):
        values = there["experiment"].get(name), here["experiment"].get(name)
        if name != "trials" and values[0] != values[1]:
            raise _differing(folder, name, *values)
    if there["samples"] != here["samples"]:
        raise _differing(folder, "effectiveness", f"{there['samples'][:12]}…", f"{here['samples'][:12]}…")


def _differing(folder: Path, name: str, there: object, here: object) -> AdjudgeError:
    return AdjudgeError(f"{folder}: holds another experiment: {name!r} is {there} there, {here} here")
