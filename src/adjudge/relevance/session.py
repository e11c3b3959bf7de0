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
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from adjudge._version import __version__
from adjudge.arrays import Floats
from adjudge.checks import CONFIDENCE, COUNT, SEED, SEVERAL, checked
from adjudge.deprecated import renamed
from adjudge.errors import AdjudgeError, InputError, reason, shown
from adjudge.io import write_whole
from adjudge.model.collection import COLLECTION, Collection, Similarity
from adjudge.model.scales import Scale, parse_scale
from adjudge.relevance.base import (
    OPTIONS,
    EstimatorOptions,
    RelevanceModel,
    View,
    default_measure,
    estimable,
    scoring,
    start,
)
from adjudge.relevance.candidates import CANDIDATES, Candidates, Opinion
from adjudge.relevance.candidates import candidates as candidates_of
from adjudge.relevance.choosing import GOAL, RULES, Ask, Goal, as_goal, choose
from adjudge.reporting.document import FigureBlock
from adjudge.reporting.figures import Curve, Curves, Forest, PairMatrix, Panel, curves, forest, pair_matrix
from adjudge.results import Column, Record, Rows, figure
from adjudge.seeds import Seed, as_seed
from adjudge.text import counted

Pair = tuple[str, str]
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
    """A system in the estimated ranking: expected score with its interval, and systems it cannot be told from.

    Systems of the same expected score share a rank. ``tied`` are the systems of its ``tie`` and ``open`` pairs.
    """

    rank: Annotated[int, Column("place in the ranking; systems of the same score share it", "d")]
    system: Annotated[str, Column("the system", key=True)]
    score: Annotated[float, Column("expected score", ".3f", ends=("low", "high"))]
    low: Annotated[float, Column("lower end of its interval", ".3f", shown=False)]
    high: Annotated[float, Column("upper end of its interval", ".3f", shown=False)]
    tied: Annotated[tuple[str, ...], Column("systems that it cannot be told from", label="cannot be told from")]


@dataclass(frozen=True)
class SystemPair:
    """Two systems, the one that is probably better first.

    ``confidence`` is that of the sign. ``verdict`` is ``better`` where that is high enough, ``tie`` where the
    difference is almost surely smaller than the zone, else ``open``.
    """

    system: Annotated[str, Column("the system that is probably better", key=True)]
    other: Annotated[str, Column("the other system", key=True)]
    difference: Annotated[float, Column("expected difference", ".3f", ends=("low", "high"))]
    low: Annotated[float, Column("lower end of its interval", ".3f", shown=False)]
    high: Annotated[float, Column("upper end of its interval", ".3f", shown=False)]
    confidence: Annotated[float, Column("confidence in the sign of the difference", ".3f")]
    verdict: Annotated[str, Column("better, tie or open")]


