"""Features of one clip, or of a whole library over processes; kept beside the library, and written for other programs.

Features are kept in ``LIBRARY/features/<name>.npz`` by the SHA-256 of the clip, with the version of the feature, as
NumPy archives without objects. A clip is therefore decoded again only when it changes, whatever documents come, go or
are renamed. Results are saved at intervals, so an interruption costs a minute at most. The numbers of a file that is
damaged are computed again, with a warning.

:func:`write_features` writes the features of all documents as a NumPy archive or as a table.
"""

from __future__ import annotations

import io
import time
import zipfile
import zlib
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats
from adjudge.audio.features import AUDIO_FEATURES, AudioFeature
from adjudge.audio.features.spectra import Samples, compute_spectra, mix_and_resample, read_sound, require_decoder
from adjudge.audio.library.folder import FEATURE_FOLDER, Library
from adjudge.audio.loudness import AudioError
from adjudge.audio.sources import quote_error
from adjudge.errors import AdjudgeError, InputError, warn
from adjudge.io import write_whole
from adjudge.parallel import CrashedError, Progress, count_workers, run_jobs
from adjudge.text import counted

if TYPE_CHECKING:
    import polars as pl

_DAMAGE_ERRORS = (OSError, ValueError, KeyError, TypeError, EOFError, MemoryError, zipfile.BadZipFile, zlib.error,
           NotImplementedError, RuntimeError)  # fmt: skip  # what damaged archives raise
SAVE_EVERY = 60.0  # seconds
_SAVING_SHARE = 0.05  # of the time, where saving takes long
_UNKNOWN = "?"  # begins the stand-in for a missing digest
Values = dict[str, Floats]
SUFFIXES = (".npz", ".csv", ".parquet")


@dataclass(frozen=True, eq=False)
class LibraryFeatures:
    """Features of all documents of a library: documents x numbers by name, and how many clips were new."""

    documents: tuple[str, ...]
    values: Mapping[str, Floats]
    n_new: int

    def __str__(self) -> str:
        sizes = ", ".join(f"{name} ({values.shape[1]:,} numbers)" for name, values in self.values.items())
        return f"{sizes} of {counted(len(self.documents), 'clip')}, {self.n_new:,} new"


def extract(path: str | Path, names: Sequence[str] | None = None) -> Values:
    """Features of one recording, by name; all that are registered where none are named.

    >>> extract("nowhere.mp3", ["timbre"])
    Traceback (most recent call last):
    adjudge.audio.loudness.AudioError: nowhere.mp3: expected a file, got none
    """
    return _compute(_select_features(names), read_sound(path), str(path))


def _compute(features: Sequence[AudioFeature], sound: Samples, source: str | None = None) -> Values:
    spectra = compute_spectra(sound)
    values = {feature.name: np.asarray(feature.compute(spectra), dtype=np.float64) for feature in features}
    for name, numbers in values.items():
        if not np.isfinite(numbers).all():
            raise AudioError(f"expected finite numbers, got NaN or infinity for {name}", source=source)
    return values


def _select_features(names: Sequence[str] | None) -> tuple[AudioFeature, ...]:
    wanted = list(AUDIO_FEATURES) if names is None else [names] if isinstance(names, str) else list(names)
    return tuple(AUDIO_FEATURES[name] for name in dict.fromkeys(wanted))


def extract_sound(samples: npt.NDArray[Any], rate: int, names: Sequence[str] | None = None) -> Values:
    """Features of decoded sound, by name: one dimension, or samples x channels, at any rate in Hz."""
    return _compute(_select_features(names), mix_and_resample(samples, rate))


def extract_library(
    library: Library,
    names: Sequence[str] | None = None,
    *,
    workers: int | None = None,
    progress: Progress | None = None,
) -> LibraryFeatures:
    """Features of all documents of a library, and how many clips had to be decoded.

    ``progress`` is told how many of the new clips are done. Clips that cannot be decoded are refused together, in one
    line that names the first, once all others are done and kept.
    """
    features, workers = _select_features(names), count_workers(workers)
    known = zip(library.documents, library.clips["clip_sha256"].to_list(), strict=True)
    digests = {document: digest or f"{_UNKNOWN} {document}" for document, digest in known}
    kept = {feature.name: load_values(library.folder, feature, set(digests.values())) for feature in features}
    missing = {  # the same clip under two names is one
        digest: library.clip(document)
        for document, digest in digests.items()
        if any(digest not in values for values in kept.values())
    }
    if missing:
        _compute_missing(library.folder, features, kept, missing, workers=workers, progress=progress)
    tables = {
        feature.name: np.array([kept[feature.name][digest] for digest in digests.values()]).reshape(
            -1, _count_numbers(feature)
        )
        for feature in features
    }
    return LibraryFeatures(library.documents, tables, len(missing))


