"""Processes that may crash: Adjudge's, pebble's and those of the standard library.

``python -m benchmarks.parallel`` gives each the same jobs, two workers, spawned, every case in a fresh process. What
counts is what is left when a worker dies: at a fault in a job, by the operating system (out of memory) at any moment,
in the middle of a result, or because the process that started it was killed. ``pip install pebble`` first.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, as_completed
from contextlib import closing, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

from benchmarks.processes import BenchmarkError
from benchmarks.report import Table, machine, times

N_WORKERS = 2
N_TINY, N_RESULTS, N_JOBS = 10_000, 100, 40
PATIENCE = 60.0  # seconds after which a case is given up: none takes more than a few where it ends
Finished = Generator[tuple[int, object], None, None]
CRASH = "crash"


# Jobs


def same(job: object) -> object:
    return job


def megabytes(_: object) -> bytes:
    return bytes(10_000_000)


def wait_a_little(job: int) -> int:
    time.sleep(0.001)
    return job


def mark_and_sleep(mark: str) -> None:
    Path(mark).write_text(str(os.getpid()))
    time.sleep(600)


def read_nowhere(job: int) -> int:
    """Job 20 has a fault in C."""
    time.sleep(0.01)
    if job == N_JOBS // 2:
        ctypes.string_at(0)
    return job


def end_by_signal(job: int) -> int:
    time.sleep(0.01)
    if job == N_JOBS // 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return job


def end_while_sending(job: int) -> int:
    """Job 20 is killed when a part of its result is in the pipe."""

    def cut(connection: Connection, _: object) -> NoReturn:
        os.write(connection.fileno(), (1_000_000).to_bytes(4, "big") + bytes(100))
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError

    time.sleep(0.01)
    if job == N_JOBS // 2:
        Connection._send_bytes = cut  # type: ignore[attr-defined]
    return job


# Tools


def adjudge(function: Callable[[Any], object], jobs: Iterable[Any]) -> Finished:
    from adjudge.parallel import CrashedError, open_pool

    with open_pool(N_WORKERS) as pool, closing(pool.run(function, enumerate(jobs))) as finished:
        for place, result in finished:
            yield place, CRASH if isinstance(result, CrashedError) else result


def pebble(function: Callable[[Any], object], jobs: Iterable[Any]) -> Finished:
    from pebble import ProcessExpired, ProcessPool  # type: ignore[import-not-found,unused-ignore]

    with ProcessPool(max_workers=N_WORKERS, context=get_context("spawn")) as pool:
        futures = {pool.schedule(function, (job,)): place for place, job in enumerate(jobs)}
        yield from _results(futures, ProcessExpired)


def standard_library(function: Callable[[Any], object], jobs: Iterable[Any]) -> Finished:
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(N_WORKERS, mp_context=get_context("spawn")) as pool:
        yield from _results({pool.submit(function, job): place for place, job in enumerate(jobs)}, BrokenExecutor)


def _results(futures: dict[Any, int], crash: type[Exception]) -> Iterator[tuple[int, object]]:
    for future in as_completed(list(futures)):
        place = futures.pop(future)  # a future keeps its result
        try:
            result = future.result()
        except (crash, BrokenExecutor):
            result = CRASH
        del future
        yield place, result


TOOLS = {"Adjudge": adjudge, "pebble": pebble, "concurrent.futures": standard_library}
Tool = Callable[[Callable[[Any], object], Iterable[Any]], Finished]


# Cases: one number each


def start(tool: Tool) -> float:
    """Milliseconds until two processes have given a result and are gone."""
    begin = time.perf_counter()
    list(tool(same, range(N_WORKERS)))
    return 1e3 * (time.perf_counter() - begin)


def tiny(tool: Tool) -> float:
    """Microseconds per job, from the first result to the last."""
    with closing(tool(same, range(N_TINY))) as finished:
        next(finished)
        begin = time.perf_counter()
        n = sum(1 for _ in finished)
    return 1e6 * (time.perf_counter() - begin) / n


def memory(tool: Tool) -> float:
    """Peak megabytes of the process that reads 100 results of 10 MB, one at a time."""
    for _ in tool(megabytes, range(N_RESULTS)):
        pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def fault(tool: Tool) -> float:
    return _count(tool(read_nowhere, range(N_JOBS)))


def kill(tool: Tool) -> float:
    return _count(tool(end_by_signal, range(N_JOBS)))


def cut(tool: Tool) -> float:
    return _count(tool(end_while_sending, range(N_JOBS)))


def kill_five(tool: Tool) -> float:
    """Results of 10,000 jobs of a millisecond while the operating system kills a worker every second, five times."""

    def kill_some() -> None:
        rng = random.Random(1)
        for _ in range(5):
            time.sleep(1)
            with suppress(OSError, IndexError):
                os.kill(rng.choice(_workers()), signal.SIGKILL)

    with closing(tool(wait_a_little, range(N_TINY))) as finished:
        next(finished)
        threading.Thread(target=kill_some, daemon=True).start()
        return 1 + _count(finished)


def _workers() -> list[int]:
    """Processes that this one spawned, but for the one that tracks resources."""
    children = [int(child) for file in Path("/proc/self/task").glob("*/children") for child in file.read_text().split()]
    return [child for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


def orphans(tool: Tool) -> float:
    """Workers still at their jobs 2 seconds after the process that started them was killed."""
    name = next(name for name, other in TOOLS.items() if other is tool)
    with TemporaryDirectory() as folder:
        marks = [Path(folder) / "a", Path(folder) / "b"]
        parent = subprocess.Popen(_command(name, "hold", *map(str, marks)), stderr=subprocess.DEVNULL)
        while not all(mark.exists() and mark.read_text() for mark in marks):
            time.sleep(0.01)
        parent.kill()
        parent.wait()
        time.sleep(2)
        left = [int(mark.read_text()) for mark in marks if _is_running(int(mark.read_text()))]
        for process in left:
            os.kill(process, signal.SIGKILL)
    return len(left)


def _is_running(process: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False


def _count(finished: Iterable[tuple[int, object]]) -> float:
    return sum(result != CRASH for _, result in finished)


CASES: dict[str, tuple[Callable[[Tool], float], bool]] = {
    "start and end, ms": (start, True),
    f"a job of {N_TINY:,}, µs": (tiny, True),
    f"peak with {N_RESULTS} results of 10 MB, MB": (memory, True),
    f"results of {N_JOBS} jobs, one has a segmentation fault": (fault, False),
    f"results of {N_JOBS} jobs, one is killed": (kill, False),
    f"results of {N_JOBS} jobs, one is killed while it sends": (cut, False),
    f"results of {N_TINY:,} jobs, five times a worker is killed": (kill_five, False),
    "busy workers left when their parent is killed": (orphans, False),
}


def _command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "benchmarks.parallel", *arguments]


def measure(tool: str, case: str) -> float | None:
    """One case in a fresh process; None where it does not end."""
    process = subprocess.Popen(
        _command(tool, case), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        out, error = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None
    if process.returncode != 0:
        raise BenchmarkError(f"{tool}, {case}: {error.strip()[-2000:]}")
    return float(json.loads(out.splitlines()[-1]))


def compare(repeats: int) -> Table:
    """All cases, the tools in turns; the best of the repeats."""
    rows = []
    for case, (_, is_timed) in CASES.items():
        found: dict[str, list[float | None]] = {tool: [] for tool in TOOLS}
        for _turn in range(repeats if is_timed else 1):
            for tool in TOOLS:
                print(f"  {tool}: {case}", file=sys.stderr, flush=True)
                found[tool].append(measure(tool, case))
        best = {
            tool: None if None in values else min(v for v in values if v is not None) for tool, values in found.items()
        }
        ours = best["Adjudge"]
        rows.append(
            [case, *(_cell(value, ours if is_timed and tool != "Adjudge" else None) for tool, value in best.items())]
        )
    notes = (
        f"{N_WORKERS} spawned processes; least of {repeats} runs, ratios to Adjudge's in brackets. A case that has not "
        f"ended after {PATIENCE:.0f} s does not end."
    )
    return Table("Processes that may crash", notes, ["case", *TOOLS], rows)


def _cell(value: float | None, ours: float | None) -> str:
    if value is None:
        return "does not end"
    return f"{value:,.0f}" + (f" ({times(value / ours)})" if ours else "")


def main(argv: Sequence[str]) -> int:
    """Run and print; as a child, one case of one tool."""
    if argv and argv[0] in TOOLS:
        tool, case, *marks = argv
        if case == "hold":
            list(TOOLS[tool](mark_and_sleep, marks))
        else:
            print(json.dumps(CASES[case][0](TOOLS[tool])), flush=True)
        return 0
    parser = argparse.ArgumentParser(prog="python -m benchmarks.parallel", description=__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="fresh processes of each case that is timed")
    arguments = parser.parse_args(argv)
    print("\n".join(machine()), flush=True)
    try:
        print(f"\n{compare(arguments.repeats).text()}\nload at the end {os.getloadavg()[0]:.1f}")
    except BenchmarkError as failure:
        print(f"benchmarks: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
