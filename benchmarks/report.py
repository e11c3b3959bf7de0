"""Tables of results, as aligned text and as Markdown, and the facts about the machine that they need."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from textwrap import wrap

from benchmarks.processes import BenchmarkError

_PACKAGES = ("adjudge", "numpy", "polars", "pytrec_eval-terrier", "ir_measures", "cwl-eval", "ranx", "numba")


@dataclass(frozen=True)
class Table:
    """One benchmark's results; ``notes`` say what was measured and how."""

    title: str
    notes: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def text(self) -> str:
        """Columns aligned with blanks, the first to the left, the others to the right."""
        widths = [max(map(len, column)) for column in zip(self.head, *self.rows, strict=True)]
        lines = [
            "  ".join(
                cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
            )
            for row in (self.head, ["-" * width for width in widths], *self.rows)
        ]
        return "\n".join([self.title, "=" * len(self.title), *lines, *wrap(self.notes, 120)])

    def markdown(self) -> str:
        """A section with a pipe table."""
        rule = [":--", *["--:"] * (len(self.head) - 1)]
        lines = [f"| {' | '.join(row)} |" for row in (self.head, rule, *self.rows)]
        return "\n".join([f"## {self.title}", "", *lines, "", self.notes])


def seconds(value: float) -> str:
    """Two or three figures that matter, in seconds or milliseconds."""
    return f"{value:.2f} s" if value >= 1 else f"{value * 1000:.0f} ms" if value >= 0.01 else f"{value * 1000:.1f} ms"


def times(value: float) -> str:
    """A ratio."""
    return f"{value:.0f}x" if value >= 100 else f"{value:.1f}x" if value >= 10 else f"{value:.2f}x"


def megabytes(value: float) -> str:
    """Memory, without decimals."""
    return f"{value:,.0f} MB"


def machine() -> list[str]:
    """What the numbers depend on: processor, cores, Python, versions of libraries."""
    packages = []
    for name in _PACKAGES:
        try:
            packages.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            packages.append(f"{name} not installed")
    load = f"{os.getloadavg()[0]:.1f}"
    return [
        f"{platform.system()} {platform.machine()}, {_processor()}, {os.cpu_count()} cores, load {load} at the start",
        f"Python {platform.python_version()}; {', '.join(packages)}",
    ]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown processor"
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown processor")


def page(tables: Sequence[Table], facts: Sequence[str], command: str) -> str:
    """The whole of RESULTS.md."""
    head = [
        "# Adjudge beside its peers",
        "",
        "All tools in one run on the same machine, their processes taking turns; a ratio says how many times as long",
        "as Adjudge a peer takes. Before any ratio is shown, the tools must agree on every mean to 1e-6. Made by this",
        "command, which makes its own data:",
        "",
        f"    {command}",
        "",
        *(f"- {fact}" for fact in facts),
    ]
    return "\n".join([*head, "", "\n\n".join(table.markdown() for table in tables)]) + "\n"


def show(measure: Callable[[], Sequence[Table]]) -> int:
    """Say on which machine, measure, and print the tables; the exit code: 1 where peers do not agree."""
    print("\n".join(machine()), flush=True)
    try:
        tables = measure()
    except BenchmarkError as failure:
        print(f"benchmarks: {failure}", file=sys.stderr)
        return 1
    print("\n".join(f"\n{table.text()}" for table in tables))
    print(f"load at the end {os.getloadavg()[0]:.1f}")
    return 0
