"""Similarity of documents from embeddings and from texts, as estimators take it beside sound.

Embeddings are vectors that some model gave documents: an array of NumPy with identifiers beside it, or a table with a
column of vectors or several columns of numbers. Texts become vectors of words, each worth (1 + log tf) · log(n / df)
in a text where it occurs tf times, and in df of n texts (Salton and Buckley 1988, doi:10.1016/0306-4573(88)90021-0).
Two documents are as similar as the cosine of their vectors, 0 where that is negative. A query may have a vector too,
under its own identifier: how similar a document is to the query is then a feature of its own.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias
from unicodedata import normalize
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.sparse import csr_array

from adjudge.arrays import Floats, Ints
from adjudge.errors import AdjudgeError, InputError, reason, shown
from adjudge.formats.schema import Field, Schema, Table, Tabular
from adjudge.formats.source import open_source
from adjudge.model.collection import Similarity, similarities

Array: TypeAlias = npt.NDArray[Any]
_TABLE = Schema((Field("document", needed=True),), unique=("document",))
_TEXT = ("text", "contents", "body")
_IDS = (".txt", ".csv", ".tsv", ".json")
"""Endings of the file of identifiers beside an array of NumPy; one identifier per line in a plain text."""
_AT_ONCE = 8192  # vectors
_WORD = re.compile(r"\w+")


class CosineSimilarity:
    """Cosine of the vectors of documents, 0 where it is negative; ``digest`` identifies documents and vectors.

    ``vectors`` are documents x numbers, sparse if each has length 1. They may be mapped from a file: only those of the
    documents that are asked for are read, once all were checked.

    >>> alike = CosineSimilarity(["a", "b", "c"], np.array([[1.0, 0.0], [3.0, 4.0], [-1.0, 0.0]]))
    >>> alike.among(["a", "b", "unknown"]).round(2)
    array([[1. , 0.6, nan],
           [0.6, 1. , nan],
           [nan, nan, nan]])
    """

    def __init__(self, documents: Sequence[str], vectors: Array | csr_array, *, source: str = "Embeddings") -> None:
        if vectors.ndim != 2 or vectors.shape[1] == 0 or vectors.dtype.kind not in "fiu":
            came = f"{' x '.join(map(str, vectors.shape))} of {vectors.dtype}"
            raise InputError(f"expected documents x numbers, got {came}", source=source)
        if len(documents) != vectors.shape[0]:
            came = f"{len(documents):,} identifiers of {vectors.shape[0]:,} vectors"
            raise InputError(f"expected an identifier for each vector, got {came}", source=source)
        self._place = {document: place for place, document in enumerate(documents)}
        if len(self._place) < len(documents):
            again = next(name for name, n in Counter(documents).items() if n > 1)
            raise InputError(f"expected each document once, got {shown(again)} again", source=source)
        self._vectors = vectors
        digest = hashlib.sha256("\n".join(documents).encode())
        if isinstance(vectors, np.ndarray):
            for first in range(0, len(documents), _AT_ONCE):
                part = vectors[first : first + _AT_ONCE]
                size = np.abs(part.astype(np.float64)).max(axis=1)
                if len(bad := np.flatnonzero(~np.isfinite(size) | (size == 0))):
                    came = "zeros alone" if size[bad[0]] == 0 else "NaN or infinity"
                    name = shown(documents[first + int(bad[0])])
                    raise InputError(f"expected finite numbers, not all 0, of {name}, got {came}", source=source)
                digest.update(np.ascontiguousarray(part).tobytes())
        else:
            for array in (vectors.indptr, vectors.indices, vectors.data):
                digest.update(np.ascontiguousarray(array).tobytes())
        self.digest = digest.hexdigest()

    def __len__(self) -> int:
        return len(self._place)

    def __contains__(self, document: object) -> bool:
        return document in self._place

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self):,} documents x {self._vectors.shape[1]:,})"

    def among(self, documents: Sequence[str]) -> Floats:
        """Documents x documents, symmetric, 1 on the diagonal; NaN in rows and columns of unknown documents."""
        rows = np.array([row for row, name in enumerate(documents) if name in self], dtype=np.int64)
        places = np.array([self._place[documents[row]] for row in rows], dtype=np.int64)
        found = np.full((len(documents), len(documents)), np.nan)
        cosines = np.clip(self._cosines(places), 0.0, 1.0)
        found[np.ix_(rows, rows)] = np.where(places[:, None] == places, 1.0, (cosines + cosines.T) / 2)
        return found

    def _cosines(self, places: Ints) -> Floats:
        chosen = self._vectors[places]
        if not isinstance(chosen, np.ndarray):
            return np.asarray((chosen @ chosen.T).toarray(), dtype=np.float64)
        vectors = chosen.astype(np.float64)
        vectors /= np.abs(vectors).max(axis=1, keepdims=True)  # whose squares may be too large
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors @ vectors.T)


class MeanSimilarity:
    """The mean of several similarities, of the documents that all of them know."""

    def __init__(self, parts: Sequence[Similarity]) -> None:
        self.parts = tuple(parts)
        self.digest = hashlib.sha256("\n".join(part.digest for part in parts).encode()).hexdigest()

    def among(self, documents: Sequence[str]) -> Floats:
        """Documents x documents, symmetric; NaN in rows and columns of documents that one of them does not know."""
        return np.asarray(np.mean([similarities(part, documents) for part in self.parts], axis=0), dtype=np.float64)


def embedding_similarity(embeddings: Tabular | Array, ids: Sequence[str] | None = None) -> CosineSimilarity:
    """Similarity of documents by embeddings: an array with identifiers, a file, a data frame, or records.

    ``ids`` are the identifiers of an array's rows, and of a file's that has none. A file may be

    - ``.npy``, documents x numbers, which is mapped and not held in memory; identifiers are those of the file of the
      same name that ends in ``.txt`` (one per line), ``.csv``, ``.tsv`` or ``.json`` (column ``document``);
    - ``.npz`` with an array of identifiers and one of vectors;
    - a table (Parquet, JSON records or lines, CSV, TSV) with a column ``document`` and one of vectors, or columns of
      numbers.

    >>> import adjudge as aj
    >>> alike = aj.relevance.embedding_similarity(np.array([[1.0, 0.0], [3.0, 4.0]]), ["a", "b"])
    >>> alike.among(["a", "b"])[0, 1].round(2)
    np.float64(0.6)
    """
    given = None if ids is None else [str(name) for name in ids]
    if isinstance(embeddings, np.ndarray):
        if given is None:
            raise AdjudgeError("Embeddings: expected 'ids' for the rows of an array, got none.")
        return CosineSimilarity(given, embeddings)
    name = str(embeddings) if isinstance(embeddings, str | os.PathLike) else "Embeddings"
    if name.endswith((".npy", ".npz")):
        documents, vectors = _read_arrays(Path(name), given)
        return CosineSimilarity(documents, vectors, source=name)
    if given is not None:
        raise AdjudgeError(f"{name}: expected identifiers in the column 'document' of a table, not in 'ids'.")
    table = _TABLE.open(embeddings)
    documents = _documents(table)
    return CosineSimilarity(documents, _numbers(table), source=name)


def text_similarity(texts: Tabular) -> CosineSimilarity:
    """Similarity of documents by the words of their texts: a table with columns ``document`` and ``text``.

    >>> import adjudge as aj
    >>> alike = aj.relevance.text_similarity({"document": ["a", "b", "c"], "text": ["red fox", "red hen", "blue"]})
    >>> alike.among(["a", "b", "c"])[0].round(2).tolist()
    [1.0, 0.2, 0.0]
    """
    table = _TABLE.open(texts)
    place = _text_column(table)
    if place is None:
        raise table.header_error(f"expected a column 'text' with texts, got {', '.join(map(shown, table.names))}")
    return _of_texts(table, place)


def similarity_of(path: str | Path) -> CosineSimilarity:
    """Similarity by a file of embeddings, or of texts where a table has them."""
    if not str(path).endswith((".npy", ".npz")):
        table = _TABLE.open(path)
        if (place := _text_column(table)) is not None:
            return _of_texts(table, place)
    return embedding_similarity(path)


def _documents(table: Table) -> list[str]:
    names = _TABLE.read(table)["document"].to_list()
    if not names:
        raise table.error("expected at least one document, got none")
    return names


def _text_column(table: Table) -> int | None:
    """The place of the column of texts, if there is one."""
    names = [name.strip().lower() for name in table.names]
    found = [names.index(name) for name in _TEXT if name in names]
    texts = [place for place in found if table.frame.to_series(place).dtype == pl.String]
    return texts[0] if texts else None


def _of_texts(table: Table, place: int) -> CosineSimilarity:
    documents = _documents(table)
    counts = [Counter(_WORD.findall(normalize("NFKC", text or "").lower())) for text in table.frame.to_series(place)]
    words = {word: i for i, word in enumerate(sorted({word for count in counts for word in count}))}
    known = [i for i, count in enumerate(counts) if count]
    if not words:
        raise table.error("expected texts with words, got none")
    column = np.array([words[word] for i in known for word in counts[i]], dtype=np.int64)
    often = np.array([n for i in known for n in counts[i].values()], dtype=np.float64)
    row = np.repeat(np.arange(len(known)), [len(counts[i]) for i in known])
    rare = np.log((len(known) + 1) / np.bincount(column, minlength=len(words)))
    worth = (1 + np.log(often)) * rare[column]
    size = np.sqrt(np.bincount(row, worth**2))
    vectors = csr_array((worth / size[row], (row, column)), shape=(len(known), len(words)))
    return CosineSimilarity([documents[i] for i in known], vectors, source=_name(table))


def _name(table: Table) -> str:
    return "Texts" if table.source is None else table.source.name


def _numbers(table: Table) -> Array:
    """The vectors of a table: its only column of lists, or all its columns of numbers."""
    place = table.place(_TABLE.field("document"))
    columns = {name: table.frame.to_series(i) for i, name in enumerate(table.names) if i != place}
    lists = [name for name, column in columns.items() if column.dtype.is_nested()]
    if len(lists) == 1:
        column = columns[lists[0]]
        try:
            sizes = column.cast(pl.List(pl.Float64)).list.len().fill_null(0).to_numpy()
            table.refuse(sizes != sizes[0], lambda row: f"expected {sizes[0]} numbers, as before, got {sizes[row]}")
            flat = column.cast(pl.List(pl.Float64)).explode().fill_null(np.nan).to_numpy()
        except pl.exceptions.PolarsError:
            raise table.header_error(f"expected vectors of numbers in {shown(lists[0])}") from None
        return flat.reshape(len(column), -1) if len(flat) else np.empty((len(column), 0))
    numbers = [name for name, column in columns.items() if not column.dtype.is_nested()]
    if lists or not numbers:
        came = ", ".join(map(shown, table.names))
        raise table.header_error(f"expected one column of vectors, or columns of numbers, got {came}")
    read = [
        table.read(Field(name, "number", holds=None, wanted=f"numbers in {shown(name)}"), list(table.names).index(name))
        for name in numbers
    ]
    return np.column_stack([column.to_numpy() for column in read])


def _read_arrays(path: Path, ids: list[str] | None) -> tuple[list[str], Array]:
    """Identifiers and vectors of a file of NumPy."""
    try:
        loaded = np.load(path, mmap_mode="r" if path.suffix == ".npy" else None, allow_pickle=False)
        arrays = {} if isinstance(loaded, np.ndarray) else {name: loaded[name] for name in loaded.files}
    except OSError as error:
        raise InputError(f"cannot be read: {reason(error)}", source=str(path)) from None
    except (ValueError, EOFError, BadZipFile):
        raise InputError("expected arrays of numbers or text as NumPy saves them", source=str(path)) from None
    if isinstance(loaded, np.ndarray):
        return _read_ids(path) if ids is None else ids, loaded
    vectors = [array for array in arrays.values() if array.ndim == 2]
    names = [array for array in arrays.values() if array.ndim == 1]
    if len(vectors) != 1 or (ids is None and len(names) != 1):
        came = ", ".join(f"{name} ({' x '.join(map(str, array.shape))})" for name, array in arrays.items()) or "none"
        raise InputError(f"expected an array of identifiers and one of vectors, got {came}", source=str(path))
    return ids if ids is not None else [str(name) for name in names[0].tolist()], vectors[0]


def ids_beside(path: str | Path) -> Path | None:
    """The file of identifiers beside an array of NumPy, if there is one."""
    if not str(path).endswith(".npy"):
        return None
    return next((beside for end in _IDS if (beside := Path(path).with_suffix(end)).is_file()), None)


def _read_ids(path: Path) -> list[str]:
    beside = ids_beside(path)
    if beside is None:
        wanted = f"{path.stem}{_IDS[0]} or {path.stem}{_IDS[1]}"
        raise InputError(f"expected identifiers of its rows in {wanted} beside it, got no such file", source=str(path))
    if beside.suffix == ".txt":
        return [line.strip() for line in open_source(beside).every_line() if line.strip()]
    return _documents(_TABLE.open(beside))
