"""The benchmarks: each a function from settings to a table, registered under its name."""

from __future__ import annotations

import importlib.util
import math
import statistics
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.peers import MEASURES, Outcome
from benchmarks.processes import (
    best,
    check_agreement,
    median,
    memory,
    perform,
    taking_turns,
    time_commands,
    warm_disk,
)
from benchmarks.report import Table, megabytes, seconds, times

if TYPE_CHECKING:
    from adjudge.model.rankings import Lists
    from benchmarks.generate import Files, Shape

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Settings:
    """How much to do; ``lines`` are the millions of lines for the benchmark of growth."""

    repeats: int = 3
    starts: int = 20
    runs: int = 10
    lines: tuple[int, ...] = (1, 10, 50)
    quick: bool = False

    @cached_property
    def shape(self) -> Shape:
        """The collection: 1,000 queries, a tenth of them when it must be quick."""
        from benchmarks.generate import Shape

        return Shape(queries=100) if self.quick else Shape()

    @cached_property
    def files(self) -> Files:
        """That collection in files."""
        from benchmarks.generate import Files

        return Files(self.shape, DATA / ("quick" if self.quick else "full"))

    @cached_property
    def _compiled(self) -> tempfile.TemporaryDirectory[str]:
        return tempfile.TemporaryDirectory()

    def turns(self, tasks: Sequence[str]) -> dict[str, list[Outcome]]:
        """Outcomes of tasks on all runs. ranx finds no compiled code the first time, and its own after that."""
        judgments, runs = self.files.judgments(), self.files.runs(self.runs)
        warm_disk(runs)
        return taking_turns(tasks, self.repeats, judgments, runs, {"NUMBA_CACHE_DIR": self._compiled.name})

    @property
    def size(self) -> str:
        """The collection in words."""
        return f"{self.runs} runs x {self.shape.queries:,} queries x {self.shape.depth:,} documents"

    @property
    def processes(self) -> str:
        """How often each thing is done, in words."""
        return f"{self.repeats} {'process' if self.repeats == 1 else 'processes'} each, in turns"


def from_files(settings: Settings) -> Table:
    """TREC files to the means of five measures, in every tool."""
    has_cwl = _has_cwl()
    tasks = ["adjudge", "pytrec_eval", "ir_measures", *(["ir_measures-rbp"] if has_cwl else []), "ranx"]
    turns = settings.turns([f"files-{task}" for task in tasks])
    ours = turns["files-adjudge"]
    rows = []
    for task, outcomes in zip(tasks, turns.values(), strict=True):
        agreed = check_agreement(ours[0], outcomes[0], task)
        rows.append(
            [
                task.replace("-rbp", " with RBP"),
                str(min(len(outcomes[0].means), len(MEASURES))),
                seconds(median(outcomes, "whole")),
                seconds(best(outcomes, "whole")),
                times(best(outcomes, "whole") / best(ours, "whole")),
                megabytes(memory(outcomes)),
                "" if task == "adjudge" else f"{agreed} means",
            ]
        )
    head = ["tool", "measures", "median", "best", "ratio", "memory", "agrees on"]
    return Table("From files", _notes_on_files(settings, turns, has_cwl), head, rows)


def _has_cwl() -> bool:
    """Whether ir_measures can compute RBP."""
    return importlib.util.find_spec("cwl") is not None


def _notes_on_files(settings: Settings, turns: Mapping[str, Sequence[Outcome]], has_cwl: bool) -> str:
    ours = turns["files-adjudge"]
    parts = ", ".join(f"{part} {seconds(median(ours, part))}" for part in ("import", "read", "evaluate"))
    first, *later = (outcome.seconds["first"] for outcome in turns["files-ranx"])
    again = f", {seconds(min(later))} once its compiled code is on disk" if later else ""
    without_rbp = "." if has_cwl else "; so does ir_measures here, whose RBP needs cwl-eval, which is not installed."
    return (
        f"{settings.size} to {', '.join(MEASURES)}; {settings.processes}; ratios of the best. Adjudge's time includes "
        f"importing it and all it loads on first use ({parts}). The peers' times leave importing out, and ranx's also "
        f"compiling: its first call on a toy takes {seconds(first)}{again}. Memory is the peak above that of the bare "
        f"interpreter, libraries included. pytrec_eval has no sound RBP and computes four measures{without_rbp}"
    )


