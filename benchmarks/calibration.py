"""Are the claims of low-cost evaluation true, and when can it stop? On real and on made-up collections.

``python -m benchmarks.calibration`` draws parts of collections, some of the systems and some of the queries, and judges
them as sessions ask. Each claim is held against the truth: the sign of differences, the promise that an order is not
wrong by more than .01, intervals, the winner, the first three, and the order on the queries that were left out. Then
come the stops: how much of the pool a goal takes, and whether what it promises is so.

Two cases are drawn from the model that is fitted to a collection: what it can do where it is true, and where in
addition everything that queries share is known, which no judging can learn sooner. ``--halves`` is about new queries
where everything is judged: claims from half of the queries of tables of effectiveness about the other half, and from
queries drawn from all of them about all of them.

Nothing is chosen here: defaults of the model come from MIREX 2011 with other seeds, and the inflation of claims about
order from collections that are not here. ``text_like`` collections are made by a process that is not the model.
"""

from __future__ import annotations

import argparse
import pickle
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, cast

import numpy as np
from scipy.special import stdtr

from adjudge.arrays import Floats
from adjudge.model.scales import BROAD, FINE
from adjudge.parallel import job_rng, run_calls
from adjudge.relevance.base import RelevanceModel, Scores, View, confidence, scoring, start
from adjudge.relevance.calibration import binned
from adjudge.relevance.candidates import Candidates
from adjudge.relevance.choosing import Goal
from adjudge.relevance.hierarchical.effects import design
from adjudge.relevance.hierarchical.model import HierarchicalModel, learn_variances
from adjudge.relevance.session import Session
from adjudge.relevance.simulation import true_scores
from adjudge.stats.gtheory.gstudy import gstudy
from adjudge.stats.ranks import top_shares
from adjudge.text import percent
from benchmarks.report import Table, machine

MARKS = (0.0, 0.02, 0.05, 0.1, 0.2)
GOALS = (Goal("order"), Goal("winner"), Goal("top"), Goal("confidence"))
ZONE, TOP, MOST = 0.01, 3, 0.6
CLAIMS = ("sign", "promise", "winner", "top 3", "new queries")
_SAME = 1e-12


@dataclass(frozen=True, eq=False)
class Case:
    """A judged collection and the size of the parts to draw from it."""

    name: str
    known: Candidates
    measure: str
    systems: int
    queries: int
    options: Mapping[str, object] = field(default_factory=dict)
    drawn: Literal["", "from the model", "shared effects known"] = ""
    estimator: str = "hierarchical"
    always: str = ""  # a system to have in every part


def text_like(
    share: float,
    levels: int,
    seed: int,
    *,
    special: str = "",
    n_systems: int = 16,
    n_queries: int = 80,
    depth: int = 10,
) -> Candidates:
    """Documents with a latent relevance, cut so that a share of them is relevant; five families of systems.

    A ``special`` system is better than all of these: ``lonely`` avoids what they retrieve, ``perfect`` knows the truth.
    """
    import adjudge as aj
    from adjudge.relevance import find_candidates

    rng = np.random.default_rng(seed)
    pool = 40 * depth
    latent, easy = rng.normal(size=(n_queries, pool)), rng.normal(size=(n_queries, 1))
    cuts = np.quantile(latent, [1 - share] if levels == 2 else [1 - share, 1 - share / 3])
    grades = ((latent + 0.5 * easy)[..., None] > cuts).sum(axis=-1)
    family, quality = rng.normal(size=(5, n_queries, pool)), rng.uniform(0.35, 0.8, n_systems)
    runs: dict[str, dict[str, list[str]]] = {}
    for s in range(n_systems):
        noise = 0.7 * family[s % 5] + 0.7 * rng.normal(size=(n_queries, pool))
        best = np.argsort(-(quality[s] * latent + np.sqrt(1 - quality[s] ** 2) * noise), axis=1)[:, :depth]
        runs[f"s{s:02d}"] = {f"q{q:03d}": [f"d{d:04d}" for d in best[q]] for q in range(n_queries)}
    if special:
        score = grades + 0.01 * rng.random(latent.shape)
        if special == "lonely":
            score = 0.9 * latent + np.sqrt(1 - 0.9**2) * rng.normal(size=latent.shape)
            for q, ranked in enumerate(zip(*(run.values() for run in runs.values()), strict=True)):
                score[q, [int(name[1:]) for each in ranked for name in each]] -= 0.5
        best = np.argsort(-score, axis=1)[:, :depth]
        runs[special] = {f"q{q:03d}": [f"d{d:04d}" for d in best[q]] for q in range(n_queries)}
    judged = {f"q{q:03d}": {f"d{d:04d}": float(grades[q, d]) for d in range(pool)} for q in range(n_queries)}
    found = find_candidates(aj.read(runs, judged, scale="binary" if levels == 2 else "broad"), cutoff=depth)
    return found.part(queries=range(n_queries), systems=range(len(found.systems)))