@dataclass(frozen=True)
class Status(Record):
    """Where a session stands."""

    n_judged: Annotated[int, Column("candidates that are judged", ",d", label="judged")]
    n_candidates: Annotated[int, Column("candidates that there are", ",d", label="candidates")]
    value: Annotated[float, Column("what the goal is about, as it is now", ".3f", label="goal now")]
    wanted: Annotated[float, Column("what the goal wants", ".3f", label="goal wanted")]
    mean_confidence: Annotated[float, Column("mean confidence over pairs of systems", ".3f")]
    done: Annotated[bool, Column("whether judging can stop")]
    reason: Annotated[str, Column("why it can, or should not", shown=False)]

    @property
    def title(self) -> str:
        """Why judging can stop, or should not."""
        return self.reason


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

    ``goal`` may be the name of one. ``options`` go to the estimator. ``seed`` decides between candidates that are
    equally telling.

    >>> import adjudge as aj
    >>> from adjudge.relevance.candidates import candidates
    >>> runs = {"a": {"q": ["x", "y"]}, "b": {"q": ["y", "z"]}}
    >>> session = Session(candidates(aj.read(runs), cutoff=2, scale=aj.model.BINARY), "P@2", estimator="uniform")
    >>> session.next()[0] in [("q", "x"), ("q", "z")]
    True
    >>> session.judge("q", "x", 1)
    >>> session
    Session(P@2, uniform, information: 1 of 3 candidates judged)
    >>> session.judge("q", "z", 0)
    >>> [(row.system, row.score) for row in session.ranking()], session.done
    ([('a', 0.75), ('b', 0.25)], True)
    """

    @checked(goal=GOAL, seed=SEED, options=OPTIONS)
    def __init__(
        self,
        candidates: Candidates,
        measure: str,
        *,
        estimator: str = "hierarchical",
        rule: str = "information",
        goal: Goal | str | None = None,
        seed: Seed = 0,
        options: EstimatorOptions | Mapping[str, Any] | None = None,
    ) -> None:
        seed = as_seed(seed)
        self.candidates = candidates
        self.scoring = scoring(measure, candidates.scale)
        if len(self.scoring.weights) != candidates.cutoff:
            raise AdjudgeError(f"{self.scoring.measure}: expected candidates of that cutoff, got {candidates.cutoff}")
        for relevance in np.unique(candidates.relevance[candidates.judged]):
            self._check_binary(float(relevance))
        self.estimator, self.rule, self.goal, self.seed = estimator, rule, as_goal(goal), seed
        self.options = dict(options or {})
        self._priority: Floats = np.random.default_rng(seed).permutation(len(candidates)).astype(np.float64)
        self._replay([])

    def _replay(self, judgments: Sequence[tuple[str, str, float]]) -> None:
        """Begin again, and learn these judgments."""
        self.model: RelevanceModel = start(self.estimator, self.candidates, self.scoring, **self.options)
        self._ask: Ask = RULES[self.rule](self.model)
        self._view: View | None = None
        self.judgments: list[tuple[str, str, float]] = []
        for query, document, grade in judgments:
            self.judge(query, document, grade)

    def __repr__(self) -> str:
        settings = f"{self.scoring.measure}, {self.estimator}, {self.rule}"
        judged = f"{int(self.model.judged.sum()):,} of {counted(len(self.candidates), 'candidate')} judged"
        return f"{type(self).__name__}({settings}: {judged})"

    @property
    def view(self) -> View:
        """What the model says now."""
        if self._view is None:
            self._view = View(self.model, self.goal.zone)
        return self._view

    @checked(n=COUNT)
    def next(self, n: int = 1, *, exclude: Pairs[Pair] = ()) -> list[Pair]:
        """Up to n candidates, the most telling first; ``exclude`` are being judged by others."""
        utility = self._ask(self.view)
        if exclude:
            utility = utility.astype(np.float64, copy=True)
            utility[[self.candidates.find(*pair) for pair in exclude]] = np.nan
        return [self.pair(place) for place in choose(utility, self.view, self._priority, n)]

    def pair(self, place: int) -> Pair:
        """Query and document of a candidate."""
        return self.candidates.queries[self.candidates.query[place]], self.candidates.document[place]

    def judge(self, query: str, document: str, grade: float) -> None:
        """Learn a grade."""
        place, relevance = self.candidates.find(query, document), self.candidates.to_relevance(grade)
        self._check_binary(relevance)
        if self.model.judged[place]:
            raise AdjudgeError(
                f"Document {shown(document)} of query {shown(query)} is judged already; correct it instead."
            )
        self.model.judge(place, relevance)
        self.judgments.append((query, document, float(grade)))
        self._view = None

    def correct(self, query: str, document: str, grade: float) -> None:
        """Change a grade of this session; everything is learned again, as if it had been right at once."""
        self._check_binary(self.candidates.to_relevance(grade))
        pairs = [(q, d) for q, d, _ in self.judgments]
        if (query, document) not in pairs:
            raise AdjudgeError(f"Document {shown(document)} of query {shown(query)} was not judged in this session.")
        corrected = list(self.judgments)
        corrected[pairs.index((query, document))] = (query, document, float(grade))
        self._replay(corrected)

    def undo(self) -> Pair:
        """Take the last grade back."""
        if not self.judgments:
            raise AdjudgeError("Nothing was judged in this session yet.")
        query, document, _ = self.judgments[-1]
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
    def done(self) -> bool:
        """Whether the goal is reached, or nothing is left to judge."""
        return self.goal.reached(self.view) or bool(self.model.judged.all())

    def status(self) -> Status:
        """Where the session stands."""
        value, lacking = self.goal.value(self.view), self.goal.lacking(self.view)
        if self.model.judged.all():
            why = "everything is judged"
        elif not self.goal.met(self.view):
            why = f"the goal is not reached yet: {self.goal}, but it is {value:.3f}"
        elif lacking:
            verb = "is" if lacking == 1 else "are"
            why = f"{counted(lacking, 'more judgment')} {verb} wanted before the model is believed"
        else:
            why = f"the goal is reached, {self.goal}"
        sure = self.view.mean_confidence
        return Status(self.view.n_judged, len(self.candidates), value, self.goal.wanted, sure, self.done, why)

    @checked(points=SEVERAL)
    def history(self, *, points: int = 20) -> History:
        """Where it stood after some of its judgments, up to so many moments: everything is learned again on the way."""
        again = Session(
            self.candidates, self.scoring.measure, estimator=self.estimator, rule=self.rule, goal=self.goal,
            seed=self.seed, options=self.options,
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

    @renamed(level="confidence")
    @checked(confidence=CONFIDENCE)
    def pairs(self, *, confidence: float = 0.95) -> EstimatedPairs:
        """All pairs of systems, the largest difference first."""
        expected, variance = self.view.differences
        halves = self.quantile(confidence) * np.sqrt(variance)
        names, verdicts, most, pairs = self.candidates.systems, self._verdicts(confidence), self.scoring.highest, []
        for a, b in zip(*np.nonzero(self.view.upper), strict=True):
            first, second = (a, b) if expected[a, b] >= 0 else (b, a)
            mean, half, sure = expected[first, second], halves[a, b], float(self.view.sign[a, b])
            mean, low, high = np.clip([mean, mean - half, mean + half], -most, most).tolist()
            pairs.append(SystemPair(names[first], names[second], mean, low, high, sure, str(verdicts[a, b])))
        pairs.sort(key=lambda pair: (-pair.difference, pair.system, pair.other))
        return EstimatedPairs(SystemPair, tuple(pairs), f"Pairs of systems by {self.scoring.measure}")

    def _verdicts(self, confidence: float) -> npt.NDArray[np.str_]:
        """Tie, better or open, systems x systems."""
        told = (self.view.sign >= confidence) & (self.view.differences[0] != 0)
        return np.where(self.view.near >= confidence, "tie", np.where(told, "better", "open"))

    @checked(confidence=CONFIDENCE)
    def quantile(self, confidence: float) -> float:
        """Standard deviations on each side of an interval of this confidence."""
        return self.view.quantile(confidence)

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
        order = np.argsort(rank, kind="stable")
        doubt = self._verdicts(confidence) != "better"
        tied = {s: tuple(names[o] for o in order if doubt[s, o] and o != s) for s in order}
        ranked = tuple(RankedSystem(int(rank[s]), names[s], score[s], low[s], high[s], tied[s]) for s in order)
        return EstimatedRanking(RankedSystem, ranked, f"Estimated ranking by {self.scoring.measure}")

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
        if state["candidates"] != fingerprint(candidates):
            raise InputError("is of other runs, cutoff, scale, metadata, judgments or sound than these", source=source)
        settings = {name: state[name] for name in ("estimator", "rule", "seed", "options")}
        try:
            session = cls(candidates, state["measure"], goal=Goal(**state["goal"]), **settings)
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


@checked(collection=COLLECTION | CANDIDATES, goal=GOAL, seed=SEED, options=OPTIONS)
def judging(
    collection: Collection,
    measure: str | None = None,
    *,
    scale: Scale | str | None = None,
    opinions: Opinions | None = None,
    similarity: Similarity | None = None,
    estimator: str = "hierarchical",
    rule: str = "information",
    goal: Goal | str | None = None,
    seed: Seed = 0,
    options: EstimatorOptions | Mapping[str, Any] | None = None,
) -> Session:
    """Start to judge a collection with as few judgments as the goal needs; what is judged already is learned.

    ``measure`` needs a cutoff: candidates are what systems retrieved up to it; the default is CG at 10, or at the depth
    of the runs where that is less. ``scale`` is needed where nothing is judged yet. ``opinions`` are machine opinions
    by name, ``similarity`` is that of documents, by their sound for example
    (:func:`adjudge.audio.sound_similarity`). The other settings are those of :class:`Session`.

    >>> import adjudge as aj
    >>> session = judging(aj.demo(queries=10, depth=5), "CG@5", estimator="uniform")
    >>> session.done, session.ranking()[0].system
    (True, 'HVQ3')
    """
    seed = as_seed(seed)
    name, pool = prepare_candidates(collection, measure, scale=scale, opinions=opinions, similarity=similarity)
    return Session(pool, name, estimator=estimator, rule=rule, goal=goal, seed=seed, options=options)
