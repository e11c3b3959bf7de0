"""What is known about documents besides their relevance: artist, genre, any column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.arrays import Codes
from adjudge.errors import AdjudgeError, InputError, shown, unknown
from adjudge.model.coding import Vocabulary

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Metadata:
    """One row a document: ``documents[code[i]]`` is described by row i of ``table``."""

    documents: Vocabulary
    code: Codes
    table: pl.DataFrame

    def __len__(self) -> int:
        return len(self.code)

    def __repr__(self) -> str:
        return f"Metadata({len(self):,} documents: {', '.join(self.columns)})"

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of what is known of a document."""
        return tuple(name for name in self.table.columns if name != "document")

    def values(self, column: str) -> tuple[Codes, tuple[str, ...]]:
        """A column as codes, one for each document code (-1 where nothing is known), and the names of those codes."""
        import polars as pl

        if column not in self.columns:
            raise unknown("metadata column", column, self.columns)
        text = self.table[column].cast(pl.String)
        known = text.is_not_null().to_numpy()
        names = Vocabulary()
        codes = np.full(len(self.documents), -1, dtype=np.int32)
        codes[self.code[known]] = names.encode(text.drop_nulls())
        return codes, tuple(names)


def encode_metadata(frame: pl.DataFrame, *, documents: Vocabulary, source: str) -> Metadata:
    """Code rows ``document, …``; a document may come once, or again with the same values."""
    if len(frame.columns) < 2:
        raise AdjudgeError(f"{source}: expected a document column and at least one more, got {frame.columns}")
    frame = frame.unique(maintain_order=True)
    repeated = frame.filter(frame["document"].is_duplicated())
    if repeated.height:
        raise InputError(
            f"expected one row a document, got several different ones for {shown(repeated['document'][0])}",
            source=source,
        )
    return Metadata(documents, documents.encode(frame["document"]), frame)
