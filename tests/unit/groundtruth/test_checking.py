"""Lists from elsewhere: measured by answers, whatever the order within their groups."""

from __future__ import annotations

import itertools

import pytest

from adjudge.errors import AdjudgeError, kept_warnings
from adjudge.groundtruth import PartialLists, Preferences, Rankings, build
from adjudge.groundtruth.building import check_lists, list_record, sentences, total_record


def clear_rankings(order: str = "abcd", *, experts: int = 8) -> Rankings:
    """Experts who all say the same: every pair differs."""
    return Rankings.from_orders([("q", f"e{i}", [[name] for name in order], []) for i in range(experts)])


def test_the_order_within_a_group_does_not_matter() -> None:
    found = {
        check_lists(PartialLists.from_groups({"q": [list(first), ["d"]]}), clear_rankings())["q"].consistency(1)
        for first in itertools.permutations("abc")
    }
    assert len(found) == 1


def test_the_right_list_is_wholly_consistent_and_its_reverse_wholly_misordered() -> None:
    right = check_lists(PartialLists.from_groups({"q": list("abcd")}), clear_rankings())
    wrong = check_lists(PartialLists.from_groups({"q": list("dcba")}), clear_rankings())
    assert right.consistency(1) == 1
    assert list_record(wrong["q"])["misordered"] == 6
    assert wrong.construction is None


def test_one_group_of_all_has_every_pair_inside_contradicted() -> None:
    record = list_record(check_lists(PartialLists.from_groups({"q": ["abcd"]}), clear_rankings())["q"])
    assert (record["intra"], record["pairs_within"], record["inter"], record["pairs_between"]) == (6, 6, 0, 0)


def test_what_nobody_was_asked_about_does_not_count_and_is_said() -> None:
    lists = PartialLists.from_groups({"q": [["a"], ["z"], ["b", "c"]], "elsewhere": [["a"]]})
    with kept_warnings() as said:
        truth = check_lists(lists, clear_rankings())
    assert truth["q"].list.groups == (("a",), ("b", "c"))
    assert truth["q"].evidence.left_out == ("d",)
    assert said == list(truth.notes)
    assert [note.split(":")[1] for note in said] == [" elsewhere.", " z of q."]


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
    assert total["documents_a_group"] == pytest.approx((3 + 1) / 2)


def test_documents_that_were_never_compared_leave_nothing_to_say_of_consistency() -> None:
    rows = [("q", "a", "b", 1, "p"), ("q", "c", "d", 1, "p")]
    with kept_warnings():
        truth = check_lists(PartialLists.from_groups({"q": [["a"], ["c"]]}), Preferences.from_rows(rows))
    assert any("nothing can be said of consistency" in sentence for sentence in sentences(truth))


def test_a_built_list_is_as_consistent_when_it_is_checked() -> None:
    truth = build(clear_rankings(), "All-2")
    assert check_lists(truth.lists, clear_rankings()).consistency(2) == truth.consistency(2)
