"""Run an experiment, go on with one, or read what one found.

Trial *i* depends on the specification, the samples and *i* alone, so that numbers, and the bytes of ``trials.parquet``,
are the same whatever the workers, the chunks and the interruptions.

Where an experiment is kept: what it is, what it drew from, and its trials, at any moment it may be cut off.

``experiment.json`` is written first and says what the folder is; ``effectiveness.parquet`` holds the samples. While
trials are run, ``trials/FIRST-LAST.parquet`` hold those from the first up to, not including, the last; when all are
there they become ``trials.parquet``, and only then do the others go. Every file appears whole or not at all.
"""

from __future__ import annotations

import io
import json
import os
import re
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from adjudge._version import __version__
from adjudge.checks import COUNT, TRIALS, checked
from adjudge.deprecated import settings_apart
from adjudge.errors import AdjudgeError, InputError, reason, warn
from adjudge.experiments.chunks import Chunk, Span, Work, is_sealed, pack, sealed, unpack
from adjudge.experiments.samples import Samples, samples_of
from adjudge.experiments.spec import Experiment, Findings, experiment_from, make_experiment
from adjudge.io import lock, plain, write_whole
from adjudge.model.effectiveness import Effectiveness
from adjudge.model.provenance import Provenance
from adjudge.parallel import CrashedError, Pool, Progress, open_pool
from adjudge.text import listed

if TYPE_CHECKING:
    import polars as pl


_ABOUT, _SAMPLES, _MERGED, _CHUNKS, _LOCK = (
    "experiment.json",
    "effectiveness.parquet",
    "trials.parquet",
    "trials",
    ".lock",
)
_SECONDS_PER_CHUNK = 4.0  # what is lost at most when a worker is killed
_CHUNKS_PER_WORKER = 8  # so that none waits long for the last
_SECONDS_HERE = 0.5  # a short experiment is over before a process has started
_CHUNK_NAME = re.compile(r"\d{6,}-\d{6,}\.parquet")
_UNFINISHED = re.compile(r"\.(\d{6,}-\d{6,}\.parquet|experiment\.json|effectiveness\.parquet|trials\.parquet)\..+")
Kept = list[tuple[Span, "pl.DataFrame"]]


class Store(Protocol):
    """Where chunks go, and come from."""

    spans: list[Span]
    """Trials that are there; spans may overlap."""

    def add(self, chunk: Chunk) -> None:
        """Keep a chunk."""

    def kept(self) -> Kept:
        """All trials that are there."""


class Memory:
    """Chunks of an experiment that is not kept."""

    def __init__(self, work: Work) -> None:
        self._work, self._chunks = work, list[Chunk]()
        self.spans: list[Span] = []

    def add(self, chunk: Chunk) -> None:
        """Keep a chunk."""
        self._chunks.append(chunk)

    def kept(self) -> Kept:
        """All trials that are there."""
        return [found for one in self._chunks if (found := unpack(one.data, self._work.fingerprint))]


