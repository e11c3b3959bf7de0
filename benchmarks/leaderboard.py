"""What a leaderboard claims, and what it keeps; and how long a large one takes.

``python -m benchmarks.leaderboard [coverage datasets calibration few ties speed]`` takes an hour in all, with the
tables of ``../shared/data``.

- *Coverage*: how often all possible ranks hold at once, where the true means are all tied, tied in two groups, or all
  different. Scores are simulated, or queries of a TREC table in which every run is shifted to the same mean.
- *Data sets*: the same for both claims, with effects of systems, data sets, queries and both, of unequal data sets.
- *Calibration*: P(best) and P(top 3) claimed from half of the queries, against who is the best on the other half.
- *Few*: P(best) about other data sets, from few of them.
- *Ties*: why P(best) is too sure on MIREX 2011.
- *Speed*: 500 systems x 60 data sets x 1,000 queries. No package on PyPI has intervals of ranks.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import numpy as np

import adjudge as adj
from adjudge.arrays import Floats, Ints
from adjudge.model.effectiveness import Effectiveness
from adjudge.stats.gtheory.datasets import study_datasets
from adjudge.stats.ranks import Chance, Sample, chances, rank_sets
from adjudge.users.leaderboard.board import leaderboard
from benchmarks.report import Table, machine, seconds

DATA = Path(__file__).parents[2] / "shared" / "data"
TREC = {"AP, TREC-8": "adhoc8_ap.csv", "P@10, TREC-8": "adhoc8_p10.csv", "nDCG@20, Web 2013": "web2013_ndcg20.csv"}
CONFIDENCE = 0.95
_TRIALS, _RESAMPLES, _FEW_TRIALS = 600, 999, 500
_SIZES = ((5, 25), (5, 100), (20, 50), (50, 25), (50, 100))
_BINS = np.array([0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.001])
About = Literal["half", "fresh", "truth"]
Draw = Callable[[np.random.Generator, int, Floats], Floats]  # (generator, queries, true means) -> queries x systems


def _normal(rng: np.random.Generator, n: int, means: Floats) -> Floats:
    return means + 0.15 * rng.normal(size=(n, 1)) + 0.1 * rng.normal(size=(n, len(means)))


def _unequal(rng: np.random.Generator, n: int, means: Floats) -> Floats:
    spread = np.linspace(0.02, 0.2, len(means))
    return np.asarray(means + 0.15 * rng.normal(size=(n, 1)) + spread * rng.normal(size=(n, len(means))))


def _copies(rng: np.random.Generator, n: int, means: Floats) -> Floats:
    family = np.arange(len(means)) // 3
    shared = 0.1 * rng.normal(size=(n, int(family.max()) + 1))[:, family]
    return np.asarray(means + 0.15 * rng.normal(size=(n, 1)) + shared + 0.02 * rng.normal(size=(n, len(means))))


def _skewed(rng: np.random.Generator, n: int, means: Floats) -> Floats:
    """Beta scores that queries have in common; all systems have the same shape."""
    from scipy.special import betaincinv, ndtr

    z = np.sqrt(0.5) * (rng.normal(size=(n, 1)) + rng.normal(size=(n, len(means))))
    return np.asarray(betaincinv(2 * means, 2 * (1 - means), ndtr(z)))


def _shapes(rng: np.random.Generator, n: int, means: Floats) -> Floats:
    """Beta scores of three shapes, from a hump to a U: as bad as it gets for tests of means."""
    shape = np.resize([1.0, 3.0, 8.0], len(means))
    return np.asarray(rng.beta(means * shape, (1 - means) * shape, size=(n, len(means))))


def _discrete(rng: np.random.Generator, n: int, means: Floats) -> Floats:
    """Shares of ten documents."""
    return np.asarray(rng.binomial(10, _skewed(rng, n, means)) / 10)


def _of_table(file: str, *, near: bool = True) -> Draw:
    """Queries of a table, drawn with replacement; runs are shifted to the means.

    Runs are neighbours in the ranking of the better three quarters, or ``near`` or far, any.
    """
    table = np.genfromtxt(DATA / "trec" / file, delimiter=",", skip_header=1)
    if near:
        table = table[:, np.argsort(-table.mean(axis=0))[: 3 * table.shape[1] // 4]]

    def draw(rng: np.random.Generator, n: int, means: Floats) -> Floats:
        k = len(means)
        first = rng.integers(table.shape[1] - k + 1)
        chosen = first + np.arange(k) if near else rng.choice(table.shape[1], k, replace=False)
        runs = table[:, chosen]
        return np.asarray((runs - runs.mean(axis=0) + means)[rng.integers(len(table), size=n)])

    return draw


SCORES: dict[str, Draw] = {
    "normal": _normal,
    "unequal spread": _unequal,
    "near copies": _copies,
    "skewed": _skewed,
    "discrete": _discrete,
    "skewed, three shapes": _shapes,
}


def true_means(n_systems: int, kind: str) -> Floats:
    """All tied, tied in two groups, or all different."""
    at = np.linspace(0, 1, n_systems)
    return {"tied": np.full(n_systems, 0.3), "two groups": np.where(at < 0.5, 0.25, 0.45), "distinct": 0.2 + 0.3 * at}[
        kind
    ]


def holds(sample: Sample, means: Floats, *, resamples: int = _RESAMPLES, seed: int = 0) -> bool:
    """Whether the possible ranks of all systems hold all of their true ranks: nobody is wrongly shown to be better."""
    better = rank_sets(sample, confidence=CONFIDENCE, resamples=resamples, seed=seed).better
    return not bool((better & (means[:, None] <= means + 1e-12)).any())


def covered(draw: Draw, n_systems: int, n_queries: int, kind: str, *, trials: int = _TRIALS) -> float:
    """The share of trials in which all possible ranks hold."""
    rng, means = np.random.default_rng(1), true_means(n_systems, kind)
    return float(np.mean([holds(Sample.of(draw(rng, n_queries, means)), means, seed=t) for t in range(trials)]))


def coverage(trials: int = _TRIALS) -> Table:
    """Simultaneous coverage of ranks."""
    cases = dict(SCORES)
    for name, file in TREC.items():
        if (DATA / "trec" / file).exists():
            cases |= {f"{name}, neighbours": _of_table(file), f"{name}, any runs": _of_table(file, near=False)}
    rows = []
    for name, draw in cases.items():
        most = 20 if "2013" in name else 50
        tied = [f"{covered(draw, k, n, 'tied', trials=trials):.3f}" if k <= most else "" for k, n in _SIZES]
        others = [f"{covered(draw, 20, 50, kind, trials=trials):.3f}" for kind in ("two groups", "distinct")]
        rows.append((name, *tied, *others))
        print(*rows[-1], file=sys.stderr, flush=True)
    head = ("scores", *(f"tied, {k} x {n}" for k, n in _SIZES), "two groups, 20 x 50", "distinct, 20 x 50")
    notes = (
        f"Share of {trials} trials in which the possible ranks of all systems hold at once; {CONFIDENCE} is claimed."
    )
    return Table("Ranks that are possible", notes, head, rows)


def draw_datasets(
    rng: np.random.Generator, sizes: Ints, means: Floats, *, between: float, shift: Floats | None = None
) -> tuple[Sample, Floats]:
    """A sample of data sets, and the means of systems over all queries of these data sets."""
    strata = np.repeat(np.arange(len(sizes)), sizes)
    own = rng.normal(size=(len(sizes), len(means))) * between
    if shift is not None:  # so that means on these very data sets are as given
        own += shift - own.mean(axis=0)
    hard = rng.normal(size=(len(sizes), 1)) * 0.1
    n = len(strata)
    values = means + (own + hard)[strata] + 0.1 * rng.normal(size=(n, 1)) + 0.1 * rng.normal(size=(n, len(means)))
    return Sample(values, strata), means


def covered_datasets(n_sets: int, *, about: str, between: float, n_systems: int = 10, trials: int = _TRIALS) -> float:
    """Coverage of one claim where true means are tied, on the data sets given or on all that there might be."""
    rng, means, held = np.random.default_rng(2), np.full(n_systems, 0.3), []
    for t in range(trials):
        sizes = rng.integers(5, 60, n_sets)
        fixed = np.zeros(n_systems) if about == "queries" else None
        sample, _ = draw_datasets(rng, sizes, means, between=between, shift=fixed)
        if about == "data sets":
            sample = Sample.of(np.array([sample.values[sample.strata == d].mean(axis=0) for d in range(n_sets)]))
        held.append(holds(sample, means, seed=t))
    return float(np.mean(held))


def datasets() -> Table:
    """Coverage of both claims, and what the one about queries says of other data sets."""
    rows = []
    for n_sets in (6, 12, 30):
        for between in (0.0, 0.03, 0.1):
            right = [
                f"{covered_datasets(n_sets, about=about, between=between):.3f}" for about in ("queries", "data sets")
            ]
            rng, wrong, means = np.random.default_rng(3), [], np.full(10, 0.3)
            for t in range(_TRIALS // 2):
                sample, _ = draw_datasets(rng, rng.integers(5, 60, n_sets), means, between=between)
                wrong.append(holds(sample, means, seed=t))
            rows.append((f"{n_sets}, σ {between:g}", *right, f"{np.mean(wrong):.3f}"))
            print(*rows[-1], file=sys.stderr, flush=True)
    notes = (
        "10 systems with tied means on data sets of 5 to 59 queries; σ is that of system × data set, beside 0.1 of the "
        f"residual. Share of {_TRIALS} trials in which all ranks hold; {CONFIDENCE} is claimed. Last: the board about "
        "queries, taken to be about other data sets."
    )
    return Table("Two claims about data sets", notes, ("data sets", "queries", "data sets", "mistaken"), rows)


def tables() -> dict[str, Floats]:
    """Effectiveness of collections; CLEF eHealth, by which the default was chosen, is first."""
    clef, mirex = DATA / "clef-ehealth-2015", DATA / "mirex2011"
    collections = {
        "nDCG@10, CLEF eHealth 2015": adj.evaluate(adj.read(clef / "runs.txt.gz", clef / "qrels.txt.gz"), "nDCG@10"),
        "CG@5, MIREX 2011": adj.evaluate(adj.read(mirex / "runs.tsv", mirex / "judgments.tsv", scale="fine"), "CG@5"),
    }
    made = {name: eff.matrix() for name, eff in collections.items()}
    return made | {
        name: np.genfromtxt(DATA / "trec" / file, delimiter=",", skip_header=1) for name, file in TREC.items()
    }


def _winners(means: Floats, top: int) -> Floats:
    """1 for the first systems, parts of it for those tied at the border."""
    border = np.sort(means)[-top]
    above, at = means > border + 1e-12, np.abs(means - border) <= 1e-12
    return np.asarray(above + at * (top - above.sum()) / at.sum())


def claims(
    table: Floats, how: Chance, *, top: int, splits: int = 400, resamples: int = 2000, about: About = "half"
) -> tuple[Floats, Floats]:
    """Probabilities claimed from half of the queries, and what came true, of 5 to 60 random systems at a time.

    The claim is ``about`` the best on the other half, and the queries of the halves are those of the table. Else
    queries are drawn from the table with replacement, and the claim is about as many fresh ones, drawn alike, or about
    the truth, the mean over all of them.
    """
    rng, claimed, true = np.random.default_rng(4), [], []
    most = min(60, table.shape[1])
    for split in range(splits):
        k = int(np.exp(rng.uniform(np.log(5), np.log(most))))
        some = table[:, rng.choice(table.shape[1], k, replace=False)]
        order = rng.permutation(len(some))
        first, other = order[: len(some) // 2], order[len(some) // 2 :]
        if about != "half":
            first = rng.integers(len(some), size=len(first))
        if about == "fresh":
            other = rng.integers(len(some), size=len(other))
        queries = None if about == "truth" else len(other)
        found = chances(Sample.of(some[first]), top=top, how=how, queries=queries, resamples=resamples, seed=split)
        claimed.append(found[0] if top == 1 else found[1])
        true.append(_winners((some if about == "truth" else some[other]).mean(axis=0), top))
    return np.concatenate(claimed), np.concatenate(true)


def binned(claimed: Floats, true: Floats) -> list[tuple[int, float, float]]:
    """Number, mean claim and share that came true, by bins of what is claimed; claims below .02 are left out."""
    place = np.digitize(claimed, _BINS)
    rows = [(int((at := place == i).sum()), claimed[at], true[at]) for i in range(1, len(_BINS))]
    return [(n, float(c.mean()), float(t.mean())) for n, c, t in rows if n]


def calibration_error(claimed: Floats, true: Floats) -> float:
    """Mean distance of claim and truth over bins, by their number."""
    rows = binned(claimed, true)
    return sum(n * abs(c - t) for n, c, t in rows) / sum(n for n, *_ in rows)


def calibration() -> list[Table]:
    """Calibration errors, Brier scores, and a reliability table of the default."""
    asked: tuple[tuple[int, About], ...] = ((1, "half"), (3, "half"), (1, "truth"), (3, "truth"))
    rows, kept, reliability = [], [], list[tuple[str, ...]]()
    for name, table in tables().items():
        for how in ("bootstrap", "model"):
            cells = []
            for top, about in asked:
                claimed, true = claims(table, how, top=top, about=about)
                cells += [f"{calibration_error(claimed, true):.3f}", f"{1000 * ((claimed - true) ** 2).mean():.1f}"]
                if how == "bootstrap" and "CLEF" not in name:
                    kept.append((about, claimed, true))
            rows.append((name, how, *cells))
            print(*rows[-1], file=sys.stderr, flush=True)
    heads = [
        f"{what}, {of}"
        for of in ("half, best", "half, top 3", "truth, best", "truth, top 3")
        for what in ("ECE", "Brier")
    ]
    notes = (
        "ECE over claims of .02 and more; Brier scores times 1,000. 400 splits each, 5 to 60 random systems at a time."
    )
    of_half, of_truth = (
        binned(*(np.concatenate([c[i] for c in kept if c[0] == about]) for i in (1, 2))) for about in ("half", "truth")
    )
    for half, truth in zip(of_half, of_truth, strict=True):
        reliability.append(tuple(f"{cell:,}" if isinstance(cell, int) else f"{cell:.3f}" for cell in (*half, *truth)))
    head = ("claims of the other half", "claimed", "came true", "claims of the truth", "claimed", "came true")
    all_of_them = "P(best) and P(top 3) by bootstrap, all collections but CLEF eHealth together."
    return [
        Table("Calibration of P(best) and P(top 3)", notes, ("effectiveness", "by", *heads), rows),
        Table("Claimed and true", all_of_them, head, reliability),
    ]


def few() -> Table:
    """P(best) of the likeliest system, from few data sets: normal means, normal errors of standard deviation .04."""
    rows: list[tuple[str, ...]] = []
    for n_systems, spread in ((6, 0.02), (6, 0.05), (20, 0.02)):
        for n in (6, 8, 10, 20, 30):
            rng, cells = np.random.default_rng(1000 + n), []
            drawn = [
                (true := rng.normal(0, spread, n_systems), true + rng.normal(0, 0.04, (n, n_systems)))
                for _ in range(_FEW_TRIALS)
            ]
            for how in ("bootstrap", "model"):
                best = [
                    chances(Sample.of(values), top=1, how=how, resamples=1000, seed=t)[0]
                    for t, (_, values) in enumerate(drawn)
                ]
                right = [p.argmax() == true.argmax() for p, (true, _) in zip(best, drawn, strict=True)]
                cells.append(f"{np.mean([p.max() for p in best]):.2f} / {np.mean(right):.2f}")
            rows.append((f"{n_systems}, means of SD {spread}", str(n), *cells))
            print(*rows[-1], file=sys.stderr, flush=True)
    notes = f"Means of {_FEW_TRIALS} trials: claimed / came true."
    return Table("P(best) from few data sets", notes, ("systems", "data sets", "bootstrap", "model"), rows)


def ties() -> Table:
    """Why P(best) is too sure on halves of MIREX 2011: on one table with tied leaders, and whose halves are fixed."""
    table = tables()["CG@5, MIREX 2011"]
    means, covariance = table.mean(axis=0), np.cov(table, rowvar=False)
    leaders = np.argsort(-means)[:6]
    apart = table.copy()
    apart[:, leaders] += 2 * (means[leaders] - means[leaders].mean())
    cases = {"as it is": table, "its 6 leaders 3 times as far apart": apart}
    cases["1 of its 6 leaders"] = np.delete(table, leaders[1:], axis=1)
    ways: tuple[About, ...] = ("half", "fresh", "truth")
    rows = [
        (name, *(f"{calibration_error(*claims(each, 'bootstrap', top=1, about=about)):.3f}" for about in ways))
        for name, each in cases.items()
    ]
    rng, found = np.random.default_rng(9), []
    for _ in range(40):
        true = rng.multivariate_normal(means, covariance / len(table))
        simulated = rng.multivariate_normal(true, covariance, size=len(table))
        found.append(claims(simulated, "bootstrap", top=1, splits=100, resamples=500))
    pooled = calibration_error(*(np.concatenate([each[i] for each in found]) for i in (0, 1)))
    low, middle, high = np.quantile([calibration_error(*each) for each in found], [0.1, 0.5, 0.9])
    rows += [("40 normal tables like it, together", f"{pooled:.3f}", "", "")]
    rows += [("each of these, 10 %, 50 %, 90 %", f"{low:.3f}, {middle:.3f}, {high:.3f}", "", "")]
    notes = "ECE of P(best) from half of the queries; about the other half, about fresh queries, about the truth."
    return Table("P(best) on MIREX 2011", notes, ("CG@5, MIREX 2011", "other half", "fresh queries", "truth"), rows)


def speed() -> Table:
    """Large boards."""
    import resource

    rows = []
    for n_systems, n_sets, n_queries in ((50, 1, 1000), (129, 1, 50), (500, 1, 1000), (500, 60, 1000)):
        rng, n = np.random.default_rng(5), n_sets * n_queries
        values = rng.normal(size=(n, n_systems)) + rng.normal(size=n_systems) * 0.1
        names = tuple(f"d{i // n_queries}" for i in range(n)) if n_sets > 1 else ()
        queries, systems = tuple(f"q{i}" for i in range(n)), tuple(f"s{i}" for i in range(n_systems))
        block = values[:, :, None]
        eff = Effectiveness(block, queries, systems, ("score",), block, datasets=names)
        started, used = time.perf_counter(), time.process_time()
        board = leaderboard(eff)
        whole, used = time.perf_counter() - started, time.process_time() - used
        parts = ""
        if n_sets > 1:
            started = time.process_time()
            study_datasets(values, np.repeat(np.arange(n_sets), n_queries))
            parts = seconds(time.process_time() - started)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        size = f"{n_systems} x {n_sets} x {n_queries:,}"
        rows.append(
            (
                size,
                f"{board.resamples:,}",
                seconds(whole),
                seconds(used),
                parts,
                f"{peak:,.0f} MB",
                f"{values.nbytes / 2**20:,.0f} MB",
            )
        )
    head = (
        "systems x data sets x queries",
        "resamples",
        "board",
        "processor time",
        "of it REML",
        "peak memory",
        "the values alone",
    )
    return Table("Large leaderboards", "The whole board with both claims, ranks, tiers and chances.", head, rows)


def main(argv: Sequence[str]) -> int:
    """Print all tables, or those whose names are given."""
    print("\n".join(machine()))
    for measure in (coverage, datasets, calibration, few, ties, speed):
        if not argv or measure.__name__ in argv:
            made = measure()
            for table in made if isinstance(made, list) else [made]:
                print(f"\n{table.markdown()}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
