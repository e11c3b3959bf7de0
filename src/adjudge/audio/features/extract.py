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
from dataclasses import dataclass, field
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
    features, digests = _select_features(names), _clip_digests(library)
    workers = count_workers(workers)
    kept = {
        feature.name: load_values(
            _feature_path(library.folder, feature), feature.version, _count_numbers(feature), set(digests.values())
        )
        for feature in features
    }
    extraction = _Extraction(library, features, digests, kept)
    missing = extraction.missing()
    if missing:
        extraction.run(missing, workers, progress)
    return LibraryFeatures(library.documents, extraction.tables(), len(missing))


def _clip_digests(library: Library) -> dict[str, str]:
    """SHA-256 of the clip of each document; a document without one is computed every time."""
    known = library.clips["clip_sha256"].to_list()
    return {
        document: digest or f"{_UNKNOWN} {document}" for document, digest in zip(library.documents, known, strict=True)
    }


def _feature_path(folder: Path, feature: AudioFeature) -> Path:
    return folder / FEATURE_FOLDER / f"{feature.name}.npz"


@lru_cache
def _count_numbers(feature: AudioFeature) -> int:
    """The number of numbers of a feature: the same for silence as for any clip."""
    return len(feature.compute(compute_spectra(np.zeros(1, dtype=np.float32))))


@dataclass(eq=False)
class _Extraction:
    """The values computed so far, by feature and digest."""

    library: Library
    features: tuple[AudioFeature, ...]
    digests: dict[str, str]
    kept: dict[str, Values]
    problems: list[str] = field(default_factory=list)

    def missing(self) -> dict[str, Path]:
        """Clips that lack a feature, by digest; the same clip under two names is one."""
        return {
            digest: self.library.clip(document)
            for document, digest in self.digests.items()
            if any(digest not in self.kept[feature.name] for feature in self.features)
        }

    def run(self, missing: Mapping[str, Path], workers: int, progress: Progress | None) -> None:
        """Compute what is missing, and save it at intervals and at the end, even after an error."""
        require_decoder()
        _make_folder(self.library.folder / FEATURE_FOLDER)
        due = time.monotonic() + SAVE_EVERY
        try:
            compute = partial(_try_compute, self.features)
            with closing(run_jobs(compute, missing, workers=workers, progress=progress)) as finished:
                for digest, result in finished:
                    self._store_result(digest, missing[digest], result)
                    if time.monotonic() > due:
                        due = max(SAVE_EVERY, self.save() / _SAVING_SHARE) + time.monotonic()
        finally:
            self.save()
        if self.problems:
            more = len(self.problems) - 1
            raise InputError(self.problems[0] + (f" (and {more:,} more)" if more else ""))

    def _store_result(self, digest: str, clip: Path, result: Values | str | CrashedError) -> None:
        if isinstance(result, str):
            self.problems.append(result)
        elif isinstance(result, CrashedError):
            self.problems.append(str(AudioError("expected sound, got a crash while reading it", source=str(clip))))
        else:
            for name, values in result.items():
                self.kept[name][digest] = values

    def save(self) -> float:
        """Write all files, and return the seconds that it took."""
        begin = time.monotonic()
        for feature in self.features:
            known = {digest: values for digest, values in self.kept[feature.name].items() if digest[0] != _UNKNOWN}
            save_values(_feature_path(self.library.folder, feature), feature.version, _count_numbers(feature), known)
        return time.monotonic() - begin

    def tables(self) -> Values:
        """Documents x numbers, by feature."""
        order = [self.digests[document] for document in self.library.documents]
        return {
            feature.name: np.array([self.kept[feature.name][digest] for digest in order]).reshape(
                -1, _count_numbers(feature)
            )
            for feature in self.features
        }


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
        path = _feature_path(folder, feature)
        new = {digest: values[name] for digest, values in features.items() if name in values}
        _make_folder(path.parent)
        save_values(
            path,
            feature.version,
            _count_numbers(feature),
            load_values(path, feature.version, _count_numbers(feature)) | new,
        )


def load_values(path: Path, version: int, width: int, wanted: Collection[str] | None = None) -> dict[str, Floats]:
    """Numbers by digest, all or those wanted; none where the file is missing, damaged or of another version."""
    if not path.exists():
        return {}
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            if int(archive["version"]) != version:
                return {}
            digests, values = archive["digests"], archive["values"]
        if not _is_valid(digests, values, width):
            raise ValueError("unexpected arrays")
    except _DAMAGE_ERRORS:
        warn(f"{path}: damaged; its numbers are computed again", stacklevel=2)
        return {}
    return {
        digest: values[place] for place, digest in enumerate(digests.tolist()) if wanted is None or digest in wanted
    }


def _is_valid(digests: npt.NDArray[Any], values: npt.NDArray[Any], width: int) -> bool:
    """Whether arrays are those of a feature: text, and one row of ``width`` finite numbers each."""
    return (
        digests.ndim == 1
        and digests.dtype.kind == "U"
        and values.dtype == np.float64
        and values.shape == (len(digests), width)
        and bool(np.isfinite(values).all())
    )


def save_values(path: Path, version: int, width: int, values: Mapping[str, Floats]) -> None:
    """Write numbers by digest, whole or not at all, in an order that does not depend on when they were computed."""
    digests = sorted(values)
    table = np.stack([values[digest] for digest in digests]) if digests else np.empty((0, width))
    packed = io.BytesIO()
    np.savez(packed, version=np.int64(version), digests=np.array(digests, dtype=np.str_), values=table)
    write_whole(path, packed.getvalue())


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
