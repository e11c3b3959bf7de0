"""Plans beside the D-study: how its answer moves while queries arrive, and queries that a paired test needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from adjudge.arrays import Floats
from adjudge.choices import Assessors
from adjudge.errors import AdjudgeError, kept_warnings
from adjudge.stats.arrangement import Studied, arranged
from adjudge.stats.generalizability import study_of
from adjudge.stats.matrices import Values, matrix_of
from adjudge.stats.power import MOST_QUERIES, detectable_difference, queries_needed
from adjudge.stats.power import power as power_of

FEWEST_QUERIES = 5  # a G-study of fewer says next to nothing


@dataclass(frozen=True)
class Growth:
    """What a D-study said when the collection had ``n_queries``: its reliability, and the queries it asked for."""

    n_queries: int
    e_rho2: float
    phi: float
    e_rho2_queries: int | None
    phi_queries: int | None


def growth(
    values: Studied,
    *,
    target: float = 0.95,
    batch: int | None = None,
    assessors: Assessors = "auto",
    n_assessors: int | None = None,
    design: Assessors = "auto",
) -> list[Growth]:
    """The D-study after each batch of queries, in the order in which they were judged.

    Early answers swing: variances of a handful of queries are not known well. When the number asked for has settled
    below the number there is, the collection is done. ``batch`` is a tenth of the queries by default, at least 5;
    ``n_assessors`` are those a query to plan for, as many as there are by default, and ``design`` is theirs.
    """
    data = arranged(values, assessors=assessors)
    n_queries = len(data.values)
    step = max(FEWEST_QUERIES, -(-n_queries // 10)) if batch is None else batch
    if step < 1:
        raise AdjudgeError(f"'batch' must be at least 1 query, got {batch}")
    sizes = [n for n in range(step, n_queries, step) if n >= FEWEST_QUERIES] + [n_queries]
    found = []
    for n in sizes:
        with kept_warnings():
            try:
                study = study_of(replace(data, values=data.values[:n]))
                planned = study.dstudy(assessors=n_assessors, target=target, design=design, interval="none")
            except AdjudgeError:
                if n == n_queries:
                    raise
                continue  # too little yet, such as a system without any value
        row = planned.rows[0]
        needed = (planned.need(index).n_queries for index in ("e_rho2", "phi"))
        found.append(Growth(n, row.e_rho2, row.phi, *needed))
    return found


@dataclass(frozen=True)
class PowerPlan:
    """Queries that a paired t test needs to detect differences, for a typical pair of systems and for a hard one.

    ``typical`` and ``hard`` are standard deviations of the differences over queries: the median over pairs, and what
    nine pairs in ten stay below. ``rows`` are difference, queries for the typical pair, queries for the hard one, None
    where ten million are not enough; ``detectable`` is what the queries there are detect for either.
    """

    typical: float
    hard: float
    n_queries: int
    alpha: float
    power: float
    comparisons: int
    rows: tuple[tuple[float, int | None, int | None], ...]
    detectable: tuple[float, float]


def power_plan(
    values: Values,
    *,
    differences: Sequence[float] = (0.01, 0.02, 0.05, 0.1),
    alpha: float = 0.05,
    power: float = 0.8,
    comparisons: int = 1,
) -> PowerPlan | None:
    """How many queries a two-sided paired t test needs, from the variance in the data.

    Where a test is one of several, ``comparisons`` shares the level among them (Bonferroni). None where no two systems
    differ from query to query.

    >>> plan = power_plan([[0.2, 0.5, 0.6], [0.5, 0.5, 0.9], [0.1, 0.6, 0.6], [0.3, 0.6, 0.8]], differences=[0.1])
    >>> round(plan.typical, 3), plan.rows
    (0.171, ((0.1, 25, 36),))
    """
    if comparisons < 1:
        raise AdjudgeError(f"'comparisons' must be at least 1, got {comparisons}")
    for difference in differences:
        if not difference > 0:
            raise AdjudgeError(f"A difference to detect must be above 0, got {difference}")
    matrix, _ = matrix_of(values, at_least=2)
    deviations = pair_deviations(matrix)
    deviations = deviations[deviations > 0]
    if not len(deviations):
        return None
    typical, hard = float(np.median(deviations)), float(np.quantile(deviations, 0.9, method="higher"))
    level = alpha / comparisons
    rows = tuple((float(d), _needed(d, typical, level, power), _needed(d, hard, level, power)) for d in differences)
    n_queries = int(np.isfinite(matrix).any(axis=1).sum())
    least = [float(detectable_difference(sd, n_queries, alpha=level, power=power)) for sd in (typical, hard)]
    return PowerPlan(typical, hard, n_queries, alpha, power, comparisons, rows, (least[0], least[1]))


def _needed(difference: float, sd: float, alpha: float, power: float) -> int | None:
    """Queries that detect a difference; None where not even the largest collection does."""
    if power_of(difference, sd, MOST_QUERIES, alpha=alpha) < power:
        return None
    return int(queries_needed(difference, sd, alpha=alpha, power=power))


def pair_deviations(matrix: Floats) -> Floats:
    """Standard deviation over queries of the difference of each pair of systems, on the queries that both have."""
    a, b = np.triu_indices(matrix.shape[1], 1)
    present = np.isfinite(matrix)
    filled = np.where(present, matrix, 0.0)
    centre = filled.sum(axis=1, keepdims=True) / np.maximum(present.sum(axis=1, keepdims=True), 1)
    filled = np.where(present, matrix - centre, 0.0)  # differences stay, and squares round off less
    both = present.T.astype(np.float64) @ present.astype(np.float64)
    cross = filled.T @ filled
    squares, sums = (filled**2).T @ present, filled.T @ present
    n, of_each = both[a, b], squares[a, b] + squares[b, a]
    centred = of_each - 2 * cross[a, b] - (sums[a, b] - sums[b, a]) ** 2 / np.maximum(n, 1)
    centred[(n < 2) | (centred <= 1e-13 * of_each)] = 0.0  # rounding
    deviations: Floats = np.sqrt(centred / np.maximum(n - 1, 1))
    return deviations
