"""Identifiers become integers: every string one code, whatever the hashes do."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.arrays import Keys
from adjudge.model.vocabulary import HashIndex, Vocabulary

keys = st.lists(st.integers(0, 2**64 - 2), unique=True, max_size=200)


@given(keys, st.lists(st.integers(0, 2**64 - 2), max_size=50))
def test_the_index_finds_what_is_in_it_and_nothing_else(known: list[int], others: list[int]) -> None:
    index = HashIndex(np.array(known, dtype=np.uint64))
    place = {key: i for i, key in enumerate(known)}
    asked = np.array(known + others, dtype=np.uint64)
    assert index.find(asked).tolist() == [place.get(key, -1) for key in known + others]


@given(st.lists(keys, max_size=5))
def test_the_index_grows_in_steps_as_it_would_at_once(parts: list[list[int]]) -> None:
    fresh = list(dict.fromkeys(key for part in parts for key in part))
    index = HashIndex()
    seen: set[int] = set()
    for part in parts:
        new = [key for key in part if key not in seen]
        seen.update(new)
        index.extend(np.array(new, dtype=np.uint64))
    assert len(index) == len(fresh)
    assert index.find(np.array(fresh, dtype=np.uint64)).tolist() == list(range(len(fresh)))


def test_the_index_finds_keys_in_more_than_one_block() -> None:
    known = np.arange(0, 2_000_000, 2, dtype=np.uint64)
    index = HashIndex(known)
    asked = np.arange(600_000)
    expected = np.where(asked % 2 == 0, asked // 2, -1)
    assert (index.find(asked.astype(np.uint64)) == expected).all()


@settings(max_examples=30)
@given(st.lists(st.lists(st.text(max_size=5), max_size=20), max_size=5))
def test_codes_are_given_in_order_of_first_appearance(columns: list[list[str]]) -> None:
    vocabulary = Vocabulary()
    place: dict[str, int] = {}
    for column in columns:
        codes = vocabulary.encode(column)
        assert codes.tolist() == [place.setdefault(text, len(place)) for text in column]
    assert list(vocabulary) == list(place)
    assert vocabulary.find([*place, "not there, surely"]).tolist() == [*range(len(place)), -1]


def test_colliding_hashes_never_merge_two_strings(monkeypatch: pytest.MonkeyPatch) -> None:
    """With seeds 0 to 2 every string has one of three hashes; only seed 3 tells them all apart."""

    def weak(self: Vocabulary, column: pl.Series) -> Keys:
        hashes = column.hash(seed=self._seed).to_numpy()
        return hashes if self._seed >= 3 else hashes % np.uint64(3)

    monkeypatch.setattr(Vocabulary, "_hashes", weak)
    vocabulary = Vocabulary()
    words = [f"w{i}" for i in range(50)]
    assert vocabulary.encode(words[:1]).tolist() == [0]
    codes = vocabulary.encode(words)
    assert sorted(codes.tolist()) == list(range(50))
    assert vocabulary.decode(codes).to_list() == words
    assert vocabulary.find(words).tolist() == codes.tolist()


def test_a_hash_met_by_accident_is_not_taken_for_a_known_string(monkeypatch: pytest.MonkeyPatch) -> None:
    vocabulary = Vocabulary()
    vocabulary.encode(["a"])
    same = vocabulary._hashes(pl.Series(["a"]))
    monkeypatch.setattr(Vocabulary, "_hashes", lambda self, column: np.repeat(same, len(column)))
    assert vocabulary.find(["a", "b"]).tolist() == [0, -1]
