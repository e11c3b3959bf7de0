"""An audit: what a random sample says of the claims of a model, whatever the model is and whenever somebody looks.

All candidates stand in a random order that follows from their names and a seed: the next one is always drawn with a
probability in proportion to its weights in the scores of all systems, as a random place in the list of a random system
would be (:func:`audit_order`). The audit hears candidates in that order, up to the first that is not judged. Who judged
them, why, when and in which sequence does not matter, as their places do not depend on their grades.

Let m_i be what is expected of candidate i, w_i its weight in a score (or a difference of such weights), c_i its size,
and C the sum of sizes over R, the candidates whose turn has not come. For the next one, j,

    Y = Σ_{i not in R} w_i r_i + Σ_{i in R} w_i m_i + w_j (r_j - m_j) C / c_j

has the true score θ as its expectation, however wrong m is: poor expectations cost precision only. They are those of a
hierarchical model that learned nothing but the candidates before j in the order. Let L be the least that Y can be. Who
bets a share f of his capital, 1 at first, on "more than θ" at every turn has

    K(θ) = Π_t (1 + f (Y_t - θ) / (θ - L_t))

in the end. If the truth is at most θ, K reaches 1 / α at some time with probability α at most (Ville's inequality), and
so does its mean over several f. So bounds leave out every θ for which it ever did: they hold at all times at once, and
at any time at which judging stops for whatever reason. An upper bound mirrors this.

A claim is an interval that the model says holds the truth. Evidence against it is the mean of K at its upper end and of
the mirrored K at its lower end. Means of such evidence over claims, however dependent, keep the property for the
statement that all of them hold; verdicts on single claims hold their false discovery rate (e-BH).

Waudby-Smith, I. and Ramdas, A., Estimating means of bounded random variables by betting, JRSS B 86(1), 2024,
doi:10.1093/jrsssb/qkad009. Wang, R. and Ramdas, A., False discovery rate control with e-values, JRSS B 84(3), 2022,
doi:10.1111/rssb.12489.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.errors import AdjudgeError
from adjudge.relevance.base import Scores, Scoring, start
from adjudge.relevance.candidates import Candidates
from adjudge.reporting.document import FigureBlock
from adjudge.reporting.figures import Curve, Curves, Panel, curves
from adjudge.results import Column, Result, figure
from adjudge.text import counted

_SHARES = (0.25, 0.5, 0.9)  # of the capital that is bet
_HALVINGS = 20
_RESAMPLES, _POWER = 100, 0.8
_FEWEST = 5  # candidates heard, to say what would have been found
_DRAWN = 40  # points of the figure
_MEAN_WEIGHT = 0.5  # of the mean score among all claims: it can be found wrong with the fewest judgments


@dataclass(frozen=True)
class AuditedClaim:
    """What the model says of a score or a difference of scores, and what the audit says of it.

    Verdicts: ``contradicted`` is the model's interval. ``confirmed``: the audit alone shows that two systems that are
    told apart are in the right order, or wrong by no more than the zone. ``open``: neither. The bounds of the halves
    are those of what is possible, as the model says who is in them.
    """

    kind: Annotated[str, Column("mean, halves, score or difference", key=True)]
    system: Annotated[str, Column("the system, or the better one of two as the model has it", key=True)]
    other: Annotated[str | None, Column("the other system", key=True)]
    expected: Annotated[float, Column("expected by the model", ".3f", label="model", ends=("low", "high"))]
    low: Annotated[float, Column("lower end of the model's interval", ".3f", shown=False)]
    high: Annotated[float, Column("upper end of the model's interval", ".3f", shown=False)]
    audit_low: Annotated[float, Column("lower bound by the audit alone", ".3f", label="audit, from")]
    audit_high: Annotated[float, Column("upper bound by the audit alone", ".3f", label="to")]
    evidence: Annotated[float, Column("evidence against the model's interval, 1 at first", ".2g")]
    verdict: Annotated[str, Column("contradicted, confirmed or open")]


@dataclass(frozen=True, repr=False)
class Audit(Result):
    """What an audit says of a model: of the mean score, of every score, of every difference.

    ``evidence`` against all intervals of the model together is 1 at first; if all hold the truth, it ever reaches
    1 / (1 - confidence) with probability 1 - confidence at most. ``detectable`` is the error of the mean expected score
    that would have been found with probability .8; None where too little is heard to say. ``path`` has bounds of the
    mean score by number of candidates heard.
    """

    rows: tuple[AuditedClaim, ...]
    about: str
    n_heard: int
    n_candidates: int
    confidence: float
    evidence: float
    detectable: float | None
    path: tuple[tuple[int, float, float], ...]

    row_type = AuditedClaim
    fact_names = ("n_heard", "n_candidates", "confidence", "evidence", "detectable")

    @property
    def contradicted(self) -> bool:
        """Whether the evidence is enough to say that the model's intervals do not hold."""
        return self.evidence >= 1 / (1 - self.confidence)

    @property
    def title(self) -> str:
        """Whether the model is contradicted, and after how many audited judgments."""
        return (
            f"{self.about}: {'contradicted' if self.contradicted else 'not contradicted'} after "
            f"{counted(self.n_heard, 'audited judgment')}"
        )

    @property
    def strength(self) -> str:
        """What would have been found."""
        if self.detectable is None:
            return "Too little is audited to find any but the grossest error."
        wrong = f"A mean expected score that is wrong by {self.detectable:.2f}"
        return f"{wrong} would have been found with probability {_POWER:g}."

    def __repr__(self) -> str:
        return f"<{self.title}>"

    def _notes(self) -> tuple[str, ...]:
        enough = 1 / (1 - self.confidence)
        return (
            f"Evidence against the model's intervals: {self.evidence:.2g}; {enough:.3g} is enough.",
            self.strength,
        )

    @figure("audit")
    def _bounds(self) -> FigureBlock:
        """Bounds of the mean score by number of audited judgments, and what the model expects."""
        if not self.path:
            raise AdjudgeError("a figure of an audit needs audited judgments")
        heard, low, high = np.array(self.path, dtype=np.float64).T
        bounds = Curve("bounds by the audit alone", heard, (low + high) / 2, low, high)
        panel = Panel("", (bounds,), (self.rows[0].expected,))
        caption = "Bounds of the mean score of all systems by the audit alone; the line is what the model expects now."
        heard_so_far = counted(self.n_heard, "audited judgment")
        alt = f"After {heard_so_far} the mean score is from {low[-1]:.2f} to {high[-1]:.2f}."
        return FigureBlock("audit", caption, alt, Curves("audited judgments", "mean score", (panel,)), curves)


