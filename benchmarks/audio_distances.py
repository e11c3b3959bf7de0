"""Distances between all pairs of clips beside a loop over pairs and NumPy row by row.

``python -m benchmarks.audio_distances`` computes symmetric Kullback-Leibler divergences of Gaussians of 20 dimensions:
by a loop over pairs with SciPy's Cholesky factors, by a loop over pairs with inverses made before, by NumPy for one
document against all at a time, and as Adjudge does, as one product of long vectors. Each runs in a process of its own,
on as many documents as it can do in reasonable time, for its peak of memory; times are compared by the pair. Before any
ratio is shown the distances must agree. Then whole systems: what a user waits for.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from adjudge.arrays import Floats
from benchmarks.processes import BenchmarkError
from benchmarks.report import Table, megabytes, seconds, show, times

D = 20


def gaussians(n: int, seed: int = 0) -> tuple[Floats, Floats]:
    """Means and covariances of invented clips of 60 frames."""
    rng = np.random.default_rng(seed)
    deviations = np.linspace(6.0, 0.6, D)
    covariances = np.empty((n, D, D))
    for one in covariances:
        frames = rng.normal(size=(60, D)) * deviations * np.exp(0.3 * rng.normal())
        one[:] = frames.T @ frames / 60
    return 0.7 * rng.normal(size=(n, D)) * deviations, covariances


def scipy_pairs(means: Floats, covariances: Floats) -> Floats:
    """Pair by pair, with Cholesky factors."""
    from scipy.linalg import cho_factor, cho_solve

    n = len(means)
    factors = [cho_factor(one) for one in covariances]
    found = np.zeros((n, n))
    for p in range(n):
        for q in range(p):
            away = means[p] - means[q]
            both = 0.0
            for one, other in ((p, q), (q, p)):
                both += np.trace(cho_solve(factors[one], covariances[other])) + away @ cho_solve(factors[one], away)
            found[p, q] = found[q, p] = 0.5 * both - D
    return found


def numpy_pairs(means: Floats, covariances: Floats) -> Floats:
    """Pair by pair, with inverses."""
    n = len(means)
    inverse = np.linalg.inv(covariances)
    found = np.zeros((n, n))
    for p in range(n):
        for q in range(p):
            away = means[p] - means[q]
            traces = np.sum(inverse[q] * covariances[p]) + np.sum(inverse[p] * covariances[q])
            found[p, q] = found[q, p] = 0.5 * (traces + away @ (inverse[p] + inverse[q]) @ away) - D
    return found


def numpy_rows(means: Floats, covariances: Floats) -> Floats:
    """One document against all at a time."""
    inverse = np.linalg.inv(covariances)
    found = np.empty((len(means), len(means)))
    for p, row in enumerate(found):
        away = means - means[p]
        traces = np.einsum("nij,ij->n", inverse, covariances[p]) + np.einsum("nij,ij->n", covariances, inverse[p])
        row[:] = 0.5 * (traces + np.einsum("ni,nij,nj->n", away, inverse + inverse[p], away, optimize=True)) - D
    return found


def adjudge(means: Floats, covariances: Floats) -> Floats | None:
    """One product, in blocks; a matrix only where it is small, as systems need none."""
    from adjudge.audio.systems.distances import SymmetricKL, iterate_rows

    kl = SymmetricKL(means, covariances)
    if len(means) <= 1000:
        return np.concatenate([rows for _, rows in iterate_rows(kl, len(means))])
    for _, _rows in iterate_rows(kl, len(means)):
        pass
    return None


TASKS: dict[str, Callable[[Floats, Floats], Floats | None]] = {
    "scipy, a loop over pairs": scipy_pairs,
    "numpy, a loop over pairs": numpy_pairs,
    "numpy, row by row": numpy_rows,
    "Adjudge": adjudge,
}


def peak() -> float:
    """Highest use of memory so far, in MB."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(name: str, n: int) -> None:
    """Run a task and print seconds and memory above what its input takes."""
    means, covariances = gaussians(n)
    TASKS[name](means[:30], covariances[:30])  # what is loaded on the first call does not count
    before, start = peak(), time.perf_counter()
    TASKS[name](means, covariances)
    print(json.dumps({"seconds": time.perf_counter() - start, "memory": peak(), "above": peak() - before}))


