"""The page on statistics: tests, corrections, intervals, effect sizes, agreement and variance."""

from __future__ import annotations

from typing import get_args

from scripts.docs.reference_chapters import Chapter, Page, Told, by_docstring, by_line
from scripts.docs.reference_words import paragraphs, prose

from adjudge.checks import Alternative
from adjudge.stats import agreement_coefficients, effects, intervals
from adjudge.stats.gtheory import gstudy
from adjudge.stats.multiple import CORRECTIONS, FAMILYWISE_TESTS, Correction, Familywise, friedman
from adjudge.stats.paired import PAIRED_TESTS, Definition

_RESAMPLES = "`--resamples` and `--seed` (`resamples=`, `seed=`)"
_EXACT = "computed, not drawn: the same every time"


def _test(test: Definition) -> Told:
    scheme = test.resampling
    drawn = "Monte-Carlo, with its standard error" if scheme else _EXACT
    few = "; exact for few queries, where every possibility is tried" if scheme and scheme.exhaustive else ""
    options = [_RESAMPLES] * test.resampled + [
        "`min_difference=` of `paired_tests`, `sign(min_difference=0.01)` in experiments"
    ] * test.thresholded
    facts = (
        ("Takes for granted until shown otherwise", prose(test.hypothesis)),
        ("p-value", drawn + few),
        ("Sides", ", ".join(get_args(Alternative)) + " (`--alternative`, `alternative=`)"),
        ("Options", ", ".join(options) or "none"),
        ("Reference", prose(test.reference)),
    )
    return _without_repeats(by_line(test.title, test.function, facts), test.reference)


def _familywise(test: Familywise) -> Told:
    facts = (
        ("p-value", "Monte-Carlo, with its standard error" if test.resampled else _EXACT),
        ("Sides", "two-sided"),
        ("Options", _RESAMPLES if test.resampled else "none"),
        ("Reference", prose(test.reference)),
    )
    told = by_docstring(test.function, facts)
    return _without_repeats(Told(f"**{test.title}.** {told.line}", told.more, facts), test.reference)


def _correction(correction: Correction) -> Told:
    facts = (("Keeps", prose(correction.controls)), ("Reference", prose(correction.reference)))
    told = by_docstring(correction.function, facts)
    return _without_repeats(Told(f"**{correction.title}.** {told.line}", told.more, facts), correction.reference)


def _without_repeats(told: Told, reference: str) -> Told:
    """Docstrings end with their reference, which the facts give already; others stay."""
    start = prose(reference)[:20]
    return Told(told.line, tuple(part for part in told.more if not (start and part.startswith(start))), told.facts)


TESTS = Page(
    "Tests, intervals and effect sizes",
    """
Whether a difference between systems is more than the luck of the queries.
[`adjudge compare`](commands.md#adjudge-compare) and [`adjudge.compare`](python.md#compare) take a test and a correction
by their names here: `--test bootstrap --correction bh`, `test="bootstrap", correction="bh"`. Which to choose:
[comparing systems](../guides/comparing.md). How often each is wrong: [experiments](../guides/experiments.md), where a
procedure is written in one word, `wilcoxon-1+holm@0.01`: the test, `-1` when one-sided, a correction, a level.

Made from the registries of `adjudge.stats`, with their docstrings.
""",
    (
        Chapter(
            "Paired tests",
            """
Each pair of systems on the queries that both have. No test answers NaN or 0: systems with the same effectiveness on
every query have p = 1, and a difference too small to be told from rounding counts as none. The p-values are those of
single tests; a correction below allows for their number.
""",
            PAIRED_TESTS,
            _test,
        ),
        Chapter(
            "Tests of all pairs at once",
            """
They allow for the number of pairs themselves, so that no correction is applied on top. They need a value of every
system for every query; queries that any system lacks are left out.
""",
            FAMILYWISE_TESTS,
            _familywise,
        ),
        Chapter(
            "Corrections for many comparisons",
            """
An adjusted p-value is compared with the same level as before. Two-sided, the family is each pair once; one-sided, each
pair in both directions; with a baseline, the pairs with it.
""",
            CORRECTIONS,
            _correction,
        ),
        Chapter(
            "Whether any system differs",
            "Friedman's test of all systems together, from which `friedman-tukey` goes on to pairs.",
            {"friedman": friedman},
            by_docstring,
        ),
        Chapter(
            "Intervals",
            "Of means and of differences of means (`--interval`, `interval=`), and of shares of queries (P(Succ), "
            "superiority).",
            {
                "t": intervals.t_interval,
                "percentile, bca": intervals.bootstrap_interval,
                "Wilson": intervals.wilson_interval,
            },
            by_docstring,
        ),
        Chapter(
            "Effect sizes and equivalence",
            "Beside every p-value; `--margin` says which difference matters, by default what users notice.",
            {"effect sizes": effects.effect_sizes, "equivalence": effects.equivalence},
            by_docstring,
        ),
        Chapter(
            "Agreement between assessors",
            "What [`adjudge.agreement`](python.md#agreement) and campaigns report. "
            + paragraphs(agreement_coefficients)[2],
            {
                "Krippendorff's alpha": agreement_coefficients.krippendorff_alpha,
                "Fleiss' kappa": agreement_coefficients.fleiss_kappa,
                "Cohen's kappa": agreement_coefficients.cohen_kappa,
            },
            by_docstring,
        ),
        Chapter(
            "Variance: designs of a G-study",
            "What [`adjudge plan`](commands.md#adjudge-plan) and [`adjudge.gstudy`](python.md#gstudy) estimate; see "
            "[planning](../guides/planning.md).",
            {"G-study": gstudy.gstudy},
            by_docstring,
        ),
    ),
)
