"""The papers' numbers on public data, computed a second time with NumPy and SciPy alone.

Nothing here imports Adjudge: formulas come from the papers. ``adjudge reproduce`` takes bounds of its numbers from what
this prints (source "a second computation", in ``papers``), so that a mistake in Adjudge cannot move its
own bounds. Means over trials stand with the standard deviation of one trial, counts with their range over resamples of
the trials.

    python scripts/independent_papers.py DATA [study ...]
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import optimize, special, stats

Array = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]
LOG = np.log2(np.arange(2, 7))  # discounts of ranks 1 to 5
POWERS = 0.8 ** np.arange(5)
RANKS = np.arange(1, 6)


class Mirex:
    """MIREX 2011: grades (queries, systems, 5), all judged grades of a query from the highest, genres of queries."""

    def __init__(self, folder: Path) -> None:
        runs, judged, metadata = (
            [line.split() for line in (folder / f"{name}.tsv").read_text().replace("\r", "\n").split("\n") if line]
            for name in ("runs", "judgments", "metadata")
        )
        self.grade = {(query, document): float(grade) for query, document, grade in judged}
        self.artist = {row[0]: row[1] for row in metadata}
        self.genre = {row[0]: row[2] for row in metadata}
        self.queries = sorted({query for query, _ in self.grade})
        self.systems = sorted({row[0] for row in runs})
        self.lists: dict[tuple[str, str], list[str]] = {}
        for system, query, document in runs:
            self.lists.setdefault((system, query), []).append(document)
        self.grades = np.array(
            [[[self.grade[q, d] for d in self.lists[s, q]] for s in self.systems] for q in self.queries]
        )
        own: dict[str, list[float]] = {query: [] for query in self.queries}
        for (query, _), grade in self.grade.items():
            own[query].append(grade)
        self.ideal = [np.array(sorted(own[query], reverse=True)) for query in self.queries]
        self.best = np.array([grades[:5] for grades in self.ideal])
        self.stratum = np.unique([self.genre[query] for query in self.queries], return_inverse=True)[1]


def judged_measures(mirex: Mirex) -> dict[str, Array]:
    """Chapters 5 and 6: ideals of the judged documents; (queries, systems)."""
    g, best = mirex.grades, mirex.best[:, None, :]
    hit, relevant = (g >= 40).astype(float), np.array([np.sum(grades >= 40) for grades in mirex.ideal])
    positive = np.array([np.sum(grades > 0) for grades in mirex.ideal])
    gain = (g > 0) * (np.cumsum(g > 0, axis=2) + np.cumsum(g, axis=2)) / (RANKS + np.cumsum(best, axis=2))
    pairs = np.minimum(g[..., :, None], g[..., None, :])
    expected = np.stack([pairs[..., i, : i + 1].mean(axis=-1) for i in range(5)], axis=-1)
    precision = np.cumsum(hit, axis=2) / RANKS
    return {
        "CG": g.mean(axis=2) / 100,
        "DCG": (g / LOG).sum(axis=2) / (100 / LOG).sum(),
        "nDCG": (g / LOG).sum(axis=2) / (best / LOG).sum(axis=2),
        "Q": gain.sum(axis=2) / np.minimum(5, positive)[:, None],
        "RBP": (g * POWERS).sum(axis=2) / (best * POWERS).sum(axis=2),
        "GAP": expected.sum(axis=2) / best.sum(axis=2),
        "P": hit.mean(axis=2),
        "AP": (hit * precision).sum(axis=2) / np.minimum(5, np.maximum(relevant, 1))[:, None],
    }


def user_measures(levels: Array, highest: float, *, exponential: bool = False) -> dict[str, Array]:
    """Chapters 3 and 4: the ideal is the highest level at every rank; lists along the last axis."""
    g = 2.0**levels - 1 if exponential else levels
    top = 2.0**highest - 1 if exponential else highest
    blended = (levels > 0) * (np.cumsum(levels > 0, axis=-1) + np.cumsum(g, axis=-1)) / (RANKS * (1 + top))
    pairs = np.minimum(levels[..., :, None], levels[..., None, :]) / highest
    expected = np.stack([pairs[..., i, : i + 1].mean(axis=-1) for i in range(5)], axis=-1)
    found = {
        "CG": g.mean(axis=-1) / top,
        "DCG": (g / LOG).sum(axis=-1) / (top / LOG).sum(),
        "Q": blended.mean(axis=-1),
        "RBP": (g * POWERS).sum(axis=-1) / (top * POWERS).sum(),
        "GAP": expected.mean(axis=-1),
    }
    hit = (levels > 0).astype(float)
    if highest == 1:
        found["AP"] = (hit * np.cumsum(hit, axis=-1) / RANKS).mean(axis=-1)
    return {name: np.round(values, 9) for name, values in found.items()}


def paper_measures(mirex: Mirex) -> dict[str, Array]:
    """ISMIR 2011: nothing is discounted before rank 2; ADR with the groups of the ideal ranking."""
    g, best = mirex.grades, mirex.best[:, None, :]
    weight = 1 / np.maximum(1, np.log2(np.maximum(RANKS, 1)))
    gains, ideals = np.cumsum(g * weight, axis=2), np.cumsum(best * weight, axis=2)
    allowed = [(g[..., : i + 1] >= best[..., i : i + 1]).sum(axis=2) / (i + 1) for i in range(5)]
    return {
        "AG": g.mean(axis=2),
        "NDCG": gains[..., -1] / ideals[..., -1],
        "ANDCG": (gains / ideals).mean(axis=2),
        "ADR": np.mean(allowed, axis=0),
    }


def pair_differences(values: Array) -> Array:
    """(queries, pairs), rounded so that what is equal but for floating point is equal."""
    a, b = np.triu_indices(values.shape[1], 1)
    return np.round(values[:, a] - values[:, b], 9)


def wilcoxon(d: Array) -> Array:
    """Z of each column by the normal approximation, with ties; zeros are left out."""
    size, zero = np.abs(d), d == 0
    n = (~zero).sum(axis=0)
    ranks = stats.rankdata(size, axis=0) - zero.sum(axis=0)
    alike = stats.rankdata(size, method="max", axis=0) - stats.rankdata(size, method="min", axis=0) + 1
    ties = np.where(zero, 0, alike**2 - 1).sum(axis=0)
    variance = np.maximum(n * (n + 1) * (2 * n + 1) / 24 - ties / 48, 1e-12)
    z: Array = (np.where(d > 0, ranks, 0).sum(axis=0) - n * (n + 1) / 4) / np.sqrt(variance)
    return z


def tukey(values: Array) -> Array:
    """P of all pairs: mean ranks over queries, tie-corrected variance, studentised range."""
    ranks = stats.rankdata(np.round(values, 9), axis=1)
    n, k = values.shape
    spread = ranks.var(axis=1, ddof=1).mean()
    a, b = np.triu_indices(k, 1)
    means = ranks.mean(axis=0)
    return np.asarray(np.abs(means[a] - means[b]) / np.sqrt(spread / n))


def stratified(rng: np.random.Generator, stratum: npt.NDArray[np.int64], size: int, count: int) -> list[Any]:
    """Disjoint sets of ``size`` queries with as many of each genre, the rest by lot."""
    pools = [rng.permutation(np.flatnonzero(stratum == s)).tolist() for s in np.unique(stratum)]
    rng.shuffle(pools)
    chosen: list[list[int]] = [[] for _ in range(count)]
    turn = 0
    while any(len(one) < size for one in chosen):
        for pool in pools:
            if pool and len(chosen[turn % count]) < size:
                chosen[turn % count].append(pool.pop())
            turn += 1
        rng.shuffle(pools)
    return chosen


def told(values: Array) -> dict[str, float]:
    """Mean and standard deviation of a trial."""
    return {"mean": round(float(values.mean()), 5), "sd": round(float(values.std(ddof=1)), 5), "n": len(values)}


def ratio(hits: Array, cases: Array) -> dict[str, float]:
    """The ratio of two sums over trials, and the standard deviation of one trial."""
    rate = hits.sum() / cases.sum()
    return {
        "mean": round(float(rate), 5),
        "sd": round(float(((hits - rate * cases) / cases.mean()).std(ddof=1)), 5),
        "n": len(hits),
    }


def spans(trials: int, statistic: Callable[[Ints], Any], *sizes: int) -> dict[str, Any]:
    """A count over all trials, and its range in 300 resamples of the trials.

    ``sizes`` are 1 / (1 / n + 1 / m) for n trials here and m in Adjudge: a count of either has its own chance.
    """
    rng = np.random.default_rng(9)
    found: dict[str, Any] = {"all": np.asarray(statistic(np.arange(trials))).tolist()}
    for size in sizes:
        drawn = np.array([statistic(rng.integers(trials, size=size)) for _ in range(300)])
        found[f"{size} trials"] = [drawn.min(axis=0).tolist(), drawn.max(axis=0).tolist()]
    return found


def power(data: Path, trials: int = 200) -> dict[str, Any]:
    """ISMIR 2011 on MIREX 2011: Friedman and Tukey at .05 (FT), one-tailed Wilcoxon at .01 (W1)."""
    mirex, rng = Mirex(data / "mirex2011"), np.random.default_rng(1)
    measures = paper_measures(mirex)
    critical, z_critical = float(stats.studentized_range.ppf(0.95, 18, np.inf)), special.ndtri(0.99)
    calls: dict[str, Callable[[Array], Any]] = {
        "FT": lambda values: tukey(values) >= critical,
        "W1": lambda values: np.abs(wilcoxon(pair_differences(values))) >= z_critical,
    }
    whole = {
        f"{name} {test}": int(call(values).sum()) for name, values in measures.items() for test, call in calls.items()
    }
    sizes = range(5, 51, 5)
    found = {
        (name, test, what): np.zeros((trials, len(sizes)))
        for name in measures
        for test in calls
        for what in ("power", "conflicts", "minor", "major")
    }
    for trial in range(trials):
        for place, size in enumerate(sizes):
            halves = stratified(rng, mirex.stratum, size, 2)
            for name, values in measures.items():
                signs = [np.sign(pair_differences(values[half]).mean(axis=0)) for half in halves]
                opposite = signs[0] * signs[1] < 0
                for test, call in calls.items():
                    first, second = (call(values[half]) for half in halves)
                    for what, hits in (
                        ("power", (first.mean() + second.mean()) / 2),
                        ("conflicts", (first != second).mean()),
                        ("minor", ((first != second) & opposite).mean()),
                        ("major", (first & second & opposite).mean()),
                    ):
                        found[name, test, what][trial, place] = hits
    at_50 = {f"{name} {test} {what}": told(values[:, -1]) for (name, test, what), values in found.items()}
    lack = {
        f"{name} {test}": ratio(
            found[name, test, "conflicts"][:, -1] - found[name, test, "minor"][:, -1],
            found[name, test, "conflicts"][:, -1],
        )
        for name in measures
        for test in calls
    }
    majors = {test: told(sum(found[name, test, "major"].sum(axis=1) * 153 for name in measures)) for test in calls}
    curve = {}
    for test, looked in (("FT", range(65, 80, 5)), ("W1", range(25, 75, 5))):
        for size in looked:
            drawn = [
                calls[test](measures["AG"][stratified(rng, mirex.stratum, size, 1)[0]]).sum() for _ in range(trials)
            ]
            curve[f"{test} {size}"] = told(np.array(drawn, dtype=float))
    return {"whole": whole, "50 queries": at_50, "lack of power": lack, "both ways": majors, "AG pairs": curve}


LEVELS = (0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5)
ALL_LEVELS = np.array(
    [*(digit * 10.0**-power for power in (4, 3, 2) for digit in range(1, 10)), 0.1, 0.2, 0.3, 0.4, 0.5]
)
TESTS = ("t", "wilcoxon", "sign", "bootstrap", "permutation")


def five_tests(d: Array, counts: Array, signs: Array) -> Array:
    """P of t, Wilcoxon, sign, bootstrap and permutation tests of each column of differences."""
    n, mean = len(d), d.mean(axis=0)
    sd = np.maximum(d.std(axis=0, ddof=1), 1e-12)
    up, down = (d > 0).sum(axis=0), (d < 0).sum(axis=0)
    p = np.empty((5, d.shape[1]))
    p[0] = 2 * special.stdtr(n - 1, -np.abs(mean) / sd * np.sqrt(n))
    p[1] = 2 * special.ndtr(-np.abs(wilcoxon(d)))
    p[2] = np.minimum(1, 2 * special.bdtr(np.minimum(up, down), np.maximum(up + down, 1), 0.5))
    least = (np.abs(mean) - 1e-6).astype(np.float32)
    small = d.astype(np.float32)
    p[3] = (1 + (np.abs(counts @ small / n - mean.astype(np.float32)) >= least).sum(axis=0)) / (len(counts) + 1)
    p[4] = (1 + (np.abs(signs @ small / n) >= least).sum(axis=0)) / (len(signs) + 1)
    return p


def significance(data: Path, trials: int = 150, resamples: int = 10_000) -> dict[str, Any]:
    """Thesis chapter 5 on MIREX 2011: all queries in two halves, five tests, eight measures."""
    mirex, rng = Mirex(data / "mirex2011"), np.random.default_rng(2)
    matrices = judged_measures(mirex)
    levels = np.unique([*ALL_LEVELS, *LEVELS])
    edges = np.array(LEVELS)
    shape = (trials, len(matrices), 5, len(levels))
    outcome = {name: np.zeros(shape) for name in ("significant", "success", "lack", "minor", "major")}
    squares, cases = np.zeros((trials, 5, len(edges))), np.zeros((trials, 5, len(edges)))
    for trial in range(trials):
        order = rng.permutation(100)
        counts = rng.multinomial(50, np.full(50, 0.02), size=resamples).astype(np.float32)
        signs = rng.choice([-1.0, 1.0], size=(resamples, 50)).astype(np.float32)
        for m, values in enumerate(matrices.values()):
            d = [pair_differences(values[half]) for half in (order[:50], order[50:])]
            p = [five_tests(one, counts, signs) for one in d]
            other = d[0].mean(axis=0) * d[1].mean(axis=0) < 0
            for first, second in ((p[0], p[1]), (p[1], p[0])):
                sig = [one[:, :, None] <= levels + 1e-12 for one in (first, second)]
                for name, hit in (
                    ("significant", sig[0]),
                    ("success", sig[0] & sig[1] & ~other[:, None]),
                    ("lack", sig[0] & ~sig[1] & ~other[:, None]),
                    ("minor", sig[0] & ~sig[1] & other[:, None]),
                    ("major", sig[0] & sig[1] & other[:, None]),
                ):
                    outcome[name][trial, m] += hit.sum(axis=1)
                place = np.searchsorted(edges, first)
                for k in range(len(edges)):
                    squares[trial, :, k] += np.where(place == k, (second - first) ** 2, 0).sum(axis=1)
                    cases[trial, :, k] += (place == k).sum(axis=1)
    outcome["global"] = outcome["minor"] + outcome["major"]
    pairs = 2.0 * 153
    main = np.searchsorted(levels, edges - 1e-9)
    at = int(np.searchsorted(levels, 0.05 - 1e-9))
    whole = np.searchsorted(levels, ALL_LEVELS - 1e-9)

    def by_test(part: Ints, name: str) -> Array:
        """Levels x tests, over all measures."""
        sums = {key: values[part].sum(axis=(0, 1))[:, main].T for key, values in outcome.items()}
        if name == "non_significant":
            return np.asarray(1 - sums["significant"] / (len(part) * len(matrices) * pairs))
        return np.asarray(sums[name] / np.maximum(sums["significant"], 1))

    def leads(name: str, test: str, highest: bool) -> Callable[[Ints], int]:
        def count(part: Ints) -> int:
            rates = by_test(part, name)
            best = rates.max(axis=1) if highest else rates.min(axis=1)
            return int((rates[:, TESTS.index(test)] == best).sum())

        return count

    def places(name: str) -> Callable[[Ints], Any]:
        def rank(part: Ints) -> Any:
            sums = {key: values[part][..., at].sum(axis=(0, 2)) for key, values in outcome.items()}
            value = -sums["significant"] if name == "non_significant" else -sums[name] / sums["significant"]
            return (1 + (value[None, :] < value[:, None]).sum(axis=1)).tolist()

        return rank

    def exactness(part: Ints) -> Array:
        sums = {name: values[part].sum(axis=(0, 1))[:, whole] for name, values in outcome.items()}
        return np.asarray(np.sqrt((((sums["global"] / sums["significant"]) / ALL_LEVELS - 1) ** 2).mean(axis=1)))

    def safe(level: float) -> Callable[[Ints], int]:
        return lambda part: int((by_test(part, "global")[LEVELS.index(level)] < level).sum())

    def own_bins(part: Ints) -> int:
        rms = np.sqrt(squares[part].sum(axis=0) / np.maximum(cases[part].sum(axis=0), 1))
        return int((rms[1] == rms.min(axis=0)).sum())

    totals = {name: values[..., at].sum(axis=(1, 2)) for name, values in outcome.items()}
    cg = {name: values[:, 0, :, at].sum(axis=1) for name, values in outcome.items()}
    left = np.array([exactness_without(outcome, whole, trial) for trial in range(trials)])
    spread = np.sqrt((trials - 1) * ((left - left.mean(axis=0)) ** 2).sum(axis=0))  # of one trial, by the jackknife
    return {
        "CG at .05": {
            "non_significant": told(1 - cg["significant"] / (5 * pairs)),
            **{name: ratio(cg[name], cg["significant"]) for name in ("success", "lack", "minor", "major")},
        },
        "all at .05": {
            "significant": told(totals["significant"] / (5 * len(matrices) * pairs)),
            **{name: ratio(totals[name], totals["significant"]) for name in ("success", "global")},
        },
        "exactness": {
            test: {
                "mean": round(float(exactness(np.arange(trials))[i]), 4),
                "sd": round(float(spread[i]), 4),
                "n": trials,
            }
            for i, test in enumerate(TESTS)
        },
        "levels": {
            f"{name} {test} {'highest' if highest else 'lowest'}": spans(trials, leads(name, test, highest), 21, 100)
            for name, test, highest in (
                ("non_significant", "bootstrap", False),
                ("non_significant", "sign", True),
                ("success", "sign", False),
                ("lack", "sign", True),
                ("minor", "bootstrap", True),
                ("minor", "sign", False),
            )
        },
        "safe tests": {level: spans(trials, safe(level), 21, 100) for level in (0.05, 0.1)},
        "places": {name: spans(trials, places(name), 21, 100) for name in ("non_significant", "success")},
        "own bins": spans(trials, own_bins, 21, 100),
    }


def exactness_without(outcome: dict[str, Array], whole: npt.NDArray[np.int64], trial: int) -> Array:
    """Relative RMS error of the global conflict rate when one trial is left out."""
    sums = {
        name: (outcome[name].sum(axis=0) - outcome[name][trial]).sum(axis=0)[:, whole]
        for name in ("global", "significant")
    }
    return np.asarray(np.sqrt((((sums["global"] / sums["significant"]) / ALL_LEVELS - 1) ** 2).mean(axis=1)))


SCALES = {"fine": None, "graded4": (26, 51, 76), "graded5": (21, 41, 61, 81), "binary20": (20,), "binary40": (40,)}
FAMILIES = ("normal", "truncated-normal", "beta", "empirical")


def cut(grades: Array, bounds: tuple[int, ...] | None) -> tuple[Array, float]:
    """Levels of a scale that is made from Fine, and the highest."""
    if bounds is None:
        return grades, 100.0
    return np.searchsorted(bounds, grades, side="right").astype(float), float(len(bounds))


def chapter_4(grades: Array) -> dict[tuple[str, str], Array]:
    """Effectiveness of every list under the 31 combinations that follow from Fine."""
    found: dict[tuple[str, str], Array] = {}
    for scale, bounds in SCALES.items():
        levels, highest = cut(grades, bounds)
        linear = user_measures(levels, highest)
        if highest == 1:
            linear = {"P": linear["CG"], "AP": linear["AP"], "DCG": linear["DCG"], "RBP": linear["RBP"]}
        found |= {(scale, name): values for name, values in linear.items()}
        if scale.startswith("graded"):
            more = user_measures(levels, highest, exponential=True)
            found |= {(scale, f"{name}_e"): more[name] for name in ("CG", "DCG", "Q", "RBP")}
    return found


def fitted_distances(sample: Array, rest: Array) -> Array:
    """ω̂ of four families fitted to one sample (queries, systems), held against the rest: (4, systems)."""
    x = np.sort(rest, axis=0)
    own = stats.rankdata(x, method="max", axis=0) / len(x)
    constant = np.ptp(sample, axis=0) < 1e-9
    mean, sd = sample.mean(axis=0), np.where(constant, 1.0, sample.std(axis=0, ddof=1))
    inside = special.ndtr((1 - mean) / sd) - special.ndtr(-mean / sd)
    precision = mean * (1 - mean) / sd**2 - 1
    shapes = (np.maximum(part * precision, 1e-9) for part in (mean, 1 - mean))
    steps = [np.searchsorted(np.sort(sample[:, s]), x[:, s], side="right") for s in range(x.shape[1])]
    fits = [
        special.ndtr((x - mean) / sd),
        (special.ndtr((x - mean) / sd) - special.ndtr(-mean / sd)) / inside,
        special.betainc(*shapes, np.clip(x, 0, 1)),
        np.stack(steps, axis=1) / len(sample),
    ]
    fits = [np.where(constant, x >= mean - 1e-9, fit) for fit in fits]
    return np.array([np.sqrt(((own - fit) ** 2).sum(axis=0)) for fit in fits])


def wins(omega: Array) -> Callable[[Ints], list[int]]:
    """How many measures each family predicts best: trials x measures x families."""
    return lambda part: np.bincount(omega[part].mean(axis=0).argmin(axis=1), minlength=4).tolist()


def distributions(data: Path, trials: int = 400) -> dict[str, Any]:
    """Thesis 4.2 on MIREX 2011; and the empirical row for any continuous effectiveness, which has one distribution."""
    mirex, rng = Mirex(data / "mirex2011"), np.random.default_rng(3)
    matrices = chapter_4(mirex.grades)
    keys = list(matrices)
    found: dict[str, Any] = {}
    for size in (50, 20):
        omega = np.zeros((trials, len(matrices), 4))
        for trial in range(trials):
            order = rng.permutation(100)
            for m, values in enumerate(matrices.values()):
                omega[trial, m] = fitted_distances(values[order[:size]], values[order[size:]]).mean(axis=1)
        found[f"{size} queries"] = {
            f"{name} {family}": told(omega[:, keys.index((scale, name)), f])
            for scale, name in keys
            if scale == "fine"
            for f, family in enumerate(FAMILIES)
        }

        found[f"{size} wins"] = {
            scale: spans(trials, wins(omega[:, [key[0] == scale for key in keys]]), 19, 133) for scale in SCALES
        }
        free = np.zeros((2, 4000))
        for i in range(free.shape[1]):  # no ties: the ranks of 100 numbers, whatever these are
            x = rng.permutation(100)
            a, b = np.sort(x[:size]), np.sort(x[size:])
            own = np.arange(1, len(b) + 1) / len(b)
            steps = np.searchsorted(a, b, side="right") / size
            k = np.searchsorted(a, b)
            low = np.where(k > 0, a[np.maximum(k - 1, 0)], 0)
            high = np.where(k < size, a[np.minimum(k, size - 1)], 99)
            lines = np.clip((k + np.where(k < size, (b - low) / np.maximum(high - low, 1), 0)) / size, 0, 1)
            free[:, i] = np.sqrt(((own - steps) ** 2).sum()), np.sqrt(((own - lines) ** 2).sum())
        found[f"{size} free of ties"] = {"steps": told(free[0]), "straight lines": told(free[1])}
    return found


def read_answers(data: Path) -> tuple[dict[str, Array], Array]:
    """Levels of both lists of 2,200 answers on Broad and Fine, and what was answered: 1, -1, 0 good, 2 bad."""
    with (data / "user-study-2012" / "answers.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    levels = {
        scale: np.array([[[float(row[f"{letter}{i}{side}"]) for i in RANKS] for side in "ab"] for row in rows])
        for scale, letter in (("broad", "b"), ("fine", "f"))
    }
    words = [row["what_service_gives_better_results"].lower() for row in rows]
    codes = [
        0 if "good" in word else 2 if "bad" in word else 1 if " a" in word or word.endswith("a") else -1
        for word in words
    ]
    return levels, np.array(codes, dtype=float)


def binned(x: Array, hit: Array) -> tuple[Array, Array]:
    """Share of hits in ten bins, and their sizes."""
    place = np.minimum((x * 10 + 1e-8).astype(int), 9)
    n = np.bincount(place, minlength=10)
    return np.bincount(place, hit, minlength=10) / np.maximum(n, 1), n.astype(float)


def half_agree(sizes: Array, agrees: Array) -> float:
    """The difference from which half prefer the better list, on straight lines between bins."""
    share, n = binned(sizes, agrees == 1)
    x, y = (np.arange(10) / 10 + 0.05)[n > 0], share[n > 0]
    k = int(np.argmax(y >= 0.5))
    return float(x[0] if k == 0 else x[k - 1] + (0.5 - y[k - 1]) / (y[k] - y[k - 1]) * (x[k] - x[k - 1]))


def satisfaction(data: Path) -> dict[str, Any]:
    """Chapter 3 with the answers of 2012."""
    levels, answer = read_answers(data)
    mirex = Mirex(data / "mirex2011")
    found: dict[str, Any] = {"answers": {code: int((answer == code).sum()) for code in (1, -1, 0, 2)}}
    shape: dict[str, tuple[Array, float]] = {"broad": (levels["broad"], 2.0), "fine": (levels["fine"], 100.0)}
    for name, bounds in (("graded3", (34, 67)), ("binary20", (20,)), ("binary80", (80,))):
        shape[name] = cut(levels["fine"], bounds)
    for scale, (of, highest) in shape.items():
        measures = user_measures(of, highest) | {"ERR": err(of, highest)}
        for name, values in measures.items():
            delta = np.round(values[:, 0] - values[:, 1], 9)
            prefers = np.where(np.abs(answer) == 1, answer, 0)
            agrees, sizes = prefers * np.sign(delta), np.abs(delta)
            neither = (answer == 0) | (answer == 2)
            good, _ = binned(values[neither].ravel(), np.repeat(answer[neither] == 0, 2))
            positive, n = binned(sizes, agrees == 1)
            negative, _ = binned(sizes, agrees == -1)
            key = f"{name} {scale}"
            found[key] = {
                "bias": float(np.sqrt((good[0] ** 2 + (1 - good[-1]) ** 2) / 2)),
                "positive": float(np.sqrt(((1 - positive[n > 0]) ** 2).mean())),
                "negative": float(np.sqrt((negative[n > 0] ** 2).mean())),
                "half": half_agree(sizes, agrees),
                "good in the first bin": float(good[0]),
            }
            if scale == "fine" and name != "ERR":
                own = user_measures(mirex.grades, 100.0)[name]
                a, b = np.triu_indices(18, 1)
                gaps = np.abs(np.round(own[:, a] - own[:, b], 9)).ravel()
                found[key]["reach"] = float((gaps >= found[key]["half"] - 1e-8).mean())
                found[key]["up to .3"] = float((gaps <= 0.3 + 1e-9).mean())
    return found


def err(levels: Array, highest: float) -> Array:
    """ERR (3.7) with linear gain: p = level / (highest + 1)."""
    p, best = levels / (highest + 1), highest / (highest + 1)
    stay = np.concatenate([np.ones_like(p[..., :1]), np.cumprod(1 - p, axis=-1)[..., :-1]], axis=-1)
    value: Array = (p * stay / RANKS).sum(axis=-1) / (best * (1 - best) ** (RANKS - 1) / RANKS).sum()
    return np.round(value, 9)


def partial_lists(data: Path) -> dict[str, Any]:
    """ISMIR 2010 with the preferences of 2010: sign tests of pairs, alike split; Bradley-Terry-Davidson order."""
    with (data / "preferences-2010" / "judgments.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["Answer.radio"] in ("a", "b", "s")]
    found: dict[str, Any] = {"queries": len({row["Input.query"] for row in rows})}
    consistency: dict[str, list[float]] = {}
    size: dict[str, list[float]] = {}
    for query in sorted({row["Input.query"] for row in rows}):
        own = [row for row in rows if row["Input.query"] == query]
        names = sorted({row[key] for row in own for key in ("Input.docA", "Input.docB")})
        n = len(names)
        wins, alike = np.zeros((n, n)), np.zeros((n, n))
        for row in own:
            a, b = names.index(row["Input.docA"]), names.index(row["Input.docB"])
            if row["Answer.radio"] == "s":
                alike[a, b] += 1
                alike[b, a] += 1
            else:
                first, second = (a, b) if row["Answer.radio"] == "a" else (b, a)
                wins[first, second] += 1
        order = np.argsort(-strengths(wins, alike))
        wins, alike = wins[np.ix_(order, order)], alike[np.ix_(order, order)]
        shared = np.floor(alike / 2)
        total = (wins + wins.T + 2 * shared).astype(int)
        sooner = special.bdtr(wins.T + shared, np.maximum(total, 0), 0.5)
        asked = wins + wins.T + alike > 0
        before = (sooner <= 0.25) & asked
        either = (2 * np.minimum(sooner, sooner.T) <= 0.25) & asked
        for rule in ("All", "Any", "Prev"):
            for tails, differs in ((2, either), (1, before)):
                group = [0]
                start = 0
                for pivot in range(1, n):
                    known = [bool(differs[i, pivot]) for i in range(start, pivot) if asked[i, pivot]]
                    new = (
                        bool(known)
                        and {"All": all(known), "Any": any(known), "Prev": known[-1] if known else False}[rule]
                    )
                    start = pivot if new else start
                    group.append(group[-1] + new)
                consistency.setdefault(f"{rule}-{tails}", []).append(expansion(before, asked, group))
                size.setdefault(f"{rule}-{tails}", []).append(n / (group[-1] + 1))
    for name, values in consistency.items():
        found[name] = {
            "adr_1": float(np.mean(values)),
            "size": float(np.mean(size[name])),
            "r": float(np.corrcoef(values, size[name])[0, 1]),
        }
    return found


def strengths(wins: Array, alike: Array) -> Array:
    """Bradley-Terry-Davidson with a normal prior of deviation 3 that keeps strengths finite."""
    n = len(wins)
    a, b = np.nonzero(np.triu(wins + wins.T + alike, 1))
    counts = np.stack([wins[a, b], wins[b, a], alike[a, b]], axis=1)

    def loss(x: Array) -> float:
        utility = np.stack([x[a], x[b], x[n] + (x[a] + x[b]) / 2], axis=1)
        return float(
            -(counts * (utility - special.logsumexp(utility, axis=1, keepdims=True))).sum() + (x[:n] ** 2).sum() / 18
        )

    found: Array = optimize.minimize(loss, np.zeros(n + 1), method="BFGS").x[:n]
    return found


def expansion(before: Any, asked: Any, group: list[int]) -> float:
    """ADR-1 consistency: documents that a group lets in and tests bear out, of those in either."""
    n, scores = len(group), []
    for i in range(n - 1):
        known = [j for j in range(n) if asked[i, j]]
        if not known:
            continue
        let_in = {j for j in known if group[j] <= group[i]}
        right = {j for j in known if (j < i and not before[i, j]) or (j > i and not before[i, j] and not before[j, i])}
        scores.append(len(let_in & right) / len(let_in | right) if let_in | right else 1.0)
    return float(np.mean(scores))


M_OUT = {
    "fSYS": -17.4721,
    "OV": 0.1336,
    "fSYS:OV": 26.4550,
    "fART": 2.9111,
    "sGEN": 2.0443,
    "fGEN": 5.4544,
    "sGEN:fGEN": -3.4851,
}
OUT_CUTS = np.array([-0.5092, -1.2231, -1.7919, -2.2787, -2.7216, -3.1956, -3.8044, -4.6928, -5.9567])
M_JUD = {"fSYS": 0.7954, "aSYS": 0.0128, "aART": 0.2078}
JUD_CUTS = np.array([-2.7554, -4.9168, -7.0128, -9.0010, -10.8548, -12.7158, -14.6722, -16.8831, -19.2536])
TEN_LEVELS = np.arange(5.0, 100.0, 10.0)


class Pairs:
    """Query-document pairs of MIREX 2011 with their features (Table A.1), grades, and who retrieved them."""

    def __init__(self, mirex: Mirex) -> None:
        self.keys = sorted(mirex.grade)
        self.place = {key: i for i, key in enumerate(self.keys)}
        self.grade = np.array([mirex.grade[key] for key in self.keys])
        n_systems, n_queries = len(mirex.systems), len(mirex.queries)
        self.rank = np.full((n_systems, len(self.keys)), -1)
        for (system, query), documents in mirex.lists.items():
            for rank, document in enumerate(documents):
                self.rank[mirex.systems.index(system), self.place[query, document]] = rank
        self.query = np.array([mirex.queries.index(query) for query, _ in self.keys])
        got = self.rank >= 0
        genre = [mirex.genre.get(document, "") for _, document in self.keys]
        artist = [mirex.artist.get(document, "") for _, document in self.keys]
        self.known = np.array([bool(name) for name in genre])
        self.features = {
            "fSYS": got.mean(axis=0),
            "OV": np.full(len(self.keys), len(self.keys) / (5 * n_systems * n_queries)),
            "sGEN": np.array([float(mirex.genre.get(q, "?") == g) for (q, _), g in zip(self.keys, genre, strict=True)]),
        }
        self.artists = np.unique(
            [f"{q} {a}" for (q, _), a in zip(self.keys, artist, strict=True)], return_inverse=True
        )[1]
        genres = np.unique([f"{q} {g}" for (q, _), g in zip(self.keys, genre, strict=True)], return_inverse=True)[1]
        in_query = np.bincount(self.query, self.known)[self.query]  # documents without metadata belong to no genre
        self.features["fGEN"] = np.bincount(genres)[genres] / in_query
        self.features["fART"] = np.bincount(self.artists)[self.artists] / in_query
        self.got = got

    def moments(self, effects: dict[str, float], cuts: Array, features: dict[str, Array]) -> tuple[Array, Array]:
        """Expectation and variance of grades by an ordinal logistic model with levels 5, 15, …, 95."""
        eta = sum(
            effect * np.prod([features[one] for one in name.split(":")], axis=0) for name, effect in effects.items()
        )
        reached = special.expit(np.asarray(eta)[:, None] + cuts)
        likely = -np.diff(
            np.concatenate([np.ones((len(reached), 1)), reached, np.zeros((len(reached), 1))], axis=1), axis=1
        )
        mean = likely @ TEN_LEVELS
        return mean, likely @ TEN_LEVELS**2 - mean**2

    def judged_features(self) -> dict[str, Array]:
        """ASYS and aART with all judgments, the document's own among them."""
        of_system = np.array([self.grade[got].mean() for got in self.got])
        a_sys = (self.got * of_system[:, None]).sum(axis=0) / self.got.sum(axis=0)
        a_art = np.bincount(self.artists, self.grade)[self.artists] / np.bincount(self.artists)[self.artists]
        return self.features | {"aSYS": a_sys, "aART": a_art}


