"""Towards minimal test collections (AdMIRe 2012): how many judgments it takes to know the ranking, on MIREX 2011."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from adjudge.errors import kept_warnings
from papers.claims import ANOTHER, SECOND, Claim, Numbers, Panel, Plot, Reason, Series, between, printed_value
from papers.data import Data
from papers.judged import steps
from papers.studies import Effort, Found, study

if TYPE_CHECKING:
    from adjudge.arrays import Floats, Mask
    from adjudge.model.collection import Collection
    from adjudge.relevance.candidates import Candidates
    from adjudge.relevance.session import Session


# Figure 2, Fine: confidence, judgments and their share; then least and most over random orders of ties, by another
# implementation and computed a second time
_LEVELS = (
    (0.90, "1,304", "21 %", (1338, 1420)),
    (0.95, "2,234", "35 %", (1999, 2457)),
    (0.99, "4,254", "67 %", (4156, 5023)),
)
_BINS = ("1,611", "25 %", (1298, 2627))  # all pairs that differ significantly have the right sign
_FROM_ORDERS = f"the range over random orders of ties, of {ANOTHER} and {SECOND}"
_THRESHOLDS = (0.0, 0.033, 0.067, 0.1)
_EVERY = 100
_FROM = 0.9  # confidence from which on Figure 4 looks at significance
_FINE = "the Fine scale alone: Broad judgments are not public"
_TIES = "documents that weigh the same are judged in a random order"
_SIGNIFICANT = (
    "by Friedman's test and Tukey's HSD as MIREX has them (96 of 153 pairs); the paper does not say whether it marks "
    "the first such point or the one from which on it stays so, which is taken here"
)
_RULE_4 = (
    "The paper says of its Figure 4 that for a threshold of 0 recall is below precision until 95 % confidence. By its "
    "rule 4 as printed every pair is called different then, and recall is 100 %; were rule 4 only for pairs whose sign "
    "is sure to 95 %, it would be as the paper says (last panel). With larger thresholds recall is lower here than the "
    "paper's axes show: estimates from few judgments lie near 0, as every grade is as likely."
)
_PERFECT = 1e-9


@dataclass(frozen=True)
class _Job:
    """One session: candidates, seed of its ties, which pairs differ significantly by each way to tell, how closely."""

    judged: Candidates
    seed: int
    by_tukey: Mask
    by_t: Mask
    closely: bool


@dataclass(frozen=True)
class _Moment:
    """A session held against the truth; ``found`` has precision and recall of significance for every threshold.

    The last is for a threshold of 0 when a pair must be sure of its sign, too.
    """

    n_judged: int
    confidence: float
    signs: float
    bins: float
    found: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class _Run:
    """Judgments to each level and to right bins for good, and moments on the way."""

    reached: tuple[int, ...]
    right_bins: int
    curve: tuple[_Moment, ...]


@study(
    "minimal",
    title="Judgments that a ranking takes, every grade as likely",
    covers=("M12 Table 1", "M12 Figure 1", "M12 Figure 2", "M12 Figure 3", "M12 Figure 4"),
    needs=("mirex2011",),
    partly={
        "M12 Table 1": "the row of 2011, without its teams, who are hashed: other judgments are not public",
        "M12 Figure 2": _FINE,
        "M12 Figure 3": _FINE,
        "M12 Figure 4": _FINE,
    },
    weight=15,
)
def minimal(data: Data, effort: Effort) -> Found:
    """Sessions with a uniform prior and weights (6), to the last judgment, over random orders of ties."""
    return judged_until(data.mirex2011, effort, orders=effort.trials(9, 3))


def judged_until(collection: Collection, effort: Effort, *, orders: int) -> Found:
    """The study with a given number of orders of ties."""
    from adjudge.relevance.candidates import candidates

    judged = candidates(collection, cutoff=5)
    runs = _sessions(collection, judged, effort, orders)
    claims = (*_edition(judged), *_counts(runs, len(judged)), *_accuracy(runs[0]))
    plots = (_normal(), _confidence(runs[0]), _signs(runs[0]), _significance(runs[0]))
    return Found(claims, plots, (_RULE_4,))


def _sessions(collection: Collection, judged: Candidates, effort: Effort, n_seeds: int) -> list[_Run]:
    from adjudge.parallel import run_calls

    by_tukey, by_t = _tukey(collection, judged), _t_test(judged)
    jobs = [_Job(judged, effort.seed + i, by_tukey, by_t, closely=i == 0) for i in range(n_seeds)]
    return run_calls([partial(_judge, job) for job in jobs], workers=effort.workers, progress=effort.progress)


def _tukey(collection: Collection, judged: Candidates) -> Mask:
    """Which pairs differ with everything judged, as MIREX tells it."""
    from adjudge.measures.evaluation import evaluate
    from adjudge.stats.multiple import friedman_tukey

    tests = friedman_tukey(evaluate(collection, ["CG@5"]))
    order = [tests.systems.index(name) for name in judged.systems]
    significant: Mask = (tests.p[np.ix_(order, order)] <= 0.05)[np.triu_indices(judged.n_systems, 1)]
    return significant


def _t_test(judged: Candidates) -> Mask:
    """Which pairs differ with everything judged, by the test that the paper's rules use."""
    from adjudge.relevance import estimators
    from adjudge.relevance.base import scoring
    from adjudge.relevance.significance import estimate_significance

    model = estimators.uniform(judged, scoring("CG@5", judged.scale))
    model.judge_all()
    return np.array([one.verdict != "not different" for one in estimate_significance(model)])


