"""Resampling tests on a graphics card beside the processor, at the size of the experiment of chapter 5 of the thesis.

``python -m benchmarks.experiments_gpu --data FILE.npy`` wants PyTorch, a CUDA device and effectiveness as an array of
queries x systems x measures (100 x 18 x 14 for MIREX 2011). Every trial halves the queries at random; 12, 15, 8 and 18
of the systems stand for four collections. Before any time is shown, p-values of both must agree within Monte-Carlo
error. The processor's time is that of some trials in one thread (set ``OMP_NUM_THREADS=1``), scaled. Prints Markdown.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.experiments import gpu
from adjudge.experiments.gpu import fixed_point
from adjudge.stats.paired import How, Outcome, resampled_tests
from adjudge.stats.resampling import FLIPPED, SHIFTED, Resampling
from adjudge.text import percent
from benchmarks.processes import BenchmarkError
from benchmarks.report import Table, machine, seconds, times

SYSTEMS = (12, 15, 8, 18)
SCHEMES = {"bootstrap": SHIFTED, "permutation": FLIPPED}
PEAK = {"NVIDIA H200": 989e12}  # dense half precision, from the datasheet
Trial = list[Floats]


def trials_of(values: Floats, count: int) -> list[Trial]:
    """Both halves of the queries by every measure, of each number of systems."""
    rng = np.random.default_rng(0)
    n_queries, n_systems, n_measures = values.shape
    found = []
    for _ in range(count):
        order, trial = rng.permutation(n_queries), []
        for size in SYSTEMS:
            chosen = np.sort(rng.choice(n_systems, size, replace=False))
            for half in (order[: n_queries // 2], order[n_queries // 2 :]):
                part = values[np.ix_(half, chosen)]
                trial += [np.ascontiguousarray(part[:, :, m]) for m in range(n_measures)]
        found.append(trial)
    return found


def n_pairs(matrices: Sequence[Floats]) -> int:
    """Pairs of systems in all matrices."""
    return sum(one.shape[1] * (one.shape[1] - 1) // 2 for one in matrices)


def furthest(ours: Sequence[Outcome], theirs: Sequence[Outcome], resamples: int) -> float:
    """Largest difference of p-values in Monte-Carlo errors of a difference."""
    worst = 0.0
    for one, other in zip(ours, theirs, strict=True):
        p = (one.p + other.p) / 2
        error = np.sqrt(2 * np.maximum(p * (1 - p), 1 / resamples) / resamples)
        worst = max(worst, float(np.max(np.abs(one.p - other.p) / error)))
    return worst


def agreement(values: Floats, resamples: int) -> Table:
    """p-values of the card against the processor's, and of the kernel against double precision on the same draws."""
    order, device, rows = np.random.default_rng(1).permutation(len(values)), gpu.cuda_device(), []
    halves = [values[half][:, :, m] for half in (order[:50], order[50:]) for m in range(values.shape[2])]
    cases = {"halves, all measures": halves, "rounded to fifths": [np.round(one * 5) / 5 for one in halves]}
    shifted = np.stack([halves[0][:, 0], halves[0][:, 0] + 0.1, halves[0][:, 0]], axis=1)
    cases["the same difference on all queries, and none"] = [shifted]
    for name, matrices in cases.items():
        for test, scheme in SCHEMES.items():
            for alternative in ("two-sided", "greater"):
                how = How(alternative, resamples, 7)
                ours = gpu.resampled_tests_on_gpu(matrices, how, scheme)
                again = gpu.resampled_tests_on_gpu(matrices, how, scheme)
                worst = furthest(ours, resampled_tests(matrices, how, scheme), resamples)
                table = gpu.tabled(matrices)
                fused, plain = (gpu.count_table(table, how, scheme, device, fused=f)[0] for f in (True, False))
                other = int(np.sum(fused != plain))
                errors = np.sqrt(np.maximum(plain * (1 - plain / resamples), 1))
                most = float(np.max(np.abs(fused - plain) / errors))
                same = all(np.array_equal(a.p, b.p) for a, b in zip(ours, again, strict=True))
                if worst > 5 or not same or min(one.p.min() for one in ours) < 1 / (resamples + 1):
                    raise BenchmarkError(f"{name}, {test}, {alternative}: off by {worst:.1f} errors, repeats: {same}")
                least = min(float(one.p.min()) for one in ours)
                cells = [f"{n_pairs(matrices):,}", f"{worst:.1f}", f"{least:.2g}", f"{other:,}", f"{most:.2f}"]
                rows.append([f"{name}: {test}, {alternative}", *cells])
    head = ["case", "pairs", "furthest, errors", "least p", "counts not those of float64", "by at most, errors"]
    notes = (
        f"{resamples:,} resamples. First the card against the processor, in Monte-Carlo errors of a difference; then "
        "the kernel against double precision on the same draws, in those of a count."
    )
    return Table("Agreement", notes, head, rows)


