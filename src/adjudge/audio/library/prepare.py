"""From a folder of recordings to a library of clips that are equally loud, over processes, and interruptible.

Every recording is listened to first: its excerpt is chosen, its loudness and true peak measured, its fingerprint taken.
Then it is known which recordings are silent, too short or there twice, and how loud all the others can be; and then
their clips are made, and their audio features computed, since a clip is decoded to be checked anyway. Whatever cannot
be used is a line among the problems and stops nothing.

Clips must be equally loud, and none may be clipped, so the target fits all of them: -18 LUFS, or as many whole LU lower
as the recording with the highest peaks needs, but not below -23 LUFS, the level of broadcasts (EBU R 128). What cannot
reach even that stays quieter, and the result says so. A target of one's own is kept to.

A recording is the repetition of another where its file is the same, byte for byte, or its excerpt sounds the same
(``adjudge.audio.library.duplicates``); which of them stays, ``adjudge.audio.library.prepare`` says.

Interrupted, even by loss of power, preparing goes on where it was, and gives what it would have given undisturbed; see
``adjudge.audio.library.folder``. An earlier library in the folder stays as it is until the new one is complete.

Which recordings of a folder make clips, once all were heard, and how loud their clips will be.

What is done with one recording: it is listened to, and then its clip is made. Both run in processes of their own.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from multiprocessing import parent_process
from pathlib import Path
from typing import TypeVar

import numpy as np

from adjudge.arrays import Floats
from adjudge.audio.clips import at_mp3_rate, clip_of
from adjudge.audio.features.extract import keep_features
from adjudge.audio.library.excerpts import SECONDS, check_wanted, read_excerpt
from adjudge.audio.library.folder import (
    CLIP_FOLDER,
    PROBLEMS,
    TRACKS,
    Heard,
    Journal,
    Library,
    Made,
    check_place,
    listed,
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
from adjudge.audio.loudness import CEILING, SILENCE, TARGET, AudioError, integrated_loudness, level_of, true_peak
from adjudge.audio.sources import (
    BrokenError,
    ForeignError,
    NotAudioError,
    ShortError,
    UnreadableError,
    digest_of,
    named_errors,
)
from adjudge.checks import CLIP_CEILING, CLIP_LOUDNESS, NOT_NEGATIVE, WORKERS, checked
from adjudge.errors import AdjudgeError, InputError
from adjudge.extras import need
from adjudge.processes import CrashedError, Progress, run_jobs

LOWEST = -23.0  # LUFS: EBU R 128
LOSSY = (".mp3", ".ogg", ".oga", ".opus")


@dataclass(frozen=True)
class Chosen:
    """Recordings to make clips of, by document, and why the others are left out."""

    kept: dict[str, Heard]
    problems: tuple[FileProblem, ...]


def choose(
    heard: Mapping[str, Heard], recordings: Mapping[str, Recording], *, least_seconds: float, keep_duplicates: bool
) -> Chosen:
    """Leave out what cannot be used, is too short or silent, or repeats another.

    Of recordings that repeat one another the one stays that the table describes, else one that is not lossy, else the
    one of which more is known, else the first by name.
    """
    kept: dict[str, Heard] = {}
    problems: list[FileProblem] = []
    for document in recordings:
        if (one := heard.get(document)) is None:
            continue
        if (problem := _problem(one, least_seconds)) is None:
            kept[document] = one
        else:
            problems.append(problem)
    best_first = sorted(kept, key=lambda document: _rank(recordings[document], kept[document]))
    repeated = {} if keep_duplicates else _repeated({document: kept[document] for document in best_first})
    problems += [FileProblem(kept[document].name, DUPLICATE, why) for document, why in repeated.items()]
    return Chosen({document: one for document, one in kept.items() if document not in repeated}, tuple(problems))


def _problem(one: Heard, least_seconds: float) -> FileProblem | None:
    if one.problem:
        return FileProblem(one.name, one.problem, one.detail)
    if one.total_seconds < least_seconds:
        detail = f"expected at least {least_seconds:g} s, got {one.total_seconds:.1f} s"
        return FileProblem(one.name, TOO_SHORT, detail)
    if one.loudness is None:
        return FileProblem(one.name, SILENT, f"expected sound, got silence (nothing above {SILENCE:.0f} LUFS)")
    return None


def _rank(recording: Recording, heard: Heard) -> tuple[bool, bool, int]:
    """How much a recording is worth keeping; the least is the best."""
    return not recording.tags, recording.path.suffix.lower() in LOSSY, -len(heard.tags)


def _repeated(heard: Mapping[str, Heard]) -> dict[str, str]:
    """Documents that repeat an earlier one, and how."""
    from adjudge.audio.library.duplicates import find_duplicates

    found: dict[str, str] = {}
    first: dict[str, Heard] = {}
    for document, one in heard.items():
        if (earlier := first.setdefault(one.sha256, one)) is not one:
            found[document] = f"the same file as {earlier.name}"
    prints = {
        document: np.frombuffer(bytes.fromhex(one.fingerprint), dtype=np.uint8)
        for document, one in heard.items() if document not in found
    }  # fmt: skip
    for document, earlier_one in find_duplicates(prints).items():
        found[document] = f"the same recording as {heard[earlier_one].name}"
    return found


def common_loudness(heard: Iterable[Heard], ceiling: float = CEILING) -> float:
    """The loudness in LUFS that all clips can have without clipping.

    A recording of loudness L and true peak P can be raised to L + ceiling - P. The target is the least of these and
    -18 LUFS, rounded down to whole LUFS so that one recording more seldom changes it, but not below -23 LUFS.

    >>> common_loudness([Heard("a", "a.wav", 0, 0, "", loudness=-25.0, true_peak=-4.5)])
    -22.0
    """
    reached = [one.loudness + ceiling - one.true_peak for one in heard if one.loudness is not None]
    return max(LOWEST, float(math.floor(min([TARGET, *reached]))))


_WORDS: tuple[tuple[type[AudioError], str], ...] = (
    (UnreadableError, UNREADABLE), (NotAudioError, NOT_AUDIO), (ForeignError, FOREIGN), (ShortError, TOO_SHORT),
    (BrokenError, BROKEN),
)  # fmt: skip
_CHANGED = "expected a file that stays as it is, got one that changed meanwhile"
_TOO_MUCH = "expected sound that fits in memory, got more"


def is_unchanged(path: Path, known: Heard) -> bool:
    """Whether a recording is still the file that was heard, by its size and time."""
    try:
        status = path.stat()
    except OSError:
        return False
    return (status.st_size, status.st_mtime_ns) == (known.size, known.mtime_ns)


def is_clip(path: Path, made: Made) -> bool:
    """Whether a file is the clip that was made: by size and time, or by its bytes where it was copied."""
    try:
        status = path.stat()
        return status.st_size == made.size and (
            status.st_mtime_ns == made.mtime_ns or digest_of(path) == made.clip_sha256
        )
    except (OSError, AudioError):
        return False


def hear_recording(
    job: tuple[Recording, Heard | None], *, seconds: float, place: str, settings: str
) -> Heard | FileProblem:
    """Listen to a recording; one whose bytes are those that were heard before is left alone."""
    _quiet_decoders()
    recording, known = job
    size = mtime_ns = 0
    try:
        with named_errors(recording.path):
            status = recording.path.stat()
        size, mtime_ns = status.st_size, status.st_mtime_ns
        sha256 = digest_of(recording.path)
        if known is not None and known.sha256 == sha256:
            return replace(known, size=size, mtime_ns=mtime_ns)
        heard = _listened(recording, seconds=seconds, place=place, sha256=sha256)
        heard = replace(heard, size=size, mtime_ns=mtime_ns, settings=settings)
        if not is_unchanged(recording.path, heard):
            raise UnreadableError(_CHANGED)
        return heard
    except AudioError as error:
        word, detail = _worded(error, recording)
        return Heard(recording.document, recording.name, size, mtime_ns, settings, problem=word, detail=detail)
    except MemoryError:
        return Heard(recording.document, recording.name, size, mtime_ns, settings, problem=UNREADABLE, detail=_TOO_MUCH)
    except ValueError as error:
        return _unforeseen(error, recording)


def _listened(recording: Recording, *, seconds: float, place: str, sha256: str) -> Heard:
    from adjudge.audio.library.duplicates import fingerprint

    excerpt = read_excerpt(recording.path, seconds=seconds, place=place, sha256=sha256)
    samples, rate = at_mp3_rate(excerpt.samples.astype(np.float64), excerpt.rate)
    loudness = integrated_loudness(samples, rate)
    is_silent = not math.isfinite(loudness)
    return Heard(
        recording.document,
        recording.name,
        size=0,
        mtime_ns=0,
        settings="",
        sha256=sha256,
        start=excerpt.start,
        seconds=excerpt.seconds,
        total_seconds=excerpt.total_seconds,
        loudness=None if is_silent else loudness,
        true_peak=0.0 if is_silent else true_peak(samples, rate),
        fingerprint="" if is_silent else fingerprint(samples, rate).tobytes().hex(),
        tags=read_tags(recording.path),
    )


@dataclass(frozen=True, eq=False)
class Clipped:
    """A clip that was made, and its audio features: while it is decoded to be checked, they cost little."""

    made: Made
    features: dict[str, Floats]


def make_clip(
    job: tuple[Recording, Heard, str], *, seconds: float, target: float, ceiling: float, folder: Path
) -> Clipped | FileProblem:
    """Make the clip of a recording that was heard; what cannot be written is raised, for it concerns them all."""
    from adjudge.audio.features.extract import extract_sound

    recording, heard, key = job
    features: dict[str, Floats] = {}
    _quiet_decoders()
    try:
        if not is_unchanged(recording.path, heard):
            raise UnreadableError(_CHANGED)
        excerpt = read_excerpt(recording.path, seconds=seconds, start=heard.start, sha256=heard.sha256)
        samples, rate = at_mp3_rate(excerpt.samples.astype(np.float64), excerpt.rate)
        level = level_of(heard.loudness or 0.0, heard.true_peak, target=target, ceiling=ceiling)
        clip = clip_of(
            samples, rate, folder, source_name=recording.path.name, original_sha256=heard.sha256, target=target,
            ceiling=ceiling, level=level, name=f"{recording.document}.mp3",
            listen=lambda decoded, at: features.update(extract_sound(decoded.astype(np.float32), at)),
        )  # fmt: skip
    except AudioError as error:
        return FileProblem(recording.name, *_worded(error, recording))
    except MemoryError:
        return FileProblem(recording.name, UNREADABLE, _TOO_MUCH)
    except ValueError as error:
        return _unforeseen(error, recording)
    status = clip.path.stat()
    made = Made(
        recording.document, key, status.st_size, status.st_mtime_ns, clip.clip_sha256, clip.seconds, clip.rate,
        clip.channels, clip.loudness, clip.true_peak, clip.gain_db, clip.limited,
    )  # fmt: skip
    return Clipped(made, features)


@cache
def _quiet_decoders() -> None:
    """Keep decoders from writing to the terminal what becomes a problem in one line; only in a process of our own."""
    if parent_process() is not None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        os.close(nowhere)


def _unforeseen(error: ValueError, recording: Recording) -> FileProblem:
    """The problem of one recording that nobody thought of, which must not stop the others."""
    if isinstance(error, AdjudgeError):  # said on purpose, of all of them
        raise error
    said = " ".join(str(error).split()) or type(error).__name__
    return FileProblem(recording.name, BROKEN, f"expected sound, got {said}")


def _worded(error: AudioError, recording: Recording) -> tuple[str, str]:
    """The word for a problem, and what is to say about it without the name of the file."""
    word = next((word for kind, word in _WORDS if isinstance(error, kind)), BROKEN)
    return word, str(error).removeprefix(str(InputError("", source=str(recording.path))))


LEAST_SECONDS = 10.0
VERSION = 1  # goes up when excerpts or clips come out otherwise

Job = TypeVar("Job")
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class PreparedLibrary:
    """A library that was prepared: its problems, and how many clips were made and how many were there already.

    ``target`` is the loudness (LUFS) that all clips were to have.
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


