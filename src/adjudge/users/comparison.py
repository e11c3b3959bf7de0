"""Compare systems as their users would: how large a difference is, how sure, and whether anyone would notice.

Statistically significant and practically noticeable are two answers to two questions. A difference is *significant*
when its corrected p-value is at most α; *noticeable* when, averaged over the queries, more than half of the users
would prefer the better system. Between them stands equivalence: the data may show that a difference is too small to
notice, which is more than failing to show that there is one.

Two systems compared: the numbers of one pair, and how to say them.

The table of ``adjudge compare``: pairs of systems under each measure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.checks import CONFIDENCE, HALF_ALPHA, POSITIVE, RESAMPLES, SEED, Alternative, Interval, checked
from adjudge.errors import AdjudgeError, unknown, warn
from adjudge.model.effectiveness import Effectiveness
from adjudge.model.provenance import Provenance
from adjudge.reporting import tables
from adjudge.reporting.tables import FittedTable, as_csv, as_json
from adjudge.stats.bootstrap import bootstrap_differences
from adjudge.stats.effects import Effects, effect_sizes
from adjudge.stats.equivalence import LIBERAL, MANY_QUERIES, Verdict, p_equivalence
from adjudge.stats.intervals import with_interval
from adjudge.stats.multiple import CORRECTIONS, FAMILYWISE_TESTS
from adjudge.stats.paired import MEAN, PAIRED_TESTS, PairedTests, pair_estimates, paired_tests
from adjudge.text import counted, percent
from adjudge.users.combinations import scale_of
from adjudge.users.noticing import AgreementMapping, find_agreement, noticeable_difference, noticeable_interval

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from rich.console import RenderableType


@dataclass(frozen=True)
class Pair:
    """Two systems, the one with the higher mean first (one-sided: the system first, its baseline second).

    ``prefer`` and ``prefer_other`` are the shares of users who would prefer the first and the second system, averaged
    over the queries, ``cannot_tell`` the rest; None without a mapping from differences to users. ``p_error`` is the
    Monte-Carlo error of ``p``; ``p_is_least`` says that no smaller p could have come out. The interval is of this
    pair alone, and ``smallest_significant`` is the mean difference from which on a t test of this pair alone would have
    been significant at the level of the interval. ``estimate`` is what the test itself is about, and ``estimand`` its
    name: the mean difference, or the pseudo-median (wilcoxon), share of wins (sign) or difference of mean ranks.
    """

    system: str
    other: str
    difference: float
    low: float
    high: float
    p: float
    p_corrected: float
    p_error: float
    p_is_least: bool
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
    estimand: str
    estimate: float

    @property
    def parted(self) -> bool:
        """Whether the two answers part ways: significant but not noticeable, or noticeable but not significant."""
        return self.noticeable is not None and self.significant != self.noticeable

    @property
    def shown_p(self) -> str:
        """The corrected p-value to two significant digits, with ≤ where it could not have been smaller."""
        return f"{'≤ ' if self.p_is_least else ''}{shown_p(self.p_corrected)}"

    @property
    def shown_estimate(self) -> str | None:
        """What the test estimates, where that is not the mean difference."""
        if self.estimand == MEAN:
            return None
        return f"{self.estimate:.0%}" if self.estimand == "share of wins" else f"{self.estimate:.3f}"

    @property
    def shown_users(self) -> str:
        """Shares of users who prefer the first, cannot tell, prefer the second; a dash where nobody knows."""
        if self.prefer is None or self.cannot_tell is None or self.prefer_other is None:
            return "–"
        return f"{self.prefer:.0%} | {self.cannot_tell:.0%} | {self.prefer_other:.0%}"

    def sentence(self, measure: str, digits: int = 3) -> str:
        """The difference as the papers recommend to report it: ``ΔCG@5 = 0.037 ± 0.031 (p = 0.02)``.

        A test that is not about the mean has its own estimate beside p: ``(pseudo-median 0.035, p = 0.02)``.
        """
        value = with_interval(self.difference, self.low, self.high, digits)
        sign = "" if self.shown_p[0] in "<≤" else "= "
        own = "" if self.shown_estimate is None else f"{self.estimand} {self.shown_estimate}, "
        return f"Δ{measure} = {value} ({own}p {sign}{self.shown_p})"


def shown_p(p: float) -> str:
    """A p-value to two significant digits.

    >>> shown_p(0.0213), shown_p(0.2), shown_p(0.00000002)
    ('0.021', '0.2', '< 1e-06')
    """
    return "< 1e-06" if p < 1e-6 else f"{p:.2g}"


_RESAMPLES = 100_000
_MOST_RESAMPLES = 2_000_000  # that the default goes up to for many pairs
_SMALL_SAMPLE = 30  # below it the bootstrap finds too much


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
    baselines: tuple[str, ...]
    margin: float | None
    margin_source: str
    agreement: AgreementMapping | None
    resamples: int | None
    seed: int | None
    provenance: Provenance

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def complete(self) -> bool:
        """Whether every pair of systems was compared."""
        return len(self.pairs) == math.comb(len(self.systems), 2)

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
        """Pairs where significant and noticeable part ways."""
        return tuple(pair for pair in self.pairs if pair.parted)

    @property
    def estimand(self) -> str:
        """What the test is about: the mean difference, or what its pairs have beside p."""
        return self.pairs[0].estimand

    @property
    def about_test(self) -> str | None:
        """That the test is not one of means, where it is none."""
        if self.estimand == MEAN:
            return None
        among = " among the queries that differ" if self.test == "sign" else ""
        return (
            f"The {self.test} test is about the {self.estimand}{among}, not the mean: with skewed differences it "
            "rejects equal means far more often than α says"
        )

    @cached_property
    def about_equivalence(self) -> str | None:
        """That equivalence is claimed too often, where it is claimed from few queries."""
        claimed = [pair for pair in self.pairs if pair.verdict in (Verdict.EQUIVALENT, Verdict.BOTH)]
        return LIBERAL if any(pair.n_queries < MANY_QUERIES for pair in claimed) else None

    @property
    def cautions(self) -> tuple[str, ...]:
        """What p-values and verdicts do not say."""
        return tuple(text for text in (self.about_test, self.about_equivalence) if text)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Plain values, one row a pair."""
        return [asdict(pair) for pair in self.pairs]

    def to_polars(self) -> pl.DataFrame:
        """One row a pair."""
        import polars as pl

        return pl.DataFrame(self.to_dicts(), infer_schema_length=None)

    def to_pandas(self) -> pd.DataFrame:
        """The same as a pandas frame."""
        import pandas as pd

        return pd.DataFrame(self.to_dicts())

    def __str__(self) -> str:
        width = max((len(f"{pair.system} > {pair.other}") for pair in self.pairs), default=0)
        lines = [f"{self.measure}: {counted(len(self), 'pair')}, {self.test} test, {self.correction} correction"]
        for pair in self.pairs[:20]:
            marks = ["significant" if pair.significant else "not significant"]
            if pair.noticeable is not None:
                marks.append("noticeable" if pair.noticeable else "not noticeable")
            name = f"{pair.system} > {pair.other}"
            lines.append(f"{name:<{width}}  {pair.sentence(self.measure)}  {', '.join(marks)}")
        if len(self) > 20:
            lines.append(f"… and {len(self) - 20} more")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Comparison: {self.measure}, {counted(len(self), 'pair')}, {self.test} test>"


