"""Features for other programs: NumPy's archive, or a table with a row a document."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.formats.writing import write_whole

if TYPE_CHECKING:
    import polars as pl

    from adjudge.audio.features.extracting import LibraryFeatures

SUFFIXES = (".npz", ".csv", ".parquet")


def check_suffix(path: str | Path) -> str:
    """The suffix that says how to write features; others are refused.

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
    """Write features as the suffix says.

    ``.npz`` has an array ``documents`` and one of documents x numbers for each feature; ``.csv`` and ``.parquet`` have
    a column ``document`` and one for each number: ``timbre_001``, ``timbre_002``, …
    """
    suffix, packed = check_suffix(path), io.BytesIO()
    if suffix == ".npz":
        arrays: Mapping[str, Floats] = features.values
        np.savez_compressed(packed, allow_pickle=False, documents=np.array(features.documents, dtype=np.str_), **arrays)
    elif suffix == ".csv":
        _table(features).write_csv(packed)
    else:
        _table(features).write_parquet(packed)
    write_whole(Path(path), packed.getvalue())


def _table(features: LibraryFeatures) -> pl.DataFrame:
    import polars as pl

    columns: dict[str, pl.Series] = {"document": pl.Series(list(features.documents), dtype=pl.String)}
    for name, values in features.values.items():
        digits = len(str(values.shape[1]))
        for number, column in enumerate(values.T, start=1):
            columns[f"{name}_{number:0{digits}}"] = pl.Series(column.copy(), dtype=pl.Float64)
    return pl.DataFrame(columns)
