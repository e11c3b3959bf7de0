"""Tests of experts' ranks of two documents: Mann-Whitney, and the signed-rank test of experts who ranked both."""

from __future__ import annotations

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.groundtruth.evidence import Evidence, comparison
from adjudge.groundtruth.mann_whitney import Method, smaller_ranks
from adjudge.groundtruth.rankings import RankedQuery
from adjudge.stats.matrices import ROUNDING
from adjudge.stats.resampling import signed_rank_tails


def rank_summaries(asked: RankedQuery) -> tuple[Floats, Floats, Floats, Floats]:
    """Median, mean and both quartiles of the ranks of each document; every document has some."""
    ordered = np.sort(asked.ranks, axis=0)  # what is unknown comes last
    place = np.array([0.25, 0.5, 0.75])[:, None] * (np.isfinite(ordered).sum(axis=0) - 1)
    below = np.floor(place).astype(np.int64)
    low, high = (np.take_along_axis(ordered, at, axis=0) for at in (below, np.ceil(place).astype(np.int64)))
    lower, middle, upper = low + (high - low) * (place - below)
    return middle, np.nanmean(asked.ranks, axis=0), lower, upper


def by_median_then_mean(middle: Floats, mean: Floats, documents: tuple[str, ...]) -> Ints:
    """The arrangement of the original method; documents equal in both stand by name, so that it never changes."""
    names = np.argsort(np.argsort(np.array(documents, dtype=object)))
    order: Ints = np.lexsort((names, mean, middle)).astype(np.int64)
    return order


def rank_evidence(asked: RankedQuery, sooner: Floats, *, compared: Mask) -> Evidence:
    """Evidence from a test of ranks, arranged by median, then mean; the diagonal is not compared."""
    middle, mean, lower, upper = rank_summaries(asked)
    evidence = Evidence(
        query=asked.query,
        documents=asked.documents,
        sooner=sooner,
        compared=compared & ~np.eye(len(asked.documents), dtype=np.bool_),
        middle=middle,
        lower=lower,
        upper=upper,
        answers=asked.times_ranked,
        mean=mean,
    )
    return evidence.arranged(by_median_then_mean(middle, mean, asked.documents))


@comparison(
    "mann-whitney",
    takes="rankings",
    about="Mann-Whitney U test of the ranks of two documents; arranged by median, then mean (Typke et al. 2005)",
)
def mann_whitney(asked: RankedQuery, *, seed: int = 0, method: Method = "auto") -> Evidence:
    """Rank samples compared as if they were independent; every document must have been ranked by somebody.

    >>> asked = RankedQuery("q", ("a", "b"), ("x", "y"), np.array([[2.0, 1.0], [2.0, 1.0]]))
    >>> mann_whitney(asked).documents
    ('b', 'a')
    """
    n = len(asked.documents)
    return rank_evidence(asked, smaller_ranks(asked.ranks, method=method), compared=np.ones((n, n), dtype=np.bool_))


@comparison(
    "signed-rank",
    takes="rankings",
    about="Wilcoxon signed-rank test of the experts who ranked both documents; arranged by median, then mean",
)
def signed_rank(asked: RankedQuery, *, seed: int = 0) -> Evidence:
    """Differences of the ranks that each expert gave both documents: the same people ranked both, and it is used.

    Exact for up to 49 experts (13 if some differences are equal in size), beyond that normal and corrected for
    continuity. Experts who tied the two are dropped, as in :func:`adjudge.stats.paired.wilcoxon`.
    Pairs that no expert ranked both of were not compared.

    >>> asked = RankedQuery("q", ("a", "b"), ("x", "y"), np.array([[2.0, 1.0], [2.0, 1.0]]))
    >>> signed_rank(asked).sooner.tolist()
    [[1.0, 0.25], [1.0, 1.0]]
    """
    n = len(asked.documents)
    row, column = np.triu_indices(n, 1)
    differences = asked.ranks[:, row] - asked.ranks[:, column]
    sooner, compared = np.ones((n, n)), np.zeros((n, n), dtype=np.bool_)
    greater, less, _, _ = signed_rank_tails(differences, ROUNDING * np.nanmax(np.abs(asked.ranks)))
    sooner[column, row], sooner[row, column] = greater, less
    compared[row, column] = compared[column, row] = np.isfinite(differences).any(axis=0)
    return rank_evidence(asked, sooner, compared=compared)