def unjudged(data: Path) -> dict[str, Any]:
    """Thesis Tables 7.1, 8.1, 8.2 and 8.5 on MIREX 2011, Fine, with the printed models of Table A.1."""
    mirex = Mirex(data / "mirex2011")
    pairs = Pairs(mirex)
    found: dict[str, Any] = {}
    for name, effects, cuts, features in (
        ("M_out", M_OUT, OUT_CUTS, pairs.features),
        ("M_jud", M_JUD, JUD_CUTS, pairs.judged_features()),
    ):
        mean, variance = pairs.moments(effects, cuts, features)
        apart = (mean - pairs.grade)[pairs.known] / 100
        found[name] = {"rmse": float(np.sqrt((apart**2).mean())), "variance": float(variance[pairs.known].mean() / 1e4)}
    mean, variance = pairs.moments(M_OUT, OUT_CUTS, pairs.features)
    mean, variance = np.where(pairs.known, mean, 50.0), np.where(pairs.known, variance, 850.0)
    n_queries = len(mirex.queries)
    for name, weight, judged_ideal in (
        ("CG", np.ones(5), False),
        ("DCG", 1 / LOG, False),
        ("nDCG", 1 / LOG, True),
        ("RBP", POWERS, True),
    ):
        tops = [np.sort(np.flatnonzero(pairs.query == q)) for q in range(n_queries)]
        scale, unsure = np.full(n_queries, weight.sum() * 100), np.zeros(n_queries)
        truth_scale = scale.copy()
        if judged_ideal:
            for q, places in enumerate(tops):
                best = places[np.argsort(-mean[places])[:5]]
                scale[q], unsure[q] = (mean[best] * weight).sum(), (variance[best] * weight**2).sum()
                truth_scale[q] = (np.sort(pairs.grade[places])[::-1][:5] * weight).sum()
        loading = np.where(pairs.got, weight[np.maximum(pairs.rank, 0)], 0.0)  # systems x pairs
        estimate = np.array([np.bincount(pairs.query, row * mean) for row in loading]) / scale
        truth = np.array([np.bincount(pairs.query, row * pairs.grade) for row in loading]) / truth_scale
        a, b = np.triu_indices(len(loading), 1)
        gap = estimate[a] - estimate[b]
        spread = np.array(
            [np.bincount(pairs.query, (loading[i] - loading[j]) ** 2 * variance) for i, j in zip(a, b, strict=True)]
        )
        spread = spread / scale**2 + gap**2 * unsure / scale**2
        difference, true = gap.mean(axis=1), (truth[a] - truth[b]).mean(axis=1)
        confidence = special.ndtr(np.abs(difference) / (np.sqrt(spread.sum(axis=1)) / n_queries))
        right = np.sign(difference) == np.sign(true)
        scores, true_scores = estimate.mean(axis=1), truth.mean(axis=1)
        found[name] = {
            "confidence": float(confidence.mean()),
            "accuracy": float(right.mean()),
            "tau": float(stats.kendalltau(scores, true_scores).statistic),
            "error of differences": float(np.sqrt(((difference - true) ** 2).mean())),
            "rho": float(stats.spearmanr(scores, true_scores).statistic),
            "error of scores": float(np.sqrt(((scores - true_scores) ** 2).mean())),
            "absolute error": float(np.abs(scores - true_scores).mean()),
            "sure": float((confidence >= 0.99).mean()),
            "right of the sure": float(right[confidence >= 0.99].mean()),
        }
    return found