def from_memory(settings: Settings) -> Table:
    """Objects already in memory to the means of five measures: ranx's own objects and ours."""
    turns = settings.turns(["memory-adjudge", "memory-ranx"])
    ours = turns["memory-adjudge"]
    rows = []
    for name, outcomes in zip(("adjudge", "ranx"), turns.values(), strict=True):
        check_agreement(ours[0], outcomes[0], name)
        rows.append(
            [
                name,
                *(seconds(median(outcomes, phase)) for phase in ("cold", "warm")),
                *(seconds(best(outcomes, phase)) for phase in ("cold", "warm")),
                *(times(best(outcomes, phase) / best(ours, phase)) for phase in ("cold", "warm")),
                megabytes(memory(outcomes)),
            ]
        )
    notes = (
        f"{settings.size}, all runs loaded, to {', '.join(MEASURES)}; {settings.processes}; ratios of the best. Cold "
        "is the first evaluation of a collection just read: Adjudge joins runs with judgments then; ranx has compiled "
        "its code on a toy before. Warm is the best of three more evaluations of the same objects. Memory is the peak "
        "above that of the bare interpreter, reading included."
    )
    head = ["tool", "median cold", "median warm", "best cold", "best warm", "ratio cold", "ratio warm", "memory"]
    return Table("From memory", notes, head, rows)


def start(settings: Settings) -> Table:
    """Time to import each library and to print the help of each command."""
    scripts = Path(sysconfig.get_path("scripts"))
    codes = {
        "python alone": "pass",
        "import adjudge": "import adjudge",
        "import pytrec_eval": "import pytrec_eval",
        "import ir_measures": "import ir_measures",
        "import ranx": "import ranx",
        "adjudge, read and evaluate loaded": "import adjudge as aj; aj.read, aj.evaluate",
    }
    commands = {name: [sys.executable, "-c", code] for name, code in codes.items()}
    commands |= {f"{name} --help": [str(scripts / name), "--help"] for name in ("adjudge", "ir_measures")}
    taken = time_commands(commands, settings.starts)
    middle = {name: statistics.median(values) for name, values in taken.items()}

    def row(name: str, ours: str, shown: str = "") -> list[str]:
        return [shown or name, seconds(middle[name]), seconds(min(taken[name])), times(middle[name] / middle[ours])]

    rows = [row(name, "import adjudge") for name in codes]
    rows += [row(f"{name} --help", "adjudge --help") for name in ("adjudge", "ir_measures")]
    rows.append(row("import ranx", "adjudge --help", "ranx, which has no command: import ranx"))
    notes = (
        f"Whole processes, {settings.starts} of each, in turns. Ratios of medians: of imports to import adjudge, of "
        "commands to adjudge --help. Adjudge loads the rest of itself when it is first used."
    )
    if _has_cwl():
        notes += (
            " ir_measures imports cwl-eval, which is installed here, and with it NumPy; without it, it starts faster."
        )
    return Table("Start", notes, ["process", "median", "best", "ratio"], rows)


