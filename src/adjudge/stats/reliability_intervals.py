"""How sure variance components are: F-based, bootstrap and likelihood intervals for Eρ² and Φ.

F-based intervals are exact for Eρ² (Feldt) and close for Φ (Arteaga et al.) when effects are normal and every cell is
filled; gt4ireval gives the same. When the effects of systems are skewed they are too narrow, however many queries there
are: with exponential ones 95 % intervals hold Eρ² .83 and Φ .84 of the time with 10 systems, .76 and .78 with 20, .74
and .78 with 50 (``python -m benchmarks.claims``). Skewed effects of queries, or a skewed residual, do no harm. The
bootstrap draws queries and systems again and takes the bias back that drawing brings. Where cells are missing, the
curvature of the restricted likelihood gives intervals on the logit scale.

Feldt 1965, doi:10.1007/BF02289499. Arteaga, Jeyaratnam & Franklin 1982, doi:10.1080/03610928208828335.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from adjudge.arrays import Floats
from adjudge.choices import Resampled
from adjudge.stats.designs import Design, MeanSquares, mean_squares
from adjudge.stats.resampling import random_counts

_CHUNK = 256


def f_ratios(squares: MeanSquares, *, confidence: float) -> dict[str, tuple[float, float]]:
    """Ends of the intervals for σ²_s / σ²_e (for Eρ²) and σ²_s / (σ²_q + σ²_e) (for Φ), systems x queries.

    With F_p the quantiles of F and α = 1 - confidence, the first is ((MS_s / MS_e) / F_p(df_s, df_e) - 1) / n_q at
    p = 1 - α/2 and α/2; the second solves the quadratic of Arteaga et al. Ends below 0 are 0.
    """
    tails = {"low": (1 + confidence) / 2, "high": (1 - confidence) / 2}
    ends = {name: _f_end(squares, p) for name, p in tails.items()}
    return {index: (ends["low"][i], ends["high"][i]) for i, index in enumerate(("e_rho2", "phi"))}


def _f_end(squares: MeanSquares, p: float) -> tuple[float, float]:
    from scipy.special import chdtri, fdtri

    n_s, n_q = squares.levels["s"], squares.levels["q"]
    ms_s, ms_q, ms_e = (float(value) for value in squares.values)
    df_s, df_q, df_e = squares.df
    if ms_s == 0:
        return 0.0, 0.0
    if ms_e == 0:
        return np.inf, np.inf if ms_q == 0 else (n_s / n_q) * ms_s / ms_q / float(fdtri(df_s, df_q, p))
    to_q, to_e = (float(fdtri(df_s, df, p)) for df in (df_q, df_e))
    to_none = float(chdtri(df_s, 1 - p)) / df_s  # F with infinite degrees of freedom below
    relative = (ms_s / (ms_e * to_e) - 1) / n_q
    if relative <= 0:  # then the second is 0 as well; the quadratic turns up again as MS_s goes to 0
        return 0.0, 0.0
    top = ms_s**2 - to_none * ms_s * ms_e + (to_none - to_e) * to_e * ms_e**2
    bottom = (n_s - 1) * to_none * ms_s * ms_e + to_q * ms_s * ms_q
    return relative, max(n_s / n_q * top / bottom, 0.0)


def resampled_variances(values: Floats, design: Design, *, over: Resampled, resamples: int, seed: int) -> Floats:
    """Variance components of resampled data without the bias of resampling, resamples x effects; below 0 is 0."""
    facets = {"both": "sq", "queries": "q", "systems": "s"}[over]
    n_q, n_s = values.shape[:2]
    parts = []
    for chunk, start in enumerate(range(0, resamples, _CHUNK)):
        rng, size = (
            np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(chunk,))),
            min(_CHUNK, resamples - start),
        )
        squares = mean_squares(
            values,
            design,
            queries=random_counts(rng, n_q, size).T if "q" in facets else np.ones((size, n_q)),
            systems=random_counts(rng, n_s, size).T if "s" in facets else np.ones((size, n_s)),
        )
        for facet in facets:
            squares = squares.without_resampling_bias(facet)
        parts.append(squares.variances())
    return np.maximum(np.concatenate(parts), 0.0)


def delta_interval(
    share: Callable[[Floats], float], variances: Floats, covariance: Floats, *, confidence: float
) -> tuple[float, float]:
    """Interval of a share in (0, 1) of the variances, by the delta method on its logit; NaN where that is undefined."""
    from scipy.special import expit, logit, ndtri

    value = share(variances)
    if not 0 < value < 1:
        return np.nan, np.nan
    gradient = np.zeros(len(variances))
    for i, variance in enumerate(variances):
        step = max(variance, 1e-3 * float(variances.sum())) * 1e-4
        moved = variances.copy()
        moved[i] += step
        gradient[i] = (float(logit(share(moved))) - float(logit(value))) / step
    spread = float(gradient @ covariance @ gradient)
    half = float(ndtri((1 + confidence) / 2)) * float(np.sqrt(max(spread, 0.0)))
    centre = float(logit(value))
    return float(expit(centre - half)), float(expit(centre + half))
