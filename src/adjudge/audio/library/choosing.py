"""Which recordings of a folder make clips, once all were heard, and how loud their clips will be."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from adjudge.audio.library.journal import Heard
from adjudge.audio.library.scanning import DUPLICATE, SILENT, TOO_SHORT, FileProblem, Recording
from adjudge.audio.loudness import CEILING, SILENCE, TARGET

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