class Estimates:
    """A session: what is judged, expectation and variance of grades, scores and differences of systems."""

    def __init__(self, pairs: Pairs, measure: str, *, prior: str) -> None:
        weight, self.is_ratio = {
            "CG": (np.ones(5), False),
            "DCG": (1 / LOG, False),
            "nDCG": (1 / LOG, True),
            "RBP": (POWERS, True),
        }[measure]
        self.pairs, self.weight, self.prior = pairs, weight, prior
        self.n = int(pairs.query.max()) + 1
        self.places = [np.flatnonzero(pairs.query == q) for q in range(self.n)]
        self.loading = np.where(pairs.got, weight[np.maximum(pairs.rank, 0)], 0.0)
        self.a, self.b = np.triu_indices(len(self.loading), 1)
        self.judged = np.zeros(len(pairs.grade), dtype=bool)
        mean, variance = pairs.moments(M_OUT, OUT_CUTS, pairs.features)
        known = pairs.known & (prior == "models")
        self.start = np.where(known, mean, 50.0), np.where(known, variance, 850.0)
        self.mean, self.variance = self.start[0].copy(), self.start[1].copy()
        ideal = [np.sort(pairs.grade[own])[::-1][:5] @ weight for own in self.places]
        self.truth = self.scores_of(
            pairs.grade, np.array(ideal) if self.is_ratio else np.full(self.n, weight.sum() * 100)
        )
        self.scale, self.unsure = np.full(self.n, weight.sum() * 100), np.zeros(self.n)
        self.x, self.x_variance = np.zeros((2, len(self.loading), self.n))
        self.gap, self.gap_variance = np.zeros((2, len(self.a), self.n))
        for q in range(self.n):
            self.update(q)

    def scores_of(self, grades: Array, scale: Array) -> Array:
        rows = [np.bincount(self.pairs.query, row * grades) / scale for row in self.loading]
        return np.asarray(np.mean(rows, axis=1))

    def update(self, q: int) -> None:
        """Everything of one query."""
        own = self.places[q]
        mean, variance, loading = self.mean[own], self.variance[own], self.loading[:, own]
        if self.is_ratio:
            best = np.argsort(-mean)[:5]
            self.scale[q], self.unsure[q] = mean[best] @ self.weight, variance[best] @ self.weight**2
        scale, share = self.scale[q], self.unsure[q] / self.scale[q] ** 2
        difference = loading[self.a] - loading[self.b]
        for value, spread, rows in ((self.x, self.x_variance, loading), (self.gap, self.gap_variance, difference)):
            value[:, q] = rows @ mean / scale
            spread[:, q] = rows**2 @ variance / scale**2 + value[:, q] ** 2 * share

    def judge(self, d: int) -> None:
        """One more judgment; models are refreshed after every 20."""
        self.judged[d] = True
        self.mean[d], self.variance[d] = self.pairs.grade[d], 0.0
        if self.prior == "models" and self.judged.sum() % 20 == 0:
            self.refresh()
        else:
            self.update(int(self.pairs.query[d]))

    def refresh(self) -> None:
        pairs, judged = self.pairs, self.judged
        seen = pairs.got & judged
        of_system = np.where(
            seen.any(axis=1), (seen * pairs.grade).sum(axis=1) / np.maximum(seen.sum(axis=1), 1), np.nan
        )
        known = pairs.got & ~np.isnan(of_system)[:, None]
        a_sys = (known * np.nan_to_num(of_system)[:, None]).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        counts = np.bincount(pairs.artists, judged)[pairs.artists]
        a_art = np.bincount(pairs.artists, judged * pairs.grade)[pairs.artists] / np.maximum(counts, 1)
        mean, variance = pairs.moments(M_JUD, JUD_CUTS, pairs.features | {"aSYS": a_sys, "aART": a_art})
        by_judgments = pairs.known & (counts > 0) & known.any(axis=0)
        for own, start, model, sure in (
            (self.mean, self.start[0], mean, pairs.grade),
            (self.variance, self.start[1], variance, 0.0),
        ):
            own[:] = np.where(judged, sure, np.where(by_judgments, model, start))
        for q in range(self.n):
            self.update(q)

    def confidence(self) -> Array:
        gap, spread = self.gap.mean(axis=1), np.sqrt(self.gap_variance.sum(axis=1)) / self.n
        sure: Array = special.stdtr(self.n - 1, np.abs(gap) / np.maximum(spread, 1e-12))
        return sure

    def right(self) -> Any:
        return np.sign(np.round(self.gap.mean(axis=1), 9)) == np.sign(
            np.round(self.truth[self.a] - self.truth[self.b], 9)
        )


