"""The organiser's picture of a ranking campaign: what is counted, the lists as they stand, and who agrees with whom."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau
from tests.web.conftest import ON_BOTH
from tests.web.organiser.visiting import Visitor
from tests.web.ranking_rows import Ranking

from adjudge.groundtruth import RankedQuery, build
from adjudge.web.kinds.lifecycle import exclude_participant
from adjudge.web.kinds.ranking.dashboard import agreements, constructions, tau_b, taus_of
from adjudge.web.kinds.ranking.export import rankings_of
from adjudge.web.live import Estimating
from adjudge.web.store.participants import find_participant
from adjudge.web.store.snapshots import read_snapshot


def picture_of(ranking: Ranking) -> dict[str, Any]:
    Estimating(ranking.settings, ranking.database).refresh(ranking.campaign.id)
    with ranking.database.read() as connection:
        found = read_snapshot(connection, ranking.campaign.id)
    assert found is not None
    return found


def rank(ranking: Ranking, n: int, *, seed: int = 0, random: tuple[int, ...] = ()) -> None:
    """So many experts rank everything about as it came; those who are ``random`` at random."""
    rng = np.random.default_rng(seed)
    for number in range(n):
        who = ranking.come()
        while (lease := ranking.hold(who)) is not None:
            names = ranking.documents(lease)
            at = (
                rng.permutation(len(names))
                if number in random
                else np.arange(len(names)) + rng.normal(0, 0.7, len(names))
            )
            ranking.send(who, lease, [[names[place]] for place in np.argsort(at)])


@ON_BOTH
def test_the_picture_counts_rankings_and_what_is_in_work(ranking: Ranking) -> None:
    ranking.begin(queries=2, documents=4, judged_by=2)
    ann, bob = ranking.come(), ranking.come()
    ranking.work(ann, most=1)
    lease = ranking.held(ann)
    ranking.save(ann, lease, 0, [["q1-a" if ranking.query(lease) == "q1" else "q2-a"]])
    ranking.skip(bob, ranking.held(bob), "other")
    picture = picture_of(ranking)
    status = picture["status"]
    assert (picture["kind"], status["queries"], status["wanted"], status["rankings"]) == ("ranking", 2, 4, 1)
    assert (status["in_work"], status["documents"], status["done"]) == (1, 8, False)
    assert status["complete"] == pytest.approx(1 / 4)
    people = {one["code"]: one for one in picture["experts"]}
    assert (people["A1"]["rankings"], people["A1"]["ranked_share"]) == (1, pytest.approx(3 / 4))
    assert people["A1"]["begun"] == {"query": ranking.query(lease), "placed": 1, "of": 4, "saved_at": ranking.now - 2}
    assert people["A2"]["skips"] == 1
    answered = next(one for one in picture["queries"] if one["answered"])
    assert (answered["experts"], len(answered["nobody"])) == (1, 1)
    assert any("Fewer than 2 experts" in one for one in picture["warnings"])
    assert any("Nobody gave a place to 1 document" in one for one in picture["warnings"])


@ON_BOTH
def test_a_campaign_is_done_when_every_query_has_its_rankings(ranking: Ranking) -> None:
    ranking.begin(queries=2, judged_by=2)
    ann, bob = ranking.come(), ranking.come()
    ranking.work(ann)
    ranking.work(bob)
    picture = picture_of(ranking)
    assert (picture["status"]["done"], picture["status"]["complete"]) == (True, 1.0)
    assert ranking.campaign.reached_at is not None
    with ranking.database.write() as connection:
        exclude_participant(connection, bob, who="chief", now=ranking.now)
    again = picture_of(ranking)
    assert (again["status"]["done"], again["status"]["set_aside"], again["status"]["rankings"]) == (False, 2, 2)
    assert {one["code"]: one["state"] for one in again["experts"]}[bob.code] == "aside"
    assert ranking.campaign.reached_at is None


def test_lists_are_those_of_the_library(chief: Visitor, ranking: Ranking) -> None:
    ranking.begin(queries=2, documents=6, judged_by=8)
    rank(ranking, 8)
    with ranking.database.read() as connection:
        rankings = rankings_of(connection, ranking.campaign)
    address = "/api/campaigns/incipits/lists"
    for construction in ("Any-1", "All-2", "Best-1"):
        truth = build(rankings, construction)
        numbers = chief.client.get(f"{address}?construction={construction}").json()["lists"]
        for one in numbers:
            made = truth[one["query"]]
            assert (one["adr_1"], one["adr_2"]) == (made.consistency(1), made.consistency(2))
            assert one["sizes"] == [len(group) for group in made.list.groups]
            assert one["counts"]["inter"] == len(made.inconsistencies(1).inter)
            drawn = chief.client.get(f"{address}?construction={construction}&query={one['query']}").json()
            assert [row["document"] for row in drawn["documents"]] == list(made.list.documents)
            assert [row["group"] for row in drawn["documents"]] == [1 + n for n in made.list.group_numbers]
    picture = picture_of(ranking)
    assert picture["consistency"]["adr_1"] == pytest.approx(build(rankings).consistency(1))
    assert picture["constructions"][0]["name"] == "Any-1"
    assert "Mann-Whitney" in picture["constructions"][0]["by_about"]
    assert picture["constructions"][0]["by"] == picture["measured_by"]
    assert {"All-1", "All-2", "Any-2", "Prev-1", "Prev-2"} <= {one["name"] for one in constructions()}


def test_lists_that_cannot_be_made_are_refused_in_words(chief: Visitor, ranking: Ranking) -> None:
    ranking.begin()
    address = "/api/campaigns/incipits/lists"
    assert chief.client.get(address).json()["lists"] == []
    for query, status, said in (
        ("construction=Some-1", 422, "No aggregation function is called 'Some'"),
        ("construction=Any-1:bradley-terry", 422, "compares preferences"),
        ("alpha=2", 422, "less than 1"),
        ("query=q9", 404, "Nobody has ranked documents for 'q9'"),
    ):
        response = chief.client.get(f"{address}?{query}")
        assert (response.status_code, said in response.text) == (status, True), response.text


def test_one_who_ranks_at_random_stands_out(ranking: Ranking) -> None:
    ranking.begin(queries=4, documents=8, judged_by=7)
    rank(ranking, 7, random=(3,))
    picture = picture_of(ranking)
    strange = {one["code"] for one in picture["experts"] if one["like_chance"]}
    assert strange == {"A4"}
    assert any("1 expert (A4)" in one for one in picture["warnings"])
    others = [one["tau"] for one in picture["experts"] if one["code"] != "A4"]
    assert min(others) > max(one["tau"] for one in picture["experts"] if one["code"] == "A4")
    with ranking.database.write() as connection:
        found = find_participant(connection, ranking.campaign, "A4")
        exclude_participant(connection, found, who="chief", now=ranking.now)
    again = picture_of(ranking)
    assert not any("A4" in one for one in again["warnings"])
    assert (
        next(one for one in again["experts"] if one["code"] == "A4")["tau"] < 0.5
    )  # still seen beside those who count


def test_tau_is_that_of_scipy_with_ties_and_what_was_left_out() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        x, y = rng.integers(1, 6, 9).astype(float), rng.integers(1, 6, 9).astype(float)
        assert tau_b(x, y) == pytest.approx(kendalltau(x, y).statistic)
    ranks = rng.permuted(np.tile(np.arange(1.0, 8.0), (4, 1)), axis=1)
    ranks[0, ranks[0] > 5] = np.nan  # places 6 and 7 are shared by what comes last
    asked = RankedQuery("q", tuple("abcdefg"), tuple("uvwx"), ranks)
    filled = np.where(np.isnan(ranks), 6.5, ranks)
    for place, expert in enumerate("uvwx"):
        others = np.median(np.delete(filled, place, axis=0), axis=0)
        assert taus_of(asked)[expert] == pytest.approx(kendalltau(filled[place], others).statistic)


def test_nobody_is_at_odds_where_there_are_two_or_nobody_agrees() -> None:
    two = RankedQuery("q", ("a", "b", "c"), ("u", "v"), np.array([[1.0, 2, 3], [3.0, 2, 1]]))
    assert agreements([two]) == {}
    rng = np.random.default_rng(5)
    noise = RankedQuery(
        "q", tuple("abcdefgh"), tuple("uvwxyz"), rng.permuted(np.tile(np.arange(1.0, 9), (6, 1)), axis=1)
    )
    assert not any(one.like_chance for one in agreements([noise]).values())


def test_chance_reaches_its_bound_in_one_of_twenty() -> None:
    rng = np.random.default_rng(2)
    everybody = []
    for _ in range(400):
        ranks = np.vstack([np.tile(np.arange(1.0, 9.0), (4, 1)), rng.permutation(8) + 1.0])
        found = agreements([RankedQuery("q", tuple("abcdefgh"), tuple("uvwxy"), ranks)])["y"]
        everybody.append(found.tau > found.chance)
    assert np.mean(everybody) == pytest.approx(0.05, abs=0.03)
