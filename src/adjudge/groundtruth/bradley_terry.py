"""Bradley-Terry with Davidson's ties: strengths of documents from preferences.

Of documents i and j with strengths s, the chances of the three answers are as

    i preferred : j preferred : alike  =  exp(s_i) : exp(s_j) : exp(t + (s_i + s_j) / 2)

where t, one number a query, says how readily people call documents alike. Answers are taken as independent. Documents
that nobody compared are compared through others that both were compared with.

Reference: Bradley & Terry 1952, doi 10.1093/biomet/39.3-4.324; Davidson 1970, doi 10.1080/01621459.1970.10481082.
"""

from __future__ import annotations

import numpy as np

from adjudge.arrays import Floats
from adjudge.groundtruth.evidence import Evidence, comparison
from adjudge.groundtruth.preferred import PreferredQuery
from adjudge.groundtruth.strengths import PRIOR_DEVIATION, Strengths, fit


def bradley_terry(wins: Floats, alike: Floats, *, prior: float = PRIOR_DEVIATION) -> Strengths:
    """Strengths from how often the row was preferred to the column, and how often both were called alike.

    Without a single answer "alike" t is left out of the model.

    >>> strengths = bradley_terry(np.array([[0.0, 8.0], [2.0, 0.0]]), np.zeros((2, 2)), prior=100.0)
    >>> [round(float(np.exp(one)), 2) for one in strengths.value]  # odds of 8 to 2, half of their logarithm each
    [2.0, 0.5]
    """
    n, has_ties = len(wins), bool(alike.any())
    first, second = np.nonzero(np.triu(wins + wins.T + alike, 1))
    counts = np.stack([wins[first, second], wins[second, first], alike[first, second]], axis=1)
    features = np.zeros((len(first), 3, n + 1))
    row = np.arange(len(first))
    features[row, 0, first] = features[row, 1, second] = 1.0
    features[row, 2, first] = features[row, 2, second] = 0.5
    features[:, 2, n] = 1.0
    if not has_ties:
        counts, features = counts[:, :2], features[:, :2, :n]
    total = counts.sum(axis=1)

    def slope(at: Floats) -> tuple[float, Floats, Floats]:
        utility = features @ at
        top = utility.max(axis=1, keepdims=True)
        share = np.exp(utility - top)
        sums = share.sum(axis=1, keepdims=True)
        share /= sums
        value = float((counts * utility).sum() - total @ (top + np.log(sums))[:, 0])
        expected = np.einsum("pc,pck->pk", share, features)
        gradient = np.einsum("pc,pck->k", counts, features) - total @ expected
        spread = np.einsum("p,pc,pck,pcl->kl", total, share, features, features, optimize=True)
        return value, gradient, spread - (expected.T * total) @ expected

    return fit(slope, n, extra=int(has_ties), prior=prior)


def answers_about(asked: PreferredQuery) -> Floats:
    """How many answers each document came up in."""
    together: Floats = (asked.wins + asked.wins.T + asked.alike).sum(axis=1)
    return together


@comparison(
    "bradley-terry",
    takes="preferences",
    about="Bradley-Terry strengths with Davidson's ties; all pairs, also those never asked, by their posterior",
)
def by_strength(asked: PreferredQuery, *, seed: int = 0, prior: float = PRIOR_DEVIATION) -> Evidence:
    """Every pair compared by the posterior of the difference of strengths.

    >>> rows = [("q", "a", "b", 1, "x"), ("q", "b", "c", 1, "x")] * 5
    >>> from adjudge.groundtruth.preferred import Preferences
    >>> by_strength(Preferences.from_rows(rows).queries[0]).documents
    ('a', 'b', 'c')
    """
    found = bradley_terry(asked.wins, asked.alike, prior=prior)
    return found.evidence(
        asked.query,
        asked.documents,
        sooner=found.sooner,
        compared=~np.eye(len(asked.documents), dtype=np.bool_),
        answers=answers_about(asked),
    )
