"""Compare systems as their users would: how large a difference is, how sure, and whether anyone would notice.

Statistically significant and practically noticeable are two answers to two questions. A difference is *significant*
when its corrected p-value is at most α; *noticeable* when it is at least as large as the difference that makes most
users prefer the better system. Between them stands equivalence: the data may show that a difference is too small to
notice, which is more than failing to show that there is one.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.errors import AdjudgeError, AdjudgeWarning, unknown
from adjudge.model.effectiveness import Effectiveness
from adjudge.model.provenance import Provenance
from adjudge.stats.effects import Effects, effect_sizes
from adjudge.stats.equivalence import Verdict, equivalence
from adjudge.stats.multiple import CORRECTIONS, FAMILYWISE_TESTS
from adjudge.stats.paired import PAIRED_TESTS, Alternative, PairedTests, paired_tests
from adjudge.users.agreement import AgreementMapping, find_agreement, noticeable_difference
from adjudge.users.combinations import scale_of

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Pair:
    """Two systems, the one with the higher mean first.

    ``prefer`` and ``prefer_other`` are the shares of users who would prefer the first and the second system for a
    query like these, ``cannot_tell`` the rest; None without a mapping from differences to users.
    """

    system: str
    other: str
    difference: float
    low: float
    high: float
    p: float
    p_corrected: float
    p_error: float
    significant: bool
    noticeable: bool | None
    verdict: str | None
    p_equivalence: float | None
    smallest_significant: float
    d_z: float
    superiority: float
    prefer: float | None
    cannot_tell: float | None
    prefer_other: float | None
    n_queries: int

    @property
    def half_width(self) -> float:
        """What follows the ±."""
        return (self.high - self.low) / 2

    def sentence(self, measure: str, digits: int = 3) -> str:
        """The difference as the papers recommend to report it: ``ΔCG@5 = 0.037 ± 0.031 (p = 0.02)``."""
        margin = f" ± {self.half_width:.{digits}f}" if math.isfinite(self.half_width) else ""
        return f"Δ{measure} = {self.difference:.{digits}f}{margin} ({shown_p(self.p_corrected)})"


def shown_p(p: float) -> str:
    """A p-value to two significant digits.

    >>> shown_p(0.0213), shown_p(0.2), shown_p(0.00000002)
    ('p = 0.021', 'p = 0.2', 'p < 1e-06')
    """
    return "p < 1e-06" if p < 1e-6 else f"p = {p:.2g}"


@dataclass(frozen=True)
class Comparison:
    """All compared pairs under one measure, largest difference first, and what was asked of them."""

    measure: str
    pairs: tuple[Pair, ...]
    systems: tuple[str, ...]
    means: tuple[float, ...]
    test: str
    correction: str
    alternative: Alternative
    alpha: float
    confidence: float
    margin: float | None
    margin_source: str
    agreement: AgreementMapping | None
    resamples: int | None
    seed: int | None
    provenance: Provenance

    def __len__(self) -> int:
        return len(self.pairs)

    def of(self, system: str, other: str) -> Pair:
        """The pair of two systems, in either order."""
        for name in (system, other):
            if name not in self.systems:
                raise unknown("system", name, self.systems)
        for pair in self.pairs:
            if {pair.system, pair.other} == {system, other}:
                return pair
        raise AdjudgeError(f"{system!r} and {other!r} were not compared")

    @cached_property
    def parted(self) -> tuple[Pair, ...]:
        """Pairs where the two answers part ways: significant but not noticeable, or noticeable but not significant."""
        return tuple(pair for pair in self.pairs if pair.noticeable is not None and pair.significant != pair.noticeable)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Plain values, one row a pair."""
        return [asdict(pair) for pair in self.pairs]

    def to_polars(self) -> pl.DataFrame:
        """One row a pair."""
        import polars as pl

        return pl.DataFrame(self.to_dicts(), infer_schema_length=None)

    def __str__(self) -> str:
        width = max((len(f"{pair.system} > {pair.other}") for pair in self.pairs), default=0)
        lines = [f"{self.measure}: {len(self)} pairs, {self.test} test, {self.correction} correction"]
        for pair in self.pairs[:20]:
            marks = ["significant" if pair.significant else "not significant"]
            if pair.noticeable is not None:
                marks.append("noticeable" if pair.noticeable else "not noticeable")
            name = f"{pair.system} > {pair.other}"
            lines.append(f"{name:<{width}}  {pair.sentence(self.measure)}  {', '.join(marks)}")
        if len(self) > 20:
            lines.append(f"… and {len(self) - 20} more")
        return "\n".join(lines)