@checked(
    alternative=Alternative,
    alpha=HALF_ALPHA,
    confidence=CONFIDENCE,
    interval=Interval,
    margin=POSITIVE,
    resamples=RESAMPLES,
    seed=SEED,
)
def compare(
    eff: Effectiveness,
    *,
    test: str = "permutation",
    correction: str = "holm",
    baseline: str | Iterable[str] | None = None,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
    confidence: float = 0.95,
    interval: Interval = "t",
    margin: float | None = None,
    mappings: Iterable[AgreementMapping] | None = None,
    resamples: int | None = None,
    seed: int = 0,
) -> Comparison:
    """Compare all pairs of systems under one measure, or all with one or several baselines.

    ``test`` is a paired test (t, wilcoxon, sign, bootstrap, permutation), whose p-values are then corrected for the
    number of pairs, or a test of the whole family (friedman-tukey, tukey, randomised-tukey), which needs no
    correction and uses the queries that every system has. A one-sided ``alternative`` needs a ``baseline``: which
    system is better must not be read off the data first. ``margin`` is the smallest difference that matters; when not
    given it is what most users notice, where that is known for the measure and scale; equivalence within it is tested
    by the same test, twice one-sided (after a test of the family by the paired test nearest to it). ``resamples`` are
    100,000 or what the number of pairs calls for.

    >>> import adjudge as aj
    >>> eff = aj.evaluate(aj.demo(), "CG@5")
    >>> print(aj.compare(eff, test="t").of("KLN2", "ZX1").sentence("CG@5"))
    ΔCG@5 = 0.470 ± 0.062 (p < 1e-06)
    """
    baselines = _baselines(baseline, eff.systems)
    _check(eff, test=test, correction=correction, alternative=alternative, baselines=baselines)
    matrix = _complete(eff.matrix()) if test in FAMILYWISE_TESTS else eff.matrix()
    n_pairs = math.comb(len(eff.systems), 2)
    n_pairs -= math.comb(len(eff.systems) - len(baselines), 2) if baselines else 0
    drawn = resamples if resamples is not None else _resamples(n_pairs, correction, alpha)
    tests = _test(matrix, eff.systems, test=test, alternative=alternative, resamples=drawn, seed=seed)
    low, high = eff.limits()
    effects = _effects(
        matrix, eff.systems, confidence=confidence, interval=interval, seed=seed, largest=float(high[0] - low[0])
    )
    first, second = _pairs(effects.difference, eff.systems, baselines, alternative)
    lookup = find_agreement(eff.measures[0], scale_of(eff), mappings=mappings)
    used_margin, source = _margin(margin, lookup.mapping, lookup.reason)
    used = correction if tests.correction == "none" else tests.correction
    family = _Family(matrix, effects, tests, used, alpha, used_margin, margin is not None, lookup.mapping)
    settings = {"test": test, "correction": used, "alternative": alternative, "alpha": alpha, "confidence": confidence}
    extra = {"interval": interval, "baselines": list(baselines), "margin": used_margin, "resamples": tests.resamples}
    return Comparison(
        eff.measures[0],
        tuple(sorted(family.pairs(first, second), key=lambda pair: -pair.difference)),
        eff.systems,
        tuple(np.nanmean(matrix, axis=0).tolist()),
        test,
        used,
        alternative,
        alpha,
        confidence,
        baselines,
        used_margin,
        source,
        lookup.mapping,
        tests.resamples,
        tests.seed,
        eff.provenance.with_settings(**settings, **extra, seed=seed),
    )


