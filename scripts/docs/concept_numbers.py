"""The numbers behind the figures of the concepts, computed from the embedded demo by our own code; nothing draws here.

What several figures need is computed once. Sizes are small: a site is built in seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

import adjudge as aj
from adjudge.arrays import Floats, Ints, Mask
from adjudge.relevance.calibration import Calibration, Claims, calibrate_judging
from adjudge.relevance.candidates import Candidates, candidates
from adjudge.relevance.choosing import RULES, Goal
from adjudge.relevance.session import Session
from adjudge.relevance.simulation import true_scores
from adjudge.reporting.document import FigureBlock
from adjudge.reporting.figures import Curve, Curves, Panel
from adjudge.stats.effects import effect_sizes
from adjudge.users import find_agreement, find_satisfaction, noticeable_difference, noticeable_interval
from adjudge.users.figures import Panel as NoticedPanel
from adjudge.users.figures import Panels, Series

MEASURE = "CG@5"
MEASURES = ("CG@5", "nDCG@5", "RBP@5", "P(rel=40)@5", "AP(rel=40)@5")
GRID = np.linspace(0.0, 1.0, 101)
SETS, QUERIES_A_SET = 20, 10
COMPARED = ("BSS1", "HVQ2")
JUDGED_SHARES = (0.0, 0.05, 0.2)
_JUDGED_QUERIES = 20
_NOTHING_JUDGED_EASILY = Goal(level=0.55)  # calibration looks at shares, not at where it would stop
_ESTIMATORS = ("uniform", "judgments", "hierarchical")


@cache
def demo_effectiveness() -> aj.Effectiveness:
    """Every measure that a figure shows, on the demo as everybody has it."""
    return aj.evaluate(aj.demo(), MEASURES)


@cache
def many_queries() -> aj.Effectiveness:
    """The demo's systems on as many queries as a collection hardly ever has."""
    return aj.evaluate(aj.demo(queries=SETS * QUERIES_A_SET, depth=5), MEASURE)


@dataclass(frozen=True)
class Satisfied:
    """A curve of satisfaction over :data:`GRID`, and systems mapped through it: queries x systems."""

    curve: Floats
    systems: tuple[str, ...]
    effectiveness: Floats
    p_sat: Floats
    mean: Floats
    success: Floats


def satisfied(systems: Sequence[str] = ("KLN2", "ZX1")) -> Satisfied:
    """How many users the lists of some systems satisfy, query by query."""
    eff = demo_effectiveness()[MEASURE].select(systems=list(systems))
    found, curve = aj.satisfaction(eff), find_satisfaction(MEASURE, "fine").mapping
    assert curve is not None
    means, success = found.mean[:, 0], found.success[:, 0]
    return Satisfied(curve(GRID), eff.systems, eff.matrix(), found.p_sat[:, :, 0], means, success)


def preferred() -> Panels:
    """Who prefers the better list, by difference and scale, from the answers of 2012."""
    names = ("prefer the better system", "cannot tell", "prefer the worse one")
    nothing = Series(*(np.empty(0) for _ in range(4)))
    panels = []
    for scale, title in (("fine", "CG@5, grades 0 to 100"), ("broad", "CG@5, grades 0, 1, 2")):
        mapping = find_agreement(MEASURE, scale).mapping
        assert mapping is not None
        value, (low, high) = noticeable_difference(mapping), noticeable_interval(mapping)
        mark = tuple(np.nan if end is None else end for end in (value, low, high))
        panels.append(NoticedPanel(title, (nothing,) * 3, tuple(mapping(GRID)), mark))  # type: ignore[arg-type]
    return Panels("difference on one query", "share of users", GRID, names, names, tuple(panels))


@dataclass(frozen=True)
class Noticed:
    """Pairs of systems: how surprising the difference would be by chance, and how many users prefer the better one.

    ``marked`` are names and places of the pairs to point at.
    """

    n_queries: int
    p: Floats
    prefer: Floats
    marked: tuple[tuple[str, int], ...]


def noticed(marked: Sequence[tuple[str, str]] = (("KLN2", "ZX1"), ("KLN2", "HVQ2"))) -> tuple[Noticed, Noticed]:
    """All pairs of the demo's systems, with its queries and with many more."""
    few, many = (_noticed(eff, marked) for eff in (demo_effectiveness()[MEASURE], many_queries()))
    return few, many