@dataclass(frozen=True)
class _Wanted:
    """What was asked for; ``loudness`` is None where it is to be found."""

    seconds: float
    place: str
    loudness: float | None
    ceiling: float
    least_seconds: float
    keep_duplicates: bool
    workers: int | None
    progress: Progress | None

    @property
    def excerpt(self) -> str:
        """What excerpts depend on."""
        return f"{VERSION} {self.seconds!r} {self.place}"


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
    LUFS, found where it is None; ``ceiling`` what no true peak exceeds, in dBTP. ``table`` is a CSV with what is known
    of the recordings, which wins over their tags.

    Called again, it does only what is new: recordings that were added or changed, and everything where the settings
    are others; what vanished from the folder disappears from the library. ``progress`` is told how many steps are done,
    of two a recording.

    >>> prepare_library("nowhere", "lab")
    Traceback (most recent call last):
    adjudge.errors.InputError: nowhere: expected a folder with recordings, got nothing of that name
    """
    least = min(LEAST_SECONDS, seconds) if least_seconds is None else least_seconds
    wanted = _Wanted(seconds, place, loudness, ceiling, least, keep_duplicates, workers, progress)
    check_wanted(seconds, place)
    folder, output = Path(folder), Path(output)
    check_place(output, folder)
    need("audio", "Libraries of clips need")
    found = scan(folder, table=table, skip=output)
    with open_journal(output) as journal:
        _check_same(found, journal, output)
        return _Preparing(found, output, journal, wanted).run()


def _check_same(found: Scan, journal: Journal, output: Path) -> None:
    """Refuse to replace everything by something else: a folder that was mistaken, or a disk that is not there."""
    known = {entry.name for entry in journal.heard.values()} | set(listed(output).values())
    if known and known.isdisjoint(recording.name for recording in found.recordings):
        raise InputError(
            f"holds clips of other recordings, of which none is in {found.folder}; choose another folder for these",
            source=str(output),
        )


class _Preparing:
    """One call: what is known, and what is done with it."""

    def __init__(self, found: Scan, output: Path, journal: Journal, wanted: _Wanted) -> None:
        self.found, self.output, self.journal, self.wanted = found, output, journal, wanted
        self.recordings = {recording.document: recording for recording in found.recordings}
        self.new: set[str] = set()
        self.failed: dict[str, FileProblem] = {}
        self._done = 0

    def run(self) -> PreparedLibrary:
        """All of it."""
        with self._interruptible():
            self._hear()
        wanted, heard = self.wanted, self.journal.heard
        chosen = choose(
            heard, self.recordings, least_seconds=wanted.least_seconds, keep_duplicates=wanted.keep_duplicates
        )
        target = common_loudness(chosen.kept.values(), wanted.ceiling) if wanted.loudness is None else wanted.loudness
        with self._interruptible(chosen, target):
            self._make(chosen, target)
        return self._finished(chosen, target)

    def _hear(self) -> None:
        """Listen to what is not known yet."""
        jobs: dict[str, tuple[Recording, Heard | None]] = {}
        for document, recording in self.recordings.items():
            known = self.journal.heard.get(document)
            if known is not None and (known.name, known.settings) != (recording.name, self.wanted.excerpt):
                known = None
            if known is None or not is_unchanged(recording.path, known):
                jobs[document] = recording, known
        self._advance(len(self.recordings) - len(jobs))
        hear = partial(
            hear_recording, seconds=self.wanted.seconds, place=self.wanted.place, settings=self.wanted.excerpt
        )
        for document, result in self._each(hear, jobs):
            if isinstance(result, Heard) and result.problem != UNREADABLE:  # which may be mended by then
                self.journal.add(result)
            else:
                self.journal.heard.pop(document, None)
                self.failed[document] = self._problem(document, result)

    def _make(self, chosen: Chosen, target: float) -> None:
        """Make the clips that are not there."""
        jobs = {
            document: (self.recordings[document], heard, self._key(heard, target))
            for document, heard in chosen.kept.items() if self._place_of(document, self._key(heard, target)) is None
        }  # fmt: skip
        self._advance(len(self.recordings) - len(jobs))
        seconds, ceiling = self.wanted.seconds, self.wanted.ceiling
        make = partial(make_clip, seconds=seconds, target=target, ceiling=ceiling, folder=self.journal.waiting)
        features: dict[str, dict[str, Floats]] = {}
        try:
            for document, result in self._each(make, jobs):
                if isinstance(result, Clipped):
                    self.journal.add(result.made)
                    self.new.add(document)
                    features[result.made.clip_sha256] = result.features
                else:
                    self.failed[document] = self._problem(document, result)
        finally:
            keep_features(self.output, features)

    def _key(self, heard: Heard, target: float) -> str:
        """All that a clip depends on."""
        return f"{VERSION} {heard.sha256} {heard.start!r} {heard.seconds!r} {target!r} {self.wanted.ceiling!r}"

    def _place_of(self, document: str, key: str) -> Path | None:
        """Where the clip of a document is, if it was made as wanted."""
        made = self.journal.made.get(document)
        if made is None or made.key != key:
            return None
        places = (self.journal.waiting / f"{document}.mp3", self.output / CLIP_FOLDER / f"{document}.mp3")
        return next((place for place in places if is_clip(place, made)), None)

    def _finished(self, chosen: Chosen, target: float) -> PreparedLibrary:
        """Put new clips where they belong, remove others, and write the tables."""
        places = {
            document: place
            for document, heard in chosen.kept.items()
            if document not in self.failed and (place := self._place_of(document, self._key(heard, target))) is not None
        }
        problems = self._problems(chosen)
        if not places:
            save_tables(self.output, problems=problems)
            counted = counted_problems([one for one in problems if one.problem != NO_FILE])
            n_files = len(self.recordings)
            none = "the only file cannot" if n_files == 1 else f"none of {n_files:,} files can"
            raise InputError(
                f"{none} be used: {counted}; see {self.output / PROBLEMS}",
                source=str(self.found.folder),
            )
        self._move(places)
        tracks = [self._track(document, chosen.kept[document]) for document in places]
        clips = [_clip_row(chosen.kept[document], self.journal.made[document]) for document in places]
        save_tables(self.output, problems=problems, tracks=tracks, clips=clips)
        self.journal.keep_only(self.recordings)
        n_new = len(self.new & set(places))
        return PreparedLibrary(open_library(self.output), problems, n_new, len(places) - n_new, target)

    def _problems(self, chosen: Chosen) -> tuple[FileProblem, ...]:
        """All problems, by file; notes only of recordings that are used."""
        every = (*self.found.problems, *chosen.problems, *self.failed.values())
        left_out = {one.file for one in every if one.problem not in NOTES}
        kept = (one for one in every if one.problem not in NOTES or one.file not in left_out)
        return tuple(sorted(kept, key=lambda one: (one.file, one.problem)))

    def _move(self, places: Mapping[str, Path]) -> None:
        """Clips where they belong; meanwhile there is no library, so that nobody reads one that is half new."""
        folder = self.output / CLIP_FOLDER
        folder.mkdir(exist_ok=True)
        moves = {document: place for document, place in places.items() if place.parent != folder}
        known = {*self.journal.made, *listed(self.output)} - set(places)
        stale = [folder / f"{document}.mp3" for document in known if is_identifier(document)]  # nothing elsewhere
        if moves or any(place.exists() for place in stale):
            (self.output / TRACKS).unlink(missing_ok=True)
        for place in stale:  # first, because where case does not count, a new clip may have the name of one of them
            place.unlink(missing_ok=True)
        for document, place in moves.items():
            os.replace(place, folder / f"{document}.mp3")
        for place in self.journal.waiting.iterdir():
            place.unlink(missing_ok=True)

    def _track(self, document: str, heard: Heard) -> dict[str, str]:
        known = {**heard.tags, **self.recordings[document].tags}
        return {"document": document, **known, "seconds": f"{heard.total_seconds:.3f}"}

    @contextmanager
    def _interruptible(self, chosen: Chosen | None = None, target: float = 0.0) -> Iterator[None]:
        """Interrupted, an earlier library stays as it is; where there is none, what is ready becomes one."""
        try:
            yield
        except KeyboardInterrupt:
            ready = "nothing is lost"
            if chosen is not None and not (self.output / TRACKS).exists():
                with suppress(AdjudgeError):
                    count = len(self._finished(chosen, target).library)
                    ready = f"{count:,} clip{' is' if count == 1 else 's are'} ready"
            raise KeyboardInterrupt(f"interrupted: {ready}; the same command goes on in {self.output}") from None

    def _each(
        self, function: Callable[[Job], Result], jobs: Mapping[str, Job]
    ) -> Iterator[tuple[str, Result | CrashedError]]:
        """Results as they come, counted."""
        workers = self.wanted.workers
        results = run_jobs(function, jobs, workers=workers, apart=workers is None)  # a decoder may crash
        with closing(results):  # type: ignore[type-var]
            for pair in results:
                yield pair
                self._advance(1)

    def _advance(self, n: int) -> None:
        self._done += n
        if self.wanted.progress is not None:
            self.wanted.progress(self._done, 2 * len(self.recordings))

    def _problem(self, document: str, result: Heard | FileProblem | CrashedError) -> FileProblem:
        name = self.recordings[document].name
        if isinstance(result, Heard):
            return FileProblem(name, result.problem, result.detail)
        if isinstance(result, FileProblem):
            return result
        return FileProblem(name, BROKEN, "expected sound, got a crash while reading it")


def _clip_row(heard: Heard, made: Made) -> dict[str, str]:
    return {
        "document": heard.document,
        "file": heard.name,
        "start": f"{heard.start:.3f}",
        "seconds": f"{made.seconds:.3f}",
        "rate": str(made.rate),
        "channels": str(made.channels),
        "loudness": f"{made.loudness:.2f}",
        "true_peak": f"{made.true_peak:.2f}",
        "gain_db": f"{made.gain_db:.2f}",
        "limited": str(made.limited).lower(),
        "original_sha256": heard.sha256,
        "clip_sha256": made.clip_sha256,
    }


def counted_problems(problems: Sequence[FileProblem]) -> str:
    """How many of each kind, in words.

    >>> counted_problems([FileProblem("", problem, "") for problem in ("silent", "broken", "silent")])
    '2 silent, 1 broken'
    """
    counts: dict[str, int] = {}
    for one in problems:
        counts[one.problem] = counts.get(one.problem, 0) + 1
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{count:,} {word}" for word, count in ordered)