def agreeing(share: float, seed: int, *, pool: int, n_systems: int = 20, n_queries: int = 80) -> Candidates:
    """Few relevant documents, which most systems find: what only one of them retrieves is hardly ever relevant."""
    import adjudge as aj
    from adjudge.relevance import find_candidates

    rng = np.random.default_rng(seed)
    skill, runs = rng.normal(1.5, 0.9, n_systems), {f"s{s:02d}": dict[str, list[str]]() for s in range(n_systems)}
    judged: dict[str, dict[str, float]] = {}
    for q in range(n_queries):
        relevant = rng.random(pool) < share * np.exp(rng.normal(0, 0.7))
        shared = rng.normal(0, 0.7, pool)
        judged[f"q{q:03d}"] = {f"d{d:04d}": float(relevant[d]) for d in range(pool)}
        for s, run in enumerate(runs.values()):
            score = skill[s] * relevant + shared + rng.normal(size=pool)
            run[f"q{q:03d}"] = [f"d{d:04d}" for d in np.argsort(-score)[:10]]
    found = find_candidates(aj.read(runs, judged, scale="binary"), cutoff=10)
    return found.part(queries=range(n_queries), systems=range(n_systems))


def judges(known: Candidates, noise: Sequence[float], seed: int, *, flattered: Sequence[int] = ()) -> Candidates:
    """Made-up machine opinions: relevance, by a slope that differs from query to query, plus noise.

    ``noise`` is in standard deviations of relevance, of each judge. A tenth of its variance is leniency towards a
    query, a twentieth bias towards systems; of the rest two fifths are shared by all judges. The result is cut into
    four labels of shares .5, .2, .2 and .1. Documents of ``flattered`` systems get one standard deviation more.
    """
    rng = np.random.default_rng(seed)
    relevance = np.nan_to_num(known.relevance)
    relevance = (relevance - relevance.mean()) / relevance.std()
    slope = np.maximum(rng.normal(1, 0.4, known.n_queries), 0)[known.query]
    shared, opinions = rng.normal(size=len(known)), {}
    own = np.unique(known.entry_pair[np.isin(known.entry_system, flattered)])
    for number, spread in enumerate(noise, start=1):
        liking = np.zeros(len(known))
        np.add.at(liking, known.entry_pair, rng.normal(size=known.n_systems)[known.entry_system])
        error = np.sqrt(0.1) * rng.normal(size=known.n_queries)[known.query]
        error += np.sqrt(0.05 / np.maximum(known.n_retrieving, 1)) * liking
        error += np.sqrt(0.85 * 0.4) * shared + np.sqrt(0.85 * 0.6) * rng.normal(size=len(known))
        opinion = slope * relevance + spread * error
        opinion[own] += opinion.std()
        opinions[f"judge {number}"] = np.searchsorted(np.quantile(opinion, [0.5, 0.7, 0.9]), opinion).astype(float)
    return replace(known, opinions=opinions)


def by_metadata(known: Candidates, seed: int) -> Candidates:
    """Vectors of documents: one of their genre, one of their artist, and noise as large; metadata are left out."""
    from adjudge.relevance import embedding_similarity

    rng = np.random.default_rng(seed)
    genres, artists = (rng.normal(size=(int(codes.max()) + 2, 32)) for codes in (known.genre, known.artist))
    vectors = {
        name: genres[genre] + 0.8 * artists[artist] + 0.8 * rng.normal(size=32)
        for name, genre, artist in sorted(set(zip(known.document, known.genre, known.artist, strict=True)))
    }
    alike = embedding_similarity(np.array(list(vectors.values())), list(vectors))
    return replace(known.without_metadata(), similarity=alike)