def audited_scoring(scoring: Scoring) -> Scoring:
    """What can be audited of a measure: itself where it is linear, else a weighted sum as a share of the highest.

    That is the numerator of nDCG and other ratios, and for measures like AP relevance by the weights of their ranks.
    The measures themselves have no unbiased estimate from a sample.
    """
    if scoring.linear:
        return scoring
    name = f"the numerator of {scoring.measure}"
    if scoring.drawn is not None:
        name = f"relevance weighted by rank as in {scoring.measure}"
    return replace(scoring, measure=name, divisor=float(scoring.weights.sum()), drawn=None)


def audit_order(candidates: Candidates, scoring: Scoring, seed: int) -> Ints:
    """The candidates that have weight, in the order of the audit: by e_i / c_i, c_i being their sizes.

    The e_i are exponential, each from the seed and the names of query and document alone. So among those left the next
    one is drawn in proportion to size, whichever are left.
    """
    uniform = np.empty(len(candidates))
    for i, (query, document) in enumerate(zip(candidates.query, candidates.document, strict=True)):
        name = f"{seed}\0{candidates.queries[query]}\0{document}".encode()
        uniform[i] = int.from_bytes(hashlib.blake2b(name, digest_size=6).digest(), "big") + 0.5
    sizes = _sizes(candidates, scoring)
    weighty = np.flatnonzero(sizes > 0)
    return weighty[np.argsort(-np.log(uniform[weighty] / 2.0**48) / sizes[weighty], kind="stable")]


