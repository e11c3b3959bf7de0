"""Fresh processes that take turns, so that a noisy moment of the machine hits all tools alike."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.peers import Outcome

TOLERANCE = 1e-6


class BenchmarkError(Exception):
    """A process that ended badly, or tools that do not compute the same."""


def perform(task: str, judgments: Path, runs: Sequence[Path], environment: Mapping[str, str] | None = None) -> Outcome:
    """Run one task of :mod:`benchmarks.peers` in a process of its own."""
    print(f"  {task} on {len(runs)} runs", file=sys.stderr, flush=True)
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.peers", task, str(judgments), *map(str, runs)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env={**os.environ, **(environment or {})},
        cwd=Path(__file__).parents[1],
        check=False,
    )
    if done.returncode != 0:
        raise BenchmarkError(f"{task} failed: {done.stderr.strip()[-2000:]}")
    return Outcome(**json.loads(done.stdout.splitlines()[-1]))


def taking_turns(
    tasks: Sequence[str], repeats: int, judgments: Path, runs: Sequence[Path], environment: Mapping[str, str]
) -> dict[str, list[Outcome]]:
    """Perform every task ``repeats`` times, one after the other, and begin again."""
    outcomes: dict[str, list[Outcome]] = {task: [] for task in tasks}
    for _ in range(repeats):
        for task in tasks:
            outcomes[task].append(perform(task, judgments, runs, environment))
    return outcomes


def time_commands(commands: Mapping[str, Sequence[str]], repeats: int) -> dict[str, list[float]]:
    """Seconds that each command takes, in turns, after one turn that does not count (it warms the disk)."""
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(repeats + 1):
        for name, command in commands.items():
            start = time.perf_counter()
            subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
            if turn:
                taken[name].append(time.perf_counter() - start)
    return taken


def check_agreement(ours: Outcome, theirs: Outcome, name: str) -> int:
    """How many means two tools share; raises when any of them differs."""
    shared = 0
    for measure, systems in theirs.means.items():
        for system, value in systems.items():
            shared += 1
            expected = ours.means[measure][system]
            if not abs(expected - value) <= TOLERANCE:
                raise BenchmarkError(f"{name}: {measure} of {system} is {value!r}, Adjudge's {expected!r}; no ratios")
    if shared == 0:
        raise BenchmarkError(f"{name} gave nothing to compare")
    return shared


def best(outcomes: Sequence[Outcome], phase: str) -> float:
    """Least seconds of a phase."""
    return min(outcome.seconds[phase] for outcome in outcomes)


def median(outcomes: Sequence[Outcome], phase: str) -> float:
    """Median seconds of a phase."""
    return statistics.median(outcome.seconds[phase] for outcome in outcomes)


def memory(outcomes: Sequence[Outcome]) -> float:
    """Highest peak of memory, in MB."""
    return max(outcome.memory for outcome in outcomes)


def warm_disk(paths: Sequence[Path]) -> None:
    """Read files once, so that no tool waits for the disk."""
    for path in paths:
        with path.open("rb") as file:
            while file.read(1 << 24):
                pass
