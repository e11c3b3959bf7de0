"""Tables of the thesis as printed, read from ``values/``: its answers and collections are more than what is public.

The thesis drops zeros at the end of a number; those of chapters 3 and 4 have four digits.
"""

from __future__ import annotations

import csv
from pathlib import Path

FAMILIES = ("normal", "truncated-normal", "beta", "empirical")
"""Columns of Tables 4.4 and 4.5."""

SCALE_NAMES = {"broad": "Broad", "fine": "Fine"} | {f"graded{n}": f"{n} levels" for n in (3, 4, 5)}
SCALE_NAMES |= {f"binary{n}": f"relevant from {n}" for n in (20, 40, 60, 80)}

Key = tuple[str, str]


def short_name(measure: str) -> str:
    """A measure as the thesis writes it: CG_e is CG with exponential gain.

    >>> short_name("Q(gain=exp,ideal=max)@5"), short_name("ERR(ideal=max)@5"), short_name("P@5"), short_name("CG@5")
    ('Q_e', 'ERR_e', 'P', 'CG_l')
    """
    name = measure.removesuffix("@5").partition("(")[0]
    if name in ("P", "AP", "RR", "GAP", "ADR"):
        return name
    exponential = "gain=exp" in measure or (name == "ERR" and "linear" not in measure)
    return f"{name}_{'e' if exponential else 'l'}"


def printed_rows(name: str) -> list[dict[str, str]]:
    """The rows of a printed table by column; the numbers are text, as printed.

    >>> printed_rows("thesis_table_5_4")[0]["measure"]
    'CG'
    """
    with (Path(__file__).parent / "values" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _by_scale(name: str) -> dict[Key, str]:
    """A number for each measure and scale that has one."""
    return {
        (row["measure"], scale): f"{float(cell):.4f}"
        for row in printed_rows(name)
        for scale, cell in row.items()
        if scale != "measure" and cell
    }


def _by_family(name: str) -> dict[Key, tuple[str, ...]]:
    """Numbers, one per family, for each measure and scale."""
    return {
        (row["measure"], row["scale"]): tuple(f"{float(row[family]):.4f}" for family in FAMILIES)
        for row in printed_rows(name)
    }


TABLE_3_2 = _by_scale("thesis_table_3_2")
"""Bias of P(Sat) at the endpoints (3.11)."""
TABLE_3_3 = _by_scale("thesis_table_3_3")
"""Distance between 1 and P(Agr = 1) (3.12)."""
TABLE_3_4 = _by_scale("thesis_table_3_4")
"""Distance between 0 and P(Agr = -1) (3.13)."""
TABLE_3_5 = _by_scale("thesis_table_3_5")
"""Expected share of comparisons in which half or more agree."""
TABLE_4_4 = _by_family("thesis_table_4_4")
"""Mean distance of distributions fitted to 50 queries from those left over; scales that follow from Fine."""
TABLE_4_5 = _by_family("thesis_table_4_5")
"""Mean distance of distributions fitted to 20 queries from those left over; scales that follow from Fine."""

SECOND_TRIALS = 400
"""Trials of the second computation that the numbers below come from (scripts/independent_papers.py)."""
OMEGA_2011: dict[int, dict[str, tuple[tuple[float, float], ...]]] = {
    50: {
        "CG@5": ((0.4986, 0.120), (0.5267, 0.115), (0.4752, 0.123), (0.5254, 0.126)),
        "DCG@5": ((0.5043, 0.116), (0.5351, 0.111), (0.4799, 0.120), (0.5267, 0.122)),
        "Q(ideal=max)@5": ((0.5258, 0.109), (0.5734, 0.104), (0.4916, 0.114), (0.5285, 0.116)),
        "RBP(ideal=max)@5": ((0.5052, 0.117), (0.5350, 0.112), (0.4810, 0.121), (0.5262, 0.123)),
        "GAP(ideal=max)@5": ((0.5166, 0.117), (0.5816, 0.118), (0.4769, 0.119), (0.5276, 0.119)),
    },
    20: {
        "CG@5": ((0.7012, 0.225), (0.7128, 0.211), (0.7021, 0.232), (0.8415, 0.214)),
        "DCG@5": ((0.7053, 0.216), (0.7194, 0.203), (0.7057, 0.223), (0.8397, 0.203)),
        "Q(ideal=max)@5": ((0.7262, 0.200), (0.7582, 0.184), (0.7172, 0.207), (0.8396, 0.190)),
        "RBP(ideal=max)@5": ((0.7069, 0.218), (0.7201, 0.204), (0.7070, 0.224), (0.8398, 0.205)),
        "GAP(ideal=max)@5": ((0.7122, 0.211), (0.7633, 0.198), (0.6981, 0.222), (0.8392, 0.198)),
    },
}
"""Tables 4.4 and 4.5 for MIREX 2011 on Fine: mean distance and standard deviation of a trial, by family."""
BEST_2011: dict[int, dict[str, dict[str, tuple[int, int, int, int]]]] = {
    50: {
        "fine": {"normal": (0, 1, 0, 0), "beta": (4, 5, 5, 5)},
        "graded4": {"normal": (0, 4, 0, 2), "beta": (0, 7, 0, 2), "empirical": (2, 9, 7, 9)},
        "graded5": {"normal": (0, 4, 0, 2), "beta": (0, 9, 1, 7), "empirical": (0, 9, 2, 6)},
        "binary20": {"empirical": (4, 4, 4, 4)},
        "binary40": {"empirical": (4, 4, 4, 4)},
    },
    20: {
        "fine": {"normal": (0, 5, 0, 5), "truncated-normal": (0, 3, 0, 0), "beta": (0, 5, 0, 5)},
        "graded4": {"normal": (0, 9, 3, 8), "beta": (0, 9, 1, 6), "empirical": (0, 2, 0, 0)},
        "graded5": {"normal": (0, 9, 3, 7), "beta": (0, 9, 2, 6)},
        "binary20": {"beta": (0, 3, 0, 3), "empirical": (1, 4, 1, 4)},
        "binary40": {"empirical": (4, 4, 4, 4)},
    },
}
"""Measures of a scale that a family predicts best in 2011: least and most in 300 resamples of the trials.

For few trials here (20), then for as many as the thesis has (200).
"""
