"""Rank-biased overlap and AP correlation: published values, and means over all orders that ties leave open."""

from __future__ import annotations

import re
from itertools import permutations, product
from statistics import mean
from string import ascii_lowercase

import numpy as np
import pytest

from adjudge.errors import AdjudgeError
from adjudge.stats import rbo, tau_ap
from adjudge.stats.correlation import Ranking

COLOURS = ["red", {"blue", "green"}, "yellow", "pink"]
OTHERS = [{"blue", "red"}, "white", {"yellow", "black", "purple"}, "green"]
TRUE = (0.06, 0.2, 0.27, 0.37, 0.57, 0.63, 0.66, 0.9, 0.91, 0.94)
ESTIMATED = (0.37, 0.06, 0.2, 0.27, 0.57, 0.66, 0.63, 0.91, 0.9, 0.94)


def scored(scores: tuple[float, ...], *, tied: bool = False) -> dict[str, float]:
    return {str(i): round(score * 5) / 5 if tied else score for i, score in enumerate(scores)}


@pytest.mark.parametrize(("ties", "expected"), [("a", 0.6922853), ("w", 0.7068257), ("b", 0.7207131)])
def test_rbo_has_the_values_of_its_authors_with_ties(ties: str, expected: float) -> None:
    """Corsi and Urbano's software for SIGIR 2024 prints them in its documentation, for p = .95."""
    assert rbo(COLOURS, OTHERS, p=0.95, ties=ties) == pytest.approx(expected, abs=5e-8)  # type: ignore[arg-type]
    assert rbo(OTHERS, COLOURS, p=0.95, ties=ties) == pytest.approx(expected, abs=5e-8)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("other", "p", "expected"),
    [
        ("karfvodcjmwgzlypebunq", 0.9, 0.468431),
        ("zhatsimjpnkvcfxwqgoeryubd", 0.9, 0.364444),
        ("zclx", 0.9, 0.233312),
        ("f", 0.9, 0.053090),
        ("bcxhkur", 0.4, 0.212763),
        ("yad", 0.4, 0.187572),
    ],
)
def test_rbo_of_rankings_of_different_lengths_has_the_values_of_its_author(
    other: str, p: float, expected: float
) -> None:
    """Webber's own program printed them; they are test data of the Rust crate rbo."""
    assert rbo(list(ascii_lowercase), list(other), p=p) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("first", "second", "p", "expected"),
    [
        (
            "(5 9 13 15 16 19 20) (3 8)",
            "6 (4 18) 2 7 8 17 14 (11 12) 1",
            0.958074765324023,
            {"w": 0.0816485573277354, "a": 0.0808189832771587, "b": 0.0813693619867344},
        ),
        (
            "(4 7 15) (2 11) 8 18",
            "4 8 17 11 (2 3 5 7 9 13 14)",
            0.955836875418683,
            {"w": 0.601671359995661, "a": 0.584235464666522, "b": 0.632087129618464},
        ),
        (
            "6 5 (2 4 7)",
            "4 18 2 (1 5 6 7 9 14 15 17) 13 11",
            0.984365085297715,
            {"w": 0.734068963712944, "a": 0.680057896807246, "b": 0.747819806375568},
        ),
    ],
)
def test_rbo_of_ties_across_the_end_of_the_shorter_ranking_has_the_values_of_its_authors(
    first: str, second: str, p: float, expected: dict[str, float]
) -> None:
    """Test data of Corsi and Urbano's software (``rbo/test.csv`` of sigir2024-rbo), rows 1, 5 and 53."""
    rankings = [
        [(tied or item).split() for tied, item in re.findall(r"\(([^)]+)\)|([^() ]+)", t)] for t in (first, second)
    ]
    for ties, value in expected.items():
        assert rbo(*rankings, p=p, ties=ties) == pytest.approx(value, abs=1e-12)  # type: ignore[arg-type]


def test_rankings_that_share_ten_items_only_have_the_weight_that_webber_et_al_give_the_first_ten_ranks() -> None:
    """86 % with p = .9, as they say."""
    shared = [str(i) for i in range(10)]
    first, second = ([*shared, *(f"{name}{i}" for i in range(300))] for name in "ab")
    assert rbo(first, second, p=0.9) == pytest.approx(0.86, abs=5e-3)


