"""P(Sat | λ) and P(Agr | |Δλ|) as shares of bins, with intervals that know which answers are alike.

Bins are equal parts of [0, 1], closed below, the last also above: [0, .1), …, [.9, 1]. Effectiveness is rounded to nine
digits first, so that .3 computed as .2999999999 is in [.3, .4).

The interval of a share is Wilson's, with two changes. (1) For n it takes the number of independent answers that would
leave as much unknown: n_eff = p (1 - p) / V, where V is the variance of the share between clusters (queries, and
participants where they are known; both at once by Cameron, Gelbach and Miller 2011), but never more than the answers
that the bin has: two lists of one answer are one answer. Where all or none are satisfied V is 0 and says nothing; the
bin then takes the design effect n / n_eff of all bins where V is above 0, taken together, or 1 without any. (2) For the
normal quantile it takes Student's t with as many degrees of freedom as the bin has clusters, less one, of the kind that
has fewest. One cluster alone leaves everything open: [0, 1].

Urbano 2013 (thesis), sections 3.3.1 and 3.3.2; Cameron, Gelbach and Miller 2011, doi:10.1198/jbes.2010.07136.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.checks import check_whole
from adjudge.errors import AdjudgeError
from adjudge.preferences.evidence import Evidence, evidence
from adjudge.preferences.study import Study
from adjudge.users.binning import bin_of
from adjudge.users.likelihood import between_clusters, numbered


@dataclass(frozen=True)
class ShareBins:
    """A share in each bin: ``count`` observations of ``answers`` answers, their ``mean`` place, the share, its ends.

    ``edges`` has one entry more than there are bins. What a bin without observations would say is NaN.
    """

    edges: Floats
    mean: Floats
    count: Ints
    answers: Ints
    share: Floats
    low: Floats
    high: Floats
    confidence: float

    @property
    def used(self) -> Ints:
        """The bins that have observations."""
        return np.flatnonzero(self.count)

    def interval(self, k: int) -> str:
        """Bin k as an interval: ``[0.1, 0.2)``, the last one closed."""
        return f"[{self.edges[k]:.2g}, {self.edges[k + 1]:.2g}{']' if k + 1 == len(self.count) else ')'}"

    def cell(self, k: int, digits: int = 3) -> str:
        """The share of bin k with its interval, a dash where it has no observations."""
        if not self.count[k]:
            return "–"
        return f"{self.share[k]:.{digits}f} [{self.low[k]:.{digits}f}, {self.high[k]:.{digits}f}]"

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dictionary a bin, plain values."""
        names = ("mean", "count", "answers", "share", "low", "high")
        columns = [getattr(self, name).tolist() for name in names]
        ends = zip(self.edges[:-1].tolist(), self.edges[1:].tolist(), strict=True)
        return [
            {"from": low, "to": high, **dict(zip(names, cells, strict=True))}
            for (low, high), *cells in zip(ends, *columns, strict=True)
        ]


@dataclass(frozen=True)
class SatisfactionBins:
    """P(Sat | λ) among ties, for one measure on one scale."""

    measure: str
    scale: str
    satisfied: ShareBins

    def __str__(self) -> str:
        return _table(f"P(Sat | {self.measure} on {self.scale})", {"satisfied": self.satisfied})


@dataclass(frozen=True)
class AgreementBins:
    """P(Agr = 1, 0, -1 | |Δλ|) among all counted answers, for one measure on one scale.

    ``tied`` counts preferences without a difference: they are among ``cannot_tell``, for no list is the better one.
    """

    measure: str
    scale: str
    agree: ShareBins
    cannot_tell: ShareBins
    disagree: ShareBins
    tied: int

    def first_above(self, level: float = 0.5) -> float | None:
        """Lower end of the first bin in which more than ``level`` prefer the better list; None where none does."""
        above = np.flatnonzero(self.agree.share > level)
        return float(self.agree.edges[above[0]]) if len(above) else None

    def __str__(self) -> str:
        shares = {"agree": self.agree, "cannot tell": self.cannot_tell, "disagree": self.disagree}
        return _table(f"P(Agr | Δ {self.measure} on {self.scale})", shares)


def satisfaction_bins(
    study: Study | Evidence, measure: str = "", scale: str = "", *, bins: int = 10, confidence: float = 0.95
) -> SatisfactionBins:
    """Share of ties called good, by the mean effectiveness of the two lists, or by that of each list.

    Which of the two is what the evidence says (:func:`~adjudge.preferences.evidence.evidence`): pairs for a study.
    """
    seen = _seen(study, measure, scale)
    shares = share_bins(
        seen.levels,
        seen.good.astype(np.float64),
        seen.list_clusters,
        answer=seen.answer,
        bins=bins,
        confidence=confidence,
    )
    return SatisfactionBins(seen.measure, seen.scale, shares)


