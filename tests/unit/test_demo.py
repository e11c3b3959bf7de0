"""The demo collection keeps the promises of its docstring; every number here is worked out from its tables alone."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from polars.testing import assert_frame_equal

from adjudge.embedded import DemoTables, demo_space, demo_tables

PAIR = ["query", "document"]
TABLES = ["runs", "judgments", "broad", "metadata"]


@pytest.fixture(scope="module")
def demo() -> DemoTables:
    return demo_tables()


def cg5(tables: DemoTables) -> pl.DataFrame:
    """Effectiveness, systems x queries, with a first column of system names."""
    grades = tables.judgments.group_by(PAIR).agg(pl.col("grade").mean())
    rank = pl.col("score").rank("ordinal", descending=True).over("system", "query")
    top = tables.runs.filter(rank <= 5).join(grades, on=PAIR, how="left", validate="m:1")
    cells = top.group_by("system", "query").agg(pl.col("grade").sum() / 500)
    return cells.pivot(on="query", index="system", values="grade").sort("system")


def variance_fractions(tables: DemoTables) -> NDArray[np.float64]:
    """Shares of system, query and residual in the variance, by two-way random-effects analysis of variance."""
    cells = cg5(tables).drop("system").to_numpy()
    n_s, n_q = cells.shape
    of_system, of_query = cells.mean(axis=1, keepdims=True), cells.mean(axis=0, keepdims=True)
    ms_s = n_q * np.sum((of_system - cells.mean()) ** 2) / (n_s - 1)
    ms_q = n_s * np.sum((of_query - cells.mean()) ** 2) / (n_q - 1)
    ms_e = np.sum((cells - of_system - of_query + cells.mean()) ** 2) / ((n_s - 1) * (n_q - 1))
    parts: NDArray[np.float64] = np.array([(ms_s - ms_e) / n_q, (ms_q - ms_e) / n_s, ms_e])
    fractions: NDArray[np.float64] = parts / parts.sum()
    return fractions


def test_the_default_varies_as_mirex_does(demo: DemoTables) -> None:
    system, query, residual = variance_fractions(demo)
    assert 0.15 < system < 0.27
    assert 0.38 < query < 0.52
    assert 0.28 < residual < 0.42


@pytest.mark.parametrize(("seed", "queries"), [(0, 60), (1, 60), (4, 100), (6, 30)])
def test_other_seeds_and_sizes_vary_much_the_same(seed: int, queries: int) -> None:
    system, query, residual = variance_fractions(demo_tables(seed, queries=queries))
    assert 0.10 < system < 0.35
    assert 0.30 < query < 0.60
    assert 0.20 < residual < 0.48
    assert system < query


def test_good_systems_are_good_and_the_baseline_is_weak(demo: DemoTables) -> None:
    effectiveness = cg5(demo)
    means = dict(zip(effectiveness["system"], effectiveness.drop("system").mean_horizontal(), strict=True))
    assert 0.12 < means.pop("ZX1") < 0.28
    assert min(means.values()) > 0.42
    assert 0.58 < max(means.values()) < 0.70


def test_the_same_seed_gives_the_same_tables_and_another_seed_others(demo: DemoTables) -> None:
    again, other = demo_tables(2012, queries=60, depth=10), demo_tables(2013)
    for table in TABLES:
        assert_frame_equal(getattr(again, table), getattr(demo, table))
        assert not getattr(other, table).equals(getattr(demo, table))


def test_the_tables_have_the_columns_that_formats_promise(demo: DemoTables) -> None:
    text, number = pl.String(), pl.Float64()
    runs = {"system": text, "query": text, "document": text, "score": number, "team": text}
    judgments = {"query": text, "document": text, "grade": number, "assessor": text}
    assert dict(demo.runs.schema) == runs
    assert dict(demo.judgments.schema) == dict(demo.broad.schema) == judgments
    assert demo.metadata.columns == ["document", "artist", "genre", "title"]
    assert not any(getattr(demo, table).null_count().sum_horizontal().item() for table in TABLES)


def test_twelve_systems_of_five_teams_return_full_lists_of_distinct_documents(demo: DemoTables) -> None:
    systems = demo.runs.select("system", "team").unique()
    assert systems.height == 12
    assert systems["team"].n_unique() == 5
    assert all(system.startswith(team) for system, team in systems.rows())
    lists = demo.runs.group_by("system", "query").agg(pl.len(), pl.col("document").n_unique())
    assert lists.height == 12 * 60
    assert lists["len"].unique().to_list() == lists["document"].unique().to_list() == [10]


def test_the_collection_has_thousands_of_documents_in_ten_genres(demo: DemoTables) -> None:
    artists = demo.metadata.group_by("genre").agg(pl.col("artist").n_unique())
    assert demo.metadata.height == demo.metadata["document"].n_unique() == 3000
    assert artists.height == 10
    assert set(artists["artist"]) == {25}
    assert all(document.isascii() for document in demo.metadata["document"])
    for column in ("artist", "title"):
        assert sum(not name.isascii() for name in demo.metadata[column].unique()) > 10


@pytest.mark.parametrize(("queries", "fewest", "most"), [(60, 6, 6), (25, 2, 3), (7, 0, 1), (1, 0, 1)])
def test_queries_are_documents_spread_evenly_over_genres(queries: int, fewest: int, most: int) -> None:
    tables = demo_tables(queries=queries, depth=3)
    asked = tables.runs.select(document=pl.col("query").unique())
    counts = (
        tables.metadata.select("genre")
        .unique()
        .join(asked.join(tables.metadata, on="document").group_by("genre").len(), on="genre", how="left")
    )
    numbers = counts["len"].fill_null(0)
    assert (numbers.sum(), numbers.min(), numbers.max()) == (queries, fewest, most)


@pytest.mark.parametrize("depth", [10, 2988])
def test_no_query_retrieves_itself_or_its_artist(depth: int) -> None:
    tables = demo_tables(queries=10, depth=depth)
    artist = tables.metadata.select("document", "artist")
    pairs = tables.runs.select(PAIR).unique().join(artist, on="document", how="left", validate="m:1")
    both = pairs.join(artist.rename({"document": "query"}), on="query", how="left", suffix="_of_query")
    assert both.filter(pl.col("query") == pl.col("document")).is_empty()
    assert both.filter(pl.col("artist") == pl.col("artist_of_query")).is_empty()


def test_lists_run_from_best_to_worst_with_strictly_decreasing_scores() -> None:
    runs = demo_tables(queries=10, depth=2988).runs
    scores = runs["score"].to_numpy().reshape(12 * 10, 2988)
    assert runs.select(pl.struct("system", "query").rle_id()).n_unique() == 12 * 10
    assert np.isfinite(scores).all()
    assert (np.diff(scores, axis=1) < 0).all()


def test_the_pool_is_completely_judged_and_nothing_else_is(demo: DemoTables) -> None:
    pool, judged = demo.runs.select(PAIR).unique(), demo.judgments.select(PAIR).unique()
    assert pool.join(judged, on=PAIR, how="anti").is_empty()
    assert judged.join(pool, on=PAIR, how="anti").is_empty()


def test_one_assessor_judges_a_query_and_three_judge_every_fifth(demo: DemoTables) -> None:
    panels = demo.judgments.group_by("query", maintain_order=True).agg(pl.col("assessor").n_unique(), pl.len())
    sizes = demo.judgments.group_by(PAIR).agg(pl.len()).group_by("query").agg(pl.col("len").unique().implode())
    assert panels["assessor"].to_list() == [3, 1, 1, 1, 1] * 12
    assert all(len(set(size)) == 1 for size in sizes["len"].to_list())
    assert not demo.judgments.select([*PAIR, "assessor"]).is_duplicated().any()
    assert demo.judgments["assessor"].n_unique() == 8


def test_grades_are_whole_numbers_that_use_their_scale(demo: DemoTables) -> None:
    fine, broad = demo.judgments["grade"], demo.broad["grade"]
    assert (fine == fine.round()).all()
    assert fine.is_between(0, 100).all()
    assert fine.n_unique() > 95
    assert (fine == 100).mean() < 0.01  # type: ignore[operator]
    assert set(broad) == {0, 1, 2}
    assert min(broad.value_counts()["count"]) > broad.len() / 8


def test_fine_and_broad_agree_without_determining_one_another(demo: DemoTables) -> None:
    key = [*PAIR, "assessor"]
    assert_frame_equal(demo.judgments.select(key), demo.broad.select(key))
    grades = pl.DataFrame({"fine": demo.judgments["grade"], "broad": demo.broad["grade"]})
    assert grades.select(pl.corr("fine", "broad", method="spearman")).item() > 0.7
    assert grades.group_by("fine").agg(pl.col("broad").n_unique())["broad"].max() == 3
    assert not any(_separable(own) for own in grades.with_columns(demo.judgments["assessor"]).partition_by("assessor"))


def _separable(grades: pl.DataFrame) -> bool:
    """Whether limits on Fine would reproduce Broad."""
    spans = grades.group_by("broad").agg(pl.col("fine").min().alias("low"), pl.col("fine").max().alias("high"))
    ordered = spans.sort("broad")
    return bool((ordered["low"][1:] > ordered["high"][:-1]).all())


def test_assessors_differ_but_agree_on_the_order(demo: DemoTables) -> None:
    pairs = demo.judgments.join(demo.judgments, on=PAIR, suffix="_other").filter(
        pl.col("assessor") < pl.col("assessor_other")
    )
    assert pairs.height > 1000
    assert 0.6 < pairs.select(pl.corr("grade", "grade_other", method="spearman")).item() < 0.97


def overlap(tables: DemoTables) -> dict[tuple[str, str], float]:
    """Share of retrieved query-document pairs that two systems have in common."""
    found = {
        system: set(own.select(PAIR).rows())
        for (system,), own in tables.runs.partition_by("system", as_dict=True).items()
    }
    return {(a, b): len(found[a] & found[b]) / len(found[a]) for a, b in combinations(sorted(found), 2)}


@pytest.mark.parametrize("seed", [2012, 1, 2])
def test_systems_overlap_more_within_a_team_than_across(seed: int) -> None:
    shares = overlap(demo_tables(seed))
    within = [share for (a, b), share in shares.items() if a[:-1] == b[:-1]]
    across = [share for (a, b), share in shares.items() if a[:-1] != b[:-1]]
    assert len(within) == 10
    assert min(within) > 2 * float(np.mean(across))
    assert min(within) > max(across)


def test_systems_of_a_team_fail_on_the_same_queries(demo: DemoTables) -> None:
    effectiveness = cg5(demo).filter(pl.col("system") != "ZX1")
    cells = effectiveness.drop("system").to_numpy()
    correlation = np.corrcoef(cells - cells.mean(axis=0))
    codes = np.array([name[:-1] for name in effectiveness["system"]])
    same = codes[:, None] == codes
    assert correlation[same & ~np.eye(len(codes), dtype=bool)].mean() > correlation[~same].mean() + 0.3


def test_a_deeper_pool_keeps_the_lists_and_the_grades_of_the_shallower_one(demo: DemoTables) -> None:
    shallow = demo_tables(depth=5)
    tops = demo.runs.group_by("system", "query", maintain_order=True).head(5).select(shallow.runs.columns)
    assert_frame_equal(tops, shallow.runs)
    key = [*PAIR, "assessor", "grade"]
    for few, many in ((shallow.judgments, demo.judgments), (shallow.broad, demo.broad)):
        assert few.join(many, on=key, how="anti").is_empty()


def test_what_is_near_in_the_latent_space_is_judged_similar(demo: DemoTables) -> None:
    ids, space = demo_space()
    assert ids == demo.metadata["document"].to_list()
    place = dict(zip(ids, space, strict=True))
    of_query = [
        np.corrcoef(
            [np.linalg.norm(place[query] - place[document]) for document in judged["document"]], judged["grade"]
        )[0, 1]
        for (query,), judged in demo.judgments.group_by("query")
    ]
    assert np.mean(of_query) < -0.7
    assert np.array_equal(demo_space(5)[1], demo_space(5)[1])
    assert not np.allclose(demo_space(5)[1], demo_space(6)[1])
