"""What can be said of systems before anybody judges, and its report."""

from __future__ import annotations

from dataclasses import replace
from math import nan

import numpy as np
import polars as pl
import pytest
from tests.unit.audio.systems.invented_sounds import invented

from adjudge.arrays import Floats, Ints
from adjudge.audio.systems import BASELINES, Sounds, make_runs
from adjudge.audio.systems.base import Baseline
from adjudge.audio.systems.statistics import (
    FILTERED,
    GIVEN,
    PLAIN,
    Occurrences,
    Statistics,
    describe_runs,
    describe_systems,
    sentences,
    statistics_sections,
    triangle_share,
)
from adjudge.errors import AdjudgeError
from adjudge.formats import read
from adjudge.reporting.document import FigureBlock, Paragraph, TableBlock


class Line:
    """Distances of numbers on a line."""

    def __init__(self, *values: float) -> None:
        self.values = np.array(values)

    def rows(self, places: Ints) -> Floats:
        found: Floats = np.abs(self.values[places, None] - self.values)
        return found


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> Statistics:
    """Six documents on a line: 0, 1, 2.1 and 10, 11, 12.2; two genres, three artists."""
    tracks = pl.DataFrame(
        {"document": list("abcdef"), "genre": ["x", "x", "x", "y", "y", None], "artist": list("uuvvww")}
    )
    assert BASELINES  # all of them are there
    monkeypatch.setitem(BASELINES._members, "line", Baseline("line", "", (), lambda _: Line(0, 1, 2.1, 10, 11, 12.2)))
    return describe_systems(Sounds(tuple("abcdef"), {}, tracks), ["line"], cutoffs=(1, 2, 50))


def shares(statistics: Statistics, way: str, label: str, k: int) -> tuple[float, float, int] | None:
    found = statistics.of("line", way)
    shared = None if found is None else found.sharing(label, k)
    return None if shared is None else (shared.share, shared.of_possible, shared.n_queries)


def test_shares_are_those_counted_by_hand(line: Statistics) -> None:
    # the nearest of a, b, c, d, e are b, a, b, e, d: all of their genre; f has none and does not count
    assert shares(line, PLAIN, "genre", 1) == (1, 1, 5)
    # the two nearest are bc, ac, ba: both; ef, df: one of the one that there is
    assert shares(line, PLAIN, "genre", 2) == (0.8, 1, 5)
    # a and b have one artist, c and d and e have others nearest, f has e
    assert shares(line, PLAIN, "artist", 1) == (0.5, 0.5, 6)
    assert shares(line, FILTERED, "artist", 1) is None
    # without the artist a, b, c, d, e have c, c, b, e, d
    assert shares(line, FILTERED, "genre", 1) == (1, 1, 5)
    # and cd, cd, ba, eb, dc
    assert shares(line, FILTERED, "genre", 2) == pytest.approx((0.6, 1, 5))
    assert shares(line, PLAIN, "album", 1) is None


def test_occurrences_are_those_counted_by_hand(line: Statistics) -> None:
    filtered, plain = line.entries
    assert line.cutoffs == (1, 2)
    assert plain.at(1).counts.tolist() == [1, 2, 0, 1, 2, 0]
    assert filtered.at(1).counts.tolist() == [0, 1, 2, 2, 1, 0]
    assert filtered.at(1).never == pytest.approx(2 / 6)
    assert filtered.at(1).coverage == pytest.approx(4 / 6)
    assert (line.documents[plain.at(1).hub], plain.at(1).largest) == ("b", 2)
    assert plain.triangle == 1


def test_runs_give_the_same_as_the_systems_that_made_them() -> None:
    sounds = invented(40)
    runs = make_runs(sounds, k=10)
    there, here = describe_runs(runs, sounds.tracks), describe_systems(sounds, cutoffs=(5, 10))
    assert there.cutoffs == (5, 10)
    for given, made in zip(there.entries, here.entries[::2], strict=True):
        assert (given.system, given.lists, made.lists) == (made.system, GIVEN, FILTERED)
        for k in (5, 10):
            assert given.at(k).counts.tolist() == made.at(k).counts.tolist()
            for label in ("genre", "album"):
                assert given.sharing(label, k) == made.sharing(label, k)


def test_runs_of_other_queries_and_unknown_documents_are_counted() -> None:
    runs = read({"s": {"q1": ["a", "zz"], "q2": ["a"]}, "t": {"q1": ["b"]}}).runs
    found = describe_runs(runs, pl.DataFrame({"document": ["a", "b", "c"], "genre": ["x", "x", "y"]}))
    assert found.documents == ("a", "b", "c", "zz")
    assert [entry.at(2).counts.tolist() for entry in found.entries] == [[2, 0, 0, 1], [0, 1, 0, 0]]
    assert all(entry.shared == () for entry in found.entries)
    assert found.n_queries == 2


def test_triangles_are_counted_by_triples() -> None:
    class Four:
        def rows(self, places: Ints) -> Floats:
            values = np.array([[0, 1, 1, 1], [1, 0, 5, 1], [1, 5, 0, 1], [1, 1, 1, 0]], dtype=np.float64)
            return values[places]

    assert triangle_share(Four(), np.arange(4)) == 0.5  # 012 and 123 have the long side
    assert np.isnan(triangle_share(Line(0, 1), np.arange(2)))