def _sizes(candidates: Candidates, scoring: Scoring) -> Floats:
    """Weight of each candidate in the scores of all systems together."""
    weights = scoring.entries(candidates)
    return np.bincount(candidates.entry_pair, weights, minlength=len(candidates)).astype(np.float64)


@dataclass(frozen=True, eq=False)
class _Bets:
    """Values of Y, turns x claims, and the least and the most that each could have been."""

    y: Floats
    low: Floats
    high: Floats

    def above(self, theta: Floats) -> Floats:
        """Capital of who bets on more than theta, turns x claims."""
        return _capital(self.y, self.low, theta)

    def below(self, theta: Floats) -> Floats:
        """Capital of who bets on less."""
        return _capital(-self.y, -self.high, -theta)

    def bounds(self, enough: float, least: Floats, most: Floats) -> tuple[Floats, Floats]:
        """What no bet of ``enough`` capital leaves out, between the ends of what is possible."""
        return _bound(self.y, self.low, enough, least, most), -_bound(-self.y, -self.high, enough, -most, -least)


def _capital(y: Floats, low: Floats, theta: Floats) -> Floats:
    """Mean capital over shares; unbounded where a value of theta is impossible."""
    gain = (y - theta) / np.maximum(theta - low, 1e-9)
    with np.errstate(over="ignore"):
        return np.asarray(np.mean([np.cumprod(1 + share * gain, axis=0) for share in _SHARES], axis=0))


def _bound(y: Floats, low: Floats, enough: float, least: Floats, most: Floats) -> Floats:
    """The lowest theta for which the capital never was enough: it falls with theta."""
    out, kept = least.copy(), most.copy()
    for _ in range(_HALVINGS):
        middle = (out + kept) / 2
        is_out = _capital(y, low, middle).max(axis=0, initial=1.0) >= enough
        out, kept = np.where(is_out, middle, out), np.where(is_out, kept, middle)
    return out


