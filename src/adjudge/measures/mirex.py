"""The sums that MIREX reports for music similarity, each a cumulative gain with its own gains.

Broad grades are 0 not similar, 1 somewhat similar, 2 very similar. MIREX normalises every sum to the range from 0 to
1, the default here (``ideal=max``).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from adjudge.arrays import Floats
from adjudge.measures.base import Ideal, measure
from adjudge.measures.gains import reach, weighted_sums
from adjudge.measures.parameters import GAINS, table_gain
from adjudge.model.rankings import Lists

_REFERENCE = "MIREX Audio Music Similarity and Retrieval results, 2006 onwards; Downie et al. 2010"
_BROAD_SUMS = {
    "PSum": (1.0, 2.0, "Sum of Broad grades"),
    "WCSum": (1.0, 3.0, "'World Cup' sum of Broad grades: very similar counts 3"),
    "SDSum": (1.0, 4.0, "'Stephen Downie' sum of Broad grades: very similar counts 4"),
    "Greater0": (1.0, 1.0, "Share of somewhat or very similar documents"),
    "Greater1": (0.0, 1.0, "Share of very similar documents"),
}


def _needs_broad(lists: Lists) -> str | None:
    if lists.scale.maximum == 2 and lists.scale.minimum == 0:
        return None
    return f"expected judgments on the Broad scale (0, 1, 2), got {lists.scale}"


def _needs_fine(lists: Lists) -> str | None:
    if lists.scale.maximum in (10, 100):
        return None
    return f"expected judgments on the Fine scale (0..100, or 0..10 in early years), got {lists.scale}"


def _register_broad_sum(name: str, somewhat: float, very: float, title: str) -> None:
    gain = table_gain(name, "gain", {0.0: 0.0, 1.0: somewhat, 2.0: very})

    def broad_sum(lists: Lists, *, ideal: Ideal) -> Floats:
        return weighted_sums(lists, gain, np.ones(reach(lists)), ideal)

    broad_sum.__doc__ = (
        f"{title}: not similar 0, somewhat similar {somewhat:g}, very similar {very:g}.\n\n"
        "Needs Broad grades, one a pair; with several assessors combine them by median, min or max."
    )
    _sum_measure(name, title, f"{name}@k = sum_(i<=k) g(r_i) / (k g(2)),  g = {gain}", _needs_broad)(broad_sum)


def _sum_measure(
    name: str, title: str, equation: str, needs: Callable[[Lists], str | None]
) -> Callable[[Callable[..., Floats]], Callable[..., Floats]]:
    return measure(name, title=title, equation=equation, reference=_REFERENCE, ideal="max", unbounded=True, needs=needs)


for _name, (_somewhat, _very, _title) in _BROAD_SUMS.items():
    _register_broad_sum(_name, _somewhat, _very, _title)


@_sum_measure("Fine", "Sum of Fine grades", "Fine@k = 1/k sum_(i<=k) r_i / max", _needs_fine)
def fine(lists: Lists, *, ideal: Ideal) -> Floats:
    """Sum of Fine grades as a share of the most possible: CG under the name that MIREX gives it.

    Needs grades up to 100, or up to 10 as in early years; several assessors' grades may be averaged.
    """
    return weighted_sums(lists, GAINS["linear"], np.ones(reach(lists)), ideal)
