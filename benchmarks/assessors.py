"""What is it worth to take assessors for instruments? Crowds with leniency and noise of their own judge MIREX 2011.

``python -m benchmarks.assessors`` draws parts of MIREX 2011. Six assessors add leniency (sd .07 of the scale) and noise
(sd .2 in the middle, a factor of about e^±.6 between them) to its grades, and stay on the scale. Sessions ask; whoever
has not judged the document yet answers, at random. All ways of judging have the same number of answers:

- once, exact: one assessor per document, whose word is the truth, as in a test collection;
- once, noisy: one assessor per document, and noise as it is believed to be before anybody has judged;
- twice, mean: two assessors per document, and the model gets their mean;
- twice: two assessors per document, and the model gets both answers;
- by the rule: up to three assessors, where another opinion tells more than another document.

The truth is the score by what assessors of this kind say on average, with everything judged.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

import adjudge as aj
from adjudge.arrays import Floats
from adjudge.parallel import job_rng, run_calls
from adjudge.relevance import find_candidates
from adjudge.relevance.candidates import Candidates
from adjudge.relevance.session import Session
from adjudge.relevance.simulation import true_scores
from adjudge.text import percent
from benchmarks.low_cost import DATA
from benchmarks.report import Table, machine

MARKS = (0.1, 0.2, 0.4, 0.8)
WAYS = ("once, exact", "once, noisy", "twice, mean", "twice", "by the rule")
N_ASSESSORS, LENIENCY, NOISE, SPREAD = 6, 0.07, 0.2, 0.6
_SYSTEMS, _QUERIES, _CROWD = 9, 40, 4000


@dataclass(frozen=True, eq=False)
class Seen:
    """Where a session stood: signs right, their confidence, intervals of differences and scores, errors, answers."""

    right: float
    claimed: float
    covered: float
    scores_covered: float
    difference_error: float
    score_error: float
    second: float


def look(session: Session, truth: Floats) -> Seen:
    """Compare a session with the truth."""
    view = session.view
    expected, variance = view.differences
    true = (truth[:, None] - truth)[view.upper]
    mean, sd = expected[view.upper], np.sqrt(variance[view.upper])
    error, own = view.scores.mean - truth, np.sqrt(np.diagonal(view.scores.covariance) * session.model.inflation)
    return Seen(
        float(np.mean(np.sign(mean) == np.sign(true))),
        float(view.sign[view.upper].mean()),
        float(np.mean(np.abs(mean - true) <= 1.96 * sd)),
        float(np.mean(np.abs(error) <= 1.96 * own)),
        float(np.sqrt(np.mean((mean - true) ** 2))),
        float(np.sqrt(np.mean(error**2))),
        0.0,
    )


def trial(known: Candidates, way: str, seed: int, index: int) -> tuple[list[Seen], list[tuple[float, float]]]:
    """Draw a part and a crowd, and judge; what was seen at the marks, and noise as it is and as it was found."""
    rng = job_rng(seed, index)
    queries = rng.choice(known.n_queries, _QUERIES, replace=False).tolist()
    part = known.part(queries=queries, systems=rng.choice(known.n_systems, _SYSTEMS, replace=False).tolist())
    part = replace(part.retrieved(), relevance=np.nan_to_num(part.retrieved().relevance))
    lenient, noise = rng.normal(0, LENIENCY, N_ASSESSORS), NOISE * np.exp(rng.normal(0, SPREAD, N_ASSESSORS))
    said = part.relevance[:, None] + lenient + noise * rng.standard_normal((len(part), N_ASSESSORS))
    turns = rng.permuted(np.tile(np.arange(N_ASSESSORS), (len(part), 1)), axis=1)  # who is there, by document
    given = np.clip(said, 0, 1) * part.scale.maximum
    noisy = {"noisy": True} if way in ("once, noisy", "twice") else None
    shape = (_CROWD, 1)
    of_crowd = rng.normal(0, LENIENCY, shape) + NOISE * np.exp(rng.normal(0, SPREAD, shape)) * rng.standard_normal(
        (_CROWD, len(part))
    )
    truth_of = replace(part, relevance=np.clip(part.relevance + of_crowd, 0, 1).mean(axis=0))
    session = Session(part.unjudged(), "CG@5", options=noisy, per_pair=3 if way == "by the rule" else 1, seed=index)
    truth, marks = true_scores(truth_of, session.scoring), [round(mark * len(part)) for mark in MARKS]
    found: list[Seen] = []
    n, n_second, heard = 0, 0, np.zeros(len(part), dtype=np.int64)
    while len(found) < len(marks):
        place = part.find(*session.next()[0])
        pair, mine = session.pair(place), turns[place, heard[place] :]
        if way == "twice, mean":
            session.judge(*pair, float(given[place, mine[:2]].mean()))
        else:
            for who in mine[: 2 if way == "twice" else 1]:
                session.judge(*pair, float(given[place, who]), f"a{who}")
        more = 2 if way.startswith("twice") else 1
        n_second += more - 1 if more > 1 else int(heard[place] > 0)
        heard[place] += more
        n += more
        if n >= marks[len(found)]:
            found.append(replace(look(session, truth), second=n_second / n))
    pairs = [(float(noise[int(row.assessor[1:])]), row.noise / part.scale.maximum) for row in session.assessors]
    return found, pairs


def main(argv: Sequence[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.assessors", description=__doc__)
    parser.add_argument("--samples", type=int, default=20, help="parts to draw")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int)
    arguments = parser.parse_args(argv)
    known = find_candidates(aj.read(DATA / "runs.tsv", DATA / "judgments.tsv", scale="fine"), cutoff=5)
    rows, noises = [], []
    for way in WAYS:
        print(f"{way} …", file=sys.stderr, flush=True)
        calls = [partial(trial, known, way, arguments.seed, i) for i in range(arguments.samples)]
        results = run_calls(calls, workers=arguments.workers)
        for i, mark in enumerate(MARKS):
            means = np.mean([list(vars(found[i]).values()) for found, _ in results], axis=0)
            rows.append((way if i == 0 else "", percent(mark, 0), *(f"{value:.3f}" for value in means)))
        both = np.log([pair for _, pairs in results for pair in pairs])
        if len(both):
            apart = both[:, 1] - both[:, 0]
            noises.append(
                (way, f"{np.corrcoef(both.T)[0, 1]:.2f}", f"{np.exp(apart.mean()):.2f}", f"{np.std(apart):.2f}")
            )
    print("\n".join(machine()))
    head: tuple[str, ...] = (
        "way", "answers / documents", "right order", "claimed", "intervals of differences hold",
        "intervals of scores hold", "RMSE of differences", "RMSE of scores", "second opinions",
    )  # fmt: skip
    notes = f"Means of {arguments.samples} random parts of {_SYSTEMS} systems and {_QUERIES} queries, CG@5."
    print(f"\n{Table('Several assessors', notes, head, rows).markdown()}")
    head = ("way", "correlation of log noise", "found / true", "sd of log found / true")
    print(f"\n{Table('Noise of each assessor, found in the end', '', head, noises).markdown()}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
