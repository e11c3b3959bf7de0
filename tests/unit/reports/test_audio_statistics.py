"""The report of what can be said of systems before anybody judges."""

from __future__ import annotations

import pytest
from tests.unit.audio.systems.invented_sounds import invented

from adjudge.audio.systems import make_runs
from adjudge.audio.systems.statistics import (
    Statistics,
    describe,
    describe_runs,
    occurrence_figure,
    percent,
    statistics_sections,
)
from adjudge.reporting.document import FigureBlock, Paragraph, TableBlock


@pytest.fixture(scope="module")
def found() -> Statistics:
    return describe(invented(30), ["timbre", "tags"])


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
    data = occurrence_figure(found).data
    assert data.panels == ("artist filter", "all artists")
    assert data.systems == (("timbre", "tags"), ("timbre", "tags"))
    for panel in data.counts:
        for counts in panel:
            assert len(counts) == 30
            assert counts.sum() == 30 * 5
            assert counts.tolist() == sorted(counts, reverse=True)


def test_runs_of_one_length_have_no_table_by_length_and_are_named_plainly() -> None:
    sounds = invented(20)
    sections = statistics_sections(describe_runs(make_runs(sounds, ["random"]), sounds.tracks))
    tables = [block for section in sections for block in section.blocks if isinstance(block, TableBlock)]
    assert [table.name for table in tables] == ["hubs", "same-genre", "same-artist", "same-album"]
    assert {row[0] for table in tables for row in table.rows} == {"random"}


def test_without_tags_there_is_nothing_about_neighbours() -> None:
    assert len(statistics_sections(describe(invented(12, tagged=False), ["random"]))) == 1


def test_a_share_that_is_none_is_a_dash() -> None:
    assert (percent(0.1234), percent(float("nan"))) == ("12.3", "–")