def best_open(utility: Array, session: Estimates, priority: Array) -> int:
    """The most telling document that is not judged, equal ones by lot."""
    offered = np.where(session.judged, -np.inf, utility)
    top = np.flatnonzero(offered >= offered.max() - 1e-9 * abs(float(offered.max())))
    return int(top[np.argmin(priority[top])])


def span(values: list[float]) -> list[float]:
    """Least, median and most over orders of ties."""
    return [round(float(value), 5) for value in (min(values), np.median(values), max(values))]


def judging(data: Path, orders: int = 15) -> dict[str, Any]:
    """Thesis 8.3: judge what affects most pairs of systems until mean confidence is .95."""
    pairs = Pairs(Mirex(data / "mirex2011"))
    found: dict[str, Any] = {}
    for measure in ("CG", "DCG", "nDCG", "RBP"):
        seen: dict[str, list[float]] = {}
        for order in range(orders):
            session, priority = (
                Estimates(pairs, measure, prior="models"),
                np.random.default_rng(order).random(len(pairs.grade)),
            )
            affected = np.abs(session.loading[session.a] - session.loading[session.b]).sum(axis=0)
            while (confidence := session.confidence()).mean() < 0.95:
                session.judge(best_open(affected / session.scale[pairs.query], session, priority))
            true = session.truth[session.a] - session.truth[session.b]
            right, sure = session.right(), confidence >= 0.99
            for name, value in (
                ("judgments", session.judged.sum()),
                ("accuracy", right.mean()),
                ("tau", stats.kendalltau(session.x.mean(axis=1), session.truth).statistic),
                ("error", np.sqrt(((session.gap.mean(axis=1) - true) ** 2).mean())),
                ("sure", sure.mean()),
                ("right of the sure", right[sure].mean()),
            ):
                seen.setdefault(name, []).append(float(value))
        found[measure] = {name: span(values) for name, values in seen.items()}
    return found


