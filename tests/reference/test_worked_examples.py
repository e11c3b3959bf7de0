"""Examples that papers work out by hand, and the equivalences that they state."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

import adjudge as aj
from adjudge.arrays import Floats

USER_ORIENTED = (
    *("P", "AP(ideal=max)", "RR", "GAP(ideal=max)", "ADR(ideal=max)", "nDCG(ideal=max)"),
    *("CG", "DCG", "EDCG", "Q(ideal=max)", "RBP(ideal=max)", "ERR(gain=linear,ideal=max)"),
    *("CG(gain=exp)", "DCG(gain=exp)", "EDCG(gain=exp)", "Q(gain=exp,ideal=max)", "RBP(gain=exp,ideal=max)"),
    "ERR(ideal=max)",
)


def effectiveness(
    measure: str, retrieved: Sequence[float], others: Sequence[float] = (), *, scale: str = "0..4"
) -> float:
    """Effectiveness of one list of documents with these grades, when ``others`` were judged but not retrieved."""
    documents = {f"d{i}": grade for i, grade in enumerate(retrieved)}
    judgments = documents | {f"other{i}": grade for i, grade in enumerate(others)}
    return float(
        aj.evaluate(aj.read({"s": {"q": list(documents)}}, {"q": judgments}, scale=scale), measure).values[0, 0, 0]
    )


# Urbano et al., ISMIR 2010, Table 1: ground truth <(A, B), (C), (D, E, F)>, retrieved <B, C, A, G, H, D>


def partially_ordered(measure: str) -> float:
    groups = {"A": 3, "B": 3, "C": 2, "D": 1, "E": 1, "F": 1}
    return float(aj.evaluate(aj.read({"s": {"q": list("BCAGHD")}}, {"q": groups}), measure).values[0, 0, 0])


def test_adr_of_the_partially_ordered_list_of_ismir_2010() -> None:
    assert f"{partially_ordered('ADR'):.3f}" == "0.753"
    assert partially_ordered("ADR@6") == partially_ordered("ADR")


def test_dynamic_recall_at_each_position_of_ismir_2010() -> None:
    sums = [0.0, *(k * partially_ordered(f"ADR@{k}") for k in range(1, 7))]
    assert [f"{recall:.3g}" for recall in np.diff(sums)] == ["1", "0.5", "1", "0.75", "0.6", "0.667"]


# Thesis 3.1.1: the counterintuitive nDCG of Al-Maskari et al. [2007], five levels of relevance


def test_ndcg_is_perfect_for_the_only_document_there_is_however_poor() -> None:
    assert effectiveness("nDCG@5", [1, 0, 0, 0, 0]) == 1


def test_ndcg_is_not_perfect_for_four_excellent_documents_after_a_poor_one() -> None:
    discounts = [1 / math.log2(i + 1) for i in range(1, 6)]
    gained = 1 * discounts[0] + 4 * sum(discounts[1:])
    ideal = 4 * sum(discounts[:4]) + 1 * discounts[4]
    value = effectiveness("nDCG@5", [1, 4, 4, 4, 4])
    assert value == pytest.approx(gained / ideal, abs=1e-12)
    assert f"{value:.4f}" == "0.8270"


def test_user_oriented_dcg_prefers_the_list_that_helps_the_user() -> None:
    poor, good = (effectiveness("DCG@5", grades) for grades in ([1, 0, 0, 0, 0], [1, 4, 4, 4, 4]))
    discounts = [1 / math.log2(i + 1) for i in range(1, 6)]
    assert poor == pytest.approx(1 / (4 * sum(discounts)), abs=1e-12)
    assert good == pytest.approx(1 - 3 / (4 * sum(discounts)), abs=1e-12)


# Thesis 5.2: the difference between two systems when a query has five relevant documents, and when it has one


@pytest.mark.parametrize(
    ("ideal", "first", "second"),
    [("max", [1, 0.8], [0.2, 0]), ("judged", [1, 0.8], [1, 0]), ("none", [1, 0.8], [1, 0])],
)
def test_average_precision_of_the_two_queries_of_the_thesis(
    ideal: str, first: list[float], second: list[float]
) -> None:
    measure = f"AP(ideal={ideal})@5"
    five_of_five = effectiveness(measure, [1, 1, 1, 1, 1], scale="binary")
    four_of_five = effectiveness(measure, [1, 1, 1, 1, 0], [1], scale="binary")
    assert [five_of_five, four_of_five] == pytest.approx(first, abs=1e-12)
    one_of_one = effectiveness(measure, [1, 0, 0, 0, 0], scale="binary")
    none_of_one = effectiveness(measure, [0, 0, 0, 0, 0], [1], scale="binary")
    assert [one_of_one, none_of_one] == pytest.approx(second, abs=1e-12)


def test_classic_average_precision_hardly_tells_systems_apart_with_a_thousand_relevant_documents() -> None:
    five = effectiveness("AP@5", [1] * 5, [1] * 995, scale="binary")
    four = effectiveness("AP@5", [1, 1, 1, 1, 0], [1] * 996, scale="binary")
    assert [five, four, five - four] == pytest.approx([0.005, 0.004, 0.001], abs=1e-12)
    assert effectiveness("AP(ideal=judged)@5", [1] * 5, [1] * 995, scale="binary") == 1


# Thesis 3.1 and 3.1.2


@pytest.mark.parametrize("measure", USER_ORIENTED)
@pytest.mark.parametrize("top", [1, 2, 4])
def test_user_oriented_measures_are_1_only_for_highest_grades_everywhere(measure: str, top: int) -> None:
    measure = f"{measure}@5"
    scale = f"0..{top}"
    others = [top] * 50  # what else there is does not matter
    assert effectiveness(measure, [top] * 5, others, scale=scale) == pytest.approx(1, abs=1e-12)
    if not measure.startswith(("RR", "P", "AP")):  # those ask for something relevant, or only for relevant documents
        assert effectiveness(measure, [top] * 4 + [0], others, scale=scale) < 1 - 1e-9
        assert effectiveness(measure, [*[top] * 4, top / 2], others, scale=scale) < 1 - 1e-9


def test_expected_reciprocal_rank_of_an_ideal_list_on_a_binary_scale() -> None:
    assert effectiveness("ERR@5", [1] * 5, scale="binary") == pytest.approx(
        1 / 2 + 1 / 8 + 1 / 24 + 1 / 64 + 1 / 160,
        abs=1e-12,  # 1/i 2^-i
    )
    assert effectiveness("ERR(ideal=max)@5", [1] * 5, scale="binary") == 1


def test_a_document_satisfies_with_the_probability_of_chapelle_et_al() -> None:
    for grade in range(5):  # (2^r - 1) / 2^max, thesis eq 2.13
        assert effectiveness("ERR@1", [grade], [4]) == (2**grade - 1) / 2**4


def test_exponential_gains_leave_no_room_on_the_fine_scale() -> None:
    gained = [effectiveness("CG(gain=exp,ideal=none)@1", [grade], scale="fine") for grade in (90, 85)]
    assert [f"{gain:.2e}" for gain in gained] == ["1.24e+27", "3.87e+25"]


def test_the_user_of_the_thesis_sees_five_documents() -> None:
    seen = effectiveness("RBP(p=0.8)", [1] * 500, scale="binary")  # the whole probability, so that 1 / (1 - p) = 5
    assert seen == pytest.approx(1, abs=1e-12)
    assert effectiveness("RBP(p=0.8)@1", [1], scale="binary") == pytest.approx(1 / 5, abs=1e-12)


@pytest.fixture(scope="module")
def binary(
    make_collection: Callable[..., aj.Collection], evaluate_quietly: Callable[..., aj.Effectiveness]
) -> Callable[[str], Floats]:
    """Effectiveness at 5 on random binary judgments, queries x systems."""
    collection = make_collection(7, grades=(0, 1), scale="binary", n_queries=40)

    def at_5(measure: str) -> Floats:
        values: Floats = evaluate_quietly(collection, f"{measure}@5").matrix()
        return values

    return at_5


@pytest.mark.parametrize(
    ("measure", "equivalent"),
    [
        ("CG", "P"),
        ("CG(gain=exp)", "P"),
        ("DCG(gain=exp)", "DCG"),
        ("EDCG(gain=exp)", "EDCG"),
        ("Q(ideal=max)", "AP(ideal=max)"),
        ("Q(gain=exp,ideal=max)", "AP(ideal=max)"),
        ("RBP(gain=exp,ideal=max)", "RBP(ideal=max)"),
        ("ERR(gain=linear,ideal=max)", "ERR(ideal=max)"),
        ("GAP(ideal=max)", "AP(ideal=max)"),
    ],
)
def test_the_equivalences_of_table_3_1_hold_on_a_binary_scale(
    binary: Callable[[str], Floats], measure: str, equivalent: str
) -> None:
    values = binary(equivalent)
    assert len(np.unique(values)) > 3
    assert np.abs(binary(measure) - values).max() < 1e-12


@pytest.mark.parametrize(
    ("measure", "equivalent"),
    [
        ("GAP(ideal=none)", "AP(ideal=none)"),
        ("GAP(ideal=judged)", "AP(ideal=judged)"),
        ("Q(beta=0,ideal=none)", "AP(ideal=none)"),
        ("Q(beta=0,ideal=judged)", "AP(ideal=judged)"),
        ("RBP(rel=1)", "RBP"),
        ("nDCG(ideal=max)", "DCG(ideal=max)"),
    ],
)
def test_further_equivalences_hold_on_a_binary_scale(
    binary: Callable[[str], Floats], measure: str, equivalent: str
) -> None:
    assert np.abs(binary(measure) - binary(equivalent)).max() < 1e-12


# Urbano et al., ISMIR 2011, section 3


def test_cumulated_gain_has_no_fixed_upper_bound() -> None:
    seven_very_similar = [2] * 7
    two_very_and_five_somewhat = [2, 2, 1, 1, 1, 1, 1]
    for grades, most in ((seven_very_similar, 10), (two_very_and_five_somewhat, 7)):
        assert effectiveness("CG(ideal=none)@5", grades, scale="broad") == most
        assert effectiveness("nDCG(discount=original)@5", grades, scale="broad") == pytest.approx(1, abs=1e-12)
        assert effectiveness("ANDCG(discount=original)@5", grades, scale="broad") == pytest.approx(1, abs=1e-12)
        assert effectiveness("AG@5", grades, scale="broad") == most / 5


def test_average_ndcg_is_the_mean_of_ndcg_down_the_list() -> None:
    ndcg_1, ndcg_2 = 1 / 2, (1 + 0) / (2 + 1)  # neither rank is discounted with base 2
    ndcg_3 = (1 + 0 + 2 / math.log2(3)) / (2 + 1 + 0)
    value = effectiveness("ANDCG(discount=original)@3", [1, 0, 2], scale="broad")
    assert value == pytest.approx((ndcg_1 + ndcg_2 + ndcg_3) / 3, abs=1e-12)


# Järvelin and Kekäläinen 2002: G' = <3, 2, 3, 0, 0, 1, 2, 2, 3, 0, …>, discounted from rank 2 on


def test_discounted_gain_of_jarvelin_and_kekalainen() -> None:
    gains = [3, 2, 3, 0, 0, 1, 2, 2, 3, 0]
    cumulated = [effectiveness(f"CG(ideal=none)@{k}", gains, scale="0..3") for k in range(1, 11)]
    assert cumulated == [3, 5, 8, 8, 8, 9, 11, 13, 16, 16]
    discounted = [
        f"{effectiveness(f'DCG(ideal=none,discount=original)@{k}', gains, scale='0..3'):.2f}" for k in range(1, 11)
    ]
    assert discounted == ["3.00", "5.00", "6.89", "6.89", "6.89", "7.28", "7.99", "8.66", "9.61", "9.61"]


# MIREX: the sums of Broad grades, each between 0 and 1


@pytest.mark.parametrize(
    ("measure", "value"),
    [("PSum", 6 / 10), ("WCSum", 8 / 15), ("SDSum", 10 / 20), ("Greater0", 4 / 5), ("Greater1", 2 / 5)],
)
def test_the_sums_of_mirex(measure: str, value: float) -> None:
    assert effectiveness(f"{measure}@5", [2, 1, 0, 1, 2], scale="broad") == pytest.approx(value, abs=1e-12)


def test_the_sum_of_fine_grades_of_mirex() -> None:
    assert effectiveness("Fine@5", [100, 60, 40, 0, 5], scale="fine") == pytest.approx(205 / 500, abs=1e-12)


# Thesis 2.5.2: both discounts for a logarithm of any base


@pytest.mark.parametrize("base", [2, 3, 10])
def test_the_two_discounts_of_the_thesis(base: int) -> None:
    burges = sum(1 / math.log(i + base - 1, base) for i in range(1, 13))
    original = sum(1 if i < base else 1 / math.log(i, base) for i in range(1, 13))
    for discount, expected in (("log", burges), ("original", original)):
        measure = f"DCG(ideal=none,discount={discount},base={base})"
        assert effectiveness(measure, [1] * 12, scale="binary") == pytest.approx(expected, abs=1e-12)


def test_q_can_fall_when_a_document_is_exchanged_for_a_better_one_further_down() -> None:
    before, after = ((1 + 3) / (2 + 4) + (2 + 4) / (3 + 4)) / 2, ((1 + 1) / (1 + 3) + (2 + 4) / (2 + 4)) / 2
    assert after < before
    assert effectiveness("Q", [0, 3, 1], scale="0..3") == pytest.approx(before, abs=1e-12)
    assert effectiveness("Q", [1, 3, 0], scale="0..3") == pytest.approx(after, abs=1e-12)
