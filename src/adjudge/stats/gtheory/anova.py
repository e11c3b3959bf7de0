"""Two-way analysis of variance: how much of effectiveness is due to systems, to queries, and to neither.

>>> print(anova([[0.5, 0.4, 0.3], [0.7, 0.5, 0.4], [0.6, 0.6, 0.2], [0.9, 0.4, 0.5]]))
ANOVA, 3 systems x 4 queries
source        SS  df       MS     F       p
systems   0.2150   2  0.10750  6.56  0.0309
queries   0.0667   3  0.02222  1.36   0.343
residual  0.0983   6  0.01639     –       –
systems: eta² 0.566, partial 0.686; omega² 0.460, partial 0.481
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import numpy.typing as npt

from adjudge.arrays import ROUNDING
from adjudge.errors import AdjudgeError, NotEnoughDataError
from adjudge.results import Column, Result, columns_of
from adjudge.stats.matrices import matrix_of


@dataclass(frozen=True)
class Source:
    """One line of the table: sum of squares, degrees of freedom, mean square; F and p where it is tested."""

    name: Annotated[str, Column("source of the variation", label="source", key=True)]
    sum_of_squares: Annotated[float, Column("sum of squares", ".4f", label="SS")]
    df: Annotated[int, Column("degrees of freedom", "d")]
    f: Annotated[float | None, Column("mean square over that of the residual", ".2f", label="F")] = None
    p: Annotated[float | None, Column("p-value", ".3g")] = None

    @property
    def mean_square(self) -> float:
        """Sum of squares over degrees of freedom."""
        return self.sum_of_squares / self.df


@dataclass(frozen=True, repr=False)
class Anova(Result):
    """Analysis of variance of a matrix of effectiveness, as :func:`anova` defines it."""

    systems: Source
    queries: Source
    residual: Source
    n_systems: int
    n_queries: int
    grand_mean: float

    @property
    def total(self) -> float:
        """Sum of squares around the grand mean."""
        return self.systems.sum_of_squares + self.queries.sum_of_squares + self.residual.sum_of_squares

    @property
    def eta2(self) -> float:
        """Share of all variation in the sample that is due to systems, SS_s / SS_t."""
        return _share(self.systems.sum_of_squares, self.total)

    @property
    def partial_eta2(self) -> float:
        """The same with queries set aside, SS_s / (SS_s + SS_e)."""
        return _share(self.systems.sum_of_squares, self.systems.sum_of_squares + self.residual.sum_of_squares)

    @property
    def omega2(self) -> float:
        """Eta² without its bias, (SS_s - df_s MS_e) / (SS_t + MS_e); below 0 where F is below 1."""
        return _share(self._above_residual, self.total + self.residual.mean_square)

    @property
    def partial_omega2(self) -> float:
        """Partial eta² without its bias, (SS_s - df_s MS_e) / (SS_s + (N - df_s) MS_e), N cells."""
        cells = self.n_systems * self.n_queries
        rest = (cells - self.systems.df) * self.residual.mean_square
        return _share(self._above_residual, self.systems.sum_of_squares + rest)

    @property
    def _above_residual(self) -> float:
        return self.systems.sum_of_squares - self.systems.df * self.residual.mean_square

    rows_name = "sources"
    fact_names = ("n_systems", "n_queries", "grand_mean", "eta2", "partial_eta2", "omega2", "partial_omega2")

    @property
    def title(self) -> str:
        return f"ANOVA, {self.n_systems} systems x {self.n_queries} queries"

    @property
    def columns(self) -> tuple[Column, ...]:
        """Those of a source, with its mean square."""
        name, squares, df, *tested = columns_of(Source)
        return (name, squares, df, Column("sum of squares over df", ".5f", name="mean_square", label="MS"), *tested)

    def _rows(self) -> tuple[Source, ...]:
        return self.systems, self.queries, self.residual

    def _notes(self) -> list[str]:
        return [
            f"systems: eta² {self.eta2:.3f}, partial {self.partial_eta2:.3f}; "
            f"omega² {self.omega2:.3f}, partial {self.partial_omega2:.3f}"
        ]

    def __repr__(self) -> str:
        return f"<Anova: {self.n_systems} systems x {self.n_queries} queries>"


def anova(values: npt.ArrayLike, *, systems: Sequence[str] | None = None) -> Anova:
    """Two-way ANOVA without replication of effectiveness, queries x systems.

    x_qs = μ + ν_s + ν_q + ε_qs. With n_q queries, n_s systems and means x̄:

    - SS_s = n_q Σ_s (x̄_s - x̄)², df n_s - 1; SS_q = n_s Σ_q (x̄_q - x̄)², df n_q - 1;
    - SS_e = Σ (x_qs - x̄_s - x̄_q + x̄)², df (n_s - 1)(n_q - 1);
    - F = MS / MS_e for systems and for queries, p the upper tail of the F distribution.

    Interaction and error are one, as there is one observation per cell. Effect sizes of systems are properties of the
    result; :func:`adjudge.gstudy` has the variance components. ω² is left below 0 where it falls there, as setting it
    to 0 would bias it (Okada 2017). Sums of squares that are rounding only are 0; F = 0/0 is then 0 with p = 1, F = x/0
    infinite with p = 0, and a share of nothing is 0. At least two queries and two systems are needed, and every cell:
    NaN is refused.

    Olejnik, S., Algina, J. Generalized Eta and Omega Squared Statistics. Psychological Methods 8(4), 2003.
    doi:10.1037/1082-989X.8.4.434
    """
    matrix, _ = matrix_of(values, systems)
    n_queries, n_systems = matrix.shape
    if n_queries < 2 or n_systems < 2:
        raise NotEnoughDataError(f"ANOVA: expected at least 2 queries and 2 systems, got {n_queries} x {n_systems}")
    missing = int(np.isnan(matrix).sum())
    if missing:
        raise AdjudgeError(f"ANOVA: expected every system on every query, got {missing} empty cells of {matrix.size}")
    mean = matrix.mean()
    of_system, of_query = matrix.mean(axis=0) - mean, matrix.mean(axis=1) - mean
    left = matrix - mean - of_system - of_query[:, None]
    tiny = matrix.size * (ROUNDING * np.abs(matrix).max()) ** 2
    totals = [n * float((part * part).sum()) for part, n in ((of_system, n_queries), (of_query, n_systems), (left, 1))]
    squares_s, squares_q, squares_e = (total if total > tiny else 0.0 for total in totals)
    df_s, df_q = n_systems - 1, n_queries - 1
    residual = Source("residual", squares_e, df_s * df_q)
    return Anova(
        _test_source("systems", squares_s, df_s, residual),
        _test_source("queries", squares_q, df_q, residual),
        residual,
        n_systems,
        n_queries,
        float(mean),
    )


def _test_source(name: str, squares: float, df: int, residual: Source) -> Source:
    from scipy.special import fdtrc

    if residual.sum_of_squares > 0:
        f = squares / df / residual.mean_square
        return Source(name, squares, df, f, float(fdtrc(df, residual.df, f)))
    return Source(name, squares, df, np.inf, 0.0) if squares > 0 else Source(name, squares, df, 0.0, 1.0)


def _share(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0