class AuditTrail:
    """What an audit heard so far; it hears more when more is judged."""

    def __init__(self, candidates: Candidates, scoring: Scoring, order: Ints) -> None:
        self.candidates, self.scoring, self.order = candidates, audited_scoring(scoring), order
        self._weights = self.scoring.matrix(candidates) / candidates.n_queries
        self._sizes = _sizes(candidates, self.scoring)
        self._left = self._sizes > 0
        scale = 1.0 if self.scoring.divisor is None else self.scoring.divisor * candidates.n_queries
        self._rate = self.scoring.entries(candidates) / scale / self._sizes[candidates.entry_pair]
        self._model = start("hierarchical", candidates.unjudged(), self.scoring)
        self._known = np.zeros(candidates.n_systems)
        self._scores: list[Floats] = []  # what is expected, Y, and how far it may be below and above, by system
        self._contrasts: list[list[tuple[Floats, float, float, float]]] = []  # with Y, the least and the most of it

    def __len__(self) -> int:
        return len(self._scores)

    def hear(self, relevance: Floats) -> None:
        """Hear candidates in their order up to the first that is not judged: relevance by candidate, NaN where not."""
        while len(self) < len(self.order):
            place = int(self.order[len(self)])
            if np.isnan(relevance[place]):
                break
            self._hear(place, float(relevance[place]))

    def _hear(self, place: int, relevance: float) -> None:
        """One turn: values of Y, how far each may be off, and what the model learns for the next one."""
        expected, row = np.clip(self._model.mean, 0.0, 1.0), self._weights[[place]].toarray()[0]
        total = float(self._sizes[self._left].sum())
        less, more = np.where(self._left, expected, 0.0), np.where(self._left, 1 - expected, 0.0)
        middle = self._known + self._weights.T @ less
        y = middle + row * (relevance - expected[place]) * total / self._sizes[place]
        self._scores.append(np.array([middle, y, total * self._most(less), total * self._most(more)]))
        self._contrasts.append([])
        for contrast in _contrasts(middle):
            low, high = self._ends(contrast, less, more)
            centre = float(contrast @ middle)
            turn = (contrast, float(contrast @ y), centre - total * low, centre + total * high)
            self._contrasts[-1].append(turn)
        self._known = self._known + row * relevance
        self._left[place] = False
        self._model.judge(place, relevance)

    def _most(self, values: Floats) -> Floats:
        """The largest weight x value / size of any candidate, by system."""
        most = np.zeros(self.candidates.n_systems)
        np.maximum.at(most, self.candidates.entry_system, self._rate * values[self.candidates.entry_pair])
        return most

    def _ends(self, contrast: Floats, less: Floats, more: Floats) -> tuple[float, float]:
        """How far Y of a contrast may be below and above, the sum of sizes being 1."""
        weights = self._weights @ contrast
        rate = np.divide(weights, self._sizes, out=np.zeros(len(weights)), where=self._sizes > 0)
        up, down = np.maximum(rate, 0.0), np.maximum(-rate, 0.0)
        return float((up * less + down * more).max()), float((up * more + down * less).max())

    def of_scores(self, systems: Ints) -> _Bets:
        """Bets on the scores of systems."""
        middle, y, below, above = self._by_turn(systems)
        return _Bets(y, middle - below, middle + above)

    def of_differences(self, a: Ints, b: Ints) -> _Bets:
        """Bets on the scores of systems a less those of b."""
        (middle, y, below, above), (middle_b, y_b, below_b, above_b) = self._by_turn(a), self._by_turn(b)
        low, high = np.maximum(below, above_b), np.maximum(above, below_b)
        return _Bets(y - y_b, middle - middle_b - low, middle - middle_b + high)

    def of_contrast(self, k: int) -> tuple[Floats, _Bets]:
        """A contrast by turn, turns x systems, and bets on it."""
        turns = [turn[k] for turn in self._contrasts]
        vectors = np.array([turn[0] for turn in turns]).reshape(-1, self.candidates.n_systems)
        y, low, high = np.array([turn[1:] for turn in turns]).reshape(-1, 3, 1).swapaxes(0, 1)
        return vectors, _Bets(y, low, high)

    def _by_turn(self, systems: Ints) -> Floats:
        """What is expected of systems, Y, and how far Y may be below and above, each turns x systems."""
        turns = np.array(self._scores).reshape(-1, 4, self.candidates.n_systems)
        return np.asarray(turns[:, :, systems].swapaxes(0, 1))


def _contrasts(scores: Floats) -> list[Floats]:
    """Weights of systems whose sums of scores are audited: the mean, and the better half less the other one."""
    n = len(scores)
    mean, halves = np.full(n, 1.0 / n), np.zeros(n)
    if n < 2:
        return [mean]
    order, half = np.argsort(-scores, kind="stable"), n // 2
    halves[order[:half]], halves[order[-half:]] = 1.0 / half, -1.0 / half
    return [mean, halves]


