"""How alike documents are to one another, whoever asks and whatever made it: sound, text, anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError, shown

_ROUNDING = 1e-6  # by which similarities may differ both ways


class Similarity(Protocol):
    """Similarity of documents from 0 (nothing in common) to 1 (the same), as a matrix of any few of them."""

    @property
    def digest(self) -> str:
        """Of all that similarities depend on, so that a saved session knows whether they are still the same."""

    def among(self, documents: Sequence[str]) -> Floats:
        """Documents x documents, symmetric, 1 on the diagonal; NaN in rows and columns of documents not known."""


def similarities(similarity: Similarity, documents: Sequence[str]) -> Floats:
    """What :meth:`Similarity.among` says, whoever made it; refused where it is not the matrix that it should be.

    >>> class Halves:
    ...     digest = "halves"
    ...     def among(self, documents: Sequence[str]) -> Floats:
    ...         return np.array([[1.0, 0.5], [0.4, 1.0]])
    >>> similarities(Halves(), ["a", "b"])
    Traceback (most recent call last):
    adjudge.errors.AdjudgeError: Similarity of 'a' and 'b': expected the same number both ways, got 0.5 and 0.4
    """
    found, n = np.asarray(similarity.among(documents), dtype=np.float64), len(documents)
    if found.shape != (n, n):
        came = " x ".join(str(length) for length in found.shape) or "one"
        raise AdjudgeError(f"Similarity of {n} documents: expected {n} x {n} numbers, got {came}")
    known = np.flatnonzero(~np.isnan(np.diagonal(found)))
    part = found[np.ix_(known, known)]
    with np.errstate(invalid="ignore"):
        same = np.abs(part - part.T) <= _ROUNDING  # which NaN and infinity are not, either
    if not same.all():
        row, column = known[np.argwhere(~same)[0]]
        one, other = found[row, column], found[column, row]
        pair = f"{shown(documents[row])} and {shown(documents[column])}"
        raise AdjudgeError(f"Similarity of {pair}: expected the same number both ways, got {one} and {other}")
    return found