class Folder:
    """A folder of an experiment, for reading; :func:`claimed` gives one to write to."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._about: dict[str, Any] | None = None

    @property
    def about(self) -> dict[str, Any]:
        """What ``experiment.json`` says."""
        if self._about is None:
            self._about = self._read_about()
        return self._about

    def _read_about(self) -> dict[str, Any]:
        source = self.path / _ABOUT
        try:
            content: dict[str, Any] = json.loads(source.read_text(encoding="utf-8"))
            if not _is_description(content):
                raise ValueError("other content")
        except FileNotFoundError:
            raise AdjudgeError(f"{self.path}: expected the folder of an experiment, got no {_ABOUT}") from None
        except OSError as error:
            raise _unreadable(error, source) from None
        except ValueError:
            raise InputError(
                "expected the description of an experiment, got something else", source=str(source)
            ) from None
        return content

    @property
    def experiment(self) -> Experiment:
        """The specification, with what was left open settled."""
        if self.about["adjudge"] != __version__:
            raise _differing(self.path, "adjudge", self.about["adjudge"], __version__)
        try:
            return experiment_from(self.about["experiment"])
        except AdjudgeError as error:
            raise InputError(str(error), source=str(self.path / _ABOUT)) from None

    @property
    def provenance(self) -> Provenance:
        """Where the samples came from, as it was when the experiment began."""
        said = self.about["provenance"]
        inputs = tuple((one["file"], one["sha256"]) for one in said["inputs"])
        return Provenance(inputs, said["settings"], said["adjudge"])

    def samples(self) -> Samples:
        """The samples, if they are the ones that the experiment began with."""
        import polars as pl

        source = self.path / _SAMPLES
        try:
            data = source.read_bytes()
        except FileNotFoundError:
            raise InputError("expected the effectiveness of the experiment, got none", source=str(source)) from None
        except OSError as error:
            raise _unreadable(error, source) from None
        if is_sealed(data):
            samples = Samples.from_polars(
                pl.read_parquet(io.BytesIO(data)), self.provenance, self.about.get("notes", ())
            )
            if samples.digest == self.about["samples"]:
                return samples
        raise InputError("expected the effectiveness of the experiment, got another, or damage", source=str(source))

    def read_trials(self, fingerprint: str) -> tuple[Kept, list[Path]]:
        """All trials that are there, and the files that cannot be used: cut off, damaged, of another experiment.

        ``trials.parquet`` is read last: who merges writes it before the others go, so that none is missed.
        """
        found: Kept = []
        useless = []
        for source in [*_chunk_files(self.path), self.path / _MERGED]:
            try:
                data = source.read_bytes()
            except FileNotFoundError:
                continue
            except OSError as error:
                raise _unreadable(error, source) from None
            if (part := unpack(data, fingerprint)) is None:
                useless.append(source)
                warn(f"{source}: not a whole file of trials of this experiment; its trials count as missing.")
            else:
                found.append(part)
        return found, useless


class Claimed(Folder):
    """A folder that this process alone writes to."""

    def __init__(self, path: Path, work: Work) -> None:
        super().__init__(path)
        self.work = work
        self.spans: list[Span] = []

    def begin(self) -> None:
        """Write what the folder is, or see that it is the same; of the same only the number of trials may grow."""
        spec, samples = self.work.experiment, self.work.samples
        about = _description(spec, samples)
        if (self.path / _ABOUT).exists():
            _check_same(self.path, self.about, about)
            about = {**self.about, "experiment": spec.to_dict()}
            found, useless = self.read_trials(self.work.fingerprint)
            self.spans = [span for span, _ in found]
            self._check_trials()
            for one in useless:
                one.unlink(missing_ok=True)
        else:
            self._check_empty()
        self._sweep()
        write_whole(self.path / _ABOUT, _as_json(about))
        self._about = None
        self._write_samples()

    def _write_samples(self) -> None:
        try:
            self.samples()
        except InputError:  # not there, or not whole
            write_whole(self.path / _SAMPLES, sealed(self.work.samples.to_polars()))

    def _check_empty(self) -> None:
        others = sorted(one.name for one in self.path.iterdir() if not one.name.startswith("."))
        if others:
            there = listed(others, most=1)
            raise AdjudgeError(f"{self.path}: expected an empty folder or an experiment, got {there}")

    def _check_trials(self) -> None:
        most, wanted = max((last for _, last in self.spans), default=0), self.work.experiment.trials
        if most > wanted:
            raise AdjudgeError(f"{self.path}: expected at least the {most:,} trials that are there, got {wanted:,}")

    def _sweep(self) -> None:
        """Remove what a process that was killed while it wrote has left."""
        for place in (self.path, self.path / _CHUNKS):
            for one in place.iterdir() if place.is_dir() else ():
                if _UNFINISHED.fullmatch(one.name):
                    one.unlink(missing_ok=True)

    def add(self, chunk: Chunk) -> None:
        """Keep a chunk."""
        with _worded(self.path):
            (self.path / _CHUNKS).mkdir(exist_ok=True)
        write_whole(self.path / _CHUNKS / "{:06d}-{:06d}.parquet".format(*chunk.span), chunk.data)

    def kept(self) -> Kept:
        """All trials that are there."""
        return self.read_trials(self.work.fingerprint)[0]

    def merge(self, rows: pl.DataFrame) -> None:
        """All trials into one file; then, and only then, the others go."""
        span = (0, self.work.experiment.trials)
        if span not in self.spans or _chunk_files(self.path):
            write_whole(self.path / _MERGED, pack(rows, self.work.fingerprint, span))
            _settle(self.path)
        for one in _chunk_files(self.path):
            one.unlink(missing_ok=True)
        with suppress(OSError):  # not there, or somebody has put something else in it
            (self.path / _CHUNKS).rmdir()


def _unreadable(error: OSError, source: Path) -> InputError:
    return InputError(f"cannot be read: {reason(error)}", source=str(source))


def _chunk_files(folder: Path) -> list[Path]:
    chunks = folder / _CHUNKS
    found = chunks.iterdir() if chunks.is_dir() else ()
    return sorted(one for one in found if _CHUNK_NAME.fullmatch(one.name))


@contextmanager
def claimed(path: str | Path, work: Work) -> Iterator[Claimed]:
    """A folder to write to; it is made where it is not there, and refused while another process has it."""
    folder = Path(path)
    made = [one for one in (folder, *folder.parents) if not one.exists()]
    with _worded(folder):
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        # who does not get it has nothing to undo: another has made the folder at the same time
        lock(handle, folder, doing="running the experiment in this folder")
        try:
            found = Claimed(folder, work)
            found.begin()
            yield found
        except AdjudgeError:
            _undo(folder, made)
            raise
    finally:
        os.close(handle)


def _undo(folder: Path, made: Sequence[Path]) -> None:
    """Remove the folders that were made for an experiment that was refused before its first trial.

    A folder that was there and is none of an experiment is left without the lock.
    """
    with suppress(OSError):
        if not (folder / _ABOUT).exists():
            (folder / _LOCK).unlink(missing_ok=True)
    if not made or (made[0] / _CHUNKS).exists() or (made[0] / _MERGED).exists():
        return
    with suppress(OSError):  # somebody has put something else there
        for name in (_ABOUT, _SAMPLES, _LOCK):
            (made[0] / name).unlink(missing_ok=True)
        for one in made:
            one.rmdir()


@contextmanager
def _worded(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot be written: {reason(error)}", source=str(place)) from None


def _settle(folder: Path) -> None:
    """See that a file that was renamed is on disk under its name, before others are removed."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _description(spec: Experiment, samples: Samples) -> dict[str, Any]:
    return {
        "experiment": spec.to_dict(),
        "adjudge": __version__,
        "samples": samples.digest,
        "provenance": samples.provenance.to_dict(),
        "notes": list(samples.notes),
    }


