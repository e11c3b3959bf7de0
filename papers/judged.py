"""What the studies of thesis chapter 8 and of AdMIRe 2012 share: candidates of MIREX 2011, sessions step by step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from papers.claims import Reason, Series
from papers.data import Data

if TYPE_CHECKING:
    from adjudge.arrays import Floats
    from adjudge.relevance.candidates import Candidates
    from adjudge.relevance.session import Session
    from adjudge.relevance.simulation import Checkpoint


MEASURES = {"CG_l": "CG@5", "DCG_l": "DCG@5", "nDCG_l": "nDCG@5", "RBP_l": "RBP(ideal=judged)@5"}
"""The measures of chapter 8, as the thesis writes them and here; ideals are of the judged documents."""
BIN_EDGES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
"""Bins of confidence in Tables 8.2 and 8.4."""
OF_BINS = ("pairs with confidence in [.99, 1]", "accuracy of those", "accuracy of all pairs")
"""What is compared of these tables."""
NOT_PRINTED = Reason(
    "model",
    "models with the parameters of Table A.1, which were fitted with 2011; the published numbers most probably come "
    "from models fitted without it, whose parameters are not printed. Where an independent implementation used Table "
    "A.1, too, it got what we get",
)


def collection(data: Data) -> Candidates:
    """MIREX 2011, top 5, Fine."""
    from adjudge.relevance.candidates import candidates

    return candidates(data.mirex2011, cutoff=5)


def spearman(one: Floats, other: Floats) -> float:
    """Spearman's rank correlation."""
    from scipy.stats import spearmanr

    return float(spearmanr(one, other).statistic)


def steps(session: Session, judged: Candidates) -> Iterator[Session]:
    """A session before its first judgment and after each, with the judgments there are as the assessor, to the end."""
    yield session
    while not session.model.judged.all():
        query, document = session.next()[0]
        session.judge(query, document, float(judged.relevance[judged.find(query, document)]) * judged.scale.maximum)
        yield session


def in_bins(check: Checkpoint) -> Series:
    """Accuracy by bin of confidence, with Wilson's interval, at the mean confidence of the bin."""
    from adjudge.stats.intervals import wilson_interval

    which = np.clip(np.searchsorted(BIN_EDGES, check.claimed, side="right") - 1, 0, len(BIN_EDGES) - 2)
    used = np.unique(which)
    x = tuple(float(check.claimed[which == k].mean()) for k in used)
    right = np.array([check.right[which == k].sum() for k in used])
    n = np.array([np.count_nonzero(which == k) for k in used])
    share, low, high = wilson_interval(right, n)
    return Series("pairs of systems", x, tuple(share.tolist()), tuple(low.tolist()), tuple(high.tolist()))
