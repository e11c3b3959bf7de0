"""What is done to say that systems differ: a test of all pairs, in one tail or two, corrected or not, at a level.

A procedure is written as its test, its parameters in brackets, ``-1`` when one-sided, ``+`` and a correction, ``@`` and
a level::

    t    wilcoxon-1@0.01    bootstrap+holm@0.05    friedman-tukey    sign(min_difference=0.01)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from adjudge.arrays import Floats
from adjudge.checks import ALPHA, NOT_NEGATIVE
from adjudge.errors import AdjudgeError, shown, unknown
from adjudge.stats.matrices import ROUNDING
from adjudge.stats.multiple import CORRECTIONS, FAMILYWISE_TESTS, adjust
from adjudge.stats.paired import PAIRED_TESTS, How, Outcome, PairedTests, check_min_difference, resampled_tests

DEFAULT_ALPHA = 0.05
FIVE_TESTS = ("t", "wilcoxon", "sign", "bootstrap", "permutation")
"""The tests of chapter 5 of the thesis, in its order."""
_WRITTEN = re.compile(
    r"(?P<test>[a-z-]*?[a-z])(?:\((?P<parameters>[^()]*)\))?(?P<tails>-1)?"
    r"(?:\+(?P<correction>[a-z]+))?(?:@(?P<alpha>[^@+]+))?"
)


@dataclass(frozen=True)
class Procedure:
    """A test of all pairs of systems; ``alpha`` is the level at which it calls a difference significant.

    ``min_difference`` is for the sign test: queries on which systems differ by no more count as ties.
    """

    test: str
    one_sided: bool = False
    correction: str = "none"
    alpha: float = DEFAULT_ALPHA
    min_difference: float = 0.0

    def __post_init__(self) -> None:
        if self.test not in PAIRED_TESTS and self.test not in FAMILYWISE_TESTS:
            raise unknown("test", self.test, [*PAIRED_TESTS, *FAMILYWISE_TESTS])
        CORRECTIONS[self.correction]
        if self.test in FAMILYWISE_TESTS and (self.one_sided or self.correction != "none"):
            raise AdjudgeError(f"{self.name}: {self.test} is two-sided and corrects for all pairs itself")
        if self.test in PAIRED_TESTS:
            check_min_difference(self.test, self.min_difference)
        elif self.min_difference:
            raise AdjudgeError(f"{self.test}: takes no 'min_difference'")
        ALPHA.check("alpha", self.alpha, where=f"{self.name}: ")

    @property
    def name(self) -> str:
        """The procedure without its level: what its p-values are called."""
        least = f"(min_difference={self.min_difference})" if self.min_difference else ""
        corrected = "" if self.correction == "none" else f"+{self.correction}"
        return f"{self.test}{least}{'-1' if self.one_sided else ''}{corrected}"

    @property
    def resampled(self) -> bool:
        """Whether it draws at random."""
        member = PAIRED_TESTS[self.test] if self.test in PAIRED_TESTS else FAMILYWISE_TESTS[self.test]
        return member.resampled

    def __str__(self) -> str:
        return self.name if self.alpha == DEFAULT_ALPHA else f"{self.name}@{self.alpha:g}"


def parse_procedure(text: str | Procedure) -> Procedure:
    """Read a procedure as it is written.

    >>> parse_procedure("wilcoxon-1@0.01")
    Procedure(test='wilcoxon', one_sided=True, correction='none', alpha=0.01, min_difference=0.0)
    >>> print(parse_procedure("bootstrap+holm"), parse_procedure("sign(min_difference=0.01)"))
    bootstrap+holm sign(min_difference=0.01)
    """
    if isinstance(text, Procedure):
        return text
    written = _WRITTEN.fullmatch(text.strip())
    if written is None:
        known = "t, wilcoxon-1@0.01, bootstrap+holm or sign(min_difference=0.01)"
        raise AdjudgeError(f"expected a test such as {known}, got {shown(text)}")
    level = written["alpha"]
    try:
        alpha = DEFAULT_ALPHA if level is None else float(level)
    except ValueError:
        raise AdjudgeError(f"{text}: expected a level such as 0.01 after the @, got {shown(level)}") from None
    least = _min_difference(written["test"], written["parameters"])
    return Procedure(written["test"], written["tails"] is not None, written["correction"] or "none", alpha, least)


def _min_difference(test: str, parameters: str | None) -> float:
    """The only parameter that any test has; 0 where there are no brackets."""
    if parameters is None:
        return 0.0
    name, _, value = (part.strip() for part in parameters.partition("="))
    if name != "min_difference":
        raise AdjudgeError(f"{test}: expected a parameter such as min_difference=0.01 in brackets, got {shown(name)}")
    return float(NOT_NEGATIVE.read("min_difference", value, where=f"{test}: "))


def parse_procedures(texts: Sequence[str | Procedure]) -> tuple[Procedure, ...]:
    """Read several, each p-value once: the same test at two levels is refused, as its p-values are the same."""
    found = tuple(parse_procedure(text) for text in texts)
    names = [one.name for one in found]
    if not found:
        raise AdjudgeError("expected at least one test, got none")
    if len(set(names)) < len(names):
        raise AdjudgeError(
            f"expected each test once, got {max(names, key=names.count)!r} twice: p-values are kept, and "
            "'adjudge experiment show FOLDER --alpha' has other levels without another run"
        )
    return found


@dataclass(frozen=True)
class PairsTested:
    """Pairs of one matrix, in the order of ``triu_indices``: mean of the first less the second, and p by procedure."""

    difference: Floats
    p: dict[str, Floats]


def run_procedures(
    matrices: Sequence[Floats], procedures: Sequence[Procedure], *, resamples: int, seed: int, gpu: bool = False
) -> list[PairsTested]:
    """Run all procedures on all pairs of systems of every matrix (queries x systems, without gaps).

    Resamples are drawn once for all matrices with as many queries; on a ``gpu`` they are others, of the same
    distribution. A one-sided p-value is that of the better system being better: the one with the higher mean. With
    a correction, its family has every pair in both directions, since nobody knew before which of the two is better.

    >>> matrix = np.array([[0.5, 0.3], [0.6, 0.5], [0.9, 0.6]])
    >>> run_procedures([matrix], parse_procedures(["sign", "sign-1"]), resamples=1000, seed=0)[0].p
    {'sign': array([0.25]), 'sign-1': array([0.125])}
    """
    found = [PairsTested(_differences(values), {}) for values in matrices]
    for asked in dict.fromkeys((one.test, one.one_sided, one.min_difference) for one in procedures):
        test, one_sided, least = asked
        how = How("greater" if one_sided else "two-sided", resamples, seed, least)
        results = _tests(matrices, test, how, gpu)
        for one in procedures:
            if (one.test, one.one_sided, one.min_difference) == asked:
                for tested, result in zip(found, results, strict=True):
                    tested.p[one.name] = _of_pairs(tested.difference, result, one)
    return found


def _differences(values: Floats) -> Floats:
    means: Floats = values.mean(axis=0)
    a, b = np.triu_indices(len(means), 1)
    differences: Floats = means[a] - means[b]
    differences[np.abs(differences) <= ROUNDING * np.abs(values).max()] = 0.0
    return differences


def _tests(matrices: Sequence[Floats], test: str, how: How, gpu: bool) -> list[PairedTests]:
    """One test of every matrix, with draws in common where there are any."""
    if test in FAMILYWISE_TESTS:
        member = FAMILYWISE_TESTS[test]
        options = {"resamples": how.resamples, "seed": how.seed} if member.resampled else {}
        return [member.function(values, **options) for values in matrices]
    definition = PAIRED_TESTS[test]
    if definition.resampling is None:
        outcomes = [definition.function(values, how) for values in matrices]
    elif gpu:
        from adjudge.experiments.gpu import resampled_tests_on_gpu

        outcomes = resampled_tests_on_gpu(matrices, how, definition.resampling)
    else:
        outcomes = resampled_tests(matrices, how, definition.resampling)
    return [_as_tests(test, how, values, one) for values, one in zip(matrices, outcomes, strict=True)]


def _as_tests(test: str, how: How, values: Floats, outcome: Outcome) -> PairedTests:
    names = tuple(map(str, range(values.shape[1])))
    n = np.full(outcome.p.shape, len(values), dtype=np.int64)
    return PairedTests(test, how.alternative, names, outcome.p, outcome.error, outcome.statistic, n)


def _of_pairs(difference: Floats, tests: PairedTests, procedure: Procedure) -> Floats:
    """P of each pair, corrected where asked for; one-sided, of the better system being better."""
    corrected = tests if procedure.correction == "none" else adjust(tests, correction=procedure.correction)
    a, b = np.triu_indices(len(tests.systems), 1)
    p: Floats = np.where(difference < 0, corrected.p[b, a], corrected.p[a, b])
    return p