def _compute_missing(
    folder: Path, features: tuple[AudioFeature, ...], kept: Mapping[str, Values], missing: Mapping[str, Path],
    *, workers: int, progress: Progress | None,
) -> None:  # fmt: skip
    """Add what is missing to what is kept, and save all of it at intervals and at the end, even after an error."""
    require_decoder()
    _make_folder(folder / FEATURE_FOLDER)

    def save() -> float:
        begin = time.monotonic()
        for feature in features:
            known = {digest: values for digest, values in kept[feature.name].items() if digest[0] != _UNKNOWN}
            save_values(folder, feature, known)
        return time.monotonic() - begin

    problems: list[str] = []
    due = time.monotonic() + SAVE_EVERY
    try:
        compute = partial(_try_compute, features)
        with closing(run_jobs(compute, missing, workers=workers, progress=progress)) as finished:
            for digest, result in finished:
                if isinstance(result, CrashedError):
                    crash = AudioError("expected sound, got a crash while reading it", source=str(missing[digest]))
                    problems.append(str(crash))
                elif isinstance(result, str):
                    problems.append(result)
                else:
                    for name, values in result.items():
                        kept[name][digest] = values
                if time.monotonic() > due:
                    due = max(SAVE_EVERY, save() / _SAVING_SHARE) + time.monotonic()
    finally:
        save()
    if problems:
        more = len(problems) - 1
        raise InputError(problems[0] + (f" (and {more:,} more)" if more else ""))


@lru_cache
def _count_numbers(feature: AudioFeature) -> int:
    """The number of numbers of a feature: the same for silence as for any clip."""
    return len(feature.compute(compute_spectra(np.zeros(1, dtype=np.float32))))


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise AdjudgeError(f"{folder}: expected a folder to keep features in, got {error.strerror}") from None


def _try_compute(features: tuple[AudioFeature, ...], path: Path) -> Values | str:
    """Compute features, or return the line that says why there are none."""
    try:
        return _compute(features, read_sound(path), str(path))
    except AudioError as error:
        return str(error)
    except (OSError, MemoryError, ValueError) as error:
        return str(AudioError(f"expected sound, got {quote_error(error)}", source=str(path)))


def store_features(folder: Path, features: Mapping[str, Values]) -> None:
    """Add features of clips, by digest and name, to those kept beside the library in ``folder``."""
    for name in sorted({name for values in features.values() for name in values}):
        feature = AUDIO_FEATURES[name]
        new = {digest: values[name] for digest, values in features.items() if name in values}
        _make_folder(folder / FEATURE_FOLDER)
        save_values(folder, feature, load_values(folder, feature) | new)


def load_values(folder: Path, feature: AudioFeature, wanted: Collection[str] | None = None) -> Values:
    """Numbers by digest, all or those wanted; none where the file is missing, damaged or of another version."""
    path = folder / FEATURE_FOLDER / f"{feature.name}.npz"
    if not path.exists():
        return {}
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            if int(archive["version"]) != feature.version:
                return {}
            digests, values = archive["digests"], archive["values"]
        is_table = values.dtype == np.float64 and values.shape == (len(digests), _count_numbers(feature))
        if digests.ndim != 1 or digests.dtype.kind != "U" or not is_table or not np.isfinite(values).all():
            raise ValueError("unexpected arrays")
    except _DAMAGE_ERRORS:
        warn(f"{path}: damaged; its numbers are computed again", stacklevel=2)
        return {}
    return {
        digest: values[place] for place, digest in enumerate(digests.tolist()) if wanted is None or digest in wanted
    }


def save_values(folder: Path, feature: AudioFeature, values: Values) -> None:
    """Write numbers by digest, whole or not at all, in an order that does not depend on when they were computed."""
    digests = sorted(values)
    table = np.stack([values[digest] for digest in digests]) if digests else np.empty((0, _count_numbers(feature)))
    packed = io.BytesIO()
    np.savez(packed, version=np.int64(feature.version), digests=np.array(digests, dtype=np.str_), values=table)
    write_whole(folder / FEATURE_FOLDER / f"{feature.name}.npz", packed.getvalue())


def check_suffix(path: str | Path) -> str:
    """The suffix of a file for features; unknown ones are refused.

    >>> check_suffix("features.mat")
    Traceback (most recent call last):
    adjudge.errors.AdjudgeError: features.mat: expected a name that ends in .npz, .csv, .parquet, got .mat
    """
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise AdjudgeError(
            f"{path}: expected a name that ends in {', '.join(SUFFIXES)}, got {suffix or 'one without a suffix'}"
        )
    return suffix


def write_features(features: LibraryFeatures, path: str | Path) -> None:
    """Write features in the format of the suffix.

    ``.npz`` has an array ``documents`` and one of documents x numbers per feature; ``.csv`` and ``.parquet`` have a
    column ``document`` and one column per number: ``timbre_001``, ``timbre_002``, …
    """
    suffix, packed = check_suffix(path), io.BytesIO()
    if suffix == ".npz":
        arrays: Mapping[str, Floats] = features.values
        np.savez_compressed(packed, allow_pickle=False, documents=np.array(features.documents, dtype=np.str_), **arrays)
    elif suffix == ".csv":
        _build_table(features).write_csv(packed)
    else:
        _build_table(features).write_parquet(packed)
    write_whole(Path(path), packed.getvalue())


def _build_table(features: LibraryFeatures) -> pl.DataFrame:
    import polars as pl

    columns: dict[str, pl.Series] = {"document": pl.Series(list(features.documents), dtype=pl.String)}
    for name, values in features.values.items():
        digits = len(str(values.shape[1]))
        for number, column in enumerate(values.T, start=1):
            columns[f"{name}_{number:0{digits}}"] = pl.Series(column.copy(), dtype=pl.Float64)
    return pl.DataFrame(columns)