@dataclass(frozen=True)
class _Family:
    """Everything that the rows of a comparison are read from."""

    matrix: Floats
    effects: Effects
    tests: PairedTests
    correction: str
    alpha: float
    margin: float | None
    margin_given: bool
    mapping: AgreementMapping | None

    def pairs(self, first: Ints, second: Ints) -> list[Pair]:
        """The pairs at these places, p-values corrected for their number."""
        p: Floats = self.tests.p[first, second]
        correct = CORRECTIONS[self.correction] if self.tests.correction == "none" else CORRECTIONS["none"]
        corrected = correct(p)
        least = 0.0 if self.tests.resamples is None else 1 / (self.tests.resamples + 1)
        if least:
            _warn_of_coarse_p(float(correct(np.full(len(p), least)).min()), self.tests.resamples or 0, self.alpha)
        equivalent = self._equivalence(first, second)
        estimates = self._estimates(first, second)
        return [
            self._pair(
                a,
                b,
                float(corrected[i]),
                None if equivalent is None else float(equivalent[i]),
                is_least=bool(p[i] <= least * (1 + 1e-9)),
                estimate=float(estimates[i]),
            )
            for i, (a, b) in enumerate(zip(first, second, strict=True))
        ]

    def _estimates(self, first: Ints, second: Ints) -> Floats:
        """What the test is about, of each pair."""
        if self.tests.test in FAMILYWISE_TESTS:
            statistics: Floats = self.tests.statistic[first, second]
            return statistics
        return pair_estimates(self.matrix, self.tests.test, first, second)

    def _equivalence(self, first: Ints, second: Ints) -> Floats | None:
        """Corrected p-values of being closer than the margin, by the test chosen or the nearest for one pair."""
        if self.margin is None:
            return None
        test = self.tests.test
        p = p_equivalence(
            self.matrix,
            test=FAMILYWISE_TESTS[test].single if test in FAMILYWISE_TESTS else test,
            margin=self.margin,
            resamples=self.tests.resamples or _RESAMPLES,
            seed=self.tests.seed or 0,
        )[first, second]
        return CORRECTIONS[self.correction](p) if self.correction in CORRECTIONS else CORRECTIONS["holm"](p)

    def _pair(
        self, a: int, b: int, p_corrected: float, p_equivalent: float | None, *, is_least: bool, estimate: float
    ) -> Pair:
        effects = self.effects
        difference = float(effects.difference[a, b])
        shares = _preferences(self.matrix, a, b, self.mapping)
        significant = p_corrected <= self.alpha
        prefer, cannot_tell, prefer_other = shares or (None, None, None)
        return Pair(
            effects.systems[a],
            effects.systems[b],
            difference,
            float(effects.low[a, b]),
            float(effects.high[a, b]),
            float(self.tests.p[a, b]),
            p_corrected,
            float(self.tests.error[a, b]),
            is_least,
            significant,
            self._noticeable(abs(difference), shares),
            None if p_equivalent is None else str(_verdict(significant, p_equivalent <= self.alpha)),
            p_equivalent,
            float(effects.smallest_significant[a, b]),
            float(effects.d_z[a, b]),
            float(effects.superiority[a, b]),
            prefer,
            cannot_tell,
            prefer_other,
            int(effects.n_queries[a, b]),
            _estimand(self.tests.test),
            estimate,
        )

    def _noticeable(self, size: float, shares: tuple[float, float, float] | None) -> bool | None:
        """Whether the difference reaches the margin given; without one, whether most users prefer one system."""
        if self.margin_given and self.margin is not None:
            return size >= self.margin
        return None if shares is None else max(shares[0], shares[2]) > 0.5