def absolute(data: Path, orders: int = 9) -> dict[str, Any]:
    """Thesis 8.4: judge what the least known systems retrieved, as often as Table 8.6 has it."""
    pairs = Pairs(Mirex(data / "mirex2011"))
    found: dict[str, Any] = {}
    for measure, n in (("CG", 539), ("DCG", 521), ("nDCG", 1275), ("RBP", 1283)):
        seen: dict[str, list[float]] = {"error": [], "rho": [], "spread": []}
        for order in range(orders):
            session, priority = (
                Estimates(pairs, measure, prior="models"),
                np.random.default_rng(order).random(len(pairs.grade)),
            )
            found[measure] = {"spread at first": float(np.sqrt((session.x_variance.sum(axis=1) / session.n**2).mean()))}
            for _ in range(n):
                session.judge(best_open(session.x_variance.sum(axis=1) @ pairs.got, session, priority))
            scores = session.x.mean(axis=1)
            seen["error"].append(float(np.abs(scores - session.truth).mean()))
            seen["rho"].append(float(stats.spearmanr(scores, session.truth).statistic))
            seen["spread"].append(float(np.sqrt((session.x_variance.sum(axis=1) / session.n**2).mean())))
        found[measure] |= {name: span(values) for name, values in seen.items()}
    return found


