"""A study: questions, what people answered to them, and the evidence in the answers for one measure on one scale.

Each *tie* or nonpreference (both good, both bad) is about a pair of lists; every answer is about a difference. Answers
to the same query, or of the same participant, are alike: intervals treat them as clusters.

P(Sat) can be learnt from ties in two ways. ``pairs``, the default: a tie is one answer about two lists, and P(good)
depends on the effectiveness of both (see :mod:`adjudge.users.satisfaction`). ``lists``, as in Urbano et al. 2012 and
the thesis: a tie counts twice, once for each list at that list's own effectiveness. Tied lists differ, by .24 on
average in CG@5 on Fine and .36 on Broad in the study of 2012, so a bad list often gets the answer that a good one
earned, and the reverse: ``lists`` flattens the curve at both ends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.checks import CONFIDENCE, TieUnit, checked
from adjudge.errors import AdjudgeError
from adjudge.preferences.questions import CHOICES, Questions
from adjudge.registry import unknown

if TYPE_CHECKING:
    from adjudge.preferences.trust import TrustRules


A, B, GOOD, BAD = range(len(CHOICES))
_COLUMNS = ("question", "choice", "participant", "swapped", "seconds", "heard", "at", "set_aside")


@dataclass(frozen=True)
class Study:
    """Answers to questions, one row per answer, in the order in which they came.

    ============ ========== ==================================================================================
    question     (answers,) place of the question in ``questions``
    choice       (answers,) ``A``, ``B``, ``GOOD`` or ``BAD``: about lists a and b, not sides of a screen
    participant  (answers,) place in ``participants``; -1 where it is not known who answered
    swapped      (answers,) 1 where list b stood first (left, or above), 0 where list a did, -1 where unknown
    seconds      (answers,) how long the answer took; NaN where unknown
    heard        (answers,) seconds of sound that were played for it; NaN where unknown
    at           (answers,) when, in seconds since 1970 (UTC); NaN where unknown
    set_aside    (answers,) whether it is kept out of everything that is learnt
    ============ ========== ==================================================================================

    ``rules`` of trust and ``least_seconds`` of sound by the name of the question are those of the campaign that the
    answers come from; None where there is none. ``reasons`` says for each participant why their answers are set aside,
    empty where they are not. Answers to traps are about people, not about lists, and do not count in what is learnt
    about lists (see :meth:`counted`).
    """

    questions: Questions
    question: Ints
    choice: Ints
    participant: Ints
    participants: tuple[str, ...]
    swapped: Ints
    seconds: Floats
    heard: Floats
    at: Floats
    set_aside: Mask
    reasons: tuple[str, ...] = ()
    comments: tuple[str, ...] = ()
    source: str = ""
    sha256: str = ""
    rules: TrustRules | None = None
    least_seconds: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        n = len(self.question)
        lengths = {len(getattr(self, name)) for name in _COLUMNS} | ({len(self.comments)} if self.comments else set())
        if lengths != {n}:
            came = ", ".join(map(str, sorted(lengths)))
            raise AdjudgeError(f"Study: expected columns of {n} answers each, got {came}")
        people = len(self.participants)
        for places, least, size, what in (
            (self.question, 0, len(self.questions), f"answers to {len(self.questions)} questions, from 0 on"),
            (self.choice, 0, len(CHOICES), f"choices from 0 to 3 ({', '.join(CHOICES)})"),
            (self.participant, -1, people, f"answers of {people} participants, from 0 on"),
        ):
            wrong = places[(places < least) | (places >= size)]
            if len(wrong):
                raise AdjudgeError(f"Study: expected {what}, got {wrong[0]}")
        if self.reasons and len(self.reasons) != people:
            raise AdjudgeError(
                f"Study: expected a reason, or an empty one, for each of {people} participants, got {len(self.reasons)}"
            )

    def __len__(self) -> int:
        return len(self.question)

    def __repr__(self) -> str:
        who = f" of {len(self.participants):,} participants" if self.knows_participants else ""
        return f"Study({len(self):,} answers{who} to {len(self.questions):,} questions)"

    @property
    def knows_participants(self) -> bool:
        """Whether it is known who gave each answer."""
        return bool(len(self)) and bool((self.participant >= 0).all())

    @cached_property
    def trap(self) -> Mask:
        """Which answers are to traps."""
        return np.array([question.is_trap for question in self.questions.questions], dtype=np.bool_)[self.question]

    @cached_property
    def right(self) -> Mask:
        """Which answers to traps are among the expected ones; False for all other answers."""
        asked = self.questions.questions
        pairs = zip(self.question, self.choice, strict=True)
        return np.array([CHOICES[choice] in asked[place].expected for place, choice in pairs], dtype=np.bool_)

    def select(self, rows: Ints | Mask) -> Study:
        """Some of the answers."""
        comments = tuple(np.array(self.comments, dtype=object)[rows]) if self.comments else ()
        return replace(self, **{name: getattr(self, name)[rows] for name in _COLUMNS}, comments=comments)

    def counted(self) -> Study:
        """The answers that say something about lists: no traps, nothing set aside."""
        return self.select(~self.trap & ~self.set_aside)

    def with_aside(self) -> Study:
        """The study as if nothing had been set aside."""
        return replace(self, set_aside=np.zeros(len(self), dtype=np.bool_))

    def without(self, participant: str) -> Study:
        """The study as if one participant had not taken part."""
        if participant not in self.participants:
            raise unknown("participant", participant, self.participants)
        return self.select(self.participant != self.participants.index(participant))

    def clusters(self) -> dict[str, Ints]:
        """What makes answers alike: the query, and the participant where any is known.

        Each answer of an unknown participant counts as that person's only one.
        """
        queries = np.unique(np.array(self.questions.queries, dtype=object), return_inverse=True)[1]
        found = {"query": queries.astype(np.int64)[self.question]}
        if bool((self.participant >= 0).any()):
            alone = len(self.participants) + np.arange(len(self))
            found["participant"] = np.where(self.participant >= 0, self.participant, alone)
        return found


_DIGITS = 9  # effectiveness computed in another order differs beyond
_MOST_CELLS = 2**23


@dataclass(frozen=True)
class Evidence:
    """Lists called good or bad, and differences with the answers about them.

    ``lists`` has the effectiveness of both lists of each tie, (ties, 2), or, where ties count by lists, that of one
    list after the other, (2 ties,). ``good`` says what each row was called and ``answer`` which answer it comes from.
    ``delta`` is λa - λb of every counted answer and ``prefers`` 1 for list a, -1 for list b, 0 for neither.
    ``unjudged`` counts answers left out because one of their documents has no grade.
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
        """Effectiveness of each row of ``lists``: that of the list, or the mean of the pair."""
        return self.lists if self.lists.ndim == 1 else self.lists.mean(axis=1)

    @property
    def sizes(self) -> Floats:
        """``|Δ|`` of every answer."""
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