def _estimand(test: str) -> str:
    return FAMILYWISE_TESTS[test].estimand if test in FAMILYWISE_TESTS else PAIRED_TESTS[test].estimand


def _verdict(different: bool, equivalent: bool) -> Verdict:
    if equivalent:
        return Verdict.BOTH if different else Verdict.EQUIVALENT
    return Verdict.DIFFERENT if different else Verdict.UNDECIDED


def _baselines(given: str | Iterable[str] | None, systems: Sequence[str]) -> tuple[str, ...]:
    names = () if given is None else (given,) if isinstance(given, str) else tuple(dict.fromkeys(given))
    for name in names:
        if name not in systems:
            raise unknown("system", name, systems)
    return names


def _check(
    eff: Effectiveness,
    *,
    test: str,
    correction: str,
    alternative: Alternative,
    baselines: tuple[str, ...],
) -> None:
    """Refuse what cannot be compared, or not in that way."""
    if len(eff.measures) != 1:
        raise AdjudgeError(f"compare takes one measure at a time, got {', '.join(eff.measures)}; name one: eff['…']")
    if len(eff.systems) < 2:
        raise AdjudgeError(f"comparing needs at least two systems, got {len(eff.systems)}")
    if test not in PAIRED_TESTS and test not in FAMILYWISE_TESTS:
        raise unknown("test", test, [*PAIRED_TESTS, *FAMILYWISE_TESTS])
    _ = CORRECTIONS[correction]
    if alternative == "two-sided":
        return
    if test in FAMILYWISE_TESTS:
        raise AdjudgeError(f"The test {test!r} is two-sided, got alternative={alternative!r}")
    if not baselines:
        raise AdjudgeError(f"alternative={alternative!r} needs a baseline: two-sided, the data may say who is better.")


def _complete(matrix: Floats) -> Floats:
    """The queries that every system has, said aloud where they are fewer."""
    inside: Mask = np.asarray(np.isfinite(matrix).all(axis=1))
    if not inside.all():
        warn(
            f"Tests of the whole family use the {int(inside.sum())} of {len(inside)} queries that every system has.",
            stacklevel=3,
        )
    return matrix[inside]


