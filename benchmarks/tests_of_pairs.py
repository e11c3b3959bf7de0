"""Resampling tests of all pairs of systems beside peers that take one pair at a time.

``python -m benchmarks.tests_of_pairs`` compares all 8,256 pairs of the 129 runs of TREC-8 ad hoc (50 topics), read from
``../shared/data/trec/adhoc8_ap.csv`` or, where that is not there, made up with the same shape. Peers get a sample of
the pairs and as many resamples. Everything runs in one process, Adjudge first, before the peers are imported; what the
peers do on their first call (compiling) is not counted. Before any ratio is shown, the tools must agree on p-values
within Monte-Carlo error.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from adjudge.arrays import Floats
from adjudge.stats.intervals import bootstrap_differences
from adjudge.stats.multiple import randomised_tukey_hsd
from adjudge.stats.paired import PairedTests, paired_tests
from benchmarks.processes import BenchmarkError
from benchmarks.report import Table, megabytes, seconds, show, times

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "trec" / "adhoc8_ap.csv"
Pairs = Sequence[tuple[int, int]]
Peer = Callable[[Floats, Floats, int], float]  # (values of a, values of b, resamples) -> two-sided p


def effectiveness() -> tuple[Floats, str]:
    """Topics x systems, and what they are."""
    if DATA.is_file():
        return np.loadtxt(DATA, delimiter=",", skiprows=1), "TREC-8 ad hoc, AP"
    rng = np.random.default_rng(0)
    return np.clip(rng.random((50, 1)) * rng.random((1, 129)) + 0.1 * rng.normal(size=(50, 129)), 0, 1), "made up"


def scipy_permutation(a: Floats, b: Floats, resamples: int) -> float:
    """As fast as it goes: vectorised, a tenth of the resamples at a time."""
    from scipy.stats import permutation_test

    def mean_difference(x: Floats, y: Floats, axis: int) -> Floats:
        difference: Floats = np.mean(x, axis=axis) - np.mean(y, axis=axis)
        return difference

    done = permutation_test(
        (a, b),
        mean_difference,
        permutation_type="samples",
        vectorized=True,
        n_resamples=resamples,
        batch=max(1, resamples // 10),
        rng=np.random.default_rng(1),
    )
    return float(done.pvalue)


def ranx_permutation(a: Floats, b: Floats, resamples: int) -> float:
    """The test behind ``ranx.compare(..., stat_test="fisher")``."""
    from ranx.statistical_tests import fisher_randomization_test

    return float(fisher_randomization_test(a, b, resamples, 0.05, 1)[0])


PEERS: dict[str, Peer] = {"scipy.stats.permutation_test": scipy_permutation, "ranx, fisher": ranx_permutation}


def peak() -> float:
    """Most memory this process has had, in megabytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def timed(repeats: int, task: Callable[[], object]) -> tuple[float, float]:
    """Least seconds of a task, and megabytes by which it raised the peak."""
    before, taken = peak(), []
    for _ in range(repeats):
        start = time.perf_counter()
        task()
        taken.append(time.perf_counter() - start)
    return min(taken), peak() - before


def check(name: str, theirs: float, ours: float, resamples: int) -> None:
    """Two Monte-Carlo p-values of the same pair must not differ by more than their errors allow."""
    if not abs(ours - theirs) <= 5 * np.sqrt(2 * ours * (1 - ours) / resamples) + 3 / resamples:
        raise BenchmarkError(f"{name}: p of a pair is {theirs}, Adjudge's {ours}; no ratios")


def measure_peer(name: str, values: Floats, pairs: Pairs, resamples: int, ours: PairedTests) -> float:
    """Seconds a pair, after a first call that does not count."""
    print(f"  {name} on {len(pairs)} pairs", file=sys.stderr, flush=True)
    peer, columns = PEERS[name], np.ascontiguousarray(values.T)
    peer(columns[0], columns[1], 100)
    start = time.perf_counter()
    found = [peer(columns[a], columns[b], resamples) for a, b in pairs]
    taken = (time.perf_counter() - start) / len(pairs)
    for (a, b), p in zip(pairs, found, strict=True):
        check(name, p, float(ours.p[a, b]), resamples)
    return taken


def compare(resamples: int, sample: int, repeats: int) -> Table:
    """All pairs of Adjudge beside a sample of pairs of each peer."""
    values, source = effectiveness()
    n_pairs = values.shape[1] * (values.shape[1] - 1) // 2
    rng = np.random.default_rng(2)
    pairs = [(int(a), int(b)) for a, b in (rng.choice(values.shape[1], 2, replace=False) for _ in range(sample))]
    rows, own, results = [], {}, {}
    for test in ("permutation", "bootstrap"):
        print(f"  Adjudge, {test}, {n_pairs:,} pairs", file=sys.stderr, flush=True)
        results[test] = paired_tests(values, test=test, resamples=min(resamples, 1000))  # imports are not measured
        taken, memory = timed(repeats, partial(paired_tests, values, test=test, resamples=resamples))
        results[test] = paired_tests(values, test=test, resamples=resamples)
        own[test] = taken / n_pairs
        rows.append([f"Adjudge, {test}", f"{n_pairs:,}", seconds(taken), micro(own[test]), "1", megabytes(memory)])
    for name in PEERS:
        each = measure_peer(name, values, pairs, resamples, results["permutation"])
        rows.append([name, str(sample), seconds(each * sample), micro(each), times(each / own["permutation"]), ""])
    slower = max(own.values()) / own["permutation"]
    notes = (
        f"{source}, {values.shape[0]} topics x {values.shape[1]} systems, two-sided, {resamples:,} resamples; least of "
        f"{repeats} runs. Ratios are to Adjudge's permutation test, a pair; divide by {slower:.2f} for its slower one. "
        "Memory is what the peak of the process rose by."
    )
    return Table("Resampling tests, all pairs", notes, ["tool", "pairs", "time", "a pair", "ratio", "memory"], rows)


def others(repeats: int) -> Table:
    """What else resamples, without a peer that does the same."""
    values, source = effectiveness()
    tasks: dict[str, Callable[[], object]] = {
        "randomised Tukey HSD, 10,000 resamples": lambda: randomised_tukey_hsd(values),
        "BCa intervals of all differences, 10,000 resamples": lambda: bootstrap_differences(values),
    }
    rows = [[name, seconds(timed(repeats, task)[0])] for name, task in tasks.items()]
    return Table("Other resampling, all pairs", f"{source}; least of {repeats} runs.", ["task", "time"], rows)


def micro(value: float) -> str:
    """Microseconds or milliseconds."""
    return f"{value * 1e6:,.0f} µs" if value < 0.01 else f"{value * 1e3:,.0f} ms"


def main(argv: Sequence[str]) -> int:
    """Run and print; 1 when tools disagree."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tests_of_pairs", description=__doc__)
    parser.add_argument("--resamples", type=int, default=100_000)
    parser.add_argument("--pairs", type=int, default=10, help="pairs that peers get")
    parser.add_argument("--repeats", type=int, default=3, help="runs of Adjudge, the fastest counts")
    arguments = parser.parse_args(argv)
    return show(lambda: [compare(arguments.resamples, arguments.pairs, arguments.repeats), others(arguments.repeats)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
