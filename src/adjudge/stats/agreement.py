"""How far assessors agree: coefficients, every pair of assessors, every assessor against the others.

:class:`~adjudge.model.judgments.Judgments` have one row per judgment; :class:`Ratings` put the grades of several
assessors side by side, one row per unit, which is a document for a query (:func:`ratings`, :meth:`Ratings.from_rows`).
:func:`agreement` takes them. What is not known is NaN with a reason; nothing raises because assessors share no units
yet, so that a campaign may ask from its first answer on. :mod:`adjudge.stats.agreement_coefficients` has the
coefficients, and how far one person agrees with himself.

>>> rows = [("q1", "a", "ann", 2), ("q1", "a", "bob", 2), ("q1", "b", "ann", 0), ("q1", "b", "bob", 1),
...         ("q2", "c", "ann", 1), ("q2", "c", "bob", 1), ("q3", "d", "ann", 0), ("q3", "d", "bob", 0)]
>>> print(agreement(Ratings.from_rows(rows), resamples=0))
Agreement of 2 assessors: 8 ratings of 4 units, 4 units with two or more
coefficient                     value
Krippendorff's alpha, interval  0.821
Fleiss' kappa                   0.619
Cohen's kappa, mean of 1 pair   0.800
mean absolute difference        0.250
<BLANKLINE>
Each assessor against the others
assessor  units   bias  correlation
ann           4  -0.25         0.85
bob           4  +0.25         0.85
<BLANKLINE>
Pairs of assessors
assessor  other  units  kappa  difference  distance
ann       bob        4   0.80       -0.25      0.25
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

import numpy as np

from adjudge.arrays import Floats, Ints
from adjudge.checks import CONFIDENCE, RESAMPLES, SEED, Kind, Whole, checked
from adjudge.deprecated import renamed
from adjudge.errors import AdjudgeError, shown
from adjudge.model.judgments import Judgments
from adjudge.results import Column, Result, Rows
from adjudge.seeds import Seed, as_seed
from adjudge.stats import resampling
from adjudge.stats.agreement_coefficients import (
    ROUNDING,
    Metric,
    Statistic,
    alpha_by_weights,
    difference_by_weights,
    fleiss_by_weights,
    ratio_of,
    tally,
)
from adjudge.stats.resampling import weighted_sums
from adjudge.text import counted, percent, with_interval


@dataclass(frozen=True, eq=False)
class Ratings:
    """Grades, units x assessors: ``values[u, a]`` is what ``assessors[a]`` gave ``units[u]``, (query, document).

    NaN says that the assessor did not rate the unit.

    >>> some = Ratings(np.array([[1.0, 2.0], [0.0, np.nan]]), ("ann", "bob"), (("q1", "d1"), ("q1", "d2")))
    >>> print(some)
    3 ratings of 2 units by 2 assessors, 1 unit with two or more
    """

    values: Floats
    assessors: tuple[str, ...]
    units: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        shape = (len(self.units), len(self.assessors))
        if self.values.shape != shape:
            raise AdjudgeError(f"Ratings: expected values of shape {shape}, units x assessors, got {self.values.shape}")
        if np.isinf(self.values).any():
            raise AdjudgeError("Ratings: expected finite grades or NaN, got an infinite one")
        for name, labels in (("assessor", self.assessors), ("unit", self.units)):
            if len(set(labels)) < len(labels):
                raise AdjudgeError(f"Ratings: expected every {name} once, got one twice")

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[str, str, str, float]]) -> Ratings:
        """Ratings from rows (query, document, assessor, grade), in any order.

        Units and assessors keep the order in which they first come. The same row twice counts once; two grades of one
        assessor for one unit are an error, and so is a grade that is not finite.

        >>> Ratings.from_rows([("q", "d", "ann", 1), ("q", "d", "bob", 2), ("q", "e", "bob", 0)]).values.tolist()
        [[1.0, 2.0], [nan, 0.0]]
        """
        units: dict[tuple[str, str], int] = {}
        assessors: dict[str, int] = {}
        cells: dict[tuple[int, int], float] = {}
        for query, document, assessor, grade in rows:
            cell = units.setdefault((query, document), len(units)), assessors.setdefault(assessor, len(assessors))
            number = float(grade)
            if not math.isfinite(number) or cells.setdefault(cell, number) != number:
                what = f"document {shown(document)} of query {shown(query)} by {shown(assessor)}"
                came = f"{cells[cell]:g} and {number:g}" if math.isfinite(number) else f"{number:g}"
                raise AdjudgeError(f"expected one finite grade for {what}, got {came}")
        values = np.full((len(units), len(assessors)), np.nan)
        for cell, number in cells.items():
            values[cell] = number
        return cls(values, tuple(assessors), tuple(units))

    @property
    def n_ratings(self) -> Ints:
        """How many assessors rated each unit."""
        counts: Ints = np.isfinite(self.values).sum(axis=1)
        return counts

    @property
    def query(self) -> Ints:
        """A number for the query of each unit: units of one query have the same."""
        codes: dict[str, int] = {}
        return np.array([codes.setdefault(query, len(codes)) for query, _ in self.units], dtype=np.int64)

    def __str__(self) -> str:
        counts = self.n_ratings
        people, several = counted(len(self.assessors), "assessor"), counted(int((counts >= 2).sum()), "unit")
        return f"{counts.sum():,} ratings of {len(self.units):,} units by {people}, {several} with two or more"


_RATINGS = Kind(Ratings, "ratings (from adjudge.stats.ratings, of the judgments of a collection)")


@checked(judgments=Kind(Judgments, "the judgments of a collection"))
def ratings(judgments: Judgments) -> Ratings:
    """The judgments of a collection, side by side.

    A document that an assessor judged for several sub-topics has the highest of those grades, as everywhere. Judgments
    without assessors are those of one, called ``assessor``.

    >>> from adjudge.arrays import Codes
    >>> from adjudge.model.vocabulary import Vocabulary
    >>> from adjudge.model.scales import BROAD
    >>> queries, documents = Vocabulary(), Vocabulary()
    >>> both = Judgments(
    ...     queries, documents, queries.encode(["q", "q"]), documents.encode(["d", "d"]), np.array([2.0, 1.0]), BROAD,
    ...     assessor=np.array([0, 1], dtype=np.int32), assessors=("ann", "bob"),
    ... )
    >>> ratings(both).values.tolist(), ratings(both).units
    ([[2.0, 1.0]], (('q', 'd'),))
    """
    pairs = np.stack([judgments.query, judgments.document], axis=1)
    units, unit = np.unique(pairs, axis=0, return_inverse=True)
    assessor, names = judgments.assessor, judgments.assessors
    if assessor is None:
        assessor, names = np.zeros(len(judgments), dtype=np.int32), ("assessor",)
    values = np.full((len(units), len(names)), np.nan)
    np.fmax.at(values, (unit.reshape(-1), assessor), judgments.grade)
    queries, documents = judgments.queries.decode(units[:, 0]), judgments.documents.decode(units[:, 1])
    return Ratings(values, tuple(names), tuple(zip(queries.to_list(), documents.to_list(), strict=True)))


_CELLS = 2**21  # of units x pairs in memory at a time
_DENSE = 10  # times faster a plain matrix multiplies a number than a sparse one


@dataclass(frozen=True)
class PairAgreement:
    """Two assessors over the units that both rated; NaN where undefined."""

    assessor: Annotated[str, Column("the assessor", key=True)]
    other: Annotated[str, Column("the other assessor", key=True)]
    n_units: Annotated[int, Column("units that both rated", ",d", label="units")]
    cohen: Annotated[float, Column("their Cohen's kappa", ".2f", label="kappa")]
    difference: Annotated[float, Column("mean grade of the first minus that of the second", "+.2f")]
    absolute_difference: Annotated[float, Column("mean distance of their grades", ".2f", label="distance")]


@dataclass(frozen=True)
class AssessorAgreement:
    """One assessor against the others, over the ``n_units`` that somebody else rated as well.

    ``bias`` is the mean of the grade minus the mean grade of the others on the unit: above 0 for the lenient, below for
    the severe. ``correlation`` is Pearson's, of the grade with the others' mean; NaN with fewer than three units or
    where either never changes.
    """

    assessor: Annotated[str, Column("the assessor", key=True)]
    n_units: Annotated[int, Column("units that somebody else rated as well", ",d", label="units")]
    bias: Annotated[float, Column("mean of the grade minus the mean grade of the others on the unit", "+.2f")]
    correlation: Annotated[float, Column("Pearson's, of the grade with the others' mean", ".2f")]


def _pairs(values: Floats, assessors: tuple[str, ...], metric: Metric) -> tuple[PairAgreement, ...]:
    """Every pair of assessors with a unit in common, in their order."""
    from scipy import sparse

    members, rows = sparse.csr_array(np.ones((1, len(values)))), []
    for first, second, n in _sharing(values, 1):
        a, b = values[:, first], values[:, second]
        kappa, _ = _kappas(a, b, members, np.ones((1, 1)), metric)
        differences = np.nansum(a - b, axis=0) / n, np.nansum(np.abs(a - b), axis=0) / n
        for i, j, k, *numbers in zip(first, second, n, kappa[:, 0], *differences, strict=True):
            rows.append(PairAgreement(assessors[i], assessors[j], int(k), *map(float, numbers)))
    return tuple(rows)


def _cohen_by_weights(values: Floats, members: Any, metric: Metric) -> Statistic:
    """Mean of Cohen's kappa over pairs of assessors, each counted by its common units, as a statistic of weights.

    ``members`` are blocks x units, sparse. Pairs with fewer than two units, or whose kappa is undefined, are left out.
    """
    sharing = list(_sharing(values, 2))

    def mean(weights: Floats) -> Floats:
        top, bottom = np.zeros((2, weights.shape[1]))
        for first, second, _ in sharing:
            kappa, n = _kappas(values[:, first], values[:, second], members, weights, metric)
            known = np.isfinite(kappa)
            top += np.sum(n * kappa, axis=0, where=known)
            bottom += np.sum(n, axis=0, where=known)
        return ratio_of(top, bottom)

    return mean


def _sharing(values: Floats, fewest: int) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Pairs of assessors with at least that many units in common, and how many they are; as many as memory holds."""
    here = np.isfinite(values).astype(np.float64)
    shared = np.rint(here.T @ here).astype(np.int64)
    first, second = np.nonzero(np.triu(shared >= fewest, 1))
    width = max(1, _CELLS // max(len(values), 1) // 5)
    for lo in range(0, len(first), width):
        a, b = first[lo : lo + width], second[lo : lo + width]
        yield a, b, shared[a, b]


def _kappas(a: Floats, b: Floats, members: Any, weights: Floats, metric: Metric) -> tuple[Floats, Floats]:
    """Kappas and numbers of common units by weights of blocks, pairs x draws; ``a`` and ``b`` are units x pairs."""
    if metric == "nominal":
        rows = [_nominal_kappa(a[:, i], b[:, i], members, weights) for i in range(a.shape[1])]
        return np.array([kappa for kappa, _ in rows]), np.array([n for _, n in rows])
    # quadratic: 1 - n sum (a - b)^2 / sum_ij (a_i - b_j)^2, by sums of a, b, their squares and those of a - b
    both = np.isfinite(a) & np.isfinite(b)
    centre = np.nanmean(np.where(both, a, np.nan)) if both.any() else 0.0
    a, b = np.where(both, a - centre, 0.0), np.where(both, b - centre, 0.0)
    sums = members @ np.concatenate([both, a, b, a * a + b * b, np.square(a - b)], axis=1, dtype=np.float64)
    n, of_a, of_b, squares, apart = (sums.T @ weights).reshape(5, -1, weights.shape[1])
    by_chance = n * squares - 2 * of_a * of_b
    by_chance = np.where((n >= 2) & (by_chance > ROUNDING * n * squares), by_chance, 0.0)
    return 1 - ratio_of(n * apart, by_chance), n


def _nominal_kappa(a: Floats, b: Floats, members: Any, weights: Floats) -> tuple[Floats, Floats]:
    """1 - n (n - agreed) / (n^2 - sum_k n_ak n_bk)."""
    from scipy import sparse

    units = np.flatnonzero(np.isfinite(a) & np.isfinite(b))
    grades, codes = np.unique(np.concatenate([a[units], b[units]]), return_inverse=True)
    marginals = []
    for code in np.split(codes, 2):
        table = sparse.csr_array((np.ones(len(units)), (units, code)), shape=(len(a), len(grades)))
        of_blocks = members @ table
        dense = np.prod(of_blocks.shape) < _DENSE * len(units)
        marginals.append(weighted_sums(of_blocks.toarray(), weights) if dense else of_blocks.T.tocsr() @ weights)
    n = marginals[0].sum(axis=0)
    agreed = (members @ (a == b).astype(np.float64)) @ weights
    by_chance = np.where(n >= 2, n * n - (marginals[0] * marginals[1]).sum(axis=0), 0.0)
    return 1 - ratio_of(n * (n - agreed), by_chance), n


def _each(values: Floats, assessors: tuple[str, ...]) -> tuple[AssessorAgreement, ...]:
    """Every assessor against the mean of the others, unit by unit."""
    total, n = np.nansum(values, axis=1), np.isfinite(values).sum(axis=1)
    rows = []
    for name, own in zip(assessors, values.T, strict=True):
        shared = np.isfinite(own) & (n >= 2)
        mine = own[shared]
        others = (total[shared] - mine) / (n[shared] - 1)
        bias = float(np.mean(mine - others)) if len(mine) else np.nan
        rows.append(AssessorAgreement(name, len(mine), bias, _correlation(mine, others)))
    return tuple(rows)


def _correlation(a: Floats, b: Floats) -> float:
    if len(a) < 3:
        return np.nan
    x, y = a - a.mean(), b - b.mean()
    for centred, values in ((x, a), (y, b)):
        if np.abs(centred).max() <= ROUNDING * np.abs(values).max():
            return np.nan
    return float(np.clip(x @ y / np.sqrt((x @ x) * (y @ y)), -1.0, 1.0))


Cluster = Literal["queries", "units"]

_BLOCKS = 500  # most blocks that are drawn; see agreement()
_DRAWS = Whole(RESAMPLES.least, 50_000, "resamples, 0 for no intervals", or_none=True)  # their weights are in memory
_FEW = 20  # queries or units below which an interval is said to be rough
_FEW_COMMON = 30  # units that two assessors share, below which their kappa comes out low
_BIASED = 0.1  # of the draws at least must lie on either side of the value
_DEFINED = 0.9  # of the draws must have a value


@dataclass(frozen=True)
class Estimate:
    """A coefficient and the ends of its interval, NaN where unknown; ``reason`` says why something is."""

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    reason: str | None = None

    def __str__(self) -> str:
        return with_interval(self.value, self.low, self.high)


@dataclass(frozen=True)
class Coefficient:
    """One coefficient of agreement."""

    coefficient: Annotated[str, Column("name of the coefficient", key=True)]
    value: Annotated[float, Column("its value", ".3f", ends=("low", "high"))]
    low: Annotated[float, Column("lower end of its interval", ".3f", shown=False)]
    high: Annotated[float, Column("upper end of its interval", ".3f", shown=False)]
    reason: Annotated[str | None, Column("why something is not known", shown=False)]


@dataclass(frozen=True, repr=False)
class Agreement(Result):
    """What :func:`agreement` found; ``n_paired`` are the units with two ratings or more.

    ``resampled`` says what the bootstrap drew, and ``n_resampled`` how many there are of them. ``pairs`` has every two
    assessors with a unit in common, ``each`` every assessor against the others.
    """

    assessors: tuple[str, ...]
    n_ratings: int
    n_units: int
    n_paired: int
    metric: Metric
    confidence: float
    resamples: int
    seed: int
    resampled: Cluster
    n_resampled: int
    alpha: Estimate
    fleiss: Estimate
    cohen: Estimate
    absolute_difference: Estimate
    pairs: tuple[PairAgreement, ...]
    each: tuple[AssessorAgreement, ...]
    notes: tuple[str, ...] = ()

    row_type = Coefficient
    rows_name = "coefficients"

    @property
    def title(self) -> str:
        people = counted(len(self.assessors), "assessor")
        sizes = f"{self.n_ratings:,} ratings of {self.n_units:,} units, {self.n_paired:,} units with two or more"
        with_ends = any(math.isfinite(estimate.low) for _, estimate in self._coefficients())
        drawn = f"; {percent(self.confidence)} intervals, {self.resamples:,} draws of {self.resampled}"
        return f"Agreement of {people}: {sizes}{drawn if with_ends else ''}"

    def _rows(self) -> list[Coefficient]:
        return [Coefficient(name, e.value, e.low, e.high, e.reason) for name, e in self._coefficients()]

    def _facts(self) -> dict[str, Any]:
        return asdict(self)

    def _notes(self) -> tuple[str, ...]:
        return self.notes

    def parts(self) -> tuple[Rows[AssessorAgreement], Rows[PairAgreement]]:
        """Every assessor against the others, and every two assessors."""
        return (
            Rows(AssessorAgreement, self.each, "Each assessor against the others"),
            Rows(PairAgreement, self.pairs, "Pairs of assessors"),
        )

    def _coefficients(self) -> tuple[tuple[str, Estimate], ...]:
        return (
            (f"Krippendorff's alpha, {self.metric}", self.alpha),
            ("Fleiss' kappa", self.fleiss),
            (f"Cohen's kappa, mean of {counted(len(self.pairs), 'pair')}", self.cohen),
            ("mean absolute difference", self.absolute_difference),
        )

    def __repr__(self) -> str:
        return f"<Agreement: {counted(len(self.assessors), 'assessor')}, {self.n_units:,} units>"


@renamed(level="confidence", n_boot="resamples")
@checked(ratings=_RATINGS, metric=Metric, confidence=CONFIDENCE, resamples=_DRAWS, seed=SEED, resample=Cluster)
def agreement(
    ratings: Ratings,
    *,
    metric: Metric = "interval",
    confidence: float = 0.95,
    resamples: int = 1000,
    seed: Seed = 0,
    resample: Cluster = "queries",
) -> Agreement:
    """Agreement between assessors: coefficients with intervals, every pair, every assessor against the others.

    - ``alpha`` is Krippendorff's for the ``metric``, ``fleiss`` Fleiss' kappa, which takes grades as names.
    - ``cohen`` is sum_ab n_ab kappa_ab / sum_ab n_ab over pairs of assessors with n_ab >= 2 common units and a kappa:
      quadratic weights, or none when the ``metric`` is nominal.
    - ``absolute_difference`` is the mean over units of the mean absolute difference of two ratings of the unit.

    Intervals are BCa bootstrap intervals. Documents of one query are not independent: the same person read the query
    the same way for all of them, so that drawing units would count one misreading many times and give intervals that
    are too short. Whole queries are drawn, with all their units (``resample="units"`` draws units); where one query has
    all the units with two ratings, units are drawn. Assessors are taken as given: the intervals are about other
    queries, not about other people. More than 500 queries or units are gathered at random in 500 blocks, which changes
    intervals by about as much as another seed would.

    Nothing raises for lack of data: with a single assessor, no unit with two ratings or the same grade everywhere,
    values are NaN with a ``reason``. Intervals are NaN where all draws are alike (perfect agreement: what never
    happened cannot be drawn), nine in ten lie on one side of the value, or more than one in ten has no value.
    ``resamples=0`` leaves intervals out.

    With few queries intervals are widened as a t interval is (Hesterberg), and still somewhat short. The kappa of two
    assessors who share few units comes out low, and so does the mean over such pairs; alpha does not.

    Hesterberg, T. C. What teachers should know about the bootstrap. The American Statistician 69(4), 2015.
    doi:10.1080/00031305.2015.1089789
    Efron, B. Better bootstrap confidence intervals. JASA 82(397), 1987. doi:10.1080/01621459.1987.10478410
    Field, C. A. & Welsh, A. H. Bootstrapping clustered data. JRSS B 69(3), 2007. doi:10.1111/j.1467-9868.2007.00593.x

    >>> alone = Ratings.from_rows([("q", "d", "ann", 1)])
    >>> agreement(alone).alpha
    Estimate(value=nan, low=nan, high=nan, reason='there is a single assessor')
    """
    seed = as_seed(seed)
    values = ratings.values
    rated = ratings.n_ratings
    paired = rated >= 2
    query = ratings.query
    n_queries = len(np.unique(query[paired]))
    drawn: Cluster = "queries" if resample == "queries" and n_queries > 1 else "units"
    n_drawn = n_queries if drawn == "queries" else int(paired.sum())
    cluster = query if drawn == "queries" else np.arange(len(values))
    estimates = _estimates(values, cluster, metric=metric, confidence=confidence, resamples=resamples, seed=seed)
    pairs = _pairs(values, ratings.assessors, metric)
    notes = []
    if resamples and n_drawn >= 2:
        if resample != drawn:
            notes.append(
                "One query has all units with two ratings: units were drawn, intervals are for that query only."
            )
        if n_drawn < _FEW:
            notes.append(f"Intervals are rough: they rest on {n_drawn} {drawn}.")
    common = float(np.median([pair.n_units for pair in pairs])) if len(pairs) > 1 else math.inf
    if common < _FEW_COMMON:
        shared = f"Two assessors share {common:g} units (median)"
        notes.append(f"{shared}: Cohen's kappa comes out low on so few, alpha does not.")
    return Agreement(
        ratings.assessors,
        int(rated.sum()),
        int((rated > 0).sum()),
        int(paired.sum()),
        metric=metric,
        confidence=float(confidence),
        resamples=int(resamples),
        seed=int(seed),
        resampled=drawn,
        n_resampled=n_drawn,
        **estimates,
        pairs=pairs,
        each=_each(values, ratings.assessors),
        notes=tuple(notes),
    )


def _estimates(
    values: Floats, cluster: Ints, *, metric: Metric, confidence: float, resamples: int, seed: int
) -> dict[str, Estimate]:
    """The four coefficients with their intervals, by name.

    Statistics take weights of blocks: all once; then, with a bootstrap, all but one; then the draws.
    """
    names = ("alpha", "fleiss", "cohen", "absolute_difference")
    reasons = {name: _reason(values, name, metric) for name in names}
    if all(reasons.values()):
        return {name: Estimate(reason=reason) for name, reason in reasons.items()}
    block = _blocks(cluster, seed)
    n_blocks = int(block.max()) + 1
    units = tally(values, block)
    n_paired = len(np.unique(block[units.paired]))
    statistics: dict[str, Statistic] = {
        "alpha": alpha_by_weights(units, metric),
        "fleiss": fleiss_by_weights(units),
        "cohen": _cohen_by_weights(values, units.members, metric),
        "absolute_difference": difference_by_weights(units),
    }
    weights = [np.ones((n_blocks, 1))]
    if resamples and n_blocks > 1:
        weights += [1 - np.eye(n_blocks), *resampling.draws(resampling.random_counts, n_blocks, resamples, seed)]
    estimates = {}
    for name, statistic in statistics.items():
        numbers = np.concatenate([statistic(chunk) for chunk in weights])
        estimates[name] = _estimate(numbers, resamples, n_paired, confidence, reasons[name])
    return estimates


def _reason(values: Floats, name: str, metric: Metric) -> str | None:
    """Why a coefficient has no value, None where it has one."""
    paired = values[np.isfinite(values).sum(axis=1) >= 2]
    grades = paired[np.isfinite(paired)]
    if np.isfinite(values).any(axis=0).sum() == 1:
        return "there is a single assessor"
    if len(grades) == 0:
        return "no unit has two ratings"
    if name == "absolute_difference":
        return None
    everything = values[np.isfinite(values)] if name == "fleiss" else grades
    if everything.min() == everything.max():
        return "everybody gave the same grade"
    if name == "alpha" and metric == "ratio" and grades.min() < 0:
        return "ratios need grades of 0 or more"
    return None


def _blocks(cluster: Ints, seed: int) -> Ints:
    """The block of each unit: its cluster, or one of 500 at random where there are more clusters."""
    _, code = np.unique(cluster, return_inverse=True)
    n = int(code.max()) + 1
    if n <= _BLOCKS:
        return code
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(2**32 - 1,)))
    place: Ints = rng.permutation(n) % _BLOCKS
    return place[code]