def minimal(data: Path, orders: int = 9) -> dict[str, Any]:
    """AdMIRe 2012: every grade as likely, weights (6); when signs of pairs that differ significantly stay right."""
    mirex = Mirex(data / "mirex2011")
    pairs = Pairs(mirex)
    critical = float(stats.studentized_range.ppf(0.95, 18, np.inf))
    significant = tukey(judged_measures(mirex)["CG"]) >= critical
    seen: dict[str, list[float]] = {}
    for order in range(orders):
        session, priority = (
            Estimates(pairs, "CG", prior="uniform"),
            np.random.default_rng(order).random(len(pairs.grade)),
        )
        squares = (session.loading[session.a] - session.loading[session.b]) ** 2
        levels, wrong = [0.9, 0.95, 0.99], 0
        for n in range(len(pairs.grade) + 1):
            confidence = session.confidence()
            while levels and confidence.mean() >= levels[0]:
                seen.setdefault(f"{levels.pop(0):.2f}", []).append(n)
            wrong = wrong if session.right()[significant].all() else n + 1
            if not levels:
                break
            doubt = np.where(confidence < 0.95, 1 - confidence, 0.0)
            session.judge(best_open(doubt @ squares, session, priority))
        seen.setdefault("right bins", []).append(wrong)
    return {name: span(values) for name, values in seen.items()}


STUDIES: dict[str, Callable[[Path], dict[str, Any]]] = {
    "satisfaction": satisfaction,
    "partial-lists": partial_lists,
    "unjudged": unjudged,
    "judging": judging,
    "absolute": absolute,
    "minimal": minimal,
    "power": power,
    "distributions": distributions,
    "significance": significance,
}


def main() -> None:
    """Print what the studies that are named give, or all."""
    data, *names = sys.argv[1:]
    for name in names or STUDIES:
        print(json.dumps({name: STUDIES[name](Path(data))}, indent=1), flush=True)


if __name__ == "__main__":
    main()
