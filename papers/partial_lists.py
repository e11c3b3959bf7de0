"""Ground truths as partially ordered lists (ISMIR 2010), from public preferences.

The paper has rankings of 35 experts and runs of MIREX 2005, which are not public. What is public are preferences that a
crowd gave in 2010, also for 11 queries, among them the three that the paper names of its collection: lists can be made
from them in the same six ways, by other tests.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from adjudge.arrays import Floats
from adjudge.experiments.simulate.copulas import kendall
from adjudge.groundtruth.comparing import PAPER_CONSTRUCTIONS, ComparedConstructions, compare_constructions
from adjudge.groundtruth.comparisons import smaller_ranks
from papers.claims import Claim, Panel, Plot, Reason, Series, independent
from papers.data import Data
from papers.studies import Effort, Found, study

_OTHER = Reason(
    "data",
    "rankings of 35 experts there, some 250 preferences of a crowd for each query here, mostly between documents that "
    "are close: fewer pairs are significant, and groups are larger",
)

# Table 3: ADR-1 consistency, incipits a group, Pearson's r; then the same of the preferences, computed a second time
_TABLE_3 = {
    "All-2": ((".844", "3.752", "-.892"), (".8755", "7.7273", "-.1190")),
    "Any-2": ((".913", "2.539", "-.862"), (".8464", "3.7136", "-.5949")),
    "Prev-2": ((".857", "3.683", "-.937"), (".8755", "7.7273", "-.1190")),
    "All-1": ((".881", "3.297", "-.954"), (".8759", "7.1970", "-.0988")),
    "Any-1": ((".926", "1.981", "-.749"), (".8495", "3.2136", "-.2311")),
    "Prev-1": ((".916", "2.858", "-.939"), (".8810", "6.4697", ".0805")),
}
# Table 4: ADR of seven systems of MIREX 2005 by lists of each construction, and τ with the first
_TABLE_4 = np.array(
    [
        [0.66, 0.59, 0.66, 0.624, 0.583, 0.605],
        [0.65, 0.607, 0.65, 0.643, 0.593, 0.639],
        [0.642, 0.604, 0.642, 0.639, 0.594, 0.628],
        [0.571, 0.558, 0.571, 0.566, 0.556, 0.564],
        [0.558, 0.52, 0.558, 0.54, 0.515, 0.534],
        [0.543, 0.503, 0.543, 0.511, 0.494, 0.506],
        [0.518, 0.498, 0.518, 0.507, 0.483, 0.507],
    ]
)
_TAU = ("", ".81", "1", ".81", ".714", ".714")


@study(
    "partial-lists",
    title="Partially ordered lists, from preferences (the paper: rankings)",
    covers=("L10 Table 3", "L10 Table 4", "L10 Figure 3", "L10 Figure 4"),
    needs=("preferences-2010",),
    partly={
        **dict.fromkeys(
            ("L10 Table 3", "L10 Figure 3", "L10 Figure 4"),
            "from preferences of 2010, also for 11 queries: the rankings of the experts of 2005 are not public",
        ),
        "L10 Table 4": "its last row from the others: the runs of MIREX 2005 are not public",
    },
)
def partial_lists(data: Data, effort: Effort) -> Found:
    """Consistency and size of groups of six constructions; correlations of rankings; critical values."""
    compared = compare_constructions(data.preferences, halves=0)
    return Found(
        (*_claims(compared), *_correlations()),
        (
            _plot(3, "ADR-1 consistency", [row.adr_1.tolist() for row in compared.rows]),
            _plot(4, "documents a group", [row.group_size.tolist() for row in compared.rows]),
        ),
        (_critical_values(),),
    )


def _claims(compared: ComparedConstructions) -> Iterator[Claim]:
    """Table 3, and what the paper concludes from it."""
    yield Claim.printed("L10 3", "queries", "11", len(compared.queries))
    records = {record["construction"]: record for record in compared.to_dicts()}
    for name, (printed, second) in _TABLE_3.items():
        for what, key, number, value in zip(
            ("ADR-1 consistency", "documents a group", "correlation of the two"),
            ("adr_1", "documents_per_group", "correlation"),
            printed,
            second,
            strict=True,
        ):
            ours = float(records[name][key])
            yield Claim("L10 Table 3", f"{name}: {what}", number, ours, independent(value), _OTHER)
    size = {name: record["documents_per_group"] for name, record in records.items()}
    for tails in (1, 2):
        smallest = min(("All", "Prev", "Any"), key=lambda rule: size[f"{rule}-{tails}"])
        what = f"rules, of All and Prev, whose groups are larger than those of Any, {tails}-tailed"
        larger = sum(size[f"{rule}-{tails}"] > size[f"{smallest}-{tails}"] for rule in ("All", "Prev"))
        yield Claim.printed("L10 5", what, "2", larger if smallest == "Any" else 0)
    finer = sum(size[f"{rule}-1"] < size[f"{rule}-2"] for rule in ("All", "Any", "Prev"))
    yield Claim.printed("L10 Table 3", "rules, of three, whose groups are smaller with one tail", "3", finer)
    negative = sum(record["correlation"] < 0 for record in records.values())
    what = "constructions, of six, with less consistency where groups are larger"
    yield Claim("L10 Table 3", what, "6", negative, independent("5"), _OTHER)


def _correlations() -> Iterator[Claim]:
    """The last row of Table 4, from the seven above it."""
    tau = kendall(_TABLE_4)[0]
    for name, printed, ours in zip(PAPER_CONSTRUCTIONS, _TAU, tau, strict=True):
        if printed:
            yield Claim.printed("L10 Table 4", f"τ of the rankings by All-2 and by {name}", printed, float(ours))


def _critical_values() -> str:
    """The appendix: the least U that does not reject at .25. No claim, since sizes were looked for that give it."""
    p = {u: float(smaller_ranks(_samples_with(u))[0, 1]) for u in range(110, 150)}
    two, one = (next(u for u, value in p.items() if tails * value > 0.25) for tails in (2, 1))
    return (
        "The appendix has critical values of U at .25, 121 with two tails and 136 with one, and does not print the "
        f"sizes of its samples. With 15 and 21, the only sizes up to 35 that give both, ours are {two} and {one}."
    )


def _samples_with(u: int, n: int = 15, m: int = 21) -> Floats:
    """Ranks of two documents by different people, the first being larger in u of n x m pairs."""
    high, rest = divmod(u, m)
    first = [-1.0 - i for i in range(n - high - (rest > 0))] + [100.0 + i for i in range(high)]
    first += [rest - 0.5] if rest else []
    ranks = np.full((n + m, 2), np.nan)
    ranks[:n, 0], ranks[n:, 1] = first, np.arange(float(m))
    return ranks


def _plot(number: int, what: str, values: list[list[float]]) -> Plot:
    """A box plot in the paper: here all 11 queries as points, and their mean."""
    series = [
        Series(f"{place} {name}", (float(place),) * len(ones), tuple(ones), joined=False)
        for place, (name, ones) in enumerate(zip(PAPER_CONSTRUCTIONS, values, strict=True), 1)
    ]
    means = Series("mean", tuple(range(1, 7)), tuple(float(np.mean(ones)) for ones in values))
    return Plot(
        f"l10-figure-{number}",
        f"L10 Figure {number}",
        f"{what[0].upper()}{what[1:]} of lists made in six ways from preferences of 2010, a point a query.",
        f"Points of {what} for six constructions, with their means.",
        "construction, by its number in the legend",
        what,
        (Panel("", (*series, means)),),
        columns=1,
    )
