"""Which documents are asked about."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import polars as pl
import pytest
from tests.unit.audio.systems.invented_sounds import invented

from adjudge.audio.systems import Sounds, choose_queries
from adjudge.errors import AdjudgeError, AdjudgeWarning


def genres(sounds: Sounds, queries: tuple[str, ...]) -> Counter[str | None]:
    known = dict(zip(sounds.documents, sounds.tracks["genre"], strict=True))
    return Counter(known[query] for query in queries)


def test_a_number_is_spread_over_genres() -> None:
    sounds = invented(40)
    assert sorted(genres(sounds, choose_queries(sounds, 12)).values()) == [3, 3, 3, 3]
    assert sorted(genres(sounds, choose_queries(sounds, 14)).values()) == [3, 3, 4, 4]


def test_another_seed_draws_others_and_the_same_seed_the_same() -> None:
    sounds = invented(40)
    first = choose_queries(sounds, 10)
    assert choose_queries(sounds, 10) == first
    assert choose_queries(replace(sounds, seed=1), 10) != first


def test_one_document_more_changes_little_of_what_is_drawn() -> None:
    large = invented(41)
    small = Sounds(large.documents[1:], {}, large.tracks[1:], large.seed)
    assert len(set(choose_queries(small, 20)) & set(choose_queries(large, 20))) >= 18


def test_so_many_of_each_genre_and_all_where_there_are_fewer() -> None:
    tracks = pl.DataFrame({"genre": ["a"] * 5 + ["A"] + ["b"] * 2 + [None]})
    sounds = Sounds(tuple("012345678"), {}, tracks)
    with pytest.warns(AdjudgeWarning) as said:
        found = choose_queries(sounds, per_genre=3)
    assert len(set(found) & set("012345")) == 3
    assert set(found) & set("678") == {"6", "7"}
    texts = [str(one.message) for one in said]
    assert texts == [
        "1 document of unknown genre is no query.",
        "1 of 2 genres have fewer than 3 documents: all of these are queries.",
    ]


def test_without_genres_a_number_is_drawn_and_none_of_each() -> None:
    sounds = invented(12, tagged=False)
    assert len(set(choose_queries(sounds, 5))) == 5
    with pytest.raises(AdjudgeError, match="expected genres for queries of each, got none"):
        choose_queries(sounds, per_genre=2)


def test_what_cannot_be_asked_about_is_refused() -> None:
    sounds = invented(10)
    with pytest.raises(AdjudgeError, match="at most 10 queries, as there are documents, got 11"):
        choose_queries(sounds, 11)
    with pytest.raises(AdjudgeError, match="got 'x' and 1 more"):
        choose_queries(sounds, documents=["d001", "x", "y"])
    with pytest.raises(AdjudgeError, match="'queries' must be a whole number of at least 1, got 0"):
        choose_queries(sounds, 0)
    with pytest.raises(AdjudgeError, match="got several"):
        choose_queries(sounds, 3, per_genre=2)
    with pytest.raises(AdjudgeError, match="expected queries, got none"):
        choose_queries(sounds, documents=[])