def _is_description(content: Any) -> bool:
    """Whether it has the parts that :func:`_description` wrote."""
    match content:
        case {
            "experiment": dict(),
            "adjudge": str(),
            "samples": str(),
            "provenance": {"inputs": list() as inputs, "settings": dict(), "adjudge": _},
        }:
            notes = content.get("notes", [])
            named = all(isinstance(one, dict) and {"file", "sha256"} <= one.keys() for one in inputs)
            return named and isinstance(notes, list) and all(isinstance(one, str) for one in notes)
    return False


def _as_json(content: Mapping[str, Any]) -> bytes:
    return (json.dumps(plain(content), indent=2, ensure_ascii=False, default=str) + "\n").encode()


def _check_same(folder: Path, there: Mapping[str, Any], here: Mapping[str, Any]) -> None:
    ours = json.loads(_as_json(here))
    if there["adjudge"] != ours["adjudge"]:
        raise _differing(folder, "adjudge", there["adjudge"], ours["adjudge"])
    for name in dict.fromkeys([*ours["experiment"], *there["experiment"]]):
        values = there["experiment"].get(name), ours["experiment"].get(name)
        if name != "trials" and values[0] != values[1]:
            raise _differing(folder, name, *values)
    if there["samples"] != ours["samples"]:
        raise _differing(folder, "effectiveness", f"{there['samples'][:12]}…", f"{ours['samples'][:12]}…")