def compare(
    eff: Effectiveness,
    *,
    test: str = "permutation",
    correction: str = "holm",
    baseline: str | Iterable[str] | None = None,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
    confidence: float = 0.95,
    margin: float | None = None,
    mappings: Iterable[AgreementMapping] | None = None,
    resamples: int = 100_000,
    seed: int = 0,
) -> Comparison:
    """Compare all pairs of systems under one measure, or all with one or several baselines.

    ``test`` is a paired test (t, wilcoxon, sign, bootstrap, permutation), whose p-values are then corrected for the
    number of pairs, or a test of the whole family (friedman-tukey, tukey, randomised-tukey), which needs no
    correction. ``margin`` is the smallest difference that matters; when not given it is what most users notice, where
    that is known for the measure and scale.

    >>> import adjudge as aj
    >>> eff = aj.evaluate(aj.demo(), "CG@5")
    >>> print(aj.compare(eff, test="t").of("KLN2", "ZX1").sentence("CG@5"))
    ΔCG@5 = 0.470 ± 0.062 (p < 1e-06)
    """
    if len(eff.measures) != 1:
        raise AdjudgeError(f"compare takes one measure at a time, got {', '.join(eff.measures)}; name one: eff['…']")
    if not 0 < alpha < 1:
        raise AdjudgeError(f"'alpha' must be in (0, 1), got {alpha:g}")
    if len(eff.systems) < 2:
        raise AdjudgeError(f"compare needs at least two systems, got {len(eff.systems)}")
    matrix = eff.matrix()
    tests = _test(matrix, eff.systems, test=test, alternative=alternative, resamples=resamples, seed=seed)
    effects = effect_sizes(matrix, confidence=confidence, systems=eff.systems)
    first, second = _ordered_pairs(effects.difference, eff.systems, baseline)
    corrected, used = _corrected(tests, first, second, correction=correction, alpha=alpha)
    lookup = find_agreement(eff.measures[0], scale_of(eff), mappings=mappings)
    used_margin, source = _margin(margin, lookup.mapping, lookup.reason)
    verdicts = _verdicts(matrix, eff.systems, used_margin, alpha)
    pairs = [
        _pair(a, b, p, effects, tests, alpha, used_margin, verdicts, _preferences(matrix, a, b, lookup.mapping))
        for a, b, p in zip(first.tolist(), second.tolist(), corrected.tolist(), strict=True)
    ]
    means = np.nanmean(matrix, axis=0)
    return Comparison(
        eff.measures[0],
        tuple(sorted(pairs, key=lambda pair: -pair.difference)),
        eff.systems,
        tuple(means.tolist()),
        test,
        used,
        alternative,
        alpha,
        confidence,
        used_margin,
        source,
        lookup.mapping,
        tests.resamples,
        tests.seed,
        eff.provenance.with_settings(test=test, correction=used, alpha=alpha),
    )


def _test(
    matrix: Floats, systems: Sequence[str], *, test: str, alternative: Alternative, resamples: int, seed: int
) -> PairedTests:
    """p-values of all pairs, of a paired test or of a test of the family."""
    if test in FAMILYWISE_TESTS:
        if alternative != "two-sided":
            raise AdjudgeError(f"The test {test!r} is two-sided, got alternative={alternative!r}")
        member = FAMILYWISE_TESTS[test]
        options: dict[str, Any] = {"resamples": resamples, "seed": seed} if member.resampled else {}
        return member.function(matrix, systems=systems, **options)
    if test not in PAIRED_TESTS:
        raise unknown("test", test, [*PAIRED_TESTS, *FAMILYWISE_TESTS])
    return paired_tests(matrix, test=test, alternative=alternative, systems=systems, resamples=resamples, seed=seed)


def _ordered_pairs(
    difference: Floats, systems: Sequence[str], baseline: str | Iterable[str] | None
) -> tuple[Ints, Ints]:
    """Places of the compared systems, the one with the higher mean first; ties keep their order."""
    first, second = np.triu_indices(len(systems), 1)
    if baseline is not None:
        names = [baseline] if isinstance(baseline, str) else list(baseline)
        for name in names:
            if name not in systems:
                raise unknown("system", name, systems)
        chosen = np.isin(np.arange(len(systems)), [systems.index(name) for name in names])
        wanted = chosen[first] | chosen[second]
        first, second = first[wanted], second[wanted]
    swap = difference[first, second] < 0
    return np.where(swap, second, first), np.where(swap, first, second)


def _corrected(tests: PairedTests, first: Ints, second: Ints, *, correction: str, alpha: float) -> tuple[Floats, str]:
    """p-values of the compared pairs, corrected for their number."""
    p: Floats = tests.p[first, second]
    if tests.correction != "none":
        return p, tests.correction
    correct = CORRECTIONS[correction]
    if tests.resamples is not None:
        _warn_of_coarse_p(correct(np.full(len(p), 1 / (tests.resamples + 1))).min(), tests.resamples, alpha)
    return correct(p), correction


def _warn_of_coarse_p(least: float, resamples: int, alpha: float) -> None:
    """A Monte-Carlo p-value is never below 1 / (R + 1): with many pairs nothing may be able to become significant."""
    if least > alpha:
        warnings.warn(
            f"With {resamples:,} resamples no corrected p-value can be below {least:.2g}: nothing can be significant "
            f"at {alpha:g}. Ask for more resamples, or compare fewer pairs.",
            AdjudgeWarning,
            stacklevel=4,
        )


def _margin(given: float | None, mapping: AgreementMapping | None, reason: str | None) -> tuple[float | None, str]:
    if given is not None:
        if not 0 < given < math.inf:
            raise AdjudgeError(f"'margin' must be above 0, got {given:g}")
        return given, "given"
    if mapping is None:
        return None, reason or ""
    found = noticeable_difference(mapping)
    if found is None:
        return None, f"no difference in {mapping.measure} on {mapping.scale} makes most users prefer the better system"
    return found, f"most users prefer the better system from here on ({mapping.source})"


def _verdicts(
    matrix: Floats, systems: Sequence[str], margin: float | None, alpha: float
) -> tuple[np.ndarray[Any, Any], Floats] | None:
    if margin is None:
        return None
    result = equivalence(matrix, margin=margin, alpha=alpha, systems=systems)
    return result.verdicts, result.p


def _preferences(matrix: Floats, a: int, b: int, mapping: AgreementMapping | None) -> tuple[float, float, float] | None:
    """Shares of users who prefer a, cannot tell and prefer b, averaged over the queries that both have."""
    if mapping is None:
        return None
    delta = matrix[:, a] - matrix[:, b]
    delta = delta[np.isfinite(delta)]
    agree, cannot_tell, disagree = mapping(delta)
    ahead: Mask = delta >= 0
    return (
        float(np.where(ahead, agree, disagree).mean()),
        float(cannot_tell.mean()),
        float(np.where(ahead, disagree, agree).mean()),
    )


def _pair(  # noqa: PLR0917 - the parts of one row
    a: int,
    b: int,
    p_corrected: float,
    effects: Effects,
    tests: PairedTests,
    alpha: float,
    margin: float | None,
    verdicts: tuple[np.ndarray[Any, Any], Floats] | None,
    preferences: tuple[float, float, float] | None,
) -> Pair:
    difference = float(effects.difference[a, b])
    prefer, cannot_tell, prefer_other = preferences or (None, None, None)
    return Pair(
        effects.systems[a],
        effects.systems[b],
        difference,
        float(effects.low[a, b]),
        float(effects.high[a, b]),
        float(tests.p[a, b]),
        p_corrected,
        float(tests.error[a, b]),
        p_corrected <= alpha,
        None if margin is None else difference >= margin,
        None if verdicts is None else str(Verdict(str(verdicts[0][a, b]))),
        None if verdicts is None else float(verdicts[1][a, b]),
        float(effects.smallest_significant[a, b]),
        float(effects.d_z[a, b]),
        float(effects.superiority[a, b]),
        prefer,
        cannot_tell,
        prefer_other,
        int(effects.n_queries[a, b]),
    )