def _effects(
    matrix: Floats, systems: Sequence[str], *, confidence: float, interval: Interval, seed: int, largest: float
) -> Effects:
    """Effect sizes, with intervals of the differences by t or by bootstrap."""
    effects = effect_sizes(matrix, confidence=confidence, systems=systems, largest=largest)
    if interval == "t":
        return effects
    low, high = bootstrap_differences(matrix, confidence=confidence, method=interval, seed=seed)
    return replace(effects, low=low, high=high)


def _resamples(n_pairs: int, correction: str, alpha: float) -> int:
    """Enough for a corrected p-value well below α."""
    wanted = math.ceil(10 * n_pairs / alpha) if correction in ("holm", "bonferroni") else _RESAMPLES
    return min(max(_RESAMPLES, wanted), _MOST_RESAMPLES)


def _test(
    matrix: Floats, systems: Sequence[str], *, test: str, alternative: Alternative, resamples: int, seed: int
) -> PairedTests:
    """p-values of all pairs, of a paired test or of a test of the family."""
    if test in FAMILYWISE_TESTS:
        member = FAMILYWISE_TESTS[test]
        options: dict[str, Any] = {"resamples": resamples, "seed": seed} if member.resampled else {}
        return member.function(matrix, systems=systems, **options)
    if test == "bootstrap" and len(matrix) < _SMALL_SAMPLE:
        warn(
            f"The bootstrap test finds too much with {len(matrix)} queries (level .10 for .05 with 10); "
            "permutation keeps its level.",
            stacklevel=3,
        )
    return paired_tests(matrix, test=test, alternative=alternative, systems=systems, resamples=resamples, seed=seed)


def _pairs(
    difference: Floats, systems: Sequence[str], baselines: tuple[str, ...], alternative: Alternative
) -> tuple[Ints, Ints]:
    """Places of the compared systems: the better first, or one-sided the baseline second."""
    first, second = np.triu_indices(len(systems), 1)
    if not baselines:
        swap = difference[first, second] < 0
        return np.where(swap, second, first), np.where(swap, first, second)
    chosen: Mask = np.isin(np.arange(len(systems)), [systems.index(name) for name in baselines])
    wanted = chosen[first] | chosen[second]
    first, second = first[wanted], second[wanted]
    swap = chosen[first] & ~chosen[second] if alternative != "two-sided" else difference[first, second] < 0
    return np.where(swap, second, first), np.where(swap, first, second)


def _warn_of_coarse_p(least: float, resamples: int, alpha: float) -> None:
    """A Monte-Carlo p-value is never below 1 / (R + 1): with many pairs nothing may be able to become significant."""
    if least > alpha:
        warn(
            f"With {resamples:,} resamples no corrected p-value can be below {least:.2g}: nothing can be significant "
            f"at {alpha:g}. Ask for more resamples, or compare fewer pairs.",
            stacklevel=4,
        )


def _margin(given: float | None, mapping: AgreementMapping | None, reason: str | None) -> tuple[float | None, str]:
    """The smallest difference that matters, and where it comes from."""
    if given is not None:
        return given, f"differences of at least {given:g} matter, as given"
    if mapping is None:
        return None, reason or ""
    found = noticeable_difference(mapping)
    if found is None:
        return None, f"no difference in {mapping.measure} on {mapping.scale} makes most users prefer the better system"
    low, high = noticeable_interval(mapping)
    ends = "" if low is None or high is None else f" (95 % interval {low:.3f} to {high:.3f})"
    origin = f"; {mapping.source}" if mapping.source else ""
    return found, (
        "more than half of the users would prefer the better system, averaged over queries; "
        f"on one query that takes a difference of {found:.3f}{ends}{origin}"
    )


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


_SHOWN = 60


