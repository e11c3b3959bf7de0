"""Fifty assessors at once against a real server: ``python -m benchmarks.campaign_load``.

Servers are processes on this machine, and so are the assessors, as threads of this process; they share its cores. Runs
on SQLite and on a PostgreSQL of its own (one worker and two), with assessors who answer without a pause, and with ones
who take a second. Afterwards the store is looked at: nobody may have held a question that was in other hands, and every
answer that was acknowledged must be there once.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from tests.web.crowds import Crowd, look, percentiles, prepare
from tests.web.postgres import cluster

from adjudge.web.serving import ServerProcess
from adjudge.web.settings import Settings
from adjudge.web.store.database import Database
from benchmarks.report import Table, machine


def main(argv: Sequence[str]) -> int:
    """Run every set-up; 1 when something was lost, doubled or leased twice."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.campaign_load", description=__doc__)
    parser.add_argument("--assessors", type=int, default=50, help="how many at once (default: 50)")
    parser.add_argument("--each", type=int, default=20, help="answers each (default: 20)")
    parser.add_argument("--pauses", type=float, nargs="+", default=[0.0, 1.0], help="seconds between answers")
    parser.add_argument("--database", metavar="URL", help="one run, on this empty PostgreSQL database")
    arguments = parser.parse_args(argv)
    rows, bad = [], 0
    with ExitStack() as stack:
        made = None if arguments.database else stack.enter_context(cluster())
        every = (("SQLite", 1), ("PostgreSQL", 1), ("PostgreSQL", 2))
        # A database that is given can be filled once, so there is one run on it.
        for kind, workers in every if made else (("PostgreSQL", 1),):
            for pause in arguments.pauses if made else arguments.pauses[:1]:
                url = None if kind == "SQLite" else made.fresh()[1] if made else arguments.database
                row, wrong = _measure(url, workers, pause, arguments.assessors, arguments.each)
                bad += wrong
                rows.append([kind, str(workers), f"{pause:g} s", *row])
                print(f"{kind}, {workers}, {pause:g} s: {row}", file=sys.stderr, flush=True)
    head = ["database", "workers", "pause", "answers/s", "p50", "p95", "errors", "wrong"]
    notes = f"{arguments.assessors} assessors, {arguments.each} answers each; p50 and p95 of 'answer and get the next'."
    print("\n".join([*machine(), "", Table("Judging under load", notes, head, rows).text()]))
    return 1 if bad else 0


def _measure(url: str | None, workers: int, pause: float, people: int, each: int) -> tuple[list[str], int]:
    with tempfile.TemporaryDirectory(prefix="adjudge-load-") as folder:
        data = Path(folder) / "data"
        invitation = prepare(data, url)
        with ServerProcess(data, database=url, workers=workers) as server:
            crowd = Crowd(server.url, invitation, people=people, each=each, pause=pause)
            took = crowd.run()
            server.stop()
        database = Database(Settings(data=data, database=url).url)
        found = look(database, crowd.assessors)
        database.close()
    p50, p95 = percentiles(crowd.latencies)
    wrong = 0 if found.is_clean and found.account.stored == people * each else 1
    said = [f"{crowd.count() / took:.0f}", f"{1000 * p50:.0f} ms", f"{1000 * p95:.0f} ms", str(len(crowd.failures))]
    return [*said, str(found) if wrong else "nothing"], wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
