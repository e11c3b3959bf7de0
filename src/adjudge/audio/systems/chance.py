"""What is left to chance, decided by a seed and by names: the same whatever else is in a library, and in any order."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np

from adjudge.arrays import Ints, Keys


def keys_of(names: Iterable[str], *, seed: int, about: str) -> Keys:
    """A number of 64 bits for each name, which depends on the seed and on what it is needed for.

    >>> keys_of(["a", "b"], seed=0, about="x")[0] == keys_of(["a"], seed=0, about="x")[0]
    np.True_
    """
    start = hashlib.blake2b(f"{seed}\0{about}\0".encode(), digest_size=8)
    found = []
    for name in names:
        one = start.copy()
        one.update(name.encode())
        found.append(int.from_bytes(one.digest(), "little"))
    return np.array(found, dtype=np.uint64)


def key_rows(keys: Keys, places: Ints) -> Keys:
    """A number for each pair, the same both ways: places x documents.

    The sum of two keys goes through the finaliser of SplitMix64 (Steele, Lea, Flood 2014, doi:10.1145/2660193.2660195).
    """
    mixed = keys[places, None] + keys
    mixed ^= mixed >> np.uint64(30)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed
