"""What every registered comparison and aggregation function must obey."""

from __future__ import annotations

import numpy as np
import pytest

from adjudge.groundtruth import (
    COMPARISONS,
    FUNCTIONS,
    Preferences,
    RankedQuery,
    Rankings,
    parse_construction,
    simulate_rankings,
)
from adjudge.groundtruth.evidence import Evidence, QueryAnswers, Tails, Takes, default_comparison

every_comparison = pytest.mark.parametrize("name", COMPARISONS)
every_function = pytest.mark.parametrize("name", FUNCTIONS)
both_tails = pytest.mark.parametrize("tails", [1, 2])


def noisy(takes: Takes, *, seed: int = 0, documents: int = 9) -> QueryAnswers:
    """Answers of ten people with ties and gaps; as preferences, each document is asked against the next three."""
    made = simulate_rankings(queries=1, documents=documents, experts=10, groups=5, ties=0.4, seed=seed)
    ranked = made.rankings.queries[0]
    if takes == "rankings":
        return ranked
    rows = [
        ("q1", ranked.documents[i], ranked.documents[j], int(np.sign(row[j] - row[i])), who)
        for who, row in zip(ranked.experts, np.nan_to_num(ranked.ranks, nan=99.0), strict=True)
        for i in range(documents)
        for j in range(i + 1, min(i + 4, documents))
    ]
    return Preferences.from_rows(rows).queries[0]


def agreed(takes: Takes) -> QueryAnswers:
    """Twelve people of one mind: a, b, c, d, e."""
    people, names = [f"e{i}" for i in range(12)], "abcde"
    if takes == "rankings":
        return Rankings.from_orders([("q", who, [[name] for name in names], []) for who in people]).queries[0]
    pairs = [(x, y) for i, x in enumerate(names) for y in names[i + 1 :]]
    return Preferences.from_rows([("q", y, x, -1, who) for x, y in pairs for who in people]).queries[0]


def evidence(name: str, asked: QueryAnswers | None = None, seed: int = 0) -> Evidence:
    chosen = COMPARISONS[name]
    return chosen.compare(noisy(chosen.takes) if asked is None else asked, seed=seed)


@every_comparison
def test_p_values_are_probabilities_and_both_directions_are_never_sure(name: str) -> None:
    found = evidence(name)
    assert ((found.sooner >= 0) & (found.sooner <= 1)).all()
    assert not (found.precedes(0.25) & found.precedes(0.25).T).any()
    assert ((found.sooner + found.sooner.T)[found.compared] >= 1 - 1e-9).all()


@every_comparison
def test_a_document_is_not_compared_with_itself_and_comparing_has_no_direction(name: str) -> None:
    found = evidence(name)
    assert not np.diag(found.compared).any()
    assert (found.compared == found.compared.T).all()
    assert found.compared.any(axis=1).all()


@every_comparison
def test_the_order_in_which_documents_come_does_not_matter(name: str) -> None:
    chosen = COMPARISONS[name]
    asked = noisy(chosen.takes)
    if isinstance(asked, RankedQuery):
        turned: QueryAnswers = asked.of_documents(list(range(len(asked.documents)))[::-1])
    else:
        turned = asked.of_answers(np.arange(len(asked.answer))[::-1])
    one, other = evidence(name, asked), evidence(name, turned)
    assert one.documents == other.documents
    assert one.sooner == pytest.approx(other.sooner, abs=1e-7)


@every_comparison
def test_experts_of_one_mind_are_believed(name: str) -> None:
    found = evidence(name, agreed(COMPARISONS[name].takes))
    assert found.documents == tuple("abcde")
    assert (found.precedes(0.25) == np.triu(np.ones((5, 5), dtype=np.bool_), 1)).all()


@every_comparison
def test_what_is_drawn_holds_the_middle_of_each_document(name: str) -> None:
    found = evidence(name)
    assert (found.lower <= found.middle).all()
    assert (found.middle <= found.upper).all()
    assert (found.answers > 0).all()
    assert len(found.mean) == len(found)


@every_comparison
def test_the_same_seed_gives_the_same_and_only_random_ones_heed_it(name: str) -> None:
    assert (evidence(name, seed=3).sooner == evidence(name, seed=3).sooner).all()
    assert (evidence(name, seed=3).sooner == evidence(name, seed=4).sooner).all() != COMPARISONS[name].is_random


@pytest.mark.parametrize("takes", ["rankings", "preferences"])
def test_the_default_comparison_takes_what_it_is_the_default_for(takes: Takes) -> None:
    assert COMPARISONS[default_comparison(takes)].takes == takes


@every_comparison
@both_tails
def test_groups_run_from_0_without_gaps(name: str, tails: Tails) -> None:
    found = evidence(name)
    for function in FUNCTIONS.values():
        group = function.cut(found, 0.25, tails)
        assert group[0] == 0
        assert set(np.diff(group)) <= {0, 1}


@every_function
@both_tails
def test_experts_of_one_mind_make_groups_of_one(name: str, tails: Tails) -> None:
    found = evidence("mann-whitney", agreed("rankings"))
    assert FUNCTIONS[name].cut(found, 0.25, tails).tolist() == [0, 1, 2, 3, 4]


@every_function
@both_tails
def test_documents_that_are_all_tied_make_one_group(name: str, tails: Tails) -> None:
    tied = Rankings.from_orders([("q", who, [["a", "b", "c"]], []) for who in "xyz"]).queries[0]
    assert FUNCTIONS[name].cut(evidence("mann-whitney", tied), 0.25, tails).tolist() == [0, 0, 0]


@every_function
@both_tails
def test_a_construction_is_read_as_it_is_written(name: str, tails: Tails) -> None:
    for by in ["", *(f":{one}" for one in COMPARISONS)]:
        text = f"{name}-{tails}{by}"
        assert str(parse_construction(text)) == text
        assert parse_construction(text.casefold()) == parse_construction(text)
