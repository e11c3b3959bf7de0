"""The thesis's chapter-5 experiment beside a loop over SciPy, and how it scales over workers.

``python -m benchmarks.experiments`` runs 300 splits of the 100 queries of MIREX 2011 into halves (``../shared/data``;
made up with the same shape where that is not there), five tests of all 153 pairs of systems on both halves, 100,000
resamples, by one measure: in one process, over two, and over a local Dask cluster of two workers. The peer is the
usual loop: SciPy's tests a pair at a time (its permutation test vectorised; the bootstrap test, which SciPy lacks, in
NumPy), on a sample of pairs. Before any ratio is shown, all runs must have given the same p-values, bit for bit, and
the loop the same within Monte-Carlo error. Processes are started anew for each run, their start counted.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from adjudge.arrays import Floats
from adjudge.experiments.comparing import FIVE_TESTS, parse_procedures, run_procedures
from adjudge.experiments.optimality import Optimality
from adjudge.experiments.run import run_experiment
from adjudge.formats import read
from adjudge.measures import evaluate
from adjudge.model.effectiveness import Effectiveness
from benchmarks.processes import BenchmarkError
from benchmarks.report import Table, machine, seconds, times

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "mirex2011"
WAYS: dict[str, dict[str, object]] = {
    "Adjudge, in one process": {"workers": 1},
    "Adjudge, 2 processes": {"workers": 2},
    "Adjudge, Dask with 2 workers": {"workers": 2, "dask": "local"},
}


def effectiveness() -> tuple[Effectiveness, str]:
    """Queries x systems, and what they are."""
    if DATA.is_dir():
        collection = read(str(DATA / "runs.tsv"), str(DATA / "judgments.tsv"), scale="fine")
        return evaluate(collection, ["CG@5"]), "MIREX 2011, CG@5 on Fine"
    rng = np.random.default_rng(0)
    values = np.clip(0.4 + 0.2 * rng.normal(size=(100, 1)) + 0.15 * rng.normal(size=(100, 18)), 0, 1)
    return Effectiveness.from_matrix(values), "made up"


def by_loop(differences: Floats, resamples: int) -> dict[str, float]:
    """Two-sided p-values of one pair, as scripts have them."""
    from scipy import stats

    rng = np.random.default_rng(1)
    n, mean = len(differences), differences.mean()
    wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
    permuted = stats.permutation_test(
        (differences,),
        lambda x, axis: np.mean(x, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=resamples,
        batch=max(1, resamples // 10),
        rng=rng,
    )
    shifted = differences - mean
    means = np.concatenate([shifted[rng.integers(0, n, (resamples // 10, n))].mean(axis=1) for _ in range(10)])
    return {
        "t": float(stats.ttest_1samp(differences, 0.0).pvalue),
        "wilcoxon": float(stats.wilcoxon(differences).pvalue),
        "sign": float(stats.binomtest(wins, wins + losses).pvalue),
        "bootstrap": float((1 + np.count_nonzero(np.abs(means) >= abs(mean))) / (resamples + 1)),
        "permutation": float(permuted.pvalue),
    }


def check(name: str, theirs: float, ours: float, resamples: int) -> None:
    """Monte-Carlo p-values may differ by their errors; Wilcoxon's by its treatment of ties and continuity."""
    slack = {"t": 1e-9, "sign": 1e-9, "wilcoxon": 0.02}.get(name)
    if slack is None:
        slack = 5 * float(np.sqrt(2 * ours * (1 - ours) / resamples)) + 3 / resamples
    if not abs(ours - theirs) <= slack:
        raise BenchmarkError(f"{name}: p of a pair is {theirs}, Adjudge's {ours}; no ratios")


def loop_seconds(values: Floats, resamples: int, n_pairs: int) -> float:
    """Seconds a pair and half of the loop, on a sample of pairs."""
    rng = np.random.default_rng(2)
    half = values[np.sort(rng.permutation(len(values))[: len(values) // 2])]
    (ours,) = run_procedures([half], parse_procedures(FIVE_TESTS), resamples=resamples, seed=0)
    first, second = np.triu_indices(half.shape[1], 1)
    taken = 0.0
    for pair in rng.choice(len(first), n_pairs, replace=False):
        differences = half[:, first[pair]] - half[:, second[pair]]
        start = time.perf_counter()
        found = by_loop(differences, resamples)
        taken += time.perf_counter() - start
        for name, p in found.items():
            check(name, p, float(ours.p[name][pair]), resamples)
    return taken / n_pairs


def adjudge_seconds(eff: Effectiveness, trials: int, resamples: int) -> dict[str, float]:
    """Seconds of the whole experiment each way; all must give the same rows."""
    spec = Optimality(trials=trials, resamples=resamples)
    taken: dict[str, float] = {}
    rows: list[pl.DataFrame] = []
    for name, how in WAYS.items():
        print(f"  {name}, {trials} trials", file=sys.stderr, flush=True)
        start = time.perf_counter()
        rows.append(run_experiment(spec, eff, **how).rows)  # type: ignore[arg-type]
        taken[name] = time.perf_counter() - start
        if not rows[-1].equals(rows[0]):
            raise BenchmarkError(f"{name}: other p-values than in one process; no ratios")
    return taken


def compare(trials: int, resamples: int, n_pairs: int) -> Table:
    """The experiment each way beside the loop."""
    eff, source = effectiveness()
    values = eff.matrix()
    tests = 2 * trials * values.shape[1] * (values.shape[1] - 1) // 2
    taken = adjudge_seconds(eff, trials, resamples)
    print(f"  the loop on {n_pairs} pairs", file=sys.stderr, flush=True)
    each = loop_seconds(values, resamples, n_pairs)
    least = taken["Adjudge, 2 processes"]
    rows = [[name, f"{tests:,}", seconds(one), times(one / least)] for name, one in taken.items()]
    rows.append(
        [f"SciPy, a loop ({n_pairs} pairs measured)", f"{tests:,}", seconds(each * tests), times(each * tests / least)]
    )
    notes = (
        f"{source}, {trials} splits of {values.shape[0]} queries into halves, {values.shape[1]} systems, five tests "
        f"with {resamples:,} resamples each. A pair is one of two systems on one half. The loop's time is "
        f"{seconds(each)} a pair times all pairs; it runs in one process."
    )
    return Table("The chapter-5 experiment", notes, ["how", "pairs", "time", "ratio"], rows)


def main(argv: Sequence[str]) -> int:
    """Run and print; 1 when tools disagree."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.experiments", description=__doc__)
    parser.add_argument("--trials", type=int, default=300)
    parser.add_argument("--resamples", type=int, default=100_000)
    parser.add_argument("--pairs", type=int, default=10, help="pairs that the loop gets")
    arguments = parser.parse_args(argv)
    print("\n".join(machine()), flush=True)
    try:
        table = compare(arguments.trials, arguments.resamples, arguments.pairs)
    except BenchmarkError as failure:
        print(f"benchmarks: {failure}", file=sys.stderr)
        return 1
    print(f"\n{table.text()}\nload at the end {os.getloadavg()[0]:.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