def known_item(kind: str, seed: int, *, n_systems: int = 20, n_queries: int = 100, depth: int = 10) -> Candidates:
    """One relevant document per query, which systems see as likelier than others: by much, by little, or half of them.

    In the last kind half of the queries are hopeless: their relevant document is like any other.
    """
    import adjudge as aj
    from adjudge.relevance import find_candidates

    rng = np.random.default_rng(seed)
    latent = rng.normal(size=(n_queries, 20 * depth))
    latent[:, 0] += {"easy": 3.0, "hard": 1.5}.get(kind, rng.choice([0.0, 4.0], size=n_queries))
    family, quality = rng.normal(size=(5, *latent.shape)), rng.uniform(0.35, 0.8, n_systems)
    runs: dict[str, dict[str, list[str]]] = {}
    for s in range(n_systems):
        noise = 0.7 * family[s % 5] + 0.7 * rng.normal(size=latent.shape)
        best = np.argsort(-(quality[s] * latent + np.sqrt(1 - quality[s] ** 2) * noise), axis=1)[:, :depth]
        runs[f"s{s:02d}"] = {f"q{q:03d}": [f"d{d:04d}" for d in best[q]] for q in range(n_queries)}
    judged = {f"q{q:03d}": {f"d{d:04d}": float(d == 0) for d in range(latent.shape[1])} for q in range(n_queries)}
    found = find_candidates(aj.read(runs, judged, scale="binary"), cutoff=depth)
    return found.part(queries=range(n_queries), systems=range(n_systems))