def growth(settings: Settings) -> Table:
    """Adjudge's time and memory as the number of lines grows; files that no other benchmark needs are deleted."""
    files, outcomes = settings.files, dict[int, list[Outcome]]()
    try:
        for _ in range(settings.repeats):
            for n in sorted(settings.lines):
                runs = files.runs(n)
                warm_disk(runs)
                outcomes.setdefault(n, []).append(perform("files-adjudge", files.judgments(), runs))
    finally:
        files.remove_runs_after(settings.runs)
    fastest = {n: best(turns, "whole") for n, turns in outcomes.items()}
    peaks = {n: memory(turns) for n, turns in outcomes.items()}
    per_run = settings.shape.queries * settings.shape.depth
    rows = [
        [
            f"{n * per_run:,}",
            seconds(median(turns, "whole")),
            seconds(fastest[n]),
            seconds(fastest[n] / (n * per_run / 1e6)),
            megabytes(peaks[n]),
            f"{peaks[n] * 1e6 / (n * per_run):.0f} B",
        ]
        for n, turns in outcomes.items()
    ]
    notes = f"TREC files of {per_run:,} lines, one a system, to {', '.join(MEASURES)}; {settings.processes}."
    if len(outcomes) > 1:
        notes += f" Fitted growth: time ~ lines^{_slope(fastest):.2f}, memory ~ lines^{_slope(peaks):.2f}."
    return Table("Growth", notes, ["lines", "median", "best", "a million lines", "memory", "memory a line"], rows)


def _slope(values: Mapping[int, float]) -> float:
    """Exponent of growth: slope of the logarithms."""
    sizes, amounts = zip(*((math.log(n), math.log(value)) for n, value in values.items()), strict=True)
    return statistics.linear_regression(sizes, amounts).slope


def measures(settings: Settings) -> Table:
    """Seconds for each registered measure, under each ideal, on lists joined with their grades already."""
    from adjudge.measures import MEASURES as REGISTERED

    shape = replace(settings.shape, documents=100_000, candidates=2 * settings.shape.depth)
    broad = _lists(replace(shape, top_grade=2), settings.runs, "broad")
    fine = _lists(replace(shape, top_grade=100), settings.runs, "fine")
    found = {}
    for name in REGISTERED:
        forms = [f"{name}(ideal={ideal})" for ideal in ("none", "max", "judged")]
        taken = [_time_measure(form, broad, settings.repeats) for form in forms]
        found[name] = [*taken, _time_measure(name, fine, settings.repeats)]
    slowest_first = sorted(found.items(), key=lambda item: -max(value or 0.0 for value in item[1]))
    rows = [[name, *("" if value is None else seconds(value) for value in values)] for name, values in slowest_first]
    notes = (
        f"{sum(map(len, broad)):,} lists x {shape.depth:,} ranks without a cutoff, joined with their grades already; "
        f"best of {settings.repeats}, slowest first. Grades 0..2 under each ideal, and 0..100 under the measure's own; "
        "empty where a measure is for another scale."
    )
    return Table("Measures", notes, ["measure", "0..2 none", "0..2 max", "0..2 judged", "0..100"], rows)


def _time_measure(name: str, lists: Sequence[Lists], repeats: int) -> float | None:
    """Least seconds for one measure on all lists; None when it is for another scale."""
    from adjudge.measures import parse_measure

    measure = parse_measure(name)
    if measure.definition.needs is not None and measure.definition.needs(lists[0]) is not None:
        return None
    taken = []
    for _ in range(repeats):
        begin = time.perf_counter()
        for block in lists:
            measure(block)
        taken.append(time.perf_counter() - begin)
    return min(taken)


def _lists(shape: Shape, n_runs: int, scale: str) -> list[Lists]:
    """Lists of ranks and grades, as measures see them."""
    from adjudge.model.collection import Table as Plain
    from adjudge.model.collection import build_collection
    from adjudge.model.rankings import Blocks
    from adjudge.model.scales import parse_scale
    from benchmarks.generate import Collection

    drawn = Collection(shape)
    runs = (Plain(drawn.run(number), f"system {number}") for number in range(1, n_runs + 1))
    judgments = [Plain(drawn.judgments().cast({"grade": float}), "judgments")]
    collection = build_collection(runs, judgments, scale=parse_scale(scale))
    blocks = Blocks(collection)
    return [blocks.lists(codes) for codes in blocks]


SUITES: dict[str, Callable[[Settings], Table]] = {
    "files": from_files,
    "memory": from_memory,
    "start": start,
    "growth": growth,
    "measures": measures,
}
