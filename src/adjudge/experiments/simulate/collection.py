"""Simulated collections: effectiveness of as many new queries as wanted, of systems whose true means are known.

Margins (how effectiveness of a system is distributed over queries) and dependence (how systems go together) are fitted
to real effectiveness separately, and a new query is a draw of the dependence put through the quantiles of the margins.
Real queries never tell which system is better in truth; simulated ones do, so that errors of tests can be counted.

Urbano, J., Nagler, T. Stochastic Simulation of Test Collections: Evaluation Scores. SIGIR 2018.
doi:10.1145/3209978.3210043.
Urbano, J., Lima, H., Hanjalic, A. Statistical Significance Testing in Information Retrieval: An Empirical Analysis of
Type I, Type II and Type III Errors. SIGIR 2019. doi:10.1145/3331184.3331259.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats
from adjudge.checks import COUNT, SEVERAL, checked
from adjudge.errors import AdjudgeError, NotEnoughDataError
from adjudge.experiments.samples import Sample, Samples
from adjudge.experiments.simulate.copulas import DEPENDENCES, Dependence, fit_dependence
from adjudge.experiments.simulate.margins import MARGINS, Margin, fit_margin, support_of
from adjudge.model.effectiveness import Effectiveness
from adjudge.registry import unknown
from adjudge.results import Column, Result
from adjudge.stats.matrices import matrix_of
from adjudge.text import counted

_FEWEST_QUERIES = 4
AUTO = "auto"
"""The name that leaves the family of margins to the data."""
NULLS = ("exchangeable", "margins", "means")
"""Kinds of collections in which all systems are equally good, from the strictest sense to the widest."""


@dataclass(frozen=True, eq=False)
class CollectionModel:
    """Systems with their margins and dependence, from which queries are drawn.

    >>> model = fit_collection([[0.12, 0.31], [0.53, 0.42], [0.95, 0.83], [0.34, 0.375]])
    >>> model.means.round(3).tolist()
    [0.485, 0.484]
    >>> model.with_means([0.4, 0.5]).draw(np.random.default_rng(1), 100_000).mean(axis=0).round(2).tolist()
    [0.4, 0.5]
    >>> set(model.null("means").means.round(6).tolist())
    {0.484375}
    """

    systems: tuple[str, ...]
    margins: tuple[Margin, ...]
    dependence: Dependence = field(repr=False)
    exchangeable: bool = False
    """Whether the values of a query are shuffled among the systems."""

    @property
    def means(self) -> Floats:
        """True means of the systems."""
        return np.array([margin.mean for margin in self.margins])

    @property
    def sds(self) -> Floats:
        """True standard deviations of the systems over queries."""
        return np.array([margin.sd for margin in self.margins])

    @checked(n_queries=COUNT)
    def draw(self, rng: np.random.Generator, n_queries: int) -> Floats:
        """Effectiveness on new queries: queries x systems."""
        uniform = self.dependence.draw(rng, n_queries)
        drawn = np.empty_like(uniform)
        for s, margin in enumerate(self.margins):
            drawn[:, s] = margin.quantile(uniform[:, s])
        return rng.permuted(drawn, axis=1) if self.exchangeable else drawn

    def with_means(self, targets: npt.ArrayLike) -> CollectionModel:
        """The same systems with other true means: each margin is bent to its own by exponential tilting.

        Of all margins over the same values they are the nearest that have those means; dependence stays. Values are not
        shuffled among the systems, even if they were before.
        """
        wanted = np.asarray(targets, dtype=np.float64)
        if wanted.shape != (len(self.systems),):
            raise AdjudgeError(f"expected a mean for each of {len(self.systems)} systems, got shape {wanted.shape}")
        bent = []
        for system, margin, mean in zip(self.systems, self.margins, wanted.tolist(), strict=True):
            try:
                bent.append(margin.tilted(mean))
            except AdjudgeError as error:
                raise AdjudgeError(f"system {system!r}: {error}") from None
        return replace(self, margins=tuple(bent), exchangeable=False)

    def null(self, kind: str = "exchangeable", system: str | None = None) -> CollectionModel:
        """A collection in which no system has a higher mean than another.

        ``margins``: all have the margin of one of them, by default of the one with the median mean (the lower of two),
        and depend on one another as before. Copulas need not be symmetric, so that P(x_a > x_b) may differ from
        P(x_a < x_b) although x_a and x_b have the same distribution.
        ``exchangeable``: the same, and the values of every query are shuffled among the systems. Each still has that
        margin, and every pair the average dependence of all pairs; but now nothing tells systems apart, which is the
        hypothesis under which t, bootstrap, permutation, Wilcoxon and sign tests all promise their level.
        ``means``: each keeps the shape of its own, bent to the average of all means, or to the mean of ``system``.
        """
        if kind not in NULLS:
            raise unknown("null", kind, NULLS)
        if system is not None and system not in self.systems:
            raise unknown("system", system, self.systems)
        median = int(np.argsort(self.means, kind="stable")[(len(self.systems) - 1) // 2])
        chosen = self.margins[median if system is None else self.systems.index(system)]
        if kind == "means":
            mean = float(self.means.mean()) if system is None else chosen.mean
            return self.with_means(np.full(len(self.systems), mean))
        return replace(self, margins=(chosen,) * len(self.systems), exchangeable=kind == "exchangeable")

    @checked(repeats=SEVERAL)
    def fidelity(
        self, values: Effectiveness | Sample | npt.ArrayLike, rng: np.random.Generator, *, repeats: int = 100
    ) -> Fidelity:
        """How well ``repeats`` simulated collections, as large as the real one, imitate it."""
        return fidelity(self, values, rng, repeats=repeats)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        margins = {system: margin.to_dict() for system, margin in zip(self.systems, self.margins, strict=True)}
        return {"margins": margins, "dependence": self.dependence.to_dict()}

    def __str__(self) -> str:
        families = Counter(margin.family for margin in self.margins).most_common()
        margins = ", ".join(f"{n} {name}" for name, n in families)
        return f"{len(self.systems)} systems; margins: {margins}; dependence: {self.dependence}"


def fit_collection(
    values: Effectiveness | Sample | npt.ArrayLike,
    *,
    systems: Sequence[str] | None = None,
    margin: str = AUTO,
    dependence: str = "empirical",
) -> CollectionModel:
    """Fit margins and dependence to effectiveness, queries x systems without gaps, of at least 4 queries.

    ``margin`` is a family of :data:`~adjudge.experiments.simulate.margins.MARGINS` for all systems, or ``auto`` to
    choose for each; ``dependence`` one of :data:`~adjudge.experiments.simulate.copulas.DEPENDENCES`. The support is
    that of all systems together. True means are the means of the queries given, and so are standard deviations
    wherever the family can.
    Systems with the same effectiveness on every query are one and the same, and tie on every new query as well; those
    that tie on some of the queries only do so less often in what is drawn, as ranks have no ties.

    >>> print(fit_collection([[0.1, 0.3], [0.5, 0.4], [0.9, 0.8], [0.3, 0.3]], dependence="gaussian"))
    2 systems; margins: 2 discrete-kernel; dependence: gaussian
    """
    check_names(margin, dependence)
    matrix, names = _matrix(values, systems)
    support = support_of(matrix)
    margins = tuple(fit_margin(column, margin, support=support) for column in matrix.T)
    return CollectionModel(names, margins, fit_dependence(dependence, matrix))


def check_names(margin: str, dependence: str) -> None:
    """Refuse names of margins or dependences that are not registered."""
    if margin not in (AUTO, *MARGINS):
        raise unknown(MARGINS.kind, margin, (AUTO, *MARGINS))
    if dependence not in DEPENDENCES:
        raise unknown(DEPENDENCES.kind, dependence, DEPENDENCES)


def _matrix(
    values: Effectiveness | Sample | npt.ArrayLike, systems: Sequence[str] | None
) -> tuple[Floats, tuple[str, ...]]:
    if isinstance(values, Sample):
        wanted = values.systems if systems is None else tuple(systems)
        for name in wanted:
            if name not in values.systems:
                raise unknown("system", name, values.systems)
        places = [values.systems.index(name) for name in wanted]
        matrix, names = matrix_of(values.values[:, places], wanted)
    else:
        matrix, names = matrix_of(values, systems)
    if np.isnan(matrix).any():
        q, s = np.argwhere(np.isnan(matrix))[0]
        raise AdjudgeError(f"a simulation needs effectiveness without gaps, got none for query {q + 1}, {names[s]!r}")
    if len(matrix) < _FEWEST_QUERIES:
        raise NotEnoughDataError(f"a simulation needs at least {_FEWEST_QUERIES} queries, got {len(matrix)}")
    return matrix, names


@dataclass(frozen=True)
class Likeness:
    """A figure of real data and its simulations: how far they are apart on average, at most, and by chance alone.

    ``mean_error`` and ``max_error`` are of the average over simulated collections against the real one; ``noise`` is
    how far one simulated collection is from that average, which real data, being one draw, would be at best.
    """

    figure: Annotated[str, Column("the figure", key=True)]
    mean_error: Annotated[float, Column("how far simulations are off on average", ".4f")]
    max_error: Annotated[float, Column("how far they are off at most", ".4f")]
    noise: Annotated[float, Column("how far one simulation is from their average", ".4f")]


@dataclass(frozen=True, repr=False)
class Fidelity(Result):
    """How simulated collections compare with the real one, figure by figure, over systems or pairs of systems."""

    likenesses: tuple[Likeness, ...]
    repeats: int

    def __getitem__(self, figure: str) -> Likeness:
        known = {likeness.figure: likeness for likeness in self.likenesses}
        if figure not in known:
            raise unknown("figure", figure, known)
        return known[figure]

    row_type = Likeness
    rows_name = "figures"

    @property
    def title(self) -> str:
        """What it is, in a line."""
        return f"{self.repeats:,} simulated collections against the real one"

    def _rows(self) -> tuple[Likeness, ...]:
        return self.likenesses

    def _facts(self) -> dict[str, Any]:
        return {"repeats": self.repeats}

    def __repr__(self) -> str:
        return f"<Fidelity: {counted(len(self.likenesses), 'figure')}, {counted(self.repeats, 'collection')}>"


def fidelity(
    model: CollectionModel,
    values: Effectiveness | Sample | npt.ArrayLike,
    rng: np.random.Generator,
    *,
    repeats: int = 100,
) -> Fidelity:
    """Compare collections that a model draws with the real one: margins, correlations, and differences of pairs.

    Figures over systems: ``mean``, ``sd``; over pairs: ``correlation``, and of the differences of their queries ``sd of
    differences``, ``skewness of differences`` and ``ties`` (the share that is 0), on which errors of tests depend.

    >>> real = np.random.default_rng(0).beta(2, 3, size=(50, 3))
    >>> fidelity(fit_collection(real), real, np.random.default_rng(1), repeats=20)["mean"].mean_error < 0.01
    True
    """
    matrix, names = _matrix(values, None)
    if len(names) != len(model.systems):
        raise AdjudgeError(f"expected effectiveness of {len(model.systems)} systems, got {len(names)}")
    real = _figures(matrix)
    drawn = [_figures(model.draw(rng, len(matrix))) for _ in range(repeats)]
    likenesses = []
    for name, truth in real.items():
        several = np.stack([figures[name] for figures in drawn])
        apart = np.abs(several.mean(axis=0) - truth)
        noise = np.abs(several - several.mean(axis=0)).mean()
        if truth.size:
            likenesses.append(Likeness(name, float(apart.mean()), float(apart.max()), float(noise)))
    return Fidelity(tuple(likenesses), repeats)


def _figures(matrix: Floats) -> dict[str, Floats]:
    sd = matrix.std(axis=0, ddof=1)
    centred = (matrix - matrix.mean(axis=0)) / np.where(sd > 0, sd, 1.0)
    a, b = np.triu_indices(matrix.shape[1], 1)
    differences = matrix[:, a] - matrix[:, b]
    spread = differences.std(axis=0)
    moved = (differences - differences.mean(axis=0)) / np.where(spread > 1e-12, spread, 1.0)
    return {
        "mean": matrix.mean(axis=0),
        "sd": sd,
        "correlation": (centred.T @ centred)[a, b] / (len(matrix) - 1),
        "sd of differences": differences.std(axis=0, ddof=1),
        "skewness of differences": (moved**3).mean(axis=0),
        "ties": (differences == 0).mean(axis=0),
    }


@dataclass(frozen=True)
class Asymmetry:
    """How unequal the numbers of queries are on which two systems are ahead, ``|P(d > 0) - P(d < 0)|``, over pairs."""

    typical: float
    """Root mean square over pairs, without what counting on a finite number of queries adds."""
    largest: float


@checked(n_queries=SEVERAL)
def asymmetry(model: CollectionModel, rng: np.random.Generator, *, n_queries: int = 10_000) -> Asymmetry:
    """Of differences d between two systems on a query, P(d > 0) - P(d < 0) counted on many new queries.

    It is 0 for all pairs if systems are interchangeable. Otherwise it may differ from 0 even if means are equal; the
    sign test is about it, and Wilcoxon's test sees it, too.

    >>> model = fit_collection([[0.12, 0.31], [0.53, 0.42], [0.95, 0.83], [0.34, 0.375]])
    >>> asymmetry(model.null("exchangeable"), np.random.default_rng(0)).typical < 0.02
    True
    """
    drawn = model.draw(rng, n_queries)
    shares, noise = [], []
    for s in range(drawn.shape[1] - 1):
        signs = np.sign(drawn[:, s + 1 :] - drawn[:, [s]])
        shares.append(signs.mean(axis=0))
        noise.append(signs.var(axis=0, ddof=1) / n_queries)
    if not shares:
        return Asymmetry(0.0, 0.0)
    each = np.concatenate(shares)
    square = float((each**2 - np.concatenate(noise)).mean())
    return Asymmetry(float(np.sqrt(max(square, 0.0))), float(np.abs(each).max()))


Models = tuple["CollectionModel", ...]
_MOST_KEPT = 4  # of other samples or settings
_KEPT: dict[tuple[str, ...], Models] = {}


def models_of(samples: Samples, margin: str, dependence: str) -> Models:
    """The model of every sample, fitted once in a process; settings are those of :func:`fit_collection`."""
    return kept(
        (samples.digest, margin, dependence),
        lambda: tuple(
            fit_collection(sample.values, systems=sample.systems, margin=margin, dependence=dependence)
            for sample in samples
        ),
    )


def kept(key: tuple[str, ...], make: Callable[[], Models]) -> Models:
    """What was made under this key before, or is made now; the oldest is forgotten where there are too many."""
    if key not in _KEPT:
        made = make()
        while len(_KEPT) >= _MOST_KEPT:
            _KEPT.pop(next(iter(_KEPT)))
        _KEPT[key] = made
    return _KEPT[key]