def cases() -> Iterator[Case]:
    """Everything to try."""
    import adjudge as aj
    from adjudge.relevance import find_candidates
    from benchmarks.low_cost import DATA

    if DATA.is_dir():
        read = aj.read(DATA / "runs.tsv", DATA / "judgments.tsv", DATA / "metadata.tsv", scale="fine")
        fine = find_candidates(read, cutoff=5)
        yield Case("MIREX 2011, metadata", fine, "CG@5", 9, 50)
        yield Case("MIREX 2011", fine.without_metadata(), "CG@5", 9, 50)
        for drawn in ("from the model", "shared effects known"):
            name = "MIREX 2011, drawn" + (f", {drawn}" if "known" in drawn else " from its model")
            yield Case(name, fine.without_metadata(), "CG@5", 9, 50, drawn=drawn)
        yield Case("MIREX 2011, nDCG", fine.without_metadata(), "nDCG@5", 9, 50)
        rng, plain = np.random.default_rng(7), fine.without_metadata()
        grades = np.where(np.isnan(plain.relevance), np.nan, np.digitize(plain.relevance, [0.34, 0.67]) / 2)
        broad = replace(plain, relevance=grades, scale=BROAD)
        for measure in ("AP@5", "RR@5", "ERR@5", "Q@5", "GAP@5"):
            yield Case(f"MIREX 2011 as graded3, {measure}", broad, measure, 9, 50)
        for name, noise in (("one judge, noise .15", (0.15,)), ("two judges, noise .25", (0.25, 0.25))):
            columns = {f"judge {i}": plain.relevance + rng.normal(0, sd, len(plain)) for i, sd in enumerate(noise)}
            yield Case(f"MIREX 2011, {name}", replace(plain, opinions=columns), "CG@5", 9, 50)
        opposed = {"judge": -plain.relevance + rng.normal(0, 0.15, len(plain))}
        yield Case("MIREX 2011, a judge upside down", replace(plain, opinions=opposed), "CG@5", 9, 50)
        yield Case("MIREX 2011, two judges, four labels", judges(plain, (1.3, 1.1), seed=8), "CG@5", 9, 50)
        flattering = judges(plain, (1.2,), seed=9, flattered=[0, 1])
        yield Case("MIREX 2011, a judge that flatters", flattering, "CG@5", 9, 50, always=plain.systems[0])
        yield Case("MIREX 2011, similarity alone", by_metadata(fine, seed=10), "CG@5", 9, 50)
        yield Case("MIREX 2011, three queries", plain, "CG@5", 9, 3)
    text = DATA.parent / "clef-ehealth-2015"
    if text.is_dir():
        clef = aj.read(text / "runs.txt.gz", text / "qrels.txt.gz", scale="0..2")
        pool = find_candidates(clef, cutoff=10)
        judged = np.zeros(pool.n_systems)
        np.add.at(judged, pool.entry_system, pool.judged[pool.entry_pair])
        whole = np.flatnonzero(judged >= 0.8 * np.bincount(pool.entry_system)).tolist()
        complete = pool.part(queries=range(pool.n_queries), systems=whole)
        yield Case("CLEF eHealth 2015", complete, "CG@10", 14, 40)
        yield Case("CLEF eHealth 2015, drawn from its model", complete, "CG@10", 14, 40, drawn="from the model")
        yield Case(
            "CLEF eHealth 2015, drawn, shared effects known", complete, "CG@10", 14, 40, drawn="shared effects known"
        )
        for measure in ("nDCG", "AP", "RR", "ERR", "Q", "GAP"):
            yield Case(f"CLEF eHealth 2015, {measure}", complete, f"{measure}@10", 14, 40)
        yield Case("CLEF eHealth 2015, two judges, four labels", judges(complete, (1.3, 1.1), seed=11), "CG@10", 14, 40)
        yield Case("CLEF eHealth 2015, three queries", complete, "CG@10", 14, 3)
    for share, levels, name in ((0.1, 2, "binary, 10 %"), (0.03, 2, "binary, 3 %"), (0.1, 3, "three levels, 10 %")):
        yield Case(f"text-like, {name} relevant", text_like(share, levels, seed=levels), "CG@10", 10, 40)
    yield Case("agreeing, 10 % of the pool relevant", agreeing(0.06, 13, pool=40), "P@10", 10, 40)
    yield Case("agreeing, pool of 200 documents", agreeing(0.06, 14, pool=200), "P@10", 10, 40)
    for kind, measure in product(("easy", "hard", "half hopeless"), ("nDCG@10", "RR@10", "RBP@10")):
        for estimator in ("hierarchical", "known_item"):
            name = f"known item, {kind}, {measure}, {estimator}"
            yield Case(name, known_item(kind, 3), measure, 12, 60, estimator=estimator)
    for special in ("lonely", "perfect"):
        known = text_like(0.1, 2, seed=12, special=special)
        yield Case(f"text-like, a {special} system", known, "CG@10", 10, 40, always=special)


@dataclass(frozen=True, eq=False)
class Claim:
    """What was claimed, and whether it is so, in parallel."""

    claimed: Floats
    true: Floats


@dataclass(frozen=True, eq=False)
class Trial:
    """One part of a collection: claims by mark, accuracy and coverage by mark, and stops by goal."""

    claims: dict[str, list[Claim]]
    right: list[float]
    right_apart: list[float]
    covered: list[float]
    error: list[float]
    stops: dict[str, tuple[float, float, float]]  # share judged, what was promised is so, signs right


_BASE = "expected by the model"


def draw_from_model(known: Candidates, case: Case, rng: np.random.Generator) -> tuple[Candidates, dict[str, object]]:
    """The candidates with relevance drawn from the model fitted to them, and options of a session.

    Where shared effects are known, all coefficients and systems have their fitted effects, and options say so; what is
    expected of pairs is in the opinion ``_BASE``. Else effects of systems are drawn, and a session has to learn all.
    """
    measure = scoring(case.measure, known.scale)
    variances = learn_variances(known)
    fitted = start("hierarchical", known, measure, variances=variances)
    assert isinstance(fitted, HierarchicalModel)
    effects, shared = design(known), case.drawn == "shared effects known"
    theta = np.array([mean for mean, _ in fitted.effects.values()])
    if shared:
        variances |= dict.fromkeys(variances.keys() & {"system", "system_genre"}, 0.0)
    else:
        theta[effects.kind >= 0] = 0.0  # those of systems
    base = effects.x @ theta
    model = start("hierarchical", known.unjudged(), measure, variances=variances, base=base)
    assert isinstance(model, HierarchicalModel)
    drawn = replace(known, scale=FINE, relevance=model.draw(1, rng)[0].round(2), opinions={_BASE: base})
    return drawn, {"variances": variances} if shared else {}