def _judge(job: _Job) -> _Run:
    from adjudge.relevance.choosing import Goal
    from adjudge.relevance.session import Session
    from adjudge.relevance.simulation import true_scores

    goal, levels = Goal(level=_LEVELS[-1][0], zone=0, least=0), [level for level, *_ in _LEVELS]
    with kept_warnings():
        session = Session(
            job.judged.unjudged(), "CG@5", estimator="uniform", rule="confidence", goal=goal, seed=job.seed
        )
        true = _signs_of(true_scores(job.judged, session.scoring))
        reached, wrong, curve = list[int](), 0, list[_Moment]()
        for n, after in enumerate(steps(session, job.judged)):
            confidence, right = after.view.mean_confidence, _signs_of(after.view.scores.mean) == true
            while len(reached) < len(levels) and confidence >= levels[len(reached)]:
                reached.append(n)
            wrong = wrong if right[job.by_tukey].all() else n + 1
            if job.closely and (n % _EVERY == 0 or n == len(job.judged)):
                curve.append(_moment(after, right, job))
            if not job.closely and len(reached) == len(levels):
                break
    return _Run(tuple(reached), wrong, tuple(curve))


def _signs_of(scores: Floats) -> Floats:
    differences = np.subtract.outer(scores, scores)[np.triu_indices(len(scores), 1)]
    return np.sign(np.where(np.abs(differences) > _PERFECT, differences, 0.0))


def _moment(session: Session, right: Mask, job: _Job) -> _Moment:
    confidence = session.view.mean_confidence
    bins = float((right | ~job.by_tukey).mean())
    found: tuple[tuple[float, float], ...] = ()
    if confidence >= _FROM:
        found = (
            *(_found(session, threshold, job.by_t) for threshold in _THRESHOLDS),
            _found(session, 0.0, job.by_t, 0.95),
        )
    return _Moment(session.view.n_judged, confidence, float(right.mean()), bins, found)


def _found(session: Session, threshold: float, true: Mask, least: float = 0.0) -> tuple[float, float]:
    """Precision and recall of the pairs called significantly different; the last rule asks for ``least`` confidence."""
    from adjudge.relevance.significance import estimate_significance

    rules = [one.rule or 0 for one in estimate_significance(session.model, threshold=threshold)]
    sure = session.view.confidence[session.view.upper] >= least
    said = np.isin(rules, (1, 2)) | (np.isin(rules, (4,)) & sure)
    return float(true[said].mean()) if said.any() else 1.0, float(said[true].mean())


