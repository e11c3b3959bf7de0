"""From distances to runs: filtered, in order also once they were read back, ties by chance."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.unit.audio.systems.invented_sounds import invented

from adjudge.audio.library.folder import Library
from adjudge.audio.systems import distances, make_runs, sounds_of, write_runs
from adjudge.audio.systems.ranking import descending_scores
from adjudge.errors import AdjudgeError, AdjudgeWarning
from adjudge.formats import read
from adjudge.model.runs import Runs


def lists(runs: Runs) -> dict[tuple[str, str], list[str]]:
    table = runs.to_polars().group_by("system", "query", maintain_order=True).agg("document")
    return {(system, query): found for system, query, found in table.iter_rows()}


def test_neither_the_query_nor_its_artist_is_retrieved() -> None:
    sounds = invented()
    artist = dict(zip(sounds.documents, sounds.tracks["artist"], strict=True))
    filtered, plain = lists(make_runs(sounds, k=10)), lists(make_runs(sounds, k=10, artist_filter=False))
    assert len(filtered) == len(plain) == 7 * 40
    assert all(len(set(found)) == 10 and query not in found for (_, query), found in plain.items())
    assert all(artist[query] != artist[one] for (_, query), found in filtered.items() for one in found)
    assert any(artist[query] == artist[one] for (_, query), found in plain.items() for one in found)


def test_the_nearest_come_first() -> None:
    sounds = invented(30)
    values = distances.Euclidean(sounds.features["rhythm"]).rows(np.arange(30))
    expected = np.argsort(values + np.diag(np.full(30, np.inf)), axis=1)[:, :5]
    found = lists(make_runs(sounds, ["rhythm"], artist_filter=False))
    for place, document in enumerate(sounds.documents):
        assert found["rhythm", document] == [sounds.documents[one] for one in expected[place]]


def test_files_give_the_same_lists_back(tmp_path: Path) -> None:
    runs = make_runs(invented())
    paths = write_runs(runs, tmp_path / "new" / "runs")
    assert [path.name for path in paths][:2] == ["timbre.txt", "timbre-mp.txt"]
    assert lists(read(str(tmp_path / "new" / "runs")).runs) == lists(runs)
    scores = [float(line.split()[4]) for line in paths[5].read_text().splitlines()[:5]]
    assert (np.diff(np.array(scores, dtype=np.float32)) < 0).all()


def test_equal_distances_are_in_no_favour_of_any_document() -> None:
    sounds = invented(60, tagged=False)
    with pytest.warns(AdjudgeWarning, match="The artist of no query is known"):
        found = lists(make_runs(sounds, ["tags"]))
    counts = Counter(one for documents in found.values() for one in documents)
    assert max(counts.values()) < 16  # of 60: all are equally far, so that lists are drawn by lot
    with pytest.warns(AdjudgeWarning):
        assert lists(make_runs(replace(sounds, seed=5), ["tags"])) != found


def test_the_lot_of_ties_is_not_that_of_the_random_system() -> None:
    sounds = invented(60, tagged=False)
    found = lists(make_runs(sounds, ["tags", "random"], artist_filter=False))
    assert sum(found["tags", query] == found["random", query] for query in sounds.documents) < 3


def test_blocks_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    sounds = invented(25)
    whole = lists(make_runs(sounds))
    monkeypatch.setattr(distances, "BLOCK_BYTES", 25 * 8 * 14)
    assert lists(make_runs(sounds)) == whole


def test_where_artists_are_unknown_or_documents_few_that_is_said() -> None:
    sounds = invented(6)
    artists = pl.Series("artist", ["a", "a", "a", "a", "a", None])
    with pytest.warns(AdjudgeWarning) as said:
        runs = make_runs(replace(sounds, tracks=sounds.tracks.with_columns(artists)), ["random"])
    assert [str(one.message) for one in said] == [
        "The artist of 1 of 6 queries is not known: nothing is filtered for these.",
        "5 of 6 queries have fewer than 5 documents to retrieve.",
    ]
    assert [len(found) for found in lists(runs).values()] == [1, 1, 1, 1, 1, 5]


def test_far_longer_lists_than_there_are_documents_end_where_these_do() -> None:
    with pytest.warns(AdjudgeWarning, match="6 of 6 queries have fewer than 1,000,000,000,000 documents to retrieve"):
        runs = make_runs(invented(6), ["random"], k=10**12, artist_filter=False)
    assert [len(found) for found in lists(runs).values()] == [5] * 6


def test_one_artist_for_all_is_refused() -> None:
    sounds = invented(6)
    same = replace(sounds, tracks=sounds.tracks.with_columns(artist=pl.lit("me")))
    with pytest.raises(AdjudgeError, match="expected documents by other artists than the queries', got none"):
        make_runs(same, ["random"])


def test_what_is_no_system_or_no_number_is_refused() -> None:
    with pytest.raises(AdjudgeError, match="No baseline system is called 'timber'"):
        make_runs(invented(5), ["timber"])
    with pytest.raises(AdjudgeError, match="'k' must be a whole number of at least 1, got 0"):
        make_runs(invented(5), k=0)
    with pytest.raises(AdjudgeError, match="at least 2 documents"):
        make_runs(invented(1))


def test_a_folder_that_cannot_be_made_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(AdjudgeError, match="cannot be made: not a directory"):
        write_runs(make_runs(invented(), ["random"]), tmp_path / "file" / "runs")


def test_scores_descend_in_single_precision_and_are_near_the_distances() -> None:
    distance = np.sort(np.random.default_rng(0).choice([0.0, 1e-9, 0.3, 1.0, 77.7, 1e6], size=(50, 20)), axis=1)
    scores = descending_scores(distance)
    assert (np.diff(scores.astype(np.float32), axis=1) < 0).all()
    assert -scores == pytest.approx(distance, rel=1e-5, abs=1e-5)


def test_audio_features_are_asked_for_only_where_needed() -> None:
    sounds = invented(5)
    library = Library(Path("nowhere"), sounds.tracks, sounds.tracks)
    assert sounds_of(library, ["tags", "random"], seed=4).seed == 4