@dataclass(frozen=True)
class ComparisonTable:
    """Comparisons ready to be shown. ``drawing`` is for a terminal, ``text`` for ``csv``, ``json`` and ``latex``."""

    comparisons: tuple[Comparison, ...]
    notes: tuple[str, ...]
    command: str | None

    def text(self, style: str) -> str:
        """The table as ``csv``, ``json`` or ``latex``."""
        styles: dict[str, Callable[[], str]] = {"csv": self._csv, "json": self._json, "latex": self._latex}
        return styles[style]()

    def _records(self) -> list[dict[str, Any]]:
        return [{"measure": one.measure, **row} for one in self.comparisons for row in one.to_dicts()]

    def _csv(self) -> str:
        return as_csv([{k: "" if v is None else v for k, v in row.items()} for row in self._records()])

    def _json(self) -> str:
        first = self.comparisons[0]
        settings = {"resamples": first.resamples, "seed": first.seed, "command": self.command}
        return as_json(
            {
                "pairs": self._records(),
                "margins": {
                    one.measure: {"margin": one.margin, "source": one.margin_source} for one in self.comparisons
                },
                "notes": [*self.notes, *dict.fromkeys(line for one in self.comparisons for line in one.cautions)],
                "provenance": first.provenance.with_settings(**settings).to_dict(),
            }
        )

    def _latex(self) -> str:
        parts = []
        for one in self.comparisons:
            header = [tables.escape(name) for name in _header(one)]
            rows = [[tables.escape(cell) for cell in cells(pair)] for pair in one.pairs]
            comment = [f"Adjudge {one.provenance.version}", self.command or "", *_foot(one, n_shown=len(one))]
            parts.append(tables.booktabs(header, rows, align=f"ll{'r' * (len(header) - 7)}ccrrr", comment=comment))
        return "\n".join(parts)

    def drawing(self) -> RenderableType:
        """A table a measure: differences, p-values, and the two answers side by side."""
        from rich.console import Group
        from rich.text import Text

        parts: list[RenderableType] = []
        for one in self.comparisons:
            parts.append(self._table(one))
            parts.extend(Text(line, style="dim") for line in _foot(one, n_shown=_SHOWN))
        return Group(*parts, *(Text(note, style="dim") for note in self.notes))

    @staticmethod
    def _table(one: Comparison) -> FittedTable:
        shown = one.pairs[:_SHOWN]
        header = _header(one)
        place = header.index("significant")
        styles = {(r, place): "bold" for r, pair in enumerate(shown) if pair.significant}
        styles |= {(r, place + 1): "bold yellow" for r, pair in enumerate(shown) if pair.parted}
        return FittedTable(header, [cells(pair) for pair in shown], 2, 2, styles)


def _header(one: Comparison) -> list[str]:
    first, second = ("better", "worse") if one.alternative == "two-sided" else ("system", "baseline")
    own = [one.estimand] if one.about_test else []
    return [first, second, f"Δ{one.measure}", *own, "p", "significant", "noticeable", "users", "wins", "d"]


def cells(pair: Pair) -> list[str]:
    """A pair as text: systems, difference, p (a test's own estimate before it), the two answers, users, wins, size."""
    return [
        pair.system,
        pair.other,
        with_interval(pair.difference, pair.low, pair.high),
        *([] if pair.shown_estimate is None else [pair.shown_estimate]),
        pair.shown_p,
        "yes" if pair.significant else "no",
        "–" if pair.noticeable is None else "yes" if pair.noticeable else "no",
        pair.shown_users,
        f"{pair.superiority:.0%}",
        f"{pair.d_z:.2f}",
    ]


def _foot(one: Comparison, *, n_shown: int) -> list[str]:
    correction = "no correction" if one.correction == "none" else f"{one.correction} correction"
    lines = [
        f"{one.test} test, {correction}, α = {one.alpha:g}; "
        f"{percent(one.confidence)} intervals are of one pair each, not corrected."
    ]
    if len(one) > n_shown:
        lines.append(f"{len(one) - n_shown} smaller differences are not shown; --csv has them all.")
    known = one.margin is not None
    lines.append(f"Noticeable: {one.margin_source}." if known else f"Noticeable is not known: {one.margin_source}.")
    if one.agreement is not None:
        lines.append("Users, averaged over queries: prefer the first | cannot tell | prefer the second.")
    if one.parted:
        lines.append(f"Significant and noticeable part ways in {len(one.parted)} of {len(one)} pairs.")
    return [*lines, f"{one.about_test}."] if one.about_test else lines
