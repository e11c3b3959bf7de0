"""Systems that hear nothing: tags and chance."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.unit.audio.systems.invented_sounds import invented

from adjudge.audio.systems.plain import RandomDistances, TagDistances


def test_rare_words_count_more_than_common_ones() -> None:
    tracks = pl.DataFrame({"document": list("abcd"), "genre": ["folk rock", "rock", "rock", "folk"]})
    found = TagDistances(tracks).rows(np.array([0]))[0]
    assert found[0] < found[3] < found[1] == found[2] < 1


def test_title_and_artist_are_not_looked_at() -> None:
    tracks = pl.DataFrame({"document": list("abc"), "title": ["x", "x", "y"], "artist": ["u", "u", "v"]})
    tags = TagDistances(tracks)
    assert tags.n_tagged == 0
    assert (tags.rows(np.arange(3)) == 1 - np.eye(3)).all()


def test_years_of_a_decade_are_nearer_than_others_and_further_columns_count() -> None:
    tracks = pl.DataFrame({"document": list("abcd"), "year": ["1991", "1999-05-01", "1985", "1991"]})
    year = TagDistances(tracks).rows(np.array([0]))[0]
    assert year[3] == 0
    assert year[3] < year[1] < year[2] == 1
    mood = TagDistances(pl.DataFrame({"document": list("abc"), "mood": ["calm", "Calm!", "wild"]})).rows(np.array([0]))
    assert mood[0].tolist() == [0, 0, 1]


def test_an_album_is_one_tag() -> None:
    tracks = pl.DataFrame({"document": list("abc"), "album": ["Greatest Hits", "greatest  hits", "Greatest Failures"]})
    assert TagDistances(tracks).rows(np.array([0]))[0].tolist() == [0, 0, 1]


def test_the_same_pair_has_the_same_random_distance_in_any_library() -> None:
    few, many = RandomDistances(("a", "b"), 3), RandomDistances(("c", "b", "a", "d"), 3)
    assert few.rows(np.array([0]))[0, 1] == many.rows(np.array([2]))[0, 1]
    assert RandomDistances(("a", "b"), 4).rows(np.array([0]))[0, 1] != few.rows(np.array([0]))[0, 1]


def test_random_distances_are_uniform() -> None:
    found = RandomDistances(invented(300).documents, 0).rows(np.arange(300))[np.triu_indices(300, 1)]
    assert np.quantile(found, [0.1, 0.5, 0.9]) == pytest.approx([0.1, 0.5, 0.9], abs=0.01)
