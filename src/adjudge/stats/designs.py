"""Designs of a G-study: which effects vary, and what mean squares are expected of them.

A score depends on the system, the query and, where several people judged, the assessor. Every effect is named by its
facets: ``s`` (systems), ``q`` (queries), ``a`` (assessors). With n_f the levels of facet f, a random-effects model
expects of the mean square of effect T

    E[MS_T] = Σ_{U ⊇ T} (Π_{f not in U} n_f) σ²_U

for crossed and nested designs alike (Brennan 2001, chapters 3 and 7): the equations of thesis 6.3 and 6.8, and those of
Bodoff & Li for three crossed facets, are this one. Solving them for σ² gives the variance components.

Brennan, R. L. Generalizability Theory. Springer, 2001. doi:10.1007/978-1-4757-3456-0
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from adjudge.arrays import Floats

_ROUNDING = 1e-12  # of the total sum of squares: less than that is rounding


@dataclass(frozen=True)
class Effect:
    """A source of variance: its name in words and its facets. ``nested`` effects lie within queries."""

    name: str
    facets: str
    nested: bool = False

    @property
    def relative(self) -> bool:
        """Whether it blurs differences between systems; the others only move all systems together."""
        return "s" in self.facets and self.facets != "s"

    def divisor(self, n_queries: Floats, n_assessors: Floats) -> Floats:
        """By how much averaging over queries and assessors shrinks its variance."""
        ones = np.ones(np.broadcast_shapes(np.shape(n_queries), np.shape(n_assessors)))
        return ones * (n_queries if "q" in self.facets else 1) * (n_assessors if "a" in self.facets else 1)


@dataclass(frozen=True)
class Design:
    """A set of effects, from the widest to the residual."""

    name: str
    effects: tuple[Effect, ...]

    def __str__(self) -> str:
        return self.name

    @property
    def has_assessors(self) -> bool:
        """Whether assessors are a facet of their own."""
        return any("a" in effect.facets for effect in self.effects)

    def expected_mean_squares(self, levels: dict[str, int]) -> Floats:
        """Coefficients of the variances (columns) in the expected mean squares (rows)."""
        return np.array(
            [
                [
                    float(np.prod([n for facet, n in levels.items() if facet not in of.facets], initial=1.0))
                    if set(row.facets) <= set(of.facets)
                    else 0.0
                    for of in self.effects
                ]
                for row in self.effects
            ]
        )

    def degrees_of_freedom(self, levels: dict[str, int]) -> Floats:
        """Degrees of freedom of each effect: Π (n_f - 1), and n_q for the queries that an effect is nested in."""
        return np.array(
            [
                float(np.prod([levels[f] - (0 if effect.nested and f == "q" else 1) for f in effect.facets]))
                for effect in self.effects
            ]
        )


SYSTEMS_QUERIES = Design("systems x queries", (Effect("system", "s"), Effect("query", "q"), Effect("residual", "sq")))
CROSSED = Design(
    "systems x queries x assessors",
    (
        Effect("system", "s"),
        Effect("query", "q"),
        Effect("assessor", "a"),
        Effect("system × query", "sq"),
        Effect("system × assessor", "sa"),
        Effect("query × assessor", "qa"),
        Effect("residual", "sqa"),
    ),
)
NESTED = Design(
    "systems x (assessors in queries)",
    (
        Effect("system", "s"),
        Effect("query", "q"),
        Effect("assessor in query", "qa", nested=True),
        Effect("system × query", "sq"),
        Effect("residual", "sqa", nested=True),
    ),
)


@dataclass(frozen=True, eq=False)
class MeanSquares:
    """Mean squares of a balanced design, one column an effect; several rows where the data were resampled."""

    design: Design
    levels: dict[str, int]
    values: Floats

    @property
    def df(self) -> Floats:
        """Degrees of freedom."""
        return self.design.degrees_of_freedom(self.levels)

    def variances(self) -> Floats:
        """Estimated variance components, below 0 where the data say so."""
        expected = self.design.expected_mean_squares(self.levels)
        solved: Floats = np.linalg.solve(expected, self.values[..., None])[..., 0].astype(np.float64)
        return solved

    def without_resampling_bias(self, facet: str) -> MeanSquares:
        """What mean squares of data resampled over a facet say of the data they were drawn from.

        Drawing n levels with replacement shrinks the spread between them by (n - 1) / n, and adds to an effect T
        without the facet the spread of its interaction with it: E*[MS_T] = MS_T + E*[MS_Tf]. Taking both back gives
        the corrections of Wiley (Brennan 2001, section 6.4) for the crossed design, and their like for the others.
        Effects nested in the resampled queries are averages over them and stay.
        """
        effects = self.design.effects
        kept = (self.levels[facet] - 1) / self.levels[facet]
        corrected = self.values.copy()
        for i, effect in enumerate(effects):
            if facet in effect.facets:
                corrected[..., i] /= 1.0 if effect.nested and facet == "q" else kept
            else:
                crossed = [j for j, of in enumerate(effects) if set(of.facets) == {*effect.facets, facet}]
                corrected[..., i] -= sum(self.values[..., j] for j in crossed)
        return MeanSquares(self.design, self.levels, corrected)


def mean_squares(
    values: Floats, design: Design, *, queries: Floats | None = None, systems: Floats | None = None
) -> MeanSquares:
    """Mean squares of effectiveness, queries x systems (x assessors), every cell filled.

    ``queries`` and ``systems`` say how often each was drawn, one row a resample (counts that sum to their number);
    without them the data are taken once, as they are.
    """
    cube = values[:, :, None] if values.ndim == 2 else values
    n_q, n_s, n_a = cube.shape
    levels = {"s": n_s, "q": n_q} | ({"a": n_a} if design.has_assessors else {})
    weight_q = np.ones((1, n_q)) if queries is None else queries
    weight_s = np.ones((1, n_s)) if systems is None else systems
    raw = _raw_squares(cube - cube.mean(), weight_q, weight_s)
    squares = {facets: sum((-1) ** (len(facets) - len(of)) * raw[of] for of in _subsets(facets)) for facets in raw}
    if design is NESTED:
        squares["qa"], squares["sqa"] = squares["qa"] + squares["a"], squares["sqa"] + squares["sa"]
    total = raw["sqa"]
    table = np.stack([np.asarray(squares[effect.facets]) for effect in design.effects], axis=-1)
    table[table <= _ROUNDING * total[:, None]] = 0.0
    table /= design.degrees_of_freedom(levels)
    resampled = queries is not None or systems is not None
    return MeanSquares(design, levels, table if resampled else table[0])


def _raw_squares(cube: Floats, weight_q: Floats, weight_s: Floats) -> dict[str, Floats]:
    """Σ of squared means over each set of facets, each counted as often as cells share it; one number a resample."""
    n_q, n_s, n_a = cube.shape
    over_a = cube.mean(axis=2)
    q_means = np.einsum("rq,qsa->rsa", weight_q, cube, optimize=True) / n_q
    s_means = np.einsum("rs,qsa->rqa", weight_s, cube, optimize=True) / n_s
    both = np.einsum("rs,rsa->ra", weight_s, q_means, optimize=True) / n_s
    return {
        "": n_q * n_s * n_a * both.mean(axis=1) ** 2,
        "a": n_q * n_s * (both**2).sum(axis=1),
        "s": n_q * n_a * (weight_s * q_means.mean(axis=2) ** 2).sum(axis=1),
        "q": n_s * n_a * (weight_q * s_means.mean(axis=2) ** 2).sum(axis=1),
        "sq": n_a * _bilinear(weight_q, over_a**2, weight_s),
        "sa": n_q * (weight_s * (q_means**2).sum(axis=2)).sum(axis=1),
        "qa": n_s * (weight_q * (s_means**2).sum(axis=2)).sum(axis=1),
        "sqa": _bilinear(weight_q, (cube**2).sum(axis=2), weight_s),
    }


def _bilinear(left: Floats, matrix: Floats, right: Floats) -> Floats:
    product: Floats = np.atleast_1d(((left @ matrix) * right).sum(axis=1))
    return product


def _subsets(facets: str) -> Iterator[str]:
    for size in range(len(facets) + 1):
        for chosen in combinations(facets, size):
            yield "".join(chosen)