def audit_claims(
    trail: AuditTrail, scores: Scores, wide: float, *, told: Mask, zone: float, confidence: float
) -> Audit:
    """Hold what a model says against what was heard.

    Its intervals are ``wide`` standard deviations on each side. Systems that are ``told`` apart are claimed not to be
    in the wrong order by more than ``zone``.
    """
    groups = [*_contrast_claims(trail, scores, wide), _score_claims(trail, scores, wide)]
    if trail.candidates.n_systems > 1:
        groups.append(_difference_claims(trail, scores, wide, told, zone))
    enough = 1 / (1 - confidence)
    weights = np.array([_MEAN_WEIGHT, *[(1 - _MEAN_WEIGHT) / (len(groups) - 1)] * (len(groups) - 1)])
    together = weights @ np.array([group.evidence.mean(axis=1) for group in groups])
    alone = np.concatenate([_last(group.evidence) for group in groups])
    contradicted = _discoveries(alone, 1 - confidence)
    bounds = np.concatenate([group.bounds(2 * enough) for group in groups], axis=1)
    confirmed = np.zeros(len(alone), dtype=np.bool_)
    if trail.candidates.n_systems > 1:
        pairs = groups[-1]
        order = np.where(pairs.told, _last(pairs.bets.above(np.full(len(pairs.names), -zone))), 0.0)
        confirmed[-len(order) :] = _discoveries(order, 1 - confidence)
    verdicts = np.where(contradicted, "contradicted", np.where(confirmed, "confirmed", "open"))
    names = [(group.kind, system, other) for group in groups for system, other in group.names]
    ends = [np.concatenate([getattr(group, end) for group in groups]) for end in ("expected", "low", "high")]
    numbers = np.array([*ends, *bounds, alone]).T.tolist()
    rows = tuple(
        AuditedClaim(*name, expected, low, high, audit_low, audit_high, evidence, verdict)
        for name, (expected, low, high, audit_low, audit_high, evidence), verdict in zip(
            names, numbers, verdicts.tolist(), strict=True
        )
    )
    mean = groups[0]
    found = mean.detectable(2 * enough / _MEAN_WEIGHT)  # at one end of its interval, if nothing else is wrong
    return Audit(
        rows,
        f"Audit of {trail.scoring.measure}",
        len(trail),
        len(trail.order),
        confidence,
        float(together.max(initial=1.0)),
        None if found is None else found + float(mean.high[0] - mean.expected[0]),
        mean.path(2 * enough),
    )


@dataclass(frozen=True, eq=False)
class _Claims:
    """Claims of one kind: intervals of the model, bets, and the evidence against each by turn, turns x claims."""

    kind: str
    names: list[tuple[str, str | None]]
    expected: Floats
    low: Floats
    high: Floats
    bets: _Bets
    evidence: Floats
    least: float
    most: float
    told: bool | Mask = False

    def bounds(self, enough: float, turns: int | None = None) -> tuple[Floats, Floats]:
        """Bounds after the first turns, all by default; of halves, which the model chose, those of what is possible."""
        if self.kind == "halves":
            return np.array([self.least]), np.array([self.most])
        first = _Bets(self.bets.y[:turns], self.bets.low[:turns], self.bets.high[:turns])
        return first.bounds(enough, np.full(len(self.names), self.least), np.full(len(self.names), self.most))

    def path(self, enough: float) -> tuple[tuple[int, float, float], ...]:
        """Bounds of the first claim by number of turns."""
        n = len(self.bets.y)
        marks = np.unique(np.linspace(1, n, min(n, _DRAWN)).round().astype(int)) if n else ()
        ends = [self.bounds(enough, int(t)) for t in marks]
        return tuple((int(t), float(low[0]), float(high[0])) for t, (low, high) in zip(marks, ends, strict=True))

    def detectable(self, enough: float) -> float | None:
        """How far outside the interval of the first claim the truth is found with probability .8, or further."""
        y, low, high = (values[:, 0] for values in (self.bets.y, self.bets.low, self.bets.high))
        if len(y) < _FEWEST:
            return None
        again = np.random.default_rng(0).integers(len(y), size=(len(y), _RESAMPLES))
        width = np.full(_RESAMPLES, self.most - self.least)
        ends = _Bets(y[again], low[again], high[again]).bounds(enough, y.mean() - width, y.mean() + width)
        return float(max(np.quantile(np.abs(end - y.mean()), _POWER) for end in ends))


