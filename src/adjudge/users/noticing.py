"""Agreement: from a difference in effectiveness to the share of users who prefer the better system.

Somebody shown the lists of two systems prefers the one with the higher effectiveness (agrees), the other one
(disagrees), or cannot tell them apart. The three probabilities depend on the size of the difference, learnt for each
measure and scale from people's answers (thesis 3.3.2). They answer the question that significance does not: will
anyone notice?

Urbano et al., How significant is statistically significant? The case of audio music similarity and retrieval,
ISMIR 2012.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats
from adjudge.checks import CONFIDENCE, INNER_SHARE, SEED, SEVERAL, checked
from adjudge.errors import AdjudgeError
from adjudge.measures import Measure
from adjudge.registry import Registry
from adjudge.reporting.document import FigureBlock
from adjudge.seeds import Seed, as_seed
from adjudge.text import percent
from adjudge.users import curves
from adjudge.users.combinations import Lookup, find, wrong_covariance
from adjudge.users.figures import NO_BINS, Panel, Panels, agreement_panels

_ROUNDING = 1e-9  # by which differences computed elsewhere may exceed 1
_HALVINGS = 50


class Agreement(NamedTuple):
    """Probabilities that a user prefers the better system, cannot tell, or prefers the worse one; they add up to 1."""

    agree: Floats
    cannot_tell: Floats
    disagree: Floats


@dataclass(frozen=True)
class AgreementForm(curves.CurveForm):
    """A family of agreement curves: ``(size of the difference, *parameters) -> agree, disagree``."""

    def __call__(self, size: Floats, parameters: npt.ArrayLike) -> Agreement:
        """The three probabilities at differences of a size of 0 or more."""
        agree, disagree = self.function(size, *np.asarray(parameters, dtype=np.float64))
        return Agreement(agree, np.clip(1.0 - agree - disagree, 0.0, 1.0), disagree)


FORMS: Registry[AgreementForm] = Registry("form of agreement curve")


agreement_form = curves.registering(FORMS, AgreementForm)
"""Register a family of curves; each parameter has the value that a fit starts from, its lowest and its highest."""


@agreement_form("ordinal", slope=(3.0, 0.0, np.inf), threshold=(1.0, 0.0, np.inf))
def ordinal(size: Floats, slope: float, threshold: float) -> tuple[Floats, Floats]:
    """Ordinal logit: users feel slope·x plus logistic noise and need a threshold to tell (Rao and Kupper 1967)."""
    return curves.logistic_of(slope * size - threshold), curves.logistic_of(-slope * size - threshold)


@agreement_form("ordinal-lapse", slope=(3.0, 0.0, np.inf), threshold=(1.5, 0.0, np.inf), lapse=(0.1, 0.0, 1.0))
def ordinal_lapse(size: Floats, slope: float, threshold: float, lapse: float) -> tuple[Floats, Floats]:
    """Ordinal logit of users of whom a share answers at random, one third each way."""
    agree, disagree = ordinal(size, slope, threshold)
    return lapse / 3 + (1 - lapse) * agree, lapse / 3 + (1 - lapse) * disagree


def _two_stages(prefers: Floats, size: Floats, direction: float) -> tuple[Floats, Floats]:
    """A preference at all, then its direction: a coin flip without a difference, ever surer with it."""
    wrong = 0.5 * np.exp(-direction * size)
    return prefers * (1.0 - wrong), prefers * wrong


@agreement_form("two-stage-logit", base=(-1.0, -np.inf, np.inf), slope=(3.0, 0.0, np.inf), direction=(3.0, 0.0, np.inf))
def two_stage_logit(size: Floats, base: float, slope: float, direction: float) -> tuple[Floats, Floats]:
    """P(prefers) = 1 / (1 + e^-(base + slope·x)); P(the better one | prefers) = 1 - e^(-direction·x) / 2."""
    return _two_stages(curves.logistic_of(base + slope * size), size, direction)


@agreement_form("two-stage", base=(-0.2, -np.inf, np.inf), slope=(2.5, 0.0, np.inf), direction=(3.0, 0.0, np.inf))
def two_stage(size: Floats, base: float, slope: float, direction: float) -> tuple[Floats, Floats]:
    """P(prefers) = e^-e^-(base + slope·x); P(the better one | prefers) = 1 - e^(-direction·x) / 2.

    The log-log link rises fast and levels off slowly, as preferences do: some always see no difference.
    """
    return _two_stages(np.exp(-np.exp(np.minimum(-(base + slope * size), curves.LARGE))), size, direction)


@agreement_form("two-stage-exponential", base=(0.3, 0.0, 1.0), rate=(2.0, 0.0, np.inf), direction=(3.0, 0.0, np.inf))
def two_stage_exponential(size: Floats, base: float, rate: float, direction: float) -> tuple[Floats, Floats]:
    """P(prefers) = 1 - (1 - base) e^(-rate·x); P(the better one | prefers) = 1 - e^(-direction·x) / 2."""
    return _two_stages(1.0 - (1.0 - base) * np.exp(-rate * size), size, direction)


@dataclass(frozen=True)
class AgreementMapping:
    """P(agrees), P(cannot tell) and P(disagrees) by size of the difference, for one measure on one scale.

    ``form`` names a family of curves and ``parameters`` the member of it; ``covariance`` is that of the parameters,
    empty where unknown. ``source`` says where it comes from in one line, ``provenance`` holds further facts as
    name and value.
    """

    measure: str
    scale: str
    form: str
    parameters: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...] = ()
    source: str = ""
    provenance: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        wrong = FORMS[self.form].wrong(self.parameters) or wrong_covariance(self.covariance, len(self.parameters))
        if wrong:
            raise AdjudgeError(f"{self.measure} on {self.scale}: {wrong}")

    @property
    def standard_errors(self) -> tuple[float, ...]:
        """Standard error of each parameter; empty when unknown."""
        return tuple(float(np.sqrt(row[i])) for i, row in enumerate(self.covariance))

    def __call__(self, delta: npt.ArrayLike) -> Agreement:
        """The three probabilities for differences of any sign."""
        return agreement(self, delta)

    def __str__(self) -> str:
        lines = [f"Agreement for {self.measure} on {self.scale} ({self.form})", "    Δ  agree  cannot tell  disagree"]
        grid = np.array([0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0])
        for delta, *shares in zip(grid, *self(grid), strict=True):
            lines.append(f"{delta:5.1f}  {shares[0]:5.3f}  {shares[1]:11.3f}  {shares[2]:8.3f}")
        return "\n".join(lines)


def _sizes(mapping: AgreementMapping, delta: npt.ArrayLike) -> Floats:
    size = np.abs(np.asarray(delta, dtype=np.float64))
    if bool((size > 1 + _ROUNDING).any()):
        worst = np.asarray(delta, dtype=np.float64)[size > 1 + _ROUNDING].flat[0]
        raise AdjudgeError(
            f"{mapping.measure} on {mapping.scale}: expected a difference in effectiveness in [-1, 1], got {worst:g}"
        )
    return np.minimum(size, 1.0)


def agreement(mapping: AgreementMapping, delta: npt.ArrayLike) -> Agreement:
    """How many users prefer the better system, cannot tell, and prefer the worse one, for differences of any shape.

    Only the size of ``delta`` matters. Where it is 0 neither system is better, and those who prefer one are split in
    halves. NaN stays NaN.

    >>> mapping = find_agreement("CG@5", "fine").mapping
    >>> shares = agreement(mapping, 0.0815)  # significant in MIREX 2011, yet hardly anyone notices
    >>> [round(float(share), 2) for share in shares]
    [0.24, 0.63, 0.13]
    """
    return FORMS[mapping.form](_sizes(mapping, delta), mapping.parameters)


@checked(confidence=CONFIDENCE)
def agreement_interval(
    mapping: AgreementMapping, delta: npt.ArrayLike, *, confidence: float = 0.95
) -> tuple[Agreement, Agreement]:
    """Lower and upper ends of the three probabilities, by the delta method on the logit scale.

    The standard error is sqrt(g' V g) with g the slopes in the parameters. Intervals cover what is unknown of the curve
    (which users were asked), not the spread of users around it. NaN when the mapping has no covariance.
    """
    size, form, at = _sizes(mapping, delta), FORMS[mapping.form], np.array(mapping.parameters)
    centre = np.clip(np.stack(form(size, at)), 1e-12, 1 - 1e-12)
    if not mapping.covariance:
        unknown = np.full(centre.shape, np.nan)
        return Agreement(*unknown), Agreement(*unknown)
    slopes = curves.slopes_of(lambda parameters: np.stack(form(size, parameters)), at)
    low, high = curves.logit_interval(centre, slopes, mapping.covariance, confidence)
    return Agreement(*low), Agreement(*high)


@checked(level=INNER_SHARE)
def noticeable_difference(mapping: AgreementMapping, *, level: float = 0.5) -> float | None:
    """The smallest difference for which more than ``level`` of the users prefer the better system.

    None when no difference up to 1 does it. This is the margin below which a difference makes none in practice.

    >>> round(noticeable_difference(find_agreement("CG@5", "fine").mapping), 2)
    0.29
    """
    found = float(noticeable_differences(FORMS[mapping.form], np.array([mapping.parameters]), level=level)[0])
    return None if np.isnan(found) else found


@checked(level=INNER_SHARE)
def noticeable_differences(form: AgreementForm, parameters: Floats, *, level: float = 0.5) -> Floats:
    """The noticeable difference of each of many curves (curves, parameters) of one family; NaN where there is none.

    >>> noticeable_differences(FORMS["two-stage"], np.array([[-0.2, 2.5, 3.0], [-3.0, 0.1, 1.0]])).round(3).tolist()
    [0.354, nan]
    """
    return _crossings(lambda size: form.function(size, *(column[:, None] for column in parameters.T))[0], level)


@checked(level=INNER_SHARE, confidence=CONFIDENCE)
def noticeable_interval(
    mapping: AgreementMapping, *, level: float = 0.5, confidence: float = 0.95
) -> tuple[float | None, float | None]:
    """Interval of the noticeable difference: where the upper and the lower band of the curve reach ``level``."""
    if not mapping.covariance:
        return None, None

    def reached(end: int) -> float | None:
        bands = _crossings(lambda size: agreement_interval(mapping, size, confidence=confidence)[end].agree, level)
        return None if np.isnan(bands[0]) else float(bands[0])

    return reached(1), reached(0)


def _crossings(curves: Callable[[Floats], Floats], level: float) -> Floats:
    """Where each of some curves over [0, 1] first exceeds the level, NaN where none does.

    ``curves`` takes sizes, (1 or curves, places), to shares (curves, places). Bracketed on a grid, then halved.
    """
    grid = np.linspace(0.0, 1.0, 101)
    above = curves(grid[None, :]) > level
    first = above.argmax(axis=1)
    low, high = grid[np.maximum(first - 1, 0)], grid[first]
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        over = curves(middle[:, None])[:, 0] > level
        low, high = np.where(over, low, middle), np.where(over, middle, high)
    return np.where(above.any(axis=1), high, np.nan)


def find_agreement(
    measure: str | Measure, scale: str | None, *, mappings: Iterable[AgreementMapping] | None = None
) -> Lookup[AgreementMapping]:
    """The mapping for a measure on a scale: one of ``mappings``, else one fitted on the study of 2012; or why none.

    >>> find_agreement("nDCG(ideal=max)@5", "broad").mapping.measure
    'DCG@5'
    >>> find_agreement("AP@5", "fine").reason
    'no agreement mapping for AP@5 on fine; known on fine: CG@5, DCG@5'
    """
    return find("agreement", [*(mappings or ()), *AGREEMENT_2012], measure, scale)


# From here to the end of CURVES_2012: written by scripts/fit_agreement.py. Data by J. Urbano et al., CC BY-SA 4.0.
SOURCE = "fitted on the user study of Urbano et al., ISMIR 2012"
PROVENANCE = (
    ("data", "answers.csv of the repository ismir2012-significance by J. Urbano et al."),
    ("licence", "CC BY-SA 4.0"),
    ("answers", "2200"),
    ("queries", "73"),
    ("covariance", "robust, clustered by query"),
    ("script", "scripts/fit_agreement.py"),
    ("sha256", "900ef8b52f80d340d9b78b90676fe6ecb9b9bc18468f4433aef560450c896a94"),
)

# parameters, then the rows of their covariance
CURVES_2012: dict[tuple[str, str], tuple[tuple[float, ...], ...]] = {
    ("CG@5", "broad"): (
        (-0.215962, 1.93694, 2.86123),
        (0.00374829, -0.00781288, -0.00312244),
        (-0.00781288, 0.0302968, 0.0107858),
        (-0.00312244, 0.0107858, 0.0319608),
    ),
    ("CG@5", "fine"): (
        (-0.235703, 2.95585, 4.23916),
        (0.00386468, -0.0120936, -0.00549811),
        (-0.0120936, 0.0707745, 0.0307184),
        (-0.00549811, 0.0307184, 0.073899),
    ),
    ("DCG@5", "broad"): (
        (-0.266688, 2.03595, 2.82882),
        (0.00358251, -0.00733988, -0.00330004),
        (-0.00733988, 0.0286916, 0.0116314),
        (-0.00330004, 0.0116314, 0.0347024),
    ),
    ("DCG@5", "fine"): (
        (-0.259159, 3.01446, 4.16998),
        (0.00350236, -0.0104872, -0.00473534),
        (-0.0104872, 0.0636704, 0.029521),
        (-0.00473534, 0.029521, 0.0814743),
    ),
}

AGREEMENT_2012: tuple[AgreementMapping, ...] = tuple(
    AgreementMapping(measure, scale, "two-stage", rows[0], rows[1:], SOURCE, PROVENANCE)
    for (measure, scale), rows in CURVES_2012.items()
)


@dataclass(frozen=True)
class AgreementFit:
    """A fitted curve; ``covariance`` is robust, answers of one cluster (a query, a person) counting as dependent.

    ``n_clusters`` counts those of the kind that has fewest.
    """

    form: str
    parameters: Floats
    covariance: Floats
    log_likelihood: float
    n_answers: int
    n_clusters: int

    @property
    def aic(self) -> float:
        """Akaike's criterion, 2 (parameters - log-likelihood): lower is better."""
        return 2 * (len(self.parameters) - self.log_likelihood)

    def __str__(self) -> str:
        errors = np.sqrt(np.diag(self.covariance))
        names = FORMS[self.form].parameters
        shown = ", ".join(f"{n} {v:.4f} ± {e:.4f}" for n, v, e in zip(names, self.parameters, errors, strict=True))
        return f"{self.form}: {shown}; log-likelihood {self.log_likelihood:.2f}, AIC {self.aic:.2f}"


def agreement_model(form: str) -> curves.Model:
    """A family of agreement curves as a model of three outcomes: agrees, cannot tell, disagrees."""
    family = FORMS[form]

    def shares(size: Floats, parameters: Floats) -> Floats:
        agree, disagree = family.function(size, *parameters)
        return np.stack([agree, 1.0 - agree - disagree, disagree], axis=1)

    return curves.Model(shares, family.start, family.lowest, family.highest)


def agreement_data(delta: npt.ArrayLike, answer: npt.ArrayLike) -> curves.Data:
    """Sizes of differences, and whether each answer agrees, cannot tell or disagrees.

    Where ``delta`` is 0 neither list is better, and every family of curves makes a preference for either as likely.
    """
    x, y = np.asarray(delta, dtype=np.float64), np.asarray(answer, dtype=np.int64)
    if x.ndim != 1 or x.shape != y.shape or len(x) < 2:
        raise AdjudgeError(f"expected as many answers as differences, 2 or more, got {y.shape} and {x.shape}")
    if not bool((np.abs(x) <= 1).all()) or not bool(np.isin(y, (-1, 0, 1)).all()):
        raise AdjudgeError("expected differences in [-1, 1] and answers -1, 0 or 1")
    return curves.Data(np.abs(x), 1 - np.where(x >= 0, y, -y))


def fit_agreement(
    delta: npt.ArrayLike,
    answer: npt.ArrayLike,
    *,
    form: str = "two-stage",
    clusters: curves.ClusterLabels = None,
    few_clusters: bool = True,
) -> AgreementFit:
    """Fit a family of curves to answers by maximum likelihood.

    ``delta`` is the effectiveness of the first list minus that of the second, ``answer`` 1 where the first was
    preferred, -1 where the second, 0 where neither. Where ``delta`` is 0 a preference for either is as likely.

    The covariance V is robust to clusters of one kind or of two that cross (see :mod:`adjudge.users.curves`; every
    answer is a cluster of its own when none are given). ``few_clusters`` widens V so that 95 % bands are those of
    Student's t.

    >>> rng = np.random.default_rng(1)
    >>> delta = rng.uniform(-1, 1, 4000)
    >>> shares = FORMS["ordinal"](np.abs(delta), (4.0, 1.0))
    >>> draw = rng.random(4000)
    >>> better = np.where(draw < shares.agree, 1, np.where(draw > 1 - shares.disagree, -1, 0))
    >>> np.round(fit_agreement(delta, np.sign(delta) * better, form="ordinal").parameters, 1).tolist()
    [3.9, 1.0]
    """
    data, model = agreement_data(delta, answer), agreement_model(form)
    groups = curves.as_clusters(clusters, len(data.x))
    parameters = curves.maximum(model, data)
    spread = curves.covariance(model, data, parameters, groups)
    return AgreementFit(
        form,
        parameters,
        curves.widened(spread, groups) if few_clusters else spread,
        float(curves.log_shares(model, data, parameters).sum()),
        len(data.x),
        curves.fewest(groups, len(data.x)),
    )


@checked(folds=SEVERAL, seed=SEED)
def held_out(
    delta: npt.ArrayLike,
    answer: npt.ArrayLike,
    *,
    form: str,
    clusters: curves.ClusterLabels = None,
    folds: int = 10,
    seed: Seed = 0,
) -> Floats:
    """Log-likelihood of each answer under the curve fitted without its fold; a cluster is never split."""
    data = agreement_data(delta, answer)
    groups = curves.as_clusters(clusters, len(data.x))
    return curves.held_out_logs(agreement_model(form), data, groups, folds=folds, seed=as_seed(seed))


_GRID = np.linspace(0.0, 1.0, 101)
_MOST = 6  # panels in a figure


def agreement_figure(notice: dict[str, AgreementMapping]) -> FigureBlock:
    """Whom users prefer by the size of the difference, a panel for each measure, of which there are six at most."""
    names = ("prefer the better system", "cannot tell", "prefer the worse one")
    panels = []
    for name, mapping in list(notice.items())[:_MOST]:
        value, (low, high) = noticeable_difference(mapping), noticeable_interval(mapping)
        mark = None
        if value is not None:
            mark = (value, np.nan if low is None else low, np.nan if high is None else high)
        panels.append(Panel(name, (NO_BINS,) * 3, tuple(mapping(_GRID)), mark))
    first = next(iter(notice))
    shares = notice[first](np.array([0.1, 0.5]))
    alt = (
        f"Shares of users against the size of the difference. In {first}, {percent(shares.agree[0], 0)} prefer the "
        f"better system at a difference of .1, and {percent(shares.agree[1], 0)} at one of .5."
    )
    data = Panels("size of the difference", "share of users", _GRID, names, names, tuple(panels))
    caption = (
        "Whom users prefer, by the size of the difference; from the dashed line on, more than half prefer the better "
        "system."
    )
    return FigureBlock("users-notice", caption, alt, data, agreement_panels)
