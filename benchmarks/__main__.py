"""Measure Adjudge beside its peers: ``python -m benchmarks [names…]``, or ``make bench``."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.processes import BenchmarkError
from benchmarks.report import machine, page
from benchmarks.suites import SUITES, Settings

RESULTS = Path(__file__).parent / "RESULTS.md"
OTHERS = "\n## Resampling tests, all pairs\n"  # from here on the page is by commands of their own, and kept


def main(argv: Sequence[str]) -> int:
    """Run the benchmarks asked for; 1 when a tool failed or the tools disagree."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"some of {', '.join(SUITES)}; all when none is given")
    parser.add_argument("--lines", nargs="+", type=int, default=[1, 10, 50], help="millions of lines for growth")
    parser.add_argument("--repeats", type=int, default=3, help="processes of each tool")
    parser.add_argument("--quick", action="store_true", help="a tenth of the queries, once: to see that all works")
    parser.add_argument("--save", action="store_true", help="write RESULTS.md")
    arguments = parser.parse_args(argv)
    for name in arguments.names:
        if name not in SUITES:
            parser.error(f"no benchmark is called {name!r}; there are {', '.join(SUITES)}")
    if arguments.quick and arguments.save:
        parser.error("--quick gives no numbers worth saving")
    if min(arguments.lines) < 1 or arguments.repeats < 1:
        parser.error("--lines and --repeats must be at least 1")
    settings = Settings(
        repeats=1 if arguments.quick else arguments.repeats,
        starts=3 if arguments.quick else 20,
        lines=tuple(dict.fromkeys(arguments.lines)),
        quick=arguments.quick,
    )
    facts = machine()
    print("\n".join(facts), flush=True)
    tables = []
    try:
        for name, suite in SUITES.items():
            if not arguments.names or name in arguments.names:
                print(f"{name} …", file=sys.stderr, flush=True)
                tables.append(suite(settings))
                print(f"\n{tables[-1].text()}", flush=True)
    except BenchmarkError as failure:
        print(f"benchmarks: {failure}", file=sys.stderr)
        return 1
    if arguments.save:
        _, mark, others = RESULTS.read_text().partition(OTHERS) if RESULTS.exists() else ("", "", "")
        RESULTS.write_text(page(tables, facts, shlex.join(["python", "-m", "benchmarks", *argv])) + mark + others)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
