"""What tests and intervals claim, and what they keep when values are skewed: simulations with a known truth.

``python -m benchmarks.claims`` takes a few minutes. The pages of the documentation quote its numbers.

- *Tests of means* on differences whose mean is 0: exponential ones less 1 (skewness 2), gamma ones with shape 2 less 2.
- *Equivalence* of systems that differ by just the margin, with the same differences: at most α should be called so.
- *Intervals of means* of beta scores; *prediction intervals* of scores of which some are exactly 0, and of TREC-8
  (``../shared/data/trec``, where it is there).
- *F intervals* of Eρ² and Φ with normal and with exponential effects.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from adjudge.arrays import Floats
from adjudge.experiments.reliability import components
from adjudge.stats.distributions import prediction_interval
from adjudge.stats.effects import p_equivalence
from adjudge.stats.intervals import bootstrap_interval, t_interval
from adjudge.stats.paired import PAIRED_TESTS, How
from benchmarks.report import Table, machine

LEVEL, SIZES = 0.05, (10, 25, 50)
TREC = Path(__file__).parents[2] / "shared" / "data" / "trec"
_TRIALS, _RESAMPLES = 3000, 999
_VARIANCES = (0.04, 0.09, 0.16)  # of systems, queries and the rest
Draw = Callable[[np.random.Generator, tuple[int, ...]], Floats]
SKEWED: dict[str, Draw] = {
    "exponential": lambda rng, shape: rng.exponential(size=shape) - 1,
    "gamma, shape 2": lambda rng, shape: rng.gamma(2, size=shape) - 2,
}
_NORMAL: Draw = lambda rng, shape: rng.normal(size=shape)  # noqa: E731


def rejected(test: str, draw: Draw, n: int) -> float:
    """How often a test says that means differ which do not."""
    how = How(resamples=_RESAMPLES)
    return _share(PAIRED_TESTS[test].function(values, how).p[0, 1] for values in _pairs(draw, n, 1))


def called_equivalent(test: str, draw: Draw, n: int, margin: float = 10.0) -> float:
    """How often systems that differ by the margin are called equivalent within it; skewed towards it."""
    options: dict[str, Any] = {"test": test, "margin": margin, "resamples": _RESAMPLES}
    return _share(p_equivalence(values + np.array([margin, 0.0]), **options)[0, 1] for values in _pairs(draw, n, 2))


def _pairs(draw: Draw, n: int, seed: int) -> Iterator[Floats]:
    """Queries x two systems with skewed differences of mean 0."""
    rng = np.random.default_rng(seed)
    return (np.stack([draw(rng, (n,)), np.zeros(n)], axis=1) for _ in range(_TRIALS))


def _share(p: Iterator[float]) -> float:
    return float(np.mean(np.fromiter(p, dtype=np.float64) <= LEVEL))


def tests_of_means() -> Table:
    """Level of every test, of difference and of equivalence."""
    rows = []
    for name, draw in SKEWED.items():
        for test in PAIRED_TESTS:
            found = [f"{rejected(test, draw, n):.3f}" for n in SIZES]
            rows.append((name, test, *found, *(f"{called_equivalent(test, draw, n):.3f}" for n in SIZES)))
    head = ("differences", "test", *(f"different, {n}" for n in SIZES), *(f"equivalent, {n}" for n in SIZES))
    return Table("Tests of means", f"Shares of {_TRIALS:,} trials; {LEVEL} is claimed.", head, rows)


def means() -> Table:
    """Coverage of intervals of means."""
    rng, rows = np.random.default_rng(3), []
    for a, b in ((1.0, 4.0), (0.5, 2.0), (0.5, 4.0)):
        for n in (3, *SIZES):
            x, truth = rng.beta(a, b, (n, _TRIALS)), a / (a + b)
            mean, half, _ = t_interval(x)
            low, high = bootstrap_interval(x, confidence=1 - LEVEL, method="bca", seed=1)
            sticking = np.mean((mean - half < 0) | (mean + half > 1))
            held = np.mean(np.abs(mean - truth) <= half), np.mean((low <= truth) & (truth <= high))
            rows.append((f"beta({a:g}, {b:g})", str(n), *(f"{share:.3f}" for share in (*held, sticking))))
    return Table("Intervals of means", ".95 is claimed.", ("scores", "queries", "t", "bca", "t leaves [0, 1]"), rows)


def predictions(trials: int = 400) -> Table:
    """Share of new queries within prediction intervals."""
    rng, rows = np.random.default_rng(4), []

    def with_zeros(share: float) -> Callable[[int], Floats]:
        return lambda n: np.where(rng.random(n + 200) < share, 0.0, rng.beta(1.5, 3, n + 200))

    def of_table(table: Floats) -> Callable[[int], Floats]:
        return lambda _: rng.permutation(table[:, rng.integers(table.shape[1])])

    cases = {"beta(0.5, 2)": lambda n: rng.beta(0.5, 2, n + 200), "20 % zeros": with_zeros(0.2)}
    for name, file in (("AP, TREC-8", "adhoc8_ap.csv"), ("P@10, TREC-8", "adhoc8_p10.csv")):
        if (TREC / file).exists():
            cases[name] = of_table(np.loadtxt(TREC / file, delimiter=",", skiprows=1))
    for name, draw in cases.items():
        for n in (10, 25, 40):
            held = [
                np.mean((values[n:] >= found.low) & (values[n:] <= found.high))
                for kind in ("beta", "truncated-normal", "normal")
                for values in (draw(n) for _ in range(trials))
                for found in [prediction_interval(values[:n], distribution=kind)]
            ]
            rows.append((name, str(n), *(f"{share:.3f}" for share in np.reshape(held, (3, trials)).mean(axis=1))))
    head = ("scores", "queries", "beta", "truncated normal", "normal")
    return Table("Prediction intervals", "Share of new queries inside; .95 is claimed.", head, rows)


def reliability(trials: int = 2000) -> Table:
    """Coverage of F intervals."""
    rng, rows = np.random.default_rng(5), []
    skewed = SKEWED["exponential"]
    kinds = {"none": (_NORMAL,) * 3, "systems": (skewed, _NORMAL, _NORMAL), "queries": (_NORMAL, skewed, _NORMAL)}
    kinds |= {"residual": (_NORMAL, _NORMAL, skewed), "all": (skewed,) * 3}
    var_s, var_q, var_e = _VARIANCES
    for n_q, n_s in ((25, 10), (50, 20), (50, 50)):
        truths = (var_s / (var_s + var_e / n_q), var_s / (var_s + (var_q + var_e) / n_q))
        for name, draws in kinds.items():
            shapes = ((trials, 1, n_s), (trials, n_q, 1), (trials, n_q, n_s))
            parts = (draw(rng, s) * np.sqrt(v) for draw, s, v in zip(draws, shapes, _VARIANCES, strict=True))
            closed = components(sum(parts, np.zeros(())))
            ends = [closed.interval(n_q, absolute=absolute, confidence=1 - LEVEL) for absolute in (False, True)]
            held = [np.mean((low <= t) & (t <= high)) for (low, high), t in zip(ends, truths, strict=True)]
            rows.append((f"{n_s} x {n_q}", name, *(f"{share:.3f}" for share in held)))
    head = ("systems x queries", "exponential effects", "Eρ²", "Φ")
    return Table("F intervals of reliability", ".95 is claimed.", head, rows)


def main(argv: Sequence[str]) -> int:
    """Print all tables, or those whose names are given."""
    print("\n".join(machine()))
    for table in (tests_of_means, means, predictions, reliability):
        if not argv or table.__name__ in argv:
            print(f"\n{table().text()}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
