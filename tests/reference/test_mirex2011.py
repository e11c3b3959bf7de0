"""MIREX 2011 Audio Music Similarity: every system and query against the equations of the thesis, and its tables.

The equations are written here once more, a rank at a time and from the raw files, with nothing of the library in them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import adjudge as aj

K = 5
Grades = Sequence[int]
Equation = Callable[[Grades, Grades, int], float]
"""Effectiveness from the grades of a list, those of all judged documents with the best first, and the highest grade."""


def linear(grade: int) -> float:
    return float(grade)


def exponential(grade: int) -> float:
    return 2.0**grade - 1.0


def relevant(grade: int, lowest: int) -> int:
    return 1 if grade >= lowest else 0


def precision(a: Grades, lowest: int) -> float:  # 2.2, 2.5
    return sum(relevant(r, lowest) for r in a[:K]) / K


def precision_sum(a: Grades, lowest: int) -> float:  # the sum in 2.3, 2.6, 3.1, 5.6
    return sum(relevant(a[i - 1], lowest) * sum(relevant(r, lowest) for r in a[:i]) / i for i in range(1, K + 1))


def reciprocal_rank(a: Grades, lowest: int) -> float:  # 3.2
    return max((1 / i for i in range(1, K + 1) if a[i - 1] >= lowest), default=0.0)


def weighted(a: Grades, g: Callable[[int], float], weight: Callable[[int], float]) -> float:
    return sum(g(a[i - 1]) * weight(i) for i in range(1, K + 1) if i <= len(a))


def constant(_: int) -> float:
    return 1.0


def logarithmic(i: int) -> float:
    return 1.0 / math.log2(i + 1)


def geometric(i: int) -> float:
    return float(0.8 ** (i - 1))


def q_sum(a: Grades, ideal: Grades, g: Callable[[int], float]) -> float:  # the sum in 2.11 (as 5.7 has it), 3.5, 5.7
    total = 0.0
    for i in range(1, K + 1):
        if a[i - 1] > 0:
            hits, gained = sum(relevant(r, 1) for r in a[:i]), sum(g(r) for r in a[:i])
            total += (hits + gained) / (i + sum(g(r) for r in ideal[:i]))
    return total


def expected_precision(a: Grades, k: int, top: int) -> float:  # E[P@k] with uniform p_l
    return sum(1 / top * sum(relevant(r, level) for r in a[:k]) for level in range(1, a[k - 1] + 1)) / k


def gap_sum(a: Grades, top: int) -> float:
    return sum(expected_precision(a, i, top) for i in range(1, K + 1))


def stopping(a: Grades, g: Callable[[int], float], top: int) -> list[float]:  # 2.15 with the product of 2.14
    satisfied = [g(r) / (g(top) + 1) for r in a[:K]]
    return [p * math.prod(1 - before for before in satisfied[:i]) for i, p in enumerate(satisfied)]


def err(a: Grades, g: Callable[[int], float], top: int) -> float:  # 2.14
    return sum(stop / i for i, stop in enumerate(stopping(a, g, top), start=1))


def edcg(a: Grades, g: Callable[[int], float], top: int) -> float:  # the numerator of 3.10
    return sum(g(r) * stop for r, stop in zip(a, stopping(a, g, top), strict=False))


def adr(a: Grades, ideal: Grades) -> float:  # 2.17, 3.9; every query here has more than K judged documents
    return sum(sum(relevant(r, ideal[i - 1]) for r in a[:i]) / i for i in range(1, K + 1)) / K


def with_gain(name: str, g: Callable[[int], float]) -> dict[str, Equation]:
    """Measures that use gains, written as the library does, and their equations."""
    parameter = "" if name == "linear" else f"gain={name},"
    err_parameter = "" if name == "exp" else f"gain={name},"  # Chapelle et al. define it with exponential gains

    def share(weight: Callable[[int], float], *, judged: bool) -> Equation:
        return lambda a, ideal, top: (
            weighted(a, g, weight) / weighted(ideal if judged else [top] * K, g, weight)
            if not judged or any(ideal)
            else 0
        )

    def n_relevant(judged: Grades) -> int:
        return min(K, sum(r > 0 for r in judged))

    return {
        f"CG({parameter}ideal=max)@5": share(constant, judged=False),  # 3.3
        f"CG({parameter}ideal=none)@5": lambda a, _ideal, _top: weighted(a, g, constant),  # 2.8
        f"DCG({parameter}ideal=max)@5": share(logarithmic, judged=False),  # 3.4
        f"DCG({parameter}ideal=none)@5": lambda a, _ideal, _top: weighted(a, g, logarithmic),  # 2.9
        f"nDCG({parameter}ideal=judged)@5": share(logarithmic, judged=True),  # 2.10
        f"RBP({parameter}p=0.8,ideal=max)@5": share(geometric, judged=False),  # 3.6
        f"RBP({parameter}p=0.8,ideal=judged)@5": share(geometric, judged=True),  # 5.8
        f"RBP({parameter}p=0.8,ideal=none)@5": lambda a, _ideal, top: 0.2 / g(top) * weighted(a, g, geometric),  # 2.12
        f"Q({parameter}ideal=max)@5": lambda a, _ideal, top: q_sum(a, [top] * K, g) / K,  # 3.5
        f"Q({parameter}ideal=judged)@5": lambda a, ideal, _top: q_sum(a, ideal, g) / max(1, n_relevant(ideal)),  # 5.7
        f"Q({parameter}ideal=none)@5": lambda a, ideal, _top: q_sum(a, ideal, g) / max(1, sum(r > 0 for r in ideal)),
        f"ERR({err_parameter}ideal=none)@5": lambda a, _ideal, top: err(a, g, top),  # 2.14
        f"ERR({err_parameter}ideal=max)@5": lambda a, _ideal, top: err(a, g, top) / err([top] * K, g, top),  # 3.7
        f"EDCG({parameter}ideal=none)@5": lambda a, _ideal, top: edcg(a, g, top),
        f"EDCG({parameter}ideal=max)@5": lambda a, _ideal, top: edcg(a, g, top) / edcg([top] * K, g, top),  # 3.10
    }


def without_gain(lowest: int) -> dict[str, Equation]:
    """Binary measures with a threshold, GAP and ADR."""
    rel = f"rel={lowest}"

    def n_relevant(judged: Grades) -> int:
        return sum(r >= lowest for r in judged)

    def per_relevant(total: float, n: int) -> float:
        return total / n if n else 0.0

    return {
        f"P({rel})@5": lambda a, _ideal, _top: precision(a, lowest),  # 2.5
        f"RR({rel})@5": lambda a, _ideal, _top: reciprocal_rank(a, lowest),  # 3.2
        f"AP({rel},ideal=none)@5": lambda a, ideal, _top: per_relevant(
            precision_sum(a, lowest), n_relevant(ideal)
        ),  # 2.6
        f"AP({rel},ideal=max)@5": lambda a, _ideal, _top: precision_sum(a, lowest) / K,  # 3.1
        f"AP({rel},ideal=judged)@5": lambda a, ideal, _top: per_relevant(
            precision_sum(a, lowest), min(K, n_relevant(ideal))
        ),  # 5.6
        "GAP(ideal=none)@5": lambda a, ideal, top: per_relevant(gap_sum(a, top) * top, sum(ideal)),  # 2.16
        "GAP(ideal=max)@5": lambda a, _ideal, top: gap_sum(a, top) / K,  # 3.8
        "GAP(ideal=judged)@5": lambda a, ideal, top: per_relevant(gap_sum(a, top) * top, sum(ideal[:K])),  # 5.9
        "ADR(ideal=judged)@5": lambda a, ideal, _top: adr(a, ideal),  # 2.17
        "ADR(ideal=max)@5": lambda a, _ideal, top: adr(a, [top] * K),  # 3.9
    }


BOUNDS = {  # thesis 3.1.2: the new grade is the number of lower bounds reached
    "graded3": (34, 67),
    "graded4": (26, 51, 76),
    "graded5": (21, 41, 61, 81),
    "binary20": (20,),
    "binary40": (40,),
    "binary60": (60,),
    "binary80": (80,),
}


class Raw:
    """The files as they lie there: rows of text, split at tabs."""

    def __init__(self, folder: Path) -> None:
        self.lists: dict[tuple[str, str], list[int]] = {}
        self.judged: dict[str, dict[str, int]] = {}
        for query, document, grade in self.rows(folder / "judgments.tsv"):
            self.judged.setdefault(query, {})[document] = int(grade)
        for system, query, document in self.rows(folder / "runs.tsv"):
            self.lists.setdefault((system, query), []).append(self.judged[query][document])

    @staticmethod
    def rows(path: Path) -> list[list[str]]:
        return [line.split("\t") for line in path.read_text().replace("\r", "\n").split("\n") if line]

    def effectiveness(self, equation: Equation, bounds: Sequence[int] | None) -> dict[tuple[str, str], float]:
        """Effectiveness by system and query, on the Fine scale or one cut from it."""

        def convert(grades: Sequence[int]) -> list[int]:
            return list(grades) if bounds is None else [sum(grade >= bound for bound in bounds) for grade in grades]

        ideals = {query: sorted(convert([*grades.values()]), reverse=True) for query, grades in self.judged.items()}
        top = 100 if bounds is None else len(bounds)
        return {
            (system, query): equation(convert(grades), ideals[query], top)
            for (system, query), grades in self.lists.items()
        }


@pytest.fixture(scope="module")
def raw(shared_data: Path) -> Raw:
    return Raw(shared_data / "mirex2011")


def differences(
    raw: Raw, eff: aj.Effectiveness, equations: dict[str, Equation], bounds: Sequence[int] | None
) -> dict[str, float]:
    """Largest difference from the equations over all systems and queries, by measure."""
    largest = {}
    for text, equation in equations.items():
        expected = raw.effectiveness(equation, bounds)
        assert expected.keys() == set(product(eff.systems, eff.queries))
        values = eff.matrix(aj.parse_measure(text))
        largest[text] = max(
            abs(values[eff.queries.index(query), eff.systems.index(system)] - value)
            for (system, query), value in expected.items()
        )
    return largest


def test_the_collection_is_the_one_the_thesis_describes(mirex2011: aj.Collection) -> None:
    judgments = mirex2011.need_judgments()
    assert len(mirex2011.systems) == 18
    assert judgments.n_queries == 100
    assert len(judgments) == 6322
    assert {int(n) for run in mirex2011.runs for n in run.lengths[:100]} == {5}


def test_every_system_and_query_agrees_with_the_equations_on_the_fine_scale(raw: Raw, mirex2011: aj.Collection) -> None:
    equations = with_gain("linear", linear) | without_gain(40) | without_gain(80)
    largest = differences(raw, aj.evaluate(mirex2011, equations), equations, None)
    sums = 100  # without an ideal, gains up to 100 are added up
    assert {text: value for text, value in largest.items() if value > 1e-12 * (sums if "none" in text else 1)} == {}


@pytest.mark.parametrize("scale", BOUNDS)
def test_every_system_and_query_agrees_with_the_equations_on_scales_cut_from_fine(
    raw: Raw, mirex2011: aj.Collection, scale: str
) -> None:
    equations = with_gain("linear", linear) | with_gain("exp", exponential) | without_gain(1)
    eff = aj.evaluate(mirex2011.rescaled(scale), equations)
    largest = differences(raw, eff, equations, BOUNDS[scale])
    assert {text: value for text, value in largest.items() if value > 1e-12} == {}


def test_a_threshold_on_fine_grades_is_the_same_as_a_binary_scale(mirex2011: aj.Collection) -> None:
    on_fine = aj.evaluate(mirex2011, ["P(rel=40)@5", "AP(rel=40,ideal=judged)@5", "RR(rel=40)@5"])
    on_binary = aj.evaluate(mirex2011.rescaled("binary40"), ["P@5", "AP(ideal=judged)@5", "RR@5"])
    assert np.array_equal(on_fine.values, on_binary.values)


G_STUDY = {  # thesis chapter 6: shares of variance of systems, queries and what is left; E rho², n(.95); Phi, n(.95)
    "CG@5": (".184", ".511", ".304", ".9838", 32, ".9576", 85),
    "DCG@5": (".186", ".501", ".314", ".9834", 33, ".9580", 84),
    "nDCG@5": (".219", ".412", ".369", ".9834", 33, ".9655", 68),
    "Q@5": (".214", ".405", ".381", ".9825", 34, ".9646", 70),
    "RBP(ideal=judged)@5": (".217", ".413", ".370", ".9833", 33, ".9653", 69),
    "GAP@5": (".226", ".419", ".355", ".9845", 30, ".9669", 66),
    "P(rel=40)@5": (".167", ".464", ".369", ".9784", 42, ".9526", 95),
    "AP(rel=40,ideal=judged)@5": (".174", ".452", ".375", ".9789", 41, ".9546", 91),
}


def variances(scores: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> tuple[float, float, float]:
    """Variance components of systems, queries and the rest, from a two-way analysis of variance without replication."""
    n_q, n_s = scores.shape
    mean, by_query, by_system = scores.mean(), scores.mean(axis=1), scores.mean(axis=0)
    ms_s = n_q * ((by_system - mean) ** 2).sum() / (n_s - 1)
    ms_q = n_s * ((by_query - mean) ** 2).sum() / (n_q - 1)
    rest = scores - by_query[:, None] - by_system[None, :] + mean
    ms_e = (rest**2).sum() / ((n_q - 1) * (n_s - 1))
    return (ms_s - ms_e) / n_q, (ms_q - ms_e) / n_s, ms_e


def printed(value: float, digits: int) -> str:
    return f"{value:.{digits}f}".removeprefix("0")


@pytest.mark.parametrize("measure", G_STUDY)
def test_the_g_study_of_the_thesis_comes_out_to_every_printed_digit(mirex2011: aj.Collection, measure: str) -> None:
    s, q, e = variances(aj.evaluate(mirex2011, measure).matrix())
    shares = [printed(part / (s + q + e), 3) for part in (s, q, e)]
    relative, absolute = e, q + e
    stability = (printed(s / (s + relative / 100), 4), math.ceil(19 * relative / s))  # .95 / (1 - .95) = 19
    dependability = (printed(s / (s + absolute / 100), 4), math.ceil(19 * absolute / s))
    assert (*shares, *stability, *dependability) == G_STUDY[measure]


def test_the_system_of_the_ismir_2012_example_has_its_mean_and_interval(mirex2011: aj.Collection) -> None:
    summary = aj.summarize(aj.evaluate(mirex2011, "CG@5"))
    found = [(f"{row.mean:.6f}", f"{row.low:.6f}", f"{row.high:.6f}") for row in summary]
    assert found.count(("0.421880", "0.375925", "0.467835")) == 1


def test_the_pair_of_the_ismir_2012_example_differs_as_much_as_it_says(mirex2011: aj.Collection) -> None:
    scores = aj.evaluate(mirex2011, "CG@5").matrix()
    quantile = 1.9842  # t(.975, 99), as REFERENCE.md has it
    found = []
    for a, b in product(range(18), repeat=2):
        difference = scores[:, a] - scores[:, b]
        half = quantile * difference.std(ddof=1) / 10
        found.append(tuple(f"{x:.4f}" for x in (difference.mean(), difference.mean() - half, difference.mean() + half)))
    assert ("0.0815", "0.0508", "0.1122") in found
