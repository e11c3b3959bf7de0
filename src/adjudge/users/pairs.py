"""Two systems compared: the numbers of one pair, and how to say them."""

from __future__ import annotations

from dataclasses import dataclass

from adjudge.stats.intervals import with_interval
from adjudge.stats.paired import MEAN


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