def trial(case: Case, rule: str | None, seed: int, index: int) -> Trial:
    """Draw a part, judge it, and compare."""
    rng = job_rng(seed, index)
    known, size = case.known, case.known.n_queries
    chosen = rng.choice(size, case.queries, replace=False).tolist()
    systems = rng.choice(known.n_systems, case.systems, replace=False).tolist()
    if case.always and (place := known.systems.index(case.always)) not in systems:
        systems[0] = place
    known, options = known.part(queries=range(size), systems=systems).retrieved(), dict(case.options)
    known = replace(known, relevance=np.nan_to_num(known.relevance))
    if case.drawn:
        known, options = draw_from_model(known, case, rng)
    everybody, at = range(known.n_systems), {query: i for i, query in enumerate(known.queries)}
    answered = [(q in chosen, at[name]) for q, name in enumerate(case.known.queries) if name in at]
    part = known.part(queries=[i for is_chosen, i in answered if is_chosen], systems=everybody)
    others = known.part(queries=[i for is_chosen, i in answered if not is_chosen], systems=everybody)
    if case.drawn:
        options |= {"base": part.opinions[_BASE]} if options else {}
        part = replace(part, opinions={})
    settings: dict[str, Any] = {"estimator": case.estimator, "seed": index, "options": options}
    session = Session(part.unjudged(), case.measure, goal=GOALS[0], rule=rule, **settings)
    truth, there = true_scores(part, session.scoring), true_scores(others, session.scoring)
    found = Trial({name: [] for name in CLAIMS}, [], [], [], [], {})
    marks, goals = [round(mark * len(part)) for mark in MARKS], {goal.kind: goal for goal in GOALS}
    for n in range(int(MOST * len(part)) + 1):
        if n in marks:
            _look(session.view, truth, there, others.n_queries, found)
        for kind in [kind for kind in ("order", "confidence") if kind in goals and goals[kind].reached(session.view)]:
            found.stops[kind] = _stop(session.view, truth, goals.pop(kind))
        if n >= marks[-1] and not {"order", "confidence"} & goals.keys():
            break
        _judge_next(session, part)
    for goal in goals.values():
        session = Session(part.unjudged(), case.measure, goal=goal, **settings)
        while not session.done and session.view.n_judged < MOST * len(part):
            _judge_next(session, part)
        found.stops[goal.kind] = _stop(session.view, truth, goal)
    return found


def _judge_next(session: Session, part: Candidates) -> None:
    ((query, document),) = session.next()
    session.judge(query, document, float(part.relevance[part.find(query, document)]) * part.scale.maximum)


def _look(view: View, truth: Floats, there: Floats, n_there: int, found: Trial) -> None:
    """Compare all claims with what is so."""
    true, expected = (truth[:, None] - truth)[view.upper], view.differences[0][view.upper]
    right = view.signs_right(truth, 0.0)[view.upper]
    drawn = {"winner": (view.chances[0], 1), "top 3": (view.chances[1], TOP)}
    found.claims["sign"].append(Claim(view.sign[view.upper], right))
    found.claims["promise"].append(Claim(view.promise[view.upper], view.orders_kept(truth)[view.upper]))
    for name, (claimed, k) in drawn.items():
        found.claims[name].append(Claim(claimed, top_shares(truth[:, None], k)))
    claimed, other = agree_elsewhere(view, n_there), (there[:, None] - there)[view.upper]
    agree = np.where(other == 0, 0.5, np.where(expected == 0, 0.5, np.sign(expected) == np.sign(other)))
    found.claims["new queries"].append(Claim(claimed, agree))
    found.right.append(float(right.mean()))
    apart = np.abs(true) >= ZONE
    found.right_apart.append(float(right[apart].mean()) if apart.any() else 1.0)
    half = view.quantile(0.95) * np.sqrt(view.differences[1][view.upper])
    found.covered.append(float((np.abs(expected - true) <= half + _SAME).mean()))
    found.error.append(float(np.sqrt(((view.scores.mean - truth) ** 2).mean())))