def performed(name: str, n: int) -> dict[str, float]:
    """The same in a process of its own."""
    print(f"  {name}, {n:,} documents", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "benchmarks.audio_distances", "--task", name, "--documents", str(n)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[1], check=False)
    if done.returncode != 0:
        raise BenchmarkError(f"{name} failed: {done.stderr.strip()[-2000:]}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def check_agreement() -> None:
    """All tasks give the same distances for 60 documents, or there are no ratios."""
    means, covariances = gaussians(60)
    ours = adjudge(means, covariances)
    for name, task in TASKS.items():
        if not np.allclose(np.asarray(task(means, covariances)), np.asarray(ours), rtol=1e-9, atol=1e-8):
            raise BenchmarkError(f"{name}: distances are not Adjudge's; no ratios")


def pairs(repeats: int, largest: int) -> Table:
    """All ways, by the pair."""
    sizes = {"scipy, a loop over pairs": [300], "numpy, a loop over pairs": [600], "numpy, row by row": [2000]}
    found = []
    for name in TASKS:
        for n in sizes.get(name, [2000, largest]):
            outcomes = [performed(name, n) for _ in range(repeats)]
            least = min(one["seconds"] for one in outcomes)
            found.append((name, n, least, max(one["memory"] for one in outcomes)))
    own = next(taken / n**2 for name, n, taken, _ in found if (name, n) == ("Adjudge", 2000))
    rows = [
        [name, f"{n:,}", seconds(taken), f"{1e9 * taken / n**2:,.0f} ns", times(taken / n**2 / own), megabytes(memory)]
        for name, n, taken, memory in found
    ]
    notes = (
        f"Gaussians of {D} dimensions; least of {repeats} runs, each in a process of its own; the ratio is of times by "
        "the pair. Memory is the peak of the process, with Python, the libraries and the Gaussians."
    )
    return Table("Symmetric Kullback-Leibler divergence, all pairs", notes, _HEAD, rows)


_HEAD = ["tool", "documents", "time", "by the pair", "ratio", "peak memory"]


def whole(n: int) -> Table:
    """Lists of every document by each system, and the statistics of one."""
    import polars as pl

    from adjudge.audio.features.timbre import pack
    from adjudge.audio.systems import BASELINES, Sounds, make_runs
    from adjudge.audio.systems.statistics import describe_systems

    rng = np.random.default_rng(0)
    documents = tuple(f"d{place:05d}" for place in range(n))
    features = {
        "timbre": np.array([pack(*one) for one in zip(*gaussians(n), strict=True)]),
        "rhythm": rng.gamma(1.0, size=(n, 1320)),
        "tonal": rng.random((n, 96)),
    }
    tracks = pl.DataFrame(
        {
            "document": documents,
            "artist": [f"a{place}" for place in rng.integers(n // 5, size=n)],
            "genre": [f"g{place}" for place in rng.integers(10, size=n)],
        }
    )
    sounds = Sounds(documents, features, tracks)
    tasks: dict[str, Callable[[], object]] = {
        **{f"run of {name}": lambda name=name: make_runs(sounds, [name]) for name in BASELINES},  # type: ignore[misc]
        "statistics of timbre": lambda: describe_systems(sounds, ["timbre"]),
    }
    rows = []
    for name, task in tasks.items():
        print(f"  {name}", file=sys.stderr, flush=True)
        start = time.perf_counter()
        task()
        rows.append([name, seconds(time.perf_counter() - start)])
    notes = (
        f"All {n:,} documents as queries, 5 documents each, artist filter; one run. Peak of all: {megabytes(peak())}."
    )
    return Table("Baseline systems", notes, ["task", "time"], rows)


def main(argv: Sequence[str]) -> int:
    """Run and print; 1 when tools disagree."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.audio_distances", description=__doc__)
    parser.add_argument("--documents", type=int, default=10_000, help="of the largest library (default: 10,000)")
    parser.add_argument("--systems", type=int, default=2000, help="documents of whole systems (default: 2,000)")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each, the fastest counts")
    parser.add_argument("--task", help=argparse.SUPPRESS)
    arguments = parser.parse_args(argv)
    if arguments.task is not None:
        measure(arguments.task, arguments.documents)
        return 0
    return show(lambda: _measured(arguments))


def _measured(arguments: argparse.Namespace) -> list[Table]:
    check_agreement()
    return [pairs(arguments.repeats, arguments.documents), whole(arguments.systems)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
