"""Similarity from embeddings and texts: files, cosines written down, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import adjudge as aj
from adjudge.errors import AdjudgeError
from adjudge.relevance.similarity import MeanSimilarity, similarity_of

DOCUMENTS = ["a", "b", "c"]
VECTORS = np.array([[1.0, 0.0], [3.0, 4.0], [0.0, -2.0]], dtype=np.float32)
COSINES = [[1.0, 0.6, 0.0], [0.6, 1.0, 0.0], [0.0, 0.0, 1.0]]  # that of b and c is -.8


def as_npy(folder: Path) -> Path:
    np.save(folder / "v.npy", VECTORS)
    (folder / "v.txt").write_text("\n".join(DOCUMENTS) + "\n")
    return folder / "v.npy"


def as_npy_beside_a_table(folder: Path) -> Path:
    np.save(folder / "v.npy", VECTORS.astype(np.float16))
    (folder / "v.csv").write_text("doc_id\na\nb\nc\n")
    return folder / "v.npy"


def as_npz(folder: Path) -> Path:
    np.savez(folder / "v.npz", ids=np.array(DOCUMENTS), vectors=VECTORS)
    return folder / "v.npz"


def as_parquet(folder: Path) -> Path:
    pl.DataFrame({"document": DOCUMENTS, "vector": VECTORS.tolist()}).write_parquet(folder / "v.parquet")
    return folder / "v.parquet"


def as_lines(folder: Path) -> Path:
    pl.DataFrame({"document": DOCUMENTS, "vector": VECTORS.tolist()}).write_ndjson(folder / "v.jsonl")
    return folder / "v.jsonl"


def as_columns(folder: Path) -> Path:
    pl.DataFrame({"id": DOCUMENTS, "x": VECTORS[:, 0], "y": VECTORS[:, 1]}).write_csv(folder / "v.csv")
    return folder / "v.csv"


@pytest.mark.parametrize("write", [as_npy, as_npy_beside_a_table, as_npz, as_parquet, as_lines, as_columns])
def test_embeddings_are_read_from_any_file(tmp_path: Path, write: Callable[[Path], Path]) -> None:
    found = aj.relevance.embedding_similarity(write(tmp_path))
    np.testing.assert_allclose(found.among(DOCUMENTS), COSINES, atol=1e-7)
    some = found.among(["c", "nobody", "c"])
    assert np.isnan(some[1]).all()
    assert (some[::2, ::2] == 1).all()


def test_an_array_on_disk_is_not_read_into_memory(tmp_path: Path) -> None:
    assert isinstance(aj.relevance.embedding_similarity(as_npy(tmp_path))._vectors, np.memmap)


def test_the_digest_is_of_documents_and_numbers() -> None:
    digests = {
        aj.relevance.embedding_similarity(VECTORS * scale, names).digest
        for scale, names in ((1, DOCUMENTS), (2, DOCUMENTS), (1, DOCUMENTS[::-1]), (1, DOCUMENTS))
    }
    texts = [["red fox", "hen"], ["red hen", "hen"], ["red fox", "hen"]]
    digests |= {aj.relevance.text_similarity({"document": ["a", "b"], "text": text}).digest for text in texts}
    assert len(digests) == 5


def test_texts_are_compared_by_their_words(tmp_path: Path) -> None:
    """Red is in two of three texts: log(4/2); fox twice in one: (1 + log 2) log 4; hen: log 4."""
    (tmp_path / "t.csv").write_text('id,text\na,"Red fox, fox"\nb,red HEN\nc,blue\nd,...\n')
    red, fox, hen = np.log(2), (1 + np.log(2)) * np.log(4), np.log(4)
    found = similarity_of(tmp_path / "t.csv").among(["a", "b", "c"])
    assert found[0, 1] == pytest.approx(red**2 / np.hypot(red, fox) / np.hypot(red, hen))
    assert found[0, 2] == 0
    assert np.isnan(similarity_of(tmp_path / "t.csv").among(["d"])).all()  # no words, nothing is known


def test_several_similarities_are_averaged_where_all_know_a_document() -> None:
    one = aj.relevance.embedding_similarity(VECTORS, DOCUMENTS)
    two = aj.relevance.embedding_similarity(np.eye(2), ["a", "b"])
    found = MeanSimilarity([one, two]).among(DOCUMENTS)
    np.testing.assert_allclose(found[:2, :2], [[1.0, 0.3], [0.3, 1.0]], atol=1e-7)
    assert np.isnan(found[2]).all()


def saved(vectors: Any, ids: str | None) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        np.save(folder / "v.npy", vectors, allow_pickle=True)
        if ids is not None:
            (folder / "v.txt").write_text(ids)
        return folder / "v.npy"

    return write


def table(**columns: list[Any]) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        pl.DataFrame(columns).write_parquet(folder / "v.parquet")
        return folder / "v.parquet"

    return write


def text(name: str, content: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        (folder / "v.txt").write_text("a\n")
        (folder / name).write_text(content)
        return folder / name

    return write


def test_identifiers_may_be_numbers() -> None:
    alike = aj.relevance.embedding_similarity(np.array([[1.0, 0.0], [3.0, 4.0]]), np.array([7, 8]))  # type: ignore[arg-type]
    assert alike.among(["7", "8"])[0, 1] == pytest.approx(0.6)


def test_words_are_the_same_however_their_accents_are_encoded() -> None:
    alike = aj.relevance.text_similarity({"document": ["a", "b", "c"], "text": ["caf\u00e9", "cafe\u0301", "tea"]})
    assert alike.among(["a", "b"])[0, 1] == pytest.approx(1.0)


def test_identifiers_of_a_table_are_its_own() -> None:
    with pytest.raises(AdjudgeError, match="expected identifiers in the column 'document' of a table, not in 'ids'"):
        aj.relevance.embedding_similarity({"document": ["a"], "v": [[1.0, 2.0]]}, ["b"])


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e200, 1e300])
def test_vectors_may_be_of_any_size(size: float) -> None:
    alike = aj.relevance.embedding_similarity(np.array([[1.0, 0.0], [3.0, 4.0]]) * size, ["a", "b"])
    assert alike.among(["a", "b"])[0, 1] == pytest.approx(0.6)


@pytest.mark.parametrize(
    ("write", "said"),
    [
        (saved(VECTORS, None), "expected identifiers of its rows in v.txt or v.csv beside it, got no such file"),
        (saved(VECTORS, "a\nb"), "expected an identifier for each vector, got 2 identifiers of 3 vectors"),
        (saved(VECTORS, "a\nb\na"), "expected each document once, got 'a' again"),
        (saved(VECTORS[0], "a\nb"), "expected documents x numbers, got 2 of float32"),
        (saved(np.array([["x"]]), "a"), "expected documents x numbers, got 1 x 1 of <U1"),
        (saved(np.array([[1, "x"]], dtype=object), "a"), "expected arrays of numbers or text as NumPy saves them"),
        (saved(VECTORS * [[1], [0], [1]], "a\nb\nc"), "expected finite numbers, not all 0, of 'b', got zeros alone"),
        (saved(VECTORS * [[1], [1], [np.nan]], "a\nb\nc"), "of 'c', got NaN or infinity"),
        (text("v.npy", "nonsense"), "expected arrays of numbers or text as NumPy saves them"),
        (table(document=["a", "b"], v=[[1.0, 2.0], [1.0]]), "row 2: expected 2 numbers, as before, got 1"),
        (table(document=["a", "b"], v=[[1.0, 2.0], [1.0, None]]), "of 'b', got NaN or infinity"),
        (table(document=["a"], v=[["x"]]), "expected vectors of numbers in 'v'"),
        (table(document=["a"], v=[[1.0]], w=[[1.0]]), "expected one column of vectors, or columns of numbers"),
        (table(document=["a"]), "expected one column of vectors, or columns of numbers, got 'document'"),
        (table(document=["a", "a"], x=[1, 2]), "expected each document once, got 'a' again"),
        (text("v.csv", "document,x\na,red\n"), "v.csv:2: expected numbers in 'x', got 'red'"),
        (text("v.csv", "document,text\na,...\n"), "expected texts with words, got none"),
    ],
)
def test_what_are_no_embeddings_is_refused_in_a_line(tmp_path: Path, write: Callable[[Path], Path], said: str) -> None:
    with pytest.raises(AdjudgeError) as refused:
        similarity_of(write(tmp_path))
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_an_archive_of_arrays_says_which_is_which(tmp_path: Path) -> None:
    np.savez(tmp_path / "v.npz", a=VECTORS, b=VECTORS)
    with pytest.raises(AdjudgeError, match=r"one of vectors, got a \(3 x 2\), b \(3 x 2\)"):
        similarity_of(tmp_path / "v.npz")
    with pytest.raises(AdjudgeError, match="expected 'ids' for the rows of an array, got none"):
        aj.relevance.embedding_similarity(VECTORS)
    with pytest.raises(AdjudgeError, match="expected a column 'text' with texts, got 'document', 'x'"):
        aj.relevance.text_similarity({"document": ["a"], "x": [1]})