def _estimate(numbers: Floats, resamples: int, n_blocks: int, confidence: float, reason: str | None) -> Estimate:
    """The value, and its interval from what came with all blocks but one and with the draws."""
    value = float(numbers[0])
    if reason is not None or not math.isfinite(value):
        return Estimate(reason=reason or "no two assessors share two units with different grades")
    if resamples == 0:
        return Estimate(value, reason="no interval was asked for")
    if n_blocks == 1:
        return Estimate(value, reason="there is a single unit to draw from")
    jackknife, draws = numbers[1:-resamples], numbers[-resamples:]
    draws = draws[np.isfinite(draws)]
    if len(draws) < _DEFINED * resamples:
        return Estimate(value, reason="too few draws have a value")
    if np.ptp(draws) <= 1e-12 * max(1.0, abs(value)):
        return Estimate(value, reason="all draws are alike")
    if not _BIASED <= (np.mean(draws < value) + np.mean(draws <= value)) / 2 <= 1 - _BIASED:
        return Estimate(value, reason="the draws are biased")
    return Estimate(value, *_bca_ends(value, draws, jackknife[np.isfinite(jackknife)], confidence, n_blocks))


def _bca_ends(value: float, draws: Floats, jackknife: Floats, confidence: float, n_blocks: int) -> tuple[float, float]:
    """Ends of the BCa interval of a statistic: the cuts of :func:`~adjudge.stats.intervals.bootstrap_interval`.

    The acceleration is that of the jackknife, a = sum d^3 / (6 (sum d^2)^1.5), with d the mean of the values that leave
    one block out minus each of them; 0 where those do not vary. Normal quantiles are replaced by those of Student's t
    with n - 1 degrees of freedom, times sqrt(n / (n - 1)), which makes up for the narrowness of bootstraps of few
    blocks; n counts the blocks that have a unit with two ratings.
    """
    from scipy.special import ndtr, ndtri, stdtrit

    n = len(draws)
    tiny = 1e-12 * max(1.0, abs(value))
    below = ((draws < value - tiny).sum() + (draws <= value + tiny).sum()) / 2
    bias = float(ndtri(np.clip(below / n, 0.5 / n, 1 - 0.5 / n)))
    apart = jackknife.mean() - jackknife if len(jackknife) else np.zeros(1)
    squares = float(np.sum(apart**2))
    acceleration = float(np.sum(apart**3)) / (6 * squares**1.5) if squares > tiny**2 else 0.0
    tails = np.array([(1 - confidence) / 2, (1 + confidence) / 2])
    wide = stdtrit(n_blocks - 1, tails) * math.sqrt(n_blocks / (n_blocks - 1))
    z = bias + wide
    low, high = np.quantile(draws, ndtr(bias + z / np.maximum(1 - acceleration * z, 1e-12)))
    return float(low), float(high)
