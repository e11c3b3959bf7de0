"""What each tool does, in a fresh process that measures itself: ``python -m benchmarks.peers TASK JUDGMENTS RUN…``.

The process prints one line of JSON: seconds by phase, peak resident memory above that of the bare interpreter, and the
means that the tool found, by measure and system, under Adjudge's names of measures. Nothing heavy is imported before
the clock starts.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

MEASURES = ("nDCG@10", "AP", "P@10", "RR", "RBP")
BINARY_RBP = "RBP(rel=1)"
TOP_GRADE = 3
_TREC_EVAL = {"ndcg_cut_10": "nDCG@10", "map": "AP", "P_10": "P@10", "recip_rank": "RR"}
_RANX = {"ndcg@10": "nDCG@10", "map": "AP", "precision@10": "P@10", "mrr": "RR", "rbp.8": "RBP"}

Means = dict[str, dict[str, float]]


@dataclass
class Outcome:
    """What one process measured; ``memory`` in MB."""

    seconds: dict[str, float]
    memory: float = 0.0
    means: Means = field(default_factory=dict)


class Watch:
    """Seconds and peak memory since it was made."""

    def __init__(self) -> None:
        self._memory = peak_memory()
        self.restart()

    def restart(self) -> None:
        """Count seconds from now; memory still from the beginning."""
        self._start = time.perf_counter()

    def seconds(self) -> float:
        """Seconds since the last start."""
        return time.perf_counter() - self._start

    def memory(self) -> float:
        """MB above the level at the beginning."""
        return peak_memory() - self._memory


def peak_memory() -> float:
    """Peak resident memory of this process in MB.

    Linux' own count starts anew with each program; getrusage's, used elsewhere, may start with the parent's.
    """
    try:
        status = Path("/proc/self/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) * 1024 / 1e6
    except (OSError, IndexError):
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6


def files_adjudge(watch: Watch, judgments: str, runs: list[str]) -> Outcome:
    """Files to means, importing Adjudge included."""
    import adjudge as aj

    imported = watch.seconds()
    collection = aj.read(runs=runs, judgments=judgments)
    read = watch.seconds()
    means = aj.evaluate(collection, MEASURES).mean()
    done = watch.seconds()
    memory = watch.memory()
    means |= aj.evaluate(collection, BINARY_RBP).mean()  # only to check peers by
    seconds = {"whole": done, "import": imported, "read": read - imported, "evaluate": done - read}
    return Outcome(seconds, memory, means)


def files_pytrec_eval(watch: Watch, judgments: str, runs: list[str]) -> Outcome:
    """Files to means, one run after the other, importing aside."""
    import pytrec_eval

    watch.restart()
    with Path(judgments).open() as lines:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(lines), set(_TREC_EVAL))
    means: Means = {ours: {} for ours in _TREC_EVAL.values()}
    for path in map(Path, runs):
        with path.open() as lines:
            values = evaluator.evaluate(pytrec_eval.parse_run(lines))
        for theirs, ours in _TREC_EVAL.items():
            means[ours][path.stem] = sum(query[theirs] for query in values.values()) / len(values)
    return Outcome({"whole": watch.seconds()}, watch.memory(), means)


def files_ir_measures(watch: Watch, judgments: str, runs: list[str]) -> Outcome:
    """Files to means of all measures but RBP, importing aside."""
    return _ir_measures(watch, judgments, runs, ["nDCG@10", "AP", "P@10", "RR"])


def files_ir_measures_rbp(watch: Watch, judgments: str, runs: list[str]) -> Outcome:
    """Files to means of all measures, importing aside; RBP comes from cwl_eval."""
    return _ir_measures(watch, judgments, runs, ["nDCG@10", "AP", "P@10", "RR", "RBP(p=0.8,rel=1)"])


def _ir_measures(watch: Watch, judgments: str, runs: list[str], names: list[str]) -> Outcome:
    import ir_measures

    watch.restart()
    measures = {ir_measures.parse_measure(name): BINARY_RBP if "RBP" in name else name for name in names}
    evaluator = ir_measures.evaluator(list(measures), ir_measures.read_trec_qrels(judgments))
    means: Means = {ours: {} for ours in measures.values()}
    for path in map(Path, runs):
        values = evaluator.calc_aggregate(ir_measures.read_trec_run(str(path)))
        for theirs, ours in measures.items():
            means[ours][path.stem] = float(values[theirs])
    return Outcome({"whole": watch.seconds()}, watch.memory(), means)


def files_ranx(watch: Watch, judgments: str, runs: list[str]) -> Outcome:
    """Files to means, one run after the other; importing and compiling come before and are told apart."""
    import ranx

    first = _compile_ranx(ranx)
    watch.restart()
    qrels = ranx.Qrels.from_file(judgments, kind="trec")
    evaluated = [
        (path.stem, ranx.evaluate(qrels, ranx.Run.from_file(str(path), kind="trec"), list(_RANX)))
        for path in map(Path, runs)
    ]
    return Outcome({"whole": watch.seconds(), "first": first}, watch.memory(), _ranx_means(evaluated))


def memory_adjudge(watch: Watch, judgments: str, runs: list[str]) -> Outcome:
    """A collection just made to means (joining runs with judgments included), and the same collection again."""
    import adjudge as aj

    collection = aj.read(runs=runs, judgments=judgments)
    aj.evaluate(aj.demo(), MEASURES)  # imports what evaluating needs, as the toy does for ranx
    watch.restart()
    means = aj.evaluate(collection, MEASURES).mean()
    cold = watch.seconds()
    warm = []
    for _ in range(3):
        watch.restart()
        aj.evaluate(collection, MEASURES).mean()
        warm.append(watch.seconds())
    return Outcome({"cold": cold, "warm": min(warm)}, watch.memory(), means)


def memory_ranx(watch: Watch, judgments: str, runs: list[str]) -> Outcome:
    """Ranx's own objects, compiled, to means, and the same objects again."""
    import ranx

    qrels = ranx.Qrels.from_file(judgments, kind="trec")
    loaded = [(Path(path).stem, ranx.Run.from_file(path, kind="trec")) for path in runs]
    first = _compile_ranx(ranx)
    watch.restart()
    evaluated = [(name, ranx.evaluate(qrels, run, list(_RANX))) for name, run in loaded]
    cold = watch.seconds()
    warm = []
    for _ in range(3):
        watch.restart()
        for _name, run in loaded:
            ranx.evaluate(qrels, run, list(_RANX))
        warm.append(watch.seconds())
    return Outcome({"cold": cold, "warm": min(warm), "first": first}, watch.memory(), _ranx_means(evaluated))


