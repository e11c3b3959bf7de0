"""Questions for a preference study, from 22,074 judgments: ``python -m benchmarks.preference_questions``.

The data are made: 439 queries whose Fine grades are spread as those of MIREX 2011 are, and Broad grades that follow
them with noise. The peer is the algorithm as the thesis describes it (section 3.2.1): the combination and bin with the
fewest examples, random lists until a pair falls in it, given up after so many tries. Both count effectiveness with the
same code, so that what is compared is the search alone. ``--judgments`` adds real Fine grades, without Broad.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from adjudge.arrays import Ints
from adjudge.formats.reading import read_judgments
from adjudge.model.judgments import Judgments
from adjudge.preferences.generation import Evaluator, Search, make_questions, material, shuffled_lists
from adjudge.preferences.questions import Combination, Coverage, covered, possible, thesis_combinations
from adjudge.users.curves import bin_of
from benchmarks.report import Table, machine, seconds, times

_BINS, _K, _BATCH = 10, 5, 256
ByScale = Mapping[str, Judgments]


def main(argv: Sequence[str]) -> int:
    """Run both on the same judgments, in turns."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.preference_questions", description=__doc__)
    parser.add_argument("--per-bin", type=int, default=200, help="questions wanted in a bin (default: 200)")
    parser.add_argument("--queries", type=int, default=439, help="made queries (default: 439)")
    parser.add_argument("--size", type=int, default=22_074, help="made judgments (default: 22,074)")
    parser.add_argument("--tries", type=int, default=20_000, help="of the peer before it gives up (default: 20,000)")
    parser.add_argument("--judgments", metavar="FILE", help="also real judgments on the Fine scale")
    arguments = parser.parse_args(argv)
    sets: dict[str, ByScale] = {"made": made_judgments(arguments.queries, arguments.size)}
    if arguments.judgments:
        sets["real"] = {"fine": read_judgments(arguments.judgments, scale="fine")}
    rows = []
    for name, judgments in sets.items():
        wanted = possible(thesis_combinations(), judgments)
        ours = timed(partial(adjudge, judgments, wanted, arguments.per_bin))
        peer = timed(partial(plain_greedy, judgments, wanted, arguments.per_bin, arguments.tries))
        size = len(judgments["fine"])
        rows += [[f"{name}, {size:,}", who, *row(one, ours)] for who, one in (("adjudge", ours), ("thesis", peer))]
        print(f"{name}: {rows[-2:]}", file=sys.stderr, flush=True)
    head = ["judgments", "algorithm", "combinations", "processor", "ratio", "questions", "ratio", "short", "impossible"]
    head += ["queries", "documents", "most of a query"]
    notes = (
        f"{arguments.per_bin} questions wanted in each of {_BINS} bins. Times are processor seconds of one process. "
        f"Short and impossible are bins; the peer is told which are impossible, and gives a bin up after "
        f"{arguments.tries:,} random pairs of lists. The thesis had 4,115 questions and 5 short bins on the real "
        f"22,074 judgments, which are not public."
    )
    print("\n".join([*machine(), "", Table("Questions for a preference study", notes, head, rows).text()]))
    return 0


@dataclass(frozen=True)
class Timed:
    """What came out and how long it took."""

    coverage: Coverage
    took: float


def timed(work: Callable[[], Coverage]) -> Timed:
    started = time.process_time()
    coverage = work()
    return Timed(coverage, time.process_time() - started)


def adjudge(judgments: ByScale, combinations: tuple[Combination, ...], per_bin: int) -> Coverage:
    return make_questions(judgments, combinations, per_bin=per_bin).coverage


def row(one: Timed, ours: Timed) -> list[str]:
    found, base = one.coverage, ours.coverage
    return [
        str(len(found.combinations)),
        seconds(one.took),
        times(one.took / ours.took),
        f"{found.n_questions:,}",
        times(found.n_questions / base.n_questions),
        str(found.totals["short"]),
        str(found.totals["impossible"]),
        f"{found.n_queries:,}",
        f"{found.n_documents:,}",
        str(found.most_of_a_query),
    ]


def made_judgments(n_queries: int, size: int, seed: int = 0) -> dict[str, Judgments]:
    """Fine and Broad grades of about as many documents for each query; easy queries and hard ones."""
    rng = np.random.default_rng(seed)
    fine: dict[str, dict[str, float]] = {}
    broad: dict[str, dict[str, float]] = {}
    for query, n in enumerate(rng.multinomial(size, np.full(n_queries, 1 / n_queries))):
        centre = np.clip(rng.beta(2.2, 2.6), 0.05, 0.95)
        grades = np.round(97 * rng.beta(2.7 * centre, 2.7 * (1 - centre), size=n))
        heard = grades + rng.normal(0, 10, size=n)  # Broad was asked for at the same time, but on its own
        names = [f"d{query}_{i}" for i in range(n)]
        fine[f"q{query}"] = dict(zip(names, grades.tolist(), strict=True))
        broad[f"q{query}"] = dict(zip(names, ((heard > 35) + 1.0 * (heard > 68)).tolist(), strict=True))
    return {"fine": read_judgments(fine, scale="fine"), "broad": read_judgments(broad, scale="broad")}


def plain_greedy(
    judgments: ByScale, combinations: tuple[Combination, ...], per_bin: int, tries: int, seed: int = 0
) -> Coverage:
    """The algorithm as written: the bin with the fewest examples, and random pairs until one falls in it."""
    rng = np.random.default_rng(seed)
    stuff = material(judgments, combinations, _K)
    evaluator = Evaluator(stuff, combinations)
    search = Search(evaluator, _BINS)
    shape = (len(combinations), _BINS)
    impossible = np.array([[not search.able(c, b)[0].any() for b in range(_BINS)] for c in range(shape[0])])
    counts, given_up, columns = np.zeros(shape, dtype=np.int64), impossible.copy(), np.arange(shape[0])
    queries: list[int] = []
    lists: list[Ints] = []
    while (open_ := (counts < per_bin) & ~given_up).any():
        c, b = divmod(int(np.where(open_, counts, per_bin).argmin()), _BINS)
        for _ in range(0, tries, _BATCH):
            query = rng.integers(len(stuff), size=_BATCH)
            pair = np.stack([shuffled_lists(stuff, query, rng) for _ in (0, 1)], axis=1)
            values = [evaluator.one(c, query, pair[:, side]) for side in (0, 1)]
            found = np.flatnonzero(bin_of(np.abs(values[0] - values[1]), _BINS) == b)
            if len(found):
                here, two = query[found[:1]], pair[found[:1]]
                all_ = [evaluator(here, two[:, side])[0] for side in (0, 1)]
                counts[columns, bin_of(np.abs(all_[0] - all_[1]), _BINS)] += 1
                queries.append(int(here[0]))
                lists.append(two[0])
                break
        else:
            given_up[c, b] = True
    asked = stuff.questions(np.array(queries, dtype=np.int64), np.array(lists), prefix="")
    return covered(asked, combinations, counts, impossible, per_bin=per_bin)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
