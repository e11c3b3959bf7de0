"""Examples that the papers work by hand; they need no data."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from adjudge.arrays import Floats
from papers.claims import ANOTHER, Claim, Reason, independent, near
from papers.data import Data
from papers.studies import Effort, Found, study

_FOUR_DIGITS = Reason("rounding", "the thesis goes on with numbers that it has rounded to four digits")
_ROUNDED_MEAN = Reason(
    "rounding", "mean and standard deviation are printed with four digits, which moves the end of an interval by .0001"
)
_ROUNDED_HALF = Reason(
    "rounding", "from the difference and half of its interval, printed with four digits: the most that rounding may do"
)
_SLIP = Reason(
    "slip",
    "a slip in the thesis: its line for the variance subtracts 1.6577 squared, while the expectation it has just found "
    "is 1.7486, and its result, .2552, is right with that",
)

_LAST = 0.00005  # half of the last of four digits

# MIREX Audio Music Similarity in thesis Table 1.1: year, systems, queries, judgments by one assessor
_EDITIONS = (
    (2006, 6, 60, 1629),
    (2007, 12, 100, 4832),
    (2009, 15, 100, 6732),
    (2010, 8, 100, 2737),
    (2011, 18, 100, 6322),
    (2012, 10, 50, 2622),
)

_Lists = tuple[list[int], list[int]]  # grades of the documents that were retrieved, and of others


@study(
    "examples",
    title="Examples worked by hand in the papers",
    covers=("L10 Table 1", "L10 Table 2"),
)
def examples(data: Data, effort: Effort) -> Found:
    """Every example that a paper carries through to a number."""
    parts = (
        *(_satisfaction, _intervals, _p_values, _precision, _relevance, _recall, _consistency),
        *(_threshold, _errors, _effort),
    )
    return Found(tuple(claim for part in parts for claim in part()))


def _satisfaction() -> Iterator[Claim]:
    """Thesis 4.1: of one list, and of 15 users."""
    from adjudge.users.satisfaction import find_satisfaction, p_satisfied

    curve = find_satisfaction("GAP(ideal=max)@5", "broad").mapping
    if curve is not None:
        yield Claim.printed(
            "T 4.1.2", "satisfaction at GAP@5 = .32 on Broad, by Table 4.3", ".5116", float(curve(0.32))
        )
    chance = float(p_satisfied(10, 15, 0.7))
    yield Claim.printed("T 4.1", "probability that 10 of 15 users are satisfied, each with .7", ".2061", chance)


def _intervals() -> Iterator[Claim]:
    """Thesis 4.1.3 and 5.6.2: system CL1 of MIREX 2009, of which mean and standard deviation are printed."""
    from adjudge.stats.intervals import t_interval

    for name, mean, sd, half, low, high in (
        ("P(Sat)", 0.3526, 0.2187, ".0434", ".3092", ".3960"),
        ("CG@5", 0.2525, 0.2557, ".0507", ".2018", ".3033"),
    ):
        found = float(t_interval(_with_moments(mean, sd, 100))[1])
        if name == "P(Sat)":
            yield Claim.printed("T 4.1.3", "quantile .975 of t with 99 degrees of freedom", "1.9842", found / sd * 10)
        yield Claim.printed("T 5.6.2", f"half of the interval around {name} = {mean:.4f}", half, found)
        for end, printed, value in (("lower", low, mean - found), ("upper", high, mean + found)):
            what = f"{end} end of the interval around {name} = {mean:.4f}"
            yield Claim.around("T 4.1.3", what, printed, value, 0.00011, basis="rounding", why=_ROUNDED_MEAN)


def _with_moments(mean: float, sd: float, n: int) -> Floats:
    """As many numbers with this mean and this standard deviation."""
    values: Floats = mean + sd * np.sqrt((n - 1) / n) * np.tile([1.0, -1.0], n // 2)
    return values


def _p_values() -> Iterator[Claim]:
    """Thesis 5.6.2: two systems that improve BSWH1 of MIREX 2009, by their difference and half of its interval."""
    from adjudge.stats.intervals import t_interval
    from adjudge.stats.paired import paired_tests

    quantile = float(t_interval(_with_moments(0.0, 1.0, 100))[1])  # half of an interval whose standard deviation is 1

    def p(mean: float, half: float) -> float:
        values = _with_moments(mean, half / quantile, 100)
        return float(paired_tests(np.stack([values, np.zeros(100)], axis=1), test="t").p[0, 1])

    for name, mean, half, printed in (("BSWH2", 0.0597, 0.0294, ".00011"), ("LR", 0.0332, 0.0363, ".0721")):
        ours = p(mean, half)
        corners = [p(mean + a, half + b) for a in (-_LAST, _LAST) for b in (-_LAST, _LAST)]
        apart = max(abs(corner - ours) for corner in corners) + 0.5 * 10.0 ** -(len(printed) - 1)
        yield Claim.around(
            "T 5.6.2", f"p of the t test of {name} and BSWH1", printed, ours, apart, basis="rounding", why=_ROUNDED_HALF
        )


def _precision() -> Iterator[Claim]:
    """Thesis 5.2: average precision against the most there could be, and against what was judged."""
    five, four, one, none = [1] * 5, [1, 1, 1, 1, 0], [1, 0, 0, 0, 0], [0] * 5
    cases: tuple[tuple[str, str, _Lists, _Lists, tuple[str, str, str]], ...] = (
        ("five relevant documents, ideal of the scale", "max", (five, []), (four, [1]), ("1", ".8", ".2")),
        ("one relevant document, ideal of the scale", "max", (one, []), (none, [1]), (".2", "0", ".2")),
        ("five relevant documents, ideal of the judged", "judged", (five, []), (four, [1]), ("1", ".8", ".2")),
        ("one relevant document, ideal of the judged", "judged", (one, []), (none, [1]), ("1", "0", "1")),
        ("1,000 relevant documents, classic", "none", (five, [1] * 995), (four, [1] * 996), (".005", ".004", ".001")),
    )
    for name, ideal, first, second, printed in cases:
        a, b = (_effectiveness(f"AP(ideal={ideal})@5", *lists) for lists in (first, second))
        values = (("system A", a), ("system B", b), ("difference", a - b))
        for (what, value), number in zip(values, printed, strict=True):
            yield Claim.printed("T 5.2", f"AP@5, {name}: {what}", number, value)


def _effectiveness(measure: str, retrieved: list[int], others: list[int], scale: str = "binary") -> float:
    """Of one list with these grades, when others were judged but not retrieved."""
    from adjudge.formats.reading import read
    from adjudge.measures.evaluation import evaluate

    grades = {f"d{i}": float(grade) for i, grade in enumerate(retrieved)}
    judged = grades | {f"other{i}": float(grade) for i, grade in enumerate(others)}
    return float(evaluate(read({"s": {"q": list(grades)}}, {"q": judged}, scale=scale), measure).values[0, 0, 0])


def _relevance() -> Iterator[Claim]:
    """Thesis 7.2.1, a document of which nothing is known, and Appendix A, one whose features are."""
    from adjudge.model.scales import BROAD, FINE
    from adjudge.relevance.features import uniform_moments
    from adjudge.relevance.models import published_model

    for scale, expected, varying in ((BROAD, "1", ""), (FINE, "50", "850")):
        relevance, variance = uniform_moments(scale)
        yield Claim.printed(
            "T 7.2.1", f"expected grade on {scale.name} of any document", expected, relevance * scale.maximum
        )
        if varying:
            ours = variance * scale.maximum**2
            yield Claim.printed("T 7.2.1", f"variance of the grade on {scale.name} of any document", varying, ours)
    theta = {"fSYS": 0.25, "OV": 0.8053, "fART": 0.0217, "sGEN": 1.0, "fGEN": 0.8478}
    model = published_model("broad", "output")
    x = np.array([[np.prod([theta[name] for name in term.split(":")]) for term in model.features]])
    one, two = (float(reached) for reached in model.ordinal.at_least(x)[0])
    for what, reached, odds, chance in (("2", two, "1.2781", ".7821"), ("1 or more", one, "3.3635", ".9665")):
        yield Claim.printed("T A", f"log odds of a grade of {what}", odds, float(np.log(reached / (1 - reached))))
        yield Claim.printed("T A", f"probability of {what}", chance, reached)
    likely = model.ordinal.probabilities(x)[0]
    for grade, printed in ((1, ".1844"), (0, ".0335")):
        yield Claim.around(
            "T A", f"probability of {grade}", printed, float(likely[grade]), 0.0001, basis="rounding", why=_FOUR_DIGITS
        )
    mean, spread = (float(value[0]) for value in model.ordinal.moments(x, 2 * np.array(model.levels)))
    yield Claim.around("T A", "expectation", "1.7486", mean, 0.0002, basis="rounding", why=_FOUR_DIGITS)
    yield Claim(
        "T A",
        "expectation, as it stands in the line for the variance",
        "1.6577",
        mean,
        near("1.7486", 0.0002, "rounding", "the expectation that the thesis prints before, and rounding of its terms"),
        _SLIP,
    )
    yield Claim.around("T A", "variance", ".2552", spread, 0.0002, basis="rounding", why=_FOUR_DIGITS)


def _recall() -> Iterator[Claim]:
    """L10 Table 1: ground truth <(A, B), (C), (D, E, F)>, retrieved <B, C, A, G, H, D>."""
    from adjudge.formats.reading import read
    from adjudge.groundtruth.comparing import effectiveness_by_lists
    from adjudge.groundtruth.lists import PartialLists

    lists = PartialLists.from_groups({"q": [["A", "B"], ["C"], ["D", "E", "F"]]})
    runs = read({"system": {"q": list("BCAGHD")}})
    sums = [0.0]
    sums += [k * float(effectiveness_by_lists(lists, runs, measure=f"ADR@{k}").matrix()[0, 0]) for k in range(1, 7)]
    correct, recalls = ("1", "1", "3", "3", "3", "4"), ("1", ".5", "1", ".75", ".6", ".667")
    for k, (recall, hits, printed) in enumerate(zip(np.diff(sums), correct, recalls, strict=True), 1):
        yield Claim.printed("L10 Table 1", f"correct documents at position {k}", hits, float(recall) * k)
        yield Claim.printed("L10 Table 1", f"recall at position {k}", printed, float(recall))
    yield Claim.printed("L10 Table 1", "average dynamic recall", ".753", sums[-1] / 6)


def _consistency() -> Iterator[Claim]:
    """L10 Table 2: the list of Table 1, if A and C were alike, and D and F were not."""
    from adjudge.groundtruth.evidence import Evidence, expansion_scores, list_consistency

    names, group = "ABCDEF", np.array([0, 0, 1, 2, 2, 2])
    p = np.where(np.triu(np.ones((6, 6)), 1) > 0, 0.01, 0.99)
    for i, j in ((0, 1), (0, 2), (3, 4), (4, 5)):
        p[i, j] = p[j, i] = 0.5
    nothing = np.zeros(6)
    evidence = Evidence("q", tuple(names), p, ~np.eye(6, dtype=np.bool_), nothing, nothing, nothing, nothing)
    ends = np.searchsorted(group, group, side="right") - 1
    scores = expansion_scores(evidence, 0.25, 1)
    for place, printed in enumerate((".5", "1", "1", ".8", "1")):
        ours = float(scores[place, ends[place]])
        yield Claim.printed("L10 Table 2", f"share of correct expansions at position {place + 1}", printed, ours)
    ours = list_consistency(evidence, group, alpha=0.25, tails=1)
    yield Claim.printed("L10 Table 2", "consistency of the list", ".86", ours)


def _threshold() -> Iterator[Claim]:
    """M12 section 4: the difference that a one-sided t test of 100 queries detects with power .85."""
    from adjudge.stats.power import detectable_difference

    ours = float(detectable_difference(0.248, 100, alpha=0.05, power=0.85, alternative="greater"))
    yield Claim("M12 5", "threshold by power analysis", ".067", ours, independent(".066955", ANOTHER))


def _errors() -> Iterator[Claim]:
    """P11 6 and thesis 9.2: at least one wrong result among several tests."""
    from scipy.stats import binom

    for source, tests, alpha, printed in (
        ("P11 6", 105, 0.05, ".995"),
        ("P11 6", 14, 0.05, ".512"),
        ("P11 6.1", 105, 0.01, ".652"),
        ("P11 6.1", 14, 0.01, ".131"),
        ("T 9.2", 100, 0.05, "99.4 %"),
    ):
        what = f"probability of at least one Type I error in {tests} tests at {alpha:g}"
        yield Claim.printed(source, what, printed, float(binom.sf(0, tests, alpha)))


def _effort() -> Iterator[Claim]:
    """Thesis 1.4, 5.3 and 6.3: what Table 1.1 adds up to."""
    a_system = {year: judgments / systems for year, systems, _, judgments in _EDITIONS}
    pairs = {year: systems * (systems - 1) // 2 for year, systems, _, _ in _EDITIONS}
    usual = float(np.mean([value for year, value in a_system.items() if year != 2012]))
    compared = sum(pairs[year] for year in (2007, 2009, 2010, 2011))
    yield Claim.printed("T 1.4", "systems in all editions", "69", sum(systems for _, systems, _, _ in _EDITIONS))
    yield Claim.printed("T 5.3", "pairs of systems in 2007, 2009, 2010 and 2011", "352", compared)
    yield Claim.printed("T 5.3", "pairs of p-values of a test over 300 trials", "105,600", 300 * compared)
    yield Claim.printed("T 5.3", "the same for 14 measures and scales", "1,478,400", 14 * 300 * compared)
    yield Claim.printed("T 6.3", "judgments a system in 2012", "262", a_system[2012])
    yield Claim.printed("T 6.3", "judgments a system in the other editions, on average", "363", usual)
    yield Claim.printed("T 6.3", "cost of 2012 by that", "72 %", a_system[2012] / usual)
    yield Claim.printed("T 6.3", "judgments a query in 2012", "52", 2622 / 50)
    yield Claim.printed("T 6.3", "judgments a query in 2012 with five documents a list", "31", 1542 / 50)
    yield Claim.printed("T 6.3", "how many more ten documents a list are", "70 %", 2622 / 1542 - 1)
