"""Leaderboards: rows that agree with other results, two claims about data sets, slices, what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import adjudge as aj
from adjudge.model.effectiveness import Effectiveness
from adjudge.reporting.document import Paragraph, TableBlock
from adjudge.users.report import gather, make_report, sections_in_order


def _eff(n_queries: int = 30, n_systems: int = 5, *, seed: int = 1, step: float = 0.05) -> Effectiveness:
    rng = np.random.default_rng(seed)
    hard = rng.normal(0.5, 0.15, (n_queries, 1))
    return Effectiveness.from_matrix(hard + rng.normal(0, 0.05, (n_queries, n_systems)) - step * np.arange(n_systems))


def _datasets(sizes: list[int], *, between: float = 0.0, seed: int = 2) -> Effectiveness:
    rng, d = np.random.default_rng(seed), np.repeat(np.arange(len(sizes)), sizes)
    made = _eff(len(d), 4, seed=seed, step=0.03)
    values = made.values + rng.normal(0, between, (len(sizes), 4))[d][:, :, None]
    return replace(made, values=values, datasets=tuple(f"d{i}" for i in d))


def test_means_and_intervals_are_those_of_the_summary_in_its_order() -> None:
    eff = _eff()
    board, summary = aj.leaderboard(eff, resamples=500), aj.summarize(eff)
    assert [row.system for row in board] == list(summary.systems)
    for row, other in zip(board, summary, strict=True):
        assert (row.mean, row.low, row.high) == pytest.approx((other.mean, other.low, other.high))
    assert [row.rank for row in board] == [1, 2, 3, 4, 5]
    assert sum(row.p_best or 0 for row in board) == pytest.approx(1)
    assert sum(row.p_top or 0 for row in board) == pytest.approx(3)


def test_systems_far_apart_have_one_rank_and_a_tier_each_and_alike_ones_share_all() -> None:
    apart = aj.leaderboard(_eff(step=0.5), resamples=500)
    assert [(row.rank_low, row.rank_high, row.tier) for row in apart] == [(i, i, i) for i in range(1, 6)]
    assert apart.sentence() == "With 95 % confidence s1 is the best. The queries tell 5 tiers apart."
    alike = aj.leaderboard(_eff(step=0.0), resamples=500)
    assert {(row.rank_low, row.rank_high, row.tier) for row in alike} == {(1, 5, 1)}
    assert "any of the 5 systems may be the best" in alike.sentence()


def test_the_plot_has_a_dot_for_each_rank_and_a_line_for_those_that_are_possible() -> None:
    pytest.importorskip("matplotlib")
    from matplotlib import pyplot

    board = aj.leaderboard(_eff(), resamples=500)
    axes = board.plot()
    lines, dots = axes.collections
    assert dots.get_offsets()[:, 0].tolist() == [row.rank for row in board]
    assert [segment[:, 0].tolist() for segment in lines.get_segments()] == [[r.rank_low, r.rank_high] for r in board]
    pyplot.close(axes.figure)


def test_scores_may_be_outside_0_and_1() -> None:
    eff = _eff()
    moved = replace(eff, values=100 * eff.values - 200)
    ranks = [
        [(row.system, row.rank_low, row.rank_high) for row in aj.leaderboard(e, resamples=500)] for e in (eff, moved)
    ]
    assert ranks[0] == ranks[1]


def test_a_data_set_counts_alike_however_many_queries_it_has() -> None:
    eff = _datasets([5, 40, 10], between=0.2)
    board = aj.leaderboard(eff, resamples=500)
    matrix, names = eff.matrix()[:, 0], np.array(eff.datasets)
    assert board.of("s1").mean == pytest.approx(np.mean([matrix[names == f"d{i}"].mean() for i in range(3)]))


def test_with_few_data_sets_queries_show_what_other_data_sets_might_not_bear_out() -> None:
    board = aj.leaderboard(_datasets([60, 50, 40, 80, 60, 50, 70], between=0.1), resamples=1000)
    assert board.elsewhere is not None
    assert board.study is not None
    assert "these data sets" in board.title
    assert "other data sets" in board.elsewhere.title
    widths = [sum(row.rank_high - row.rank_low for row in each) for each in (board, board.elsewhere)]
    assert widths[0] < widths[1]
    assert board.study.datasets_error > 2 * board.study.queries_error
    assert {row["about"] for row in board.records()} == {board.claim, board.elsewhere.claim}


def test_means_of_data_sets_are_about_other_data_sets_and_one_query_is_no_sample() -> None:
    eff = _eff(12)
    means = aj.leaderboard(replace(eff, datasets=eff.queries), resamples=500)
    assert means.about == "data sets"
    assert means.elsewhere is None
    mixed = aj.leaderboard(_datasets([1, 10, 10, 10, 10, 10, 10]), resamples=500)
    assert mixed.about == "data sets"
    assert "No claim about other queries: d0 has 1 query." in mixed.notes
    few = aj.leaderboard(_datasets([20, 20, 20]), resamples=500).elsewhere
    assert few is not None
    assert few.notes[0] == "3 data sets cannot show any difference with 95 % confidence, however large it is."


def test_every_slice_has_a_board_and_a_changed_system_is_found() -> None:
    eff = _eff(60)
    values, genre = eff.values.copy(), np.array(["rock", "folk", "jazz"] * 20)
    values[genre == "jazz", 4] += 0.4
    eff = replace(eff, values=values)
    table = pl.DataFrame({"query_id": eff.queries, "genre": genre, "length": np.arange(60.0) % 13, "id": eff.queries})
    genres, lengths = aj.leaderboard(eff, slices=table, resamples=500).slices
    assert genres.changes
    assert not lengths.changes
    assert genres.p_corrected == pytest.approx(2 * genres.p)
    best = {row.slice: row.system for row in genres.rows if row.rank == 1}
    assert best == {"folk": "s1", "rock": "s1", "jazz": "s5"}
    assert {(row.slice, row.system) for row in genres.rows if row.p_shift <= 0.05 and row.shift > 0} >= {("jazz", "s5")}
    assert [row.slice for row in lengths.rows[::5]] == ["up to 3", "above 3, up to 7", "above 7"]
    assert "length is cut at its terciles, 3 and 7." in lengths.notes
    assert "'id' has 0 slices of 3 queries or more" in lengths.notes[-1]
    (alone,) = aj.leaderboard(eff, slices=table, by="genre", resamples=500).slices
    assert alone.p_corrected == alone.p


def test_slices_with_fewer_than_three_queries_and_queries_without_a_value_are_left_out_and_named() -> None:
    eff = _eff(12)
    table: dict[str, list[Any]] = {
        "query": list(eff.queries),
        "genre": ["rock"] * 4 + ["folk"] * 5 + ["jazz"] * 2 + [None],
    }
    (made,) = aj.leaderboard(eff, slices=table, resamples=500).slices
    assert made.notes == ("Left out, with fewer than 3 queries: jazz (2).", "1 query left out, without a value.")
    with pytest.raises(aj.AdjudgeError, match=r"'genre' has 1 slice of 3 queries or more"):
        aj.leaderboard(eff, slices={**table, "genre": ["rock"] * 12}, resamples=500)
    with pytest.raises(aj.AdjudgeError, match="No attribute of queries is called 'gender'"):
        aj.leaderboard(eff, slices=table, by="gender", resamples=500)
    with pytest.raises(aj.InputError, match="expected a row for every query, got none for 'q12'"):
        aj.leaderboard(eff, slices={name: column[:-1] for name, column in table.items()}, resamples=500)
    with pytest.raises(aj.InputError, match="expected each query once, got 'q1' again"):
        aj.leaderboard(eff, slices={name: [*column, column[0]] for name, column in table.items()}, resamples=500)


def test_missing_cells_are_named_and_their_queries_left_out() -> None:
    eff = _eff(12)
    values = eff.values.copy()
    values[3, 1] = np.nan
    with pytest.warns(aj.AdjudgeWarning, match="'s2' lacks 'q4'"):
        board = aj.leaderboard(replace(eff, values=values), resamples=500)
    assert board.n_queries == 11


def test_what_cannot_be_ranked_is_refused() -> None:
    eff = _eff(12)
    for data, message in (
        (eff.select(systems=["s1"]), "a leaderboard needs at least 2 systems, got 1"),
        (eff.select(queries=["q1"]), "a leaderboard needs at least 2 queries, got 1"),
    ):
        with pytest.raises(aj.AdjudgeError, match=message):
            aj.leaderboard(data)
    with pytest.raises(aj.AdjudgeError, match="'top' must be at most the number of systems, 5, got 6"):
        aj.leaderboard(eff, top=6)
    with pytest.raises(aj.AdjudgeError, match="'top' must be a whole number of at least 1, got 0"):
        aj.leaderboard(eff, top=0)
    both = aj.evaluate(aj.demo(queries=5), ["CG@5", "nDCG@5"])
    with pytest.raises(aj.AdjudgeError, match="one measure at a time, got CG@5, nDCG@5"):
        aj.leaderboard(both)
    shared = pl.DataFrame(
        {
            "dataset": ["x", "x", "y", "y"],
            "query": ["1", "2"] * 2,
            "system": ["a", "a", "b", "b"],
            "value": [0.1, 0.2] * 2,
        }
    )
    with pytest.raises(aj.AdjudgeError, match="expected data sets that share systems"):
        aj.leaderboard(shared)


def test_a_report_has_the_board_and_a_comparison_its_ranks() -> None:
    eff = _eff()
    evidence = gather(eff, test="t")
    (section,) = make_report(evidence, sections=["leaderboard"]).sections
    assert section.title == "Leaderboard by effectiveness"
    assert "leaderboard" in sections_in_order()
    compared = evidence.main.ranks()
    board = aj.leaderboard(eff, resamples=2000)
    assert [row.system for row in compared] == [row.system for row in board]
    assert [(row.rank_low, row.rank_high) for row in compared] == [(row.rank_low, row.rank_high) for row in board]


def test_a_comparison_has_ranks_only_where_all_pairs_are_right_at_once() -> None:
    eff = _eff()
    partial = aj.compare(eff, test="t", baseline="s1")
    for compared in (partial, *(aj.compare(eff, test="t", correction=name) for name in ("bh", "none"))):
        with pytest.raises(aj.AdjudgeError, match="possible ranks need all pairs, two-sided, with a correction"):
            compared.ranks()


def test_many_systems_with_few_queries_and_skewed_differences_get_a_note() -> None:
    rng = np.random.default_rng(1)
    failed = 0.5 * (rng.random((40, 20)) < 0.04) + 0.02 * rng.random((40, 20))
    notes = {k: aj.leaderboard(Effectiveness.from_matrix(0.6 - failed[:, :k]), resamples=200).notes for k in (19, 20)}
    assert "of the pairs have very skewed differences (beyond ±1), for 40 queries" in notes[20][0]
    assert notes[19] == ()
    assert aj.leaderboard(_eff(40, 20), resamples=200).notes == ()


def test_who_is_the_best_on_other_data_sets_is_not_said_from_too_few_and_by_the_model_from_few() -> None:
    few = aj.leaderboard(_datasets([40, 40, 40]), resamples=500)
    assert few.elsewhere is not None
    assert {(row.p_best, row.p_top) for row in few.elsewhere} == {(None, None)}
    assert [row[-2:] for row in few.elsewhere.table().rows] == [("–", "–")] * 4
    assert "P(best)" not in " ".join(few.elsewhere.table().notes)
    assert sum(row.p_best or 0 for row in few) == pytest.approx(1)
    more = aj.leaderboard(_datasets([40] * 8), resamples=500)
    assert more.elsewhere is not None
    assert (more.chance, more.elsewhere.chance) == ("bootstrap", "model")
    assert "by a model that learns how far systems are apart" in " ".join(more.elsewhere.table().notes)
    asked = aj.leaderboard(_datasets([40] * 8), chance="bootstrap", resamples=500)
    assert asked.elsewhere is not None
    assert (asked.chance, asked.elsewhere.chance) == ("bootstrap", "bootstrap")


def test_claims_about_other_data_sets_come_true_as_often_as_they_say() -> None:
    rng, claimed, true = np.random.default_rng(3), [], []
    for _ in range(150):
        means = rng.normal(0, 0.02, 12)
        eff = Effectiveness.from_matrix(0.5 + means + rng.normal(0, 0.04, (6, 12)))
        board = aj.leaderboard(replace(eff, datasets=eff.queries), resamples=500)
        likely = max(board, key=lambda row: row.p_best or 0)
        claimed.append(likely.p_best or 0)
        true.append(likely.system == eff.systems[means.argmax()])
    assert np.mean(claimed) == pytest.approx(np.mean(true), abs=0.08)  # the bootstrap claims .19 more


def test_how_well_a_difference_is_known_has_the_level_of_the_board_and_half_where_data_sets_are_few() -> None:
    few, many = (aj.leaderboard(_datasets([20] * n, between=0.1), confidence=0.9, resamples=500) for n in (3, 8))
    said = [next(note for note in board.table().notes if "variance components" in note) for board in (few, many)]
    assert said[0].endswith("about other queries of these data sets (90 %).")
    assert many.study is not None
    near, far = many.study.margins(0.9)
    assert f"± {near:.3f} about other queries of these data sets, and to ± {far:.3f} about other data sets" in said[1]


def test_a_board_says_no_more_than_it_knows() -> None:
    alike = aj.leaderboard(_eff(n_systems=3, step=0.0, seed=3), resamples=500)
    assert alike.sentence().endswith("any of the 3 systems may be the best. The queries tell no systems apart.")
    assert [heading.name for heading in alike.table().headings][-1] == "P(best)", "all three are among the top three"
    assert "P(top)" not in " ".join(alike.table().notes)
    assert "p_top" in alike.to_dicts()[0]
    apart = aj.leaderboard(_eff(step=0.5), resamples=500)
    assert [row[-2] for row in apart.table().rows] == ["> 99.9 %", *["< 0.1 %"] * 4]
    named = replace(_eff(), datasets=("dl19",) * 30)
    assert aj.leaderboard(named, resamples=500).title.endswith("5 systems, 30 queries; about other queries like these")


def test_ranks_are_counted_from_1_on_the_axis() -> None:
    pytest.importorskip("matplotlib")
    from adjudge.reporting.canvas import draw

    for n_systems in (3, 70):
        board = aj.leaderboard(_eff(n_systems=n_systems, step=0.0), resamples=200)
        ticks = draw(board.figure("ranks")).axes[0].get_xticks().tolist()
        assert ticks[0] == 1
        assert ticks == sorted(set(ticks))
        assert max(ticks) <= n_systems


def test_a_report_has_boards_of_slices_and_refuses_them_without_its_leaderboard() -> None:
    eff = _eff(12)
    slices = {"query": list(eff.queries), "genre": ["rock", "folk"] * 6}
    page = aj.report(eff, test="t", sections=["leaderboard"], slices=slices, by="genre")
    assert [section.title for section in page.sections] == ["Leaderboard by effectiveness", "By genre"]
    with pytest.raises(aj.AdjudgeError, match="slices are part of the section leaderboard, which is not among queries"):
        aj.report(eff, test="t", sections=["queries"], slices=slices)
    values = eff.values.copy()
    values[0, 0] = np.nan
    with pytest.raises(aj.AdjudgeError, match="Nothing to report"):
        aj.report(replace(eff, values=values), test="t", sections=["leaderboard"])
    page = aj.report(replace(eff, values=values), test="t", sections=["leaderboard"], slices=slices)
    assert "11 queries" in str(page.sections[0].blocks), "complete cases, as slices are asked for"


def test_a_report_says_where_its_means_count_queries_and_where_data_sets() -> None:
    said = {}
    for sizes in ([5, 40, 10], [10, 10, 10]):
        page = aj.report(_datasets(sizes), test="t", sections=["overview", "leaderboard"])
        said[sizes[0]] = [b.caption for s in page.sections for b in s.blocks if isinstance(b, TableBlock)]
    assert "Every query counts alike; in the leaderboard, every data set does." in said[5][0]
    assert "Every data set counts alike; in other sections, every query does." in said[5][1]
    assert "alike" not in " ".join(said[10])


def test_a_report_on_means_of_data_sets_counts_data_sets() -> None:
    eff = _eff(8)
    page = aj.report(replace(eff, datasets=eff.queries), test="t", sections=["overview"])
    assert page.subtitle.startswith("5 systems, 8 data sets, effectiveness.")
    text, table = page.sections[0].blocks
    assert isinstance(text, Paragraph)
    assert "what this report says of queries is about data sets" in text.text
    assert isinstance(table, TableBlock)
    assert table.columns[-1].name == "Data sets"
