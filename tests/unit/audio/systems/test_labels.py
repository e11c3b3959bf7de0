"""Who and what documents have in common."""

from __future__ import annotations

import numpy as np
import polars as pl

from adjudge.audio.systems.base import Labels


def test_artists_are_the_same_whatever_their_capitals_and_blanks() -> None:
    artists = Labels(pl.DataFrame({"artist": ["Ann  Lee", " ann lee", "ANNLEE", "Bo"]}), "artist")
    assert artists.same(np.array([0])).toarray().tolist() == [[1, 1, 1, 0]]
    assert artists.match(np.array([0, 0]), np.array([2, 3])).tolist() == [True, False]


def test_who_is_unknown_or_various_shares_with_nobody() -> None:
    artists = Labels(pl.DataFrame({"artist": ["Various Artists", "various artists", None, "", "Unknown"]}), "artist")
    assert artists.n_known == 0
    assert artists.same(np.arange(5)).sum() == 0


def test_a_column_that_is_missing_is_unknown() -> None:
    assert Labels(pl.DataFrame({"document": ["a", "b"]}), "genre").known.tolist() == [False, False]


def test_genres_are_whole_also_with_semicolons() -> None:
    genres = Labels(pl.DataFrame({"genre": ["Rock; Pop", "Rock", "rock;pop"]}), "genre")
    assert genres.same(np.array([0])).toarray().tolist() == [[1, 0, 1]]
