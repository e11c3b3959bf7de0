"""Thesis chapter 5 as printed: rates of outcomes over four years of MIREX, three scales and 300 trials."""

from __future__ import annotations

TESTS = {"t": "t", "wilcoxon": "Wilcoxon", "sign": "sign", "bootstrap": "bootstrap", "permutation": "permutation"}
"""The five tests in the thesis's order, and how they are called in figures."""
OUTCOMES = {
    "non_significant": "non-significance",
    "success": "success",
    "lack_of_power": "lack of power",
    "minor_conflict": "minor conflicts",
    "major_conflict": "major conflicts",
    "global_conflict": "global conflicts",
}
LEVELS = (0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5)

Numbers = tuple[float, ...]


def _read(text: str) -> tuple[Numbers, ...]:
    return tuple(tuple(map(float, line.split())) for line in text.strip().split("\n"))


TABLE_5_3: dict[str, tuple[Numbers, ...]] = {
    "non_significant": _read("""
.5821 .5988 .6406 .5447 .5732
.5286 .5413 .5945 .4978 .5216
.502 .5144 .569 .4747 .4961
.4345 .4464 .5151 .4156 .4312
.4032 .4143 .4802 .3878 .401
.3219 .3298 .394 .3131 .3215
.2782 .2836 .3449 .2715 .2784
.1231 .1249 .1601 .121 .1242"""),
    "success": _read("""
.8653 .8632 .8329 .8645 .8604
.8621 .8683 .8484 .8627 .8593
.8621 .8688 .8551 .8663 .8609
.8792 .8784 .8637 .8858 .8805
.8905 .8863 .8622 .8949 .8917
.8982 .8899 .8596 .897 .8982
.8915 .8865 .8585 .8908 .8915
.8877 .8859 .8663 .8876 .888"""),
    "lack_of_power": _read("""
.1345 .1367 .1669 .1349 .1393
.1372 .1311 .1511 .136 .1398
.1367 .1302 .1441 .1319 .1377
.1178 .1188 .1343 .1103 .1164
.105 .1096 .1342 .0998 .1037
.0897 .0982 .1292 .0897 .0897
.0891 .0941 .1235 .0884 .0891
.0494 .0501 .0739 .0487 .0496"""),
    "minor_conflict": _read("""
.0002 .0002 .0002 .0006 .0003
.0008 .0006 .0005 .0013 .0009
.0012 .0011 .0008 .0018 .0013
.003 .0028 .002 .0038 .0032
.0044 .0042 .0036 .0053 .0046
.0118 .0117 .0111 .013 .0118
.0183 .0182 .0172 .0193 .0182
.034 .034 .0345 .0339 .034"""),
    "major_conflict": _read("""
0 0 0 0 1.6e-6
0 0 0 0 1.4e-6
0 0 0 0 1.4e-6
1.2e-6 1.2e-6 1.4e-6 4.7e-6 3.6e-6
9.2e-6 3.5e-6 6.6e-6 1.7e-5 1.1e-5
.0003 .0002 .0002 .0004 .0003
.0012 .0012 .0008 .0015 .0012
.0289 .0299 .0253 .0298 .0284"""),
    "global_conflict": _read("""
.0002 .0002 .0002 .0006 .0003
.0008 .0006 .0005 .0013 .0009
.0012 .0011 .0008 .0018 .0013
.003 .0028 .002 .0038 .0032
.0044 .0042 .0036 .0053 .0046
.0121 .0119 .0113 .0133 .0121
.0195 .0194 .018 .0208 .0195
.0629 .064 .0597 .0637 .0625"""),
}
"""Table 5.3: for every outcome a row a level and a column a test."""

MEASURES = ("CG", "DCG", "nDCG", "Q", "RBP", "GAP", "P", "AP")
TABLE_5_4: dict[str, Numbers] = dict(
    zip(
        MEASURES,
        _read("""
.31743 .89929 .08932 .01115 .00024 .01139
.32768 .89527 .09276 .01175 .00022 .01197
.32992 .89205 .0954 .01236 .0002 .01255
.34365 .89036 .0973 .01202 .00032 .01234
.32869 .89285 .09457 .01233 .00025 .01258
.32614 .89546 .09338 .01086 .0003 .01116
.35502 .88 .1061 .01362 .00027 .0139
.3588 .87586 .11097 .01284 .00032 .01317"""),
        strict=True,
    )
)
"""Table 5.4 without Broad: for every measure, on Fine, for P and AP cut at 40, the outcomes at .05."""

BINS = ("p ≤ .0001", "p ≤ .0005", "p ≤ .001", "p ≤ .005", "p ≤ .01", "p ≤ .05", "p ≤ .1", "p ≤ .5")
TABLE_5_5 = _read("""
.02604 .02505 .04073 .0355 .02878
.09423 .09103 .12708 .12278 .09904
.12957 .12876 .15981 .15484 .13443
.17727 .17562 .21543 .20027 .18277
.23258 .23412 .27123 .24833 .23613
.29333 .29305 .33612 .3039 .2963
.32991 .328 .37381 .333 .3316
.32183 .32052 .35652 .32348 .32261""")
"""Table 5.5: RMS error of a test with itself, a row a bin of p and a column a test."""

SECOND_TRIALS = 150
"""Trials of the second computation that the numbers below come from (scripts/independent_papers.py), all of 2011."""
AT_05_2011 = ((0.71919, 0.00836), (0.91951, 0.01805), (0.00905, 0.00691))
"""At .05, all tests and measures: significant results, those that the other half repeats, those that it contradicts.

Each with its mean and the standard deviation of a trial.
"""
EXACTNESS_2011 = {
    "t": (0.7041, 0.532),
    "wilcoxon": (0.697, 0.5335),
    "sign": (0.7412, 0.481),
}
"""Relative error of the global conflict rate over 32 levels, and the standard deviation of a trial."""
Ends = tuple[int, int, int, int]
"""Least and most in 300 resamples of the trials: for few trials here (24), and for as many as the thesis has (300)."""
LEADING_2011: dict[tuple[str, str], Ends] = {
    ("non_significant", "bootstrap"): (6, 8, 7, 7),
    ("non_significant", "sign"): (8, 8, 8, 8),
    ("success", "sign"): (8, 8, 8, 8),
    ("lack_of_power", "sign"): (8, 8, 8, 8),
    ("minor_conflict", "bootstrap"): (0, 7, 3, 6),
    ("minor_conflict", "sign"): (0, 8, 0, 7),
}
"""Levels, of 8, at which a test leads, by outcome."""
SAFE_2011: dict[float, Ends] = {0.05: (5, 5, 5, 5), 0.1: (5, 5, 5, 5)}
"""Tests, of 5, with fewer global conflicts than a level promises."""
PLACES_2011: dict[str, tuple[Ends, ...]] = {
    "non_significant": (
        (1, 1, 1, 1),
        (3, 5, 3, 4),
        (3, 5, 4, 5),
        (6, 6, 6, 6),
        (3, 5, 3, 5),
        (2, 2, 2, 2),
        (7, 8, 7, 8),
        (7, 8, 7, 8),
    ),
    "success": (
        (1, 6, 2, 6),
        (2, 7, 3, 5),
        (3, 7, 5, 6),
        (1, 6, 2, 4),
        (2, 6, 3, 6),
        (1, 2, 1, 1),
        (7, 8, 8, 8),
        (2, 8, 7, 7),
    ),
}
"""Places of the measures at .05."""
OWN_BINS_2011: Ends = (0, 7, 1, 5)
"""Bins of p, of 8, in which Wilcoxon agrees with itself best."""