def agree_elsewhere(view: View, n_there: int) -> Floats:
    """Probability that other queries, a sample as well, have each difference with the same sign."""
    n, elsewhere, sampling = view.model.candidates.n_queries, view.elsewhere, view.sampling
    assert elsewhere is not None
    assert sampling is not None
    expected, variance = replace(elsewhere, covariance=elsewhere.covariance + sampling * (n / n_there)).differences()
    sd = np.sqrt(np.where(variance > 0, variance, np.inf))
    return np.asarray(stdtr(n - 1, np.abs(expected) / sd))[view.upper]


def _stop(view: View, truth: Floats, goal: Goal) -> tuple[float, float, float]:
    """Share judged, what of the goal is true, and how many signs are right."""
    found = Trial({name: [] for name in CLAIMS}, [], [], [], [], {})
    _look(view, truth, truth, 10**9, found)
    is_so = found.right[0] if goal.kind == "confidence" else goal.kept(view, truth)
    return view.n_judged / len(view.model.judged), is_so, found.right[0]


def ece(claims: Sequence[Claim]) -> float:
    """Expected calibration error of claims, all together; those below one half as their opposites."""
    claimed = np.concatenate([claim.claimed for claim in claims])
    true = np.concatenate([claim.true for claim in claims])
    turned = claimed < 0.5
    bins = binned(np.where(turned, 1 - claimed, claimed), np.where(turned, 1 - true, true))
    return float(sum(b.n * abs(b.claimed - b.right) for b in bins) / sum(b.n for b in bins))


