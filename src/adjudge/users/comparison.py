"""Compare systems as their users would: how large a difference is, how sure, and whether anyone would notice.

Statistically significant and practically noticeable are two answers to two questions. A difference is *significant*
when its corrected p-value is at most α; *noticeable* when, averaged over the queries, more than half of the users
would prefer the better system. Between them stands equivalence: the data may show that a difference is too small to
notice, which is more than failing to show that there is one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.checks import CONFIDENCE, HALF_ALPHA, POSITIVE, RESAMPLES, SEED, Alternative, Interval, checked
from adjudge.errors import AdjudgeError, NotEnoughDataError, warn
from adjudge.formats.effectiveness import EFFECTIVENESS_LIKE, EffectivenessLike, as_effectiveness
from adjudge.model.effectiveness import Effectiveness
from adjudge.model.provenance import Provenance
from adjudge.registry import unknown
from adjudge.reporting.document import FigureBlock
from adjudge.reporting.figures import (
    MOST_BARS,
    MOST_SIZED,
    CriticalDifference,
    Forest,
    PairMatrix,
    PairSizes,
    critical_difference,
    forest,
    pair_matrix,
    pair_sizes,
)
from adjudge.results import Column, Result, Rows, figure
from adjudge.seeds import Seed, as_seed
from adjudge.stats.effects import LIBERAL, MANY_QUERIES, Effects, Verdict, effect_sizes, p_equivalence
from adjudge.stats.intervals import bootstrap_differences
from adjudge.stats.multiple import (
    CORRECTIONS,
    FAMILYWISE_TESTS,
    FriedmanResult,
    compact_letters,
    friedman,
    group_letter,
    tie_groups,
)
from adjudge.stats.paired import MEAN, PAIRED_TESTS, PairedTests, pair_estimates, paired_tests
from adjudge.stats.ranks import Ranks
from adjudge.stats.summary import means_in_words, summarize
from adjudge.tables import Heading, Table, as_csv, as_json, as_latex
from adjudge.text import counted, listed, percent, shown_p, with_interval
from adjudge.users.combinations import in_unit_interval, scale_of
from adjudge.users.noticing import (
    AgreementMapping,
    agreement_figure,
    find_agreement,
    noticeable_difference,
    noticeable_interval,
)

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True)
class Pair:
    """Two systems, the one with the higher mean first (one-sided: the system first, its baseline second).

    ``prefer`` and ``prefer_other`` are the shares of users who would prefer the first and the second system, averaged
    over the queries, ``cannot_tell`` the rest; None without a mapping from differences to users. ``p_error`` is the
    Monte-Carlo error of ``p``; ``p_is_least`` says that p could not be smaller. The interval is of this pair alone, and
    ``smallest_significant`` is the mean difference from which on a t test of this pair alone would have been
    significant at the level of the interval. ``estimate`` is what the test itself is about, and ``estimand`` its name:
    the mean difference, or the pseudo-median (wilcoxon), share of wins (sign) or difference of mean ranks.
    """

    system: Annotated[str, Column("the system with the higher mean, or the one that a baseline is for", key=True)]
    other: Annotated[str, Column("the other system, or the baseline", key=True)]
    difference: Annotated[
        float, Column("difference of the means, with the interval of this pair alone", ".3f", ends=("low", "high"))
    ]
    low: Annotated[float, Column("lower end of its interval", ".3f")]
    high: Annotated[float, Column("upper end of its interval", ".3f")]
    p: Annotated[float, Column("p-value of this pair alone", "p")]
    p_corrected: Annotated[float, Column("p-value, corrected for the number of pairs", "p", label="p")]
    p_error: Annotated[float, Column("Monte-Carlo error of p", ".2g")]
    p_is_least: Annotated[bool, Column("whether no smaller p could have come out")]
    significant: Annotated[bool, Column("whether the corrected p-value is at most α")]
    noticeable: Annotated[bool | None, Column("whether most users would notice the difference")]
    verdict: Annotated[str | None, Column("different, equivalent, both or undecided, at the margin")]
    p_equivalence: Annotated[float | None, Column("corrected p-value of being closer than the margin", "p")]
    smallest_significant: Annotated[float, Column("mean difference from which on a t test is significant", ".3f")]
    d_z: Annotated[float, Column("mean difference in standard deviations of the differences", ".2f", label="d")]
    superiority: Annotated[
        float, Column("share of queries on which the first is ahead, ties half", ".0f %", label="wins")
    ]
    prefer: Annotated[float | None, Column("share of users who prefer the first, averaged over queries", ".0f %")]
    cannot_tell: Annotated[float | None, Column("share of users who cannot tell", ".0f %")]
    prefer_other: Annotated[float | None, Column("share of users who prefer the second", ".0f %")]
    n_queries: Annotated[int, Column("queries that both systems have", "d")]
    estimand: Annotated[str, Column("what the test is about")]
    estimate: Annotated[float, Column("its estimate", ".3f")]

    @property
    def parted(self) -> bool:
        """Whether the two answers disagree: significant but not noticeable, or noticeable but not significant."""
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
        return percent(self.estimate, 0) if self.estimand == "share of wins" else f"{self.estimate:.3f}"

    @property
    def shown_users(self) -> str:
        """Shares of users who prefer the first, cannot tell, prefer the second; a dash where they are not known."""
        if self.prefer is None or self.cannot_tell is None or self.prefer_other is None:
            return "–"
        return f"{100 * self.prefer:.0f} | {100 * self.cannot_tell:.0f} | {percent(self.prefer_other, 0)}"

    def sentence(self, measure: str, digits: int = 3) -> str:
        """The difference as the papers recommend to report it: ``ΔCG@5 = 0.037 ± 0.031 (p = 0.02)``.

        A test that is not about the mean has its own estimate beside p: ``(pseudo-median 0.035, p = 0.02)``.
        """
        value = with_interval(self.difference, self.low, self.high, digits)
        sign = "" if self.shown_p[0] in "<≤" else "= "
        own = "" if self.shown_estimate is None else f"{self.estimand} {self.shown_estimate}, "
        return f"Δ{measure} = {value} ({own}p {sign}{self.shown_p})"


@dataclass(frozen=True)
class PossibleRank:
    """The ranks that a comparison leaves possible for a system."""

    system: Annotated[str, Column("the system", key=True)]
    rank: Annotated[int, Column("rank by the mean; possible ranks", "d", ends=("rank_low", "rank_high"))]
    rank_low: Annotated[int, Column("best rank that is possible", "d", shown=False)]
    rank_high: Annotated[int, Column("worst rank that is possible", "d", shown=False)]
    tier: Annotated[int, Column("a tier begins where a system is worse than the first of the tier above", "d")]
    mean: Annotated[float, Column("mean effectiveness", ".3f")]


SHARED_LETTERS = "systems that share a letter do not differ significantly"
_RESAMPLES = 100_000
_MOST_RESAMPLES = 2_000_000  # that the default goes up to for many pairs
_SMALL_SAMPLE = 30  # below it the bootstrap finds too much


MOST_RANKED = 40
"""Systems in a critical-difference diagram."""


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """All compared pairs under one measure, largest difference first, and what was asked of them.

    ``means`` and their ``intervals`` are of the systems; ``friedman`` is there for three systems or more on queries
    that all of them have.
    """

    measure: str
    pairs: tuple[Pair, ...]
    systems: tuple[str, ...]
    means: tuple[float, ...]
    intervals: tuple[tuple[float, float], ...]
    friedman: FriedmanResult | None
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

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.pairs)

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

    @property
    def has_ranks(self) -> bool:
        """Whether its decisions are of all pairs, two-sided, and right at once, so that ranks follow from them."""
        return self.complete and self.alternative == "two-sided" and self.correction not in ("none", "bh")

    def ranks(self) -> Rows[PossibleRank]:
        """Ranks that are possible and tiers, from the decisions of the comparison: right at once as its correction is.

        :func:`adjudge.leaderboard` decides by a test made for ranks, and says who is probably the best.
        """
        if not self.has_ranks:
            came = f"{counted(len(self), 'pair')}, {self.alternative}, correction {self.correction}"
            wanted = "all pairs, two-sided, with a correction for the probability of any error"
            raise AdjudgeError(f"possible ranks need {wanted}, got {came}")
        place = {name: i for i, name in enumerate(self.systems)}
        p = np.ones((len(place), len(place)))
        for pair in self.pairs:
            p[place[pair.system], place[pair.other]] = pair.p_corrected
        found = Ranks(np.array(self.means), p, p <= self.alpha)
        order = sorted(range(len(place)), key=lambda s: (-self.means[s], self.systems[s]))
        places = np.stack([found.rank, found.low, found.high, found.tier], axis=1).tolist()
        rows = tuple(
            PossibleRank(self.systems[s], rank, low, high, tier, self.means[s])
            for s in order
            for rank, low, high, tier in [places[s]]
        )
        return Rows(PossibleRank, rows, f"{self.measure}: ranks that are possible, {self._how}")

    @cached_property
    def parted(self) -> tuple[Pair, ...]:
        """Pairs where significant and noticeable disagree."""
        return tuple(pair for pair in self.pairs if pair.parted)

    @property
    def margin_is_given(self) -> bool:
        """Whether the smallest difference that matters was chosen, and is not what users notice."""
        return self.margin is not None and (
            self.agreement is None or self.margin != noticeable_difference(self.agreement)
        )

    @property
    def estimand(self) -> str:
        """What the test is about: the mean difference, or what its pairs have beside p."""
        return self.pairs[0].estimand

    @property
    def about_test(self) -> str | None:
        """What a test is about that is not one of means."""
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
        claims = (Verdict.EQUIVALENT, Verdict.BOTH)
        few = any(pair.verdict in claims and pair.n_queries < MANY_QUERIES for pair in self.pairs)
        return LIBERAL if few else None

    @cached_property
    def ranking(self) -> tuple[str, ...]:
        """Systems from the highest mean to the lowest."""
        return tuple(self.systems[s] for s in self._order)

    @cached_property
    def _order(self) -> list[int]:
        return sorted(range(len(self.systems)), key=lambda s: -self.means[s])

    def _matrix(self, order: Sequence[str], name: str) -> Floats:
        """A number of every pair, systems x systems in this order; 0 on the diagonal and where nothing was compared."""
        place = {system: i for i, system in enumerate(order)}
        matrix = np.zeros((len(order), len(order)))
        for pair in self.pairs:
            a, b, value = place[pair.system], place[pair.other], float(getattr(pair, name) or 0.0)
            matrix[a, b], matrix[b, a] = value, -value if name == "difference" else value
        return matrix

    def tie_groups(self, order: Sequence[str] | None = None) -> tuple[tuple[int, ...], ...]:
        """Places of systems none of which differ significantly, by default in the :attr:`ranking`.

        Two systems share a group exactly where their difference is not significant. Nothing with pairs left out.
        """
        if not self.complete:
            return ()
        return tie_groups(self._matrix(order or self.ranking, "significant") == 0)

    @figure("forest")
    def _forest(self) -> FigureBlock:
        """Means with intervals, and who is tied with whom."""
        level, groups = percent(self.confidence), self.tie_groups()
        means = np.array([[self.means[s], *self.intervals[s]] for s in self._order]).T
        letters = tuple(map(group_letter, range(len(groups))))
        label = f"{self.measure}, mean and {level} interval"
        data = Forest(label, self.ranking, means[0], means[1], means[2], groups, letters)
        caption = f"Means of {self.measure} with {level} intervals."
        if groups:
            beside = "beside one bar" if len(groups) <= MOST_BARS else "in the colour of the first"
            which = "do not differ" if len(groups) <= MOST_BARS else "do not differ from it"
            caption += f" Systems {beside} {which} significantly. Intervals may overlap although two systems do."
        elif not self.complete:
            caption += f" Who is tied with whom is not known: only pairs with {listed(self.baselines)} are compared."
        return FigureBlock(
            "forest", caption, means_in_words(self.measure, self.ranking, means[0].tolist()), data, forest
        )

    @figure("pair-sizes")
    def _differences(self) -> FigureBlock:
        """How large differences are, which are significant, and which users notice."""
        known = self.pairs[0].noticeable is not None
        data = PairSizes(
            f"size of the difference in {self.measure}",
            np.array([abs(pair.difference) for pair in self.pairs]),
            np.array([pair.p_corrected for pair in self.pairs]),
            np.array([pair.significant for pair in self.pairs], dtype=np.bool_),
            np.array([pair.noticeable for pair in self.pairs], dtype=np.bool_) if known else None,
            self.alpha,
            self.margin,
        )
        caption = "Pairs of systems by the size of their difference, and whether it is significant"
        caption += " and noticeable; the dashed line is the smallest difference that matters." if known else "."
        alt = f"{counted(len(self), 'pair')}, {sum(pair.significant for pair in self)} of them significant"
        alt += f"; in {len(self.parted)} significant and noticeable disagree." if known else "."
        return FigureBlock("pair-sizes", caption, alt, data, pair_sizes)

    @figure("pair-matrix")
    def _pair_matrix(self) -> FigureBlock:
        """The difference of every pair, once."""
        if not self.complete:
            raise AdjudgeError("a pair matrix needs all pairs of systems; here only those with baselines were compared")
        order, known = self.ranking, self.pairs[0].noticeable is not None
        significant = self._matrix(order, "significant") > 0
        data = PairMatrix(
            f"differences in {self.measure}",
            order,
            self._matrix(order, "difference"),
            significant,
            self._matrix(order, "noticeable") > 0 if known else None,
            ("significant", "not significant", *(("noticeable", "not noticeable") if known else ())),
        )
        caption = (
            "Each pair once, in the row of the better system and the column of the worse one, whose names stand on the "
            "diagonal."
        )
        if len(order) <= MOST_SIZED:
            caption += " The area of a square is the size of the difference."
        alt = f"Differences of {counted(len(self), 'pair')}, {int(significant.sum()) // 2} of them significant."
        return FigureBlock("pair-matrix", caption, alt, data, pair_matrix)

    @figure("critical-difference")
    def _critical_difference(self) -> FigureBlock:
        """Mean ranks, and who is tied with whom."""
        if self.friedman is None or not self.complete:
            raise AdjudgeError("mean ranks need three systems or more, compared in all pairs on queries that all have")
        if len(self.systems) > MOST_RANKED:
            raise AdjudgeError(
                f"a critical-difference diagram has up to {MOST_RANKED} systems, got {len(self.systems)}"
            )
        ranks = len(self.systems) + 1 - self.friedman.mean_ranks  # 1 is best
        order = np.argsort(ranks, kind="stable")
        names = tuple(self.systems[i] for i in order)
        groups = tuple(group for group in self.tie_groups(names) if len(group) > 1)
        data = CriticalDifference(f"mean rank in {self.measure}", names, ranks[order], groups)
        alt = f"Systems by mean rank from {names[0]} to {names[-1]}, with {counted(len(groups), 'group')} of ties."
        caption = "Mean rank over queries, 1 is best; systems under one bar cannot be told apart by this collection."
        return FigureBlock("critical-difference", caption, alt, data, critical_difference)

    @figure("users-notice")
    def _agreement(self) -> FigureBlock:
        """Whom users prefer, by the size of the difference."""
        if self.agreement is None:
            raise AdjudgeError(f"what users notice is not known: {self.margin_source}")
        return agreement_figure({self.measure: self.agreement})

    @property
    def cautions(self) -> tuple[str, ...]:
        """What p-values and verdicts do not say."""
        return tuple(text for text in (self.about_test, self.about_equivalence) if text)

    row_type = Pair
    rows_name = "pairs"

    @property
    def title(self) -> str:
        """What it is, in a line."""
        return f"{self.measure}: {counted(len(self), 'pair')}, {self._how}"

    @property
    def _how(self) -> str:
        return f"{self.test} test, {'no' if self.correction == 'none' else self.correction} correction"

    def _rows(self) -> tuple[Pair, ...]:
        return self.pairs

    def _facts(self) -> dict[str, Any]:
        names = ("measure", "test", "correction", "alternative", "alpha", "confidence", "baselines")
        more = ("margin", "margin_source", "resamples", "seed", "cautions")
        return {name: getattr(self, name) for name in (*names, *more)} | {"provenance": self.provenance.to_dict()}

    def _notes(self) -> list[str]:
        level = f"{percent(self.confidence)} intervals are of one pair each, not corrected."
        lines = [f"{self._how}, α = {self.alpha:g}; {level}"]
        known = "" if self.margin is not None else " is not known"
        lines.append(f"Noticeable{known}: {self.margin_source}.")
        if self.agreement is not None:
            lines.append("Users, averaged over queries: prefer the first | cannot tell | prefer the second.")
        if self.parted:
            lines.append(f"Significant and noticeable disagree in {len(self.parted)} of {counted(len(self), 'pair')}.")
        return [*lines, f"{self.about_test}."] if self.about_test else lines

    def table(self, *, digits: int | None = None) -> Table:
        """Differences, p-values, the two answers side by side, users, share of wins and size of each pair."""
        first, second = ("better", "worse") if self.alternative == "two-sided" else ("system", "baseline")
        shares = "share who prefer the first | cannot tell | prefer the second, averaged over queries"
        estimates = [pair.shown_estimate or "–" for pair in self.pairs]
        shown = [
            self._shown("system", first),
            self._shown("other", second),
            self._shown("difference", f"Δ{self.measure}", digits=digits),
            *([(Heading(self.estimand, about=f"{self.about_test}"), estimates)] if self.about_test else []),
            (Heading("p", about=f"{self.test} test, {self.correction} correction"), [p.shown_p for p in self.pairs]),
            self._shown("significant", about=f"p is at most {self.alpha:g}"),
            self._shown("noticeable", about=self.margin_source),
            (Heading("users", about=shares), [pair.shown_users for pair in self.pairs]),
            self._shown("superiority"),
            self._shown("d_z"),
        ]
        place = len(shown) - 5
        styles = {(r, place): "bold" for r, pair in enumerate(self.pairs) if pair.significant}
        styles |= {(r, place + 1): "bold yellow" for r, pair in enumerate(self.pairs) if pair.parted}
        return self._table_of(*shown, n_key=2, styles=styles)

    @cached_property
    def letters(self) -> dict[str, str]:
        """The letters of each system, highest mean first: those who share a letter do not differ significantly.

        As tables of the field print them (:func:`adjudge.stats.compact_letters`); they need all pairs.
        """
        if not self.complete:
            raise AdjudgeError("letters need every pair of systems, and only those with a baseline were compared")
        different = self._matrix(self.ranking, "significant") > 0
        return dict(zip(self.ranking, compact_letters(different), strict=True))

    def paper_tables(self, digits: int | None = None) -> list[Table]:
        """Its tables in a paper, for :func:`adjudge.tables.as_latex`: means with letters, and every pair."""
        pairs = self.table(digits=digits)
        if not self.complete:
            return [pairs]
        means = [f"{self.means[self.systems.index(name)]:.{3 if digits is None else digits}f}" for name in self.letters]
        columns = [
            (Heading("system", "left"), list(self.letters)),
            (Heading(self.measure), means),
            (Heading("", "left", SHARED_LETTERS), list(self.letters.values())),
        ]
        title = f"Mean {self.measure}; {SHARED_LETTERS} ({self._how}, α = {self.alpha:g})."
        table = Table([heading for heading, _ in columns], list(zip(*(c for _, c in columns), strict=True)), title)
        return [table, pairs]

    def __repr__(self) -> str:
        return f"<Comparison: {self.measure}, {counted(len(self), 'pair')}, {self.test} test>"


class CompareSettings(TypedDict, total=False):
    """Settings of :func:`compare`, for functions that hand them on."""

    test: str
    correction: str
    baseline: str | Iterable[str] | None
    alternative: Alternative
    alpha: float
    interval: Interval
    margin: float | None
    mappings: Iterable[AgreementMapping] | None
    resamples: int | None
    seed: Seed


@checked(
    eff=EFFECTIVENESS_LIKE,
    alternative=Alternative,
    alpha=HALF_ALPHA,
    confidence=CONFIDENCE,
    interval=Interval,
    margin=POSITIVE,
    resamples=RESAMPLES,
    seed=SEED,
)
def compare(
    eff: EffectivenessLike,
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
    seed: Seed = 0,
) -> Comparison:
    """Compare all pairs of systems under one measure, or all with one or several baselines.

    ``eff`` may be a table of effectiveness under one measure (:func:`adjudge.formats.read_effectiveness`).
    ``test`` is a paired test (t, wilcoxon, sign, bootstrap, permutation), whose p-values are then corrected for the
    number of pairs, or a test of the whole family (friedman-tukey, tukey, randomised-tukey), which needs no
    correction and uses the queries that every system has. A one-sided ``alternative`` needs a ``baseline``: which
    system is better must not be read off the data first. ``margin`` is the smallest difference that matters, by default
    what most users notice, where that is known for the measure and scale; equivalence within it is tested by the same
    test, twice one-sided (after a test of the family by the paired test nearest to it). ``resamples`` default to
    100,000, or to more where the number of pairs calls for it.

    >>> import adjudge as aj
    >>> eff = aj.evaluate(aj.demo(), "CG@5")
    >>> print(aj.compare(eff, test="t").of("KLN2", "ZX1").sentence("CG@5"))
    ΔCG@5 = 0.470 ± 0.062 (p < 1e-06)
    """
    eff, seed = as_effectiveness(eff), as_seed(seed)
    baselines = _baselines(baseline, eff.systems)
    _check(eff, test=test, correction=correction, alternative=alternative, baselines=baselines)
    eff = _complete(eff) if test in FAMILYWISE_TESTS else eff
    matrix = eff.matrix()
    if resamples is None:  # enough for a corrected p-value well below α
        n_pairs = math.comb(len(eff.systems), 2)
        n_pairs -= math.comb(len(eff.systems) - len(baselines), 2) if baselines else 0
        wanted = math.ceil(10 * n_pairs / alpha) if correction in ("holm", "bonferroni") else _RESAMPLES
        resamples = min(max(_RESAMPLES, wanted), _MOST_RESAMPLES)
    tests = run_test(matrix, eff.systems, test=test, alternative=alternative, resamples=resamples, seed=seed)
    low, high = eff.limits()
    effects = effect_sizes(matrix, confidence=confidence, systems=eff.systems, largest=float(high[0] - low[0]))
    if interval != "t":
        low, high = bootstrap_differences(matrix, confidence=confidence, method=interval, seed=seed)
        effects = replace(effects, low=low, high=high)
    first, second = _pairs(effects.difference, eff.systems, baselines, alternative)
    lookup = find_agreement(eff.measures[0], scale_of(eff), mappings=mappings)
    lookup = in_unit_interval("agreement", matrix, lookup, eff.measures[0])
    used_margin, source = _margin(margin, lookup.mapping, lookup.reason)
    used = correction if tests.correction == "none" else tests.correction
    family = _Family(matrix, effects, tests, used, alpha, used_margin, margin is not None, lookup.mapping)
    settings = {"test": test, "correction": used, "alternative": alternative, "alpha": alpha, "confidence": confidence}
    extra = {"interval": interval, "baselines": list(baselines), "margin": used_margin, "resamples": tests.resamples}
    means = {row.system: row for row in summarize(eff, confidence=confidence, interval=interval, seed=seed)}
    return Comparison(
        eff.measures[0],
        tuple(sorted(family.pairs(first, second), key=lambda pair: -pair.difference)),
        eff.systems,
        tuple(np.nanmean(matrix, axis=0).tolist()),
        tuple((means[system].low, means[system].high) for system in eff.systems),
        friedman(matrix, systems=eff.systems) if matrix.shape[1] > 2 and np.isfinite(matrix).all() else None,
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
        tests, test, places = self.tests, self.tests.test, (first, second)
        p: Floats = tests.p[places]
        correct = CORRECTIONS[self.correction if tests.correction == "none" else "none"]
        corrected, least = correct(p), 0.0 if tests.resamples is None else 1 / (tests.resamples + 1)
        lowest = float(correct(np.full(len(p), least)).min())
        if lowest > self.alpha:  # a Monte-Carlo p-value is never below 1 / (R + 1)
            warn(
                f"With {tests.resamples:,} resamples no corrected p-value can be below {lowest:.2g}: nothing can be "
                f"significant at {self.alpha:g}. Ask for more resamples, or compare fewer pairs.",
                stacklevel=3,
            )
        is_family = test in FAMILYWISE_TESTS
        estimates = tests.statistic[places] if is_family else pair_estimates(self.matrix, test, first, second)
        estimand = FAMILYWISE_TESTS[test].estimand if is_family else PAIRED_TESTS[test].estimand
        equivalent = self._equivalence(first, second)
        return [
            self._pair(
                a,
                b,
                p_corrected=float(corrected[i]),
                p_is_least=bool(p[i] <= least * (1 + 1e-9)),
                p_equivalence=None if equivalent is None else float(equivalent[i]),
                estimand=estimand,
                estimate=float(estimates[i]),
            )
            for i, (a, b) in enumerate(zip(first, second, strict=True))
        ]

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
        return CORRECTIONS[self.correction if self.correction in CORRECTIONS else "holm"](p)

    def _pair(self, a: int, b: int, *, p_corrected: float, p_equivalence: float | None, **more: Any) -> Pair:
        effects, tests = self.effects, self.tests
        difference, significant, verdict = float(effects.difference[a, b]), p_corrected <= self.alpha, None
        if p_equivalence is not None and p_equivalence <= self.alpha:
            verdict = str(Verdict.BOTH if significant else Verdict.EQUIVALENT)
        elif p_equivalence is not None:
            verdict = str(Verdict.DIFFERENT if significant else Verdict.UNDECIDED)
        shares, noticeable = _preferences(self.matrix[:, a] - self.matrix[:, b], self.mapping), None
        if self.margin_given and self.margin is not None:
            noticeable = abs(difference) >= self.margin
        elif shares is not None:
            noticeable = max(shares[0], shares[2]) > 0.5
        more |= zip(("prefer", "cannot_tell", "prefer_other"), shares or (None, None, None), strict=True)
        sizes = ("low", "high", "smallest_significant", "d_z", "superiority")
        more |= {name: float(getattr(effects, name)[a, b]) for name in sizes}
        return Pair(
            system=effects.systems[a],
            other=effects.systems[b],
            difference=difference,
            p=float(tests.p[a, b]),
            p_corrected=p_corrected,
            p_error=float(tests.error[a, b]),
            significant=significant,
            noticeable=noticeable,
            verdict=verdict,
            p_equivalence=p_equivalence,
            n_queries=int(effects.n_queries[a, b]),
            **more,
        )


def _baselines(given: str | Iterable[str] | None, systems: Sequence[str]) -> tuple[str, ...]:
    names = () if given is None else (given,) if isinstance(given, str) else tuple(dict.fromkeys(given))
    for name in names:
        if name not in systems:
            raise unknown("system", name, systems)
    return names


def _check(
    eff: Effectiveness, *, test: str, correction: str, alternative: Alternative, baselines: tuple[str, ...]
) -> None:
    """Refuse what cannot be compared, or not in that way."""
    if len(eff.measures) != 1:
        raise AdjudgeError(f"compare takes one measure at a time, got {', '.join(eff.measures)}; name one: eff['…']")
    if len(eff.systems) < 2:
        raise NotEnoughDataError(f"comparing needs at least two systems, got {len(eff.systems)}")
    if test not in PAIRED_TESTS and test not in FAMILYWISE_TESTS:
        raise unknown("test", test, [*PAIRED_TESTS, *FAMILYWISE_TESTS])
    _ = CORRECTIONS[correction]
    if alternative == "two-sided":
        return
    if test in FAMILYWISE_TESTS:
        raise AdjudgeError(f"The test {test!r} is two-sided, got alternative={alternative!r}")
    if not baselines:
        raise AdjudgeError(f"alternative={alternative!r} needs a baseline: two-sided, the data may say who is better.")


def _complete(eff: Effectiveness) -> Effectiveness:
    """The queries that every system has, with a warning where they are fewer."""
    inside: Mask = np.asarray(np.isfinite(eff.matrix()).all(axis=1))
    if inside.all():
        return eff
    warn(
        f"Tests of the whole family use the {int(inside.sum())} of {len(inside)} queries that every system has.",
        stacklevel=3,
    )
    return eff.select(queries=[eff.queries[place] for place in np.flatnonzero(inside)])


def run_test(
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
    chosen: Mask = np.isin(np.arange(len(systems)), [systems.index(name) for name in baselines or systems])
    wanted = chosen[first] | chosen[second]
    first, second = first[wanted], second[wanted]
    swap = difference[first, second] < 0 if alternative == "two-sided" else chosen[first] & ~chosen[second]
    return np.where(swap, second, first), np.where(swap, first, second)


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


def _preferences(delta: Floats, mapping: AgreementMapping | None) -> tuple[float, float, float] | None:
    """Shares of users who prefer the first, cannot tell and prefer the second, averaged over the queries of both."""
    if mapping is None:
        return None
    delta = delta[np.isfinite(delta)]
    agree, cannot_tell, disagree = mapping(delta)
    prefer, prefer_other = np.where(delta >= 0, (agree, disagree), (disagree, agree)).mean(axis=1)
    return float(prefer), float(cannot_tell.mean()), float(prefer_other)


_SHOWN = 60


@dataclass(frozen=True)
class ComparisonTable:
    """The table of ``adjudge compare``; ``drawing`` is for a terminal, ``text`` for ``csv``, ``json`` and ``latex``."""

    comparisons: tuple[Comparison, ...]
    notes: tuple[str, ...]
    command: str | None

    def text(self, style: str, **paper: Any) -> str:
        """The table as ``csv``, ``json`` or ``latex``, this with options for :func:`adjudge.tables.as_latex`."""
        first = self.comparisons[0]
        if style == "latex":
            comment = [f"Adjudge {first.provenance.version}", self.command or ""]
            tables = [table for each in self.comparisons for table in each.paper_tables()]
            return as_latex(tables, comment=comment, **paper)
        records = [{"measure": each.measure, **row} for each in self.comparisons for row in each.to_dicts()]
        if style == "csv":
            return as_csv(records)
        settings = {"resamples": first.resamples, "seed": first.seed, "command": self.command}
        ranked = [each for each in self.comparisons if each.has_ranks]
        return as_json(
            {
                "pairs": records,
                "ranks": [{"measure": each.measure, **row} for each in ranked for row in each.ranks().to_dicts()],
                "margins": {
                    each.measure: {"margin": each.margin, "source": each.margin_source} for each in self.comparisons
                },
                "notes": [*self.notes, *dict.fromkeys(line for each in self.comparisons for line in each.cautions)],
                "provenance": first.provenance.with_settings(**settings).to_dict(),
            }
        )

    def drawing(self) -> RenderableType:
        """Two tables per measure: differences and p-values with the two answers side by side, and possible ranks."""
        from rich.console import Group
        from rich.text import Text

        tables: list[RenderableType] = []
        for each in self.comparisons:
            tables.append(replace(each.table(), title="").first(_SHOWN, "--csv has them all"))
            if each.has_ranks and len(each.systems) > 2:
                tables += [Text(""), each.ranks().table().first(_SHOWN, "--json has them all")]
        return Group(*tables, *(Text(note, style="dim") for note in self.notes))
