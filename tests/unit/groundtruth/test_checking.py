"""Lists from elsewhere: measured by answers, whatever the order within their groups."""

from __future__ import annotations

import itertools

import pytest

from adjudge.errors import AdjudgeError, kept_warnings
from adjudge.groundtruth import PartialLists, Preferences, Rankings
from adjudge.groundtruth.building import check_lists, list_record, sentences, total_record


def clear_rankings(order: str = "abcd", *, experts: int = 8) -> Rankings:
    """Experts who all say the same: every pair differs."""
    return Rankings.from_orders([("q", f"e{i}", [[name] for name in order], []) for i in range(experts)])


def test_the_order_within_a_group_does_not_matter() -> None:
    found = [
        check_lists(PartialLists.from_groups({"q": [list(first), ["d"]]}), clear_rankings("bcad"))["q"]
        for first in itertools.permutations("abc")
    ]
    assert {built.list.documents for built in found} == {tuple("bcad")}, "as the answers arrange them"
    assert len({built.consistency(1) for built in found}) == 1


@pytest.mark.parametrize(
    ("groups", "numbers"),
    [
        (list("abcd"), {"adr_1": 1, "intra": 0, "inter": 0, "misordered": 0}),
        (list("dcba"), {"misordered": 6}),
        (["abcd"], {"intra": 6, "pairs_within": 6, "inter": 0, "pairs_between": 0}),
    ],
)
def test_a_list_is_measured_by_what_everybody_says(groups: list[str], numbers: dict[str, float]) -> None:
    checked = check_lists(PartialLists.from_groups({"q": groups}), clear_rankings())
    assert numbers.items() <= list_record(checked["q"]).items()
    assert checked.construction is None


def test_what_nobody_was_asked_about_does_not_count_and_is_said() -> None:
    lists = PartialLists.from_groups({"q": [["a"], ["z"], ["b", "c"]], "elsewhere": [["a"]]})
    with kept_warnings() as said:
        truth = check_lists(lists, clear_rankings())
    assert truth["q"].list.groups == (("a",), ("b", "c"))
    assert truth["q"].evidence.left_out == ("d",)
    assert said == list(truth.notes)
    assert said == [
        "1 list is of a query that nobody was asked about: elsewhere.",
        "1 document of the lists was put to nobody and not counted: z of q.",
    ]


def test_lists_of_other_queries_or_documents_are_refused() -> None:
    with pytest.raises(AdjudgeError, match="expected queries in common, got none"):
        check_lists(PartialLists.from_groups({"other": [["a"]]}), clear_rankings())
    with pytest.raises(AdjudgeError, match="Query 'q': nobody was asked about any document of its list"):
        check_lists(PartialLists.from_groups({"q": [["x"], ["y"]]}), clear_rankings())


def test_preferences_measure_lists_as_well() -> None:
    rows = [("q", "a", "b", 1, f"p{i}") for i in range(8)] + [("q", "b", "c", 1, f"p{i}") for i in range(8)]
    truth = check_lists(PartialLists.from_groups({"q": [["a"], ["b"], ["c"]]}), Preferences.from_rows(rows))
    assert truth.consistency(1) == 1
    assert "2 of 3 pairs of documents were compared; the others count neither way." in sentences(truth)


def test_totals_are_sums_and_consistencies_are_means() -> None:
    rankings = Rankings.from_orders([
        (query, f"e{i}", [[name] for name in order], [])
        for query, order in (("p", "abc"), ("q", "abcde"))
        for i in range(8)
    ])  # fmt: skip
    truth = check_lists(PartialLists.from_groups({"p": ["abc"], "q": list("abcde")}), rankings)
    total = total_record(truth)
    assert (total["documents"], total["groups"], total["pairs_within"], total["pairs_between"]) == (8, 6, 3, 10)
    assert total["adr_1"] == pytest.approx((truth["p"].consistency(1) + 1) / 2)
    assert total["documents_per_group"] == pytest.approx((3 + 1) / 2)


def test_documents_that_were_never_compared_leave_nothing_to_say_of_consistency() -> None:
    rows = [("q", "a", "b", 1, "p"), ("q", "c", "d", 1, "p")]
    with kept_warnings():
        truth = check_lists(PartialLists.from_groups({"q": [["a"], ["c"]]}), Preferences.from_rows(rows))
    assert any("nothing can be said of consistency" in sentence for sentence in sentences(truth))
