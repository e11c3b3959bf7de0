"""A judging session: ask for the next document, give its grade, see the ranking, know when to stop.

The command line, simulations and the web app all drive this object. Everything it knows follows from the candidates,
its settings and the judgments in their order, so it is saved as those and resumed to the last bit.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection as Pairs
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from inspect import signature
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from adjudge._version import __version__
from adjudge.arrays import Floats, Ints, Mask
from adjudge.checks import CONFIDENCE, COUNT, SEED, SEVERAL, SHARE_BELOW_ALL, checked
from adjudge.deprecated import renamed
from adjudge.errors import AdjudgeError, InputError, reason, shown
from adjudge.io import write_whole
from adjudge.model.collection import COLLECTION, Collection, Similarity
from adjudge.model.scales import Scale, parse_scale
from adjudge.parallel import one_thread
from adjudge.relevance.audit import Audit, AuditTrail, audit_claims, audit_order
from adjudge.relevance.base import (
    ESTIMATORS,
    OPTIONS,
    EstimatorOptions,
    RelevanceModel,
    View,
    default_measure,
    estimable,
    mean_of_pairs,
    scoring,
    start,
)
from adjudge.relevance.candidates import CANDIDATES, Candidates, Opinion
from adjudge.relevance.candidates import candidates as candidates_of
from adjudge.relevance.choosing import GOAL, RULES, SECOND, Ask, Goal, as_goal, choose
from adjudge.relevance.hierarchical.model import HierarchicalModel
from adjudge.reporting.document import FigureBlock
from adjudge.reporting.figures import Curve, Curves, Forest, PairMatrix, Panel, curves, forest, pair_matrix
from adjudge.results import Column, Record, Rows, figure
from adjudge.seeds import Seed, as_seed
from adjudge.text import counted

Pair = tuple[str, str]
Judgment = tuple[str, str, float] | tuple[str, str, float, str]
"""Query, document, grade, and where it is known the assessor."""
_EVERY, _TO_LEARN = 10, 20  # second opinions to learn noise from: one per 10 judgments, up to 20
_STATE = {
    "measure": str,
    "estimator": str,
    "rule": str,
    "goal": dict,
    "seed": int,
    "options": dict,
    "candidates": str,
    "judgments": list,
}
"""What a saved session has, and of which type."""


@dataclass(frozen=True)
class RankedSystem:
    """A system in the estimated ranking: expected score with its interval, possible ranks, and chances to be on top.

    Systems of the same expected score share a rank. Ranks from ``rank_low`` to ``rank_high`` are possible, for all
    systems at once. ``tied`` are the systems of its ``tie`` and ``open`` pairs. All is about these queries with
    everything judged, but ``p_best_new``.
    """

    rank: Annotated[
        int,
        Column("rank by the expected score, the same for the same score; possible ranks", "d",
               ends=("rank_low", "rank_high")),
    ]  # fmt: skip
    system: Annotated[str, Column("the system", key=True)]
    score: Annotated[float, Column("expected score", ".3f", ends=("low", "high"))]
    low: Annotated[float, Column("lower end of its interval", ".3f", shown=False)]
    high: Annotated[float, Column("upper end of its interval", ".3f", shown=False)]
    rank_low: Annotated[int, Column("best rank that is possible", "d", shown=False)]
    rank_high: Annotated[int, Column("worst rank that is possible", "d", shown=False)]
    tier: Annotated[
        int, Column("a tier begins where a system is shown to be worse than the first of the tier above", "d")
    ]
    p_best: Annotated[float, Column("probability to have the highest score", "probability", label="P(best)")]
    p_top: Annotated[float, Column("probability to be among the first by score", "probability", label="P(top)")]
    p_best_new: Annotated[
        float | None,
        Column("probability to be the best on queries like these", "probability", label="P(best), new queries"),
    ]
    tied: Annotated[tuple[str, ...], Column("systems that it cannot be told from", label="cannot be told from")]


@dataclass(frozen=True)
class SystemPair:
    """Two systems, the one that is probably better first.

    ``confidence`` is that of the sign on these queries, ``confidence_new`` on queries like these. ``verdict`` is
    ``better`` where the former is high enough, ``tie`` where the difference is almost surely smaller than the zone,
    else ``open``.
    """

    system: Annotated[str, Column("the system that is probably better", key=True)]
    other: Annotated[str, Column("the other system", key=True)]
    difference: Annotated[float, Column("expected difference", ".3f", ends=("low", "high"))]
    low: Annotated[float, Column("lower end of its interval", ".3f", shown=False)]
    high: Annotated[float, Column("upper end of its interval", ".3f", shown=False)]
    confidence: Annotated[float, Column("confidence in the sign of the difference", ".3f")]
    confidence_new: Annotated[float | None, Column("the same for queries like these", ".3f", label="for new queries")]
    verdict: Annotated[str, Column("better, tie or open")]


@dataclass(frozen=True)
class Status(Record):
    """Where a session stands."""

    n_judged: Annotated[int, Column("candidates that are judged", ",d", label="judged")]
    n_candidates: Annotated[int, Column("candidates that there are", ",d", label="candidates")]
    value: Annotated[float, Column("what the goal is about, as it is now", ".3f", label="goal now")]
    wanted: Annotated[float, Column("what the goal wants", ".3f", label="goal wanted")]
    mean_confidence: Annotated[float, Column("mean confidence over pairs of systems", ".3f")]
    mean_confidence_new: Annotated[
        float | None, Column("mean confidence in the signs of differences on queries like these", ".3f",
                             label="for new queries")
    ]  # fmt: skip
    done: Annotated[bool, Column("whether judging can stop")]
    reason: Annotated[str, Column("why it can, or should not", shown=False)]

    @property
    def title(self) -> str:
        """Why judging can stop, or should not."""
        return self.reason


@dataclass(frozen=True)
class Assessor:
    """An assessor as an instrument. Leniency is 0 for what assessors say on average, noise a standard deviation."""

    assessor: Annotated[str, Column("the assessor", key=True)]
    n_judged: Annotated[int, Column("judgments", ",d", label="judgments")]
    leniency: Annotated[float, Column("how much higher grades are than those of all", ".2f",
                                      ends=("leniency_low", "leniency_high"))]  # fmt: skip
    leniency_low: Annotated[float, Column("lower end of its interval", ".2f", shown=False)]
    leniency_high: Annotated[float, Column("upper end of its interval", ".2f", shown=False)]
    noise: Annotated[float, Column("how far grades are from what assessors say on average, but for leniency", ".2f",
                                   ends=("noise_low", "noise_high"))]  # fmt: skip
    noise_low: Annotated[float, Column("lower end of its interval", ".2f", shown=False)]
    noise_high: Annotated[float, Column("upper end of its interval", ".2f", shown=False)]
    reliability: Annotated[float, Column("share of relevance in the variance of grades, but for leniency", ".2f")]


class Assessors(Rows[Assessor]):
    """Assessors as instruments; none where judgments are exact."""


class EstimatedRanking(Rows[RankedSystem]):
    """Systems by expected score, best first."""

    @figure("estimated-ranking")
    def _forest(self) -> FigureBlock:
        """Expected scores with their intervals."""
        systems = tuple(row.system for row in self)
        numbers = np.array([[row.score, row.low, row.high] for row in self]).T
        alt = f"Expected scores from {systems[0]} at {self[0].score:.3f} to {systems[-1]}."
        data = Forest("expected score, and its interval", systems, *numbers)
        return FigureBlock("estimated-ranking", "Expected scores of the systems.", alt, data, forest)


class EstimatedPairs(Rows[SystemPair]):
    """All pairs of systems, the largest difference first."""

    @figure("estimated-differences")
    def _matrix(self) -> FigureBlock:
        """The expected difference of every pair, once."""
        if not self:
            raise AdjudgeError("a pair matrix needs two systems or more")
        wins = Counter(pair.system for pair in self)
        names = dict.fromkeys(name for pair in self for name in (pair.system, pair.other))
        systems = tuple(sorted(names, key=lambda name: -wins[name]))
        place = {name: i for i, name in enumerate(systems)}
        difference, told = np.zeros((len(place), len(place))), np.zeros((len(place), len(place)), dtype=np.bool_)
        for pair in self:
            a, b = place[pair.system], place[pair.other]
            difference[a, b], difference[b, a] = pair.difference, -pair.difference
            told[a, b] = told[b, a] = pair.verdict == "better"
        data = PairMatrix("expected differences", systems, difference, told, None, ("told apart", "tied or open"))
        caption = (
            "Each pair once, in the row of the better system and the column of the worse one, whose names stand on the "
            "diagonal. Squares are filled where systems are told apart."
        )
        alt = f"Expected differences of {counted(len(self), 'pair')}, {int(told.sum()) // 2} of them told apart."
        return FigureBlock("estimated-differences", caption, alt, data, pair_matrix)


class History(Rows[Status]):
    """Where a session stood after some of its judgments."""

    @figure("confidence-history")
    def _curve(self) -> FigureBlock:
        """Confidence against judgments, and where judging could stop."""
        steps = [(row.n_judged, row.mean_confidence) for row in self]
        stop = next((row.n_judged for row in self if row.done), None)
        return confidence_figure(steps, stop=stop)


def confidence_figure(
    steps: Sequence[tuple[int, float]], *, wanted: float | None = None, stop: int | None = None
) -> FigureBlock:
    """Mean confidence by number of judgments, the level ``wanted``, and the judgments at which judging could stop."""
    x, y = (np.array(column, dtype=np.float64) for column in zip(*steps, strict=True))
    levels = () if wanted is None else (wanted,)
    uprights = () if stop is None else ((float(stop), f"can stop, {stop:,}"),)
    panel = Panel("", (Curve("mean confidence", x, y),), levels, uprights=uprights)
    caption = "Confidence in the ranking as judgments came in."
    alt = f"Mean confidence from {y[0]:.2f} to {y[-1]:.2f} over {int(x[-1]):,} judgments."
    data = Curves("judgments", "mean confidence", (panel,))
    return FigureBlock("confidence-history", caption, alt, data, curves)


class Session:
    """Judging with one estimator, one rule and one goal.

    ``goal`` may be the name of one. The usual ``rule`` is the one that serves the goal. ``options`` go to the
    estimator. ``seed`` decides between candidates that are equally telling. ``per_pair`` is how many assessors may
    judge the same pair where that tells more than another document; judgments then are answers with noise. ``audit`` is
    the share of judgments that go to a random sample, by which :meth:`audit` checks the model.

    >>> import adjudge as aj
    >>> from adjudge.relevance.candidates import candidates
    >>> runs = {"a": {"q": ["x", "y"]}, "b": {"q": ["y", "z"]}}
    >>> session = Session(candidates(aj.read(runs), cutoff=2, scale=aj.model.BINARY), "P@2", estimator="uniform")
    >>> session.next()[0] in [("q", "x"), ("q", "z")]
    True
    >>> session.judge("q", "x", 1)
    >>> session
    Session(P@2, uniform, mixed: 1 of 3 candidates judged)
    >>> session.judge("q", "z", 0)
    >>> [(row.system, row.score) for row in session.ranking()], session.done
    ([('a', 0.75), ('b', 0.25)], True)
    """

    @checked(goal=GOAL, seed=SEED, options=OPTIONS, per_pair=COUNT, audit=SHARE_BELOW_ALL)
    def __init__(
        self,
        candidates: Candidates,
        measure: str,
        *,
        estimator: str = "hierarchical",
        rule: str | None = None,
        goal: Goal | str | None = None,
        seed: Seed = 0,
        options: EstimatorOptions | Mapping[str, Any] | None = None,
        per_pair: int = 1,
        audit: float = 0.0,
    ) -> None:
        seed = as_seed(seed)
        self.candidates = candidates
        self.scoring = scoring(measure, candidates.scale)
        if len(self.scoring.weights) != candidates.cutoff:
            raise AdjudgeError(f"{self.scoring.measure}: expected candidates of that cutoff, got {candidates.cutoff}")
        self.estimator, self.goal, self.seed, self.per_pair = estimator, as_goal(goal), seed, per_pair
        self.rule = rule or self.goal.rule
        if per_pair > 1 and "noisy" not in signature(ESTIMATORS[estimator]).parameters:
            raise AdjudgeError(f"{estimator}: 'per_pair' must be 1, as it weighs no assessors, got {per_pair}")
        if per_pair > 1 and self.rule not in SECOND:
            known = ", ".join(SECOND)
            raise AdjudgeError(f"The rule {self.rule!r} asks for no second opinions; with 'per_pair' use {known}.")
        self.options = {**(options or {}), **({"noisy": True} if per_pair > 1 else {})}
        self.audit_share = audit
        self._priority: Floats = np.random.default_rng(seed).permutation(len(candidates)).astype(np.float64)
        self._replay([])

    @one_thread()
    def _replay(self, judgments: Sequence[Judgment]) -> None:
        """Begin again, and learn these judgments."""
        self.model: RelevanceModel = start(self.estimator, self.candidates, self.scoring, **self.options)
        known = self.candidates.relevance[self.candidates.judged]
        if self.model.weighs_assessors and self.candidates.answers is not None:
            known = self.candidates.answers.relevance
        for relevance in np.unique(known):
            self._check_binary(float(relevance))
        self._ask: Ask = RULES[self.rule](self.model)
        self._view: View | None = None
        self._trail: AuditTrail | None = None
        self._answers = np.bincount([pair for pair, _ in self.model.answers], minlength=len(self.candidates))
        self.judgments: list[Judgment] = []
        for judgment in judgments:
            self.judge(*judgment)

    def __repr__(self) -> str:
        settings = f"{self.scoring.measure}, {self.estimator}, {self.rule}"
        judged = f"{int(self.model.judged.sum()):,} of {counted(len(self.candidates), 'candidate')} judged"
        return f"{type(self).__name__}({settings}: {judged})"

    @property
    def view(self) -> View:
        """What the model says now."""
        if self._view is None:
            self._view = self.goal.view(self.model)
        return self._view

    @one_thread()
    @checked(n=COUNT)
    def next(self, n: int = 1, *, exclude: Pairs[Pair] = ()) -> list[Pair]:
        """Up to n candidates, the most telling first; ``exclude`` are being judged by others.

        With ``per_pair`` above 1, judged ones are among them where another assessor's opinion tells more. Of the first
        200 judgments every tenth is such an opinion, for nothing else tells how noisy assessors are. With an audit,
        some come from its order instead: which of the judgments to come these are follows from how many are made and
        being made.
        """
        utility = self._utility()
        others = [self.candidates.find(*pair) for pair in exclude]
        turns, drawn = self._draw(n, others)
        utility[[*others, *drawn]] = np.nan
        chosen = self._telling(n - len(drawn), utility) if n > len(drawn) else []
        for turn, place in zip(turns, drawn, strict=False):
            chosen.insert(turn, place)
        return [self.pair(place) for place in chosen]

    @one_thread()
    def most_telling(self, n: int, *, again: bool) -> list[int]:
        """The n candidates, by place, that tell most among those not judged, or ``again`` among those judged once."""
        among = self.model.judged & (self._answers < max(self.per_pair, 2)) if again else self.view.open
        utility = self._utility()
        return choose(utility, self.view, self._priority, n, among & np.isfinite(utility))

    def _utility(self) -> Floats:
        """What judging each candidate tells; -inf where nothing is left to learn, so that it comes last."""
        utility = self._ask(self.view).astype(np.float64, copy=True)
        utility[(self.model.variance <= 0) & self.view.open] = -np.inf
        return utility

    def _telling(self, n: int, utility: Floats) -> list[int]:
        """The n candidates that tell most, opinions that are lacking first."""
        again = iter(self._to_learn(utility, n))
        others = iter(choose(utility, self.view, self._priority, n, self._open))
        before, had, places = self.view.n_answers, self.view.n_answers - self.view.n_judged, list[int]()
        for more in range(1, n + 1):
            due = had < min((before + more) // _EVERY, _TO_LEARN)
            place = next(chain(*((again, others) if due else (others, again))), None)
            if place is None:
                break
            had += due
            places.append(place)
        return places

    def _to_learn(self, utility: Floats, n: int) -> list[int]:
        """The most telling of the second opinions that are due within n judgments; their utility is used up."""
        lacking = min((self.view.n_answers + n) // _EVERY, _TO_LEARN) - (self.view.n_answers - self.view.n_judged)
        if self.per_pair == 1 or lacking <= 0:
            return []
        found = choose(utility, self.view, self._priority, min(lacking, n), self._open & ~self.view.open)
        utility[found] = np.nan
        return found

    @property
    def _open(self) -> Mask:
        """Which candidates can be asked for."""
        return self._answers < self.per_pair

    def _draw(self, n: int, others: Sequence[int]) -> tuple[list[int], list[int]]:
        """Which of the next n judgments are of the audit, and the candidates that are next in its order."""
        if not self.audit_share:
            return [], []
        is_open = self.view.open.copy()
        begun = self.view.n_judged + len({place for place in others if is_open[place]})
        due = np.floor(np.arange(begun, begun + n + 1) * self.audit_share + 1e-9)
        turns = np.flatnonzero(np.diff(due)).tolist()
        if not turns:
            return [], []
        is_open[list(others)] = False
        return turns, self._audit_order[is_open[self._audit_order]][: len(turns)].tolist()

    @cached_property
    def _audit_order(self) -> Ints:
        return audit_order(self.candidates, self.scoring, self.seed)

    @checked(confidence=CONFIDENCE)
    def audit(self, *, confidence: float = 0.95) -> Audit:
        """What a random sample says of what the model says; see :mod:`adjudge.relevance.audit`.

        Of nDCG and other ratios the numerator is audited, of measures like AP relevance by the weights of their ranks.
        Of several opinions about a candidate the first is heard, and their mean where it is not known which that is.

        >>> import adjudge as aj
        >>> session = aj.judging(aj.demo(queries=10, depth=5), "CG@5")
        >>> session.audit().title, session.audit().contradicted
        ('Audit of CG@5: not contradicted after 336 audited judgments', False)
        """
        if self._trail is None:
            self._trail = AuditTrail(self.candidates, self.scoring, self._audit_order)
        relevance = self.candidates.first_relevance()
        for query, document, grade, *_ in self.judgments:
            place = self.candidates.find(query, document)
            if np.isnan(relevance[place]):
                relevance[place] = self.candidates.to_relevance(grade)
        self._trail.hear(relevance)
        view = self.view
        if not self.scoring.linear:
            known = self.candidates.with_answers(self.model.answers)
            view = self.goal.view(start(self.estimator, known, self._trail.scoring, **self.options))
        return audit_claims(
            self._trail,
            view.scores,
            view.quantile(confidence) * float(np.sqrt(view.model.inflation)),
            told=view.told(confidence),
            zone=self.goal.zone,
            confidence=confidence,
        )

    def pair(self, place: int) -> Pair:
        """Query and document of a candidate."""
        return self.candidates.queries[self.candidates.query[place]], self.candidates.document[place]

    @one_thread()
    def judge(self, query: str, document: str, grade: float, assessor: str = "") -> None:
        """Learn a grade, and who gave it; another assessor may judge the same document."""
        place, relevance = self.candidates.find(query, document), self.candidates.to_relevance(grade)
        self._check_binary(relevance)
        if (place, assessor) in self.model.answers:
            whose = f" by {shown(assessor)}" if assessor else ""
            raise AdjudgeError(
                f"Document {shown(document)} of query {shown(query)} is judged already{whose}; correct it instead."
            )
        if self._answers[place] and not self.model.weighs_assessors:
            self._check_binary((self.model.mean[place] * self._answers[place] + relevance) / (self._answers[place] + 1))
        by = (assessor,) if assessor else ()
        self.model.judge(place, relevance, *by)
        self._answers[place] += 1
        self.judgments.append((query, document, float(grade), *by))
        self._view = None

    def correct(self, query: str, document: str, grade: float, assessor: str = "") -> None:
        """Change a grade of this session; everything is learned again, as if it had been right at once."""
        self._check_binary(self.candidates.to_relevance(grade))
        given = [(q, d, "".join(by)) for q, d, _, *by in self.judgments]
        if (query, document, assessor) not in given:
            by, place = f" by {shown(assessor)}" if assessor else "", self.candidates.find(query, document)
            known = (place, assessor) in self.model.answers
            advice = "; it came with the judgments: correct it there, and start again" if known else ""
            raise AdjudgeError(
                f"Document {shown(document)} of query {shown(query)} was not judged in this session{by}{advice}."
            )
        corrected, place = list(self.judgments), given.index((query, document, assessor))
        corrected[place] = (query, document, float(grade), *corrected[place][3:])
        self._replay(corrected)

    def undo(self) -> Pair:
        """Take the last grade back."""
        if not self.judgments:
            raise AdjudgeError("Nothing was judged in this session yet.")
        query, document, *_ = self.judgments[-1]
        self._replay(self.judgments[:-1])
        return query, document

    def _check_binary(self, relevance: float) -> None:
        """Refuse relevance between 0 and 1 where the measure is binary."""
        if self.scoring.binary and relevance not in (0.0, 1.0):
            raise AdjudgeError(
                f"{self.scoring.measure}: expected grades of 0 and 1, got {relevance:g}; ask for "
                f"CG@{self.candidates.cutoff}, or for another way to combine assessors than their mean."
            )

    @property
    @one_thread()
    def done(self) -> bool:
        """Whether the goal is reached, or nothing is left to judge."""
        return self.goal.reached(self.view) or not self._open.any()

    @one_thread()
    def status(self) -> Status:
        """Where the session stands."""
        value, lacking = self.goal.value(self.view), self.goal.lacking(self.view)
        if not self._open.any():
            met = self.goal.met(self.view)
            why = "everything is judged" + ("" if met else f"; the goal is not reached: {self.goal}; it is {value:.3f}")
        elif not self.goal.met(self.view):
            why = f"the goal is not reached yet: {self.goal}; it is {value:.3f}"
        elif lacking:
            verb = "is" if lacking == 1 else "are"
            why = f"{counted(lacking, 'more judgment')} {verb} wanted before the model is believed"
        else:
            why = f"the goal is reached: {self.goal}"
        here, new = self.view.mean_confidence, self.view.sign_elsewhere
        elsewhere = None if new is None else mean_of_pairs(new)
        n, most = self.view.n_judged, len(self.candidates)
        return Status(n, most, value, self.goal.wanted, here, elsewhere, self.done, why)

    @one_thread()
    @checked(points=SEVERAL)
    def history(self, *, points: int = 20) -> History:
        """Where it stood after some of its judgments, up to so many moments: everything is learned again on the way."""
        again = Session(
            self.candidates, self.scoring.measure, estimator=self.estimator, rule=self.rule, goal=self.goal,
            seed=self.seed, options=self.options, per_pair=self.per_pair,
        )  # fmt: skip
        marks = set(np.linspace(0, len(self.judgments), points).round().astype(int).tolist())
        rows = []
        for n in range(len(self.judgments) + 1):
            if n in marks:
                rows.append(again.status())
            if n < len(self.judgments):
                again.judge(*self.judgments[n])
        title = f"Confidence in the ranking by {self.scoring.measure}"
        return History(Status, tuple(rows), title, (f"Goal: {self.goal}.",))

    @one_thread()
    @renamed(level="confidence")
    @checked(confidence=CONFIDENCE)
    def pairs(self, *, confidence: float = 0.95) -> EstimatedPairs:
        """All pairs of systems, the largest difference first."""
        expected, variance = self.view.differences
        halves = self.quantile(confidence) * np.sqrt(variance)
        names, verdicts, most, pairs = self.candidates.systems, self._verdicts(confidence), self.scoring.highest, []
        new = self.view.sign_elsewhere
        for a, b in zip(*np.nonzero(self.view.upper), strict=True):
            first, second = (a, b) if expected[a, b] >= 0 else (b, a)
            mean, half, sure = expected[first, second], halves[a, b], float(self.view.sign[a, b])
            mean, low, high = np.clip([mean, mean - half, mean + half], -most, most).tolist()
            elsewhere = None if new is None else float(new[a, b])
            pairs.append(SystemPair(names[first], names[second], mean, low, high, sure, elsewhere, str(verdicts[a, b])))
        pairs.sort(key=lambda pair: (-pair.difference, pair.system, pair.other))
        return EstimatedPairs(SystemPair, tuple(pairs), f"Pairs of systems by {self.scoring.measure}")

    def _verdicts(self, confidence: float) -> npt.NDArray[np.str_]:
        """Tie, better or open, systems x systems."""
        told = np.where(self.view.told(confidence), "better", "open")
        return np.where(self.view.near >= confidence, "tie", told)

    @checked(confidence=CONFIDENCE)
    def quantile(self, confidence: float) -> float:
        """Standard deviations on each side of an interval of this confidence."""
        return self.view.quantile(confidence)

    @one_thread()
    @renamed(level="confidence")
    @checked(confidence=CONFIDENCE)
    def ranking(self, *, confidence: float = 0.95) -> EstimatedRanking:
        """Systems by expected score, best first, with intervals; equal ones by name.

        Beliefs may leave the scale; scores and intervals are cut off at its ends.
        """
        mean, names = self.view.scores.mean, self.candidates.systems
        half = self.quantile(confidence) * np.sqrt(np.diagonal(self.view.scores.covariance) * self.model.inflation)
        score, low, high = np.clip([mean, mean - half, mean + half], 0.0, self.scoring.highest).tolist()
        rank = 1 + (self.view.differences[0] < 0).sum(axis=1)
        order, ranks, (best, first) = np.argsort(rank, kind="stable"), self.view.ranks(confidence), self.view.chances
        new = self.view.best_elsewhere
        doubt = self._verdicts(confidence) != "better"
        ranked = tuple(
            RankedSystem(
                rank=int(rank[s]),
                system=names[s],
                score=score[s],
                low=low[s],
                high=high[s],
                rank_low=int(ranks.low[s]),
                rank_high=int(ranks.high[s]),
                tier=int(ranks.tier[s]),
                p_best=float(best[s]),
                p_top=float(first[s]),
                p_best_new=None if new is None else float(new[s]),
                tied=tuple(names[other] for other in order if doubt[s, other] and other != s),
            )
            for s in order
        )
        return EstimatedRanking(RankedSystem, ranked, f"Estimated ranking by {self.scoring.measure}")

    @property
    def assessors(self) -> Assessors:
        """Leniency and noise of each assessor, where pairs have answers of several or are to have them."""
        model, most = self.model, self.candidates.scale.maximum
        known = model.instruments() if isinstance(model, HierarchicalModel) else []
        rows, quantile = [], self.quantile(0.95)
        for instrument in known:
            half, wide = most * quantile * instrument.leniency_sd, float(np.exp(quantile * instrument.spread / 2))
            lenient, noise = most * instrument.leniency, most * float(np.sqrt(instrument.noise))
            rows.append(
                Assessor(
                    assessor=instrument.assessor or "(no name)",
                    n_judged=instrument.n_judged,
                    leniency=lenient,
                    leniency_low=lenient - half,
                    leniency_high=lenient + half,
                    noise=noise,
                    noise_low=noise / wide,
                    noise_high=noise * wide,
                    reliability=instrument.reliability,
                )
            )
        note = "Leniency and noise are in grades; intervals hold with 95 %."
        return Assessors(Assessor, tuple(rows), "Assessors as instruments", (note,))

    def to_dict(self) -> dict[str, Any]:
        """Settings and judgments: all that is needed to resume on the same candidates."""
        return {
            "adjudge": __version__,
            "measure": self.scoring.measure,
            "estimator": self.estimator,
            "rule": self.rule,
            "goal": asdict(self.goal),
            "seed": self.seed,
            "options": self.options,
            "per_pair": self.per_pair,
            "audit": self.audit_share,
            "candidates": fingerprint(self.candidates),
            "judgments": [list(judgment) for judgment in self.judgments],
        }

    def save(self, path: str | Path) -> None:
        """Write the state as JSON, whole or not at all."""
        try:
            text = json.dumps(self.to_dict(), indent=1, ensure_ascii=False)
        except TypeError as error:
            raise AdjudgeError(f"The options of the estimator cannot be saved: {error}.") from None
        write_whole(Path(path), f"{text}\n".encode())

    @classmethod
    def load(cls, path: str | Path, candidates: Candidates) -> Session:
        """Resume a saved session on the same candidates; refused where they are others."""
        source = str(path)
        try:
            state = json.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise InputError(f"cannot be read: {reason(error)}", source=source) from None
        except (ValueError, RecursionError):
            raise InputError("expected the state of a session, got something else or a part", source=source) from None
        for name, kind in _STATE.items():
            if not isinstance(state, dict) or not isinstance(state.get(name), kind):
                raise InputError(f"expected the state of a session, got one without {name!r}", source=source)
        known = (candidates, replace(candidates, answers=None))  # sessions of version 1.0 know no answers
        pool = {fingerprint(each): each for each in known}.get(state["candidates"])
        if pool is None:
            raise InputError("is of other runs, cutoff, scale, metadata, judgments or hints than these", source=source)
        names = ("estimator", "rule", "seed", "options", "per_pair", "audit")  # the last two are new since version 1.0
        settings = {name: state[name] for name in names if name in state}
        try:
            session = cls(pool, state["measure"], goal=Goal(**state["goal"]), **settings)
            session._replay(state["judgments"])
        except (AttributeError, TypeError, ValueError) as error:  # what was written by another hand
            raise InputError(f"expected the state of a session: {error}", source=source) from None
        return session


def fingerprint(candidates: Candidates) -> str:
    """A digest of what the numbers depend on."""
    digest = hashlib.sha256()
    for text in (candidates.queries, candidates.systems, candidates.document, str(candidates.scale), candidates.cutoff):
        digest.update(json.dumps(text, ensure_ascii=False).encode())
    c = candidates
    for codes in (c.query, c.entry_pair, c.entry_system, c.entry_rank):
        digest.update(np.ascontiguousarray(codes, dtype=np.int64).tobytes())
    digest.update(np.ascontiguousarray(c.relevance).tobytes())
    for codes in (c.team, c.artist, c.genre, c.query_artist, c.query_genre):
        digest.update(np.ascontiguousarray(codes, dtype=np.int64).tobytes())
    for name in sorted(candidates.opinions):
        digest.update(name.encode() + np.ascontiguousarray(candidates.opinions[name]).tobytes())
    if c.answers is not None:
        digest.update(json.dumps(c.answers.assessors, ensure_ascii=False).encode())
        for column in (c.answers.pair, c.answers.assessor, c.answers.relevance):
            digest.update(np.ascontiguousarray(column).tobytes())
    if candidates.similarity is not None:
        digest.update(f"sound {candidates.similarity.digest}".encode())
    return digest.hexdigest()


Opinions = Mapping[str, Opinion]
"""Machine opinions by name."""


def prepare_candidates(
    data: Collection | Candidates,
    measure: str | None,
    *,
    scale: Scale | str | None = None,
    opinions: Opinions | None = None,
    similarity: Similarity | None = None,
) -> tuple[str, Candidates]:
    """The measure to estimate, and the candidates up to its cutoff where those are not given."""
    if isinstance(data, Candidates):
        return measure or f"CG@{data.cutoff}", data
    parsed, cutoff = estimable(measure or default_measure(data))
    used = parse_scale(scale) if isinstance(scale, str) else scale
    return str(parsed), candidates_of(data, cutoff=cutoff, scale=used, opinions=opinions, similarity=similarity)


@checked(
    collection=COLLECTION | CANDIDATES, goal=GOAL, seed=SEED, options=OPTIONS, per_pair=COUNT, audit=SHARE_BELOW_ALL
)
def judging(
    collection: Collection,
    measure: str | None = None,
    *,
    scale: Scale | str | None = None,
    opinions: Opinions | None = None,
    similarity: Similarity | None = None,
    estimator: str = "hierarchical",
    rule: str | None = None,
    goal: Goal | str | None = None,
    seed: Seed = 0,
    options: EstimatorOptions | Mapping[str, Any] | None = None,
    per_pair: int = 1,
    audit: float = 0.0,
) -> Session:
    """Start to judge a collection with as few judgments as the goal needs; what is judged already is learned.

    ``measure`` needs a cutoff: candidates are what systems retrieved up to it; the default is CG at 10, or at the depth
    of the runs where that is less. ``scale`` is needed where nothing is judged yet. ``opinions`` are machine opinions
    by name, ``similarity`` is that of documents: :func:`adjudge.relevance.embedding_similarity`,
    :func:`adjudge.relevance.text_similarity`, :func:`adjudge.audio.sound_similarity`, or what has ``among`` and
    ``digest``. The other settings are those of :class:`Session`.

    >>> import adjudge as aj
    >>> session = judging(aj.demo(queries=10, depth=5), "CG@5", estimator="uniform")
    >>> session.done, session.ranking()[0].system
    (True, 'HVQ3')
    """
    seed = as_seed(seed)
    name, pool = prepare_candidates(collection, measure, scale=scale, opinions=opinions, similarity=similarity)
    as_goal(goal).check_systems(pool.n_systems)
    return Session(
        pool, name, estimator=estimator, rule=rule, goal=goal, seed=seed, options=options, per_pair=per_pair,
        audit=audit,
    )  # fmt: skip
