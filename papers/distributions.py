"""Which distribution predicts new queries best (chapter 4 of the thesis), on MIREX 2011 and scales cut from Fine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

import numpy as np

from papers.claims import SECOND, Claim, Panel, Plot, Reason, Series, between, by_chance, printed_value
from papers.data import Data
from papers.studies import Effort, Found, study
from papers.thesis_tables import (
    BEST_2011,
    FAMILIES,
    OMEGA_2011,
    SCALE_NAMES,
    SECOND_TRIALS,
    TABLE_4_4,
    TABLE_4_5,
    Key,
    short_name,
)

if TYPE_CHECKING:
    from adjudge.experiments.goodness import FitCell, FitFindings
    from adjudge.experiments.samples import Samples


_TABLES = {50: ("T Table 4.4", TABLE_4_4), 20: ("T Table 4.5", TABLE_4_5)}
_SCALES = ("fine", "graded4", "graded5", "binary20", "binary40")
_YEARS = Reason(
    "data",
    "a mean over the 18 systems of MIREX 2011, published over 53 systems of four editions, whose judgments are not "
    "public",
)
_FREE = Reason(
    "draws",
    "the distance between two samples of the same queries does not depend on the systems: without ties, only on the "
    "numbers of queries (.538 with 50 and .841 with 20, by 4,000 draws of ranks; .529 and .817 if straight lines join "
    "the steps). What is left is Monte-Carlo error of 200 trials, here and there, and how steps are joined",
)
_WINS = Reason(
    "data", "18 systems of MIREX 2011 here, 53 of four editions there; families that are nearly as good change places"
)
_PARTLY = "over the 18 systems of MIREX 2011 alone, without the Broad scale: other judgments are not public"


@study(
    "distributions",
    title="Distributions of effectiveness, and differences for users",
    covers=("T Table 4.4", "T Table 4.5", "T Figure 4.5", "T Figure 4.7"),
    needs=("mirex2011",),
    partly={
        "T Table 4.4": f"{_PARTLY}; numbers are compared on Fine, those of the other scales in a figure",
        "T Table 4.5": f"{_PARTLY}; numbers are compared on Fine, those of the other scales in a figure",
        "T Figure 4.5": _PARTLY,
        "T Figure 4.7": "pairs of systems of MIREX 2011 alone, in 31 of the 40 combinations: other judgments are not "
        "public",
    },
    weight=48,
)
def distributions(data: Data, effort: Effort) -> Found:
    """Four families fitted to some queries and held against the others; 200 times in the thesis."""
    return fitted(data, effort, trials=effort.trials(200, 20))


def fitted(data: Data, effort: Effort, *, trials: int) -> Found:
    """The study with a given number of trials."""
    from adjudge.experiments.goodness import SIZES, Fit
    from adjudge.experiments.run import run_experiment

    spec = Fit(trials=trials, sizes=SIZES, seed=effort.seed)
    found = run_experiment(spec, _samples(data), workers=effort.workers, progress=effort.progress)
    cells = {(cell.sample, cell.n_queries, cell.distribution): cell for cell in cast("FitFindings", found).cells}
    claims = (*_distances(cells, trials), *_winners(cells, trials))
    return Found(
        claims, (*_scatters(cells), _convergence(cells), _for_users(data)), _left_out(cast("FitFindings", found))
    )


Cells = dict[tuple[str, int, str], "FitCell"]


def _name(key: Key) -> str:
    """What the experiment calls a measure on a scale."""
    return f"{key[0]} on {key[1]}"


def _samples(data: Data) -> Samples:
    from adjudge.experiments.samples import Sample, Samples, samples_of

    members: list[Sample] = []
    for scale in _SCALES:
        measures = [measure for measure, on in TABLE_4_4 if on == scale]
        members += samples_of(data.effectiveness(measures, scale), scale=scale)
    return Samples(tuple(members))


def _distances(cells: Cells, trials: int) -> Iterator[Claim]:
    for size, (source, table) in _TABLES.items():
        for key, printed in table.items():
            if key[1] != "fine":
                continue
            for family, number, (mean, sd) in zip(FAMILIES, printed, OMEGA_2011[size][key[0]], strict=True):
                bound = by_chance(mean, sd, trials, of=SECOND_TRIALS)
                free = family == "empirical"
                ours, what = cells[_name(key), size, family].omega, f"{_name(key)}, {family}, {size} queries"
                why, tolerance = (_FREE, 3 * sd * np.sqrt(1 / trials + 1 / 200)) if free else (_YEARS, 0.0)
                yield Claim(source, what, number, ours, bound, why, tolerance)


def _winners(cells: Cells, trials: int) -> Iterator[Claim]:
    """For how many measures of a scale each family is the nearest: what the thesis concludes from its tables."""
    for size, (source, table) in _TABLES.items():
        for scale in _SCALES:
            keys = [key for key in table if key[1] == scale]
            published = [FAMILIES[int(np.argmin([printed_value(one) for one in table[key]]))] for key in keys]
            ours = [_best(cells, key, size) for key in keys]
            for family in dict.fromkeys(published):
                what = f"measures on {SCALE_NAMES[scale]} that {family} predicts best of {len(keys)}, {size} queries"
                ends = BEST_2011[size][scale].get(family, (0, 0, 0, 0))
                bound = between(*(ends[:2] if trials < 200 else ends[2:]), f"{SECOND}; the range of 300 resamples")
                yield Claim(source, what, str(published.count(family)), ours.count(family), bound, _WINS)


def _best(cells: Cells, key: Key, size: int) -> str:
    return min(_known(cells, key, size), key=lambda family: cells[_name(key), size, family].omega)


def _known(cells: Cells, key: Key, size: int) -> list[str]:
    """Families that could be fitted."""
    return [family for family in FAMILIES if (_name(key), size, family) in cells]


def _scatters(cells: Cells) -> Iterator[Plot]:
    for size, (source, table) in _TABLES.items():
        series = []
        for family in FAMILIES:
            keys = [key for key in table if family in _known(cells, key, size)]
            x = tuple(printed_value(table[key][FAMILIES.index(family)]) for key in keys)
            y = tuple(cells[_name(key), size, family].omega for key in keys)
            series.append(Series(family, x, y, joined=False))
        yield Plot(
            f"distributions-{size}",
            source,
            f"Distance of families fitted to {size} queries from those left over: published for 53 systems, and of the "
            "18 of MIREX 2011, for 31 combinations; equal ones are on the line.",
            "Points follow the line, those of beta and of the truncated normal somewhat below it.",
            "published ω",
            "ours",
            (Panel(f"{size} queries", tuple(series), diagonal=True),),
        )


def _convergence(cells: Cells) -> Plot:
    panels = []
    for key in TABLE_4_4:
        series = []
        for family in FAMILIES:
            at = [size for name, size, one in cells if name == _name(key) and one == family]
            y = tuple(cells[_name(key), size, family].omega for size in at)
            series.append(Series(family, tuple(map(float, at)), y))
        panels.append(Panel(f"{short_name(key[0])}, {SCALE_NAMES[key[1]]}", tuple(one for one in series if one.x)))
    return Plot(
        "distributions-sizes",
        "T Figure 4.5",
        "Mean distance of four families by the number of queries that they are fitted to, for 31 combinations.",
        "All fall with more queries; on two levels the sample itself is best, on Fine beta.",
        "queries",
        "ω",
        tuple(panels),
        columns=4,
        log_y=True,
    )


def _for_users(data: Data) -> Plot:
    """Figure 4.7: differences between systems in effectiveness, in satisfaction and in success."""
    from adjudge.users.satisfaction import satisfaction

    points: dict[str, list[tuple[float, float]]] = {"P(Sat)": [], "P(Succ)": []}
    for scale in _SCALES:
        eff = data.effectiveness([measure for measure, on in TABLE_4_4 if on == scale], scale)
        found = satisfaction(eff, scale=scale)
        first, second = np.triu_indices(len(eff.systems), 1)
        means = eff.values.mean(axis=0)
        gaps = (means[first] - means[second]).ravel()
        turned = np.sign(gaps)
        for name, values in (("P(Sat)", found.mean), ("P(Succ)", found.success)):
            points[name] += zip(np.abs(gaps), turned * (values[first] - values[second]).ravel(), strict=True)
    panels = tuple(
        Panel(name, (Series("pair of systems", *_columns(some), joined=False),), diagonal=True)
        for name, some in points.items()
    )
    return Plot(
        "distributions-users",
        "T Figure 4.7",
        "Differences between systems of MIREX 2011 in mean effectiveness, and in satisfaction (left) and success "
        "(right), for 31 combinations; a point stands for all pairs within .005 of it.",
        "Differences in satisfaction lie below the diagonal, those in success above it.",
        "difference in effectiveness",
        "difference",
        panels,
    )


def _columns(points: list[tuple[float, float]]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Points of a figure, to .01: thousands of them that lie on one another would weigh a megabyte."""
    x, y = np.unique(np.round(points, 2), axis=0).T
    return tuple(x.tolist()), tuple(y.tolist())


def _left_out(found: FitFindings) -> tuple[str, ...]:
    return tuple(
        f"{name} exceeds 1 by rounding: {' and '.join(families)} could not be fitted."
        for name, families in found.left_out.items()
    )
