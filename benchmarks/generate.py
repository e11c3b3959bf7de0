"""Collections of any size from a seed: TREC files for the tools that read files, Polars frames for those that do not.

Every query draws a pool of candidates from the collection, some of them judged. Every system ranks the pool by what all
systems see in a document, by what it alone sees (noise) and, as far as its skill goes, by the grade. Scores have no
ties, not even in single precision: tools break ties differently, and would not compute the same.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

_FIRST_QUERY = 1001


@dataclass(frozen=True)
class Shape:
    """How large a collection is; the same shape is the same collection."""

    queries: int = 1_000
    depth: int = 1_000
    documents: int = 1_000_000
    candidates: int = 3_000
    judged: int = 100
    top_grade: int = 3
    seed: int = 2013


class Collection:
    """The pools and grades of a shape, from which any number of systems can be drawn."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        rng = np.random.default_rng(np.random.SeedSequence(shape.seed, spawn_key=(0,)))
        drawn = [rng.choice(shape.documents, shape.candidates, replace=False) for _ in range(shape.queries)]
        self._pools = np.stack(drawn).astype(np.int32)
        size = (shape.queries, shape.judged)
        self._grades = np.where(rng.random(size) < 0.6, 0, rng.integers(1, shape.top_grade + 1, size))
        self._appeal = rng.standard_normal((shape.queries, shape.candidates), dtype=np.float32)
        self._appeal[:, : shape.judged] += 0.5  # assessors saw what systems had found

    def judgments(self) -> pl.DataFrame:
        """Table ``query, document, grade``."""
        documents = self._pools[:, : self.shape.judged]
        return pl.DataFrame(
            {
                "query": self._query_column(self.shape.judged),
                "document": _names(documents),
                "grade": self._grades.ravel(),
            }
        )

    def run(self, number: int) -> pl.DataFrame:
        """Table ``system, query, document, rank, score`` of one system; its numbers do not depend on other systems."""
        shape = self.shape
        rng = np.random.default_rng(np.random.SeedSequence(shape.seed, spawn_key=(1, number)))
        value = rng.standard_normal(self._appeal.shape, dtype=np.float32) + self._appeal
        value[:, : shape.judged] += rng.uniform(0.5, 2.5) * self._grades / shape.top_grade
        best = np.argsort(-value, axis=1)[:, : shape.depth]
        steps = rng.integers(50, 500, best.shape)
        scores = np.cumsum(steps[:, ::-1], axis=1)[:, ::-1] / 10_000
        return pl.DataFrame(
            {
                "query": self._query_column(shape.depth),
                "document": _names(np.take_along_axis(self._pools, best, axis=1)),
                "rank": np.tile(np.arange(1, shape.depth + 1), shape.queries),
                "score": scores.ravel(),
            }
        ).select(pl.lit(f"system{number:02d}").alias("system"), pl.all())

    def _query_column(self, repeats: int) -> pl.Series:
        codes = np.repeat(np.arange(_FIRST_QUERY, _FIRST_QUERY + self.shape.queries), repeats)
        return pl.Series(codes).cast(pl.String)


def _names(documents: npt.NDArray[np.int32]) -> pl.Series:
    return "D" + pl.Series(documents.ravel()).cast(pl.String).str.zfill(7)


class Files:
    """The collection of a shape as TREC files in a directory: made once, used again while the shape is the same."""

    def __init__(self, shape: Shape, directory: Path) -> None:
        self.shape = shape
        self.directory = directory
        made_for = directory / "shape.json"
        if not made_for.exists() or json.loads(made_for.read_text()) != asdict(shape):
            for old in directory.glob("*.*"):
                old.unlink()
            directory.mkdir(parents=True, exist_ok=True)
            made_for.write_text(json.dumps(asdict(shape)))

    @cached_property
    def _collection(self) -> Collection:
        return Collection(self.shape)

    def judgments(self) -> Path:
        """Path of the qrels file."""
        path = self.directory / "qrels.txt"
        if not path.exists():
            table = self._collection.judgments().select("query", pl.lit("0").alias("subtopic"), "document", "grade")
            _write(table, path)
        return path

    def runs(self, n: int) -> list[Path]:
        """Paths of the run files of ``n`` systems."""
        return [self._run(number) for number in range(1, n + 1)]

    def remove_runs_after(self, n: int) -> None:
        """Delete the run files of all systems but the first ``n``."""
        for path in self.directory.glob("system*.txt"):
            if int(path.stem.removeprefix("system")) > n:
                path.unlink()

    def _run(self, number: int) -> Path:
        path = self.directory / f"system{number:02d}.txt"
        if not path.exists():
            table = self._collection.run(number)
            _write(table.select("query", pl.lit("Q0").alias("Q0"), "document", "rank", "score", "system"), path)
        return path


def _write(table: pl.DataFrame, path: Path) -> None:
    """Write under another name first, so that a file that exists is whole."""
    unfinished = path.with_suffix(".part")
    table.write_csv(unfinished, separator=" ", include_header=False, float_precision=4, quote_style="never")
    unfinished.replace(path)