def _noticed(eff: aj.Effectiveness, marked: Sequence[tuple[str, str]]) -> Noticed:
    pairs = aj.compare(eff, test="t").pairs
    places = {(pair.system, pair.other): i for i, pair in enumerate(pairs)}
    return Noticed(
        len(eff.queries),
        np.array([pair.p_corrected for pair in pairs]),
        np.array([pair.prefer for pair in pairs], dtype=np.float64),
        tuple((f"{a} and {b}", places[a, b]) for a, b in marked),
    )


@dataclass(frozen=True)
class OtherQueries:
    """The difference of two systems on several sets of queries with its interval, and on all of them together."""

    systems: tuple[str, str]
    mean: Floats
    low: Floats
    high: Floats
    together: float

    @property
    def significant(self) -> Mask:
        """Sets whose interval leaves 0 out."""
        outside: Mask = (self.low > 0) | (self.high < 0)
        return outside

    @property
    def reversed(self) -> Mask:
        """Sets on which the system that is behind on all queries is ahead."""
        other: Mask = np.sign(self.mean) != np.sign(self.together)
        return other


def other_queries() -> OtherQueries:
    """The same two systems on sets of queries that share none."""
    matrix = many_queries().select(systems=list(COMPARED)).matrix()
    parts = [effect_sizes(part, systems=COMPARED) for part in np.split(matrix, SETS)]
    mean, low, high = (np.array([getattr(one, name)[0, 1] for one in parts]) for name in ("difference", "low", "high"))
    return OtherQueries(COMPARED, mean, low, high, float(np.diff(matrix.mean(axis=0)[::-1])[0]))


@dataclass(frozen=True)
class VarianceShares:
    """Of each measure the shares of variance that are due to systems, queries, and everything else."""

    measures: tuple[str, ...]
    effects: tuple[str, ...]
    shares: Floats


def variance_shares() -> VarianceShares:
    """A G-study of every measure."""
    studies = [aj.gstudy(demo_effectiveness()[name]) for name in MEASURES]
    shares = np.array([list(study.fractions().values()) for study in studies])
    return VarianceShares(MEASURES, tuple(studies[0].fractions()), shares)


def reliability() -> FigureBlock:
    """A D-study over numbers of queries."""
    study = aj.gstudy(demo_effectiveness()[MEASURE])
    return study.dstudy(queries=[5, 7, 10, 15, 20, 30, 40, 60, 80, 120, 160, 240]).figure()


def power_and_stability() -> Curves:
    """How many pairs are significant, and how many of those two sets of as many queries do not agree on."""
    sizes = (10, 20, 40, 70, 100)
    spec = aj.experiments.Stability(trials=25, sizes=sizes, procedures=aj.experiments.parse_procedures(["t"]))
    (found,) = aj.experiment(spec, many_queries(), workers=1).curves  # type: ignore[attr-defined]
    x = found.n_queries.astype(np.float64)
    lines = (
        ("significant pairs", found.power),
        ("significant pairs that other queries do not repeat", found.unrepeated),
    )
    panels = (
        Panel(name, (Curve("t test at 0.05", x, one.value, one.low, one.high),), (0.05,) if i else ())
        for i, (name, one) in enumerate(lines)
    )
    return Curves("queries", "share", tuple(panels), share_y=False)


@cache
def _candidates() -> Candidates:
    whole = candidates(aj.demo(queries=_JUDGED_QUERIES, depth=5), cutoff=5)
    return whole.retrieved()


@dataclass(frozen=True)
class Moment:
    """A judging session after some judgments."""

    n_judged: int
    systems: tuple[str, ...]
    score: Floats
    low: Floats
    high: Floats
    relevance: Floats
    deviation: Floats
    judged: Mask


@dataclass(frozen=True)
class Judging:
    """One session from nothing judged to its goal, with the truth that it did not know."""

    candidates: Candidates
    truth: dict[str, float]
    moments: tuple[Moment, ...]
    history: Curves
    telling: Floats


