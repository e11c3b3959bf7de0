"""What sound is worth to relevance estimation, on the demo with its synthesised sound.

``python -m benchmarks.sound`` makes several demos (12 systems, 60 queries, 5 documents each), synthesises all documents
that are retrieved, compares them by timbre, rhythm and harmony, and measures estimators without sound, with it, with
half of it replaced by that of other documents, and with the sound of other documents altogether, which must not hurt.
The demo's sound follows the space behind its judgments by construction: gains are the most that can be hoped for. No
judged collection with public sound was at hand; the recordings of MIREX never were public.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import adjudge as aj
from adjudge.arrays import Floats
from adjudge.audio.features.extract import extract
from adjudge.audio.similarity import ASPECTS, SoundSimilarity
from adjudge.audio.synthesis import write_demo_audio
from adjudge.errors import kept_warnings
from adjudge.model.collection import Similarity
from adjudge.parallel import run_calls, run_jobs
from adjudge.relevance import Candidates, Session, find_candidates
from adjudge.relevance.calibration import binned
from adjudge.relevance.features import Evidence
from adjudge.relevance.models import fit_estimator
from adjudge.relevance.simulation import Simulation, checkpoint, simulate, true_scores
from benchmarks.report import Table, machine

SEEDS = (2012, 1, 2, 3)
SHARES = (0.05, 0.1, 0.2)
PLAIN, KNOWN = ("uniform", "prior", "hierarchical"), ("output", "judgments", "hierarchical")
FITTED = {
    "no metadata": ("fSYS", "aSYS", "aDOC"),
    "artists": ("fSYS", "aSYS", "aART"),
    "genres": ("fSYS", "aSYS", "aDOC", "sGEN", "fGEN", "aGEN"),
}


@dataclass(frozen=True)
class Mixed:
    """Similarity of which a share is that of other documents."""

    true: Similarity
    other: dict[str, str]
    share: float

    @property
    def digest(self) -> str:
        """Of both."""
        return f"{self.true.digest} {self.share}"

    def among(self, documents: Sequence[str]) -> Floats:
        """Documents x documents."""
        wrong = self.true.among([self.other[document] for document in documents])
        if self.share == 1:
            return wrong
        return self.share * wrong + (1 - self.share) * self.true.among(documents)


def heard(seed: int, folder: Path) -> Candidates:
    """A demo whose documents have sound; what was computed is kept in the folder."""
    found = find_candidates(aj.demo(seed, queries=60, depth=5), cutoff=5)
    documents, kept = sorted({*found.document, *found.queries}), folder / f"demo-{seed}.npz"
    if not kept.exists():
        clips = write_demo_audio(documents, folder / f"demo-{seed}", seed=seed)
        values = dict(run_jobs(partial(extract, names=list(ASPECTS)), {d: clips[d] for d in documents}))
        np.savez(kept, **{name: np.array([values[d][name] for d in documents]) for name in ASPECTS})  # type: ignore[index, arg-type]
    with np.load(kept) as features:
        alike = SoundSimilarity(documents, {name: features[name] for name in ASPECTS})
    return replace(found, similarity=alike)


def ways(found: Candidates) -> Iterator[tuple[str, Candidates]]:
    """The same candidates without sound, with it, and with sound that is partly or wholly that of others."""
    yield "none", found.without_similarity()
    if found.similarity is None:
        return
    yield "own", found
    documents = sorted({*found.document, *found.queries})
    other = dict(zip(documents, np.random.default_rng(7).permutation(documents).tolist(), strict=True))
    for name, share in (("half own", 0.5), ("of others", 1.0)):
        yield name, replace(found, similarity=Mixed(found.similarity, other, share))


def cases(found: Candidates) -> Iterator[tuple[str, tuple[str, ...], Candidates]]:
    """Without and with metadata, and the estimators that have a use for them."""
    yield "no metadata", PLAIN, found.without_metadata()
    yield "metadata", KNOWN, found


def part_judged(found: Candidates, share: float, seed: int) -> Candidates:
    """The same candidates, of which a random share is judged."""
    seen = np.random.default_rng([seed, round(1000 * share)]).random(len(found)) < share
    return replace(found, relevance=np.where(seen, found.relevance, np.nan))


def fitted(pools: dict[int, Candidates]) -> Table:
    """Ordinal models with and without aSIM, fitted to all demos but one and tried on that one."""
    rows = []
    for name, base in FITTED.items():
        for more in ((), ("aSIM",), ("sSIM",), ("aSIM", "sSIM")):
            told: dict[float, list[tuple[float, float]]] = {share: [] for share in SHARES}
            for seed, found in pools.items():
                others = [pool for other, pool in pools.items() if other != seed] or [found]
                model, evidence = fit_estimator(others, features=[*base, *more]), Evidence(found)
                for share in SHARES:
                    known = part_judged(found, share, seed).relevance
                    asked = np.isnan(known) & ~np.isnan(evidence.table([*base, "aSIM"], known)).any(axis=1)
                    error = (model.estimate(evidence, known)[0] - found.relevance)[asked]
                    told[share].append((float(np.mean(error**2)), float(np.var(found.relevance[asked]))))
            means = [np.mean(told[share], axis=0) for share in SHARES]
            squares = " / ".join(f"{1 - error / variance:.3f}" for error, variance in means)
            rows.append(
                (name, ", ".join([*base, *more]), squares, " / ".join(f"{np.sqrt(error):.3f}" for error, _ in means))
            )
    notes = "Unseen documents for which all features are defined, with 5, 10 and 20 % judged at random."
    return Table("Fitted models with aSIM", notes, ("metadata", "features", "R²", "RMSE"), rows)


def predicted(pools: dict[int, Candidates], draws: int) -> Table:
    """Unseen documents and systems, with some documents judged at random."""
    found: dict[tuple[str, str, str], list[list[Floats]]] = {}
    for seed, pool in pools.items():
        for case, names, known in cases(pool):
            for way, told in ways(known):
                for name in names:
                    for draw in range(draws):
                        held = [_held(told, name, share, 100 * seed + draw) for share in SHARES]
                        found.setdefault((case, name, way), []).append(held)
    rows = []
    for key in sorted(found, key=lambda key: key[:2]):
        error, variance, difference, right, covered = np.mean(found[key], axis=0).T
        cells = (1 - error / variance, np.sqrt(difference), right, covered)
        rows.append((*key, *(" / ".join(f"{value:.3f}" for value in cell) for cell in cells)))
    notes = (
        f"5, 10 and 20 % judged at random, {draws} times in each of {len(pools)} demos. R² is of unseen documents, the "
        "error (RMSE) and the order of differences between systems, 95 % intervals of these."
    )
    head = ("metadata", "estimator", "sound", "R²", "error of differences", "right order", "intervals hold")
    return Table("Random judgments", notes, head, rows)


def _held(told: Candidates, name: str, share: float, seed: int) -> Floats:
    """Squared error and variance of unseen documents; of systems, squared error, right order, intervals that hold."""
    known = part_judged(told, share, seed)
    with kept_warnings():
        session = Session(known, "CG@5", estimator=name)
    unseen = ~known.judged
    error = session.model.mean[unseen] - told.relevance[unseen]
    point = checkpoint(session, true_scores(told, session.scoring))
    moments = (np.mean(error**2), np.var(told.relevance[unseen]), point.difference_error**2)
    return np.array([*moments, point.accuracy, point.covered])


def sessions(pools: dict[int, Candidates], samples: int, workers: int | None, wanted: Sequence[str]) -> Table:
    """Sessions on random parts, 8 systems x 40 queries, to 95 % mean confidence."""
    keys, tasks = [], []
    for seed, pool in pools.items():
        for i in range(samples):
            rng = np.random.default_rng([seed, i])
            queries, systems = rng.permutation(pool.n_queries)[:40], rng.permutation(pool.n_systems)[:8]
            part = pool.part(queries=queries.tolist(), systems=systems.tolist())
            for case, names, found in cases(part):
                for way, told in ways(found):
                    for name in (name for name in names if name in wanted):
                        keys.append((case, name, way))
                        tasks.append(partial(simulate, told, "CG@5", estimator=name, at=SHARES, seed=i))
    results = run_calls(tasks, workers=workers, progress=_say)
    by_key: dict[tuple[str, str, str], list[Simulation]] = {}
    for key, result in zip(keys, results, strict=True):
        by_key.setdefault(key, []).append(result)
    ordered = sorted(by_key, key=lambda key: key[:2])
    rows = [(*key, *_summary(by_key[key], by_key[(*key[:2], "none")])) for key in ordered]
    head = ("metadata", "estimator", "sound", "right at 5 / 10 / 20 %", "intervals hold", "calibration error")
    notes = (
        f"Means of {samples * len(pools)} parts of 8 systems x 40 queries; the number of judgments at the stop is "
        "compared on the same parts, give or take the standard error."
    )
    return Table("Sessions", notes, (*head, "stop", "right at the stop", "judgments, against no sound"), rows)


def _summary(runs: list[Simulation], without: list[Simulation]) -> tuple[str, ...]:
    points = [point for run in runs for point in run.checkpoints]
    claimed, right = (np.concatenate([getattr(p, name) for p in points]) for name in ("claimed", "right"))
    bins = binned(claimed, right)
    error = sum(one.n * abs(one.claimed - one.right) for one in bins) / sum(one.n for one in bins)
    at = [np.mean([run.checkpoints[k].accuracy for run in runs]) for k in range(len(SHARES))]
    usual = np.mean([run.stop.n_judged for run in without])
    change = np.array([100 * (a.stop.n_judged - b.stop.n_judged) / usual for a, b in zip(runs, without, strict=True)])
    spread = change.std(ddof=1) / np.sqrt(len(change)) if len(change) > 1 else 0.0
    return (
        " / ".join(f"{value:.3f}" for value in at),
        f"{np.mean([p.covered for p in points]):.2f}",
        f"{error:.3f}",
        f"{100 * np.mean([run.stop.n_judged / run.n_candidates for run in runs]):.1f} %",
        f"{np.mean([run.stop.accuracy for run in runs]):.3f}",
        f"{change.mean():+.1f} ± {spread:.1f} %",
    )


def speed() -> Table:
    """Time of a judgment with and without sound: 18 systems x 100 queries x 5 documents, none of them similar."""
    rng, names = np.random.default_rng(1), [f"d{i:04d}" for i in range(5000)]
    runs: dict[str, Any] = {}
    for s in range(18):
        runs[f"s{s:02d}"] = {f"q{q:03d}": [names[50 * q + d] for d in rng.permutation(45)[:5]] for q in range(100)}
    documents = [*names, *(f"q{q:03d}" for q in range(100))]
    alike = SoundSimilarity(documents, {"rhythm": rng.normal(size=(len(documents), 10))})
    found = find_candidates(aj.read(runs), cutoff=5, scale=aj.model.FINE, similarity=alike)
    rows = []
    for estimator in ("uniform", "hierarchical"):
        for measure in ("CG@5", "nDCG@5"):
            times = [_milliseconds(c, measure, estimator) for c in (found.without_similarity(), found)]
            rows.append((estimator, measure, *(f"{value:.1f} ms" for value in times)))
    notes = f"{len(found):,} candidates; mean of the first 200 judgments, choosing and re-estimation included."
    return Table("Time of a judgment", notes, ("estimator", "measure", "without sound", "with sound"), rows)


def _milliseconds(found: Candidates, measure: str, estimator: str) -> float:
    session, rng = Session(found, measure, estimator=estimator), np.random.default_rng(2)
    started = time.process_time()
    for _ in range(200):
        (pair,) = session.next()
        session.judge(*pair, float(rng.integers(101)))
    return 1000 * (time.process_time() - started) / 200


def _say(done: int, total: int) -> None:
    if done % 50 == 0 or done == total:
        print(f"{done} of {total} sessions", file=sys.stderr, flush=True)


def main(argv: Sequence[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sound", description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("sound"), help="where sound and its features are kept")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS), help="demos to make")
    parser.add_argument("--draws", type=int, default=4, help="random judgments to try of each demo")
    parser.add_argument("--samples", type=int, default=8, help="parts to draw of each demo")
    known = list(dict.fromkeys((*PLAIN, *KNOWN)))
    parser.add_argument("--estimators", nargs="+", default=known, choices=known, help="those that judge in sessions")
    parser.add_argument("--workers", type=int, help="processes to use (default: one a core)")
    parser.add_argument(
        "--only", nargs="+", default=["fitted", "predicted", "sessions", "speed"], help="tables to make"
    )
    arguments = parser.parse_args(argv)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    pools = {seed: heard(seed, arguments.folder) for seed in arguments.seeds} if arguments.only != ["speed"] else {}
    print("\n".join(machine()))
    made = {
        "fitted": lambda: fitted(pools),
        "predicted": lambda: predicted(pools, arguments.draws),
        "sessions": lambda: sessions(pools, arguments.samples, arguments.workers, arguments.estimators),
        "speed": speed,
    }
    for name in arguments.only:
        print(f"\n{made[name]().markdown()}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