def on_card(task: Callable[[], object], repeats: int = 15) -> float:
    """Median seconds that the card takes."""
    import torch

    taken = []
    for i in range(repeats + 3):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        task()
        end.record()
        torch.cuda.synchronize()
        if i >= 3:
            taken.append(start.elapsed_time(end) / 1000)
    return float(statistics.median(taken))


def product_peak(size: int = 8192) -> float:
    """Operations a second of PyTorch's own product in half precision."""
    import torch

    a, b = (torch.randn((size, size), device="cuda").half() for _ in range(2))
    return 2 * size**3 / on_card(lambda: a @ b)


def stages(matrices: Sequence[Floats], scheme: Resampling, resamples: int) -> dict[str, float]:
    """Seconds that the card takes to draw, to prepare differences, and to multiply and count."""
    import torch

    device, table = gpu.cuda_device(), gpu.tabled(matrices)
    n = table.values.shape[1]
    values, first, second = gpu.on_card(table, slice(None), device)

    def prepare() -> tuple[Any, ...]:
        fixed = fixed_point(values, first, second, centred=scheme.centred, two_sided=True, xp=torch)
        extra = gpu.padded(n) - n
        halves = [torch.nn.functional.pad(half.half(), (0, extra)) for half in (fixed.high, fixed.low)]
        return (*halves, fixed.least.float(), fixed.most.float())

    operands = prepare()
    drawn = next(gpu.draws_on(device, scheme, n, resamples, 0))[0]
    columns = -(-drawn.shape[1] // gpu.RESAMPLES) * gpu.RESAMPLES
    weights = torch.nn.functional.pad(drawn, (0, columns - drawn.shape[1], 0, operands[0].shape[1] - n))
    upper, lower = torch.zeros((2, len(first)), dtype=torch.int32, device=device)
    units = torch.cuda.get_device_properties(device).multi_processor_count
    return {
        "draw": on_card(lambda: next(gpu.draws_on(device, scheme, n, resamples, 0))),
        "prepare": on_card(prepare),
        "count": on_card(lambda: gpu.count_on_card(operands, weights, upper, lower, two_sided=True, units=units)),
    }


def rates(trials: Sequence[Trial], resamples: int) -> Table:
    """What the kernel reaches, with the pairs of one trial and of many."""
    import torch

    name, peak, rows = torch.cuda.get_device_name(), product_peak(), []
    for count in (1, min(25, len(trials))):
        matrices = [one for trial in trials[:count] for one in trial]
        for test, scheme in SCHEMES.items():
            taken, pairs, n = stages(matrices, scheme, resamples), n_pairs(matrices), len(matrices[0])
            useful = 2 * n * resamples * pairs / taken["count"]
            done = useful * 2 * gpu.padded(n) / n
            shares = [percent(done / peak, 0), percent(done / PEAK[name], 0) if name in PEAK else ""]
            parts = [f"{taken[part] * 1e3:.2f} ms" for part in ("draw", "prepare", "count")]
            compared = f"{resamples * pairs / taken['count']:.2e}"
            reached = [f"{rate / 1e12:.0f}" for rate in (useful, done)]
            rows.append([f"{test}, {pairs:,} pairs", *parts, compared, *reached, *shares])
    head = ["work", "draw", "prepare", "multiply and count", "differences a second", "useful TFLOP/s"]
    head += ["done TFLOP/s", "of measured peak", "of the datasheet's"]
    notes = (
        f"{name}; median of 15. Useful is 2 n operations a resampled difference; done counts both halves of a number "
        f"and n filled up to {gpu.padded(n)}. Measured peak is {peak / 1e12:.0f} TFLOP/s of an 8192^3 product "
        "of PyTorch in half precision, in the same run."
    )
    return Table("What the kernel reaches", notes, head, rows)


def elapsed(task: Callable[[], object]) -> float:
    """Seconds of one run."""
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def whole(trials: Sequence[Trial], resamples: int, sample: int) -> Table:
    """All trials, a call each and in one call, beside one core."""
    rows, every = [], [one for trial in trials for one in trial]
    for test, scheme in SCHEMES.items():

        def by_trial(scheme: Resampling = scheme) -> None:
            for i, trial in enumerate(trials):
                gpu.resampled_tests_on_gpu(trial, How(resamples=resamples, seed=i), scheme)

        def at_once(scheme: Resampling = scheme) -> None:
            gpu.resampled_tests_on_gpu(every, How(resamples=resamples), scheme)

        def on_core(scheme: Resampling = scheme) -> None:
            for i, trial in enumerate(trials[:sample]):
                resampled_tests(trial, How(resamples=resamples, seed=i), scheme)

        resampled_tests(trials[0], How(resamples=1000), scheme)
        core = elapsed(on_core) * len(trials) / sample
        for name, task in (("a call a trial", by_trial), ("one call", at_once)):
            task()
            taken = min(elapsed(task) for _ in range(2))
            rows.append([f"{test}, {name}", f"{n_pairs(every):,}", seconds(taken), seconds(core), times(core / taken)])
    notes = (
        f"{len(trials)} trials x {len(trials[0])} matrices, two-sided, {resamples:,} resamples, from matrices in "
        "memory to p-values, drawing and transfers included; less of 2 runs after a first. One core is scaled from "
        f"{sample} trials."
    )
    return Table("The whole experiment", notes, ["test", "p-values", "card", "one core", "ratio"], rows)


def calls(trial: Trial, resamples: int) -> Table:
    """One call with few and with many pairs, by the kernel and in double precision."""
    device, rows, how = gpu.cuda_device(), [], How(resamples=resamples)
    sizes = {"two halves by one measure": trial[-1:-29:-14], "two halves by all": trial[-28:], "a trial": trial}
    for name, matrices in sizes.items():
        for test, scheme in SCHEMES.items():

            def call(matrices: Trial = matrices, scheme: Resampling = scheme) -> None:
                gpu.resampled_tests_on_gpu(matrices, how, scheme)

            def double(matrices: Trial = matrices, scheme: Resampling = scheme) -> None:
                gpu.count_table(gpu.tabled(matrices), how, scheme, device, fused=False)

            taken = [statistics.median(elapsed(task) for _ in range(9)) for task in (call, double)]
            rows.append([f"{name}: {test}", f"{n_pairs(matrices):,}", *map(seconds, taken)])
    notes = f"{resamples:,} resamples; median of 9, from matrices in memory to p-values; in double precision to counts."
    return Table("One call", notes, ["matrices", "pairs", "kernel", "double precision"], rows)


def main(argv: Sequence[str]) -> int:
    """Run and print; 1 when p-values disagree."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.experiments_gpu", description=__doc__)
    parser.add_argument("--data", required=True, help="effectiveness, queries x systems x measures, as .npy")
    parser.add_argument("--trials", type=int, default=300)
    parser.add_argument("--resamples", type=int, default=100_000)
    parser.add_argument("--core-trials", type=int, default=2, help="trials that one core gets")
    arguments = parser.parse_args(argv)
    values = np.load(arguments.data)
    trials = trials_of(values, arguments.trials)
    print("\n".join(f"- {line}" for line in machine()), flush=True)
    try:
        print(f"\n{agreement(values, arguments.resamples).markdown()}", flush=True)
        print(f"\n{rates(trials, arguments.resamples).markdown()}", flush=True)
        print(f"\n{calls(trials[0], arguments.resamples).markdown()}", flush=True)
        print(f"\n{whole(trials, arguments.resamples, arguments.core_trials).markdown()}", flush=True)
    except (AdjudgeError, BenchmarkError) as failure:
        print(f"benchmarks: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
