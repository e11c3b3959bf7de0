"""Identifiers as integer codes.

:class:`Vocabulary` gives every distinct string a code 0, 1, 2, … in order of first appearance. Strings are hashed to 64
bits by Polars and looked up in :class:`HashIndex`, an open-addressing table probed for a whole column at a time:
about five times faster than a dictionary-encoded column for a million documents. A hash is only a shortcut: every code
is checked against its string, and after a collision the vocabulary hashes all strings again with another seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Codes, Ints, Keys

if TYPE_CHECKING:
    import polars as pl


_EMPTY = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
_GOLDEN = np.uint64(0x9E37_79B9_7F4A_7C15)
_BLOCK = 1 << 18  # keys probed at a time: what a block needs stays in cache


class HashIndex:
    """Positions of 64-bit keys, found for whole arrays at a time.

    >>> index = HashIndex(np.array([30, 10, 20], dtype=np.uint64))
    >>> index.find(np.array([10, 11, 30], dtype=np.uint64)).tolist()
    [1, -1, 0]
    """

    def __init__(self, keys: Keys | None = None) -> None:
        self._size = 0
        self._allocate(16)
        if keys is not None:
            self.extend(keys)

    def __len__(self) -> int:
        return self._size

    def _allocate(self, slots: int) -> None:
        self._shift = np.uint64(64 - slots.bit_length() + 1)
        self._mask = slots - 1
        self._keys = np.full(slots, _EMPTY, dtype=np.uint64)
        self._positions = np.empty(slots, dtype=np.int32)

    def _first_slots(self, keys: Keys) -> Ints:
        return ((keys * _GOLDEN) >> self._shift).view(np.int64)

    def extend(self, keys: Keys) -> None:
        """Add distinct keys that are not in the index yet; the first gets position ``len(index)``."""
        needed = 2 * (self._size + len(keys))
        if needed > len(self._keys):
            occupied = self._keys != _EMPTY
            old_keys, old_positions = self._keys[occupied], self._positions[occupied]
            self._allocate(1 << (needed - 1).bit_length())
            self._insert(old_keys, old_positions)
        self._insert(keys, np.arange(self._size, self._size + len(keys), dtype=np.int32))
        self._size += len(keys)

    def _insert(self, keys: Keys, positions: Codes) -> None:
        slots = self._first_slots(keys)
        while len(keys):
            free = self._keys[slots] == _EMPTY
            self._keys[slots[free]] = keys[free]  # of several keys for one slot, the last one written stays
            placed = self._keys[slots] == keys
            self._positions[slots[placed]] = positions[placed]
            left = ~placed
            keys, positions, slots = keys[left], positions[left], (slots[left] + 1) & self._mask

    def find(self, keys: Keys) -> Codes:
        """Position of each key, -1 where it is not in the index."""
        found = np.empty(len(keys), dtype=np.int32)
        for start in range(0, len(keys), _BLOCK):
            self._find_block(keys[start : start + _BLOCK], found[start : start + _BLOCK])
        return found

    def _find_block(self, keys: Keys, found: Codes) -> None:
        slots = self._first_slots(keys)
        there = self._keys[slots]
        hit = there == keys
        found.fill(-1)
        where = np.flatnonzero(hit)
        found[where] = self._positions[slots[where]]
        pending = np.flatnonzero(~hit & (there != _EMPTY))
        slots = slots[pending]
        while len(pending):
            slots = (slots + 1) & self._mask
            there = self._keys[slots]
            hit = there == keys[pending]
            found[pending[hit]] = self._positions[slots[hit]]
            undecided = ~hit & (there != _EMPTY)
            pending, slots = pending[undecided], slots[undecided]


class Vocabulary(Sequence[str]):
    """Distinct strings and their codes.

    >>> documents = Vocabulary()
    >>> documents.encode(["b", "a", "b"]).tolist()
    [0, 1, 0]
    >>> documents[1], len(documents), documents.find(["a", "z"]).tolist()
    ('a', 2, [1, -1])
    """

    def __init__(self, seed: int = 0) -> None:
        import polars as pl

        self._seed = seed
        self._strings = pl.Series(dtype=pl.String)
        self._index = HashIndex()

    def __len__(self) -> int:
        return len(self._strings)

    def __getitem__(self, code: Any) -> Any:
        if isinstance(code, slice):
            return self._strings[code].to_list()
        return self._strings[int(code)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._strings.to_list())

    def __repr__(self) -> str:
        return f"Vocabulary({len(self)} strings)"

    @property
    def strings(self) -> pl.Series:
        """All strings, by code."""
        return self._strings

    def encode(self, strings: Sequence[str] | pl.Series) -> Codes:
        """Codes of strings; new ones are added in order of first appearance."""
        column = _column(strings)
        while (codes := self._encode(column)) is None:
            self._rehash()
        return codes

    def find(self, strings: Sequence[str] | pl.Series) -> Codes:
        """Codes of strings, -1 for strings that are not in the vocabulary; adds nothing."""
        column = _column(strings)
        codes = self._index.find(self._hashes(column))
        known = np.flatnonzero(codes >= 0)
        same = (self._strings.gather(codes[known]) == column.gather(known)).to_numpy()
        codes[known[~same]] = -1  # another string with the same hash
        return codes

    def decode(self, codes: npt.NDArray[np.integer[Any]]) -> pl.Series:
        """Strings of codes."""
        return self._strings.gather(codes)

    def _hashes(self, column: pl.Series) -> Keys:
        hashes = column.hash(seed=self._seed).to_numpy()
        reserved = hashes == _EMPTY
        return np.where(reserved, _EMPTY - np.uint64(1), hashes) if reserved.any() else hashes

    def _encode(self, column: pl.Series) -> Codes | None:
        """Codes, or None when two strings share a hash."""
        import polars as pl

        hashes = self._hashes(column)
        codes = self._index.find(hashes)
        unseen = np.flatnonzero(codes < 0)
        if len(unseen):
            firsts = unseen[pl.Series(hashes[unseen]).arg_unique().sort().to_numpy()]
            self._strings = pl.concat([self._strings, column.gather(firsts)], rechunk=True)
            self._index.extend(hashes[firsts])
            codes[unseen] = self._index.find(hashes[unseen])
        return codes if self._is_exact(codes, column) else None

    def _is_exact(self, codes: Codes, column: pl.Series) -> bool:
        """Whether every code is that of its string, checked in blocks to keep memory low."""
        blocks = (slice(start, start + _BLOCK) for start in range(0, len(codes), _BLOCK))
        return all(bool((self._strings.gather(codes[block]) == column[block]).all()) for block in blocks)

    def _rehash(self) -> None:
        """Hash all strings again, until all hashes differ. Codes stay: the strings keep their order."""
        while True:
            self._seed += 1
            hashes = self._hashes(self._strings)
            if len(np.unique(hashes)) == len(hashes):
                self._index = HashIndex(hashes)
                return


def _column(strings: Sequence[str] | pl.Series) -> pl.Series:
    import polars as pl

    return strings if isinstance(strings, pl.Series) else pl.Series(list(strings), dtype=pl.String)