@cache
def judging() -> Judging:
    """Judge as a session asks, the demo's own grades being the answers."""
    known = _candidates()
    session = Session(known.unjudged(), MEASURE)
    truth = true_scores(known, session.scoring)
    marks = [round(share * len(known)) for share in JUDGED_SHARES]
    telling = RULES["information"](session.model)(session.view)
    moments, points, n_stop = [], [], None
    while n_stop is None or session.view.n_judged <= marks[-1]:
        n = session.view.n_judged
        if n_stop is None and session.done:
            n_stop = n
        if n in marks:
            moments.append(_moment(session))
        if n % 10 == 0 or n == n_stop:
            points.append((n, session.goal.value(session.view), _kept(session, truth)))
        ((query, document),) = session.next()
        session.judge(query, document, 100 * float(known.relevance[known.find(query, document)]))
    n_judged, promised, kept = np.array(points, dtype=np.float64).T
    stop = (float(n_stop), f"stops at {n_stop} of {len(known)}")
    both = (Curve("promised", n_judged, promised), Curve("kept", n_judged, kept))
    history = Curves("judgments", "share of pairs of systems", (Panel("", both, (0.95,), uprights=(stop,)),))
    true = dict(zip(known.systems, truth.tolist(), strict=True))
    return Judging(known, true, tuple(moments), history, telling)


def _kept(session: Session, truth: Floats) -> float:
    """Share of pairs of systems in the right order, or wrong by no more than the zone."""
    expected, pairs = session.view.differences[0], session.view.upper
    return float((np.sign(expected) * (truth[:, None] - truth) >= -session.goal.zone)[pairs].mean())


def _moment(session: Session) -> Moment:
    rows, model = session.ranking(), session.model
    score, low, high = (np.array([getattr(row, name) for row in rows]) for name in ("score", "low", "high"))
    names = tuple(row.system for row in rows)
    spread = np.sqrt(model.variance)
    return Moment(session.view.n_judged, names, score, low, high, model.mean.copy(), spread, model.judged.copy())


@dataclass(frozen=True)
class Believed:
    """The documents of one query: what was believed of their relevance at some moments, and what it is."""

    n_judged: tuple[int, ...]
    relevance: Floats
    deviation: Floats
    judged: Mask
    truth: Floats


def believed() -> Believed:
    """The typical query at the last moment: of those with some documents judged, the middle one by its error."""
    found = judging()
    last, pairs = found.moments[-1], found.candidates
    unknown = ~last.judged
    error = np.bincount(pairs.query[unknown], weights=(last.relevance - pairs.relevance)[unknown] ** 2)
    some = np.bincount(pairs.query, weights=last.judged) >= 4
    order_of_queries = np.argsort(np.where(some, error / np.bincount(pairs.query[unknown]), np.inf), kind="stable")
    here = np.flatnonzero(pairs.query == order_of_queries[some.sum() // 2])
    order = here[np.argsort(-pairs.relevance[here], kind="stable")]
    shown = (found.moments[0], last)
    return Believed(
        tuple(one.n_judged for one in shown),
        100 * np.array([one.relevance[order] for one in shown]),
        100 * np.array([one.deviation[order] for one in shown]),
        np.array([one.judged[order] for one in shown]),
        100 * pairs.relevance[order],
    )


@dataclass(frozen=True)
class Telling:
    """Of each document how many systems retrieved it, and what its judgment would tell, the most telling being 1."""

    systems: Ints
    value: Floats
    n_systems: int


def telling() -> Telling:
    """Before anything is judged."""
    found = judging()
    retrieving = np.asarray(found.candidates.n_retrieving, dtype=np.int64)
    return Telling(retrieving, found.telling / found.telling.max(), found.candidates.n_systems)


@cache
def _calibrated() -> Sequence[Calibration]:
    return calibrate_judging(
        _candidates(), MEASURE, estimators=_ESTIMATORS, samples=6, systems=7, queries=12, at=(0.02, 0.05, 0.1),
        goal=_NOTHING_JUDGED_EASILY, workers=1,
    )  # fmt: skip


def claimed() -> Claims:
    """Confidence that was claimed against what was right, of three estimators."""
    found = _calibrated()

    def binned(name: str) -> tuple[Floats, ...]:
        return tuple(np.array([float(getattr(one, name)) for one in each.bins]) for each in found)

    shares = np.array(found[0].shares)
    accuracy = tuple(np.array(each.accuracy) for each in found)
    return Claims(_ESTIMATORS, binned("claimed"), binned("right"), binned("n"), shares, accuracy)


def covered() -> Curves:
    """How often intervals of differences that claim 95 % hold the truth."""
    found = _calibrated()
    x = 100 * np.array(found[0].shares)
    lines = tuple(Curve(each.estimator, x, np.array(each.covered)) for each in found)
    panel = Panel("95 % intervals of differences that hold the truth", lines, (0.95,))
    return Curves("% of the candidates judged", "share of intervals", (panel,), columns=1)
