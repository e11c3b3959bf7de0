"""Can the confidence of low-cost evaluation be trusted? On MIREX 2011, on other scales, on text-like collections.

``python -m benchmarks.calibration`` samples parts of MIREX 2011 (``../shared/data/mirex2011``, where it is there) and
of made-up collections that no model was tuned to: many documents a query, few of them relevant, systems of unequal
quality in families that err alike. It holds what estimators claim against what is so, and shows what machine opinions
are worth.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

import adjudge as aj
from adjudge.relevance import Candidates, find_candidates
from adjudge.relevance.calibration import Calibration, calibrate_judging
from benchmarks.low_cost import DATA
from benchmarks.report import Table, machine

SHARES = (0.05, 0.1, 0.2)
HEAD = (
    "data",
    "estimator",
    "right at 5 / 10 / 20 %",
    "intervals hold",
    "calibration error",
    "stop",
    "right at the stop",
)


@dataclass(frozen=True)
class Case:
    """A judged collection, the size of the parts to draw from it, and the estimators to try."""

    name: str
    known: Candidates
    measure: str
    systems: int
    queries: int
    estimators: tuple[str, ...]


def text_like(
    share: float, levels: int, seed: int, *, n_systems: int = 16, n_queries: int = 60, depth: int = 10
) -> Candidates:
    """Documents with a latent relevance, cut so that a share of them is relevant; five families of systems."""
    rng = np.random.default_rng(seed)
    pool = 40 * depth
    latent, easy = rng.normal(size=(n_queries, pool)), rng.normal(size=(n_queries, 1))
    cuts = np.quantile(latent, [1 - share] if levels == 2 else [1 - share, 1 - share / 3])
    grades = ((latent + 0.5 * easy)[..., None] > cuts).sum(axis=-1)
    family, quality = rng.normal(size=(5, n_queries, pool)), rng.uniform(0.35, 0.8, n_systems)
    runs: dict[str, dict[str, list[str]]] = {}
    for s in range(n_systems):
        noise = 0.7 * family[s % 5] + 0.7 * rng.normal(size=(n_queries, pool))
        best = np.argsort(-(quality[s] * latent + np.sqrt(1 - quality[s] ** 2) * noise), axis=1)[:, :depth]
        runs[f"s{s:02d}"] = {f"q{q:03d}": [f"d{d:04d}" for d in best[q]] for q in range(n_queries)}
    judged = {f"q{q:03d}": {f"d{d:04d}": float(grades[q, d]) for d in range(pool)} for q in range(n_queries)}
    found = find_candidates(aj.read(runs, judged, scale="binary" if levels == 2 else "broad"), cutoff=depth)
    return found.part(queries=range(n_queries), systems=range(n_systems))


def cases() -> Iterator[Case]:
    """Everything to try."""
    both = ("uniform", "hierarchical")
    if DATA.is_dir():
        read = aj.read(DATA / "runs.tsv", DATA / "judgments.tsv", DATA / "metadata.tsv", scale="fine")
        fine = find_candidates(read, cutoff=5)
        for queries in (50, 100):
            yield Case(f"MIREX 2011, 9 x {queries}, no metadata", fine.without_metadata(), "CG@5", 9, queries, both)
            names = ("output", "judgments", "hierarchical")
            yield Case(f"MIREX 2011, 9 x {queries}, metadata", fine, "CG@5", 9, queries, names)
        for scale in ("graded3", "binary40"):
            rescaled = find_candidates(read.rescaled(scale), cutoff=5).without_metadata()
            yield Case(f"MIREX 2011 as {scale}, 9 x 100, no metadata", rescaled, "CG@5", 9, 100, both)
        rng, plain = np.random.default_rng(7), fine.without_metadata()
        opinions = {
            "good (truth + noise .15)": plain.relevance + rng.normal(0, 0.15, len(plain)),
            "upside down": -plain.relevance + rng.normal(0, 0.15, len(plain)),
            "random": rng.random(len(plain)),
        }
        for name, column in opinions.items():
            told = replace(plain, opinions={"machine": column})
            yield Case(f"the same with opinions, {name}", told, "CG@5", 9, 100, ("hierarchical",))
    for share, levels, name in ((0.1, 2, "binary, 10 %"), (0.03, 2, "binary, 3 %"), (0.1, 3, "three levels, 10 %")):
        yield Case(f"text-like, {name} relevant, 8 x 40", text_like(share, levels, seed=levels), "CG@10", 8, 40, both)


def row(case: Case, found: Calibration) -> tuple[str, ...]:
    """One line of the table."""
    return (
        case.name,
        found.estimator,
        " / ".join(f"{value:.3f}" for value in found.accuracy),
        f"{np.mean(found.covered):.2f}",
        f"{found.calibration_error:.3f}",
        f"{100 * found.stop_share:.1f} %",
        f"{found.stop_accuracy:.3f}",
    )


def main(argv: Sequence[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration", description=__doc__)
    parser.add_argument("--samples", type=int, default=30, help="parts to draw of each collection")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(argv)
    rows = []
    for case in cases():
        print(f"{case.name} …", file=sys.stderr, flush=True)
        found = calibrate_judging(
            case.known,
            case.measure,
            estimators=case.estimators,
            samples=arguments.samples,
            systems=case.systems,
            queries=case.queries,
            at=SHARES,
            seed=arguments.seed,
        )
        rows += [row(case, one) for one in found]
    notes = (
        f"Means of {arguments.samples} random parts, systems x queries, rule information, to 95 % mean confidence. "
        "95 % intervals of differences should hold the truth .95 of the time; the calibration error is the mean "
        "distance between claimed confidence and accuracy."
    )
    print("\n".join(machine()))
    print(f"\n{Table('Calibration', notes, HEAD, rows).markdown()}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