def agreement_bins(
    study: Study | Evidence, measure: str = "", scale: str = "", *, bins: int = 10, confidence: float = 0.95
) -> AgreementBins:
    """Shares who prefer the better list, cannot tell, prefer the worse one, by the size of the difference."""
    seen = _seen(study, measure, scale)
    agree, cannot_tell, disagree = (
        share_bins(
            seen.sizes, (seen.agrees == sign).astype(np.float64), seen.clusters, bins=bins, confidence=confidence
        )
        for sign in (1, 0, -1)
    )
    tied = int(np.count_nonzero((seen.prefers != 0) & (seen.delta == 0)))
    return AgreementBins(seen.measure, seen.scale, agree, cannot_tell, disagree, tied)


def _seen(study: Study | Evidence, measure: str, scale: str) -> Evidence:
    return evidence(study, measure, scale) if isinstance(study, Study) else study


def share_bins(
    x: Floats,
    hit: Floats,
    clusters: Mapping[str, Ints],
    *,
    answer: Ints | None = None,
    bins: int = 10,
    confidence: float = 0.95,
) -> ShareBins:
    """Share of hits by bin of x, with the interval that the module describes.

    >>> x, hit = np.array([0.05, 0.05, 0.95, 0.95]), np.array([0.0, 1.0, 1.0, 1.0])
    >>> found = share_bins(x, hit, {"query": np.array([0, 1, 0, 1])}, bins=2)
    >>> found.share.tolist(), found.count.tolist()
    ([0.5, 1.0], [2, 2])
    """
    check_whole("bins", bins, 1)
    which = bin_of(x, bins)
    count = np.bincount(which, minlength=bins)
    ids = np.arange(len(x)) if answer is None else answer
    own = np.array([len(np.unique(ids[which == k])) for k in range(bins)], dtype=np.int64)
    some = np.where(count > 0, count, np.nan)
    share = np.bincount(which, hit, minlength=bins) / some
    effective, fewest = _effective(which, hit, share, own, tuple(clusters.values()))
    low, high = _wilson(share, effective, fewest, confidence)
    mean = np.bincount(which, x, minlength=bins) / some
    return ShareBins(np.round(np.linspace(0.0, 1.0, bins + 1), 12), mean, count, own, share, low, high, confidence)


def _effective(
    which: Ints, hit: Floats, share: Floats, answers: Ints, clusters: tuple[Ints, ...]
) -> tuple[Floats, Ints]:
    """Independent answers that each bin is worth, and the clusters of the kind of which it has fewest."""
    bins = len(share)
    worth, fewest = np.full(bins, np.nan), np.zeros(bins, dtype=np.int64)
    for k in np.flatnonzero(answers):
        rows = np.flatnonzero(which == k)
        kinds = [numbered(kind[rows]) for kind in clusters]
        fewest[k] = min((int(kind.max()) + 1 for kind in kinds), default=len(rows))
        scores = (hit[rows] - share[k])[:, None] / len(rows)
        variance = float(between_clusters(scores, kinds)[0, 0])
        if variance > 0:
            worth[k] = min(share[k] * (1 - share[k]) / variance, answers[k])
    told = np.isfinite(worth) & (answers > 0)
    effect = float(answers[told].sum() / worth[told].sum()) if told.any() else 1.0
    return np.where(np.isfinite(worth), worth, answers / effect), fewest


def _wilson(share: Floats, n: Floats, clusters: Ints, confidence: float) -> tuple[Floats, Floats]:
    """Wilson's interval with Student's t in place of the normal quantile."""
    from scipy.special import stdtrit

    if not 0 < confidence < 1:
        raise AdjudgeError(f"'confidence' must be in (0, 1), got {confidence}")
    several = clusters > 1
    z2 = np.where(several, stdtrit(np.maximum(clusters - 1, 1), 0.5 + confidence / 2), np.nan) ** 2
    some = np.where(n > 0, n, np.nan)
    centre = (share + z2 / (2 * some)) / (1 + z2 / some)
    half = np.sqrt(z2 * (share * (1 - share) / some + z2 / (4 * some**2))) / (1 + z2 / some)
    known, open_ = ~np.isnan(share), ~several & ~np.isnan(share)
    low = np.where(open_, 0.0, np.clip(centre - half, 0.0, 1.0))
    high = np.where(open_, 1.0, np.clip(centre + half, 0.0, 1.0))
    return np.where(known, low, np.nan), np.where(known, high, np.nan)


def _table(title: str, shares: Mapping[str, ShareBins]) -> str:
    first = next(iter(shares.values()))
    lines = [title, f"{'bin':<11} {'n':>5}  " + "  ".join(f"{name:<20}" for name in shares)]
    for k in range(len(first.count)):
        cells = [one.cell(k) for one in shares.values()]
        lines.append(
            f"{first.interval(k):<11} {first.count[k]:>5}  " + "  ".join(f"{cell:<20}" for cell in cells).rstrip()
        )
    return "\n".join(lines)