@checked(ties=TieUnit)
def evidence(study: Study, measure: str, scale: str, *, ties: TieUnit = "pairs") -> Evidence:
    """What the counted answers of a study say, for one measure on one scale; see the module about ``ties``."""
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


def resampled(
    statistic: Callable[[Floats], Floats], width: int, clusters: Sequence[Ints], resamples: int, seed: int
) -> Floats:
    """A statistic (resamples, width) of how often each answer counts in each resample (some resamples, answers).

    Clusters are drawn with replacement; of two kinds that cross, each kind on its own, and an answer counts as often as
    its query times its participant, which is on the wide side (Owen 2007, doi:10.1214/07-AOAS122). One cluster alone
    says nothing of others: all weights are NaN then.
    """
    rng = np.random.default_rng(seed)
    n = len(clusters[0])
    at_once = max(1, _MOST_CELLS // max(n, 1))  # resamples that fit in memory
    draws = [np.full((0, width), np.nan)]
    for begin in range(0, resamples, at_once):
        some = min(at_once, resamples - begin)
        weights = np.ones((some, n))
        for kind in clusters:
            present, places = np.unique(kind, return_inverse=True)
            drawn = rng.multinomial(len(present), np.full(len(present), 1 / len(present)), size=some)
            weights *= drawn[:, places] if len(present) > 1 else np.nan
        draws.append(statistic(weights))
    return np.concatenate(draws)


@checked(confidence=CONFIDENCE)
def percentiles(draws: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Percentile interval of draws along the first axis, without NaN draws."""
    if not len(draws):
        return np.full(draws.shape[1:], np.nan), np.full(draws.shape[1:], np.nan)
    levels = [50 * (1 - confidence), 50 * (1 + confidence)]
    known = ~np.isnan(draws).all(axis=0)
    ends = np.full((2, *draws.shape[1:]), np.nan)
    ends[:, known] = np.nanpercentile(draws[:, known], levels, axis=0)
    return ends[0], ends[1]