def test_sentences_name_the_hub_and_what_becomes_of_it() -> None:
    sounds = invented(300)
    found = describe_systems(sounds, ["timbre", "timbre-mp", "random"])
    before, _, after, *_ = found.entries
    said = sentences(found)
    hub = before.at(5).hub
    assert said[0] == "300 documents. All are queries."
    assert f"{found.documents[hub]} is in {before.at(5).largest} of 300 top-5 lists" in said[1]
    assert said[1].endswith(f"; mutual proximity brings it down to {after.at(5).counts[hub]}.")
    assert said[2].startswith("timbre-mp and random have no hub: no document is in more than ")
    assert said[4].startswith("Of the query's genre among the first 5, without the query's artist: ")


def test_without_any_tags_lists_are_plain_and_nothing_is_shared() -> None:
    found = describe_systems(invented(20, tagged=False), ["random"])
    assert found.ways == (PLAIN,)
    assert found.entries[0].shared == ()
    assert sentences(found)[0].endswith("No genre, artist or album is known.")
    assert len(statistics_sections(found)) == 1


def test_where_all_is_by_one_artist_lists_are_plain() -> None:
    sounds = invented(20)
    found = describe_systems(replace(sounds, tracks=sounds.tracks.with_columns(artist=pl.lit("me"))), ["random"])
    assert found.ways == (PLAIN,)
    most = found.entries[0].at(5).largest
    assert sentences(found)[1] == f"random has no hub: no document is in more than {most} of its lists."


def test_rows_have_a_number_for_everything_or_none() -> None:
    rows = describe_systems(invented(30), ["random"]).to_dicts()
    assert [(row["lists"], row["cutoff"]) for row in rows] == [
        (way, cutoff) for way in (FILTERED, PLAIN) for cutoff in (5, 10, 20)
    ]
    assert rows[0]["same_artist"] is None
    assert rows[3]["same_artist"] is not None
    assert rows[0]["hub"] in invented(30).documents


def test_what_cannot_be_described_is_refused() -> None:
    with pytest.raises(AdjudgeError, match="at least 3 documents for statistics, got 2"):
        describe_systems(invented(2), ["random"])
    with pytest.raises(AdjudgeError, match="'cutoff' must be a whole number of at least 1, got 0"):
        describe_systems(invented(5), ["random"], cutoffs=(0,))


def test_all_counts_equal_have_no_skewness() -> None:
    assert Occurrences(1, np.array([2, 2, 2]), 6).skewness == pytest.approx(nan, nan_ok=True)


def test_the_seed_draws_other_documents_for_triangles_of_large_libraries() -> None:
    sounds = invented(200)
    first = describe_systems(sounds, ["timbre"], cutoffs=(5,)).entries[0].triangle
    assert first == describe_systems(sounds, ["timbre"], cutoffs=(5,)).entries[0].triangle
    assert first != describe_systems(replace(sounds, seed=9), ["timbre"], cutoffs=(5,)).entries[0].triangle


@pytest.fixture(scope="module")
def found() -> Statistics:
    return describe_systems(invented(30), ["timbre", "tags"])


def test_sections_have_sentences_tables_and_the_figure(found: Statistics) -> None:
    hubs, neighbours = statistics_sections(found)
    kinds = [type(block) for block in hubs.blocks]
    assert kinds[-3:] == [TableBlock, FigureBlock, TableBlock]
    assert set(kinds[:-3]) == {Paragraph}
    tables = [block for block in neighbours.blocks if isinstance(block, TableBlock)]
    assert [table.name for table in tables] == ["same-genre", "same-artist", "same-album"]
    assert [row[0] for row in tables[0].rows] == ["timbre", "timbre, all artists", "tags", "tags, all artists"]
    assert [row[0] for row in tables[1].rows] == ["timbre, all artists", "tags, all artists"]
    for table in tables:
        assert all(len(row) == len(table.columns) for row in table.rows)


def test_curves_have_every_document_most_frequent_first(found: Statistics) -> None:
    data = found.figure("occurrences").data
    assert [panel.title for panel in data.panels] == ["artist filter", "all artists"]
    for panel in data.panels:
        assert [curve.label for curve in panel.curves] == ["timbre", "tags"]
        for curve in panel.curves:
            assert len(curve.y) == 30
            assert curve.y.sum() == 30 * 5
            assert curve.y.tolist() == sorted(curve.y, reverse=True)


def test_runs_of_one_length_have_no_table_by_length_and_are_named_plainly() -> None:
    sounds = invented(20)
    sections = statistics_sections(describe_runs(make_runs(sounds, ["random"]), sounds.tracks))
    tables = [block for section in sections for block in section.blocks if isinstance(block, TableBlock)]
    assert [table.name for table in tables] == ["hubs", "same-genre", "same-artist", "same-album"]
    assert {row[0] for table in tables for row in table.rows} == {"random"}