def _differing(folder: Path, name: str, there: object, here: object) -> AdjudgeError:
    return AdjudgeError(f"{folder}: holds another experiment: {name!r} is {there} there, {here} here")


def missing_spans(kept: Sequence[Span], trials: int) -> list[Span]:
    """Gaps between what is there.

    >>> missing_spans([(0, 2), (4, 6)], 7)
    [(2, 4), (6, 7)]
    """
    gaps, at = [], 0
    for first, last in sorted(kept):
        if first > at:
            gaps.append((at, min(first, trials)))
        at = max(at, last)
    return [*gaps, (at, trials)] if at < trials else gaps


def in_order(kept: Kept, trials: int) -> tuple[int, pl.DataFrame | None]:
    """How many trials from the first on are there without a gap, up to so many, and their rows in order."""
    import polars as pl

    parts, at = [], 0
    for (first, last), frame in sorted(kept, key=lambda one: one[0]):
        if first > at or at >= trials:
            break
        if last > at:
            trial = pl.col("trial")
            parts.append(
                frame
                if (first, last) == (at, last) and last <= trials
                else frame.filter((trial >= at) & (trial < trials))
            )
            at = min(last, trials)
    try:
        return at, pl.concat(parts, rechunk=True) if parts else None
    except pl.exceptions.PolarsError:
        raise AdjudgeError("the files of trials have different columns: they were written by another Adjudge") from None


def with_trials(spec: Experiment, trials: int) -> Experiment:
    """The same experiment with as many trials."""
    return spec if spec.trials == trials else replace(spec, trials=trials)


@settings_apart(make_experiment)
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
    """Run an experiment, with its own settings or by its name with the usual ones, and say what it found.

    With a ``folder`` trials are kept as they are finished; run again after an interruption, or with more trials, it
    computes only what is missing. A folder of another experiment is refused. ``workers`` are processes of this machine
    (1 is this one); ``dask`` is the address of a scheduler, or ``local`` for a cluster of as many workers started here.
    ``chunk`` is the number of trials handed out at a time; without it, what takes some seconds. ``progress`` is called
    with the trials done and those in all: at the start with what is there already, then after each chunk.

    >>> from adjudge.model.effectiveness import Effectiveness
    >>> eff = Effectiveness.from_matrix([[0.1, 0.2], [0.3, 0.5], [0.4, 0.4], [0.1, 0.3]], measure="AP")
    >>> from adjudge.experiments import Power
    >>> run_experiment(Power(trials=5, sizes=(3,), procedures=("t",)), eff, workers=1).rows.height
    5
    """
    samples = samples_of(values)
    if isinstance(experiment, str):
        experiment = make_experiment(experiment)
    work = Work(experiment.prepared(samples), samples)
    return _run(work, folder, workers=workers, dask=dask, chunk=chunk, progress=progress)


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
    """Go on with the experiment of a folder, from what the folder holds; ``trials`` may be more than at first."""
    there = Folder(folder)
    spec = there.experiment if trials is None else with_trials(there.experiment, trials)
    work = Work(spec, there.samples())
    return _run(work, folder, workers=workers, dask=dask, chunk=chunk, progress=progress)


def open_experiment(folder: str | Path) -> Findings:
    """What the experiment of a folder found; of one that is not finished, the trials from the first on without a gap.

    The specification of the findings has as many trials as they rest on.
    """
    there = Folder(folder)
    spec, samples = there.experiment, there.samples()
    n_done, rows = in_order(there.read_trials(Work(spec, samples).fingerprint)[0], spec.trials)
    if rows is None:
        raise AdjudgeError(f"{folder}: expected trials of the experiment, got none so far")
    if n_done < spec.trials:
        warn(f"{folder}: {n_done:,} of {spec.trials:,} trials are there; the findings are of these.")
    return with_trials(spec, n_done).findings(samples, rows, there.provenance)


def _run(work: Work, folder: str | Path | None, *, progress: Progress | None, **how: Any) -> Findings:
    if folder is None:
        rows, provenance = _complete(work, Memory(work), progress, how), work.samples.provenance
    else:
        with claimed(folder, work) as store:
            rows = _complete(work, store, progress, how)
            store.merge(rows)
            provenance = store.provenance
    return work.experiment.findings(work.samples, rows, provenance)


