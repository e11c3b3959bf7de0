"""What the errors of tests mean, in plain language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adjudge.experiments.error_findings import Detection, ErrorFindings, TypeOne
from adjudge.experiments.error_rates import Errors
from adjudge.experiments.procedures import Procedure
from adjudge.experiments.words import listed, share, share_with
from adjudge.stats.multiple import FAMILYWISE_TESTS

_USUAL = 50  # queries of a usual collection
_ABOUT_RANKS = {
    "wilcoxon": "differences symmetric around 0 (the hypothesis of the wilcoxon test)",
    "sign": "positive differences as frequent as negative ones (that of the sign test)",
}
_MOST_SAMPLES = 4  # that sentences go through; tables have them all


def usual_size(sizes: Sequence[int]) -> int:
    """The size that sentences speak of: 50 queries, or the nearest to it.

    >>> usual_size([25, 50, 100]), usual_size([10, 30])
    (50, 30)
    """
    return min(sizes, key=lambda size: (abs(size - _USUAL), size))


def sentences(findings: ErrorFindings) -> list[str]:
    """The conclusion by sample at the usual size, then what the numbers are and are not."""
    spec = findings.spec
    size = usual_size(spec.sizes)
    found = []
    for sample in findings.samples.names[:_MOST_SAMPLES]:
        for alpha in dict.fromkeys(one.alpha for one in spec.procedures):
            found += _of_sample(findings, sample, size, alpha)
    found += [_null_in_words(spec.null), _verdicts_in_words(findings), *_about_ranks(findings)]
    if any(one.one_sided for one in spec.procedures):
        found.append(
            "One-sided tests here take the direction from the data, as people do who test whether the better system is "
            "better; that doubles their Type I error, and the same test with two sides at twice the level is no other."
        )
    found.append(
        "The rate of conflicts between two halves of the queries is no Type I error rate: most of those pairs do "
        "differ, so that a conflict is rare whatever the test, and it stays below α also for a test that rejects true "
        "null hypotheses too often. It is nearer to the Type III error, which is counted here from the known truth."
    )
    return found


def _of_sample(findings: ErrorFindings, sample: str, size: int, alpha: float) -> list[str]:
    own = [one for one in findings.spec.procedures if one.alpha == alpha]
    names = [one.name for one in own]

    def here(one: TypeOne | Detection) -> bool:
        return one.sample == sample and one.n_queries == size and one.procedure in names

    errors = [one for one in findings.type_one([alpha]) if here(one)]
    detected = {one.procedure: one for one in findings.detection(alpha) if here(one)}
    return [
        _rejections(errors, size, findings.spec.null),
        _promises(errors, findings.spec),
        *_powers(findings, errors, detected, alpha),
        *_directions(detected),
        _families(findings, errors, own),
    ]


def _rejections(errors: Sequence[TypeOne], size: int, null: str) -> str:
    parts = "; ".join(f"{_test(one.procedure)} in {share_with(one.rate, one.low, one.high)}" for one in errors)
    what = "a true null hypothesis" if null == "exchangeable" else "a true null hypothesis about means"
    where = f"At α = {errors[0].alpha:g} with {size} queries by {errors[0].sample}"
    return f"{where}, {what} is rejected by {parts} of cases."


def _test(name: str) -> str:
    """A procedure with its article: the t-test, the wilcoxon test, t+holm as it is written."""
    if "+" in name or name.endswith("-1"):
        return name
    return "the t-test" if name == "t" else f"the {name} test"


def _promises(errors: Sequence[TypeOne], spec: Errors) -> str:
    by_verdict = {
        "as promised": "{} as often as promised, as far as these trials tell",
        "conservative": "{} less often than promised (conservative)",
        "liberal": "{} more often than promised (liberal)",
    }
    parts = []
    for verdict, words in by_verdict.items():
        names = [_test(one.procedure) for one in errors if one.verdict == verdict]
        if names:
            parts.append(words.format(f"{listed(names)} {'reject' if len(names) > 1 else 'rejects'}"))
    ranks = [_test(one.name) for one in _of_ranks(spec) if one.name in {error.procedure for error in errors}]
    if parts and ranks and spec.null != "exchangeable":
        parts.append(f"of {listed(ranks)} that would be a promise about means, which {_its(ranks)} not make")
    return (_capital("; ".join(parts)) if parts else "No test could be judged") + "."


def _its(names: Sequence[str]) -> str:
    return "they do" if len(names) > 1 else "it does"


def _of_ranks(spec: Errors) -> list[Procedure]:
    return [one for one in spec.procedures if one.test in _ABOUT_RANKS]


def _powers(
    findings: ErrorFindings, errors: Sequence[TypeOne], detected: dict[str, Detection], alpha: float
) -> list[str]:
    kept = [one for one in errors if one.verdict in ("as promised", "conservative") and one.procedure in detected]
    if not detected:
        return []
    sample, size = errors[0].sample, errors[0].n_queries
    said = ["All tests reject too often, so that none is called the most powerful at its level."]
    if kept:
        names = [one.procedure for one in kept]
        first = findings.leaders(sample, size, names, alpha)
        powers = {name: (one.power, one.power_low, one.power_high) for name, one in detected.items()}
        said = [f"Among those that are not seen to reject too often, {_finding_most(first, names, powers)}."]
    fair = {
        one.procedure: (one.power, one.low, one.high)
        for one in findings.adjusted_power(alpha)
        if (one.sample, one.n_queries) == (sample, size) and one.procedure in detected
    }
    alone = [one.name for one in findings.spec.procedures if one.name in fair and not _of_family(one)] or list(fair)
    held = findings.leaders(sample, size, alone, alpha, adjusted=True)
    return [*said, f"With all tests held to the same actual Type I error, {_finding_most(held, alone, fair)}."]


def _finding_most(
    leaders: Sequence[str], among: Sequence[str], powers: Mapping[str, tuple[float, float, float]]
) -> str:
    """Who finds most of the true differences, or that it cannot be told."""
    if len(leaders) == 1:
        text = f"{_test(leaders[0])} finds most of the true differences: {share_with(*powers[leaders[0]])}"
        others = sorted((name for name in among if name != leaders[0]), key=lambda name: -powers[name][0])
        return f"{text}, next {_test(others[0])} with {share(powers[others[0]][0])}" if others else text
    shares = listed([share_with(*powers[name]) for name in leaders])
    return (
        f"{listed([_test(name) for name in leaders])} find most of the true differences, too close to one another "
        f"to tell which finds more: {shares}"
    )


def _of_family(one: Procedure) -> bool:
    """Whether it looks at all pairs at once, so that its errors in one comparison are not what it promises."""
    return one.correction != "none" or one.test in FAMILYWISE_TESTS


def _directions(detected: dict[str, Detection]) -> list[str]:
    if not detected:
        return []
    parts = "; ".join(
        f"{_test(name)} {share_with(one.wrong, one.wrong_low, one.wrong_high)}"
        if one.power > 0
        else f"{_test(name)} has none that is significant"
        for name, one in detected.items()
    )
    return [f"Of the significant differences this many point the wrong way (Type III errors): {parts}."]


def _families(findings: ErrorFindings, errors: Sequence[TypeOne], own: Sequence[Procedure]) -> str:
    sample = next(one for one in findings.samples if one.name == errors[0].sample)
    n = min(len(sample.systems), findings.spec.systems)
    parts = "; ".join(
        f"{_test(one.name)} {share_with(error.any_rate, error.any_low, error.any_high)}"
        for one, error in zip(own, errors, strict=True)
    )
    return (
        f"Where {n} systems are all equal, at least one of the {n * (n - 1) // 2} comparisons is significant in this "
        f"share of the collections: {parts}."
    )


def _about_ranks(findings: ErrorFindings) -> list[str]:
    """What tests about ranks or signs are asked where only means are equal, and how far from their hypothesis it is."""
    ranks = _of_ranks(findings.spec)
    if not ranks or findings.spec.null == "exchangeable":
        return []
    measured = "; ".join(
        f"by {name} typically {share(one.typical)}, at most {share(one.largest)}"
        for name, one in list(findings.asymmetries.items())[:_MOST_SAMPLES]
    )
    hypotheses = listed([_ABOUT_RANKS[test] for test in dict.fromkeys(one.test for one in ranks)])
    return [
        f"Equal means do not make {hypotheses}. One of two null systems is better on more queries than the other: the "
        f"share of queries on which it is better less that on which it is worse is {measured}. What these tests reject "
        "beyond α because of that is no malfunction: they find a difference that is there, and the error is to read it "
        "as one of means. They do so the more often the more queries there are; how often is also the luck of the one "
        "collection that was fitted."
    ]


def _null_in_words(null: str) -> str:
    made = {
        "exchangeable": "all systems have the distribution of one of them, drawn anew each trial, and values are "
        "shuffled among them on every query, so that nothing tells one from another: the hypothesis under which all "
        "these tests promise their level. Pairs depend on one another as strongly as pairs in the data do on average",
        "margins": "all systems have the distribution of one of them, drawn anew each trial, and depend on one another "
        "as in the data, so that means are equal",
        "means": "each system keeps its own distribution, bent as little as can be until all means are equal",
    }
    return f"In null collections {made[null]}. Intervals are of the trials (95 %), not of having one collection to fit."


def _verdicts_in_words(findings: ErrorFindings) -> str:
    n = findings.n_verdicts
    at_once = f"for all {n} verdicts of this experiment at once" if n > 1 else "for this verdict"
    return (
        f"A test is called liberal or conservative only where a wider interval, which holds {at_once}, lies above or "
        "below α: in at most 5 of 100 experiments is any test called so that keeps its level."
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