def test_tau_ap_has_the_values_of_its_authors() -> None:
    """Urbano and Marrero's R package ircor prints them in its documentation."""
    assert tau_ap(scored(TRUE), scored(ESTIMATED)) == pytest.approx(0.7491182, abs=5e-8)
    assert tau_ap(scored(TRUE), scored(ESTIMATED, tied=True)) == pytest.approx(0.6074515, abs=5e-8)
    both = scored(TRUE, tied=True), scored(ESTIMATED, tied=True)
    assert tau_ap(*both, ties="b") == pytest.approx(0.6269841, abs=5e-8)
    assert tau_ap(*both[::-1], ties="b") == tau_ap(*both, ties="b")


def by_definition(first: list[str], second: list[str], p: float, depth: int = 2000) -> float:
    """Webber et al.'s sum over depths, equation 4; what is past the end of equal lists agrees as their end does."""
    agreement = [len({*first[:d]} & {*second[:d]}) / min(d, len(first)) for d in range(1, depth)]
    return (1 - p) * sum(p**i * a for i, a in enumerate(agreement))


def orders(ranking: list[set[str]]) -> list[list[str]]:
    return [[item for group in order for item in group] for order in product(*map(permutations, ranking))]


def test_rbo_of_untied_rankings_is_the_sum_of_its_definition() -> None:
    rng = np.random.default_rng(1)
    for n in (1, 2, 5, 30):
        first, second = (rng.permutation(2 * n)[:n].astype(str).tolist() for _ in "ab")
        for p in (0.5, 0.9):
            for ties in ("a", "b", "w"):
                assert rbo(first, second, p=p, ties=ties) == pytest.approx(by_definition(first, second, p), abs=1e-12)


def test_ties_that_leave_the_order_open_get_the_mean_over_orders() -> None:
    first: list[set[str]] = [{"a"}, {"b", "c", "d"}, {"e"}]
    second: list[set[str]] = [{"c", "a"}, {"x"}, {"b", "y"}]
    pairs = list(product(orders(first), orders(second)))
    assert rbo(first, second, p=0.8) == pytest.approx(mean(by_definition(*pair, p=0.8) for pair in pairs))
    estimate: list[set[str]] = [{"b", "a"}, {"c"}, {"d", "e"}]
    truth = ["a", "c", "b", "e", "d"]
    assert tau_ap(truth, estimate) == pytest.approx(mean(tau_ap(truth, order) for order in orders(estimate)))


@pytest.mark.parametrize("ties", ["b", "w"])
def test_a_ranking_with_ties_overlaps_fully_with_itself_where_ties_are_corrected_for(ties: str) -> None:
    assert rbo(COLOURS, COLOURS, ties=ties) == pytest.approx(1)  # type: ignore[arg-type]
    assert rbo(COLOURS, COLOURS, ties="a") < 1


def test_the_extremes() -> None:
    letters = list("abcdef")
    assert rbo(letters, letters) == pytest.approx(1)
    assert rbo(letters, list("uvwxyz")) == 0
    assert rbo(letters[:2], letters) == pytest.approx(1)  # as far as the shorter one goes
    for ties in ("a", "b"):
        assert tau_ap(letters, letters, ties=ties) == pytest.approx(1)
        assert tau_ap(letters, letters[::-1], ties=ties) == pytest.approx(-1)
    assert np.isnan(tau_ap(letters, [set(letters)], ties="b"))
    assert tau_ap(letters, [set(letters)]) == pytest.approx(0)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (["a", "b"], ["a", "c"], "tau_ap: expected the same items in both rankings, got 'b' only in the truth"),
        (["a", "b", "a"], ["a", "b"], "expected each item once in the true ranking, got 'a' again"),
        ([], ["a"], "expected items in the true ranking, got none"),
        (["a"], ["a"], "tau_ap: expected two items or more, got 1"),
        ({"a": float("nan"), "b": 1.0}, ["a", "b"], "expected finite scores in the true ranking"),
        ([{"a", "b"}], ["a", "b"], "tau_ap: expected a true ranking without ties for ties='a', got some; "),
    ],
)
def test_what_cannot_be_compared_is_refused_in_words(first: Ranking, second: Ranking, message: str) -> None:
    with pytest.raises(AdjudgeError) as raised:
        tau_ap(first, second)
    assert str(raised.value).startswith(message)