def _complete(work: Work, store: Store, progress: Progress | None, how: Mapping[str, Any]) -> pl.DataFrame:
    """Run the trials that are missing, each chunk kept before it is counted, and give the rows of all."""
    trials = work.experiment.trials
    missing = missing_spans(store.spans, trials)
    done = trials - sum(last - first for first, last in missing)
    if progress is not None:
        progress(done, trials)
    with closing(_run_spans(work, missing, **how)) as chunks:
        for chunk in chunks:
            store.add(chunk)
            done += chunk.span[1] - chunk.span[0]
            if progress is not None:
                progress(done, trials)
    n_done, rows = in_order(store.kept(), trials)
    if rows is None or n_done < trials:
        raise AdjudgeError(f"expected {trials:,} trials, got {n_done:,}: somebody has removed files of trials")
    return rows


class Plan:
    """Spans of the trials that are missing, cut as they are asked for.

    Without a ``chunk`` the first spans are of one trial, and later ones of as many as take some seconds by what
    :meth:`learn` was told, but never so many that workers would get fewer than eight each.
    """

    @checked(chunk=COUNT)
    def __init__(self, missing: Sequence[Span], *, workers: int, chunk: int | None = None) -> None:
        self._missing = list(reversed(missing))
        self._is_fixed = chunk is not None
        self._size = chunk or 1
        self._most = max(1, self.left // (_CHUNKS_PER_WORKER * workers))

    @property
    def left(self) -> int:
        """Trials that nobody has asked for."""
        return sum(last - first for first, last in self._missing)

    def learn(self, chunk: Chunk) -> None:
        """Learn how long trials take."""
        if not self._is_fixed:
            self._size = max(1, min(self._most, int(_SECONDS_PER_CHUNK / max(chunk.seconds_per_trial, 1e-6))))

    def __iter__(self) -> Iterator[Span]:
        while self._missing:
            first, last = self._missing.pop()
            if first + self._size < last:
                self._missing.append((first + self._size, last))
            yield first, min(last, first + self._size)


def _run_spans(
    work: Work, missing: Sequence[Span], *, workers: int | None, dask: str | None, chunk: int | None
) -> Generator[Chunk, None, None]:
    """Chunks of the missing trials as they are finished.

    Without a number of ``workers`` the first half second is spent here, which is all that many experiments need; the
    rest goes to one process per processor. Where resamples are drawn on a graphics card there is one worker.
    """
    if dask is None and workers is None and getattr(work.experiment, "gpu", False):
        workers = 1
    try:
        with open_pool(workers, dask=dask) as pool:
            plan = Plan(missing, workers=pool.size, chunk=chunk)
            if workers is None and dask is None and chunk is None:
                yield from _begin_here(work, plan)
            yield from _run_plan(pool, work, plan)
    except CrashedError as error:
        raise CrashedError(f"{error}; all finished trials are kept") from None


def _begin_here(work: Work, plan: Plan) -> Generator[Chunk, None, None]:
    """Half a second of trials in this process, and the rest too where it takes no longer than to start others."""
    started = time.perf_counter()
    with open_pool(1) as pool, closing(_run_plan(pool, work, plan)) as chunks:
        for chunk in chunks:
            yield chunk
            spent, left = time.perf_counter() - started, plan.left * chunk.seconds_per_trial
            if spent > _SECONDS_HERE and left > 2 * _SECONDS_HERE:
                return


def _run_plan(pool: Pool, work: Work, plan: Plan) -> Generator[Chunk, None, None]:
    """Chunks as they are finished; after a crash no other is begun, but those under way are finished."""
    crashes: list[str] = []

    def spans() -> Iterator[tuple[Span, Span]]:
        for span in plan:
            yield span, span
            if crashes:
                return

    with closing(pool.run(work, spans())) as finished:
        for (first, last), chunk in finished:
            if isinstance(chunk, CrashedError):
                crashes.append(f"trials {first} to {last - 1}: {chunk}")
                continue
            plan.learn(chunk)
            yield chunk
    if crashes:
        raise CrashedError(crashes[0])
