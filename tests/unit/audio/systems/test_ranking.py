"""Rankings and whole matrices of systems: who is asked, what is filtered, and files written block by block."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.unit.audio.systems.invented_sounds import invented

from adjudge.arrays import Floats, Ints
from adjudge.audio.library.folder import Library
from adjudge.audio.systems import BASELINES, Sounds, choose_queries, distances, make_runs, sounds_of, write_runs
from adjudge.audio.systems.base import Labels
from adjudge.audio.systems.baselines import RandomDistances, TagDistances
from adjudge.audio.systems.ranking import make_descending_scores, write_matrix
from adjudge.errors import AdjudgeError, AdjudgeWarning, InputError
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
    assert all(artist[query] != artist[other] for (_, query), found in filtered.items() for other in found)
    assert any(artist[query] == artist[other] for (_, query), found in plain.items() for other in found)


def test_the_nearest_come_first() -> None:
    sounds = invented(30)
    values = distances.Euclidean(sounds.features["rhythm"]).rows(np.arange(30))
    expected = np.argsort(values + np.diag(np.full(30, np.inf)), axis=1)[:, :5]
    found = lists(make_runs(sounds, ["rhythm"], artist_filter=False))
    for place, document in enumerate(sounds.documents):
        assert found["rhythm", document] == [sounds.documents[other] for other in expected[place]]


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
    counts = Counter(document for documents in found.values() for document in documents)
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
    assert [str(warning.message) for warning in said] == [
        "The artist of 1 of 6 queries is not known: nothing is filtered for these.",
        "5 of 6 queries have fewer than 5 documents to retrieve.",
    ]
    assert [len(found) for found in lists(runs).values()] == [1, 1, 1, 1, 1, 5]
    with pytest.warns(AdjudgeWarning, match="6 of 6 queries have fewer than 1,000,000,000,000 documents to retrieve"):
        runs = make_runs(sounds, ["random"], k=10**12, artist_filter=False)
    assert [len(found) for found in lists(runs).values()] == [5] * 6


def test_one_artist_for_all_is_refused() -> None:
    sounds = invented(6)
    same = replace(sounds, tracks=sounds.tracks.with_columns(artist=pl.lit("me")))
    with pytest.raises(AdjudgeError, match=r"documents by other artists than the queries'.*got none"):
        make_runs(same, ["random"])


def test_what_is_no_system_or_too_few_documents_is_refused() -> None:
    with pytest.raises(AdjudgeError, match="No baseline system is called 'timber'"):
        make_runs(invented(5), ["timber"])
    with pytest.raises(AdjudgeError, match="at least 2 documents"):
        make_runs(invented(1))


def test_scores_descend_in_single_precision_and_are_near_the_distances() -> None:
    distance = np.sort(np.random.default_rng(0).choice([0.0, 1e-9, 0.3, 1.0, 77.7, 1e6], size=(50, 20)), axis=1)
    scores = make_descending_scores(distance)
    assert (np.diff(scores.astype(np.float32), axis=1) < 0).all()
    assert -scores == pytest.approx(distance, rel=1e-5, abs=1e-5)


def test_audio_features_are_asked_for_only_where_needed() -> None:
    sounds = invented(5)
    library = Library(Path("nowhere"), sounds.tracks, sounds.tracks)
    assert sounds_of(library, ["tags", "random"], seed=4).seed == 4


def test_a_matrix_for_numpy_has_its_documents_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distances, "BLOCK_BYTES", 12 * 8 * 5)
    sounds, told = invented(12), []
    path = write_matrix(sounds, "timbre", tmp_path / "m", progress=lambda done, total: told.append((done, total)))
    matrix = np.load(path)
    assert matrix.dtype == np.float32
    assert matrix == pytest.approx(BASELINES["timbre"].start(sounds).rows(np.arange(12)), rel=1e-6, abs=1e-9)
    assert (tmp_path / "m" / "timbre.documents.txt").read_text().split() == list(sounds.documents)
    assert told == [(5, 12), (10, 12), (12, 12)]
    assert sorted(file.name for file in path.parent.iterdir()) == ["timbre.documents.txt", "timbre.npy"]


def test_a_matrix_for_mirex_is_read_back(tmp_path: Path) -> None:
    sounds = invented(12)
    path = write_matrix(sounds, "rhythm", tmp_path, form="mirex")
    lines = path.read_text().splitlines()
    assert lines[0] == "rhythm"
    assert lines[1] == "1\td000"
    assert lines[13].startswith("Q/R\t1\t2\t")
    assert lines[14].startswith("1\t0.0\t")
    with pytest.warns(AdjudgeWarning, match="MIREX"):
        runs = read(str(path)).runs
    values = BASELINES["rhythm"].start(sounds).rows(np.arange(12))
    table = runs.to_polars()
    assert table.height == 12 * 11
    place = {name: i for i, name in enumerate(sounds.documents)}
    for _, query, document, score in table.iter_rows():
        assert -score == pytest.approx(values[place[query], place[document]], rel=1e-6)


def test_what_fails_leaves_nothing_behind_and_what_was_there_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sounds = invented(5)
    path = write_matrix(sounds, "random", tmp_path, form="mirex")
    before = path.read_bytes()

    def fail(places: Ints) -> Floats:
        raise MemoryError

    monkeypatch.setattr(RandomDistances, "rows", lambda self, places: fail(places))
    with pytest.raises(MemoryError):
        write_matrix(sounds, "random", tmp_path, form="mirex")
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_a_place_that_cannot_be_written_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        write_matrix(invented(5), "random", tmp_path / "file")
    with pytest.raises(AdjudgeError, match="cannot be made: not a directory"):
        write_runs(make_runs(invented(), ["random"]), tmp_path / "file" / "runs")


def test_a_number_is_spread_over_genres_and_drawn_by_the_seed() -> None:
    sounds = invented(40)
    genre = dict(zip(sounds.documents, sounds.tracks["genre"], strict=True))
    first = choose_queries(sounds, 14)
    assert sorted(Counter(genre[query] for query in first).values()) == [3, 3, 4, 4]
    assert choose_queries(sounds, 14) == first
    assert choose_queries(replace(sounds, seed=1), 14) != first


def test_one_document_more_changes_little_of_what_is_drawn() -> None:
    large = invented(41)
    small = Sounds(large.documents[1:], {}, large.tracks[1:], large.seed)
    assert len(set(choose_queries(small, 20)) & set(choose_queries(large, 20))) >= 18


def test_a_number_per_genre_and_all_where_there_are_fewer() -> None:
    tracks = pl.DataFrame({"genre": ["a"] * 5 + ["A"] + ["b"] * 2 + [None]})
    sounds = Sounds(tuple("012345678"), {}, tracks)
    with pytest.warns(AdjudgeWarning) as said:
        found = choose_queries(sounds, per_genre=3)
    assert len(set(found) & set("012345")) == 3
    assert set(found) & set("678") == {"6", "7"}
    assert [str(warning.message) for warning in said] == [
        "1 document of unknown genre is no query.",
        "1 of 2 genres have fewer than 3 documents: all of these are queries.",
    ]


def test_without_genres_a_number_is_drawn_and_none_of_each() -> None:
    sounds = invented(12, tagged=False)
    assert len(set(choose_queries(sounds, 5))) == 5
    with pytest.raises(AdjudgeError, match="expected genres for queries of each, got none"):
        choose_queries(sounds, per_genre=2)


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ({"number": 11}, "at most 10 queries, as there are documents, got 11"),
        ({"documents": ["d001", "x", "y"]}, "got 'x' and 1 more"),
        ({"number": 3, "per_genre": 2}, "got several"),
        ({"documents": []}, "expected queries, got none"),
    ],
)
def test_queries_that_cannot_be_are_refused(choice: dict[str, Any], said: str) -> None:
    with pytest.raises(AdjudgeError, match=said):
        choose_queries(invented(10), **choice)


@pytest.mark.parametrize(
    ("column", "values", "same"),
    [
        ("artist", ["Ann  Lee", " ann lee", "ANNLEE", "Bo"], [1, 1, 1, 0]),
        ("artist", ["A; B", "b", "C", "a"], [1, 1, 0, 1]),
        ("genre", ["Rock; Pop", "Rock", "rock;pop"], [1, 0, 1]),  # genres are whole, semicolons included
        ("artist", ["Various Artists", "various artists", None, "", "Unknown"], [0, 0, 0, 0, 0]),
        ("genre", [None, None], [0, 0]),
    ],
)
def test_documents_share_a_label_whatever_its_case_and_spaces(
    column: str, values: list[str | None], same: list[int]
) -> None:
    labels = Labels(pl.DataFrame({column: values}, schema={column: pl.String}), column)
    assert labels.same(np.array([0])).toarray().tolist() == [same]
    places = np.arange(len(values))
    assert labels.match(np.zeros_like(places), places).tolist() == [value == 1 for value in same]
    assert Labels(pl.DataFrame({"document": values}), "none").n_known == 0


def test_rare_words_count_more_than_common_ones() -> None:
    tracks = pl.DataFrame({"document": list("abcd"), "genre": ["folk rock", "rock", "rock", "folk"]})
    found = TagDistances(tracks).rows(np.array([0]))[0]
    assert found[0] < found[3] < found[1] == found[2] < 1


@pytest.mark.parametrize(
    ("column", "values", "from_first"),
    [
        ("title", ["x", "x", "y"], [0, 1, 1]),  # title and artist are ignored
        ("artist", ["u", "u", "v"], [0, 1, 1]),
        ("album", ["Greatest Hits", "greatest  hits", "Greatest Failures"], [0, 0, 1]),  # an album is one tag
        ("mood", ["calm", "Calm!", "wild"], [0, 0, 1]),
    ],
)
def test_columns_make_tags(column: str, values: list[str], from_first: list[float]) -> None:
    tags = TagDistances(pl.DataFrame({"document": list("abc"), column: values}))
    assert tags.rows(np.array([0]))[0].tolist() == from_first
    assert (tags.n_tagged == 0) == (column in ("title", "artist"))


def test_years_of_a_decade_are_nearer_than_others() -> None:
    tracks = pl.DataFrame({"document": list("abcd"), "year": ["1991", "1999-05-01", "1985", "1991"]})
    year = TagDistances(tracks).rows(np.array([0]))[0]
    assert 0 == year[3] < year[1] < year[2] == 1


def test_the_same_pair_has_the_same_random_distance_in_any_library() -> None:
    few, many = RandomDistances(("a", "b"), 3), RandomDistances(("c", "b", "a", "d"), 3)
    assert few.rows(np.array([0]))[0, 1] == many.rows(np.array([2]))[0, 1]
    assert RandomDistances(("a", "b"), 4).rows(np.array([0]))[0, 1] != few.rows(np.array([0]))[0, 1]


def test_random_distances_are_uniform() -> None:
    found = RandomDistances(invented(300).documents, 0).rows(np.arange(300))[np.triu_indices(300, 1)]
    assert np.quantile(found, [0.1, 0.5, 0.9]) == pytest.approx([0.1, 0.5, 0.9], abs=0.01)