def _compile_ranx(ranx: Any) -> float:
    """Make ranx compile all it needs, and return the seconds that a first call takes.

    It compiles for the length of document identifiers, and below ten queries it turns its threads off for good: the toy
    has identifiers as long as ours and 20 queries.
    """
    start = time.perf_counter()
    queries = [str(1001 + q) for q in range(20)]
    names = [f"D{d:07d}" for d in range(20)]
    qrels = ranx.Qrels.from_dict({query: dict.fromkeys(names, 1) for query in queries})
    run = ranx.Run.from_dict({query: {name: 1.0 / (1 + d) for d, name in enumerate(names)} for query in queries})
    ranx.evaluate(qrels, run, list(_RANX))
    return time.perf_counter() - start


def _ranx_means(evaluated: list[tuple[str, Any]]) -> Means:
    """Means under our names; ranx does not divide RBP by the highest grade."""
    return {
        ours: {name: float(values[theirs]) / (TOP_GRADE if ours == "RBP" else 1) for name, values in evaluated}
        for theirs, ours in _RANX.items()
    }


TASKS: dict[str, Callable[[Watch, str, list[str]], Outcome]] = {
    "files-adjudge": files_adjudge,
    "files-pytrec_eval": files_pytrec_eval,
    "files-ir_measures": files_ir_measures,
    "files-ir_measures-rbp": files_ir_measures_rbp,
    "files-ranx": files_ranx,
    "memory-adjudge": memory_adjudge,
    "memory-ranx": memory_ranx,
}


def main(task: str, judgments: str, *runs: str) -> None:
    """Run one task and print what it measured."""
    print(json.dumps(asdict(TASKS[task](Watch(), judgments, list(runs)))))


if __name__ == "__main__":
    main(*sys.argv[1:])
