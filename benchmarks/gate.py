"""What the gate claims, and what it keeps: pairs of TREC systems with a known truth.

``python -m benchmarks.gate`` takes a few minutes, with the tables of ``../shared/data/trec``. A pair is two runs drawn
from a table. All queries of the table are the population, so that the true difference of their means is known; the new
system is shifted by a constant to make that difference what the trial needs. Queries are drawn with replacement, and
the gate is asked about them:

- *false alarms*: the true loss is exactly the margin; the gate fails (``not-shown-worse``) or passes (``no-worse``).
- *power*: the true loss is what the gate says these queries show with probability .8, and the gate fails; or, for
  ``no-worse``, the new system is as good as the base and passes, against what the formula of the t test promises.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.model.effectiveness import Effectiveness
from adjudge.stats.power import detectable_difference, power
from adjudge.text import percent
from adjudge.users.gate import Require, gate
from benchmarks.report import Table, show

TREC = Path(__file__).parents[2] / "shared" / "data" / "trec"
TABLES = {
    "AP, TREC-8": ("adhoc8_ap.csv", (25, 50, 100)),
    "P@10, TREC-8": ("adhoc8_p10.csv", (50,)),
    "nDCG@20, Web 2013": ("web2013_ndcg20.csv", (50,)),
}
PAIRS, MARGIN, POWER, CONFIDENCE = 2000, 0.02, 0.8, 0.95


class Rates(NamedTuple):
    """Shares of pairs: with a loss of the margin, and with one that should be shown, or none at all."""

    false: float
    found: float
    claimed: float


def rates(
    table: Floats, n_queries: int, *, require: Require, test: str = "t", pairs: int = PAIRS, seed: int | None = None
) -> Rates:
    """How often the gate is wrong at the margin, and how often it shows what it says it shows."""
    rng = np.random.default_rng(n_queries if seed is None else seed)
    alpha = 1 - CONFIDENCE
    shown = float(detectable_difference(1.0, n_queries, alpha=alpha, power=POWER, alternative="greater"))
    wrong, right, claimed = [], [], []
    for _ in range(pairs):
        base, new = table[:, rng.choice(table.shape[1], 2, replace=False)].T
        drawn = rng.integers(len(table), size=n_queries)
        difference = new - base - (new - base).mean()
        sd = float(difference.std())
        if require == "no-worse":
            loss, worth = 0.0, float(power(MARGIN, sd, n_queries, alpha=alpha, alternative="greater"))
        else:
            loss, worth = MARGIN + sd * shown, POWER
        decided = [_decides(base, difference - true, drawn, require, test) for true in (MARGIN, loss)]
        wrong.append(decided[0])
        right.append(decided[1])
        claimed.append(worth)
    return Rates(*(float(np.mean(shares)) for shares in (wrong, right, claimed)))


def _decides(base: Floats, difference: Floats, drawn: Ints, require: Require, test: str) -> bool:
    """Whether the gate shows what it looks for: a loss, or that there is none."""
    eff = Effectiveness.from_matrix(np.column_stack([base, base + difference])[drawn], systems=("base", "new"))
    found = gate(eff, margin=MARGIN, require=require, confidence=CONFIDENCE, test=test, resamples=999)
    return found.passed == (require == "no-worse")


def tables() -> Sequence[Table]:
    """False alarms and power of both kinds of gate on every table."""
    rows = []
    for name, (file, sizes) in TABLES.items():
        table = np.genfromtxt(TREC / file, delimiter=",", skip_header=1)
        for n in sizes:
            found = [rates(table, n, require=require) for require in ("not-shown-worse", "no-worse")]
            rows.append((name, str(n), *(f"{share:.3f}" for each in found for share in each)))
    shares = ("false failures", "losses shown", "claimed", "wrongly passed", "good ones passed", "claimed")
    notes = f"Shares of {PAIRS:,} pairs of systems; margin {MARGIN}, {percent(CONFIDENCE)} confidence, t test."
    return [Table("The gate", notes, ("effectiveness", "queries", *shares), rows)]


if __name__ == "__main__":
    sys.exit(show(tables))