def _edition(judged: Candidates) -> Iterator[Claim]:
    """Table 1, 2011."""
    from adjudge.relevance.features import Evidence

    overlap = float(Evidence(judged).column("OV")[0])
    for what, published, ours in (
        ("systems", "18", judged.n_systems),
        ("queries", "100", judged.n_queries),
        ("pairs of systems (section 4)", "153", judged.n_systems * (judged.n_systems - 1) // 2),
        ("results", "9,000", len(judged.entry_pair)),
        ("judgments", "6,322", int(judged.judged.sum())),
        ("overlap: share of results that other systems retrieved, too", "30 %", 1 - overlap),
    ):
        yield Claim.printed("M12 Table 1", f"2011: {what}", published, ours)


def _counts(runs: Sequence[_Run], n_judged: int) -> Iterator[Claim]:
    orders = f"{_TIES}: median of {len(runs)} orders here"
    for place, (level, *known) in enumerate(_LEVELS):
        counts = [run.reached[place] for run in runs]
        why = f"{orders}, {min(counts)} to {max(counts)} judgments"
        yield from _count(f"{100 * level:.0f} % confidence", counts, known, n_judged, why)
    counts = [run.right_bins for run in runs]
    why = f"{orders}, {min(counts)} to {max(counts)} judgments. Significance is {_SIGNIFICANT}"
    yield from _count("every significant pair in the right order", counts, _BINS, n_judged, why)


def _count(what: str, counts: Sequence[int], known: Sequence[Any], n_judged: int, why: str) -> Iterator[Claim]:
    """Ties alone move a count as far as orders lie apart: what the paper had is one order."""
    number, share, (low, high) = known
    ours = float(np.median(counts))
    spread = 3 * float(np.std(counts, ddof=1)) if len(counts) > 1 else 0.0
    said = Reason("ties", f"{why}; tolerance: three standard deviations of an order")
    if not low <= printed_value(number) <= high:
        said, spread = Reason("unknown", f"{why}; no order of ties, here or elsewhere, gives as few as the paper"), 0.0
    for name, published, of in (
        (f"judgments to {what}", number, 1),
        (f"share of judgments to {what}", share, n_judged),
    ):
        bound = between(low / of, high / of, _FROM_ORDERS)
        yield Claim("M12 Figure 2", name, published, ours / of, bound, said, spread / of)


def _accuracy(run: _Run) -> Iterator[Claim]:
    """Numbers that the text draws from Figures 2 and 4."""
    start = run.curve[0]
    yield Claim.printed("M12 4", "mean confidence without judgments", "50 %", start.confidence)
    above = float(np.mean([_f(*moment.found[0]) > 0.9 for moment in run.curve if moment.found]))
    what = "moments, from 90 % confidence on, whose F-measure of significance for a threshold of 0 is above 90 %"
    yield Claim.printed("M12 5", what, "100 %", above)


def _f(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0


def _normal() -> Plot:
    """Figure 1: the mean of five grades when all are as likely, and the normal distribution of its moments."""
    from scipy.stats import norm

    from adjudge.model.scales import BROAD, FINE
    from adjudge.relevance.features import uniform_moments

    panels = []
    for title, scale, n in (("BROAD scale", BROAD, 3), ("FINE scale", FINE, 101)):
        chances = np.ones(1)
        for _ in range(5):
            chances = np.convolve(chances, np.full(n, 1 / n))
        grades = np.arange(len(chances)) / 5
        mean, variance = uniform_moments(scale)
        bell = norm.pdf(grades, mean * scale.maximum, np.sqrt(variance / 5) * scale.maximum)
        places, width = slice(None, None, 1 if n == 3 else 10), 0.2  # five grades make steps of a fifth
        x = tuple((grades / scale.maximum)[places].tolist())
        exact = tuple((chances / width * scale.maximum)[places].tolist())
        panels.append(
            Panel(
                title,
                (
                    Series("normal", x, tuple((bell * scale.maximum)[places].tolist())),
                    Series("every grade as likely", x, exact, joined=False),
                ),
            )
        )
    return Plot(
        "minimal-normal",
        "M12 Figure 1",
        "Average gain of five documents when every grade is as likely, and the normal distribution with its mean and "
        "variance; gains are shares of the highest.",
        "The points lie on the bell curve, on both scales.",
        "AG@5 as a share of the highest",
        "density",
        tuple(panels),
    )


def _confidence(run: _Run) -> Plot:
    last = run.curve[-1].n_judged
    x = tuple(100 * moment.n_judged / last for moment in run.curve)
    y = tuple(100 * moment.confidence for moment in run.curve)
    return Plot(
        "minimal-confidence",
        "M12 Figure 2",
        "Confidence in the ranking of the systems of MIREX 2011 as more is judged; one order of ties.",
        "Confidence rises from 50 % fast at first, to 90 % at a fifth, 95 % at a third and 99 % at two thirds.",
        "judgments, % of all",
        "confidence, %",
        (Panel("FINE scale", (Series("mean over pairs", x, y),), levels=(90.0, 95.0, 99.0)),),
    )


def _signs(run: _Run) -> Plot:
    some = [moment for moment in run.curve if moment.confidence >= 0.8]
    x = tuple(100 * moment.confidence for moment in some)
    series = (
        Series("correct bins", x, tuple(100 * moment.bins for moment in some), joined=False),
        Series("correct signs", x, tuple(100 * moment.signs for moment in some), joined=False),
    )
    return Plot(
        "minimal-signs",
        "M12 Figure 3",
        "Pairs of systems in the right order, and those that are, or do not differ significantly (bins); Kendall's tau "
        "is twice the share of right signs, less 1.",
        "Correct bins lie above the diagonal, correct signs around it.",
        "confidence, %",
        "accuracy, %",
        (Panel("FINE scale", series, diagonal=True),),
    )


def _significance(run: _Run) -> Plot:
    some = [moment for moment in run.curve if moment.found]
    x = tuple(100 * moment.confidence for moment in some)
    panels = []
    titles = (*(f"threshold {threshold:g}" for threshold in _THRESHOLDS), "threshold 0, pairs sure to 95 %")
    for place, title in enumerate(titles):
        precision, recall = (tuple(100 * moment.found[place][i] for moment in some) for i in (0, 1))
        together: Numbers = tuple(100 * _f(*moment.found[place]) for moment in some)
        series = (Series("precision", x, precision), Series("recall", x, recall), Series("F-measure", x, together))
        panels.append(Panel(title, series))
    return Plot(
        "minimal-significance",
        "M12 Figure 4",
        "Precision, recall and F-measure of what the four rules call significant, by confidence in the ranking.",
        "Larger thresholds make precision higher and recall lower; near full confidence all approach 100 %.",
        "confidence, %",
        "%",
        tuple(panels),
    )
