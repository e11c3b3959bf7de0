"""From a folder of recordings to a library of clips that are equally loud, over processes, and interruptible.

Every recording is measured first: its excerpt is chosen, its loudness, true peak and fingerprint are computed. That
tells which recordings are silent, too short or repeated, and how loud the others can be. Then the clips are made, with
their audio features. A recording that cannot be used is a line among the problems and stops nothing.

Clips must be equally loud and none may be clipped, so the target fits all of them: -18 LUFS, or as many whole LU lower
as the recording with the highest peaks needs, but not below -23 LUFS, the level of broadcasts (EBU R 128). Recordings
that cannot reach even that stay quieter, and the result names them. A target given by the caller is not changed.

A recording repeats another where its file is the same, byte for byte, or its excerpt sounds the same
(``adjudge.audio.library.duplicates``); :func:`select_recordings` decides which of them stays.

Preparing that was interrupted, even by loss of power, resumes where it was and gives the same result as without the
interruption (``adjudge.audio.library.folder``). An earlier library in the folder stays until the new one is complete.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from multiprocessing import parent_process
from pathlib import Path
from typing import TypeVar

import numpy as np

from adjudge.arrays import Floats
from adjudge.audio.clips import encode_clip, resample_for_mp3
from adjudge.audio.features.extract import extract_sound, store_features
from adjudge.audio.library.duplicates import find_duplicates, fingerprint
from adjudge.audio.library.excerpts import SECONDS, check_excerpt, read_excerpt
from adjudge.audio.library.folder import (
    CLIP_FOLDER,
    PROBLEMS,
    TRACKS,
    ClipEntry,
    Journal,
    Library,
    RecordingEntry,
    check_output,
    list_clip_files,
    open_journal,
    open_library,
    save_tables,
)
from adjudge.audio.library.scan import (
    BROKEN,
    DUPLICATE,
    FOREIGN,
    NO_FILE,
    NOT_AUDIO,
    NOTES,
    SILENT,
    TOO_SHORT,
    UNREADABLE,
    FileProblem,
    Recording,
    Scan,
    is_identifier,
    scan,
)
from adjudge.audio.library.tags import read_tags
from adjudge.audio.loudness import CEILING, SILENCE, TARGET, AudioError, choose_gain, integrated_loudness, true_peak
from adjudge.audio.sources import (
    BrokenError,
    ForeignError,
    NotAudioError,
    ShortError,
    UnreadableError,
    digest_of,
    named_errors,
    quote_error,
)
from adjudge.checks import CLIP_CEILING, CLIP_LOUDNESS, NOT_NEGATIVE, WORKERS, checked
from adjudge.errors import AdjudgeError, InputError
from adjudge.extras import need
from adjudge.parallel import CrashedError, Progress, run_jobs

LOWEST = -23.0  # LUFS: EBU R 128
LOSSY = (".mp3", ".ogg", ".oga", ".opus")
_PROBLEM_OF_ERROR: tuple[tuple[type[AudioError], str], ...] = (
    (UnreadableError, UNREADABLE), (NotAudioError, NOT_AUDIO), (ForeignError, FOREIGN), (ShortError, TOO_SHORT),
    (BrokenError, BROKEN),
)  # fmt: skip
_CHANGED = "expected a file that stays as it is, got one that changed meanwhile"
LEAST_SECONDS = 10.0
VERSION = 1  # goes up when excerpts or clips change
Job = TypeVar("Job")
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class PreparedLibrary:
    """A prepared library: its problems, how many clips are new, and how many were there already.

    ``target`` is the loudness (LUFS) meant for all clips.
    """

    library: Library
    problems: tuple[FileProblem, ...]
    n_new: int
    n_kept: int
    target: float

    @property
    def left_out(self) -> tuple[FileProblem, ...]:
        """Problems of files that were not used."""
        return tuple(problem for problem in self.problems if problem.problem not in (*NOTES, NO_FILE))

    @property
    def quieter(self) -> tuple[str, ...]:
        """Documents whose peaks keep them more than 1 LU below the target."""
        clips = self.library.clips
        return tuple(clips.filter(clips["loudness"] < self.target - 1)["document"].to_list())

    def __str__(self) -> str:
        return f"{len(self.library):,} clips ({self.n_new:,} new), {len(self.left_out):,} files left out"


@checked(loudness=CLIP_LOUDNESS, ceiling=CLIP_CEILING, least_seconds=NOT_NEGATIVE, workers=WORKERS)
def prepare_library(
    folder: str | Path,
    output: str | Path,
    *,
    seconds: float = SECONDS,
    place: str = "middle",
    loudness: float | None = None,
    ceiling: float = CEILING,
    table: str | Path | None = None,
    least_seconds: float | None = None,
    keep_duplicates: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
) -> PreparedLibrary:
    """Prepare the recordings in a folder and below it as a library in ``output``.

    Excerpts of ``seconds`` are cut at a ``place`` (see ``adjudge.audio.library.excerpts``); recordings that are shorter
    are taken whole, down to ``least_seconds`` (10 s, or less where ``seconds`` is less). ``loudness`` is the target in
    LUFS, computed where it is None; no true peak exceeds ``ceiling``, in dBTP. ``table`` is a CSV with tags of the
    recordings, which override those in the files.

    A second call does only what is new: recordings that were added or changed, or everything where settings changed;
    recordings that vanished from the folder disappear from the library. ``progress`` is told how many steps are done,
    of two per recording.

    >>> prepare_library("nowhere", "lab")
    Traceback (most recent call last):
    adjudge.errors.InputError: nowhere: expected a folder with recordings, got nothing of that name
    """
    check_excerpt(seconds, place)
    least = min(LEAST_SECONDS, seconds) if least_seconds is None else least_seconds
    folder, output = Path(folder), Path(output)
    check_output(output, folder)
    need("audio", "Libraries of clips need")
    scanned = scan(folder, table=table, skip=output)
    with open_journal(output) as journal:
        return _Preparation(
            scanned, output, journal, seconds, place, loudness, ceiling, least, keep_duplicates, workers, progress
        ).run()


@dataclass(eq=False)
class _Preparation:
    """One call of :func:`prepare_library`: what was asked for, what is known, and the steps."""

    scanned: Scan
    output: Path
    journal: Journal
    seconds: float
    place: str
    loudness: float | None
    ceiling: float
    least_seconds: float
    keep_duplicates: bool
    workers: int | None
    progress: Progress | None

    def __post_init__(self) -> None:
        self.recordings = {recording.document: recording for recording in self.scanned.recordings}
        self.kept: dict[str, RecordingEntry] = {}  # what becomes clips
        self.dropped: list[FileProblem] = []
        self.failed: dict[str, FileProblem] = {}
        self.new: set[str] = set()
        self.target = TARGET
        self._done = 0

    def run(self) -> PreparedLibrary:
        """Run all steps."""
        known = {entry.name for entry in self.journal.recordings.values()} | set(list_clip_files(self.output).values())
        if known and known.isdisjoint(recording.name for recording in self.recordings.values()):
            folder = self.scanned.folder  # it may be a mistake, or a disk may be missing
            raise InputError(
                f"holds clips of other recordings, of which none is in {folder}; choose another folder for these",
                source=str(self.output),
            )
        try:
            self._measure_recordings()
            self.kept, self.dropped = select_recordings(
                self.journal.recordings, self.recordings, least_seconds=self.least_seconds,
                keep_duplicates=self.keep_duplicates,
            )  # fmt: skip
            self.target = (
                choose_target_loudness(self.kept.values(), self.ceiling) if self.loudness is None else self.loudness
            )
            self._make_clips()
        except KeyboardInterrupt:  # an earlier library stays as it is; without one, the clips that are ready become one
            ready = "nothing is lost"
            if self.kept and not (self.output / TRACKS).exists():
                with suppress(AdjudgeError):
                    count = len(self._finish().library)
                    ready = f"{count:,} clip{' is' if count == 1 else 's are'} ready"
            raise KeyboardInterrupt(f"interrupted: {ready}; the same command goes on in {self.output}") from None
        return self._finish()

    def _measure_recordings(self) -> None:
        """Measure the recordings that are not known yet."""
        settings = f"{VERSION} {self.seconds!r} {self.place}"  # everything that excerpts depend on
        jobs: dict[str, tuple[Recording, RecordingEntry | None]] = {}
        for document, recording in self.recordings.items():
            known = self.journal.recordings.get(document)
            if known is not None and (known.name, known.settings) != (recording.name, settings):
                known = None
            if known is None or not is_unchanged(recording.path, known):
                jobs[document] = recording, known
        measure = partial(measure_recording, seconds=self.seconds, place=self.place, settings=settings)
        for document, result in self._run_jobs(measure, jobs):
            if isinstance(result, FileProblem):
                self.journal.recordings.pop(document, None)
                self.failed[document] = result
            else:
                self.journal.add(result)

    def _make_clips(self) -> None:
        """Make the clips that are not there."""
        jobs = {
            document: (self.recordings[document], measured, self._clip_key(measured))
            for document, measured in self.kept.items()
            if self._find_clip(document) is None
        }
        folder = self.journal.pending
        make = partial(make_clip, seconds=self.seconds, target=self.target, ceiling=self.ceiling, folder=folder)
        features: dict[str, dict[str, Floats]] = {}
        try:
            for document, result in self._run_jobs(make, jobs):
                if isinstance(result, FileProblem):
                    self.failed[document] = result
                else:
                    entry, values = result
                    features[entry.clip_sha256] = values
                    self.journal.add(entry)
                    self.new.add(document)
        finally:
            store_features(self.output, features)

    def _clip_key(self, measured: RecordingEntry) -> str:
        """Everything that a clip depends on."""
        excerpt = f"{measured.sha256} {measured.start!r} {measured.seconds!r}"
        return f"{VERSION} {excerpt} {self.target!r} {self.ceiling!r}"

    def _find_clip(self, document: str) -> Path | None:
        """The clip that was made as it is wanted: by size and time, or by its bytes where it was copied."""
        entry = self.journal.clips.get(document)
        if entry is None or entry.key != self._clip_key(self.kept[document]):
            return None
        for folder in (self.journal.pending, self.output / CLIP_FOLDER):
            path = folder / f"{document}.mp3"
            with suppress(OSError, AudioError):
                status = path.stat()
                is_same_time = status.st_mtime_ns == entry.mtime_ns
                if status.st_size == entry.size and (is_same_time or digest_of(path) == entry.clip_sha256):
                    return path
        return None

    def _finish(self) -> PreparedLibrary:
        """Put new clips where they belong, remove others, and write the tables."""
        found = {document: self._find_clip(document) for document in self.kept if document not in self.failed}
        places = {document: place for document, place in found.items() if place is not None}
        every = (*self.scanned.problems, *self.dropped, *self.failed.values())
        unused = {problem.file for problem in every if problem.problem not in NOTES}
        stated = (problem for problem in every if problem.problem not in NOTES or problem.file not in unused)
        problems = tuple(sorted(stated, key=lambda problem: (problem.file, problem.problem)))
        if not places:
            save_tables(self.output, problems=problems)
            counts = count_problems([problem for problem in problems if problem.problem != NO_FILE])
            n_files = len(self.recordings)
            none = "the only file cannot" if n_files == 1 else f"none of {n_files:,} files can"
            message = f"{none} be used: {counts}; see {self.output / PROBLEMS}"
            raise InputError(message, source=str(self.scanned.folder))
        self._move(places)
        tracks = [
            {"document": document, **self.kept[document].tags, **self.recordings[document].tags,
             "seconds": f"{self.kept[document].total_seconds:.3f}"}
            for document in places
        ]  # fmt: skip
        clips = [_clip_row(self.kept[document], self.journal.clips[document]) for document in places]
        save_tables(self.output, problems=problems, tracks=tracks, clips=clips)
        self.journal.keep_only(self.recordings)
        n_new = len(self.new & set(places))
        return PreparedLibrary(open_library(self.output), problems, n_new, len(places) - n_new, self.target)

    def _move(self, places: Mapping[str, Path]) -> None:
        """Move clips into place; meanwhile there are no tracks, so that nobody reads a library that is half new."""
        folder = self.output / CLIP_FOLDER
        folder.mkdir(exist_ok=True)
        moves = {document: place for document, place in places.items() if place.parent != folder}
        known = {*self.journal.clips, *list_clip_files(self.output)} - set(places)
        stale = [folder / f"{document}.mp3" for document in known if is_identifier(document)]  # not outside the folder
        if moves or any(place.exists() for place in stale):
            (self.output / TRACKS).unlink(missing_ok=True)
        for place in stale:  # first: where case is ignored, a new clip may have the same name
            place.unlink(missing_ok=True)
        for document, place in moves.items():
            os.replace(place, folder / f"{document}.mp3")
        for place in self.journal.pending.iterdir():
            place.unlink(missing_ok=True)

    def _run_jobs(
        self, function: Callable[[Job], Result], jobs: Mapping[str, Job]
    ) -> Iterator[tuple[str, Result | FileProblem]]:
        """Yield results as they come, and report progress; a crash is a problem of its recording."""
        self._advance(len(self.recordings) - len(jobs))
        is_apart = self.workers != 1  # a decoder may crash
        with closing(run_jobs(function, jobs, workers=self.workers, apart=is_apart)) as results:
            for document, result in results:
                if isinstance(result, CrashedError):
                    name = self.recordings[document].name
                    yield document, FileProblem(name, BROKEN, "expected sound, got a crash while reading it")
                else:
                    yield document, result
                self._advance(1)

    def _advance(self, n: int) -> None:
        self._done += n
        if self.progress is not None:
            self.progress(self._done, 2 * len(self.recordings))


def _clip_row(recording: RecordingEntry, clip: ClipEntry) -> dict[str, str]:
    levels = {name: f"{getattr(clip, name):.2f}" for name in ("loudness", "true_peak", "gain_db")}
    return levels | {
        "document": recording.document, "file": recording.name, "start": f"{recording.start:.3f}",
        "seconds": f"{clip.seconds:.3f}", "rate": str(clip.rate), "channels": str(clip.channels),
        "limited": str(clip.limited).lower(), "original_sha256": recording.sha256, "clip_sha256": clip.clip_sha256,
    }  # fmt: skip


def count_problems(problems: Sequence[FileProblem]) -> str:
    """The number of problems of each kind, in words.

    >>> count_problems([FileProblem("", problem, "") for problem in ("silent", "broken", "silent")])
    '2 silent, 1 broken'
    """
    counts = Counter(problem.problem for problem in problems)
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{count:,} {word}" for word, count in ordered)


def select_recordings(
    entries: Mapping[str, RecordingEntry],
    recordings: Mapping[str, Recording],
    *,
    least_seconds: float,
    keep_duplicates: bool,
) -> tuple[dict[str, RecordingEntry], list[FileProblem]]:
    """Recordings that become clips, and why others are left out: unusable, too short or silent, or repeating another.

    Of recordings that repeat one another the one stays that the table describes, else one that is not lossy, else the
    one with more tags, else the first by name.
    """
    kept: dict[str, RecordingEntry] = {}
    problems: list[FileProblem] = []
    for document, entry in ((document, entries[document]) for document in recordings if document in entries):
        if entry.problem:
            problems.append(FileProblem(entry.name, entry.problem, entry.detail))
        elif entry.total_seconds < least_seconds:
            detail = f"expected at least {least_seconds:g} s, got {entry.total_seconds:.1f} s"
            problems.append(FileProblem(entry.name, TOO_SHORT, detail))
        elif entry.loudness is None:
            detail = f"expected sound, got silence (nothing above {SILENCE:.0f} LUFS)"
            problems.append(FileProblem(entry.name, SILENT, detail))
        else:
            kept[document] = entry

    def rank(document: str) -> tuple[bool, bool, int]:
        recording = recordings[document]
        return not recording.tags, recording.path.suffix.lower() in LOSSY, -len(kept[document].tags)

    if not keep_duplicates:
        for document, why in _find_repetitions(
            {document: kept[document] for document in sorted(kept, key=rank)}
        ).items():
            problems.append(FileProblem(kept.pop(document).name, DUPLICATE, why))
    return kept, problems


def _find_repetitions(entries: Mapping[str, RecordingEntry]) -> dict[str, str]:
    """Documents that repeat an earlier one, and how."""
    repetitions: dict[str, str] = {}
    first: dict[str, RecordingEntry] = {}
    for document, entry in entries.items():
        if (earlier := first.setdefault(entry.sha256, entry)) is not entry:
            repetitions[document] = f"the same file as {earlier.name}"
    fingerprints = {
        document: np.frombuffer(bytes.fromhex(entry.fingerprint), dtype=np.uint8)
        for document, entry in entries.items()
        if document not in repetitions
    }
    for document, original in find_duplicates(fingerprints).items():
        repetitions[document] = f"the same recording as {entries[original].name}"
    return repetitions


def choose_target_loudness(entries: Iterable[RecordingEntry], ceiling: float = CEILING) -> float:
    """The loudness in LUFS that all clips can have without clipping.

    A recording of loudness L and true peak P can be raised to L + ceiling - P. The target is the least of these and
    -18 LUFS, rounded down to whole LUFS so that a new recording seldom changes it, but not below -23 LUFS.

    >>> choose_target_loudness([RecordingEntry("a", "a.wav", 0, 0, "", loudness=-25.0, true_peak=-4.5)])
    -22.0
    """
    reached = [entry.loudness + ceiling - entry.true_peak for entry in entries if entry.loudness is not None]
    return max(LOWEST, float(math.floor(min([TARGET, *reached]))))


def measure_recording(
    job: tuple[Recording, RecordingEntry | None], *, seconds: float, place: str, settings: str
) -> RecordingEntry | FileProblem:
    """Measure a recording; one whose bytes are those that were measured before keeps its entry.

    A problem that the next call may not meet again is returned as such, others are part of the entry.
    """
    _silence_decoders()
    recording, known = job
    entry = RecordingEntry(recording.document, recording.name, 0, 0, settings)
    try:
        with named_errors(recording.path):
            status = recording.path.stat()
        entry = replace(entry, size=status.st_size, mtime_ns=status.st_mtime_ns)
        sha256 = digest_of(recording.path)
        if known is not None and known.sha256 == sha256:
            return replace(known, size=entry.size, mtime_ns=entry.mtime_ns)
        excerpt = read_excerpt(recording.path, seconds=seconds, place=place, sha256=sha256)
        samples, rate = resample_for_mp3(excerpt.samples.astype(np.float64), excerpt.rate)
        measured = replace(
            entry, sha256=sha256, start=excerpt.start, seconds=excerpt.seconds, total_seconds=excerpt.total_seconds,
            tags=read_tags(recording.path),
        )  # fmt: skip
        if math.isfinite(loudness := integrated_loudness(samples, rate)):
            bits = fingerprint(samples, rate).tobytes().hex()
            measured = replace(measured, loudness=loudness, true_peak=true_peak(samples, rate), fingerprint=bits)
        if not is_unchanged(recording.path, entry):
            raise UnreadableError(_CHANGED)
        return measured
    except (MemoryError, ValueError) as error:
        problem = _describe_error(error, recording)
        if problem.problem == UNREADABLE or not isinstance(error, AudioError):
            return problem
        return replace(entry, problem=problem.problem, detail=problem.detail)


@cache
def _silence_decoders() -> None:
    """Keep decoders from writing to the terminal, in worker processes only: their problems are reported in one line."""
    if parent_process() is not None:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)
        os.close(null)


def _describe_error(error: MemoryError | ValueError, recording: Recording) -> FileProblem:
    """The problem of one recording, without its path; an error that concerns all recordings is raised again."""
    if isinstance(error, MemoryError):
        return FileProblem(recording.name, UNREADABLE, "expected sound that fits in memory, got more")
    if isinstance(error, AudioError):
        word = next((word for kind, word in _PROBLEM_OF_ERROR if isinstance(error, kind)), BROKEN)
        detail = str(error).removeprefix(str(InputError("", source=str(recording.path))))
        return FileProblem(recording.name, word, detail)
    if isinstance(error, AdjudgeError):
        raise error
    return FileProblem(recording.name, BROKEN, f"expected sound, got {quote_error(error)}")


def make_clip(
    job: tuple[Recording, RecordingEntry, str], *, seconds: float, target: float, ceiling: float, folder: Path
) -> tuple[ClipEntry, dict[str, Floats]] | FileProblem:
    """Make the clip of a measured recording, with its audio features, which cost little while it is decoded.

    What cannot be written is raised, because it concerns all clips.
    """
    recording, measured, key = job
    features: dict[str, Floats] = {}
    _silence_decoders()
    try:
        if not is_unchanged(recording.path, measured):
            raise UnreadableError(_CHANGED)
        excerpt = read_excerpt(recording.path, seconds=seconds, start=measured.start, sha256=measured.sha256)
        samples, rate = resample_for_mp3(excerpt.samples.astype(np.float64), excerpt.rate)
        level = choose_gain(measured.loudness or 0.0, measured.true_peak, target=target, ceiling=ceiling)
        clip = encode_clip(
            samples, rate, folder, source_name=recording.path.name, original_sha256=measured.sha256, target=target,
            ceiling=ceiling, level=level, name=f"{recording.document}.mp3",
            listen=lambda decoded, at: features.update(extract_sound(decoded.astype(np.float32), at)),
        )  # fmt: skip
    except (MemoryError, ValueError) as error:
        return _describe_error(error, recording)
    status = clip.path.stat()
    entry = ClipEntry(
        recording.document, key, status.st_size, status.st_mtime_ns, clip.clip_sha256, clip.seconds, clip.rate,
        clip.channels, clip.loudness, clip.true_peak, clip.gain_db, clip.limited,
    )  # fmt: skip
    return entry, features


def is_unchanged(path: Path, known: RecordingEntry) -> bool:
    """Whether a recording is still the file that was measured, by its size and time."""
    try:
        status = path.stat()
    except OSError:
        return False
    return (status.st_size, status.st_mtime_ns) == (known.size, known.mtime_ns)