def _last(values: Floats) -> Floats:
    """After the last turn; 1 before the first."""
    return np.asarray(values[-1] if len(values) else np.ones(values.shape[1]))


def _discoveries(evidence: Floats, alpha: float) -> Mask:
    """e-BH: the k strongest, for the largest k of which the weakest has at least n / (k α)."""
    order = np.argsort(-evidence, kind="stable")
    enough = np.flatnonzero(evidence[order] * np.arange(1, len(order) + 1) * alpha >= len(order))
    found = np.zeros(len(order), dtype=np.bool_)
    found[order[: enough[-1] + 1 if len(enough) else 0]] = True
    return found


def _against(bets: _Bets, low: Floats, high: Floats) -> Floats:
    """Evidence by turn against a truth from low to high."""
    return (bets.above(high) + bets.below(low)) / 2


def _contrast_claims(trail: AuditTrail, scores: Scores, wide: float) -> list[_Claims]:
    """The mean score, and how far the better half of the systems is above the other, as the audit saw them."""
    kinds: list[tuple[str, tuple[str, str | None]]] = [
        ("mean", ("mean of all systems", None)), ("halves", ("better half", "worse half"))
    ]  # fmt: skip
    least = (0.0, -trail.scoring.highest)
    found = []
    for k, contrast in enumerate(_contrasts(scores.mean)):
        vectors, bets = trail.of_contrast(k)
        now = vectors[-1] if len(vectors) else contrast
        here, half_here = float(now @ scores.mean), _half(now, scores, wide)
        half = np.array([[_half(vector, scores, wide)] for vector in vectors]).reshape(-1, 1)
        move = (here - vectors @ scores.mean)[:, None]  # halves change: what is claimed is compared, as if those of now
        moved = _Bets(bets.y + move, bets.low + move, bets.high + move)
        low, high = np.array([here - half_here]), np.array([here + half_here])
        evidence, most = _against(moved, here - half, here + half), trail.scoring.highest
        kind, name = kinds[k]
        found.append(_Claims(kind, [name], np.array([here]), low, high, moved, evidence, least[k], most))
    return found


def _half(contrast: Floats, scores: Scores, wide: float) -> float:
    """Half of the model's interval of a contrast of systems."""
    return wide * float(np.sqrt(max(float(contrast @ scores.covariance @ contrast), 0.0)))


def _score_claims(trail: AuditTrail, scores: Scores, wide: float) -> _Claims:
    """The score of every system, best first."""
    order = np.argsort(-scores.mean, kind="stable")
    middle, half = scores.mean[order], wide * np.sqrt(np.diagonal(scores.covariance)[order])
    bets = trail.of_scores(order)
    names: list[tuple[str, str | None]] = [(trail.candidates.systems[s], None) for s in order]
    evidence = _against(bets, middle - half, middle + half)
    most = trail.scoring.highest
    return _Claims("score", names, middle, middle - half, middle + half, bets, evidence, 0.0, most)


def _difference_claims(trail: AuditTrail, scores: Scores, wide: float, told: Mask, zone: float) -> _Claims:
    """The difference of every two systems, the largest first."""
    expected, variance = scores.differences()
    first, second = np.nonzero(np.triu(np.ones_like(expected), 1))
    a, b = np.where(expected[first, second] >= 0, (first, second), (second, first))
    order = np.argsort(-expected[a, b], kind="stable")
    a, b = a[order], b[order]
    middle, half, bets = expected[a, b], wide * np.sqrt(variance[a, b]), trail.of_differences(a, b)
    names: list[tuple[str, str | None]] = [
        (trail.candidates.systems[i], trail.candidates.systems[j]) for i, j in zip(a, b, strict=True)
    ]
    low, high = middle - half, middle + half
    evidence = _against(bets, np.where(told[a, b], np.maximum(low, -zone), low), high)
    most = trail.scoring.highest
    return _Claims("difference", names, middle, low, high, bets, evidence, -most, most, told[a, b])
