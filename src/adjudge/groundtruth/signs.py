"""Sign tests of pairs of documents: how many of those who compared both preferred the one, how many the other.

Preferences are such comparisons; so are rankings, where an expert who ranked both put one before the other or tied
them. "Alike" is an answer to what groups are about, not a missing one, and so it is split: half of such answers count
for each document, an odd one for neither. (Leaving them out, the classic way, tests which of the two is preferred by
those who have a preference, and calls documents different at .25 that eight of ten people call alike and two do not.)

Reference: Dixon & Mood 1946, doi 10.1080/01621459.1946.10501898.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.special import bdtr

from adjudge.arrays import Floats
from adjudge.choices import check_choice
from adjudge.groundtruth.bradley_terry import answers_about, bradley_terry
from adjudge.groundtruth.comparisons import rank_evidence
from adjudge.groundtruth.evidence import Evidence, comparison
from adjudge.groundtruth.preferred import PreferredQuery
from adjudge.groundtruth.rankings import RankedQuery

Alike = Literal["split", "left out"]
"""What becomes of answers that call two documents alike."""


def sign_tests(wins: Floats, alike: Floats, *, ties: Alike = "split") -> Floats:
    """p-values of "the row is preferred to the column": P(X >= wins), X binomial with probability 1/2; exact.

    1 where nobody compared the two.

    >>> wins, alike = np.array([[0.0, 3.0], [0.0, 0.0]]), np.array([[0.0, 4.0], [4.0, 0.0]])
    >>> sign_tests(wins, alike)[0].round(4).tolist()  # 5 of 7
    [1.0, 0.2266]
    >>> sign_tests(wins, alike, ties="left out")[0].round(4).tolist()  # 3 of 3
    [1.0, 0.125]
    """
    check_choice("ties", ties, Alike)
    shared = np.floor(alike / 2) if ties == "split" else np.zeros_like(alike)
    against, total = wins.T + shared, wins + wins.T + 2 * shared
    p: Floats = bdtr(against, total.astype(np.int64), 0.5)  # as many against as there are, or fewer
    return p


@comparison(
    "sign",
    takes="preferences",
    about="exact sign test of each pair that was asked, alike split; arranged by Bradley-Terry strength",
)
def preferred(asked: PreferredQuery, *, seed: int = 0, ties: Alike = "split") -> Evidence:
    """Pairs that were asked, each by its own answers alone; of other pairs nothing is said.

    >>> from adjudge.groundtruth.preferred import Preferences
    >>> rows = [("q", "a", "b", -1, str(i)) for i in range(5)] + [("q", "b", "c", 1, "0")]
    >>> evidence = preferred(Preferences.from_rows(rows).queries[0])
    >>> evidence.documents, evidence.sooner[0].round(3).tolist()
    (('b', 'c', 'a'), [1.0, 0.5, 0.031])
    """
    wins, alike = asked.wins, asked.alike
    strengths = bradley_terry(wins, alike)
    return strengths.evidence(
        asked.query,
        asked.documents,
        sooner=sign_tests(wins, alike, ties=ties),
        compared=wins + wins.T + alike > 0,
        answers=answers_about(asked),
    )


@comparison(
    "paired-sign",
    takes="rankings",
    about="exact sign test of the experts who ranked both documents, ties split; arranged by median, then mean",
)
def ranked_before(asked: RankedQuery, *, seed: int = 0, ties: Alike = "split") -> Evidence:
    """How many experts put the one before the other: the same people ranked both, which Mann-Whitney does not use.

    Pairs that no expert ranked both of were not compared.

    >>> asked = RankedQuery("q", ("a", "b"), ("x", "y"), np.array([[2.0, 1.0], [2.0, 1.0]]))
    >>> ranked_before(asked).sooner.tolist()
    [[1.0, 0.25], [1.0, 1.0]]
    """
    before = np.stack([(row[:, None] < row[None, :]) for row in asked.ranks]).sum(axis=0).astype(np.float64)
    alike = np.stack([(row[:, None] == row[None, :]) for row in asked.ranks]).sum(axis=0).astype(np.float64)
    np.fill_diagonal(alike, 0.0)
    return rank_evidence(asked, sign_tests(before, alike, ties=ties), compared=before + before.T + alike > 0)
