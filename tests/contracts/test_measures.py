"""What every registered measure must obey, with every ideal and at every cutoff."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tests.conftest import for_subtopics

import adjudge as aj
from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.measures import MEASURES, Definition
from adjudge.model.rankings import Blocks, Lists

IDEALS = ("none", "max", "judged")
CUTOFFS = ("", "@1", "@5", "@10")
RECALLS = ("", "@0", "@0.3", "@1")
ALL = [
    aj.parse_measure(f"{name}{at}", ideal=ideal)
    for name, definition in MEASURES.items()
    for ideal in IDEALS
    for at in (CUTOFFS if definition.cutoff else RECALLS if definition.at == "recall" else ("",))
]
SCALES = {"0..3": (0, 0, 1, 2, 3), "broad": (0, 0, 1, 2), "0..10": (0, 0, 2, 5, 10)}

every_measure = pytest.mark.parametrize("measure", ALL, ids=str)
every_definition = pytest.mark.parametrize("definition", MEASURES.values(), ids=list(MEASURES))

Make = Callable[..., aj.Collection]
Evaluate = Callable[..., aj.Effectiveness]


def read(runs: Mapping[str, Any], judgments: Mapping[str, Mapping[str, float]], scale: str) -> aj.Collection:
    """A collection with two sub-topics and the same grades for both, so that every measure can be used."""
    return aj.read(runs, for_subtopics(judgments), scale=scale)


def all_lists(collection: aj.Collection) -> Lists:
    """All lists of a collection in one block."""
    blocks = Blocks(collection)
    (codes,) = blocks
    return blocks.lists(codes)


@lru_cache
def suits(name: str, scale: str) -> bool:
    """Whether a measure takes judgments on the scale; a few ask for one of their own."""
    needs = MEASURES[name].needs
    return needs is None or needs(all_lists(read({"s": {"q": ["a"]}}, {"q": {"a": 0}}, scale=scale))) is None


@lru_cache
def scale_of(name: str) -> str:
    """The first scale that a measure takes."""
    return next(scale for scale in SCALES if suits(name, scale))


def one_list(grades: list[float], pool: list[float], scale: str) -> Lists:
    """A list of documents with these grades, when ``pool`` are the grades of the other judged ones."""
    listed = {f"d{i:02d}": grade for i, grade in enumerate(grades)}
    judged = listed | {f"other{i}": grade for i, grade in enumerate(pool)}
    return all_lists(read({"s": {"q": list(listed)}}, {"q": judged}, scale=scale))


def in_orders(lists: Lists, orders: list[list[int]]) -> Lists:
    """One list in several orders of its documents."""
    return lists.rows(np.zeros(len(orders), dtype=np.intp)).reordered(np.array(orders, dtype=np.int64))


def within(measure: aj.Measure, lists: Lists) -> bool:
    """Whether values are finite and, where the measure says so, in [0, 1]."""
    values = measure(lists)
    return bool(np.isfinite(values).all() and (values >= 0).all() and (not measure.bounded or values.max() <= 1))


# What a measure says of itself


@every_definition
def test_it_has_a_title_an_equation_a_reference_and_a_docstring(definition: Definition) -> None:
    assert definition.title
    assert "=" in definition.equation
    assert definition.reference
    first, blank, *rest = definition.docstring.splitlines()
    assert first.endswith(".")
    assert not blank
    assert rest


@every_definition
def test_its_parameters_say_what_they_are(definition: Definition) -> None:
    for parameter in definition.parameters.values():
        assert parameter.about
        assert parameter.wanted


@every_measure
def test_what_it_prints_it_parses_back_to(measure: aj.Measure) -> None:
    assert aj.parse_measure(str(measure)) == measure
    condensed = replace(measure, judged_only=True)
    assert aj.parse_measure(str(condensed)) == condensed != measure


@every_definition
def test_its_defaults_are_not_printed(definition: Definition) -> None:
    assert str(aj.parse_measure(definition.name)) == definition.name


@every_definition
def test_a_parameter_that_it_does_not_have_is_refused(definition: Definition) -> None:
    known = ", ".join([*definition.parameters, "judged_only"])
    with pytest.raises(AdjudgeError, match=f"^{definition.name}: has no parameter 'persistence'; known: {known}$"):
        aj.parse_measure(f"{definition.name}(persistence=0.5)")


@pytest.mark.parametrize("definition", [d for d in MEASURES.values() if d.at is None], ids=lambda d: d.name)
@pytest.mark.parametrize("cutoff", [0, -1])
def test_a_cutoff_below_1_is_refused(definition: Definition, cutoff: int) -> None:
    limits = "'cutoff' must be a whole number from 1 to 1,000,000, got "
    wanted = limits if definition.cutoff else "takes no cutoff, got @"
    with pytest.raises(AdjudgeError, match=f"^{definition.name}: {wanted}{cutoff}$"):
        aj.parse_measure(f"{definition.name}@{cutoff}")


@every_definition
def test_nonsense_in_any_parameter_is_refused_in_words(definition: Definition) -> None:
    for name in definition.parameters:
        with pytest.raises(AdjudgeError, match=f"^{definition.name}: '{name}' must be .*, got '?nonsense'?$"):
            aj.parse_measure(f"{definition.name}({name}=nonsense)")


# Its values


@pytest.fixture(scope="module")
def lists(make_collection: Make) -> dict[str, Lists]:
    """Random lists with every awkward case, by scale."""
    return {
        scale: all_lists(make_collection(13, subtopics=True, grades=grades, scale=scale, n_queries=40))
        for scale, grades in SCALES.items()
    }


@every_measure
def test_it_is_finite_and_where_it_says_so_within_0_and_1(measure: aj.Measure, lists: dict[str, Lists]) -> None:
    some = lists[scale_of(measure.name)]
    assert within(measure, some)
    assert measure(some).shape == (120,)
    assert len(np.unique(measure(some))) > 1


@lru_cache
def edges(scale: str) -> list[Lists]:
    """Nothing relevant, nothing judged retrieved, one document, all the best; short lists, and long with unjudged."""
    top = float(max(SCALES[scale]))
    return [
        all_lists(read({"short": {"q": ["a", "b"]}, "long": {"q": list("abvwxyz")}}, {"q": judged}, scale=scale))
        for judged in ({"a": 0, "b": 0}, {"c": top, "d": 1}, {"a": 0}, {"c": 0}, {"a": top}, {"a": top, "b": top})
    ]


@pytest.mark.filterwarnings("ignore:.*no document is judged")
@every_measure
def test_it_is_finite_at_the_edges_and_0_where_nothing_relevant_was_retrieved(measure: aj.Measure) -> None:
    scale = scale_of(measure.name)
    for edge in edges(scale):
        assert within(measure, edge)
        if not edge.grades.any() and measure.name not in {"Judged", "ADR"}:  # those also count what is not relevant
            assert (measure(edge) == 0).all()


@every_measure
def test_an_empty_list_has_no_effectiveness(measure: aj.Measure, evaluate_quietly: Evaluate) -> None:
    collection = read({"s": {"p": ["a"]}}, {"p": {"a": 2}, "q": {"a": 2, "b": 1}}, scale=scale_of(measure.name))
    assert evaluate_quietly(collection, measure).values[1, 0, 0] == 0


@pytest.fixture(scope="module")
def real_valued(make_collection: Make) -> Lists:
    return all_lists(make_collection(5, subtopics=True, grades=(-2, -0.5, 0, 0.25, 1.7, 10), scale="-2..10"))


@every_measure
def test_it_takes_real_valued_and_negative_grades_or_says_why_not(measure: aj.Measure, real_valued: Lists) -> None:
    if suits(measure.name, "-2..10"):
        assert within(measure, real_valued)
    else:
        with pytest.raises(AdjudgeError, match=r"expected judgments on the Broad scale \(0, 1, 2\), got graded"):
            measure(real_valued)


@pytest.mark.parametrize(
    "measure", [m for m in ALL if m.name not in {"ADR", "infAP"} and suits(m.name, "-2..10")], ids=str
)
def test_a_negative_grade_is_worth_as_little_as_0(measure: aj.Measure) -> None:
    # not so for ADR, which goes by the order of grades alone, nor for infAP, to which a negative grade is no judgment
    at_zero, below = (one_list([a, 2, c, 1], [], "-2..10") for a, c in ((0, 0), (-1, -2)))
    assert np.array_equal(measure(at_zero), measure(below))


@pytest.mark.parametrize("name", [name for name, definition in MEASURES.items() if "rel" in definition.parameters])
@pytest.mark.parametrize("ideal", IDEALS)
def test_a_threshold_above_the_scale_makes_nothing_relevant(name: str, ideal: str, lists: dict[str, Lists]) -> None:
    assert (aj.parse_measure(name, rel=9, ideal=ideal)(lists["0..3"]) == 0).all()


@pytest.mark.parametrize("name", ["P", "R", "F1", "AP", "RR", "Success", "Rprec", "IPrec", "infAP", "Bpref"])
def test_a_threshold_is_the_same_as_a_binary_scale(
    name: str, make_collection: Make, evaluate_quietly: Evaluate
) -> None:
    graded = make_collection(23, scale="0..3")
    for rel in (1, 2, 3):
        with_threshold = evaluate_quietly(graded, aj.parse_measure(name, rel=rel))
        binary = evaluate_quietly(graded.rescaled(f"binary{rel}"), name)
        assert np.array_equal(with_threshold.values, binary.values)


# What makes a ranking better


@lru_cache
def shuffled(scale: str) -> list[tuple[Lists, Lists]]:
    """Rankings of all judged documents, best first, and each in many orders."""
    rng = np.random.default_rng(3)
    pairs = []
    for size in (1, 2, 3, 5, 8, 12):
        pool = sorted([max(SCALES[scale]), *rng.choice(SCALES[scale], size=size - 1).tolist()], reverse=True)
        best = one_list(pool, [], scale)
        pairs.append((best, in_orders(best, [rng.permutation(size).tolist() for _ in range(40)])))
    return pairs


@every_measure
def test_the_ideal_ranking_is_the_best(measure: aj.Measure) -> None:
    for best, others in shuffled(scale_of(measure.name)):
        assert (measure(others) <= measure(best) + 1e-12).all()


@pytest.mark.parametrize("measure", [m for m in ALL if m.ideal == "judged"], ids=str)
def test_the_ideal_ranking_has_effectiveness_1(measure: aj.Measure) -> None:
    for best, _ in shuffled(scale_of(measure.name)):
        if measure.name == "ADR" and best.lengths[0] < (measure.cutoff or 0):
            assert measure(best) < 1  # recall of k documents, where there are fewer
        else:
            assert measure(best) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("measure", [m for m in ALL if m.bounded], ids=str)
def test_rounding_does_not_put_the_best_lists_above_1(measure: aj.Measure) -> None:
    gains = ("linear", "exp") if "gain" in measure.definition.parameters else ()
    for scale in ("broad", "0..4", "fine"):
        for lists in perfect(scale) if suits(measure.name, scale) else ():
            for one in (measure, *(aj.parse_measure(measure, gain=gain) for gain in gains)):
                assert within(one, lists)


@lru_cache
def perfect(scale: str) -> list[Lists]:
    """Lists with nothing but the highest grade, of several lengths."""
    top = {"broad": 2.0, "0..4": 4.0, "fine": 100.0}[scale]
    return [one_list([top] * n, [], scale) for n in (1, 2, 3, 5, 7, 10)]


@lru_cache
def exchanged(scale: str, *, neighbours: bool) -> list[Lists]:
    """A list, followed by the same with a document exchanged for a better one further down."""
    rng = np.random.default_rng(5)
    changes = []
    for _ in range(20):
        pool = np.sort(rng.choice(SCALES[scale], size=10))[::-1]
        order = rng.permutation(10)
        orders = [order.tolist()]
        for i, j in np.argwhere(pool[order][:, None] < pool[order][None, :]):
            if i < j and (j == i + 1 or not neighbours):
                moved = order.copy()
                moved[[i, j]] = moved[[j, i]]
                orders.append(moved.tolist())
        changes.append(in_orders(one_list(pool.tolist(), [], scale), orders))
    return changes


@every_measure
def test_moving_a_better_document_up_never_lowers_it(measure: aj.Measure) -> None:
    # In Q, what the worse document adds at its rank may be less than what the better one added further down; in EDCG,
    # whoever is satisfied by the better document does not see an excellent one in between. Neighbours are safe in both.
    for changes in exchanged(scale_of(measure.name), neighbours=measure.name in {"Q", "EDCG"}):
        before, *after = measure(changes)
        assert min(after, default=1) >= before - 1e-12


@lru_cache
def improved(scale: str) -> tuple[Lists, Lists]:
    """Lists, and the same with one document graded one level higher; the ideal stays as it is."""
    rng = np.random.default_rng(6)
    levels = sorted({float(level) for level in SCALES[scale]})
    base = one_list([0] * 8, rng.choice(levels, size=4).tolist(), scale)
    worse: list[Floats] = []
    better: list[Floats] = []
    for _ in range(10):
        grades = rng.choice(levels, size=8)
        for position in range(8):
            for low, high in pairwise(levels):
                for rows, grade in ((worse, low), (better, high)):
                    rows.append(np.where(np.arange(8) == position, grade, grades))
    many = base.rows(np.zeros(len(worse), dtype=np.intp))
    return replace(many, grades=np.stack(worse)), replace(many, grades=np.stack(better))


@pytest.mark.parametrize("measure", [m for m in ALL if m.monotone], ids=str)
def test_a_better_grade_never_lowers_it_where_it_says_so(measure: aj.Measure) -> None:
    worse, better = improved(scale_of(measure.name))
    assert (measure(better) >= measure(worse) - 1e-12).all()


# What does not matter


@lru_cache
def lengthened(scale: str, k: int) -> tuple[Lists, Lists]:
    """Lists of k documents or more, and the same with unjudged documents at their end."""
    rng = np.random.default_rng(9)
    judged = {f"d{i:02d}": float(rng.choice(SCALES[scale])) for i in range(20)}
    runs = {str(s): {"q": rng.choice(list(judged), size=k + s % 3, replace=False).tolist()} for s in range(10)}
    longer = {s: {"q": [*run["q"], "new1", "new2"]} for s, run in runs.items()}
    short, long = (all_lists(read(given, {"q": judged}, scale=scale)) for given in (runs, longer))
    return short, long


@pytest.mark.parametrize("measure", [m for m in ALL if m.cutoff is not None], ids=str)
def test_unjudged_documents_past_the_cutoff_change_nothing(measure: aj.Measure) -> None:
    short, long = lengthened(scale_of(measure.name), measure.cutoff or 0)
    assert np.array_equal(measure(short), measure(long))


@every_measure
def test_many_lists_at_once_are_the_same_as_one_at_a_time(measure: aj.Measure, lists: dict[str, Lists]) -> None:
    together = lists[scale_of(measure.name)]
    alone = [measure(together.rows(np.array([row]))).item() for row in range(0, len(together), 7)]
    assert np.abs(measure(together)[::7] - alone).max() < 1e-12


@pytest.mark.parametrize("scale", SCALES)
def test_the_size_of_blocks_does_not_matter(scale: str, make_collection: Make, evaluate_quietly: Evaluate) -> None:
    collection = make_collection(19, subtopics=True, grades=SCALES[scale], scale=scale)
    chosen = [measure for measure in ALL if suits(measure.name, scale)]
    expected = evaluate_quietly(collection, chosen).values
    found = np.empty_like(expected)
    tiny = Blocks(collection, cells=1)
    assert [(codes.start, codes.stop) for codes in tiny] == [(i, i + 1) for i in range(len(expected))]
    for codes in tiny:
        part = tiny.lists(codes)
        found[codes.start] = np.stack([measure(part) for measure in chosen], axis=1)
    assert np.abs(found - expected).max() < 1e-12


@lru_cache
def renamed(scale: str) -> tuple[Lists, Lists]:
    first = read({"s": {"q": ["a", "b", "c"]}}, {"q": {"a": 1, "c": 2, "d": 2}}, scale=scale)
    second = read({"s": {"q": ["z", "y", "x"]}}, {"q": {"w": 2, "x": 2, "z": 1}}, scale=scale)
    return all_lists(first), all_lists(second)


@every_measure
def test_names_of_documents_and_the_order_of_judgments_do_not_matter(measure: aj.Measure) -> None:
    first, second = renamed(scale_of(measure.name))
    assert np.array_equal(measure(first), measure(second))
