"""Bins: shares, and intervals that are wider where answers are alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr
from tests.unit.preferences.people_study import study_of

import adjudge as aj
from adjudge.preferences.curves import agreement_bins, endpoints, satisfaction_bins, share_bins
from adjudge.preferences.questions import Question, Questions
from adjudge.preferences.simulated import example_study
from adjudge.preferences.study import Study
from adjudge.stats.intervals import wilson_interval


@pytest.fixture(scope="module")
def study() -> Study:
    return example_study()


def swapped(study: Study) -> Study:
    """The same study with list a called b."""
    turned = tuple(replace(one, a=one.b, b=one.a) for one in study.questions.questions)
    grades = {scale: values[:, ::-1] for scale, values in study.questions.grades.items()}
    choice = np.array([1, 0, 2, 3])[study.choice]
    return replace(study, questions=Questions(turned, grades), choice=choice)


def test_clusters_of_one_answer_give_about_wilsons_interval() -> None:
    hit = np.repeat([1.0, 0.0], [120, 280])
    found = share_bins(np.full(400, 0.5), hit, {"query": np.arange(400)}, bins=1)
    _, low, high = wilson_interval(120, 400)
    assert found.low[0] == pytest.approx(low, abs=0.002)
    assert found.high[0] == pytest.approx(high, abs=0.002)


def test_the_same_answers_given_again_by_the_same_people_teach_nothing() -> None:
    rng = np.random.default_rng(2)
    hit, group = (rng.random(60) < 0.4).astype(float), np.arange(60)
    x = np.full(60, 0.5)
    once = share_bins(x, hit, {"query": group}, bins=1)
    copied = share_bins(np.tile(x, 5), np.tile(hit, 5), {"query": np.tile(group, 5)}, bins=1)
    assert copied.low == pytest.approx(once.low)
    assert copied.high == pytest.approx(once.high)


def test_two_lists_of_one_answer_count_as_one_answer() -> None:
    hit = np.repeat((np.arange(40) % 4 == 0).astype(float), 2)
    answer = np.repeat(np.arange(40), 2)
    pairs = share_bins(np.full(80, 0.5), hit, {"query": answer}, answer=answer, bins=1)
    alone = share_bins(np.full(40, 0.5), hit[::2], {"query": np.arange(40)}, bins=1)
    assert (pairs.low[0], pairs.high[0]) == pytest.approx((alone.low[0], alone.high[0]))


def test_lists_count_no_more_than_their_answers_where_clusters_hardly_differ() -> None:
    hit, group = np.tile([1.0, 1, 0, 0, 1, 1, 0, 0], 10), np.repeat(np.arange(10), 8)
    hit[:2] = 0.0
    by_answer, by_list = (
        share_bins(np.full(80, 0.5), hit, {"query": group}, answer=answer, bins=1)
        for answer in (np.repeat(np.arange(40), 2), None)
    )
    assert by_answer.high[0] - by_answer.low[0] > 1.3 * (by_list.high[0] - by_list.low[0])  # half as many answers


def test_one_cluster_leaves_everything_open_and_an_empty_bin_says_nothing() -> None:
    found = share_bins(np.full(9, 0.1), np.ones(9), {"query": np.zeros(9, dtype=np.int64)}, bins=2)
    assert (found.low[0], found.high[0], found.share[0]) == (0.0, 1.0, 1.0)
    assert np.isnan([found.low[1], found.high[1], found.share[1]]).all()
    assert found.to_dicts()[1]["count"] == 0


def test_intervals_hold_the_true_share_about_as_often_as_they_say() -> None:
    rng = np.random.default_rng(5)
    inside = 0
    person, query = np.divmod(np.arange(600), 20)
    for _ in range(200):
        z = 0.4 * rng.standard_normal(30)[person] + 0.4 * rng.standard_normal(20)[query]
        hit = ndtr(z + np.sqrt(1 - 0.32) * rng.standard_normal(600)) < 0.3
        found = share_bins(np.full(600, 0.5), hit.astype(float), {"query": query, "participant": person}, bins=1)
        inside += int(found.low[0] <= 0.3 <= found.high[0])
    assert 180 <= inside <= 200


def test_shares_of_agreement_add_up_and_ties_are_neither(study: Study) -> None:
    found = agreement_bins(study, "CG@2", "fine")
    used = found.agree.used
    assert (found.agree.share + found.cannot_tell.share + found.disagree.share)[used] == pytest.approx(1)
    same = Questions((Question("1", "q", ("x",), ("y",)),), {"fine": np.full((1, 2, 1), 50.0)})
    bins = agreement_bins(study_of(same, np.zeros(3, dtype=np.int64), np.array([0, 1, 2])), "CG@1", "fine")
    assert bins.tied == 2
    assert (bins.agree.share[0], bins.disagree.share[0], bins.cannot_tell.share[0]) == (0.0, 0.0, 1.0)


def test_which_list_is_called_a_and_the_order_of_answers_do_not_matter(study: Study) -> None:
    plain, turned = (agreement_bins(one, "CG@2", "fine") for one in (study, swapped(study)))
    mixed = study.select(np.random.default_rng(3).permutation(len(study)))
    shuffled = agreement_bins(mixed, "CG@2", "fine")
    for other in (turned, shuffled):
        assert other.agree.share == pytest.approx(plain.agree.share, nan_ok=True)
        assert other.agree.low == pytest.approx(plain.agree.low, nan_ok=True)
    one, two = (satisfaction_bins(s, "CG@2", "fine").satisfied for s in (study, mixed))
    assert one.high == pytest.approx(two.high, nan_ok=True)
    assert plain.agree.interval(9) == "[0.9, 1]"


def test_traps_and_answers_set_aside_do_not_count(study: Study) -> None:
    aside = replace(study, set_aside=study.participant == 0)
    n = int(agreement_bins(aside, "CG@2", "fine").agree.count.sum())
    assert n == np.count_nonzero(study.participant != 0)
    traps = tuple(replace(one, expected=frozenset({"a"})) for one in study.questions.questions)
    with pytest.raises(aj.AdjudgeError, match=r"answers about lists that are judged.*got none"):
        agreement_bins(replace(study, questions=replace(study.questions, questions=traps)), "CG@2", "fine")


def test_ideal_users_are_at_no_distance() -> None:
    grades = np.array([[[10.0 * i], [0.0]] for i in range(11)])
    asked = Questions(tuple(Question(str(i), f"q{i}", ("x",), ("y",)) for i in range(11)), {"fine": grades})
    found = endpoints(study_of(asked, np.arange(1, 11), np.zeros(10, dtype=np.int64)), "CG@1", "fine", resamples=50)
    assert (found.positive.value, found.negative.value) == (0.0, 0.0)
    assert np.isnan(found.bias.value)  # nobody said good or bad
    assert found.bins == (9, 10)