def rows(case: Case, trials: Sequence[Trial]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """A line for each of the two tables."""

    def by_mark(values: Sequence[Sequence[float]]) -> str:
        return " / ".join(f"{value:.3f}" for value in np.mean(values, axis=0))

    claims = [ece([claim for one in trials for claim in one.claims[name]]) for name in CLAIMS]
    promise = np.concatenate([claim.true for one in trials for claim in one.claims["promise"]]).mean()
    said = np.concatenate([claim.claimed for one in trials for claim in one.claims["promise"]]).mean()
    first = (
        case.name,
        by_mark([one.right for one in trials]),
        by_mark([one.right_apart for one in trials]),
        by_mark([one.covered for one in trials]),
        by_mark([one.error for one in trials]),
        *(f"{value:.3f}" for value in claims),
        f"{said:.3f} / {promise:.3f}",
    )
    stops = []
    for goal in GOALS:
        ends = np.array([one.stops[goal.kind] for one in trials])
        stops += [percent(ends[:, 0].mean(), 1), f"{ends[:, 1].mean():.3f}"]
    return first, (case.name, *stops)


def all_judged(table: Floats) -> View:
    """What a model says that knows the scores of all queries, queries x systems."""
    nothing = np.zeros((table.shape[1], table.shape[1]))
    model = SimpleNamespace(
        candidates=SimpleNamespace(n_queries=len(table)),
        inflation=1.0,
        scores=lambda: Scores(table.mean(axis=0), nothing),
        query_scores=lambda: (table, np.zeros_like(table), nothing),
    )
    return View(cast(RelevanceModel, model))


def half(table: Floats, splits: int) -> dict[str, list[Claim]]:
    """Claims from random halves of the queries, of 5 to 60 random systems at a time.

    About the other half; and, from as many queries drawn with replacement, about the mean over all of them: signs, as
    compare's t test has them, and the winner.
    """
    rng = np.random.default_rng(4)
    found: dict[str, list[Claim]] = {name: [] for name in ("other half", "truth", "truth, by t", "truth, winner")}
    for _ in range(splits):
        k = int(np.exp(rng.uniform(np.log(5), np.log(min(60, table.shape[1])))))
        some, order = table[:, rng.choice(table.shape[1], k, replace=False)], rng.permutation(len(table))
        n = len(table) // 2
        view = all_judged(some[order[:n]])
        found["other half"].append(_signs(view, agree_elsewhere(view, len(table) - n), some[order[n:]]))
        view = all_judged(some[rng.integers(len(table), size=n)])
        assert view.sign_elsewhere is not None
        assert view.best_elsewhere is not None
        assert view.sampling is not None
        by_t = confidence(Scores(view.scores.mean, view.sampling), n - 1)
        found["truth"].append(_signs(view, view.sign_elsewhere[view.upper], some))
        found["truth, by t"].append(_signs(view, by_t[view.upper], some))
        found["truth, winner"].append(Claim(view.best_elsewhere, top_shares(some.mean(axis=0)[:, None], 1)))
    return found


def _signs(view: View, claimed: Floats, there: Floats) -> Claim:
    """Signs of differences against those of means over other queries; half of a tie is right."""
    other, expected = (there.mean(axis=0)[:, None] - there.mean(axis=0))[view.upper], view.differences[0][view.upper]
    tied = (np.abs(other) <= _SAME) | (expected == 0)
    return Claim(claimed, np.where(tied, 0.5, np.sign(expected) == np.sign(other)))


def halves(splits: int) -> Table:
    """Claims about new queries where everything is judged."""
    from benchmarks.leaderboard import tables

    lines = []
    for name, table in tables().items():
        found = half(table, splits)
        cells = []
        for claims in found.values():
            said, so = (np.concatenate([getattr(claim, side) for claim in claims]) for side in ("claimed", "true"))
            cells += [f"{ece(claims):.3f}", f"{said.mean():.3f} / {so.mean():.3f}"]
        view = all_judged(table)
        assert view.elsewhere is not None
        spread = np.ptp(view.elsewhere.mean) / np.ptp(view.scores.mean)
        e_rho2 = gstudy(table).dstudy(interval="none").rows[0].e_rho2
        lines.append((name, *cells, f"{spread:.4f} / {e_rho2:.4f}"))
        print(lines[-1], file=sys.stderr, flush=True)
    names = ("other half", "truth", "truth by t", "winner")
    head = ("effectiveness", *(part for name in names for part in (f"{name}: ECE", "said / so")), "kept / Eρ²")
    notes = f"{splits} halves each. By t, differences do not shrink; what is kept of them is Eρ² of plan."
    return Table("New queries, everything judged", notes, head, lines)


def main(argv: Sequence[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration", description=__doc__)
    parser.add_argument("--samples", type=int, default=30, help="parts to draw of each collection")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--rule", help="of claims and of goals about order, instead of the usual one")
    parser.add_argument("--only", default="", help="cases whose name has this in it")
    parser.add_argument("--halves", type=int, metavar="N", help="only claims about new queries, from N random halves")
    parser.add_argument("--pickle", type=Path, help="keep the cases in this file, or take them from it if it is there")
    arguments = parser.parse_args(argv)
    if arguments.halves is not None:
        print("\n".join(machine()))
        print(f"\n{halves(arguments.halves).markdown()}")
        return 0
    if arguments.pickle is not None and arguments.pickle.exists():
        tried = pickle.loads(arguments.pickle.read_bytes())
    else:
        tried = list(cases())
        if arguments.pickle is not None:
            arguments.pickle.write_bytes(pickle.dumps(tried))
            return 0
    claims, stops = [], []
    for case in tried:
        if arguments.only not in case.name:
            continue
        print(f"{case.name} …", file=sys.stderr, flush=True)
        calls = [partial(trial, case, arguments.rule, arguments.seed, i) for i in range(arguments.samples)]
        found = rows(case, run_calls(calls, workers=arguments.workers))
        print(found, file=sys.stderr, flush=True)
        claims.append(found[0])
        stops.append(found[1])
    by = "by share judged, 0 / 2 / 5 / 10 / 20 %"
    head = (
        "data", f"signs right {by}", "where they differ by .01", "intervals hold", "RMSE of scores",
        *(f"ECE, {name}" for name in CLAIMS), "promise: said / kept",
    )  # fmt: skip
    names = [part for goal in GOALS for part in (f"{goal.kind}: judged", "is so")]
    notes = f"Means of {arguments.samples} random parts; rule {arguments.rule or GOALS[0].rule}."
    print("\n".join(machine()))
    print(f"\n{Table('Claims', notes, head, claims).markdown()}")
    print(f"\n{Table('Stops', 'Each goal with its own rule.', ('data', *names), stops).markdown()}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
