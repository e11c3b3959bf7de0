"""Low-cost evaluation: how long one judgment takes, and whole simulated sessions.

``python -m benchmarks.low_cost`` judges MIREX 2011 (18 systems, 100 queries, top 5), read from
``../shared/data/mirex2011`` or, where that is not there, made up with the same shape, and collections that grow up to
100 systems x 250 queries x depth 20, and 200 systems. Times are of the processor, with default settings: all threads
count, other work on the machine does not. One judgment is all that happens between two questions: learn the grade,
estimate again where that is due, and choose the next candidate. Nobody else offers this; the ratio is to the C# tool of
the method's authors, whose sessions with M_out and M_jud took 16 to 125 s of processor time on a machine like this.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

import adjudge as aj
from adjudge.relevance import Candidates, Goal, Session, find_candidates
from adjudge.relevance.hierarchical.model import last_due
from adjudge.relevance.simulation import simulate
from benchmarks.report import Table, machine, seconds, times
from benchmarks.tests_of_pairs import peak

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "mirex2011"
PUBLISHED_TOOL = (16.0, 125.0)
METHODS = (("uniform", "confidence"), ("output", "pairs"), ("judgments", "pairs"), ("hierarchical", "mixed"))


def mirex() -> tuple[Candidates, str]:
    """Judged candidates of MIREX size, and what they are."""
    if DATA.is_dir():
        read = aj.read(DATA / "runs.tsv", DATA / "judgments.tsv", DATA / "metadata.tsv", scale="fine")
        return find_candidates(read, cutoff=5), "MIREX 2011"
    return made_up(18, 100, 5), "made up"


def made_up(n_systems: int, n_queries: int, depth: int, seed: int = 0) -> Candidates:
    """Systems of unequal quality that retrieve overlapping documents, graded 0 to 3, without metadata."""
    rng = np.random.default_rng(seed)
    pool = 12 * depth
    relevance = np.round(3 * rng.beta(0.5, 1.5, size=(n_queries, pool)))
    quality = rng.uniform(0.2, 1.5, size=n_systems)
    runs: dict[str, dict[str, list[str]]] = {}
    for s in range(n_systems):
        noisy = quality[s] * relevance + rng.normal(size=relevance.shape)
        best = np.argsort(-noisy, axis=1)[:, :depth]
        runs[f"s{s:03d}"] = {f"q{q:03d}": [f"d{d:04d}" for d in best[q]] for q in range(n_queries)}
    judged = {f"q{q:03d}": {f"d{d:04d}": float(relevance[q, d]) for d in range(pool)} for q in range(n_queries)}
    found = find_candidates(aj.read(runs, judged, scale="0..3"), cutoff=depth)
    return found.part(queries=range(n_queries), systems=range(n_systems))


def one_judgment(known: Candidates, measure: str, estimator: str, rule: str, n: int) -> tuple[float, float]:
    """Mean and largest time of a judgment, over the first n of a session."""
    session = Session(known.unjudged(), measure, estimator=estimator, rule=rule)
    taken = []
    query, document = session.next()[0]
    for _ in range(n):
        grade = float(known.relevance[known.find(query, document)]) * known.scale.maximum
        begun = time.process_time()
        session.judge(query, document, grade)
        _ = session.done
        query, document = session.next()[0]
        taken.append(time.process_time() - begun)
    return float(np.mean(taken)), float(np.max(taken))


def judgments(known: Candidates, name: str, n: int) -> Table:
    """A judgment with each method and measure."""
    rows = []
    for measure in ("CG@5", "nDCG@5"):
        for estimator, rule in METHODS:
            mean, longest = one_judgment(known, measure, estimator, rule, n)
            rows.append((f"{estimator}, {rule}", measure, seconds(mean), seconds(longest)))
    notes = f"{name}: {known!r}; the first {n} judgments of a session, processor time; re-estimation included."
    return Table("One judgment", notes, ("method", "measure", "mean", "longest"), rows)


def growth(sizes: Sequence[tuple[int, int, int]], n: int) -> Table:
    """A judgment on larger collections."""
    rows = []
    for n_systems, n_queries, depth in sizes:
        known = made_up(n_systems, n_queries, depth)
        size, by = f"{n_systems} x {n_queries} x {depth}", ("hierarchical", "mixed")
        for name, method in (("CG", ("uniform", "confidence")), ("CG", by), ("nDCG", by)):
            mean, longest = one_judgment(known, f"{name}@{depth}", *method, n)
            figures = (seconds(mean), seconds(longest), f"{peak():,.0f} MB")
            rows.append((size, f"{len(known):,}", ", ".join(method), f"{name}@{depth}", *figures))
    head = ("systems x queries x depth", "candidates", "method", "measure", "mean", "longest", "peak memory so far")
    return Table("Growth", f"Made up, graded 0 to 3; the first {n} judgments, processor time.", head, rows)


def renewals(n_systems: int, n_queries: int, depth: int) -> Table:
    """The start of a session with so many judgments that variances, beliefs and scores are estimated again."""
    known, rng, rows = made_up(n_systems, n_queries, depth), np.random.default_rng(0), []
    for share in (0.02, 0.2, 0.6):
        order, n = rng.permutation(len(known)), last_due(round(share * len(known)))
        some = replace(known, relevance=np.where(order < n, known.relevance, np.nan))
        for measure in (f"CG@{depth}", f"nDCG@{depth}"):
            begun = time.process_time()
            Session(some, measure)
            rows.append((f"{share:.0%}", measure, seconds(time.process_time() - begun)))
    size = f"{n_systems} systems x {n_queries} queries x {depth}"
    notes = f"{size}, made up, processor time; a session starts, learns judgments at once, and estimates everything."
    return Table("A session with judgments", notes, ("judged", "measure", "time"), rows)


def sessions(known: Candidates, name: str) -> Table:
    """Whole sessions with the published models, to 95 % mean confidence."""
    rows = []
    goal = Goal(zone=0.0, least=0)
    for measure in ("CG@5", "DCG@5", "nDCG@5", "RBP(ideal=judged)@5"):
        begun = time.process_time()
        run = simulate(known, measure, estimator="judgments", rule="pairs", goal=goal)
        taken = time.process_time() - begun
        ratio = " to ".join(times(published / taken) for published in PUBLISHED_TOOL)
        rows.append((measure, f"{run.stop.n_judged}", seconds(taken), ratio))
    notes = f"{name}, M_out and M_jud to 95 % mean confidence, processor time; the published tool takes 16 to 125 s."
    return Table("Whole sessions", notes, ("measure", "judgments", "time", "faster than the published tool"), rows)


def main(argv: Sequence[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.low_cost", description=__doc__)
    parser.add_argument("-n", type=int, default=200, help="judgments to time")
    parser.add_argument(
        "--quick", action="store_true", help="few judgments and small collections: to see that all works"
    )
    arguments = parser.parse_args(argv)
    known, name = mirex()
    n = 12 if arguments.quick else arguments.n
    sizes = [(10, 20, 5)] if arguments.quick else [(18, 100, 5), (50, 250, 20), (100, 250, 20), (200, 100, 10)]
    print("\n".join(machine()))
    for table in (
        judgments(known, name, n),
        sessions(known, name),
        growth(sizes, n),
        renewals(*sizes[min(1, len(sizes) - 1)]),
    ):
        print(f"\n{table.text()}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
