"""What the errors of tests mean, in plain language."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from adjudge.experiments.error_findings import Detection, ErrorFindings, TypeOne
from adjudge.experiments.procedures import Procedure
from adjudge.stats.multiple import FAMILYWISE_TESTS

_USUAL = 50  # queries of a usual collection
_SURE = 1.96  # errors by which one test must be ahead of another to be called more powerful
_ABOUT_RANKS = ("wilcoxon", "sign")
_MOST_SAMPLES = 4  # that sentences go through; tables have them all


def share(value: float) -> str:
    """A share in per cent, with digits enough to see it.

    >>> share(0.0491), share(0.0049), share(0.00012), share(float("nan"))
    ('4.9 %', '0.49 %', '0.012 %', 'unknown')
    """
    return "unknown" if isnan(value) else f"{_number(value)} %"


def share_with(value: float, low: float, high: float) -> str:
    """A share in per cent with its interval.

    >>> share_with(0.0491, 0.046, 0.0522)
    '4.9 % [4.6, 5.2]'
    """
    return "unknown" if isnan(value) else f"{_number(value)} % [{_number(low)}, {_number(high)}]"


def _number(value: float) -> str:
    per_cent = 100 * value
    digits = 1 if per_cent >= 1 or per_cent == 0 else 2 if per_cent >= 0.1 else 3
    return f"{per_cent:.{digits}f}"


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
    found.append(_null_in_words(spec.null))
    if spec.dependence == "empirical" and any(one.test in _ABOUT_RANKS for one in spec.procedures):
        found.append(
            "With the empirical dependence, systems of equal means may still be ahead of one another on unequal "
            "numbers of queries, as they happened to be in the data. Tests about ranks or signs notice that, the more "
            "so the more queries there are: what they reject beyond α is partly the luck of the one collection "
            "that was fitted. With the gaussian dependence systems with the same distribution differ symmetrically."
        )
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
        _rejections(errors, sample, size, alpha),
        _promises(errors),
        *_powers(findings, errors, detected, alpha),
        *_directions(detected),
        _families(findings, errors, own),
    ]


def _rejections(errors: Sequence[TypeOne], sample: str, size: int, alpha: float) -> str:
    listed = "; ".join(f"{_test(one.procedure)} in {share_with(one.rate, one.low, one.high)}" for one in errors)
    return f"At α = {alpha:g} with {size} queries by {sample}, a true null hypothesis is rejected by {listed} of cases."


def _test(name: str) -> str:
    """A procedure with its article: the t-test, the wilcoxon test, t+holm as it is written."""
    if "+" in name or name.endswith("-1"):
        return name
    return "the t-test" if name == "t" else f"the {name} test"


def _promises(errors: Sequence[TypeOne]) -> str:
    by_verdict = {
        "as promised": "{} as often as promised (the interval contains α)",
        "conservative": "{} less often than promised (conservative)",
        "liberal": "{} more often than promised (liberal)",
    }
    parts = []
    for verdict, words in by_verdict.items():
        names = [_test(one.procedure) for one in errors if one.verdict == verdict]
        if names:
            parts.append(words.format(f"{_and(names)} {'reject' if len(names) > 1 else 'rejects'}"))
    return (_capital("; ".join(parts)) if parts else "No test could be judged") + "."


def _powers(
    findings: ErrorFindings, errors: Sequence[TypeOne], detected: dict[str, Detection], alpha: float
) -> list[str]:
    kept = [one for one in errors if one.verdict in ("as promised", "conservative") and one.procedure in detected]
    if not kept:
        return ["No test keeps its promise, so that none is called the most powerful; see the size-adjusted power."]
    ranked = sorted(kept, key=lambda one: -detected[one.procedure].power)
    best = detected[ranked[0].procedure]
    level = [
        one.procedure
        for one in ranked[1:]
        if _close(findings.advantage(best.sample, best.n_queries, best.procedure, one.procedure, alpha))
    ]
    text = f"Among those that keep the promise, {_test(best.procedure)} finds most of the true differences: "
    text += f"{share_with(best.power, best.power_low, best.power_high)} are significant"
    if level:
        text += f", too close to {_and([_test(name) for name in level])} to tell them apart"
    alone = {one.name for one in findings.spec.procedures if not _of_family(one)} or set(detected)
    fair = [
        one
        for one in findings.adjusted_power(alpha)
        if one.sample == best.sample and one.n_queries == best.n_queries and one.procedure in alone & set(detected)
    ]
    if not fair:
        return [f"{text}."]
    top = max(fair, key=lambda one: one.power)
    return [
        f"{text}. With all tests held to the same actual Type I error, {_test(top.procedure)} finds most: "
        f"{share(top.power)}."
    ]


def _of_family(one: Procedure) -> bool:
    """Whether it looks at all pairs at once, so that its errors in one comparison are not what it promises."""
    return one.correction != "none" or one.test in FAMILYWISE_TESTS


def _close(advantage: tuple[float, float]) -> bool:
    return advantage[0] <= _SURE * advantage[1]


def _directions(detected: dict[str, Detection]) -> list[str]:
    if not detected:
        return []
    listed = "; ".join(
        f"{_test(name)} {share_with(one.wrong, one.wrong_low, one.wrong_high)}" for name, one in detected.items()
    )
    return [f"Of the significant differences this many point the wrong way (Type III errors): {listed}."]


def _families(findings: ErrorFindings, errors: Sequence[TypeOne], own: Sequence[Procedure]) -> str:
    sample = next(one for one in findings.samples if one.name == errors[0].sample)
    n = min(len(sample.systems), findings.spec.systems)
    listed = "; ".join(
        f"{_test(one.name)} {share_with(error.any_rate, error.any_low, error.any_high)}"
        for one, error in zip(own, errors, strict=True)
    )
    return (
        f"Where {n} systems are all equal, at least one of the {n * (n - 1) // 2} comparisons is significant in this "
        f"share of the collections: {listed}."
    )


def _null_in_words(null: str) -> str:
    made = {
        "margins": "all systems have the distribution of one of them, drawn anew each trial, and depend on one another "
        "as in the data",
        "means": "each system keeps the shape of its own distribution and only the means agree, so that tests about "
        "ranks or signs are held to a hypothesis about means that is not theirs",
    }
    return f"In null collections {made[null]}. Intervals are of the trials (95 %), not of having one collection to fit."


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
