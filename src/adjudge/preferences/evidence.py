"""What the answers of a study say about lists, for one measure on one scale; and resamples of it.

Each *tie* or nonpreference (both good, both bad) is about a pair of lists; every answer is about a difference. Answers
to the same query, or of the same participant, are alike: whatever is stated about the precision of something learnt
treats them as clusters.

Two ways to learn P(Sat) from ties. ``pairs``, the default: a tie is one answer about two lists, and P(good) depends on
the effectiveness of both (see :mod:`adjudge.users.satisfaction_fit`). ``lists``, as Urbano et al. 2012 and the thesis
do it: a tie counts twice, once for each list at that list's own effectiveness. Tied lists differ, by .24 on average in
CG@5 on Fine and .36 on Broad in the study of 2012, so a bad list often gets the answer that a good one earned, and the
reverse: ``lists`` flattens the curve at both ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.choices import TieUnit, check_choice
from adjudge.errors import AdjudgeError
from adjudge.preferences.study import BAD, GOOD, A, B, Study

_DIGITS = 9  # effectiveness computed in another order differs beyond
_MOST_CELLS = 2**23


@dataclass(frozen=True)
class Evidence:
    """Lists called good or bad, and differences with the answers to them.

    ``lists`` has the effectiveness of both lists of each tie, (ties, 2), or, where ties count by lists, that of one
    list after the other, (2 ties,). ``good`` says what each row was called and ``answer`` which answer it comes from.
    ``delta`` is λa - λb of every counted answer and ``prefers`` 1 for list a, -1 for list b, 0 for neither.
    ``unjudged`` counts answers left out because a document of theirs has no grade.
    """

    measure: str
    scale: str
    lists: Floats
    good: Ints
    answer: Ints
    list_clusters: Mapping[str, Ints]
    delta: Floats
    prefers: Ints
    clusters: Mapping[str, Ints]
    unjudged: int

    @property
    def levels(self) -> Floats:
        """Effectiveness that each row of ``lists`` stands for: that of the list, or the mean of the pair."""
        return self.lists if self.lists.ndim == 1 else self.lists.mean(axis=1)

    @property
    def sizes(self) -> Floats:
        """|Δ| of every answer."""
        return np.abs(self.delta)

    @property
    def participant(self) -> Ints:
        """Who gave each answer, where that is known."""
        if "participant" not in self.clusters:
            raise AdjudgeError(f"{self.measure} on {self.scale}: expected answers that say whose they are, got none")
        return self.clusters["participant"]

    @property
    def agrees(self) -> Ints:
        """1 where the better list was preferred, -1 where the worse one, 0 otherwise.

        Without a difference no list is the better one: such a preference neither agrees nor disagrees, as in the
        thesis, where P(Agr = 0) = 1 - P(Agr = 1) - P(Agr = -1).
        """
        signed: Ints = self.prefers * np.sign(self.delta).astype(np.int64)
        return signed


def evidence(study: Study, measure: str, scale: str, *, ties: TieUnit = "pairs") -> Evidence:
    """What the counted answers of a study say, for one measure on one scale; see the module about ``ties``."""
    check_choice("ties", ties, TieUnit)
    counted = study.counted()
    two = np.round(study.questions.effectiveness(measure, scale)[counted.question], _DIGITS).reshape(-1, 2)
    judged: Mask = np.asarray(~np.isnan(two).any(axis=1))
    if not judged.any():
        raise AdjudgeError(f"{measure} on {scale}: expected answers about lists that are judged, got none")
    counted, two = counted.select(judged), two[judged]
    clusters = counted.clusters()
    neither = np.isin(counted.choice, (GOOD, BAD))
    places = np.repeat(np.flatnonzero(neither), 1 if ties == "pairs" else 2)
    return Evidence(
        measure,
        scale,
        two[neither] if ties == "pairs" else two[neither].ravel(),
        (counted.choice[places] == GOOD).astype(np.int64),
        places,
        {kind: group[places] for kind, group in clusters.items()},
        np.round(two[:, 0] - two[:, 1], _DIGITS),
        np.select([counted.choice == A, counted.choice == B], [1, -1], 0).astype(np.int64),
        clusters,
        int(np.count_nonzero(~judged)),
    )


def judged_by_all(study: Study, combinations: Sequence[tuple[str, str]]) -> Mask:
    """Which answers are about lists that every combination (measure, scale) can score."""
    known = np.ones(len(study), dtype=np.bool_)
    for measure, scale in combinations:
        known &= ~np.isnan(study.questions.effectiveness(measure, scale)[study.question]).any(axis=1)
    return known


def stacked(draws: Iterable[Floats], width: int) -> Floats:
    """Draws (some, width) as one array, also where there are none.

    >>> stacked([], 3).shape
    (0, 3)
    """
    return np.concatenate([*draws, np.full((0, width), np.nan)])


def resampled_weights(clusters: Sequence[Ints], resamples: int, seed: int) -> Iterator[Floats]:
    """How often each answer counts in each resample: arrays (some resamples, answers), few enough to hold.

    Clusters are drawn with replacement; of two kinds that cross, each kind on its own, and an answer counts as often as
    its query times its participant, which is on the wide side (Owen 2007, doi:10.1214/07-AOAS122). One cluster alone
    says nothing of others: all weights are NaN then.
    """
    rng = np.random.default_rng(seed)
    n = len(clusters[0])
    at_once = max(1, _MOST_CELLS // max(n, 1))
    for begin in range(0, resamples, at_once):
        some = min(at_once, resamples - begin)
        weights = np.ones((some, n))
        for kind in clusters:
            present, places = np.unique(kind, return_inverse=True)
            drawn = rng.multinomial(len(present), np.full(len(present), 1 / len(present)), size=some)
            weights *= drawn[:, places] if len(present) > 1 else np.nan
        yield weights


def percentiles(draws: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Ends of the middle of some draws along the first axis, NaN draws aside."""
    if not 0 < confidence < 1:
        raise AdjudgeError(f"'confidence' must be in (0, 1), got {confidence}")
    if not len(draws):
        return np.full(draws.shape[1:], np.nan), np.full(draws.shape[1:], np.nan)
    levels = [50 * (1 - confidence), 50 * (1 + confidence)]
    known = ~np.isnan(draws).all(axis=0)
    ends = np.full((2, *draws.shape[1:]), np.nan)
    ends[:, known] = np.nanpercentile(draws[:, known], levels, axis=0)
    return ends[0], ends[1]
