"""Mann-Whitney tests of all pairs of documents beside a loop over SciPy's.

``python -m benchmarks.groundtruth`` compares all 1,225 pairs of 50 documents that 35 simulated experts ranked for a
query, the size of the lists of MIREX 2005, in both directions. ``scipy.stats.mannwhitneyu`` takes a pair and a
direction at a time, or, vectorised, all pairs of columns at once. Before any ratio is shown all p-values must agree.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence

import numpy as np
from scipy.stats import mannwhitneyu

from adjudge.arrays import Floats
from adjudge.errors import kept_warnings
from adjudge.groundtruth import build, compare_constructions, simulate_rankings
from adjudge.groundtruth.comparisons import smaller_ranks
from adjudge.text import percent
from benchmarks.processes import BenchmarkError
from benchmarks.report import Table, seconds, show, times


def scipy_loop(ranks: Floats) -> Floats:
    """Both directions of every pair, one call each; unranked documents are taken out first."""
    n = ranks.shape[1]
    columns = [column[np.isfinite(column)] for column in ranks.T]
    p = np.ones((n, n))
    for i in range(n):
        for j in range(n):
            if i != j:
                p[i, j] = mannwhitneyu(columns[i], columns[j], alternative="less", method="asymptotic").pvalue
    return p


def scipy_vectorised(ranks: Floats) -> Floats:
    """All ordered pairs of columns in one call, which leaves out what is missing itself."""
    n = ranks.shape[1]
    row, column = np.nonzero(~np.eye(n, dtype=np.bool_))
    p = np.ones((n, n))
    found = mannwhitneyu(
        ranks[:, row], ranks[:, column], alternative="less", method="asymptotic", axis=0, nan_policy="omit"
    )
    p[row, column] = found.pvalue
    return p


def least(repeats: int, task: Callable[[], object]) -> float:
    """Least seconds of a task."""
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        task()
        taken.append(time.perf_counter() - start)
    return min(taken)


def pairs(documents: int, experts: int, repeats: int) -> Table:
    """All pairs of one query."""
    rows = []
    for unranked in (0.0, 0.2):
        made = simulate_rankings(queries=1, documents=documents, experts=experts, unranked=unranked)
        ranks = made.rankings.queries[0].ranks
        ours = smaller_ranks(ranks, method="normal")
        own = least(repeats, lambda ranks=ranks: smaller_ranks(ranks, method="normal"))  # type: ignore[misc]
        given = f"{percent(unranked)} unranked"
        rows.append(["Adjudge", given, seconds(own), "1"])
        for name, peer in (("scipy, a loop", scipy_loop), ("scipy, vectorised", scipy_vectorised)):
            print(f"  {name}, {given}", file=sys.stderr, flush=True)
            if not np.allclose(peer(ranks), ours, atol=1e-12):
                raise BenchmarkError(f"{name}: p-values are not Adjudge's; no ratios")
            taken = least(max(1, repeats // 3), lambda ranks=ranks, peer=peer: peer(ranks))  # type: ignore[misc]
            rows.append([name, given, seconds(taken), times(taken / own)])
    notes = (
        f"{documents} documents, {experts} experts, both directions of {documents * (documents - 1) // 2:,} pairs, by "
        "the normal approximation corrected for ties and continuity; "
        f"least of {repeats} runs (peers {max(1, repeats // 3)})."
    )
    return Table("Mann-Whitney, all pairs of documents", notes, ["tool", "ranks", "time", "ratio"], rows)


def whole(documents: int, experts: int) -> Table:
    """What a user waits for: lists of 11 queries, and constructions side by side."""
    rankings = simulate_rankings(documents=documents, experts=experts, groups=documents // 2).rankings
    tasks: dict[str, Callable[[], object]] = {
        "build, Any-1": lambda: build(rankings, "Any-1"),
        "build, Best-1": lambda: build(rankings, "Best-1"),
        "build, Any-1:plackett-luce": lambda: build(rankings, "Any-1:plackett-luce"),
        "build, Any-1:plackett-luce-bootstrap": lambda: build(rankings, "Any-1:plackett-luce-bootstrap"),
        "compare the six functions": lambda: compare_constructions(rankings, halves=0),
        "compare the six functions, 10 halves held out": lambda: compare_constructions(rankings, halves=10),
    }
    with kept_warnings():  # of documents that no simulated expert ranked
        rows = [[name, seconds(least(1, task))] for name, task in tasks.items()]
    return Table("Lists of 11 queries", f"{documents} documents, {experts} experts; one run.", ["task", "time"], rows)


def main(argv: Sequence[str]) -> int:
    """Run and print; 1 when tools disagree."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.groundtruth", description=__doc__)
    parser.add_argument("--documents", type=int, default=50)
    parser.add_argument("--experts", type=int, default=35)
    parser.add_argument("--repeats", type=int, default=9, help="runs of Adjudge, the fastest counts")
    arguments = parser.parse_args(argv)
    return show(
        lambda: [
            pairs(arguments.documents, arguments.experts, arguments.repeats),
            whole(arguments.documents, arguments.experts),
        ]
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
