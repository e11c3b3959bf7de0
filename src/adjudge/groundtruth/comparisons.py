"""Tests of pairs of documents: Mann-Whitney for experts' ranks."""

from __future__ import annotations

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.groundtruth.evidence import Evidence, comparison
from adjudge.groundtruth.mann_whitney import Method, smaller_ranks
from adjudge.groundtruth.rankings import RankedQuery


def rank_summaries(asked: RankedQuery) -> tuple[Floats, Floats, Floats, Floats]:
    """Median, mean and both quartiles of the ranks of each document; every document has some."""
    lower, middle, upper = np.nanpercentile(asked.ranks, (25, 50, 75), axis=0)
    return middle, np.nanmean(asked.ranks, axis=0), lower, upper


def by_median_then_mean(middle: Floats, mean: Floats, documents: tuple[str, ...]) -> Ints:
    """The arrangement of the original method; documents equal in both stand by name, so that it never changes."""
    names = np.argsort(np.argsort(np.array(documents, dtype=object)))
    order: Ints = np.lexsort((names, mean, middle)).astype(np.int64)
    return order


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
    middle, mean, lower, upper = rank_summaries(asked)
    n = len(asked.documents)
    evidence = Evidence(
        query=asked.query,
        documents=asked.documents,
        sooner=smaller_ranks(asked.ranks, method=method),
        compared=~np.eye(n, dtype=np.bool_),
        middle=middle,
        lower=lower,
        upper=upper,
        answers=asked.times_ranked,
        mean=mean,
    )
    return evidence.arranged(by_median_then_mean(middle, mean, asked.documents))
