"""A server killed a hundred times while people answer: ``python -m benchmarks.campaign_chaos``.

SIGKILL at random moments, mostly while requests are under way, sometimes while the server starts; it is started again
at once. Assessors send what got no reply again, under the same key. At the end every acknowledged answer must be in the
store exactly once, and none that nobody sent.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from tests.web.chaos import keep_killing
from tests.web.crowds import Crowd, look, prepare
from tests.web.postgres import cluster

from adjudge.web.serving import ServerProcess
from adjudge.web.settings import Settings
from adjudge.web.store.database import Database


def main(argv: Sequence[str]) -> int:
    """Kill, start again, look; 1 when anything is wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.campaign_chaos", description=__doc__)
    parser.add_argument("--kills", type=int, default=100, help="how often (default: 100)")
    parser.add_argument("--assessors", type=int, default=8, help="who answer meanwhile (default: 8)")
    parser.add_argument("--postgresql", action="store_true", help="on a PostgreSQL of its own instead of SQLite")
    parser.add_argument("--workers", type=int, default=1, help="of the server, on PostgreSQL (default: 1)")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(argv)
    began = time.monotonic()
    with ExitStack() as stack:
        url = stack.enter_context(cluster()).fresh()[1] if arguments.postgresql else None
        data = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="adjudge-chaos-"))) / "data"
        invitation = prepare(data, url, n_queries=300)
        server = stack.enter_context(ServerProcess(data, database=url, workers=arguments.workers))
        crowd = Crowd(server.url, invitation, people=arguments.assessors, patience=120)
        crowd.run(lambda: keep_killing(server, times=arguments.kills, count=crowd.count, seed=arguments.seed))
        server.stop()
        database = Database(Settings(data=data, database=url).url)
        found = look(database, crowd.assessors)
        database.close()
    again = sum(one.again for person in crowd.assessors for one in person.answers)
    print(
        f"{arguments.kills} kills in {time.monotonic() - began:.0f} s: {crowd.count():,} answers acknowledged, "
        f"{found.account.stored:,} stored, {again} of them known already when sent again, "
        f"{len(found.account.lost)} lost, {len(found.account.doubled)} doubled, "
        f"{len(found.account.invented)} invented, {len(found.overlaps)} leased twice at once, "
        f"{len(crowd.failures)} errors"
    )
    if not found.is_clean or crowd.failures:
        print(found, crowd.failures[:5], file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
